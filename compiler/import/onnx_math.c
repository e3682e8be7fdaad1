// SPDX-License-Identifier: MIT
/* Arithmetic on elements. */
#include "onnx.h"

#include <math.h>

static int broadcast_shape(struct onnx *o, u32 *rank, u32 *dim)
{
	const struct onnx_value *a = o->in[0], *b = o->in[1];
	u32 i;

	*rank = max(a->rank, b->rank);
	for (i = 0; i < *rank; i++) {
		u32 da = i < a->rank ? a->dim[a->rank - 1 - i] : 1;
		u32 db = i < b->rank ? b->dim[b->rank - 1 - i] : 1;

		if (da != db && da != 1 && db != 1)
			return onnx_fail(o, -EINVAL, "shapes do not broadcast: %u and %u", da, db);
		dim[*rank - 1 - i] = max(da, db);
	}
	return 0;
}

/* A constant that adds to or multiplies each channel of a float convolution or product in front. */
static int fold_constant(struct onnx *o, bool *folded)
{
	u32 c = onnx_constant(o, o->in[1]) ? 1 : 0, i, channels;
	const struct npu_tensor *t = onnx_constant(o, o->in[c]);
	struct onnx_value *value = o->in[!c];
	bool image = value->rank == 4 ||
		     (value->rank == 3 && value->tensor[ONNX_IMAGE] != NPU_NONE);
	u32 axis = image ? 1 : value->rank - 1;

	*folded = false;
	if (!t || t->dtype != NPU_F32 || value->rank < 2 || t->rank > value->rank ||
	    onnx_constant(o, value) ||
	    (o->row->kind != NPU_OP_ADD && !(o->row->kind == NPU_OP_MUL)))
		return 0;
	channels = value->dim[axis];
	for (i = 0; i < t->rank; i++)
		if (t->dim[t->rank - 1 - i] != (value->rank - 1 - i == axis ? channels : 1))
			return 0;
	if (npu_tensor_elements(t) != channels)
		return 0;
	if (!onnx_fold_scale(o, value, o->row->kind == NPU_OP_MUL ? t->data : NULL,
			     o->row->kind == NPU_OP_ADD ? t->data : NULL, channels, folded))
		return -ENOMEM;
	if (!*folded)
		return 0;
	onnx_value_shape(o->out[0], NPU_F32, value->rank, value->dim);
	memcpy(o->out[0]->tensor, value->tensor, sizeof(value->tensor));
	return 0;
}

/* Before opset 7 the second operand's dimensions could begin at an axis: ones behind them do that. */
static int place_along_axis(struct onnx *o)
{
	const struct onnx_value *a = o->in[0];
	struct onnx_value *b = o->in[1], *placed;
	u32 axis, dim[NPU_MAX_RANK], rank, i, tensor;
	int error;

	if (o->opset >= 7 || !onnx_int(o, "broadcast", 0) || !onnx_attribute(o, "axis"))
		return 0;
	error = onnx_axis(o, onnx_int(o, "axis", 0), a->rank, &axis);
	if (!error && axis + b->rank > a->rank)
		error = onnx_fail(o, -EINVAL, "%u dimensions from axis %u of %u on", b->rank, axis,
				  a->rank);
	if (!error)
		error = onnx_want(o, b, ONNX_PLAIN, &tensor);
	placed = npu_arena_alloc(&o->graph->arena, sizeof(*placed));
	if (error || !placed)
		return error ? error : -ENOMEM;
	rank = a->rank - axis;
	for (i = 0; i < rank; i++)
		dim[i] = i < b->rank ? b->dim[i] : 1;
	*placed = (struct onnx_value){ .name = b->name, .tensor = { NPU_NONE, NPU_NONE } };
	error = onnx_reshape(o, tensor, rank, dim, &placed->tensor[ONNX_PLAIN]);
	onnx_value_shape(placed, b->dtype, rank, dim);
	o->in[1] = placed;
	return error;
}

int onnx_read_binary(struct onnx *o)
{
	u32 inputs[2], out, rank, dim[NPU_MAX_RANK];
	enum onnx_layout layout = onnx_line_layout(o);
	struct npu_op *op;
	bool folded = false;
	int error = 0;

	if (o->in_count != 2 || !o->in[1] || o->in[1]->empty || o->in[0]->dtype != o->in[1]->dtype)
		return onnx_fail(o, -ENOTSUP, "%u operands, or of different types", o->in_count);
	error = place_along_axis(o);
	if (!error)
		error = broadcast_shape(o, &rank, dim);
	if (!error && !o->quantised)
		error = fold_constant(o, &folded);
	if (error || folded)
		return error;
	if (rank != 4 && rank != 3)
		layout = ONNX_PLAIN;
	error = onnx_broadcast(o, 0, layout, rank, &inputs[0]);
	if (!error)
		error = onnx_broadcast(o, 1, layout, rank, &inputs[1]);
	if (!error)
		error = onnx_result(o, 0, layout, rank, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, o->row->kind, inputs, 2, out);
	if (!op)
		return -ENOMEM;
	op->activation = o->activation;
	return 0;
}

