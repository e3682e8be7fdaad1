// SPDX-License-Identifier: MIT
/* Gives every root a value; its shape follows from the operators that the NPU does. */
#include "cells.h"
#include "pixels.h"

static void shape_of(const struct npu_opt *opt, u32 tensor, u32 *h, u32 *w, u32 *c)
{
	u32 nhwc[4];

	npu_tensor_nhwc(&opt->graph->tensor[tensor], nhwc);
	npu_plane_of(opt, nhwc);
	*h = nhwc[0] * nhwc[1];
	*w = nhwc[2];
	*c = nhwc[3];
	if (*h == 1 || *w == 1)
		npu_line_shape(*h * *w, h, w);
}

/* Whether the NPU reads or writes the tensor in its own shape: then features have that shape. */
static bool has_demand(const struct npu_opt *opt, u32 tensor)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		if (opt->op[i].cpu_reason || opt->op[i].identity)
			continue;
		for (j = 0; j < op->output_count; j++)
			if (op->output[j] == tensor)
				return true;
		if (op->kind == NPU_OP_FULLY_CONNECTED && npu_fully_connected_rows(graph, op) == 1)
			continue;
		for (j = 0; j < op->input_count; j++)
			if (op->input[j] == tensor)
				return true;
	}
	return false;
}

/* A fully connected layer takes any shape, but needs features. */
static bool wants_features(const struct npu_opt *opt, u32 tensor)
{
	const struct npu_opt_tensor *t = &opt->tensor[tensor];
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	if (t->consumers == 0)
		return false;
	for (i = 0; i < graph->op_count; i++)
		for (j = 0; j < graph->op[i].input_count; j++)
			if (graph->op[i].input[j] == tensor && !opt->op[i].cpu_reason &&
			    !opt->op[i].identity)
				return true;
	return false;
}

static int make_value(struct npu_opt *opt, u32 root)
{
	const struct npu_tensor *tensor = &opt->graph->tensor[root];
	struct npu_value *value;

	opt->tensor[root].value = npu_opt_add_value(opt);
	if (opt->tensor[root].value == NPU_NONE)
		return npu_opt_nomem(opt);
	value = &opt->net->value[opt->tensor[root].value];
	value->name = tensor->name;
	value->tensor = root;
	value->layout = NPU_LINEAR;
	value->dtype = tensor->dtype;
	value->bytes = tensor->bytes;
	if (tensor->quant.count == 1) {
		value->scale = tensor->quant.scale[0];
		value->zero = tensor->quant.zero[0];
	}
	shape_of(opt, root, &value->h, &value->w, &value->c);
	return 0;
}

/* Features, in the shape of tensor @tensor where an operator needs just that. */
static void make_feature(struct npu_opt *opt, u32 tensor, bool shaped)
{
	u32 root = opt->tensor[tensor].root;
	struct npu_value *value = &opt->net->value[opt->tensor[root].value];
	u32 h = value->h, w = value->w, c = value->c;

	if (value->layout == NPU_LINEAR && npu_is_quantised(&opt->graph->tensor[root]))
		value->zero = npu_stored_zero(&opt->graph->tensor[root]);
	if (shaped)
		shape_of(opt, tensor, &h, &w, &c);
	npu_value_set_feature(value, opt->config, h, w, c);
}

/* An image that a convolution reads as it is. */
static bool is_image(const struct npu_opt *opt, u32 tensor)
{
	u32 reader = opt->tensor[tensor].consumer;

	return reader != NPU_NONE && opt->graph->op[reader].kind == NPU_OP_PIXELS &&
	       opt->op[reader].done;
}

static void make_image(struct npu_opt *opt, u32 tensor)
{
	const struct npu_op *op = &opt->graph->op[opt->tensor[tensor].consumer];
	u32 bytes = npu_pixel_memory_bytes(op->pixels), nhwc[4];

	npu_tensor_nhwc(npu_op_output(opt->graph, op), nhwc);
	npu_value_set_pixels(&opt->net->value[opt->tensor[tensor].value], opt->config, nhwc[1],
			     nhwc[2], bytes + npu_pixel_uv_bytes(op->pixels), bytes);
}

int npu_pass_place(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u8 *shaped = npu_arena_array(&opt->net->arena, graph->tensor_count, 1);
	u32 i;

	if (!shaped)
		return npu_opt_nomem(opt);
	for (i = 0; i < graph->tensor_count; i++) {
		u32 root = opt->tensor[i].root;
		bool demand = has_demand(opt, i), features = demand || wants_features(opt, i);
		bool renamed = graph->tensor[i].dtype != graph->tensor[root].dtype;

		if (graph->tensor[i].data)
			continue;
		if (opt->tensor[root].value == NPU_NONE && make_value(opt, root))
			return -ENOMEM;
		if (is_image(opt, i)) {
			make_image(opt, i);
			continue;
		}
		/* INT8 and UINT8 are the same only as features. */
		if (!features && !renamed)
			continue;
		make_feature(opt, i, demand && !shaped[root]);
		shaped[root] |= demand;
	}
	return 0;
}
