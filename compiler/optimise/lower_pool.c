// SPDX-License-Identifier: MIT
/* Maximum pooling from memory by PDP. */
#include "optimise.h"

int npu_lower_max_pool(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_PDP, op);
	s32 low, high;
	int error;

	if (!layer)
		return npu_opt_nomem(opt);
	layer->input = npu_opt_value(opt, o->input[0]);
	layer->output = npu_opt_value(opt, o->output[0]);
	layer->pool.kind = NPU_POOL_MAX;
	layer->pool.window = o->window;
	error = npu_opt_set_group(opt, layer, &op, 1);
	npu_activation_range(o->activation, npu_op_output(graph, o), &low, &high);
	if (!error && o->activation != NPU_ACT_NONE)
		error = npu_opt_clamp_after(opt, opt->net->layer_count - 1, low, high);
	return error;
}
