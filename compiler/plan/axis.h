/* SPDX-License-Identifier: MIT */
/*
 * One direction (rows or columns) of a window that moves over an image, with the
 * pooling behind it where that runs on the fly: which input lines a range of
 * outputs needs, and how far a capacity of input lines reaches.
 */
#ifndef NPU_PLAN_AXIS_H
#define NPU_PLAN_AXIS_H

#include "../net.h"

/**
 * struct npu_axis - a direction of a layer
 * @in: input lines
 * @conv: outputs of the convolution (of the pooling where nothing is in front of it)
 * @out: outputs of the pass: @conv, or of the pooling on the fly
 * @kernel, @stride, @pad: of the first window; kernel with its dilation, pad before the first line
 * @pool_kernel, @pool_stride, @pool_pad: of the pooling on the fly; 1, 1, 0 without
 */
struct npu_axis {
	u32 in, conv, out;
	u32 kernel, stride, pad;
	u32 pool_kernel, pool_stride, pool_pad;
};

/**
 * struct npu_piece - what a range of outputs needs
 * @out, @outs: the range
 * @conv, @convs: outputs of the convolution
 * @in, @ins: input lines
 * @before, @after: padding that the convolution sees
 * @pool_before, @pool_after: padding that the pooling sees
 */
struct npu_piece {
	u32 out, outs;
	u32 conv, convs;
	u32 in, ins;
	u32 before, after;
	u32 pool_before, pool_after;
};

/* Outputs of a window over @in lines; 0 where it does not fit once. */
u32 npu_window_outputs(u32 in, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride);

/* Outputs [@from, @to), not empty. */
struct npu_piece npu_axis_piece(const struct npu_axis *axis, u32 from, u32 to);

/* First input line of output @from. */
u32 npu_axis_first(const struct npu_axis *axis, u32 from);

/* Behind the last input line of output @to - 1. */
u32 npu_axis_end(const struct npu_axis *axis, u32 to);

/* The largest @to so that outputs [@from, @to) need at most @lines input lines; @from: not even one. */
u32 npu_axis_reach(const struct npu_axis *axis, u32 from, u32 lines);

/* The smallest @from so that outputs [@from, @to) need at most @lines input lines; @to: not even one. */
u32 npu_axis_reach_back(const struct npu_axis *axis, u32 to, u32 lines);

/**
 * npu_axis_cut() - where outputs are cut so that what is fetched for them is cut in front of @line
 * @halo: lines that two neighbouring pieces need are fetched once and stay in the buffer
 *
 * Pieces that end at the returned output and others that begin there each fetch lines of one side
 * alone, wherever else the outputs are cut.
 *
 * Return: the output; @axis->out: no output needs what lies behind; 0: there is none.
 */
u32 npu_axis_cut(const struct npu_axis *axis, u32 line, bool halo);

/* Input lines of the output that needs most. */
u32 npu_axis_least(const struct npu_axis *axis);

/* Input lines that some output needs. */
u32 npu_axis_needed(const struct npu_axis *axis);

/* Does every output need at least one input line? */
bool npu_axis_sound(const struct npu_axis *axis);

#endif /* NPU_PLAN_AXIS_H */
