// SPDX-License-Identifier: MIT
/* Operators that move elements without looking at them. */
#include "kernels.h"

#include <math.h>

static u32 element_bytes(const struct ref_view *view)
{
	return npu_dtype_bytes[view->tensor->dtype];
}

static void copy(const struct ref_view *out, size_t to, const struct ref_view *in, size_t from,
		 size_t count)
{
	u32 bytes = element_bytes(out);

	memcpy((u8 *)out->data + to * bytes, (const u8 *)in->data + from * bytes, count * bytes);
}

/* Splits an element's index into coordinates. */
static void coordinates(size_t i, u32 rank, const u32 *dim, u32 *at)
{
	while (rank--) {
		at[rank] = i % dim[rank];
		i /= dim[rank];
	}
}

static size_t index_of(const struct npu_tensor *tensor, const u32 *at)
{
	size_t index = 0;
	u32 i;

	for (i = 0; i < tensor->rank; i++)
		index = index * tensor->dim[i] + at[i];
	return index;
}

int ref_reshape(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);

	copy(&out, 0, &in, 0, npu_tensor_elements(out.tensor));
	return 0;
}

int ref_transpose(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	size_t i, elements = npu_tensor_elements(out.tensor);
	u32 at[NPU_MAX_RANK], from[NPU_MAX_RANK], d;

	for (i = 0; i < elements; i++) {
		coordinates(i, out.tensor->rank, out.tensor->dim, at);
		for (d = 0; d < out.tensor->rank; d++)
			from[run->op->begin[d]] = at[d];
		copy(&out, i, &in, index_of(in.tensor, from), 1);
	}
	return 0;
}

static void fill(const struct ref_run *run, const struct ref_view *out)
{
	struct ref_view value = ref_input(run, 1);
	size_t i, elements = npu_tensor_elements(out->tensor);

	memset(out->data, 0, out->tensor->bytes);
	for (i = 0; i < elements; i++)
		if (value.data)
			copy(out, i, &value, 0, 1);
		else if (element_bytes(out) == 1)
			((u8 *)out->data)[i] = out->zero;
}

int ref_pad(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	size_t i, elements = npu_tensor_elements(in.tensor);
	u32 at[NPU_MAX_RANK], d;

	fill(run, &out);
	for (i = 0; i < elements; i++) {
		coordinates(i, in.tensor->rank, in.tensor->dim, at);
		for (d = 0; d < in.tensor->rank; d++)
			at[d] += run->op->begin[d];
		copy(&out, index_of(out.tensor, at), &in, i, 1);
	}
	return 0;
}

int ref_slice(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	size_t i, elements = npu_tensor_elements(out.tensor);
	u32 at[NPU_MAX_RANK], taken[NPU_MAX_RANK], d;

	for (d = 0; d < in.tensor->rank; d++)
		taken[d] = run->op->end[d];
	for (i = 0; i < elements; i++) {
		coordinates(i, in.tensor->rank, taken, at);
		for (d = 0; d < in.tensor->rank; d++)
			at[d] = run->op->begin[d] + (s32)at[d] * run->op->step[d];
		copy(&out, i, &in, index_of(in.tensor, at), 1);
	}
	return 0;
}

/* The older UINT8 concatenation brings its inputs to the output's scale, in single precision. */
static void copy_rescaled(const struct ref_run *run, const struct ref_view *out, size_t to,
			  const struct ref_view *in, size_t from, size_t count)
{
	volatile float inverse = 1.0f / out->scale;
	volatile float scale = in->scale * inverse;
	volatile float bias = (float)-in->zero * scale;
	size_t i;

	for (i = 0; i < count; i++) {
		volatile float product = (float)ref_load(in, from + i) * scale;

		ref_store(run, out, ref_range(run), to + i,
			  (s64)ref_round(product + bias) + out->zero);
	}
}

int ref_concat(const struct ref_run *run)
{
	struct ref_view out = ref_output(run);
	size_t outer = 1, inner = 1, o, to = 0;
	u32 d, i;

	for (d = 0; d < out.tensor->rank; d++)
		if ((s32)d < run->op->axis)
			outer *= out.tensor->dim[d];
		else if ((s32)d > run->op->axis)
			inner *= out.tensor->dim[d];
	for (o = 0; o < outer; o++)
		for (i = 0; i < run->op->input_count; i++) {
			struct ref_view in = ref_input(run, i);
			size_t count = in.tensor->dim[run->op->axis] * inner;

			if (in.tensor->dtype == NPU_U8 &&
			    (in.zero != out.zero || in.scale != out.scale))
				copy_rescaled(run, &out, to, &in, o * count, count);
			else
				copy(&out, to, &in, o * count, count);
			to += count;
		}
	return 0;
}

