// SPDX-License-Identifier: MIT
/*
 * Mean, sum, extremes and their index (reference/reduce.h, arg_min_max.h).
 */
#include <math.h>
#include <stdlib.h>

#include "fixed.h"

/* Walks over the input's elements and keeps the place in the output. */
struct walk {
	const struct npu_tensor *in;
	size_t step[NPU_MAX_RANK]; /* in the output; 0 for dimensions that are reduced */
	u32 at[NPU_MAX_RANK];
	size_t place;
};

static struct walk start_walk(const struct npu_tensor *in, u32 axes)
{
	struct walk walk = { .in = in };
	size_t step = 1;
	u32 d;

	for (d = in->rank; d--;) {
		if (axes >> d & 1)
			continue;
		walk.step[d] = step;
		step *= in->dim[d];
	}
	return walk;
}

static void next(struct walk *walk)
{
	u32 d;

	for (d = walk->in->rank; d--;) {
		walk->place += walk->step[d];
		if (++walk->at[d] < walk->in->dim[d])
			return;
		walk->place -= walk->step[d] * walk->in->dim[d];
		walk->at[d] = 0;
	}
}

/* The division by the count goes into the factor, as far as it has bits for it. */
static struct npu_factor mean_factor(const struct npu_cpu_view *in, const struct npu_cpu_view *out,
				     s64 count)
{
	struct npu_factor factor = npu_factor_of((double)in->scale / (double)out->scale);
	int shift = 63 - __builtin_clzll((u64)count);

	shift = max(min(min(shift, 32), 31 + factor.shift), 0);
	factor.multiplier = (s32)((((s64)factor.multiplier) << shift) / count);
	factor.shift -= shift;
	return factor;
}

/* And sums, which are not divided. */
int npu_cpu_mean(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	struct walk walk = start_walk(in.tensor, call->op->axes);
	s64 count = out.elements ? (s64)(in.elements / out.elements) : 0;
	struct npu_factor factor;
	u32 *sum;
	size_t i;

	if (!count)
		return 0;
	sum = calloc(out.elements, sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	factor = mean_factor(&in, &out, call->op->kind == NPU_OP_MEAN ? count : 1);
	for (i = 0; i < in.elements; i++, next(&walk))
		sum[walk.place] += (u32)npu_load(&in, i);
	for (i = 0; i < out.elements; i++) {
		s32 real = (s32)(sum[i] - (u32)(in.zero * count));

		npu_store(&out, i, npu_clamped((s64)npu_scale(real, factor) + out.zero, clamp));
	}
	free(sum);
	return 0;
}

int npu_cpu_reduce_extreme(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	struct walk walk = start_walk(in.tensor, call->op->axes);
	bool most = call->op->kind == NPU_OP_REDUCE_MAX;
	size_t i;

	for (i = 0; i < out.elements; i++)
		npu_store(&out, i, most ? clamp.low : clamp.high);
	for (i = 0; i < in.elements; i++, next(&walk)) {
		s32 x = npu_load(&in, i), so_far = npu_load(&out, walk.place);

		if (most ? x > so_far : x < so_far)
			npu_store(&out, walk.place, npu_clamped(x, clamp));
	}
	return 0;
}

static u32 index_of_extreme(const struct npu_cpu_view *in, size_t first, size_t step, u32 size,
			    bool most)
{
	u32 i, found = 0;

	for (i = 1; i < size; i++) {
		s32 x = npu_load(in, first + i * step), so_far = npu_load(in, first + found * step);

		if (most ? x > so_far : x < so_far)
			found = i;
	}
	return found;
}

static void store_index(const struct npu_cpu_view *out, size_t i, u32 index)
{
	if (out->tensor->dtype == NPU_I64)
		((s64 *)out->data)[i] = index;
	else
		npu_store(out, i, (s32)index);
}

/* Elements behind the dimension of the indices. */
static size_t inner_elements(const struct npu_tensor *tensor, u32 axis)
{
	size_t inner = 1;
	u32 d;

	for (d = axis + 1; d < tensor->rank; d++)
		inner *= tensor->dim[d];
	return inner;
}

int npu_cpu_arg_extreme(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 axis = (u32)call->op->axis, size = in.tensor->dim[axis];
	size_t i, inner = inner_elements(in.tensor, axis);

	for (i = 0; i < out.elements; i++)
		store_index(&out, i,
			    index_of_extreme(&in, i / inner * size * inner + i % inner, inner, size,
					     call->op->kind == NPU_OP_ARG_MAX));
	return 0;
}

/* ---- float32 ---- */

static float start_value(enum npu_op_kind kind)
{
	switch (kind) {
	case NPU_OP_REDUCE_MAX:
		return -INFINITY;
	case NPU_OP_REDUCE_MIN:
		return INFINITY;
	case NPU_OP_REDUCE_PROD:
		return 1;
	default:
		return 0;
	}
}

static float joined(enum npu_op_kind kind, float so_far, float x)
{
	switch (kind) {
	case NPU_OP_REDUCE_MAX:
		return max(so_far, x);
	case NPU_OP_REDUCE_MIN:
		return min(so_far, x);
	case NPU_OP_REDUCE_PROD:
		return so_far * x;
	default:
		return so_far + x;
	}
}

int npu_cpu_reduce_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const enum npu_op_kind kind = call->op->kind;
	struct walk walk = start_walk(in.tensor, call->op->axes);
	float share = kind == NPU_OP_MEAN ? (float)out.elements / (float)in.elements : 1;
	const float *from = in.data;
	float *to = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++)
		to[i] = start_value(kind);
	for (i = 0; i < in.elements; i++, next(&walk))
		to[walk.place] = joined(kind, to[walk.place], from[i]);
	for (i = 0; i < out.elements; i++)
		to[i] = npu_activate(call->op->activation, to[i] * share);
	return 0;
}

int npu_cpu_arg_extreme_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 axis = (u32)call->op->axis, size = in.tensor->dim[axis], j, found;
	const bool most = call->op->kind == NPU_OP_ARG_MAX;
	size_t i, inner = inner_elements(in.tensor, axis);

	for (i = 0; i < out.elements; i++) {
		const float *first = (const float *)in.data + i / inner * size * inner + i % inner;

		for (j = 1, found = 0; j < size; j++)
			if (most ? first[j * inner] > first[found * inner]
				 : first[j * inner] < first[found * inner])
				found = j;
		store_index(&out, i, found);
	}
	return 0;
}
