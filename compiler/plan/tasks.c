// SPDX-License-Identifier: MIT
/* From the passes of a split to tasks. */
#include "plan_internal.h"

#include "nvdla_cbuf.h"

/* The passes of one channel block under way. */
struct block {
	struct npu_planner *p;
	const struct npu_conv_shape *shape;
	const struct npu_split *split;
	u32 layer;
};

/* A pass that begins a run: it fetches all that it needs. */
static void set_task(const struct block *b, const struct npu_split_pass *pass, struct npu_task *t)
{
	const struct nvdla_config *config = b->p->net->config;
	const struct npu_conv_shape *shape = b->shape;
	const struct npu_tile *tile = &b->split->tile[pass->rows.tile];
	struct npu_piece rows = npu_axis_piece(&shape->rows, pass->rows.from, pass->rows.to);
	struct npu_piece cols = npu_axis_piece(&shape->cols, tile->x, tile->x + tile->cols);

	*t = (struct npu_task){
		.kind = NPU_LAYER_CONV,
		.layer = b->layer,
		.y = rows.out,
		.rows = rows.outs,
		.x = cols.out,
		.cols = cols.outs,
		.conv_y = rows.conv,
		.conv_rows = rows.convs,
		.conv_x = cols.conv,
		.conv_cols = cols.convs,
		.k = pass->first * config->atomic_k,
		.kernels = npu_split_kernels(config, shape, pass->first, pass->groups),
		.in_y = rows.in * shape->row_step,
		.in_rows = rows.ins,
		.in_x = cols.in,
		.in_cols = cols.ins,
		.pad_top = rows.before,
		.pad_bottom = rows.after,
		.pad_left = cols.before,
		.pad_right = cols.after,
		.row_step = shape->row_step,
		.eps = npu_split_line_entries(config, shape, cols.ins),
		.data_banks = b->split->data_banks,
		.weight_banks = b->split->weight_banks,
		.rls_slices = rows.ins,
		.pooled = shape->pooled,
	};
	if (shape->pooled) {
		t->pool_pad_top = rows.pool_before;
		t->pool_pad_bottom = rows.pool_after;
		t->pool_pad_left = cols.pool_before;
		t->pool_pad_right = cols.pool_after;
	}
}

/* What stays in the buffer is not fetched, and not released before. */
static void link_tasks(const struct npu_split_pass *pass, struct npu_task *a, struct npu_task *b)
{
	b->data_reuse = pass->lines;
	b->kept_rows = pass->lines;
	b->in_rows -= pass->lines;
	if (pass->whole) {
		a->skip_data_rls = true;
	} else {
		a->rls_slices -= pass->lines;
		b->in_y += pass->lines * b->row_step;
	}
	a->skip_weight_rls = pass->weights;
	b->weight_reuse = pass->weights;
}

static int add_tasks(const struct block *b)
{
	struct npu_passes *list = &b->p->passes;
	struct npu_task *task = npu_planner_tasks(b->p, list->count);
	u32 i;

	if (!task)
		return -ENOMEM;
	if (npu_passes_cut(list) == NPU_PASS_BOUND)
		return -EFBIG;
	for (i = 0; i < list->count; i++)
		set_task(b, &list->pass[i], &task[i]);
	for (i = 0; i < list->count; i++)
		if (!list->pass[i].begins)
			link_tasks(&list->pass[i], &task[i - 1], &task[i]);
	for (i = 0; i < list->count; i++)
		task[i].cost = npu_cost_conv(b->p->net->config, b->shape, &task[i]);
	return 0;
}

static int copy_blocks(struct npu_planner *p, u32 first, u32 count, u32 blocks)
{
	u32 block, i;

	for (block = 1; block < blocks; block++) {
		struct npu_task *t = npu_planner_tasks(p, count);

		if (!t)
			return -ENOMEM;
		memcpy(t, p->task + first, count * sizeof(*t));
		for (i = 0; i < count; i++)
			t[i].block = block;
	}
	return 0;
}

int npu_plan_conv_tasks(struct npu_planner *p, u32 layer, const struct npu_conv_shape *shape,
			const struct npu_split *split)
{
	const struct block b = { p, shape, split, layer };
	u32 first = p->task_count;
	int err;

	err = npu_passes_list(&p->passes, p->net->config, shape, split);
	if (!err)
		err = add_tasks(&b);
	if (err)
		return err;
	return copy_blocks(p, first, p->task_count - first, max(p->net->layer[layer].blocks, 1u));
}
