// SPDX-License-Identifier: MIT
#include "passes.h"

#include <errno.h>
#include <stdlib.h>

#include "nvdla_cbuf.h"
#include "nvdla_chain.h"

/* The list that is made. */
struct walk {
	struct npu_passes *passes;
	const struct nvdla_config *config;
	const struct npu_conv_shape *shape;
	const struct npu_split *split;
	u32 groups;
	int error;
};

void npu_passes_free(struct npu_passes *passes)
{
	free(passes->piece);
	free(passes->pass);
}

/* ---- links --------------------------------------------------------------------------- */

static u32 first_line(const struct walk *w, const struct npu_row_piece *rows)
{
	return npu_axis_first(&w->shape->rows, rows->from);
}

static u32 end_line(const struct walk *w, const struct npu_row_piece *rows)
{
	return npu_axis_end(&w->shape->rows, rows->to);
}

/* Input of @a stays in the buffer for @b as far as both need it. */
static void link_data(const struct walk *w, const struct npu_row_piece *a, struct npu_split_pass *b)
{
	u32 a_first = first_line(w, a), a_end = end_line(w, a);
	u32 b_first = first_line(w, &b->rows), b_end = end_line(w, &b->rows);

	if (a->tile != b->rows.tile)
		return;
	b->whole = a->from == b->rows.from && a->to == b->rows.to;
	/* Only lines at the end can stay, at least one is released, and a new one has to follow. */
	if (b->whole)
		b->lines = b_end - b_first;
	else if (b_first > a_first && b_first < a_end && b_end > a_end)
		b->lines = a_end - b_first;
}

/* Do the lines of a piece lie in two pieces of memory?  Then one pass cannot fetch them all. */
static bool is_torn(const struct walk *w, const struct npu_row_piece *rows)
{
	u32 first = first_line(w, rows) * w->shape->row_step;
	u32 last = (end_line(w, rows) - 1) * w->shape->row_step, i;

	for (i = 0; i < w->shape->band_count; i++)
		if (w->shape->band[i].first > first && w->shape->band[i].first <= last)
			return true;
	return false;
}

static u64 weight_bytes(const struct walk *w, const struct npu_split_pass *b)
{
	return npu_split_weight_bytes(w->config, w->shape, b->first, b->groups);
}

static bool weights_stay(const struct walk *w, const struct npu_split_pass *a,
			 const struct npu_split_pass *b)
{
	const struct nvdla_config *cfg = w->config;

	return w->split->mode != NPU_SPLIT_STREAM && a->first == b->first &&
	       a->groups == b->groups &&
	       weight_bytes(w, b) <= (u64)w->split->weight_banks * cfg->entries * cfg->entry_bytes;
}

static void link_pass(const struct walk *w, const struct npu_split_pass *a,
		      struct npu_split_pass *b)
{
	const struct npu_tile *tile = &w->split->tile[b->rows.tile];
	u32 columns = npu_axis_piece(&w->shape->cols, tile->x, tile->x + tile->cols).ins;

	link_data(w, &a->rows, b);
	b->weights = weights_stay(w, a, b);
	if (b->lines)
		b->saved = npu_split_line_bytes(w->config, w->shape, columns) * b->lines;
	if (b->weights)
		b->saved += weight_bytes(w, b);
	if (b->lines && is_torn(w, &b->rows))
		b->saved = NPU_PASS_BOUND;
}

/* ---- order --------------------------------------------------------------------------- */

bool npu_plan_room(void **memory, size_t *have, size_t count, size_t bytes)
{
	size_t more = max(count, *have * 2);
	void *grown;

	if (count <= *have)
		return true;
	grown = reallocarray(*memory, more, bytes);
	if (!grown)
		return false;
	*memory = grown;
	*have = more;
	return true;
}

/* One pass: kernel groups [@first, @first + @groups) of a piece. */
static void add_pass(struct walk *w, const struct npu_row_piece *rows, u32 first, u32 groups)
{
	struct npu_passes *p = w->passes;
	struct npu_split_pass *pass;

	if (w->error || !groups)
		return;
	if (!npu_plan_room((void **)&p->pass, &p->room, p->count + 1, sizeof(*p->pass))) {
		w->error = -ENOMEM;
		return;
	}
	pass = &p->pass[p->count++];
	*pass = (struct npu_split_pass){ .rows = *rows, .first = first, .groups = groups };
	if (p->count > 1)
		link_pass(w, pass - 1, pass);
}

