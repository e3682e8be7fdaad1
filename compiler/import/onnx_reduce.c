// SPDX-License-Identifier: MIT
/* Reductions: sums, extremes, norms and logarithms of sums along dimensions, and indices of extremes. */
#include "onnx.h"

/**
 * struct reduction - what the node at work reduces
 * @layout, @out_layout: of the operand and of the result
 * @axes: mask, in the operand's layout
 * @keep: reduced dimensions stay, as 1
 * @kept: shape of the result with them, in that layout
 * @rank, @dim: shape of the result, in ONNX's order
 */
struct reduction {
	enum onnx_layout layout, out_layout;
	u32 axes;
	bool keep;
	u32 kept[NPU_MAX_RANK];
	u32 rank, dim[NPU_MAX_RANK];
};

/*
 * Without the reduced dimensions the others have to be in ONNX's order: they are in an image too where
 * height and width both go, or the channels.
 */
static bool leaves_order(u32 mask)
{
	return (mask >> 2 & 3) == 3 || mask >> 1 & 1;
}

static void set_shapes(struct onnx *o, u32 mask, bool keep, struct reduction *r)
{
	const struct onnx_value *in = o->in[0];
	u32 i;

	r->keep = keep;
	r->layout = keep || leaves_order(mask) ? onnx_layout_of(o) : ONNX_PLAIN;
	r->out_layout = keep ? r->layout : ONNX_PLAIN;
	for (i = 0; i < in->rank; i++) {
		bool reduced = mask >> i & 1;
		u32 to = onnx_graph_axis(r->layout, i);

		if (reduced)
			r->axes |= 1u << to;
		r->kept[to] = reduced ? 1 : in->dim[i];
		if (keep || !reduced)
			r->dim[r->rank++] = reduced ? 1 : in->dim[i];
	}
}

/* Axes as attribute or input; none are all, unless the node wants to be left out then. */
static int read_reduction(struct onnx *o, struct reduction *r, bool *nothing)
{
	const struct onnx_value *in = o->in[0];
	s64 axes[NPU_MAX_RANK];
	u32 count, axis, i, mask = 0;
	int error = onnx_parameter(o, "axes", 1, axes, NPU_MAX_RANK, &count);

	for (i = 0; !error && i < count; i++) {
		error = onnx_axis(o, axes[i], in->rank, &axis);
		if (!error)
			mask |= 1u << axis;
	}
	if (error)
		return error;
	*nothing = !in->rank || (!count && onnx_int(o, "noop_with_empty_axes", 0));
	if (!count)
		mask = (1u << in->rank) - 1;
	set_shapes(o, mask, onnx_int(o, "keepdims", 1), r);
	return 0;
}

/* A float tensor between two operators, of the kept shape or of the input's. */
static int add_between(struct onnx *o, const struct reduction *r, u32 like_in, u32 *tensor)
{
	struct npu_tensor source = like_in == NPU_NONE ? (struct npu_tensor){ 0 }
						       : *onnx_tensor(o, like_in);

	if (like_in != NPU_NONE)
		return onnx_add_tensor(o, o->out[0]->name, NPU_F32, source.rank, source.dim,
				       tensor);
	return onnx_add_tensor(o, o->out[0]->name, NPU_F32, o->in[0]->rank, r->kept, tensor);
}

static int add_reduce(struct onnx *o, const struct reduction *r, enum npu_op_kind kind, u32 in,
		      u32 out)
{
	struct npu_op *op = onnx_add_op(o, kind, &in, 1, out);

	if (!op)
		return -ENOMEM;
	op->axes = r->axes;
	return 0;
}

static int add_binary(struct onnx *o, enum npu_op_kind kind, u32 a, u32 b, u32 out)
{
	const u32 inputs[] = { a, b };

	return onnx_add_op(o, kind, inputs, 2, out) ? 0 : -ENOMEM;
}

/* A function in front of the sum, or behind it; POWER has the exponent. */
struct step {
	bool there;
	enum npu_function function;
	float exponent;
};

#define POWER(exponent)                      \
	{                                    \
		true, NPU_FN_POWER, exponent \
	}

static const struct {
	const char *name;
	struct step before, behind;
} composed[] = {
	{ "ReduceL1", { true, NPU_FN_ABS, 0 }, { false, 0, 0 } },
	{ "ReduceL2", POWER(2), POWER(0.5f) },
	{ "ReduceLogSum", { false, 0, 0 }, { true, NPU_FN_LOG, 0 } },
	{ "ReduceSumSquare", POWER(2), { false, 0, 0 } },
};

static int add_step(struct onnx *o, const struct step *step, u32 in, u32 out)
{
	return onnx_add_function(o, step->function, 1, 0, step->exponent, in, out);
}

static int add_composed(struct onnx *o, const struct reduction *r, const struct step *before,
			const struct step *behind, u32 in)
{
	u32 from = in, sum, out = NPU_NONE;
	int error = 0;

	if (before->there) {
		error = add_between(o, r, in, &from);
		if (!error)
			error = add_step(o, before, in, from);
	}
	if (!error)
		error = onnx_result(o, 0, r->out_layout, r->rank, r->dim, &out);
	sum = out;
	if (!error && behind->there)
		error = add_between(o, r, NPU_NONE, &sum);
	if (!error)
		error = add_reduce(o, r, o->row->kind, from, sum);
	if (error || !behind->there)
		return error;
	/* Functions keep the shape: one that is dropped is dropped behind the sum. */
	if (!r->keep)
		error = onnx_reshape(o, sum, r->rank, r->dim, &sum);
	return error ? error : add_step(o, behind, sum, out);
}

