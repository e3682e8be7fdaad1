// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_config.h"

#define FULL (NVDLA_HAS_EW | NVDLA_HAS_SDP_LUT | NVDLA_HAS_CVIF)

/* clang-format off */
const struct nvdla_config nvdla_configs[] = {
	/*
	 * name                   C   K   A  banks E   N
	 *   BS BN EW PDP CDP DBB burst address features quirks latency
	 */
	{ "nv_small",             8,   8,   8,  32,   8, 512,
	   1,  1,  0,  1,  1,  8,  1, 32,  0,  0, 64 },
	{ "nv_small_256",        32,   8,   8,  32,  32, 128,
	   1,  1,  0,  1,  1,  8,  1, 32,  0,  0, 64 },
	{ "nv_small_256_full",   32,   8,   8,  32,  32, 128,
	   2,  2,  1,  1,  1,  8,  4, 32, FULL,  0, 64 },
	{ "nv_medium_512",       32,  16,  16,  32,  32, 512,
	   4,  4,  0,  2,  2, 16,  4, 64,  0,  0, 256 },
	{ "nv_medium_1024_full", 32,  32,  32,  32,  32, 512,
	   8,  8,  2,  4,  4, 32,  4, 64, FULL,  0, 1024 },
	{ "nv_large",            64,  32,  32,  16,  64, 512,
	  16, 16,  4,  8,  8, 32,  1, 64, FULL,  0, 1024 },
};

/* clang-format on */

const u32 nvdla_config_count = ARRAY_SIZE(nvdla_configs);

const struct nvdla_config *nvdla_config_find(const char *name)
{
	u32 i;

	for (i = 0; i < nvdla_config_count; i++)
		if (strcmp(nvdla_configs[i].name, name) == 0)
			return &nvdla_configs[i];
	return NULL;
}
