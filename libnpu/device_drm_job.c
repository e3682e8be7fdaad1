// SPDX-License-Identifier: MIT
/*
 * Chains on a real NPU: the kernel copies and validates them, and runs them with
 * buffers bound to their regions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <xf86drm.h>

#include "device_drm.h"
#include "nvdla_chain.h"

#define RESULT_STRIDE 64 /* bytes from one slot's result to the next: a cache line each */

struct drm_chain {
	struct npu_chain base;
	u32 handle;
	u32 region_count;
	struct drm_nvdla_chain_region region[NVDLA_CHAIN_MAX_REGIONS];
};

static struct drm_chain *to_chain(struct npu_chain *chain)
{
	return (struct drm_chain *)chain;
}

/* ---- chains ---- */

static int refused(struct npu_device *device, int err, const char *message)
{
	if (message[0])
		return npu_fail(err, "%s: chain refused: %s", device->name, message);
	if (err == -EDQUOT)
		return npu_fail(err, "%s: this process has more chains than the kernel allows",
				device->name);
	return npu_fail(err, "%s: chain refused: %s", device->name, strerror(-err));
}

int npu_drm_chain_create(struct npu_device *device, const void *stream, size_t bytes,
			 struct npu_chain **out)
{
	struct drm_chain *chain = calloc(1, sizeof(*chain));
	char message[256] = "";
	struct drm_nvdla_chain_create create = {
		.stream = (uintptr_t)stream,
		.size = (u32)bytes,
		.region_count = NVDLA_CHAIN_MAX_REGIONS,
		.region_stride = sizeof(chain->region[0]),
		.message = (uintptr_t)message,
		.message_size = sizeof(message),
	};
	int err;

	if (!chain)
		return npu_fail(-ENOMEM, "%s: out of memory", device->name);
	if (bytes > NVDLA_CHAIN_MAX_BYTES) {
		free(chain);
		return npu_fail(-E2BIG, "%s: a chain of %zu bytes is too large", device->name,
				bytes);
	}
	create.regions = (uintptr_t)chain->region;
	err = npu_drm_call(to_npu_drm(device), DRM_IOCTL_NVDLA_CHAIN_CREATE, &create);
	if (err) {
		message[sizeof(message) - 1] = '\0';
		free(chain);
		return refused(device, err, message);
	}
	chain->handle = create.handle;
	chain->region_count = min(create.region_count, (u32)NVDLA_CHAIN_MAX_REGIONS);
	chain->base.banks = create.banks;
	chain->base.tasks = create.tasks;
	*out = &chain->base;
	return 0;
}

void npu_drm_chain_destroy(struct npu_device *device, struct npu_chain *base)
{
	struct drm_chain *chain = to_chain(base);
	struct drm_nvdla_chain_destroy destroy;

	if (!chain)
		return;
	destroy = (struct drm_nvdla_chain_destroy){ .handle = chain->handle };
	npu_drm_call(to_npu_drm(device), DRM_IOCTL_NVDLA_CHAIN_DESTROY, &destroy);
	free(chain);
}

/* ---- slots ---- */

static int make_results(struct npu_drm *drm)
{
	if (drm->results.data)
		return 0;
	return drm->base.ops->buffer_create(&drm->base, NPU_DRM_SLOTS * RESULT_STRIDE,
					    NPU_BUFFER_STREAMED, &drm->results);
}

static int make_syncobj(struct npu_drm *drm, struct npu_drm_slot *slot)
{
	int err;

	if (slot->syncobj || drmSyncobjCreate(drm->fd, 0, &slot->syncobj) == 0)
		return 0;
	err = -errno;
	return npu_fail(err, "%s: cannot make a syncobj: %s", drm->base.name, strerror(-err));
}

/* With the lock held: as many free slots as there are wanted, or a number that is too small. */
static u32 find_slots(struct npu_drm *drm, struct npu_drm_slot **slot, u32 wanted)
{
	u32 i, found = 0;

	for (i = 0; i < NPU_DRM_SLOTS && found < wanted; i++)
		if (!drm->slot[i].busy)
			slot[found++] = &drm->slot[i];
	return found;
}

