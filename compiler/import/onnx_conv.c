// SPDX-License-Identifier: MIT
/* Convolutions, matrix products with constants, and what can be folded into them. */
#include "onnx.h"

#include <math.h>

/* Bias @k as a real number, or as it is stored for @scale. */
static double bias_value(const struct npu_tensor *t, u64 k)
{
	u64 c = t->quant.count > 1 ? k : 0;

	if (t->dtype == NPU_F32)
		return ((const float *)t->data)[k];
	if (!t->quant.count)
		return ((const s32 *)t->data)[k];
	return ((double)((const s32 *)t->data)[k] - t->quant.zero[c]) * t->quant.scale[c];
}

static s32 rounded(double value)
{
	return (s32)rint(fmax(fmin(value, INT32_MAX), INT32_MIN));
}

/* The constant behind an operand that is used as bias. */
static const struct npu_tensor *bias_constant(const struct onnx *o, const struct onnx_value *value)
{
	const struct npu_tensor *t = onnx_constant(o, value->quantised ? value->quantised : value);

	return t && (t->dtype == NPU_F32 || t->dtype == NPU_I32) ? t : NULL;
}

/*
 * float32, or INT32 in units of the product of both scales.  INT32 without a scale is in these
 * units already.
 */
static int make_bias(struct onnx *o, u32 input, const struct npu_tensor *x,
		     const struct npu_tensor *w, float factor, u32 *bias)
{
	const struct npu_tensor *found = bias_constant(o, o->in[input]);
	const u32 kernels = w->dim[0];
	struct npu_quant xq = x->quant, wq = w->quant;
	struct npu_tensor source;
	void *data = NULL;
	u64 elements;
	u32 k;
	int error;

	if (!found)
		return onnx_fail(o, -ENOTSUP, "the bias (%.100s) must be constant, float or int32",
				 o->in[input]->name);
	source = *found;
	elements = npu_tensor_elements(&source);
	if (elements != kernels && elements != 1)
		return onnx_fail(o, -EINVAL, "%llu bias values for %u kernels",
				 (unsigned long long)elements, kernels);
	error = onnx_add_constant(o, source.name, o->quantised ? NPU_I32 : NPU_F32, 1, &kernels,
				  bias, &data);
	for (k = 0; !error && k < kernels; k++) {
		double value = bias_value(&source, elements == 1 ? 0 : k);

		if (!o->quantised)
			((float *)data)[k] = (float)(value * factor);
		else if (source.dtype == NPU_I32 && !source.quant.count)
			((s32 *)data)[k] = rounded(value);
		else
			((s32 *)data)[k] = rounded(
				value / ((double)xq.scale[0] * wq.scale[wq.count > 1 ? k : 0]));
	}
	return error;
}

/* Constant weights, their dimensions in another order. */
static int make_weights(struct onnx *o, u32 rank, const u32 *order, u32 *weights)
{
	int error = onnx_operand(o, 1, ONNX_PLAIN, weights);

	if (error)
		return error;
	if (onnx_tensor(o, *weights)->rank != rank || !onnx_tensor(o, *weights)->data)
		return onnx_fail(o, -ENOTSUP, "the weights (%.100s) must be constant, of rank %u",
				 o->in[1]->name, rank);
	return onnx_permute(o, *weights, order, weights);
}

/* Weights to [K][R][S][C], with the order of an image's or of a line's, which become [K][1][S][C]. */
static int make_kernels(struct onnx *o, const u32 image_order[4], const u32 line_order[3],
			u32 *weights)
{
	const struct npu_tensor *w;
	u32 dim[4] = { 0, 1 };
	int error;

	if (o->in[0]->rank != 3)
		return make_weights(o, 4, image_order, weights);
	error = make_weights(o, 3, line_order, weights);
	if (error)
		return error;
	w = onnx_tensor(o, *weights);
	dim[0] = w->dim[0];
	dim[2] = w->dim[1];
	dim[3] = w->dim[2];
	return onnx_reshape(o, *weights, 4, dim, weights);
}

