// SPDX-License-Identifier: MIT
/*
 * The validator of chain streams: for each rule a stream that is accepted and the same stream with
 * one change that is refused, for the right reason.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "../../driver/tests/nvdla_validate_cases.h"
#include "nvdla_chain_check.h"
#include "nvdla_rules.h"
#include "nvdla_segment.h"

static u64 storage[512];

static int validate(const char *config, const struct chain_build *b, struct nvdla_chain *chain,
		    struct nvdla_chain_error *error)
{
	memset(error, 0, sizeof(*error));
	return nvdla_chain_validate(nvdla_config_find(config), b->data, b->size, storage,
				    sizeof(storage), chain, error);
}

static void expect_accepted(const char *config, const struct chain_build *b,
			    struct nvdla_chain *chain)
{
	struct nvdla_chain_error error;
	int err = validate(config, b, chain, &error);

	if (err) {
		char text[256];

		nvdla_chain_error_text(&error, text, sizeof(text));
		fail_msg("refused: %s", text);
	}
}

static void test_mutations(void **state)
{
	static struct nvdla_case_room room;
	u32 i, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(nvdla_validate_cases); i++) {
		const struct nvdla_validate_case *test = &nvdla_validate_cases[i];
		const char *fault = nvdla_validate_case_run(test, &room);
		char text[256];

		if (!fault)
			continue;
		nvdla_chain_error_text(&room.error, text, sizeof(text));
		print_error("%s: %s: %s\n", test->name, fault, text);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* Every field that may not hold everything refuses the first value that it may not hold. */
static void test_field_table(void **state)
{
	void (*const makes[])(struct chain_build *, const struct nvdla_config *) = {
		nvdla_make_bs_table, nvdla_make_conv_pool, nvdla_make_sdp,
		nvdla_make_pool,     nvdla_make_cdp,
	};
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i, k, refused = 0;

	for (i = 0; i < nvdla_field_rule_count; i++) {
		const struct nvdla_field_rule *r = &nvdla_field_rules[i];
		u32 most = (u32)((1ull << r->width) - 1);
		struct nvdla_case_change c = { r->reg, r->lsb, r->width,
					       r->high == most ? r->low - 1 : r->high + 1 };

		if (r->low == 0 && r->high == most)
			continue;
		for (k = 0; k < ARRAY_SIZE(makes); k++) {
			chain_begin(&b);
			makes[k](&b, cfg);
			if (chain_has(&b, r->reg) || r->low == 0) {
				nvdla_case_apply(&b, &c);
				nvdla_case_finish(&b);
				assert_int_not_equal(validate("nv_small", &b, &chain, &error), 0);
				refused++;
			}
			chain_free(&b);
		}
	}
	assert_true(refused > 100);
}

/* The table is in order, names fields that exist and can be written, and leaves no bit of them out. */
static void test_table_form(void **state)
{
	u32 i, last = 0, last_lsb = 0;

	for (i = 0; i < nvdla_field_rule_count; i++) {
		const struct nvdla_field_rule *r = &nvdla_field_rules[i];
		const struct nvdla_reg_info *info = nvdla_reg_find(r->reg);

		assert_true(r->reg > last || (r->reg == last && r->lsb > last_lsb));
		last = r->reg;
		last_lsb = r->lsb;
		assert_non_null(info);
		assert_true(info->writable);
		assert_true(!strncmp(info->name, "D_", 2) || !strncmp(info->name, "S_LUT_", 6));
		assert_string_not_equal(info->name, "D_OP_ENABLE");
		assert_null(strstr(info->name, "_ADDR_"));
		assert_true(r->low <= r->high);
	}
	for (i = 0; i < nvdla_address_count; i++) {
		assert_non_null(nvdla_reg_find(nvdla_address_regs[i].low));
		assert_non_null(nvdla_reg_find(nvdla_address_regs[i].high));
		assert_non_null(strstr(nvdla_reg_find(nvdla_address_regs[i].low)->name, "LOW"));
		assert_non_null(strstr(nvdla_reg_find(nvdla_address_regs[i].high)->name, "HIGH"));
	}
}

