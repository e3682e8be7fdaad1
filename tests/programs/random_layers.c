// SPDX-License-Identifier: MIT
/*
 * Networks of random operators, most of them one or two, through everything: optimiser, compiled
 * file, planner, chains, device model; against the reference interpreter, at several budgets.  An
 * output may be one unit off; at every budget it has to be the same.  Then convolutions of images in
 * bytes, a quarter as many, as many windows beyond the registers, and as many averages of large windows.
 *
 *	random_layers [COUNT [SEED]]
 */
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

#include "../common/shared_models.h"
#include "internal.h"
#include "npu_compiler.h"
#include "optimise/support.h"
#include "pixels.h"
#include "reference.h"

#define DEFAULT_COUNT 400
#define MAX_INPUTS 8
#define NETWORK_LIMIT 12

static uint32_t seed_state;

/* low .. high */
static u32 pick(u32 low, u32 high)
{
	return low + shared_random(&seed_state) % (high - low + 1);
}

static bool chance(u32 percent)
{
	return shared_random(&seed_state) / 7 % 100 < percent;
}

/* 1 .. the smaller of the two. */
static u32 pick_kernel(u32 size, u32 limit)
{
	return pick(1, size < limit ? size : limit);
}

static double unit(void)
{
	return shared_random(&seed_state) / 4294967296.0;
}

/* ---- graphs ---- */

struct maker {
	struct npu_graph *graph;
	enum npu_dtype dtype;
	u32 tensor; /* result so far */
	char what[256];
};

static s32 random_zero(enum npu_dtype dtype)
{
	s32 zero = (s32)pick(0, 255) - 128;

	if (chance(30))
		zero = -128;
	return dtype == NPU_U8 ? zero + 128 : zero;
}

static void set_quant(struct maker *m, u32 tensor, float scale, s32 zero)
{
	float *scales = npu_arena_array(&m->graph->arena, 1, sizeof(*scales));
	s32 *zeros = npu_arena_array(&m->graph->arena, 1, sizeof(*zeros));

	*scales = scale;
	*zeros = zero;
	m->graph->tensor[tensor].quant =
		(struct npu_quant){ .count = 1, .scale = scales, .zero = zeros };
}

static u32 add_tensor(struct maker *m, const char *name, u32 h, u32 w, u32 c, float scale, s32 zero)
{
	u32 dim[4] = { 1, h, w, c };
	u32 tensor = npu_graph_add_tensor(m->graph, name, m->dtype, 4, dim);

	set_quant(m, tensor, scale, zero);
	return tensor;
}

static void *constant(struct maker *m, u32 tensor)
{
	void *data = npu_arena_alloc(&m->graph->arena, m->graph->tensor[tensor].bytes);

	m->graph->tensor[tensor].data = data;
	return data;
}

/* 0: one. */
static const u32 input_counts[NPU_OP_COUNT] = {
	[NPU_OP_CONV] = 3,
	[NPU_OP_FULLY_CONNECTED] = 3,
	[NPU_OP_ADD] = 2,
	[NPU_OP_SUB] = 2,
	[NPU_OP_MUL] = 2,
	[NPU_OP_MAXIMUM] = 2,
	[NPU_OP_MINIMUM] = 2,
	[NPU_OP_PRELU] = 2,
	[NPU_OP_CONCAT] = 2,
	[NPU_OP_PAD] = 2,
	[NPU_OP_TRANSPOSE_CONV] = 3,
};

static struct npu_op *add_op(struct maker *m, enum npu_op_kind kind, const char *name, u32 in,
			     u32 out)
{
	struct npu_op *op = npu_graph_add_op(m->graph, kind, name,
					     input_counts[kind] ? input_counts[kind] : 1, 1);
	size_t used = strlen(m->what);

	op->input[0] = in;
	op->output[0] = out;
	snprintf(m->what + used, sizeof(m->what) - used, " %s", name);
	m->tensor = out;
	return op;
}

static u32 out_size(u32 in, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride)
{
	return (in + before + after - ((kernel - 1) * dilation + 1)) / stride + 1;
}

/* Weights [k][r][s][c] with a scale for each kernel (INT8) and sums that spread over the output. */
static u32 add_weights(struct maker *m, u32 rank, const u32 *dim, float in_scale, float *out_scale)
{
	u32 weights = npu_graph_add_tensor(m->graph, "weights", m->dtype, rank, dim);
	u32 k, i, per = (u32)(m->graph->tensor[weights].bytes / dim[0]);
	u32 count = m->dtype == NPU_I8 && chance(80) ? dim[0] : 1;
	float *scale = npu_arena_array(&m->graph->arena, count, sizeof(*scale));
	s32 *zero = npu_arena_array(&m->graph->arena, count, sizeof(*zero));
	double spread = chance(20) ? 8 : 1.5, width = chance(50) ? 127 : 30;
	u8 *data = constant(m, weights);

	for (i = 0; i < count; i++)
		scale[i] = (float)(0.01 * exp2(-spread * unit()));
	zero[0] = m->dtype == NPU_U8 ? (s32)pick(90, 166) : 0;
	if (count == dim[0] && chance(15))
		scale[pick(0, count - 1)] = 1e-9f;
	m->graph->tensor[weights].quant = (struct npu_quant){ count, 0, scale, zero };
	for (k = 0; k < dim[0]; k++)
		for (i = 0; i < per; i++) {
			double value = width * (unit() + unit() - 1) + zero[0];

			if (m->dtype == NPU_U8)
				value = chance(1) ? (chance(50) ? 0 : 255)
						  : fmin(255, fmax(0, value));
			data[(size_t)k * per + i] = (u8)(s32)value;
		}
	*out_scale = (float)(in_scale * 0.01 * sqrt(per) * width * (0.2 + unit()));
	return weights;
}

static u32 add_bias(struct maker *m, u32 k)
{
	u32 bias, i;
	s32 *data;

	if (chance(20))
		return NPU_NONE;
	bias = npu_graph_add_tensor(m->graph, "bias", NPU_I32, 1, &k);
	data = constant(m, bias);
	for (i = 0; i < k; i++)
		data[i] = chance(5) ? (s32)(unit() * 1e9) : (s32)((unit() - 0.5) * 20000);
	return bias;
}

static const enum npu_activation activations[] = { NPU_ACT_NONE, NPU_ACT_NONE, NPU_ACT_RELU,
						   NPU_ACT_RELU6, NPU_ACT_RELU_N1_TO_1 };

