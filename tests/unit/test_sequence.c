// SPDX-License-Identifier: MIT
/*
 * The sequencer and the register programmer: on a register file that is watched write by write, and
 * on the device model.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../common/chain_device.h"
#include "../common/chain_tasks.h"
#include "nvdla_rules.h"

#define MAX_LOG 256

/* One of the eleven units that have register groups. */
struct fake_unit {
	u32 producer;
	u32 consumer;
	bool enabled[2];
	u32 value[2][64];
};

/* A register file that knows the rules of register groups. */
struct fake {
	struct fake_unit unit[NVDLA_UNIT_COUNT];
	u32 status;
	u32 mask;
	u32 enable_log[MAX_LOG]; /* unit << 1 | group */
	u32 enables;
	u32 writes;
	u32 resets;
	u32 violations; /* what would hang or be lost */
	bool never_flushed;
	u32 tables; /* table entries written */
};

static void fake_lut(struct fake *f, u32 unit)
{
	/* The tables are not doubled: nobody may be using them. */
	if (f->unit[unit].enabled[0] || f->unit[unit].enabled[1])
		f->violations++;
	f->tables++;
}

static void fake_enable(struct fake *f, u32 unit)
{
	struct fake_unit *u = &f->unit[unit];
	u32 next = u->consumer ^ u->enabled[u->consumer];

	/* A group out of turn waits for ever. */
	if (u->producer != next || u->enabled[u->producer] || f->enables == MAX_LOG)
		f->violations++;
	else
		f->enable_log[f->enables++] = unit << 1 | u->producer;
	u->enabled[u->producer] = true;
}

static void fake_write(void *context, u32 reg, u32 value)
{
	struct fake *f = context;
	u32 unit = nvdla_unit_of(reg), low = reg % NVDLA_UNIT_BYTES;
	struct fake_unit *u = &f->unit[unit];
	const struct nvdla_reg_info *info = nvdla_reg_find(reg);

	f->writes++;
	if (!info || !info->writable) {
		f->violations++;
	} else if (reg == NVDLA_GLB_S_INTR_STATUS) {
		f->status &= ~value;
	} else if (reg == NVDLA_GLB_S_INTR_MASK) {
		f->mask = value;
	} else if (!strcmp(info->name, "S_POINTER")) {
		u->producer = value & 1;
	} else if (!strcmp(info->name, "D_OP_ENABLE")) {
		fake_enable(f, unit);
	} else if (!strncmp(info->name, "S_LUT", 5)) {
		fake_lut(f, unit);
	} else {
		/* A group that runs or waits keeps its registers. */
		if (u->enabled[u->producer])
			f->violations++;
		u->value[u->producer][low / 4] = value;
	}
}

static u32 fake_read(void *context, u32 reg)
{
	struct fake *f = context;

	if (reg == NVDLA_GLB_S_INTR_STATUS)
		return f->status;
	if (reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS)
		return !f->never_flushed;
	f->violations++;
	return 0;
}

static int fake_reset(void *context)
{
	struct fake *f = context;

	memset(f->unit, 0, sizeof(f->unit));
	f->status = 0;
	f->resets++;
	return 0;
}

static void fake_open(struct fake *f, struct nvdla_hw *hw, const struct nvdla_config *config)
{
	struct nvdla_io io = {
		.context = f,
		.read = fake_read,
		.write = fake_write,
		.reset = fake_reset,
	};

	memset(f, 0, sizeof(*f));
	assert_int_equal(nvdla_hw_init(hw, &io, config), 0);
	f->writes = 0;
}

