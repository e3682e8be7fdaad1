// SPDX-License-Identifier: MIT
/* Configuration ROM: each configuration knows its own and no other, and says what is wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "nvdla_rom.h"

/* A ROM with one word that may be wrong. */
struct rom {
	const struct nvdla_config *config;
	u32 wrong_reg;
	u32 wrong_value;
};

static u32 rom_read(void *context, u32 reg)
{
	const struct rom *rom = context;

	return reg == rom->wrong_reg ? rom->wrong_value : nvdla_rom_value(rom->config, reg);
}

static void each_knows_its_own(void **state)
{
	struct nvdla_rom_mismatch mismatch;
	u32 i;

	for (i = 0; i < nvdla_config_count; i++) {
		struct rom rom = { .config = &nvdla_configs[i], .wrong_reg = ~0u };

		assert_ptr_equal(nvdla_rom_identify(rom_read, &rom, &mismatch), &nvdla_configs[i]);
	}
}

/* The words of nv_small as read from the RTL. */
static void small_is_as_recorded(void **state)
{
	static const struct {
		u32 reg;
		u32 value;
	} recorded[] = {
		{ 0x000, 0x00010001 }, { 0x038, 8 }, { 0x03c, 8 },     { 0x040, 8 },
		{ 0x044, 0x20 },       { 0x048, 8 }, { 0x04c, 0x200 }, { 0x050, 0 },
		{ 0x054, 0x0cfff001 }, { 0x058, 3 }, { 0x140, 1 },     { 0x144, 1 },
		{ 0x148, 0 },	       { 0x170, 1 }, { 0x198, 1 },     { 0x19c, 0 },
	};
	const struct nvdla_config *small = nvdla_config_find("nv_small");
	u32 i;

	for (i = 0; i < ARRAY_SIZE(recorded); i++)
		assert_int_equal(nvdla_rom_value(small, recorded[i].reg), recorded[i].value);
}

static void one_wrong_word_is_told(void **state)
{
	const struct nvdla_config *large = nvdla_config_find("nv_large");
	struct rom rom = { large, NVDLA_CFGROM_CSC_BASE_ATOMIC_K, 31 };
	struct nvdla_rom_mismatch mismatch;

	assert_null(nvdla_rom_identify(rom_read, &rom, &mismatch));
	assert_ptr_equal(mismatch.config, large);
	assert_string_equal(mismatch.name, "CSC_BASE_ATOMIC_K");
	assert_int_equal(mismatch.reg, NVDLA_CFGROM_CSC_BASE_ATOMIC_K);
	assert_int_equal(mismatch.value, 31);
	assert_int_equal(mismatch.expected, 32);
}

static u32 all_ones(void *context, u32 reg)
{
	return ~0u;
}

static u32 zero(void *context, u32 reg)
{
	return 0;
}

static void nonsense_is_refused(void **state)
{
	struct nvdla_rom_mismatch mismatch = { 0 };

	assert_null(nvdla_rom_identify(all_ones, NULL, &mismatch));
	assert_int_equal(mismatch.value, ~0u);
	assert_non_null(mismatch.name);
	assert_null(nvdla_rom_identify(zero, NULL, &mismatch));
	assert_non_null(mismatch.config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_knows_its_own),
		cmocka_unit_test(small_is_as_recorded),
		cmocka_unit_test(one_wrong_word_is_told),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
