/* SPDX-License-Identifier: MIT */
/*
 * Fixed-point arithmetic that TensorFlow Lite's quantised kernels are defined by
 * (gemmlowp/fixedpoint/fixedpoint.h, tensorflow/lite/kernels/internal/common.h
 * and quantization_util.cc), with two roundings as its default build has them.
 */
#ifndef REF_FIXEDPOINT_H
#define REF_FIXEDPOINT_H

#include "nvdla_types.h"

/* A real factor: multiplier / 2^31 * 2^shift. */
struct ref_scale {
	s32 multiplier;
	int shift;
};

struct ref_scale ref_scale_of(double real);

/* To the nearest integer, half away from zero; limited to +-10^9 (beyond, the original is undefined). */
s32 ref_round(float real);

/* a * b / 2^31, rounded half away from zero for positive and half up for negative products. */
s32 ref_high_mul(s32 a, s32 b);

/* x / 2^exponent, rounded half away from zero; exponent 0 to 31. */
s32 ref_divide_by_power(s32 x, int exponent);

/* x * 2^exponent, saturating. */
s32 ref_shift_left(s32 x, int exponent);

/* x * scale, rounded twice. */
s32 ref_multiply(s32 x, struct ref_scale scale);

/* exp(x) for x <= 0 with 5 integer bits; the result has none. */
s32 ref_exp_negative(s32 x);

/* 1 / x for x with @integer_bits; result in (0.5, 1] without integer bits and the shift it lacks. */
s32 ref_reciprocal(s32 x, int integer_bits, int *shift);

#endif /* REF_FIXEDPOINT_H */
