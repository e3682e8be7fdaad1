// SPDX-License-Identifier: MIT
/*
 * Several inferences with one call: results are those of one npu_run() after the other, whatever reads what another
 * one writes, and what can go to the NPU together is one submission.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "../common/small_layer.h"

#define SIZE SMALL_LAYER /* elements of every tensor */
#define MANY 150
#define BANKS 32

/* What stands between the models and their device. */
static struct {
	const struct npu_device_ops *ops;
	struct npu_device_ops own;
	atomic_uint submissions, chains;
	u32 cap_before; /* before the next submission: a cap; 0: none */
	int fail_at, error; /* job of the next submission that fails with @error; -1: none */
} gate;

static struct npu_device *device;
static struct npu_model *layer[2]; /* fully connected, on the NPU */
static struct npu_model *host; /* dequantisation, on the CPU */

static int counted_submit(struct npu_device *dev, struct npu_submission *submission)
{
	const u32 count = submission->count;
	int err;

	atomic_fetch_add(&gate.submissions, 1);
	atomic_fetch_add(&gate.chains, count);
	if (gate.cap_before) {
		npu_device_set_cap(dev, gate.cap_before);
		gate.cap_before = 0;
	}
	if (gate.fail_at < 0 || (u32)gate.fail_at >= count)
		return gate.ops->submit(dev, submission);
	submission->count = (u32)gate.fail_at;
	if (submission->count)
		assert_int_equal(gate.ops->submit(dev, submission), 0);
	else
		submission->done = 0;
	submission->failed = (u32)gate.fail_at;
	submission->count = count;
	gate.fail_at = -1;
	err = gate.error;
	return npu_fail(err, "made up");
}

static struct npu_model *make_host(void)
{
	const struct npu_tensor_info whole = {
		.size = sizeof(whole), .rank = 2, .shape = { 1, SIZE }, .scale = 1
	};
	const struct npu_tensor_info real = {
		.size = sizeof(real), .rank = 2, .shape = { 1, SIZE }, .type = NPU_TYPE_FLOAT32
	};
	const struct npu_operator op = {
		.size = sizeof(op),
		.kind = NPU_OPERATOR_DEQUANTIZE,
		.input = { &whole },
		.output = &real,
	};
	struct npu_model_info info = { .size = sizeof(info) };
	struct npu_model *model;

	assert_int_equal(npu_model_of_operator(device, &op, "host", NULL, &model), 0);
	assert_int_equal(npu_model_info(model, &info), 0);
	assert_true(info.cpu_steps && !info.chains);
	return model;
}

static int begin(void **state)
{
	struct npu_model_info info = { .size = sizeof(info) };

	assert_int_equal(npu_open("sim:nv_small", &device), 0);
	layer[0] = small_layer(device, 7);
	layer[1] = small_layer(device, 11);
	host = make_host();
	assert_int_equal(npu_model_info(layer[0], &info), 0);
	assert_int_equal(info.chains, 1);
	assert_int_equal(info.cpu_steps, 0);
	gate.ops = device->ops;
	gate.own = *device->ops;
	gate.own.submit = counted_submit;
	device->ops = &gate.own;
	atomic_store(&gate.submissions, 0);
	atomic_store(&gate.chains, 0);
	gate.cap_before = 0;
	gate.fail_at = -1;
	return 0;
}

static int end(void **state)
{
	npu_model_free(layer[0]);
	npu_model_free(layer[1]);
	npu_model_free(host);
	npu_close(device);
	return 0;
}

/* Tensors of the calls, each with its own place. */
struct place {
	int8_t bytes[SIZE];
};

struct list {
	struct place place[MANY + 1];
	struct npu_input in[MANY];
	struct npu_output out[MANY];
	struct npu_run_stats stats[MANY];
	struct npu_call call[MANY];
	unsigned count;
};

static struct list list, other;

static void clear(struct list *l)
{
	u32 i, k;

	l->count = 0;
	for (i = 0; i <= MANY; i++)
		for (k = 0; k < SIZE; k++)
			l->place[i].bytes[k] = (int8_t)((i * 31 + k * 17) % 255 - 127);
}

static void add(struct list *l, struct npu_model *model, u32 from, u32 to)
{
	u32 i = l->count++;

	l->in[i] = (struct npu_input){ l->place[from].bytes, SIZE };
	l->out[i] = (struct npu_output){ l->place[to].bytes, SIZE };
	l->stats[i] = (struct npu_run_stats){ .size = sizeof(l->stats[i]) };
	l->call[i] = (struct npu_call){ model, &l->in[i], 1, &l->out[i], 1, &l->stats[i] };
}

/* The same calls one by one, in a list of its own. */
static void run_single(const struct list *l, struct list *single)
{
	u32 i;

	clear(single);
	for (i = 0; i < l->count; i++) {
		add(single, l->call[i].model, (u32)((const struct place *)l->in[i].data - l->place),
		    (u32)((struct place *)l->out[i].data - l->place));
		assert_int_equal(npu_run(single->call[i].model, &single->in[i], 1, &single->out[i],
					 1, NULL),
				 0);
	}
}

