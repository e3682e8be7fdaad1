// SPDX-License-Identifier: MIT
/* Pooling (integer_ops/pooling.h, reference/pooling.h): windows are cut at the image's edge. */
#include "kernels.h"

#include <math.h>

/* The part of a window that lies inside the image. */
struct part {
	u32 y, y_end, y_step, x, x_end, x_step;
};

static void cut(u32 out, u32 stride, u32 pad, u32 kernel, u32 step, u32 size, u32 *first, u32 *end)
{
	s64 at = (s64)out * stride - pad, last = at + (s64)(kernel - 1) * step;

	while (at < 0)
		at += step;
	while (last >= size)
		last -= step;
	*first = at;
	*end = max(last + 1, at);
}

static struct part part_of(const struct ref_run *run, const struct ref_view *in, u32 y, u32 x)
{
	const struct npu_window *w = &run->op->window;
	struct part part;

	cut(y, w->stride_y, w->pad_top, w->r, w->dilation_y, in->nhwc[1], &part.y, &part.y_end);
	cut(x, w->stride_x, w->pad_left, w->s, w->dilation_x, in->nhwc[2], &part.x, &part.x_end);
	part.y_step = w->dilation_y;
	part.x_step = w->dilation_x;
	return part;
}

static s32 greatest(const struct ref_view *in, const struct part *part, u32 c)
{
	s32 most = INT32_MIN;
	u32 y, x;

	for (y = part->y; y < part->y_end; y += part->y_step)
		for (x = part->x; x < part->x_end; x += part->x_step)
			most = max(most, ref_load(in, ref_offset(in, y, x, c)));
	return most;
}

static float greatest_float(const struct ref_view *in, const struct part *part, u32 c)
{
	const float *data = in->data;
	float most = -INFINITY;
	u32 y, x;

	for (y = part->y; y < part->y_end; y += part->y_step)
		for (x = part->x; x < part->x_end; x += part->x_step)
			most = fmaxf(most, data[ref_offset(in, y, x, c)]);
	return most;
}

static s32 average(const struct ref_view *in, const struct ref_view *out, const struct part *part,
		   u32 c)
{
	s32 count = 0, sum = 0;
	u32 y, x;

	for (y = part->y; y < part->y_end; y += part->y_step)
		for (x = part->x; x < part->x_end; x += part->x_step) {
			sum += ref_load(in, ref_offset(in, y, x, c));
			count++;
		}
	if (!count)
		return out->zero;
	if (!npu_same_quant(in->tensor, out->tensor))
		return (s32)fmax(fmin(round((double)in->scale * (sum - count * in->zero) /
					    ((double)out->scale * count)),
				      1000),
				 -1000) +
		       out->zero;
	/* Half away from zero of the stored values, not of the real ones. */
	return (sum > 0 ? sum + count / 2 : sum - count / 2) / count;
}

static float average_float(const struct ref_view *in, const struct part *part, u32 c)
{
	const float *data = in->data;
	float sum = 0, count = 0;
	u32 y, x;

	for (y = part->y; y < part->y_end; y += part->y_step)
		for (x = part->x; x < part->x_end; x += part->x_step) {
			sum += data[ref_offset(in, y, x, c)];
			count++;
		}
	return count > 0 ? sum / count : 0;
}

static void pool_pixel(const struct ref_run *run, const struct ref_view *in,
		       const struct ref_view *out, u32 y, u32 x)
{
	struct part part = part_of(run, in, y, x);
	bool mean = run->op->kind == NPU_OP_AVERAGE_POOL;
	u32 c;

	for (c = 0; c < out->nhwc[3]; c++) {
		size_t i = ref_offset(out, y, x, c);

		if (ref_is_float(in))
			((float *)out->data)[i] =
				ref_clamp_float(run, mean ? average_float(in, &part, c)
							  : greatest_float(in, &part, c));
		else
			ref_store(run, out, ref_range(run), i,
				  mean ? average(in, out, &part, c) : greatest(in, &part, c));
	}
}

static int pool(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	u32 y, x;

	for (y = 0; y < out.nhwc[1]; y++)
		for (x = 0; x < out.nhwc[2]; x++)
			pool_pixel(run, &in, &out, y, x);
	return 0;
}

int ref_max_pool(const struct ref_run *run)
{
	return pool(run);
}

int ref_average_pool(const struct ref_run *run)
{
	return pool(run);
}
