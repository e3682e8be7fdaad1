// SPDX-License-Identifier: MIT
#include "batch.h"
#include "recurrent.h"

/**
 * struct split - a graph that is written anew
 * @count: images
 * @tensors: those that were there before
 * @parts: for each of them: a tensor for each image, or NULL
 * @whole: it is there for all images too: constants, inputs, what was computed or put together
 * @failed: out of memory; nothing is added any more
 */
struct split {
	struct npu_graph *graph;
	u32 count, tensors;
	u32 **parts;
	bool *whole;
	bool failed;
};

static bool works_on_one_image(enum npu_op_kind kind)
{
	return kind == NPU_OP_CONV || kind == NPU_OP_TRANSPOSE_CONV || kind == NPU_OP_MAX_POOL ||
	       kind == NPU_OP_AVERAGE_POOL || kind == NPU_OP_RESIZE_NEAREST ||
	       kind == NPU_OP_RESIZE_BILINEAR;
}

static bool is_binary(enum npu_op_kind kind)
{
	return kind >= NPU_OP_ADD && kind <= NPU_OP_MAXIMUM;
}

static const struct npu_tensor *tensor_of(const struct split *s, u32 index)
{
	return index < s->tensors ? &s->graph->tensor[index] : NULL;
}

/* Whether a tensor's first dimension are the images. */
static bool has_images(const struct split *s, u32 index)
{
	const struct npu_tensor *t = tensor_of(s, index);

	return t && t->rank && t->dim[0] == s->count;
}

/* The batch of the first operator that works on images; 1 where there is none. */
static u32 find_batch(const struct npu_graph *graph)
{
	u32 i;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];
		const struct npu_tensor *in = op->input_count ? npu_op_input(graph, op, 0) : NULL;

		if (works_on_one_image(op->kind) && in && in->rank == 4 && in->dim[0] > 1)
			return in->dim[0];
	}
	return 1;
}

/* ---- which operators treat images alike ---- */

/* Operand @i has a part for each image; the others are the same for all. */
static bool is_split(const struct split *s, const struct npu_op *op, u32 i)
{
	if (!has_images(s, op->input[i]))
		return false;
	if (is_binary(op->kind))
		return tensor_of(s, op->input[i])->rank == tensor_of(s, op->output[0])->rank;
	return !i || op->kind == NPU_OP_CONCAT;
}

static bool has_whole_rows(const struct split *s, const struct npu_tensor *in,
			   const struct npu_tensor *weights)
{
	return weights && weights->rank == 2 &&
	       !(npu_tensor_elements(in) / s->count % weights->dim[1]);
}

/* Whether each image stays where it is. */
static bool leaves_first_dimension(const struct split *s, const struct npu_op *op)
{
	const struct npu_tensor *in = tensor_of(s, op->input[0]);

	switch (op->kind) {
	case NPU_OP_TRANSPOSE:
		return op->begin[0] == 0;
	case NPU_OP_PAD:
		return !op->begin[0] && !op->end[0];
	case NPU_OP_SLICE:
		return !op->begin[0] && op->end[0] == (s32)s->count && op->step[0] == 1;
	case NPU_OP_CONCAT:
	case NPU_OP_ARG_MAX:
	case NPU_OP_ARG_MIN:
	case NPU_OP_TOP_MOST:
	case NPU_OP_TOP_LEAST:
	case NPU_OP_GATHER:
		return op->axis > 0;
	case NPU_OP_SOFTMAX:
	case NPU_OP_LRN:
		return in->rank > 1;
	case NPU_OP_MEAN:
	case NPU_OP_REDUCE_SUM:
	case NPU_OP_REDUCE_MAX:
	case NPU_OP_REDUCE_MIN:
	case NPU_OP_REDUCE_PROD:
		return !(op->axes & 1);
	case NPU_OP_FULLY_CONNECTED:
		return has_whole_rows(s, in, tensor_of(s, op->input[1]));
	case NPU_OP_MATMUL:
	case NPU_OP_GATHER_ELEMENTS:
	case NPU_OP_GATHER_ND:
	case NPU_OP_SCATTER_ELEMENTS:
	case NPU_OP_SCATTER_ND:
	case NPU_OP_PIXELS:
	case NPU_OP_COUNT:
		return false;
	default:
		return true;
	}
}

