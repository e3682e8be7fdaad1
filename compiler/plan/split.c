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
#include "plan_internal.h"

#include <stdlib.h>

#include "nvdla_cbuf.h"
#include "nvdla_pdp.h"
#include "nvdla_regs.h"

/* More than any configuration has. */
#define NPU_MAX_BANKS 64u

/* Tiles that are tried where columns may be left out: all of them for any but the widest layers. */
#define GAP_TRIES 2000000u

/**
 * struct rows_choice - a way to cut all output rows
 * @lines: input lines that the largest piece needs
 * @pieces: how many
 * @fetched: input lines fetched by all of them together
 * @again: input lines that stay from one piece to the next, but not for all of them: so many at the
 *	   least come back because runs end
 * @singles: pieces of one row of the convolution's output
 */
struct rows_choice {
	u32 lines;
	u32 pieces;
	u32 fetched;
	u32 again;
	u32 singles;
};

/* Tiles and what follows from them. */
struct tiling {
	struct npu_tile *tile;
	u32 count;
	u32 pieces;
	u32 singles; /* pieces that write one atom of a larger plane */
	u64 bytes; /* features, all pieces once */
	u64 again; /* of these at the least come back because runs end */
	u64 *tail; /* tail[i]: feature bytes of the last i pieces */
	bool tail_known;
};

/*
 * A cell of the dynamic programming: the cheapest way to cover the columns in front, with so many pieces
 * in the run that goes on (modulo NPU_PASSES_RUN).
 */
struct cell {
	u64 cost;
	u32 from; /* the cell before, as an index */
	u32 choice;
};

/* What columns cost: for a feature byte, for each piece, for each run of pieces. */
struct prices {
	u32 feature;
	u64 piece, run;
};

/**
 * struct column - a column of the output
 * @first, @end: its input columns: the first one, and behind the last one
 * @rest: bytes of features that it and those behind it need
 */
struct column {
	u32 first, end;
	u64 rest;
};

/**
 * struct width - what a choice of rows leaves for the width of tiles in the present data banks
 * @choice: which
 * @widest: input columns
 * @reach: where the widest tile from the present column ends
 * @wider: that is farther than with fewer pieces
 * @column_price: of an input column of a tile
 * @pieces_price: of its pieces
 * @runs_price, @begun: by the pieces in the run that goes on (as struct cell has them) in front of the
 *	tile: price of the runs that begin, and pieces in the run behind it
 */
struct width {
	u32 choice;
	u32 widest;
	u32 reach;
	bool wider;
	u64 column_price, pieces_price;
	u64 runs_price[NPU_PASSES_RUN];
	u32 begun[NPU_PASSES_RUN];
};

struct npu_split_space {
	struct rows_choice *choice; /* most pieces first */
	struct width *width; /* [choice]: fewest pieces first, those that are of use */
	u32 choice_count, width_count;
	struct column *column; /* [columns of the output + 1] */
	struct cell *cell; /* [columns + 1][NPU_PASSES_RUN] */
	struct npu_tile *tile; /* [columns] each: best split, at work, streamed weights, bound */
	u64 *tail;
	struct npu_passes passes;
	size_t choice_room, width_room, column_room, cell_room, tile_room, tail_room;
};

/**
 * struct floor - what no tiling into columns can go below
 * @feature: bytes of the input once
 * @pieces: how many
 * @stays: feature bytes that can stay in the data banks from one pass to the next
 */
struct floor {
	u64 feature, stays;
	u64 pieces;
};

