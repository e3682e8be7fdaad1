// SPDX-License-Identifier: MIT
/*
 * The simulated NPU as a device of libnpu: chains validated, owned, admitted and run;
 * names, budgets, threads, recordings that replay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "../common/chain_tasks.h"
#include "internal.h"
#include "npusim.h"

#define CHANNELS 16
#define SIZE 8
#define KERNELS 16

/* A 1 x 1 convolution, its data and what it has to compute. */
struct bench {
	struct npu_device *device;
	struct npu_chain *chain;
	struct npu_buffer region[TASK_REGIONS];
	s8 expect[SIZE * SIZE * KERNELS];
};

static u32 random_state = 7;

static s8 random_small(void)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (s8)((random_state >> 24) % 7) - 3;
}

static struct npu_device *open_device(const char *name)
{
	struct npu_device *device;

	assert_int_equal(npu_open(name, &device), 0);
	return device;
}

static size_t cube_index(u32 atom, u32 pixel, u32 channel)
{
	return (size_t)(channel / atom) * SIZE * SIZE * atom + pixel * atom + channel % atom;
}

/* Weights of direct convolution: groups of atomic_k kernels, blocks of atomic_c channels. */
static size_t weight_index(const struct nvdla_config *config, u32 kernel, u32 channel)
{
	u32 group = kernel / config->atomic_k, block = channel / config->atomic_c;
	u32 kernels = min(KERNELS - group * config->atomic_k, (u32)config->atomic_k);
	u32 channels = min(CHANNELS - block * config->atomic_c, (u32)config->atomic_c);

	return (size_t)group * config->atomic_k * CHANNELS +
	       (size_t)block * config->atomic_c * kernels +
	       (size_t)(kernel % config->atomic_k) * channels + channel % config->atomic_c;
}

static void fill_data(struct bench *b)
{
	const struct nvdla_config *config = b->device->config;
	s8 *weights = b->region[TASK_WEIGHTS].data, *in = b->region[TASK_INPUT].data;
	u32 p, c, k;

	for (k = 0; k < KERNELS; k++)
		for (c = 0; c < CHANNELS; c++)
			weights[weight_index(config, k, c)] = random_small();
	for (p = 0; p < SIZE * SIZE; p++)
		for (c = 0; c < CHANNELS; c++)
			in[cube_index(config->atom, p, c)] = random_small();
	for (p = 0; p < SIZE * SIZE; p++)
		for (k = 0; k < KERNELS; k++) {
			s32 sum = 0;

			for (c = 0; c < CHANNELS; c++)
				sum += weights[weight_index(config, k, c)] *
				       in[cube_index(config->atom, p, c)];
			b->expect[p * KERNELS + k] = (s8)max(min(sum, 127), -128);
		}
}

static const struct conv_shape shape = {
	.w = SIZE, .h = SIZE, .c = CHANNELS, .k = KERNELS, .r = 1, .s = 1
};

static void make_chain(struct bench *b, u32 data_banks)
{
	struct conv_shape n = shape;
	struct chain_build build;

	n.data_banks = data_banks;
	chain_begin(&build);
	chain_conv(&build, b->device->config, &n, 0);
	chain_task_end(&build);
	chain_end(&build, TASK_REGIONS);
	assert_int_equal(b->device->ops->chain_create(b->device, build.data, build.size, &b->chain),
			 0);
	chain_free(&build);
}

static void begin(struct bench *b, const char *name)
{
	u32 i;

	b->device = open_device(name);
	make_chain(b, 0);
	for (i = 0; i < TASK_REGIONS; i++)
		assert_int_equal(b->device->ops->buffer_create(b->device, 65536, NPU_BUFFER_SHARED,
							       &b->region[i]),
				 0);
	fill_data(b);
}

static void end(struct bench *b)
{
	u32 i;

	for (i = 0; i < TASK_REGIONS; i++)
		b->device->ops->buffer_destroy(b->device, &b->region[i]);
	b->device->ops->chain_destroy(b->device, b->chain);
	npu_close(b->device);
}

static int submit_regions(struct bench *b, u32 regions, struct npu_recording *recording,
			  struct npu_chain_stats *stats)
{
	struct npu_device_job job = { b->chain, b->region, regions };
	struct npu_submission submission = { &job, 1, recording };
	int err = b->device->ops->submit(b->device, &submission);

	assert_int_equal(submission.done, !err);
	*stats = job.stats;
	return err;
}

static int submit(struct bench *b, struct npu_recording *recording, struct npu_chain_stats *stats)
{
	return submit_regions(b, TASK_REGIONS, recording, stats);
}

