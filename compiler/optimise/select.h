/* SPDX-License-Identifier: MIT */
/* Channels in another order, or some of them: a convolution whose kernels have a single one. */
#ifndef NPU_SELECT_H
#define NPU_SELECT_H

#include "optimise.h"

/**
 * struct npu_select - which channel of @input each channel of @output is
 * @op: for which operator
 * @channel: [channels of the output]
 * @stride_y, @stride_x: every how many-th pixel is taken
 * @is_part: other layers complete the operator
 */
struct npu_select {
	u32 op;
	u32 input, output;
	const u32 *channel;
	u32 stride_y, stride_x;
	bool is_part;
};

/* Appends the convolution; errors as lowering has them. */
int npu_opt_select(struct npu_opt *opt, const struct npu_select *select);

/* Cycles of the MAC array for @pixels of @k channels out of @c. */
u64 npu_select_cycles(const struct nvdla_config *config, u64 pixels, u32 c, u32 k);

#endif /* NPU_SELECT_H */