struct search {
	const struct nvdla_config *cfg;
	const struct npu_conv_shape *shape;
	struct npu_split_space *space;
	struct npu_split *best;
	struct npu_tile *best_tile;
	u64 column_bytes; /* of one input column of one line */
	u64 table_bytes; /* operand tables of all kernels */
	u64 constant_bytes; /* output and operands for each element */
	u64 weight_bytes;
	u64 group_sum; /* weight bytes when every group is fetched by itself */
	u32 group_entries; /* that the weight banks must hold */
	u32 groups;
	u32 width_limit; /* output columns of a tile */
	u32 data_banks;
	u32 most_lines; /* that the registers can release */
	u32 least_lines; /* that all pieces of a tile fetch at the least */
	u32 row_entries; /* of a whole line */
	bool widths_known; /* for the present data banks */
	u32 fits[NPU_MAX_BANKS]; /* kernel groups that fit into so many weight banks */
	u64 needed_bytes; /* features that some output needs */
	struct floor floor;
	bool row_gaps, column_gaps; /* input that no output needs lies between pieces */
	bool small_pieces; /* more pieces than need be are of use */
	u32 shorter; /* ends of tiles that are tried, from the widest one back */
	bool overlap; /* neighbouring columns of outputs share columns of input */
	size_t tile_room;
	u64 effort; /* as in struct npu_split */
	bool bound; /* splits are left out because pieces of memory ask for longer runs */
	int error; /* out of memory */
};

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

#define ROOM(space, array, count)                                              \
	npu_plan_room((void **)&(space)->array, &(space)->array##_room, count, \
		      sizeof(*(space)->array))

/* ---- rows ----------------------------------------------------------------------- */

static u32 width_limit(const struct npu_conv_shape *shape)
{
	if (!shape->pooled)
		return shape->cols.out;
	return min(shape->cols.out,
		   nvdla_pdp_width_limit(shape->rows.pool_kernel, shape->rows.pool_stride));
}

/* Lines that the piece that begins at @from has in common with the one above. */
static u32 kept_lines(const struct npu_axis *rows, u32 from)
{
	u32 first = npu_axis_first(rows, from), end = from ? npu_axis_end(rows, from) : 0;

	return end > first ? end - first : 0;
}

/* Lines that the piece [@from, @to) fetches: those that the one above leaves are there. */
static u32 new_lines(const struct npu_axis *rows, u32 from, u32 to)
{
	return npu_axis_end(rows, to) - npu_axis_first(rows, from) - kept_lines(rows, from);
}

static struct rows_choice cut_rows(const struct search *s, u32 lines)
{
	const struct npu_conv_shape *shape = s->shape;
	struct rows_choice c = { .lines = lines };
	/* How many pieces are single atoms counts for tiles of one column only. */
	struct npu_tile tile = { 0, 1, lines };
	u32 from, to, halo = UINT32_MAX;

	for (to = shape->rows.out; to; to = from) {
		from = npu_split_piece(shape, &tile, to);
		if (from)
			halo = min(halo, kept_lines(&shape->rows, from));
		c.pieces++;
		c.singles += to - from == 1;
		if (s->row_gaps)
			c.fetched += new_lines(&shape->rows, from, to);
	}
	if (!s->row_gaps)
		c.fetched = new_lines(&shape->rows, 0, shape->rows.out);
	/* Of the links between pieces of a tile, those that last are never next to each other. */
	if (c.pieces > 2 && shape->band_count <= 1)
		c.again = (c.pieces - 1) / NPU_PASSES_RUN * halo;
	return c;
}

/* For every number of pieces that is possible the fewest lines; most pieces first. */
static int list_choices(struct search *s)
{
	const struct npu_axis *rows = &s->shape->rows;
	u32 most = min(npu_axis_end(rows, rows->out) - npu_axis_first(rows, 0), s->most_lines);
	struct npu_split_space *space = s->space;
	u32 lines, last = 0;

	space->choice_count = 0;
	for (lines = npu_axis_least(rows); lines <= most; lines++) {
		struct rows_choice c = cut_rows(s, lines);

		if (c.pieces == last)
			continue;
		if (!ROOM(space, choice, space->choice_count + 1))
			return -ENOMEM;
		space->choice[space->choice_count++] = c;
		last = c.pieces;
	}
	return 0;
}

/* ---- tilings ----------------------------------------------------------------------- */

/* Input columns of output columns [@from, @to). */
static u32 tile_width(const struct search *s, u32 from, u32 to)
{
	return s->space->column[to - 1].end - s->space->column[from].first;
}

static u64 tile_bytes(const struct search *s, u32 from, u32 to, const struct rows_choice *c)
{
	return c->fetched * npu_split_line_bytes(s->cfg, s->shape, tile_width(s, from, to));
}

