// SPDX-License-Identifier: MIT
/* Operators that look at one element of each operand. */
#include "kernels.h"

#include <math.h>

/* Sums are made in units of twice the larger scale / 2^20 (kernels/add.cc). */
#define ADD_SHIFT 20

struct add_scales {
	struct ref_scale in[2], out;
};

static struct add_scales add_scales_of(const struct ref_view *in, const struct ref_view *out)
{
	double twice = 2 * (double)fmaxf(in[0].scale, in[1].scale);
	struct add_scales scales = {
		.in = { ref_scale_of((double)in[0].scale / twice),
			ref_scale_of((double)in[1].scale / twice) },
		.out = ref_scale_of(twice / ((1 << ADD_SHIFT) * (double)out->scale)),
	};

	return scales;
}

static s32 scaled_operand(const struct ref_view *in, size_t i, struct ref_scale scale)
{
	return ref_multiply((ref_load(in, i) - in->zero) * (1 << ADD_SHIFT), scale);
}

static float float_at(const struct ref_view *in, size_t i)
{
	return ((const float *)in->data)[i];
}

/* The stretched operands of output element @i. */
struct pair {
	size_t at[2];
};

static struct pair pair_of(const struct ref_view *in, const struct ref_view *out, size_t i)
{
	struct pair pair = { { ref_broadcast(out->tensor, in[0].tensor, i),
			       ref_broadcast(out->tensor, in[1].tensor, i) } };

	return pair;
}

int ref_add_sub(const struct ref_run *run)
{
	const struct ref_view in[2] = { ref_input(run, 0), ref_input(run, 1) };
	struct ref_view out = ref_output(run);
	struct add_scales scales = add_scales_of(in, &out);
	const int sign = run->op->kind == NPU_OP_SUB ? -1 : 1;
	size_t i, elements = npu_tensor_elements(out.tensor);
	struct ref_range range = ref_range(run);

	for (i = 0; i < elements; i++) {
		struct pair pair = pair_of(in, &out, i);
		size_t a = pair.at[0], b = pair.at[1];

		if (ref_is_float(&out))
			((float *)out.data)[i] = ref_clamp_float(
				run, float_at(&in[0], a) + (float)sign * float_at(&in[1], b));
		else if (out.tensor->dtype == NPU_I32)
			ref_store(run, &out, range, i,
				  (s32)((u32)ref_load(&in[0], a) +
					(u32)sign * (u32)ref_load(&in[1], b)));
		else
			ref_store(run, &out, range, i,
				  (s64)ref_multiply(scaled_operand(&in[0], a, scales.in[0]) +
							    sign * scaled_operand(&in[1], b,
										  scales.in[1]),
						    scales.out) +
					  out.zero);
	}
	return 0;
}

int ref_mul(const struct ref_run *run)
{
	const struct ref_view in[2] = { ref_input(run, 0), ref_input(run, 1) };
	struct ref_view out = ref_output(run);
	volatile float factor = in[0].scale * in[1].scale; /* in single precision, step by step */
	struct ref_scale scale;
	size_t i, elements = npu_tensor_elements(out.tensor);
	struct ref_range range = ref_range(run);

	factor = factor / out.scale;
	scale = ref_scale_of((double)factor);
	for (i = 0; i < elements; i++) {
		struct pair pair = pair_of(in, &out, i);
		size_t a = pair.at[0], b = pair.at[1];

		if (ref_is_float(&out))
			((float *)out.data)[i] =
				ref_clamp_float(run, float_at(&in[0], a) * float_at(&in[1], b));
		else if (out.tensor->dtype == NPU_I32)
			ref_store(run, &out, range, i,
				  (s32)((u32)ref_load(&in[0], a) * (u32)ref_load(&in[1], b)));
		else
			ref_store(run, &out, range, i,
				  (s64)ref_multiply((ref_load(&in[0], a) - in[0].zero) *
							    (ref_load(&in[1], b) - in[1].zero),
						    scale) +
					  out.zero);
	}
	return 0;
}

int ref_div(const struct ref_run *run)
{
	const struct ref_view in[2] = { ref_input(run, 0), ref_input(run, 1) };
	struct ref_view out = ref_output(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++) {
		struct pair pair = pair_of(in, &out, i);

		((float *)out.data)[i] = ref_clamp_float(run, float_at(&in[0], pair.at[0]) /
								      float_at(&in[1], pair.at[1]));
	}
	return 0;
}

int ref_min_max(const struct ref_run *run)
{
	const struct ref_view in[2] = { ref_input(run, 0), ref_input(run, 1) };
	struct ref_view out = ref_output(run);
	const bool most = run->op->kind == NPU_OP_MAXIMUM;
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++) {
		struct pair pair = pair_of(in, &out, i);
		bool second;

		if (ref_is_float(&out))
			second = float_at(&in[1], pair.at[1]) > float_at(&in[0], pair.at[0]);
		else
			second = ref_load(&in[1], pair.at[1]) > ref_load(&in[0], pair.at[0]);
		if (ref_is_float(&out))
			((float *)out.data)[i] = second == most ? float_at(&in[1], pair.at[1])
								: float_at(&in[0], pair.at[0]);
		else
			ref_store(run, &out, ref_range(run), i,
				  second == most ? ref_load(&in[1], pair.at[1])
						 : ref_load(&in[0], pair.at[0]));
	}
	return 0;
}

