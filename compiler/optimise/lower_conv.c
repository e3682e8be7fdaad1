// SPDX-License-Identifier: MIT
/* Convolutions and fully connected layers. */
#include "cells.h"
#include "conv.h"

#include "pixels.h"

static void set_geometry(struct npu_opt *opt, struct npu_conv *conv)
{
	const struct npu_value *value = &opt->net->value[conv->input];
	const struct npu_op *op = &opt->graph->op[conv->op];
	u32 nhwc[4];

	conv->kernels = npu_kernels_of(conv->weights, max(op->groups, 1u));
	conv->window = npu_conv_window(opt, conv->op);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), nhwc);
	conv->h = nhwc[1];
	conv->w = nhwc[2];
	if (op->kind != NPU_OP_FULLY_CONNECTED)
		return;
	/* Several rows are the pixels of a 1 x 1 convolution, one row is a kernel over the plane. */
	conv->kernels.groups = 1;
	if (npu_fully_connected_rows(opt->graph, op) > 1) {
		conv->kernels.r = conv->kernels.s = 1;
		conv->h = value->h;
		conv->w = value->w;
	} else {
		conv->kernels.r = value->h;
		conv->kernels.s = value->w;
		conv->h = conv->w = 1;
	}
	conv->kernels.channels = conv->weights->dim[1] / (conv->kernels.r * conv->kernels.s);
	conv->window.r = conv->kernels.r;
	conv->window.s = conv->kernels.s;
}

/* Reads the image itself; scales and zero points are those of what CDMA makes of it. */
static void read_pixels(struct npu_opt *opt, struct npu_conv *conv, u32 op)
{
	const struct npu_op *pixels = &opt->graph->op[op];

	conv->pixels_op = op;
	conv->pixel_channels =
		npu_pixel_memory_bytes(pixels->pixels) + npu_pixel_uv_bytes(pixels->pixels);
	conv->input = npu_opt_value(opt, pixels->input[0]);
	npu_pixel_load(pixels, conv->in, &conv->pixels);
}

static bool needs_cells(const struct npu_opt *opt, const struct npu_conv *conv)
{
	const u32 plane[4] = { 1, conv->kernels.r, conv->kernels.s, conv->kernels.channels };

	return opt->graph->op[conv->op].kind == NPU_OP_FULLY_CONNECTED
		       ? npu_plane_needs_cells(plane)
		       : npu_conv_needs_cells(opt, conv->op);
}

int npu_lower_conv(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	u32 pad = opt->op[op].pad;
	u32 in = pad == NPU_NONE ? o->input[0] : graph->op[pad].input[0];
	struct npu_conv conv = {
		.op = op,
		.in = &graph->tensor[in],
		.out = npu_op_output(graph, o),
		.weights = npu_op_input(graph, o, 1),
		.bias = npu_op_input(graph, o, 2),
		.pad = pad,
		.pool = opt->op[op].pool,
		.pad_value = npu_stored_zero(&graph->tensor[in]),
		.input = npu_opt_value(opt, in),
		.output = npu_opt_value(opt, o->output[0]),
	};

	if (opt->op[op].pixels != NPU_NONE)
		read_pixels(opt, &conv, opt->op[op].pixels);

	set_geometry(opt, &conv);
	if (conv.kernels.channels > NPU_MAX_EXTENT)
		return -E2BIG;
	if (needs_cells(opt, &conv))
		return npu_lower_cells(opt, &conv);
	/* A stride that is never taken may be larger than the register holds. */
	conv.window.stride_y = conv.h == 1 ? 1 : conv.window.stride_y;
	conv.window.stride_x = conv.w == 1 ? 1 : conv.window.stride_x;
	return npu_conv_layer(opt, &conv);
}
