/* SPDX-License-Identifier: MIT */
/* When values are alive. */
#ifndef NPU_PLAN_MEMORY_H
#define NPU_PLAN_MEMORY_H

#include "../plan.h"

/**
 * struct npu_live - layers between which a value's bytes must not be anyone else's
 * @used: false: the plan needs no such value, or it is a part of another one
 * @first, @last: layers, both included
 */
struct npu_live {
	bool used;
	u32 first, last;
};

/* Fills live[net->value_count] from the layers' reads and writes; parts count for the whole. */
void npu_plan_live(const struct npu_net *net, const struct npu_plan *plan, struct npu_live *live);

/* Bytes of a piece of the arena; what lies in it begins and ends between two multiples of this. */
u64 npu_span_bytes(const struct npu_budget *budget);

/* The value whose memory @value is a part of (itself, without alias), and where in it. */
u32 npu_value_root(const struct npu_net *net, u32 value, u64 *offset);

/* Did the plan put the layer's pooling into the pass of its convolution? */
bool npu_layer_is_pooled(const struct npu_plan *plan, u32 layer);

#endif /* NPU_PLAN_MEMORY_H */
