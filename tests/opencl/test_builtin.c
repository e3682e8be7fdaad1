// SPDX-License-Identifier: MIT
/*
 * Built-in kernels: each against the oracle over random shapes and attributes, and what they refuse.
 */
#include "builtin.h"

#include "../common/operator_kit.h"

#define ROUNDS 8

/* ---- arguments by name, from the operator ---- */

static cl_uint arg_count(cl_kernel kernel)
{
	cl_uint count;

	assert_int_equal(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL),
			 CL_SUCCESS);
	return count;
}

/* The index of an argument; the number of arguments: there is none of that name. */
static cl_uint find_arg(cl_kernel kernel, const char *wanted)
{
	cl_uint i, count = arg_count(kernel);
	char name[64];

	for (i = 0; i < count; i++) {
		assert_int_equal(clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_NAME, sizeof(name),
						    name, NULL),
				 CL_SUCCESS);
		if (!strcmp(name, wanted))
			break;
	}
	return i;
}

static void set(cl_kernel kernel, const char *name, size_t bytes, const void *value)
{
	cl_uint index = find_arg(kernel, name);

	if (index < arg_count(kernel))
		assert_int_equal(clSetKernelArg(kernel, index, bytes, value), CL_SUCCESS);
}

static void set_uint(cl_kernel kernel, const char *name, cl_uint value)
{
	set(kernel, name, sizeof(value), &value);
}

static void set_shape(cl_kernel kernel, const struct kit *kit)
{
	const u32 *in = kit->in[0].shape;
	cl_uint4 image = { { in[1], in[2], in[3], kit->weights.shape[0] } };
	cl_uint2 vector = { { in[1], kit->weights.shape[0] } };

	/* Of the two ways to turn a tensor round, one begins with channels in front. */
	if (kit->op.kind == NPU_OPERATOR_TRANSPOSE && kit->op.permutation[1] == 2)
		image = (cl_uint4){ { in[2], in[3], in[1], 0 } };
	if (kit->op.kind == NPU_OPERATOR_FULLY_CONNECTED)
		set(kernel, "shape", sizeof(vector), &vector);
	else
		set(kernel, "shape", sizeof(image), &image);
	set_uint(kernel, "elements", (cl_uint)tensor_elements(&kit->in[0]));
}

static void set_attributes(cl_kernel kernel, const struct kit *kit)
{
	const struct npu_operator *op = &kit->op;
	const struct npu_tensor_info *second = kit->count == 2 ? &kit->in[1] : &kit->weights;
	const struct npu_tensor_info *bytes = kit->in[0].type == NPU_TYPE_FLOAT32 &&
							      op->kind == NPU_OPERATOR_QUANTIZE
						      ? &kit->out
						      : &kit->in[0];
	cl_float4 scales = { { kit->in[0].scale, second->scale, kit->out.scale, 0 } };
	cl_int4 zeros = { { kit->in[0].zero_point, second->zero_point, kit->out.zero_point, 0 } };
	cl_uint window[2] = { op->window[0] ? op->window[0] : kit->weights.shape[1],
			      op->window[1] ? op->window[1] : kit->weights.shape[2] };

	set_shape(kernel, kit);
	set_uint(kernel, "type", bytes->type);
	set(kernel, "window", sizeof(window), window);
	set(kernel, "stride", sizeof(op->stride), op->stride);
	set(kernel, "dilation", sizeof(op->dilation), op->dilation);
	set(kernel, "pad", sizeof(op->pad), op->pad);
	set_uint(kernel, "groups", op->groups ? op->groups : 1);
	set(kernel, "scales", sizeof(scales), &scales);
	set(kernel, "zero_points", sizeof(zeros), &zeros);
	set(kernel, "scale", sizeof(bytes->scale), &bytes->scale);
	set(kernel, "zero_point", sizeof(bytes->zero_point), &bytes->zero_point);
	set_uint(kernel, "clamp", op->clamp);
}

/* ---- runs ---- */

static cl_mem set_buffer(struct cl *cl, cl_kernel kernel, const char *name, size_t bytes,
			 const void *data)
{
	cl_mem mem = cl_buffer(cl, bytes, data);

	set(kernel, name, sizeof(mem), &mem);
	return mem;
}

