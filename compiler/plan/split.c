// SPDX-License-Identifier: MIT
/*
 * The search.  What is enumerated: every pair of data banks and weight banks that
 * the budget allows; for each of them the three modes of enum npu_split_mode; for
 * each mode rows alone, or columns and rows.
 *
 * Why nothing better is missed: a piece as large as the data banks allow never
 * costs more than a smaller one (lines that two pieces share stay in the buffer,
 * so rows add no feature traffic, and everything else is paid for each piece);
 * for columns, whose shared lines are fetched twice, the cheapest sequence of
 * tiles is found by dynamic programming over the output columns, in which only
 * the widest tile for each number of its pieces matters.  A wider range of
 * kernels likewise never costs more than a narrower one.  Where windows are
 * farther apart than they are large, more pieces fetch less: then all are tried.
 *
 * What stays in the buffer comes back where a run of passes ends (passes.h).  The
 * weights of that are part of what columns are chosen by, of the lines a lower
 * bound; all of it is part of what splits are compared by.  Against brute force
 * that is exact where no run has to end, and off by up to 7 % for 2 in 100 of the
 * small layers where one has to.
 */
#include "split_search.h"

#include <stdlib.h>

#include "nvdla_cbuf.h"
#include "nvdla_pdp.h"
#include "nvdla_regs.h"

/* Tiles that are tried where columns may be left out: all of them for any but the widest layers. */
#define GAP_TRIES 2000000u

struct npu_split_space *npu_split_space_new(void)
{
	return calloc(1, sizeof(struct npu_split_space));
}

void npu_split_space_free(struct npu_split_space *space)
{
	if (!space)
		return;
	free(space->choice);
	free(space->width);
	free(space->column);
	free(space->cell);
	free(space->tile);
	free(space->tail);
	npu_passes_free(&space->passes);
	free(space);
}

static u32 width_limit(const struct npu_conv_shape *shape)
{
	if (!shape->pooled)
		return shape->cols.out;
	return min(shape->cols.out,
		   nvdla_pdp_width_limit(shape->rows.pool_kernel, shape->rows.pool_stride));
}

static void set_floor(struct split_search *s)
{
	const struct npu_axis *rows = &s->shape->rows, *cols = &s->shape->cols;
	u64 lines = npu_axis_end(rows, rows->out) - npu_axis_first(rows, 0);
	u64 width = npu_split_tile_width(s, 0, cols->out);
	u64 entries = s->row_entries * lines;
	u64 have = (u64)s->data_banks * s->cfg->entries;

	s->floor.feature = s->needed_bytes;
	s->floor.pieces = 2;
	if (!s->row_gaps && !s->column_gaps) {
		s->floor.feature = (width + s->overlap) * lines * s->column_bytes;
		s->floor.pieces = max(DIV_ROUND_UP(entries, have), (u64)2);
	}
	s->floor.stays = min(have * s->cfg->entry_bytes, s->floor.feature);
}

/*
 * Can columns be better than the best split so far?  Where the input is fetched more than once, what
 * stays is fetched once less.
 */
static bool worth(const struct split_search *s, const struct prices *p)
{
	const struct floor *f = &s->floor;
	u64 bytes = s->constant_bytes + f->feature +
		    (u64)(p->feature - 1) * (f->feature - f->stays) + f->pieces * p->piece +
		    DIV_ROUND_UP(f->pieces, NPU_PASSES_RUN) * p->run;

	if (s->shape->cols.out == 1 || s->shape->pixel_bytes || bytes > s->best->bytes)
		return false;
	return bytes < s->best->bytes || f->pieces * p->feature < s->best->tasks;
}

/* What features and pieces may cost together for the whole to be as cheap as the best so far. */
static u64 budget_for(const struct split_search *s)
{
	return s->best->bytes > s->constant_bytes ? s->best->bytes - s->constant_bytes : 0;
}

/* Columns for kernels of which @fit groups stay while all pieces pass by. */
static void offer_columns(struct split_search *s, u32 banks, u32 fit)
{
	u32 passes = fit ? DIV_ROUND_UP(s->groups, fit) : 0;
	/* Weights that stay come once for each run. */
	struct prices p = { passes, s->table_bytes, s->weight_bytes };
	u64 limit = budget_for(s);
	struct tiling t;

	t.tile = s->space->tile + s->tile_room;
	if (!fit || !worth(s, &p))
		return;
	if (limit < UINT64_MAX / 2)
		limit += (passes - 1) * s->floor.stays;
	if (!npu_split_cut_columns(s, &p, limit, fit > 1, &t))
		return;
	if (passes == 1)
		npu_split_offer_resident(s, &t, banks);
	else
		npu_split_offer_ranges(s, &t, banks, fit);
}