static void make_conv(struct maker *m, bool keep_shape, bool plain)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 h = in->dim[1], w = in->dim[2], c = in->dim[3], groups = 1, k = pick(1, 70),
	    input = m->tensor;
	struct npu_window win = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	float in_scale = in->quant.scale[0], out_scale;
	u32 weights, bias, out, dim[4];
	struct npu_op *op;

	if (chance(40)) {
		groups = c; /* depthwise, sometimes with a multiplier */
		k = c * (chance(25) ? pick(2, 4) : 1);
	} else if (chance(10) && c % 2 == 0) {
		groups = 2;
		k += k & 1;
	}
	if (keep_shape) {
		win.r = win.s = chance(50) ? 3 : 1;
		win.pad_top = win.pad_left = win.pad_bottom = win.pad_right = win.r / 2;
	} else if (chance(75)) {
		win.r = pick_kernel(h, chance(10) ? 20u : 5u);
		win.s = pick_kernel(w, chance(10) ? 20u : 5u);
		if (chance(20) && (win.r - 1) * 2 < h && (win.s - 1) * 3 < w) {
			win.dilation_y = 2;
			win.dilation_x = 3;
		}
		win.stride_y = pick(1, chance(80) ? 2 : 8);
		win.stride_x = pick(1, chance(80) ? 2 : 8);
		if (chance(60)) {
			win.pad_top = pick(0, (win.r - 1) * win.dilation_y);
			win.pad_bottom = pick(0, (win.r - 1) * win.dilation_y);
			win.pad_left = pick(0, (win.s - 1) * win.dilation_x);
			win.pad_right = pick(0, (win.s - 1) * win.dilation_x);
		}
	} else {
		win.stride_y = win.stride_x = pick(1, 2);
	}
	dim[0] = k;
	dim[1] = win.r;
	dim[2] = win.s;
	dim[3] = c / groups;
	weights = add_weights(m, 4, dim, in_scale, &out_scale);
	bias = add_bias(m, k);
	out = add_tensor(
		m, "conv",
		out_size(h, win.pad_top, win.pad_bottom, win.r, win.dilation_y, win.stride_y),
		out_size(w, win.pad_left, win.pad_right, win.s, win.dilation_x, win.stride_x), k,
		out_scale, random_zero(m->dtype));
	op = add_op(m, NPU_OP_CONV, groups > 1 ? "grouped conv" : "conv", input, out);
	op->input[1] = weights;
	op->input[2] = bias;
	op->window = win;
	op->groups = groups;
	op->activation = plain ? NPU_ACT_NONE : activations[pick(0, 4)];
}

static void make_pad(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	s32 top = (s32)pick(0, 2), left = (s32)pick(0, 2), bottom = (s32)pick(0, 2),
	    right = (s32)pick(0, 2);
	u32 input = m->tensor;
	u32 out = add_tensor(m, "pad", in->dim[1] + top + bottom, in->dim[2] + left + right,
			     in->dim[3], in->quant.scale[0], in->quant.zero[0]);
	struct npu_op *op = add_op(m, NPU_OP_PAD, "pad", input, out);

	op->begin[1] = top;
	op->begin[2] = left;
	op->end[1] = bottom;
	op->end[2] = right;
}

static void make_fully_connected(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, k = pick(1, 50), dim[2] = { k, (u32)npu_tensor_elements(in) };
	float out_scale;
	u32 weights, bias, out, flat[2] = { 1, dim[1] };
	float scale = in->quant.scale[0];
	s32 zero = in->quant.zero[0];
	struct npu_op *op;

	if (chance(70)) {
		u32 reshaped = npu_graph_add_tensor(m->graph, "flat", m->dtype, 2, flat);

		set_quant(m, reshaped, scale, zero);
		add_op(m, NPU_OP_RESHAPE, "reshape", input, reshaped);
		input = reshaped;
	}
	weights = add_weights(m, 2, dim, scale, &out_scale);
	bias = add_bias(m, k);
	flat[1] = k;
	out = npu_graph_add_tensor(m->graph, "fc", m->dtype, 2, flat);
	set_quant(m, out, out_scale, random_zero(m->dtype));
	op = add_op(m, NPU_OP_FULLY_CONNECTED, "fc", input, out);
	op->input[1] = weights;
	op->input[2] = bias;
	op->activation = activations[pick(0, 3)];
}

static void make_pool(struct maker *m, bool average)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 h = in->dim[1], w = in->dim[2], input = m->tensor, out;
	struct npu_window win = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	struct npu_op *op;
	bool whole = average && chance(10);

	win.r = pick_kernel(h, average && chance(30) ? 20u : chance(20) ? 12u : 4u);
	win.s = pick_kernel(w, average && chance(30) ? 20u : chance(20) ? 12u : 4u);
	win.stride_y = chance(50) ? win.r : pick(1, 3);
	win.stride_x = chance(50) ? win.s : pick(1, 3);
	if (chance(50)) {
		win.stride_y = win.stride_x = 1;
	}
	if (whole) {
		win.r = h;
		win.s = w;
	} else if (chance(50)) {
		win.pad_top = pick(0, win.r - 1);
		win.pad_bottom = pick(0, win.r - 1);
		win.pad_left = pick(0, win.s - 1);
		win.pad_right = pick(0, win.s - 1);
	}
	out = add_tensor(m, "pool",
			 out_size(h, win.pad_top, win.pad_bottom, win.r, 1, win.stride_y),
			 out_size(w, win.pad_left, win.pad_right, win.s, 1, win.stride_x),
			 in->dim[3], in->quant.scale[0], in->quant.zero[0]);
	op = add_op(m, average ? NPU_OP_AVERAGE_POOL : NPU_OP_MAX_POOL,
		    average ? "average_pool" : "max_pool", input, out);
	op->window = win;
	if (average && chance(30))
		op->activation = activations[pick(0, 4)];
}

static void make_mean(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor;
	u32 out = add_tensor(m, "mean", 1, 1, in->dim[3],
			     in->quant.scale[0] * (float)(0.4 + unit()), random_zero(m->dtype));
	struct npu_op *op = add_op(m, NPU_OP_MEAN, "mean", input, out);

	op->axes = 1u << 1 | 1u << 2;
}

/* An earlier result of the same shape, where there is one; else a second graph input. */
static u32 add_input_like(struct maker *m, u32 tensor, bool same_quant)
{
	const struct npu_tensor *like = &m->graph->tensor[tensor];
	u32 i, first = pick(0, m->graph->tensor_count - 1), input;

	for (i = 0; i < m->graph->tensor_count && chance(90); i++) {
		u32 other = (first + i) % m->graph->tensor_count;
		const struct npu_tensor *t = &m->graph->tensor[other];

		if (other == tensor || t->data || t->dtype != like->dtype ||
		    t->rank != like->rank || memcmp(t->dim, like->dim, sizeof(t->dim)))
			continue;
		if (!same_quant || (t->quant.scale[0] == like->quant.scale[0] &&
				    t->quant.zero[0] == like->quant.zero[0]))
			return other;
	}
	input = add_tensor(m, "second", like->dim[1], like->dim[2], like->dim[3],
			   like->quant.scale[0] * (float)exp2(2 * unit() - 1),
			   random_zero(m->dtype));
	like = &m->graph->tensor[tensor];
	if (same_quant)
		set_quant(m, input, like->quant.scale[0], like->quant.zero[0]);
	if (m->graph->input_count == MAX_INPUTS)
		return tensor;
	m->graph->input[m->graph->input_count++] = input;
	return input;
}

