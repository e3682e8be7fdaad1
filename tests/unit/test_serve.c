// SPDX-License-Identifier: MIT
/*
 * The served device at work: scripts of the vectors and a recorded inference through batch window
 * and interrupt, resets, and each fault on command.
 */
#include <ftw.h>

#include "../common/whole_file.h"
#include "npu.h"
#include "nvdla_rom.h"
#include "serve_bench.h"

#define MODEL "tools/demo/digits.tflite"

static char dir[] = "/tmp/npu-test-XXXXXX";

/* ---- a task: SDP copies memory ------------------------------------------------------------- */

#define COPY_FROM (BENCH_BASE + 0x1000)
#define COPY_TO (BENCH_BASE + 0x40000)

/* Bytes of the cube: @width columns of one line and one surface. */
#define ATOM 8u

/* Registers of a copy of @width atoms in register group @group, without the enables. */
static u32 program_copy(struct nvdla_pci_pair *pair, u32 group, u32 width, u32 from, u32 to)
{
	const u32 line = width * ATOM;
	const struct nvdla_pci_pair list[] = {
		{ NVDLA_SDP_S_POINTER, group },
		{ NVDLA_SDP_RDMA_S_POINTER, group },
		{ NVDLA_SDP_D_DATA_CUBE_WIDTH, width - 1 },
		{ NVDLA_SDP_D_DATA_CUBE_HEIGHT, 0 },
		{ NVDLA_SDP_D_DATA_CUBE_CHANNEL, ATOM - 1 },
		{ NVDLA_SDP_D_DST_BASE_ADDR_LOW, to },
		{ NVDLA_SDP_D_DST_LINE_STRIDE, line },
		{ NVDLA_SDP_D_DST_SURFACE_STRIDE, line },
		{ NVDLA_SDP_D_DP_BS_CFG, NVDLA_SET(SDP, D_DP_BS_CFG, BS_BYPASS, 1) },
		{ NVDLA_SDP_D_DP_BN_CFG, NVDLA_SET(SDP, D_DP_BN_CFG, BN_BYPASS, 1) },
		{ NVDLA_SDP_D_DP_EW_CFG, NVDLA_SET(SDP, D_DP_EW_CFG, EW_BYPASS, 1) },
		{ NVDLA_SDP_D_FEATURE_MODE_CFG, 0 },
		{ NVDLA_SDP_D_DATA_FORMAT, 0 },
		{ NVDLA_SDP_D_CVT_SCALE, 1 },
		{ NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG, 0 },
		{ NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, width - 1 },
		{ NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, 0 },
		{ NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL, ATOM - 1 },
		{ NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, from },
		{ NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE, line },
		{ NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE, line },
		{ NVDLA_SDP_RDMA_D_BRDMA_CFG, NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE, 1) },
		{ NVDLA_SDP_RDMA_D_NRDMA_CFG, NVDLA_SET(SDP_RDMA, D_NRDMA_CFG, NRDMA_DISABLE, 1) },
		{ NVDLA_SDP_RDMA_D_ERDMA_CFG, NVDLA_SET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE, 1) },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		pair[i].reg = htole32(list[i].reg);
		pair[i].value = htole32(list[i].value);
	}
	return ARRAY_SIZE(list);
}

static u32 add_pair(struct nvdla_pci_pair *pair, u32 count, u32 reg, u32 value)
{
	pair[count].reg = htole32(reg);
	pair[count].value = htole32(value);
	return count + 1;
}

static u32 add_enables(struct nvdla_pci_pair *pair, u32 count)
{
	count = add_pair(pair, count, NVDLA_SDP_D_OP_ENABLE, 1);
	return add_pair(pair, count, NVDLA_SDP_RDMA_D_OP_ENABLE, 1);
}

/* Begin a copy in one batch. */
static void start_copy(struct bench *b, u32 group, u32 width, u32 from, u32 to)
{
	u32 i, count = program_copy(b->batch, group, width, from, to);

	for (i = 0; i < width * ATOM; i++)
		b->memory[COPY_FROM - BENCH_BASE + i] = (u8)(i * 7 + i / 251 + group);
	memset(b->memory + COPY_TO - BENCH_BASE, 0xa5, width * ATOM);
	bench_set_ctrl(b, DOORBELL, add_enables(b->batch, count));
}

static bool copied(struct bench *b, u32 width)
{
	return !memcmp(b->memory + COPY_FROM - BENCH_BASE, b->memory + COPY_TO - BENCH_BASE,
		       width * ATOM);
}