static void check_output(const struct bench *b)
{
	const s8 *out = b->region[TASK_OUTPUT].data;
	u32 p, k;

	for (p = 0; p < SIZE * SIZE; p++)
		for (k = 0; k < KERNELS; k++)
			assert_int_equal(out[cube_index(b->device->config->atom, p, k)],
					 b->expect[p * KERNELS + k]);
}

static void test_every_configuration(void **unused)
{
	const char *name;
	unsigned i;

	for (i = 0; (name = npu_device_name(i)); i++) {
		struct npu_chain_stats stats = { 0 };
		struct bench b;

		begin(&b, name);
		assert_int_equal(submit(&b, NULL, &stats), 0);
		check_output(&b);
		assert_true(stats.cycles > SIZE * SIZE);
		assert_true(stats.feature_bytes >= SIZE * SIZE * CHANNELS);
		assert_true(stats.weight_bytes >= KERNELS * CHANNELS);
		assert_true(stats.output_bytes >= SIZE * SIZE * KERNELS);
		/* Again: register groups alternate over chains. */
		memset(b.region[TASK_OUTPUT].data, 0, b.region[TASK_OUTPUT].bytes);
		assert_int_equal(submit(&b, NULL, &stats), 0);
		check_output(&b);
		end(&b);
	}
	assert_int_equal(i, nvdla_config_count);
}

static void test_admission(void **unused)
{
	struct npu_chain_stats stats = { 0 };
	struct bench b;

	begin(&b, "sim:nv_small:admission");
	b.device->ops->chain_destroy(b.device, b.chain);
	make_chain(&b, 10);
	assert_int_equal(b.chain->banks, 11);
	assert_int_equal(npu_device_set_cap(b.device, 10), 0);
	assert_int_equal(submit(&b, NULL, &stats), -ENOSPC);
	assert_non_null(strstr(npu_error(), "11 banks"));
	assert_int_equal(npu_device_set_cap(b.device, 11), 0);
	assert_int_equal(submit(&b, NULL, &stats), 0);
	check_output(&b);
	assert_int_equal(npu_device_set_cap(b.device, 32), 0);
	end(&b);
}

static void test_other_handle_reserves(void **unused)
{
	struct npu_chain_stats stats = { 0 };
	struct npu_device *other;
	struct bench b;

	begin(&b, "sim:nv_small:shared");
	other = open_device("sim:nv_small:shared");
	assert_int_equal(npu_reserve(other, 32), 0);
	assert_int_equal(submit(&b, NULL, &stats), -ENOSPC);
	npu_close(other);
	assert_int_equal(submit(&b, NULL, &stats), 0);
	end(&b);
}

/* All chains find their banks, or none of them runs; those before one that fails are done. */
static void test_several(void **unused)
{
	struct npu_device_job job[3];
	struct npu_submission several = { job, 3 };
	struct npu_chain *wide, *narrow;
	struct bench b;
	u32 i;

	begin(&b, "sim:nv_small:several");
	narrow = b.chain;
	make_chain(&b, 10);
	wide = b.chain;
	for (i = 0; i < 3; i++)
		job[i] = (struct npu_device_job){ i == 1 ? wide : narrow, b.region, TASK_REGIONS };
	assert_int_equal(npu_device_set_cap(b.device, 10), 0);
	assert_int_equal(b.device->ops->submit(b.device, &several), -ENOSPC);
	assert_int_equal(several.done, 0);
	assert_int_equal(several.failed, 1);
	for (i = 0; i < b.region[TASK_OUTPUT].bytes; i++)
		assert_int_equal(((u8 *)b.region[TASK_OUTPUT].data)[i], 0);
	assert_int_equal(npu_device_set_cap(b.device, 32), 0);
	assert_int_equal(b.device->ops->submit(b.device, &several), 0);
	assert_int_equal(several.done, 3);
	check_output(&b);
	job[1].region_count = 2;
	assert_int_equal(b.device->ops->submit(b.device, &several), -EINVAL);
	assert_int_equal(several.done, 1);
	assert_int_equal(several.failed, 1);
	b.device->ops->chain_destroy(b.device, narrow);
	end(&b);
}

#define LOW_JOBS 64

struct order {
	struct bench *b;
	atomic_bool begun;
	u64 low_end; /* of the last chain of low priority */
};

