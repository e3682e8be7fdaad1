// SPDX-License-Identifier: MIT
/*
 * The reference interpreter against real numbers: what an operator stores is
 * within one unit of the exact result, for the operators that no golden model has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <math.h>
#include <cmocka.h>

#include "fixedpoint.h"
#include "reference.h"
#include "samples.h"

struct run {
	u8 *file;
	struct npu_graph *graph;
	struct npu_reference *reference;
};

static u32 state = 7;

static u32 random_u32(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

/* Byte tensors get every value, float ones a range around 0. */
static void fill_input(struct run *run, u32 index)
{
	const struct npu_tensor *tensor = &run->graph->tensor[index];
	void *data = npu_reference_tensor(run->reference, index);
	size_t i;

	for (i = 0; i < npu_tensor_elements(tensor); i++)
		if (tensor->dtype == NPU_F32)
			((float *)data)[i] = (float)((s32)(random_u32() % 4001) - 2000) / 256;
		else
			((u8 *)data)[i] = i < 256 ? (u8)i * 67 : random_u32();
}

/* Loads a sample, gives it inputs and runs it. */
static void start(struct run *run, const char *name)
{
	struct npu_diag diag = { 0 };
	size_t bytes;
	u32 i;

	run->file = sample_write(sample_find(name), &bytes);
	assert_non_null(run->file);
	if (npu_import_tflite(run->file, bytes, name, NULL, &run->graph, &diag) ||
	    npu_reference_new(run->graph, &run->reference, &diag))
		fail_msg("%s", diag.text);
	for (i = 0; i < run->graph->input_count; i++)
		fill_input(run, run->graph->input[i]);
	assert_int_equal(npu_reference_run(run->reference, NULL, NULL, &diag), 0);
}

static void stop(struct run *run)
{
	npu_reference_free(run->reference);
	npu_graph_free(run->graph);
	free(run->file);
}

static double stored(const struct npu_tensor *tensor, const void *data, size_t i)
{
	switch (tensor->dtype) {
	case NPU_I8:
		return ((const s8 *)data)[i];
	case NPU_U8:
		return ((const u8 *)data)[i];
	case NPU_I32:
		return ((const s32 *)data)[i];
	default:
		return (double)((const float *)data)[i];
	}
}

/* The real value of element @i of a tensor. */
static double real(const struct run *run, u32 index, size_t i)
{
	const struct npu_tensor *tensor = &run->graph->tensor[index];
	double value = stored(tensor, npu_reference_tensor(run->reference, index), i);

	return tensor->quant.count
		       ? (value - tensor->quant.zero[0]) * (double)tensor->quant.scale[0]
		       : value;
}

static double limit(double value, double least, double most)
{
	return fmin(fmax(value, least), most);
}

/* Element @i of the output is at most @units from what @exact would be stored as. */
static void expect_near(const struct run *run, size_t i, double exact, double units)
{
	u32 index = run->graph->output[0];
	const struct npu_tensor *out = &run->graph->tensor[index];
	double got = stored(out, npu_reference_tensor(run->reference, index), i), want;

	if (out->dtype == NPU_F32) {
		want = exact;
		units *= 1e-5;
	} else {
		want = exact / (double)out->quant.scale[0] + out->quant.zero[0];
		want = out->dtype == NPU_I8 ? limit(want, -128, 127) : limit(want, 0, 255);
	}
	if (fabs(got - want) > units)
		fail_msg("%s, element %zu: %g, exactly %g", run->graph->file, i, got, want);
}

static double relu(double x)
{
	return fmax(x, 0);
}

static double relu6(double x)
{
	return limit(x, 0, 6);
}

static double relu1(double x)
{
	return limit(x, -1, 1);
}

static double leaky(double x)
{
	return x < 0 ? 0.2 * x : x;
}

static double logistic(double x)
{
	return 1 / (1 + exp(-x));
}

static double hard_swish(double x)
{
	return x * limit(x + 3, 0, 6) / 6;
}

static double same(double x)
{
	return x;
}

