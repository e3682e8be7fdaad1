// SPDX-License-Identifier: MIT
/* Normalisation by mean and variance, or by a norm, as sums, products and functions. */
#include "onnx.h"

#include <float.h>

/**
 * struct norm - a normalisation at work
 * @rank, @dim: of what is normalised, in the graph's order
 * @axes: mask of dimensions that share a mean and a variance
 * @mean, @inverse: one for each group of them: mean, and 1 / standard deviation
 */
struct norm {
	u32 rank, dim[NPU_MAX_RANK];
	u32 axes;
	u32 mean, inverse;
};

static int add_tensor(struct onnx *o, const struct norm *n, bool reduced, u32 *tensor)
{
	u32 dim[NPU_MAX_RANK], i;

	for (i = 0; i < n->rank; i++)
		dim[i] = reduced && n->axes >> i & 1 ? 1 : n->dim[i];
	return onnx_add_tensor(o, o->out[0]->name, NPU_F32, n->rank, dim, tensor);
}

static int reduce(struct onnx *o, const struct norm *n, enum npu_op_kind kind, u32 in, u32 *out)
{
	struct npu_op *op;
	int error = add_tensor(o, n, true, out);

	if (error)
		return error;
	op = onnx_add_op(o, kind, &in, 1, *out);
	if (!op)
		return -ENOMEM;
	op->axes = n->axes;
	return 0;
}

static int combine(struct onnx *o, const struct norm *n, enum npu_op_kind kind, u32 a, u32 b,
		   u32 *out)
{
	const u32 inputs[] = { a, b };
	int error = add_tensor(o, n, false, out);

	if (error)
		return error;
	return onnx_add_op(o, kind, inputs, 2, *out) ? 0 : -ENOMEM;
}

/* (in + bias)^exponent */
static int power(struct onnx *o, const struct norm *n, bool reduced, float bias, float exponent,
		 u32 in, u32 *out)
{
	int error = add_tensor(o, n, reduced, out);

	return error ? error : onnx_add_function(o, NPU_FN_POWER, 1, bias, exponent, in, *out);
}

static int normalise(struct onnx *o, struct norm *n, u32 in, float epsilon, u32 *out)
{
	u32 centred, squares, variance;
	int error = reduce(o, n, NPU_OP_MEAN, in, &n->mean);

	if (!error)
		error = combine(o, n, NPU_OP_SUB, in, n->mean, &centred);
	if (!error)
		error = power(o, n, false, 0, 2, centred, &squares);
	if (!error)
		error = reduce(o, n, NPU_OP_MEAN, squares, &variance);
	if (!error)
		error = power(o, n, true, epsilon, -0.5f, variance, &n->inverse);
	return error ? error : combine(o, n, NPU_OP_MUL, centred, n->inverse, out);
}

/* A parameter of @count constants, seen with a shape to which the normalised one broadcasts. */
static int parameter(struct onnx *o, u32 i, u32 rank, const u32 *dim, u32 *tensor)
{
	const struct npu_tensor *t = i < o->in_count && o->in[i] ? onnx_constant(o, o->in[i])
								 : NULL;
	u64 elements = 1;
	u32 d;

	for (d = 0; d < rank; d++)
		elements *= dim[d];
	if (!t || t->dtype != NPU_F32 || npu_tensor_elements(t) != elements)
		return onnx_fail(o, -ENOTSUP, "input %u is not %llu constants", i,
				 (unsigned long long)elements);
	return onnx_reshape(o, o->in[i]->tensor[ONNX_PLAIN], rank, dim, tensor);
}

/* times input 1 plus input 2, of @dim; the last step writes @out. */
static int scale_and_shift(struct onnx *o, const struct norm *n, u32 in, u32 rank, const u32 *dim,
			   u32 out)
{
	bool shifts = o->in_count > 2 && o->in[2] && !o->in[2]->empty;
	u32 inputs[] = { in, NPU_NONE }, scaled = out;
	int error = parameter(o, 1, rank, dim, &inputs[1]);

	if (!error && shifts)
		error = add_tensor(o, n, false, &scaled);
	if (!error && !onnx_add_op(o, NPU_OP_MUL, inputs, 2, scaled))
		error = -ENOMEM;
	inputs[0] = scaled;
	if (!error && shifts)
		error = parameter(o, 2, rank, dim, &inputs[1]);
	if (!error && shifts && !onnx_add_op(o, NPU_OP_ADD, inputs, 2, out))
		error = -ENOMEM;
	return error;
}

/* Over all dimensions behind the channels, for each channel. */
int onnx_read_instance_norm(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	enum onnx_layout layout = in->rank == 4 ? ONNX_IMAGE : ONNX_PLAIN;
	u32 from, normal, out, dim[NPU_MAX_RANK] = { 0 }, d;
	struct norm n = { .rank = in->rank };
	int error;

	if (in->rank < 3)
		return onnx_fail(o, -EINVAL, "rank %u", in->rank);
	error = onnx_operand(o, 0, layout, &from);
	if (error)
		return error;
	for (d = 0; d < in->rank; d++) {
		u32 at = onnx_graph_axis(layout, d);

		n.dim[at] = in->dim[d];
		dim[at] = d == 1 ? in->dim[d] : 1;
		n.axes |= d > 1 ? 1u << at : 0;
	}
	error = onnx_result(o, 0, layout, in->rank, in->dim, &out);
	if (!error)
		error = normalise(o, &n, from, onnx_float(o, "epsilon", 1e-5f), &normal);
	return error ? error : scale_and_shift(o, &n, normal, in->rank, dim, out);
}

