// SPDX-License-Identifier: MIT
/*
 * Quantisation: ranges against brute force, passes that must not change real results, integer
 * graphs against the float ones that they come from, calibration files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../tools/common/calibrate.h"
#include "../common/shared_models.h"
#include "npu_compiler.h"
#include "quantise/equalise.h"
#include "quantise/evaluate.h"
#include "quantise/range.h"

static u32 state;

static float noise(void)
{
	state = state * 1664525 + 1013904223;
	return (float)(state >> 8) / (float)(1 << 23) - 1;
}

/* ---- ranges ---- */

#define VALUES 5000

/* More values near zero than far from it, and a few outliers. */
static void make_values(float *value, bool negative)
{
	u32 i;

	state = 7;
	for (i = 0; i < VALUES; i++) {
		float x = noise();

		value[i] = x * x * x * (i % 500 ? 1.0f : 6.0f);
		if (!negative)
			value[i] = fabsf(value[i]);
	}
}

static struct npu_histogram make_histogram(const float *value, u32 half)
{
	struct npu_histogram h = { .half = half };
	u32 i;

	for (i = 0; i < VALUES; i++) {
		h.min = min(h.min, value[i]);
		h.max = max(h.max, value[i]);
	}
	h.reach = max(-h.min, h.max);
	h.bin = calloc(2 * half, sizeof(*h.bin));
	assert_non_null(h.bin);
	for (i = 0; i < VALUES; i++)
		npu_histogram_add(&h, value[i]);
	return h;
}

static void choose(const struct npu_histogram *h, enum npu_range_method method, double percentile,
		   float *low, float *high)
{
	const struct npu_calibrate_options options = { .method = method, .percentile = percentile };

	npu_range_choose(h, &options, low, high);
}

static void test_to_quant(void **unused)
{
	static const float ranges[][2] = {
		{ -1, 1 },  { 0, 6 },	   { -3, 0 }, { 2, 5 },
		{ -7, -5 }, { -1e-6f, 3 }, { 0, 0 },  { -1e20f, 1e20f }
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		float low = min(ranges[i][0], 0.0f), high = max(ranges[i][1], 0.0f), scale;
		s32 zero;

		npu_range_to_quant(ranges[i][0], ranges[i][1], &scale, &zero);
		assert_true(scale > 0 && isfinite(scale) && zero >= -128 && zero <= 127);
		/* What is stored reaches from end to end, to half a step. */
		assert_true(scale * (float)(-128 - zero) <= low + scale * 0.51f);
		assert_true(scale * (float)(127 - zero) >= high - scale * 0.51f);
		if (high > low)
			assert_float_equal(scale, (high - low) / 255, scale * 1e-5f);
	}
}