static void test_functions_of_one(void **unused)
{
	static const struct {
		const char *sample;
		double (*exact)(double);
		double units; /* scaling down rounds twice: by up to 0.75 */
	} cases[] = {
		{ "relu", relu, 0.501 },
		{ "relu6", relu6, 0.501 },
		{ "relu_n1_to_1", relu1, 0.501 },
		{ "leaky_relu", leaky, 0.76 },
		{ "logistic", logistic, 0.501 },
		{ "tanh", tanh, 0.501 },
		{ "hard_swish", hard_swish, 1 },
		{ "quantize", same, 0.501 },
		{ "requantize", same, 0.76 },
		{ "dequantize", same, 1 },
		{ "cast", same, 0 },
	};
	struct run run;
	u32 c, i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		start(&run, cases[c].sample);
		for (i = 0; i < npu_tensor_elements(&run.graph->tensor[run.graph->output[0]]); i++)
			expect_near(&run, i, cases[c].exact(real(&run, run.graph->input[0], i)),
				    cases[c].units);
		stop(&run);
	}
}

static double add(double a, double b)
{
	return a + b;
}

static double add_relu(double a, double b)
{
	return fmax(a + b, 0);
}

static double sub(double a, double b)
{
	return a - b;
}

static double mul(double a, double b)
{
	return a * b;
}

static double divide(double a, double b)
{
	return a / b;
}

static double prelu(double a, double b)
{
	return a < 0 ? a * b : a;
}

/* Where output element @i of shape [.., 3, 3, 4] finds its operand of a smaller shape. */
static size_t all_of(size_t i)
{
	return i;
}

static size_t channel_of(size_t i)
{
	return i % 4;
}

static size_t row_of(size_t i)
{
	return i / 12 * 4 + i % 4;
}

static void test_functions_of_two(void **unused)
{
	static const struct {
		const char *sample;
		double (*exact)(double, double);
		size_t (*other)(size_t i);
	} cases[] = {
		{ "add", add_relu, all_of }, { "add_broadcast", add, channel_of },
		{ "sub", sub, all_of },	     { "mul", mul, row_of },
		{ "div", divide, all_of },   { "maximum", fmax, all_of },
		{ "minimum", fmin, all_of }, { "prelu", prelu, channel_of },
	};
	struct run run;
	u32 c, i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		start(&run, cases[c].sample);
		for (i = 0; i < npu_tensor_elements(&run.graph->tensor[run.graph->output[0]]); i++)
			expect_near(&run, i,
				    cases[c].exact(real(&run, 0, i),
						   real(&run, 1, cases[c].other(i))),
				    0.502);
		stop(&run);
	}
}

static double softmax_exact(const struct run *run, size_t i, u32 depth)
{
	size_t first = i / depth * depth;
	double sum = 0;
	u32 c;

	for (c = 0; c < depth; c++)
		sum += exp(real(run, 0, first + c));
	return exp(real(run, 0, i)) / sum;
}

static void test_softmax(void **unused)
{
	static const char *const names[] = { "softmax", "softmax_u8" };
	struct run run;
	u32 n, i;

	for (n = 0; n < 2; n++) {
		start(&run, names[n]);
		for (i = 0; i < 20; i++)
			expect_near(&run, i, softmax_exact(&run, i, 10), 1);
		stop(&run);
	}
}

/* What is computed along the last dimension, of @depth, from its sum of squares or of exponentials. */
static void test_last_dimension(void **unused)
{
	static const struct {
		const char *sample;
		u32 depth;
		bool norm;
	} cases[] = {
		{ "l2_normalization", 16, true },
		{ "l2_normalization_i8", 16, true },
		{ "log_softmax", 10, false },
		{ "log_softmax_u8", 10, false },
	};
	struct run run;
	u32 n, i, c;

	for (n = 0; n < ARRAY_SIZE(cases); n++) {
		const u32 depth = cases[n].depth;

		start(&run, cases[n].sample);
		for (i = 0; i < 2 * depth; i++) {
			double squares = 0;

			for (c = 0; c < depth; c++)
				squares += pow(real(&run, 0, i / depth * depth + c), 2);
			expect_near(&run, i,
				    cases[n].norm ? real(&run, 0, i) / sqrt(squares)
						  : log(softmax_exact(&run, i, depth)),
				    0.51);
		}
		stop(&run);
	}
}

static void test_add_n(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "add_n");
	for (i = 0; i < 6; i++)
		expect_near(&run, i, real(&run, 0, i) + real(&run, 1, i) + real(&run, 2, i), 1);
	stop(&run);
}

static void test_constants(void **unused)
{
	static const struct {
		const char *sample;
		double value[2];
	} cases[] = {
		{ "cast_constant", { 7, -3 } },
		{ "fill", { 0.01, 0.01 } },
		{ "zeros_like", { 0, 0 } },
	};
	u32 c, i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		struct run run;
		const float *data;

		start(&run, cases[c].sample);
		data = run.graph->tensor[run.graph->output[0]].data;
		assert_non_null(data);
		for (i = 0; i < 2; i++)
			assert_true(fabs((double)data[i] - cases[c].value[i]) < 1e-6);
		stop(&run);
	}
}

