// SPDX-License-Identifier: MIT
/*
 * SDP's operands against TensorFlow Lite's published arithmetic, for every kind of channel that real
 * networks have: never more than one unit apart, and how often equal.
 */
#include "optimise/requant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define CHANNELS 64
#define SAMPLES 400

static u64 random_state = 0x2545f4914f6cdd1dull;

static u32 random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32)(random_state >> 16);
}

static double random_unit(void)
{
	return random_u32() / 4294967296.0;
}

static s64 random_between(s64 low, s64 high)
{
	return low + (s64)(random_unit() * (double)(high - low));
}

/* TensorFlow Lite: a real multiplier as 31 bits and a power of two. */
static void quantise_multiplier(double real, s32 *multiplier, int *shift)
{
	double fraction = frexp(real, shift);
	s64 fixed = (s64)round(fraction * (double)(1ll << 31));

	if (fixed == 1ll << 31) {
		fixed /= 2;
		++*shift;
	}
	if (*shift < -31) {
		*shift = 0;
		fixed = 0;
	}
	*multiplier = (s32)fixed;
}

/* TensorFlow Lite: doubling high multiplication, then a shift, each rounded. */
static s32 multiply(s32 x, s32 multiplier, int shift)
{
	int left = shift > 0 ? shift : 0, right = shift > 0 ? 0 : -shift;
	s64 product = (s64)(s32)((u32)x << left) * multiplier;
	s64 nudge = product >= 0 ? 1 << 30 : 1 - (1 << 30);
	s32 high = (s32)((product + nudge) / (1ll << 31));
	s32 mask = (s32)((1ll << right) - 1), rest = high & mask;
	s32 threshold = (mask >> 1) + (high < 0);

	return (high >> right) + (rest > threshold);
}

static s32 clamp(s64 value, s32 low, s32 high)
{
	return (s32)(value < low ? low : value > high ? high : value);
}

/* What a layer of the reference gives for a sum. */
static s32 reference(const struct npu_requant *r, u32 k, s64 sum)
{
	s32 multiplier;
	int shift;

	quantise_multiplier(r->channel[k].multiplier, &multiplier, &shift);
	return clamp((s64)multiply((s32)(sum + r->channel[k].bias), multiplier, shift) + r->zero,
		     r->low, r->high);
}

struct tally {
	u64 elements, equal, worse;
};

struct setup {
	struct npu_channel channel[CHANNELS];
	s16 operands[4][CHANNELS];
	struct npu_requant requant;
	struct npu_requant_tables tables;
	struct npu_sdp sdp;
	bool clamp_after;
	double worst;
};

static void prepare(struct setup *s)
{
	s->requant.channel = s->channel;
	s->requant.count = CHANNELS;
	s->tables = (struct npu_requant_tables){ s->operands[0], s->operands[1], s->operands[2],
						 s->operands[3] };
	s->worst = npu_requant_conv(&s->requant, &s->sdp, &s->tables, &s->clamp_after);
	if (!s->requant.residual) {
		assert_true(s->worst >= 0);
		assert_true(s->worst < 0.5);
	}
}

/* SDP's result for a sum; a folded channel's weights are zero, so its sum is. */
static s32 hardware(const struct setup *s, u32 k, s64 sum, s8 element)
{
	s32 x = s->channel[k].constant ? 0 : (s32)sum;
	s32 y = npu_sdp_evaluate(&s->sdp, &s->tables, k, x, element);

	return s->clamp_after ? clamp(y, s->requant.low, s->requant.high) : y;
}

static void compare(const struct setup *s, struct tally *tally)
{
	u32 k, i;

	for (k = 0; k < CHANNELS; k++) {
		const struct npu_channel *ch = &s->channel[k];
		s64 centre = -ch->bias;

		for (i = 0; i < SAMPLES; i++) {
			s64 sum = i == 0   ? ch->low
				  : i == 1 ? ch->high
				  : i & 1  ? random_between(ch->low, ch->high)
					   : centre + (s64)((random_unit() - 0.5) * 300 /
							    ch->multiplier);
			s32 diff;

			if (sum < ch->low || sum > ch->high)
				continue;
			diff = abs(hardware(s, k, sum, 0) - reference(&s->requant, k, sum));
			tally->elements++;
			tally->equal += diff == 0;
			tally->worse += diff > 1;
		}
	}
}

static void report(const char *what, const struct tally *tally, double least_equal)
{
	double equal = (double)tally->equal / (double)tally->elements;

	print_message("%s: %llu elements, %.3f %% equal, %llu off by more than one\n", what,
		      (unsigned long long)tally->elements, 100 * equal,
		      (unsigned long long)tally->worse);
	assert_int_equal(tally->worse, 0);
	assert_true(equal >= least_equal);
}

