// SPDX-License-Identifier: MIT
/*
 * The validator of chain streams: for each rule a stream that is accepted and the same stream with
 * one change that is refused, for the right reason.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "../common/chain_tasks.h"
#include "nvdla_chain_check.h"
#include "nvdla_rules.h"

static u64 storage[512];

static int validate(const char *config, const struct chain_build *b, struct nvdla_chain *chain,
		    struct nvdla_chain_error *error)
{
	memset(error, 0, sizeof(*error));
	return nvdla_chain_validate(nvdla_config_find(config), b->data, b->size, storage,
				    sizeof(storage), chain, error);
}

static void expect_accepted(const char *config, const struct chain_build *b,
			    struct nvdla_chain *chain)
{
	struct nvdla_chain_error error;
	int err = validate(config, b, chain, &error);

	if (err) {
		char text[256];

		nvdla_chain_error_text(&error, text, sizeof(text));
		fail_msg("refused: %s", text);
	}
}

/* ---- well-formed tasks to start from; each leaves its last task open ---- */

static const struct conv_shape conv_base = {
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

static void make_conv(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_conv(b, cfg, &conv_base, 7);
}

static void make_dilated(struct chain_build *b, const struct nvdla_config *cfg)
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

static void make_bs_table(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_conv(b, cfg, &conv_base, 7);
	task_bs_table(b, 8, 7, 13);
}

static void make_image(struct chain_build *b, const struct nvdla_config *cfg)
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

static void make_planes(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct conv_shape n = {
		.w = 20, .h = 10, .c = 3, .k = 8, .r = 3, .s = 3, .image = true, .pixel_format = 28
	};

	chain_conv(b, cfg, &n, 7);
}

static void make_conv_pool(struct chain_build *b, const struct nvdla_config *cfg)
{
	struct pool_shape p = { .w = 8,
				.h = 7,
				.c = 13,
				.kernel_w = 2,
				.kernel_h = 3,
				.stride_w = 2,
				.stride_h = 2,
				.method = 1 };

	chain_conv(b, cfg, &conv_base, 7);
	task_pool_behind(b, cfg, &p);
}

static void make_sdp(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_sdp(b, cfg, 6, 5, 20, 0, 0x1000, 7);
}

static void make_pool(struct chain_build *b, const struct nvdla_config *cfg)
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

static void make_pool_split(struct chain_build *b, const struct nvdla_config *cfg)
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

static void make_cdp(struct chain_build *b, const struct nvdla_config *cfg)
{
	chain_cdp(b, cfg, 4, 3, 20, 0, 0x1000, true, 7);
}

/* ---- one change each ---- */

struct change {
	u32 reg;
	u8 lsb;
	u8 width;
	u32 value;
};

#define F(unit, reg, field, value)                                                                \
	{                                                                                         \
		NVDLA_##unit##_##reg, NVDLA_LSB(unit, reg, field), NVDLA_WIDTH(unit, reg, field), \
			value                                                                     \
	}

struct mutation {
	const char *name;
	void (*make)(struct chain_build *b, const struct nvdla_config *cfg);
	struct change change[3];
	u32 reg; /* that the refusal names */
	int err; /* 0: -EINVAL */
};

/* clang-format off */
static const struct mutation mutations[] = {
	/* Fields with one value. */
	{ "Winograd", make_conv, { F(CDMA, D_MISC_CFG, CONV_MODE, 1) }, NVDLA_CDMA_D_MISC_CFG },
	{ "INT16 in", make_conv, { F(CDMA, D_MISC_CFG, IN_PRECISION, 1) }, NVDLA_CDMA_D_MISC_CFG },
	{ "INT16 in CSC", make_conv, { F(CSC, D_MISC_CFG, PROC_PRECISION, 1) }, NVDLA_CSC_D_MISC_CFG },
	{ "INT16 in CMAC_A", make_conv, { F(CMAC_A, D_MISC_CFG, PROC_PRECISION, 1) }, NVDLA_CMAC_A_D_MISC_CFG },
	{ "INT16 in CMAC_B", make_conv, { F(CMAC_B, D_MISC_CFG, PROC_PRECISION, 1) }, NVDLA_CMAC_B_D_MISC_CFG },
	{ "INT16 in CACC", make_conv, { F(CACC, D_MISC_CFG, PROC_PRECISION, 1) }, NVDLA_CACC_D_MISC_CFG },
	{ "INT16 out", make_conv, { F(SDP, D_DATA_FORMAT, OUT_PRECISION, 1) }, NVDLA_SDP_D_DATA_FORMAT },
	{ "INT16 in SDP", make_conv, { F(SDP, D_DATA_FORMAT, PROC_PRECISION, 1) }, NVDLA_SDP_D_DATA_FORMAT },
	{ "compressed weights", make_conv, { F(CDMA, D_WEIGHT_FORMAT, WEIGHT_FORMAT, 1) }, NVDLA_CDMA_D_WEIGHT_FORMAT },
	{ "batches", make_conv, { F(CDMA, D_BATCH_NUMBER, BATCHES, 1) }, NVDLA_CDMA_D_BATCH_NUMBER },
	{ "compression addresses", make_conv, { F(CDMA, D_WMB_BYTES, WMB_BYTES, 0) }, NVDLA_CDMA_D_WMB_BYTES },
	/* Registers and addresses. */
	{ "start bit", make_conv, { F(CDMA, D_OP_ENABLE, OP_EN, 1) }, NVDLA_CDMA_D_OP_ENABLE },
	{ "pointer", make_conv, { F(CSC, S_POINTER, PRODUCER, 1) }, NVDLA_CSC_S_POINTER },
	{ "raw address", make_conv, { F(CDMA, D_DAIN_ADDR_LOW_0, DATAIN_ADDR_LOW_0, 64) }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
	{ "address of CACC", make_conv, { F(CACC, D_DATAOUT_ADDR, DATAOUT_ADDR, 64) }, NVDLA_CACC_D_DATAOUT_ADDR },
	{ "interrupt mask", make_conv, { F(GLB, S_INTR_MASK, SDP_DONE_MASK0, 1) }, NVDLA_GLB_S_INTR_MASK },
	{ "memory interface", make_conv, { F(MCIF, CFG_WR_WEIGHT_1, WR_WEIGHT_RBK, 1) }, NVDLA_MCIF_CFG_WR_WEIGHT_1 },
	{ "other unit", make_conv, { F(CDP, D_LRN_CFG, NORMALZ_LEN, 1) }, NVDLA_CDP_D_LRN_CFG },
	{ "no register", make_conv, { { 0x30ec, 0, 32, 1 } }, 0x30ec },
	{ "unaligned register", make_conv, { { NVDLA_CDMA_D_BANK + 1, 0, 32, 1 } }, NVDLA_CDMA_D_BANK + 1 },
	{ "beyond the registers", make_conv, { { 0x13014, 0, 32, 0 } }, 0x13014 },
	{ "bits beside the fields", make_conv, { { NVDLA_CDMA_D_BANK, 31, 1, 1 } }, NVDLA_CDMA_D_BANK },
	/* Units that must agree. */
	{ "kernels", make_conv, { F(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL, 13) }, NVDLA_CDMA_D_WEIGHT_SIZE_1 },
	{ "banks", make_conv, { F(CSC, D_BANK, DATA_BANK, 3) }, NVDLA_CDMA_D_BANK },
	{ "output width", make_conv, { F(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 8) }, NVDLA_CACC_D_DATAOUT_SIZE_0 },
	{ "SDP height", make_conv, { F(SDP, D_DATA_CUBE_HEIGHT, HEIGHT, 7) }, NVDLA_SDP_D_DATA_CUBE_HEIGHT },
	{ "SDP height less", make_conv, { F(SDP, D_DATA_CUBE_HEIGHT, HEIGHT, 5) }, NVDLA_SDP_D_DATA_CUBE_HEIGHT },
	{ "SDP channels", make_conv, { F(SDP, D_DATA_CUBE_CHANNEL, CHANNEL, 30) }, NVDLA_SDP_D_DATA_CUBE_CHANNEL },
	{ "SDP_RDMA width", make_sdp, { F(SDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH, 6) }, NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH },
	{ "padding value", make_conv, { F(CSC, D_ZERO_PADDING_VALUE, PAD_VALUE, 3) }, NVDLA_CDMA_D_ZERO_PADDING_VALUE },
	{ "PDP behind SDP", make_conv_pool, { F(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH, 9) }, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH },
	{ "PDP_RDMA channels", make_pool, { F(PDP_RDMA, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL, 9) }, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL },
	/* Geometry. */
	{ "one window too many", make_conv, { F(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 8), F(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 8), F(SDP, D_DATA_CUBE_WIDTH, WIDTH, 8) }, NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "one window too few", make_conv, { F(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 6), F(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, 6), F(SDP, D_DATA_CUBE_WIDTH, WIDTH, 6) }, NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "dilation", make_dilated, { F(CSC, D_DILATION_EXT, X_DILATION_EXT, 7) }, NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "padding wider than the kernel", make_conv, { F(CDMA, D_ZERO_PADDING, PAD_RIGHT, 4) }, NVDLA_CDMA_D_ZERO_PADDING },
	{ "atomics", make_conv, { F(CSC, D_ATOMICS, ATOMICS, 54) }, NVDLA_CSC_D_ATOMICS },
	{ "kernel bytes", make_conv, { F(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL, 178) }, NVDLA_CDMA_D_WEIGHT_SIZE_0 },
	{ "kernel channels", make_conv, { F(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, 18) }, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1 },
	{ "weights rounded to 128", make_conv, { F(CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES, 2432), F(CSC, D_WEIGHT_BYTES, WEIGHT_BYTES, 2432) }, NVDLA_CDMA_D_WEIGHT_BYTES },
	{ "weights too short", make_conv, { F(CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES, 2336), F(CSC, D_WEIGHT_BYTES, WEIGHT_BYTES, 2336) }, NVDLA_CDMA_D_WEIGHT_BYTES },
	{ "CSC sees more lines", make_conv, { F(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, 7) }, NVDLA_CSC_D_DATAOUT_SIZE_0 },
	{ "pixel format for features", make_conv, { F(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, 12) }, NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "mean for features", make_conv, { F(CDMA, D_MEAN_FORMAT, MEAN_FORMAT, 1) }, NVDLA_CDMA_D_MEAN_FORMAT },
	{ "kernel rows side by side", make_conv, { F(CSC, D_POST_Y_EXTENSION, Y_EXTENSION, 1) }, NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "kernel rows side by side beyond the MAC array", make_image, { F(CSC, D_POST_Y_EXTENSION, Y_EXTENSION, 2) }, NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "kernel rows left over", make_image, { F(CSC, D_POST_Y_EXTENSION, Y_EXTENSION, 1) }, NVDLA_CSC_D_POST_Y_EXTENSION },
	{ "16-bit pixels", make_image, { F(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, 1) }, NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "packed 10-bit pixels", make_image, { F(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, 20) }, NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "pixel channels", make_image, { F(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL, 2), F(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT, 2) }, NVDLA_CDMA_D_DATAIN_SIZE_1 },
	{ "kernel not folded", make_image, { F(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, 2) }, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1 },
	{ "kernel part of a pixel", make_image, { F(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, 12) }, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1 },
	{ "dilated pixels", make_image, { F(CSC, D_DILATION_EXT, X_DILATION_EXT, 1) }, NVDLA_CSC_D_DILATION_EXT },
	{ "pixel offset", make_image, { F(CDMA, D_PIXEL_OFFSET, PIXEL_X_OFFSET, 2) }, NVDLA_CDMA_D_PIXEL_OFFSET },
	{ "offset of lines", make_image, { F(CDMA, D_PIXEL_OFFSET, PIXEL_Y_OFFSET, 1) }, NVDLA_CDMA_D_PIXEL_OFFSET },
	{ "block-linear pixels", make_image, { F(CDMA, D_DATAIN_FORMAT, PIXEL_MAPPING, 1) }, NVDLA_CDMA_D_DATAIN_FORMAT },
	{ "packed pixels", make_image, { F(CDMA, D_DAIN_MAP, LINE_PACKED, 1) }, NVDLA_CDMA_D_DAIN_MAP },
	{ "lines of the second plane", make_planes, { F(CDMA, D_LINE_UV_STRIDE, UV_LINE_STRIDE, 32) }, NVDLA_CDMA_D_LINE_UV_STRIDE },
	/* Convolution buffer. */
	{ "entries per slice too many", make_conv, { F(CDMA, D_ENTRY_PER_SLICE, ENTRIES, 24), F(CSC, D_ENTRY_PER_SLICE, ENTRIES, 24) }, NVDLA_CDMA_D_ENTRY_PER_SLICE },
	{ "entries per slice too few", make_conv, { F(CDMA, D_ENTRY_PER_SLICE, ENTRIES, 22), F(CSC, D_ENTRY_PER_SLICE, ENTRIES, 22) }, NVDLA_CDMA_D_ENTRY_PER_SLICE },
	{ "too many banks", make_conv, { F(CDMA, D_BANK, WEIGHT_BANK, 31), F(CSC, D_BANK, WEIGHT_BANK, 31) }, NVDLA_CDMA_D_BANK },
	{ "fetch larger than the banks", make_conv, { F(CDMA, D_FETCH_GRAIN, GRAINS, 22) }, NVDLA_CDMA_D_FETCH_GRAIN },
	{ "releases more than there is", make_conv, { F(CSC, D_RELEASE, RLS_SLICES, 7) }, NVDLA_CSC_D_RELEASE },
	{ "keeps lines at the end", make_conv, { F(CSC, D_RELEASE, RLS_SLICES, 5) }, NVDLA_CSC_D_RELEASE },
	{ "keeps all at the end", make_conv, { F(CSC, D_MISC_CFG, SKIP_DATA_RLS, 1), F(CDMA, D_MISC_CFG, SKIP_DATA_RLS, 1) }, NVDLA_CSC_D_RELEASE },
	{ "keeps weights at the end", make_conv, { F(CSC, D_MISC_CFG, SKIP_WEIGHT_RLS, 1), F(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS, 1) }, NVDLA_CSC_D_RELEASE },
	{ "reuses data of nobody", make_conv, { F(CSC, D_MISC_CFG, DATA_REUSE, 1), F(CDMA, D_MISC_CFG, DATA_REUSE, 1) }, NVDLA_CDMA_D_MISC_CFG },
	{ "reuses weights of nobody", make_conv, { F(CSC, D_MISC_CFG, WEIGHT_REUSE, 1), F(CDMA, D_MISC_CFG, WEIGHT_REUSE, 1) }, NVDLA_CDMA_D_MISC_CFG },
	/* Strides. */
	{ "line stride in bytes", make_conv, { F(CDMA, D_LINE_STRIDE, LINE_STRIDE, 68) }, NVDLA_CDMA_D_LINE_STRIDE },
	{ "lines that overlap", make_conv, { F(CDMA, D_LINE_STRIDE, LINE_STRIDE, 56) }, NVDLA_CDMA_D_LINE_STRIDE },
	{ "surface stride in bytes", make_conv, { F(CDMA, D_SURF_STRIDE, SURF_STRIDE, 452) }, NVDLA_CDMA_D_SURF_STRIDE },
	{ "packed with gaps", make_conv, { F(CDMA, D_DAIN_MAP, LINE_PACKED, 1), F(CDMA, D_LINE_STRIDE, LINE_STRIDE, 72) }, NVDLA_CDMA_D_LINE_STRIDE },
	{ "surfaces packed with gaps", make_conv, { F(CDMA, D_DAIN_MAP, SURF_PACKED, 1), F(CDMA, D_SURF_STRIDE, SURF_STRIDE, 456) }, NVDLA_CDMA_D_SURF_STRIDE },
	{ "output lines that overlap", make_conv, { F(SDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE, 56) }, NVDLA_SDP_D_DST_LINE_STRIDE },
	{ "output surfaces that overlap", make_conv, { F(SDP, D_DST_SURFACE_STRIDE, DST_SURFACE_STRIDE, 440) }, NVDLA_SDP_D_DST_SURFACE_STRIDE },
	{ "output surface repeated", make_conv, { F(SDP, D_DST_SURFACE_STRIDE, DST_SURFACE_STRIDE, 0) }, NVDLA_SDP_D_DST_SURFACE_STRIDE },
	{ "PDP output stride", make_pool, { F(PDP, D_DST_LINE_STRIDE, DST_LINE_STRIDE, 36) }, NVDLA_PDP_D_DST_LINE_STRIDE },
	{ "CDP input stride", make_cdp, { F(CDP_RDMA, D_SRC_LINE_STRIDE, SRC_LINE_STRIDE, 24) }, NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE },
	/* Memory interfaces and features that nv_small lacks. */
	{ "input by the second interface", make_conv, { F(CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE, 0) }, NVDLA_CDMA_D_DAIN_RAM_TYPE, -EOPNOTSUPP },
	{ "weights by the second interface", make_conv, { F(CDMA, D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE, 0) }, NVDLA_CDMA_D_WEIGHT_RAM_TYPE, -EOPNOTSUPP },
	{ "output by the second interface", make_conv, { F(SDP, D_DST_DMA_CFG, DST_RAM_TYPE, 0) }, NVDLA_SDP_D_DST_DMA_CFG, -EOPNOTSUPP },
	{ "element-wise unit", make_conv, { F(SDP, D_DP_EW_CFG, EW_BYPASS, 0) }, NVDLA_SDP_D_DP_EW_CFG, -EOPNOTSUPP },
	{ "element-wise operands", make_sdp, { F(SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE, 0) }, NVDLA_SDP_RDMA_D_ERDMA_CFG, -EOPNOTSUPP },
	{ "table of SDP", make_sdp, { F(SDP, S_LUT_LE_END, LUT_LE_END, 64) }, NVDLA_SDP_S_LUT_LE_END, -EOPNOTSUPP },
	/* SDP. */
	{ "not behind a convolution", make_conv, { F(SDP, D_FEATURE_MODE_CFG, FLYING_MODE, 0) }, NVDLA_SDP_D_FEATURE_MODE_CFG },
	{ "behind no convolution", make_sdp, { F(SDP, D_FEATURE_MODE_CFG, FLYING_MODE, 1), F(SDP_RDMA, D_FEATURE_MODE_CFG, FLYING_MODE, 1) }, NVDLA_SDP_D_FEATURE_MODE_CFG },
	{ "operands not fetched", make_bs_table, { F(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, 1) }, NVDLA_SDP_RDMA_D_BRDMA_CFG },
	{ "operands not wanted", make_bs_table, { F(SDP, D_DP_BS_CFG, BS_BYPASS, 1) }, NVDLA_SDP_RDMA_D_BRDMA_CFG },
	{ "operands without address", make_bs_table, { F(SDP_RDMA, D_NRDMA_CFG, NRDMA_DISABLE, 0), F(SDP, D_DP_BN_CFG, BN_BYPASS, 0), F(SDP, D_DP_BN_MUL_CFG, BN_MUL_SRC, 1) }, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW },
	{ "fourth use of operands", make_bs_table, { F(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, 3) }, NVDLA_SDP_RDMA_D_BRDMA_CFG },
	{ "fourth ALU operation", make_conv, { F(SDP, D_DP_BS_CFG, BS_ALU_ALGO, 3) }, NVDLA_SDP_D_DP_BS_CFG },
	{ "output to PDP that is not there", make_conv, { F(SDP, D_FEATURE_MODE_CFG, OUTPUT_DST, 1) }, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH },
	/* PDP. */
	{ "fourth method", make_pool, { F(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD, 3) }, NVDLA_PDP_D_OPERATION_MODE_CFG },
	{ "kernel of nine", make_pool, { F(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT, 8) }, NVDLA_PDP_D_POOLING_KERNEL_CFG },
	{ "on the fly alone", make_pool, { F(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, 0) }, NVDLA_PDP_D_OPERATION_MODE_CFG },
	{ "from memory behind SDP", make_conv_pool, { F(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, 1) }, NVDLA_PDP_D_OPERATION_MODE_CFG },
	{ "RDMA on the fly", make_pool, { F(PDP_RDMA, D_FLYING_MODE, FLYING_MODE, 0) }, NVDLA_PDP_RDMA_D_FLYING_MODE },
	{ "unread rows", make_pool, { F(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, 8), F(PDP_RDMA, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, 8) }, NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT },
	{ "pooled rows", make_pool, { F(PDP, D_DATA_CUBE_OUT_HEIGHT, CUBE_OUT_HEIGHT, 4) }, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT },
	{ "pooled columns", make_pool, { F(PDP, D_DATA_CUBE_OUT_WIDTH, CUBE_OUT_WIDTH, 3) }, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH },
	{ "pooled channels", make_pool, { F(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL, 3) }, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL },
	{ "padding wider than the window", make_pool, { F(PDP, D_POOLING_PADDING_CFG, PAD_TOP, 2) }, NVDLA_PDP_D_POOLING_PADDING_CFG },
	{ "padding that no window covers", make_pool, { F(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT, 2) }, NVDLA_PDP_D_POOLING_PADDING_CFG },
	{ "parts without a split", make_pool, { F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, 1) }, NVDLA_PDP_D_PARTIAL_WIDTH_IN },
	{ "parts that do not add up", make_pool_split, { F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST, 6) }, NVDLA_PDP_D_PARTIAL_WIDTH_OUT },
	{ "first part", make_pool_split, { F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, 6), F(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST, 6) }, NVDLA_PDP_D_PARTIAL_WIDTH_IN },
	{ "split behind SDP", make_conv_pool, { F(PDP, D_OPERATION_MODE_CFG, SPLIT_NUM, 1) }, NVDLA_PDP_D_OPERATION_MODE_CFG },
	/* CDP. */
	{ "INT16 in CDP", make_cdp, { F(CDP, D_DATA_FORMAT, INPUT_DATA_TYPE, 1) }, NVDLA_CDP_D_DATA_FORMAT },
};
/* clang-format on */

