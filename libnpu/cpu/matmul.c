// SPDX-License-Identifier: MIT
/*
 * Products of two matrices that both may be computed; of higher ranks each pair of
 * matrices for itself.
 */
#include <stdlib.h>

#include "fixed.h"

struct product {
	struct npu_cpu_view a, b, out;
	u32 m, k, n;
	size_t matrices; /* of the result */
};

static struct product product_of(const struct npu_cpu_call *call)
{
	struct product p = { .a = npu_cpu_input(call, 0),
			     .b = npu_cpu_input(call, 1),
			     .out = npu_cpu_output(call) };
	const u32 *dim_a = p.a.tensor->dim + p.a.tensor->rank - 2;
	const u32 *dim_b = p.b.tensor->dim + p.b.tensor->rank - 2;

	p.m = dim_a[0];
	p.k = dim_a[1];
	p.n = dim_b[1];
	p.matrices = p.out.elements / ((size_t)p.m * p.n);
	return p;
}

/* Which matrix of an operand belongs to matrix @i of the result; dimensions of 1 are stretched. */
static size_t matrix_of(const struct npu_tensor *tensor, const struct npu_tensor *out, size_t i)
{
	size_t which = 0, step = 1;
	u32 d;

	for (d = 3; d <= tensor->rank; d++) {
		u32 dim = tensor->dim[tensor->rank - d], stretched = out->dim[out->rank - d];

		if (dim > 1)
			which += i % stretched * step;
		step *= dim;
		i /= stretched;
	}
	return which;
}

/* A matrix without its zero point; of the second operand column by column. */
static void widen(s16 *to, const struct npu_cpu_view *from, size_t first, u32 rows, u32 columns,
		  bool turn)
{
	u32 i, j;

	for (i = 0; i < rows; i++)
		for (j = 0; j < columns; j++)
			to[turn ? (size_t)j * rows + i : (size_t)i * columns + j] =
				(s16)(npu_load(from, first + (size_t)i * columns + j) - from->zero);
}

/* Sums wrap as those of the compiled reference kernels do. */
static s32 dot(const s16 *a, const s16 *b, u32 count)
{
	u32 sum = 0, i;

	for (i = 0; i < count; i++)
		sum += (u32)(a[i] * b[i]);
	return (s32)sum;
}

static void multiply(const struct product *p, size_t matrix, const s16 *a, const s16 *b,
		     struct npu_factor factor, struct npu_clamp clamp)
{
	size_t at = matrix * p->m * p->n;
	u32 i, j;

	for (i = 0; i < p->m; i++)
		for (j = 0; j < p->n; j++, at++) {
			s32 sum = dot(a + (size_t)i * p->k, b + (size_t)j * p->k, p->k);

			npu_store(&p->out, at,
				  npu_clamped((s64)npu_scale(sum, factor) + p->out.zero, clamp));
		}
}

int npu_cpu_matmul(const struct npu_cpu_call *call)
{
	struct product p = product_of(call);
	const size_t size_a = (size_t)p.m * p.k, size_b = (size_t)p.k * p.n;
	struct npu_factor factor =
		npu_factor_of((double)npu_single_mul(p.a.scale, p.b.scale) / (double)p.out.scale);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &p.out);
	s16 *room = calloc(size_a + size_b, sizeof(*room));
	size_t i;

	if (!room)
		return -ENOMEM;
	for (i = 0; i < p.matrices; i++) {
		widen(room, &p.a, matrix_of(p.a.tensor, p.out.tensor, i) * size_a, p.m, p.k, false);
		widen(room + size_a, &p.b, matrix_of(p.b.tensor, p.out.tensor, i) * size_b, p.k,
		      p.n, true);
		multiply(&p, i, room, room + size_a, factor, clamp);
	}
	free(room);
	return 0;
}

/* Rows of the second operand are added up, so that memory is read in order. */
static void multiply_float(const struct product *p, const float *a, const float *b, float *to)
{
	u32 i, j, k;

	memset(to, 0, (size_t)p->m * p->n * sizeof(*to));
	for (i = 0; i < p->m; i++, to += p->n)
		for (k = 0; k < p->k; k++) {
			const float factor = a[(size_t)i * p->k + k];
			const float *row = b + (size_t)k * p->n;

			for (j = 0; j < p->n; j++)
				to[j] += factor * row[j];
		}
}

int npu_cpu_matmul_float(const struct npu_cpu_call *call)
{
	struct product p = product_of(call);
	const float *a = p.a.data, *b = p.b.data;
	float *to = p.out.data;
	size_t i;

	for (i = 0; i < p.matrices; i++)
		multiply_float(&p, a + matrix_of(p.a.tensor, p.out.tensor, i) * p.m * p.k,
			       b + matrix_of(p.b.tensor, p.out.tensor, i) * p.k * p.n,
			       to + i * p.m * p.n);
	for (i = 0; i < p.out.elements; i++)
		to[i] = npu_activate(call->op->activation, to[i]);
	return 0;
}