static void mark_slots(struct npu_drm_slot **slot, u32 count, bool busy)
{
	u32 i;

	for (i = 0; i < count; i++)
		slot[i]->busy = busy;
}

/* Takes @count slots, and waits for them where more jobs than slots are on their way. */
static int take_slots(struct npu_drm *drm, struct npu_drm_slot **slot, u32 count)
{
	u32 i;
	int err;

	pthread_mutex_lock(&drm->turn);
	pthread_mutex_lock(&drm->lock);
	while (find_slots(drm, slot, count) < count)
		pthread_cond_wait(&drm->slot_free, &drm->lock);
	err = make_results(drm);
	for (i = 0; i < count && !err; i++)
		err = make_syncobj(drm, slot[i]);
	if (!err)
		mark_slots(slot, count, true);
	pthread_mutex_unlock(&drm->lock);
	pthread_mutex_unlock(&drm->turn);
	return err;
}

static void give_slots(struct npu_drm *drm, struct npu_drm_slot **slot, u32 count)
{
	pthread_mutex_lock(&drm->lock);
	mark_slots(slot, count, false);
	pthread_cond_signal(&drm->slot_free);
	pthread_mutex_unlock(&drm->lock);
}

static u32 result_offset(const struct npu_drm *drm, const struct npu_drm_slot *slot)
{
	return (u32)(slot - drm->slot) * RESULT_STRIDE;
}

static volatile struct drm_nvdla_job_result *slot_result(struct npu_drm *drm,
							 const struct npu_drm_slot *slot)
{
	return (void *)((u8 *)drm->results.data + result_offset(drm, slot));
}

void npu_drm_free_slots(struct npu_drm *drm)
{
	u32 i;

	for (i = 0; i < NPU_DRM_SLOTS; i++)
		if (drm->slot[i].syncobj)
			drmSyncobjDestroy(drm->fd, drm->slot[i].syncobj);
	if (drm->results.data)
		drm->base.ops->buffer_destroy(&drm->base, &drm->results);
}

/* ---- caches ---- */

static int sync_range(struct npu_drm *drm, const struct npu_buffer *buffer, u32 direction,
		      u64 start, u64 end)
{
	struct drm_nvdla_bo_sync sync = {
		.handle = buffer->handle,
		.flags = direction,
		.offset = start,
		.size = end - start,
	};
	int err;

	if (!buffer->cached || end <= start)
		return 0;
	err = npu_drm_call(drm, DRM_IOCTL_NVDLA_BO_SYNC, &sync);
	return err ? npu_fail(err, "%s: cannot synchronise a buffer: %s", drm->base.name,
			      strerror(-err))
		   : 0;
}

/*
 * Before the chain: what it reads has to be in memory, and where it writes no line of the CPU's cache
 * may be written back later.  One call for both: what lies in between does no harm.
 */
static int sync_for_device(struct npu_drm *drm, const struct drm_chain *chain,
			   const struct npu_buffer *region)
{
	u32 i;
	int err = 0;

	for (i = 0; i < chain->region_count && !err; i++) {
		const struct drm_nvdla_chain_region *r = &chain->region[i];
		u64 start = r->read_end ? r->read_start : r->write_start;

		if (r->write_end)
			start = min(start, r->write_start);
		err = sync_range(drm, &region[i], DRM_NVDLA_BO_SYNC_FOR_DEVICE, start,
				 max(r->read_end, r->write_end));
	}
	return err;
}

static int sync_for_cpu(struct npu_drm *drm, const struct drm_chain *chain,
			const struct npu_buffer *region)
{
	u32 i;
	int err = 0;

	for (i = 0; i < chain->region_count && !err; i++)
		err = sync_range(drm, &region[i], DRM_NVDLA_BO_SYNC_FOR_CPU,
				 chain->region[i].write_start, chain->region[i].write_end);
	return err;
}

/* ---- submission ---- */

/**
 * struct batch - what a submission consists of
 * @slot: of each job
 * @binding, @bindings: of all jobs, one behind the other; @bindings of them
 */
