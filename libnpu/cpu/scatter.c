// SPDX-License-Identifier: MIT
/*
 * Elements that are put to places which indices say; these count from the end where they are negative.  Of
 * several for one place the last one stays.
 */
#include "index.h"

static void copy_input(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);

	memcpy(out.data, in.data, in.elements * npu_dtype_bytes[in.tensor->dtype]);
}

int npu_cpu_scatter_elements(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view indices = npu_cpu_input(call, 1),
				  updates = npu_cpu_input(call, 2);
	const struct npu_cpu_view out = npu_cpu_output(call);
	u32 axis = (u32)call->op->axis, bytes = npu_dtype_bytes[out.tensor->dtype];
	size_t step = npu_elements_of(out.tensor, axis + 1, out.tensor->rank), i, index;

	copy_input(call);
	for (i = 0; i < indices.elements; i++) {
		if (!npu_read_index(&indices, i, out.tensor->dim[axis], &index))
			return -EINVAL;
		index = npu_place_of(out.tensor, indices.tensor, axis, i) + index * step;
		memcpy((u8 *)out.data + index * bytes, (const u8 *)updates.data + i * bytes, bytes);
	}
	return 0;
}

int npu_cpu_scatter_nd(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view indices = npu_cpu_input(call, 1),
				  updates = npu_cpu_input(call, 2);
	const struct npu_cpu_view out = npu_cpu_output(call);
	u32 depth = indices.tensor->dim[indices.tensor->rank - 1], d;
	size_t run = npu_elements_of(out.tensor, depth, out.tensor->rank) *
		     npu_dtype_bytes[out.tensor->dtype];
	size_t rows = indices.elements / depth, i;

	copy_input(call);
	for (i = 0; i < rows; i++) {
		size_t at = 0, index;

		for (d = 0; d < depth; d++) {
			if (!npu_read_index(&indices, i * depth + d, out.tensor->dim[d], &index))
				return -EINVAL;
			at = at * out.tensor->dim[d] + index;
		}
		memcpy((u8 *)out.data + at * run, (const u8 *)updates.data + i * run, run);
	}
	return 0;
}
