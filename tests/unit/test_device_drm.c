// SPDX-License-Identifier: MIT
/*
 * libnpu on the kernel driver's interface: what it tells when a device cannot be had,
 * what it does on each error, and that results are those of the simulated NPU, with caches that
 * are not coherent, budgets that shrink between query and submit, and memory in small pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>

#include <cmocka.h>

#include "../common/mock_kernel.h"
#include "../common/small_layer.h"

#define MODEL "tools/demo/digits.tflite"
#define PIXELS 4096
#define CLASSES 10

static int8_t picture[PIXELS];
static int8_t expected[CLASSES];

/* One handle with the model loaded. */
struct bench {
	struct npu_device *device;
	struct npu_model *model;
	int8_t out[CLASSES];
	struct npu_run_stats stats;
};

static void begin(struct bench *b, const char *device)
{
	memset(b, 0, sizeof(*b));
	assert_int_equal(npu_open(device, &b->device), 0);
	if (npu_model_load(b->device, MODEL, NULL, &b->model))
		fail_msg("%s", npu_error());
}

static void end(struct bench *b)
{
	npu_model_free(b->model);
	npu_close(b->device);
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
	if (run(b))
		fail_msg("%s", npu_error());
	assert_memory_equal(b->out, expected, sizeof(expected));
}

static int setup(void **state)
{
	mock_begin("nv_small");
	return 0;
}

static int teardown(void **state)
{
	mock_end();
	return 0;
}

/* ---- opening ---- */

static void refuses(const char *name, int error, const char *word)
{
	struct npu_device *device;
	int err = npu_open(name, &device);

	if (err != error || !strstr(npu_error(), word))
		fail_msg("%d, not %d with \"%s\": %s", err, error, word, npu_error());
	assert_null(device);
}

static void test_names(void **state)
{
	static const char *const names[] = { "accel0", "/dev/accel/accel0" };
	static const char *const wrong[] = {
		"accel",   "accel0x",	       "accel256",    "accelerate",	   "accel-1",
		"accel 0", "accel99999999999", "/dev/accel/", "/dev/accel/accel0/"
	};
	struct npu_device_info info = { .size = sizeof(info) };
	struct npu_device *device;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(npu_open(names[i], &device), 0);
		npu_device_info(device, &info);
		assert_string_equal(info.name, "accel0");
		assert_string_equal(info.config, "nv_small");
		npu_close(device);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		refuses(wrong[i], -ENODEV, "no such NPU");
}

/* The first real NPU comes before the simulated ones, another driver's device is none. */
static void test_list(void **state)
{
	struct npu_device *device;

	assert_string_equal(npu_device_name(0), "accel0");
	assert_string_equal(npu_device_name(1), "sim:nv_small");
	assert_int_equal(npu_open(NULL, &device), 0);
	assert_string_equal(device->name, "accel0");
	npu_close(device);
	mock.driver = "ivpu";
	assert_string_equal(npu_device_name(0), "sim:nv_small");
	mock.driver = "nvdla";
	mock.node = false;
	assert_string_equal(npu_device_name(0), "sim:nv_small");
	assert_int_equal(npu_open(NULL, &device), 0);
	assert_string_equal(device->name, "sim:nv_small");
	npu_close(device);
}

/* Only what is on PCI has an address there. */
static void test_pci(void **state)
{
	static const struct {
		const char *bus, *name;
		u32 is_pci, domain, bus_number, device, function;
	} cases[] = {
		{ "pci", "0001:3f:1e.5", 1, 1, 0x3f, 0x1e, 5 },
		{ "pci", "10000:00:04.0", 1, 0x10000, 0, 4, 0 },
		{ "platform", "0001:3f:1e.5", 0 },
		{ "platform", "40000000.npu", 0 },
		{ "pci", "0001:3f:1e", 0 },
		{ "pci", "0001:3f:1e.5x", 0 },
	};
	struct npu_device *device;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct npu_device_info info = { .size = sizeof(info) };

		mock.bus = cases[i].bus;
		mock.device_name = cases[i].name;
		assert_int_equal(npu_open("accel0", &device), 0);
		assert_int_equal(npu_device_info(device, &info), 0);
		assert_int_equal(info.is_pci, cases[i].is_pci);
		assert_int_equal(info.pci_domain, cases[i].domain);
		assert_int_equal(info.pci_bus, cases[i].bus_number);
		assert_int_equal(info.pci_device, cases[i].device);
		assert_int_equal(info.pci_function, cases[i].function);
		npu_close(device);
	}
}