static int check_groups(struct onnx *o, s64 groups, u32 channels)
{
	if (groups < 1 || channels % groups)
		return onnx_fail(o, -EINVAL, "%lld groups of %u channels", (long long)groups,
				 channels);
	return 0;
}

int onnx_read_conv(struct onnx *o)
{
	static const u32 line_order[] = { 0, 2, 1 };
	u32 inputs[3], out, dim[4] = { 1 }, count = 2;
	s64 groups = onnx_int(o, "group", 1);
	struct npu_window window;
	struct npu_tensor x, w;
	struct npu_op *op;
	int error = onnx_line_operand(o, 0, ONNX_IMAGE, &inputs[0]);

	if (!error)
		error = make_kernels(o, onnx_to_image, line_order, &inputs[1]);
	if (error)
		return error;
	x = *onnx_tensor(o, inputs[0]);
	w = *onnx_tensor(o, inputs[1]);
	window = (struct npu_window){ .r = w.dim[1], .s = w.dim[2] };
	error = check_groups(o, groups, x.dim[3]);
	if (!error)
		error = onnx_read_window(o, &inputs[0], &window, &dim[2], &dim[3]);
	if (!error && o->in_count > 2 && o->in[2])
		error = make_bias(o, 2, &x, &w, 1, &inputs[count++]);
	dim[0] = x.dim[0];
	dim[1] = w.dim[0];
	if (!error)
		error = onnx_image_result(o, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_CONV, inputs, count, out);
	if (!op)
		return -ENOMEM;
	op->window = window;
	op->groups = (u32)groups;
	op->activation = o->activation;
	return 0;
}

static int transposed_size(struct onnx *o, u32 size, u32 kernel, s64 stride, s64 padding, s64 extra,
			   u32 *result)
{
	s64 out = (size - 1) * stride + kernel + extra - padding;

	if (out < 1 || out > INT32_MAX || extra >= stride)
		return onnx_fail(o, -EINVAL, "%u elements become %lld", size, (long long)out);
	*result = (u32)out;
	return 0;
}

/*
 * Padding where the size of the result is given, or is the input's times the stride: what is odd goes
 * behind for SAME_UPPER, else in front.  A result that is larger than the windows reach has more behind.
 */
static int pad_transposed(struct onnx *o, const u32 *in, const u32 *kernel, const s64 *stride,
			  s64 *extra, s64 *pad)
{
	bool upper = onnx_text_is(o, "auto_pad", "SAME_UPPER", false);
	bool lower = onnx_text_is(o, "auto_pad", "SAME_LOWER", false);
	s64 size[2];
	u32 i;
	int error;

	if (onnx_text_is(o, "auto_pad", "VALID", false))
		memset(pad, 0, 4 * sizeof(*pad));
	if (!onnx_attribute(o, "output_shape") && !upper && !lower)
		return 0;
	error = onnx_pair(o, "output_shape", 1, size, 2, 1);
	for (i = 0; !error && i < 2; i++) {
		s64 whole = (in[2 + i] - 1) * stride[i] + kernel[i] + extra[i], total;

		if (!onnx_attribute(o, "output_shape"))
			size[i] = in[2 + i] * stride[i];
		total = whole - size[i];
		extra[i] += max(-total, (s64)0);
		total = max(total, (s64)0);
		pad[i] = upper ? total / 2 : total - total / 2;
		pad[i + 2] = total - pad[i];
	}
	return error;
}

/* Stride and padding; the size of the result follows. Kernels are dilated already. */
static int transposed_window(struct onnx *o, struct npu_window *w, const u32 *in, u32 *out)
{
	const u32 kernel[] = { w->r, w->s };
	s64 stride[2], pad[4], extra[2];
	int error = onnx_pair(o, "strides", 1, stride, 2, 1);

	if (!error)
		error = onnx_pair(o, "pads", 0, pad, 4, 0);
	if (!error)
		error = onnx_pair(o, "output_padding", 0, extra, 2, 0);
	if (!error)
		error = pad_transposed(o, in, kernel, stride, extra, pad);
	if (!error)
		error = transposed_size(o, in[2], w->r, stride[0], pad[0] + pad[2], extra[0],
					&out[2]);
	if (!error)
		error = transposed_size(o, in[3], w->s, stride[1], pad[1] + pad[3], extra[1],
					&out[3]);
	if (error)
		return error;
	w->stride_y = (u32)stride[0];
	w->stride_x = (u32)stride[1];
	w->dilation_y = w->dilation_x = 1;
	w->pad_top = (u32)pad[0];
	w->pad_left = (u32)pad[1];
	w->pad_bottom = (u32)pad[2];
	w->pad_right = (u32)pad[3];
	return 0;
}

