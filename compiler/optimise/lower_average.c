// SPDX-License-Identifier: MIT
/*
 * Averages as depthwise convolutions with kernels of ones: one rounding, where PDP's average rounds
 * width and height apart.
 */
#include "conv.h"

/*
 * Ties round away from zero in the reference and in SDP; a multiplier that is too large by less than
 * its last bit keeps them ties or beyond.
 */
#define ROUND_UP 3e-5

static const s32 no_zero;

int npu_lower_average(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	struct npu_conv conv = {
		.op = op,
		.in = npu_op_input(graph, o, 0),
		.out = npu_op_output(graph, o),
		.pad = NPU_NONE,
		.pool = NPU_NONE,
		.input = npu_opt_value(opt, o->input[0]),
		.output = npu_opt_value(opt, o->output[0]),
		.window = o->window,
		.h = 1,
		.w = 1,
	};
	u32 in[4], out[4], count;
	s8 *ones;

	npu_tensor_nhwc(conv.in, in);
	npu_tensor_nhwc(conv.out, out);
	if (o->kind == NPU_OP_MEAN) {
		conv.window.r = in[1];
		conv.window.s = in[2];
	} else {
		conv.h = out[1];
		conv.w = out[2];
	}
	count = conv.window.r * conv.window.s;
	/* A pool ignores zero points and rounds stored values; a mean rounds real ones. */
	conv.raw = o->kind == NPU_OP_AVERAGE_POOL;
	conv.multiplier = (1 + ROUND_UP) / count;
	if (!conv.raw)
		conv.multiplier *= (double)conv.in->quant.scale[0] / conv.out->quant.scale[0];
	ones = npu_arena_array(&opt->net->arena, in[3], count);
	if (!ones)
		return npu_opt_nomem(opt);
	memset(ones, 1, (size_t)in[3] * count);
	conv.kernels = (struct npu_kernels){
		.data = ones,
		.zero = &no_zero,
		.zero_count = 1,
		.k = in[3],
		.r = conv.window.r,
		.s = conv.window.s,
		.channels = 1,
		.groups = in[3],
	};
	/* A stride that is never taken may be larger than the register holds. */
	if (conv.h == 1)
		conv.window.stride_y = 1;
	if (conv.w == 1)
		conv.window.stride_x = 1;
	return npu_conv_layer(opt, &conv);
}
