/* SPDX-License-Identifier: MIT */
/*
 * Cycle model of SDP, PDP and CDP, fitted to the simulated RTL.  A unit takes an element or
 * more a cycle unless its reads do not keep up: each of its DMA clients has as many reads
 * under way as its FIFO has room for, and all share the bus.
 */
#ifndef POST_TIMING_H
#define POST_TIMING_H

#include "npusim_internal.h"

/* Cycles are counted in 256ths where a rate is not a whole number. */
#define SIM_FRACTION 256u

/*
 * 256ths of a cycle between two beats of a client that was built for @elements a cycle, when
 * only latency limits it.
 */
u32 sim_beat_256(const struct npusim *sim, u32 elements);

/* Cycles that the memory's bandwidth allows @bytes in, @overhead included; 0: no limit. */
u64 sim_bandwidth_cycles(const struct npusim *sim, u64 bytes, u32 overhead);

/* What the options' latencies add to figures measured with 32 and 8 cycles; can be negative. */
s64 sim_latency_change(const struct npusim *sim);

#endif /* POST_TIMING_H */
