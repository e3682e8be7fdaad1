// SPDX-License-Identifier: MIT
#include "columns.h"

#include "../optimise/price.h"

static const struct npu_layer_plan *plan_of(const struct npu_program *program, u32 layer)
{
	return &program->plan->layer[layer];
}

u64 npu_plan_compulsory_bytes(const struct npu_plan *plan, u32 layers)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < layers; i++)
		sum += plan->layer[i].compulsory_bytes;
	return sum;
}

u64 npu_plan_bound_bytes(const struct npu_plan *plan, u32 layers)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < layers; i++)
		sum += plan->layer[i].bound_bytes;
	return sum;
}

u64 npu_plan_bound_cycles(const struct npu_plan *plan, u32 layers)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < layers; i++)
		sum += plan->layer[i].bound_cycles;
	return sum;
}

const char *npu_program_name(const struct npu_program *program)
{
	return program->net->graph && program->net->graph->file ? program->net->graph->file
								: "list of layers";
}

const struct npu_task *npu_layer_task(const struct npu_program *program, u32 layer)
{
	const struct npu_layer_plan *lp = plan_of(program, layer);

	return lp->task_count ? &program->plan->task[lp->first_task] : NULL;
}

/* ---- the whole ---- */

#define TOTAL(name, expression)                              \
	static u64 total_##name(const struct npu_program *p) \
	{                                                    \
		return expression;                           \
	}

TOTAL(banks, p->plan->budget.banks)
TOTAL(banks_used, p->plan->banks)
TOTAL(layers, p->net->layer_count)
TOTAL(tasks, p->plan->task_count)
TOTAL(dram_bytes, npu_cost_bytes(&p->plan->cost))
TOTAL(feature_bytes, p->plan->cost.feature_bytes)
TOTAL(weight_bytes, p->plan->cost.weight_bytes)
TOTAL(operand_bytes, p->plan->cost.operand_bytes)
TOTAL(output_bytes, p->plan->cost.output_bytes)
TOTAL(cycles, p->plan->cost.cycles)
TOTAL(compulsory_bytes, npu_plan_compulsory_bytes(p->plan, p->net->layer_count))
TOTAL(bound_bytes, npu_plan_bound_bytes(p->plan, p->net->layer_count))
TOTAL(bound_cycles, npu_plan_bound_cycles(p->plan, p->net->layer_count))
TOTAL(arena_bytes, p->plan->arena_bytes)
TOTAL(arena_lower_bound, p->plan->arena_lower_bound)
TOTAL(compile_us, p->compile_ns / 1000)
TOTAL(replan_us, p->plan_ns / 1000)
TOTAL(cpu_steps, npu_program_cpu_steps(p))
TOTAL(chains, p->step_count - npu_program_cpu_steps(p))

/* Of the steps that are the CPU's. */
static u64 total_cpu_cycles(const struct npu_program *program)
{
	const struct npu_net *net = program->net;
	const struct npu_plan *plan = program->plan;
	u64 cycles = 0;
	u32 i;

	for (i = 0; i < net->layer_count; i++)
		if (net->layer[i].kind == NPU_LAYER_CPU && !plan->layer[i].on_cpu)
			cycles += npu_price_cpu_layer(net, &net->layer[i]);
	for (i = 0; i < plan->unit_count; i++)
		cycles += npu_price_cpu_unit(net, &plan->unit[i]);
	return cycles;
}

#define ENTRY(name)                 \
	{                           \
#name, total_##name \
	}

const struct npu_total npu_totals[] = {
	ENTRY(banks),	      ENTRY(banks_used),       ENTRY(layers),
	ENTRY(cpu_steps),     ENTRY(chains),	       ENTRY(tasks),
	ENTRY(dram_bytes),    ENTRY(feature_bytes),    ENTRY(weight_bytes),
	ENTRY(operand_bytes), ENTRY(output_bytes),     ENTRY(cycles),
	ENTRY(cpu_cycles),    ENTRY(compulsory_bytes), ENTRY(bound_bytes),
	ENTRY(bound_cycles),  ENTRY(arena_bytes),      ENTRY(arena_lower_bound),
	ENTRY(compile_us),    ENTRY(replan_us),
};