/* A register that the table does not know is refused, whatever it is. */
static void test_default_deny(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small_256_full");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i, k, refused = 0;

	for (i = 0; i < nvdla_reg_count; i++) {
		for (k = 0; k < nvdla_field_rule_count; k++)
			if (nvdla_field_rules[k].reg == nvdla_reg_table[i].offset)
				break;
		if (k < nvdla_field_rule_count)
			continue;
		chain_begin(&b);
		nvdla_make_conv_pool(&b, cfg);
		chain_set(&b, nvdla_reg_table[i].offset, 0);
		nvdla_case_finish(&b);
		assert_int_equal(validate(cfg->name, &b, &chain, &error), -EINVAL);
		assert_int_equal(error.reg, nvdla_reg_table[i].offset);
		chain_free(&b);
		refused++;
	}
	assert_true(refused > 200);
}

/* ---- several tasks ---- */

/* Two convolutions; the second is changed by @flags of struct conv_shape. */
static int two_convs(const struct conv_shape *first, const struct conv_shape *second,
		     struct nvdla_chain *chain, struct nvdla_chain_error *error)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	static u64 keep[512];
	static u8 stream[8192];
	int err;

	chain_begin(&b);
	chain_conv(&b, cfg, first, 0);
	chain_task_end(&b);
	chain_conv(&b, cfg, second, 1);
	nvdla_case_finish(&b);
	assert_true(b.size <= sizeof(stream));
	memcpy(stream, b.data, b.size);
	chain_free(&b);
	memset(error, 0, sizeof(*error));
	err = nvdla_chain_validate(cfg, stream, b.size, keep, sizeof(keep), chain, error);
	return err;
}

static void test_reuse(void **state)
{
	struct conv_shape first = nvdla_case_conv, second;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	first.out = 0;
	/* All data stays. */
	first.skip_data = true;
	second = nvdla_case_conv;
	second.data_reuse = true;
	second.out = 0x4000;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[0].flags, NVDLA_TASK_KEEPS);
	assert_int_equal(chain.task[1].flags, NVDLA_TASK_REUSES | NVDLA_TASK_OVERLAPS);
	/* ... and has to be used, */
	second.data_reuse = false;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.task, 1);
	assert_int_equal(error.reg, NVDLA_CDMA_D_MISC_CFG);
	/* with the same banks, */
	second.data_reuse = true;
	second.data_banks = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	/* the same lines, */
	second.data_banks = 0;
	second.w = 9;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_DATAIN_SIZE_0);
	/* and no more of them. */
	second.w = 8;
	second.kept = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_DATAIN_SIZE_EXT_0);
	/* Lines that stay cannot be released in part. */
	second = nvdla_case_conv;
	second.data_reuse = true;
	first.release = 3;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_RELEASE);
}

static void test_halo(void **state)
{
	struct conv_shape first = nvdla_case_conv, second = nvdla_case_conv;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* Two lines stay, five are fetched. */
	first.pad_bottom = 0;
	first.release = 5;
	second.pad_top = 0;
	second.h = 5;
	second.kept = 2;
	second.data_reuse = true;
	second.in = 7 * 64;
	second.out = 6 * 64;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_REUSES, NVDLA_TASK_REUSES);
	/* One line too many. */
	second.kept = 3;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_DATAIN_SIZE_EXT_0);
	/* Kept lines without reuse: CDMA fetches less than CSC wants. */
	second.kept = 2;
	second.data_reuse = false;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CSC_D_DATAIN_SIZE_EXT_0);
	/* A leftover that the next task does not want is harmless. */
	second.kept = 0;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	/* Kept and new lines together must fit: 24 entries a line, 512 in the bank. */
	first = (struct conv_shape){
		.w = 8, .h = 20, .c = 24, .k = 8, .r = 3, .s = 3, .release = 10
	};
	second = (struct conv_shape){ .w = 8,
				      .h = 12,
				      .c = 24,
				      .k = 8,
				      .r = 3,
				      .s = 3,
				      .kept = 10,
				      .data_banks = 1,
				      .data_reuse = true };
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	second.h = 11;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
}

