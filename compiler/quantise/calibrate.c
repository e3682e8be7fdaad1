// SPDX-License-Identifier: MIT
/*
 * What the elements of all tensors are over samples: extremes first, then
 * distributions, then ranges.
 */
#include <math.h>
#include <stdlib.h>

#include "quantise/equalise.h"
#include "quantise/evaluate.h"
#include "quantise/range.h"
#include "quantise/rewrite.h"

/* What was seen of one tensor; all zero for those that do not count. */
struct observation {
	struct npu_histogram histogram;
	u32 channels;
	u64 rows; /* elements of each channel */
	float *most; /* of each channel: largest magnitude */
	double *sum; /* of each channel */
};

struct calibrator {
	struct npu_graph *graph;
	const struct npu_samples *samples;
	const struct npu_calibrate_options *options;
	struct npu_calibration *calibration;
	struct npu_evaluation *evaluation;
	struct npu_arena arena;
	struct observation *seen; /* of each tensor */
	struct npu_diag *diag;
};

typedef int (*observe_fn)(struct calibrator *c, u32 tensor);

static int no_memory(const struct calibrator *c)
{
	return npu_diag_set(c->diag, -ENOMEM, "%s: out of memory", c->graph->file);
}

static int observe_extremes(struct calibrator *c, u32 tensor)
{
	const struct npu_tensor *t = &c->graph->tensor[tensor];
	struct observation *o = &c->seen[tensor];
	const float *value = c->evaluation->value[tensor];
	size_t i, count = npu_tensor_elements(t);

	if (!o->channels) {
		o->channels = t->rank ? t->dim[t->rank - 1] : 1;
		o->most = npu_arena_array(&c->arena, o->channels, sizeof(*o->most));
		o->sum = npu_arena_array(&c->arena, o->channels, sizeof(*o->sum));
		if (!o->most || !o->sum)
			return no_memory(c);
		o->histogram.min = o->histogram.max = value[0];
	}
	for (i = 0; i < count; i++) {
		u32 channel = (u32)(i % o->channels);

		if (!isfinite(value[i]))
			return npu_diag_set(c->diag, -EINVAL,
					    "%s: %.100s: element %zu is not a finite number",
					    c->graph->file, t->name, i);
		o->histogram.min = min(o->histogram.min, value[i]);
		o->histogram.max = max(o->histogram.max, value[i]);
		o->most[channel] = max(o->most[channel], fabsf(value[i]));
		o->sum[channel] += (double)value[i];
	}
	o->rows += count / o->channels;
	return 0;
}

static int observe_distribution(struct calibrator *c, u32 tensor)
{
	struct npu_histogram *histogram = &c->seen[tensor].histogram;
	const float *value = c->evaluation->value[tensor];
	size_t i, count = npu_tensor_elements(&c->graph->tensor[tensor]);

	if (!histogram->bin) {
		histogram->half = NPU_HISTOGRAM_HALF;
		histogram->reach = max(fabsf(histogram->min), fabsf(histogram->max));
		histogram->bin = npu_arena_array(&c->arena, 2 * (size_t)histogram->half,
						 sizeof(*histogram->bin));
		if (!histogram->bin)
			return no_memory(c);
	}
	for (i = 0; i < count; i++)
		npu_histogram_add(histogram, value[i]);
	return 0;
}

static int observe_sample(struct calibrator *c, observe_fn observe)
{
	const struct npu_graph *graph = c->graph;
	int error = npu_evaluate(c->evaluation, c->diag);
	u32 i;

	for (i = 0; i < graph->input_count && !error; i++)
		if (graph->tensor[graph->input[i]].dtype == NPU_F32)
			error = observe(c, graph->input[i]);
	for (i = 0; i < graph->op_count && !error; i++)
		if (npu_op_output(graph, &graph->op[i])->dtype == NPU_F32)
			error = observe(c, graph->op[i].output[0]);
	return error;
}

static int observe_all(struct calibrator *c, observe_fn observe)
{
	u32 i;
	int error = 0;

	for (i = 0; i < c->samples->count && !error; i++) {
		error = npu_evaluation_load(c->evaluation, c->samples, i, c->diag);
		if (!error)
			error = observe_sample(c, observe);
	}
	return error;
}

/* ---- equalisation ---- */

static int equalise_pair(struct calibrator *c, const struct npu_pair *pair)
{
	struct npu_arena *arena = &c->calibration->arena;
	float *factor = npu_arena_array(arena, pair->channels, sizeof(*factor));
	const char *name = npu_calibration_name(arena, c->graph, pair->tensor);
	struct npu_range *range = name ? npu_calibration_add(c->calibration, name) : NULL;

	if (!factor || !range)
		return no_memory(c);
	npu_equalise_factors(c->graph, pair, c->seen[pair->tensor].most, factor);
	range->equalise = factor;
	range->equalise_count = pair->channels;
	return 0;
}

