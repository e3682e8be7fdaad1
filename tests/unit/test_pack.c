// SPDX-License-Identifier: MIT
/* Packed weights: where each weight has to lie, worked out the other way round than packing does it. */
#include "optimise/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static u32 random_state = 12345;

static u32 random_u32(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return random_state >> 8;
}

/* nvdla/doc, doc/hw/format.rst, weights of direct convolution: offset of one weight. */
static size_t place(const struct nvdla_config *config, u32 all_k, u32 all_c, u32 r_size, u32 s_size,
		    u32 k, u32 r, u32 s, u32 c)
{
	u32 group = k / config->atomic_k, block = c / config->atomic_c;
	u32 kernels = min((u32)config->atomic_k, all_k - group * config->atomic_k);
	u32 channels = min((u32)config->atomic_c, all_c - block * config->atomic_c);
	size_t taps = (size_t)r_size * s_size;
	size_t before_group = (size_t)group * config->atomic_k * all_c * taps;
	size_t before_block = (size_t)block * config->atomic_c * kernels * taps;

	return before_group + before_block +
	       (((size_t)r * s_size + s) * kernels + k % config->atomic_k) * channels +
	       c % config->atomic_c;
}

static void test_dense(void **state)
{
	u32 i, n, k, r, s, c;

	for (i = 0; i < nvdla_config_count; i++)
		for (n = 0; n < 20; n++) {
			const struct nvdla_config *config = &nvdla_configs[i];
			u32 kk = 1 + random_u32() % 70, cc = 1 + random_u32() % 130;
			u32 rr = 1 + random_u32() % 4, ss = 1 + random_u32() % 4;
			size_t bytes = (size_t)kk * rr * ss * cc, j;
			s32 zero = 0;
			s8 *data = malloc(bytes), *packed = malloc(bytes);
			struct npu_kernels kernels = {
				.data = data,
				.zero = &zero,
				.zero_count = 1,
				.k = kk,
				.r = rr,
				.s = ss,
				.channels = cc,
				.groups = 1,
			};
			struct npu_packing packing = { .k = kk, .c = cc };

			assert_non_null(data);
			assert_non_null(packed);
			for (j = 0; j < bytes; j++)
				data[j] = (s8)random_u32();
			npu_pack_weights(config, &kernels, &packing, packed);
			for (k = 0; k < kk; k++)
				for (r = 0; r < rr; r++)
					for (s = 0; s < ss; s++)
						for (c = 0; c < cc; c++)
							assert_int_equal(
								packed[place(config, kk, cc, rr, ss,
									     k, r, s, c)],
								data[((k * rr + r) * ss + s) * cc +
								     c]);
			free(data);
			free(packed);
		}
}

/* Depthwise: a diagonal in each block; nothing beyond the last channel. */
static void test_depthwise(void **state)
{
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	s8 data[19 * 9], packed[8 * 8 * 9];
	s32 zeros[19] = { 0 };
	struct npu_kernels kernels = { .data = data,
				       .zero = zeros,
				       .zero_count = 19,
				       .k = 19,
				       .r = 3,
				       .s = 3,
				       .channels = 1,
				       .groups = 19 };
	u32 block, k, c, t;

	for (t = 0; t < sizeof(data); t++)
		data[t] = (s8)(1 + random_u32() % 100);
	for (block = 0; block < 3; block++) {
		struct npu_packing packing = {
			.block = block, .k = 8, .c = 8, .block_channels = 8
		};

		npu_pack_weights(config, &kernels, &packing, packed);
		for (k = 0; k < 8; k++)
			for (c = 0; c < 8; c++)
				for (t = 0; t < 9; t++) {
					u32 kernel = block * 8 + k;
					s8 want = k == c && kernel < 19 ? data[kernel * 9 + t] : 0;

					assert_int_equal(packed[place(config, 8, 8, 3, 3, k, t / 3,
								      t % 3, c)],
							 want);
				}
	}
}

/* UINT8 weights: what INT8 cannot hold is on the surface's second reading, and the sum is exact. */
static void test_split(void **state)
{
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	u8 data[4 * 5];
	s8 packed[4 * 13];
	s32 zero = 77;
	struct npu_kernels kernels = { .data = data,
				       .is_unsigned = true,
				       .zero = &zero,
				       .zero_count = 1,
				       .k = 4,
				       .r = 1,
				       .s = 1,
				       .channels = 5,
				       .groups = 1 };
	struct npu_packing packing = { .k = 4, .c = 13, .repeat = 8 };
	u32 k, c;

	for (c = 0; c < sizeof(data); c++)
		data[c] = c % 3 ? (u8)random_u32() : 255;
	npu_pack_weights(config, &kernels, &packing, packed);
	for (k = 0; k < 4; k++) {
		for (c = 0; c < 5; c++)
			assert_int_equal(packed[place(config, 4, 13, 1, 1, k, 0, 0, c)] +
						 packed[place(config, 4, 13, 1, 1, k, 0, 0, c + 8)],
					 data[k * 5 + c] - 77);
		for (c = 5; c < 8; c++)
			assert_int_equal(packed[place(config, 4, 13, 1, 1, k, 0, 0, c)], 0);
	}
}

/* Channels folded into a constant have no weights. */
static void test_constant(void **state)
{
	const struct nvdla_config *config = nvdla_config_find("nv_large");
	s8 data[3 * 4] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, packed[3 * 4];
	bool constant[3] = { false, true, false };
	s32 zero = 0;
	struct npu_kernels kernels = { .data = data,
				       .zero = &zero,
				       .zero_count = 1,
				       .constant = constant,
				       .k = 3,
				       .r = 1,
				       .s = 1,
				       .channels = 4,
				       .groups = 1 };
	struct npu_packing packing = { .k = 3, .c = 4 };
	u32 k, c;

	npu_pack_weights(config, &kernels, &packing, packed);
	for (k = 0; k < 3; k++)
		for (c = 0; c < 4; c++)
			assert_int_equal(packed[place(config, 3, 4, 1, 1, k, 0, 0, c)],
					 k == 1 ? 0 : data[k * 4 + c]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_depthwise),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_constant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