struct npu_op *onnx_add_unary(struct onnx *o, enum npu_op_kind kind, int *error)
{
	enum onnx_layout layout = onnx_line_layout(o);
	struct npu_op *op = NULL;
	u32 in, out;

	*error = onnx_line_operand(o, 0, layout, &in);
	if (!*error)
		*error = onnx_result(o, 0, layout, o->in[0]->rank, o->in[0]->dim, &out);
	if (!*error) {
		op = onnx_add_op(o, kind, &in, 1, out);
		*error = op ? 0 : -ENOMEM;
	}
	return op;
}

int onnx_read_unary(struct onnx *o)
{
	int error;

	onnx_add_unary(o, o->row->kind, &error);
	return error;
}

int onnx_read_relu(struct onnx *o)
{
	int error;
	struct npu_op *op = onnx_add_unary(o, NPU_OP_RELU, &error);

	if (op)
		op->activation = NPU_ACT_RELU;
	return error;
}

int onnx_read_leaky_relu(struct onnx *o)
{
	int error;
	struct npu_op *op = onnx_add_unary(o, NPU_OP_LEAKY_RELU, &error);

	if (op)
		op->alpha = onnx_float(o, "alpha", 0.01f);
	return error;
}

/* One more operator with a constant number: @in and it give @out. */
static int add_scalar(struct onnx *o, enum npu_op_kind kind, u32 in, float number, u32 *out,
		      bool last, enum onnx_layout layout)
{
	struct npu_tensor source = *onnx_tensor(o, in);
	u32 inputs[2] = { in };
	void *data = NULL;
	int error = onnx_add_constant(o, o->out[0]->name, NPU_F32, 0, NULL, &inputs[1], &data);

	if (error)
		return error;
	*(float *)data = number;
	if (last)
		error = onnx_result(o, 0, layout, o->in[0]->rank, o->in[0]->dim, out);
	else
		error = onnx_add_tensor(o, o->out[0]->name, source.dtype, source.rank, source.dim,
					out);
	if (error)
		return error;
	return onnx_add_op(o, kind, inputs, 2, *out) ? 0 : -ENOMEM;
}

struct scalar_step {
	enum npu_op_kind kind;
	float number;
};

static int add_scalars(struct onnx *o, const struct scalar_step *steps, u32 count)
{
	enum onnx_layout layout = onnx_line_layout(o);
	u32 tensor, i;
	int error = onnx_line_operand(o, 0, layout, &tensor);

	for (i = 0; !error && i < count; i++)
		error = add_scalar(o, steps[i].kind, tensor, steps[i].number, &tensor,
				   i + 1 == count, layout);
	return error;
}

static int clip_bound(struct onnx *o, u32 i, const char *name, float other, float *bound)
{
	const struct npu_tensor *t;

	*bound = onnx_float(o, name, other);
	if (i >= o->in_count || !o->in[i] || o->in[i]->empty)
		return 0;
	t = onnx_constant(o, o->in[i]);
	if (!t || t->dtype != NPU_F32 || npu_tensor_elements(t) != 1)
		return onnx_fail(o, -ENOTSUP, "bounds must be constant float32 numbers");
	*bound = *(const float *)t->data;
	return 0;
}

int onnx_read_clip(struct onnx *o)
{
	static const struct {
		float low, high;
		enum npu_activation activation;
	} clamps[] = {
		{ 0, INFINITY, NPU_ACT_RELU },
		{ 0, 6, NPU_ACT_RELU6 },
		{ -1, 1, NPU_ACT_RELU_N1_TO_1 },
	};
	struct scalar_step steps[2];
	struct npu_op *op;
	float low, high;
	u32 i, count = 0;
	int error = clip_bound(o, 1, "min", -INFINITY, &low);

	if (!error)
		error = clip_bound(o, 2, "max", INFINITY, &high);
	if (error)
		return error;
	/* The largest float32 is how older exporters say that there is no bound. */
	high = high >= 3e38f ? INFINITY : high;
	low = low <= -3e38f ? -INFINITY : low;
	for (i = 0; i < ARRAY_SIZE(clamps); i++) {
		if (low != clamps[i].low || high != clamps[i].high)
			continue;
		op = onnx_add_unary(o, NPU_OP_RELU, &error);
		if (op)
			op->activation = clamps[i].activation;
		return error;
	}
	if (o->quantised)
		return onnx_fail(o, -ENOTSUP, "a quantised clip to %g and %g", (double)low,
				 (double)high);
	if (!isinf(low))
		steps[count++] = (struct scalar_step){ NPU_OP_MAXIMUM, low };
	if (!isinf(high))
		steps[count++] = (struct scalar_step){ NPU_OP_MINIMUM, high };
	return count ? add_scalars(o, steps, count) : onnx_read_identity(o);
}

