// SPDX-License-Identifier: MIT
/*
 * Models of one operator against the oracle, over random shapes and attributes: by at most one unit
 * in the last place where the NPU rounds, else bit for bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <math.h>
#include <cmocka.h>

#include "../common/test_device.h"
#include "internal.h"
#include "random_model.h"
#include "reference.h"

/**
 * struct kit - an operator, its tensors and their contents
 * @count: inputs
 */
struct kit {
	struct npu_operator op;
	struct npu_tensor_info in[2], out, weights;
	u32 count;
	void *data[3]; /* inputs, weights */
	s32 *bias;
	float *scales;
};

static struct npu_tensor_info image(enum npu_type type, u32 h, u32 w, u32 c, float scale, s32 zero)
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

static size_t elements(const struct npu_tensor_info *info)
{
	size_t count = 1;
	u32 i;

	for (i = 0; i < info->rank; i++)
		count *= info->shape[i];
	return count;
}

static size_t bytes_of(const struct npu_tensor_info *info)
{
	return elements(info) * npu_dtype_bytes[info->type];
}

static void *random_contents(struct random *random, const struct npu_tensor_info *info)
{
	size_t count = elements(info), i;
	u8 *data = malloc(bytes_of(info));

	assert_non_null(data);
	for (i = 0; i < count; i++) {
		if (info->type == NPU_TYPE_FLOAT32)
			((float *)data)[i] = (float)(random_unit(random) * 20 - 10);
		else
			data[i] = (u8)random_next(random);
	}
	return data;
}

static void begin(struct kit *kit, enum npu_operator_kind kind)
{
	*kit = (struct kit){ .count = 1 };
	kit->op = (struct npu_operator){
		.size = sizeof(kit->op),
		.kind = kind,
		.input = { &kit->in[0], &kit->in[1] },
		.output = &kit->out,
	};
}

static void fill(struct kit *kit, struct random *random)
{
	u32 i;

	for (i = 0; i < kit->count; i++)
		kit->data[i] = random_contents(random, &kit->in[i]);
}

static void free_kit(struct kit *kit)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kit->data); i++)
		free(kit->data[i]);
	free(kit->bias);
	free(kit->scales);
}

/* ---- the two results ---- */

static void *of_reference(const struct kit *kit)
{
	struct npu_reference *reference;
	struct npu_diag diag = { "" };
	struct npu_graph *graph;
	void *out = malloc(bytes_of(&kit->out));
	u32 i;

	assert_non_null(out);
	assert_int_equal(npu_operator_graph(&kit->op, "oracle", &graph), 0);
	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	for (i = 0; i < kit->count; i++)
		memcpy(npu_reference_tensor(reference, graph->input[i]), kit->data[i],
		       bytes_of(&kit->in[i]));
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	memcpy(out, npu_reference_tensor(reference, graph->output[0]), bytes_of(&kit->out));
	npu_reference_free(reference);
	npu_graph_free(graph);
	return out;
}

static void *of_model(const struct kit *kit, const char *simulated)
{
	struct npu_input input[2];
	struct npu_output output = { malloc(bytes_of(&kit->out)), bytes_of(&kit->out) };
	struct npu_device *device;
	struct npu_model *model;
	u32 i;

	assert_non_null(output.data);
	for (i = 0; i < kit->count; i++)
		input[i] = (struct npu_input){ kit->data[i], bytes_of(&kit->in[i]) };
	assert_int_equal(npu_open(test_device(simulated), &device), 0);
	if (npu_model_of_operator(device, &kit->op, "operator", NULL, &model))
		fail_msg("%s", npu_error());
	assert_int_equal(npu_run(model, input, kit->count, &output, 1, NULL), 0);
	npu_model_free(model);
	npu_close(device);
	return output.data;
}

static int difference(const struct kit *kit, const void *a, const void *b, size_t i)
{
	if (kit->out.type == NPU_TYPE_UINT8)
		return abs(((const u8 *)a)[i] - ((const u8 *)b)[i]);
	return abs(((const s8 *)a)[i] - ((const s8 *)b)[i]);
}

static void compare(struct kit *kit, const char *simulated, int tolerance)
{
	void *expected = of_reference(kit), *is = of_model(kit, simulated);
	size_t i;

	if (!tolerance)
		assert_memory_equal(is, expected, bytes_of(&kit->out));
	for (i = 0; tolerance && i < elements(&kit->out); i++)
		assert_in_range(difference(kit, is, expected, i), 0, tolerance);
	free(expected);
	free(is);
}

static void check(struct kit *kit, struct random *random, int tolerance)
{
	fill(kit, random);
	compare(kit, "sim:nv_small", tolerance);
	compare(kit, "sim:nv_large", tolerance);
	free_kit(kit);
}

