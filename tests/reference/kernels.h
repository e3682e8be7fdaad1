/* SPDX-License-Identifier: MIT */
/* Inside of the reference interpreter: what its kernels share. */
#ifndef REF_KERNELS_H
#define REF_KERNELS_H

#include "fixedpoint.h"
#include "graph.h"

/**
 * struct ref_run - one operator at work
 * @data: contents of all tensors
 * @clamped: see npu_reference_run_op(); may be NULL
 */
struct ref_run {
	const struct npu_graph *graph;
	const struct npu_op *op;
	void *const *data;
	u8 *clamped;
	struct npu_diag *diag;
};

/* A tensor and its contents; quantised ones have one zero point. */
struct ref_view {
	const struct npu_tensor *tensor;
	void *data;
	s32 zero;
	float scale;
	u32 nhwc[4];
};

/* Input @i; data is NULL where it is missing. */
struct ref_view ref_input(const struct ref_run *run, u32 i);
struct ref_view ref_output(const struct ref_run *run);

/* The least and the greatest stored value that type and fused activation allow. */
struct ref_range {
	s32 least, most;
};
struct ref_range ref_range(const struct ref_run *run);

/* The same for float32. */
float ref_clamp_float(const struct ref_run *run, float value);

/* An element of an integer tensor. */
s32 ref_load(const struct ref_view *view, size_t i);

/* Stores a result, clamped; notes where that changed it. */
void ref_store(const struct ref_run *run, const struct ref_view *out, struct ref_range range,
	       size_t i, s64 value);

/* Any element as a real number, and a real number as any element. */
double ref_real(const struct ref_view *in, size_t i);
void ref_store_real(const struct ref_run *run, const struct ref_view *out, size_t i, double real);

static inline bool ref_is_float(const struct ref_view *view)
{
	return view->tensor->dtype == NPU_F32;
}

static inline size_t ref_offset(const struct ref_view *view, u32 y, u32 x, u32 c)
{
	return ((size_t)y * view->nhwc[2] + x) * view->nhwc[3] + c;
}

/*
 * Element @i of the output in an operand that is stretched to the output's shape
 * (dimensions aligned at the last, 1 stretches).
 */
size_t ref_broadcast(const struct npu_tensor *out, const struct npu_tensor *in, size_t i);

/*
 * Integer convolutions: the sum over taps and channels (bias included) of an
 * output element, before any scaling, and the real factor of a channel.
 */
s32 ref_conv_sum(const struct ref_run *run, u32 y, u32 x, u32 k);
double ref_conv_factor(const struct ref_run *run, u32 k);

int ref_conv(const struct ref_run *run);
int ref_transpose_conv(const struct ref_run *run);
int ref_fully_connected(const struct ref_run *run);
int ref_matmul(const struct ref_run *run);
int ref_max_pool(const struct ref_run *run);
int ref_average_pool(const struct ref_run *run);
int ref_add_sub(const struct ref_run *run);
int ref_mul(const struct ref_run *run);
int ref_div(const struct ref_run *run);
int ref_min_max(const struct ref_run *run);
int ref_relu(const struct ref_run *run);
int ref_leaky_relu(const struct ref_run *run);
int ref_prelu(const struct ref_run *run);
int ref_logistic(const struct ref_run *run);
int ref_tanh(const struct ref_run *run);
int ref_hard_swish(const struct ref_run *run);
int ref_softmax(const struct ref_run *run);
int ref_function(const struct ref_run *run);
int ref_lrn(const struct ref_run *run);
int ref_reshape(const struct ref_run *run);
int ref_transpose(const struct ref_run *run);
int ref_pad(const struct ref_run *run);
int ref_concat(const struct ref_run *run);
int ref_slice(const struct ref_run *run);
int ref_top(const struct ref_run *run);
int ref_gather(const struct ref_run *run);
int ref_gather_elements(const struct ref_run *run);
int ref_gather_nd(const struct ref_run *run);
int ref_scatter_elements(const struct ref_run *run);
int ref_scatter_nd(const struct ref_run *run);
int ref_resize_nearest(const struct ref_run *run);
int ref_resize_bilinear(const struct ref_run *run);
int ref_mean(const struct ref_run *run);
int ref_reduce(const struct ref_run *run);
int ref_arg_extreme(const struct ref_run *run);
int ref_quantize(const struct ref_run *run);
int ref_dequantize(const struct ref_run *run);
int ref_pixels(const struct ref_run *run);

#endif /* REF_KERNELS_H */
