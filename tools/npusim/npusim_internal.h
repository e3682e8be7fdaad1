/* SPDX-License-Identifier: MIT */
/*
 * Inside of npusim: what the frame (registers, time, DMA) and the data paths of
 * the units know of each other.
 *
 * A unit computes its whole result when its operation starts, with the registers
 * latched at that moment; its events (interrupt bits, pointer flips) happen at the
 * cycle that its timing function says.
 */
#ifndef NPUSIM_INTERNAL_H
#define NPUSIM_INTERNAL_H

#include "npusim.h"

/* A unit's registers as latched at the start of an operation: its S_ and the group's D_. */
struct npusim_regs {
	u32 value[NVDLA_UNIT_BYTES / 4];
	u32 group;
};

/* SIM_FIELD(regs, SDP, D_DP_BS_CFG, BS_BYPASS) */
#define SIM_REG(regs, unit, reg) \
	((regs)->value[(NVDLA_##unit##_##reg & (NVDLA_UNIT_BYTES - 1)) / 4])
#define SIM_FIELD(regs, unit, reg, field) NVDLA_GET(unit, reg, field, SIM_REG(regs, unit, reg))

/* A two's complement number of @bits bits, 1..32, as s32. */
static inline s32 sim_sext(u32 value, u32 bits)
{
	u32 sign = 1u << (bits - 1);

	value &= (sign << 1) - 1;
	return (s32)((value ^ sign) - sign);
}

/* SIM_FIELD of a signed field. */
#define SIM_SFIELD(regs, unit, reg, field) \
	sim_sext(SIM_FIELD(regs, unit, reg, field), NVDLA_WIDTH(unit, reg, field))

/**
 * struct sim_cube32 - accumulators on their way from CACC to SDP, after CACC's clip
 * @width, @height, @surfaces: as the convolution makes them
 * @atoms: atoms that really come, at most width * height * surfaces; SDP may want fewer (the
 *	rest stays in CACC) or more (then it waits for ever)
 * @lanes: accumulators in an atom (atomic_k = atom)
 * @data: [surface][y][x][lane]
 */
struct sim_cube32 {
	u32 width, height, surfaces;
	u64 atoms;
	u32 lanes;
	s32 *data;
};

/* The same from SDP to PDP; bytes.  @data is allocated by the producer, freed by the frame. */
struct sim_cube8 {
	u32 width, height, surfaces;
	u64 atoms;
	u32 lanes;
	s8 *data;
};

/*
 * Read-only registers that an operation sets when it ends (saturation counts, LUT hits):
 * the data path calls sim_stat(), the frame makes them readable in the group's registers.
 */
#define SIM_STATS_MAX 24
struct sim_task_stats {
	u32 count;
	struct {
		u32 reg; /* offset in the register file */
		u32 value;
	} stat[SIM_STATS_MAX];
};

static inline void sim_stat(struct sim_task_stats *stats, u32 reg, u32 value)
{
	if (stats->count < SIM_STATS_MAX) {
		stats->stat[stats->count].reg = reg;
		stats->stat[stats->count++].value = value;
	}
}

/*
 * What a data path returns: 0, done; SIM_HANG, it never ends on the hardware (sim_hang()
 * has been told why); a negative errno: out of memory.  A refused or failed DMA access is
 * not an error of the data path: it is noted, reads give zeros, and the operation goes on.
 */
#define SIM_HANG 1

/* Note why @unit ("SDP") waits for ever, printf style; returns SIM_HANG. */
int sim_hang(struct npusim *sim, const char *unit, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * There was no memory for what an operation computes or moves: nothing after it is to be trusted
 * until the next reset.  Returns -ENOMEM.
 */
int sim_no_memory(struct npusim *sim);

/*
 * DMA.  Reads count whole beats from the beat of @addr to the beat of the last byte; writes
 * count their bytes.  The low bits of an address below the bus beat are dropped by the caller
 * where the hardware drops them.  Returns 0; a negative errno when the access was refused
 * (buf is zeroed), which the caller need not look at.
 */
int sim_dma_read(struct npusim *sim, enum npusim_engine engine, u64 addr, void *buf, size_t len);
int sim_dma_write(struct npusim *sim, enum npusim_engine engine, u64 addr, const void *buf,
		  size_t len);

/* A read whose bytes are counted apart, by sim_dma_count(). */
int sim_dma_fetch(struct npusim *sim, enum npusim_engine engine, u64 addr, void *buf, size_t len);

/* Count bytes that the bus carries but the model need not fetch (for instance read again). */
void sim_dma_count(struct npusim *sim, enum npusim_engine engine, u64 bytes);

const struct nvdla_config *sim_config(const struct npusim *sim);
const struct npusim_options *sim_options(const struct npusim *sim);

/* Look-up tables of SDP and CDP (lut.c). */
#define SIM_LUT_LE 65
#define SIM_LUT_LO 257
struct sim_lut {
	s16 le[SIM_LUT_LE];
	s16 lo[SIM_LUT_LO];
	u32 access_cfg; /* S_LUT_ACCESS_CFG as written */
	u32 address; /* entry of the next access to S_LUT_ACCESS_DATA */
};

struct sim_lut *sim_sdp_lut(struct npusim *sim);
struct sim_lut *sim_cdp_lut(struct npusim *sim);

/*
 * What an operation of PDP leaves behind that ends before its last result (pdp_left.c).
 * Banks hold results under way: [bank][column][lane].
 */
#define SIM_PDP_BANKS 8
#define SIM_PDP_COLUMNS 16
#define SIM_PDP_LANES 32
struct sim_pdp_left {
	bool pending;
	u64 end; /* cycle of the operation's end */
	u32 column, row, surface, reader; /* counters that the next operation finds */
	u32 columns; /* of input in @atom */
	s16 atom[SIM_PDP_LANES]; /* the result that comes late */
	s16 bank[SIM_PDP_BANKS][SIM_PDP_COLUMNS][SIM_PDP_LANES];
};

struct sim_pdp_left *sim_pdp_left(struct npusim *sim);

/* S_LUT_ACCESS_CFG and S_LUT_ACCESS_DATA; @reg is the offset in the register file (SDP or CDP). */
void sim_lut_write(struct sim_lut *lut, u32 reg, u32 value);
u32 sim_lut_read(struct sim_lut *lut, u32 reg);

/*
 * Data paths.  @rdma is NULL where sim_*_needs_rdma() is false.  @flying is NULL in memory
 * mode.  @to_pdp is NULL unless SDP's OUTPUT_DST is PDP; then the data path sets all of it.
 */
bool sim_sdp_needs_rdma(const struct npusim *sim, const struct npusim_regs *sdp);
bool sim_pdp_needs_rdma(const struct npusim *sim, const struct npusim_regs *pdp);

int sim_sdp_run(struct npusim *sim, const struct npusim_regs *sdp, const struct npusim_regs *rdma,
		const struct sim_cube32 *flying, struct sim_cube8 *to_pdp,
		struct sim_task_stats *stats);
int sim_pdp_run(struct npusim *sim, const struct npusim_regs *pdp, const struct npusim_regs *rdma,
		const struct sim_cube8 *flying, struct sim_task_stats *stats);
int sim_cdp_run(struct npusim *sim, const struct npusim_regs *cdp, const struct npusim_regs *rdma,
		struct sim_task_stats *stats);

/* Atoms that SDP takes from CACC (flying) for one operation. */
u64 sim_sdp_atoms(const struct npusim *sim, const struct npusim_regs *sdp);

/*
 * Timing.  Memory mode: cycles from the enabling write to the interrupt.  @flying of PDP:
 * the cycles that its source (conv and SDP, or SDP alone) needs to deliver; the result is then
 * cycles from the source's first atom to PDP's interrupt.
 */
u64 sim_sdp_cycles(const struct npusim *sim, const struct npusim_regs *sdp,
		   const struct npusim_regs *rdma);
u64 sim_pdp_cycles(const struct npusim *sim, const struct npusim_regs *pdp,
		   const struct npusim_regs *rdma, u64 flying);
u64 sim_cdp_cycles(const struct npusim *sim, const struct npusim_regs *cdp,
		   const struct npusim_regs *rdma);

/**
 * struct sim_sdp_rate - how SDP keeps up with CACC in flying mode
 * @atom_256: cycles for an atom, times 256
 * @head: cycles from SDP's enable until it can take the first atom (operand fetch)
 * @tail: cycles from the last atom taken to the interrupt
 */
struct sim_sdp_rate {
	u32 atom_256;
	u32 head;
	u32 tail;
};

struct sim_sdp_rate sim_sdp_flying_rate(const struct npusim *sim, const struct npusim_regs *sdp,
					const struct npusim_regs *rdma);

#endif /* NPUSIM_INTERNAL_H */
