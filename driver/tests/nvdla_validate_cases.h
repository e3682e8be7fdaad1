/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Cases of the validator: for each rule a stream that is accepted and the same
 * stream with one change that is refused, for the right reason.  KUnit runs them in
 * the kernel, the unit tests in user space.
 */
#ifndef NVDLA_VALIDATE_CASES_H
#define NVDLA_VALIDATE_CASES_H

#include "../../tests/common/chain_tasks.h"
#include "nvdla_config.h"
#include "nvdla_validate.h"

/* ---- well-formed tasks to start from; each leaves its last task open ---- */

static const struct conv_shape nvdla_case_conv = {
	.w = 8,
	.h = 7,
	.c = 20,
	.k = 13,
	.r = 3,
	.s = 3,
	.pad_left = 1,
	.pad_right = 1,
	.pad_top = 1,
	.pad_bottom = 1,
};

static inline void nvdla_make_conv(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_conv(b, cfg, &nvdla_case_conv, 7);
}

static inline void nvdla_make_dilated(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct conv_shape n = { .w = 9,
				.h = 9,
				.c = 8,
				.k = 8,
				.r = 3,
				.s = 3,
				.stride_x = 2,
				.stride_y = 2,
				.dilation_x = 2,
				.dilation_y = 2 };

	chain_conv(b, cfg, &n, 7);
}

static inline void nvdla_make_bs_table(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_conv(b, cfg, &nvdla_case_conv, 7);
	task_bs_table(b, 8, 7, 13);
}

static inline void nvdla_make_image(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct conv_shape n = { .w = 20,
				.h = 10,
				.c = 4,
				.k = 8,
				.r = 3,
				.s = 3,
				.stride_x = 1,
				.pad_left = 1,
				.image = true,
				.pixel_format = 12 };

	chain_conv(b, cfg, &n, 7);
}

/* Two kernel rows side by side; steps of four pixels are as wide as the MAC array. */
static inline void nvdla_make_rows(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct conv_shape n = { .w = 13,
				.h = 4,
				.c = 1,
				.k = 8,
				.r = 2,
				.s = 3,
				.stride_x = 4,
				.image = true,
				.pixel_format = 0,
				.y_extension = 1 };

	chain_conv(b, cfg, &n, 7);
}

static inline void nvdla_make_planes(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct conv_shape n = {
		.w = 20, .h = 10, .c = 3, .k = 8, .r = 3, .s = 3, .image = true, .pixel_format = 28
	};

	chain_conv(b, cfg, &n, 7);
}

static inline void nvdla_make_conv_pool(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct pool_shape p = { .w = 8,
				.h = 7,
				.c = 13,
				.kernel_w = 2,
				.kernel_h = 3,
				.stride_w = 2,
				.stride_h = 2,
				.method = 1 };

	chain_conv(b, cfg, &nvdla_case_conv, 7);
	task_pool_behind(b, cfg, &p);
}

static inline void nvdla_make_sdp(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_sdp(b, cfg, 6, 5, 20, 0, 0x1000, 7);
}

static inline void nvdla_make_pool(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct pool_shape p = { .w = 9,
				.h = 8,
				.c = 20,
				.kernel_w = 3,
				.kernel_h = 2,
				.stride_w = 2,
				.stride_h = 2,
				.pad_left = 1,
				.pad_right = 1,
				.method = 1 };

	chain_pdp(b, cfg, &p, 7);
}

static inline void nvdla_make_pool_split(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct pool_shape p = { .w = 40,
				.h = 8,
				.c = 20,
				.kernel_w = 2,
				.kernel_h = 2,
				.stride_w = 2,
				.stride_h = 2,
				.parts = 3,
				.first_out = 8,
				.mid_out = 6,
				.method = 1 };

	chain_pdp(b, cfg, &p, 7);
}

static inline void nvdla_make_cdp(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_cdp(b, cfg, 4, 3, 20, 0, 0x1000, true, 7);
}

/* ---- one change each ---- */

/**
 * struct nvdla_case_change - a new value of a field
 * @reg, @lsb, @width: which; width 0: none
 * @value: of it
 */
