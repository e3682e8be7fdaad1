/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nvdla.yaml */
/* YNL-GEN kernel header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _LINUX_NVDLA_GEN_H
#define _LINUX_NVDLA_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/nvdla_netlink.h>

int nvdla_nl_get_devices_doit(struct sk_buff *skb, struct genl_info *info);
int nvdla_nl_get_devices_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int nvdla_nl_get_budget_doit(struct sk_buff *skb, struct genl_info *info);
int nvdla_nl_get_budget_dumpit(struct sk_buff *skb,
			       struct netlink_callback *cb);
int nvdla_nl_get_stats_doit(struct sk_buff *skb, struct genl_info *info);
int nvdla_nl_get_stats_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nvdla_nl_set_limit_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	NVDLA_NLGRP_BUDGET,
	NVDLA_NLGRP_HEALTH,
};

extern struct genl_family nvdla_nl_family;

#endif /* _LINUX_NVDLA_GEN_H */
