/* SPDX-License-Identifier: MIT */
/*
 * A convolution between IR1 and IR2.  Lowering an operator fills in what is asked for; the rest, from
 * channel blocks to packed weights, is the same for all (conv_layer.c).
 */
#ifndef NPU_CONV_H
#define NPU_CONV_H

#include "optimise.h"
#include "pack.h"
#include "requant.h"

/**
 * struct npu_conv - a convolution on its way into a layer
 * @op: in IR1
 * @in, @out: tensors whose zero points and scales count
 * @bias, @weights: tensors; NULL: no bias, a kernel of ones
 * @pad, @pool: operators that may be folded in and fused; NPU_NONE: none
 * @input: value read
 * @output: value written; not with @pool or where a sum may be fused
 * @is_part: other layers complete the operator
 * @window: with folded padding in front; bottom and right are worked out from @h and @w
 * @pixels: how CDMA reads an image; not used: @input is a feature
 * @pixels_op, @pixel_channels: with it: the operator that this does, bytes of a pixel
 * @kernels: its weights
 * @h, @w: of its output
 * @multiplier: kernel of ones: what sums are multiplied with to come to output units
 * @raw: sums and outputs are of stored values: zero points play no part, and the reference rounds once
 * @pad_value: what padding counts as
 * @sdp: what is done with sums, instead of all that follows from scales; NULL: that
 */
struct npu_conv {
	u32 op;
	const struct npu_tensor *in, *out, *bias, *weights;
	u32 pad, pool;
	u32 input, output;
	bool is_part;
	struct npu_window window;
	struct npu_pixel_load pixels;
	u32 pixels_op, pixel_channels;
	struct npu_kernels kernels;
	u32 h, w;
	double multiplier;
	bool raw;
	s32 pad_value;
	const struct npu_sdp *sdp;

	/* Worked out by npu_conv_layer(): blocks as in struct npu_packing ... */
	u32 k, c, blocks, block_channels, repeat;
	/* ... and kernels with weights beyond INT8 that the NPU cannot do. */
	u32 *bad;
	u32 bad_count;
	struct npu_channel *channel;
	bool *constant;
};

/* Appends the layer; 0 or a negative errno, -ERANGE and -E2BIG as lowering has them. */
int npu_conv_layer(struct npu_opt *opt, struct npu_conv *conv);

/* Kernels with a weight that is not INT8 without its zero point: numbers, in the net's arena; 0 or -ENOMEM. */
int npu_find_bad_kernels(struct npu_opt *opt, const struct npu_kernels *kernels, u32 **bad,
			 u32 *count);

/*
 * A step of the CPU that writes channels @conv->bad into the operator's output, where there are any: it
 * completes what the layer before did.  Of @conv it looks at @op, @input, @window and @bad alone.
 */
int npu_conv_add_patch(struct npu_opt *opt, const struct npu_conv *conv);

#endif /* NPU_CONV_H */