struct nvdla_case_change {
	u32 reg;
	u8 lsb;
	u8 width;
	u32 value;
};

#define F(unit, reg, field, value)                                          \
	{                                                                   \
		NVDLA_##unit##_##reg, NVDLA_##unit##_##reg##_##field##_LSB, \
			NVDLA_##unit##_##reg##_##field##_WIDTH, value       \
	}

/**
 * struct nvdla_validate_case - a stream that is refused after a change
 * @name: of what is wrong
 * @make: the task, accepted as it is
 * @change: what makes it wrong
 * @reg: register that the refusal names
 * @err: 0: -EINVAL
 */
struct nvdla_validate_case {
	const char *name;
	void (*make)(struct chain_build *b, const struct nvdla_config *cfg);
	struct nvdla_case_change change[3];
	u32 reg;
	int err;
};

static const struct nvdla_validate_case nvdla_validate_cases[] = {
	/* Fields with one value. */
	{ "Winograd",
	  nvdla_make_conv,
	  { F(CDMA, D_MISC_CFG, CONV_MODE, 1) },
	  NVDLA_CDMA_D_MISC_CFG },
	{ "INT16 in",
	  nvdla_make_conv,
	  { F(CDMA, D_MISC_CFG, IN_PRECISION, 1) },
	  NVDLA_CDMA_D_MISC_CFG },
	{ "INT16 in CSC",
	  nvdla_make_conv,
	  { F(CSC, D_MISC_CFG, PROC_PRECISION, 1) },
	  NVDLA_CSC_D_MISC_CFG },
	{ "INT16 in CMAC_A",
	  nvdla_make_conv,
	  { F(CMAC_A, D_MISC_CFG, PROC_PRECISION, 1) },
	  NVDLA_CMAC_A_D_MISC_CFG },
	{ "INT16 in CMAC_B",
	  nvdla_make_conv,
	  { F(CMAC_B, D_MISC_CFG, PROC_PRECISION, 1) },
	  NVDLA_CMAC_B_D_MISC_CFG },
	{ "INT16 in CACC",
	  nvdla_make_conv,
	  { F(CACC, D_MISC_CFG, PROC_PRECISION, 1) },
	  NVDLA_CACC_D_MISC_CFG },
	{ "INT16 out",
	  nvdla_make_conv,
	  { F(SDP, D_DATA_FORMAT, OUT_PRECISION, 1) },
	  NVDLA_SDP_D_DATA_FORMAT },
	{ "INT16 in SDP",
	  nvdla_make_conv,
	  { F(SDP, D_DATA_FORMAT, PROC_PRECISION, 1) },
	  NVDLA_SDP_D_DATA_FORMAT },
	{ "compressed weights",
	  nvdla_make_conv,
	  { F(CDMA, D_WEIGHT_FORMAT, WEIGHT_FORMAT, 1) },
	  NVDLA_CDMA_D_WEIGHT_FORMAT },
	{ "batches",
	  nvdla_make_conv,
	  { F(CDMA, D_BATCH_NUMBER, BATCHES, 1) },
	  NVDLA_CDMA_D_BATCH_NUMBER },
	{ "compression addresses",
	  nvdla_make_conv,
	  { F(CDMA, D_WMB_BYTES, WMB_BYTES, 0) },
	  NVDLA_CDMA_D_WMB_BYTES },
	/* Registers and addresses. */
	{ "start bit",
	  nvdla_make_conv,
	  { F(CDMA, D_OP_ENABLE, OP_EN, 1) },
	  NVDLA_CDMA_D_OP_ENABLE },
	{ "pointer", nvdla_make_conv, { F(CSC, S_POINTER, PRODUCER, 1) }, NVDLA_CSC_S_POINTER },
	{ "raw address",
	  nvdla_make_conv,
	  { F(CDMA, D_DAIN_ADDR_LOW_0, DATAIN_ADDR_LOW_0, 64) },
	  NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
	{ "address of CACC",
	  nvdla_make_conv,
	  { F(CACC, D_DATAOUT_ADDR, DATAOUT_ADDR, 64) },
	  NVDLA_CACC_D_DATAOUT_ADDR },
	{ "interrupt mask",
	  nvdla_make_conv,
	  { F(GLB, S_INTR_MASK, SDP_DONE_MASK0, 1) },
	  NVDLA_GLB_S_INTR_MASK },
	{ "memory interface",
	  nvdla_make_conv,
	  { F(MCIF, CFG_WR_WEIGHT_1, WR_WEIGHT_RBK, 1) },
	  NVDLA_MCIF_CFG_WR_WEIGHT_1 },
	{ "other unit",
	  nvdla_make_conv,
	  { F(CDP, D_LRN_CFG, NORMALZ_LEN, 1) },
	  NVDLA_CDP_D_LRN_CFG },
	{ "no register", nvdla_make_conv, { { 0x30ec, 0, 32, 1 } }, 0x30ec },
	{ "unaligned register",
	  nvdla_make_conv,
	  { { NVDLA_CDMA_D_BANK + 1, 0, 32, 1 } },
	  NVDLA_CDMA_D_BANK + 1 },
	{ "beyond the registers", nvdla_make_conv, { { 0x13014, 0, 32, 0 } }, 0x13014 },
	{ "bits beside the fields",
	  nvdla_make_conv,
	  { { NVDLA_CDMA_D_BANK, 31, 1, 1 } },
	  NVDLA_CDMA_D_BANK },
	/* Units that must agree. */
	{ "kernels",
	  nvdla_make_conv,
	  { F(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL, 13) },
	  NVDLA_CDMA_D_WEIGHT_SIZE_1 },
	{ "banks", nvdla_make_conv, { F(CSC, D_BANK, DATA_BANK, 3) }, NVDLA_CDMA_D_BANK },
	{ "output width",
	  nvdla_make_conv,
	  { F(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 8) },
	  NVDLA_CACC_D_DATAOUT_SIZE_0 },
	{ "SDP height",
	  nvdla_make_conv,
	  { F(SDP, D_DATA_CUBE_HEIGHT, HEIGHT, 7) },
	  NVDLA_SDP_D_DATA_CUBE_HEIGHT },
	{ "SDP height less",
	  nvdla_make_conv,
	  { F(SDP, D_DATA_CUBE_HEIGHT, HEIGHT, 5) },
	  NVDLA_SDP_D_DATA_CUBE_HEIGHT },
	{ "SDP channels",
	  nvdla_make_conv,
	  { F(SDP, D_DATA_CUBE_CHANNEL, CHANNEL, 30) },
	  NVDLA_SDP_D_DATA_CUBE_CHANNEL },
	{ "SDP_RDMA width",
	  nvdla_make_sdp,
	  { F(SDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH, 6) },
	  NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH },
	{ "padding value",
	  nvdla_make_conv,
	  { F(CSC, D_ZERO_PADDING_VALUE, PAD_VALUE, 3) },
	  NVDLA_CDMA_D_ZERO_PADDING_VALUE },
	{ "PDP behind SDP",
	  nvdla_make_conv_pool,
	  { F(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH, 9) },
	  NVDLA_PDP_D_DATA_CUBE_IN_WIDTH },
	{ "PDP_RDMA channels",
	  nvdla_make_pool,
	  { F(PDP_RDMA, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL, 9) },
	  NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL },
	/* Geometry. */
	{ "one window too many",
	  nvdla_make_conv,
	  { F(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 8), F(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 8),
	    F(SDP, D_DATA_CUBE_WIDTH, WIDTH, 8) },
	  NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "one window too few",
	  nvdla_make_conv,
	  { F(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 6), F(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 6),
	    F(SDP, D_DATA_CUBE_WIDTH, WIDTH, 6) },
	  NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "dilation",
	  nvdla_make_dilated,
	  { F(CSC, D_DILATION_EXT, X_DILATION_EXT, 7) },
	  NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "padding wider than the kernel",
	  nvdla_make_conv,
	  { F(CDMA, D_ZERO_PADDING, PAD_RIGHT, 4) },
	  NVDLA_CDMA_D_ZERO_PADDING },
	{ "atomics", nvdla_make_conv, { F(CSC, D_ATOMICS, ATOMICS, 54) }, NVDLA_CSC_D_ATOMICS },
	{ "kernel bytes",
	  nvdla_make_conv,
	  { F(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL, 178) },
	  NVDLA_CDMA_D_WEIGHT_SIZE_0 },
	{ "kernel channels",
	  nvdla_make_conv,
	  { F(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, 18) },
	  NVDLA_CSC_D_WEIGHT_SIZE_EXT_1 },
	{ "weights rounded to 128",
	  nvdla_make_conv,
	  { F(CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES, 2432),
	    F(CSC, D_WEIGHT_BYTES, WEIGHT_BYTES, 2432) },
	  NVDLA_CDMA_D_WEIGHT_BYTES },
	{ "weights too short",
	  nvdla_make_conv,
	  { F(CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES, 2336),
	    F(CSC, D_WEIGHT_BYTES, WEIGHT_BYTES, 2336) },
	  NVDLA_CDMA_D_WEIGHT_BYTES },
	{ "CSC sees more lines",
	  nvdla_make_conv,
	  { F(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, 7) },
	  NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "pixel format for features",
	  nvdla_make_conv,
	  { F(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, 12) },
	  NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "mean for features",
	  nvdla_make_conv,
	  { F(CDMA, D_MEAN_FORMAT, MEAN_FORMAT, 1) },
	  NVDLA_CDMA_D_MEAN_FORMAT },
	{ "kernel rows side by side",
	  nvdla_make_conv,
	  { F(CSC, D_POST_Y_EXTENSION, Y_EXTENSION, 1) },
	  NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "kernel rows side by side beyond the MAC array",
	  nvdla_make_image,
	  { F(CSC, D_POST_Y_EXTENSION, Y_EXTENSION, 2) },
	  NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "kernel rows left over",
	  nvdla_make_image,
	  { F(CSC, D_POST_Y_EXTENSION, Y_EXTENSION, 1) },
	  NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "steps of kernel rows side by side beyond the MAC array",
	  nvdla_make_rows,
	  { F(CDMA, D_CONV_STRIDE, CONV_X_STRIDE, 4),
	    F(CSC, D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT, 4) },
	  NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "16-bit pixels",
	  nvdla_make_image,
	  { F(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, 1) },
	  NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "packed 10-bit pixels",
	  nvdla_make_image,
	  { F(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, 20) },
	  NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "pixel channels",
	  nvdla_make_image,
	  { F(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL, 2),
	    F(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT, 2) },
	  NVDLA_CDMA_D_DATAIN_SIZE_1 },
	{ "kernel not folded",
	  nvdla_make_image,
	  { F(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, 2) },
	  NVDLA_CSC_D_WEIGHT_SIZE_EXT_1 },
	{ "kernel part of a pixel",
	  nvdla_make_image,
	  { F(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, 12) },
	  NVDLA_CSC_D_WEIGHT_SIZE_EXT_1 },
	{ "dilated pixels",
	  nvdla_make_image,
	  { F(CSC, D_DILATION_EXT, X_DILATION_EXT, 1) },
	  NVDLA_CSC_D_DILATION_EXT },
	{ "pixel offset",
	  nvdla_make_image,
	  { F(CDMA, D_PIXEL_OFFSET, PIXEL_X_OFFSET, 2) },
	  NVDLA_CDMA_D_PIXEL_OFFSET },
	{ "offset of lines",
	  nvdla_make_image,
	  { F(CDMA, D_PIXEL_OFFSET, PIXEL_Y_OFFSET, 1) },
	  NVDLA_CDMA_D_PIXEL_OFFSET },
	{ "block-linear pixels",
	  nvdla_make_image,
	  { F(CDMA, D_DATAIN_FORMAT, PIXEL_MAPPING, 1) },
	  NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "packed pixels",
	  nvdla_make_image,
	  { F(CDMA, D_DAIN_MAP, LINE_PACKED, 1) },
	  NVDLA_CDMA_D_DAIN_MAP },
	{ "lines of the second plane",
	  nvdla_make_planes,
	  { F(CDMA, D_LINE_UV_STRIDE, UV_LINE_STRIDE, 32) },
	  NVDLA_CDMA_D_LINE_UV_STRIDE },
	/* Convolution buffer. */
	{ "entries per slice too many",
	  nvdla_make_conv,
	  { F(CDMA, D_ENTRY_PER_SLICE, ENTRIES, 24), F(CSC, D_ENTRY_PER_SLICE, ENTRIES, 24) },
	  NVDLA_CDMA_D_ENTRY_PER_SLICE },
	{ "entries per slice too few",
	  nvdla_make_conv,
	  { F(CDMA, D_ENTRY_PER_SLICE, ENTRIES, 22), F(CSC, D_ENTRY_PER_SLICE, ENTRIES, 22) },
	  NVDLA_CDMA_D_ENTRY_PER_SLICE },
	{ "too many banks",
	  nvdla_make_conv,
	  { F(CDMA, D_BANK, WEIGHT_BANK, 31), F(CSC, D_BANK, WEIGHT_BANK, 31) },
	  NVDLA_CDMA_D_BANK },
	{ "fetch larger than the banks",
	  nvdla_make_conv,
	  { F(CDMA, D_FETCH_GRAIN, GRAINS, 22) },
	  NVDLA_CDMA_D_FETCH_GRAIN },
	{ "releases more than there is",
	  nvdla_make_conv,
	  { F(CSC, D_RELEASE, RLS_SLICES, 7) },
	  NVDLA_CSC_D_RELEASE },
	{ "keeps lines at the end",
	  nvdla_make_conv,
	  { F(CSC, D_RELEASE, RLS_SLICES, 5) },
	  NVDLA_CSC_D_RELEASE },
	{ "keeps all at the end",
	  nvdla_make_conv,
	  { F(CSC, D_MISC_CFG, SKIP_DATA_RLS, 1), F(CDMA, D_MISC_CFG, SKIP_DATA_RLS, 1) },
	  NVDLA_CSC_D_RELEASE },
	{ "keeps weights at the end",
	  nvdla_make_conv,
	  { F(CSC, D_MISC_CFG, SKIP_WEIGHT_RLS, 1), F(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS, 1) },
	  NVDLA_CSC_D_RELEASE },
	{ "reuses data of nobody",
	  nvdla_make_conv,
	  { F(CSC, D_MISC_CFG, DATA_REUSE, 1), F(CDMA, D_MISC_CFG, DATA_REUSE, 1) },
	  NVDLA_CDMA_D_MISC_CFG },
	{ "reuses weights of nobody",
	  nvdla_make_conv,
	  { F(CSC, D_MISC_CFG, WEIGHT_REUSE, 1), F(CDMA, D_MISC_CFG, WEIGHT_REUSE, 1) },
	  NVDLA_CDMA_D_MISC_CFG },
	/* Strides. */
	{ "line stride in bytes",
	  nvdla_make_conv,
	  { F(CDMA, D_LINE_STRIDE, LINE_STRIDE, 68) },
	  NVDLA_CDMA_D_LINE_STRIDE },
	{ "lines that overlap",
	  nvdla_make_conv,
	  { F(CDMA, D_LINE_STRIDE, LINE_STRIDE, 56) },
	  NVDLA_CDMA_D_LINE_STRIDE },
	{ "surface stride in bytes",
	  nvdla_make_conv,
	  { F(CDMA, D_SURF_STRIDE, SURF_STRIDE, 452) },
	  NVDLA_CDMA_D_SURF_STRIDE },
	{ "packed with gaps",
	  nvdla_make_conv,
	  { F(CDMA, D_DAIN_MAP, LINE_PACKED, 1), F(CDMA, D_LINE_STRIDE, LINE_STRIDE, 72) },
	  NVDLA_CDMA_D_LINE_STRIDE },
	{ "surfaces packed with gaps",
	  nvdla_make_conv,
	  { F(CDMA, D_DAIN_MAP, SURF_PACKED, 1), F(CDMA, D_SURF_STRIDE, SURF_STRIDE, 456) },
	  NVDLA_CDMA_D_SURF_STRIDE },
	{ "output lines that overlap",
	  nvdla_make_conv,
	  { F(SDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE, 56) },
	  NVDLA_SDP_D_DST_LINE_STRIDE },
	{ "output surfaces that overlap",
	  nvdla_make_conv,
	  { F(SDP, D_DST_SURFACE_STRIDE, DST_SURFACE_STRIDE, 440) },
	  NVDLA_SDP_D_DST_SURFACE_STRIDE },
	{ "output surface repeated",
	  nvdla_make_conv,
	  { F(SDP, D_DST_SURFACE_STRIDE, DST_SURFACE_STRIDE, 0) },
	  NVDLA_SDP_D_DST_SURFACE_STRIDE },
	{ "PDP output stride",
	  nvdla_make_pool,
	  { F(PDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE, 36) },
	  NVDLA_PDP_D_DST_LINE_STRIDE },
	{ "CDP input stride",
	  nvdla_make_cdp,
	  { F(CDP_RDMA, D_SRC_LINE_STRIDE, SRC_LINE_STRIDE, 24) },
	  NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE },
	/* Memory interfaces and features that nv_small lacks. */
	{ "input by the second interface",
	  nvdla_make_conv,
	  { F(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE, 0) },
	  NVDLA_CDMA_D_DAIN_RAM_TYPE,
	  -EOPNOTSUPP },
	{ "weights by the second interface",
	  nvdla_make_conv,
	  { F(CDMA, D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE, 0) },
	  NVDLA_CDMA_D_WEIGHT_RAM_TYPE,
	  -EOPNOTSUPP },
	{ "output by the second interface",
	  nvdla_make_conv,
	  { F(SDP, D_DST_DMA_CFG, DST_RAM_TYPE, 0) },
	  NVDLA_SDP_D_DST_DMA_CFG,
	  -EOPNOTSUPP },
	{ "element-wise unit",
	  nvdla_make_conv,
	  { F(SDP, D_DP_EW_CFG, EW_BYPASS, 0) },
	  NVDLA_SDP_D_DP_EW_CFG,
	  -EOPNOTSUPP },
	{ "element-wise operands",
	  nvdla_make_sdp,
	  { F(SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE, 0) },
	  NVDLA_SDP_RDMA_D_ERDMA_CFG,
	  -EOPNOTSUPP },
	{ "table of SDP",
	  nvdla_make_sdp,
	  { F(SDP, S_LUT_LE_END, LUT_LE_END, 64) },
	  NVDLA_SDP_S_LUT_LE_END,
	  -EOPNOTSUPP },
	/* SDP. */
	{ "not behind a convolution",
	  nvdla_make_conv,
	  { F(SDP, D_FEATURE_MODE_CFG, FLYING_MODE, 0) },
	  NVDLA_SDP_D_FEATURE_MODE_CFG },
	{ "behind no convolution",
	  nvdla_make_sdp,
	  { F(SDP, D_FEATURE_MODE_CFG, FLYING_MODE, 1),
	    F(SDP_RDMA, D_FEATURE_MODE_CFG, FLYING_MODE, 1) },
	  NVDLA_SDP_D_FEATURE_MODE_CFG },
	{ "operands not fetched",
	  nvdla_make_bs_table,
	  { F(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, 1) },
	  NVDLA_SDP_RDMA_D_BRDMA_CFG },
	{ "operands not wanted",
	  nvdla_make_bs_table,
	  { F(SDP, D_DP_BS_CFG, BS_BYPASS, 1) },
	  NVDLA_SDP_RDMA_D_BRDMA_CFG },
	{ "operands without address",
	  nvdla_make_bs_table,
	  { F(SDP_RDMA, D_NRDMA_CFG, NRDMA_DISABLE, 0), F(SDP, D_DP_BN_CFG, BN_BYPASS, 0),
	    F(SDP, D_DP_BN_MUL_CFG, BN_MUL_SRC, 1) },
	  NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW },
	{ "fourth use of operands",
	  nvdla_make_bs_table,
	  { F(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, 3) },
	  NVDLA_SDP_RDMA_D_BRDMA_CFG },
	{ "fourth ALU operation",
	  nvdla_make_conv,
	  { F(SDP, D_DP_BS_CFG, BS_ALU_ALGO, 3) },
	  NVDLA_SDP_D_DP_BS_CFG },
	{ "output to PDP that is not there",
	  nvdla_make_conv,
	  { F(SDP, D_FEATURE_MODE_CFG, OUTPUT_DST, 1) },
	  NVDLA_PDP_D_DATA_CUBE_IN_WIDTH },
	/* PDP. */
	{ "fourth method",
	  nvdla_make_pool,
	  { F(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD, 3) },
	  NVDLA_PDP_D_OPERATION_MODE_CFG },
	{ "kernel of nine",
	  nvdla_make_pool,
	  { F(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT, 8) },
	  NVDLA_PDP_D_POOLING_KERNEL_CFG },
	{ "on the fly alone",
	  nvdla_make_pool,
	  { F(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, 0) },
	  NVDLA_PDP_D_OPERATION_MODE_CFG },
	{ "from memory behind SDP",
	  nvdla_make_conv_pool,
	  { F(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, 1) },
	  NVDLA_PDP_D_OPERATION_MODE_CFG },
	{ "RDMA on the fly",
	  nvdla_make_pool,
	  { F(PDP_RDMA, D_FLYING_MODE, FLYING_MODE, 0) },
	  NVDLA_PDP_RDMA_D_FLYING_MODE },
	{ "unread rows",
	  nvdla_make_pool,
	  { F(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, 8),
	    F(PDP_RDMA, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, 8) },
	  NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT },
	{ "pooled rows",
	  nvdla_make_pool,
	  { F(PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT, 4) },
	  NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT },
	{ "pooled columns",
	  nvdla_make_pool,
	  { F(PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH, 3) },
	  NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH },
	{ "pooled channels",
	  nvdla_make_pool,
	  { F(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL, 3) },
	  NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL },
	{ "padding wider than the window",
	  nvdla_make_pool,
	  { F(PDP, D_POOLING_PADDING_CFG, PAD_TOP, 2) },
	  NVDLA_PDP_D_POOLING_PADDING_CFG },
	{ "padding that no window covers",
	  nvdla_make_pool,
	  { F(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT, 2) },
	  NVDLA_PDP_D_POOLING_PADDING_CFG },
	{ "parts without a split",
	  nvdla_make_pool,
	  { F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, 1) },
	  NVDLA_PDP_D_PARTIAL_WIDTH_IN },
	{ "parts that do not add up",
	  nvdla_make_pool_split,
	  { F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST, 6) },
	  NVDLA_PDP_D_PARTIAL_WIDTH_OUT },
	{ "first part",
	  nvdla_make_pool_split,
	  { F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, 6),
	    F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST, 6) },
	  NVDLA_PDP_D_PARTIAL_WIDTH_IN },
	{ "split behind SDP",
	  nvdla_make_conv_pool,
	  { F(PDP, D_OPERATION_MODE_CFG, SPLIT_NUM, 1) },
	  NVDLA_PDP_D_OPERATION_MODE_CFG },
	/* CDP. */
	{ "INT16 in CDP",
	  nvdla_make_cdp,
	  { F(CDP, D_DATA_FORMAT, INPUT_DATA_TYPE, 1) },
	  NVDLA_CDP_D_DATA_FORMAT },
};

