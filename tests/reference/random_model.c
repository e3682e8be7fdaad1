// SPDX-License-Identifier: MIT
/*
 * A network grows operator by operator from its inputs.  Most have the scales that
 * training gives; some ("extreme") have scales, zero points and biases from all over the range.
 */
#include "random_model.h"

#include "arena.h"
#include "tflite_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_TENSORS 128
#define MAX_OPS 24
#define MAX_INPUTS 4
#define MAX_OUTPUTS 4
#define MAX_ELEMENTS 120000
/* Bounds the reference interpreter's time for one network. */
#define MAX_MACS 12000000

/* enum BuiltinOperator and enum BuiltinOptions of the schema. */
enum {
	OP_ADD = 0,
	OP_AVERAGE_POOL = 1,
	OP_CONCAT = 2,
	OP_CONV = 3,
	OP_DEPTHWISE = 4,
	OP_DEPTH_TO_SPACE = 5,
	OP_FULLY_CONNECTED = 9,
	OP_LRN = 13,
	OP_LOGISTIC = 14,
	OP_MAX_POOL = 17,
	OP_MUL = 18,
	OP_RELU = 19,
	OP_RELU_N1_TO_1 = 20,
	OP_RELU6 = 21,
	OP_RESHAPE = 22,
	OP_RESIZE_BILINEAR = 23,
	OP_SOFTMAX = 25,
	OP_SPACE_TO_DEPTH = 26,
	OP_TANH = 28,
	OP_PAD = 34,
	OP_BATCH_TO_SPACE = 37,
	OP_SPACE_TO_BATCH = 38,
	OP_TRANSPOSE = 39,
	OP_MEAN = 40,
	OP_SUB = 41,
	OP_EXP = 47,
	OP_MAXIMUM = 55,
	OP_MINIMUM = 57,
	OP_PADV2 = 60,
	OP_SLICE = 65,
	OP_TRANSPOSE_CONV = 67,
	OP_TILE = 69,
	OP_SUM = 74,
	OP_REDUCE_MIN = 89,
	OP_RESIZE_NEAREST = 97,
	OP_LEAKY_RELU = 98,
	OP_MIRROR_PAD = 100,
	OP_ABS = 101,
	OP_ELU = 111,
	OP_QUANTIZE = 114,
	OP_HARD_SWISH = 117,
	OP_BATCH_MATMUL = 126,
	OP_GELU = 150,
};

enum {
	OPTIONS_CONV = 1,
	OPTIONS_DEPTHWISE = 2,
	OPTIONS_POOL = 5,
	OPTIONS_FULLY_CONNECTED = 8,
	OPTIONS_SOFTMAX = 9,
	OPTIONS_CONCAT = 10,
	OPTIONS_ADD = 11,
	OPTIONS_LRN = 13,
	OPTIONS_RESIZE_BILINEAR = 15,
	OPTIONS_SPACE_TO_DEPTH = 19,
	OPTIONS_MUL = 21,
	OPTIONS_REDUCER = 27,
	OPTIONS_SUB = 28,
	OPTIONS_TRANSPOSE_CONV = 49,
	OPTIONS_RESIZE_NEAREST = 74,
	OPTIONS_LEAKY_RELU = 75,
	OPTIONS_MIRROR_PAD = 77,
	OPTIONS_DEPTH_TO_SPACE = 94,
	OPTIONS_BATCH_MATMUL = 101,
};

enum { ACT_NONE, ACT_RELU, ACT_RELU_N1_TO_1, ACT_RELU6 };

/**
 * struct maker - a network that grows
 * @arena: names, scales and constants
 * @consumers: of each tensor
 * @is_activation: tensors that operators may read; the others are constants
 * @extreme: no regard to what training gives
 */
struct maker {
	struct random random;
	struct npu_arena arena;
	struct tw_tensor tensor[MAX_TENSORS];
	u32 consumers[MAX_TENSORS];
	bool is_activation[MAX_TENSORS];
	u32 tensors;
	struct tw_op op[MAX_OPS];
	u32 ops;
	s32 input[MAX_INPUTS];
	u32 inputs;
	u64 macs;
	bool extreme;
	bool failed;
	char *what;
	size_t what_room;
};

/* ---- chance ---- */

static u32 pick(struct maker *m, u32 low, u32 high)
{
	return random_pick(&m->random, low, high);
}

static bool chance(struct maker *m, u32 percent)
{
	return random_chance(&m->random, percent);
}

/* Between the powers of ten. */
static double power(struct maker *m, double low, double high)
{
	return pow(10, low + (high - low) * random_unit(&m->random));
}

static float pick_scale(struct maker *m)
{
	return (float)(m->extreme ? power(m, -6, 3) : power(m, -2.5, -0.5));
}

static s32 pick_zero(struct maker *m, s8 type)
{
	s32 zero = random_signed(&m->random, -40, 40);

	if (chance(m, 40))
		zero = -128;
	else if (m->extreme || chance(m, 10))
		zero = random_signed(&m->random, -128, 127);
	return type == TW_U8 ? zero + 128 : zero;
}

static u32 pick_activation(struct maker *m)
{
	static const u32 activations[] = { ACT_NONE, ACT_NONE,	ACT_RELU,
					   ACT_RELU, ACT_RELU6, ACT_RELU_N1_TO_1 };

	return activations[pick(m, 0, chance(m, 90) ? 4 : 5)];
}

/* ---- tensors ---- */

__attribute__((format(printf, 2, 3))) static void say(struct maker *m, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(m->what, m->what_room, format, args);
	va_end(args);
	if (length > 0 && (size_t)length < m->what_room) {
		m->what += length;
		m->what_room -= (size_t)length;
	}
}

static void *room(struct maker *m, size_t bytes)
{
	void *data = npu_arena_alloc(&m->arena, bytes ? bytes : 1);

	if (!data)
		m->failed = true;
	return data;
}

/* The next tensor; -1 when there are too many. */
static s32 add_tensor(struct maker *m, const char *name, s8 type, u32 rank, const s32 *dim)
{
	struct tw_tensor *t = &m->tensor[m->tensors];

	if (m->tensors == MAX_TENSORS)
		return -1;
	*t = (struct tw_tensor){ .type = type, .rank = rank };
	t->name = npu_arena_printf(&m->arena, "%s%u", name, m->tensors);
	if (!t->name) {
		m->failed = true;
		t->name = "";
	}
	memcpy(t->dim, dim, rank * sizeof(*dim));
	return (s32)m->tensors++;
}

static void set_quant(struct maker *m, s32 tensor, float scale, s32 zero)
{
	float *scales = room(m, sizeof(*scales));
	s64 *zeros = room(m, sizeof(*zeros));

	if (tensor < 0 || m->failed)
		return;
	*scales = scale;
	*zeros = zero;
	m->tensor[tensor].scales = 1;
	m->tensor[tensor].scale = scales;
	m->tensor[tensor].zero = zeros;
}

static s32 add_activation(struct maker *m, const char *name, s8 type, u32 rank, const s32 *dim,
			  float scale, s32 zero)
{
	s32 tensor = add_tensor(m, name, type, rank, dim);

	set_quant(m, tensor, scale, zero);
	if (tensor >= 0)
		m->is_activation[tensor] = true;
	return tensor;
}

