// SPDX-License-Identifier: MIT
/* The device model's frame: registers, interrupts, DMA guard, hangs, and whole convolutions. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim_device.h"
#include "../common/sim_conv.h"

#define IN 0x0
#define WEIGHTS 0x40000
#define OUT 0x80000

static u32 status(struct device *dev)
{
	return npusim_read(dev->sim, NVDLA_GLB_S_INTR_STATUS);
}

static void test_rom_tells_the_configuration(void **state)
{
	u32 i;

	for (i = 0; i < nvdla_config_count; i++) {
		const struct nvdla_config *c = &nvdla_configs[i];
		struct device *dev = device_open(c->name);

		assert_int_equal(npusim_read(dev->sim, NVDLA_CFGROM_HW_VERSION), 0x10001);
		assert_int_equal(npusim_read(dev->sim, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C),
				 c->atomic_c);
		assert_int_equal(npusim_read(dev->sim, NVDLA_CFGROM_CDMA_BASE_CBUF_BANK_NUM),
				 c->banks);
		assert_int_equal(npusim_read(dev->sim, NVDLA_CFGROM_CDMA_BASE_CBUF_BANK_DEPTH),
				 c->entries);
		WRITE(dev, CFGROM, CDMA_BASE_ATOMIC_C, 77);
		assert_int_equal(npusim_read(dev->sim, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C),
				 c->atomic_c);
		device_close(dev);
	}
}

static void test_groups_are_apart(void **state)
{
	struct device *dev = device_open("nv_small");

	WRITE(dev, SDP, D_DATA_CUBE_WIDTH, 5);
	WRITE(dev, SDP, S_POINTER, 1);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_POINTER), 1);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_DATA_CUBE_WIDTH), 0);
	WRITE(dev, SDP, D_DATA_CUBE_WIDTH, UINT32_MAX);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_DATA_CUBE_WIDTH), 0x1fff);
	WRITE(dev, SDP, S_POINTER, 0);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_DATA_CUBE_WIDTH), 5);
	/* An enabled group keeps its registers. */
	WRITE(dev, SDP, D_FEATURE_MODE_CFG, 1);
	WRITE(dev, SDP, D_OP_ENABLE, 1);
	WRITE(dev, SDP, D_DATA_CUBE_WIDTH, 9);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_DATA_CUBE_WIDTH), 5);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_STATUS), 1);
	npusim_reset(dev->sim);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_D_DATA_CUBE_WIDTH), 0);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_STATUS), 0);
	device_close(dev);
}

/* The group whose turn it is not waits, and says so. */
static void test_wrong_group_is_pending(void **state)
{
	struct device *dev = device_open("nv_small");

	WRITE(dev, PDP, S_POINTER, 1);
	WRITE(dev, PDP, D_OP_ENABLE, 1);
	assert_int_equal(npusim_read(dev->sim, NVDLA_PDP_S_STATUS), 2u << 16);
	assert_false(npusim_wait(dev->sim));
	assert_non_null(strstr(npusim_diagnosis(dev->sim), "PDP group 1"));
	device_close(dev);
}

static void test_absent_registers_read_zero(void **state)
{
	struct device *dev = device_open("nv_small");

	npusim_write(dev->sim, 0xfffffffc, 1);
	npusim_write(dev->sim, 0x2ff1, 1);
	assert_int_equal(npusim_read(dev->sim, 0xfffffffc), 0);
	assert_int_equal(npusim_read(dev->sim, 0xe000), 0);
	assert_int_equal(npusim_read(dev->sim, 0x9001), 0);
	device_close(dev);
}

static void test_interrupt_bits(void **state)
{
	struct device *dev = device_open("nv_small");

	WRITE(dev, GLB, S_INTR_MASK, 1);
	WRITE(dev, GLB, S_INTR_SET, 1);
	assert_int_equal(status(dev), 1);
	assert_false(npusim_irq(dev->sim));
	WRITE(dev, GLB, S_INTR_SET, 1 << 20);
	assert_true(npusim_irq(dev->sim));
	WRITE(dev, GLB, S_INTR_STATUS, 1 << 20);
	assert_int_equal(status(dev), 1);
	WRITE(dev, GLB, S_INTR_MASK, 0);
	assert_true(npusim_irq(dev->sim));
	device_close(dev);
}

