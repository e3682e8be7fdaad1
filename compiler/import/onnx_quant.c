// SPDX-License-Identifier: MIT
/* Quantised models: QuantizeLinear, DequantizeLinear, and the operators that have both inside. */
#include "onnx.h"

#include <math.h>

static bool is_byte(enum npu_dtype dtype)
{
	return dtype == NPU_I8 || dtype == NPU_U8;
}

static s32 stored_integer(const struct npu_tensor *tensor, u64 i)
{
	switch (tensor->dtype) {
	case NPU_I8:
		return ((const s8 *)tensor->data)[i];
	case NPU_U8:
		return ((const u8 *)tensor->data)[i];
	default:
		return ((const s32 *)tensor->data)[i];
	}
}

static int check_scales(struct onnx *o, const struct npu_tensor *scale)
{
	u64 i;

	if (scale->dtype != NPU_F32 || scale->rank > 1)
		return onnx_fail(o, -ENOTSUP, "scales in blocks or of type %s (%.100s)",
				 npu_dtype_names[scale->dtype], scale->name);
	for (i = 0; i < npu_tensor_elements(scale); i++)
		if (!(((const float *)scale->data)[i] > 0 &&
		      ((const float *)scale->data)[i] < 1e30f))
			return onnx_fail(o, -EINVAL, "scale %g (%.100s)",
					 (double)((const float *)scale->data)[i], scale->name);
	return 0;
}

/* Zero points of INT8 for those of the model; without any they are 0 of @*dtype. */
static int copy_zeros(struct onnx *o, const struct npu_tensor *zero, enum npu_dtype *dtype,
		      struct npu_quant *quant)
{
	s32 *zeros = npu_arena_array(&o->graph->arena, quant->count, sizeof(*zeros));
	u32 i;

	if (!zeros)
		return -ENOMEM;
	if (zero)
		*dtype = zero->dtype;
	for (i = 0; i < quant->count; i++) {
		zeros[i] = zero ? stored_integer(zero, i) : 0;
		if (*dtype == NPU_U8)
			zeros[i] -= 128;
	}
	quant->zero = zeros;
	return 0;
}

/* @dtype: the type without a zero point; receives the zero point's. */
static int read_quant(struct onnx *o, const struct onnx_value *scale_value,
		      const struct onnx_value *zero_value, u32 axis, enum npu_dtype *dtype,
		      struct npu_quant *quant)
{
	const struct npu_tensor *scale = scale_value ? onnx_constant(o, scale_value) : NULL;
	const struct npu_tensor *zero = zero_value ? onnx_constant(o, zero_value) : NULL;
	int error;

	if (!scale || (zero_value && !zero))
		return onnx_fail(o, -ENOTSUP, "scale and zero point must be constant");
	error = check_scales(o, scale);
	if (error)
		return error;
	if (zero && ((!is_byte(zero->dtype) && zero->dtype != NPU_I32) ||
		     npu_tensor_elements(zero) != npu_tensor_elements(scale)))
		return onnx_fail(o, -ENOTSUP, "zero points of type %s for %llu scales",
				 npu_dtype_names[zero->dtype],
				 (unsigned long long)npu_tensor_elements(scale));
	quant->count = npu_tensor_elements(scale);
	quant->axis = quant->count > 1 ? axis : 0;
	quant->scale = scale->data;
	return copy_zeros(o, zero, dtype, quant);
}

static bool same_quant(const struct npu_quant *a, const struct npu_quant *b)
{
	return a->count == b->count && !memcmp(a->scale, b->scale, a->count * sizeof(*a->scale)) &&
	       !memcmp(a->zero, b->zero, a->count * sizeof(*a->zero));
}

/* A constant with its scales: INT8 for UINT8. */
static int bind_constant(struct onnx *o, const struct onnx_value *value,
			 const struct npu_quant *quant, struct onnx_value *bound)
{
	const struct npu_tensor *found = onnx_constant(o, value);
	struct npu_tensor source = *found;
	u32 *tensor = &bound->tensor[ONNX_PLAIN];
	void *data = NULL;
	u64 i;
	int error;

	if (source.dtype == NPU_U8) {
		error = onnx_add_constant(o, source.name, NPU_I8, source.rank, source.dim, tensor,
					  &data);
		for (i = 0; !error && i < source.bytes; i++)
			((u8 *)data)[i] = ((const u8 *)source.data)[i] ^ 0x80;
	} else {
		error = onnx_add_tensor(o, source.name, source.dtype, source.rank, source.dim,
					tensor);
		if (!error)
			o->graph->tensor[*tensor].data = source.data;
	}
	if (!error)
		o->graph->tensor[*tensor].quant = *quant;
	return error;
}

