// SPDX-License-Identifier: MIT
/*
 * Convolutions of every kind: dense, grouped and depthwise, fully connected,
 * transposed.  Inputs and weights are widened to 16 bit with their zero points
 * taken off, so that the inner loop is a plain dot product that compilers turn
 * into vector code.
 */
#include <stdlib.h>

#include "fixed.h"

struct conv {
	const struct npu_window *window;
	u32 h, w, c; /* input */
	u32 out_h, out_w, k; /* output */
	u32 r, s, depth; /* of one kernel */
	u32 per_group; /* kernels in a group */
	s16 *in; /* without zero point */
	s16 *kernel; /* one kernel's weights without zero point */
	struct npu_cpu_view x, weights, bias, out;
	struct npu_clamp clamp;
	bool single; /* the product of the scales is in single precision */
};

/*
 * UINT8 convolutions and fully connected layers with one scale for all weights multiply the
 * scales in single precision, everything else in double (kernels/kernel_util.cc).
 */
static struct npu_factor channel_factor(const struct conv *conv, u32 k)
{
	const struct npu_quant *quant = &conv->weights.tensor->quant;
	float scale = quant->count > 1 ? quant->scale[k] : conv->weights.scale;
	double product = (double)conv->x.scale * (double)scale;

	if (conv->single)
		product = npu_single_mul(conv->x.scale, scale);
	return npu_factor_of(product / (double)conv->out.scale);
}

static void widen(s16 *to, const struct npu_cpu_view *from, size_t first, size_t count, s32 zero)
{
	size_t i;

	if (from->tensor->dtype == NPU_I8)
		for (i = 0; i < count; i++)
			to[i] = (s16)(((const s8 *)from->data)[first + i] - zero);
	else
		for (i = 0; i < count; i++)
			to[i] = (s16)(((const u8 *)from->data)[first + i] - zero);
}

static void load_kernel(struct conv *conv, u32 k)
{
	const struct npu_quant *quant = &conv->weights.tensor->quant;
	size_t count = (size_t)conv->r * conv->s * conv->depth;
	s32 zero = quant->count > 1 ? quant->zero[k] : conv->weights.zero;

	widen(conv->kernel, &conv->weights, k * count, count, zero);
}

/* Sums wrap in 32 bits, as the reference's do. */
static u32 dot(const s16 *a, const s16 *b, u32 count)
{
	u32 i, sum = 0;

	for (i = 0; i < count; i++)
		sum += (u32)((s32)a[i] * b[i]);
	return sum;
}

static u32 tap(const struct conv *conv, s64 y, s64 x, u32 r, u32 s, u32 first)
{
	if (y < 0 || x < 0 || y >= conv->h || x >= conv->w)
		return 0;
	return dot(conv->in + ((size_t)y * conv->w + (size_t)x) * conv->c + first,
		   conv->kernel + ((size_t)r * conv->s + s) * conv->depth, conv->depth);
}

static u32 conv_sum(const struct conv *conv, u32 y, u32 x, u32 first)
{
	const struct npu_window *w = conv->window;
	s64 top = (s64)y * w->stride_y - w->pad_top, left = (s64)x * w->stride_x - w->pad_left;
	u32 r, s, sum = 0;

	for (r = 0; r < conv->r; r++)
		for (s = 0; s < conv->s; s++)
			sum += tap(conv, top + (s64)r * w->dilation_y,
				   left + (s64)s * w->dilation_x, r, s, first);
	return sum;
}

/* Transposed: output (y, x) gets tap r from the input row that was spread to y - r * dilation. */
static u32 transpose_sum(const struct conv *conv, u32 y, u32 x, u32 first)
{
	const struct npu_window *w = conv->window;
	u32 r, s, sum = 0;

	for (r = 0; r < conv->r; r++) {
		s64 at_y = (s64)y + w->pad_top - (s64)r * w->dilation_y;

		if (at_y % w->stride_y)
			continue;
		for (s = 0; s < conv->s; s++) {
			s64 at_x = (s64)x + w->pad_left - (s64)s * w->dilation_x;

			if (at_x % w->stride_x == 0)
				sum += tap(conv, at_y / w->stride_y, at_x / w->stride_x, r, s,
					   first);
		}
	}
	return sum;
}

