/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Limits of PDP that its registers do not show.
 */
#ifndef NVDLA_PDP_H
#define NVDLA_PDP_H

#include "nvdla_types.h"

/* No line is held for such a pooling: the widest output that was tried on the RTL. */
#define NVDLA_PDP_UNBUFFERED_WIDTH 1100u

/*
 * Widest output of one pass through PDP's line buffer, by how many windows of successive rows
 * overlap.  Seen on the RTL; the same on all configurations.
 */
static inline u32 nvdla_pdp_width_limit(u32 kernel_h, u32 stride_h)
{
	u32 overlap = DIV_ROUND_UP(kernel_h, stride_h);

	if (kernel_h == 1 && stride_h == 1)
		return NVDLA_PDP_UNBUFFERED_WIDTH;
	if (overlap == 1)
		return 128;
	if (overlap == 2)
		return 64;
	return overlap <= 4 ? 32 : 16;
}

#endif /* NVDLA_PDP_H */
