// SPDX-License-Identifier: MIT
/* PDP of the device model against plain formulas. */
#include "sim_device.h"

#define IN 0x1000
#define MIDDLE 0x20000
#define OUT 0x40000
#define ATOM 8u

enum { AVERAGE, MAX, MIN };

struct pool {
	u32 method;
	u32 width, height, surfaces;
	u32 kernel_x, kernel_y, stride_x, stride_y;
	u32 left, top, right, bottom;
	u32 recip_x, recip_y;
	s32 pad; /* what a missing element counts in an average */
};

static u32 out_width(const struct pool *p)
{
	return (p->width + p->left + p->right - p->kernel_x) / p->stride_x + 1;
}

static u32 out_height(const struct pool *p)
{
	return (p->height + p->top + p->bottom - p->kernel_y) / p->stride_y + 1;
}

static void program(struct device *dev, const struct pool *p, bool memory)
{
	static const u32 pad_reg[] = {
		NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG, NVDLA_PDP_D_POOLING_PADDING_VALUE_2_CFG,
		NVDLA_PDP_D_POOLING_PADDING_VALUE_3_CFG, NVDLA_PDP_D_POOLING_PADDING_VALUE_4_CFG,
		NVDLA_PDP_D_POOLING_PADDING_VALUE_5_CFG, NVDLA_PDP_D_POOLING_PADDING_VALUE_6_CFG,
		NVDLA_PDP_D_POOLING_PADDING_VALUE_7_CFG,
	};
	u32 i;

	SELECT(dev, PDP);
	WRITE(dev, PDP, D_DATA_CUBE_IN_WIDTH, p->width - 1);
	WRITE(dev, PDP, D_DATA_CUBE_IN_HEIGHT, p->height - 1);
	WRITE(dev, PDP, D_DATA_CUBE_IN_CHANNEL, p->surfaces * ATOM - 1);
	WRITE(dev, PDP, D_DATA_CUBE_OUT_WIDTH, out_width(p) - 1);
	WRITE(dev, PDP, D_DATA_CUBE_OUT_HEIGHT, out_height(p) - 1);
	WRITE(dev, PDP, D_DATA_CUBE_OUT_CHANNEL, p->surfaces * ATOM - 1);
	WRITE(dev, PDP, D_OPERATION_MODE_CFG,
	      NVDLA_SET(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD, p->method) |
		      NVDLA_SET(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, memory));
	WRITE(dev, PDP, D_POOLING_KERNEL_CFG,
	      NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH, p->kernel_x - 1) |
		      NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT, p->kernel_y - 1) |
		      NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH, p->stride_x - 1) |
		      NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT, p->stride_y - 1));
	WRITE(dev, PDP, D_POOLING_PADDING_CFG,
	      NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_LEFT, p->left) |
		      NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_TOP, p->top) |
		      NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT, p->right) |
		      NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM, p->bottom));
	for (i = 0; i < ARRAY_SIZE(pad_reg); i++)
		npusim_write(dev->sim, pad_reg[i], (u32)(p->pad * (s32)(i + 1)) & 0x7ffff);
	WRITE(dev, PDP, D_RECIP_KERNEL_WIDTH, p->recip_x);
	WRITE(dev, PDP, D_RECIP_KERNEL_HEIGHT, p->recip_y);
	WRITE(dev, PDP, D_DST_BASE_ADDR_LOW, OUT);
	WRITE(dev, PDP, D_DST_LINE_STRIDE, out_width(p) * ATOM);
	WRITE(dev, PDP, D_DST_SURFACE_STRIDE, out_width(p) * out_height(p) * ATOM);
	WRITE(dev, PDP_RDMA, D_DATA_CUBE_IN_WIDTH, p->width - 1);
	WRITE(dev, PDP_RDMA, D_DATA_CUBE_IN_HEIGHT, p->height - 1);
	WRITE(dev, PDP_RDMA, D_DATA_CUBE_IN_CHANNEL, p->surfaces * ATOM - 1);
	WRITE(dev, PDP_RDMA, D_FLYING_MODE, memory);
	WRITE(dev, PDP_RDMA, D_SRC_BASE_ADDR_LOW, IN);
	WRITE(dev, PDP_RDMA, D_SRC_LINE_STRIDE, p->width * ATOM);
	WRITE(dev, PDP_RDMA, D_SRC_SURFACE_STRIDE, p->width * p->height * ATOM);
	WRITE(dev, PDP_RDMA, D_OPERATION_MODE_CFG, 0);
}

static s32 round_16(s64 v)
{
	return (s32)(v < 0 ? -((-v + 0x8000) >> 16) : (v + 0x8000) >> 16);
}