/* @count tasks that share content of CBUF; the second one is of another kind. */
static int long_run(u32 count, struct nvdla_chain *chain, struct nvdla_chain_error *error)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	static u64 keep[1024];
	static u8 stream[16384];
	size_t bytes;
	u32 i;

	chain_begin(&b);
	for (i = 0; i < count; i++) {
		struct conv_shape n = nvdla_case_conv;

		n.skip_weight = i + 1 < count;
		n.weight_reuse = i;
		n.in = n.out = i * 0x2000;
		if (i == 1)
			chain_sdp(&b, cfg, 6, 5, 8, 0, 0x2000, 7);
		else
			chain_conv(&b, cfg, &n, 7);
		if (i + 1 < count)
			chain_task_end(&b);
	}
	nvdla_case_finish(&b);
	assert_true(b.size <= sizeof(stream));
	bytes = b.size;
	memcpy(stream, b.data, bytes);
	chain_free(&b);
	memset(error, 0, sizeof(*error));
	return nvdla_chain_validate(cfg, stream, bytes, keep, sizeof(keep), chain, error);
}

/* Nobody else's work can run between tasks that share content of CBUF, so they are few. */
static void test_run(void **state)
{
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	assert_int_equal(long_run(NVDLA_CHAIN_MAX_RUN, &chain, &error), 0);
	assert_int_equal(nvdla_chain_segment(&chain, 0), NVDLA_CHAIN_MAX_RUN);
	assert_int_equal(long_run(NVDLA_CHAIN_MAX_RUN + 1, &chain, &error), -E2BIG);
	assert_int_equal(error.task, NVDLA_CHAIN_MAX_RUN);
	assert_int_equal(error.limit, NVDLA_CHAIN_MAX_RUN);
	assert_non_null(strstr(error.rule, "share content of CBUF"));
}

static void test_weight_reuse(void **state)
{
	struct conv_shape first = nvdla_case_conv, second = nvdla_case_conv;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	first.skip_weight = true;
	second.weight_reuse = true;
	second.in = 0x2000;
	second.out = 0x4000;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[0].flags, NVDLA_TASK_KEEPS | NVDLA_TASK_KEEPS_WEIGHTS);
	second.weight_reuse = false;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_MISC_CFG);
	second.weight_reuse = true;
	second.weight_banks = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	second.weight_banks = 0;
	second.k = 12;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_WEIGHT_BYTES);
	/* Weights that stay must all fit: 64 kernels of 180 bytes in two banks of 4 KiB do not. */
	first.k = second.k = 64;
	first.weight_banks = second.weight_banks = 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	assert_int_equal(error.task, 0);
	/* Streamed, one group of eight kernels is enough. */
	first.skip_weight = second.weight_reuse = false;
	first.weight_banks = second.weight_banks = 1;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[0].weight_entries, 64 * 180 / 8);
	assert_int_equal(chain.task[0].weight_need, 8 * 180 / 8);
}

