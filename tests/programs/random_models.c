// SPDX-License-Identifier: MIT
/*
 * Random networks from file to results: every network for one configuration, at the whole buffer and
 * at smaller budgets, and from a compiled file.  Outputs are the same bytes everywhere, what moves
 * is what the plan says, traffic never rises with the budget, and every layer is held to the
 * reference interpreter.
 *
 *	random_models [-q] [COUNT [FIRST SEED [CONFIG]]]	-q: failures and the total only
 *
 * Without arguments a minute's worth.  A failed line has the command that repeats it.
 */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/layer_check.h"
#include "../common/shared_models.h"
#include "../common/test_device.h"
#include "random_model.h"

#define DEFAULT_COUNT 150
#define MAX_BUDGETS 4

static bool quiet;
static struct npu_device *devices[SHARED_CONFIG_COUNT];
static char directory[] = "/tmp/random-models-XXXXXX";

/* Sums over all networks, to see that the test is about something. */
static struct {
	u64 models, refused, units, npu_layers, cpu_layers;
	u64 elements, by_one, saturated;
	u64 cycles_planned, cycles_measured;
	double least_ratio, most_ratio;
} total = { .least_ratio = INFINITY };

/**
 * struct trial - one network on one configuration
 * @path, @compiled: its files
 * @bytes: DRAM traffic at the last budget that had a plan
 * @failure: what went wrong first
 */
struct trial {
	u64 seed;
	struct random random;
	struct npu_device *device;
	const char *config;
	char path[96], compiled[96];
	struct random_model file;
	struct shared_io first;
	bool any;
	u64 bytes;
	char failure[768];
};

__attribute__((format(printf, 2, 3))) static bool fail(struct trial *trial, const char *format, ...)
{
	va_list args;

	if (trial->failure[0])
		return false;
	va_start(args, format);
	vsnprintf(trial->failure, sizeof(trial->failure), format, args);
	va_end(args);
	return false;
}

/* ---- inputs and outputs ---- */

static void fill_inputs(struct trial *trial, struct shared_io *io)
{
	struct random random = { trial->seed };
	u32 i, kind = random_pick(&random, 0, 3);
	size_t j;

	for (i = 0; i < io->input_count; i++) {
		u8 *data = (u8 *)(uintptr_t)io->input[i].data;

		for (j = 0; j < io->input[i].bytes; j++)
			switch (kind) {
			case 0: /* the ends of the range */
				data[j] = random_chance(&random, 50) ? 127 : 128;
				break;
			case 1: /* around some value */
				data[j] = (u8)(i * 77 + random_pick(&random, 0, 40));
				break;
			default:
				data[j] = (u8)random_pick(&random, 0, 255);
			}
	}
}

static bool same_outputs(const struct shared_io *a, const struct shared_io *b)
{
	u32 i;

	for (i = 0; i < a->output_count; i++)
		if (memcmp(a->output[i].data, b->output[i].data, a->output[i].bytes) != 0)
			return false;
	return true;
}

/* ---- one budget ---- */

/* What the CPU does for want of banks: the text has to say where, what is needed and what there is. */
static bool check_unit(struct trial *trial, const struct npu_cpu_unit *unit, u32 banks)
{
	const char *needs = strstr(unit->reason, "needs ");
	char offer[24];

	snprintf(offer, sizeof(offer), "%u are available", banks);
	if (!strstr(unit->reason, "layer ") || !needs || atoi(needs + 6) < 1 ||
	    !strstr(unit->reason, offer))
		return fail(trial, "%u banks: on the CPU without layer, need and offer: %s", banks,
			    unit->reason);
	if (atoi(needs + 6) <= (int)banks)
		return fail(trial, "%u banks: on the CPU though enough: %s", banks, unit->reason);
	return true;
}

static bool verify(struct trial *trial, struct npu_model *model, u32 banks)
{
	const struct npu_program *program = model->program;
	struct npu_diag diag = { "" };
	u32 i;

	if (npu_graph_verify(program->net->graph, &diag) || npu_net_verify(program->net, &diag) ||
	    npu_plan_verify(program->net, program->plan, &diag))
		return fail(trial, "%u banks: %s", banks, diag.text);
	if (program->plan->banks > banks)
		return fail(trial, "%u banks: the plan claims %u", banks, program->plan->banks);
	for (i = 0; i < program->plan->unit_count; i++)
		if (!check_unit(trial, &program->plan->unit[i], banks))
			return false;
	total.units += program->plan->unit_count;
	return true;
}