/* An operand for all or for each channel: a constant or a graph input. */
static u32 add_channel_operand(struct maker *m, u32 tensor, bool same_quant)
{
	const struct npu_tensor *like = &m->graph->tensor[tensor];
	float scale = like->quant.scale[0] * (float)exp2(2 * unit() - 1);
	s32 zero = chance(40) ? (m->dtype == NPU_U8 ? 128 : 0) : random_zero(m->dtype);
	u32 c = like->dim[3], operand, one = 1;

	if (same_quant) {
		scale = like->quant.scale[0];
		zero = like->quant.zero[0];
	}
	if (chance(70) || m->graph->input_count == MAX_INPUTS) {
		operand = npu_graph_add_tensor(m->graph, "constant", m->dtype, 1,
					       chance(30) ? &one : &c);
		set_quant(m, operand, scale, zero);
		shared_random_bytes(constant(m, operand), m->graph->tensor[operand].bytes,
				    shared_random(&seed_state));
		return operand;
	}
	operand = add_tensor(m, "by channel", 1, 1, c, scale, zero);
	m->graph->input[m->graph->input_count++] = operand;
	return operand;
}

/* The scale at which most products of two values, or of one with itself, do not saturate. */
static float product_scale(const struct npu_tensor *a, const struct npu_tensor *b)
{
	return a->quant.scale[0] * b->quant.scale[0] * 128 * (float)(0.5 + unit());
}

static void make_binary(struct maker *m, enum npu_op_kind kind)
{
	bool ordered = kind == NPU_OP_MAXIMUM || kind == NPU_OP_MINIMUM;
	u32 a = m->tensor, b, out;
	const struct npu_tensor *ta;
	struct npu_op *op;
	float scale;

	b = chance(40) ? add_channel_operand(m, a, ordered) : add_input_like(m, a, ordered);
	ta = &m->graph->tensor[a];
	scale = ta->quant.scale[0];
	if (kind == NPU_OP_ADD || kind == NPU_OP_SUB)
		scale *= (float)(0.6 + unit());
	if (kind == NPU_OP_MUL)
		scale = product_scale(ta, &m->graph->tensor[b]);
	out = add_tensor(m, "sum", ta->dim[1], ta->dim[2], ta->dim[3], scale,
			 ordered ? ta->quant.zero[0] : random_zero(m->dtype));
	op = add_op(m, kind, npu_op_names[kind], a, out);
	op->input[1] = b;
	if (chance(30)) {
		op->input[1] = a;
		op->input[0] = b;
	}
	op->activation = ordered ? NPU_ACT_NONE : activations[pick(0, 4)];
}

static void make_slope(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	enum npu_op_kind kind = chance(50) ? NPU_OP_PRELU : NPU_OP_LEAKY_RELU;
	u32 input = m->tensor, out, slope = 0, shape[3] = { 1, 1, in->dim[3] };
	struct npu_op *op;

	if (kind == NPU_OP_PRELU) {
		slope = npu_graph_add_tensor(m->graph, "slopes", m->dtype, 3, shape);
		set_quant(m, slope, (float)(unit() / 128), m->dtype == NPU_U8 ? 128 : 0);
		shared_random_bytes(constant(m, slope), m->graph->tensor[slope].bytes,
				    shared_random(&seed_state));
		in = &m->graph->tensor[input];
	}
	out = add_tensor(m, "slope", in->dim[1], in->dim[2], in->dim[3],
			 in->quant.scale[0] * (float)(0.5 + unit()), random_zero(m->dtype));
	op = add_op(m, kind, npu_op_names[kind], input, out);
	op->alpha = (float)(unit() - 0.3);
	if (kind == NPU_OP_PRELU)
		op->input[1] = slope;
}

/* Functions of one element, by tables. */
static void make_function(struct maker *m)
{
	static const enum npu_op_kind kinds[] = { NPU_OP_LOGISTIC, NPU_OP_TANH, NPU_OP_HARD_SWISH,
						  NPU_OP_FUNCTION };
	static const enum npu_function functions[] = { NPU_FN_SILU, NPU_FN_GELU, NPU_FN_SOFTPLUS,
						       NPU_FN_ABS, NPU_FN_NEG };
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 which = pick(0, ARRAY_SIZE(kinds) - 1), input = m->tensor, out;
	s32 zero[] = { m->dtype == NPU_U8 ? 0 : -128, m->dtype == NPU_U8 ? 128 : 0,
		       random_zero(m->dtype), random_zero(m->dtype) };
	float scale[] = { 1.0f / 256, 1.0f / 128, in->quant.scale[0], in->quant.scale[0] };
	enum npu_function function = functions[pick(0, ARRAY_SIZE(functions) - 1)];

	out = add_tensor(m, "function", in->dim[1], in->dim[2], in->dim[3], scale[which],
			 zero[which]);
	add_op(m, kinds[which],
	       kinds[which] == NPU_OP_FUNCTION ? npu_function_names[function]
					       : npu_op_names[kinds[which]],
	       input, out)
		->function = function;
}

static void make_lrn(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, out;
	struct npu_op *op;

	out = add_tensor(m, "lrn", in->dim[1], in->dim[2], in->dim[3],
			 in->quant.scale[0] * (float)(0.3 + 0.9 * unit()), random_zero(m->dtype));
	op = add_op(m, NPU_OP_LRN, "lrn", input, out);
	op->size = 2 * pick(0, 4) + 1;
	op->gamma = (float)(0.5 + 2 * unit());
	op->alpha = (float)exp2(8 * unit() - 6);
	op->beta = (float)(0.25 + unit());
}

/* Of channels, where the operands need not have as many, or of rows or columns. */
static void make_concat(struct maker *m)
{
	u32 a = m->tensor, axis = pick(1, 3), b, out, dim[4], i;
	const struct npu_tensor *ta;
	struct npu_op *op;

	b = chance(50) || m->graph->input_count == MAX_INPUTS
		    ? add_input_like(m, a, m->dtype == NPU_I8 || chance(50))
		    : NPU_NONE;
	ta = &m->graph->tensor[a];
	memcpy(dim, ta->dim, sizeof(dim));
	if (b == NPU_NONE) {
		dim[axis] = pick(1, 20);
		b = add_tensor(m, "second", dim[1], dim[2], dim[3], ta->quant.scale[0],
			       ta->quant.zero[0]);
		m->graph->input[m->graph->input_count++] = b;
	}
	ta = &m->graph->tensor[a];
	for (i = 1; i < 4; i++)
		dim[i] = ta->dim[i] + (i == axis ? m->graph->tensor[b].dim[i] : 0);
	out = add_tensor(m, "both", dim[1], dim[2], dim[3], ta->quant.scale[0], ta->quant.zero[0]);
	op = add_op(m, NPU_OP_CONCAT, "concat", a, out);
	op->input[1] = b;
	if (chance(30)) {
		op->input[0] = b;
		op->input[1] = a;
	}
	op->axis = (s32)axis;
}

static u32 pick_padding(u32 kernel, u32 dilation, u32 size)
{
	u32 most = (kernel - 1) * dilation;

	return pick(0, most < size - 1 ? most : size - 1);
}