int onnx_flip_sign(struct onnx *o, u32 from, u32 *to)
{
	struct npu_tensor source = *onnx_tensor(o, from);
	enum npu_dtype dtype = source.dtype == NPU_U8 ? NPU_I8 : NPU_U8;
	s32 *zero = npu_arena_alloc(&o->graph->arena, sizeof(*zero));
	int error;

	if (!zero)
		return -ENOMEM;
	error = onnx_add_tensor(o, source.name, dtype, source.rank, source.dim, to);
	if (error)
		return error;
	*zero = source.quant.zero[0] + (dtype == NPU_U8 ? 128 : -128);
	o->graph->tensor[*to].quant = source.quant;
	o->graph->tensor[*to].quant.zero = zero;
	return onnx_add_op(o, NPU_OP_QUANTIZE, &from, 1, *to) ? 0 : -ENOMEM;
}

static int bind_computed(struct onnx *o, struct onnx_value *value, const struct npu_quant *quant)
{
	u32 layout = value->tensor[0] == NPU_NONE, tensor = value->tensor[layout];
	struct npu_quant moved = *quant;
	s32 *zero;

	if (tensor == NPU_NONE)
		return onnx_fail(o, -EINVAL, "%.100s is used before it is computed", value->name);
	if (quant->count != 1 || !is_byte(value->dtype))
		return onnx_fail(o, -ENOTSUP, "%s %.100s with %u scales",
				 npu_dtype_names[value->dtype], value->name, quant->count);
	if (onnx_tensor(o, tensor)->quant.count) {
		if (!same_quant(&onnx_tensor(o, tensor)->quant, quant))
			return onnx_fail(o, -ENOTSUP,
					 "%.100s is read with another scale than it was written",
					 value->name);
		return 0;
	}
	value->tensor[!layout] = NPU_NONE;
	if (value->dtype == NPU_I8) {
		o->graph->tensor[tensor].quant = *quant;
		return 0;
	}
	zero = npu_arena_alloc(&o->graph->arena, sizeof(*zero));
	if (!zero)
		return -ENOMEM;
	*zero = quant->zero[0] + 128;
	moved.zero = zero;
	o->graph->tensor[tensor].quant = moved;
	return onnx_flip_sign(o, tensor, &value->tensor[layout]);
}

static int bind_quant(struct onnx *o, struct onnx_value *value, const struct npu_quant *quant,
		      enum npu_dtype dtype, struct onnx_value **bound)
{
	if (dtype != value->dtype)
		return onnx_fail(o, -EINVAL, "%.100s is %s, its zero point %s", value->name,
				 npu_dtype_names[value->dtype], npu_dtype_names[dtype]);
	if (quant->count > 1 &&
	    (quant->axis >= value->rank || value->dim[quant->axis] != quant->count))
		return onnx_fail(o, -EINVAL, "%u scales do not fit dimension %u of %.100s",
				 quant->count, quant->axis, value->name);
	*bound = value;
	if (!onnx_constant(o, value))
		return bind_computed(o, value, quant);
	*bound = npu_arena_alloc(&o->graph->arena, sizeof(**bound));
	if (!*bound)
		return -ENOMEM;
	**bound = *value;
	(*bound)->tensor[ONNX_IMAGE] = NPU_NONE;
	return bind_constant(o, value, quant, *bound);
}

/* The dequantised view of a value. */
static int make_view(struct onnx *o, struct onnx_value *value, const struct npu_quant *quant,
		     enum npu_dtype dtype, struct onnx_value *view)
{
	int error = bind_quant(o, value, quant, dtype, &view->quantised);

	if (!error)
		onnx_value_shape(view, NPU_F32, value->rank, value->dim);
	return error;
}