static void test_cannot_open(void **state)
{
	mock.open_error = -EACCES;
	refuses("accel0", -EACCES, "no permission");
	mock.open_error = -EMFILE;
	refuses("accel0", -EMFILE, "Too many open files");
	mock.open_error = 0;
	mock.driver = "ivpu";
	refuses("accel0", -ENODEV, "the driver is ivpu");
	mock.driver = "nvdla";
	mock.major = 2;
	refuses("accel0", -ENOTSUP, "version 2");
	mock.node = false;
	refuses("accel0", -ENODEV, "devtmpfs");
	refuses("accel7", -ENODEV, "no such NPU");
	mock.device = false;
	refuses("accel0", -ENODEV, "no such NPU");
	mock.module = false;
	refuses("accel0", -ENODEV, "modprobe nvdla");
}

static void test_strange_device(void **state)
{
	mock.config = "nv_huge";
	refuses("accel0", -ENOTSUP, "nv_huge");
	mock.config = "nv_large";
	refuses("accel0", -ENOTSUP, "differ");
	mock.config = "nv_small";
	mock.chain_version = 0;
	refuses("accel0", -ENOTSUP, "version 0");
	mock.chain_version = NVDLA_CHAIN_VERSION + 1;
	mock_fail(MOCK_IOCTL(NVDLA_DEV_QUERY), -ENODEV, 1);
	refuses("accel0", -ENODEV, "does not answer");
}

/* ---- budget ---- */

static void test_budget(void **state)
{
	struct npu_device_budget budget = { .size = sizeof(budget) };
	struct npu_reservation r = { .size = sizeof(r) };
	struct npu_device *a, *b;

	assert_int_equal(npu_open("accel0", &a), 0);
	assert_int_equal(npu_open("accel0", &b), 0);
	mock.limit = 20;
	assert_int_equal(npu_reserve(a, 8), 0);
	assert_int_equal(npu_device_budget(b, &budget), 0);
	assert_int_equal(budget.banks_total, 32);
	assert_int_equal(budget.banks_cap, 20);
	assert_int_equal(budget.banks_usable, 32);
	assert_int_equal(budget.banks_reserved, 8);
	assert_int_equal(budget.banks_available, 12);
	assert_int_equal(budget.generation, 2);
	assert_int_equal(npu_reserve(b, 13), -ENOSPC);
	assert_int_equal(npu_device_reservation(a, 0, &r), 0);
	assert_int_equal(r.pid, getpid());
	assert_int_equal(r.banks, 8);
	assert_int_equal(npu_device_reservation(a, 1, &r), -ENOENT);
	assert_int_equal(npu_device_reservation(b, 0, &r), 0);
	assert_int_equal(r.pid, 0);
	assert_int_equal(r.banks, 8);
	npu_close(a);
	assert_int_equal(npu_device_reservation(b, 0, &r), -ENOENT);
	npu_close(b);
}

static void *raise_generation(void *context)
{
	usleep(50000);
	pthread_mutex_lock(&mock_lock);
	mock.generation++;
	pthread_mutex_unlock(&mock_lock);
	return NULL;
}