static void test_minmax(void **unused)
{
	static float value[VALUES];
	struct npu_histogram h;
	float low, high;

	make_values(value, true);
	h = make_histogram(value, 64);
	choose(&h, NPU_RANGE_MINMAX, 0, &low, &high);
	assert_true(low == h.min && high == h.max && low < 0);
	free(h.bin);
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

/* The bounds are the sorted values' at that place, to a bin. */
static void test_percentile(void **unused)
{
	static const double percentiles[] = { 90, 99, 99.9, 100 };
	static float value[VALUES];
	u32 i, sign;

	for (sign = 0; sign < 2; sign++)
		for (i = 0; i < ARRAY_SIZE(percentiles); i++) {
			struct npu_histogram h;
			float low, high, width;
			u32 out = (u32)(VALUES * (1 - percentiles[i] / 100) + 0.001);

			make_values(value, sign);
			h = make_histogram(value, 1024);
			choose(&h, NPU_RANGE_PERCENTILE, percentiles[i], &low, &high);
			qsort(value, VALUES, sizeof(*value), by_size);
			width = h.reach / 1024;
			assert_float_equal(low, sign ? value[out] : 0, width * 1.001f);
			assert_float_equal(high, value[VALUES - 1 - out], width * 1.001f);
			free(h.bin);
		}
}

/* The textbook's way: distributions P and Q as arrays. */
static double naive_divergence(const struct npu_histogram *h, u32 clip, u32 levels)
{
	static double p[8192], q[8192];
	double width = (double)h->reach / h->half, all = 0, inside = 0, sum = 0;
	s32 first = h->half - clip, end = h->half + clip, i, level, bins;

	while (first < (s32)h->half && (first - (double)h->half + 1) * width <= h->min)
		first++;
	while (end > (s32)h->half && (end - (double)h->half - 1) * width >= h->max)
		end--;
	bins = end - first;
	if (bins < (s32)levels)
		return -1;
	memset(p, 0, sizeof(p));
	memset(q, 0, sizeof(q));
	for (i = 0; i < 2 * (s32)h->half; i++) {
		s32 at = i < first ? first : i >= end ? end - 1 : i;

		p[at] += (double)h->bin[i];
		all += (double)h->bin[i];
		inside += at == i ? (double)h->bin[i] : 0;
	}
	for (level = 0; level < (s32)levels; level++) {
		s32 from = first + (s32)((s64)bins * level / (s32)levels);
		s32 to = first + (s32)((s64)bins * (level + 1) / (s32)levels);
		double total = 0, used = 0;

		for (i = from; i < to; i++) {
			total += (double)h->bin[i];
			used += h->bin[i] ? 1 : 0;
		}
		for (i = from; i < to; i++)
			q[i] = h->bin[i] ? total / used : 0;
	}
	for (i = first; i < end; i++) {
		if (p[i] > 0 && q[i] <= 0)
			return -1;
		if (p[i] > 0)
			sum += p[i] / all * log(p[i] / all / (q[i] / inside));
	}
	return max(sum, 0.0);
}

static void test_kl(void **unused)
{
	static float value[VALUES];
	u32 sign, clip, best, half;
	double least, cost;

	for (sign = 0; sign < 2; sign++) {
		struct npu_histogram h;
		float low, high;

		half = 256;
		make_values(value, sign);
		h = make_histogram(value, half);
		for (clip = 8; clip <= half; clip += 8)
			assert_true(fabs(npu_range_divergence(&h, clip, 15) -
					 naive_divergence(&h, clip, 15)) < 1e-9);
		for (clip = half, best = half, least = INFINITY; clip >= 128; clip--) {
			cost = naive_divergence(&h, clip, 255);
			if (cost >= 0 && cost < least - 1e-12) {
				least = cost;
				best = clip;
			}
		}
		choose(&h, NPU_RANGE_KL, 0, &low, &high);
		assert_float_equal(high, min(h.max, (float)best * h.reach / (float)half), 1e-6);
		free(h.bin);
	}
}

/* Values inside of [-1, 1] count this often, so that it pays to cut off those outside. */
#define WEIGHT 400

/* Over the values themselves, not over bins. */
static double naive_error(const float *value, float low, float high)
{
	double sum = 0, count = 0;
	float scale;
	s32 zero;
	u32 i;

	npu_range_to_quant(low, high, &scale, &zero);
	for (i = 0; i < VALUES; i++) {
		s32 stored = (s32)lround((double)value[i] / (double)scale) + zero;
		double back = (double)scale * (max(min(stored, 127), -128) - zero);

		sum += pow(back - (double)value[i], 2) * (fabsf(value[i]) <= 1 ? WEIGHT : 1);
		count += fabsf(value[i]) <= 1 ? WEIGHT : 1;
	}
	return sum / count;
}

static void test_mse(void **unused)
{
	static float value[VALUES];
	u32 sign, clip, i;

	for (sign = 0; sign < 2; sign++) {
		struct npu_histogram h;
		float low, high;
		double chosen;

		make_values(value, sign);
		h = make_histogram(value, 4096);
		for (i = 0; i < VALUES; i++)
			for (clip = 1; clip < WEIGHT && fabsf(value[i]) <= 1; clip++)
				npu_histogram_add(&h, value[i]);
		choose(&h, NPU_RANGE_MSE, 0, &low, &high);
		chosen = naive_error(value, low, high);
		assert_true(chosen < naive_error(value, h.min, h.max));
		for (clip = 128; clip <= 4096; clip += 16) {
			float t = (float)clip * h.reach / 4096;

			assert_true(chosen <=
				    naive_error(value, max(h.min, -t), min(h.max, t)) * 1.02);
		}
		free(h.bin);
	}
}

/* ---- graphs ---- */

static u32 add_tensor(struct npu_graph *g, const char *name, u32 h, u32 w, u32 c)
{
	const u32 dim[4] = { 1, h, w, c };
	u32 index = npu_graph_add_tensor(g, name, NPU_F32, 4, dim);

	assert_int_not_equal(index, NPU_NONE);
	return index;
}

/* Constants from -size to size. */
static void fill(struct npu_graph *g, u32 index, float size)
{
	struct npu_tensor *tensor = &g->tensor[index];
	float *data = npu_arena_alloc(&g->arena, tensor->bytes);
	u32 i;

	assert_non_null(data);
	for (i = 0; i < npu_tensor_elements(tensor); i++)
		data[i] = noise() * size;
	tensor->data = data;
}

static struct npu_op *add_op(struct npu_graph *g, enum npu_op_kind kind, const char *name, u32 a,
			     u32 b, u32 out)
{
	struct npu_op *op = npu_graph_add_op(g, kind, name, b == NPU_NONE ? 1 : 2, 1);

	assert_non_null(op);
	op->input[0] = a;
	if (b != NPU_NONE)
		op->input[1] = b;
	op->output[0] = out;
	return op;
}

/* Kernel x kernel without padding, all channels or one each; returns its output. */
static u32 add_conv(struct npu_graph *g, const char *name, u32 in, u32 kernels, u32 kernel,
		    bool depthwise, enum npu_activation activation)
{
	const struct npu_tensor from = g->tensor[in];
	const u32 dim[4] = { kernels, kernel, kernel, depthwise ? 1 : from.dim[3] };
	u32 weights = npu_graph_add_tensor(g, "weights", NPU_F32, 4, dim);
	u32 bias = npu_graph_add_tensor(g, "bias", NPU_F32, 1, dim);
	u32 out = add_tensor(g, name, from.dim[1] - kernel + 1, from.dim[2] - kernel + 1, kernels);
	struct npu_op *op = npu_graph_add_op(g, NPU_OP_CONV, name, 3, 1);

	assert_non_null(op);
	fill(g, weights, 1);
	fill(g, bias, 0.3f);
	op->input[0] = in;
	op->input[1] = weights;
	op->input[2] = bias;
	op->output[0] = out;
	op->window.r = op->window.s = kernel;
	op->groups = depthwise ? kernels : 1;
	op->activation = activation;
	return out;
}

static struct npu_graph *begin(u32 h, u32 w, u32 c)
{
	struct npu_graph *g = npu_graph_new("made");

	assert_non_null(g);
	state = 99;
	g->input = npu_arena_array(&g->arena, 1, sizeof(*g->input));
	g->output = npu_arena_array(&g->arena, 1, sizeof(*g->output));
	assert_true(g->input && g->output);
	g->input[0] = add_tensor(g, "in", h, w, c);
	g->input_count = 1;
	return g;
}

static void end(struct npu_graph *g, u32 output)
{
	struct npu_diag diag = { "" };

	g->output[0] = output;
	g->output_count = 1;
	if (npu_graph_verify(g, &diag))
		fail_msg("%s", diag.text);
}

/* ---- running ---- */

static int load_noise(const struct npu_samples *samples, u32 i, void *const *input,
		      struct npu_diag *diag)
{
	const struct npu_graph *g = samples->context;
	float *to = input[0];
	u32 e;

	state = i * 17 + 3;
	for (e = 0; e < npu_tensor_elements(&g->tensor[g->input[0]]); e++)
		to[e] = noise();
	return 0;
}

static struct npu_graph *prepared_of(const struct npu_graph *g)
{
	struct npu_graph *prepared;
	struct npu_diag diag = { "" };

	if (npu_quantise_prepare(g, &prepared, &diag))
		fail_msg("%s", diag.text);
	return prepared;
}

static struct npu_calibration *calibrate(struct npu_graph *prepared, enum npu_equalise equalise)
{
	const struct npu_samples samples = { 4, load_noise, prepared };
	const struct npu_calibrate_options options = { NPU_RANGE_MINMAX, 100, equalise };
	struct npu_calibration *calibration;
	struct npu_diag diag = { "" };

	if (npu_calibrate(prepared, &samples, &options, &calibration, &diag))
		fail_msg("%s", diag.text);
	return calibration;
}

static struct npu_graph *quantise(const struct npu_graph *prepared,
				  const struct npu_calibration *calibration)
{
	struct npu_graph *quantised;
	struct npu_diag diag = { "" };

	if (npu_quantise(prepared, calibration, &quantised, &diag))
		fail_msg("%s", diag.text);
	return quantised;
}

/* Output 0 for sample @i; to be freed. */
static float *run(const struct npu_graph *g, u32 i)
{
	struct npu_evaluation *evaluation = npu_evaluation_new(g);
	const struct npu_samples samples = { 1, load_noise, (void *)(uintptr_t)g };
	const struct npu_tensor *out = &g->tensor[g->output[0]];
	struct npu_diag diag = { "" };
	float *result = malloc(out->bytes);

	assert_true(evaluation && result);
	assert_int_equal(out->dtype, NPU_F32);
	samples.load(&samples, i, &evaluation->value[g->input[0]], &diag);
	if (npu_evaluate(evaluation, &diag))
		fail_msg("%s", diag.text);
	memcpy(result, evaluation->value[g->output[0]], out->bytes);
	npu_evaluation_free(evaluation);
	return result;
}

/* Signal to noise of graph @b's output 0 where @a is right, in dB; @shift: of the mean. */
static double signal_to_noise(const struct npu_graph *a, const struct npu_graph *b, double *shift)
{
	double signal = 0, error = 0, sum = 0, n = 0;
	u64 e, count = npu_tensor_elements(&a->tensor[a->output[0]]);
	u32 i;

	for (i = 0; i < 4; i++) {
		float *x = run(a, i), *y = run(b, i);

		for (e = 0; e < count; e++, n++) {
			signal += (double)x[e] * (double)x[e];
			error += pow((double)x[e] - (double)y[e], 2);
			sum += (double)y[e] - (double)x[e];
		}
		free(x);
		free(y);
	}
	if (shift)
		*shift = fabs(sum / n);
	return 10 * log10(signal / max(error, 1e-30));
}

static const struct npu_op *find_op(const struct npu_graph *g, enum npu_op_kind kind)
{
	u32 i;

	for (i = 0; i < g->op_count; i++)
		if (g->op[i].kind == kind)
			return &g->op[i];
	return NULL;
}

static u32 count_ops(const struct npu_graph *g, enum npu_op_kind kind)
{
	u32 i, count = 0;

	for (i = 0; i < g->op_count; i++)
		count += g->op[i].kind == kind;
	return count;
}

/* ---- folding ---- */

static void test_fold(void **unused)
{
	struct npu_graph *g = begin(6, 6, 3), *prepared;
	u32 conv = add_conv(g, "conv", g->input[0], 5, 3, false, NPU_ACT_NONE);
	u32 mul = add_tensor(g, "mul", 4, 4, 5), add = add_tensor(g, "add", 4, 4, 5);
	u32 relu = add_tensor(g, "relu", 4, 4, 5), factor = add_tensor(g, "factor", 1, 1, 5);
	u32 offset = add_tensor(g, "offset", 1, 1, 5), i;
	const u32 outputs[] = { conv, mul, add, relu };

	fill(g, factor, 2);
	fill(g, offset, 2);
	add_op(g, NPU_OP_MUL, "mul", factor, conv, mul);
	add_op(g, NPU_OP_ADD, "add", mul, offset, add);
	add_op(g, NPU_OP_RELU, "relu", add, NPU_NONE, relu)->activation = NPU_ACT_RELU6;
	end(g, relu);
	prepared = prepared_of(g);
	assert_int_equal(prepared->op_count, 1);
	assert_int_equal(prepared->op[0].activation, NPU_ACT_RELU6);
	assert_true(signal_to_noise(g, prepared, NULL) > 120);
	/* The model itself stays as it is. */
	for (i = 0; i < 4; i++)
		assert_int_equal(g->op[i].output[0], outputs[i]);
	npu_graph_free(prepared);
	npu_graph_free(g);
}

/* What somebody else reads has to stay. */
static void test_fold_not(void **unused)
{
	struct npu_graph *g = begin(5, 5, 3), *prepared;
	u32 conv = add_conv(g, "conv", g->input[0], 4, 3, false, NPU_ACT_NONE);
	u32 relu = add_tensor(g, "relu", 3, 3, 4), sum = add_tensor(g, "sum", 3, 3, 4);

	add_op(g, NPU_OP_RELU, "relu", conv, NPU_NONE, relu)->activation = NPU_ACT_RELU;
	add_op(g, NPU_OP_ADD, "sum", conv, relu, sum);
	end(g, sum);
	prepared = prepared_of(g);
	assert_int_equal(prepared->op_count, 3);
	npu_graph_free(prepared);
	npu_graph_free(g);
}

/* ---- equalisation ---- */

/* Convolution, depthwise, convolution; the first one's channels differ by orders of magnitude. */
static struct npu_graph *depthwise_net(enum npu_activation activation)
{
	struct npu_graph *g = begin(8, 8, 3);
	u32 a = add_conv(g, "first", g->input[0], 8, 1, false, activation), b, c, i;
	float *data = (float *)(uintptr_t)npu_op_input(g, &g->op[0], 1)->data;
	float *bias = (float *)(uintptr_t)npu_op_input(g, &g->op[0], 2)->data;

	b = add_conv(g, "depthwise", a, 8, 3, true, NPU_ACT_RELU);
	c = add_conv(g, "last", b, 6, 1, false, NPU_ACT_NONE);
	for (i = 0; i < 24; i++)
		data[i] *= ldexpf(1, -(int)(i / 3));
	for (i = 0; i < 8; i++)
		bias[i] = 0.1f * ldexpf(1, -(int)i);
	/* As in networks that were trained: what follows makes up for it. */
	data = (float *)(uintptr_t)npu_op_input(g, &g->op[1], 1)->data;
	for (i = 0; i < 72; i++)
		data[i] *= ldexpf(1, (int)(i / 9));
	end(g, c);
	return g;
}

static void test_equalise(void **unused)
{
	struct npu_graph *g = depthwise_net(NPU_ACT_RELU), *plain = prepared_of(g),
			 *equal = prepared_of(g);
	struct npu_calibration *a = calibrate(plain, NPU_EQUALISE_NONE);
	struct npu_calibration *b = calibrate(equal, NPU_EQUALISE_DEPTHWISE);
	struct npu_graph *qa, *qb, *again = prepared_of(g);
	struct npu_diag diag = { "" };
	float *x = run(g, 0), *y = run(equal, 0);
	u32 i;

	assert_memory_equal(x, y, g->tensor[g->output[0]].bytes);
	assert_null(npu_calibration_find(a, "first")->equalise);
	assert_int_equal(npu_calibration_find(b, "first")->equalise_count, 8);
	assert_int_equal(npu_calibration_find(b, "depthwise")->equalise_count, 8);
	for (i = 0; i < 8; i++)
		assert_true(npu_calibration_find(b, "first")->equalise[i] <= 1);
	qa = quantise(plain, a);
	qb = quantise(equal, b);
	assert_true(signal_to_noise(g, qb, NULL) > signal_to_noise(g, qa, NULL) + 6);
	/* The kept calibration does the same to another copy. */
	assert_int_equal(npu_calibration_equalise(again, b, &diag), 0);
	for (i = 0; i < 3; i++)
		assert_memory_equal(npu_op_input(again, &again->op[i], 1)->data,
				    npu_op_input(equal, &equal->op[i], 1)->data,
				    npu_op_input(equal, &equal->op[i], 1)->bytes);
	free(x);
	free(y);
	npu_graph_free(qa);
	npu_graph_free(qb);
	npu_graph_free(again);
	npu_graph_free(plain);
	npu_graph_free(equal);
	npu_graph_free(g);
	npu_calibration_free(a);
	npu_calibration_free(b);
}

/* A ReLU6 in front of a depthwise convolution: the same on what was seen, and less noise. */
static void test_equalise_clamped(void **unused)
{
	struct npu_graph *g = depthwise_net(NPU_ACT_RELU6), *plain = prepared_of(g);
	struct npu_graph *equal = prepared_of(g), *qa, *qb;
	struct npu_calibration *a = calibrate(plain, NPU_EQUALISE_NONE);
	struct npu_calibration *b = calibrate(equal, NPU_EQUALISE_DEPTHWISE);
	const struct npu_range *range = npu_calibration_find(b, "first");
	u32 i, changed = 0;

	assert_int_equal(range->equalise_count, 8);
	for (i = 0; i < 8; i++) {
		assert_true(range->equalise[i] <= 1);
		changed += range->equalise[i] < 1;
	}
	assert_true(changed >= 4);
	/* The samples of the calibration are not clipped where they were not before. */
	for (i = 0; i < 4; i++) {
		float *x = run(g, i), *y = run(equal, i);

		assert_memory_equal(x, y, g->tensor[g->output[0]].bytes);
		free(x);
		free(y);
	}
	qa = quantise(plain, a);
	qb = quantise(equal, b);
	assert_true(signal_to_noise(g, qb, NULL) > signal_to_noise(g, qa, NULL) + 6);
	npu_graph_free(qa);
	npu_graph_free(qb);
	npu_graph_free(plain);
	npu_graph_free(equal);
	npu_graph_free(g);
	npu_calibration_free(a);
	npu_calibration_free(b);
}

/* Between two ordinary convolutions only on demand, through pooling, and not through a ReLU6. */
static void test_equalise_pairs(void **unused)
{
	struct npu_graph *g = begin(9, 9, 3);
	u32 a = add_conv(g, "a", g->input[0], 4, 1, false, NPU_ACT_RELU);
	u32 pool = add_tensor(g, "pool", 4, 4, 4), b, c, count;
	struct npu_op *op = add_op(g, NPU_OP_MAX_POOL, "pool", a, NPU_NONE, pool);
	struct npu_pair *pairs;

	op->window = (struct npu_window){ 2, 2, 2, 2, 1, 1, 0, 0, 0, 0 };
	b = add_conv(g, "b", pool, 5, 3, false, NPU_ACT_RELU6);
	c = add_conv(g, "c", b, 6, 1, false, NPU_ACT_NONE);
	end(g, c);
	assert_int_equal(npu_equalise_find(g, NPU_EQUALISE_DEPTHWISE, &pairs, &count), 0);
	assert_int_equal(count, 0);
	free(pairs);
	assert_int_equal(npu_equalise_find(g, NPU_EQUALISE_ALL, &pairs, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(pairs[0].tensor, a);
	free(pairs);
	npu_graph_free(g);
}

/* ---- integer graphs ---- */

static void test_bias_correction(void **unused)
{
	struct npu_graph *g = begin(6, 6, 4), *prepared, *with, *without;
	u32 a = add_conv(g, "a", g->input[0], 16, 1, false, NPU_ACT_RELU), b;
	struct npu_calibration *calibration;
	double shift, plain;
	float *weights;
	u32 i;

	b = add_conv(g, "b", a, 8, 1, false, NPU_ACT_NONE);
	/* One large weight in each kernel makes the others coarse; all are off in the same direction. */
	weights = (float *)(uintptr_t)npu_op_input(g, &g->op[1], 1)->data;
	for (i = 0; i < 128; i++)
		weights[i] = i % 16 ? 0.4f / 127 : 1;
	end(g, b);
	prepared = prepared_of(g);
	calibration = calibrate(prepared, NPU_EQUALISE_NONE);
	with = quantise(prepared, calibration);
	for (i = 0; i < calibration->count; i++)
		calibration->range[i].mean = NULL;
	without = quantise(prepared, calibration);
	signal_to_noise(prepared, with, &shift);
	signal_to_noise(prepared, without, &plain);
	assert_true(shift < plain / 4);
	npu_graph_free(with);
	npu_graph_free(without);
	npu_graph_free(prepared);
	npu_graph_free(g);
	npu_calibration_free(calibration);
}

/* A graph of many operators; all of them stay within the noise of eight bits. */
static struct npu_graph *branching_net(void)
{
	struct npu_graph *g = begin(8, 8, 4);
	u32 a = add_conv(g, "a", g->input[0], 8, 1, false, NPU_ACT_RELU);
	u32 b = add_conv(g, "b", g->input[0], 8, 1, false, NPU_ACT_NONE);
	u32 sigma = add_tensor(g, "sigma", 8, 8, 8), product = add_tensor(g, "product", 8, 8, 8);
	u32 least = add_tensor(g, "least", 8, 8, 8), joined = add_tensor(g, "joined", 8, 8, 24);
	u32 ratio = add_tensor(g, "ratio", 8, 8, 24), divisor = add_tensor(g, "divisor", 1, 1, 1);
	u32 padded = add_tensor(g, "padded", 10, 10, 24),
	    pooled = add_tensor(g, "pooled", 5, 5, 24);
	struct npu_op *op;
	u32 last;

	add_op(g, NPU_OP_LOGISTIC, "sigma", b, NPU_NONE, sigma);
	add_op(g, NPU_OP_MUL, "product", b, sigma, product);
	add_op(g, NPU_OP_MINIMUM, "least", a, b, least);
	op = npu_graph_add_op(g, NPU_OP_CONCAT, "joined", 3, 1);
	assert_non_null(op);
	op->input[0] = product;
	op->input[1] = sigma;
	op->input[2] = least;
	op->output[0] = joined;
	op->axis = 3;
	fill(g, divisor, 1);
	*(float *)(uintptr_t)g->tensor[divisor].data = 3;
	add_op(g, NPU_OP_DIV, "ratio", joined, divisor, ratio);
	op = add_op(g, NPU_OP_PAD, "padded", ratio, NPU_NONE, padded);
	op->begin[1] = op->begin[2] = op->end[1] = op->end[2] = 1;
	op = add_op(g, NPU_OP_AVERAGE_POOL, "pooled", padded, NPU_NONE, pooled);
	op->window = (struct npu_window){ 2, 2, 2, 2, 1, 1, 0, 0, 0, 0 };
	last = add_conv(g, "last", pooled, 5, 2, false, NPU_ACT_NONE);
	end(g, last);
	return g;
}

static void test_operators(void **unused)
{
	struct npu_graph *g = branching_net(), *prepared = prepared_of(g), *quantised;
	struct npu_calibration *calibration = calibrate(prepared, NPU_EQUALISE_ALL);
	const struct npu_op *op;
	u32 i;

	quantised = quantise(prepared, calibration);
	assert_true(signal_to_noise(g, quantised, NULL) > 27);
	/* The application's ends are what they were. */
	assert_string_equal(quantised->tensor[quantised->input[0]].name, "in");
	assert_int_equal(quantised->tensor[quantised->input[0]].dtype, NPU_F32);
	assert_string_equal(quantised->tensor[quantised->output[0]].name, "last");
	/* One conversion of the input for both of its readers. */
	op = find_op(quantised, NPU_OP_QUANTIZE);
	assert_int_equal(op->input[0], quantised->input[0]);
	/* Into integers twice (input, quotient), out of them twice (dividend, output); all else once. */
	assert_int_equal(count_ops(quantised, NPU_OP_DEQUANTIZE), 2);
	op = find_op(quantised, NPU_OP_CONCAT);
	for (i = 0; i < 3; i++)
		assert_true(npu_op_input(quantised, op, i)->quant.scale[0] ==
			    npu_op_output(quantised, op)->quant.scale[0]);
	op = find_op(quantised, NPU_OP_CONV);
	assert_int_equal(npu_op_input(quantised, op, 1)->quant.count, 8);
	npu_graph_free(quantised);
	npu_graph_free(prepared);
	npu_graph_free(g);
	npu_calibration_free(calibration);
}

static u32 add_number(struct npu_graph *g, float value)
{
	u32 tensor = npu_graph_add_tensor(g, "number", NPU_F32, 0, NULL);
	float *data = npu_arena_alloc(&g->arena, sizeof(*data));

	assert_non_null(data);
	*data = value;
	g->tensor[tensor].data = data;
	return tensor;
}

static u32 add_step(struct npu_graph *g, enum npu_op_kind kind, u32 a, u32 b)
{
	u32 out = add_tensor(g, "step", 4, 4, 4);

	add_op(g, kind, "step", a, b, out);
	return out;
}

/* The operators that exporters write for a function of one element; the last tensor. */
static u32 add_silu(struct npu_graph *g, u32 x)
{
	return add_step(g, NPU_OP_MUL, x, add_step(g, NPU_OP_LOGISTIC, x, NPU_NONE));
}

static u32 add_hard_swish(struct npu_graph *g, u32 x)
{
	u32 sum = add_step(g, NPU_OP_ADD, x, add_number(g, 3)), clamped;

	clamped = add_step(g, NPU_OP_RELU, sum, NPU_NONE);
	g->op[g->op_count - 1].activation = NPU_ACT_RELU6;
	return add_step(g, NPU_OP_DIV, add_step(g, NPU_OP_MUL, x, clamped), add_number(g, 6));
}

static u32 add_gelu(struct npu_graph *g, u32 x)
{
	u32 scaled = add_step(g, NPU_OP_DIV, x, add_number(g, 1.41421354f)), erf, half;

	erf = add_step(g, NPU_OP_FUNCTION, scaled, NPU_NONE);
	g->op[g->op_count - 1].function = NPU_FN_ERF;
	half = add_step(g, NPU_OP_MUL, x, add_number(g, 0.5f));
	return add_step(g, NPU_OP_MUL, half, add_step(g, NPU_OP_ADD, erf, add_number(g, 1)));
}

static u32 add_mish(struct npu_graph *g, u32 x)
{
	u32 soft = add_step(g, NPU_OP_FUNCTION, x, NPU_NONE);

	g->op[g->op_count - 1].function = NPU_FN_SOFTPLUS;
	return add_step(g, NPU_OP_MUL, add_step(g, NPU_OP_TANH, soft, NPU_NONE), x);
}

static void test_recognised(void **unused)
{
	static const struct {
		u32 (*add)(struct npu_graph *g, u32 x);
		enum npu_op_kind kind;
		enum npu_function function;
	} cases[] = {
		{ add_silu, NPU_OP_FUNCTION, NPU_FN_SILU },
		{ add_hard_swish, NPU_OP_HARD_SWISH, 0 },
		{ add_gelu, NPU_OP_FUNCTION, NPU_FN_GELU },
		{ add_mish, NPU_OP_FUNCTION, NPU_FN_MISH },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct npu_graph *g = begin(4, 4, 3), *prepared;
		u32 conv = add_conv(g, "conv", g->input[0], 4, 1, false, NPU_ACT_NONE);

		end(g, cases[i].add(g, conv));
		prepared = prepared_of(g);
		assert_int_equal(prepared->op_count, 2);
		assert_int_equal(prepared->op[1].kind, cases[i].kind);
		if (cases[i].kind == NPU_OP_FUNCTION)
			assert_int_equal(prepared->op[1].function, cases[i].function);
		assert_int_equal(prepared->op[1].input[0], conv);
		npu_graph_free(prepared);
		npu_graph_free(g);
	}
}

/* Two tensors, a step that somebody else reads, a function that there is not: they stay. */
static void test_not_recognised(void **unused)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		struct npu_graph *g = begin(4, 4, 4), *prepared;
		u32 conv = add_conv(g, "conv", g->input[0], 4, 1, false, NPU_ACT_NONE);
		u32 gate = add_step(g, NPU_OP_LOGISTIC, i == 0 ? g->input[0] : conv, NPU_NONE);
		u32 last = add_step(g, NPU_OP_MUL, conv, gate);

		if (i == 1)
			last = add_step(g, NPU_OP_ADD, last, gate);
		if (i == 2)
			last = add_step(g, NPU_OP_ADD, last, add_number(g, 0.01f));
		end(g, last);
		prepared = prepared_of(g);
		assert_int_equal(count_ops(prepared, NPU_OP_FUNCTION), i == 2);
		assert_int_equal(count_ops(prepared, NPU_OP_MUL), i != 2);
		npu_graph_free(prepared);
		npu_graph_free(g);
	}
}

/* Probabilities far below 1/256 get to the application; where a convolution reads them they are INT8. */
static void test_tail(void **unused)
{
	struct npu_graph *g = begin(4, 4, 3), *prepared, *quantised;
	u32 conv = add_conv(g, "conv", g->input[0], 4, 1, false, NPU_ACT_NONE), k;
	u32 sigma = add_tensor(g, "sigma", 4, 4, 4), flat = add_tensor(g, "flat", 1, 1, 64);
	u32 inner = add_tensor(g, "inner", 4, 4, 4), last;
	float *bias = (float *)(uintptr_t)npu_op_input(g, &g->op[0], 2)->data;
	struct npu_calibration *calibration;

	for (k = 0; k < 4; k++)
		bias[k] = -9;
	add_op(g, NPU_OP_LOGISTIC, "sigma", conv, NPU_NONE, sigma);
	add_op(g, NPU_OP_RESHAPE, "flat", sigma, NPU_NONE, flat);
	add_op(g, NPU_OP_TANH, "inner", conv, NPU_NONE, inner);
	last = add_conv(g, "last", inner, 2, 1, false, NPU_ACT_NONE);
	g->output = npu_arena_array(&g->arena, 2, sizeof(*g->output));
	assert_non_null(g->output);
	end(g, flat);
	g->output[g->output_count++] = last;
	prepared = prepared_of(g);
	calibration = calibrate(prepared, NPU_EQUALISE_NONE);
	quantised = quantise(prepared, calibration);
	assert_true(signal_to_noise(g, quantised, NULL) > 20);
	assert_int_equal(quantised->tensor[sigma].dtype, NPU_F32);
	assert_int_equal(quantised->tensor[flat].dtype, NPU_F32);
	assert_int_equal(quantised->tensor[inner].dtype, NPU_I8);
	npu_graph_free(quantised);
	npu_graph_free(prepared);
	npu_graph_free(g);
	npu_calibration_free(calibration);
}

/* What is put around probabilities is none: it has a mapping of its own. */
static void test_padded_beyond(void **unused)
{
	struct npu_graph *g = begin(4, 4, 3), *prepared, *quantised;
	u32 sigma = add_tensor(g, "sigma", 4, 4, 3), padded = add_tensor(g, "padded", 6, 6, 3);
	struct npu_calibration *calibration;
	struct npu_op *op;

	add_op(g, NPU_OP_LOGISTIC, "sigma", g->input[0], NPU_NONE, sigma);
	op = add_op(g, NPU_OP_PAD, "padded", sigma, add_number(g, -1.5f), padded);
	op->begin[1] = op->begin[2] = op->end[1] = op->end[2] = 1;
	end(g, padded);
	/* There is no layer with weights, and yet something to calibrate. */
	assert_true(npu_graph_is_float(g));
	prepared = prepared_of(g);
	calibration = calibrate(prepared, NPU_EQUALISE_NONE);
	quantised = quantise(prepared, calibration);
	assert_non_null(find_op(quantised, NPU_OP_PAD));
	assert_true(signal_to_noise(g, quantised, NULL) > 40);
	npu_graph_free(quantised);
	npu_graph_free(prepared);
	npu_graph_free(g);
	npu_calibration_free(calibration);
}

static void test_no_range(void **unused)
{
	struct npu_graph *g = depthwise_net(NPU_ACT_RELU), *prepared = prepared_of(g), *quantised;
	struct npu_calibration *calibration = calibrate(prepared, NPU_EQUALISE_NONE);
	struct npu_diag diag = { "" };
	u32 i;

	for (i = 0; i < calibration->count; i++)
		if (!strcmp(calibration->range[i].name, "depthwise"))
			calibration->range[i].name = "something else";
	assert_int_equal(npu_quantise(prepared, calibration, &quantised, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "depthwise"));
	npu_graph_free(prepared);
	npu_graph_free(g);
	npu_calibration_free(calibration);
}

/* ---- files ---- */

static bool same_data(const struct npu_graph *a, const struct npu_graph *b)
{
	u32 i;

	if (a->tensor_count != b->tensor_count || a->op_count != b->op_count)
		return false;
	for (i = 0; i < a->tensor_count; i++) {
		const struct npu_tensor *x = &a->tensor[i], *y = &b->tensor[i];

		if (x->dtype != y->dtype || x->bytes != y->bytes || !x->data != !y->data ||
		    x->quant.count != y->quant.count ||
		    (x->data && memcmp(x->data, y->data, x->bytes)) ||
		    (x->quant.count &&
		     (memcmp(x->quant.scale, y->quant.scale, x->quant.count * sizeof(float)) ||
		      memcmp(x->quant.zero, y->quant.zero, x->quant.count * sizeof(s32)))))
			return false;
	}
	return true;
}

static struct npu_calibration *reread(const struct npu_calibration *calibration)
{
	char path[] = "/tmp/test_quantise.XXXXXX", text[65536];
	struct npu_calibration *result;
	struct npu_diag diag = { "" };
	int fd = mkstemp(path);
	ssize_t bytes;

	assert_true(fd >= 0);
	if (npu_calibration_write(calibration, path, &diag))
		fail_msg("%s", diag.text);
	close(fd);
	fd = open(path, O_RDONLY);
	bytes = read(fd, text, sizeof(text));
	assert_true(bytes > 0 && bytes < (ssize_t)sizeof(text));
	close(fd);
	unlink(path);
	if (npu_calibration_read(text, (size_t)bytes, path, &result, &diag))
		fail_msg("%s", diag.text);
	return result;
}

/* The same from samples, from the same samples again, and from the file. */
static void test_file(void **unused)
{
	struct npu_graph *g = depthwise_net(NPU_ACT_RELU), *p[3], *q[3];
	struct npu_calibration *c[3];
	struct npu_diag diag = { "" };
	u32 i;

	for (i = 0; i < 3; i++)
		p[i] = prepared_of(g);
	c[0] = calibrate(p[0], NPU_EQUALISE_DEPTHWISE);
	c[1] = calibrate(p[1], NPU_EQUALISE_DEPTHWISE);
	c[2] = reread(c[0]);
	assert_int_equal(npu_calibration_equalise(p[2], c[2], &diag), 0);
	for (i = 0; i < 3; i++)
		q[i] = quantise(p[i], c[i]);
	assert_true(same_data(q[0], q[1]));
	assert_true(same_data(q[0], q[2]));
	for (i = 0; i < 3; i++) {
		npu_graph_free(p[i]);
		npu_graph_free(q[i]);
		npu_calibration_free(c[i]);
	}
	npu_graph_free(g);
}

static void test_nvdla_table(void **unused)
{
	static const char text[] =
		"{ \"in\": {\"scale\": 0.0078125, \"min\": 0, \"max\": 0, \"offset\": 0},\n"
		"  \"first\": {\"scale\": 0, \"min\": -1.5, \"max\": 4, \"offset\": 0},\n"
		"  \"depthwise\": {\"scale\": 0.25, \"min\": 0, \"max\": 0, \"offset\": 0},\n"
		"  \"last\": {\"scale\": 0.5, \"min\": 0, \"max\": 0, \"offset\": 0} }";
	struct npu_graph *g = depthwise_net(NPU_ACT_RELU), *prepared = prepared_of(g), *quantised;
	struct npu_calibration *calibration;
	struct npu_diag diag = { "" };
	const struct npu_op *op;

	assert_int_equal(npu_calibration_read(text, strlen(text), "t", &calibration, &diag), 0);
	quantised = quantise(prepared, calibration);
	op = find_op(quantised, NPU_OP_CONV);
	assert_true(npu_op_input(quantised, op, 0)->quant.scale[0] == 0.0078125f);
	assert_int_equal(npu_op_input(quantised, op, 0)->quant.zero[0], 0);
	assert_float_equal(npu_op_output(quantised, op)->quant.scale[0], 5.5f / 255, 1e-7);
	assert_true(npu_op_output(quantised, op + 1)->quant.scale[0] == 0.25f);
	npu_graph_free(quantised);
	npu_graph_free(prepared);
	npu_graph_free(g);
	npu_calibration_free(calibration);
}

static void test_bad_files(void **unused)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"{\"format\": \"other\"}",
		"{\"format\": 3, \"tensors\": {}}",
		"{\"format\": \"npu-calibration\", \"tensors\": []}",
		"{\"a\": 1}",
		"{\"a\": {}}",
		"{\"a\": {\"min\": 1}}",
		"{\"a\": {\"min\": 2, \"max\": 1}}",
		"{\"a\": {\"min\": \"x\", \"max\": 1}}",
		"{\"a\": {\"scale\": -1}}",
		"{\"a\": {\"scale\": 1e99}}",
		"{\"a\": {\"scale\": 1, \"zero\": 200}}",
		"{\"a\": {\"scale\": 1, \"zero\": -6e30}}",
		"{\"a\": {\"scale\": 1, \"zero\": 0.5}}",
		"{\"a\": {\"min\": 0, \"max\": 1, \"mean\": []}}",
		"{\"a\": {\"min\": 0, \"max\": 1, \"equalise\": [0]}}",
		"{\"a\": {\"min\": 0, \"max\": 1, \"equalise\": 4}}",
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		struct npu_calibration *calibration;
		struct npu_diag diag = { "" };
		int error = npu_calibration_read(texts[i], strlen(texts[i]), "file", &calibration,
						 &diag);

		if (error != -EINVAL || strncmp(diag.text, "file", 4))
			fail_msg("%s: %d, %s", texts[i], error, diag.text);
	}
}

