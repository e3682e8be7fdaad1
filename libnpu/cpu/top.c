// SPDX-License-Identifier: MIT
/* The greatest or least elements along a dimension, in order: of equal ones that with the lower index first. */
#include <stdlib.h>

#include "fixed.h"

/* An element that takes part, negated where the least are wanted. */
struct candidate {
	float value;
	u32 index;
};

static int compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static float load(const struct npu_cpu_view *in, size_t i)
{
	return in->tensor->dtype == NPU_F32 ? ((const float *)in->data)[i] : (float)npu_load(in, i);
}

static void store(const struct npu_cpu_view *out, size_t i, u32 index)
{
	if (out->tensor->dtype == NPU_I64)
		((s64 *)out->data)[i] = index;
	else
		((s32 *)out->data)[i] = (s32)index;
}

int npu_cpu_top(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 axis = (u32)call->op->axis, size = in.tensor->dim[axis], take = out.tensor->dim[axis];
	float sign = call->op->kind == NPU_OP_TOP_MOST ? 1.0f : -1.0f;
	struct candidate *candidates = calloc(size, sizeof(*candidates));
	size_t inner = 1, line;
	u32 d, i;

	if (!candidates)
		return -ENOMEM;
	for (d = axis + 1; d < in.tensor->rank; d++)
		inner *= in.tensor->dim[d];
	for (line = 0; line < in.elements / size; line++) {
		size_t from = line / inner * size * inner + line % inner;
		size_t to = line / inner * take * inner + line % inner;

		for (i = 0; i < size; i++)
			candidates[i] = (struct candidate){ sign * load(&in, from + i * inner), i };
		qsort(candidates, size, sizeof(*candidates), compare);
		for (i = 0; i < take; i++)
			store(&out, to + i * inner, candidates[i].index);
	}
	free(candidates);
	return 0;
}
