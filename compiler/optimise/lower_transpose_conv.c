// SPDX-License-Identifier: MIT
/*
 * Transposed convolutions: rows of the output that are a stride apart have the same taps, so each such
 * phase is a convolution of its own over the undilated input, without a multiplication by zero.  Its
 * results are written straight into every stride'th row; where columns have phases too, a pass of SDP
 * spreads them.
 */
#include "deconv.h"
#include "view.h"

/**
 * struct phase - outputs along one axis that are a stride apart
 * @first, @count: of the outputs
 * @taps: of its convolution; tap @i reads what lies @taps - 1 - i in front of the last one
 * @tap: of the operator, for the last one; each one before it is a stride behind
 * @pad: in front of the input
 * @skip: inputs in front that no output reads
 */
struct phase {
	u32 first, count;
	u32 taps;
	u32 tap;
	u32 pad, skip;
};

/* False: there is no such output. */
static bool make_phase(u32 in, u32 out, u32 stride, u32 kernel, u32 pad, u32 index,
		       struct phase *phase)
{
	u32 tap = (index + pad) % stride, newest = (index + pad - tap) / stride, last;

	if (index >= out)
		return false;
	*phase = (struct phase){ .first = index, .count = (out - index - 1) / stride + 1 };
	phase->tap = tap;
	phase->taps = kernel > tap ? DIV_ROUND_UP(kernel - tap, stride) : 1;
	/* Outputs behind all taps: taps of zero, so that each window has an input. */
	last = newest + phase->count - 1;
	if (last >= in && last - in + 2 > phase->taps)
		phase->taps = last - in + 2;
	if (newest + 1 >= phase->taps)
		phase->skip = newest + 1 - phase->taps;
	else
		phase->pad = phase->taps - 1 - newest;
	return true;
}

/* The operator's tap for tap @i of a phase; false: none, the weight is zero. */
static bool find_tap(const struct phase *phase, u32 i, u32 stride, u32 dilation, u32 kernel,
		     u32 *tap)
{
	u32 at = phase->tap + stride * (phase->taps - 1 - i);

	*tap = at / dilation;
	return at % dilation == 0 && *tap < kernel;
}

/* Weights [K][taps of @y][taps of @x][C], as the operator stores them. */
static u8 *make_kernels(struct npu_opt *opt, const struct npu_deconv *d, const struct phase *y,
			const struct phase *x)
{
	const struct npu_kernels *kernels = &d->kernels;
	u32 channels = kernels->channels, k, i, j, r, s;
	const struct npu_window *w = &d->window;
	u8 *data =
		npu_arena_array(&opt->net->arena, (size_t)kernels->k * y->taps * x->taps, channels);
	u8 *to = data;

	if (!data)
		return NULL;
	for (k = 0; k < kernels->k; k++)
		for (i = 0; i < y->taps; i++)
			for (j = 0; j < x->taps; j++, to += channels) {
				const u8 *from = kernels->data;
				size_t at = (size_t)k * kernels->r;

				if (!find_tap(y, i, w->stride_y, w->dilation_y, kernels->r, &r) ||
				    !find_tap(x, j, w->stride_x, w->dilation_x, kernels->s, &s)) {
					memset(to, kernels->zero[kernels->zero_count == 1 ? 0 : k],
					       channels);
					continue;
				}
				memcpy(to, from + ((at + r) * kernels->s + s) * channels, channels);
			}
	return data;
}

/* The input without what no output reads; the value itself where all of it is read. */
static u32 cut_input(struct npu_opt *opt, const struct npu_deconv *d, const struct phase *y,
		     const struct phase *x)
{
	struct npu_view view;

	if (!y->skip && !x->skip)
		return d->input;
	view = npu_view_box(opt, d->input, y->skip, x->skip, 0, 1);
	return npu_opt_add_view(opt, d->input, &view, "read part");
}

/* Where the convolution of a phase writes: into the output, or in front of what spreads it. */
static u32 phase_output(struct npu_opt *opt, const struct npu_deconv *d, const struct phase *y,
			const struct phase *x, bool *spread)
{
	const struct npu_window *w = &d->window;
	struct npu_view view = npu_view_box(opt, d->output, y->first, x->first, 0, w->stride_y);
	u32 value;

	view.h = y->count;
	view.w = x->count;
	*spread = (w->stride_x > 1 && x->count > 1) || !npu_view_is_legal(opt, &view);
	if (w->stride_y == 1 && w->stride_x == 1)
		return d->output;
	if (!*spread)
		return npu_opt_add_view(opt, d->output, &view, "phase");
	value = npu_opt_add_value_like(opt, d->output, "phase");
	if (value != NPU_NONE)
		npu_value_set_feature(&opt->net->value[value], opt->config, y->count, x->count,
				      opt->net->value[d->output].c);
	return value;
}

