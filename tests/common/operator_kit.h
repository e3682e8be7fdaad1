/* SPDX-License-Identifier: MIT */
/*
 * Operators of random shapes and attributes with random contents, and what the oracle makes of them: for tests
 * of models of one operator and of OpenCL's built-in kernels.  Any failure ends the test; include it behind
 * cmocka.h.
 */
#ifndef OPERATOR_KIT_H
#define OPERATOR_KIT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "random_model.h"
#include "reference.h"

/**
 * struct kit - an operator, its tensors and their contents
 * @count: inputs
 * @tolerance: units in the last place by which results may differ: the NPU rounds in another place
 */
struct kit {
	struct npu_operator op;
	struct npu_tensor_info in[2], out, weights;
	u32 count;
	int tolerance;
	void *data[3]; /* inputs, weights */
	s32 *bias;
	float *scales;
};

static inline struct npu_tensor_info image(enum npu_type type, u32 h, u32 w, u32 c, float scale,
					   s32 zero)
{
	return (struct npu_tensor_info){
		.size = sizeof(struct npu_tensor_info),
		.type = type,
		.rank = 4,
		.shape = { 1, h, w, c },
		.scale = scale,
		.zero_point = zero,
	};
}

static inline size_t tensor_elements(const struct npu_tensor_info *info)
{
	size_t count = 1;
	u32 i;

	for (i = 0; i < info->rank; i++)
		count *= info->shape[i];
	return count;
}

static inline size_t tensor_bytes(const struct npu_tensor_info *info)
{
	return tensor_elements(info) * npu_dtype_bytes[info->type];
}

static inline void *random_contents(struct random *random, const struct npu_tensor_info *info)
{
	size_t count = tensor_elements(info), i;
	u8 *data = malloc(tensor_bytes(info));

	assert_non_null(data);
	for (i = 0; i < count; i++) {
		if (info->type == NPU_TYPE_FLOAT32)
			((float *)data)[i] = (float)(random_unit(random) * 20 - 10);
		else
			data[i] = (u8)random_next(random);
	}
	return data;
}

static inline void begin_kit(struct kit *kit, enum npu_operator_kind kind, int tolerance)
{
	*kit = (struct kit){ .count = 1, .tolerance = tolerance };
	kit->op = (struct npu_operator){
		.size = sizeof(kit->op),
		.kind = kind,
		.input = { &kit->in[0], &kit->in[1] },
		.output = &kit->out,
	};
}

static inline void fill_kit(struct kit *kit, struct random *random)
{
	u32 i;

	for (i = 0; i < kit->count; i++)
		kit->data[i] = random_contents(random, &kit->in[i]);
}

static inline void free_kit(struct kit *kit)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kit->data); i++)
		free(kit->data[i]);
	free(kit->bias);
	free(kit->scales);
}

/* ---- operators ---- */

static inline enum npu_type byte_type(struct random *random)
{
	return random_chance(random, 50) ? NPU_TYPE_INT8 : NPU_TYPE_UINT8;
}

static inline s32 zero_of(struct random *random, enum npu_type type)
{
	return random_signed(random, -20, 20) + (type == NPU_TYPE_UINT8 ? 128 : 0);
}

static inline float scale_of(struct random *random)
{
	return (float)(0.01 + random_unit(random) * 0.1);
}

static inline struct npu_tensor_info random_image(struct random *random, enum npu_type type)
{
	return image(type, random_pick(random, 1, 12), random_pick(random, 1, 12),
		     random_pick(random, 1, 40), scale_of(random), zero_of(random, type));
}

static inline u32 steps(u32 size, u32 padding, u32 kernel, u32 dilation, u32 stride)
{
	return (size + padding - (kernel - 1) * dilation - 1) / stride + 1;
}