/* Axis of the scales of the node at work for a value of rank @rank. */
static int scale_axis(struct onnx *o, u32 rank, u32 *axis)
{
	*axis = 0;
	return rank ? onnx_axis(o, rank == 1 ? 0 : onnx_int(o, "axis", 1), rank, axis) : 0;
}

int onnx_read_dequantize(struct onnx *o)
{
	enum npu_dtype dtype = o->in[0]->dtype;
	struct npu_quant quant;
	u32 axis = 0;
	int error = 0;

	if (o->in[0]->dynamic)
		return onnx_read_identity(o);
	if (!is_byte(dtype) && !(dtype == NPU_I32 && onnx_constant(o, o->in[0])))
		return onnx_fail(o, -ENOTSUP, "dequantises %s", npu_dtype_names[dtype]);
	if (onnx_constant(o, o->in[1]) && onnx_constant(o, o->in[1])->rank)
		error = scale_axis(o, o->in[0]->rank, &axis);
	if (!error)
		error = read_quant(o, o->in[1], o->in_count > 2 ? o->in[2] : NULL, axis, &dtype,
				   &quant);
	return error ? error : make_view(o, o->in[0], &quant, dtype, o->out[0]);
}

int onnx_requantise(struct onnx *o, u32 from, const struct npu_quant *quant, u32 *to)
{
	struct npu_tensor source = *onnx_tensor(o, from);
	int error;

	*to = from;
	if (source.quant.count && same_quant(&source.quant, quant))
		return 0;
	error = onnx_add_tensor(o, source.name, NPU_I8, source.rank, source.dim, to);
	if (error)
		return error;
	o->graph->tensor[*to].quant = *quant;
	return onnx_add_op(o, NPU_OP_QUANTIZE, &from, 1, *to) ? 0 : -ENOMEM;
}

int onnx_requantise_result(struct onnx *o)
{
	struct onnx_value *value = o->out[0];
	u32 layout;

	if (o->raw == NPU_NONE)
		return 0;
	layout = value->tensor[ONNX_PLAIN] != o->raw;
	return onnx_requantise(o, o->raw, &o->out_quant, &value->tensor[layout]);
}

static int quantise_constant(struct onnx *o, const struct npu_quant *quant)
{
	struct npu_tensor source = *onnx_constant(o, o->in[0]);
	u64 inner = 1, i;
	void *data = NULL;
	u32 d;
	int error = onnx_define_constant(o, NPU_I8, source.rank, source.dim, &data);

	if (error)
		return error;
	for (d = source.rank; quant->count > 1 && d-- > quant->axis + 1;)
		inner *= source.dim[d];
	for (i = 0; i < npu_tensor_elements(&source); i++) {
		u64 c = quant->count > 1 ? i / inner % quant->count : 0;
		float stored = rintf(((const float *)source.data)[i] / quant->scale[c]) +
			       (float)quant->zero[c];

		((s8 *)data)[i] = stored >= 127 ? 127 : stored > -128 ? (s8)stored : -128;
	}
	return 0;
}

static int quantise_value(struct onnx *o, const struct npu_quant *quant)
{
	struct onnx_value *in = o->in[0], *out = o->out[0];
	u32 layout, from;
	int error;

	if (in->quantised && in->tensor[0] == NPU_NONE && in->tensor[1] == NPU_NONE)
		in = in->quantised;
	layout = in->tensor[ONNX_PLAIN] == NPU_NONE;
	error = onnx_want(o, in, layout, &from);
	return error ? error : onnx_requantise(o, from, quant, &out->tensor[layout]);
}

/* UINT8 without a zero point, unless newer opsets say otherwise. */
static int output_type(struct onnx *o, enum npu_dtype *dtype)
{
	s64 type = onnx_int(o, "output_dtype", 0);
	int found = type ? onnx_dtype((s32)min(type, (s64)INT32_MAX)) : NPU_U8;

	if (found < 0 || !is_byte(found))
		return onnx_fail(o, -ENOTSUP, "quantises to type %lld", (long long)type);
	*dtype = found;
	return 0;
}

