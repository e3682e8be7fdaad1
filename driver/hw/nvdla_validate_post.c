// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The units behind the convolution: SDP, PDP and CDP, in memory mode or on the fly.
 */
#include "nvdla_pdp.h"
#include "nvdla_validate.h"

/* A stage of SDP and its part of SDP_RDMA; BS, BN and EW share all field positions. */
struct sdp_stage {
	u32 cfg;
	u32 alu_cfg;
	u32 mul_cfg;
	u32 rdma_cfg;
	u32 low;
	u32 line_reg;
	u32 surface_reg;
};

#define STAGE(stage, rdma)                                                               \
	{                                                                                \
		NVDLA_SDP_D_DP_##stage##_CFG, NVDLA_SDP_D_DP_##stage##_ALU_CFG,          \
			NVDLA_SDP_D_DP_##stage##_MUL_CFG, NVDLA_SDP_RDMA_D_##rdma##_CFG, \
			NVDLA_SDP_RDMA_D_##stage##_BASE_ADDR_LOW,                        \
			NVDLA_SDP_RDMA_D_##stage##_LINE_STRIDE,                          \
			NVDLA_SDP_RDMA_D_##stage##_SURFACE_STRIDE                        \
	}

static const struct sdp_stage sdp_stages[] = {
	STAGE(BS, BRDMA),
	STAGE(BN, NRDMA),
	STAGE(EW, ERDMA),
};

/* BRDMA_DATA_USE */
enum operand_use { USE_MUL, USE_ALU, USE_BOTH, USE_NONE };

/* Which operands the stage takes from memory. */
static enum operand_use stage_takes(const struct nvdla_task_view *v, const struct sdp_stage *s)
{
	u32 cfg = nvdla_view_reg(v, s->cfg);
	bool off = NVDLA_GET(SDP, D_DP_BS_CFG, BS_BYPASS, cfg);
	bool alu = !off && !NVDLA_GET(SDP, D_DP_BS_CFG, BS_ALU_BYPASS, cfg) &&
		   NVDLA_GET(SDP, D_DP_BS_ALU_CFG, BS_ALU_SRC, nvdla_view_reg(v, s->alu_cfg));
	bool mul = !off && !NVDLA_GET(SDP, D_DP_BS_CFG, BS_MUL_BYPASS, cfg) &&
		   NVDLA_GET(SDP, D_DP_BS_MUL_CFG, BS_MUL_SRC, nvdla_view_reg(v, s->mul_cfg));

	if (alu && mul)
		return USE_BOTH;
	return alu ? USE_ALU : mul ? USE_MUL : USE_NONE;
}

/* Which operands SDP_RDMA fetches for it. */
static enum operand_use stage_gets(const struct nvdla_task_view *v, const struct sdp_stage *s)
{
	u32 cfg = nvdla_view_reg(v, s->rdma_cfg);

	if (!nvdla_view_runs(v, NVDLA_UNIT_SDP_RDMA) ||
	    NVDLA_GET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE, cfg))
		return USE_NONE;
	return (enum operand_use)NVDLA_GET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, cfg);
}

struct cube {
	u32 w, h, c;
};

/* Operands are stored like features, with more bytes an element, or as a table for the channels. */
static struct nvdla_surface operand_surface(const struct nvdla_task_view *v,
					    const struct sdp_stage *s, const struct cube *cube,
					    u32 atom_bytes)
{
	u32 cfg = nvdla_view_reg(v, s->rdma_cfg);
	u32 surfaces = DIV_ROUND_UP(cube->c, (u32)v->cfg->atom);
	struct nvdla_surface surface = {
		.line_bytes = cube->w * atom_bytes,
		.lines = cube->h,
		.surfaces = surfaces,
		.line_stride = nvdla_view_reg(v, s->line_reg),
		.surface_stride = nvdla_view_reg(v, s->surface_reg),
	};

	/* A plane of one element is packed whatever the stride says. */
	if (!NVDLA_GET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_MODE, cfg) ||
	    (cube->w == 1 && cube->h == 1))
		return nvdla_surface_flat(surfaces * atom_bytes);
	return surface;
}

