// SPDX-License-Identifier: MIT
/*
 * SPACE_TO_BATCH_ND takes an image apart: every n-th row and column makes an image of its own, all of
 * them a batch.  TensorFlow computes dilated convolutions so: one with n times the dilation on the
 * image as a whole gives the same.  In the graph such an image stays whole, from the padding that
 * SPACE_TO_BATCH_ND brings to what BATCH_TO_SPACE_ND crops; operators between them are those that
 * treat all blocks alike.
 */
#include "tflite.h"

/* Into how many parts each dimension is taken; 1: it is whole. */
struct tflite_blocks {
	u32 count[NPU_MAX_RANK];
	u32 batch; /* the product */
};

static const struct tflite_blocks *blocks_of(const struct tflite *t, u32 tensor)
{
	return tensor < t->tensors.count ? t->blocks[tensor] : NULL;
}

/* The constant block sizes and the numbers before and after each dimension. */
static int read_blocks(struct tflite *t, struct tflite_blocks *blocks, s32 *ends)
{
	const u32 rank = tflite_tensor(t, t->input[0])->rank;
	s32 sizes[NPU_MAX_RANK] = { 0 };
	u32 count = 0, d;
	int error = tflite_constant(t, 1, sizes, NPU_MAX_RANK - 1, &count);

	if (!error)
		error = tflite_constants(t, 2, ends, 2 * count);
	if (error)
		return error;
	if (!count || count >= rank)
		return tflite_fail(t, -EINVAL, "%u block sizes for %u dimensions", count, rank);
	blocks->batch = 1;
	for (d = 0; d < NPU_MAX_RANK; d++) {
		bool split = d && d <= count;
		s32 size = split ? sizes[d - 1] : 1;

		if (size < 1 || size > TFLITE_MAX_WINDOW ||
		    check_mul_overflow(blocks->batch, (u32)size, &blocks->batch))
			return tflite_fail(t, -EINVAL, "blocks of %d", size);
		if (split && (ends[2 * d - 2] < 0 || ends[2 * d - 1] < 0))
			return tflite_fail(t, -EINVAL, "%d and %d elements at the ends",
					   ends[2 * d - 2], ends[2 * d - 1]);
		blocks->count[d] = (u32)size;
	}
	return 0;
}

static bool is_result(const struct tflite *t, u32 tensor)
{
	u32 i;

	for (i = 0; i < t->graph->output_count; i++)
		if (t->graph->output[i] == tensor)
			return true;
	return false;
}

/* The output has the file's shape, a batch of blocks: it becomes a whole image. */
static int join_output(struct tflite *t, const struct tflite_blocks *blocks)
{
	struct npu_tensor *out = &t->graph->tensor[t->output[0]];
	struct tflite_blocks *own = npu_arena_alloc(&t->graph->arena, sizeof(*own));
	u32 d;

	if (!own)
		return -ENOMEM;
	if (t->blocks[t->output[0]])
		return tflite_fail(t, -EINVAL, "the output is computed twice");
	if (is_result(t, t->output[0]))
		return tflite_fail(t, -ENOTSUP,
				   "no BATCH_TO_SPACE_ND puts the image together again");
	if (!out->rank || out->dim[0] % blocks->batch)
		return tflite_fail(t, -EINVAL, "the output is no batch of %u blocks",
				   blocks->batch);
	*own = *blocks;
	t->blocks[t->output[0]] = own;
	out->dim[0] /= blocks->batch;
	for (d = 0; d < out->rank; d++)
		out->dim[d] *= blocks->count[d];
	return 0;
}

