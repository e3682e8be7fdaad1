// SPDX-License-Identifier: MIT
/*
 * Tiles: columns of the output, each cut into pieces of rows, and the cheapest sequence of them by dynamic
 * programming over the columns.
 */
#include "split_search.h"

#include "nvdla_cbuf.h"

u64 npu_split_tile_bytes(const struct split_search *s, u32 from, u32 to,
			 const struct rows_choice *c)
{
	return c->fetched *
	       npu_split_line_bytes(s->cfg, s->shape, npu_split_tile_width(s, from, to));
}

u64 npu_split_tile_again(const struct split_search *s, u32 from, u32 to,
			 const struct rows_choice *c)
{
	return c->again * npu_split_line_bytes(s->cfg, s->shape, npu_split_tile_width(s, from, to));
}

u32 npu_split_tile_singles(const struct split_search *s, u32 from, u32 to,
			   const struct rows_choice *c)
{
	return npu_split_is_single(s->shape, 1, to - from) ? c->singles : 0;
}

struct npu_tile npu_split_make_tile(const struct split_search *s, u32 from, u32 to,
				    const struct rows_choice *c)
{
	u32 entries = npu_split_line_entries(s->cfg, s->shape, npu_split_tile_width(s, from, to));
	u32 lines = nvdla_cbuf_data_lines(s->cfg, entries, s->data_banks);

	if (s->small_pieces || npu_split_is_single(s->shape, 1, to - from))
		lines = c->lines;
	return (struct npu_tile){ from, to - from, min(lines, s->most_lines) };
}

/* Widest input whose lines take at most @entries each. */
static u32 widest_input(const struct split_search *s, u32 entries)
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
static void set_widths(struct split_search *s)
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
	s->widths_known = true;
}

/* What tiles of each width cost; pixels, whose lines are no multiple of their columns, have no columns. */
static void set_prices(const struct split_search *s, const struct prices *p)
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
static void relax(const struct split_search *s, u32 from, u32 to, const struct width *w, u64 price)
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
static u32 reach_from(const struct split_search *s, u32 from)
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
static u64 rest_price(const struct split_search *s, u32 from, const struct prices *p)
{
	return s->space->column[from].rest * p->feature;
}

/*
 * Tiles from column @from on, the narrow ones first: where no columns are shared, a wider one costs at
 * least what the rest has less.  @limit: for tile and rest together.
 */
static void relax_widths(struct split_search *s, u32 from, const struct width *w,
			 const struct prices *p, u64 limit, bool avoid_singles)
{
	const struct rows_choice *c = &s->space->choice[w->choice];
	u32 to = max(from + 1, w->reach - min(w->reach, s->shorter - 1));

	if (avoid_singles && to == from + 1 && npu_split_tile_singles(s, from, to, c))
		to++;
	for (; to <= w->reach; to++) {
		u64 price = w->pieces_price + w->column_price * npu_split_tile_width(s, from, to);

		s->effort++;
		if (price + rest_price(s, to, p) <= limit)
			relax(s, from, to, w, price);
		else if (s->column_gaps)
			return;
	}
}

/* A tile's own, which may be fewer than its choice has where those cost nothing. */
static u32 tile_pieces(const struct split_search *s, const struct npu_tile *tile)
{
	u32 to = s->shape->rows.out, pieces = 0;

	for (; to; pieces++)
		to = npu_split_piece(s->shape, tile, to);
	return pieces;
}

/* The tiles that lead to cell @last. */
static void take_tiles(const struct split_search *s, u32 last, struct tiling *t)
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

		t->tile[--n] = npu_split_make_tile(s, from, to, c);
		t->pieces += tile_pieces(s, &t->tile[n]);
		t->singles += npu_split_tile_singles(s, from, to, c);
		t->bytes += npu_split_tile_bytes(s, from, to, c);
		t->again += npu_split_tile_again(s, from, to, c);
	}
}

bool npu_split_cut_columns(struct split_search *s, const struct prices *p, u64 limit,
			   bool avoid_singles, struct tiling *t)
{
	u32 out = s->shape->cols.out, widths, from, i, last;
	const struct npu_split_space *space = s->space;
	struct cell *cell = space->cell;

	for (i = 1; i < (out + 1) * NPU_PASSES_RUN; i++)
		cell[i].cost = UINT64_MAX;
	cell[0].cost = 0;
	if (!s->widths_known)
		set_widths(s);
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

u64 npu_split_tail_bytes(const struct split_search *s, struct tiling *t, u32 count)
{
	const struct npu_conv_shape *shape = s->shape;
	u64 *tail = s->space->tail;
	u32 i, piece = 0;

	if (t->tail_known)
		return tail[count];
	tail[0] = 0;
	for (i = t->count; i--;) {
		const struct npu_tile *tile = &t->tile[i];
		u64 line = npu_split_line_bytes(
			s->cfg, s->shape, npu_split_tile_width(s, tile->x, tile->x + tile->cols));
		u32 from, to;

		for (to = shape->rows.out; to; to = from, piece++) {
			from = npu_split_piece(shape, tile, to);
			tail[piece + 1] =
				tail[piece] + line * npu_split_new_lines(&shape->rows, from, to);
		}
	}
	t->tail_known = true;
	return tail[count];
}

void npu_split_list_columns(const struct split_search *s)
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
