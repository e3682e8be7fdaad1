// SPDX-License-Identifier: MIT
/*
 * Convolutions beyond the registers: the input as cells, the layers, the output from its phases.  Cells
 * lie as [row of cells][row in it][column in it][surface][column of cells][atom], so that to CDMA the
 * three in the middle are surfaces one stride apart, and to SDP every row is one stride from the next.
 * Outputs of phases lie likewise, one surface at a time.
 */
#include "cells.h"
#include "conv.h"
#include "view.h"

/**
 * struct build - a convolution on its way
 * @input, @output: values, turned where @cells are
 * @whole: what layers write: @output, or more rows than it has
 * @bad, @bad_count: kernels with weights beyond INT8, which a patch computes
 */
struct build {
	struct npu_opt *opt;
	u32 op;
	const struct npu_op *o;
	const struct npu_cells *cells;
	u32 input, output, whole;
	u32 *bad, bad_count;
};

/* Channels @c on of the input, @k on of the output: a block. */
struct block {
	u32 c, k;
};

static u32 surfaces(const struct build *b, u32 channels)
{
	return DIV_ROUND_UP(channels, (u32)b->opt->config->atom);
}

/* ---- passes of SDP ------------------------------------------------------------------------ */

static void name_layer(struct build *b, u32 index, const char *what)
{
	struct npu_layer *layer = &b->opt->net->layer[index];
	const char *name = npu_arena_printf(&b->opt->net->arena, "%s/%s", layer->name, what);

	layer->name = name ? name : layer->name;
}

static int copy(struct build *b, u32 from, u32 to, const struct npu_view *source,
		const struct npu_view *target)
{
	u32 before = b->opt->net->layer_count;
	int error = npu_opt_copy_box(b->opt, b->op, from, to, source, target);

	for (; before < b->opt->net->layer_count && !error; before++)
		name_layer(b, before, "move");
	return error;
}

/**
 * struct columns - pixels of one surface, of many rows, that move to other columns
 * @from_at, @to_at: of the first one
 * @from_step, @to_step: from one pixel to the next
 * @from_line, @to_line: from one row to the next
 * @count: in a row
 */
struct columns {
	u64 from_at, to_at;
	u32 from_step, to_step;
	u32 from_line, to_line;
	u32 count, rows;
};

/* To SDP pixels are lines and rows are surfaces, of which it takes so many at a time. */
static int move_columns(struct build *b, u32 from, u32 to, const struct columns *m)
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
static int fill(struct build *b, u32 value, u32 width, s32 fill)
{
	u32 line = width * b->opt->config->atom, before = b->opt->net->layer_count;
	u32 rows = (u32)(b->opt->net->value[value].bytes / line);
	const struct npu_view all = { rows, width, b->opt->config->atom, 0, line, line };
	int error = npu_opt_fill_box(b->opt, b->op, value, &all, fill);

	for (; before < b->opt->net->layer_count && !error; before++)
		name_layer(b, before, "padding");
	return error;
}

/* ---- the input ------------------------------------------------------------------------------ */

