// SPDX-License-Identifier: MIT
/*
 * Operators that move no byte: reshapes whose features keep their layout, and changes between INT8
 * and UINT8 of the same scale (features are always INT8).  Their output becomes another name of
 * their input.
 */
#include "cells.h"

static u32 find_root(struct npu_opt *opt, u32 tensor)
{
	while (opt->tensor[tensor].root != tensor)
		tensor = opt->tensor[tensor].root;
	return tensor;
}

/* Dimensions of more than one element stay in their order: a reshape. */
static bool keeps_order(const struct npu_tensor *in, const struct npu_op *transpose)
{
	s32 last = -1;
	u32 i;

	for (i = 0; i < in->rank; i++) {
		s32 from = transpose->begin[i];

		if (in->dim[from] == 1)
			continue;
		if (from < last)
			return false;
		last = from;
	}
	return true;
}

static bool is_reshape(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0);

	if (in->data || !in->rank || in->bytes != npu_op_output(graph, op)->bytes)
		return false;
	return op->kind == NPU_OP_RESHAPE || (op->kind == NPU_OP_TRANSPOSE && keeps_order(in, op));
}

static bool is_renaming(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0), *out = npu_op_output(graph, op);

	return op->kind == NPU_OP_QUANTIZE && !in->data && npu_is_quantised(in) &&
	       npu_is_quantised(out) && in->quant.scale[0] == out->quant.scale[0] &&
	       npu_stored_zero(in) == npu_stored_zero(out) && op->activation == NPU_ACT_NONE;
}

/* A fully connected layer of one row reads any plane that a kernel can cover. */
static bool reads_any_shape(const struct npu_graph *graph, const struct npu_op *op)
{
	return op->kind == NPU_OP_FULLY_CONNECTED && npu_fully_connected_rows(graph, op) == 1;
}

/* The shape that an NPU operator needs of a tensor that it reads or writes; false: none. */
static bool demand(const struct npu_opt *opt, u32 tensor, u32 shape[4])
{
	const struct npu_graph *graph = opt->graph;
	bool found = false;
	u32 i, j;

	for (i = 0; i < graph->op_count && !found; i++) {
		const struct npu_op *op = &graph->op[i];

		if (opt->op[i].cpu_reason || is_reshape(graph, op))
			continue;
		for (j = 0; j < op->output_count; j++)
			found |= op->output[j] == tensor;
		for (j = 0; j < op->input_count && !reads_any_shape(graph, op); j++)
			found |= op->input[j] == tensor;
	}
	if (found)
		npu_tensor_nhwc(&graph->tensor[tensor], shape);
	return found;
}

/* Whether all fully connected layers that read the tensor as it is can read such a plane. */
static bool can_read(const struct npu_opt *opt, u32 tensor, const u32 plane[4])
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	for (i = 0; i < graph->op_count; i++)
		if (!opt->op[i].cpu_reason && reads_any_shape(graph, &graph->op[i]) &&
		    graph->op[i].input[0] == tensor && npu_check_plane(opt, &graph->op[i], plane))
			return false;
	return true;
}

/* Whether all tensors named by @root can share one feature cube. */
static bool agree(struct npu_opt *opt, u32 root)
{
	u32 i, shape[4], first[4];
	bool any = false;

	npu_tensor_nhwc(&opt->graph->tensor[root], first);
	for (i = 0; i < opt->graph->tensor_count; i++) {
		if (find_root(opt, i) != root)
			continue;
		if (!demand(opt, i, shape))
			continue;
		if (any && memcmp(shape, first, sizeof(shape)))
			return false;
		any = true;
		memcpy(first, shape, sizeof(first));
	}
	npu_plane_of(opt, first);
	for (i = 0; i < opt->graph->tensor_count; i++)
		if (find_root(opt, i) == root && !can_read(opt, i, first))
			return false;
	return true;
}

int npu_pass_fold_reshape(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];
		u32 in, out;

		if (!is_reshape(graph, op) && !is_renaming(graph, op))
			continue;
		in = find_root(opt, op->input[0]);
		out = op->output[0];
		opt->tensor[out].root = in;
		if (agree(opt, in)) {
			opt->op[i].identity = true;
			opt->op[i].cpu_reason = NULL;
			continue;
		}
		opt->tensor[out].root = out;
		if (is_reshape(graph, op))
			opt->op[i].cpu_reason = "features of the new shape have another layout";
	}
	for (i = 0; i < graph->tensor_count; i++)
		opt->tensor[i].root = find_root(opt, i);
	return 0;
}