/* The interrupt of a task in @group, taken as a driver does; how long it was waited for, in ms. */
static u64 take_interrupt(struct bench *b, u32 group)
{
	u64 from = bench_now_ms();

	assert_true(bench_interrupts(b, 10000) > 0);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 1u << group);
	bench_set_reg(b, NVDLA_GLB_S_INTR_STATUS, 1u << group);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 0);
	return bench_now_ms() - from;
}

/* A whole copy that has to succeed. */
static void copy_right(struct bench *b, u32 group)
{
	start_copy(b, group, 32, COPY_FROM, COPY_TO);
	take_interrupt(b, group);
	assert_true(copied(b, 32));
}

static void reset_npu(struct bench *b)
{
	u64 from = bench_now_ms();

	bench_set_ctrl(b, RESET, 1);
	while (bench_ctrl(b, RESET))
		assert_true(bench_now_ms() - from < 10000);
}

/* The status without what comes and goes by itself. */
static u32 kept_status(struct bench *b)
{
	return bench_ctrl(b, STATUS) & ~NVDLA_PCI_STATUS_BUSY;
}

/* ---- scripts ------------------------------------------------------------------------------- */

/**
 * struct script - a script of the vectors' format on its way
 * @pairs: writes that wait in the batch window
 * @seen: interrupts that have come and were not waited for yet
 * @batch: through the window; else one by one
 */
struct script {
	struct bench *bench;
	const char *dir;
	u32 pairs;
	u32 seen;
	bool batch;
	u32 dumps;
};

static void flush(struct script *s)
{
	if (s->pairs)
		bench_set_ctrl(s->bench, DOORBELL, s->pairs);
	s->pairs = 0;
}

static u8 *memory_at(struct script *s, u64 address, u64 len)
{
	assert_true(address >= BENCH_BASE && len <= BENCH_BYTES &&
		    address - BENCH_BASE <= BENCH_BYTES - len);
	return s->bench->memory + (address - BENCH_BASE);
}

static u8 *read_file(const char *folder, const char *name, size_t *size)
{
	char path[4096];
	u8 *data;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	data = whole_file(path, size);
	assert_non_null(data);
	return data;
}

static void script_load(struct script *s, u64 address, const char *name)
{
	size_t size;
	u8 *data = read_file(s->dir, name, &size);

	memcpy(memory_at(s, address, size), data, size);
	free(data);
}

static void script_write(struct script *s, u32 reg, u32 value)
{
	if (!s->batch) {
		bench_set_reg(s->bench, reg, value);
		return;
	}
	s->pairs = add_pair(s->bench->batch, s->pairs, reg, value);
	if (s->pairs == NVDLA_PCI_BATCH_PAIRS)
		flush(s);
}

/* As a driver does it: all that is set is taken and cleared, so that the next one is an edge. */
static void take_status(struct script *s)
{
	u32 status = bench_reg(s->bench, NVDLA_GLB_S_INTR_STATUS);

	if (status)
		bench_set_reg(s->bench, NVDLA_GLB_S_INTR_STATUS, status);
	s->seen |= status;
}

/* What may raise the pin is waited for by interrupts alone; the rest has no other sign than itself. */
static void script_wait(struct script *s, u32 mask)
{
	u64 from = bench_now_ms();
	u32 unmasked;

	flush(s);
	unmasked = mask & ~bench_reg(s->bench, NVDLA_GLB_S_INTR_MASK);
	for (take_status(s); (s->seen & unmasked) != unmasked; take_status(s))
		assert_true(bench_interrupts(s->bench, 20000) > 0);
	for (; (s->seen & mask) != mask; take_status(s))
		assert_true(bench_now_ms() - from < 20000);
	s->seen &= ~mask;
}

static void script_dump(struct script *s, u64 address, u64 len, const char *name)
{
	char expected[256];
	const char *out = strstr(name, ".out.bin");
	size_t size;
	u8 *data;

	flush(s);
	assert_non_null(out);
	snprintf(expected, sizeof(expected), "%.*s.expect.bin", (int)(out - name), name);
	data = read_file(s->dir, expected, &size);
	assert_int_equal(size, len);
	assert_memory_equal(memory_at(s, address, len), data, len);
	free(data);
	s->dumps++;
}

static u64 value_of(const char *word)
{
	return strtoull(word, NULL, 0);
}