/* There is no netlink family here: it looks from time to time. */
static void test_budget_wait(void **state)
{
	struct npu_device_budget budget = { .size = sizeof(budget) };
	struct npu_device *device;
	pthread_t thread;

	assert_int_equal(npu_open("accel0", &device), 0);
	assert_int_equal(npu_device_budget_wait(device, 1, 0, &budget), -ETIMEDOUT);
	assert_int_equal(npu_device_budget_wait(device, 1, 30, &budget), -ETIMEDOUT);
	assert_int_equal(npu_device_budget_wait(device, 7, -1, &budget), 0);
	pthread_create(&thread, NULL, raise_generation, NULL);
	assert_int_equal(npu_device_budget_wait(device, 1, -1, &budget), 0);
	pthread_join(thread, NULL);
	assert_int_equal(budget.generation, 2);
	npu_close(device);
}

static void test_cap_without_netlink(void **state)
{
	struct npu_device *device;

	assert_int_equal(npu_open("accel0", &device), 0);
	assert_int_equal(npu_device_set_cap(device, 0), -EINVAL);
	assert_int_equal(npu_device_set_cap(device, 33), -EINVAL);
	assert_int_not_equal(npu_device_set_cap(device, 16), 0);
	assert_non_null(strstr(npu_error(), "accel0"));
	npu_close(device);
}

static void test_priority(void **state)
{
	struct npu_device *device;

	assert_int_equal(npu_open("accel0", &device), 0);
	assert_int_equal(npu_set_priority(device, NPU_PRIORITY_LOW), 0);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_CONTEXT)], 1);
	assert_int_equal(npu_set_priority(device, NPU_PRIORITY_HIGH), -EACCES);
	assert_non_null(strstr(npu_error(), "CAP_SYS_NICE"));
	assert_int_equal(npu_set_priority(device, NPU_PRIORITY_HIGH + 1), -EINVAL);
	assert_int_equal(npu_set_priority(device, NPU_PRIORITY_NORMAL), 0);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_CONTEXT)], 3);
	npu_close(device);
}

static u64 priority_now(void)
{
	u32 i;

	for (i = 0; i < MOCK_FILES; i++)
		if (mock.file[i].open)
			return mock.file[i].priority;
	return UINT64_MAX;
}

/* One thread's runs go by its own priority, another's by the handle's. */
static void *run_low(void *context)
{
	struct bench *b = context;

	assert_int_equal(npu_set_thread_priority(NPU_PRIORITY_HIGH + 1), -EINVAL);
	assert_int_equal(npu_set_thread_priority(NPU_PRIORITY_LOW), 0);
	run_right(b);
	assert_int_equal(priority_now(), DRM_NVDLA_PRIORITY_LOW);
	/* Not permitted: the handle's. */
	assert_int_equal(npu_set_thread_priority(NPU_PRIORITY_HIGH), 0);
	run_right(b);
	assert_int_equal(priority_now(), DRM_NVDLA_PRIORITY_NORMAL);
	assert_int_equal(npu_set_thread_priority(NPU_PRIORITY_LOW), 0);
	run_right(b);
	assert_int_equal(priority_now(), DRM_NVDLA_PRIORITY_LOW);
	return NULL;
}

static void test_thread_priority(void **state)
{
	pthread_t thread;
	struct bench b;

	begin(&b, "accel0");
	run_right(&b);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_CONTEXT)], 0);
	assert_int_equal(pthread_create(&thread, NULL, run_low, &b), 0);
	pthread_join(thread, NULL);
	run_right(&b);
	assert_int_equal(priority_now(), DRM_NVDLA_PRIORITY_NORMAL);
	end(&b);
}

/* ---- runs ---- */

static void test_run(void **state)
{
	struct npu_model_info model = { .size = sizeof(model) };
	struct bench b;
	u64 before;

	begin(&b, "accel0");
	npu_model_info(b.model, &model);
	before = npu_now_ns();
	run_right(&b);
	assert_int_equal(b.stats.tasks, model.npu_tasks);
	assert_int_equal(b.stats.chains, model.chains);
	assert_int_equal(b.stats.busy_ns, 1000 * b.stats.chains);
	assert_int_equal(b.stats.cycles, 0);
	assert_true(b.stats.register_writes > 0);
	assert_true(b.stats.start_ns >= before && b.stats.end_ns > b.stats.start_ns);
	assert_true(b.stats.end_ns <= npu_now_ns());
	run_right(&b);
	end(&b);
	assert_int_equal(mock.pinned, 0);
}

