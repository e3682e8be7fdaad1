// SPDX-License-Identifier: MIT
/* The operators of TensorFlow Lite, each as operators of the graph. */
#include "tflite.h"

#include <math.h>

enum { OPTIONS_NONE };

/* enum BuiltinOptions: which table of options an operator has. */
enum {
	CONV_OPTIONS = 1,
	DEPTHWISE_OPTIONS = 2,
	POOL_OPTIONS = 5,
	FULLY_CONNECTED_OPTIONS = 8,
	SOFTMAX_OPTIONS = 9,
	CONCAT_OPTIONS = 10,
	ADD_OPTIONS = 11,
	LRN_OPTIONS = 13,
	RESIZE_BILINEAR_OPTIONS = 15,
	MUL_OPTIONS = 21,
	GATHER_OPTIONS = 23,
	SUB_OPTIONS = 28,
	DIV_OPTIONS = 29,
	STRIDED_SLICE_OPTIONS = 32,
	TRANSPOSE_CONV_OPTIONS = 49,
	PACK_OPTIONS = 59,
	UNPACK_OPTIONS = 64,
	RESIZE_NEAREST_OPTIONS = 74,
	LEAKY_RELU_OPTIONS = 75,
	GELU_OPTIONS = 116,
};

/* Larger kernels, strides and dilations are refused; products of two stay in 32 bits. */
#define MAX_WINDOW 65535

static const struct npu_tensor *tensor_of(struct tflite *t, u32 index)
{
	return &t->graph->tensor[index];
}

/* Appends an operator that computes @output; NULL and an error in *@error when out of memory. */
static struct npu_op *add(struct tflite *t, enum npu_op_kind kind, u32 input_count,
			  const u32 *inputs, u32 output, int *error)
{
	struct npu_op *op =
		npu_graph_add_op(t->graph, kind, tensor_of(t, output)->name, input_count, 1);

	*error = op ? 0 : -ENOMEM;
	if (!op)
		return NULL;
	memcpy(op->input, inputs, input_count * sizeof(*inputs));
	op->output[0] = output;
	return op;
}

static int set_activation(struct tflite *t, struct npu_op *op, u32 field)
{
	static const enum npu_activation activations[] = { NPU_ACT_NONE, NPU_ACT_RELU,
							   NPU_ACT_RELU_N1_TO_1, NPU_ACT_RELU6 };
	s8 activation = fb_s8(&t->options, field, 0);

	if (activation < 0 || activation >= (s8)ARRAY_SIZE(activations))
		return tflite_fail(t, -ENOTSUP, "fused activation %d is not supported", activation);
	op->activation = activations[activation];
	return 0;
}

/* Reads a constant parameter; INT32 or INT64. */
static int read_constant(struct tflite *t, u32 input, s32 *values, u32 limit, u32 *count)
{
	const struct npu_tensor *tensor;
	u32 i;

	if (t->input[input] == NPU_NONE)
		return tflite_fail(t, -EINVAL, "input %u is missing", input);
	tensor = tensor_of(t, t->input[input]);
	if (!tensor->data)
		return tflite_fail(t, -ENOTSUP, "input %u (%.100s) must be constant", input,
				   tensor->name);
	if (tensor->dtype != NPU_I32 && tensor->dtype != NPU_I64)
		return tflite_fail(t, -EINVAL, "input %u is %s, not int32", input,
				   npu_dtype_names[tensor->dtype]);
	if (npu_tensor_elements(tensor) > limit)
		return tflite_fail(t, -EINVAL, "input %u has %llu values, at most %u are possible",
				   input, (unsigned long long)npu_tensor_elements(tensor), limit);
	*count = npu_tensor_elements(tensor);
	for (i = 0; i < *count; i++) {
		s64 value = tensor->dtype == NPU_I32 ? ((const s32 *)tensor->data)[i]
						     : ((const s64 *)tensor->data)[i];

		/* INT64_MAX and such mean "to the end": they clamp. */
		values[i] = max(min(value, (s64)INT32_MAX), (s64)INT32_MIN);
	}
	return 0;
}

static int read_constants(struct tflite *t, u32 input, s32 *values, u32 count)
{
	u32 found = 0;
	int error = read_constant(t, input, values, count, &found);

	if (!error && found != count)
		error = tflite_fail(t, -EINVAL, "input %u has %u values, not %u", input, found,
				    count);
	return error;
}

static int fix_axis(struct tflite *t, s32 *axis, u32 rank)
{
	if (*axis < 0)
		*axis += rank;
	if (*axis < 0 || *axis >= (s32)rank)
		return tflite_fail(t, -EINVAL, "axis is not one of %u dimensions", rank);
	return 0;
}

