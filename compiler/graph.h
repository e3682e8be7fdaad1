/* SPDX-License-Identifier: MIT */
/*
 * IR1: the framework-neutral graph.  What an importer makes of a model file and
 * what the optimiser starts from.
 *
 * Conventions: activations are NHWC (N = 1), convolution weights are
 * [K][R][S][C/groups] (for depthwise too: groups = C, K = C * multiplier),
 * fully connected weights are [K][C].  Tensors refer to data by pointer; data of
 * constants usually points into the mapped model file, which outlives the graph.
 *
 * Float networks use the same operators with float32 tensors (float16 is widened by
 * the importer): weights and bias of convolutions are float32 constants, batch
 * normalisation is folded into the convolution in front or is MUL and ADD by channel,
 * a clamp without a kind of its own is MAXIMUM and MINIMUM with constants.  Inputs and
 * outputs keep the framework's order of dimensions; transposes stand between.
 */
#ifndef NPU_GRAPH_H
#define NPU_GRAPH_H

#include "arena.h"
#include "diag.h"
#include "nvdla_types.h"

#define NPU_MAX_RANK 6

enum npu_dtype {
	NPU_I8,
	NPU_U8,
	NPU_I16,
	NPU_I32,
	NPU_I64,
	NPU_F16,
	NPU_F32,
	NPU_BOOL,
	NPU_DTYPE_COUNT
};

/**
 * struct npu_quant - affine quantisation: real = scale * (stored - zero)
 * @count: 0: not quantised; 1: one pair for the tensor; else one pair for each index of @axis
 * @axis: the dimension that @count > 1 refers to
 */
struct npu_quant {
	u32 count;
	u32 axis;
	const float *scale;
	const s32 *zero;
};

struct npu_tensor {
	const char *name;
	enum npu_dtype dtype;
	u32 rank;
	u32 dim[NPU_MAX_RANK];
	struct npu_quant quant;
	const void *data; /* of a constant; NULL: computed or an input */
	size_t bytes; /* of all elements */
};

enum npu_op_kind {
	NPU_OP_CONV, /* in, weights, bias or NPU_NONE */
	NPU_OP_TRANSPOSE_CONV,
	NPU_OP_FULLY_CONNECTED,
	NPU_OP_MATMUL, /* [..., M, K] by [..., K, N], leading dimensions broadcast; both may be computed */
	NPU_OP_MAX_POOL,
	NPU_OP_AVERAGE_POOL, /* of stored values where they keep their scale, else of real ones */
	NPU_OP_ADD,
	NPU_OP_SUB,
	NPU_OP_MUL,
	NPU_OP_DIV,
	NPU_OP_MINIMUM,
	NPU_OP_MAXIMUM,
	NPU_OP_RELU, /* the activation alone: param.activation */
	NPU_OP_LEAKY_RELU,
	NPU_OP_PRELU,
	NPU_OP_LOGISTIC,
	NPU_OP_TANH,
	NPU_OP_HARD_SWISH,
	NPU_OP_FUNCTION, /* of each element: param.function */
	NPU_OP_SOFTMAX,
	NPU_OP_LRN, /* x / (gamma + alpha * sum of squares of @size channels around)^beta */
	NPU_OP_RESHAPE, /* reshape, squeeze, expand: output shape says all */
	NPU_OP_TRANSPOSE,
	NPU_OP_PAD, /* in, constant scalar of the same type or NPU_NONE: zero point (0 if there is none) */
	NPU_OP_CONCAT,
	NPU_OP_SLICE, /* output may leave out dimensions of which one element is taken */
	NPU_OP_RESIZE_NEAREST,
	NPU_OP_RESIZE_BILINEAR,
	NPU_OP_MEAN,
	NPU_OP_REDUCE_SUM,
	NPU_OP_REDUCE_MAX,
	NPU_OP_REDUCE_MIN,
	NPU_OP_REDUCE_PROD,
	NPU_OP_ARG_MAX, /* the first of several */
	NPU_OP_ARG_MIN,
	NPU_OP_TOP_MOST, /* indices of the greatest, that first, and the first of several before the others */
	NPU_OP_TOP_LEAST,
	NPU_OP_GATHER, /* in, indices (INT32 or INT64; negative: from the end) */
	NPU_OP_GATHER_ELEMENTS, /* in, indices of as many dimensions: each has one for its place on the axis */
	NPU_OP_GATHER_ND, /* in, indices: rows of them, each for as many dimensions behind the first @axis */
	NPU_OP_SCATTER_ELEMENTS, /* in, indices, elements for them: each has one for its place on the axis */
	NPU_OP_SCATTER_ND, /* in, indices: rows of them, each for as many first dimensions, what goes there */
	NPU_OP_QUANTIZE, /* requantisation between integer types and scales, or from float */
	NPU_OP_DEQUANTIZE,
	NPU_OP_PIXELS, /* bytes of an image to real numbers, quantised where the output is */
	NPU_OP_COUNT
};

