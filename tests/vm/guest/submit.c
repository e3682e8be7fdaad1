// SPDX-License-Identifier: MIT
/*
 * Jobs: all or nothing, order, what they wait for (syncobjs, other jobs on the same memory), what
 * they tell when they are done.
 *
 * vm-test: kernel=all iommu=both timeout=200
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib.h"

#define SLOW_MS 150 /* that each task takes where a test has to find a job running */

static int fd;

static const struct drm_nvdla_job_result *result_of(const struct guest_work *work)
{
	return work->result.data;
}

static void slow(bool on)
{
	guest_fault(on ? NVDLA_PCI_FAULT_SLOW_TASKS : NVDLA_PCI_FAULT_NONE, on ? SLOW_MS : 0);
}

static void check_result(void)
{
	static const struct guest_work_shape shape = { .tasks = 7 };
	const struct drm_nvdla_job_result *r;
	struct guest_work work;
	u64 before = guest_now_ns();

	guest_work_new(fd, &shape, &work);
	tap(guest_work_run(&work, 1), "seven tasks compute right");
	r = result_of(&work);
	tap(r->error == 0 && r->tasks == 7, "the result tells of %u tasks", r->tasks);
	tap(r->start_ns > before && r->end_ns > r->start_ns && r->end_ns < guest_now_ns(),
	    "when it began and ended");
	tap(r->busy_ns > 0 && r->busy_ns <= r->end_ns - r->start_ns, "%llu ns busy of %llu",
	    (unsigned long long)r->busy_ns, (unsigned long long)(r->end_ns - r->start_ns));
	tap(r->register_writes > 7, "%llu register writes", (unsigned long long)r->register_writes);
	guest_work_free(&work);
}

/* One bad job among good ones: none of them runs, the call says which. */
static void check_all_or_nothing(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct guest_work work[4];
	struct drm_nvdla_job job[4];
	u32 i, bad, failed, touched = 0;
	bool idle = true;

	for (i = 0; i < 4; i++)
		guest_work_new(fd, &shape, &work[i]);
	for (bad = 0; bad < 4; bad++) {
		int err;

		for (i = 0; i < 4; i++) {
			guest_work_fill(&work[i], i);
			job[i] = guest_work_job(&work[i]);
		}
		job[bad].chain = 0xabcdef;
		err = guest_submit(fd, job, 4, &failed);
		tap(err == -ENOENT && failed == bad, "job %u of 4 is to blame: %u, %s", bad, failed,
		    strerror(-err));
		for (i = 0; i < 4; i++) {
			const u8 *out = work[i].bo[TASK_OUTPUT].data;

			idle = idle && !guest_bo_wait(fd, work[i].bo[TASK_OUTPUT].handle,
						      DRM_NVDLA_BO_WAIT_READERS, 0);
			guest_sleep_ms(5);
			touched += out[0] != 0x55 || result_of(&work[i])->error != 1;
		}
	}
	tap(idle, "no buffer has a fence of a refused job");
	tap(!touched, "none of the refused jobs ran");
	for (i = 0; i < 4; i++)
		guest_work_free(&work[i]);
}

static void check_blames_none(void)
{
	struct drm_nvdla_submit submit = { .job_count = 3, .job_stride = 8, .flags = 1 };
	int err = guest_ioctl(fd, DRM_IOCTL_NVDLA_SUBMIT, &submit);

	tap(err == -EINVAL && submit.failed_job == 3, "a bad call blames no job: %u",
	    submit.failed_job);
}