static void run_kit(struct cl *cl, cl_kernel kernel, const struct kit *kit, void *out)
{
	size_t bytes = tensor_bytes(&kit->out);
	cl_mem mem[5] = { NULL }, none = NULL;
	u32 i;

	mem[0] = set_buffer(cl, kernel, "input", tensor_bytes(&kit->in[0]), kit->data[0]);
	if (kit->count == 2)
		mem[1] = set_buffer(cl, kernel, "second_input", tensor_bytes(&kit->in[1]),
				    kit->data[1]);
	if (kit->op.weights)
		mem[2] = set_buffer(cl, kernel, "weights", tensor_bytes(&kit->weights),
				    kit->data[2]);
	if (kit->bias)
		mem[3] = set_buffer(cl, kernel, "bias", 4 * kit->weights.shape[0], kit->bias);
	else
		set(kernel, "bias", sizeof(none), NULL);
	mem[4] = set_buffer(cl, kernel, "output", bytes, NULL);
	set_attributes(kernel, kit);
	assert_int_equal(cl_run(cl->queue, kernel, NULL), CL_SUCCESS);
	cl_read(cl, mem[4], bytes, out);
	for (i = 0; i < ARRAY_SIZE(mem); i++)
		if (mem[i])
			assert_int_equal(clReleaseMemObject(mem[i]), CL_SUCCESS);
}

/* The kernels know one scale for all weights. */
static void one_scale(struct kit *kit)
{
	free(kit->scales);
	kit->scales = NULL;
	kit->op.weight_scales = NULL;
}

static void check(const char *name, const char *second,
		  void (*make)(struct kit *kit, struct random *random, u32 round), u64 seed)
{
	struct random random = { seed };
	cl_kernel kernel[2];
	struct kit kit;
	struct cl cl;
	u32 round;

	cl_begin(&cl);
	kernel[0] = cl_builtin(&cl, name);
	kernel[1] = cl_builtin(&cl, second);
	for (round = 0; round < ROUNDS; round++) {
		void *out;

		make(&kit, &random, round);
		one_scale(&kit);
		fill_kit(&kit, &random);
		out = malloc(tensor_bytes(&kit.out));
		assert_non_null(out);
		run_kit(&cl, kernel[round & 1], &kit, out);
		compare_kit(&kit, out);
		free(out);
		free_kit(&kit);
	}
	assert_int_equal(clReleaseKernel(kernel[0]), CL_SUCCESS);
	assert_int_equal(clReleaseKernel(kernel[1]), CL_SUCCESS);
	cl_end(&cl);
}

static void conv2d(void **state)
{
	check("npu_conv2d", "npu_conv2d", make_conv, 11);
}

static void fully_connected(void **state)
{
	check("npu_fully_connected", "npu_fully_connected", make_fully_connected, 12);
}

static void max_pool2d(void **state)
{
	check("npu_max_pool2d", "npu_max_pool2d", make_max_pool, 13);
}

static void average_pool2d(void **state)
{
	check("npu_average_pool2d", "npu_average_pool2d", make_average_pool, 14);
}

static void add(void **state)
{
	check("npu_add", "npu_add", make_add, 15);
}

static void quantize(void **state)
{
	check("npu_quantize", "npu_dequantize", make_quantize, 16);
}

static void layout(void **state)
{
	check("npu_nhwc_to_nchw", "npu_nchw_to_nhwc", make_transpose, 17);
}

/* ---- bytes ---- */

static void copy(void **state)
{
	cl_uchar data[100], out[100];
	cl_mem from, to;
	cl_kernel kernel;
	struct cl cl;
	unsigned i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (cl_uchar)(i * 7);
	cl_begin(&cl);
	from = cl_buffer(&cl, sizeof(data), data);
	memset(out, 0xee, sizeof(out));
	to = cl_buffer(&cl, sizeof(out), out);
	kernel = cl_copy_kernel(&cl, from, to, 90);
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
	cl_read(&cl, to, sizeof(out), out);
	assert_memory_equal(out, data, 90);
	for (i = 90; i < sizeof(out); i++)
		assert_int_equal(out[i], 0xee);
	assert_int_equal(clSetKernelArg(kernel, 2, sizeof(cl_ulong), &(cl_ulong){ 101 }),
			 CL_SUCCESS);
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
	clReleaseKernel(kernel);
	clReleaseMemObject(from);
	clReleaseMemObject(to);
	cl_end(&cl);
}

