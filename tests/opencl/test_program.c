// SPDX-License-Identifier: MIT
/*
 * Programs and kernels: models from files of frameworks and from compiled files, results equal to libnpu's, what a
 * kernel tells of itself, wrong files and wrong arguments, and a budget that shrinks between two enqueues.
 */
#include <pthread.h>

#include "builtin.h"

static int8_t picture[DIGITS_PIXELS];
static int8_t expected[DIGITS_CLASSES];

/* What libnpu makes of the picture. */
static int setup(void **state)
{
	struct npu_input input = { picture, sizeof(picture) };
	struct npu_output output = { expected, sizeof(expected) };
	struct npu_device *device;
	struct npu_model *model;
	size_t i;

	for (i = 0; i < sizeof(picture); i++)
		picture[i] = (int8_t)(i * i % 255 - 128);
	if (npu_open(cl_npu_name(), &device) || npu_model_load(device, DIGITS, NULL, &model) ||
	    npu_run(model, &input, 1, &output, 1, NULL))
		return -1;
	npu_model_free(model);
	npu_close(device);
	return 0;
}

/**
 * struct net - the digits network with its buffers
 */
struct net {
	struct cl cl;
	cl_program program;
	cl_kernel kernel;
	cl_mem in, out;
};

static void CL_CALLBACK mark_destroyed(cl_mem mem, void *destroyed)
{
	*(volatile int *)destroyed = 1;
}

/* A kernel keeps no buffer; a command that was enqueued does. */
static void arguments_are_not_kept(void **state)
{
	volatile int destroyed = 0;
	cl_kernel kernel, clone;
	cl_mem in, out;
	struct cl cl;
	cl_int error;

	cl_begin(&cl);
	in = cl_buffer(&cl, 16, NULL);
	out = cl_buffer(&cl, 16, NULL);
	kernel = cl_copy_kernel(&cl, in, out, 16);
	assert_int_equal(clSetMemObjectDestructorCallback(in, mark_destroyed, (void *)&destroyed),
			 CL_SUCCESS);
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
	clone = clCloneKernel(kernel, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clFinish(cl.queue), CL_SUCCESS);
	assert_false(destroyed);
	assert_int_equal(clReleaseMemObject(in), CL_SUCCESS);
	assert_true(destroyed);
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
	assert_int_equal(cl_run(cl.queue, clone, NULL), CL_INVALID_KERNEL_ARGS);
	in = cl_buffer(&cl, 16, NULL);
	cl_set_buffer(kernel, 0, in);
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(in), CL_SUCCESS);
	assert_int_equal(clFinish(cl.queue), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(out), CL_SUCCESS);
	assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
	assert_int_equal(clReleaseKernel(clone), CL_SUCCESS);
	cl_end(&cl);
}

static void begin_with(struct net *net, cl_program program)
{
	cl_int error;

	net->program = program;
	net->kernel = clCreateKernel(program, "infer", &error);
	assert_int_equal(error, CL_SUCCESS);
	net->in = cl_buffer(&net->cl, sizeof(picture), picture);
	net->out = cl_buffer(&net->cl, sizeof(expected), NULL);
	cl_set_buffer(net->kernel, 0, net->in);
	cl_set_buffer(net->kernel, 1, net->out);
}

static void begin(struct net *net)
{
	cl_begin(&net->cl);
	begin_with(net, cl_load_file(&net->cl, DIGITS));
}

static void end_net(struct net *net)
{
	assert_int_equal(clFinish(net->cl.queue), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(net->in), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(net->out), CL_SUCCESS);
	assert_int_equal(clReleaseKernel(net->kernel), CL_SUCCESS);
	assert_int_equal(clReleaseProgram(net->program), CL_SUCCESS);
}

static void end(struct net *net)
{
	end_net(net);
	cl_end(&net->cl);
}

static cl_int enqueue(struct net *net, cl_event *event)
{
	const size_t one = 1;

	return clEnqueueNDRangeKernel(net->cl.queue, net->kernel, 1, NULL, &one, NULL, 0, NULL,
				      event);
}