static void script_line(struct script *s, char *line)
{
	char *rest, *word[5] = { "" };
	u32 n = 0;

	for (line[strcspn(line, "#\n")] = '\0'; n < 5; n++) {
		word[n] = strtok_r(n ? NULL : line, " ", &rest);
		if (!word[n])
			break;
	}
	if (!n)
		return;
	if (!strcmp(word[0], "w"))
		script_write(s, (u32)value_of(word[1]), (u32)value_of(word[2]));
	else if (!strcmp(word[0], "load"))
		script_load(s, value_of(word[1]), word[2]);
	else if (!strcmp(word[0], "fill"))
		memset(memory_at(s, value_of(word[1]), value_of(word[2])), (int)value_of(word[3]),
		       value_of(word[2]));
	else if (!strcmp(word[0], "wait_intr"))
		script_wait(s, (u32)value_of(word[1]));
	else if (!strcmp(word[0], "dump"))
		script_dump(s, value_of(word[1]), value_of(word[2]), word[3]);
	else if (!strcmp(word[0], "poll"))
		assert_int_equal(bench_reg(s->bench, (u32)value_of(word[1])) & value_of(word[2]),
				 value_of(word[3]));
	else /* prints and pauses */
		assert_true(!strcmp(word[0], "mark") || !strcmp(word[0], "cycles") ||
			    !strcmp(word[0], "run"));
}

static void play(struct bench *b, const char *folder, bool batch)
{
	struct script s = { .bench = b, .dir = folder, .batch = batch };
	char path[4096], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/run.nv", folder);
	f = fopen(path, "r");
	assert_non_null(f);
	reset_npu(b);
	while (fgets(line, sizeof(line), f))
		script_line(&s, line);
	fclose(f);
	assert_true(s.dumps > 0);
	assert_int_equal(bench_ctrl(b, STRAY_DMA), 0);
	assert_int_equal(bench_ctrl(b, DMA_ERRORS), 0);
}

static void test_vectors(void **state)
{
	static const struct {
		const char *config, *name;
	} tests[] = {
		{ "nv_small", "multi_000_convs" },
		{ "nv_small", "multi_006_net" },
		{ "nv_small", "multi_012_parallel" },
		{ "nv_small", "multi_018_flypool" },
		{ "nv_small", "cdp_000_lrn" },
		{ "nv_small_256_full", "multi_000_convs" },
		{ "nv_medium_1024_full", "multi_000_convs" },
		{ "nv_large", "multi_000_convs" },
	};
	const char *shared = getenv("NPU_SHARED");
	char folder[4096];
	u32 i;

	snprintf(folder, sizeof(folder), "%s/vectors", shared ? shared : "../shared");
	if (access(folder, F_OK)) {
		print_message("SKIP no %s\n", folder);
		assert_null(getenv("CI"));
		return;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		struct bench *b = bench_open(tests[i].config);

		snprintf(folder, sizeof(folder), "%s/vectors/%s/%s", shared ? shared : "../shared",
			 tests[i].config, tests[i].name);
		play(b, folder, true);
		/* The same one by one. */
		play(b, folder, false);
		bench_close(b);
	}
}

/* libnpu records an inference in process; the served device does it again. */
static void test_inference(void **state)
{
	static int8_t picture[4096], classes[10];
	const struct npu_input input = { picture, sizeof(picture) };
	const struct npu_output output = { classes, sizeof(classes) };
	struct npu_model_options options = { .size = sizeof(options), .record_dir = dir };
	struct npu_device *device;
	struct npu_model *model;
	struct bench *b = bench_open("nv_small");
	char folder[256];
	u32 i;

	for (i = 0; i < sizeof(picture); i++)
		picture[i] = (int8_t)(i * 37 + i / 64);
	assert_int_equal(npu_open("sim:nv_small", &device), 0);
	assert_int_equal(npu_model_load(device, MODEL, &options, &model), 0);
	assert_int_equal(npu_run(model, &input, 1, &output, 1, NULL), 0);
	npu_model_free(model);
	npu_close(device);
	snprintf(folder, sizeof(folder), "%s/nv_small/digits-0000", dir);
	play(b, folder, true);
	play(b, folder, true);
	assert_true(bench_ctrl(b, TASKS) >= 2);
	bench_close(b);
}

/* ---- registers ---------------------------------------------------------------------------------- */

static void test_rom(void **state)
{
	u32 i, reg;

	for (i = 0; i < nvdla_config_count; i++) {
		struct bench *b = bench_open(nvdla_configs[i].name);

		for (reg = 0; reg < nvdla_reg_count; reg++)
			if (nvdla_reg_table[reg].offset < NVDLA_GLB_BASE)
				assert_int_equal(bench_reg(b, nvdla_reg_table[reg].offset),
						 nvdla_rom_value(&nvdla_configs[i],
								 nvdla_reg_table[reg].offset));
		assert_int_equal(bench_reg(b, NVDLA_GLB_S_NVDLA_HW_VERSION), 0x303031);
		assert_int_equal(bench_ctrl(b, ID), NVDLA_PCI_ID);
		assert_int_equal(bench_ctrl(b, VERSION), NVDLA_PCI_VERSION);
		bench_close(b);
	}
}

