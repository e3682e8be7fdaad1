// SPDX-License-Identifier: MIT
#include "quantise/range.h"

#include <math.h>

const char *const npu_range_method_names[NPU_RANGE_METHOD_COUNT] = {
	[NPU_RANGE_MINMAX] = "minmax",
	[NPU_RANGE_PERCENTILE] = "percentile",
	[NPU_RANGE_KL] = "kl",
	[NPU_RANGE_MSE] = "mse",
};

/* Steps of INT8 between its least and its largest value. */
#define STEPS 255

/* The fewest bins that clipping leaves on each side: with fewer, levels are finer than bins. */
#define LEAST_CLIP 128u

void npu_range_to_quant(float low, float high, float *scale, s32 *zero)
{
	double least = min(low, 0.0f), most = max(high, 0.0f);
	double step = (most - least) / STEPS;

	/* Nothing but zeros: any scale will do. */
	if (step < 1e-30) {
		*scale = 1;
		*zero = 0;
		return;
	}
	*scale = (float)step;
	*zero = (s32)max(min(round(INT8_MIN - least / step), (double)INT8_MAX), (double)INT8_MIN);
}

void npu_histogram_add(struct npu_histogram *histogram, float value)
{
	double half = histogram->half, last = 2 * half - 1;
	double bin;

	if (value == 0)
		return;
	bin = floor((double)value / (double)histogram->reach * half) + half;
	histogram->bin[(u32)max(min(bin, last), 0.0)]++;
}

static double bin_width(const struct npu_histogram *h)
{
	return (double)h->reach / h->half;
}

/* What the values of bin @i are taken for. */
static double bin_centre(const struct npu_histogram *h, u32 i)
{
	return ((double)i - h->half + 0.5) * bin_width(h);
}

static u64 count_values(const struct npu_histogram *h)
{
	u64 count = 0;
	u32 i;

	for (i = 0; i < 2 * h->half; i++)
		count += h->bin[i];
	return count;
}

/* ---- percentile ---- */

static void choose_percentile(const struct npu_histogram *h, double percentile, float *low,
			      float *high)
{
	/* The share may be off in its last digits: a whole number of values is meant. */
	double outside = (double)count_values(h) * (100 - percentile) / 100 + 1e-6;
	u64 below = 0, above = 0;
	u32 first = 0, last = 2 * h->half;

	/* A bin is left out as long as all that lies up to its far edge may be. */
	while (first < h->half && (double)(below + h->bin[first]) <= outside)
		below += h->bin[first++];
	while (last > h->half && (double)(above + h->bin[last - 1]) <= outside)
		above += h->bin[--last];
	*low = (float)max((double)h->min, ((double)first - h->half) * bin_width(h));
	*high = (float)min((double)h->max, ((double)last - h->half) * bin_width(h));
}

/* ---- relative entropy ---- */

/* Bins [first, end) that [-clip, clip] and the values cover. */
struct cover {
	u32 first, end;
};

static struct cover cover_of(const struct npu_histogram *h, u32 clip)
{
	double width = bin_width(h);
	u32 below = h->min < 0 ? (u32)min(ceil(-(double)h->min / width), (double)clip) : 0;
	u32 above = h->max > 0 ? (u32)min(ceil((double)h->max / width), (double)clip) : 0;

	return (struct cover){ h->half - below, h->half + above };
}

/* What lies outside goes into the bins at the edges, as saturation does. */
static double clipped_count(const struct npu_histogram *h, struct cover cover, u32 i)
{
	u64 count = h->bin[i];
	u32 j;

	if (i == cover.first)
		for (j = 0; j < cover.first; j++)
			count += h->bin[j];
	if (i + 1 == cover.end)
		for (j = cover.end; j < 2 * h->half; j++)
			count += h->bin[j];
	return (double)count;
}

/*
 * One level stands for the bins [from, to): what is inside of them is spread evenly over those
 * that are not empty.  Adds p * log(p / q); @inside is the sum of all q.
 */
static bool add_level(const struct npu_histogram *h, struct cover cover, u32 from, u32 to,
		      double all, double inside, double *divergence)
{
	u64 sum = 0;
	u32 i, used = 0;

	for (i = from; i < to; i++) {
		sum += h->bin[i];
		used += h->bin[i] != 0;
	}
	for (i = from; i < to; i++) {
		double p = clipped_count(h, cover, i) / all;
		double q = h->bin[i] ? (double)sum / used / inside : 0;

		if (p > 0 && q <= 0)
			return false;
		if (p > 0)
			*divergence += p * log(p / q);
	}
	return true;
}

double npu_range_divergence(const struct npu_histogram *h, u32 clip, u32 levels)
{
	struct cover cover = cover_of(h, clip);
	u32 bins = cover.end - cover.first, level, i;
	double all = (double)count_values(h), divergence = 0;
	u64 inside = 0;

	for (i = cover.first; i < cover.end; i++)
		inside += h->bin[i];
	if (!inside || bins < levels)
		return -1;
	for (level = 0; level < levels; level++)
		if (!add_level(h, cover, cover.first + (u32)((u64)bins * level / levels),
			       cover.first + (u32)((u64)bins * (level + 1) / levels), all,
			       (double)inside, &divergence))
			return -1;
	return max(divergence, 0.0);
}

/* ---- mean squared error ---- */

double npu_range_error(const struct npu_histogram *h, float low, float high)
{
	double sum = 0, count = (double)count_values(h), real, stored;
	float scale;
	s32 zero;
	u32 i;

	npu_range_to_quant(low, high, &scale, &zero);
	for (i = 0; i < 2 * h->half; i++) {
		if (!h->bin[i])
			continue;
		real = bin_centre(h, i);
		stored = round(real / (double)scale) + zero;
		stored = max(min(stored, (double)INT8_MAX), (double)INT8_MIN);
		real -= (double)scale * (stored - zero);
		sum += real * real * (double)h->bin[i];
	}
	return count > 0 ? sum / count : 0;
}

/* ---- choice ---- */

static void clip_range(const struct npu_histogram *h, u32 clip, float *low, float *high)
{
	double magnitude = clip * bin_width(h);

	*low = (float)max((double)h->min, -magnitude);
	*high = (float)min((double)h->max, magnitude);
}

static double clip_cost(const struct npu_histogram *h, enum npu_range_method method, u32 clip)
{
	float low, high;

	if (method == NPU_RANGE_KL)
		return npu_range_divergence(h, clip, STEPS);
	clip_range(h, clip, &low, &high);
	return npu_range_error(h, low, high);
}

/* Of all clips, widest first: a narrower one has to be better. */
static void choose_clip(const struct npu_histogram *h, enum npu_range_method method, float *low,
			float *high)
{
	u32 clip, best = h->half, step = max(h->half / 256, 1u);
	double least = INFINITY;

	for (clip = h->half; clip >= LEAST_CLIP && clip <= h->half; clip -= step) {
		double cost = clip_cost(h, method, clip);

		if (cost >= 0 && cost < least) {
			least = cost;
			best = clip;
		}
	}
	clip_range(h, best, low, high);
}

void npu_range_choose(const struct npu_histogram *h, const struct npu_calibrate_options *options,
		      float *low, float *high)
{
	*low = h->min;
	*high = h->max;
	if (options->method == NPU_RANGE_PERCENTILE)
		choose_percentile(h, options->percentile, low, high);
	else if (options->method == NPU_RANGE_KL || options->method == NPU_RANGE_MSE)
		choose_clip(h, options->method, low, high);
	*low = min(*low, 0.0f);
	*high = max(*high, 0.0f);
}