static void test_signals(void **state)
{
	struct bench b;

	mock.interrupt = 5;
	begin(&b, "accel0");
	mock.interrupt = 20;
	run_right(&b);
	end(&b);
}

static void test_follows_budget(void **state)
{
	struct bench b;

	begin(&b, "accel0");
	run_right(&b);
	assert_int_equal(b.stats.plan_banks, 32);
	mock.limit = 4;
	mock.generation++;
	run_right(&b);
	assert_int_equal(b.stats.plan_banks, 4);
	assert_int_equal(b.stats.replans, 1);
	assert_int_equal(b.stats.restarts, 0);
	end(&b);
}

static void shrink(struct mock_kernel *kernel)
{
	kernel->limit = 4;
	kernel->generation++;
	kernel->before_submit = NULL;
}

/* The budget shrinks when the library has already looked. */
static void test_race(void **state)
{
	struct bench b;

	begin(&b, "accel0");
	mock.before_submit = shrink;
	run_right(&b);
	assert_int_equal(b.stats.restarts, 1);
	assert_int_equal(b.stats.plan_banks, 4);
	end(&b);
}

/* Banks are lost while a job runs: the kernel fails it, the library plans again. */
static void test_lost_banks(void **state)
{
	struct bench b;

	begin(&b, "accel0");
	run_right(&b);
	assert_true(b.stats.plan_banks > 4);
	mock.lost_to = 4;
	run_right(&b);
	assert_int_equal(b.stats.restarts, 1);
	assert_int_equal(b.stats.plan_banks, 4);
	end(&b);
}

#define CALLS 40

static int8_t layer_in[SMALL_LAYER], layer_out[SMALL_LAYER];

/* One handle with a model that has no step of the CPU. */
static void begin_layer(struct bench *b, const char *device)
{
	memset(b, 0, sizeof(*b));
	assert_int_equal(npu_open(device, &b->device), 0);
	b->model = small_layer(b->device, 3);
}

/* The same inference as often as @count says, with one call. */
static void run_calls(struct bench *b, u32 count)
{
	static int8_t out[CALLS][SMALL_LAYER];
	const struct npu_input input = { layer_in, sizeof(layer_in) };
	struct npu_output output[CALLS];
	struct npu_call call[CALLS];
	u32 i;

	memset(out, 0x11, sizeof(out));
	for (i = 0; i < count; i++) {
		output[i] = (struct npu_output){ out[i], sizeof(out[i]) };
		call[i] = (struct npu_call){ b->model, &input, 1, &output[i], 1, NULL };
	}
	if (npu_run_calls(call, count, NULL))
		fail_msg("%s", npu_error());
	for (i = 0; i < count; i++)
		assert_memory_equal(out[i], layer_out, SMALL_LAYER);
}

static void learn_layer(void)
{
	const struct npu_input input = { layer_in, sizeof(layer_in) };
	const struct npu_output output = { layer_out, sizeof(layer_out) };
	struct bench b;
	u32 i;

	for (i = 0; i < SMALL_LAYER; i++)
		layer_in[i] = (int8_t)(i * 11 % 200 - 100);
	begin_layer(&b, "sim:nv_small");
	assert_int_equal(npu_run(b.model, &input, 1, &output, 1, NULL), 0);
	end(&b);
}

/* As many jobs in one call of the kernel as it takes. */
static void test_together(void **state)
{
	struct bench b;

	learn_layer();
	begin_layer(&b, "accel0");
	run_calls(&b, 10);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_SUBMIT)], 1);
	assert_int_equal(mock.calls[MOCK_IOCTL(SYNCOBJ_WAIT)], 1);
	run_calls(&b, CALLS);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_SUBMIT)], 1 + 3);
	end(&b);
	mock.jobs_per_submit = 1;
	begin_layer(&b, "accel0");
	run_calls(&b, 5);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_SUBMIT)], 4 + 5);
	end(&b);
	assert_int_equal(mock.pinned, 0);
}