/* What a weight of kernel @k is stored as that adds nothing. */
static u8 neutral(const struct npu_tensor *w, u32 k)
{
	if (w->dtype == NPU_F32 || !w->quant.count)
		return 0;
	return (u8)w->quant.zero[w->quant.count > 1 ? k : 0];
}

/* Each kernel's scale once for each group. */
static int repeat_quant(struct onnx *o, struct npu_tensor *w, u32 groups)
{
	const u32 per = w->quant.count;
	struct npu_quant quant = w->quant;
	float *scale;
	s32 *zero;
	u32 i;

	if (per < 2 || groups == 1)
		return 0;
	quant.count = per * groups;
	scale = npu_arena_array(&o->graph->arena, quant.count, sizeof(*scale));
	zero = npu_arena_array(&o->graph->arena, quant.count, sizeof(*zero));
	if (!scale || !zero)
		return -ENOMEM;
	for (i = 0; i < quant.count; i++) {
		scale[i] = quant.scale[i % per];
		zero[i] = quant.zero[i % per];
	}
	quant.scale = scale;
	quant.zero = zero;
	w->quant = quant;
	return 0;
}

/* Where element @i of [K / groups][R][S][C] lies in [K][R][S][C] with what is between. */
static u64 spread_place(const struct npu_tensor *from, const struct npu_tensor *to, u32 groups,
			const u32 dilation[2], u64 i)
{
	u32 c = i % from->dim[3], s = i / from->dim[3] % from->dim[2];
	u32 r = i / from->dim[3] / from->dim[2] % from->dim[1];
	u32 k = (u32)(i / from->dim[3] / from->dim[2] / from->dim[1]);
	u64 kernel = (u64)(c / (from->dim[3] / groups)) * from->dim[0] + k;

	return ((kernel * to->dim[1] + r * dilation[0]) * to->dim[2] + s * dilation[1]) *
		       to->dim[3] +
	       c;
}

/*
 * The graph's transposed convolutions have neither groups nor dilation: weights of the other groups,
 * and between the weights of a dilated kernel, are zero.
 */
static int spread_weights(struct onnx *o, u32 groups, const u32 dilation[2], u32 *weights)
{
	struct npu_tensor from = *onnx_tensor(o, *weights), *to;
	const u32 size = npu_dtype_bytes[from.dtype];
	u64 bytes = (u64)size * groups * from.dim[0] * from.dim[3], per, k, i;
	u32 dim[4] = { groups * from.dim[0], (u32)npu_dilated(from.dim[1], dilation[0]),
		       (u32)npu_dilated(from.dim[2], dilation[1]), from.dim[3] };
	void *data = NULL;
	int error;

	if (groups == 1 && dilation[0] == 1 && dilation[1] == 1)
		return 0;
	if (check_mul_overflow(bytes, (u64)dim[1] * dim[2], &bytes))
		return onnx_fail(o, -ENOTSUP, "a kernel of %u x %u", dim[1], dim[2]);
	error = onnx_expand(o, bytes);
	if (!error)
		error = onnx_add_constant(o, from.name, from.dtype, 4, dim, weights, &data);
	if (error)
		return error;
	to = &o->graph->tensor[*weights];
	to->quant = from.quant;
	error = repeat_quant(o, to, groups);
	per = bytes / dim[0];
	for (k = 0; !error && k < dim[0]; k++)
		memset((u8 *)data + k * per, neutral(to, (u32)k), per);
	for (i = 0; !error && i < npu_tensor_elements(&from); i++)
		memcpy((u8 *)data + spread_place(&from, to, groups, dilation, i) * size,
		       (const u8 *)from.data + i * size, size);
	return error;
}

