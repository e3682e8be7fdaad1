// SPDX-License-Identifier: MIT
/*
 * Mutable dispatch: new arguments for kernels in a command buffer that is finalized.
 */
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"

/* What the extension knows: offset, global and local size, arguments, execution information. */
#define KNOWN_FIELDS 0x1f

/* ---- handles ---- */

static cl_int read_field(const cl_command_properties_khr *property, const size_t *local,
			 cl_mutable_dispatch_fields_khr *fields)
{
	switch (property[0]) {
	case CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR:
		*fields = property[1];
		if (property[1] & ~(cl_properties)KNOWN_FIELDS)
			return CL_INVALID_VALUE;
		return property[1] & ~(cl_properties)OCL_MUTABLE_FIELDS ? CL_INVALID_OPERATION
									: CL_SUCCESS;
	case CL_MUTABLE_DISPATCH_ASSERTS_KHR:
		if (property[1] &
		    ~(cl_properties)CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR)
			return CL_INVALID_VALUE;
		return property[1] && !local ? CL_INVALID_VALUE : CL_SUCCESS;
	default:
		return CL_INVALID_VALUE;
	}
}

cl_int ocl_mutable_properties(cl_command_buffer_khr buffer,
			      const cl_command_properties_khr *properties, const size_t *local,
			      cl_mutable_dispatch_fields_khr *fields)
{
	const cl_command_properties_khr *property, *earlier;
	cl_int error = buffer->asserts && !local ? CL_INVALID_VALUE : CL_SUCCESS;

	*fields = OCL_MUTABLE_FIELDS;
	for (property = properties; property && *property && !error; property += 2) {
		error = read_field(property, local, fields);
		for (earlier = properties; earlier != property; earlier += 2)
			if (*earlier == *property)
				error = CL_INVALID_VALUE;
	}
	return error;
}

bool ocl_mutable_may_wait(const cl_command_properties_khr *properties)
{
	for (; properties && *properties; properties += 2)
		if (*properties == CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR)
			return properties[1] & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR;
	return false;
}

struct _cl_mutable_command_khr *ocl_mutable_new(cl_command_buffer_khr buffer, cl_kernel kernel,
						const cl_command_properties_khr *properties,
						cl_mutable_dispatch_fields_khr fields)
{
	struct _cl_mutable_command_khr *command = calloc(1, sizeof(*command));

	if (!command)
		return NULL;
	command->kind = OCL_MUTABLE_COMMAND;
	command->buffer = buffer;
	command->kernel = ocl_get(kernel);
	command->fields = fields;
	if (properties)
		command->properties = ocl_copy_properties(properties, sizeof(*properties),
							  &command->property_count);
	if (!properties || command->properties)
		return command;
	ocl_mutable_free(command);
	return NULL;
}

static void set_numbers(size_t *to, const size_t *from, cl_uint count)
{
	if (from)
		memcpy(to, from, count * sizeof(*to));
}

void ocl_mutable_set_range(struct _cl_mutable_command_khr *command, cl_uint work_dim,
			   const size_t *offset, const size_t *global, const size_t *local)
{
	command->work_dim = work_dim;
	set_numbers(command->offset, offset, work_dim);
	set_numbers(command->global, global, work_dim);
	set_numbers(command->local, local, work_dim);
}

void ocl_mutable_free(struct _cl_mutable_command_khr *command)
{
	if (!command)
		return;
	command->kind = OCL_NONE;
	ocl_put(command->kernel);
	free(command->properties);
	free(command);
}

/* ---- updates ---- */

static bool is_command_of(cl_command_buffer_khr buffer, cl_mutable_command_khr command)
{
	struct _cl_mutable_command_khr *known;

	for (known = buffer->mutable_commands; known; known = known->next)
		if (known == command)
			return true;
	return false;
}

/* What the command does not allow to change may not be given, not even as it is. */
static cl_int check_config(cl_command_buffer_khr buffer, const cl_npu_mutable_config *config)
{
	if (!is_command_of(buffer, config->command))
		return CL_INVALID_MUTABLE_COMMAND_KHR;
	if (config->work_dim && config->work_dim != config->command->work_dim)
		return CL_INVALID_OPERATION;
	if (config->global_work_offset || config->global_work_size || config->local_work_size ||
	    config->num_svm_args || config->num_exec_infos)
		return CL_INVALID_OPERATION;
	if (config->num_args && !(config->command->fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR))
		return CL_INVALID_OPERATION;
	if (!config->arg_list != !config->num_args || config->arg_svm_list ||
	    config->exec_info_list)
		return CL_INVALID_VALUE;
	return CL_SUCCESS;
}

static cl_int set_arguments(struct ocl_launch *launch, const cl_npu_mutable_config *config)
{
	cl_context context = launch->kernel->program->context;
	cl_int error = CL_SUCCESS;
	cl_uint i;

	for (i = 0; i < config->num_args && !error; i++)
		error = ocl_set_value(launch->entry, launch->value, &ocl_keeps, context,
				      config->arg_list[i].arg_index, config->arg_list[i].arg_size,
				      config->arg_list[i].arg_value);
	return error ? error : ocl_launch_prepare(launch);
}

