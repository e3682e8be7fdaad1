// SPDX-License-Identifier: MIT
/* Operators that move elements, and those that only compute shapes. */
#include "onnx.h"

#include <math.h>

static int reshape_to(struct onnx *o, u32 rank, const u32 *dim)
{
	struct onnx_value *out = o->out[0];
	u64 elements = 1;
	u32 from, to, i;
	int error = onnx_operand(o, 0, ONNX_PLAIN, &from);

	if (error)
		return error;
	for (i = 0; i < rank; i++)
		if (check_mul_overflow(elements, (u64)dim[i], &elements))
			elements = 0;
	if (elements != npu_tensor_elements(onnx_tensor(o, from)))
		return onnx_fail(o, -EINVAL, "the number of elements would change");
	if (onnx_tensor(o, from)->data) {
		error = onnx_reshape(o, from, rank, dim, &out->tensor[ONNX_PLAIN]);
		if (!error)
			onnx_value_shape(out, o->in[0]->dtype, rank, dim);
		return error;
	}
	error = onnx_result(o, 0, ONNX_PLAIN, rank, dim, &to);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_RESHAPE, &from, 1, to) ? 0 : -ENOMEM;
}

int onnx_read_reshape(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	u64 elements = 1, known = 1;
	s64 wanted[NPU_MAX_RANK];
	u32 dim[NPU_MAX_RANK], rank, i, open = NPU_NONE;
	int error = onnx_parameter(o, "shape", 1, wanted, NPU_MAX_RANK, &rank);

	if (error)
		return error;
	for (i = 0; i < in->rank; i++)
		elements *= in->dim[i];
	for (i = 0; i < rank; i++) {
		if (!wanted[i] && i < in->rank && !onnx_int(o, "allowzero", 0))
			wanted[i] = in->dim[i];
		if (wanted[i] == -1 && open == NPU_NONE) {
			open = i;
			continue;
		}
		if (wanted[i] < 1 || wanted[i] > INT32_MAX ||
		    check_mul_overflow(known, (u64)wanted[i], &known))
			return onnx_fail(o, -EINVAL, "dimension %u of the shape is %lld", i,
					 (long long)wanted[i]);
		dim[i] = (u32)wanted[i];
	}
	if (open != NPU_NONE) {
		if (elements % known || elements / known > INT32_MAX)
			return onnx_fail(o, -EINVAL, "%llu elements do not fill the shape",
					 (unsigned long long)elements);
		dim[open] = (u32)(elements / known);
	}
	return reshape_to(o, rank, dim);
}

int onnx_read_flatten(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	s64 axis = onnx_int(o, "axis", 1);
	u32 dim[2] = { 1, 1 }, i;

	if (axis < -(s64)in->rank || axis > (s64)in->rank)
		return onnx_fail(o, -EINVAL, "axis %lld of %u dimensions", (long long)axis,
				 in->rank);
	axis += axis < 0 ? in->rank : 0;
	for (i = 0; i < in->rank; i++)
		dim[i >= axis] *= in->dim[i];
	return reshape_to(o, 2, dim);
}

static int read_axes_mask(struct onnx *o, u32 rank, u32 *mask)
{
	s64 axes[NPU_MAX_RANK];
	u32 count, axis, i;
	int error = onnx_parameter(o, "axes", 1, axes, NPU_MAX_RANK, &count);

	*mask = 0;
	for (i = 0; !error && i < count; i++) {
		error = onnx_axis(o, axes[i], rank, &axis);
		if (!error && *mask >> axis & 1)
			error = onnx_fail(o, -EINVAL, "axis %u twice", axis);
		if (!error)
			*mask |= 1u << axis;
	}
	return error;
}

int onnx_read_squeeze(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	u32 dim[NPU_MAX_RANK], rank = 0, mask, i;
	int error = read_axes_mask(o, in->rank, &mask);

	if (error)
		return error;
	for (i = 0; i < in->rank; i++) {
		if (mask >> i & 1 && in->dim[i] != 1)
			return onnx_fail(o, -EINVAL, "dimension %u is %u", i, in->dim[i]);
		if (!(mask >> i & 1) && (mask || in->dim[i] != 1))
			dim[rank++] = in->dim[i];
	}
	return reshape_to(o, rank, dim);
}

