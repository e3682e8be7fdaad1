// SPDX-License-Identifier: MIT
/* Operators of TensorFlow Lite that move elements. */
#include "rearrange.h"
#include "tflite.h"

/* Areas of blocks stay in 32 bits. */
#define MAX_BLOCK 4096

int tflite_read_concat(struct tflite *t)
{
	s32 axis = fb_s32(&t->options, 0, 0);
	int error = tflite_axis(t, &axis, tflite_tensor(t, t->output[0])->rank);
	struct npu_op *op;

	if (!error && fb_s8(&t->options, 1, 0))
		error = tflite_fail(t, -ENOTSUP, "fused activation is not supported");
	if (error)
		return error;
	op = tflite_add(t, NPU_OP_CONCAT, t->input_count, t->input, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

/* PACK puts its inputs beside each other on a new dimension: each is reshaped, then concatenated. */
int tflite_read_pack(struct tflite *t)
{
	struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	s32 axis = fb_s32(&t->options, 1, 0);
	int error = tflite_axis(t, &axis, out.rank);
	u32 dim[NPU_MAX_RANK], parts[NPU_MAX_INPUTS], i;
	struct npu_op *op;

	if (error)
		return error;
	memcpy(dim, out.dim, sizeof(dim));
	dim[axis] = 1;
	for (i = 0; !error && i < t->input_count; i++) {
		if (t->input[i] == NPU_NONE)
			return tflite_fail(t, -EINVAL, "input %u is missing", i);
		error = tflite_tensor_like(t, t->input[i], tflite_tensor(t, t->input[i])->name,
					   out.rank, dim, &parts[i]);
		if (!error)
			tflite_add(t, NPU_OP_RESHAPE, 1, &t->input[i], parts[i], &error);
	}
	if (error)
		return error;
	op = tflite_add(t, NPU_OP_CONCAT, t->input_count, parts, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

int tflite_read_pad(struct tflite *t)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	const u32 inputs[] = { t->input[0], t->input[2] };
	s32 padding[2 * NPU_MAX_RANK] = { 0 };
	int error = tflite_constants(t, 1, padding, 2 * in->rank);
	struct npu_op *op;
	u32 i;

	if (error)
		return error;
	op = tflite_add(t, NPU_OP_PAD, inputs[1] == NPU_NONE ? 1 : 2, inputs, t->output[0], &error);
	for (i = 0; op && i < in->rank; i++) {
		op->begin[i] = padding[2 * i];
		op->end[i] = padding[2 * i + 1];
	}
	return error;
}

int tflite_read_transpose(struct tflite *t)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	s32 permutation[NPU_MAX_RANK] = { 0 };
	int error = tflite_constants(t, 1, permutation, in->rank);
	struct npu_op *op;
	u32 i;

	for (i = 0; !error && i < in->rank; i++)
		error = tflite_axis(t, &permutation[i], in->rank);
	if (error)
		return error;
	op = tflite_add(t, NPU_OP_TRANSPOSE, 1, t->input, t->output[0], &error);
	if (op)
		memcpy(op->begin, permutation, sizeof(permutation));
	return error;
}

int tflite_read_gather(struct tflite *t)
{
	s32 axis = fb_s32(&t->options, 0, 0);
	int error = tflite_axis(t, &axis, tflite_tensor(t, t->input[0])->rank);
	struct npu_op *op;

	if (!error && fb_s32(&t->options, 1, 0))
		error = tflite_fail(t, -ENOTSUP, "batch dimensions are not supported");
	if (error)
		return error;
	op = tflite_add(t, NPU_OP_GATHER, 2, t->input, t->output[0], &error);
	if (op)
		op->axis = axis;
	return error;
}

int tflite_read_gather_nd(struct tflite *t)
{
	int error = 0;

	tflite_add(t, NPU_OP_GATHER_ND, 2, t->input, t->output[0], &error);
	return error;
}

/* A slice that takes all of its input so far. */
static struct npu_op *add_slice(struct tflite *t, u32 in, u32 out, int *error)
{
	struct npu_op *op = tflite_add(t, NPU_OP_SLICE, 1, &in, out, error);
	u32 i;

	for (i = 0; op && i < tflite_tensor(t, in)->rank; i++) {
		op->end[i] = tflite_tensor(t, in)->dim[i];
		op->step[i] = 1;
	}
	return op;
}

int tflite_read_slice(struct tflite *t)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	s32 begin[NPU_MAX_RANK] = { 0 }, size[NPU_MAX_RANK] = { 0 };
	struct npu_op *op;
	u32 i;
	int error = tflite_constants(t, 1, begin, in->rank);

	if (!error)
		error = tflite_constants(t, 2, size, in->rank);
	if (error)
		return error;
	op = add_slice(t, t->input[0], t->output[0], &error);
	for (i = 0; op && i < in->rank; i++) {
		if (begin[i] < 0 || begin[i] >= (s32)in->dim[i])
			return tflite_fail(t, -EINVAL, "begin %d in dimension %u of size %u",
					   begin[i], i, in->dim[i]);
		op->begin[i] = begin[i];
		op->end[i] = size[i] == -1 ? (s32)in->dim[i] - begin[i] : size[i];
	}
	return error;
}

struct strides {
	s32 begin, end, step;
	bool from_start, to_end, single; /* bits of begin_mask, end_mask, shrink_axis_mask */
};

/* The indices that Python's begin:end:step takes of a dimension. */
static int resolve_strides(struct tflite *t, const struct strides *s, s32 size, s32 *begin,
			   s32 *count)
{
	const s32 least = s->step > 0 ? 0 : -1, most = s->step > 0 ? size : size - 1;
	s64 from = s->begin < 0 ? (s64)s->begin + size : s->begin;
	s64 to = s->end < 0 ? (s64)s->end + size : s->end;
	s64 taken;

	if (!s->step)
		return tflite_fail(t, -EINVAL, "stride 0");
	if (s->from_start)
		from = s->step > 0 ? 0 : size - 1;
	if (s->to_end)
		to = s->step > 0 ? size : -1;
	from = max(min(from, (s64)most), (s64)least);
	to = max(min(to, (s64)most), (s64)least);
	taken = s->step > 0 ? DIV_ROUND_UP(to - from, (s64)s->step)
			    : DIV_ROUND_UP(from - to, -(s64)s->step);
	if (s->single)
		taken = 1;
	if (taken < 1)
		return tflite_fail(t, -ENOTSUP, "takes nothing of a dimension of size %d", size);
	*begin = from;
	*count = taken;
	return 0;
}

enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, OFFSET, MASKS };

