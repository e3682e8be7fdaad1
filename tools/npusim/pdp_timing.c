// SPDX-License-Identifier: MIT
/*
 * How long PDP takes: as long as its input, and more where padding makes results come when
 * no input does.  Results that need padding behind the last column (or row) come while the
 * first columns (rows) of what follows are taken; where those bring results of their own too
 * soon, and at the end of the cube, the input waits for them ("bubbles").
 */
#include "pdp_internal.h"
#include "post_timing.h"

/* From the last atom of the input to the interrupt: of the reads, and of the results. */
#define TAIL_READ 77
#define TAIL_RESULT 109
/* The same behind SDP, from SDP's own interrupt. */
#define TAIL_FLYING 38
/* What the bandwidth limit adds to its own cycles. */
#define OVERHEAD 62
/* Cycles between two lines of results that are one column wide. */
#define NARROW_LINE 3
/* From the start of a source that is slower than PDP, or faster, to the first result. */
#define HEAD_SLOW_SOURCE 110
#define HEAD_FAST_SOURCE 144

/**
 * struct flush - results that need padding behind the input
 * @count: how many
 * @bubbles: of these, how many the following input has to wait for
 * @first: input that the following line (surface) brings until its own first result
 */
struct flush {
	u32 count;
	u32 bubbles;
	u32 first;
};

static struct flush flush_of(const struct pdp_axis *axis)
{
	bool small = axis->in + axis->before < axis->kernel;
	struct flush f = { .count = min(axis->after / axis->stride, 7u) };

	f.first = small || axis->kernel <= axis->before ? min(axis->in, axis->kernel)
							: axis->kernel - axis->before;
	if (f.count && small)
		f.count = pdp_windows(axis) ? pdp_windows(axis) - 1 : 0;
	if (f.count >= f.first)
		f.bubbles = f.count - f.first + 1;
	return f;
}

/* Rows of results under way at once. */
static u32 units(const struct pdp_axis *axis)
{
	return DIV_ROUND_UP(axis->kernel, axis->stride);
}

/*
 * The units that the last rows of a surface still use may be wanted by the first rows of the
 * next, for results that begin in its top padding: these rows are waited for as well.
 */
static u32 surface_bubbles(const struct pdp_axis *axis, const struct flush *f)
{
	u32 rest = f->count - f->bubbles, n = units(axis), i;
	u32 complete = (axis->in + axis->before) / axis->stride;
	u32 wanted = axis->before / axis->stride;
	u32 window_rows = axis->in + axis->before;

	complete = window_rows < axis->kernel ? 0 : (window_rows - axis->kernel) / axis->stride + 1;
	if (rest < 2)
		return f->bubbles;
	for (i = rest; i > 0; i--)
		if ((complete + f->bubbles + i - 1) % n <= wanted)
			return f->bubbles + i;
	return f->bubbles;
}

/**
 * struct part_cost - atoms of time of a part
 * @input: atoms of the input
 * @bubbles: atoms that the input waits
 * @end: atoms from the last of the input to the last result; negative when it comes before
 */
struct part_cost {
	u64 input;
	u64 bubbles;
	s64 end;
	u64 narrow; /* lines one column wide */
};

static struct part_cost cost_of(const struct pdp_shape *shape, const struct pdp_part *part)
{
	const struct pdp_axis *x = &part->axis, *y = &shape->y;
	struct flush fx = flush_of(x), fy = flush_of(y);
	u64 lines = (u64)y->in * shape->surfaces;
	u32 unread_x = (x->in + x->before + x->after - x->kernel) % x->stride;
	u32 unread_y = (y->in + y->before + y->after - y->kernel) % y->stride;
	u64 rows = surface_bubbles(y, &fy);
	u32 slack = unread_x + fx.first - 1;
	struct part_cost c = { .input = lines * x->in };

	if (x->after >= x->stride)
		unread_x = 0;
	if (y->after >= y->stride)
		unread_y = 0;
	c.bubbles = (lines - 1) * fx.bubbles;
	/* The line buffer drains while columns without a result come. */
	if (rows * x->out > slack)
		c.bubbles += (shape->surfaces - 1) * (rows * x->out - slack);
	c.end = (s64)fx.count + (s64)fy.count * x->out - unread_x -
		(s64)unread_y * (x->in + fx.bubbles);
	c.narrow = x->in == 1 && x->out == 1 ? lines : 0;
	return c;
}

u64 sim_pdp_cycles(const struct npusim *sim, const struct npusim_regs *pdp,
		   const struct npusim_regs *rdma, u64 flying)
{
	const struct nvdla_config *cfg = sim_config(sim);
	struct pdp_shape shape = pdp_decode_shape(sim, pdp);
	struct pdp_part part = pdp_first_part(&shape);
	u32 atom = cfg->atom / cfg->pdp_throughput;
	u32 read_256 = max(atom * SIM_FRACTION, sim_beat_256(sim, cfg->pdp_throughput));
	u64 input = 0, cycles = 0, results = 0;
	s64 end;

	for (;;) {
		struct part_cost c = cost_of(&shape, &part);
		bool last = part.index + 1 == shape.parts;

		input += c.input;
		results += (u64)part.axis.out * shape.y.out * shape.surfaces;
		cycles += c.bubbles * atom + c.narrow * NARROW_LINE;
		end = c.end * (s64)atom;
		if (last)
			break;
		/* A part's last rows are waited for before the next begins. */
		cycles += end > 0 ? (u64)end : 0;
		part = pdp_next_part(&shape, &part);
	}
	if (!rdma) {
		u64 taken = input * atom;

		cycles += taken + (flying > taken ? HEAD_SLOW_SOURCE : HEAD_FAST_SOURCE);
		cycles = max(flying, cycles);
		return cycles + TAIL_FLYING + (u64)max(end, (s64)0);
	}
	cycles += input * read_256 / SIM_FRACTION;
	cycles += (u64)(max((s64)TAIL_READ, TAIL_RESULT + end) + sim_latency_change(sim));
	return max(cycles, sim_bandwidth_cycles(sim, (input + results) * cfg->atom, OVERHEAD));
}