/* The least of what comes back because runs end within the tile. */
static u64 tile_again(const struct search *s, u32 from, u32 to, const struct rows_choice *c)
{
	return c->again * npu_split_line_bytes(s->cfg, s->shape, tile_width(s, from, to));
}

/* Pieces of a tile that write single atoms; none in a tile of more than one column. */
static u32 tile_singles(const struct search *s, u32 from, u32 to, const struct rows_choice *c)
{
	return npu_split_is_single(s->shape, 1, to - from) ? c->singles : 0;
}

/* A tile with as large pieces as the data banks hold, where single atoms do not ask for others. */
static struct npu_tile make_tile(const struct search *s, u32 from, u32 to,
				 const struct rows_choice *c)
{
	u32 entries = npu_split_line_entries(s->cfg, s->shape, tile_width(s, from, to));
	u32 lines = nvdla_cbuf_data_lines(s->cfg, entries, s->data_banks);

	if (s->small_pieces || npu_split_is_single(s->shape, 1, to - from))
		lines = c->lines;
	return (struct npu_tile){ from, to - from, min(lines, s->most_lines) };
}

/* Widest input whose lines take at most @entries each. */
static u32 widest_input(const struct search *s, u32 entries)
{
	u32 low = 0, high = s->shape->cols.in;

	while (low < high) {
		u32 middle = low + (high - low + 1) / 2;

		if (npu_split_line_entries(s->cfg, s->shape, middle) <= entries)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* More pieces are of use where they are wider than fewer ones, or leave lines out. */
static void set_widths(const struct search *s)
{
	struct npu_split_space *space = s->space;
	u32 i, last = 0;

	space->width_count = 0;
	for (i = space->choice_count; i--;) {
		u32 widest =
			widest_input(s, s->data_banks * s->cfg->entries / space->choice[i].lines);

		if (widest <= last && !s->small_pieces)
			continue;
		space->width[space->width_count++] =
			(struct width){ .choice = i, .widest = widest };
		last = max(last, widest);
	}
}

/* What tiles of each width cost; pixels, whose lines are no multiple of their columns, have no columns. */
static void set_prices(const struct search *s, const struct prices *p)
{
	u32 i, begun;

	for (i = 0; i < s->space->width_count; i++) {
		struct width *w = &s->space->width[i];
		const struct rows_choice *c = &s->space->choice[w->choice];

		w->column_price = p->feature * (u64)(c->fetched + c->again) * s->column_bytes;
		w->pieces_price = p->piece * c->pieces;
		for (begun = 0; begun < NPU_PASSES_RUN; begun++) {
			u32 end = begun + (p->run ? c->pieces : 0);

			w->begun[begun] = end % NPU_PASSES_RUN;
			w->runs_price[begun] =
				(DIV_ROUND_UP(end, NPU_PASSES_RUN) - (begun != 0)) * p->run;
		}
	}
}

/* Adds a tile [@from, @to) of that price behind all that lies in front of it. */
static void relax(const struct search *s, u32 from, u32 to, const struct width *w, u64 price)
{
	const struct cell *cell = &s->space->cell[from * NPU_PASSES_RUN];
	struct cell *next = &s->space->cell[to * NPU_PASSES_RUN];
	u32 i;

	for (i = 0; i < NPU_PASSES_RUN; i++) {
		u64 cost = cell[i].cost + price + w->runs_price[i];

		if (cell[i].cost != UINT64_MAX && cost < next[w->begun[i]].cost)
			next[w->begun[i]] =
				(struct cell){ cost, from * NPU_PASSES_RUN + i, w->choice };
	}
}

/* The cheapest cell of a column. */
static u32 best_cell(const struct cell *cell, u32 column)
{
	u32 i = column * NPU_PASSES_RUN, best = i;

	for (; i < (column + 1) * NPU_PASSES_RUN; i++)
		if (cell[i].cost < cell[best].cost)
			best = i;
	return best;
}

/*
 * For every choice of rows the widest tile from column @from on.  A choice with more pieces is only
 * kept where its tile is wider.  Returns how many need to be looked at.
 */
static u32 reach_from(const struct search *s, u32 from)
{
	const struct npu_split_space *space = s->space;
	u32 out = s->shape->cols.out, most = min(out, from + s->width_limit), last = from;
	u64 first = space->column[from].first;
	u32 i;

	for (i = 0; i < space->width_count && (last < most || s->small_pieces); i++) {
		struct width *w = &space->width[i];
		u64 limit = first + w->widest;
		u32 to = max(w->reach, from);

		/* Columns only move to the right, and so do the ends of their tiles. */
		while (to < most && space->column[to].end <= limit)
			to++;
		w->reach = to;
		w->wider = to > last || (s->small_pieces && to > from);
		last = max(last, to);
	}
	return i;
}

/* Features of the columns from that of output @from on, at the least, as often as they are fetched. */
static u64 rest_price(const struct search *s, u32 from, const struct prices *p)
{
	return s->space->column[from].rest * p->feature;
}

/*
 * Tiles from column @from on, the narrow ones first: where no columns are shared, a wider one costs at
 * least what the rest has less.  @limit: for tile and rest together.
 */
static void relax_widths(struct search *s, u32 from, const struct width *w, const struct prices *p,
			 u64 limit, bool avoid_singles)
{
	const struct rows_choice *c = &s->space->choice[w->choice];
	u32 to = max(from + 1, w->reach - min(w->reach, s->shorter - 1));

	if (avoid_singles && to == from + 1 && tile_singles(s, from, to, c))
		to++;
	for (; to <= w->reach; to++) {
		u64 price = w->pieces_price + w->column_price * tile_width(s, from, to);

		s->effort++;
		if (price + rest_price(s, to, p) <= limit)
			relax(s, from, to, w, price);
		else if (s->column_gaps)
			return;
	}
}

/* The tiles that lead to cell @last. */
static void take_tiles(const struct search *s, u32 last, struct tiling *t)
{
	const struct cell *cell = s->space->cell;
	u32 i, n = 0;

	*t = (struct tiling){ .tile = t->tile };
	for (i = last; i >= NPU_PASSES_RUN; i = cell[i].from)
		n++;
	t->count = n;
	for (i = last; i >= NPU_PASSES_RUN; i = cell[i].from) {
		const struct rows_choice *c = &s->space->choice[cell[i].choice];
		u32 from = cell[i].from / NPU_PASSES_RUN, to = i / NPU_PASSES_RUN;

		t->tile[--n] = make_tile(s, from, to, c);
		t->pieces += c->pieces;
		t->singles += tile_singles(s, from, to, c);
		t->bytes += tile_bytes(s, from, to, c);
		t->again += tile_again(s, from, to, c);
	}
}

/* The cheapest columns; none where they cost more than @limit. */
static bool cut_columns(struct search *s, const struct prices *p, u64 limit, bool avoid_singles,
			struct tiling *t)
{
	u32 out = s->shape->cols.out, widths, from, i, last;
	const struct npu_split_space *space = s->space;
	struct cell *cell = space->cell;

	for (i = 1; i < (out + 1) * NPU_PASSES_RUN; i++)
		cell[i].cost = UINT64_MAX;
	cell[0].cost = 0;
	for (i = 0; i < space->width_count; i++)
		space->width[i].reach = 0;
	set_prices(s, p);
	for (from = 0; from < out; from++) {
		u64 cost = cell[best_cell(cell, from)].cost;

		if (cost > limit || rest_price(s, from, p) > limit - cost)
			continue;
		widths = reach_from(s, from);
		for (i = 0; i < widths; i++)
			if (space->width[i].wider)
				relax_widths(s, from, &space->width[i], p, limit - cost,
					     avoid_singles);
	}
	last = best_cell(cell, out);
	if (cell[last].cost > limit || cell[last].cost == UINT64_MAX)
		return false;
	take_tiles(s, last, t);
	return true;
}

/* Feature bytes of the last @count pieces of a pass that starts with the first one. */
static u64 tail_bytes(const struct search *s, struct tiling *t, u32 count)
{
	const struct npu_conv_shape *shape = s->shape;
	u64 *tail = s->space->tail;
	u32 i, piece = 0;

	if (t->tail_known)
		return tail[count];
	tail[0] = 0;
	for (i = t->count; i--;) {
		const struct npu_tile *tile = &t->tile[i];
		u64 line = npu_split_line_bytes(s->cfg, s->shape,
						tile_width(s, tile->x, tile->x + tile->cols));
		u32 from, to;

		for (to = shape->rows.out; to; to = from, piece++) {
			from = npu_split_piece(shape, tile, to);
			tail[piece + 1] = tail[piece] + line * new_lines(&shape->rows, from, to);
		}
	}
	t->tail_known = true;
	return tail[count];
}

/* ---- modes ------------------------------------------------------------------------- */

static u64 weights(const struct search *s, u32 first, u32 groups)
{
	return npu_split_weight_bytes(s->cfg, s->shape, first, groups);
}

/* Kernel groups from a group's start on that fit @banks together. */
static u32 groups_that_fit(const struct search *s, u32 banks)
{
	u64 bytes = (u64)banks * s->cfg->entries * s->cfg->entry_bytes;
	u32 n;

	if (s->weight_bytes <= bytes)
		return s->groups;
	n = (u32)min(
		bytes / ((u64)s->shape->c * s->shape->taps_y * s->shape->taps_x * s->cfg->atomic_k),
		(u64)s->groups);
	/* A last group of few kernels may fit where a full one does not. */
	while (n && weights(s, 0, n) > bytes)
		n--;
	return n;
}

static bool better(const struct npu_split *a, const struct npu_split *b)
{
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes;
	if (a->tasks != b->tasks)
		return a->tasks < b->tasks;
	/* Room for a further kernel group hides its fetch; more data banks do nothing here. */
	if (a->weight_banks != b->weight_banks)
		return a->weight_banks > b->weight_banks;
	return a->data_banks < b->data_banks;
}

/* Adds what is fetched again because runs end; false where they cannot. */
static bool add_cuts(struct search *s, const struct tiling *t, struct npu_split *split)
{
	struct npu_split at_work = *split;
	u64 again;

	if (split->tasks <= NPU_PASSES_RUN && s->shape->span_groups >= s->groups)
		return true;
	at_work.tile = t->tile;
	if (npu_passes_list(&s->space->passes, s->cfg, s->shape, &at_work)) {
		s->error = -ENOMEM;
		return false;
	}
	s->effort += s->space->passes.count;
	again = npu_passes_cut(&s->space->passes);
	s->bound |= again == NPU_PASS_BOUND;
	return !check_add_overflow(split->bytes, again, &split->bytes);
}

/* @weights: that stay from each piece to the next as long as the run lasts: they come back with each run. */
static void offer(struct search *s, const struct tiling *t, enum npu_split_mode mode, u32 banks,
		  u32 range, u32 tasks, u64 bytes, u64 weights)
{
	struct npu_split split = {
		.mode = mode,
		.data_banks = s->data_banks,
		.weight_banks = banks,
		.range = range,
		.tile = s->best_tile,
		.tile_count = t->count,
		.pieces = t->pieces,
		.tasks = tasks,
		.bytes = bytes + s->constant_bytes + t->pieces * s->table_bytes,
		.considered = s->best->considered + 1,
	};

	u64 again = (DIV_ROUND_UP(t->pieces, NPU_PASSES_RUN) - 1) * weights + t->again;

	s->effort++;
	split.bound_bytes = s->best->bound_bytes;
	s->best->considered = split.considered;
	split.bytes += again;
	if (!better(&split, s->best))
		return;
	split.bytes -= again;
	if (!add_cuts(s, t, &split) || !better(&split, s->best))
		return;
	memcpy(s->best_tile, t->tile, t->count * sizeof(*t->tile));
	*s->best = split;
}

static void offer_resident(struct search *s, const struct tiling *t, u32 banks)
{
	if (!t->singles || s->groups == 1)
		offer(s, t, NPU_SPLIT_RESIDENT, banks, s->groups, t->pieces,
		      t->bytes + s->weight_bytes, s->weight_bytes);
}

static void offer_stream(struct search *s, const struct tiling *t, u32 banks)
{
	/* Single atoms are written group by group, so their weights are fetched that way too. */
	u32 singles = s->groups > 1 ? t->singles : 0;
	u64 bytes = t->bytes + (t->pieces - singles) * s->weight_bytes + singles * s->group_sum;

	offer(s, t, NPU_SPLIT_STREAM, banks, 0, t->pieces + singles * (s->groups - 1), bytes, 0);
}

/* Weights of all ranges of @range groups, each rounded up to a whole entry. */
static u64 ranged_weights(const struct search *s, u32 range)
{
	u32 full = s->groups / range, rest = s->groups % range;
	u64 bytes;

	if (!rest)
		return (full - 1) * weights(s, 0, range) + weights(s, s->groups - range, range);
	bytes = full * weights(s, 0, range);
	return bytes + weights(s, s->groups - rest, rest);
}

/* Of all ranges that make @passes of them the one with the least rounding. */
static u32 best_range(const struct search *s, u32 passes, u32 fit)
{
	u32 best = DIV_ROUND_UP(s->groups, passes), n;

	for (n = best + 1; n <= fit && DIV_ROUND_UP(s->groups, n) == passes; n++)
		if (ranged_weights(s, n) < ranged_weights(s, best))
			best = n;
	return best;
}

/*
 * Each range of kernels begins with the piece that the one before ended with, which is still in
 * the buffer, and goes round from there.
 */
static void offer_ranges(struct search *s, struct tiling *t, u32 banks, u32 fit)
{
	u32 passes, rest, range;
	u64 bytes, weights;

	if (t->pieces < 2 || s->groups < 2)
		return;
	/* Single atoms are written for one kernel group at a time. */
	fit = t->singles ? 1 : fit;
	passes = DIV_ROUND_UP(s->groups, fit);
	rest = passes - 1;
	if (!ROOM(s->space, tail, t->pieces + 1)) {
		s->error = -ENOMEM;
		return;
	}
	range = best_range(s, passes, fit);
	weights = ranged_weights(s, range);
	bytes = passes * t->bytes - rest / t->pieces * t->bytes -
		tail_bytes(s, t, rest % t->pieces) + weights;
	offer(s, t, NPU_SPLIT_RANGES, banks, range, passes * t->pieces, bytes, weights);
}

/* ---- the search --------------------------------------------------------------------- */

static void set_floor(struct search *s)
{
	const struct npu_axis *rows = &s->shape->rows, *cols = &s->shape->cols;
	u64 lines = npu_axis_end(rows, rows->out) - npu_axis_first(rows, 0);
	u64 width = tile_width(s, 0, cols->out);
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
static bool worth(const struct search *s, const struct prices *p)
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
static u64 budget_for(const struct search *s)
{
	return s->best->bytes > s->constant_bytes ? s->best->bytes - s->constant_bytes : 0;
}

/* As cut_columns(); what depends on the data banks alone is worked out when it is first needed. */
static bool try_columns(struct search *s, const struct prices *p, u64 limit, bool avoid_singles,
			struct tiling *t)
{
	if (!s->widths_known)
		set_widths(s);
	s->widths_known = true;
	return cut_columns(s, p, limit, avoid_singles, t);
}

/* Columns for kernels of which @fit groups stay while all pieces pass by. */
static void offer_columns(struct search *s, u32 banks, u32 fit)
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
	if (!try_columns(s, &p, limit, fit > 1, &t))
		return;
	if (passes == 1)
		offer_resident(s, &t, banks);
	else
		offer_ranges(s, &t, banks, fit);
}

/* Does one weight bank more than @banks - 1 hold a kernel group more, or the first one? */
static bool new_fit(const struct search *s, u32 banks)
{
	if (banks * s->cfg->entries < s->group_entries)
		return false;
	return (banks - 1) * s->cfg->entries < s->group_entries ||
	       s->fits[banks] != s->fits[banks - 1];
}

/* All weight banks that go with the present data banks and a choice of whole rows. */
static void offer_rows(struct search *s, const struct rows_choice *c, u32 first, u32 most)
{
	u32 out = s->shape->cols.out, banks;
	struct npu_tile tile = make_tile(s, 0, out, c);
	struct tiling t = {
		.tile = &tile,
		.count = 1,
		.pieces = c->pieces,
		.singles = tile_singles(s, 0, out, c),
		.bytes = tile_bytes(s, 0, out, c),
		.again = tile_again(s, 0, out, c),
	};

	for (banks = first; banks <= most; banks++) {
		u32 fit = s->fits[banks];

		if (!new_fit(s, banks))
			continue;
		if (fit == s->groups)
			offer_resident(s, &t, banks);
		if (fit && (fit < s->groups || t.singles))
			offer_ranges(s, &t, banks, fit);
		offer_stream(s, &t, banks);
	}
}

/* The fewest pieces are the best ones, unless more of them leave lines out or avoid single atoms. */
static void search_rows(struct search *s, u32 first, u32 most)
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
		if (!s->small_pieces && !tile_singles(s, 0, out, c))
			break;
	}
}