/* Weights are [C][K / groups][R][S], of lines [C][K / groups][S]. */
static int transposed_weights(struct onnx *o, u32 channels, u32 *weights)
{
	static const u32 image_order[] = { 1, 2, 3, 0 }, line_order[] = { 1, 2, 0 };
	s64 groups = onnx_int(o, "group", 1), dilation[2];
	int error = make_kernels(o, image_order, line_order, weights);

	if (!error)
		error = onnx_pair(o, "dilations", 1, dilation, 2, 1);
	if (!error)
		error = check_groups(o, groups, channels);
	if (!error && onnx_tensor(o, *weights)->dim[3] != channels)
		error = onnx_fail(o, -EINVAL, "weights for %u of %u channels",
				  onnx_tensor(o, *weights)->dim[3], channels);
	return error ? error
		     : spread_weights(o, (u32)groups,
				      (const u32[]){ (u32)dilation[0], (u32)dilation[1] }, weights);
}

int onnx_read_conv_transpose(struct onnx *o)
{
	u32 inputs[3], out, in[4], dim[4], count = 2;
	struct npu_window window;
	struct npu_tensor x, w;
	struct npu_op *op;
	int error = onnx_line_operand(o, 0, ONNX_IMAGE, &inputs[0]);

	if (!error)
		error = transposed_weights(o, o->in[0]->dim[1], &inputs[1]);
	if (error)
		return error;
	x = *onnx_tensor(o, inputs[0]);
	w = *onnx_tensor(o, inputs[1]);
	window = (struct npu_window){ .r = w.dim[1], .s = w.dim[2] };
	onnx_image_dims(o->in[0], in);
	error = transposed_window(o, &window, in, dim);
	if (!error && o->in_count > 2 && o->in[2])
		error = make_bias(o, 2, &x, &w, 1, &inputs[count++]);
	dim[0] = x.dim[0];
	dim[1] = w.dim[0];
	if (!error)
		error = onnx_image_result(o, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_TRANSPOSE_CONV, inputs, count, out);
	if (!op)
		return -ENOMEM;
	op->window = window;
	return 0;
}

/* A constant of one element, or of one for each kernel, the same for all rows. */
static bool is_bias(const struct onnx *o, const struct onnx_value *value, u32 kernels)
{
	const struct npu_tensor *t = bias_constant(o, value);
	u64 elements = t ? npu_tensor_elements(t) : 0;

	return elements == 1 || (elements == kernels && t->rank && t->dim[t->rank - 1] == kernels);
}

/* Where the product goes to which @c is added: the result itself where that is a bias. */
static int product_tensor(struct onnx *o, bool is_summed, u32 rank, const u32 *dim, u32 *product,
			  u32 *out)
{
	int error = onnx_result(o, 0, ONNX_PLAIN, rank, dim, out);

	*product = *out;
	if (error || !is_summed)
		return error;
	return onnx_add_tensor(o, onnx_tensor(o, *out)->name, NPU_F32, rank, dim, product);
}

