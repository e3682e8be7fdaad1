// SPDX-License-Identifier: MIT
/*
 * Every layer of every real model against the reference interpreter: the oracle
 * gets the layer's input as the NPU had it, and the layer's output may differ from
 * the oracle's by one unit in the last place at most.  A layer that stands for
 * several operators (padding, convolution, addition, pooling) is compared as a whole;
 * where it fuses an addition, the elements whose intermediate result does not fit INT8
 * (which the fusion does not round through) are counted apart.
 *
 *	check_layers [-v] [CONFIG [MODEL]]	-v: the table of all layers
 *
 * Values get places of their own in the arena, so that all of them are still there
 * when the run is over.
 */
#include <stdbool.h>

#include "../common/shared_models.h"
#include "internal.h"
#include "reference.h"

/* Random inputs besides the golden one. */
#define RANDOM_INPUTS 1

static bool verbose;

struct check {
	struct npu_model *model;
	const struct npu_net *net;
	struct npu_reference *reference;
	struct npu_diag diag;
	u64 elements, equal, by_one, worse, saturated; /* sums */
};

/* ---- a plan in which no value overwrites another ---- */

static u64 place_of(const struct npu_net *net, u64 *offset, u32 value, u64 *end)
{
	const struct npu_value *v = &net->value[value];

	if (v->alias != NPU_NONE)
		return place_of(net, offset, v->alias, end) + v->alias_offset;
	if (offset[value] == UINT64_MAX) {
		offset[value] = *end;
		*end += (v->bytes + 4095) & ~(u64)4095;
	}
	return offset[value];
}

static bool spread_values(struct npu_model *model, struct npu_diag *diag)
{
	struct npu_plan *plan = model->program->plan;
	const struct npu_net *net = model->program->net;
	u64 *offset = shared_alloc(net->value_count * sizeof(*offset)), end = 0;
	u32 i;

	memset(offset, 0xff, net->value_count * sizeof(*offset));
	for (i = 0; i < net->value_count; i++)
		if (plan->offset[i] != NPU_NO_OFFSET)
			plan->offset[i] = place_of(net, offset, i, &end);
	plan->arena_bytes = end;
	free(offset);
	return npu_emit(model->program, diag) == 0 && npu_model_adopt_plan(model) == 0;
}

/* ---- one layer ---- */

static bool makes(const struct npu_graph *graph, const struct npu_layer *layer, u32 tensor)
{
	u32 i, k;

	for (i = 0; i < layer->group_count; i++)
		for (k = 0; k < graph->op[layer->group[i]].output_count; k++)
			if (graph->op[layer->group[i]].output[k] == tensor)
				return true;
	return false;
}

/* Gives the oracle what the layer read. */
static bool load_inputs(struct check *check, const struct npu_layer *layer)
{
	const struct npu_graph *graph = check->net->graph;
	u32 i, k;

	for (i = 0; i < layer->group_count; i++) {
		const struct npu_op *op = &graph->op[layer->group[i]];

		for (k = 0; k < op->input_count; k++) {
			u32 tensor = op->input[k];

			if (tensor == NPU_NONE || graph->tensor[tensor].data ||
			    makes(graph, layer, tensor))
				continue;
			if (check->net->tensor_value[tensor] == NPU_NONE)
				return false;
			npu_value_read(check->model, check->net->tensor_value[tensor],
				       graph->tensor[tensor].dtype,
				       npu_reference_tensor(check->reference, tensor));
		}
	}
	return true;
}

/* The addition of the group that takes what @op makes; NPU_NONE where there is none. */
static u32 fused_add(const struct npu_graph *graph, const struct npu_layer *layer, u32 op)
{
	const struct npu_op *maker = &graph->op[op];
	u32 i, k;

	if (maker->kind != NPU_OP_CONV && maker->kind != NPU_OP_FULLY_CONNECTED)
		return NPU_NONE;
	for (i = 0; i < layer->group_count; i++) {
		const struct npu_op *add = &graph->op[layer->group[i]];

		for (k = 0; add->kind == NPU_OP_ADD && k < add->input_count; k++)
			if (add->input[k] == maker->output[0])
				return layer->group[i];
	}
	return NPU_NONE;
}