static u32 add_cells(struct build *b, const char *name, u32 like, u32 h, u32 w, u32 c)
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
	value->line_stride = surfaces(b, c) * value->surface_stride;
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
static int gather_columns(struct build *b, u32 from, u32 to, u32 column, u32 surface)
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
	return move_columns(
		b, from, to,
		&(struct columns){
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
static int move_rows(struct build *b, u32 from, u32 to)
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
static int move_input(struct build *b, u32 from, u32 to)
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

/* The cells of a block; NPU_NONE with @error set. */
static u32 make_input(struct build *b, const struct block *block, int *error)
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
	to = add_cells(b, "cells", b->input, y->cells, x->cells, channels);
	if (from != NPU_NONE && to != NPU_NONE)
		*error = move_input(b, from, to);
	return from == NPU_NONE ? NPU_NONE : to;
}

/* ---- kernels -------------------------------------------------------------------------------- */

/**
 * struct unit - the kernels of one layer
 * @first: channel of the output
 * @lanes: of each phase; @count of them are channels
 * @kernels: of all phases
 */
struct unit {
	const struct block *block;
	u32 first, count, lanes, kernels;
};

/* Tensors with an entry for each kernel of a unit, instead of the operator's. */
struct tables {
	struct npu_tensor weights, bias;
	u8 *data;
	float *scale;
	s32 *zero, *sum;
};

/* The channel of the output that a kernel makes; NPU_NONE: a lane that is none, or is patched. */
static u32 channel_of(const struct build *b, const struct unit *unit, u32 kernel)
{
	u32 lane = kernel % unit->lanes, i;

	for (i = 0; i < b->bad_count; i++)
		if (b->bad[i] == unit->first + lane)
			return NPU_NONE;
	return lane < unit->count ? unit->first + lane : NPU_NONE;
}

/* Where a channel of the block is among those of the cells. */
static u32 cell_channel(const struct build *b, u32 row, u32 column, u32 c)
{
	u32 atom = b->opt->config->atom;

	if (b->cells->y.cell * b->cells->x.cell == 1)
		return c;
	return (row * b->cells->x.cell + column) * npu_cell_surfaces(b->opt, b->cells) * atom + c;
}

/* The weights of one kernel, which are zero points so far. */
static void set_kernel(const struct build *b, const struct unit *unit, u32 kernel, u8 *to)
{
	const struct npu_tensor *weights = npu_op_input(b->opt->graph, b->o, 1);
	const struct npu_cells *cells = b->cells;
	u32 phase = kernel / unit->lanes, channel = channel_of(b, unit, kernel), y, x, row, column;
	u32 dim_r = weights->dim[1], dim_s = weights->dim[2], per_c = weights->dim[3], r, s;
	u32 per_k = weights->dim[0] / max(b->o->groups, 1u);
	u32 first = channel / per_k * per_c - unit->block->c;
	u32 channels = npu_cell_channels(b->opt, cells);
	const u8 *from = (const u8 *)weights->data + (size_t)channel * dim_r * dim_s * per_c;

	for (r = 0; r < dim_r; r++)
		for (s = 0; s < dim_s; s++, from += per_c) {
			npu_cell_tap(&cells->y, phase / cells->x.phases, cells->turned ? s : r, &y,
				     &row);
			npu_cell_tap(&cells->x, phase % cells->x.phases, cells->turned ? r : s, &x,
				     &column);
			memcpy(to + ((size_t)y * cells->x.taps + x) * channels +
				       cell_channel(b, row, column, first),
			       from, per_c);
		}
}

static int alloc_tables(const struct build *b, const struct unit *unit, struct tables *t)
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

static int make_tables(const struct build *b, const struct unit *unit, struct tables *t)
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

/* ---- the layers ------------------------------------------------------------------------------- */

static int add_conv(struct build *b, const struct unit *unit, u32 input, u32 output)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	const struct npu_tensor *in = npu_op_input(b->opt->graph, b->o, 0);
	struct tables tables;
	struct npu_conv conv = {
		.op = b->op,
		.in = in,
		.out = npu_op_output(b->opt->graph, b->o),
		.weights = &tables.weights,
		.bias = &tables.bias,
		.pad = NPU_NONE,
		.pool = NPU_NONE,
		.input = input,
		.output = output,
		.is_part = true,
		.window = { y->taps, x->taps, y->stride, x->stride, y->dilation, x->dilation,
			    y->pad, x->pad, 0, 0 },
		.h = y->outs,
		.w = x->outs,
		.pad_value = npu_stored_zero(in),
	};

	if (input == NPU_NONE || output == NPU_NONE)
		return npu_opt_nomem(b->opt);
	if (make_tables(b, unit, &tables))
		return -ENOMEM;
	conv.kernels = (struct npu_kernels){
		.data = tables.data,
		.is_unsigned = tables.weights.dtype == NPU_U8,
		.zero = tables.zero,
		.zero_count = unit->kernels,
		.k = unit->kernels,
		.r = y->taps,
		.s = x->taps,
		.channels = npu_cell_channels(b->opt, b->cells),
		.groups = 1,
	};
	return npu_conv_layer(b->opt, &conv);
}

