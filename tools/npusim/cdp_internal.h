/* SPDX-License-Identifier: MIT */
/* Inside of CDP: the look-up of a square sum in the two tables. */
#ifndef CDP_INTERNAL_H
#define CDP_INTERNAL_H

#include "npusim_internal.h"

struct cdp_slope {
	s32 scale;
	s32 shift;
};

/* One of the two tables; @start and @end have 38 bits. */
struct cdp_table {
	const s16 *entry;
	u32 entries;
	bool exponent; /* LE only: entries at powers of two */
	s64 start;
	s64 end;
	s32 index_offset;
	u32 index_select;
	struct cdp_slope under;
	struct cdp_slope over;
};

struct cdp_lut {
	struct cdp_table le;
	struct cdp_table lo;
	bool lo_on_underflow;
	bool lo_on_overflow;
	bool lo_on_hybrid;
};

/* Which of the five cases of both tables came how often, as D_PERF_LUT_* count them. */
struct cdp_counts {
	u32 under; /* below both */
	u32 over; /* above both */
	u32 hybrid; /* in both, or below one and above the other */
	u32 le_hit; /* in LE only */
	u32 lo_hit; /* in LO only */
};

struct cdp_lut cdp_decode_lut(const struct npusim_regs *cdp, const struct sim_lut *lut);

/* The factor for @x, 16 bits. */
s16 cdp_look_up(const struct cdp_lut *lut, s32 x, struct cdp_counts *counts);

/* v >> shift with ties away from zero, saturated to @bits. */
s64 cdp_shift_round(s64 v, u32 shift, u32 bits);

#endif /* CDP_INTERNAL_H */
