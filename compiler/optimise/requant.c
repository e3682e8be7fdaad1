// SPDX-License-Identifier: MIT
/*
 * Operands of SDP for quantised arithmetic.  Four ways:
 *
 * single   BS = bias and multiplier for each channel; BN is free for a clamp.
 * double   BS = coarse bias and a power of two, BN = rest of the bias and a 16-bit multiplier, all
 *          for each channel: any spread of multipliers, 32 bits of bias.
 * stepwise BS = bias for each channel and the multiplier's 16 leading bits, BN = a shift: rounds twice,
 *          as the reference does, where the shift is so small that it shows.
 * residual BS = bias and multiplier for each channel, to units of the residual's scale / 2^u;
 *          BN = plus residual << u, times one multiplier for all.
 *
 * A multiplier rounded to 16 bits is wrong by a factor; the bias is chosen so that the error is zero
 * in the middle of the sums that neither saturate nor are impossible, and is evaluated at both ends.
 */
#include "requant.h"

#include <math.h>
#include <stdlib.h>

#define OPERAND_MAX 32767.0
#define BIAS_MAX_SHIFT 16 /* operand << shift has to stay below 2^31 */
#define MUL_MAX_SHIFT 46 /* 49-bit products leave nothing beyond */

/* Up to this deviation the cheaper way is taken: less than the reference's own second rounding. */
#define GOOD_ENOUGH 0.003

static s64 round_shift(s64 value, u32 shift)
{
	u64 magnitude = value < 0 ? 0 - (u64)value : (u64)value;

	if (!shift)
		return value;
	if (shift > 62)
		return 0;
	magnitude = (magnitude + (1ull << (shift - 1))) >> shift;
	return value < 0 ? -(s64)magnitude : (s64)magnitude;
}

static s64 saturate(s64 value, s64 low, s64 high)
{
	return value < low ? low : value > high ? high : value;
}

static s32 operand(enum npu_operand from, s32 value, const s16 *table, u32 k, s8 element)
{
	switch (from) {
	case NPU_OPERAND_REGISTER:
		return value;
	case NPU_OPERAND_KERNEL:
		return table[k];
	case NPU_OPERAND_ELEMENT:
	case NPU_OPERAND_CHANNEL:
		return element;
	default:
		return 0;
	}
}

static s32 evaluate_stage(const struct npu_sdp_stage *stage, const s16 *alu, const s16 *mul, u32 k,
			  s32 in, s8 element)
{
	s64 x = in;

	if (stage->bypass)
		return in;
	if (stage->alu_from != NPU_OPERAND_NONE) {
		s64 with = operand(stage->alu_from, stage->alu_value, alu, k, element);

		with = saturate(with * (1ll << stage->alu_shift), INT32_MIN, INT32_MAX);
		x = stage->alu_op == NPU_ALU_MAX   ? max(x, with)
		    : stage->alu_op == NPU_ALU_MIN ? min(x, with)
						   : x + with;
	}
	if (stage->prelu && x >= 0)
		return (s32)x;
	if (stage->mul_from != NPU_OPERAND_NONE)
		x *= operand(stage->mul_from, stage->mul_value, mul, k, element);
	x = saturate(round_shift(x, stage->mul_shift), INT32_MIN, INT32_MAX);
	return stage->relu && x < 0 ? 0 : (s32)x;
}

s8 npu_sdp_evaluate(const struct npu_sdp *sdp, const struct npu_requant_tables *tables, u32 k,
		    s32 x, s8 element)
{
	s64 y;

	x = evaluate_stage(&sdp->bs, tables->bs_alu, tables->bs_mul, k, x, element);
	x = evaluate_stage(&sdp->bn, tables->bn_alu, tables->bn_mul, k, x, element);
	if (sdp->ew.mul_from != NPU_OPERAND_NONE)
		x = (s32)saturate((s64)x * (element - sdp->ew.mul_zero), INT32_MIN, INT32_MAX);
	y = round_shift(((s64)x - sdp->cvt_offset) * sdp->cvt_scale, sdp->cvt_shift);
	return (s8)saturate(y, -128, 127);
}

