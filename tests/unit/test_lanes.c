// SPDX-License-Identifier: MIT
/*
 * Several runs of one model under way at once: while one computes on the CPU another has the NPU, results
 * are those of one run after the other, and a new plan waits for the runs of the old one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <errno.h>
#include <cmocka.h>

#include "internal.h"

#define MODEL "tools/demo/digits.tflite"
#define PIXELS 4096
#define CLASSES 10
#define RUNS 16
#define BANKS 32
#define PATIENCE_S 20

/* What stands between the model and its device. */
static struct {
	const struct npu_device_ops *ops;
	struct npu_device_ops own;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	u32 begun; /* submissions */
	u32 inside, most_inside;
	bool hold_first, hold_second;
	bool first_is_over, timed_out;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static struct npu_device *device;
static struct npu_model *model;
static int8_t picture[RUNS][PIXELS], expected[RUNS][CLASSES];

/* With the lock held: until @flag, but not for ever. */
static void wait_until(const bool *flag, const u32 *count, u32 at_least)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE_S;
	while (flag ? !*flag : *count < at_least)
		if (pthread_cond_timedwait(&gate.changed, &gate.lock, &end)) {
			gate.timed_out = true;
			return;
		}
}

static int gated_submit(struct npu_device *dev, struct npu_submission *submission)
{
	u32 number;
	int err;

	pthread_mutex_lock(&gate.lock);
	number = gate.begun++;
	gate.inside++;
	gate.most_inside = max(gate.most_inside, gate.inside);
	pthread_cond_broadcast(&gate.changed);
	if (number == 0 && gate.hold_first)
		wait_until(NULL, &gate.begun, 2);
	if (number == 1 && gate.hold_second)
		wait_until(&gate.first_is_over, NULL, 0);
	pthread_mutex_unlock(&gate.lock);
	err = gate.ops->submit(dev, submission);
	pthread_mutex_lock(&gate.lock);
	gate.inside--;
	pthread_mutex_unlock(&gate.lock);
	return err;
}

static void run_right(u32 i)
{
	const struct npu_input input = { picture[i], PIXELS };
	int8_t out[CLASSES];
	const struct npu_output output = { out, sizeof(out) };

	assert_int_equal(npu_run(model, &input, 1, &output, 1, NULL), 0);
	assert_memory_equal(out, expected[i], CLASSES);
}

static int begin(void **state)
{
	struct npu_model_info info = { .size = sizeof(info) };
	u32 i, k;

	assert_int_equal(npu_open("sim:nv_small", &device), 0);
	assert_int_equal(npu_model_load(device, MODEL, NULL, &model), 0);
	/* Without a step of the CPU and a single chain these tests would show less. */
	assert_int_equal(npu_model_info(model, &info), 0);
	assert_int_equal(info.chains, 1);
	for (i = 0; i < RUNS; i++) {
		const struct npu_input input = { picture[i], PIXELS };
		const struct npu_output output = { expected[i], CLASSES };

		for (k = 0; k < PIXELS; k++)
			picture[i][k] = (int8_t)(k * (2 * i + 3) % 251 - 125);
		assert_int_equal(npu_run(model, &input, 1, &output, 1, NULL), 0);
	}
	gate.ops = device->ops;
	gate.own = *device->ops;
	gate.own.submit = gated_submit;
	device->ops = &gate.own;
	gate.begun = gate.inside = gate.most_inside = 0;
	gate.hold_first = gate.hold_second = gate.first_is_over = gate.timed_out = false;
	return 0;
}

static int end(void **state)
{
	npu_model_free(model);
	npu_close(device);
	return 0;
}

struct in_flight {
	struct npu_job *job;
	int8_t out[CLASSES];
};

static void submit(struct in_flight *f, u32 i)
{
	const struct npu_input input = { picture[i], PIXELS };
	const struct npu_output output = { f->out, CLASSES };

	assert_int_equal(npu_submit(model, &input, 1, &output, 1, &f->job), 0);
}

static void finish(struct in_flight *f, u32 i)
{
	assert_int_equal(npu_job_wait(f->job, 2 * PATIENCE_S * 1000), 0);
	assert_memory_equal(f->out, expected[i], CLASSES);
	npu_job_free(f->job);
}

static void wait_for_submissions(u32 count)
{
	pthread_mutex_lock(&gate.lock);
	wait_until(NULL, &gate.begun, count);
	pthread_mutex_unlock(&gate.lock);
}

/*
 * The first run waits for the second one on the NPU, which then waits for the first to end.  Two workers would
 * come to the gate in any order: the second run is begun when the first is there.
 */
static void test_overlap(void **state)
{
	struct in_flight first, second;

	gate.hold_first = gate.hold_second = true;
	submit(&first, 0);
	wait_for_submissions(1);
	submit(&second, 1);
	finish(&first, 0);
	pthread_mutex_lock(&gate.lock);
	assert_int_equal(gate.begun, 2);
	gate.first_is_over = true;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	finish(&second, 1);
	assert_false(gate.timed_out);
	assert_int_equal(gate.most_inside, 2);
}

/* A worker that waits for a job is no reason for two jobs to share it: the first one waits for the other here. */
static void test_one_idle(void **state)
{
	struct in_flight alone, first, second;

	submit(&alone, 0);
	finish(&alone, 0);
	gate.begun = 0;
	gate.hold_first = true;
	submit(&first, 1);
	submit(&second, 2);
	finish(&first, 1);
	finish(&second, 2);
	assert_false(gate.timed_out);
}

/* Many of them, each with its own picture. */
static void test_results(void **state)
{
	struct in_flight many[RUNS];
	u32 i;

	for (i = 0; i < RUNS; i++)
		submit(&many[i], i);
	for (i = 0; i < RUNS; i++)
		finish(&many[i], i);
	assert_true(gate.most_inside <= NPU_MODEL_LANES);
}

/* A smaller budget while a run is under way: the next one plans when that has ended. */
static void test_plan_waits(void **state)
{
	struct npu_model_info info = { .size = sizeof(info) };
	struct in_flight many[RUNS];
	u32 i, replans;

	assert_int_equal(npu_model_info(model, &info), 0);
	replans = (u32)info.replans;
	for (i = 0; i < RUNS; i++) {
		if (i % 4 == 3)
			assert_int_equal(npu_device_set_cap(device, i % 8 == 3 ? 4 : BANKS), 0);
		submit(&many[i], i);
	}
	for (i = 0; i < RUNS; i++)
		finish(&many[i], i);
	assert_int_equal(npu_device_set_cap(device, 4), 0);
	run_right(0);
	assert_int_equal(npu_model_info(model, &info), 0);
	assert_true(info.replans > replans);
	assert_true(info.used_banks <= 4);
	assert_int_equal(npu_device_set_cap(device, BANKS), 0);
	run_right(1);
}

/* Jobs of a model that goes away are cancelled or end; none is left behind. */
static void test_freed(void **state)
{
	struct in_flight many[RUNS];
	u32 i;

	for (i = 0; i < RUNS; i++)
		submit(&many[i], i);
	npu_model_free(model);
	model = NULL;
	for (i = 0; i < RUNS; i++) {
		int err = npu_job_wait(many[i].job, 1000);

		assert_true(err == 0 || err == -ECANCELED);
		npu_job_free(many[i].job);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_overlap, begin, end),
		cmocka_unit_test_setup_teardown(test_one_idle, begin, end),
		cmocka_unit_test_setup_teardown(test_results, begin, end),
		cmocka_unit_test_setup_teardown(test_plan_waits, begin, end),
		cmocka_unit_test_setup_teardown(test_freed, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
