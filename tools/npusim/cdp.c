// SPDX-License-Identifier: MIT
/*
 * CDP: local response normalisation across channels.  The cube is read in blocks of eight
 * columns with all their surfaces, so that each element has its neighbours.
 */
#include <stdlib.h>

#include "cdp_internal.h"
#include "stream.h"

/* More atoms than this are refused: no real layer has so many, garbage registers have. */
#define ATOMS_MAX ((u64)1 << 26)

#define BLOCK 8 /* columns read at once */
#define REACH 4 /* neighbours on each side, at most */

#define IN_OFFSET_BITS 8 /* of the input conversion's 16 */
#define IN_BITS 9 /* after the input conversion */
#define OUT_PRODUCT_BITS 42

struct cdp {
	struct npusim *sim;
	u32 lanes;
	u32 width, height, channels, surfaces;
	u32 reach; /* neighbours on each side */
	bool no_sum; /* the table is asked for the element itself */
	bool no_multiply; /* the result is the table's value */
	s32 in_offset, in_scale;
	u32 in_shift;
	s32 out_offset, out_scale;
	u32 out_shift;
	struct cdp_lut lut;
	struct cdp_counts counts;

	u64 source, source_line, source_surface;
	u64 destination, destination_line, destination_surface;

	s8 *block; /* [surface][column][lane] */
	s16 *pixel; /* one column's channels, converted, with REACH zeros on each side */
};

static void decode(struct cdp *cdp, struct npusim *sim, const struct npusim_regs *r,
		   const struct npusim_regs *rdma)
{
	*cdp = (struct cdp){
		.sim = sim,
		.lanes = sim_config(sim)->atom,
		.width = SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1,
		.height = SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1,
		.channels = SIM_FIELD(rdma, CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL) + 1,
		.reach = SIM_FIELD(r, CDP, D_LRN_CFG, NORMALZ_LEN) + 1,
		.no_sum = SIM_FIELD(r, CDP, D_FUNC_BYPASS, SQSUM_BYPASS),
		.no_multiply = SIM_FIELD(r, CDP, D_FUNC_BYPASS, MUL_BYPASS),
		.in_offset = sim_sext(SIM_REG(r, CDP, D_DATIN_OFFSET), IN_OFFSET_BITS),
		.in_scale = SIM_SFIELD(r, CDP, D_DATIN_SCALE, DATIN_SCALE),
		.in_shift = SIM_FIELD(r, CDP, D_DATIN_SHIFTER, DATIN_SHIFTER),
		.out_offset = sim_sext(SIM_REG(r, CDP, D_DATOUT_OFFSET), 25),
		.out_scale = SIM_SFIELD(r, CDP, D_DATOUT_SCALE, DATOUT_SCALE),
		.out_shift = SIM_FIELD(r, CDP, D_DATOUT_SHIFTER, DATOUT_SHIFTER),
		.lut = cdp_decode_lut(r, sim_cdp_lut(sim)),
		.source = (u64)SIM_REG(rdma, CDP_RDMA, D_SRC_BASE_ADDR_HIGH) << 32 |
			  SIM_REG(rdma, CDP_RDMA, D_SRC_BASE_ADDR_LOW),
		.source_line = SIM_REG(rdma, CDP_RDMA, D_SRC_LINE_STRIDE),
		.source_surface = SIM_REG(rdma, CDP_RDMA, D_SRC_SURFACE_STRIDE),
		.destination = (u64)SIM_REG(r, CDP, D_DST_BASE_ADDR_HIGH) << 32 |
			       SIM_REG(r, CDP, D_DST_BASE_ADDR_LOW),
		.destination_line = SIM_REG(r, CDP, D_DST_LINE_STRIDE),
		.destination_surface = SIM_REG(r, CDP, D_DST_SURFACE_STRIDE),
	};
	cdp->surfaces = DIV_ROUND_UP(cdp->channels, cdp->lanes);
}

static u64 block_address(const struct cdp *cdp, u64 base, u64 line, u64 surface_stride, u32 x,
			 u32 y, u32 surface)
{
	return sim_beat_address(cdp->sim,
				base + y * line + surface * surface_stride + (u64)x * cdp->lanes);
}

static void read_block(struct cdp *cdp, u32 x, u32 y, u32 columns)
{
	size_t bytes = (size_t)columns * cdp->lanes;
	u32 s;

	for (s = 0; s < cdp->surfaces; s++)
		sim_dma_read(cdp->sim, NPUSIM_CDP_READ,
			     block_address(cdp, cdp->source, cdp->source_line, cdp->source_surface,
					   x, y, s),
			     cdp->block + s * bytes, bytes);
}

