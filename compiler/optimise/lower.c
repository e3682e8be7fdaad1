// SPDX-License-Identifier: MIT
/* Every operator that is left becomes layers: by its row of the table, or as a step of the CPU. */
#include "optimise.h"

#include "../plan/split.h"

int npu_lower_cpu(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_CPU, op);
	u32 i;

	if (!layer)
		return npu_opt_nomem(opt);
	for (i = 0; i < o->input_count && layer->input == NPU_NONE; i++)
		if (o->input[i] != NPU_NONE)
			layer->input = npu_opt_value(opt, o->input[i]);
	layer->output = npu_opt_value(opt, o->output[0]);
	layer->window = o->window;
	layer->cpu_reason = opt->op[op].cpu_reason;
	return npu_opt_set_group(opt, layer, &op, 1);
}

/* Padding that was to be a part of the operator has to be done after all, in front of it. */
static int fall_back(struct npu_opt *opt, u32 op, const char *reason)
{
	u32 pad = opt->op[op].pad;
	int error = 0;

	if (pad != NPU_NONE) {
		opt->op[pad].cpu_reason = "in front of an operator that the CPU does";
		error = npu_lower_cpu(opt, pad);
	}
	opt->op[op].cpu_reason = reason;
	return error ? error : npu_lower_cpu(opt, op);
}

#define PIXELS_TOO_LARGE "the lines of one output do not fit the buffer as pixels"
#define PIXELS_OUT_OF_RANGE \
	"operands of the convolution do not fit SDP, or its weights are more than 8 bits"

/* The image has to be converted after all, and the convolution reads features. */
static int convert_image(struct npu_opt *opt, u32 conv, const char *reason)
{
	u32 op = opt->op[conv].pixels;
	u32 tensor = opt->graph->op[op].input[0];
	struct npu_value *value = &opt->net->value[npu_opt_value(opt, tensor)];
	const struct npu_tensor *bytes = &opt->graph->tensor[tensor];
	u32 nhwc[4];

	npu_tensor_nhwc(bytes, nhwc);
	value->layout = NPU_LINEAR;
	value->h = nhwc[1];
	value->w = nhwc[2];
	value->c = nhwc[3];
	value->line_stride = value->surface_stride = value->pixel_bytes = 0;
	value->bytes = bytes->bytes;
	opt->op[conv].pixels = NPU_NONE;
	opt->op[op].done = false;
	opt->op[op].cpu_reason = reason;
	return npu_lower_cpu(opt, op);
}

/* By its row of the table; what was done of it before it turned out to be impossible is undone. */
static int try_lower(struct npu_opt *opt, u32 op)
{
	u32 layers = opt->net->layer_count;
	int error = npu_op_support[opt->graph->op[op].kind].lower(opt, op);

	if (error == -ERANGE || error == -EDOM || error == -E2BIG)
		opt->net->layer_count = layers;
	return error;
}

static int lower(struct npu_opt *opt, u32 op)
{
	int error;

	if (opt->op[op].cpu_reason)
		return npu_lower_cpu(opt, op);
	error = try_lower(opt, op);
	if ((error == -ERANGE || error == -E2BIG) && opt->op[op].pixels != NPU_NONE) {
		error = convert_image(opt, op,
				      error == -E2BIG ? PIXELS_TOO_LARGE : PIXELS_OUT_OF_RANGE);
		if (!error)
			error = try_lower(opt, op);
	}
	if (error == -ERANGE)
		return fall_back(opt, op, "scales are too far apart for SDP");
	if (error == -EDOM)
		return fall_back(opt, op, "its curve is too steep for CDP's tables");
	if (error == -E2BIG)
		return fall_back(opt, op, NPU_SPLIT_TOO_LARGE);
	return error;
}

int npu_pass_lower(struct npu_opt *opt)
{
	u32 i;

	for (i = 0; i < opt->graph->op_count; i++) {
		int error;

		if (opt->op[i].done || opt->op[i].identity)
			continue;
		error = lower(opt, i);
		if (error)
			return npu_diag_set(opt->diag, error, "%s: %s cannot be lowered",
					    opt->graph->file, opt->graph->op[i].name);
	}
	return 0;
}