/* As @like, another shape. */
static s32 add_same_quant(struct maker *m, const char *name, s32 like, u32 rank, const s32 *dim)
{
	const struct tw_tensor *t = &m->tensor[like];

	if (m->failed)
		return -1;
	return add_activation(m, name, t->type, rank, dim, t->scale[0], (s32)t->zero[0]);
}

static s32 add_constant(struct maker *m, const char *name, s8 type, u32 rank, const s32 *dim,
			const void *data, u32 bytes)
{
	s32 tensor = add_tensor(m, name, type, rank, dim);
	void *copy = room(m, bytes);

	if (tensor < 0 || m->failed)
		return -1;
	if (data)
		memcpy(copy, data, bytes);
	m->tensor[tensor].data = copy;
	m->tensor[tensor].bytes = bytes;
	return tensor;
}

static s32 add_list(struct maker *m, const s32 *list, u32 count)
{
	return add_constant(m, "list", TW_I32, 1, &(s32){ (s32)count }, list, 4 * count);
}

static u32 elements_of(const struct tw_tensor *t)
{
	u32 i, elements = 1;

	for (i = 0; i < t->rank; i++)
		elements *= (u32)t->dim[i];
	return elements;
}

static const s32 no_dim[4] = { 1, 1, 1, 1 };

static void shape_of(const struct tw_tensor *t, s32 dim[4])
{
	memcpy(dim, no_dim, sizeof(no_dim));
	memcpy(dim + 4 - t->rank, t->dim, t->rank * sizeof(*dim));
}

/* ---- operators ---- */

static struct tw_op *add_op(struct maker *m, u8 code, s32 in, s32 out)
{
	struct tw_op *op = &m->op[m->ops++];

	*op = (struct tw_op){ .code = code, .inputs = 1, .outputs = 1 };
	op->input[0] = in;
	op->output[0] = out;
	m->consumers[in]++;
	return op;
}

static void add_input(struct maker *m, struct tw_op *op, s32 tensor)
{
	op->input[op->inputs++] = tensor;
	if (tensor >= 0)
		m->consumers[tensor]++;
}

static void set_option(struct tw_op *op, u8 type, u32 field, u32 value)
{
	op->options_type = type;
	if (value)
		op->option[op->options++] = (struct tw_option){ field, value };
}

static s32 new_input(struct maker *m, s8 type, const s32 dim[4], float scale, s32 zero)
{
	s32 tensor;

	if (m->inputs == MAX_INPUTS)
		return -1;
	tensor = add_activation(m, "in", type, 4, dim, scale, zero);
	if (tensor >= 0)
		m->input[m->inputs++] = tensor;
	return tensor;
}

/**
 * struct window - of convolutions and pooling
 * @same: SAME padding; else VALID
 */
struct window {
	u32 r, s, stride_y, stride_x, dilation_y, dilation_x;
	bool same;
};

/* 0 where the window does not fit. */
static u32 window_outputs(u32 in, u32 kernel, u32 dilation, u32 stride, bool same)
{
	u32 extent = (kernel - 1) * dilation + 1;

	if (same)
		return (in + stride - 1) / stride;
	return in < extent ? 0 : (in - extent) / stride + 1;
}

static bool window_output(const struct window *w, const s32 in[4], s32 out[4])
{
	out[0] = 1;
	out[1] = (s32)window_outputs((u32)in[1], w->r, w->dilation_y, w->stride_y, w->same);
	out[2] = (s32)window_outputs((u32)in[2], w->s, w->dilation_x, w->stride_x, w->same);
	return out[1] > 0 && out[2] > 0;
}

static u32 pick_kernel(struct maker *m, u32 most)
{
	static const u32 usual[] = { 1, 1, 2, 3, 3, 3, 5 };

	return chance(m, 75) ? usual[pick(m, 0, ARRAY_SIZE(usual) - 1)] : pick(m, 1, most);
}

static struct window pick_window(struct maker *m, u32 most)
{
	struct window w = { 1, 1, 1, 1, 1, 1, chance(m, 50) };

	w.r = pick_kernel(m, most);
	w.s = chance(m, 70) ? w.r : pick_kernel(m, most);
	w.stride_y = chance(m, 55) ? 1 : chance(m, 70) ? 2 : pick(m, 1, 4);
	w.stride_x = chance(m, 80) ? w.stride_y : pick(m, 1, 4);
	return w;
}

static struct window pick_conv_window(struct maker *m)
{
	struct window w = pick_window(m, 11);

	if (chance(m, 15)) {
		w.dilation_y = pick(m, 1, 3);
		w.dilation_x = chance(m, 70) ? w.dilation_y : pick(m, 1, 3);
	}
	return w;
}

static u32 pick_channels(struct maker *m)
{
	static const u32 few[] = { 1, 1, 2, 3, 3, 4 };

	switch (pick(m, 0, 4)) {
	case 0:
		return few[pick(m, 0, ARRAY_SIZE(few) - 1)];
	case 1:
		return pick(m, 1, 16);
	case 2:
		return 8 * pick(m, 1, 8);
	case 3:
		return pick(m, 1, 64);
	default:
		return pick(m, 1, 200);
	}
}

/* ---- weights ---- */

/**
 * struct weights - a kernel tensor in the making
 * @axis: dimension of the kernels
 * @count: of kernels
 * @taps: products in one sum
 * @spread: of the values, standard deviation
 * @scale: typical
 */
struct weights {
	s32 tensor;
	u32 axis, count, taps;
	double spread, scale;
};

static void set_kernel_scales(struct maker *m, struct weights *w)
{
	struct tw_tensor *t = &m->tensor[w->tensor];
	double decades = m->extreme ? 4 : chance(m, 30) ? 1.5 : 0.3;
	float *scale = room(m, w->count * sizeof(*scale));
	u32 i;

	if (!scale)
		return;
	for (i = 0; i < w->count; i++)
		scale[i] = (float)(w->scale * power(m, -decades, decades));
	t->scales = w->count;
	t->scale = scale;
	t->zero = room(m, w->count * sizeof(*t->zero));
	t->axis = w->axis;
}

static u8 pick_weight(struct maker *m, u32 kind, s32 zero)
{
	s32 value;

	switch (kind) {
	case 0: /* all that there is */
		return (u8)pick(m, 0, 255);
	case 1: /* the largest */
		return chance(m, 50) ? 127 : 128;
	default:
		value = (s32)(30 * (random_unit(&m->random) + random_unit(&m->random) +
				    random_unit(&m->random) + random_unit(&m->random) - 2));
		return (u8)(value + zero);
	}
}

/* In range of what INT8 weights are in files: -128 does not occur in them. */
static void fill_weights(struct maker *m, u8 *data, u32 count, s8 type, s32 zero)
{
	u32 i, kind = chance(m, 30) ? 0 : m->extreme && chance(m, 20) ? 1 : 2;
	bool sparse = chance(m, 8);

	for (i = 0; i < count; i++) {
		data[i] = pick_weight(m, kind, zero);
		if (type == TW_I8 && (s8)data[i] == -128)
			data[i] = (u8)-127;
		if (sparse && chance(m, 90))
			data[i] = (u8)zero;
	}
}

static bool make_weights(struct maker *m, s8 type, u32 rank, const s32 *dim, bool per_kernel,
			 struct weights *w)
{
	struct tw_tensor t = { .rank = rank };
	s32 zero = 0;

