// SPDX-License-Identifier: MIT
/*
 * The public interface on the project's own network: results that do not depend on
 * the budget, on threads or on other clients; plans that follow the budget; jobs;
 * errors; teardown at bad moments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <errno.h>
#include <cmocka.h>

#include "../common/test_device.h"
#include "../common/whole_file.h"
#include "internal.h"
#include "npusim.h"

#define MODEL "tools/demo/digits.tflite"
#define PIXELS 4096
#define CLASSES 10

static int8_t picture[PIXELS];
static int8_t expected[CLASSES];
static char dir[] = "/tmp/npu-test-XXXXXX";

/* One handle with the model loaded. */
struct bench {
	struct npu_device *device;
	struct npu_model *model;
	int8_t out[CLASSES];
	struct npu_run_stats stats;
};

static void begin_on(struct bench *b, const char *device, uint32_t max_banks)
{
	struct npu_model_options options = { .size = sizeof(options), .max_banks = max_banks };

	memset(b, 0, sizeof(*b));
	assert_int_equal(npu_open(device, &b->device), 0);
	assert_int_equal(npu_model_load(b->device, MODEL, &options, &b->model), 0);
}

/* The same on the NPU under test, where one is given. */
static void begin(struct bench *b, const char *simulated, uint32_t max_banks)
{
	begin_on(b, test_device(simulated), max_banks);
}

static void end(struct bench *b)
{
	npu_model_free(b->model);
	npu_close(b->device);
}

/* Banks of the hardware. */
static uint32_t banks_of(const struct bench *b)
{
	struct npu_device_info info = { .size = sizeof(info) };

	assert_int_equal(npu_device_info(b->device, &info), 0);
	return info.banks;
}

static int run(struct bench *b)
{
	const struct npu_input input = { picture, sizeof(picture) };
	const struct npu_output output = { b->out, sizeof(b->out) };

	memset(b->out, 0x11, sizeof(b->out));
	b->stats = (struct npu_run_stats){ .size = sizeof(b->stats) };
	return npu_run(b->model, &input, 1, &output, 1, &b->stats);
}

static void run_right(struct bench *b)
{
	assert_int_equal(run(b), 0);
	assert_memory_equal(b->out, expected, sizeof(expected));
}

static void test_tensors(void **state)
{
	struct npu_tensor_info info = { .size = sizeof(info) };
	struct npu_model_info model = { .size = sizeof(model) };
	struct bench b;

	begin(&b, "sim", 0);
	assert_int_equal(npu_model_input_count(b.model), 1);
	assert_int_equal(npu_model_output_count(b.model), 1);
	assert_int_equal(npu_model_input(b.model, 0, &info), 0);
	assert_int_equal(info.type, NPU_TYPE_INT8);
	assert_int_equal(info.rank, 4);
	assert_int_equal(info.bytes, PIXELS);
	assert_true(info.scale > 0);
	assert_int_equal(npu_model_output(b.model, 0, &info), 0);
	assert_int_equal(info.bytes, CLASSES);
	assert_int_equal(npu_model_input(b.model, 1, &info), -EINVAL);
	assert_int_equal(npu_model_output(b.model, 1, &info), -EINVAL);
	assert_int_equal(npu_model_info(b.model, &model), 0);
	assert_int_equal(model.plan_banks, banks_of(&b));
	assert_true(model.npu_tasks >= 1 && model.weight_bytes > 0 && model.arena_bytes > 0);
	end(&b);
}

static void test_statistics(void **state)
{
	struct npu_model_info model = { .size = sizeof(model) };
	struct bench b;

	begin(&b, "sim", 0);
	run_right(&b);
	npu_model_info(b.model, &model);
	assert_int_equal(b.stats.tasks, model.npu_tasks);
	assert_int_equal(b.stats.chains, model.chains);
	assert_int_equal(b.stats.cpu_steps, model.cpu_steps);
	/* Real NPUs tell how long they had work, simulated ones what it cost. */
	if (test_device_is_given()) {
		assert_int_equal(b.stats.cycles, 0);
		assert_true(b.stats.busy_ns > 0);
	} else {
		assert_int_equal(b.stats.feature_bytes + b.stats.weight_bytes +
					 b.stats.operand_bytes + b.stats.output_bytes,
				 model.dram_bytes);
		assert_true(b.stats.cycles > 1000);
	}
	assert_true(b.stats.register_writes > 0);
	assert_true(b.stats.wall_ns >= b.stats.npu_ns + b.stats.cpu_ns);
	assert_true(b.stats.start_ns > 0 && b.stats.end_ns > b.stats.start_ns);
	assert_true(b.stats.end_ns - b.stats.start_ns <= b.stats.wall_ns);
	assert_int_equal(b.stats.replans, 0);
	assert_int_equal(b.stats.restarts, 0);
	assert_int_equal(b.stats.plan_banks, banks_of(&b));
	end(&b);
}