int onnx_read_unsqueeze(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	u32 dim[NPU_MAX_RANK], rank, mask, count, from = 0, i;
	s64 axes[NPU_MAX_RANK];
	int error = onnx_parameter(o, "axes", 1, axes, NPU_MAX_RANK, &count);

	rank = in->rank + count;
	if (!error && rank > NPU_MAX_RANK)
		error = onnx_fail(o, -ENOTSUP, "more than 6 dimensions");
	if (!error)
		error = read_axes_mask(o, rank, &mask);
	if (error)
		return error;
	for (i = 0; i < rank; i++)
		dim[i] = mask >> i & 1 ? 1 : in->dim[from++];
	return reshape_to(o, rank, dim);
}

/* Another name, or with another scale, for a tensor that is there already. */
static int define_alias(struct onnx *o, u32 tensor, enum onnx_layout layout, u32 rank,
			const u32 *dim)
{
	struct onnx_value *in = o->in[0], *out = o->out[0];
	int error = 0;

	if (out->known)
		return onnx_fail(o, -EINVAL, "%.100s is computed twice", out->name);
	if (o->quantised)
		error = onnx_requantise(o, tensor, &o->out_quant, &tensor);
	out->tensor[layout] = tensor;
	out->aliased = in->aliased = true;
	onnx_value_shape(out, o->quantised ? o->out_dtype : in->dtype, rank, dim);
	return error;
}

int onnx_read_identity(struct onnx *o)
{
	enum onnx_layout layout = onnx_line_layout(o);
	struct onnx_value *in = o->in[0];
	u32 tensor;
	int error;

	if (in->empty) {
		o->out[0]->empty = true;
		onnx_value_shape(o->out[0], in->dtype, in->rank, in->dim);
		return 0;
	}
	error = onnx_line_operand(o, 0, layout, &tensor);
	return error ? error : define_alias(o, tensor, layout, in->rank, in->dim);
}

int onnx_read_dropout(struct onnx *o)
{
	const struct npu_tensor *training;

	if (o->in_count < 3 || !o->in[2])
		return onnx_read_identity(o);
	training = onnx_constant(o, o->in[2]);
	if (!training || *(const u8 *)training->data)
		return onnx_fail(o, -ENOTSUP, "of training");
	return onnx_read_identity(o);
}

int onnx_read_transpose(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	u32 order[NPU_MAX_RANK], dim[NPU_MAX_RANK], count, i, seen = 0, tensor;
	s64 wanted[NPU_MAX_RANK];
	int error = onnx_ints(o, "perm", wanted, NPU_MAX_RANK, &count);

	if (error)
		return error;
	for (i = 0; i < in->rank; i++) {
		s64 from = count ? (i < count ? wanted[i] : -1) : in->rank - 1 - i;

		if (from < 0 || from >= in->rank || seen >> from & 1)
			return onnx_fail(o, -EINVAL, "perm is no permutation of %u dimensions",
					 in->rank);
		seen |= 1u << from;
		order[i] = (u32)from;
		dim[i] = in->dim[from];
	}
	/* Between ONNX's order and the graph's there is nothing to do. */
	if (in->rank == 4 && !memcmp(order, onnx_to_image, sizeof(onnx_to_image))) {
		error = onnx_operand(o, 0, ONNX_IMAGE, &tensor);
		return error ? error : define_alias(o, tensor, ONNX_PLAIN, 4, dim);
	}
	error = onnx_operand(o, 0, ONNX_PLAIN, &tensor);
	if (!error && in->rank == 4 && !memcmp(order, onnx_to_plain, sizeof(onnx_to_plain)))
		return define_alias(o, tensor, ONNX_IMAGE, 4, dim);
	if (!error)
		error = onnx_permute(o, tensor, order, &tensor);
	return error ? error : define_alias(o, tensor, ONNX_PLAIN, in->rank, dim);
}

/* Lists of dimensions. */
static int concat_integers(struct onnx *o, u32 total)
{
	u32 i, j, count, at = 0;
	s64 values[64];
	void *data = NULL;
	int error = onnx_define_constant(o, o->in[0]->dtype, 1, &total, &data);

	for (i = 0; !error && i < o->in_count; i++) {
		error = onnx_integers(o, i, values, ARRAY_SIZE(values), &count);
		for (j = 0; !error && j < count && at < total; j++, at++)
			if (o->in[0]->dtype == NPU_I64)
				((s64 *)data)[at] = values[j];
			else
				((s32 *)data)[at] = (s32)values[j];
	}
	return error;
}

