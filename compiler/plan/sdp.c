// SPDX-License-Identifier: MIT
/*
 * Layers whose output has the input's shape: SDP and CDP take a whole value in one pass, as far as
 * their registers, which are alike, hold the size and memory holds it in one piece.
 */
#include "plan_internal.h"

#include "nvdla_regs.h"

/* All channels of rows [@from, @to). */
static int add_rows(struct npu_planner *p, u32 index, u32 from, u32 to)
{
	const struct npu_layer *layer = &p->net->layer[index];
	const struct npu_value *out = &p->net->value[layer->output];
	u32 most = NVDLA_FIELD_MAX(SDP, D_DATA_CUBE_CHANNEL, CHANNEL) + 1, channel;

	for (channel = 0; channel < out->c; channel += most) {
		struct npu_task *t = npu_planner_tasks(p, 1);

		if (!t)
			return -ENOMEM;
		*t = (struct npu_task){
			.kind = layer->kind,
			.layer = index,
			.y = from,
			.rows = to - from,
			.cols = out->w,
			.conv_y = from,
			.conv_rows = to - from,
			.conv_cols = out->w,
			.k = channel,
			.kernels = min(most, out->c - channel),
			.in_y = from,
			.in_rows = to - from,
			.in_cols = out->w,
			.row_step = 1,
		};
		t->cost = layer->kind == NPU_LAYER_CDP ? npu_cost_cdp(p->net->config, layer, t)
						       : npu_cost_sdp(p->net, layer, t);
	}
	return 0;
}

int npu_plan_sdp_tasks(struct npu_planner *p, u32 index)
{
	const struct npu_value *out = &p->net->value[p->net->layer[index].output];
	u32 from = 0, i, cut_count;
	const u32 *cut;
	int err;

	if (out->h - 1 > NVDLA_FIELD_MAX(SDP, D_DATA_CUBE_HEIGHT, HEIGHT) ||
	    out->w - 1 > NVDLA_FIELD_MAX(SDP, D_DATA_CUBE_WIDTH, WIDTH))
		return -EINVAL;
	err = npu_plan_cuts(p->net, p->plan, index, NPU_PASS_SDP, &cut, &cut_count);
	for (i = 0; i <= cut_count && !err; i++) {
		u32 to = i < cut_count ? cut[i] : out->h;

		err = add_rows(p, index, from, to);
		from = to;
	}
	return err;
}
