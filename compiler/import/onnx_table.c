// SPDX-License-Identifier: MIT
/* Which operators of ONNX are read, and how. */
#include "onnx.h"

#define FIRST 1 /* only input 0 is a value */
#define BOTH 3
#define ALL UINT32_MAX
#define NONE NPU_ACT_NONE
#define MS "com.microsoft"

static const struct onnx_row rows[] = {
	{ "Abs", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Acos", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Acosh", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Add", "", 2, BOTH, ONNX_ANY_QUANT, NPU_OP_ADD, NONE, onnx_read_binary },
	{ "ArgMax", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_ARG_MAX, NONE, onnx_read_arg },
	{ "ArgMin", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_ARG_MIN, NONE, onnx_read_arg },
	{ "Asin", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Asinh", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Atan", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Atanh", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "AveragePool", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_AVERAGE_POOL, NONE,
	  onnx_read_pool },
	{ "BatchNormalization", "", 5, FIRST, ONNX_FLOAT_ONLY, NPU_OP_MUL, NONE,
	  onnx_read_batch_norm },
	{ "Cast", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_RESHAPE, NONE, onnx_read_cast },
	{ "Ceil", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Celu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_celu },
	{ "Clip", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_RELU, NONE, onnx_read_clip },
	{ "Concat", "", 1, ALL, ONNX_ANY_QUANT, NPU_OP_CONCAT, NONE, onnx_read_concat },
	{ "Constant", "", 0, 0, ONNX_FLOAT_ONLY, NPU_OP_RESHAPE, NONE, onnx_read_constant },
	{ "ConstantOfShape", "", 1, 0, ONNX_FLOAT_ONLY, NPU_OP_RESHAPE, NONE,
	  onnx_read_constant_of_shape },
	{ "Conv", "", 2, ALL, ONNX_ANY_QUANT, NPU_OP_CONV, NONE, onnx_read_conv },
	{ "ConvTranspose", "", 2, ALL, ONNX_ANY_QUANT, NPU_OP_TRANSPOSE_CONV, NONE,
	  onnx_read_conv_transpose },
	{ "Cos", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Cosh", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "DepthToSpace", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_TRANSPOSE, NONE,
	  onnx_read_depth_to_space },
	{ "DequantizeLinear", "", 2, FIRST, ONNX_FLOAT_ONLY, NPU_OP_DEQUANTIZE, NONE,
	  onnx_read_dequantize },
	{ "Div", "", 2, BOTH, ONNX_FLOAT_ONLY, NPU_OP_DIV, NONE, onnx_read_binary },
	{ "Dropout", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESHAPE, NONE, onnx_read_dropout },
	{ "Elu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Erf", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Exp", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Expand", "", 2, FIRST, ONNX_KEEPS_QUANT, NPU_OP_GATHER, NONE, onnx_read_expand },
	{ "Flatten", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESHAPE, NONE, onnx_read_flatten },
	{ "Floor", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Gather", "", 2, FIRST, ONNX_KEEPS_QUANT, NPU_OP_GATHER, NONE, onnx_read_gather },
	{ "Gelu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_gelu },
	{ "Gemm", "", 2, ALL, ONNX_ANY_QUANT, NPU_OP_FULLY_CONNECTED, NONE, onnx_read_gemm },
	{ "GlobalAveragePool", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_MEAN, NONE,
	  onnx_read_global_pool },
	{ "GlobalMaxPool", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_REDUCE_MAX, NONE,
	  onnx_read_global_pool },
	{ "HardSigmoid", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "HardSwish", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_HARD_SWISH, NONE, onnx_read_unary },
	{ "Identity", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESHAPE, NONE, onnx_read_identity },
	{ "LRN", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_LRN, NONE, onnx_read_lrn },
	{ "LeakyRelu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_LEAKY_RELU, NONE,
	  onnx_read_leaky_relu },
	{ "Log", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "LogSoftmax", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_SUM, NONE,
	  onnx_read_log_softmax },
	{ "MatMul", "", 2, ALL, ONNX_ANY_QUANT, NPU_OP_FULLY_CONNECTED, NONE, onnx_read_matmul },
	{ "Max", "", 2, BOTH, ONNX_KEEPS_QUANT, NPU_OP_MAXIMUM, NONE, onnx_read_binary },
	{ "MaxPool", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_MAX_POOL, NONE, onnx_read_pool },
	{ "Min", "", 2, BOTH, ONNX_KEEPS_QUANT, NPU_OP_MINIMUM, NONE, onnx_read_binary },
	{ "Mish", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Mul", "", 2, BOTH, ONNX_ANY_QUANT, NPU_OP_MUL, NONE, onnx_read_binary },
	{ "Neg", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "PRelu", "", 2, BOTH, ONNX_ANY_QUANT, NPU_OP_PRELU, NONE, onnx_read_binary },
	{ "Pad", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_PAD, NONE, onnx_read_pad },
	{ "Pow", "", 2, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_pow },
	{ "QLinearConv", "", 8, FIRST, ONNX_FLOAT_ONLY, NPU_OP_CONV, NONE, onnx_read_qlinear_conv },
	{ "QLinearMatMul", "", 8, FIRST, ONNX_FLOAT_ONLY, NPU_OP_FULLY_CONNECTED, NONE,
	  onnx_read_qlinear_matmul },
	{ "QuantizeLinear", "", 2, FIRST, ONNX_FLOAT_ONLY, NPU_OP_QUANTIZE, NONE,
	  onnx_read_quantize },
	{ "Reciprocal", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "ReduceL1", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_SUM, NONE, onnx_read_reduce },
	{ "ReduceL2", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_SUM, NONE, onnx_read_reduce },
	{ "ReduceLogSum", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_SUM, NONE,
	  onnx_read_reduce },
	{ "ReduceLogSumExp", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_SUM, NONE,
	  onnx_read_reduce },
	{ "ReduceMax", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_REDUCE_MAX, NONE, onnx_read_reduce },
	{ "ReduceMean", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_MEAN, NONE, onnx_read_reduce },
	{ "ReduceMin", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_REDUCE_MIN, NONE, onnx_read_reduce },
	{ "ReduceProd", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_PROD, NONE, onnx_read_reduce },
	{ "ReduceSum", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_REDUCE_SUM, NONE, onnx_read_reduce },
	{ "ReduceSumSquare", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_REDUCE_SUM, NONE,
	  onnx_read_reduce },
	{ "Relu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_RELU, NPU_ACT_RELU, onnx_read_relu },
	{ "Reshape", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESHAPE, NONE, onnx_read_reshape },
	{ "Resize", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESIZE_NEAREST, NONE, onnx_read_resize },
	{ "Round", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Selu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Shape", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_RESHAPE, NONE, onnx_read_shape },
	{ "Shrink", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Sigmoid", "", 1, FIRST, ONNX_UNIT_QUANT, NPU_OP_LOGISTIC, NONE, onnx_read_unary },
	{ "Sign", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Sin", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Sinh", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Slice", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_SLICE, NONE, onnx_read_slice },
	{ "Softmax", "", 1, FIRST, ONNX_UNIT_QUANT, NPU_OP_SOFTMAX, NONE, onnx_read_softmax },
	{ "Softplus", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Softsign", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "SpaceToDepth", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_TRANSPOSE, NONE,
	  onnx_read_space_to_depth },
	{ "Split", "", 1, FIRST, ONNX_FLOAT_ONLY, NPU_OP_SLICE, NONE, onnx_read_split },
	{ "Sqrt", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Squeeze", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESHAPE, NONE, onnx_read_squeeze },
	{ "Sub", "", 2, BOTH, ONNX_ANY_QUANT, NPU_OP_SUB, NONE, onnx_read_binary },
	{ "Sum", "", 2, BOTH, ONNX_ANY_QUANT, NPU_OP_ADD, NONE, onnx_read_binary },
	{ "Swish", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Tan", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
	{ "Tanh", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_TANH, NONE, onnx_read_unary },
	{ "ThresholdedRelu", "", 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE,
	  onnx_read_function },
	{ "Tile", "", 2, FIRST, ONNX_KEEPS_QUANT, NPU_OP_GATHER, NONE, onnx_read_tile },
	{ "Transpose", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_TRANSPOSE, NONE,
	  onnx_read_transpose },
	{ "Unsqueeze", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESHAPE, NONE, onnx_read_unsqueeze },
	{ "Upsample", "", 1, FIRST, ONNX_KEEPS_QUANT, NPU_OP_RESIZE_NEAREST, NONE,
	  onnx_read_resize },
	{ "DequantizeLinear", MS, 2, FIRST, ONNX_FLOAT_ONLY, NPU_OP_DEQUANTIZE, NONE,
	  onnx_read_dequantize },
	{ "Gelu", MS, 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_gelu },
	{ "QLinearAdd", MS, 7, FIRST, ONNX_FLOAT_ONLY, NPU_OP_ADD, NONE, onnx_read_qlinear_binary },
	{ "QLinearGlobalAveragePool", MS, 4, FIRST, ONNX_FLOAT_ONLY, NPU_OP_MEAN, NONE,
	  onnx_read_qlinear_unary },
	{ "QLinearLeakyRelu", MS, 4, FIRST, ONNX_FLOAT_ONLY, NPU_OP_LEAKY_RELU, NONE,
	  onnx_read_qlinear_unary },
	{ "QLinearMul", MS, 7, FIRST, ONNX_FLOAT_ONLY, NPU_OP_MUL, NONE, onnx_read_qlinear_binary },
	{ "QLinearSigmoid", MS, 4, FIRST, ONNX_FLOAT_ONLY, NPU_OP_LOGISTIC, NONE,
	  onnx_read_qlinear_unary },
	{ "QuantizeLinear", MS, 2, FIRST, ONNX_FLOAT_ONLY, NPU_OP_QUANTIZE, NONE,
	  onnx_read_quantize },
	{ "QuickGelu", MS, 1, FIRST, ONNX_ANY_QUANT, NPU_OP_FUNCTION, NONE, onnx_read_function },
};

const struct onnx_row *onnx_find_row(const Onnx__NodeProto *node)
{
	const char *domain = node->domain ? node->domain : "";
	const char *name = node->op_type ? node->op_type : "";
	u32 i;

	if (!strcmp(domain, "ai.onnx"))
		domain = "";
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name) && !strcmp(rows[i].domain, domain))
			return &rows[i];
	return NULL;
}

bool npu_onnx_operator(u32 i, struct npu_framework_operator *op)
{
	if (i >= ARRAY_SIZE(rows))
		return false;
	*op = (struct npu_framework_operator){ rows[i].name, rows[i].domain, rows[i].kind };
	return true;
}
