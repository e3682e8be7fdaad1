// SPDX-License-Identifier: MIT
/* Which operators of TensorFlow Lite are read, and how. */
#include "tflite.h"

enum { OPTIONS_NONE };

/* enum BuiltinOptions: which table of options an operator has. */
enum {
	CONV_OPTIONS = 1,
	DEPTHWISE_OPTIONS = 2,
	POOL_OPTIONS = 5,
	FULLY_CONNECTED_OPTIONS = 8,
	SOFTMAX_OPTIONS = 9,
	CONCAT_OPTIONS = 10,
	ADD_OPTIONS = 11,
	L2_NORM_OPTIONS = 12,
	LRN_OPTIONS = 13,
	RESIZE_BILINEAR_OPTIONS = 15,
	SPACE_TO_DEPTH_OPTIONS = 19,
	MUL_OPTIONS = 21,
	GATHER_OPTIONS = 23,
	SUB_OPTIONS = 28,
	DIV_OPTIONS = 29,
	SEQUENCE_RNN_OPTIONS = 31,
	STRIDED_SLICE_OPTIONS = 32,
	TRANSPOSE_CONV_OPTIONS = 49,
	PACK_OPTIONS = 59,
	UNPACK_OPTIONS = 64,
	SEQUENCE_LSTM_OPTIONS = 71,
	RESIZE_NEAREST_OPTIONS = 74,
	LEAKY_RELU_OPTIONS = 75,
	MIRROR_PAD_OPTIONS = 77,
	DEPTH_TO_SPACE_OPTIONS = 94,
	BATCH_MATMUL_OPTIONS = 101,
	GELU_OPTIONS = 116,
};

#define FIRST 1 /* only input 0 is a value */
#define BOTH 3
#define ALL UINT32_MAX