/* What TensorFlow pads in front and behind so that ceil(size / stride) steps fit. */
static void pad_same(u32 size, u32 kernel, u32 dilation, u32 stride, u32 *before, u32 *after)
{
	u64 steps = DIV_ROUND_UP((u64)size, stride);
	u64 needed = (steps - 1) * stride + npu_dilated(kernel, dilation);
	u64 total = needed > size ? needed - size : 0;

	*before = total / 2;
	*after = total - total / 2;
}

/* @image: the tensor that the window moves over. */
static int set_padding(struct tflite *t, struct npu_op *op, const struct npu_tensor *image)
{
	struct npu_window *w = &op->window;
	s8 padding = fb_s8(&t->options, 0, 0);
	const u32 sizes[] = { w->r, w->s, w->stride_y, w->stride_x, w->dilation_y, w->dilation_x };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (!sizes[i] || sizes[i] > MAX_WINDOW)
			return tflite_fail(t, -EINVAL,
					   "kernel %u x %u, stride %d, %d, dilation %d, %d", w->r,
					   w->s, (s32)w->stride_y, (s32)w->stride_x,
					   (s32)w->dilation_y, (s32)w->dilation_x);
	if (padding < 0 || padding > 1)
		return tflite_fail(t, -EINVAL, "padding %d is neither SAME nor VALID", padding);
	if (image->rank != 4)
		return tflite_fail(t, -EINVAL, "%.100s has rank %u, not 4", image->name,
				   image->rank);
	if (padding)
		return 0;
	pad_same(image->dim[1], w->r, w->dilation_y, w->stride_y, &w->pad_top, &w->pad_bottom);
	pad_same(image->dim[2], w->s, w->dilation_x, w->stride_x, &w->pad_left, &w->pad_right);
	return 0;
}

/* Options of convolutions and pooling start with padding, stride_w, stride_h. */
static void set_strides(struct tflite *t, struct npu_window *w)
{
	w->stride_x = fb_s32(&t->options, 1, 0);
	w->stride_y = fb_s32(&t->options, 2, 0);
}

static int set_kernel(struct tflite *t, struct npu_window *w, const struct npu_tensor *weights)
{
	if (weights->rank != 4)
		return tflite_fail(t, -EINVAL, "weights have rank %u, not 4", weights->rank);
	w->r = weights->dim[1];
	w->s = weights->dim[2];
	return 0;
}

static int read_conv(struct tflite *t)
{
	const struct npu_tensor *in, *weights;
	struct npu_op *op;
	int error = tflite_real_operands(t, 0, 1, 2);

	if (error)
		return error;
	op = add(t, NPU_OP_CONV, t->input[2] == NPU_NONE ? 2 : 3, t->input, t->output[0], &error);
	if (!op)
		return error;
	in = tensor_of(t, t->input[0]);
	weights = tensor_of(t, t->input[1]);
	set_strides(t, &op->window);
	op->window.dilation_x = fb_s32(&t->options, 4, 1);
	op->window.dilation_y = fb_s32(&t->options, 5, 1);
	error = set_activation(t, op, 3);
	if (!error)
		error = set_kernel(t, &op->window, weights);
	if (!error)
		error = set_padding(t, op, in);
	if (!error && !(in->dim[3] % weights->dim[3]))
		op->groups = in->dim[3] / weights->dim[3];
	return error;
}

/* Depthwise weights are [1][R][S][K] in the file, [K][R][S][1] in the graph. */
static int reorder_weights(struct tflite *t, u32 from, u32 *to)
{
	const struct npu_tensor *weights = tensor_of(t, from);
	const u32 kernels = weights->dim[3], taps = weights->dim[1] * weights->dim[2];
	const u32 dim[] = { kernels, weights->dim[1], weights->dim[2], 1 };
	const size_t bytes = npu_dtype_bytes[weights->dtype];
	u8 *data = npu_arena_alloc(&t->graph->arena, weights->bytes);
	u32 k, tap;

	if (!data)
		return -ENOMEM;
	for (k = 0; k < kernels; k++)
		for (tap = 0; tap < taps; tap++)
			memcpy(data + ((size_t)k * taps + tap) * bytes,
			       (const u8 *)weights->data + ((size_t)tap * kernels + k) * bytes,
			       bytes);
	*to = npu_graph_add_tensor(t->graph, weights->name, weights->dtype, 4, dim);
	if (*to == NPU_NONE)
		return -ENOMEM;
	t->graph->tensor[*to].data = data;
	t->graph->tensor[*to].quant = tensor_of(t, from)->quant;
	/* A wrong dimension of the scales becomes one that the verifier will refuse. */
	if (t->graph->tensor[*to].quant.count > 1)
		t->graph->tensor[*to].quant.axis = 3 - t->graph->tensor[*to].quant.axis;
	return 0;
}