/* A channel as training makes them: outputs spread over the range of INT8. */
static void ordinary(struct npu_channel *ch, double spread)
{
	double multiplier = exp2(-6 - 6 * random_unit() - spread * random_unit());
	s64 width = (s64)((0.5 + 8 * random_unit()) * 255 / multiplier);

	/* Accumulators have 32 bits. */
	width = min(width, 1ll << 29);
	ch->multiplier = multiplier;
	ch->low = -random_between(width / 8, width);
	ch->high = random_between(width / 8, width);
	ch->bias = random_between(-width, width) / 2;
	ch->constant = false;
}

/* One that training left without influence: tiny scale, enormous bias. */
static void dead(struct npu_channel *ch)
{
	ch->multiplier = exp2(-26 - 8 * random_unit());
	ch->low = -(s64)(random_u32() % 100000);
	ch->high = random_u32() % 100000;
	ch->bias = random_between(-(1ll << 30), 1ll << 30);
	ch->constant = false;
}

static void set_range(struct setup *s, u32 kind)
{
	s->requant.zero = (s32)(random_u32() % 256) - 128;
	s->requant.low = -128;
	s->requant.high = 127;
	if (kind & 1)
		s->requant.low = s->requant.zero;
	if (kind & 2)
		s->requant.high = min(127, s->requant.zero + 60);
	if ((kind & 3) == 3 && (kind & 4))
		s->requant.low = max(-128, s->requant.zero - 20);
}

static void test_ordinary(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;

	for (i = 0; i < 200; i++) {
		struct setup s = { 0 };

		for (k = 0; k < CHANNELS; k++)
			ordinary(&s.channel[k], 0);
		set_range(&s, i);
		prepare(&s);
		compare(&s, &tally);
	}
	report("ordinary channels", &tally, 0.98);
}

static void test_spread(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;

	for (i = 0; i < 200; i++) {
		struct setup s = { 0 };

		for (k = 0; k < CHANNELS; k++)
			ordinary(&s.channel[k], 12);
		set_range(&s, i);
		prepare(&s);
		compare(&s, &tally);
	}
	report("multipliers spread by 2^18", &tally, 0.98);
}

/* One multiplier for all, as in networks with one scale for all weights. */
static void test_one_multiplier(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;

	for (i = 0; i < 400; i++) {
		struct setup s = { 0 };
		double multiplier = exp2(-0.5 - 8 * random_unit());

		for (k = 0; k < CHANNELS; k++) {
			ordinary(&s.channel[k], 0);
			s.channel[k].bias =
				(s64)(s.channel[k].bias * s.channel[k].multiplier / multiplier);
			s.channel[k].low =
				(s64)(s.channel[k].low * s.channel[k].multiplier / multiplier);
			s.channel[k].high =
				(s64)(s.channel[k].high * s.channel[k].multiplier / multiplier);
			s.channel[k].multiplier = multiplier;
		}
		set_range(&s, i);
		prepare(&s);
		compare(&s, &tally);
	}
	report("one multiplier", &tally, 0.995);
}

static void test_dead(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;

	for (i = 0; i < 200; i++) {
		struct setup s = { 0 };

		for (k = 0; k < CHANNELS; k++)
			if (random_u32() % 3)
				ordinary(&s.channel[k], 4);
			else
				dead(&s.channel[k]);
		set_range(&s, i);
		prepare(&s);
		compare(&s, &tally);
	}
	report("with dead channels", &tally, 0.98);
}

static void test_all_dead(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;

	for (i = 0; i < 50; i++) {
		struct setup s = { 0 };

		for (k = 0; k < CHANNELS; k++)
			dead(&s.channel[k]);
		set_range(&s, i);
		prepare(&s);
		compare(&s, &tally);
	}
	report("dead channels alone", &tally, 0.9);
}

/* TensorFlow Lite's sum of two quantised values. */
static s32 reference_add(s32 a, s32 zero_a, double scale_a, s32 b, s32 zero_b, double scale_b,
			 s32 zero, s32 sign)
{
	double twice = 2 * fmax(scale_a, scale_b);
	s32 multiplier_a, multiplier_b, multiplier;
	int shift_a, shift_b, shift;
	s32 sum;

	quantise_multiplier(scale_a / twice, &multiplier_a, &shift_a);
	quantise_multiplier(scale_b / twice, &multiplier_b, &shift_b);
	quantise_multiplier(twice / (1 << 20), &multiplier, &shift);
	sum = multiply((a - zero_a) * (1 << 20), multiplier_a, shift_a) +
	      sign * multiply((b - zero_b) * (1 << 20), multiplier_b, shift_b);
	return clamp((s64)multiply(sum, multiplier, shift) + zero, -128, 127);
}