/* The definition: each input element scatters its kernel over the output. */
static void scatter(const struct run *run, double *sums)
{
	const struct npu_op *op = &run->graph->op[0];
	const struct npu_tensor *weights = npu_op_input(run->graph, op, 1);
	const s32 *bias = npu_op_input(run->graph, op, 2)->data;
	const s8 *w = weights->data;
	u32 i, y, x, r, s, c, k;

	for (i = 0; i < 5 * 5 * 4; i++)
		sums[i] = bias[i % 4] * 0.05f * (double)weights->quant.scale[i % 4];
	for (i = 0; i < 3 * 3 * 3 * 3 * 2 * 4; i++) {
		u32 n = i;
		s32 out_y, out_x;

		k = n % 4, n /= 4;
		c = n % 2, n /= 2;
		s = n % 3, n /= 3;
		r = n % 3, n /= 3;
		x = n % 3, y = n / 3;
		out_y = (s32)(2 * y + r) - 1;
		out_x = (s32)(2 * x + s) - 1;
		if (out_y < 0 || out_y > 4 || out_x < 0 || out_x > 4)
			continue;
		sums[(out_y * 5 + out_x) * 4 + k] += real(run, op->input[0], (y * 3 + x) * 2 + c) *
						     w[((k * 3 + r) * 3 + s) * 2 + c] *
						     (double)weights->quant.scale[k];
	}
}

static void test_transpose_conv(void **unused)
{
	double sums[5 * 5 * 4];
	struct run run;
	u32 i;

	start(&run, "transpose_conv");
	scatter(&run, sums);
	for (i = 0; i < ARRAY_SIZE(sums); i++)
		expect_near(&run, i, sums[i], 0.501);
	stop(&run);
}

/* A grouped convolution is two of half the channels. */
static void test_grouped_conv(void **unused)
{
	struct run run;
	u32 i, t, c;

	start(&run, "conv_grouped");
	for (i = 0; i < 2 * 2 * 4; i++) {
		const struct npu_tensor *weights = npu_op_input(run.graph, &run.graph->op[0], 1);
		const s32 *bias = npu_op_input(run.graph, &run.graph->op[0], 2)->data;
		u32 k = i % 4, x = i / 4 % 2, y = i / 8;
		double scale = (double)weights->quant.scale[k];
		double sum = bias[k] * (double)0.05f * scale;

		for (t = 0; t < 4; t++)
			for (c = 0; c < 2; c++)
				sum += real(&run, 0,
					    ((y + t / 2) * 3 + x + t % 2) * 4 + k / 2 * 2 + c) *
				       ((const s8 *)weights->data)[(k * 4 + t) * 2 + c] * scale;
		expect_near(&run, i, sum, 0.501);
	}
	stop(&run);
}

static void test_mean(void **unused)
{
	struct run run;
	u32 c, i;

	start(&run, "mean");
	for (c = 0; c < 3; c++) {
		double sum = 0;

		for (i = 0; i < 25; i++)
			sum += real(&run, 0, i * 3 + c);
		expect_near(&run, c, sum / 25, 0.501);
	}
	stop(&run);
}

static void test_average_pool(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "average_pool");
	for (i = 0; i < 3 * 3 * 3; i++) {
		s32 top = (s32)(i / 9) * 2 - 1, left = (s32)(i / 3 % 3) * 2 - 1, y, x;
		double sum = 0, count = 0;

		for (y = max(top, 0); y < min(top + 3, 5); y++)
			for (x = max(left, 0); x < min(left + 3, 5); x++, count++)
				sum += real(&run, 0, (y * 5 + x) * 3 + i % 3);
		expect_near(&run, i, sum / count, 0.501);
	}
	stop(&run);
}

/* Half pixel centres, edges repeated. */
static double bilinear_exact(const struct run *run, u32 y, u32 x, u32 c, u32 height, u32 width)
{
	double at_y = limit((y + 0.5) * 3 / height - 0.5, 0, 2);
	double at_x = limit((x + 0.5) * 3 / width - 0.5, 0, 2);
	u32 y0 = (u32)at_y, x0 = (u32)at_x, y1 = min(y0 + 1, 2u), x1 = min(x0 + 1, 2u);
	double v = at_y - y0, h = at_x - x0;

	return (1 - v) * (1 - h) * real(run, 0, (y0 * 3 + x0) * 2 + c) +
	       (1 - v) * h * real(run, 0, (y0 * 3 + x1) * 2 + c) +
	       v * (1 - h) * real(run, 0, (y1 * 3 + x0) * 2 + c) +
	       v * h * real(run, 0, (y1 * 3 + x1) * 2 + c);
}