const u32 npu_total_count = ARRAY_SIZE(npu_totals);

/* ---- layers ---- */

#define NUMBER(name, expression)                                              \
	static u64 layer_##name(const struct npu_program *program, u32 layer) \
	{                                                                     \
		const struct npu_layer_plan *l = plan_of(program, layer);     \
                                                                              \
		return expression;                                            \
	}

NUMBER(pieces, l->pieces)
NUMBER(tasks, l->task_count)
NUMBER(dram_bytes, npu_cost_bytes(&l->cost))
NUMBER(feature_bytes, l->cost.feature_bytes)
NUMBER(weight_bytes, l->cost.weight_bytes)
NUMBER(operand_bytes, l->cost.operand_bytes)
NUMBER(output_bytes, l->cost.output_bytes)
NUMBER(cycles, l->cost.cycles)
NUMBER(compulsory_bytes, l->compulsory_bytes)
NUMBER(bound_bytes, l->bound_bytes)
NUMBER(bound_cycles, l->bound_cycles)
NUMBER(considered, l->considered)

#define FIRST_TASK(name, expression)                                          \
	static u64 layer_##name(const struct npu_program *program, u32 layer) \
	{                                                                     \
		const struct npu_task *t = npu_layer_task(program, layer);    \
                                                                              \
		return t ? expression : 0;                                    \
	}

FIRST_TASK(banks, t->data_banks + t->weight_banks)
FIRST_TASK(data_banks, t->data_banks)
FIRST_TASK(weight_banks, t->weight_banks)
FIRST_TASK(entries_per_line, t->eps)

static u64 layer_layer(const struct npu_program *program, u32 layer)
{
	return layer;
}

static u64 layer_cpu_cycles(const struct npu_program *program, u32 layer)
{
	return npu_price_cpu_layer(program->net, &program->net->layer[layer]);
}

static const char *layer_name(const struct npu_program *program, u32 layer, char *room)
{
	return program->net->layer[layer].name;
}

static const char *layer_kind(const struct npu_program *program, u32 layer, char *room)
{
	bool cpu = npu_plan_on_cpu(program->net, program->plan, layer);

	return npu_layer_kind_names[cpu ? NPU_LAYER_CPU : program->net->layer[layer].kind];
}

static const char *layer_mode(const struct npu_program *program, u32 layer, char *room)
{
	return plan_of(program, layer)->mode;
}

static const char *layer_why(const struct npu_program *program, u32 layer, char *room)
{
	npu_plan_why(program->net, program->plan, layer, room, NPU_WHY_BYTES);
	return room;
}

#define NUMBER_COLUMN(name)               \
	{                                 \
#name, layer_##name, NULL \
	}
#define TEXT_COLUMN(name)                 \
	{                                 \
#name, NULL, layer_##name \
	}

const struct npu_column npu_columns[] = {
	NUMBER_COLUMN(layer),	     TEXT_COLUMN(name),
	TEXT_COLUMN(kind),	     TEXT_COLUMN(mode),
	NUMBER_COLUMN(banks),	     NUMBER_COLUMN(data_banks),
	NUMBER_COLUMN(weight_banks), NUMBER_COLUMN(entries_per_line),
	NUMBER_COLUMN(pieces),	     NUMBER_COLUMN(tasks),
	NUMBER_COLUMN(dram_bytes),   NUMBER_COLUMN(feature_bytes),
	NUMBER_COLUMN(weight_bytes), NUMBER_COLUMN(operand_bytes),
	NUMBER_COLUMN(output_bytes), NUMBER_COLUMN(cycles),
	NUMBER_COLUMN(cpu_cycles),   NUMBER_COLUMN(compulsory_bytes),
	NUMBER_COLUMN(bound_bytes),  NUMBER_COLUMN(bound_cycles),
	NUMBER_COLUMN(considered),   TEXT_COLUMN(why),
};

const u32 npu_column_count = ARRAY_SIZE(npu_columns);
