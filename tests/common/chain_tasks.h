/* SPDX-License-Identifier: MIT */
/*
 * Well-formed tasks from shapes, for tests: as plain as the hardware allows, to be changed by the
 * test before chain_task_end().
 */
#ifndef CHAIN_TASKS_H
#define CHAIN_TASKS_H

#include "chain_build.h"
#include "nvdla_cbuf.h"

/* Regions of the tasks made here. */
enum { TASK_WEIGHTS, TASK_INPUT, TASK_OUTPUT, TASK_REGIONS };

/* Operand tables lie behind the weights. */
#define TASK_OPERANDS 0x100000u

/**
 * struct conv_shape - a convolution
 * @w, @h, @c: input that CDMA fetches; @kept: lines above it that are in CBUF already
 * @k, @r, @s: kernels, their height and width
 * @stride_x, @stride_y, @dilation_x, @dilation_y: 0 counts as 1
 * @pixel_format, @image: pixel input
 * @y_extension: of pixel input
 * @data_banks, @weight_banks: 0: as many as needed
 * @release: lines released; 0: all
 * @in, @out, @weights: offsets in their regions
 */
struct conv_shape {
	u32 w, h, c, k, r, s;
	u32 stride_x, stride_y, dilation_x, dilation_y;
	u32 pad_left, pad_right, pad_top, pad_bottom;
	u32 kept;
	bool image;
	u32 pixel_format;
	u32 pixel_offset;
	u32 y_extension;
	u32 data_banks, weight_banks;
	u32 release;
	bool data_reuse, skip_data, weight_reuse, skip_weight;
	u64 in, out, weights;
};

/* Windows along one axis. */
static inline u32 task_windows(u32 padded, u32 kernel, u32 dilation, u32 stride)
{
	return (padded - ((kernel - 1) * dilation + 1)) / stride + 1;
}

#define SHAPE_DEFAULT(x) ((x) ? (x) : 1)

static inline u32 conv_out_w(const struct conv_shape *n)
{
	return task_windows(n->pad_left + n->w + n->pad_right, n->s, SHAPE_DEFAULT(n->dilation_x),
			    SHAPE_DEFAULT(n->stride_x));
}

static inline u32 conv_out_h(const struct conv_shape *n)
{
	return task_windows(n->pad_top + n->kept + n->h + n->pad_bottom, n->r,
			    SHAPE_DEFAULT(n->dilation_y), SHAPE_DEFAULT(n->stride_y));
}

static inline u32 conv_eps(const struct nvdla_config *cfg, const struct conv_shape *n)
{
	return n->image ? nvdla_cbuf_image_eps(cfg, n->pad_left + n->w + n->pad_right, n->c)
			: nvdla_cbuf_feature_eps(cfg, n->w, n->c);
}

static inline u32 conv_data_banks(const struct nvdla_config *cfg, const struct conv_shape *n)
{
	return nvdla_cbuf_data_banks(cfg, conv_eps(cfg, n), n->kept + n->h);
}

static inline u32 conv_weight_banks(const struct nvdla_config *cfg, const struct conv_shape *n)
{
	u32 entries = nvdla_cbuf_group_entries(cfg, n->k, n->c * n->r * n->s, n->weights);

	if (n->skip_weight || n->weight_reuse)
		entries = (u32)nvdla_cbuf_weight_bytes(cfg, n->k, n->c * n->r * n->s) /
			  cfg->entry_bytes;
	return DIV_ROUND_UP(entries, (u32)cfg->entries);
}

static inline u32 task_lines(const struct nvdla_config *cfg, u32 w, u32 bytes)
{
	return DIV_ROUND_UP(w * bytes, (u32)cfg->atom) * cfg->atom;
}