struct strided_slice {
	s32 values[3][NPU_MAX_RANK]; /* begin, end, stride */
	u32 count; /* of each */
	u32 mask[MASKS];
};

static int read_strides(struct tflite *t, struct strided_slice *slice)
{
	u32 i, count[3] = { 0 };
	int error = 0;

	for (i = 0; i < MASKS; i++)
		slice->mask[i] = i == OFFSET ? fb_u8(&t->options, i, 0)
					     : (u32)fb_s32(&t->options, i, 0);
	if (slice->mask[OFFSET])
		return tflite_fail(t, -ENOTSUP, "offsets are not supported");
	for (i = 0; !error && i < 3; i++)
		error = tflite_constant(t, i + 1, slice->values[i], NPU_MAX_RANK, &count[i]);
	if (!error && (count[1] != count[0] || count[2] != count[0]))
		error = tflite_fail(t, -EINVAL, "begin, end and strides differ in length");
	slice->count = count[0];
	return error;
}

/* How many dimensions of the input the ellipsis stands for. */
static u32 hidden_dimensions(const struct strided_slice *slice, u32 rank)
{
	u32 i, named = 0;

	for (i = 0; i < slice->count; i++)
		named += !((slice->mask[ELLIPSIS_MASK] | slice->mask[NEW_AXIS_MASK]) >> i & 1);
	return rank > named ? rank - named : 0;
}

static int fill_slice(struct tflite *t, const struct strided_slice *slice, struct npu_op *op)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	u32 i, d = 0;
	int error = 0;

	for (i = 0; !error && i < slice->count; i++) {
		const struct strides s = {
			.begin = slice->values[0][i],
			.end = slice->values[1][i],
			.step = slice->values[2][i],
			.from_start = slice->mask[BEGIN_MASK] >> i & 1,
			.to_end = slice->mask[END_MASK] >> i & 1,
			.single = slice->mask[SHRINK_MASK] >> i & 1,
		};

		if (slice->mask[ELLIPSIS_MASK] >> i & 1) {
			d += hidden_dimensions(slice, in->rank);
			continue;
		}
		if (slice->mask[NEW_AXIS_MASK] >> i & 1)
			continue;
		if (d >= in->rank)
			return tflite_fail(t, -EINVAL, "more ranges than %u dimensions", in->rank);
		op->step[d] = s.single ? 1 : s.step;
		error = resolve_strides(t, &s, in->dim[d], &op->begin[d], &op->end[d]);
		d++;
	}
	return error;
}

