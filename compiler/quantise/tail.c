// SPDX-License-Identifier: MIT
/*
 * What stays float32: operators without an integer form, and the tail of the graph
 * that the CPU does anyway.  The application wants real numbers, so nothing is gained
 * by rounding there, and small probabilities would be lost.
 */
#include <stdlib.h>

#include "../optimise/optimise.h"
#include "quantise/rewrite.h"

struct tail {
	const struct npu_graph *graph;
	bool *stays; /* of each operator */
	bool *stored; /* of each tensor: a reader wants it as INT8 */
	u32 *producer; /* of each tensor */
};

static bool only_moves(const struct npu_op *op)
{
	return npu_shares_scale(op, 0) && op->kind != NPU_OP_MINIMUM && op->kind != NPU_OP_MAXIMUM;
}

/*
 * No unit of the NPU would do it, or only a table: those are for the middle of a network, at its end
 * their 256 results would be all that the application sees.
 */
static bool is_for_cpu(const struct npu_op *op)
{
	const struct npu_op_support *row = &npu_op_support[op->kind];

	return !row->unit || row->table || op->kind == NPU_OP_RESHAPE || op->kind == NPU_OP_CONCAT;
}

static bool ends_graph(const struct tail *tail, const struct npu_op *op)
{
	return npu_op_output(tail->graph, op)->dtype == NPU_F32 && is_for_cpu(op) &&
	       op->kind != NPU_OP_DEQUANTIZE && !npu_has_weights(op) &&
	       !tail->stored[op->output[0]];
}

/* Backwards: all readers are outputs of the graph or belong to the tail. */
static void find_candidates(struct tail *tail)
{
	u32 i, j;

	for (i = tail->graph->op_count; i--;) {
		const struct npu_op *op = &tail->graph->op[i];

		tail->stays[i] = ends_graph(tail, op);
		for (j = 0; j < op->input_count && !tail->stays[i]; j++)
			if (op->input[j] != NPU_NONE)
				tail->stored[op->input[j]] = true;
	}
}

/* Forwards: what only moves elements stays what these are. */
static void keep_moves(struct tail *tail)
{
	u32 i, j;

	for (i = 0; i < tail->graph->op_count; i++) {
		const struct npu_op *op = &tail->graph->op[i];

		for (j = 0; j < op->input_count && tail->stays[i] && only_moves(op); j++) {
			u32 from = op->input[j] == NPU_NONE ? NPU_NONE
							    : tail->producer[op->input[j]];

			if (from != NPU_NONE && !tail->stays[from])
				tail->stays[i] = false;
		}
		if (op->kind == NPU_OP_DIV || op->kind == NPU_OP_REDUCE_PROD)
			tail->stays[i] = true;
		tail->producer[op->output[0]] = i;
	}
}

bool *npu_find_float(const struct npu_graph *graph)
{
	struct tail tail = { .graph = graph };
	u32 i;

	tail.stays = calloc(graph->op_count + 1, sizeof(*tail.stays));
	tail.stored = calloc(graph->tensor_count + 1, sizeof(*tail.stored));
	tail.producer = calloc(graph->tensor_count + 1, sizeof(*tail.producer));
	if (tail.stays && tail.stored && tail.producer) {
		for (i = 0; i < graph->tensor_count; i++)
			tail.producer[i] = NPU_NONE;
		find_candidates(&tail);
		keep_moves(&tail);
	} else {
		free(tail.stays);
		tail.stays = NULL;
	}
	free(tail.stored);
	free(tail.producer);
	return tail.stays;
}
