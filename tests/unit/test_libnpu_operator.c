// SPDX-License-Identifier: MIT
/*
 * Models of one operator against the oracle, over random shapes and attributes: by at most one unit
 * in the last place where the NPU rounds, else bit for bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "../common/operator_kit.h"
#include "../common/test_device.h"

#define ROUNDS 12

static void *of_model(const struct kit *kit, const char *simulated)
{
	struct npu_input input[2];
	struct npu_output output = { malloc(tensor_bytes(&kit->out)), tensor_bytes(&kit->out) };
	struct npu_device *device;
	struct npu_model *model;
	u32 i;

	assert_non_null(output.data);
	for (i = 0; i < kit->count; i++)
		input[i] = (struct npu_input){ kit->data[i], tensor_bytes(&kit->in[i]) };
	assert_int_equal(npu_open(test_device(simulated), &device), 0);
	if (npu_model_of_operator(device, &kit->op, "operator", NULL, &model))
		fail_msg("%s", npu_error());
	assert_int_equal(npu_run(model, input, kit->count, &output, 1, NULL), 0);
	npu_model_free(model);
	npu_close(device);
	return output.data;
}

static void check(void (*make)(struct kit *kit, struct random *random, u32 round), u64 seed)
{
	static const char *const devices[] = { "sim:nv_small", "sim:nv_large" };
	struct random random = { seed };
	struct kit kit;
	u32 round, i;

	for (round = 0; round < ROUNDS; round++) {
		make(&kit, &random, round);
		fill_kit(&kit, &random);
		for (i = 0; i < ARRAY_SIZE(devices); i++) {
			void *is = of_model(&kit, devices[i]);

			compare_kit(&kit, is);
			free(is);
		}
		free_kit(&kit);
	}
}

static void test_conv(void **state)
{
	check(make_conv, 1);
}

static void test_fully_connected(void **state)
{
	check(make_fully_connected, 2);
}

static void test_max_pool(void **state)
{
	check(make_max_pool, 3);
}

static void test_average_pool(void **state)
{
	check(make_average_pool, 4);
}

static void test_add(void **state)
{
	check(make_add, 5);
}

static void test_quantise(void **state)
{
	check(make_quantize, 6);
}

static void test_transpose(void **state)
{
	check(make_transpose, 7);
}

/* ---- a layer that needs most of the buffer ---- */

#define LONG_INPUTS 14000
#define LONG_OUTPUTS 16

/* At every budget, while the model stays loaded: by the NPU where a kernel group fits, else by the CPU. */
static void test_long_rows(void **state)
{
	static int8_t weights[LONG_OUTPUTS * LONG_INPUTS], in[LONG_INPUTS];
	const struct npu_tensor_info row = {
		.size = sizeof(row), .rank = 2, .shape = { 1, LONG_INPUTS }, .scale = 1
	};
	const struct npu_tensor_info result = {
		.size = sizeof(result), .rank = 2, .shape = { 1, LONG_OUTPUTS }, .scale = 8
	};
	const struct npu_tensor_info matrix = { .size = sizeof(matrix),
						.rank = 2,
						.shape = { LONG_OUTPUTS, LONG_INPUTS },
						.scale = 0.01f };
	const struct npu_operator op = { .size = sizeof(op),
					 .kind = NPU_OPERATOR_FULLY_CONNECTED,
					 .input = { &row },
					 .output = &result,
					 .weights = &matrix,
					 .weight_data = weights };
	const struct npu_input input = { in, sizeof(in) };
	int8_t first[LONG_OUTPUTS], out[LONG_OUTPUTS];
	const struct npu_output output = { out, sizeof(out) };
	struct random random = { 8 };
	struct npu_device *device;
	struct npu_model *model;
	u32 banks, i, on_cpu = 0;

	for (i = 0; i < sizeof(weights); i++)
		weights[i] = (int8_t)random_pick(&random, 0, 254) - 127;
	for (i = 0; i < sizeof(in); i++)
		in[i] = (int8_t)random_pick(&random, 0, 255) - 128;
	assert_int_equal(npu_open("sim:nv_small:longrows", &device), 0);
	assert_int_equal(npu_model_of_operator(device, &op, "long", NULL, &model), 0);
	for (banks = 32; banks; banks--) {
		struct npu_run_stats stats = { .size = sizeof(stats) };

		assert_int_equal(npu_device_set_cap(device, banks), 0);
		if (npu_run(model, &input, 1, &output, 1, &stats))
			fail_msg("%u banks: %s", banks, npu_error());
		if (banks == 32) {
			assert_int_equal(stats.cpu_steps, 0);
			memcpy(first, out, sizeof(first));
		}
		on_cpu += stats.cpu_steps;
		for (i = 0; i < LONG_OUTPUTS; i++)
			assert_true(abs(out[i] - first[i]) <= (stats.cpu_steps ? 1 : 0));
	}
	/* A kernel group of 14,000 inputs is 28 banks. */
	assert_true(on_cpu > 20 && on_cpu < 32);
	assert_int_equal(npu_device_set_cap(device, 32), 0);
	assert_int_equal(npu_run(model, &input, 1, &output, 1, NULL), 0);
	assert_memory_equal(out, first, sizeof(first));
	npu_model_free(model);
	npu_close(device);
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
	begin_kit(kit, NPU_OPERATOR_MAX_POOL_2D, 0);
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
		cmocka_unit_test(test_transpose), cmocka_unit_test(test_long_rows),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("libnpu_operator", tests, NULL, NULL);
}
