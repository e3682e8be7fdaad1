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
#include "../common/layer_check.h"
#include "../common/shared_models.h"

/* Random inputs besides the golden one. */
#define RANDOM_INPUTS 1

static bool verbose;

/* A model under test and the sums over its layers. */
struct check {
	struct layer_check layers;
	u64 elements, equal, by_one, worse, saturated;
};

static void print_layer(const struct npu_layer *layer, const struct layer_counts *c)
{
	static const char *const kinds[] = { "CONV", "SDP", "PDP", "CPU" };

	printf("#   %-44.44s %-4s %8llu %8llu %7llu %6llu %9llu\n", layer->name, kinds[layer->kind],
	       (unsigned long long)c->elements, (unsigned long long)c->equal,
	       (unsigned long long)c->by_one, (unsigned long long)c->worse,
	       (unsigned long long)c->saturated);
}

static bool check_layer(struct check *check, const struct npu_layer *layer)
{
	struct layer_counts counts;

	if (!layer_check_layer(&check->layers, layer, &counts)) {
		printf("#   %s: no oracle: %s\n", layer->name, check->layers.diag.text);
		return false;
	}
	check->elements += counts.elements;
	check->equal += counts.equal;
	check->by_one += counts.by_one;
	check->worse += counts.worse;
	check->saturated += counts.saturated;
	if (verbose || counts.worse)
		print_layer(layer, &counts);
	return counts.worse == 0;
}

/* ---- one model on one configuration ---- */

static bool check_layers(struct check *check)
{
	const struct npu_net *net = check->layers.net;
	bool good = true;
	u32 i, layers = 0;

	if (verbose)
		printf("#   %-44s %-4s %8s %8s %7s %6s %9s\n", "layer", "kind", "elements", "equal",
		       "by one", "worse", "saturated");
	for (i = 0; i < net->layer_count; i++) {
		if (!net->layer[i].group_count)
			continue;
		layers++;
		good &= check_layer(check, &net->layer[i]);
	}
	return good && layers;
}

static void run_input(struct check *check, const struct shared_model *model, const char *config,
		      u32 seed)
{
	struct npu_model *loaded = check->layers.model;
	struct shared_io io;
	bool good;

	check->elements = check->equal = check->by_one = check->worse = check->saturated = 0;
	shared_io_make(loaded, &io);
	good = shared_io_fill(model, &io, seed);
	if (good && npu_run(loaded, io.input, io.input_count, io.output, io.output_count, NULL)) {
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
	const struct npu_layer *layer = check->layers.net->layer;
	struct check copy = *check;
	u8 *element;

	while (!layer->group_count || layer->kind == NPU_LAYER_CPU)
		layer++;
	element = npu_value_at(&check->layers.model->lane[0], layer->output, 0, 0, 0);
	*element = (u8)(*element + (*(s8 *)element < 0 ? 3 : -3));
	tap(!check_layer(&copy, layer) && copy.worse == check->worse + 1,
	    "%s %s: a wrong element is found", config, check->layers.model->name);
}

static void check_model(struct npu_device *device, const struct shared_model *model,
			const char *config)
{
	struct check check = { 0 };
	struct npu_model *loaded;
	char path[512];
	u32 seed;

	shared_path_of(model, path);
	if (npu_model_load(device, path, NULL, &loaded)) {
		tap(false, "%s %s loads: %s", config, model->name, npu_error());
		return;
	}
	if (!layer_check_open(&check.layers, loaded))
		tap(false, "%s %s: %s %s", config, model->name, check.layers.diag.text,
		    npu_error());
	else
		for (seed = 0; seed <= RANDOM_INPUTS; seed++) {
			run_input(&check, model, config, seed);
			if (seed == RANDOM_INPUTS)
				check_the_check(&check, config);
		}
	layer_check_close(&check.layers);
	npu_model_free(loaded);
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
	for (i = 0; i < SHARED_ONNX_MODEL_COUNT; i++)
		if (!only || strcmp(only, shared_onnx_models[i].name) == 0)
			check_model(device, &shared_onnx_models[i], config);
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