static void test_add(void **state)
{
	struct tally tally = { 0 };
	struct npu_requant_tables none = { 0 };
	u32 i;
	s32 a, b;

	for (i = 0; i < 300; i++) {
		double scale_a = exp2(3 - 6 * random_unit()), scale_b = exp2(3 - 6 * random_unit());
		s32 zero_a = (s32)(random_u32() % 256) - 128,
		    zero_b = (s32)(random_u32() % 256) - 128;
		s32 zero = (s32)(random_u32() % 256) - 128, sign = i & 1 ? -1 : 1;
		struct npu_sdp sdp;

		assert_true(npu_requant_add(&sdp, scale_a, zero_a, scale_b, zero_b, zero, 1,
					    sign) >= 0);
		for (a = -128; a < 128; a += 3)
			for (b = -128; b < 128; b += 5) {
				s32 diff = abs(npu_sdp_evaluate(&sdp, &none, 0, a, (s8)b) -
					       reference_add(a, zero_a, scale_a, b, zero_b, scale_b,
							     zero, sign));

				tally.elements++;
				tally.equal += diff == 0;
				tally.worse += diff > 1;
			}
	}
	report("sums and differences", &tally, 0.98);
}

static s32 rounded(double value, s32 zero)
{
	return clamp((s64)round(value) + zero, -128, 127);
}

static s32 random_zero(void)
{
	return (s32)(random_u32() % 256) - 128;
}

#define ROW 9

/* Constants of the channels: multiplied by, added, or the same for all of them. */
static void test_affine(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;
	s32 x;

	for (i = 0; i < 400; i++) {
		double multiplier[ROW], offset[ROW], size = exp2(4 - 10 * random_unit());
		s16 mul[ROW], add[ROW];
		struct npu_requant_tables tables = { .bs_mul = mul, .bn_alu = add };
		struct npu_affine affine = { multiplier,    offset, ROW, random_zero(),
					     random_zero(), mul,    add };
		struct npu_sdp sdp;
		double worst;

		for (k = 0; k < ROW; k++) {
			multiplier[k] = k && i % 3 == 0 ? multiplier[0]
							: size * (2 * random_unit() - 1);
			offset[k] = i % 5 == 0 ? 0 : 200 * random_unit() - 100;
		}
		worst = npu_requant_affine(&sdp, &affine);
		assert_true(worst >= 0 && worst < 0.45);
		assert_true(i % 3 || sdp.bs.mul_from == NPU_OPERAND_REGISTER);
		for (k = 0; k < ROW; k++)
			for (x = -128; x < 128; x++) {
				double exact = (x - affine.zero_in) * multiplier[k] + offset[k];
				s32 diff = abs(npu_sdp_evaluate(&sdp, &tables, k, x, 0) -
					       rounded(exact, affine.zero_out));

				tally.elements++;
				tally.equal += diff == 0;
				tally.worse += diff > 1;
			}
	}
	report("constants of channels", &tally, 0.98);
}

static void test_prelu(void **state)
{
	struct tally tally = { 0 };
	u32 i, k;
	s32 x;

	for (i = 0; i < 400; i++) {
		double slope[ROW], scale = exp2(3 - 6 * random_unit());
		s32 zero_in = random_zero(), zero_out = random_zero();
		s16 mul[ROW];
		struct npu_requant_tables tables = { .bn_mul = mul };
		struct npu_sdp sdp;
		double worst;

		for (k = 0; k < ROW; k++)
			slope[k] = 3 * random_unit() - 1.5;
		worst = npu_requant_prelu(&sdp, scale, slope, ROW, zero_in, zero_out, mul);
		assert_true(worst >= 0 && worst < 0.45);
		for (k = 0; k < ROW; k++)
			for (x = -128; x < 128; x++) {
				double real = (x - zero_in) * scale * (x < zero_in ? slope[k] : 1);
				s32 diff = abs(npu_sdp_evaluate(&sdp, &tables, k, x, 0) -
					       rounded(real, zero_out));

				tally.elements++;
				tally.equal += diff == 0;
				tally.worse += diff > 1;
			}
	}
	report("slopes", &tally, 0.98);
}