/* The largest shift with @factor << shift still a 16-bit operand, at most @limit; negative: none. */
static int operand_shift(double factor, int limit)
{
	int shift;

	if (!(factor > 0))
		return limit;
	shift = (int)floor(log2(OPERAND_MAX / factor));
	return min(shift, limit);
}

/* The smallest shift with |@value| >> shift still a 16-bit operand. */
static int bias_shift(double value)
{
	int shift = 0;

	while (fabs(value) > OPERAND_MAX * (double)(1ll << shift) && shift < 48)
		shift++;
	return shift;
}

static double round_operand(double value)
{
	return fmax(-OPERAND_MAX, fmin(OPERAND_MAX, round(value)));
}

/* What one channel has to come to, in output units without the zero point. */
struct target {
	double multiplier, bias; /* exact: (sum + bias) * multiplier */
	double from, to; /* sums that occur and do not saturate */
	double constant; /* where struct npu_channel.constant */
	double span; /* how far the output moves */
};

static struct target make_target(const struct npu_requant *requant, const struct npu_channel *ch)
{
	struct target t = { .multiplier = ch->multiplier, .bias = ch->bias };
	double low = requant->low - requant->zero - 0.5, high = requant->high - requant->zero + 0.5;
	double middle;

	if (requant->residual) {
		/* The convolution's own output would saturate outside; its zero point is not known. */
		low = -256 * requant->conv_scale;
		high = 256 * requant->conv_scale;
	}
	t.from = ch->low;
	t.to = ch->high;
	if (t.multiplier > 0) {
		t.from = fmax(t.from, low / t.multiplier - t.bias);
		t.to = fmin(t.to, high / t.multiplier - t.bias);
		if (t.from > t.to) /* always saturated: stay at the near end */
			t.from = t.to = t.to < ch->low ? ch->low : ch->high;
	}
	t.span = t.multiplier * (t.to - t.from);
	middle = ((t.from + t.to) / 2 + t.bias) * t.multiplier;
	if (requant->residual) {
		t.constant = fmax(low, fmin(high, middle)) -
			     requant->residual_zero * requant->residual_scale;
		if (t.multiplier > 0)
			t.bias -= requant->residual_zero * requant->residual_scale / t.multiplier;
	} else {
		t.constant = round(fmax(low + 0.5, fmin(high - 0.5, middle)));
	}
	return t;
}

/* Bias that makes the result with another multiplier right in the middle. */
static double corrected_bias(const struct target *t, double multiplier)
{
	double middle = (t->from + t->to) / 2;

	return (middle + t->bias) * t->multiplier / multiplier - middle;
}

/* Deviation of (sum + bias) * multiplier, at the worse end. */
static double deviation(const struct target *t, double multiplier, double bias)
{
	double a = (t->from + bias) * multiplier - (t->from + t->bias) * t->multiplier;
	double b = (t->to + bias) * multiplier - (t->to + t->bias) * t->multiplier;

	return fmax(fabs(a), fabs(b));
}

/* What a fit of all channels came to. */
struct fit {
	double worst;
	int alu_shift, mul_shift; /* of BS */
	int bn_alu_shift, bn_mul_shift;
};

static bool any_constant(const struct npu_requant *requant)
{
	u32 k;

	for (k = 0; k < requant->count; k++)
		if (requant->channel[k].constant)
			return true;
	return false;
}

static double largest_multiplier(const struct npu_requant *requant)
{
	double largest = 0;
	u32 k;

	for (k = 0; k < requant->count; k++)
		if (!requant->channel[k].constant)
			largest = fmax(largest, requant->channel[k].multiplier);
	return largest;
}

/* Splits a constant into bias << alu_shift and a power of two >> mul_shift; returns the deviation. */
static double fit_constant(double constant, int alu_shift, int mul_shift, s16 *alu, s16 *mul)
{
	int power = max(0, min(14, mul_shift - alu_shift));
	double step = ldexp(1.0, power + alu_shift - mul_shift);
	double value = round_operand(constant / step);

	*alu = (s16)value;
	*mul = (s16)(1 << power);
	return fabs(value * step - constant);
}

/*
 * One stage for each channel: bias << alu_shift, multiplier >> mul_shift, in units of 1/@unit of the
 * output (1 without residual).  @scale: what the stages behind multiply with (1/@unit, as rounded).
 */
