/* SPDX-License-Identifier: MIT */
/*
 * Model files that nobody wrote: an importer must refuse or give a graph that
 * printers and, where it is small enough, the reference interpreter can work with.
 */
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

#include "pixels.h"
#include "reference.h"

#include <stdio.h>
#include <stdlib.h>

typedef int (*fuzz_import_fn)(const void *data, size_t bytes, const char *file,
			      const struct npu_import_options *options, struct npu_graph **graph,
			      struct npu_diag *diag);

/* Upper bound of an operator's work: each output element may look at all operands. */
static inline u64 work(const struct npu_graph *graph, const struct npu_op *op)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < op->input_count; i++)
		if (npu_op_input(graph, op, i))
			bytes += npu_op_input(graph, op, i)->bytes;
	if (op->kind == NPU_OP_MAX_POOL || op->kind == NPU_OP_AVERAGE_POOL)
		bytes = min((u64)op->window.r * op->window.s, bytes);
	return npu_op_output(graph, op)->bytes * (bytes + 1);
}

static inline bool is_small(const struct npu_graph *graph)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < graph->tensor_count; i++)
		total += graph->tensor[i].bytes;
	if (total > 1 << 20)
		return false;
	for (i = 0; i < graph->op_count; i++)
		total += work(graph, &graph->op[i]);
	return total < 1 << 22;
}

static inline void run(const struct npu_graph *graph)
{
	struct npu_reference *reference;
	struct npu_diag diag = { 0 };
	u32 i, j;

	if (npu_reference_new(graph, &reference, &diag))
		abort();
	for (i = 0; i < graph->input_count; i++) {
		u8 *data = npu_reference_tensor(reference, graph->input[i]);

		for (j = 0; j < graph->tensor[graph->input[i]].bytes; j++)
			data[j] = j * 37 & 0x3f;
	}
	npu_reference_run(reference, NULL, NULL, &diag);
	npu_reference_free(reference);
}

/* The first input becomes an image, of an order that follows from the graph; or that is refused. */
static inline void take_image(struct npu_graph *graph)
{
	struct npu_pixel_input pixels = { .order = graph->tensor_count % NPU_PIXELS_ORDER_COUNT,
					  .given = graph->op_count % 2,
					  .mean = { 100, 110, 120, 130 },
					  .scale = { 0.5f, 0.25f, 2, 1 } };
	float factor[NPU_MAX_PIXEL_CHANNELS];
	struct npu_diag diag = { 0 };

	if (npu_graph_even_pixels(graph, &pixels, factor))
		abort();
	if (!npu_graph_take_pixels(graph, &pixels, &diag))
		run(graph);
	else if (!diag.text[0])
		abort();
}

static inline int fuzz_import(fuzz_import_fn import, const u8 *data, size_t bytes)
{
	static FILE *null;
	struct npu_graph *graph;
	struct npu_diag diag = { 0 };
	int error = import(data, bytes, "fuzz", NULL, &graph, &diag);

	if (!null)
		null = fopen("/dev/null", "w");
	if (error) {
		if (!diag.text[0])
			abort();
		return 0;
	}
	npu_graph_dump(graph, NPU_DUMP_TEXT, null);
	npu_graph_dump(graph, NPU_DUMP_DOT, null);
	if (is_small(graph)) {
		run(graph);
		take_image(graph);
	}
	npu_graph_free(graph);
	return 0;
}

#endif /* FUZZ_GRAPH_H */