static bool are_integer_constants(const struct onnx *o)
{
	u32 i;

	for (i = 0; i < o->in_count; i++)
		if (!o->in[i] || !onnx_constant(o, o->in[i]) || o->in[i]->rank != 1 ||
		    o->in[i]->dtype != o->in[0]->dtype ||
		    (o->in[i]->dtype != NPU_I64 && o->in[i]->dtype != NPU_I32))
			return false;
	return true;
}

int onnx_read_concat(struct onnx *o)
{
	enum onnx_layout layout = onnx_layout_of(o);
	const struct onnx_value *first = o->in[0];
	u32 inputs[NPU_MAX_INPUTS], dim[NPU_MAX_RANK], axis, i, d, out;
	struct npu_op *op;
	int error = onnx_axis(o, onnx_int(o, "axis", 1), first->rank, &axis);

	if (error)
		return error;
	memcpy(dim, first->dim, sizeof(dim));
	dim[axis] = 0;
	for (i = 0; i < o->in_count; i++) {
		const struct onnx_value *in = o->in[i];

		if (!in || in->rank != first->rank || in->dtype != first->dtype)
			return onnx_fail(o, -EINVAL, "input %u differs in type or rank", i);
		for (d = 0; d < in->rank; d++)
			if (d != axis && in->dim[d] != dim[d])
				return onnx_fail(o, -EINVAL, "input %u differs in dimension %u", i,
						 d);
		if (check_add_overflow(dim[axis], in->dim[axis], &dim[axis]))
			return onnx_fail(o, -EINVAL, "the result is too large");
	}
	if (are_integer_constants(o))
		return concat_integers(o, dim[axis]);
	for (i = 0; !error && i < o->in_count; i++)
		error = onnx_operand(o, i, layout, &inputs[i]);
	if (!error)
		error = onnx_result(o, 0, layout, first->rank, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_CONCAT, inputs, o->in_count, out);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)onnx_graph_axis(layout, axis);
	return 0;
}

struct onnx_cut {
	s64 begin, count, step;
};

/* Python's begin:end:step of a dimension of @size. */
static int resolve_cut(struct onnx *o, s64 begin, s64 end, s64 step, s64 size, struct onnx_cut *cut)
{
	const s64 least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;

	if (!step || step > INT32_MAX || step < -INT32_MAX)
		return onnx_fail(o, -EINVAL, "a step of %lld", (long long)step);
	begin = max(min(begin, (s64)INT32_MAX), -(s64)INT32_MAX);
	end = max(min(end, (s64)INT32_MAX), -(s64)INT32_MAX);
	begin += begin < 0 ? size : 0;
	end += end < 0 ? size : 0;
	begin = max(min(begin, most), (s64)0);
	end = max(min(end, most), least);
	cut->begin = begin;
	cut->step = step;
	cut->count = step > 0 ? DIV_ROUND_UP(end - begin, step) : DIV_ROUND_UP(begin - end, -step);
	if (cut->count < 1 || (step > 0 ? end <= begin : begin <= end))
		return onnx_fail(o, -ENOTSUP, "takes nothing of a dimension of %lld",
				 (long long)size);
	return 0;
}

static int cut_integers(struct onnx *o, const struct onnx_cut *cut)
{
	u32 total = (u32)cut->count, count, i;
	s64 values[64];
	void *data = NULL;
	int error = onnx_integers(o, 0, values, ARRAY_SIZE(values), &count);

	if (!error)
		error = onnx_define_constant(o, o->in[0]->dtype, 1, &total, &data);
	for (i = 0; !error && i < total; i++) {
		s64 value = values[cut->begin + i * cut->step];

		if (o->in[0]->dtype == NPU_I64)
			((s64 *)data)[i] = value;
		else
			((s32 *)data)[i] = (s32)value;
	}
	return error;
}

