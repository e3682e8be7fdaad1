// SPDX-License-Identifier: GPL-2.0-only
#include <linux/dma-fence-chain.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_syncobj.h>

#include "nvdla_client.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_gem.h"
#include "nvdla_job.h"
#include "nvdla_kchain.h"
#include "nvdla_trace.h"

/* ---- end of a job ---- */

static void write_result(struct nvdla_job *job)
{
	if (!job->result)
		return;
	memcpy(job->result->vaddr + job->result_offset, &job->stat, sizeof(job->stat));
	/* It may be write-combined memory, and who reads it waits for the fence only. */
	wmb();
}

static void uncount(struct nvdla_job *job)
{
	if (!job->counted)
		return;
	job->counted = false;
	atomic_sub(job->segment_count, &job->client->segments);
	atomic_dec(&job->client->jobs);
}

void nvdla_job_finish(struct nvdla_job *job)
{
	if (job->finished)
		return;
	job->finished = true;
	job->stat.error = job->error;
	/* What has run to its end ended before the next job began, which is some time ago. */
	if (job->error)
		job->stat.end_ns = ktime_get_ns();
	write_result(job);
	trace_nvdla_job_done(job);
	nvdla_budget_release(&job->claim);
	atomic64_inc(&job->nvdla->stats.jobs);
	uncount(job);
}

static void drop_out(struct nvdla_job_out *out)
{
	dma_fence_chain_free(out->chain);
	if (out->syncobj)
		drm_syncobj_put(out->syncobj);
}

static void job_free(struct nvdla_job *job)
{
	u32 i;

	nvdla_budget_release(&job->claim);
	uncount(job);
	for (i = 0; i < ARRAY_SIZE(job->bo); i++)
		drm_gem_object_put(job->bo[i]);
	if (job->result)
		drm_gem_object_put(&job->result->base);
	for (i = 0; i < job->in_count; i++)
		dma_fence_put(job->in[i]);
	kfree(job->in);
	for (i = 0; i < job->out_count; i++)
		drop_out(&job->out[i]);
	kfree(job->out);
	if (job->kchain)
		nvdla_kchain_put(job->kchain);
	if (job->powered) {
		pm_runtime_mark_last_busy(job->nvdla->dev);
		pm_runtime_put_autosuspend(job->nvdla->dev);
	}
	nvdla_client_put(job->client);
	kfree(job);
}

static void job_free_work(struct work_struct *work)
{
	job_free(container_of(work, struct nvdla_job, release));
}

/*
 * The last segment is freed where others wait to run.  Freeing an imported buffer takes the lock
 * of its reservation, and who holds that may wait for these jobs.
 */
static void job_release(struct kref *ref)
{
	struct nvdla_job *job = container_of(ref, struct nvdla_job, ref);

	if (job->pushed)
		queue_work(job->nvdla->sched.release_wq, &job->release);
	else
		job_free(job);
}

void nvdla_job_put(struct nvdla_job *job)
{
	struct nvdla_job_segment *segment, *next;

	/* Those that were not pushed have no other owner. */
	list_for_each_entry_safe(segment, next, &job->segments, link)
		nvdla_job_segment_free(segment);
	kref_put(&job->ref, job_release);
}

/* ---- segments ---- */

bool nvdla_job_segment_is_last(const struct nvdla_job_segment *segment)
{
	return segment->hw.first + segment->hw.count == segment->hw.chain->task_count;
}

void nvdla_job_segment_free(struct nvdla_job_segment *segment)
{
	struct nvdla_job *job = segment->job;

	list_del_init(&segment->link);
	drm_sched_job_cleanup(&segment->base);
	if (segment->armed)
		dma_fence_put(&segment->fence);
	else
		kfree(segment);
	kref_put(&job->ref, job_release);
}