/* The oldest operation of these units ends. */
static void fake_finish(struct fake *f, u32 units)
{
	static const struct {
		u32 unit;
		u32 bit;
	} sources[] = {
		{ NVDLA_UNIT_SDP, NVDLA_INTR_SDP },	  { NVDLA_UNIT_PDP, NVDLA_INTR_PDP },
		{ NVDLA_UNIT_CDP, NVDLA_INTR_CDP },	  { NVDLA_UNIT_CACC, NVDLA_INTR_CACC },
		{ NVDLA_UNIT_CDMA, NVDLA_INTR_CDMA_DAT },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (units >> sources[i].unit & 1)
			f->status |= 1u << (sources[i].bit + f->unit[sources[i].unit].consumer);
	for (i = 0; i < NVDLA_UNIT_COUNT; i++) {
		if (!(units >> i & 1))
			continue;
		assert_true(f->unit[i].enabled[f->unit[i].consumer]);
		f->unit[i].enabled[f->unit[i].consumer] = false;
		f->unit[i].consumer ^= 1;
	}
}

/* ---- chains ---- */

static const struct conv_shape shape = {
	.w = 8,
	.h = 7,
	.c = 20,
	.k = 13,
	.r = 3,
	.s = 3,
	.pad_left = 1,
	.pad_right = 1,
	.pad_top = 1,
	.pad_bottom = 1,
};

static struct chain_build build;
static u64 storage[4096];
static struct nvdla_chain chain;
static const u64 bases[NVDLA_CHAIN_MAX_REGIONS] = { 0x100000, 0x400000, 0x800000 };

static const struct nvdla_config *begin(const char *config)
{
	chain_begin(&build);
	return nvdla_config_find(config);
}

static void end(const struct nvdla_config *cfg)
{
	struct nvdla_chain_error error;
	char text[256];

	chain_end(&build, TASK_REGIONS);
	if (nvdla_chain_validate(cfg, build.data, build.size, storage, sizeof(storage), &chain,
				 &error)) {
		nvdla_chain_error_text(&error, text, sizeof(text));
		fail_msg("refused: %s", text);
	}
}

static void add_conv(const struct nvdla_config *cfg, u64 in, u64 out, bool table)
{
	struct conv_shape n = shape;

	n.in = in;
	n.out = out;
	chain_conv(&build, cfg, &n, build.tasks);
	if (table)
		task_bs_table(&build, n.w, n.h, n.k);
	chain_task_end(&build);
}

static const u32 conv_units = 1u << NVDLA_UNIT_CDMA | 1u << NVDLA_UNIT_CSC |
			      1u << NVDLA_UNIT_CMAC_A | 1u << NVDLA_UNIT_CMAC_B |
			      1u << NVDLA_UNIT_CACC | 1u << NVDLA_UNIT_SDP;

/* Each unit alternates by its own use: SDP_RDMA only moves with the tasks that need it. */
static void test_groups(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 i, rdma = 0, sdp = 0;

	for (i = 0; i < 5; i++)
		add_conv(cfg, 0, i * 0x400, i == 0 || i == 3);
	end(cfg);
	fake_open(&f, &hw, cfg);
	assert_int_equal(chain_run_start(&run, &hw, &chain, bases, false), CHAIN_RUN_GOES_ON);
	assert_int_equal(hw.enabled, 2);
	for (i = 0; i < 5; i++) {
		fake_finish(&f, chain.task[i].units);
		assert_int_equal(chain_run_interrupt(&run),
				 i < 4 ? CHAIN_RUN_GOES_ON : CHAIN_RUN_DONE);
		assert_int_equal(hw.completed, i + 1);
	}
	assert_int_equal(f.violations, 0);
	for (i = 0; i < f.enables; i++) {
		if (f.enable_log[i] >> 1 == NVDLA_UNIT_SDP)
			assert_int_equal(f.enable_log[i] & 1, sdp++ & 1);
		if (f.enable_log[i] >> 1 == NVDLA_UNIT_SDP_RDMA)
			assert_int_equal(f.enable_log[i] & 1, rdma++ & 1);
	}
	assert_int_equal(sdp, 5);
	assert_int_equal(rdma, 2);
	/* The next chain goes on where this one ended. */
	assert_int_equal(hw.groups, conv_units);
	assert_int_equal(chain_run_start(&run, &hw, &chain, bases, false), CHAIN_RUN_GOES_ON);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
}

/* Consumers first, CDMA last. */
static void test_enable_order(void **state)
{
	static const u32 order[] = { NVDLA_UNIT_SDP,	NVDLA_UNIT_SDP_RDMA, NVDLA_UNIT_CACC,
				     NVDLA_UNIT_CMAC_A, NVDLA_UNIT_CMAC_B,   NVDLA_UNIT_CSC,
				     NVDLA_UNIT_CDMA };
	const struct nvdla_config *cfg = begin("nv_small");
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 i;

	add_conv(cfg, 0, 0, true);
	end(cfg);
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, false);
	assert_int_equal(f.enables, ARRAY_SIZE(order));
	for (i = 0; i < ARRAY_SIZE(order); i++)
		assert_int_equal(f.enable_log[i] >> 1, order[i]);
	chain_free(&build);
}

/* Addresses and values arrive, and the third task, in the first one's groups, writes what differs. */
static void test_changed_only(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 first, third;

	add_conv(cfg, 0x40, 0x80, false);
	add_conv(cfg, 0x40, 0x480, false);
	add_conv(cfg, 0x48, 0x880, false);
	end(cfg);
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, false);
	first = f.writes;
	assert_int_equal(f.unit[NVDLA_UNIT_CDMA].value[0][0x34 / 4], bases[TASK_INPUT] + 0x40);
	assert_int_equal(f.unit[NVDLA_UNIT_SDP].value[1][0x48 / 4], bases[TASK_OUTPUT] + 0x480);
	assert_int_equal(f.unit[NVDLA_UNIT_CSC].value[0][0x44 / 4], 8 * 7 - 1);
	fake_finish(&f, chain.task[0].units);
	chain_run_interrupt(&run);
	third = f.writes - first;
	assert_int_equal(f.unit[NVDLA_UNIT_CDMA].value[0][0x34 / 4], bases[TASK_INPUT] + 0x48);
	assert_int_equal(f.unit[NVDLA_UNIT_SDP].value[0][0x48 / 4], bases[TASK_OUTPUT] + 0x880);
	/* Two addresses, six pointers, six enables, and the interrupt's acknowledgement. */
	assert_int_equal(third, 15);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
}