static bool compare_traffic(struct trial *trial, const struct npu_plan *plan, u32 banks,
			    const struct npu_run_stats *stats)
{
	const struct npu_cost *cost = &plan->cost;
	double ratio;

	if (cost->feature_bytes != stats->feature_bytes ||
	    cost->weight_bytes != stats->weight_bytes ||
	    cost->operand_bytes != stats->operand_bytes ||
	    cost->output_bytes != stats->output_bytes)
		return fail(trial,
			    "%u banks: bytes planned and moved: features %llu %llu, weights %llu "
			    "%llu, operands %llu %llu, output %llu %llu",
			    banks, (unsigned long long)cost->feature_bytes,
			    (unsigned long long)stats->feature_bytes,
			    (unsigned long long)cost->weight_bytes,
			    (unsigned long long)stats->weight_bytes,
			    (unsigned long long)cost->operand_bytes,
			    (unsigned long long)stats->operand_bytes,
			    (unsigned long long)cost->output_bytes,
			    (unsigned long long)stats->output_bytes);
	/* What the CPU does moves nothing that is counted. */
	if (trial->any && !plan->unit_count && npu_cost_bytes(cost) < trial->bytes)
		return fail(trial, "%u banks: %llu bytes, with more banks %llu", banks,
			    (unsigned long long)npu_cost_bytes(cost),
			    (unsigned long long)trial->bytes);
	trial->bytes = npu_cost_bytes(cost);
	if (stats->cycles) {
		ratio = (double)cost->cycles / (double)stats->cycles;
		total.least_ratio = fmin(total.least_ratio, ratio);
		total.most_ratio = fmax(total.most_ratio, ratio);
		total.cycles_planned += cost->cycles;
		total.cycles_measured += stats->cycles;
	}
	return true;
}

/* One run; the first one's outputs are what all others have to be. */
static bool run(struct trial *trial, struct npu_model *model, u32 banks, const char *what)
{
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct shared_io io = { 0 };
	bool good = true;

	shared_io_make(model, &io);
	fill_inputs(trial, &io);
	if (npu_run(model, io.input, io.input_count, io.output, io.output_count, &stats))
		good = fail(trial, "%s, %u banks: %s", what, banks, npu_error());
	else if (stats.restarts || stats.replans)
		good = fail(trial, "%s, %u banks: %u restarts", what, banks, stats.restarts);
	else
		good = test_device_is_given() ||
		       compare_traffic(trial, model->program->plan, banks, &stats);
	/* The CPU rounds otherwise than SDP: then layers are held against the oracle alone. */
	if (good && trial->any && !model->program->plan->unit_count &&
	    !same_outputs(&trial->first, &io))
		good = fail(trial, "%s, %u banks: other outputs than at first", what, banks);
	if (good && !trial->any) {
		trial->first = io;
		trial->any = true;
	} else {
		shared_io_free(&io);
	}
	return good;
}

/*
 * Loads a file at a budget and runs it.  @model: receives the model, NULL where that failed.
 */
static bool run_at(struct trial *trial, const char *path, u32 banks, struct npu_model **model)
{
	const struct npu_model_options options = { .size = sizeof(options), .max_banks = banks };
	int err = npu_model_load(trial->device, path, &options, model);

	if (err) {
		*model = NULL;
		return fail(trial, "%u banks: %s", banks, npu_error());
	}
	return verify(trial, *model, banks) && run(trial, *model, banks, path);
}

/* ---- layers ---- */