static int check_stage(const struct nvdla_task_view *v, const struct sdp_stage *s,
		       const struct cube *cube, struct nvdla_access_list *list)
{
	enum operand_use takes = stage_takes(v, s), gets = stage_gets(v, s);
	u32 cfg = nvdla_view_reg(v, s->rdma_cfg);
	u32 bytes = NVDLA_GET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_SIZE, cfg) ? 2 : 1;
	struct nvdla_access_want want = {
		.low = s->low,
		.line_reg = s->line_reg,
		.surface_reg = s->surface_reg,
		.port_reg = s->rdma_cfg,
		.port = NVDLA_GET(SDP_RDMA, D_BRDMA_CFG, BRDMA_RAM_TYPE, cfg),
	};

	if (takes != gets)
		return nvdla_refuse(v, s->rdma_cfg,
				    "operands that SDP takes (0 MUL, 1 ALU, 2 both, 3 none)", gets,
				    takes);
	if (gets == USE_NONE)
		return 0;
	want.surface =
		operand_surface(v, s, cube, v->cfg->atom * bytes * (gets == USE_BOTH ? 2 : 1));
	return nvdla_access_add(v, list, &want);
}

/* SDP packs planes of one element, so strides do not count there. */
static struct nvdla_surface sdp_surface(const struct nvdla_task_view *v, const struct cube *cube,
					u32 line_stride, u32 surface_stride)
{
	if (cube->w == 1 && cube->h == 1)
		return nvdla_surface_flat(DIV_ROUND_UP(cube->c, (u32)v->cfg->atom) * v->cfg->atom);
	return nvdla_surface_feature(v->cfg, cube->w, cube->h, cube->c, line_stride,
				     surface_stride);
}

static int add_sdp_source(const struct nvdla_task_view *v, const struct cube *cube,
			  struct nvdla_access_list *list)
{
	struct nvdla_access_want want = {
		.low = NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW,
		.line_reg = NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE,
		.surface_reg = NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE,
		.port_reg = NVDLA_SDP_RDMA_D_SRC_DMA_CFG,
		.port = VIEW(v, SDP_RDMA, D_SRC_DMA_CFG, SRC_RAM_TYPE),
		.surface = sdp_surface(v, cube,
				       VIEW(v, SDP_RDMA, D_SRC_LINE_STRIDE, SRC_LINE_STRIDE),
				       VIEW(v, SDP_RDMA, D_SRC_SURFACE_STRIDE, SRC_SURFACE_STRIDE)),
	};

	return nvdla_access_add(v, list, &want);
}

static int add_sdp_destination(const struct nvdla_task_view *v, const struct cube *cube,
			       struct nvdla_access_list *list)
{
	struct nvdla_access_want want = {
		.low = NVDLA_SDP_D_DST_BASE_ADDR_LOW,
		.line_reg = NVDLA_SDP_D_DST_LINE_STRIDE,
		.surface_reg = NVDLA_SDP_D_DST_SURFACE_STRIDE,
		.port_reg = NVDLA_SDP_D_DST_DMA_CFG,
		.port = VIEW(v, SDP, D_DST_DMA_CFG, DST_RAM_TYPE),
		.write = true,
		.surface = sdp_surface(v, cube, VIEW(v, SDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE),
				       VIEW(v, SDP, D_DST_SURFACE_STRIDE, DST_SURFACE_STRIDE)),
	};

	return nvdla_access_add(v, list, &want);
}