/* SDP as a plain copy of @w x @h x @c elements; destination in region TASK_OUTPUT. */
static inline void task_sdp(struct chain_build *b, const struct nvdla_config *cfg, u32 w, u32 h,
			    u32 c, bool flying, u64 out)
{
	CHAIN_SET(b, SDP, D_DATA_CUBE_WIDTH, w - 1);
	CHAIN_SET(b, SDP, D_DATA_CUBE_HEIGHT, h - 1);
	CHAIN_SET(b, SDP, D_DATA_CUBE_CHANNEL, c - 1);
	CHAIN_SET(b, SDP, D_DST_LINE_STRIDE, w * cfg->atom);
	CHAIN_SET(b, SDP, D_DST_SURFACE_STRIDE, w * h * cfg->atom);
	CHAIN_SET(b, SDP, D_DP_BS_CFG, NVDLA_SET(SDP, D_DP_BS_CFG, BS_BYPASS, 1));
	CHAIN_SET(b, SDP, D_DP_BN_CFG, NVDLA_SET(SDP, D_DP_BN_CFG, BN_BYPASS, 1));
	CHAIN_SET(b, SDP, D_DP_EW_CFG, NVDLA_SET(SDP, D_DP_EW_CFG, EW_BYPASS, 1));
	CHAIN_SET(b, SDP, D_FEATURE_MODE_CFG,
		  NVDLA_SET(SDP, D_FEATURE_MODE_CFG, FLYING_MODE, flying));
	CHAIN_SET(b, SDP, D_DST_DMA_CFG, 1);
	CHAIN_SET(b, SDP, D_CVT_SCALE, 1);
	chain_addr(b, NVDLA_SDP_D_DST_BASE_ADDR_LOW, TASK_OUTPUT, out);
}

static inline void task_sdp_rdma(struct chain_build *b, u32 w, u32 h, u32 c, bool flying)
{
	CHAIN_SET(b, SDP_RDMA, D_DATA_CUBE_WIDTH, w - 1);
	CHAIN_SET(b, SDP_RDMA, D_DATA_CUBE_HEIGHT, h - 1);
	CHAIN_SET(b, SDP_RDMA, D_DATA_CUBE_CHANNEL, c - 1);
	CHAIN_SET(b, SDP_RDMA, D_BRDMA_CFG, 1);
	CHAIN_SET(b, SDP_RDMA, D_NRDMA_CFG, 1);
	CHAIN_SET(b, SDP_RDMA, D_ERDMA_CFG, 1);
	CHAIN_SET(b, SDP_RDMA, D_FEATURE_MODE_CFG,
		  NVDLA_SET(SDP_RDMA, D_FEATURE_MODE_CFG, FLYING_MODE, flying));
}

/* BS adds and multiplies two-byte operands of each channel, from the tables behind the weights. */
static inline void task_bs_table(struct chain_build *b, u32 w, u32 h, u32 c)
{
	task_sdp_rdma(b, w, h, c, true);
	CHAIN_SET(b, SDP_RDMA, D_BRDMA_CFG,
		  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, 2) |
			  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_SIZE, 1) |
			  NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_RAM_TYPE, 1));
	CHAIN_SET(b, SDP, D_DP_BS_CFG, NVDLA_SET(SDP, D_DP_BS_CFG, BS_ALU_ALGO, 2));
	CHAIN_SET(b, SDP, D_DP_BS_ALU_CFG, NVDLA_SET(SDP, D_DP_BS_ALU_CFG, BS_ALU_SRC, 1));
	CHAIN_SET(b, SDP, D_DP_BS_MUL_CFG, NVDLA_SET(SDP, D_DP_BS_MUL_CFG, BS_MUL_SRC, 1));
	chain_addr(b, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW, TASK_WEIGHTS, TASK_OPERANDS);
}

static inline void task_conv_input(struct chain_build *b, const struct nvdla_config *cfg,
				   const struct conv_shape *n)
{
	u32 line = n->w * cfg->atom;
	bool planes = n->image && (n->pixel_format == 28 || n->pixel_format == 29);

	if (n->image)
		line = task_lines(cfg, n->pixel_offset + n->w, planes ? 1 : n->c);
	CHAIN_SET(b, CDMA, D_LINE_STRIDE, line);
	CHAIN_SET(b, CDMA, D_SURF_STRIDE, line * n->h);
	CHAIN_SET(b, CDMA, D_PIXEL_OFFSET, n->pixel_offset);
	chain_addr(b, NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, n->in);
	if (!planes)
		return;
	CHAIN_SET(b, CDMA, D_LINE_UV_STRIDE, task_lines(cfg, n->pixel_offset + n->w, 2));
	chain_addr(b, NVDLA_CDMA_D_DAIN_ADDR_LOW_1, TASK_INPUT, n->in + (u64)line * n->h);
}

