// SPDX-License-Identifier: MIT
/* SDP of the device model against plain formulas on wide integers. */
#include "sim_device.h"

#define IN 0x1000
#define OPERANDS 0x20000
#define OUT 0x40000

typedef __int128 wide;

static wide limit(wide v, int bits)
{
	wide high = ((wide)1 << (bits - 1)) - 1;

	return v > high ? high : v < -high - 1 ? -high - 1 : v;
}

/* To the nearest, halves away from zero. */
static wide shift_right(wide v, u32 shift)
{
	wide half = shift ? (wide)1 << (shift - 1) : 0;

	return v < 0 ? -((-v + half) >> shift) : (v + half) >> shift;
}

struct cube {
	u32 width, height, channels;
};

/* Memory to memory, all stages bypassed, output = input. */
static void program(struct device *dev, const struct cube *c)
{
	u32 atom = 8, line = c->width * atom, surface = line * c->height;

	SELECT(dev, SDP);
	WRITE(dev, SDP, D_DATA_CUBE_WIDTH, c->width - 1);
	WRITE(dev, SDP, D_DATA_CUBE_HEIGHT, c->height - 1);
	WRITE(dev, SDP, D_DATA_CUBE_CHANNEL, c->channels - 1);
	WRITE(dev, SDP, D_DST_BASE_ADDR_LOW, OUT);
	WRITE(dev, SDP, D_DST_LINE_STRIDE, line);
	WRITE(dev, SDP, D_DST_SURFACE_STRIDE, surface);
	WRITE(dev, SDP, D_DP_BS_CFG, NVDLA_SET(SDP, D_DP_BS_CFG, BS_BYPASS, 1));
	WRITE(dev, SDP, D_DP_BN_CFG, NVDLA_SET(SDP, D_DP_BN_CFG, BN_BYPASS, 1));
	WRITE(dev, SDP, D_DP_EW_CFG, NVDLA_SET(SDP, D_DP_EW_CFG, EW_BYPASS, 1));
	WRITE(dev, SDP, D_FEATURE_MODE_CFG, 0);
	WRITE(dev, SDP, D_DATA_FORMAT, 0);
	WRITE(dev, SDP, D_CVT_OFFSET, 0);
	WRITE(dev, SDP, D_CVT_SCALE, 1);
	WRITE(dev, SDP, D_CVT_SHIFT, 0);
	WRITE(dev, SDP, D_PERF_ENABLE, 0);
	WRITE(dev, SDP_RDMA, D_DATA_CUBE_WIDTH, c->width - 1);
	WRITE(dev, SDP_RDMA, D_DATA_CUBE_HEIGHT, c->height - 1);
	WRITE(dev, SDP_RDMA, D_DATA_CUBE_CHANNEL, c->channels - 1);
	WRITE(dev, SDP_RDMA, D_SRC_BASE_ADDR_LOW, IN);
	WRITE(dev, SDP_RDMA, D_SRC_LINE_STRIDE, line);
	WRITE(dev, SDP_RDMA, D_SRC_SURFACE_STRIDE, surface);
	WRITE(dev, SDP_RDMA, D_FEATURE_MODE_CFG, 0);
	WRITE(dev, SDP_RDMA, D_BRDMA_CFG, NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE, 1));
	WRITE(dev, SDP_RDMA, D_NRDMA_CFG, NVDLA_SET(SDP_RDMA, D_NRDMA_CFG, NRDMA_DISABLE, 1));
	WRITE(dev, SDP_RDMA, D_ERDMA_CFG, NVDLA_SET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE, 1));
}

/* All int8 values through the output conversion, with odd shifts and both signs of scale. */
static void test_output_rounds_half_away(void **state)
{
	static const struct {
		s32 offset, scale;
		u32 shift;
	} sets[] = {
		{ 0, 1, 0 },   { 0, 1, 1 },	 { 3, -1, 1 },	   { -7, 32767, 15 },
		{ 0, 1, 48 },  { 0, 1, 49 },	 { 0, 1, 63 },	   { 1 << 30, -32768, 40 },
		{ 0, 300, 3 }, { -100, 300, 3 }, { 5, 16384, 14 },
	};
	const struct cube c = { 32, 1, 8 };
	struct device *dev = device_open("nv_small");
	u32 i, x;

	for (i = 0; i < 256; i++)
		dev->memory[IN + i] = (u8)i;
	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		program(dev, &c);
		WRITE(dev, SDP, D_CVT_OFFSET, (u32)sets[i].offset);
		WRITE(dev, SDP, D_CVT_SCALE, (u32)sets[i].scale & 0xffff);
		WRITE(dev, SDP, D_CVT_SHIFT, sets[i].shift);
		RUN(dev, SDP);
		for (x = 0; x < 256; x++) {
			wide v = ((wide)(s8)x - sets[i].offset) * sets[i].scale;

			/* The shifter has 49 bits: a shift of that much leaves nothing. */
			v = sets[i].shift < 49 ? limit(shift_right(v, sets[i].shift), 8) : 0;
			assert_int_equal(device_byte(dev, OUT + x), (int)v);
		}
	}
	device_close(dev);
}

