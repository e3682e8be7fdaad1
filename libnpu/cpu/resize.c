// SPDX-License-Identifier: MIT
/*
 * Resizing of images (reference/resize_nearest_neighbor.h, resize_bilinear.h).
 */
#include <math.h>
#include <stdlib.h>

#include "fixed.h"

/* Pixels of input for a pixel of output. */
static float size_ratio(const struct npu_op *op, u32 in, u32 out)
{
	if (op->align_corners && out > 1)
		return npu_single_div((float)(in - 1), (float)(out - 1));
	return npu_single_div((float)in, (float)out);
}

static size_t pixel(const struct npu_cpu_view *view, u32 y, u32 x)
{
	return ((size_t)y * view->nhwc[2] + x) * view->nhwc[3];
}

static u32 nearest(const struct npu_op *op, u32 i, u32 in, u32 out)
{
	float offset = op->half_pixel_centers ? 0.5f : 0.0f;
	float at = npu_single_mul((float)i + offset, size_ratio(op, in, out));
	float index = op->align_corners ? roundf(at) : floorf(at);

	return (u32)fmaxf(fminf(index, (float)(in - 1)), 0);
}

int npu_cpu_resize_nearest(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	size_t bytes = npu_dtype_bytes[in.tensor->dtype], run = in.nhwc[3] * bytes;
	u8 *to = out.data;
	u32 y, x;

	for (y = 0; y < out.nhwc[1]; y++) {
		u32 in_y = nearest(call->op, y, in.nhwc[1], out.nhwc[1]);

		for (x = 0; x < out.nhwc[2]; x++) {
			u32 in_x = nearest(call->op, x, in.nhwc[2], out.nhwc[2]);

			memcpy(to, (const u8 *)in.data + pixel(&in, in_y, in_x) * bytes, run);
			to += run;
		}
	}
	return 0;
}

/* ---- INT8: positions and weights in 1/1024 of a pixel ---- */

#define ONE 1024

struct position {
	u32 low, high; /* the two neighbours */
	s64 part; /* of high, out of ONE */
};

static struct position fixed_position(const struct npu_op *op, u32 i, u32 in, u32 out)
{
	s64 n = in, m = out, scale, at;

	if (op->align_corners && out > 1) {
		n--;
		m--;
	}
	scale = (ONE * n + m / 2) / m;
	at = i * scale + (op->half_pixel_centers ? scale / 2 - ONE / 2 : 0);
	/* Quotients are cut towards zero, so what lies before the image has part < 0. */
	return (struct position){
		.low = (u32)min(max(at / ONE, (s64)0), (s64)in - 1),
		.high = (u32)max(min((at + ONE - 1) / ONE, (s64)in - 1), (s64)0),
		.part = at - ONE * max(at / ONE, (s64)0),
	};
}

static s32 bilinear_fixed(const struct npu_cpu_view *in, const struct position *v,
			  const struct position *h, u32 c)
{
	s64 top = npu_load(in, pixel(in, v->low, h->low) + c) * (ONE - h->part) +
		  npu_load(in, pixel(in, v->low, h->high) + c) * h->part;
	s64 bottom = npu_load(in, pixel(in, v->high, h->low) + c) * (ONE - h->part) +
		     npu_load(in, pixel(in, v->high, h->high) + c) * h->part;
	s64 sum = top * (ONE - v->part) + bottom * v->part;

	return (s32)((sum + (sum > 0 ? ONE * ONE / 2 : -ONE * ONE / 2)) / (ONE * ONE));
}

static void resize_fixed(const struct npu_op *op, const struct npu_cpu_view *in,
			 const struct npu_cpu_view *out)
{
	u32 y, x, c;

	for (y = 0; y < out->nhwc[1]; y++) {
		struct position v = fixed_position(op, y, in->nhwc[1], out->nhwc[1]);

		for (x = 0; x < out->nhwc[2]; x++) {
			struct position h = fixed_position(op, x, in->nhwc[2], out->nhwc[2]);

			for (c = 0; c < out->nhwc[3]; c++)
				npu_store(out, pixel(out, y, x) + c, bilinear_fixed(in, &v, &h, c));
		}
	}
}

/* ---- UINT8: in single precision ---- */

struct real_position {
	u32 low, high;
	float part;
};

static struct real_position real_position(const struct npu_op *op, u32 i, u32 in, u32 out)
{
	float offset = op->half_pixel_centers ? 0.5f : 0.0f;
	float at = npu_single_mul((float)i + offset, size_ratio(op, in, out)) - offset;
	s64 low = (s64)floorf(at), high = (s64)ceilf(at);

	low = max(min(low, (s64)in - 1), (s64)0);
	return (struct real_position){ (u32)low, (u32)max(min(high, (s64)in - 1), (s64)0),
				       at - (float)low };
}

/* One of four neighbours: factors are multiplied in the order of the reference. */
static float corner(const struct npu_cpu_view *in, u32 y, u32 x, u32 c, float v, float h)
{
	return npu_single_mul(npu_single_mul((float)npu_load(in, pixel(in, y, x) + c), v), h);
}

static float bilinear_real(const struct npu_cpu_view *in, const struct real_position *v,
			   const struct real_position *h, u32 c)
{
	return corner(in, v->low, h->low, c, 1 - v->part, 1 - h->part) +
	       corner(in, v->high, h->low, c, v->part, 1 - h->part) +
	       corner(in, v->low, h->high, c, 1 - v->part, h->part) +
	       corner(in, v->high, h->high, c, v->part, h->part);
}

static void resize_real(const struct npu_op *op, const struct npu_cpu_view *in,
			const struct npu_cpu_view *out)
{
	const struct npu_clamp clamp = npu_clamp_of(op, out);
	u32 y, x, c;

	for (y = 0; y < out->nhwc[1]; y++) {
		struct real_position v = real_position(op, y, in->nhwc[1], out->nhwc[1]);

		for (x = 0; x < out->nhwc[2]; x++) {
			struct real_position h = real_position(op, x, in->nhwc[2], out->nhwc[2]);

			for (c = 0; c < out->nhwc[3]; c++)
				npu_store(out, pixel(out, y, x) + c,
					  npu_clamped((s64)(bilinear_real(in, &v, &h, c) + 0.5f),
						      clamp));
		}
	}
}

int npu_cpu_resize_bilinear(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);

	if (in.tensor->dtype == NPU_I8)
		resize_fixed(call->op, &in, &out);
	else
		resize_real(call->op, &in, &out);
	return 0;
}

/* ---- float32 ---- */

static float bilinear_float(const struct npu_cpu_view *in, const struct real_position *v,
			    const struct real_position *h, u32 c)
{
	const float *from = (const float *)in->data + c;
	float top = from[pixel(in, v->low, h->low)] * (1 - h->part) +
		    from[pixel(in, v->low, h->high)] * h->part;
	float bottom = from[pixel(in, v->high, h->low)] * (1 - h->part) +
		       from[pixel(in, v->high, h->high)] * h->part;

	return top * (1 - v->part) + bottom * v->part;
}

int npu_cpu_resize_bilinear_float(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	float *to = out.data;
	u32 y, x, c;

	for (y = 0; y < out.nhwc[1]; y++) {
		struct real_position v = real_position(call->op, y, in.nhwc[1], out.nhwc[1]);

		for (x = 0; x < out.nhwc[2]; x++) {
			struct real_position h =
				real_position(call->op, x, in.nhwc[2], out.nhwc[2]);

			for (c = 0; c < out.nhwc[3]; c++)
				*to++ = bilinear_float(&in, &v, &h, c);
		}
	}
	return 0;
}
