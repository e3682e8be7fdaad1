// SPDX-License-Identifier: MIT
/* Elements that are picked by indices, which count from the end where they are negative. */
#include "index.h"

int npu_cpu_gather(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), indices = npu_cpu_input(call, 1);
	const struct npu_tensor *tensor = in.tensor;
	u32 axis = (u32)call->op->axis, size = tensor->dim[axis];
	size_t run =
		npu_elements_of(tensor, axis + 1, tensor->rank) * npu_dtype_bytes[tensor->dtype];
	size_t outer = npu_elements_of(tensor, 0, axis), o, i, index;
	u8 *to = npu_cpu_output(call).data;

	for (o = 0; o < outer; o++)
		for (i = 0; i < indices.elements; i++, to += run) {
			if (!npu_read_index(&indices, i, size, &index))
				return -EINVAL;
			memcpy(to, (const u8 *)in.data + (o * size + index) * run, run);
		}
	return 0;
}

int npu_cpu_gather_elements(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), indices = npu_cpu_input(call, 1);
	u32 axis = (u32)call->op->axis, bytes = npu_dtype_bytes[in.tensor->dtype];
	size_t step = npu_elements_of(in.tensor, axis + 1, in.tensor->rank), i, index;
	u8 *to = npu_cpu_output(call).data;

	for (i = 0; i < indices.elements; i++, to += bytes) {
		if (!npu_read_index(&indices, i, in.tensor->dim[axis], &index))
			return -EINVAL;
		index = npu_place_of(in.tensor, indices.tensor, axis, i) + index * step;
		memcpy(to, (const u8 *)in.data + index * bytes, bytes);
	}
	return 0;
}

int npu_cpu_gather_nd(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), indices = npu_cpu_input(call, 1);
	const struct npu_tensor *tensor = in.tensor;
	u32 first = (u32)call->op->axis, depth = indices.tensor->dim[indices.tensor->rank - 1], d;
	size_t rows = indices.elements / depth, shared = npu_elements_of(tensor, 0, first), i;
	size_t run = npu_elements_of(tensor, first + depth, tensor->rank) *
		     npu_dtype_bytes[tensor->dtype];
	u8 *to = npu_cpu_output(call).data;

	for (i = 0; i < rows; i++, to += run) {
		size_t at = i / (rows / shared), index;

		for (d = 0; d < depth; d++) {
			if (!npu_read_index(&indices, i * depth + d, tensor->dim[first + d],
					    &index))
				return -EINVAL;
			at = at * tensor->dim[first + d] + index;
		}
		memcpy(to, (const u8 *)in.data + at * run, run);
	}
	return 0;
}