	memcpy(t.dim, dim, rank * sizeof(*dim));
	w->tensor = add_constant(m, "weights", type, rank, dim, NULL, elements_of(&t));
	if (w->tensor < 0)
		return false;
	w->scale = m->extreme ? power(m, -5, 0) : power(m, -3, -1.3);
	w->spread = 30;
	if (type == TW_U8)
		zero = random_signed(&m->random, m->extreme ? 0 : 90, m->extreme ? 255 : 165);
	set_quant(m, w->tensor, (float)w->scale, zero);
	if (type == TW_I8 && per_kernel)
		set_kernel_scales(m, w);
	if (m->failed)
		return false;
	fill_weights(m, (u8 *)m->tensor[w->tensor].data, elements_of(&t), type, zero);
	return true;
}

/* Of the sums of products: as if inputs had a standard deviation of 50. */
static double sum_spread(const struct weights *w)
{
	return 50 * w->spread * sqrt(w->taps);
}

/* A scale with which most sums fit, or not. */
static float sum_scale(struct maker *m, s32 in, const struct weights *w)
{
	double scale = m->tensor[in].scale[0] * w->scale * sum_spread(w) / 40;

	return (float)(scale * (m->extreme ? power(m, -3, 3) : power(m, -0.4, 0.6)));
}

/* Sums are 32 bits wide, also after a shift for multipliers above one: beyond is undefined. */
static double largest_sum(const struct maker *m, s32 in, float out_scale, const struct weights *w,
			  u32 k)
{
	const struct tw_tensor *t = &m->tensor[w->tensor];
	double multiplier = (double)m->tensor[in].scale[0] * t->scale[t->scales == 1 ? 0 : k] /
			    (double)out_scale;
	int shift;

	frexp(multiplier, &shift);
	return ldexp(0.99, shift > 0 ? 31 - shift : 31);
}

/* Products are at most so large. */
#define LARGEST_PRODUCT (255.0 * 255.0)

/* Makes the scales of kernels smaller until sums have room, twice what products alone need. */
static void limit_scales(struct maker *m, s32 in, float out_scale, struct weights *w)
{
	const struct tw_tensor *t = &m->tensor[w->tensor];
	u32 k;

	for (k = 0; k < t->scales; k++)
		while (largest_sum(m, in, out_scale, w, k) <
		       fmin(2 * w->taps * LARGEST_PRODUCT, 1 << 30))
			((float *)t->scale)[k] /= 2;
}

/* -1: there is none. */
static s32 make_bias(struct maker *m, s32 in, float out_scale, const struct weights *w)
{
	s32 tensor, *data;
	u32 k;

	if (chance(m, 10))
		return -1;
	tensor = add_constant(m, "bias", TW_I32, 1, &(s32){ (s32)w->count }, NULL, 4 * w->count);
	if (tensor < 0)
		return -1;
	data = (s32 *)m->tensor[tensor].data;
	for (k = 0; k < w->count; k++) {
		double room = largest_sum(m, in, out_scale, w, k) - w->taps * LARGEST_PRODUCT;
		double most = fmax(0, fmin(room, 1 << 30));
		double usual = fmin(most, 2 * sum_spread(w));

		data[k] = (s32)(usual * (2 * random_unit(&m->random) - 1));
		if (m->extreme && chance(m, 15))
			data[k] = (s32)(most * (2 * random_unit(&m->random) - 1));
	}
	return tensor;
}

static bool may_compute(struct maker *m, u64 macs)
{
	if (m->macs + macs > MAX_MACS)
		return false;
	m->macs += macs;
	return true;
}

static bool small_enough(const s32 dim[4])
{
	return (u64)dim[1] * (u64)dim[2] * (u64)dim[3] <= MAX_ELEMENTS;
}

static void set_conv_options(struct tw_op *op, const struct window *w)
{
	set_option(op, op->options_type, 0, !w->same);
	set_option(op, op->options_type, 1, w->stride_x);
	set_option(op, op->options_type, 2, w->stride_y);
}

/* ---- one function for each operator: reads @in; the result, or -1 where it does not suit ---- */

static s32 conv_to(struct maker *m, s32 in, const struct window *w, u32 k, float scale, s32 zero)
{
	s8 type = m->tensor[in].type;
	s32 dim[4], out_dim[4], kernel[4], out, bias;
	struct weights weights = { .axis = 0, .count = k };
	struct tw_op *op;

	shape_of(&m->tensor[in], dim);
	if (m->tensor[in].rank != 4 || !window_output(w, dim, out_dim))
		return -1;
	out_dim[3] = (s32)k;
	weights.taps = w->r * w->s * (u32)dim[3];
	if (!small_enough(out_dim) ||
	    !may_compute(m, (u64)out_dim[1] * (u64)out_dim[2] * k * weights.taps))
		return -1;
	memcpy(kernel, (s32[]){ (s32)k, (s32)w->r, (s32)w->s, dim[3] }, sizeof(kernel));
	if (!make_weights(m, type, 4, kernel, chance(m, 85), &weights))
		return -1;
	if (scale == 0)
		scale = sum_scale(m, in, &weights);
	limit_scales(m, in, scale, &weights);
	bias = make_bias(m, in, scale, &weights);
	out = add_activation(m, "conv", type, 4, out_dim, scale, zero);
	if (out < 0)
		return -1;
	op = add_op(m, OP_CONV, in, out);
	add_input(m, op, weights.tensor);
	add_input(m, op, bias);
	op->options_type = OPTIONS_CONV;
	set_conv_options(op, w);
	set_option(op, OPTIONS_CONV, 3, pick_activation(m));
	set_option(op, OPTIONS_CONV, 4, w->dilation_x);
	set_option(op, OPTIONS_CONV, 5, w->dilation_y);
	say(m, " conv(%ux%u,k%u,s%u/%u,d%u/%u,%s)", w->r, w->s, k, w->stride_y, w->stride_x,
	    w->dilation_y, w->dilation_x, w->same ? "same" : "valid");
	return out;
}

static s32 make_conv(struct maker *m, s32 in)
{
	struct window w = pick_conv_window(m);

	return conv_to(m, in, &w, pick_channels(m), 0, pick_zero(m, m->tensor[in].type));
}

static s32 make_depthwise(struct maker *m, s32 in)
{
	struct window w = pick_conv_window(m);
	u32 multiplier = chance(m, 75) ? 1 : pick(m, 2, 5);
	s8 type = m->tensor[in].type;
	s32 dim[4], out_dim[4], out, bias;
	float scale;
	struct weights weights = { .axis = 3, .taps = w.r * w.s };
	struct tw_op *op;

	shape_of(&m->tensor[in], dim);
	if (m->tensor[in].rank != 4 || !window_output(&w, dim, out_dim))
		return -1;
	weights.count = (u32)dim[3] * multiplier;
	out_dim[3] = (s32)weights.count;
	if (weights.count > 400 || !small_enough(out_dim) ||
	    !may_compute(m, (u64)out_dim[1] * (u64)out_dim[2] * weights.count * weights.taps))
		return -1;
	if (!make_weights(m, type, 4, (s32[]){ 1, (s32)w.r, (s32)w.s, out_dim[3] }, chance(m, 85),
			  &weights))
		return -1;
	scale = sum_scale(m, in, &weights);
	limit_scales(m, in, scale, &weights);
	bias = make_bias(m, in, scale, &weights);
	out = add_activation(m, "depthwise", type, 4, out_dim, scale, pick_zero(m, type));
	if (out < 0)
		return -1;
	op = add_op(m, OP_DEPTHWISE, in, out);
	add_input(m, op, weights.tensor);
	add_input(m, op, bias);
	op->options_type = OPTIONS_DEPTHWISE;
	set_conv_options(op, &w);
	set_option(op, OPTIONS_DEPTHWISE, 3, multiplier);
	set_option(op, OPTIONS_DEPTHWISE, 4, pick_activation(m));
	set_option(op, OPTIONS_DEPTHWISE, 5, w.dilation_x);
	set_option(op, OPTIONS_DEPTHWISE, 6, w.dilation_y);
	say(m, " depthwise(%ux%u,m%u,s%u/%u,d%u/%u,%s)", w.r, w.s, multiplier, w.stride_y,
	    w.stride_x, w.dilation_y, w.dilation_x, w.same ? "same" : "valid");
	return out;
}