static void *submit_low(void *context)
{
	struct order *order = context;
	struct npu_device_job job[LOW_JOBS];
	struct npu_submission many = { job, LOW_JOBS };
	u32 i;

	npu_set_thread_priority(NPU_PRIORITY_LOW);
	for (i = 0; i < LOW_JOBS; i++)
		job[i] = (struct npu_device_job){ order->b->chain, order->b->region, TASK_REGIONS };
	atomic_store(&order->begun, true);
	if (order->b->device->ops->submit(order->b->device, &many))
		return context;
	order->low_end = job[LOW_JOBS - 1].stats.end_ns;
	return NULL;
}

/* A thread of higher priority goes before the rest of what another one has submitted. */
static void test_priorities(void **unused)
{
	struct npu_chain_stats stats = { 0 };
	struct order order = { 0 };
	pthread_t thread;
	struct bench b;
	void *wrong;
	u32 round, overtaken = 0;

	begin(&b, "sim:nv_small:priority");
	order.b = &b;
	for (round = 0; round < 1000 && !overtaken; round++) {
		atomic_store(&order.begun, false);
		assert_int_equal(pthread_create(&thread, NULL, submit_low, &order), 0);
		while (!atomic_load(&order.begun))
			sched_yield();
		assert_int_equal(npu_set_thread_priority(NPU_PRIORITY_HIGH), 0);
		assert_int_equal(submit(&b, NULL, &stats), 0);
		assert_int_equal(npu_set_thread_priority(NPU_PRIORITY_NORMAL), 0);
		assert_int_equal(pthread_join(thread, &wrong), 0);
		assert_null(wrong);
		overtaken = stats.end_ns < order.low_end;
	}
	assert_true(overtaken);
	end(&b);
}

/* The hardware loses its state behind the driver's back: the chain hangs, then all is well again. */
static void test_hang(void **unused)
{
	struct npu_chain_stats stats = { 0 };
	struct bench b;

	begin(&b, "sim:nv_small");
	assert_int_equal(submit(&b, NULL, &stats), 0);
	npusim_reset(npu_sim_model(b.device));
	assert_int_equal(submit(&b, NULL, &stats), -EIO);
	assert_non_null(strstr(npu_error(), "hangs"));
	memset(b.region[TASK_OUTPUT].data, 0, b.region[TASK_OUTPUT].bytes);
	assert_int_equal(submit(&b, NULL, &stats), 0);
	check_output(&b);
	end(&b);
}

static void test_small_region(void **unused)
{
	struct npu_chain_stats stats = { 0 };
	struct bench b;
	size_t bytes;
	u32 i;

	begin(&b, "sim:nv_small");
	for (i = 0; i < TASK_REGIONS; i++) {
		bytes = b.region[i].bytes;
		b.region[i].bytes = 200;
		assert_int_equal(submit(&b, NULL, &stats), -EINVAL);
		b.region[i].bytes = bytes;
	}
	assert_int_equal(submit_regions(&b, 2, NULL, &stats), -EINVAL);
	assert_int_equal(submit(&b, NULL, &stats), 0);
	end(&b);
}

static void test_bad_streams(void **unused)
{
	struct npu_device *device = open_device("sim:nv_small");
	struct npu_chain *chain;
	struct chain_build build;
	size_t cut;

	chain_begin(&build);
	chain_conv(&build, device->config, &shape, 0);
	chain_task_end(&build);
	chain_end(&build, TASK_REGIONS);
	for (cut = 0; cut < build.size; cut += 4)
		assert_int_not_equal(device->ops->chain_create(device, build.data, cut, &chain), 0);
	chain_free(&build);

	chain_begin(&build);
	chain_conv(&build, device->config, &shape, 0);
	CHAIN_SET(&build, CDMA, D_BANK, 31 << 16 | 31);
	chain_task_end(&build);
	chain_end(&build, TASK_REGIONS);
	assert_int_equal(device->ops->chain_create(device, build.data, build.size, &chain),
			 -EINVAL);
	assert_non_null(strstr(npu_error(), "chain refused"));
	chain_free(&build);
	npu_close(device);
}

static void *submit_often(void *context)
{
	struct bench *b = context;
	struct npu_chain_stats stats;
	u32 i;

	for (i = 0; i < 50; i++)
		if (submit(b, NULL, &stats))
			return context;
	return NULL;
}

