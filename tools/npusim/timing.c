// SPDX-License-Identifier: MIT
/*
 * The cycle model of the convolution pipeline, fitted to the RTL.
 */
#include "conv.h"

u32 sim_cdma_head(const struct npusim *sim)
{
	return 22 + sim->options.read_latency - 32 + 32;
}

u64 sim_read_cycles(const struct npusim *sim, u64 bytes)
{
	u32 rate = sim->config->dbb_bytes;

	if (sim->options.bytes_per_cycle && sim->options.bytes_per_cycle < rate)
		rate = sim->options.bytes_per_cycle;
	return DIV_ROUND_UP(bytes, (u64)rate);
}

void sim_conv_clock_group(const struct npusim *sim, const struct sim_csc_shape *s, u32 group,
			  u64 ready, u32 sdp_atom_256, struct sim_conv_clock *clock)
{
	u32 left = s->positions, stripe;

	clock->compute = max(clock->compute, ready);
	while (left) {
		u64 steps = (u64)s->steps * s->taps * s->blocks;

		stripe = left >= 32 ? 16 : left;
		clock->compute += max(stripe, 8u) * steps;
		clock->compute = max(clock->compute, clock->deliver);
		clock->deliver = clock->compute + stripe * (u64)max(sdp_atom_256, 2048u) / 256 + 55;
		left -= stripe;
	}
}
