// SPDX-License-Identifier: MIT
/* Convolutions and fully connected layers (reference/conv.h, integer_ops/conv.h and others). */
#include "kernels.h"

/* Everything that a convolution's inner loops read. */
struct conv {
	struct ref_view in, weights, bias, out;
	const struct npu_window *window;
	u32 taps_y, taps_x, channels; /* of one kernel */
	u32 kernels_per_group;
};

static struct conv conv_of(const struct ref_run *run)
{
	struct conv conv = {
		.in = ref_input(run, 0),
		.weights = ref_input(run, 1),
		.bias = ref_input(run, 2),
		.out = ref_output(run),
		.window = &run->op->window,
	};
	const u32 *dim = conv.weights.tensor->dim;

	if (run->op->kind == NPU_OP_FULLY_CONNECTED) {
		/* A 1 x 1 convolution over as many positions as there are rows. */
		conv.taps_y = conv.taps_x = 1;
		conv.channels = dim[1];
		conv.in.nhwc[1] = conv.out.nhwc[1] = 1;
		conv.in.nhwc[2] = conv.out.nhwc[2] = npu_fully_connected_rows(run->graph, run->op);
		conv.in.nhwc[3] = dim[1];
		conv.out.nhwc[3] = dim[0];
	} else {
		conv.taps_y = dim[1];
		conv.taps_x = dim[2];
		conv.channels = dim[3];
	}
	conv.kernels_per_group = dim[0] / run->op->groups;
	return conv;
}

/* The input row or column under a tap; false in the padding. */
static bool under_tap(u32 out, u32 stride, u32 tap, u32 dilation, u32 pad, u32 size, u32 *in)
{
	s64 at = (s64)out * stride + (s64)tap * dilation - pad;

	*in = at;
	return at >= 0 && at < size;
}

static size_t weight_offset(const struct conv *conv, u32 k, u32 r, u32 s)
{
	return (((size_t)k * conv->taps_y + r) * conv->taps_x + s) * conv->channels;
}

static u32 sum_channels(const struct conv *conv, size_t in, size_t weight, s32 weight_zero)
{
	u32 c, sum = 0;

	for (c = 0; c < conv->channels; c++)
		sum += (u32)((ref_load(&conv->in, in + c) - conv->in.zero) *
			     (ref_load(&conv->weights, weight + c) - weight_zero));
	return sum;
}

/* Sums wrap in 32 bits. */
static s32 conv_sum(const struct conv *conv, u32 y, u32 x, u32 k)
{
	const struct npu_window *w = conv->window;
	const struct npu_quant *quant = &conv->weights.tensor->quant;
	const u32 first = k / conv->kernels_per_group * conv->channels;
	const s32 zero = quant->count == 1 ? quant->zero[0] : quant->zero[k];
	u32 r, s, in_y, in_x, sum = 0;

	for (r = 0; r < conv->taps_y; r++) {
		if (!under_tap(y, w->stride_y, r, w->dilation_y, w->pad_top, conv->in.nhwc[1],
			       &in_y))
			continue;
		for (s = 0; s < conv->taps_x; s++)
			if (under_tap(x, w->stride_x, s, w->dilation_x, w->pad_left,
				      conv->in.nhwc[2], &in_x))
				sum += sum_channels(conv, ref_offset(&conv->in, in_y, in_x, first),
						    weight_offset(conv, k, r, s), zero);
	}
	if (conv->bias.data)
		sum += (u32)ref_load(&conv->bias, k);
	return (s32)sum;
}

s32 ref_conv_sum(const struct ref_run *run, u32 y, u32 x, u32 k)
{
	struct conv conv = conv_of(run);

	return conv_sum(&conv, y, x, k);
}

/*
 * With one scale for all kernels, UINT8 and fully connected layers take the
 * product of the two scales in single precision, all others in double
 * (kernel_util.cc, GetQuantizedConvolutionMultipler and
 * PopulateConvolutionQuantizationParams).
 */
double ref_conv_factor(const struct ref_run *run, u32 k)
{
	struct ref_view in = ref_input(run, 0), weights = ref_input(run, 1), out = ref_output(run);
	const struct npu_quant *quant = &weights.tensor->quant;
	bool single = in.tensor->dtype == NPU_U8 ||
		      (run->op->kind == NPU_OP_FULLY_CONNECTED && quant->count == 1);
	volatile float product = in.scale * quant->scale[0];

	if (single)
		return (double)product / (double)out.scale;
	return (double)in.scale * (double)quant->scale[quant->count == 1 ? 0 : k] /
	       (double)out.scale;
}

static float conv_sum_float(const struct conv *conv, u32 y, u32 x, u32 k)
{
	const struct npu_window *w = conv->window;
	const float *in = conv->in.data, *weights = conv->weights.data, *bias = conv->bias.data;
	const u32 first = k / conv->kernels_per_group * conv->channels;
	u32 r, s, c, in_y, in_x;
	float sum = 0;

	for (r = 0; r < conv->taps_y; r++) {
		if (!under_tap(y, w->stride_y, r, w->dilation_y, w->pad_top, conv->in.nhwc[1],
			       &in_y))
			continue;
		for (s = 0; s < conv->taps_x; s++) {
			if (!under_tap(x, w->stride_x, s, w->dilation_x, w->pad_left,
				       conv->in.nhwc[2], &in_x))
				continue;
			for (c = 0; c < conv->channels; c++)
				sum += in[ref_offset(&conv->in, in_y, in_x, first) + c] *
				       weights[weight_offset(conv, k, r, s) + c];
		}
	}
	return bias ? sum + bias[k] : sum;
}