int onnx_crop(struct onnx *o, u32 *tensor, const u32 *begin, const u32 *dim)
{
	struct npu_tensor whole = *onnx_tensor(o, *tensor);
	u32 from = *tensor, d;
	bool cropped = false;
	struct npu_op *op;
	int error;

	for (d = 0; d < whole.rank; d++)
		cropped |= dim[d] != whole.dim[d];
	if (!cropped)
		return 0;
	error = onnx_add_tensor(o, whole.name, whole.dtype, whole.rank, dim, tensor);
	if (error)
		return error;
	o->graph->tensor[*tensor].quant = whole.quant;
	op = onnx_add_op(o, NPU_OP_SLICE, &from, 1, *tensor);
	if (!op)
		return -ENOMEM;
	for (d = 0; d < whole.rank; d++) {
		op->begin[d] = (s32)begin[d];
		op->end[d] = (s32)dim[d];
		op->step[d] = 1;
	}
	return 0;
}

static int add_cut(struct onnx *o, u32 result, const struct onnx_cut *cut)
{
	enum onnx_layout layout = onnx_layout_of(o);
	const struct onnx_value *in = o->in[0];
	u32 from, out, dim[NPU_MAX_RANK], d;
	struct npu_op *op;
	int error = onnx_operand(o, 0, layout, &from);

	for (d = 0; d < in->rank; d++)
		dim[d] = (u32)cut[d].count;
	if (!error)
		error = onnx_result(o, result, layout, in->rank, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_SLICE, &from, 1, out);
	if (!op)
		return -ENOMEM;
	for (d = 0; d < in->rank; d++) {
		u32 to = onnx_graph_axis(layout, d);

		op->begin[to] = (s32)cut[d].begin;
		op->end[to] = (s32)cut[d].count;
		op->step[to] = (s32)cut[d].step;
	}
	return 0;
}

static void take_all(const struct onnx_value *in, struct onnx_cut *cut)
{
	u32 d;

	for (d = 0; d < in->rank; d++)
		cut[d] = (struct onnx_cut){ 0, in->dim[d], 1 };
}

int onnx_read_slice(struct onnx *o)
{
	s64 begin[NPU_MAX_RANK], end[NPU_MAX_RANK], axes[NPU_MAX_RANK], step[NPU_MAX_RANK];
	u32 count, ends, axis_count, step_count, axis, i;
	const struct onnx_value *in = o->in[0];
	struct onnx_cut cut[NPU_MAX_RANK];
	int error = onnx_parameter(o, "starts", 1, begin, NPU_MAX_RANK, &count);

	if (!error)
		error = onnx_parameter(o, "ends", 2, end, NPU_MAX_RANK, &ends);
	if (!error)
		error = onnx_parameter(o, "axes", 3, axes, NPU_MAX_RANK, &axis_count);
	if (!error)
		error = onnx_parameter(o, "steps", 4, step, NPU_MAX_RANK, &step_count);
	if (!error && (ends != count || (axis_count && axis_count != count) ||
		       (step_count && step_count != count) || count > in->rank))
		error = onnx_fail(o, -EINVAL, "starts, ends, axes and steps differ in length");
	take_all(in, cut);
	for (i = 0; !error && i < count; i++) {
		error = onnx_axis(o, axis_count ? axes[i] : i, in->rank, &axis);
		if (!error)
			error = resolve_cut(o, begin[i], end[i], step_count ? step[i] : 1,
					    in->dim[axis], &cut[axis]);
	}
	if (error)
		return error;
	if (onnx_constant(o, in) && in->rank == 1 && (in->dtype == NPU_I64 || in->dtype == NPU_I32))
		return cut_integers(o, &cut[0]);
	return add_cut(o, 0, cut);
}

int onnx_read_split(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct onnx_cut cut[NPU_MAX_RANK];
	s64 sizes[ONNX_MAX_OUTPUTS], at = 0, each;
	u32 axis, count, i;
	int error = onnx_axis(o, onnx_int(o, "axis", 0), in->rank, &axis);

	if (!error)
		error = onnx_parameter(o, "split", 1, sizes, ONNX_MAX_OUTPUTS, &count);
	if (error)
		return error;
	if (count && count != o->out_count)
		return onnx_fail(o, -EINVAL, "%u sizes for %u outputs", count, o->out_count);
	take_all(in, cut);
	each = DIV_ROUND_UP(in->dim[axis], o->out_count);
	for (i = 0; !error && i < o->out_count; i++) {
		cut[axis].begin = at;
		cut[axis].count = count ? sizes[i] : min(each, (s64)in->dim[axis] - at);
		if (cut[axis].count < 1 || cut[axis].count > (s64)in->dim[axis] - at)
			return onnx_fail(o, -EINVAL, "output %u does not fit", i);
		at += cut[axis].count;
		error = add_cut(o, i, cut);
	}
	return error;
}