static void test_batch(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 i, before;

	for (i = 0; i < NVDLA_PCI_BATCH_PAIRS; i++)
		add_pair(b->batch, i, NVDLA_SDP_D_DATA_CUBE_WIDTH, i & 0x1fff);
	before = bench_ctrl(b, REG_WRITES);
	bench_set_ctrl(b, DOORBELL, 100);
	assert_int_equal(bench_reg(b, NVDLA_SDP_D_DATA_CUBE_WIDTH), 99);
	bench_set_ctrl(b, DOORBELL, NVDLA_PCI_BATCH_PAIRS);
	assert_int_equal(bench_reg(b, NVDLA_SDP_D_DATA_CUBE_WIDTH),
			 (NVDLA_PCI_BATCH_PAIRS - 1) & 0x1fff);
	assert_int_equal(bench_ctrl(b, REG_WRITES) - before, 100 + NVDLA_PCI_BATCH_PAIRS);
	assert_int_equal(kept_status(b), 0);
	/* Beyond its end nothing is written. */
	bench_set_ctrl(b, DOORBELL, NVDLA_PCI_BATCH_PAIRS + 1);
	assert_int_equal(kept_status(b), NVDLA_PCI_STATUS_BAD_DOORBELL);
	assert_int_equal(bench_ctrl(b, REG_WRITES) - before, 100 + NVDLA_PCI_BATCH_PAIRS);
	bench_set_ctrl(b, STATUS, NVDLA_PCI_STATUS_BAD_DOORBELL);
	assert_int_equal(kept_status(b), 0);
	/* Many windows in a row wait for their turn. */
	for (i = 0; i < 10; i++)
		bench_set_ctrl(b, DOORBELL, NVDLA_PCI_BATCH_PAIRS);
	/* Offsets in the window are any: none is outside of the register file. */
	add_pair(b->batch, 0, UINT32_MAX, UINT32_MAX);
	add_pair(b->batch, 1, NVDLA_REGS_BYTES, 1);
	add_pair(b->batch, 2, 3, 1);
	bench_set_ctrl(b, DOORBELL, 3);
	/* The window is memory: what is in it is read back, by either way. */
	assert_int_equal(bench_read(b, VFIO_PCI_BAR4_REGION_INDEX, 8), NVDLA_REGS_BYTES);
	bench_write(b, VFIO_PCI_BAR4_REGION_INDEX, 12, 77);
	assert_int_equal(le32toh(b->batch[1].value), 77);
	copy_right(b, 0);
	bench_close(b);
}

static void test_interrupts(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 sent;

	copy_right(b, 0);
	copy_right(b, 1);
	sent = bench_ctrl(b, INTERRUPTS);
	assert_int_equal(sent, 2);
	/* Masked: no message; the level that unmasking brings is told. */
	bench_set_reg(b, NVDLA_GLB_S_INTR_MASK, 0x3f);
	bench_set_reg(b, NVDLA_GLB_S_INTR_SET, 3);
	assert_int_equal(bench_interrupts(b, 50), 0);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 3);
	bench_set_reg(b, NVDLA_GLB_S_INTR_MASK, 0);
	assert_int_equal(bench_interrupts(b, 1000), 1);
	/* A write that leaves the level high tells it again, one that takes it away does not. */
	bench_set_reg(b, NVDLA_GLB_S_INTR_STATUS, 1);
	assert_int_equal(bench_interrupts(b, 1000), 1);
	bench_set_reg(b, NVDLA_GLB_S_INTR_STATUS, 2);
	assert_int_equal(bench_interrupts(b, 50), 0);
	/* A second bit while the level is high is no edge. */
	bench_set_reg(b, NVDLA_GLB_S_INTR_SET, 1);
	bench_set_reg(b, NVDLA_GLB_S_INTR_SET, 4);
	assert_int_equal(bench_interrupts(b, 50), 1);
	bench_set_reg(b, NVDLA_GLB_S_INTR_STATUS, 5);
	assert_int_equal(bench_ctrl(b, INTERRUPTS), sent + 3);
	/* Who may not master the bus sends nothing. */
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MEMORY);
	bench_set_reg(b, NVDLA_GLB_S_INTR_SET, 1);
	assert_int_equal(bench_interrupts(b, 50), 0);
	bench_close(b);
}