static void apply(struct chain_build *b, const struct change *c)
{
	u32 mask = (u32)(((1ull << c->width) - 1) << c->lsb);

	if (c->width)
		chain_set(b, c->reg, (chain_get(b, c->reg) & ~mask) | (c->value << c->lsb & mask));
}

static void finish(struct chain_build *b)
{
	chain_task_end(b);
	chain_end(b, TASK_REGIONS);
}

static void test_mutations(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain chain;
	u32 i, k, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(mutations); i++) {
		const struct mutation *m = &mutations[i];
		struct nvdla_chain_error error;
		char text[256];
		int err;

		chain_begin(&b);
		m->make(&b, cfg);
		finish(&b);
		expect_accepted("nv_small", &b, &chain);
		chain_free(&b);

		chain_begin(&b);
		m->make(&b, cfg);
		for (k = 0; k < ARRAY_SIZE(m->change); k++)
			apply(&b, &m->change[k]);
		finish(&b);
		err = validate("nv_small", &b, &chain, &error);
		nvdla_chain_error_text(&error, text, sizeof(text));
		if (err != (m->err ? m->err : -EINVAL) || error.reg != m->reg || !error.rule ||
		    error.task || error.label != 7) {
			print_error("%s: %d, %s\n", m->name, err, err ? text : "accepted");
			wrong++;
		}
		chain_free(&b);
	}
	assert_int_equal(wrong, 0);
}