/* x less the greatest one: exponentials of large numbers would not fit. */
struct exponential {
	u32 most, less, log;
};

static int add_log_sum(struct onnx *o, const struct reduction *r, u32 in, struct exponential *e)
{
	u32 powers = 0, sum = 0;
	int error = add_between(o, r, NPU_NONE, &e->most);

	if (!error)
		error = add_between(o, r, in, &e->less);
	if (!error)
		error = add_between(o, r, in, &powers);
	if (!error)
		error = add_between(o, r, NPU_NONE, &sum);
	if (!error)
		error = add_between(o, r, NPU_NONE, &e->log);
	if (!error)
		error = add_reduce(o, r, NPU_OP_REDUCE_MAX, in, e->most);
	if (!error)
		error = add_binary(o, NPU_OP_SUB, in, e->most, e->less);
	if (!error)
		error = onnx_add_function(o, NPU_FN_EXP, 0, 0, 0, e->less, powers);
	if (!error)
		error = add_reduce(o, r, NPU_OP_REDUCE_SUM, powers, sum);
	return error ? error : onnx_add_function(o, NPU_FN_LOG, 0, 0, 0, sum, e->log);
}

static int add_log_sum_exp(struct onnx *o, const struct reduction *r, u32 in)
{
	struct exponential e;
	u32 out = NPU_NONE, total;
	int error = onnx_result(o, 0, r->out_layout, r->rank, r->dim, &out);

	if (!error)
		error = add_log_sum(o, r, in, &e);
	total = out;
	if (!error && !r->keep)
		error = add_between(o, r, NPU_NONE, &total);
	if (!error)
		error = add_binary(o, NPU_OP_ADD, e.log, e.most, total);
	if (error || r->keep)
		return error;
	return onnx_add_op(o, NPU_OP_RESHAPE, &total, 1, out) ? 0 : -ENOMEM;
}

int onnx_read_reduce(struct onnx *o)
{
	static const struct step none = { false, 0, 0 };
	struct reduction r = { 0 };
	bool nothing = false;
	u32 in, i;
	int error = read_reduction(o, &r, &nothing);

	if (error)
		return error;
	for (i = 0; i < ARRAY_SIZE(composed); i++)
		if (!strcmp(composed[i].name, o->row->name))
			break;
	if (nothing && i == ARRAY_SIZE(composed))
		return onnx_read_identity(o);
	if (nothing)
		return onnx_fail(o, -ENOTSUP, "reduces nothing");
	error = onnx_operand(o, 0, r.layout, &in);
	if (error)
		return error;
	if (!strcmp(o->row->name, "ReduceLogSumExp"))
		return add_log_sum_exp(o, &r, in);
	return add_composed(o, &r, i < ARRAY_SIZE(composed) ? &composed[i].before : &none,
			    i < ARRAY_SIZE(composed) ? &composed[i].behind : &none, in);
}

/* Before opset 13 over all dimensions from the axis on. */
int onnx_read_log_softmax(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct reduction r = { 0 };
	struct exponential e;
	u32 axis, from, out, mask;
	int error = onnx_axis(o, onnx_int(o, "axis", o->opset < 13 ? 1 : -1), in->rank, &axis);

	if (error)
		return error;
	mask = o->opset < 13 ? (1u << in->rank) - (1u << axis) : 1u << axis;
	set_shapes(o, mask, true, &r);
	error = onnx_operand(o, 0, r.layout, &from);
	if (!error)
		error = onnx_result(o, 0, r.layout, in->rank, in->dim, &out);
	if (!error)
		error = add_log_sum(o, &r, from, &e);
	return error ? error : add_binary(o, NPU_OP_SUB, e.less, e.log, out);
}

/* Stored values are in the order of the real ones: quantised ones need not be dequantised. */
int onnx_read_arg(struct onnx *o)
{
	struct onnx_value *in = o->in[0]->quantised ? o->in[0]->quantised : o->in[0];
	struct reduction r = { 0 };
	u32 axis, from, i, order[NPU_MAX_RANK];
	u32 *out;
	struct npu_op *op;
	int error = onnx_axis(o, onnx_int(o, "axis", 0), in->rank, &axis);

	if (!error && onnx_int(o, "select_last_index", 0))
		error = onnx_fail(o, -ENOTSUP, "the last of equal elements");
	if (error)
		return error;
	set_shapes(o, 1u << axis, onnx_int(o, "keepdims", 1), &r);
	out = &o->out[0]->tensor[r.out_layout];
	for (i = 0; i < r.rank; i++)
		order[onnx_graph_axis(r.out_layout, i)] = r.dim[i];
	error = onnx_want(o, in, r.layout, &from);
	if (!error)
		error = onnx_add_tensor(o, o->out[0]->name, NPU_I64, r.rank, order, out);
	if (error)
		return error;
	op = onnx_add_op(o, o->row->kind, &from, 1, *out);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)onnx_graph_axis(r.layout, axis);
	onnx_value_shape(o->out[0], NPU_I64, r.rank, r.dim);
	return 0;
}
