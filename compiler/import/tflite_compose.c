// SPDX-License-Identifier: MIT
/*
 * Operators of TensorFlow Lite that are several of the graph's.  What is between these has no scale in
 * the file: where operands are bytes, they are computed in real numbers and quantised at the end.
 */
#include "tflite.h"

/* TensorFlow Lite's: a vector shorter than this is divided by it. */
#define L2_LEAST 1e-6f

/* The float32 form of a value. */
static int real_operand(struct tflite *t, u32 tensor, u32 *real)
{
	const struct npu_tensor in = *tflite_tensor(t, tensor);
	int error = 0;

	*real = tensor;
	if (in.dtype == NPU_F32)
		return 0;
	*real = npu_graph_add_tensor(t->graph, in.name, NPU_F32, in.rank, in.dim);
	if (*real == NPU_NONE)
		return -ENOMEM;
	tflite_add(t, NPU_OP_DEQUANTIZE, 1, &tensor, *real, &error);
	return error;
}

/* Where the result goes: the output itself, or a float32 tensor that is quantised behind it. */
static int real_result(struct tflite *t, u32 *real)
{
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);

	*real = t->output[0];
	if (out.dtype != NPU_F32)
		*real = npu_graph_add_tensor(t->graph, out.name, NPU_F32, out.rank, out.dim);
	return *real == NPU_NONE ? -ENOMEM : 0;
}

static int finish(struct tflite *t, u32 real)
{
	int error = 0;

	if (real != t->output[0])
		tflite_add(t, NPU_OP_QUANTIZE, 1, &real, t->output[0], &error);
	return error;
}

/* A float32 tensor between two operators; @reduced: with a last dimension of one. */
static u32 add_between(struct tflite *t, u32 like, bool reduced)
{
	struct npu_tensor source = *tflite_tensor(t, like);

	if (reduced)
		source.dim[source.rank - 1] = 1;
	return npu_graph_add_tensor(t->graph, source.name, NPU_F32, source.rank, source.dim);
}

/* The results of these are added here; NPU_NONE when out of memory. */
static u32 binary(struct tflite *t, enum npu_op_kind kind, u32 a, u32 b)
{
	const u32 inputs[] = { a, b };
	u32 out = a == NPU_NONE || b == NPU_NONE ? NPU_NONE : add_between(t, a, false);
	int error;

	return out != NPU_NONE && tflite_add(t, kind, 2, inputs, out, &error) ? out : NPU_NONE;
}

static u32 function(struct tflite *t, enum npu_function function, float exponent, u32 in)
{
	u32 out = in == NPU_NONE ? NPU_NONE : add_between(t, in, false);
	int error;
	struct npu_op *op = out == NPU_NONE ? NULL
					    : tflite_add(t, NPU_OP_FUNCTION, 1, &in, out, &error);

	if (!op)
		return NPU_NONE;
	op->function = function;
	op->alpha = 1;
	op->gamma = exponent;
	return out;
}

static u32 reduce(struct tflite *t, enum npu_op_kind kind, u32 in)
{
	u32 out = in == NPU_NONE ? NPU_NONE : add_between(t, in, true);
	int error;
	struct npu_op *op = out == NPU_NONE ? NULL : tflite_add(t, kind, 1, &in, out, &error);

	if (!op)
		return NPU_NONE;
	op->axes = 1u << (tflite_tensor(t, in)->rank - 1);
	return out;
}

static u32 number(struct tflite *t, float value)
{
	float *data = npu_arena_alloc(&t->graph->arena, sizeof(*data));
	u32 tensor = npu_graph_add_tensor(t->graph, tflite_tensor(t, t->output[0])->name, NPU_F32,
					  0, NULL);

	if (!data || tensor == NPU_NONE)
		return NPU_NONE;
	*data = value;
	t->graph->tensor[tensor].data = data;
	return tensor;
}

/* The operands and the last step, a op b, of what is computed along the last dimension. */
static int last_step(struct tflite *t, enum npu_op_kind kind, u32 a, u32 b)
{
	const u32 inputs[] = { a, b };
	u32 out;
	int error = a == NPU_NONE || b == NPU_NONE ? -ENOMEM : real_result(t, &out);

	if (!error)
		tflite_add(t, kind, 2, inputs, out, &error);
	return error ? error : finish(t, out);
}

static int check_rank(struct tflite *t)
{
	return tflite_tensor(t, t->input[0])->rank
		       ? 0
		       : tflite_fail(t, -EINVAL, "a single number has no last dimension");
}

