// SPDX-License-Identifier: MIT
/*
 * Every real model on every configuration and at budgets of 32, 16, 8 and 4
 * banks: outputs are the same bytes at every budget, the class is the one that
 * TensorFlow Lite says, and the distance to its outputs is printed.
 *
 *	models_run [CONFIG [MODEL]]
 */
#include <errno.h>
#include <stdbool.h>

#include "../common/shared_models.h"
#include "../common/test_device.h"
#include "../common/whole_file.h"
#include "internal.h"
#include "reference.h"

static const uint32_t budgets[] = { 32, 16, 8, 4, 1 };

#define BUDGET_COUNT (sizeof(budgets) / sizeof(budgets[0]))

/* What TensorFlow Lite makes of the input. */
struct golden {
	void *output[SHARED_MAX_TENSORS];
};

static int element(const struct npu_tensor_info *info, const void *data, uint64_t i)
{
	return info->type == NPU_TYPE_INT8 ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
}

/* The reference interpreter's outputs, for models without golden files. */
static bool interpret(const struct shared_model *model, const struct shared_io *io,
		      struct golden *golden)
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { "" };
	char path[512];
	void *data;
	size_t bytes;
	bool good = false;
	unsigned i;

	shared_model_path(model->name, path);
	data = whole_file(path, &bytes);
	if (npu_import_tflite(data, bytes, path, NULL, &graph, &diag) == 0 &&
	    npu_reference_new(graph, &reference, &diag) == 0) {
		for (i = 0; i < io->input_count; i++)
			memcpy(npu_reference_tensor(reference, graph->input[i]), io->input[i].data,
			       io->input[i].bytes);
		good = npu_reference_run(reference, NULL, NULL, &diag) == 0;
		for (i = 0; good && i < io->output_count; i++)
			memcpy(golden->output[i], npu_reference_tensor(reference, graph->output[i]),
			       io->output[i].bytes);
	}
	if (reference)
		npu_reference_free(reference);
	if (graph)
		npu_graph_free(graph);
	free(data);
	return good;
}

static bool load_golden(const struct shared_model *model, const struct shared_io *io,
			struct golden *golden)
{
	unsigned i;

	for (i = 0; i < io->output_count; i++)
		golden->output[i] = shared_alloc(io->output[i].bytes);
	if (!model->golden)
		return interpret(model, io, golden);
	for (i = 0; i < io->output_count; i++)
		if (!shared_golden(model, "out", i, golden->output[i], io->output[i].bytes))
			return false;
	return true;
}

static void free_golden(struct golden *golden)
{
	unsigned i;

	for (i = 0; i < SHARED_MAX_TENSORS; i++)
		free(golden->output[i]);
}

/* Does the golden output have its largest value where ours has it? */
static bool same_class(const struct npu_tensor_info *info, const void *ours, const void *golden)
{
	uint64_t i, best = 0, want = 0;

	for (i = 1; i < info->bytes; i++) {
		if (element(info, ours, i) > element(info, ours, best))
			best = i;
		if (element(info, golden, i) > element(info, golden, want))
			want = i;
	}
	return element(info, golden, best) == element(info, golden, want);
}

struct distance {
	uint64_t elements, equal;
	int most;
};

static struct distance measure(const struct shared_io *io, const struct golden *golden)
{
	struct distance distance = { 0, 0, 0 };
	unsigned t;
	uint64_t i;

	for (t = 0; t < io->output_count; t++)
		for (i = 0; i < io->output[t].bytes; i++) {
			int d = abs(element(&io->out_info[t], io->output[t].data, i) -
				    element(&io->out_info[t], golden->output[t], i));

			distance.elements++;
			distance.equal += d == 0;
			if (d > distance.most)
				distance.most = d;
		}
	return distance;
}

static void compare_with_golden(const struct shared_model *model, const char *config,
				const struct shared_io *io, const struct golden *golden)
{
	struct distance distance = measure(io, golden);
	bool good = !model->classes ||
		    same_class(&io->out_info[0], io->output[0].data, golden->output[0]);

	tap(good, "%s %s: %s; %llu of %llu output elements equal, largest distance %d", config,
	    model->name, model->classes ? "the same class" : "no class to compare",
	    (unsigned long long)distance.equal, (unsigned long long)distance.elements,
	    distance.most);
}