static int make_segment(struct nvdla_job *job, struct drm_sched_entity *entity, u32 first)
{
	u32 tasks = nvdla_chain_segment(&job->kchain->chain, first);
	struct nvdla_job_segment *segment;
	int ret;

	/* dma_fence_free() frees what begins with the fence. */
	BUILD_BUG_ON(offsetof(struct nvdla_job_segment, fence));

	segment = kzalloc(sizeof(*segment), GFP_KERNEL_ACCOUNT);
	if (!segment)
		return -ENOMEM;
	ret = nvdla_compat_sched_job_init(&segment->base, entity, min(tasks, NVDLA_SCHED_CREDITS),
					  job->nvdla, job->client->id);
	if (ret) {
		kfree(segment);
		return ret;
	}
	spin_lock_init(&segment->fence_lock);
	kref_get(&job->ref);
	segment->job = job;
	segment->hw = (struct nvdla_segment){
		.chain = &job->kchain->chain,
		.region_base = job->region_base,
		.run = job->run,
		.first = first,
		.count = tasks,
		.serial = job->serial,
		.owner = segment,
	};
	list_add_tail(&segment->link, &job->segments);
	return 0;
}

static int count(struct nvdla_job *job)
{
	struct nvdla_client *client = job->client;
	int jobs = atomic_inc_return(&client->jobs);
	int segments = atomic_add_return(job->segment_count, &client->segments);

	job->counted = true;
	return jobs > NVDLA_MAX_JOBS || segments > NVDLA_MAX_SEGMENTS ? -EDQUOT : 0;
}

int nvdla_job_make_segments(struct nvdla_job *job, struct drm_sched_entity *entity)
{
	u32 task = 0;
	int ret;

	ret = count(job);
	while (!ret && task < job->kchain->chain.task_count) {
		ret = make_segment(job, entity, task);
		if (!ret)
			task += list_last_entry(&job->segments, struct nvdla_job_segment, link)
					->hw.count;
	}
	return ret;
}

/* ---- what user space says ---- */

static int check_args(const struct drm_nvdla_job *args)
{
	if (args->flags || args->pad || args->timeout_ms > NVDLA_TIMEOUT_MS)
		return -EINVAL;
	if (args->in_sync_count > NVDLA_MAX_SYNCS_PER_JOB ||
	    args->out_sync_count > NVDLA_MAX_SYNCS_PER_JOB)
		return -EINVAL;
	if ((args->in_sync_count || args->out_sync_count) &&
	    (!args->sync_stride || args->sync_stride > PAGE_SIZE))
		return -EINVAL;
	if (!args->binding_stride || args->binding_stride > PAGE_SIZE)
		return -EINVAL;
	return 0;
}

/* Element @index of an array of structs that user space may know in another length. */
static int copy_element(void *dst, size_t size, u64 array, u32 index, u32 stride)
{
	return copy_struct_from_user(dst, size, u64_to_user_ptr(array + (u64)index * stride),
				     stride);
}

static int bind_region(struct nvdla_job *job, struct drm_file *file, u32 index,
		       const struct drm_nvdla_binding *binding)
{
	const struct nvdla_chain_region *r = &job->kchain->chain.region[index];
	struct drm_gem_object *obj;
	u64 end;

	if (binding->pad)
		return -EINVAL;
	if (!r->ports)
		return binding->handle || binding->offset || binding->size ? -EINVAL : 0;
	if (!binding->handle)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, binding->handle);
	if (!obj)
		return -ENOENT;
	job->bo[index] = obj;
	if (check_add_overflow(binding->offset, binding->size, &end) || end > obj->size ||
	    binding->size < max(r->read_end, r->write_end))
		return -EINVAL;
	job->region_base[index] = to_nvdla_bo(obj)->dma_addr + binding->offset;
	return 0;
}

static int bind_regions(struct nvdla_job *job, struct drm_file *file,
			const struct drm_nvdla_job *args)
{
	struct drm_nvdla_binding binding;
	int ret = 0;
	u32 i;

	if (args->binding_count != job->kchain->chain.region_count)
		return -EINVAL;
	for (i = 0; i < args->binding_count && !ret; i++) {
		ret = copy_element(&binding, sizeof(binding), args->bindings, i,
				   args->binding_stride);
		if (!ret)
			ret = bind_region(job, file, i, &binding);
	}
	if (ret)
		return ret;
	return nvdla_chain_bind(&job->kchain->chain, job->region_base, &job->serial);
}