/* A high half of the address is written too. */
static void test_high_addresses(void **state)
{
	const u64 high[NVDLA_CHAIN_MAX_REGIONS] = { 0x1234500000ull, 0x1234600000ull,
						    0x1234800000ull };
	const struct nvdla_config *cfg = begin("nv_large");
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;

	add_conv(cfg, 0, 0, false);
	end(cfg);
	fake_open(&f, &hw, cfg);
	assert_int_equal(chain_run_start(&run, &hw, &chain, high, false), CHAIN_RUN_GOES_ON);
	assert_int_equal(f.unit[NVDLA_UNIT_CDMA].value[0][0x30 / 4], 0x12);
	assert_int_equal(f.unit[NVDLA_UNIT_CDMA].value[0][0x34 / 4], 0x34600000);
	chain_free(&build);
}

/* What the tasks of a pair may do: at once, or one after the other. */
static void test_overlap(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	u64 same[NVDLA_CHAIN_MAX_REGIONS] = { 0x100000, 0x800000, 0x800000 };
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 i;

	/* The pooling reads region TASK_INPUT, which the convolution does not write ... */
	add_conv(cfg, 0, 0x400, false);
	chain_sdp(&build, cfg, 6, 5, 20, 0, 0x2000, 1);
	chain_task_end(&build);
	end(cfg);
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, false);
	assert_int_equal(hw.enabled, 2);
	/* ... unless both regions are bound to the same memory, */
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, same, false);
	assert_true(run.serial);
	assert_int_equal(hw.enabled, 1);
	assert_int_equal(hw.programmed, 2);
	fake_finish(&f, chain.task[0].units);
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_GOES_ON);
	assert_int_equal(hw.enabled, 2);
	/* or the caller wants no overlap, */
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, true);
	assert_int_equal(hw.enabled, 1);
	chain_free(&build);
	/* or the task does read what is written. */
	begin("nv_small");
	add_conv(cfg, 0, 0, false);
	chain_sdp(&build, cfg, 6, 5, 8, 0, 0x2000, 1);
	for (i = 0; i < build.addr_count; i++)
		build.addr[i].region = TASK_OUTPUT;
	chain_task_end(&build);
	end(cfg);
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, false);
	assert_int_equal(hw.enabled, 1);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
}

/* Tasks of different units may end out of order; they are reported in order. */
static u32 events[32], event_count;

static void record(struct nvdla_hw *hw, struct nvdla_segment *segment, u32 task,
		   enum nvdla_sequence_event event)
{
	assert_in_range(task, segment->first, segment->first + segment->count - 1);
	events[event_count++] = task << 1 | (event == NVDLA_SEQ_TASK_DONE);
}

static void test_progress(void **state)
{
	static const u32 expected[] = { 0, 2, 1, 3, 4, 5 };
	const struct nvdla_config *cfg = begin("nv_small");
	struct pool_shape p = { .w = 4,
				.h = 4,
				.c = 8,
				.kernel_w = 2,
				.kernel_h = 2,
				.stride_w = 2,
				.stride_h = 2,
				.method = 1,
				.out = 0x8000 };
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 i;

	add_conv(cfg, 0, 0, false);
	chain_pdp(&build, cfg, &p, 1);
	chain_task_end(&build);
	chain_cdp(&build, cfg, 4, 3, 20, 0, 0xa000, true, 2);
	chain_task_end(&build);
	end(cfg);
	fake_open(&f, &hw, cfg);
	event_count = 0;
	hw.event = record;
	chain_run_start(&run, &hw, &chain, bases, false);
	fake_finish(&f, chain.task[1].units);
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_GOES_ON);
	assert_int_equal(hw.completed, 0);
	/* Nothing new: nothing happens. */
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_GOES_ON);
	assert_int_equal(f.tables, 0);
	fake_finish(&f, chain.task[0].units);
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_GOES_ON);
	/* The tables of CDP, its two addresses, and their registers. */
	assert_true(f.tables > 65 + 257 + 2);
	fake_finish(&f, chain.task[2].units);
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_DONE);
	assert_int_equal(event_count, ARRAY_SIZE(expected));
	for (i = 0; i < event_count; i++)
		assert_int_equal(events[i], expected[i]);
	assert_int_equal(f.violations, 0);
	assert_int_equal(f.status, 0);
	chain_free(&build);
}