static void test_resize_bilinear(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "resize_bilinear");
	for (i = 0; i < 6 * 5 * 2; i++)
		expect_near(&run, i, bilinear_exact(&run, i / 10, i / 2 % 5, i % 2, 6, 5), 1);
	stop(&run);
}

/* Corner to corner, 3 to 5: every second element is one of the input's. */
static void test_resize_bilinear_corners(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "resize_bilinear_u8");
	for (i = 0; i < 3 * 3 * 2; i++)
		expect_near(&run, (i / 6 * 2 * 5 + i / 2 % 3 * 2) * 2 + i % 2, real(&run, 0, i), 0);
	stop(&run);
}

static void test_concat_rescales(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "concat_rescaled");
	for (i = 0; i < 18; i++)
		expect_near(&run, i, i < 12 ? real(&run, 0, i) : real(&run, 1, i - 12), 0.502);
	stop(&run);
}

/* Operators that move: output element i is input element from[i]; -1: padding. */
static void test_moves(void **unused)
{
	static const struct {
		const char *sample;
		s32 from[24];
		u32 count;
	} cases[] = {
		{ "reshape", { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, 13 },
		{ "transpose", { 0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2 }, 13 },
		{ "pad",
		  { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1 },
		  18 },
		{ "slice", { 18, 19, 20, 21, 22, 23, 30, 31, 32 }, 9 },
		{ "strided_slice", { 49, 52, 55, 58, 25, 28, 31, 34 }, 8 },
		{ "strided_slice_ellipsis", { 1, 2, 5, 6, 9, 10, 13, 14 }, 8 },
		{ "strided_slice_new_axis", { 4, 5, 6, 7 }, 4 },
		{ "split", { 0, 1, 6, 7, 12, 13, 18, 19 }, 8 },
		{ "split_v", { 0, 1 }, 2 },
		{ "unpack", { 0, 1, 2 }, 3 },
		{ "gather", { 12, 13, 14, 0, 1, 2, 12, 13, 14 }, 9 },
	};
	struct run run;
	u32 c, i;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		start(&run, cases[c].sample);
		for (i = 0; i < cases[c].count; i++)
			expect_near(&run, i,
				    cases[c].from[i] < 0
					    ? 0
					    : real(&run, run.graph->input[0], cases[c].from[i]),
				    0);
		stop(&run);
	}
}

static void test_pack(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "pack");
	for (i = 0; i < 12; i++)
		expect_near(&run, i, real(&run, i / 3 % 2, i / 6 * 3 + i % 3), 0);
	stop(&run);
}

static void test_arg_max(void **unused)
{
	struct run run;
	u32 row, i;

	start(&run, "arg_max");
	for (row = 0; row < 4; row++) {
		const s32 *found = npu_reference_tensor(run.reference, run.graph->output[0]);

		assert_in_range(found[row], 0, 9);
		for (i = 0; i < 10; i++)
			assert_true(real(&run, 0, row * 10 + i) <=
				    real(&run, 0, row * 10 + found[row]));
	}
	stop(&run);
}

static void test_reduce_max(void **unused)
{
	struct run run;
	u32 i;

	start(&run, "reduce_max");
	for (i = 0; i < 25; i++)
		expect_near(&run, i,
			    fmax(real(&run, 0, 3 * i),
				 fmax(real(&run, 0, 3 * i + 1), real(&run, 0, 3 * i + 2))),
			    0);
	stop(&run);
}

/* Which element of the input [y][x][c] of the output is. */
typedef u32 (*source_fn)(u32 y, u32 x, u32 c);

static u32 depth_to_space(u32 y, u32 x, u32 c)
{
	return (y / 2 * 3 + x / 2) * 8 + (y % 2 * 2 + x % 2) * 2 + c;
}

static u32 space_to_depth(u32 y, u32 x, u32 c)
{
	return ((y * 2 + c / 6) * 6 + x * 2 + c / 3 % 2) * 3 + c % 3;
}

static u32 tile(u32 y, u32 x, u32 c)
{
	return (y % 2 * 3 + x) * 2 + c % 2;
}

static u32 broadcast_to(u32 y, u32 x, u32 c)
{
	return y * 2 + c;
}

