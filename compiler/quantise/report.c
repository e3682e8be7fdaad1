// SPDX-License-Identifier: MIT
/* How far an integer graph's values are from the float graph's, layer by layer. */
#include <math.h>
#include <stdlib.h>

#include "quantise/evaluate.h"
#include "quantise/quantise.h"

struct comparison {
	double signal, noise, product, stored;
};

static void compare(struct comparison *sum, const struct npu_tensor *a, const void *value_a,
		    const struct npu_tensor *b, const void *value_b)
{
	size_t i, count = npu_tensor_elements(a);

	for (i = 0; i < count; i++) {
		double real = npu_real_value(a, value_a, i), stored = npu_real_value(b, value_b, i);

		sum->signal += real * real;
		sum->noise += (real - stored) * (real - stored);
		sum->product += real * stored;
		sum->stored += stored * stored;
	}
}

static int compare_sample(struct comparison *sum, struct npu_evaluation *real,
			  struct npu_evaluation *stored, struct npu_diag *diag)
{
	const struct npu_graph *graph = real->graph, *quantised = stored->graph;
	int error;
	u32 i;

	for (i = 0; i < graph->input_count; i++)
		memcpy(stored->value[quantised->input[i]], real->value[graph->input[i]],
		       graph->tensor[graph->input[i]].bytes);
	error = npu_evaluate(real, diag);
	if (!error)
		error = npu_evaluate(stored, diag);
	for (i = 0; i < graph->op_count && !error; i++) {
		u32 out = graph->op[i].output[0];

		if (graph->tensor[out].dtype == NPU_F32)
			compare(&sum[i], &graph->tensor[out], real->value[out],
				&quantised->tensor[out], stored->value[out]);
	}
	return error;
}

static double decibels(const struct comparison *sum)
{
	if (!(sum->noise > 0))
		return INFINITY;
	return sum->signal > 0 ? 10 * log10(sum->signal / sum->noise) : -INFINITY;
}

static double cosine(const struct comparison *sum)
{
	double lengths = sqrt(sum->signal * sum->stored);

	return lengths > 0 ? sum->product / lengths : 1;
}

static void print_comparison(const struct npu_graph *graph, const struct npu_graph *quantised,
			     const struct comparison *sum, FILE *out)
{
	u32 i, worst = NPU_NONE;

	fprintf(out, "%8s %9s %-16s %12s %5s  %s\n", "SQNR dB", "cosine", "operator", "scale",
		"zero", "layer");
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];
		const struct npu_tensor *tensor = &quantised->tensor[op->output[0]];

		if (npu_op_output(graph, op)->dtype != NPU_F32)
			continue;
		fprintf(out, "%8.2f %9.6f %-16s ", decibels(&sum[i]), cosine(&sum[i]),
			npu_op_names[op->kind]);
		if (tensor->quant.count)
			fprintf(out, "%12.6g %5d  ", (double)tensor->quant.scale[0],
				tensor->quant.zero[0]);
		else
			fprintf(out, "%12s %5s  ", npu_dtype_names[tensor->dtype], "");
		/* Converters join the names of what they fused: the first is enough for people. */
		fprintf(out, "%.*s\n", (int)strcspn(op->name, ";"), op->name);
		if (worst == NPU_NONE || decibels(&sum[i]) < decibels(&sum[worst]))
			worst = i;
	}
	if (worst != NPU_NONE)
		fprintf(out, "worst: %.*s, %.2f dB\n", (int)strcspn(graph->op[worst].name, ";"),
			graph->op[worst].name, decibels(&sum[worst]));
}

int npu_quantise_report(const struct npu_graph *prepared, const struct npu_graph *quantised,
			const struct npu_samples *samples, FILE *out, struct npu_diag *diag)
{
	struct npu_evaluation *real = npu_evaluation_new(prepared);
	struct npu_evaluation *stored = npu_evaluation_new(quantised);
	struct comparison *sum = calloc(prepared->op_count + 1, sizeof(*sum));
	int error = 0;
	u32 i;

	if (!real || !stored || !sum)
		error = npu_diag_set(diag, -ENOMEM, "%s: out of memory", prepared->file);
	for (i = 0; i < samples->count && !error; i++) {
		error = npu_evaluation_load(real, samples, i, diag);
		if (!error)
			error = compare_sample(sum, real, stored, diag);
	}
	if (!error)
		print_comparison(prepared, quantised, sum, out);
	npu_evaluation_free(real);
	npu_evaluation_free(stored);
	free(sum);
	return error;
}
