/* SPDX-License-Identifier: MIT */
/* Inside of PDP: the shape of an operation, which the data path and the timing both read. */
#ifndef PDP_INTERNAL_H
#define PDP_INTERNAL_H

#include "npusim_internal.h"

/* Values of PDP.D_OPERATION_MODE_CFG.POOLING_METHOD. */
enum pdp_method { PDP_AVERAGE, PDP_MAX, PDP_MIN };

static inline s16 pdp_combine(enum pdp_method method, s16 a, s16 b)
{
	if (method == PDP_AVERAGE)
		return (s16)(a + b);
	if (method == PDP_MAX)
		return max(a, b);
	return method == PDP_MIN ? min(a, b) : 0;
}

/* One direction of the pooling; @before and @after are padding. */
struct pdp_axis {
	u32 in, out;
	u32 kernel, stride;
	u32 before, after;
};

/* Columns of one kind of part; of the input without what it shares with its neighbour. */
struct pdp_width {
	u32 in, out;
};

struct pdp_shape {
	struct pdp_axis x, y;
	u32 surfaces;
	u32 parts; /* 1: no split */
	struct pdp_width first, middle, last;
};

/**
 * struct pdp_part - one vertical part of the cube
 * @start_in, @start_out: its first column
 * @axis: its columns
 */
struct pdp_part {
	u32 index;
	s32 start_in;
	u32 start_out;
	struct pdp_axis axis;
};

struct pdp_shape pdp_decode_shape(const struct npusim *sim, const struct npusim_regs *pdp);
struct pdp_part pdp_first_part(const struct pdp_shape *shape);
struct pdp_part pdp_next_part(const struct pdp_shape *shape, const struct pdp_part *part);

/* Windows that fit on an axis. */
u32 pdp_windows(const struct pdp_axis *axis);

/*
 * pdp_left.c: results of one operation that get into the next.  While an operation runs its
 * results before the last steps are kept, row by row; at its end, at cycle @end, the row
 * pooled along the width that came last.
 */
void pdp_left_keep(struct npusim *sim, const struct pdp_shape *shape, u32 row, const s16 *results);
void pdp_left_end(struct npusim *sim, const struct pdp_shape *shape, u64 end, const s16 *last_row);

/* Does the operation that starts now find such a result?  Forgets it. */
bool pdp_left_take(struct npusim *sim);

#define PDP_UNITS 8u

/**
 * struct pdp_line_buffer - the vertical half of PDP, for an operation that finds something
 * @units: windows under way at once
 * @skip: lanes of the next atom that pass before windows begin
 * @active, @first: by unit: has a window, has not yet taken a row of it
 * @taken: by unit: rows taken
 * @filled: rows of the current window that have come, padding included
 * @phase: rows since the last window began
 * @next_unit, @done_unit, @reader: where the next window begins, ends, and is read
 */
struct pdp_line_buffer {
	struct sim_pdp_left *left;
	const struct pdp_shape *shape;
	u32 lanes, units, skip;
	bool active[PDP_UNITS], first[PDP_UNITS];
	u32 taken[PDP_UNITS];
	u32 column, row, surface;
	u32 filled, phase;
	u32 next_unit, done_unit, reader;
};

void pdp_line_buffer_open(struct pdp_line_buffer *b, struct npusim *sim,
			  const struct pdp_shape *shape);

/*
 * One atom pooled along the width comes in.  True when a result goes out: *@result, and how
 * many rows it lacks.
 */
bool pdp_line_buffer_take(struct pdp_line_buffer *b, enum pdp_method method, const s16 *atom,
			  s16 *result, u32 *missing);

#endif /* PDP_INTERNAL_H */
