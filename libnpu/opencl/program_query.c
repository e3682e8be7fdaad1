// SPDX-License-Identifier: MIT
/* What can be asked of programs: clGetProgramInfo() and clGetProgramBuildInfo(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

/* What the program is on a device as a file: compiled where it is built, else as it was given. */
static cl_int binary_of(struct ocl_build *build, const void **data, size_t *bytes)
{
	*data = build->file;
	*bytes = build->file_bytes;
	if (!build->model)
		return CL_SUCCESS;
	if (!build->saved &&
	    npu_model_save_memory(build->model, &build->saved, &build->saved_bytes))
		return ocl_fail(NULL, CL_OUT_OF_HOST_MEMORY, "%s", npu_error());
	*data = build->saved;
	*bytes = build->saved_bytes;
	return CL_SUCCESS;
}

static void query_binary_sizes(const void *object, struct ocl_answer *answer)
{
	cl_program program = (cl_program)object;
	size_t *sizes = calloc(OCL_MAX_DEVICES, sizeof(*sizes));
	const void *data;
	cl_uint i;

	answer->error = sizes ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	for (i = 0; i < program->build_count && !answer->error; i++)
		answer->error = binary_of(&program->build[i], &data, &sizes[i]);
	answer->owned = sizes;
	ocl_answer_data(answer, sizes, program->build_count * sizeof(*sizes));
}

/* The value of CL_PROGRAM_BINARIES is where the binaries go; NULL: that one is not wanted. */
static cl_int copy_binaries(cl_program program, size_t size, unsigned char **to, size_t *size_ret)
{
	size_t need = program->build_count * sizeof(*to), bytes;
	cl_int error = CL_SUCCESS;
	const void *data;
	cl_uint i;

	if (to && size < need)
		return ocl_fail(program->context, CL_INVALID_VALUE,
				"%zu bytes of pointers, there is room for %zu", need, size);
	for (i = 0; to && i < program->build_count && !error; i++) {
		error = binary_of(&program->build[i], &data, &bytes);
		if (!error && to[i] && bytes)
			memcpy(to[i], data, bytes);
	}
	if (size_ret)
		*size_ret = need;
	return error;
}

static void query_devices(const void *object, struct ocl_answer *answer)
{
	const struct _cl_program *program = object;
	cl_device_id *list = calloc(OCL_MAX_DEVICES, sizeof(*list));
	cl_uint i;

	if (!list) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	for (i = 0; i < program->build_count; i++)
		list[i] = program->build[i].device;
	answer->owned = list;
	ocl_answer_data(answer, list, program->build_count * sizeof(*list));
}

static void query_source(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct _cl_program *)object)->source);
}

static bool need_entries(const struct _cl_program *program, struct ocl_answer *answer)
{
	if (program->entry_count)
		return true;
	answer->error = ocl_fail(program->context, CL_INVALID_PROGRAM_EXECUTABLE,
				 "the program is not built for any device");
	return false;
}

static void query_kernel_count(const void *object, struct ocl_answer *answer)
{
	const struct _cl_program *program = object;

	if (need_entries(program, answer))
		ocl_answer_word(answer, program->entry_count, sizeof(size_t));
}

static void query_kernel_names(const void *object, struct ocl_answer *answer)
{
	const struct _cl_program *program = object;
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream;
	cl_uint i;

	if (!need_entries(program, answer))
		return;
	stream = open_memstream(&text, &bytes);
	for (i = 0; stream && i < program->entry_count; i++)
		fprintf(stream, "%s%s", i ? ";" : "", program->entry[i]->name);
	if (!stream || fclose(stream)) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	answer->owned = text;
	ocl_answer_text(answer, text);
}

static void query_nothing(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_answer_data(answer, NULL, 0);
}

static const struct ocl_query queries[] = {
	OCL_CALL(CL_PROGRAM_REFERENCE_COUNT, ocl_query_handles),
	OCL_FIELD(CL_PROGRAM_CONTEXT, struct _cl_program, context),
	OCL_FIELD(CL_PROGRAM_NUM_DEVICES, struct _cl_program, build_count),
	OCL_CALL(CL_PROGRAM_DEVICES, query_devices),
	OCL_CALL(CL_PROGRAM_SOURCE, query_source),
	OCL_CALL(CL_PROGRAM_IL, query_nothing),
	OCL_CALL(CL_PROGRAM_BINARY_SIZES, query_binary_sizes),
	OCL_CALL(CL_PROGRAM_NUM_KERNELS, query_kernel_count),
	OCL_CALL(CL_PROGRAM_KERNEL_NAMES, query_kernel_names),
	OCL_VALUE(CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, cl_bool, CL_FALSE),
};

CL_API_ENTRY cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name,
						 size_t size, void *value, size_t *size_ret)
{
	cl_int error;

	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	pthread_mutex_lock(&program->lock);
	if (name == CL_PROGRAM_BINARIES)
		error = copy_binaries(program, size, value, size_ret);
	else
		error = ocl_query(queries, OCL_COUNT(queries), program, name, size, value,
				  size_ret);
	pthread_mutex_unlock(&program->lock);
	return error;
}

static void query_options(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct ocl_build *)object)->options);
}

static void query_log(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct ocl_build *)object)->log);
}

static const struct ocl_query build_queries[] = {
	OCL_FIELD(CL_PROGRAM_BUILD_STATUS, struct ocl_build, status),
	OCL_CALL(CL_PROGRAM_BUILD_OPTIONS, query_options),
	OCL_CALL(CL_PROGRAM_BUILD_LOG, query_log),
	OCL_FIELD(CL_PROGRAM_BINARY_TYPE, struct ocl_build, binary_type),
	OCL_VALUE(CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, size_t, 0),
};

CL_API_ENTRY cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
						      cl_program_build_info name, size_t size,
						      void *value, size_t *size_ret)
{
	struct ocl_build *build;
	cl_int error;

	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	build = ocl_is(device, OCL_DEVICE) ? ocl_program_build(program, device) : NULL;
	if (!build)
		return ocl_fail(program->context, CL_INVALID_DEVICE,
				"the device is not the program's");
	pthread_mutex_lock(&program->lock);
	error = ocl_query(build_queries, OCL_COUNT(build_queries), build, name, size, value,
			  size_ret);
	pthread_mutex_unlock(&program->lock);
	return error;
}