static void make_transpose_conv(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 h = in->dim[1], w = in->dim[2], input = m->tensor, out, weights, bias;
	struct npu_window win = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	float out_scale;
	u32 dim[4] = { pick(1, 40), pick(1, 5), pick(1, 5), in->dim[3] };
	u32 high, wide;
	struct npu_op *op;

	win.r = dim[1];
	win.s = dim[2];
	win.stride_y = pick(1, 4);
	win.stride_x = pick(1, 4);
	if (chance(15))
		win.dilation_y = win.dilation_x = 2;
	high = (h - 1) * win.stride_y + (win.r - 1) * win.dilation_y + 1;
	wide = (w - 1) * win.stride_x + (win.s - 1) * win.dilation_x + 1;
	/* Less than a kernel, and something of the output is left. */
	if (chance(60)) {
		win.pad_top = pick_padding(win.r, win.dilation_y, high);
		win.pad_bottom = pick_padding(win.r, win.dilation_y, high - win.pad_top);
		win.pad_left = pick_padding(win.s, win.dilation_x, wide);
		win.pad_right = pick_padding(win.s, win.dilation_x, wide - win.pad_left);
	}
	weights = add_weights(m, 4, dim, in->quant.scale[0], &out_scale);
	bias = add_bias(m, dim[0]);
	out = add_tensor(m, "deconv", high - win.pad_top - win.pad_bottom,
			 wide - win.pad_left - win.pad_right, dim[0], out_scale,
			 random_zero(m->dtype));
	op = add_op(m, NPU_OP_TRANSPOSE_CONV, "transpose_conv", input, out);
	op->input[1] = weights;
	op->input[2] = bias;
	op->window = win;
	op->activation = activations[pick(0, 4)];
}

static void make_slice(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, size[3], begin[3], i, out;
	struct npu_op *op;

	for (i = 0; i < 3; i++) {
		begin[i] = chance(50) ? 0 : pick(0, in->dim[i + 1] - 1);
		if (i == 2 && chance(70))
			begin[i] = begin[i] / 32 * 32;
		size[i] = chance(40) ? in->dim[i + 1] - begin[i]
				     : pick(1, in->dim[i + 1] - begin[i]);
	}
	out = add_tensor(m, "slice", size[0], size[1], size[2], in->quant.scale[0],
			 in->quant.zero[0]);
	op = add_op(m, NPU_OP_SLICE, "slice", input, out);
	for (i = 0; i < 3; i++) {
		op->begin[i + 1] = (s32)begin[i];
		op->end[i + 1] = (s32)size[i];
		op->step[i + 1] = 1;
		if (chance(15)) {
			op->step[i + 1] = (s32)pick(2, 4);
			op->end[i + 1] = (s32)((size[i] - 1) / (u32)op->step[i + 1] + 1);
			m->graph->tensor[out].dim[i + 1] = (u32)op->end[i + 1];
		}
	}
	m->graph->tensor[out].bytes = npu_tensor_elements(&m->graph->tensor[out]);
	op->end[0] = op->step[0] = 1;
}

static void make_resize(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, out;
	struct npu_op *op;

	out = add_tensor(m, "larger", in->dim[1] * pick(1, 3), in->dim[2] * pick(1, 3), in->dim[3],
			 in->quant.scale[0], in->quant.zero[0]);
	op = add_op(m, NPU_OP_RESIZE_NEAREST, "resize_nearest", input, out);
	op->half_pixel_centers = chance(50);
}

static void make_quantize(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	float scale = in->quant.scale[0] * (chance(50) ? 1 : (float)exp2(3 * unit() - 1.5));
	u32 input = m->tensor, out;
	s32 zero = in->quant.zero[0];

	if (chance(50)) {
		zero += m->dtype == NPU_I8 ? 128 : -128;
		m->dtype = m->dtype == NPU_I8 ? NPU_U8 : NPU_I8;
	}
	out = add_tensor(m, "requantised", in->dim[1], in->dim[2], in->dim[3], scale, zero);
	add_op(m, NPU_OP_QUANTIZE, "quantize", input, out);
}

/* What makes a unit of its input many of its output comes alone. */
#define KINDS_OF_NETWORKS 14

static void make_one(struct maker *m, bool alone)
{
	switch (alone ? pick(0, 20) : pick(0, KINDS_OF_NETWORKS - 1)) {
	case 0:
		make_fully_connected(m);
		break;
	case 1:
		make_pool(m, false);
		break;
	case 2:
		make_pool(m, true);
		break;
	case 3:
		make_mean(m);
		break;
	case 4:
		make_binary(m, chance(70) ? NPU_OP_ADD : NPU_OP_SUB);
		break;
	case 5:
		make_binary(m, chance(50) ? NPU_OP_MAXIMUM : NPU_OP_MINIMUM);
		break;
	case 6:
		make_concat(m);
		break;
	case 7:
		make_quantize(m);
		break;
	case 8:
		make_pad(m);
		make_conv(m, false, false);
		break;
	case 9:
		make_conv(m, false, true);
		make_pool(m, false);
		break;
	case 10:
		make_conv(m, true, true);
		make_binary(m, NPU_OP_ADD);
		break;
	case 11:
		make_transpose_conv(m);
		break;
	case 12:
		make_slice(m);
		break;
	case 13:
		make_resize(m);
		break;
	case 14:
		make_binary(m, NPU_OP_MUL);
		break;
	case 15:
		make_slope(m);
		break;
	case 16:
		make_function(m);
		break;
	case 17:
		make_lrn(m);
		break;
	default:
		make_conv(m, false, false);
	}
}

static struct npu_graph *make_graph(char what[256])
{
	struct maker m = { .graph = npu_graph_new("random"),
			   .dtype = chance(75) ? NPU_I8 : NPU_U8 };
	struct npu_graph *graph = m.graph;
	u32 h = pick(1, chance(3) ? 80 : 24), w = pick(1, chance(10) ? 150 : 24),
	    c = pick(1, chance(20) ? 130 : 40), ops, count;

