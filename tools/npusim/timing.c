// SPDX-License-Identifier: MIT
/*
 * The cycle model of the convolution pipeline.  The mechanism is that of the RTL (nvdla/hw, vmod,
 * CSC_sg: packages, stripes, credits); latencies are fitted to measured cycles.
 */
#include "conv.h"

/* From CDMA's enable, or the agreement on banks, to the first beat in CBUF, without latency. */
#define HEAD_DATA 52
#define HEAD_WEIGHTS (HEAD_DATA - SIM_WEIGHTS_AHEAD)

/* From the package that ends a stripe to the first atom at SDP. */
#define PACKAGE_TO_SDP 40

/* From the last cycle of an atom taken by SDP to its credit at CSC. */
#define CREDIT_RETURN (-3)

/* CACC's delivery buffer takes a cycle between two atoms. */
#define DELIVERY_GAP 1

u32 sim_cdma_head(const struct npusim *sim, bool weights)
{
	return (weights ? HEAD_WEIGHTS : HEAD_DATA) + sim->options.read_latency;
}

u64 sim_beat_cycles_256(const struct npusim *sim)
{
	u32 beat = sim->config->dbb_bytes, limit = sim->options.bytes_per_cycle;

	return limit && limit < beat ? 256ull * beat / limit : 256;
}

/*
 * Cycles that CDMA takes to accept the atoms of @rows lines when nobody else reads: in two of
 * four surfaces only two atoms in three cycles, in the others one more cycle a line.  Lines of one
 * atom take two cycles in every surface, and one more.
 */
static u64 accept_cycles(u32 width, u32 surfaces, u64 rows)
{
	u64 slow = surfaces / 4 * 2 + (surfaces % 4 > 2 ? surfaces % 4 - 2 : 0);
	u64 fast = surfaces - slow;

	if (width == 1)
		return rows * (2ull * surfaces + 1);
	return rows * (fast * (width + 1) + slow * width * 3 / 2);
}

u32 sim_data_share_256(const struct npusim *sim, u32 width)
{
	u32 burst = sim->config->burst;

	return 256 * width / ((width + burst - 1) / burst * burst);
}

/*
 * The same of lines of pixels, @width atoms of all planes: one more cycle a plane, and none takes
 * less than two atoms of one plane or three of two.
 */
static u64 accept_pixel_cycles(u32 width, u32 planes, u64 rows)
{
	return rows * (max(width, planes + 1) + planes);
}

/* Cycles for lines whose atoms CDMA accepts in @accept cycles, with weights on the same port. */
static u64 fetch_cycles(const struct npusim *sim, u64 beats, u32 width, u64 accept,
			u64 weight_beats)
{
	u64 shared = min((beats << 8) / sim_data_share_256(sim, width), weight_beats);
	u64 bus = (beats + shared) * sim_beat_cycles_256(sim) >> 8;

	return max(bus, accept + shared / 2);
}

u64 sim_data_cycles(const struct npusim *sim, u32 width, u32 surfaces, u64 rows, u64 weight_beats)
{
	return fetch_cycles(sim, (u64)width * surfaces * rows, width,
			    accept_cycles(width, surfaces, rows), weight_beats);
}

u64 sim_pixel_cycles(const struct npusim *sim, u32 width, u32 planes, u64 rows, u64 weight_beats)
{
	return fetch_cycles(sim, (u64)width * rows, width, accept_pixel_cycles(width, planes, rows),
			    weight_beats);
}

u32 sim_cacc_capacity(const struct npusim *sim)
{
	const struct nvdla_config *c = sim->config;

	return (c->atomic_c / c->atomic_k == 4 ? 4 : 2) * c->atomic_k;
}

/* Outputs of the next stripe when @left of the row or plane are to come. */
static u32 next_stripe(const struct npusim *sim, const struct sim_csc_shape *s, u32 left)
{
	u32 lower = sim->config->atomic_k, upper = 2 * lower;

	if (s->pixel)
		lower = upper = sim_cacc_capacity(sim);
	if (left >= 2 * upper)
		return upper;
	return left <= upper ? left : lower;
}

/* The cycle at which SDP takes atom number @atom, one of the newest. */
static u64 taken_at(const struct sim_conv_clock *clock, u64 atom, u32 atom_256)
{
	u32 i;

	for (i = 0; i < min(clock->stripes, (u32)SIM_STRIPES); i++) {
		u32 slot = (clock->stripes - 1 - i) % SIM_STRIPES;
		u64 first = clock->stripe[slot].first_atom;

		if (first <= atom)
			return clock->stripe[slot].cycle + ((atom - first) * atom_256 >> 8);
	}
	return 0;
}

static void clock_stripe(const struct npusim *sim, const struct sim_csc_shape *s, u32 outputs,
			 u32 atom_256, struct sim_conv_clock *clock)
{
	u64 packages = (u64)s->steps * s->taps * s->blocks;
	u32 cycles = max(outputs, (u32)sim->config->atomic_k);
	u32 atom_cycles = (atom_256 + 255) >> 8;
	u64 last = clock->compute + (packages - 1) * cycles;
	u64 end = clock->atoms + outputs, first;
	u32 credits = sim_cacc_capacity(sim), slot;

	if (end > credits)
		last = max(last, taken_at(clock, end - credits - 1, atom_256) + atom_cycles +
					 CREDIT_RETURN);
	clock->compute = last + cycles;
	first = max(last + PACKAGE_TO_SDP, clock->deliver + atom_cycles);
	slot = clock->stripes++ % SIM_STRIPES;
	clock->stripe[slot].first_atom = clock->atoms;
	clock->stripe[slot].cycle = first;
	clock->atoms = end;
	clock->deliver = first + ((u64)(outputs - 1) * atom_256 >> 8);
}

void sim_conv_clock_group(const struct npusim *sim, const struct sim_csc_shape *s, u64 ready,
			  u32 sdp_atom_256, struct sim_conv_clock *clock)
{
	u32 rows = s->pixel ? s->out_height : 1;
	u32 row = s->pixel ? s->out_width : s->positions, left, outputs;
	u32 atom_256 = max(sdp_atom_256 + 256 * DELIVERY_GAP, (u32)sim_beat_cycles_256(sim));

	clock->compute = max(clock->compute, ready);
	/* Nothing runs before the first weights are in the MAC array. */
	if (!clock->stripes)
		clock->compute += min(s->kernels, (u32)sim->config->atomic_k);
	for (; rows; rows--)
		for (left = row; left; left -= outputs) {
			outputs = next_stripe(sim, s, left);
			clock_stripe(sim, s, outputs, atom_256, clock);
		}
}
