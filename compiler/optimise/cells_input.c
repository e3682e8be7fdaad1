// SPDX-License-Identifier: MIT
/* The input of a convolution of cells: a view where its bytes are such cells, else passes of SDP. */
#include "cells_build.h"

static int copy(struct npu_cells_build *b, u32 from, u32 to, const struct npu_view *source,
		const struct npu_view *target)
{
	u32 before = b->opt->net->layer_count;
	int error = npu_opt_copy_box(b->opt, b->op, from, to, source, target);

	for (; before < b->opt->net->layer_count && !error; before++)
		npu_opt_name_layer(b->opt, before, "move");
	return error;
}

/* To SDP pixels are lines and rows are surfaces, of which it takes so many at a time. */
int npu_cells_move_columns(struct npu_cells_build *b, u32 from, u32 to,
			   const struct npu_cells_columns *m)
{
	u32 atom = b->opt->config->atom, most = NPU_MAX_EXTENT / atom, row;
	int error = 0;

	/* The rows of a single column are lines themselves. */
	if (m->count == 1)
		return copy(b, from, to,
			    &(struct npu_view){ m->rows, 1, atom, m->from_at, m->from_line,
						m->rows * m->from_line },
			    &(struct npu_view){ m->rows, 1, atom, m->to_at, m->to_line,
						m->rows * m->to_line });
	for (row = 0; row < m->rows && !error; row += most) {
		u32 channels = min(most, m->rows - row) * atom;

		error = copy(b, from, to,
			     &(struct npu_view){ m->count, 1, channels,
						 m->from_at + (u64)row * m->from_line, m->from_step,
						 m->from_line },
			     &(struct npu_view){ m->count, 1, channels,
						 m->to_at + (u64)row * m->to_line, m->to_step,
						 m->to_line });
	}
	return error;
}

/* Every byte of cells becomes @fill: to SDP they are one surface of many lines. */
static int fill(struct npu_cells_build *b, u32 value, u32 width, s32 fill)
{
	u32 line = width * b->opt->config->atom, before = b->opt->net->layer_count;
	u32 rows = (u32)(b->opt->net->value[value].bytes / line);
	const struct npu_view all = { rows, width, b->opt->config->atom, 0, line, line };
	int error = npu_opt_fill_box(b->opt, b->op, value, &all, fill);

	for (; before < b->opt->net->layer_count && !error; before++)
		npu_opt_name_layer(b->opt, before, "padding");
	return error;
}

u32 npu_cells_add(struct npu_cells_build *b, const char *name, u32 like, u32 h, u32 w, u32 c)
{
	u32 index = npu_opt_add_value_like(b->opt, like, name), atom = b->opt->config->atom;
	struct npu_value *value;

	if (index == NPU_NONE)
		return NPU_NONE;
	value = &b->opt->net->value[index];
	value->h = h;
	value->w = w;
	value->c = c;
	value->surface_stride = w * atom;
	value->line_stride = npu_cells_surfaces(b, c) * value->surface_stride;
	value->bytes = (u64)h * value->line_stride;
	return index;
}

/* Elements of the input that cells hold. */
static u32 held(const struct npu_cell_axis *axis)
{
	u32 all = axis->cells * axis->cell;

	return all > axis->before ? min(axis->in, all - axis->before) : 0;
}

/* Columns of one kind, of one surface. */
static int gather_columns(struct npu_cells_build *b, u32 from, u32 to, u32 column, u32 surface)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	const struct npu_value *in = &b->opt->net->value[from];
	u32 atom = b->opt->config->atom, all = npu_cell_surfaces(b->opt, b->cells);
	u32 cell_line = x->cells * atom, line = x->cell * all * cell_line;
	/* The first column of the input that lies there. */
	u32 first = (column + x->cell - x->before % x->cell) % x->cell;
	u32 width = held(x);

	if (first >= width)
		return 0;
	return npu_cells_move_columns(
		b, from, to,
		&(struct npu_cells_columns){
			.from_at = (u64)surface * in->surface_stride + (u64)first * atom,
			.from_step = x->cell * atom,
			.from_line = in->line_stride,
			.to_at = (u64)y->before * line + (u64)(column * all + surface) * cell_line +
				 (u64)(first + x->before) / x->cell * atom,
			.to_step = atom,
			.to_line = line,
			.count = (width - first - 1) / x->cell + 1,
			.rows = held(y),
		});
}

/* Rows as they are, one surface beside the other. */
static int move_rows(struct npu_cells_build *b, u32 from, u32 to)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	u32 atom = b->opt->config->atom, line = x->cells * atom;
	struct npu_view source = npu_view_box(b->opt, from, 0, 0, 0, 1), target;
	u32 all = npu_cell_surfaces(b->opt, b->cells);

	source.h = held(y);
	source.w = held(x);
	target = source;
	target.line_stride = all * line;
	target.surface_stride = line;
	target.offset = (u64)y->before * target.line_stride + (u64)x->before * atom;
	return copy(b, from, to, &source, &target);
}

/* Copies the input of a block to cells. */
static int move_input(struct npu_cells_build *b, u32 from, u32 to)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	u32 column, surface;
	int error = 0;

	if (y->filled || x->filled)
		error = fill(b, to, x->cells,
			     npu_stored_zero(npu_op_input(b->opt->graph, b->o, 0)));
	/* Windows may lie in the padding altogether. */
	if (error || !held(y) || !held(x))
		return error;
	if (x->cell == 1)
		return move_rows(b, from, to);
	for (column = 0; column < x->cell && !error; column++)
		for (surface = 0; surface < npu_cell_surfaces(b->opt, b->cells) && !error;
		     surface++)
			error = gather_columns(b, from, to, column, surface);
	return error;
}

u32 npu_cells_input(struct npu_cells_build *b, const struct npu_cells_block *block, int *error)
{
	const struct npu_cells *cells = b->cells;
	const struct npu_cell_axis *y = &cells->y, *x = &cells->x;
	u32 channels = npu_cell_channels(b->opt, cells), from = b->input, to;
	struct npu_view view = npu_view_box(b->opt, from, 0, 0, block->c, 1);

	view.c = min(cells->block_c, view.c);
	*error = 0;
	if (npu_cells_are_view(b->opt, cells)) {
		if (y->cell > 1) {
			view.surface_stride = view.line_stride;
			view.line_stride *= y->cell;
			view.c = channels;
		}
		view.h = y->cells;
		view.w = x->cells;
		*error = npu_view_is_legal(b->opt, &view) ? 0 : -E2BIG;
		return npu_opt_add_view(b->opt, from, &view, "cells");
	}
	if (cells->blocks > 1)
		from = npu_opt_add_view(b->opt, from, &view, "block");
	to = npu_cells_add(b, "cells", b->input, y->cells, x->cells, channels);
	if (from != NPU_NONE && to != NPU_NONE)
		*error = move_input(b, from, to);
	return from == NPU_NONE ? NPU_NONE : to;
}