static void test_every_budget(void **state)
{
	static const char *const devices[] = { "sim:nv_small", "sim:nv_small_256", "sim:nv_large" };
	uint32_t i, banks;

	for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		for (banks = 32; banks >= 3; banks--) {
			struct npu_model_info model = { .size = sizeof(model) };
			struct bench b;

			begin(&b, devices[i], banks);
			run_right(&b);
			npu_model_info(b.model, &model);
			assert_true(model.used_banks <= banks);
			end(&b);
		}
}

/* The budget goes down and up again while a model is loaded. */
static void test_follows_budget(void **state)
{
	struct npu_model_info model = { .size = sizeof(model) };
	struct bench b;

	begin(&b, "sim:nv_small:follow", 0);
	run_right(&b);
	npu_model_info(b.model, &model);
	assert_true(model.used_banks > 4);
	assert_int_equal(npu_device_set_cap(b.device, 4), 0);
	run_right(&b);
	assert_int_equal(b.stats.replans, 1);
	assert_int_equal(b.stats.plan_banks, 4);
	npu_model_info(b.model, &model);
	assert_true(model.used_banks <= 4);
	assert_int_equal(model.replans, 1);
	/* Nothing changed: nothing is planned. */
	run_right(&b);
	assert_int_equal(b.stats.replans, 0);
	/* More is there again: it plans again if that pays, and is right either way. */
	assert_int_equal(npu_device_set_cap(b.device, banks_of(&b)), 0);
	run_right(&b);
	end(&b);
}

static void test_more_pays(void **state)
{
	struct npu_model_info small = { .size = sizeof(small) }, large = { .size = sizeof(large) };
	struct bench b;

	begin(&b, "sim:nv_small:pays", 0);
	npu_model_info(b.model, &large);
	npu_device_set_cap(b.device, 3);
	run_right(&b);
	npu_model_info(b.model, &small);
	npu_device_set_cap(b.device, banks_of(&b));
	run_right(&b);
	/* With three banks this network moves more, so the larger budget is taken up. */
	assert_true(small.dram_bytes > large.dram_bytes);
	assert_int_equal(b.stats.replans, 1);
	assert_int_equal(b.stats.plan_banks, banks_of(&b));
	npu_model_info(b.model, &small);
	assert_int_equal(small.dram_bytes, large.dram_bytes);
	end(&b);
}

/* Runs without a bank: every step by the CPU's arithmetic, which may be a unit off at each. */
static void run_without_banks(struct bench *b)
{
	int i, most = 0, right = 0;

	assert_int_equal(run(b), 0);
	for (i = 0; i < CLASSES; i++) {
		assert_true(abs(b->out[i] - expected[i]) <= 8);
		most = b->out[i] > b->out[most] ? i : most;
		right = expected[i] > expected[right] ? i : right;
	}
	assert_int_equal(most, right);
}

