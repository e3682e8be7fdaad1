// SPDX-License-Identifier: MIT
/* Outputs and figures for people. */
#include <math.h>
#include <stdio.h>

#include "../common/element.h"
#include "run.h"

static void print_shape(const struct npu_tensor_info *info)
{
	uint32_t i;

	printf("[");
	for (i = 0; i < info->rank; i++)
		printf("%s%u", i ? ", " : "", info->shape[i]);
	printf("]");
}

static void print_top(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;
	double value = INFINITY;
	uint64_t index = 0;
	uint32_t i;

	for (i = 0; i < run->options->top && run_next_best(info, data, &value, &index); i++) {
		const char *name = run_label(&run->labels, index);

		printf("  %4llu  %12.6f  %s\n", (unsigned long long)index,
		       tool_real(info, data, index), name ? name : "");
	}
}

void run_print_outputs(const struct run *run)
{
	unsigned i;

	for (i = 0; i < run->output_count; i++) {
		const struct npu_tensor_info *info = &run->out_info[i];

		printf("output %u: %s %s ", i, info->name, npu_type_name(info->type));
		print_shape(info);
		printf("\n");
		if (run_is_ranked(run, info))
			print_top(run, i);
	}
}

void run_print_stats(const struct run *run, const struct npu_model_info *model)
{
	struct run_figure figure[RUN_MAX_FIGURES];
	unsigned i, count = run_list_figures(run, model, figure);

	for (i = 0; i < count; i++)
		printf("%-32s %14llu\n", figure[i].text, (unsigned long long)figure[i].value);
}