	graph->input = npu_arena_array(&graph->arena, MAX_INPUTS, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	snprintf(m.what, sizeof(m.what), "%s %ux%ux%u:", npu_dtype_names[m.dtype], h, w, c);
	m.tensor =
		add_tensor(&m, "in", h, w, c, (float)(0.005 + 0.05 * unit()), random_zero(m.dtype));
	graph->input[graph->input_count++] = m.tensor;
	/* Mostly one operator, which is then compared closely; else a small network. */
	ops = count = chance(75) ? 1 : pick(2, 7);
	for (; ops && graph->tensor[m.tensor].rank == 4; ops--)
		make_one(&m, count == 1);
	graph->output[graph->output_count++] = m.tensor;
	memcpy(what, m.what, sizeof(m.what));
	return graph;
}

/* Bytes are what they are, or less a mean: one unit of the input each, so that CDMA is exact. */
static bool take_image(struct npu_graph *graph, char what[256])
{
	const struct npu_tensor *in = &graph->tensor[graph->input[0]];
	struct npu_pixel_input pixels = { .given = chance(50) };
	struct npu_diag diag = { "" };
	u32 i, c = in->dim[3];

	pixels.order = c == 1	? NPU_PIXELS_R8
		       : c == 4 ? (enum npu_pixel_order)pick(NPU_PIXELS_RGBA, NPU_PIXELS_ABGR)
				: (enum npu_pixel_order)pick(NPU_PIXELS_RGB, NPU_PIXELS_NV42);
	for (i = 0; i < NPU_MAX_PIXEL_CHANNELS; i++) {
		pixels.mean[i] = (float)pick(0, 255);
		pixels.scale[i] = in->quant.scale[0];
	}
	snprintf(what + strlen(what), 256 - strlen(what), " of %s%s",
		 npu_pixel_formats[pixels.order].name, pixels.given ? " with means" : "");
	return npu_graph_take_pixels(graph, &pixels, &diag) == 0;
}

static struct npu_graph *make_image(char what[256])
{
	static const u32 channels[] = { 1, 3, 4 };
	struct maker m = { .graph = npu_graph_new("image"), .dtype = chance(75) ? NPU_I8 : NPU_U8 };
	struct npu_graph *graph = m.graph;
	u32 h = pick(1, 40), w = pick(1, chance(20) ? 300 : 40), c = channels[pick(0, 2)];

	graph->input = npu_arena_array(&graph->arena, MAX_INPUTS, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	snprintf(m.what, sizeof(m.what), "%s %ux%ux%u:", npu_dtype_names[m.dtype], h, w, c);
	m.tensor =
		add_tensor(&m, "in", h, w, c, (float)(0.005 + 0.05 * unit()), random_zero(m.dtype));
	graph->input[graph->input_count++] = m.tensor;
	if (chance(20))
		make_pad(&m);
	make_conv(&m, chance(30), chance(30));
	if (chance(20))
		make_pool(&m, false);
	graph->output[graph->output_count++] = m.tensor;
	memcpy(what, m.what, sizeof(m.what));
	if (!take_image(graph, what)) {
		npu_graph_free(graph);
		return NULL;
	}
	return graph;
}

/**
 * struct axis - a window along rows or columns
 * @before, @after: the convolution's own padding
 * @front, @behind: that of an operator in front of it
 */
struct axis {
	u32 size, kernel, stride, dilation, before, after, front, behind;
};

/* What registers do not hold: a large kernel, stride, dilation or padding, or what they do. */
static void pick_axis(struct axis *axis)
{
	u32 extent;

	axis->kernel = pick(1, 5);
	axis->stride = pick(1, 3);
	axis->dilation = 1;
	axis->before = axis->after = axis->front = axis->behind = 0;
	switch (pick(0, 5)) {
	case 0:
		axis->kernel = pick(33, 110);
		axis->stride = chance(50) ? 1 : pick(2, 40);
		break;
	case 1:
		axis->stride = pick(9, 40);
		axis->kernel = pick(1, chance(50) ? 4 : axis->stride);
		break;
	case 2:
		axis->dilation = pick(33, 60);
		axis->kernel = pick(1, 3);
		break;
	case 3:
		axis->front = pick(0, 50);
		axis->behind = pick(0, 50);
		break;
	}
	extent = (axis->kernel - 1) * axis->dilation + 1;
	if (chance(50)) {
		axis->before = pick(0, extent - 1);
		axis->after = pick(0, extent - 1);
	}
	axis->size = pick(1, 30) + (chance(60) ? extent : 0);
	/* A signal of more samples than a cube is wide. */
	if (chance(20) && axis->kernel > 20)
		axis->size = pick(8000, 20000);
	if (axis->size + axis->before + axis->after < extent)
		axis->size = extent - axis->before - axis->after;
}

static u32 axis_out(const struct axis *axis)
{
	return out_size(axis->front + axis->size + axis->behind, axis->before, axis->after,
			axis->kernel, axis->dilation, axis->stride);
}

static bool is_large(const struct axis *axis)
{
	return axis->kernel > 32 || (axis->stride > 8 && axis_out(axis) > 1) ||
	       (axis->dilation > 32 && axis->kernel > 1) || axis->before + axis->front > 31 ||
	       axis->after + axis->behind > 31;
}

static void make_large_pad(struct maker *m, const struct axis *y, const struct axis *x)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	float scale = in->quant.scale[0];
	s32 zero = in->quant.zero[0];
	u32 input = m->tensor;
	u32 out = add_tensor(m, "pad", y->front + in->dim[1] + y->behind,
			     x->front + in->dim[2] + x->behind, in->dim[3], in->quant.scale[0],
			     in->quant.zero[0]);
	struct npu_op *op = add_op(m, NPU_OP_PAD, "pad", input, out);

	op->begin[1] = (s32)y->front;
	op->begin[2] = (s32)x->front;
	op->end[1] = (s32)y->behind;
	op->end[2] = (s32)x->behind;
	/* Not what convolutions pad with, as a rule. */
	if (chance(50)) {
		u32 one = 1, value = npu_graph_add_tensor(m->graph, "value", m->dtype, 1, &one);

		set_quant(m, value, scale, zero);
		*(u8 *)constant(m, value) = (u8)pick(0, 255);
		op = &m->graph->op[m->graph->op_count - 1];
		op->input[1] = value;
	}
}

/* A convolution of large windows, in one or two dimensions; small enough for the reference. */
static void make_large_conv(struct maker *m, const struct axis *y, const struct axis *x, u32 k,
			    u32 groups)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, weights, bias, out,
	    dim[4] = { k, y->kernel, x->kernel, in->dim[3] / groups };
	struct npu_op *op;
	float out_scale;

	weights = add_weights(m, 4, dim, in->quant.scale[0], &out_scale);
	bias = add_bias(m, k);
	out = add_tensor(m, "large conv", axis_out(y), axis_out(x), k, out_scale,
			 random_zero(m->dtype));
	op = add_op(m, NPU_OP_CONV, "large conv", input, out);
	op->input[1] = weights;
	op->input[2] = bias;
	op->groups = groups;
	op->window = (struct npu_window){ y->kernel,   x->kernel, y->stride, x->stride, y->dilation,
					  x->dilation, y->before, x->before, y->after,	x->after };
	op->activation = activations[pick(0, 4)];
}

static void make_large_pool(struct maker *m, enum npu_op_kind kind, const struct axis *y,
			    const struct axis *x)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, out = add_tensor(m, "large pool", axis_out(y), axis_out(x),
						in->dim[3], in->quant.scale[0], in->quant.zero[0]);
	struct npu_op *op = add_op(m, kind, npu_op_names[kind], input, out);

	op->window = (struct npu_window){ y->kernel, x->kernel, y->stride, x->stride, 1,
					  1,	     y->before, x->before, y->after,  x->after };
	op->activation = activations[pick(0, 4)];
}

