/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs: one run of a chain each, cut into segments, each of which is a job of the
 * DRM scheduler.
 */
#ifndef NVDLA_JOB_H
#define NVDLA_JOB_H

#include <linux/dma-fence.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include <drm/gpu_scheduler.h>
#include <drm/nvdla_accel.h>

#include "nvdla_budget.h"
#include "nvdla_segment.h"

struct dma_fence_chain;
struct drm_file;
struct drm_gem_object;
struct drm_syncobj;
struct nvdla_bo;
struct nvdla_client;
struct nvdla_device;
struct nvdla_kchain;

/**
 * struct nvdla_job_segment - one segment of a job
 * @fence: signals when the hardware is done with it.  The first member, and the owner of the memory
 *	from run_job() on: fences outlive jobs
 * @fence_lock: of @fence
 * @armed: @fence is initialised
 * @base: job of the scheduler
 * @hw: job of the sequencer
 * @job: that it is a part of; a reference
 * @link: in @job->segments until it is pushed
 * @error: with which it is done; written under hw_lock
 */
struct nvdla_job_segment {
	struct dma_fence fence;
	spinlock_t fence_lock; /* of fence */
	bool armed;
	struct drm_sched_job base;
	struct nvdla_segment hw;
	struct nvdla_job *job;
	struct list_head link;
	int error;
};

static inline struct nvdla_job_segment *to_nvdla_job_segment(struct drm_sched_job *base)
{
	return container_of(base, struct nvdla_job_segment, base);
}

/**
 * struct nvdla_job_out - a syncobj that receives the job's fence
 * @syncobj: a reference
 * @chain: link of its timeline, made in advance; NULL: it is no timeline
 * @point: of the timeline
 */
struct nvdla_job_out {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/**
 * struct nvdla_job - one run of a chain
 * @ref: of the submission and of each segment
 * @nvdla: device
 * @client: whose it is; a reference
 * @kchain: what runs; a reference
 * @claim: on the budget, until it is done
 * @run: its number, of all jobs ever on this device
 * @region_base: device address of each region
 * @bo: buffers of the regions; references; NULL: not used
 * @result: where struct drm_nvdla_job_result goes; a reference, or NULL
 * @result_offset: bytes into it
 * @serial: regions share memory: one task at a time
 * @timeout: jiffies without progress
 * @segments: not yet pushed
 * @segment_count: all of them
 * @counted: @client->jobs and segments count it
 * @powered: holds the device's power on
 * @pushed: the scheduler has or had it
 * @release: frees it, then, where locks of buffers may be taken
 * @in, @in_count: fences to wait for, until the scheduler has them
 * @out, @out_count: who gets its fence
 * @error: of the first segment that failed; written under hw_lock, like all that follows
 * @finished: the result is told
 * @stat: the result as it grows
 */
struct nvdla_job {
	struct kref ref;
	struct nvdla_device *nvdla;
	struct nvdla_client *client;
	struct nvdla_kchain *kchain;
	struct nvdla_budget_claim claim;
	u64 run;
	u64 region_base[NVDLA_CHAIN_MAX_REGIONS];
	struct drm_gem_object *bo[NVDLA_CHAIN_MAX_REGIONS];
	struct nvdla_bo *result;
	u64 result_offset;
	bool serial;
	unsigned long timeout;
	struct list_head segments;
	u32 segment_count;
	bool counted;
	bool powered;
	bool pushed;
	struct work_struct release;
	struct dma_fence **in;
	u32 in_count;
	struct nvdla_job_out *out;
	u32 out_count;
	int error;
	bool finished;
	struct drm_nvdla_job_result stat;
};

/**
 * nvdla_job_create() - look at all that user space says about a job
 * @args: checked for what makes sense
 *
 * Nothing is locked, reserved or counted yet.
 *
 * Return: the job, or an error as DRM_IOCTL_NVDLA_SUBMIT tells it.
 */
struct nvdla_job *nvdla_job_create(struct drm_file *file, const struct drm_nvdla_job *args);

void nvdla_job_put(struct nvdla_job *job);

/**
 * nvdla_job_make_segments() - allocate what the scheduler needs
 * @entity: that they will be pushed to
 *
 * Return: 0; -EDQUOT: too many jobs or segments of this client wait; -ENOMEM.
 */
int nvdla_job_make_segments(struct nvdla_job *job, struct drm_sched_entity *entity);

/**
 * nvdla_job_finish() - tell the result, before the job's fence signals
 *
 * Counts, gives the claim back and writes the result where user space wants it.  Only the first
 * call does.  hw_lock is held, or nobody else has the job any more.
 */
void nvdla_job_finish(struct nvdla_job *job);

/* Gives up a segment: one that was never armed, or that the scheduler is done with. */
void nvdla_job_segment_free(struct nvdla_job_segment *segment);

/* Is it the last one of its job? */
bool nvdla_job_segment_is_last(const struct nvdla_job_segment *segment);

#endif /* NVDLA_JOB_H */