/* An end of the part of a list of @rank dimensions that is wanted; it may count from the end. */
static u32 shape_end(const struct onnx *o, const char *name, s64 other, u32 rank)
{
	s64 at = onnx_int(o, name, other);

	return (u32)max(min(at < 0 ? at + (s64)rank : at, (s64)rank), (s64)0);
}

int onnx_read_shape(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	const u32 begin = shape_end(o, "start", 0, in->rank);
	const u32 end = shape_end(o, "end", in->rank, in->rank);
	u32 i, count = end > begin ? end - begin : 0;
	void *data = NULL;
	int error;

	if (!count) {
		o->out[0]->empty = true;
		onnx_value_shape(o->out[0], NPU_I64, 1, &count);
		return 0;
	}
	error = onnx_define_constant(o, NPU_I64, 1, &count, &data);
	for (i = 0; !error && i < count; i++)
		((s64 *)data)[i] = in->dim[begin + i];
	return error;
}

int onnx_read_constant(struct onnx *o)
{
	const Onnx__AttributeProto *value = onnx_attribute(o, "value");
	const Onnx__AttributeProto *one = onnx_attribute(o, "value_int");
	const Onnx__AttributeProto *list = onnx_attribute(o, "value_ints");
	const Onnx__AttributeProto *number = onnx_attribute(o, "value_float");
	const Onnx__AttributeProto *numbers = onnx_attribute(o, "value_floats");
	const void *from = NULL;
	enum npu_dtype dtype = list || one ? NPU_I64 : NPU_F32;
	u32 rank = list || numbers ? 1 : 0, dim = 1;
	void *data = NULL;
	int error;

	if (value && value->t)
		return onnx_read_tensor(o, value->t, o->out[0]);
	if (list && list->n_ints <= INT32_MAX) {
		from = list->ints;
		dim = (u32)list->n_ints;
	} else if (numbers && numbers->n_floats <= INT32_MAX) {
		from = numbers->floats;
		dim = (u32)numbers->n_floats;
	} else if (one) {
		from = &one->i;
	} else if (number) {
		from = &number->f;
	}
	if (!from || !dim)
		return onnx_fail(o, -ENOTSUP, "a constant without a value, or of strings");
	error = onnx_define_constant(o, dtype, rank, &dim, &data);
	if (!error)
		memcpy(data, from, (size_t)dim * npu_dtype_bytes[dtype]);
	return error;
}

int onnx_read_constant_of_shape(struct onnx *o)
{
	const Onnx__AttributeProto *value = onnx_attribute(o, "value");
	struct onnx_value element = { .name = "value", .tensor = { NPU_NONE, NPU_NONE } };
	enum npu_dtype dtype = NPU_F32;
	const u8 *from = NULL;
	s64 wanted[NPU_MAX_RANK];
	u32 dim[NPU_MAX_RANK], rank, i;
	u64 bytes, at;
	void *data = NULL;
	int error = onnx_integers(o, 0, wanted, NPU_MAX_RANK, &rank);

	if (!error && value && value->t) {
		error = onnx_read_tensor(o, value->t, &element);
		if (!error && (element.empty || !onnx_constant(o, &element) ||
			       npu_tensor_elements(onnx_constant(o, &element)) != 1))
			error = onnx_fail(o, -EINVAL, "the value is not one element");
		if (!error) {
			dtype = element.dtype;
			from = onnx_constant(o, &element)->data;
		}
	}
	if (error)
		return error;
	bytes = npu_dtype_bytes[dtype];
	for (i = 0; i < rank; i++) {
		if (wanted[i] < 1 || wanted[i] > INT32_MAX ||
		    check_mul_overflow(bytes, (u64)wanted[i], &bytes))
			return onnx_fail(o, -EINVAL, "dimension %u is %lld", i,
					 (long long)wanted[i]);
		dim[i] = (u32)wanted[i];
	}
	error = onnx_expand(o, bytes);
	if (!error)
		error = onnx_define_constant(o, dtype, rank, dim, &data);
	for (at = 0; !error && from && at < bytes; at += npu_dtype_bytes[dtype])
		memcpy((u8 *)data + at, from, npu_dtype_bytes[dtype]);
	return error;
}

