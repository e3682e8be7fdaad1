/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that are supported.  Kbuild looks into their
 * headers and defines NVDLA_HAVE_*; nothing here or elsewhere asks for a version.
 */
#ifndef NVDLA_COMPAT_H
#define NVDLA_COMPAT_H

#include <linux/dma-fence.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <drm/gpu_scheduler.h>

/* The namespace was a bare word once and is a string now. */
#ifdef NVDLA_HAVE_BARE_NAMESPACE
#define NVDLA_IMPORT_NS(ns) MODULE_IMPORT_NS(ns)
#else
#define NVDLA_IMPORT_NS(ns) MODULE_IMPORT_NS(#ns)
#endif

#ifndef NVDLA_HAVE_COPY_STRUCT_TO_USER
/* A struct that user space knows in another length: cut, or filled with zeros. */
static inline int copy_struct_to_user(void __user *dst, size_t usize, const void *src, size_t ksize,
				      bool *ignored_trailing)
{
	size_t size = min(usize, ksize);

	if (usize > ksize && clear_user(dst + ksize, usize - ksize))
		return -EFAULT;
	if (ignored_trailing)
		*ignored_trailing = memchr_inv(src + size, 0, ksize - size);
	return copy_to_user(dst, src, size) ? -EFAULT : 0;
}
#endif

/* ---- fences ---- */

/*
 * A fence lives as long as somebody keeps it: a sync_file, the reservation of another driver's
 * buffer.  Newer kernels forget its operations when it signals; where they are asked until its end,
 * the module that has them stays.
 */
#ifdef NVDLA_HAVE_FENCE_DETACH
#define NVDLA_COMPAT_FENCE_RELEASE NULL

static inline void nvdla_compat_fence_begin(void)
{
}
#else
#define NVDLA_COMPAT_FENCE_RELEASE nvdla_compat_fence_release

static inline void nvdla_compat_fence_begin(void)
{
	__module_get(THIS_MODULE);
}

static inline void nvdla_compat_fence_release(struct dma_fence *fence)
{
	dma_fence_free(fence);
	module_put(THIS_MODULE);
}
#endif

/* ---- the DRM scheduler ---- */

/* A scheduler with a queue of its own for each priority. */
static inline int nvdla_compat_sched_init(struct drm_gpu_scheduler *sched,
					  const struct drm_sched_backend_ops *ops, u32 credits,
					  long tick, const char *name, struct device *dev)
{
#ifdef NVDLA_HAVE_SCHED_INIT_ARGS
	const struct drm_sched_init_args args = {
		.ops = ops,
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
		.credit_limit = credits,
		.timeout = tick,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#else
	return drm_sched_init(sched, ops, NULL, DRM_SCHED_PRIORITY_COUNT, credits, 0, tick, NULL,
			      NULL, name, dev);
#endif
}

static inline int nvdla_compat_sched_job_init(struct drm_sched_job *job,
					      struct drm_sched_entity *entity, u32 credits,
					      void *owner, u64 client_id)
{
#ifdef NVDLA_HAVE_SCHED_CLIENT_ID
	return drm_sched_job_init(job, entity, credits, owner, client_id);
#else
	return drm_sched_job_init(job, entity, credits, owner);
#endif
}

/*
 * What timedout_job() returns when the scheduler shall keep the job: it runs on, or its fence has
 * signalled and it is freed as usual.  A scheduler that does not put it back into its list is
 * helped.
 */
static inline enum drm_gpu_sched_stat nvdla_compat_sched_keep(struct drm_sched_job *job)
{
#ifdef NVDLA_HAVE_SCHED_STAT_NO_HANG
	return DRM_GPU_SCHED_STAT_NO_HANG;
#else
	struct drm_gpu_scheduler *sched = job->sched;

	spin_lock(&sched->job_list_lock);
	list_add(&job->list, &sched->pending_list);
	spin_unlock(&sched->job_list_lock);
	/* It may have been done while it was not in the list: look for jobs to free once more. */
	queue_work(sched->submit_wq, &sched->work_free_job);
	return DRM_GPU_SCHED_STAT_NOMINAL;
#endif
}

#endif /* NVDLA_COMPAT_H */
