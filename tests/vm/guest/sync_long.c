// SPDX-License-Identifier: MIT
/*
 * The sync of a large buffer that was made of single pages, which takes minutes where the kernel checks
 * each piece (CONFIG_DMA_API_DEBUG): neither who kills the process nor who takes the device away waits
 * for its end.
 *
 * vm-test: kernel=all iommu=yes timeout=200
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "plug.h"

#define PAGE 4096u
#define BYTES (64u << 20)
#define SPARE (16u << 20) /* memory that is left alone */
#define LIMIT_MS 20000

static size_t free_memory(void)
{
	char text[4096] = "", *at;

	guest_file_read("/proc/meminfo", text, sizeof(text) - 1);
	at = strstr(text, "MemFree:");
	NEED(at, "the kernel tells how much memory is free");
	return (size_t)strtoul(at + strlen("MemFree:"), NULL, 10) << 10;
}

/* A buffer made while of all memory that is free every other page is taken. */
static void scattered_bo(int fd, struct guest_bo *bo)
{
	size_t size = (free_memory() - SPARE) & ~(2ul * PAGE - 1), at;
	u8 *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(memory != MAP_FAILED, "memory");
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	for (at = 0; at < size; at += 2 * PAGE)
		madvise(memory + at, PAGE, MADV_DONTNEED);
	NEED(!guest_bo_new(fd, BYTES, DRM_NVDLA_BO_CACHED, bo), "a large buffer is made");
	munmap(memory, size);
}

/* A process that syncs until that fails; its exit status is the error. */
static pid_t syncer(int fd, u32 handle, int ready)
{
	struct drm_nvdla_bo_sync sync = { .handle = handle,
					  .size = BYTES,
					  .flags = DRM_NVDLA_BO_SYNC_FOR_DEVICE };
	pid_t child = fork();
	int err = 0;

	NEED(child >= 0, "a process is made");
	if (child)
		return child;
	if (write(ready, "", 1) != 1)
		_exit(EIO);
	while (!err)
		err = guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_SYNC, &sync);
	_exit(-err);
}

/* One that has begun. */
static pid_t syncing(int fd, u32 handle)
{
	int ready[2];
	pid_t child;
	char byte;

	NEED(!pipe(ready), "a pipe is made");
	child = syncer(fd, handle, ready[1]);
	NEED(read(ready[0], &byte, 1) == 1, "a process begins");
	close(ready[0]);
	close(ready[1]);
	guest_sleep_ms(500);
	return child;
}

static u32 ms_since(u64 begin)
{
	return (u32)((guest_now_ns() - begin) / 1000000);
}

static void check_killed(int fd, u32 handle)
{
	pid_t child = syncing(fd, handle);
	u64 begin = guest_now_ns();
	int status;
	u32 ms;

	kill(child, SIGKILL);
	NEED(waitpid(child, &status, 0) == child, "it ends");
	ms = ms_since(begin);
	tap(WIFSIGNALED(status) && ms < LIMIT_MS, "killed while it syncs: it is gone after %u ms",
	    ms);
}

static void check_unbound(int fd, u32 handle)
{
	pid_t child = syncing(fd, handle);
	u64 begin = guest_now_ns();
	int status;
	u32 ms;

	NEED(!guest_unbind(), "the device is unbound");
	ms = ms_since(begin);
	tap(ms < LIMIT_MS, "unbound while it syncs: done after %u ms", ms);
	NEED(waitpid(child, &status, 0) == child && WIFEXITED(status), "it ends by itself");
	tap(WEXITSTATUS(status) == ENODEV, "it is told: %s", strerror(WEXITSTATUS(status)));
}

int main(void)
{
	int fd = guest_open();
	struct guest_bo bo;

	NEED(guest_device_name(), "there is a device");
	scattered_bo(fd, &bo);
	check_killed(fd, bo.handle);
	check_unbound(fd, bo.handle);
	guest_bo_free(fd, &bo);
	close(fd);
	NEED(!guest_bind(), "the device is bound again");
	tap(guest_works_again(), "bound again: jobs are right");
	return tap_end();
}