#undef F

/* ---- words of the stream itself ---- */

/**
 * struct nvdla_structure_case - a word of a convolution's stream that is wrong
 * @at: byte of the stream
 * @value: what is there then
 * @err: with which it is refused
 */
struct nvdla_structure_case {
	size_t at;
	u32 value;
	int err;
};

static const struct nvdla_structure_case nvdla_structure_cases[] = {
	{ offsetof(struct nvdla_chain_header, magic), 0, -EINVAL },
	{ offsetof(struct nvdla_chain_header, version), 2, -EINVAL },
	{ offsetof(struct nvdla_chain_header, size), 96, -EINVAL },
	{ offsetof(struct nvdla_chain_header, task_count), 0, -EINVAL },
	{ offsetof(struct nvdla_chain_header, task_count), 2, -EINVAL },
	{ offsetof(struct nvdla_chain_header, task_count), 65537, -E2BIG },
	{ offsetof(struct nvdla_chain_header, region_count), 0, -EINVAL },
	{ offsetof(struct nvdla_chain_header, region_count), 2, -EINVAL },
	{ offsetof(struct nvdla_chain_header, region_count), 17, -E2BIG },
	{ offsetof(struct nvdla_chain_header, pad), 1, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, kind), 0, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, kind), 5, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, size), 24, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, size), 0xffffffff, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, reg_count), 0xffffffff, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, addr_count), 0x10000000, -EINVAL },
	{ 24 + offsetof(struct nvdla_chain_task, lut_count), 1, -EINVAL },
	/* The second register below the first. */
	{ 24 + 24 + 8, NVDLA_CDMA_D_MISC_CFG, -EINVAL },
};