int onnx_read_quantize(struct onnx *o)
{
	struct npu_quant quant;
	enum npu_dtype dtype;
	u32 axis = 0;
	int error = output_type(o, &dtype);

	if (!error && o->in[0]->dtype != NPU_F32)
		error = onnx_fail(o, -ENOTSUP, "quantises %s", npu_dtype_names[o->in[0]->dtype]);
	if (!error && onnx_constant(o, o->in[1]) && onnx_constant(o, o->in[1])->rank)
		error = scale_axis(o, o->in[0]->rank, &axis);
	if (!error)
		error = read_quant(o, o->in[1], o->in_count > 2 ? o->in[2] : NULL, axis, &dtype,
				   &quant);
	if (error)
		return error;
	if (!is_byte(dtype))
		return onnx_fail(o, -ENOTSUP, "quantises to %s", npu_dtype_names[dtype]);
	if (quant.count > 1 && (axis >= o->in[0]->rank || o->in[0]->dim[axis] != quant.count))
		return onnx_fail(o, -EINVAL, "%u scales do not fit dimension %u", quant.count,
				 axis);
	if (onnx_constant(o, o->in[0])) {
		error = quantise_constant(o, &quant);
		if (!error)
			o->graph->tensor[o->out[0]->tensor[ONNX_PLAIN]].quant = quant;
	} else if (quant.count > 1) {
		error = onnx_fail(o, -ENOTSUP, "computed values with a scale for each channel");
	} else {
		error = quantise_value(o, &quant);
	}
	if (!error)
		onnx_value_shape(o->out[0], NPU_I8, o->in[0]->rank, o->in[0]->dim);
	/* The constant is INT8 whatever the model says; computed values are given back as they are there. */
	if (!error)
		o->out[0]->dtype = dtype;
	return error;
}

static int input_named(struct onnx *o, const Onnx__NodeProto *node, u32 i,
		       struct onnx_value **value)
{
	*value = NULL;
	if (i >= node->n_input || !*node->input[i])
		return 0;
	return onnx_value_find(o, node->input[i], value);
}

/* A clamp that graph operators can have behind them. */
static int find_activation(struct onnx *o, const Onnx__NodeProto *node,
			   enum npu_activation *activation)
{
	const Onnx__NodeProto *at_work = o->node;
	const struct onnx_row *row = onnx_find_row(node);
	float bound[2];
	u32 i;

	*activation = NPU_ACT_NONE;
	if (!row || (row->read != onnx_read_relu && row->read != onnx_read_clip))
		return 0;
	if (row->read == onnx_read_relu) {
		*activation = NPU_ACT_RELU;
		return 0;
	}
	o->node = node;
	bound[0] = onnx_float(o, "min", -INFINITY);
	bound[1] = onnx_float(o, "max", INFINITY);
	o->node = at_work;
	for (i = 0; i < 2; i++) {
		struct onnx_value *value;
		const struct npu_tensor *tensor;
		int error = input_named(o, node, i + 1, &value);

		if (error)
			return error;
		if (!value)
			continue;
		tensor = onnx_constant(o, value);
		if (!tensor || tensor->dtype != NPU_F32 || tensor->rank)
			return 0;
		bound[i] = *(const float *)tensor->data;
	}
	if (bound[0] == 0 && bound[1] == 6)
		*activation = NPU_ACT_RELU6;
	else if (bound[0] == 0 && isinf(bound[1]))
		*activation = NPU_ACT_RELU;
	else if (bound[0] == -1 && bound[1] == 1)
		*activation = NPU_ACT_RELU_N1_TO_1;
	return 0;
}

static bool is_product(enum npu_op_kind kind)
{
	return kind == NPU_OP_CONV || kind == NPU_OP_FULLY_CONNECTED;
}

static bool may_have_bias(enum npu_op_kind kind)
{
	return is_product(kind) || kind == NPU_OP_TRANSPOSE_CONV;
}

/* Operators of the graph that may have a clamp behind them. */
static bool takes_activation(enum npu_op_kind kind)
{
	return is_product(kind) || kind == NPU_OP_ADD || kind == NPU_OP_SUB || kind == NPU_OP_MUL;
}

/* Whether each input with a value is a view of a quantised one; a bias may be any constant. */
static bool reads_views(const struct onnx *o)
{
	u32 i;

	for (i = 0; i < o->in_count; i++) {
		const struct onnx_value *value = o->in[i];

		if (!value || !(o->row->values >> min(i, 31u) & 1) || value->quantised)
			continue;
		if (i != 2 || !may_have_bias(o->row->kind) || !onnx_constant(o, value))
			return false;
	}
	return true;
}

