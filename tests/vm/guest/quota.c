// SPDX-License-Identifier: MIT
/*
 * No client may have more than its share of memory, chains and queued jobs; what it gives back it may
 * have again; what one has is not taken from another.
 *
 * vm-test: kernel=all timeout=600
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

static int fd;
static struct drm_nvdla_limits limits;
static const struct nvdla_config *config;

/* Buffers until one is refused; returns their bytes. */
static u64 fill_memory(int file, u64 each, int *error)
{
	struct drm_nvdla_bo_create create;
	u64 bytes = 0;

	do {
		create = (struct drm_nvdla_bo_create){ .size = each };
		*error = guest_ioctl(file, DRM_IOCTL_NVDLA_BO_CREATE, &create);
		if (!*error)
			bytes += create.size;
	} while (!*error);
	return bytes;
}

static void check_pinned(void)
{
	int file = guest_open(), other = guest_open(), err;
	struct drm_nvdla_bo_create create = { .size = 4096 };
	u64 bytes = fill_memory(file, 1 << 20, &err);

	if (err == -EDQUOT) {
		tap(bytes <= limits.pinned_bytes && bytes + (1 << 20) > limits.pinned_bytes,
		    "%llu of %llu bytes are had", (unsigned long long)bytes,
		    (unsigned long long)limits.pinned_bytes);
		tap(!guest_ioctl(other, DRM_IOCTL_NVDLA_BO_CREATE, &create),
		    "another client has its own share");
	} else {
		tap(err == -ENOMEM, "memory ends before the share, at %llu of %llu bytes: %s",
		    (unsigned long long)bytes, (unsigned long long)limits.pinned_bytes,
		    strerror(-err));
	}
	close(file);
	close(other);
	file = guest_open();
	create = (struct drm_nvdla_bo_create){ .size = 1 << 20 };
	tap(!guest_ioctl(file, DRM_IOCTL_NVDLA_BO_CREATE, &create),
	    "all of it is there again when the file is closed");
	close(file);
}

#define CGROUP "/sys/fs/cgroup"
#define CGROUP_BYTES (16u << 20)

/* In a group of its own: how it ends when a client there takes four times what the group may have. */
static int take_in_group(void)
{
	struct drm_nvdla_bo_create create;
	u64 bytes;
	int err = guest_file_write(CGROUP "/quota/cgroup.procs", "0");

	if (err)
		return -err;
	for (bytes = 0; !err && bytes < 4 * CGROUP_BYTES; bytes += create.size) {
		create = (struct drm_nvdla_bo_create){ .size = 1 << 20 };
		err = guest_ioctl(guest_open(), DRM_IOCTL_NVDLA_BO_CREATE, &create);
	}
	return -err;
}

/* Many files have many shares; that they are one user's the memory cgroup knows. */
static void check_cgroup(void)
{
	char max[16];
	pid_t child;
	int status = 0;

	snprintf(max, sizeof(max), "%u", CGROUP_BYTES);
	NEED(!guest_file_write(CGROUP "/cgroup.subtree_control", "+memory") &&
		     !mkdir(CGROUP "/quota", 0755) &&
		     !guest_file_write(CGROUP "/quota/memory.max", max),
	     "a group may have %u bytes", CGROUP_BYTES);
	child = fork();
	if (!child)
		_exit(take_in_group());
	NEED(child > 0 && waitpid(child, &status, 0) == child, "a process in it ends");
	tap(WIFEXITED(status) && WEXITSTATUS(status) == ENOMEM,
	    "buffers are charged to the group: %s",
	    WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : strerror(WEXITSTATUS(status)));
	tap(!rmdir(CGROUP "/quota"), "the group goes");
}

static void check_chains(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct drm_nvdla_chain_create create;
	struct chain_build b;
	u32 made = 0, first = 0;
	int file = guest_open(), err;

	guest_work_stream(&b, config, &shape);
	while (!(err = guest_chain_new(file, b.data, (u32)b.size, &create, NULL, 0, NULL))) {
		if (!made++)
			first = create.handle;
		if (made > limits.chains)
			break;
	}
	tap(err == -EDQUOT && made <= limits.chains &&
		    (made == limits.chains || (u64)made * b.size > limits.chain_bytes / 4),
	    "%u of %u chains are had: %s", made, limits.chains, strerror(-err));
	tap(!guest_chain_free(file, first) &&
		    !guest_chain_new(file, b.data, (u32)b.size, &create, NULL, 0, NULL),
	    "one goes, one comes");
	chain_free(&b);
	close(file);
}

