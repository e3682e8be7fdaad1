/* SPDX-License-Identifier: MIT */
/* Operators on two values as SDP sees them: one runs through, the other is an operand. */
#ifndef NPU_BINARY_H
#define NPU_BINARY_H

#include "optimise.h"

/**
 * struct npu_binary - the two inputs of an operator
 * @main: index of the input that has the output's shape and runs through SDP
 * @other: index of the other one
 * @constant: @other is a constant with an entry for all or for each channel
 * @from: else: how SDP reads it, by element or by channel
 */
struct npu_binary {
	u32 main, other;
	bool constant;
	enum npu_operand from;
};

/* Which input is which; NULL, or why SDP cannot have them. */
const char *npu_binary_of(const struct npu_graph *graph, const struct npu_op *op,
			  struct npu_binary *binary);

/* Entry of channel @c of a constant operand: the stored one minus the zero point. */
s32 npu_constant_at(const struct npu_tensor *constant, u32 c);

/* A layer of SDP from input @input of @op to its output; NULL: out of memory. */
struct npu_layer *npu_opt_add_sdp(struct npu_opt *opt, u32 op, u32 input);

/* A layer of CDP from the input of @op to its output, its numbers open; NULL: out of memory. */
struct npu_layer *npu_opt_add_cdp(struct npu_opt *opt, u32 op);

/* The operator's activation behind the last layer, where saturation to INT8 does not do it. */
int npu_opt_clamp(struct npu_opt *opt, u32 op);

/* @count 16-bit operands or entries as a table in the weights. */
int npu_opt_add_operands(struct npu_opt *opt, const s16 *operand, u32 count, u64 *table);

#endif /* NPU_BINARY_H */