/* What a plan leaves to the CPU for want of banks, and to the NPU. */
struct left {
	uint32_t units, tasks;
};

/* Runs at one budget; false where it failed (which is reported).  @left: of its plan. */
static bool run_at(struct npu_device *device, const struct shared_model *model, const char *config,
		   uint32_t banks, struct shared_io *io, struct left *left)
{
	struct npu_model_options options = { .size = sizeof(options), .max_banks = banks };
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct npu_model_info info = { .size = sizeof(info) };
	struct npu_model *loaded;
	char path[512];
	uint64_t measured;
	int err;

	shared_model_path(model->name, path);
	err = npu_model_load(device, path, &options, &loaded);
	if (err) {
		tap(false, "%s %s at %u banks loads: %s", config, model->name, banks, npu_error());
		return false;
	}
	shared_io_make(loaded, io);
	if (!shared_io_fill(model, io, 0))
		tap(false, "%s has its golden input", model->name);
	err = npu_run(loaded, io->input, io->input_count, io->output, io->output_count, &stats);
	npu_model_info(loaded, &info);
	measured =
		stats.feature_bytes + stats.weight_bytes + stats.operand_bytes + stats.output_bytes;
	tap(!err && info.used_banks <= banks && stats.restarts == 0,
	    "%s %s at %u banks: %u tasks, %llu cycles, %llu DRAM bytes%s%s", config, model->name,
	    banks, stats.tasks, (unsigned long long)stats.cycles, (unsigned long long)measured,
	    err ? ": " : "", err ? npu_error() : "");
	if (!err && !test_device_is_given())
		tap(measured == info.dram_bytes,
		    "%s %s at %u banks moves what the plan says (%llu, %llu)", config, model->name,
		    banks, (unsigned long long)measured, (unsigned long long)info.dram_bytes);
	left->units = loaded->program->plan->unit_count;
	left->tasks = loaded->program->plan->task_count;
	npu_model_free(loaded);
	if (err)
		shared_io_free(io);
	return !err;
}

static bool same_outputs(const struct shared_io *a, const struct shared_io *b)
{
	unsigned i;

	for (i = 0; i < a->output_count; i++)
		if (memcmp(a->output[i].data, b->output[i].data, a->output[i].bytes) != 0)
			return false;
	return true;
}

/*
 * What the CPU does for want of banks it rounds as the reference interpreter does, not as SDP: outputs are
 * that one's, but for what passes of the NPU (sums) are off by.
 */
static void compare_apart(const struct shared_model *model, const char *config, uint32_t banks,
			  const struct shared_io *io, const struct left *left)
{
	struct golden right = { { NULL } };
	struct distance distance;
	unsigned i;
	bool good;

	for (i = 0; i < io->output_count; i++)
		right.output[i] = shared_alloc(io->output[i].bytes);
	good = interpret(model, io, &right);
	distance = measure(io, &right);
	good = good && (left->tasks ? distance.equal * 2 >= distance.elements : !distance.most);
	tap(good,
	    "%s %s at %u banks, %u units on the CPU, %u tasks: %llu of %llu output elements the "
	    "reference's, largest distance %d",
	    config, model->name, banks, left->units, left->tasks,
	    (unsigned long long)distance.equal, (unsigned long long)distance.elements,
	    distance.most);
	free_golden(&right);
}

static void run_model(struct npu_device *device, const struct shared_model *model,
		      const char *config, uint32_t banks_total)
{
	struct shared_io first = { 0 }, other = { 0 };
	struct golden golden = { { NULL } };
	bool any = false;
	struct left left;
	size_t i;

	for (i = 0; i < BUDGET_COUNT; i++) {
		if (budgets[i] > banks_total)
			continue;
		if (!run_at(device, model, config, budgets[i], any ? &other : &first, &left))
			continue;
		if (any && left.units)
			compare_apart(model, config, budgets[i], &other, &left);
		else if (any)
			tap(same_outputs(&first, &other), "%s %s at %u banks: the same outputs",
			    config, model->name, budgets[i]);
		any = true;
		shared_io_free(&other);
	}
	if (!any)
		tap(false, "%s %s runs at any budget", config, model->name);
	else if (load_golden(model, &first, &golden))
		compare_with_golden(model, config, &first, &golden);
	else
		tap(false, "%s has golden outputs", model->name);
	free_golden(&golden);
	shared_io_free(&first);
}