static void fill(void **state)
{
	cl_ushort out[50];
	cl_kernel kernel;
	struct cl cl;
	cl_mem mem;
	unsigned i;

	memset(out, 0, sizeof(out));
	cl_begin(&cl);
	kernel = cl_builtin(&cl, "npu_fill");
	mem = cl_buffer(&cl, sizeof(out), out);
	set(kernel, "output", sizeof(mem), &mem);
	set_uint(kernel, "value", 0x1234);
	set_uint(kernel, "element_bytes", 2);
	set(kernel, "bytes", sizeof(cl_ulong), &(cl_ulong){ 80 });
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
	cl_read(&cl, mem, sizeof(out), out);
	for (i = 0; i < 50; i++)
		assert_int_equal(out[i], i < 40 ? 0x1234 : 0);
	set_uint(kernel, "element_bytes", 3);
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
	set_uint(kernel, "element_bytes", 4);
	set(kernel, "bytes", sizeof(cl_ulong), &(cl_ulong){ 82 });
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
	set(kernel, "bytes", sizeof(cl_ulong), &(cl_ulong){ 104 });
	assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
	clReleaseKernel(kernel);
	clReleaseMemObject(mem);
	cl_end(&cl);
}

/* ---- weights ---- */

/* A fully connected layer of one weight: output = clamp(weight * input). */
static cl_kernel one_weight(struct cl *cl, cl_mem in, cl_mem weight, cl_mem out)
{
	cl_kernel kernel = cl_builtin(cl, "npu_fully_connected");
	cl_float4 scales = { { 1, 1, 1, 0 } };
	cl_int4 zeros = { { 0 } };

	set(kernel, "input", sizeof(in), &in);
	set(kernel, "weights", sizeof(weight), &weight);
	set(kernel, "bias", sizeof(cl_mem), NULL);
	set(kernel, "output", sizeof(out), &out);
	set_uint(kernel, "type", NPU_TYPE_INT8);
	set(kernel, "shape", sizeof(cl_uint2), &(cl_uint2){ { 1, 1 } });
	set(kernel, "scales", sizeof(scales), &scales);
	set(kernel, "zero_points", sizeof(zeros), &zeros);
	set_uint(kernel, "clamp", NPU_OPERATOR_CLAMP_NONE);
	return kernel;
}

/* The weights count that lie in the buffer when the kernel runs, more of them than a kernel keeps. */
static void weights_change(void **state)
{
	cl_char in = 10, weight, out;
	cl_mem mem[3];
	cl_kernel kernel;
	struct cl cl;
	int i, round;

	cl_begin(&cl);
	mem[0] = cl_buffer(&cl, 1, &in);
	mem[1] = cl_buffer(&cl, 1, NULL);
	mem[2] = cl_buffer(&cl, 1, NULL);
	kernel = one_weight(&cl, mem[0], mem[1], mem[2]);
	for (round = 0; round < 3; round++)
		for (i = -6; i <= 6; i++) {
			weight = (cl_char)i;
			assert_int_equal(clEnqueueWriteBuffer(cl.queue, mem[1], CL_FALSE, 0, 1,
							      &weight, 0, NULL, NULL),
					 CL_SUCCESS);
			assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
			cl_read(&cl, mem[2], 1, &out);
			assert_in_range(out - 10 * i + 1, 0, 2);
		}
	clReleaseKernel(kernel);
	for (i = 0; i < 3; i++)
		clReleaseMemObject(mem[i]);
	cl_end(&cl);
}

/* ---- what is refused ---- */

