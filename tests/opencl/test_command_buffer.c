// SPDX-License-Identifier: MIT
/*
 * Command buffers: what they record and keep, how they run, updates, states, queries and errors.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "builtin.h"
#include "cl_npu_command_buffer.h"

/* The extension's functions, as a program gets them. */
static struct {
	cl_npu_create_command_buffer *create;
	cl_npu_of_command_buffer *retain, *release, *finalize;
	cl_npu_enqueue_command_buffer *enqueue;
	cl_npu_get_command_buffer_info *info;
	cl_npu_command_barrier *barrier;
	cl_npu_command_copy_buffer *copy;
	cl_npu_command_copy_buffer_rect *copy_rect;
	cl_npu_command_fill_buffer *fill;
	cl_npu_command_copy_image *copy_image;
	cl_npu_command_buffer_to_image *buffer_to_image;
	cl_npu_command_image_to_buffer *image_to_buffer;
	cl_npu_command_fill_image *fill_image;
	cl_npu_command_svm_memcpy *svm_memcpy;
	cl_npu_command_svm_mem_fill *svm_fill;
	cl_npu_command_nd_range_kernel *kernel;
	cl_npu_update_mutable_commands *update;
	cl_npu_get_mutable_command_info *mutable_info;
} fn;

static void *find(struct cl *cl, const char *name)
{
	void *function = clGetExtensionFunctionAddressForPlatform(cl->platform, name);

	if (!function)
		fail_msg("there is no %s", name);
	return function;
}

static void begin(struct cl *cl)
{
	cl_begin(cl);
	fn.create = find(cl, "clCreateCommandBufferKHR");
	fn.retain = find(cl, "clRetainCommandBufferKHR");
	fn.release = find(cl, "clReleaseCommandBufferKHR");
	fn.finalize = find(cl, "clFinalizeCommandBufferKHR");
	fn.enqueue = find(cl, "clEnqueueCommandBufferKHR");
	fn.info = find(cl, "clGetCommandBufferInfoKHR");
	fn.barrier = find(cl, "clCommandBarrierWithWaitListKHR");
	fn.copy = find(cl, "clCommandCopyBufferKHR");
	fn.copy_rect = find(cl, "clCommandCopyBufferRectKHR");
	fn.fill = find(cl, "clCommandFillBufferKHR");
	fn.copy_image = find(cl, "clCommandCopyImageKHR");
	fn.buffer_to_image = find(cl, "clCommandCopyBufferToImageKHR");
	fn.image_to_buffer = find(cl, "clCommandCopyImageToBufferKHR");
	fn.fill_image = find(cl, "clCommandFillImageKHR");
	fn.svm_memcpy = find(cl, "clCommandSVMMemcpyKHR");
	fn.svm_fill = find(cl, "clCommandSVMMemFillKHR");
	fn.kernel = find(cl, "clCommandNDRangeKernelKHR");
	fn.update = find(cl, "clUpdateMutableCommandsKHR");
	fn.mutable_info = find(cl, "clGetMutableCommandInfoKHR");
}

#define OK(call) assert_int_equal(call, CL_SUCCESS)

static const size_t one = 1;

static cl_command_buffer_khr create(cl_command_queue queue, cl_command_buffer_flags_khr flags)
{
	const cl_command_buffer_properties_khr properties[] = { CL_COMMAND_BUFFER_FLAGS_KHR, flags,
								0 };
	cl_int error;
	cl_command_buffer_khr buffer = fn.create(1, &queue, flags ? properties : NULL, &error);

	OK(error);
	assert_non_null(buffer);
	return buffer;
}

/* ---- recording and running ---- */

static void commands(void **state)
{
	const size_t origin[3] = { 0, 0, 0 }, to[3] = { 4, 1, 0 }, region[3] = { 4, 2, 1 };
	cl_uchar data[64], out[64];
	cl_command_buffer_khr buffer;
	cl_sync_point_khr point[3];
	cl_mem a, b, c;
	struct cl cl;
	unsigned i;

	begin(&cl);
	for (i = 0; i < sizeof(data); i++)
		data[i] = (cl_uchar)(i + 1);
	a = cl_buffer(&cl, sizeof(data), data);
	b = cl_buffer(&cl, sizeof(data), NULL);
	c = cl_buffer(&cl, sizeof(data), NULL);
	buffer = create(cl.queue, 0);
	OK(fn.copy(buffer, NULL, NULL, a, b, 0, 0, 64, 0, NULL, &point[0], NULL));
	OK(fn.fill(buffer, NULL, NULL, c, "\1\2", 2, 0, 64, 0, NULL, &point[1], NULL));
	OK(fn.barrier(buffer, NULL, NULL, 2, point, &point[2], NULL));
	OK(fn.copy_rect(buffer, NULL, NULL, b, c, origin, to, region, 8, 0, 8, 0, 1, &point[2],
			NULL, NULL));
	OK(fn.finalize(buffer));
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	cl_read(&cl, c, sizeof(out), out);
	for (i = 0; i < 64; i++) {
		unsigned row = i / 8, column = i % 8;
		bool copied = column >= 4 && row >= 1 && row < 3;

		assert_int_equal(out[i], copied ? data[(row - 1) * 8 + column - 4] : 1 + i % 2);
	}
	OK(fn.release(buffer));
	clReleaseMemObject(a);
	clReleaseMemObject(b);
	clReleaseMemObject(c);
	cl_end(&cl);
}

/* Arguments are those of the recording; what was recorded stays when its handles are released. */
static void keeps_what_it_needs(void **state)
{
	cl_uchar first[16] = { 1 }, second[16] = { 2 }, out[16];
	cl_command_buffer_khr buffer;
	cl_mem from, other, to;
	cl_kernel kernel;
	struct cl cl;
	int i;

	begin(&cl);
	from = cl_buffer(&cl, 16, first);
	other = cl_buffer(&cl, 16, second);
	to = cl_buffer(&cl, 16, NULL);
	kernel = cl_copy_kernel(&cl, from, to, 16);
	buffer = create(cl.queue, 0);
	OK(fn.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL, NULL));
	cl_set_buffer(kernel, 0, other);
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(from));
	OK(clReleaseMemObject(other));
	OK(fn.finalize(buffer));
	for (i = 0; i < 3; i++) {
		memset(out, 0, sizeof(out));
		OK(clEnqueueWriteBuffer(cl.queue, to, CL_TRUE, 0, 16, out, 0, NULL, NULL));
		OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
		cl_read(&cl, to, 16, out);
		assert_memory_equal(out, first, 16);
	}
	/* Its last execution goes on without it. */
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	OK(fn.release(buffer));
	OK(clReleaseMemObject(to));
	cl_end(&cl);
}

