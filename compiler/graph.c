// SPDX-License-Identifier: MIT
/* Construction of graphs. */
#include "graph.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

const char *const npu_dtype_names[NPU_DTYPE_COUNT] = {
	[NPU_I8] = "int8",   [NPU_U8] = "uint8",    [NPU_I16] = "int16",   [NPU_I32] = "int32",
	[NPU_I64] = "int64", [NPU_F16] = "float16", [NPU_F32] = "float32", [NPU_BOOL] = "bool",
};

const u32 npu_dtype_bytes[NPU_DTYPE_COUNT] = {
	[NPU_I8] = 1,  [NPU_U8] = 1,  [NPU_I16] = 2, [NPU_I32] = 4,
	[NPU_I64] = 8, [NPU_F16] = 2, [NPU_F32] = 4, [NPU_BOOL] = 1,
};

const char *const npu_op_names[NPU_OP_COUNT] = {
	[NPU_OP_CONV] = "conv",
	[NPU_OP_TRANSPOSE_CONV] = "transpose_conv",
	[NPU_OP_FULLY_CONNECTED] = "fully_connected",
	[NPU_OP_MATMUL] = "matmul",
	[NPU_OP_MAX_POOL] = "max_pool",
	[NPU_OP_AVERAGE_POOL] = "average_pool",
	[NPU_OP_ADD] = "add",
	[NPU_OP_SUB] = "sub",
	[NPU_OP_MUL] = "mul",
	[NPU_OP_DIV] = "div",
	[NPU_OP_MINIMUM] = "minimum",
	[NPU_OP_MAXIMUM] = "maximum",
	[NPU_OP_RELU] = "relu",
	[NPU_OP_LEAKY_RELU] = "leaky_relu",
	[NPU_OP_PRELU] = "prelu",
	[NPU_OP_LOGISTIC] = "logistic",
	[NPU_OP_TANH] = "tanh",
	[NPU_OP_HARD_SWISH] = "hard_swish",
	[NPU_OP_FUNCTION] = "function",
	[NPU_OP_SOFTMAX] = "softmax",
	[NPU_OP_LRN] = "lrn",
	[NPU_OP_RESHAPE] = "reshape",
	[NPU_OP_TRANSPOSE] = "transpose",
	[NPU_OP_PAD] = "pad",
	[NPU_OP_CONCAT] = "concat",
	[NPU_OP_SLICE] = "slice",
	[NPU_OP_RESIZE_NEAREST] = "resize_nearest",
	[NPU_OP_RESIZE_BILINEAR] = "resize_bilinear",
	[NPU_OP_MEAN] = "mean",
	[NPU_OP_REDUCE_SUM] = "reduce_sum",
	[NPU_OP_REDUCE_MAX] = "reduce_max",
	[NPU_OP_REDUCE_MIN] = "reduce_min",
	[NPU_OP_REDUCE_PROD] = "reduce_prod",
	[NPU_OP_ARG_MAX] = "arg_max",
	[NPU_OP_ARG_MIN] = "arg_min",
	[NPU_OP_TOP_MOST] = "top_most",
	[NPU_OP_TOP_LEAST] = "top_least",
	[NPU_OP_GATHER] = "gather",
	[NPU_OP_GATHER_ELEMENTS] = "gather_elements",
	[NPU_OP_GATHER_ND] = "gather_nd",
	[NPU_OP_SCATTER_ELEMENTS] = "scatter_elements",
	[NPU_OP_SCATTER_ND] = "scatter_nd",
	[NPU_OP_QUANTIZE] = "quantize",
	[NPU_OP_DEQUANTIZE] = "dequantize",
	[NPU_OP_PIXELS] = "pixels",
};

struct npu_graph *npu_graph_new(const char *file)
{
	struct npu_graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return NULL;
	file = npu_text_clean(&graph->arena, file);
	graph->file = file ? npu_arena_string(&graph->arena, file, strlen(file)) : NULL;
	if (!graph->file) {
		npu_graph_free(graph);
		return NULL;
	}
	return graph;
}

void npu_graph_free(struct npu_graph *graph)
{
	if (!graph)
		return;
	npu_arena_free(&graph->arena);
	free(graph);
}