/* All of them at once; @submissions: so often they go to the NPU. */
static void check(u32 submissions)
{
	unsigned done = 0, i, told = 0;

	run_single(&list, &other);
	atomic_store(&gate.submissions, 0);
	if (npu_run_calls(list.call, list.count, &done))
		fail_msg("%s", npu_error());
	assert_int_equal(done, list.count);
	assert_memory_equal(list.place, other.place, sizeof(list.place));
	for (i = 0; i < list.count; i++)
		told += list.stats[i].submissions;
	if (submissions)
		assert_int_equal(atomic_load(&gate.submissions), submissions);
	assert_int_equal(told, atomic_load(&gate.submissions));
}

static void test_none(void **state)
{
	unsigned done = 1;

	assert_int_equal(npu_run_calls(NULL, 0, &done), 0);
	assert_int_equal(done, 0);
}

/* Nobody reads what another one writes. */
static void test_together(void **state)
{
	u32 i;

	clear(&list);
	for (i = 0; i < 32; i++)
		add(&list, layer[i % 3 == 0], 2 * i, 2 * i + 1);
	check(1);
	for (i = 0; i < 32; i++) {
		assert_int_equal(list.stats[i].submissions, i == 0);
		assert_int_equal(list.stats[i].chains, 1);
		assert_true(list.stats[i].end_ns >= list.stats[i].start_ns);
		assert_true(!i || list.stats[i].start_ns >= list.stats[i - 1].end_ns);
	}
}

/* More than a submission takes. */
static void test_many(void **state)
{
	u32 i;

	clear(&list);
	for (i = 0; i < MANY; i++)
		add(&list, layer[0], 0, 1 + i);
	check((MANY + NPU_MAX_JOBS - 1) / NPU_MAX_JOBS);
}

/* Each reads what the one before it writes. */
static void test_in_a_row(void **state)
{
	u32 i;

	clear(&list);
	for (i = 0; i < 10; i++)
		add(&list, layer[i & 1], i, i + 1);
	check(10);
}

/* What is written later is not read, what is written twice is the last one's. */
static void test_write_behind(void **state)
{
	clear(&list);
	add(&list, layer[0], 0, 1);
	add(&list, layer[1], 2, 0);
	add(&list, layer[0], 3, 1);
	add(&list, layer[1], 4, 4);
	check(1);
}

/* A step of the CPU needs what has been handed over before it, what comes behind it goes together again. */
static void test_cpu_between(void **state)
{
	float real[SIZE];
	u32 i, k;

	clear(&list);
	add(&list, layer[0], 0, 1);
	add(&list, layer[1], 2, 3);
	add(&list, host, 4, 5);
	list.out[2] = (struct npu_output){ real, sizeof(real) };
	add(&list, layer[0], 6, 7);
	add(&list, layer[1], 8, 9);
	assert_int_equal(npu_run_calls(list.call, list.count, NULL), 0);
	assert_int_equal(atomic_load(&gate.submissions), 2);
	for (k = 0; k < SIZE; k++)
		assert_true(real[k] == list.place[4].bytes[k]);
	for (i = 0; i < 5; i++)
		assert_int_equal(list.stats[i].submissions, i == 0 || i == 3);
}

/* Two devices are two NPUs. */
static void test_two_devices(void **state)
{
	struct npu_device *first = device;
	struct npu_model *foreign;

	assert_int_equal(npu_open("sim:nv_small:second", &device), 0);
	foreign = small_layer(device, 7);
	clear(&list);
	add(&list, layer[0], 0, 1);
	add(&list, layer[0], 2, 3);
	add(&list, foreign, 4, 5);
	add(&list, layer[0], 6, 7);
	run_single(&list, &other);
	atomic_store(&gate.submissions, 0);
	assert_int_equal(npu_run_calls(list.call, list.count, NULL), 0);
	assert_memory_equal(list.place, other.place, sizeof(list.place));
	assert_int_equal(atomic_load(&gate.submissions), 2);
	npu_model_free(foreign);
	npu_close(device);
	device = first;
}

/* The budget shrinks when they are handed over: none of them runs, then each with a plan of its own. */
static void test_shrinks(void **state)
{
	struct npu_model_info info = { .size = sizeof(info) };
	u32 i, restarts = 0;

	assert_int_equal(npu_model_info(layer[0], &info), 0);
	assert_true(info.used_banks > 2);
	clear(&list);
	for (i = 0; i < 20; i++)
		add(&list, layer[i & 1], 2 * i, 2 * i + 1);
	run_single(&list, &other);
	gate.cap_before = 2;
	if (npu_run_calls(list.call, list.count, NULL))
		fail_msg("%s", npu_error());
	assert_memory_equal(list.place, other.place, sizeof(list.place));
	for (i = 0; i < 20; i++) {
		restarts += list.stats[i].restarts;
		assert_int_equal(list.stats[i].plan_banks, 2);
	}
	assert_int_equal(restarts, 20);
	/* The next time they go together again, with the plan for what is there. */
	check(1);
	assert_int_equal(npu_device_set_cap(device, BANKS), 0);
	check(1);
}

