// SPDX-License-Identifier: MIT
/*
 * Images that are flattened in front of a fully connected layer.  ONNX flattens C, H, W where the
 * graph has H, W, C: instead of the features, which are others in each run, the weights are put into
 * another order once.
 */
#include "onnx.h"

static const struct npu_op *producer_of(const struct onnx *o, u32 tensor)
{
	u32 i;

	for (i = o->graph->op_count; i--;)
		if (o->graph->op[i].output[0] == tensor)
			return &o->graph->op[i];
	return NULL;
}

/* The transpose that only reshapes separate from @tensor, or NULL. */
static const struct npu_op *transpose_behind(const struct onnx *o, u32 tensor)
{
	const struct npu_op *op = producer_of(o, tensor);

	while (op && op->kind == NPU_OP_RESHAPE)
		op = producer_of(o, op->input[0]);
	return op && op->kind == NPU_OP_TRANSPOSE ? op : NULL;
}

/*
 * Constant weights in the order of the transpose's input: their columns, which count the elements of
 * its output, as dimensions of their own are permuted back.
 */
static int reorder(struct onnx *o, u32 from, bool weights_are_kc, const struct npu_op *transpose,
		   u32 *weights)
{
	struct npu_tensor source = *onnx_tensor(o, from);
	struct npu_tensor moved = *npu_op_output(o->graph, transpose);
	const u32 rank = moved.rank, kernels = source.dim[weights_are_kc ? 0 : 1];
	const u32 flat[] = { kernels, source.dim[weights_are_kc ? 1 : 0] };
	u32 dim[NPU_MAX_RANK], order[NPU_MAX_RANK], i, wide;
	u32 k = weights_are_kc ? 0 : rank, first = weights_are_kc ? 1 : 0;
	int error;

	dim[k] = kernels;
	order[0] = k;
	for (i = 0; i < rank; i++) {
		dim[first + i] = moved.dim[i];
		order[1 + transpose->begin[i]] = first + i;
	}
	error = onnx_reshape(o, from, rank + 1, dim, &wide);
	if (error)
		return error;
	o->graph->tensor[wide].quant = source.quant;
	if (source.quant.count > 1)
		o->graph->tensor[wide].quant.axis = k;
	error = onnx_permute(o, wide, order, weights);
	return error ? error : onnx_reshape(o, *weights, 2, flat, weights);
}

int onnx_flattened_product(struct onnx *o, bool weights_are_kc, u32 inputs[2], bool *found)
{
	const struct npu_op *transpose = transpose_behind(o, inputs[0]);
	struct npu_tensor x = *onnx_tensor(o, inputs[0]);
	const struct npu_tensor *w;
	u32 weights;
	int error;

	*found = false;
	if (!transpose || npu_op_input(o->graph, transpose, 0)->rank + 1 > NPU_MAX_RANK)
		return 0;
	error = onnx_operand(o, 1, ONNX_PLAIN, &weights);
	if (error)
		return error;
	w = onnx_tensor(o, weights);
	/* One row of all elements. */
	if (!w->data || w->rank != 2 || w->dim[weights_are_kc ? 1 : 0] != npu_tensor_elements(&x) ||
	    (w->quant.count > 1 && w->quant.axis != (weights_are_kc ? 0 : 1)))
		return 0;
	error = reorder(o, weights, weights_are_kc, transpose, &inputs[1]);
	/* Operators do not move while only constants are added. */
	if (!error)
		error = onnx_reshape(o, transpose->input[0], x.rank, x.dim, &inputs[0]);
	*found = true;
	return error;
}

int onnx_drop_unread(struct onnx *o)
{
	struct npu_graph *graph = o->graph;
	bool *read = npu_arena_array(&graph->arena, graph->tensor_count + 1, sizeof(*read));
	u32 i, j, kept = graph->op_count;

	if (!read)
		return -ENOMEM;
	for (i = 0; i < graph->output_count; i++)
		read[graph->output[i]] = true;
	for (i = graph->op_count; i--;) {
		const struct npu_op op = graph->op[i];

		if (!read[op.output[0]])
			continue;
		for (j = 0; j < op.input_count; j++)
			if (op.input[j] != NPU_NONE)
				read[op.input[j]] = true;
		graph->op[--kept] = op;
	}
	if (kept)
		memmove(graph->op, graph->op + kept, (graph->op_count - kept) * sizeof(*graph->op));
	graph->op_count -= kept;
	return 0;
}