/* ---- running them ---- */

/* All that the cases start from. */
static void (*const nvdla_case_makes[])(struct chain_build *b, const struct nvdla_config *cfg) = {
	nvdla_make_conv, nvdla_make_dilated,	nvdla_make_bs_table,  nvdla_make_image,
	nvdla_make_rows, nvdla_make_planes,	nvdla_make_conv_pool, nvdla_make_sdp,
	nvdla_make_pool, nvdla_make_pool_split, nvdla_make_cdp,
};

#define NVDLA_CASE_CONFIG "nv_small"
#define NVDLA_CASE_LABEL 7 /* of the task that a make function leaves open */

/* Memory that a case works in: too large for a stack. */
struct nvdla_case_room {
	struct chain_build build;
	u64 storage[512];
	struct nvdla_chain chain;
	struct nvdla_chain_error error;
};

static inline void nvdla_case_apply(struct chain_build *b, const struct nvdla_case_change *c)
{
	u32 mask = (u32)((((u64)1 << c->width) - 1) << c->lsb);

	if (c->width)
		chain_set(b, c->reg, (chain_get(b, c->reg) & ~mask) | (c->value << c->lsb & mask));
}

static inline void nvdla_case_finish(struct chain_build *b)
{
	chain_task_end(b);
	chain_end(b, TASK_REGIONS);
}