static int bind_result(struct nvdla_job *job, struct drm_file *file,
		       const struct drm_nvdla_job *args)
{
	struct drm_gem_object *obj;
	u64 end;

	if (!args->result)
		return args->result_offset ? -EINVAL : 0;
	obj = drm_gem_object_lookup(file, args->result);
	if (!obj)
		return -ENOENT;
	job->result = to_nvdla_bo(obj);
	job->result_offset = args->result_offset;
	if (!job->result->vaddr || job->result->flags & DRM_NVDLA_BO_CACHED ||
	    args->result_offset % sizeof(u64) ||
	    check_add_overflow(args->result_offset, sizeof(job->stat), &end) || end > obj->size)
		return -EINVAL;
	return 0;
}

static int copy_sync(struct drm_nvdla_sync *sync, u64 array, u32 index,
		     const struct drm_nvdla_job *args)
{
	int ret = copy_element(sync, sizeof(*sync), array, index, args->sync_stride);

	if (ret)
		return ret;
	if (sync->flags & ~DRM_NVDLA_SYNC_TIMELINE ||
	    (!(sync->flags & DRM_NVDLA_SYNC_TIMELINE) && sync->point))
		return -EINVAL;
	return 0;
}

static int find_in_syncs(struct nvdla_job *job, struct drm_file *file,
			 const struct drm_nvdla_job *args)
{
	struct drm_nvdla_sync sync;
	int ret;

	if (!args->in_sync_count)
		return 0;
	job->in = kcalloc(args->in_sync_count, sizeof(*job->in), GFP_KERNEL_ACCOUNT);
	if (!job->in)
		return -ENOMEM;
	while (job->in_count < args->in_sync_count) {
		ret = copy_sync(&sync, args->in_syncs, job->in_count, args);
		if (!ret)
			ret = drm_syncobj_find_fence(file, sync.handle, sync.point, 0,
						     &job->in[job->in_count]);
		if (ret)
			return ret;
		job->in_count++;
	}
	return 0;
}

static int find_out_sync(struct nvdla_job_out *out, struct drm_file *file,
			 const struct drm_nvdla_sync *sync)
{
	out->syncobj = drm_syncobj_find(file, sync->handle);
	if (!out->syncobj)
		return -ENOENT;
	out->point = sync->point;
	if (!sync->point)
		return 0;
	out->chain = dma_fence_chain_alloc();
	return out->chain ? 0 : -ENOMEM;
}

static int find_out_syncs(struct nvdla_job *job, struct drm_file *file,
			  const struct drm_nvdla_job *args)
{
	struct drm_nvdla_sync sync;
	int ret;

	if (!args->out_sync_count)
		return 0;
	job->out = kcalloc(args->out_sync_count, sizeof(*job->out), GFP_KERNEL_ACCOUNT);
	if (!job->out)
		return -ENOMEM;
	while (job->out_count < args->out_sync_count) {
		ret = copy_sync(&sync, args->out_syncs, job->out_count, args);
		if (!ret)
			ret = find_out_sync(&job->out[job->out_count++], file, &sync);
		if (ret)
			return ret;
	}
	return 0;
}

static int job_fill(struct nvdla_job *job, struct drm_file *file, const struct drm_nvdla_job *args)
{
	int ret = check_args(args);

	if (ret)
		return ret;
	job->timeout = msecs_to_jiffies(args->timeout_ms ?: NVDLA_TIMEOUT_MS);
	job->kchain = nvdla_kchain_find(job->client, args->chain);
	if (!job->kchain)
		return -ENOENT;
	job->segment_count = job->kchain->segments;
	ret = bind_regions(job, file, args);
	if (!ret)
		ret = bind_result(job, file, args);
	if (!ret)
		ret = find_in_syncs(job, file, args);
	if (!ret)
		ret = find_out_syncs(job, file, args);
	return ret;
}

struct nvdla_job *nvdla_job_create(struct drm_file *file, const struct drm_nvdla_job *args)
{
	struct nvdla_client *client = file->driver_priv;
	struct nvdla_job *job;
	int ret;

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);
	kref_init(&job->ref);
	INIT_LIST_HEAD(&job->segments);
	INIT_WORK(&job->release, job_free_work);
	job->nvdla = client->nvdla;
	job->client = nvdla_client_get(client);
	job->run = nvdla_sched_new_run(job->nvdla);
	ret = job_fill(job, file, args);
	if (ret) {
		nvdla_job_put(job);
		return ERR_PTR(ret);
	}
	return job;
}
