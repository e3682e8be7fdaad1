// SPDX-License-Identifier: MIT
/*
 * Images in place of inputs: what becomes of the graph, what CDMA makes of bytes, what the public
 * interface says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cpu/cpu.h"
#include "npu.h"
#include "optimise/optimise.h"
#include "pixels.h"
#include "reference.h"

#define DIGITS "tools/demo/digits.tflite"

static struct npu_diag diag;

static u32 add_tensor(struct npu_graph *graph, enum npu_dtype dtype, u32 a, u32 b, u32 c,
		      float scale, s32 zero)
{
	const u32 dim[] = { 1, a, b, c };
	u32 tensor = npu_graph_add_tensor(graph, "t", dtype, 4, dim);
	float *scales = npu_arena_array(&graph->arena, 1, sizeof(*scales));
	s32 *zeros = npu_arena_array(&graph->arena, 1, sizeof(*zeros));

	*scales = scale;
	*zeros = zero;
	if (dtype != NPU_F32)
		graph->tensor[tensor].quant = (struct npu_quant){ 1, 0, scales, zeros };
	return tensor;
}

static struct npu_graph *new_graph(u32 input)
{
	struct npu_graph *graph = npu_graph_new("made");

	graph->input = npu_arena_array(&graph->arena, 2, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 2, sizeof(u32));
	graph->input[0] = input;
	graph->input_count = graph->output_count = 1;
	return graph;
}

static u32 add_op(struct npu_graph *graph, enum npu_op_kind kind, u32 in, u32 out)
{
	struct npu_op *op = npu_graph_add_op(graph, kind, "op", 1, 1);

	op->input[0] = in;
	op->output[0] = out;
	return out;
}

static u32 add_transpose(struct npu_graph *graph, u32 in, u32 out)
{
	static const s32 order[] = { 0, 2, 3, 1 };

	add_op(graph, NPU_OP_TRANSPOSE, in, out);
	memcpy(graph->op[graph->op_count - 1].begin, order, sizeof(order));
	return out;
}

static void take(struct npu_graph *graph, enum npu_pixel_order order)
{
	const struct npu_pixel_input pixels = { .order = order };

	assert_int_equal(npu_graph_take_pixels(graph, &pixels, &diag), 0);
}

/* Channels last: the operator is in front of all others, and writes what was the input. */
static void test_channels_last(void **state)
{
	struct npu_graph *graph = new_graph(0);
	u32 in = add_tensor(graph, NPU_I8, 4, 5, 3, 0.5f, -10);
	const struct npu_op *op;

	graph->output[0] =
		add_op(graph, NPU_OP_RELU, in, add_tensor(graph, NPU_I8, 4, 5, 3, 0.5f, -10));
	take(graph, NPU_PIXELS_BGRA);
	assert_int_equal(graph->op_count, 2);
	op = &graph->op[0];
	assert_int_equal(op->kind, NPU_OP_PIXELS);
	assert_int_equal(op->output[0], in);
	assert_int_equal(graph->input[0], op->input[0]);
	assert_int_equal(graph->tensor[op->input[0]].dtype, NPU_U8);
	assert_int_equal(graph->tensor[op->input[0]].dim[3], 4);
	/* A byte less 128 is what is stored: real = scale * (byte - 128 - zero). */
	assert_true(op->pixel_scale[0] == 0.5f && op->pixel_mean[0] == 118);
	npu_graph_free(graph);
}

