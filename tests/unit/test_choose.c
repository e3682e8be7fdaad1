// SPDX-License-Identifier: MIT
/* NPU or CPU by cost: the cut against brute force, and what it makes of small networks. */
#include "net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "optimise/cut.h"
#include "optimise/price.h"
#include "random_model.h"

/* ---- the cut ------------------------------------------------------------------------ */

#define NODES 8u
#define PAIRS 14u

struct problem {
	u64 first[NODES], second[NODES];
	u32 a[PAIRS], b[PAIRS];
	u64 ab[PAIRS], ba[PAIRS];
	u32 nodes, pairs;
};

static u64 random_cost(struct random *random)
{
	if (random_chance(random, 8))
		return NPU_CUT_NEVER;
	return random_chance(random, 30) ? 0 : random_pick(random, 0, 9);
}

static struct problem random_problem(struct random *random)
{
	struct problem p = { .nodes = random_pick(random, 1, NODES) };
	u32 i;

	for (i = 0; i < p.nodes; i++) {
		p.first[i] = random_cost(random);
		p.second[i] = p.first[i] == NPU_CUT_NEVER ? 3 : random_cost(random);
	}
	p.pairs = p.nodes > 1 ? random_pick(random, 0, PAIRS) : 0;
	for (i = 0; i < p.pairs; i++) {
		p.a[i] = random_pick(random, 0, p.nodes - 1);
		p.b[i] = (p.a[i] + random_pick(random, 1, p.nodes - 1)) % p.nodes;
		p.ab[i] = random_cost(random);
		p.ba[i] = random_pick(random, 0, 9);
	}
	return p;
}

/* Sides as bits, 1: the second one.  Costs that are never paid add up, but to less than 2^64. */
static u64 cost_of(const struct problem *p, u32 sides)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < p->nodes; i++)
		sum += sides >> i & 1 ? p->second[i] : p->first[i];
	for (i = 0; i < p->pairs; i++) {
		bool a = sides >> p->a[i] & 1, b = sides >> p->b[i] & 1;

		if (a != b)
			sum += b ? p->ab[i] : p->ba[i];
	}
	return min(sum, NPU_CUT_NEVER);
}

static u32 cut(const struct problem *p)
{
	struct npu_cut *cut = npu_cut_new(p->nodes);
	u32 sides = 0, i;

	assert_non_null(cut);
	for (i = 0; i < p->nodes; i++)
		npu_cut_cost(cut, i, p->first[i], p->second[i]);
	for (i = 0; i < p->pairs; i++)
		assert_int_equal(npu_cut_pair(cut, p->a[i], p->b[i], p->ab[i], p->ba[i]), 0);
	npu_cut_find(cut);
	for (i = 0; i < p->nodes; i++)
		sides |= (u32)npu_cut_is_second(cut, i) << i;
	npu_cut_free(cut);
	return sides;
}

static void test_cut(void **state)
{
	struct random random = { 1 };
	u32 round, sides, found, moved = 0;

	for (round = 0; round < 20000; round++) {
		struct problem p = random_problem(&random);
		u64 least = NPU_CUT_NEVER;
		u32 all = (1u << p.nodes) - 1;

		for (sides = 0; sides <= all; sides++)
			least = min(least, cost_of(&p, sides));
		if (least == NPU_CUT_NEVER)
			continue;
		found = cut(&p);
		assert_int_equal(cost_of(&p, found), least);
		moved += found && found != all;
		/* Of equal ones it has no node on the second side that another has on the first. */
		for (sides = 0; sides <= all; sides++)
			if (cost_of(&p, sides) == least)
				assert_int_equal(sides & found, found);
	}
	assert_true(moved > 2000);
}

/* ---- networks ----------------------------------------------------------------------- */

static const float scale = 0.1f, part = 1.0f / 256;
static const s32 zero, low = -128;

static struct npu_graph *graph;
static struct npu_net *net;

static u32 tensor(u32 h, u32 w, u32 c, bool is_part)
{
	u32 dim[4] = { 1, h, w, c }, t = npu_graph_add_tensor(graph, "t", NPU_I8, 4, dim);

	assert_int_not_equal(t, NPU_NONE);
	graph->tensor[t].quant = (struct npu_quant){ .count = 1,
						     .scale = is_part ? &part : &scale,
						     .zero = is_part ? &low : &zero };
	return t;
}

static u32 add(enum npu_op_kind kind, u32 in, bool is_part)
{
	const u32 *dim = graph->tensor[in].dim;
	u32 out = tensor(dim[1], dim[2], dim[3], is_part);
	u32 inputs = kind == NPU_OP_ADD ? 2 : 1;
	struct npu_op *op = npu_graph_add_op(graph, kind, npu_op_names[kind], inputs, 1);

	assert_non_null(op);
	op->input[0] = op->input[inputs - 1] = in;
	op->output[0] = out;
	op->activation = kind == NPU_OP_RELU ? NPU_ACT_RELU : NPU_ACT_NONE;
	op->alpha = 1;
	op->axis = 3;
	return out;
}