static void fails_at(int at, int error, u32 calls)
{
	unsigned done = 0;
	u32 i;

	clear(&list);
	for (i = 0; i < calls; i++)
		add(&list, layer[0], 2 * i, 2 * i + 1);
	run_single(&list, &other);
	gate.fail_at = at;
	gate.error = error;
	assert_int_equal(npu_run_calls(list.call, list.count, &done), error);
	assert_string_equal(npu_error(), "made up");
	assert_int_equal(done, at);
	assert_memory_equal(list.place, other.place, (size_t)(2 * at) * sizeof(list.place[0]));
	clear(&other);
	assert_memory_equal(&list.place[2 * at], &other.place[2 * at],
			    (calls - (u32)at) * 2 * sizeof(list.place[0]));
}

/* Those before the one that fails are done, those behind it are not. */
static void test_failure(void **state)
{
	fails_at(0, -EIO, 1);
	fails_at(0, -EIO, 8);
	fails_at(5, -EIO, 8);
	fails_at(7, -EIO, 8);
	check(0);
}

/* Banks that are lost while they run: those before are done, the others begin again. */
static void test_lost(void **state)
{
	u32 i;

	clear(&list);
	for (i = 0; i < 8; i++)
		add(&list, layer[0], 2 * i, 2 * i + 1);
	run_single(&list, &other);
	gate.fail_at = 5;
	gate.error = -ENOSPC;
	assert_int_equal(npu_run_calls(list.call, list.count, NULL), 0);
	assert_memory_equal(list.place, other.place, sizeof(list.place));
	for (i = 0; i < 8; i++)
		assert_int_equal(list.stats[i].restarts, i >= 5);
}

/* A size that is wrong anywhere: nothing runs. */
static void test_wrong(void **state)
{
	unsigned done = 9;

	clear(&list);
	add(&list, layer[0], 0, 1);
	add(&list, layer[0], 2, 3);
	list.in[1].bytes--;
	assert_int_equal(npu_run_calls(list.call, 2, &done), -EINVAL);
	list.in[1].bytes++;
	list.stats[1].size = 0;
	assert_int_equal(npu_run_calls(list.call, 2, &done), -EINVAL);
	assert_int_equal(done, 0);
	assert_int_equal(atomic_load(&gate.submissions), 0);
	clear(&other);
	assert_memory_equal(list.place, other.place, sizeof(list.place));
}

static u32 noise(u32 *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

/* Whatever reads and writes whatever, while the budget changes. */
static void test_random(void **state)
{
	static const u32 caps[] = { 0, 0, 2, 4, BANKS };
	u32 seed = 5, round, i;

	for (round = 0; round < 60; round++) {
		u32 places = 2 + noise(&seed) % 40;

		clear(&list);
		for (i = 1 + noise(&seed) % 80; i; i--)
			add(&list, layer[noise(&seed) & 1], noise(&seed) % places,
			    noise(&seed) % places);
		run_single(&list, &other);
		gate.cap_before = caps[noise(&seed) % ARRAY_SIZE(caps)];
		if (npu_run_calls(list.call, list.count, NULL))
			fail_msg("round %u: %s", round, npu_error());
		assert_memory_equal(list.place, other.place, sizeof(list.place));
	}
}

#define THREADS 4
#define ROUNDS 30

/* A list whose models come in the other order than the neighbour's. */
static void *work(void *context)
{
	const u32 self = (u32)(uintptr_t)context;
	struct list *own = calloc(2, sizeof(*own));
	uintptr_t wrong = 0;
	u32 round, i;

	for (round = 0; round < ROUNDS && own; round++) {
		clear(&own[0]);
		for (i = 0; i < 12; i++)
			add(&own[0], layer[(i + self) & 1], 2 * i, 2 * i + 1);
		if (self == 0)
			npu_device_set_cap(device, round & 1 ? 4 : BANKS);
		wrong |= npu_run_calls(own[0].call, own[0].count, NULL) != 0;
		run_single(&own[0], &own[1]);
		wrong |= memcmp(own[0].place, own[1].place, sizeof(own[0].place)) != 0;
	}
	wrong |= !own;
	free(own);
	return (void *)wrong;
}

/* Nobody waits for somebody who waits for him. */
static void test_threads(void **state)
{
	pthread_t thread[THREADS];
	void *wrong;
	u32 i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(thread[i], &wrong), 0);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_none, begin, end),
		cmocka_unit_test_setup_teardown(test_together, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
		cmocka_unit_test_setup_teardown(test_in_a_row, begin, end),
		cmocka_unit_test_setup_teardown(test_write_behind, begin, end),
		cmocka_unit_test_setup_teardown(test_cpu_between, begin, end),
		cmocka_unit_test_setup_teardown(test_two_devices, begin, end),
		cmocka_unit_test_setup_teardown(test_shrinks, begin, end),
		cmocka_unit_test_setup_teardown(test_failure, begin, end),
		cmocka_unit_test_setup_teardown(test_lost, begin, end),
		cmocka_unit_test_setup_teardown(test_wrong, begin, end),
		cmocka_unit_test_setup_teardown(test_random, begin, end),
		cmocka_unit_test_setup_teardown(test_threads, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
