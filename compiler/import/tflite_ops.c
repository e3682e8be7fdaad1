// SPDX-License-Identifier: MIT
/* The operators of TensorFlow Lite, each as operators of the graph. */
#include "tflite.h"

#include <math.h>

const struct npu_tensor *tflite_tensor(struct tflite *t, u32 index)
{
	return &t->graph->tensor[index];
}

struct npu_op *tflite_add(struct tflite *t, enum npu_op_kind kind, u32 input_count,
			  const u32 *inputs, u32 output, int *error)
{
	struct npu_op *op =
		npu_graph_add_op(t->graph, kind, tflite_tensor(t, output)->name, input_count, 1);

	*error = op ? 0 : -ENOMEM;
	if (!op)
		return NULL;
	memcpy(op->input, inputs, input_count * sizeof(*inputs));
	op->output[0] = output;
	return op;
}

static int tflite_activation(struct tflite *t, struct npu_op *op, u32 field)
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
int tflite_constant(struct tflite *t, u32 input, s32 *values, u32 limit, u32 *count)
{
	const struct npu_tensor *tensor;
	u32 i;

	if (t->input[input] == NPU_NONE)
		return tflite_fail(t, -EINVAL, "input %u is missing", input);
	tensor = tflite_tensor(t, t->input[input]);
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

int tflite_constants(struct tflite *t, u32 input, s32 *values, u32 count)
{
	u32 found = 0;
	int error = tflite_constant(t, input, values, count, &found);

	if (!error && found != count)
		error = tflite_fail(t, -EINVAL, "input %u has %u values, not %u", input, found,
				    count);
	return error;
}

int tflite_axis(struct tflite *t, s32 *axis, u32 rank)
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
		if (!sizes[i] || sizes[i] > TFLITE_MAX_WINDOW)
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

int tflite_read_conv(struct tflite *t)
{
	const struct npu_tensor *weights;
	struct npu_tensor in;
	struct npu_op *op;
	int error = tflite_real_operands(t, 0, 1, 2);

	if (error)
		return error;
	op = tflite_add(t, NPU_OP_CONV, t->input[2] == NPU_NONE ? 2 : 3, t->input, t->output[0],
			&error);
	if (!op)
		return error;
	in = tflite_block(t, t->input[0]);
	weights = tflite_tensor(t, t->input[1]);
	set_strides(t, &op->window);
	op->window.dilation_x = fb_s32(&t->options, 4, 1);
	op->window.dilation_y = fb_s32(&t->options, 5, 1);
	error = tflite_activation(t, op, 3);
	if (!error)
		error = set_kernel(t, &op->window, weights);
	if (!error)
		error = set_padding(t, op, &in);
	if (!error && !(in.dim[3] % weights->dim[3]))
		op->groups = in.dim[3] / weights->dim[3];
	return error ? error : tflite_join_window(t, t->input[0], &op->window);
}

/* Depthwise weights are [1][R][S][K] in the file, [K][R][S][1] in the graph. */
static int reorder_weights(struct tflite *t, u32 from, u32 *to)
{
	const struct npu_tensor *weights = tflite_tensor(t, from);
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
	t->graph->tensor[*to].quant = tflite_tensor(t, from)->quant;
	/* A wrong dimension of the scales becomes one that the verifier will refuse. */
	if (t->graph->tensor[*to].quant.count > 1)
		t->graph->tensor[*to].quant.axis = 3 - t->graph->tensor[*to].quant.axis;
	return 0;
}

static int depthwise_weights(struct tflite *t)
{
	const struct npu_tensor *weights = tflite_tensor(t, t->input[1]);
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

int tflite_read_depthwise(struct tflite *t)
{
	struct npu_tensor in;
	struct npu_op *op;
	int error = depthwise_weights(t);

	if (error)
		return error;
	op = tflite_add(t, NPU_OP_CONV, t->input[2] == NPU_NONE ? 2 : 3, t->input, t->output[0],
			&error);
	if (!op)
		return error;
	in = tflite_block(t, t->input[0]);
	set_strides(t, &op->window);
	op->window.dilation_x = fb_s32(&t->options, 5, 1);
	op->window.dilation_y = fb_s32(&t->options, 6, 1);
	error = tflite_activation(t, op, 4);
	if (!error)
		error = set_kernel(t, &op->window, tflite_tensor(t, t->input[1]));
	if (!error)
		error = set_padding(t, op, &in);
	op->groups = in.dim[3];
	return error ? error : tflite_join_window(t, t->input[0], &op->window);
}

int tflite_read_transpose_conv(struct tflite *t)
{
	u32 inputs[3];
	struct npu_op *op;
	int error = tflite_real_operands(t, 2, 1, 3);

	if (error)
		return error;
	inputs[0] = t->input[2];
	inputs[1] = t->input[1];
	inputs[2] = t->input[3];
	op = tflite_add(t, NPU_OP_TRANSPOSE_CONV, inputs[2] == NPU_NONE ? 2 : 3, inputs,
			t->output[0], &error);
	if (!op)
		return error;
	set_strides(t, &op->window);
	error = tflite_activation(t, op, 3);
	if (!error)
		error = set_kernel(t, &op->window, tflite_tensor(t, t->input[1]));
	if (!error)
		error = set_padding(t, op, tflite_tensor(t, t->output[0]));
	return error;
}

int tflite_read_pool(struct tflite *t)
{
	int error;
	struct npu_op *op = tflite_add(t, t->row->kind, 1, t->input, t->output[0], &error);

	if (!op)
		return error;
	set_strides(t, &op->window);
	op->window.s = fb_s32(&t->options, 3, 0);
	op->window.r = fb_s32(&t->options, 4, 0);
	error = tflite_activation(t, op, 5);
	if (!error)
		error = set_padding(t, op, tflite_tensor(t, t->input[0]));
	return error;
}

int tflite_read_fully_connected(struct tflite *t)
{
	struct npu_op *op;
	int error = tflite_real_operands(t, 0, 1, 2);

	if (error)
		return error;
	op = tflite_add(t, NPU_OP_FULLY_CONNECTED, t->input[2] == NPU_NONE ? 2 : 3, t->input,
			t->output[0], &error);
	if (!op)
		return error;
	if (fb_s8(&t->options, 1, 0))
		return tflite_fail(t, -ENOTSUP, "shuffled weights are not supported");
	return tflite_activation(t, op, 0);
}

int tflite_read_binary(struct tflite *t)
{
	int error;
	struct npu_op *op = tflite_add(t, t->row->kind, 2, t->input, t->output[0], &error);

	return op ? tflite_activation(t, op, 0) : error;
}

int tflite_read_unary(struct tflite *t)
{
	int error;
	struct npu_op *op = tflite_add(t, t->row->kind, 1, t->input, t->output[0], &error);

	if (op)
		op->activation = t->row->activation;
	return error;
}

/* Float networks keep constants in fewer bits and have them widened by this operator. */
int tflite_read_dequantize(struct tflite *t)
{
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	u32 real;
	int error = 0;

	if (tflite_tensor(t, t->input[0])->data) {
		error = tflite_real_constant(t, t->input[0], &real);
		if (error)
			return error;
		if (out->dtype != NPU_F32 || out->bytes != tflite_tensor(t, real)->bytes)
			return tflite_fail(t, -EINVAL, "the output cannot hold the input");
		out->data = tflite_tensor(t, real)->data;
		return 0;
	}
	if (tflite_tensor(t, t->input[0])->dtype == NPU_F16)
		return tflite_fail(t, -ENOTSUP, "float16 values that are computed");
	/* INT16 in the file. */
	tflite_add(t,
		   tflite_tensor(t, t->input[0])->dtype == NPU_F32 ? NPU_OP_RESHAPE
								   : NPU_OP_DEQUANTIZE,
		   1, t->input, t->output[0], &error);
	return error;
}

/* To INT16 in the file is to float32 in the graph. */
int tflite_read_quantize(struct tflite *t)
{
	bool from_real = tflite_tensor(t, t->input[0])->dtype == NPU_F32;
	bool to_real = tflite_tensor(t, t->output[0])->dtype == NPU_F32;
	enum npu_op_kind kind = NPU_OP_QUANTIZE;
	int error;

	if (to_real)
		kind = from_real ? NPU_OP_RESHAPE : NPU_OP_DEQUANTIZE;
	tflite_add(t, kind, 1, t->input, t->output[0], &error);
	return error;
}

/* alpha, beta and gamma are 1, as ELU wants them; RELU_0_TO_1 is a hard sigmoid of slope 1. */
int tflite_read_function(struct tflite *t)
{
	int error;
	struct npu_op *op = tflite_add(t, NPU_OP_FUNCTION, 1, t->input, t->output[0], &error);

	if (!op)
		return error;
	op->function = t->row->function;
	op->alpha = op->gamma = 1;
	op->beta = op->function == NPU_FN_ELU;
	return 0;
}

int tflite_read_gelu(struct tflite *t)
{
	int error = tflite_read_function(t);

	if (!error && fb_u8(&t->options, 0, 0))
		t->graph->op[t->graph->op_count - 1].function = NPU_FN_GELU_TANH;
	return error;
}

/* SQUARE and the square roots are powers by themselves; POW has the exponent as a constant. */
int tflite_read_power(struct tflite *t)
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
		given = tflite_tensor(t, t->input[1]);
		if (!given->data || given->dtype != NPU_F32 || npu_tensor_elements(given) != 1)
			return tflite_fail(t, -ENOTSUP,
					   "the exponent is not one constant number of float32");
		exponent = *(const float *)given->data;
	}
	error = tflite_read_function(t);
	if (!error)
		t->graph->op[t->graph->op_count - 1].gamma = exponent;
	return error;
}

