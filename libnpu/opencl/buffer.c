// SPDX-License-Identifier: MIT
/*
 * Buffers and sub-buffers.  A buffer is memory of the host; what the NPU reads and writes lies in libnpu's own
 * buffers, in the NPU's formats.
 */
#include <stdlib.h>
#include <string.h>

#include "external_memory.h"
#include "ocl.h"

/* Whole pages: what the application maps does not share one with the heap. */
#define PAGE 4096u

#define KERNEL_ACCESS (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)
#define HOST_POINTER (CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)
#define HOST_ACCESS (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)

static void destroy_mem(void *object)
{
	cl_mem mem = object;
	struct ocl_destructor *next;

	while (mem->destructor) {
		next = mem->destructor->next;
		mem->destructor->mem(mem, mem->destructor->user_data);
		free(mem->destructor);
		mem->destructor = next;
	}
	ocl_forget_mappings(mem);
	if (mem->external)
		ocl_external_release(mem);
	if (mem->owned)
		free(mem->data);
	free(mem->properties);
	ocl_put(mem->parent);
	ocl_put(mem->context);
}

const struct ocl_class ocl_mem_class = {
	OCL_MEM, sizeof(struct _cl_mem), CL_INVALID_MEM_OBJECT, NULL, destroy_mem,
};

bool ocl_mem_holds(cl_mem mem, size_t offset, size_t bytes)
{
	return bytes && offset <= mem->size && bytes <= mem->size - offset;
}

bool ocl_mem_overlap(cl_mem a, size_t a_offset, cl_mem b, size_t b_offset, size_t bytes)
{
	uintptr_t first = (uintptr_t)a->data + a_offset, second = (uintptr_t)b->data + b_offset;

	return first < second + bytes && second < first + bytes;
}

/* ---- flags ---- */

static bool more_than_one(cl_mem_flags flags)
{
	return flags & (flags - 1);
}

