// SPDX-License-Identifier: MIT
/*
 * CMAC: products of input lanes and weights, summed.
 *
 * The vector code is the compiler's: sums of products of 16-bit numbers are a pattern that
 * compilers turn into multiply-add instructions.  The same loops are built for several
 * instruction sets, and one of them is picked when the program runs.
 */
#include "conv.h"

/* GCC vectorises such sums only when asked to try hard; the rest of the tree need not. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

/* Sums for tiles of TILE x TILE outputs stay in registers. */
#define TILE 4

#define TILE_ROW(p)                                                                         \
	a##p##0 += x##p[i] * w0[i], a##p##1 += x##p[i] * w1[i], a##p##2 += x##p[i] * w2[i], \
		a##p##3 += x##p[i] * w3[i]

static inline __attribute__((always_inline)) void store_row(s32 *out, s32 a, s32 b, s32 c, s32 d)
{
	out[0] = a;
	out[1] = b;
	out[2] = c;
	out[3] = d;
}

/* Four positions by four kernels: as many sums as machines with 32 vector registers hold. */
static inline __attribute__((always_inline)) void tile_4x4(const s16 *restrict x,
							   const s16 *restrict w, u32 stride,
							   s32 *restrict out, u32 out_stride)
{
	const s16 *x0 = x, *x1 = x0 + stride, *x2 = x1 + stride, *x3 = x2 + stride;
	const s16 *w0 = w, *w1 = w0 + stride, *w2 = w1 + stride, *w3 = w2 + stride;
	s32 a00 = 0, a01 = 0, a02 = 0, a03 = 0, a10 = 0, a11 = 0, a12 = 0, a13 = 0;
	s32 a20 = 0, a21 = 0, a22 = 0, a23 = 0, a30 = 0, a31 = 0, a32 = 0, a33 = 0;
	u32 i;

	for (i = 0; i < stride; i++) {
		TILE_ROW(0);
		TILE_ROW(1);
		TILE_ROW(2);
		TILE_ROW(3);
	}
	store_row(out, a00, a01, a02, a03);
	store_row(out + out_stride, a10, a11, a12, a13);
	store_row(out + 2 * out_stride, a20, a21, a22, a23);
	store_row(out + 3 * out_stride, a30, a31, a32, a33);
}

/* Two by four, for machines with 16 vector registers. */
static inline __attribute__((always_inline)) void tile_2x4(const s16 *restrict x,
							   const s16 *restrict w, u32 stride,
							   s32 *restrict out, u32 out_stride)
{
	const s16 *x0 = x, *x1 = x0 + stride;
	const s16 *w0 = w, *w1 = w0 + stride, *w2 = w1 + stride, *w3 = w2 + stride;
	s32 a00 = 0, a01 = 0, a02 = 0, a03 = 0, a10 = 0, a11 = 0, a12 = 0, a13 = 0;
	u32 i;

	for (i = 0; i < stride; i++) {
		TILE_ROW(0);
		TILE_ROW(1);
	}
	store_row(out, a00, a01, a02, a03);
	store_row(out + out_stride, a10, a11, a12, a13);
}

static inline __attribute__((always_inline)) s32 dot(const s16 *restrict x, const s16 *restrict w,
						     u32 stride)
{
	s32 sum = 0;
	u32 i;

	for (i = 0; i < stride; i++)
		sum += x[i] * w[i];
	return sum;
}

/* All outputs: whole tiles, then what is left over. */
static inline __attribute__((always_inline)) void mac_body(const s16 *x, u32 positions,
							   const s16 *w, u32 kernels, u32 stride,
							   s32 *out, u32 out_stride, u32 tile)
{
	u32 p, k, j;

	stride &= ~(u32)(SIM_LANES - 1);
	for (p = 0; p < positions; p += tile) {
		const s16 *xp = x + (size_t)p * stride;
		s32 *op = out + (size_t)p * out_stride;
		u32 count = min(tile, positions - p);

		for (k = 0; k < kernels; k += TILE) {
			const s16 *wk = w + (size_t)k * stride;

			if (count == tile && kernels - k >= TILE) {
				if (tile == 4)
					tile_4x4(xp, wk, stride, op + k, out_stride);
				else
					tile_2x4(xp, wk, stride, op + k, out_stride);
				continue;
			}
			for (j = 0; j < count * TILE; j++)
				if (k + j % TILE < kernels)
					op[j / TILE * out_stride + k + j % TILE] =
						dot(xp + j / TILE * stride, wk + j % TILE * stride,
						    stride);
		}
	}
}

typedef void (*mac_fn)(const s16 *x, u32 positions, const s16 *w, u32 kernels, u32 stride, s32 *out,
		       u32 out_stride);

#define MAC_VARIANT(name, attribute, tile)                                                       \
	attribute static void mac_##name(const s16 *x, u32 positions, const s16 *w, u32 kernels, \
					 u32 stride, s32 *out, u32 out_stride)                   \
	{                                                                                        \
		mac_body(x, positions, w, kernels, stride, out, out_stride, tile);               \
	}

MAC_VARIANT(generic, , 2)
#if defined(__x86_64__)
MAC_VARIANT(avx2, __attribute__((target("avx2"))), 2)
MAC_VARIANT(vnni, __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vnni"))), 4)
#endif

static mac_fn pick(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vnni"))
		return mac_vnni;
	if (__builtin_cpu_supports("avx2"))
		return mac_avx2;
#endif
	return mac_generic;
}

void sim_cmac(const s16 *patches, u32 positions, const s16 *weights, u32 kernels, u32 stride,
	      s32 *out, u32 out_stride)
{
	static mac_fn mac;

	/* Every thread finds the same answer: whoever comes first may store it. */
	if (!__atomic_load_n(&mac, __ATOMIC_RELAXED))
		__atomic_store_n(&mac, pick(), __ATOMIC_RELAXED);
	mac(patches, positions, weights, kernels, stride, out, out_stride);
}