static u32 reverse(u32 y, u32 x, u32 c)
{
	return ((1 - y) * 3 + 2 - x) * 2 + c;
}

static u32 mirror(u32 y, u32 x, u32 c)
{
	static const u32 rows[] = { 1, 0, 1, 2, 1, 0 }, columns[] = { 0, 1, 2, 1 };

	return (rows[y] * 3 + columns[x]) * 2 + c;
}

static u32 symmetric(u32 y, u32 x, u32 c)
{
	static const u32 rows[] = { 0, 0, 1, 2, 2, 1, 0 }, columns[] = { 0, 1, 2, 2 };

	return (rows[y] * 3 + columns[x]) * 2 + c;
}

static void expect_moves(const char *name, source_fn source)
{
	struct run run;
	u32 nhwc[4], i;

	start(&run, name);
	npu_tensor_nhwc(&run.graph->tensor[run.graph->output[0]], nhwc);
	for (i = 0; i < nhwc[1] * nhwc[2] * nhwc[3]; i++)
		expect_near(&run, i,
			    real(&run, 0,
				 source(i / nhwc[3] / nhwc[2], i / nhwc[3] % nhwc[2], i % nhwc[3])),
			    1e-4);
	stop(&run);
}

static void test_rearranged(void **unused)
{
	expect_moves("depth_to_space", depth_to_space);
	expect_moves("space_to_depth", space_to_depth);
	expect_moves("tile", tile);
	expect_moves("broadcast_to", broadcast_to);
	expect_moves("reverse", reverse);
	expect_moves("mirror_pad", mirror);
	expect_moves("mirror_pad_symmetric", symmetric);
}

/* Both operands are turned: [2][3][4] is two of [4][3], [1][5][4] becomes one of [4][5]. */
static void test_batch_matmul(void **unused)
{
	struct run run;
	u32 i, k;

	start(&run, "batch_matmul");
	for (i = 0; i < 30; i++) {
		double sum = 0;

		for (k = 0; k < 4; k++)
			sum += real(&run, 0, i / 15 * 12 + k * 3 + i / 5 % 3) *
			       real(&run, 1, i % 5 * 4 + k);
		expect_near(&run, i, sum, 1);
	}
	stop(&run);
}

static void test_sum(void **unused)
{
	struct run run;
	u32 i, k;

	start(&run, "sum");
	for (i = 0; i < 3; i++) {
		double sum = 0;

		for (k = 0; k < 25; k++)
			sum += real(&run, 0, k * 3 + i);
		expect_near(&run, i, sum, 1);
	}
	stop(&run);
}

/* Exactly the elements whose real value leaves the fused activation's range are marked. */
static void test_clamped(void **unused)
{
	struct npu_diag diag = { 0 };
	struct run run;
	u8 clamped[36];
	u32 i, count = 0;

	start(&run, "add");
	memset(clamped, 2, sizeof(clamped));
	assert_int_equal(npu_reference_run_op(run.reference, 0, clamped, &diag), 0);
	for (i = 0; i < sizeof(clamped); i++) {
		double sum = real(&run, 0, i) + real(&run, 1, i);

		assert_true(clamped[i] <= 1);
		if (fabs(sum) > 0.12 && fabs(sum / (double)0.12f - 127) > 1)
			assert_int_equal(clamped[i], sum < 0 || sum > 127 * 0.12);
		count += clamped[i];
	}
	assert_in_range(count, 1, sizeof(clamped) - 1);
	stop(&run);
}

/* conv, then add: alone the convolution's result is rounded and clamped, fused it is not. */
static const float scale_fine[] = { 0.02f }, scale_coarse[] = { 0.1f };
static const s64 zero[] = { 0 };
static const s8 eye[4] = { 64, 0, 0, 64 };

#define QUANT(s) .scales = 1, .scale = s, .zero = zero

