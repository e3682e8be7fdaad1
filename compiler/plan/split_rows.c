// SPDX-License-Identifier: MIT
/* How all output rows of a convolution can be cut: one choice for each number of pieces. */
#include "split_search.h"

/* Lines that the piece that begins at @from has in common with the one above. */
static u32 kept_lines(const struct npu_axis *rows, u32 from)
{
	u32 first = npu_axis_first(rows, from), end = from ? npu_axis_end(rows, from) : 0;

	return end > first ? end - first : 0;
}

u32 npu_split_new_lines(const struct npu_axis *rows, u32 from, u32 to)
{
	return npu_axis_end(rows, to) - npu_axis_first(rows, from) - kept_lines(rows, from);
}

static struct rows_choice cut_rows(const struct split_search *s, u32 lines)
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
			c.fetched += npu_split_new_lines(&shape->rows, from, to);
	}
	if (!s->row_gaps)
		c.fetched = npu_split_new_lines(&shape->rows, 0, shape->rows.out);
	/* Of the links between pieces of a tile, those that last are never next to each other. */
	if (c.pieces > 2 && shape->band_count <= 1)
		c.again = (c.pieces - 1) / NPU_PASSES_RUN * halo;
	return c;
}

int npu_split_list_rows(struct split_search *s)
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