/* Stride, dilation and padding for a kernel of @r x @s that fits, and the output that follows. */
static inline void slide(struct kit *kit, struct random *random, u32 r, u32 s, u32 k, bool dilated)
{
	struct npu_operator *op = &kit->op;
	u32 i, kernel[2] = { r, s }, out[2];

	for (i = 0; i < 2; i++) {
		op->stride[i] = random_pick(random, 1, 3);
		op->dilation[i] = dilated && kernel[i] == 2 ? random_pick(random, 1, 2) : 1;
		if ((kernel[i] - 1) * op->dilation[i] >= kit->in[0].shape[1 + i])
			op->dilation[i] = 1;
		op->pad[i] = random_pick(random, 0, kernel[i] - 1);
		op->pad[2 + i] = random_pick(random, 0, kernel[i] - 1);
		out[i] = steps(kit->in[0].shape[1 + i], op->pad[i] + op->pad[2 + i], kernel[i],
			       op->dilation[i], op->stride[i]);
	}
	kit->out =
		image(kit->in[0].type, out[0], out[1], k, kit->in[0].scale, kit->in[0].zero_point);
}

static inline void add_weights(struct kit *kit, struct random *random, u32 kernels)
{
	u32 i;

	kit->op.weights = &kit->weights;
	kit->data[2] = random_contents(random, &kit->weights);
	kit->op.weight_data = kit->data[2];
	if (random_chance(random, 70)) {
		kit->bias = calloc(kernels, sizeof(*kit->bias));
		assert_non_null(kit->bias);
		for (i = 0; i < kernels; i++)
			kit->bias[i] = random_signed(random, -5000, 5000);
		kit->op.bias = kit->bias;
	}
	if (kit->weights.type != NPU_TYPE_INT8 || random_chance(random, 50))
		return;
	kit->scales = calloc(kernels, sizeof(*kit->scales));
	assert_non_null(kit->scales);
	for (i = 0; i < kernels; i++)
		kit->scales[i] = kit->weights.scale * (float)(0.5 + random_unit(random));
	kit->op.weight_scales = kit->scales;
}

/* Every third one is depthwise. */
static inline void make_conv(struct kit *kit, struct random *random, u32 round)
{
	u32 k = random_pick(random, 1, 40), r, s, c;

	begin_kit(kit, NPU_OPERATOR_CONV_2D, 1);
	kit->in[0] = random_image(random, byte_type(random));
	c = kit->in[0].shape[3];
	r = random_pick(random, 1, min(kit->in[0].shape[1], 4u));
	s = random_pick(random, 1, min(kit->in[0].shape[2], 4u));
	if (round % 3 == 2) {
		kit->op.groups = k = c;
		c = 1;
	}
	slide(kit, random, r, s, k, true);
	kit->out.scale = (float)(kit->in[0].scale * sqrt((double)(r * s * c)) * 2);
	kit->op.clamp = random_pick(random, 0, NPU_OPERATOR_CLAMP_RELU_N1_TO_1);
	kit->weights =
		image(kit->in[0].type, r, s, c, 0.02f, kit->in[0].type == NPU_TYPE_UINT8 ? 120 : 0);
	kit->weights.shape[0] = k;
	add_weights(kit, random, k);
}

static inline void make_fully_connected(struct kit *kit, struct random *random, u32 round)
{
	u32 k = random_pick(random, 1, 64), c = random_pick(random, 1, 300);
	enum npu_type type = byte_type(random);

	begin_kit(kit, NPU_OPERATOR_FULLY_CONNECTED, 1);
	kit->in[0] = image(type, c, 0, 0, scale_of(random), zero_of(random, type));
	kit->in[0].rank = 2;
	kit->weights = image(type, c, 0, 0, 0.02f, type == NPU_TYPE_UINT8 ? 125 : 0);
	kit->weights.rank = 2;
	kit->weights.shape[0] = k;
	kit->out = image(type, k, 0, 0, (float)(kit->in[0].scale * sqrt(c) * 2),
			 zero_of(random, type));
	kit->out.rank = 2;
	kit->op.clamp = random_pick(random, 0, NPU_OPERATOR_CLAMP_RELU6);
	add_weights(kit, random, k);
}

static inline void make_pool(struct kit *kit, struct random *random, enum npu_operator_kind kind)
{
	u32 d;

	begin_kit(kit, kind, kind == NPU_OPERATOR_AVERAGE_POOL_2D);
	kit->in[0] = random_image(random, byte_type(random));
	for (d = 0; d < 2; d++)
		kit->op.window[d] = random_pick(random, 1, min(kit->in[0].shape[1 + d], 4u));
	slide(kit, random, kit->op.window[0], kit->op.window[1], kit->in[0].shape[3], false);
}

