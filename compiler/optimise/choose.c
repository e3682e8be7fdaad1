// SPDX-License-Identifier: MIT
/*
 * A minimum cut whose first side is the NPU.  Its nodes are the operators, those that are fused being
 * one, and the tensors, which are features on the NPU's side.  What is paid:
 *
 *   an operator	cycles of its layers' plan with the whole buffer, or the CPU's price
 *   a tensor		the conversion by each operator of the CPU that reads or writes features, and by
 *			the application where it is an input or output of the network
 *   the order		a switch between two steps, one behind the other, of different sides; in front of
 *			the first one and behind the last one is the NPU, to whose queue networks are
 *			submitted
 *
 * The CPU does not take a whole network over because it is small.
 */
#include "choose.h"

#include <inttypes.h>
#include <stdlib.h>

#include "../npu_compiler.h"
#include "cpu/cpu.h"
#include "cut.h"
#include "price.h"

/**
 * struct choosing - a decision under way
 * @first: [operators]: the first of those that it is fused with, which stands for all of them
 * @npu, @cpu: [operators]: cycles here and there, of those that stand for others
 * @has_step: [operators]: the NPU has something to do for it
 */
struct choosing {
	struct npu_opt *opt;
	const struct npu_graph *graph;
	struct npu_cut *cut;
	u32 *first;
	u64 *npu, *cpu;
	bool *has_step;
};

/* ---- what is fused ------------------------------------------------------------------ */

static u32 first_of(const struct choosing *c, u32 op)
{
	while (c->first[op] != op)
		op = c->first[op];
	return op;
}

static void join(struct choosing *c, u32 a, u32 b)
{
	a = first_of(c, a);
	b = first_of(c, b);
	c->first[max(a, b)] = min(a, b);
}

static void join_fused(struct choosing *c)
{
	const struct npu_net *net = c->opt->net;
	u32 i, j;

	for (i = 0; i < c->graph->op_count; i++)
		c->first[i] = i;
	for (i = 0; i < net->layer_count; i++)
		for (j = 0; j < net->layer[i].group_count; j++)
			join(c, net->layer[i].op, net->layer[i].group[j]);
}

/* ---- prices ------------------------------------------------------------------------- */

static u64 npu_price(const struct npu_layer_plan *plan)
{
	return plan->cost.cycles + (u64)plan->task_count * NPU_PRICE_PASS;
}

static int price_layers(struct choosing *c)
{
	const struct npu_net *net = c->opt->net;
	struct npu_layer_plan *plan = calloc(max(net->layer_count, 1u), sizeof(*plan));
	struct npu_budget budget = npu_budget_full(net->config);
	int error = plan ? npu_plan_layers(net, &budget, plan, c->opt->diag)
			 : npu_opt_nomem(c->opt);
	u32 i;

	for (i = 0; i < net->layer_count && !error; i++) {
		const struct npu_layer *layer = &net->layer[i];
		u32 op = first_of(c, layer->op);

		if (layer->kind != NPU_LAYER_CPU)
			c->npu[op] += npu_price(&plan[i]);
		else if (layer->patch_count)
			c->npu[op] += 2 * NPU_PRICE_SWITCH +
				      npu_price_cpu_patch(c->graph, &c->graph->op[layer->op],
							  layer->patch_count);
		c->has_step[op] = true;
	}
	free(plan);
	return error;
}

static void price_operators(struct choosing *c)
{
	u32 i, op;

	for (i = 0; i < c->graph->op_count; i++) {
		if (c->opt->op[i].identity)
			continue;
		op = first_of(c, i);
		c->cpu[op] += npu_price_cpu(c->graph, &c->graph->op[i]);
		if (c->opt->op[i].cpu_reason)
			c->npu[op] = NPU_CUT_NEVER;
		else if (npu_cpu_check(c->graph, &c->graph->op[i]))
			c->cpu[op] = NPU_CUT_NEVER;
	}
}

/* ---- the cut ------------------------------------------------------------------------ */

static void add_operators(struct choosing *c)
{
	u32 i;

	for (i = 0; i < c->graph->op_count; i++)
		if (c->first[i] == i && !c->opt->op[i].identity)
			npu_cut_cost(c->cut, i, c->npu[i], c->cpu[i]);
}