static cl_int check_flags(cl_context context, cl_mem_flags flags)
{
	if (flags & ~(cl_mem_flags)(KERNEL_ACCESS | HOST_POINTER | HOST_ACCESS) ||
	    more_than_one(flags & KERNEL_ACCESS) || more_than_one(flags & HOST_ACCESS) ||
	    (flags & CL_MEM_USE_HOST_PTR && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
		return ocl_fail(context, CL_INVALID_VALUE, "buffer flags 0x%llx",
				(unsigned long long)flags);
	return CL_SUCCESS;
}

static cl_int check_buffer(cl_context context, cl_mem_flags flags, size_t size, const void *host)
{
	cl_int error = check_flags(context, flags);

	if (error)
		return error;
	if (!size || size > ocl_largest_buffer())
		return ocl_fail(context, CL_INVALID_BUFFER_SIZE,
				"a buffer of %zu bytes; 1 to %llu are possible", size,
				(unsigned long long)ocl_largest_buffer());
	if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
		return ocl_fail(context, CL_INVALID_HOST_PTR,
				"a host pointer goes with CL_MEM_USE_ or COPY_HOST_PTR");
	return CL_SUCCESS;
}

/* ---- creation ---- */

static cl_mem new_mem(cl_context context, cl_mem_flags flags, size_t size)
{
	cl_mem mem = ocl_new(&ocl_mem_class);

	if (!mem)
		return NULL;
	mem->context = ocl_get(context);
	mem->flags = flags & KERNEL_ACCESS ? flags : flags | CL_MEM_READ_WRITE;
	mem->size = size;
	return mem;
}

static cl_int set_memory(cl_mem mem, void *host)
{
	if (mem->flags & CL_MEM_USE_HOST_PTR) {
		mem->host_ptr = host;
		mem->data = host;
		return CL_SUCCESS;
	}
	mem->data = aligned_alloc(PAGE, (mem->size + PAGE - 1) / PAGE * PAGE);
	if (!mem->data)
		return ocl_fail(mem->context, CL_MEM_OBJECT_ALLOCATION_FAILURE,
				"no memory for a buffer of %zu bytes", mem->size);
	mem->owned = true;
	if (host)
		memcpy(mem->data, host, mem->size);
	return CL_SUCCESS;
}

static cl_int init_buffer(cl_mem mem, const cl_mem_properties *properties, void *host)
{
	cl_int error;

	mem->properties = ocl_copy_mem_properties(properties, &mem->property_count);
	if (properties && !mem->properties)
		return ocl_fail(mem->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	error = ocl_external_import(mem, properties);
	return error || mem->external ? error : set_memory(mem, host);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context,
							     const cl_mem_properties *properties,
							     cl_mem_flags flags, size_t size,
							     void *host, cl_int *errcode_ret)
{
	cl_int error = CL_SUCCESS;
	cl_mem mem = NULL;

	if (!ocl_is(context, OCL_CONTEXT))
		error = ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	if (!error)
		error = check_buffer(context, flags, size, host);
	if (!error) {
		mem = new_mem(context, flags, size);
		error = mem ? init_buffer(mem, properties, host)
			    : ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	}
	if (error) {
		ocl_put(mem);
		mem = NULL;
	}
	ocl_result(errcode_ret, error);
	return mem;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
					       void *host, cl_int *errcode_ret)
{
	return clCreateBufferWithProperties(context, NULL, flags, size, host, errcode_ret);
}

/* ---- sub-buffers ---- */

/* May a part have an access that the whole has not? */
static bool widens(cl_mem_flags whole, cl_mem_flags part)
{
	return (whole & CL_MEM_WRITE_ONLY && part & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
	       (whole & CL_MEM_READ_ONLY && part & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
	       (whole & CL_MEM_HOST_WRITE_ONLY && part & CL_MEM_HOST_READ_ONLY) ||
	       (whole & CL_MEM_HOST_READ_ONLY && part & CL_MEM_HOST_WRITE_ONLY) ||
	       (whole & CL_MEM_HOST_NO_ACCESS &&
		part & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
}

static cl_mem_flags inherit(cl_mem_flags whole, cl_mem_flags part)
{
	if (!(part & KERNEL_ACCESS))
		part |= whole & KERNEL_ACCESS;
	if (!(part & HOST_ACCESS))
		part |= whole & HOST_ACCESS;
	return part | (whole & HOST_POINTER);
}

static cl_int check_region(cl_mem whole, const cl_buffer_region *region)
{
	if (!region)
		return ocl_fail(whole->context, CL_INVALID_VALUE, "no region");
	if (!region->size)
		return ocl_fail(whole->context, CL_INVALID_BUFFER_SIZE, "a sub-buffer of 0 bytes");
	if (!ocl_mem_holds(whole, region->origin, region->size))
		return ocl_fail(whole->context, CL_INVALID_VALUE,
				"%zu bytes at %zu do not lie in a buffer of %zu", region->size,
				region->origin, whole->size);
	if (region->origin % OCL_BUFFER_ALIGN)
		return ocl_fail(whole->context, CL_MISALIGNED_SUB_BUFFER_OFFSET,
				"a sub-buffer begins at a multiple of %u, not at %zu",
				OCL_BUFFER_ALIGN, region->origin);
	return CL_SUCCESS;
}

static cl_int check_sub_buffer(cl_mem whole, cl_mem_flags flags, cl_buffer_create_type type,
			       const void *info)
{
	cl_int error;

	if (!ocl_is(whole, OCL_MEM))
		return ocl_fail(NULL, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	if (whole->parent)
		return ocl_fail(whole->context, CL_INVALID_MEM_OBJECT,
				"a part of a sub-buffer cannot be had");
	error = check_flags(whole->context, flags);
	if (error)
		return error;
	if (flags & HOST_POINTER || widens(whole->flags, flags) ||
	    type != CL_BUFFER_CREATE_TYPE_REGION)
		return ocl_fail(whole->context, CL_INVALID_VALUE,
				"sub-buffer flags 0x%llx of a buffer with 0x%llx, or no region",
				(unsigned long long)flags, (unsigned long long)whole->flags);
	return check_region(whole, info);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateSubBuffer(cl_mem whole, cl_mem_flags flags,
						  cl_buffer_create_type type, const void *info,
						  cl_int *errcode_ret)
{
	cl_int error = check_sub_buffer(whole, flags, type, info);
	const cl_buffer_region *region = info;
	cl_mem mem;

	if (error) {
		ocl_result(errcode_ret, error);
		return NULL;
	}
	mem = new_mem(whole->context, inherit(whole->flags, flags), region->size);
	if (!mem) {
		ocl_result(errcode_ret,
			   ocl_fail(whole->context, CL_OUT_OF_HOST_MEMORY, "out of memory"));
		return NULL;
	}
	mem->parent = ocl_get(whole);
	mem->origin = region->origin;
	mem->data = whole->data + region->origin;
	mem->host_ptr = whole->host_ptr ? mem->data : NULL;
	ocl_result(errcode_ret, CL_SUCCESS);
	return mem;
}

/* ---- the rest of an object's life ---- */

CL_API_ENTRY cl_int CL_API_CALL clRetainMemObject(cl_mem mem)
{
	return ocl_retain(mem, &ocl_mem_class);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseMemObject(cl_mem mem)
{
	return ocl_release(mem, &ocl_mem_class);
}

CL_API_ENTRY cl_int CL_API_CALL clSetMemObjectDestructorCallback(
	cl_mem mem, void(CL_CALLBACK *notify)(cl_mem mem, void *user_data), void *user_data)
{
	struct ocl_destructor *destructor;

	if (!ocl_is(mem, OCL_MEM))
		return ocl_fail(NULL, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	if (!notify)
		return ocl_fail(mem->context, CL_INVALID_VALUE, "no function to call");
	destructor = malloc(sizeof(*destructor));
	if (!destructor)
		return ocl_fail(mem->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	destructor->mem = notify;
	destructor->user_data = user_data;
	pthread_mutex_lock(&mem->context->lock);
	destructor->next = mem->destructor;
	mem->destructor = destructor;
	pthread_mutex_unlock(&mem->context->lock);
	return CL_SUCCESS;
}

static void query_properties(const void *object, struct ocl_answer *answer)
{
	const struct _cl_mem *mem = object;

	ocl_answer_data(answer, mem->properties, mem->property_count * sizeof(cl_mem_properties));
}

static void query_map_count(const void *object, struct ocl_answer *answer)
{
	const struct _cl_mem *mem = object;
	cl_uint count;

	pthread_mutex_lock(&mem->context->lock);
	count = mem->map_count;
	pthread_mutex_unlock(&mem->context->lock);
	ocl_answer_word(answer, count, sizeof(count));
}

static const struct ocl_query queries[] = {
	OCL_VALUE(CL_MEM_TYPE, cl_mem_object_type, CL_MEM_OBJECT_BUFFER),
	OCL_FIELD(CL_MEM_FLAGS, struct _cl_mem, flags),
	OCL_FIELD(CL_MEM_SIZE, struct _cl_mem, size),
	OCL_FIELD(CL_MEM_HOST_PTR, struct _cl_mem, host_ptr),
	OCL_CALL(CL_MEM_MAP_COUNT, query_map_count),
	OCL_CALL(CL_MEM_REFERENCE_COUNT, ocl_query_handles),
	OCL_FIELD(CL_MEM_CONTEXT, struct _cl_mem, context),
	OCL_FIELD(CL_MEM_ASSOCIATED_MEMOBJECT, struct _cl_mem, parent),
	OCL_FIELD(CL_MEM_OFFSET, struct _cl_mem, origin),
	OCL_VALUE(CL_MEM_USES_SVM_POINTER, cl_bool, CL_FALSE),
	OCL_CALL(CL_MEM_PROPERTIES, query_properties),
};

CL_API_ENTRY cl_int CL_API_CALL clGetMemObjectInfo(cl_mem mem, cl_mem_info name, size_t size,
						   void *value, size_t *size_ret)
{
	if (!ocl_is(mem, OCL_MEM))
		return ocl_fail(NULL, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	return ocl_query(queries, OCL_COUNT(queries), mem, name, size, value, size_ret);
}
