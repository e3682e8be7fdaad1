// SPDX-License-Identifier: MIT
/*
 * When operations of SDP, PDP and CDP start and end.  The data paths are in sdp.c, pdp.c and
 * cdp.c; here are the groups, the read DMA beside each unit, and the events.
 */
#include <stdlib.h>

#include "post.h"

/* A unit and its read DMA, the interrupt, and the event names. */
struct lane {
	enum sim_unit_id unit, rdma;
	u32 intr;
};

static const struct lane sdp = { SIM_SDP, SIM_SDP_RDMA, NVDLA_INTR_SDP };
static const struct lane pdp = { SIM_PDP, SIM_PDP_RDMA, NVDLA_INTR_PDP };
static const struct lane cdp = { SIM_CDP, SIM_CDP_RDMA, NVDLA_INTR_CDP };

/* The registers that the next operation of a unit will see. */
static struct npusim_regs *peek(struct npusim *sim, enum sim_unit_id id)
{
	struct sim_unit *u = &sim->unit[id];

	sim_unit_start(sim, id);
	u->busy = false;
	return &u->regs;
}

/* An operation of so many atoms is not begun: it would keep the model busy for ever. */
static bool too_long(struct npusim *sim, const char *unit, u64 atoms)
{
	if (atoms <= sim->options.max_cycles)
		return false;
	sim_hang(sim, unit, "would need more than %llu cycles",
		 (unsigned long long)sim->options.max_cycles);
	return true;
}

static u64 cube_atoms(const struct npusim *sim, u32 width, u32 height, u32 channels)
{
	return (u64)width * height * DIV_ROUND_UP(channels, (u32)sim->config->atom);
}

