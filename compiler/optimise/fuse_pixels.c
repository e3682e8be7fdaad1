// SPDX-License-Identifier: MIT
/*
 * A convolution behind an image reads its pixels itself: CDMA's pixel input converts bytes with one
 * scale, a mean for each channel, and a shift.
 */
#include "cells.h"
#include "pixels.h"

#include <math.h>

#include "nvdla_regs.h"

/* What the operator makes of a byte, as features store it. */
static s32 wanted(const struct npu_op *op, const struct npu_tensor *image, u32 byte, u32 c)
{
	double real = ((double)byte - (double)op->pixel_mean[c]) * (double)op->pixel_scale[c];
	double units = round(real / (double)image->quant.scale[0]) + npu_stored_zero(image);

	return (s32)fmax(fmin(units, 127), -128);
}

/* What CDMA makes of it: rounds half away from zero, saturates. */
static s32 loaded(const struct npu_pixel_load *load, u32 byte, s32 mean)
{
	s64 product = ((s64)byte - mean) * load->scale;
	u64 magnitude = product < 0 ? (u64)-product : (u64)product;

	if (load->shift)
		magnitude = (magnitude + (1ull << (load->shift - 1))) >> load->shift;
	if (product < 0)
		return magnitude > 128 ? -128 : -(s32)magnitude;
	return magnitude > 127 ? 127 : (s32)magnitude;
}

/* Units that all bytes of a channel are off together; the largest one in @worst. */
static u32 distance(const struct npu_op *op, const struct npu_tensor *image,
		    const struct npu_pixel_load *load, u32 c, s32 mean, s32 *worst)
{
	u32 byte, sum = 0;

	*worst = 0;
	for (byte = 0; byte < 256; byte++) {
		s32 off = wanted(op, image, byte, c) - loaded(load, byte, mean);

		off = off < 0 ? -off : off;
		sum += (u32)off;
		*worst = max(*worst, off);
	}
	return sum;
}

/* The largest multiplier of 16 bits and its shift. */
static bool set_scale(struct npu_pixel_load *load, double units_per_byte)
{
	const u32 most_shift = NVDLA_FIELD_MAX(CDMA, D_CVT_CFG, CVT_TRUNCATE);

	load->shift = 0;
	if (!(fabs(units_per_byte) < INT16_MAX) || !units_per_byte)
		return false;
	while (load->shift < most_shift &&
	       fabs(ldexp(units_per_byte, (int)load->shift + 1)) < INT16_MAX)
		load->shift++;
	load->scale = (s32)lround(ldexp(units_per_byte, (int)load->shift));
	return load->scale != 0;
}

/* The mean that comes closest: whole numbers around what takes the zero point along. */
static bool set_mean(const struct npu_op *op, const struct npu_tensor *image,
		     struct npu_pixel_load *load, u32 c)
{
	double units = (double)op->pixel_scale[c] / (double)image->quant.scale[0];
	double middle = (double)op->pixel_mean[c] - npu_stored_zero(image) / units;
	u32 best = UINT32_MAX, sum;
	s32 worst, found = 0, mean;

	if (!(fabs(middle) < INT16_MAX - 1))
		return false;
	for (mean = (s32)floor(middle); mean <= (s32)ceil(middle); mean++) {
		sum = distance(op, image, load, c, mean, &worst);
		if (sum >= best)
			continue;
		best = sum;
		load->mean[c] = mean;
		found = worst;
	}
	return found <= 1;
}

bool npu_pixel_load(const struct npu_op *op, const struct npu_tensor *image,
		    struct npu_pixel_load *load)
{
	u32 c, channels = image->dim[3];

	*load = (struct npu_pixel_load){ .used = true,
					 .format = npu_pixel_formats[op->pixels].hardware };
	if (!set_scale(load, (double)op->pixel_scale[0] / (double)image->quant.scale[0]))
		return false;
	for (c = 0; c < channels; c++)
		if (!set_mean(op, image, load, c))
			return false;
	return true;
}

/* Why the convolution @conv cannot read the image; NULL: it can. */
static const char *refusal(const struct npu_opt *opt, const struct npu_op *pixels, u32 conv)
{
	const struct npu_tensor *image = npu_op_output(opt->graph, pixels);
	const struct npu_op *op = conv == NPU_NONE ? NULL : &opt->graph->op[conv];
	struct npu_pixel_load load;

	if (!op || op->kind != NPU_OP_CONV || opt->op[conv].cpu_reason)
		return "no convolution of the NPU alone reads the image";
	if (op->groups != 1 || op->window.dilation_x != 1)
		return "the NPU reads pixels for convolutions without groups and dilation";
	if (npu_conv_needs_cells(opt, conv))
		return "the NPU reads pixels for convolutions within its registers";
	if (!npu_is_quantised(image))
		return "the image is no INT8";
	if (!npu_pixel_load(pixels, image, &load))
		return "one scale and whole means do not come within a unit of this conversion";
	return NULL;
}

/* The convolution that alone reads the image, directly or with folded padding. */
static u32 reader_of(const struct npu_opt *opt, u32 image)
{
	const struct npu_opt_tensor *t = &opt->tensor[image];
	u32 reader = t->consumer;

	if (t->consumers != 1 || t->is_output)
		return NPU_NONE;
	if (opt->graph->op[reader].kind == NPU_OP_PAD && opt->op[reader].done)
		reader = opt->tensor[opt->graph->op[reader].output[0]].consumer;
	else if (opt->graph->op[reader].input[0] != image)
		return NPU_NONE;
	return reader;
}

int npu_pass_fuse_pixels(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, conv;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		if (op->kind != NPU_OP_PIXELS)
			continue;
		conv = reader_of(opt, op->output[0]);
		opt->op[i].cpu_reason = refusal(opt, op, conv);
		/* The image's bytes are in nobody else's order. */
		if (!opt->op[i].cpu_reason && (opt->tensor[op->input[0]].consumers != 1 ||
					       opt->tensor[op->input[0]].is_output))
			opt->op[i].cpu_reason = "the image is read by others too";
		if (opt->op[i].cpu_reason)
			continue;
		opt->op[conv].pixels = i;
		opt->op[i].done = true;
	}
	return 0;
}
