// SPDX-License-Identifier: MIT
/*
 * Command buffers: their life, their execution and what they tell.
 */
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"

static void destroy_command_buffer(void *object)
{
	cl_command_buffer_khr buffer = object;
	struct _cl_mutable_command_khr *command;

	while ((command = buffer->mutable_commands)) {
		buffer->mutable_commands = command->next;
		ocl_mutable_free(command);
	}
	ocl_recording_put(buffer->recording);
	pthread_mutex_destroy(&buffer->lock);
	free(buffer->properties);
	ocl_put(buffer->queue);
	ocl_put(buffer->context);
}

static const struct ocl_class command_buffer_class = {
	.kind = OCL_COMMAND_BUFFER,
	.size = sizeof(struct _cl_command_buffer_khr),
	.invalid = CL_INVALID_COMMAND_BUFFER_KHR,
	.destroy = destroy_command_buffer,
};

/* ---- creation ---- */

static cl_int check_flags(cl_properties flags)
{
	const cl_properties ours = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR |
				   CL_COMMAND_BUFFER_MUTABLE_KHR;

	if (flags & ~(ours | CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR))
		return CL_INVALID_VALUE;
	return flags & ~ours ? CL_INVALID_PROPERTY : CL_SUCCESS;
}

static cl_int read_property(cl_command_buffer_khr buffer, const cl_properties *property)
{
	switch (property[0]) {
	case CL_COMMAND_BUFFER_FLAGS_KHR:
		buffer->flags = property[1];
		return check_flags(property[1]);
	case CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR:
		buffer->asserts = property[1];
		return property[1] & ~(cl_properties)
					       CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR
			       ? CL_INVALID_VALUE
			       : CL_SUCCESS;
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int read_properties(cl_command_buffer_khr buffer, const cl_properties *properties)
{
	const cl_properties *property, *earlier;
	cl_int error = CL_SUCCESS;

	for (property = properties; property && *property && !error; property += 2) {
		error = read_property(buffer, property);
		for (earlier = properties; earlier != property; earlier += 2)
			if (*earlier == *property)
				error = CL_INVALID_VALUE;
	}
	if (error || !properties)
		return error;
	buffer->properties =
		ocl_copy_properties(properties, sizeof(*properties), &buffer->property_count);
	return buffer->properties ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int new_command_buffer(cl_command_queue queue, const cl_properties *properties,
				 cl_command_buffer_khr *out)
{
	cl_command_buffer_khr buffer = ocl_new(&command_buffer_class);
	cl_int error = CL_OUT_OF_HOST_MEMORY;

	if (!buffer)
		return error;
	buffer->context = ocl_get(queue->context);
	buffer->queue = ocl_get(queue);
	buffer->state = CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
	ocl_lock_init(&buffer->lock);
	buffer->recording = ocl_recording_new();
	if (buffer->recording)
		error = read_properties(buffer, properties);
	if (error)
		ocl_release(buffer, &command_buffer_class);
	else
		*out = buffer;
	return error;
}

cl_command_buffer_khr CL_API_CALL
ocl_command_buffer_create(cl_uint num_queues, const cl_command_queue *queues,
			  const cl_command_buffer_properties_khr *properties, cl_int *errcode_ret)
{
	cl_command_buffer_khr buffer = NULL;
	cl_int error = CL_SUCCESS;

	if (num_queues != 1 || !queues)
		error = CL_INVALID_VALUE;
	else if (!ocl_is(queues[0], OCL_QUEUE))
		error = CL_INVALID_COMMAND_QUEUE;
	if (!error)
		error = new_command_buffer(queues[0], properties, &buffer);
	ocl_result(errcode_ret, error);
	return buffer;
}

cl_int CL_API_CALL ocl_command_buffer_retain(cl_command_buffer_khr buffer)
{
	return ocl_retain(buffer, &command_buffer_class);
}

cl_int CL_API_CALL ocl_command_buffer_release(cl_command_buffer_khr buffer)
{
	return ocl_release(buffer, &command_buffer_class);
}

cl_int CL_API_CALL ocl_command_buffer_finalize(cl_command_buffer_khr buffer)
{
	cl_int error = CL_SUCCESS;

	if (!ocl_is(buffer, OCL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->state != CL_COMMAND_BUFFER_STATE_RECORDING_KHR)
		error = CL_INVALID_OPERATION;
	else if (!ocl_recording_finalize(buffer->recording))
		error = CL_OUT_OF_HOST_MEMORY;
	else
		buffer->state = ocl_recording_state(buffer->recording);
	pthread_mutex_unlock(&buffer->lock);
	return error;
}

/* ---- execution ---- */

static cl_int run_execution(struct ocl_command *command, struct ocl_times *times)
{
	return ocl_recording_run(command->other, &times->submissions);
}

static void release_execution(struct ocl_command *command)
{
	ocl_recording_put(command->other);
}

static const struct ocl_command_ops execution_ops = {
	.type = CL_COMMAND_COMMAND_BUFFER_KHR,
	.run = run_execution,
	.release = release_execution,
};

static cl_int check_queue(cl_command_buffer_khr buffer, cl_command_queue queue)
{
	if (!ocl_is(queue, OCL_QUEUE))
		return CL_INVALID_COMMAND_QUEUE;
	if (queue->properties & ~(cl_command_queue_properties)OCL_COMMAND_BUFFER_QUEUE_PROPERTIES)
		return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
	if (queue->context != buffer->context)
		return CL_INVALID_CONTEXT;
	return queue->device == buffer->queue->device ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int CL_API_CALL ocl_command_buffer_enqueue(cl_uint num_queues, cl_command_queue *queues,
					      cl_command_buffer_khr buffer, cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command = { .ops = &execution_ops };
	cl_command_queue queue;
	cl_int error;

	if (!ocl_is(buffer, OCL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (!queues != !num_queues || num_queues > 1)
		return CL_INVALID_VALUE;
	queue = queues ? queues[0] : buffer->queue;
	error = check_queue(buffer, queue);
	if (error)
		return error;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->state == CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR)
		command.other = ocl_recording_get(buffer->recording);
	pthread_mutex_unlock(&buffer->lock);
	if (!command.other)
		return ocl_fail(buffer->context, CL_INVALID_OPERATION,
				"the command buffer has not been finalized, or a kernel waits for "
				"arguments");
	return ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}

/* ---- queries ---- */

static void query_queues(const void *object, struct ocl_answer *answer)
{
	ocl_answer_handle(answer, ((cl_command_buffer_khr)object)->queue);
}

static void query_context(const void *object, struct ocl_answer *answer)
{
	ocl_answer_handle(answer, ((cl_command_buffer_khr)object)->context);
}

static void query_state(const void *object, struct ocl_answer *answer)
{
	cl_command_buffer_khr buffer = (cl_command_buffer_khr)object;

	pthread_mutex_lock(&buffer->lock);
	ocl_answer_word(answer, buffer->state, sizeof(buffer->state));
	pthread_mutex_unlock(&buffer->lock);
}

static void query_properties(const void *object, struct ocl_answer *answer)
{
	cl_command_buffer_khr buffer = (cl_command_buffer_khr)object;

	ocl_answer_data(answer, buffer->properties,
			buffer->property_count * sizeof(*buffer->properties));
}

static const struct ocl_query queries[] = {
	OCL_VALUE(CL_COMMAND_BUFFER_NUM_QUEUES_KHR, cl_uint, 1),
	OCL_CALL(CL_COMMAND_BUFFER_QUEUES_KHR, query_queues),
	OCL_CALL(CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, ocl_query_handles),
	OCL_CALL(CL_COMMAND_BUFFER_STATE_KHR, query_state),
	OCL_CALL(CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, query_properties),
	OCL_CALL(CL_COMMAND_BUFFER_CONTEXT_KHR, query_context),
};

cl_int CL_API_CALL ocl_command_buffer_info(cl_command_buffer_khr buffer,
					   cl_command_buffer_info_khr name, size_t size,
					   void *value, size_t *size_ret)
{
	if (!ocl_is(buffer, OCL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	return ocl_query(queries, OCL_COUNT(queries), buffer, name, size, value, size_ret);
}