/* The node that alone reads a value as its first input, or NULL. */
static const Onnx__NodeProto *only_reader(const struct onnx *o, const struct onnx_value *value)
{
	const Onnx__NodeProto *node;

	if (value->is_output || value->reader_count != 1)
		return NULL;
	node = o->source->node[value->readers->node];
	return node->n_output == 1 && !strcmp(node->input[0], value->name) ? node : NULL;
}

static bool is_quantize(const Onnx__NodeProto *node)
{
	const struct onnx_row *row = onnx_find_row(node);

	return row && row->read == onnx_read_quantize;
}

/* Shares of many elements are small: in steps of 1/256, which the integer kernel has, they would be lost. */
static bool is_too_fine(const struct onnx *o)
{
	return o->row->kind == NPU_OP_SOFTMAX && o->out_quant.scale[0] < 0.99f / 256;
}

static int take_quantize(struct onnx *o, const Onnx__NodeProto *node)
{
	const Onnx__NodeProto *at_work = o->node;
	struct onnx_value *scale, *zero = NULL;
	int error = input_named(o, node, 1, &scale);

	if (!error)
		error = input_named(o, node, 2, &zero);
	if (error)
		return error;
	/* What QuantizeLinear itself does not take stays with it. */
	if (!scale || !onnx_constant(o, scale) || (zero && !onnx_constant(o, zero)) ||
	    npu_tensor_elements(onnx_constant(o, scale)) != 1)
		return 0;
	o->node = node;
	error = output_type(o, &o->out_dtype);
	if (!error)
		error = read_quant(o, scale, zero, 0, &o->out_dtype, &o->out_quant);
	o->node = at_work;
	if (error || !is_byte(o->out_dtype) || is_too_fine(o))
		return error;
	o->quantised = true;
	return onnx_value_find(o, node->output[0], &o->out[0]);
}

/* There are no scales for the sum of the first operands of several, or for shares of elements. */
static bool needs_reals(struct onnx *o)
{
	if (o->row->read == onnx_read_resize)
		return onnx_resize_needs_reals(o);
	return o->row->read == onnx_read_variadic && o->row->kind == NPU_OP_ADD && o->in_count > 2;
}

int onnx_find_quantised(struct onnx *o)
{
	const Onnx__NodeProto *reader;
	const struct onnx_value *value = o->out[0];
	enum npu_activation activation = NPU_ACT_NONE;
	u32 clamp = NPU_NONE;
	int error;

	if (o->row->rule == ONNX_FLOAT_ONLY || o->out_count != 1 || !reads_views(o) ||
	    needs_reals(o))
		return 0;
	reader = only_reader(o, value);
	if (reader && takes_activation(o->row->kind) && !is_quantize(reader)) {
		struct onnx_value *next;

		error = find_activation(o, reader, &activation);
		if (!error)
			error = onnx_value_find(o, reader->output[0], &next);
		if (error || activation == NPU_ACT_NONE)
			return error;
		clamp = value->readers->node;
		value = next;
		reader = only_reader(o, value);
	}
	if (!reader || !is_quantize(reader))
		return 0;
	error = take_quantize(o, reader);
	if (error || !o->quantised)
		return error;
	o->done[value->readers->node] = true;
	if (clamp != NPU_NONE)
		o->done[clamp] = true;
	o->activation = activation;
	return 0;
}

/* Makes input @to of the plain operator from a value, a scale and a zero point. */
static int take_view(struct onnx *o, struct onnx_value *const *from, u32 axis,
		     struct onnx_value **to)
{
	struct onnx_value *view;
	struct npu_quant quant;
	enum npu_dtype dtype;
	int error;

	if (!from[0])
		return onnx_fail(o, -EINVAL, "a quantised input is missing");
	dtype = from[0]->dtype;
	error = read_quant(o, from[1], from[2], axis, &dtype, &quant);
	if (error)
		return error;
	view = npu_arena_alloc(&o->graph->arena, sizeof(*view));
	if (!view)
		return -ENOMEM;
	view->name = from[0]->name;
	view->tensor[0] = view->tensor[1] = NPU_NONE;
	*to = view;
	return make_view(o, from[0], &quant, dtype, view);
}