static int add_softmax(struct onnx *o, u32 from, u32 to)
{
	struct npu_op *op = onnx_add_op(o, NPU_OP_SOFTMAX, &from, 1, to);

	if (!op)
		return -ENOMEM;
	op->alpha = 1;
	op->axis = (s32)onnx_tensor(o, from)->rank - 1;
	return 0;
}

/* A tensor of another shape of the type and scale of @like. */
static int add_like(struct onnx *o, u32 like, u32 rank, const u32 *dim, u32 *tensor)
{
	struct npu_tensor source = *onnx_tensor(o, like);
	int error = onnx_add_tensor(o, source.name, source.dtype, rank, dim, tensor);

	if (!error)
		o->graph->tensor[*tensor].quant = source.quant;
	return error;
}

/* Over @axis, which is moved behind the others for it and back. */
static int softmax_moved(struct onnx *o, u32 axis)
{
	const struct onnx_value *in = o->in[0];
	u32 order[NPU_MAX_RANK], dim[NPU_MAX_RANK], from, mid, out, i;
	struct npu_op *op;
	int error = onnx_operand(o, 0, ONNX_PLAIN, &from);

	for (i = 0; i < in->rank; i++) {
		order[i] = i + 1 == in->rank ? axis : i + (i >= axis);
		dim[i] = in->dim[order[i]];
	}
	if (!error)
		error = onnx_permute(o, from, order, &from);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, in->rank, in->dim, &out);
	if (!error)
		error = add_like(o, out, in->rank, dim, &mid);
	if (!error)
		error = add_softmax(o, from, mid);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_TRANSPOSE, &mid, 1, out);
	if (!op)
		return -ENOMEM;
	for (i = 0; i < in->rank; i++)
		op->begin[order[i]] = (s32)i;
	return 0;
}

/* Before opset 13: over all dimensions from @axis on. */
static int softmax_of_rows(struct onnx *o, u32 axis)
{
	const struct onnx_value *in = o->in[0];
	u32 rows[2] = { 1, 1 }, from, mid, out, i;
	int error = onnx_operand(o, 0, ONNX_PLAIN, &from);

	for (i = 0; i < in->rank; i++)
		rows[i >= axis] *= in->dim[i];
	if (!error)
		error = onnx_reshape(o, from, 2, rows, &from);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, in->rank, in->dim, &out);
	if (!error)
		error = add_like(o, out, 2, rows, &mid);
	if (!error)
		error = add_softmax(o, from, mid);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_RESHAPE, &mid, 1, out) ? 0 : -ENOMEM;
}

int onnx_read_softmax(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	enum onnx_layout layout = ONNX_PLAIN;
	u32 axis, from, out;
	int error = onnx_axis(o, onnx_int(o, "axis", o->opset < 13 ? 1 : -1), in->rank, &axis);

	if (error)
		return error;
	if (axis + 1 != in->rank && o->opset < 13)
		return softmax_of_rows(o, axis);
	/* An image's channels are its last dimension in the graph. */
	if (in->rank == 4 && axis == 1)
		layout = ONNX_IMAGE;
	else if (axis + 1 != in->rank)
		return softmax_moved(o, axis);
	error = onnx_operand(o, 0, layout, &from);
	if (!error)
		error = onnx_result(o, 0, layout, in->rank, in->dim, &out);
	return error ? error : add_softmax(o, from, out);
}

/* ONNX takes the mean of the squares, as if the window were never cut. */
int onnx_read_lrn(struct onnx *o)
{
	s64 size = onnx_int(o, "size", 0);
	u32 in, out;
	struct npu_op *op;
	int error;

	if (o->in[0]->rank != 4 || size < 1 || size > INT32_MAX)
		return onnx_fail(o, -EINVAL, "rank %u, size %lld", o->in[0]->rank, (long long)size);
	error = onnx_operand(o, 0, ONNX_IMAGE, &in);
	if (!error)
		error = onnx_result(o, 0, ONNX_IMAGE, 4, o->in[0]->dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_LRN, &in, 1, out);
	if (!op)
		return -ENOMEM;
	op->size = (u32)size;
	op->alpha = onnx_float(o, "alpha", 1e-4f) / (float)size;
	op->beta = onnx_float(o, "beta", 0.75f);
	op->gamma = onnx_float(o, "bias", 1);
	return 0;
}