static void expect_result(struct net *net)
{
	int8_t score[DIGITS_CLASSES];

	assert_int_equal(clEnqueueReadBuffer(net->cl.queue, net->out, CL_TRUE, 0, sizeof(score),
					     score, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_memory_equal(score, expected, sizeof(score));
}

static void clear_result(struct net *net)
{
	const int8_t nothing = 99;

	assert_int_equal(clEnqueueFillBuffer(net->cl.queue, net->out, &nothing, 1, 0,
					     DIGITS_CLASSES, 0, NULL, NULL),
			 CL_SUCCESS);
}

static void runs_like_libnpu(void **state)
{
	cl_ulong start, stop;
	cl_event event;
	struct net net;
	int i;

	begin(&net);
	for (i = 0; i < 3; i++) {
		clear_result(&net);
		assert_int_equal(enqueue(&net, &event), CL_SUCCESS);
		expect_result(&net);
		assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
							 sizeof(start), &start, NULL),
				 CL_SUCCESS);
		assert_int_equal(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END,
							 sizeof(stop), &stop, NULL),
				 CL_SUCCESS);
		assert_true(stop > start);
		assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	}
	clear_result(&net);
	assert_int_equal(clEnqueueTask(net.cl.queue, net.kernel, 0, NULL, &event), CL_SUCCESS);
	expect_result(&net);
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	end(&net);
}

/* What was enqueued keeps its arguments, whatever is set or released afterwards. */
static void arguments_are_taken_at_enqueue(void **state)
{
	cl_event gate;
	cl_mem other;
	cl_int error;
	const size_t one = 1;
	struct net net;

	begin(&net);
	other = cl_buffer(&net.cl, sizeof(expected), NULL);
	gate = clCreateUserEvent(net.cl.context, &error);
	assert_int_equal(clEnqueueNDRangeKernel(net.cl.queue, net.kernel, 1, NULL, &one, &one, 1,
						&gate, NULL),
			 CL_SUCCESS);
	cl_set_buffer(net.kernel, 1, other);
	assert_int_equal(clReleaseMemObject(net.in), CL_SUCCESS);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	expect_result(&net);
	net.in = other;
	assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
	end(&net);
}

/* Of outputs that nobody wants, the argument is NULL. */
static void unwanted_output(void **state)
{
	struct net net;

	begin(&net);
	assert_int_equal(clSetKernelArg(net.kernel, 1, sizeof(cl_mem), NULL), CL_SUCCESS);
	assert_int_equal(enqueue(&net, NULL), CL_SUCCESS);
	assert_int_equal(clSetKernelArg(net.kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
	assert_int_equal(enqueue(&net, NULL), CL_INVALID_KERNEL_ARGS);
	end(&net);
}

/* ---- binaries ---- */

static void *save(cl_program program, size_t *bytes)
{
	unsigned char *binary;

	assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*bytes), bytes,
					  NULL),
			 CL_SUCCESS);
	assert_true(*bytes > 1000);
	binary = malloc(*bytes);
	assert_int_equal(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary,
					  NULL),
			 CL_SUCCESS);
	return binary;
}

