// SPDX-License-Identifier: MIT
/* SDP: decoding of the registers, the operand streams and the walk over the cube. */
#include <stdlib.h>

#include "sdp_internal.h"
#include "stream.h"

/* Values of SDP_RDMA D_*RDMA_CFG.*RDMA_DATA_USE. */
enum { DATA_USE_MUL, DATA_USE_ALU, DATA_USE_BOTH };

/* More atoms than this are refused: no real layer has so many, garbage registers have. */
#define ATOMS_MAX ((u64)1 << 26)

/**
 * struct operands - what SDP_RDMA reads for one of BS, BN and EW
 * @stream: positions hold an atom's operands, 1 or 2 bytes for each, ALU's and multiplier's
 *	alternating where both are read
 * @per_element: false: one position a surface, kept for all of the surface's atoms
 * @left: atoms for which the current position is still good, when not @per_element
 * @at: the current position
 * @alu, @mul: operands of a run, expanded
 * @filled: elements of @alu and @mul that hold the current position, when not @per_element
 */
struct operands {
	bool used;
	bool alu_used, mul_used;
	bool per_element;
	u8 bytes;
	struct sim_stream stream;
	u64 plane;
	u64 left;
	const u8 *at;
	s32 *alu, *mul;
	u32 filled;
};

struct sdp {
	struct npusim *sim;
	u32 lanes; /* of an atom */
	u32 width, height, surfaces;
	u64 atoms;
	u32 run_elements; /* of the longest run */
	bool flying;
	bool to_pdp;
	bool half; /* INT16 processing: of each atom from memory the first half comes through */
	bool compare; /* EW compares (EQL): no output but D_STATUS */
	bool out16;
	bool count_saturation;
	bool count_lut;

	struct sdp_x_stage x[2]; /* BS and BN */
	struct sdp_ew_stage ew;
	struct sdp_convert convert;
	struct operands operand[3]; /* BS, BN, EW */

	struct sim_stream source;
	s32 *run; /* elements under way */
	s16 *narrow; /* scratch: operands before conversion, outputs of 16 bits */

	u64 destination, line_stride, surface_stride;
	u8 *line; /* of the output */
	struct sdp_counts counts;
	bool any_output; /* an output byte that is not 0 */
};

static u32 field_surfaces(const struct npusim *sim, u32 channels)
{
	return channels / sim_config(sim)->atom + 1;
}

static bool int16_processing(const struct npusim_regs *sdp)
{
	return SIM_FIELD(sdp, SDP, D_DATA_FORMAT, PROC_PRECISION);
}

/* Surfaces that the output is made of: with INT16 processing an atom has half the channels. */
static u32 out_surfaces(const struct npusim *sim, const struct npusim_regs *sdp)
{
	u32 channels = SIM_FIELD(sdp, SDP, D_DATA_CUBE_CHANNEL, CHANNEL);

	return field_surfaces(sim, int16_processing(sdp) ? 2 * channels : channels);
}

static struct sdp_operand operand_of(u32 src, u32 value, u32 bits)
{
	return (struct sdp_operand){ .memory = src, .value = sim_sext(value, bits) };
}

static enum sdp_mul mul_of(u32 bypass, u32 prelu)
{
	if (bypass)
		return SDP_MUL_NONE;
	return prelu ? SDP_MUL_PRELU : SDP_MUL;
}