/* Others have all banks: convolutions are the CPU's, of a model that runs and of one that is loaded now. */
static void test_too_small(void **state)
{
	struct npu_model_options options = { .size = sizeof(options) };
	struct npu_device *other;
	struct bench b;
	struct npu_model *model, *first;
	uint32_t steps;

	begin(&b, "sim:nv_small:toosmall", 0);
	run_right(&b);
	steps = b.stats.cpu_steps;
	assert_int_equal(npu_open(test_device("sim:nv_small:toosmall"), &other), 0);
	assert_int_equal(npu_reserve(other, banks_of(&b)), 0);
	run_without_banks(&b);
	assert_int_equal(b.stats.replans, 1);
	assert_true(b.stats.cpu_steps > steps);
	assert_int_equal(npu_model_load(b.device, MODEL, &options, &model), 0);
	first = b.model;
	b.model = model;
	run_without_banks(&b);
	b.model = first;
	/* More banks are taken up at once. */
	assert_int_equal(npu_reserve(other, banks_of(&b) - 12), 0);
	run_right(&b);
	assert_int_equal(b.stats.replans, 1);
	assert_int_equal(b.stats.cpu_steps, steps);
	b.model = model;
	run_right(&b);
	b.model = first;
	npu_model_free(model);
	npu_close(other);
	run_right(&b);
	end(&b);
}

/* Another process takes banks, then dies without giving them back. */
static void test_other_process(void **state)
{
	struct npu_model_info model = { .size = sizeof(model) };
	struct bench b;
	uint32_t taken;
	int ready[2];
	pid_t pid;
	char byte;

	begin(&b, "sim:nv_small:process", 0);
	taken = banks_of(&b) - 4;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct npu_device *device;

		if (npu_open(test_device("sim:nv_small:process"), &device) ||
		    npu_reserve(device, taken) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	run_right(&b);
	assert_int_equal(b.stats.plan_banks, 4);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	run_right(&b);
	npu_model_info(b.model, &model);
	assert_true(model.replans >= 1);
	end(&b);
}

/* ---- threads ---- */

static atomic_bool stop;

static void *change_budget(void *context)
{
	static const uint32_t banks[] = { 32, 4, 16, 3, 8, 5 };
	struct npu_device *device = context;
	unsigned i;

	for (i = 0; !stop; i++) {
		if (npu_device_set_cap(device, banks[i % 6]))
			return context;
		usleep(300);
	}
	return NULL;
}

struct runner {
	struct bench bench;
	unsigned runs, wrong;
	uint64_t replans;
};

static void *run_often(void *context)
{
	struct runner *runner = context;
	unsigned i;

	for (i = 0; i < 60; i++) {
		int err = run(&runner->bench);

		runner->runs++;
		runner->wrong += err || memcmp(runner->bench.out, expected, sizeof(expected)) != 0;
		runner->replans += runner->bench.stats.replans;
	}
	return NULL;
}

/* The budget changes all the time, several models run on two handles of one NPU. */
static void test_changes_during_runs(void **state)
{
	struct runner runner[4];
	pthread_t thread[4], changer;
	uint64_t replans = 0;
	void *failed;
	unsigned i;

	memset(runner, 0, sizeof(runner));
	stop = false;
	for (i = 0; i < 4; i++)
		begin(&runner[i].bench, "sim:nv_small:threads", 0);
	assert_int_equal(pthread_create(&changer, NULL, change_budget, runner[0].bench.device), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run_often, &runner[i]), 0);
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	stop = true;
	pthread_join(changer, &failed);
	assert_null(failed);
	npu_device_set_cap(runner[0].bench.device, banks_of(&runner[0].bench));
	for (i = 0; i < 4; i++) {
		assert_int_equal(runner[i].runs, 60);
		assert_int_equal(runner[i].wrong, 0);
		replans += runner[i].replans;
		end(&runner[i].bench);
	}
	assert_true(replans > 0);
}

static void *run_shared(void *context)
{
	struct bench *b = context;
	int8_t out[CLASSES];
	const struct npu_input input = { picture, sizeof(picture) };
	const struct npu_output output = { out, sizeof(out) };
	unsigned i;

	for (i = 0; i < 30; i++)
		if (npu_run(b->model, &input, 1, &output, 1, NULL) ||
		    memcmp(out, expected, sizeof(out)) != 0)
			return context;
	return NULL;
}

/* Several threads run the same model, others look at it. */
static void test_one_model_many_threads(void **state)
{
	struct npu_model_info info = { .size = sizeof(info) };
	pthread_t thread[4];
	struct bench b;
	void *failed;
	unsigned i;

	begin(&b, "sim", 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, run_shared, &b), 0);
	for (i = 0; i < 20; i++)
		assert_int_equal(npu_model_info(b.model, &info), 0);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	end(&b);
}

