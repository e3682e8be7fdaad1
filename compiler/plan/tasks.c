// SPDX-License-Identifier: MIT
/* From a split to its passes: their order, and what stays in the buffer from each to the next. */
#include "plan_internal.h"

#include <stdlib.h>

#include "nvdla_cbuf.h"

/* The passes of one channel block under way. */
struct block {
	struct npu_planner *p;
	const struct npu_conv_shape *shape;
	const struct npu_split *split;
	u32 first_task;
	u32 layer;
	u32 groups;
	u32 span_groups; /* see npu_span_groups() */
	int error;
};

static u32 first_line(const struct npu_conv_shape *shape, const struct npu_task *t)
{
	return npu_axis_first(&shape->rows, t->y);
}

static u32 end_line(const struct npu_conv_shape *shape, const struct npu_task *t)
{
	return npu_axis_end(&shape->rows, t->y + t->rows);
}

/* Input of @a stays in the buffer for @b as far as both need it. */
static void link_data(const struct npu_conv_shape *shape, struct npu_task *a, struct npu_task *b)
{
	u32 a_first = first_line(shape, a), a_end = end_line(shape, a);
	u32 b_first = first_line(shape, b), b_end = end_line(shape, b);

	if (a->x != b->x || a->cols != b->cols)
		return;
	if (a->y == b->y && a->rows == b->rows) {
		a->skip_data_rls = true;
		b->data_reuse = true;
		b->kept_rows = b->in_rows;
		b->in_rows = 0;
		return;
	}
	/* Only lines at the end can stay, at least one is released, and a new one has to follow. */
	if (b_first <= a_first || b_first >= a_end || b_end <= a_end)
		return;
	a->rls_slices = b_first - a_first;
	b->data_reuse = true;
	b->kept_rows = a_end - b_first;
	b->in_rows -= b->kept_rows;
	b->in_y += b->kept_rows * b->row_step;
}

static bool weights_fit(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			const struct npu_task *t)
{
	u64 kernel = (u64)shape->c * shape->taps_y * shape->taps_x;

	return nvdla_cbuf_weight_bytes(config, t->kernels, kernel) <=
	       (u64)t->weight_banks * config->entries * config->entry_bytes;
}

static void link_tasks(const struct block *block, struct npu_task *a, struct npu_task *b)
{
	const struct npu_conv_shape *shape = block->shape;
	const struct npu_split *split = block->split;
	bool weights_stay = split->mode != NPU_SPLIT_STREAM || split->range;

	link_data(shape, a, b);
	if (weights_stay && a->k == b->k && a->kernels == b->kernels &&
	    weights_fit(block->p->net->config, shape, b)) {
		a->skip_weight_rls = true;
		b->weight_reuse = true;
	}
}

/* One pass: kernel groups [@first, @first + @groups) of a piece. */
static void add_pass(struct block *b, const struct npu_row_piece *piece, u32 first, u32 groups)
{
	const struct nvdla_config *config = b->p->net->config;
	const struct npu_conv_shape *shape = b->shape;
	const struct npu_tile *tile = &b->split->tile[piece->tile];
	struct npu_piece rows = npu_axis_piece(&shape->rows, piece->from, piece->to);
	struct npu_piece cols = npu_axis_piece(&shape->cols, tile->x, tile->x + tile->cols);
	struct npu_task *t;

	if (b->error || !groups)
		return;
	t = npu_planner_tasks(b->p, 1);
	if (!t) {
		b->error = -ENOMEM;
		return;
	}
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
		.k = first * config->atomic_k,
		.kernels = npu_split_kernels(config, shape, first, groups),
		.in_y = rows.in * shape->row_step,
		.in_rows = rows.ins,
		.in_x = cols.in,
		.in_cols = cols.ins,
		.pad_top = rows.before,
		.pad_bottom = rows.after,
		.pad_left = cols.before,
		.pad_right = cols.after,
		.row_step = shape->row_step,
		.eps = nvdla_cbuf_feature_eps(config, cols.ins, shape->c),
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
	if (b->p->task_count - 1 > b->first_task)
		link_tasks(b, t - 1, t);
}