/* Operands that are no parts are used as they are by each image: by broadcasting, or as weights. */
static bool serves_all_images(const struct split *s, const struct npu_op *op, u32 i)
{
	const struct npu_tensor *in = tensor_of(s, op->input[i]);

	if (is_binary(op->kind))
		return in->rank < tensor_of(s, op->output[0])->rank || in->dim[0] == 1;
	return i && op->kind != NPU_OP_CONCAT;
}

static bool treats_images_alike(const struct split *s, const struct npu_op *op)
{
	bool computed = false;
	u32 i;

	if (!op->input_count || op->input_count > NPU_MAX_INPUTS || op->output_count != 1 ||
	    !has_images(s, op->output[0]) || s->parts[op->output[0]] || s->whole[op->output[0]])
		return false;
	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *in = tensor_of(s, op->input[i]);

		if (!in && (!i || op->input[i] != NPU_NONE))
			return false;
		if (in && is_split(s, op, i))
			computed |= !in->data;
		else if (in && !serves_all_images(s, op, i))
			return false;
	}
	return computed && leaves_first_dimension(s, op);
}

/* ---- tensors and operators ---- */

/* A tensor for image @i beside @tensor. */
static u32 add_part(struct split *s, u32 tensor, u32 i)
{
	struct npu_tensor whole = s->graph->tensor[tensor];
	const char *name = npu_arena_printf(&s->graph->arena, "%s[%u]", whole.name, i);
	u32 part = NPU_NONE;

	whole.dim[0] = 1;
	if (name && !s->failed)
		part = npu_graph_add_tensor(s->graph, name, whole.dtype, whole.rank, whole.dim);
	s->failed |= part == NPU_NONE;
	if (part == NPU_NONE)
		return NPU_NONE;
	s->graph->tensor[part].quant = whole.quant;
	if (whole.data)
		s->graph->tensor[part].data =
			(const u8 *)whole.data + i * s->graph->tensor[part].bytes;
	return part;
}

static u32 *new_parts(struct split *s, u32 tensor)
{
	u32 *parts = npu_arena_array(&s->graph->arena, s->count, sizeof(*parts)), i;

	s->failed |= !parts;
	for (i = 0; i < s->count && parts; i++)
		parts[i] = add_part(s, tensor, i);
	s->parts[tensor] = parts;
	return parts;
}

/* Takes a tensor apart where that was not done yet; constants need no operator for it. */
static const u32 *parts_of(struct split *s, u32 tensor)
{
	u32 *parts = s->parts[tensor], i, d;

	if (parts || s->failed)
		return parts;
	parts = new_parts(s, tensor);
	for (i = 0; i < s->count && !s->failed && !s->graph->tensor[tensor].data; i++) {
		const struct npu_tensor *t = &s->graph->tensor[tensor];
		struct npu_op *op = npu_graph_add_op(s->graph, NPU_OP_SLICE,
						     s->graph->tensor[parts[i]].name, 1, 1);

		s->failed |= !op;
		if (!op)
			break;
		op->input[0] = tensor;
		op->output[0] = parts[i];
		for (d = 0; d < t->rank; d++) {
			op->end[d] = (s32)t->dim[d];
			op->step[d] = 1;
		}
		op->begin[0] = (s32)i;
		op->end[0] = 1;
	}
	return parts;
}

/* Puts a tensor together that is there in parts alone. */
static void need_whole(struct split *s, u32 tensor)
{
	if (tensor >= s->tensors || s->whole[tensor] || !s->parts[tensor] || s->failed)
		return;
	s->failed |= npu_add_stack(s->graph, s->graph->tensor[tensor].name, s->parts[tensor],
				   s->count, tensor) != 0;
	s->whole[tensor] = true;
}