/* ---- jobs ---- */

#define JOBS 8

static void submit(struct bench *b, int8_t *out, struct npu_job **job)
{
	const struct npu_input input = { picture, sizeof(picture) };
	const struct npu_output output = { out, CLASSES };

	assert_int_equal(npu_submit(b->model, &input, 1, &output, 1, job), 0);
}

static void test_jobs(void **state)
{
	struct npu_run_stats stats = { .size = sizeof(stats) };
	int8_t out[JOBS][CLASSES];
	struct npu_job *job[JOBS];
	struct bench b;
	unsigned i;

	begin(&b, "sim", 0);
	for (i = 0; i < JOBS; i++)
		submit(&b, out[i], &job[i]);
	for (i = 0; i < JOBS; i++) {
		struct pollfd fd = { npu_job_fd(job[i]), POLLIN, 0 };

		if (i % 2)
			assert_int_equal(poll(&fd, 1, 20000), 1);
		assert_int_equal(npu_job_wait(job[i], i % 2 ? 0 : -1), 0);
		assert_int_equal(poll(&fd, 1, 0), 1);
		assert_memory_equal(out[i], expected, CLASSES);
		assert_int_equal(npu_job_stats(job[i], &stats), 0);
		assert_true(stats.tasks > 0);
		npu_job_free(job[i]);
	}
	end(&b);
}

/* A run stays in its first step until it may go on: a number of milliseconds would be a bet on the scheduler. */
static void hold_step(void *context, struct npu_model *model, u32 step)
{
	const atomic_bool *go_on = context;

	while (!atomic_load(go_on))
		usleep(100);
}

static void test_job_timeout(void **state)
{
	struct npu_run_stats stats = { .size = sizeof(stats) };
	int8_t out[JOBS][CLASSES];
	struct npu_job *job[JOBS];
	atomic_bool go_on = false;
	struct bench b;
	unsigned i;

	begin(&b, "sim", 0);
	npu_model_set_hook(b.model, hold_step, &go_on);
	for (i = 0; i < JOBS; i++)
		submit(&b, out[i], &job[i]);
	assert_int_equal(npu_job_wait(job[JOBS - 1], 0), -ETIMEDOUT);
	assert_string_equal(npu_error(), "the job has not ended in 0 ms");
	assert_int_equal(npu_job_wait(job[0], 20), -ETIMEDOUT);
	assert_string_equal(npu_error(), "the job has not ended in 20 ms");
	assert_int_equal(npu_job_stats(job[JOBS - 1], &stats), -EBUSY);
	atomic_store(&go_on, true);
	assert_int_equal(npu_job_wait(job[JOBS - 1], 20000), 0);
	for (i = 0; i < JOBS; i++)
		npu_job_free(job[i]);
	end(&b);
}

/* Handles are given up in every state. */
static void test_job_abandoned(void **state)
{
	int8_t out[JOBS][CLASSES];
	struct npu_job *job[JOBS];
	struct bench b;
	unsigned i;

	begin(&b, "sim", 0);
	for (i = 0; i < JOBS; i++)
		submit(&b, out[i], &job[i]);
	for (i = JOBS; i-- > 0;)
		npu_job_free(job[i]);
	run_right(&b);
	end(&b);
}

/* Says that a run has begun, which then takes until its model is being freed. */
static void outlive_model(void *context, struct npu_model *model, u32 step)
{
	atomic_bool *begun = context;
	bool stopping = false;

	atomic_store(begun, true);
	while (!stopping) {
		usleep(100);
		pthread_mutex_lock(&model->queue_lock);
		stopping = model->stopping;
		pthread_mutex_unlock(&model->queue_lock);
	}
}

