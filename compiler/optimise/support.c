// SPDX-License-Identifier: MIT
/* Which operators the NPU does. */
#include <inttypes.h>

#include "binary.h"
#include "cells.h"
#include "choose.h"

/* A signal, which convolutions of cells take at any length. */
static bool is_line(const u32 nhwc[4])
{
	u32 h, w;

	return (nhwc[1] == 1 || nhwc[2] == 1) && npu_line_shape(nhwc[1] * nhwc[2], &h, &w);
}

static const char *check_tensors(const struct npu_opt *opt, const struct npu_op *op, u32 inputs)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, nhwc[4];

	for (i = 0; i <= inputs; i++) {
		const struct npu_tensor *t = i < inputs ? npu_op_input(graph, op, i)
							: npu_op_output(graph, op);

		if (!t || !npu_is_quantised(t))
			return "operands are not INT8 or UINT8 with one scale";
		npu_tensor_nhwc(t, nhwc);
		if (nhwc[0] != 1)
			return "more than one image";
		if (i == 0 && op->kind == NPU_OP_CONV && is_line(nhwc))
			nhwc[1] = nhwc[2] = 1;
		if (nhwc[1] > NPU_MAX_EXTENT || nhwc[2] > NPU_MAX_EXTENT ||
		    (nhwc[3] > NPU_MAX_EXTENT && op->kind != NPU_OP_FULLY_CONNECTED))
			return "larger than 8192 in one dimension";
	}
	return NULL;
}

