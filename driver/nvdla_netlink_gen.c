// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nvdla.yaml */
/* YNL-GEN kernel source */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "nvdla_netlink_gen.h"

#include <uapi/linux/nvdla_netlink.h>

/* NVDLA_CMD_GET_DEVICES - do */
static const struct nla_policy nvdla_get_devices_nl_policy[NVDLA_A_DEVICE_ID + 1] = {
	[NVDLA_A_DEVICE_ID] = { .type = NLA_U32, },
};

/* NVDLA_CMD_GET_BUDGET - do */
static const struct nla_policy nvdla_get_budget_nl_policy[NVDLA_A_BUDGET_DEVICE + 1] = {
	[NVDLA_A_BUDGET_DEVICE] = { .type = NLA_U32, },
};

/* NVDLA_CMD_GET_STATS - do */
static const struct nla_policy nvdla_get_stats_nl_policy[NVDLA_A_STATS_DEVICE + 1] = {
	[NVDLA_A_STATS_DEVICE] = { .type = NLA_U32, },
};

/* NVDLA_CMD_SET_LIMIT - do */
static const struct nla_policy nvdla_set_limit_nl_policy[NVDLA_A_BUDGET_LIMIT + 1] = {
	[NVDLA_A_BUDGET_DEVICE] = { .type = NLA_U32, },
	[NVDLA_A_BUDGET_LIMIT] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* Ops table for nvdla */
static const struct genl_split_ops nvdla_nl_ops[] = {
	{
		.cmd		= NVDLA_CMD_GET_DEVICES,
		.doit		= nvdla_nl_get_devices_doit,
		.policy		= nvdla_get_devices_nl_policy,
		.maxattr	= NVDLA_A_DEVICE_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= NVDLA_CMD_GET_DEVICES,
		.dumpit	= nvdla_nl_get_devices_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NVDLA_CMD_GET_BUDGET,
		.doit		= nvdla_nl_get_budget_doit,
		.policy		= nvdla_get_budget_nl_policy,
		.maxattr	= NVDLA_A_BUDGET_DEVICE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= NVDLA_CMD_GET_BUDGET,
		.dumpit	= nvdla_nl_get_budget_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NVDLA_CMD_GET_STATS,
		.doit		= nvdla_nl_get_stats_doit,
		.policy		= nvdla_get_stats_nl_policy,
		.maxattr	= NVDLA_A_STATS_DEVICE,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= NVDLA_CMD_GET_STATS,
		.dumpit	= nvdla_nl_get_stats_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NVDLA_CMD_SET_LIMIT,
		.doit		= nvdla_nl_set_limit_doit,
		.policy		= nvdla_set_limit_nl_policy,
		.maxattr	= NVDLA_A_BUDGET_LIMIT,
		.flags		= GENL_ADMIN_PERM | GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group nvdla_nl_mcgrps[] = {
	[NVDLA_NLGRP_BUDGET] = { "budget", },
	[NVDLA_NLGRP_HEALTH] = { "health", },
};

struct genl_family nvdla_nl_family __ro_after_init = {
	.name		= NVDLA_FAMILY_NAME,
	.version	= NVDLA_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= nvdla_nl_ops,
	.n_split_ops	= ARRAY_SIZE(nvdla_nl_ops),
	.mcgrps		= nvdla_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(nvdla_nl_mcgrps),
};
