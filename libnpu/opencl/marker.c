// SPDX-License-Identifier: MIT
/*
 * Commands that move no data: markers, barriers, migration, and functions of the host.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

static const struct ocl_command_ops marker_ops = { CL_COMMAND_MARKER };
static const struct ocl_command_ops barrier_ops = { CL_COMMAND_BARRIER };

void ocl_build_nothing(cl_command_type type, struct ocl_command *command)
{
	*command = (struct ocl_command){
		.ops = type == CL_COMMAND_BARRIER ? &barrier_ops : &marker_ops,
	};
}

static cl_int enqueue_nothing(cl_command_queue queue, cl_command_type type, struct ocl_wait wait)
{
	struct ocl_command command;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	ocl_build_nothing(type, &command);
	return ocl_enqueue(queue, &command, wait);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarkerWithWaitList(cl_command_queue queue,
							    cl_uint wait_count,
							    const cl_event *wait_list,
							    cl_event *event)
{
	return enqueue_nothing(queue, CL_COMMAND_MARKER, OCL_WAIT(wait_count, wait_list, event));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrierWithWaitList(cl_command_queue queue,
							     cl_uint wait_count,
							     const cl_event *wait_list,
							     cl_event *event)
{
	return enqueue_nothing(queue, CL_COMMAND_BARRIER, OCL_WAIT(wait_count, wait_list, event));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMarker(cl_command_queue queue, cl_event *event)
{
	if (ocl_is(queue, OCL_QUEUE) && !event)
		return ocl_fail(queue->context, CL_INVALID_VALUE,
				"no place for the marker's event");
	return enqueue_nothing(queue, CL_COMMAND_MARKER, OCL_WAIT(0, NULL, event));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueBarrier(cl_command_queue queue)
{
	return enqueue_nothing(queue, CL_COMMAND_BARRIER, OCL_WAIT(0, NULL, NULL));
}

/* Its errors are older than those of wait lists. */
CL_API_ENTRY cl_int CL_API_CALL clEnqueueWaitForEvents(cl_command_queue queue, cl_uint count,
						       const cl_event *list)
{
	cl_uint i;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	if (!count || !list)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "no events to wait for");
	for (i = 0; i < count; i++)
		if (!ocl_is(list[i], OCL_EVENT))
			return ocl_fail(queue->context, CL_INVALID_EVENT, "event %u is not valid",
					i);
	return enqueue_nothing(queue, CL_COMMAND_BARRIER, OCL_WAIT(count, list, NULL));
}

/* ---- migration: buffers are where they are, but stay there until the command has ended ---- */

struct ocl_migration {
	cl_uint count;
	cl_mem mem[];
};

static void release_migration(struct ocl_command *command)
{
	cl_uint i;

	for (i = 0; i < command->migration->count; i++)
		ocl_put(command->migration->mem[i]);
	free(command->migration);
}

static const struct ocl_command_ops migrate_ops = { CL_COMMAND_MIGRATE_MEM_OBJECTS, NULL,
						    release_migration };

static cl_int check_migration(cl_command_queue queue, cl_uint count, const cl_mem *list,
			      cl_mem_migration_flags flags)
{
	const cl_mem_migration_flags known = CL_MIGRATE_MEM_OBJECT_HOST |
					     CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
	cl_uint i;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	if (!count || !list || flags & ~known)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "no buffers, or flags 0x%llx",
				(unsigned long long)flags);
	for (i = 0; i < count; i++) {
		if (!ocl_is(list[i], OCL_MEM))
			return ocl_fail(queue->context, CL_INVALID_MEM_OBJECT,
					"buffer %u is not valid", i);
		if (list[i]->context != queue->context)
			return ocl_fail(queue->context, CL_INVALID_CONTEXT,
					"buffer %u is of another context", i);
	}
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueMigrateMemObjects(
	cl_command_queue queue, cl_uint count, const cl_mem *list, cl_mem_migration_flags flags,
	cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command = { .ops = &migrate_ops };
	cl_int error = check_migration(queue, count, list, flags);
	cl_uint i;

	if (error)
		return error;
	command.migration = malloc(sizeof(*command.migration) + count * sizeof(cl_mem));
	if (!command.migration)
		return ocl_fail(queue->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	command.migration->count = count;
	for (i = 0; i < count; i++)
		command.migration->mem[i] = ocl_get(list[i]);
	return ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}

/* ---- native kernels: a function of the host in the queue's order ---- */

struct ocl_native {
	void(CL_CALLBACK *function)(void *args);
	cl_uint count;
	cl_mem *mem;
	char args[];
};

static cl_int run_native(struct ocl_command *command, struct ocl_times *times)
{
	(void)times;
	command->native->function(command->native->args);
	return CL_SUCCESS;
}

static void release_native(struct ocl_command *command)
{
	struct ocl_native *native = command->native;
	cl_uint i;

	for (i = 0; i < native->count; i++)
		ocl_put(native->mem[i]);
	free(native->mem);
	free(native);
}

static const struct ocl_command_ops native_ops = { CL_COMMAND_NATIVE_KERNEL, run_native,
						   release_native };

/* @places point into @args: there the function finds a buffer's address instead of its handle. */
static cl_int check_native(cl_command_queue queue, bool function, const void *args, size_t bytes,
			   cl_uint count, const cl_mem *list, const void **places)
{
	cl_uint i;

	if (!function || !args != !bytes || (count && (!list || !places || !args)) ||
	    (!count && (list || places)))
		return ocl_fail(queue->context, CL_INVALID_VALUE,
				"no function, or arguments and buffers that do not agree");
	for (i = 0; i < count; i++) {
		size_t offset = (size_t)((const char *)places[i] - (const char *)args);

		if (!ocl_is(list[i], OCL_MEM))
			return ocl_fail(queue->context, CL_INVALID_MEM_OBJECT,
					"buffer %u is not valid", i);
		if (offset > bytes || bytes - offset < sizeof(void *))
			return ocl_fail(queue->context, CL_INVALID_VALUE,
					"the place of buffer %u is outside of the arguments", i);
	}
	return CL_SUCCESS;
}

static struct ocl_native *make_native(const void *args, size_t bytes, cl_uint count,
				      const cl_mem *list, const void **places)
{
	struct ocl_native *native = calloc(1, sizeof(*native) + bytes);
	cl_uint i;

	if (!native)
		return NULL;
	native->mem = calloc(count ? count : 1, sizeof(*native->mem));
	if (!native->mem) {
		free(native);
		return NULL;
	}
	if (bytes)
		memcpy(native->args, args, bytes);
	for (i = 0; i < count; i++) {
		native->mem[i] = ocl_get(list[i]);
		memcpy(native->args + ((const char *)places[i] - (const char *)args),
		       &list[i]->data, sizeof(list[i]->data));
	}
	native->count = count;
	return native;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue,
						      void(CL_CALLBACK *function)(void *args),
						      void *args, size_t bytes, cl_uint count,
						      const cl_mem *list, const void **places,
						      cl_uint wait_count, const cl_event *wait_list,
						      cl_event *event)
{
	struct ocl_command command = { .ops = &native_ops };
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = check_native(queue, function != NULL, args, bytes, count, list, places);
	if (error)
		return error;
	command.native = make_native(args, bytes, count, list, places);
	if (!command.native)
		return ocl_fail(queue->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	command.native->function = function;
	return ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}
