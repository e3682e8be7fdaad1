// SPDX-License-Identifier: MIT
/* Packing of the arena, layer lists as input, and what the verifier finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../common/layer_net.h"
#include "plan/memory.h"
#include "plan/plan_internal.h"

#define HEADER "name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n"

static const struct nvdla_config *small(void)
{
	return nvdla_config_find("nv_small");
}

static struct npu_net *net_of(const char *text, struct npu_diag *diag)
{
	struct npu_net *net = NULL;

	diag->text[0] = 0;
	return npu_net_from_tsv(text, strlen(text), "list.tsv", small(), &net, diag) ? NULL : net;
}

static struct npu_plan *plan_of(const struct npu_net *net)
{
	struct npu_budget budget = npu_budget_full(net->config);
	struct npu_diag diag = { "" };
	struct npu_plan *plan = NULL;

	if (npu_plan_net(net, &budget, &plan, &diag))
		fail_msg("%s", diag.text);
	return plan;
}

/* ---- memory -------------------------------------------------------------------------- */

/* Layers of SDP that add two values each: any graph of lifetimes can be made of them. */
struct graph {
	struct npu_net net;
	struct npu_value value[64];
	struct npu_layer layer[64];
	u32 input[8], output[8];
};

static u32 add_value(struct graph *g, u32 h, u32 w, u32 c)
{
	struct npu_value *v = &g->value[g->net.value_count];

	*v = (struct npu_value){ .name = "value", .tensor = NPU_NONE, .alias = NPU_NONE };
	npu_value_set_feature(v, g->net.config, h, w, c);
	return g->net.value_count++;
}

static void add_layer(struct graph *g, u32 a, u32 b, u32 out)
{
	struct npu_layer *l = &g->layer[g->net.layer_count++];

	*l = (struct npu_layer){ .kind = NPU_LAYER_SDP,
				 .name = "add",
				 .input = a,
				 .output = out,
				 .blocks = 1,
				 .unpooled = NPU_NONE };
	l->sdp.bs.bypass = true;
	l->sdp.bn = (struct npu_sdp_stage){ .alu_from = NPU_OPERAND_ELEMENT, .value = b };
	l->sdp.bn.bypass = b == NPU_NONE;
}

static struct graph *graph_new(void)
{
	struct graph *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->net.config = small();
	g->net.value = g->value;
	g->net.layer = g->layer;
	g->net.input = g->input;
	g->net.output = g->output;
	return g;
}

static void set_ends(struct graph *g, u32 in, u32 out)
{
	g->input[0] = in;
	g->net.input_count = 1;
	g->output[0] = out;
	g->net.output_count = 1;
}

/* A line of layers never needs more than its two largest neighbours. */
static void test_line(void **unused)
{
	struct graph *g = graph_new();
	struct npu_diag diag = { "" };
	u32 last = add_value(g, 8, 8, 8), i;
	struct npu_plan *plan;

	g->input[0] = last;
	for (i = 0; i < 6; i++) {
		u32 next = add_value(g, 8, 8, 8);

		add_layer(g, last, NPU_NONE, next);
		last = next;
	}
	set_ends(g, g->input[0], last);
	plan = plan_of(&g->net);
	assert_int_equal(plan->arena_lower_bound, 2 * 8 * 8 * 8);
	assert_int_equal(plan->arena_bytes, plan->arena_lower_bound);
	assert_int_equal(npu_plan_verify(&g->net, plan, &diag), 0);
	npu_plan_free(plan);
	free(g);
}

/* A value that is read again late keeps its place; outputs stay to the end, inputs from the start. */
static void test_lifetimes(void **unused)
{
	struct graph *g = graph_new();
	u32 in = add_value(g, 4, 4, 8), a = add_value(g, 4, 4, 8), b = add_value(g, 4, 4, 8);
	u32 out = add_value(g, 4, 4, 8), second = add_value(g, 4, 4, 8);
	struct npu_live live[8];
	struct npu_plan *plan;

	add_layer(g, in, NPU_NONE, a);
	add_layer(g, a, NPU_NONE, out);
	add_layer(g, a, NPU_NONE, b);
	add_layer(g, b, second, b);
	set_ends(g, in, out);
	g->input[1] = second;
	g->net.input_count = 2;
	plan = plan_of(&g->net);
	npu_plan_live(&g->net, plan, live);
	assert_int_equal(live[in].last, 0);
	assert_int_equal(live[a].last, 2);
	assert_int_equal(live[out].first, 1);
	assert_int_equal(live[out].last, 3);
	assert_int_equal(live[second].first, 0);
	assert_int_equal(live[second].last, 3);
	npu_plan_free(plan);
	free(g);
}

