// SPDX-License-Identifier: MIT
/*
 * What every function of npu.h does where an argument is missing or a struct's size is not that of this version:
 * it is refused with a text, and nothing is read or written where nothing is.  The list of functions is that of
 * libnpu.map: one that is new and not here fails the last test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <limits.h>
#include <cmocka.h>

#include "../common/small_layer.h"
#include "../common/whole_file.h"

#define MODEL "tools/demo/digits.tflite"
#define LIST "libnpu/libnpu.map"

static struct npu_device *device;
static struct npu_model *model;
static int8_t in[SMALL_LAYER], out[SMALL_LAYER];
static const struct npu_input input = { in, sizeof(in) };
static const struct npu_output output = { out, sizeof(out) };

/* ---- functions that were called ---- */

#define MAX_FUNCTIONS 64

static const char *called[MAX_FUNCTIONS];
static unsigned called_count;

static bool was_called(const char *name)
{
	unsigned i;

	for (i = 0; i < called_count; i++)
		if (strcmp(called[i], name) == 0)
			return true;
	return false;
}

static void note(const char *name)
{
	if (was_called(name))
		return;
	assert_true(called_count < MAX_FUNCTIONS);
	called[called_count++] = name;
}

static void check(const char *name, int line, int result, int expected)
{
	note(name);
	if (result != expected)
		fail_msg("line %d: %s gives %d, not %d", line, name, result, expected);
	if (expected < 0 && !*npu_error())
		fail_msg("line %d: %s fails without a text", line, name);
	npu_fail(0, "%s", "");
}