/* Mean and deviation are results too. */
static int extra_result(struct onnx *o, const struct norm *n, u32 i, u32 tensor)
{
	u32 dim[NPU_MAX_RANK], out, d;
	int error;

	if (i >= o->out_count || !*o->out[i]->name)
		return 0;
	for (d = 0; d < n->rank; d++)
		dim[d] = n->axes >> d & 1 ? 1 : n->dim[d];
	error = onnx_result(o, i, ONNX_PLAIN, n->rank, dim, &out);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_RESHAPE, &tensor, 1, out) ? 0 : -ENOMEM;
}

/* Over all dimensions from the axis on; scale and bias have a number for each element of them. */
int onnx_read_layer_norm(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct norm n = { .rank = in->rank };
	u32 from, normal, out, axis;
	int error = onnx_axis(o, onnx_int(o, "axis", -1), in->rank, &axis);

	if (!error)
		error = onnx_operand(o, 0, ONNX_PLAIN, &from);
	if (error)
		return error;
	memcpy(n.dim, in->dim, sizeof(n.dim));
	n.axes = (1u << in->rank) - (1u << axis);
	error = onnx_result(o, 0, ONNX_PLAIN, in->rank, in->dim, &out);
	if (!error)
		error = normalise(o, &n, from, onnx_float(o, "epsilon", 1e-5f), &normal);
	if (!error)
		error = scale_and_shift(o, &n, normal, in->rank - axis, in->dim + axis, out);
	if (!error)
		error = extra_result(o, &n, 1, n.mean);
	return error ? error : extra_result(o, &n, 2, n.inverse);
}

/* Groups of channels are rows of a matrix; before opset 21 scale and bias are those of groups. */
int onnx_read_group_norm(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	s64 groups = onnx_int(o, "num_groups", 0);
	u32 from, rows, normal, back, out, dim[NPU_MAX_RANK], d;
	struct norm n = { .rank = 3, .axes = 1u << 2 }, whole = { .rank = in->rank };
	u64 inner = 1;
	int error;

	if (in->rank < 2 || groups < 1 || groups > in->dim[1] || in->dim[1] % groups)
		return onnx_fail(o, -EINVAL, "%lld groups of %u channels", (long long)groups,
				 in->rank < 2 ? 0 : in->dim[1]);
	for (d = 1; d < in->rank; d++) {
		inner *= in->dim[d];
		dim[d - 1] = d == 1 ? in->dim[d] : 1;
	}
	n.dim[0] = in->dim[0];
	n.dim[1] = (u32)groups;
	n.dim[2] = (u32)(inner / (u64)groups);
	memcpy(whole.dim, in->dim, sizeof(whole.dim));
	error = onnx_operand(o, 0, ONNX_PLAIN, &from);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, in->rank, in->dim, &out);
	if (!error)
		error = onnx_reshape(o, from, 3, n.dim, &rows);
	if (!error)
		error = normalise(o, &n, rows, onnx_float(o, "epsilon", 1e-5f), &normal);
	if (error)
		return error;
	if (o->opset >= 21) {
		error = onnx_reshape(o, normal, in->rank, in->dim, &back);
		return error ? error : scale_and_shift(o, &whole, back, in->rank - 1, dim, out);
	}
	error = add_tensor(o, &n, false, &back);
	if (!error)
		error = scale_and_shift(o, &n, normal, 2, (const u32[]){ (u32)groups, 1 }, back);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_RESHAPE, &back, 1, out) ? 0 : -ENOMEM;
}

/* Zeros stay zeros where they are divided by their own norm. */
static int keep_from_zero(struct onnx *o, const struct norm *n, u32 *tensor)
{
	u32 inputs[] = { *tensor, NPU_NONE };
	void *data = NULL;
	int error = onnx_add_constant(o, o->out[0]->name, NPU_F32, 0, NULL, &inputs[1], &data);

	if (error)
		return error;
	*(float *)data = FLT_MIN;
	error = add_tensor(o, n, true, tensor);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_MAXIMUM, inputs, 2, *tensor) ? 0 : -ENOMEM;
}