static void test_product(void **state)
{
	struct npu_requant_tables none = { 0 };
	struct tally tally = { 0 };
	struct npu_sdp sdp;
	s32 a, b;
	u32 i;

	for (i = 0; i < 300; i++) {
		double scale = exp2(-2 - 10 * random_unit()), worst;
		s32 zero_a = random_zero(), zero_b = i % 3 ? random_zero() : 0;
		s32 zero = random_zero();

		worst = npu_requant_product(&sdp, scale, zero_a, zero_b, zero, NPU_OPERAND_ELEMENT,
					    true);
		assert_true(worst >= 0 && worst < 0.45);
		assert_true((sdp.ew.mul_from == NPU_OPERAND_NONE) == !zero_b);
		for (a = -128; a < 128; a += 3)
			for (b = -128; b < 128; b += 5) {
				double exact = (a - zero_a) * (b - zero_b) * scale;
				s32 diff = abs(npu_sdp_evaluate(&sdp, &none, 0, a, (s8)b) -
					       rounded(exact, zero));

				tally.elements++;
				tally.equal += diff == 0;
				tally.worse += diff > 1;
			}
	}
	report("products", &tally, 0.98);
	/* Without EW nothing takes a zero point off the operand. */
	assert_true(npu_requant_product(&sdp, 0.01, 3, 4, 5, NPU_OPERAND_ELEMENT, false) < 0);
}

static void test_scale(void **state)
{
	struct tally tally = { 0 };
	struct npu_requant_tables none = { 0 };
	u32 i;
	s32 x;

	for (i = 0; i < 1000; i++) {
		double scale = exp2(4 - 8 * random_unit());
		s32 zero_in = (s32)(random_u32() % 256) - 128,
		    zero_out = (s32)(random_u32() % 256) - 128;
		struct npu_sdp sdp;
		s32 multiplier;
		int shift;

		quantise_multiplier(scale, &multiplier, &shift);
		assert_true(npu_requant_scale(&sdp, scale, zero_in, zero_out, true) >= 0);
		for (x = -128; x < 128; x++) {
			s32 want = clamp((s64)multiply(x - zero_in, multiplier, shift) + zero_out,
					 -128, 127);
			s32 diff = abs(npu_sdp_evaluate(&sdp, &none, 0, x, 0) - want);

			tally.elements++;
			tally.equal += diff == 0;
			tally.worse += diff > 1;
		}
	}
	report("changes of scale", &tally, 0.98);
}

/* Convolution and residual: against both steps of the reference, where the first does not saturate. */
static void test_residual(void **state)
{
	struct tally tally = { 0 };
	u32 i, j, k;

	for (i = 0; i < 200; i++) {
		double own = exp2(-2 + 2.5 * random_unit()), other = exp2(-2 + 4 * random_unit());
		s32 own_zero = (s32)(random_u32() % 256) - 128;
		struct setup s = { 0 };

		set_range(&s, i & 1);
		s.requant.residual = true;
		s.requant.residual_scale = other;
		s.requant.residual_zero = (s32)(random_u32() % 256) - 128;
		s.requant.conv_scale = own;
		for (k = 0; k < CHANNELS; k++)
			ordinary(&s.channel[k], 0);
		prepare(&s);
		if (s.worst < 0 || s.worst + 0.5 * own > 0.95)
			continue; /* not fused then */
		for (k = 0; k < CHANNELS; k++) {
			const struct npu_channel *ch = &s.channel[k];
			struct npu_requant conv = {
				.channel = s.channel, .zero = own_zero, .low = -128, .high = 127
			};
			double multiplier = ch->multiplier;

			for (j = 0; j < 50; j++) {
				s64 sum = -ch->bias +
					  (s64)((random_unit() - 0.5) * 255 * own / multiplier);
				s8 element = (s8)random_u32();
				s32 first, want, diff;

				if (sum < ch->low || sum > ch->high)
					continue;
				s.channel[k].multiplier = multiplier / own;
				first = reference(&conv, k, sum);
				s.channel[k].multiplier = multiplier;
				if (first <= -128 || first >= 127)
					continue;
				want = reference_add(first, own_zero, own, element,
						     s.requant.residual_zero, other, s.requant.zero,
						     1);
				want = max(want, s.requant.low);
				diff = abs(hardware(&s, k, sum, element) - want);
				tally.elements++;
				tally.equal += diff == 0;
				tally.worse += diff > 1;
			}
		}
	}
	report("with residual", &tally, 0.6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ordinary),       cmocka_unit_test(test_spread),
		cmocka_unit_test(test_one_multiplier), cmocka_unit_test(test_dead),
		cmocka_unit_test(test_all_dead),       cmocka_unit_test(test_add),
		cmocka_unit_test(test_affine),	       cmocka_unit_test(test_prelu),
		cmocka_unit_test(test_product),	       cmocka_unit_test(test_scale),
		cmocka_unit_test(test_residual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
