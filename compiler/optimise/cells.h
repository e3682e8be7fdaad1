/* SPDX-License-Identifier: MIT */
/*
 * Convolutions beyond the registers, as convolutions of cells: what lies side by side in a cell of
 * cell_y x cell_x elements becomes channels, so a kernel of cells is as many times smaller.  Where the
 * stride is no whole cell, outputs that are as far apart as it takes to come to one are kernels of their
 * own (phases), and go back to their places as channels came.  Sums are the operator's own, with zero
 * weights where a kernel does not reach: nothing is rounded in between.
 */
#ifndef NPU_CELLS_H
#define NPU_CELLS_H

#include "optimise.h"

/**
 * struct npu_cell_axis - rows or columns of a convolution of cells
 * @in, @out: elements of the operator's input and output
 * @step, @spread, @shift: output @o reads elements o * step + k * spread - shift of what cells begin with
 * @before: elements of padding in the first cells, in front of the input's first element
 * @cell: elements of a cell
 * @phases: outputs that kernels of their own make
 * @cells, @outs: of the convolution's input and output
 * @taps, @stride, @dilation, @pad: of its window; padding behind follows
 * @moved: the input's own bytes are no such cells: the last one is not full, or has padding
 * @filled: taps read elements of cells that are padding
 */
struct npu_cell_axis {
	u32 in, out;
	u32 step, spread, shift;
	u32 before;
	u32 cell, phases;
	u32 cells, outs;
	u32 taps, stride, dilation, pad;
	bool moved, filled;
};

/**
 * struct npu_cells - a convolution of cells
 * @turned: one line: its pixels are taken as rows
 * @blocks, @block_c, @block_k: independent blocks of groups, channels and kernels of one
 * @cycles: what it costs on the NPU
 */
struct npu_cells {
	struct npu_cell_axis y, x;
	bool turned;
	u32 blocks, block_c, block_k;
	u64 cycles;
};

/* Does a window of that input and output fit the registers of the convolution pipeline? */
bool npu_window_fits_conv(const struct npu_window *window, u32 in_h, u32 in_w, u32 out_h,
			  u32 out_w);

/* The operator's window with the padding that is folded into it. */
struct npu_window npu_conv_window(const struct npu_opt *opt, u32 op);

/* Is the convolution @op, with padding that is folded into it, beyond the registers? */
bool npu_conv_needs_cells(const struct npu_opt *opt, u32 op);

/**
 * npu_plan_cells() - the cheapest convolution of cells for a convolution
 * @in: what it reads, as NHWC; without padding in front of it
 * @window: with that padding
 *
 * Return: NULL, or why there is none.
 */
const char *npu_plan_cells(const struct npu_opt *opt, const struct npu_op *op, const u32 in[4],
			   const struct npu_window *window, struct npu_cells *cells);

/**
 * npu_cell_tap() - where tap @k of the operator is for a phase
 * @tap: of the convolution of cells
 * @rest: element of the cell
 */
void npu_cell_tap(const struct npu_cell_axis *axis, u32 phase, u32 k, u32 *tap, u32 *rest);

/* Surfaces of one element of a cell, of all elements. */
u32 npu_cell_surfaces(const struct npu_opt *opt, const struct npu_cells *cells);
u32 npu_cell_channels(const struct npu_opt *opt, const struct npu_cells *cells);

/* Are the cells the input's own bytes, as a view has them? */
bool npu_cells_are_view(const struct npu_opt *opt, const struct npu_cells *cells);

struct npu_conv;

/* Lowers a convolution beyond the registers, of which geometry is known; errors as lowering has them. */
int npu_lower_cells(struct npu_opt *opt, const struct npu_conv *conv);

/* ---- fully connected layers of one row (plane.c) --------------------------------------------- */

/* Inputs of a flat tensor beyond the channels of a cube, in rows: @nhwc as features have them. */
void npu_plane_of(const struct npu_opt *opt, u32 nhwc[4]);

/* A kernel as large as the plane. */
struct npu_window npu_plane_window(const u32 plane[4]);
bool npu_plane_needs_cells(const u32 plane[4]);

/* Why the fully connected layer @op cannot read such a plane; NULL: it can. */
const char *npu_check_plane(const struct npu_opt *opt, const struct npu_op *op, const u32 plane[4]);

#endif /* NPU_CELLS_H */
