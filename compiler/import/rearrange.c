// SPDX-License-Identifier: MIT
#include "rearrange.h"

static s32 *make_index(struct npu_graph *graph, u64 count, struct npu_selection *selection)
{
	if (count > INT32_MAX)
		return NULL;
	selection->index = npu_arena_array(&graph->arena, max(count, (u64)1), sizeof(s32));
	selection->count = (u32)count;
	return selection->index;
}

/* Where the element that stands @at (negative: in front) comes from; -1: from nowhere. */
static s64 edge_source(s64 at, s64 size, enum npu_edge edge)
{
	s64 source = at;

	switch (edge) {
	case NPU_EDGE_REFLECT:
		source = at < 0 ? -at : at < size ? at : 2 * size - 2 - at;
		break;
	case NPU_EDGE_SYMMETRIC:
		source = at < 0 ? -at - 1 : at < size ? at : 2 * size - 1 - at;
		break;
	case NPU_EDGE_REPEAT:
		return max(min(at, size - 1), (s64)0);
	case NPU_EDGE_WRAP:
		return (at % size + size) % size;
	}
	return source < 0 || source >= size ? -1 : source;
}

int npu_select_edges(struct npu_graph *graph, u32 size, u32 before, u32 after, enum npu_edge edge,
		     struct npu_selection *selection)
{
	s32 *index = make_index(graph, (u64)before + size + after, selection);
	u32 i;

	if (!index)
		return -ENOMEM;
	for (i = 0; i < selection->count; i++) {
		s64 source = edge_source((s64)i - before, size, edge);

		if (source < 0)
			return -ERANGE;
		index[i] = (s32)source;
	}
	return 0;
}

int npu_select_tiles(struct npu_graph *graph, u32 size, u32 times, struct npu_selection *selection)
{
	s32 *index = make_index(graph, (u64)size * times, selection);
	u32 i;

	for (i = 0; index && i < selection->count; i++)
		index[i] = (s32)(i % size);
	return index ? 0 : -ENOMEM;
}

int npu_select_reversed(struct npu_graph *graph, u32 size, struct npu_selection *selection)
{
	s32 *index = make_index(graph, size, selection);
	u32 i;

	for (i = 0; index && i < size; i++)
		index[i] = (s32)(size - 1 - i);
	return index ? 0 : -ENOMEM;
}

/* A tensor of @like's type and scale. */
static u32 add_like(struct npu_graph *graph, const char *name, u32 like, u32 rank, const u32 *dim)
{
	u32 tensor = npu_graph_add_tensor(graph, name, graph->tensor[like].dtype, rank, dim);

	if (tensor != NPU_NONE)
		graph->tensor[tensor].quant = graph->tensor[like].quant;
	return tensor;
}

static int add_move(struct npu_graph *graph, enum npu_op_kind kind, const char *name, u32 in,
		    u32 out)
{
	struct npu_op *op = npu_graph_add_op(graph, kind, name, 1, 1);

	if (!op)
		return -ENOMEM;
	op->input[0] = in;
	op->output[0] = out;
	return 0;
}

static int add_gather(struct npu_graph *graph, const char *name, u32 in, u32 axis,
		      const struct npu_selection *selection, u32 out)
{
	u32 index = npu_graph_add_tensor(graph, name, NPU_I32, 1, &selection->count);
	struct npu_op *op = index == NPU_NONE ? NULL
					      : npu_graph_add_op(graph, NPU_OP_GATHER, name, 2, 1);

	if (!op)
		return -ENOMEM;
	graph->tensor[index].data = selection->index;
	op->input[0] = in;
	op->input[1] = index;
	op->output[0] = out;
	op->axis = (s32)axis;
	return 0;
}

int npu_add_selections(struct npu_graph *graph, const char *name, u32 in,
		       const struct npu_selection selection[NPU_MAX_RANK], u32 out)
{
	const u32 rank = graph->tensor[in].rank;
	u32 dim[NPU_MAX_RANK], axis, left = 0;
	int error = 0;

	memcpy(dim, graph->tensor[in].dim, sizeof(dim));
	for (axis = 0; axis < rank; axis++)
		left += selection[axis].index != NULL;
	if (!left)
		return add_move(graph, NPU_OP_RESHAPE, name, in, out);
	for (axis = 0; axis < rank && !error; axis++) {
		u32 to = out;

		if (!selection[axis].index)
			continue;
		dim[axis] = selection[axis].count;
		if (--left)
			to = add_like(graph, name, in, rank, dim);
		if (to == NPU_NONE)
			return -ENOMEM;
		error = add_gather(graph, name, in, axis, &selection[axis], to);
		in = to;
	}
	return error;
}

struct npu_regroup npu_depth_to_space(const u32 nhwc[4], u32 block, bool depth_first)
{
	const u32 depth = nhwc[3] / block / block;

	if (depth_first)
		return (struct npu_regroup){ 6,
					     { nhwc[0], nhwc[1], nhwc[2], depth, block, block },
					     { 0, 1, 4, 2, 5, 3 } };
	return (struct npu_regroup){ 6,
				     { nhwc[0], nhwc[1], nhwc[2], block, block, depth },
				     { 0, 1, 3, 2, 4, 5 } };
}

struct npu_regroup npu_space_to_depth(const u32 nhwc[4], u32 block)
{
	return (struct npu_regroup){
		6,
		{ nhwc[0], nhwc[1] / block, block, nhwc[2] / block, block, nhwc[3] },
		{ 0, 1, 3, 2, 4, 5 },
	};
}

int npu_add_regrouped(struct npu_graph *graph, const char *name, u32 in,
		      const struct npu_regroup *regroup, u32 out)
{
	u32 ordered[NPU_MAX_RANK], i, split, turned;
	struct npu_op *op;
	int error;

	for (i = 0; i < regroup->rank; i++)
		ordered[i] = regroup->dim[regroup->order[i]];
	split = add_like(graph, name, in, regroup->rank, regroup->dim);
	turned = add_like(graph, name, in, regroup->rank, ordered);
	if (split == NPU_NONE || turned == NPU_NONE)
		return -ENOMEM;
	error = add_move(graph, NPU_OP_RESHAPE, name, in, split);
	if (!error)
		error = add_move(graph, NPU_OP_TRANSPOSE, name, split, turned);
	if (error)
		return error;
	op = &graph->op[graph->op_count - 1];
	for (i = 0; i < regroup->rank; i++)
		op->begin[i] = (s32)regroup->order[i];
	return add_move(graph, NPU_OP_RESHAPE, name, turned, out);
}