/* Every field that may not hold everything refuses the first value that it may not hold. */
static void test_field_table(void **state)
{
	void (*const makes[])(struct chain_build *, const struct nvdla_config *) = {
		make_bs_table, make_conv_pool, make_sdp, make_pool, make_cdp,
	};
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i, k, refused = 0;

	for (i = 0; i < nvdla_field_rule_count; i++) {
		const struct nvdla_field_rule *r = &nvdla_field_rules[i];
		u32 most = (u32)((1ull << r->width) - 1);
		struct change c = { r->reg, r->lsb, r->width,
				    r->high == most ? r->low - 1 : r->high + 1 };

		if (r->low == 0 && r->high == most)
			continue;
		for (k = 0; k < ARRAY_SIZE(makes); k++) {
			chain_begin(&b);
			makes[k](&b, cfg);
			if (chain_has(&b, r->reg) || r->low == 0) {
				apply(&b, &c);
				finish(&b);
				assert_int_not_equal(validate("nv_small", &b, &chain, &error), 0);
				refused++;
			}
			chain_free(&b);
		}
	}
	assert_true(refused > 100);
}

/* The table is in order, names fields that exist and can be written, and leaves no bit of them out. */
static void test_table_form(void **state)
{
	u32 i, last = 0, last_lsb = 0;

	for (i = 0; i < nvdla_field_rule_count; i++) {
		const struct nvdla_field_rule *r = &nvdla_field_rules[i];
		const struct nvdla_reg_info *info = nvdla_reg_find(r->reg);

		assert_true(r->reg > last || (r->reg == last && r->lsb > last_lsb));
		last = r->reg;
		last_lsb = r->lsb;
		assert_non_null(info);
		assert_true(info->writable);
		assert_true(!strncmp(info->name, "D_", 2) || !strncmp(info->name, "S_LUT_", 6));
		assert_string_not_equal(info->name, "D_OP_ENABLE");
		assert_null(strstr(info->name, "_ADDR_"));
		assert_true(r->low <= r->high);
	}
	for (i = 0; i < nvdla_address_count; i++) {
		assert_non_null(nvdla_reg_find(nvdla_address_regs[i].low));
		assert_non_null(nvdla_reg_find(nvdla_address_regs[i].high));
		assert_non_null(strstr(nvdla_reg_find(nvdla_address_regs[i].low)->name, "LOW"));
		assert_non_null(strstr(nvdla_reg_find(nvdla_address_regs[i].high)->name, "HIGH"));
	}
}