static struct fit fit_single(struct npu_requant *requant, double unit, double scale, s16 *alu,
			     s16 *mul)
{
	struct fit fit = { 0 };
	u32 k;

	fit.mul_shift = operand_shift(largest_multiplier(requant) * unit, MUL_MAX_SHIFT);
	if (fit.mul_shift < 0)
		return (struct fit){ .worst = INFINITY };
	for (k = 0; k < requant->count; k++) {
		struct npu_channel *ch = &requant->channel[k];
		struct target t = make_target(requant, ch);
		double m = round_operand(ldexp(ch->multiplier * unit, fit.mul_shift));

		mul[k] = (s16)m;
		if (ch->constant || m < 1)
			continue;
		fit.alu_shift =
			max(fit.alu_shift,
			    bias_shift(corrected_bias(&t, ldexp(m, -fit.mul_shift) * scale)));
	}
	/* Constants need their 8 bits, and are exact where 2^20 multiplies the bias. */
	if (any_constant(requant))
		fit.alu_shift = max(fit.alu_shift, fit.mul_shift - 20);
	if (fit.alu_shift > BIAS_MAX_SHIFT)
		return (struct fit){ .worst = INFINITY };
	for (k = 0; k < requant->count; k++) {
		struct npu_channel *ch = &requant->channel[k];
		struct target t = make_target(requant, ch);
		double multiplier = ldexp(mul[k], -fit.mul_shift) * scale, bias, off;

		if (ch->constant) {
			off = scale * fit_constant(t.constant / scale, fit.alu_shift, fit.mul_shift,
						   &alu[k], &mul[k]);
		} else if (mul[k] < 1) {
			return (struct fit){ .worst = INFINITY };
		} else {
			bias = round_operand(ldexp(corrected_bias(&t, multiplier), -fit.alu_shift));
			alu[k] = (s16)bias;
			off = deviation(&t, multiplier, ldexp(bias, fit.alu_shift));
		}
		fit.worst = fmax(fit.worst, off);
	}
	return fit;
}

/* Two stages for each channel; see the top of the file. */
static struct fit fit_double(struct npu_requant *requant, struct npu_requant_tables *tables)
{
	struct fit fit = { 0 };
	u32 k;

	/* 34: sums that matter stay below 2^31 in front of BN. */
	fit.bn_mul_shift = operand_shift(ldexp(largest_multiplier(requant), -14), 34);
	if (fit.bn_mul_shift < 0)
		return (struct fit){ .worst = INFINITY };
	for (k = 0; k < requant->count; k++) {
		struct npu_channel *ch = &requant->channel[k];
		struct target t = make_target(requant, ch);
		double scaled = ldexp(ch->multiplier, fit.bn_mul_shift);
		int power = ch->constant ? 0 : max(0, min(14, ilogb(fmax(scaled, 1)) - 14));

		tables->bs_mul[k] = ch->constant ? 0 : (s16)(1 << power);
		tables->bn_mul[k] = (s16)fmax(1, round_operand(ldexp(scaled, -power)));
		if (!ch->constant)
			fit.alu_shift = max(
				fit.alu_shift,
				bias_shift(corrected_bias(&t, ldexp(tables->bn_mul[k],
								    power - fit.bn_mul_shift))));
	}
	if (fit.alu_shift > BIAS_MAX_SHIFT)
		return (struct fit){ .worst = INFINITY };
	if (any_constant(requant))
		fit.bn_alu_shift = max(0, fit.bn_mul_shift - 20);
	for (k = 0; k < requant->count; k++)
		if (!requant->channel[k].constant)
			fit.bn_alu_shift =
				max(fit.bn_alu_shift,
				    bias_shift(ldexp(tables->bs_mul[k], fit.alu_shift - 1)));
	for (k = 0; k < requant->count; k++) {
		struct npu_channel *ch = &requant->channel[k];
		struct target t = make_target(requant, ch);
		double multiplier =
			ldexp((double)tables->bn_mul[k] * tables->bs_mul[k], -fit.bn_mul_shift);
		double bias, coarse, rest, off;

		if (ch->constant) {
			tables->bs_alu[k] = 0;
			off = fit_constant(t.constant, fit.bn_alu_shift, fit.bn_mul_shift,
					   &tables->bn_alu[k], &tables->bn_mul[k]);
		} else {
			bias = corrected_bias(&t, multiplier);
			coarse = round_operand(ldexp(bias, -fit.alu_shift));
			rest = (bias - ldexp(coarse, fit.alu_shift)) * tables->bs_mul[k];
			rest = round_operand(ldexp(rest, -fit.bn_alu_shift));
			tables->bs_alu[k] = (s16)coarse;
			tables->bn_alu[k] = (s16)rest;
			bias = ldexp(coarse, fit.alu_shift) +
			       ldexp(rest, fit.bn_alu_shift) / tables->bs_mul[k];
			off = deviation(&t, multiplier, bias);
		}
		fit.worst = fmax(fit.worst, off);
	}
	return fit;
}

