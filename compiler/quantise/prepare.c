// SPDX-License-Identifier: MIT
/*
 * A copy of a graph in which operators that convolutions can do along are gone:
 * activations, and multiplications and additions with a constant for each channel.  What
 * is a function of one element in many operators is one there.
 */
#include "quantise/rewrite.h"

#include <stdlib.h>

struct preparation {
	struct npu_graph *graph;
	u32 *readers; /* of each tensor: operators that read it, outputs of the graph */
	u32 *producer; /* of each tensor: operator, NPU_NONE */
	bool *gone; /* of each operator */
};

bool npu_has_weights(const struct npu_op *op)
{
	return op->kind == NPU_OP_CONV || op->kind == NPU_OP_TRANSPOSE_CONV ||
	       op->kind == NPU_OP_FULLY_CONNECTED;
}

/* Conversions alone compute nothing. */
static bool computes_in_float(const struct npu_graph *graph, const struct npu_op *op)
{
	return op->kind != NPU_OP_QUANTIZE && op->kind != NPU_OP_DEQUANTIZE &&
	       op->kind != NPU_OP_PIXELS && npu_op_output(graph, op)->dtype == NPU_F32;
}

bool npu_graph_is_float(const struct npu_graph *graph)
{
	u32 i;

	for (i = 0; i < graph->op_count; i++)
		if (computes_in_float(graph, &graph->op[i]))
			return true;
	return false;
}

/* ---- the copy ---- */

u32 npu_copy_tensor(struct npu_graph *graph, const struct npu_tensor *tensor, const char *name)
{
	const char *own = npu_arena_string(&graph->arena, name, strlen(name));
	u32 index = own ? npu_graph_add_tensor(graph, own, tensor->dtype, tensor->rank, tensor->dim)
			: NPU_NONE;
	const struct npu_quant *quant = &tensor->quant;
	struct npu_tensor *copy;
	float *scale;
	s32 *zero;
	void *data;

	if (index == NPU_NONE)
		return NPU_NONE;
	copy = &graph->tensor[index];
	if (quant->count) {
		scale = npu_arena_array(&graph->arena, quant->count, sizeof(*scale));
		zero = npu_arena_array(&graph->arena, quant->count, sizeof(*zero));
		if (!scale || !zero)
			return NPU_NONE;
		memcpy(scale, quant->scale, quant->count * sizeof(*scale));
		memcpy(zero, quant->zero, quant->count * sizeof(*zero));
		copy->quant = (struct npu_quant){ quant->count, quant->axis, scale, zero };
	}
	if (tensor->data) {
		data = npu_arena_alloc(&graph->arena, tensor->bytes);
		if (!data)
			return NPU_NONE;
		memcpy(data, tensor->data, tensor->bytes);
		copy->data = data;
	}
	return index;
}

struct npu_op *npu_copy_op(struct npu_graph *graph, const struct npu_op *op)
{
	const char *name = npu_arena_string(&graph->arena, op->name, strlen(op->name));
	struct npu_op *copy =
		name ? npu_graph_add_op(graph, op->kind, name, op->input_count, op->output_count)
		     : NULL;
	u32 *input, *output;

	if (!copy)
		return NULL;
	input = copy->input;
	output = copy->output;
	memcpy(input, op->input, op->input_count * sizeof(*input));
	memcpy(output, op->output, op->output_count * sizeof(*output));
	*copy = *op;
	copy->name = name;
	copy->input = input;
	copy->output = output;
	return copy;
}

bool npu_copy_ends(struct npu_graph *graph, const struct npu_graph *from)
{
	graph->input = npu_arena_array(&graph->arena, from->input_count, sizeof(*graph->input));
	graph->output = npu_arena_array(&graph->arena, from->output_count, sizeof(*graph->output));
	if (!graph->input || !graph->output)
		return false;
	memcpy(graph->input, from->input, from->input_count * sizeof(*graph->input));
	memcpy(graph->output, from->output, from->output_count * sizeof(*graph->output));
	graph->input_count = from->input_count;
	graph->output_count = from->output_count;
	return true;
}

