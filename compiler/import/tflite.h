/* SPDX-License-Identifier: MIT */
/*
 * Inside of the TensorFlow Lite importer: numbers of the schema
 * (tensorflow/compiler/mlir/lite/schema/schema.fbs, version 3) and the state
 * that the model reader (tflite.c) and the operators (tflite_*.c) share.
 */
#ifndef NPU_TFLITE_H
#define NPU_TFLITE_H

#include "flatbuffer.h"
#include "graph.h"

/* Fields of the tables, in the schema's order. */
enum { MODEL_VERSION, MODEL_OPERATOR_CODES, MODEL_SUBGRAPHS, MODEL_DESCRIPTION, MODEL_BUFFERS };
enum { CODE_DEPRECATED, CODE_CUSTOM, CODE_VERSION, CODE_BUILTIN };
enum { SUBGRAPH_TENSORS, SUBGRAPH_INPUTS, SUBGRAPH_OUTPUTS, SUBGRAPH_OPERATORS };
enum {
	TENSOR_SHAPE,
	TENSOR_TYPE,
	TENSOR_BUFFER,
	TENSOR_NAME,
	TENSOR_QUANTIZATION,
	TENSOR_IS_VARIABLE,
	TENSOR_SPARSITY,
	TENSOR_EXTERNAL_BUFFER = 10,
};
enum { BUFFER_DATA, BUFFER_OFFSET, BUFFER_SIZE };
enum {
	QUANT_MIN,
	QUANT_MAX,
	QUANT_SCALE,
	QUANT_ZERO_POINT,
	QUANT_DETAILS_TYPE,
	QUANT_DETAILS,
	QUANT_DIMENSION,
};
enum { OPERATOR_CODE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_OPTIONS_TYPE, OPERATOR_OPTIONS };

/* Values of enum BuiltinOperator with a meaning of their own here. */
enum { TFLITE_CUSTOM = 32 };

/* Operators with more inputs (but for recurrent ones: than NPU_MAX_INPUTS) or outputs are refused. */
#define TFLITE_MAX_INPUTS 24
#define TFLITE_MAX_OUTPUTS 64

/* Larger kernels, strides, dilations and blocks are refused; products of two stay in 32 bits. */
#define TFLITE_MAX_WINDOW 65535

/* Why a tensor cannot be used; it is an error only if something uses it. */
enum tflite_fault {
	TENSOR_GOOD,
	TENSOR_BAD_TYPE,
	TENSOR_BAD_RANK,
	TENSOR_BAD_SHAPE,
	TENSOR_VARIABLE,
	TENSOR_SPARSE,
	TENSOR_EXTERNAL,
	TENSOR_BAD_BUFFER,
	TENSOR_BAD_QUANT, /* last: a bias may be used all the same, its scale follows from others */
};

struct tflite_row;
struct tflite_blocks;

/**
 * struct tflite - the state of one import
 * @codes, @buffers, @tensors, @operators: the model's vectors of tables
 * @fault, @live: for each tensor of the subgraph: enum tflite_fault; whether its value matters
 * @reordered: for each tensor: its copy as depthwise weights, NPU_NONE as long as there is none
 * @real: for each tensor: its copy as float32 constant, NPU_NONE as long as there is none
 * @scale16: for each tensor that is quantised INT16 in the file and float32 in the graph: its scale
 * @blocks: for each tensor: how SPACE_TO_BATCH_ND takes it apart in the file; NULL: not at all
 * @steps: of all recurrent layers so far
 * @index, @row: the operator at work
 * @input, @output: its tensors in the graph; NPU_NONE where an optional input is missing
 * @options: its table of options, maybe absent
 */
struct tflite {
	struct flatbuffer file;
	struct npu_graph *graph;
	struct npu_diag *diag;
	struct fb_vector codes, buffers, tensors, operators;
	u8 *fault;
	bool *live;
	u32 *reordered;
	u32 *real;
	float *scale16;
	struct tflite_blocks **blocks;
	u32 steps;

	u32 index;
	const struct tflite_row *row;
	u32 input[TFLITE_MAX_INPUTS];
	u32 input_count;
	u32 output[TFLITE_MAX_OUTPUTS];
	u32 output_count;
	struct fb_table options;
};

/**
 * struct tflite_row - how an operator is read
 * @code: enum BuiltinOperator
 * @options_type: enum BuiltinOptions; 0: it has none that matter
 * @min_inputs: less is an error
 * @values: mask of the inputs whose values the result depends on; the others are parameters, which
 *          have to be constant
 * @kind: what it becomes
 * @activation: of activations that are operators
 * @read: adds it to the graph
 * @function: of NPU_OP_FUNCTION
 * @states: mask of the inputs that are variables: zeros when a run begins
 */
struct tflite_row {
	u8 code;
	u8 options_type;
	u8 min_inputs;
	u32 values;
	enum npu_op_kind kind;
	enum npu_activation activation;
	int (*read)(struct tflite *t);
	enum npu_function function;
	u32 states;
};

const char *tflite_builtin_name(u32 code);

/* The code of an operator and, where it is TFLITE_CUSTOM, its name. */
u32 tflite_builtin_code(struct tflite *t, const struct fb_table *entry, const char **custom);

/* The row of an operator, or NULL; then: why it is not supported. */
const struct tflite_row *tflite_find_row(u32 code);
const char *tflite_why_refused(u32 code);

/* ---- tflite_ops.c ---- */

const struct npu_tensor *tflite_tensor(struct tflite *t, u32 index);