static void test_counters(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 cycles, idle;

	copy_right(b, 0);
	cycles = bench_ctrl(b, CYCLES_LO);
	idle = bench_ctrl(b, IDLE_LO);
	assert_int_equal(bench_ctrl(b, CYCLES_HI), 0);
	assert_int_equal(bench_ctrl(b, IDLE_HI), 0);
	assert_int_equal(bench_ctrl(b, TASKS), 1);
	/* A task that is long enough to hide what its registers cost: hardly an idle cycle more. */
	start_copy(b, 1, 4096, COPY_FROM, COPY_TO);
	take_interrupt(b, 1);
	assert_true(copied(b, 4096));
	assert_int_equal(bench_ctrl(b, TASKS), 2);
	assert_true(bench_ctrl(b, CYCLES_LO) - cycles > 4096);
	assert_true(bench_ctrl(b, IDLE_LO) - idle < 1000);
	bench_close(b);
}

/* ---- resets --------------------------------------------------------------------------------------- */

static void mark(struct bench *b)
{
	bench_set_reg(b, NVDLA_SDP_D_DATA_CUBE_WIDTH, 123);
	bench_set_reg(b, NVDLA_GLB_S_INTR_MASK, 0x3f);
	assert_int_equal(bench_reg(b, NVDLA_SDP_D_DATA_CUBE_WIDTH), 123);
}

static bool marked(struct bench *b)
{
	bool registers = bench_reg(b, NVDLA_SDP_D_DATA_CUBE_WIDTH) == 123;

	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_MASK) == 0x3f, registers);
	return registers;
}

static void test_reset_register(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 resets = bench_ctrl(b, RESETS);

	mark(b);
	bench_set_ctrl(b, RESET, 0);
	assert_true(marked(b));
	reset_npu(b);
	assert_false(marked(b));
	assert_int_equal(bench_ctrl(b, RESETS), resets + 1);
	/* The buffer has been flushed by then. */
	assert_int_equal(bench_reg(b, NVDLA_CDMA_S_CBUF_FLUSH_STATUS), 1);
	/* The function itself has not been reset. */
	assert_int_equal(bench_config16(b, PCI_COMMAND), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	copy_right(b, 0);
	/* Accesses that follow at once come after it. */
	mark(b);
	bench_set_ctrl(b, RESET, 1);
	assert_false(marked(b));
	bench_close(b);
}

static void test_function_resets(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 express = bench_capability(b, PCI_CAP_ID_EXP), pm = bench_capability(b, PCI_CAP_ID_PM);

	mark(b);
	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0), 0);
	assert_false(marked(b));
	assert_int_equal(bench_config16(b, PCI_COMMAND), 0);

	mark(b);
	assert_true(bench_read(b, VFIO_PCI_CONFIG_REGION_INDEX, express + PCI_EXP_DEVCAP) &
		    PCI_EXP_DEVCAP_FLR);
	bench_set_config16(b, express + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
	assert_false(marked(b));
	assert_false(bench_config16(b, express + PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_BCR_FLR);

	/* D3hot: no registers; on the way back they are as after a reset, and D1 is not offered. */
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	mark(b);
	bench_set_config16(b, pm + PCI_PM_CTRL, 1);
	assert_true(marked(b));
	bench_set_config16(b, pm + PCI_PM_CTRL, 3);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_MASK), UINT32_MAX);
	assert_int_equal(bench_ctrl(b, ID), UINT32_MAX);
	bench_set_reg(b, NVDLA_GLB_S_INTR_SET, 1);
	bench_set_config16(b, pm + PCI_PM_CTRL, 0);
	assert_false(marked(b));
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 0);
	copy_right(b, 0);
	bench_close(b);
}

/* ---- memory that is not there ----------------------------------------------------------------------- */