static const char *check_conv(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_tensors(opt, op, 1);
	u32 in[4], out[4], channels;
	struct npu_cells cells;

	if (reason)
		return reason;
	if (npu_op_input(opt->graph, op, 0)->data)
		return "constant input";
	npu_tensor_nhwc(npu_op_input(opt->graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	if (!npu_window_fits_conv(&op->window, in[1], in[2], out[1], out[2]))
		return npu_plan_cells(opt, op, in, &op->window, &cells);
	channels = op->groups == 1 ? in[3] : opt->config->atom;
	if ((u64)channels * op->window.r * op->window.s > NPU_CONV_MAX_KERNEL_BYTES)
		return "kernel larger than 256 KiB";
	return NULL;
}

/* The shape that features have in front of dropped reshapes. */
static void shape_before_reshapes(const struct npu_opt *opt, u32 tensor, u32 nhwc[4])
{
	const struct npu_graph *graph = opt->graph;

	while (opt->tensor[tensor].producer != NPU_NONE &&
	       graph->op[opt->tensor[tensor].producer].kind == NPU_OP_RESHAPE)
		tensor = graph->op[opt->tensor[tensor].producer].input[0];
	npu_tensor_nhwc(&graph->tensor[tensor], nhwc);
}

static const char *check_fully_connected(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *weights = npu_op_input(opt->graph, op, 1);
	const char *reason = check_tensors(opt, op, 1);
	u32 nhwc[4], rows = npu_fully_connected_rows(opt->graph, op);

	if (reason)
		return reason;
	if (npu_op_input(opt->graph, op, 0)->data)
		return "constant input";
	if (!weights->data)
		return "weights are not constant";
	if (weights->dim[0] > NPU_MAX_EXTENT || rows > NPU_MAX_EXTENT)
		return "more than 8192 outputs or rows";
	if (rows > 1)
		return weights->dim[1] > NPU_MAX_EXTENT ? "more than 8192 inputs in several rows"
							: NULL;
	npu_tensor_nhwc(npu_op_input(opt->graph, op, 0), nhwc);
	npu_plane_of(opt, nhwc);
	reason = npu_check_plane(opt, op, nhwc);
	/* Features may have the shape in front of a reshape instead. */
	if (reason) {
		shape_before_reshapes(opt, op->input[0], nhwc);
		npu_plane_of(opt, nhwc);
		reason = npu_check_plane(opt, op, nhwc) ? reason : NULL;
	}
	return reason;
}

#define DILATED "pooling with dilation"

static bool is_dilated(const struct npu_op *op)
{
	return op->window.dilation_y != 1 || op->window.dilation_x != 1;
}

static const char *check_max_pool(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_tensors(opt, op, 1);

	if (is_dilated(op))
		return DILATED;
	return reason ? reason : npu_check_max_pool(opt, op);
}

static const char *check_unary(const struct npu_opt *opt, const struct npu_op *op)
{
	if (npu_op_input(opt->graph, op, 0)->data)
		return "constant input";
	return check_tensors(opt, op, 1);
}

static const char *check_average(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_unary(opt, op);

	if (reason)
		return reason;
	if (op->kind == NPU_OP_AVERAGE_POOL && is_dilated(op))
		return DILATED;
	return op->kind == NPU_OP_AVERAGE_POOL ? npu_check_average_pool(opt, op)
					       : npu_check_mean(opt, op);
}

static const char *check_binary(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_tensors(opt, op, 2);
	struct npu_binary binary;

	return reason ? reason : npu_binary_of(opt->graph, op, &binary);
}

static bool same_quant(const struct npu_tensor *a, const struct npu_tensor *b)
{
	return a->quant.scale[0] == b->quant.scale[0] && npu_stored_zero(a) == npu_stored_zero(b);
}

static const char *check_min_max(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *out = npu_op_output(opt->graph, op);
	const char *reason = check_binary(opt, op);

	if (reason)
		return reason;
	if (!same_quant(npu_op_input(opt->graph, op, 0), out) ||
	    !same_quant(npu_op_input(opt->graph, op, 1), out))
		return "operands have different scales";
	return NULL;
}

static const char *check_mul(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_binary(opt, op);
	struct npu_binary binary;
	bool main_zero, other_zero;

	if (reason)
		return reason;
	npu_binary_of(opt->graph, op, &binary);
	main_zero = !npu_stored_zero(npu_op_input(opt->graph, op, binary.main));
	other_zero = !npu_stored_zero(npu_op_input(opt->graph, op, binary.other));
	if (binary.constant || (opt->config->features & NVDLA_HAS_EW) || other_zero ||
	    (main_zero && binary.from == NPU_OPERAND_ELEMENT))
		return NULL;
	return "a product of two values with zero points needs EW, which this configuration has "
	       "not";
}

static const char *check_prelu(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_tensors(opt, op, 2);
	struct npu_binary binary;

	if (reason)
		return reason;
	if (npu_binary_of(opt->graph, op, &binary) || binary.main || !binary.constant)
		return "slopes are no constants of the channels";
	return NULL;
}

static const char *check_transpose_conv(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *weights = npu_op_input(opt->graph, op, 1);
	const char *reason = check_unary(opt, op);

	if (reason)
		return reason;
	if (!weights->data)
		return "weights are not constant";
	if ((u64)weights->dim[1] * weights->dim[2] * weights->dim[3] * max(op->groups, 1u) >
	    NPU_CONV_MAX_KERNEL_BYTES)
		return "kernel larger than 256 KiB";
	return npu_check_phases(opt, op);
}

static const char *check_move(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_unary(opt, op);

	if (reason)
		return reason;
	if (!same_quant(npu_op_input(opt->graph, op, 0), npu_op_output(opt->graph, op)))
		return "input and output have different scales";
	switch (op->kind) {
	case NPU_OP_SLICE:
		return npu_check_slice(opt, op);
	case NPU_OP_RESIZE_NEAREST:
		return npu_check_resize_nearest(opt, op);
	case NPU_OP_PAD:
		return npu_check_pad(opt, op);
	case NPU_OP_RESIZE_BILINEAR:
		return npu_check_resize_bilinear(opt, op);
	default:
		return npu_check_reduce(opt, op);
	}
}

static const char *check_lrn(const struct npu_opt *opt, const struct npu_op *op)
{
	if (op->size > 9 || op->size % 2 == 0)
		return "the squares of an even number of channels, or of more than 9";
	return check_unary(opt, op);
}

static const char *check_concat(const struct npu_opt *opt, const struct npu_op *op)
{
	const char *reason = check_tensors(opt, op, op->input_count);

	return reason ? reason : npu_check_concat(opt, op);
}

/* Functions of one element. */
#define TABLE                                                                                 \
	{                                                                                     \
		.unit = "CDP", .table = true, .check = check_unary, .lower = npu_lower_table, \
	}

const struct npu_op_support npu_op_support[NPU_OP_COUNT] = {
	[NPU_OP_CONV] = { .unit = "conv + SDP",
			  .limits =
				  "any kernel, stride, dilation and padding; beyond 32, 8, 32 and "
				  "31 as a convolution of cells, where a kernel of cells fits; "
				  "depthwise and grouped in blocks of channels",
			  .check = check_conv,
			  .lower = npu_lower_conv },
	[NPU_OP_FULLY_CONNECTED] = { .unit = "conv + SDP",
				     .limits =
					     "constant weights; one row of more than 8192 inputs, "
					     "or "
					     "a plane larger than 32 x 32, where a kernel group of "
					     "cells fits the buffer",
				     .check = check_fully_connected,
				     .lower = npu_lower_conv },
	[NPU_OP_TRANSPOSE_CONV] = { .unit = "conv + SDP",
				    .limits = "constant weights; kernels of each phase <= 32; any "
					      "stride and padding",
				    .check = check_transpose_conv,
				    .lower = npu_lower_transpose_conv },
	[NPU_OP_MAX_POOL] = { .unit = "PDP",
			      .limits = "any window without dilation and any padding, beyond 8 in "
					"several passes; "
					"stride <= "
					"16, or a multiple of 2 to 8 no larger than the window",
			      .check = check_max_pool,
			      .lower = npu_lower_max_pool },
	[NPU_OP_REDUCE_MAX] = { .unit = "PDP",
				.limits = "over height and width",
				.check = check_move,
				.lower = npu_lower_reduce },
	[NPU_OP_REDUCE_MIN] = { .unit = "PDP",
				.limits = "over height and width",
				.check = check_move,
				.lower = npu_lower_reduce },
	[NPU_OP_AVERAGE_POOL] = { .unit = "conv + SDP",
				  .limits =
					  "any window without dilation; beyond kernels of ones in "
					  "three banks and "
					  "strides of 8 in two or three steps, where these divide "
					  "it or there are few outputs",
				  .check = check_average,
				  .lower = npu_lower_average },
	[NPU_OP_MEAN] = { .unit = "conv + SDP",
			  .limits = "over height and width",
			  .check = check_average,
			  .lower = npu_lower_average },
	[NPU_OP_REDUCE_SUM] = { .unit = "conv + SDP",
				.limits = "over height and width",
				.check = check_average,
				.lower = npu_lower_average },
	[NPU_OP_ADD] = { .unit = "SDP",
			 .limits =
				 "same shapes, or one operand or constant by channel; fused into a "
				 "convolution where exact",
			 .check = check_binary,
			 .lower = npu_lower_add },
	[NPU_OP_SUB] = { .unit = "SDP",
			 .limits = "as add",
			 .check = check_binary,
			 .lower = npu_lower_add },
	[NPU_OP_MINIMUM] = { .unit = "SDP",
			     .limits = "as add, all of one scale",
			     .check = check_min_max,
			     .lower = npu_lower_min_max },
	[NPU_OP_MAXIMUM] = { .unit = "SDP",
			     .limits = "as add, all of one scale",
			     .check = check_min_max,
			     .lower = npu_lower_min_max },
	[NPU_OP_MUL] = { .unit = "SDP",
			 .limits =
				 "as add; two values on configurations without EW: one zero point "
				 "is 0",
			 .check = check_mul,
			 .lower = npu_lower_mul },
	[NPU_OP_LEAKY_RELU] = { .unit = "SDP, CDP",
				.check = check_unary,
				.lower = npu_lower_slope },
	[NPU_OP_PRELU] = { .unit = "SDP",
			   .limits = "constant slopes, one or one for each channel",
			   .check = check_prelu,
			   .lower = npu_lower_slope },
	[NPU_OP_LOGISTIC] = TABLE,
	[NPU_OP_TANH] = TABLE,
	[NPU_OP_HARD_SWISH] = TABLE,
	[NPU_OP_FUNCTION] = TABLE,
	[NPU_OP_LRN] = { .unit = "CDP",
			 .limits = "1, 3, 5, 7 or 9 channels; where tables come within 0.45 of a "
				   "unit",
			 .check = check_lrn,
			 .lower = npu_lower_lrn },
	[NPU_OP_RELU] = { .unit = "SDP, CDP",
			  .limits = "ReLU, ReLU6, ReLU -1..1",
			  .check = check_unary,
			  .lower = npu_lower_requantise },
	[NPU_OP_QUANTIZE] = { .unit = "SDP, CDP",
			      .limits = "between INT8 and UINT8; nothing to do where only the zero "
					"point moves by 128",
			      .check = check_unary,
			      .lower = npu_lower_requantise },
	[NPU_OP_CONCAT] = { .unit = "none (in place), SDP, conv",
			    .limits = "height, width, channels; operands of channels in whole "
				      "memory atoms lie in place",
			    .check = check_concat,
			    .lower = npu_lower_concat },
	[NPU_OP_SLICE] = { .unit = "none (a view), conv",
			   .limits = "steps of one and channels from a whole memory atom on; else "
				     "by a convolution",
			   .check = check_move,
			   .lower = npu_lower_slice },
	[NPU_OP_RESIZE_NEAREST] = { .unit = "SDP",
				    .limits = "a whole number of times larger, corners not aligned",
				    .check = check_move,
				    .lower = npu_lower_resize_nearest },
	[NPU_OP_RESIZE_BILINEAR] = { .unit = "conv + SDP",
				     .limits = "2, 4 or 8 times larger each way, in weights of 8 "
					       "bits; corners not aligned",
				     .check = check_move,
				     .lower = npu_lower_resize_bilinear },
	[NPU_OP_PAD] = { .unit = "none (folded), SDP",
			 .limits = "height and width; zero point in front of a convolution: folded",
			 .check = check_move,
			 .lower = npu_lower_pad },
	[NPU_OP_PIXELS] = { .unit = "none (CDMA's pixel input)",
			    .limits = "in front of a convolution without groups and dilation; one "
				      "scale for all channels, within one unit" },
	[NPU_OP_TRANSPOSE] = { .unit = "none (dropped)",
			       .limits =
				       "where dimensions above 1 keep their order, as a reshape" },
	[NPU_OP_RESHAPE] = { .unit = "none (dropped)",
			     .limits = "where features keep their layout" },
};

/* Why the NPU does not do this operator; NULL: it does. */
static const char *cpu_reason(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_op_support *row = &npu_op_support[op->kind];

	if (!row->lower)
		return "the NPU has no unit for this operator";
	return row->check(opt, op);
}

/* Why the CPU does an operator that the NPU could do; NULL: out of memory. */
static const char *price_reason(struct npu_opt *opt, const struct npu_choice *choice)
{
	return npu_arena_printf(
		&opt->net->arena,
		"costs less there: the NPU would take %" PRIu64 " cycles, the CPU %" PRIu64 "%s",
		choice->npu_cycles, choice->cpu_cycles,
		choice->npu_cycles > choice->cpu_cycles ? ""
							: ", but the ways to the NPU and back "
							  "more than the difference");
}

/* A network with float arithmetic at its core is none for this NPU: say so, do not crawl on the CPU. */
static bool is_float_convolution(const struct npu_opt *opt, const struct npu_op *op)
{
	return (op->kind == NPU_OP_CONV || op->kind == NPU_OP_FULLY_CONNECTED) &&
	       npu_op_input(opt->graph, op, 0)->dtype == NPU_F32;
}

int npu_pass_support(struct npu_opt *opt)
{
	u32 i;

	for (i = 0; i < opt->graph->op_count; i++) {
		const struct npu_op *op = &opt->graph->op[i];

		if (is_float_convolution(opt, op))
			return npu_diag_set(
				opt->diag, -ENOTSUP,
				"%s: operator %u (%s, %.100s) computes in float32, the NPU in "
				"INT8: "
				"npuc --calibrate DIR, with typical inputs in DIR, quantises the "
				"model (--random-calibration: to plan only)",
				opt->graph->file, i, npu_op_names[op->kind], op->name);
		opt->op[i].cpu_reason = cpu_reason(opt, op);
		if (opt->op[i].cpu_reason || !opt->choice || !opt->choice[i].cpu)
			continue;
		opt->op[i].cpu_reason = price_reason(opt, &opt->choice[i]);
		if (!opt->op[i].cpu_reason)
			return npu_opt_nomem(opt);
	}
	return 0;
}
