// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_config.h"
#include "nvdla_rules.h"

#define ROW(unit, reg, field, low, high, feature, rule) \
	{ NVDLA_##unit##_##reg,                         \
	  NVDLA_LSB(unit, reg, field),                  \
	  NVDLA_WIDTH(unit, reg, field),                \
	  low,                                          \
	  high,                                         \
	  feature,                                      \
	  rule },
#define ANY(unit, reg, field) \
	ROW(unit, reg, field, 0, NVDLA_FIELD_MAX(unit, reg, field), 0, "any value")
#define MOST(unit, reg, field, high, rule) ROW(unit, reg, field, 0, high, 0, rule)
#define ZERO(unit, reg, field, rule) ROW(unit, reg, field, 0, 0, 0, rule)
#define NEED(unit, reg, field, low, high, feature, rule) \
	ROW(unit, reg, field, low, high, feature, rule)

const struct nvdla_field_rule nvdla_field_rules[] = {
#include "nvdla_rules.def"
};

const u32 nvdla_field_rule_count = ARRAY_SIZE(nvdla_field_rules);

#define EQUAL(a_unit, a_reg, a_field, b_unit, b_reg, b_field, rule) \
	{ NVDLA_##a_unit##_##a_reg,                                 \
	  NVDLA_##b_unit##_##b_reg,                                 \
	  NVDLA_LSB(a_unit, a_reg, a_field),                        \
	  NVDLA_WIDTH(a_unit, a_reg, a_field),                      \
	  NVDLA_LSB(b_unit, b_reg, b_field),                        \
	  NVDLA_WIDTH(b_unit, b_reg, b_field),                      \
	  rule },
