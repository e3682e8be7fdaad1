/* SPDX-License-Identifier: MIT */
/*
 * What makes a convolution of cells: its input (cells_input.c), kernels (cells_kernels.c), layers and output
 * (lower_cells.c).  Cells lie as [row of cells][row in it][column in it][surface][column of cells][atom],
 * so that to CDMA the three in the middle are surfaces one stride apart, and to SDP every row is one stride
 * from the next.  Outputs of phases lie likewise, one surface at a time.
 */
#ifndef NPU_CELLS_BUILD_H
#define NPU_CELLS_BUILD_H

#include "cells.h"
#include "conv.h"
#include "view.h"

/**
 * struct npu_cells_build - a convolution on its way
 * @input, @output: values, turned where @cells are
 * @whole: what layers write: @output, or more rows than it has
 * @kernels: the operator's
 * @bad, @bad_count: kernels with weights beyond INT8, which a patch computes
 */
struct npu_cells_build {
	struct npu_opt *opt;
	u32 op;
	const struct npu_op *o;
	const struct npu_cells *cells;
	u32 input, output, whole;
	struct npu_kernels kernels;
	u32 *bad, bad_count;
};

/* Channels @c on of the input, @k on of the output: a block. */
struct npu_cells_block {
	u32 c, k;
};

static inline u32 npu_cells_surfaces(const struct npu_cells_build *b, u32 channels)
{
	return DIV_ROUND_UP(channels, (u32)b->opt->config->atom);
}

/* ---- the input ------------------------------------------------------------------------------ */

/**
 * struct npu_cells_columns - pixels of one surface, of many rows, that move to other columns
 * @from_at, @to_at: of the first one
 * @from_step, @to_step: from one pixel to the next
 * @from_line, @to_line: from one row to the next
 * @count: in a row
 */
struct npu_cells_columns {
	u64 from_at, to_at;
	u32 from_step, to_step;
	u32 from_line, to_line;
	u32 count, rows;
};

/* Passes of SDP that move them, appended. */
int npu_cells_move_columns(struct npu_cells_build *b, u32 from, u32 to,
			   const struct npu_cells_columns *m);

/* A value of cells, of the scale of value @like; NPU_NONE when out of memory. */
u32 npu_cells_add(struct npu_cells_build *b, const char *name, u32 like, u32 h, u32 w, u32 c);

/* The cells of a block, with the passes that bring them there; NPU_NONE with @error set. */
u32 npu_cells_input(struct npu_cells_build *b, const struct npu_cells_block *block, int *error);

/* ---- kernels -------------------------------------------------------------------------------- */

/**
 * struct npu_cells_unit - the kernels of one layer
 * @first: channel of the output
 * @lanes: of each phase; @count of them are channels
 * @kernels: of all phases
 */
struct npu_cells_unit {
	const struct npu_cells_block *block;
	u32 first, count, lanes, kernels;
};

/* Tensors with an entry for each kernel of a unit, instead of the operator's. */
struct npu_cells_tables {
	struct npu_tensor weights, bias;
	u8 *data;
	float *scale;
	s32 *zero, *sum;
};

/* Fills them in; 0 or -ENOMEM. */
int npu_cells_tables(const struct npu_cells_build *b, const struct npu_cells_unit *unit,
		     struct npu_cells_tables *t);

#endif /* NPU_CELLS_BUILD_H */
