// SPDX-License-Identifier: MIT
/* Steps of an average as convolutions; hi and rest between them lie surface by surface in one value. */
#include "average.h"
#include "conv.h"
#include "view.h"

/*
 * Ties round away from zero in the reference and in SDP; a multiplier that is too large by less than
 * its last bit keeps them ties or beyond.
 */
#define ROUND_UP 3e-5

#define UNIT_SHIFT 6u
_Static_assert(1u << UNIT_SHIFT == NPU_AVERAGE_UNIT, "the unit is a power of two");

static const s32 no_zero;
static const struct npu_tensor stored = {
	.dtype = NPU_I8,
	.quant = { 1, 0, NULL, (s32 *)(uintptr_t)&no_zero },
};

/**
 * struct steps - an average on its way
 * @done: steps so far
 * @input: what they made; first: the average's input
 */
struct steps {
	struct npu_opt *opt;
	const struct npu_average *average;
	const struct npu_average_steps *all;
	u32 done, input;
};

static u32 surfaces(const struct steps *s, u32 channels)
{
	return DIV_ROUND_UP(channels, (u32)s->opt->config->atom);
}

static u32 channels_of(const struct steps *s)
{
	return s->opt->net->value[s->average->input].c;
}

/* ---- kernels ----------------------------------------------------------------------------- */

/* Of stored values: @weight for the channel itself. */
static int set_ones(struct steps *s, s8 weight, struct npu_kernels *kernels)
{
	size_t per = (size_t)kernels->r * kernels->s;
	s8 *data = npu_arena_array(&s->opt->net->arena, kernels->k, per);

	if (!data)
		return npu_opt_nomem(s->opt);
	memset(data, weight, kernels->k * per);
	kernels->data = data;
	kernels->channels = 1;
	kernels->groups = kernels->k;
	return 0;
}

/* Of pairs: a group has a surface of hi and one of rest, and a kernel for each channel of both. */
static int set_pairs(struct steps *s, s8 sign, struct npu_kernels *kernels)
{
	u32 atom = s->opt->config->atom, k, i, per = kernels->r * kernels->s;
	s8 *data;

	kernels->groups = surfaces(s, kernels->k);
	kernels->channels = 2 * atom;
	if (kernels->groups > 1)
		kernels->k = kernels->groups * atom;
	data = npu_arena_array(&s->opt->net->arena, (size_t)kernels->k * per, 2 * (size_t)atom);
	if (!data)
		return npu_opt_nomem(s->opt);
	kernels->data = data;
	for (k = 0; k < kernels->k; k++)
		for (i = 0; i < per; i++, data += 2 * atom) {
			data[k % atom] = (s8)(sign * (s32)NPU_AVERAGE_UNIT);
			data[atom + k % atom] = (s8)-sign;
		}
	return 0;
}

/* ---- a step -------------------------------------------------------------------------------- */

/* Sums of windows, times @sign: in units of the input, behind the first step of its 64th. */
static int add_sums(struct steps *s, s8 sign, struct npu_conv *conv)
{
	const struct npu_graph *graph = s->opt->graph;
	const struct npu_op *op = &graph->op[s->average->op];

	conv->op = s->average->op;
	conv->in = &stored;
	conv->out = npu_op_output(graph, op);
	conv->pad = conv->pool = NPU_NONE;
	conv->raw = s->average->raw;
	conv->window = s->all->step[s->done].window;
	conv->kernels = (struct npu_kernels){
		.zero = &no_zero,
		.zero_count = 1,
		.k = s->opt->net->value[conv->output].c,
		.r = conv->window.r,
		.s = conv->window.s,
	};
	if ((s->done ? set_pairs : set_ones)(s, sign, &conv->kernels))
		return -ENOMEM;
	return npu_conv_layer(s->opt, conv);
}

/* What step @step divides sums by: the power of two above its taps. */
static u32 shift_of(const struct steps *s, u32 step)
{
	u32 taps = s->all->step[step].window.r * s->all->step[step].window.s, shift = 0;

	while (1u << shift < taps)
		shift++;
	return shift;
}

static struct npu_sdp stage(struct npu_sdp_stage bn)
{
	return (struct npu_sdp){
		.bs = { .bypass = true, .value = NPU_NONE },
		.bn = bn,
		.ew.value = NPU_NONE,
		.cvt_scale = 1,
	};
}

/* Sums >> @shift. */
static struct npu_sdp divide(u32 shift)
{
	return stage((struct npu_sdp_stage){
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = 1,
		.mul_shift = shift,
		.value = NPU_NONE,
	});
}

/* What @hi has, without its division by 1 << @shift, plus sums; in 64ths of hi. */
static struct npu_sdp rest_of(u32 hi, u32 shift)
{
	return stage((struct npu_sdp_stage){
		.alu_from = NPU_OPERAND_ELEMENT,
		.alu_op = NPU_ALU_SUM,
		.alu_shift = shift,
		.mul_from = NPU_OPERAND_REGISTER,
		.mul_value = 1 << (UNIT_SHIFT - min(UNIT_SHIFT, shift)),
		.mul_shift = max(shift, UNIT_SHIFT) - UNIT_SHIFT,
		.value = hi,
	});
}