static bool check_layer(struct trial *trial, struct layer_check *check,
			const struct npu_layer *layer)
{
	struct layer_counts counts;
	bool cpu = layer_check_on_cpu(check, layer) &&
		   (layer->kind != NPU_LAYER_CPU || !layer->patch_count);
	bool by_table = layer->kind == NPU_LAYER_CDP && !layer->cdp.sum;

	if (!layer_check_layer(check, layer, &counts))
		return fail(trial, "layer %s has no oracle: %s", layer->name, check->diag.text);
	total.elements += counts.elements;
	total.by_one += counts.by_one;
	total.saturated += counts.saturated;
	/* A CPU step does the very arithmetic of the oracle, and a table has its results. */
	if (counts.worse || ((cpu || by_table) && counts.by_one))
		return fail(trial,
			    "layer %s (%s%s): of %llu elements %llu are one off, %llu more (%llu "
			    "saturated inside); channel %llu is %d instead of %d",
			    layer->name, npu_op_names[check->net->graph->op[layer->op].kind],
			    cpu ? " on the CPU" : "", (unsigned long long)counts.elements,
			    (unsigned long long)counts.by_one, (unsigned long long)counts.worse,
			    (unsigned long long)counts.saturated,
			    (unsigned long long)(counts.worst % check->net->value[layer->output].c),
			    counts.is, counts.should_be);
	return true;
}

static bool check_layers(struct trial *trial, struct npu_model *model)
{
	struct layer_check check;
	bool good = true;
	u32 i;

	if (!layer_check_open(&check, model))
		good = fail(trial, "spread values: %s %s", check.diag.text, npu_error());
	good = good && run(trial, model, model->max_banks, "spread values");
	for (i = 0; good && i < check.net->layer_count; i++) {
		const struct npu_layer *layer = &check.net->layer[i];

		if (layer_check_on_cpu(&check, layer))
			total.cpu_layers++;
		else
			total.npu_layers++;
		if (layer->group_count)
			good = check_layer(trial, &check, layer);
	}
	layer_check_close(&check);
	return good;
}

/* ---- one network ---- */

static bool write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	bool good = file && fwrite(data, 1, bytes, file) == bytes;

	return file && fclose(file) == 0 && good;
}

/* Banks, from the whole buffer down. */
static u32 pick_budgets(struct trial *trial, u32 banks, u32 list[MAX_BUDGETS])
{
	u32 count = 0;

	while (count < MAX_BUDGETS && banks) {
		list[count++] = banks;
		banks = banks == 1 ? 0 : random_pick(&trial->random, 1, banks - 1);
	}
	return count;
}

/* Compiled, saved and loaded it is the same network. */
static bool check_compiled(struct trial *trial, struct npu_model *model, u32 banks)
{
	struct npu_diag diag = { "" };
	struct npu_model *again = NULL;
	bool good;

	if (npu_program_save(model->program, trial->compiled, &diag))
		return fail(trial, "save: %s", diag.text);
	good = run_at(trial, trial->compiled, banks, &again);
	if (good && npu_cost_bytes(&again->program->plan->cost) !=
			    npu_cost_bytes(&model->program->plan->cost))
		good = fail(trial, "compiled file: another plan");
	npu_model_free(again);
	return good;
}

static bool run_budgets(struct trial *trial)
{
	struct npu_device_info info = { .size = sizeof(info) };
	u32 list[MAX_BUDGETS], count, i;
	struct npu_model *model = NULL;
	bool good = true;

	npu_device_info(trial->device, &info);
	count = pick_budgets(trial, info.banks, list);
	for (i = 0; i < count && good; i++) {
		npu_model_free(model);
		good = run_at(trial, trial->path, list[i], &model);
		if (good && i == 0 && model->program->plan->unit_count)
			good = fail(trial, "the whole buffer is too small: %s",
				    model->program->plan->unit[0].reason);
		/* The smallest budget is the one with the most splits. */
		if (good && (i + 1 == count || model->program->plan->unit_count ||
			     random_chance(&trial->random, 40)))
			good = check_compiled(trial, model, list[i]) && check_layers(trial, model);
	}
	npu_model_free(model);
	return good;
}

/* Does the importer take it?  What the format does not allow is no failure. */
static bool imports(struct trial *trial)
{
	struct npu_graph *graph;
	struct npu_diag diag = { "" };
	int err = npu_import_tflite(trial->file.data, trial->file.bytes, "random", NULL, &graph,
				    &diag);

	if (err) {
		total.refused++;
		if (!quiet)
			printf("# seed %llu is refused: %s\n", (unsigned long long)trial->seed,
			       diag.text);
		return false;
	}
	npu_graph_free(graph);
	return true;
}

