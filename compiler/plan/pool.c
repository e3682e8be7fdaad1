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

/* All channels of a box of the output. */
static int add_box(struct npu_planner *p, u32 layer, u32 channels, const struct npu_piece *rows,
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

static const struct npu_value *source(const struct npu_net *net, const struct npu_layer *layer)
{
	return &net->value[layer->has_pool ? layer->unpooled : layer->input];
}

struct npu_axis npu_pool_rows(const struct npu_net *net, const struct npu_layer *layer)
{
	u32 in = source(net, layer)->h, out = net->value[layer->output].h;
	const struct npu_window *w = &layer->pool.window;

	return (struct npu_axis){ in, out, out, w->r, w->stride_y, w->pad_top, 1, 1, 0 };
}

/* A range of output rows, in pieces of as many columns as are possible. */
static int add_rows(struct npu_planner *p, u32 index, const struct npu_piece *y,
		    const struct npu_axis *cols, u32 limit)
{
	u32 channels = source(p->net, &p->net->layer[index])->c, from, to;
	struct npu_piece x;
	int err = 0;

	for (from = 0; from < cols->out && !err; from = to) {
		to = next_column(cols, from, limit);
		if (to == from)
			return -EINVAL;
		x = npu_axis_piece(cols, from, to);
		err = add_box(p, index, channels, y, &x);
	}
	return err;
}

int npu_plan_pool_tasks(struct npu_planner *p, u32 index)
{
	const struct npu_layer *layer = &p->net->layer[index];
	const struct npu_value *in = source(p->net, layer);
	const struct npu_value *out = &p->net->value[layer->output];
	const struct npu_window *w = &layer->pool.window;
	struct npu_axis rows = npu_pool_rows(p->net, layer);
	struct npu_axis cols = { in->w, out->w, out->w, w->s, w->stride_x, w->pad_left, 1, 1, 0 };
	u32 limit = nvdla_pdp_width_limit(w->r, w->stride_y), from, i, cut_count;
	u32 lines = NVDLA_FIELD_MAX(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1;
	const u32 *cut;
	int err;

	if (!npu_axis_sound(&rows) || !npu_axis_sound(&cols) ||
	    npu_axis_reach(&rows, 0, lines) < rows.out)
		return -EINVAL;
	err = npu_plan_cuts(p->net, p->plan, index, NPU_PASS_POOL, &cut, &cut_count);
	for (from = 0, i = 0; i <= cut_count && !err; i++) {
		u32 to = i < cut_count ? cut[i] : rows.out;
		struct npu_piece y = npu_axis_piece(&rows, from, to);

		err = add_rows(p, index, &y, &cols, limit);
		from = to;
	}
	return err;
}
