// SPDX-License-Identifier: MIT
/*
 * How long CDMA fetches input: 1x1 kernels over each eighth line, so that nothing else counts, against
 * the cycles that the RTL took for the same registers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../common/chain_device.h"
#include "../common/chain_tasks.h"

#define MEMORY_BASE 0x80000000u
#define MEMORY_BYTES (1u << 20)

#define FEATURE 0
#define R8 0
#define ABGR 26
#define NV24 29

/* Percent by which the model may differ from the RTL. */
#define TOLERANCE 5

/**
 * struct fetch - lines of input, and the cycles of the RTL from the first enable to SDP's interrupt
 */
struct fetch {
	const char *config;
	bool image;
	u32 format, width, channels, cycles;
};

static const struct fetch fetches[] = {
	{ "nv_small", false, FEATURE, 1, 1, 622 },
	{ "nv_small", false, FEATURE, 1, 9, 838 },
	{ "nv_small", false, FEATURE, 1, 25, 1264 },
	{ "nv_small", false, FEATURE, 1, 33, 1472 },
	{ "nv_small", false, FEATURE, 2, 25, 1568 },
	{ "nv_small", false, FEATURE, 2, 57, 2838 },
	{ "nv_small", false, FEATURE, 3, 17, 1560 },
	{ "nv_small", false, FEATURE, 3, 25, 2074 },
	{ "nv_small", false, FEATURE, 3, 57, 3842 },
	{ "nv_small", false, FEATURE, 8, 25, 4684 },
	{ "nv_small", true, R8, 1, 1, 622 },
	{ "nv_small", true, R8, 8, 1, 734 },
	{ "nv_small", true, R8, 32, 1, 1296 },
	{ "nv_small", true, ABGR, 1, 4, 622 },
	{ "nv_small", true, ABGR, 16, 4, 1464 },
	{ "nv_small", true, NV24, 1, 3, 822 },
	{ "nv_small", true, NV24, 8, 3, 942 },
	{ "nv_small", true, NV24, 32, 3, 2204 },
	{ "nv_medium_512", false, FEATURE, 1, 2, 564 },
	{ "nv_medium_512", false, FEATURE, 1, 50, 1184 },
	{ "nv_medium_512", false, FEATURE, 1, 66, 1400 },
	{ "nv_medium_512", false, FEATURE, 3, 34, 1496 },
	{ "nv_medium_512", false, FEATURE, 3, 50, 2002 },
	{ "nv_medium_512", false, FEATURE, 3, 114, 3762 },
	{ "nv_medium_512", false, FEATURE, 8, 50, 4580 },
	{ "nv_medium_512", true, R8, 16, 1, 710 },
	{ "nv_medium_512", true, R8, 64, 1, 1360 },
	{ "nv_medium_512", true, NV24, 8, 3, 910 },
	{ "nv_medium_512", true, NV24, 32, 3, 1336 },
};

/* The model behind the sequencer, with the times of the first enable and of SDP's end. */
struct watch {
	struct chain_device dev;
	u64 begun, ended;
};

static void watch_write(void *context, u32 reg, u32 value)
{
	struct watch *w = context;

	if (reg == NVDLA_SDP_D_OP_ENABLE && !w->begun)
		w->begun = npusim_now(w->dev.sim);
	npusim_write(w->dev.sim, reg, value);
}

static u32 watch_read(void *context, u32 reg)
{
	return npusim_read(((struct watch *)context)->dev.sim, reg);
}

static void watch_event(void *context, u32 bit, u64 when)
{
	if (bit == NVDLA_INTR_SDP || bit == NVDLA_INTR_SDP + 1)
		((struct watch *)context)->ended = when;
}

static u64 run(const struct nvdla_config *cfg, const struct nvdla_chain *chain)
{
	static struct watch w;
	struct nvdla_io io = { .context = &w, .read = watch_read, .write = watch_write };
	u64 base[NVDLA_CHAIN_MAX_REGIONS];
	size_t bytes;

	memset(&w, 0, sizeof(w));
	chain_device_open(&w.dev, cfg, MEMORY_BASE, MEMORY_BYTES);
	assert_true(chain_device_place(&w.dev, chain, false, base, &bytes));
	npusim_run(w.dev.sim, (u64)cfg->banks * cfg->entries);
	assert_int_equal(nvdla_hw_init(&w.dev.hw, &io, cfg), 0);
	npusim_set_event_hook(w.dev.sim, watch_event, &w);
	assert_int_equal(chain_device_run(&w.dev, chain, base, false), 0);
	chain_device_close(&w.dev);
	assert_true(w.begun && w.ended > w.begun);
	return w.ended - w.begun;
}

static u64 fetch_cycles(const struct fetch *f)
{
	const struct nvdla_config *cfg = nvdla_config_find(f->config);
	struct conv_shape n = { .w = f->width,
				.h = 100,
				.c = f->channels,
				.k = 8,
				.r = 1,
				.s = 1,
				.stride_x = 7,
				.stride_y = 8,
				.image = f->image,
				.pixel_format = f->format,
				.in = 0x200,
				.weights = 0x40 };
	static u64 storage[8192];
	struct chain_build build;
	struct nvdla_chain chain;
	u64 cycles;

	chain_begin(&build);
	chain_conv(&build, cfg, &n, 0);
	chain_task_end(&build);
	chain_end(&build, TASK_REGIONS);
	assert_int_equal(nvdla_chain_validate(cfg, build.data, build.size, storage, sizeof(storage),
					      &chain, NULL),
			 0);
	cycles = run(cfg, &chain);
	chain_free(&build);
	return cycles;
}

static void test_cycles_of_the_rtl(void **state)
{
	u32 i, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(fetches); i++) {
		const struct fetch *f = &fetches[i];
		s64 cycles = (s64)fetch_cycles(f), off = cycles - f->cycles;

		if ((off < 0 ? -off : off) * 100 <= (s64)f->cycles * TOLERANCE)
			continue;
		wrong++;
		print_message("%s %s %u, %u wide, %u channels: %lld cycles, the RTL %u\n",
			      f->config, f->image ? "pixels" : "features", f->format, f->width,
			      f->channels, (long long)cycles, f->cycles);
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cycles_of_the_rtl) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
