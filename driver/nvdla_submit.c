// SPDX-License-Identifier: GPL-2.0-only
/*
 * Submission: all that can fail comes first, then everything at once that cannot.
 */
#include <linux/dma-fence-chain.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_drv.h>
#include <drm/drm_exec.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_syncobj.h>

#include "nvdla_client.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_job.h"
#include "nvdla_kchain.h"
#include "nvdla_trace.h"

/**
 * struct submission - what one call of SUBMIT is working at
 * @client: whose it is
 * @file: of the client
 * @job: jobs so far
 * @count: of these
 * @exec: locks of all buffers
 * @blamed: job that is to blame for a failure; @count of the call: none
 */
struct submission {
	struct nvdla_client *client;
	struct drm_file *file;
	struct nvdla_job *job[NVDLA_MAX_JOBS_PER_SUBMIT];
	u32 count;
	struct drm_exec exec;
	u32 blamed;
};

static struct nvdla_job_segment *first_segment(struct nvdla_job *job)
{
	return list_first_entry(&job->segments, struct nvdla_job_segment, link);
}

static struct nvdla_job_segment *last_segment(struct nvdla_job *job)
{
	return list_last_entry(&job->segments, struct nvdla_job_segment, link);
}

static bool writes(const struct nvdla_job *job, u32 region)
{
	const struct nvdla_chain_region *r = &job->kchain->chain.region[region];

	return r->write_start != r->write_end;
}

/* ---- what can fail ---- */

static int copy_jobs(struct submission *s, const struct drm_nvdla_submit *args)
{
	struct drm_nvdla_job job;
	int ret;

	while (s->count < args->job_count) {
		u64 from = args->jobs + (u64)s->count * args->job_stride;

		s->blamed = s->count;
		ret = copy_struct_from_user(&job, sizeof(job), u64_to_user_ptr(from),
					    args->job_stride);
		if (ret)
			return ret;
		s->job[s->count] = nvdla_job_create(s->file, &job);
		if (IS_ERR(s->job[s->count]))
			return PTR_ERR(s->job[s->count]);
		s->count++;
	}
	s->blamed = args->job_count;
	return 0;
}

/* The fences of its in syncobjs; the scheduler takes over the references. */
static int add_in_fences(struct nvdla_job *job)
{
	int ret = 0;

	while (job->in_count && !ret)
		ret = drm_sched_job_add_dependency(&first_segment(job)->base,
						   job->in[--job->in_count]);
	return ret;
}

/*
 * A client's jobs run in order also when its priority changes in between, which changes the queue.
 */
static int add_order(struct nvdla_client *client, struct nvdla_job *job)
{
	if (!client->last || client->last_priority == client->priority)
		return 0;
	return drm_sched_job_add_dependency(&first_segment(job)->base, dma_fence_get(client->last));
}

static int prepare_job(struct submission *s, struct nvdla_job *job)
{
	struct nvdla_client *client = s->client;
	int ret;

	ret = nvdla_budget_claim(&client->budget, job->kchain->chain.banks, &job->claim);
	if (ret)
		return ret;
	ret = nvdla_job_make_segments(job, &client->entity[client->priority]);
	if (ret)
		return ret;
	ret = add_in_fences(job);
	if (ret)
		return ret;
	ret = add_order(client, job);
	if (ret)
		return ret;
	ret = pm_runtime_resume_and_get(job->nvdla->dev);
	if (ret)
		return ret == -ENOMEM ? ret : -EIO;
	job->powered = true;
	return nvdla_sched_alive(job->nvdla);
}

static int prepare_jobs(struct submission *s)
{
	u32 i;
	int ret;

	for (i = 0; i < s->count; i++) {
		ret = prepare_job(s, s->job[i]);
		if (ret) {
			s->blamed = i;
			return ret;
		}
	}
	return 0;
}

/* Room for one fence of each job that reads and one of each that writes. */
static int lock_job(struct submission *s, struct nvdla_job *job)
{
	u32 i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(job->bo); i++) {
		if (!job->bo[i])
			continue;
		ret = drm_exec_prepare_obj(&s->exec, job->bo[i], 2 * s->count);
		if (ret)
			return ret;
	}
	if (!job->result)
		return 0;
	return drm_exec_prepare_obj(&s->exec, &job->result->base, 2 * s->count);
}

