// SPDX-License-Identifier: MIT
/* Which cells: geometry along an axis, and the search for the cheapest pair of axes. */
#include "cells.h"
#include "price.h"

#include "nvdla_cbuf.h"

/* Banks that layers may take so that budgets of few banks can run them. */
#define FEW_BANKS 4u

/* ---- an axis --------------------------------------------------------------------------- */

/**
 * struct span - the operator along one axis
 * @pad: in front
 */
struct span {
	u32 in, out;
	u32 kernel, stride, dilation, pad;
};

/* Whether padding stays outside of the cells, or is a part of them; and the fewest outputs. */
struct choice {
	u32 cell;
	bool padded;
	u32 least_outs;
};

static s64 floor_div(s64 a, u32 b)
{
	return a >= 0 ? a / b : -((-a + b - 1) / (s64)b);
}

static u32 gcd(u32 a, u32 b)
{
	while (b) {
		u32 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The cell, counted from the first one, in which the element is that tap @k of a phase reads. */
static s64 cell_of(const struct npu_cell_axis *axis, u32 phase, u32 k)
{
	return floor_div((s64)axis->step * phase + (s64)axis->spread * k - axis->shift, axis->cell);
}

void npu_cell_tap(const struct npu_cell_axis *axis, u32 phase, u32 k, u32 *tap, u32 *rest)
{
	s64 at = (s64)axis->step * phase + (s64)axis->spread * k - axis->shift;
	s64 cell = floor_div(at, axis->cell);

	*tap = (u32)(cell + axis->pad) / axis->dilation;
	*rest = (u32)(at - cell * axis->cell);
}

/* Taps a whole number of cells apart stay so where all phases begin in one cell; else they are dense. */
static bool set_taps(struct npu_cell_axis *axis, u32 kernel)
{
	s64 taps = cell_of(axis, axis->phases - 1, kernel - 1) + axis->pad + 1;

	axis->dilation = 1;
	if (axis->spread % axis->cell == 0 &&
	    cell_of(axis, axis->phases - 1, 0) == cell_of(axis, 0, 0)) {
		axis->dilation = max(axis->spread / axis->cell, 1u);
		taps = kernel;
	}
	if (taps > NPU_CONV_MAX_KERNEL || axis->dilation > NPU_CONV_MAX_DILATION)
		return false;
	axis->taps = (u32)taps;
	return true;
}

/* Cells that windows read, and whether the input's bytes make them. */
static bool set_cells(struct npu_cell_axis *axis, const struct span *span, bool padded)
{
	u32 extent = (u32)npu_dilated(axis->taps, axis->dilation);
	u64 reach = (u64)(axis->outs - 1) * axis->stride + extent - axis->pad;
	s64 last = (s64)(span->out - 1) * axis->step + (s64)(span->kernel - 1) * axis->spread -
		   axis->shift;
	u64 cells = padded ? reach : min(reach, (u64)DIV_ROUND_UP(span->in, axis->cell));
	u64 behind = reach - cells;

	if (cells > NPU_MAX_EXTENT || axis->outs > NPU_MAX_EXTENT || behind > NPU_CONV_MAX_PAD ||
	    behind >= extent)
		return false;
	axis->cells = (u32)cells;
	axis->moved = padded || cells * axis->cell > span->in;
	axis->filled = padded || (axis->moved && last >= span->in);
	return true;
}

static bool make_axis(const struct span *span, const struct choice *choice,
		      struct npu_cell_axis *axis)
{
	u32 common = gcd(choice->cell, span->stride);

	*axis = (struct npu_cell_axis){
		.in = span->in,
		.out = span->out,
		.step = span->stride,
		.spread = span->dilation,
		.shift = choice->padded ? 0 : span->pad,
		.before = choice->padded ? span->pad : 0,
		.cell = choice->cell,
		/* With one output there is no step. */
		.phases = span->out == 1 ? 1 : choice->cell / common,
		.stride = span->out == 1 ? 1 : span->stride / common,
	};
	axis->outs = max(DIV_ROUND_UP(span->out, axis->phases), choice->least_outs);
	axis->pad = DIV_ROUND_UP(axis->shift, axis->cell);
	if (axis->outs == 1)
		axis->stride = 1;
	if (axis->stride > NPU_CONV_MAX_STRIDE || axis->pad > NPU_CONV_MAX_PAD ||
	    !set_taps(axis, span->kernel) || axis->pad >= npu_dilated(axis->taps, axis->dilation))
		return false;
	return set_cells(axis, span, choice->padded);
}

/* ---- what it costs ---------------------------------------------------------------------- */

u32 npu_cell_surfaces(const struct npu_opt *opt, const struct npu_cells *cells)
{
	return DIV_ROUND_UP(cells->block_c, (u32)opt->config->atom);
}

u32 npu_cell_channels(const struct npu_opt *opt, const struct npu_cells *cells)
{
	u32 elements = cells->y.cell * cells->x.cell;

	return elements == 1 ? cells->block_c
			     : elements * npu_cell_surfaces(opt, cells) * opt->config->atom;
}

bool npu_cells_are_view(const struct npu_opt *opt, const struct npu_cells *cells)
{
	if (cells->x.cell > 1 || cells->y.moved || cells->x.moved)
		return false;
	return cells->y.cell == 1 || npu_cell_surfaces(opt, cells) == 1;
}

/* Kernels of one layer, and layers of a block: phases are written surface by surface. */
static u32 kernels_of(const struct npu_opt *opt, const struct npu_cells *cells, u32 *layers)
{
	u32 phases = cells->y.phases * cells->x.phases;

	*layers = phases == 1 ? 1 : DIV_ROUND_UP(cells->block_k, (u32)opt->config->atom);
	return phases == 1 ? cells->block_k : phases * opt->config->atom;
}

/* Passes of SDP that move as many rows as surfaces of its cubes, and every surface for itself. */
static u64 column_passes(const struct npu_opt *opt, u32 phases, u32 rows, u32 channels)
{
	u64 chunks = DIV_ROUND_UP(rows * opt->config->atom, NPU_MAX_EXTENT);

	return chunks * phases * DIV_ROUND_UP(channels, (u32)opt->config->atom);
}

/* Cycles for bringing the input of one block to cells. */
static u64 input_cycles(const struct npu_opt *opt, const struct npu_cells *cells)
{
	const struct npu_cell_axis *y = &cells->y, *x = &cells->x;
	u64 bytes = (u64)y->cells * x->cells * npu_cell_channels(opt, cells), passes = 1;

	if (npu_cells_are_view(opt, cells))
		return 0;
	if (x->cell > 1)
		passes = column_passes(opt, x->cell, y->in, cells->block_c);
	if (y->filled || x->filled) {
		bytes *= 2;
		passes++;
	}
	return 2 * bytes / opt->config->dbb_bytes + passes * NPU_PRICE_PASS;
}

/* Cycles for bringing the output of one block from phases of columns to its places. */
static u64 output_cycles(const struct npu_opt *opt, const struct npu_cells *cells)
{
	u64 bytes = (u64)cells->y.out * cells->x.out * cells->block_k;

	if (cells->x.phases == 1)
		return 0;
	return 2 * bytes / opt->config->dbb_bytes +
	       column_passes(opt, cells->x.phases, cells->y.out, cells->block_k) * NPU_PRICE_PASS;
}

static u64 cycles_of(const struct npu_opt *opt, const struct npu_cells *cells)
{
	const struct nvdla_config *config = opt->config;
	u64 taps = (u64)cells->y.taps * cells->x.taps, outs = (u64)cells->y.outs * cells->x.outs;
	u32 layers, kernels = kernels_of(opt, cells, &layers);
	u32 channels = npu_cell_channels(opt, cells);
	u64 mac = outs * taps * DIV_ROUND_UP(channels, (u32)config->atomic_c) *
		  DIV_ROUND_UP(kernels, (u32)config->atomic_k);
	u64 fetch = taps * channels * kernels / config->dbb_bytes;

	return cells->blocks * (layers * (max(mac, fetch) + NPU_PRICE_PASS) +
				input_cycles(opt, cells) + output_cycles(opt, cells));
}

/* Banks for a kernel group and the lines of one output. */
static u64 banks_of(const struct npu_opt *opt, const struct npu_cells *cells)
{
	const struct nvdla_config *config = opt->config;
	const struct npu_cell_axis *y = &cells->y, *x = &cells->x;
	u32 layers, kernels = kernels_of(opt, cells, &layers);
	u32 channels = npu_cell_channels(opt, cells);
	u32 eps = nvdla_cbuf_feature_eps(
		config, min(x->cells, (u32)npu_dilated(x->taps, x->dilation)), channels);
	u32 lines = min(y->cells, (u32)npu_dilated(y->taps, y->dilation));
	u64 group = (u64)y->taps * x->taps * channels * min(kernels, (u32)config->atomic_k);

	return nvdla_cbuf_data_banks(config, eps, lines) + nvdla_cbuf_weight_banks(config, group);
}

/* ---- the search -------------------------------------------------------------------------- */

/* Blocks of as few groups as fill surfaces of the input and of the output; else all in one. */
static void set_blocks(const struct npu_opt *opt, const struct npu_op *op, u32 channels,
		       struct npu_cells *cells)
{
	u32 kernels = npu_op_input(opt->graph, op, 1)->dim[0], atom = opt->config->atom;
	u32 groups = max(op->groups, 1u), per_c = channels / groups, per_k = kernels / groups,
	    n = 1;

	while (n < groups && (n * per_c % atom || n * per_k % atom))
		n++;
	cells->blocks = DIV_ROUND_UP(groups, n);
	cells->block_c = n * per_c;
	cells->block_k = n * per_k;
}

static bool is_legal(const struct npu_opt *opt, const struct npu_cells *cells)
{
	u64 kernel = (u64)cells->y.taps * cells->x.taps * npu_cell_channels(opt, cells);
	u32 layers, kernels = kernels_of(opt, cells, &layers);

	return npu_cell_channels(opt, cells) <= NPU_MAX_EXTENT && kernels <= NPU_MAX_EXTENT &&
	       kernel <= NPU_CONV_MAX_KERNEL_BYTES &&
	       (u64)cells->x.cells * cells->x.cell * cells->y.cell * npu_cell_surfaces(opt, cells) *
			       opt->config->atom <=
		       UINT32_MAX / NPU_MAX_EXTENT;
}

/**
 * struct search - of the cheapest pair of axes
 * @best: blocks and direction first, then the cheapest so far; cycles UINT64_MAX: none
 * @many_banks: it needs more than few banks
 */
struct search {
	const struct npu_opt *opt;
	struct span y, x;
	struct npu_cells best;
	bool many_banks;
};

static void try_pair(struct search *search, const struct choice *y, const struct npu_cell_axis *x)
{
	struct npu_cells cells = search->best;
	struct choice rows = *y;
	bool many;
	u64 banks;

	cells.x = *x;
	if (!make_axis(&search->y, &rows, &cells.y))
		return;
	/* SDP packs the surfaces of one pixel, so phases need two. */
	if (cells.y.phases * cells.x.phases > 1 && cells.y.outs == 1 && cells.x.outs == 1) {
		rows.least_outs = 2;
		if (!make_axis(&search->y, &rows, &cells.y))
			return;
	}
	if (!is_legal(search->opt, &cells))
		return;
	banks = banks_of(search->opt, &cells);
	many = banks > FEW_BANKS;
	cells.cycles = cycles_of(search->opt, &cells);
	if (banks > search->opt->config->banks || (many && !search->many_banks) ||
	    (many == search->many_banks && cells.cycles >= search->best.cycles))
		return;
	search->best = cells;
	search->many_banks = many;
}

static void search_rows(struct search *search, const struct npu_cell_axis *x)
{
	u32 most = NPU_MAX_EXTENT / (npu_cell_surfaces(search->opt, &search->best) *
				     search->opt->config->atom * x->cell);
	u32 cell;

	for (cell = 1; cell <= max(most, 1u); cell++) {
		try_pair(search, &(struct choice){ cell, false, 1 }, x);
		try_pair(search, &(struct choice){ cell, true, 1 }, x);
	}
}

static void search_all(struct search *search)
{
	u32 most = NPU_MAX_EXTENT /
		   (npu_cell_surfaces(search->opt, &search->best) * search->opt->config->atom);
	struct npu_cell_axis x;
	u32 cell, padded;

	for (cell = 1; cell <= max(most, 1u); cell++)
		for (padded = 0; padded < 2; padded++)
			if (make_axis(&search->x, &(struct choice){ cell, padded, 1 }, &x))
				search_rows(search, &x);
}

const char *npu_plan_cells(const struct npu_opt *opt, const struct npu_op *op, const u32 in[4],
			   const struct npu_window *w, struct npu_cells *cells)
{
	struct search search = { .opt = opt, .many_banks = true };
	u32 out[4], rows, columns;

	if (!npu_op_input(opt->graph, op, 1)->data)
		return "weights are not constant";
	if ((in[1] > NPU_MAX_EXTENT || in[2] > NPU_MAX_EXTENT) &&
	    ((in[1] > 1 && in[2] > 1) || !npu_line_shape(in[1] * in[2], &rows, &columns)))
		return "larger than 8192 in one dimension";
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	search.y = (struct span){ in[1], out[1], w->r, w->stride_y, w->dilation_y, w->pad_top };
	search.x = (struct span){ in[2], out[2], w->s, w->stride_x, w->dilation_x, w->pad_left };
	search.best.cycles = UINT64_MAX;
	set_blocks(opt, op, in[3], &search.best);
	if (in[1] == 1 && out[1] == 1) {
		struct span turned = search.x;

		search.best.turned = true;
		search.x = search.y;
		search.y = turned;
	}
	search_all(&search);
	if (search.best.cycles == UINT64_MAX)
		return "window beyond the registers, also when cut into cells";
	if (npu_cpu_is_cheaper(opt, op, search.best.cycles))
		return "window beyond the registers; in cells it costs more cycles than the CPU";
	*cells = search.best;
	return NULL;
}

/* ---- what needs no cells ------------------------------------------------------------------ */

static bool axis_fits(u32 in, u32 out, u32 kernel, u32 stride, u32 dilation, u32 before)
{
	s64 extent = (s64)npu_dilated(kernel, dilation);
	s64 after = (s64)(out - 1) * stride + extent - before - in;

	if (in > NPU_MAX_EXTENT || kernel > NPU_CONV_MAX_KERNEL || dilation > NPU_CONV_MAX_DILATION)
		return false;
	/* With one output there is no step. */
	if (stride > NPU_CONV_MAX_STRIDE && out > 1)
		return false;
	return before <= NPU_CONV_MAX_PAD && after <= NPU_CONV_MAX_PAD && before < extent &&
	       after < extent;
}

bool npu_window_fits_conv(const struct npu_window *w, u32 in_h, u32 in_w, u32 out_h, u32 out_w)
{
	return axis_fits(in_h, out_h, w->r, w->stride_y, w->dilation_y, w->pad_top) &&
	       axis_fits(in_w, out_w, w->s, w->stride_x, w->dilation_x, w->pad_left);
}

struct npu_window npu_conv_window(const struct npu_opt *opt, u32 op)
{
	struct npu_window window = opt->graph->op[op].window;
	u32 index = opt->op[op].pad, first;
	const struct npu_op *pad;

	if (index == NPU_NONE)
		return window;
	pad = &opt->graph->op[index];
	first = npu_op_output(opt->graph, pad)->rank - 3;
	window.pad_top += (u32)pad->begin[first];
	window.pad_left += (u32)pad->begin[first + 1];
	return window;
}

bool npu_conv_needs_cells(const struct npu_opt *opt, u32 op)
{
	const struct npu_op *conv = &opt->graph->op[op];
	struct npu_window window = npu_conv_window(opt, op);
	u32 pad = opt->op[op].pad, in[4], out[4];

	if (conv->kind != NPU_OP_CONV)
		return false;
	if (pad != NPU_NONE)
		conv = &opt->graph->op[pad];
	npu_tensor_nhwc(npu_op_input(opt->graph, conv, 0), in);
	npu_tensor_nhwc(npu_op_output(opt->graph, &opt->graph->op[op]), out);
	return !npu_window_fits_conv(&window, in[1], in[2], out[1], out[2]);
}