/* A kernel group larger than the weight banks hangs CDMA. */
static void test_kernel_group(void **state)
{
	struct conv_shape n = {
		.w = 4, .h = 4, .c = 64, .k = 8, .r = 3, .s = 3, .weight_banks = 2
	};
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* 8 * 576 bytes: more than one bank of 4096. */
	assert_int_equal(two_convs(&n, &n, &chain, &error), 0);
	n.weight_banks = 1;
	assert_int_equal(two_convs(&n, &n, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDMA_D_BANK);
	/* Exactly a bank is enough. */
	n = (struct conv_shape){
		.w = 4, .h = 4, .c = 512, .k = 24, .r = 1, .s = 1, .weight_banks = 1
	};
	assert_int_equal(two_convs(&n, &n, &chain, &error), 0);
	assert_int_equal(chain.banks, 3);
}

/* ---- what it works out ---- */

static void test_extents(void **state)
{
	struct conv_shape n = nvdla_case_conv;
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_access access[NVDLA_CHAIN_MAX_ACCESSES];
	struct nvdla_chain chain;

	n.in = 0x100;
	n.out = 0x40;
	n.weights = 0x18;
	chain_begin(&b);
	chain_conv(&b, cfg, &n, 7);
	task_bs_table(&b, 8, 7, 13);
	nvdla_case_finish(&b);
	expect_accepted("nv_small", &b, &chain);
	/* 20 channels: three surfaces of seven lines of eight atoms. */
	assert_int_equal(chain.region[TASK_INPUT].read_start, 0x100);
	assert_int_equal(chain.region[TASK_INPUT].read_end, 0x100 + 3 * 7 * 8 * 8);
	assert_int_equal(chain.region[TASK_INPUT].write_end, 0);
	/* 13 kernels of 180 bytes, up to eight; 13 channels: two atoms of two operands of two bytes. */
	assert_int_equal(chain.region[TASK_WEIGHTS].read_start, 0x18);
	assert_int_equal(chain.region[TASK_WEIGHTS].read_end, TASK_OPERANDS + 2 * 8 * 4);
	assert_int_equal(chain.region[TASK_OUTPUT].write_start, 0x40);
	assert_int_equal(chain.region[TASK_OUTPUT].write_end, 0x40 + 2 * 7 * 8 * 8);
	assert_int_equal(chain.region[TASK_OUTPUT].ports, NVDLA_REGION_MEMORY);
	assert_int_equal(chain.banks, 2);
	assert_int_equal(chain.alignment, 64);
	assert_int_equal(chain.task[0].done, 1 << NVDLA_INTR_SDP);
	assert_int_equal(nvdla_chain_accesses(&chain, 0, access), 4);
	assert_int_equal(access[1].reg, NVDLA_CDMA_D_WEIGHT_ADDR_LOW);
	assert_int_equal(access[1].bytes, 2344);
	chain_free(&b);
}

/* A plane of one element is packed whatever the strides are. */
static void test_one_element(void **state)
{
	struct conv_shape n = { .w = 3, .h = 3, .c = 8, .k = 30, .r = 3, .s = 3 };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain chain;

	chain_begin(&b);
	chain_conv(&b, cfg, &n, 0);
	CHAIN_SET(&b, SDP, D_DST_SURFACE_STRIDE, 0x1000);
	nvdla_case_finish(&b);
	expect_accepted("nv_small", &b, &chain);
	assert_int_equal(chain.region[TASK_OUTPUT].write_end, 32);
	chain_free(&b);
}

/* One surface read again and again, and every other line of the input. */
static void test_strides_of_use(void **state)
{
	struct conv_shape n = { .w = 8, .h = 4, .c = 16, .k = 8, .r = 1, .s = 1, .stride_x = 2 };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain chain;

	chain_begin(&b);
	chain_conv(&b, cfg, &n, 0);
	CHAIN_SET(&b, CDMA, D_LINE_STRIDE, 128);
	CHAIN_SET(&b, CDMA, D_SURF_STRIDE, 0);
	nvdla_case_finish(&b);
	expect_accepted("nv_small", &b, &chain);
	assert_int_equal(chain.region[TASK_INPUT].read_end, 3 * 128 + 64);
	chain_free(&b);
}

static void test_addresses(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static const struct {
		struct nvdla_chain_addr addr;
		u32 reg;
	} wrong[] = {
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, 4 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_REGIONS, 0 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, ~7ull },
		  NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_0, TASK_INPUT, 0xfffffff8 },
		  NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_DAIN_ADDR_LOW_1, TASK_INPUT, 0 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
		{ { NVDLA_CDMA_D_WEIGHT_ADDR_LOW, TASK_INPUT, 0 }, NVDLA_CDMA_D_DAIN_ADDR_LOW_0 },
	};
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		chain_begin(&b);
		nvdla_make_conv(&b, cfg);
		assert_int_equal(b.addr[0].reg, NVDLA_CDMA_D_DAIN_ADDR_LOW_0);
		b.addr[0] = wrong[i].addr;
		nvdla_case_finish(&b);
		assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
		assert_int_equal(error.reg, wrong[i].reg);
		chain_free(&b);
	}
	/* One that nothing uses. */
	chain_begin(&b);
	nvdla_make_conv(&b, cfg);
	chain_addr(&b, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW, TASK_WEIGHTS, 0);
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_SDP_RDMA_D_BS_BASE_ADDR_LOW);
	chain_free(&b);
}