/* A register that the table does not know is refused, whatever it is. */
static void test_default_deny(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small_256_full");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i, k, refused = 0;

	for (i = 0; i < nvdla_reg_count; i++) {
		for (k = 0; k < nvdla_field_rule_count; k++)
			if (nvdla_field_rules[k].reg == nvdla_reg_table[i].offset)
				break;
		if (k < nvdla_field_rule_count)
			continue;
		chain_begin(&b);
		make_conv_pool(&b, cfg);
		chain_set(&b, nvdla_reg_table[i].offset, 0);
		finish(&b);
		assert_int_equal(validate(cfg->name, &b, &chain, &error), -EINVAL);
		assert_int_equal(error.reg, nvdla_reg_table[i].offset);
		chain_free(&b);
		refused++;
	}
	assert_true(refused > 200);
}

/* ---- several tasks ---- */

/* Two convolutions; the second is changed by @flags of struct conv_shape. */
static int two_convs(const struct conv_shape *first, const struct conv_shape *second,
		     struct nvdla_chain *chain, struct nvdla_chain_error *error)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	static u64 keep[512];
	static u8 stream[8192];
	int err;

	chain_begin(&b);
	chain_conv(&b, cfg, first, 0);
	chain_task_end(&b);
	chain_conv(&b, cfg, second, 1);
	finish(&b);
	assert_true(b.size <= sizeof(stream));
	memcpy(stream, b.data, b.size);
	chain_free(&b);
	memset(error, 0, sizeof(*error));
	err = nvdla_chain_validate(cfg, stream, b.size, keep, sizeof(keep), chain, error);
	return err;
}

