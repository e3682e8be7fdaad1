// SPDX-License-Identifier: MIT
/* Values that are larger than a piece of memory: where they are cut, and that every pass keeps to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../common/layer_net.h"
#include "plan/axis.h"
#include "plan/plan_internal.h"

#define HEADER "name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n"
#define PAGE 4096u

/* ---- one direction ------------------------------------------------------------------- */

/* The first line that outputs from @from on fetch behind a piece [@before, @from). */
static u32 first_fetched(const struct npu_axis *a, u32 before, u32 from, bool halo)
{
	u32 first = npu_axis_first(a, from), end = npu_axis_end(a, from);
	bool stays = halo && first > npu_axis_first(a, before) && first < end &&
		     npu_axis_end(a, a->out) > end;

	return stays ? end : first;
}

/* Does cutting at output @at keep all fetches on one side of @line, whatever else is cut? */
static bool keeps_apart(const struct npu_axis *a, u32 line, u32 at, bool halo)
{
	u32 before, from;

	if (npu_axis_end(a, at) > line)
		return false;
	for (from = at; from < a->out; from++)
		for (before = from == at ? 0 : at; before < from; before++)
			if (first_fetched(a, before, from, halo) < line)
				return false;
	return true;
}

static void check_axis(const struct npu_axis *a, bool halo, u32 *found)
{
	u32 line, at, cut;

	for (line = 1; line < a->in; line++) {
		cut = npu_axis_cut(a, line, halo);
		if (cut == a->out) {
			assert_true(npu_axis_end(a, a->out) <= line);
			continue;
		}
		*found += cut > 0;
		if (cut && !keeps_apart(a, line, cut, halo))
			fail_msg("line %u is not kept apart at output %u", line, cut);
		for (at = 1; !cut && at < a->out; at++)
			if (keeps_apart(a, line, at, halo))
				fail_msg("line %u could be cut at output %u", line, at);
	}
}

static void test_axis(void **unused)
{
	u32 state = 1, round, found[2] = { 0, 0 };

	for (round = 0; round < 20000; round++) {
		struct npu_axis a = { .in = random_between(&state, 1, 24),
				      .kernel = random_between(&state, 1, 6),
				      .stride = random_between(&state, 1, 4),
				      .pool_kernel = 1,
				      .pool_stride = 1 };
		u32 after = next_random(&state, a.kernel);

		a.pad = next_random(&state, a.kernel);
		a.conv = npu_window_outputs(a.in, a.pad, after, a.kernel, 1, a.stride);
		a.out = a.conv;
		if (a.conv && next_random(&state, 2)) {
			a.pool_kernel = random_between(&state, 1, 4);
			a.pool_stride = random_between(&state, 1, 4);
			a.pool_pad = next_random(&state, a.pool_kernel);
			a.out = npu_window_outputs(a.conv, a.pool_pad, a.pool_pad, a.pool_kernel, 1,
						   a.pool_stride);
		}
		if (!npu_axis_sound(&a))
			continue;
		check_axis(&a, false, &found[0]);
		check_axis(&a, true, &found[1]);
	}
	assert_true(found[0] > 1000);
	assert_true(found[1] > found[0]);
}

/* ---- one layer ------------------------------------------------------------------------- */

static const struct nvdla_config *small(void)
{
	return nvdla_config_find("nv_small");
}

/* A layer list with the header in front of it. */
static struct npu_net *net_of(const char *lines)
{
	struct npu_diag diag = { "" };
	struct npu_net *net = NULL;

	if (npu_net_from_tsv(lines, strlen(lines), "list.tsv", small(), &net, &diag))
		fail_msg("%s", diag.text);
	return net;
}

static int try_plan(const struct npu_net *net, u64 region_bytes, struct npu_plan **plan,
		    struct npu_diag *diag)
{
	struct npu_budget budget = npu_budget_full(net->config);
	int err;

	budget.region_bytes = region_bytes;
	diag->text[0] = 0;
	err = npu_plan_net(net, &budget, plan, diag);
	if (!err && npu_plan_verify(net, *plan, diag))
		fail_msg("%s", diag->text);
	return err;
}

static struct npu_plan *plan_of(const struct npu_net *net, u64 region_bytes)
{
	struct npu_diag diag;
	struct npu_plan *plan = NULL;

	if (try_plan(net, region_bytes, &plan, &diag))
		fail_msg("%s", diag.text);
	return plan;
}

/*
 * Layers over a value of 64 lines of 256 bytes, of which 16 make a page, and where it is cut: in
 * front of the largest row that the layer can keep apart.  0: it cannot be cut.
 */