static const struct tflite_row rows[] = {
	{ 0, ADD_OPTIONS, 2, BOTH, NPU_OP_ADD, 0, tflite_read_binary },
	{ 1, POOL_OPTIONS, 1, FIRST, NPU_OP_AVERAGE_POOL, 0, tflite_read_pool },
	{ 2, CONCAT_OPTIONS, 1, ALL, NPU_OP_CONCAT, 0, tflite_read_concat },
	{ 3, CONV_OPTIONS, 2, ALL, NPU_OP_CONV, 0, tflite_read_conv },
	{ 4, DEPTHWISE_OPTIONS, 2, ALL, NPU_OP_CONV, 0, tflite_read_depthwise },
	{ 5, DEPTH_TO_SPACE_OPTIONS, 1, FIRST, NPU_OP_TRANSPOSE, 0, tflite_read_blocks },
	{ 6, OPTIONS_NONE, 1, FIRST, NPU_OP_DEQUANTIZE, 0, tflite_read_dequantize },
	{ 7, OPTIONS_NONE, 2, BOTH, NPU_OP_GATHER, 0, tflite_read_embedding },
	{ 8, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_FLOOR },
	{ 9, FULLY_CONNECTED_OPTIONS, 2, ALL, NPU_OP_FULLY_CONNECTED, 0,
	  tflite_read_fully_connected },
	{ 11, L2_NORM_OPTIONS, 1, FIRST, NPU_OP_DIV, 0, tflite_read_l2_norm },
	{ 13, LRN_OPTIONS, 1, FIRST, NPU_OP_LRN, 0, tflite_read_lrn },
	{ 14, OPTIONS_NONE, 1, FIRST, NPU_OP_LOGISTIC, 0, tflite_read_unary },
	{ 17, POOL_OPTIONS, 1, FIRST, NPU_OP_MAX_POOL, 0, tflite_read_pool },
	{ 18, MUL_OPTIONS, 2, BOTH, NPU_OP_MUL, 0, tflite_read_binary },
	{ 19, OPTIONS_NONE, 1, FIRST, NPU_OP_RELU, NPU_ACT_RELU, tflite_read_unary },
	{ 20, OPTIONS_NONE, 1, FIRST, NPU_OP_RELU, NPU_ACT_RELU_N1_TO_1, tflite_read_unary },
	{ 21, OPTIONS_NONE, 1, FIRST, NPU_OP_RELU, NPU_ACT_RELU6, tflite_read_unary },
	{ 22, OPTIONS_NONE, 1, FIRST, NPU_OP_RESHAPE, 0, tflite_read_unary },
	{ 23, RESIZE_BILINEAR_OPTIONS, 2, FIRST, NPU_OP_RESIZE_BILINEAR, 0, tflite_read_resize },
	{ 25, SOFTMAX_OPTIONS, 1, FIRST, NPU_OP_SOFTMAX, 0, tflite_read_softmax },
	{ 26, SPACE_TO_DEPTH_OPTIONS, 1, FIRST, NPU_OP_TRANSPOSE, 0, tflite_read_blocks },
	{ 28, OPTIONS_NONE, 1, FIRST, NPU_OP_TANH, 0, tflite_read_unary },
	{ 34, OPTIONS_NONE, 2, FIRST, NPU_OP_PAD, 0, tflite_read_pad },
	{ 35, SEQUENCE_RNN_OPTIONS, 5, ~(1u << 4), NPU_OP_FULLY_CONNECTED, 0, tflite_read_rnn, 0,
	  1u << 4 },
	{ 36, GATHER_OPTIONS, 2, BOTH, NPU_OP_GATHER, 0, tflite_read_gather },
	{ 37, OPTIONS_NONE, 3, FIRST, NPU_OP_SLICE, 0, tflite_read_batch_to_space },
	{ 38, OPTIONS_NONE, 3, FIRST, NPU_OP_PAD, 0, tflite_read_space_to_batch },
	{ 39, OPTIONS_NONE, 2, FIRST, NPU_OP_TRANSPOSE, 0, tflite_read_transpose },
	{ 40, OPTIONS_NONE, 2, FIRST, NPU_OP_MEAN, 0, tflite_read_reduce },
	{ 41, SUB_OPTIONS, 2, BOTH, NPU_OP_SUB, 0, tflite_read_binary },
	{ 42, DIV_OPTIONS, 2, BOTH, NPU_OP_DIV, 0, tflite_read_binary },
	{ 43, OPTIONS_NONE, 1, FIRST, NPU_OP_RESHAPE, 0, tflite_read_unary }, /* SQUEEZE */
	{ 44, SEQUENCE_LSTM_OPTIONS, 1, ~(3u << 18), NPU_OP_FULLY_CONNECTED, 0, tflite_read_lstm, 0,
	  3u << 18 },
	{ 45, STRIDED_SLICE_OPTIONS, 4, FIRST, NPU_OP_SLICE, 0, tflite_read_strided_slice },
	{ 47, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_EXP },
	{ 48, OPTIONS_NONE, 2, FIRST, NPU_OP_TOP_MOST, 0, tflite_read_top_k },
	{ 49, OPTIONS_NONE, 2, 2, NPU_OP_SLICE, 0, tflite_read_split },
	{ 50, OPTIONS_NONE, 1, FIRST, NPU_OP_REDUCE_SUM, 0, tflite_read_log_softmax },
	{ 53, OPTIONS_NONE, 1, FIRST, NPU_OP_DEQUANTIZE, 0, tflite_read_cast },
	{ 54, OPTIONS_NONE, 2, BOTH, NPU_OP_PRELU, 0, tflite_read_prelu },
	{ 55, OPTIONS_NONE, 2, BOTH, NPU_OP_MAXIMUM, 0, tflite_read_binary },
	{ 56, OPTIONS_NONE, 2, FIRST, NPU_OP_ARG_MAX, 0, tflite_read_arg_max },
	{ 57, OPTIONS_NONE, 2, BOTH, NPU_OP_MINIMUM, 0, tflite_read_binary },
	{ 59, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_NEG },
	{ 60, OPTIONS_NONE, 3, 1 | 4, NPU_OP_PAD, 0, tflite_read_pad }, /* PADV2 */
	{ 65, OPTIONS_NONE, 3, FIRST, NPU_OP_SLICE, 0, tflite_read_slice },
	{ 66, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_SIN },
	{ 67, TRANSPOSE_CONV_OPTIONS, 3, ~1u, NPU_OP_TRANSPOSE_CONV, 0,
	  tflite_read_transpose_conv },
	{ 69, OPTIONS_NONE, 2, FIRST, NPU_OP_GATHER, 0, tflite_read_tile },
	{ 70, OPTIONS_NONE, 1, FIRST, NPU_OP_RESHAPE, 0, tflite_read_unary }, /* EXPAND_DIMS */
	{ 73, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_LOG },
	{ 74, OPTIONS_NONE, 2, FIRST, NPU_OP_REDUCE_SUM, 0, tflite_read_reduce },
	{ 75, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_power,
	  NPU_FN_POWER }, /* SQRT */
	{ 76, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_power,
	  NPU_FN_POWER }, /* RSQRT */
	{ 77, OPTIONS_NONE, 1, 0, NPU_OP_RESHAPE, 0, tflite_read_shape },
	{ 78, OPTIONS_NONE, 2, FIRST, NPU_OP_FUNCTION, 0, tflite_read_power, NPU_FN_POWER },
	{ 79, OPTIONS_NONE, 2, FIRST, NPU_OP_ARG_MIN, 0, tflite_read_arg_max },
	{ 81, OPTIONS_NONE, 2, FIRST, NPU_OP_REDUCE_PROD, 0, tflite_read_reduce },
	{ 82, OPTIONS_NONE, 2, FIRST, NPU_OP_REDUCE_MAX, 0, tflite_read_reduce },
	{ 83, PACK_OPTIONS, 1, ALL, NPU_OP_CONCAT, 0, tflite_read_pack },
	{ 88, UNPACK_OPTIONS, 1, FIRST, NPU_OP_SLICE, 0, tflite_read_unpack },
	{ 89, OPTIONS_NONE, 2, FIRST, NPU_OP_REDUCE_MIN, 0, tflite_read_reduce },
	{ 92, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_power,
	  NPU_FN_POWER }, /* SQUARE */
	{ 93, OPTIONS_NONE, 1, 0, NPU_OP_RESHAPE, 0, tflite_read_zeros_like },
	{ 94, OPTIONS_NONE, 2, 2, NPU_OP_RESHAPE, 0, tflite_read_fill },
	{ 97, RESIZE_NEAREST_OPTIONS, 2, FIRST, NPU_OP_RESIZE_NEAREST, 0, tflite_read_resize },
	{ 98, LEAKY_RELU_OPTIONS, 1, FIRST, NPU_OP_LEAKY_RELU, 0, tflite_read_leaky_relu },
	{ 99, OPTIONS_NONE, 2, BOTH, NPU_OP_SUB, 0, tflite_read_squared_difference },
	{ 100, MIRROR_PAD_OPTIONS, 2, FIRST, NPU_OP_GATHER, 0, tflite_read_mirror_pad },
	{ 101, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_ABS },
	{ 102, OPTIONS_NONE, 3, FIRST, NPU_OP_SLICE, 0, tflite_read_split_v },
	{ 104, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_CEIL },
	{ 105, OPTIONS_NONE, 2, FIRST, NPU_OP_GATHER, 0, tflite_read_reverse },
	{ 106, OPTIONS_NONE, 1, ALL, NPU_OP_ADD, 0, tflite_read_add_n },
	{ 107, OPTIONS_NONE, 2, BOTH, NPU_OP_GATHER_ND, 0, tflite_read_gather_nd },
	{ 108, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_COS },
	{ 111, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_ELU },
	{ 114, OPTIONS_NONE, 1, FIRST, NPU_OP_QUANTIZE, 0, tflite_read_quantize },
	{ 116, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_ROUND },
	{ 117, OPTIONS_NONE, 1, FIRST, NPU_OP_HARD_SWISH, 0, tflite_read_unary },
	{ 126, BATCH_MATMUL_OPTIONS, 2, BOTH, NPU_OP_MATMUL, 0, tflite_read_batch_matmul },
	{ 130, OPTIONS_NONE, 1, FIRST, NPU_OP_GATHER, 0, tflite_read_broadcast_to },
	{ 150, GELU_OPTIONS, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_gelu, NPU_FN_GELU },
	{ 152, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function,
	  NPU_FN_HARD_SIGMOID }, /* RELU_0_TO_1 */
	{ 158, OPTIONS_NONE, 1, FIRST, NPU_OP_FUNCTION, 0, tflite_read_function, NPU_FN_SIGN },
};

