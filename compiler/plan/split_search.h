/* SPDX-License-Identifier: MIT */
/* What the files of the search for a split share: its state, and the steps that split.c puts together. */
#ifndef NPU_PLAN_SPLIT_SEARCH_H
#define NPU_PLAN_SPLIT_SEARCH_H

#include "plan_internal.h"

/* More than any configuration has. */
#define NPU_MAX_BANKS 64u

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

struct split_search {
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

#define ROOM(space, array, count)                                              \
	npu_plan_room((void **)&(space)->array, &(space)->array##_room, count, \
		      sizeof(*(space)->array))

/* Input columns of output columns [@from, @to). */
static inline u32 npu_split_tile_width(const struct split_search *s, u32 from, u32 to)
{
	return s->space->column[to - 1].end - s->space->column[from].first;
}

/* ---- split_rows.c ---- */

/* For every number of pieces that is possible the fewest lines; most pieces first.  0 or -ENOMEM. */
int npu_split_list_rows(struct split_search *s);

/* Lines that the piece [@from, @to) fetches: those that the one above leaves are there. */
u32 npu_split_new_lines(const struct npu_axis *rows, u32 from, u32 to);

/* ---- split_tiles.c: tiles of output columns [from, to) ---- */

/* Columns of the output; once for a search. */
void npu_split_list_columns(const struct split_search *s);

/* Feature bytes of a tile. */
u64 npu_split_tile_bytes(const struct split_search *s, u32 from, u32 to,
			 const struct rows_choice *c);

/* The least of what comes back because runs end within the tile. */
u64 npu_split_tile_again(const struct split_search *s, u32 from, u32 to,
			 const struct rows_choice *c);

/* Pieces of a tile that write single atoms; none in a tile of more than one column. */
u32 npu_split_tile_singles(const struct split_search *s, u32 from, u32 to,
			   const struct rows_choice *c);

/* A tile with as large pieces as the data banks hold, where single atoms do not ask for others. */
struct npu_tile npu_split_make_tile(const struct split_search *s, u32 from, u32 to,
				    const struct rows_choice *c);

/* The cheapest columns, into @t; false: they would cost more than @limit. */
bool npu_split_cut_columns(struct split_search *s, const struct prices *p, u64 limit,
			   bool avoid_singles, struct tiling *t);

/* Feature bytes of the last @count pieces of a pass that starts with the first one. */
u64 npu_split_tail_bytes(const struct split_search *s, struct tiling *t, u32 count);

/* ---- split_modes.c ---- */

/* Weight bytes of @groups kernel groups from @first on. */
u64 npu_split_weights(const struct split_search *s, u32 first, u32 groups);

/* Kernel groups from a group's start on that fit @banks together. */
u32 npu_split_fit(const struct split_search *s, u32 banks);

/* Compare a tiling, with so many weight banks and as enum npu_split_mode says, with the best split. */
void npu_split_offer_resident(struct split_search *s, const struct tiling *t, u32 banks);
void npu_split_offer_stream(struct split_search *s, const struct tiling *t, u32 banks);
/* @fit: kernel groups that the weight banks hold. */
void npu_split_offer_ranges(struct split_search *s, struct tiling *t, u32 banks, u32 fit);

#endif /* NPU_PLAN_SPLIT_SEARCH_H */
