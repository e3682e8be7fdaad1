// SPDX-License-Identifier: MIT
/*
 * CMAC: products of input lanes and weights, summed.  The vector code is the compiler's: the
 * same loops are built for several instruction sets and picked when the program runs.
 */
#include "conv.h"

void sim_cmac(const s16 *patches, u32 positions, const s16 *weights, u32 kernels, u32 stride,
	      u32 length, s32 *out, u32 out_stride)
{
	u32 p, k, i;

	for (p = 0; p < positions; p++)
		for (k = 0; k < kernels; k++) {
			const s16 *x = patches + (size_t)p * stride;
			const s16 *w = weights + (size_t)k * stride;
			s32 sum = 0;

			for (i = 0; i < stride; i++)
				sum += x[i] * w[i];
			out[(size_t)p * out_stride + k] = sum;
		}
}