static void check_chain_bytes(void)
{
	static const struct guest_work_shape shape = { .tasks = 4000 };
	struct drm_nvdla_chain_create create;
	struct chain_build b;
	u64 bytes = 0;
	int file = guest_open(), err;

	guest_work_stream(&b, config, &shape);
	while (!(err = guest_chain_new(file, b.data, (u32)b.size, &create, NULL, 0, NULL)) &&
	       bytes <= limits.chain_bytes)
		bytes += b.size;
	tap((err == -EDQUOT || err == -ENOMEM) && bytes <= limits.chain_bytes,
	    "%llu of %llu bytes of chains are had: %s", (unsigned long long)bytes,
	    (unsigned long long)limits.chain_bytes, strerror(-err));
	close(file);
	file = guest_open();
	tap(!guest_chain_new(file, b.data, (u32)b.size, &create, NULL, 0, NULL),
	    "all of it is there again when the file is closed");
	close(file);
	chain_free(&b);
}

static void check_jobs(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct guest_work work, other;
	int file = guest_open(), err;
	u32 accepted = 0, failed;
	struct drm_nvdla_job *jobs;
	u32 i;

	guest_work_new(fd, &shape, &work);
	guest_work_new(file, &shape, &other);
	guest_work_fill(&work, 1);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, limits.timeout_ms / 4);
	while (accepted < 2 * limits.jobs && !(err = guest_work_submit(&work)))
		accepted++;
	/* The first ones may be done by now. */
	tap(err == -EDQUOT && accepted >= limits.jobs && accepted <= limits.jobs + limits.jobs / 8,
	    "%u of %u jobs are queued: %s", accepted, limits.jobs, strerror(-err));
	guest_work_fill(&other, 2);
	err = guest_work_submit(&other);
	tap(!err, "another client may queue its own: %s", strerror(-err));
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(!guest_work_wait(&work, GUEST_WAIT_MS) && guest_work_right(&work),
	    "all of them are done");
	tap(!guest_work_wait(&other, GUEST_WAIT_MS) && guest_work_right(&other), "the other's too");
	tap(guest_work_run(&work, 3), "then there is room again");

	jobs = calloc(limits.jobs_per_submit + 1, sizeof(*jobs));
	NEED(jobs, "memory");
	for (i = 0; i <= limits.jobs_per_submit; i++)
		jobs[i] = guest_work_job(&work);
	err = guest_submit(fd, jobs, limits.jobs_per_submit + 1, &failed);
	tap(err < 0 && failed == limits.jobs_per_submit + 1, "more jobs than a SUBMIT may have: %s",
	    strerror(-err));
	err = guest_submit(fd, jobs, min(limits.jobs_per_submit, limits.jobs), &failed);
	tap(!err && !guest_work_wait(&work, GUEST_WAIT_MS) && guest_work_right(&work),
	    "as many as it may have: %s", strerror(-err));
	free(jobs);
	guest_work_free(&other);
	guest_work_free(&work);
	close(file);
}

int main(void)
{
	fd = guest_open();
	config = guest_config(fd);
	NEED(!guest_query(fd, DRM_NVDLA_QUERY_LIMITS, &limits, sizeof(limits)),
	     "the limits are told");
	tap(limits.pinned_bytes && limits.chain_bytes && limits.chains && limits.jobs &&
		    limits.jobs_per_submit && limits.syncs_per_job && limits.timeout_ms &&
		    limits.run_tasks,
	    "every limit is told: %u chains, %u jobs, %u a SUBMIT, %u syncobjs, %u ms",
	    limits.chains, limits.jobs, limits.jobs_per_submit, limits.syncs_per_job,
	    limits.timeout_ms);
	check_pinned();
	check_cgroup();
	check_chains();
	check_chain_bytes();
	check_jobs();
	close(fd);
	return tap_end();
}
