// SPDX-License-Identifier: GPL-2.0-only
/*
 * The live budget: reservations, claims, and the announcement of each change.
 *
 * A change happens under the spinlock, so that a fence's callback can end a
 * reservation, and is announced under the mutex, in the order of the generations.
 * The memory of an announcement is there before the change, so none is lost; and
 * there are never more of them than callers of the functions that change something
 * and clients that went.
 */
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "nvdla_budget.h"
#include "nvdla_client.h"
#include "nvdla_device.h"
#include "nvdla_dmem.h"
#include "nvdla_drv.h"
#include "nvdla_netlink.h"
#include "nvdla_trace.h"

/**
 * struct nvdla_budget_event - a change that waits for its announcement
 * @node: in &nvdla_budget.events
 * @change: what happened
 * @share: what the event is a part of, of a client that went; NULL: it stands alone
 */
struct nvdla_budget_event {
	struct list_head node;
	struct nvdla_budget_change change;
	struct nvdla_budget_share *share;
};

/**
 * struct nvdla_budget_share - what a client has of the budget
 * @nvdla: its device
 * @reserved: banks
 * @claims: that are not yet released
 * @closing: the client is gone
 * @farewell: announces the end of its reservation
 * @charged: banks that are charged to cgroups; like @pool protected by &nvdla_budget.change
 * @pool: to which, one for each bank of the hardware
 */
struct nvdla_budget_share {
	struct nvdla_device *nvdla;
	u32 reserved;
	u32 claims;
	bool closing;
	struct nvdla_budget_event farewell;
	u32 charged;
	struct dmem_cgroup_pool_state *pool[];
};

/* ---- cgroups ---- */

static u32 bank_bytes(const struct nvdla_device *nvdla)
{
	return nvdla_cbuf_bytes(nvdla->config) / nvdla->config->banks;
}

static int share_charge(struct nvdla_budget_share *share, u32 banks)
{
	struct nvdla_device *nvdla = share->nvdla;
	int ret;

	if (!nvdla->budget.dmem || banks <= share->charged)
		return 0;
	ret = nvdla_dmem_charge(nvdla->budget.dmem, bank_bytes(nvdla), share->pool, share->charged,
				banks);
	if (!ret)
		share->charged = banks;
	return ret;
}

static void share_uncharge(struct nvdla_budget_share *share, u32 banks)
{
	if (banks >= share->charged)
		return;
	nvdla_dmem_uncharge(bank_bytes(share->nvdla), share->pool, banks, share->charged);
	share->charged = banks;
}

/* ---- changes and their announcements ---- */

/* Completes a change of the numbers. */
static void budget_commit(struct nvdla_device *nvdla, struct nvdla_budget_event *event,
			  const struct nvdla_budget_moment *old, enum nvdla_budget_cause cause)
{
	struct nvdla_budget *budget = &nvdla->budget;
	const struct nvdla_budget_state *state = &budget->now.state;

	lockdep_assert_held(&budget->lock);
	budget->now.generation++;
	event->change.cause = cause;
	event->change.old = *old;
	event->change.now = budget->now;
	list_add_tail(&event->node, &budget->events);
	trace_nvdla_budget(nvdla, budget->now.generation, cause, state->limit,
			   nvdla_budget_state_usable(state), state->reserved);
}

static struct nvdla_budget_event *budget_next_event(struct nvdla_budget *budget)
{
	struct nvdla_budget_event *event;

	scoped_guard(spinlock_irqsave, &budget->lock) {
		event = list_first_entry_or_null(&budget->events, struct nvdla_budget_event, node);
		if (event)
			list_del(&event->node);
	}
	return event;
}

/* Announces all that happened and frees what only waited for that. */
static void budget_announce(struct nvdla_device *nvdla)
{
	struct nvdla_budget_event *event;

	lockdep_assert_held(&nvdla->budget.change);
	while ((event = budget_next_event(&nvdla->budget))) {
		nvdla_netlink_budget_changed(nvdla, &event->change);
		if (event->share) {
			share_uncharge(event->share, 0);
			kfree(event->share);
		} else {
			kfree(event);
		}
	}
}

static void budget_work(struct work_struct *work)
{
	struct nvdla_device *nvdla = container_of(work, struct nvdla_device, budget.work);

	guard(mutex)(&nvdla->budget.change);
	budget_announce(nvdla);
}

/*
 * Changes one number.  @change is the rule that does it: 1: changed; 0: it is so already; negative:
 * refused.  Return: 0; -ENOMEM; what @change returned if negative.
 */
