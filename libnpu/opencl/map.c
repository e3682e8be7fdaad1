// SPDX-License-Identifier: MIT
/*
 * Mapping: a buffer is the host's memory, so a mapping is its address, and a record of it for unmap.
 */
#include <stdlib.h>

#include "ocl.h"

/* One call of clEnqueueMapBuffer() that has not been undone. */
struct ocl_mapping {
	struct ocl_mapping *next;
	void *at;
};

void ocl_forget_mappings(cl_mem mem)
{
	struct ocl_mapping *next;

	for (; mem->mapping; mem->mapping = next) {
		next = mem->mapping->next;
		free(mem->mapping);
	}
}

static const struct ocl_command_ops map_ops = { CL_COMMAND_MAP_BUFFER };
static const struct ocl_command_ops unmap_ops = { CL_COMMAND_UNMAP_MEM_OBJECT };

static bool is_map_flags(cl_map_flags flags)
{
	const cl_map_flags known = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

	return !(flags & ~known) &&
	       !(flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE));
}

static bool host_may(cl_mem mem, cl_map_flags flags)
{
	cl_mem_flags reads = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
	cl_mem_flags writes = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;

	return !(flags & CL_MAP_READ && mem->flags & reads) &&
	       !(flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) && mem->flags & writes);
}

static cl_int check_map(cl_command_queue queue, cl_mem mem, cl_map_flags flags, size_t offset,
			size_t bytes)
{
	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	if (!ocl_is(mem, OCL_MEM))
		return ocl_fail(queue->context, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	if (mem->context != queue->context)
		return ocl_fail(queue->context, CL_INVALID_CONTEXT,
				"the buffer is of another context");
	if (!is_map_flags(flags) || !ocl_mem_holds(mem, offset, bytes))
		return ocl_fail(queue->context, CL_INVALID_VALUE,
				"map flags 0x%llx, or %zu bytes at %zu of %zu",
				(unsigned long long)flags, bytes, offset, mem->size);
	if (!host_may(mem, flags))
		return ocl_fail(queue->context, CL_INVALID_OPERATION,
				"the buffer's flags 0x%llx forbid the host to do this",
				(unsigned long long)mem->flags);
	return CL_SUCCESS;
}

static void add_mapping(cl_mem mem, struct ocl_mapping *mapping)
{
	pthread_mutex_lock(&mem->context->lock);
	mapping->next = mem->mapping;
	mem->mapping = mapping;
	mem->map_count++;
	pthread_mutex_unlock(&mem->context->lock);
}

/* Takes a record of @at away; NULL: there is none. */
static struct ocl_mapping *take_mapping(cl_mem mem, const void *at)
{
	struct ocl_mapping **link, *mapping;

	pthread_mutex_lock(&mem->context->lock);
	for (link = &mem->mapping; *link && (*link)->at != at; link = &(*link)->next)
		;
	mapping = *link;
	if (mapping) {
		*link = mapping->next;
		mem->map_count--;
	}
	pthread_mutex_unlock(&mem->context->lock);
	return mapping;
}

static cl_int map(cl_command_queue queue, cl_mem mem, size_t offset, struct ocl_wait wait)
{
	struct ocl_command command = { .ops = &map_ops, .mem = { ocl_get(mem) } };
	struct ocl_mapping *mapping = malloc(sizeof(*mapping));
	void *at = mem->data + offset;
	cl_int error;

	if (!mapping) {
		ocl_command_release(&command);
		return ocl_fail(queue->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	}
	mapping->at = at;
	add_mapping(mem, mapping);
	error = ocl_enqueue(queue, &command, wait);
	if (error)
		free(take_mapping(mem, at));
	return error;
}

CL_API_ENTRY void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem,
						  cl_bool blocking, cl_map_flags flags,
						  size_t offset, size_t bytes, cl_uint wait_count,
						  const cl_event *wait_list, cl_event *event,
						  cl_int *errcode_ret)
{
	cl_int error = check_map(queue, mem, flags, offset, bytes);

	if (!error)
		error = map(queue, mem, offset,
			    (struct ocl_wait){ wait_count, wait_list, event, blocking });
	ocl_result(errcode_ret, error);
	return error ? NULL : mem->data + offset;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem mem,
							void *at, cl_uint wait_count,
							const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command = { .ops = &unmap_ops };
	struct ocl_mapping *mapping;
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	if (!ocl_is(mem, OCL_MEM))
		return ocl_fail(queue->context, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	if (mem->context != queue->context)
		return ocl_fail(queue->context, CL_INVALID_CONTEXT,
				"the buffer is of another context");
	mapping = take_mapping(mem, at);
	if (!mapping)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "the buffer is not mapped there");
	command.mem[0] = ocl_get(mem);
	error = ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
	if (error)
		add_mapping(mem, mapping);
	else
		free(mapping);
	return error;
}