static u64 pdp_atoms(const struct npusim *sim, const struct npusim_regs *regs)
{
	u64 in = cube_atoms(sim, SIM_FIELD(regs, PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1,
			    SIM_FIELD(regs, PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1,
			    SIM_FIELD(regs, PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1);
	u64 out = cube_atoms(sim, SIM_FIELD(regs, PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH) + 1,
			     SIM_FIELD(regs, PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT) + 1,
			     SIM_FIELD(regs, PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL) + 1);

	return max(in, out);
}

static u64 cdp_atoms(const struct npusim *sim, const struct npusim_regs *rdma)
{
	return cube_atoms(sim, SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1,
			  SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1,
			  SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL) + 1);
}

/* The registers of the read DMA: its own consumer group, or NULL where it is not used. */
static const struct npusim_regs *start_rdma(struct npusim *sim, const struct lane *l, bool needed)
{
	return needed ? sim_unit_start(sim, l->rdma) : NULL;
}

/* The data path is through: its end comes at @when.  Memory holds what it wrote by then. */
static void finish(struct npusim *sim, const struct lane *l, bool rdma, u64 when,
		   const struct sim_task_stats *stats)
{
	u32 group = sim->unit[l->unit].consumer;

	sim_event_add_end(sim, when, l->unit, stats);
	if (rdma)
		sim_event_add(sim, when, SIM_EVENT_DONE, l->rdma, NULL);
	sim_event_add(sim, when, SIM_EVENT_INTR, l->intr + group, NULL);
}

/*
 * The data path never ends: what it has written is in memory all the same.
 * @result: what it returned: SIM_HANG or an error.
 */
static void never_ends(struct npusim *sim, int result)
{
	if (result < 0)
		sim_no_memory(sim);
	sim->hold_writes = false;
	sim_writes_commit(sim, &sim->writes);
}

static bool sdp_flying(const struct npusim_regs *regs)
{
	return SIM_FIELD(regs, SDP, D_FEATURE_MODE_CFG, FLYING_MODE);
}

static bool sdp_to_pdp(const struct npusim_regs *regs)
{
	return SIM_FIELD(regs, SDP, D_FEATURE_MODE_CFG, OUTPUT_DST);
}

/* PDP takes its input from SDP where this field is 0. */
static bool pdp_flying(const struct npusim_regs *regs)
{
	return !SIM_FIELD(regs, PDP, D_OPERATION_MODE_CFG, FLYING_MODE);
}

/* SDP enabled, its read DMA too where it needs one, and PDP where its output goes there. */
static bool sdp_ready(struct npusim *sim, bool flying)
{
	struct npusim_regs *regs;

	if (!sim_unit_ready(sim, SIM_SDP))
		return false;
	regs = peek(sim, SIM_SDP);
	if (sdp_flying(regs) != flying || too_long(sim, "SDP", sim_sdp_atoms(sim, regs)))
		return false;
	if (sim_sdp_needs_rdma(sim, regs) && !sim_unit_ready(sim, SIM_SDP_RDMA)) {
		sim_hang(sim, "SDP", "waits for its read DMA");
		return false;
	}
	if (!sdp_to_pdp(regs))
		return true;
	if (!sim_unit_ready(sim, SIM_PDP) || !pdp_flying(peek(sim, SIM_PDP)) ||
	    too_long(sim, "PDP", pdp_atoms(sim, peek(sim, SIM_PDP)))) {
		sim_hang(sim, "SDP", "waits for PDP, where its output goes");
		return false;
	}
	return true;
}

bool sim_post_flying_ready(struct npusim *sim)
{
	return sdp_ready(sim, true);
}

u64 sim_post_atoms(const struct npusim *sim)
{
	return sim_sdp_atoms(sim, &sim->unit[SIM_SDP].regs);
}

u64 sim_post_since(const struct npusim *sim)
{
	const struct sim_unit *u = &sim->unit[SIM_SDP];

	return max(u->since, u->enabled_at[u->consumer]);
}

struct sim_sdp_rate sim_post_rate(const struct npusim *sim)
{
	return sim_sdp_flying_rate(sim, &sim->unit[SIM_SDP].regs, &sim->unit[SIM_SDP_RDMA].regs);
}

/* PDP behind SDP, on @cube; @from and @until: when SDP's output comes. */
static void run_pdp_flying(struct npusim *sim, const struct sim_cube8 *cube, u64 from, u64 until)
{
	const struct npusim_regs *regs = sim_unit_start(sim, SIM_PDP);
	struct sim_task_stats stats = { 0 };
	int result;

	sim->dma_group = regs->group;
	sim_writes_begin(sim);
	result = sim_pdp_run(sim, regs, NULL, cube, &stats);
	if (result)
		never_ends(sim, result);
	else
		finish(sim, &pdp, false, from + sim_pdp_cycles(sim, regs, NULL, until - from),
		       &stats);
}

/* Bytes that SDP and PDP have moved so far. */
static u64 post_bytes(const struct npusim *sim)
{
	u64 sum = 0;
	u32 i;

	for (i = NPUSIM_SDP_READ; i <= NPUSIM_PDP_WRITE; i++)
		sum += sim->counters.bytes[i];
	return sum;
}

/* Cycles that the memory's bandwidth allows @bytes in; 0: no limit. */
static u64 bandwidth_cycles(const struct npusim *sim, u64 bytes)
{
	u32 rate = sim->options.bytes_per_cycle;

	return rate ? bytes / rate : 0;
}

/* What CACC delivers to SDP, and when; NULL: SDP reads its input from memory. */
struct delivery {
	const struct sim_cube32 *cube;
	u64 delivered, bus_free;
};

/* The cycle of SDP's interrupt; @bytes: what it has moved. */
static u64 sdp_end(const struct npusim *sim, const struct npusim_regs *regs,
		   const struct npusim_regs *rdma, const struct delivery *from, u64 bytes)
{
	u64 end;

	if (!from)
		return sim->now + sim_sdp_cycles(sim, regs, rdma);
	end = from->delivered + sim_sdp_flying_rate(sim, regs, rdma).tail;
	return max(end, from->bus_free + bandwidth_cycles(sim, bytes));
}

static void run_sdp(struct npusim *sim, const struct delivery *from)
{
	const struct npusim_regs *regs = sim_unit_start(sim, SIM_SDP);
	bool needs = sim_sdp_needs_rdma(sim, regs);
	const struct npusim_regs *rdma = start_rdma(sim, &sdp, needs);
	struct sim_task_stats stats = { 0 };
	struct sim_cube8 cube = { 0 };
	u64 bytes = post_bytes(sim), end;
	int error;

	sim->dma_group = regs->group;
	sim_writes_begin(sim);
	error = sim_sdp_run(sim, regs, rdma, from ? from->cube : NULL,
			    sdp_to_pdp(regs) ? &cube : NULL, &stats);
	end = sdp_end(sim, regs, rdma, from, post_bytes(sim) - bytes);
	if (error < 0)
		sim_hang(sim, "SDP", "ran out of the model's memory");
	if (error)
		never_ends(sim, error);
	else
		finish(sim, &sdp, needs, end, &stats);
	if (sdp_to_pdp(regs) && error >= 0)
		run_pdp_flying(sim, &cube, sim->now, end);
	free(cube.data);
}

u64 sim_post_flying(struct npusim *sim, const struct sim_cube32 *flying, u64 delivered,
		    u64 bus_free)
{
	const struct delivery from = { flying, delivered, bus_free };
	u64 atoms = sim_post_atoms(sim);

	run_sdp(sim, &from);
	return min(atoms, flying->atoms);
}

static bool pdp_step(struct npusim *sim)
{
	const struct npusim_regs *regs, *rdma;
	struct sim_task_stats stats = { 0 };
	bool needs;
	int result;

	if (!sim_unit_ready(sim, SIM_PDP))
		return false;
	regs = peek(sim, SIM_PDP);
	if (pdp_flying(regs)) {
		sim_hang(sim, "PDP", "waits for SDP's output");
		return false;
	}
	if (too_long(sim, "PDP", pdp_atoms(sim, regs)))
		return false;
	needs = sim_pdp_needs_rdma(sim, regs);
	if (needs && !sim_unit_ready(sim, SIM_PDP_RDMA)) {
		sim_hang(sim, "PDP", "waits for its read DMA");
		return false;
	}
	regs = sim_unit_start(sim, SIM_PDP);
	rdma = start_rdma(sim, &pdp, needs);
	sim->dma_group = regs->group;
	sim_writes_begin(sim);
	result = sim_pdp_run(sim, regs, rdma, NULL, &stats);
	if (result)
		never_ends(sim, result);
	else
		finish(sim, &pdp, needs, sim->now + sim_pdp_cycles(sim, regs, rdma, 0), &stats);
	return true;
}

static bool cdp_step(struct npusim *sim)
{
	const struct npusim_regs *regs, *rdma;
	struct sim_task_stats stats = { 0 };
	int result;

	if (!sim_unit_ready(sim, SIM_CDP))
		return false;
	if (!sim_unit_ready(sim, SIM_CDP_RDMA)) {
		sim_hang(sim, "CDP", "waits for its read DMA");
		return false;
	}
	if (too_long(sim, "CDP", cdp_atoms(sim, peek(sim, SIM_CDP_RDMA))))
		return false;
	regs = sim_unit_start(sim, SIM_CDP);
	rdma = start_rdma(sim, &cdp, true);
	sim->dma_group = regs->group;
	sim_writes_begin(sim);
	result = sim_cdp_run(sim, regs, rdma, &stats);
	if (result)
		never_ends(sim, result);
	else
		finish(sim, &cdp, true, sim->now + sim_cdp_cycles(sim, regs, rdma), &stats);
	return true;
}

bool sim_post_step(struct npusim *sim)
{
	bool moved = pdp_step(sim);

	moved |= cdp_step(sim);
	if (sdp_ready(sim, false)) {
		run_sdp(sim, NULL);
		moved = true;
	}
	return moved;
}