static s32 make_fully_connected(struct maker *m, s32 in)
{
	u32 k = chance(m, 90) ? pick_channels(m) : pick(m, 200, 1500);
	u32 n = elements_of(&m->tensor[in]);
	s8 type = m->tensor[in].type;
	struct weights weights = { .count = k, .taps = n };
	struct tw_op *op;
	s32 out, bias;
	float scale;

	/* The weights are as many as the products; more inputs could overflow 32 bits. */
	if (n > 20000 || (u64)n * k > 1500000 || !may_compute(m, (u64)n * k) ||
	    !make_weights(m, type, 2, (s32[]){ (s32)k, (s32)n }, false, &weights))
		return -1;
	scale = sum_scale(m, in, &weights);
	limit_scales(m, in, scale, &weights);
	bias = make_bias(m, in, scale, &weights);
	out = add_activation(m, "fully", type, 2, (s32[]){ 1, (s32)k }, scale, pick_zero(m, type));
	if (out < 0)
		return -1;
	op = add_op(m, OP_FULLY_CONNECTED, in, out);
	add_input(m, op, weights.tensor);
	add_input(m, op, bias);
	op->options_type = OPTIONS_FULLY_CONNECTED;
	set_option(op, OPTIONS_FULLY_CONNECTED, 0, pick_activation(m));
	say(m, " fully_connected(%u->%u)", n, k);
	return out;
}

static s32 make_transpose_conv(struct maker *m, s32 in)
{
	struct window w = { pick(m, 1, 4), pick(m, 1, 4), pick(m, 1, 3), pick(m, 1, 3), 1, 1,
			    chance(m, 50) };
	u32 k = pick(m, 1, 20);
	struct weights weights = { .count = k };
	s32 dim[4], out_dim[4], out, shape;
	struct tw_op *op;
	float scale;

	shape_of(&m->tensor[in], dim);
	if (m->tensor[in].type != TW_I8 || m->tensor[in].rank != 4)
		return -1;
	memcpy(out_dim, (s32[]){ 1, dim[1] * (s32)w.stride_y, dim[2] * (s32)w.stride_x, (s32)k },
	       sizeof(out_dim));
	if (!w.same) {
		out_dim[1] = (dim[1] - 1) * (s32)w.stride_y + (s32)w.r;
		out_dim[2] = (dim[2] - 1) * (s32)w.stride_x + (s32)w.s;
	}
	weights.taps = w.r * w.s * (u32)dim[3];
	if (!small_enough(out_dim) ||
	    !may_compute(m, (u64)out_dim[1] * (u64)out_dim[2] * k * weights.taps) ||
	    !make_weights(m, TW_I8, 4, (s32[]){ (s32)k, (s32)w.r, (s32)w.s, dim[3] }, true,
			  &weights))
		return -1;
	shape = add_list(m, out_dim, 4);
	scale = sum_scale(m, in, &weights);
	limit_scales(m, in, scale, &weights);
	out = add_activation(m, "transposed", TW_I8, 4, out_dim, scale, pick_zero(m, TW_I8));
	if (shape < 0 || out < 0)
		return -1;
	op = add_op(m, OP_TRANSPOSE_CONV, in, out);
	op->inputs = 3;
	memcpy(op->input, (s32[]){ shape, weights.tensor, in }, 3 * sizeof(s32));
	op->options_type = OPTIONS_TRANSPOSE_CONV;
	set_conv_options(op, &w);
	say(m, " transpose_conv(%ux%u,k%u)", w.r, w.s, k);
	return out;
}

static s32 make_pool(struct maker *m, s32 in)
{
	bool average = chance(m, 50);
	struct window w = pick_window(m, chance(m, 20) ? 40 : 12);
	s32 dim[4], out_dim[4], out;
	struct tw_op *op;

	shape_of(&m->tensor[in], dim);
	if (chance(m, 15)) {
		w.r = (u32)dim[1];
		w.s = (u32)dim[2];
	}
	out_dim[3] = dim[3];
	if (m->tensor[in].rank != 4 || !window_output(&w, dim, out_dim) ||
	    !may_compute(m, (u64)elements_of(&m->tensor[in]) * w.r * w.s))
		return -1;
	/* TensorFlow Lite itself keeps the scale; of ONNX models averages may have one of their own. */
	if (average && chance(m, 25))
		out = add_activation(m, "average", m->tensor[in].type, 4, out_dim,
				     m->tensor[in].scale[0] * power(m, -0.6, 0.3),
				     pick_zero(m, m->tensor[in].type));
	else
		out = add_same_quant(m, average ? "average" : "max", in, 4, out_dim);
	if (out < 0)
		return -1;
	op = add_op(m, average ? OP_AVERAGE_POOL : OP_MAX_POOL, in, out);
	op->options_type = OPTIONS_POOL;
	set_conv_options(op, &w);
	set_option(op, OPTIONS_POOL, 3, w.s);
	set_option(op, OPTIONS_POOL, 4, w.r);
	set_option(op, OPTIONS_POOL, 5, chance(m, 70) ? ACT_NONE : pick_activation(m));
	say(m, " %s_pool(%ux%u,s%u/%u,%s)", average ? "average" : "max", w.r, w.s, w.stride_y,
	    w.stride_x, w.same ? "same" : "valid");
	return out;
}

/* Another operand of the shape @dim: from the network, a new input, or a constant. */
static s32 pick_operand(struct maker *m, s32 in, bool same_quant)
{
	const struct tw_tensor *like = &m->tensor[in];
	float scale = same_quant ? like->scale[0]
				 : (float)(like->scale[0] *
					   (m->extreme ? power(m, -2, 2) : power(m, -0.4, 0.4)));
	s32 zero = same_quant ? (s32)like->zero[0] : pick_zero(m, like->type);
	s32 dim[4], constant;
	u32 i;

	for (i = m->tensors; i-- && chance(m, 85);) {
		const struct tw_tensor *t = &m->tensor[i];

		if (m->is_activation[i] && (s32)i != in && t->type == like->type &&
		    t->rank == like->rank && !memcmp(t->dim, like->dim, t->rank * 4) &&
		    (!same_quant || (t->scale[0] == scale && t->zero[0] == zero)))
			return (s32)i;
	}
	if (chance(m, 10))
		return in;
	shape_of(like, dim);
	if (like->rank == 4 && chance(m, 60))
		return new_input(m, like->type, dim, scale, zero);
	if (chance(m, 50))
		dim[1] = dim[2] = 1;
	if (like->rank != 4 || chance(m, 10))
		dim[1] = dim[2] = dim[3] = 1;
	constant = add_constant(m, "constant", like->type, like->rank, dim + 4 - like->rank, NULL,
				(u32)(dim[1] * dim[2] * dim[3]));
	if (constant < 0)
		return -1;
	set_quant(m, constant, scale, zero);
	for (i = 0; i < m->tensor[constant].bytes; i++)
		((u8 *)m->tensor[constant].data)[i] = (u8)pick(m, 0, 255);
	return constant;
}

