// SPDX-License-Identifier: MIT
/*
 * One mapping for each tensor.  Tensors between which elements are only moved share
 * one; operands of concatenations take the result's where nobody else reads them.
 */
#include <math.h>
#include <stdlib.h>

#include "quantise/range.h"
#include "quantise/rewrite.h"

/**
 * struct group - tensors that share a mapping
 * @root: tensor that stands for it
 * @low, @high: range of all of them; @known: there is one
 * @fixed: the mapping is given
 * @readers: operands outside of the group
 */
struct group {
	u32 root;
	bool known, fixed;
	float low, high;
	float scale;
	s32 zero;
	u32 readers;
};

struct scales {
	const struct npu_graph *graph;
	const struct npu_calibration *calibration;
	struct group *group; /* of each tensor */
	struct npu_arena arena;
	bool no_memory;
	struct npu_diag *diag;
};

bool npu_shares_scale(const struct npu_op *op, u32 i)
{
	switch (op->kind) {
	case NPU_OP_MAX_POOL:
	case NPU_OP_AVERAGE_POOL:
	case NPU_OP_RESHAPE:
	case NPU_OP_TRANSPOSE:
	case NPU_OP_SLICE:
	case NPU_OP_RESIZE_NEAREST:
	case NPU_OP_RESIZE_BILINEAR:
	case NPU_OP_REDUCE_MAX:
	case NPU_OP_REDUCE_MIN:
	case NPU_OP_GATHER:
	case NPU_OP_GATHER_ELEMENTS:
	case NPU_OP_GATHER_ND:
		return i == 0;
	case NPU_OP_SCATTER_ELEMENTS:
	case NPU_OP_SCATTER_ND:
		return i != 1;
	case NPU_OP_PAD:
	case NPU_OP_CONCAT:
	case NPU_OP_MINIMUM:
	case NPU_OP_MAXIMUM:
		return true;
	default:
		return false;
	}
}

static u32 find_root(struct scales *s, u32 tensor)
{
	while (s->group[tensor].root != tensor)
		tensor = s->group[tensor].root;
	return tensor;
}

static const struct npu_range *find_range(struct scales *s, u32 tensor, const char *op)
{
	const char *name = npu_calibration_name(&s->arena, s->graph, tensor);
	const struct npu_range *range = name ? npu_calibration_find(s->calibration, name) : NULL;

	s->no_memory |= !name;
	return range || !op ? range : npu_calibration_find(s->calibration, op);
}

static void start_tensor(struct scales *s, u32 tensor, const char *op)
{
	const struct npu_range *range = find_range(s, tensor, op);
	struct group *group = &s->group[tensor];

	if (!range)
		return;
	group->known = true;
	group->low = range->min;
	group->high = range->max;
	if (range->scale > 0) {
		group->fixed = true;
		group->scale = range->scale;
		group->zero = range->zero;
	}
}

/* Results of these functions have the mapping that integer kernels are made for. */
static void start_function(struct scales *s, const struct npu_op *op)
{
	struct group *group = &s->group[op->output[0]];

	if (op->kind != NPU_OP_SOFTMAX && op->kind != NPU_OP_LOGISTIC && op->kind != NPU_OP_TANH)
		return;
	group->known = group->fixed = true;
	group->scale = op->kind == NPU_OP_TANH ? 1.0f / 128 : 1.0f / 256;
	group->zero = op->kind == NPU_OP_TANH ? 0 : -128;
}

/* What a tensor's group is becomes part of another one. */
static void unite(struct scales *s, u32 from, u32 into)
{
	struct group *a = &s->group[find_root(s, from)], *b = &s->group[find_root(s, into)];

	if (a == b)
		return;
	if (!b->fixed && a->fixed) {
		b->fixed = true;
		b->scale = a->scale;
		b->zero = a->zero;
	}
	if (a->known) {
		b->low = b->known ? min(a->low, b->low) : a->low;
		b->high = b->known ? max(a->high, b->high) : a->high;
		b->known = true;
	}
	/* The operand that joins them is no reader outside any more. */
	b->readers += a->readers - 1;
	a->root = b->root;
}

