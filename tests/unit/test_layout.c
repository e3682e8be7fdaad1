// SPDX-License-Identifier: MIT
/*
 * NHWC and feature format against the definition of the feature format, element
 * by element, on odd shapes; and nothing outside the tensors is touched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "layout.h"

#define CANARY 0x5a

static u32 state = 1;

static u32 random_below(u32 limit)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % limit;
}

static size_t cube_bytes(const struct npu_cube *cube)
{
	return (size_t)DIV_ROUND_UP(cube->c, cube->atom) * cube->surface_stride;
}

static size_t linear_bytes(const struct npu_cube *cube)
{
	return (size_t)cube->h * cube->w * cube->c;
}

/* The definition: where channel c of pixel (y, x) is. */
static size_t feature_offset(const struct npu_cube *cube, u32 y, u32 x, u32 c)
{
	return (size_t)(c / cube->atom) * cube->surface_stride + (size_t)y * cube->line_stride +
	       (size_t)x * cube->atom + c % cube->atom;
}

static u8 *guarded(size_t bytes)
{
	u8 *p = malloc(bytes + 64);

	assert_non_null(p);
	memset(p, CANARY, bytes + 64);
	return p;
}

static void check_canary(const u8 *p, size_t bytes)
{
	size_t i;

	for (i = 0; i < 64; i++)
		assert_int_equal(p[bytes + i], CANARY);
}

static void check_feature(const u8 *feature, const u8 *linear, const struct npu_cube *cube, u8 flip)
{
	u32 lanes = DIV_ROUND_UP(cube->c, cube->atom) * cube->atom, y, x, c;

	for (y = 0; y < cube->h; y++)
		for (x = 0; x < cube->w; x++)
			for (c = 0; c < lanes; c++) {
				u8 want =
					c < cube->c
						? linear[((size_t)y * cube->w + x) * cube->c + c] ^
							  flip
						: 0;

				assert_int_equal(feature[feature_offset(cube, y, x, c)], want);
			}
}

static void check_cube(const struct npu_cube *cube, bool flip)
{
	size_t n = linear_bytes(cube), i;
	/* Exactly as large as it has to be, so that the sanitizer sees a read too far. */
	u8 *linear = malloc(n), *back = guarded(n), *exact = malloc(n);
	u8 *feature = guarded(cube_bytes(cube));

	assert_non_null(linear);
	assert_non_null(exact);
	for (i = 0; i < n; i++)
		linear[i] = (u8)random_below(256);
	npu_layout_to_feature(feature, linear, cube, flip);
	check_feature(feature, linear, cube, flip ? 0x80 : 0);
	check_canary(feature, cube_bytes(cube));
	npu_layout_from_feature(back, feature, cube, flip);
	assert_memory_equal(back, linear, n);
	check_canary(back, n);
	npu_layout_from_feature(exact, feature, cube, flip);
	assert_memory_equal(exact, linear, n);
	free(linear);
	free(back);
	free(exact);
	free(feature);
}

static struct npu_cube make_cube(u32 h, u32 w, u32 c, u32 atom, u32 line_gap, u32 surface_gap)
{
	struct npu_cube cube = { h, w, c, atom, 0, 0 };

	cube.line_stride = (w + line_gap) * atom;
	cube.surface_stride = h * cube.line_stride + surface_gap * atom;
	return cube;
}

static void test_shapes(void **unused)
{
	static const u32 channels[] = { 1,  2,	3,  4,	5,  7,	8,  9,	11, 12, 15, 16, 17,
					20, 23, 24, 25, 31, 32, 33, 40, 47, 63, 64, 65, 100 };
	u32 atom, i, h, w;

	for (atom = 8; atom <= 32; atom *= 2)
		for (i = 0; i < ARRAY_SIZE(channels); i++)
			for (h = 1; h <= 3; h++)
				for (w = 1; w <= 9; w++) {
					struct npu_cube cube =
						make_cube(h, w, channels[i], atom, w % 3, h % 2);

					check_cube(&cube, (h + w) & 1);
				}
}

static void test_random(void **unused)
{
	u32 i;

	for (i = 0; i < 500; i++) {
		struct npu_cube cube = make_cube(1 + random_below(20), 1 + random_below(20),
						 1 + random_below(80), 8u << random_below(3),
						 random_below(4), random_below(4));

		check_cube(&cube, random_below(2));
	}
}

static void test_copy(void **unused)
{
	u8 from[100], to[100];
	u32 i, n;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (u8)(i * 37);
	for (n = 0; n <= sizeof(from); n++) {
		memset(to, CANARY, sizeof(to));
		npu_layout_copy(to, from, n, true);
		for (i = 0; i < sizeof(to); i++)
			assert_int_equal(to[i], i < n ? (u8)(from[i] - 128) : CANARY);
		npu_layout_copy(to, from, n, false);
		assert_memory_equal(to, from, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests_name("layout", tests, NULL, NULL);
}
