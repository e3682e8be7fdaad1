// SPDX-License-Identifier: MIT
/* Bytes of an image to real numbers, quantised where the output is. */
#include <math.h>

#include "fixed.h"
#include "pixels.h"

static double real_of(const struct npu_op *op, u8 byte, u32 c)
{
	return ((double)byte - (double)op->pixel_mean[c]) * (double)op->pixel_scale[c];
}

/* What each byte becomes in channel @c, as the output stores it. */
static void fill_table(const struct npu_op *op, const struct npu_cpu_view *out, u32 c,
		       s32 table[256])
{
	const struct npu_clamp clamp = npu_clamp_of(op, out);
	u32 byte;

	for (byte = 0; byte < 256; byte++) {
		double units = round(real_of(op, (u8)byte, c) / (double)out->scale);

		units = fmax(fmin(units, 2e9), -2e9);
		table[byte] = npu_clamped((s64)units + out->zero, clamp);
	}
}

int npu_cpu_pixels(const struct npu_cpu_call *call)
{
	const struct npu_cpu_view in = npu_cpu_input(call, 0), out = npu_cpu_output(call);
	u32 height = out.nhwc[1], width = out.nhwc[2], channels = out.nhwc[3], y, x, c;
	const struct npu_op *op = call->op;
	bool is_float = out.tensor->dtype == NPU_F32;
	const u8 *bytes = in.data;
	s32 table[256];

	for (c = 0; c < channels; c++) {
		if (!is_float)
			fill_table(op, &out, c, table);
		for (y = 0; y < height; y++)
			for (x = 0; x < width; x++) {
				u8 byte = bytes[npu_pixel_at(op->pixels, height, width, y, x, c)];
				size_t at = ((size_t)y * width + x) * channels + c;

				if (is_float)
					((float *)out.data)[at] = (float)real_of(op, byte, c);
				else
					npu_store(&out, at, table[byte]);
			}
	}
	return 0;
}
