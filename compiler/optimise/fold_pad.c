// SPDX-License-Identifier: MIT
/* Padding in front of a convolution becomes the convolution's own, where registers or cells allow. */
#include "cells.h"

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

/* Can the convolution have the padding too? */
static bool can_fold(const struct npu_opt *opt, const struct npu_op *conv, const struct npu_op *pad)
{
	struct npu_window w = conv->window;
	struct npu_cells cells;
	u32 in[4], out[4];

	w.pad_top += (u32)pad->begin[1];
	w.pad_left += (u32)pad->begin[2];
	npu_tensor_nhwc(npu_op_input(opt->graph, pad, 0), in);
	npu_tensor_nhwc(npu_op_output(opt->graph, conv), out);
	return npu_window_fits_conv(&w, in[1], in[2], out[1], out[2]) ||
	       !npu_plan_cells(opt, conv, in, &w, &cells);
}

int npu_pass_fold_pad(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *pad = &graph->op[i], *conv;
		const struct npu_opt_tensor *out;

		if (pad->kind != NPU_OP_PAD || !pads_plane(graph, pad))
			continue;
		out = &opt->tensor[pad->output[0]];
		if (out->consumers != 1 || out->is_output || opt->op[out->consumer].cpu_reason)
			continue;
		conv = &graph->op[out->consumer];
		if (conv->kind != NPU_OP_CONV || conv->input[0] != pad->output[0] ||
		    !can_fold(opt, conv, pad))
			continue;
		opt->op[out->consumer].pad = i;
		opt->op[i].done = true;
		opt->op[i].cpu_reason = NULL;
	}
	return 0;
}