/* Chains of several threads on one device go one after another. */
static void test_threads(void **unused)
{
	struct npu_device *device = open_device("sim:nv_small");
	pthread_t thread[4];
	struct bench b[4];
	void *failed;
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(thread); i++) {
		b[i].device = device;
		make_chain(&b[i], 0);
		for (k = 0; k < TASK_REGIONS; k++)
			assert_int_equal(device->ops->buffer_create(
						 device, 65536, NPU_BUFFER_SHARED, &b[i].region[k]),
					 0);
		fill_data(&b[i]);
	}
	for (i = 0; i < ARRAY_SIZE(thread); i++)
		assert_int_equal(pthread_create(&thread[i], NULL, submit_often, &b[i]), 0);
	for (i = 0; i < ARRAY_SIZE(thread); i++) {
		assert_int_equal(pthread_join(thread[i], &failed), 0);
		assert_null(failed);
		check_output(&b[i]);
		for (k = 0; k < TASK_REGIONS; k++)
			device->ops->buffer_destroy(device, &b[i].region[k]);
		device->ops->chain_destroy(device, b[i].chain);
	}
	npu_close(device);
}

static void test_names(void **unused)
{
	static const char *const bad[] = {
		"sim:nv_huge",	    "sim:",
		"simulator",	    "sim:nv_small:",
		"sim:nv_small:a/b", "sim:nv_small:../../etc/passwd",
		"/dev/accel/none",  "sim:nv_small:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	};
	struct npu_device_info info = { .size = sizeof(info) };
	struct npu_device *device;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(npu_open(bad[i], &device), -ENODEV);
		assert_non_null(strstr(npu_error(), bad[i]));
		assert_null(device);
	}
	device = open_device("sim");
	assert_int_equal(npu_device_info(device, &info), 0);
	assert_string_equal(info.name, "sim:nv_small");
	assert_string_equal(info.config, "nv_small");
	assert_int_equal(info.banks, 32);
	npu_close(device);
	assert_int_equal(setenv("NPU_DEVICE", "sim:nv_large", 1), 0);
	device = open_device(NULL);
	npu_device_info(device, &info);
	assert_string_equal(info.config, "nv_large");
	npu_close(device);
	unsetenv("NPU_DEVICE");
}

/* A caller that was built against a smaller struct gets no byte more. */
static void test_struct_growth(void **unused)
{
	struct npu_device *device = open_device("sim");
	struct npu_device_info info;

	memset(&info, 0x55, sizeof(info));
	info.size = offsetof(struct npu_device_info, config);
	assert_int_equal(npu_device_info(device, &info), 0);
	assert_string_equal(info.name, "sim:nv_small");
	assert_int_equal(info.config[0], 0x55);
	assert_int_equal(info.size, offsetof(struct npu_device_info, config));
	info.size = 0;
	assert_int_equal(npu_device_info(device, &info), -EINVAL);
	npu_close(device);
}

static void test_recording(void **unused)
{
	struct npusim_replay_options options = { .config = NULL };
	char dir[] = "/tmp/npu-record-XXXXXX", command[64], path[128];
	struct npu_recording *recording;
	struct npu_chain_stats stats;
	u32 i, passed = 0, failed = 0;
	struct bench b;

	assert_non_null(mkdtemp(dir));
	begin(&b, "sim:nv_small");
	/* The device has been used before: a recording begins with a reset all the same. */
	assert_int_equal(submit(&b, NULL, &stats), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(b.device->ops->record_begin(b.device, dir, "conv", &recording), 0);
		assert_int_equal(submit(&b, recording, &stats), 0);
		assert_int_equal(submit(&b, recording, &stats), 0);
		assert_int_equal(b.device->ops->record_end(b.device, recording), 0);
	}
	end(&b);
	snprintf(path, sizeof(path), "%s/nv_small/conv-0001/run.nv", dir);
	assert_int_equal(access(path, R_OK), 0);
	options.out = fopen("/dev/null", "w");
	assert_int_equal(npusim_replay(&options, dir, &passed, &failed), 0);
	fclose(options.out);
	assert_int_equal(passed, 2);
	assert_int_equal(failed, 0);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void test_no_file_left_open(void **unused)
{
	unsigned before = open_files(), i;

	for (i = 0; i < 20; i++)
		npu_close(open_device("sim:nv_small"));
	assert_int_equal(open_files(), before);
}

static int set_up(void **unused)
{
	static char dir[] = "/tmp/npu-test-XXXXXX";

	return mkdtemp(dir) ? setenv("NPU_SIM_DIR", dir, 1) : -1;
}

static int tear_down(void **unused)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", getenv("NPU_SIM_DIR"));
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_configuration),
		cmocka_unit_test(test_admission),
		cmocka_unit_test(test_other_handle_reserves),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_priorities),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_small_region),
		cmocka_unit_test(test_bad_streams),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_struct_growth),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_no_file_left_open),
	};

	return cmocka_run_group_tests_name("simulated NPU", tests, set_up, tear_down);
}
