// SPDX-License-Identifier: MIT
/*
 * Built-in kernels that are operators: their arguments, and the shapes that follow from these.
 */
#include <stdlib.h>

#include "builtin.h"

static void point_out(struct ocl_operator *what)
{
	unsigned i;

	for (i = 0; i < what->inputs; i++)
		what->input[i] =
			(struct npu_input){ what->in_mem[i]->data, (size_t)what->in[i].bytes };
	what->output = (struct npu_output){ what->out_mem->data, (size_t)what->out.bytes };
}

static cl_int prepare(struct ocl_launch *launch)
{
	struct ocl_operator *what = malloc(sizeof(*what));
	cl_int error;

	if (!what)
		return CL_OUT_OF_HOST_MEMORY;
	error = ocl_operator_read(launch, what);
	if (error) {
		free(what);
		return error;
	}
	point_out(what);
	launch->prepared = what;
	return CL_SUCCESS;
}

static void release(struct ocl_launch *launch)
{
	free(launch->prepared);
	launch->prepared = NULL;
}

static const struct ocl_entry_ops ops = {
	.prepare = prepare,
	.release = release,
	.forget = ocl_operator_forget,
	.begin = ocl_operator_begin,
	.end = ocl_operator_end,
};

/* ---- arguments ---- */

/* clang-format off */
#define BYTES(n) { .name = n, .type_name = "char*" }
#define RESULT(type) { .name = "output", .type_name = type, .output = true }
#define REALS(n) { .name = n, .type_name = "float*" }
#define WEIGHTS { .name = "weights", .type_name = "char*", .early = true }
#define BIAS { .name = "bias", .type_name = "int*", .optional = true, .early = true }
#define UINT(n) { .name = n, .type_name = "uint", .scalar_bytes = sizeof(cl_uint) }
#define UINT2(n) { .name = n, .type_name = "uint2", .scalar_bytes = sizeof(cl_uint2) }
#define UINT4(n) { .name = n, .type_name = "uint4", .scalar_bytes = sizeof(cl_uint4) }
#define INT(n) { .name = n, .type_name = "int", .scalar_bytes = sizeof(cl_int) }
#define INT4(n) { .name = n, .type_name = "int4", .scalar_bytes = sizeof(cl_int4) }
#define FLOAT(n) { .name = n, .type_name = "float", .scalar_bytes = sizeof(cl_float) }
#define FLOAT4(n) { .name = n, .type_name = "float4", .scalar_bytes = sizeof(cl_float4) }
/* clang-format on */

#define ENTRY(kernel, args, operator_kind, shape_of)        \
	{                                                   \
		.entry = {                                \
			.name = kernel,                   \
			.arg_count = OCL_COUNT(args),     \
			.arg = args,                      \
			.ops = &ops,                      \
		},                                        \
		.kind = operator_kind, .shape = shape_of, \
	}

/* "shape" is {rows, columns, channels, kernels} of images, {inputs, outputs} of fully connected layers. */
static uint32_t shape_at(const struct ocl_launch *launch, unsigned index)
{
	return ocl_argument_uint(launch, "shape", index, 0);
}

/* ---- layouts ---- */

static bool shape_layout(const struct ocl_launch *launch, struct ocl_operator *what)
{
	const uint32_t h = shape_at(launch, 0), w = shape_at(launch, 1), c = shape_at(launch, 2);
	const uint32_t nhwc[4] = { 1, h, w, c }, nchw[4] = { 1, c, h, w };
	static const uint32_t to_nchw[4] = { 0, 3, 1, 2 }, to_nhwc[4] = { 0, 2, 3, 1 };
	bool back = launch->entry == &ocl_entry_nchw_to_nhwc.entry;
	unsigned i;

	for (i = 0; i < 4; i++)
		what->op.permutation[i] = back ? to_nhwc[i] : to_nchw[i];
	return ocl_tensor_shape(&what->in[0], 4, back ? nchw : nhwc) &&
	       ocl_tensor_shape(&what->out, 4, back ? nhwc : nchw);
}

static const struct ocl_arg layout_args[] = { BYTES("input"), RESULT("char*"), UINT("type"),
					      UINT4("shape") };

const struct ocl_operator_entry ocl_entry_nhwc_to_nchw =
	ENTRY("npu_nhwc_to_nchw", layout_args, NPU_OPERATOR_TRANSPOSE, shape_layout);
const struct ocl_operator_entry ocl_entry_nchw_to_nhwc =
	ENTRY("npu_nchw_to_nhwc", layout_args, NPU_OPERATOR_TRANSPOSE, shape_layout);

/* ---- quantisation ---- */

static bool shape_elements(const struct ocl_launch *launch, struct ocl_operator *what)
{
	const uint32_t shape[2] = { 1, ocl_argument_uint(launch, "elements", 0, 0) };
	struct npu_tensor_info *real = what->op.kind == NPU_OPERATOR_QUANTIZE ? &what->in[0]
									      : &what->out;

	real->type = NPU_TYPE_FLOAT32;
	real->scale = 0;
	return ocl_tensor_shape(&what->in[0], 2, shape) && ocl_tensor_shape(&what->out, 2, shape);
}

static const struct ocl_arg quantize_args[] = {
	REALS("input"),	  RESULT("char*"), UINT("type"),
	UINT("elements"), FLOAT("scale"),  INT("zero_point"),
};