/* Pooling behind the convolution: done when both SDP and PDP are. */
static void test_two_done_bits(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	struct pool_shape p = { .w = 8,
				.h = 7,
				.c = 13,
				.kernel_w = 2,
				.kernel_h = 3,
				.stride_w = 2,
				.stride_h = 2,
				.method = 1 };
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;

	chain_conv(&build, cfg, &shape, 0);
	task_pool_behind(&build, cfg, &p);
	chain_task_end(&build);
	end(cfg);
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, false);
	fake_finish(&f, conv_units);
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_GOES_ON);
	fake_finish(&f, 1u << NVDLA_UNIT_PDP);
	assert_int_equal(chain_run_interrupt(&run), CHAIN_RUN_DONE);
	chain_free(&build);
}

static void test_bad_bindings(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	static const u64 wrong[][NVDLA_CHAIN_MAX_REGIONS] = {
		{ 0x100004, 0x400000, 0x800000 }, /* misaligned */
		{ 0x100000, 0xfffffff8, 0x800000 }, /* runs over 4 GiB */
		{ 0x100000, 0x400000, ~7ull }, /* runs over everything */
	};
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 i;

	add_conv(cfg, 0, 0, false);
	end(cfg);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		fake_open(&f, &hw, cfg);
		assert_int_equal(chain_run_start(&run, &hw, &chain, wrong[i], false), -EINVAL);
		assert_int_equal(f.writes, 0);
	}
	/* A chain of another configuration. */
	fake_open(&f, &hw, nvdla_config_find("nv_large"));
	assert_int_equal(chain_run_start(&run, &hw, &chain, bases, false), -EINVAL);
	/* A buffer that never gets clean. */
	fake_open(&f, &hw, cfg);
	f.never_flushed = true;
	assert_int_equal(chain_run_start(&run, &hw, &chain, bases, false), -ETIMEDOUT);
	assert_int_equal(f.enables, 0);
	assert_int_equal(chain_run_abort(&run), 0);
	assert_int_equal(f.resets, 2);
	assert_int_equal(hw.groups, 0);
	chain_free(&build);
}

/* After an abort everything is written anew, into group 0. */
static void test_abort(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;

	add_conv(cfg, 0, 0, false);
	end(cfg);
	fake_open(&f, &hw, cfg);
	chain_run_start(&run, &hw, &chain, bases, false);
	assert_int_equal(chain_run_abort(&run), 0);
	assert_int_equal(chain_run_start(&run, &hw, &chain, bases, false), CHAIN_RUN_GOES_ON);
	assert_int_equal(f.unit[NVDLA_UNIT_CSC].value[0][0x44 / 4], 8 * 7 - 1);
	assert_int_equal(f.violations, 0);
	hw.io.reset = NULL;
	assert_int_equal(chain_run_abort(&run), -EOPNOTSUPP);
	chain_free(&build);
}

/* ---- segments of several chains ---- */

/* A chain beside the one in @chain. */
struct other {
	struct chain_build build;
	u64 storage[4096];
	struct nvdla_chain chain;
};

/* Keeps the chain that end() just made, so that another one can be made. */
static void keep(struct other *o, const struct nvdla_config *cfg)
{
	o->build = build;
	assert_int_equal(nvdla_chain_validate(cfg, build.data, build.size, o->storage,
					      sizeof(o->storage), &o->chain, NULL),
			 0);
}

static struct nvdla_segment segment_of(const struct nvdla_chain *c, u64 number, u32 first)
{
	return (struct nvdla_segment){
		.chain = c,
		.region_base = bases,
		.run = number,
		.first = first,
		.count = nvdla_chain_segment(c, first),
	};
}

/* Cuts lie where nothing in CBUF is needed any more, also where another task comes in between. */
static void test_segments(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	struct conv_shape n = shape;

	add_conv(cfg, 0, 0, false);
	n.skip_data = true;
	n.out = 0x400;
	chain_conv(&build, cfg, &n, 1);
	chain_task_end(&build);
	chain_sdp(&build, cfg, 6, 5, 8, 0, 0x2000, 2);
	chain_task_end(&build);
	n.skip_data = false;
	n.data_reuse = true;
	n.out = 0x800;
	chain_conv(&build, cfg, &n, 3);
	chain_task_end(&build);
	chain_sdp(&build, cfg, 6, 5, 8, 0, 0x3000, 4);
	chain_task_end(&build);
	end(cfg);
	assert_int_equal(nvdla_chain_segment(&chain, 0), 1);
	assert_int_equal(nvdla_chain_segment(&chain, 1), 3);
	assert_int_equal(nvdla_chain_segment(&chain, 4), 1);
	chain_free(&build);
}

