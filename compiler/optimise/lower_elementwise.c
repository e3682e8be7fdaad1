// SPDX-License-Identifier: MIT
/* Element-wise operators by SDP from memory. */
#include "optimise.h"
#include "requant.h"

static struct npu_layer *add_sdp_layer(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_SDP, op);

	if (!layer || npu_opt_set_group(opt, layer, &op, 1))
		return NULL;
	layer->input = npu_opt_value(opt, o->input[0]);
	layer->output = npu_opt_value(opt, o->output[0]);
	return layer;
}

/* The activation's clamp, where saturation to INT8 does not do it. */
static int clamp(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	s32 low, high;

	npu_activation_range(o->activation, npu_op_output(opt->graph, o), &low, &high);
	if (low == -128 && high == 127)
		return 0;
	return npu_opt_clamp_after(opt, opt->net->layer_count - 1, low, high);
}

int npu_lower_add(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *a = npu_op_input(graph, o, 0), *b = npu_op_input(graph, o, 1);
	const struct npu_tensor *out = npu_op_output(graph, o);
	double scale_a = (double)a->quant.scale[0] / out->quant.scale[0];
	double scale_b = (double)b->quant.scale[0] / out->quant.scale[0];
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst = npu_requant_add(&sdp, scale_a, npu_stored_zero(a), scale_b,
				       npu_stored_zero(b), npu_stored_zero(out),
				       o->kind == NPU_OP_SUB ? -1 : 1);

	if (worst < 0 || worst > 0.45)
		return -ERANGE;
	layer = add_sdp_layer(opt, op);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	layer->sdp.bn.value = npu_opt_value(opt, o->input[1]);
	return clamp(opt, op);
}

int npu_lower_min_max(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = add_sdp_layer(opt, op);

	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp.bn = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_ELEMENT,
		.alu_op = o->kind == NPU_OP_MAXIMUM ? NPU_ALU_MAX : NPU_ALU_MIN,
		.value = npu_opt_value(opt, o->input[1]),
	};
	return clamp(opt, op);
}

int npu_lower_requantise(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *in = npu_op_input(graph, o, 0), *out = npu_op_output(graph, o);
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst = npu_requant_scale(&sdp, (double)in->quant.scale[0] / out->quant.scale[0],
					 npu_stored_zero(in), npu_stored_zero(out), true);

	if (worst < 0 || worst > 0.45)
		return -ERANGE;
	layer = add_sdp_layer(opt, op);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	return clamp(opt, op);
}