struct stage {
	u32 algo; /* 3: none */
	bool multiply, prelu, relu, memory;
	s16 alu, mul;
	u32 alu_shift, shift;
};

static s32 stage_formula(const struct stage *s, s32 x, s16 alu, s16 mul)
{
	wide operand = limit(alu * ((wide)1 << s->alu_shift), 32), v = x;

	if (s->algo == 0)
		v = v > operand ? v : operand;
	else if (s->algo == 1)
		v = v < operand ? v : operand;
	else if (s->algo == 2)
		v += operand;
	if (s->multiply && s->prelu && v >= 0)
		v = (s32)(u32)v;
	else
		v = limit(s->shift < 49 ? shift_right(v * (s->multiply ? mul : 1), s->shift) : 0,
			  32);
	return s->relu && v < 0 ? 0 : (s32)v;
}

static void program_bs(struct device *dev, const struct stage *s)
{
	WRITE(dev, SDP, D_DP_BS_CFG,
	      NVDLA_SET(SDP, D_DP_BS_CFG, BS_ALU_BYPASS, s->algo == 3) |
		      NVDLA_SET(SDP, D_DP_BS_CFG, BS_ALU_ALGO, s->algo) |
		      NVDLA_SET(SDP, D_DP_BS_CFG, BS_MUL_BYPASS, !s->multiply) |
		      NVDLA_SET(SDP, D_DP_BS_CFG, BS_MUL_PRELU, s->prelu) |
		      NVDLA_SET(SDP, D_DP_BS_CFG, BS_RELU_BYPASS, !s->relu));
	WRITE(dev, SDP, D_DP_BS_ALU_CFG,
	      NVDLA_SET(SDP, D_DP_BS_ALU_CFG, BS_ALU_SRC, s->memory) |
		      NVDLA_SET(SDP, D_DP_BS_ALU_CFG, BS_ALU_SHIFT_VALUE, s->alu_shift));
	WRITE(dev, SDP, D_DP_BS_ALU_SRC_VALUE, (u16)s->alu);
	WRITE(dev, SDP, D_DP_BS_MUL_CFG,
	      NVDLA_SET(SDP, D_DP_BS_MUL_CFG, BS_MUL_SRC, s->memory) |
		      NVDLA_SET(SDP, D_DP_BS_MUL_CFG, BS_MUL_SHIFT_VALUE, s->shift));
	WRITE(dev, SDP, D_DP_BS_MUL_SRC_VALUE, (u16)s->mul);
}

/* Random settings of BS; operands in registers, or two bytes for each channel in memory. */
static void test_bs_against_formula(void **state)
{
	const struct cube c = { 5, 3, 19 };
	struct device *dev = device_open("nv_small");
	u32 round, i;

	for (round = 0; round < 300; round++) {
		struct stage s = {
			.algo = device_random(dev) % 4,
			.multiply = device_random(dev) % 2,
			.prelu = device_random(dev) % 3 == 0,
			.relu = device_random(dev) % 2,
			.alu = (s16)device_random(dev),
			.mul = (s16)device_random(dev),
			.alu_shift = device_random(dev) % 64 >> device_random(dev) % 4,
			.shift = device_random(dev) % 64 >> device_random(dev) % 3,
		};
		u32 shift = device_random(dev) % 32;

		s.memory = s.algo != 3 && s.multiply && device_random(dev) % 2;
		device_fill_random(dev, IN, c.width * c.height * 24);
		device_fill_random(dev, OPERANDS, 24 * 4);
		program(dev, &c);
		program_bs(dev, &s);
		WRITE(dev, SDP, D_CVT_SHIFT, shift);
		if (s.memory)
			WRITE(dev, SDP_RDMA, D_BRDMA_CFG,
			      NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE, 2) |
				      NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_SIZE, 1));
		WRITE(dev, SDP_RDMA, D_BS_BASE_ADDR_LOW, OPERANDS);
		RUN(dev, SDP);
		for (i = 0; i < c.width * c.height * 24; i++) {
			u32 channel = i / (c.width * c.height * 8) * 8 + i % 8;
			s16 alu = s.alu, mul = s.mul;
			s32 v;

			if (s.memory) {
				memcpy(&alu, dev->memory + OPERANDS + 4 * channel, 2);
				memcpy(&mul, dev->memory + OPERANDS + 4 * channel + 2, 2);
			}
			v = stage_formula(&s, device_byte(dev, IN + i), alu, mul);
			assert_int_equal(device_byte(dev, OUT + i),
					 (int)limit(shift_right(v, shift), 8));
		}
	}
	device_close(dev);
}

