// SPDX-License-Identifier: MIT
/*
 * Operators that move elements without looking at them.
 */
#include <math.h>

#include "fixed.h"

static u32 element_bytes(const struct npu_cpu_view *view)
{
	return npu_dtype_bytes[view->tensor->dtype];
}

int npu_cpu_reshape(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);

	memcpy(out.data, in.data, min(in.tensor->bytes, out.tensor->bytes));
	return 0;
}

/* Bytes from one index of dimension @d to the next. */
static void dimension_steps(const struct npu_tensor *tensor, s64 step[NPU_MAX_RANK])
{
	s64 bytes = npu_dtype_bytes[tensor->dtype];
	u32 d;

	for (d = tensor->rank; d--;) {
		step[d] = bytes;
		bytes *= tensor->dim[d];
	}
}

/*
 * Copies a box of elements: @rank dimensions of @dim, with a step in bytes for
 * each of them on either side.  Runs of contiguous elements go by memcpy().
 */
static void copy_box(u8 *to, const s64 *to_step, const u8 *from, const s64 *from_step, u32 rank,
		     const u32 *dim, size_t bytes)
{
	u32 i;

	if (rank == 0) {
		memcpy(to, from, bytes);
		return;
	}
	if (rank == 1 && to_step[0] == (s64)bytes && from_step[0] == (s64)bytes) {
		memcpy(to, from, dim[0] * bytes);
		return;
	}
	for (i = 0; i < dim[0]; i++)
		copy_box(to + i * to_step[0], to_step + 1, from + i * from_step[0], from_step + 1,
			 rank - 1, dim + 1, bytes);
}

int npu_cpu_transpose(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	s64 in_step[NPU_MAX_RANK], from_step[NPU_MAX_RANK], to_step[NPU_MAX_RANK];
	u32 d;

	dimension_steps(in.tensor, in_step);
	dimension_steps(out.tensor, to_step);
	for (d = 0; d < out.tensor->rank; d++)
		from_step[d] = in_step[call->op->begin[d]];
	copy_box(out.data, to_step, in.data, from_step, out.tensor->rank, out.tensor->dim,
		 element_bytes(&in));
	return 0;
}

static void fill(const struct npu_cpu_view *out, const struct npu_cpu_view *value)
{
	u32 bytes = element_bytes(out);
	size_t i;

	if (value->data) {
		for (i = 0; i < out->elements; i++)
			memcpy((u8 *)out->data + i * bytes, value->data, bytes);
		return;
	}
	memset(out->data, bytes == 1 ? (u8)out->zero : 0, out->tensor->bytes);
}

int npu_cpu_pad(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), value = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	s64 in_step[NPU_MAX_RANK], to_step[NPU_MAX_RANK], first = 0;
	u32 d;

	fill(&out, &value);
	dimension_steps(in.tensor, in_step);
	dimension_steps(out.tensor, to_step);
	for (d = 0; d < in.tensor->rank; d++)
		first += call->op->begin[d] * to_step[d];
	copy_box((u8 *)out.data + first, to_step, in.data, in_step, in.tensor->rank, in.tensor->dim,
		 element_bytes(&in));
	return 0;
}

int npu_cpu_slice(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	s64 in_step[NPU_MAX_RANK], to_step[NPU_MAX_RANK], first = 0, bytes = element_bytes(&in);
	u32 count[NPU_MAX_RANK], d;

	/* The output may lack dimensions of one element: its steps follow from the counts. */
	dimension_steps(in.tensor, in_step);
	for (d = in.tensor->rank; d--;) {
		count[d] = (u32)call->op->end[d];
		to_step[d] = bytes;
		bytes *= count[d];
		first += call->op->begin[d] * in_step[d];
		in_step[d] *= call->op->step[d];
	}
	copy_box(out.data, to_step, (const u8 *)in.data + first, in_step, in.tensor->rank, count,
		 element_bytes(&in));
	return 0;
}

/* Elements before and behind a dimension. */
static void around_axis(const struct npu_tensor *tensor, u32 axis, size_t *outer, size_t *inner)
{
	u32 d;

	*outer = *inner = 1;
	for (d = 0; d < tensor->rank; d++)
		if (d < axis)
			*outer *= tensor->dim[d];
		else if (d > axis)
			*inner *= tensor->dim[d];
}

/*
 * UINT8 inputs of other scales are brought to the output's in single precision
 * (reference/concatenation.h, ConcatenationWithScaling); INT8 inputs share it.
 */
static void copy_scaled(const struct npu_cpu_call *call, const struct npu_cpu_view *out, size_t to,
			const struct npu_cpu_view *in, size_t from, size_t count)
{
	const struct npu_clamp clamp = npu_clamp_of(call->op, out);
	float scale = npu_single_mul(in->scale, npu_single_div(1.0f, out->scale));
	float bias = npu_single_mul((float)-in->zero, scale);
	size_t i;

	for (i = 0; i < count; i++) {
		float x = npu_single_mul((float)npu_load(in, from + i), scale);

		npu_store(out, to + i, npu_clamped((s64)roundf(x + bias) + out->zero, clamp));
	}
}

int npu_cpu_concat(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view out = npu_cpu_output(call);
	size_t outer, inner, o, to = 0, bytes = element_bytes(&out);
	u32 i, axis = (u32)call->op->axis;

	around_axis(out.tensor, axis, &outer, &inner);
	for (o = 0; o < outer; o++)
		for (i = 0; i < call->op->input_count; i++) {
			const struct npu_cpu_view in = npu_cpu_input(call, i);
			size_t count;

			if (!in.tensor)
				continue;
			count = in.tensor->dim[axis] * inner;
			if (in.tensor->dtype == NPU_U8 &&
			    (in.scale != out.scale || in.zero != out.zero))
				copy_scaled(call, &out, to, &in, o * count, count);
			else
				memcpy((u8 *)out.data + to * bytes,
				       (const u8 *)in.data + o * count * bytes, count * bytes);
			to += count;
		}
	return 0;
}
