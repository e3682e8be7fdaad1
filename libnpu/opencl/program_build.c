// SPDX-License-Identifier: MIT
/*
 * Building programs: models are compiled and loaded for each device, and their entry points listed.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

/* ---- entry points of a model ---- */

static const char *const type_names[] = {
	[NPU_TYPE_INT8] = "char*",     [NPU_TYPE_UINT8] = "uchar*", [NPU_TYPE_INT16] = "short*",
	[NPU_TYPE_INT32] = "int*",     [NPU_TYPE_INT64] = "long*",  [NPU_TYPE_FLOAT16] = "half*",
	[NPU_TYPE_FLOAT32] = "float*", [NPU_TYPE_BOOL] = "uchar*",
};

static void set_arg(struct ocl_arg *arg, bool output)
{
	arg->name = arg->tensor.name;
	arg->type_name = type_names[arg->tensor.type];
	arg->bytes = arg->tensor.bytes;
	arg->output = output;
}

/* Inputs, then outputs, in the model's order. */
static int read_args(const struct npu_model *model, struct ocl_arg *arg)
{
	unsigned inputs = npu_model_input_count(model), outputs = npu_model_output_count(model), i;
	int err = 0;

	for (i = 0; i < inputs + outputs && !err; i++) {
		arg[i].tensor.size = sizeof(arg[i].tensor);
		err = i < inputs ? npu_model_input(model, i, &arg[i].tensor)
				 : npu_model_output(model, i - inputs, &arg[i].tensor);
		if (!err)
			set_arg(&arg[i], i >= inputs);
	}
	return err;
}

static struct ocl_arg *make_args(const struct npu_model *model, cl_uint *count)
{
	struct ocl_arg *arg;

	*count = npu_model_input_count(model) + npu_model_output_count(model);
	arg = calloc(*count ? *count : 1, sizeof(*arg));
	if (arg && read_args(model, arg)) {
		free(arg);
		arg = NULL;
	}
	return arg;
}

/* The one entry point that a model has. */
static bool make_entry(cl_program program, struct ocl_arg *arg, cl_uint count)
{
	struct ocl_entry *entry = calloc(1, sizeof(*entry));

	program->entry = calloc(1, sizeof(*program->entry));
	program->own_entries = entry;
	program->own_args = arg;
	if (!entry || !program->entry)
		return false;
	*entry = (struct ocl_entry){
		.name = "infer",
		.arg_count = count,
		.arg = arg,
		.ops = &ocl_model_ops,
	};
	program->entry[0] = entry;
	program->entry_count = 1;
	return true;
}

/* Kernels are the same on all devices: files for different models cannot be one program. */
static bool same_args(const struct ocl_entry *entry, const struct ocl_arg *arg, cl_uint count)
{
	cl_uint i;

	if (entry->arg_count != count)
		return false;
	for (i = 0; i < count; i++)
		if (entry->arg[i].bytes != arg[i].bytes || entry->arg[i].output != arg[i].output ||
		    entry->arg[i].tensor.type != arg[i].tensor.type)
			return false;
	return true;
}

static const char *add_entry(cl_program program, const struct npu_model *model)
{
	cl_uint count;
	struct ocl_arg *arg = make_args(model, &count);
	bool same;

	if (!arg)
		return "out of memory";
	if (!program->entry_count)
		return make_entry(program, arg, count) ? NULL : "out of memory";
	same = same_args(program->entry[0], arg, count);
	free(arg);
	return same ? NULL : "its inputs and outputs differ from those of the other devices";
}

/* ---- building ---- */

#define BANKS_OPTION "-npu-max-banks="

/* "-npu-max-banks=N": 0 is no limit. */
static bool read_banks(const char *text, uint32_t *max_banks)
{
	char *end;
	unsigned long long value;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value > UINT32_MAX)
		return false;
	*max_banks = (uint32_t)value;
	return true;
}