static bool copy_all(struct npu_graph *graph, const struct npu_graph *from)
{
	u32 i;

	for (i = 0; i < from->tensor_count; i++)
		if (npu_copy_tensor(graph, &from->tensor[i], from->tensor[i].name) == NPU_NONE)
			return false;
	for (i = 0; i < from->op_count; i++)
		if (!npu_copy_op(graph, &from->op[i]))
			return false;
	return npu_copy_ends(graph, from);
}

/* ---- folding ---- */

u32 *npu_count_readers(const struct npu_graph *graph)
{
	u32 *readers = calloc(graph->tensor_count + 1, sizeof(*readers));
	u32 i, j;

	if (!readers)
		return NULL;
	for (i = 0; i < graph->op_count; i++)
		for (j = 0; j < graph->op[i].input_count; j++)
			if (graph->op[i].input[j] != NPU_NONE)
				readers[graph->op[i].input[j]]++;
	for (i = 0; i < graph->output_count; i++)
		readers[graph->output[i]]++;
	return readers;
}

/* The operator in front of input @i, where nothing else reads what it computes. */
static struct npu_op *only_producer(const struct preparation *p, const struct npu_op *op, u32 i)
{
	u32 tensor = op->input[i];

	if (tensor == NPU_NONE || p->readers[tensor] != 1 || p->producer[tensor] == NPU_NONE)
		return NULL;
	return &p->graph->op[p->producer[tensor]];
}

/* What @op computed is computed by @front now. */
static void take_over(struct preparation *p, struct npu_op *front, struct npu_op *op)
{
	front->output[0] = op->output[0];
	p->producer[op->output[0]] = (u32)(front - p->graph->op);
	p->gone[op - p->graph->op] = true;
}

static bool can_activate(const struct npu_op *op)
{
	switch (op->kind) {
	case NPU_OP_ADD:
	case NPU_OP_SUB:
	case NPU_OP_MUL:
	case NPU_OP_MATMUL:
	case NPU_OP_MAX_POOL:
	case NPU_OP_AVERAGE_POOL:
		return op->activation == NPU_ACT_NONE;
	default:
		return npu_has_weights(op) && op->activation == NPU_ACT_NONE;
	}
}

static void fuse_activation(struct preparation *p, struct npu_op *op)
{
	struct npu_op *front;

	if (op->kind != NPU_OP_RELU || npu_op_output(p->graph, op)->dtype != NPU_F32)
		return;
	front = only_producer(p, op, 0);
	if (!front || !can_activate(front))
		return;
	front->activation = op->activation;
	take_over(p, front, op);
}

/* A constant of one element or one for each of @channels, along the last dimension. */
static const float *channel_constant(const struct npu_tensor *tensor, u32 channels, bool *single)
{
	u64 elements = npu_tensor_elements(tensor);

	*single = elements == 1;
	if (!tensor->data || tensor->dtype != NPU_F32)
		return NULL;
	if (*single || (elements == channels && tensor->dim[tensor->rank - 1] == channels))
		return tensor->data;
	return NULL;
}

/* A bias that belongs to @op alone; NULL: out of memory. */
static float *own_bias(struct preparation *p, struct npu_op *op, u32 kernels)
{
	const struct npu_tensor *bias = npu_op_input(p->graph, op, 2);
	float *data = npu_arena_array(&p->graph->arena, kernels, sizeof(*data));
	u32 *input = npu_arena_array(&p->graph->arena, 3, sizeof(*input)), index;

	if (!data || !input)
		return NULL;
	if (bias)
		memcpy(data, bias->data, kernels * sizeof(*data));
	index = npu_graph_add_tensor(p->graph, op->name, NPU_F32, 1, &kernels);
	if (index == NPU_NONE)
		return NULL;
	p->graph->tensor[index].data = data;
	input[0] = op->input[0];
	input[1] = op->input[1];
	input[2] = index;
	op->input = input;
	op->input_count = 3;
	return data;
}

/* Weights that belong to @op alone; NULL: out of memory. */
static float *own_weights(struct preparation *p, struct npu_op *op)
{
	u32 index = npu_copy_tensor(p->graph, npu_op_input(p->graph, op, 1),
				    npu_op_input(p->graph, op, 1)->name);

	if (index == NPU_NONE)
		return NULL;
	op->input[1] = index;
	/* Just copied, into memory of our own. */
	return (float *)(uintptr_t)p->graph->tensor[index].data;
}

