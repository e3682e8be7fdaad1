// SPDX-License-Identifier: MIT
/*
 * Softmax along the last dimension in fixed point: e^x by a product of powers
 * and a short polynomial, 1 / sum by Newton's iteration (reference/softmax.h;
 * gemmlowp, fixedpoint.h).  A Qm.n number below has m integer bits and a sign.
 */
#include <math.h>

#include "fixed.h"

#define DIFF_BITS 5 /* differences to the maximum are Q5.26 */
#define SUM_BITS 12 /* the sum of powers is Q12.19 */
#define Q0_ONE INT32_MAX

/* e^a for a in [-1/4, 0), Q0.31: e^(-1/8) times the Taylor series around -1/8. */
static s32 exp_short(s32 a)
{
	const s32 exp_eighth = 1895147668, third = 715827883;
	s32 x = a + (1 << 28), x2 = npu_high_mul(x, x), x3 = npu_high_mul(x2, x);
	s32 x4_quarter = npu_round_shift(npu_high_mul(x2, x2), 2);
	s32 tail = npu_round_shift(npu_high_mul(x4_quarter + x3, third) + x2, 1);

	return exp_eighth + npu_high_mul(exp_eighth, x + tail);
}

/* e^a for a <= 0 in Q5.26; the result is Q0.31. */
static s32 exp_negative(s32 a)
{
	/* e^-(2^i / 4) */
	static const s32 power[] = { 1672461947, 1302514674, 790015084, 290630308,
				     39332535,	 720401,     242 };
	const s32 quarter = 1 << 24;
	s32 rest = (a & (quarter - 1)) - quarter, quarters = rest - a;
	s32 result = exp_short(npu_saturating_shift(rest, DIFF_BITS));
	u32 i;

	if (!a)
		return Q0_ONE;
	for (i = 0; i < ARRAY_SIZE(power); i++)
		if (quarters & (quarter << i))
			result = npu_high_mul(result, power[i]);
	return result;
}

/* 1 / (1 + a) for a in [0, 1], Q0.31. */
static s32 reciprocal_one_plus(s32 a)
{
	const s32 c48_17 = 1515870810, c32_17 = 1010580540, q2_one = 1 << 29;
	s32 half = (s32)(((s64)a + Q0_ONE + 1) / 2);
	s32 x = c48_17 + npu_high_mul(half, -c32_17);
	int i;

	for (i = 0; i < 3; i++) {
		s32 error = q2_one - npu_high_mul(half, x);

		x += npu_saturating_shift(npu_high_mul(x, error), 2);
	}
	return npu_saturating_shift(x, 1);
}

struct softmax {
	s32 multiplier;
	int shift;
	s32 least; /* differences below have no weight */
};

/* beta * scale in Q5.26 units (kernels/internal/quantization_util.cc, PreprocessSoftmaxScaling). */
static struct softmax prepare(float beta, float scale)
{
	double real =
		fmin((double)beta * (double)scale * (1 << (31 - DIFF_BITS)), (double)INT32_MAX);
	struct npu_factor factor = npu_factor_of(real);
	struct softmax softmax = { factor.multiplier, min(max(factor.shift, 0), 31), 0 };
	double radius = (double)((1 << DIFF_BITS) - 1) * (1 << (31 - DIFF_BITS)) /
			(double)((s64)1 << softmax.shift);

	softmax.least = -(s32)floor(radius);
	return softmax;
}

static s32 power_of(const struct softmax *softmax, s32 diff)
{
	return exp_negative(
		npu_high_mul(npu_saturating_shift(diff, softmax->shift), softmax->multiplier));
}

static void softmax_row(const struct softmax *softmax, const struct npu_cpu_view *in,
			const struct npu_cpu_view *out, size_t first, u32 depth)
{
	const s32 low = out->tensor->dtype == NPU_I8 ? INT8_MIN : 0;
	s32 most = INT32_MIN, sum = 0, scale;
	int headroom, shift;
	u32 i;

	for (i = 0; i < depth; i++)
		most = max(most, npu_load(in, first + i));
	for (i = 0; i < depth; i++) {
		s32 diff = npu_load(in, first + i) - most;

		if (diff >= softmax->least)
			sum = (s32)((u32)sum +
				    (u32)npu_round_shift(power_of(softmax, diff), SUM_BITS));
	}
	/* The maximum itself is in the sum; only a sum that wrapped can be zero. */
	headroom = __builtin_clz((u32)sum | !sum);
	scale = reciprocal_one_plus((s32)(((u32)sum << headroom) - (1u << 31)));
	shift = SUM_BITS - headroom + 31 - 8;
	for (i = 0; i < depth; i++) {
		s32 diff = npu_load(in, first + i) - most, share = 0;

		if (diff >= softmax->least)
			share = npu_round_shift(npu_high_mul(scale, power_of(softmax, diff)),
						shift);
		npu_store(out, first + i, max(min(share, 255), 0) + low);
	}
}

int npu_cpu_softmax(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	struct softmax softmax = prepare(call->op->alpha, in.scale);
	u32 depth = in.nhwc[3];
	size_t first;

	for (first = 0; first + depth <= out.elements && depth; first += depth)
		softmax_row(&softmax, &in, &out, first, depth);
	return 0;
}

/* ---- float32 ---- */

static void real_row(const float *in, float *out, u32 depth, float beta)
{
	float most = -INFINITY, sum = 0;
	u32 i;

	for (i = 0; i < depth; i++)
		most = max(most, in[i]);
	for (i = 0; i < depth; i++) {
		out[i] = expf((in[i] - most) * beta);
		sum += out[i];
	}
	for (i = 0; i < depth; i++)
		out[i] /= sum;
}

int npu_cpu_softmax_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 depth = in.tensor->dim[in.tensor->rank - 1];
	size_t i;

	for (i = 0; i < out.elements; i += depth)
		real_row((const float *)in.data + i, (float *)out.data + i, depth, call->op->alpha);
	return 0;
}