/* Two chains by turns: the other one's registers are written ahead, but it does not begin. */
static void test_two_chains(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	struct nvdla_segment *done[NVDLA_SEGMENTS];
	struct nvdla_segment mine[2], theirs;
	static struct other other;
	static struct fake f;
	static struct nvdla_hw hw;

	add_conv(cfg, 0, 0, false);
	end(cfg);
	keep(&other, cfg);
	begin("nv_small");
	add_conv(cfg, 0, 0x400, false);
	add_conv(cfg, 0, 0x800, false);
	end(cfg);
	mine[0] = segment_of(&chain, 1, 0);
	mine[1] = segment_of(&chain, 1, 1);
	theirs = segment_of(&other.chain, 2, 0);
	fake_open(&f, &hw, cfg);
	assert_int_equal(nvdla_sequence_push(&hw, &mine[0]), 0);
	assert_int_equal(nvdla_sequence_push(&hw, &theirs), 0);
	assert_int_equal(nvdla_sequence_push(&hw, &mine[1]), -EBUSY);
	assert_int_equal(mine[0].enabled, 1);
	assert_int_equal(theirs.programmed, 1);
	assert_int_equal(theirs.enabled, 0);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_ptr_equal(done[0], &mine[0]);
	assert_null(done[1]);
	assert_int_equal(theirs.enabled, 1);
	assert_int_equal(nvdla_sequence_push(&hw, &mine[1]), 0);
	assert_int_equal(mine[1].programmed, 1);
	assert_int_equal(mine[1].enabled, 0);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_ptr_equal(done[0], &theirs);
	/* Two segments of one run do overlap. */
	mine[0] = segment_of(&chain, 3, 0);
	assert_int_equal(nvdla_sequence_push(&hw, &mine[0]), 0);
	assert_int_equal(mine[0].enabled, 0);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	mine[1] = segment_of(&chain, 3, 1);
	assert_int_equal(nvdla_sequence_push(&hw, &mine[1]), 0);
	assert_int_equal(mine[0].enabled + mine[1].enabled, 2);
	fake_finish(&f, conv_units);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_ptr_equal(done[0], &mine[0]);
	assert_ptr_equal(done[1], &mine[1]);
	assert_int_equal(nvdla_hw_running(&hw), 0);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
	chain_free(&other.build);
}

static void finish_cdp(struct fake *f, struct nvdla_hw *hw)
{
	struct nvdla_segment *done[NVDLA_SEGMENTS];

	fake_finish(f, 1u << NVDLA_UNIT_CDP | 1u << NVDLA_UNIT_CDP_RDMA);
	assert_int_equal(nvdla_sequence_interrupt(hw, done), 0);
	assert_non_null(done[0]);
}

/* Look-up tables that another chain has loaded in between are loaded again, and only then. */
static void test_foreign_tables(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	struct nvdla_segment mine[3], theirs;
	static struct other other;
	static struct fake f;
	static struct nvdla_hw hw;
	u32 i, before;

	chain_cdp(&build, cfg, 4, 3, 20, 0, 0x8000, true, 0);
	chain_task_end(&build);
	end(cfg);
	keep(&other, cfg);
	begin("nv_small");
	for (i = 0; i < 3; i++) {
		chain_cdp(&build, cfg, 4, 3, 20, 0, 0xa000 + i * 0x1000, i == 0, i);
		chain_task_end(&build);
	}
	end(cfg);
	for (i = 0; i < 3; i++)
		mine[i] = segment_of(&chain, 7, i);
	theirs = segment_of(&other.chain, 8, 0);
	fake_open(&f, &hw, cfg);
	nvdla_sequence_push(&hw, &mine[0]);
	assert_true(f.tables >= 65 + 257);
	finish_cdp(&f, &hw);
	before = f.tables;
	nvdla_sequence_push(&hw, &mine[1]);
	assert_int_equal(f.tables, before);
	finish_cdp(&f, &hw);
	nvdla_sequence_push(&hw, &theirs);
	assert_true(f.tables >= before + 65 + 257);
	before = f.tables;
	nvdla_sequence_push(&hw, &mine[2]);
	/* Not while the other one uses them. */
	assert_int_equal(f.tables, before);
	finish_cdp(&f, &hw);
	assert_true(f.tables >= before + 65 + 257);
	assert_int_equal(mine[2].enabled, 1);
	finish_cdp(&f, &hw);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
	chain_free(&other.build);
}

/* The one that hangs had begun; its neighbour had not, and runs again as if nothing had been. */
static void test_abort_two(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	struct nvdla_segment *lost[NVDLA_SEGMENTS], *done[NVDLA_SEGMENTS];
	struct nvdla_segment mine, theirs;
	static struct other other;
	static struct fake f;
	static struct nvdla_hw hw;

	add_conv(cfg, 0, 0, false);
	end(cfg);
	keep(&other, cfg);
	begin("nv_small");
	add_conv(cfg, 0, 0x400, true);
	end(cfg);
	mine = segment_of(&chain, 1, 0);
	theirs = segment_of(&other.chain, 2, 0);
	fake_open(&f, &hw, cfg);
	nvdla_sequence_push(&hw, &mine);
	nvdla_sequence_push(&hw, &theirs);
	assert_int_equal(nvdla_sequence_abort(&hw, lost), 0);
	assert_ptr_equal(lost[0], &mine);
	assert_ptr_equal(lost[1], &theirs);
	assert_int_equal(mine.enabled, 1);
	assert_int_equal(theirs.enabled, 0);
	assert_int_equal(nvdla_hw_running(&hw), 0);
	assert_int_equal(nvdla_sequence_push(&hw, &theirs), 0);
	assert_int_equal(theirs.enabled, 1);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_ptr_equal(done[0], &theirs);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
	chain_free(&other.build);
}

