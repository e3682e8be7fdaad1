// SPDX-License-Identifier: MIT
/*
 * Programs: model files and compiled files, loaded for each of their devices, and built-in kernels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

void ocl_program_forget_build(struct ocl_build *build)
{
	if (build->host)
		ocl_host_forget(build);
	npu_model_free(build->model);
	free(build->saved);
	free(build->log);
	free(build->options);
	build->model = NULL;
	build->saved = NULL;
	build->log = NULL;
	build->options = NULL;
}

void ocl_program_forget_entries(cl_program program)
{
	free(program->entry);
	free(program->own_entries);
	free(program->own_args);
	program->entry = NULL;
	program->own_entries = NULL;
	program->own_args = NULL;
	program->entry_count = 0;
}

static void destroy_program(void *object)
{
	cl_program program = object;
	cl_uint i;

	for (i = 0; i < program->build_count; i++) {
		ocl_program_forget_build(&program->build[i]);
		free(program->build[i].file);
	}
	ocl_program_forget_entries(program);
	free(program->source);
	pthread_mutex_destroy(&program->lock);
	ocl_put(program->context);
}

const struct ocl_class ocl_program_class = {
	OCL_PROGRAM, sizeof(struct _cl_program), CL_INVALID_PROGRAM, NULL, destroy_program,
};

struct ocl_build *ocl_program_build(cl_program program, cl_device_id device)
{
	cl_uint i;

	for (i = 0; i < program->build_count; i++)
		if (program->build[i].device == device)
			return &program->build[i];
	return NULL;
}

static cl_program new_program(cl_context context, cl_int *error)
{
	cl_program program = ocl_new(&ocl_program_class);

	if (!program) {
		*error = ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "out of memory");
		return NULL;
	}
	ocl_lock_init(&program->lock);
	program->context = ocl_get(context);
	return program;
}

static cl_int add_build(cl_program program, cl_device_id device)
{
	struct ocl_build *build = &program->build[program->build_count];

	if (!ocl_is(device, OCL_DEVICE) || !ocl_context_has(program->context, device))
		return ocl_fail(program->context, CL_INVALID_DEVICE,
				"the device is not the context's");
	if (ocl_program_build(program, device))
		return ocl_fail(program->context, CL_INVALID_DEVICE, "%s is there twice",
				device->name);
	build->device = device;
	build->status = CL_BUILD_NONE;
	build->binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
	program->build_count++;
	return CL_SUCCESS;
}

static cl_int add_builds(cl_program program, cl_uint count, const cl_device_id *devices)
{
	cl_int error = CL_SUCCESS;
	cl_uint i;

	for (i = 0; i < count && !error; i++)
		error = add_build(program, devices[i]);
	return error;
}

static cl_program finish_creation(cl_program program, cl_int error, cl_int *errcode_ret)
{
	if (error) {
		ocl_put(program);
		program = NULL;
	}
	ocl_result(errcode_ret, error);
	return program;
}

/* ---- from binaries ---- */

int ocl_program_load(struct ocl_build *build, uint32_t max_banks)
{
	struct npu_model_options options = { .size = sizeof(options), .max_banks = max_banks };

	return npu_model_load_memory(build->device->npu, build->file, build->file_bytes, "program",
				     &options, &build->model);
}

bool ocl_program_is_host(const struct ocl_build *build)
{
	return ocl_host_is && ocl_host_is(build->file, build->file_bytes);
}

/*
 * Compiled files are loaded at once, since only so can one for another configuration or of another version
 * be refused for its device alone.  Model files are compiled by clBuildProgram().
 */
static cl_int take_binary(cl_context context, struct ocl_build *build, const void *data,
			  size_t bytes)
{
	enum npu_file_kind kind = npu_file_kind(data, bytes);

	build->file = malloc(bytes);
	if (!build->file)
		return ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "no memory for %zu bytes", bytes);
	memcpy(build->file, data, bytes);
	build->file_bytes = bytes;
	if (ocl_program_is_host(build))
		return CL_SUCCESS;
	if (kind == NPU_FILE_UNKNOWN)
		return ocl_fail(context, CL_INVALID_BINARY,
				"%zu bytes that are neither a compiled file nor a known model",
				bytes);
	if (kind == NPU_FILE_MODEL)
		return CL_SUCCESS;
	build->binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	if (ocl_program_load(build, 0))
		return ocl_fail(context, CL_INVALID_BINARY, "%s", npu_error());
	return CL_SUCCESS;
}

