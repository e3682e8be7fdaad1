/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Cases of the budget's arithmetic: steps, what they return and what is available
 * then.  KUnit runs them in the kernel, the unit tests in user space.
 */
#ifndef NVDLA_BUDGET_CASES_H
#define NVDLA_BUDGET_CASES_H

#include "nvdla_budget_rules.h"

#define NVDLA_BUDGET_CASE_CLIENTS 3
#define NVDLA_BUDGET_CASE_STEPS 8

enum nvdla_budget_step_op {
	NVDLA_BUDGET_STEP_END = 0,
	NVDLA_BUDGET_STEP_LIMIT,
	NVDLA_BUDGET_STEP_UNUSABLE,
	NVDLA_BUDGET_STEP_RESERVE, /* + client */
};

/**
 * struct nvdla_budget_step - one change
 * @op: which
 * @value: limit, mask or banks
 * @result: what the change returns
 * @ceiling: banks for all clients afterwards
 * @available: afterwards, to each client
 */
struct nvdla_budget_step {
	u32 op;
	u64 value;
	int result;
	u32 ceiling;
	u32 available[NVDLA_BUDGET_CASE_CLIENTS];
};

struct nvdla_budget_case {
	const char *name;
	u32 total;
	struct nvdla_budget_step step[NVDLA_BUDGET_CASE_STEPS];
};

#define LIMIT NVDLA_BUDGET_STEP_LIMIT
#define UNUSABLE NVDLA_BUDGET_STEP_UNUSABLE
#define RESERVE(client) (NVDLA_BUDGET_STEP_RESERVE + (client))
#define BANK(b) ((u64)1 << (b))

/* clang-format off */
static const struct nvdla_budget_case nvdla_budget_cases[] = {
	{ "limits", 32, {
		{ LIMIT, 12, 1, 12, { 12, 12, 12 } },
		{ LIMIT, 12, 0, 12, { 12, 12, 12 } },
		{ LIMIT, 0, -EINVAL, 12, { 12, 12, 12 } },
		{ LIMIT, 33, -EINVAL, 12, { 12, 12, 12 } },
		{ LIMIT, 0xffffffff, -EINVAL, 12, { 12, 12, 12 } },
		{ LIMIT, 1, 1, 1, { 1, 1, 1 } },
		{ LIMIT, 32, 1, 32, { 32, 32, 32 } },
	} },
	{ "one bank", 1, {
		{ LIMIT, 1, 0, 1, { 1, 1, 1 } },
		{ LIMIT, 2, -EINVAL, 1, { 1, 1, 1 } },
		{ RESERVE(0), 1, 1, 1, { 1, 0, 0 } },
		{ RESERVE(1), 1, -ENOSPC, 1, { 1, 0, 0 } },
		{ RESERVE(0), 0, 1, 1, { 1, 1, 1 } },
		{ UNUSABLE, BANK(0), 1, 0, { 0, 0, 0 } },
		{ RESERVE(2), 1, -ENOSPC, 0, { 0, 0, 0 } },
	} },
	{ "a reservation is a floor and a ceiling", 32, {
		{ RESERVE(0), 20, 1, 32, { 32, 12, 12 } },
		{ RESERVE(0), 20, 0, 32, { 32, 12, 12 } },
		{ RESERVE(1), 13, -ENOSPC, 32, { 32, 12, 12 } },
		{ RESERVE(1), 12, 1, 32, { 20, 12, 0 } },
		{ RESERVE(2), 1, -ENOSPC, 32, { 20, 12, 0 } },
		{ RESERVE(0), 21, -ENOSPC, 32, { 20, 12, 0 } },
		{ RESERVE(1), 0, 1, 32, { 32, 12, 12 } },
		{ RESERVE(0), 0xffffffff, -ENOSPC, 32, { 32, 12, 12 } },
	} },
	{ "a limit below what is reserved", 32, {
		{ RESERVE(0), 20, 1, 32, { 32, 12, 12 } },
		{ RESERVE(1), 12, 1, 32, { 20, 12, 0 } },
		{ LIMIT, 16, 1, 16, { 16, 12, 0 } },
		{ RESERVE(1), 13, -ENOSPC, 16, { 16, 12, 0 } },
		{ RESERVE(0), 2, 1, 16, { 4, 14, 2 } },
		{ RESERVE(1), 14, 1, 16, { 2, 14, 0 } },
		{ LIMIT, 32, 1, 32, { 18, 30, 16 } },
	} },
	{ "data starts at bank 0", 16, {
		{ UNUSABLE, BANK(5) | BANK(9), 1, 5, { 5, 5, 5 } },
		{ UNUSABLE, BANK(5) | BANK(9), 0, 5, { 5, 5, 5 } },
		{ UNUSABLE, BANK(15), 1, 15, { 15, 15, 15 } },
		{ UNUSABLE, BANK(16), -EINVAL, 15, { 15, 15, 15 } },
		{ UNUSABLE, BANK(63) | BANK(1), -EINVAL, 15, { 15, 15, 15 } },
		{ UNUSABLE, BANK(0), 1, 0, { 0, 0, 0 } },
		{ UNUSABLE, 0, 1, 16, { 16, 16, 16 } },
	} },
	{ "the least of limit and usable counts", 16, {
		{ LIMIT, 8, 1, 8, { 8, 8, 8 } },
		{ UNUSABLE, BANK(12), 1, 8, { 8, 8, 8 } },
		{ UNUSABLE, BANK(3), 1, 3, { 3, 3, 3 } },
		{ RESERVE(0), 4, -ENOSPC, 3, { 3, 3, 3 } },
		{ RESERVE(0), 2, 1, 3, { 3, 1, 1 } },
		{ LIMIT, 2, 1, 2, { 2, 0, 0 } },
	} },
	{ "banks are lost below a reservation", 32, {
		{ RESERVE(0), 24, 1, 32, { 32, 8, 8 } },
		{ UNUSABLE, BANK(10), 1, 10, { 10, 0, 0 } },
		{ RESERVE(0), 11, 1, 10, { 10, 0, 0 } },
		{ RESERVE(0), 12, -ENOSPC, 10, { 10, 0, 0 } },
		{ RESERVE(0), 4, 1, 10, { 10, 6, 6 } },
		{ UNUSABLE, 0, 1, 32, { 32, 28, 28 } },
	} },
	{ "as many banks as the mask has bits", 64, {
		{ UNUSABLE, BANK(63), 1, 63, { 63, 63, 63 } },
		{ LIMIT, 64, 0, 63, { 63, 63, 63 } },
		{ RESERVE(2), 63, 1, 63, { 0, 0, 63 } },
		{ UNUSABLE, ~(u64)0, 1, 0, { 0, 0, 0 } },
	} },
	{ "more banks than the mask has bits", 1000, {
		{ UNUSABLE, 0, 0, 1000, { 1000, 1000, 1000 } },
		{ RESERVE(0), 1000, 1, 1000, { 1000, 0, 0 } },
		{ UNUSABLE, BANK(63), 1, 63, { 63, 0, 0 } },
	} },
};

