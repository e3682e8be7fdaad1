/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the NPU looked like when a task hung: a text for devcoredump.
 */
#ifndef NVDLA_COREDUMP_H
#define NVDLA_COREDUMP_H

#include <linux/types.h>
#include <linux/workqueue.h>

struct nvdla_device;
struct nvdla_hw_task;

/**
 * struct nvdla_coredump - the last hang
 * @work: gives the text to devcoredump, where memory may be allocated
 * @text: made in advance; protected by hw_lock until @full, then it is the work's
 * @length: bytes in it
 * @full: not yet given to devcoredump; a hang that comes meanwhile is not recorded
 */
struct nvdla_coredump {
	struct work_struct work;
	char *text;
	size_t length;
	bool full;
};

/* Return: 0; -ENOMEM. */
int nvdla_coredump_init(struct nvdla_device *nvdla);
void nvdla_coredump_fini(struct nvdla_device *nvdla);

/* Records @task and the registers of its units.  hw_lock is held; nothing is allocated. */
void nvdla_coredump_take(struct nvdla_device *nvdla, const struct nvdla_hw_task *task);

#endif /* NVDLA_COREDUMP_H */
