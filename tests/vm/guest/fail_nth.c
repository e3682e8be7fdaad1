// SPDX-License-Identifier: MIT
/*
 * Every allocation and every access to user space of every call fails once: the call says so and has
 * changed nothing, the next one is right.  Kernels with fault injection only.
 *
 * vm-test: kernel=debug iommu=both timeout=200
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib.h"
#include "netlink.h"

#define MOST 400 /* allocations of one call */

static int fd, other, nth_file;
static struct guest_work work;
static struct chain_build stream;
static u32 sync_handle;
static u32 free_handle; /* that the next buffer of @fd gets */
static bool hit; /* something has failed since fail() */

/* The @n'th allocation or access of this thread from now on fails; that of this very call may be it. */
static void fail(u32 n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	NEED(pwrite(nth_file, text, (size_t)length, 0) == length ||
		     (errno == EFAULT && pwrite(nth_file, text, (size_t)length, 0) == length),
	     "fail-nth is set");
}

/* The call that is looked at is over: nothing fails any more. */
static void stop(void)
{
	char text[16] = "";
	ssize_t length = pread(nth_file, text, sizeof(text) - 1, 0);

	NEED(length > 0 || errno == EFAULT, "fail-nth is read");
	fail(0);
	/* Where reading it is what failed, the call had fewer of them. */
	hit = length > 0 && atoi(text) == 0;
}

/* ---- calls: each stops, returns its error, and takes back what it did ---- */

static int call_open(void)
{
	int own = open(guest_node(), O_RDWR | O_CLOEXEC), err = own < 0 ? -errno : 0;

	stop();
	if (!err)
		close(own);
	return err;
}

static int call_bo_create(void)
{
	struct drm_nvdla_bo_create create = { .size = 32768 };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_CREATE, &create);

	stop();
	if (!err)
		guest_gem_close(fd, create.handle);
	/* There is one that DRM could not tell of, under the least number that was free. */
	if (err == -EFAULT)
		guest_gem_close(fd, free_handle);
	return err;
}

static int call_bo_map(void)
{
	struct guest_bo bo = { .handle = work.bo[0].handle, .size = 4096 };
	int err = guest_bo_map(fd, &bo);

	stop();
	if (!err)
		munmap(bo.data, bo.size);
	return err;
}

static int call_chain(void)
{
	struct drm_nvdla_chain_create create;
	int err = guest_chain_new(fd, stream.data, (u32)stream.size, &create, NULL, 0, NULL);

	stop();
	if (!err)
		guest_chain_free(fd, create.handle);
	return err;
}

static int call_submit(void)
{
	struct drm_nvdla_sync sync[2] = {
		{ .handle = sync_handle },
		{ .handle = sync_handle, .flags = DRM_NVDLA_SYNC_TIMELINE, .point = 5 },
	};
	struct drm_nvdla_job job[2] = { guest_work_job(&work), guest_work_job(&work) };
	int err;

	job[0].out_syncs = (uintptr_t)&sync[0];
	job[0].out_sync_count = 1;
	job[1].out_syncs = (uintptr_t)&sync[1];
	job[1].out_sync_count = 1;
	err = guest_submit(fd, job, 2, NULL);
	stop();
	if (!err)
		err = guest_work_wait(&work, GUEST_WAIT_MS);
	return err;
}

static int call_reserve(void)
{
	struct drm_nvdla_reserve reserve = { .banks = 2 };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_RESERVE, &reserve);

	stop();
	reserve.banks = 0;
	guest_ioctl(fd, DRM_IOCTL_NVDLA_RESERVE, &reserve);
	return err;
}

static int call_prime(void)
{
	struct drm_prime_handle prime = { .handle = work.bo[0].handle, .flags = DRM_CLOEXEC };
	struct drm_prime_handle import = { 0 };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	if (err) {
		stop();
		return err;
	}
	import.fd = prime.fd;
	err = guest_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &import);
	stop();
	if (!err)
		guest_gem_close(other, import.handle);
	close(prime.fd);
	return err;
}