/* The mapping that is given for @group covers what was seen of @range's tensors, to a unit. */
static bool covers(const struct group *group, const struct group *range)
{
	float low = group->scale * (float)(INT8_MIN - 1 - group->zero);
	float high = group->scale * (float)(INT8_MAX + 1 - group->zero);

	return !group->fixed || !range->known || (range->low >= low && range->high <= high);
}

static void join_operands(struct scales *s, const struct npu_op *op)
{
	bool single = op->kind != NPU_OP_CONCAT && op->kind != NPU_OP_MINIMUM &&
		      op->kind != NPU_OP_MAXIMUM && op->kind != NPU_OP_SCATTER_ELEMENTS &&
		      op->kind != NPU_OP_SCATTER_ND;
	u32 out = op->output[0], i;

	if (s->graph->tensor[out].dtype != NPU_F32)
		return;
	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *tensor = npu_op_input(s->graph, op, i);
		const struct group *a, *b;

		if (!tensor || tensor->data || !npu_shares_scale(op, i))
			continue;
		a = &s->group[find_root(s, op->input[i])];
		b = &s->group[find_root(s, out)];
		if (op->kind == NPU_OP_PAD && !covers(a, b)) {
			/* What is put around is beyond the input's mapping. */
			continue;
		} else if (single) {
			/* The result follows its input, whatever mapping was given for it. */
			if (a->fixed)
				s->group[b->root].fixed = false;
			unite(s, op->input[i], out);
		} else if (a->readers == 1 && !a->fixed && !b->fixed) {
			unite(s, op->input[i], out);
		}
	}
}

static int finish_tensor(struct scales *s, u32 tensor, const char *what, struct npu_scale *scale)
{
	const struct group *group = &s->group[find_root(s, tensor)];

	if (!group->known)
		return npu_diag_set(s->diag, -EINVAL,
				    "%s: %.200s: the calibration has no range for this layer",
				    s->graph->file, what);
	scale->scale = group->scale;
	scale->zero = group->zero;
	if (!group->fixed)
		npu_range_to_quant(group->low, group->high, &scale->scale, &scale->zero);
	return 0;
}

static int find_scales(struct scales *s, const u32 *readers, const bool *stays,
		       struct npu_scale *scale)
{
	const struct npu_graph *graph = s->graph;
	u32 i;
	int error = 0;

	for (i = 0; i < graph->tensor_count; i++)
		s->group[i] = (struct group){ .root = i, .readers = readers[i] };
	for (i = 0; i < graph->input_count; i++) {
		start_tensor(s, graph->input[i], NULL);
		scale[graph->input[i]].stays = true;
	}
	for (i = 0; i < graph->op_count; i++) {
		start_tensor(s, graph->op[i].output[0], graph->op[i].name);
		start_function(s, &graph->op[i]);
		scale[graph->op[i].output[0]].stays = stays[i];
	}
	if (s->no_memory)
		return -ENOMEM;
	for (i = 0; i < graph->op_count; i++)
		join_operands(s, &graph->op[i]);
	for (i = 0; i < graph->input_count && !error; i++)
		if (graph->tensor[graph->input[i]].dtype == NPU_F32)
			error = finish_tensor(s, graph->input[i],
					      graph->tensor[graph->input[i]].name,
					      &scale[graph->input[i]]);
	for (i = 0; i < graph->op_count && !error; i++)
		if (npu_op_output(graph, &graph->op[i])->dtype == NPU_F32)
			error = finish_tensor(s, graph->op[i].output[0], graph->op[i].name,
					      &scale[graph->op[i].output[0]]);
	return error;
}

int npu_quantise_scales(const struct npu_graph *graph, const struct npu_calibration *calibration,
			const bool *stays, struct npu_scale *scale, struct npu_diag *diag)
{
	struct scales s = { .graph = graph, .calibration = calibration, .diag = diag };
	u32 *readers = npu_count_readers(graph);
	int error = -ENOMEM;

	s.group = calloc(graph->tensor_count + 1, sizeof(*s.group));
	if (s.group && readers)
		error = find_scales(&s, readers, stays, scale);
	free(readers);
	free(s.group);
	npu_arena_free(&s.arena);
	return error;
}