/* clang-format on */

#undef LIMIT
#undef UNUSABLE
#undef RESERVE
#undef BANK

static inline int nvdla_budget_step_run(const struct nvdla_budget_step *step,
					struct nvdla_budget_state *state, u32 *own)
{
	u32 value = (u32)step->value;

	switch (step->op) {
	case NVDLA_BUDGET_STEP_LIMIT:
		return nvdla_budget_state_set_limit(state, value);
	case NVDLA_BUDGET_STEP_UNUSABLE:
		return nvdla_budget_state_set_unusable(state, step->value);
	default:
		own += step->op - NVDLA_BUDGET_STEP_RESERVE;
		return nvdla_budget_state_reserve(state, own, value);
	}
}

/**
 * nvdla_budget_case_run() - all steps of a case
 * @step: receives the number of the step that is not as expected, from 1
 *
 * Return: what is not as expected; NULL: all is.
 */
static inline const char *nvdla_budget_case_run(const struct nvdla_budget_case *test, u32 *step)
{
	struct nvdla_budget_state state = nvdla_budget_state_fresh(test->total);
	u32 own[NVDLA_BUDGET_CASE_CLIENTS] = { 0 }, client, sum, available;
	const struct nvdla_budget_step *s;

	for (*step = 1; *step <= NVDLA_BUDGET_CASE_STEPS; ++*step) {
		s = &test->step[*step - 1];
		if (s->op == NVDLA_BUDGET_STEP_END)
			break;
		if (nvdla_budget_step_run(s, &state, own) != s->result)
			return "result";
		if (nvdla_budget_state_ceiling(&state) != s->ceiling)
			return "ceiling";
		for (client = 0, sum = 0; client < NVDLA_BUDGET_CASE_CLIENTS; client++) {
			available = nvdla_budget_state_available(&state, own[client]);
			if (available != s->available[client])
				return "available";
			sum += own[client];
		}
		if (state.reserved != sum)
			return "reserved";
	}
	return NULL;
}

#endif /* NVDLA_BUDGET_CASES_H */