/* One job has begun when the model goes, and is done to its end; the others are not. */
static void test_model_freed_first(void **state)
{
	static int8_t out[JOBS][CLASSES];
	struct npu_job *job[JOBS];
	unsigned i, done = 0, cancelled = 0;
	atomic_bool begun = false;
	struct bench b;

	begin(&b, "sim", 0);
	npu_model_set_hook(b.model, outlive_model, &begun);
	for (i = 0; i < JOBS; i++)
		submit(&b, out[i], &job[i]);
	while (!atomic_load(&begun))
		usleep(100);
	end(&b);
	for (i = 0; i < JOBS; i++) {
		int err = npu_job_wait(job[i], -1);

		done += err == 0;
		cancelled += err == -ECANCELED;
		if (err)
			assert_non_null(strstr(npu_error(), "freed"));
		npu_job_free(job[i]);
	}
	assert_int_equal(done + cancelled, JOBS);
	/* What a worker has taken ends. */
	assert_true(done >= 1 && done <= NPU_MODEL_LANES);
}

static void test_job_error(void **state)
{
	struct npu_model_options options = { .size = sizeof(options),
					     .record_dir = "/proc/nowhere" };
	int8_t out[CLASSES];
	struct npu_job *job;
	struct bench b = { 0 };

	assert_int_equal(npu_open("sim:nv_small", &b.device), 0);
	assert_int_equal(npu_model_load(b.device, MODEL, &options, &b.model), 0);
	submit(&b, out, &job);
	assert_true(npu_job_wait(job, -1) < 0);
	assert_non_null(strstr(npu_error(), "/proc/nowhere"));
	npu_job_free(job);
	end(&b);
}

/* ---- errors ---- */

static void test_wrong_tensors(void **state)
{
	int8_t out[CLASSES];
	const struct npu_input good_in = { picture, PIXELS };
	const struct npu_input bad_in[] = { { picture, PIXELS - 1 }, { NULL, PIXELS } };
	const struct npu_output good_out = { out, CLASSES }, bad_out = { out, CLASSES + 1 };
	const struct npu_output unwanted = { NULL, 0 };
	struct npu_job *job;
	struct bench b;

	begin(&b, "sim", 0);
	assert_int_equal(npu_run(b.model, &good_in, 0, &good_out, 1, NULL), -EINVAL);
	assert_int_equal(npu_run(b.model, &good_in, 1, &good_out, 2, NULL), -EINVAL);
	assert_int_equal(npu_run(b.model, &bad_in[0], 1, &good_out, 1, NULL), -EINVAL);
	assert_non_null(strstr(npu_error(), "4096"));
	assert_int_equal(npu_run(b.model, &bad_in[1], 1, &good_out, 1, NULL), -EINVAL);
	assert_int_equal(npu_run(b.model, NULL, 1, &good_out, 1, NULL), -EINVAL);
	assert_int_equal(npu_run(b.model, &good_in, 1, &bad_out, 1, NULL), -EINVAL);
	assert_int_equal(npu_submit(b.model, &bad_in[0], 1, &good_out, 1, &job), -EINVAL);
	assert_null(job);
	assert_int_equal(npu_run(b.model, &good_in, 1, &unwanted, 1, NULL), 0);
	end(&b);
}

