// SPDX-License-Identifier: MIT
/* Every operator that is left becomes layers: by its row of the table, or as a step of the CPU. */
#include "optimise.h"

int npu_lower_cpu(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_CPU, op);
	u32 i;

	if (!layer)
		return npu_opt_nomem(opt);
	for (i = 0; i < o->input_count && layer->input == NPU_NONE; i++)
		if (o->input[i] != NPU_NONE)
			layer->input = npu_opt_value(opt, o->input[i]);
	layer->output = npu_opt_value(opt, o->output[0]);
	layer->window = o->window;
	layer->cpu_reason = opt->op[op].cpu_reason;
	return npu_opt_set_group(opt, layer, &op, 1);
}

int npu_pass_lower(struct npu_opt *opt)
{
	u32 i;

	for (i = 0; i < opt->graph->op_count; i++) {
		int error;

		if (opt->op[i].done || opt->op[i].identity)
			continue;
		error = opt->op[i].cpu_reason
				? npu_lower_cpu(opt, i)
				: npu_op_support[opt->graph->op[i].kind].lower(opt, i);
		if (error)
			return npu_diag_set(opt->diag, error, "%s: %s cannot be lowered",
					    opt->graph->file, opt->graph->op[i].name);
	}
	return 0;
}
