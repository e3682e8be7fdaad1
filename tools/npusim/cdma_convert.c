// SPDX-License-Identifier: MIT
/*
 * CDMA's converter: (value - offset) * scale, shifted right with rounding half away from
 * zero, saturated to 8 bits.  Source: nvdla/hw, vmod, CDMA_CVT_cell.
 */
#include "conv.h"

s8 sim_convert(const struct sim_convert *cvt, s32 value, s32 offset)
{
	s64 product;
	u64 magnitude;

	if (!cvt->enabled)
		return (s8)value;
	product = ((s64)value - offset) * cvt->scale;
	magnitude = product < 0 ? (u64)-product : (u64)product;
	if (cvt->truncate)
		magnitude = (magnitude + (1ull << (cvt->truncate - 1))) >> cvt->truncate;
	if (product < 0)
		return magnitude > 128 ? -128 : (s8) - (s64)magnitude;
	return magnitude > 127 ? 127 : (s8)magnitude;
}