static int lower_phase(struct npu_opt *opt, const struct npu_deconv *d, const struct phase *y,
		       const struct phase *x)
{
	const struct npu_window *w = &d->window;
	const struct npu_window point = { 1, 1, 1, 1, 1, 1, 0, 0, 0, 0 };
	const struct npu_op *o = &opt->graph->op[d->op];
	struct npu_conv conv = {
		.op = d->op,
		.in = npu_op_input(opt->graph, o, 0),
		.out = npu_op_output(opt->graph, o),
		.weights = d->weights,
		.bias = d->bias,
		.multiplier = d->multiplier,
		.raw = d->raw,
		.pad = NPU_NONE,
		.pool = NPU_NONE,
		.window = point,
		.kernels = d->kernels,
		.h = y->count,
		.w = x->count,
		.is_part = true,
		.pad_value = npu_stored_zero(npu_op_input(opt->graph, o, 0)),
	};
	bool spread;
	int error;

	conv.input = cut_input(opt, d, y, x);
	conv.output = phase_output(opt, d, y, x, &spread);
	conv.kernels.data = make_kernels(opt, d, y, x);
	if (conv.input == NPU_NONE || conv.output == NPU_NONE || !conv.kernels.data)
		return npu_opt_nomem(opt);
	conv.kernels.r = conv.window.r = y->taps;
	conv.kernels.s = conv.window.s = x->taps;
	conv.window.pad_top = y->pad;
	conv.window.pad_left = x->pad;
	error = npu_conv_layer(opt, &conv);
	if (error || !spread)
		return error;
	return npu_opt_spread(opt, d->op, conv.output, d->output, y->first, x->first, w->stride_y,
			      w->stride_x);
}

int npu_opt_deconv(struct npu_opt *opt, const struct npu_deconv *d)
{
	const struct npu_value *in = &opt->net->value[d->input], *out = &opt->net->value[d->output];
	const struct npu_window *w = &d->window;
	u32 in_h = in->h, in_w = in->w, out_h = out->h, out_w = out->w, y, x;
	struct phase py, px;
	int error = 0;

	for (y = 0; y < w->stride_y && !error; y++)
		for (x = 0; x < w->stride_x && !error; x++) {
			if (!make_phase(in_h, out_h, w->stride_y,
					(u32)npu_dilated(d->kernels.r, w->dilation_y), w->pad_top,
					y, &py) ||
			    !make_phase(in_w, out_w, w->stride_x,
					(u32)npu_dilated(d->kernels.s, w->dilation_x), w->pad_left,
					x, &px))
				continue;
			error = lower_phase(opt, d, &py, &px);
		}
	if (error)
		return error;
	/* What was written last completes the output. */
	return npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &d->op, 1);
}

int npu_lower_transpose_conv(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	const struct npu_tensor *weights = npu_op_input(opt->graph, o, 1);
	const struct npu_deconv deconv = {
		.op = op,
		.window = o->window,
		.kernels = npu_kernels_of(weights, max(o->groups, 1u)),
		.weights = weights,
		.bias = npu_op_input(opt->graph, o, 2),
		.input = npu_opt_value(opt, o->input[0]),
		.output = npu_opt_value(opt, o->output[0]),
	};

	return npu_opt_deconv(opt, &deconv);
}

/* Convolutions of all phases fit the registers. */
const char *npu_check_phases(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *weights = npu_op_input(opt->graph, op, 1);
	const struct npu_window *w = &op->window;
	u32 in[4], out[4], i;
	struct phase y = { 0 }, x = { 0 };

	npu_tensor_nhwc(npu_op_input(opt->graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	for (i = 0; i < max(w->stride_y, w->stride_x); i++) {
		if (i < w->stride_y)
			make_phase(in[1], out[1], w->stride_y,
				   (u32)npu_dilated(weights->dim[1], w->dilation_y), w->pad_top, i,
				   &y);
		if (i < w->stride_x)
			make_phase(in[2], out[2], w->stride_x,
				   (u32)npu_dilated(weights->dim[2], w->dilation_x), w->pad_left, i,
				   &x);
		if (y.taps > NPU_CONV_MAX_KERNEL || x.taps > NPU_CONV_MAX_KERNEL)
			return "a phase has a kernel larger than 32";
		if (y.skip >= in[1] || x.skip >= in[2])
			return "a phase reads nothing of the input";
	}
	return NULL;
}