static u8 *write_conv_add(size_t *bytes)
{
	const struct tw_tensor tensors[] = {
		{ .name = "in",
		  .type = TW_I8,
		  .rank = 4,
		  .dim = { 1, 2, 8, 2 },
		  QUANT(scale_coarse) },
		{ .name = "w",
		  .type = TW_I8,
		  .rank = 4,
		  .dim = { 2, 1, 1, 2 },
		  QUANT(scale_fine),
		  .data = eye,
		  .bytes = 4 },
		{ .name = "conv",
		  .type = TW_I8,
		  .rank = 4,
		  .dim = { 1, 2, 8, 2 },
		  QUANT(scale_fine) },
		{ .name = "rest",
		  .type = TW_I8,
		  .rank = 4,
		  .dim = { 1, 2, 8, 2 },
		  QUANT(scale_coarse) },
		{ .name = "out",
		  .type = TW_I8,
		  .rank = 4,
		  .dim = { 1, 2, 8, 2 },
		  QUANT(scale_coarse) },
	};
	const struct tw_op ops[] = {
		{ .code = 3,
		  .inputs = 2,
		  .input = { 0, 1 },
		  .outputs = 1,
		  .output = { 2 },
		  .options_type = 1,
		  .options = 3,
		  .option = { { 0, 1 }, { 1, 1 }, { 2, 1 } } },
		{ .code = 0, .inputs = 2, .input = { 3, 2 }, .outputs = 1, .output = { 4 } },
	};
	const struct tw_model model = {
		.version = 3,
		.tensors = 5,
		.tensor = tensors,
		.ops = 2,
		.op = ops,
		.inputs = 2,
		.input = { 0, 3 },
		.outputs = 1,
		.output = { 4 },
	};

	return tw_write(&model, bytes);
}

static void test_fused_add(void **unused)
{
	struct npu_diag diag = { 0 };
	struct run run = { 0 };
	u32 i, differ = 0;
	size_t bytes;
	u8 clamped[32];
	s8 alone[32];

	run.file = write_conv_add(&bytes);
	assert_non_null(run.file);
	assert_int_equal(npu_import_tflite(run.file, bytes, "conv+add", NULL, &run.graph, &diag),
			 0);
	assert_int_equal(npu_reference_new(run.graph, &run.reference, &diag), 0);
	fill_input(&run, 0);
	fill_input(&run, 3);
	assert_int_equal(npu_reference_run_op(run.reference, 0, clamped, &diag), 0);
	assert_int_equal(npu_reference_run_op(run.reference, 1, NULL, &diag), 0);
	memcpy(alone, npu_reference_tensor(run.reference, 4), sizeof(alone));
	assert_int_equal(npu_reference_run_fused_add(run.reference, 0, 1, &diag), 0);
	for (i = 0; i < sizeof(alone); i++) {
		s8 fused = ((s8 *)npu_reference_tensor(run.reference, 4))[i];

		expect_near(&run, i, real(&run, 0, i) * 64 * (double)0.02f + real(&run, 3, i),
			    0.501);
		if (!clamped[i])
			assert_in_range(fused - alone[i] + 1, 0, 2);
		differ += clamped[i] && fused != alone[i];
	}
	/* The convolution's own range is a fifth of the sum's: its clamp must be seen. */
	assert_true(differ > 4);
	assert_int_equal(npu_reference_run_fused_add(run.reference, 1, 0, &diag), -EINVAL);
	stop(&run);
}

static void test_fixed_point(void **unused)
{
	struct ref_scale half = ref_scale_of(0.5), big = ref_scale_of(1e300);
	double x;

	assert_int_equal(ref_divide_by_power(5, 1), 3);
	assert_int_equal(ref_divide_by_power(-5, 1), -3);
	assert_int_equal(ref_divide_by_power(INT32_MIN, 31), -1);
	assert_int_equal(ref_high_mul(INT32_MIN, INT32_MIN), INT32_MAX);
	assert_int_equal(ref_multiply(7, half), 4);
	assert_int_equal(ref_multiply(-7, half),
			 -3); /* twice rounded: first up, then nothing is left */
	assert_int_equal(big.multiplier, INT32_MAX);
	for (x = -20; x <= 0; x += 0.01) {
		double got = ref_exp_negative((s32)(x * (1 << 26))) / 2147483648.0;

		assert_true(fabs(got - exp(x)) < 1e-6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_one),
		cmocka_unit_test(test_functions_of_two),
		cmocka_unit_test(test_softmax),
		cmocka_unit_test(test_last_dimension),
		cmocka_unit_test(test_add_n),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_transpose_conv),
		cmocka_unit_test(test_grouped_conv),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_average_pool),
		cmocka_unit_test(test_resize_bilinear),
		cmocka_unit_test(test_resize_bilinear_corners),
		cmocka_unit_test(test_concat_rescales),
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_arg_max),
		cmocka_unit_test(test_reduce_max),
		cmocka_unit_test(test_rearranged),
		cmocka_unit_test(test_batch_matmul),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_clamped),
		cmocka_unit_test(test_fused_add),
		cmocka_unit_test(test_fixed_point),
	};

	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
