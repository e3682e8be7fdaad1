// SPDX-License-Identifier: MIT
/* Convolutions beyond the registers: the input as cells, the layers, the output from its phases. */
#include "cells_build.h"

/* ---- the layers ------------------------------------------------------------------------------- */

static int add_conv(struct npu_cells_build *b, const struct npu_cells_unit *unit, u32 input,
		    u32 output)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	const struct npu_tensor *in = npu_op_input(b->opt->graph, b->o, 0);
	struct npu_cells_tables tables;
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
	if (npu_cells_tables(b, unit, &tables))
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
static int add_block(struct npu_cells_build *b, const struct npu_cells_unit *unit, u32 input)
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
static int add_row_phases(struct npu_cells_build *b, const struct npu_cells_unit *unit, u32 input)
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
static int add_phases(struct npu_cells_build *b, const struct npu_cells_unit *unit, u32 input)
{
	const struct npu_cell_axis *y = &b->cells->y, *x = &b->cells->x;
	const struct npu_value *out = &b->opt->net->value[b->whole];
	u32 atom = b->opt->config->atom, phase;
	u64 at = (u64)(unit->first / atom) * out->surface_stride;
	struct npu_cells_columns columns = {
		.from_step = atom,
		.from_line = x->phases * x->outs * atom,
		.to_step = x->phases * atom,
		.to_line = out->line_stride,
		.rows = y->out,
	};
	u32 middle = npu_cells_add(b, "phases", b->output, y->outs, x->outs, unit->kernels);
	int error = add_conv(b, unit, input, middle);

	for (phase = 0; phase < min(x->phases, x->out) && !error; phase++) {
		columns.from_at = (u64)phase * x->outs * atom;
		columns.to_at = at + (u64)phase * atom;
		columns.count = (x->out - phase - 1) / x->phases + 1;
		error = npu_cells_move_columns(b, middle, b->whole, &columns);
	}
	return error;
}

static int add_layers(struct npu_cells_build *b, const struct npu_cells_block *block, u32 input)
{
	const struct npu_cells *cells = b->cells;
	u32 phases = cells->y.phases * cells->x.phases, atom = b->opt->config->atom, first, count;
	u32 end = min(block->k + cells->block_k, b->opt->net->value[b->output].c);
	int error = 0;

	count = phases == 1 ? end - block->k : atom;
	for (first = block->k; first < end && !error; first += count) {
		struct npu_cells_unit unit = { block, first, min(count, end - first), 0, 0 };

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

static u32 make_whole(struct npu_cells_build *b)
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
static void finish_output(struct npu_cells_build *b, u32 output)
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
static int finish_layers(struct npu_cells_build *b, u32 input, const struct npu_window *window)
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

/* The values that layers read and write: where they are turned, views of the operator's. */
static int set_values(struct npu_cells_build *b, u32 input, u32 output)
{
	bool line = b->cells->turned || b->cells->y.in > NPU_MAX_EXTENT;

	b->input = line ? turn(b->opt, input) : input;
	b->output = b->cells->turned ? turn(b->opt, output) : output;
	if (b->input == NPU_NONE || b->output == NPU_NONE)
		return npu_opt_nomem(b->opt);
	b->whole = make_whole(b);
	return b->whole == NPU_NONE ? npu_opt_nomem(b->opt) : 0;
}

/* What the convolution reads, as the window counts it: of a fully connected layer the plane that there is. */
static void set_input(const struct npu_opt *opt, const struct npu_conv *conv, u32 nhwc[4])
{
	const struct npu_value *value = &opt->net->value[conv->input];
	u32 pad = opt->op[conv->op].pad;
	const struct npu_op *first = &opt->graph->op[pad == NPU_NONE ? conv->op : pad];

	npu_tensor_nhwc(npu_op_input(opt->graph, first, 0), nhwc);
	if (opt->graph->op[conv->op].kind != NPU_OP_FULLY_CONNECTED)
		return;
	nhwc[0] = 1;
	nhwc[1] = value->h;
	nhwc[2] = value->w;
	nhwc[3] = value->c;
}

int npu_lower_cells(struct npu_opt *opt, const struct npu_conv *conv)
{
	struct npu_cells_build b = {
		.opt = opt,
		.op = conv->op,
		.o = &opt->graph->op[conv->op],
		.kernels = conv->kernels,
	};
	struct npu_cells cells;
	int error;
	u32 in[4], i;

	set_input(opt, conv, in);
	if (npu_plan_cells(opt, b.o, in, &conv->window, &cells))
		return -E2BIG;
	b.cells = &cells;
	/* What is made here comes in parts: nothing is fused behind it. */
	opt->op[b.op].add = opt->op[b.op].pool = NPU_NONE;
	error = npu_find_bad_kernels(opt, &b.kernels, &b.bad, &b.bad_count);
	if (!error)
		error = set_values(&b, conv->input, conv->output);
	for (i = 0; i < cells.blocks && !error; i++) {
		const struct npu_cells_block block = { i * cells.block_c, i * cells.block_k };
		u32 from = npu_cells_input(&b, &block, &error);

		if (!error)
			error = from == NPU_NONE ? npu_opt_nomem(opt)
						 : add_layers(&b, &block, from);
	}
	if (error)
		return error;
	finish_output(&b, conv->output);
	return finish_layers(&b, conv->input, &conv->window);
}