int ref_gather(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), indices = ref_input(run, 1), out = ref_output(run);
	const u32 size = in.tensor->dim[run->op->axis];
	size_t outer = 1, inner = 1, o, i, count = npu_tensor_elements(indices.tensor);
	u32 d;

	for (d = 0; d < in.tensor->rank; d++)
		if ((s32)d < run->op->axis)
			outer *= in.tensor->dim[d];
		else if ((s32)d > run->op->axis)
			inner *= in.tensor->dim[d];
	for (o = 0; o < outer; o++)
		for (i = 0; i < count; i++) {
			s64 index = indices.tensor->dtype == NPU_I64
					    ? ((const s64 *)indices.data)[i]
					    : ref_load(&indices, i);

			if (index < -(s64)size || index >= (s64)size)
				return npu_diag_set(run->diag, -EINVAL,
						    "%s: gather of index %lld of %u",
						    run->graph->file, (long long)index, size);
			index += index < 0 ? size : 0;
			copy(&out, (o * count + i) * inner, &in, (o * size + index) * inner, inner);
		}
	return 0;
}

/* ---- gathers by coordinates ---- */

/* An index of a dimension, which counts from the end where it is negative. */
static bool place(s64 index, u32 size, u32 *at)
{
	index += index < 0 ? size : 0;
	*at = (u32)index;
	return index >= 0 && index < size;
}

static int out_of_range(const struct ref_run *run)
{
	return npu_diag_set(run->diag, -EINVAL, "%s: an index is out of range", run->graph->file);
}

static s64 index_at(const struct ref_view *indices, size_t i)
{
	return indices->tensor->dtype == NPU_I64 ? ((const s64 *)indices->data)[i]
						 : ref_load(indices, i);
}

int ref_gather_elements(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), indices = ref_input(run, 1), out = ref_output(run);
	size_t i, count = npu_tensor_elements(out.tensor);
	u32 axis = (u32)run->op->axis, at[NPU_MAX_RANK];

	for (i = 0; i < count; i++) {
		coordinates(i, out.tensor->rank, out.tensor->dim, at);
		if (!place(index_at(&indices, i), in.tensor->dim[axis], &at[axis]))
			return out_of_range(run);
		copy(&out, i, &in, index_of(in.tensor, at), 1);
	}
	return 0;
}

int ref_gather_nd(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), indices = ref_input(run, 1), out = ref_output(run);
	u32 first = (u32)run->op->axis, depth = indices.tensor->dim[indices.tensor->rank - 1], d;
	u32 rest = in.tensor->rank - first - depth, at[NPU_MAX_RANK], row[NPU_MAX_RANK];
	size_t i, count = npu_tensor_elements(out.tensor), length = 1;

	for (d = 0; d < rest; d++)
		length *= in.tensor->dim[first + depth + d];
	for (i = 0; i < count; i++) {
		/* Shared dimensions are the row's; those behind the indices are the output's last ones. */
		coordinates(i / length * depth, indices.tensor->rank, indices.tensor->dim, row);
		coordinates(i % length, rest, in.tensor->dim + first + depth, at + first + depth);
		memcpy(at, row, first * sizeof(*at));
		for (d = 0; d < depth; d++)
			if (!place(index_at(&indices, i / length * depth + d),
				   in.tensor->dim[first + d], &at[first + d]))
				return out_of_range(run);
		copy(&out, i, &in, index_of(in.tensor, at), 1);
	}
	return 0;
}

/* ---- scatters ---- */

int ref_scatter_elements(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), indices = ref_input(run, 1);
	struct ref_view updates = ref_input(run, 2), out = ref_output(run);
	size_t i, count = npu_tensor_elements(indices.tensor);
	u32 axis = (u32)run->op->axis, at[NPU_MAX_RANK];

	copy(&out, 0, &in, 0, npu_tensor_elements(in.tensor));
	for (i = 0; i < count; i++) {
		coordinates(i, indices.tensor->rank, indices.tensor->dim, at);
		if (!place(index_at(&indices, i), in.tensor->dim[axis], &at[axis]))
			return out_of_range(run);
		copy(&out, index_of(out.tensor, at), &updates, i, 1);
	}
	return 0;
}

int ref_scatter_nd(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), indices = ref_input(run, 1);
	struct ref_view updates = ref_input(run, 2), out = ref_output(run);
	u32 rows = indices.tensor->rank - 1, depth = indices.tensor->dim[rows], d;
	u32 from[2 * NPU_MAX_RANK], at[2 * NPU_MAX_RANK];
	size_t i, row, count = npu_tensor_elements(updates.tensor);

	copy(&out, 0, &in, 0, npu_tensor_elements(in.tensor));
	for (i = 0; i < count; i++) {
		coordinates(i, updates.tensor->rank, updates.tensor->dim, from);
		for (row = 0, d = 0; d < rows; d++)
			row = row * indices.tensor->dim[d] + from[d];
		for (d = 0; d < depth; d++)
			if (!place(index_at(&indices, row * depth + d), in.tensor->dim[d], &at[d]))
				return out_of_range(run);
		for (; d < in.tensor->rank; d++)
			at[d] = from[rows + d - depth];
		copy(&out, index_of(out.tensor, at), &updates, i, 1);
	}
	return 0;
}