struct batch {
	struct npu_drm *drm;
	struct npu_submission *submission;
	struct npu_drm_slot *slot[NPU_MAX_JOBS];
	struct drm_nvdla_sync done[NPU_MAX_JOBS];
	struct drm_nvdla_job job[NPU_MAX_JOBS];
	struct drm_nvdla_binding binding[NPU_MAX_BINDINGS];
	u32 bindings;
};

static struct drm_chain *batch_chain(const struct batch *batch, u32 i)
{
	return to_chain(batch->submission->job[i].chain);
}

static int bind_regions(struct npu_drm *drm, const struct npu_device_job *from,
			struct drm_nvdla_binding *binding)
{
	const struct drm_chain *chain = to_chain(from->chain);
	const struct npu_buffer *region = from->region;
	u32 i;

	if (chain->region_count > from->region_count)
		return npu_fail(-EINVAL, "%s: the chain has %u regions, %u are bound",
				drm->base.name, chain->region_count, from->region_count);
	for (i = 0; i < chain->region_count; i++) {
		binding[i] = (struct drm_nvdla_binding){ 0 };
		if (!chain->region[i].size)
			continue;
		if (chain->region[i].size > region[i].bytes)
			return npu_fail(-EINVAL,
					"%s: region %u has %zu bytes, the chain needs %llu",
					drm->base.name, i, region[i].bytes,
					(unsigned long long)chain->region[i].size);
		binding[i].handle = region[i].handle;
		binding[i].size = region[i].bytes;
	}
	return 0;
}

static int prepare_job(struct batch *batch, u32 i)
{
	const struct npu_device_job *from = &batch->submission->job[i];
	struct drm_nvdla_binding *binding = &batch->binding[batch->bindings];
	const struct drm_chain *chain = to_chain(from->chain);
	const struct npu_drm_slot *slot = batch->slot[i];
	int err = bind_regions(batch->drm, from, binding);

	if (err)
		return err;
	/* Stays where the kernel, against its word, writes no result. */
	slot_result(batch->drm, slot)->error = -EPROTO;
	batch->bindings += chain->region_count;
	batch->done[i] = (struct drm_nvdla_sync){ .handle = slot->syncobj };
	batch->job[i] = (struct drm_nvdla_job){
		.chain = chain->handle,
		.bindings = (uintptr_t)binding,
		.binding_count = chain->region_count,
		.binding_stride = sizeof(*binding),
		.out_syncs = (uintptr_t)&batch->done[i],
		.out_sync_count = 1,
		.sync_stride = sizeof(batch->done[i]),
		.result = batch->drm->results.handle,
		.result_offset = result_offset(batch->drm, slot),
	};
	return sync_for_device(batch->drm, chain, from->region);
}

static int prepare_jobs(struct batch *batch)
{
	u32 i;
	int err = 0;

	for (i = 0; i < batch->submission->count && !err; i++) {
		err = prepare_job(batch, i);
		if (err)
			batch->submission->failed = i;
	}
	return err;
}

static int submit_failed(const struct batch *batch, int err)
{
	const char *name = batch->drm->base.name;
	u32 blamed = min(batch->submission->failed, batch->submission->count - 1);

	switch (err) {
	case -ENOSPC:
		return npu_fail(err, "%s: the chain needs %u banks, fewer are available", name,
				batch->submission->job[blamed].chain->banks);
	case -EDQUOT:
		return npu_fail(err, "%s: this process has more jobs queued than the kernel allows",
				name);
	case -EIO:
		return npu_fail(err, "%s: the NPU is dead: a reset has failed, see dmesg", name);
	case -ENODEV:
		return npu_fail(err, "%s: the NPU is gone", name);
	default:
		return npu_fail(err, "%s: cannot submit: %s", name, strerror(-err));
	}
}

