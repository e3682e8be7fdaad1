// SPDX-License-Identifier: MIT
/*
 * Which operator is done by whom, and for which types.
 */
#include "cpu.h"

/* Types of the first input and the output that an implementation takes. */
enum cpu_types {
	BYTES, /* INT8 or UINT8, the same for input and output */
	ANY, /* elements are moved, not looked at; the same type on both sides */
	TO_INDEX, /* INT8 or UINT8 to INT32 or INT64 */
	TO_QUANTISED, /* integers or float32 to integers */
	FROM_QUANTISED, /* integers to float32 */
	FROM_BYTES, /* UINT8 to bytes or float32 */
};

static const struct {
	npu_cpu_fn run;
	enum cpu_types types; /* that @run takes */
	npu_cpu_fn
		run_float; /* float32 to float32, or to an index; NULL: @run does that, or nobody */
} table[NPU_OP_COUNT] = {
	[NPU_OP_CONV] = { npu_cpu_conv, BYTES, npu_cpu_conv_float },
	[NPU_OP_TRANSPOSE_CONV] = { npu_cpu_transpose_conv, BYTES, npu_cpu_conv_float },
	[NPU_OP_FULLY_CONNECTED] = { npu_cpu_conv, BYTES, npu_cpu_conv_float },
	[NPU_OP_MATMUL] = { npu_cpu_matmul, BYTES, npu_cpu_matmul_float },
	[NPU_OP_MAX_POOL] = { npu_cpu_pool, BYTES, npu_cpu_pool_float },
	[NPU_OP_AVERAGE_POOL] = { npu_cpu_pool, BYTES, npu_cpu_pool_float },
	[NPU_OP_ADD] = { npu_cpu_add, BYTES, npu_cpu_binary_float },
	[NPU_OP_SUB] = { npu_cpu_add, BYTES, npu_cpu_binary_float },
	[NPU_OP_DIV] = { NULL, BYTES, npu_cpu_binary_float },
	[NPU_OP_MUL] = { npu_cpu_mul, BYTES, npu_cpu_binary_float },
	[NPU_OP_MINIMUM] = { npu_cpu_min_max, BYTES, npu_cpu_binary_float },
	[NPU_OP_MAXIMUM] = { npu_cpu_min_max, BYTES, npu_cpu_binary_float },
	[NPU_OP_RELU] = { npu_cpu_relu, BYTES, npu_cpu_unary_float },
	[NPU_OP_LEAKY_RELU] = { npu_cpu_leaky_relu, BYTES, npu_cpu_unary_float },
	[NPU_OP_PRELU] = { npu_cpu_prelu, BYTES, npu_cpu_binary_float },
	[NPU_OP_LOGISTIC] = { npu_cpu_logistic, BYTES, npu_cpu_unary_float },
	[NPU_OP_TANH] = { npu_cpu_tanh, BYTES, npu_cpu_unary_float },
	[NPU_OP_HARD_SWISH] = { npu_cpu_hard_swish, BYTES, npu_cpu_unary_float },
	[NPU_OP_FUNCTION] = { npu_cpu_function, BYTES, npu_cpu_function_float },
	[NPU_OP_SOFTMAX] = { npu_cpu_softmax, BYTES, npu_cpu_softmax_float },
	[NPU_OP_LRN] = { npu_cpu_lrn, BYTES, npu_cpu_lrn_float },
	[NPU_OP_RESHAPE] = { npu_cpu_reshape, ANY },
	[NPU_OP_TRANSPOSE] = { npu_cpu_transpose, ANY },
	[NPU_OP_PAD] = { npu_cpu_pad, ANY },
	[NPU_OP_CONCAT] = { npu_cpu_concat, ANY },
	[NPU_OP_SLICE] = { npu_cpu_slice, ANY },
	[NPU_OP_GATHER] = { npu_cpu_gather, ANY },
	[NPU_OP_GATHER_ELEMENTS] = { npu_cpu_gather_elements, ANY },
	[NPU_OP_GATHER_ND] = { npu_cpu_gather_nd, ANY },
	[NPU_OP_SCATTER_ELEMENTS] = { npu_cpu_scatter_elements, ANY },
	[NPU_OP_SCATTER_ND] = { npu_cpu_scatter_nd, ANY },
	[NPU_OP_RESIZE_NEAREST] = { npu_cpu_resize_nearest, ANY },
	[NPU_OP_RESIZE_BILINEAR] = { npu_cpu_resize_bilinear, BYTES,
				     npu_cpu_resize_bilinear_float },
	[NPU_OP_MEAN] = { npu_cpu_mean, BYTES, npu_cpu_reduce_float },
	[NPU_OP_REDUCE_SUM] = { npu_cpu_mean, BYTES, npu_cpu_reduce_float },
	[NPU_OP_REDUCE_MAX] = { npu_cpu_reduce_extreme, BYTES, npu_cpu_reduce_float },
	[NPU_OP_REDUCE_MIN] = { npu_cpu_reduce_extreme, BYTES, npu_cpu_reduce_float },
	[NPU_OP_REDUCE_PROD] = { NULL, BYTES, npu_cpu_reduce_float },
	[NPU_OP_ARG_MAX] = { npu_cpu_arg_extreme, TO_INDEX, npu_cpu_arg_extreme_float },
	[NPU_OP_ARG_MIN] = { npu_cpu_arg_extreme, TO_INDEX, npu_cpu_arg_extreme_float },
	[NPU_OP_TOP_MOST] = { npu_cpu_top, TO_INDEX, npu_cpu_top },
	[NPU_OP_TOP_LEAST] = { npu_cpu_top, TO_INDEX, npu_cpu_top },
	[NPU_OP_QUANTIZE] = { npu_cpu_quantize, TO_QUANTISED },
	[NPU_OP_DEQUANTIZE] = { npu_cpu_dequantize, FROM_QUANTISED },
	[NPU_OP_PIXELS] = { npu_cpu_pixels, FROM_BYTES },
};