/* x [rows][C] by weights [K][C]. */
static int add_product(struct onnx *o, bool weights_are_kc, float alpha, float beta, s32 bias)
{
	static const u32 swap[] = { 1, 0 }, keep[] = { 0, 1 };
	struct onnx_value *in = o->in[0];
	u32 inputs[3], product, out, dim[NPU_MAX_RANK], count = 2, i;
	struct npu_tensor x, w;
	struct npu_op *op;
	bool flattened = false, is_summed;
	int error = onnx_operand(o, 0, ONNX_PLAIN, &inputs[0]);

	if (!error)
		error = onnx_flattened_product(o, weights_are_kc, inputs, &flattened);
	if (!error && !flattened)
		error = make_weights(o, 2, weights_are_kc ? keep : swap, &inputs[1]);
	if (error)
		return error;
	x = *onnx_tensor(o, inputs[0]);
	w = *onnx_tensor(o, inputs[1]);
	if (!in->rank || in->dim[in->rank - 1] != w.dim[1])
		return onnx_fail(o, -EINVAL, "rows of %u inputs by %u x %u weights",
				 in->rank ? in->dim[in->rank - 1] : 0, w.dim[0], w.dim[1]);
	for (i = 0; alpha != 1 && i < w.dim[0] * w.dim[1]; i++)
		((float *)(uintptr_t)w.data)[i] *= alpha;
	is_summed = bias >= 0 && !is_bias(o, o->in[bias], w.dim[0]);
	/* There is no scale for what lies between. */
	if (is_summed && o->quantised)
		return onnx_fail(o, -ENOTSUP,
				 "what is added (%.100s) to a quantised product is no constant row",
				 o->in[bias]->name);
	if (bias >= 0 && !is_summed)
		error = make_bias(o, (u32)bias, &x, &w, beta, &inputs[count++]);
	memcpy(dim, in->dim, sizeof(dim));
	dim[in->rank - 1] = w.dim[0];
	if (!error)
		error = product_tensor(o, is_summed, in->rank, dim, &product, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_FULLY_CONNECTED, inputs, count, product);
	if (!op)
		return -ENOMEM;
	op->activation = o->activation;
	return is_summed ? onnx_add_gemm_sum(o, beta, product, out) : 0;
}

/* Constant weights, maybe behind DequantizeLinear. */
static bool has_constant_weights(const struct onnx *o)
{
	const struct onnx_value *w = o->in[1];

	return onnx_constant(o, w) || (w->quantised && onnx_constant(o, w->quantised));
}

int onnx_read_gemm(struct onnx *o)
{
	float alpha = onnx_float(o, "alpha", 1), beta = onnx_float(o, "beta", 1);

	if (!has_constant_weights(o) || onnx_int(o, "transA", 0))
		return onnx_general_gemm(o, alpha, beta);
	if (o->quantised && (alpha != 1 || beta != 1))
		return onnx_fail(o, -ENOTSUP, "alpha %g and beta %g of a quantised product",
				 (double)alpha, (double)beta);
	return add_product(o, onnx_int(o, "transB", 0), alpha, beta,
			   o->in_count > 2 && o->in[2] ? 2 : -1);
}

int onnx_read_matmul(struct onnx *o)
{
	if (!has_constant_weights(o) || o->in[1]->rank != 2)
		return onnx_general_matmul(o);
	return add_product(o, false, 1, 1, -1);
}

int onnx_read_biased_matmul(struct onnx *o)
{
	return add_product(o, false, 1, 1, o->in_count > 2 && o->in[2] ? 2 : -1);
}

/* The operator that computes a value which nobody else reads, or NULL. */
static struct npu_op *only_producer(const struct onnx *o, const struct onnx_value *value)
{
	u32 i, tensor;

	if (value->is_output || value->aliased || value->reader_count != 1)
		return NULL;
	tensor = value->tensor[value->tensor[ONNX_IMAGE] == NPU_NONE ? ONNX_PLAIN : ONNX_IMAGE];
	for (i = o->graph->op_count; i--;)
		if (o->graph->op[i].output[0] == tensor)
			return &o->graph->op[i];
	return NULL;
}

static void scale_kernels(const struct npu_tensor *w, const float *mul)
{
	const u64 per = npu_tensor_elements(w) / w->dim[0];
	float *data = (float *)(uintptr_t)w->data;
	u64 i;

	for (i = 0; i < per * w->dim[0]; i++)
		data[i] *= mul[i / per];
}