static int call_context(void)
{
	struct drm_nvdla_context context = { .op = DRM_NVDLA_CONTEXT_SET,
					     .value = DRM_NVDLA_PRIORITY_LOW };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_CONTEXT, &context);

	stop();
	context.value = DRM_NVDLA_PRIORITY_NORMAL;
	guest_ioctl(fd, DRM_IOCTL_NVDLA_CONTEXT, &context);
	return err;
}

static int call_netlink(void)
{
	static struct guest_genl g;
	u32 device;
	int err = guest_genl_open(&g);
	bool open = !err;

	if (!err)
		err = guest_genl_device(&g, &device);
	if (!err && guest_genl_stat(&g, device, NVDLA_A_STATS_JOBS) == ~0ull)
		err = -ENOMEM;
	stop();
	if (open)
		guest_genl_close(&g);
	return err;
}

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
	{ "open", call_open },	     { "BO_CREATE", call_bo_create },
	{ "mmap", call_bo_map },     { "CHAIN_CREATE", call_chain },
	{ "SUBMIT", call_submit },   { "RESERVE", call_reserve },
	{ "PRIME", call_prime },     { "CONTEXT", call_context },
	{ "netlink", call_netlink },
};

/* Errors of memory that is not there, also those that the socket layer has for it. */
static bool is_about_memory(int err)
{
	static const int errors[] = { ENOMEM, EFAULT, ENOBUFS, ENFILE, EINTR, ETIMEDOUT };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(errors); i++)
		if (err == -errors[i])
			return true;
	return false;
}

static void check_call(u32 i)
{
	struct drm_nvdla_budget before = guest_budget(fd), after;
	s64 memory = guest_fdinfo(fd, "drm-total-memory"), jobs;
	u32 n, failed = 0, survived = 0, wrong = 0;

	for (n = 1; n <= MOST; n++) {
		int err;

		fail(n);
		err = calls[i].call();
		if (!hit && !err)
			break;
		failed += err != 0;
		survived += !err;
		/* A call may do without the memory, but it may not fail of anything else. */
		wrong += err && !is_about_memory(err);
		if (err && err != -ENOMEM && err != -EFAULT)
			printf("# %s, allocation %u: %s\n", calls[i].name, n, strerror(-err));
	}
	after = guest_budget(fd);
	jobs = guest_fdinfo(fd, "nvdla-queued-jobs");
	tap(!wrong && n <= MOST, "%s: failed %u times, did without %u times", calls[i].name, failed,
	    survived);
	tap(guest_fdinfo(fd, "drm-total-memory") == memory && !jobs &&
		    before.banks_available == after.banks_available &&
		    before.banks_reserved == after.banks_reserved,
	    "%s: nothing is lost", calls[i].name);
	tap(guest_work_run(&work, i), "%s: then work is right", calls[i].name);
}

int main(void)
{
	static const struct guest_work_shape shape = { .tasks = 3 };
	struct drm_nvdla_bo_create create = { .size = 4096 };
	u32 i;

	nth_file = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_file < 0) {
		tap_skip("failing allocations", "this kernel injects no faults");
		return tap_end();
	}
	/* Also those that may sleep, and pages; without a trace of each. */
	guest_file_write("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	guest_file_write("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	guest_file_write("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	guest_file_write("/sys/kernel/debug/failslab/verbose", "0");
	guest_file_write("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	guest_file_write("/sys/kernel/debug/fail_usercopy/verbose", "0");
	fd = guest_open();
	other = guest_open();
	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 1);
	guest_work_stream(&stream, work.config, &shape);
	sync_handle = guest_sync_new(fd);
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_CREATE, &create), "a buffer is made");
	free_handle = create.handle;
	guest_gem_close(fd, free_handle);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		check_call(i);
	chain_free(&stream);
	guest_work_free(&work);
	close(other);
	close(fd);
	close(nth_file);
	return tap_end();
}
