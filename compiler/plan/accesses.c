// SPDX-License-Identifier: MIT
/* Rows of values that a task touches through one address: they must lie in one band. */
#include "plan_internal.h"

static bool is_torn(const struct npu_plan *plan, u32 value, u32 first, u32 rows)
{
	return rows &&
	       npu_plan_band(plan, value, first) != npu_plan_band(plan, value, first + rows - 1);
}

/* What SDP reads for each element, and what it or PDP behind it writes. */
static u32 torn_by_sdp(const struct npu_layer *layer, const struct npu_plan *plan,
		       const struct npu_task *t)
{
	u32 output = t->pooled || !layer->has_pool ? layer->output : layer->unpooled;
	u32 value[NPU_SDP_STAGES], i, n = npu_sdp_elements(&layer->sdp, value);

	for (i = 0; i < n; i++)
		if (is_torn(plan, value[i], t->conv_y, t->conv_rows))
			return value[i];
	return is_torn(plan, output, t->y, t->rows) ? output : NPU_NONE;
}

u32 npu_task_torn_value(const struct npu_net *net, const struct npu_plan *plan,
			const struct npu_task *t)
{
	const struct npu_layer *layer = &net->layer[t->layer];
	u32 input = t->kind == NPU_LAYER_PDP && layer->has_pool ? layer->unpooled : layer->input;

	/* Lines that are still in the buffer are not read. */
	if (t->in_rows && is_torn(plan, input, t->in_y, (t->in_rows - 1) * t->row_step + 1))
		return input;
	if (t->kind != NPU_LAYER_PDP)
		return torn_by_sdp(layer, plan, t);
	return is_torn(plan, layer->output, t->y, t->rows) ? layer->output : NPU_NONE;
}
