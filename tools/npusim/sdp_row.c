// SPDX-License-Identifier: MIT
/*
 * BS, BN and the output conversion of SDP, one loop for each kind of stage.
 *
 * The widest value here is the product of a 33-bit sum and a 16-bit factor, 49 bits, and a
 * double holds 53 exactly.  So products, right shifts (multiplications by a power of two)
 * and the addition of one half are exact in double, and unlike 64-bit integers doubles
 * exist in every vector unit.
 */
#include "sdp_internal.h"

/* The loops are written for the vectoriser; -O2 alone leaves them scalar in GCC 12. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3,no-trapping-math")
#endif

/* Sanitizers instrument the resolvers that function multiversioning needs. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#if defined(__x86_64__) && !SANITIZED
#define ROW_FUNCTION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ROW_FUNCTION
#endif

#define ROW_INLINE static inline __attribute__((always_inline))

#define TWO_31 2147483648.0
#define TWO_32 4294967296.0

/* Width of the shifters' input: a shift of that much or more gives 0. */
#define PRODUCT_BITS 49

static double shift_factor(u32 shift)
{
	return shift >= PRODUCT_BITS ? 0.0 : 1.0 / (double)(1ull << shift);
}

/* The nearest integer, ties away from zero, limited to [low, high]; exact for 49-bit sums. */
ROW_INLINE s32 round_limit(double v, double low, double high)
{
	v += v < 0.0 ? -0.5 : 0.5;
	v = v > high ? high : v;
	v = v < low ? low : v;
	return (s32)v;
}

/* 33 bits cut to the low 32. */
ROW_INLINE s32 low_32(double v)
{
	return (s32)(v >= TWO_31 ? v - TWO_32 : v);
}

ROW_INLINE double alu_value(double x, double operand, enum sdp_alu alu)
{
	switch (alu) {
	case SDP_ALU_MAX:
		return x > operand ? x : operand;
	case SDP_ALU_MIN:
		return x < operand ? x : operand;
	case SDP_ALU_SUM:
	case SDP_ALU_EQL:
		return x + operand;
	case SDP_ALU_NONE:
		break;
	}
	return x;
}

/* The loop of BS and BN; called with constants for @alu, @mul and @relu. */
ROW_INLINE void x_loop(double factor, s32 *x, const s32 *alu_operand, const s32 *mul_operand, u32 n,
		       enum sdp_alu alu, enum sdp_mul mul, bool relu)
{
	u32 i;

	for (i = 0; i < n; i++) {
		double v = x[i];
		s32 y;

		if (alu != SDP_ALU_NONE)
			v = alu_value(v, alu_operand[i], alu);
		if (mul == SDP_MUL_NONE) {
			y = round_limit(v * factor, -TWO_31, TWO_31 - 1.0);
		} else {
			y = round_limit(v * mul_operand[i] * factor, -TWO_31, TWO_31 - 1.0);
			/* PReLU: positive values skip multiplier and shift, and do not saturate. */
			if (mul == SDP_MUL_PRELU)
				y = v >= 0.0 ? low_32(v < 0.0 ? 0.0 : v) : y;
		}
		if (relu)
			y = y < 0 ? 0 : y;
		x[i] = y;
	}
}

#define X_ROW(alu, mul, relu)                                                                      \
	ROW_FUNCTION static void x_row_##alu##_##mul##_##relu(double factor, s32 *x, const s32 *a, \
							      const s32 *m, u32 n)                 \
	{                                                                                          \
		x_loop(factor, x, a, m, n, alu, mul, relu);                                        \
	}
#define X_ROWS_MUL(alu, mul) X_ROW(alu, mul, 0) X_ROW(alu, mul, 1)
#define X_ROWS(alu) \
	X_ROWS_MUL(alu, SDP_MUL_NONE) X_ROWS_MUL(alu, SDP_MUL) X_ROWS_MUL(alu, SDP_MUL_PRELU)

X_ROWS(SDP_ALU_MAX)
X_ROWS(SDP_ALU_MIN)
X_ROWS(SDP_ALU_SUM)
X_ROWS(SDP_ALU_NONE)

typedef void x_row_fn(double factor, s32 *x, const s32 *alu, const s32 *mul, u32 n);

#define X_PAIR(alu, mul)                                              \
	{                                                             \
		x_row_##alu##_##mul##_##0, x_row_##alu##_##mul##_##1, \
	}
#define X_TABLE(alu)                                                                         \
	{                                                                                    \
		X_PAIR(alu, SDP_MUL_NONE), X_PAIR(alu, SDP_MUL), X_PAIR(alu, SDP_MUL_PRELU), \
	}

/* [alu][mul][relu]; ALU_ALGO 3 is EW's EQL, which BS and BN take as SUM. */
static x_row_fn *const x_rows[5][3][2] = {
	[SDP_ALU_MAX] = X_TABLE(SDP_ALU_MAX),	[SDP_ALU_MIN] = X_TABLE(SDP_ALU_MIN),
	[SDP_ALU_SUM] = X_TABLE(SDP_ALU_SUM),	[SDP_ALU_EQL] = X_TABLE(SDP_ALU_SUM),
	[SDP_ALU_NONE] = X_TABLE(SDP_ALU_NONE),
};

void sdp_x_row(const struct sdp_x_stage *stage, s32 *x, const s32 *alu, const s32 *mul, u32 n)
{
	x_rows[stage->alu][stage->mul][stage->relu](shift_factor(stage->shift), x, alu, mul, n);
}

/* Clang 14 loses multiversioned functions that are not static, hence the pairs below. */
ROW_FUNCTION static void out_row(double offset, double factor, const s32 *x, s8 *out, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		out[i] = (s8)round_limit((x[i] - offset) * factor, -128.0, 127.0);
}

static double convert_factor(const struct sdp_convert *convert)
{
	return shift_factor(convert->shift) * convert->scale;
}

void sdp_out_row(const struct sdp_convert *convert, const s32 *x, s8 *out, u32 n)
{
	out_row(convert->offset, convert_factor(convert), x, out, n);
}

void sdp_out_row16(const struct sdp_convert *convert, const s32 *x, s16 *out, u32 n)
{
	double factor = convert_factor(convert), offset = convert->offset;
	u32 i;

	for (i = 0; i < n; i++)
		out[i] = (s16)round_limit((x[i] - offset) * factor, -32768.0, 32767.0);
}

ROW_FUNCTION static u32 out_saturated(double offset, double factor, const s32 *x, u32 n)
{
	u32 count = 0, i;

	for (i = 0; i < n; i++) {
		double v = (x[i] - offset) * factor;

		count += v >= 65535.5 || v < -65536.0;
	}
	return count;
}

u32 sdp_out_saturated(const struct sdp_convert *convert, const s32 *x, u32 n)
{
	return out_saturated(convert->offset, convert_factor(convert), x, n);
}

ROW_FUNCTION static void shift_row(const s16 *in, s32 *out, double factor, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		double v = in[i] * factor;

		v = v > TWO_31 - 1.0 ? TWO_31 - 1.0 : v;
		v = v < -TWO_31 ? -TWO_31 : v;
		out[i] = (s32)v;
	}
}

void sdp_alu_operand_row(const s16 *in, s32 *out, u32 shift, u32 n)
{
	/* Beyond 32 bits every operand but 0 saturates: a shift of 32 does as well as 63. */
	shift_row(in, out, (double)(1ull << (shift > 32 ? 32 : shift)), n);
}

void sdp_widen_row(const s16 *in, s32 *out, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		out[i] = in[i];
}
