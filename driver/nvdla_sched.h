/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduling: one DRM scheduler for each NPU, strict priorities, two segments
 * with the hardware at a time, time-outs, reset.
 */
#ifndef NVDLA_SCHED_H
#define NVDLA_SCHED_H

#include <linux/atomic.h>
#include <linux/irqreturn.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>

#include <drm/gpu_scheduler.h>

#include "nvdla_coredump.h"
#include "nvdla_sequence.h"

struct drm_printer;
struct nvdla_client;
struct nvdla_device;
struct nvdla_job_segment;

/*
 * Each task takes a credit: two segments of one task are with the hardware, so that one's registers
 * are written while the other runs, or one segment of more.  Whoever comes with a higher priority
 * waits for these.
 */
#define NVDLA_SCHED_CREDITS 2U

/**
 * struct nvdla_sched - queue of one NPU
 * @base: scheduler
 * @hw_lock: protects struct nvdla_hw, the register writes that are collected, and what follows
 *	up to @dead.  Fences wait for it: nothing is allocated under it
 * @fence_context, @fence_seqno: of hardware fences
 * @deadline: jiffies at which the oldest task that is enabled must be done
 * @busy_since: CLOCK_MONOTONIC in ns; since when that task has had the NPU
 * @behind: failed before it could run, and waits for an earlier segment of its job in the hardware
 * @dead: the device goes away: everything fails with -ENODEV
 * @drained: woken when the hardware has no segment any more
 * @runs: runs of chains so far
 * @segments: of the scheduler that are not freed
 * @empty: woken when there are none
 * @clients_lock: protects @clients
 * @clients: open files
 * @release_wq: frees jobs
 * @coredump: of the last hang
 * @wedged: tells user space that a reset failed
 */
struct nvdla_sched {
	struct drm_gpu_scheduler base;
	struct mutex hw_lock; /* of struct nvdla_hw and the collected writes */
	u64 fence_context;
	u64 fence_seqno;
	unsigned long deadline;
	u64 busy_since;
	struct nvdla_job_segment *behind;
	bool dead;
	wait_queue_head_t drained;
	atomic64_t runs;
	atomic_t segments;
	wait_queue_head_t empty;
	struct mutex clients_lock; /* of clients */
	struct list_head clients;
	struct workqueue_struct *release_wq;
	struct nvdla_coredump coredump;
	struct work_struct wedged;
};

/**
 * nvdla_sched_init() - before the first client; the device has power
 *
 * Return: 0 or a negative error.
 */
int nvdla_sched_init(struct nvdla_device *nvdla);

/**
 * nvdla_sched_stop() - the device goes away
 * @nvdla: device that is still there
 *
 * What runs is reset away, or waited for where the bus cannot reset; from now on jobs fail with
 * -ENODEV as soon as it is their turn, and no register is written for them.
 */
void nvdla_sched_stop(struct nvdla_device *nvdla);

/*
 * No client can come or submit any more, and nothing runs: after nvdla_sched_stop() and
 * drm_dev_unplug(), or before there was one.  Returns when all jobs have failed and are freed.
 */
void nvdla_sched_fini(struct nvdla_device *nvdla);

/* Interrupt; @data is the struct nvdla_device.  The hard handler touches no register. */
irqreturn_t nvdla_sched_irq(int irq, void *data);
irqreturn_t nvdla_sched_irq_thread(int irq, void *data);

/* Before power goes: waits for what the hardware has; nothing new goes to it. */
void nvdla_sched_suspend(struct nvdla_device *nvdla);

/* Power is back and the registers are taken over: go on. */
void nvdla_sched_resume(struct nvdla_device *nvdla);

/* Progress of tasks: for struct nvdla_hw, whenever it was initialised. */
void nvdla_sched_event(struct nvdla_hw *hw, struct nvdla_segment *segment, u32 task,
		       enum nvdla_sequence_event event);

/* The queue as text, for debugfs. */
void nvdla_sched_print(struct nvdla_device *nvdla, struct drm_printer *p);

/*
 * Can jobs be accepted?  Looks whether a lost device is back; it has power, and no lock of buffers
 * is held.  Return: 0; -EIO: the device is lost; -ENODEV: it goes away.
 */
int nvdla_sched_alive(struct nvdla_device *nvdla);

/* A number that no other run of a chain on this device has. */
u64 nvdla_sched_new_run(struct nvdla_device *nvdla);

/* An open file comes, between drm_dev_enter() and _exit(), and goes. */
void nvdla_sched_add_client(struct nvdla_device *nvdla, struct nvdla_client *client);
void nvdla_sched_del_client(struct nvdla_device *nvdla, struct nvdla_client *client);

#endif /* NVDLA_SCHED_H */