static void saved_and_loaded_again(void **state)
{
	cl_program_binary_type type;
	size_t bytes, again;
	struct net net;
	void *binary, *second;

	begin(&net);
	binary = save(net.program, &bytes);
	end_net(&net);
	begin_with(&net, cl_load(&net.cl, binary, bytes));
	assert_int_equal(clGetProgramBuildInfo(net.program, net.cl.device, CL_PROGRAM_BINARY_TYPE,
					       sizeof(type), &type, NULL),
			 CL_SUCCESS);
	assert_int_equal(type, CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
	assert_int_equal(enqueue(&net, NULL), CL_SUCCESS);
	expect_result(&net);
	second = save(net.program, &again);
	assert_int_equal(again, bytes);
	assert_memory_equal(second, binary, bytes);
	free(second);
	free(binary);
	end(&net);
}

static cl_int create(struct cl *cl, const void *data, size_t bytes, cl_int *status)
{
	const unsigned char *binary = data;
	cl_int error = 4711;
	cl_program program = clCreateProgramWithBinary(cl->context, 1, &cl->device, &bytes, &binary,
						       status, &error);

	assert_int_equal(!program, error != CL_SUCCESS);
	if (program)
		assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
	return error;
}

static char *last_error(struct cl *cl)
{
	static char text[1024];

	assert_int_equal(clGetPlatformInfo(cl->platform, CL_PLATFORM_LAST_ERROR_NPU, sizeof(text),
					   text, NULL),
			 CL_SUCCESS);
	return text;
}

static void bad_binaries(void **state)
{
	const char junk[] = "this is neither a model nor a compiled file";
	cl_program program;
	size_t bytes, size;
	cl_int status;
	struct cl cl;
	char *model, log[1024];
	const unsigned char *binary;

	cl_begin(&cl);
	model = cl_read_file(DIGITS, &bytes);
	assert_int_equal(create(&cl, junk, sizeof(junk), &status), CL_INVALID_BINARY);
	assert_int_equal(status, CL_INVALID_BINARY);
	assert_non_null(strstr(last_error(&cl), "neither"));
	assert_int_equal(create(&cl, junk, 0, &status), CL_INVALID_VALUE);
	assert_int_equal(status, CL_INVALID_VALUE);
	assert_int_equal(create(&cl, NULL, 4, &status), CL_INVALID_VALUE);
	/* A model that is cut short is a model, but none that can be built; the log says why. */
	bytes /= 2;
	binary = (unsigned char *)model;
	program = clCreateProgramWithBinary(cl.context, 1, &cl.device, &bytes, &binary, NULL,
					    &status);
	assert_int_equal(status, CL_SUCCESS);
	assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL),
			 CL_BUILD_PROGRAM_FAILURE);
	assert_int_equal(clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_LOG,
					       sizeof(log), log, &size),
			 CL_SUCCESS);
	assert_true(size > 10);
	assert_int_equal(clGetProgramBuildInfo(program, cl.device, CL_PROGRAM_BUILD_STATUS,
					       sizeof(status), &status, NULL),
			 CL_SUCCESS);
	assert_int_equal(status, CL_BUILD_ERROR);
	assert_null(clCreateKernel(program, "infer", &status));
	assert_int_equal(status, CL_INVALID_PROGRAM_EXECUTABLE);
	assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
	free(model);
	cl_end(&cl);
}

/* A file compiled for another configuration is refused when it is given, with the reason. */
static void other_configuration(void **state)
{
	struct npu_device_info info = { .size = sizeof(info) };
	struct npu_device *device;
	struct npu_model *model;
	size_t bytes;
	void *file;
	cl_int status;
	struct cl cl;
	const char *other;

	cl_begin(&cl);
	assert_int_equal(npu_open(cl_npu_name(), &device), 0);
	assert_int_equal(npu_device_info(device, &info), 0);
	npu_close(device);
	other = strcmp(info.config, "nv_small") ? "sim:nv_small" : "sim:nv_large";
	assert_int_equal(npu_open(other, &device), 0);
	assert_int_equal(npu_model_load(device, DIGITS, NULL, &model), 0);
	assert_int_equal(npu_model_save_memory(model, &file, &bytes), 0);
	assert_int_equal(create(&cl, file, bytes, &status), CL_INVALID_BINARY);
	assert_int_equal(status, CL_INVALID_BINARY);
	assert_non_null(strstr(last_error(&cl), other + strlen("sim:")));
	free(file);
	npu_model_free(model);
	npu_close(device);
	cl_end(&cl);
}

