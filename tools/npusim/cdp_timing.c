// SPDX-License-Identifier: MIT
/* How long CDP takes. */
#include "post_timing.h"

#define BLOCK 8u

/* From the first beat to the interrupt of an empty operation, without and with square sums. */
#define HEAD_PLAIN 114
#define HEAD_SUM 124
/* What the bandwidth limit adds to its own cycles. */
#define OVERHEAD 105

u64 sim_cdp_cycles(const struct npusim *sim, const struct npusim_regs *cdp,
		   const struct npusim_regs *rdma)
{
	const struct nvdla_config *cfg = sim_config(sim);
	u32 width = SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1;
	u32 height = SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1;
	u32 surfaces = SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL) / cfg->atom + 1;
	u64 atoms = (u64)width * height * surfaces;
	u32 atom_256 = cfg->atom / cfg->cdp_throughput * SIM_FRACTION;
	u32 last = (width - 1) % BLOCK + 1;
	bool sums = !SIM_FIELD(cdp, CDP, D_FUNC_BYPASS, SQSUM_BYPASS);
	/* The buffer of neighbours delays a block by this much for each of its columns. */
	u32 column = !sums ? 0 : cfg->cdp_throughput < 4 ? 4 : 1;
	u64 cycles;

	atom_256 = max(atom_256, sim_beat_256(sim, cfg->cdp_throughput));
	cycles = atoms * atom_256 / SIM_FRACTION;
	cycles += sums ? HEAD_SUM : HEAD_PLAIN;
	cycles += (u64)last * (2 + column);
	if (width > BLOCK)
		cycles += (u64)height * (BLOCK - last) * column;
	cycles += (u64)sim_latency_change(sim);
	return max(cycles, sim_bandwidth_cycles(sim, 2 * atoms * cfg->atom, OVERHEAD));
}