/* Channels whose output hardly moves: what remains is a constant. */
static void fold_constants(struct npu_requant *requant, double span)
{
	u32 k;

	for (k = 0; k < requant->count; k++)
		if (make_target(requant, &requant->channel[k]).span <= span)
			requant->channel[k].constant = true;
}

static const struct npu_sdp_stage stage_off = { .bypass = true, .value = NPU_NONE };
static const struct npu_sdp_ew ew_off = { .value = NPU_NONE };

static struct npu_sdp_stage kernel_stage(int alu_shift, int mul_shift)
{
	return (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_KERNEL,
		.alu_op = NPU_ALU_SUM,
		.alu_shift = alu_shift,
		.mul_from = NPU_OPERAND_KERNEL,
		.mul_shift = mul_shift,
		.value = NPU_NONE,
	};
}

static double residual_conv(struct npu_requant *requant, struct npu_sdp *sdp,
			    struct npu_requant_tables *tables)
{
	double largest = largest_multiplier(requant), f, scale;
	int u = operand_shift(largest / requant->residual_scale, 12), f_shift;
	struct fit fit;

	if (u < 4)
		return -1;
	f = ldexp(requant->residual_scale, -u);
	f_shift = operand_shift(f, MUL_MAX_SHIFT);
	if (f_shift < 0)
		return -1;
	sdp->bn = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_ELEMENT,
		.alu_op = NPU_ALU_SUM,
		.alu_shift = u,
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = (s32)round_operand(ldexp(f, f_shift)),
		.mul_shift = f_shift,
		.relu = requant->low > -128 && requant->low == requant->zero,
		.value = NPU_NONE,
	};
	scale = ldexp(sdp->bn.mul_value, -f_shift);
	fit = fit_single(requant, 1 / f, scale, tables->bs_alu, tables->bs_mul);
	if (isinf(fit.worst))
		return -1;
	sdp->bs = kernel_stage(fit.alu_shift, fit.mul_shift);
	return fit.worst + 0.5 * f + 128 * fabs(ldexp(scale, u) - requant->residual_scale);
}

/* Shifts beyond make the reference's first rounding too fine to matter. */
#define STEPWISE_MAX_SHIFT 6

/*
 * The reference multiplies with a factor between a half and one, rounds, shifts and rounds again.
 * Where all channels have one small multiplier, so can SDP.  Returns the largest deviation; INFINITY
 * where this is not such a layer.
 */
static double stepwise_conv(struct npu_requant *requant, struct npu_sdp *sdp,
			    struct npu_requant_tables *tables)
{
	double largest = largest_multiplier(requant);
	struct fit fit;
	int power;
	u32 k;

	for (k = 0; k < requant->count; k++)
		if (!requant->channel[k].constant && requant->channel[k].multiplier != largest)
			return INFINITY;
	frexp(largest, &power);
	if (power >= 0 || power < -STEPWISE_MAX_SHIFT)
		return INFINITY;
	fit = fit_single(requant, ldexp(1.0, -power), ldexp(1.0, power), tables->bs_alu,
			 tables->bs_mul);
	if (fit.worst > GOOD_ENOUGH)
		return INFINITY;
	sdp->bs = kernel_stage(fit.alu_shift, fit.mul_shift);
	sdp->bn = (struct npu_sdp_stage){
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = 1,
		.mul_shift = -power,
		.relu = requant->low > -128 && requant->low == requant->zero,
		.value = NPU_NONE,
	};
	return fit.worst;
}

