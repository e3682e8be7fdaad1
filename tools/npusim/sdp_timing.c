// SPDX-License-Identifier: MIT
/* How long SDP takes: alone, and behind CACC. */
#include "post_timing.h"

/* From the start to the interrupt of an empty operation, and what each stage adds. */
#define HEAD 102
#define STAGE_BS 9
#define STAGE_BN 10
#define STAGE_EW 10
#define STAGE_LUT 2
/* What an operation saves that writes nothing. */
#define NO_WRITE 24
/* From the last atom of CACC to the interrupt. */
#define TAIL_FLYING 36
/* From the start of SDP_RDMA until operands are there. */
#define HEAD_OPERANDS 60
/* What the bandwidth limit adds to its own cycles. */
#define OVERHEAD 62

/**
 * struct traffic - what one atom takes
 * @atom_256: 256ths of a cycle
 * @beats: of reads
 * @once: beats of operands that are read once for a surface
 */
struct traffic {
	u32 atom_256;
	u32 beats;
	u32 once;
};

static bool has_ew(const struct npusim *sim, const struct npusim_regs *r)
{
	return (sim_config(sim)->features & NVDLA_HAS_EW) &&
	       !SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_BYPASS);
}

static bool has_lut(const struct npusim *sim, const struct npusim_regs *r)
{
	return has_ew(sim, r) && (sim_config(sim)->features & NVDLA_HAS_SDP_LUT) &&
	       !SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_LUT_BYPASS);
}

static u32 stages(const struct npusim *sim, const struct npusim_regs *r)
{
	return (SIM_FIELD(r, SDP, D_DP_BS_CFG, BS_BYPASS) ? 0 : STAGE_BS) +
	       (SIM_FIELD(r, SDP, D_DP_BN_CFG, BN_BYPASS) ? 0 : STAGE_BN) +
	       (has_ew(sim, r) ? STAGE_EW : 0) + (has_lut(sim, r) ? STAGE_LUT : 0);
}

/* EW's comparison has no output but a status bit. */
static bool compares(const struct npusim *sim, const struct npusim_regs *r)
{
	return has_ew(sim, r) && !SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_ALU_BYPASS) &&
	       SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_ALU_ALGO) == 3;
}

static u32 max_throughput(const struct nvdla_config *cfg)
{
	return max(max(cfg->bs_throughput, cfg->bn_throughput), cfg->ew_throughput);
}

static void add_reader(const struct npusim *sim, struct traffic *t, u32 throughput, bool disable,
		       u32 use, u32 size, bool per_element)
{
	u32 beats = (size + 1) * (use == 2 ? 2 : 1);

	if (disable || !throughput)
		return;
	if (!per_element) {
		t->once += beats;
		return;
	}
	t->beats += beats;
	/* These clients are built for four times the unit's rate. */
	t->atom_256 = max(t->atom_256, beats * sim_beat_256(sim, 4 * throughput));
}

#define ADD_READER(sim, t, throughput, r, cfg)                                               \
	add_reader(sim, t, throughput, SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DISABLE), \
		   SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DATA_USE),                    \
		   SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DATA_SIZE),                   \
		   SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DATA_MODE))

static struct traffic traffic_of(const struct npusim *sim, const struct npusim_regs *sdp,
				 const struct npusim_regs *rdma)
{
	const struct nvdla_config *cfg = sim_config(sim);
	u32 throughput = max_throughput(cfg);
	struct traffic t = { .atom_256 = cfg->atom / throughput * SIM_FRACTION };

	if (has_ew(sim, sdp))
		t.atom_256 = cfg->atom / cfg->ew_throughput * SIM_FRACTION;
	if (!rdma)
		return t;
	if (!SIM_FIELD(sdp, SDP, D_FEATURE_MODE_CFG, FLYING_MODE)) {
		t.beats++;
		t.atom_256 = max(t.atom_256, sim_beat_256(sim, throughput));
	}
	ADD_READER(sim, &t, cfg->bs_throughput, rdma, BRDMA);
	ADD_READER(sim, &t, cfg->bn_throughput, rdma, NRDMA);
	ADD_READER(sim, &t, cfg->ew_throughput, rdma, ERDMA);
	/* One beat a cycle for all readers together. */
	t.atom_256 = max(t.atom_256, t.beats * SIM_FRACTION);
	return t;
}

u64 sim_sdp_cycles(const struct npusim *sim, const struct npusim_regs *sdp,
		   const struct npusim_regs *rdma)
{
	const struct nvdla_config *cfg = sim_config(sim);
	struct traffic t = traffic_of(sim, sdp, rdma);
	u64 atoms = sim_sdp_atoms(sim, sdp);
	u32 surfaces = SIM_FIELD(sdp, SDP, D_DATA_CUBE_CHANNEL, CHANNEL) / cfg->atom + 1;
	u64 bytes = (atoms * (t.beats + 1) + (u64)surfaces * t.once) * cfg->atom;
	u64 cycles = atoms * t.atom_256 / SIM_FRACTION + HEAD + stages(sim, sdp);

	cycles += (u64)sim_latency_change(sim);
	if (compares(sim, sdp))
		cycles -= NO_WRITE;
	return max(cycles, sim_bandwidth_cycles(sim, bytes, OVERHEAD));
}

struct sim_sdp_rate sim_sdp_flying_rate(const struct npusim *sim, const struct npusim_regs *sdp,
					const struct npusim_regs *rdma)
{
	bool reads = sim_sdp_needs_rdma(sim, sdp);
	struct traffic t = traffic_of(sim, sdp, reads ? rdma : NULL);
	const struct npusim_options *o = sim_options(sim);

	return (struct sim_sdp_rate){
		.atom_256 = t.atom_256,
		.head = reads ? HEAD_OPERANDS + o->read_latency - 32 : 0,
		.tail = TAIL_FLYING + (has_ew(sim, sdp) ? STAGE_EW : 0) + o->write_latency - 8,
	};
}