static void test_reuse(void **state)
{
	struct conv_shape first = conv_base, second;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	first.out = 0;
	/* All data stays. */
	first.skip_data = true;
	second = conv_base;
	second.data_reuse = true;
	second.out = 0x4000;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[0].flags, NVDLA_TASK_KEEPS);
	assert_int_equal(chain.task[1].flags, NVDLA_TASK_REUSES | NVDLA_TASK_OVERLAPS);
	/* ... and has to be used, */
	second.data_reuse = false;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.task, 1);
	assert_int_equal(error.reg, NVDLA_CDMA_D_MISC_CFG);
	/* with the same banks, */
	second.data_reuse = true;
	second.data_banks = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	/* the same lines, */
	second.data_banks = 0;
	second.w = 9;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_DATAIN_SIZE_0);
	/* and no more of them. */
	second.w = 8;
	second.kept = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_DATAIN_SIZE_EXT_0);
	/* Lines that stay cannot be released in part. */
	second = conv_base;
	second.data_reuse = true;
	first.release = 3;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_RELEASE);
}

static void test_halo(void **state)
{
	struct conv_shape first = conv_base, second = conv_base;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* Two lines stay, five are fetched. */
	first.pad_bottom = 0;
	first.release = 5;
	second.pad_top = 0;
	second.h = 5;
	second.kept = 2;
	second.data_reuse = true;
	second.in = 7 * 64;
	second.out = 6 * 64;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_REUSES, NVDLA_TASK_REUSES);
	/* One line too many. */
	second.kept = 3;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_DATAIN_SIZE_EXT_0);
	/* Kept lines without reuse: CDMA fetches less than CSC wants. */
	second.kept = 2;
	second.data_reuse = false;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_DATAIN_SIZE_EXT_0);
	/* A leftover that the next task does not want is harmless. */
	second.kept = 0;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	/* Kept and new lines together must fit: 24 entries a line, 512 in the bank. */
	first = (struct conv_shape){
		.w = 8, .h = 20, .c = 24, .k = 8, .r = 3, .s = 3, .release = 10
	};
	second = (struct conv_shape){ .w = 8,
				      .h = 12,
				      .c = 24,
				      .k = 8,
				      .r = 3,
				      .s = 3,
				      .kept = 10,
				      .data_banks = 1,
				      .data_reuse = true };
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	second.h = 11;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
}

