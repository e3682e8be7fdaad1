/* SPDX-License-Identifier: MIT */
/* Inside of PDP: the shape of an operation, which the data path and the timing both read. */
#ifndef PDP_INTERNAL_H
#define PDP_INTERNAL_H

#include "npusim_internal.h"

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

#endif /* PDP_INTERNAL_H */
