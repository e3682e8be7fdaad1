// SPDX-License-Identifier: MIT
/* Padding in front of a convolution becomes the convolution's own, where registers allow. */
#include "optimise.h"

/* Zero point padding of height and width alone. */
static bool pads_plane(const struct npu_graph *graph, const struct npu_op *pad)
{
	const struct npu_tensor *in = npu_op_input(graph, pad, 0);
	const struct npu_tensor *value = npu_op_input(graph, pad, 1);
	u32 i;

	if (in->rank != 4 || in->data || !npu_is_quantised(in))
		return false;
	for (i = 0; i < 4; i++)
		if (pad->begin[i] < 0 || pad->end[i] < 0 ||
		    ((i == 0 || i == 3) && (pad->begin[i] || pad->end[i])))
			return false;
	if (!value)
		return true;
	if (!value->data || value->bytes != 1 || value->dtype != in->dtype)
		return false;
	return (in->dtype == NPU_U8 ? *(const u8 *)value->data : *(const s8 *)value->data) ==
	       in->quant.zero[0];
}

static bool fits(u32 before, u32 after, u32 kernel, u32 dilation)
{
	return before < npu_dilated(kernel, dilation) && after < npu_dilated(kernel, dilation) &&
	       before <= NPU_CONV_MAX_PAD && after <= NPU_CONV_MAX_PAD;
}

int npu_pass_fold_pad(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *pad = &graph->op[i], *conv;
		const struct npu_opt_tensor *out;
		const struct npu_window *w;

		if (pad->kind != NPU_OP_PAD || !pads_plane(graph, pad))
			continue;
		out = &opt->tensor[pad->output[0]];
		if (out->consumers != 1 || out->is_output || opt->op[out->consumer].cpu_reason)
			continue;
		conv = &graph->op[out->consumer];
		w = &conv->window;
		if (conv->kind != NPU_OP_CONV || conv->input[0] != pad->output[0] ||
		    !fits(w->pad_top + pad->begin[1], w->pad_bottom + pad->end[1], w->r,
			  w->dilation_y) ||
		    !fits(w->pad_left + pad->begin[2], w->pad_right + pad->end[2], w->s,
			  w->dilation_x))
			continue;
		opt->op[out->consumer].pad = i;
		opt->op[i].done = true;
		opt->op[i].cpu_reason = NULL;
	}
	return 0;
}
