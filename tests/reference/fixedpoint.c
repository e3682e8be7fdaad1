// SPDX-License-Identifier: MIT
#include "fixedpoint.h"

#include <math.h>

struct ref_scale ref_scale_of(double real)
{
	struct ref_scale scale = { 0 };
	s64 fixed;

	if (real == 0)
		return scale;
	real = fmax(fmin(real, 0x1p62), -0x1p62);
	fixed = llround(frexp(real, &scale.shift) * (double)(1LL << 31));
	if (fixed == 1LL << 31) {
		fixed /= 2;
		scale.shift++;
	}
	/* All bits would be shifted out. */
	if (scale.shift < -31) {
		scale.shift = 0;
		fixed = 0;
	}
	if (scale.shift > 30) {
		scale.shift = 30;
		fixed = INT32_MAX;
	}
	scale.multiplier = fixed;
	return scale;
}

s32 ref_round(float real)
{
	return (s32)roundf(fmaxf(fminf(real, 1e9f), -1e9f));
}

s32 ref_high_mul(s32 a, s32 b)
{
	s64 product = (s64)a * b;
	s64 nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);

	if (a == INT32_MIN && b == INT32_MIN)
		return INT32_MAX;
	return (product + nudge) / (1LL << 31);
}

s32 ref_divide_by_power(s32 x, int exponent)
{
	s64 half = exponent ? 1LL << (exponent - 1) : 0;
	s64 magnitude = x < 0 ? -(s64)x : x;

	magnitude = (magnitude + half) >> exponent;
	return x < 0 ? -magnitude : magnitude;
}

s32 ref_shift_left(s32 x, int exponent)
{
	s64 shifted = (s64)x * (1LL << exponent);

	return max(min(shifted, (s64)INT32_MAX), (s64)INT32_MIN);
}

s32 ref_multiply(s32 x, struct ref_scale scale)
{
	/* The left shift wraps, as it does in TensorFlow Lite's compiled kernels. */
	s32 shifted = scale.shift > 0 ? (s32)((u32)x << scale.shift) : x;

	return ref_divide_by_power(ref_high_mul(shifted, scale.multiplier),
				   scale.shift < 0 ? -scale.shift : 0);
}

/* exp(x) for x in [-1/4, 0), no integer bits: a polynomial of fourth degree around -1/8. */
static s32 exp_quarter(s32 a)
{
	const s32 exp_minus_eighth = 1895147668, third = 715827883;
	s32 x = a + (1 << 28);
	s32 x2 = ref_high_mul(x, x);
	s32 x3 = ref_high_mul(x2, x);
	s32 x4_4 = ref_divide_by_power(ref_high_mul(x2, x2), 2);
	s32 tail = ref_divide_by_power(ref_high_mul(x4_4 + x3, third) + x2, 1);

	return exp_minus_eighth + ref_high_mul(exp_minus_eighth, x + tail);
}

s32 ref_exp_negative(s32 x)
{
	/* exp(-2^i) for i from -2 up, without integer bits. */
	static const s32 factors[] = { 1672461947, 1302514674, 790015084, 290630308,
				       39332535,   720401,     242 };
	const int fraction_bits = 26;
	const s32 quarter = 1 << (fraction_bits - 2);
	s32 rest = (x & (quarter - 1)) - quarter;
	s32 result = exp_quarter(ref_shift_left(rest, 5));
	s32 whole = rest - x;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(factors); i++)
		if (whole >> (fraction_bits - 2 + i) & 1)
			result = ref_high_mul(result, factors[i]);
	return x ? result : INT32_MAX;
}

/* 1 / (1 + x) for x in [0, 1): three steps of Newton and Raphson. */
static s32 one_over_one_plus(s32 a)
{
	const s32 c48_17 = 1515870810, c32_17 = -1010580540, one = 1 << 29; /* 2 integer bits */
	s64 sum = (s64)a + INT32_MAX;
	s32 half_denominator = (sum + (sum >= 0 ? 1 : -1)) / 2;
	s32 x = c48_17 + ref_high_mul(half_denominator, c32_17);
	int i;

	for (i = 0; i < 3; i++) {
		s32 error = one - ref_high_mul(half_denominator, x);

		x += ref_shift_left(ref_high_mul(x, error), 2);
	}
	return ref_shift_left(x, 1);
}

s32 ref_reciprocal(s32 x, int integer_bits, int *shift)
{
	int headroom = __builtin_clz((u32)x);

	*shift = integer_bits - headroom;
	return one_over_one_plus((s32)(((u32)x << headroom) - (1u << 31)));
}
