// SPDX-License-Identifier: MIT
/*
 * A fault of PDP.  An operation ends when its input has been read and its results are
 * written.  Where windows leave rows at the bottom unread but no column, the results of
 * those rows, which nobody needs, are still on their way to the line buffer at that moment.
 * If the next operation waits in the other register group it starts before the last of them
 * arrives.  That one is then taken for a result of the new operation, whose counters of
 * columns, rows and surfaces go on from the old ones: windows are off by a row, begin with
 * what the line buffer held before, and the ends of surfaces pass unnoticed.
 *
 * This is the line buffer's control, atom by atom, for the operation that starts so.
 * Source: nvdla/hw vmod/nvdla/pdp, compared with its simulation.
 */
#include "pdp_internal.h"

/* Cycles after the end within which the next operation starts while the last atom comes. */
#define LATE 1

static u32 units_of(const struct pdp_axis *y)
{
	return DIV_ROUND_UP(y->kernel, y->stride);
}

static u32 banks_of(u32 units)
{
	return units == 1 ? 8 : units == 2 ? 4 : units <= 4 ? 2 : 1;
}

static s16 *cell(struct sim_pdp_left *left, u32 units, u32 unit, u32 column)
{
	u32 banks = banks_of(units), bank = unit * banks + column / SIM_PDP_COLUMNS % banks;

	return left->bank[bank % SIM_PDP_BANKS][column % SIM_PDP_COLUMNS];
}

/* Does the operation's last result come after its end? */
static bool ends_early(const struct pdp_shape *s)
{
	u32 x = s->x.in + s->x.before + s->x.after - s->x.kernel;
	u32 y = s->y.in + s->y.before + s->y.after - s->y.kernel;

	return s->parts == 1 && x % s->x.stride == 0 && s->x.after < s->x.stride &&
	       y % s->y.stride != 0 && s->y.after < s->y.stride;
}

void pdp_left_keep(struct npusim *sim, const struct pdp_shape *shape, u32 row, const s16 *results)
{
	struct sim_pdp_left *left = sim_pdp_left(sim);
	u32 lanes = sim_config(sim)->atom, units = units_of(&shape->y), x;

	if (!ends_early(shape))
		return;
	for (x = 0; x < shape->x.out; x++)
		memcpy(cell(left, units, row % units, x), results + (size_t)x * lanes,
		       lanes * sizeof(*results));
}

void pdp_left_end(struct npusim *sim, const struct pdp_shape *shape, u64 end, const s16 *last_row)
{
	struct sim_pdp_left *left = sim_pdp_left(sim);
	u32 lanes = sim_config(sim)->atom;

	left->pending = ends_early(shape);
	if (!left->pending)
		return;
	left->end = end;
	left->column = shape->x.out - 1;
	left->row = shape->y.in - 1;
	left->surface = shape->surfaces - 1;
	left->columns = min(shape->x.kernel, shape->x.in);
	left->reader = shape->y.out % units_of(&shape->y);
	memcpy(left->atom, last_row + (size_t)(shape->x.out - 1) * lanes, lanes * sizeof(s16));
}

bool pdp_left_take(struct npusim *sim)
{
	struct sim_pdp_left *left = sim_pdp_left(sim);
	bool taken = left->pending && npusim_now(sim) <= left->end + LATE;

	left->pending = false;
	return taken;
}

/* The state at the start of an operation or a surface: windows begin in the top padding. */
static void begin(struct pdp_line_buffer *b)
{
	const struct pdp_axis *y = &b->shape->y;
	u32 i;

	b->filled = y->before;
	b->phase = y->before % y->stride;
	b->next_unit = y->before / y->stride;
	b->done_unit = 0;
	for (i = 0; i < PDP_UNITS; i++)
		if (i <= b->next_unit) {
			b->active[i] = true;
			b->first[i] = true;
			b->taken[i] = 0;
		}
}

void pdp_line_buffer_open(struct pdp_line_buffer *b, struct npusim *sim,
			  const struct pdp_shape *shape)
{
	struct sim_pdp_left *left = sim_pdp_left(sim);

	*b = (struct pdp_line_buffer){
		.left = left,
		.shape = shape,
		.lanes = sim_config(sim)->atom,
		/* The operation begins with the last beat of the atom. */
		.skip = (u32)sim_config(sim)->atom - sim_config(sim)->pdp_throughput,
		.units = units_of(&shape->y),
		.column = left->column,
		.row = left->row,
		.surface = left->surface,
		.reader = left->reader,
	};
	begin(b);
}

/* One row has come: windows end, begin, and go on. */
static void end_row(struct pdp_line_buffer *b)
{
	const struct pdp_axis *y = &b->shape->y;
	bool complete = b->filled == y->kernel - 1, stride_end = b->phase == y->stride - 1;
	/* 13 bits, as the counters. */
	u32 rest = ((y->in - 1 - b->row) & 0x1fff) + y->after;
	bool last_window = rest <= y->kernel - 1, surface_end = b->row == y->in - 1;
	u32 i;

	for (i = 0; i < PDP_UNITS; i++) {
		b->taken[i] += b->active[i];
		b->first[i] = false;
	}
	if (complete || surface_end) {
		if (surface_end)
			memset(b->active, 0, sizeof(b->active));
		else
			b->active[b->done_unit] = false;
		b->done_unit = b->done_unit == b->units - 1 ? 0 : (b->done_unit + 1) % PDP_UNITS;
	}
	if (stride_end) {
		b->next_unit = b->next_unit == b->units - 1 ? 0 : (b->next_unit + 1) % PDP_UNITS;
		if (!last_window) {
			b->active[b->next_unit] = true;
			b->first[b->next_unit] = true;
			b->taken[b->next_unit] = 0;
		}
	}
	b->phase = stride_end ? 0 : b->phase + 1;
	if (y->kernel < y->stride)
		b->filled = b->phase <= y->kernel - 1 ? b->phase : 0;
	else
		b->filled = complete ? y->kernel - y->stride : (b->filled + 1) % PDP_UNITS;
	b->row = surface_end ? 0 : (b->row + 1) & 0x1fff;
	if (!surface_end)
		return;
	b->reader = 0;
	if (b->surface == b->shape->surfaces - 1) {
		b->surface = 0;
		memset(b->active, 0, sizeof(b->active));
	} else {
		b->surface++;
		begin(b);
	}
}

bool pdp_line_buffer_take(struct pdp_line_buffer *b, enum pdp_method method, const s16 *atom,
			  s16 *result, u32 *missing)
{
	const struct pdp_axis *y = &b->shape->y;
	bool last_row = b->filled == y->kernel - 1 || b->row == y->in - 1;
	bool out = last_row && b->reader < PDP_UNITS && b->active[b->reader];
	u32 u, i;

	for (u = 0; u < b->units; u++) {
		s16 *c = cell(b->left, b->units, u, b->column);

		if (!b->active[u])
			continue;
		for (i = b->skip; i < b->lanes; i++)
			c[i] = b->first[u] ? atom[i] : pdp_combine(method, atom[i], c[i]);
	}
	if (out) {
		memcpy(result, cell(b->left, b->units, b->reader, b->column),
		       b->lanes * sizeof(*result));
		*missing = y->kernel - 1 - (b->taken[b->reader] & 7);
	}
	b->skip = 0;
	if (b->column != b->shape->x.out - 1) {
		b->column = (b->column + 1) & 0x1fff;
		return out;
	}
	b->column = 0;
	if (out)
		b->reader = b->reader == b->units - 1 ? 0 : (b->reader + 1) % PDP_UNITS;
	end_row(b);
	return out;
}
