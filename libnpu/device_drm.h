/* SPDX-License-Identifier: MIT */
/*
 * A real NPU behind the kernel driver nvdla: what the files of this kind of device
 * share.
 */
#ifndef LIBNPU_DEVICE_DRM_H
#define LIBNPU_DEVICE_DRM_H

#include <drm/nvdla_accel.h>

#include "internal.h"

#define NPU_DRM_SLOTS NPU_MAX_JOBS /* jobs of one handle that run at the same time */

/**
 * struct npu_drm_slot - what a job needs while it runs
 * @syncobj: signalled at its end; 0: not made yet
 * @busy: in use
 */
struct npu_drm_slot {
	u32 syncobj;
	bool busy;
};

/**
 * struct npu_drm - an open node
 * @fd: of the node
 * @number: N of /dev/accel/accelN
 * @turn: held while a submission waits for slots: those that need many are not overtaken for ever
 * @lock: of everything below
 * @slot_free: a slot has become free
 * @slot: jobs
 * @results: buffer with a struct drm_nvdla_job_result for each slot; made by the first submission
 * @priority: of the handle
 * @kernel_priority: what the kernel has now
 */
struct npu_drm {
	struct npu_device base;
	int fd;
	u32 number;
	pthread_mutex_t turn;
	pthread_mutex_t lock;
	pthread_cond_t slot_free;
	struct npu_drm_slot slot[NPU_DRM_SLOTS];
	struct npu_buffer results;
	enum npu_priority priority;
	enum npu_priority kernel_priority;
};

static inline struct npu_drm *to_npu_drm(struct npu_device *device)
{
	return (struct npu_drm *)device;
}

/* ioctl() that goes on after signals.  0 or a negative errno without text. */
int npu_drm_call(const struct npu_drm *drm, unsigned long request, void *argument);

/* Of the lock.  0 or a negative errno without text. */
int npu_drm_tell_priority(struct npu_drm *drm, enum npu_priority priority);

/* ---- device_drm_node.c ---- */

/* Name of the @index'th NPU of this driver, NULL behind the last. */
const char *npu_drm_name(unsigned index);

/**
 * npu_drm_open_node() - open "accelN" or "/dev/accel/accelN"
 * @number: receives N
 *
 * Return: file descriptor; -ENODEV: no module, no such device, or another driver's; -EACCES: no
 * permission; -ENOTSUP: the driver's interface is another one; other errno.  The text says what to do.
 */
int npu_drm_open_node(const char *name, u32 *number);

/* Where the device of accel@number is on PCI, as sysfs tells it. */
void npu_drm_pci_address(u32 number, struct npu_pci_address *pci);

/* ---- device_drm_job.c ---- */

/* The operations of struct npu_device_ops. */
int npu_drm_chain_create(struct npu_device *device, const void *stream, size_t bytes,
			 struct npu_chain **chain);
void npu_drm_chain_destroy(struct npu_device *device, struct npu_chain *chain);
int npu_drm_submit(struct npu_device *device, struct npu_submission *submission);

/* Frees what submissions have left behind. */
void npu_drm_free_slots(struct npu_drm *drm);

#endif /* LIBNPU_DEVICE_DRM_H */