/* Channels first, float32: transpose and quantisation are done with it, in both orders. */
static void test_channels_first(void **state)
{
	int quantise_first;

	for (quantise_first = 0; quantise_first < 2; quantise_first++) {
		struct npu_graph *graph = new_graph(0);
		u32 in = add_tensor(graph, NPU_F32, 3, 4, 5, 0, 0), middle, out;

		out = add_tensor(graph, NPU_I8, 4, 5, 3, 0.02f, 3);
		if (quantise_first) {
			middle = add_tensor(graph, NPU_I8, 3, 4, 5, 0.02f, 3);
			add_op(graph, NPU_OP_QUANTIZE, in, middle);
			add_transpose(graph, middle, out);
		} else {
			middle = add_tensor(graph, NPU_F32, 4, 5, 3, 0, 0);
			add_transpose(graph, in, middle);
			add_op(graph, NPU_OP_QUANTIZE, middle, out);
		}
		graph->output[0] = add_op(graph, NPU_OP_RELU, out,
					  add_tensor(graph, NPU_I8, 4, 5, 3, 0.02f, 3));
		take(graph, NPU_PIXELS_NV24);
		assert_int_equal(graph->op_count, 2);
		assert_int_equal(graph->op[0].output[0], out);
		assert_int_equal(graph->op[1].kind, NPU_OP_RELU);
		/* Three planes' worth of lines, one below the other. */
		assert_int_equal(graph->tensor[graph->input[0]].dim[1], 12);
		assert_int_equal(graph->tensor[graph->input[0]].dim[2], 5);
		assert_int_equal(graph->tensor[graph->input[0]].dim[3], 1);
		assert_true(graph->op[0].pixel_scale[2] == 1 / 255.0f);
		assert_true(graph->op[0].pixel_mean[2] == 0);
		npu_graph_free(graph);
	}
}

/* A quantisation that others read past is not skipped. */
static void test_two_readers(void **state)
{
	struct npu_graph *graph = new_graph(0);
	u32 in = add_tensor(graph, NPU_F32, 4, 5, 1, 0, 0);
	u32 out = add_tensor(graph, NPU_I8, 4, 5, 1, 0.02f, 3);

	add_op(graph, NPU_OP_QUANTIZE, in, out);
	graph->output[0] = out;
	graph->output[1] =
		add_op(graph, NPU_OP_RELU, in, add_tensor(graph, NPU_F32, 4, 5, 1, 0, 0));
	graph->output_count = 2;
	take(graph, NPU_PIXELS_R8);
	assert_int_equal(graph->op_count, 3);
	assert_int_equal(graph->op[0].output[0], in);
	npu_graph_free(graph);
}

static void refused(u32 a, u32 b, u32 c, enum npu_dtype dtype, const struct npu_pixel_input *pixels,
		    int error)
{
	struct npu_graph *graph = new_graph(0);
	u32 in = add_tensor(graph, dtype, a, b, c, 0.5f, 0), count;

	graph->output[0] =
		add_op(graph, NPU_OP_RELU, in, add_tensor(graph, dtype, a, b, c, 0.5f, 0));
	count = graph->tensor_count;
	diag.text[0] = '\0';
	assert_int_equal(npu_graph_take_pixels(graph, pixels, &diag), error);
	assert_true(strlen(diag.text) > 0);
	assert_int_equal(graph->op_count, 1);
	assert_int_equal(graph->tensor_count, count);
	assert_int_equal(graph->input[0], in);
	npu_graph_free(graph);
}

static void test_refused(void **state)
{
	const struct npu_pixel_input rgba = { .order = NPU_PIXELS_RGBA };
	const struct npu_pixel_input nv = { .order = NPU_PIXELS_NV42 };
	const struct npu_pixel_input r8 = { .order = NPU_PIXELS_R8 };
	const struct npu_pixel_input second = { .input = 1, .order = NPU_PIXELS_RGBA };

	refused(4, 5, 1, NPU_I8, &rgba, -ENOTSUP);
	refused(4, 5, 4, NPU_I8, &nv, -ENOTSUP);
	refused(4, 5, 3, NPU_I8, &r8, -ENOTSUP);
	refused(3, 4, 5, NPU_F32, &nv, -ENOTSUP); /* channels first, nothing turns them */
	refused(4, 5, 3, NPU_I32, &rgba, -ENOTSUP);
	refused(4, 5, 3, NPU_I8, &second, -EINVAL);
}

/* ---- what bytes become ---- */

static const u32 height = 5, width = 7;