/* Of all rows, of all columns, or both. */
static void make_extreme(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	enum npu_op_kind kind = chance(50) ? NPU_OP_REDUCE_MAX : NPU_OP_REDUCE_MIN;
	u32 axes = pick(1, 3), input = m->tensor;
	u32 out = add_tensor(m, "extreme", axes & 1 ? 1 : in->dim[1], axes & 2 ? 1 : in->dim[2],
			     in->dim[3], in->quant.scale[0], in->quant.zero[0]);

	add_op(m, kind, npu_op_names[kind], input, out)->axes = axes << 1;
}

static void make_bilinear(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	u32 input = m->tensor, out;
	struct npu_op *op;

	out = add_tensor(m, "smooth", in->dim[1] << pick(0, 2), in->dim[2] << pick(0, 2),
			 in->dim[3], in->quant.scale[0], in->quant.zero[0]);
	op = add_op(m, NPU_OP_RESIZE_BILINEAR, "resize_bilinear", input, out);
	op->half_pixel_centers = chance(70);
}

#define LARGE_MACS 6000000u
#define LARGE_ELEMENTS 300000u

static struct npu_graph *make_large(char what[256])
{
	static const struct axis one_row = { 1, 1, 1, 1, 0, 0, 0, 0 };
	struct maker m = { .graph = npu_graph_new("large"), .dtype = chance(75) ? NPU_I8 : NPU_U8 };
	struct npu_graph *graph = m.graph;
	u32 c, k, groups, line = pick(0, 2);
	bool pool = chance(25);
	struct axis y, x;

	graph->input = npu_arena_array(&graph->arena, MAX_INPUTS, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	do {
		pick_axis(&y);
		pick_axis(&x);
		if (line == 1)
			y = one_row;
		if (line == 2)
			x = one_row;
		c = pick(1, chance(50) ? 8 : 40);
		groups = chance(30) ? c : chance(20) && c % 2 == 0 ? 2 : 1;
		k = groups * pick(1, groups == c ? 2 : groups == 2 ? 10 : 30);
		if (pool) {
			y.dilation = x.dilation = 1;
			y.before = y.after = x.before = x.after = 0;
			if (chance(50)) {
				y.before = pick(0, y.kernel - 1);
				y.after = pick(0, y.kernel - 1);
				x.before = pick(0, x.kernel - 1);
				x.after = pick(0, x.kernel - 1);
			}
			groups = k = c;
		}
	} while ((!is_large(&y) && !is_large(&x)) ||
		 (u64)axis_out(&y) * axis_out(&x) * y.kernel * x.kernel * c / groups * k >
			 LARGE_MACS ||
		 y.size * x.size * c > LARGE_ELEMENTS ||
		 axis_out(&y) * axis_out(&x) * k > LARGE_ELEMENTS || axis_out(&y) > 8192 ||
		 axis_out(&x) > 8192);
	snprintf(m.what, sizeof(m.what),
		 "%s %ux%ux%u, windows %ux%u, strides %ux%u, dilations %ux%u, padding %u %u %u %u, "
		 "%u groups, %u kernels:",
		 npu_dtype_names[m.dtype], y.size, x.size, c, y.kernel, x.kernel, y.stride,
		 x.stride, y.dilation, x.dilation, y.front + y.before, x.front + x.before,
		 y.behind + y.after, x.behind + x.after, groups, k);
	m.tensor = add_tensor(&m, "in", y.size, x.size, c, (float)(0.005 + 0.05 * unit()),
			      random_zero(m.dtype));
	graph->input[graph->input_count++] = m.tensor;
	if (y.front + y.behind + x.front + x.behind)
		make_large_pad(&m, &y, &x);
	if (!pool)
		make_large_conv(&m, &y, &x, k, groups);
	else if (chance(50))
		make_large_pool(&m, NPU_OP_MAX_POOL, &y, &x);
	else if (chance(50))
		make_extreme(&m);
	else
		make_bilinear(&m);
	graph->output[graph->output_count++] = m.tensor;
	memcpy(what, m.what, sizeof(m.what));
	return graph;
}

/* A signal longer than a cube, in UINT8, of which weights beyond 8 bits are the CPU's to add. */
static struct npu_graph *make_signal(char what[256])
{
	struct maker m = { .graph = npu_graph_new("signal"), .dtype = NPU_U8 };
	const struct axis one = { 1, 1, 1, 1, 0, 0, 0, 0 };
	struct npu_graph *graph = m.graph;
	struct axis line = one;
	bool tall = chance(50);
	u32 c = pick(1, 6);

	graph->input = npu_arena_array(&graph->arena, MAX_INPUTS, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	line.size = 64 * pick(129, 250);
	line.kernel = pick(33, 80);
	line.stride = pick(20, 40);
	line.before = chance(50) ? pick(0, line.kernel - 1) : 0;
	snprintf(m.what, sizeof(m.what),
		 "%s of %u samples of %u, windows %u, stride %u:", tall ? "rows" : "columns",
		 line.size, c, line.kernel, line.stride);
	m.tensor = add_tensor(&m, "in", tall ? line.size : 1, tall ? 1 : line.size, c,
			      (float)(0.005 + 0.05 * unit()), random_zero(m.dtype));
	graph->input[graph->input_count++] = m.tensor;
	make_large_conv(&m, tall ? &line : &one, tall ? &one : &line, pick(1, 12), 1);
	graph->output[graph->output_count++] = m.tensor;
	memcpy(what, m.what, sizeof(m.what));
	return graph;
}

/* ---- fully connected layers of many inputs ---- */

/* Of a plane larger than a kernel, or of more inputs in a row than a cube has channels. */
static struct npu_graph *make_plane(char what[256])
{
	struct maker m = { .graph = npu_graph_new("plane"), .dtype = chance(75) ? NPU_I8 : NPU_U8 };
	struct npu_graph *graph = m.graph;
	u32 h = 1, w = 1, c = 8 * pick(1025, 1900) + (chance(30) ? pick(0, 7) : 0);