typedef u32 (*sum_fn)(const struct conv *conv, u32 y, u32 x, u32 first);

/* One output channel; elements @step bytes apart. */
static void conv_channel(struct conv *conv, sum_fn sum, u32 k, u8 *out, size_t step)
{
	struct npu_factor factor = channel_factor(conv, k);
	u32 first = k / conv->per_group * conv->depth, y, x;
	u32 bias = conv->bias.data ? (u32)npu_load(&conv->bias, k) : 0;

	load_kernel(conv, k);
	for (y = 0; y < conv->out_h; y++)
		for (x = 0; x < conv->out_w; x++) {
			s32 acc = (s32)(sum(conv, y, x, first) + bias);

			*out = (u8)npu_clamped((s64)npu_scale(acc, factor) + conv->out.zero,
					       conv->clamp);
			out += step;
		}
}

static void free_conv(struct conv *conv)
{
	free(conv->in);
	free(conv->kernel);
}

static int start_conv(struct conv *conv, const struct npu_cpu_call *call,
		      const struct npu_window *window, const struct npu_cpu_view *in)
{
	const u32 *dim;

	conv->window = window;
	conv->x = *in;
	conv->weights = npu_cpu_input(call, 1);
	conv->bias = npu_cpu_input(call, 2);
	conv->out = npu_cpu_output(call);
	conv->clamp = npu_clamp_of(call->op, &conv->out);
	dim = conv->weights.tensor->dim;
	conv->k = dim[0];
	conv->single = in->tensor->dtype == NPU_U8 || (call->op->kind == NPU_OP_FULLY_CONNECTED &&
						       conv->weights.tensor->quant.count <= 1);
	if (call->op->kind == NPU_OP_FULLY_CONNECTED) {
		/* A 1 x 1 convolution over as many pixels as there are rows. */
		conv->r = conv->s = 1;
		conv->depth = conv->c = dim[1];
		conv->h = conv->out_h = 1;
		conv->w = conv->out_w = npu_fully_connected_rows(call->graph, call->op);
		conv->per_group = conv->k;
	} else {
		conv->r = dim[1];
		conv->s = dim[2];
		conv->depth = dim[3];
		conv->h = in->nhwc[1];
		conv->w = in->nhwc[2];
		conv->c = in->nhwc[3];
		conv->out_h = conv->out.nhwc[1];
		conv->out_w = conv->out.nhwc[2];
		conv->per_group = max(conv->k / max(call->op->groups, 1u), 1u);
	}
	conv->in = malloc(max(in->elements, (size_t)1) * sizeof(*conv->in));
	conv->kernel = malloc(max((size_t)conv->r * conv->s * conv->depth, (size_t)1) *
			      sizeof(*conv->kernel));
	if (!conv->in || !conv->kernel) {
		free_conv(conv);
		return -ENOMEM;
	}
	widen(conv->in, in, 0, in->elements, in->zero);
	return 0;
}

static int all_channels(const struct npu_cpu_call *call, sum_fn sum)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0);
	struct conv conv = { 0 };
	int err = start_conv(&conv, call, &call->op->window, &in);
	u32 k;

	if (err)
		return err;
	for (k = 0; k < conv.k; k++)
		conv_channel(&conv, sum, k, (u8 *)conv.out.data + k, conv.k);
	free_conv(&conv);
	return 0;
}

int npu_cpu_conv(const struct npu_cpu_call *call)
{
	return all_channels(call, conv_sum);
}

int npu_cpu_transpose_conv(const struct npu_cpu_call *call)
{
	return all_channels(call, transpose_sum);
}

int npu_cpu_conv_channel(const struct npu_cpu_call *call, const struct npu_window *window,
			 const struct npu_cpu_view *in, u32 channel, u8 *out)
{
	struct conv conv = { 0 };
	int err = start_conv(&conv, call, window, in);

	if (err)
		return err;
	conv_channel(&conv, conv_sum, channel, out, 1);
	free_conv(&conv);
	return 0;
}
