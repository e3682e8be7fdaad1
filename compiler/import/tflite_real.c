// SPDX-License-Identifier: MIT
/*
 * What TensorFlow Lite keeps in other types than the graph computes with: weights of float
 * networks in float16 or INT8 (dynamic-range quantisation), and networks with INT16
 * activations, whose values become float32 ones.
 */
#include "half.h"
#include "tflite.h"

static const struct npu_tensor *tensor_of(struct tflite *t, u32 index)
{
	return &t->graph->tensor[index];
}

/* Elements without a scale are what they are. */
static float element(const struct npu_tensor *tensor, size_t i, float scale, s32 zero)
{
	switch (tensor->dtype) {
	case NPU_F16:
		return npu_from_half(((const u16 *)tensor->data)[i]);
	case NPU_I8:
		return scale * (float)(((const s8 *)tensor->data)[i] - zero);
	case NPU_U8:
		return scale * (float)(((const u8 *)tensor->data)[i] - zero);
	case NPU_I16:
		return scale * (float)(((const s16 *)tensor->data)[i] - zero);
	case NPU_I32:
		return (float)((double)scale * ((double)((const s32 *)tensor->data)[i] - zero));
	default:
		return (float)((double)scale * ((double)((const s64 *)tensor->data)[i] - zero));
	}
}

static void widen(const struct npu_tensor *tensor, const struct npu_quant *quant, float *to)
{
	u64 inner = 1, elements = npu_tensor_elements(tensor), i;
	u32 d;

	for (d = tensor->rank; quant->count > 1 && d-- > quant->axis + 1;)
		inner *= tensor->dim[d];
	for (i = 0; i < elements; i++) {
		u64 c = quant->count > 1 ? i / inner % quant->count : 0;

		to[i] = element(tensor, i, quant->count ? quant->scale[c] : 1,
				quant->count ? quant->zero[c] : 0);
	}
}

/* A float32 constant of the shape of @from. */
static int add_real(struct tflite *t, u32 from, const struct npu_quant *quant, u32 *to)
{
	const struct npu_tensor source = *tensor_of(t, from);
	float *data =
		npu_arena_array(&t->graph->arena, npu_tensor_elements(&source), sizeof(*data));

	if (!data)
		return -ENOMEM;
	*to = npu_graph_add_tensor(t->graph, source.name, NPU_F32, source.rank, source.dim);
	if (*to == NPU_NONE)
		return -ENOMEM;
	widen(&source, quant, data);
	t->graph->tensor[*to].data = data;
	return 0;
}

/* Zero points so far outside that a difference would not fit are damage. */
static bool zeros_are_sane(const struct npu_quant *quant)
{
	u32 i;

	for (i = 0; i < quant->count; i++)
		if (quant->zero[i] < -(1 << 24) || quant->zero[i] > 1 << 24)
			return false;
	return true;
}

/* Whether the elements of a constant stand for real numbers. */
static int check_real(struct tflite *t, const struct npu_tensor *tensor)
{
	if (tensor->dtype != NPU_F32 && tensor->dtype != NPU_F16 &&
	    (!tensor->quant.count || tensor->dtype == NPU_I64 || tensor->dtype == NPU_BOOL))
		return tflite_fail(t, -ENOTSUP, "%.100s: %s without a scale in a float32 network",
				   tensor->name, npu_dtype_names[tensor->dtype]);
	if (!zeros_are_sane(&tensor->quant))
		return tflite_fail(t, -EINVAL, "%.100s: zero point out of range", tensor->name);
	return 0;
}

int tflite_real_copy(struct tflite *t, u32 from, float *to)
{
	const struct npu_tensor *tensor = tensor_of(t, from);
	int error = check_real(t, tensor);

	if (!error && tensor->dtype == NPU_F32)
		memcpy(to, tensor->data, tensor->bytes);
	else if (!error)
		widen(tensor, &tensor->quant, to);
	return error;
}

int tflite_cast_constant(struct tflite *t, u32 from, u32 to)
{
	static const struct npu_quant none;
	const struct npu_tensor in = *tensor_of(t, from);
	struct npu_tensor *out = &t->graph->tensor[to];
	float *data = npu_arena_array(&t->graph->arena, npu_tensor_elements(&in), sizeof(*data));

	if (in.dtype == NPU_BOOL || out->bytes != npu_tensor_elements(&in) * sizeof(*data))
		return tflite_fail(t, -ENOTSUP, "of %s, or of another size",
				   npu_dtype_names[in.dtype]);
	if (!data)
		return -ENOMEM;
	widen(&in, &none, data);
	out->data = data;
	return 0;
}

int tflite_real_constant(struct tflite *t, u32 from, u32 *to)
{
	const struct npu_tensor *tensor = tensor_of(t, from);
	int error;

	*to = from;
	if (tensor->dtype == NPU_F32)
		return 0;
	*to = t->real[from];
	if (*to != NPU_NONE)
		return 0;
	error = check_real(t, tensor);
	if (!error)
		error = add_real(t, from, &tensor->quant, &t->real[from]);
	*to = t->real[from];
	return error;
}