static void conv_kernel_float(const struct ref_run *run, const struct conv *conv, u32 k)
{
	float *out = conv->out.data;
	u32 y, x;

	for (y = 0; y < conv->out.nhwc[1]; y++)
		for (x = 0; x < conv->out.nhwc[2]; x++)
			out[ref_offset(&conv->out, y, x, k)] =
				ref_clamp_float(run, conv_sum_float(conv, y, x, k));
}

static void conv_kernel(const struct ref_run *run, const struct conv *conv, u32 k)
{
	struct ref_scale scale = ref_scale_of(ref_conv_factor(run, k));
	struct ref_range range = ref_range(run);
	u32 y, x;

	for (y = 0; y < conv->out.nhwc[1]; y++)
		for (x = 0; x < conv->out.nhwc[2]; x++)
			ref_store(run, &conv->out, range, ref_offset(&conv->out, y, x, k),
				  (s64)ref_multiply(conv_sum(conv, y, x, k), scale) +
					  conv->out.zero);
}

int ref_conv(const struct ref_run *run)
{
	struct conv conv = conv_of(run);
	u32 k;

	for (k = 0; k < conv.out.nhwc[3]; k++)
		if (ref_is_float(&conv.in))
			conv_kernel_float(run, &conv, k);
		else
			conv_kernel(run, &conv, k);
	return 0;
}

int ref_fully_connected(const struct ref_run *run)
{
	return ref_conv(run);
}

/* The input row or column whose tap @tap falls on output @out; false if there is none. */
static bool from_tap(u32 out, u32 stride, u32 tap, u32 pad, u32 size, u32 *in)
{
	s64 at = (s64)out + pad - tap;

	*in = at / stride;
	return at >= 0 && at % stride == 0 && at / stride < size;
}

static s32 transpose_sum(const struct conv *conv, u32 y, u32 x, u32 k)
{
	const struct npu_window *w = conv->window;
	const struct npu_quant *quant = &conv->weights.tensor->quant;
	const s32 zero = quant->count == 1 ? quant->zero[0] : quant->zero[k];
	u32 r, s, in_y, in_x, sum = 0;

	for (r = 0; r < conv->taps_y; r++)
		for (s = 0; s < conv->taps_x; s++)
			if (from_tap(y, w->stride_y, r * w->dilation_y, w->pad_top,
				     conv->in.nhwc[1], &in_y) &&
			    from_tap(x, w->stride_x, s * w->dilation_x, w->pad_left,
				     conv->in.nhwc[2], &in_x))
				sum += sum_channels(conv, ref_offset(&conv->in, in_y, in_x, 0),
						    weight_offset(conv, k, r, s), zero);
	if (conv->bias.data)
		sum += (u32)ref_load(&conv->bias, k);
	return (s32)sum;
}

static float transpose_sum_float(const struct conv *conv, u32 y, u32 x, u32 k)
{
	const float *in = conv->in.data, *weights = conv->weights.data, *bias = conv->bias.data;
	const struct npu_window *w = conv->window;
	u32 r, s, c, in_y, in_x;
	float sum = 0;

	for (r = 0; r < conv->taps_y; r++)
		for (s = 0; s < conv->taps_x; s++) {
			if (!from_tap(y, w->stride_y, r * w->dilation_y, w->pad_top,
				      conv->in.nhwc[1], &in_y) ||
			    !from_tap(x, w->stride_x, s * w->dilation_x, w->pad_left,
				      conv->in.nhwc[2], &in_x))
				continue;
			for (c = 0; c < conv->in.nhwc[3]; c++)
				sum += in[ref_offset(&conv->in, in_y, in_x, c)] *
				       weights[weight_offset(conv, k, r, s) + c];
		}
	return sum + (bias ? bias[k] : 0);
}

static void transpose_conv_float(const struct ref_run *run, const struct conv *conv)
{
	float *out = conv->out.data;
	u32 y, x, k;

	for (k = 0; k < conv->out.nhwc[3]; k++)
		for (y = 0; y < conv->out.nhwc[1]; y++)
			for (x = 0; x < conv->out.nhwc[2]; x++)
				out[ref_offset(&conv->out, y, x, k)] =
					ref_clamp_float(run, transpose_sum_float(conv, y, x, k));
}

int ref_transpose_conv(const struct ref_run *run)
{
	struct conv conv = conv_of(run);
	struct ref_range range = ref_range(run);
	u32 y, x, k;

	if (ref_is_float(&conv.in)) {
		transpose_conv_float(run, &conv);
		return 0;
	}
	for (k = 0; k < conv.out.nhwc[3]; k++) {
		struct ref_scale scale = ref_scale_of(ref_conv_factor(run, k));

		for (y = 0; y < conv.out.nhwc[1]; y++)
			for (x = 0; x < conv.out.nhwc[2]; x++)
				ref_store(run, &conv.out, range, ref_offset(&conv.out, y, x, k),
					  (s64)ref_multiply(transpose_sum(&conv, y, x, k), scale) +
						  conv.out.zero);
	}
	return 0;
}