static void event(void **state)
{
	cl_command_buffer_khr buffer;
	cl_ulong start, end;
	cl_command_type type;
	cl_event user, event;
	struct cl cl;
	cl_mem mem;
	cl_int error;

	begin(&cl);
	mem = cl_buffer(&cl, 16, NULL);
	buffer = create(cl.queue, 0);
	OK(fn.fill(buffer, NULL, NULL, mem, "x", 1, 0, 16, 0, NULL, NULL, NULL));
	OK(fn.finalize(buffer));
	user = clCreateUserEvent(cl.context, &error);
	OK(error);
	OK(fn.enqueue(1, &cl.queue, buffer, 1, &user, &event));
	OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	assert_int_equal(type, CL_COMMAND_COMMAND_BUFFER_KHR);
	OK(clFlush(cl.queue));
	assert_true(cl_event_status(event) > CL_RUNNING);
	OK(clSetUserEventStatus(user, CL_COMPLETE));
	OK(clWaitForEvents(1, &event));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL));
	assert_true(start && end >= start);
	OK(clReleaseEvent(user));
	OK(clReleaseEvent(event));
	OK(fn.release(buffer));
	OK(clReleaseMemObject(mem));
	cl_end(&cl);
}

/* An empty one runs too. */
static void empty(void **state)
{
	cl_command_buffer_khr buffer;
	struct cl cl;

	begin(&cl);
	buffer = create(cl.queue, 0);
	OK(fn.finalize(buffer));
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	OK(clFinish(cl.queue));
	OK(fn.release(buffer));
	cl_end(&cl);
}

/* ---- models, budget, simultaneous use ---- */

struct digits {
	cl_mem in, out;
	cl_kernel kernel;
	cl_char expected[DIGITS_CLASSES];
};

static void begin_digits(struct cl *cl, struct digits *digits)
{
	cl_char picture[DIGITS_PIXELS];
	cl_program program;
	cl_int error;
	unsigned i;

	for (i = 0; i < DIGITS_PIXELS; i++)
		picture[i] = (cl_char)((i * 2654435761u) >> 24);
	program = cl_load_file(cl, DIGITS);
	OK(clCreateKernelsInProgram(program, 1, &digits->kernel, NULL));
	digits->in = cl_buffer(cl, sizeof(picture), picture);
	digits->out = cl_buffer(cl, DIGITS_CLASSES, NULL);
	cl_set_buffer(digits->kernel, 0, digits->in);
	cl_set_buffer(digits->kernel, 1, digits->out);
	error = cl_run(cl->queue, digits->kernel, NULL);
	OK(error);
	cl_read(cl, digits->out, DIGITS_CLASSES, digits->expected);
	OK(clReleaseProgram(program));
}

static void end_digits(struct digits *digits)
{
	OK(clReleaseKernel(digits->kernel));
	OK(clReleaseMemObject(digits->in));
	OK(clReleaseMemObject(digits->out));
}

static void check_digits(struct cl *cl, struct digits *digits)
{
	cl_char out[DIGITS_CLASSES];

	cl_read(cl, digits->out, DIGITS_CLASSES, out);
	assert_memory_equal(out, digits->expected, DIGITS_CLASSES);
	OK(clEnqueueFillBuffer(cl->queue, digits->out, "\x55", 1, 0, DIGITS_CLASSES, 0, NULL,
			       NULL));
}

/* What was finalized before the budget shrank is planned again, and gives the same. */
static void budget_shrinks(void **state)
{
	cl_command_buffer_khr buffer;
	struct npu_device *npu;
	struct digits digits;
	struct cl cl;
	int banks;

	begin(&cl);
	begin_digits(&cl, &digits);
	buffer = create(cl.queue, 0);
	OK(fn.kernel(buffer, NULL, NULL, digits.kernel, 1, NULL, &one, NULL, 0, NULL, NULL, NULL));
	OK(fn.finalize(buffer));
	assert_int_equal(npu_open(cl_npu_name(), &npu), 0);
	for (banks = 32; banks >= 4; banks -= 7) {
		assert_int_equal(npu_device_set_cap(npu, (uint32_t)banks), 0);
		OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
		check_digits(&cl, &digits);
	}
	assert_int_equal(npu_device_set_cap(npu, 32), 0);
	npu_close(npu);
	OK(fn.release(buffer));
	end_digits(&digits);
	cl_end(&cl);
}

/* ---- what goes to the NPU together ---- */

#define LAYER 64 /* inputs and outputs of a layer */
#define LAYERS 100

struct layers {
	cl_mem input, weights, out[LAYERS];
	cl_kernel kernel;
	cl_char expected[LAYER];
};