/* Dimensions of 1 come and go; those that are taken apart stay in their order. */
static int move_blocks(struct tflite *t, const struct tflite_blocks *from, struct tflite_blocks *to)
{
	const struct npu_tensor *in = tflite_tensor(t, t->input[0]);
	const struct npu_tensor *out = tflite_tensor(t, t->output[0]);
	u32 d, at = 1;
	bool fits = out->rank && out->dim[0] == (u64)in->dim[0] * from->batch;

	*to = (struct tflite_blocks){ { 1, 1, 1, 1, 1, 1 }, from->batch };
	for (d = 1; fits && d < in->rank; d++) {
		if (in->dim[d] == 1 && from->count[d] == 1)
			continue;
		while (at < out->rank && out->dim[at] == 1 &&
		       out->dim[at] * (u64)from->count[d] != in->dim[d])
			at++;
		fits = at < out->rank && out->dim[at] * (u64)from->count[d] == in->dim[d];
		if (fits)
			to->count[at++] = from->count[d];
	}
	return fits ? 0
		    : tflite_fail(t, -ENOTSUP,
				  "reshapes what SPACE_TO_BATCH_ND took apart otherwise than by "
				  "dimensions of 1");
}

/* Whether an operand that was not taken apart is the same for all blocks. */
static bool is_alike(const struct tflite *t, u32 tensor, const struct tflite_blocks *blocks,
		     u32 rank)
{
	const struct npu_tensor *operand = &t->graph->tensor[tensor];
	u32 d;

	if (operand->rank > rank)
		return false;
	for (d = 0; d < operand->rank; d++) {
		u32 at = rank - operand->rank + d;

		if ((!at || blocks->count[at] > 1) && operand->dim[d] != 1)
			return false;
	}
	return true;
}

static int check_operands(struct tflite *t, const struct tflite_blocks *blocks, u32 rank)
{
	u32 i;

	for (i = 0; i < t->input_count; i++) {
		const struct tflite_blocks *other;

		if (t->input[i] == NPU_NONE)
			continue;
		other = blocks_of(t, t->input[i]);
		if (other ? memcmp(other, blocks, sizeof(*other))
			  : !is_alike(t, t->input[i], blocks, rank))
			return tflite_fail(t, -ENOTSUP,
					   "input %u is another one for each block of "
					   "SPACE_TO_BATCH_ND",
					   i);
	}
	return 0;
}

enum treatment { NOT_BY_BLOCKS, BY_ELEMENTS, BY_WINDOW, BY_SHAPE, BY_ITSELF };

static enum treatment treatment_of(const struct tflite_row *row)
{
	if (row->read == tflite_read_batch_to_space)
		return BY_ITSELF;
	if (row->read == tflite_read_unary && row->kind == NPU_OP_RESHAPE)
		return BY_SHAPE;
	if (row->kind == NPU_OP_CONV)
		return BY_WINDOW;
	if ((row->kind >= NPU_OP_ADD && row->kind <= NPU_OP_FUNCTION) ||
	    row->kind == NPU_OP_QUANTIZE || row->kind == NPU_OP_DEQUANTIZE)
		return BY_ELEMENTS;
	return NOT_BY_BLOCKS;
}

int tflite_join_blocks(struct tflite *t)
{
	const struct tflite_blocks *blocks = NULL;
	struct tflite_blocks moved;
	enum treatment treatment = treatment_of(t->row);
	u32 i, rank = 0;
	int error = 0;

	for (i = 0; i < t->input_count && !blocks; i++)
		if (t->input[i] != NPU_NONE) {
			blocks = blocks_of(t, t->input[i]);
			rank = tflite_tensor(t, t->input[i])->rank;
		}
	if (!blocks || treatment == BY_ITSELF)
		return 0;
	if (treatment == NOT_BY_BLOCKS || (treatment == BY_WINDOW && rank != 4))
		return tflite_fail(t, -ENOTSUP,
				   "between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND convolutions "
				   "and what works element by element are supported");
	if (treatment == BY_ELEMENTS)
		error = check_operands(t, blocks, rank);
	else if (treatment == BY_SHAPE)
		error = move_blocks(t, blocks, &moved);
	if (!error && treatment != BY_SHAPE && tflite_tensor(t, t->output[0])->rank != rank)
		error = tflite_fail(t, -EINVAL, "the output has another rank than the input");
	return error ? error : join_output(t, treatment == BY_SHAPE ? &moved : blocks);
}