/* Room for one more element; doubling keeps what is left behind in the arena below the final size. */
static bool grow(struct npu_arena *arena, void **array, u32 count, u32 *capacity, size_t bytes)
{
	u32 wanted;
	void *larger;

	if (count < *capacity)
		return true;
	if (check_mul_overflow(max(*capacity, 8u), 2u, &wanted))
		return false;
	larger = npu_arena_array(arena, wanted, bytes);
	if (!larger)
		return false;
	if (count)
		memcpy(larger, *array, count * bytes);
	*array = larger;
	*capacity = wanted;
	return true;
}

u32 npu_graph_add_tensor(struct npu_graph *graph, const char *name, enum npu_dtype dtype, u32 rank,
			 const u32 *dim)
{
	struct npu_tensor *tensor;
	u64 bytes = npu_dtype_bytes[dtype];
	u32 i;

	if (rank > NPU_MAX_RANK)
		return NPU_NONE;
	for (i = 0; i < rank; i++)
		if (check_mul_overflow(bytes, (u64)dim[i], &bytes) || bytes > INT32_MAX)
			return NPU_NONE;
	if (!grow(&graph->arena, (void **)&graph->tensor, graph->tensor_count,
		  &graph->tensor_capacity, sizeof(*tensor)))
		return NPU_NONE;
	tensor = &graph->tensor[graph->tensor_count];
	tensor->name = name;
	tensor->dtype = dtype;
	tensor->rank = rank;
	for (i = 0; i < rank; i++)
		tensor->dim[i] = dim[i];
	tensor->bytes = bytes;
	return graph->tensor_count++;
}

static u32 *new_indices(struct npu_arena *arena, u32 count)
{
	u32 *indices = npu_arena_array(arena, max(count, 1u), sizeof(*indices));
	u32 i;

	for (i = 0; indices && i < count; i++)
		indices[i] = NPU_NONE;
	return indices;
}

struct npu_op *npu_graph_add_op(struct npu_graph *graph, enum npu_op_kind kind, const char *name,
				u32 input_count, u32 output_count)
{
	static const struct npu_window point = {
		.r = 1, .s = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1
	};
	u32 *input = new_indices(&graph->arena, input_count);
	u32 *output = new_indices(&graph->arena, output_count);
	struct npu_op *op;

	if (!input || !output ||
	    !grow(&graph->arena, (void **)&graph->op, graph->op_count, &graph->op_capacity,
		  sizeof(*op)))
		return NULL;
	op = &graph->op[graph->op_count++];
	*op = (struct npu_op){
		.kind = kind,
		.name = name,
		.input_count = input_count,
		.input = input,
		.output_count = output_count,
		.output = output,
		.window = point,
		.groups = 1,
	};
	return op;
}

bool npu_same_quant(const struct npu_tensor *a, const struct npu_tensor *b)
{
	if (a->quant.count != 1 || b->quant.count != 1)
		return a->quant.count == b->quant.count;
	return a->quant.zero[0] == b->quant.zero[0] &&
	       fabsf(a->quant.scale[0] - b->quant.scale[0]) <= 1e-6f * a->quant.scale[0];
}

u64 npu_tensor_elements(const struct npu_tensor *tensor)
{
	u64 elements = 1;
	u32 i;

	for (i = 0; i < tensor->rank; i++)
		elements *= tensor->dim[i];
	return elements;
}

void npu_tensor_nhwc(const struct npu_tensor *tensor, u32 nhwc[4])
{
	u32 i;

	for (i = 0; i < 4; i++)
		nhwc[i] = 1;
	/* Ranks above 4: the surplus leading dimensions belong to the batch. */
	for (i = 0; i < tensor->rank; i++) {
		u32 from_end = tensor->rank - 1 - i;

		if (from_end < 4)
			nhwc[3 - from_end] = tensor->dim[i];
	}
	for (i = 0; i + 4 < tensor->rank; i++)
		nhwc[0] *= tensor->dim[i];
}

u32 npu_fully_connected_rows(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *weights = npu_op_input(graph, op, 1);

	return npu_tensor_elements(npu_op_input(graph, op, 0)) / weights->dim[1];
}