/* Steps of the CPU end chains. */
static int add_order(struct choosing *c)
{
	u32 before = NPU_NONE, i;
	int error = 0;

	for (i = 0; i < c->graph->op_count && !error; i++) {
		if (c->first[i] != i || !c->has_step[i])
			continue;
		if (before == NPU_NONE)
			npu_cut_cost(c->cut, i, 0, NPU_PRICE_SWITCH);
		else
			error = npu_cut_pair(c->cut, before, i, NPU_PRICE_SWITCH, NPU_PRICE_SWITCH);
		before = i;
	}
	if (before != NPU_NONE)
		npu_cut_cost(c->cut, before, 0, NPU_PRICE_SWITCH);
	return error;
}

static u32 tensor_node(const struct choosing *c, u32 tensor)
{
	return c->graph->op_count + c->opt->tensor[tensor].root;
}

/* An operator of the NPU has features, one of the CPU converts them. */
static int add_access(struct choosing *c, u32 op, u32 tensor)
{
	const struct npu_tensor *t;

	if (tensor == NPU_NONE || c->graph->tensor[tensor].data)
		return 0;
	t = &c->graph->tensor[tensor];
	return npu_cut_pair(c->cut, first_of(c, op), tensor_node(c, tensor), NPU_CUT_NEVER,
			    npu_price_convert(t));
}

static int add_accesses(struct choosing *c, u32 index)
{
	const struct npu_op *op = &c->graph->op[index];
	int error = 0;
	u32 i;

	/* Images have the same layout on both sides. */
	for (i = 0; i < op->input_count && op->kind != NPU_OP_PIXELS && !error; i++)
		error = add_access(c, index, op->input[i]);
	for (i = 0; i < op->output_count && !error; i++)
		error = add_access(c, index, op->output[i]);
	return error;
}

static void add_ends(struct choosing *c, const u32 *tensor, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		npu_cut_cost(c->cut, tensor_node(c, tensor[i]),
			     npu_price_convert(&c->graph->tensor[tensor[i]]), 0);
}

static int make_cut(struct choosing *c)
{
	const struct npu_graph *graph = c->graph;
	int error;
	u32 i;

	c->cut = npu_cut_new(graph->op_count + graph->tensor_count);
	if (!c->cut)
		return -ENOMEM;
	add_operators(c);
	add_ends(c, graph->input, graph->input_count);
	add_ends(c, graph->output, graph->output_count);
	error = add_order(c);
	for (i = 0; i < graph->op_count && !error; i++)
		if (!c->opt->op[i].identity)
			error = add_accesses(c, i);
	if (!error)
		npu_cut_find(c->cut);
	return error;
}

/* Can the NPU do it, and should the CPU? */
static bool is_moved(const struct choosing *c, u32 op)
{
	return !c->opt->op[op].identity && !c->opt->op[op].cpu_reason &&
	       npu_cut_is_second(c->cut, first_of(c, op));
}

/* Whoever compiles a network for the NPU does not want all of it on the CPU, however small it is. */
static bool is_nothing_left(const struct choosing *c)
{
	u32 i;

	for (i = 0; i < c->graph->op_count; i++)
		if (c->first[i] == i && c->has_step[i] && !c->opt->op[i].cpu_reason &&
		    !is_moved(c, i))
			return false;
	return true;
}

static bool tell(const struct choosing *c, struct npu_choice *choice)
{
	bool none = is_nothing_left(c), any = false;
	u32 i, op;

	for (i = 0; i < c->graph->op_count; i++) {
		op = first_of(c, i);
		choice[i] = (struct npu_choice){ .cpu = !none && is_moved(c, i),
						 .npu_cycles = c->npu[op],
						 .cpu_cycles = c->cpu[op] };
		any |= choice[i].cpu;
	}
	return any;
}

int npu_opt_choose(struct npu_opt *opt, struct npu_choice *choice, bool *any)
{
	size_t count = max(opt->graph->op_count, 1u);
	struct choosing c = {
		.opt = opt,
		.graph = opt->graph,
		.first = calloc(count, sizeof(*c.first)),
		.npu = calloc(count, sizeof(*c.npu)),
		.cpu = calloc(count, sizeof(*c.cpu)),
		.has_step = calloc(count, sizeof(*c.has_step)),
	};
	int error = 0;

	*any = false;
	if (!c.first || !c.npu || !c.cpu || !c.has_step)
		error = npu_opt_nomem(opt);
	if (!error) {
		join_fused(&c);
		error = price_layers(&c);
	}
	if (!error) {
		price_operators(&c);
		error = make_cut(&c) ? npu_opt_nomem(opt) : 0;
	}
	if (!error)
		*any = tell(&c, choice);
	npu_cut_free(c.cut);
	free(c.first);
	free(c.npu);
	free(c.cpu);
	free(c.has_step);
	return error;
}