static double plain_conv(struct npu_requant *requant, struct npu_sdp *sdp,
			 struct npu_requant_tables *tables)
{
	bool relu = requant->low > -128 && requant->low == requant->zero;
	struct fit fit, twice;
	double stepwise = requant->once ? INFINITY : stepwise_conv(requant, sdp, tables);

	if (!isinf(stepwise))
		return stepwise;
	fit = fit_single(requant, 1, 1, tables->bs_alu, tables->bs_mul);
	if (fit.worst > GOOD_ENOUGH) {
		twice = fit_double(requant, tables);
		if (twice.worst < fit.worst) {
			sdp->bs = kernel_stage(twice.alu_shift, 0);
			sdp->bn = kernel_stage(twice.bn_alu_shift, twice.bn_mul_shift);
			sdp->bn.relu = relu;
			return twice.worst;
		}
		fit = fit_single(requant, 1, 1, tables->bs_alu, tables->bs_mul);
	}
	if (isinf(fit.worst))
		return -1;
	sdp->bs = kernel_stage(fit.alu_shift, fit.mul_shift);
	sdp->bs.relu = relu;
	return fit.worst;
}

/* The upper clamp by BN's ALU, in front of its multiplier; false where that is taken. */
static bool clamp_above(const struct npu_requant *requant, struct npu_sdp_stage *bn)
{
	if (requant->high == 127)
		return true;
	if (bn->bypass)
		*bn = (struct npu_sdp_stage){ .value = NPU_NONE };
	if (bn->alu_from != NPU_OPERAND_NONE)
		return false;
	bn->alu_from = NPU_OPERAND_REGISTER;
	bn->alu_op = NPU_ALU_MIN;
	bn->alu_value = requant->high - requant->zero;
	bn->alu_shift = bn->mul_shift;
	return true;
}

double npu_requant_conv(struct npu_requant *requant, struct npu_sdp *sdp,
			struct npu_requant_tables *tables, bool *clamp_after)
{
	/* Saturation of the output conversion does the clamp where it is the range of INT8. */
	bool odd_low = requant->low > -128 && requant->low != requant->zero;
	double worst;

	*sdp = (struct npu_sdp){ .bs = stage_off, .bn = stage_off, .ew = ew_off, .cvt_scale = 1 };
	sdp->cvt_offset = -requant->zero;
	fold_constants(requant, 0.01);
	worst = requant->residual ? residual_conv(requant, sdp, tables)
				  : plain_conv(requant, sdp, tables);
	if (worst < 0 || worst > 0.25) {
		/* A channel that moves by less than a unit is better constant than far off. */
		sdp->bs = sdp->bn = stage_off;
		fold_constants(requant, 0.8);
		worst = requant->residual ? residual_conv(requant, sdp, tables)
					  : plain_conv(requant, sdp, tables);
	}
	*clamp_after = odd_low || !clamp_above(requant, &sdp->bn);
	return worst;
}

double npu_requant_add(struct npu_sdp *sdp, double scale_a, s32 zero_a, double scale_b, s32 zero_b,
		       s32 zero, s32 sign_a, s32 sign_b)
{
	double ratio = scale_a / scale_b, f, rounded, offset, worst;
	int u = operand_shift(ratio, 12), shift, f_shift;

	*sdp = (struct npu_sdp){ .bs = stage_off, .bn = stage_off, .ew = ew_off };
	if (u < 4)
		return -1;
	shift = operand_shift(ldexp(ratio, u), MUL_MAX_SHIFT);
	f = ldexp(scale_b, -u);
	f_shift = operand_shift(f, MUL_MAX_SHIFT);
	if (shift < 0 || f_shift < 0)
		return -1;
	/* a - b is -(b - a): both multipliers change their sign; b - a: that of a alone does. */
	sdp->bs = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_REGISTER,
		.alu_op = NPU_ALU_SUM,
		.alu_value = -zero_a,
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = sign_a * sign_b * (s32)round_operand(ldexp(ratio, u + shift)),
		.mul_shift = shift,
		.value = NPU_NONE,
	};
	sdp->bn = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_ELEMENT,
		.alu_op = NPU_ALU_SUM,
		.alu_shift = u,
		.value = NPU_NONE,
	};
	sdp->cvt_scale = sign_b * (s32)round_operand(ldexp(f, f_shift));
	sdp->cvt_shift = f_shift;
	rounded = ldexp(abs(sdp->cvt_scale), -f_shift);
	offset = round(ldexp(zero_b, u) - sign_b * zero / rounded);
	if (fabs(offset) > INT32_MAX)
		return -1;
	sdp->cvt_offset = (s32)offset;
	worst = 255 * scale_b * fabs(ldexp(abs(sdp->bs.mul_value), -shift - u) - ratio) + f;
	return worst + 255 * (scale_a + scale_b) * fabs(rounded / f - 1);
}