/* A part lies in its whole, and lives as long. */
static void test_alias(void **unused)
{
	struct graph *g = graph_new();
	u32 in = add_value(g, 4, 4, 8), whole = add_value(g, 4, 4, 16),
	    part = add_value(g, 4, 4, 8);
	u32 out = add_value(g, 4, 4, 8);
	struct npu_plan *plan;

	g->value[part].alias = whole;
	g->value[part].alias_offset = 4 * 4 * 8;
	add_layer(g, in, NPU_NONE, part);
	add_layer(g, in, NPU_NONE, out);
	set_ends(g, in, out);
	plan = plan_of(&g->net);
	assert_int_equal(plan->place[part].band[0].offset,
			 plan->place[whole].band[0].offset + 4 * 4 * 8);
	npu_plan_free(plan);
	free(g);
}

/* Random graphs: no overlap, close to what is alive at once. */
static void test_random_graphs(void **unused)
{
	u32 state = 5, round, at_bound = 0;
	double worst = 1;

	for (round = 0; round < 300; round++) {
		struct graph *g = graph_new();
		struct npu_diag diag = { "" };
		struct npu_plan *plan;
		u32 n = random_between(&state, 2, 30), i;

		/* One shape per net keeps SDP legal; sizes differ by making parts of larger values. */
		for (i = 0; i < n; i++)
			add_value(g, 4, 4, 8);
		for (i = 0; i < n; i++)
			g->value[i].bytes = 128 * random_between(&state, 1, 40);
		for (i = 1; i < n; i++)
			add_layer(g, next_random(&state, i), i - 1, i);
		set_ends(g, 0, n - 1);
		plan = plan_of(&g->net);
		if (npu_plan_verify(&g->net, plan, &diag))
			fail_msg("round %u: %s", round, diag.text);
		assert_true(plan->arena_bytes >= plan->arena_lower_bound);
		at_bound += plan->arena_bytes == plan->arena_lower_bound;
		worst = max(worst, (double)plan->arena_bytes / (double)plan->arena_lower_bound);
		npu_plan_free(plan);
		free(g);
	}
	printf("# %u of 300 at the lower bound, worst %.3f times it\n", at_bound, worst);
	assert_true(at_bound > 240);
	assert_true(worst < 1.15);
}

/* ---- verifier -------------------------------------------------------------------------- */

/* Changes of one task that make a plan wrong. */
static void spoil(struct npu_task *t, u32 which)
{
	switch (which) {
	case 0:
		t->data_banks += 40;
		break;
	case 1:
		t->eps++;
		break;
	case 2:
		t->rows--;
		break;
	case 3:
		t->in_rows++;
		break;
	case 4:
		t->pad_left++;
		break;
	case 5:
		t->kernels = 4;
		break;
	case 6:
		t->data_reuse = !t->data_reuse;
		break;
	case 7:
		t->weight_reuse = !t->weight_reuse;
		break;
	case 8:
		t->skip_data_rls = !t->skip_data_rls;
		break;
	case 9:
		t->skip_weight_rls = !t->skip_weight_rls;
		break;
	case 10:
		t->rls_slices++;
		break;
	case 11:
		t->layer++;
		break;
	case 12:
		t->x++;
		break;
	case 13:
		t->weight_banks = 0;
		break;
	case 14:
		t->cost.cycles++;
		break;
	case 15:
		t->conv_rows++;
		break;
	default:
		t->kept_rows++;
		break;
	}
}

static void test_verifier(void **unused)
{
	const struct layer_numbers n = layer_3x3(64, 112, 112, 64);
	struct npu_net *net = layer_net(&n, small());
	struct npu_plan *plan;
	u32 i, task;

	assert_non_null(net);
	plan = plan_of(net);
	assert_true(plan->task_count > 2);
	for (i = 0; i <= 16; i++)
		for (task = 1; task < plan->task_count; task++) {
			struct npu_task good = plan->task[task];
			struct npu_diag diag = { "" };

			spoil(&plan->task[task], i);
			if (!npu_plan_verify(net, plan, &diag))
				fail_msg("change %u of task %u is not found", i, task);
			assert_non_null(strstr(diag.text, "layer"));
			plan->task[task] = good;
			diag.text[0] = 0;
			if (npu_plan_verify(net, plan, &diag))
				fail_msg("%s", diag.text);
		}
	npu_plan_free(plan);
	npu_net_free(net);
}

static void test_verifier_memory(void **unused)
{
	struct graph *g = graph_new();
	u32 in = add_value(g, 4, 4, 8), a = add_value(g, 4, 4, 8), out = add_value(g, 4, 4, 8);
	struct npu_diag diag = { "" };
	struct npu_plan *plan;

	add_layer(g, in, NPU_NONE, a);
	add_layer(g, a, in, out);
	set_ends(g, in, out);
	plan = plan_of(&g->net);
	plan->place[out].band[0].offset = plan->place[a].band[0].offset;
	assert_int_equal(npu_plan_verify(&g->net, plan, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "overlap"));
	npu_plan_free(plan);
	free(g);
}

