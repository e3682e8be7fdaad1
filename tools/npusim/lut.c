// SPDX-License-Identifier: MIT
/*
 * The port to the look-up tables of SDP and CDP: an address that advances with each access
 * to the data register.  SDP's advances with every access and reads back as written; CDP's
 * only with accesses of the kind that LUT_ACCESS_TYPE announces, stops at the last entry of
 * the table and reads back as advanced.
 */
#include "npusim_internal.h"

static bool is_sdp(u32 reg)
{
	return (reg & ~(NVDLA_UNIT_BYTES - 1)) == NVDLA_SDP_BASE;
}

/* SDP and CDP have the same fields at the same offsets. */
static bool is_cfg(u32 reg)
{
	return reg == NVDLA_SDP_S_LUT_ACCESS_CFG || reg == NVDLA_CDP_S_LUT_ACCESS_CFG;
}

#define CFG(lut, field) NVDLA_GET(SDP, S_LUT_ACCESS_CFG, field, (lut)->access_cfg)

static s16 *entry(struct sim_lut *lut)
{
	if (CFG(lut, LUT_TABLE_ID))
		return lut->address < SIM_LUT_LO ? &lut->lo[lut->address] : NULL;
	return lut->address < SIM_LUT_LE ? &lut->le[lut->address] : NULL;
}

static void advance(struct sim_lut *lut, u32 reg, bool write)
{
	u32 last = CFG(lut, LUT_TABLE_ID) ? SIM_LUT_LO - 1 : SIM_LUT_LE - 1;

	if (!is_sdp(reg) && (CFG(lut, LUT_ACCESS_TYPE) != write || lut->address == last))
		return;
	lut->address = (lut->address + 1) & NVDLA_FIELD_MAX(SDP, S_LUT_ACCESS_CFG, LUT_ADDR);
}

void sim_lut_write(struct sim_lut *lut, u32 reg, u32 value)
{
	s16 *e;

	if (is_cfg(reg)) {
		lut->access_cfg = value & nvdla_reg_mask(reg);
		lut->address = CFG(lut, LUT_ADDR);
		return;
	}
	e = entry(lut);
	if (e && CFG(lut, LUT_ACCESS_TYPE))
		*e = (s16)value;
	advance(lut, reg, true);
}

u32 sim_lut_read(struct sim_lut *lut, u32 reg)
{
	const s16 *e;
	u32 value;

	if (is_cfg(reg)) {
		if (is_sdp(reg))
			return lut->access_cfg;
		return (lut->access_cfg & ~NVDLA_MASK(CDP, S_LUT_ACCESS_CFG, LUT_ADDR)) |
		       NVDLA_SET(CDP, S_LUT_ACCESS_CFG, LUT_ADDR, lut->address);
	}
	e = entry(lut);
	value = e ? (u16)*e : 0;
	advance(lut, reg, false);
	return value;
}
