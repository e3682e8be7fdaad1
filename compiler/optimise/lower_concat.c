// SPDX-License-Identifier: MIT
/*
 * Concatenation of channels: an operand is computed in its place within the output where its scale
 * is the output's and nothing else claims it; else SDP moves it there.
 */
#include "optimise.h"
#include "requant.h"

/* Whether the value can be a part of another one from now on. */
static bool can_alias(const struct npu_opt *opt, u32 value, u32 tensor)
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	if (opt->net->value[value].alias != NPU_NONE || opt->net->value[value].viewed)
		return false;
	/* Something has to write it within the program, not the application. */
	for (i = 0; i < graph->input_count; i++)
		if (opt->tensor[graph->input[i]].root == opt->tensor[tensor].root)
			return false;
	return true;
}

/* The part of @output from byte @offset on, as a value like @input. */
static u32 add_part(struct npu_opt *opt, u32 input, u32 output, u64 offset)
{
	u32 part = npu_opt_add_value_like(opt, input, "in place");

	if (part == NPU_NONE)
		return NPU_NONE;
	opt->net->value[part].alias = output;
	opt->net->value[part].alias_offset = offset;
	opt->net->value[part].scale = opt->net->value[output].scale;
	opt->net->value[part].zero = opt->net->value[output].zero;
	return part;
}

/* Operands of SDP that bring one operand to the scale of the whole. */
static bool find_arithmetic(const struct npu_tensor *in, const struct npu_tensor *out,
			    struct npu_sdp *sdp)
{
	double worst = npu_requant_scale(sdp, (double)in->quant.scale[0] / out->quant.scale[0],
					 npu_stored_zero(in), npu_stored_zero(out), false);

	return worst >= 0 && worst <= 0.45;
}

static int move(struct npu_opt *opt, u32 op, u32 operand, u32 part)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_SDP, op);

	if (!layer)
		return npu_opt_nomem(opt);
	layer->input = npu_opt_value(opt, o->input[operand]);
	layer->output = part;
	layer->name = npu_arena_printf(&opt->net->arena, "%s/operand %u", layer->name, operand);
	if (!layer->name)
		return npu_opt_nomem(opt);
	return find_arithmetic(npu_op_input(opt->graph, o, operand), npu_op_output(opt->graph, o),
			       &layer->sdp)
		       ? 0
		       : -ERANGE;
}

int npu_lower_concat(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *out = npu_op_output(graph, o);
	u32 output = npu_opt_value(opt, o->output[0]), i;
	struct npu_sdp sdp;
	u64 offset = 0;
	int error = 0;

	for (i = 0; i < o->input_count; i++)
		if (!find_arithmetic(npu_op_input(graph, o, i), out, &sdp))
			return -ERANGE;
	for (i = 0; i < o->input_count && !error; i++) {
		const struct npu_tensor *in = npu_op_input(graph, o, i);
		u32 input = npu_opt_value(opt, o->input[i]), part;
		struct npu_value *value = &opt->net->value[input];
		u64 bytes = value->bytes;

		if (in->quant.scale[0] == out->quant.scale[0] &&
		    npu_stored_zero(in) == npu_stored_zero(out) &&
		    can_alias(opt, input, o->input[i])) {
			value->alias = output;
			value->alias_offset = offset;
		} else {
			part = add_part(opt, input, output, offset);
			error = part == NPU_NONE ? npu_opt_nomem(opt) : move(opt, op, i, part);
		}
		offset += bytes;
	}
	return error;
}