/*
 * Runs the group.  @saturated: of a fused addition, a byte for each element whose
 * intermediate result did not fit; the caller frees it.
 */
static bool run_oracle(struct check *check, const struct npu_layer *layer, u8 **saturated)
{
	const struct npu_graph *graph = check->net->graph;
	u32 i, add, done = NPU_NONE;
	int err = 0;

	*saturated = NULL;
	for (i = 0; i < layer->group_count && !err; i++) {
		u32 op = layer->group[i];

		if (op == done)
			continue;
		add = fused_add(graph, layer, op);
		if (add == NPU_NONE) {
			err = npu_reference_run_op(check->reference, op, NULL, &check->diag);
			continue;
		}
		*saturated =
			shared_alloc(npu_tensor_elements(npu_op_output(graph, &graph->op[op])));
		err = npu_reference_run_op(check->reference, op, *saturated, &check->diag);
		if (!err)
			err = npu_reference_run_fused_add(check->reference, op, add, &check->diag);
		done = add;
	}
	return !err;
}

static int byte_at(enum npu_dtype dtype, const u8 *data, size_t i)
{
	return dtype == NPU_I8 ? (s8)data[i] : data[i];
}

/* Counts of one layer. */
struct counts {
	u64 elements, equal, by_one, worse, saturated;
};

static struct counts count(const struct npu_tensor *tensor, const u8 *npu, const u8 *oracle,
			   const u8 *saturated)
{
	struct counts counts = { .elements = npu_tensor_elements(tensor) };
	size_t i, bytes = npu_dtype_bytes[tensor->dtype];

	for (i = 0; i < counts.elements; i++) {
		int d = bytes == 1 ? abs(byte_at(tensor->dtype, npu, i) -
					 byte_at(tensor->dtype, oracle, i))
				   : 2 * !!memcmp(npu + i * bytes, oracle + i * bytes, bytes);

		counts.equal += d == 0;
		counts.by_one += d == 1;
		counts.worse += d > 1;
		counts.saturated += saturated && saturated[i];
	}
	return counts;
}

static void print_layer(const struct npu_layer *layer, const struct counts *c)
{
	static const char *const kinds[] = { "CONV", "SDP", "PDP", "CPU" };

	printf("#   %-44.44s %-4s %8llu %8llu %7llu %6llu %9llu\n", layer->name, kinds[layer->kind],
	       (unsigned long long)c->elements, (unsigned long long)c->equal,
	       (unsigned long long)c->by_one, (unsigned long long)c->worse,
	       (unsigned long long)c->saturated);
}

static bool check_layer(struct check *check, const struct npu_layer *layer)
{
	const struct npu_graph *graph = check->net->graph;
	const struct npu_op *last = &graph->op[layer->group[layer->group_count - 1]];
	const struct npu_tensor *tensor = npu_op_output(graph, last);
	u8 *npu = shared_alloc(tensor->bytes), *saturated = NULL;
	struct counts counts;
	bool good = load_inputs(check, layer) && run_oracle(check, layer, &saturated);

	if (!good) {
		printf("#   %s: no oracle: %s\n", layer->name, check->diag.text);
	} else {
		npu_value_read(check->model, layer->output, tensor->dtype, npu);
		counts = count(tensor, npu, npu_reference_tensor(check->reference, last->output[0]),
			       saturated);
		check->elements += counts.elements;
		check->equal += counts.equal;
		check->by_one += counts.by_one;
		check->worse += counts.worse;
		check->saturated += counts.saturated;
		good = counts.worse == 0;
		if (verbose || !good)
			print_layer(layer, &counts);
	}
	free(saturated);
	free(npu);
	return good;
}

