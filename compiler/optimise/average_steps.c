// SPDX-License-Identifier: MIT
/* Which kernels of ones make the windows of an average: the search for the cheapest steps. */
#include "average.h"
#include "price.h"

#include "nvdla_cbuf.h"

/* Banks that a kernel group of ones may take: smaller budgets than four banks are not expected. */
#define ONES_MAX_BANKS 3u

/* The larger of both numbers' common divisors that are no more than @most. */
static u32 common_divisor(u32 a, u32 b, u32 most)
{
	u32 i;

	for (i = min(most, min(a, b)); a % i || b % i; i--)
		;
	return i;
}

/* A kernel is dear where windows and atoms are large; behind the first step it has two surfaces. */
static bool fits_banks(const struct nvdla_config *config, u32 r, u32 s, bool first)
{
	u64 bytes = (u64)r * s * config->atom * config->atomic_k * (first ? 1 : 2);

	return nvdla_cbuf_weight_banks(config, bytes) <= ONES_MAX_BANKS;
}

static bool fits_axis(const struct npu_average_axis *axis)
{
	return axis->taps <= NPU_CONV_MAX_KERNEL && axis->dilation <= NPU_CONV_MAX_DILATION &&
	       axis->stride <= NPU_CONV_MAX_STRIDE;
}

/* How many elements there are. */
static u32 extent(const struct npu_average_axis *axis)
{
	return (axis->out - 1) * axis->stride + (axis->taps - 1) * axis->dilation + 1;
}

/**
 * struct half - what a step does along one axis
 * @stride: of its windows of @taps
 * @rest: windows over its outputs
 */
struct half {
	u32 taps, stride;
	struct npu_average_axis rest;
};

/*
 * Windows of @taps elements each.  Several outputs share them, so that they have to divide the windows;
 * of a single one the last may be padded.
 */
static bool make_half(const struct npu_average_axis *axis, u32 taps, struct half *half)
{
	u32 count = DIV_ROUND_UP(axis->taps, taps), apart = taps * axis->dilation;

	*half = (struct half){ taps, 1, { axis->out, count, 1, 1 } };
	if (axis->out == 1) {
		half->stride = count > 1 ? taps : 1;
		return half->stride <= NPU_CONV_MAX_STRIDE;
	}
	if (axis->taps % taps)
		return false;
	/* Those of one output lie a whole number of strides apart, and so do those of two. */
	half->stride = common_divisor(count == 1 ? axis->stride : apart, axis->stride,
				      NPU_CONV_MAX_STRIDE);
	half->rest.stride = axis->stride / half->stride;
	half->rest.dilation = count == 1 ? 1 : apart / half->stride;
	return axis->dilation <= NPU_CONV_MAX_DILATION;
}

/* Appends a step; its cycles for one surface of the output, without what tasks cost. */
static u64 add_step(const struct nvdla_config *config, struct npu_average_steps *steps,
		    const struct half *y, const struct half *x, u32 dilation_y, u32 dilation_x)
{
	u32 channels = config->atom * (steps->count ? 2 : 1), h = extent(&y->rest),
	    w = extent(&x->rest);

	steps->step[steps->count].window =
		(struct npu_window){ y->taps,	 x->taps, y->stride, x->stride, dilation_y,
				     dilation_x, 0,	  0,	     0,		0 };
	steps->step[steps->count].h = h;
	steps->step[steps->count].w = w;
	steps->count++;
	return (u64)h * w * y->taps * x->taps * DIV_ROUND_UP(channels, (u32)config->atomic_c) *
	       DIV_ROUND_UP((u32)config->atom, (u32)config->atomic_k);
}

/**
 * struct search - of the cheapest steps
 * @surfaces: of the input
 * @best: so far; cycles UINT64_MAX: none
 */
struct search {
	const struct nvdla_config *config;
	u32 surfaces;
	struct npu_average_steps best;
};

/* A window as large as all windows, in the end. */
static bool try_last(struct search *search, const struct npu_average_axis *y,
		     const struct npu_average_axis *x, struct npu_average_steps steps)
{
	const struct half rows = { y->taps, y->stride, { y->out, 1, 1, 1 } };
	const struct half columns = { x->taps, x->stride, { x->out, 1, 1, 1 } };
	u64 cycles;

	if (!fits_axis(y) || !fits_axis(x) ||
	    !fits_banks(search->config, y->taps, x->taps, !steps.count))
		return false;
	cycles = add_step(search->config, &steps, &rows, &columns, y->dilation, x->dilation);
	steps.cycles += search->surfaces * (cycles + NPU_PRICE_PASS);
	if (steps.cycles < search->best.cycles)
		search->best = steps;
	return true;
}

static void try_steps(struct search *search, const struct npu_average_axis *y,
		      const struct npu_average_axis *x, struct npu_average_steps steps);

static void try_first(struct search *search, const struct npu_average_axis *y, const struct half *x,
		      u32 dilation_x, u32 taps, struct npu_average_steps steps)
{
	struct half rows;
	u64 cycles;

	if (taps * x->taps == 1 || !make_half(y, taps, &rows) ||
	    !fits_banks(search->config, taps, x->taps, !steps.count))
		return;
	cycles = add_step(search->config, &steps, &rows, x, y->dilation, dilation_x);
	/* Once for hi and once for rest. */
	steps.cycles += 2 * search->surfaces * (cycles + NPU_PRICE_PASS);
	if (steps.cycles < search->best.cycles)
		try_steps(search, &rows.rest, &x->rest, steps);
}

/* All that is left in one step, or any first one and what it leaves. */
static void try_steps(struct search *search, const struct npu_average_axis *y,
		      const struct npu_average_axis *x, struct npu_average_steps steps)
{
	struct half columns;
	u32 r, s;

	if (try_last(search, y, x, steps) || steps.count + 1 >= NPU_AVERAGE_MAX_STEPS)
		return;
	for (s = 1; s <= min(x->taps, NPU_CONV_MAX_KERNEL); s++) {
		if (!make_half(x, s, &columns))
			continue;
		for (r = 1; r <= min(y->taps, NPU_AVERAGE_UNIT / s) && r <= NPU_CONV_MAX_KERNEL;
		     r++)
			try_first(search, y, &columns, x->dilation, r, steps);
	}
}

bool npu_plan_average(const struct nvdla_config *config, const struct npu_average_axis *y,
		      const struct npu_average_axis *x, u32 channels,
		      struct npu_average_steps *steps)
{
	struct search search = {
		.config = config,
		.surfaces = DIV_ROUND_UP(channels, (u32)config->atom),
		.best.cycles = UINT64_MAX,
	};
	struct npu_average_axis rows = *y, columns = *x;

	/* A stride that is never taken may be larger than the register holds. */
	rows.stride = rows.out == 1 ? 1 : rows.stride;
	columns.stride = columns.out == 1 ? 1 : columns.stride;
	try_steps(&search, &rows, &columns, (struct npu_average_steps){ 0 });
	*steps = search.best;
	return search.best.cycles != UINT64_MAX;
}