static s32 make_binary(struct maker *m, s32 in)
{
	static const struct {
		u8 code, options;
		const char *name;
	} kinds[] = {
		{ OP_ADD, OPTIONS_ADD, "add" }, { OP_ADD, OPTIONS_ADD, "add" },
		{ OP_ADD, OPTIONS_ADD, "add" }, { OP_SUB, OPTIONS_SUB, "sub" },
		{ OP_MUL, OPTIONS_MUL, "mul" }, { OP_MUL, OPTIONS_MUL, "mul" },
		{ OP_MAXIMUM, 0, "maximum" },	{ OP_MINIMUM, 0, "minimum" },
	};
	u32 kind = pick(m, 0, ARRAY_SIZE(kinds) - 1);
	bool ordered = !kinds[kind].options;
	s32 other = pick_operand(m, in, ordered), out;
	const struct tw_tensor *t = &m->tensor[in];
	double scale;
	struct tw_op *op;

	if (other < 0)
		return -1;
	scale = fmax(t->scale[0], m->tensor[other].scale[0]);
	if (kinds[kind].code == OP_MUL)
		scale = (double)t->scale[0] * m->tensor[other].scale[0] * 60;
	scale *= power(m, -0.2, 0.4);
	out = ordered ? add_same_quant(m, kinds[kind].name, in, t->rank, t->dim)
		      : add_activation(m, kinds[kind].name, t->type, t->rank, t->dim, (float)scale,
				       pick_zero(m, t->type));
	if (out < 0)
		return -1;
	op = add_op(m, kinds[kind].code, in, out);
	add_input(m, op, other);
	if (chance(m, 40)) {
		op->input[0] = other;
		op->input[1] = in;
	}
	if (!ordered)
		set_option(op, kinds[kind].options, 0, pick_activation(m));
	say(m, " %s%s", kinds[kind].name, m->tensor[other].data ? "(constant)" : "");
	return out;
}

static s32 make_pad(struct maker *m, s32 in)
{
	s32 dim[4], pad[8] = { 0 }, list, out, value = -1;
	bool v2 = chance(m, 20);
	struct tw_op *op;
	u32 i;

	shape_of(&m->tensor[in], dim);
	for (i = 0; i < 4; i++) {
		u32 most = chance(m, 90) ? 2 : 9;

		if (i == 1 || i == 2 || (i == 3 && chance(m, 10))) {
			pad[2 * i] = (s32)pick(m, 0, most);
			pad[2 * i + 1] = (s32)pick(m, 0, most);
		}
		dim[i] += pad[2 * i] + pad[2 * i + 1];
	}
	if (m->tensor[in].rank != 4 || !small_enough(dim))
		return -1;
	list = add_constant(m, "pads", TW_I32, 2, (s32[]){ 4, 2 }, pad, sizeof(pad));
	if (v2) {
		value = add_constant(m, "value", m->tensor[in].type, 0, no_dim,
				     &(u8){ (u8)pick(m, 0, 255) }, 1);
		if (value < 0)
			return -1;
		set_quant(m, value, m->tensor[in].scale[0], (s32)m->tensor[in].zero[0]);
	}
	out = add_same_quant(m, "pad", in, 4, dim);
	if (list < 0 || out < 0)
		return -1;
	op = add_op(m, v2 ? OP_PADV2 : OP_PAD, in, out);
	add_input(m, op, list);
	if (v2)
		add_input(m, op, value);
	say(m, " pad%s(%d,%d,%d,%d)", v2 ? "v2" : "", pad[2], pad[3], pad[4], pad[5]);
	return out;
}

/* A pad and a convolution that can take it in. */
static s32 make_pad_conv(struct maker *m, s32 in)
{
	s32 padded = make_pad(m, in);

	return padded < 0 ? -1 : make_conv(m, padded);
}

/* Pads or crops of height and width, as the operators of blocks have them. */
static s32 add_ends(struct maker *m, const s32 ends[4])
{
	return add_constant(m, "ends", TW_I32, 2, (s32[]){ 2, 2 }, ends, 4 * sizeof(s32));
}

/* What only the operators around it read. */
static void hide(struct maker *m, s32 tensor)
{
	m->is_activation[tensor] = false;
}

/* An image in blocks, which a convolution and then an image again follow. */
static s32 make_dilated(struct maker *m, s32 in)
{
	struct window w = { pick(m, 1, 3), pick(m, 1, 3), 1, 1, 1, 1, chance(m, 50) };
	s32 block[2] = { (s32)pick(m, 1, 4), (s32)pick(m, 1, 4) }, ends[4], crops[4] = { 0 };
	s32 dim[4], lists[3], apart, conv, out;
	struct tw_op *op;
	u32 d;

	shape_of(&m->tensor[in], dim);
	if (m->tensor[in].rank != 4)
		return -1;
	dim[0] = block[0] * block[1];
	for (d = 0; d < 2; d++) {
		ends[2 * d] = (s32)pick(m, 0, 3);
		ends[2 * d + 1] = (block[d] - (dim[1 + d] + ends[2 * d]) % block[d]) % block[d];
		dim[1 + d] = (dim[1 + d] + ends[2 * d] + ends[2 * d + 1]) / block[d];
	}
	apart = add_same_quant(m, "apart", in, 4, dim);
	lists[0] = add_list(m, block, 2);
	lists[1] = add_ends(m, ends);
	if (apart < 0 || lists[0] < 0 || lists[1] < 0)
		return -1;
	hide(m, apart);
	/* Each block is a convolution. */
	if (!may_compute(m, (u64)dim[0] * (u64)dim[1] * (u64)dim[2] * (u64)dim[3] * 9 * 16))
		return -1;
	op = add_op(m, OP_SPACE_TO_BATCH, in, apart);
	add_input(m, op, lists[0]);
	add_input(m, op, lists[1]);
	conv = conv_to(m, apart, &w, pick(m, 1, 16), 0, pick_zero(m, m->tensor[in].type));
	if (conv < 0) {
		m->ops--;
		m->consumers[in]--;
		return -1;
	}
	hide(m, conv);
	m->tensor[conv].dim[0] = dim[0];
	shape_of(&m->tensor[conv], dim);
	dim[0] = 1;
	for (d = 0; d < 2; d++) {
		dim[1 + d] *= block[d];
		crops[2 * d + 1] = min((s32)pick(m, 0, 2), dim[1 + d] - 1);
		dim[1 + d] -= crops[2 * d + 1];
	}
	out = add_same_quant(m, "together", conv, 4, dim);
	lists[2] = add_ends(m, crops);
	if (out < 0 || lists[2] < 0)
		return -1;
	op = add_op(m, OP_BATCH_TO_SPACE, conv, out);
	add_input(m, op, lists[0]);
	add_input(m, op, lists[2]);
	say(m, " dilated(%dx%d)", block[0], block[1]);
	return out;
}

