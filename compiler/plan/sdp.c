// SPDX-License-Identifier: MIT
/* Element-wise layers: SDP takes a whole value in one pass, as far as its registers hold the size. */
#include "plan_internal.h"

#include "nvdla_regs.h"

int npu_plan_sdp_tasks(struct npu_planner *p, u32 index)
{
	const struct npu_layer *layer = &p->net->layer[index];
	const struct npu_value *out = &p->net->value[layer->output];
	u32 most = NVDLA_FIELD_MAX(SDP, D_DATA_CUBE_CHANNEL, CHANNEL) + 1, channel;

	if (out->h - 1 > NVDLA_FIELD_MAX(SDP, D_DATA_CUBE_HEIGHT, HEIGHT) ||
	    out->w - 1 > NVDLA_FIELD_MAX(SDP, D_DATA_CUBE_WIDTH, WIDTH))
		return -EINVAL;
	for (channel = 0; channel < out->c; channel += most) {
		struct npu_task *t = npu_planner_tasks(p, 1);

		if (!t)
			return -ENOMEM;
		*t = (struct npu_task){
			.kind = NPU_LAYER_SDP,
			.layer = index,
			.rows = out->h,
			.cols = out->w,
			.conv_rows = out->h,
			.conv_cols = out->w,
			.k = channel,
			.kernels = min(most, out->c - channel),
			.in_rows = out->h,
			.in_cols = out->w,
			.row_step = 1,
		};
		t->cost = npu_cost_sdp(p->net, layer, t);
	}
	return 0;
}