/* ---- one model on one configuration ---- */

static bool check_layers(struct check *check)
{
	bool good = true;
	u32 i, layers = 0;

	if (verbose)
		printf("#   %-44s %-4s %8s %8s %7s %6s %9s\n", "layer", "kind", "elements", "equal",
		       "by one", "worse", "saturated");
	for (i = 0; i < check->net->layer_count; i++) {
		if (!check->net->layer[i].group_count)
			continue;
		layers++;
		good &= check_layer(check, &check->net->layer[i]);
	}
	return good && layers;
}

static void run_input(struct check *check, const struct shared_model *model, const char *config,
		      u32 seed)
{
	struct shared_io io;
	bool good;

	check->elements = check->equal = check->by_one = check->worse = check->saturated = 0;
	check->diag.text[0] = '\0';
	shared_io_make(check->model, &io);
	good = shared_io_fill(model, &io, seed);
	if (good &&
	    npu_run(check->model, io.input, io.input_count, io.output, io.output_count, NULL)) {
		printf("# %s\n", npu_error());
		good = false;
	}
	good = good && check_layers(check);
	tap(good,
	    "%s %s, %s input: %llu elements, %llu equal, %llu by one, %llu worse; saturated "
	    "inside of fused groups: %llu",
	    config, model->name, seed || !model->golden ? "random" : "golden",
	    (unsigned long long)check->elements, (unsigned long long)check->equal,
	    (unsigned long long)check->by_one, (unsigned long long)check->worse,
	    (unsigned long long)check->saturated);
	shared_io_free(&io);
}

/* The check itself: one element of one layer that is far off has to be found. */
static void check_the_check(struct check *check, const char *config)
{
	const struct npu_layer *layer = check->net->layer;
	struct check copy = *check;
	u8 *element;

	while (!layer->group_count || layer->kind == NPU_LAYER_CPU)
		layer++;
	element = npu_value_data(check->model, layer->output);
	*element = (u8)(*element + (*(s8 *)element < 0 ? 3 : -3));
	tap(!check_layer(&copy, layer) && copy.worse == check->worse + 1,
	    "%s %s: a wrong element is found", config, check->model->name);
}

static void check_model(struct npu_device *device, const struct shared_model *model,
			const char *config)
{
	struct check check = { 0 };
	char path[512];
	u32 seed;

	shared_model_path(model->name, path);
	if (npu_model_load(device, path, NULL, &check.model)) {
		tap(false, "%s %s loads: %s", config, model->name, npu_error());
		return;
	}
	check.net = check.model->program->net;
	if (!spread_values(check.model, &check.diag) ||
	    npu_reference_new(check.net->graph, &check.reference, &check.diag))
		tap(false, "%s %s: %s %s", config, model->name, check.diag.text, npu_error());
	else
		for (seed = 0; seed <= RANDOM_INPUTS; seed++) {
			run_input(&check, model, config, seed);
			if (seed == RANDOM_INPUTS)
				check_the_check(&check, config);
		}
	if (check.reference)
		npu_reference_free(check.reference);
	npu_model_free(check.model);
}

static void check_config(const char *config, const char *only)
{
	struct npu_device *device;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "sim:%s", config);
	if (npu_open(name, &device)) {
		tap(false, "%s opens: %s", name, npu_error());
		return;
	}
	for (i = 0; i < SHARED_MODEL_COUNT; i++)
		if (!only || strcmp(only, shared_models[i].name) == 0)
			check_model(device, &shared_models[i], config);
	npu_close(device);
}

int main(int argc, char **argv)
{
	size_t i;

	verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	argc -= verbose;
	argv += verbose;
	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	for (i = 0; i < SHARED_CONFIG_COUNT; i++)
		if (argc < 2 || strcmp(argv[1], shared_configs[i]) == 0)
			check_config(shared_configs[i], argc > 2 ? argv[2] : NULL);
	return tap_end();
}
