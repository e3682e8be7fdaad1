/* SPDX-License-Identifier: MIT */
/*
 * Operators that the CPU does: bytes in TensorFlow Lite's quantised arithmetic
 * (tensorflow/lite/kernels/internal/reference, version 2.14: two roundings), float32
 * in single precision.  They know graphs only: libnpu runs the CPU steps of programs
 * with them, the quantiser of the compiler whole graphs.
 */
#ifndef LIBNPU_CPU_H
#define LIBNPU_CPU_H

#include "graph.h"

/**
 * struct npu_cpu_view - a tensor and its elements
 * @data: elements in the tensor's order without gaps; of inputs only read; NULL: input is missing
 * @zero, @scale: quantisation; 0 and 1 where there is none
 * @nhwc: rank-4 view of the shape
 * @elements: how many
 */
struct npu_cpu_view {
	const struct npu_tensor *tensor;
	void *data;
	s32 zero;
	float scale;
	u32 nhwc[4];
	size_t elements;
};

/**
 * struct npu_cpu_call - one operator to be done
 * @graph, @op: what
 * @input: a pointer for each input of @op, NULL where it is missing
 * @output: a pointer for each output
 */
struct npu_cpu_call {
	const struct npu_graph *graph;
	const struct npu_op *op;
	const void *const *input;
	void *const *output;
};

struct npu_cpu_view npu_cpu_input(const struct npu_cpu_call *call, u32 i);
struct npu_cpu_view npu_cpu_output(const struct npu_cpu_call *call);

/**
 * npu_cpu_check() - is there an implementation for this operator and its types?
 *
 * Return: NULL, or what is missing as a static text.
 */
const char *npu_cpu_check(const struct npu_graph *graph, const struct npu_op *op);

/* Does the operator; 0, -ENOMEM, or -EINVAL for an index out of range. */
int npu_cpu_execute(const struct npu_cpu_call *call);

/**
 * npu_cpu_conv_channel() - one output channel of a convolution or fully connected layer
 * @window: geometry, which may have the padding that the optimiser folded in
 * @in: the input, whose shape may have been dropped down to (h, w, c)
 * @channel: which
 * @out: a byte for each (y, x) of the output, as the output's tensor stores it
 */
int npu_cpu_conv_channel(const struct npu_cpu_call *call, const struct npu_window *window,
			 const struct npu_cpu_view *in, u32 channel, u8 *out);

/* The operators; each returns 0 or a negative errno. */
typedef int (*npu_cpu_fn)(const struct npu_cpu_call *call);

int npu_cpu_conv(const struct npu_cpu_call *call);
int npu_cpu_transpose_conv(const struct npu_cpu_call *call);
int npu_cpu_matmul(const struct npu_cpu_call *call);
int npu_cpu_pool(const struct npu_cpu_call *call);
int npu_cpu_add(const struct npu_cpu_call *call);
int npu_cpu_mul(const struct npu_cpu_call *call);
int npu_cpu_min_max(const struct npu_cpu_call *call);
int npu_cpu_relu(const struct npu_cpu_call *call);
int npu_cpu_leaky_relu(const struct npu_cpu_call *call);
int npu_cpu_prelu(const struct npu_cpu_call *call);
int npu_cpu_logistic(const struct npu_cpu_call *call);
int npu_cpu_tanh(const struct npu_cpu_call *call);
int npu_cpu_hard_swish(const struct npu_cpu_call *call);
int npu_cpu_function(const struct npu_cpu_call *call);
int npu_cpu_softmax(const struct npu_cpu_call *call);
int npu_cpu_lrn(const struct npu_cpu_call *call);
int npu_cpu_reshape(const struct npu_cpu_call *call);
int npu_cpu_transpose(const struct npu_cpu_call *call);
int npu_cpu_pad(const struct npu_cpu_call *call);
int npu_cpu_concat(const struct npu_cpu_call *call);
int npu_cpu_slice(const struct npu_cpu_call *call);
int npu_cpu_top(const struct npu_cpu_call *call);
int npu_cpu_gather(const struct npu_cpu_call *call);
int npu_cpu_gather_elements(const struct npu_cpu_call *call);
int npu_cpu_gather_nd(const struct npu_cpu_call *call);
int npu_cpu_scatter_elements(const struct npu_cpu_call *call);
int npu_cpu_scatter_nd(const struct npu_cpu_call *call);
int npu_cpu_resize_nearest(const struct npu_cpu_call *call);
int npu_cpu_resize_bilinear(const struct npu_cpu_call *call);
int npu_cpu_mean(const struct npu_cpu_call *call);
int npu_cpu_reduce_extreme(const struct npu_cpu_call *call);
int npu_cpu_arg_extreme(const struct npu_cpu_call *call);
int npu_cpu_quantize(const struct npu_cpu_call *call);
int npu_cpu_dequantize(const struct npu_cpu_call *call);
int npu_cpu_pixels(const struct npu_cpu_call *call);

/* The same for float32. */
int npu_cpu_conv_float(const struct npu_cpu_call *call);
int npu_cpu_matmul_float(const struct npu_cpu_call *call);
int npu_cpu_pool_float(const struct npu_cpu_call *call);
int npu_cpu_binary_float(const struct npu_cpu_call *call);
int npu_cpu_unary_float(const struct npu_cpu_call *call);
int npu_cpu_function_float(const struct npu_cpu_call *call);
int npu_cpu_softmax_float(const struct npu_cpu_call *call);
int npu_cpu_lrn_float(const struct npu_cpu_call *call);
int npu_cpu_resize_bilinear_float(const struct npu_cpu_call *call);
int npu_cpu_reduce_float(const struct npu_cpu_call *call);
int npu_cpu_arg_extreme_float(const struct npu_cpu_call *call);

/* The fused clamp behind an operation on real numbers. */
static inline float npu_activate(enum npu_activation activation, float x)
{
	switch (activation) {
	case NPU_ACT_RELU:
		return max(x, 0.0f);
	case NPU_ACT_RELU6:
		return min(max(x, 0.0f), 6.0f);
	case NPU_ACT_RELU_N1_TO_1:
		return min(max(x, -1.0f), 1.0f);
	default:
		return x;
	}
}

#endif /* LIBNPU_CPU_H */