static void refused(void **state)
{
	static const struct {
		const char *name;
		size_t bytes;
		union {
			cl_uint number[4];
			cl_float real[4];
		} value;
	} wrong[] = {
		{ "type", 4, { { 99 } } },
		{ "type", 4, { { NPU_TYPE_FLOAT32 } } },
		{ "shape", 8, { { 0, 1 } } },
		{ "shape", 8, { { 1, 0 } } },
		{ "shape", 8, { { 2, 1 } } },
		{ "shape", 8, { { 1, 2 } } },
		{ "shape", 8, { { UINT32_MAX, UINT32_MAX } } },
		{ "scales", 16, { .real = { 1, 0, 1, 0 } } },
		{ "scales", 16, { .real = { -1, 1, 1, 0 } } },
		{ "scales", 16, { .real = { 1, 1, INFINITY, 0 } } },
		{ "zero_points", 16, { { 128, 0, 0, 0 } } },
		{ "clamp", 4, { { 9 } } },
	};
	cl_char one = 1;
	cl_kernel kernel;
	cl_mem mem[3];
	struct cl cl;
	char text[512];
	unsigned i;

	cl_begin(&cl);
	for (i = 0; i < 3; i++)
		mem[i] = cl_buffer(&cl, 1, &one);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		kernel = one_weight(&cl, mem[0], mem[1], mem[2]);
		assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
		set(kernel, wrong[i].name, wrong[i].bytes, &wrong[i].value);
		assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
		assert_int_equal(clGetPlatformInfo(cl.platform, CL_PLATFORM_LAST_ERROR_NPU,
						   sizeof(text), text, NULL),
				 CL_SUCCESS);
		assert_non_null(strstr(text, "npu_fully_connected"));
		clReleaseKernel(kernel);
	}
	for (i = 0; i < 3; i++)
		clReleaseMemObject(mem[i]);
	cl_end(&cl);
}

static void window_refused(void **state)
{
	static const struct {
		const char *name;
		cl_uint number[4];
		size_t bytes;
	} wrong[] = {
		{ "window", { 0, 2 }, 8 },	    { "window", { 5, 1 }, 8 },
		{ "stride", { 1, 0 }, 8 },	    { "pad", { 2, 0, 0, 0 }, 16 },
		{ "pad", { 0, 0, 0, 2 }, 16 },	    { "pad", { UINT32_MAX, 0, UINT32_MAX, 0 }, 16 },
		{ "window", { UINT32_MAX, 1 }, 8 },
	};
	struct random random = { 18 };
	cl_kernel kernel;
	struct kit kit;
	struct cl cl;
	void *out;
	unsigned i;

	cl_begin(&cl);
	begin_kit(&kit, NPU_OPERATOR_MAX_POOL_2D, 0);
	kit.in[0] = image(NPU_TYPE_INT8, 4, 4, 3, 1, 0);
	kit.out = image(NPU_TYPE_INT8, 3, 3, 3, 1, 0);
	kit.op.window[0] = kit.op.window[1] = 2;
	kit.op.stride[0] = kit.op.stride[1] = 1;
	fill_kit(&kit, &random);
	out = malloc(tensor_bytes(&kit.out));
	assert_non_null(out);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		cl_mem in = cl_buffer(&cl, 48, kit.data[0]), result = cl_buffer(&cl, 48, NULL);

		kernel = cl_builtin(&cl, "npu_max_pool2d");
		run_kit(&cl, kernel, &kit, out);
		compare_kit(&kit, out);
		set(kernel, "input", sizeof(in), &in);
		set(kernel, "output", sizeof(result), &result);
		assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_SUCCESS);
		set(kernel, wrong[i].name, wrong[i].bytes, wrong[i].number);
		assert_int_equal(cl_run(cl.queue, kernel, NULL), CL_INVALID_KERNEL_ARGS);
		clReleaseKernel(kernel);
		clReleaseMemObject(in);
		clReleaseMemObject(result);
	}
	free(out);
	free_kit(&kit);
	cl_end(&cl);
}

/* ---- what the device tells ---- */

static void names(void **state)
{
	char text[1024], *name, *rest;
	unsigned count = 0;
	struct cl cl;

	cl_begin(&cl);
	assert_int_equal(clGetDeviceInfo(cl.device, CL_DEVICE_BUILT_IN_KERNELS, sizeof(text), text,
					 NULL),
			 CL_SUCCESS);
	for (name = strtok_r(text, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
		clReleaseKernel(cl_builtin(&cl, name));
		count++;
	}
	assert_int_equal(count, 11);
	cl_end(&cl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(copy),
		cmocka_unit_test(fill),
		cmocka_unit_test(layout),
		cmocka_unit_test(quantize),
		cmocka_unit_test(conv2d),
		cmocka_unit_test(fully_connected),
		cmocka_unit_test(max_pool2d),
		cmocka_unit_test(average_pool2d),
		cmocka_unit_test(add),
		cmocka_unit_test(weights_change),
		cmocka_unit_test(refused),
		cmocka_unit_test(window_refused),
	};

	return cmocka_run_group_tests_name("opencl_builtin", tests, NULL, NULL);
}