static void test_bad_models(void **state)
{
	struct npu_device *device;
	struct npu_model *model;
	char path[64];
	FILE *file;

	assert_int_equal(npu_open("sim", &device), 0);
	assert_int_equal(npu_model_load(device, "/nowhere/model.tflite", NULL, &model), -ENOENT);
	assert_non_null(strstr(npu_error(), "/nowhere/model.tflite"));
	assert_null(model);
	snprintf(path, sizeof(path), "%s/bad.tflite", dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("this is not a model at all, but long enough to be looked at", file);
	fclose(file);
	assert_true(npu_model_load(device, path, NULL, &model) < 0);
	assert_non_null(strstr(npu_error(), "bad.tflite"));
	unlink(path);
	assert_int_equal(npu_model_load(NULL, MODEL, NULL, &model), -EINVAL);
	assert_int_equal(npu_model_load(device, NULL, NULL, &model), -EINVAL);
	npu_close(device);
	npu_close(NULL);
	npu_model_free(NULL);
	npu_job_free(NULL);
}

/* ---- models in memory ---- */

static void *read_model(const char *path, size_t *bytes)
{
	void *data = whole_file(path, bytes);

	assert_non_null(data);
	return data;
}

static void load_memory(struct bench *b, const void *data, size_t bytes)
{
	void *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	assert_int_equal(npu_model_load_memory(b->device, copy, bytes, "digits", NULL, &b->model),
			 0);
	/* It is the library's copy that counts. */
	memset(copy, 0xa5, bytes);
	free(copy);
}

/* From memory, saved to memory under a small budget, and loaded again under a larger one. */
static void test_model_in_memory(void **state)
{
	struct npu_model_options few = { .size = sizeof(few), .max_banks = 4 };
	struct npu_model_info model = { .size = sizeof(model) };
	size_t bytes, compiled_bytes, again_bytes;
	void *data = read_model(MODEL, &bytes), *compiled, *again;
	struct bench b = { 0 };

	assert_int_equal(npu_open(test_device("sim"), &b.device), 0);
	load_memory(&b, data, bytes);
	run_right(&b);
	npu_model_free(b.model);
	assert_int_equal(npu_model_load_memory(b.device, data, bytes, "digits", &few, &b.model), 0);
	assert_int_equal(npu_model_save_memory(b.model, &compiled, &compiled_bytes), 0);
	npu_model_free(b.model);
	assert_int_equal(npu_file_kind(data, bytes), NPU_FILE_MODEL);
	assert_int_equal(npu_file_kind(compiled, compiled_bytes), NPU_FILE_COMPILED);
	load_memory(&b, compiled, compiled_bytes);
	run_right(&b);
	assert_int_equal(npu_model_info(b.model, &model), 0);
	assert_int_equal(model.plan_banks, banks_of(&b));
	assert_int_equal(npu_model_save_memory(b.model, &again, &again_bytes), 0);
	assert_int_equal(again_bytes, compiled_bytes);
	end(&b);
	free(again);
	free(compiled);
	free(data);
}

static void test_bad_memory(void **state)
{
	size_t bytes, length;
	u8 *data = read_model(MODEL, &bytes);
	struct npu_device *device, *other;
	struct npu_model *model;
	void *compiled;

	assert_int_equal(npu_open("sim:nv_small", &device), 0);
	assert_int_equal(npu_open("sim:nv_large", &other), 0);
	assert_int_equal(npu_model_load_memory(device, data, 0, "empty", NULL, &model), -EINVAL);
	assert_non_null(strstr(npu_error(), "empty"));
	assert_int_equal(npu_model_load_memory(device, NULL, 9, "none", NULL, &model), -EINVAL);
	assert_int_equal(npu_model_load_memory(device, data, bytes, "whole", NULL, &model), 0);
	assert_int_equal(npu_model_save_memory(model, &compiled, &length), 0);
	npu_model_free(model);
	assert_int_equal(npu_model_load_memory(other, compiled, length, "alien", NULL, &model),
			 -ENOTSUP);
	assert_non_null(strstr(npu_error(), "nv_small"));
	assert_int_equal(npu_file_kind(compiled, 3), NPU_FILE_UNKNOWN);
	assert_int_equal(npu_file_kind(data + 1, 100), NPU_FILE_UNKNOWN);
	assert_int_equal(npu_file_kind(NULL, 100), NPU_FILE_UNKNOWN);
	while (length > 97) {
		length -= 97;
		assert_int_equal(npu_model_load_memory(device, compiled, length, "cut", NULL,
						       &model),
				 -EINVAL);
		assert_null(model);
	}
	npu_close(other);
	npu_close(device);
	free(compiled);
	free(data);
}

static void test_priority(void **state)
{
	struct npu_device *device;

	assert_int_equal(npu_open("sim", &device), 0);
	assert_int_equal(npu_set_priority(device, NPU_PRIORITY_LOW), 0);
	assert_int_equal(npu_set_priority(device, NPU_PRIORITY_HIGH), 0);
	assert_int_equal(npu_set_priority(device, (enum npu_priority)7), -EINVAL);
	npu_close(device);
}

/* Errors are the thread's own. */
static void *fail_elsewhere(void *context)
{
	struct npu_device *device;

	return npu_open("sim:nv_elsewhere", &device) == -ENODEV &&
			       strstr(npu_error(), "nv_elsewhere")
		       ? NULL
		       : context;
}

static void test_error_per_thread(void **state)
{
	struct npu_device *device;
	pthread_t thread;
	void *failed;

	assert_int_equal(npu_open("sim:nv_here", &device), -ENODEV);
	assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, &device), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_non_null(strstr(npu_error(), "nv_here"));
}