/* Puts the kernel with the new arguments in the place of the old one. */
static cl_int update_command(struct ocl_recording *recording, const cl_npu_mutable_config *config)
{
	const struct ocl_recorded *old = recording->command[config->command->index];
	struct ocl_launch *launch;
	struct ocl_command command;
	cl_int error;

	/* A kernel without work-items does nothing, whatever its arguments are. */
	if (!old->command.launch)
		return CL_SUCCESS;
	launch = ocl_launch_copy(old->command.launch);
	if (!launch)
		return CL_OUT_OF_HOST_MEMORY;
	error = set_arguments(launch, config);
	if (error) {
		ocl_launch_free(launch);
		return error;
	}
	ocl_launch_command(launch, &command);
	return ocl_recording_replace(recording, config->command->index, &command);
}

static cl_int update_all(cl_command_buffer_khr buffer, struct ocl_recording *recording,
			 cl_uint count, const cl_command_buffer_update_type_khr *types,
			 const void *const *configs)
{
	cl_int error = CL_SUCCESS;
	cl_uint i;

	for (i = 0; i < count && !error; i++) {
		if (types[i] != CL_NPU_UPDATE_DISPATCH || !configs[i])
			return CL_INVALID_VALUE;
		error = check_config(buffer, configs[i]);
		if (!error)
			error = update_command(recording, configs[i]);
	}
	return error;
}

/* Of the lock.  All updates, or none. */
static cl_int update_locked(cl_command_buffer_khr buffer, cl_uint count,
			    const cl_command_buffer_update_type_khr *types,
			    const void *const *configs)
{
	struct ocl_recording *recording;
	cl_int error;

	if (buffer->state == CL_COMMAND_BUFFER_STATE_RECORDING_KHR ||
	    !(buffer->flags & CL_COMMAND_BUFFER_MUTABLE_KHR))
		return CL_INVALID_OPERATION;
	recording = ocl_recording_copy(buffer->recording);
	if (!recording)
		return CL_OUT_OF_HOST_MEMORY;
	error = update_all(buffer, recording, count, types, configs);
	if (!error && !ocl_recording_finalize(recording))
		error = CL_OUT_OF_HOST_MEMORY;
	if (error) {
		ocl_recording_put(recording);
		return error;
	}
	ocl_recording_put(buffer->recording);
	buffer->recording = recording;
	buffer->state = ocl_recording_state(recording);
	return CL_SUCCESS;
}

cl_int CL_API_CALL ocl_mutable_update(cl_command_buffer_khr buffer, cl_uint count,
				      const cl_command_buffer_update_type_khr *types,
				      const void **configs)
{
	cl_int error;

	if (!ocl_is(buffer, OCL_COMMAND_BUFFER))
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (!types != !count || !configs != !count)
		return CL_INVALID_VALUE;
	pthread_mutex_lock(&buffer->lock);
	error = update_locked(buffer, count, types, configs);
	pthread_mutex_unlock(&buffer->lock);
	return error;
}

/* ---- queries ---- */

static void query_queue(const void *object, struct ocl_answer *answer)
{
	ocl_answer_handle(answer, ((cl_mutable_command_khr)object)->buffer->queue);
}

static void query_properties(const void *object, struct ocl_answer *answer)
{
	cl_mutable_command_khr command = (cl_mutable_command_khr)object;

	ocl_answer_data(answer, command->properties,
			command->property_count * sizeof(*command->properties));
}

static void answer_numbers(struct ocl_answer *answer, const size_t *numbers, cl_uint count)
{
	ocl_answer_data(answer, numbers, count * sizeof(*numbers));
}

static void query_offset(const void *object, struct ocl_answer *answer)
{
	cl_mutable_command_khr command = (cl_mutable_command_khr)object;

	answer_numbers(answer, command->offset, command->work_dim);
}

static void query_global(const void *object, struct ocl_answer *answer)
{
	cl_mutable_command_khr command = (cl_mutable_command_khr)object;

	answer_numbers(answer, command->global, command->work_dim);
}

static void query_local(const void *object, struct ocl_answer *answer)
{
	cl_mutable_command_khr command = (cl_mutable_command_khr)object;

	answer_numbers(answer, command->local, command->work_dim);
}

static const struct ocl_query queries[] = {
	OCL_CALL(CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR, query_queue),
	OCL_FIELD(CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, struct _cl_mutable_command_khr, buffer),
	OCL_VALUE(CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, cl_command_type, CL_COMMAND_NDRANGE_KERNEL),
	OCL_CALL(CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, query_properties),
	OCL_FIELD(CL_MUTABLE_DISPATCH_KERNEL_KHR, struct _cl_mutable_command_khr, kernel),
	OCL_FIELD(CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, struct _cl_mutable_command_khr, work_dim),
	OCL_CALL(CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR, query_offset),
	OCL_CALL(CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, query_global),
	OCL_CALL(CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, query_local),
};

cl_int CL_API_CALL ocl_mutable_info(cl_mutable_command_khr command,
				    cl_mutable_command_info_khr name, size_t size, void *value,
				    size_t *size_ret)
{
	if (!command || command->kind != OCL_MUTABLE_COMMAND)
		return CL_INVALID_MUTABLE_COMMAND_KHR;
	return ocl_query(queries, OCL_COUNT(queries), command, name, size, value, size_ret);
}