static int depthwise_weights(struct tflite *t)
{
	const struct npu_tensor *weights = tensor_of(t, t->input[1]);
	u32 from = t->input[1];
	int error;

	if (weights->rank != 4 || weights->dim[0] != 1 || !weights->data)
		return tflite_fail(t, -EINVAL, "weights must be constant, of shape [1, R, S, K]");
	error = tflite_real_operands(t, 0, 1, 2);
	if (!error && t->reordered[from] == NPU_NONE)
		error = reorder_weights(t, t->input[1], &t->reordered[from]);
	t->input[1] = t->reordered[from];
	return error;
}

static int read_depthwise(struct tflite *t)
{
	const struct npu_tensor *in;
	struct npu_op *op;
	int error = depthwise_weights(t);

	if (error)
		return error;
	op = add(t, NPU_OP_CONV, t->input[2] == NPU_NONE ? 2 : 3, t->input, t->output[0], &error);
	if (!op)
		return error;
	in = tensor_of(t, t->input[0]);
	set_strides(t, &op->window);
	op->window.dilation_x = fb_s32(&t->options, 5, 1);
	op->window.dilation_y = fb_s32(&t->options, 6, 1);
	error = set_activation(t, op, 4);
	if (!error)
		error = set_kernel(t, &op->window, tensor_of(t, t->input[1]));
	if (!error)
		error = set_padding(t, op, in);
	op->groups = in->dim[3];
	return error;
}

static int read_transpose_conv(struct tflite *t)
{
	u32 inputs[3];
	struct npu_op *op;
	int error = tflite_real_operands(t, 2, 1, 3);

	if (error)
		return error;
	inputs[0] = t->input[2];
	inputs[1] = t->input[1];
	inputs[2] = t->input[3];
	op = add(t, NPU_OP_TRANSPOSE_CONV, inputs[2] == NPU_NONE ? 2 : 3, inputs, t->output[0],
		 &error);
	if (!op)
		return error;
	set_strides(t, &op->window);
	error = set_activation(t, op, 3);
	if (!error)
		error = set_kernel(t, &op->window, tensor_of(t, t->input[1]));
	if (!error)
		error = set_padding(t, op, tensor_of(t, t->output[0]));
	return error;
}

static int read_pool(struct tflite *t)
{
	int error;
	struct npu_op *op = add(t, t->row->kind, 1, t->input, t->output[0], &error);

	if (!op)
		return error;
	set_strides(t, &op->window);
	op->window.s = fb_s32(&t->options, 3, 0);
	op->window.r = fb_s32(&t->options, 4, 0);
	error = set_activation(t, op, 5);
	if (!error)
		error = set_padding(t, op, tensor_of(t, t->input[0]));
	return error;
}

static int read_fully_connected(struct tflite *t)
{
	struct npu_op *op;
	int error = tflite_real_operands(t, 0, 1, 2);

	if (error)
		return error;
	op = add(t, NPU_OP_FULLY_CONNECTED, t->input[2] == NPU_NONE ? 2 : 3, t->input, t->output[0],
		 &error);
	if (!op)
		return error;
	if (fb_s8(&t->options, 1, 0))
		return tflite_fail(t, -ENOTSUP, "shuffled weights are not supported");
	return set_activation(t, op, 0);
}

static int read_binary(struct tflite *t)
{
	int error;
	struct npu_op *op = add(t, t->row->kind, 2, t->input, t->output[0], &error);

	return op ? set_activation(t, op, 0) : error;
}

static int read_unary(struct tflite *t)
{
	int error;
	struct npu_op *op = add(t, t->row->kind, 1, t->input, t->output[0], &error);

	if (op)
		op->activation = t->row->activation;
	return error;
}

/* Float networks keep constants in fewer bits and have them widened by this operator. */
static int read_dequantize(struct tflite *t)
{
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	u32 real;
	int error = 0;

	if (tensor_of(t, t->input[0])->data) {
		error = tflite_real_constant(t, t->input[0], &real);
		if (error)
			return error;
		if (out->dtype != NPU_F32 || out->bytes != tensor_of(t, real)->bytes)
			return tflite_fail(t, -EINVAL, "the output cannot hold the input");
		out->data = tensor_of(t, real)->data;
		return 0;
	}
	if (tensor_of(t, t->input[0])->dtype == NPU_F16)
		return tflite_fail(t, -ENOTSUP, "float16 values that are computed");
	/* INT16 in the file. */
	add(t, tensor_of(t, t->input[0])->dtype == NPU_F32 ? NPU_OP_RESHAPE : NPU_OP_DEQUANTIZE, 1,
	    t->input, t->output[0], &error);
	return error;
}

