// SPDX-License-Identifier: MIT
/*
 * Calibration files: anything is a calibration or an error with its text; a calibration
 * that a small network takes gives a graph that the verifier takes.
 */
#include <stdlib.h>

#include "quantise/quantise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static float weights[] = { 1, -0.5f, 0.25f, 2, 0.001f, -3 };
static float bias[] = { 0.1f, -4 };

/* A fully connected layer from "in" to "out", and a ReLU. */
static struct npu_graph *make_graph(void)
{
	const u32 in[] = { 1, 3 }, kernels[] = { 2, 3 }, out[] = { 1, 2 };
	struct npu_graph *graph = npu_graph_new("made");
	struct npu_op *op;
	u32 i;

	if (!graph)
		abort();
	graph->input = npu_arena_array(&graph->arena, 1, sizeof(*graph->input));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(*graph->output));
	op = npu_graph_add_op(graph, NPU_OP_FULLY_CONNECTED, "layer", 3, 1);
	if (!graph->input || !graph->output || !op)
		abort();
	op->input[0] = npu_graph_add_tensor(graph, "in", NPU_F32, 2, in);
	op->input[1] = npu_graph_add_tensor(graph, "weights", NPU_F32, 2, kernels);
	op->input[2] = npu_graph_add_tensor(graph, "bias", NPU_F32, 1, kernels);
	op->output[0] = npu_graph_add_tensor(graph, "out", NPU_F32, 2, out);
	for (i = 0; i < 3; i++)
		if (op->input[i] == NPU_NONE)
			abort();
	graph->tensor[op->input[1]].data = weights;
	graph->tensor[op->input[2]].data = bias;
	graph->input[0] = op->input[0];
	graph->output[0] = op->output[0];
	graph->input_count = graph->output_count = 1;
	return graph;
}

static void use(const struct npu_calibration *calibration)
{
	struct npu_graph *graph = make_graph(), *prepared, *quantised;
	struct npu_diag diag = { "" };

	if (npu_quantise_prepare(graph, &prepared, &diag))
		abort();
	if (npu_calibration_equalise(prepared, calibration, &diag) ||
	    npu_quantise(prepared, calibration, &quantised, &diag)) {
		if (!diag.text[0])
			abort();
	} else {
		npu_graph_free(quantised);
	}
	npu_graph_free(prepared);
	npu_graph_free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct npu_calibration *calibration;
	struct npu_diag diag = { "" };
	char *text = malloc(bytes + 1);

	if (!text)
		return 0;
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	if (npu_calibration_read(text, bytes, "file", &calibration, &diag)) {
		if (!diag.text[0])
			abort();
	} else {
		use(calibration);
		npu_calibration_free(calibration);
	}
	free(text);
	return 0;
}
