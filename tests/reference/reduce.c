// SPDX-License-Identifier: MIT
/* Mean, sum, product, extremes and their indices along dimensions (reference/reduce.h, arg_min_max.h). */
#include "kernels.h"

#include <stdlib.h>

/* Where input element @i goes: its index without the reduced dimensions. */
static size_t reduced_index(const struct ref_run *run, const struct npu_tensor *in, size_t i)
{
	size_t index = 0, step = 1;
	u32 d;

	for (d = in->rank; d--;) {
		if (!(run->op->axes >> d & 1)) {
			index += i % in->dim[d] * step;
			step *= in->dim[d];
		}
		i /= in->dim[d];
	}
	return index;
}

/* 1 / count joins the scale, as far as its bits go (QuantizedMeanOrSum). */
static struct ref_scale mean_scale(const struct ref_view *in, const struct ref_view *out, s64 count)
{
	struct ref_scale scale = ref_scale_of((double)in->scale / (double)out->scale);
	int shift = 63 - __builtin_clzll(count);

	shift = min(shift, 32);
	shift = min(shift, 31 + scale.shift);
	scale.multiplier = ((s64)scale.multiplier << shift) / count;
	scale.shift -= shift;
	return scale;
}

static void mean_fixed(const struct ref_run *run, const struct ref_view *in,
		       const struct ref_view *out, s32 *sums)
{
	size_t i, results = npu_tensor_elements(out->tensor);
	size_t elements = npu_tensor_elements(in->tensor);
	s64 count = elements / results;
	struct ref_scale scale = run->op->kind == NPU_OP_REDUCE_SUM
					 ? ref_scale_of((double)in->scale / (double)out->scale)
					 : mean_scale(in, out, count);

	for (i = 0; i < elements; i++)
		sums[reduced_index(run, in->tensor, i)] += ref_load(in, i);
	for (i = 0; i < results; i++)
		ref_store(run, out, ref_range(run), i,
			  (s64)ref_multiply((s32)(sums[i] - in->zero * count), scale) + out->zero);
}

static void mean_float(const struct ref_run *run, const struct ref_view *in,
		       const struct ref_view *out)
{
	size_t i, results = npu_tensor_elements(out->tensor);
	size_t elements = npu_tensor_elements(in->tensor);
	float *sums = out->data;

	memset(sums, 0, out->tensor->bytes);
	for (i = 0; i < elements; i++)
		sums[reduced_index(run, in->tensor, i)] += ((const float *)in->data)[i];
	for (i = 0; i < results; i++) {
		if (run->op->kind == NPU_OP_MEAN)
			sums[i] /= (float)(elements / results);
		sums[i] = ref_clamp_float(run, sums[i]);
	}
}

int ref_mean(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	s32 *sums;

	if (ref_is_float(&in)) {
		mean_float(run, &in, &out);
		return 0;
	}
	sums = calloc(npu_tensor_elements(out.tensor), sizeof(*sums));
	if (!sums)
		return npu_diag_set(run->diag, -ENOMEM, "%s: out of memory", run->graph->file);
	mean_fixed(run, &in, &out, sums);
	free(sums);
	return 0;
}

/* Whether element @a comes before element @b in the search for the greatest, or the least. */
static bool is_more(const struct ref_view *in, size_t a, size_t b, bool least)
{
	double x = ref_is_float(in) ? (double)((const float *)in->data)[a] : ref_load(in, a);
	double y = ref_is_float(in) ? (double)((const float *)in->data)[b] : ref_load(in, b);

	return least ? x < y : x > y;
}

static void store_extreme(const struct ref_run *run, const struct ref_view *in,
			  const struct ref_view *out, size_t i, size_t from)
{
	if (ref_is_float(in))
		((float *)out->data)[i] = ref_clamp_float(run, ((const float *)in->data)[from]);
	else
		ref_store(run, out, ref_range(run), i, ref_load(in, from));
}