int nvdla_check_sdp(const struct nvdla_task_view *v, struct nvdla_access_list *list)
{
	u32 flying = VIEW(v, SDP, D_FEATURE_MODE_CFG, FLYING_MODE);
	bool conv = v->kind == NVDLA_CHAIN_CONV;
	struct cube cube = {
		.w = VIEW_SIZE(v, SDP, D_DATA_CUBE_WIDTH, WIDTH),
		.h = VIEW_SIZE(v, SDP, D_DATA_CUBE_HEIGHT, HEIGHT),
		.c = VIEW_SIZE(v, SDP, D_DATA_CUBE_CHANNEL, CHANNEL),
	};
	int err = 0;
	u32 i;

	if (flying != conv)
		return nvdla_refuse(v, NVDLA_SDP_D_FEATURE_MODE_CFG,
				    "FLYING_MODE behind a convolution only", flying, conv);
	if (!conv)
		err = add_sdp_source(v, &cube, list);
	for (i = 0; !err && i < ARRAY_SIZE(sdp_stages); i++)
		err = check_stage(v, &sdp_stages[i], &cube, list);
	if (!err && !VIEW(v, SDP, D_FEATURE_MODE_CFG, OUTPUT_DST))
		err = add_sdp_destination(v, &cube, list);
	return err;
}

struct pool {
	u32 in_w, in_h, out_w, out_h, c;
	u32 kernel_w, kernel_h, stride_w, stride_h;
	u32 pad_left, pad_right, pad_top, pad_bottom;
	u32 parts;
};

static void read_pool(const struct nvdla_task_view *v, struct pool *p)
{
	p->in_w = VIEW_SIZE(v, PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH);
	p->in_h = VIEW_SIZE(v, PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT);
	p->out_w = VIEW_SIZE(v, PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH);
	p->out_h = VIEW_SIZE(v, PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT);
	p->c = VIEW_SIZE(v, PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL);
	p->kernel_w = VIEW_SIZE(v, PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH);
	p->kernel_h = VIEW_SIZE(v, PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT);
	p->stride_w = VIEW_SIZE(v, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH);
	p->stride_h = VIEW_SIZE(v, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT);
	p->pad_left = VIEW(v, PDP, D_POOLING_PADDING_CFG, PAD_LEFT);
	p->pad_right = VIEW(v, PDP, D_POOLING_PADDING_CFG, PAD_RIGHT);
	p->pad_top = VIEW(v, PDP, D_POOLING_PADDING_CFG, PAD_TOP);
	p->pad_bottom = VIEW(v, PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM);
	p->parts = VIEW_SIZE(v, PDP, D_OPERATION_MODE_CFG, SPLIT_NUM);
}

static int check_pool_geometry(const struct nvdla_task_view *v, const struct pool *p)
{
	u32 wide = p->pad_left + p->in_w + p->pad_right;
	u32 high = p->pad_top + p->in_h + p->pad_bottom;
	u32 covered_w = (p->out_w - 1) * p->stride_w + p->kernel_w;
	u32 covered_h = (p->out_h - 1) * p->stride_h + p->kernel_h;

	if (p->pad_left >= p->kernel_w || p->pad_right >= p->kernel_w)
		return nvdla_refuse(v, NVDLA_PDP_D_POOLING_PADDING_CFG,
				    "padding smaller than the kernel",
				    max(p->pad_left, p->pad_right), p->kernel_w - 1);
	if (p->pad_top >= p->kernel_h || p->pad_bottom >= p->kernel_h)
		return nvdla_refuse(v, NVDLA_PDP_D_POOLING_PADDING_CFG,
				    "padding smaller than the kernel",
				    max(p->pad_top, p->pad_bottom), p->kernel_h - 1);
	if (covered_w > wide || wide - covered_w >= p->stride_w)
		return nvdla_refuse(v, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH,
				    "as many windows as input and padding hold", covered_w, wide);
	if (covered_h > high || high - covered_h >= p->stride_h)
		return nvdla_refuse(v, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT,
				    "as many windows as input and padding hold", covered_h, high);
	/* Rows that stay unread spoil this operation or the next (seen on the RTL). */
	if (covered_h != high)
		return nvdla_refuse(v, NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT,
				    "no unread rows at the bottom", high, covered_h);
	/* Padding behind the last window comes out in later values (seen on the RTL). */
	if (p->pad_right && covered_w != wide)
		return nvdla_refuse(v, NVDLA_PDP_D_POOLING_PADDING_CFG,
				    "no padding that no window covers", wide, covered_w);
	return 0;
}

