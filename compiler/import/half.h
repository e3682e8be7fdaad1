/* SPDX-License-Identifier: MIT */
/* float16 as files have it, for constants: the graph computes in float32. */
#ifndef NPU_IMPORT_HALF_H
#define NPU_IMPORT_HALF_H

#include "nvdla_types.h"

static inline float npu_from_half(u16 half)
{
	u32 sign = (u32)(half & 0x8000) << 16, exponent = half >> 10 & 0x1f, bits;
	u32 fraction = half & 0x3ff;
	float value;

	if (exponent == 0) {
		value = (float)fraction / (1 << 24);
		return sign ? -value : value;
	}
	bits = sign | (exponent == 0x1f ? 0xff : exponent + 112) << 23 | fraction << 13;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

#endif /* NPU_IMPORT_HALF_H */