/* Cut anywhere and with any byte changed, a compiled file is refused or runs, and nothing breaks. */
static void damaged_files(void **state)
{
	size_t bytes, i;
	unsigned refused = 0;
	unsigned char *file;
	struct net net;

	begin(&net);
	file = save(net.program, &bytes);
	for (i = 0; i < bytes; i += bytes / 97 + 1) {
		cl_int status = create(&net.cl, file, i ? i : 1, NULL);

		assert_true(status == CL_INVALID_BINARY);
	}
	for (i = 0; i < 200; i++) {
		size_t at = i * (bytes / 200);

		file[at] ^= 0x81;
		refused += create(&net.cl, file, bytes, NULL) != CL_SUCCESS;
		file[at] ^= 0x81;
	}
	assert_true(refused > 0);
	free(file);
	end(&net);
}

static void several_programs(void **state)
{
	struct net net, second;

	begin(&net);
	second.cl = net.cl;
	begin_with(&second, cl_load_file(&net.cl, DIGITS));
	assert_int_equal(enqueue(&net, NULL), CL_SUCCESS);
	assert_int_equal(enqueue(&second, NULL), CL_SUCCESS);
	expect_result(&net);
	expect_result(&second);
	end_net(&second);
	end(&net);
}

/* ---- building ---- */

static void CL_CALLBACK built(cl_program program, void *data)
{
	*(cl_program *)data = program;
}