int tflite_widen_int16(struct tflite *t, u32 index, u8 *fault)
{
	struct npu_tensor *tensor = &t->graph->tensor[index];
	u64 elements = npu_tensor_elements(tensor);
	float *data;

	/* The format's INT16 is symmetric. */
	if (tensor->quant.count != 1 || tensor->quant.zero[0]) {
		*fault = TENSOR_BAD_QUANT;
		return 0;
	}
	if (elements > INT32_MAX / sizeof(float)) {
		*fault = TENSOR_BAD_SHAPE;
		return 0;
	}
	if (tensor->data) {
		data = npu_arena_array(&t->graph->arena, elements, sizeof(*data));
		if (!data)
			return -ENOMEM;
		widen(tensor, &tensor->quant, data);
		tensor->data = data;
	}
	t->scale16[index] = tensor->quant.scale[0];
	tensor->quant = (struct npu_quant){ 0 };
	tensor->dtype = NPU_F32;
	tensor->bytes = elements * sizeof(float);
	return 0;
}

/* An INT16 tensor beside tensor @real. */
static int add_int16(struct tflite *t, u32 real, u32 *index)
{
	const struct npu_tensor like = *tensor_of(t, real);
	float *scale = npu_arena_array(&t->graph->arena, 1, sizeof(*scale));
	s32 *zero = npu_arena_array(&t->graph->arena, 1, sizeof(*zero));

	*index = npu_graph_add_tensor(t->graph, like.name, NPU_I16, like.rank, like.dim);
	if (!scale || !zero || *index == NPU_NONE)
		return -ENOMEM;
	*scale = t->scale16[real];
	t->graph->tensor[*index].quant = (struct npu_quant){ 1, 0, scale, zero };
	return 0;
}

static int convert(struct tflite *t, enum npu_op_kind kind, u32 from, u32 to)
{
	struct npu_op *op = npu_graph_add_op(t->graph, kind, tensor_of(t, to)->name, 1, 1);

	if (!op)
		return -ENOMEM;
	op->input[0] = from;
	op->output[0] = to;
	return 0;
}

int tflite_convert_inputs(struct tflite *t)
{
	u32 i, own;
	int error = 0;

	for (i = 0; !error && i < t->graph->input_count; i++) {
		u32 real = t->graph->input[i];

		if (!(t->scale16[real] > 0))
			continue;
		error = add_int16(t, real, &own);
		if (!error)
			error = convert(t, NPU_OP_DEQUANTIZE, own, real);
		t->graph->input[i] = own;
	}
	return error;
}

int tflite_convert_outputs(struct tflite *t)
{
	u32 i, own;
	int error = 0;

	for (i = 0; !error && i < t->graph->output_count; i++) {
		u32 real = t->graph->output[i];

		if (!(t->scale16[real] > 0))
			continue;
		error = add_int16(t, real, &own);
		if (!error)
			error = convert(t, NPU_OP_QUANTIZE, real, own);
		t->graph->output[i] = own;
	}
	return error;
}

/* Integer biases count in units of the product of the scales of input and weights. */
static int real_bias(struct tflite *t, float in_scale, const struct npu_quant *weights, u32 bias,
		     u32 *to)
{
	const struct npu_tensor *tensor = tensor_of(t, bias);
	u32 count = weights->count, i;
	struct npu_quant quant = { .count = count };
	float *scale = npu_arena_array(&t->graph->arena, max(count, 1u), sizeof(*scale));
	s32 *zero = npu_arena_array(&t->graph->arena, max(count, 1u), sizeof(*zero));

	if (!scale || !zero)
		return -ENOMEM;
	if (!count || tensor->rank != 1 || (count > 1 && tensor->dim[0] != count))
		return tflite_fail(t, -EINVAL, "bias and weights do not fit each other");
	for (i = 0; i < count; i++)
		scale[i] = in_scale * weights->scale[i];
	quant.scale = scale;
	quant.zero = zero;
	return add_real(t, bias, &quant, to);
}

int tflite_real_operands(struct tflite *t, u32 in, u32 weights, u32 bias)
{
	struct npu_quant quant;
	enum npu_dtype dtype;
	int error;

	if (t->input[in] == NPU_NONE || tensor_of(t, t->input[in])->dtype != NPU_F32 ||
	    !tensor_of(t, t->input[weights])->data)
		return 0;
	quant = tensor_of(t, t->input[weights])->quant;
	if (tensor_of(t, t->input[weights])->dtype == NPU_U8)
		return tflite_fail(t, -ENOTSUP,
				   "UINT8 weights of a float32 operator are not supported; "
				   "convert the model with INT8 or float16 weights");
	error = tflite_real_constant(t, t->input[weights], &t->input[weights]);
	if (error || t->input[bias] == NPU_NONE || !tensor_of(t, t->input[bias])->data)
		return error;
	dtype = tensor_of(t, t->input[bias])->dtype;
	if ((dtype == NPU_I32 || dtype == NPU_I64) && t->scale16[t->input[in]] > 0)
		return real_bias(t, t->scale16[t->input[in]], &quant, t->input[bias],
				 &t->input[bias]);
	if (dtype == NPU_F16)
		return tflite_real_constant(t, t->input[bias], &t->input[bias]);
	return 0;
}