/* weights and bias * factor + offset, for each kernel. */
static int scale_kernels(struct preparation *p, struct npu_op *conv, enum npu_op_kind kind,
			 const float *constant, bool single)
{
	const struct npu_tensor *weights = npu_op_input(p->graph, conv, 1);
	u32 kernels = weights->dim[0], k;
	size_t each = npu_tensor_elements(weights) / kernels, i;
	float *data = own_weights(p, conv), *bias = own_bias(p, conv, kernels);

	if (!data || !bias)
		return -ENOMEM;
	for (k = 0; k < kernels; k++) {
		float c = constant[single ? 0 : k];
		float factor = kind == NPU_OP_MUL ? c : kind == NPU_OP_DIV ? 1 / c : 1;
		float offset = kind == NPU_OP_ADD ? c : kind == NPU_OP_SUB ? -c : 0;

		for (i = 0; i < each; i++)
			data[k * each + i] *= factor;
		bias[k] = bias[k] * factor + offset;
	}
	return 0;
}

static int fold_scale(struct preparation *p, struct npu_op *op)
{
	bool commutes = op->kind == NPU_OP_MUL || op->kind == NPU_OP_ADD, single;
	const struct npu_tensor *out = npu_op_output(p->graph, op);
	const float *constant;
	struct npu_op *conv;
	u32 side;
	int error;

	if (!commutes && op->kind != NPU_OP_SUB && op->kind != NPU_OP_DIV)
		return 0;
	for (side = 0; side < (commutes ? 2 : 1); side++) {
		conv = only_producer(p, op, side);
		if (!conv || !npu_has_weights(conv) || conv->activation != NPU_ACT_NONE ||
		    out->dtype != NPU_F32 || out->rank != npu_op_output(p->graph, conv)->rank ||
		    npu_tensor_elements(out) != npu_tensor_elements(npu_op_output(p->graph, conv)))
			continue;
		constant = channel_constant(npu_op_input(p->graph, op, 1 - side),
					    npu_op_input(p->graph, conv, 1)->dim[0], &single);
		if (!constant)
			continue;
		error = scale_kernels(p, conv, op->kind, constant, single);
		if (!error) {
			conv->activation = op->activation;
			take_over(p, conv, op);
		}
		return error;
	}
	return 0;
}

static void drop_gone(struct preparation *p)
{
	u32 i, kept = 0;

	for (i = 0; i < p->graph->op_count; i++)
		if (!p->gone[i])
			p->graph->op[kept++] = p->graph->op[i];
	p->graph->op_count = kept;
}

static int fold(struct preparation *p)
{
	struct npu_graph *graph = p->graph;
	u32 i;
	int error = 0;

	p->readers = npu_count_readers(graph);
	p->producer = calloc(graph->tensor_count + 1, sizeof(*p->producer));
	p->gone = calloc(graph->op_count + 1, sizeof(*p->gone));
	if (!p->readers || !p->producer || !p->gone)
		return -ENOMEM;
	for (i = 0; i < graph->tensor_count; i++)
		p->producer[i] = NPU_NONE;
	for (i = 0; i < graph->op_count; i++)
		p->producer[graph->op[i].output[0]] = i;
	/* No operator is added, so pointers to operators stay valid. */
	for (i = 0; i < graph->op_count && !error; i++) {
		error = fold_scale(p, &graph->op[i]);
		if (!error && !p->gone[i])
			fuse_activation(p, &graph->op[i]);
	}
	drop_gone(p);
	return error;
}

int npu_quantise_prepare(const struct npu_graph *from, struct npu_graph **prepared,
			 struct npu_diag *diag)
{
	struct preparation p = { .graph = npu_graph_new(from->file) };
	int error = p.graph && copy_all(p.graph, from) ? 0 : -ENOMEM;

	if (!error)
		error = npu_recognise_functions(p.graph);
	if (!error)
		error = fold(&p);
	free(p.readers);
	free(p.producer);
	free(p.gone);
	if (!error)
		error = npu_graph_verify(p.graph, diag);
	if (error) {
		npu_graph_free(p.graph);
		return npu_diag_set(diag, error, "%s: %s", from->file, strerror(-error));
	}
	*prepared = p.graph;
	return 0;
}
