// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit suites of what nvdla.ko decides by itself: the budget's arithmetic and the
 * validator of chain streams.  The cases are those of the unit tests in user space; the
 * code is that inside nvdla.ko.
 */
#include <kunit/test.h>
#include <kunit/visibility.h>
#include <linux/module.h>

#include "nvdla_budget_cases.h"
#include "nvdla_compat.h"
#include "nvdla_validate_cases.h"

/* ---- budget ---- */

static void budget_describe(const struct nvdla_budget_case *test, char *text)
{
	strscpy(text, test->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(budget, nvdla_budget_cases, budget_describe);

static void budget_test(struct kunit *test)
{
	u32 step;
	const char *fault = nvdla_budget_case_run(test->param_value, &step);

	if (fault)
		KUNIT_FAIL(test, "step %u: %s", step, fault);
}

static struct kunit_case budget_tests[] = {
	KUNIT_CASE_PARAM(budget_test, budget_gen_params),
	{},
};

static struct kunit_suite budget_suite = {
	.name = "nvdla-budget",
	.test_cases = budget_tests,
};

/* ---- validator ---- */

static int validator_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, sizeof(struct nvdla_case_room), GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static void rule_describe(const struct nvdla_validate_case *test, char *text)
{
	strscpy(text, test->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(rule, nvdla_validate_cases, rule_describe);

static void rule_test(struct kunit *test)
{
	struct nvdla_case_room *room = test->priv;
	const char *fault = nvdla_validate_case_run(test->param_value, room);
	char text[256];

	if (!fault)
		return;
	nvdla_chain_error_text(&room->error, text, sizeof(text));
	KUNIT_FAIL(test, "%s: %s", fault, text);
}

static void structure_describe(const struct nvdla_structure_case *test, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%#x at byte %zu", test->value, test->at);
}

KUNIT_ARRAY_PARAM(structure, nvdla_structure_cases, structure_describe);

static void structure_test(struct kunit *test)
{
	const char *fault = nvdla_structure_case_run(test->param_value, test->priv);

	if (fault)
		KUNIT_FAIL(test, "%s", fault);
}

/* Every length of a stream that is too short, in a buffer of just that size. */
static void truncation_test(struct kunit *test)
{
	const struct nvdla_config *cfg = nvdla_config_find(NVDLA_CASE_CONFIG);
	struct nvdla_case_room *room = test->priv;
	struct chain_build *b = &room->build;
	u32 size;

	chain_begin(b);
	nvdla_make_cdp(b, cfg);
	nvdla_case_finish(b);
	for (size = 0; size < b->size; size++) {
		u8 *cut = kmemdup(b->data, size, GFP_KERNEL);

		if (!cut)
			break;
		if (size >= sizeof(struct nvdla_chain_header))
			memcpy(cut + offsetof(struct nvdla_chain_header, size), &size,
			       sizeof(size));
		KUNIT_EXPECT_EQ(test,
				nvdla_chain_validate(cfg, cut, size, room->storage,
						     sizeof(room->storage), &room->chain,
						     &room->error),
				-EINVAL);
		kfree(cut);
	}
	KUNIT_EXPECT_EQ(test, size, b->size);
	chain_free(b);
}

/* What the cases start from is accepted for every configuration. */
static void configuration_test(struct kunit *test)
{
	struct nvdla_case_room *room = test->priv;
	u32 config, i;

	for (config = 0; config < nvdla_config_count; config++)
		for (i = 0; i < ARRAY_SIZE(nvdla_case_makes); i++) {
			chain_begin(&room->build);
			nvdla_case_makes[i](&room->build, &nvdla_configs[config]);
			nvdla_case_finish(&room->build);
			KUNIT_EXPECT_EQ(test, nvdla_case_validate(&nvdla_configs[config], room), 0);
			chain_free(&room->build);
		}
}

static struct kunit_case validator_tests[] = {
	KUNIT_CASE_PARAM(rule_test, rule_gen_params),
	KUNIT_CASE_PARAM(structure_test, structure_gen_params),
	KUNIT_CASE(truncation_test),
	KUNIT_CASE(configuration_test),
	{},
};

static struct kunit_suite validator_suite = {
	.name = "nvdla-validator",
	.init = validator_init,
	.test_cases = validator_tests,
};

kunit_test_suites(&budget_suite, &validator_suite);

NVDLA_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("Tests of the nvdla driver");
MODULE_LICENSE("GPL");