static void begin_layers(struct cl *cl, struct layers *layers)
{
	const cl_uint type = 0, clamp = 0;
	const cl_uint2 shape = { { LAYER, LAYER } };
	const cl_float4 scales = { { 1, 0.01f, 1, 0 } };
	const cl_int4 zero_points = { { 0 } };
	const cl_mem none = NULL;
	cl_char weights[LAYER * LAYER], input[LAYER];
	int i;

	for (i = 0; i < LAYER * LAYER; i++)
		weights[i] = (cl_char)(i * 7 % 255 - 127);
	for (i = 0; i < LAYER; i++)
		input[i] = (cl_char)(i * 5 % 200 - 100);
	layers->kernel = cl_builtin(cl, "npu_fully_connected");
	layers->input = cl_buffer(cl, sizeof(input), input);
	layers->weights = cl_buffer(cl, sizeof(weights), weights);
	for (i = 0; i < LAYERS; i++)
		layers->out[i] = cl_buffer(cl, LAYER, NULL);
	cl_set_buffer(layers->kernel, 0, layers->input);
	cl_set_buffer(layers->kernel, 1, layers->weights);
	OK(clSetKernelArg(layers->kernel, 2, sizeof(none), &none));
	cl_set_buffer(layers->kernel, 3, layers->out[0]);
	OK(clSetKernelArg(layers->kernel, 4, sizeof(type), &type));
	OK(clSetKernelArg(layers->kernel, 5, sizeof(shape), &shape));
	OK(clSetKernelArg(layers->kernel, 6, sizeof(scales), &scales));
	OK(clSetKernelArg(layers->kernel, 7, sizeof(zero_points), &zero_points));
	OK(clSetKernelArg(layers->kernel, 8, sizeof(clamp), &clamp));
	OK(cl_run(cl->queue, layers->kernel, NULL));
	cl_read(cl, layers->out[0], LAYER, layers->expected);
}

static void end_layers(struct layers *layers)
{
	int i;

	for (i = 0; i < LAYERS; i++)
		OK(clReleaseMemObject(layers->out[i]));
	OK(clReleaseMemObject(layers->input));
	OK(clReleaseMemObject(layers->weights));
	OK(clReleaseKernel(layers->kernel));
}

/* The layer from @in with the present weights to @out; the handle where @command is not NULL. */
static void record_layer(cl_command_buffer_khr buffer, struct layers *layers, cl_mem in, cl_mem out,
			 cl_mutable_command_khr *command)
{
	cl_set_buffer(layers->kernel, 0, in);
	cl_set_buffer(layers->kernel, 3, out);
	OK(fn.kernel(buffer, NULL, NULL, layers->kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
		     command));
}

/* Executes it and tells how often it went to the NPU. */
static cl_uint execute(struct cl *cl, cl_command_buffer_khr buffer)
{
	cl_uint submissions = 1000;
	cl_event event;

	OK(fn.enqueue(0, NULL, buffer, 0, NULL, &event));
	OK(clWaitForEvents(1, &event));
	OK(clGetEventProfilingInfo(event, CL_PROFILING_SUBMISSIONS_NPU, sizeof(submissions),
				   &submissions, NULL));
	OK(clReleaseEvent(event));
	return submissions;
}

/* Executes what has been recorded, which goes to the NPU so often, and lets go of it. */
static void finalize_and_check(struct cl *cl, cl_command_buffer_khr buffer, cl_uint submissions)
{
	OK(fn.finalize(buffer));
	assert_int_equal(execute(cl, buffer), submissions);
	assert_int_equal(execute(cl, buffer), submissions);
	OK(fn.release(buffer));
}

static void check_layer(struct cl *cl, struct layers *layers, cl_mem out, const cl_char *expected)
{
	cl_char is[LAYER];

	cl_read(cl, out, LAYER, is);
	assert_memory_equal(is, expected, LAYER);
	OK(clEnqueueFillBuffer(cl->queue, out, "\x55", 1, 0, LAYER, 0, NULL, NULL));
}

/* The NPU takes 64 jobs with one call; barriers and kernels without work-items do not part them. */
static void goes_together(void **state)
{
	const size_t zero = 0;
	cl_command_buffer_khr buffer;
	struct layers layers;
	struct cl cl;
	int i;

	begin(&cl);
	begin_layers(&cl, &layers);
	buffer = create(cl.queue, 0);
	for (i = 0; i < LAYERS; i++) {
		record_layer(buffer, &layers, layers.input, layers.out[i], NULL);
		OK(fn.barrier(buffer, NULL, NULL, 0, NULL, NULL, NULL));
		OK(fn.kernel(buffer, NULL, NULL, layers.kernel, 1, NULL, &zero, NULL, 0, NULL, NULL,
			     NULL));
	}
	finalize_and_check(&cl, buffer, (LAYERS + 63) / 64);
	for (i = 0; i < LAYERS; i++)
		check_layer(&cl, &layers, layers.out[i], layers.expected);
	end_layers(&layers);
	cl_end(&cl);
}

/* A step of the host, an input and weights that a kernel before writes: each has to be waited for. */
static void waits_for_results(void **state)
{
	cl_command_buffer_khr buffer;
	struct layers layers;
	cl_char second[LAYER];
	struct cl cl;
	int i;

	begin(&cl);
	begin_layers(&cl, &layers);
	cl_set_buffer(layers.kernel, 0, layers.out[0]);
	cl_set_buffer(layers.kernel, 3, layers.out[1]);
	OK(cl_run(cl.queue, layers.kernel, NULL));
	cl_read(&cl, layers.out[1], LAYER, second);

	buffer = create(cl.queue, 0);
	for (i = 0; i < 4; i++) {
		record_layer(buffer, &layers, layers.input, layers.out[2 * i], NULL);
		record_layer(buffer, &layers, layers.out[2 * i], layers.out[2 * i + 1], NULL);
	}
	/* first, second and first, ... second */
	finalize_and_check(&cl, buffer, 5);
	for (i = 0; i < 4; i++) {
		check_layer(&cl, &layers, layers.out[2 * i], layers.expected);
		check_layer(&cl, &layers, layers.out[2 * i + 1], second);
	}

	buffer = create(cl.queue, 0);
	record_layer(buffer, &layers, layers.input, layers.out[0], NULL);
	OK(fn.copy(buffer, NULL, NULL, layers.out[0], layers.out[1], 0, 0, LAYER, 0, NULL, NULL,
		   NULL));
	record_layer(buffer, &layers, layers.input, layers.out[2], NULL);
	record_layer(buffer, &layers, layers.input, layers.out[3], NULL);
	finalize_and_check(&cl, buffer, 2);
	for (i = 0; i < 4; i++)
		check_layer(&cl, &layers, layers.out[i], layers.expected);

	/* The first writes the beginning of the weights, which the second takes as they are then. */
	buffer = create(cl.queue, 0);
	record_layer(buffer, &layers, layers.input, layers.weights, NULL);
	record_layer(buffer, &layers, layers.input, layers.out[0], NULL);
	OK(fn.finalize(buffer));
	assert_int_equal(execute(&cl, buffer), 2);
	OK(fn.release(buffer));
	cl_set_buffer(layers.kernel, 0, layers.input);
	cl_set_buffer(layers.kernel, 3, layers.out[1]);
	OK(cl_run(cl.queue, layers.kernel, NULL));
	cl_read(&cl, layers.out[1], LAYER, second);
	assert_memory_not_equal(second, layers.expected, LAYER);
	check_layer(&cl, &layers, layers.out[0], second);
	end_layers(&layers);
	cl_end(&cl);
}

