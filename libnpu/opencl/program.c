// SPDX-License-Identifier: MIT
/*
 * Programs: model files and compiled files, loaded for each of their devices, and built-in kernels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

static void forget_build(struct ocl_build *build)
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

static void forget_entries(cl_program program)
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
		forget_build(&program->build[i]);
		free(program->build[i].file);
	}
	forget_entries(program);
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

static int load_model(struct ocl_build *build, uint32_t max_banks)
{
	struct npu_model_options options = { .size = sizeof(options), .max_banks = max_banks };

	return npu_model_load_memory(build->device->npu, build->file, build->file_bytes, "program",
				     &options, &build->model);
}

static bool is_host_code(const struct ocl_build *build)
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
	if (is_host_code(build))
		return CL_SUCCESS;
	if (kind == NPU_FILE_UNKNOWN)
		return ocl_fail(context, CL_INVALID_BINARY,
				"%zu bytes that are neither a compiled file nor a known model",
				bytes);
	if (kind == NPU_FILE_MODEL)
		return CL_SUCCESS;
	build->binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
	if (load_model(build, 0))
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

/* Options of compilers of OpenCL C, which clients add by themselves, mean nothing to a model. */
static bool read_options(const char *options, uint32_t *max_banks)
{
	static const char *const ignored[] = { "-I", "-D", "-cl-", "-w", "-W", "-g" };
	char *copy = strdup(options), *rest = copy, *word;
	bool good = copy != NULL, value = false;
	size_t i;

	while (good && (word = strsep(&rest, " \t\n"))) {
		if (!*word)
			continue;
		if (value || !strncmp(word, BANKS_OPTION, strlen(BANKS_OPTION))) {
			char *end = "";

			if (!value)
				*max_banks =
					(uint32_t)strtoul(word + strlen(BANKS_OPTION), &end, 10);
			good = !*end;
			value = false;
			continue;
		}
		for (i = 0; i < OCL_COUNT(ignored); i++)
			if (!strncmp(word, ignored[i], strlen(ignored[i])))
				break;
		good = i < OCL_COUNT(ignored);
		/* "-I dir" and "-D name" are two words. */
		value = !strcmp(word, "-I") || !strcmp(word, "-D");
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
		forget_build(build);
	build->options = strdup(options);
	if (is_host_code(build))
		problem = ocl_host_build(program, build);
	else if (!build->model && load_model(build, max_banks))
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
		forget_entries(program);
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
	cl_int error;

	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	error = check_devices(program, count, devices);
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
	cl_int error;

	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	error = check_devices(program, count, devices);
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

/* ---- queries ---- */

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