/* The second job reads what the first one writes, by implicit order. */
static void check_order(void)
{
	static const struct guest_work_shape shape = { .tasks = 5 };
	enum { JOBS = 8 };
	struct guest_work work;
	struct drm_nvdla_job job[JOBS];
	struct guest_bo results;
	const struct drm_nvdla_job_result *r;
	bool ordered = true;
	u32 i;
	int err;

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 3);
	NEED(!guest_bo_new(fd, sizeof(*r) * JOBS, 0, &results), "a buffer is made");
	r = results.data;
	for (i = 0; i < JOBS; i++) {
		job[i] = guest_work_job(&work);
		job[i].result = results.handle;
		job[i].result_offset = i * sizeof(*r);
	}
	err = guest_submit(fd, job, JOBS, NULL);
	NEED(!err, "eight jobs are accepted: %s", strerror(-err));
	err = guest_bo_wait(fd, work.bo[TASK_OUTPUT].handle, 0, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&work), "eight jobs on the same memory end right");
	for (i = 0; i + 1 < JOBS; i++)
		ordered = ordered && r[i].end_ns <= r[i + 1].start_ns && !r[i].error;
	tap(ordered && !r[JOBS - 1].error, "one after the other");
	guest_bo_free(fd, &results);
	guest_work_free(&work);
}

static void check_out_syncs(void)
{
	static const struct guest_work_shape shape = { .tasks = 2 };
	struct drm_nvdla_sync out[2];
	struct guest_work work;
	struct drm_nvdla_job job;
	int err;

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 4);
	out[0] = (struct drm_nvdla_sync){ .handle = guest_sync_new(fd) };
	out[1] = (struct drm_nvdla_sync){
		.handle = guest_sync_new(fd),
		.flags = DRM_NVDLA_SYNC_TIMELINE,
		.point = 7,
	};
	job = guest_work_job(&work);
	job.out_syncs = (uintptr_t)out;
	job.out_sync_count = 2;
	err = guest_submit(fd, &job, 1, NULL);
	NEED(!err, "a job with two out syncobjs is accepted: %s", strerror(-err));
	tap(!guest_sync_wait(fd, out[0].handle, 0, GUEST_WAIT_MS), "the binary syncobj signals");
	tap(guest_work_right(&work), "when the output is there");
	tap(!guest_sync_wait(fd, out[1].handle, 7, GUEST_WAIT_MS), "point 7 of the timeline too");
	tap(guest_sync_wait(fd, out[1].handle, 8, 1) == -ETIME, "but not point 8");
	guest_sync_free(fd, out[0].handle);
	guest_sync_free(fd, out[1].handle);
	guest_work_free(&work);
}

/* A job waits for the fence in a syncobj, also for one of another client. */
static void check_in_syncs(bool timeline)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct drm_syncobj_handle exported = { 0 }, imported = { 0 };
	struct guest_work first, second;
	struct drm_nvdla_job job;
	struct drm_nvdla_sync sync = {
		.handle = guest_sync_new(fd),
		.flags = timeline ? DRM_NVDLA_SYNC_TIMELINE : 0,
		.point = timeline ? 3 : 0,
	};
	int fd2 = guest_open(), err;

	guest_work_new(fd, &shape, &first);
	guest_work_new(fd2, &shape, &second);
	guest_work_fill(&first, 5);
	guest_work_fill(&second, 6);
	slow(true);
	job = guest_work_job(&first);
	job.out_syncs = (uintptr_t)&sync;
	job.out_sync_count = 1;
	NEED(!guest_submit(fd, &job, 1, NULL), "a job with an out syncobj is accepted");
	exported.handle = sync.handle;
	NEED(!guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &exported), "it is exported");
	imported.fd = exported.fd;
	NEED(!guest_ioctl(fd2, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &imported), "and imported");
	sync.handle = imported.handle;
	job = guest_work_job(&second);
	job.in_syncs = (uintptr_t)&sync;
	job.in_sync_count = 1;
	err = guest_submit(fd2, &job, 1, NULL);
	tap(!err, "%s in syncobj: %s", timeline ? "timeline" : "binary", strerror(-err));
	tap(!guest_work_wait(&second, GUEST_WAIT_MS) && guest_work_right(&second),
	    "the job that waited ends right");
	tap(guest_bo_wait(fd, first.bo[TASK_OUTPUT].handle, 0, 0) == 0 &&
		    result_of(&first)->end_ns <= result_of(&second)->start_ns,
	    "and began after the other client's job had ended");
	slow(false);
	close(exported.fd);
	guest_work_free(&first);
	guest_work_free(&second);
	close(fd2);
}

