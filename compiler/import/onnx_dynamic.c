// SPDX-License-Identifier: MIT
/*
 * Networks whose activations are quantised while they run: DynamicQuantizeLinear, the products of
 * integers behind it, and the multiplication by both scales behind these.  The NPU's scales are fixed
 * when a model is compiled, so activations stay real numbers in units of 1 with zero point 0 here,
 * and calibration gives them a scale: the rest of the network then says what it means.
 */
#include "onnx.h"

/* A damaged node may have no type. */
static const char *type_of(const Onnx__NodeProto *node)
{
	return node->op_type ? node->op_type : "";
}

static bool reads_dynamic(const Onnx__NodeProto *node)
{
	static const char *const readers[] = { "ConvInteger", "DequantizeLinear", "Mul",
					       "MatMulInteger", "MatMulIntegerToFloat" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(readers); i++)
		if (!strcmp(type_of(node), readers[i]))
			return true;
	return false;
}

/* Whoever else reads it wants integers, which are nowhere. */
static int check_readers(struct onnx *o, const struct onnx_value *value)
{
	const struct onnx_reader *reader;

	if (value->is_output)
		return onnx_fail(o, -ENOTSUP,
				 "%.100s is quantised while the model runs and leaves it",
				 value->name);
	for (reader = value->readers; reader; reader = reader->next)
		if (!reads_dynamic(o->source->node[reader->node]))
			return onnx_fail(
				o, -ENOTSUP,
				"%.100s is quantised while the model runs, and read by %.60s",
				value->name, type_of(o->source->node[reader->node]));
	return 0;
}

static int define_number(struct onnx *o, struct onnx_value *value, float number)
{
	void *data = NULL;
	int error = onnx_add_constant(o, value->name, NPU_F32, 0, NULL, &value->tensor[ONNX_PLAIN],
				      &data);

	if (error)
		return error;
	*(float *)data = number;
	onnx_value_shape(value, NPU_F32, 0, value->dim);
	return 0;
}

int onnx_read_dynamic_quantize(struct onnx *o)
{
	u32 i;
	int error = 0;

	if (o->in[0]->dtype != NPU_F32 || o->out_count != 3)
		return onnx_fail(o, -EINVAL, "%s and %u results", npu_dtype_names[o->in[0]->dtype],
				 o->out_count);
	for (i = 0; !error && i < 3; i++) {
		o->out[i]->dynamic = true;
		error = check_readers(o, o->out[i]);
	}
	if (!error)
		error = define_number(o, o->out[1], 1);
	if (!error)
		error = define_number(o, o->out[2], 0);
	return error ? error : onnx_read_identity(o);
}

/* Constant integers less their zero points as real numbers, times a scale where there is one. */
static float real_weight(const struct npu_tensor *w, const struct npu_tensor *zero,
			 const struct npu_tensor *scale, u64 i, u64 channel)
{
	u64 z = zero && npu_tensor_elements(zero) > 1 ? channel : 0;
	u64 s = scale && npu_tensor_elements(scale) > 1 ? channel : 0;
	s32 stored = w->dtype == NPU_U8 ? ((const u8 *)w->data)[i] : ((const s8 *)w->data)[i];

	if (zero)
		stored -= zero->dtype == NPU_U8 ? ((const u8 *)zero->data)[z]
						: ((const s8 *)zero->data)[z];
	return (float)stored * (scale ? ((const float *)scale->data)[s] : 1);
}

static int constant_of(struct onnx *o, u32 input, u64 channels, enum npu_dtype dtype,
		       const struct npu_tensor **tensor)
{
	const struct onnx_value *value = input < o->in_count ? o->in[input] : NULL;

	*tensor = NULL;
	if (!value)
		return 0;
	*tensor = onnx_constant(o, value);
	if (!*tensor || (*tensor)->dtype != dtype ||
	    (npu_tensor_elements(*tensor) != 1 && npu_tensor_elements(*tensor) != channels))
		return onnx_fail(o, -ENOTSUP,
				 "input %u (%.100s) must be a constant for each channel", input,
				 value->name);
	return 0;
}

