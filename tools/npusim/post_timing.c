// SPDX-License-Identifier: MIT
#include "post_timing.h"

/* From a read's request to its return to the FIFO, beside the memory's own latency. */
#define ROUND_TRIP 14
/* More where beats of a burst wait for each other. */
#define ROUND_TRIP_BURST 17

/* The latencies that the base figures were measured with. */
#define READ_LATENCY 32
#define WRITE_LATENCY 8

/*
 * Beats that a client may have under way.  Source: nvdla/hw spec/defs/projects.spec,
 * *_LATENCY_FIFO_DEPTH.
 */
static u32 fifo_depth(const struct nvdla_config *cfg, u32 elements)
{
	u32 bandwidth = cfg->dbb_bytes / 4u;
	u32 depth = DIV_ROUND_UP((u32)cfg->memory_latency * min(elements, bandwidth),
				 (u32)cfg->dbb_bytes);

	return max(depth, 4u);
}

u32 sim_beat_256(const struct npusim *sim, u32 elements)
{
	const struct nvdla_config *cfg = sim_config(sim);
	u32 trip = sim_options(sim)->read_latency;

	trip += cfg->burst > 1 ? ROUND_TRIP_BURST : ROUND_TRIP;
	return trip * SIM_FRACTION / fifo_depth(cfg, elements);
}

u64 sim_bandwidth_cycles(const struct npusim *sim, u64 bytes, u32 overhead)
{
	u32 rate = sim_options(sim)->bytes_per_cycle;

	return rate ? bytes / rate + overhead : 0;
}

s64 sim_latency_change(const struct npusim *sim)
{
	const struct npusim_options *o = sim_options(sim);

	return (s64)o->read_latency - READ_LATENCY + (s64)o->write_latency - WRITE_LATENCY;
}