static void test_cbuf_is_flushed_in_time(void **state)
{
	struct device *dev = device_open("nv_small");

	assert_int_equal(npusim_read(dev->sim, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 0);
	npusim_run(dev->sim, 10000);
	assert_int_equal(npusim_read(dev->sim, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 1);
	device_close(dev);
}

static s32 saturate8(s32 v)
{
	return v > 127 ? 127 : v < -128 ? -128 : v;
}

/* The plain sum of products, rounded half away from zero. */
static s32 expected(const struct device *dev, const struct nvdla_config *cfg,
		    const struct conv_shape *p, u32 k, u32 y, u32 x)
{
	s32 sum = 0, half = p->shift ? 1 << (p->shift - 1) : 0;
	u32 c, r, s;

	for (c = 0; c < p->c; c++)
		for (r = 0; r < p->r; r++)
			for (s = 0; s < p->s; s++) {
				s32 iy = (s32)(y * p->stride + r) - (s32)p->pad;
				s32 ix = (s32)(x * p->stride + s) - (s32)p->pad;

				if (iy < 0 || ix < 0 || iy >= (s32)p->h || ix >= (s32)p->w)
					continue;
				sum += device_byte(dev, p->input + conv_feature_offset(
									   cfg, p->h, p->w, c,
									   (u32)iy, (u32)ix)) *
				       device_byte(dev, p->weights + conv_weight_offset(cfg, p, k,
											c, r, s));
			}
	return saturate8(sum < 0 ? -((-sum + half) >> p->shift) : (sum + half) >> p->shift);
}

static void check_output(const struct device *dev, const struct nvdla_config *cfg,
			 const struct conv_shape *p)
{
	u32 oh = conv_out_height(p), ow = conv_out_width(p), k, y, x;

	for (k = 0; k < p->k; k++)
		for (y = 0; y < oh; y++)
			for (x = 0; x < ow; x++)
				assert_int_equal(
					device_byte(dev, p->output + conv_feature_offset(
									     cfg, oh, ow, k, y, x)),
					expected(dev, cfg, p, k, y, x));
}

/* Wait for SDP's bit of the group; the others come before it. */
static bool wait_sdp(struct device *dev, u32 group)
{
	WRITE(dev, GLB, S_INTR_MASK, ~(3u << NVDLA_INTR_SDP));
	if (!npusim_wait(dev->sim))
		return false;
	assert_int_equal(status(dev) & 3, 1u << group);
	WRITE(dev, GLB, S_INTR_STATUS, UINT32_MAX);
	return true;
}

static void fill(struct device *dev, const struct nvdla_config *cfg, const struct conv_shape *p)
{
	device_fill_random(dev, p->input, conv_round_up(p->c, cfg->atom) * p->h * p->w);
	device_fill_random(dev, p->weights, conv_weight_bytes(cfg, p));
}

static const struct conv_shape shapes[] = {
	/* c  h  w  k  r  s  stride pad shift */
	{ 8, 5, 6, 8, 3, 3, 1, 1, 8, IN, WEIGHTS, OUT },
	{ 3, 7, 9, 5, 3, 3, 2, 1, 8, IN, WEIGHTS, OUT },
	{ 19, 6, 5, 17, 1, 1, 1, 0, 7, IN, WEIGHTS, OUT },
	{ 40, 8, 8, 33, 5, 3, 1, 2, 10, IN, WEIGHTS, OUT },
	{ 70, 4, 11, 9, 2, 4, 3, 0, 10, IN, WEIGHTS, OUT },
	{ 300, 1, 1, 20, 1, 1, 1, 0, 9, IN, WEIGHTS, OUT },
};

static void test_convolutions_on_all_configurations(void **state)
{
	u32 i, j;

	for (i = 0; i < nvdla_config_count; i++) {
		const struct nvdla_config *cfg = &nvdla_configs[i];
		struct device *dev = device_open(cfg->name);

		for (j = 0; j < ARRAY_SIZE(shapes); j++) {
			const struct conv_shape *p = &shapes[j];

			fill(dev, cfg, p);
			conv_start(dev->sim, cfg, p, dev->group,
				   cfg->banks - conv_data_banks(cfg, p));
			assert_true(wait_sdp(dev, dev->group));
			check_output(dev, cfg, p);
			dev->group ^= 1;
		}
		assert_int_equal(npusim_fault(dev->sim)->error, 0);
		device_close(dev);
	}
}

/* Bytes are the input once, the weights once and the output once. */
static void test_bytes_and_macs_are_counted(void **state)
{
	const struct conv_shape *p = &shapes[0];
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct device *dev = device_open("nv_small");
	struct npusim_counters n;

	conv_start(dev->sim, cfg, p, 0, 4);
	assert_true(wait_sdp(dev, 0));
	npusim_counters(dev->sim, &n);
	assert_int_equal(n.bytes[NPUSIM_CDMA_DATA], p->c * p->h * p->w);
	assert_int_equal(n.bytes[NPUSIM_CDMA_WEIGHT], conv_weight_bytes(cfg, p));
	assert_int_equal(n.bytes[NPUSIM_SDP_WRITE], p->k * p->h * p->w);
	assert_int_equal(npusim_bytes_written(&n), p->k * p->h * p->w);
	assert_int_equal(n.macs, p->c * p->h * p->w * p->k * 9);
	assert_int_equal(n.conv_tasks, 1);
	assert_true(n.cycles > 5 * 6 * 9);
	device_close(dev);
}

static void test_guard_refuses_and_tells(void **state)
{
	const struct npusim_range ranges[] = {
		{ IN, 0x1000, NPUSIM_GUARD_READ },
		{ WEIGHTS, 0x10000, NPUSIM_GUARD_READ },
		{ OUT, 16, NPUSIM_GUARD_READ | NPUSIM_GUARD_WRITE },
	};
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct device *dev = device_open("nv_small");
	const struct npusim_fault *f;

	assert_int_equal(npusim_guard(dev->sim, ranges, ARRAY_SIZE(ranges)), 0);
	memset(dev->memory + OUT, 0x55, 0x1000);
	fill(dev, cfg, &shapes[0]);
	conv_start(dev->sim, cfg, &shapes[0], 0, 4);
	assert_true(wait_sdp(dev, 0));
	f = npusim_fault(dev->sim);
	assert_int_equal(f->error, -EACCES);
	assert_int_equal(f->engine, NPUSIM_SDP_WRITE);
	assert_true(f->write);
	assert_int_equal(dev->memory[OUT + 16 + 8 * 30], 0x55);
	assert_non_null(strstr(npusim_diagnosis(dev->sim), "SDP_WRITE"));
	npusim_clear_fault(dev->sim);
	assert_int_equal(npusim_guard(dev->sim, NULL, 0), 0);
	conv_start(dev->sim, cfg, &shapes[0], 1, 4);
	assert_true(wait_sdp(dev, 1));
	assert_int_equal(npusim_fault(dev->sim)->error, 0);
	check_output(dev, cfg, &shapes[0]);
	device_close(dev);
}

/* A kernel group larger than the weight banks never arrives. */
static void test_too_few_weight_banks_hang(void **state)
{
	const struct conv_shape p = { 64, 4, 4, 8, 3, 3, 1, 1, 8, IN, WEIGHTS, OUT };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct device *dev = device_open("nv_small");

	conv_start(dev->sim, cfg, &p, 0, 1);
	assert_false(wait_sdp(dev, 0));
	assert_int_equal(status(dev), 1u << NVDLA_INTR_CDMA_DAT);
	assert_non_null(strstr(npusim_diagnosis(dev->sim), "weight bank"));
	npusim_reset(dev->sim);
	conv_start(dev->sim, cfg, &p, 0, 2);
	assert_true(wait_sdp(dev, 0));
	device_close(dev);
}

/* Two at once: the second is programmed while the first runs, and ends soon after it. */
static void test_groups_overlap(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct device *dev = device_open("nv_small");
	struct conv_shape second = shapes[0];

	second.output = OUT + 0x1000;
	fill(dev, cfg, &shapes[0]);
	conv_start(dev->sim, cfg, &shapes[0], 0, 4);
	conv_start(dev->sim, cfg, &second, 1, 4);
	assert_int_equal(npusim_read(dev->sim, NVDLA_SDP_S_STATUS), 1 | 2u << 16);
	assert_true(wait_sdp(dev, 0));
	assert_true(wait_sdp(dev, 1));
	check_output(dev, cfg, &shapes[0]);
	check_output(dev, cfg, &second);
	device_close(dev);
}

/* What an operation writes is not there before it ends. */
static void test_writes_come_with_the_end(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct device *dev = device_open("nv_small");
	u64 start;

	fill(dev, cfg, &shapes[0]);
	memset(dev->memory + OUT, 0x55, 8);
	conv_start(dev->sim, cfg, &shapes[0], 0, 4);
	start = npusim_now(dev->sim);
	WRITE(dev, GLB, S_INTR_MASK, ~(1u << NVDLA_INTR_CACC));
	assert_true(npusim_wait(dev->sim));
	assert_true(npusim_now(dev->sim) > start);
	assert_int_equal(dev->memory[OUT], 0x55);
	assert_int_equal(dev->memory[OUT + 7], 0x55);
	assert_true(wait_sdp(dev, 0));
	check_output(dev, cfg, &shapes[0]);
	device_close(dev);
}

/* Clock-gated silicon loses what is released between operations: 1024 bytes of 4096 each time. */
static void test_gated_clock_loses_weights(void **state)
{
	const struct conv_shape p = { 16, 4, 4, 8, 1, 8, 1, 4, 8, IN, WEIGHTS, OUT };
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	struct device *dev = device_open("nv_small");
	struct npusim_memory memory = { dev, device_read, device_write, NULL };
	struct npusim_options options = { .config = cfg, .clock_gated = true };
	u32 i;

	npusim_destroy(dev->sim);
	dev->sim = npusim_create(&options, &memory);
	assert_non_null(dev->sim);
	for (i = 0; i < 4; i++) {
		conv_start(dev->sim, cfg, &p, i & 1, 1);
		assert_true(wait_sdp(dev, i & 1));
	}
	conv_start(dev->sim, cfg, &p, 0, 1);
	assert_false(wait_sdp(dev, 0));
	device_close(dev);
}

static void remove_dir(const char *dir)
{
	static const char *const files[] = { "run.nv", "mem0.bin", "mem1.bin", "out.expect.bin" };
	char path[256];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
}

/* SDP copies a cube; the recording replays, and fails when the expected memory is another. */
static void test_recording_replays(void **state)
{
	static const struct {
		u32 reg, value;
	} copy[] = {
		{ NVDLA_SDP_D_DP_BS_CFG, 1 },
		{ NVDLA_SDP_D_DP_BN_CFG, 1 },
		{ NVDLA_SDP_D_DP_EW_CFG, 1 },
		{ NVDLA_SDP_D_CVT_SCALE, 1 },
		{ NVDLA_SDP_D_DST_BASE_ADDR_LOW, 0x100 },
		{ NVDLA_SDP_RDMA_D_BRDMA_CFG, 1 },
		{ NVDLA_SDP_RDMA_D_NRDMA_CFG, 1 },
		{ NVDLA_SDP_RDMA_D_ERDMA_CFG, 1 },
		{ NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG, 0 },
		{ NVDLA_SDP_D_DATA_FORMAT, 0 },
		{ NVDLA_SDP_RDMA_D_OP_ENABLE, 1 },
		{ NVDLA_SDP_D_OP_ENABLE, 1 },
	};
	static const u8 pixel[8] = { 1, 2, 3, 4, 5, 6, 7, 0x80 };
	struct npusim_replay_options options = { .config = "nv_small" };
	char dir[] = "/tmp/test_npusim_XXXXXX", path[64];
	u32 good, i;
	int error;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run.nv", dir);
	for (good = 0; good < 2; good++) {
		struct npusim_recorder *rec = npusim_record_open(dir, "copy", &error);
		u8 want[8];

		assert_non_null(rec);
		memcpy(want, pixel, sizeof(want));
		want[7] ^= !good;
		npusim_record_load(rec, 0, pixel, sizeof(pixel));
		npusim_record_fill(rec, 0x100, 8, 0xa5);
		for (i = 0; i < ARRAY_SIZE(copy); i++)
			npusim_record_write(rec, copy[i].reg, copy[i].value);
		npusim_record_wait(rec, 1);
		npusim_record_dump(rec, "out", 0x100, want, sizeof(want));
		assert_int_equal(npusim_record_close(rec), 0);
		error = npusim_run_script(&options, path);
		assert_int_equal(error == 0, good);
	}
	remove_dir(dir);
	assert_null(npusim_record_open("/proc/no/such", "x", &error));
	assert_true(error < 0);
}

/* What failed says of what, and is no recording afterwards. */
static void test_recording_that_fails(void **state)
{
	char dir[] = "/tmp/test_npusim_XXXXXX", path[64];
	struct npusim_recorder *rec;
	int error;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run.nv", dir);
	rec = npusim_record_open(dir, "no name", &error);
	assert_non_null(rec);
	npusim_record_dump(rec, "../out", 0x100, "12345678", 8);
	npusim_record_write(rec, NVDLA_SDP_D_OP_ENABLE, 1);
	assert_int_equal(npusim_record_close(rec), -EINVAL);
	assert_int_equal(access(path, F_OK), -1);
	/* A folder stands where its file of memory should. */
	rec = npusim_record_open(dir, "no file", &error);
	assert_non_null(rec);
	snprintf(path, sizeof(path), "%s/mem0.bin", dir);
	assert_int_equal(mkdir(path, 0777), 0);
	npusim_record_load(rec, 0, "12345678", 8);
	assert_int_equal(npusim_record_close(rec), -EISDIR);
	assert_int_equal(rmdir(path), 0);
	/* Nothing else is left. */
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rom_tells_the_configuration),
		cmocka_unit_test(test_groups_are_apart),
		cmocka_unit_test(test_wrong_group_is_pending),
		cmocka_unit_test(test_absent_registers_read_zero),
		cmocka_unit_test(test_interrupt_bits),
		cmocka_unit_test(test_cbuf_is_flushed_in_time),
		cmocka_unit_test(test_convolutions_on_all_configurations),
		cmocka_unit_test(test_bytes_and_macs_are_counted),
		cmocka_unit_test(test_guard_refuses_and_tells),
		cmocka_unit_test(test_too_few_weight_banks_hang),
		cmocka_unit_test(test_groups_overlap),
		cmocka_unit_test(test_writes_come_with_the_end),
		cmocka_unit_test(test_gated_clock_loses_weights),
		cmocka_unit_test(test_recording_replays),
		cmocka_unit_test(test_recording_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
