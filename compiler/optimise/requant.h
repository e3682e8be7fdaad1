/* SPDX-License-Identifier: MIT */
/*
 * Quantised arithmetic as SDP can do it.  A layer's outputs are
 *
 *     clamp(round((sum + bias) * multiplier) + zero)      for each channel,
 *
 * optionally with a residual added before rounding.  SDP has 16-bit operands and
 * one shift for all channels; these functions find operands whose error is far
 * below one unit of the output for every sum that can occur.
 * Stages of SDP: shared facts of the RTL (operand << shift, 33-bit sum, 49-bit product, shift
 * with rounding half away from zero, saturation to 32 bits, ReLU), then (x - offset) * scale >>
 * shift to INT8.
 */
#ifndef NPU_REQUANT_H
#define NPU_REQUANT_H

#include "../net.h"

/**
 * struct npu_channel - one output channel
 * @bias: added to the sum, zero point of the input folded in
 * @multiplier: input scale * weight scale / output scale
 * @low, @high: smallest and largest sum, without bias, that any INT8 input can give
 * @constant: set by npu_requant_conv(): no input moves the output by a unit; the weights have to
 *            be zero
 */
struct npu_channel {
	s64 bias;
	double multiplier;
	s64 low, high;
	bool constant;
};

/**
 * struct npu_requant - what a convolution's output has to be
 * @channel, @count: the channels
 * @zero: zero point of the output, as stored in features (INT8)
 * @low, @high: clamp of the stored output
 * @once: the reference rounds once, where TensorFlow Lite's fixed-point multiplication does so twice
 * @residual: a residual is added: real value (stored - residual_zero) * residual_scale
 * @residual_scale: residual's scale / output scale
 * @residual_zero: as stored
 * @conv_scale: residual: scale of the convolution's own (unfused) output / output scale
 */
struct npu_requant {
	struct npu_channel *channel;
	u32 count;
	s32 zero;
	s32 low, high;
	bool once;
	bool residual;
	double residual_scale;
	s32 residual_zero;
	double conv_scale;
};

/**
 * struct npu_requant_tables - per-channel operands, [count] each
 * @bs_alu, @bs_mul: of stage BS
 * @bn_alu, @bn_mul: of stage BN, where it takes operands per kernel
 */
struct npu_requant_tables {
	s16 *bs_alu, *bs_mul;
	s16 *bn_alu, *bn_mul;
};

/**
 * npu_requant_conv() - operands for a convolution
 * @sdp: result; tables' offsets and the residual's value are left to the caller
 * @clamp_after: set where the clamp does not fit into this pass of SDP
 *
 * Return: the largest deviation from the exact result before rounding, in output units (above 0.5
 * is never right); negative: no operands exist.
 */
double npu_requant_conv(struct npu_requant *requant, struct npu_sdp *sdp,
			struct npu_requant_tables *tables, bool *clamp_after);

/**
 * npu_requant_add() - operands for a sum or difference of two INT8 values by SDP alone
 * @scale_a, @scale_b: scale of an operand / scale of the output
 * @zero_a, @zero_b, @zero: zero points as stored
 * @sign_a, @sign_b: 1 or -1: how they enter the sum; one of them is 1
 *
 * b is the operand by element.  Return as npu_requant_conv().
 */
double npu_requant_add(struct npu_sdp *sdp, double scale_a, s32 zero_a, double scale_b, s32 zero_b,
		       s32 zero, s32 sign_a, s32 sign_b);

/**
 * npu_requant_scale() - operands for a change of scale and zero point by SDP alone
 * @twice: round as TensorFlow Lite's fixed-point multiplication does: after a factor between a half
 *         and one, and again after a shift.  For sums that is no matter, for 8-bit values it is
 *
 * Return as npu_requant_conv().
 */
double npu_requant_scale(struct npu_sdp *sdp, double scale, s32 zero_in, s32 zero_out, bool twice);

/**
 * struct npu_affine - (in - zero_in) * multiplier + offset for each channel, in units of the output
 * @multiplier, @offset: [count]; may be negative
 * @zero_in, @zero_out: zero points as stored
 * @mul, @add: receive operands of BS and BN, [count]
 */
struct npu_affine {
	const double *multiplier, *offset;
	u32 count;
	s32 zero_in, zero_out;
	s16 *mul, *add;
};

/**
 * npu_requant_affine() - operands for a sum or product with constants of the channels
 * @sdp: result; BS multiplies by @affine->mul, BN adds @affine->add, each by a table, or by a register
 *       where all channels have the same
 *
 * Return as npu_requant_conv().
 */
double npu_requant_affine(struct npu_sdp *sdp, const struct npu_affine *affine);

/**
 * npu_requant_prelu() - operands for a slope of negative values
 * @scale: input scale / output scale
 * @slope, @count: of each channel
 * @mul: receives operands of BN, [count]; a register where all channels have the same
 *
 * Return as npu_requant_conv().
 */
double npu_requant_prelu(struct npu_sdp *sdp, double scale, const double *slope, u32 count,
			 s32 zero_in, s32 zero_out, s16 *mul);

/**
 * npu_requant_product() - operands for the product of two INT8 values
 * @scale: product of their scales / output scale
 * @zero_a, @zero_b, @zero: zero points as stored; b is the operand by element or by channel @from
 * @has_ew: EW may be used; without it @zero_b has to be 0
 *
 * Return as npu_requant_conv().
 */
double npu_requant_product(struct npu_sdp *sdp, double scale, s32 zero_a, s32 zero_b, s32 zero,
			   enum npu_operand from, bool has_ew);

/**
 * npu_sdp_evaluate() - exactly what SDP computes for one element
 * @x: the accumulator or the INT8 input
 * @k: the channel: index into @tables
 * @element: the operand by element or by channel, if any
 *
 * EW's multiplier takes its zero point from @element too.
 */
s8 npu_sdp_evaluate(const struct npu_sdp *sdp, const struct npu_requant_tables *tables, u32 k,
		    s32 x, s8 element);

#endif /* NPU_REQUANT_H */
