/* SPDX-License-Identifier: MIT */
/* One convolution in the device model's registers, for tests and benchmarks of the model. */
#ifndef SIM_CONV_H
#define SIM_CONV_H

#include "npusim.h"

/**
 * struct conv_shape - a convolution with equal strides and pads on all sides
 * @input, @weights, @output: addresses; output is shifted right by @shift with rounding
 */
struct conv_shape {
	u32 c, h, w, k, r, s, stride, pad, shift;
	u32 input, weights, output;
};

static inline u32 conv_out_height(const struct conv_shape *p)
{
	return (p->h + 2 * p->pad - p->r) / p->stride + 1;
}

static inline u32 conv_out_width(const struct conv_shape *p)
{
	return (p->w + 2 * p->pad - p->s) / p->stride + 1;
}

static inline u32 conv_round_up(u32 n, u32 to)
{
	return (n + to - 1) / to * to;
}

/* Entries of one line: atoms share entries; three that are left over take one each column. */
static inline u32 conv_line_entries(const struct nvdla_config *cfg, const struct conv_shape *p)
{
	u32 per_entry = cfg->entry_bytes / cfg->atom;
	u32 surfaces = conv_round_up(p->c, cfg->atom) / cfg->atom, rest = surfaces % per_entry;

	return surfaces / per_entry * p->w +
	       (rest == 3 ? p->w : conv_round_up(rest * p->w, per_entry) / per_entry);
}

static inline u32 conv_data_banks(const struct nvdla_config *cfg, const struct conv_shape *p)
{
	return conv_round_up(conv_line_entries(cfg, p) * p->h, cfg->entries) / cfg->entries;
}

static inline u32 conv_weight_bytes(const struct nvdla_config *cfg, const struct conv_shape *p)
{
	return conv_round_up(p->c * p->r * p->s * p->k, cfg->entry_bytes);
}

/* Offset of an element in a packed feature cube of @h lines of @w. */
static inline u32 conv_feature_offset(const struct nvdla_config *cfg, u32 h, u32 w, u32 c, u32 y,
				      u32 x)
{
	return ((c / cfg->atom * h + y) * w + x) * cfg->atom + c % cfg->atom;
}

/* Offset of a weight: kernel groups, channel blocks, rows, columns, kernels, channels. */
static inline u32 conv_weight_offset(const struct nvdla_config *cfg, const struct conv_shape *p,
				     u32 k, u32 c, u32 r, u32 s)
{
	u32 group = k / cfg->atomic_k * cfg->atomic_k, block = c / cfg->atomic_c * cfg->atomic_c;
	u32 kernels = min(p->k - group, (u32)cfg->atomic_k);
	u32 channels = min(p->c - block, (u32)cfg->atomic_c);

	return group * p->c * p->r * p->s + kernels * block * p->r * p->s +
	       ((r * p->s + s) * kernels + k - group) * channels + c - block;
}