/* x / max(sqrt(sum of x^2), least) along the last dimension. */
int tflite_read_l2_norm(struct tflite *t)
{
	u32 in, norm;
	int error = check_rank(t);

	if (!error && fb_s8(&t->options, 0, 0))
		error = tflite_fail(t, -ENOTSUP, "fused activation is not supported");
	if (!error)
		error = real_operand(t, t->input[0], &in);
	if (error)
		return error;
	norm = reduce(t, NPU_OP_REDUCE_SUM, function(t, NPU_FN_POWER, 2, in));
	norm = binary(t, NPU_OP_MAXIMUM, function(t, NPU_FN_POWER, 0.5f, norm),
		      number(t, L2_LEAST));
	return last_step(t, NPU_OP_DIV, in, norm);
}

/* d - log(sum of exp(d)) along the last dimension, where d = x - the greatest x. */
int tflite_read_log_softmax(struct tflite *t)
{
	u32 in, less, log;
	int error = check_rank(t);

	if (!error)
		error = real_operand(t, t->input[0], &in);
	if (error)
		return error;
	less = binary(t, NPU_OP_SUB, in, reduce(t, NPU_OP_REDUCE_MAX, in));
	log = function(t, NPU_FN_LOG, 1,
		       reduce(t, NPU_OP_REDUCE_SUM, function(t, NPU_FN_EXP, 1, less)));
	return last_step(t, NPU_OP_SUB, less, log);
}

int tflite_read_add_n(struct tflite *t)
{
	u32 sum = t->input[0], i;

	if (t->input_count < 2) {
		int error;

		tflite_add(t, NPU_OP_RESHAPE, 1, t->input, t->output[0], &error);
		return error;
	}
	if (tflite_tensor(t, t->output[0])->dtype != NPU_F32)
		return tflite_fail(t, -ENOTSUP, "of type %s",
				   npu_dtype_names[tflite_tensor(t, t->output[0])->dtype]);
	for (i = 1; i < t->input_count; i++)
		if (t->input[i] == NPU_NONE)
			return tflite_fail(t, -EINVAL, "input %u is missing", i);
	for (i = 1; i + 1 < t->input_count; i++)
		sum = binary(t, NPU_OP_ADD, sum, t->input[i]);
	return last_step(t, NPU_OP_ADD, sum, t->input[i]);
}

/* Bytes without a scale, as images come, are numbers with scale 1. */
static int cast_bytes(struct tflite *t)
{
	float *scale = npu_arena_alloc(&t->graph->arena, sizeof(*scale));
	s32 *zero = npu_arena_alloc(&t->graph->arena, sizeof(*zero));
	struct npu_tensor *in = &t->graph->tensor[t->input[0]];
	int error;

	if (!scale || !zero)
		return -ENOMEM;
	if (in->quant.count &&
	    (in->quant.count > 1 || in->quant.scale[0] != 1 || in->quant.zero[0]))
		return tflite_fail(t, -ENOTSUP, "of bytes with a scale");
	*scale = 1;
	in->quant = (struct npu_quant){ 1, 0, scale, zero };
	tflite_add(t, NPU_OP_DEQUANTIZE, 1, t->input, t->output[0], &error);
	return error;
}

int tflite_read_cast(struct tflite *t)
{
	const struct npu_tensor in = *tflite_tensor(t, t->input[0]);
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	int error = 0;

	if (in.dtype == out->dtype)
		tflite_add(t, NPU_OP_RESHAPE, 1, t->input, t->output[0], &error);
	else if (out->dtype != NPU_F32 || (!in.data && in.dtype != NPU_I8 && in.dtype != NPU_U8))
		error = tflite_fail(t, -ENOTSUP, "from %s to %s", npu_dtype_names[in.dtype],
				    npu_dtype_names[out->dtype]);
	else if (in.data)
		error = tflite_cast_constant(t, t->input[0], t->output[0]);
	else
		error = cast_bytes(t);
	return error;
}

/* Memory for the elements of the output, which becomes a constant. */
static void *constant_output(struct tflite *t)
{
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	void *data = npu_arena_alloc(&t->graph->arena, out->bytes);

	out->data = data;
	return data;
}

int tflite_read_zeros_like(struct tflite *t)
{
	return constant_output(t) ? 0 : -ENOMEM;
}

/* The output's shape is the file's: only the number matters. */
int tflite_read_fill(struct tflite *t)
{
	const struct npu_tensor value = *tflite_tensor(t, t->input[1]);
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	const u64 elements = npu_tensor_elements(&out);
	u8 *data;
	u64 i;

	if (!value.data || npu_tensor_elements(&value) != 1 || value.dtype != out.dtype)
		return tflite_fail(t, -ENOTSUP, "the value is not one constant %s",
				   npu_dtype_names[out.dtype]);
	data = constant_output(t);
	for (i = 0; data && i < elements; i++)
		memcpy(data + i * value.bytes, value.data, value.bytes);
	return data ? 0 : -ENOMEM;
}

/* Rows of a table. */
int tflite_read_embedding(struct tflite *t)
{
	const u32 inputs[] = { t->input[1], t->input[0] };
	int error;

	tflite_add(t, NPU_OP_GATHER, 2, inputs, t->output[0], &error);
	return error;
}
