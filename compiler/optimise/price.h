/* SPDX-License-Identifier: MIT */
/*
 * NPU or CPU, where both could: what a step of the CPU costs, in cycles of the NPU, against what the NPU's
 * way would.
 */
#ifndef NPU_PRICE_H
#define NPU_PRICE_H

#include "optimise.h"

/*
 * A step of the CPU ends a chain: an interrupt, a wake-up, and another submission.  Its tensors are
 * converted from features and back, and every element passes through a few instructions.
 */
#define NPU_PRICE_STEP 20000u
#define NPU_PRICE_ELEMENT 8u

/* Cycles between two passes of the NPU, as the planner reckons too. */
#define NPU_PRICE_PASS 300u

/* Is @cycles on the NPU more than the CPU takes to read and write what @op does? */
bool npu_cpu_is_cheaper(const struct npu_opt *opt, const struct npu_op *op, u64 cycles);

#endif /* NPU_PRICE_H */