/* The same operator with other operands; NULL out of memory. */
static struct npu_op *copy_op(struct split *s, const struct npu_op *op, const char *name)
{
	struct npu_op *copy = s->failed || !name
				      ? NULL
				      : npu_graph_add_op(s->graph, op->kind, name, op->input_count,
							 op->output_count);
	u32 *input, *output;

	s->failed |= !copy;
	if (!copy)
		return NULL;
	input = copy->input;
	output = copy->output;
	*copy = *op;
	copy->name = name;
	copy->input = input;
	copy->output = output;
	memcpy(input, op->input, op->input_count * sizeof(*input));
	memcpy(output, op->output, op->output_count * sizeof(*output));
	return copy;
}

static void add_whole(struct split *s, const struct npu_op *op)
{
	u32 i;

	for (i = 0; i < op->input_count; i++)
		need_whole(s, op->input[i]);
	copy_op(s, op, op->name);
	for (i = 0; i < op->output_count; i++)
		if (op->output[i] < s->tensors)
			s->whole[op->output[i]] = true;
}

static void add_for_each_image(struct split *s, const struct npu_op *op)
{
	const u32 *in[NPU_MAX_INPUTS] = { 0 }, *out;
	u32 image, i;

	for (i = 0; i < op->input_count; i++)
		if (is_split(s, op, i))
			in[i] = parts_of(s, op->input[i]);
		else
			need_whole(s, op->input[i]);
	out = new_parts(s, op->output[0]);
	for (image = 0; image < s->count && !s->failed; image++) {
		struct npu_op *copy = copy_op(
			s, op, npu_arena_printf(&s->graph->arena, "%s[%u]", op->name, image));

		if (!copy)
			return;
		for (i = 0; i < op->input_count; i++)
			if (in[i])
				copy->input[i] = in[i][image];
		copy->output[0] = out[image];
		if (op->kind == NPU_OP_SLICE)
			copy->end[0] = 1;
	}
}

static int rewrite(struct split *s)
{
	struct npu_graph *graph = s->graph;
	const struct npu_op *op = graph->op;
	const u32 count = graph->op_count;
	u32 i;

	s->parts = npu_arena_array(&graph->arena, s->tensors, sizeof(u32 *));
	s->whole = npu_arena_array(&graph->arena, s->tensors, sizeof(*s->whole));
	if (!s->parts || !s->whole)
		return -ENOMEM;
	for (i = 0; i < s->tensors; i++)
		s->whole[i] = graph->tensor[i].data;
	for (i = 0; i < graph->input_count; i++)
		s->whole[graph->input[i]] = true;
	graph->op = NULL;
	graph->op_count = graph->op_capacity = 0;
	for (i = 0; i < count && !s->failed; i++)
		if (treats_images_alike(s, &op[i]))
			add_for_each_image(s, &op[i]);
		else
			add_whole(s, &op[i]);
	for (i = 0; i < graph->output_count; i++)
		need_whole(s, graph->output[i]);
	return s->failed ? -ENOMEM : 0;
}

int npu_split_batch(struct npu_graph *graph, struct npu_diag *diag)
{
	struct split s = { .graph = graph,
			   .count = find_batch(graph),
			   .tensors = graph->tensor_count };

	graph->arena.limit = 0;
	if (s.count == 1)
		return 0;
	if (s.count > NPU_MAX_BATCH || s.count * (u64)graph->op_count > NPU_MAX_BATCH_OPS)
		return npu_diag_set(diag, -ENOTSUP,
				    "%s: a batch of %u images through %u operators; at most %u "
				    "images and %u operators for all of them are supported: give "
				    "the model a smaller batch",
				    graph->file, s.count, graph->op_count, NPU_MAX_BATCH,
				    NPU_MAX_BATCH_OPS);
	return rewrite(&s) ? npu_diag_set(diag, -ENOMEM, "%s: out of memory", graph->file) : 0;
}