static int lock_jobs(struct submission *s)
{
	u32 i;
	int ret;

	drm_exec_until_all_locked(&s->exec) {
		/* What was contended is tried once more. */
		ret = 0;
		for (i = 0; i < s->count && !ret; i++) {
			ret = lock_job(s, s->job[i]);
			drm_exec_retry_on_contention(&s->exec);
		}
		if (ret)
			break;
	}
	return ret;
}

/* Earlier jobs, of whomever, on the same memory. */
static int add_implicit(struct nvdla_job *job)
{
	struct drm_sched_job *first = &first_segment(job)->base;
	u32 i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(job->bo) && !ret; i++)
		if (job->bo[i])
			ret = drm_sched_job_add_implicit_dependencies(first, job->bo[i],
								      writes(job, i));
	if (!ret && job->result)
		ret = drm_sched_job_add_implicit_dependencies(first, &job->result->base, true);
	return ret;
}

static int add_implicits(struct submission *s)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < s->count && !ret; i++)
		ret = add_implicit(s->job[i]);
	return ret;
}

/* ---- what cannot ---- */

static void add_fence(struct nvdla_job *job, struct dma_fence *fence)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(job->bo); i++)
		if (job->bo[i])
			dma_resv_add_fence(job->bo[i]->resv, fence,
					   writes(job, i) ? DMA_RESV_USAGE_WRITE
							  : DMA_RESV_USAGE_READ);
	if (job->result)
		dma_resv_add_fence(job->result->base.resv, fence, DMA_RESV_USAGE_WRITE);
	for (i = 0; i < job->out_count; i++) {
		struct nvdla_job_out *out = &job->out[i];

		if (out->chain)
			drm_syncobj_add_point(out->syncobj, out->chain, fence, out->point);
		else
			drm_syncobj_replace_fence(out->syncobj, fence);
		out->chain = NULL;
	}
}

static void push_job(struct submission *s, struct nvdla_job *job)
{
	struct nvdla_client *client = s->client;
	struct nvdla_job_segment *segment, *next;
	struct dma_fence *fence;

	trace_nvdla_submit(job);
	job->pushed = true;
	list_for_each_entry(segment, &job->segments, link)
		drm_sched_job_arm(&segment->base);
	fence = &last_segment(job)->base.s_fence->finished;
	add_fence(job, fence);
	dma_fence_put(client->last);
	client->last = dma_fence_get(fence);
	client->last_priority = client->priority;
	/* A segment may be gone as soon as it is pushed. */
	list_for_each_entry_safe(segment, next, &job->segments, link) {
		list_del_init(&segment->link);
		atomic_inc(&job->nvdla->sched.segments);
		drm_sched_entity_push_job(&segment->base);
	}
}

static int submit_locked(struct submission *s)
{
	u32 i;
	int ret;

	if (s->client->gone)
		return -ENODEV;
	ret = prepare_jobs(s);
	if (ret)
		return ret;
	drm_exec_init(&s->exec, DRM_EXEC_INTERRUPTIBLE_WAIT | DRM_EXEC_IGNORE_DUPLICATES, 0);
	ret = lock_jobs(s);
	if (!ret)
		ret = add_implicits(s);
	for (i = 0; i < s->count && !ret; i++)
		push_job(s, s->job[i]);
	drm_exec_fini(&s->exec);
	return ret;
}

static void put_jobs(struct submission *s)
{
	while (s->count)
		nvdla_job_put(s->job[--s->count]);
}

static int submit(struct submission *s)
{
	struct drm_device *drm = &s->client->nvdla->drm;
	int ret, index;

	if (!drm_dev_enter(drm, &index))
		return -ENODEV;
	mutex_lock(&s->client->lock);
	ret = submit_locked(s);
	mutex_unlock(&s->client->lock);
	/* Those that were pushed may have ended: while the device is there they can be freed. */
	put_jobs(s);
	drm_dev_exit(index);
	return ret;
}

int nvdla_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_submit *args = data;
	struct submission *s;
	int ret;

	args->failed_job = args->job_count;
	if (args->flags || !args->job_count || args->job_count > NVDLA_MAX_JOBS_PER_SUBMIT ||
	    !args->job_stride || args->job_stride > PAGE_SIZE)
		return -EINVAL;
	s = kzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	s->client = file->driver_priv;
	s->file = file;
	ret = copy_jobs(s, args);
	if (!ret)
		ret = submit(s);
	if (ret)
		args->failed_job = s->blamed;
	put_jobs(s);
	kfree(s);
	return ret;
}
