/* SPDX-License-Identifier: MIT */
/* A network of one fully connected layer, which is one chain and no step of the CPU. */
#ifndef SMALL_LAYER_H
#define SMALL_LAYER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "internal.h"

#define SMALL_LAYER 128 /* elements of input and output, INT8 */

/* Other weights for another @seed. */
static inline struct npu_model *small_layer(struct npu_device *device, u32 seed)
{
	static int8_t weights[SMALL_LAYER * SMALL_LAYER];
	static int32_t bias[SMALL_LAYER];
	const struct npu_tensor_info vector = {
		.size = sizeof(vector), .rank = 2, .shape = { 1, SMALL_LAYER }, .scale = 1
	};
	const struct npu_tensor_info matrix = { .size = sizeof(matrix),
						.rank = 2,
						.shape = { SMALL_LAYER, SMALL_LAYER },
						.scale = 0.01f };
	const struct npu_operator op = {
		.size = sizeof(op),
		.kind = NPU_OPERATOR_FULLY_CONNECTED,
		.input = { &vector },
		.output = &vector,
		.weights = &matrix,
		.weight_data = weights,
		.bias = bias,
	};
	struct npu_model *model;
	u32 i;

	for (i = 0; i < SMALL_LAYER * SMALL_LAYER; i++)
		weights[i] = (int8_t)((i * seed + i / SMALL_LAYER) % 253 - 126);
	for (i = 0; i < SMALL_LAYER; i++)
		bias[i] = (int32_t)(i * seed % 4001) - 2000;
	assert_int_equal(npu_model_of_operator(device, &op, "layer", NULL, &model), 0);
	return model;
}

#endif /* SMALL_LAYER_H */