static void test_weight_reuse(void **state)
{
	struct conv_shape first = conv_base, second = conv_base;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	first.skip_weight = true;
	second.weight_reuse = true;
	second.in = 0x2000;
	second.out = 0x4000;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[0].flags, NVDLA_TASK_KEEPS | NVDLA_TASK_KEEPS_WEIGHTS);
	second.weight_reuse = false;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_MISC_CFG);
	second.weight_reuse = true;
	second.weight_banks = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	second.weight_banks = 0;
	second.k = 12;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_WEIGHT_BYTES);
	/* Weights that stay must all fit: 64 kernels of 180 bytes in two banks of 4 KiB do not. */
	first.k = second.k = 64;
	first.weight_banks = second.weight_banks = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	assert_int_equal(error.task, 0);
	/* Streamed, one group of eight kernels is enough. */
	first.skip_weight = second.weight_reuse = false;
	first.weight_banks = second.weight_banks = 1;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[0].weight_entries, 64 * 180 / 8);
	assert_int_equal(chain.task[0].weight_need, 8 * 180 / 8);
}

/* A kernel group larger than the weight banks hangs CDMA. */
static void test_kernel_group(void **state)
{
	struct conv_shape n = {
		.w = 4, .h = 4, .c = 64, .k = 8, .r = 3, .s = 3, .weight_banks = 2
	};
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* 8 * 576 bytes: more than one bank of 4096. */
	assert_int_equal(two_convs(&n, &n, &chain, &error), 0);
	n.weight_banks = 1;
	assert_int_equal(two_convs(&n, &n, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	/* Exactly a bank is enough. */
	n = (struct conv_shape){
		.w = 4, .h = 4, .c = 512, .k = 24, .r = 1, .s = 1, .weight_banks = 1
	};
	assert_int_equal(two_convs(&n, &n, &chain, &error), 0);
	assert_int_equal(chain.banks, 3);
}

/* ---- what it works out ---- */

static void test_extents(void **state)
{
	struct conv_shape n = conv_base;
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_access access[NVDLA_CHAIN_MAX_ACCESSES];
	struct nvdla_chain chain;

	n.in = 0x100;
	n.out = 0x40;
	n.weights = 0x18;
	chain_begin(&b);
	chain_conv(&b, cfg, &n, 7);
	task_bs_table(&b, 8, 7, 13);
	finish(&b);
	expect_accepted("nv_small", &b, &chain);
	/* 20 channels: three surfaces of seven lines of eight atoms. */
	assert_int_equal(chain.region[TASK_INPUT].read_start, 0x100);
	assert_int_equal(chain.region[TASK_INPUT].read_end, 0x100 + 3 * 7 * 8 * 8);
	assert_int_equal(chain.region[TASK_INPUT].write_end, 0);
	/* 13 kernels of 180 bytes, up to eight; 13 channels: two atoms of two operands of two bytes. */
	assert_int_equal(chain.region[TASK_WEIGHTS].read_start, 0x18);
	assert_int_equal(chain.region[TASK_WEIGHTS].read_end, TASK_OPERANDS + 2 * 8 * 4);
	assert_int_equal(chain.region[TASK_OUTPUT].write_start, 0x40);
	assert_int_equal(chain.region[TASK_OUTPUT].write_end, 0x40 + 2 * 7 * 8 * 8);
	assert_int_equal(chain.region[TASK_OUTPUT].ports, NVDLA_REGION_MEMORY);
	assert_int_equal(chain.banks, 2);
	assert_int_equal(chain.alignment, 64);
	assert_int_equal(chain.task[0].done, 1 << NVDLA_INTR_SDP);
	assert_int_equal(nvdla_chain_accesses(&chain, 0, access), 4);
	assert_int_equal(access[1].reg, NVDLA_CDMA_D_WEIGHT_ADDR_LOW);
	assert_int_equal(access[1].bytes, 2344);
	chain_free(&b);
}

/* A plane of one element is packed whatever the strides are. */
static void test_one_element(void **state)
{
	struct conv_shape n = { .w = 3, .h = 3, .c = 8, .k = 30, .r = 3, .s = 3 };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain chain;

	chain_begin(&b);
	chain_conv(&b, cfg, &n, 0);
	CHAIN_SET(&b, SDP, D_DST_SURFACE_STRIDE, 0x1000);
	finish(&b);
	expect_accepted("nv_small", &b, &chain);
	assert_int_equal(chain.region[TASK_OUTPUT].write_end, 32);
	chain_free(&b);
}

/* One surface read again and again, and every other line of the input. */
static void test_strides_of_use(void **state)
{
	struct conv_shape n = { .w = 8, .h = 4, .c = 16, .k = 8, .r = 1, .s = 1, .stride_x = 2 };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain chain;

	chain_begin(&b);
	chain_conv(&b, cfg, &n, 0);
	CHAIN_SET(&b, CDMA, D_LINE_STRIDE, 128);
	CHAIN_SET(&b, CDMA, D_SURF_STRIDE, 0);
	finish(&b);
	expect_accepted("nv_small", &b, &chain);
	assert_int_equal(chain.region[TASK_INPUT].read_end, 3 * 128 + 64);
	chain_free(&b);
}

static void test_addresses(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static const struct {
		struct nvdla_chain_addr addr;
		u32 reg;
	} wrong[] = {
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, 4 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_REGIONS, 0 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, ~7ull },
		  NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, 0xfffffff8 },
		  NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_1, TASK_INPUT, 0 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_WEIGHT_ADDR_LOW, TASK_INPUT, 0 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
	};
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		chain_begin(&b);
		make_conv(&b, cfg);
		assert_int_equal(b.addr[0].reg, NVDLA_CDMA_D_DAIN_ADDR_LOW_0);
		b.addr[0] = wrong[i].addr;
		finish(&b);
		assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
		assert_int_equal(error.reg, wrong[i].reg);
		chain_free(&b);
	}
	/* One that nothing uses. */
	chain_begin(&b);
	make_conv(&b, cfg);
	chain_addr(&b, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW, TASK_WEIGHTS, 0);
	finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW);
	chain_free(&b);
}