/* What one chain loses another one lacks: the reset comes before its segment, which is written anew. */
static void test_foreign_leak(void **state)
{
	struct nvdla_segment *done[NVDLA_SEGMENTS];
	struct nvdla_segment mine, theirs, again;
	static struct nvdla_config gated;
	static struct other other;
	static struct fake f;
	static struct nvdla_hw hw;

	gated = *nvdla_config_find("nv_small");
	gated.quirks = NVDLA_QUIRK_LEAKED_WEIGHTS;
	begin("nv_small");
	add_conv(&gated, 0, 0x400, false);
	end(&gated);
	keep(&other, &gated);
	begin("nv_small");
	add_conv(&gated, 0, 0, false);
	end(&gated);
	mine = segment_of(&chain, 1, 0);
	theirs = segment_of(&other.chain, 2, 0);
	fake_open(&f, &hw, &gated);
	nvdla_sequence_push(&hw, &mine);
	nvdla_sequence_push(&hw, &theirs);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_int_equal(f.resets, 1);
	assert_int_equal(theirs.enabled, 1);
	again = segment_of(&chain, 3, 0);
	nvdla_sequence_push(&hw, &again);
	assert_int_equal(again.programmed, 1);
	/* Each takes 293 of 512 entries: the first two are too many for the third. */
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_ptr_equal(done[0], &theirs);
	assert_int_equal(f.resets, 2);
	assert_int_equal(again.enabled, 1);
	assert_int_equal(f.unit[NVDLA_UNIT_SDP].value[0][0x48 / 4], bases[TASK_OUTPUT]);
	assert_int_equal(f.unit[NVDLA_UNIT_CSC].value[0][0x44 / 4], 8 * 7 - 1);
	fake_finish(&f, conv_units);
	assert_int_equal(nvdla_sequence_interrupt(&hw, done), 0);
	assert_ptr_equal(done[0], &again);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
	chain_free(&other.build);
}

/* ---- on the device model ---- */

#define MODEL_BASE 0x80000000ull
#define MODEL_BYTES (4u << 20)

static const u64 model_bases[NVDLA_CHAIN_MAX_REGIONS] = { MODEL_BASE, MODEL_BASE + 0x200000,
							  MODEL_BASE + 0x300000 };

/* Row bands with the halo kept and kernels with the data kept give what the whole layer gives. */
static void test_model_pieces(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	struct conv_shape whole = { .w = 12, .h = 16, .c = 16, .k = 16, .r = 3, .s = 3 };
	struct conv_shape piece = whole;
	static struct chain_device dev;
	u32 band = 12 * 8, i;

	chain_conv(&build, cfg, &whole, 0);
	chain_task_end(&build);
	/* Rows 0 .. 8, of which two stay; then seven more. */
	piece.h = 9;
	piece.release = 7;
	piece.out = 0x8000;
	piece.data_banks = 1;
	chain_conv(&build, cfg, &piece, 1);
	CHAIN_SET(&build, CDMA, D_SURF_STRIDE, 16 * band);
	CHAIN_SET(&build, SDP, D_DST_SURFACE_STRIDE, 14 * 10 * 8);
	chain_task_end(&build);
	piece.h = 7;
	piece.kept = 2;
	piece.release = 0;
	piece.data_reuse = true;
	piece.in = 9 * band;
	piece.out = 0x8000 + 7 * 10 * 8;
	chain_conv(&build, cfg, &piece, 2);
	CHAIN_SET(&build, CDMA, D_SURF_STRIDE, 16 * band);
	CHAIN_SET(&build, SDP, D_DST_SURFACE_STRIDE, 14 * 10 * 8);
	chain_task_end(&build);
	end(cfg);
	chain_device_open(&dev, cfg, MODEL_BASE, MODEL_BYTES);
	for (i = 0; i < MODEL_BYTES; i++)
		dev.memory[i] = (u8)(i * 7 + i / 256);
	assert_int_equal(chain_device_run(&dev, &chain, model_bases, false), 0);
	assert_memory_equal(dev.memory + 0x300000, dev.memory + 0x308000, 2 * 14 * 10 * 8);
	chain_device_close(&dev);
	chain_free(&build);
}

