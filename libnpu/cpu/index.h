/* SPDX-License-Identifier: MIT */
/* Places that tensors of indices say: for gathers and scatters. */
#ifndef LIBNPU_CPU_INDEX_H
#define LIBNPU_CPU_INDEX_H

#include "fixed.h"

/* Index @i, of a dimension of @size, from whose end negative ones count; false: out of range. */
static inline bool npu_read_index(const struct npu_cpu_view *indices, size_t i, u32 size,
				  size_t *index)
{
	s64 at = indices->tensor->dtype == NPU_I64 ? ((const s64 *)indices->data)[i]
						   : npu_load(indices, i);

	if (at < -(s64)size || at >= (s64)size)
		return false;
	*index = (size_t)(at < 0 ? at + size : at);
	return true;
}

/* Elements of dimensions [@from, @to). */
static inline size_t npu_elements_of(const struct npu_tensor *tensor, u32 from, u32 to)
{
	size_t elements = 1;
	u32 d;

	for (d = from; d < to; d++)
		elements *= tensor->dim[d];
	return elements;
}

/* Where the element at place @i of the indices lies in a tensor of as many dimensions, but for the axis. */
static inline size_t npu_place_of(const struct npu_tensor *tensor, const struct npu_tensor *indices,
				  u32 axis, size_t i)
{
	size_t at = 0, step = 1;
	u32 d;

	for (d = tensor->rank; d--;) {
		at += d == axis ? 0 : i % indices->dim[d] * step;
		i /= indices->dim[d];
		step *= tensor->dim[d];
	}
	return at;
}

#endif /* LIBNPU_CPU_INDEX_H */
