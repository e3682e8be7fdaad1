/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Arithmetic of the live budget: how many banks of the convolution buffer a
 * client may use.  No locks, no lists: the kernel's budget, the simulated NPU's and
 * the tests count with the same functions.
 */
#ifndef NVDLA_BUDGET_RULES_H
#define NVDLA_BUDGET_RULES_H

#include "nvdla_types.h"

/* Banks that struct nvdla_budget_state.unusable can name. */
#define NVDLA_BUDGET_MASK_BANKS 64u

/**
 * struct nvdla_budget_state - all that decides about a device's budget
 * @total: banks of the hardware, at least 1
 * @limit: banks that the administrator allows all clients, 1 to @total
 * @reserved: banks that clients have reserved, in sum
 * @unusable: bit b: bank b must not be used
 */
struct nvdla_budget_state {
	u32 total;
	u32 limit;
	u32 reserved;
	u64 unusable;
};

/* The state of a device that nobody has touched. */
struct nvdla_budget_state nvdla_budget_state_fresh(u32 total);

/*
 * Banks below the lowest unusable one.  The buffer has no base register: data always starts at bank
 * 0, so what lies above a bad bank cannot be reached.
 */
u32 nvdla_budget_state_usable(const struct nvdla_budget_state *state);

/* Banks that all clients may use together: the least of limit and usable. */
u32 nvdla_budget_state_ceiling(const struct nvdla_budget_state *state);

/**
 * nvdla_budget_state_available() - banks that a client may use now
 * @own: its own reservation, part of @state->reserved
 *
 * What the others have not reserved, and the client's own reservation at the least; never more than
 * the ceiling.
 */
u32 nvdla_budget_state_available(const struct nvdla_budget_state *state, u32 own);

/**
 * nvdla_budget_state_reserve() - change a client's reservation
 * @own: what it has; updated
 * @banks: what it wants from now on
 *
 * Giving back is always possible, asking for more where the others leave so much.
 *
 * Return: 1: changed; 0: it has that already; -ENOSPC: nothing was changed.
 */
int nvdla_budget_state_reserve(struct nvdla_budget_state *state, u32 *own, u32 banks);

/**
 * nvdla_budget_state_set_limit() - change what the administrator allows
 *
 * Return: 1: changed; 0: it is that already; -EINVAL: not 1 to @state->total.
 */
int nvdla_budget_state_set_limit(struct nvdla_budget_state *state, u32 banks);

/**
 * nvdla_budget_state_set_unusable() - change which banks must not be used
 * @banks: mask, replaces the earlier one
 *
 * Return: 1: changed; 0: it is that already; -EINVAL: names a bank that the hardware does not have.
 */
int nvdla_budget_state_set_unusable(struct nvdla_budget_state *state, u64 banks);

#endif /* NVDLA_BUDGET_RULES_H */