/* Options of compilers of OpenCL C, which clients add by themselves, mean nothing to a model. */
static bool is_for_compilers(const char *word)
{
	static const char *const prefix[] = { "-I", "-D", "-cl-", "-w", "-W", "-g" };
	size_t i;

	for (i = 0; i < OCL_COUNT(prefix); i++)
		if (!strncmp(word, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/* "-I dir" and "-D name" are two words. */
static bool takes_value(const char *word)
{
	return !strcmp(word, "-I") || !strcmp(word, "-D");
}

static bool read_options(const char *options, uint32_t *max_banks)
{
	char *copy = strdup(options), *rest = copy, *word;
	bool good = copy != NULL, value = false;

	while (good && (word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		if (value)
			value = false;
		else if (!strncmp(word, BANKS_OPTION, strlen(BANKS_OPTION)))
			good = read_banks(word + strlen(BANKS_OPTION), max_banks);
		else if (is_for_compilers(word))
			value = takes_value(word);
		else
			good = false;
	}
	free(copy);
	return good;
}

static void build_one(cl_program program, struct ocl_build *build, const char *options,
		      uint32_t max_banks)
{
	const char *problem = NULL;

	/* A compiled file is loaded since it was given; with a limit, or the next time, it is loaded again. */
	if (build->status != CL_BUILD_NONE || max_banks)
		ocl_program_forget_build(build);
	build->options = strdup(options);
	if (ocl_program_is_host(build))
		problem = ocl_host_build(program, build);
	else if (!build->model && ocl_program_load(build, max_banks))
		problem = npu_error();
	else
		problem = add_entry(program, build->model);
	build->log = problem ? strdup(problem) : NULL;
	build->status = problem ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
	build->binary_type = problem ? CL_PROGRAM_BINARY_TYPE_NONE
				     : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

static cl_int check_unused(cl_program program)
{
	if (!atomic_load(&program->kernels))
		return CL_SUCCESS;
	return ocl_fail(program->context, CL_INVALID_OPERATION,
			"the program has kernels; it cannot be built again");
}

/* Of the lock. */
static cl_int build_locked(cl_program program, cl_uint count, const cl_device_id *devices,
			   const char *options, uint32_t max_banks)
{
	/* Another thread may have built it meanwhile, and made kernels. */
	cl_int error = check_unused(program);
	cl_uint i;

	if (error)
		return error;
	if (count == program->build_count)
		ocl_program_forget_entries(program);
	for (i = 0; i < count; i++) {
		struct ocl_build *build = ocl_program_build(program, devices[i]);

		build_one(program, build, options, max_banks);
		if (build->status != CL_BUILD_SUCCESS)
			error = ocl_fail(program->context, CL_BUILD_PROGRAM_FAILURE, "%s: %s",
					 build->device->name, build->log ? build->log : "");
	}
	return error;
}

static cl_int build_all(cl_program program, cl_uint count, const cl_device_id *devices,
			const char *options, uint32_t max_banks)
{
	cl_int error;

	pthread_mutex_lock(&program->lock);
	error = build_locked(program, count, devices, options, max_banks);
	pthread_mutex_unlock(&program->lock);
	return error;
}

static cl_int check_devices(cl_program program, cl_uint count, const cl_device_id *devices)
{
	cl_uint i;

	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	if (!count != !devices)
		return ocl_fail(program->context, CL_INVALID_VALUE, "%u devices that are %s", count,
				devices ? "there" : "NULL");
	for (i = 0; i < count; i++)
		if (!ocl_is(devices[i], OCL_DEVICE) || !ocl_program_build(program, devices[i]))
			return ocl_fail(program->context, CL_INVALID_DEVICE,
					"device %u is not the program's", i);
	return CL_SUCCESS;
}

static cl_int check_build(cl_program program, cl_uint count, const cl_device_id *devices,
			  const char *options, bool notify, const void *user_data,
			  uint32_t *max_banks)
{
	cl_int error = check_devices(program, count, devices);

	if (error)
		return error;
	if (!notify && user_data)
		return ocl_fail(program->context, CL_INVALID_VALUE, "data for no function");
	error = check_unused(program);
	if (error)
		return error;
	if (!read_options(options, max_banks))
		return ocl_fail(program->context, CL_INVALID_BUILD_OPTIONS, "options \"%s\"",
				options);
	if (program->source)
		return ocl_fail(program->context, CL_COMPILER_NOT_AVAILABLE,
				"an NPU has no compiler for OpenCL C; load a model by "
				"clCreateProgramWithBinary()");
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL
clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
	       void(CL_CALLBACK *notify)(cl_program program, void *user_data), void *user_data)
{
	cl_device_id all[OCL_MAX_DEVICES];
	uint32_t max_banks = 0;
	cl_int error;
	cl_uint i;

	options = options ? options : "";
	error = check_build(program, count, devices, options, notify != NULL, user_data,
			    &max_banks);
	if (error)
		return error;
	for (i = 0; !count && i < program->build_count; i++)
		all[i] = program->build[i].device;
	if (!program->builtin)
		error = build_all(program, count ? count : program->build_count,
				  count ? devices : all, options, max_banks);
	if (notify)
		notify(program, user_data);
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL clCompileProgram(
	cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
	cl_uint header_count, const cl_program *headers, const char **header_names,
	void(CL_CALLBACK *notify)(cl_program program, void *user_data), void *user_data)
{
	cl_int error = check_devices(program, count, devices);

	if (error)
		return error;
	if ((!notify && user_data) || !header_count != !headers || !header_count != !header_names)
		return ocl_fail(program->context, CL_INVALID_VALUE,
				"data for no function, or headers that do not agree");
	if (!program->source)
		return ocl_fail(program->context, CL_INVALID_OPERATION,
				"the program has no source");
	return ocl_fail(program->context, CL_COMPILER_NOT_AVAILABLE, "an NPU has no compiler");
}

CL_API_ENTRY cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count,
						  const cl_device_id *devices, const char *options,
						  cl_uint program_count, const cl_program *programs,
						  void(CL_CALLBACK *notify)(cl_program program,
									    void *user_data),
						  void *user_data, cl_int *errcode_ret)
{
	cl_int error;
	cl_uint i;

	if (!ocl_is(context, OCL_CONTEXT))
		error = ocl_fail(NULL, CL_INVALID_CONTEXT, "the context is not valid");
	else if (!count != !devices || !program_count || !programs || (!notify && user_data))
		error = ocl_fail(context, CL_INVALID_VALUE, "no programs, or data for no function");
	else
		error = ocl_fail(context, CL_LINKER_NOT_AVAILABLE, "an NPU has no linker");
	for (i = 0; error == CL_LINKER_NOT_AVAILABLE && i < program_count; i++)
		if (!ocl_is(programs[i], OCL_PROGRAM))
			error = ocl_fail(context, CL_INVALID_PROGRAM, "program %u is not valid", i);
	ocl_result(errcode_ret, error);
	return NULL;
}