/* Which pairs of tasks may overlap. */
static void test_independence(void **state)
{
	struct conv_shape first = nvdla_case_conv, second = nvdla_case_conv;
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* Two row bands of one output. */
	second.out = 7 * 8 * 8 * 2;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS, NVDLA_TASK_OVERLAPS);
	/* Both write the same bytes: in order by themselves, as SDP writes last in both. */
	second.out = 0;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS, NVDLA_TASK_OVERLAPS);
	/* One that gives a few atoms only waits: CACC could lose its end. */
	second.out = 7 * 8 * 8 * 2;
	second.h = 1;
	assert_int_equal(two_convs(&first, &second, &chain, &error), 0);
	assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS, 0);
	second = nvdla_case_conv;
	/* A pooling of what the convolution writes has to wait, one of other data not. */
	for (u32 same = 0; same < 2; same++) {
		struct pool_shape p = { .w = 4,
					.h = 4,
					.c = 8,
					.kernel_w = 2,
					.kernel_h = 2,
					.stride_w = 2,
					.stride_h = 2,
					.method = 1,
					.out = 0x8000 };
		u32 i;

		chain_begin(&b);
		chain_conv(&b, cfg, &first, 0);
		chain_task_end(&b);
		chain_pdp(&b, cfg, &p, 1);
		for (i = 0; i < b.addr_count; i++)
			if (same && b.addr[i].reg == NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW)
				b.addr[i].region = TASK_OUTPUT;
		nvdla_case_finish(&b);
		expect_accepted("nv_small", &b, &chain);
		assert_int_equal(chain.task[1].flags & NVDLA_TASK_OVERLAPS,
				 same ? 0 : NVDLA_TASK_OVERLAPS);
		chain_free(&b);
	}
}

static void test_surfaces(void **state)
{
	/* Two column tiles, four atoms wide, of a cube of 8 x 4 x 16. */
	struct nvdla_surface tile = { 32, 4, 2, 64, 256 }, other = tile;
	u64 bytes;

	assert_true(nvdla_surface_span(&tile, &bytes));
	assert_int_equal(bytes, 256 + 3 * 64 + 32);
	assert_true(nvdla_surface_disjoint(&tile));
	assert_false(nvdla_surface_overlap(&tile, 0, &other, 32));
	assert_false(nvdla_surface_overlap(&tile, 32, &other, 0));
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 24));
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 256));
	assert_false(nvdla_surface_overlap(&tile, 0, &other, 512));
	/* Tiles that run over the end of a line are not told apart. */
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 48));
	other.line_stride = 72;
	assert_true(nvdla_surface_overlap(&tile, 0, &other, 32));
	/* Surfaces inside of lines. */
	other = (struct nvdla_surface){ 8, 4, 2, 64, 8 };
	assert_true(nvdla_surface_disjoint(&other));
	other.surfaces = 9;
	assert_false(nvdla_surface_disjoint(&other));
	/* Spans that overflow 64 bits. */
	other = (struct nvdla_surface){ ~0u, ~0u, ~0u, ~0u, ~0u };
	assert_false(nvdla_surface_span(&other, &bytes));
}

/* ---- structure ---- */

static void test_structure(void **state)
{
	static struct nvdla_case_room room;
	const char *fault;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(nvdla_structure_cases); i++) {
		fault = nvdla_structure_case_run(&nvdla_structure_cases[i], &room);
		if (fault)
			fail_msg("byte %zu: %s", nvdla_structure_cases[i].at, fault);
	}
}

/* Every length of a stream that is too short, in a buffer of just that size. */
static void test_truncation(void **state)
{
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	u32 size;

	chain_begin(&b);
	nvdla_make_cdp(&b, nvdla_config_find("nv_small"));
	nvdla_case_finish(&b);
	for (size = 0; size < b.size; size++) {
		u8 *cut = malloc(size + 1);

		memcpy(cut, b.data, size);
		if (size >= sizeof(struct nvdla_chain_header))
			memcpy(cut + offsetof(struct nvdla_chain_header, size), &size, 4);
		assert_int_equal(nvdla_chain_validate(nvdla_config_find("nv_small"), cut, size,
						      storage, sizeof(storage), &chain, &error),
				 -EINVAL);
		free(cut);
	}
	assert_int_equal(nvdla_chain_validate(nvdla_config_find("nv_small"), b.data, b.size,
					      storage, 8, &chain, &error),
			 -ENOSPC);
	chain_free(&b);
}

