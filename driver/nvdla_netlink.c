// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family: answers and announcements.
 *
 * Devices are in a list under a mutex that each request holds from look-up to
 * answer, so none goes away in between.  What arrives was checked by the policies in
 * nvdla_netlink_gen.c, which the kernel's generator makes from
 * Documentation/netlink/specs/nvdla.yaml.
 */
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <net/genetlink.h>
#include <net/net_namespace.h>

#include <drm/drm_accel.h>
#include <drm/drm_file.h>

#include "nvdla_budget.h"
#include "nvdla_device.h"
#include "nvdla_netlink.h"
#include "nvdla_netlink_gen.h"

static DEFINE_MUTEX(nvdla_netlink_lock);
static LIST_HEAD(nvdla_netlink_devices); /* in the order of their numbers */

/* N of /dev/accel/accelN. */
static u32 device_id(const struct nvdla_device *nvdla)
{
	return nvdla->drm.accel->index;
}

/* ---- messages ---- */

static int fill_banks(struct sk_buff *skb, int type, const struct nvdla_budget_moment *moment)
{
	const struct nvdla_budget_state *state = &moment->state;
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest || nla_put_uint(skb, NVDLA_A_BANKS_GENERATION, moment->generation) ||
	    nla_put_u32(skb, NVDLA_A_BANKS_TOTAL, state->total) ||
	    nla_put_u32(skb, NVDLA_A_BANKS_USABLE, nvdla_budget_state_usable(state)) ||
	    nla_put_u32(skb, NVDLA_A_BANKS_LIMIT, state->limit) ||
	    nla_put_u32(skb, NVDLA_A_BANKS_RESERVED, state->reserved) ||
	    nla_put_u32(skb, NVDLA_A_BANKS_AVAILABLE, nvdla_budget_state_available(state, 0)) ||
	    nla_put_uint(skb, NVDLA_A_BANKS_UNUSABLE, state->unusable))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_device(struct sk_buff *skb, struct nvdla_device *nvdla)
{
	const struct nvdla_config *config = nvdla->config;

	if (nla_put_u32(skb, NVDLA_A_DEVICE_ID, device_id(nvdla)) ||
	    nla_put_string(skb, NVDLA_A_DEVICE_NAME, dev_name(nvdla->dev)) ||
	    nla_put_string(skb, NVDLA_A_DEVICE_CONFIG, config->name) ||
	    nla_put_u32(skb, NVDLA_A_DEVICE_HW_VERSION, nvdla->hw_version) ||
	    nla_put_u32(skb, NVDLA_A_DEVICE_BANKS, config->banks) ||
	    nla_put_u32(skb, NVDLA_A_DEVICE_ENTRIES_PER_BANK, config->entries) ||
	    nla_put_u32(skb, NVDLA_A_DEVICE_ENTRY_BYTES, config->entry_bytes))
		return -EMSGSIZE;
	return 0;
}

static int fill_budget(struct sk_buff *skb, struct nvdla_device *nvdla)
{
	struct nvdla_budget_moment now = nvdla_budget_now(nvdla);

	if (nla_put_u32(skb, NVDLA_A_BUDGET_DEVICE, device_id(nvdla)))
		return -EMSGSIZE;
	return fill_banks(skb, NVDLA_A_BUDGET_NOW, &now);
}

static int fill_stats(struct sk_buff *skb, struct nvdla_device *nvdla)
{
	struct nvdla_stats *stats = &nvdla->stats;
	const struct {
		int type;
		const atomic64_t *value;
	} counters[] = {
		{ NVDLA_A_STATS_JOBS, &stats->jobs },
		{ NVDLA_A_STATS_TASKS, &stats->tasks },
		{ NVDLA_A_STATS_TIMEOUTS, &stats->timeouts },
		{ NVDLA_A_STATS_RESETS, &stats->resets },
		{ NVDLA_A_STATS_REFUSED_CHAINS, &stats->refused_chains },
		{ NVDLA_A_STATS_BUSY_NS, &stats->busy_ns },
	};
	size_t i;

	if (nla_put_u32(skb, NVDLA_A_STATS_DEVICE, device_id(nvdla)))
		return -EMSGSIZE;
	for (i = 0; i < ARRAY_SIZE(counters); i++)
		if (nla_put_uint(skb, counters[i].type, atomic64_read(counters[i].value)))
			return -EMSGSIZE;
	return 0;
}

static int fill_change(struct sk_buff *skb, struct nvdla_device *nvdla,
		       const struct nvdla_budget_change *change)
{
	if (nla_put_u32(skb, NVDLA_A_BUDGET_DEVICE, device_id(nvdla)) ||
	    nla_put_u32(skb, NVDLA_A_BUDGET_CAUSE, change->cause) ||
	    fill_banks(skb, NVDLA_A_BUDGET_OLD, &change->old))
		return -EMSGSIZE;
	return fill_banks(skb, NVDLA_A_BUDGET_NOW, &change->now);
}