/* Input @at: the scale of the result, behind it the zero point. */
static int take_result(struct onnx *o, struct onnx_value *const *from)
{
	int error;

	o->out_dtype = NPU_U8;
	error = read_quant(o, from[0], from[1], 0, &o->out_dtype, &o->out_quant);
	if (!error && (!is_byte(o->out_dtype) || o->out_quant.count != 1))
		error = onnx_fail(o, -ENOTSUP, "the result is %s with %u scales",
				  npu_dtype_names[o->out_dtype], o->out_quant.count);
	o->quantised = true;
	return error;
}

static int read_plain(struct onnx *o, const char *name)
{
	Onnx__NodeProto plain = *o->node;

	plain.op_type = (char *)(uintptr_t)name;
	plain.domain = NULL;
	o->row = onnx_find_row(&plain);
	return o->row->read(o);
}

/* The operator without its prefix, with @count quantised inputs in front of the result's scale. */
static int read_as(struct onnx *o, const char *name, u32 count, u32 weight_axis)
{
	struct onnx_value *from[NPU_MAX_INPUTS + 3] = { NULL };
	u32 i, behind = 3 * count + 2;
	int error = 0;

	if (onnx_int(o, "channels_last", 0))
		return onnx_fail(o, -ENOTSUP,
				 "channels_last: channels are expected behind the batch");
	memcpy(from, o->in, o->in_count * sizeof(*from));
	memset(o->in, 0, sizeof(o->in));
	for (i = 0; !error && i < count; i++)
		error = take_view(o, &from[3 * i], i ? weight_axis : 0, &o->in[i]);
	if (!error)
		error = take_result(o, &from[3 * count]);
	if (error)
		return error;
	o->in[count] = behind < o->in_count ? from[behind] : NULL;
	o->in_count = count + (behind < o->in_count);
	return read_plain(o, name);
}

/* Scale and zero point of the result, then each input with its own. */
int onnx_read_qlinear_concat(struct onnx *o)
{
	struct onnx_value *from[NPU_MAX_INPUTS + 3] = { NULL };
	u32 count = (o->in_count - 2) / 3, i;
	int error = 0;

	if (o->in_count != 3 * count + 2)
		return onnx_fail(o, -EINVAL, "%u inputs", o->in_count);
	memcpy(from, o->in, o->in_count * sizeof(*from));
	memset(o->in, 0, sizeof(o->in));
	for (i = 0; !error && i < count; i++)
		error = take_view(o, &from[2 + 3 * i], 0, &o->in[i]);
	if (!error)
		error = take_result(o, from);
	o->in_count = count;
	return error ? error : read_plain(o, "Concat");
}

/* a, b with scales and zero points, bias, and scale and zero point of the result: else it is real. */
int onnx_read_qgemm(struct onnx *o)
{
	struct onnx_value *from[NPU_MAX_INPUTS + 3] = { NULL };
	int error;

	memcpy(from, o->in, o->in_count * sizeof(*from));
	memset(o->in, 0, sizeof(o->in));
	error = take_view(o, &from[0], 0, &o->in[0]);
	if (!error)
		error = take_view(o, &from[3], onnx_int(o, "transB", 0) ? 0 : 1, &o->in[1]);
	if (!error && !from[7])
		error = onnx_fail(o, -ENOTSUP, "a result without a scale");
	if (!error)
		error = take_result(o, &from[7]);
	o->in[2] = from[6];
	o->in_count = from[6] ? 3 : 2;
	return error ? error : read_plain(o, "Gemm");
}

int onnx_read_qlinear_conv(struct onnx *o)
{
	return read_as(o, "Conv", 2, 0);
}

int onnx_read_qlinear_matmul(struct onnx *o)
{
	return read_as(o, "MatMul", 2, 1);
}

int onnx_read_qlinear_binary(struct onnx *o)
{
	return read_as(o, o->node->op_type + strlen("QLinear"), 2, 0);
}

int onnx_read_qlinear_unary(struct onnx *o)
{
	return read_as(o, o->node->op_type + strlen("QLinear"), 1, 0);
}