static const struct {
	const char *layer;
	u32 first[5];
} examples[] = {
	/* Row by row, and without a halo: whole pages. */
	{ "a\tadd\t8\t64\t32\t8\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n", { 16, 32, 48 } },
	{ "a\tconv\t8\t64\t32\t8\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n", { 16, 32, 48 } },
	/* The lines that three rows of kernel share stay in the buffer. */
	{ "a\tconv\t8\t64\t32\t8\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n", { 16, 32, 48 } },
	/* Output y needs lines up to 2 y + 2, without padding above up to 2 y + 3. */
	{ "a\tconv\t8\t64\t32\t8\t3\t3\t2\t2\t1\t1\t0\t0\t1\t1\t1\n", { 16, 32, 48 } },
	{ "a\tconv\t8\t64\t32\t8\t3\t3\t2\t2\t0\t0\t0\t0\t1\t1\t1\n", { 15, 31, 47, 63 } },
	/* Rows that a stride steps over belong to either side. */
	{ "a\tconv\t8\t64\t32\t8\t1\t1\t3\t3\t0\t0\t0\t0\t1\t1\t1\n", { 16, 32, 48 } },
	/* Windows of a pooling that touch, and that do not end at pages. */
	{ "a\tpool_max\t8\t64\t32\t0\t2\t2\t2\t2\t0\t0\t0\t0\t1\t1\t1\n", { 16, 32, 48 } },
	{ "a\tpool_max\t8\t64\t32\t0\t3\t3\t3\t3\t0\t0\t0\t0\t1\t1\t1\n", { 15, 30, 45, 60 } },
	/* Windows of a pooling that cross each row: nothing keeps what two of them need. */
	{ "a\tpool_max\t8\t64\t32\t0\t3\t3\t2\t2\t0\t0\t0\t0\t1\t1\t1\n", { 0 } },
};

static void test_examples(void **unused)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(examples); i++) {
		const u32 *first = examples[i].first;
		struct npu_plan *plan = NULL;
		struct npu_diag diag;
		struct npu_net *net;
		char list[512];
		int err;

		snprintf(list, sizeof(list), HEADER "%s", examples[i].layer);
		net = net_of(list);
		err = try_plan(net, PAGE, &plan, &diag);
		if (!first[0]) {
			assert_int_equal(err, -EFBIG);
			assert_non_null(strstr(diag.text, "layer a: cannot cut"));
			npu_net_free(net);
			continue;
		}
		if (err)
			fail_msg("example %u: %s", i, diag.text);
		for (k = 0; first[k]; k++)
			if (plan->place[net->input[0]].count <= k + 1 ||
			    plan->place[net->input[0]].band[k + 1].first != first[k])
				fail_msg("example %u: band %u", i, k + 1);
		assert_int_equal(plan->place[net->input[0]].count, k + 1);
		npu_plan_free(plan);
		npu_net_free(net);
	}
}

/* A value is cut where both that write it and that read it can be: here in front of odd rows. */
static void test_two_layers(void **unused)
{
	struct npu_net *net = net_of(HEADER
				     "a\tconv\t8\t64\t32\t8\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n"
				     "b\tconv\t8\t64\t32\t8\t3\t3\t2\t2\t0\t0\t0\t0\t1\t1\t1\n"
				     "c\tadd\t8\t31\t15\t8\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n");
	const struct npu_plan *plan = plan_of(net, PAGE);
	u32 value = net->layer[0].output, i;

	assert_int_equal(plan->place[value].count, 5);
	assert_int_equal(plan->place[value].band[1].first, 15);
	/* Row 15 of the first layer is also where its own input is cut, after 16 rows. */
	assert_int_equal(plan->place[net->input[0]].band[1].first, 16);
	assert_int_equal(plan->layer[0].task_count, 5);
	for (i = 0; i < plan->layer[0].task_count; i++)
		assert_int_equal(npu_task_torn_value(net, plan, &plan->task[i]), NPU_NONE);
	npu_plan_free((struct npu_plan *)plan);
	npu_net_free(net);
}

/* Pooling whose windows cross runs on the fly, because what is in front of it cannot be cut. */
static void test_pooled(void **unused)
{
	struct layer_numbers n = layer_3x3(8, 64, 32, 64);
	struct npu_net *net;
	struct npu_plan *plan;
	u32 i;

	n.pool = 3;
	n.pool_stride = 2;
	n.pool_pad = 1;
	net = layer_net(&n, small());
	assert_non_null(net);
	plan = plan_of(net, 2 * PAGE);
	assert_int_equal(plan->place[net->layer[0].unpooled].count, 0);
	assert_true(plan->place[net->layer[0].output].count > 1);
	for (i = 0; i < plan->task_count; i++)
		assert_true(plan->task[i].pooled);
	npu_plan_free(plan);
	npu_net_free(net);
}

/* ---- parts of a value ------------------------------------------------------------------ */

/* The second surface of a value in bands is a value of its own. */
static void test_parts(void **unused)
{
	struct npu_net *net = net_of(HEADER
				     "a\tadd\t8\t64\t32\t8\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n"
				     "b\tadd\t16\t64\t32\t16\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n");
	u32 part = net->layer[0].output, whole = net->layer[1].input;
	struct npu_plan *plan = NULL;
	struct npu_diag diag;

	assert_true(part != whole);
	net->value[part].alias = whole;
	net->value[part].alias_offset = net->value[whole].surface_stride;
	plan = plan_of(net, PAGE);
	assert_int_equal(plan->place[whole].count, 8);
	assert_int_equal(plan->place[part].count, 8);
	assert_int_equal(npu_plan_offset(net, plan, part, 21, 3, 5),
			 npu_plan_offset(net, plan, whole, 21, 3, 8 + 5));
	npu_plan_free(plan);
	/* A part that is no whole surface cannot have the bands of the whole. */
	net->value[part].alias_offset -= 256;
	assert_int_equal(try_plan(net, PAGE, &plan, &diag), -EFBIG);
	npu_net_free(net);
}