/* To INT16 in the file is to float32 in the graph. */
static int read_quantize(struct tflite *t)
{
	bool from_real = tensor_of(t, t->input[0])->dtype == NPU_F32;
	bool to_real = tensor_of(t, t->output[0])->dtype == NPU_F32;
	enum npu_op_kind kind = NPU_OP_QUANTIZE;
	int error;

	if (to_real)
		kind = from_real ? NPU_OP_RESHAPE : NPU_OP_DEQUANTIZE;
	add(t, kind, 1, t->input, t->output[0], &error);
	return error;
}

/* alpha, beta and gamma are 1, as ELU wants them; RELU_0_TO_1 is a hard sigmoid of slope 1. */
static int read_function(struct tflite *t)
{
	int error;
	struct npu_op *op = add(t, NPU_OP_FUNCTION, 1, t->input, t->output[0], &error);

	if (!op)
		return error;
	op->function = t->row->function;
	op->alpha = op->gamma = 1;
	op->beta = op->function == NPU_FN_ELU;
	return 0;
}

static int read_gelu(struct tflite *t)
{
	int error = read_function(t);

	if (!error && fb_u8(&t->options, 0, 0))
		t->graph->op[t->graph->op_count - 1].function = NPU_FN_GELU_TANH;
	return error;
}

/* SQUARE and the square roots are powers by themselves; POW has the exponent as a constant. */
static int read_power(struct tflite *t)
{
	static const struct {
		u8 code;
		float exponent;
	} fixed[] = { { 75, 0.5f }, { 76, -0.5f }, { 92, 2 } };
	const struct npu_tensor *given;
	float exponent = 0;
	u32 i;
	int error;

	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		if (fixed[i].code == t->row->code)
			exponent = fixed[i].exponent;
	if (t->row->min_inputs > 1) {
		given = tensor_of(t, t->input[1]);
		if (!given->data || given->dtype != NPU_F32 || npu_tensor_elements(given) != 1)
			return tflite_fail(t, -ENOTSUP,
					   "the exponent is not one constant number of float32");
		exponent = *(const float *)given->data;
	}
	error = read_function(t);
	if (!error)
		t->graph->op[t->graph->op_count - 1].gamma = exponent;
	return error;
}

static int read_prelu(struct tflite *t)
{
	int error;

	add(t, NPU_OP_PRELU, 2, t->input, t->output[0], &error);
	return error;
}

static int read_leaky_relu(struct tflite *t)
{
	int error;
	struct npu_op *op = add(t, NPU_OP_LEAKY_RELU, 1, t->input, t->output[0], &error);

	if (op)
		op->alpha = fb_f32(&t->options, 0, 0);
	return error;
}

static int read_softmax(struct tflite *t)
{
	int error;
	struct npu_op *op = add(t, NPU_OP_SOFTMAX, 1, t->input, t->output[0], &error);

	if (op) {
		op->alpha = fb_f32(&t->options, 0, 0);
		op->axis = (s32)tensor_of(t, t->input[0])->rank - 1;
	}
	return error;
}

/* The radius leaves the element itself out. */
static int read_lrn(struct tflite *t)
{
	s32 radius = fb_s32(&t->options, 0, 0);
	int error;
	struct npu_op *op;

	if (radius < 0 || radius > MAX_WINDOW)
		return tflite_fail(t, -EINVAL, "radius %d", radius);
	op = add(t, NPU_OP_LRN, 1, t->input, t->output[0], &error);
	if (!op)
		return error;
	op->size = 2 * (u32)radius + 1;
	op->gamma = fb_f32(&t->options, 1, 0);
	op->alpha = fb_f32(&t->options, 2, 0);
	op->beta = fb_f32(&t->options, 3, 0);
	return 0;
}

