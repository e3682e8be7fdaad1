// SPDX-License-Identifier: MIT
/* Products whose second operand is computed, or of more than one matrix. */
#include "onnx.h"

/* An operand as matrices: a vector is one row, or one column. */
struct matrices {
	u32 tensor, rank, dim[NPU_MAX_RANK];
	bool vector;
};

static int read_matrices(struct onnx *o, u32 i, struct matrices *m)
{
	const struct onnx_value *value = o->in[i];
	int error = onnx_operand(o, i, ONNX_PLAIN, &m->tensor);

	if (error)
		return error;
	if (!value->rank)
		return onnx_fail(o, -EINVAL, "input %u is a single number", i);
	m->rank = value->rank;
	memcpy(m->dim, value->dim, sizeof(m->dim));
	m->vector = value->rank == 1;
	if (!m->vector)
		return 0;
	m->rank = 2;
	m->dim[0] = i ? value->dim[0] : 1;
	m->dim[1] = i ? 1 : value->dim[0];
	return onnx_reshape(o, m->tensor, 2, m->dim, &m->tensor);
}

/* Dimension @d of those in front of the matrices, counted from these. */
static u32 batch_dim(const struct matrices *m, u32 d)
{
	return d + 2 < m->rank ? m->dim[m->rank - 3 - d] : 1;
}

static int product_shape(struct onnx *o, const struct matrices *a, const struct matrices *b,
			 struct matrices *out)
{
	u32 d;

	if (a->dim[a->rank - 1] != b->dim[b->rank - 2])
		return onnx_fail(o, -EINVAL, "rows of %u by columns of %u", a->dim[a->rank - 1],
				 b->dim[b->rank - 2]);
	out->rank = max(a->rank, b->rank);
	out->dim[out->rank - 2] = a->dim[a->rank - 2];
	out->dim[out->rank - 1] = b->dim[b->rank - 1];
	for (d = 0; d + 2 < out->rank; d++) {
		u32 da = batch_dim(a, d), db = batch_dim(b, d);

		if (da != db && da != 1 && db != 1)
			return onnx_fail(o, -EINVAL, "%u matrices by %u", da, db);
		out->dim[out->rank - 3 - d] = max(da, db);
	}
	return 0;
}

static int add_matmul(struct onnx *o, const struct matrices *a, const struct matrices *b, u32 out)
{
	const u32 inputs[] = { a->tensor, b->tensor };
	struct npu_op *op = onnx_add_op(o, NPU_OP_MATMUL, inputs, 2, out);

	if (!op)
		return -ENOMEM;
	op->activation = o->activation;
	return 0;
}

/* Dimensions that vectors were given are taken off again. */
int onnx_general_matmul(struct onnx *o)
{
	struct matrices a, b, whole = { 0 };
	u32 dim[NPU_MAX_RANK], rank = 0, d, out;
	int error = read_matrices(o, 0, &a);

	if (!error)
		error = read_matrices(o, 1, &b);
	if (!error)
		error = product_shape(o, &a, &b, &whole);
	for (d = 0; !error && d < whole.rank; d++)
		if (!(a.vector && d + 2 == whole.rank) && !(b.vector && d + 1 == whole.rank))
			dim[rank++] = whole.dim[d];
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, rank, dim, &out);
	if (error || rank == whole.rank)
		return error ? error : add_matmul(o, &a, &b, out);
	error = onnx_add_tensor(o, onnx_tensor(o, out)->name, onnx_tensor(o, out)->dtype,
				whole.rank, whole.dim, &whole.tensor);
	if (error)
		return error;
	o->graph->tensor[whole.tensor].quant = onnx_tensor(o, out)->quant;
	error = add_matmul(o, &a, &b, whole.tensor);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_RESHAPE, &whole.tensor, 1, out) ? 0 : -ENOMEM;
}

/* ---- Gemm ---- */

static int turn(struct onnx *o, const char *attribute, struct matrices *m)
{
	static const u32 swap[] = { 1, 0 };
	u32 rows = m->dim[0];

	if (m->rank != 2)
		return onnx_fail(o, -EINVAL, "an operand of rank %u", m->rank);
	if (!onnx_int(o, attribute, 0))
		return 0;
	m->dim[0] = m->dim[1];
	m->dim[1] = rows;
	return onnx_permute(o, m->tensor, swap, &m->tensor);
}

/* @in times a number, where it is another one than 1. */
static int add_factor(struct onnx *o, float factor, u32 *in)
{
	struct npu_tensor source = *onnx_tensor(o, *in);
	u32 inputs[] = { *in, NPU_NONE };
	void *data = NULL;
	int error;

	if (factor == 1)
		return 0;
	error = onnx_add_constant(o, source.name, NPU_F32, 0, NULL, &inputs[1], &data);
	if (error)
		return error;
	*(float *)data = factor;
	error = onnx_add_tensor(o, source.name, NPU_F32, source.rank, source.dim, in);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_MUL, inputs, 2, *in) ? 0 : -ENOMEM;
}

int onnx_add_gemm_sum(struct onnx *o, float beta, u32 product, u32 out)
{
	u32 inputs[] = { product, NPU_NONE };
	int error = onnx_operand(o, 2, ONNX_PLAIN, &inputs[1]);

	if (!error)
		error = add_factor(o, beta, &inputs[1]);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_ADD, inputs, 2, out) ? 0 : -ENOMEM;
}

int onnx_general_gemm(struct onnx *o, float alpha, float beta)
{
	bool sum = o->in_count > 2 && o->in[2] && !o->in[2]->empty;
	struct matrices a, b, whole = { 0 };
	u32 out = NPU_NONE, product;
	int error = read_matrices(o, 0, &a);

	/* There are no scales for what lies between. */
	if (o->quantised && (sum || alpha != 1))
		return onnx_fail(o, -ENOTSUP,
				 "a quantised product of two computed matrices with "
				 "a factor or a sum");
	if (!error)
		error = read_matrices(o, 1, &b);
	if (!error)
		error = turn(o, "transA", &a);
	if (!error)
		error = turn(o, "transB", &b);
	/* The smaller of the two matrices takes the factor. */
	if (!error)
		error = add_factor(o, alpha, a.dim[0] <= b.dim[1] ? &a.tensor : &b.tensor);
	if (!error)
		error = product_shape(o, &a, &b, &whole);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, 2, whole.dim, &out);
	if (error)
		return error;
	product = out;
	if (sum)
		error = onnx_add_tensor(o, onnx_tensor(o, out)->name, NPU_F32, 2, whole.dim,
					&product);
	if (!error)
		error = add_matmul(o, &a, &b, product);
	return error || !sum ? error : onnx_add_gemm_sum(o, beta, product, out);
}