/* ---- layer lists ------------------------------------------------------------------------- */

static void test_list(void **unused)
{
	struct npu_diag diag;
	struct npu_net *net =
		net_of(HEADER "a\tconv\t3\t32\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\r\n"
			      "\n"
			      "b\tconv\t16\t32\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t16\n"
			      "c\tpool_max\t16\t32\t32\t0\t2\t2\t2\t2\t0\t0\t0\t0\t1\t1\t1\n"
			      "d\tadd\t16\t16\t16\t16\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n"
			      "e\tpool_avg\t16\t16\t16\t16\t16\t16\t1\t1\t0\t0\t0\t0\t1\t1\t1\n"
			      "f\tfc\t10000\t1\t1\t10\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1",
		       &diag);
	struct npu_plan *plan;

	if (!net)
		fail_msg("%s", diag.text);
	assert_int_equal(net->layer_count, 6);
	assert_int_equal(net->layer[1].input, net->layer[0].output);
	assert_int_equal(net->layer[1].blocks, 2);
	assert_int_equal(net->layer[1].c, 8);
	assert_int_equal(net->layer[2].kind, NPU_LAYER_PDP);
	assert_int_equal(net->layer[3].kind, NPU_LAYER_SDP);
	assert_int_equal(net->layer[4].kind, NPU_LAYER_CONV);
	assert_int_equal(net->layer[5].window.r * net->layer[5].c, 10000);
	plan = plan_of(net);
	assert_int_equal(npu_plan_verify(net, plan, &diag), 0);
	assert_int_equal(plan->layer[3].cost.operand_bytes, 16 * 16 * 16);
	npu_plan_free(plan);
	npu_net_free(net);
}

static void test_bad_lists(void **unused)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "", "empty" },
		{ "name\top\n", "list.tsv:1: column 3 is not called c" },
		{ HEADER, "no layers" },
		{ HEADER "a\tconv\t3\t32\n", "list.tsv:2: less than 17 columns" },
		{ HEADER "a\tconv\t3\t32\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "list.tsv:2: more than 17 columns" },
		{ HEADER "a\tkonv\t3\t32\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column op: 'konv'" },
		{ HEADER "a\tconv\t3\tx\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column h: 'x' is not a number" },
		{ HEADER "a\tconv\t3\t-1\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column h: '-1' is not a number" },
		{ HEADER
		  "a\tconv\t3\t99999999999999999999\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column h" },
		{ HEADER "a\tconv\t3\t32\t9000\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column w: 9000 is not between 1 and 8192" },
		{ HEADER "a\tconv\t0\t32\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column c: 0 is not between" },
		{ HEADER "a\tconv\t3\t32\t32\t16\t33\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column r: 33 is not between 1 and 32" },
		{ HEADER "a\tconv\t3\t32\t32\t16\t3\t3\t9\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column sy: 9 is not between 1 and 8" },
		{ HEADER "a\tconv\t3\t32\t32\t16\t3\t3\t1\t1\t3\t1\t1\t1\t1\t1\t1\n",
		  "column pt: padding is not smaller than the kernel" },
		{ HEADER "a\tconv\t3\t2\t32\t16\t7\t3\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column r: the kernel is larger" },
		{ HEADER "a\tconv\t6\t32\t32\t16\t3\t3\t1\t1\t1\t1\t1\t1\t1\t1\t4\n",
		  "column groups: 4 does not divide" },
		{ HEADER "a\tconv\t8192\t32\t32\t16\t32\t32\t1\t1\t1\t1\t1\t1\t1\t1\t1\n",
		  "column c: a kernel of 8388608 bytes" },
		{ HEADER "a\tpool_max\t8\t32\t32\t16\t2\t2\t2\t2\t0\t0\t0\t0\t1\t1\t1\n",
		  "column k: 16 channels from 8" },
		{ HEADER "a\tpool_max\t8\t32\t32\t8\t9\t2\t2\t2\t0\t0\t0\t0\t1\t1\t1\n",
		  "column r: 9 is not between 1 and 8" },
		{ HEADER "a\tfc\t8193\t1\t1\t16\t1\t1\t1\t1\t0\t0\t0\t0\t1\t1\t1\n",
		  "column c: 8193 is not between 1 and 8192" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct npu_diag diag;

		assert_null(net_of(bad[i].text, &diag));
		if (!strstr(diag.text, bad[i].says))
			fail_msg("list %zu: '%s', not '%s'", i, diag.text, bad[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),	 cmocka_unit_test(test_lifetimes),
		cmocka_unit_test(test_alias),	 cmocka_unit_test(test_random_graphs),
		cmocka_unit_test(test_verifier), cmocka_unit_test(test_verifier_memory),
		cmocka_unit_test(test_list),	 cmocka_unit_test(test_bad_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
