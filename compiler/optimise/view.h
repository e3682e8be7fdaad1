/* SPDX-License-Identifier: MIT */
/* Values that are parts of others, or other ways to walk over their bytes. */
#ifndef NPU_VIEW_H
#define NPU_VIEW_H

#include "optimise.h"

/**
 * struct npu_view - a cube within the memory of a value
 * @h, @w, @c: its shape
 * @offset: of its first byte, from that of the value
 * @line_stride, @surface_stride: its own, whatever the value's are
 */
struct npu_view {
	u32 h, w, c;
	u64 offset;
	u32 line_stride, surface_stride;
};

/* Rows from @y, columns from @x and surfaces from channel @c on, in steps of @step_y rows. */
struct npu_view npu_view_box(const struct npu_opt *opt, u32 value, u32 y, u32 x, u32 c, u32 step_y);

/*
 * Can the units walk over it?  A plane of one pixel is taken as packed, whatever its strides say, and
 * no dimension is above 8192.
 */
bool npu_view_is_legal(const struct npu_opt *opt, const struct npu_view *view);

/* A value without a tensor for a view of @whole, of its scale; NPU_NONE when out of memory. */
u32 npu_opt_add_view(struct npu_opt *opt, u32 whole, const struct npu_view *view, const char *name);

/* Makes an existing value a view of @whole; what it was of its own is forgotten. */
void npu_opt_become_view(struct npu_opt *opt, u32 value, u32 whole, const struct npu_view *view);

/* A pass of SDP that changes nothing, appended; for @op, which others complete. */
int npu_opt_add_copy(struct npu_opt *opt, u32 op, u32 from, u32 to);

/*
 * Copies a box of one value to one of another or the same: as many rows at a time as a cube has, and of a
 * single pixel each surface for itself.  -E2BIG: the units cannot walk over it.
 */
int npu_opt_copy_box(struct npu_opt *opt, u32 op, u32 from, u32 to, const struct npu_view *source,
		     const struct npu_view *target);

/* Writes @fill, as features store it, to a box of a value: what is there is multiplied by zero. */
int npu_opt_fill_box(struct npu_opt *opt, u32 op, u32 value, const struct npu_view *box, s32 fill);

/**
 * npu_opt_spread() - writes the pixels of a value to every @step_x'th pixel of every @step_y'th row
 * @from: a value of as many channels as @to
 * @y, @x: where the first pixel goes
 *
 * Lines of SDP's cubes are pixels and its surfaces are rows then, so that it takes one pass for each
 * surface.
 *
 * Return: 0; -E2BIG where the plane is too large for that.
 */
int npu_opt_spread(struct npu_opt *opt, u32 op, u32 from, u32 to, u32 y, u32 x, u32 step_y,
		   u32 step_x);

#endif /* NPU_VIEW_H */