/* New dimensions of 1 are a reshape behind the slice. */
int tflite_read_strided_slice(struct tflite *t)
{
	struct strided_slice slice = { 0 };
	u32 dim[NPU_MAX_RANK], rank, taken = t->output[0], i;
	struct npu_op *op;
	int error = read_strides(t, &slice);

	if (error)
		return error;
	if (slice.mask[ELLIPSIS_MASK] & (slice.mask[ELLIPSIS_MASK] - 1))
		return tflite_fail(t, -EINVAL, "more than one ellipsis");
	op = add_slice(t, t->input[0], t->output[0], &error);
	if (op)
		error = fill_slice(t, &slice, op);
	if (error || !slice.mask[NEW_AXIS_MASK])
		return error;
	rank = tflite_tensor(t, t->input[0])->rank;
	for (i = 0; i < rank; i++)
		dim[i] = (u32)op->end[i];
	error = tflite_tensor_like(t, t->output[0], op->name, rank, dim, &taken);
	op->output[0] = taken;
	if (!error)
		tflite_add(t, NPU_OP_RESHAPE, 1, &taken, t->output[0], &error);
	return error;
}

/* Consecutive pieces of @in along @axis, one for each output. */
static int add_pieces(struct tflite *t, u32 in, s32 axis, bool unpack)
{
	s64 at = 0;
	u32 i;
	int error = 0;

	for (i = 0; !error && i < t->output_count; i++) {
		const struct npu_tensor *out = tflite_tensor(t, t->output[i]);
		u32 size = unpack ? 1 : axis < (s32)out->rank ? out->dim[axis] : 0;
		struct npu_op *op = add_slice(t, in, t->output[i], &error);

		if (!op)
			return error;
		op->begin[axis] = at;
		op->end[axis] = size;
		at += size;
		if (at > tflite_tensor(t, in)->dim[axis])
			error = tflite_fail(t, -EINVAL, "outputs are larger than the input");
	}
	return error;
}

int tflite_read_split(struct tflite *t)
{
	s32 axis;
	int error = tflite_constants(t, 0, &axis, 1);

	if (!error)
		error = tflite_axis(t, &axis, tflite_tensor(t, t->input[1])->rank);
	return error ? error : add_pieces(t, t->input[1], axis, false);
}

int tflite_read_split_v(struct tflite *t)
{
	s32 axis;
	int error = tflite_constants(t, 2, &axis, 1);

	if (!error)
		error = tflite_axis(t, &axis, tflite_tensor(t, t->input[0])->rank);
	return error ? error : add_pieces(t, t->input[0], axis, false);
}

int tflite_read_unpack(struct tflite *t)
{
	s32 axis = fb_s32(&t->options, 1, 0);
	int error = tflite_axis(t, &axis, tflite_tensor(t, t->input[0])->rank);

	return error ? error : add_pieces(t, t->input[0], axis, true);
}

/* Shapes are known: the operator becomes a constant. */
int tflite_read_shape(struct tflite *t)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	bool wide = out->dtype == NPU_I64;
	void *data;
	u32 i;

	if ((out->dtype != NPU_I32 && !wide) || npu_tensor_elements(out) != in->rank)
		return tflite_fail(t, -EINVAL, "the output cannot hold %u dimensions", in->rank);
	data = npu_arena_alloc(&t->graph->arena, out->bytes);
	if (!data)
		return -ENOMEM;
	for (i = 0; i < in->rank; i++)
		if (wide)
			((s64 *)data)[i] = in->dim[i];
		else
			((s32 *)data)[i] = in->dim[i];
	out->data = data;
	return 0;
}

/* The selections become operators; the output's shape has to be what they make. */
static int add_selections(struct tflite *t, const struct npu_selection *selection)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	const struct npu_tensor *out = tflite_tensor(t, t->output[0]);
	u32 d;

	for (d = 0; d < in->rank; d++)
		if (out->rank != in->rank ||
		    out->dim[d] != (selection[d].index ? selection[d].count : in->dim[d]))
			return tflite_fail(t, -EINVAL, "the output's shape does not follow");
	return npu_add_selections(t->graph, out->name, t->input[0], selection, t->output[0]);
}