double npu_requant_scale(struct npu_sdp *sdp, double scale, s32 zero_in, s32 zero_out, bool twice)
{
	int power = 0, shift;
	double factor;

	*sdp = (struct npu_sdp){ .bs = stage_off, .bn = stage_off, .ew = ew_off, .cvt_scale = 1 };
	factor = twice ? frexp(scale, &power) : scale;
	if (power > 0) {
		factor = scale;
		power = 0;
	}
	shift = operand_shift(factor, MUL_MAX_SHIFT);
	if (shift < 0 || power < -31)
		return -1;
	sdp->bs = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_REGISTER,
		.alu_op = NPU_ALU_SUM,
		.alu_value = -zero_in,
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = (s32)round_operand(ldexp(factor, shift)),
		.mul_shift = shift,
		.value = NPU_NONE,
	};
	if (power)
		sdp->bn = (struct npu_sdp_stage){
			.mul_from = NPU_OPERAND_REGISTER,
			.mul_value = 1,
			.mul_shift = -power,
			.value = NPU_NONE,
		};
	sdp->cvt_offset = -zero_out;
	return 256 * fabs(ldexp(sdp->bs.mul_value, power - shift) - scale);
}

static double largest_of(const double *value, u32 count)
{
	double largest = 0;
	u32 k;

	for (k = 0; k < count; k++)
		largest = fmax(largest, fabs(value[k]));
	return largest;
}

static bool all_same(const s16 *value, u32 count)
{
	u32 k;

	for (k = 1; k < count; k++)
		if (value[k] != value[0])
			return false;
	return true;
}

/* Fractions of an output unit between BS and BN: more would gain nothing. */
#define AFFINE_UNIT 12
#define AFFINE_LEAST_UNIT 3

double npu_requant_affine(struct npu_sdp *sdp, const struct npu_affine *affine)
{
	double multiplier = largest_of(affine->multiplier, affine->count), worst = 0;
	double offset = largest_of(affine->offset, affine->count);
	int unit = AFFINE_UNIT + 1, shift, add_shift;
	u32 k;

	do {
		unit--;
		shift = operand_shift(ldexp(multiplier, unit), MUL_MAX_SHIFT);
		add_shift = bias_shift(ldexp(offset, unit));
	} while (unit > AFFINE_LEAST_UNIT && (shift < 0 || add_shift > BIAS_MAX_SHIFT));
	if (shift < 0 || add_shift > BIAS_MAX_SHIFT)
		return -1;
	for (k = 0; k < affine->count; k++) {
		double off, m = ldexp(affine->multiplier[k], unit + shift);

		affine->mul[k] = (s16)round_operand(m);
		affine->add[k] = (s16)round_operand(ldexp(affine->offset[k], unit - add_shift));
		off = 255 * ldexp(fabs(affine->mul[k] - m), -unit - shift);
		off += fabs(ldexp(affine->add[k], add_shift - unit) - affine->offset[k]);
		worst = fmax(worst, off + ldexp(0.5, -unit));
	}
	*sdp = (struct npu_sdp){ .ew = ew_off, .cvt_scale = 1, .cvt_offset = -affine->zero_out };
	sdp->bs = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_REGISTER,
		.alu_op = NPU_ALU_SUM,
		.alu_value = -affine->zero_in,
		.mul_from = NPU_OPERAND_KERNEL,
		.mul_shift = shift,
		.value = NPU_NONE,
	};
	sdp->bn = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_KERNEL,
		.alu_op = NPU_ALU_SUM,
		.alu_shift = add_shift,
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = 1,
		.mul_shift = unit,
		.value = NPU_NONE,
	};
	if (all_same(affine->mul, affine->count)) {
		sdp->bs.mul_from = NPU_OPERAND_REGISTER;
		sdp->bs.mul_value = affine->mul[0];
	}
	if (all_same(affine->add, affine->count)) {
		sdp->bn.alu_from = NPU_OPERAND_REGISTER;
		sdp->bn.alu_value = affine->add[0];
	}
	return worst;
}