/* Weights and bias are copies of the importer's own, made for this operator alone. */
bool onnx_fold_scale(struct onnx *o, const struct onnx_value *value, const float *mul,
		     const float *add, u32 count, bool *folded)
{
	struct npu_op *op = only_producer(o, value);
	struct npu_tensor w;
	float *bias;
	u32 *input, k;

	*folded = false;
	if (!op || (op->kind != NPU_OP_CONV && op->kind != NPU_OP_FULLY_CONNECTED) ||
	    op->activation != NPU_ACT_NONE)
		return true;
	w = *onnx_tensor(o, op->input[1]);
	if (w.dtype != NPU_F32 || w.dim[0] != count)
		return true;
	if (op->input_count < 3) {
		input = npu_arena_array(&o->graph->arena, 3, sizeof(*input));
		bias = npu_arena_array(&o->graph->arena, count, sizeof(*bias));
		if (!input || !bias)
			return false;
		memcpy(input, op->input, 2 * sizeof(*input));
		input[2] = npu_graph_add_tensor(o->graph, w.name, NPU_F32, 1, &count);
		if (input[2] == NPU_NONE)
			return false;
		o->graph->tensor[input[2]].data = bias;
		op->input = input;
		op->input_count = 3;
	}
	bias = (float *)(uintptr_t)onnx_tensor(o, op->input[2])->data;
	for (k = 0; k < count; k++)
		bias[k] = bias[k] * (mul ? mul[k] : 1) + (add ? add[k] : 0);
	if (mul)
		scale_kernels(&w, mul);
	*folded = true;
	return true;
}

/* By channel, as two operators. */
static int add_scale(struct onnx *o, const float *factor[2], u32 channels)
{
	static const enum npu_op_kind kinds[] = { NPU_OP_MUL, NPU_OP_ADD };
	const u32 dim[] = { 1, 1, 1, channels };
	struct onnx_value *in = o->in[0];
	/* Of rows the channel is the last dimension in both orders. */
	enum onnx_layout layout = in->rank == 2 ? ONNX_PLAIN : ONNX_IMAGE;
	u32 rank = in->rank == 2 ? 2 : 4, inputs[2], out, i;
	void *data = NULL;
	int error = onnx_want(o, in, layout, &inputs[0]);

	for (i = 0; !error && i < 2; i++) {
		error = onnx_add_constant(o, o->in[i + 1]->name, NPU_F32, rank, dim + 4 - rank,
					  &inputs[1], &data);
		if (error)
			break;
		memcpy(data, factor[i], channels * sizeof(float));
		if (i)
			error = onnx_result(o, 0, layout, in->rank, in->dim, &out);
		else
			error = onnx_add_tensor(o, in->name, NPU_F32, rank,
						onnx_tensor(o, inputs[0])->dim, &out);
		if (!error && !onnx_add_op(o, kinds[i], inputs, 2, out))
			error = -ENOMEM;
		inputs[0] = out;
	}
	return error;
}

int onnx_read_batch_norm(struct onnx *o)
{
	const struct npu_tensor *parameter[4];
	float epsilon = onnx_float(o, "epsilon", 1e-5f), *mul, *add;
	struct onnx_value *in = o->in[0];
	u32 i, k, channels = in->rank >= 2 && in->rank <= 4 ? in->dim[1] : 0;
	bool folded = false;

	for (i = 0; i < 4; i++) {
		parameter[i] = o->in[i + 1] ? onnx_constant(o, o->in[i + 1]) : NULL;
		if (!parameter[i] || parameter[i]->dtype != NPU_F32 || in->dtype != NPU_F32 ||
		    npu_tensor_elements(parameter[i]) != channels)
			return onnx_fail(o, -ENOTSUP,
					 "needs rank 2 to 4 and constant parameters for each "
					 "channel");
	}
	mul = npu_arena_array(&o->graph->arena, 2 * (size_t)channels, sizeof(*mul));
	if (!mul)
		return -ENOMEM;
	add = mul + channels;
	for (k = 0; k < channels; k++) {
		const float *p[4] = { parameter[0]->data, parameter[1]->data, parameter[2]->data,
				      parameter[3]->data };

		mul[k] = p[0][k] / sqrtf(p[3][k] + epsilon);
		add[k] = p[1][k] - p[2][k] * mul[k];
	}
	/* What is no image has its channels elsewhere than the operator in front. */
	if ((in->rank == 2 || in->tensor[ONNX_IMAGE] != NPU_NONE) &&
	    !onnx_fold_scale(o, in, mul, add, channels, &folded))
		return -ENOMEM;
	if (!folded)
		return add_scale(o, (const float *[]){ mul, add }, channels);
	onnx_value_shape(o->out[0], NPU_F32, in->rank, in->dim);
	memcpy(o->out[0]->tensor, in->tensor, sizeof(in->tensor));
	return 0;
}