/* Does one weight bank more than @banks - 1 hold a kernel group more, or the first one? */
static bool new_fit(const struct split_search *s, u32 banks)
{
	if (banks * s->cfg->entries < s->group_entries)
		return false;
	return (banks - 1) * s->cfg->entries < s->group_entries ||
	       s->fits[banks] != s->fits[banks - 1];
}

/* All weight banks that go with the present data banks and a choice of whole rows. */
static void offer_rows(struct split_search *s, const struct rows_choice *c, u32 first, u32 most)
{
	u32 out = s->shape->cols.out, banks;
	struct npu_tile tile = npu_split_make_tile(s, 0, out, c);
	struct tiling t = {
		.tile = &tile,
		.count = 1,
		.pieces = c->pieces,
		.singles = npu_split_tile_singles(s, 0, out, c),
		.bytes = npu_split_tile_bytes(s, 0, out, c),
		.again = npu_split_tile_again(s, 0, out, c),
	};

	for (banks = first; banks <= most; banks++) {
		u32 fit = s->fits[banks];

		if (!new_fit(s, banks))
			continue;
		if (fit == s->groups)
			npu_split_offer_resident(s, &t, banks);
		if (fit && (fit < s->groups || t.singles))
			npu_split_offer_ranges(s, &t, banks, fit);
		npu_split_offer_stream(s, &t, banks);
	}
}

/* The fewest pieces are the best ones, unless more of them leave lines out or avoid single atoms. */
static void search_rows(struct split_search *s, u32 first, u32 most)
{
	u32 lines = nvdla_cbuf_data_lines(s->cfg, s->row_entries, s->data_banks);
	u32 out = s->shape->cols.out, i = s->space->choice_count;

	if (first > most || out > s->width_limit)
		return;
	while (i--) {
		const struct rows_choice *c = &s->space->choice[i];

		if (c->lines > lines)
			continue;
		offer_rows(s, c, first, most);
		if (!s->small_pieces && !npu_split_tile_singles(s, 0, out, c))
			break;
	}
}

/* The same: rows and columns. */
static void search_columns(struct split_search *s, u32 first, u32 most)
{
	struct tiling stream = { .tile = s->space->tile + 2 * s->tile_room };
	const struct prices streamed = { 1, s->table_bytes + s->weight_bytes, 0 };
	bool known = false, there = false;
	u32 banks;

	set_floor(s);
	s->widths_known = false;
	for (banks = first; banks <= most; banks++) {
		if (!new_fit(s, banks))
			continue;
		offer_columns(s, banks, s->fits[banks]);
		if (!known && worth(s, &streamed)) {
			there = npu_split_cut_columns(s, &streamed, budget_for(s), false, &stream);
			known = true;
		}
		if (there)
			npu_split_offer_stream(s, &stream, banks);
	}
}

/* Banks that are left hold more weights, or the beginning of the next piece. */
static void spread_banks(const struct split_search *s, u32 banks)
{
	struct npu_split *b = s->best;
	u32 weight_need = (u32)min(nvdla_cbuf_weight_banks(s->cfg, s->weight_bytes), (u64)banks);
	u64 have = (u64)b->data_banks * s->cfg->entries;

	b->weight_banks = max(b->weight_banks, min(banks - b->data_banks, weight_need));
	if (b->pieces > 1)
		b->data_banks =
			(u32)min((u64)(banks - b->weight_banks), 2 * have / s->cfg->entries);
}

/* Lines that neighbouring outputs share; negative: that lie between them. */
static s64 overlap(const struct npu_axis *axis)
{
	s64 span = (s64)(axis->pool_kernel - 1) * axis->stride + axis->kernel;

	return span - (s64)axis->stride * axis->pool_stride;
}

