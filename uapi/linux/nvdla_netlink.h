/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nvdla.yaml */
/* YNL-GEN uapi header */
/* To regenerate run: tools/net/ynl/ynl-regen.sh */

#ifndef _UAPI_LINUX_NVDLA_NETLINK_H
#define _UAPI_LINUX_NVDLA_NETLINK_H

#define NVDLA_FAMILY_NAME	"nvdla"
#define NVDLA_FAMILY_VERSION	1

/**
 * enum nvdla_budget_cause - Why a budget changed.
 * @NVDLA_BUDGET_CAUSE_LIMIT: The administrator set another limit.
 * @NVDLA_BUDGET_CAUSE_RESERVE: A client changed its reservation.
 * @NVDLA_BUDGET_CAUSE_CLIENT_EXIT: A client that had a reservation is gone,
 *   and its last job with it.
 * @NVDLA_BUDGET_CAUSE_UNUSABLE: Other banks than before are marked unusable.
 */
enum nvdla_budget_cause {
	NVDLA_BUDGET_CAUSE_LIMIT = 1,
	NVDLA_BUDGET_CAUSE_RESERVE,
	NVDLA_BUDGET_CAUSE_CLIENT_EXIT,
	NVDLA_BUDGET_CAUSE_UNUSABLE,
};

/**
 * enum nvdla_health_kind - What went wrong.
 * @NVDLA_HEALTH_KIND_TIMEOUT: A job made no progress for too long. The detail
 *   is the index of the task in its chain.
 * @NVDLA_HEALTH_KIND_RESET: The hardware was reset. The detail is 0, or the
 *   errno with which that failed.
 * @NVDLA_HEALTH_KIND_REFUSED_CHAIN: The validator refused a chain. The detail
 *   is the index of the task; all ones where it is none in particular.
 * @NVDLA_HEALTH_KIND_DEVICE_LOST: The device does not answer any more. The
 *   detail is the register that was read.
 */
enum nvdla_health_kind {
	NVDLA_HEALTH_KIND_TIMEOUT = 1,
	NVDLA_HEALTH_KIND_RESET,
	NVDLA_HEALTH_KIND_REFUSED_CHAIN,
	NVDLA_HEALTH_KIND_DEVICE_LOST,
};

enum {
	NVDLA_A_DEVICE_ID = 1,
	NVDLA_A_DEVICE_NAME,
	NVDLA_A_DEVICE_CONFIG,
	NVDLA_A_DEVICE_HW_VERSION,
	NVDLA_A_DEVICE_BANKS,
	NVDLA_A_DEVICE_ENTRIES_PER_BANK,
	NVDLA_A_DEVICE_ENTRY_BYTES,

	__NVDLA_A_DEVICE_MAX,
	NVDLA_A_DEVICE_MAX = (__NVDLA_A_DEVICE_MAX - 1)
};

enum {
	NVDLA_A_BANKS_GENERATION = 1,
	NVDLA_A_BANKS_TOTAL,
	NVDLA_A_BANKS_USABLE,
	NVDLA_A_BANKS_LIMIT,
	NVDLA_A_BANKS_RESERVED,
	NVDLA_A_BANKS_AVAILABLE,
	NVDLA_A_BANKS_UNUSABLE,

	__NVDLA_A_BANKS_MAX,
	NVDLA_A_BANKS_MAX = (__NVDLA_A_BANKS_MAX - 1)
};

enum {
	NVDLA_A_BUDGET_DEVICE = 1,
	NVDLA_A_BUDGET_LIMIT,
	NVDLA_A_BUDGET_CAUSE,
	NVDLA_A_BUDGET_NOW,
	NVDLA_A_BUDGET_OLD,

	__NVDLA_A_BUDGET_MAX,
	NVDLA_A_BUDGET_MAX = (__NVDLA_A_BUDGET_MAX - 1)
};

enum {
	NVDLA_A_STATS_DEVICE = 1,
	NVDLA_A_STATS_JOBS,
	NVDLA_A_STATS_TASKS,
	NVDLA_A_STATS_TIMEOUTS,
	NVDLA_A_STATS_RESETS,
	NVDLA_A_STATS_REFUSED_CHAINS,
	NVDLA_A_STATS_BUSY_NS,

	__NVDLA_A_STATS_MAX,
	NVDLA_A_STATS_MAX = (__NVDLA_A_STATS_MAX - 1)
};

enum {
	NVDLA_A_HEALTH_DEVICE = 1,
	NVDLA_A_HEALTH_KIND,
	NVDLA_A_HEALTH_TIME_NS,
	NVDLA_A_HEALTH_PID,
	NVDLA_A_HEALTH_DETAIL,
	NVDLA_A_HEALTH_LOST,

	__NVDLA_A_HEALTH_MAX,
	NVDLA_A_HEALTH_MAX = (__NVDLA_A_HEALTH_MAX - 1)
};

enum {
	NVDLA_CMD_GET_DEVICES = 1,
	NVDLA_CMD_GET_BUDGET,
	NVDLA_CMD_GET_STATS,
	NVDLA_CMD_SET_LIMIT,
	NVDLA_CMD_BUDGET_NTF,
	NVDLA_CMD_HEALTH_NTF,

	__NVDLA_CMD_MAX,
	NVDLA_CMD_MAX = (__NVDLA_CMD_MAX - 1)
};

#define NVDLA_MCGRP_BUDGET	"budget"
#define NVDLA_MCGRP_HEALTH	"health"

#endif /* _UAPI_LINUX_NVDLA_NETLINK_H */