static void shrink_more(struct mock_kernel *kernel)
{
	kernel->limit = 2;
	kernel->generation++;
	kernel->before_submit = NULL;
}

/* None of them runs where the budget has shrunk, and those behind lost banks run again. */
static void test_together_refused(void **state)
{
	struct bench b;

	learn_layer();
	begin_layer(&b, "accel0");
	mock.before_submit = shrink_more;
	run_calls(&b, 10);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_SUBMIT)], 1 + 10);
	run_calls(&b, 10);
	assert_int_equal(mock.calls[MOCK_IOCTL(NVDLA_SUBMIT)], 12);
	end(&b);
	mock.limit = 32;
	mock.generation++;
	begin_layer(&b, "accel0");
	mock.lost_to = 2;
	run_calls(&b, 10);
	end(&b);
}

static void test_job_errors(void **state)
{
	static const struct {
		int error, result;
		const char *text;
	} cases[] = {
		{ -ETIMEDOUT, -EIO, "hangs" },
		{ -EIO, -EIO, "failed at task" },
		{ -ENODEV, -ENODEV, "gone" },
		{ -ECANCELED, -EIO, "failed at task" },
	};
	struct bench b;
	u32 i;

	begin(&b, "accel0");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		mock.job_error = cases[i].error;
		assert_int_equal(run(&b), cases[i].result);
		assert_non_null(strstr(npu_error(), cases[i].text));
		run_right(&b);
	}
	mock.silent_result = true;
	assert_int_equal(run(&b), -EIO);
	end(&b);
}

static void test_call_errors(void **state)
{
	static const struct {
		int call, error, result;
	} cases[] = {
		{ MOCK_IOCTL(NVDLA_SUBMIT), -EDQUOT, -EDQUOT },
		{ MOCK_IOCTL(NVDLA_SUBMIT), -EIO, -EIO },
		{ MOCK_IOCTL(NVDLA_SUBMIT), -ENODEV, -ENODEV },
		{ MOCK_IOCTL(NVDLA_SUBMIT), -ENOMEM, -ENOMEM },
		{ MOCK_IOCTL(NVDLA_BO_SYNC), -ENODEV, -ENODEV },
		{ MOCK_IOCTL(NVDLA_DEV_QUERY), -ENODEV, -ENODEV },
		{ MOCK_IOCTL(SYNCOBJ_WAIT), -ENOMEM, -ENOMEM },
	};
	struct bench b;
	u32 i;

	begin(&b, "accel0");
	run_right(&b);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		mock_fail(cases[i].call, cases[i].error, 0);
		assert_int_equal(run(&b), cases[i].result);
		assert_true(npu_error()[0]);
		run_right(&b);
	}
	end(&b);
}

/* Each call of a whole life fails once; nothing is lost, and the next try succeeds. */
static void test_every_call_fails(void **state)
{
	static const int calls[] = {
		MOCK_IOCTL(NVDLA_BO_CREATE),	MOCK_IOCTL(NVDLA_BO_MMAP_OFFSET),
		MOCK_IOCTL(NVDLA_CHAIN_CREATE), MOCK_IOCTL(NVDLA_DEV_QUERY),
		MOCK_IOCTL(SYNCOBJ_CREATE),	MOCK_IOCTL(NVDLA_SUBMIT)
	};
	u32 i, after;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		for (after = 0; after < 4; after++) {
			struct bench b = { 0 };

			mock_fail(calls[i], -EFAULT, (int)after);
			if (npu_open("accel0", &b.device) == 0) {
				if (npu_model_load(b.device, MODEL, NULL, &b.model) == 0)
					run(&b);
				end(&b);
			}
			assert_int_equal(mock.pinned, 0);
			mock.fail_call = -1;
			begin(&b, "accel0");
			run_right(&b);
			end(&b);
		}
}