static void building(void **state)
{
	static const char *const wrong[] = {
		"nonsense",
		"-npu-max-banks=",
		"-npu-max-banks=x",
		"-npu-max-banks=-1",
		"-npu-max-banks=4294967304",
		"-npu-max-banks=99999999999999999999",
	};
	cl_program heard = NULL;
	struct net net;
	size_t i;

	begin(&net);
	assert_int_equal(clBuildProgram(net.program, 0, NULL, NULL, NULL, NULL),
			 CL_INVALID_OPERATION);
	assert_int_equal(clReleaseKernel(net.kernel), CL_SUCCESS);
	assert_int_equal(clBuildProgram(net.program, 0, NULL, "-I . -DX=1 -cl-fast-relaxed-math",
					built, &heard),
			 CL_SUCCESS);
	assert_ptr_equal(heard, net.program);
	assert_int_equal(clBuildProgram(net.program, 0, NULL, "-npu-max-banks=8", NULL, NULL),
			 CL_SUCCESS);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(clBuildProgram(net.program, 0, NULL, wrong[i], NULL, NULL),
				 CL_INVALID_BUILD_OPTIONS);
	assert_int_equal(clBuildProgram(net.program, 1, NULL, NULL, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(clBuildProgram(net.program, 1, (cl_device_id *)&net.cl.queue, NULL, NULL,
					NULL),
			 CL_INVALID_DEVICE);
	assert_int_equal(clBuildProgram(net.program, 0, NULL, NULL, NULL, &heard),
			 CL_INVALID_VALUE);
	assert_int_equal(clReleaseMemObject(net.in), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(net.out), CL_SUCCESS);
	begin_with(&net, net.program);
	assert_int_equal(enqueue(&net, NULL), CL_SUCCESS);
	expect_result(&net);
	end(&net);
}

/* ---- a notification that asks back ---- */

struct reporter {
	cl_device_id device;
	cl_program program;
	int calls;
	cl_int error;
	bool same;
};

/* Asks for the log, and fails in a call of its own, which must not change what it was told. */
static void CL_CALLBACK report(const char *text, const void *info, size_t bytes, void *data)
{
	struct reporter *reporter = data;
	char log[1024] = "", first[1024];

	if (!reporter->program || reporter->calls++)
		return;
	snprintf(first, sizeof(first), "%s", text);
	reporter->error = clGetProgramBuildInfo(reporter->program, reporter->device,
						CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
	clReleaseEvent(NULL);
	reporter->same = !strcmp(text, first);
}

static void expect_report(struct reporter *reporter)
{
	assert_int_equal(reporter->calls, 1);
	assert_int_equal(reporter->error, CL_SUCCESS);
	assert_true(reporter->same);
	assert_int_equal(clReleaseProgram(reporter->program), CL_SUCCESS);
	reporter->program = NULL;
	reporter->calls = 0;
}

static void notification_asks_back(void **state)
{
	struct reporter reporter = { 0 };
	const unsigned char *binary;
	cl_context context;
	cl_int error, status;
	size_t bytes;
	struct cl cl;
	uint8_t *data = cl_read_file(DIGITS, &bytes);

	cl_begin(&cl);
	reporter.device = cl.device;
	context = clCreateContext(NULL, 1, &cl.device, report, &reporter, &error);
	assert_int_equal(error, CL_SUCCESS);
	/* A model that is still one by its first bytes, but cannot be compiled. */
	memset(data + 64, 0xff, bytes - 64);
	binary = data;
	reporter.program =
		clCreateProgramWithBinary(context, 1, &cl.device, &bytes, &binary, &status, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clBuildProgram(reporter.program, 0, NULL, NULL, NULL, NULL),
			 CL_BUILD_PROGRAM_FAILURE);
	expect_report(&reporter);
	reporter.program =
		clCreateProgramWithBuiltInKernels(context, 1, &cl.device, "npu_copy", &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_null(clCreateKernel(reporter.program, "npu_nothing", &error));
	assert_int_equal(error, CL_INVALID_KERNEL_NAME);
	expect_report(&reporter);
	assert_int_equal(clReleaseContext(context), CL_SUCCESS);
	cl_end(&cl);
	free(data);
}

/* ---- kernels ---- */

static void reflection(void **state)
{
	cl_kernel_arg_address_qualifier address;
	cl_kernel_arg_type_qualifier qualifier;
	cl_npu_tensor tensor;
	char text[64];
	cl_uint count;
	size_t size;
	struct net net;

	begin(&net);
	assert_int_equal(clGetProgramInfo(net.program, CL_PROGRAM_KERNEL_NAMES, sizeof(text), text,
					  NULL),
			 CL_SUCCESS);
	assert_string_equal(text, "infer");
	assert_int_equal(clGetProgramInfo(net.program, CL_PROGRAM_NUM_KERNELS, sizeof(size), &size,
					  NULL),
			 CL_SUCCESS);
	assert_int_equal(size, 1);
	assert_int_equal(clGetKernelInfo(net.kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count,
					 NULL),
			 CL_SUCCESS);
	assert_int_equal(count, 2);
	assert_int_equal(clGetKernelInfo(net.kernel, CL_KERNEL_FUNCTION_NAME, sizeof(text), text,
					 NULL),
			 CL_SUCCESS);
	assert_string_equal(text, "infer");
	assert_int_equal(clGetKernelArgInfo(net.kernel, 0, CL_KERNEL_ARG_NAME, sizeof(text), text,
					    NULL),
			 CL_SUCCESS);
	assert_string_equal(text, "image");
	assert_int_equal(clGetKernelArgInfo(net.kernel, 0, CL_KERNEL_ARG_TYPE_NAME, sizeof(text),
					    text, NULL),
			 CL_SUCCESS);
	assert_string_equal(text, "char*");
	assert_int_equal(clGetKernelArgInfo(net.kernel, 0, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
					    sizeof(address), &address, NULL),
			 CL_SUCCESS);
	assert_int_equal(address, CL_KERNEL_ARG_ADDRESS_GLOBAL);
	assert_int_equal(clGetKernelArgInfo(net.kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER,
					    sizeof(qualifier), &qualifier, NULL),
			 CL_SUCCESS);
	assert_int_equal(qualifier, CL_KERNEL_ARG_TYPE_CONST);
	assert_int_equal(clGetKernelArgInfo(net.kernel, 1, CL_KERNEL_ARG_TENSOR_NPU, sizeof(tensor),
					    &tensor, NULL),
			 CL_SUCCESS);
	assert_int_equal(tensor.output, CL_TRUE);
	assert_int_equal(tensor.bytes, DIGITS_CLASSES);
	assert_int_equal(tensor.shape[tensor.rank - 1], DIGITS_CLASSES);
	assert_int_equal(tensor.type, NPU_TYPE_INT8);
	assert_true(tensor.scale > 0);
	assert_int_equal(clGetKernelArgInfo(net.kernel, 2, CL_KERNEL_ARG_NAME, sizeof(text), text,
					    NULL),
			 CL_INVALID_ARG_INDEX);
	end(&net);
}

static void work_group_queries(void **state)
{
	size_t size, triple[3];
	cl_ulong bytes;
	cl_int error;
	struct net net;

	begin(&net);
#define ASK(name, value) \
	clGetKernelWorkGroupInfo(net.kernel, net.cl.device, name, sizeof(value), &(value), NULL)
	assert_int_equal(ASK(CL_KERNEL_WORK_GROUP_SIZE, size), CL_SUCCESS);
	assert_int_equal(size, 1);
	assert_int_equal(ASK(CL_KERNEL_LOCAL_MEM_SIZE, bytes), CL_SUCCESS);
	assert_true(bytes > 0);
	error = ASK(CL_KERNEL_GLOBAL_WORK_SIZE, triple);
	assert_int_equal(error, cl_npu_is_custom() ? CL_SUCCESS : CL_INVALID_VALUE);
#undef ASK
	assert_int_equal(clGetKernelWorkGroupInfo(net.kernel, NULL, CL_KERNEL_WORK_GROUP_SIZE,
						  sizeof(size), &size, NULL),
			 CL_SUCCESS);
	assert_int_equal(clGetKernelWorkGroupInfo(net.kernel, (cl_device_id)net.kernel,
						  CL_KERNEL_WORK_GROUP_SIZE, sizeof(size), &size,
						  NULL),
			 CL_INVALID_DEVICE);
	end(&net);
}

static void argument_errors(void **state)
{
	const size_t one = 1;
	cl_mem small;
	cl_kernel fresh;
	cl_int error;
	struct net net;

	begin(&net);
	small = cl_buffer(&net.cl, sizeof(picture) - 1, NULL);
	assert_int_equal(clSetKernelArg(net.kernel, 2, sizeof(cl_mem), &small),
			 CL_INVALID_ARG_INDEX);
	assert_int_equal(clSetKernelArg(net.kernel, 0, sizeof(cl_mem) - 1, &small),
			 CL_INVALID_ARG_SIZE);
	assert_int_equal(clSetKernelArg(net.kernel, 0, sizeof(cl_mem), &net.kernel),
			 CL_INVALID_MEM_OBJECT);
	assert_int_equal(clSetKernelArg((cl_kernel)small, 0, sizeof(cl_mem), &small),
			 CL_INVALID_KERNEL);
	cl_set_buffer(net.kernel, 0, small);
	assert_int_equal(enqueue(&net, NULL), CL_INVALID_KERNEL_ARGS);
	assert_non_null(strstr(last_error(&net.cl), "image"));
	fresh = clCreateKernel(net.program, "infer", &error);
	assert_int_equal(clEnqueueNDRangeKernel(net.cl.queue, fresh, 1, NULL, &one, NULL, 0, NULL,
						NULL),
			 CL_INVALID_KERNEL_ARGS);
	assert_null(clCreateKernel(net.program, "other", &error));
	assert_int_equal(error, CL_INVALID_KERNEL_NAME);
	assert_null(clCreateKernel(net.program, NULL, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_int_equal(clReleaseKernel(fresh), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(small), CL_SUCCESS);
	end(&net);
}

static void ranges(void **state)
{
	const size_t one[3] = { 1, 1, 1 }, two[3] = { 1, 2, 1 }, none[3] = { 1, 0, 1 };
	cl_command_type type;
	cl_event event;
	struct net net;

	begin(&net);
#define RUN(dims, global, local) \
	clEnqueueNDRangeKernel(net.cl.queue, net.kernel, dims, NULL, global, local, 0, NULL, NULL)
	assert_int_equal(RUN(3, one, one), CL_SUCCESS);
	assert_int_equal(RUN(0, one, NULL), CL_INVALID_WORK_DIMENSION);
	assert_int_equal(RUN(4, one, NULL), CL_INVALID_WORK_DIMENSION);
	assert_int_equal(RUN(2, two, NULL), CL_INVALID_GLOBAL_WORK_SIZE);
	assert_int_equal(RUN(2, one, two), CL_INVALID_WORK_GROUP_SIZE);
	assert_int_equal(RUN(2, NULL, two), CL_INVALID_WORK_ITEM_SIZE);
	assert_int_equal(RUN(2, one, none), CL_INVALID_WORK_GROUP_SIZE);
#undef RUN
	/* No work-items: nothing happens, but it is a command like any other. */
	assert_int_equal(clFinish(net.cl.queue), CL_SUCCESS);
	expect_result(&net);
	clear_result(&net);
	assert_int_equal(clEnqueueNDRangeKernel(net.cl.queue, net.kernel, 2, NULL, none, NULL, 0,
						NULL, &event),
			 CL_SUCCESS);
	assert_int_equal(clWaitForEvents(1, &event), CL_SUCCESS);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL),
			 CL_SUCCESS);
	assert_int_equal(type, CL_COMMAND_NDRANGE_KERNEL);
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	end(&net);
}

static void clones(void **state)
{
	cl_kernel clone;
	cl_int error;
	struct net net;

	begin(&net);
	clone = clCloneKernel(net.kernel, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clSetKernelArg(net.kernel, 0, sizeof(cl_mem), NULL), CL_SUCCESS);
	assert_int_equal(clReleaseKernel(net.kernel), CL_SUCCESS);
	net.kernel = clone;
	assert_int_equal(enqueue(&net, NULL), CL_SUCCESS);
	expect_result(&net);
	end(&net);
}

/* Kernels keep their program, and commands their kernel. */
static void lifetimes(void **state)
{
	cl_event gate;
	cl_int error;
	const size_t one = 1;
	struct net net;

	begin(&net);
	gate = clCreateUserEvent(net.cl.context, &error);
	assert_int_equal(clReleaseProgram(net.program), CL_SUCCESS);
	assert_int_equal(clEnqueueNDRangeKernel(net.cl.queue, net.kernel, 1, NULL, &one, NULL, 1,
						&gate, NULL),
			 CL_SUCCESS);
	assert_int_equal(clReleaseKernel(net.kernel), CL_SUCCESS);
	assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
	expect_result(&net);
	assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(net.in), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(net.out), CL_SUCCESS);
	cl_end(&net.cl);
}

/* ---- the budget ---- */

/* Every budget from whole to the least gives the same bytes; where none is enough, the command says so. */
static void budget_shrinks(void **state)
{
	struct npu_device_info info = { .size = sizeof(info) };
	struct npu_device *admin;
	uint32_t banks;
	unsigned ran = 0;
	struct net net;

	begin(&net);
	assert_int_equal(npu_open(cl_npu_name(), &admin), 0);
	assert_int_equal(npu_device_info(admin, &info), 0);
	for (banks = info.banks; banks; banks /= 2) {
		cl_event event;
		cl_int error;

		assert_int_equal(npu_device_set_cap(admin, banks), 0);
		clear_result(&net);
		assert_int_equal(enqueue(&net, &event), CL_SUCCESS);
		error = clWaitForEvents(1, &event);
		if (error) {
			assert_int_equal(cl_event_status(event), CL_OUT_OF_RESOURCES);
		} else {
			expect_result(&net);
			ran++;
		}
		assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	}
	assert_true(ran >= 3);
	assert_int_equal(npu_device_set_cap(admin, info.banks), 0);
	assert_int_equal(enqueue(&net, NULL), CL_SUCCESS);
	expect_result(&net);
	npu_close(admin);
	end(&net);
}

/* ---- threads: each with a queue, all with one program ---- */

#define THREADS 3

struct user {
	struct net *net;
	int wrong;
};

static void *use(void *data)
{
	struct user *user = data;
	struct net mine = *user->net;
	int8_t score[DIGITS_CLASSES];
	cl_int error;
	int i;

	mine.cl.queue =
		clCreateCommandQueueWithProperties(mine.cl.context, mine.cl.device, NULL, &error);
	mine.kernel = clCreateKernel(mine.program, "infer", &error);
	mine.out = clCreateBuffer(mine.cl.context, 0, sizeof(expected), NULL, &error);
	clSetKernelArg(mine.kernel, 0, sizeof(cl_mem), &mine.in);
	clSetKernelArg(mine.kernel, 1, sizeof(cl_mem), &mine.out);
	for (i = 0; i < 5; i++) {
		if (enqueue(&mine, NULL) ||
		    clEnqueueReadBuffer(mine.cl.queue, mine.out, CL_TRUE, 0, sizeof(score), score,
					0, NULL, NULL) ||
		    memcmp(score, expected, sizeof(score)))
			user->wrong++;
	}
	clReleaseMemObject(mine.out);
	clReleaseKernel(mine.kernel);
	clReleaseCommandQueue(mine.cl.queue);
	return NULL;
}

static void threads(void **state)
{
	struct user user[THREADS];
	pthread_t thread[THREADS];
	struct net net;
	int i;

	begin(&net);
	for (i = 0; i < THREADS; i++) {
		user[i] = (struct user){ &net, 0 };
		assert_int_equal(pthread_create(&thread[i], NULL, use, &user[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(user[i].wrong, 0);
	}
	end(&net);
}

/* Threads that all build one program: who comes when there are kernels is refused, and the kernels still run. */
static void *build_and_use(void *data)
{
	struct user *user = data;
	cl_int error = clBuildProgram(user->net->program, 0, NULL, NULL, NULL, NULL);

	if (error && error != CL_INVALID_OPERATION)
		user->wrong++;
	return use(data);
}

static void threads_build(void **state)
{
	struct user user[THREADS];
	pthread_t thread[THREADS];
	struct net net;
	int i, round;

	for (round = 0; round < 3; round++) {
		begin(&net);
		assert_int_equal(clReleaseKernel(net.kernel), CL_SUCCESS);
		for (i = 0; i < THREADS; i++) {
			user[i] = (struct user){ &net, 0 };
			assert_int_equal(pthread_create(&thread[i], NULL, build_and_use, &user[i]),
					 0);
		}
		for (i = 0; i < THREADS; i++) {
			pthread_join(thread[i], NULL);
			assert_int_equal(user[i].wrong, 0);
		}
		assert_int_equal(clReleaseMemObject(net.in), CL_SUCCESS);
		assert_int_equal(clReleaseMemObject(net.out), CL_SUCCESS);
		assert_int_equal(clReleaseProgram(net.program), CL_SUCCESS);
		cl_end(&net.cl);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_like_libnpu),
		cmocka_unit_test(arguments_are_taken_at_enqueue),
		cmocka_unit_test(arguments_are_not_kept),
		cmocka_unit_test(unwanted_output),
		cmocka_unit_test(saved_and_loaded_again),
		cmocka_unit_test(bad_binaries),
		cmocka_unit_test(other_configuration),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(several_programs),
		cmocka_unit_test(building),
		cmocka_unit_test(notification_asks_back),
		cmocka_unit_test(reflection),
		cmocka_unit_test(work_group_queries),
		cmocka_unit_test(argument_errors),
		cmocka_unit_test(ranges),
		cmocka_unit_test(clones),
		cmocka_unit_test(lifetimes),
		cmocka_unit_test(budget_shrinks),
		cmocka_unit_test(threads),
		cmocka_unit_test(threads_build),
	};

	return cmocka_run_group_tests_name("opencl_program", tests, setup, NULL);
}