/* The element of the output, from the definition of pooling. */
static s8 formula(const struct device *dev, const struct pool *p, u32 surface, s32 ox, s32 oy,
		  u32 lane)
{
	s32 sum = 0, best = p->method == MAX ? -128 : 127, kx, ky;

	for (ky = 0; ky < (s32)p->kernel_y; ky++)
		for (kx = 0; kx < (s32)p->kernel_x; kx++) {
			s32 x = ox * (s32)p->stride_x - (s32)p->left + kx;
			s32 y = oy * (s32)p->stride_y - (s32)p->top + ky;
			s32 v = p->pad;

			if (x >= 0 && x < (s32)p->width && y >= 0 && y < (s32)p->height) {
				u32 at =
					((surface * p->height + (u32)y) * p->width + (u32)x) * ATOM;

				v = device_byte(dev, IN + at + lane);
				best = p->method == MAX ? max(best, v) : min(best, v);
			}
			sum += v;
		}
	if (p->method != AVERAGE)
		return (s8)best;
	return (s8)round_16((s64)round_16((s64)sum * p->recip_x) * p->recip_y);
}

static void compare(const struct device *dev, const struct pool *p)
{
	u32 surface, x, y, lane, at = OUT;

	for (surface = 0; surface < p->surfaces; surface++)
		for (y = 0; y < out_height(p); y++)
			for (x = 0; x < out_width(p); x++)
				for (lane = 0; lane < ATOM; lane++, at++)
					assert_int_equal(device_byte(dev, at),
							 formula(dev, p, surface, (s32)x, (s32)y,
								 lane));
}

/* Shapes whose padding is smaller than the kernel and whose averages stay within int8. */
static struct pool random_pool(struct device *dev)
{
	struct pool p = {
		.method = device_random(dev) % 3,
		.surfaces = 1 + device_random(dev) % 3,
		.kernel_x = 1 + device_random(dev) % 8,
		.kernel_y = 1 + device_random(dev) % 8,
		.stride_x = 1 + device_random(dev) % 5,
		.stride_y = 1 + device_random(dev) % 5,
		.pad = (s32)(device_random(dev) % 200) - 100,
	};

	p.width = p.kernel_x + device_random(dev) % 9;
	p.height = p.kernel_y + device_random(dev) % 9;
	p.left = device_random(dev) % p.kernel_x;
	p.right = device_random(dev) % p.kernel_x;
	p.top = device_random(dev) % p.kernel_y;
	p.bottom = device_random(dev) % p.kernel_y;
	p.recip_x = 65536 / p.kernel_x;
	p.recip_y = 65536 / p.kernel_y;
	return p;
}

static void test_pools_against_formula(void **state)
{
	struct device *dev = device_open("nv_small");
	u32 round;

	for (round = 0; round < 200; round++) {
		struct pool p = random_pool(dev);

		device_fill_random(dev, IN, p.width * p.height * p.surfaces * ATOM);
		program(dev, &p, true);
		RUN(dev, PDP);
		compare(dev, &p);
	}
	device_close(dev);
}

/* Nothing saturates: 127.7 rounds to -128, and 128 has lost its only bit before rounding. */
static void test_average_wraps(void **state)
{
	struct pool p = { AVERAGE, 4, 4, 1, 1, 1, 1, 1, .recip_x = 65536, .recip_y = 65900 };
	struct device *dev = device_open("nv_small");

	memset(dev->memory + IN, 127, 4 * 4 * ATOM);
	program(dev, &p, true);
	RUN(dev, PDP);
	assert_int_equal(device_byte(dev, OUT), -128);
	p.recip_x = 66100;
	p.recip_y = 65536;
	program(dev, &p, true);
	RUN(dev, PDP);
	assert_int_equal(device_byte(dev, OUT), 0);
	device_close(dev);
}

/* In vertical parts or in one go: the same bytes, but more are read. */
static void test_split_equals_whole(void **state)
{
	const struct pool p = { MAX, 20, 6, 2, 3, 3, 2, 2, 1, 1, 0, 0 };
	struct device *dev = device_open("nv_small");
	struct npusim_counters counters;
	u32 bytes = p.width * p.height * p.surfaces * ATOM;

	device_fill_random(dev, IN, bytes);
	program(dev, &p, true);
	/* Outputs 4 + 6: the first part has 3 * 2 + 3 columns less 1 of padding. */
	WRITE(dev, PDP, D_OPERATION_MODE_CFG,
	      NVDLA_SET(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD, MAX) |
		      NVDLA_SET(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, 1) |
		      NVDLA_SET(PDP, D_OPERATION_MODE_CFG, SPLIT_NUM, 1));
	WRITE(dev, PDP_RDMA, D_OPERATION_MODE_CFG, 1);
	WRITE(dev, PDP_RDMA, D_POOLING_KERNEL_CFG,
	      NVDLA_SET(PDP_RDMA, D_POOLING_KERNEL_CFG, KERNEL_WIDTH, 2) |
		      NVDLA_SET(PDP_RDMA, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH, 1));
	WRITE(dev, PDP_RDMA, D_PARTIAL_WIDTH_IN,
	      NVDLA_SET(PDP_RDMA, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST, 7) |
		      NVDLA_SET(PDP_RDMA, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST, 11));
	WRITE(dev, PDP, D_PARTIAL_WIDTH_IN,
	      NVDLA_SET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_FIRST, 7) |
		      NVDLA_SET(PDP, D_PARTIAL_WIDTH_IN, PARTIAL_WIDTH_IN_LAST, 11));
	WRITE(dev, PDP, D_PARTIAL_WIDTH_OUT,
	      NVDLA_SET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_FIRST, 3) |
		      NVDLA_SET(PDP, D_PARTIAL_WIDTH_OUT, PARTIAL_WIDTH_OUT_LAST, 5));
	RUN(dev, PDP);
	compare(dev, &p);
	npusim_counters(dev->sim, &counters);
	/* The one column that both parts need is read twice. */
	assert_int_equal(counters.bytes[NPUSIM_PDP_READ], bytes + p.height * p.surfaces * ATOM);
	device_close(dev);
}

