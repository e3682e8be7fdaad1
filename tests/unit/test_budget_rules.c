// SPDX-License-Identifier: MIT
/*
 * The budget's arithmetic: the cases that KUnit runs in the kernel, and all states
 * of a small device.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../../driver/tests/nvdla_budget_cases.h"

static void test_cases(void **state)
{
	const char *fault;
	size_t i;
	u32 step;

	for (i = 0; i < ARRAY_SIZE(nvdla_budget_cases); i++) {
		fault = nvdla_budget_case_run(&nvdla_budget_cases[i], &step);
		if (fault)
			fail_msg("%s, step %u: %s", nvdla_budget_cases[i].name, step, fault);
	}
}

/* What holds whatever happened before. */
static void check_state(const struct nvdla_budget_state *state, const u32 own[2])
{
	u32 ceiling = nvdla_budget_state_ceiling(state);
	u32 client;

	for (client = 0; client < 2; client++) {
		u32 available = nvdla_budget_state_available(state, own[client]);
		u32 other = own[!client];
		struct nvdla_budget_state tried = *state;
		u32 mine = own[client];

		assert_in_range(available, 0, ceiling);
		assert_true(available >= min(own[client], ceiling));
		assert_true(available <= (other < ceiling ? ceiling - other : 0) ||
			    available <= own[client]);
		/* Whoever has more than it reserved may reserve it; one bank more is too much. */
		if (available > mine)
			assert_int_equal(nvdla_budget_state_reserve(&tried, &mine, available), 1);
		tried = *state;
		mine = own[client];
		assert_int_equal(nvdla_budget_state_reserve(&tried, &mine,
							    max(available, mine) + 1),
				 -ENOSPC);
		assert_memory_equal(&tried, state, sizeof(tried));
		assert_int_equal(mine, own[client]);
	}
}

static void test_all_states(void **unused)
{
	enum { BANKS = 5 };
	u32 limit, a, b;
	u64 mask;

	for (limit = 1; limit <= BANKS; limit++)
		for (a = 0; a <= BANKS; a++)
			for (b = 0; a + b <= BANKS; b++)
				for (mask = 0; mask < 1u << BANKS; mask++) {
					struct nvdla_budget_state state = { BANKS, limit, a + b,
									    mask };

					check_state(&state, (const u32[]){ a, b });
				}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_all_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
