// SPDX-License-Identifier: MIT
#include "quantise/evaluate.h"

#include <stdlib.h>

#include "cpu/cpu.h"

static bool belongs_to_graph(const struct npu_evaluation *evaluation, u32 tensor)
{
	return evaluation->graph->tensor[tensor].data;
}

void npu_evaluation_free(struct npu_evaluation *evaluation)
{
	u32 i;

	if (!evaluation)
		return;
	for (i = 0; evaluation->value && i < evaluation->graph->tensor_count; i++)
		if (!belongs_to_graph(evaluation, i))
			free(evaluation->value[i]);
	free(evaluation->value);
	free(evaluation);
}

struct npu_evaluation *npu_evaluation_new(const struct npu_graph *graph)
{
	struct npu_evaluation *evaluation = calloc(1, sizeof(*evaluation));
	u32 i;

	if (!evaluation)
		return NULL;
	evaluation->graph = graph;
	evaluation->value = calloc(graph->tensor_count + 1, sizeof(*evaluation->value));
	if (!evaluation->value) {
		npu_evaluation_free(evaluation);
		return NULL;
	}
	for (i = 0; i < graph->tensor_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[i];

		/* Nobody writes through the value of a constant. */
		evaluation->value[i] = tensor->data ? (void *)(uintptr_t)tensor->data
						    : calloc(1, max(tensor->bytes, (size_t)1));
		if (!evaluation->value[i]) {
			npu_evaluation_free(evaluation);
			return NULL;
		}
	}
	return evaluation;
}

int npu_evaluation_load(struct npu_evaluation *evaluation, const struct npu_samples *samples, u32 i,
			struct npu_diag *diag)
{
	const struct npu_graph *graph = evaluation->graph;
	void **input = calloc(graph->input_count, sizeof(*input));
	u32 j;
	int error;

	if (!input)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", graph->file);
	for (j = 0; j < graph->input_count; j++)
		input[j] = evaluation->value[graph->input[j]];
	error = samples->load(samples, i, input, diag);
	free(input);
	return error;
}

static int run_op(struct npu_evaluation *evaluation, const struct npu_op *op)
{
	const void *input[NPU_MAX_INPUTS] = { NULL };
	void *output = evaluation->value[op->output[0]];
	const struct npu_cpu_call call = { evaluation->graph, op, input, &output };
	u32 i;

	for (i = 0; i < op->input_count; i++)
		if (op->input[i] != NPU_NONE)
			input[i] = evaluation->value[op->input[i]];
	return npu_cpu_execute(&call);
}

int npu_evaluate(struct npu_evaluation *evaluation, struct npu_diag *diag)
{
	const struct npu_graph *graph = evaluation->graph;
	u32 i;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];
		const char *missing = npu_cpu_check(graph, op);
		int error = missing ? -ENOTSUP : run_op(evaluation, op);

		if (error)
			return npu_diag_set(diag, error, "%s: operator %u (%s, %.100s): %s",
					    graph->file, i, npu_op_names[op->kind], op->name,
					    missing ? missing : strerror(-error));
	}
	return 0;
}

double npu_real_value(const struct npu_tensor *tensor, const void *data, size_t i)
{
	s32 stored;

	if (tensor->dtype == NPU_F32)
		return (double)((const float *)data)[i];
	stored = tensor->dtype == NPU_I8 ? ((const s8 *)data)[i] : ((const u8 *)data)[i];
	if (!tensor->quant.count)
		return stored;
	return (double)tensor->quant.scale[0] * (stored - tensor->quant.zero[0]);
}