/* A device that cannot be reset goes on in the register groups where it is. */
static void test_model_taken_over(void **state)
{
	const struct nvdla_config *cfg = begin("nv_small");
	static struct chain_device dev;
	struct nvdla_io io;
	u32 i;

	add_conv(cfg, 0, 0, false);
	end(cfg);
	chain_device_open(&dev, cfg, MODEL_BASE, MODEL_BYTES);
	for (i = 0; i < 4; i++) {
		assert_int_equal(chain_device_run(&dev, &chain, model_bases, false), 0);
		io = dev.hw.io;
		io.reset = NULL;
		assert_int_equal(nvdla_hw_init(&dev.hw, &io, cfg), 0);
		assert_int_equal(dev.hw.groups >> NVDLA_UNIT_SDP & 1, ~i & 1);
	}
	chain_device_close(&dev);
	chain_free(&build);
}

/* Many single convolutions, waited for one by one, so that CDMA runs idle in between. */
static void make_lonely_convs(const struct nvdla_config *cfg, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		add_conv(cfg, 0, i % 2 * 0x1000, false);
}

static int run_gated(const struct nvdla_config *cfg, u32 quirks, u64 *resets)
{
	static struct nvdla_config gated;
	static struct chain_device dev;
	int err;

	gated = *cfg;
	gated.quirks = NVDLA_QUIRK_LEAKED_WEIGHTS;
	begin("nv_small");
	make_lonely_convs(&gated, 40);
	chain_device_open(&dev, &gated, MODEL_BASE, MODEL_BYTES);
	gated.quirks = quirks;
	end(&gated);
	err = chain_device_run(&dev, &chain, model_bases, true);
	*resets = dev.hw.resets;
	chain_device_close(&dev);
	chain_free(&build);
	return err;
}

/* Clock-gated silicon loses weight entries: without the work-around it hangs, with it it does not. */
static void test_leaked_weights(void **state)
{
	const struct nvdla_config *cfg = nvdla_config_find("nv_small");
	u64 resets;

	assert_int_equal(run_gated(cfg, 0, &resets), -EDEADLK);
	assert_int_equal(resets, 1);
	assert_int_equal(run_gated(cfg, NVDLA_QUIRK_LEAKED_WEIGHTS, &resets), 0);
	assert_true(resets > 1);
}

/* A reset would lose what the next task reuses: none comes in between. */
static void test_no_reset_before_reuse(void **state)
{
	static struct nvdla_config gated;
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	struct conv_shape n = shape;
	u32 i;

	gated = *nvdla_config_find("nv_small");
	gated.quirks = NVDLA_QUIRK_LEAKED_WEIGHTS;
	begin("nv_small");
	for (i = 0; i < 6; i++) {
		n.skip_data = i % 2 == 0;
		n.data_reuse = i % 2 == 1;
		n.out = i * 0x400;
		chain_conv(&build, &gated, &n, i);
		chain_task_end(&build);
	}
	end(&gated);
	fake_open(&f, &hw, &gated);
	chain_run_start(&run, &hw, &chain, bases, true);
	for (i = 0; i < 6; i++) {
		/* Resets only before tasks 2 and 4: each pair takes 2 * 293 of 512 entries. */
		assert_int_equal(f.resets, 1 + i / 2);
		fake_finish(&f, chain.task[i].units);
		chain_run_interrupt(&run);
	}
	assert_int_equal(hw.completed, 6);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
}

/* ... but one in the midst of a chain must not lose the tables that later tasks use. */
static void test_tables_after_reset(void **state)
{
	static struct nvdla_config gated;
	static struct fake f;
	static struct nvdla_hw hw;
	struct chain_run run;
	u32 i, loaded;

	gated = *nvdla_config_find("nv_small");
	gated.quirks = NVDLA_QUIRK_LEAKED_WEIGHTS;
	begin("nv_small");
	chain_cdp(&build, &gated, 4, 3, 20, 0, 0x8000, true, 0);
	chain_task_end(&build);
	add_conv(&gated, 0, 0, false);
	add_conv(&gated, 0, 0x400, false);
	add_conv(&gated, 0, 0x800, false);
	chain_cdp(&build, &gated, 4, 3, 20, 0, 0xa000, false, 4);
	chain_task_end(&build);
	end(&gated);
	fake_open(&f, &hw, &gated);
	chain_run_start(&run, &hw, &chain, bases, true);
	loaded = f.tables;
	/* Two convolutions lose 2 * 293 of 512 entries. */
	for (i = 0; i < 4; i++) {
		fake_finish(&f, chain.task[i].units);
		chain_run_interrupt(&run);
	}
	assert_int_equal(f.resets, 2);
	assert_int_equal(f.tables, 2 * loaded);
	assert_int_equal(f.violations, 0);
	chain_free(&build);
}

/* ---- idle cycles ---- */

