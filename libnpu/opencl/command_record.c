// SPDX-License-Identifier: MIT
/*
 * Recording: the clCommand... functions.  Each makes the same command as its clEnqueue... function does.
 */
#include <stdlib.h>

#include "command_buffer.h"

/**
 * struct tail - the arguments with which every clCommand... function ends
 * @count, @list: sync points to wait for
 * @point: receives the command's own; may be NULL
 * @handle: receives the handle of a kernel; else it has to be NULL
 */
struct tail {
	cl_uint count;
	const cl_sync_point_khr *list;
	cl_sync_point_khr *point;
	cl_mutable_command_khr *handle;
};

/* A sync point is the number of its command in the list, from 1. */
static cl_int check_points(const struct ocl_recording *recording, const struct tail *tail)
{
	cl_uint i;

	if (!tail->list != !tail->count)
		return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
	for (i = 0; i < tail->count; i++)
		if (!tail->list[i] || tail->list[i] > recording->count)
			return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
	return CL_SUCCESS;
}

/* What does not depend on the command; it has to be looked at before the command is made. */
static cl_int check_buffer(cl_command_buffer_khr buffer, cl_command_queue queue,
			   const struct tail *tail)
{
	cl_int error = CL_SUCCESS;

	if (!ocl_is(buffer, OCL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (queue)
		return CL_INVALID_COMMAND_QUEUE;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->state != CL_COMMAND_BUFFER_STATE_RECORDING_KHR)
		error = CL_INVALID_OPERATION;
	else
		error = check_points(buffer->recording, tail);
	pthread_mutex_unlock(&buffer->lock);
	return error;
}

/* The same for commands other than kernels, which have no properties and no handle. */
static cl_int check_plain(cl_command_buffer_khr buffer, cl_command_queue queue,
			  const cl_command_properties_khr *properties, const struct tail *tail)
{
	cl_int error = check_buffer(buffer, queue, tail);

	if (!error && ((properties && *properties) || tail->handle))
		error = CL_INVALID_VALUE;
	return error;
}

/* Takes the command, and the handle where there is one, also where it fails. */
static cl_int append(cl_command_buffer_khr buffer, struct ocl_command *command,
		     struct _cl_mutable_command_khr *handle, const struct tail *tail)
{
	cl_int error;

	pthread_mutex_lock(&buffer->lock);
	/* Another thread may have finalized it meanwhile. */
	if (buffer->state != CL_COMMAND_BUFFER_STATE_RECORDING_KHR) {
		ocl_command_release(command);
		error = CL_INVALID_OPERATION;
	} else {
		error = ocl_recording_add(buffer->recording, command);
	}
	if (!error) {
		if (tail->point)
			*tail->point = buffer->recording->count;
		if (handle) {
			handle->index = buffer->recording->count - 1;
			handle->next = buffer->mutable_commands;
			buffer->mutable_commands = handle;
			*tail->handle = handle;
			handle = NULL;
		}
	}
	pthread_mutex_unlock(&buffer->lock);
	ocl_mutable_free(handle);
	return error;
}

#define TAIL                                                                            \
	((struct tail){ num_sync_points_in_wait_list, sync_point_wait_list, sync_point, \
			mutable_handle })

cl_int CL_API_CALL ocl_record_barrier(CL_NPU_RECORD_HEAD, CL_NPU_RECORD_TAIL)
{
	const struct tail tail = TAIL;
	struct ocl_command command;
	cl_int error = check_plain(command_buffer, command_queue, properties, &tail);

	if (error)
		return error;
	ocl_build_nothing(CL_COMMAND_BARRIER, &command);
	return append(command_buffer, &command, NULL, &tail);
}

cl_int CL_API_CALL ocl_record_copy_buffer(CL_NPU_RECORD_HEAD, cl_mem src_buffer, cl_mem dst_buffer,
					  size_t src_offset, size_t dst_offset, size_t size,
					  CL_NPU_RECORD_TAIL)
{
	const struct tail tail = TAIL;
	struct ocl_command command;
	cl_int error = check_plain(command_buffer, command_queue, properties, &tail);

	if (!error)
		error = ocl_build_copy(command_buffer->context, src_buffer, dst_buffer, src_offset,
				       dst_offset, size, &command);
	return error ? error : append(command_buffer, &command, NULL, &tail);
}

cl_int CL_API_CALL ocl_record_copy_buffer_rect(CL_NPU_RECORD_HEAD, cl_mem src_buffer,
					       cl_mem dst_buffer, const size_t *src_origin,
					       const size_t *dst_origin, const size_t *region,
					       size_t src_row_pitch, size_t src_slice_pitch,
					       size_t dst_row_pitch, size_t dst_slice_pitch,
					       CL_NPU_RECORD_TAIL)
{
	const struct tail tail = TAIL;
	struct ocl_command command;
	cl_int error = check_plain(command_buffer, command_queue, properties, &tail);

	if (!error)
		error = ocl_build_copy_rect(command_buffer->context, src_buffer, dst_buffer,
					    src_origin, dst_origin, region,
					    (struct ocl_pitch){ src_row_pitch, src_slice_pitch },
					    (struct ocl_pitch){ dst_row_pitch, dst_slice_pitch },
					    &command);
	return error ? error : append(command_buffer, &command, NULL, &tail);
}

cl_int CL_API_CALL ocl_record_fill_buffer(CL_NPU_RECORD_HEAD, cl_mem buffer, const void *pattern,
					  size_t pattern_size, size_t offset, size_t size,
					  CL_NPU_RECORD_TAIL)
{
	const struct tail tail = TAIL;
	struct ocl_command command;
	cl_int error = check_plain(command_buffer, command_queue, properties, &tail);

	if (!error)
		error = ocl_build_fill(command_buffer->context, buffer, pattern, pattern_size,
				       offset, size, &command);
	return error ? error : append(command_buffer, &command, NULL, &tail);
}

/* ---- kernels ---- */

cl_int CL_API_CALL ocl_record_nd_range_kernel(CL_NPU_RECORD_HEAD, cl_kernel kernel,
					      cl_uint work_dim, const size_t *global_work_offset,
					      const size_t *global_work_size,
					      const size_t *local_work_size, CL_NPU_RECORD_TAIL)
{
	const struct tail tail = TAIL;
	struct _cl_mutable_command_khr *handle = NULL;
	cl_mutable_dispatch_fields_khr fields = 0;
	struct ocl_command command;
	cl_int error = check_buffer(command_buffer, command_queue, &tail);

	if (!error)
		error = ocl_mutable_properties(command_buffer, properties, local_work_size,
					       &fields);
	if (!error)
		error = ocl_build_launch(command_buffer->context, command_buffer->queue->device,
					 kernel, work_dim, global_work_offset, global_work_size,
					 local_work_size, ocl_mutable_may_wait(properties),
					 &command);
	if (error)
		return error;
	if (mutable_handle) {
		handle = ocl_mutable_new(command_buffer, kernel, properties, fields);
		if (!handle) {
			ocl_command_release(&command);
			return CL_OUT_OF_HOST_MEMORY;
		}
		ocl_mutable_set_range(handle, work_dim, global_work_offset, global_work_size,
				      local_work_size);
	}
	return append(command_buffer, &command, handle, &tail);
}

/* ---- what devices without images and shared virtual memory lack ---- */

/* There are no images: whatever is given is none. */
static cl_int no_image(cl_command_buffer_khr buffer, cl_command_queue queue,
		       const cl_command_properties_khr *properties, const struct tail *tail)
{
	cl_int error = check_plain(buffer, queue, properties, tail);

	return error ? error : CL_INVALID_MEM_OBJECT;
}

cl_int CL_API_CALL ocl_record_copy_image(CL_NPU_RECORD_HEAD, cl_mem src_image, cl_mem dst_image,
					 const size_t *src_origin, const size_t *dst_origin,
					 const size_t *region, CL_NPU_RECORD_TAIL)
{
	return no_image(command_buffer, command_queue, properties, &TAIL);
}

cl_int CL_API_CALL ocl_record_buffer_to_image(CL_NPU_RECORD_HEAD, cl_mem src_buffer,
					      cl_mem dst_image, size_t src_offset,
					      const size_t *dst_origin, const size_t *region,
					      CL_NPU_RECORD_TAIL)
{
	return no_image(command_buffer, command_queue, properties, &TAIL);
}

cl_int CL_API_CALL ocl_record_image_to_buffer(CL_NPU_RECORD_HEAD, cl_mem src_image,
					      cl_mem dst_buffer, const size_t *src_origin,
					      const size_t *region, size_t dst_offset,
					      CL_NPU_RECORD_TAIL)
{
	return no_image(command_buffer, command_queue, properties, &TAIL);
}

cl_int CL_API_CALL ocl_record_fill_image(CL_NPU_RECORD_HEAD, cl_mem image, const void *fill_color,
					 const size_t *origin, const size_t *region,
					 CL_NPU_RECORD_TAIL)
{
	return no_image(command_buffer, command_queue, properties, &TAIL);
}

static cl_int no_svm(cl_command_buffer_khr buffer, cl_command_queue queue,
		     const cl_command_properties_khr *properties, const struct tail *tail)
{
	cl_int error = check_plain(buffer, queue, properties, tail);

	return error ? error : CL_INVALID_OPERATION;
}

cl_int CL_API_CALL ocl_record_svm_memcpy(CL_NPU_RECORD_HEAD, void *dst_ptr, const void *src_ptr,
					 size_t size, CL_NPU_RECORD_TAIL)
{
	return no_svm(command_buffer, command_queue, properties, &TAIL);
}

cl_int CL_API_CALL ocl_record_svm_mem_fill(CL_NPU_RECORD_HEAD, void *svm_ptr, const void *pattern,
					   size_t pattern_size, size_t size, CL_NPU_RECORD_TAIL)
{
	return no_svm(command_buffer, command_queue, properties, &TAIL);
}