static const struct ocl_arg dequantize_args[] = {
	BYTES("input"),	  RESULT("float*"), UINT("type"),
	UINT("elements"), FLOAT("scale"),   INT("zero_point"),
};

const struct ocl_operator_entry ocl_entry_quantize =
	ENTRY("npu_quantize", quantize_args, NPU_OPERATOR_QUANTIZE, shape_elements);
const struct ocl_operator_entry ocl_entry_dequantize =
	ENTRY("npu_dequantize", dequantize_args, NPU_OPERATOR_DEQUANTIZE, shape_elements);

/* ---- windows ---- */

/* Steps of a window over @size rows or columns; 0: it does not fit. */
static uint32_t steps(const struct npu_operator *op, unsigned direction, uint32_t size)
{
	uint64_t padded = (uint64_t)size + op->pad[direction] + op->pad[direction + 2];
	uint64_t extent = (uint64_t)(op->window[direction] - 1) * op->dilation[direction] + 1;
	uint64_t count = extent > padded ? 0 : (padded - extent) / op->stride[direction] + 1;

	return count > UINT32_MAX ? 0 : (uint32_t)count;
}

static bool shape_windows(const struct ocl_launch *launch, struct ocl_operator *what,
			  uint32_t kernels)
{
	const uint32_t in[4] = { 1, shape_at(launch, 0), shape_at(launch, 1), shape_at(launch, 2) };
	const uint32_t out[4] = { 1, steps(&what->op, 0, in[1]), steps(&what->op, 1, in[2]),
				  kernels };

	return ocl_tensor_shape(&what->in[0], 4, in) && ocl_tensor_shape(&what->out, 4, out);
}

static bool shape_conv(const struct ocl_launch *launch, struct ocl_operator *what)
{
	uint32_t channels = shape_at(launch, 2), kernels = shape_at(launch, 3);
	const uint32_t weights[4] = { kernels, what->op.window[0], what->op.window[1],
				      channels / what->op.groups };

	return channels % what->op.groups == 0 && kernels % what->op.groups == 0 &&
	       ocl_tensor_shape(&what->weights, 4, weights) && shape_windows(launch, what, kernels);
}

static bool shape_pool(const struct ocl_launch *launch, struct ocl_operator *what)
{
	return shape_windows(launch, what, shape_at(launch, 2));
}

static const struct ocl_arg conv_args[] = {
	BYTES("input"),	     WEIGHTS,	      BIAS,
	RESULT("char*"),     UINT("type"),    UINT4("shape"),
	UINT2("window"),     UINT2("stride"), UINT2("dilation"),
	UINT4("pad"),	     UINT("groups"),  FLOAT4("scales"),
	INT4("zero_points"), UINT("clamp"),
};

static const struct ocl_arg pool_args[] = {
	BYTES("input"),	 RESULT("char*"), UINT("type"),	  UINT4("shape"),    UINT2("window"),
	UINT2("stride"), UINT4("pad"),	  FLOAT("scale"), INT("zero_point"), UINT("clamp"),
};

const struct ocl_operator_entry ocl_entry_conv2d =
	ENTRY("npu_conv2d", conv_args, NPU_OPERATOR_CONV_2D, shape_conv);
const struct ocl_operator_entry ocl_entry_max_pool2d =
	ENTRY("npu_max_pool2d", pool_args, NPU_OPERATOR_MAX_POOL_2D, shape_pool);
const struct ocl_operator_entry ocl_entry_average_pool2d =
	ENTRY("npu_average_pool2d", pool_args, NPU_OPERATOR_AVERAGE_POOL_2D, shape_pool);

/* ---- fully connected ---- */

static bool shape_connected(const struct ocl_launch *launch, struct ocl_operator *what)
{
	const uint32_t in[2] = { 1, shape_at(launch, 0) }, out[2] = { 1, shape_at(launch, 1) };
	const uint32_t weights[2] = { out[1], in[1] };

	return ocl_tensor_shape(&what->in[0], 2, in) && ocl_tensor_shape(&what->out, 2, out) &&
	       ocl_tensor_shape(&what->weights, 2, weights);
}

static const struct ocl_arg connected_args[] = {
	BYTES("input"),
	WEIGHTS,
	BIAS,
	RESULT("char*"),
	UINT("type"),
	UINT2("shape"),
	FLOAT4("scales"),
	INT4("zero_points"),
	UINT("clamp"),
};

const struct ocl_operator_entry ocl_entry_fully_connected =
	ENTRY("npu_fully_connected", connected_args, NPU_OPERATOR_FULLY_CONNECTED, shape_connected);

/* ---- addition ---- */

static bool shape_add(const struct ocl_launch *launch, struct ocl_operator *what)
{
	const uint32_t shape[4] = { 1, shape_at(launch, 0), shape_at(launch, 1),
				    shape_at(launch, 2) };

	return ocl_tensor_shape(&what->in[0], 4, shape) &&
	       ocl_tensor_shape(&what->in[1], 4, shape) && ocl_tensor_shape(&what->out, 4, shape);
}

static const struct ocl_arg add_args[] = {
	BYTES("input"), BYTES("second_input"), RESULT("char*"),	    UINT("type"),
	UINT4("shape"), FLOAT4("scales"),      INT4("zero_points"), UINT("clamp"),
};

const struct ocl_operator_entry ocl_entry_add =
	ENTRY("npu_add", add_args, NPU_OPERATOR_ADD, shape_add);