/* Fractions of an input unit in which slopes are applied. */
#define PRELU_UNIT 12

double npu_requant_prelu(struct npu_sdp *sdp, double scale, const double *slope, u32 count,
			 s32 zero_in, s32 zero_out, s16 *mul)
{
	int slope_shift = operand_shift(largest_of(slope, count), MUL_MAX_SHIFT);
	int shift = operand_shift(ldexp(scale, -PRELU_UNIT), MUL_MAX_SHIFT);
	double factor, offset, off = 0;
	u32 k;

	if (slope_shift < 0 || shift < 0)
		return -1;
	for (k = 0; k < count; k++) {
		mul[k] = (s16)round_operand(ldexp(slope[k], slope_shift));
		off = fmax(off, fabs(ldexp(mul[k], -slope_shift) - slope[k]));
	}
	*sdp = (struct npu_sdp){ .ew = ew_off };
	sdp->bs = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_REGISTER,
		.alu_op = NPU_ALU_SUM,
		.alu_value = -zero_in,
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = 1 << PRELU_UNIT,
		.value = NPU_NONE,
	};
	sdp->bn = (struct npu_sdp_stage){
		.mul_from = NPU_OPERAND_KERNEL,
		.mul_shift = slope_shift,
		.prelu = true,
		.value = NPU_NONE,
	};
	if (all_same(mul, count)) {
		sdp->bn.mul_from = NPU_OPERAND_REGISTER;
		sdp->bn.mul_value = mul[0];
	}
	sdp->cvt_scale = (s32)round_operand(ldexp(scale, shift - PRELU_UNIT));
	sdp->cvt_shift = shift;
	if (!sdp->cvt_scale)
		return -1;
	factor = ldexp(sdp->cvt_scale, -shift);
	offset = round(-zero_out / factor);
	if (fabs(offset) > INT32_MAX)
		return -1;
	sdp->cvt_offset = (s32)offset;
	off = off * 255 * scale + factor / 2;
	return off +
	       255 * fabs(ldexp(factor, PRELU_UNIT) - scale) * fmax(1, largest_of(slope, count)) +
	       fabs(-offset * factor - zero_out);
}

double npu_requant_product(struct npu_sdp *sdp, double scale, s32 zero_a, s32 zero_b, s32 zero,
			   enum npu_operand from, bool has_ew)
{
	int shift = operand_shift(scale, MUL_MAX_SHIFT);
	double factor, offset;

	if (shift < 0 || (zero_b && !has_ew))
		return -1;
	*sdp = (struct npu_sdp){ .bs = stage_off, .bn = stage_off, .ew = ew_off };
	sdp->bs = (struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_REGISTER,
		.alu_op = NPU_ALU_SUM,
		.alu_value = -zero_a,
		.value = NPU_NONE,
	};
	if (zero_b) {
		sdp->ew.mul_from = from;
		sdp->ew.mul_zero = zero_b;
	} else {
		sdp->bs.mul_from = from;
	}
	sdp->cvt_scale = (s32)round_operand(ldexp(scale, shift));
	sdp->cvt_shift = shift;
	if (!sdp->cvt_scale)
		return -1;
	factor = ldexp(sdp->cvt_scale, -shift);
	offset = round(-zero / factor);
	if (fabs(offset) > INT32_MAX)
		return -1;
	sdp->cvt_offset = (s32)offset;
	/* The largest product that matters is the one that saturates. */
	return 256 * fabs(factor / scale - 1) + fabs(-offset * factor - zero);
}
