// SPDX-License-Identifier: MIT
#include "select.h"

#include "conv.h"

u64 npu_select_cycles(const struct nvdla_config *config, u64 pixels, u32 c, u32 k)
{
	return pixels * DIV_ROUND_UP(c, (u32)config->atomic_c) *
	       DIV_ROUND_UP(k, (u32)config->atomic_k);
}

int npu_opt_select(struct npu_opt *opt, const struct npu_select *select)
{
	static const s32 no_zero;
	const struct npu_op *op = &opt->graph->op[select->op];
	const struct npu_value *in = &opt->net->value[select->input];
	const struct npu_value *out = &opt->net->value[select->output];
	struct npu_conv conv = {
		.op = select->op,
		.in = npu_op_input(opt->graph, op, 0),
		.out = npu_op_output(opt->graph, op),
		.pad = NPU_NONE,
		.pool = NPU_NONE,
		.input = select->input,
		.output = select->output,
		.is_part = select->is_part,
		.window = { 1, 1, select->stride_y, select->stride_x, 1, 1, 0, 0, 0, 0 },
		.kernels = { .zero = &no_zero,
			     .zero_count = 1,
			     .k = out->c,
			     .r = 1,
			     .s = 1,
			     .channels = in->c,
			     .groups = 1 },
		.h = out->h,
		.w = out->w,
		.multiplier = 1,
		.raw = true,
	};
	s8 *ones = npu_arena_array(&opt->net->arena, out->c, in->c);
	u32 k;

	if (!ones)
		return npu_opt_nomem(opt);
	for (k = 0; k < out->c; k++)
		ones[(size_t)k * in->c + select->channel[k]] = 1;
	conv.kernels.data = ones;
	/* A stride that is never taken may be larger than the register holds. */
	conv.window.stride_y = conv.h == 1 ? 1 : conv.window.stride_y;
	conv.window.stride_x = conv.w == 1 ? 1 : conv.window.stride_x;
	return npu_conv_layer(opt, &conv);
}