/* Every order, into every type: the CPU against the reference. */
static void test_cpu(void **state)
{
	static const enum npu_dtype types[] = { NPU_I8, NPU_U8, NPU_F32 };
	u32 order, type, channels, i;

	for (order = 0; order < NPU_PIXELS_ORDER_COUNT; order++)
		for (type = 0; type < ARRAY_SIZE(types); type++) {
			u32 bytes = npu_pixel_bytes(order) + npu_pixel_uv_bytes(order);
			struct npu_pixel_input pixels = { .order = order,
							  .given = true,
							  .mean = { 12.5f, 99, 200, 3 },
							  .scale = { 0.01f, -0.02f, 0.3f,
								     0.004f } };
			struct npu_graph *graph = new_graph(0);
			struct npu_reference *reference;
			const void *input[1];
			void *output[1];
			u8 *image;

			channels = bytes == 4 ? 3 + type % 2 : bytes;
			graph->output[0] =
				add_tensor(graph, types[type], height, width, channels, 0.02f, 5);
			assert_int_equal(npu_graph_take_pixels(graph, &pixels, &diag), 0);
			assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
			image = npu_reference_tensor(reference, graph->input[0]);
			for (i = 0; i < height * width * bytes; i++)
				image[i] = (u8)(i * 97 + i / 7);
			assert_int_equal(npu_reference_run_op(reference, 0, NULL, &diag), 0);
			input[0] = image;
			output[0] = calloc(1, graph->tensor[graph->output[0]].bytes);
			assert_int_equal(npu_cpu_execute(&(struct npu_cpu_call){
						 graph, &graph->op[0], input, output }),
					 0);
			assert_memory_equal(output[0],
					    npu_reference_tensor(reference, graph->output[0]),
					    graph->tensor[graph->output[0]].bytes);
			free(output[0]);
			npu_reference_free(reference);
			npu_graph_free(graph);
		}
}

static bool loads(float mean, const float scale[3], float unit, s32 zero,
		  struct npu_pixel_load *load)
{
	struct npu_graph *graph = new_graph(0);
	u32 image = add_tensor(graph, NPU_I8, 4, 5, 3, unit, zero), i;
	struct npu_op op = { .kind = NPU_OP_PIXELS, .pixels = NPU_PIXELS_RGBA };
	bool good;

	for (i = 0; i < 3; i++) {
		op.pixel_mean[i] = mean;
		op.pixel_scale[i] = scale[i];
	}
	good = npu_pixel_load(&op, &graph->tensor[image], load);
	npu_graph_free(graph);
	return good;
}

static void test_load(void **state)
{
	static const float same[3] = { 0.5f, 0.5f, 0.5f }, two[3] = { 0.5f, 0.5f, 0.51f };
	static const float zero[3] = { 0 }, huge[3] = { 1e9f, 1e9f, 1e9f };
	struct npu_pixel_load load;

	/* One unit a byte: exactly, the zero point is a part of the mean. */
	assert_true(loads(118, same, 0.5f, -10, &load));
	assert_int_equal(load.format, 12);
	assert_int_equal(load.mean[1], 128);
	assert_true(load.scale == 1 << load.shift);
	/* Means that are not whole, scales that are no powers of two: within a unit. */
	assert_true(loads(123.675f, same, 0.63f, 7, &load));
	assert_true(load.scale > INT16_MAX / 2);
	/* Two per cent are three units at the end of the range, and a fine input sees them. */
	assert_false(loads(118, two, 0.25f, -10, &load));
	assert_false(loads(118, zero, 0.5f, -10, &load));
	assert_false(loads(118, huge, 0.5f, -10, &load));
	assert_false(loads(1e9f, same, 0.5f, -10, &load));
}

/* ---- the public interface ---- */

static struct npu_device *device;

static void run(struct npu_model *model, const void *input, size_t bytes, int8_t answer[10])
{
	struct npu_input in = { input, bytes };
	struct npu_output out = { answer, 10 };

	assert_int_equal(npu_run(model, &in, 1, &out, 1, NULL), 0);
}