enum npu_activation { NPU_ACT_NONE, NPU_ACT_RELU, NPU_ACT_RELU6, NPU_ACT_RELU_N1_TO_1 };

/* Functions of one element x; a, b and c are alpha, beta and gamma of the operator. */
enum npu_function {
	NPU_FN_ABS,
	NPU_FN_NEG,
	NPU_FN_SIGN,
	NPU_FN_FLOOR,
	NPU_FN_CEIL,
	NPU_FN_ROUND, /* halves to the even neighbour */
	NPU_FN_POWER, /* (a x + b)^c */
	NPU_FN_EXP,
	NPU_FN_LOG,
	NPU_FN_SIN,
	NPU_FN_COS,
	NPU_FN_TAN,
	NPU_FN_ASIN,
	NPU_FN_ACOS,
	NPU_FN_ATAN,
	NPU_FN_SINH,
	NPU_FN_COSH,
	NPU_FN_ASINH,
	NPU_FN_ACOSH,
	NPU_FN_ATANH,
	NPU_FN_ERF,
	NPU_FN_ELU, /* c x, below zero c a (exp(b x) - 1) */
	NPU_FN_SOFTPLUS, /* log(1 + exp(x)) */
	NPU_FN_SOFTSIGN, /* x / (1 + |x|) */
	NPU_FN_SILU, /* x / (1 + exp(-a x)) */
	NPU_FN_GELU, /* x times the normal distribution's share below x */
	NPU_FN_GELU_TANH, /* the same by tanh of a polynomial */
	NPU_FN_MISH, /* x tanh(log(1 + exp(x))) */
	NPU_FN_HARD_SIGMOID, /* a x + b, from 0 to 1 */
	NPU_FN_THRESHOLD, /* x above a, else 0 */
	NPU_FN_SHRINK, /* x + b below -a, x - b above a, else 0 */
	NPU_FN_COUNT
};

/* Where the bytes of an image's channels lie (pixels.h). */
enum npu_pixel_order {
	NPU_PIXELS_R8, /* one channel */
	NPU_PIXELS_RGB, /* red first in memory */
	NPU_PIXELS_BGR,
	NPU_PIXELS_RGBA,
	NPU_PIXELS_BGRA,
	NPU_PIXELS_ARGB,
	NPU_PIXELS_ABGR,
	NPU_PIXELS_NV24, /* a plane of Y, then a plane of U, V pairs, as many as pixels */
	NPU_PIXELS_NV42, /* likewise V, U */
	NPU_PIXELS_ORDER_COUNT
};

#define NPU_MAX_PIXEL_CHANNELS 4

/* A window that moves over an image: of convolutions and pooling. */
struct npu_window {
	u32 r, s; /* kernel height, width */
	u32 stride_y, stride_x;
	u32 dilation_y, dilation_x;
	u32 pad_top, pad_left, pad_bottom, pad_right;
};

#define NPU_NONE UINT32_MAX
#define NPU_MAX_INPUTS 16

