// SPDX-License-Identifier: MIT
/*
 * Local response normalisation: each element is divided by a power of the sum of the
 * squares of its neighbours in other channels.
 */
#include <math.h>
#include <stdlib.h>

#include "fixed.h"

/* Channels that count for channel @c of @depth; a window is cut at the ends. */
struct reach {
	u32 first, last;
};

static struct reach reach_of(const struct npu_op *op, u32 c, u32 depth)
{
	u32 before = (op->size - 1) / 2, behind = op->size - 1 - before;
	struct reach reach = { c > before ? c - before : 0,
			       behind < depth - 1 - c ? c + behind : depth - 1 };

	return reach;
}

/* Nearly all networks have 3/4: two roots cost a fifth of a power. */
static double divisor(const struct npu_op *op, double squares)
{
	double base = (double)op->gamma + (double)op->alpha * squares;

	if (op->beta == 0.75f)
		return sqrt(base) * sqrt(sqrt(base));
	return pow(base, (double)op->beta);
}

/* @square: of the elements of one row of channels; @to: what these are divided by. */
static void divisors(const struct npu_op *op, const double *square, u32 depth, double *to)
{
	u32 c, i;

	for (c = 0; c < depth; c++) {
		struct reach reach = reach_of(op, c, depth);
		double sum = 0;

		for (i = reach.first; i <= reach.last; i++)
			sum += square[i];
		to[c] = divisor(op, sum);
	}
}

/* Squares and divisors of one row. */
static double *make_room(const struct npu_cpu_view *in)
{
	return calloc(2 * (size_t)in->nhwc[3] + 1, sizeof(double));
}

int npu_cpu_lrn(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	u32 depth = in.nhwc[3], c;
	double *square = make_room(&in), *divide;
	size_t i;

	if (!square)
		return -ENOMEM;
	divide = square + depth;
	for (i = 0; i < in.elements; i += depth) {
		for (c = 0; c < depth; c++) {
			double real = (double)in.scale * (npu_load(&in, i + c) - in.zero);

			square[c] = real * real;
		}
		divisors(call->op, square, depth, divide);
		for (c = 0; c < depth; c++) {
			double real = (double)in.scale * (npu_load(&in, i + c) - in.zero);

			npu_store(&out, i + c, npu_stored(real / divide[c], &out, clamp));
		}
	}
	free(square);
	return 0;
}

int npu_cpu_lrn_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const float *from = in.data;
	float *to = out.data;
	u32 depth = in.nhwc[3], c;
	double *square = make_room(&in), *divide;
	size_t i;

	if (!square)
		return -ENOMEM;
	divide = square + depth;
	for (i = 0; i < in.elements; i += depth) {
		for (c = 0; c < depth; c++)
			square[c] = (double)from[i + c] * (double)from[i + c];
		divisors(call->op, square, depth, divide);
		for (c = 0; c < depth; c++)
			to[i + c] = npu_activate(call->op->activation,
						 (float)((double)from[i + c] / divide[c]));
	}
	free(square);
	return 0;
}
