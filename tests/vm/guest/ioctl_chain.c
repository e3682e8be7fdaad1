// SPDX-License-Identifier: MIT
/*
 * Chains: what CHAIN_CREATE tells, what it refuses and how it says so, that the kernel keeps a copy
 * of its own, and who may use a chain.
 *
 * vm-test: kernel=all timeout=200
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"
#include "nvdla_chain_check.h"

static int fd;
static const struct nvdla_config *config;

/* What the validator says in this program about the same stream. */
static void check_answer(const struct guest_work_shape *shape, const char *what)
{
	static u64 storage[1 << 16];
	struct drm_nvdla_chain_region region[NVDLA_CHAIN_MAX_REGIONS];
	struct drm_nvdla_chain_create create;
	struct nvdla_chain chain;
	struct chain_build b;
	char message[WORK_MESSAGE];
	bool same = true;
	u32 i;
	int err;

	memset(region, 0xee, sizeof(region));
	guest_work_stream(&b, config, shape);
	err = guest_chain_new(fd, b.data, (u32)b.size, &create, region, ARRAY_SIZE(region),
			      message);
	NEED(!err, "%s is accepted: %s %s", what, strerror(-err), message);
	NEED(!nvdla_chain_validate(config, b.data, b.size, storage, sizeof(storage), &chain, NULL),
	     "%s is valid here too", what);
	for (i = 0; i < chain.region_count; i++)
		same = same && region[i].read_start == chain.region[i].read_start &&
		       region[i].read_end == chain.region[i].read_end &&
		       region[i].write_start == chain.region[i].write_start &&
		       region[i].write_end == chain.region[i].write_end &&
		       region[i].size == max(chain.region[i].read_end, chain.region[i].write_end);
	tap(same, "%s: extents of each region", what);
	tap(create.region_count == chain.region_count &&
		    region[chain.region_count].size == 0xeeeeeeeeeeeeeeeeull,
	    "%s: as many regions as there are, %u, and no more", what, create.region_count);
	tap(create.banks == chain.banks && create.tasks == chain.task_count && create.handle &&
		    create.segments >= 1 && create.segments <= create.tasks && !create.sram_bytes,
	    "%s: %u banks, %u tasks, %u segments", what, create.banks, create.tasks,
	    create.segments);
	tap(!guest_chain_free(fd, create.handle), "%s: is dropped", what);
	tap(guest_chain_free(fd, create.handle) == -ENOENT, "%s: but once", what);
	chain_free(&b);
}

/* Nobody's work can run between tasks that share content of the convolution buffer: they are few. */
static void check_run(void)
{
	struct guest_work_shape shape = { .tasks = 12 };
	struct drm_nvdla_chain_create create;
	struct drm_nvdla_limits limits = { 0 };
	char message[WORK_MESSAGE];
	struct chain_build b;
	int err;

	NEED(!guest_query(fd, DRM_NVDLA_QUERY_LIMITS, &limits, sizeof(limits)),
	     "the limits are told");
	tap(limits.run_tasks > 1, "%u tasks may share content of the buffer", limits.run_tasks);
	shape.run = limits.run_tasks;
	check_answer(&shape, "tasks that share weights");
	shape.run++;
	guest_work_stream(&b, config, &shape);
	err = guest_chain_new(fd, b.data, (u32)b.size, &create, NULL, 0, message);
	tap(err == -E2BIG && strstr(message, "share content"), "one more is refused: %s: %s",
	    strerror(-err), message);
	chain_free(&b);
}

/* One change to a good stream of two tasks. */
static void check_refusal(const char *what, u32 reg, u32 bit, int error, const char *pattern)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct drm_nvdla_chain_create create;
	struct drm_nvdla_chain_region region[TASK_REGIONS];
	struct nvdla_chain_reg *entry;
	char message[WORK_MESSAGE];
	struct chain_build b;
	u32 i, count;
	int err;

	guest_work_stream(&b, config, &shape);
	count = ((struct nvdla_chain_task *)(b.data + sizeof(struct nvdla_chain_header)))
			->reg_count;
	entry = (struct nvdla_chain_reg *)(b.data + sizeof(struct nvdla_chain_header) +
					   sizeof(struct nvdla_chain_task));
	for (i = 0; i < count && entry[i].reg != reg; i++)
		;
	NEED(i < count, "the stream names register 0x%x", reg);
	entry[i].value ^= bit;
	err = guest_chain_new(fd, b.data, (u32)b.size, &create, region, TASK_REGIONS, message);
	tap(err == -error && strstr(message, pattern) && !create.handle,
	    "%s is refused: %s; \"%s\"", what, strerror(-err), message);
	/* A short buffer is filled to its last byte and terminated. */
	memset(message, 0x5a, sizeof(message));
	create = (struct drm_nvdla_chain_create){
		.stream = (uintptr_t)b.data,
		.size = (u32)b.size,
		.message = (uintptr_t)message,
		.message_size = 8,
	};
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_CHAIN_CREATE, &create);
	tap(err == -error && strnlen(message, 8) < 8 && message[8] == 0x5a,
	    "%s: in a short text buffer too", what);
	/* Nobody wants to know: the same error. */
	create.message = 0;
	create.message_size = 0;
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_CHAIN_CREATE, &create);
	tap(err == -error, "%s: without one too", what);
	create.message = 0x1000;
	create.message_size = 100;
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_CHAIN_CREATE, &create);
	tap(err == -error || err == -EFAULT, "%s: with one nowhere: %s", what, strerror(-err));
	chain_free(&b);
}