/* The same: rows and columns. */
static void search_columns(struct search *s, u32 first, u32 most)
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
			there = try_columns(s, &streamed, budget_for(s), false, &stream);
			known = true;
		}
		if (there)
			offer_stream(s, &stream, banks);
	}
}

/* Banks that are left hold more weights, or the beginning of the next piece. */
static void spread_banks(const struct search *s, u32 banks)
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

static void list_columns(const struct search *s)
{
	const struct npu_axis *cols = &s->shape->cols;
	struct column *column = s->space->column;
	u32 i = cols->out, end = npu_axis_end(cols, i), rest = 0;
	u64 bytes = s->least_lines * s->column_bytes;

	column[i] = (struct column){ end, end, 0 };
	while (i--) {
		u32 first = npu_axis_first(cols, i);

		/* Where neighbours share columns or touch, all from the first one on are needed. */
		rest = s->column_gaps ? rest + npu_axis_end(cols, i + 1) - first : end - first;
		column[i] = (struct column){ first, npu_axis_end(cols, i + 1), rest * bytes };
	}
}

static int prepare(struct search *s)
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
				     : new_lines(&shape->rows, 0, shape->rows.out);
	/* They leave lines out, or part the runs that end where no band of the input does. */
	s->small_pieces = s->row_gaps || shape->band_count > 1;
	s->overlap = overlap(&shape->cols) > 0;
	err = list_choices(s);
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
	list_columns(s);
	s->table_bytes = atoms * cfg->atom * shape->table_bytes;
	s->constant_bytes = atoms * cfg->atom * (plane + conv_plane * shape->elements);
	s->weight_bytes = weights(s, 0, s->groups);
	s->group_sum = (s->groups - 1) * weights(s, 0, 1) + weights(s, s->groups - 1, 1);
	s->group_entries = npu_split_group_entries(cfg, shape);
	for (i = 1; i < NPU_MAX_BANKS; i++)
		s->fits[i] = groups_that_fit(s, i);
	s->width_limit = width_limit(shape);
	s->row_entries = npu_split_line_entries(cfg, shape, tile_width(s, 0, shape->cols.out));
	s->needed_bytes = (u64)npu_axis_needed(&shape->rows) * npu_axis_needed(&shape->cols) *
			  s->column_bytes;
	/* One column less here may save the last tile from being one column wide. */
	s->shorter = 2;
	if (s->column_gaps)
		s->shorter = max(s->shorter, GAP_TRIES / (shape->cols.out * space->choice_count));
	return 0;
}

/* One pass does it all, and there is nothing that smaller pieces would not fetch. */
static bool is_whole(const struct search *s)
{
	return s->best->tasks == 1 && !s->row_gaps && !s->column_gaps;
}

/* All pairs of data and weight banks that take more than @known and up to @banks banks together. */
static void search_pairs(struct search *s, u32 known, u32 banks)
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
static void search_bound(struct search *s, u32 known)
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
	struct search s = { .cfg = config, .shape = shape, .space = space, .best = split };
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