/* ---- planning again -------------------------------------------------------------------- */

/* What an earlier plan knew of other cuts is not taken for these. */
static void test_again(void **unused)
{
	struct npu_net *net = net_of(HEADER
				     "a\tconv\t64\t56\t56\t64\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n"
				     "b\tconv\t64\t56\t56\t64\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n");
	struct npu_budget budget = npu_budget_full(net->config);
	struct npu_plan *plan[3], *again;
	struct npu_diag diag;
	u32 i, k;

	for (i = 0; i < 3; i++)
		plan[i] = plan_of(net, i * 16 * PAGE);
	for (i = 0; i < 3; i++)
		for (k = 0; k < 3; k++) {
			budget.region_bytes = k * 16 * PAGE;
			assert_int_equal(npu_plan_again(net, plan[i], &budget, &again, &diag), 0);
			assert_int_equal(again->task_count, plan[k]->task_count);
			assert_int_equal(again->layer[1].bound_bytes,
					 plan[k]->layer[1].bound_bytes);
			assert_memory_equal(again->task, plan[k]->task,
					    again->task_count * sizeof(*again->task));
			npu_plan_free(again);
		}
	for (i = 0; i < 3; i++)
		npu_plan_free(plan[i]);
	npu_net_free(net);
}

/* ---- the verifier ---------------------------------------------------------------------- */

static void spoil(struct npu_plan *plan, u32 value, u32 which)
{
	struct npu_band *band = plan->place[value].band;

	switch (which) {
	case 0:
		band[1].first++;
		break;
	case 1:
		band[1].first = band[0].first;
		break;
	case 2:
		band[1].surface_stride -= 256;
		break;
	case 3:
		band[1].offset = band[0].offset;
		break;
	case 4:
		band[0].offset += PAGE / 2;
		break;
	case 5:
		band[1].offset += 1;
		break;
	default:
		band[0].first = 1;
		break;
	}
}

static void test_verifier(void **unused)
{
	struct npu_net *net =
		net_of(HEADER "a\tconv\t8\t64\t32\t8\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n");
	struct npu_plan *plan = plan_of(net, PAGE);
	struct npu_diag diag = { "" };
	u32 value = net->input[0], i;

	for (i = 0; i <= 6; i++) {
		struct npu_band band[2];

		memcpy(band, plan->place[value].band, sizeof(band));
		spoil(plan, value, i);
		if (!npu_plan_verify(net, plan, &diag))
			fail_msg("change %u is not found", i);
		memcpy(plan->place[value].band, band, sizeof(band));
		diag.text[0] = 0;
		assert_int_equal(npu_plan_verify(net, plan, &diag), 0);
	}
	npu_plan_free(plan);
	npu_net_free(net);
}

/* ---- random layers ----------------------------------------------------------------------- */

/* What is refused says so, and what is planned is what the verifier expects, at each budget. */
static void test_random_layers(void **unused)
{
	u32 state = 7, round, banded = 0, refused = 0, banks;

	for (round = 0; round < 1500; round++) {
		const struct nvdla_config *cfg =
			&nvdla_configs[next_random(&state, nvdla_config_count)];
		struct npu_budget budget = npu_budget_full(cfg);
		struct npu_diag diag = { "" };
		struct layer_numbers n;
		struct npu_plan *plan;
		struct npu_net *net;
		int err;

		random_large(&state, 100, 90, 60, &n);
		net = layer_net(&n, cfg);
		if (!net)
			continue;
		budget.region_bytes = PAGE * random_between(&state, 1, 40);
		banks = cfg->banks;
		for (; banks; banks = banks > 5 ? banks / 3 : banks - 1) {
			budget.banks = banks;
			err = npu_plan_net(net, &budget, &plan, &diag);
			refused += err == -EFBIG;
			if (err && err != -ENOSPC && err != -EFBIG)
				fail_msg("round %u: %s", round, diag.text);
			if (err)
				continue;
			if (npu_plan_verify(net, plan, &diag))
				fail_msg("round %u: %s", round, diag.text);
			banded += plan->cut_values > 0;
			npu_plan_free(plan);
		}
		npu_net_free(net);
	}
	printf("# %u plans had values in bands, %u were refused\n", banded, refused);
	assert_true(banded > 1000);
	assert_true(refused < banded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_axis),	   cmocka_unit_test(test_examples),
		cmocka_unit_test(test_two_layers), cmocka_unit_test(test_pooled),
		cmocka_unit_test(test_parts),	   cmocka_unit_test(test_again),
		cmocka_unit_test(test_verifier),   cmocka_unit_test(test_random_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