static inline void make_max_pool(struct kit *kit, struct random *random, u32 round)
{
	make_pool(kit, random, NPU_OPERATOR_MAX_POOL_2D);
}

static inline void make_average_pool(struct kit *kit, struct random *random, u32 round)
{
	make_pool(kit, random, NPU_OPERATOR_AVERAGE_POOL_2D);
}

static inline void make_add(struct kit *kit, struct random *random, u32 round)
{
	enum npu_type type = byte_type(random);

	begin_kit(kit, NPU_OPERATOR_ADD, 1);
	kit->count = 2;
	kit->in[0] = kit->in[1] = kit->out = random_image(random, type);
	kit->in[1].scale = scale_of(random);
	kit->in[1].zero_point = zero_of(random, type);
	kit->out.scale = kit->in[0].scale + kit->in[1].scale;
	kit->op.clamp = random_pick(random, 0, NPU_OPERATOR_CLAMP_RELU);
}

/* Every second one the other way. */
static inline void make_quantize(struct kit *kit, struct random *random, u32 round)
{
	bool back = round & 1;

	begin_kit(kit, back ? NPU_OPERATOR_DEQUANTIZE : NPU_OPERATOR_QUANTIZE, 0);
	kit->out = random_image(random, byte_type(random));
	kit->in[0] = kit->out;
	kit->in[0].type = NPU_TYPE_FLOAT32;
	kit->in[0].scale = 0;
	if (!back)
		return;
	kit->in[1] = kit->in[0];
	kit->in[0] = kit->out;
	kit->out = kit->in[1];
}

/* From NHWC to NCHW; every second one back; every fourth one of float32. */
static inline void make_transpose(struct kit *kit, struct random *random, u32 round)
{
	static const u32 order[2][4] = { { 0, 3, 1, 2 }, { 0, 2, 3, 1 } };
	u32 d;

	begin_kit(kit, NPU_OPERATOR_TRANSPOSE, 0);
	kit->in[0] = kit->out = random_image(random, byte_type(random));
	if (round % 4 == 3) {
		kit->in[0].type = kit->out.type = NPU_TYPE_FLOAT32;
		kit->in[0].scale = kit->out.scale = 0;
	}
	for (d = 0; d < 4; d++) {
		kit->op.permutation[d] = order[round & 1][d];
		kit->out.shape[d] = kit->in[0].shape[order[round & 1][d]];
	}
}

/* ---- results ---- */

static inline void *of_reference(const struct kit *kit)
{
	struct npu_reference *reference;
	struct npu_diag diag = { "" };
	struct npu_graph *graph;
	void *out = malloc(tensor_bytes(&kit->out));
	u32 i;

	assert_non_null(out);
	assert_int_equal(npu_operator_graph(&kit->op, "oracle", &graph), 0);
	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	for (i = 0; i < kit->count; i++)
		memcpy(npu_reference_tensor(reference, graph->input[i]), kit->data[i],
		       tensor_bytes(&kit->in[i]));
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	memcpy(out, npu_reference_tensor(reference, graph->output[0]), tensor_bytes(&kit->out));
	npu_reference_free(reference);
	npu_graph_free(graph);
	return out;
}

static inline int difference(const struct kit *kit, const void *a, const void *b, size_t i)
{
	if (kit->out.type == NPU_TYPE_UINT8)
		return abs(((const u8 *)a)[i] - ((const u8 *)b)[i]);
	return abs(((const s8 *)a)[i] - ((const s8 *)b)[i]);
}

static inline void compare_kit(const struct kit *kit, const void *is)
{
	void *expected = of_reference(kit);
	size_t i;

	if (!kit->tolerance)
		assert_memory_equal(is, expected, tensor_bytes(&kit->out));
	for (i = 0; kit->tolerance && i < tensor_elements(&kit->out); i++)
		assert_in_range(difference(kit, is, expected, i), 0, kit->tolerance);
	free(expected);
}

#endif /* OPERATOR_KIT_H */