/* The same memory at two addresses: what is written through one is read through the other. */
static void imported_twice(void **state)
{
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING), i;
	cl_mem_properties properties[] = { CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
					   (cl_mem_properties)fd, 0 };
	cl_command_buffer_khr buffer;
	struct layers layers;
	cl_char second[LAYER];
	cl_mem mem[2];
	struct cl cl;
	cl_int error;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, LAYER), 0);
	begin(&cl);
	begin_layers(&cl, &layers);
	cl_set_buffer(layers.kernel, 0, layers.out[0]);
	cl_set_buffer(layers.kernel, 3, layers.out[1]);
	OK(cl_run(cl.queue, layers.kernel, NULL));
	cl_read(&cl, layers.out[1], LAYER, second);
	for (i = 0; i < 2; i++) {
		properties[1] = (cl_mem_properties)(i ? dup(fd) : fd);
		mem[i] = clCreateBufferWithProperties(cl.context, properties, CL_MEM_READ_WRITE,
						      LAYER, NULL, &error);
		OK(error);
	}
	buffer = create(cl.queue, 0);
	record_layer(buffer, &layers, layers.input, mem[0], NULL);
	record_layer(buffer, &layers, mem[1], layers.out[1], NULL);
	finalize_and_check(&cl, buffer, 2);
	check_layer(&cl, &layers, layers.out[1], second);
	for (i = 0; i < 2; i++)
		OK(clReleaseMemObject(mem[i]));
	end_layers(&layers);
	cl_end(&cl);
}

/* ---- updates ---- */

static cl_int update_bytes(cl_command_buffer_khr buffer, cl_mutable_command_khr command,
			   cl_uint index, const void *value, size_t size)
{
	const cl_npu_mutable_arg arg = { index, size, value };
	const cl_npu_mutable_config config = { .command = command,
					       .num_args = 1,
					       .arg_list = &arg };
	const cl_command_buffer_update_type_khr type = CL_NPU_UPDATE_DISPATCH;
	const void *configs[] = { &config };

	return fn.update(buffer, 1, &type, configs);
}

static cl_int update(cl_command_buffer_khr buffer, cl_mutable_command_khr command, cl_uint index,
		     cl_mem mem)
{
	return update_bytes(buffer, command, index, &mem, sizeof(mem));
}

static cl_command_buffer_state_khr state_of(cl_command_buffer_khr buffer)
{
	cl_command_buffer_state_khr state = 1000;

	OK(fn.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(state), &state, NULL));
	return state;
}