/* Which pairs of tasks may overlap. */
static void test_independence(void **state)
{
	struct conv_shape first = conv_base, second = conv_base;
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* Two row bands of one output. */
	second.out = 7 * 8 * 8 * 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS, NVDLA_TASK_OVERLAPS);
	/* Both write the same bytes: in order by themselves, as SDP writes last in both. */
	second.out = 0;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS, NVDLA_TASK_OVERLAPS);
	/* A pooling of what the convolution writes has to wait, one of other data not. */
	for (u32 same = 0; same < 2; same++) {
		struct pool_shape p = { .w = 4,
					.h = 4,
					.c = 8,
					.kernel_w = 2,
					.kernel_h = 2,
					.stride_w = 2,
					.stride_h = 2,
					.method = 1,
					.out = 0x8000 };
		u32 i;

		chain_begin(&b);
		chain_conv(&b, cfg, &first, 0);
		chain_task_end(&b);
		chain_pdp(&b, cfg, &p, 1);
		for (i = 0; i < b.addr_count; i++)
			if (same && b.addr[i].reg == NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW)
				b.addr[i].region = TASK_OUTPUT;
		finish(&b);
		expect_accepted("nv_small", &b, &chain);
		assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS,
				 same ? 0 : NVDLA_TASK_OVERLAPS);
		chain_free(&b);
	}
}

static void test_surfaces(void **state)
{
	/* Two column tiles, four atoms wide, of a cube of 8 x 4 x 16. */
	struct nvdla_surface tile = { 32, 4, 2, 64, 256 }, other = tile;
	u64 bytes;

	assert_true(nvdla_surface_span(&tile, &bytes));
	assert_int_equal(bytes, 256 + 3 * 64 + 32);
	assert_true(nvdla_surface_disjoint(&tile));
	assert_false(nvdla_surface_overlap(&tile, 0, &other, 32));
	assert_false(nvdla_surface_overlap(&tile, 32, &other, 0));
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 24));
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 256));
	assert_false(nvdla_surface_overlap(&tile, 0, &other, 512));
	/* Tiles that run over the end of a line are not told apart. */
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 48));
	other.line_stride = 72;
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 32));
	/* Surfaces inside of lines. */
	other = (struct nvdla_surface){ 8, 4, 2, 64, 8 };
	assert_true(nvdla_surface_disjoint(&other));
	other.surfaces = 9;
	assert_false(nvdla_surface_disjoint(&other));
	/* Spans that overflow 64 bits. */
	other = (struct nvdla_surface){ ~0u, ~0u, ~0u, ~0u, ~0u };
	assert_false(nvdla_surface_span(&other, &bytes));
}

/* ---- structure ---- */