static void try_seed(u64 seed, const char *only)
{
	struct trial trial = { .seed = seed, .random = { seed ^ 0x5eed } };
	u32 config;

	do
		config = random_pick(&trial.random, 0, SHARED_CONFIG_COUNT - 1);
	while (only && strcmp(shared_configs[config], only) != 0);
	trial.config = shared_configs[config];
	trial.device = devices[config];
	snprintf(trial.path, sizeof(trial.path), "%s/random.tflite", directory);
	snprintf(trial.compiled, sizeof(trial.compiled), "%s/random.npu", directory);
	if (!random_model_make(seed, &trial.file) ||
	    !write_file(trial.path, trial.file.data, trial.file.bytes)) {
		tap(false, "seed %llu is written", (unsigned long long)seed);
		return;
	}
	total.models++;
	if (imports(&trial) && run_budgets(&trial)) {
		if (quiet)
			tap_passed++;
		else
			tap(true, "seed %llu, %s, %s", (unsigned long long)seed, trial.config,
			    trial.file.what);
	} else if (trial.failure[0]) {
		tap(false, "seed %llu, %s, %s; %s; repeat: random_models 1 %llu %s",
		    (unsigned long long)seed, trial.config, trial.file.what, trial.failure,
		    (unsigned long long)seed, trial.config);
	}
	shared_io_free(&trial.first);
	free(trial.file.data);
}

/* The NPU that is given stands for its configuration alone; returns that. */
static const char *open_given(void)
{
	const char *name = test_device(NULL);
	struct npu_device *device;
	u32 i;

	if (npu_open(name, &device)) {
		tap(false, "%s opens: %s", name, npu_error());
		return NULL;
	}
	/* The oracle spreads the values over an arena in one piece. */
	device->region_bytes = 0;
	for (i = 0; i < SHARED_CONFIG_COUNT; i++)
		if (strcmp(shared_configs[i], device->config->name) == 0) {
			devices[i] = device;
			return shared_configs[i];
		}
	tap(false, "%s is of a known configuration", name);
	npu_close(device);
	return NULL;
}

static bool open_simulated(void)
{
	char name[64];
	u32 i;

	for (i = 0; i < SHARED_CONFIG_COUNT; i++) {
		snprintf(name, sizeof(name), "sim:%s", shared_configs[i]);
		if (npu_open(name, &devices[i])) {
			tap(false, "%s opens: %s", name, npu_error());
			return false;
		}
	}
	return true;
}

static void print_totals(void)
{
	printf("# %llu networks (%llu refused by the importer), %llu NPU layers, %llu CPU layers "
	       "checked; %llu times something was the CPU's for want of banks\n",
	       (unsigned long long)total.models, (unsigned long long)total.refused,
	       (unsigned long long)total.npu_layers, (unsigned long long)total.cpu_layers,
	       (unsigned long long)total.units);
	printf("# %llu elements, %llu one off, %llu saturated inside of fused groups\n",
	       (unsigned long long)total.elements, (unsigned long long)total.by_one,
	       (unsigned long long)total.saturated);
	if (total.cycles_measured)
		printf("# cycles planned / measured: %.3f in sum, %.3f .. %.3f a run\n",
		       (double)total.cycles_planned / (double)total.cycles_measured,
		       total.least_ratio, total.most_ratio);
	/* A generator that makes nothing useful is a test that cannot fail. */
	tap(total.refused * 10 <= total.models, "at most one network in ten is refused");
	tap(total.units * 10 >= total.models,
	    "budgets are small enough to leave layers to the CPU");
}

int main(int argc, char **argv)
{
	u64 count = DEFAULT_COUNT, first = 1, seed;
	const char *only;
	bool there;
	u32 i;

	quiet = argc > 1 && strcmp(argv[1], "-q") == 0;
	argc -= quiet;
	argv += quiet;
	if (argc > 1)
		count = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoull(argv[2], NULL, 0);
	setenv("NPU_SIM_DIR", "-", 1);
	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	only = test_device_is_given() ? open_given() : argc > 3 ? argv[3] : NULL;
	there = test_device_is_given() ? only != NULL : open_simulated();
	if (there) {
		for (seed = first; seed < first + count; seed++)
			try_seed(seed, only);
		print_totals();
	}
	for (i = 0; i < SHARED_CONFIG_COUNT; i++)
		npu_close(devices[i]);
	if (chdir(directory) == 0) {
		unlink("random.tflite");
		unlink("random.npu");
		if (chdir("/") == 0)
			rmdir(directory);
	}
	return tap_end();
}
