/* SPDX-License-Identifier: MIT */
/*
 * The oracle: an interpreter of graphs in TensorFlow Lite's published quantised
 * reference arithmetic (tensorflow/lite/kernels/internal/reference, as of version
 * 2.14), bit for bit.  Plain C, no speed, independent of everything that the
 * compiler and libnpu compute with.
 */
#ifndef NPU_REFERENCE_H
#define NPU_REFERENCE_H

#include "graph.h"

struct npu_reference;

/**
 * npu_reference_new() - an interpreter with memory for every tensor of a graph
 * @graph: verified; must outlive the interpreter
 *
 * Return: 0; -ENOTSUP naming the operator that has no reference; -ENOMEM.
 */
int npu_reference_new(const struct npu_graph *graph, struct npu_reference **reference,
		      struct npu_diag *diag);
void npu_reference_free(struct npu_reference *reference);

/* Contents of a tensor, in the graph's layout (NHWC): inputs to write, all others to look at. */
void *npu_reference_tensor(struct npu_reference *reference, u32 tensor);

/**
 * npu_reference_run_op() - one operator on what its inputs contain now
 * @clamped: NULL, or a byte for each element of the output that becomes 1 where the result did not
 *           fit the output's type or the fused activation's range (0 elsewhere; 0 everywhere for
 *           operators that compute nothing)
 */
int npu_reference_run_op(struct npu_reference *reference, u32 op, u8 *clamped,
			 struct npu_diag *diag);

/**
 * npu_reference_run_fused_add() - a convolution (or fully connected layer) and the addition of its
 * result and another tensor, as one operation that rounds once
 * @conv, @add: operators; @add reads what @conv writes; @conv has no fused activation
 *
 * Reads the convolution's inputs and the addition's other operand, writes the addition's output:
 * the real sum rounded to nearest (half away from zero) and clamped, the convolution's own rounding
 * and clamp left out.  The convolution's output tensor is not touched.
 */
int npu_reference_run_fused_add(struct npu_reference *reference, u32 conv, u32 add,
				struct npu_diag *diag);

/* What npu_reference_run() shows: called after each operator; stops the run unless it returns 0. */
typedef int (*npu_reference_watch)(void *context, struct npu_reference *reference, u32 op);

/* All operators in order.  @watch may be NULL. */
int npu_reference_run(struct npu_reference *reference, npu_reference_watch watch, void *context,
		      struct npu_diag *diag);

#endif /* NPU_REFERENCE_H */