static void run_device(const char *name, const char *only)
{
	struct npu_device_info info = { .size = sizeof(info) };
	struct npu_device *device;
	size_t i;

	if (npu_open(name, &device) || npu_device_info(device, &info)) {
		tap(false, "%s opens: %s", name, npu_error());
		return;
	}
	for (i = 0; i < SHARED_MODEL_COUNT; i++)
		if (!only || strcmp(only, shared_models[i].name) == 0)
			run_model(device, &shared_models[i], info.config, info.banks);
	npu_close(device);
}

/* The configurations, or the one that is wanted, as simulated NPUs. */
static void run_simulated(const char *config, const char *only)
{
	char name[64];
	size_t i;

	for (i = 0; i < SHARED_CONFIG_COUNT; i++) {
		if (config && strcmp(config, shared_configs[i]) != 0)
			continue;
		snprintf(name, sizeof(name), "sim:%s", shared_configs[i]);
		run_device(name, only);
	}
}

/* Takes most of the buffer away while a run is on its way. */
static void shrink_budget(void *context, struct npu_model *model, u32 step)
{
	if (step == 0)
		npu_device_set_cap(context, 4);
}

/*
 * The budget shrinks between two chains of one run: the next chain is refused, the run
 * begins again with another plan, and its result is the same.
 */
static void check_shrinking(void)
{
	const struct shared_model *model = &shared_models[0]; /* of many chains */
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct npu_device_info info = { .size = sizeof(info) };
	struct shared_io calm, shrunk;
	struct npu_device *device;
	struct npu_model *loaded;
	char path[512];
	int err;

	shared_model_path(model->name, path);
	if (npu_open(test_device("sim:nv_small:shrinking"), &device)) {
		tap(false, "the NPU opens: %s", npu_error());
		return;
	}
	if (npu_model_load(device, path, NULL, &loaded)) {
		tap(false, "%s loads: %s", model->name, npu_error());
		npu_close(device);
		return;
	}
	shared_io_make(loaded, &calm);
	shared_io_make(loaded, &shrunk);
	err = !shared_io_fill(model, &calm, 0) || !shared_io_fill(model, &shrunk, 0) ||
	      npu_run(loaded, calm.input, calm.input_count, calm.output, calm.output_count, NULL);
	npu_model_set_hook(loaded, shrink_budget, device);
	err = err || npu_run(loaded, shrunk.input, shrunk.input_count, shrunk.output,
			     shrunk.output_count, &stats);
	tap(!err && stats.restarts == 1 && stats.replans == 1 && stats.plan_banks == 4 &&
		    same_outputs(&calm, &shrunk),
	    "the budget shrinks during a run: planned again for %u banks, begun again %u time, "
	    "the same outputs%s%s",
	    stats.plan_banks, stats.restarts, err ? ": " : "", err ? npu_error() : "");
	shared_io_free(&calm);
	shared_io_free(&shrunk);
	npu_model_free(loaded);
	npu_device_info(device, &info);
	npu_device_set_cap(device, info.banks);
	npu_close(device);
}

/* A network in float32 is refused with a reason, not run wrongly. */
static void check_float(void)
{
	struct npu_device *device;
	struct npu_model *model;
	char path[512];
	int err;

	shared_model_path("mlperf_ic_resnet8_f32", path);
	if (npu_open("sim:nv_small", &device)) {
		tap(false, "sim:nv_small opens: %s", npu_error());
		return;
	}
	err = npu_model_load(device, path, NULL, &model);
	tap(err == -ENOTSUP && npu_error()[0], "float32 is refused: %s", npu_error());
	if (!err)
		npu_model_free(model);
	npu_close(device);
}

int main(int argc, char **argv)
{
	const char *config = argc > 1 ? argv[1] : NULL, *only = argc > 2 ? argv[2] : NULL;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	if (test_device_is_given())
		run_device(test_device(NULL), only);
	else
		run_simulated(config, only);
	if (!config) {
		check_shrinking();
		check_float();
	}
	return tap_end();
}
