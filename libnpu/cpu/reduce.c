// SPDX-License-Identifier: MIT
/*
 * Mean, maximum and the index of the maximum (reference/reduce.h,
 * arg_min_max.h).
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
	factor = mean_factor(&in, &out, count);
	for (i = 0; i < in.elements; i++, next(&walk))
		sum[walk.place] += (u32)npu_load(&in, i);
	for (i = 0; i < out.elements; i++) {
		s32 real = (s32)(sum[i] - (u32)(in.zero * count));

		npu_store(&out, i, npu_clamped((s64)npu_scale(real, factor) + out.zero, clamp));
	}
	free(sum);
	return 0;
}

int npu_cpu_reduce_max(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	struct walk walk = start_walk(in.tensor, call->op->axes);
	size_t i;

	for (i = 0; i < out.elements; i++)
		npu_store(&out, i, clamp.low);
	for (i = 0; i < in.elements; i++, next(&walk))
		if (npu_load(&in, i) > npu_load(&out, walk.place))
			npu_store(&out, walk.place, npu_load(&in, i));
	return 0;
}

static u32 index_of_max(const struct npu_cpu_view *in, size_t first, size_t step, u32 size)
{
	u32 i, most = 0;

	for (i = 1; i < size; i++)
		if (npu_load(in, first + i * step) > npu_load(in, first + most * step))
			most = i;
	return most;
}

int npu_cpu_arg_max(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 axis = (u32)call->op->axis, size = in.tensor->dim[axis], d, most;
	size_t i, inner = 1;

	for (d = axis + 1; d < in.tensor->rank; d++)
		inner *= in.tensor->dim[d];
	for (i = 0; i < out.elements; i++) {
		most = index_of_max(&in, i / inner * size * inner + i % inner, inner, size);
		if (out.tensor->dtype == NPU_I64)
			((s64 *)out.data)[i] = most;
		else
			npu_store(&out, i, (s32)most);
	}
	return 0;
}

/* ---- float32 ---- */

int npu_cpu_mean_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	struct walk walk = start_walk(in.tensor, call->op->axes);
	const float *from = in.data;
	float *to = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++)
		to[i] = 0;
	for (i = 0; i < in.elements; i++, next(&walk))
		to[walk.place] += from[i];
	for (i = 0; i < out.elements; i++)
		to[i] = npu_activate(call->op->activation,
				     to[i] * (float)out.elements / (float)in.elements);
	return 0;
}

int npu_cpu_reduce_max_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	struct walk walk = start_walk(in.tensor, call->op->axes);
	const float *from = in.data;
	float *to = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++)
		to[i] = -INFINITY;
	for (i = 0; i < in.elements; i++, next(&walk))
		to[walk.place] = max(to[walk.place], from[i]);
	for (i = 0; i < out.elements; i++)
		to[i] = npu_activate(call->op->activation, to[i]);
	return 0;
}

int npu_cpu_arg_max_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 axis = (u32)call->op->axis, size = in.tensor->dim[axis], d, j, most;
	const float *from = in.data;
	size_t i, inner = 1;

	for (d = axis + 1; d < in.tensor->rank; d++)
		inner *= in.tensor->dim[d];
	for (i = 0; i < out.elements; i++) {
		const float *first = from + i / inner * size * inner + i % inner;

		for (j = 1, most = 0; j < size; j++)
			if (first[j * inner] > first[most * inner])
				most = j;
		if (out.tensor->dtype == NPU_I64)
			((s64 *)out.data)[i] = most;
		else
			npu_store(&out, i, (s32)most);
	}
	return 0;
}
