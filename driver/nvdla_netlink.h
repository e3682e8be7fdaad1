/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family "nvdla": devices, budgets and counters to ask for,
 * changes of budgets and faults to listen to.
 */
#ifndef NVDLA_NETLINK_H
#define NVDLA_NETLINK_H

#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <uapi/linux/nvdla_netlink.h>

struct nvdla_budget_change;
struct nvdla_device;

/* Faults that can wait for their turn; what comes on top is counted. */
#define NVDLA_HEALTH_RING 32

/**
 * struct nvdla_health_event - one fault
 * @kind: what
 * @pid: whose job or chain it was, in the initial namespace; 0: nobody's
 * @detail: see nvdla_health_report()
 * @time: CLOCK_MONOTONIC
 */
struct nvdla_health_event {
	enum nvdla_health_kind kind;
	pid_t pid;
	u64 detail;
	ktime_t time;
};

/**
 * struct nvdla_netlink - what the family knows of a device
 * @online: the family shows it
 * @node: in the family's list
 * @lock: protects the ring; taken in any context
 * @ring: faults that are not yet announced, from @head on
 * @head, @count: of the ring
 * @lost: faults that did not fit the ring
 * @work: announces them
 */
struct nvdla_netlink {
	bool online;
	struct list_head node;
	spinlock_t lock; /* ring, head, count, lost, and going offline */
	struct nvdla_health_event ring[NVDLA_HEALTH_RING];
	u32 head;
	u32 count;
	u32 lost;
	struct work_struct work;
};

/* The family, for the life of the module. */
int nvdla_netlink_register(void);
void nvdla_netlink_unregister(void);

/* Show @nvdla in the family.  After drm_dev_register(). */
void nvdla_netlink_init(struct nvdla_device *nvdla);

/* Sends what is still to be told and takes the device out.  Before drm_dev_unplug(). */
void nvdla_netlink_fini(struct nvdla_device *nvdla);

/**
 * nvdla_health_report() - tell the administrator of a fault
 * @kind: what
 * @pid: process whose job or chain it was, as task_pid_nr() has it; 0: nobody's
 * @detail: timeout: index of the task in its chain; reset: 0 or the errno with which it failed;
 *	refused chain: index of the task, all ones where it is none; device lost: the register
 *
 * From any context: neither sleeps nor allocates.
 */
void nvdla_health_report(struct nvdla_device *nvdla, enum nvdla_health_kind kind, pid_t pid,
			 u64 detail);

/* Multicast of one change.  Sleeps. */
void nvdla_netlink_budget_changed(struct nvdla_device *nvdla,
				  const struct nvdla_budget_change *change);

#endif /* NVDLA_NETLINK_H */
