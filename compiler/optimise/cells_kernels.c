// SPDX-License-Identifier: MIT
/* The kernels of a convolution of cells: zero where the operator's reach no element of a cell. */
#include "cells_build.h"

/* The channel of the output that a kernel makes; NPU_NONE: a lane that is none, or is patched. */
static u32 channel_of(const struct npu_cells_build *b, const struct npu_cells_unit *unit,
		      u32 kernel)
{
	u32 lane = kernel % unit->lanes, i;

	for (i = 0; i < b->bad_count; i++)
		if (b->bad[i] == unit->first + lane)
			return NPU_NONE;
	return lane < unit->count ? unit->first + lane : NPU_NONE;
}

/* Where a channel of the block is among those of the cells. */
static u32 cell_channel(const struct npu_cells_build *b, u32 row, u32 column, u32 c)
{
	u32 atom = b->opt->config->atom;

	if (b->cells->y.cell * b->cells->x.cell == 1)
		return c;
	return (row * b->cells->x.cell + column) * npu_cell_surfaces(b->opt, b->cells) * atom + c;
}

/* The weights of one kernel, which are zero points so far. */
static void set_kernel(const struct npu_cells_build *b, const struct npu_cells_unit *unit,
		       u32 kernel, u8 *to)
{
	const struct npu_kernels *kernels = &b->kernels;
	const struct npu_cells *cells = b->cells;
	u32 phase = kernel / unit->lanes, channel = channel_of(b, unit, kernel), y, x, row, column;
	u32 per_c = kernels->channels, per_k = kernels->k / kernels->groups, r, s;
	u32 first = channel / per_k * per_c - unit->block->c;
	u32 channels = npu_cell_channels(b->opt, cells);
	const u8 *from =
		(const u8 *)kernels->data + (size_t)channel * kernels->r * kernels->s * per_c;

	for (r = 0; r < kernels->r; r++)
		for (s = 0; s < kernels->s; s++, from += per_c) {
			npu_cell_tap(&cells->y, phase / cells->x.phases, cells->turned ? s : r, &y,
				     &row);
			npu_cell_tap(&cells->x, phase % cells->x.phases, cells->turned ? r : s, &x,
				     &column);
			memcpy(to + ((size_t)y * cells->x.taps + x) * channels +
				       cell_channel(b, row, column, first),
			       from, per_c);
		}
}

static int alloc_tables(const struct npu_cells_build *b, const struct npu_cells_unit *unit,
			struct npu_cells_tables *t)
{
	struct npu_arena *arena = &b->opt->net->arena;
	size_t per =
		(size_t)b->cells->y.taps * b->cells->x.taps * npu_cell_channels(b->opt, b->cells);

	t->data = npu_arena_array(arena, unit->kernels, per);
	t->scale = npu_arena_array(arena, unit->kernels, sizeof(*t->scale));
	t->zero = npu_arena_array(arena, unit->kernels, sizeof(*t->zero));
	t->sum = npu_arena_array(arena, unit->kernels, sizeof(*t->sum));
	return t->data && t->scale && t->zero && t->sum ? 0 : npu_opt_nomem(b->opt);
}

int npu_cells_tables(const struct npu_cells_build *b, const struct npu_cells_unit *unit,
		     struct npu_cells_tables *t)
{
	const struct npu_tensor *weights = npu_op_input(b->opt->graph, b->o, 1);
	const struct npu_tensor *bias = npu_op_input(b->opt->graph, b->o, 2);
	size_t per =
		(size_t)b->cells->y.taps * b->cells->x.taps * npu_cell_channels(b->opt, b->cells);
	bool single = weights->quant.count == 1;
	u32 k;

	if (alloc_tables(b, unit, t))
		return -ENOMEM;
	for (k = 0; k < unit->kernels; k++) {
		u32 channel = channel_of(b, unit, k),
		    known = channel == NPU_NONE ? unit->first : channel;

		t->scale[k] = weights->quant.scale[single ? 0 : known];
		t->zero[k] = weights->quant.zero[single ? 0 : known];
		memset(t->data + k * per, t->zero[k], per);
		if (channel == NPU_NONE)
			continue;
		set_kernel(b, unit, k, t->data + k * per);
		if (bias)
			memcpy(&t->sum[k], (const u8 *)bias->data + (size_t)channel * sizeof(s32),
			       sizeof(s32));
	}
	t->weights = *weights;
	t->weights.data = t->data;
	t->weights.quant = (struct npu_quant){ unit->kernels, 0, t->scale, t->zero };
	t->bias = (struct npu_tensor){ .data = t->sum };
	return 0;
}
