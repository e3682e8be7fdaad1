// SPDX-License-Identifier: MIT
/*
 * Images: which byte is which channel is told here once more, by the names of the formats and not by
 * the compiler's table.
 */
#include "kernels.h"

#include <math.h>

/* The letters of a pixel in memory. */
static const char *const memory_order[NPU_PIXELS_ORDER_COUNT] = {
	[NPU_PIXELS_R8] = "R",	    [NPU_PIXELS_RGB] = "RGB",	[NPU_PIXELS_BGR] = "BGR",
	[NPU_PIXELS_RGBA] = "RGBA", [NPU_PIXELS_BGRA] = "BGRA", [NPU_PIXELS_ARGB] = "ARGB",
	[NPU_PIXELS_ABGR] = "ABGR",
};

static u8 byte_of(const struct ref_run *run, const struct ref_view *in, const struct ref_view *out,
		  u32 y, u32 x, u32 c)
{
	const char *letters = memory_order[run->op->pixels];
	size_t pixel = (size_t)y * out->nhwc[2] + x, plane = (size_t)out->nhwc[1] * out->nhwc[2];
	const u8 *bytes = in->data;

	if (letters)
		return bytes[pixel * strlen(letters) + (strchr(letters, "RGBA"[c]) - letters)];
	if (c == 0)
		return bytes[pixel];
	/* U is channel 1: the first of a pair in NV24, the second one in NV42. */
	return bytes[plane + 2 * pixel + ((c == 1) == (run->op->pixels == NPU_PIXELS_NV42))];
}

/* Whole steps of a scale; what lies far out is clamped anyway. */
static s64 units_of(double steps)
{
	return (s64)fmax(fmin(round(steps), 2e9), -2e9);
}

int ref_pixels(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	struct ref_range range = ref_range(run);
	u32 y, x, c;

	for (y = 0; y < out.nhwc[1]; y++)
		for (x = 0; x < out.nhwc[2]; x++)
			for (c = 0; c < out.nhwc[3]; c++) {
				double real = ((double)byte_of(run, &in, &out, y, x, c) -
					       (double)run->op->pixel_mean[c]) *
					      (double)run->op->pixel_scale[c];
				size_t at = ref_offset(&out, y, x, c);

				if (ref_is_float(&out))
					((float *)out.data)[at] = (float)real;
				else
					ref_store(run, &out, range, at,
						  units_of(real / (double)out.scale) + out.zero);
			}
	return 0;
}