	graph->input = npu_arena_array(&graph->arena, MAX_INPUTS, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	if (chance(60)) {
		h = pick(1, 80);
		w = pick(h > 32 ? 1 : 33, 80);
		c = pick(1, 16384 / (h * w) ? 16384 / (h * w) : 1);
	}
	snprintf(m.what, sizeof(m.what), "%s %ux%ux%u:", npu_dtype_names[m.dtype], h, w, c);
	m.tensor =
		add_tensor(&m, "in", h, w, c, (float)(0.005 + 0.05 * unit()), random_zero(m.dtype));
	graph->input[graph->input_count++] = m.tensor;
	make_fully_connected(&m);
	graph->output[graph->output_count++] = m.tensor;
	memcpy(what, m.what, sizeof(m.what));
	return graph;
}

/* ---- averages ---- */

/* Windows beyond kernels of ones: pyramids that share the plane out, global ones, any that are large. */
static void pick_average_axis(struct axis *axis)
{
	*axis = (struct axis){ .dilation = 1 };
	switch (pick(0, 3)) {
	case 0: /* the whole plane */
		axis->size = axis->kernel = pick(1, 130);
		axis->stride = pick(1, 40);
		break;
	case 1: /* shared out */
		axis->kernel = axis->stride = pick(2, 40);
		axis->size = axis->kernel * pick(1, 6) + (chance(30) ? pick(0, 5) : 0);
		break;
	case 2:
		axis->kernel = pick(9, 64);
		axis->stride = pick(1, chance(50) ? 4 : 40);
		axis->size = axis->kernel + pick(0, 40);
		break;
	default:
		axis->kernel = axis->stride = 1;
		axis->size = pick(1, 40);
	}
	if (chance(20)) {
		axis->before = pick(0, min(axis->kernel - 1, 8u));
		axis->after = pick(0, min(axis->kernel - 1, 8u));
	}
}

/* Of all rows, of all columns, or both. */
static void make_reduction(struct maker *m)
{
	const struct npu_tensor *in = &m->graph->tensor[m->tensor];
	enum npu_op_kind kind = chance(60) ? NPU_OP_MEAN : NPU_OP_REDUCE_SUM;
	u32 axes = chance(60) ? 3 : pick(1, 2), input = m->tensor, out, taps;
	double scale = in->quant.scale[0] * (0.4 + unit());

	taps = (axes & 1 ? in->dim[1] : 1) * (axes & 2 ? in->dim[2] : 1);
	/* Sums of random bytes around zero grow with the root. */
	if (kind == NPU_OP_REDUCE_SUM)
		scale *= sqrt(taps);
	out = add_tensor(m, "reduced", axes & 1 ? 1 : in->dim[1], axes & 2 ? 1 : in->dim[2],
			 in->dim[3], (float)scale, random_zero(m->dtype));
	add_op(m, kind, npu_op_names[kind], input, out)->axes = axes << 1;
}

static struct npu_graph *make_average(char what[256])
{
	struct maker m = { .graph = npu_graph_new("averages"),
			   .dtype = chance(75) ? NPU_I8 : NPU_U8 };
	struct npu_graph *graph = m.graph;
	struct axis y, x;
	u32 c;