/* ---- operators ---- */

#define ROUNDS 12

static enum npu_type byte_type(struct random *random)
{
	return random_chance(random, 50) ? NPU_TYPE_INT8 : NPU_TYPE_UINT8;
}

static s32 zero_of(struct random *random, enum npu_type type)
{
	return random_signed(random, -20, 20) + (type == NPU_TYPE_UINT8 ? 128 : 0);
}

static float scale_of(struct random *random)
{
	return (float)(0.01 + random_unit(random) * 0.1);
}

static struct npu_tensor_info random_image(struct random *random, enum npu_type type)
{
	return image(type, random_pick(random, 1, 12), random_pick(random, 1, 12),
		     random_pick(random, 1, 40), scale_of(random), zero_of(random, type));
}

static u32 steps(u32 size, u32 padding, u32 kernel, u32 dilation, u32 stride)
{
	return (size + padding - (kernel - 1) * dilation - 1) / stride + 1;
}

/* Stride, dilation and padding for a kernel of @r x @s that fits, and the output that follows. */
static void slide(struct kit *kit, struct random *random, u32 r, u32 s, u32 k, bool dilated)
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

static void add_weights(struct kit *kit, struct random *random, u32 kernels)
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

static void test_conv(void **state)
{
	struct random random = { 1 };
	struct kit kit;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u32 k = random_pick(&random, 1, 40), r, s, c;

		begin(&kit, NPU_OPERATOR_CONV_2D);
		kit.in[0] = random_image(&random, byte_type(&random));
		c = kit.in[0].shape[3];
		r = random_pick(&random, 1, min(kit.in[0].shape[1], 4u));
		s = random_pick(&random, 1, min(kit.in[0].shape[2], 4u));
		if (i % 3 == 2) { /* depthwise */
			kit.op.groups = k = c;
			c = 1;
		}
		slide(&kit, &random, r, s, k, true);
		kit.out.scale = (float)(kit.in[0].scale * sqrt((double)(r * s * c)) * 2);
		kit.op.clamp = random_pick(&random, 0, NPU_OPERATOR_CLAMP_RELU_N1_TO_1);
		kit.weights = image(kit.in[0].type, r, s, c, 0.02f,
				    kit.in[0].type == NPU_TYPE_UINT8 ? 120 : 0);
		kit.weights.shape[0] = k;
		add_weights(&kit, &random, k);
		check(&kit, &random, 1);
	}
}

static void test_fully_connected(void **state)
{
	struct random random = { 2 };
	struct kit kit;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u32 k = random_pick(&random, 1, 64), c = random_pick(&random, 1, 300);
		enum npu_type type = byte_type(&random);

		begin(&kit, NPU_OPERATOR_FULLY_CONNECTED);
		kit.in[0] = image(type, c, 0, 0, scale_of(&random), zero_of(&random, type));
		kit.in[0].rank = 2;
		kit.weights = image(type, c, 0, 0, 0.02f, type == NPU_TYPE_UINT8 ? 125 : 0);
		kit.weights.rank = 2;
		kit.weights.shape[0] = k;
		kit.out = image(type, k, 0, 0, (float)(kit.in[0].scale * sqrt(c) * 2),
				zero_of(&random, type));
		kit.out.rank = 2;
		kit.op.clamp = random_pick(&random, 0, NPU_OPERATOR_CLAMP_RELU6);
		add_weights(&kit, &random, k);
		/* One scale for all: networks have no other in fully connected layers of UINT8. */
		check(&kit, &random, 1);
	}
}

static void check_pool(enum npu_operator_kind kind, u64 seed, int tolerance)
{
	struct random random = { seed };
	struct kit kit;
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		begin(&kit, kind);
		kit.in[0] = random_image(&random, byte_type(&random));
		for (d = 0; d < 2; d++)
			kit.op.window[d] = random_pick(&random, 1, min(kit.in[0].shape[1 + d], 4u));
		slide(&kit, &random, kit.op.window[0], kit.op.window[1], kit.in[0].shape[3], false);
		check(&kit, &random, tolerance);
	}
}

static void test_max_pool(void **state)
{
	check_pool(NPU_OPERATOR_MAX_POOL_2D, 3, 0);
}

static void test_average_pool(void **state)
{
	check_pool(NPU_OPERATOR_AVERAGE_POOL_2D, 4, 1);
}

