// SPDX-License-Identifier: MIT
/*
 * Maximum and average over windows that are cut at the image's edge.
 */
#include <math.h>

#include "fixed.h"

/**
 * struct taps - input rows or columns under an output row or column
 * @first, @end: every @step'th from @first on below @end
 */
struct taps {
	u32 first, end, step;
};

static struct taps cut(u32 out, u32 stride, u32 kernel, u32 dilation, u32 pad, u32 size)
{
	s64 from = (s64)out * stride - pad, to = from + (s64)npu_dilated(kernel, dilation);
	s64 first = from < 0 ? from + DIV_ROUND_UP(-from, (s64)dilation) * dilation : from;

	return (struct taps){ (u32)first, (u32)max(min(to, (s64)size), first), dilation };
}

static u32 count_taps(const struct taps *taps)
{
	return DIV_ROUND_UP(taps->end - taps->first, taps->step);
}

/* Beyond any byte in any scale. */
#define LARGEST 1e6

struct box {
	struct taps y, x;
};

static s32 box_max(const struct npu_cpu_view *in, const struct box *box, u32 c)
{
	s32 most = INT32_MIN;
	u32 y, x;

	for (y = box->y.first; y < box->y.end; y += box->y.step)
		for (x = box->x.first; x < box->x.end; x += box->x.step)
			most = max(most,
				   npu_load(in, ((size_t)y * in->nhwc[2] + x) * in->nhwc[3] + c));
	return most;
}

/*
 * Half away from zero: of the stored values where @ratio, the input's unit in those of the output, is 0,
 * else of the real ones; the zero point where the box is empty.
 */
static s32 box_average(const struct npu_cpu_view *in, const struct npu_cpu_view *out,
		       const struct box *box, u32 c, double ratio)
{
	s64 count = (s64)count_taps(&box->y) * count_taps(&box->x), sum = 0;
	u32 y, x;

	for (y = box->y.first; y < box->y.end; y += box->y.step)
		for (x = box->x.first; x < box->x.end; x += box->x.step)
			sum += npu_load(in, ((size_t)y * in->nhwc[2] + x) * in->nhwc[3] + c);
	if (!count)
		return out->zero;
	if (ratio > 0)
		return (s32)fmax(
			       fmin(round((double)(sum - count * in->zero) * ratio / (double)count),
				    LARGEST),
			       -LARGEST) +
		       out->zero;
	return (s32)((sum > 0 ? sum + count / 2 : sum - count / 2) / count);
}

int npu_cpu_pool(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_clamp clamp = npu_clamp_of(call->op, &out);
	const struct npu_window *w = &call->op->window;
	bool average = call->op->kind == NPU_OP_AVERAGE_POOL;
	double ratio = npu_same_quant(in.tensor, out.tensor) ? 0 : (double)in.scale / out.scale;
	struct box box;
	size_t i = 0;
	u32 y, x, c;

	for (y = 0; y < out.nhwc[1]; y++) {
		box.y = cut(y, w->stride_y, w->r, w->dilation_y, w->pad_top, in.nhwc[1]);
		for (x = 0; x < out.nhwc[2]; x++) {
			box.x = cut(x, w->stride_x, w->s, w->dilation_x, w->pad_left, in.nhwc[2]);
			for (c = 0; c < out.nhwc[3]; c++)
				npu_store(
					&out, i++,
					npu_clamped(average ? box_average(&in, &out, &box, c, ratio)
							    : box_max(&in, &box, c),
						    clamp));
		}
	}
	return 0;
}

/* ---- float32 ---- */

static float box_real(const struct npu_cpu_view *in, const struct box *box, u32 c, bool average)
{
	size_t count = (size_t)count_taps(&box->y) * count_taps(&box->x);
	float most = -INFINITY, sum = 0;
	u32 y, x;

	for (y = box->y.first; y < box->y.end; y += box->y.step)
		for (x = box->x.first; x < box->x.end; x += box->x.step) {
			size_t at = ((size_t)y * in->nhwc[2] + x) * in->nhwc[3] + c;
			float value = ((const float *)in->data)[at];

			most = max(most, value);
			sum += value;
		}
	if (!average)
		return most;
	return count ? sum / (float)count : 0;
}

int npu_cpu_pool_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	const struct npu_window *w = &call->op->window;
	bool average = call->op->kind == NPU_OP_AVERAGE_POOL;
	float *to = out.data;
	struct box box;
	u32 y, x, c;

	for (y = 0; y < out.nhwc[1]; y++) {
		box.y = cut(y, w->stride_y, w->r, w->dilation_y, w->pad_top, in.nhwc[1]);
		for (x = 0; x < out.nhwc[2]; x++) {
			box.x = cut(x, w->stride_x, w->s, w->dilation_x, w->pad_left, in.nhwc[2]);
			for (c = 0; c < out.nhwc[3]; c++)
				*to++ = npu_activate(call->op->activation,
						     box_real(&in, &box, c, average));
		}
	}
	return 0;
}
