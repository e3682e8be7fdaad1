// SPDX-License-Identifier: MIT
/* Averages in steps: every element of a window counts once, within the registers; and some well-known ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "optimise/average.h"
#include "random_model.h"

#define MOST 400u

static const char *const configs[] = { "nv_small",	"nv_small_256",	       "nv_small_256_full",
				       "nv_medium_512", "nv_medium_1024_full", "nv_large" };

/* A step along one axis. */
struct line {
	u32 out, taps, stride, dilation;
};

static struct line line_of(const struct npu_average_steps *steps, u32 i, bool rows)
{
	const struct npu_window *w = &steps->step[i].window;

	return rows ? (struct line){ steps->step[i].h, w->r, w->stride_y, w->dilation_y }
		    : (struct line){ steps->step[i].w, w->s, w->stride_x, w->dilation_x };
}

/* How often output @out of step @i counts each element; what lies behind the last one is padding. */
static void count(const struct npu_average_steps *steps, u32 i, bool rows, u32 out, u32 elements,
		  u32 times[MOST])
{
	struct line line = line_of(steps, i, rows);
	u32 inputs = i ? line_of(steps, i - 1, rows).out : elements, k;

	assert_true(line.taps && line.taps <= 32 && line.stride && line.stride <= 8 &&
		    line.dilation && line.dilation <= 32 && out < line.out);
	for (k = 0; k < line.taps; k++) {
		u32 at = out * line.stride + k * line.dilation;

		if (at >= inputs) {
			/* Padding, which the last window alone has. */
			assert_int_equal(out, line.out - 1);
			assert_true(at - inputs < line.taps);
		} else if (i) {
			count(steps, i - 1, rows, at, elements, times);
		} else {
			times[at]++;
		}
	}
}

static void check_axis(const struct npu_average_steps *steps, bool rows,
		       const struct npu_average_axis *axis)
{
	u32 stride = axis->out > 1 ? axis->stride : 1, last = steps->count - 1, o, i;
	u32 elements = (axis->out - 1) * stride + axis->taps;

	assert_int_equal(line_of(steps, last, rows).out, axis->out);
	for (o = 0; o < axis->out; o++) {
		u32 times[MOST] = { 0 };

		count(steps, last, rows, o, elements, times);
		for (i = 0; i < elements; i++)
			assert_int_equal(times[i], i >= o * stride && i < o * stride + axis->taps);
	}
}

static u32 bytes_of(const struct nvdla_config *config, const struct npu_average_steps *steps, u32 i)
{
	const struct npu_window *w = &steps->step[i].window;

	return w->r * w->s * config->atom * config->atomic_k * (i ? 2 : 1);
}

static struct npu_average_axis pick_axis(struct random *r)
{
	struct npu_average_axis axis = { 1, random_pick(r, 1, 130), 1, 1 };

	if (random_chance(r, 50)) {
		axis.out = random_pick(r, 1, 6);
		axis.taps = random_pick(r, 1, 48);
		axis.stride = random_chance(r, 50) ? axis.taps : random_pick(r, 1, 12);
	}
	return axis;
}

static void test_every_element(void **state)
{
	struct random r = { 5 };
	u32 found[NPU_AVERAGE_MAX_STEPS + 1] = { 0 }, round, i;

	for (round = 0; round < 1500; round++) {
		const struct nvdla_config *config =
			nvdla_config_find(configs[round % ARRAY_SIZE(configs)]);
		struct npu_average_axis y = pick_axis(&r), x = pick_axis(&r);
		u64 bank = (u64)config->entries * config->entry_bytes;
		struct npu_average_steps steps;

		if (!npu_plan_average(config, &y, &x, random_pick(&r, 1, 90), &steps))
			continue;
		assert_true(steps.count && steps.count <= NPU_AVERAGE_MAX_STEPS);
		check_axis(&steps, true, &y);
		check_axis(&steps, false, &x);
		for (i = 0; i < steps.count; i++) {
			const struct npu_window *w = &steps.step[i].window;

			assert_true(bytes_of(config, &steps, i) <= 3 * bank);
			/* What hi and rest hold. */
			if (i + 1 < steps.count)
				assert_true(w->r * w->s <= NPU_AVERAGE_UNIT);
		}
		found[steps.count]++;
	}
	assert_true(found[1] > 50 && found[2] > 300 && found[3] > 200);
}

static void test_known(void **state)
{
	static const struct {
		u32 taps, out, stride, count[2];
	} list[] = {
		/* Steps on nv_small and on nv_large. */
		{ 7, 1, 1, { 1, 1 } },	 { 14, 1, 1, { 2, 2 } }, /* global: 14 x 14 */
		{ 56, 1, 1, { 2, 3 } },	 { 112, 1, 1, { 3, 3 } },
		{ 30, 2, 30, { 2, 2 } }, /* a pyramid over 60 x 60 */
		{ 20, 3, 20, { 2, 2 } }, { 10, 6, 10, { 2, 2 } },
		{ 13, 3, 13, { 0, 0 } }, /* a stride beyond the register that nothing divides */
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(list); i++)
		for (k = 0; k < 2; k++) {
			const struct npu_average_axis axis = { list[i].out, list[i].taps,
							       list[i].stride, 1 };
			struct npu_average_steps steps = { 0 };
			bool good = npu_plan_average(nvdla_config_find(k ? "nv_large" : "nv_small"),
						     &axis, &axis, 64, &steps);

			assert_int_equal(good ? steps.count : 0, list[i].count[k]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_element),
		cmocka_unit_test(test_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