/* 64 columns of results fit when two rows of windows overlap, 65 do not. */
static void test_line_buffer_limit(void **state)
{
	struct pool p = { MAX, 66, 4, 1, 3, 3, 1, 2 };
	struct device *dev = device_open("nv_small");

	device_fill_random(dev, IN, 67 * 4 * ATOM);
	program(dev, &p, true);
	RUN(dev, PDP);
	compare(dev, &p);
	p.width = 67;
	program(dev, &p, true);
	WRITE(dev, PDP, D_OP_ENABLE, 1);
	WRITE(dev, PDP_RDMA, D_OP_ENABLE, 1);
	assert_false(npusim_wait(dev->sim));
	assert_non_null(strstr(npusim_diagnosis(dev->sim), "line buffer"));
	device_close(dev);
}

/* Behind SDP, the input never sees memory: here SDP passes IN on unchanged. */
static void test_behind_sdp(void **state)
{
	const struct pool p = { MIN, 9, 7, 2, 3, 3, 2, 2, 1, 1, 1, 1 };
	struct device *dev = device_open("nv_small");
	struct npusim_counters counters;

	device_fill_random(dev, IN, p.width * p.height * p.surfaces * ATOM);
	program(dev, &p, false);
	SELECT(dev, SDP);
	WRITE(dev, SDP, D_DATA_CUBE_WIDTH, p.width - 1);
	WRITE(dev, SDP, D_DATA_CUBE_HEIGHT, p.height - 1);
	WRITE(dev, SDP, D_DATA_CUBE_CHANNEL, p.surfaces * ATOM - 1);
	WRITE(dev, SDP, D_DP_BS_CFG, NVDLA_SET(SDP, D_DP_BS_CFG, BS_BYPASS, 1));
	WRITE(dev, SDP, D_DP_BN_CFG, NVDLA_SET(SDP, D_DP_BN_CFG, BN_BYPASS, 1));
	WRITE(dev, SDP, D_FEATURE_MODE_CFG, NVDLA_SET(SDP, D_FEATURE_MODE_CFG, OUTPUT_DST, 1));
	WRITE(dev, SDP, D_CVT_SCALE, 1);
	WRITE(dev, SDP_RDMA, D_DATA_CUBE_WIDTH, p.width - 1);
	WRITE(dev, SDP_RDMA, D_DATA_CUBE_HEIGHT, p.height - 1);
	WRITE(dev, SDP_RDMA, D_DATA_CUBE_CHANNEL, p.surfaces * ATOM - 1);
	WRITE(dev, SDP_RDMA, D_SRC_BASE_ADDR_LOW, IN);
	WRITE(dev, SDP_RDMA, D_SRC_LINE_STRIDE, p.width * ATOM);
	WRITE(dev, SDP_RDMA, D_SRC_SURFACE_STRIDE, p.width * p.height * ATOM);
	WRITE(dev, SDP_RDMA, D_FEATURE_MODE_CFG, 0);
	WRITE(dev, PDP, D_OP_ENABLE, 1);
	WRITE(dev, SDP, D_OP_ENABLE, 1);
	WRITE(dev, SDP_RDMA, D_OP_ENABLE, 1);
	WRITE(dev, GLB, S_INTR_MASK, ~(1u << NVDLA_INTR_PDP));
	assert_true(npusim_wait(dev->sim));
	compare(dev, &p);
	npusim_counters(dev->sim, &counters);
	assert_int_equal(counters.bytes[NPUSIM_SDP_WRITE], 0);
	assert_int_equal(counters.bytes[NPUSIM_PDP_READ], 0);
	device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pools_against_formula),
		cmocka_unit_test(test_average_wraps),
		cmocka_unit_test(test_split_equals_whole),
		cmocka_unit_test(test_line_buffer_limit),
		cmocka_unit_test(test_behind_sdp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