static int prepare(struct split_search *s)
{
	const struct npu_conv_shape *shape = s->shape;
	const struct nvdla_config *cfg = s->cfg;
	u32 surfaces = DIV_ROUND_UP(shape->c, (u32)cfg->atom), i;
	u64 atoms = DIV_ROUND_UP(shape->k, (u32)cfg->atom);
	u64 plane = (u64)shape->rows.out * shape->cols.out;
	u64 conv_plane = (u64)shape->rows.conv * shape->cols.conv;
	struct npu_split_space *space = s->space;
	int err;

	s->most_lines = NVDLA_FIELD_MAX(CSC, D_RELEASE, RLS_SLICES) + 1;
	s->row_gaps = overlap(&shape->rows) < 0;
	s->column_gaps = overlap(&shape->cols) < 0;
	s->least_lines = s->row_gaps ? npu_axis_needed(&shape->rows)
				     : npu_split_new_lines(&shape->rows, 0, shape->rows.out);
	/* They leave lines out, or part the runs that end where no band of the input does. */
	s->small_pieces = s->row_gaps || shape->band_count > 1;
	s->overlap = overlap(&shape->cols) > 0;
	err = npu_split_list_rows(s);
	if (err)
		return err;
	s->tile_room = shape->cols.out;
	if (!ROOM(space, width, space->choice_count) || !ROOM(space, column, s->tile_room + 1) ||
	    !ROOM(space, cell, (shape->cols.out + 1) * NPU_PASSES_RUN) ||
	    !ROOM(space, tile, 4 * s->tile_room))
		return -ENOMEM;
	s->best_tile = space->tile;
	s->groups = npu_split_groups(cfg, shape);
	s->column_bytes = (u64)surfaces * cfg->atom;
	npu_split_list_columns(s);
	s->table_bytes = atoms * cfg->atom * shape->table_bytes;
	s->constant_bytes = atoms * cfg->atom * (plane + conv_plane * shape->elements);
	s->weight_bytes = npu_split_weights(s, 0, s->groups);
	s->group_sum = (s->groups - 1) * npu_split_weights(s, 0, 1) +
		       npu_split_weights(s, s->groups - 1, 1);
	s->group_entries = npu_split_group_entries(cfg, shape);
	for (i = 1; i < NPU_MAX_BANKS; i++)
		s->fits[i] = npu_split_fit(s, i);
	s->width_limit = width_limit(shape);
	s->row_entries =
		npu_split_line_entries(cfg, shape, npu_split_tile_width(s, 0, shape->cols.out));
	s->needed_bytes = (u64)npu_axis_needed(&shape->rows) * npu_axis_needed(&shape->cols) *
			  s->column_bytes;
	/* One column less here may save the last tile from being one column wide. */
	s->shorter = 2;
	if (s->column_gaps)
		s->shorter = max(s->shorter, GAP_TRIES / (shape->cols.out * space->choice_count));
	return 0;
}

/* One pass does it all, and there is nothing that smaller pieces would not fetch. */
static bool is_whole(const struct split_search *s)
{
	return s->best->tasks == 1 && !s->row_gaps && !s->column_gaps;
}

/* All pairs of data and weight banks that take more than @known and up to @banks banks together. */
static void search_pairs(struct split_search *s, u32 known, u32 banks)
{
	u32 first;

	/* From many data banks down: large pieces are mostly the better ones. */
	for (s->data_banks = banks; --s->data_banks;) {
		first = known > s->data_banks ? known - s->data_banks + 1 : 1;
		search_rows(s, first, banks - s->data_banks);
	}
	for (s->data_banks = is_whole(s) ? 1 : banks; --s->data_banks;) {
		first = known > s->data_banks ? known - s->data_banks + 1 : 1;
		search_columns(s, first, banks - s->data_banks);
	}
}

/* What is beyond the budget can only be better: the search goes on from what was found. */
static void search_bound(struct split_search *s, u32 known)
{
	struct npu_split best = *s->best, *found = s->best;

	s->best = &best;
	s->best_tile = s->space->tile + 3 * s->tile_room;
	search_pairs(s, known, s->cfg->banks);
	found->bound_bytes = best.bytes;
}

int npu_split_search(struct npu_split_space *space, const struct nvdla_config *config,
		     const struct npu_conv_shape *shape, u32 banks, u64 bound_bytes,
		     struct npu_split *split)
{
	struct split_search s = { .cfg = config, .shape = shape, .space = space, .best = split };
	int err = prepare(&s);

	if (err)
		return err;
	*split = (struct npu_split){ .bytes = UINT64_MAX };
	banks = max(min(banks, (u32)config->banks), 1u);
	search_pairs(&s, 0, banks);
	if (!s.error && split->bytes != UINT64_MAX) {
		spread_banks(&s, banks);
		split->bound_bytes = bound_bytes;
		if (!bound_bytes)
			search_bound(&s, banks);
	}
	split->effort = s.effort;
	if (s.error)
		return s.error;
	if (split->bytes != UINT64_MAX)
		return 0;
	return s.bound ? -EFBIG : -ENOSPC;
}

u32 npu_split_least_banks(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			  u32 *data_banks, u32 *weight_banks)
{
	u32 width = npu_axis_least(&shape->cols), lines = npu_axis_least(&shape->rows);
	u32 entries = npu_split_group_entries(config, shape);

	/* Lines of pixels are not cut. */
	if (shape->pixel_bytes)
		width = npu_axis_end(&shape->cols, shape->cols.out) -
			npu_axis_first(&shape->cols, 0);
	*data_banks = DIV_ROUND_UP(npu_split_line_entries(config, shape, width) * lines,
				   (u32)config->entries);
	*weight_banks = DIV_ROUND_UP(entries, (u32)config->entries);
	return *data_banks + *weight_banks;
}
