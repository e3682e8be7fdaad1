/* SPDX-License-Identifier: MIT */
/*
 * Budgets of the kernel's NPUs by netlink: needs no permission to open a device.
 */
#ifndef TOOL_KERNEL_BUDGET_H
#define TOOL_KERNEL_BUDGET_H

#include "netlink.h"

/**
 * struct tool_banks - a budget at one moment
 * @generation: counts its changes
 * @total: banks of the hardware
 * @usable: below the lowest one that is marked unusable
 * @limit: what the administrator allows all clients
 * @reserved: sum of the reservations
 * @available: to a client without a reservation
 */
struct tool_banks {
	u64 generation;
	u32 total;
	u32 usable;
	u32 limit;
	u32 reserved;
	u32 available;
};

/**
 * struct tool_change - one change of a budget
 * @device: N of accelN
 * @cause: in words
 * @old, @now: before and after
 */
struct tool_change {
	u32 device;
	const char *cause;
	struct tool_banks old;
	struct tool_banks now;
};

/* "accelN" or "/dev/accel/accelN". */
bool tool_kernel_device(const char *name, u32 *number);

/* Number of the first NPU that the kernel has; false: there is none, or no driver. */
bool tool_kernel_first(u32 *number);

/* Return: 0; -ENODEV; -ENOTSUP: the kernel has no such family; other errno, with text. */
int tool_kernel_budget(u32 number, struct tool_banks *banks);

/**
 * tool_kernel_next_change() - sleep until a budget changes
 * @sock: of npu_netlink_listen()
 * @number: of this device
 *
 * Return: 0; -ENOBUFS: changes were lost, ask for the budget; other errno, with text.
 */
int tool_kernel_next_change(struct nl_sock *sock, u32 number, struct tool_change *change);

#endif /* TOOL_KERNEL_BUDGET_H */
