// SPDX-License-Identifier: MIT
/*
 * Topologies of real size without trained weights (../shared/models/onnx/structure: the ONNX project's
 * light models): each is read, quantised with ranges out of the air, and compiled and planned for every
 * configuration.  What it would compute says nothing; where it runs and that it fits does.
 *
 *	onnx_light [MODEL]
 */
#include <stdlib.h>

#include "../common/shared_models.h"
#include "../common/whole_file.h"
#include "graph.h"
#include "npu_compiler.h"
#include "nvdla_cbuf.h"
#include "quantise/quantise.h"

/**
 * struct light - a model
 * @convolutions: with fully connected layers
 * @multiplies: of them, in millions: what the literature says of the network
 */
struct light {
	const char *name;
	u32 convolutions, multiplies;
};

static const struct light models[] = {
	{ "light_squeezenet", 26, 349 },
	{ "light_shufflenet", 50, 125 },
	{ "light_resnet50", 54, 4089 },
	{ "light_vgg19", 19, 19632 },
};

static char *read_model(const char *name, size_t *bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/models/onnx/structure/%s.onnx", shared_root(), name);
	return whole_file(path, bytes);
}

/* A range for each tensor. */
static struct npu_calibration *invent_ranges(const struct npu_graph *graph)
{
	struct npu_calibration *calibration = npu_calibration_new();
	u32 i;

	for (i = 0; calibration && i < graph->tensor_count; i++) {
		const char *name = npu_calibration_name(&calibration->arena, graph, i);
		struct npu_range *range = name ? npu_calibration_add(calibration, name) : NULL;

		if (!range)
			abort();
		range->min = -1;
		range->max = 1;
	}
	return calibration;
}

static bool is_product(const struct npu_op *op)
{
	return op->kind == NPU_OP_CONV || op->kind == NPU_OP_FULLY_CONNECTED;
}

static u64 multiplies(const struct npu_graph *graph, u32 *count)
{
	u64 sum = 0;
	u32 i;

	*count = 0;
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];
		const struct npu_tensor *w = npu_op_input(graph, op, 1);

		if (!is_product(op))
			continue;
		++*count;
		sum += npu_tensor_elements(npu_op_output(graph, op)) *
		       (npu_tensor_elements(w) / w->dim[0]);
	}
	return sum;
}

/* Products that the CPU has to do. */
static u32 left_over(const struct npu_program *program)
{
	const struct npu_net *net = program->net;
	u32 i, k, count = 0;

	for (i = 0; i < net->layer_count; i++)
		for (k = 0; net->layer[i].kind == NPU_LAYER_CPU && k < net->layer[i].group_count;
		     k++)
			if (is_product(&net->graph->op[net->layer[i].group[k]])) {
				printf("# %s: %s\n", net->layer[i].name, net->layer[i].cpu_reason);
				count++;
			}
	return count;
}

/* Products of which one group of kernels alone is larger than the whole buffer (VGG's first of 25,088). */
static u32 too_large(const struct npu_graph *graph, const struct nvdla_config *config)
{
	u32 i, count = 0;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_tensor *w = npu_op_input(graph, &graph->op[i], 1);

		if (is_product(&graph->op[i]))
			count += npu_tensor_elements(w) / w->dim[0] * config->atomic_k >
				 nvdla_cbuf_bytes(config);
	}
	return count;
}

static void plan(const struct light *light, const struct npu_graph *prepared,
		 const struct npu_calibration *calibration, const char *config_name)
{
	const struct nvdla_config *config = nvdla_config_find(config_name);
	struct npu_budget budget = npu_budget_full(config);
	struct npu_program *program = NULL;
	struct npu_graph *quantised;
	struct npu_diag diag = { "" };
	u32 left;
	int error = npu_quantise(prepared, calibration, &quantised, &diag);

	if (!error)
		error = npu_program_compile(quantised, config, &budget, &program, &diag);
	if (error)
		tap(false, "%s %s: %s", config_name, light->name, diag.text);
	left = error ? 0 : left_over(program);
	if (!error)
		tap(left == too_large(prepared, config) &&
			    program->plan->task_count >= light->convolutions,
		    "%s %s: %u tasks, %.2f MB of DRAM traffic, %u products on the CPU", config_name,
		    light->name, program->plan->task_count,
		    (double)npu_cost_bytes(&program->plan->cost) / 1e6, left);
	npu_program_free(program);
}

static void run(const struct light *light)
{
	struct npu_graph *graph = NULL, *prepared = NULL;
	struct npu_calibration *calibration;
	struct npu_diag diag = { "" };
	size_t bytes = 0, i;
	char *data = read_model(light->name, &bytes);
	u32 products;
	u64 million;
	int error = data ? npu_import(data, bytes, light->name, NULL, &graph, &diag) : -ENOENT;

	if (!error)
		error = npu_quantise_prepare(graph, &prepared, &diag);
	npu_graph_free(graph);
	free(data);
	if (error) {
		tap(false, "%s is read: %s", light->name, diag.text);
		return;
	}
	million = (multiplies(prepared, &products) + 500000) / 1000000;
	tap(products == light->convolutions && million == light->multiplies,
	    "%s: %u products, %llu million multiplications", light->name, products,
	    (unsigned long long)million);
	calibration = invent_ranges(prepared);
	for (i = 0; i < SHARED_CONFIG_COUNT; i++)
		plan(light, prepared, calibration, shared_configs[i]);
	npu_calibration_free(calibration);
	npu_graph_free(prepared);
}

int main(int argc, char **argv)
{
	size_t i;

	if (!shared_there())
		return 0;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (argc < 2 || !strcmp(argv[1], models[i].name))
			run(&models[i]);
	return tap_end();
}
