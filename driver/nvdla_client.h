/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client: one open file of the device, what it owns and what it may have.
 */
#ifndef NVDLA_CLIENT_H
#define NVDLA_CLIENT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/xarray.h>

#include <drm/gpu_scheduler.h>
#include <drm/nvdla_accel.h>

#include "nvdla_budget.h"

struct drm_device;
struct drm_file;
struct nvdla_device;

/* What one client may have: DRM_NVDLA_QUERY_LIMITS. */
#define NVDLA_MAX_PINNED_BYTES SZ_256M
#define NVDLA_MAX_CHAIN_BYTES SZ_128M
#define NVDLA_MAX_CHAINS 1024
#define NVDLA_MAX_JOBS 256
#define NVDLA_MAX_JOBS_PER_SUBMIT 64
#define NVDLA_MAX_SYNCS_PER_JOB 16
#define NVDLA_TIMEOUT_MS 10000
/* Each segment that waits takes kernel memory: as many as one chain of the format may have. */
#define NVDLA_MAX_SEGMENTS 65536

#define NVDLA_PRIORITIES (DRM_NVDLA_PRIORITY_HIGH + 1)

/**
 * struct nvdla_client - one open file
 * @ref: of the file, and of what outlives it: buffers, chains and jobs
 * @nvdla: device
 * @id: of the DRM file, as fdinfo tells it
 * @pid: process that opened the file
 * @node: in the scheduler's list of open files
 * @budget: reservation and claims
 * @pinned: bytes of its buffers
 * @bo_bytes: the largest buffer that it is likely to get in one piece; see &nvdla_gem.lock
 * @chains: its chains, by handle
 * @chain_bytes: of its chains, also of those that only jobs still have
 * @lock: protects what follows up to @last, and makes its submissions one after the other
 * @entity: queues of its segments, by enum drm_nvdla_priority
 * @priority: of jobs from now on
 * @gone: the device went away: the entities are no more
 * @last: fence of the job that was submitted last
 * @last_priority: and its priority
 * @jobs: submitted and not done
 * @segments: of these
 * @tasks: done
 * @busy_ns: sum of the times that its tasks had the NPU
 */
struct nvdla_client {
	struct kref ref;
	struct nvdla_device *nvdla;
	u64 id;
	pid_t pid;
	struct list_head node;
	struct nvdla_budget_client budget;
	atomic64_t pinned;
	u64 bo_bytes;
	struct xarray chains;
	atomic64_t chain_bytes;
	struct mutex lock; /* makes submissions one after the other */
	struct drm_sched_entity entity[NVDLA_PRIORITIES];
	u32 priority;
	bool gone;
	struct dma_fence *last;
	u32 last_priority;
	atomic_t jobs;
	atomic_t segments;
	atomic64_t tasks;
	atomic64_t busy_ns;
};

/* For struct drm_driver. */
int nvdla_client_open(struct drm_device *drm, struct drm_file *file);
void nvdla_client_close(struct drm_device *drm, struct drm_file *file);

/**
 * nvdla_client_charge() - a client wants to pin memory
 *
 * On success a reference to the client is taken, until nvdla_client_uncharge().
 *
 * Return: 0; -EDQUOT: over NVDLA_MAX_PINNED_BYTES.
 */
int nvdla_client_charge(struct nvdla_client *client, u64 bytes);
void nvdla_client_uncharge(struct nvdla_client *client, u64 bytes);

struct nvdla_client *nvdla_client_get(struct nvdla_client *client);
void nvdla_client_put(struct nvdla_client *client);

/* The device goes: no segment of this client waits any more afterwards. */
void nvdla_client_stop(struct nvdla_client *client);

#endif /* NVDLA_CLIENT_H */