static void test_stray_dma(void **state)
{
	struct bench *b = bench_open("nv_small");
	const u32 end = BENCH_BASE + BENCH_BYTES;

	/* Its last line begins inside and ends outside: it is refused as a whole. */
	start_copy(b, 0, 32, COPY_FROM, end - 8);
	take_interrupt(b, 0);
	assert_true(bench_ctrl(b, STRAY_DMA) > 0);
	assert_int_equal(kept_status(b), NVDLA_PCI_STATUS_DMA_ERROR | NVDLA_PCI_STATUS_STRAY_DMA);
	bench_set_ctrl(b, STATUS, UINT32_MAX);
	assert_int_equal(kept_status(b), 0);
	/* No bus mastering is an error, but no stray access. */
	{
		u32 stray = bench_ctrl(b, STRAY_DMA);

		bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MEMORY);
		start_copy(b, 1, 32, COPY_FROM, COPY_TO);
		while (bench_ctrl(b, STATUS) & NVDLA_PCI_STATUS_BUSY)
			;
		assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 2);
		assert_int_equal(kept_status(b), NVDLA_PCI_STATUS_DMA_ERROR);
		assert_int_equal(bench_ctrl(b, STRAY_DMA), stray);
		assert_true(bench_ctrl(b, DMA_ERRORS) > 0);
		assert_int_equal(b->memory[COPY_TO - BENCH_BASE], 0xa5);
	}
	bench_close(b);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

static void fault(struct bench *b, u32 kind, u32 arg)
{
	bench_set_ctrl(b, FAULT_ARG, arg);
	bench_set_ctrl(b, FAULT_KIND, kind);
}

static void test_hang(void **state)
{
	struct bench *b = bench_open("nv_small");
	char text[512];

	fault(b, NVDLA_PCI_FAULT_HANG, 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_HANG);
	/* It stays armed over a reset: a driver resets before it begins. */
	reset_npu(b);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_HANG);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	/* What follows it waits too. */
	start_copy(b, 1, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	serve_npu_diagnosis(b->device.npu, text, sizeof(text));
	assert_non_null(strstr(text, "SDP"));
	reset_npu(b);
	copy_right(b, 0);
	bench_close(b);
}

/* Two faults in one: nobody can come between them. */
static void test_hang_and_stuck_reset(void **state)
{
	struct bench *b = bench_open("nv_small");

	fault(b, NVDLA_PCI_FAULT_HANG, NVDLA_PCI_FAULT_STUCK_RESET);
	reset_npu(b);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_STUCK_RESET);
	bench_set_ctrl(b, RESET, 1);
	assert_int_equal(bench_ctrl(b, RESET), 1);
	fault(b, NVDLA_PCI_FAULT_NONE, 0);
	reset_npu(b);
	copy_right(b, 0);
	/* What is no fault is none. */
	fault(b, NVDLA_PCI_FAULT_HANG, NVDLA_PCI_FAULT_COUNT);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	bench_close(b);
}

static void test_spurious(void **state)
{
	struct bench *b = bench_open("nv_small");

	fault(b, NVDLA_PCI_FAULT_SPURIOUS, 0);
	assert_int_equal(bench_interrupts(b, 1000), 1);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	copy_right(b, 0);
	bench_close(b);
}

static void test_lost(void **state)
{
	struct bench *b = bench_open("nv_small");

	fault(b, NVDLA_PCI_FAULT_LOST, 0);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 1);
	assert_true(copied(b, 32));
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	bench_set_reg(b, NVDLA_GLB_S_INTR_STATUS, 1);
	copy_right(b, 1);
	bench_close(b);
}

static void test_late(void **state)
{
	struct bench *b = bench_open("nv_small");
	u64 from = bench_now_ms();

	fault(b, NVDLA_PCI_FAULT_LATE, 200);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	take_interrupt(b, 0);
	assert_true(bench_now_ms() - from >= 200);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	copy_right(b, 1);
	bench_close(b);
}

static void test_nonsense_rom(void **state)
{
	struct bench *b = bench_open("nv_small");
	const u32 version = bench_reg(b, NVDLA_CFGROM_HW_VERSION);
	const u32 atomic_c = bench_reg(b, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C);

	fault(b, NVDLA_PCI_FAULT_ROM, 0);
	assert_int_equal(bench_reg(b, NVDLA_CFGROM_HW_VERSION), ~version);
	assert_int_equal(bench_reg(b, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C), ~atomic_c);
	/* One register alone. */
	fault(b, NVDLA_PCI_FAULT_ROM, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C);
	assert_int_equal(bench_reg(b, NVDLA_CFGROM_HW_VERSION), version);
	assert_int_equal(bench_reg(b, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C), ~atomic_c);
	/* All else works, and it lasts until it is ended. */
	copy_right(b, 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_ROM);
	fault(b, NVDLA_PCI_FAULT_NONE, 0);
	assert_int_equal(bench_reg(b, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C), atomic_c);
	bench_close(b);
}