/* Appends an operator that computes @output; NULL and an error in *@error when out of memory. */
struct npu_op *tflite_add(struct tflite *t, enum npu_op_kind kind, u32 input_count,
			  const u32 *inputs, u32 output, int *error);

/* One more tensor with a given shape and all else from another one. */
int tflite_tensor_like(struct tflite *t, u32 like, const char *name, u32 rank, const u32 *dim,
		       u32 *index);

/* Input @input as a constant parameter of at most @limit, or exactly @count, numbers. */
int tflite_constant(struct tflite *t, u32 input, s32 *values, u32 limit, u32 *count);
int tflite_constants(struct tflite *t, u32 input, s32 *values, u32 count);

/* Makes an axis that may count from the end one that does not. */
int tflite_axis(struct tflite *t, s32 *axis, u32 rank);

int tflite_read_conv(struct tflite *t);
int tflite_read_depthwise(struct tflite *t);
int tflite_read_transpose_conv(struct tflite *t);
int tflite_read_pool(struct tflite *t);
int tflite_read_fully_connected(struct tflite *t);
int tflite_read_binary(struct tflite *t);
int tflite_read_batch_matmul(struct tflite *t);
int tflite_read_squared_difference(struct tflite *t);
int tflite_read_unary(struct tflite *t);
int tflite_read_dequantize(struct tflite *t);
int tflite_read_quantize(struct tflite *t);
int tflite_read_function(struct tflite *t);
int tflite_read_gelu(struct tflite *t);
int tflite_read_power(struct tflite *t);
int tflite_read_prelu(struct tflite *t);
int tflite_read_leaky_relu(struct tflite *t);
int tflite_read_softmax(struct tflite *t);
int tflite_read_lrn(struct tflite *t);
int tflite_read_reduce(struct tflite *t);
int tflite_read_arg_max(struct tflite *t);
int tflite_read_top_k(struct tflite *t);
int tflite_read_resize(struct tflite *t);

/* ---- tflite_move.c ---- */

int tflite_read_mirror_pad(struct tflite *t);
int tflite_read_tile(struct tflite *t);
int tflite_read_broadcast_to(struct tflite *t);
int tflite_read_reverse(struct tflite *t);
int tflite_read_blocks(struct tflite *t);
int tflite_read_concat(struct tflite *t);
int tflite_read_pack(struct tflite *t);
int tflite_read_pad(struct tflite *t);
int tflite_read_transpose(struct tflite *t);
int tflite_read_gather(struct tflite *t);
int tflite_read_gather_nd(struct tflite *t);
int tflite_read_slice(struct tflite *t);
int tflite_read_strided_slice(struct tflite *t);
int tflite_read_split(struct tflite *t);
int tflite_read_split_v(struct tflite *t);
int tflite_read_unpack(struct tflite *t);
int tflite_read_shape(struct tflite *t);

/* ---- tflite_compose.c ---- */

int tflite_read_l2_norm(struct tflite *t);
int tflite_read_log_softmax(struct tflite *t);
int tflite_read_add_n(struct tflite *t);
int tflite_read_cast(struct tflite *t);
int tflite_read_zeros_like(struct tflite *t);
int tflite_read_fill(struct tflite *t);
int tflite_read_embedding(struct tflite *t);

/* ---- tflite_detect.c ---- */

/* The outputs of a last operator that decodes boxes are replaced by what it reads. */
int tflite_end_at_boxes(struct tflite *t);

/* ---- tflite_recurrent.c ---- */

int tflite_read_lstm(struct tflite *t);
int tflite_read_rnn(struct tflite *t);

/* ---- tflite_batch.c: images that the file takes apart and puts together again ---- */

/*
 * The operator at work reads what SPACE_TO_BATCH_ND made: its output becomes a whole image too.
 * -ENOTSUP where the operator does not treat all blocks alike.
 */
int tflite_join_blocks(struct tflite *t);

/* A tensor with the dimensions of one block where it was taken apart; else as it is. */
struct npu_tensor tflite_block(struct tflite *t, u32 tensor);

/* Makes a window over a block one over the whole image @tensor. */
int tflite_join_window(struct tflite *t, u32 tensor, struct npu_window *window);

int tflite_read_space_to_batch(struct tflite *t);
int tflite_read_batch_to_space(struct tflite *t);

/* ---- tflite_real.c: what files keep in fewer bits than the graph computes with ---- */

/**
 * tflite_widen_int16() - makes a quantised INT16 tensor that was just read one of float32
 * @tensor: index; @fault: of it
 */
int tflite_widen_int16(struct tflite *t, u32 tensor, u8 *fault);

/* INT16 inputs and outputs of the graph stay what they are: conversions at its ends. */
int tflite_convert_inputs(struct tflite *t);
int tflite_convert_outputs(struct tflite *t);

/**
 * tflite_real_operands() - float32 forms of a convolution's weights and bias
 * @weights, @bias: their numbers among the operator's inputs, which change
 *
 * Only where the operator's value @in is float32; constants of float16 and INT8 are widened, integer
 * biases are in units of the product of both scales.
 */
int tflite_real_operands(struct tflite *t, u32 in, u32 weights, u32 bias);

/* The elements of a constant as float32 numbers. */
int tflite_real_copy(struct tflite *t, u32 from, float *to);

/* The elements of a constant, whatever their scale, as float32 numbers: tensor @to becomes constant. */
int tflite_cast_constant(struct tflite *t, u32 from, u32 to);

/* The float32 form of a constant, which may be one already. */
int tflite_real_constant(struct tflite *t, u32 from, u32 *to);

/* An error about the operator at work; returns @error. */
int tflite_fail(struct tflite *t, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* NPU_TFLITE_H */
