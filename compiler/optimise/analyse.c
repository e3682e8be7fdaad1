// SPDX-License-Identifier: MIT
/* Which consumers and producers a tensor has, and what each operator starts as. */
#include "optimise.h"

int npu_pass_analyse(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	opt->tensor = npu_arena_array(&opt->net->arena, graph->tensor_count, sizeof(*opt->tensor));
	opt->op = npu_arena_array(&opt->net->arena, graph->op_count, sizeof(*opt->op));
	if (!opt->tensor || !opt->op)
		return npu_opt_nomem(opt);
	for (i = 0; i < graph->tensor_count; i++)
		opt->tensor[i] = (struct npu_opt_tensor){
			.producer = NPU_NONE, .consumer = NPU_NONE, .root = i, .value = NPU_NONE
		};
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		opt->op[i] = (struct npu_opt_op){
			.pad = NPU_NONE, .add = NPU_NONE, .pool = NPU_NONE, .pixels = NPU_NONE
		};
		for (j = 0; j < op->output_count; j++)
			opt->tensor[op->output[j]].producer = i;
		for (j = 0; j < op->input_count; j++) {
			struct npu_opt_tensor *in;

			if (op->input[j] == NPU_NONE)
				continue;
			in = &opt->tensor[op->input[j]];
			if (in->consumer != i)
				in->consumers++;
			in->consumer = i;
		}
	}
	for (i = 0; i < graph->output_count; i++)
		opt->tensor[graph->output[i]].is_output = true;
	return 0;
}