/* Width of one pass, or of the parts of a split. */
static int check_pool_width(const struct nvdla_task_view *v, const struct pool *p)
{
	u32 limit = nvdla_pdp_width_limit(p->kernel_h, p->stride_h);
	u32 part_in = nvdla_view_reg(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN);
	u32 part_out = nvdla_view_reg(v, NVDLA_PDP_D_PARTIAL_WIDTH_OUT);
	u32 middle = p->parts > 2 ? p->parts - 2 : 0;
	u32 first_in, mid_in, last_in, first_out, mid_out, last_out, sum, want;

	if (p->parts == 1) {
		if (part_in || part_out)
			return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN,
					    "no parts without a split", part_in | part_out, 0);
		if (p->out_w > limit)
			return nvdla_refuse(v, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH,
					    "output that the line buffer holds", p->out_w, limit);
		return 0;
	}
	first_in = NVDLA_GET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST, part_in) + 1;
	mid_in = NVDLA_GET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID, part_in) + 1;
	last_in = NVDLA_GET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST, part_in) + 1;
	first_out = NVDLA_GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, part_out) + 1;
	mid_out = NVDLA_GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID, part_out) + 1;
	last_out = NVDLA_GET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST, part_out) + 1;
	if (!middle && (mid_in != 1 || mid_out != 1))
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN,
				    "no middle part in a split by two", mid_in - 1, 0);
	if (max(first_out, max(mid_out, last_out)) > limit)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_OUT,
				    "output that the line buffer holds",
				    max(first_out, max(mid_out, last_out)), limit);
	sum = first_out + middle * mid_out + last_out;
	if (sum != p->out_w)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_OUT,
				    "parts that add up to the output", sum, p->out_w);
	sum = first_in + middle * mid_in + last_in;
	if (sum != p->in_w)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN,
				    "parts that add up to the input", sum, p->in_w);
	want = (first_out - 1) * p->stride_w + p->kernel_w - p->pad_left;
	if (first_in != want)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN,
				    "columns of the first part's windows", first_in, want);
	if (first_out * p->stride_w < p->pad_left)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_OUT,
				    "no padding at the left of the second part",
				    first_out * p->stride_w, p->pad_left);
	if (last_in + p->kernel_w <= p->stride_w)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN,
				    "columns of the last part's windows", last_in,
				    p->stride_w - p->kernel_w + 1);
	if (middle && mid_in != mid_out * p->stride_w)
		return nvdla_refuse(v, NVDLA_PDP_D_PARTIAL_WIDTH_IN,
				    "columns of a middle part's windows", mid_in,
				    mid_out * p->stride_w);
	return 0;
}

static int add_pool(const struct nvdla_task_view *v, const struct pool *p,
		    struct nvdla_access_list *list)
{
	u32 in_line = VIEW(v, PDP_RDMA, D_SRC_LINE_STRIDE, SRC_LINE_STRIDE);
	u32 in_surface = VIEW(v, PDP_RDMA, D_SRC_SURFACE_STRIDE, SRC_SURFACE_STRIDE);
	struct nvdla_access_want source = {
		.low = NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW,
		.line_reg = NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE,
		.surface_reg = NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE,
		.port_reg = NVDLA_PDP_RDMA_D_SRC_RAM_CFG,
		.port = VIEW(v, PDP_RDMA, D_SRC_RAM_CFG, SRC_RAM_TYPE),
		.surface =
			nvdla_surface_feature(v->cfg, p->in_w, p->in_h, p->c, in_line, in_surface),
	};
	struct nvdla_access_want destination = {
		.low = NVDLA_PDP_D_DST_BASE_ADDR_LOW,
		.line_reg = NVDLA_PDP_D_DST_LINE_STRIDE,
		.surface_reg = NVDLA_PDP_D_DST_SURFACE_STRIDE,
		.port_reg = NVDLA_PDP_D_DST_RAM_CFG,
		.port = VIEW(v, PDP, D_DST_RAM_CFG, DST_RAM_TYPE),
		.write = true,
		.surface = nvdla_surface_feature(v->cfg, p->out_w, p->out_h, p->c,
						 VIEW(v, PDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE),
						 VIEW(v, PDP, D_DST_SURFACE_STRIDE,
						      DST_SURFACE_STRIDE)),
	};
	int err = 0;