/* Beside @in in a concatenation: an input, another convolution of what there is, or @in itself. */
static s32 pick_neighbour(struct maker *m, s32 in, u32 axis)
{
	struct window point = { 1, 1, 1, 1, 1, 1, true };
	s32 dim[4], i;

	shape_of(&m->tensor[in], dim);
	if (chance(m, 10))
		return in;
	for (i = 0; axis == 3 && i < in && chance(m, 70); i++)
		if (m->is_activation[i] && m->tensor[i].type == m->tensor[in].type &&
		    m->tensor[i].rank == 4 && m->tensor[i].dim[1] == dim[1] &&
		    m->tensor[i].dim[2] == dim[2] && m->ops < MAX_OPS - 2)
			return conv_to(m, i, &point,
				       chance(m, 50) ? 8 * pick(m, 1, 5) : pick(m, 1, 40),
				       m->tensor[in].scale[0], (s32)m->tensor[in].zero[0]);
	dim[axis] = (s32)pick(m, 1, 33);
	return small_enough(dim) ? new_input(m, m->tensor[in].type, dim, m->tensor[in].scale[0],
					     (s32)m->tensor[in].zero[0])
				 : -1;
}

static s32 make_concat(struct maker *m, s32 in)
{
	u32 axis = chance(m, 80) ? 3 : pick(m, 1, 2), i, count = pick(m, 1, 2);
	s32 dim[4], list[3], out;
	struct tw_op *op;

	shape_of(&m->tensor[in], dim);
	if (m->tensor[in].rank != 4)
		return -1;
	list[0] = in;
	for (i = 1; i <= count; i++) {
		list[i] = pick_neighbour(m, in, axis);
		if (list[i] < 0)
			return -1;
		dim[axis] += m->tensor[list[i]].dim[axis];
	}
	if (!small_enough(dim))
		return -1;
	out = add_same_quant(m, "concat", in, 4, dim);
	if (out < 0)
		return -1;
	op = add_op(m, OP_CONCAT, in, out);
	for (i = 1; i <= count; i++)
		add_input(m, op, list[i]);
	set_option(op, OPTIONS_CONCAT, 0, axis);
	say(m, " concat(axis %u of %u)", axis, count + 1);
	return out;
}

/* A divisor of @n. */
static u32 pick_divisor(struct maker *m, u32 n)
{
	u32 divisor = pick(m, 1, n);

	while (n % divisor)
		divisor--;
	return divisor;
}

static s32 make_reshape(struct maker *m, s32 in)
{
	u32 n = elements_of(&m->tensor[in]), rank = chance(m, 35) ? 2 : 4;
	s32 dim[4] = { 1, (s32)n, 0, 0 }, out, list;
	struct tw_op *op;

	if (rank == 4) {
		dim[3] = (s32)pick_divisor(m, n);
		dim[2] = (s32)pick_divisor(m, n / (u32)dim[3]);
		dim[1] = (s32)n / dim[3] / dim[2];
	}
	if (dim[1] > 8000 || dim[2] > 8000 || dim[3] > 8000)
		return -1;
	list = add_list(m, dim, rank);
	out = add_same_quant(m, "reshape", in, rank, dim);
	if (list < 0 || out < 0)
		return -1;
	op = add_op(m, OP_RESHAPE, in, out);
	add_input(m, op, list);
	if (rank == 4)
		say(m, " reshape(%dx%dx%d)", dim[1], dim[2], dim[3]);
	else
		say(m, " reshape(%d)", dim[1]);
	return out;
}

/* Of the plane, or of rows or columns alone, which stay in their dimension. */
static s32 make_mean(struct maker *m, s32 in)
{
	const struct tw_tensor *t = &m->tensor[in];
	u32 axes = chance(m, 70) ? 3 : pick(m, 1, 2);
	bool keep = axes != 3 || chance(m, 40);
	s32 dim[4] = { 1, axes & 1 ? 1 : t->dim[1], axes & 2 ? 1 : t->dim[2], t->dim[3] };
	s32 list, out;
	struct tw_op *op;

	if (t->rank != 4)
		return -1;
	list = add_list(m, (s32[]){ axes & 1 ? 1 : 2, 2 }, axes == 3 ? 2 : 1);
	out = add_activation(m, "mean", t->type, keep ? 4 : 2,
			     keep ? dim : (s32[]){ 1, t->dim[3], 0, 0 },
			     (float)(t->scale[0] * power(m, -0.4, 0.4)), pick_zero(m, t->type));
	if (list < 0 || out < 0)
		return -1;
	op = add_op(m, OP_MEAN, in, out);
	add_input(m, op, list);
	set_option(op, OPTIONS_REDUCER, 0, keep);
	say(m, " mean");
	return out;
}

static s32 make_softmax(struct maker *m, s32 in)
{
	const struct tw_tensor *t = &m->tensor[in];
	struct tw_op *op;
	s32 out;

	if (t->scale[0] > 10 || t->scale[0] < 1e-4f)
		return -1;
	out = add_activation(m, "softmax", t->type, t->rank, t->dim, 1.0f / 256,
			     t->type == TW_U8 ? 0 : -128);
	if (out < 0)
		return -1;
	op = add_op(m, OP_SOFTMAX, in, out);
	set_option(op, OPTIONS_SOFTMAX, 0, tw_float(1));
	say(m, " softmax");
	return out;
}

static s32 make_resize(struct maker *m, s32 in)
{
	bool nearest = chance(m, 50);
	u32 corners = chance(m, 30), half = !corners && chance(m, 40);
	s32 dim[4], list, out;
	struct tw_op *op;

	shape_of(&m->tensor[in], dim);
	if (chance(m, 60)) {
		dim[1] *= 2;
		dim[2] *= 2;
	} else {
		dim[1] = (s32)pick(m, 1, 60);
		dim[2] = (s32)pick(m, 1, 60);
	}
	if (m->tensor[in].rank != 4 || !small_enough(dim))
		return -1;
	list = add_list(m, dim + 1, 2);
	out = add_same_quant(m, "resize", in, 4, dim);
	if (list < 0 || out < 0)
		return -1;
	op = add_op(m, nearest ? OP_RESIZE_NEAREST : OP_RESIZE_BILINEAR, in, out);
	add_input(m, op, list);
	op->options_type = nearest ? OPTIONS_RESIZE_NEAREST : OPTIONS_RESIZE_BILINEAR;
	set_option(op, op->options_type, nearest ? 0 : 2, corners);
	set_option(op, op->options_type, nearest ? 1 : 3, half);
	say(m, " resize_%s(%dx%d)", nearest ? "nearest" : "bilinear", dim[1], dim[2]);
	return out;
}

static s32 make_quantize(struct maker *m, s32 in)
{
	const struct tw_tensor *t = &m->tensor[in];
	s8 type = chance(m, 50) ? t->type : t->type == TW_I8 ? TW_U8 : TW_I8;
	float scale = (float)(t->scale[0] * (chance(m, 30) ? 1 : power(m, -0.5, 0.5)));
	s32 zero = pick_zero(m, type), out;

	if (type != t->type && chance(m, 50))
		zero = (s32)t->zero[0] + (type == TW_U8 ? 128 : -128);
	out = add_activation(m, "quantize", type, t->rank, t->dim, scale, zero);
	if (out < 0)
		return -1;
	add_op(m, OP_QUANTIZE, in, out);
	say(m, " quantize(%s)", type == TW_U8 ? "uint8" : "int8");
	return out;
}