/* Every length but the right one is refused; none of them does harm. */
static void check_truncation(void)
{
	static const struct guest_work_shape shape = { .tasks = 2 };
	struct drm_nvdla_chain_create create;
	u32 size, refused = 0;
	struct chain_build b;

	guest_work_stream(&b, config, &shape);
	for (size = 0; size < b.size; size += 4)
		refused += guest_chain_new(fd, b.data, size, &create, NULL, 0, NULL) == -EINVAL;
	tap(refused == DIV_ROUND_UP(b.size, 4), "%u cut streams are refused", refused);
	chain_free(&b);
}

/* The kernel never looks at the stream again: what is changed later has no effect. */
static void check_copy(void)
{
	static const struct guest_work_shape shape = { .tasks = 3 };
	struct drm_nvdla_chain_create create;
	struct guest_work work;
	struct chain_build b;
	u32 old;

	guest_work_new(fd, &shape, &work);
	guest_work_stream(&b, config, &shape);
	NEED(!guest_chain_new(fd, b.data, (u32)b.size, &create, NULL, 0, NULL), "a chain is made");
	memset(b.data, 0xff, b.size);
	old = work.chain;
	work.chain = create.handle;
	tap(guest_work_run(&work, 5),
	    "a stream that is overwritten after CHAIN_CREATE has no effect");
	guest_chain_free(fd, old);
	guest_work_free(&work);
	chain_free(&b);
}

/* Handles are the file's. */
static void check_owner(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct guest_work work, other;
	struct drm_nvdla_job job;
	int fd2 = guest_open();

	guest_work_new(fd, &shape, &work);
	tap(guest_chain_free(fd2, work.chain) == -ENOENT, "another file does not find the chain");
	guest_work_new(fd2, &shape, &other);
	job = guest_work_job(&other);
	job.chain = work.chain + 1000;
	tap(guest_submit(fd2, &job, 1, NULL) == -ENOENT, "nor a chain that nobody has");
	guest_work_free(&other);
	close(fd2);
	guest_work_free(&work);
}

/* A chain that is dropped while a job runs it lives until the job is done. */
static void check_destroy_busy(void)
{
	static const struct guest_work_shape shape = { .tasks = 20 };
	struct guest_work work;
	int err;

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 6);
	err = guest_work_submit(&work);
	tap(!err && !guest_chain_free(fd, work.chain), "a chain is dropped while it runs");
	err = guest_work_wait(&work, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&work), "its job ends well: %s", strerror(-err));
	work.chain = 0;
	guest_work_free(&work);
}

int main(void)
{
	static const struct guest_work_shape one = { .tasks = 1 }, many = { .tasks = 40 },
					     dependent = { .tasks = 10, .dependent = true },
					     wide = { .tasks = 1, .data_banks = 7 };

	fd = guest_open();
	config = guest_config(fd);
	check_answer(&one, "one task");
	check_answer(&many, "forty tasks");
	check_answer(&dependent, "dependent tasks");
	check_answer(&wide, "a task with more banks than it needs");
	check_refusal("a register value beyond its field", NVDLA_CSC_D_ATOMICS, 1u << 31, EINVAL,
		      "CSC.D_ATOMICS");
	check_refusal("more banks than there are", NVDLA_CDMA_D_BANK, 31u, EINVAL, "D_BANK");
	check_refusal("a size that does not agree", NVDLA_CACC_D_DATAOUT_SIZE_0, 1, EINVAL,
		      "D_DATAOUT_SIZE");
	check_run();
	check_truncation();
	check_copy();
	check_owner();
	check_destroy_busy();
	close(fd);
	return tap_end();
}