static int read_concat(struct tflite *t)
{
	s32 axis = fb_s32(&t->options, 0, 0);
	int error = fix_axis(t, &axis, tensor_of(t, t->output[0])->rank);
	struct npu_op *op;

	if (!error && fb_s8(&t->options, 1, 0))
		error = tflite_fail(t, -ENOTSUP, "fused activation is not supported");
	if (error)
		return error;
	op = add(t, NPU_OP_CONCAT, t->input_count, t->input, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

/* One more tensor with a given shape and all else from another one. */
static int add_tensor_like(struct tflite *t, u32 like, const char *name, u32 rank, const u32 *dim,
			   u32 *index)
{
	*index = npu_graph_add_tensor(t->graph, name, tensor_of(t, like)->dtype, rank, dim);
	if (*index == NPU_NONE)
		return -ENOMEM;
	t->graph->tensor[*index].quant = tensor_of(t, like)->quant;
	return 0;
}

/* PACK puts its inputs beside each other on a new dimension: each is reshaped, then concatenated. */
static int read_pack(struct tflite *t)
{
	struct npu_tensor out = *tensor_of(t, t->output[0]);
	s32 axis = fb_s32(&t->options, 1, 0);
	int error = fix_axis(t, &axis, out.rank);
	u32 dim[NPU_MAX_RANK], parts[NPU_MAX_INPUTS], i;
	struct npu_op *op;

	if (error)
		return error;
	memcpy(dim, out.dim, sizeof(dim));
	dim[axis] = 1;
	for (i = 0; !error && i < t->input_count; i++) {
		if (t->input[i] == NPU_NONE)
			return tflite_fail(t, -EINVAL, "input %u is missing", i);
		error = add_tensor_like(t, t->input[i], tensor_of(t, t->input[i])->name, out.rank,
					dim, &parts[i]);
		if (!error)
			add(t, NPU_OP_RESHAPE, 1, &t->input[i], parts[i], &error);
	}
	if (error)
		return error;
	op = add(t, NPU_OP_CONCAT, t->input_count, parts, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

static int read_pad(struct tflite *t)
{
	const struct npu_tensor *in = tensor_of(t, t->input[0]);
	const u32 inputs[] = { t->input[0], t->input[2] };
	s32 padding[2 * NPU_MAX_RANK] = { 0 };
	int error = read_constants(t, 1, padding, 2 * in->rank);
	struct npu_op *op;
	u32 i;

	if (error)
		return error;
	op = add(t, NPU_OP_PAD, inputs[1] == NPU_NONE ? 1 : 2, inputs, t->output[0], &error);
	for (i = 0; op && i < in->rank; i++) {
		op->begin[i] = padding[2 * i];
		op->end[i] = padding[2 * i + 1];
	}
	return error;
}

static int read_transpose(struct tflite *t)
{
	const struct npu_tensor *in = tensor_of(t, t->input[0]);
	s32 permutation[NPU_MAX_RANK] = { 0 };
	int error = read_constants(t, 1, permutation, in->rank);
	struct npu_op *op;
	u32 i;

	for (i = 0; !error && i < in->rank; i++)
		error = fix_axis(t, &permutation[i], in->rank);
	if (error)
		return error;
	op = add(t, NPU_OP_TRANSPOSE, 1, t->input, t->output[0], &error);
	if (op)
		memcpy(op->begin, permutation, sizeof(permutation));
	return error;
}

static int read_reduce(struct tflite *t)
{
	const u32 rank = tensor_of(t, t->input[0])->rank;
	s32 axes[2 * NPU_MAX_RANK];
	u32 count = 0, mask = 0, i;
	int error = read_constant(t, 1, axes, ARRAY_SIZE(axes), &count);
	struct npu_op *op;

	for (i = 0; !error && i < count; i++) {
		error = fix_axis(t, &axes[i], rank);
		if (!error)
			mask |= 1u << axes[i];
	}
	if (error)
		return error;
	op = add(t, t->row->kind, 1, t->input, t->output[0], &error);
	if (op)
		op->axes = mask;
	return error;
}

static int read_arg_max(struct tflite *t)
{
	s32 axis;
	int error = read_constants(t, 1, &axis, 1);
	struct npu_op *op;

	if (!error)
		error = fix_axis(t, &axis, tensor_of(t, t->input[0])->rank);
	if (error)
		return error;
	op = add(t, NPU_OP_ARG_MAX, 1, t->input, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

static int read_gather(struct tflite *t)
{
	s32 axis = fb_s32(&t->options, 0, 0);
	int error = fix_axis(t, &axis, tensor_of(t, t->input[0])->rank);
	struct npu_op *op;

	if (!error && fb_s32(&t->options, 1, 0))
		error = tflite_fail(t, -ENOTSUP, "batch dimensions are not supported");
	if (error)
		return error;
	op = add(t, NPU_OP_GATHER, 2, t->input, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

/* ResizeBilinearOptions has two fields in front that are no longer used. */
static int read_resize(struct tflite *t)
{
	const u32 first = t->row->kind == NPU_OP_RESIZE_BILINEAR ? 2 : 0;
	s32 size[2];
	int error = read_constants(t, 1, size, 2);
	struct npu_op *op;

	if (error)
		return error;
	op = add(t, t->row->kind, 1, t->input, t->output[0], &error);
	if (op) {
		op->align_corners = fb_u8(&t->options, first, 0);
		op->half_pixel_centers = fb_u8(&t->options, first + 1, 0);
	}
	return error;
}

/* A slice that takes all of its input so far. */
static struct npu_op *add_slice(struct tflite *t, u32 in, u32 out, int *error)
{
	struct npu_op *op = add(t, NPU_OP_SLICE, 1, &in, out, error);
	u32 i;

	for (i = 0; op && i < tensor_of(t, in)->rank; i++) {
		op->end[i] = tensor_of(t, in)->dim[i];
		op->step[i] = 1;
	}
	return op;
}

static int read_slice(struct tflite *t)
{
	const struct npu_tensor *in = tensor_of(t, t->input[0]);
	s32 begin[NPU_MAX_RANK] = { 0 }, size[NPU_MAX_RANK] = { 0 };
	struct npu_op *op;
	u32 i;
	int error = read_constants(t, 1, begin, in->rank);

	if (!error)
		error = read_constants(t, 2, size, in->rank);
	if (error)
		return error;
	op = add_slice(t, t->input[0], t->output[0], &error);
	for (i = 0; op && i < in->rank; i++) {
		if (begin[i] < 0 || begin[i] >= (s32)in->dim[i])
			return tflite_fail(t, -EINVAL, "begin %d in dimension %u of size %u",
					   begin[i], i, in->dim[i]);
		op->begin[i] = begin[i];
		op->end[i] = size[i] == -1 ? (s32)in->dim[i] - begin[i] : size[i];
	}
	return error;
}

struct strides {
	s32 begin, end, step;
	bool from_start, to_end, single; /* bits of begin_mask, end_mask, shrink_axis_mask */
};

/* The indices that Python's begin:end:step takes of a dimension. */
static int resolve_strides(struct tflite *t, const struct strides *s, s32 size, s32 *begin,
			   s32 *count)
{
	const s32 least = s->step > 0 ? 0 : -1, most = s->step > 0 ? size : size - 1;
	s64 from = s->begin < 0 ? (s64)s->begin + size : s->begin;
	s64 to = s->end < 0 ? (s64)s->end + size : s->end;
	s64 taken;

	if (!s->step)
		return tflite_fail(t, -EINVAL, "stride 0");
	if (s->from_start)
		from = s->step > 0 ? 0 : size - 1;
	if (s->to_end)
		to = s->step > 0 ? size : -1;
	from = max(min(from, (s64)most), (s64)least);
	to = max(min(to, (s64)most), (s64)least);
	taken = s->step > 0 ? DIV_ROUND_UP(to - from, (s64)s->step)
			    : DIV_ROUND_UP(from - to, -(s64)s->step);
	if (s->single)
		taken = 1;
	if (taken < 1)
		return tflite_fail(t, -ENOTSUP, "takes nothing of a dimension of size %d", size);
	*begin = from;
	*count = taken;
	return 0;
}

static int read_strided_slice(struct tflite *t)
{
	const struct npu_tensor *in = tensor_of(t, t->input[0]);
	s32 values[3][NPU_MAX_RANK];
	s32 mask[6];
	struct npu_op *op;
	u32 i, count[3] = { 0 };
	int error = 0;

	for (i = 0; i < ARRAY_SIZE(mask); i++)
		mask[i] = i < 5 ? fb_s32(&t->options, i, 0) : fb_u8(&t->options, i, 0);
	if (mask[2] || mask[3] || mask[5])
		return tflite_fail(t, -ENOTSUP, "ellipsis, new axes and offsets are not supported");
	for (i = 0; !error && i < 3; i++)
		error = read_constant(t, i + 1, values[i], in->rank, &count[i]);
	if (!error && (count[1] != count[0] || count[2] != count[0]))
		error = tflite_fail(t, -EINVAL, "begin, end and strides differ in length");
	if (error)
		return error;
	op = add_slice(t, t->input[0], t->output[0], &error);
	for (i = 0; !error && i < count[0]; i++) {
		struct strides s = {
			.begin = values[0][i],
			.end = values[1][i],
			.step = values[2][i],
			.from_start = mask[0] >> i & 1,
			.to_end = mask[1] >> i & 1,
			.single = mask[4] >> i & 1,
		};

		op->step[i] = s.single ? 1 : s.step;
		error = resolve_strides(t, &s, in->dim[i], &op->begin[i], &op->end[i]);
	}
	return error;
}

/* Consecutive pieces of @in along @axis, one for each output. */
static int add_pieces(struct tflite *t, u32 in, s32 axis, bool unpack)
{
	s64 at = 0;
	u32 i;
	int error = 0;

	for (i = 0; !error && i < t->output_count; i++) {
		const struct npu_tensor *out = tensor_of(t, t->output[i]);
		u32 size = unpack ? 1 : axis < (s32)out->rank ? out->dim[axis] : 0;
		struct npu_op *op = add_slice(t, in, t->output[i], &error);

		if (!op)
			return error;
		op->begin[axis] = at;
		op->end[axis] = size;
		at += size;
		if (at > tensor_of(t, in)->dim[axis])
			error = tflite_fail(t, -EINVAL, "outputs are larger than the input");
	}
	return error;
}

static int read_split(struct tflite *t)
{
	s32 axis;
	int error = read_constants(t, 0, &axis, 1);

	if (!error)
		error = fix_axis(t, &axis, tensor_of(t, t->input[1])->rank);
	return error ? error : add_pieces(t, t->input[1], axis, false);
}

static int read_split_v(struct tflite *t)
{
	s32 axis;
	int error = read_constants(t, 2, &axis, 1);

	if (!error)
		error = fix_axis(t, &axis, tensor_of(t, t->input[0])->rank);
	return error ? error : add_pieces(t, t->input[0], axis, false);
}

static int read_unpack(struct tflite *t)
{
	s32 axis = fb_s32(&t->options, 1, 0);
	int error = fix_axis(t, &axis, tensor_of(t, t->input[0])->rank);

	return error ? error : add_pieces(t, t->input[0], axis, true);
}

/* Shapes are known: the operator becomes a constant. */
static int read_shape(struct tflite *t)
{
	const struct npu_tensor *in = tensor_of(t, t->input[0]);
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	bool wide = out->dtype == NPU_I64;
	void *data;
	u32 i;

	if ((out->dtype != NPU_I32 && !wide) || npu_tensor_elements(out) != in->rank)
		return tflite_fail(t, -EINVAL, "the output cannot hold %u dimensions", in->rank);
	data = npu_arena_alloc(&t->graph->arena, out->bytes);
	if (!data)
		return -ENOMEM;
	for (i = 0; i < in->rank; i++)
		if (wide)
			((s64 *)data)[i] = in->dim[i];
		else
			((s32 *)data)[i] = in->dim[i];
	out->data = data;
	return 0;
}

#define FIRST 1 /* only input 0 is a value */
#define BOTH 3
#define ALL UINT32_MAX

static const struct tflite_row rows[] = {
	{ 0, ADD_OPTIONS, 2, BOTH, NPU_OP_ADD, 0, read_binary },
	{ 1, POOL_OPTIONS, 1, FIRST, NPU_OP_AVERAGE_POOL, 0, read_pool },
	{ 2, CONCAT_OPTIONS, 1, ALL, NPU_OP_CONCAT, 0, read_concat },
	{ 3, CONV_OPTIONS, 2, ALL, NPU_OP_CONV, 0, read_conv },
	{ 4, DEPTHWISE_OPTIONS, 2, ALL, NPU_OP_CONV, 0, read_depthwise },
	{ 6, OPTIONS_NONE, 1, FIRST, NPU_OP_DEQUANTIZE, 0, read_dequantize },
	{ 8, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_FLOOR },
	{ 9, FULLY_CONNECTED_OPTIONS, 2, ALL, NPU_OP_FULLY_CONNECTED, 0, read_fully_connected },
	{ 13, LRN_OPTIONS, 1, FIRST, NPU_OP_LRN, 0, read_lrn },
	{ 14, OPTIONS_NONE, 1, FIRST, NPU_OP_LOGISTIC, 0, read_unary },
	{ 17, POOL_OPTIONS, 1, FIRST, NPU_OP_MAX_POOL, 0, read_pool },
	{ 18, MUL_OPTIONS, 2, BOTH, NPU_OP_MUL, 0, read_binary },
	{ 19, OPTIONS_NONE, 1, FIRST, NPU_OP_RELU, NPU_ACT_RELU, read_unary },
	{ 20, OPTIONS_NONE, 1, FIRST, NPU_OP_RELU, NPU_ACT_RELU_N1_TO_1, read_unary },
	{ 21, OPTIONS_NONE, 1, FIRST, NPU_OP_RELU, NPU_ACT_RELU6, read_unary },
	{ 22, OPTIONS_NONE, 1, FIRST, NPU_OP_RESHAPE, 0, read_unary },
	{ 23, RESIZE_BILINEAR_OPTIONS, 2, FIRST, NPU_OP_RESIZE_BILINEAR, 0, read_resize },
	{ 25, SOFTMAX_OPTIONS, 1, FIRST, NPU_OP_SOFTMAX, 0, read_softmax },
	{ 28, OPTIONS_NONE, 1, FIRST, NPU_OP_TANH, 0, read_unary },
	{ 34, OPTIONS_NONE, 2, FIRST, NPU_OP_PAD, 0, read_pad },
	{ 36, GATHER_OPTIONS, 2, BOTH, NPU_OP_GATHER, 0, read_gather },
	{ 39, OPTIONS_NONE, 2, FIRST, NPU_OP_TRANSPOSE, 0, read_transpose },
	{ 40, OPTIONS_NONE, 2, FIRST, NPU_OP_MEAN, 0, read_reduce },
	{ 41, SUB_OPTIONS, 2, BOTH, NPU_OP_SUB, 0, read_binary },
	{ 42, DIV_OPTIONS, 2, BOTH, NPU_OP_DIV, 0, read_binary },
	{ 43, OPTIONS_NONE, 1, FIRST, NPU_OP_RESHAPE, 0, read_unary }, /* SQUEEZE */
	{ 45, STRIDED_SLICE_OPTIONS, 4, FIRST, NPU_OP_SLICE, 0, read_strided_slice },
	{ 47, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_EXP },
	{ 49, OPTIONS_NONE, 2, 2, NPU_OP_SLICE, 0, read_split },
	{ 54, OPTIONS_NONE, 2, BOTH, NPU_OP_PRELU, 0, read_prelu },
	{ 55, OPTIONS_NONE, 2, BOTH, NPU_OP_MAXIMUM, 0, read_binary },
	{ 56, OPTIONS_NONE, 2, FIRST, NPU_OP_ARG_MAX, 0, read_arg_max },
	{ 57, OPTIONS_NONE, 2, BOTH, NPU_OP_MINIMUM, 0, read_binary },
	{ 59, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_NEG },
	{ 60, OPTIONS_NONE, 3, 1 | 4, NPU_OP_PAD, 0, read_pad }, /* PADV2 */
	{ 65, OPTIONS_NONE, 3, FIRST, NPU_OP_SLICE, 0, read_slice },
	{ 66, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_SIN },
	{ 67, TRANSPOSE_CONV_OPTIONS, 3, ~1u, NPU_OP_TRANSPOSE_CONV, 0, read_transpose_conv },
	{ 70, OPTIONS_NONE, 1, FIRST, NPU_OP_RESHAPE, 0, read_unary }, /* EXPAND_DIMS */
	{ 73, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_LOG },
	{ 75, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_power, NPU_FN_POWER }, /* SQRT */
	{ 76, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_power, NPU_FN_POWER }, /* RSQRT */
	{ 77, OPTIONS_NONE, 1, 0, NPU_OP_RESHAPE, 0, read_shape },
	{ 78, OPTIONS_NONE, 2, FIRST, NPU_OP_FUNCTION, 0, read_power, NPU_FN_POWER },
	{ 82, OPTIONS_NONE, 2, FIRST, NPU_OP_REDUCE_MAX, 0, read_reduce },
	{ 83, PACK_OPTIONS, 1, ALL, NPU_OP_CONCAT, 0, read_pack },
	{ 88, UNPACK_OPTIONS, 1, FIRST, NPU_OP_SLICE, 0, read_unpack },
	{ 92, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_power, NPU_FN_POWER }, /* SQUARE */
	{ 97, RESIZE_NEAREST_OPTIONS, 2, FIRST, NPU_OP_RESIZE_NEAREST, 0, read_resize },
	{ 98, LEAKY_RELU_OPTIONS, 1, FIRST, NPU_OP_LEAKY_RELU, 0, read_leaky_relu },
	{ 101, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_ABS },
	{ 102, OPTIONS_NONE, 3, FIRST, NPU_OP_SLICE, 0, read_split_v },
	{ 104, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_CEIL },
	{ 108, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_COS },
	{ 111, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_ELU },
	{ 114, OPTIONS_NONE, 1, FIRST, NPU_OP_QUANTIZE, 0, read_quantize },
	{ 116, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_ROUND },
	{ 117, OPTIONS_NONE, 1, FIRST, NPU_OP_HARD_SWISH, 0, read_unary },
	{ 150, GELU_OPTIONS, 1, FIRST, NPU_OP_FUNCTION, 0, read_gelu, NPU_FN_GELU },
	{ 152, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function,
	  NPU_FN_HARD_SIGMOID }, /* RELU_0_TO_1 */
	{ 158, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, read_function, NPU_FN_SIGN },
};

const struct tflite_row *tflite_find_row(u32 code)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == code)
			return &rows[i];
	return NULL;
}

bool npu_tflite_operator(u32 i, struct npu_framework_operator *op)
{
	if (i >= ARRAY_SIZE(rows))
		return false;
	*op = (struct npu_framework_operator){ tflite_builtin_name(rows[i].code), "",
					       rows[i].kind };
	return true;
}