/* The activation alone, with requantisation (kernels/activations.cc, QuantizedReluX). */
int ref_relu(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	volatile float factor = in.scale / out.scale;
	struct ref_scale scale = ref_scale_of((double)factor);
	struct ref_range range = ref_range(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++)
		if (ref_is_float(&out))
			((float *)out.data)[i] = ref_clamp_float(run, float_at(&in, i));
		else
			ref_store(run, &out, range, i,
				  (s64)ref_multiply(ref_load(&in, i) - in.zero, scale) + out.zero);
	return 0;
}

int ref_leaky_relu(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	volatile float identity = in.scale / out.scale, alpha = in.scale * run->op->alpha;
	struct ref_scale positive = ref_scale_of((double)identity), negative;
	struct ref_range range = ref_range(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	alpha = alpha / out.scale;
	negative = ref_scale_of((double)alpha);
	for (i = 0; i < elements; i++) {
		if (ref_is_float(&out)) {
			float x = float_at(&in, i);

			((float *)out.data)[i] = x > 0 ? x : x * run->op->alpha;
		} else {
			s32 x = ref_load(&in, i) - in.zero;

			ref_store(run, &out, range, i,
				  (s64)ref_multiply(x, x >= 0 ? positive : negative) + out.zero);
		}
	}
	return 0;
}

int ref_prelu(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), slope = ref_input(run, 1), out = ref_output(run);
	volatile float identity = in.scale / out.scale, product = in.scale * slope.scale;
	struct ref_scale positive = ref_scale_of((double)identity), negative;
	struct ref_range range = ref_range(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	product = product / out.scale;
	negative = ref_scale_of((double)product);
	for (i = 0; i < elements; i++) {
		size_t j = ref_broadcast(out.tensor, slope.tensor, i);

		if (ref_is_float(&out)) {
			float x = float_at(&in, i);

			((float *)out.data)[i] = x >= 0 ? x : x * float_at(&slope, j);
		} else {
			s32 x = ref_load(&in, i) - in.zero;
			s32 y = x >= 0 ? ref_multiply(x, positive)
				       : ref_multiply(x * (ref_load(&slope, j) - slope.zero),
						      negative);

			ref_store(run, &out, range, i, (s64)y + out.zero);
		}
	}
	return 0;
}

/*
 * Functions of 8-bit values come from a table made in single precision
 * (kernels/activations.cc: kReference and kGenericOptimized alike).
 */
static int by_table(const struct ref_run *run, float (*function)(float))
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	struct ref_range range = ref_range(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	for (i = 0; i < elements; i++) {
		if (ref_is_float(&out)) {
			((float *)out.data)[i] = function(float_at(&in, i));
		} else {
			volatile float inverse = 1 / out.scale;
			volatile float real = in.scale * (float)(ref_load(&in, i) - in.zero);
			volatile float scaled = (float)ref_round(function(real) * inverse);

			ref_store(run, &out, range, i, (s32)(scaled + (float)out.zero));
		}
	}
	return 0;
}

static float logistic(float x)
{
	return 1.0f / (1.0f + expf(-x));
}

int ref_logistic(const struct ref_run *run)
{
	return by_table(run, logistic);
}

int ref_tanh(const struct ref_run *run)
{
	return by_table(run, tanhf);
}

/* 16-bit counterparts of the arithmetic in fixedpoint.h. */
static s32 saturate16(s64 x)
{
	return max(min(x, (s64)INT16_MAX), (s64)INT16_MIN);
}

static s32 high_mul16(s32 a, s32 b)
{
	s32 product = a * b;

	return saturate16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

struct ref_scale16 {
	s32 multiplier;
	int shift;
};

static struct ref_scale16 scale16_of(float real)
{
	struct ref_scale wide = ref_scale_of((double)real);
	struct ref_scale16 scale = { .shift = wide.shift };

	scale.multiplier = wide.multiplier >= INT32_MAX - (1 << 15)
				   ? INT16_MAX
				   : (wide.multiplier + (1 << 15)) >> 16;
	return scale;
}

/* (x / 6 + 1 / 2) limited to 0..1, as 15-bit fraction (reference/hard_swish.h). */
static s32 hard_sigmoid16(s32 hires, struct ref_scale16 scale)
{
	s32 x = hires;

	if (scale.shift > 0)
		x = saturate16((s64)x * (1LL << (scale.shift - 1)));
	x = high_mul16(x, scale.multiplier);
	if (scale.shift > 0)
		x = saturate16((s64)x * 2);
	else if (scale.shift < 0)
		x = ref_divide_by_power(x, -scale.shift);
	return (x + (1 << 15)) >> 1;
}

int ref_hard_swish(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	volatile float hires_scale = 1.0f / 128.0f * in.scale;
	volatile float out_factor = hires_scale / out.scale;
	volatile float gate_factor = hires_scale / (3.0f / 32768.0f);
	struct ref_scale16 to_out = scale16_of(out_factor), to_gate = scale16_of(gate_factor);
	struct ref_range range = ref_range(run);
	size_t i, elements = npu_tensor_elements(out.tensor);

	if (!ref_is_float(&in) && to_out.shift > 0)
		return npu_diag_set(run->diag, -ENOTSUP,
				    "%s: hard swish enlarges values by more than 128",
				    run->graph->file);
	for (i = 0; i < elements; i++) {
		if (ref_is_float(&in)) {
			float x = float_at(&in, i);

			((float *)out.data)[i] = x * fminf(6, fmaxf(0, x + 3)) / 6;
		} else {
			s32 hires = (ref_load(&in, i) - in.zero) * 128;
			s32 scaled = high_mul16(hires, to_out.multiplier);
			s32 gated = hard_sigmoid16(hires, to_gate) * scaled / (1 << 15);

			ref_store(run, &out, range, i,
				  ref_divide_by_power(gated, -to_out.shift) + out.zero);
		}
	}
	return 0;
}
