// SPDX-License-Identifier: MIT
/*
 * What calls cost, against one on the same node that does nothing.  Printed, not judged: on an emulated
 * machine only the ratios say something.  Started with the machine's clock counting instructions
 * (NPU_VM_QEMU="-icount shift=0", one processor), the nanoseconds are instructions.
 *
 * vm-test: kernel=packaged timeout=300
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"

enum { ROUNDS = 400, WARM = 20, MANY = 100, BUFFER = 2 << 20 };

static int fd;
static double empty_ns;

/* The middle of what was measured: interrupts and other processes do not count. */
static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static double median(u64 *ns, u32 count)
{
	qsort(ns, count, sizeof(*ns), compare);
	return (double)ns[count / 2];
}

static void report(const char *what, double ns)
{
	printf("# %-34s %10.0f ns %8.1f x\n", what, ns, ns / empty_ns);
}

/* What reading the clock adds to each measurement. */
static double clock_ns(void)
{
	u64 ns[ROUNDS];
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		u64 begin = guest_now_ns();

		ns[i] = guest_now_ns() - begin;
	}
	return median(ns, ROUNDS);
}

static int empty(void)
{
	struct drm_nvdla_context context = { .op = DRM_NVDLA_CONTEXT_GET };

	return guest_ioctl(fd, DRM_IOCTL_NVDLA_CONTEXT, &context);
}

static void measure_empty(void)
{
	u64 ns[ROUNDS];
	u32 i, bad = 0;

	for (i = 0; i < ROUNDS + WARM; i++) {
		u64 begin = guest_now_ns();

		bad += empty() != 0;
		ns[i < WARM ? 0 : i - WARM] = guest_now_ns() - begin;
	}
	empty_ns = median(ns, ROUNDS) - clock_ns();
	tap(!bad && empty_ns > 0, "an empty call: CONTEXT, read a parameter");
	report("empty call", empty_ns);
}

/* SUBMIT alone: the device is so slow that nothing ends meanwhile. */
static void measure_submit(u32 tasks, const char *what)
{
	struct guest_work_shape shape = { .tasks = tasks };
	struct drm_nvdla_limits limits = { 0 };
	u32 i, count, accepted = 0;
	struct guest_work work;
	u64 ns[ROUNDS];
	int err = 0;

	guest_query(fd, DRM_NVDLA_QUERY_LIMITS, &limits, sizeof(limits));
	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 1);
	count = min(limits.jobs / 2, (u32)ROUNDS) / (tasks > 1 ? 4 : 1);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, 2000);
	for (i = 0; i < count && !err; i++) {
		struct drm_nvdla_job job = guest_work_job(&work);
		u64 begin = guest_now_ns();

		err = guest_submit(fd, &job, 1, NULL);
		ns[i] = guest_now_ns() - begin;
		accepted += !err;
	}
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(accepted > 4 && !guest_work_wait(&work, GUEST_WAIT_MS) && guest_work_right(&work),
	    "%s: %u accepted and done", what, accepted);
	if (accepted)
		report(what, median(ns, accepted) - clock_ns());
	guest_work_free(&work);
}

/* CHAIN_CREATE: of a good stream, or of one whose last task is not. */
static void measure_create(u32 tasks, bool good, const char *what)
{
	struct guest_work_shape shape = { .tasks = tasks };
	const struct nvdla_config *config = guest_config(fd);
	struct drm_nvdla_chain_create create;
	char message[WORK_MESSAGE];
	u32 i, as_wanted = 0;
	struct chain_build b;
	u64 ns[ROUNDS];

	guest_work_stream(&b, config, &shape);
	if (!good) /* the last word that the validator looks at: the last address's region */
		memset(b.data + b.size - sizeof(struct nvdla_chain_addr) + 4, 0xff, 4);
	for (i = 0; i < ROUNDS; i++) {
		u64 begin = guest_now_ns();
		int err = guest_chain_new(fd, b.data, (u32)b.size, &create, NULL, 0, message);

		ns[i] = guest_now_ns() - begin;
		as_wanted += good ? !err : err == -EINVAL;
		if (!err)
			guest_chain_free(fd, create.handle);
	}
	tap(as_wanted == ROUNDS, "%s: %s", what, good ? "accepted" : message);
	report(what, median(ns, ROUNDS) - clock_ns());
	chain_free(&b);
}

/* From SUBMIT to the end of the wait: what an application sees. */
static void measure_round(u32 tasks, const char *what)
{
	struct guest_work_shape shape = { .tasks = tasks };
	struct guest_work work;
	u32 i, done = 0;
	u64 ns[ROUNDS / 4];

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 2);
	for (i = 0; i < ROUNDS / 4; i++) {
		u64 begin = guest_now_ns();

		done += !guest_work_submit(&work) && !guest_work_wait(&work, GUEST_WAIT_MS);
		ns[i] = guest_now_ns() - begin;
	}
	tap(done == ROUNDS / 4, "%s: %u done", what, done);
	report(what, median(ns, ROUNDS / 4) - clock_ns());
	guest_work_free(&work);
}

static void touch(volatile u8 *data)
{
	u32 i;

	for (i = 0; i < BUFFER; i += 4096)
		data[i] = 1;
}

/* Mapping a buffer, using each of its pages, unmapping it; and the same with memory of no device. */
static void measure_mapping(bool device, const char *what)
{
	struct drm_nvdla_bo_mmap_offset map = { 0 };
	int flags = device ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
	u64 ns[ROUNDS / 4];
	struct guest_bo bo;
	u32 i, mapped = 0;

	NEED(!guest_bo_new(fd, BUFFER, 0, &bo), "a buffer is made");
	map.handle = bo.handle;
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &map), "its offset is told");
	for (i = 0; i < ROUNDS / 4; i++) {
		u64 begin = guest_now_ns();
		void *at = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, flags, device ? fd : -1,
				device ? (off_t)map.offset : 0);

		NEED(at != MAP_FAILED, "it is mapped: %s", strerror(errno));
		touch(at);
		mapped += !munmap(at, BUFFER);
		ns[i] = guest_now_ns() - begin;
	}
	tap(mapped == ROUNDS / 4, "%s: %u times", what, mapped);
	report(what, median(ns, ROUNDS / 4) - clock_ns());
	guest_bo_free(fd, &bo);
}

int main(void)
{
	fd = guest_open();
	measure_empty();
	measure_submit(1, "SUBMIT of 1 task");
	measure_submit(MANY, "SUBMIT of 100 tasks");
	measure_create(1, true, "CHAIN_CREATE of 1 task");
	measure_create(1, false, "1 task refused");
	measure_create(MANY, true, "CHAIN_CREATE of 100 tasks");
	measure_create(MANY, false, "100 tasks refused at the last");
	measure_round(1, "1 task, submitted and waited for");
	measure_round(MANY, "100 tasks, submitted and waited for");
	measure_mapping(true, "2 MiB mapped, used, unmapped");
	measure_mapping(false, "2 MiB of no device likewise");
	close(fd);
	return tap_end();
}
