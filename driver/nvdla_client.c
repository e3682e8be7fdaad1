// SPDX-License-Identifier: GPL-2.0-only
#include <linux/capability.h>
#include <linux/dma-fence.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "nvdla_client.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_kchain.h"

static const enum drm_sched_priority sched_priority[NVDLA_PRIORITIES] = {
	[DRM_NVDLA_PRIORITY_LOW] = DRM_SCHED_PRIORITY_LOW,
	[DRM_NVDLA_PRIORITY_NORMAL] = DRM_SCHED_PRIORITY_NORMAL,
	[DRM_NVDLA_PRIORITY_HIGH] = DRM_SCHED_PRIORITY_HIGH,
};

static void client_release(struct kref *ref)
{
	struct nvdla_client *client = container_of(ref, struct nvdla_client, ref);

	mutex_destroy(&client->lock);
	kfree(client);
}

struct nvdla_client *nvdla_client_get(struct nvdla_client *client)
{
	kref_get(&client->ref);
	return client;
}

void nvdla_client_put(struct nvdla_client *client)
{
	kref_put(&client->ref, client_release);
}

int nvdla_client_charge(struct nvdla_client *client, u64 bytes)
{
	if (bytes > NVDLA_MAX_PINNED_BYTES)
		return -EDQUOT;
	if (atomic64_add_return(bytes, &client->pinned) > NVDLA_MAX_PINNED_BYTES) {
		atomic64_sub(bytes, &client->pinned);
		return -EDQUOT;
	}
	nvdla_client_get(client);
	return 0;
}

void nvdla_client_uncharge(struct nvdla_client *client, u64 bytes)
{
	atomic64_sub(bytes, &client->pinned);
	nvdla_client_put(client);
}

/**
 * struct nvdla_entities_end - the end of a client's entities
 * @work: on the scheduler's queue
 * @client: whose
 * @count: of them
 */
struct nvdla_entities_end {
	struct work_struct work;
	struct nvdla_client *client;
	u32 count;
};

static void end_entities_work(struct work_struct *work)
{
	struct nvdla_entities_end *end = container_of(work, struct nvdla_entities_end, work);

	while (end->count)
		drm_sched_entity_fini(&end->client->entity[--end->count]);
}

/*
 * Segments that wait are killed, with -ESRCH; those that the NPU has go on.
 *
 * The scheduler puts an entity that it has just taken a segment from back into its run queue,
 * ended or not, and would find it there when the client is no more.  On its own queue, which does
 * one thing at a time, the end comes before or after that.
 */
static void end_entities(struct nvdla_client *client, u32 count)
{
	struct nvdla_entities_end end = { .client = client, .count = count };

	INIT_WORK_ONSTACK(&end.work, end_entities_work);
	queue_work(client->nvdla->sched.base.submit_wq, &end.work);
	flush_work(&end.work);
	destroy_work_on_stack(&end.work);
}

static int begin_entities(struct nvdla_client *client)
{
	struct drm_gpu_scheduler *sched = &client->nvdla->sched.base;
	int ret;
	u32 i;

	for (i = 0; i < NVDLA_PRIORITIES; i++) {
		ret = drm_sched_entity_init(&client->entity[i], sched_priority[i], &sched, 1, NULL);
		if (ret) {
			end_entities(client, i);
			return ret;
		}
	}
	return 0;
}

static int begin(struct nvdla_client *client)
{
	struct nvdla_device *nvdla = client->nvdla;
	int ret, index;

	/* The scheduler stays until this is over, and finds the client then. */
	if (!drm_dev_enter(&nvdla->drm, &index))
		return -ENODEV;
	ret = nvdla_budget_client_init(nvdla, &client->budget);
	if (ret)
		goto exit;
	ret = begin_entities(client);
	if (ret)
		nvdla_budget_client_fini(&client->budget);
	else
		nvdla_sched_add_client(nvdla, client);
exit:
	drm_dev_exit(index);
	return ret;
}

int nvdla_client_open(struct drm_device *drm, struct drm_file *file)
{
	struct nvdla_device *nvdla = to_nvdla(drm);
	struct nvdla_client *client;
	int ret;

	client = kzalloc(sizeof(*client), GFP_KERNEL);
	if (!client)
		return -ENOMEM;
	kref_init(&client->ref);
	client->nvdla = nvdla;
	client->id = file->client_id;
	client->pid = task_tgid_nr(current);
	client->bo_bytes = nvdla_gem_advice(nvdla);
	client->priority = DRM_NVDLA_PRIORITY_NORMAL;
	xa_init_flags(&client->chains, XA_FLAGS_ALLOC1);
	mutex_init(&client->lock);
	ret = begin(client);
	if (ret)
		nvdla_client_put(client);
	else
		file->driver_priv = client;
	return ret;
}

void nvdla_client_stop(struct nvdla_client *client)
{
	mutex_lock(&client->lock);
	if (!client->gone)
		end_entities(client, NVDLA_PRIORITIES);
	client->gone = true;
	dma_fence_put(client->last);
	client->last = NULL;
	mutex_unlock(&client->lock);
}

void nvdla_client_close(struct drm_device *drm, struct drm_file *file)
{
	struct nvdla_client *client = file->driver_priv;

	nvdla_client_stop(client);
	nvdla_sched_del_client(client->nvdla, client);
	nvdla_kchain_drop_all(client);
	nvdla_budget_client_fini(&client->budget);
	file->driver_priv = NULL;
	nvdla_client_put(client);
}

static int set_priority(struct nvdla_client *client, u64 priority)
{
	if (priority >= NVDLA_PRIORITIES)
		return -EINVAL;
	if (priority == DRM_NVDLA_PRIORITY_HIGH && !capable(CAP_SYS_NICE))
		return -EACCES;
	mutex_lock(&client->lock);
	client->priority = priority;
	mutex_unlock(&client->lock);
	return 0;
}

int nvdla_ioctl_context(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_client *client = file->driver_priv;
	struct drm_nvdla_context *args = data;

	if (args->param != DRM_NVDLA_CONTEXT_PRIORITY)
		return -EINVAL;
	switch (args->op) {
	case DRM_NVDLA_CONTEXT_GET:
		args->value = READ_ONCE(client->priority);
		return 0;
	case DRM_NVDLA_CONTEXT_SET:
		return set_priority(client, args->value);
	default:
		return -EINVAL;
	}
}