static int add_half(struct steps *s, s8 sign, u32 output, const struct npu_sdp *sdp)
{
	struct npu_conv conv = {
		.input = s->input,
		.output = output,
		.is_part = true,
		.sdp = sdp,
		.h = s->all->step[s->done].h,
		.w = s->all->step[s->done].w,
	};
	int error = add_sums(s, sign, &conv);

	if (!error)
		npu_opt_name_layer(s->opt, s->opt->net->layer_count - 1,
				   sign > 0 ? "means" : "rest of means");
	return error;
}

static int add_step(struct steps *s)
{
	u32 h = s->all->step[s->done].h, w = s->all->step[s->done].w, atom = s->opt->config->atom;
	/* Behind the first step sums are 64ths. */
	u32 shift = shift_of(s, s->done) + (s->done ? UNIT_SHIFT : 0), hi, rest;
	u32 pairs = npu_opt_add_value_like(s->opt, s->average->input, "means");
	struct npu_value *value;
	struct npu_view view;
	struct npu_sdp sdp;
	int error;

	if (pairs == NPU_NONE)
		return npu_opt_nomem(s->opt);
	value = &s->opt->net->value[pairs];
	npu_value_set_feature(value, s->opt->config, h, w, 2 * atom * surfaces(s, channels_of(s)));
	view = npu_view_box(s->opt, pairs, 0, 0, 0, 1);
	view.c = channels_of(s);
	view.surface_stride = 2 * value->surface_stride;
	view.offset = value->surface_stride;
	rest = npu_opt_add_view(s->opt, pairs, &view, "rest");
	view.offset = 0;
	hi = npu_opt_add_view(s->opt, pairs, &view, "hi");
	if (hi == NPU_NONE || rest == NPU_NONE)
		return npu_opt_nomem(s->opt);
	sdp = divide(shift);
	error = add_half(s, 1, hi, &sdp);
	sdp = rest_of(hi, shift);
	if (!error)
		error = add_half(s, -1, rest, &sdp);
	s->input = pairs;
	s->done++;
	return error;
}

/* ---- the last step ------------------------------------------------------------------------- */

/* For each channel what zero points add to the sum, in its units; NULL: out of memory. */
static const s32 *make_bias(struct steps *s, u32 channels, double unit)
{
	s32 *bias = npu_arena_array(&s->opt->net->arena, channels, sizeof(*bias));
	u32 k;

	for (k = 0; bias && k < channels; k++)
		bias[k] = (s32)((double)s->average->bias / unit);
	return bias;
}

/* What the last sums count, in units of the input: 64ths of what all steps divided. */
static double unit_of(const struct steps *s)
{
	double unit = s->done ? 1.0 / NPU_AVERAGE_UNIT : 1;
	u32 i;

	for (i = 0; i < s->done; i++)
		unit *= 1 << shift_of(s, i);
	return unit;
}

static int add_last(struct steps *s, u32 input, u32 output, bool is_part)
{
	double unit = unit_of(s);
	struct npu_tensor bias = { 0 };
	struct npu_conv conv = {
		.input = input,
		.output = output,
		.is_part = is_part,
		.h = s->all->step[s->done].h,
		.w = s->all->step[s->done].w,
		.bias = &bias,
		.multiplier = s->average->factor * unit * (1 + ROUND_UP),
	};

	/* Kernels are as many as whole surfaces have. */
	bias.data = make_bias(s, surfaces(s, channels_of(s)) * s->opt->config->atom, unit);
	return bias.data ? add_sums(s, 1, &conv) : npu_opt_nomem(s->opt);
}

/* One pixel of a larger plane: a surface at a time, since SDP writes those of one pixel side by side. */
static int add_pixel(struct steps *s)
{
	u32 atom = s->opt->config->atom, each = s->done ? 2 : 1, c, channels = channels_of(s);
	struct npu_view from = npu_view_box(s->opt, s->input, 0, 0, 0, 1);
	struct npu_view to = npu_view_box(s->opt, s->average->output, 0, 0, 0, 1);
	int error = 0;

	for (c = 0; c < channels && !error; c += atom) {
		u32 input, output;

		to.c = min(atom, channels - c);
		from.c = s->done ? 2 * atom : to.c;
		input = npu_opt_add_view(s->opt, s->input, &from, "corner");
		output = npu_opt_add_view(s->opt, s->average->output, &to, "corner");
		if (input == NPU_NONE || output == NPU_NONE)
			return npu_opt_nomem(s->opt);
		error = add_last(s, input, output, true);
		from.offset += (u64)each * from.surface_stride;
		to.offset += to.surface_stride;
	}
	return error;
}

static bool is_legal(struct npu_opt *opt, u32 value)
{
	const struct npu_view view = npu_view_box(opt, value, 0, 0, 0, 1);

	return npu_view_is_legal(opt, &view);
}

int npu_lower_steps(struct npu_opt *opt, const struct npu_average *average,
		    const struct npu_average_steps *steps, bool is_part)
{
	struct steps s = { opt, average, steps, 0, average->input };
	int error = 0;

	while (s.done + 1 < steps->count && !error)
		error = add_step(&s);
	if (error)
		return error;
	if (is_legal(opt, s.input) && is_legal(opt, average->output))
		return add_last(&s, s.input, average->output, is_part);
	return add_pixel(&s);
}
