/* SPDX-License-Identifier: MIT */
/* A small layer with weights, for cmocka's tests. */
#ifndef SMALL_LAYER_H
#define SMALL_LAYER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dense_layer.h"
#include "internal.h"

#define SMALL_LAYER 128 /* elements of input and output, INT8 */

/* Other weights for another @seed. */
static inline struct npu_model *small_layer(struct npu_device *device, u32 seed)
{
	static int8_t weights[SMALL_LAYER * SMALL_LAYER];
	static int32_t bias[SMALL_LAYER];
	struct npu_model *model;
	u32 i;

	for (i = 0; i < SMALL_LAYER * SMALL_LAYER; i++)
		weights[i] = (int8_t)((i * seed + i / SMALL_LAYER) % 253 - 126);
	for (i = 0; i < SMALL_LAYER; i++)
		bias[i] = (int32_t)(i * seed % 4001) - 2000;
	assert_int_equal(dense_layer(device, SMALL_LAYER, weights, bias, &model), 0);
	return model;
}

#endif /* SMALL_LAYER_H */