static int budget_change(struct nvdla_device *nvdla, enum nvdla_budget_cause cause, u64 value,
			 int (*change)(struct nvdla_budget_state *state, u64 value, void *data),
			 void *data)
{
	struct nvdla_budget_event *event = kzalloc(sizeof(*event), GFP_KERNEL);
	struct nvdla_budget *budget = &nvdla->budget;
	int ret;

	lockdep_assert_held(&budget->change);
	if (!event)
		return -ENOMEM;
	scoped_guard(spinlock_irqsave, &budget->lock) {
		struct nvdla_budget_moment old = budget->now;

		ret = change(&budget->now.state, value, data);
		if (ret > 0)
			budget_commit(nvdla, event, &old, cause);
	}
	if (ret <= 0)
		kfree(event);
	budget_announce(nvdla);
	return min(ret, 0);
}

static int change_limit(struct nvdla_budget_state *state, u64 value, void *data)
{
	return nvdla_budget_state_set_limit(state, (u32)value);
}

static int change_unusable(struct nvdla_budget_state *state, u64 value, void *data)
{
	return nvdla_budget_state_set_unusable(state, value);
}

static int change_reservation(struct nvdla_budget_state *state, u64 value, void *data)
{
	struct nvdla_budget_share *share = data;

	return nvdla_budget_state_reserve(state, &share->reserved, (u32)value);
}

int nvdla_budget_set_limit(struct nvdla_device *nvdla, u32 banks)
{
	guard(mutex)(&nvdla->budget.change);
	return budget_change(nvdla, NVDLA_BUDGET_CAUSE_LIMIT, banks, change_limit, NULL);
}

/* Is something with the NPU that needs banks which must not be used? */
static bool budget_lost_banks_run(struct nvdla_budget *budget)
{
	u32 banks, running = 0;

	scoped_guard(spinlock_irqsave, &budget->lock) {
		banks = nvdla_budget_state_usable(&budget->now.state) + 1;
		for (; banks < ARRAY_SIZE(budget->running); banks++)
			running += budget->running[banks];
	}
	return running;
}

int nvdla_budget_set_unusable(struct nvdla_device *nvdla, u64 mask)
{
	struct nvdla_budget *budget = &nvdla->budget;
	int ret;

	scoped_guard(mutex, &budget->change)
		ret = budget_change(nvdla, NVDLA_BUDGET_CAUSE_UNUSABLE, mask, change_unusable,
				    NULL);
	if (ret)
		return ret;
	return wait_event_killable(budget->idle, !budget_lost_banks_run(budget)) ? -EINTR : 0;
}

/* ---- clients ---- */

int nvdla_budget_client_init(struct nvdla_device *nvdla, struct nvdla_budget_client *client)
{
	struct nvdla_budget_share *share =
		kzalloc(struct_size(share, pool, nvdla->config->banks), GFP_KERNEL);

	if (!share)
		return -ENOMEM;
	share->nvdla = nvdla;
	share->farewell.share = share;
	client->share = share;
	return 0;
}

/*
 * The end of a share that neither client nor claim uses.  Return: what is to be freed now; NULL:
 * nothing, or the announcement of the change does it.
 */
static struct nvdla_budget_share *share_end(struct nvdla_budget_share *share)
{
	struct nvdla_budget *budget = &share->nvdla->budget;
	struct nvdla_budget_moment old = budget->now;

	lockdep_assert_held(&budget->lock);
	if (!share->closing || share->claims)
		return NULL;
	if (nvdla_budget_state_reserve(&budget->now.state, &share->reserved, 0) <= 0)
		return share;
	budget_commit(share->nvdla, &share->farewell, &old, NVDLA_BUDGET_CAUSE_CLIENT_EXIT);
	if (!budget->closed)
		schedule_work(&budget->work);
	return NULL;
}

void nvdla_budget_client_fini(struct nvdla_budget_client *client)
{
	struct nvdla_budget_share *share = client->share, *unused;
	struct nvdla_device *nvdla = share->nvdla;

	guard(mutex)(&nvdla->budget.change);
	scoped_guard(spinlock_irqsave, &nvdla->budget.lock) {
		share->closing = true;
		unused = share_end(share);
	}
	kfree(unused);
	client->share = NULL;
	budget_announce(nvdla);
}

static int client_reserve(struct nvdla_budget_client *client, u32 banks)
{
	struct nvdla_budget_share *share = client->share;
	struct nvdla_device *nvdla = share->nvdla;
	struct nvdla_budget_state state = nvdla_budget_now(nvdla).state;
	u32 own = share->reserved;
	int ret;

	lockdep_assert_held(&nvdla->budget.change);
	/* No cgroup is charged for what is not there. */
	ret = nvdla_budget_state_reserve(&state, &own, banks);
	if (ret < 0)
		return ret;
	ret = share_charge(share, banks);
	if (ret)
		return ret;
	ret = budget_change(nvdla, NVDLA_BUDGET_CAUSE_RESERVE, banks, change_reservation, share);
	share_uncharge(share, share->reserved);
	return ret;
}