static void test_dma_error(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 errors = 0, group = 0, which;

	for (which = NVDLA_PCI_FAULT_DMA_ANY; which <= NVDLA_PCI_FAULT_DMA_WRITE; which++) {
		fault(b, NVDLA_PCI_FAULT_DMA, which);
		start_copy(b, group, 32, COPY_FROM, COPY_TO);
		take_interrupt(b, group);
		group ^= 1;
		assert_false(copied(b, 32));
		assert_int_equal(b->memory[COPY_TO - BENCH_BASE],
				 which == NVDLA_PCI_FAULT_DMA_WRITE ? 0xa5 : 0);
		assert_int_equal(bench_ctrl(b, DMA_ERRORS), ++errors);
		assert_int_equal(bench_ctrl(b, STRAY_DMA), 0);
		assert_int_equal(kept_status(b), NVDLA_PCI_STATUS_DMA_ERROR);
		bench_set_ctrl(b, STATUS, NVDLA_PCI_STATUS_DMA_ERROR);
		assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
		copy_right(b, group);
		group ^= 1;
	}
	bench_close(b);
}

/* Cycles of one copy. */
static u32 copy_cycles(struct bench *b, u32 group)
{
	u32 from = bench_ctrl(b, CYCLES_LO);

	copy_right(b, group);
	return bench_ctrl(b, CYCLES_LO) - from;
}

static void test_slow_memory(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 fast = copy_cycles(b, 0);

	fault(b, NVDLA_PCI_FAULT_SLOW_MEMORY, 5000);
	assert_true(copy_cycles(b, 1) > fast + 4000);
	fault(b, NVDLA_PCI_FAULT_NONE, 0);
	assert_true(copy_cycles(b, 0) < fast + 100);
	bench_close(b);
}

static void test_death(void **state)
{
	struct bench *b = bench_open("nv_small");
	u32 word;

	fault(b, NVDLA_PCI_FAULT_DEAD, 0);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), UINT32_MAX);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), UINT32_MAX);
	assert_int_equal(bench_config16(b, PCI_VENDOR_ID), 0xffff);
	/* Nothing that is written arrives. */
	bench_set_reg(b, NVDLA_GLB_S_INTR_MASK, 0x15);
	bench_set_config16(b, PCI_COMMAND, 0);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	assert_int_equal(b->memory[COPY_TO - BENCH_BASE], 0xa5);
	bench_set_ctrl(b, FAULT_KIND, NVDLA_PCI_FAULT_NONE);
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_MASK), 0);
	copy_right(b, 0);

	/* In the middle of a task: it ends unseen. */
	fault(b, NVDLA_PCI_FAULT_SLOW_TASKS, 500);
	start_copy(b, 1, 32, COPY_FROM, COPY_TO);
	fault(b, NVDLA_PCI_FAULT_DEAD, 0);
	assert_int_equal(bench_interrupts(b, 800), 0);
	assert_int_equal(b->memory[COPY_TO - BENCH_BASE], 0xa5);
	/* A reset by the host raises the dead. */
	assert_int_equal(vfio_client_call(&b->client, VFIO_USER_DEVICE_RESET, NULL, 0, NULL, 0), 0);
	assert_int_equal(vfio_client_read(&b->client, 7, 0, &word, 4), 0);
	assert_int_equal(word, htole32(0x10f01af4));
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	copy_right(b, 0);
	bench_close(b);
}

static void test_slow_tasks(void **state)
{
	struct bench *b = bench_open("nv_small");
	u64 from;

	fault(b, NVDLA_PCI_FAULT_SLOW_TASKS, 500);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	/* It is found running, and the next one can be prepared meanwhile. */
	assert_true(bench_ctrl(b, STATUS) & NVDLA_PCI_STATUS_BUSY);
	bench_set_ctrl(b, DOORBELL,
		       add_enables(b->batch,
				   program_copy(b->batch, 1, 32, COPY_FROM, COPY_TO + 0x1000)));
	assert_int_equal(bench_reg(b, NVDLA_GLB_S_INTR_STATUS), 0);
	assert_int_equal(b->memory[COPY_TO - BENCH_BASE], 0xa5);
	from = bench_now_ms();
	take_interrupt(b, 0);
	take_interrupt(b, 1);
	assert_true(bench_now_ms() - from >= 600);
	assert_true(copied(b, 32));
	/* Its end frees who waits. */
	fault(b, NVDLA_PCI_FAULT_SLOW_TASKS, 60000);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_interrupts(b, 100), 0);
	fault(b, NVDLA_PCI_FAULT_NONE, 0);
	assert_true(take_interrupt(b, 0) < 5000);
	/* So does a reset. */
	fault(b, NVDLA_PCI_FAULT_SLOW_TASKS, 60000);
	start_copy(b, 1, 32, COPY_FROM, COPY_TO);
	from = bench_now_ms();
	reset_npu(b);
	fault(b, NVDLA_PCI_FAULT_NONE, 0);
	copy_right(b, 0);
	assert_true(bench_now_ms() - from < 5000);
	bench_close(b);
}