static void check_bad_syncs(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct guest_work work;
	u32 empty = guest_sync_new(fd), in, i;
	const struct {
		struct drm_nvdla_sync sync;
		const char *what;
		int error;
	} cases[] = {
		{ { .handle = 0xabcdef }, "unknown", ENOENT },
		{ { .handle = 0 }, "zero", ENOENT },
		{ { .handle = empty, .flags = 2 }, "unknown flag", EINVAL },
		{ { .handle = empty, .point = 1 }, "point without timeline", EINVAL },
	};

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 7);
	for (in = 0; in < 2; in++)
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			struct drm_nvdla_job job = guest_work_job(&work);
			int err;

			*(in ? &job.in_syncs : &job.out_syncs) = (uintptr_t)&cases[i].sync;
			*(in ? &job.in_sync_count : &job.out_sync_count) = 1;
			err = guest_submit(fd, &job, 1, NULL);
			tap(err == -cases[i].error, "%s syncobj: %s: %s", in ? "in" : "out",
			    cases[i].what, err ? strerror(-err) : "accepted");
		}
	{
		struct drm_nvdla_sync sync = { .handle = empty };
		struct drm_nvdla_job job = guest_work_job(&work);
		int err;

		job.in_syncs = (uintptr_t)&sync;
		job.in_sync_count = 1;
		err = guest_submit(fd, &job, 1, NULL);
		tap(err < 0, "an in syncobj without a fence is refused: %s", strerror(-err));
		/* One that the CPU signalled is as good as any. */
		NEED(!guest_sync_signal(fd, empty, 1), "the CPU signals a timeline");
		sync.flags = DRM_NVDLA_SYNC_TIMELINE;
		sync.point = 1;
		err = guest_submit(fd, &job, 1, NULL);
		tap(!err && !guest_work_wait(&work, GUEST_WAIT_MS) && guest_work_right(&work),
		    "a point that the CPU signalled: %s", strerror(-err));
	}
	guest_sync_free(fd, empty);
	guest_work_free(&work);
}

static void check_bo_wait(void)
{
	static const struct guest_work_shape shape = { .tasks = 2 };
	struct drm_nvdla_bo_wait wait = { 0 };
	struct guest_work work;
	u64 begin, longest;
	u32 out, in, i;
	int err = 0;

	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 8);
	out = work.bo[TASK_OUTPUT].handle;
	in = work.bo[TASK_INPUT].handle;
	tap(!guest_bo_wait(fd, out, 0, 0), "an idle buffer is idle");
	slow(true);
	NEED(!guest_work_submit(&work), "a job is accepted");
	tap(guest_bo_wait(fd, out, 0, 0) == -ETIMEDOUT, "only looking: not yet");
	wait = (struct drm_nvdla_bo_wait){ .handle = out, .timeout_ns = -1 };
	tap(guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_WAIT, &wait) == -ETIMEDOUT, "the past is the same");
	wait.timeout_ns = (s64)1 << 63;
	tap(guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_WAIT, &wait) == -ETIMEDOUT, "the deep past too");
	tap(!guest_bo_wait(fd, in, 0, 0), "nobody writes the input");
	tap(guest_bo_wait(fd, in, DRM_NVDLA_BO_WAIT_READERS, 0) == -ETIMEDOUT,
	    "but somebody reads it");
	begin = guest_now_ns();
	/* The kernel counts in ticks, of which an emulated machine loses some and has many at once then. */
	for (i = 0, longest = 0; i < 3 && longest < 10000000u; i++) {
		u64 from = guest_now_ns();

		err = guest_bo_wait(fd, out, 0, 20);
		longest = max(longest, guest_now_ns() - from);
	}
	tap(err == -ETIMEDOUT && longest >= 10000000u, "20 ms are not enough: %s after %llu us",
	    strerror(-err), (unsigned long long)longest / 1000);
	wait.timeout_ns = 0x7fffffffffffffffll;
	err = guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_WAIT, &wait);
	tap(!err && guest_work_right(&work), "for ever is");
	tap(guest_now_ns() - begin < 15 * 1000000000ull, "in time");
	slow(false);
	guest_work_free(&work);
}