/* The kernel's word and its memory are two things: either may be the smaller one. */
static void test_small_pieces(void **state)
{
	static const struct {
		u64 advice, limit;
	} cases[] = {
		{ 4u << 20, 4u << 20 }, { 4u << 20, 65536 }, { 65536, 65536 }, { 65536, 4u << 20 }
	};
	struct bench b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		mock.bo_advice = cases[i].advice;
		mock.bo_limit = cases[i].limit;
		begin(&b, "accel0");
		run_right(&b);
		mock.limit = 4;
		mock.generation++;
		run_right(&b);
		mock.limit = 32;
		mock.generation++;
		end(&b);
	}
}

static void test_no_memory(void **state)
{
	struct npu_device *device;
	struct npu_model *model;

	mock.bo_limit = 0;
	assert_int_equal(npu_open("accel0", &device), 0);
	assert_int_equal(npu_model_load(device, MODEL, NULL, &model), -ENOMEM);
	assert_true(npu_error()[0]);
	npu_close(device);
}

/* A chain that the kernel refuses: its own words, and the handle goes on working. */
static void test_refused_chain(void **state)
{
	struct npu_device *device;
	struct npu_chain *chain;
	u32 words[64] = { 0 };
	struct bench b;

	assert_int_equal(npu_open("accel0", &device), 0);
	assert_int_equal(device->ops->chain_create(device, words, sizeof(words), &chain), -EINVAL);
	assert_non_null(strstr(npu_error(), "refused"));
	mock_fail(MOCK_IOCTL(NVDLA_CHAIN_CREATE), -EDQUOT, 0);
	assert_int_equal(device->ops->chain_create(device, words, sizeof(words), &chain), -EDQUOT);
	npu_close(device);
	begin(&b, "accel0");
	run_right(&b);
	end(&b);
}

/* The kernel names a layer by its number, the library by the user's name for it. */
static void test_refused_layer(void **state)
{
	struct npu_device *device;
	struct npu_model *model;
	struct bench b;

	begin(&b, "accel0");
	assert_int_equal(npu_open("accel0", &device), 0);
	mock.message = "task 0 (layer 0): CDMA.D_BANK: made up";
	mock_fail(MOCK_IOCTL(NVDLA_CHAIN_CREATE), -EINVAL, 0);
	assert_int_equal(npu_model_load(device, MODEL, NULL, &model), -EINVAL);
	assert_non_null(strstr(npu_error(), "made up"));
	assert_non_null(strstr(npu_error(), b.model->program->net->layer[0].name));
	npu_close(device);
	end(&b);
}

static void *run_often(void *context)
{
	struct bench *b = context;
	u32 i;

	for (i = 0; i < 5; i++)
		run_right(b);
	return NULL;
}

/* Threads with models of their own on one handle. */
static void test_threads(void **state)
{
	struct npu_device *device;
	struct bench b[3] = { 0 };
	pthread_t thread[3];
	u32 i;

	assert_int_equal(npu_open("accel0", &device), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(npu_model_load(device, MODEL, NULL, &b[i].model), 0);
	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, run_often, &b[i]);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < 3; i++)
		npu_model_free(b[i].model);
	npu_close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pci, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cannot_open, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_device, setup, teardown),
		cmocka_unit_test_setup_teardown(test_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(test_budget_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cap_without_netlink, setup, teardown),
		cmocka_unit_test_setup_teardown(test_priority, setup, teardown),
		cmocka_unit_test_setup_teardown(test_thread_priority, setup, teardown),
		cmocka_unit_test_setup_teardown(test_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_follows_budget, setup, teardown),
		cmocka_unit_test_setup_teardown(test_race, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_banks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, teardown),
		cmocka_unit_test_setup_teardown(test_together_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_job_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_call_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_every_call_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_small_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_chain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused_layer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
	};
	struct bench b;
	u32 i;

	for (i = 0; i < PIXELS; i++)
		picture[i] = (int8_t)(i * 7 % 251 - 100);
	begin(&b, "sim:nv_small");
	if (run(&b))
		return 1;
	memcpy(expected, b.out, sizeof(expected));
	end(&b);
	return cmocka_run_group_tests_name("device_drm", tests, NULL, NULL);
}