static void test_stuck_reset(void **state)
{
	struct bench *b = bench_open("nv_small");
	u64 from = bench_now_ms();

	fault(b, NVDLA_PCI_FAULT_STUCK_RESET, 0);
	bench_set_ctrl(b, RESET, 1);
	while (bench_now_ms() - from < 200)
		assert_int_equal(bench_ctrl(b, RESET), 1);
	fault(b, NVDLA_PCI_FAULT_NONE, 0);
	reset_npu(b);
	copy_right(b, 0);
	bench_close(b);
}

/* What is unmapped while a task runs is accessed no more. */
static void test_unmap_while_running(void **state)
{
	struct bench *b = bench_open("nv_small");

	fault(b, NVDLA_PCI_FAULT_SLOW_TASKS, 500);
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(vfio_client_unmap(&b->client, BENCH_BASE, BENCH_BYTES, 0), 0);
	take_interrupt(b, 0);
	assert_int_equal(b->memory[COPY_TO - BENCH_BASE], 0xa5);
	assert_true(bench_ctrl(b, STRAY_DMA) > 0);
	bench_close(b);
}

static void test_unknown_fault(void **state)
{
	struct bench *b = bench_open("nv_small");

	fault(b, NVDLA_PCI_FAULT_ROM, 0);
	fault(b, NVDLA_PCI_FAULT_COUNT, 0);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_ROM);
	bench_close(b);
}

/* ---- the control socket's commands ------------------------------------------------------------------------ */

static const char *command(struct bench *b, const char *text)
{
	static char answer[SERVE_CONTROL_LINE];
	char line[SERVE_CONTROL_LINE];

	snprintf(line, sizeof(line), "%s", text);
	serve_control_command(&b->device, line, answer, sizeof(answer));
	return answer;
}

static void test_control(void **state)
{
	struct bench *b = bench_open("nv_small");

	assert_string_equal(command(b, "fault hang"), "ok\n");
	assert_non_null(strstr(command(b, "status"), "ok fault=hang status=0x"));
	assert_non_null(strstr(command(b, "status"), " tasks=0 "));
	start_copy(b, 0, 32, COPY_FROM, COPY_TO);
	assert_int_equal(bench_ctrl(b, FAULT_KIND), NVDLA_PCI_FAULT_NONE);
	assert_non_null(strstr(command(b, "diagnosis"), "SDP"));
	assert_string_equal(command(b, "reset"), "ok\n");
	assert_string_equal(command(b, "  fault  rom\t0x38 \r"), "ok\n");
	bench_set_config16(b, PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_int_equal(bench_reg(b, NVDLA_CFGROM_CDMA_BASE_ATOMIC_C), ~8u);
	assert_string_equal(command(b, "fault none"), "ok\n");
	copy_right(b, 0);
	assert_non_null(strstr(command(b, "status"), " tasks=1 interrupts=1 "));
	assert_non_null(strstr(command(b, "fault"), "error:"));
	assert_non_null(strstr(command(b, "fault dance"), "error:"));
	assert_non_null(strstr(command(b, "fault late 1x"), "error:"));
	assert_non_null(strstr(command(b, "fault late 4294967296"), "error:"));
	assert_non_null(strstr(command(b, "fault late 1 2"), "error:"));
	assert_non_null(strstr(command(b, "fault late 1 2 3 4 5 6"), "error:"));
	assert_non_null(strstr(command(b, ""), "error:"));
	assert_non_null(strstr(command(b, "quit"), "error:"));
	bench_close(b);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	return remove(path);
}

static int make_dir(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_inference),
		cmocka_unit_test(test_rom),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_reset_register),
		cmocka_unit_test(test_function_resets),
		cmocka_unit_test(test_stray_dma),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_hang_and_stuck_reset),
		cmocka_unit_test(test_spurious),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_nonsense_rom),
		cmocka_unit_test(test_dma_error),
		cmocka_unit_test(test_slow_memory),
		cmocka_unit_test(test_death),
		cmocka_unit_test(test_slow_tasks),
		cmocka_unit_test(test_stuck_reset),
		cmocka_unit_test(test_unmap_while_running),
		cmocka_unit_test(test_unknown_fault),
		cmocka_unit_test(test_control),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
