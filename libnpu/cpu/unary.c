// SPDX-License-Identifier: MIT
/*
 * Functions of one byte: a table of all 256 results, then a look-up for each
 * element.
 */
#include <math.h>

#include "fixed.h"

struct function {
	const struct npu_op *op;
	struct npu_cpu_view in, out;
	struct npu_clamp clamp;
};

/* Result for the stored value @x, before the clamp. */
typedef s64 (*value_fn)(const struct function *f, s32 x);

static int by_table(const struct npu_cpu_call *call, value_fn value)
{
	struct function f = { call->op, npu_cpu_input(call, 0), npu_cpu_output(call), { 0, 0 } };
	const u8 *from = f.in.data;
	u8 *to = f.out.data, table[256];
	size_t i;
	u32 x;

	f.clamp = npu_clamp_of(call->op, &f.out);
	for (x = 0; x < 256; x++)
		table[x] = (u8)npu_clamped(value(&f, f.in.tensor->dtype == NPU_I8 ? (s8)x : (s32)x),
					   f.clamp);
	for (i = 0; i < f.out.elements; i++)
		to[i] = table[from[i]];
	return 0;
}

static s64 relu_value(const struct function *f, s32 x)
{
	struct npu_factor factor = npu_factor_of(npu_single_div(f->in.scale, f->out.scale));

	return (s64)npu_scale(x - f->in.zero, factor) + f->out.zero;
}

int npu_cpu_relu(const struct npu_cpu_call *call)
{
	return by_table(call, relu_value);
}

static s64 leaky_relu_value(const struct function *f, s32 x)
{
	float slope = npu_single_div(npu_single_mul(f->in.scale, f->op->alpha), f->out.scale);
	s32 real = x - f->in.zero;

	if (real >= 0)
		return relu_value(f, x);
	/* A negative slope has the sign taken off the factor. */
	if (slope < 0)
		return f->out.zero - (s64)npu_scale(real, npu_factor_of(-slope));
	return f->out.zero + (s64)npu_scale(real, npu_factor_of(slope));
}

int npu_cpu_leaky_relu(const struct npu_cpu_call *call)
{
	return by_table(call, leaky_relu_value);
}

/* Smooth functions are evaluated in single precision (kernels/activations.cc, table by table). */
static s64 smooth_value(const struct function *f, s32 x, float (*function)(float))
{
	float real = npu_single_mul(f->in.scale, (float)(x - f->in.zero));
	float inverse = npu_single_div(1.0f, f->out.scale);

	return (s64)roundf(npu_single_mul(function(real), inverse)) + f->out.zero;
}

static float logistic(float x)
{
	return 1.0f / (1.0f + expf(-x));
}

static s64 logistic_value(const struct function *f, s32 x)
{
	return smooth_value(f, x, logistic);
}

int npu_cpu_logistic(const struct npu_cpu_call *call)
{
	return by_table(call, logistic_value);
}

static s64 tanh_value(const struct function *f, s32 x)
{
	return smooth_value(f, x, tanhf);
}

int npu_cpu_tanh(const struct npu_cpu_call *call)
{
	return by_table(call, tanh_value);
}

/* ---- hard swish: 16-bit fixed point (reference/hard_swish.h) ---- */

static s32 saturated16(s64 x)
{
	return (s32)max(min(x, (s64)INT16_MAX), (s64)INT16_MIN);
}

static s32 high_mul16(s32 a, s32 b)
{
	s32 product = a * b;

	return saturated16((product + (product >= 0 ? 1 << 14 : 1 - (1 << 14))) / (1 << 15));
}

static struct npu_factor factor16_of(float real)
{
	struct npu_factor factor = npu_factor_of(real);

	factor.multiplier = (s32)min(((s64)factor.multiplier + (1 << 15)) >> 16, (s64)INT16_MAX);
	return factor;
}

/* min(max(x + 3, 0), 6) / 6 as 15-bit fraction; @x in 1/128 of the input's units. */
static s32 gate(s32 x, struct npu_factor factor)
{
	if (factor.shift > 0)
		x = saturated16((s64)x * ((s64)1 << min(factor.shift - 1, 31)));
	x = high_mul16(x, factor.multiplier);
	if (factor.shift > 0)
		x = saturated16((s64)x * 2);
	else
		x = npu_round_shift(x, min(-factor.shift, 31));
	return (x + (1 << 15)) >> 1;
}

static s64 hard_swish_value(const struct function *f, s32 x)
{
	float hires_scale = npu_single_mul(1.0f / 128.0f, f->in.scale);
	struct npu_factor to_gate = factor16_of(npu_single_div(hires_scale, 3.0f / 32768.0f));
	struct npu_factor to_out = factor16_of(npu_single_div(hires_scale, f->out.scale));
	s32 hires = (x - f->in.zero) * 128;
	s32 product = gate(hires, to_gate) * high_mul16(hires, to_out.multiplier) / (1 << 15);

	return (s64)npu_round_shift(product, max(min(-to_out.shift, 31), 0)) + f->out.zero;
}

int npu_cpu_hard_swish(const struct npu_cpu_call *call)
{
	return by_table(call, hard_swish_value);
}

/* ---- functions of real numbers ---- */

/* Where the function has no value, that of real 0 stands. */
static s64 function_value(const struct function *f, s32 x)
{
	double real = npu_function_value(f->op, (double)f->in.scale * (x - f->in.zero));

	return npu_stored(real, &f->out, f->clamp);
}

int npu_cpu_function(const struct npu_cpu_call *call)
{
	return by_table(call, function_value);
}

int npu_cpu_function_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const float *from = in.data;
	float *to = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++)
		to[i] = npu_activate(call->op->activation,
				     (float)npu_function_value(call->op, (double)from[i]));
	return 0;
}

/* ---- float32 ---- */

static float real_result(const struct npu_op *op, float x)
{
	switch (op->kind) {
	case NPU_OP_LEAKY_RELU:
		return x >= 0 ? x : x * op->alpha;
	case NPU_OP_LOGISTIC:
		return logistic(x);
	case NPU_OP_TANH:
		return tanhf(x);
	case NPU_OP_HARD_SWISH:
		return x * min(max(x + 3, 0.0f), 6.0f) / 6;
	default: /* the activation alone */
		return x;
	}
}

int npu_cpu_unary_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const float *from = in.data;
	float *to = out.data;
	size_t i;

	for (i = 0; i < out.elements; i++)
		to[i] = npu_activate(call->op->activation, real_result(call->op, from[i]));
	return 0;
}