static s32 make_unary(struct maker *m, s32 in)
{
	static const struct {
		u8 code;
		const char *name;
	} kinds[] = { { OP_RELU, "relu" },	   { OP_RELU6, "relu6" },
		      { OP_LOGISTIC, "logistic" }, { OP_TANH, "tanh" },
		      { OP_LEAKY_RELU, "leaky" },  { OP_HARD_SWISH, "hard_swish" },
		      { OP_ABS, "abs" },	   { OP_EXP, "exp" },
		      { OP_ELU, "elu" },	   { OP_GELU, "gelu" } };
	u32 kind = pick(m, 0, ARRAY_SIZE(kinds) - 1);
	const struct tw_tensor *t = &m->tensor[in];
	float scale = (float)(t->scale[0] * power(m, -0.3, 0.3));
	s32 zero = pick_zero(m, t->type), out;
	struct tw_op *op;

	if (kinds[kind].code == OP_LOGISTIC) {
		scale = 1.0f / 256;
		zero = t->type == TW_U8 ? 0 : -128;
	} else if (kinds[kind].code == OP_TANH) {
		scale = 1.0f / 128;
		zero = t->type == TW_U8 ? 128 : 0;
	}
	out = add_activation(m, kinds[kind].name, t->type, t->rank, t->dim, scale, zero);
	if (out < 0)
		return -1;
	op = add_op(m, kinds[kind].code, in, out);
	if (kinds[kind].code == OP_LEAKY_RELU)
		set_option(op, OPTIONS_LEAKY_RELU, 0, tw_float(0.1f));
	say(m, " %s", kinds[kind].name);
	return out;
}

static s32 make_mirror_pad(struct maker *m, s32 in)
{
	bool symmetric = chance(m, 50);
	s32 dim[4], pad[8] = { 0 }, list, out;
	struct tw_op *op;
	u32 i;

	shape_of(&m->tensor[in], dim);
	for (i = 1; i < 4; i++) {
		u32 most = min((u32)dim[i] - !symmetric, i == 3 ? 1u : 3u);

		pad[2 * i] = (s32)pick(m, 0, most);
		pad[2 * i + 1] = (s32)pick(m, 0, most);
		dim[i] += pad[2 * i] + pad[2 * i + 1];
	}
	if (m->tensor[in].rank != 4 || !small_enough(dim))
		return -1;
	list = add_constant(m, "pads", TW_I32, 2, (s32[]){ 4, 2 }, pad, sizeof(pad));
	out = add_same_quant(m, "mirror", in, 4, dim);
	if (list < 0 || out < 0)
		return -1;
	op = add_op(m, OP_MIRROR_PAD, in, out);
	add_input(m, op, list);
	set_option(op, OPTIONS_MIRROR_PAD, 0, symmetric);
	say(m, " mirror_pad(%dx%dx%d)", dim[1], dim[2], dim[3]);
	return out;
}

static s32 make_tile(struct maker *m, s32 in)
{
	s32 dim[4], times[4] = { 1, 1, 1, 1 }, list, out;
	u32 i;

	shape_of(&m->tensor[in], dim);
	for (i = 1; i < 4; i++)
		times[i] = (s32)pick(m, 1, 2);
	for (i = 1; i < 4; i++)
		dim[i] *= times[i];
	if (m->tensor[in].rank != 4 || !small_enough(dim))
		return -1;
	list = add_list(m, times, 4);
	out = add_same_quant(m, "tile", in, 4, dim);
	if (list < 0 || out < 0)
		return -1;
	add_input(m, add_op(m, OP_TILE, in, out), list);
	say(m, " tile(%d,%d,%d)", times[1], times[2], times[3]);
	return out;
}

/* Depth to space where the channels can be divided, else space to depth. */
static s32 make_blocks(struct maker *m, s32 in)
{
	s32 block = (s32)pick(m, 1, 3), dim[4], out;
	bool to_space;
	struct tw_op *op;

	shape_of(&m->tensor[in], dim);
	to_space = dim[3] % (block * block) == 0;
	if (m->tensor[in].rank != 4 || (!to_space && (dim[1] % block || dim[2] % block)))
		return -1;
	dim[1] = to_space ? dim[1] * block : dim[1] / block;
	dim[2] = to_space ? dim[2] * block : dim[2] / block;
	dim[3] = to_space ? dim[3] / block / block : dim[3] * block * block;
	if (!small_enough(dim))
		return -1;
	out = add_same_quant(m, "blocks", in, 4, dim);
	if (out < 0)
		return -1;
	op = add_op(m, to_space ? OP_DEPTH_TO_SPACE : OP_SPACE_TO_DEPTH, in, out);
	set_option(op, to_space ? OPTIONS_DEPTH_TO_SPACE : OPTIONS_SPACE_TO_DEPTH, 0, (u32)block);
	say(m, " %s(%d)", to_space ? "depth_to_space" : "space_to_depth", block);
	return out;
}

static s32 make_reduce(struct maker *m, s32 in)
{
	const struct tw_tensor *t = &m->tensor[in];
	bool least = chance(m, 40);
	s32 dim[4], list, out;
	u32 axis = pick(m, 1, 3);
	struct tw_op *op;

	shape_of(t, dim);
	if (t->rank != 4)
		return -1;
	list = add_list(m, (s32[]){ (s32)axis }, 1);
	out = add_activation(m, least ? "least" : "sum", t->type, 4,
			     (s32[]){ 1, axis == 1 ? 1 : dim[1], axis == 2 ? 1 : dim[2],
				      axis == 3 ? 1 : dim[3] },
			     least ? t->scale[0]
				   : (float)(t->scale[0] * sqrt(dim[axis]) * power(m, -0.2, 0.4)),
			     least ? (s32)t->zero[0] : pick_zero(m, t->type));
	if (list < 0 || out < 0)
		return -1;
	op = add_op(m, least ? OP_REDUCE_MIN : OP_SUM, in, out);
	add_input(m, op, list);
	set_option(op, OPTIONS_REDUCER, 0, 1);
	say(m, " %s(axis %u)", least ? "reduce_min" : "sum", axis);
	return out;
}

/* A tensor by itself, one of the two turned: every matrix of it. */
static s32 make_batch_matmul(struct maker *m, s32 in)
{
	const struct tw_tensor *t = &m->tensor[in];
	s32 dim[4], out;
	struct tw_op *op;

	shape_of(t, dim);
	if (t->rank != 4 ||
	    !may_compute(m, (u64)dim[1] * (u64)dim[2] * (u64)dim[2] * (u64)dim[3]) ||
	    !small_enough((s32[]){ 1, dim[1], dim[2], dim[2] }))
		return -1;
	out = add_activation(m, "matmul", t->type, 4, (s32[]){ 1, dim[1], dim[2], dim[2] },
			     (float)((double)t->scale[0] * t->scale[0] * 60 * sqrt(dim[3])),
			     pick_zero(m, t->type));
	if (out < 0)
		return -1;
	op = add_op(m, OP_BATCH_MATMUL, in, out);
	add_input(m, op, in);
	set_option(op, OPTIONS_BATCH_MATMUL, 1, 1);
	say(m, " batch_matmul");
	return out;
}