static int submit_jobs(struct batch *batch)
{
	struct drm_nvdla_submit submit = {
		.jobs = (uintptr_t)batch->job,
		.job_count = batch->submission->count,
		.job_stride = sizeof(batch->job[0]),
	};
	struct npu_drm *drm = batch->drm;
	int err;

	pthread_mutex_lock(&drm->lock);
	/* A wish of the thread that the kernel does not grant is none. */
	if (npu_drm_tell_priority(drm, npu_thread_priority(drm->priority)))
		npu_drm_tell_priority(drm, drm->priority);
	err = npu_drm_call(drm, DRM_IOCTL_NVDLA_SUBMIT, &submit);
	pthread_mutex_unlock(&drm->lock);
	if (!err)
		return 0;
	batch->submission->failed = min(submit.failed_job, submit.job_count);
	return submit_failed(batch, err);
}

/* Are fewer banks there now than the chain needs?  Banks that fail take running jobs with them. */
static bool banks_were_lost(struct npu_drm *drm, const struct drm_chain *chain)
{
	struct npu_device_budget budget = { 0 };

	return drm->base.ops->budget(&drm->base, &budget) == 0 &&
	       budget.banks_available < chain->base.banks;
}

static int job_failed(struct npu_drm *drm, const struct drm_chain *chain, int err, u32 task)
{
	const char *name = drm->base.name;

	switch (err) {
	case -ETIMEDOUT:
		return npu_fail(-EIO,
				"%s: task %u of the chain hangs; /sys/class/devcoredump has the "
				"NPU's registers",
				name, task);
	case -ENODEV:
		return npu_fail(err, "%s: the NPU is gone", name);
	case -EIO:
		if (banks_were_lost(drm, chain))
			return npu_fail(
				-ENOSPC,
				"%s: the NPU lost banks while the chain, which needs %u, ran", name,
				chain->base.banks);
		/* fall through */
	default:
		return npu_fail(-EIO, "%s: the NPU failed at task %u of the chain: %s", name, task,
				strerror(-err));
	}
}

/* The kernel ends each job: with a time-out where nothing else does. */
static int wait_jobs(struct batch *batch)
{
	u32 handle[NPU_MAX_JOBS], i;
	int err;

	for (i = 0; i < batch->submission->count; i++)
		handle[i] = batch->slot[i]->syncobj;
	err = drmSyncobjWait(batch->drm->fd, handle, batch->submission->count, INT64_MAX,
			     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, NULL);
	return err < 0 ? npu_fail(err, "%s: cannot wait for a job: %s", batch->drm->base.name,
				  strerror(-err))
		       : 0;
}

static int end_job(struct batch *batch, u32 i)
{
	const struct drm_chain *chain = batch_chain(batch, i);
	struct npu_device_job *job = &batch->submission->job[i];
	volatile struct drm_nvdla_job_result *result = slot_result(batch->drm, batch->slot[i]);

	if (result->error)
		return job_failed(batch->drm, chain, result->error, result->tasks);
	/* Where the device went meanwhile, its memory did too, and reads as zeros. */
	if (result->tasks != chain->base.tasks)
		return job_failed(batch->drm, chain, -ENODEV, result->tasks);
	job->stats.start_ns = result->start_ns;
	job->stats.end_ns = result->end_ns;
	job->stats.busy_ns = result->busy_ns;
	job->stats.register_writes = result->register_writes;
	return sync_for_cpu(batch->drm, chain, job->region);
}

/* Up to one that failed. */
static int end_jobs(struct batch *batch)
{
	struct npu_submission *submission = batch->submission;
	int err = 0;

	while (!err && submission->done < submission->count) {
		err = end_job(batch, submission->done);
		if (err)
			submission->failed = submission->done;
		else
			submission->done++;
	}
	return err;
}

static int run_batch(struct batch *batch)
{
	int err = prepare_jobs(batch);

	if (!err)
		err = submit_jobs(batch);
	if (!err)
		err = wait_jobs(batch);
	return err ? err : end_jobs(batch);
}

int npu_drm_submit(struct npu_device *device, struct npu_submission *submission)
{
	struct batch batch;
	int err;

	submission->done = 0;
	submission->failed = submission->count;
	batch.drm = to_npu_drm(device);
	batch.submission = submission;
	batch.bindings = 0;
	err = take_slots(batch.drm, batch.slot, submission->count);
	if (err)
		return err;
	err = run_batch(&batch);
	give_slots(batch.drm, batch.slot, submission->count);
	return err;
}
