// SPDX-License-Identifier: MIT
/* Fully connected layers of one row as a convolution whose kernel is as large as the plane that it reads. */
#include "cells.h"

/* Rows that share the inputs out equally; whole atoms of channels where that can be. */
static u32 rows_for(const struct npu_opt *opt, u32 inputs)
{
	u32 rows, found = 1;

	for (rows = DIV_ROUND_UP(inputs, NPU_MAX_EXTENT); rows <= NPU_CONV_MAX_KERNEL; rows++) {
		if (inputs % rows)
			continue;
		if (inputs / rows % opt->config->atom == 0)
			return rows;
		found = found == 1 ? rows : found;
	}
	return found;
}

void npu_plane_of(const struct npu_opt *opt, u32 nhwc[4])
{
	if (nhwc[1] != 1 || nhwc[2] != 1 || nhwc[3] <= NPU_MAX_EXTENT)
		return;
	nhwc[1] = rows_for(opt, nhwc[3]);
	nhwc[3] /= nhwc[1];
}

struct npu_window npu_plane_window(const u32 plane[4])
{
	return (struct npu_window){ plane[1], plane[2], 1, 1, 1, 1, 0, 0, 0, 0 };
}

bool npu_plane_needs_cells(const u32 plane[4])
{
	return plane[1] > NPU_CONV_MAX_KERNEL || plane[2] > NPU_CONV_MAX_KERNEL;
}

const char *npu_check_plane(const struct npu_opt *opt, const struct npu_op *op, const u32 plane[4])
{
	const struct npu_window window = npu_plane_window(plane);
	struct npu_cells cells;

	if (plane[3] > NPU_MAX_EXTENT)
		return "more than 8192 inputs, which no number of rows up to 32 shares out";
	if ((u64)plane[1] * plane[2] * plane[3] > NPU_CONV_MAX_KERNEL_BYTES)
		return "kernel larger than 256 KiB";
	return npu_plane_needs_cells(plane) ? npu_plan_cells(opt, op, plane, &window, &cells)
					    : NULL;
}
