/* SPDX-License-Identifier: MIT */
/*
 * What a step takes on the CPU, in cycles of the NPU, so that it can be compared with what the planner's
 * model says of the NPU.
 *
 * Rates are those of a core at the NPU's clock that takes two cycles for what libnpu's operators do in a
 * nanosecond on the machine of Documentation/performance.md: tests/bench/bench_cpu prints both.
 */
#ifndef NPU_PRICE_H
#define NPU_PRICE_H

#include "../plan.h"
#include "optimise.h"

/* A step of the CPU by itself: its tensors' memory, its threads. */
#define NPU_PRICE_STEP 3000u

/*
 * From the NPU to the CPU or back: an interrupt and a wake-up, or a submission.  Both together are 63,400
 * instructions of the kernel and the library (Documentation/performance.md), two a cycle.
 */
#define NPU_PRICE_SWITCH 16000u

/* Cycles between two passes of the NPU (Documentation/chain.md). */
#define NPU_PRICE_PASS 300u

/* More than any step takes: sums of these do not overflow. */
#define NPU_PRICE_MOST (1ull << 40)

/* What the CPU takes for an operator, its step included; at most NPU_PRICE_MOST. */
u64 npu_price_cpu(const struct npu_graph *graph, const struct npu_op *op);

/* The same for @channels output channels of a convolution alone. */
u64 npu_price_cpu_patch(const struct npu_graph *graph, const struct npu_op *op, u32 channels);

/*
 * What the CPU takes, or would take, for the operators that a layer completes, or its part of one; 0 where
 * there is none: layers that others complete, and those of a list of layers.
 */
u64 npu_price_cpu_layer(const struct npu_net *net, const struct npu_layer *layer);

/* What the CPU takes for all operators of a unit of a plan. */
u64 npu_price_cpu_unit(const struct npu_net *net, const struct npu_cpu_unit *unit);

/* What it takes to make features of a tensor, or a tensor of features. */
u64 npu_price_convert(const struct npu_tensor *tensor);

/**
 * npu_cpu_is_cheaper() - is an operator not worth being lowered?
 * @cycles: what the NPU takes for it at the least
 *
 * Where that is more than the CPU takes with the ways to it and back, whatever is around.  Whether the NPU
 * is worth it where this says no, is decided when all layers are there (choose.h).
 */
bool npu_cpu_is_cheaper(const struct npu_opt *opt, const struct npu_op *op, u64 cycles);

#endif /* NPU_PRICE_H */