static void write_block(struct cdp *cdp, u32 x, u32 y, u32 columns)
{
	size_t bytes = (size_t)columns * cdp->lanes;
	u32 s;

	for (s = 0; s < cdp->surfaces; s++)
		sim_dma_write(cdp->sim, NPUSIM_CDP_WRITE,
			      block_address(cdp, cdp->destination, cdp->destination_line,
					    cdp->destination_surface, x, y, s),
			      cdp->block + s * bytes, bytes);
}

static s16 convert_in(const struct cdp *cdp, s8 v)
{
	s32 product = (v - cdp->in_offset) * cdp->in_scale;

	return (s16)cdp_shift_round(product, cdp->in_shift, IN_BITS);
}

static s8 convert_out(const struct cdp *cdp, s32 v)
{
	s64 product = ((s64)v - cdp->out_offset) * cdp->out_scale;

	if (cdp->out_shift >= OUT_PRODUCT_BITS)
		return 0;
	return (s8)cdp_shift_round(product, cdp->out_shift, 8);
}

static s32 square_sum(const s16 *center, u32 reach)
{
	s32 sum = 0, i;

	for (i = -(s32)reach; i <= (s32)reach; i++)
		sum += center[i] * center[i];
	return sum;
}

/* Lanes above the last channel count as zeros, and results come out of them as well. */
static void normalise_column(struct cdp *cdp, u32 column, u32 columns)
{
	u32 c;

	for (c = 0; c < cdp->surfaces * cdp->lanes; c++) {
		const s8 *p = cdp->block +
			      ((size_t)(c / cdp->lanes) * columns + column) * cdp->lanes +
			      c % cdp->lanes;

		cdp->pixel[REACH + c] = c < cdp->channels ? convert_in(cdp, *p) : 0;
	}
	for (c = 0; c < cdp->surfaces * cdp->lanes; c++) {
		s8 *p = cdp->block + ((size_t)(c / cdp->lanes) * columns + column) * cdp->lanes +
			c % cdp->lanes;
		const s16 *x = &cdp->pixel[REACH + c];
		s16 factor = cdp_look_up(&cdp->lut, cdp->no_sum ? *x : square_sum(x, cdp->reach),
					 &cdp->counts);

		*p = convert_out(cdp, cdp->no_multiply ? factor : factor * *x);
	}
}

static int alloc_block(struct cdp *cdp)
{
	size_t channels = (size_t)cdp->surfaces * cdp->lanes;

	cdp->block = malloc(channels * BLOCK);
	cdp->pixel = calloc(channels + 2 * REACH, sizeof(*cdp->pixel));
	return cdp->block && cdp->pixel ? 0 : -ENOMEM;
}

static void note_stats(const struct cdp *cdp, struct sim_task_stats *stats)
{
	sim_stat(stats, NVDLA_CDP_D_PERF_LUT_UFLOW, cdp->counts.under);
	sim_stat(stats, NVDLA_CDP_D_PERF_LUT_OFLOW, cdp->counts.over);
	sim_stat(stats, NVDLA_CDP_D_PERF_LUT_HYBRID, cdp->counts.hybrid);
	sim_stat(stats, NVDLA_CDP_D_PERF_LUT_LE_HIT, cdp->counts.le_hit);
	sim_stat(stats, NVDLA_CDP_D_PERF_LUT_LO_HIT, cdp->counts.lo_hit);
}

int sim_cdp_run(struct npusim *sim, const struct npusim_regs *regs, const struct npusim_regs *rdma,
		struct sim_task_stats *stats)
{
	struct cdp cdp;
	u32 x, y, column;
	u64 atoms;
	int err;

	decode(&cdp, sim, regs, rdma);
	atoms = (u64)cdp.width * cdp.height * cdp.surfaces;
	if (atoms > ATOMS_MAX)
		return sim_hang(sim, "CDP", "a cube of %llu atoms is more than the model takes",
				(unsigned long long)atoms);
	err = alloc_block(&cdp);
	if (!err) {
		for (y = 0; y < cdp.height; y++)
			for (x = 0; x < cdp.width; x += BLOCK) {
				u32 columns = min(cdp.width - x, (u32)BLOCK);

				read_block(&cdp, x, y, columns);
				for (column = 0; column < columns; column++)
					normalise_column(&cdp, column, columns);
				write_block(&cdp, x, y, columns);
			}
		note_stats(&cdp, stats);
	}
	free(cdp.block);
	free(cdp.pixel);
	return err;
}