static inline void task_cdma(struct chain_build *b, const struct nvdla_config *cfg,
			     const struct conv_shape *n, u32 misc, u32 bank)
{
	u32 size = NVDLA_SET(CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH, n->w - 1) |
		   NVDLA_SET(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT, n->h - 1);

	CHAIN_SET(b, CDMA, D_MISC_CFG, misc);
	CHAIN_SET(b, CDMA, D_DATAIN_FORMAT,
		  NVDLA_SET(CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT, n->image) |
			  NVDLA_SET(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, n->pixel_format));
	CHAIN_SET(b, CDMA, D_DATAIN_SIZE_0, size);
	CHAIN_SET(b, CDMA, D_DATAIN_SIZE_1, n->c - 1);
	CHAIN_SET(b, CDMA, D_DATAIN_SIZE_EXT_0, size);
	CHAIN_SET(b, CDMA, D_DAIN_RAM_TYPE, 1);
	CHAIN_SET(b, CDMA, D_ENTRY_PER_SLICE, conv_eps(cfg, n) - 1);
	CHAIN_SET(b, CDMA, D_FETCH_GRAIN, 0);
	CHAIN_SET(b, CDMA, D_WEIGHT_SIZE_0, n->c * n->r * n->s - 1);
	CHAIN_SET(b, CDMA, D_WEIGHT_SIZE_1, n->k - 1);
	CHAIN_SET(b, CDMA, D_WEIGHT_RAM_TYPE, 1);
	CHAIN_SET(b, CDMA, D_WEIGHT_BYTES,
		  (u32)nvdla_cbuf_weight_bytes(cfg, n->k, n->c * n->r * n->s));
	CHAIN_SET(b, CDMA, D_CVT_SCALE, 1);
	CHAIN_SET(b, CDMA, D_CONV_STRIDE,
		  NVDLA_SET(CDMA, D_CONV_STRIDE, CONV_X_STRIDE, SHAPE_DEFAULT(n->stride_x) - 1) |
			  NVDLA_SET(CDMA, D_CONV_STRIDE, CONV_Y_STRIDE,
				    SHAPE_DEFAULT(n->stride_y) - 1));
	CHAIN_SET(b, CDMA, D_ZERO_PADDING,
		  NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_LEFT, n->pad_left) |
			  NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_RIGHT, n->pad_right) |
			  NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_TOP, n->pad_top) |
			  NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_BOTTOM, n->pad_bottom));
	CHAIN_SET(b, CDMA, D_BANK, bank);
	task_conv_input(b, cfg, n);
	chain_addr(b, NVDLA_CDMA_D_WEIGHT_ADDR_LOW, TASK_WEIGHTS, n->weights);
}

static inline void task_csc(struct chain_build *b, const struct nvdla_config *cfg,
			    const struct conv_shape *n, u32 misc, u32 bank)
{
	u32 out_w = conv_out_w(n), out_h = conv_out_h(n), rows = n->kept + n->h;
	u32 release = n->release ? n->release : rows;

	CHAIN_SET(b, CSC, D_MISC_CFG, misc);
	CHAIN_SET(b, CSC, D_DATAIN_FORMAT, n->image);
	CHAIN_SET(b, CSC, D_DATAIN_SIZE_EXT_0,
		  NVDLA_SET(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, n->w - 1) |
			  NVDLA_SET(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, rows - 1));
	CHAIN_SET(b, CSC, D_DATAIN_SIZE_EXT_1, n->c - 1);
	CHAIN_SET(b, CSC, D_POST_Y_EXTENSION, n->y_extension);
	CHAIN_SET(b, CSC, D_ENTRY_PER_SLICE, conv_eps(cfg, n) - 1);
	CHAIN_SET(b, CSC, D_WEIGHT_SIZE_EXT_0,
		  NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, n->image ? 0 : n->s - 1) |
			  NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT, n->r - 1));
	CHAIN_SET(b, CSC, D_WEIGHT_SIZE_EXT_1,
		  NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT,
			    n->image ? n->c * n->s - 1 : n->c - 1) |
			  NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL, n->k - 1));
	CHAIN_SET(b, CSC, D_WEIGHT_BYTES,
		  (u32)nvdla_cbuf_weight_bytes(cfg, n->k, n->c * n->r * n->s));
	CHAIN_SET(b, CSC, D_DATAOUT_SIZE_0,
		  NVDLA_SET(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, out_w - 1) |
			  NVDLA_SET(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, out_h - 1));
	CHAIN_SET(b, CSC, D_DATAOUT_SIZE_1, n->k - 1);
	CHAIN_SET(b, CSC, D_ATOMICS, out_w * out_h - 1);
	CHAIN_SET(b, CSC, D_RELEASE, release - 1);
	CHAIN_SET(b, CSC, D_CONV_STRIDE_EXT,
		  NVDLA_SET(CSC, D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT,
			    SHAPE_DEFAULT(n->stride_x) - 1) |
			  NVDLA_SET(CSC, D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT,
				    SHAPE_DEFAULT(n->stride_y) - 1));
	CHAIN_SET(b, CSC, D_DILATION_EXT,
		  NVDLA_SET(CSC, D_DILATION_EXT, X_DILATION_EXT, SHAPE_DEFAULT(n->dilation_x) - 1) |
			  NVDLA_SET(CSC, D_DILATION_EXT, Y_DILATION_EXT,
				    SHAPE_DEFAULT(n->dilation_y) - 1));
	CHAIN_SET(b, CSC, D_ZERO_PADDING,
		  NVDLA_SET(CSC, D_ZERO_PADDING, PAD_LEFT, n->pad_left) |
			  NVDLA_SET(CSC, D_ZERO_PADDING, PAD_TOP, n->pad_top));
	CHAIN_SET(b, CSC, D_BANK, bank);
	CHAIN_SET(b, CACC, D_DATAOUT_SIZE_0, chain_get(b, NVDLA_CSC_D_DATAOUT_SIZE_0));
	CHAIN_SET(b, CACC, D_DATAOUT_SIZE_1, n->k - 1);
}

