/* SPDX-License-Identifier: MIT */
/*
 * From a task of the plan to registers.  One file for each group of units; what
 * they share is the task with everything that belongs to it.
 */
#ifndef NPU_EMIT_H
#define NPU_EMIT_H

#include "../npu_compiler.h"
#include "stream.h"

/* A box of an output cube: rows, columns and a range of channels. */
struct npu_box {
	u32 y, rows;
	u32 x, cols;
	u32 c, channels;
};

/**
 * struct npu_emit - a task on its way into a stream
 * @stream: where to
 * @net, @plan: whose
 * @step: step that the stream is for
 * @full: the step has more pieces of memory than a chain can name
 * @layer, @task: what
 * @first: the layer's first task, which loads its look-up tables for all
 * @out: box that SDP (PDP or CDP alone: these) computes
 * @pooled: box that PDP writes, where it runs
 */
struct npu_emit {
	struct npu_stream *stream;
	const struct npu_net *net;
	const struct npu_plan *plan;
	struct npu_step *step;
	bool full;
	const struct npu_layer *layer;
	const struct npu_task *task;
	bool first;
	struct npu_box out;
	struct npu_box pooled;
};

/* CDMA, CSC, CMAC and CACC. */
void npu_emit_conv(struct npu_emit *emit);

/* SDP_RDMA and SDP: behind a convolution or from memory. */
void npu_emit_sdp(struct npu_emit *emit);

/* PDP, and PDP_RDMA where it reads memory. */
void npu_emit_pdp(struct npu_emit *emit);

/* CDP_RDMA and CDP. */
void npu_emit_cdp(struct npu_emit *emit);

/* The address of a feature at row @y, column @x and channel @c (whole surfaces). */
void npu_emit_feature(struct npu_emit *emit, u32 reg, u32 value, u32 y, u32 x, u32 c);

/* The surface stride of a feature where row @y lies. */
u32 npu_emit_surface_stride(const struct npu_emit *emit, u32 value, u32 y);

/* The address of weights or of an operand table. */
void npu_emit_weights(struct npu_emit *emit, u32 reg, u64 offset);

#endif /* NPU_EMIT_H */
