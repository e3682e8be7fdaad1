/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point arithmetic of quantised operators: real factors as a 32-bit
 * multiplier and a power of two, with a rounding in the product and one in the shift
 * (TensorFlow Lite, kernels/internal/common.h and quantization_util.cc), and
 * element access for the integer types.
 */
#ifndef LIBNPU_CPU_FIXED_H
#define LIBNPU_CPU_FIXED_H

#include "cpu.h"

/* real = multiplier / 2^31 * 2^shift */
struct npu_factor {
	s32 multiplier;
	int shift;
};

struct npu_factor npu_factor_of(double real);

/* 2 * a * b / 2^32, rounded to nearest, saturated. */
static inline s32 npu_high_mul(s32 a, s32 b)
{
	s64 product = (s64)a * b;

	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	product += product >= 0 ? 1 << 30 : 1 - (1 << 30);
	return (s32)(product / ((s64)1 << 31));
}

/* x / 2^shift, half away from zero; 0 <= shift <= 62. */
static inline s32 npu_round_shift(s32 x, int shift)
{
	s64 half = shift ? (s64)1 << (shift - 1) : 0;

	return (s32)((x + half - (x < 0 && shift ? 1 : 0)) >> shift);
}

/* x * 2^shift, saturated; 0 <= shift <= 31. */
static inline s32 npu_saturating_shift(s32 x, int shift)
{
	s64 wide = (s64)x * ((s64)1 << shift);

	return (s32)max(min(wide, (s64)INT32_MAX), (s64)INT32_MIN);
}

/* The left shift wraps, as it does in the compiled reference kernels. */
static inline s32 npu_scale(s32 x, struct npu_factor factor)
{
	int left = factor.shift > 0 ? min(factor.shift, 31) : 0;
	int right = factor.shift < 0 ? min(-factor.shift, 31) : 0;

	return npu_round_shift(npu_high_mul((s32)((u32)x << left), factor.multiplier), right);
}

/* Stored values that the output's type and the fused activation allow. */
struct npu_clamp {
	s32 low, high;
};

struct npu_clamp npu_clamp_of(const struct npu_op *op, const struct npu_cpu_view *out);

static inline s32 npu_clamped(s64 x, struct npu_clamp clamp)
{
	return (s32)max(min(x, (s64)clamp.high), (s64)clamp.low);
}

/* A real number in the output's units, half away from zero; what is no number is 0. */
s32 npu_stored(double real, const struct npu_cpu_view *out, struct npu_clamp clamp);

static inline s32 npu_load(const struct npu_cpu_view *view, size_t i)
{
	switch (view->tensor->dtype) {
	case NPU_I8:
		return ((const s8 *)view->data)[i];
	case NPU_I16:
		return ((const s16 *)view->data)[i];
	case NPU_I32:
		return ((const s32 *)view->data)[i];
	default:
		return ((const u8 *)view->data)[i];
	}
}

static inline void npu_store(const struct npu_cpu_view *view, size_t i, s32 value)
{
	switch (view->tensor->dtype) {
	case NPU_I16:
		((s16 *)view->data)[i] = (s16)value;
		break;
	case NPU_I32:
		((s32 *)view->data)[i] = value;
		break;
	default:
		((u8 *)view->data)[i] = (u8)value;
	}
}

/*
 * Products and quotients in single precision, rounded at every step: the compiler must
 * not fuse them with what comes after.
 */
static inline float npu_single_mul(float a, float b)
{
	volatile float product = a * b;

	return product;
}

static inline float npu_single_div(float a, float b)
{
	volatile float quotient = a / b;

	return quotient;
}

#endif /* LIBNPU_CPU_FIXED_H */
