// SPDX-License-Identifier: MIT
/* CDP of the device model against plain formulas. */
#include "sim_device.h"

#define IN 0x1000
#define OUT 0x40000
#define ATOM 8u
#define WIDTH 11u
#define HEIGHT 3u
#define CHANNELS 21u
#define SURFACES 3u

#define START 40 /* of LO */
#define SELECT_BITS 9 /* LO's entries are 512 apart */

/* Entry i of LO: falls from 2000 in steps of 7. */
static s32 entry(u32 i)
{
	return 2000 - 7 * (s32)i;
}

static void program(struct device *dev, u32 length, u32 bypass)
{
	u32 i;

	SELECT(dev, CDP);
	WRITE(dev, CDP, S_LUT_ACCESS_CFG,
	      NVDLA_SET(CDP, S_LUT_ACCESS_CFG, LUT_TABLE_ID, 1) |
		      NVDLA_SET(CDP, S_LUT_ACCESS_CFG, LUT_ACCESS_TYPE, 1));
	for (i = 0; i < 257; i++)
		WRITE(dev, CDP, S_LUT_ACCESS_DATA, (u32)entry(i) & 0xffff);
	/* LE is out of reach, and LO answers below and above both. */
	WRITE(dev, CDP, S_LUT_CFG,
	      NVDLA_SET(CDP, S_LUT_CFG, LUT_LE_FUNCTION, 1) |
		      NVDLA_SET(CDP, S_LUT_CFG, LUT_UFLOW_PRIORITY, 1) |
		      NVDLA_SET(CDP, S_LUT_CFG, LUT_OFLOW_PRIORITY, 1));
	WRITE(dev, CDP, S_LUT_LE_START_LOW, 1 << 20);
	WRITE(dev, CDP, S_LUT_LO_START_LOW, START);
	WRITE(dev, CDP, S_LUT_LO_END_LOW, START + (256 << SELECT_BITS));
	WRITE(dev, CDP, S_LUT_INFO, NVDLA_SET(CDP, S_LUT_INFO, LUT_LO_INDEX_SELECT, SELECT_BITS));
	WRITE(dev, CDP, D_FUNC_BYPASS, bypass);
	WRITE(dev, CDP, D_LRN_CFG, length);
	WRITE(dev, CDP, D_DATIN_OFFSET, 0);
	WRITE(dev, CDP, D_DATIN_SCALE, 1);
	WRITE(dev, CDP, D_DATIN_SHIFTER, 0);
	WRITE(dev, CDP, D_DATOUT_OFFSET, 0);
	WRITE(dev, CDP, D_DATOUT_SCALE, 1);
	WRITE(dev, CDP, D_DATOUT_SHIFTER, 11);
	WRITE(dev, CDP, D_DST_BASE_ADDR_LOW, OUT);
	WRITE(dev, CDP, D_DST_LINE_STRIDE, WIDTH * ATOM);
	WRITE(dev, CDP, D_DST_SURFACE_STRIDE, WIDTH * HEIGHT * ATOM);
	WRITE(dev, CDP_RDMA, D_DATA_CUBE_WIDTH, WIDTH - 1);
	WRITE(dev, CDP_RDMA, D_DATA_CUBE_HEIGHT, HEIGHT - 1);
	WRITE(dev, CDP_RDMA, D_DATA_CUBE_CHANNEL, CHANNELS - 1);
	WRITE(dev, CDP_RDMA, D_SRC_BASE_ADDR_LOW, IN);
	WRITE(dev, CDP_RDMA, D_SRC_LINE_STRIDE, WIDTH * ATOM);
	WRITE(dev, CDP_RDMA, D_SRC_SURFACE_STRIDE, WIDTH * HEIGHT * ATOM);
}

static s64 divide(s64 v, s64 by)
{
	return v < 0 ? -((-v + by / 2) / by) : (v + by / 2) / by;
}

static s64 clamp(s64 v, s64 low, s64 high)
{
	return v < low ? low : min(v, high);
}

