// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Arithmetic of the live budget: see the header.
 */
#include "nvdla_budget_rules.h"

struct nvdla_budget_state nvdla_budget_state_fresh(u32 total)
{
	struct nvdla_budget_state state = { .total = total, .limit = total };

	return state;
}

u32 nvdla_budget_state_usable(const struct nvdla_budget_state *state)
{
	u32 bank;

	for (bank = 0; bank < min(state->total, NVDLA_BUDGET_MASK_BANKS); bank++)
		if (state->unusable >> bank & 1)
			return bank;
	return state->total;
}

u32 nvdla_budget_state_ceiling(const struct nvdla_budget_state *state)
{
	return min(state->limit, nvdla_budget_state_usable(state));
}

/* What clients other than the one that has @own leave. */
static u32 left_by_others(const struct nvdla_budget_state *state, u32 own)
{
	u32 ceiling = nvdla_budget_state_ceiling(state);
	u32 others = state->reserved - own;

	return others < ceiling ? ceiling - others : 0;
}

u32 nvdla_budget_state_available(const struct nvdla_budget_state *state, u32 own)
{
	return max(left_by_others(state, own), min(own, nvdla_budget_state_ceiling(state)));
}

int nvdla_budget_state_reserve(struct nvdla_budget_state *state, u32 *own, u32 banks)
{
	if (banks == *own)
		return 0;
	if (banks > *own && banks > left_by_others(state, *own))
		return -ENOSPC;
	state->reserved = state->reserved - *own + banks;
	*own = banks;
	return 1;
}

int nvdla_budget_state_set_limit(struct nvdla_budget_state *state, u32 banks)
{
	if (banks < 1 || banks > state->total)
		return -EINVAL;
	if (banks == state->limit)
		return 0;
	state->limit = banks;
	return 1;
}

int nvdla_budget_state_set_unusable(struct nvdla_budget_state *state, u64 banks)
{
	if (state->total < NVDLA_BUDGET_MASK_BANKS && banks >> state->total)
		return -EINVAL;
	if (banks == state->unusable)
		return 0;
	state->unusable = banks;
	return 1;
}
