// SPDX-License-Identifier: MIT
/*
 * Models of one operator: what the caller says of it as a graph for the compiler.
 */
#include "internal.h"

static const struct {
	enum npu_op_kind kind;
	u32 inputs;
	bool weights;
} rules[] = {
	[NPU_OPERATOR_CONV_2D] = { NPU_OP_CONV, 1, true },
	[NPU_OPERATOR_FULLY_CONNECTED] = { NPU_OP_FULLY_CONNECTED, 1, true },
	[NPU_OPERATOR_MAX_POOL_2D] = { NPU_OP_MAX_POOL, 1 },
	[NPU_OPERATOR_AVERAGE_POOL_2D] = { NPU_OP_AVERAGE_POOL, 1 },
	[NPU_OPERATOR_ADD] = { NPU_OP_ADD, 2 },
	[NPU_OPERATOR_QUANTIZE] = { NPU_OP_QUANTIZE, 1 },
	[NPU_OPERATOR_DEQUANTIZE] = { NPU_OP_DEQUANTIZE, 1 },
	[NPU_OPERATOR_TRANSPOSE] = { NPU_OP_TRANSPOSE, 1 },
};

_Static_assert((int)NPU_OPERATOR_CLAMP_NONE == (int)NPU_ACT_NONE &&
		       (int)NPU_OPERATOR_CLAMP_RELU == (int)NPU_ACT_RELU &&
		       (int)NPU_OPERATOR_CLAMP_RELU6 == (int)NPU_ACT_RELU6 &&
		       (int)NPU_OPERATOR_CLAMP_RELU_N1_TO_1 == (int)NPU_ACT_RELU_N1_TO_1,
	       "enum npu_operator_clamp and enum npu_activation differ");

/* Copies at most the caller's size of a struct that begins with it; the rest is zero. */
static int copy_in(void *to, const void *from, size_t own_size)
{
	size_t size;
	int err = npu_check_size(from);

	if (err)
		return err;
	memcpy(&size, from, sizeof(size));
	memset(to, 0, own_size);
	memcpy(to, from, min(size, own_size));
	return 0;
}

static int no_memory(const struct npu_graph *graph)
{
	return npu_fail(-ENOMEM, "%s: out of memory", graph->file);
}

static void *copy_array(struct npu_graph *graph, const void *from, size_t count, size_t size)
{
	void *to = npu_arena_array(&graph->arena, count ? count : 1, size);

	if (to && count)
		memcpy(to, from, count * size);
	return to;
}

/* One scale for all, or one for each index of the first dimension. */
static int set_quant(struct npu_graph *graph, struct npu_quant *quant, const float *scale,
		     u32 count, s32 zero)
{
	s32 *zeros = npu_arena_array(&graph->arena, count, sizeof(*zeros));

	quant->scale = copy_array(graph, scale, count, sizeof(*scale));
	quant->zero = zeros;
	if (!quant->scale || !zeros)
		return no_memory(graph);
	zeros[0] = zero;
	quant->count = count;
	return 0;
}

static int add_tensor(struct npu_graph *graph, const char *name, const struct npu_tensor_info *info,
		      u32 *index)
{
	struct npu_tensor_info own;
	int err;

	if (!info)
		return npu_fail(-EINVAL, "%s: the %s is missing", graph->file, name);
	err = copy_in(&own, info, sizeof(own));
	if (err)
		return err;
	if ((u32)own.type >= NPU_DTYPE_COUNT || own.rank > NPU_MAX_RANK)
		return npu_fail(-EINVAL, "%s: %s of type %d, rank %u", graph->file, name,
				(int)own.type, own.rank);
	*index = npu_graph_add_tensor(graph, name, (enum npu_dtype)own.type, own.rank, own.shape);
	if (*index == NPU_NONE)
		return npu_fail(-EINVAL, "%s: the %s is too large", graph->file, name);
	if (own.scale == 0)
		return 0;
	return set_quant(graph, &graph->tensor[*index].quant, &own.scale, 1, own.zero_point);
}

static int set_data(struct npu_graph *graph, u32 tensor, const void *data)
{
	void *copy = copy_array(graph, data, graph->tensor[tensor].bytes, 1);

	if (!copy)
		return no_memory(graph);
	graph->tensor[tensor].data = copy;
	return 0;
}

static int add_bias(struct npu_graph *graph, const struct npu_operator *op, u32 kernels, u32 *index)
{
	*index = npu_graph_add_tensor(graph, "bias", NPU_I32, 1, &kernels);
	if (*index == NPU_NONE)
		return no_memory(graph);
	return set_data(graph, *index, op->bias);
}