int tflite_read_prelu(struct tflite *t)
{
	int error;

	tflite_add(t, NPU_OP_PRELU, 2, t->input, t->output[0], &error);
	return error;
}

int tflite_read_leaky_relu(struct tflite *t)
{
	int error;
	struct npu_op *op = tflite_add(t, NPU_OP_LEAKY_RELU, 1, t->input, t->output[0], &error);

	if (op)
		op->alpha = fb_f32(&t->options, 0, 0);
	return error;
}

int tflite_read_softmax(struct tflite *t)
{
	int error;
	struct npu_op *op = tflite_add(t, NPU_OP_SOFTMAX, 1, t->input, t->output[0], &error);

	if (op) {
		op->alpha = fb_f32(&t->options, 0, 0);
		op->axis = (s32)tflite_tensor(t, t->input[0])->rank - 1;
	}
	return error;
}

/* The radius leaves the element itself out. */
int tflite_read_lrn(struct tflite *t)
{
	s32 radius = fb_s32(&t->options, 0, 0);
	int error;
	struct npu_op *op;

	if (radius < 0 || radius > TFLITE_MAX_WINDOW)
		return tflite_fail(t, -EINVAL, "radius %d", radius);
	op = tflite_add(t, NPU_OP_LRN, 1, t->input, t->output[0], &error);
	if (!op)
		return error;
	op->size = 2 * (u32)radius + 1;
	op->gamma = fb_f32(&t->options, 1, 0);
	op->alpha = fb_f32(&t->options, 2, 0);
	op->beta = fb_f32(&t->options, 3, 0);
	return 0;
}

