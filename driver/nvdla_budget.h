/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live budget of one NPU: who may use how many banks of the convolution
 * buffer.  Who asks for more than is available is refused; what was accepted keeps
 * its claim until it is done.
 */
#ifndef NVDLA_BUDGET_H
#define NVDLA_BUDGET_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <uapi/linux/nvdla_netlink.h>

#include "nvdla_budget_rules.h"

struct dmem_cgroup_region;
struct drm_nvdla_budget;
struct nvdla_budget_share;
struct nvdla_device;

/**
 * struct nvdla_budget_moment - a budget at one moment
 * @generation: of it
 * @state: the numbers
 */
struct nvdla_budget_moment {
	u64 generation;
	struct nvdla_budget_state state;
};

/**
 * struct nvdla_budget_change - one step from generation to generation
 * @cause: why
 * @old, @now: before and after
 */
struct nvdla_budget_change {
	enum nvdla_budget_cause cause;
	struct nvdla_budget_moment old;
	struct nvdla_budget_moment now;
};

/**
 * struct nvdla_budget - budget of a device
 * @lock: protects all but @change and what that protects; taken in any context
 * @change: one change and its announcement at a time
 * @now: the numbers
 * @running: by number of banks: claims that have work with the NPU now
 * @idle: woken when one of them ends
 * @events: changes that are not yet announced, in order
 * @work: announces changes that happened where nobody may sleep
 * @closed: the device is gone: nothing is announced any more
 * @dmem: what reservations are charged to; NULL where the kernel cannot
 */
struct nvdla_budget {
	spinlock_t lock; /* all but what the mutex protects */
	struct mutex change; /* order of changes and announcements */
	struct nvdla_budget_moment now;
	u32 running[NVDLA_BUDGET_MASK_BANKS + 1];
	wait_queue_head_t idle;
	struct list_head events;
	struct work_struct work;
	bool closed;
	struct dmem_cgroup_region *dmem;
};

/**
 * struct nvdla_budget_client - part of each client
 * @share: reservation and claims; outlives the client as long as there are claims
 */
struct nvdla_budget_client {
	struct nvdla_budget_share *share;
};

/**
 * struct nvdla_budget_claim - what an accepted job may use until its fence signals
 * @share: of the client that submitted it; NULL: no claim
 * @banks: so many
 */
struct nvdla_budget_claim {
	struct nvdla_budget_share *share;
	u32 banks;
};

/**
 * nvdla_budget_init() - a budget with all banks
 *
 * Comes after the configuration is known and before the first client.
 *
 * Return: 0; -EINVAL: more banks than a mask can name; -ENOMEM.
 */
int nvdla_budget_init(struct nvdla_device *nvdla);

/*
 * All claims were released before; clients may still be there and go later.
 */
void nvdla_budget_fini(struct nvdla_device *nvdla);

/* Sleeps.  Return: 0; -ENOMEM. */
int nvdla_budget_client_init(struct nvdla_device *nvdla, struct nvdla_budget_client *client);

/* The client goes: its reservation ends now, or with its last claim.  Sleeps. */
void nvdla_budget_client_fini(struct nvdla_budget_client *client);

/**
 * nvdla_budget_claim() - may this client run something that needs @banks?
 * @claim: filled in on success; nvdla_budget_release() gives it back
 *
 * Return: 0; -ENOSPC: no.
 */
int nvdla_budget_claim(struct nvdla_budget_client *client, u32 banks,
		       struct nvdla_budget_claim *claim);

/* From any context; nothing happens for a claim whose share is NULL. */
void nvdla_budget_release(struct nvdla_budget_claim *claim);

/**
 * nvdla_budget_start() - work of a claim goes to the NPU
 *
 * From any context.  Each success asks for one nvdla_budget_stop().
 *
 * Return: 0; -EIO: banks that it needs became unusable since it was accepted.
 */
int nvdla_budget_start(const struct nvdla_budget_claim *claim);

/* That work is done or was reset away.  From any context, before nvdla_budget_release(). */
void nvdla_budget_stop(const struct nvdla_budget_claim *claim);

/* The budget as it is. */
struct nvdla_budget_moment nvdla_budget_now(struct nvdla_device *nvdla);

/**
 * nvdla_budget_query() - the answer to DRM_NVDLA_QUERY_BUDGET
 * @client: whose view
 */
void nvdla_budget_query(struct nvdla_device *nvdla, const struct nvdla_budget_client *client,
			struct drm_nvdla_budget *out);

/* Banks that @client has reserved, for its fdinfo. */
u32 nvdla_budget_reserved(const struct nvdla_budget_client *client);

/* Does this kernel charge reservations to a cgroup? */
bool nvdla_budget_has_dmem(const struct nvdla_device *nvdla);

/**
 * nvdla_budget_set_limit() - what the administrator allows all clients together
 * @banks: binds what is submitted from now on
 *
 * Sleeps.  Return: 0; -EINVAL: not 1 to all banks; -ENOMEM.
 */
int nvdla_budget_set_limit(struct nvdla_device *nvdla, u32 banks);

/**
 * nvdla_budget_set_unusable() - banks that must not be used from now on
 * @mask: bit b: bank b; replaces the earlier mask
 *
 * Jobs that wait and need such a bank fail when their turn comes; for those that have the NPU now
 * this function waits: they end, or run into their time-out.
 *
 * Return: 0; -EINVAL: names a bank that is not there; -ENOMEM; -EINTR: a fatal signal came before
 * the last of them ended.  The mask holds all the same.
 */
int nvdla_budget_set_unusable(struct nvdla_device *nvdla, u64 mask);

#endif /* NVDLA_BUDGET_H */
