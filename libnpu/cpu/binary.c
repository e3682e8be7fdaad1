// SPDX-License-Identifier: MIT
/*
 * Operators on two tensors, of which one may be stretched to the shape of the
 * other (dimensions aligned at the last).
 */
#include <math.h>

#include "fixed.h"

/* Walks over the output's elements and keeps the place in both operands. */
struct walk {
	u32 rank;
	u32 dim[NPU_MAX_RANK], at[NPU_MAX_RANK];
	size_t step[2][NPU_MAX_RANK]; /* 0 where that operand is stretched */
	size_t place[2];
};

static void start_operand(struct walk *walk, int which, const struct npu_tensor *tensor)
{
	size_t step = 1;
	u32 i;

	for (i = 0; i < tensor->rank && i < walk->rank; i++) {
		u32 dim = tensor->dim[tensor->rank - 1 - i];

		walk->step[which][walk->rank - 1 - i] = dim == 1 ? 0 : step;
		step *= dim;
	}
}

static struct walk start_walk(const struct npu_cpu_view *a, const struct npu_cpu_view *b,
			      const struct npu_cpu_view *out)
{
	struct walk walk = { .rank = out->tensor->rank };

	memcpy(walk.dim, out->tensor->dim, sizeof(walk.dim));
	start_operand(&walk, 0, a->tensor);
	start_operand(&walk, 1, b->tensor);
	return walk;
}

static void next(struct walk *walk)
{
	u32 d;

	for (d = walk->rank; d--;) {
		walk->place[0] += walk->step[0][d];
		walk->place[1] += walk->step[1][d];
		if (++walk->at[d] < walk->dim[d])
			return;
		walk->place[0] -= walk->step[0][d] * walk->dim[d];
		walk->place[1] -= walk->step[1][d] * walk->dim[d];
		walk->at[d] = 0;
	}
}

/* Operands are brought to units of twice the larger scale / 2^20 (kernels/add.cc). */
#define ADD_SHIFT 20

int npu_cpu_add(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view a = npu_cpu_input(call, 0), b = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	double twice = 2 * (double)fmaxf(a.scale, b.scale);
	struct npu_factor factor_a = npu_factor_of((double)a.scale / twice);
	struct npu_factor factor_b = npu_factor_of((double)b.scale / twice);
	struct npu_factor factor_out =
		npu_factor_of(twice / ((double)out.scale * (1 << ADD_SHIFT)));
	s32 sign = call->op->kind == NPU_OP_SUB ? -1 : 1;
	struct walk walk = start_walk(&a, &b, &out);
	size_t i;

	for (i = 0; i < out.elements; i++, next(&walk)) {
		s32 x = (npu_load(&a, walk.place[0]) - a.zero) * (1 << ADD_SHIFT);
		s32 y = (npu_load(&b, walk.place[1]) - b.zero) * (1 << ADD_SHIFT);
		s32 sum = npu_scale(x, factor_a) + sign * npu_scale(y, factor_b);

		npu_store(&out, i, npu_clamped((s64)npu_scale(sum, factor_out) + out.zero, clamp));
	}
	return 0;
}

int npu_cpu_mul(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view a = npu_cpu_input(call, 0), b = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	struct npu_factor factor =
		npu_factor_of(npu_single_div(npu_single_mul(a.scale, b.scale), out.scale));
	struct walk walk = start_walk(&a, &b, &out);
	size_t i;

	for (i = 0; i < out.elements; i++, next(&walk)) {
		s32 product = (npu_load(&a, walk.place[0]) - a.zero) *
			      (npu_load(&b, walk.place[1]) - b.zero);

		npu_store(&out, i, npu_clamped((s64)npu_scale(product, factor) + out.zero, clamp));
	}
	return 0;
}

int npu_cpu_min_max(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view a = npu_cpu_input(call, 0), b = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	bool most = call->op->kind == NPU_OP_MAXIMUM;
	struct walk walk = start_walk(&a, &b, &out);
	size_t i;

	for (i = 0; i < out.elements; i++, next(&walk)) {
		s32 x = npu_load(&a, walk.place[0]), y = npu_load(&b, walk.place[1]);

		npu_store(&out, i, most ? max(x, y) : min(x, y));
	}
	return 0;
}

int npu_cpu_prelu(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view a = npu_cpu_input(call, 0), slope = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	struct npu_factor positive = npu_factor_of(npu_single_div(a.scale, out.scale));
	struct npu_factor negative =
		npu_factor_of(npu_single_div(npu_single_mul(a.scale, slope.scale), out.scale));
	struct walk walk = start_walk(&a, &slope, &out);
	size_t i;

	for (i = 0; i < out.elements; i++, next(&walk)) {
		s32 x = npu_load(&a, walk.place[0]) - a.zero;
		s32 y = npu_load(&slope, walk.place[1]) - slope.zero;
		s32 scaled = x >= 0 ? npu_scale(x, positive) : npu_scale(x * y, negative);

		npu_store(&out, i, npu_clamped((s64)scaled + out.zero, clamp));
	}
	return 0;
}

/* ---- float32 ---- */

static float real_result(enum npu_op_kind kind, float x, float y)
{
	switch (kind) {
	case NPU_OP_ADD:
		return x + y;
	case NPU_OP_SUB:
		return x - y;
	case NPU_OP_MUL:
		return x * y;
	case NPU_OP_DIV:
		return x / y;
	case NPU_OP_MINIMUM:
		return min(x, y);
	case NPU_OP_MAXIMUM:
		return max(x, y);
	default: /* PReLU */
		return x >= 0 ? x : x * y;
	}
}

int npu_cpu_binary_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view a = npu_cpu_input(call, 0), b = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	const float *x = a.data, *y = b.data;
	struct walk walk = start_walk(&a, &b, &out);
	float *to = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++, next(&walk))
		to[i] = npu_activate(call->op->activation,
				     real_result(call->op->kind, x[walk.place[0]],
						 y[walk.place[1]]));
	return 0;
}
