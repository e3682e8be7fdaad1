// SPDX-License-Identifier: MIT
/*
 * Power and accounting: the device is switched off when idle and computes right when it is wanted
 * again; the system sleeps in the middle of work; fdinfo and debugfs tell what is going on, also while
 * it goes on.
 *
 * vm-test: kernel=all iommu=both timeout=400
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

/* Of a task that has to be found running; it ends when the fault does. */
#define SLOW_MS 3000

static int fd;

static bool status_is(const char *wanted)
{
	char path[400], text[32] = "";

	snprintf(path, sizeof(path), "%s/power/runtime_status", guest_pci_path());
	guest_file_read(path, text, sizeof(text));
	return !strncmp(text, wanted, strlen(wanted));
}

static bool becomes(const char *wanted)
{
	u32 i;

	for (i = 0; i < GUEST_WAIT_MS / 10 && !status_is(wanted); i++)
		guest_sleep_ms(10);
	return status_is(wanted);
}

static void check_runtime(struct guest_work *work)
{
	u32 i, off = 0, right = 0;

	for (i = 0; i < 8; i++) {
		off += becomes("suspended");
		right += guest_work_run(work, i);
	}
	tap(off == 8, "switched off when idle: %u of 8 times", off);
	tap(right == 8, "right after it was off: %u of 8 times", right);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, SLOW_MS);
	guest_work_fill(work, 9);
	NEED(!guest_work_submit(work), "a job is accepted");
	guest_sleep_ms(300);
	tap(status_is("active"), "on while a job runs");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(!guest_work_wait(work, GUEST_WAIT_MS) && guest_work_right(work), "which ends right");
}

/* As far as pm_test goes: devices are suspended and resumed. */
static void check_system(struct guest_work *work, const char *level, bool busy)
{
	int err, ended;

	if (guest_file_write("/sys/power/pm_test", level)) {
		tap_skip("suspend", "this kernel has no pm_test");
		return;
	}
	/* It waits so long in a loop, which an emulated processor takes for a lockup. */
	guest_file_write("/sys/module/suspend/parameters/pm_test_delay", "1");
	guest_work_fill(work, 10);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, busy ? 100 : 0);
	if (busy)
		NEED(!guest_work_submit(work) && !guest_work_submit(work), "jobs are accepted");
	err = guest_file_write("/sys/power/state", "freeze");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(!err, "the system sleeps%s and wakes up, pm_test=%s: %s",
	    busy ? " in the middle of work" : "", level, strerror(-err));
	if (busy) {
		ended = guest_work_wait(work, GUEST_WAIT_MS);
		tap(!ended && guest_work_right(work), "the work ends right: %s", strerror(-ended));
	}
	tap(guest_work_run(work, 11), "and work after it");
	guest_file_write("/sys/power/pm_test", "none");
}

static void check_fdinfo(struct guest_work *work)
{
	s64 engine = guest_fdinfo(fd, "drm-engine-npu"), tasks = guest_fdinfo(fd, "nvdla-tasks");
	s64 memory = guest_fdinfo(fd, "drm-total-memory"), later;
	struct drm_nvdla_reserve reserve = { .banks = 3 };
	const struct drm_nvdla_job_result *r = work->result.data;
	const struct nvdla_config *config = guest_config(fd);
	struct guest_bo bo;

	tap(guest_work_run(work, 12), "work for the account");
	later = guest_fdinfo(fd, "drm-engine-npu");
	tap(engine >= 0 && later - engine == (s64)r->busy_ns, "engine time: %lld ns, %llu busy",
	    (long long)(later - engine), (unsigned long long)r->busy_ns);
	tap(guest_fdinfo(fd, "nvdla-tasks") - tasks == (s64)r->tasks, "tasks are counted");
	NEED(!guest_bo_new(fd, 1 << 20, 0, &bo), "a buffer is made");
	later = guest_fdinfo(fd, "drm-total-memory");
	tap(memory >= 0 && later - memory == 1024, "a megabyte more: %lld KiB",
	    (long long)(later - memory));
	guest_bo_free(fd, &bo);
	tap(guest_fdinfo(fd, "drm-total-memory") == memory, "and less again");
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_RESERVE, &reserve), "banks are reserved");
	tap(guest_fdinfo(fd, "drm-total-cbuf") * 1024 ==
			    3ll * config->entries * config->entry_bytes ||
		    guest_fdinfo(fd, "drm-total-cbuf") ==
			    3ll * config->entries * config->entry_bytes,
	    "three banks are told");
	reserve.banks = 0;
	guest_ioctl(fd, DRM_IOCTL_NVDLA_RESERVE, &reserve);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, SLOW_MS);
	guest_work_fill(work, 13);
	NEED(!guest_work_submit(work) && !guest_work_submit(work), "jobs are accepted");
	tap(guest_fdinfo(fd, "nvdla-queued-jobs") == 2, "two jobs are queued");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	guest_work_wait(work, GUEST_WAIT_MS);
}

/* Reads every file of the device's debugfs directory; how many there are. */
static u32 read_debugfs(void)
{
	static char text[1 << 18];
	char dir[300], path[600];
	struct dirent *entry;
	u32 files = 0;
	DIR *open;

	snprintf(dir, sizeof(dir), "/sys/kernel/debug/accel/%s",
		 strrchr(guest_pci_path(), '/') + 1);
	open = opendir(dir);
	while (open && (entry = readdir(open))) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		files += guest_file_read(path, text, sizeof(text)) > 0;
	}
	if (open)
		closedir(open);
	return files;
}

/* A reader of a thousand registers is always in between: on a busy host each of them takes its time. */
static bool work_slowly(struct guest_work *work, u32 seed)
{
	guest_work_fill(work, seed);
	return !guest_work_submit(work) && !guest_work_wait(work, GUEST_WAIT_MS) &&
	       guest_work_right(work);
}

static void check_debugfs(void)
{
	static const struct guest_work_shape shape = { .tasks = 40 };
	u32 i, rounds = 0, least = ~0u;
	pid_t child = fork();
	int status;

	if (!child) {
		struct guest_work work;
		int own = guest_open();

		guest_work_new(own, &shape, &work);
		for (i = 0; i < 10; i++)
			if (!work_slowly(&work, i))
				_exit(1);
		_exit(0);
	}
	while (!waitpid(child, &status, WNOHANG)) {
		least = min(least, read_debugfs());
		rounds++;
	}
	tap(!status && rounds > 1 && least >= 3, "debugfs was read %u times under load, %u files",
	    rounds, least);
}

int main(void)
{
	static const struct guest_work_shape shape = { .tasks = 3 };
	struct guest_work work;

	fd = guest_open();
	guest_work_new(fd, &shape, &work);
	NEED(guest_pci_path(), "the device is on the PCI bus");
	check_runtime(&work);
	check_system(&work, "devices", false);
	check_system(&work, "devices", true);
	check_system(&work, "platform", true);
	check_fdinfo(&work);
	check_debugfs();
	guest_work_free(&work);
	close(fd);
	return tap_end();
}