int tflite_tensor_like(struct tflite *t, u32 like, const char *name, u32 rank, const u32 *dim,
		       u32 *index)
{
	*index = npu_graph_add_tensor(t->graph, name, tflite_tensor(t, like)->dtype, rank, dim);
	if (*index == NPU_NONE)
		return -ENOMEM;
	t->graph->tensor[*index].quant = tflite_tensor(t, like)->quant;
	return 0;
}

int tflite_read_reduce(struct tflite *t)
{
	const u32 rank = tflite_tensor(t, t->input[0])->rank;
	s32 axes[2 * NPU_MAX_RANK];
	u32 count = 0, mask = 0, i;
	int error = tflite_constant(t, 1, axes, ARRAY_SIZE(axes), &count);
	struct npu_op *op;

	for (i = 0; !error && i < count; i++) {
		error = tflite_axis(t, &axes[i], rank);
		if (!error)
			mask |= 1u << axes[i];
	}
	if (error)
		return error;
	op = tflite_add(t, t->row->kind, 1, t->input, t->output[0], &error);
	if (op)
		op->axes = mask;
	return error;
}

int tflite_read_arg_max(struct tflite *t)
{
	s32 axis;
	int error = tflite_constants(t, 1, &axis, 1);
	struct npu_op *op;

	if (!error)
		error = tflite_axis(t, &axis, tflite_tensor(t, t->input[0])->rank);
	if (error)
		return error;
	op = tflite_add(t, t->row->kind, 1, t->input, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

/* The indices are an operator of their own, the values are gathered by them. */
int tflite_read_top_k(struct tflite *t)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	u32 inputs[2] = { t->input[0], t->output[1] };
	struct npu_op *op;
	int error = 0;
	s32 k;

	if (t->output_count != 2)
		return tflite_fail(t, -EINVAL, "%u outputs", t->output_count);
	if (tflite_constants(t, 1, &k, 1))
		return -EINVAL;
	if (!in->rank)
		return tflite_fail(t, -EINVAL, "of a single number");
	op = tflite_add(t, NPU_OP_TOP_MOST, 1, t->input, t->output[1], &error);
	if (op)
		op->axis = (s32)in->rank - 1;
	op = error ? NULL : tflite_add(t, NPU_OP_GATHER_ELEMENTS, 2, inputs, t->output[0], &error);
	if (op)
		op->axis = (s32)in->rank - 1;
	return error;
}

/* ResizeBilinearOptions has two fields in front that are no longer used. */
int tflite_read_resize(struct tflite *t)
{
	const u32 first = t->row->kind == NPU_OP_RESIZE_BILINEAR ? 2 : 0;
	s32 size[2];
	int error = tflite_constants(t, 1, size, 2);
	struct npu_op *op;

	if (error)
		return error;
	op = tflite_add(t, t->row->kind, 1, t->input, t->output[0], &error);
	if (op) {
		op->align_corners = fb_u8(&t->options, first, 0);
		op->half_pixel_centers = fb_u8(&t->options, first + 1, 0);
	}
	return error;
}

/* The last two dimensions change places where the options say so. */
static int turn_matrix(struct tflite *t, u32 i)
{
	const struct npu_tensor in = *tflite_tensor(t, t->input[i]);
	u32 dim[NPU_MAX_RANK], d, turned;
	struct npu_op *op;
	int error;

	if (in.rank < 2)
		return tflite_fail(t, -EINVAL, "input %u has rank %u", i, in.rank);
	memcpy(dim, in.dim, sizeof(dim));
	dim[in.rank - 2] = in.dim[in.rank - 1];
	dim[in.rank - 1] = in.dim[in.rank - 2];
	error = tflite_tensor_like(t, t->input[i], in.name, in.rank, dim, &turned);
	if (error)
		return error;
	op = tflite_add(t, NPU_OP_TRANSPOSE, 1, &t->input[i], turned, &error);
	for (d = 0; op && d < in.rank; d++)
		op->begin[d] = (s32)(d + 2 < in.rank ? d : 2 * in.rank - 3 - d);
	t->input[i] = turned;
	return error;
}

int tflite_read_batch_matmul(struct tflite *t)
{
	int error = 0;
	u32 i;

	for (i = 0; !error && i < 2; i++)
		if (fb_u8(&t->options, i, 0))
			error = turn_matrix(t, i);
	if (!error)
		tflite_add(t, NPU_OP_MATMUL, 2, t->input, t->output[0], &error);
	return error;
}

/* Bytes would need a scale for the difference, which the file does not have. */
int tflite_read_squared_difference(struct tflite *t)
{
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	u32 difference;
	struct npu_op *op;
	int error;

	if (out.dtype != NPU_F32)
		return tflite_fail(t, -ENOTSUP, "of type %s", npu_dtype_names[out.dtype]);
	error = tflite_tensor_like(t, t->output[0], out.name, out.rank, out.dim, &difference);
	if (!error)
		tflite_add(t, NPU_OP_SUB, 2, t->input, difference, &error);
	if (error)
		return error;
	op = tflite_add(t, NPU_OP_FUNCTION, 1, &difference, t->output[0], &error);
	if (!op)
		return error;
	op->function = NPU_FN_POWER;
	op->alpha = 1;
	op->gamma = 2;
	return 0;
}
