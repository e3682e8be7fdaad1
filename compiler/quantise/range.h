/* SPDX-License-Identifier: MIT */
/* Distributions of values, and the ranges that the methods make of them. */
#ifndef NPU_QUANTISE_RANGE_H
#define NPU_QUANTISE_RANGE_H

#include "quantise/quantise.h"

/**
 * struct npu_histogram - how often values occurred
 * @min, @max: the extreme ones
 * @reach: the largest magnitude that has a bin
 * @half: bins on each side of zero; bin i holds values from (i - half) * reach / half on
 * @bin: 2 * @half counts
 */
struct npu_histogram {
	float min, max;
	float reach;
	u32 half;
	u64 *bin;
};

/* Bins on each side of zero, where nothing else is asked for. */
#define NPU_HISTOGRAM_HALF 2048u

/* Zeros do not count: INT8 has them exactly, whatever the range. */
void npu_histogram_add(struct npu_histogram *histogram, float value);

/**
 * npu_range_choose() - the range [*low, *high] that @options ask for
 *
 * It contains zero.  Methods that cut off clip both sides at one magnitude, a multiple of the
 * bins' width.
 */
void npu_range_choose(const struct npu_histogram *histogram,
		      const struct npu_calibrate_options *options, float *low, float *high);

/* Relative entropy (nats) that @levels over [-clip, clip] lose, @clip in bins; < 0: none. */
double npu_range_divergence(const struct npu_histogram *histogram, u32 clip, u32 levels);

/* Mean squared error of rounding and clipping to 8 bits over [low, high]. */
double npu_range_error(const struct npu_histogram *histogram, float low, float high);

/* Scale and zero point of INT8 for a range. */
void npu_range_to_quant(float low, float high, float *scale, s32 *zero);

#endif /* NPU_QUANTISE_RANGE_H */