/* The same picture as INT8, and as bytes; from a compiled file too. */
static void test_model(void **state)
{
	struct npu_model_options options = { .size = sizeof(options), .pixels = "r8" };
	struct npu_tensor_info info = { .size = sizeof(info) };
	struct npu_model *plain, *pixels, *compiled;
	int8_t stored[4096], want[10], got[10];
	uint8_t image[4096];
	size_t bytes, i;
	void *data;

	for (i = 0; i < sizeof(image); i++) {
		image[i] = (uint8_t)(i * i / 31);
		stored[i] = (int8_t)(image[i] ^ 0x80);
	}
	assert_int_equal(npu_model_load(device, DIGITS, NULL, &plain), 0);
	assert_int_equal(npu_model_load(device, DIGITS, &options, &pixels), 0);
	assert_int_equal(npu_model_input(plain, 0, &info), 0);
	assert_null(info.pixels);
	assert_int_equal(npu_model_input(pixels, 0, &info), 0);
	assert_string_equal(info.pixels, "r8");
	assert_int_equal(info.type, NPU_TYPE_UINT8);
	assert_int_equal(info.bytes, sizeof(image));
	run(plain, stored, sizeof(stored), want);
	run(pixels, image, sizeof(image), got);
	assert_memory_equal(want, got, sizeof(want));
	assert_int_equal(npu_model_save_memory(pixels, &data, &bytes), 0);
	assert_int_equal(npu_model_load_memory(device, data, bytes, "saved", NULL, &compiled), 0);
	assert_int_equal(npu_model_input(compiled, 0, &info), 0);
	assert_string_equal(info.pixels, "r8");
	run(compiled, image, sizeof(image), got);
	assert_memory_equal(want, got, sizeof(want));
	npu_model_free(compiled);
	/* What is compiled is fixed. */
	assert_int_equal(npu_model_load_memory(device, data, bytes, "saved", &options, &compiled),
			 -EINVAL);
	free(data);
	npu_model_free(plain);
	npu_model_free(pixels);
}

static void test_options(void **state)
{
	struct npu_model_options options = { .size = sizeof(options), .pixels = "rgb565" };
	struct npu_model *model;

	assert_int_equal(npu_model_load(device, DIGITS, &options, &model), -EINVAL);
	assert_non_null(strstr(npu_error(), "rgb565"));
	options.pixels = "rgba";
	assert_int_equal(npu_model_load(device, DIGITS, &options, &model), -ENOTSUP);
	assert_non_null(strstr(npu_error(), "1 channels"));
	options.pixels = "r8";
	options.pixel_scale[0] = NAN;
	assert_int_equal(npu_model_load(device, DIGITS, &options, &model), -EINVAL);
	/* Fields behind the size are not looked at. */
	options.size = offsetof(struct npu_model_options, pixels);
	assert_int_equal(npu_model_load(device, DIGITS, &options, &model), 0);
	npu_model_free(model);
}

/* A mean and a scale change the answer as the same numbers in INT8 do. */
static void test_mean(void **state)
{
	struct npu_model_options options = { .size = sizeof(options), .pixels = "r8" };
	struct npu_tensor_info info = { .size = sizeof(info) };
	struct npu_model *plain, *pixels;
	int8_t stored[4096], want[10], got[10];
	uint8_t image[4096];
	int i;

	assert_int_equal(npu_model_load(device, DIGITS, NULL, &plain), 0);
	assert_int_equal(npu_model_input(plain, 0, &info), 0);
	options.pixel_mean[0] = 55;
	options.pixel_scale[0] = info.scale;
	assert_int_equal(npu_model_load(device, DIGITS, &options, &pixels), 0);
	for (i = 0; i < 4096; i++) {
		int value = (image[i] = (uint8_t)(i * i / 17)) - 55 + info.zero_point;

		stored[i] = (int8_t)(value > 127 ? 127 : value < -128 ? -128 : value);
	}
	run(plain, stored, sizeof(stored), want);
	run(pixels, image, sizeof(image), got);
	assert_memory_equal(want, got, sizeof(want));
	npu_model_free(plain);
	npu_model_free(pixels);
}

static int set_up(void **state)
{
	return npu_open("sim:nv_small", &device);
}

static int tear_down(void **state)
{
	npu_close(device);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_channels_last), cmocka_unit_test(test_channels_first),
		cmocka_unit_test(test_two_readers),   cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cpu),	      cmocka_unit_test(test_load),
		cmocka_unit_test(test_model),	      cmocka_unit_test(test_options),
		cmocka_unit_test(test_mean),
	};

	return cmocka_run_group_tests_name("images", tests, set_up, tear_down);
}