	if (nvdla_view_runs(v, NVDLA_UNIT_PDP_RDMA))
		err = nvdla_access_add(v, list, &source);
	if (!err)
		err = nvdla_access_add(v, list, &destination);
	return err;
}

int nvdla_check_pdp(const struct nvdla_task_view *v, struct nvdla_access_list *list)
{
	u32 from_memory = VIEW(v, PDP, D_OPERATION_MODE_CFG, FLYING_MODE);
	bool alone = v->kind == NVDLA_CHAIN_PDP;
	struct pool p;
	int err;

	read_pool(v, &p);
	if (from_memory != alone)
		return nvdla_refuse(v, NVDLA_PDP_D_OPERATION_MODE_CFG,
				    "FLYING_MODE 1 (from memory) where PDP is alone, 0 behind SDP",
				    from_memory, alone);
	if (!alone && p.parts != 1)
		return nvdla_refuse(v, NVDLA_PDP_D_OPERATION_MODE_CFG, "no split behind SDP",
				    p.parts - 1, 0);
	err = check_pool_geometry(v, &p);
	if (!err)
		err = check_pool_width(v, &p);
	if (!err)
		err = add_pool(v, &p, list);
	return err;
}

int nvdla_check_cdp(const struct nvdla_task_view *v, struct nvdla_access_list *list)
{
	u32 w = VIEW_SIZE(v, CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH);
	u32 h = VIEW_SIZE(v, CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT);
	u32 c = VIEW_SIZE(v, CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNEL);
	u32 in_line = VIEW(v, CDP_RDMA, D_SRC_LINE_STRIDE, SRC_LINE_STRIDE);
	u32 in_surface = VIEW(v, CDP_RDMA, D_SRC_SURFACE_STRIDE, SRC_SURFACE_STRIDE);
	u32 out_line = VIEW(v, CDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE);
	u32 out_surface = VIEW(v, CDP, D_DST_SURFACE_STRIDE, DST_SURFACE_STRIDE);
	struct nvdla_access_want source = {
		.low = NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW,
		.line_reg = NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE,
		.surface_reg = NVDLA_CDP_RDMA_D_SRC_SURFACE_STRIDE,
		.port_reg = NVDLA_CDP_RDMA_D_SRC_DMA_CFG,
		.port = VIEW(v, CDP_RDMA, D_SRC_DMA_CFG, SRC_RAM_TYPE),
		.surface = nvdla_surface_feature(v->cfg, w, h, c, in_line, in_surface),
	};
	struct nvdla_access_want destination = {
		.low = NVDLA_CDP_D_DST_BASE_ADDR_LOW,
		.line_reg = NVDLA_CDP_D_DST_LINE_STRIDE,
		.surface_reg = NVDLA_CDP_D_DST_SURFACE_STRIDE,
		.port_reg = NVDLA_CDP_D_DST_DMA_CFG,
		.port = VIEW(v, CDP, D_DST_DMA_CFG, DST_RAM_TYPE),
		.write = true,
		.surface = nvdla_surface_feature(v->cfg, w, h, c, out_line, out_surface),
	};
	int err;

	err = nvdla_access_add(v, list, &source);
	if (!err)
		err = nvdla_access_add(v, list, &destination);
	return err;
}