static void test_add(void **state)
{
	struct random random = { 5 };
	struct kit kit;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		enum npu_type type = byte_type(&random);

		begin(&kit, NPU_OPERATOR_ADD);
		kit.count = 2;
		kit.in[0] = kit.in[1] = kit.out = random_image(&random, type);
		kit.in[1].scale = scale_of(&random);
		kit.in[1].zero_point = zero_of(&random, type);
		kit.out.scale = kit.in[0].scale + kit.in[1].scale;
		kit.op.clamp = random_pick(&random, 0, NPU_OPERATOR_CLAMP_RELU);
		check(&kit, &random, 1);
	}
}

static void test_quantise(void **state)
{
	struct random random = { 6 };
	struct kit kit;
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		bool back = i & 1;

		begin(&kit, back ? NPU_OPERATOR_DEQUANTIZE : NPU_OPERATOR_QUANTIZE);
		kit.out = random_image(&random, byte_type(&random));
		kit.in[0] = kit.out;
		kit.in[0].type = NPU_TYPE_FLOAT32;
		kit.in[0].scale = 0;
		if (back) {
			kit.in[1] = kit.in[0];
			kit.in[0] = kit.out;
			kit.out = kit.in[1];
		}
		check(&kit, &random, 0);
	}
}

static void test_transpose(void **state)
{
	struct random random = { 7 };
	struct kit kit;
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		static const u32 nchw[2][4] = { { 0, 3, 1, 2 }, { 0, 2, 3, 1 } };

		begin(&kit, NPU_OPERATOR_TRANSPOSE);
		kit.in[0] = kit.out = random_image(&random, byte_type(&random));
		if (i % 4 == 3) {
			kit.in[0].type = kit.out.type = NPU_TYPE_FLOAT32;
			kit.in[0].scale = kit.out.scale = 0;
		}
		for (d = 0; d < 4; d++) {
			kit.op.permutation[d] = nchw[i & 1][d];
			kit.out.shape[d] = kit.in[0].shape[nchw[i & 1][d]];
		}
		check(&kit, &random, 0);
	}
}

/* ---- what is refused ---- */

static int refused(struct kit *kit)
{
	struct npu_device *device;
	struct npu_model *model = (void *)kit;
	int err;

	assert_int_equal(npu_open("sim", &device), 0);
	err = npu_model_of_operator(device, &kit->op, "thing", NULL, &model);
	assert_null(model);
	assert_non_null(strstr(npu_error(), "thing"));
	npu_close(device);
	return err;
}

static void good_pool(struct kit *kit)
{
	begin(kit, NPU_OPERATOR_MAX_POOL_2D);
	kit->in[0] = kit->out = image(NPU_TYPE_INT8, 4, 4, 8, 0.5f, 3);
}

static void test_refused(void **state)
{
	struct npu_device *device;
	struct npu_model *model;
	struct kit kit;

	good_pool(&kit);
	assert_int_equal(npu_open("sim", &device), 0);
	assert_int_equal(npu_model_of_operator(device, &kit.op, "thing", NULL, &model), 0);
	npu_model_free(model);
	assert_int_equal(npu_model_of_operator(device, NULL, "thing", NULL, &model), -EINVAL);
	assert_int_equal(npu_model_of_operator(NULL, &kit.op, "thing", NULL, &model), -EINVAL);
	kit.op.size = 0;
	assert_int_equal(npu_model_of_operator(device, &kit.op, "thing", NULL, &model), -EINVAL);
	npu_close(device);

	good_pool(&kit);
	kit.op.kind = NPU_OPERATOR_TRANSPOSE + 1;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.op.input[0] = NULL;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.op.window[0] = 3;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.in[0].type = kit.out.type = 99;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.in[0].rank = kit.out.rank = 7;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.in[0].shape[1] = kit.out.shape[1] = UINT32_MAX;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.in[0].shape[1] = kit.out.shape[1] = 0;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.op.permutation[2] = 17;
	assert_int_equal(refused(&kit), -EINVAL);
	good_pool(&kit);
	kit.op.kind = NPU_OPERATOR_CONV_2D;
	assert_int_equal(refused(&kit), -EINVAL);
	kit.weights = image(NPU_TYPE_INT8, 1, 1, 8, 0.5f, 0);
	kit.op.weights = &kit.weights;
	assert_int_equal(refused(&kit), -EINVAL);
	kit.op.weight_data = &kit;
	kit.weights.shape[0] = 0;
	assert_int_equal(refused(&kit), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conv),	  cmocka_unit_test(test_fully_connected),
		cmocka_unit_test(test_max_pool),  cmocka_unit_test(test_average_pool),
		cmocka_unit_test(test_add),	  cmocka_unit_test(test_quantise),
		cmocka_unit_test(test_transpose), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("libnpu_operator", tests, NULL, NULL);
}
