// SPDX-License-Identifier: MIT
/* Every figure that is printed, once: for people and for JSON. */
#include "run.h"

unsigned run_list_figures(const struct run *run, const struct npu_model_info *model,
			  struct run_figure figure[RUN_MAX_FIGURES])
{
	const struct npu_run_stats *s = &run->stats;
	const struct run_figure all[] = {
		{ "runs", "runs", run->options->repeat },
		{ "mean_us", "mean time, us", run->total_ns / run->options->repeat / 1000 },
		{ "wall_us", "time of the last run, us", s->wall_ns / 1000 },
		{ "npu_us", "  waiting for the NPU, us", s->npu_ns / 1000 },
		{ "cpu_us", "  operators of the CPU, us", s->cpu_ns / 1000 },
		{ "convert_us", "  inputs and outputs, us", s->convert_ns / 1000 },
		{ "busy_us", "  tasks on the NPU, us", s->busy_ns / 1000, true },
		{ "cycles", "NPU cycles", s->cycles, true },
		{ "chains", "chains", s->chains },
		{ "tasks", "tasks", s->tasks },
		{ "cpu_steps", "CPU operators", s->cpu_steps },
		{ "dram_bytes", "DRAM bytes",
		  s->feature_bytes + s->weight_bytes + s->operand_bytes + s->output_bytes, true },
		{ "feature_bytes", "  features", s->feature_bytes, true },
		{ "weight_bytes", "  weights", s->weight_bytes, true },
		{ "operand_bytes", "  operands", s->operand_bytes, true },
		{ "output_bytes", "  outputs", s->output_bytes, true },
		{ "register_writes", "register writes", s->register_writes },
		{ "plan_banks", "banks planned for", s->plan_banks },
		{ "used_banks", "banks used", model->used_banks },
		{ "replans", "plans made while running", run->replans },
		{ "plan_generation", "generation of the budget", s->plan_generation },
		{ "plan_us", "time of the last planning, us", model->plan_ns / 1000 },
		{ "compile_us", "time of compilation, us", model->compile_ns / 1000 },
		{ "arena_bytes", "activation memory, bytes", model->arena_bytes },
		{ "packed_weight_bytes", "packed weights, bytes", model->weight_bytes },
	};

	unsigned i, count = 0;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].value || !all[i].measured)
			figure[count++] = all[i];
	return count;
}