/* The model behind a bus on which everything takes its time; it counts when no task is there. */
struct slow_bus {
	struct chain_device *dev;
	u32 write_cycles;
	u32 interrupt_cycles;
	u32 begun;
	u32 ended;
	u64 idle_since;
	u64 idle;
};

static u32 slow_read(void *context, u32 reg)
{
	struct slow_bus *bus = context;

	npusim_run(bus->dev->sim, bus->write_cycles);
	return npusim_read(bus->dev->sim, reg);
}

static void slow_write(void *context, u32 reg, u32 value)
{
	struct slow_bus *bus = context;

	npusim_run(bus->dev->sim, bus->write_cycles);
	npusim_write(bus->dev->sim, reg, value);
	/* CDMA is the last unit of a convolution that is enabled. */
	if (reg != NVDLA_CDMA_D_OP_ENABLE)
		return;
	if (bus->begun == bus->ended && bus->begun)
		bus->idle += npusim_now(bus->dev->sim) - bus->idle_since;
	bus->begun++;
}

static void slow_event(void *context, u32 bit, u64 when)
{
	struct slow_bus *bus = context;

	if (bit != NVDLA_INTR_SDP && bit != NVDLA_INTR_SDP + 1)
		return;
	bus->ended++;
	bus->idle_since = when;
}

/* Runs the chain in @chain; idle cycles between its tasks. */
static u64 idle_cycles(const struct nvdla_config *cfg, u32 write_cycles, u32 interrupt_cycles,
		       bool serial)
{
	static struct chain_device dev;
	struct slow_bus bus = { .dev = &dev,
				.write_cycles = write_cycles,
				.interrupt_cycles = interrupt_cycles };
	struct nvdla_io io = { .context = &bus, .read = slow_read, .write = slow_write };
	struct chain_run run;
	int goes_on;

	chain_device_open(&dev, cfg, MODEL_BASE, MODEL_BYTES);
	npusim_run(dev.sim, (u64)cfg->banks * cfg->entries);
	assert_int_equal(nvdla_hw_init(&dev.hw, &io, cfg), 0);
	npusim_set_event_hook(dev.sim, slow_event, &bus);
	goes_on = chain_run_start(&run, &dev.hw, &chain, model_bases, serial);
	while (goes_on == CHAIN_RUN_GOES_ON) {
		assert_true(npusim_wait(dev.sim));
		npusim_run(dev.sim, interrupt_cycles);
		goes_on = chain_run_interrupt(&run);
	}
	assert_int_equal(goes_on, CHAIN_RUN_DONE);
	assert_int_equal(bus.ended, chain.task_count);
	chain_device_close(&dev);
	return bus.idle;
}

/*
 * Independent tasks follow each other without a gap as long as a task takes longer than the interrupt
 * and the registers of one task; tasks that have to wait for each other pay for both every time.
 */
static void test_idle_cycles(void **state)
{
	static const u32 latency[] = { 0, 500, 2000 };
	const struct nvdla_config *cfg = begin("nv_small");
	struct conv_shape n = { .w = 12, .h = 12, .c = 32, .k = 16, .r = 3, .s = 3 };
	u32 i, tasks = 8;
	u64 idle, last = 0;

	for (i = 0; i < tasks; i++) {
		n.out = i * 0x1000;
		chain_conv(&build, cfg, &n, i);
		chain_task_end(&build);
	}
	end(cfg);
	for (i = 0; i < ARRAY_SIZE(latency); i++) {
		assert_int_equal(idle_cycles(cfg, 10, latency[i], false), 0);
		idle = idle_cycles(cfg, 10, latency[i], true);
		print_message(
			"idle cycles for each dependent task, 10 a register, %u an interrupt: "
			"%llu\n",
			latency[i], (unsigned long long)(idle / (tasks - 1)));
		/* What was programmed ahead leaves the interrupt and the enables. */
		assert_true(idle >=
			    last + (u64)(tasks - 1) * (i ? latency[i] - latency[i - 1] : 1));
		last = idle;
	}
	/* The measure does tell: an interrupt longer than a task leaves a gap. */
	assert_true(idle_cycles(cfg, 10, 100000, false) > 0);
	chain_free(&build);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_enable_order),
		cmocka_unit_test(test_changed_only),
		cmocka_unit_test(test_high_addresses),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_two_done_bits),
		cmocka_unit_test(test_bad_bindings),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_two_chains),
		cmocka_unit_test(test_foreign_tables),
		cmocka_unit_test(test_abort_two),
		cmocka_unit_test(test_foreign_leak),
		cmocka_unit_test(test_model_pieces),
		cmocka_unit_test(test_model_taken_over),
		cmocka_unit_test(test_leaked_weights),
		cmocka_unit_test(test_no_reset_before_reuse),
		cmocka_unit_test(test_tables_after_reset),
		cmocka_unit_test(test_idle_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
