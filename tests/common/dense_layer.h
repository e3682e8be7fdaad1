/* SPDX-License-Identifier: MIT */
/* A network of one fully connected layer, which is one chain and no step of the CPU. */
#ifndef DENSE_LAYER_H
#define DENSE_LAYER_H

#include "npu.h"

/*
 * @extent elements of input and output, INT8; @weights [extent][extent]; @bias: NULL: none.  Errors as
 * npu_model_of_operator() has them.
 */
static inline int dense_layer(struct npu_device *device, uint32_t extent, const int8_t *weights,
			      const int32_t *bias, struct npu_model **model)
{
	const struct npu_tensor_info vector = {
		.size = sizeof(vector), .rank = 2, .shape = { 1, extent }, .scale = 1
	};
	const struct npu_tensor_info matrix = {
		.size = sizeof(matrix), .rank = 2, .shape = { extent, extent }, .scale = 0.01f
	};
	const struct npu_operator op = {
		.size = sizeof(op),
		.kind = NPU_OPERATOR_FULLY_CONNECTED,
		.input = { &vector },
		.output = &vector,
		.weights = &matrix,
		.weight_data = weights,
		.bias = bias,
	};

	return npu_model_of_operator(device, &op, "layer", NULL, model);
}

#endif /* DENSE_LAYER_H */