/* Divided by the sum of absolute values, or by the root of the sum of squares. */
int onnx_read_lp_norm(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	s64 p = onnx_int(o, "p", 2);
	u32 inputs[2], axis, sizes, sum = NPU_NONE, out, d;
	struct norm n = { .rank = in->rank };
	int error = onnx_axis(o, onnx_int(o, "axis", -1), in->rank, &axis);

	if (!error && p != 1 && p != 2)
		error = onnx_fail(o, -ENOTSUP, "p is %lld", (long long)p);
	if (error)
		return error;
	for (d = 0; d < in->rank; d++)
		n.dim[d] = in->dim[d];
	n.axes = 1u << axis;
	error = onnx_operand(o, 0, ONNX_PLAIN, &inputs[0]);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, in->rank, in->dim, &out);
	if (!error)
		error = add_tensor(o, &n, false, &sizes);
	if (!error)
		error = onnx_add_function(o, p == 1 ? NPU_FN_ABS : NPU_FN_POWER, 1, 0, (float)p,
					  inputs[0], sizes);
	if (!error)
		error = reduce(o, &n, NPU_OP_REDUCE_SUM, sizes, &sum);
	inputs[1] = sum;
	if (!error && p == 2)
		error = power(o, &n, true, 0, 0.5f, sum, &inputs[1]);
	if (!error)
		error = keep_from_zero(o, &n, &inputs[1]);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_DIV, inputs, 2, out) ? 0 : -ENOMEM;
}

/* ---- Sum, Max, Min and Mean of any number of operands ---- */

static int join_shapes(struct onnx *o, struct norm *all, const struct onnx_value *value)
{
	u32 i, rank = max(all->rank, value->rank), dim[NPU_MAX_RANK];

	for (i = 0; i < rank; i++) {
		u32 a = i < all->rank ? all->dim[all->rank - 1 - i] : 1;
		u32 b = i < value->rank ? value->dim[value->rank - 1 - i] : 1;

		if (a != b && a != 1 && b != 1)
			return onnx_fail(o, -EINVAL, "shapes do not broadcast: %u and %u", a, b);
		dim[rank - 1 - i] = max(a, b);
	}
	all->rank = rank;
	memcpy(all->dim, dim, sizeof(dim));
	return 0;
}

/* The average is a sum, then a product. */
static int add_share(struct onnx *o, u32 sum, u32 out)
{
	u32 inputs[] = { sum, NPU_NONE };
	void *data = NULL;
	int error = onnx_add_constant(o, o->out[0]->name, NPU_F32, 0, NULL, &inputs[1], &data);

	if (error)
		return error;
	*(float *)data = 1.0f / (float)o->in_count;
	return onnx_add_op(o, NPU_OP_MUL, inputs, 2, out) ? 0 : -ENOMEM;
}

/* What the first operands are together: of the type and scale of @like. */
static int add_partial(struct onnx *o, const u32 inputs[2], u32 like, u32 *tensor)
{
	struct npu_tensor a = *onnx_tensor(o, inputs[0]), b = *onnx_tensor(o, inputs[1]);
	struct npu_tensor source = *onnx_tensor(o, like);
	u32 rank = max(a.rank, b.rank), dim[NPU_MAX_RANK], i;
	int error;

	for (i = 0; i < rank; i++)
		dim[rank - 1 - i] = max(i < a.rank ? a.dim[a.rank - 1 - i] : 1,
					i < b.rank ? b.dim[b.rank - 1 - i] : 1);
	error = onnx_add_tensor(o, source.name, source.dtype, rank, dim, tensor);
	if (!error)
		o->graph->tensor[*tensor].quant = source.quant;
	return error;
}

/* One operand after the other; the last operator writes @out. */
static int chain_operands(struct onnx *o, enum onnx_layout layout, u32 rank, u32 out)
{
	u32 inputs[2], i, to;
	int error = onnx_broadcast(o, 0, layout, rank, &inputs[0]);

	for (i = 1; !error && i < o->in_count; i++) {
		to = out;
		error = onnx_broadcast(o, i, layout, rank, &inputs[1]);
		if (!error && i + 1 < o->in_count)
			error = add_partial(o, inputs, out, &to);
		if (!error && !onnx_add_op(o, o->row->kind, inputs, 2, to))
			error = -ENOMEM;
		inputs[0] = to;
	}
	return error;
}

static int join_operands(struct onnx *o, bool mean)
{
	enum onnx_layout layout = onnx_line_layout(o);
	struct norm shape = { 0 };
	struct npu_tensor result;
	u32 out = NPU_NONE, sum, i;
	int error = 0;

	for (i = 0; !error && i < o->in_count; i++) {
		if (!o->in[i] || o->in[i]->empty || o->in[i]->dtype != NPU_F32)
			return onnx_fail(o, -ENOTSUP, "operand %u is not of float32", i);
		error = join_shapes(o, &shape, o->in[i]);
	}
	if (shape.rank != 4 && shape.rank != 3)
		layout = ONNX_PLAIN;
	if (!error)
		error = onnx_result(o, 0, layout, shape.rank, shape.dim, &out);
	if (error)
		return error;
	sum = out;
	result = *onnx_tensor(o, out);
	if (mean)
		error = onnx_add_tensor(o, result.name, NPU_F32, result.rank, result.dim, &sum);
	if (!error)
		error = chain_operands(o, layout, shape.rank, sum);
	return error || !mean ? error : add_share(o, sum, out);
}

int onnx_read_variadic(struct onnx *o)
{
	bool mean = !strcmp(o->row->name, "Mean");

	if (o->in_count == 1)
		return onnx_read_identity(o);
	if (o->in_count == 2 && !mean)
		return onnx_read_binary(o);
	return join_operands(o, mean);
}
