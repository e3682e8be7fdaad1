// SPDX-License-Identifier: MIT
#include <math.h>

#include "fixed.h"

struct npu_factor npu_factor_of(double real)
{
	struct npu_factor factor = { 0, 0 };
	s64 multiplier;

	if (!(real > 0) || !isfinite(real))
		return factor;
	multiplier = llround(frexp(real, &factor.shift) * 2147483648.0);
	if (multiplier == (s64)1 << 31) {
		multiplier /= 2;
		factor.shift++;
	}
	if (factor.shift < -31)
		return (struct npu_factor){ 0, 0 };
	factor.multiplier = (s32)multiplier;
	return factor;
}

/* A real bound in the output's units, kept far from overflow. */
static s64 stored(const struct npu_cpu_view *out, float real)
{
	float units = roundf(npu_single_div(real, out->scale));

	return out->zero + (s64)fmaxf(fminf(units, 1e9f), -1e9f);
}

static struct npu_clamp type_range(enum npu_dtype dtype)
{
	switch (dtype) {
	case NPU_I8:
		return (struct npu_clamp){ INT8_MIN, INT8_MAX };
	case NPU_U8:
		return (struct npu_clamp){ 0, UINT8_MAX };
	case NPU_I16:
		return (struct npu_clamp){ INT16_MIN, INT16_MAX };
	default:
		return (struct npu_clamp){ INT32_MIN, INT32_MAX };
	}
}

struct npu_clamp npu_clamp_of(const struct npu_op *op, const struct npu_cpu_view *out)
{
	static const struct {
		bool has_low, has_high;
		float low, high;
	} bounds[] = {
		[NPU_ACT_NONE] = { false, false, 0, 0 },
		[NPU_ACT_RELU] = { true, false, 0, 0 },
		[NPU_ACT_RELU6] = { true, true, 0, 6 },
		[NPU_ACT_RELU_N1_TO_1] = { true, true, -1, 1 },
	};
	struct npu_clamp clamp = type_range(out->tensor->dtype);
	struct npu_clamp range = clamp;

	if (bounds[op->activation].has_low)
		clamp.low = npu_clamped(stored(out, bounds[op->activation].low), range);
	if (bounds[op->activation].has_high)
		clamp.high = npu_clamped(stored(out, bounds[op->activation].high), range);
	return clamp;
}

s32 npu_stored(double real, const struct npu_cpu_view *out, struct npu_clamp clamp)
{
	double units = round(real / (double)out->scale) + out->zero;

	if (isnan(real))
		units = out->zero;
	return (s32)fmax(fmin(units, (double)clamp.high), (double)clamp.low);
}