static bool is_byte(enum npu_dtype dtype)
{
	return dtype == NPU_I8 || dtype == NPU_U8;
}

static bool is_quantised(enum npu_dtype dtype)
{
	return is_byte(dtype) || dtype == NPU_I16 || dtype == NPU_I32;
}

static bool types_fit(enum cpu_types types, enum npu_dtype in, enum npu_dtype out)
{
	switch (types) {
	case BYTES:
		return is_byte(in) && in == out;
	case ANY:
		return in == out;
	case TO_INDEX:
		return is_byte(in) && (out == NPU_I32 || out == NPU_I64);
	case TO_QUANTISED:
		return (is_quantised(in) || in == NPU_F32) && is_quantised(out);
	case FROM_QUANTISED:
		return is_quantised(in) && out == NPU_F32;
	case FROM_BYTES:
		return in == NPU_U8 && (is_byte(out) || out == NPU_F32);
	}
	return false;
}

/* What does this operator for these types; NULL: nothing. */
static npu_cpu_fn implementation(enum npu_op_kind kind, enum npu_dtype in, enum npu_dtype out)
{
	if (table[kind].run && types_fit(table[kind].types, in, out))
		return table[kind].run;
	if (in != NPU_F32)
		return NULL;
	if (table[kind].types == TO_INDEX)
		return out == NPU_I32 || out == NPU_I64 ? table[kind].run_float : NULL;
	return out == NPU_F32 ? table[kind].run_float : NULL;
}

const char *npu_cpu_check(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0);

	if ((u32)op->kind >= NPU_OP_COUNT || (!table[op->kind].run && !table[op->kind].run_float))
		return "the CPU has no implementation of this operator";
	if (!in || op->output_count != 1)
		return "the CPU has no implementation for this number of tensors";
	if (!implementation(op->kind, in->dtype, npu_op_output(graph, op)->dtype))
		return "the CPU has no implementation for these types";
	return NULL;
}

int npu_cpu_execute(const struct npu_cpu_call *call)
{
	if (npu_cpu_check(call->graph, call->op))
		return -ENOTSUP;
	return implementation(call->op->kind, npu_op_input(call->graph, call->op, 0)->dtype,
			      npu_op_output(call->graph, call->op)->dtype)(call);
}

static struct npu_cpu_view make_view(const struct npu_tensor *tensor, void *data)
{
	struct npu_cpu_view view = { .tensor = tensor, .data = data, .scale = 1 };

	if (tensor->quant.count) {
		view.scale = tensor->quant.scale[0];
		view.zero = tensor->quant.zero[0];
	}
	npu_tensor_nhwc(tensor, view.nhwc);
	view.elements = npu_tensor_elements(tensor);
	return view;
}

struct npu_cpu_view npu_cpu_input(const struct npu_cpu_call *call, u32 i)
{
	const struct npu_tensor *tensor = npu_op_input(call->graph, call->op, i);

	if (!tensor)
		return (struct npu_cpu_view){ .scale = 1 };
	/* Nobody writes through the view of an input. */
	return make_view(tensor, (void *)(uintptr_t)call->input[i]);
}

struct npu_cpu_view npu_cpu_output(const struct npu_cpu_call *call)
{
	return make_view(npu_op_output(call->graph, call->op), call->output[0]);
}