int nvdla_ioctl_reserve(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_device *nvdla = to_nvdla(drm);
	struct nvdla_client *client = file->driver_priv;
	struct drm_nvdla_reserve *args = data;
	int ret;

	if (args->flags)
		return -EINVAL;
	guard(mutex)(&nvdla->budget.change);
	ret = client_reserve(&client->budget, args->banks);
	if (!ret)
		args->generation = nvdla_budget_now(nvdla).generation;
	return ret;
}

/* ---- claims ---- */

int nvdla_budget_claim(struct nvdla_budget_client *client, u32 banks,
		       struct nvdla_budget_claim *claim)
{
	struct nvdla_budget_share *share = client->share;
	struct nvdla_budget *budget = &share->nvdla->budget;
	bool fits;

	scoped_guard(spinlock_irqsave, &budget->lock) {
		fits = banks <= nvdla_budget_state_available(&budget->now.state, share->reserved);
		share->claims += fits;
	}
	if (!fits)
		return -ENOSPC;
	claim->share = share;
	claim->banks = banks;
	return 0;
}

void nvdla_budget_release(struct nvdla_budget_claim *claim)
{
	struct nvdla_budget_share *share = claim->share, *unused;

	if (!share)
		return;
	scoped_guard(spinlock_irqsave, &share->nvdla->budget.lock) {
		share->claims--;
		unused = share_end(share);
	}
	kfree(unused);
	claim->share = NULL;
}

int nvdla_budget_start(const struct nvdla_budget_claim *claim)
{
	struct nvdla_budget *budget = &claim->share->nvdla->budget;
	bool fits;

	scoped_guard(spinlock_irqsave, &budget->lock) {
		fits = claim->banks <= nvdla_budget_state_usable(&budget->now.state);
		budget->running[claim->banks] += fits;
	}
	return fits ? 0 : -EIO;
}

void nvdla_budget_stop(const struct nvdla_budget_claim *claim)
{
	struct nvdla_budget *budget = &claim->share->nvdla->budget;

	scoped_guard(spinlock_irqsave, &budget->lock)
		budget->running[claim->banks]--;
	wake_up(&budget->idle);
}

/* ---- questions ---- */

struct nvdla_budget_moment nvdla_budget_now(struct nvdla_device *nvdla)
{
	struct nvdla_budget_moment now;

	scoped_guard(spinlock_irqsave, &nvdla->budget.lock)
		now = nvdla->budget.now;
	return now;
}

u32 nvdla_budget_reserved(const struct nvdla_budget_client *client)
{
	return READ_ONCE(client->share->reserved);
}

void nvdla_budget_query(struct nvdla_device *nvdla, const struct nvdla_budget_client *client,
			struct drm_nvdla_budget *out)
{
	struct nvdla_budget_moment now;
	u32 own;

	scoped_guard(spinlock_irqsave, &nvdla->budget.lock) {
		now = nvdla->budget.now;
		own = client->share->reserved;
	}
	*out = (struct drm_nvdla_budget){
		.generation = now.generation,
		.banks_total = now.state.total,
		.banks_usable = nvdla_budget_state_usable(&now.state),
		.banks_limit = now.state.limit,
		.banks_reserved = now.state.reserved,
		.banks_available = nvdla_budget_state_available(&now.state, own),
		.banks_own = own,
		.sram_total = nvdla->sram_bytes,
		.sram_available = nvdla->sram_bytes,
	};
}

bool nvdla_budget_has_dmem(const struct nvdla_device *nvdla)
{
	return nvdla->budget.dmem;
}

/* ---- the device ---- */

int nvdla_budget_init(struct nvdla_device *nvdla)
{
	struct nvdla_budget *budget = &nvdla->budget;
	int ret;

	if (nvdla->config->banks > NVDLA_BUDGET_MASK_BANKS)
		return -EINVAL;
	ret = drmm_mutex_init(&nvdla->drm, &budget->change);
	if (ret)
		return ret;
	spin_lock_init(&budget->lock);
	init_waitqueue_head(&budget->idle);
	INIT_LIST_HEAD(&budget->events);
	INIT_WORK(&budget->work, budget_work);
	/* Not 0, which stands for "never asked" with those who remember a generation. */
	budget->now.generation = 1;
	budget->now.state = nvdla_budget_state_fresh(nvdla->config->banks);
	budget->dmem = nvdla_dmem_register(nvdla);
	return PTR_ERR_OR_ZERO(budget->dmem);
}

void nvdla_budget_fini(struct nvdla_device *nvdla)
{
	scoped_guard(spinlock_irqsave, &nvdla->budget.lock)
		nvdla->budget.closed = true;
	/* Work that was scheduled before that. */
	flush_work(&nvdla->budget.work);
}