/* A convolution with SDP as a plain copy.  chain_task_end() is the caller's. */
static inline void chain_conv(struct chain_build *b, const struct nvdla_config *cfg,
			      const struct conv_shape *n, u32 label)
{
	u32 data = n->data_banks ? n->data_banks : conv_data_banks(cfg, n);
	u32 weight = n->weight_banks ? n->weight_banks : conv_weight_banks(cfg, n);
	u32 bank = NVDLA_SET(CDMA, D_BANK, DATA_BANK, data - 1) |
		   NVDLA_SET(CDMA, D_BANK, WEIGHT_BANK, weight - 1);
	u32 misc = NVDLA_SET(CDMA, D_MISC_CFG, DATA_REUSE, n->data_reuse) |
		   NVDLA_SET(CDMA, D_MISC_CFG, SKIP_DATA_RLS, n->skip_data) |
		   NVDLA_SET(CDMA, D_MISC_CFG, WEIGHT_REUSE, n->weight_reuse) |
		   NVDLA_SET(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS, n->skip_weight);

	chain_task(b, NVDLA_CHAIN_CONV, label);
	task_cdma(b, cfg, n, misc, bank);
	task_csc(b, cfg, n, misc, bank);
	task_sdp(b, cfg, conv_out_w(n), conv_out_h(n), n->k, true, n->out);
}

/* SDP from memory to memory. */
static inline void chain_sdp(struct chain_build *b, const struct nvdla_config *cfg, u32 w, u32 h,
			     u32 c, u64 in, u64 out, u32 label)
{
	chain_task(b, NVDLA_CHAIN_SDP, label);
	task_sdp(b, cfg, w, h, c, false, out);
	task_sdp_rdma(b, w, h, c, false);
	CHAIN_SET(b, SDP_RDMA, D_SRC_LINE_STRIDE, w * cfg->atom);
	CHAIN_SET(b, SDP_RDMA, D_SRC_SURFACE_STRIDE, w * h * cfg->atom);
	CHAIN_SET(b, SDP_RDMA, D_SRC_DMA_CFG, 1);
	chain_addr(b, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, TASK_INPUT, in);
}

/**
 * struct pool_shape - a pooling
 * @method: 0 average, 1 max, 2 min
 * @first_out, @mid_out, @parts: split of the width; parts 0: none
 */
struct pool_shape {
	u32 w, h, c;
	u32 kernel_w, kernel_h, stride_w, stride_h;
	u32 pad_left, pad_right, pad_top, pad_bottom;
	u32 method;
	u32 parts, first_out, mid_out;
	u64 in, out;
};

static inline u32 pool_out_w(const struct pool_shape *p)
{
	return task_windows(p->pad_left + p->w + p->pad_right, p->kernel_w, 1, p->stride_w);
}