/* Without phases: all channels of the block at once. */
static int add_block(struct build *b, const struct unit *unit, u32 input)
{
	struct npu_view view = npu_view_box(b->opt, b->whole, 0, 0, unit->first, 1);
	u32 output = b->whole;

	if (b->cells->blocks > 1) {
		view.c = unit->count;
		if (!npu_view_is_legal(b->opt, &view))
			return -E2BIG;
		output = npu_opt_add_view(b->opt, b->whole, &view, "block");
	}
	return add_conv(b, unit, input, output);
}

/* Phases of rows alone: they are surfaces a line apart. */
static int add_row_phases(struct build *b, const struct unit *unit, u32 input)
{
	const struct npu_cell_axis *y = &b->cells->y;
	struct npu_view view = npu_view_box(b->opt, b->whole, 0, 0, unit->first, 1);

	view.h = y->outs;
	view.c = unit->kernels;
	view.surface_stride = view.line_stride;
	view.line_stride *= y->phases;
	if (!npu_view_is_legal(b->opt, &view))
		return -E2BIG;
	return add_conv(b, unit, input, npu_opt_add_view(b->opt, b->whole, &view, "phases"));
}

/* Phases of columns are computed side by side and spread. */
static int add_phases(struct build *b, const struct unit *unit, u32 input)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	const struct npu_value *out = &b->opt->net->value[b->whole];
	u32 atom = b->opt->config->atom, phase;
	u64 at = (u64)(unit->first / atom) * out->surface_stride;
	struct columns columns = {
		.from_step = atom,
		.from_line = x->phases * x->outs * atom,
		.to_step = x->phases * atom,
		.to_line = out->line_stride,
		.rows = y->out,
	};
	u32 middle = add_cells(b, "phases", b->output, y->outs, x->outs, unit->kernels);
	int error = add_conv(b, unit, input, middle);

	for (phase = 0; phase < min(x->phases, x->out) && !error; phase++) {
		columns.from_at = (u64)phase * x->outs * atom;
		columns.to_at = at + (u64)phase * atom;
		columns.count = (x->out - phase - 1) / x->phases + 1;
		error = move_columns(b, middle, b->whole, &columns);
	}
	return error;
}

static int add_layers(struct build *b, const struct block *block, u32 input)
{
	const struct npu_cells *cells = b->cells;
	u32 phases = cells->y.phases * cells->x.phases, atom = b->opt->config->atom, first, count;
	u32 end = min(block->k + cells->block_k, b->opt->net->value[b->output].c);
	int error = 0;

	count = phases == 1 ? end - block->k : atom;
	for (first = block->k; first < end && !error; first += count) {
		struct unit unit = { block, first, min(count, end - first), 0, 0 };

		unit.lanes = phases == 1 ? unit.count : atom;
		unit.kernels = unit.lanes * phases;
		error = phases == 1	       ? add_block(b, &unit, input)
			: cells->x.phases == 1 ? add_row_phases(b, &unit, input)
					       : add_phases(b, &unit, input);
	}
	return error;
}

/* ---- the output --------------------------------------------------------------------------------- */

/* A line of pixels, however its value has it, as rows of one pixel. */
static u32 turn(struct npu_opt *opt, u32 value)
{
	const struct npu_value *v = &opt->net->value[value];
	const struct npu_view view = {
		v->h * v->w, 1, v->c, 0, opt->config->atom, v->surface_stride
	};

	return npu_opt_add_view(opt, value, &view, "turned");
}

