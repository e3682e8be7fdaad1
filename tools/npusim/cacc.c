// SPDX-License-Identifier: MIT
/* CACC: the clip of finished sums.  Source: nvdla/hw, vmod, CACC_CALC_int8. */
#include "conv.h"

s32 sim_cacc_clip(s64 sum, u32 truncate, u32 *saturated)
{
	bool negative = sum < 0;
	u64 magnitude = negative ? (u64)-sum : (u64)sum;

	if (truncate)
		magnitude = (magnitude + (1ull << (truncate - 1))) >> truncate;
	if (!negative && magnitude > INT32_MAX) {
		++*saturated;
		return INT32_MAX;
	}
	if (negative && magnitude > 1ull << 31) {
		++*saturated;
		return INT32_MIN;
	}
	return negative ? (s32) - (s64)magnitude : (s32)magnitude;
}

void sim_cacc_round(s32 *sums, size_t count, u32 truncate)
{
	s64 half = truncate ? 1ll << (truncate - 1) : 0;
	size_t i;

	if (!truncate)
		return;
	/* Half away from zero: a negative sum rounds down only when it is beyond the half. */
	for (i = 0; i < count; i++)
		sums[i] = (s32)((sums[i] + half - (sums[i] < 0)) >> truncate);
}