/* BS and BN have the same fields under different names. */
#define DECODE_X(name)                                                                            \
	static struct sdp_x_stage decode_##name(const struct npusim_regs *r)                      \
	{                                                                                         \
		u32 cfg = SIM_REG(r, SDP, D_DP_##name##_CFG);                                     \
		u32 alu = SIM_REG(r, SDP, D_DP_##name##_ALU_CFG);                                 \
		u32 mul = SIM_REG(r, SDP, D_DP_##name##_MUL_CFG);                                 \
                                                                                                  \
		return (struct sdp_x_stage){                                                      \
			.enabled = !NVDLA_GET(SDP, D_DP_##name##_CFG, name##_BYPASS, cfg),        \
			.alu = NVDLA_GET(SDP, D_DP_##name##_CFG, name##_ALU_BYPASS, cfg)          \
				       ? SDP_ALU_NONE                                             \
				       : NVDLA_GET(SDP, D_DP_##name##_CFG, name##_ALU_ALGO, cfg), \
			.mul = mul_of(NVDLA_GET(SDP, D_DP_##name##_CFG, name##_MUL_BYPASS, cfg),  \
				      NVDLA_GET(SDP, D_DP_##name##_CFG, name##_MUL_PRELU, cfg)),  \
			.relu = !NVDLA_GET(SDP, D_DP_##name##_CFG, name##_RELU_BYPASS, cfg),      \
			.alu_shift =                                                              \
				NVDLA_GET(SDP, D_DP_##name##_ALU_CFG, name##_ALU_SHIFT_VALUE,     \
					  alu), /* The shifter has 6 bits of the field's 8. */    \
			.shift = NVDLA_GET(SDP, D_DP_##name##_MUL_CFG, name##_MUL_SHIFT_VALUE,    \
					   mul) &                                                 \
				 0x3f,                                                            \
			.alu_operand = operand_of(NVDLA_GET(SDP, D_DP_##name##_ALU_CFG,           \
							    name##_ALU_SRC, alu),                 \
						  SIM_FIELD(r, SDP, D_DP_##name##_ALU_SRC_VALUE,  \
							    name##_ALU_OPERAND),                  \
						  16),                                            \
			.mul_operand = operand_of(NVDLA_GET(SDP, D_DP_##name##_MUL_CFG,           \
							    name##_MUL_SRC, mul),                 \
						  SIM_FIELD(r, SDP, D_DP_##name##_MUL_SRC_VALUE,  \
							    name##_MUL_OPERAND),                  \
						  16),                                            \
		};                                                                                \
	}

DECODE_X(BS)
DECODE_X(BN)

static struct sdp_table decode_le(const struct npusim_regs *r, const struct sim_lut *lut)
{
	return (struct sdp_table){
		.entry = lut->le,
		.entries = SIM_LUT_LE,
		.exponent = !SIM_FIELD(r, SDP, S_LUT_CFG, LUT_LE_FUNCTION),
		.start = (s32)SIM_REG(r, SDP, S_LUT_LE_START),
		.end = (s32)SIM_REG(r, SDP, S_LUT_LE_END),
		.index_offset = SIM_SFIELD(r, SDP, S_LUT_INFO, LUT_LE_INDEX_OFFSET),
		.index_select = SIM_SFIELD(r, SDP, S_LUT_INFO, LUT_LE_INDEX_SELECT),
		.under = { SIM_SFIELD(r, SDP, S_LUT_LE_SLOPE_SCALE, LUT_LE_SLOPE_UFLOW_SCALE),
			   SIM_SFIELD(r, SDP, S_LUT_LE_SLOPE_SHIFT, LUT_LE_SLOPE_UFLOW_SHIFT) },
		.over = { SIM_SFIELD(r, SDP, S_LUT_LE_SLOPE_SCALE, LUT_LE_SLOPE_OFLOW_SCALE),
			  SIM_SFIELD(r, SDP, S_LUT_LE_SLOPE_SHIFT, LUT_LE_SLOPE_OFLOW_SHIFT) },
	};
}

static struct sdp_table decode_lo(const struct npusim_regs *r, const struct sim_lut *lut)
{
	return (struct sdp_table){
		.entry = lut->lo,
		.entries = SIM_LUT_LO,
		.start = (s32)SIM_REG(r, SDP, S_LUT_LO_START),
		.end = (s32)SIM_REG(r, SDP, S_LUT_LO_END),
		.index_select = SIM_SFIELD(r, SDP, S_LUT_INFO, LUT_LO_INDEX_SELECT),
		.under = { SIM_SFIELD(r, SDP, S_LUT_LO_SLOPE_SCALE, LUT_LO_SLOPE_UFLOW_SCALE),
			   SIM_SFIELD(r, SDP, S_LUT_LO_SLOPE_SHIFT, LUT_LO_SLOPE_UFLOW_SHIFT) },
		.over = { SIM_SFIELD(r, SDP, S_LUT_LO_SLOPE_SCALE, LUT_LO_SLOPE_OFLOW_SCALE),
			  SIM_SFIELD(r, SDP, S_LUT_LO_SLOPE_SHIFT, LUT_LO_SLOPE_OFLOW_SHIFT) },
	};
}

#define DECODE_CONVERT(r, name)                                                            \
	{                                                                                  \
		.bypass = SIM_FIELD(r, SDP, D_DP_EW_##name##_CFG, EW_##name##_CVT_BYPASS), \
		.offset = (s32)SIM_REG(r, SDP, D_DP_EW_##name##_CVT_OFFSET_VALUE),         \
		.scale = SIM_SFIELD(r, SDP, D_DP_EW_##name##_CVT_SCALE_VALUE,              \
				    EW_##name##_CVT_SCALE),                                \
		.shift = SIM_FIELD(r, SDP, D_DP_EW_##name##_CVT_TRUNCATE_VALUE,            \
				   EW_##name##_CVT_TRUNCATE),                              \
	}

static struct sdp_ew_stage decode_ew(const struct npusim *sim, const struct npusim_regs *r,
				     const struct sim_lut *lut)
{
	u32 features = sim_config(sim)->features;

	return (struct sdp_ew_stage){
		.enabled = (features & NVDLA_HAS_EW) &&
			   !SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_BYPASS),
		.alu = SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_ALU_BYPASS) ?
			       SDP_ALU_NONE :
			       SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_ALU_ALGO),
		.mul = mul_of(SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_MUL_BYPASS),
			      SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_MUL_PRELU)),
		.shift = SIM_FIELD(r, SDP, D_DP_EW_TRUNCATE_VALUE, EW_TRUNCATE),
		.alu_operand = operand_of(SIM_FIELD(r, SDP, D_DP_EW_ALU_CFG, EW_ALU_SRC),
					  SIM_REG(r, SDP, D_DP_EW_ALU_SRC_VALUE), 32),
		.mul_operand = operand_of(SIM_FIELD(r, SDP, D_DP_EW_MUL_CFG, EW_MUL_SRC),
					  SIM_REG(r, SDP, D_DP_EW_MUL_SRC_VALUE), 32),
		.alu_convert = DECODE_CONVERT(r, ALU),
		.mul_convert = DECODE_CONVERT(r, MUL),
		.lut = {
			.enabled = (features & NVDLA_HAS_SDP_LUT) &&
				   !SIM_FIELD(r, SDP, D_DP_EW_CFG, EW_LUT_BYPASS),
			.le = decode_le(r, lut),
			.lo = decode_lo(r, lut),
			.lo_on_underflow = SIM_FIELD(r, SDP, S_LUT_CFG, LUT_UFLOW_PRIORITY),
			.lo_on_overflow = SIM_FIELD(r, SDP, S_LUT_CFG, LUT_OFLOW_PRIORITY),
			.lo_on_hybrid = SIM_FIELD(r, SDP, S_LUT_CFG, LUT_HYBRID_PRIORITY),
		},
	};
}

static bool x_reads(const struct sdp_x_stage *s)
{
	return s->enabled && ((s->alu != SDP_ALU_NONE && s->alu_operand.memory) ||
			      (s->mul != SDP_MUL_NONE && s->mul_operand.memory));
}

static bool ew_reads(const struct sdp_ew_stage *s)
{
	return s->enabled && ((s->alu != SDP_ALU_NONE && s->alu_operand.memory) ||
			      (s->mul != SDP_MUL_NONE && s->mul_operand.memory));
}

bool sim_sdp_needs_rdma(const struct npusim *sim, const struct npusim_regs *sdp)
{
	struct sdp_x_stage bs = decode_BS(sdp), bn = decode_BN(sdp);
	static const struct sim_lut no_lut;
	struct sdp_ew_stage ew = decode_ew(sim, sdp, &no_lut);

	return !SIM_FIELD(sdp, SDP, D_FEATURE_MODE_CFG, FLYING_MODE) || x_reads(&bs) ||
	       x_reads(&bn) || ew_reads(&ew);
}

u64 sim_sdp_atoms(const struct npusim *sim, const struct npusim_regs *sdp)
{
	return (u64)(SIM_FIELD(sdp, SDP, D_DATA_CUBE_WIDTH, WIDTH) + 1) *
	       (SIM_FIELD(sdp, SDP, D_DATA_CUBE_HEIGHT, HEIGHT) + 1) * out_surfaces(sim, sdp);
}

/* A plane of 1x1 is one line of atoms, whatever the strides say. */
static void pack_plane(struct sim_stream *s)
{
	if (s->width != 1 || s->height != 1)
		return;
	s->width = s->surfaces;
	s->surfaces = 1;
}

static int open_source(struct sdp *sdp, const struct npusim_regs *r)
{
	struct sim_stream *s = &sdp->source;

	*s = (struct sim_stream){
		.sim = sdp->sim,
		.engine = NPUSIM_SDP_READ,
		.base = sim_address(sdp->sim, SIM_REG(r, SDP_RDMA, D_SRC_BASE_ADDR_LOW),
				    SIM_REG(r, SDP_RDMA, D_SRC_BASE_ADDR_HIGH)),
		.line_stride = sim_stride(sdp->sim, SIM_REG(r, SDP_RDMA, D_SRC_LINE_STRIDE)),
		.surface_stride = sim_stride(sdp->sim, SIM_REG(r, SDP_RDMA, D_SRC_SURFACE_STRIDE)),
		.position = sdp->lanes,
		.width = SIM_FIELD(r, SDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1,
		.height = SIM_FIELD(r, SDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1,
		.surfaces = field_surfaces(sdp->sim,
					   SIM_FIELD(r, SDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL)),
	};
	pack_plane(s);
	return sim_stream_open(s);
}

/* The registers of one operand reader; the three have the same fields. */
struct reader_regs {
	bool disable;
	u32 use;
	bool two_bytes;
	bool per_element;
	u64 base, line_stride, surface_stride;
};

#define READER(sim, r, cfg, prefix, name)                                                     \
	{                                                                                     \
		.disable = SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DISABLE),              \
		.use = SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DATA_USE),                 \
		.two_bytes = SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DATA_SIZE),          \
		.per_element = SIM_FIELD(r, SDP_RDMA, D_##cfg##_CFG, cfg##_DATA_MODE),        \
		.base = sim_address(sim, SIM_REG(r, SDP_RDMA, D_##name##_BASE_ADDR_LOW),      \
				    SIM_REG(r, SDP_RDMA, D_##name##_BASE_ADDR_HIGH)),         \
		.line_stride = sim_stride(sim, SIM_REG(r, SDP_RDMA, D_##name##_LINE_STRIDE)), \
		.surface_stride =                                                             \
			sim_stride(sim, SIM_REG(r, SDP_RDMA, D_##name##_SURFACE_STRIDE)),     \
	}

static int open_operands(struct sdp *sdp, const struct npusim_regs *r, u32 which,
			 const struct reader_regs *regs)
{
	static const enum npusim_engine engine[] = { NPUSIM_SDP_BS, NPUSIM_SDP_BN, NPUSIM_SDP_EW };
	struct operands *o = &sdp->operand[which];
	u32 width = SIM_FIELD(r, SDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH) + 1;
	u32 height = SIM_FIELD(r, SDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT) + 1;
	u32 surfaces =
		field_surfaces(sdp->sim, SIM_FIELD(r, SDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL));

	o->used = true;
	o->alu_used = regs->use != DATA_USE_MUL;
	o->mul_used = regs->use != DATA_USE_ALU;
	o->per_element = regs->per_element;
	o->bytes = regs->two_bytes ? 2 : 1;
	o->plane = (u64)width * height;
	o->stream = (struct sim_stream){
		.sim = sdp->sim,
		.engine = engine[which],
		.base = regs->base,
		.line_stride = regs->line_stride,
		.surface_stride = regs->surface_stride,
		.position = sdp->lanes * o->bytes * (o->alu_used + o->mul_used),
		.width = o->per_element ? width : surfaces,
		.height = o->per_element ? height : 1,
		.surfaces = o->per_element ? surfaces : 1,
	};
	if (o->per_element)
		pack_plane(&o->stream);
	return sim_stream_open(&o->stream);
}

static int alloc_runs(struct sdp *sdp)
{
	u32 i;

	/* Small operations do not pay for long runs. */
	sdp->run_elements = (u32)min((u64)SDP_RUN, sdp->atoms * sdp->lanes);
	sdp->run = malloc(sdp->run_elements * sizeof(*sdp->run));
	sdp->narrow = malloc(sdp->run_elements * sizeof(*sdp->narrow));
	sdp->line = malloc((size_t)max(sdp->width, sdp->surfaces) * sdp->lanes);
	if (!sdp->run || !sdp->narrow || !sdp->line)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(sdp->operand); i++) {
		sdp->operand[i].alu = calloc(sdp->run_elements, sizeof(s32));
		sdp->operand[i].mul = calloc(sdp->run_elements, sizeof(s32));
		if (!sdp->operand[i].alu || !sdp->operand[i].mul)
			return -ENOMEM;
	}
	return 0;
}

static void release(struct sdp *sdp)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sdp->operand); i++) {
		sim_stream_close(&sdp->operand[i].stream);
		free(sdp->operand[i].alu);
		free(sdp->operand[i].mul);
	}
	sim_stream_close(&sdp->source);
	free(sdp->run);
	free(sdp->narrow);
	free(sdp->line);
}

static void fill(s32 *out, s32 value, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		out[i] = value;
}

/* Operands that registers hold are the same in every run. */
static void fill_register_operands(struct sdp *sdp)
{
	u32 n = sdp->run_elements, i;

	for (i = 0; i < 2; i++) {
		s16 alu = (s16)sdp->x[i].alu_operand.value;
		s32 shifted;

		sdp_alu_operand_row(&alu, &shifted, sdp->x[i].alu_shift, 1);
		fill(sdp->operand[i].alu, shifted, n);
		fill(sdp->operand[i].mul, sdp->x[i].mul_operand.value, n);
	}
	fill(sdp->operand[2].alu, sdp->ew.alu_operand.value, n);
	fill(sdp->operand[2].mul, sdp->ew.mul_operand.value, n);
}

/* @n operands from memory, every @step-th from the @first-th on, widened to 16 bits. */
static void gather(const struct operands *o, const u8 *from, u32 first, u32 step, s16 *out, u32 n)
{
	u32 i;

	if (o->bytes == 1) {
		for (i = 0; i < n; i++)
			out[i] = (s8)from[first + (size_t)i * step];
		return;
	}
	for (i = 0; i < n; i++) {
		const u8 *p = from + 2 * (first + (size_t)i * step);

		out[i] = (s16)(p[0] | p[1] << 8);
	}
}

static bool alu_from_memory(const struct sdp *sdp, u32 which)
{
	if (which == 2)
		return sdp->ew.alu != SDP_ALU_NONE && sdp->ew.alu_operand.memory;
	return sdp->x[which].alu != SDP_ALU_NONE && sdp->x[which].alu_operand.memory;
}

static bool mul_from_memory(const struct sdp *sdp, u32 which)
{
	if (which == 2)
		return sdp->ew.mul != SDP_MUL_NONE && sdp->ew.mul_operand.memory;
	return sdp->x[which].mul != SDP_MUL_NONE && sdp->x[which].mul_operand.memory;
}

/* Turn @n operands at @from into what the stage computes with. */
static void expand(struct sdp *sdp, u32 which, const u8 *from, u32 n)
{
	struct operands *o = &sdp->operand[which];
	bool both = o->alu_used && o->mul_used;

	if (alu_from_memory(sdp, which)) {
		gather(o, from, 0, both ? 2 : 1, sdp->narrow, n);
		if (which == 2)
			sdp_convert_row(&sdp->ew.alu_convert, sdp->narrow, o->alu, n);
		else
			sdp_alu_operand_row(sdp->narrow, o->alu, sdp->x[which].alu_shift, n);
	}
	if (mul_from_memory(sdp, which)) {
		gather(o, from, both, both ? 2 : 1, sdp->narrow, n);
		if (which == 2)
			sdp_convert_row(&sdp->ew.mul_convert, sdp->narrow, o->mul, n);
		else
			sdp_widen_row(sdp->narrow, o->mul, n);
	}
}

static void repeat(s32 *out, u32 from, u32 to, u32 period)
{
	u32 i;

	for (i = from; i < to; i++)
		out[i] = out[i - period];
}

/*
 * Operands for the next *atoms atoms or fewer, as many as are in one line or plane.  False
 * at the end of the operands.
 */
static bool next_operands(struct sdp *sdp, u32 which, u32 *atoms)
{
	struct operands *o = &sdp->operand[which];
	u32 n;

	if (o->per_element) {
		const u8 *from = sim_stream_take(&o->stream, atoms);

		if (!from)
			return false;
		expand(sdp, which, from, *atoms * sdp->lanes);
		return true;
	}
	if (!o->left) {
		u32 one = 1;

		o->at = sim_stream_take(&o->stream, &one);
		if (!o->at)
			return false;
		o->left = o->plane;
		o->filled = sdp->lanes;
		expand(sdp, which, o->at, sdp->lanes);
	}
	*atoms = (u32)min((u64)*atoms, o->left);
	o->left -= *atoms;
	n = *atoms * sdp->lanes;
	if (n > o->filled) {
		if (alu_from_memory(sdp, which))
			repeat(o->alu, o->filled, n, sdp->lanes);
		if (mul_from_memory(sdp, which))
			repeat(o->mul, o->filled, n, sdp->lanes);
		o->filled = n;
	}
	return true;
}

/* How many atoms the next run can have: as many as every operand has in one piece. */
static u32 run_atoms(const struct sdp *sdp, u64 want)
{
	u64 n = min(want, (u64)(sdp->run_elements / sdp->lanes));
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sdp->operand); i++) {
		const struct operands *o = &sdp->operand[i];
		u64 left = o->per_element ? o->stream.left : o->left;

		if (o->used && left)
			n = min(n, left);
		else if (o->used)
			n = min(n, o->per_element ? (u64)o->stream.width : o->plane);
	}
	return (u32)n;
}

/* Two beats of int16 fill the place of int8: of each beat the first half comes through. */
static void pack16(const struct sdp *sdp, const s16 *in, u8 *out, u32 n)
{
	const struct nvdla_config *c = sim_config(sdp->sim);
	u32 beat = max(max(c->bs_throughput, c->bn_throughput), c->ew_throughput);
	u32 i;

	for (i = 0; i < n; i++) {
		u32 in_beat = i % beat;

		out[i] = (u8)((u16)in[i - in_beat + in_beat / 2] >> (in_beat & 1 ? 8 : 0));
	}
}

static void convert_output(struct sdp *sdp, u8 *out, u32 n)
{
	u32 i;

	if (sdp->compare) {
		for (i = 0; i < n; i++)
			sdp->narrow[i] = (s16)sdp->run[i];
	} else if (sdp->count_saturation) {
		sdp->counts.saturated += sdp_out_saturated(&sdp->convert, sdp->run, n);
	}
	if (sdp->out16) {
		if (!sdp->compare)
			sdp_out_row16(&sdp->convert, sdp->run, sdp->narrow, n);
		pack16(sdp, sdp->narrow, out, n);
	} else if (sdp->compare) {
		for (i = 0; i < n; i++)
			out[i] = (u8)sdp->narrow[i];
	} else {
		sdp_out_row(&sdp->convert, sdp->run, (s8 *)out, n);
	}
}

/* One run through the stages: @n elements in sdp->run to @out. */
static void process(struct sdp *sdp, u8 *out, u32 n)
{
	u32 i;

	for (i = 0; i < 2; i++)
		if (sdp->x[i].enabled)
			sdp_x_row(&sdp->x[i], sdp->run, sdp->operand[i].alu, sdp->operand[i].mul,
				  n);
	if (sdp->ew.enabled)
		sdp_ew_row(&sdp->ew, sdp->run, sdp->operand[2].alu, sdp->operand[2].mul, n,
			   &sdp->counts);
	convert_output(sdp, out, n);
}

/*
 * The next @want atoms or fewer through SDP, to @out.  Returns how many; 0 when the source
 * or an operand has come to its end.
 */
static u32 next_run(struct sdp *sdp, const struct sim_cube32 *flying, u64 done, u64 want, u8 *out)
{
	u32 n = run_atoms(sdp, want), i;

	if (sdp->flying) {
		if (done >= flying->atoms)
			return 0;
		n = (u32)min((u64)n, flying->atoms - done);
		memcpy(sdp->run, flying->data + done * sdp->lanes,
		       (size_t)n * sdp->lanes * sizeof(s32));
	} else {
		const u8 *from = sim_stream_take(&sdp->source, &n);

		if (!from)
			return 0;
		for (i = 0; i < n * sdp->lanes; i++)
			sdp->run[i] = (s8)from[i];
	}
	for (i = 0; i < ARRAY_SIZE(sdp->operand); i++) {
		u32 have = n;

		if (sdp->operand[i].used && !next_operands(sdp, i, &have))
			return 0;
	}
	process(sdp, out, n * sdp->lanes);
	return n;
}

static bool any_byte(const u8 *p, size_t n)
{
	u8 any = 0;
	size_t i;

	for (i = 0; i < n; i++)
		any |= p[i];
	return any;
}

static void write_line(struct sdp *sdp, u32 surface, u32 y, size_t bytes)
{
	u64 address = sdp->destination + surface * sdp->surface_stride + y * sdp->line_stride;

	if (sdp->to_pdp)
		return;
	sdp->any_output = sdp->any_output || any_byte(sdp->line, bytes);
	if (!sdp->compare && bytes)
		sim_dma_write(sdp->sim, NPUSIM_SDP_WRITE, sim_beat_address(sdp->sim, address),
			      sdp->line, bytes);
}

/*
 * INT16 processing: half of each input atom is lost, the rest closes up, and the input ends
 * before the output is full.
 */
static int walk_half(struct sdp *sdp)
{
	u32 packed = sdp->width == 1 && sdp->height == 1;
	size_t size = (size_t)(packed ? sdp->surfaces : sdp->width) * sdp->lanes, filled = 0;
	u64 lines = packed ? 1 : (u64)sdp->height * sdp->surfaces, line = 0;
	u32 half = sdp->lanes / 2, n, i;
	u8 out[SDP_RUN];

	while (line < lines && (n = next_run(sdp, NULL, 0, sdp->run_elements / sdp->lanes, out)))
		for (i = 0; i < n && line < lines; i++) {
			memcpy(sdp->line + filled, out + (size_t)i * sdp->lanes, half);
			filled += half;
			if (filled < size)
				continue;
			write_line(sdp, (u32)(line / sdp->height), (u32)(line % sdp->height), size);
			filled = 0;
			line++;
		}
	if (line == lines)
		return 0;
	return sim_hang(sdp->sim, "SDP", "PROC_PRECISION is not INT8: the input ends too early");
}

/* The whole cube; a line at a time to memory. */
static int walk(struct sdp *sdp, const struct sim_cube32 *flying, struct sim_cube8 *to_pdp)
{
	bool packed = sdp->width == 1 && sdp->height == 1;
	u32 width = packed ? sdp->surfaces : sdp->width;
	u32 height = sdp->height, surfaces = packed ? 1 : sdp->surfaces;
	u64 done = 0;
	u32 s, y, x, n;

	for (s = 0; s < surfaces; s++)
		for (y = 0; y < height; y++) {
			u8 *line = to_pdp ? (u8 *)to_pdp->data + done * sdp->lanes : sdp->line;

			for (x = 0; x < width; x += n, done += n) {
				n = next_run(sdp, flying, done, width - x,
					     line + (size_t)x * sdp->lanes);
				if (!n)
					break;
			}
			if (to_pdp)
				to_pdp->atoms = done;
			write_line(sdp, s, y, (size_t)x * sdp->lanes);
			if (x < width)
				return sim_hang(sdp->sim, "SDP",
						"its input ends after %llu of %llu atoms",
						(unsigned long long)done,
						(unsigned long long)sdp->atoms);
		}
	return 0;
}

static void note_stats(const struct sdp *sdp, struct sim_task_stats *stats)
{
	const struct sdp_counts *c = &sdp->counts;

	sim_stat(stats, NVDLA_SDP_D_STATUS, sdp->any_output);
	if (sdp->count_saturation)
		sim_stat(stats, NVDLA_SDP_D_PERF_OUT_SATURATION, c->saturated);
	if (!sdp->count_lut)
		return;
	sim_stat(stats, NVDLA_SDP_D_PERF_LUT_UFLOW, c->under);
	sim_stat(stats, NVDLA_SDP_D_PERF_LUT_OFLOW, c->over);
	sim_stat(stats, NVDLA_SDP_D_PERF_LUT_HYBRID, c->inside);
	sim_stat(stats, NVDLA_SDP_D_PERF_LUT_LE_HIT, c->le_hit);
	sim_stat(stats, NVDLA_SDP_D_PERF_LUT_LO_HIT, c->lo_hit);
}

static void decode(struct sdp *sdp, struct npusim *sim, const struct npusim_regs *r)
{
	*sdp = (struct sdp){
		.sim = sim,
		.lanes = sim_config(sim)->atom,
		.width = SIM_FIELD(r, SDP, D_DATA_CUBE_WIDTH, WIDTH) + 1,
		.height = SIM_FIELD(r, SDP, D_DATA_CUBE_HEIGHT, HEIGHT) + 1,
		.surfaces = out_surfaces(sim, r),
		.atoms = sim_sdp_atoms(sim, r),
		.flying = SIM_FIELD(r, SDP, D_FEATURE_MODE_CFG, FLYING_MODE),
		.to_pdp = SIM_FIELD(r, SDP, D_FEATURE_MODE_CFG, OUTPUT_DST),
		.out16 = SIM_FIELD(r, SDP, D_DATA_FORMAT, OUT_PRECISION),
		.count_saturation = SIM_FIELD(r, SDP, D_PERF_ENABLE, PERF_SAT_EN),
		.count_lut = SIM_FIELD(r, SDP, D_PERF_ENABLE, PERF_LUT_EN),
		.x = { decode_BS(r), decode_BN(r) },
		.ew = decode_ew(sim, r, sim_sdp_lut(sim)),
		.convert = {
			.offset = (s32)SIM_REG(r, SDP, D_CVT_OFFSET),
			.scale = SIM_SFIELD(r, SDP, D_CVT_SCALE, CVT_SCALE),
			.shift = SIM_FIELD(r, SDP, D_CVT_SHIFT, CVT_SHIFT),
		},
		.destination = sim_address(sim, SIM_REG(r, SDP, D_DST_BASE_ADDR_LOW),
					   SIM_REG(r, SDP, D_DST_BASE_ADDR_HIGH)),
		.line_stride = sim_stride(sim, SIM_REG(r, SDP, D_DST_LINE_STRIDE)),
		.surface_stride = sim_stride(sim, SIM_REG(r, SDP, D_DST_SURFACE_STRIDE)),
	};
	sdp->half = int16_processing(r) && !sdp->flying;
	sdp->compare = sdp->ew.enabled && sdp->ew.alu == SDP_ALU_EQL;
}

/* Operands that a stage waits for and that nobody reads: the operation never ends. */
static int open_readers(struct sdp *sdp, const struct npusim_regs *r)
{
	const struct reader_regs reader[3] = {
		READER(sdp->sim, r, BRDMA, BRDMA, BS),
		READER(sdp->sim, r, NRDMA, NRDMA, BN),
		READER(sdp->sim, r, ERDMA, ERDMA, EW),
	};
	static const char *const name[] = { "BS", "BN", "EW" };
	const bool wanted[] = { x_reads(&sdp->x[0]), x_reads(&sdp->x[1]), ew_reads(&sdp->ew) };
	u32 i;

	for (i = 0; i < 3; i++) {
		u32 use = reader[i].use;
		int err;

		if (!wanted[i])
			continue;
		if (reader[i].disable || use > DATA_USE_BOTH ||
		    (alu_from_memory(sdp, i) && use == DATA_USE_MUL) ||
		    (mul_from_memory(sdp, i) && use == DATA_USE_ALU))
			return sim_hang(sdp->sim, "SDP", "%s waits for operands that are not read",
					name[i]);
		err = open_operands(sdp, r, i, &reader[i]);
		if (err)
			return err;
	}
	return 0;
}

static int check(const struct sdp *sdp, const struct npusim_regs *r, const struct npusim_regs *rdma)
{
	if (rdma && SIM_FIELD(rdma, SDP_RDMA, D_FEATURE_MODE_CFG, PROC_PRECISION))
		return sim_hang(sdp->sim, "SDP", "SDP_RDMA's PROC_PRECISION is not INT8");
	if (!sdp->flying && rdma && SIM_FIELD(rdma, SDP_RDMA, D_FEATURE_MODE_CFG, IN_PRECISION))
		return sim_hang(sdp->sim, "SDP", "SDP_RDMA's IN_PRECISION is not INT8");
	if (!sdp->flying && rdma && SIM_FIELD(rdma, SDP_RDMA, D_FEATURE_MODE_CFG, FLYING_MODE))
		return sim_hang(sdp->sim, "SDP", "SDP_RDMA does not read the input");
	if (sdp->atoms > ATOMS_MAX)
		return sim_hang(sdp->sim, "SDP",
				"a cube of %llu atoms is more than the model takes",
				(unsigned long long)sdp->atoms);
	return 0;
}

static int open_pdp(const struct sdp *sdp, struct sim_cube8 *to_pdp)
{
	to_pdp->width = sdp->width;
	to_pdp->height = sdp->height;
	to_pdp->surfaces = sdp->surfaces;
	to_pdp->lanes = sdp->lanes;
	to_pdp->atoms = 0;
	to_pdp->data = malloc(sdp->atoms * sdp->lanes);
	return to_pdp->data ? 0 : -ENOMEM;
}

int sim_sdp_run(struct npusim *sim, const struct npusim_regs *regs, const struct npusim_regs *rdma,
		const struct sim_cube32 *flying, struct sim_cube8 *to_pdp,
		struct sim_task_stats *stats)
{
	struct sdp sdp;
	int err;

	decode(&sdp, sim, regs);
	err = check(&sdp, regs, rdma);
	if (!err)
		err = alloc_runs(&sdp);
	if (!err) {
		fill_register_operands(&sdp);
		if (rdma)
			err = open_readers(&sdp, rdma);
	}
	if (!err && !sdp.flying)
		err = open_source(&sdp, rdma);
	if (!err && to_pdp)
		err = open_pdp(&sdp, to_pdp);
	if (!err)
		err = sdp.half ? walk_half(&sdp) : walk(&sdp, flying, to_pdp);
	note_stats(&sdp, stats);
	release(&sdp);
	return err;
}