const struct tflite_row *tflite_find_row(u32 code)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == code)
			return &rows[i];
	return NULL;
}

#define CONTROL_FLOW                                                                             \
	"control flow is not supported: what the NPU does is fixed when the model is compiled; " \
	"convert the model without it"
#define STATE                                                                                  \
	"it keeps values from one run to the next, which is not supported; convert the model " \
	"for whole sequences"
#define SELECTION                                                                             \
	"what it picks depends on values, which is the application's work: end the model in " \
	"front of it"

static const struct {
	u8 code;
	const char *why;
} refused[] = {
	{ 16, STATE }, /* LSTM */
	{ 24, STATE }, /* RNN */
	{ 27, STATE }, /* SVDF */
	{ 109, SELECTION }, /* WHERE */
	{ 118, CONTROL_FLOW }, /* IF */
	{ 119, CONTROL_FLOW }, /* WHILE */
	{ 120, SELECTION }, /* NON_MAX_SUPPRESSION_V4 */
	{ 121, SELECTION }, /* NON_MAX_SUPPRESSION_V5 */
	{ 129, CONTROL_FLOW }, /* CALL_ONCE */
	{ 142, STATE }, /* VAR_HANDLE */
	{ 143, STATE }, /* READ_VARIABLE */
	{ 144, STATE }, /* ASSIGN_VARIABLE */
};

const char *tflite_why_refused(u32 code)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (refused[i].code == code)
			return refused[i].why;
	return "this operator is not supported";
}

bool npu_tflite_operator(u32 i, struct npu_framework_operator *op)
{
	if (i >= ARRAY_SIZE(rows))
		return false;
	*op = (struct npu_framework_operator){ tflite_builtin_name(rows[i].code), "",
					       rows[i].kind };
	return true;
}