/* What is put around bytes outside of quantised operators is a byte; nothing given is 0. */
static int stored_padding(struct onnx *o, const struct npu_tensor *in, const struct npu_tensor *t,
			  s32 *stored)
{
	if (t && t->dtype != o->in[0]->dtype)
		return onnx_fail(o, -EINVAL, "%s padding around %s", npu_dtype_names[t->dtype],
				 npu_dtype_names[o->in[0]->dtype]);
	*stored = !t ? 0 : t->dtype == NPU_U8 ? *(const u8 *)t->data : *(const s8 *)t->data;
	if (o->in[0]->dtype == NPU_U8 && in->dtype == NPU_I8)
		*stored -= 128;
	return 0;
}

static int add_padding(struct onnx *o, const struct npu_tensor *in, s32 stored, float number,
		       u32 *tensor)
{
	void *data = NULL;
	int error = onnx_add_constant(o, "padding", in->dtype, 0, NULL, tensor, &data);

	if (error)
		return error;
	if (in->dtype == NPU_F32)
		*(float *)data = number;
	else
		*(u8 *)data = (u8)stored;
	o->graph->tensor[*tensor].quant = in->quant;
	return 0;
}

/* What the padding consists of; nothing given is zero, or the zero point. */
static int pad_value(struct onnx *o, u32 *inputs, u32 *count)
{
	const struct npu_tensor in = *onnx_tensor(o, inputs[0]), *t = NULL;
	bool bytes = in.dtype == NPU_I8 || in.dtype == NPU_U8;
	float number = onnx_float(o, "value", 0);
	s32 stored = 0;
	int error = 0;

	if (o->in_count > 2 && o->in[2] && !o->in[2]->empty) {
		t = onnx_constant(o, o->in[2]);
		if (!t || npu_tensor_elements(t) != 1)
			return onnx_fail(o, -ENOTSUP, "the value must be a constant");
	}
	if (bytes && !o->quantised) {
		error = stored_padding(o, &in, t, &stored);
		if (error || (in.quant.count && stored == in.quant.zero[0]))
			return error;
		return add_padding(o, &in, stored, 0, &inputs[(*count)++]);
	}
	if (t && t->dtype != NPU_F32)
		return onnx_fail(o, -ENOTSUP, "padding of type %s", npu_dtype_names[t->dtype]);
	number = t ? *(const float *)t->data : number;
	if (number == 0)
		return 0;
	if (bytes)
		stored = (s32)fmaxf(
			fminf(rintf(number / in.quant.scale[0]) + (float)in.quant.zero[0], 127),
			-128);
	else if (in.dtype != NPU_F32)
		return onnx_fail(o, -ENOTSUP, "padding of %s with %g", npu_dtype_names[in.dtype],
				 (double)number);
	return add_padding(o, &in, stored, number, &inputs[(*count)++]);
}

/* Padding below zero takes away: @pads becomes what is left to be put around. */
static int crop(struct onnx *o, enum onnx_layout layout, s64 *pads, u32 *tensor)
{
	const u32 rank = o->in[0]->rank;
	const struct npu_tensor *whole = onnx_tensor(o, *tensor);
	u32 begin[NPU_MAX_RANK] = { 0 }, dim[NPU_MAX_RANK], d;

	for (d = 0; d < rank; d++) {
		u32 to = onnx_graph_axis(layout, d);

		begin[to] = pads[d] < 0 ? (u32)-pads[d] : 0;
		dim[to] =
			(u32)(whole->dim[to] + min(pads[d], (s64)0) + min(pads[d + rank], (s64)0));
		pads[d] = max(pads[d], (s64)0);
		pads[d + rank] = max(pads[d + rank], (s64)0);
	}
	return onnx_crop(o, tensor, begin, dim);
}

