// SPDX-License-Identifier: MIT
/*
 * A sum of a convolution's result, used nowhere else, and an older value can be done by the
 * convolution's own pass: SDP reads the older value element by element.  Here candidates are found;
 * whether the arithmetic is good enough is decided where the convolution is lowered.
 */
#include "binary.h"

static bool is_candidate(const struct npu_opt *opt, const struct npu_op *add, u32 conv, u32 other)
{
	const struct npu_opt_tensor *out = &opt->tensor[opt->graph->op[conv].output[0]];
	u32 producer = opt->tensor[other].producer;

	if (opt->graph->op[conv].kind != NPU_OP_CONV || opt->op[conv].cpu_reason)
		return false;
	/* A clamp between convolution and sum would be lost. */
	if (opt->graph->op[conv].activation != NPU_ACT_NONE)
		return false;
	if (out->consumers != 1 || out->is_output)
		return false;
	/* Names of one value, and values that are computed later, are not to be had in time. */
	return opt->tensor[opt->graph->op[conv].output[0]].root != opt->tensor[other].root &&
	       (producer == NPU_NONE || producer < conv) && add->input[0] != add->input[1];
}

int npu_pass_fuse_residual(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *add = &graph->op[i];
		struct npu_binary binary;

		if (add->kind != NPU_OP_ADD || opt->op[i].cpu_reason ||
		    npu_binary_of(graph, add, &binary) || binary.constant ||
		    binary.from != NPU_OPERAND_ELEMENT)
			continue;
		for (j = 0; j < 2; j++) {
			u32 conv = opt->tensor[add->input[j]].producer;

			if (conv == NPU_NONE || !is_candidate(opt, add, conv, add->input[1 - j]))
				continue;
			opt->op[conv].add = i;
			break;
		}
	}
	return 0;
}