static int fill_health(struct sk_buff *skb, struct nvdla_device *nvdla,
		       const struct nvdla_health_event *event, u32 lost)
{
	if (nla_put_u32(skb, NVDLA_A_HEALTH_DEVICE, device_id(nvdla)) ||
	    nla_put_u32(skb, NVDLA_A_HEALTH_KIND, event->kind) ||
	    nla_put_uint(skb, NVDLA_A_HEALTH_TIME_NS, ktime_to_ns(event->time)) ||
	    (event->pid && nla_put_u32(skb, NVDLA_A_HEALTH_PID, event->pid)) ||
	    nla_put_uint(skb, NVDLA_A_HEALTH_DETAIL, event->detail) ||
	    (lost && nla_put_u32(skb, NVDLA_A_HEALTH_LOST, lost)))
		return -EMSGSIZE;
	return 0;
}

/* ---- requests ---- */

typedef int (*nvdla_netlink_fill)(struct sk_buff *skb, struct nvdla_device *nvdla);

/* The device that attribute @type of a request names. */
static struct nvdla_device *requested_device(struct genl_info *info, int type)
{
	struct nvdla_device *nvdla;
	u32 id;

	lockdep_assert_held(&nvdla_netlink_lock);
	if (GENL_REQ_ATTR_CHECK(info, type))
		return ERR_PTR(-EINVAL);
	id = nla_get_u32(info->attrs[type]);
	list_for_each_entry(nvdla, &nvdla_netlink_devices, netlink.node)
		if (device_id(nvdla) == id)
			return nvdla;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[type], "no such NPU");
	return ERR_PTR(-ENODEV);
}

static int answer_do(struct genl_info *info, int type, nvdla_netlink_fill fill)
{
	struct nvdla_device *nvdla;
	struct sk_buff *skb;
	void *header;

	guard(mutex)(&nvdla_netlink_lock);
	nvdla = requested_device(info, type);
	if (IS_ERR(nvdla))
		return PTR_ERR(nvdla);
	skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	header = genlmsg_iput(skb, info);
	if (!header || fill(skb, nvdla)) {
		nlmsg_free(skb);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

/* cb->args[0]: number behind that of the last device that was told. */
static int answer_dump(struct sk_buff *skb, struct netlink_callback *cb, nvdla_netlink_fill fill)
{
	const struct genl_info *info = genl_info_dump(cb);
	struct nvdla_device *nvdla;
	void *header;

	guard(mutex)(&nvdla_netlink_lock);
	list_for_each_entry(nvdla, &nvdla_netlink_devices, netlink.node) {
		if (device_id(nvdla) < cb->args[0])
			continue;
		header = genlmsg_put(skb, info->snd_portid, info->snd_seq, &nvdla_nl_family,
				     NLM_F_MULTI, info->genlhdr->cmd);
		if (!header)
			break;
		if (fill(skb, nvdla)) {
			genlmsg_cancel(skb, header);
			break;
		}
		genlmsg_end(skb, header);
		cb->args[0] = (long)device_id(nvdla) + 1;
	}
	return skb->len;
}

int nvdla_nl_get_devices_doit(struct sk_buff *skb, struct genl_info *info)
{
	return answer_do(info, NVDLA_A_DEVICE_ID, fill_device);
}

int nvdla_nl_get_devices_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return answer_dump(skb, cb, fill_device);
}

int nvdla_nl_get_budget_doit(struct sk_buff *skb, struct genl_info *info)
{
	return answer_do(info, NVDLA_A_BUDGET_DEVICE, fill_budget);
}

int nvdla_nl_get_budget_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return answer_dump(skb, cb, fill_budget);
}

int nvdla_nl_get_stats_doit(struct sk_buff *skb, struct genl_info *info)
{
	return answer_do(info, NVDLA_A_STATS_DEVICE, fill_stats);
}

int nvdla_nl_get_stats_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return answer_dump(skb, cb, fill_stats);
}

int nvdla_nl_set_limit_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nvdla_device *nvdla;
	int ret;

	guard(mutex)(&nvdla_netlink_lock);
	nvdla = requested_device(info, NVDLA_A_BUDGET_DEVICE);
	if (IS_ERR(nvdla))
		return PTR_ERR(nvdla);
	if (GENL_REQ_ATTR_CHECK(info, NVDLA_A_BUDGET_LIMIT))
		return -EINVAL;
	ret = nvdla_budget_set_limit(nvdla, nla_get_u32(info->attrs[NVDLA_A_BUDGET_LIMIT]));
	if (ret == -EINVAL)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[NVDLA_A_BUDGET_LIMIT],
				    "more banks than the NPU has");
	return ret;
}

/* ---- announcements ---- */