struct npu_tensor tflite_block(struct tflite *t, u32 tensor)
{
	const struct tflite_blocks *blocks = blocks_of(t, tensor);
	struct npu_tensor block = *tflite_tensor(t, tensor);
	u32 d;

	for (d = 0; blocks && d < block.rank; d++)
		block.dim[d] /= blocks->count[d];
	return block;
}

int tflite_join_window(struct tflite *t, u32 tensor, struct npu_window *w)
{
	const struct tflite_blocks *blocks = blocks_of(t, tensor);
	u32 y, x;

	if (!blocks)
		return 0;
	y = blocks->count[1];
	x = blocks->count[2];
	if ((y > 1 && w->stride_y > 1) || (x > 1 && w->stride_x > 1) || blocks->count[3] > 1)
		return tflite_fail(t, -ENOTSUP,
				   "a convolution with strides, or along channels, on what "
				   "SPACE_TO_BATCH_ND took apart");
	if ((u64)w->dilation_y * y > TFLITE_MAX_WINDOW ||
	    (u64)w->dilation_x * x > TFLITE_MAX_WINDOW)
		return tflite_fail(t, -ENOTSUP, "dilations of %llu and %llu",
				   (unsigned long long)w->dilation_y * y,
				   (unsigned long long)w->dilation_x * x);
	w->dilation_y *= y;
	w->pad_top *= y;
	w->pad_bottom *= y;
	w->dilation_x *= x;
	w->pad_left *= x;
	w->pad_right *= x;
	return 0;
}

/* What is added or cropped before (@end 0) or behind (1) dimension @d; the batch has none. */
static s32 at_end(const s32 *ends, u32 d, u32 end)
{
	return d ? ends[2 * (d - 1) + end] : 0;
}

int tflite_read_space_to_batch(struct tflite *t)
{
	const struct npu_tensor *in, *out;
	struct tflite_blocks blocks = { 0 };
	s32 ends[2 * NPU_MAX_RANK] = { 0 };
	struct npu_op *op;
	u32 d;
	int error = read_blocks(t, &blocks, ends);

	if (!error)
		error = join_output(t, &blocks);
	if (error)
		return error;
	in = tflite_tensor(t, t->input[0]);
	out = tflite_tensor(t, t->output[0]);
	for (d = 0; d < in->rank; d++)
		if (out->rank != in->rank || out->dim[d] != (u64)in->dim[d] +
								    (u32)at_end(ends, d, 0) +
								    (u32)at_end(ends, d, 1))
			return tflite_fail(t, -EINVAL, "the output's shape does not follow");
	op = tflite_add(t, NPU_OP_PAD, 1, t->input, t->output[0], &error);
	for (d = 0; op && d < in->rank; d++) {
		op->begin[d] = at_end(ends, d, 0);
		op->end[d] = at_end(ends, d, 1);
	}
	return error;
}

int tflite_read_batch_to_space(struct tflite *t)
{
	const struct tflite_blocks *from = blocks_of(t, t->input[0]);
	const struct npu_tensor in = *tflite_tensor(t, t->input[0]);
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	struct tflite_blocks blocks = { 0 };
	s32 ends[2 * NPU_MAX_RANK] = { 0 };
	struct npu_op *op;
	u32 d;
	int error = read_blocks(t, &blocks, ends);

	if (error)
		return error;
	if (!from || memcmp(from, &blocks, sizeof(blocks)))
		return tflite_fail(t, -ENOTSUP,
				   "no SPACE_TO_BATCH_ND with the same blocks is in front of it");
	for (d = 0; d < in.rank; d++)
		if (out.rank != in.rank ||
		    out.dim[d] + (u64)at_end(ends, d, 0) + (u64)at_end(ends, d, 1) != in.dim[d])
			return tflite_fail(t, -EINVAL, "the output's shape does not follow");
	op = tflite_add(t, NPU_OP_SLICE, 1, t->input, t->output[0], &error);
	for (d = 0; op && d < in.rank; d++) {
		op->begin[d] = at_end(ends, d, 0);
		op->end[d] = (s32)out.dim[d];
		op->step[d] = 1;
	}
	return error;
}