static int equalise(struct calibrator *c)
{
	struct npu_pair *pairs;
	u32 count, i;
	int error = npu_equalise_find(c->graph, c->options->equalise, &pairs, &count);

	if (error)
		no_memory(c);
	if (!error && count)
		error = observe_all(c, observe_extremes);
	for (i = 0; i < count && !error; i++)
		error = equalise_pair(c, &pairs[i]);
	free(pairs);
	if (!error && count) {
		error = npu_calibration_equalise(c->graph, c->calibration, c->diag);
		memset(c->seen, 0, c->graph->tensor_count * sizeof(*c->seen));
	}
	return error;
}

int npu_calibration_equalise(struct npu_graph *graph, const struct npu_calibration *calibration,
			     struct npu_diag *diag)
{
	struct npu_arena arena = { 0 };
	struct npu_pair *pairs;
	u32 count, i;
	int error = npu_equalise_find(graph, NPU_EQUALISE_ALL, &pairs, &count);

	for (i = 0; i < count && !error; i++) {
		const char *name = npu_calibration_name(&arena, graph, pairs[i].tensor);
		const struct npu_range *range = name ? npu_calibration_find(calibration, name)
						     : NULL;

		if (!name)
			error = -ENOMEM;
		else if (range && range->equalise && range->equalise_count != pairs[i].channels)
			error = npu_diag_set(diag, -EINVAL,
					     "%s: %.100s: %u factors for %u channels", graph->file,
					     name, range->equalise_count, pairs[i].channels);
		else if (range && range->equalise)
			npu_equalise_apply(graph, &pairs[i], range->equalise);
	}
	free(pairs);
	npu_arena_free(&arena);
	return error ? npu_diag_set(diag, error, "%s: %s", graph->file, strerror(-error)) : 0;
}

/* ---- ranges ---- */

static struct npu_range *range_of(struct calibrator *c, u32 tensor)
{
	struct npu_calibration *calibration = c->calibration;
	const char *name = npu_calibration_name(&calibration->arena, c->graph, tensor);
	u32 i;

	if (!name)
		return NULL;
	/* Those that were equalised have a row already. */
	for (i = 0; i < calibration->count; i++)
		if (!strcmp(calibration->range[i].name, name))
			return &calibration->range[i];
	return npu_calibration_add(calibration, name);
}

static int choose_range(struct calibrator *c, u32 tensor)
{
	const struct observation *o = &c->seen[tensor];
	struct npu_range *range = range_of(c, tensor);
	u32 i;

	if (!range)
		return no_memory(c);
	npu_range_choose(&o->histogram, c->options, &range->min, &range->max);
	range->channels = o->channels;
	range->mean = npu_arena_array(&c->calibration->arena, o->channels, sizeof(*range->mean));
	if (!range->mean)
		return no_memory(c);
	for (i = 0; i < o->channels; i++)
		range->mean[i] = (float)(o->sum[i] / (double)o->rows);
	return 0;
}

static int choose_ranges(struct calibrator *c)
{
	u32 i;
	int error = 0;

	for (i = 0; i < c->graph->tensor_count && !error; i++)
		if (c->seen[i].channels)
			error = choose_range(c, i);
	return error;
}

static int calibrate(struct calibrator *c)
{
	int error;

	c->calibration = npu_calibration_new();
	c->evaluation = npu_evaluation_new(c->graph);
	c->seen = npu_arena_array(&c->arena, c->graph->tensor_count, sizeof(*c->seen));
	if (!c->calibration || !c->evaluation || !c->seen)
		return no_memory(c);
	c->calibration->method = npu_range_method_names[c->options->method];
	c->calibration->samples = c->samples->count;
	error = equalise(c);
	if (!error)
		error = observe_all(c, observe_extremes);
	if (!error && c->options->method != NPU_RANGE_MINMAX)
		error = observe_all(c, observe_distribution);
	return error ? error : choose_ranges(c);
}

int npu_calibrate(struct npu_graph *prepared, const struct npu_samples *samples,
		  const struct npu_calibrate_options *options, struct npu_calibration **calibration,
		  struct npu_diag *diag)
{
	struct calibrator c = {
		.graph = prepared, .samples = samples, .options = options, .diag = diag
	};
	int error;

	if (!samples->count)
		return npu_diag_set(diag, -EINVAL, "%s: no samples to calibrate with",
				    prepared->file);
	error = calibrate(&c);
	npu_evaluation_free(c.evaluation);
	npu_arena_free(&c.arena);
	if (error)
		npu_calibration_free(c.calibration);
	else
		*calibration = c.calibration;
	return error;
}