/* An empty message of the kernel's own; NULL where there is no memory. */
static struct sk_buff *new_message(u8 command, void **header)
{
	struct sk_buff *skb = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return NULL;
	*header = genlmsg_put(skb, 0, 0, &nvdla_nl_family, 0, command);
	if (*header)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

void nvdla_netlink_budget_changed(struct nvdla_device *nvdla,
				  const struct nvdla_budget_change *change)
{
	struct sk_buff *skb;
	void *header;

	if (!READ_ONCE(nvdla->netlink.online))
		return;
	skb = new_message(NVDLA_CMD_BUDGET_NTF, &header);
	if (!skb)
		return;
	if (fill_change(skb, nvdla, change)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	/* That nobody listens is no fault; who misses one sees it by the generation of the next. */
	genlmsg_multicast_allns(&nvdla_nl_family, skb, 0, NVDLA_NLGRP_BUDGET);
}

static void health_announce(struct nvdla_device *nvdla, const struct nvdla_health_event *event,
			    u32 lost)
{
	struct sk_buff *skb;
	void *header;

	skb = new_message(NVDLA_CMD_HEALTH_NTF, &header);
	if (!skb)
		return;
	if (fill_health(skb, nvdla, event, lost)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	/*
	 * The initial namespace alone: in others CAP_NET_ADMIN can be had by anyone who may make
	 * user namespaces, and the message names processes.
	 */
	genlmsg_multicast_netns(&nvdla_nl_family, &init_net, skb, 0, NVDLA_NLGRP_HEALTH,
				GFP_KERNEL);
}

static bool health_next(struct nvdla_netlink *netlink, struct nvdla_health_event *event, u32 *lost)
{
	bool some;

	scoped_guard(spinlock_irqsave, &netlink->lock) {
		some = netlink->count;
		if (!some)
			break;
		*event = netlink->ring[netlink->head];
		netlink->head = (netlink->head + 1) % NVDLA_HEALTH_RING;
		netlink->count--;
		*lost = netlink->lost;
		netlink->lost = 0;
	}
	return some;
}

static void health_work(struct work_struct *work)
{
	struct nvdla_netlink *netlink = container_of(work, struct nvdla_netlink, work);
	struct nvdla_device *nvdla = container_of(netlink, struct nvdla_device, netlink);
	struct nvdla_health_event event;
	u32 lost;

	while (health_next(netlink, &event, &lost))
		health_announce(nvdla, &event, lost);
}

static void health_push(struct nvdla_netlink *netlink, const struct nvdla_health_event *event)
{
	lockdep_assert_held(&netlink->lock);
	if (netlink->count == NVDLA_HEALTH_RING) {
		netlink->lost++;
		return;
	}
	netlink->ring[(netlink->head + netlink->count) % NVDLA_HEALTH_RING] = *event;
	netlink->count++;
	schedule_work(&netlink->work);
}

void nvdla_health_report(struct nvdla_device *nvdla, enum nvdla_health_kind kind, pid_t pid,
			 u64 detail)
{
	const struct nvdla_health_event event = {
		.kind = kind,
		.pid = pid,
		.detail = detail,
		.time = ktime_get(),
	};
	struct nvdla_netlink *netlink = &nvdla->netlink;

	/* Pairs with nvdla_netlink_init(): lock and work are there when the device is online. */
	if (!smp_load_acquire(&netlink->online))
		return;
	/* Under the lock again: nvdla_netlink_fini() waits for all work that was scheduled. */
	scoped_guard(spinlock_irqsave, &netlink->lock)
		if (netlink->online)
			health_push(netlink, &event);
}

/* ---- devices and the family ---- */

static void add_device(struct nvdla_device *nvdla)
{
	struct list_head *next;

	list_for_each(next, &nvdla_netlink_devices)
		if (device_id(list_entry(next, struct nvdla_device, netlink.node)) >
		    device_id(nvdla))
			break;
	list_add_tail(&nvdla->netlink.node, next);
}

void nvdla_netlink_init(struct nvdla_device *nvdla)
{
	struct nvdla_netlink *netlink = &nvdla->netlink;

	spin_lock_init(&netlink->lock);
	INIT_WORK(&netlink->work, health_work);
	scoped_guard(mutex, &nvdla_netlink_lock)
		add_device(nvdla);
	/* Pairs with nvdla_health_report(). */
	smp_store_release(&netlink->online, true);
}

void nvdla_netlink_fini(struct nvdla_device *nvdla)
{
	struct nvdla_netlink *netlink = &nvdla->netlink;

	scoped_guard(mutex, &nvdla_netlink_lock)
		list_del(&netlink->node);
	scoped_guard(spinlock_irqsave, &netlink->lock)
		netlink->online = false;
	flush_work(&netlink->work);
}

/*
 * The generator knows no word for the flags of a group.  "budget" stays open: anyone may
 * know how much is left, as anyone who may open the device can ask it.
 */
static const struct genl_multicast_group nvdla_netlink_groups[] = {
	[NVDLA_NLGRP_BUDGET] = { .name = NVDLA_MCGRP_BUDGET },
	[NVDLA_NLGRP_HEALTH] = { .name = NVDLA_MCGRP_HEALTH, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

int __init nvdla_netlink_register(void)
{
	nvdla_nl_family.mcgrps = nvdla_netlink_groups;
	nvdla_nl_family.n_mcgrps = ARRAY_SIZE(nvdla_netlink_groups);
	return genl_register_family(&nvdla_nl_family);
}

void nvdla_netlink_unregister(void)
{
	genl_unregister_family(&nvdla_nl_family);
}