static void find_extremes(const struct ref_run *run, const struct ref_view *in,
			  const struct ref_view *out, size_t *found)
{
	size_t i, elements = npu_tensor_elements(in->tensor);
	size_t results = npu_tensor_elements(out->tensor);

	for (i = 0; i < results; i++)
		found[i] = SIZE_MAX;
	for (i = 0; i < elements; i++) {
		size_t o = reduced_index(run, in->tensor, i);

		if (found[o] == SIZE_MAX ||
		    is_more(in, i, found[o], run->op->kind == NPU_OP_REDUCE_MIN))
			found[o] = i;
	}
	for (i = 0; i < results; i++)
		store_extreme(run, in, out, i, found[i]);
}

static void multiply(const struct ref_run *run, const struct ref_view *in,
		     const struct ref_view *out)
{
	size_t i, elements = npu_tensor_elements(in->tensor);
	size_t results = npu_tensor_elements(out->tensor);
	float *product = out->data;

	for (i = 0; i < results; i++)
		product[i] = 1;
	for (i = 0; i < elements; i++)
		product[reduced_index(run, in->tensor, i)] *= ((const float *)in->data)[i];
	for (i = 0; i < results; i++)
		product[i] = ref_clamp_float(run, product[i]);
}

int ref_reduce(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	size_t *found;

	if (run->op->kind == NPU_OP_REDUCE_PROD) {
		multiply(run, &in, &out);
		return 0;
	}
	found = calloc(npu_tensor_elements(out.tensor), sizeof(*found));
	if (!found)
		return npu_diag_set(run->diag, -ENOMEM, "%s: out of memory", run->graph->file);
	find_extremes(run, &in, &out, found);
	free(found);
	return 0;
}

int ref_arg_extreme(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	const u32 size = in.tensor->dim[run->op->axis];
	size_t inner = 1, o, results = npu_tensor_elements(out.tensor);
	u32 d, i;

	for (d = run->op->axis + 1; d < in.tensor->rank; d++)
		inner *= in.tensor->dim[d];
	for (o = 0; o < results; o++) {
		size_t first = o / inner * size * inner + o % inner;
		u32 found = 0;

		for (i = 1; i < size; i++)
			if (is_more(&in, first + i * inner, first + found * inner,
				    run->op->kind == NPU_OP_ARG_MIN))
				found = i;
		if (out.tensor->dtype == NPU_I64)
			((s64 *)out.data)[o] = found;
		else
			((s32 *)out.data)[o] = found;
	}
	return 0;
}

struct ranked {
	double value;
	u32 index;
};

/* Less first; of equal ones the earlier. */
static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value ? 1 : (int)x->index - (int)y->index;
}

static void rank_line(const struct ref_view *in, size_t first, size_t inner, u32 size, bool least,
		      struct ranked *line)
{
	u32 i;

	for (i = 0; i < size; i++) {
		size_t at = first + i * inner;
		double value = ref_is_float(in) ? (double)((const float *)in->data)[at]
						: ref_load(in, at);

		line[i] = (struct ranked){ least ? value : -value, i };
	}
	qsort(line, size, sizeof(*line), by_value);
}

int ref_top(const struct ref_run *run)
{
	struct ref_view in = ref_input(run, 0), out = ref_output(run);
	const u32 size = in.tensor->dim[run->op->axis], take = out.tensor->dim[run->op->axis];
	struct ranked *ranked = calloc(size, sizeof(*ranked));
	size_t inner = 1, line, lines = npu_tensor_elements(in.tensor) / size;
	u32 d, i;

	if (!ranked)
		return npu_diag_set(run->diag, -ENOMEM, "%s: out of memory", run->graph->file);
	for (d = run->op->axis + 1; d < in.tensor->rank; d++)
		inner *= in.tensor->dim[d];
	for (line = 0; line < lines; line++) {
		size_t outer = line / inner, column = line % inner;

		rank_line(&in, outer * size * inner + column, inner, size,
			  run->op->kind == NPU_OP_TOP_LEAST, ranked);
		for (i = 0; i < take; i++) {
			size_t to = (outer * take + i) * inner + column;

			if (out.tensor->dtype == NPU_I64)
				((s64 *)out.data)[to] = ranked[i].index;
			else
				((s32 *)out.data)[to] = (s32)ranked[i].index;
		}
	}
	free(ranked);
	return 0;
}