static s32 make_lrn(struct maker *m, s32 in)
{
	const struct tw_tensor *t = &m->tensor[in];
	u32 radius = pick(m, 0, 4);
	s32 out = add_activation(m, "lrn", t->type, t->rank, t->dim,
				 (float)(t->scale[0] * power(m, -0.5, 0.1)), pick_zero(m, t->type));
	struct tw_op *op;

	if (out < 0)
		return -1;
	op = add_op(m, OP_LRN, in, out);
	set_option(op, OPTIONS_LRN, 0, radius);
	set_option(op, OPTIONS_LRN, 1, tw_float(1 + (float)pick(m, 0, 1)));
	set_option(op, OPTIONS_LRN, 2, tw_float((float)power(m, -4, 0)));
	set_option(op, OPTIONS_LRN, 3, tw_float(chance(m, 50) ? 0.75f : 0.5f));
	say(m, " lrn(%u)", 2 * radius + 1);
	return out;
}

static s32 make_slice(struct maker *m, s32 in)
{
	s32 dim[4], begin[4] = { 0 }, lists[2], out;
	struct tw_op *op;
	u32 i;

	shape_of(&m->tensor[in], dim);
	if (m->tensor[in].rank != 4)
		return -1;
	for (i = 1; i < 4; i++) {
		begin[i] = (s32)pick(m, 0, (u32)dim[i] - 1);
		dim[i] = (s32)pick(m, 1, (u32)(dim[i] - begin[i]));
	}
	lists[0] = add_list(m, begin, 4);
	lists[1] = add_list(m, dim, 4);
	out = add_same_quant(m, "slice", in, 4, dim);
	if (lists[0] < 0 || lists[1] < 0 || out < 0)
		return -1;
	op = add_op(m, OP_SLICE, in, out);
	add_input(m, op, lists[0]);
	add_input(m, op, lists[1]);
	say(m, " slice(%dx%dx%d)", dim[1], dim[2], dim[3]);
	return out;
}

static s32 make_transpose(struct maker *m, s32 in)
{
	static const s32 orders[][4] = {
		{ 0, 1, 3, 2 }, { 0, 2, 1, 3 }, { 0, 3, 1, 2 }, { 0, 2, 3, 1 }, { 0, 3, 2, 1 }
	};
	const s32 *order = orders[pick(m, 0, ARRAY_SIZE(orders) - 1)];
	s32 dim[4], list, out;
	u32 i;

	if (m->tensor[in].rank != 4)
		return -1;
	for (i = 0; i < 4; i++)
		dim[i] = m->tensor[in].dim[order[i]];
	list = add_list(m, order, 4);
	out = add_same_quant(m, "transpose", in, 4, dim);
	if (list < 0 || out < 0)
		return -1;
	add_input(m, add_op(m, OP_TRANSPOSE, in, out), list);
	say(m, " transpose");
	return out;
}

static const struct {
	u32 weight;
	s32 (*make)(struct maker *m, s32 in);
} makers[] = {
	{ 24, make_conv },     { 14, make_depthwise },	   { 7, make_fully_connected },
	{ 10, make_pool },     { 10, make_binary },	   { 3, make_pad },
	{ 4, make_pad_conv },  { 5, make_concat },	   { 4, make_reshape },
	{ 4, make_mean },      { 2, make_softmax },	   { 3, make_resize },
	{ 4, make_quantize },  { 6, make_unary },	   { 2, make_slice },
	{ 4, make_lrn },       { 1, make_mirror_pad },	   { 1, make_tile },
	{ 1, make_blocks },    { 1, make_reduce },	   { 1, make_batch_matmul },
	{ 1, make_transpose }, { 1, make_transpose_conv }, { 1, make_dilated },
};

/* An operator by its weight. */
static u32 pick_maker(struct maker *m)
{
	u32 i, sum = 0, at;

	for (i = 0; i < ARRAY_SIZE(makers); i++)
		sum += makers[i].weight;
	at = pick(m, 0, sum - 1);
	for (i = 0; at >= makers[i].weight; i++)
		at -= makers[i].weight;
	return i;
}

/* Mostly the newest activation. */
static s32 pick_source(struct maker *m)
{
	u32 i = m->tensors;

	while (i--)
		if (m->is_activation[i] && chance(m, 85))
			return (s32)i;
	return m->input[0];
}

static void pick_input_shape(struct maker *m, s32 dim[4])
{
	u32 high = chance(m, 30) ? 8 : chance(m, 70) ? 32 : 70;

	dim[0] = 1;
	dim[1] = (s32)pick(m, 1, high);
	dim[2] = chance(m, 60) ? dim[1] : (s32)pick(m, 1, high);
	dim[3] = (s32)pick_channels(m);
	if (chance(m, 8)) { /* wide, or high */
		u32 along = pick(m, 1, 2);

		dim[along] = (s32)pick(m, 100, 1000);
		dim[3 - along] = (s32)pick(m, 1, 2);
	}
	while (!small_enough(dim))
		dim[3] = (dim[3] + 1) / 2;
}

static void grow(struct maker *m)
{
	u32 want = pick(m, 1, 6), tries = 0, made = 0;
	s8 type = chance(m, 65) ? TW_I8 : TW_U8;
	s32 dim[4];

	m->extreme = chance(m, 25);
	pick_input_shape(m, dim);
	say(m, "%s%s %dx%dx%d:", m->extreme ? "extreme " : "", type == TW_U8 ? "uint8" : "int8",
	    dim[1], dim[2], dim[3]);
	new_input(m, type, dim, pick_scale(m), pick_zero(m, type));
	/* Three operators is what one call adds at most. */
	while (made < want && tries++ < 40 && !m->failed && m->ops + 3 < MAX_OPS)
		made += makers[pick_maker(m)].make(m, pick_source(m)) >= 0;
}

/* What nothing reads, and sometimes what something reads. */
static void find_outputs(struct maker *m, struct tw_model *model)
{
	u32 i;

	for (i = m->tensors; i-- && model->outputs < MAX_OUTPUTS;) {
		bool is_input = false;
		u32 j;

		for (j = 0; j < m->inputs; j++)
			is_input |= m->input[j] == (s32)i;
		if (m->is_activation[i] && !is_input && (!m->consumers[i] || chance(m, 5)))
			model->output[model->outputs++] = (s32)i;
	}
}

bool random_model_make(u64 seed, struct random_model *out)
{
	struct tw_model model = { .version = 3 };
	struct maker *m;
	bool good;

	memset(out, 0, sizeof(*out));
	m = calloc(1, sizeof(*m));
	if (!m)
		return false;
	do {
		struct random random = m->ops || m->tensors ? m->random
							    : (struct random){ seed * 977 + 11 };
		npu_arena_free(&m->arena);
		memset(m, 0, sizeof(*m));
		m->random = random;
		m->what = out->what;
		m->what_room = sizeof(out->what);
		grow(m);
	} while (!m->ops && !m->failed);
	find_outputs(m, &model);
	model.old_codes = chance(m, 5);
	model.tensors = m->tensors;
	model.tensor = m->tensor;
	model.ops = m->ops;
	model.op = m->op;
	model.inputs = m->inputs;
	memcpy(model.input, m->input, sizeof(m->input));
	good = !m->failed;
	if (good)
		out->data = tw_write(&model, &out->bytes);
	npu_arena_free(&m->arena);
	free(m);
	return good && out->data;
}