static inline int nvdla_case_validate(const struct nvdla_config *cfg, struct nvdla_case_room *room)
{
	memset(&room->error, 0, sizeof(room->error));
	return nvdla_chain_validate(cfg, room->build.data, room->build.size, room->storage,
				    sizeof(room->storage), &room->chain, &room->error);
}

/**
 * nvdla_validate_case_run() - the stream as it is, then changed
 *
 * Return: what is not as expected, @room->error tells of the validator's view; NULL: all is.
 */
static inline const char *nvdla_validate_case_run(const struct nvdla_validate_case *test,
						  struct nvdla_case_room *room)
{
	const struct nvdla_config *cfg = nvdla_config_find(NVDLA_CASE_CONFIG);
	struct chain_build *b = &room->build;
	u32 i;
	int err;

	chain_begin(b);
	test->make(b, cfg);
	nvdla_case_finish(b);
	err = nvdla_case_validate(cfg, room);
	chain_free(b);
	if (err)
		return "refused without the change";

	chain_begin(b);
	test->make(b, cfg);
	for (i = 0; i < ARRAY_SIZE(test->change); i++)
		nvdla_case_apply(b, &test->change[i]);
	nvdla_case_finish(b);
	err = nvdla_case_validate(cfg, room);
	chain_free(b);
	if (!err)
		return "accepted with the change";
	if (err != (test->err ? test->err : -EINVAL))
		return "another error";
	if (room->error.reg != test->reg)
		return "another register";
	if (!room->error.rule || room->error.task || room->error.label != NVDLA_CASE_LABEL)
		return "another place";
	return NULL;
}

/* Likewise for a word of the stream. */
static inline const char *nvdla_structure_case_run(const struct nvdla_structure_case *test,
						   struct nvdla_case_room *room)
{
	const struct nvdla_config *cfg = nvdla_config_find(NVDLA_CASE_CONFIG);
	struct chain_build *b = &room->build;
	int err;

	chain_begin(b);
	nvdla_make_conv(b, cfg);
	nvdla_case_finish(b);
	memcpy(b->data + test->at, &test->value, sizeof(test->value));
	err = nvdla_case_validate(cfg, room);
	chain_free(b);
	if (err != test->err)
		return err ? "another error" : "accepted";
	return room->error.rule ? NULL : "no rule";
}

#endif /* NVDLA_VALIDATE_CASES_H */