static void test_device_closed_first(void **state)
{
	struct bench b;

	begin(&b, "sim", 0);
	npu_close(b.device);
	run_right(&b);
	npu_model_free(b.model);
}

/* ---- recording ---- */

static void test_recording(void **state)
{
	struct npusim_replay_options replay = { .config = NULL };
	struct npu_model_options options = { .size = sizeof(options) };
	char record[64];
	uint32_t passed = 0, failed = 0;
	struct bench b = { 0 };

	snprintf(record, sizeof(record), "%s/record", dir);
	options.record_dir = record;
	assert_int_equal(npu_open("sim:nv_small", &b.device), 0);
	assert_int_equal(npu_model_load(b.device, MODEL, &options, &b.model), 0);
	run_right(&b);
	run_right(&b);
	npu_model_free(b.model);
	/* By the environment. */
	assert_int_equal(setenv("NPU_RECORD", record, 1), 0);
	assert_int_equal(npu_model_load(b.device, MODEL, NULL, &b.model), 0);
	unsetenv("NPU_RECORD");
	run_right(&b);
	end(&b);
	replay.out = fopen("/dev/null", "w");
	assert_int_equal(npusim_replay(&replay, record, &passed, &failed), 0);
	fclose(replay.out);
	assert_int_equal(failed, 0);
	assert_int_equal(passed, 3);
}

static void test_cannot_record(void **state)
{
	struct npu_model_options options = { .size = sizeof(options),
					     .record_dir = "/proc/nowhere" };
	struct bench b = { 0 };

	assert_int_equal(npu_open("sim:nv_small", &b.device), 0);
	assert_int_equal(npu_model_load(b.device, MODEL, &options, &b.model), 0);
	assert_true(run(&b) < 0);
	assert_non_null(strstr(npu_error(), "/proc/nowhere"));
	end(&b);
}

static unsigned open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(files);
	while (readdir(files))
		count++;
	closedir(files);
	return count;
}

static void test_no_file_left_open(void **state)
{
	unsigned before, i;
	int8_t out[CLASSES];
	struct npu_job *job;
	struct bench b;

	before = open_files();
	for (i = 0; i < 5; i++) {
		begin(&b, "sim", 0);
		submit(&b, out, &job);
		npu_job_free(job);
		end(&b);
	}
	assert_int_equal(open_files(), before);
}

/* A picture of our own, and what the network says of it on the simulated NPU with the whole buffer. */
static int set_up(void **state)
{
	struct bench b;
	unsigned i;

	if (!mkdtemp(dir) || setenv("NPU_SIM_DIR", dir, 1))
		return -1;
	for (i = 0; i < PIXELS; i++)
		picture[i] = (int8_t)((i * 2654435761u) >> 24);
	begin_on(&b, "sim", 0);
	if (run(&b))
		return -1;
	memcpy(expected, b.out, sizeof(expected));
	end(&b);
	for (i = 1; i < CLASSES; i++)
		if (expected[i] != expected[0])
			return 0;
	return -1; /* an output without contents would prove nothing */
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tensors),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_every_budget),
		cmocka_unit_test(test_follows_budget),
		cmocka_unit_test(test_more_pays),
		cmocka_unit_test(test_too_small),
		cmocka_unit_test(test_other_process),
		cmocka_unit_test(test_changes_during_runs),
		cmocka_unit_test(test_one_model_many_threads),
		cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_job_timeout),
		cmocka_unit_test(test_job_abandoned),
		cmocka_unit_test(test_model_freed_first),
		cmocka_unit_test(test_job_error),
		cmocka_unit_test(test_wrong_tensors),
		cmocka_unit_test(test_bad_models),
		cmocka_unit_test(test_model_in_memory),
		cmocka_unit_test(test_bad_memory),
		cmocka_unit_test(test_priority),
		cmocka_unit_test(test_error_per_thread),
		cmocka_unit_test(test_device_closed_first),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_cannot_record),
		cmocka_unit_test(test_no_file_left_open),
	};

	return cmocka_run_group_tests_name("libnpu", tests, set_up, tear_down);
}