/* The table as a function, linear between entries and flat outside. */
static s64 table(s64 x)
{
	s64 steps = x - START, index = steps >> SELECT_BITS,
	    rest = steps & ((1 << SELECT_BITS) - 1);

	if (steps <= 0)
		return entry(0);
	if (index >= 256)
		return entry(256);
	return entry((u32)index) +
	       divide((entry((u32)index + 1) - entry((u32)index)) * rest, 1 << SELECT_BITS);
}

/* An element of channel @c; lanes above the last channel and outside are 0. */
static s64 element(const struct device *dev, s32 c, u32 position)
{
	if (c < 0 || c >= (s32)CHANNELS)
		return 0;
	return device_byte(dev,
			   IN + ((u32)c / ATOM * WIDTH * HEIGHT + position) * ATOM + (u32)c % ATOM);
}

static void compare(const struct device *dev, s32 reach, u32 bypass)
{
	u32 position;
	s32 c, i;

	for (position = 0; position < WIDTH * HEIGHT; position++)
		for (c = 0; c < (s32)(SURFACES * ATOM); c++) {
			u32 at = OUT + ((u32)c / ATOM * WIDTH * HEIGHT + position) * ATOM +
				 (u32)c % ATOM;
			s64 x = element(dev, c, position), sum = 0, v;

			for (i = c - reach; i <= c + reach; i++)
				sum += element(dev, i, position) * element(dev, i, position);
			v = table(bypass & 1 ? x : sum) * (bypass & 2 ? 1 : x);
			v = clamp(divide(v, 1 << 11), -128, 127);
			assert_int_equal(device_byte(dev, at), v);
		}
}

/* 3, 5, 7 and 9 neighbours, with and without sum and multiplication. */
static void test_lrn_against_formula(void **state)
{
	struct device *dev = device_open("nv_small");
	u32 length, bypass;

	for (length = 0; length < 4; length++)
		for (bypass = 0; bypass < 4; bypass++) {
			device_fill_random(dev, IN, WIDTH * HEIGHT * SURFACES * ATOM);
			program(dev, length, bypass);
			RUN(dev, CDP);
			compare(dev, (s32)length + 1, bypass);
		}
	device_close(dev);
}

static void test_counters(void **state)
{
	struct device *dev = device_open("nv_small");
	struct npusim_counters counters;
	u32 all = WIDTH * HEIGHT * SURFACES * ATOM, hits;

	memset(dev->memory + IN, 0, all);
	dev->memory[IN] = 100; /* this element and its one neighbour see 10000 */
	program(dev, 0, 0);
	RUN(dev, CDP);
	WRITE(dev, CDP, S_POINTER, dev->group ^ 1);
	hits = npusim_read(dev->sim, NVDLA_CDP_D_PERF_LUT_LO_HIT);
	assert_int_equal(hits, 2);
	assert_int_equal(npusim_read(dev->sim, NVDLA_CDP_D_PERF_LUT_UFLOW), all - hits);
	assert_int_equal(npusim_read(dev->sim, NVDLA_CDP_D_PERF_LUT_OFLOW), 0);
	npusim_counters(dev->sim, &counters);
	assert_int_equal(counters.bytes[NPUSIM_CDP_READ], all);
	assert_int_equal(counters.bytes[NPUSIM_CDP_WRITE], all);
	device_close(dev);
}

/* The port stops at the last entry and ignores accesses of the other kind. */
static void test_table_port(void **state)
{
	struct device *dev = device_open("nv_small");
	u32 i;

	program(dev, 0, 0);
	WRITE(dev, CDP, S_LUT_ACCESS_CFG, NVDLA_SET(CDP, S_LUT_ACCESS_CFG, LUT_TABLE_ID, 1) | 254);
	WRITE(dev, CDP, S_LUT_ACCESS_DATA, 0x1234);
	for (i = 254; i < 260; i++)
		assert_int_equal(npusim_read(dev->sim, NVDLA_CDP_S_LUT_ACCESS_DATA),
				 (u16)entry(min(i, 256u)));
	device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lrn_against_formula),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_table_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