struct npu_op {
	enum npu_op_kind kind;
	const char *name; /* what errors and reports call it */
	u32 input_count;
	u32 *input; /* tensor indices; NPU_NONE where an optional input is missing */
	u32 output_count;
	u32 *output;
	enum npu_activation activation; /* fused clamp behind the operation */
	struct npu_window window; /* convolutions and pooling */
	u32 groups; /* convolutions */
	s32 axis; /* concat, gathers, scatters, arg max and min, top, softmax: not negative */
	enum npu_function function; /* of NPU_OP_FUNCTION */
	float alpha; /* leaky ReLU slope, softmax beta, LRN, functions */
	float beta, gamma; /* LRN, functions */
	u32 size; /* LRN: channels in a sum, (size - 1) / 2 of them in front */
	u32 axes; /* mean and reductions: bit mask of reduced dimensions */
	/* slice: first index; pad: elements before; transpose: input dimension of each output dimension */
	s32 begin[NPU_MAX_RANK];
	s32 end[NPU_MAX_RANK]; /* pad: elements behind; slice: how many elements are taken */
	s32 step[NPU_MAX_RANK]; /* slice; not zero */
	bool align_corners, half_pixel_centers; /* resize */
	/* pixels: real = (byte - mean) * scale, by channel of the output */
	enum npu_pixel_order pixels;
	float pixel_mean[NPU_MAX_PIXEL_CHANNELS];
	float pixel_scale[NPU_MAX_PIXEL_CHANNELS];
};

struct npu_graph {
	struct npu_arena arena; /* owns all that the graph points to, but for model file contents */
	const char *file; /* for messages */
	struct npu_tensor *tensor;
	u32 tensor_count;
	struct npu_op *op; /* in execution order */
	u32 op_count;
	u32 *input;
	u32 input_count;
	u32 *output;
	u32 output_count;
	u32 tensor_capacity, op_capacity; /* of the arrays; npu_graph_add_*() grow them */
};

extern const char *const npu_dtype_names[NPU_DTYPE_COUNT];
extern const u32 npu_dtype_bytes[NPU_DTYPE_COUNT];
extern const char *const npu_op_names[NPU_OP_COUNT];
extern const char *const npu_function_names[NPU_FN_COUNT];

struct npu_graph *npu_graph_new(const char *file);
void npu_graph_free(struct npu_graph *graph);

/**
 * npu_graph_add_tensor() - appends a tensor without quantisation and data
 * @name: must live as long as the graph
 *
 * Sets dimensions and bytes.  Pointers to tensors are valid until the next call.
 *
 * Return: its index; NPU_NONE when out of memory or when it has more than INT32_MAX bytes.
 */
u32 npu_graph_add_tensor(struct npu_graph *graph, const char *name, enum npu_dtype dtype, u32 rank,
			 const u32 *dim);

/**
 * npu_graph_add_op() - appends an operator with room for its inputs and outputs
 *
 * Inputs and outputs are NPU_NONE, the window is 1 x 1 with stride 1, everything else is zero.
 * Pointers to operators are valid until the next call.
 *
 * Return: the operator or NULL when out of memory.
 */
struct npu_op *npu_graph_add_op(struct npu_graph *graph, enum npu_op_kind kind, const char *name,
				u32 input_count, u32 output_count);

/* Rows of a fully connected layer's input: its elements / columns of the weights. */
u32 npu_fully_connected_rows(const struct npu_graph *graph, const struct npu_op *op);

/* The tensor of input @i, or NULL where the operator has none. */
static inline const struct npu_tensor *npu_op_input(const struct npu_graph *graph,
						    const struct npu_op *op, u32 i)
{
	return i < op->input_count && op->input[i] != NPU_NONE ? &graph->tensor[op->input[i]]
							       : NULL;
}

static inline const struct npu_tensor *npu_op_output(const struct npu_graph *graph,
						     const struct npu_op *op)
{
	return &graph->tensor[op->output[0]];
}

/* What NPU_OP_FUNCTION makes of @x, without the fused clamp; not a number where it has no value. */
double npu_function_value(const struct npu_op *op, double x);

/*
 * Value of a sum, difference, product, quotient, minimum or maximum (NPU_OP_ADD to NPU_OP_MAXIMUM).
 * Of float32 operands and rounded to float32 it is what float32 arithmetic gives.
 */
double npu_binary_value(enum npu_op_kind kind, double a, double b);

/* Extent of a dilated kernel. */
static inline u64 npu_dilated(u32 kernel, u32 dilation)
{
	return (u64)(kernel - 1) * dilation + 1;
}

/* The same affine mapping; scales went through text and float arithmetic in exporters. */
bool npu_same_quant(const struct npu_tensor *a, const struct npu_tensor *b);

