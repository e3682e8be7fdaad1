/* SPDX-License-Identifier: MIT */
/*
 * Averages of any window.  A kernel of ones that takes too much of the buffer is made of several, one
 * after the other: first windows of at most 64 elements, then windows of their means.  A mean between
 * steps is a sum over the power of two above its elements, in two bytes, *hi* and *rest*:
 *
 *     mean = hi - rest / 64,	hi rounded to the nearest unit, rest from -32 to 32
 *
 * which is exact behind the first step and right to a 128th of a unit behind a second one, so that only
 * the end rounds to units.  The kernel of the next step has 64 for hi and -1 for rest.
 */
#ifndef NPU_AVERAGE_H
#define NPU_AVERAGE_H

#include "optimise.h"

/* What hi counts in units of rest; and the most elements of a window in front of the last step. */
#define NPU_AVERAGE_UNIT 64u

#define NPU_AVERAGE_MAX_STEPS 3u

/**
 * struct npu_average_axis - windows along height or width
 * @out: how many
 * @taps, @dilation: elements of each, and how far apart they are
 * @stride: from one window to the next
 *
 * They begin with the first element and end with the last one.
 */
struct npu_average_axis {
	u32 out, taps, stride, dilation;
};

/**
 * struct npu_average_steps - convolutions for all windows
 * @window: of each step; padding behind counts as nothing
 * @h, @w: of its output
 * @cycles: for all channels, at the least
 */
struct npu_average_steps {
	u32 count;
	struct {
		struct npu_window window;
		u32 h, w;
	} step[NPU_AVERAGE_MAX_STEPS];
	u64 cycles;
};

/**
 * npu_plan_average() - one step where its kernel is small enough, else the cheapest two or three
 *
 * Return: false: there is no way.
 */
bool npu_plan_average(const struct nvdla_config *config, const struct npu_average_axis *y,
		      const struct npu_average_axis *x, u32 channels,
		      struct npu_average_steps *steps);

/**
 * struct npu_average - an average on its way
 * @op: which
 * @input, @output: values; the whole cubes
 * @factor: of sums of stored values, in units of the output
 * @bias: added to these sums
 * @raw: of stored values, whose zero points play no part
 */
struct npu_average {
	u32 op;
	u32 input, output;
	double factor;
	s64 bias;
	bool raw;
};

/*
 * Appends the layers of @steps; the last one completes the operator, unless @is_part.  Returns as lowering
 * does.
 */
int npu_lower_steps(struct npu_opt *opt, const struct npu_average *average,
		    const struct npu_average_steps *steps, bool is_part);

#endif /* NPU_AVERAGE_H */