/* Input 1 becomes a float32 constant; channels of its scales are dimension @axis. */
static int make_real_weights(struct onnx *o, u32 axis, u32 zero_input, u32 scale_input)
{
	const struct npu_tensor *w = onnx_constant(o, o->in[1]), *zero, *scale;
	struct onnx_value *real = npu_arena_alloc(&o->graph->arena, sizeof(*real));
	struct npu_tensor source;
	u64 inner = 1, i;
	void *data = NULL;
	u32 d;
	int error;

	if (!real)
		return -ENOMEM;
	if (!w || (w->dtype != NPU_I8 && w->dtype != NPU_U8) || w->rank <= axis)
		return onnx_fail(o, -ENOTSUP,
				 "the weights (%.100s) must be constant 8-bit integers",
				 o->in[1]->name);
	source = *w;
	error = constant_of(o, zero_input, source.dim[axis], source.dtype, &zero);
	if (!error)
		error = constant_of(o, scale_input, source.dim[axis], NPU_F32, &scale);
	if (error)
		return error;
	*real = (struct onnx_value){ .name = o->in[1]->name, .tensor = { NPU_NONE, NPU_NONE } };
	/* Adding tensors moves the others: what is needed of them is found again by index. */
	error = onnx_add_constant(o, real->name, NPU_F32, source.rank, source.dim,
				  &real->tensor[ONNX_PLAIN], &data);
	if (!error)
		error = constant_of(o, zero_input, source.dim[axis], source.dtype, &zero);
	if (!error)
		error = constant_of(o, scale_input, source.dim[axis], NPU_F32, &scale);
	if (error)
		return error;
	for (d = source.rank; d-- > axis + 1;)
		inner *= source.dim[d];
	for (i = 0; i < npu_tensor_elements(&source); i++)
		((float *)data)[i] =
			real_weight(&source, zero, scale, i, i / inner % source.dim[axis]);
	onnx_value_shape(real, NPU_F32, source.rank, source.dim);
	o->in[1] = real;
	return 0;
}

static int check_dynamic(struct onnx *o)
{
	if (!o->in[0]->dynamic)
		return onnx_fail(o, -ENOTSUP,
				 "its input (%.100s) is not computed by DynamicQuantizeLinear",
				 o->in[0]->name);
	return 0;
}

/* x, w, zero points of both */
int onnx_read_conv_integer(struct onnx *o)
{
	int error = check_dynamic(o);

	if (!error)
		error = make_real_weights(o, 0, 3, NPU_MAX_INPUTS);
	o->in_count = 2;
	return error ? error : onnx_read_conv(o);
}

static u32 last_axis(const struct onnx_value *value)
{
	return value->rank ? value->rank - 1 : 0;
}

int onnx_read_matmul_integer(struct onnx *o)
{
	int error = check_dynamic(o);

	if (!error)
		error = make_real_weights(o, last_axis(o->in[1]), 3, NPU_MAX_INPUTS);
	o->in_count = 2;
	return error ? error : onnx_read_matmul(o);
}

/* a, b, scales of both, zero points of both, bias */
int onnx_read_matmul_integer_to_float(struct onnx *o)
{
	int error = check_dynamic(o);

	if (!error)
		error = make_real_weights(o, last_axis(o->in[1]), 5, 3);
	o->in[2] = o->in_count > 6 ? o->in[6] : NULL;
	o->in_count = 3;
	return error ? error : onnx_read_biased_matmul(o);
}

/* a, b, b's scale and zero point, bias: a is quantised inside */
int onnx_read_dynamic_matmul(struct onnx *o)
{
	int error = make_real_weights(o, last_axis(o->in[1]), 3, 2);

	o->in[2] = o->in_count > 4 ? o->in[4] : NULL;
	o->in_count = 3;
	return error ? error : onnx_read_biased_matmul(o);
}
