// SPDX-License-Identifier: MIT
/*
 * Layers for which the banks that are available hold no pass: the CPU does their operators in this
 * plan.  What an operator became, and what it is fused with, goes there as one unit: the values
 * between its layers are no tensors of the model.
 */
#include <stdlib.h>

#include "cpu/cpu.h"
#include "plan_internal.h"

/**
 * struct collected - the unit of a layer, being collected
 * @in: [operators of the graph]: belongs to it
 * @first, @last, @count: layers that stand for one of these
 */
struct collected {
	const struct npu_net *net;
	bool *in;
	u32 first, last, count;
	u32 op_count;
};

static bool has_operator(const struct collected *c, const struct npu_layer *layer)
{
	u32 i;

	for (i = 0; i < layer->group_count; i++)
		if (c->in[layer->group[i]])
			return true;
	return c->in[layer->op];
}

static bool add_operator(struct collected *c, u32 op)
{
	bool is_new = !c->in[op];

	c->op_count += is_new;
	c->in[op] = true;
	return is_new;
}

/* All operators of the layers that stand for one of the unit's; whether there are more now. */
static bool grow(struct collected *c)
{
	bool grown = false;
	u32 i, j;

	c->count = 0;
	for (i = 0; i < c->net->layer_count; i++) {
		const struct npu_layer *layer = &c->net->layer[i];

		if (!has_operator(c, layer))
			continue;
		c->first = c->count ? c->first : i;
		c->last = i;
		c->count++;
		grown |= add_operator(c, layer->op);
		for (j = 0; j < layer->group_count; j++)
			grown |= add_operator(c, layer->group[j]);
	}
	return grown;
}

static bool is_made(const struct npu_graph *graph, const struct npu_cpu_unit *unit, u32 done,
		    u32 tensor)
{
	u32 i;

	for (i = 0; i < done; i++)
		if (graph->op[unit->op[i]].output[0] == tensor)
			return true;
	return false;
}

/* Has the CPU the @done'th operator, and its inputs?  They join what the unit reads. */
static bool add_reads(const struct npu_net *net, struct npu_cpu_unit *unit, u32 done)
{
	const struct npu_graph *graph = net->graph;
	const struct npu_op *op = &graph->op[unit->op[done]];
	u32 i, tensor;

	if (op->output_count != 1 || npu_cpu_check(graph, op))
		return false;
	for (i = 0; i < op->input_count; i++) {
		tensor = op->input[i];
		if (tensor == NPU_NONE || graph->tensor[tensor].data ||
		    is_made(graph, unit, done, tensor))
			continue;
		if (net->tensor_value[tensor] == NPU_NONE)
			return false;
		unit->read[unit->read_count++] = net->tensor_value[tensor];
	}
	return true;
}

/* Fills a unit from what was collected; -ENOSPC where the CPU cannot do it. */
static int make_unit(struct npu_planner *p, const struct collected *c, struct npu_cpu_unit *unit)
{
	const struct npu_graph *graph = c->net->graph;
	u32 i, inputs = 0, write;

	unit->first = c->first;
	unit->count = c->count;
	unit->op = npu_arena_array(&p->plan->arena, c->op_count, sizeof(*unit->op));
	if (!unit->op)
		return -ENOMEM;
	for (i = 0; i < graph->op_count; i++)
		if (c->in[i]) {
			unit->op[unit->op_count++] = i;
			inputs += graph->op[i].input_count;
		}
	unit->read = npu_arena_array(&p->plan->arena, max(inputs, 1u), sizeof(*unit->read));
	unit->reason = npu_arena_printf(&p->plan->arena, "%s", p->shortage.text);
	if (!unit->read || !unit->reason)
		return -ENOMEM;
	for (i = 0; i < unit->op_count; i++)
		if (!add_reads(c->net, unit, i))
			return -ENOSPC;
	write = graph->op[unit->op[unit->op_count - 1]].output[0];
	unit->write = c->net->tensor_value[write];
	return unit->write == NPU_NONE ? -ENOSPC : 0;
}

/* What was planned of its layers so far goes. */
static void leave_to_cpu(struct npu_planner *p, const struct npu_cpu_unit *unit)
{
	u32 i;

	p->task_count = p->plan->layer[unit->first].first_task;
	for (i = unit->first; i < unit->first + unit->count; i++) {
		struct npu_layer_plan *lp = &p->plan->layer[i];

		*lp = (struct npu_layer_plan){
			.first_task = p->task_count,
			.on_cpu = true,
			.mode = "on the CPU for want of banks",
			.split_bound = { lp->split_bound[0], lp->split_bound[1] },
		};
	}
}

static int add_unit(struct npu_planner *p, struct collected *c, u32 index)
{
	struct npu_plan *plan = p->plan;
	struct npu_cpu_unit *unit;
	int err;

	add_operator(c, c->net->layer[index].op);
	while (grow(c))
		;
	if (c->last - c->first + 1 != c->count)
		return -ENOSPC;
	if (!plan->unit)
		plan->unit =
			npu_arena_array(&plan->arena, c->net->layer_count, sizeof(*plan->unit));
	if (!plan->unit)
		return -ENOMEM;
	unit = &plan->unit[plan->unit_count];
	*unit = (struct npu_cpu_unit){ .first = 0 };
	err = make_unit(p, c, unit);
	if (err)
		return err;
	leave_to_cpu(p, unit);
	plan->unit_count++;
	return 0;
}

int npu_plan_leave_to_cpu(struct npu_planner *p, u32 index, u32 *next)
{
	struct collected c = { .net = p->net };
	int err;

	/* A list of layers has no operators. */
	if (!p->net->graph)
		return -ENOSPC;
	c.in = calloc(max(p->net->graph->op_count, 1u), sizeof(*c.in));
	if (!c.in)
		return -ENOMEM;
	err = add_unit(p, &c, index);
	*next = c.last + 1;
	free(c.in);
	return err;
}

const struct npu_cpu_unit *npu_plan_unit(const struct npu_plan *plan, u32 layer)
{
	u32 i;

	for (i = 0; i < plan->unit_count; i++)
		if (layer >= plan->unit[i].first &&
		    layer - plan->unit[i].first < plan->unit[i].count)
			return &plan->unit[i];
	return NULL;
}

bool npu_plan_on_cpu(const struct npu_net *net, const struct npu_plan *plan, u32 layer)
{
	return net->layer[layer].kind == NPU_LAYER_CPU || plan->layer[layer].on_cpu;
}
