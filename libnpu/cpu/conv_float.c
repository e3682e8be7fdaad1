// SPDX-License-Identifier: MIT
/*
 * Convolutions and fully connected layers of real numbers.  Sums are kept in a
 * fixed number of lanes, so that compilers make vector code of them and results do
 * not depend on the machine.
 */
#include "cpu.h"

#define LANES 8

struct conv {
	const struct npu_op *op;
	u32 h, w, c; /* input */
	u32 out_h, out_w, k; /* output */
	u32 r, s, depth; /* of one kernel */
	u32 per_group; /* kernels in a group */
	const float *in, *weights, *bias;
};

static float dot(const float *a, const float *b, u32 count)
{
	float lane[LANES] = { 0 }, sum = 0;
	u32 i, j;

	for (i = 0; i + LANES <= count; i += LANES)
		for (j = 0; j < LANES; j++)
			lane[j] += a[i + j] * b[i + j];
	for (; i < count; i++)
		sum += a[i] * b[i];
	for (j = 0; j < LANES; j++)
		sum += lane[j];
	return sum;
}

/* What tap (r, s) of kernel @k adds where it lies on the input's pixel (y, x). */
static float tap(const struct conv *conv, s64 y, s64 x, u32 k, u32 r, u32 s)
{
	u32 first = k / conv->per_group * conv->depth;
	size_t at = (((size_t)k * conv->r + r) * conv->s + s) * conv->depth;

	if (y < 0 || x < 0 || y >= conv->h || x >= conv->w)
		return 0;
	return dot(conv->in + ((size_t)y * conv->w + (size_t)x) * conv->c + first,
		   conv->weights + at, conv->depth);
}

static float conv_sum(const struct conv *conv, u32 y, u32 x, u32 k)
{
	const struct npu_window *w = &conv->op->window;
	s64 top = (s64)y * w->stride_y - w->pad_top, left = (s64)x * w->stride_x - w->pad_left;
	float sum = 0;
	u32 r, s;

	for (r = 0; r < conv->r; r++)
		for (s = 0; s < conv->s; s++)
			sum += tap(conv, top + (s64)r * w->dilation_y,
				   left + (s64)s * w->dilation_x, k, r, s);
	return sum;
}

/* Transposed: output (y, x) gets tap r from the input row that was spread to y - r * dilation. */
static float transpose_sum(const struct conv *conv, u32 y, u32 x, u32 k)
{
	const struct npu_window *w = &conv->op->window;
	float sum = 0;
	u32 r, s;

	for (r = 0; r < conv->r; r++) {
		s64 at_y = (s64)y + w->pad_top - (s64)r * w->dilation_y;

		if (at_y % w->stride_y)
			continue;
		for (s = 0; s < conv->s; s++) {
			s64 at_x = (s64)x + w->pad_left - (s64)s * w->dilation_x;

			if (at_x % w->stride_x == 0)
				sum += tap(conv, at_y / w->stride_y, at_x / w->stride_x, k, r, s);
		}
	}
	return sum;
}

static struct conv start_conv(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), weights = npu_cpu_input(call, 1);
	const struct npu_cpu_view out = npu_cpu_output(call);
	const u32 *dim = weights.tensor->dim;
	struct conv conv = {
		.op = call->op,
		.k = dim[0],
		.in = in.data,
		.weights = weights.data,
		.bias = npu_cpu_input(call, 2).data,
	};

	if (call->op->kind == NPU_OP_FULLY_CONNECTED) {
		/* A 1 x 1 convolution over as many pixels as there are rows. */
		conv.r = conv.s = 1;
		conv.depth = conv.c = dim[1];
		conv.h = conv.out_h = 1;
		conv.w = conv.out_w = npu_fully_connected_rows(call->graph, call->op);
		conv.per_group = conv.k;
		return conv;
	}
	conv.r = dim[1];
	conv.s = dim[2];
	conv.depth = dim[3];
	conv.h = in.nhwc[1];
	conv.w = in.nhwc[2];
	conv.c = in.nhwc[3];
	conv.out_h = out.nhwc[1];
	conv.out_w = out.nhwc[2];
	conv.per_group = max(conv.k / max(call->op->groups, 1u), 1u);
	return conv;
}

int npu_cpu_conv_float(const struct npu_cpu_call *call)
{
	const struct conv conv = start_conv(call);
	bool transposed = call->op->kind == NPU_OP_TRANSPOSE_CONV;
	float *out = npu_cpu_output(call).data;
	u32 y, x, k;

	for (y = 0; y < conv.out_h; y++)
		for (x = 0; x < conv.out_w; x++)
			for (k = 0; k < conv.k; k++) {
				float sum = transposed ? transpose_sum(&conv, y, x, k)
						       : conv_sum(&conv, y, x, k);

				*out++ = npu_activate(call->op->activation,
						      sum + (conv.bias ? conv.bias[k] : 0));
			}
	return 0;
}