/* Elements of a tensor. */
u64 npu_tensor_elements(const struct npu_tensor *tensor);

/* Rank-4 view (N, H, W, C) of a tensor: missing leading dimensions are 1. */
void npu_tensor_nhwc(const struct npu_tensor *tensor, u32 nhwc[4]);

/* Checks every invariant that the optimiser relies on; 0 or -EINVAL with the message in @diag. */
int npu_graph_verify(const struct npu_graph *graph, struct npu_diag *diag);

enum npu_dump_format { NPU_DUMP_TEXT, NPU_DUMP_DOT };

#include <stdio.h>

void npu_graph_dump(const struct npu_graph *graph, enum npu_dump_format format, FILE *out);

struct npu_pixel_input;

/**
 * struct npu_import_options - what a model's file leaves open; all zero: nothing is given
 * @input_shapes: "[NAME:]1x3x48x192", several separated by commas: dimensions of inputs in the
 *	file's order, needed where the file does not state them.  Without NAME: of the one input
 * @pixels: an input that takes images (pixels.h); NULL: none
 * @weights: Caffe: the file with the trained weights; NULL: that of the network's name
 * @random_weights: Caffe: make weights up where there are none, for planning
 */
struct npu_import_options {
	const char *input_shapes;
	const struct npu_pixel_input *pixels;
	const char *weights;
	bool random_weights;
};

/**
 * npu_import_tflite() - reads a TensorFlow Lite file into a graph
 * @data, @bytes: the file's contents, which must outlive the graph
 * @file: its name, for messages
 * @options: NULL: none
 * @graph: receives the graph; free with npu_graph_free()
 *
 * Return: 0, -EINVAL for a damaged file, -ENOTSUP for what is not supported, -ENOMEM.
 */
int npu_import_tflite(const void *data, size_t bytes, const char *file,
		      const struct npu_import_options *options, struct npu_graph **graph,
		      struct npu_diag *diag);

/**
 * struct npu_framework_operator - an operator of a framework, and what an importer makes of it
 * @domain: whose it is where it is not the framework's own; else ""
 * @kind: what it becomes in the first place; a few turn into several operators of the graph
 */
struct npu_framework_operator {
	const char *name, *domain;
	enum npu_op_kind kind;
};

/* The @i'th operator that it reads, in the order of their codes; false behind the last. */
bool npu_tflite_operator(u32 i, struct npu_framework_operator *op);

/**
 * npu_import_onnx() - reads an ONNX model into a graph
 * @data, @bytes: the file's contents; they may go away afterwards
 * @file: its name, for messages; external data is looked for below its folder
 * @options: NULL: none
 * @graph: receives the graph; free with npu_graph_free()
 *
 * Inputs and outputs keep ONNX's order of dimensions.
 *
 * Return: 0, -EINVAL for a damaged file, -ENOTSUP for what is not supported, -ENOMEM.
 */
int npu_import_onnx(const void *data, size_t bytes, const char *file,
		    const struct npu_import_options *options, struct npu_graph **graph,
		    struct npu_diag *diag);

/* The @i'th operator that it reads; false behind the last. */
bool npu_onnx_operator(u32 i, struct npu_framework_operator *op);

/* Whether a text is a Caffe network (prototxt). */
bool npu_is_caffe(const void *data, size_t bytes);

/**
 * npu_import_caffe() - reads a Caffe network into a graph
 * @data, @bytes: the network's text; it may go away afterwards
 * @file: its name, for messages; its trained weights are in the file of the same name that ends in
 *	.caffemodel instead of .prototxt where @options do not say another
 * @options: NULL: none
 * @graph: receives the graph; free with npu_graph_free()
 *
 * Inputs and outputs keep Caffe's order of dimensions, for one image.
 *
 * Return: 0, -EINVAL for damaged files, -ENOTSUP for what is not supported, -ENOMEM.
 */
int npu_import_caffe(const void *data, size_t bytes, const char *file,
		     const struct npu_import_options *options, struct npu_graph **graph,
		     struct npu_diag *diag);

/* The @i'th type of layer that it reads; false behind the last. */
bool npu_caffe_layer(u32 i, struct npu_framework_operator *op);

#endif /* NPU_GRAPH_H */