/* Arguments that are set after the recording; until then it does not run. */
static void arguments_later(void **state)
{
	const cl_command_properties_khr mutable[] = { CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
						      CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0 };
	const cl_command_properties_khr fixed[] = { CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 0,
						    0 };
	const cl_ulong bytes = 16;
	cl_mutable_command_khr command[2];
	cl_command_buffer_khr buffer;
	cl_mem from, to, small;
	cl_kernel kernel;
	struct cl cl;
	cl_uchar out[16];

	begin(&cl);
	from = cl_buffer(&cl, 16, "0123456789abcdef");
	to = cl_buffer(&cl, 16, NULL);
	small = cl_buffer(&cl, 15, NULL);
	kernel = cl_builtin(&cl, "npu_copy");
	cl_set_buffer(kernel, 0, from);
	buffer = create(cl.queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
	assert_int_equal(fn.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
				   NULL),
			 CL_INVALID_KERNEL_ARGS);
	assert_int_equal(fn.kernel(buffer, NULL, fixed, kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
				   &command[0]),
			 CL_INVALID_KERNEL_ARGS);
	OK(fn.kernel(buffer, NULL, mutable, kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
		     &command[0]));
	OK(clSetKernelArg(kernel, 2, sizeof(bytes), &bytes));
	OK(fn.kernel(buffer, NULL, mutable, kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
		     &command[1]));
	/* What a later command of the same kernel needs concerns it not. */
	cl_set_buffer(kernel, 1, to);
	OK(fn.finalize(buffer));
	assert_int_equal(fn.finalize(buffer), CL_INVALID_OPERATION);
	assert_int_equal(state_of(buffer), CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
	assert_int_equal(fn.enqueue(0, NULL, buffer, 0, NULL, NULL), CL_INVALID_OPERATION);
	OK(update(buffer, command[0], 1, to));
	assert_int_equal(state_of(buffer), CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
	assert_int_equal(update(buffer, command[1], 1, small), CL_INVALID_KERNEL_ARGS);
	OK(update(buffer, command[1], 1, to));
	assert_int_equal(state_of(buffer), CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
	assert_int_equal(fn.enqueue(0, NULL, buffer, 0, NULL, NULL), CL_INVALID_OPERATION);
	OK(update_bytes(buffer, command[0], 2, &bytes, sizeof(bytes)));
	assert_int_equal(state_of(buffer), CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	cl_read(&cl, to, 16, out);
	assert_memory_equal(out, "0123456789abcdef", 16);
	/* One that is never complete may go too. */
	OK(fn.release(buffer));
	buffer = create(cl.queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
	OK(clReleaseKernel(kernel));
	kernel = cl_builtin(&cl, "npu_copy");
	OK(fn.kernel(buffer, NULL, mutable, kernel, 1, NULL, &one, NULL, 0, NULL, NULL, NULL));
	OK(fn.finalize(buffer));
	OK(fn.release(buffer));
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(from));
	OK(clReleaseMemObject(to));
	OK(clReleaseMemObject(small));
	cl_end(&cl);
}

/* An update parts what went together, another one joins it again. */
static void update_parts(void **state)
{
	cl_command_buffer_khr buffer;
	cl_mutable_command_khr command;
	struct layers layers;
	struct cl cl;

	begin(&cl);
	begin_layers(&cl, &layers);
	buffer = create(cl.queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
	record_layer(buffer, &layers, layers.input, layers.out[1], NULL);
	record_layer(buffer, &layers, layers.input, layers.out[2], &command);
	OK(fn.finalize(buffer));
	assert_int_equal(execute(&cl, buffer), 1);
	OK(update(buffer, command, 0, layers.out[1]));
	assert_int_equal(execute(&cl, buffer), 2);
	OK(update(buffer, command, 0, layers.input));
	assert_int_equal(execute(&cl, buffer), 1);
	check_layer(&cl, &layers, layers.out[2], layers.expected);
	OK(fn.release(buffer));
	end_layers(&layers);
	cl_end(&cl);
}

#define EXECUTIONS 40

/*
 * Many executions of one command buffer in a queue out of order, all of them at once, each with an output of its
 * own.
 */
static void simultaneous_use(void **state)
{
	cl_command_buffer_khr buffer;
	cl_mutable_command_khr command;
	cl_event event[EXECUTIONS];
	cl_mem out[EXECUTIONS];
	struct digits digits;
	cl_command_queue queue;
	struct cl cl;
	int i;

	begin(&cl);
	begin_digits(&cl, &digits);
	queue = cl_out_of_order(&cl);
	buffer = create(queue,
			CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR);
	OK(fn.kernel(buffer, NULL, NULL, digits.kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
		     &command));
	OK(fn.finalize(buffer));
	for (i = 0; i < EXECUTIONS; i++) {
		out[i] = cl_buffer(&cl, DIGITS_CLASSES, NULL);
		OK(update(buffer, command, 1, out[i]));
		OK(fn.enqueue(0, NULL, buffer, 0, NULL, &event[i]));
	}
	OK(clWaitForEvents(EXECUTIONS, event));
	for (i = 0; i < EXECUTIONS; i++) {
		cl_char is[DIGITS_CLASSES];

		cl_read(&cl, out[i], DIGITS_CLASSES, is);
		assert_memory_equal(is, digits.expected, DIGITS_CLASSES);
		OK(clReleaseEvent(event[i]));
		OK(clReleaseMemObject(out[i]));
	}
	/* A queue of another kind takes it too. */
	OK(update(buffer, command, 1, digits.out));
	OK(fn.enqueue(1, &cl.queue, buffer, 0, NULL, NULL));
	check_digits(&cl, &digits);
	OK(fn.release(buffer));
	OK(clReleaseCommandQueue(queue));
	end_digits(&digits);
	cl_end(&cl);
}

/* ---- mutable dispatch ---- */

/* An update concerns later executions alone, also where the earlier one has not begun. */
static void updates(void **state)
{
	cl_uchar one_byte = 1, two = 2, out[2] = { 0 };
	cl_command_buffer_khr buffer;
	cl_mutable_command_khr command;
	cl_mem first, second, to, to_other;
	cl_kernel kernel;
	cl_event user;
	struct cl cl;
	cl_int error;

	begin(&cl);
	first = cl_buffer(&cl, 1, &one_byte);
	second = cl_buffer(&cl, 1, &two);
	to = cl_buffer(&cl, 1, out);
	to_other = cl_buffer(&cl, 1, out);
	kernel = cl_copy_kernel(&cl, first, to, 1);
	buffer = create(cl.queue,
			CL_COMMAND_BUFFER_MUTABLE_KHR | CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR);
	OK(fn.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL, &command));
	OK(fn.finalize(buffer));
	user = clCreateUserEvent(cl.context, &error);
	OK(error);
	OK(fn.enqueue(0, NULL, buffer, 1, &user, NULL));
	OK(update(buffer, command, 0, second));
	OK(update(buffer, command, 1, to_other));
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	OK(clSetUserEventStatus(user, CL_COMPLETE));
	cl_read(&cl, to, 1, &out[0]);
	cl_read(&cl, to_other, 1, &out[1]);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 2);
	OK(clReleaseEvent(user));
	OK(clReleaseKernel(kernel));
	OK(fn.release(buffer));
	OK(clReleaseMemObject(first));
	OK(clReleaseMemObject(second));
	OK(clReleaseMemObject(to));
	OK(clReleaseMemObject(to_other));
	cl_end(&cl);
}

static void update_errors(void **state)
{
	const cl_command_properties_khr fixed[] = { CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 0,
						    0 };
	const cl_command_properties_khr sizes[] = { CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 2,
						    0 };
	const cl_npu_mutable_arg short_arg = { 2, 1, "a" };
	cl_npu_mutable_config config = { 0 };
	const cl_command_buffer_update_type_khr type = CL_NPU_UPDATE_DISPATCH, other = 17;
	const void *configs[] = { &config };
	cl_command_buffer_khr buffer, constant;
	cl_mutable_command_khr command, stiff, alien;
	cl_mem a, b, small;
	cl_kernel kernel;
	cl_uchar out;
	struct cl cl;

	begin(&cl);
	a = cl_buffer(&cl, 4, "abcd");
	b = cl_buffer(&cl, 4, NULL);
	small = cl_buffer(&cl, 1, NULL);
	kernel = cl_copy_kernel(&cl, a, b, 4);
	buffer = create(cl.queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
	constant = create(cl.queue, 0);
	OK(fn.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL, &command));
	OK(fn.kernel(buffer, NULL, fixed, kernel, 1, NULL, &one, NULL, 0, NULL, NULL, &stiff));
	assert_int_equal(fn.kernel(buffer, NULL, sizes, kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
				   &alien),
			 CL_INVALID_OPERATION);
	OK(fn.kernel(constant, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL, &alien));
	assert_int_equal(update(buffer, command, 0, a), CL_INVALID_OPERATION);
	OK(fn.finalize(buffer));
	OK(fn.finalize(constant));
	assert_int_equal(update(NULL, command, 0, a), CL_INVALID_COMMAND_BUFFER_KHR);
	assert_int_equal(update(constant, alien, 0, a), CL_INVALID_OPERATION);
	assert_int_equal(update(buffer, alien, 0, a), CL_INVALID_MUTABLE_COMMAND_KHR);
	assert_int_equal(update(buffer, NULL, 0, a), CL_INVALID_MUTABLE_COMMAND_KHR);
	assert_int_equal(update(buffer, stiff, 0, a), CL_INVALID_OPERATION);
	assert_int_equal(update(buffer, command, 3, a), CL_INVALID_ARG_INDEX);
	assert_int_equal(update(buffer, command, 1, small), CL_INVALID_KERNEL_ARGS);
	assert_int_equal(fn.update(buffer, 1, NULL, configs), CL_INVALID_VALUE);
	assert_int_equal(fn.update(buffer, 1, &type, NULL), CL_INVALID_VALUE);
	assert_int_equal(fn.update(buffer, 0, &type, configs), CL_INVALID_VALUE);
	config.command = command;
	assert_int_equal(fn.update(buffer, 1, &other, configs), CL_INVALID_VALUE);
	config.num_args = 1;
	assert_int_equal(fn.update(buffer, 1, &type, configs), CL_INVALID_VALUE);
	config.arg_list = &short_arg;
	assert_int_equal(fn.update(buffer, 1, &type, configs), CL_INVALID_ARG_SIZE);
	config.arg_list = NULL;
	config.num_args = 0;
	config.global_work_size = &one;
	assert_int_equal(fn.update(buffer, 1, &type, configs), CL_INVALID_OPERATION);
	config.global_work_size = NULL;
	config.work_dim = 2;
	assert_int_equal(fn.update(buffer, 1, &type, configs), CL_INVALID_OPERATION);
	configs[0] = NULL;
	assert_int_equal(fn.update(buffer, 1, &type, configs), CL_INVALID_VALUE);
	OK(fn.update(buffer, 0, NULL, NULL));
	/* All of that has changed nothing. */
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	OK(clEnqueueReadBuffer(cl.queue, b, CL_TRUE, 3, 1, &out, 0, NULL, NULL));
	assert_int_equal(out, 'd');
	OK(fn.release(buffer));
	OK(fn.release(constant));
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(a));
	OK(clReleaseMemObject(b));
	OK(clReleaseMemObject(small));
	cl_end(&cl);
}

/* A kernel without work-items is recorded, updated and run like any other. */
static void no_work_items(void **state)
{
	const size_t zero = 0;
	cl_command_buffer_khr buffer;
	cl_mutable_command_khr command;
	cl_kernel kernel, same;
	cl_mem from, to;
	cl_uchar out;
	struct cl cl;

	begin(&cl);
	from = cl_buffer(&cl, 1, "a");
	to = cl_buffer(&cl, 1, "b");
	kernel = cl_copy_kernel(&cl, from, to, 1);
	buffer = create(cl.queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
	OK(fn.kernel(buffer, NULL, NULL, kernel, 1, NULL, &zero, NULL, 0, NULL, NULL, &command));
	OK(fn.finalize(buffer));
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	OK(update(buffer, command, 1, from));
	OK(fn.mutable_info(command, CL_MUTABLE_DISPATCH_KERNEL_KHR, sizeof(same), &same, NULL));
	assert_ptr_equal(same, kernel);
	OK(fn.enqueue(0, NULL, buffer, 0, NULL, NULL));
	cl_read(&cl, to, 1, &out);
	assert_int_equal(out, 'b');
	OK(fn.release(buffer));
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(from));
	OK(clReleaseMemObject(to));
	cl_end(&cl);
}

static void mutable_queries(void **state)
{
	const cl_command_properties_khr properties[] = { CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
							 CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0 };
	const size_t global[2] = { 1, 1 };
	cl_command_properties_khr told[4];
	cl_command_buffer_khr buffer, of;
	cl_mutable_command_khr command;
	cl_command_queue queue;
	cl_kernel kernel, same;
	cl_command_type type;
	size_t size, number[3];
	struct cl cl;
	cl_uint dim;
	cl_mem mem;

	begin(&cl);
	mem = cl_buffer(&cl, 4, NULL);
	kernel = cl_copy_kernel(&cl, mem, mem, 4);
	buffer = create(cl.queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
	OK(fn.kernel(buffer, NULL, properties, kernel, 2, NULL, global, NULL, 0, NULL, NULL,
		     &command));
	OK(fn.mutable_info(command, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR, sizeof(queue), &queue,
			   NULL));
	assert_ptr_equal(queue, cl.queue);
	OK(fn.mutable_info(command, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, sizeof(of), &of, NULL));
	assert_ptr_equal(of, buffer);
	OK(fn.mutable_info(command, CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, sizeof(type), &type,
			   NULL));
	assert_int_equal(type, CL_COMMAND_NDRANGE_KERNEL);
	OK(fn.mutable_info(command, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR, sizeof(told), told,
			   &size));
	assert_int_equal(size, sizeof(properties));
	assert_memory_equal(told, properties, sizeof(properties));
	OK(fn.mutable_info(command, CL_MUTABLE_DISPATCH_KERNEL_KHR, sizeof(same), &same, NULL));
	assert_ptr_equal(same, kernel);
	OK(fn.mutable_info(command, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, sizeof(dim), &dim, NULL));
	assert_int_equal(dim, 2);
	OK(fn.mutable_info(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, sizeof(number),
			   number, &size));
	assert_int_equal(size, sizeof(global));
	assert_memory_equal(number, global, sizeof(global));
	OK(fn.mutable_info(command, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR, sizeof(number),
			   number, &size));
	assert_int_equal(number[0] + number[1], 0);
	OK(fn.mutable_info(command, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR, sizeof(number), number,
			   &size));
	assert_int_equal(number[0] + number[1], 0);
	assert_int_equal(fn.mutable_info(command, 0x4711, sizeof(number), number, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(fn.mutable_info(NULL, CL_MUTABLE_DISPATCH_KERNEL_KHR, sizeof(same), &same,
					 NULL),
			 CL_INVALID_MUTABLE_COMMAND_KHR);
	OK(fn.release(buffer));
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(mem));
	cl_end(&cl);
}

/* ---- queries and errors ---- */

static void queries(void **state)
{
	const cl_command_buffer_properties_khr properties[] = {
		CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0
	};
	cl_command_buffer_properties_khr told[4];
	cl_command_buffer_state_khr now;
	cl_command_buffer_khr buffer;
	cl_bitfield word;
	cl_command_queue queue;
	cl_context context;
	cl_uint number;
	struct cl cl;
	size_t size;
	cl_int error;

	begin(&cl);
	buffer = fn.create(1, &cl.queue, properties, &error);
	OK(error);
	OK(fn.info(buffer, CL_COMMAND_BUFFER_NUM_QUEUES_KHR, sizeof(number), &number, NULL));
	assert_int_equal(number, 1);
	OK(fn.info(buffer, CL_COMMAND_BUFFER_QUEUES_KHR, sizeof(queue), &queue, NULL));
	assert_ptr_equal(queue, cl.queue);
	OK(fn.info(buffer, CL_COMMAND_BUFFER_CONTEXT_KHR, sizeof(context), &context, NULL));
	assert_ptr_equal(context, cl.context);
	OK(fn.info(buffer, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR, sizeof(told), told, &size));
	assert_int_equal(size, sizeof(properties));
	assert_memory_equal(told, properties, size);
	OK(fn.retain(buffer));
	OK(fn.info(buffer, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR, sizeof(number), &number, NULL));
	assert_int_equal(number, 2);
	OK(fn.release(buffer));
	OK(fn.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(now), &now, NULL));
	assert_int_equal(now, CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
	OK(fn.finalize(buffer));
	OK(fn.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, sizeof(now), &now, NULL));
	assert_int_equal(now, CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
	assert_int_equal(fn.info(buffer, CL_COMMAND_BUFFER_STATE_KHR, 1, &now, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(fn.info(buffer, 0x4711, sizeof(now), &now, NULL), CL_INVALID_VALUE);
	assert_int_equal(fn.info(NULL, CL_COMMAND_BUFFER_STATE_KHR, sizeof(now), &now, NULL),
			 CL_INVALID_COMMAND_BUFFER_KHR);
	OK(fn.release(buffer));
	OK(clGetDeviceInfo(cl.device, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, sizeof(word),
			   &word, NULL));
	assert_int_equal(word, CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR);
	OK(clGetDeviceInfo(cl.device, CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, sizeof(word),
			   &word, NULL));
	assert_int_equal(word, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR);
	cl_end(&cl);
}

static void version(void **state)
{
	cl_name_version list[64];
	size_t bytes, i;
	struct cl cl;

	begin(&cl);
	OK(clGetDeviceInfo(cl.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, sizeof(list), list,
			   &bytes));
	for (i = 0; i < bytes / sizeof(list[0]); i++)
		if (!strcmp(list[i].name, "cl_khr_command_buffer"))
			break;
	assert_true(i < bytes / sizeof(list[0]));
	assert_int_equal(list[i].version, CL_MAKE_VERSION(0, 9, 8));
	cl_end(&cl);
}

static void create_errors(void **state)
{
	static const struct {
		cl_command_buffer_properties_khr list[5];
		cl_int error;
	} bad[] = {
		{ { 0x4711, 0 }, CL_INVALID_VALUE },
		{ { CL_COMMAND_BUFFER_FLAGS_KHR, 1 << 20 }, CL_INVALID_VALUE },
		{ { CL_COMMAND_BUFFER_FLAGS_KHR, 0, CL_COMMAND_BUFFER_FLAGS_KHR, 0 },
		  CL_INVALID_VALUE },
		{ { CL_COMMAND_BUFFER_FLAGS_KHR, CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR },
		  CL_INVALID_PROPERTY },
	};
	cl_command_queue two[2], none = NULL;
	struct cl cl;
	cl_int error;
	unsigned i;

	begin(&cl);
	two[0] = two[1] = cl.queue;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(fn.create(1, &cl.queue, bad[i].list, &error));
		assert_int_equal(error, bad[i].error);
	}
	assert_null(fn.create(0, &cl.queue, NULL, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(fn.create(2, two, NULL, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(fn.create(1, NULL, NULL, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_null(fn.create(1, &none, NULL, &error));
	assert_int_equal(error, CL_INVALID_COMMAND_QUEUE);
	assert_null(fn.create(1, (cl_command_queue *)&cl.context, NULL, NULL));
	assert_int_equal(fn.retain(NULL), CL_INVALID_COMMAND_BUFFER_KHR);
	assert_int_equal(fn.release((cl_command_buffer_khr)cl.context),
			 CL_INVALID_COMMAND_BUFFER_KHR);
	assert_int_equal(fn.finalize(NULL), CL_INVALID_COMMAND_BUFFER_KHR);
	cl_end(&cl);
}

static void record_errors(void **state)
{
	const cl_command_properties_khr properties[] = { 0x4711, 1, 0 };
	const size_t origin[3] = { 0 }, region[3] = { 1, 1, 1 };
	cl_sync_point_khr point, later = 77, zero = 0;
	cl_mutable_command_khr handle;
	cl_command_buffer_khr buffer;
	cl_kernel kernel;
	struct cl cl;
	cl_mem mem;

	begin(&cl);
	mem = cl_buffer(&cl, 8, NULL);
	buffer = create(cl.queue, 0);
	kernel = cl_builtin(&cl, "npu_copy");
#define COPY(buffer, queue, list, to, count, points, handle) \
	fn.copy(buffer, queue, list, mem, to, 0, 4, 4, count, points, NULL, handle)
	assert_int_equal(COPY(NULL, NULL, NULL, mem, 0, NULL, NULL), CL_INVALID_COMMAND_BUFFER_KHR);
	assert_int_equal(COPY(buffer, cl.queue, NULL, mem, 0, NULL, NULL),
			 CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(COPY(buffer, NULL, properties, mem, 0, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(COPY(buffer, NULL, NULL, mem, 0, NULL, &handle), CL_INVALID_VALUE);
	assert_int_equal(COPY(buffer, NULL, NULL, NULL, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	assert_int_equal(COPY(buffer, NULL, NULL, mem, 1, NULL, NULL),
			 CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
	assert_int_equal(COPY(buffer, NULL, NULL, mem, 0, &later, NULL),
			 CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
	assert_int_equal(COPY(buffer, NULL, NULL, mem, 1, &later, NULL),
			 CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
	assert_int_equal(COPY(buffer, NULL, NULL, mem, 1, &zero, NULL),
			 CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
	OK(fn.barrier(buffer, NULL, NULL, 0, NULL, &point, NULL));
	OK(COPY(buffer, NULL, NULL, mem, 1, &point, NULL));
	assert_int_equal(fn.copy(buffer, NULL, NULL, mem, mem, 0, 2, 4, 0, NULL, NULL, NULL),
			 CL_MEM_COPY_OVERLAP);
	assert_int_equal(fn.fill(buffer, NULL, NULL, mem, "abc", 3, 0, 6, 0, NULL, NULL, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(fn.kernel(buffer, NULL, NULL, kernel, 1, NULL, &one, NULL, 0, NULL, NULL,
				   NULL),
			 CL_INVALID_KERNEL_ARGS);
	assert_int_equal(fn.kernel(buffer, NULL, NULL, NULL, 1, NULL, &one, NULL, 0, NULL, NULL,
				   NULL),
			 CL_INVALID_KERNEL);
	assert_int_equal(fn.copy_image(buffer, NULL, NULL, mem, mem, origin, origin, region, 0,
				       NULL, NULL, NULL),
			 CL_INVALID_MEM_OBJECT);
	assert_int_equal(fn.buffer_to_image(buffer, NULL, NULL, mem, mem, 0, origin, region, 0,
					    NULL, NULL, NULL),
			 CL_INVALID_MEM_OBJECT);
	assert_int_equal(fn.image_to_buffer(buffer, NULL, NULL, mem, mem, origin, region, 0, 0,
					    NULL, NULL, NULL),
			 CL_INVALID_MEM_OBJECT);
	assert_int_equal(fn.fill_image(buffer, NULL, NULL, mem, "abcdabcdabcdabcd", origin, region,
				       0, NULL, NULL, NULL),
			 CL_INVALID_MEM_OBJECT);
	assert_int_equal(fn.svm_memcpy(buffer, NULL, NULL, mem, mem, 1, 0, NULL, NULL, NULL),
			 CL_INVALID_OPERATION);
	assert_int_equal(fn.svm_fill(buffer, NULL, NULL, mem, "a", 1, 1, 0, NULL, NULL, NULL),
			 CL_INVALID_OPERATION);
	assert_int_equal(fn.enqueue(0, NULL, buffer, 0, NULL, NULL), CL_INVALID_OPERATION);
	OK(fn.finalize(buffer));
	assert_int_equal(fn.finalize(buffer), CL_INVALID_OPERATION);
	assert_int_equal(COPY(buffer, NULL, NULL, mem, 0, NULL, NULL), CL_INVALID_OPERATION);
	OK(fn.release(buffer));
	OK(clReleaseKernel(kernel));
	OK(clReleaseMemObject(mem));
	cl_end(&cl);
}

static void enqueue_errors(void **state)
{
	cl_command_queue queue, none = NULL, two[2];
	cl_command_buffer_khr buffer;
	cl_context context;
	cl_event user;
	struct cl cl;
	cl_int error;

	begin(&cl);
	two[0] = two[1] = cl.queue;
	buffer = create(cl.queue, 0);
	OK(fn.finalize(buffer));
	context = clCreateContext(NULL, 1, &cl.device, NULL, NULL, &error);
	OK(error);
	queue = clCreateCommandQueueWithProperties(context, cl.device, NULL, &error);
	OK(error);
	user = clCreateUserEvent(context, &error);
	OK(error);
	assert_int_equal(fn.enqueue(0, NULL, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_BUFFER_KHR);
	assert_int_equal(fn.enqueue(1, NULL, buffer, 0, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(fn.enqueue(0, &queue, buffer, 0, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(fn.enqueue(2, two, buffer, 0, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(fn.enqueue(1, &none, buffer, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(fn.enqueue(1, &queue, buffer, 0, NULL, NULL), CL_INVALID_CONTEXT);
	assert_int_equal(fn.enqueue(0, NULL, buffer, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(fn.enqueue(0, NULL, buffer, 0, &user, NULL), CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(fn.enqueue(0, NULL, buffer, 1, &user, NULL), CL_INVALID_CONTEXT);
	OK(clSetUserEventStatus(user, CL_COMPLETE));
	OK(clReleaseEvent(user));
	OK(clReleaseCommandQueue(queue));
	OK(clReleaseContext(context));
	OK(fn.release(buffer));
	cl_end(&cl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands),
		cmocka_unit_test(keeps_what_it_needs),
		cmocka_unit_test(event),
		cmocka_unit_test(empty),
		cmocka_unit_test(budget_shrinks),
		cmocka_unit_test(goes_together),
		cmocka_unit_test(waits_for_results),
		cmocka_unit_test(imported_twice),
		cmocka_unit_test(arguments_later),
		cmocka_unit_test(update_parts),
		cmocka_unit_test(simultaneous_use),
		cmocka_unit_test(updates),
		cmocka_unit_test(update_errors),
		cmocka_unit_test(no_work_items),
		cmocka_unit_test(mutable_queries),
		cmocka_unit_test(queries),
		cmocka_unit_test(version),
		cmocka_unit_test(create_errors),
		cmocka_unit_test(record_errors),
		cmocka_unit_test(enqueue_errors),
	};

	return cmocka_run_group_tests_name("opencl_command_buffer", tests, NULL, NULL);
}
