// SPDX-License-Identifier: MIT
/* Pooling from memory: as few passes as PDP's line buffer and registers allow. */
#include "plan_internal.h"

#include "nvdla_pdp.h"
#include "nvdla_regs.h"

static void fill(struct npu_task *t, u32 layer, const struct npu_piece *rows,
		 const struct npu_piece *cols)
{
	*t = (struct npu_task){
		.kind = NPU_LAYER_PDP,
		.layer = layer,
		.y = rows->out,
		.rows = rows->outs,
		.x = cols->out,
		.cols = cols->outs,
		.conv_y = rows->out,
		.conv_rows = rows->outs,
		.conv_x = cols->out,
		.conv_cols = cols->outs,
		/* Exactly the rows that windows cover: rows left unread spoil the next pass. */
		.in_y = rows->in,
		.in_rows = rows->ins,
		.in_x = cols->in,
		.in_cols = cols->ins,
		.pad_top = rows->before,
		.pad_bottom = rows->after,
		.pad_left = cols->before,
		.pad_right = cols->after,
		.row_step = 1,
	};
}

/* Widest piece from @from on: line buffer and the registers of the size. */
static u32 next_column(const struct npu_axis *cols, u32 from, u32 limit)
{
	u32 most = NVDLA_FIELD_MAX(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1;

	return min(npu_axis_reach(cols, from, most), from + limit);
}

/* All channels of a range of output columns. */
static int add_columns(struct npu_planner *p, u32 layer, u32 channels, const struct npu_piece *rows,
		       const struct npu_piece *cols)
{
	u32 most = NVDLA_FIELD_MAX(PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1, channel;

	for (channel = 0; channel < channels; channel += most) {
		struct npu_task *t = npu_planner_tasks(p, 1);

		if (!t)
			return -ENOMEM;
		fill(t, layer, rows, cols);
		t->k = channel;
		t->kernels = min(most, channels - channel);
		t->cost = npu_cost_pool(p->net->config, t);
	}
	return 0;
}

int npu_plan_pool_tasks(struct npu_planner *p, u32 index)
{
	const struct npu_layer *layer = &p->net->layer[index];
	u32 from_value = layer->kind == NPU_LAYER_PDP ? layer->input : layer->unpooled;
	const struct npu_value *in = &p->net->value[from_value];
	const struct npu_value *out = &p->net->value[layer->output];
	const struct npu_window *w = &layer->pool.window;
	struct npu_axis rows = { in->h, out->h, out->h, w->r, w->stride_y, w->pad_top, 1, 1, 0 };
	struct npu_axis cols = { in->w, out->w, out->w, w->s, w->stride_x, w->pad_left, 1, 1, 0 };
	u32 limit = nvdla_pdp_width_limit(w->r, w->stride_y), from, to;
	u32 lines = NVDLA_FIELD_MAX(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1;
	struct npu_piece y, x;
	int err = 0;

	if (!npu_axis_sound(&rows) || !npu_axis_sound(&cols) ||
	    npu_axis_reach(&rows, 0, lines) < rows.out)
		return -EINVAL;
	y = npu_axis_piece(&rows, 0, rows.out);
	for (from = 0; from < cols.out && !err; from = to) {
		to = next_column(&cols, from, limit);
		if (to == from)
			return -EINVAL;
		x = npu_axis_piece(&cols, from, to);
		err = add_columns(p, index, in->c, &y, &x);
	}
	return err;
}
