// SPDX-License-Identifier: MIT
/*
 * Maximum pooling behind a convolution can take its values on the fly.  Bytes are the same either
 * way, so the plan decides; here candidates are found.
 */
#include "optimise.h"

int npu_pass_fuse_pool(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *pool = &graph->op[i];
		const struct npu_opt_tensor *in;

		if (pool->kind != NPU_OP_MAX_POOL || opt->op[i].cpu_reason)
			continue;
		in = &opt->tensor[pool->input[0]];
		if (in->producer == NPU_NONE || in->consumers != 1 || in->is_output ||
		    in->root != pool->input[0])
			continue;
		if (pool->window.r > NPU_PDP_MAX_KERNEL || pool->window.s > NPU_PDP_MAX_KERNEL ||
		    pool->window.stride_y > NPU_PDP_MAX_STRIDE ||
		    pool->window.stride_x > NPU_PDP_MAX_STRIDE)
			continue;
		/* A sum counts where it is fused into a convolution, which is decided later. */
		if ((graph->op[in->producer].kind == NPU_OP_CONV ||
		     graph->op[in->producer].kind == NPU_OP_ADD) &&
		    !opt->op[in->producer].cpu_reason && pool->activation == NPU_ACT_NONE)
			opt->op[in->producer].pool = i;
	}
	return 0;
}
