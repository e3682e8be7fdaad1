// SPDX-License-Identifier: MIT
#include "model_option.h"

#include "import/shapes.h"
#include "pixels.h"
#include "tool.h"

int tool_check_model_options(const char *name, const char *shapes, const char *pixels)
{
	if (shapes && !npu_shapes_are_shapes(shapes))
		return tool_usage(name,
				  "--input-shape: '%s' is no shape of the form [NAME:]1x3x48x192",
				  shapes);
	if (pixels && npu_pixel_order_find(pixels) == NPU_PIXELS_ORDER_COUNT)
		return tool_usage(name, "--pixels: '%s' is no order of pixels", pixels);
	return TOOL_OK;
}