static void test_structure(void **state)
{
	static const struct {
		size_t at;
		u32 value;
		int err;
	} wrong[] = {
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
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		chain_begin(&b);
		make_conv(&b, nvdla_config_find("nv_small"));
		finish(&b);
		memcpy(b.data + wrong[i].at, &wrong[i].value, 4);
		assert_int_equal(validate("nv_small", &b, &chain, &error), wrong[i].err);
		assert_non_null(error.rule);
		chain_free(&b);
	}
}

/* Every length of a stream that is too short, in a buffer of just that size. */
static void test_truncation(void **state)
{
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 size;

	chain_begin(&b);
	make_cdp(&b, nvdla_config_find("nv_small"));
	finish(&b);
	for (size = 0; size < b.size; size++) {
		u8 *cut = malloc(size + 1);

		memcpy(cut, b.data, size);
		if (size >= sizeof(struct nvdla_chain_header))
			memcpy(cut + offsetof(struct nvdla_chain_header, size), &size, 4);
		assert_int_equal(nvdla_chain_validate(nvdla_config_find("nv_small"), cut, size,
						      storage, sizeof(storage), &chain, &error),
				 -EINVAL);
		free(cut);
	}
	assert_int_equal(nvdla_chain_validate(nvdla_config_find("nv_small"), b.data, b.size,
					      storage, 8, &chain, &error),
			 -ENOSPC);
	chain_free(&b);
}

static void test_tables(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* A later task may use tables that an earlier one brought. */
	chain_begin(&b);
	make_cdp(&b, cfg);
	chain_task_end(&b);
	chain_cdp(&b, cfg, 4, 3, 20, 0x2000, 0x3000, false, 8);
	finish(&b);
	expect_accepted("nv_small", &b, &chain);
	assert_int_equal(chain.task[1].flags, NVDLA_TASK_LUT);
	chain_free(&b);
	/* But not tables of another chain, */
	chain_begin(&b);
	chain_cdp(&b, cfg, 4, 3, 20, 0, 0x1000, false, 8);
	finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDP_S_LUT_ACCESS_CFG);
	chain_free(&b);
	/* half a table, or a third one. */
	chain_begin(&b);
	make_cdp(&b, cfg);
	b.lut[1].count = 256;
	finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	chain_free(&b);
	chain_begin(&b);
	make_cdp(&b, cfg);
	b.lut[1].table = 2;
	finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	chain_free(&b);
	chain_begin(&b);
	make_cdp(&b, cfg);
	b.lut[0].entry[65] = 1;
	finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	chain_free(&b);
	/* SDP of nv_small has none. */
	chain_begin(&b);
	make_sdp(&b, cfg);
	task_tables(&b);
	finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EOPNOTSUPP);
	chain_free(&b);
}

static void test_configurations(void **state)
{
	void (*const makes[])(struct chain_build *, const struct nvdla_config *) = {
		make_conv,	make_dilated, make_bs_table, make_image,      make_planes,
		make_conv_pool, make_sdp,     make_pool,     make_pool_split, make_cdp,
	};
	static struct chain_build b;
	struct nvdla_chain chain;
	u32 i, k;

	for (i = 0; i < nvdla_config_count; i++) {
		for (k = 0; k < ARRAY_SIZE(makes); k++) {
			chain_begin(&b);
			makes[k](&b, &nvdla_configs[i]);
			finish(&b);
			expect_accepted(nvdla_configs[i].name, &b, &chain);
			chain_free(&b);
		}
	}
	/* What nv_small lacks is there in the full ones. */
	chain_begin(&b);
	make_conv(&b, nvdla_config_find("nv_large"));
	CHAIN_SET(&b, CDMA, D_DAIN_RAM_TYPE, 0);
	CHAIN_SET(&b, SDP, D_DP_EW_CFG, NVDLA_SET(SDP, D_DP_EW_CFG, EW_LUT_BYPASS, 1));
	finish(&b);
	expect_accepted("nv_large", &b, &chain);
	assert_int_equal(chain.region[TASK_INPUT].ports, NVDLA_REGION_SECOND_PORT);
	chain_free(&b);
}

static void test_error_text(void **state)
{
	struct nvdla_chain_error error = { 3, 7, NVDLA_CDMA_D_BANK, "banks", 40, 32 };
	char text[64], small[12];

	nvdla_chain_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "task 3 (layer 7): CDMA.D_BANK: banks: 40 > 32");
	nvdla_chain_error_text(&error, small, sizeof(small));
	assert_string_equal(small, "task 3 (lay");
	error = (struct nvdla_chain_error){ 0, 0, 0x3fffc, "known", 18446744073709551615ull, 0 };
	nvdla_chain_error_text(&error, text, sizeof(text));
	assert_string_equal(text,
			    "task 0 (layer 0): register 0x0003fffc: known: 18446744073709551");
	error = (struct nvdla_chain_error){ NVDLA_CHAIN_NO_TASK, 0,
					    NVDLA_CHAIN_NO_REG,	 "a chain",
					    10000000000ull,	 9999999999ull };
	nvdla_chain_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "header: a chain: 10000000000 > 9999999999");
	nvdla_chain_error_text(&error, text, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutations),      cmocka_unit_test(test_field_table),
		cmocka_unit_test(test_table_form),     cmocka_unit_test(test_default_deny),
		cmocka_unit_test(test_reuse),	       cmocka_unit_test(test_halo),
		cmocka_unit_test(test_weight_reuse),   cmocka_unit_test(test_kernel_group),
		cmocka_unit_test(test_extents),	       cmocka_unit_test(test_one_element),
		cmocka_unit_test(test_strides_of_use), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_independence),   cmocka_unit_test(test_surfaces),
		cmocka_unit_test(test_structure),      cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_tables),	       cmocka_unit_test(test_configurations),
		cmocka_unit_test(test_error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
