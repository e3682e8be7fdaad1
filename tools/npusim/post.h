/* SPDX-License-Identifier: MIT */
/* Operations of SDP, PDP and CDP: when they start, what they hand on, when they end. */
#ifndef NPUSIM_POST_H
#define NPUSIM_POST_H

#include "sim_state.h"

/* SDP is enabled in flying mode, with all that it needs behind and beside it. */
bool sim_post_flying_ready(struct npusim *sim);

/* Atoms that SDP will take, when it is ready. */
u64 sim_post_atoms(const struct npusim *sim);

/* Cycle since which SDP's next operation could run. */
u64 sim_post_since(const struct npusim *sim);

/* How fast SDP will take atoms from CACC. */
struct sim_sdp_rate sim_post_rate(const struct npusim *sim);

/*
 * Run SDP (and PDP) on what CACC delivers until @delivered; returns the atoms that SDP took.
 * From @bus_free on the bus is theirs alone.
 */
u64 sim_post_flying(struct npusim *sim, const struct sim_cube32 *flying, u64 delivered,
		    u64 bus_free);

#endif /* NPUSIM_POST_H */