static inline u32 pool_out_h(const struct pool_shape *p)
{
	return task_windows(p->pad_top + p->h + p->pad_bottom, p->kernel_h, 1, p->stride_h);
}

static inline void task_pool_split(struct chain_build *b, const struct pool_shape *p)
{
	u32 middle = p->parts - 2;
	u32 first = (p->first_out - 1) * p->stride_w + p->kernel_w - p->pad_left;
	u32 mid = middle ? p->mid_out * p->stride_w : 1;
	u32 mid_out = middle ? p->mid_out : 1;
	u32 last = p->w - first - middle * mid;
	u32 last_out = pool_out_w(p) - p->first_out - middle * mid_out;
	u32 in = NVDLA_SET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST, first - 1) |
		 NVDLA_SET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID, mid - 1) |
		 NVDLA_SET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST, last - 1);

	CHAIN_SET(b, PDP, D_PARTIAL_WIDTH_IN, in);
	CHAIN_SET(b, PDP_RDMA, D_PARTIAL_WIDTH_IN, in);
	CHAIN_SET(b, PDP, D_PARTIAL_WIDTH_OUT,
		  NVDLA_SET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, p->first_out - 1) |
			  NVDLA_SET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_MID, mid_out - 1) |
			  NVDLA_SET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST,
				    last_out - 1));
	CHAIN_SET(b, PDP_RDMA, D_OPERATION_MODE_CFG, p->parts - 1);
}

/* PDP, alone or behind SDP; destination in region TASK_OUTPUT. */
static inline void task_pdp(struct chain_build *b, const struct nvdla_config *cfg,
			    const struct pool_shape *p, bool flying)
{
	u32 out_w = pool_out_w(p), out_h = pool_out_h(p);

	CHAIN_SET(b, PDP, D_DATA_CUBE_IN_WIDTH, p->w - 1);
	CHAIN_SET(b, PDP, D_DATA_CUBE_IN_HEIGHT, p->h - 1);
	CHAIN_SET(b, PDP, D_DATA_CUBE_IN_CHANNEL, p->c - 1);
	CHAIN_SET(b, PDP, D_DATA_CUBE_OUT_WIDTH, out_w - 1);
	CHAIN_SET(b, PDP, D_DATA_CUBE_OUT_HEIGHT, out_h - 1);
	CHAIN_SET(b, PDP, D_DATA_CUBE_OUT_CHANNEL, p->c - 1);
	CHAIN_SET(b, PDP, D_OPERATION_MODE_CFG,
		  NVDLA_SET(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD, p->method) |
			  NVDLA_SET(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, !flying) |
			  NVDLA_SET(PDP, D_OPERATION_MODE_CFG, SPLIT_NUM,
				    p->parts ? p->parts - 1 : 0));
	CHAIN_SET(b, PDP, D_POOLING_KERNEL_CFG,
		  NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH, p->kernel_w - 1) |
			  NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT, p->kernel_h - 1) |
			  NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH,
				    p->stride_w - 1) |
			  NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT,
				    p->stride_h - 1));
	CHAIN_SET(b, PDP, D_RECIP_KERNEL_WIDTH, 0x10000 / p->kernel_w);
	CHAIN_SET(b, PDP, D_RECIP_KERNEL_HEIGHT, 0x10000 / p->kernel_h);
	CHAIN_SET(b, PDP, D_POOLING_PADDING_CFG,
		  NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_LEFT, p->pad_left) |
			  NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_TOP, p->pad_top) |
			  NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT, p->pad_right) |
			  NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM, p->pad_bottom));
	CHAIN_SET(b, PDP, D_DST_LINE_STRIDE, out_w * cfg->atom);
	CHAIN_SET(b, PDP, D_DST_SURFACE_STRIDE, out_w * out_h * cfg->atom);
	CHAIN_SET(b, PDP, D_DST_RAM_CFG, 1);
	chain_addr(b, NVDLA_PDP_D_DST_BASE_ADDR_LOW, TASK_OUTPUT, p->out);
}