static int add_weights(struct npu_graph *graph, const struct npu_operator *op, u32 index[2])
{
	struct npu_tensor *weights;
	u32 kernels;
	int err = add_tensor(graph, "weights", op->weights, &index[0]);

	if (err)
		return err;
	if (!op->weight_data)
		return npu_fail(-EINVAL, "%s: the weights have no data", graph->file);
	weights = &graph->tensor[index[0]];
	kernels = weights->rank ? weights->dim[0] : 0;
	if (!kernels)
		return npu_fail(-EINVAL, "%s: the weights have no kernels", graph->file);
	err = set_data(graph, index[0], op->weight_data);
	if (!err && op->weight_scales)
		err = set_quant(graph, &graph->tensor[index[0]].quant, op->weight_scales, kernels,
				0);
	if (!err && op->bias)
		err = add_bias(graph, op, kernels, &index[1]);
	return err;
}

static u32 or_one(u32 number)
{
	return number ? number : 1;
}

static void set_window(const struct npu_graph *graph, const struct npu_operator *from,
		       struct npu_op *op)
{
	const struct npu_tensor *weights = from->weights ? npu_op_input(graph, op, 1) : NULL;
	bool kernel = weights && weights->rank == 4;

	op->window = (struct npu_window){
		.r = kernel ? weights->dim[1] : or_one(from->window[0]),
		.s = kernel ? weights->dim[2] : or_one(from->window[1]),
		.stride_y = or_one(from->stride[0]),
		.stride_x = or_one(from->stride[1]),
		.dilation_y = or_one(from->dilation[0]),
		.dilation_x = or_one(from->dilation[1]),
		.pad_top = from->pad[0],
		.pad_left = from->pad[1],
		.pad_bottom = from->pad[2],
		.pad_right = from->pad[3],
	};
}

static int set_permutation(const struct npu_graph *graph, const struct npu_operator *from,
			   struct npu_op *op)
{
	u32 i;

	for (i = 0; i < NPU_MAX_RANK; i++) {
		if (from->permutation[i] >= NPU_MAX_RANK)
			return npu_fail(-EINVAL, "%s: there is no dimension %u", graph->file,
					from->permutation[i]);
		op->begin[i] = (s32)from->permutation[i];
	}
	return 0;
}

/* Inputs and outputs of the graph are those of its operator that are not constant. */
static int set_ends(struct npu_graph *graph, const u32 *input, u32 count, u32 output)
{
	graph->input = copy_array(graph, input, count, sizeof(*input));
	graph->output = copy_array(graph, &output, 1, sizeof(output));
	if (!graph->input || !graph->output)
		return no_memory(graph);
	graph->input_count = count;
	graph->output_count = 1;
	return 0;
}

static int fill_graph(struct npu_graph *graph, const struct npu_operator *from)
{
	static const char *const names[] = { "input", "second input" };
	u32 inputs = rules[from->kind].inputs, i, output = NPU_NONE;
	u32 input[3] = { NPU_NONE, NPU_NONE, NPU_NONE };
	struct npu_op *op;
	int err = 0;

	for (i = 0; i < inputs && !err; i++)
		err = add_tensor(graph, names[i], from->input[i], &input[i]);
	if (!err && rules[from->kind].weights)
		err = add_weights(graph, from, &input[1]);
	if (!err)
		err = add_tensor(graph, "output", from->output, &output);
	if (err)
		return err;
	op = npu_graph_add_op(graph, rules[from->kind].kind, graph->file,
			      rules[from->kind].weights ? 3 : inputs, 1);
	if (!op)
		return no_memory(graph);
	memcpy(op->input, input, op->input_count * sizeof(*input));
	op->output[0] = output;
	op->activation = (enum npu_activation)from->clamp;
	op->groups = or_one(from->groups);
	set_window(graph, from, op);
	err = set_permutation(graph, from, op);
	return err ? err : set_ends(graph, input, inputs, output);
}

int npu_operator_graph(const struct npu_operator *op, const char *name, struct npu_graph **out)
{
	struct npu_diag diag = { "" };
	struct npu_operator own;
	struct npu_graph *graph;
	int err = copy_in(&own, op, sizeof(own));

	if (err)
		return err;
	if ((u32)own.kind >= ARRAY_SIZE(rules))
		return npu_fail(-EINVAL, "%s: there is no operator %d", name, (int)own.kind);
	graph = npu_graph_new(name);
	if (!graph)
		return npu_fail(-ENOMEM, "%s: out of memory", name);
	err = fill_graph(graph, &own);
	if (!err && npu_graph_verify(graph, &diag))
		err = npu_fail(-EINVAL, "%s", diag.text);
	if (err) {
		npu_graph_free(graph);
		return err;
	}
	*out = graph;
	return 0;
}
