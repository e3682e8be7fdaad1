// SPDX-License-Identifier: MIT
/* Resizing (reference/resize_nearest_neighbor.h, resize_bilinear.h). */
#include "kernels.h"

#include <math.h>

static float ratio(const struct ref_run *run, u32 in, u32 out)
{
	return run->op->align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1)
						 : (float)in / (float)out;
}

static u32 nearest(const struct ref_run *run, u32 i, u32 in, u32 out)
{
	volatile float at = (float)i + (run->op->half_pixel_centers ? 0.5f : 0.0f);
	s32 index;

	at = at * ratio(run, in, out);
	index = run->op->align_corners ? (s32)roundf(at) : (s32)floorf(at);
	return max(min(index, (s32)in - 1), 0);
}

int ref_resize_nearest(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	const size_t bytes = npu_dtype_bytes[in.tensor->dtype];
	u32 y, x;

	for (y = 0; y < out.nhwc[1]; y++)
		for (x = 0; x < out.nhwc[2]; x++) {
			u32 in_y = nearest(run, y, in.nhwc[1], out.nhwc[1]);
			u32 in_x = nearest(run, x, in.nhwc[2], out.nhwc[2]);

			memcpy((u8 *)out.data + ref_offset(&out, y, x, 0) * bytes,
			       (const u8 *)in.data + ref_offset(&in, in_y, in_x, 0) * bytes,
			       in.nhwc[3] * bytes);
		}
	return 0;
}

/* Two neighbours and where between them, in units of 1/1024. */
struct between {
	s32 low, high, part;
};

static struct between between_fixed(const struct ref_run *run, u32 i, s32 in, s32 out)
{
	const bool corners = run->op->align_corners && out > 1;
	s64 scale = corners ? (1024LL * (in - 1) + (out - 1) / 2) / (out - 1)
			    : (1024LL * in + out / 2) / out;
	s64 at = i * scale + (run->op->half_pixel_centers ? scale / 2 - 512 : 0);
	struct between between = {
		.low = max(at / 1024, (s64)0),
		.high = min((at + 1023) / 1024, (s64)in - 1),
	};

	between.part = at - 1024LL * between.low;
	/* A rounded scale can lead beyond the image, where the original reads what lies there. */
	between.low = min(between.low, in - 1);
	return between;
}

static s64 mix(s64 low, s64 high, s32 part)
{
	return low * (1024 - part) + high * part;
}

static void bilinear_fixed(const struct ref_run *run, const struct ref_view *in,
			   const struct ref_view *out, u32 y, u32 x)
{
	struct between v = between_fixed(run, y, in->nhwc[1], out->nhwc[1]);
	struct between h = between_fixed(run, x, in->nhwc[2], out->nhwc[2]);
	u32 c;

	for (c = 0; c < out->nhwc[3]; c++) {
		s64 left = mix(ref_load(in, ref_offset(in, v.low, h.low, c)),
			       ref_load(in, ref_offset(in, v.high, h.low, c)), v.part);
		s64 right = mix(ref_load(in, ref_offset(in, v.low, h.high, c)),
				ref_load(in, ref_offset(in, v.high, h.high, c)), v.part);
		s64 sum = mix(left, right, h.part);

		sum = (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20);
		ref_store(run, out, ref_range(run), ref_offset(out, y, x, c), sum);
	}
}

struct between_float {
	s32 low, high;
	float part;
};

static struct between_float between_real(const struct ref_run *run, u32 i, s32 in, s32 out)
{
	float scale = ratio(run, in, out);
	volatile float at = run->op->half_pixel_centers ? ((float)i + 0.5f) * scale
							: (float)i * scale;
	struct between_float between;

	if (run->op->half_pixel_centers)
		at = at - 0.5f;
	between.low = max((s32)floorf(at), 0);
	between.high = min((s32)ceilf(at), in - 1);
	between.part = at - (float)between.low;
	return between;
}

static float value_at(const struct ref_view *in, u32 y, u32 x, u32 c)
{
	size_t i = ref_offset(in, y, x, c);

	return ref_is_float(in) ? ((const float *)in->data)[i] : (float)ref_load(in, i);
}

/* UINT8 and float32: in single precision. */
static void bilinear_real(const struct ref_run *run, const struct ref_view *in,
			  const struct ref_view *out, u32 y, u32 x)
{
	struct between_float v = between_real(run, y, in->nhwc[1], out->nhwc[1]);
	struct between_float h = between_real(run, x, in->nhwc[2], out->nhwc[2]);
	u32 c;

	for (c = 0; c < out->nhwc[3]; c++) {
		size_t i = ref_offset(out, y, x, c);
		float sum = value_at(in, v.low, h.low, c) * (1 - v.part) * (1 - h.part) +
			    value_at(in, v.high, h.low, c) * v.part * (1 - h.part) +
			    value_at(in, v.low, h.high, c) * (1 - v.part) * h.part +
			    value_at(in, v.high, h.high, c) * v.part * h.part;

		if (ref_is_float(out))
			((float *)out->data)[i] = sum;
		else
			ref_store(run, out, ref_range(run), i, (s32)(sum + 0.5f));
	}
}

int ref_resize_bilinear(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	u32 y, x;

	for (y = 0; y < out.nhwc[1]; y++)
		for (x = 0; x < out.nhwc[2]; x++)
			if (in.tensor->dtype == NPU_I8)
				bilinear_fixed(run, &in, &out, y, x);
			else
				bilinear_real(run, &in, &out, y, x);
	return 0;
}