/* One bad binary does not keep the others from being looked at: each has its status. */
static cl_int take_binaries(cl_program program, const size_t *lengths,
			    const unsigned char **binaries, cl_int *binary_status)
{
	cl_int error = CL_SUCCESS, status;
	cl_uint i;

	for (i = 0; i < program->build_count; i++) {
		if (!lengths[i] || !binaries[i])
			status = ocl_fail(program->context, CL_INVALID_VALUE, "binary %u is empty",
					  i);
		else
			status = take_binary(program->context, &program->build[i], binaries[i],
					     lengths[i]);
		if (binary_status)
			binary_status[i] = status;
		if (status)
			error = status;
	}
	return error;
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBinary(
	cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
	const unsigned char **binaries, cl_int *binary_status, cl_int *errcode_ret)
{
	cl_program program = NULL;
	cl_int error = CL_SUCCESS;

	if (!ocl_is(context, OCL_CONTEXT))
		error = ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	else if (!count || !devices || !lengths || !binaries)
		error = ocl_fail(context, CL_INVALID_VALUE, "no devices or no binaries");
	if (!error)
		program = new_program(context, &error);
	if (program)
		error = add_builds(program, count, devices);
	if (program && !error)
		error = take_binaries(program, lengths, binaries, binary_status);
	return finish_creation(program, error, errcode_ret);
}

/* ---- from source, which is kept, but nobody here can build it ---- */

static char *join(cl_uint count, const char **strings, const size_t *lengths)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);
	cl_uint i;

	for (i = 0; stream && i < count; i++)
		fwrite(strings[i], 1, lengths && lengths[i] ? lengths[i] : strlen(strings[i]),
		       stream);
	if (stream && !fclose(stream))
		return text;
	free(text);
	return NULL;
}

static cl_int take_source(cl_program program, cl_uint count, const char **strings,
			  const size_t *lengths)
{
	cl_uint i;

	for (i = 0; i < count; i++)
		if (!strings[i])
			return ocl_fail(program->context, CL_INVALID_VALUE, "string %u is NULL", i);
	program->source = join(count, strings, lengths);
	if (!program->source)
		return ocl_fail(program->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	return add_builds(program, program->context->device_count, program->context->device);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
							      const char **strings,
							      const size_t *lengths,
							      cl_int *errcode_ret)
{
	cl_program program = NULL;
	cl_int error = CL_SUCCESS;

	if (!ocl_is(context, OCL_CONTEXT))
		error = ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	else if (!count || !strings)
		error = ocl_fail(context, CL_INVALID_VALUE, "no source");
	if (!error)
		program = new_program(context, &error);
	if (program)
		error = take_source(program, count, strings, lengths);
	return finish_creation(program, error, errcode_ret);
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void *il,
							  size_t length, cl_int *errcode_ret)
{
	ocl_result(errcode_ret,
		   ocl_is(context, OCL_CONTEXT)
			   ? ocl_fail(context, CL_INVALID_OPERATION, "no intermediate language")
			   : ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid"));
	return NULL;
}

/* ---- built-in kernels ---- */

static const struct ocl_entry *find_builtin(const char *name, size_t length)
{
	size_t i;

	for (i = 0; ocl_builtin[i]; i++)
		if (strlen(ocl_builtin[i]->name) == length &&
		    !memcmp(ocl_builtin[i]->name, name, length))
			return ocl_builtin[i];
	return NULL;
}

static size_t count_names(const char *names)
{
	size_t count = 1;

	for (; *names; names++)
		count += *names == ';';
	return count;
}

static cl_int take_builtin(cl_program program, const char *names)
{
	size_t length;

	program->entry = calloc(count_names(names), sizeof(*program->entry));
	if (!program->entry)
		return ocl_fail(program->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	for (;;) {
		const struct ocl_entry *entry;

		length = strcspn(names, ";");
		entry = find_builtin(names, length);
		if (!entry)
			return ocl_fail(program->context, CL_INVALID_VALUE,
					"there is no built-in kernel %.*s", (int)length, names);
		program->entry[program->entry_count++] = entry;
		if (!names[length])
			return CL_SUCCESS;
		names += length + 1;
	}
}

CL_API_ENTRY cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context,
								      cl_uint count,
								      const cl_device_id *devices,
								      const char *names,
								      cl_int *errcode_ret)
{
	cl_program program = NULL;
	cl_int error = CL_SUCCESS;
	cl_uint i;

	if (!ocl_is(context, OCL_CONTEXT))
		error = ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	else if (!count || !devices || !names)
		error = ocl_fail(context, CL_INVALID_VALUE, "no devices or no names");
	if (!error)
		program = new_program(context, &error);
	if (program)
		error = add_builds(program, count, devices);
	if (program && !error)
		error = take_builtin(program, names);
	for (i = 0; program && i < program->build_count; i++)
		program->build[i].status = CL_BUILD_SUCCESS;
	if (program)
		program->builtin = true;
	return finish_creation(program, error, errcode_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainProgram(cl_program program)
{
	return ocl_retain(program, &ocl_program_class);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseProgram(cl_program program)
{
	return ocl_release(program, &ocl_program_class);
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramReleaseCallback(
	cl_program program, void(CL_CALLBACK *notify)(cl_program program, void *user_data),
	void *user_data)
{
	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	return ocl_fail(program->context, CL_INVALID_OPERATION,
			"programs have no destructors at program scope");
}

CL_API_ENTRY cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint id,
								   size_t size, const void *value)
{
	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	return ocl_fail(program->context, CL_INVALID_OPERATION, "no intermediate language");
}