/*
 * As add_pass(), but single atoms of a larger plane group by group, and no pass with weights from two
 * pieces of memory.
 */
static void add_kernels(struct block *b, const struct npu_row_piece *piece, u32 first, u32 groups)
{
	const struct npu_tile *tile = &b->split->tile[piece->tile];
	u32 most = b->span_groups, end = first + groups, to;

	if (npu_split_is_single(b->shape, piece->to - piece->from, tile->cols))
		most = 1;
	for (; first < end; first = to) {
		to = min(end, (first / most + 1) * most);
		add_pass(b, piece, first, to - first);
	}
}

static int list_pieces(struct npu_planner *p, const struct npu_conv_shape *shape,
		       const struct npu_split *split)
{
	u32 tile, from, to, n = split->pieces;

	if (split->pieces > p->piece_room) {
		struct npu_row_piece *grown = reallocarray(p->piece, split->pieces, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		p->piece = grown;
		p->piece_room = split->pieces;
	}
	for (tile = split->tile_count; tile--;)
		for (to = shape->rows.out; to; to = from) {
			from = npu_split_piece(shape, &split->tile[tile], to);
			p->piece[--n] = (struct npu_row_piece){ tile, from, to };
		}
	return 0;
}

static void add_resident(struct block *b)
{
	u32 i;

	for (i = 0; i < b->split->pieces; i++)
		add_kernels(b, &b->p->piece[i], 0, b->groups);
}

/* Each piece begins with the groups that the one before left, and leaves those of the other end. */
static void add_stream(struct block *b)
{
	u32 pieces = b->split->pieces, keep = b->split->range, rest = b->groups - keep, i;

	if (!keep) {
		add_resident(b);
		return;
	}
	for (i = 0; i < pieces; i++) {
		const struct npu_row_piece *piece = &b->p->piece[i];
		bool up = i % 2 == 0; /* from the first groups to the last ones */
		bool last = i + 1 == pieces;

		if (!i) {
			add_kernels(b, piece, 0, rest);
			add_kernels(b, piece, rest, keep);
			continue;
		}
		add_kernels(b, piece, up ? 0 : rest, keep);
		if (last) {
			add_kernels(b, piece, up ? keep : 0, rest);
			continue;
		}
		add_kernels(b, piece, keep, b->groups - 2 * keep);
		add_kernels(b, piece, up ? rest : 0, keep);
	}
}

/* Each range begins with the piece at which the one before ended. */
static void add_ranges(struct block *b)
{
	u32 pieces = b->split->pieces, range = b->split->range, start = 0, first, i;

	for (first = 0; first < b->groups; first += range) {
		u32 groups = min(range, b->groups - first);

		for (i = 0; i < pieces; i++)
			add_kernels(b, &b->p->piece[(start + i) % pieces], first, groups);
		start = (start + pieces - 1) % pieces;
	}
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
	struct block b = {
		.p = p,
		.shape = shape,
		.split = split,
		.first_task = p->task_count,
		.layer = layer,
		.groups = npu_split_groups(p->net->config, shape),
		.span_groups = npu_span_groups(p->net->config,
					       (u64)shape->c * shape->taps_y * shape->taps_x,
					       p->plan->budget.region_bytes),
	};
	u32 i;

	b.error = list_pieces(p, shape, split);
	if (b.error)
		return b.error;
	if (split->mode == NPU_SPLIT_RESIDENT)
		add_resident(&b);
	else if (split->mode == NPU_SPLIT_STREAM)
		add_stream(&b);
	else
		add_ranges(&b);
	if (b.error)
		return b.error;
	for (i = b.first_task; i < p->task_count; i++)
		p->task[i].cost = npu_cost_conv(p->net->config, shape, &p->task[i]);
	return copy_blocks(p, b.first_task, p->task_count - b.first_task,
			   max(p->net->layer[layer].blocks, 1u));
}