/*
 * As add_pass(), but single atoms of a larger plane group by group, and no pass with weights from two
 * pieces of memory.
 */
static void add_kernels(struct walk *w, const struct npu_row_piece *rows, u32 first, u32 groups)
{
	u32 most = w->shape->span_groups, end = first + groups, to;

	if (npu_split_is_single(w->shape, rows->to - rows->from, w->split->tile[rows->tile].cols))
		most = 1;
	for (; first < end; first = to) {
		to = min(end, (first / most + 1) * most);
		add_pass(w, rows, first, to - first);
	}
}

static int list_pieces(struct walk *w)
{
	const struct npu_split *split = w->split;
	struct npu_passes *p = w->passes;
	u32 tile, from, to, n = split->pieces;

	if (!npu_plan_room((void **)&p->piece, &p->piece_room, n, sizeof(*p->piece)))
		return -ENOMEM;
	for (tile = split->tile_count; tile--;)
		for (to = w->shape->rows.out; to; to = from) {
			from = npu_split_piece(w->shape, &split->tile[tile], to);
			p->piece[--n] = (struct npu_row_piece){ tile, from, to };
		}
	p->piece_count = split->pieces;
	return 0;
}

static void add_pieces(struct walk *w)
{
	u32 i;

	for (i = 0; i < w->passes->piece_count; i++)
		add_kernels(w, &w->passes->piece[i], 0, w->groups);
}

/* Each range begins with the piece at which the one before ended. */
static void add_ranges(struct walk *w)
{
	u32 pieces = w->passes->piece_count, range = w->split->range, start = 0, first, i;

	for (first = 0; first < w->groups; first += range) {
		u32 groups = min(range, w->groups - first);

		for (i = 0; i < pieces; i++)
			add_kernels(w, &w->passes->piece[(start + i) % pieces], first, groups);
		start = (start + pieces - 1) % pieces;
	}
}

int npu_passes_list(struct npu_passes *passes, const struct nvdla_config *config,
		    const struct npu_conv_shape *shape, const struct npu_split *split)
{
	static void (*const add[])(struct walk * w) = {
		[NPU_SPLIT_RESIDENT] = add_pieces,
		[NPU_SPLIT_STREAM] = add_pieces,
		[NPU_SPLIT_RANGES] = add_ranges,
	};
	struct walk w = {
		.passes = passes,
		.config = config,
		.shape = shape,
		.split = split,
		.groups = npu_split_groups(config, shape),
	};

	passes->count = 0;
	w.error = list_pieces(&w);
	if (!w.error)
		add[split->mode](&w);
	return w.error;
}

/* ---- runs ---------------------------------------------------------------------------- */

/* The cheapest of all runs that end with pass @last, from what is known about those before it. */
static void end_run(struct npu_split_pass *pass, u32 last, u32 longest)
{
	u32 begin = last + 1;

	pass[last].cost = NPU_PASS_BOUND;
	while (begin-- && last - begin < longest) {
		u64 cost;

		if (check_add_overflow(begin ? pass[begin - 1].cost : 0, pass[begin].saved, &cost))
			continue;
		/* Where it costs the same, as few runs as can be. */
		if (cost <= pass[last].cost && cost != NPU_PASS_BOUND) {
			pass[last].cost = cost;
			pass[last].run = begin;
		}
	}
}

/* With runs of at most @longest passes: as npu_passes_cut(). */
static u64 cut_runs(struct npu_passes *passes, u32 longest)
{
	struct npu_split_pass *pass = passes->pass;
	u32 i;

	for (i = 0; i < passes->count; i++) {
		pass[i].begins = false;
		end_run(pass, i, longest);
	}
	if (pass[passes->count - 1].cost == NPU_PASS_BOUND)
		return NPU_PASS_BOUND;
	for (i = passes->count; i; i = pass[i - 1].run)
		pass[pass[i - 1].run].begins = true;
	return pass[passes->count - 1].cost;
}

u64 npu_passes_cut(struct npu_passes *passes)
{
	u64 again = cut_runs(passes, NPU_PASSES_RUN);

	return again == NPU_PASS_BOUND ? cut_runs(passes, NVDLA_CHAIN_MAX_RUN) : again;
}