#define GIVES(expected, function, ...) \
	check(#function, __LINE__, (int)function(__VA_ARGS__), expected)
#define REFUSED(...) GIVES(-EINVAL, __VA_ARGS__)

/* For those that return nothing. */
#define DOES_NOTHING(function, ...)    \
	do {                           \
		function(__VA_ARGS__); \
		note(#function);       \
	} while (0)

/* ---- missing arguments ---- */

static void test_of_devices(void **state)
{
	struct npu_reservation reservation = { .size = sizeof(reservation) };
	struct npu_device_budget budget = { .size = sizeof(budget) };
	struct npu_device_info info = { .size = sizeof(info) };

	assert_string_equal(npu_version(), NPU_VERSION);
	note("npu_version");
	npu_fail(-EIO, "a text");
	assert_string_equal(npu_error(), "a text");
	note("npu_error");
	assert_null(npu_device_name(UINT_MAX));
	note("npu_device_name");
	REFUSED(npu_open, "sim", NULL);
	DOES_NOTHING(npu_close, NULL);
	REFUSED(npu_device_info, NULL, &info);
	REFUSED(npu_device_info, device, NULL);
	REFUSED(npu_device_budget, NULL, &budget);
	REFUSED(npu_device_budget, device, NULL);
	REFUSED(npu_device_budget_wait, NULL, 0, 0, &budget);
	REFUSED(npu_device_budget_wait, NULL, 0, -1, NULL);
	REFUSED(npu_device_reservation, NULL, 0, &reservation);
	REFUSED(npu_device_reservation, device, 0, NULL);
	GIVES(-ENOENT, npu_device_reservation, device, UINT_MAX, &reservation);
	REFUSED(npu_device_set_cap, NULL, 1);
	REFUSED(npu_reserve, NULL, 0);
	REFUSED(npu_set_priority, NULL, NPU_PRIORITY_NORMAL);
	REFUSED(npu_set_priority, device, (enum npu_priority) - 1);
	REFUSED(npu_set_thread_priority, (enum npu_priority)3);
}

/* What is not loaded is NULL, whatever stood there. */
static void test_of_loading(void **state)
{
	const struct npu_operator op = { .size = sizeof(op) };
	struct npu_model *const stale = (struct npu_model *)(uintptr_t)1;
	struct npu_model *none = stale;
	size_t bytes;
	void *data;

	GIVES(NPU_FILE_UNKNOWN, npu_file_kind, NULL, 100);
	REFUSED(npu_model_load, NULL, MODEL, NULL, &none);
	assert_null(none);
	none = stale;
	REFUSED(npu_model_load, device, NULL, NULL, &none);
	assert_null(none);
	REFUSED(npu_model_load, device, MODEL, NULL, NULL);
	none = stale;
	REFUSED(npu_model_load_memory, NULL, in, sizeof(in), "a name", NULL, &none);
	assert_null(none);
	REFUSED(npu_model_load_memory, device, NULL, sizeof(in), "a name", NULL, &none);
	REFUSED(npu_model_load_memory, device, in, sizeof(in), NULL, NULL, &none);
	REFUSED(npu_model_load_memory, device, in, sizeof(in), "a name", NULL, NULL);
	none = stale;
	REFUSED(npu_model_of_operator, NULL, &op, "a name", NULL, &none);
	assert_null(none);
	REFUSED(npu_model_of_operator, device, NULL, "a name", NULL, &none);
	REFUSED(npu_model_of_operator, device, &op, NULL, NULL, &none);
	REFUSED(npu_model_of_operator, device, &op, "a name", NULL, NULL);
	REFUSED(npu_model_of_operator, device, &op, "no tensors", NULL, &none);
	assert_null(none);
	REFUSED(npu_model_save_memory, NULL, &data, &bytes);
	REFUSED(npu_model_save_memory, model, NULL, &bytes);
	REFUSED(npu_model_save_memory, model, &data, NULL);
	DOES_NOTHING(npu_model_free, NULL);
}

static void test_of_models(void **state)
{
	struct npu_tensor_info tensor = { .size = sizeof(tensor) };
	struct npu_model_info info = { .size = sizeof(info) };

	GIVES(0, npu_model_input_count, NULL);
	GIVES(0, npu_model_output_count, NULL);
	REFUSED(npu_model_input, NULL, 0, &tensor);
	REFUSED(npu_model_input, model, 0, NULL);
	REFUSED(npu_model_input, model, UINT_MAX, &tensor);
	REFUSED(npu_model_output, NULL, 0, &tensor);
	REFUSED(npu_model_output, model, 0, NULL);
	REFUSED(npu_model_output, model, UINT_MAX, &tensor);
	REFUSED(npu_model_info, NULL, &info);
	REFUSED(npu_model_info, model, NULL);
	assert_string_equal(npu_type_name((enum npu_type) - 1), "?");
	note("npu_type_name");
}

static void test_of_runs(void **state)
{
	struct npu_call call = { NULL, &input, 1, &output, 1, NULL };
	const struct npu_input no_data = { NULL, sizeof(in) };
	struct npu_run_stats stats = { .size = sizeof(stats) };
	unsigned done = 1;

	REFUSED(npu_run, NULL, &input, 1, &output, 1, NULL);
	REFUSED(npu_run, model, NULL, 1, &output, 1, NULL);
	REFUSED(npu_run, model, &no_data, 1, &output, 1, NULL);
	REFUSED(npu_run, model, &input, 1, NULL, 1, NULL);
	REFUSED(npu_run, model, NULL, 0, NULL, 0, NULL);
	REFUSED(npu_run, model, &input, UINT_MAX, &output, 1, NULL);
	REFUSED(npu_run_calls, NULL, 1, &done);
	assert_int_equal(done, 0);
	REFUSED(npu_run_calls, &call, 1, &done);
	GIVES(0, npu_run_calls, NULL, 0, NULL);
	GIVES(0, npu_run, model, &input, 1, &output, 1, &stats);
}

static void test_of_jobs(void **state)
{
	struct npu_job *const stale = (struct npu_job *)(uintptr_t)1;
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct npu_job *job = stale;

	REFUSED(npu_submit, NULL, &input, 1, &output, 1, &job);
	assert_null(job);
	job = stale;
	REFUSED(npu_submit, model, NULL, 1, &output, 1, &job);
	assert_null(job);
	REFUSED(npu_submit, model, &input, 1, NULL, 1, &job);
	REFUSED(npu_submit, model, &input, 1, &output, 1, NULL);
	REFUSED(npu_job_wait, NULL, 0);
	REFUSED(npu_job_wait, NULL, -1);
	REFUSED(npu_job_fd, NULL);
	REFUSED(npu_job_stats, NULL, &stats);
	GIVES(0, npu_submit, model, &input, 1, &output, 1, &job);
	REFUSED(npu_job_stats, job, NULL);
	GIVES(0, npu_job_wait, job, -1);
	REFUSED(npu_job_stats, job, NULL);
	npu_job_free(job);
	DOES_NOTHING(npu_job_free, NULL);
}

/* ---- structs of another size ---- */

static int fill_info(void *to)
{
	return npu_device_info(device, to);
}

static int fill_budget(void *to)
{
	return npu_device_budget(device, to);
}

static int fill_waited_budget(void *to)
{
	return npu_device_budget_wait(device, UINT64_MAX, 0, to);
}

static int fill_reservation(void *to)
{
	return npu_device_reservation(device, 0, to);
}

static int fill_input(void *to)
{
	return npu_model_input(model, 0, to);
}

static int fill_output(void *to)
{
	return npu_model_output(model, 0, to);
}

static int fill_model_info(void *to)
{
	return npu_model_info(model, to);
}

static int fill_stats(void *to)
{
	return npu_run(model, &input, 1, &output, 1, to);
}

static int fill_job_stats(void *to)
{
	struct npu_job *job;
	int err;

	assert_int_equal(npu_submit(model, &input, 1, &output, 1, &job), 0);
	assert_int_equal(npu_job_wait(job, -1), 0);
	err = npu_job_stats(job, to);
	npu_job_free(job);
	return err;
}

static const struct filled {
	const char *function;
	int (*fill)(void *to);
	size_t bytes; /* of this version */
} filled[] = {
	{ "npu_device_info", fill_info, sizeof(struct npu_device_info) },
	{ "npu_device_budget", fill_budget, sizeof(struct npu_device_budget) },
	{ "npu_device_budget_wait", fill_waited_budget, sizeof(struct npu_device_budget) },
	{ "npu_device_reservation", fill_reservation, sizeof(struct npu_reservation) },
	{ "npu_model_input", fill_input, sizeof(struct npu_tensor_info) },
	{ "npu_model_output", fill_output, sizeof(struct npu_tensor_info) },
	{ "npu_model_info", fill_model_info, sizeof(struct npu_model_info) },
	{ "npu_run", fill_stats, sizeof(struct npu_run_stats) },
	{ "npu_job_stats", fill_job_stats, sizeof(struct npu_run_stats) },
};

#define LARGEST 512
#define UNTOUCHED 0xa5

/* The struct with @size in it, and behind it what nobody may write. */
static void check_fill(const struct filled *f, size_t size)
{
	const bool good = size > sizeof(size_t);
	const size_t written = !good ? sizeof(size) : min(size, f->bytes);
	union {
		size_t size;
		uint8_t byte[LARGEST];
	} object;
	size_t i;
	int err;

	assert_true(f->bytes < LARGEST);
	memset(&object, UNTOUCHED, sizeof(object));
	object.size = size;
	err = f->fill(&object);
	if (err != (good ? 0 : -EINVAL))
		fail_msg("%s with a size of %zu: %d", f->function, size, err);
	if (object.size != size)
		fail_msg("%s changes the size that it was given", f->function);
	for (i = written; i < LARGEST; i++)
		if (object.byte[i] != UNTOUCHED)
			fail_msg("%s with a size of %zu writes byte %zu", f->function, size, i);
}

static void test_sizes_of_results(void **state)
{
	size_t i, size;

	assert_int_equal(npu_reserve(device, 1), 0);
	for (i = 0; i < ARRAY_SIZE(filled); i++) {
		for (size = 0; size <= filled[i].bytes; size++)
			check_fill(&filled[i], size);
		check_fill(&filled[i], filled[i].bytes + 1);
		check_fill(&filled[i], SIZE_MAX);
	}
	assert_int_equal(npu_reserve(device, 0), 0);
}

/* A struct that is read: a copy that ends where its size says, so that a sanitizer sees each byte behind it. */
static void *cut(const void *whole, size_t bytes, size_t size)
{
	void *copy = calloc(1, max(bytes, sizeof(size)));

	assert_non_null(copy);
	memcpy(copy, whole, bytes);
	memcpy(copy, &size, sizeof(size));
	return copy;
}

static void test_sizes_of_options(void **state)
{
	const struct npu_model_options options = { .max_banks = 4 };
	struct npu_model *other;
	size_t size;

	for (size = 0; size <= sizeof(options) + 1; size++) {
		struct npu_model_options *given = cut(&options, min(size, sizeof(options)), size);
		const bool good = size > sizeof(size);
		int err = npu_model_load(device, MODEL, given, &other);

		free(given);
		if (err != (good ? 0 : -EINVAL))
			fail_msg("options with a size of %zu: %d %s", size, err, npu_error());
		npu_model_free(other);
	}
	assert_int_equal(npu_model_load(device, MODEL,
					&(struct npu_model_options){ .size = SIZE_MAX }, &other),
			 0);
	npu_model_free(other);
}

/* The operator's own struct, and those of its tensors. */
static void test_sizes_of_operators(void **state)
{
	const struct npu_tensor_info tensor = { .rank = 2, .shape = { 1, 16 }, .scale = 1 };
	const struct npu_operator op = { .kind = NPU_OPERATOR_TRANSPOSE, .permutation = { 0, 1 } };
	struct npu_model *other;
	size_t size;

	for (size = 0; size <= sizeof(tensor) + 1; size++) {
		struct npu_tensor_info *given = cut(&tensor, min(size, sizeof(tensor)), size);
		struct npu_tensor_info whole = tensor;
		struct npu_operator given_op = op;
		const size_t needed = offsetof(struct npu_tensor_info, scale);
		int err;

		whole.size = sizeof(whole);
		given_op.size = sizeof(given_op);
		given_op.input[0] = given;
		given_op.output = &whole;
		err = npu_model_of_operator(device, &given_op, "cut", NULL, &other);
		if (size < needed && err != -EINVAL)
			fail_msg("a tensor with a size of %zu: %d", size, err);
		if (size >= sizeof(tensor) && err)
			fail_msg("a tensor with a size of %zu: %s", size, npu_error());
		npu_model_free(other);
		free(given);
	}
	for (size = 0; size <= sizeof(op) + 1; size++) {
		struct npu_operator *given = cut(&op, min(size, sizeof(op)), size);
		int err = npu_model_of_operator(device, given, "cut", NULL, &other);

		/* Its tensors are missing in all of them. */
		if (err != -EINVAL)
			fail_msg("an operator with a size of %zu: %d", size, err);
		free(given);
	}
}

/* ---- all of them ---- */

static void test_all_functions(void **state)
{
	size_t bytes, count = 0;
	char *list = whole_file(LIST, &bytes), *rest = NULL, *word;

	assert_non_null(list);
	list[bytes] = '\0'; /* it has room for that */
	for (word = strtok_r(list, " \t\n;", &rest); word; word = strtok_r(NULL, " \t\n;", &rest)) {
		if (strncmp(word, "npu_", 4) != 0)
			continue;
		count++;
		if (!was_called(word))
			fail_msg("%s has no test of its arguments", word);
	}
	assert_int_equal(count, called_count);
	free(list);
}

static int begin(void **state)
{
	if (npu_open("sim:nv_small", &device))
		return -1;
	model = small_layer(device, 7);
	return 0;
}

static int end(void **state)
{
	npu_model_free(model);
	npu_close(device);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_devices),	 cmocka_unit_test(test_of_loading),
		cmocka_unit_test(test_of_models),	 cmocka_unit_test(test_of_runs),
		cmocka_unit_test(test_of_jobs),		 cmocka_unit_test(test_sizes_of_results),
		cmocka_unit_test(test_sizes_of_options), cmocka_unit_test(test_sizes_of_operators),
		cmocka_unit_test(test_all_functions),
	};

	return cmocka_run_group_tests_name("arguments", tests, begin, end);
}