int onnx_read_pad(struct onnx *o)
{
	enum onnx_layout layout = onnx_layout_of(o);
	const struct onnx_value *in = o->in[0];
	u32 inputs[2], dim[NPU_MAX_RANK], operands = 1, out, d;
	s64 pads[2 * NPU_MAX_RANK];
	struct npu_op *op;
	int error = onnx_read_pads(o, pads);

	if (!error && !onnx_text_is(o, "mode", "constant", true))
		return onnx_pad_edges(o, pads);
	for (d = 0; !error && d < in->rank; d++) {
		s64 before = pads[d], after = pads[d + in->rank];

		if (before < -INT32_MAX || after < -INT32_MAX || before > INT32_MAX ||
		    after > INT32_MAX || in->dim[d] + before + after > INT32_MAX ||
		    in->dim[d] + min(before, (s64)0) + min(after, (s64)0) < 1)
			return onnx_fail(o, -ENOTSUP, "padding of %lld and %lld", (long long)before,
					 (long long)after);
		dim[d] = (u32)(in->dim[d] + before + after);
	}
	if (!error)
		error = onnx_operand(o, 0, layout, &inputs[0]);
	if (!error)
		error = crop(o, layout, pads, &inputs[0]);
	if (!error)
		error = pad_value(o, inputs, &operands);
	if (!error)
		error = onnx_result(o, 0, layout, in->rank, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_PAD, inputs, operands, out);
	if (!op)
		return -ENOMEM;
	for (d = 0; d < in->rank; d++) {
		op->begin[onnx_graph_axis(layout, d)] = (s32)pads[d];
		op->end[onnx_graph_axis(layout, d)] = (s32)pads[d + in->rank];
	}
	return 0;
}

/* Bytes without a scale, as images come, are numbers with scale 1. */
static int cast_bytes(struct onnx *o)
{
	enum onnx_layout layout = onnx_line_layout(o);
	const struct onnx_value *in = o->in[0];
	float *scale = npu_arena_alloc(&o->graph->arena, sizeof(*scale));
	s32 *zero = npu_arena_alloc(&o->graph->arena, sizeof(*zero));
	struct npu_tensor source;
	u32 from;
	int error = scale && zero ? onnx_line_operand(o, 0, layout, &from) : -ENOMEM;

	if (error)
		return error;
	source = *onnx_tensor(o, from);
	if (source.quant.count)
		return onnx_fail(o, -ENOTSUP, "of bytes with a scale");
	*scale = 1;
	o->graph->tensor[from].quant = (struct npu_quant){ 1, 0, scale, zero };
	error = onnx_add_tensor(o, o->out[0]->name, NPU_F32, source.rank, source.dim,
				&o->out[0]->tensor[layout]);
	if (error)
		return error;
	onnx_value_shape(o->out[0], NPU_F32, in->rank, in->dim);
	return onnx_add_op(o, NPU_OP_DEQUANTIZE, &from, 1, o->out[0]->tensor[layout]) ? 0 : -ENOMEM;
}

/* Of constants: onnx_compute.c. */
int onnx_read_cast(struct onnx *o)
{
	s64 to = onnx_int(o, "to", 0);
	int dtype = to > 0 && to < INT32_MAX ? onnx_dtype((s32)to) : -1;
	const struct onnx_value *in = o->in[0];

	if (dtype == (int)in->dtype)
		return onnx_read_identity(o);
	if (dtype == NPU_F32 && (in->dtype == NPU_U8 || in->dtype == NPU_I8))
		return cast_bytes(o);
	return onnx_fail(o, -ENOTSUP, "from %s to type %lld", npu_dtype_names[in->dtype],
			 (long long)to);
}

/* Of lists of dimensions. */
int onnx_gather_integers(struct onnx *o)
{
	const struct onnx_value *indices = o->in[1];
	s64 values[64], index[64];
	u32 count, taken, i;
	void *data = NULL;
	int error = onnx_integers(o, 0, values, ARRAY_SIZE(values), &count);

	if (!error)
		error = onnx_integers(o, 1, index, ARRAY_SIZE(index), &taken);
	if (!error)
		error = onnx_define_constant(o, o->in[0]->dtype, indices->rank, indices->dim,
					     &data);
	for (i = 0; !error && i < taken; i++) {
		s64 at = index[i] < 0 ? index[i] + count : index[i];

		if (at < 0 || at >= count)
			return onnx_fail(o, -EINVAL, "index %lld of %u", (long long)index[i],
					 count);
		if (o->in[0]->dtype == NPU_I64)
			((s64 *)data)[i] = values[at];
		else
			((s32 *)data)[i] = (s32)values[at];
	}
	return error;
}