/* A 1x1 plane is packed, whatever the strides say; lanes above the last channel are written. */
static void test_single_pixel_is_packed(void **state)
{
	const struct cube c = { 1, 1, 20 };
	struct device *dev = device_open("nv_small");
	u32 i;

	device_fill_random(dev, IN, 24);
	memset(dev->memory + OUT, 0xa5, 64);
	program(dev, &c);
	WRITE(dev, SDP_RDMA, D_SRC_SURFACE_STRIDE, 0x400);
	WRITE(dev, SDP, D_DST_SURFACE_STRIDE, 0x400);
	RUN(dev, SDP);
	for (i = 0; i < 24; i++)
		assert_int_equal(dev->memory[OUT + i], dev->memory[IN + i]);
	assert_int_equal(dev->memory[OUT + 24], 0xa5);
	device_close(dev);
}

static void program_ew_compare(struct device *dev, s32 operand)
{
	WRITE(dev, SDP, D_DP_EW_CFG,
	      NVDLA_SET(SDP, D_DP_EW_CFG, EW_ALU_ALGO, 3) |
		      NVDLA_SET(SDP, D_DP_EW_CFG, EW_MUL_BYPASS, 1) |
		      NVDLA_SET(SDP, D_DP_EW_CFG, EW_LUT_BYPASS, 1));
	WRITE(dev, SDP, D_DP_EW_ALU_CFG, 0);
	WRITE(dev, SDP, D_DP_EW_ALU_SRC_VALUE, (u32)operand);
}

/* EW's comparison writes nothing and tells in D_STATUS whether something differed. */
static void test_compare_sets_status(void **state)
{
	const struct cube c = { 4, 2, 8 };
	struct device *dev = device_open("nv_small_256_full");
	u32 i;

	for (i = 0; i < 2; i++) {
		memset(dev->memory + IN, 0xfe, 64);
		memset(dev->memory + OUT, 0xa5, 64);
		dev->memory[IN + 33] = i ? 1 : 0xfe;
		program(dev, &c);
		program_ew_compare(dev, -2);
		RUN(dev, SDP);
		WRITE(dev, SDP, S_POINTER, dev->group ^ 1);
		assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_STATUS), i);
		assert_int_equal(dev->memory[OUT], 0xa5);
	}
	device_close(dev);
}

/* Entry i of LO stands for -100 + 4 i and holds 3 i; LE is out of every value's reach. */
static void load_tables(struct device *dev)
{
	u32 i;

	WRITE(dev, SDP, S_LUT_ACCESS_CFG,
	      NVDLA_SET(SDP, S_LUT_ACCESS_CFG, LUT_TABLE_ID, 1) |
		      NVDLA_SET(SDP, S_LUT_ACCESS_CFG, LUT_ACCESS_TYPE, 1));
	for (i = 0; i < 257; i++)
		WRITE(dev, SDP, S_LUT_ACCESS_DATA, (3 * i) & 0xffff);
	WRITE(dev, SDP, S_LUT_ACCESS_CFG, NVDLA_SET(SDP, S_LUT_ACCESS_CFG, LUT_TABLE_ID, 1) | 255);
	/* The port's address advances with reads as well. */
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_LUT_ACCESS_DATA), 3 * 255);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_LUT_ACCESS_DATA), 3 * 256);
	WRITE(dev, SDP, S_LUT_INFO, NVDLA_SET(SDP, S_LUT_INFO, LUT_LO_INDEX_SELECT, 2));
	WRITE(dev, SDP, S_LUT_LO_START, (u32)-100);
	WRITE(dev, SDP, S_LUT_LO_END, (u32)(-100 + 4 * 256));
	WRITE(dev, SDP, S_LUT_LE_START, 1000);
	WRITE(dev, SDP, S_LUT_LE_END, 2000);
	WRITE(dev, SDP, S_LUT_LO_SLOPE_SCALE,
	      NVDLA_SET(SDP, S_LUT_LO_SLOPE_SCALE, LUT_LO_SLOPE_UFLOW_SCALE, 3));
	WRITE(dev, SDP, S_LUT_LO_SLOPE_SHIFT,
	      NVDLA_SET(SDP, S_LUT_LO_SLOPE_SHIFT, LUT_LO_SLOPE_UFLOW_SHIFT, 1));
	WRITE(dev, SDP, S_LUT_CFG,
	      NVDLA_SET(SDP, S_LUT_CFG, LUT_LE_FUNCTION, 1) |
		      NVDLA_SET(SDP, S_LUT_CFG, LUT_UFLOW_PRIORITY, 1));
}