int tflite_read_mirror_pad(struct tflite *t)
{
	const u32 rank = tflite_tensor(t, t->input[0])->rank;
	const enum npu_edge edge = fb_s8(&t->options, 0, 0) ? NPU_EDGE_SYMMETRIC : NPU_EDGE_REFLECT;
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	s32 padding[2 * NPU_MAX_RANK] = { 0 };
	int error = tflite_constants(t, 1, padding, 2 * rank);
	u32 d;

	for (d = 0; !error && d < rank; d++) {
		s32 before = padding[2 * d], after = padding[2 * d + 1];

		if (before < 0 || after < 0)
			return tflite_fail(t, -EINVAL, "padding of %d and %d", before, after);
		if (!before && !after)
			continue;
		error = npu_select_edges(t->graph, tflite_tensor(t, t->input[0])->dim[d],
					 (u32)before, (u32)after, edge, &selection[d]);
		if (error == -ERANGE)
			return tflite_fail(t, error,
					   "padding of %d and %d is larger than "
					   "dimension %u",
					   before, after, d);
	}
	return error ? error : add_selections(t, selection);
}

int tflite_read_tile(struct tflite *t)
{
	const u32 rank = tflite_tensor(t, t->input[0])->rank;
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	s32 times[NPU_MAX_RANK] = { 0 };
	int error = tflite_constants(t, 1, times, rank);
	u32 d;

	for (d = 0; !error && d < rank; d++) {
		if (times[d] < 1)
			return tflite_fail(t, -ENOTSUP, "dimension %u %d times", d, times[d]);
		if (times[d] > 1)
			error = npu_select_tiles(t->graph, tflite_tensor(t, t->input[0])->dim[d],
						 (u32)times[d], &selection[d]);
	}
	return error ? error : add_selections(t, selection);
}

/* The output's shape says how often dimensions of 1 are repeated; missing ones are put in front. */
int tflite_read_broadcast_to(struct tflite *t)
{
	const struct npu_tensor in = *tflite_tensor(t, t->input[0]);
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	u32 dim[NPU_MAX_RANK], whole, d, missing = out.rank - in.rank;
	int error;

	if (out.rank < in.rank)
		return tflite_fail(t, -EINVAL, "rank %u to %u", in.rank, out.rank);
	for (d = 0; d < out.rank; d++)
		dim[d] = d < missing ? 1 : in.dim[d - missing];
	error = tflite_tensor_like(t, t->input[0], in.name, out.rank, dim, &whole);
	if (!error)
		tflite_add(t, NPU_OP_RESHAPE, 1, &t->input[0], whole, &error);
	for (d = 0; !error && d < out.rank; d++)
		if (dim[d] == 1 && out.dim[d] > 1)
			error = npu_select_tiles(t->graph, 1, out.dim[d], &selection[d]);
	t->input[0] = whole;
	return error ? error : add_selections(t, selection);
}

int tflite_read_reverse(struct tflite *t)
{
	const u32 rank = tflite_tensor(t, t->input[0])->rank;
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	s32 axes[NPU_MAX_RANK] = { 0 };
	u32 count = 0, i;
	int error = tflite_constant(t, 1, axes, NPU_MAX_RANK, &count);

	for (i = 0; !error && i < count; i++) {
		error = tflite_axis(t, &axes[i], rank);
		if (!error)
			error = npu_select_reversed(t->graph,
						    tflite_tensor(t, t->input[0])->dim[axes[i]],
						    &selection[axes[i]]);
	}
	return error ? error : add_selections(t, selection);
}

/* DEPTH_TO_SPACE and SPACE_TO_DEPTH. */
int tflite_read_blocks(struct tflite *t)
{
	const struct npu_tensor in = *tflite_tensor(t, t->input[0]);
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	s32 block = fb_s32(&t->options, 0, 0);
	bool to_depth = out.rank == 4 && in.rank == 4 && out.dim[3] > in.dim[3];
	const u32 *small = to_depth ? out.dim : in.dim, *large = to_depth ? in.dim : out.dim;
	struct npu_regroup regroup;

	if (block < 1 || block > MAX_BLOCK || in.rank != 4 || out.rank != 4 ||
	    large[1] != small[1] * (u64)block || large[2] != small[2] * (u64)block ||
	    small[3] != large[3] * (u64)block * (u64)block || small[0] != large[0])
		return tflite_fail(t, -EINVAL, "blocks of %d do not fit the shapes", block);
	regroup = to_depth ? npu_space_to_depth(in.dim, (u32)block)
			   : npu_depth_to_space(in.dim, (u32)block, false);
	return npu_add_regrouped(t->graph, out.name, t->input[0], &regroup, t->output[0]);
}