/* ---- a real network ---- */

static void test_resnet8(void **unused)
{
	static const char *const methods[] = { "minmax", "percentile:99.9", "percentile", "kl",
					       "mse" };
	char model[512], in[600], out[600];
	float input[3072], golden[10];
	u32 i, j;

	if (!shared_there()) {
		assert_null(getenv("CI"));
		return;
	}
	shared_model_path("mlperf_ic_resnet8_f32", model);
	snprintf(in, sizeof(in), "%s/models/golden/tflite/mlperf_ic_resnet8_f32/in_0.bin",
		 shared_root());
	snprintf(out, sizeof(out), "%s/models/golden/tflite/mlperf_ic_resnet8_f32/out_0.bin",
		 shared_root());
	assert_true(shared_read(in, input, sizeof(input)));
	assert_true(shared_read(out, golden, sizeof(golden)));
	for (i = 0; i < ARRAY_SIZE(methods); i++) {
		const struct tool_calibration asked = { .source = in, .method = methods[i] };
		double product = 0, length[2] = { 0 };
		u32 most[2] = { 0 };
		struct npu_evaluation *evaluation;
		struct npu_graph *quantised;
		struct npu_diag diag = { "" };
		const float *result;

		if (tool_calibrate(model, NULL, &asked, &quantised, &diag))
			fail_msg("%s", diag.text);
		evaluation = npu_evaluation_new(quantised);
		assert_non_null(evaluation);
		memcpy(evaluation->value[quantised->input[0]], input, sizeof(input));
		assert_int_equal(npu_evaluate(evaluation, &diag), 0);
		result = evaluation->value[quantised->output[0]];
		for (j = 0; j < 10; j++) {
			product += (double)result[j] * (double)golden[j];
			length[0] += (double)result[j] * (double)result[j];
			length[1] += (double)golden[j] * (double)golden[j];
			most[0] = result[j] > result[most[0]] ? j : most[0];
			most[1] = golden[j] > golden[most[1]] ? j : most[1];
		}
		assert_int_equal(most[0], most[1]);
		assert_true(product / sqrt(length[0] * length[1]) >= 0.99);
		npu_evaluation_free(evaluation);
		npu_graph_free(quantised);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_quant),
		cmocka_unit_test(test_minmax),
		cmocka_unit_test(test_percentile),
		cmocka_unit_test(test_kl),
		cmocka_unit_test(test_mse),
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_fold_not),
		cmocka_unit_test(test_equalise),
		cmocka_unit_test(test_equalise_clamped),
		cmocka_unit_test(test_equalise_pairs),
		cmocka_unit_test(test_bias_correction),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_recognised),
		cmocka_unit_test(test_not_recognised),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_padded_beyond),
		cmocka_unit_test(test_no_range),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_nvdla_table),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_resnet8),
	};

	return cmocka_run_group_tests_name("quantisation", tests, NULL, NULL);
}