/* PDP from memory to memory. */
static inline void chain_pdp(struct chain_build *b, const struct nvdla_config *cfg,
			     const struct pool_shape *p, u32 label)
{
	chain_task(b, NVDLA_CHAIN_PDP, label);
	task_pdp(b, cfg, p, false);
	CHAIN_SET(b, PDP_RDMA, D_DATA_CUBE_IN_WIDTH, p->w - 1);
	CHAIN_SET(b, PDP_RDMA, D_DATA_CUBE_IN_HEIGHT, p->h - 1);
	CHAIN_SET(b, PDP_RDMA, D_DATA_CUBE_IN_CHANNEL, p->c - 1);
	CHAIN_SET(b, PDP_RDMA, D_FLYING_MODE, 1);
	CHAIN_SET(b, PDP_RDMA, D_SRC_LINE_STRIDE, p->w * cfg->atom);
	CHAIN_SET(b, PDP_RDMA, D_SRC_SURFACE_STRIDE, p->w * p->h * cfg->atom);
	CHAIN_SET(b, PDP_RDMA, D_SRC_RAM_CFG, 1);
	CHAIN_SET(b, PDP_RDMA, D_POOLING_KERNEL_CFG,
		  NVDLA_SET(PDP_RDMA, D_POOLING_KERNEL_CFG, KERNEL_WIDTH, p->kernel_w - 1) |
			  NVDLA_SET(PDP_RDMA, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH,
				    p->stride_w - 1));
	CHAIN_SET(b, PDP_RDMA, D_POOLING_PADDING_CFG, p->pad_left);
	chain_addr(b, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW, TASK_INPUT, p->in);
	if (p->parts > 1)
		task_pool_split(b, p);
}

/* The convolution that was just made hands its result to PDP instead of memory. */
static inline void task_pool_behind(struct chain_build *b, const struct nvdla_config *cfg,
				    const struct pool_shape *p)
{
	u32 i;

	CHAIN_SET(b, SDP, D_FEATURE_MODE_CFG,
		  chain_get(b, NVDLA_SDP_D_FEATURE_MODE_CFG) |
			  NVDLA_SET(SDP, D_FEATURE_MODE_CFG, OUTPUT_DST, 1));
	for (i = 0; i < b->addr_count; i++)
		if (b->addr[i].reg == NVDLA_SDP_D_DST_BASE_ADDR_LOW)
			b->addr[i--] = b->addr[--b->addr_count];
	task_pdp(b, cfg, p, true);
}

/* Both tables, with entries that count up. */
static inline void task_tables(struct chain_build *b)
{
	s16 entry[257];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(entry); i++)
		entry[i] = (s16)(i * 3 - 300);
	chain_lut(b, 0, entry, 65);
	chain_lut(b, 1, entry, 257);
}

/* CDP from memory to memory, with its tables. */
static inline void chain_cdp(struct chain_build *b, const struct nvdla_config *cfg, u32 w, u32 h,
			     u32 c, u64 in, u64 out, bool tables, u32 label)
{
	chain_task(b, NVDLA_CHAIN_CDP, label);
	CHAIN_SET(b, CDP_RDMA, D_DATA_CUBE_WIDTH, w - 1);
	CHAIN_SET(b, CDP_RDMA, D_DATA_CUBE_HEIGHT, h - 1);
	CHAIN_SET(b, CDP_RDMA, D_DATA_CUBE_CHANNEL, c - 1);
	CHAIN_SET(b, CDP_RDMA, D_SRC_LINE_STRIDE, w * cfg->atom);
	CHAIN_SET(b, CDP_RDMA, D_SRC_SURFACE_STRIDE, w * h * cfg->atom);
	CHAIN_SET(b, CDP_RDMA, D_SRC_DMA_CFG, 1);
	CHAIN_SET(b, CDP, D_DST_LINE_STRIDE, w * cfg->atom);
	CHAIN_SET(b, CDP, D_DST_SURFACE_STRIDE, w * h * cfg->atom);
	CHAIN_SET(b, CDP, D_DST_DMA_CFG, 1);
	CHAIN_SET(b, CDP, D_DATIN_SCALE, 1);
	CHAIN_SET(b, CDP, D_DATOUT_SCALE, 1);
	CHAIN_SET(b, CDP, S_LUT_LE_END_LOW, 64);
	CHAIN_SET(b, CDP, S_LUT_LO_END_LOW, 256);
	chain_addr(b, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW, TASK_INPUT, in);
	chain_addr(b, NVDLA_CDP_D_DST_BASE_ADDR_LOW, TASK_OUTPUT, out);
	if (tables)
		task_tables(b);
}

#endif /* CHAIN_TASKS_H */