static void test_tables(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	static struct chain_build b;
	struct nvdla_chain_error error;
	struct nvdla_chain chain;

	/* A later task may use tables that an earlier one brought. */
	chain_begin(&b);
	nvdla_make_cdp(&b, cfg);
	chain_task_end(&b);
	chain_cdp(&b, cfg, 4, 3, 20, 0x2000, 0x3000, false, 8);
	nvdla_case_finish(&b);
	expect_accepted("nv_small", &b, &chain);
	assert_int_equal(chain.task[1].flags, NVDLA_TASK_LUT);
	chain_free(&b);
	/* But not tables of another chain, */
	chain_begin(&b);
	chain_cdp(&b, cfg, 4, 3, 20, 0, 0x1000, false, 8);
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDP_S_LUT_ACCESS_CFG);
	chain_free(&b);
	/* half a table, or a third one. */
	chain_begin(&b);
	nvdla_make_cdp(&b, cfg);
	b.lut[1].count = 256;
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	chain_free(&b);
	chain_begin(&b);
	nvdla_make_cdp(&b, cfg);
	b.lut[1].table = 2;
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	chain_free(&b);
	chain_begin(&b);
	nvdla_make_cdp(&b, cfg);
	b.lut[0].entry[65] = 1;
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	chain_free(&b);
	/* One task brings a table once, two tasks twice. */
	chain_begin(&b);
	nvdla_make_cdp(&b, cfg);
	chain_task_end(&b);
	nvdla_make_cdp(&b, cfg);
	nvdla_case_finish(&b);
	expect_accepted("nv_small", &b, &chain);
	chain_free(&b);
	chain_begin(&b);
	nvdla_make_cdp(&b, cfg);
	b.lut[b.lut_count++] = b.lut[0];
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EINVAL);
	assert_int_equal(error.reg, NVDLA_CDP_S_LUT_ACCESS_CFG);
	chain_free(&b);
	/* SDP of nv_small has none. */
	chain_begin(&b);
	nvdla_make_sdp(&b, cfg);
	task_tables(&b);
	nvdla_case_finish(&b);
	assert_int_equal(validate("nv_small", &b, &chain, &error), -EOPNOTSUPP);
	chain_free(&b);
}

static void test_configurations(void **state)
{
	static struct chain_build b;
	struct nvdla_chain chain;
	u32 i, k;

	for (i = 0; i < nvdla_config_count; i++) {
		for (k = 0; k < ARRAY_SIZE(nvdla_case_makes); k++) {
			chain_begin(&b);
			nvdla_case_makes[k](&b, &nvdla_configs[i]);
			nvdla_case_finish(&b);
			expect_accepted(nvdla_configs[i].name, &b, &chain);
			chain_free(&b);
		}
	}
	/* What nv_small lacks is there in the full ones. */
	chain_begin(&b);
	nvdla_make_conv(&b, nvdla_config_find("nv_large"));
	CHAIN_SET(&b, CDMA, D_DAIN_RAM_TYPE, 0);
	CHAIN_SET(&b, SDP, D_DP_EW_CFG, NVDLA_SET(SDP, D_DP_EW_CFG, EW_LUT_BYPASS, 1));
	nvdla_case_finish(&b);
	expect_accepted("nv_large", &b, &chain);
	assert_int_equal(chain.region[TASK_INPUT].ports, NVDLA_REGION_SECOND_PORT);
	chain_free(&b);
}

static void test_error_text(void **state)
{
	struct nvdla_chain_error error = { 3, 7, NVDLA_CDMA_D_BANK, "banks", 40, 32 };
	char text[64], small[12];

	nvdla_chain_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "task 3 (layer 7): CDMA.D_BANK: banks: 40 > 32");
	nvdla_chain_error_text(&error, small, sizeof(small));
	assert_string_equal(small, "task 3 (lay");
	error = (struct nvdla_chain_error){ 0, 0, 0x3fffc, "known", 18446744073709551615ull, 0 };
	nvdla_chain_error_text(&error, text, sizeof(text));
	assert_string_equal(text,
			    "task 0 (layer 0): register 0x0003fffc: known: 18446744073709551");
	error = (struct nvdla_chain_error){ NVDLA_CHAIN_NO_TASK, 0,
					    NVDLA_CHAIN_NO_REG,	 "a chain",
					    10000000000ull,	 9999999999ull };
	nvdla_chain_error_text(&error, text, sizeof(text));
	assert_string_equal(text, "header: a chain: 10000000000 > 9999999999");
	nvdla_chain_error_text(&error, text, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_field_table),
		cmocka_unit_test(test_table_form),
		cmocka_unit_test(test_default_deny),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_halo),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_weight_reuse),
		cmocka_unit_test(test_kernel_group),
		cmocka_unit_test(test_extents),
		cmocka_unit_test(test_one_element),
		cmocka_unit_test(test_strides_of_use),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_independence),
		cmocka_unit_test(test_surfaces),
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_configurations),
		cmocka_unit_test(test_error_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