	graph->input = npu_arena_array(&graph->arena, MAX_INPUTS, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	do {
		pick_average_axis(&y);
		pick_average_axis(&x);
		c = pick(1, chance(50) ? 20 : 80);
	} while (y.kernel * x.kernel < 30 || y.size * x.size * c > LARGE_ELEMENTS ||
		 (u64)axis_out(&y) * axis_out(&x) * y.kernel * x.kernel * c > LARGE_MACS);
	snprintf(m.what, sizeof(m.what),
		 "%s %ux%ux%u, windows %ux%u, strides %ux%u, padding %u %u:",
		 npu_dtype_names[m.dtype], y.size, x.size, c, y.kernel, x.kernel, y.stride,
		 x.stride, y.before, x.before);
	m.tensor = add_tensor(&m, "in", y.size, x.size, c, (float)(0.005 + 0.05 * unit()),
			      random_zero(m.dtype));
	graph->input[graph->input_count++] = m.tensor;
	if (chance(60))
		make_large_pool(&m, NPU_OP_AVERAGE_POOL, &y, &x);
	else
		make_reduction(&m);
	graph->output[graph->output_count++] = m.tensor;
	memcpy(what, m.what, sizeof(m.what));
	return graph;
}

/* ---- one network ---- */

enum kind { LAYERS, IMAGES, LARGE, SIGNALS, PLANES, AVERAGES };

static struct npu_graph *(*const makers[])(char what[256]) = {
	[LAYERS] = make_graph,	 [IMAGES] = make_image, [LARGE] = make_large,
	[SIGNALS] = make_signal, [PLANES] = make_plane, [AVERAGES] = make_average,
};

struct run {
	struct npu_graph *graph; /* owned by the program's net */
	struct npu_program program;
	struct npu_reference *reference;
	struct npu_diag diag;
	char path[64];
	u8 *clamped; /* elements whose intermediate result did not fit */
	u8 *first; /* output at the first budget */
	u64 elements, equal, worse, skipped;
	bool cpu;
	bool image; /* the NPU reads one */
	bool saturates; /* a network with a sum that may be fused with what saturates: no oracle */
	int limit; /* largest deviation */
};

static bool compile(struct run *run, const struct nvdla_config *config)
{
	struct npu_budget budget = npu_budget_full(config);
	u32 i, ops;

	if (npu_graph_verify(run->graph, &run->diag) ||
	    npu_optimise(run->graph, config, &run->program.net, &run->diag)) {
		npu_graph_free(run->graph);
		return false;
	}
	for (i = 0; i < run->program.net->layer_count; i++)
		run->cpu |= run->program.net->layer[i].kind == NPU_LAYER_CPU;
	ops = run->graph->op_count - (run->graph->op[0].kind == NPU_OP_PIXELS);
	run->image = run->program.net->layer_count && run->program.net->layer[0].pixels.used;
	/* A second layer passes on what the first one is off by, at another scale. */
	run->limit = ops > 1 && run->program.net->layer_count > 1 ? 3 : 1;
	/* A table has the CPU's very bytes. */
	if (ops == 1 && npu_op_support[run->graph->op[0].kind].table)
		run->limit = 0;
	/* Through several layers units add up and are multiplied; wrong data would be far off. */
	if (ops > 2)
		run->limit = NETWORK_LIMIT;
	return npu_program_replan(&run->program, &budget, &run->diag) == 0 &&
	       npu_program_save(&run->program, run->path, &run->diag) == 0;
}

static void release(struct run *run)
{
	u32 i;

	for (i = 0; i < run->program.step_count; i++)
		free(run->program.step[i].stream);
	free(run->program.step);
	npu_plan_free(run->program.plan);
	npu_reference_free(run->reference);
	npu_net_free(run->program.net);
	free(run->clamped);
	free(run->first);
}

static bool has_sum(const struct npu_graph *graph)
{
	u32 i;

	for (i = 0; i < graph->op_count; i++)
		if (graph->op[i].kind == NPU_OP_ADD)
			return true;
	return false;
}

/* The oracle; where a sum is fused, elements that saturate between the two are left out. */
static bool run_reference(struct run *run)
{
	const struct npu_graph *graph = run->graph;
	size_t bytes = graph->tensor[graph->output[0]].bytes;
	u32 i;

	if (npu_reference_new(graph, &run->reference, &run->diag))
		return false;
	for (i = 0; i < graph->input_count; i++)
		shared_random_bytes(npu_reference_tensor(run->reference, graph->input[i]),
				    graph->tensor[graph->input[i]].bytes,
				    shared_random(&seed_state));
	run->clamped = shared_alloc(bytes);
	run->first = shared_alloc(bytes);
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_tensor *out = npu_op_output(graph, &graph->op[i]);
		bool last = i + 2 == graph->op_count && graph->op[i + 1].kind == NPU_OP_ADD;
		u8 *clamped = shared_alloc(out->bytes);
		size_t j;

		if (npu_reference_run_op(run->reference, i, clamped, &run->diag)) {
			free(clamped);
			return false;
		}
		for (j = 0; j < npu_tensor_elements(out) && graph->op[i].kind == NPU_OP_CONV; j++)
			run->saturates |= clamped[j];
		if (last)
			memcpy(run->clamped, clamped, bytes);
		free(clamped);
	}
	run->saturates &= has_sum(graph) && graph->op_count > 2;
	return true;
}

static int element(const struct npu_tensor *t, const u8 *data, size_t i)
{
	return t->dtype == NPU_U8 ? data[i] : (s8)data[i];
}

static u64 total, total_equal, total_cpu, total_images, total_large, total_planes, total_units;

/* @exact: not the first budget, and no layer is the CPU's for want of banks: the very same bytes. */
static bool compare(struct run *run, const u8 *out, bool first, bool exact)
{
	const struct npu_tensor *t = &run->graph->tensor[run->graph->output[0]];
	const u8 *want = npu_reference_tensor(run->reference, run->graph->output[0]);
	size_t i;

	if (exact)
		return memcmp(out, run->first, t->bytes) == 0;
	if (first)
		memcpy(run->first, out, t->bytes);
	for (i = 0; i < t->bytes; i++) {
		int diff = abs(element(t, out, i) - element(t, want, i));

		if (run->clamped[i] || run->saturates) {
			run->skipped++;
			continue;
		}
		run->elements++;
		run->equal += diff == 0;
		run->worse += diff > run->limit;
	}
	return run->worse == 0;
}

static bool run_budget(struct run *run, struct npu_device *device, u32 banks, bool first)
{
	struct npu_model_options options = { .size = sizeof(options), .max_banks = banks };
	struct npu_model *model;
	struct shared_io io;
	int error = npu_model_load(device, run->path, &options, &model);
	bool good;
	u32 i;

	if (error)
		return false;
	total_units += model->program->plan->unit_count;
	shared_io_make(model, &io);
	for (i = 0; i < io.input_count; i++)
		memcpy((void *)(uintptr_t)io.input[i].data,
		       npu_reference_tensor(run->reference, run->graph->input[i]),
		       io.input[i].bytes);
	good = npu_run(model, io.input, io.input_count, io.output, io.output_count, NULL) == 0 &&
	       compare(run, io.output[0].data, first, !first && !model->program->plan->unit_count);
	shared_io_free(&io);
	npu_model_free(model);
	return good;
}

/* Of averages that are the NPU's alone: how many, their elements, and those that are the CPU's very bytes. */
static struct {
	u64 count, elements, equal;
} averages;

static void one(u32 index, enum kind kind, struct npu_device **devices)
{
	u32 which = pick(0, SHARED_CONFIG_COUNT - 1), budgets = 0, i, banks;
	const struct nvdla_config *config = nvdla_config_find(shared_configs[which]);
	struct run run = { 0 };
	char what[256], text[300] = "";
	bool good;

	snprintf(run.path, sizeof(run.path), "/tmp/random_layers.%d.npu", (int)getpid());
	run.graph = makers[kind](what);
	if (!run.graph) {
		tap(false, "%u %s: takes no image", index, what);
		return;
	}
	good = compile(&run, config);
	if (!good) {
		tap(false, "%u %s %s: %s", index, config->name, what, run.diag.text);
		if (run.program.net)
			release(&run);
		return;
	}
	good = run_reference(&run);
	for (i = 0; i < 4 && good; i++) {
		/* At few banks a layer may have to be the CPU's. */
		banks = i ? pick(1, i == 3 ? 4 : config->banks) : config->banks;
		npu_error();
		good = run_budget(&run, devices[which], banks, i == 0);
		budgets += good;
		if (!good)
			snprintf(text, sizeof(text), " at %u banks: %s", banks, npu_error());
	}
	total += run.elements;
	total_equal += run.equal;
	total_cpu += run.cpu;
	total_images += run.image;
	total_large += kind == LARGE && !run.cpu;
	total_planes += kind == PLANES && !run.cpu;
	if (kind == AVERAGES && !run.cpu) {
		averages.count++;
		averages.elements += run.elements;
		averages.equal += run.equal;
	}
	tap(good && budgets,
	    "%u %s %s%s: %llu elements, %llu equal, %llu off by more, %llu "
	    "skipped, %u budgets%s",
	    index, config->name, what, run.cpu ? " (CPU)" : "", (unsigned long long)run.elements,
	    (unsigned long long)run.equal, (unsigned long long)run.worse,
	    (unsigned long long)run.skipped, budgets, text);
	if (!good && run.diag.text[0])
		printf("# %s\n", run.diag.text);
	unlink(run.path);
	release(&run);
}

/* Each network from its own number, so that one can be made again alone. */
static void many(u32 seed, u32 count, enum kind kind, struct npu_device **devices)
{
	u32 i;

	for (i = 0; i < count; i++) {
		seed_state = (seed + i) * 2654435761u + 12345;
		pick(0, 1);
		one(seed + i, kind, devices);
	}
}

int main(int argc, char **argv)
{
	u32 count = argc > 1 ? (u32)atoi(argv[1]) : DEFAULT_COUNT;
	u32 seed = argc > 2 ? (u32)atoi(argv[2]) : 1, images = (count + 3) / 4, i;
	struct npu_device *devices[SHARED_CONFIG_COUNT];
	char name[64];

	for (i = 0; i < SHARED_CONFIG_COUNT; i++) {
		snprintf(name, sizeof(name), "sim:%s", shared_configs[i]);
		if (npu_open(name, &devices[i])) {
			tap(false, "%s opens: %s", name, npu_error());
			return tap_end();
		}
	}
	many(seed, count, LAYERS, devices);
	many(seed, images, IMAGES, devices);
	many(seed, images, LARGE, devices);
	many(seed, (images + 9) / 10, SIGNALS, devices);
	many(seed, (images + 3) / 4, PLANES, devices);
	many(seed, images, AVERAGES, devices);
	if (images >= 20)
		tap(total_images * 3 > images, "%llu of %u images are read by the NPU",
		    (unsigned long long)total_images, images);
	if (images >= 20)
		tap(total_large * 3 > images, "%llu of %u large windows are the NPU's alone",
		    (unsigned long long)total_large, images);
	if (images >= 20)
		tap(total_planes * 10 > images, "%llu of %u large planes are the NPU's alone",
		    (unsigned long long)total_planes, (images + 3) / 4);
	if (images >= 20)
		tap(averages.count * 2 > images && averages.equal * 100 >= averages.elements * 98,
		    "%llu of %u large averages are the NPU's alone, %llu of %llu elements equal",
		    (unsigned long long)averages.count, images, (unsigned long long)averages.equal,
		    (unsigned long long)averages.elements);
	if (images >= 20)
		tap(total_units * 20 > images, "%llu times a layer is the CPU's for want of banks",
		    (unsigned long long)total_units);
	for (i = 0; i < SHARED_CONFIG_COUNT; i++)
		npu_close(devices[i]);
	printf("# %llu elements, %.3f %% equal; %llu networks with CPU steps\n",
	       (unsigned long long)total, total ? 100.0 * (double)total_equal / (double)total : 0,
	       (unsigned long long)total_cpu);
	return tap_end();
}