/* Layers write whole phases: more rows than the output has where these come out uneven. */
static bool is_uneven(const struct npu_cells *cells)
{
	return cells->y.phases > 1 && cells->x.phases == 1 &&
	       cells->y.outs * cells->y.phases > cells->y.out;
}

static u32 make_whole(struct build *b)
{
	u32 whole;

	if (!is_uneven(b->cells))
		return b->output;
	whole = npu_opt_add_value_like(b->opt, b->output, "whole phases");
	if (whole != NPU_NONE)
		npu_value_set_feature(&b->opt->net->value[whole], b->opt->config,
				      b->cells->y.outs * b->cells->y.phases,
				      b->opt->net->value[b->output].w,
				      b->opt->net->value[b->output].c);
	return whole;
}

/* The operator's output becomes the first rows of what was written. */
static void finish_output(struct build *b, u32 output)
{
	struct npu_view view = npu_view_box(b->opt, b->whole, 0, 0, 0, 1);

	if (b->whole == b->output)
		return;
	view.h = b->opt->net->value[output].h;
	view.w = b->opt->net->value[output].w;
	if (b->cells->turned)
		view.line_stride = view.surface_stride;
	npu_opt_become_view(b->opt, output, b->whole, &view);
}

/* The last layer completes the operator, but for kernels that only the CPU can do. */
static int finish_layers(struct build *b, u32 input, const struct npu_window *window)
{
	const struct npu_conv patched = {
		.op = b->op,
		.input = input,
		.window = *window,
		.bad = b->bad,
		.bad_count = b->bad_count,
	};
	int error = npu_opt_set_group(b->opt, &b->opt->net->layer[b->opt->net->layer_count - 1],
				      (const u32[]){ b->opt->op[b->op].pad, b->op }, 2);

	return error ? error : npu_conv_add_patch(b->opt, &patched);
}

static int find_bad(struct build *b)
{
	const struct npu_kernels kernels =
		npu_kernels_of(npu_op_input(b->opt->graph, b->o, 1), max(b->o->groups, 1u));

	return npu_find_bad_kernels(b->opt, &kernels, &b->bad, &b->bad_count);
}

/* The values that layers read and write: where they are turned, views of the operator's. */
static int set_values(struct build *b, u32 input, u32 output)
{
	bool line = b->cells->turned || b->cells->y.in > NPU_MAX_EXTENT;

	b->input = line ? turn(b->opt, input) : input;
	b->output = b->cells->turned ? turn(b->opt, output) : output;
	if (b->input == NPU_NONE || b->output == NPU_NONE)
		return npu_opt_nomem(b->opt);
	b->whole = make_whole(b);
	return b->whole == NPU_NONE ? npu_opt_nomem(b->opt) : 0;
}

int npu_lower_cells(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 pad = opt->op[op].pad;
	u32 source = pad == NPU_NONE ? o->input[0] : opt->graph->op[pad].input[0];
	u32 input = npu_opt_value(opt, source), output = npu_opt_value(opt, o->output[0]), i, in[4];
	struct npu_window window = npu_conv_window(opt, op);
	struct npu_cells cells;
	struct build b = { .opt = opt, .op = op, .o = o, .cells = &cells };
	int error;

	npu_tensor_nhwc(&opt->graph->tensor[source], in);
	if (npu_plan_cells(opt, o, in, &window, &cells))
		return -E2BIG;
	/* What is made here comes in parts: nothing is fused behind it. */
	opt->op[op].add = opt->op[op].pool = NPU_NONE;
	error = find_bad(&b);
	if (!error)
		error = set_values(&b, input, output);
	for (i = 0; i < cells.blocks && !error; i++) {
		const struct block block = { i * cells.block_c, i * cells.block_k };
		u32 from = make_input(&b, &block, &error);

		if (!error)
			error = from == NPU_NONE ? npu_opt_nomem(opt)
						 : add_layers(&b, &block, from);
	}
	if (error)
		return error;
	finish_output(&b, output);
	return finish_layers(&b, input, &window);
}
