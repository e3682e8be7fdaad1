// SPDX-License-Identifier: MIT
/*
 * Filling buffers with a pattern.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

static cl_int run_fill(struct ocl_command *command, struct ocl_times *times)
{
	const struct ocl_fill *fill = command->fill;
	size_t at;

	(void)times;
	for (at = 0; at < fill->bytes; at += fill->pattern_bytes)
		memcpy(fill->to + at, fill->pattern, fill->pattern_bytes);
	return CL_SUCCESS;
}

static void release_fill(struct ocl_command *command)
{
	free(command->fill);
}

static const struct ocl_command_ops fill_ops = { CL_COMMAND_FILL_BUFFER, run_fill, release_fill };

static bool is_pattern_size(size_t bytes)
{
	return bytes && bytes <= OCL_MAX_PATTERN && !(bytes & (bytes - 1));
}

cl_int ocl_build_fill(cl_context context, cl_mem mem, const void *pattern, size_t pattern_bytes,
		      size_t offset, size_t bytes, struct ocl_command *command)
{
	struct ocl_fill *fill;

	if (!ocl_is(mem, OCL_MEM))
		return ocl_fail(context, CL_INVALID_MEM_OBJECT, "the buffer is not valid");
	if (mem->context != context)
		return ocl_fail(context, CL_INVALID_CONTEXT, "the buffer is of another context");
	if (!pattern || !is_pattern_size(pattern_bytes) || !ocl_mem_holds(mem, offset, bytes) ||
	    offset % pattern_bytes || bytes % pattern_bytes)
		return ocl_fail(context, CL_INVALID_VALUE,
				"a pattern of %zu bytes for %zu bytes at %zu of %zu", pattern_bytes,
				bytes, offset, mem->size);
	fill = malloc(sizeof(*fill));
	if (!fill)
		return ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	fill->to = mem->data + offset;
	fill->bytes = bytes;
	fill->pattern_bytes = pattern_bytes;
	memcpy(fill->pattern, pattern, pattern_bytes);
	*command = (struct ocl_command){ .ops = &fill_ops, .mem = { ocl_get(mem) }, .fill = fill };
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem,
						    const void *pattern, size_t pattern_bytes,
						    size_t offset, size_t bytes, cl_uint wait_count,
						    const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command;
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = ocl_build_fill(queue->context, mem, pattern, pattern_bytes, offset, bytes,
			       &command);
	return error ? error : ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}