/* A straight line as table: 3/4 x + 75, and below the start 3/2 (x + 100). */
static void test_table_interpolates(void **state)
{
	const struct cube c = { 32, 1, 8 };
	struct device *dev = device_open("nv_small_256_full");
	u32 i, under = 0;

	load_tables(dev);
	for (i = 0; i < 256; i++)
		dev->memory[IN + i] = (u8)i;
	program(dev, &c);
	WRITE(dev, SDP, D_PERF_ENABLE, NVDLA_SET(SDP, D_PERF_ENABLE, PERF_LUT_EN, 1));
	WRITE(dev, SDP, D_CVT_OFFSET, 75);
	WRITE(dev, SDP, D_DP_EW_CFG,
	      NVDLA_SET(SDP, D_DP_EW_CFG, EW_ALU_BYPASS, 1) |
		      NVDLA_SET(SDP, D_DP_EW_CFG, EW_MUL_BYPASS, 1));
	RUN(dev, SDP);
	for (i = 0; i < 256; i++) {
		s32 x = (s8)i, y;

		if (x <= -100) {
			under++;
			y = (s32)shift_right((x + 100) * 3, 1);
		} else {
			y = (s32)shift_right((x + 100) * 3, 2);
		}
		assert_int_equal(device_byte(dev, OUT + i), (int)limit(y - 75, 8));
	}
	WRITE(dev, SDP, S_POINTER, dev->group ^ 1);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_PERF_LUT_UFLOW), under);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_PERF_LUT_LO_HIT), 256 - under);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_PERF_LUT_LE_HIT), 0);
	device_close(dev);
}

/*
 * What the hardware does not finish is not finished here either, and says why: with INT16
 * processing half of each atom comes through.
 */
static void test_wrong_precision_hangs(void **state)
{
	const struct cube c = { 4, 4, 8 };
	struct device *dev = device_open("nv_small");
	u32 i;

	device_fill_random(dev, IN, 128);
	memset(dev->memory + OUT, 0xa5, 128);
	program(dev, &c);
	WRITE(dev, SDP, D_DATA_FORMAT, NVDLA_SET(SDP, D_DATA_FORMAT, PROC_PRECISION, 1));
	WRITE(dev, SDP, D_OP_ENABLE, 1);
	WRITE(dev, SDP_RDMA, D_OP_ENABLE, 1);
	assert_false(npusim_wait(dev->sim));
	assert_non_null(strstr(npusim_diagnosis(dev->sim), "PROC_PRECISION"));
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_STATUS), 1);
	for (i = 0; i < 128; i++)
		assert_int_equal(dev->memory[OUT + i],
				 i < 64 ? dev->memory[IN + i / 4 * 8 + i % 4] : 0xa5);
	device_close(dev);
}

static void test_counts_saturation_and_bytes(void **state)
{
	const struct cube c = { 8, 1, 8 };
	struct device *dev = device_open("nv_small");
	struct npusim_counters counters;

	memset(dev->memory + IN, 3, 64);
	memset(dev->memory + IN, 0x7f, 5);
	program(dev, &c);
	WRITE(dev, SDP, D_PERF_ENABLE, NVDLA_SET(SDP, D_PERF_ENABLE, PERF_SAT_EN, 1));
	WRITE(dev, SDP, D_CVT_SCALE, 600); /* 127 * 600 is beyond 17 bits, 3 * 600 is not */
	RUN(dev, SDP);
	WRITE(dev, SDP, S_POINTER, dev->group ^ 1);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_PERF_OUT_SATURATION), 5);
	npusim_counters(dev->sim, &counters);
	assert_int_equal(counters.bytes[NPUSIM_SDP_READ], 64);
	assert_int_equal(counters.bytes[NPUSIM_SDP_WRITE], 64);
	device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_rounds_half_away),
		cmocka_unit_test(test_bs_against_formula),
		cmocka_unit_test(test_single_pixel_is_packed),
		cmocka_unit_test(test_compare_sets_status),
		cmocka_unit_test(test_table_interpolates),
		cmocka_unit_test(test_wrong_precision_hangs),
		cmocka_unit_test(test_counts_saturation_and_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