/* Write all registers of @group and enable the units, with @weight_banks for the weights. */
static inline void conv_start(struct npusim *sim, const struct nvdla_config *cfg,
			      const struct conv_shape *p, u32 group, u32 weight_banks)
{
	u32 atom = cfg->atom, oh = conv_out_height(p), ow = conv_out_width(p);
	u32 in = (p->h - 1) << 16 | (p->w - 1), out = (oh - 1) << 16 | (ow - 1);
	u32 entries = conv_line_entries(cfg, p), bytes = conv_weight_bytes(cfg, p);
	u32 bank = (weight_banks - 1) << 16 | (conv_data_banks(cfg, p) - 1);
	u32 stride = (p->stride - 1) << 16 | (p->stride - 1);
	const struct {
		u32 reg, value;
	} list[] = {
		{ NVDLA_SDP_S_POINTER, group },
		{ NVDLA_SDP_D_DATA_CUBE_WIDTH, ow - 1 },
		{ NVDLA_SDP_D_DATA_CUBE_HEIGHT, oh - 1 },
		{ NVDLA_SDP_D_DATA_CUBE_CHANNEL, p->k - 1 },
		{ NVDLA_SDP_D_DST_BASE_ADDR_LOW, p->output },
		{ NVDLA_SDP_D_DST_LINE_STRIDE, ow * atom },
		{ NVDLA_SDP_D_DST_SURFACE_STRIDE, ow * oh * atom },
		{ NVDLA_SDP_D_DP_BS_CFG, 0x53 },
		{ NVDLA_SDP_D_DP_BN_CFG, 0x53 },
		{ NVDLA_SDP_D_DP_EW_CFG, 0x1 },
		{ NVDLA_SDP_D_FEATURE_MODE_CFG, 1 },
		{ NVDLA_SDP_D_DST_DMA_CFG, 1 },
		{ NVDLA_SDP_D_DATA_FORMAT, 0 },
		{ NVDLA_SDP_D_CVT_SCALE, 1 },
		{ NVDLA_SDP_D_CVT_SHIFT, p->shift },
		{ NVDLA_CDMA_S_POINTER, group },
		{ NVDLA_CSC_S_POINTER, group },
		{ NVDLA_CMAC_A_S_POINTER, group },
		{ NVDLA_CMAC_B_S_POINTER, group },
		{ NVDLA_CACC_S_POINTER, group },
		{ NVDLA_CDMA_D_MISC_CFG, 0 },
		{ NVDLA_CDMA_D_DATAIN_FORMAT, 0 },
		{ NVDLA_CDMA_D_DATAIN_SIZE_0, in },
		{ NVDLA_CDMA_D_DATAIN_SIZE_1, p->c - 1 },
		{ NVDLA_CDMA_D_DAIN_RAM_TYPE, 1 },
		{ NVDLA_CDMA_D_DAIN_ADDR_LOW_0, p->input },
		{ NVDLA_CDMA_D_LINE_STRIDE, p->w * atom },
		{ NVDLA_CDMA_D_SURF_STRIDE, p->w * p->h * atom },
		{ NVDLA_CDMA_D_ENTRY_PER_SLICE, entries - 1 },
		{ NVDLA_CDMA_D_WEIGHT_SIZE_0, p->c * p->r * p->s - 1 },
		{ NVDLA_CDMA_D_WEIGHT_SIZE_1, p->k - 1 },
		{ NVDLA_CDMA_D_WEIGHT_RAM_TYPE, 1 },
		{ NVDLA_CDMA_D_WEIGHT_ADDR_LOW, p->weights },
		{ NVDLA_CDMA_D_WEIGHT_BYTES, bytes },
		{ NVDLA_CDMA_D_CVT_SCALE, 1 },
		{ NVDLA_CDMA_D_CONV_STRIDE, stride },
		{ NVDLA_CDMA_D_BANK, bank },
		{ NVDLA_CSC_D_MISC_CFG, 0 },
		{ NVDLA_CSC_D_DATAIN_FORMAT, 0 },
		{ NVDLA_CSC_D_DATAIN_SIZE_EXT_0, in },
		{ NVDLA_CSC_D_DATAIN_SIZE_EXT_1, p->c - 1 },
		{ NVDLA_CSC_D_ENTRY_PER_SLICE, entries - 1 },
		{ NVDLA_CSC_D_WEIGHT_SIZE_EXT_0, (p->r - 1) << 16 | (p->s - 1) },
		{ NVDLA_CSC_D_WEIGHT_SIZE_EXT_1, (p->k - 1) << 16 | (p->c - 1) },
		{ NVDLA_CSC_D_WEIGHT_BYTES, bytes },
		{ NVDLA_CSC_D_DATAOUT_SIZE_0, out },
		{ NVDLA_CSC_D_DATAOUT_SIZE_1, p->k - 1 },
		{ NVDLA_CSC_D_ATOMICS, ow * oh - 1 },
		{ NVDLA_CSC_D_RELEASE, p->h - 1 },
		{ NVDLA_CSC_D_CONV_STRIDE_EXT, stride },
		{ NVDLA_CSC_D_ZERO_PADDING, p->pad << 16 | p->pad },
		{ NVDLA_CSC_D_BANK, bank },
		{ NVDLA_CMAC_A_D_MISC_CFG, 0 },
		{ NVDLA_CMAC_B_D_MISC_CFG, 0 },
		{ NVDLA_CACC_D_MISC_CFG, 0 },
		{ NVDLA_CACC_D_DATAOUT_SIZE_0, out },
		{ NVDLA_CACC_D_DATAOUT_SIZE_1, p->k - 1 },
		{ NVDLA_SDP_D_OP_ENABLE, 1 },
		{ NVDLA_CACC_D_OP_ENABLE, 1 },
		{ NVDLA_CMAC_A_D_OP_ENABLE, 1 },
		{ NVDLA_CMAC_B_D_OP_ENABLE, 1 },
		{ NVDLA_CSC_D_OP_ENABLE, 1 },
		{ NVDLA_CDMA_D_OP_ENABLE, 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		npusim_write(sim, list[i].reg, list[i].value);
}

#endif /* SIM_CONV_H */