/* All regions in one buffer, at the device's alignment and no larger one. */
static void check_one_buffer(void)
{
	static const struct guest_work_shape shape = { .tasks = 3, .dependent = true };
	struct drm_nvdla_device_info info = { 0 };
	struct guest_work work;
	struct guest_bo bo;
	struct drm_nvdla_job job;
	struct drm_nvdla_binding wrong[TASK_REGIONS];
	u64 at;
	u32 i;
	int err;

	guest_work_new(fd, &shape, &work);
	NEED(!guest_query(fd, DRM_NVDLA_QUERY_DEVICE, &info, sizeof(info)), "the device is told");
	tap(info.region_alignment && !(info.region_alignment & (info.region_alignment - 1)),
	    "regions are aligned to %u bytes", info.region_alignment);
	NEED(!guest_bo_new(fd, 1 << 20, 0, &bo), "a buffer of a megabyte is made");
	at = info.region_alignment;
	for (i = 0; i < TASK_REGIONS; i++) {
		u32 align = info.region_alignment;

		work.binding[i] = (struct drm_nvdla_binding){
			.handle = bo.handle,
			.offset = at,
			.size = work.region[i].size,
		};
		guest_bo_free(fd, &work.bo[i]);
		work.bo[i] = (struct guest_bo){ .size = work.region[i].size,
						.data = (u8 *)bo.data + at };
		/* At odd multiples of it. */
		at += (work.region[i].size / align / 2 * 2 + 3) * align;
	}
	guest_work_fill(&work, 9);
	memcpy(wrong, work.binding, sizeof(wrong));
	wrong[TASK_OUTPUT].offset += info.region_alignment / 2;
	job = guest_work_job(&work);
	job.bindings = (uintptr_t)wrong;
	err = guest_submit(fd, &job, 1, NULL);
	tap(err == -EINVAL, "half of that is refused: %s", err ? strerror(-err) : "accepted");
	job.bindings = (uintptr_t)work.binding;
	err = guest_submit(fd, &job, 1, NULL);
	if (!err)
		err = guest_bo_wait(fd, bo.handle, 0, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&work), "all regions in one buffer: %s", strerror(-err));
	memset(work.bo, 0, sizeof(work.bo));
	guest_bo_free(fd, &bo);
	guest_work_free(&work);
}

/* The file goes while its jobs run; the device goes on for others. */
static void check_close_busy(void)
{
	static const struct guest_work_shape shape = { .tasks = 2 };
	struct guest_work work, other;
	u32 i;

	for (i = 0; i < 5; i++) {
		int fd2 = guest_open();

		guest_work_new(fd2, &shape, &work);
		guest_work_fill(&work, i);
		slow(i & 1);
		guest_work_submit(&work);
		guest_work_submit(&work);
		close(fd2);
		slow(false);
	}
	guest_work_new(fd, &shape, &other);
	tap(guest_work_run(&other, 11), "after files were closed with jobs in flight");
	guest_work_free(&other);
}

int main(void)
{
	fd = guest_open();
	check_result();
	check_all_or_nothing();
	check_blames_none();
	check_order();
	check_out_syncs();
	check_in_syncs(false);
	check_in_syncs(true);
	check_bad_syncs();
	check_bo_wait();
	check_one_buffer();
	check_close_busy();
	close(fd);
	return tap_end();
}