/* The same register and field names in both units. */
#define TWIN(a_unit, b_unit, reg, field) \
	EQUAL(a_unit, reg, field, b_unit, reg, field, "as in " #b_unit)

/* clang-format off */
const struct nvdla_equal_rule nvdla_equal_rules[] = {
	TWIN(CDMA, CSC, D_MISC_CFG, DATA_REUSE)
	TWIN(CDMA, CSC, D_MISC_CFG, WEIGHT_REUSE)
	TWIN(CDMA, CSC, D_MISC_CFG, SKIP_DATA_RLS)
	TWIN(CDMA, CSC, D_MISC_CFG, SKIP_WEIGHT_RLS)
	TWIN(CDMA, CSC, D_DATAIN_FORMAT, DATAIN_FORMAT)
	TWIN(CDMA, CSC, D_ENTRY_PER_SLICE, ENTRIES)
	TWIN(CDMA, CSC, D_WEIGHT_BYTES, WEIGHT_BYTES)
	TWIN(CDMA, CSC, D_BANK, DATA_BANK)
	TWIN(CDMA, CSC, D_BANK, WEIGHT_BANK)
	TWIN(CDMA, CSC, D_ZERO_PADDING, PAD_LEFT)
	TWIN(CDMA, CSC, D_ZERO_PADDING, PAD_TOP)
	TWIN(CDMA, CSC, D_ZERO_PADDING_VALUE, PAD_VALUE)
	EQUAL(CDMA, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH,
	      "as D_DATAIN_SIZE_0")
	EQUAL(CDMA, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT,
	      "as D_DATAIN_SIZE_0")
	EQUAL(CDMA, D_CONV_STRIDE, CONV_X_STRIDE, CSC, D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT,
	      "as in CSC")
	EQUAL(CDMA, D_CONV_STRIDE, CONV_Y_STRIDE, CSC, D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT,
	      "as in CSC")
	EQUAL(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL, CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL,
	      "as in CSC")
	EQUAL(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH,
	      "as in CDMA")
	EQUAL(CSC, D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT, CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL,
	      "as in CDMA")
	EQUAL(CSC, D_DATAOUT_SIZE_1, DATAOUT_CHANNEL, CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL,
	      "one channel for each kernel")
	TWIN(CACC, CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH)
	TWIN(CACC, CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT)
	TWIN(CACC, CSC, D_DATAOUT_SIZE_1, DATAOUT_CHANNEL)
	TWIN(SDP_RDMA, SDP, D_DATA_CUBE_WIDTH, WIDTH)
	TWIN(SDP_RDMA, SDP, D_DATA_CUBE_HEIGHT, HEIGHT)
	TWIN(SDP_RDMA, SDP, D_DATA_CUBE_CHANNEL, CHANNEL)
	TWIN(SDP_RDMA, SDP, D_FEATURE_MODE_CFG, FLYING_MODE)
	EQUAL(SDP, D_DATA_CUBE_WIDTH, WIDTH, CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, "as in CACC")
	EQUAL(SDP, D_DATA_CUBE_HEIGHT, HEIGHT, CACC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, "as in CACC")
	EQUAL(SDP, D_DATA_CUBE_CHANNEL, CHANNEL, CACC, D_DATAOUT_SIZE_1, DATAOUT_CHANNEL,
	      "as in CACC")
	TWIN(PDP_RDMA, PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH)
	TWIN(PDP_RDMA, PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT)
	TWIN(PDP_RDMA, PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL)
	TWIN(PDP_RDMA, PDP, D_OPERATION_MODE_CFG, SPLIT_NUM)
	TWIN(PDP_RDMA, PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH)
	TWIN(PDP_RDMA, PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH)
	TWIN(PDP_RDMA, PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST)
	TWIN(PDP_RDMA, PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST)
	TWIN(PDP_RDMA, PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_MID)
	EQUAL(PDP_RDMA, D_POOLING_PADDING_CFG, PAD_WIDTH, PDP, D_POOLING_PADDING_CFG, PAD_LEFT,
	      "as in PDP")
	EQUAL(PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH, SDP, D_DATA_CUBE_WIDTH, WIDTH, "as in SDP")
	EQUAL(PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT, SDP, D_DATA_CUBE_HEIGHT, HEIGHT,
	      "as in SDP")
	EQUAL(PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL, SDP, D_DATA_CUBE_CHANNEL, CHANNEL,
	      "as in SDP")
	EQUAL(PDP, D_DATA_CUBE_OUT_CHANNEL, CUBE_OUT_CHANNEL, PDP, D_DATA_CUBE_IN_CHANNEL,
	      CUBE_IN_CHANNEL, "pooling keeps the channels")
};

const struct nvdla_address_regs nvdla_address_regs[] = {
	{ NVDLA_CDMA_D_DAIN_ADDR_LOW_0, NVDLA_CDMA_D_DAIN_ADDR_HIGH_0 },
	{ NVDLA_CDMA_D_DAIN_ADDR_LOW_1, NVDLA_CDMA_D_DAIN_ADDR_HIGH_1 },
	{ NVDLA_CDMA_D_WEIGHT_ADDR_LOW, NVDLA_CDMA_D_WEIGHT_ADDR_HIGH },
	{ NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_HIGH },
	{ NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_HIGH },
	{ NVDLA_SDP_RDMA_D_BN_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_BN_BASE_ADDR_HIGH },
	{ NVDLA_SDP_RDMA_D_EW_BASE_ADDR_LOW, NVDLA_SDP_RDMA_D_EW_BASE_ADDR_HIGH },
	{ NVDLA_SDP_D_DST_BASE_ADDR_LOW, NVDLA_SDP_D_DST_BASE_ADDR_HIGH },
	{ NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH },
	{ NVDLA_PDP_D_DST_BASE_ADDR_LOW, NVDLA_PDP_D_DST_BASE_ADDR_HIGH },
	{ NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_HIGH },
	{ NVDLA_CDP_D_DST_BASE_ADDR_LOW, NVDLA_CDP_D_DST_BASE_ADDR_HIGH },
};

/* clang-format on */

const u32 nvdla_equal_rule_count = ARRAY_SIZE(nvdla_equal_rules);
const u32 nvdla_address_count = ARRAY_SIZE(nvdla_address_regs);

const struct nvdla_address_regs *nvdla_address_find(u32 low)
{
	u32 i;

	for (i = 0; i < nvdla_address_count; i++)
		if (nvdla_address_regs[i].low == low)
			return &nvdla_address_regs[i];
	return NULL;
}
