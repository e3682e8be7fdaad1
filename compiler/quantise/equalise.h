/* SPDX-License-Identifier: MIT */
/*
 * Cross-layer equalisation: what one convolution's channels are divided by, the next one's
 * weights are multiplied with.  Factors are powers of two: real results stay the same to the bit,
 * but for what a ReLU6 between them clips beyond the ranges that were seen.
 */
#ifndef NPU_EQUALISE_H
#define NPU_EQUALISE_H

#include "quantise/quantise.h"

/**
 * struct npu_pair - two operators with weights, and nothing between them but what scales along
 * @front, @behind: operators
 * @tensor: what @front computes
 * @channels: of it
 */
struct npu_pair {
	u32 front, behind;
	u32 tensor;
	u32 channels;
};

/* All pairs that @which asks for; *@pairs is malloc()ed.  0 or -ENOMEM. */
int npu_equalise_find(const struct npu_graph *graph, enum npu_equalise which,
		      struct npu_pair **pairs, u32 *count);

/**
 * npu_equalise_factors() - what to divide the channels by
 * @most: largest magnitude of each channel of @pair->tensor
 * @factor: receives a power of two for each channel
 */
void npu_equalise_factors(const struct npu_graph *graph, const struct npu_pair *pair,
			  const float *most, float *factor);

/* Changes weights and biases of both, which have to belong to @graph. */
void npu_equalise_apply(struct npu_graph *graph, const struct npu_pair *pair, const float *factor);

#endif /* NPU_EQUALISE_H */