/* Operators one after another on @h x @w x @c; softmax is no operator of the NPU. */
static void optimise(const enum npu_op_kind *kind, u32 count, u32 h, u32 w, u32 c)
{
	struct npu_diag diag = { "" };
	u32 i, at;

	graph = npu_graph_new("test");
	assert_non_null(graph);
	graph->input = npu_arena_array(&graph->arena, 2, sizeof(u32));
	assert_non_null(graph->input);
	graph->output = graph->input + 1;
	graph->input_count = graph->output_count = 1;
	graph->input[0] = at = tensor(h, w, c, false);
	for (i = 0; i < count; i++)
		at = add(kind[i], at, kind[i] == NPU_OP_SOFTMAX);
	graph->output[0] = at;
	if (npu_graph_verify(graph, &diag) ||
	    npu_optimise(graph, nvdla_config_find("nv_small"), &net, &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(net->layer_count, count);
}

#define OPTIMISE(h, w, c, ...)                                                                    \
	optimise((const enum npu_op_kind[]){ __VA_ARGS__ },                                       \
		 sizeof((const enum npu_op_kind[]){ __VA_ARGS__ }) / sizeof(enum npu_op_kind), h, \
		 w, c)

static bool is_cpu(u32 layer)
{
	return net->layer[layer].kind == NPU_LAYER_CPU;
}

/* Little between two steps of the CPU stays there, as often as it comes, and says why. */
static void test_between_steps(void **state)
{
	OPTIMISE(1, 1, 10, NPU_OP_ADD, NPU_OP_SOFTMAX, NPU_OP_RELU, NPU_OP_RELU, NPU_OP_SOFTMAX);
	assert_true(!is_cpu(0) && is_cpu(2) && is_cpu(3));
	assert_non_null(strstr(net->layer[2].cpu_reason, "costs less there"));
	assert_non_null(strstr(net->layer[2].cpu_reason, "the ways to the NPU"));
	assert_null(strstr(net->layer[1].cpu_reason, "cycles"));
	assert_true(npu_price_cpu_layer(net, &net->layer[2]) > NPU_PRICE_STEP);
	npu_net_free(net);
}

/* Enough of it is worth the ways, which each alone is not. */
static void test_run_of_steps(void **state)
{
	OPTIMISE(5, 10, 10, NPU_OP_ADD, NPU_OP_SOFTMAX, NPU_OP_ADD, NPU_OP_SOFTMAX);
	assert_true(!is_cpu(0) && is_cpu(2));
	npu_net_free(net);
	OPTIMISE(5, 10, 10, NPU_OP_SOFTMAX, NPU_OP_ADD, NPU_OP_ADD, NPU_OP_ADD, NPU_OP_SOFTMAX);
	assert_true(is_cpu(0) && is_cpu(4));
	assert_false(is_cpu(1) || is_cpu(2) || is_cpu(3));
	npu_net_free(net);
}

/* A single element among layers of the NPU is no reason to leave it, nor at either end. */
static void test_among_layers(void **state)
{
	OPTIMISE(1, 1, 1, NPU_OP_ADD, NPU_OP_ADD, NPU_OP_ADD);
	assert_false(is_cpu(0) || is_cpu(1) || is_cpu(2));
	npu_net_free(net);
	OPTIMISE(1, 1, 1, NPU_OP_ADD, NPU_OP_SOFTMAX);
	assert_true(!is_cpu(0) && is_cpu(1));
	npu_net_free(net);
}

/* All of a network never goes: what is between its conversions stays with the NPU. */
static void test_whole_network(void **state)
{
	OPTIMISE(1, 1, 4, NPU_OP_SOFTMAX, NPU_OP_ADD, NPU_OP_SOFTMAX);
	assert_true(is_cpu(0) && !is_cpu(1) && is_cpu(2));
	npu_net_free(net);
}

/* ---- prices ------------------------------------------------------------------------- */

/* Every operator takes more time where there is more of it, and none takes more than the most. */
static void test_prices(void **state)
{
	static const u32 sizes[] = { 4, 64, 4096, 30000 };
	u32 kind, i;

	for (kind = 0; kind < NPU_OP_COUNT; kind++) {
		u64 before = NPU_PRICE_STEP;

		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			struct npu_tensor t[3] = { [0 ... 2] = { .rank = 4,
								 .dim = { 1, sizes[i], sizes[i],
									  sizes[i] } } };
			struct npu_graph all = { .tensor = t, .tensor_count = 3 };
			u32 in[2] = { 0, 1 }, out = 2;
			struct npu_op op = { .kind = kind,
					     .input_count = 2,
					     .input = in,
					     .output_count = 1,
					     .output = &out,
					     .window = { 3, 3, 1, 1, 1, 1, 0, 0, 0, 0 } };
			u64 cycles;

			if (kind == NPU_OP_FULLY_CONNECTED)
				t[1].rank = 2;
			cycles = npu_price_cpu(&all, &op);
			if (!(cycles > before || cycles == NPU_PRICE_MOST))
				fail_msg("%s of %u: %llu cycles", npu_op_names[kind], sizes[i],
					 (unsigned long long)cycles);
			assert_true(cycles <= NPU_PRICE_MOST);
			before = cycles;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),	      cmocka_unit_test(test_between_steps),
		cmocka_unit_test(test_run_of_steps),  cmocka_unit_test(test_among_layers),
		cmocka_unit_test(test_whole_network), cmocka_unit_test(test_prices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
