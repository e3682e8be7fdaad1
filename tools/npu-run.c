// SPDX-License-Identifier: MIT
/*
 * npu-run: run a model on an NPU with inputs from files.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/element.h"
#include "common/tensor_file.h"
#include "common/tool.h"
#include "npu.h"
#include "output_file.h"

#define NAME "npu-run"
#define MAX_TENSORS 64
#define MAX_LABELS_BYTES ((size_t)16 << 20)
#define DEFAULT_TOP 5

static const char help[] =
	"usage: npu-run MODEL --input FILE... [OPTION]...\n"
	"Run MODEL (.tflite, .onnx, or .npu as npuc writes it) on an NPU.\n"
	"\n"
	"  --input FILE     an input tensor; once for each input of the model, in its order: raw\n"
	"                   elements; .npy (real numbers are quantised); .npz (the array with the\n"
	"                   input's name or arr_N; one file may serve all inputs); PNG, JPEG, "
	"BMP,\n"
	"                   PGM, PPM; WAV where the model takes samples\n"
	"  --output DIR     write each output tensor to DIR/output_N.bin (.npy), or "
	"DIR/outputs.npz\n"
	"  --format F       as raw elements (default), npy or npz\n"
	"  --real           write and print real numbers (float32) instead of stored ones\n"
	"  --device NAME    the NPU, e.g. sim:nv_large (default: $NPU_DEVICE, else the first real\n"
	"                   one, else sim:nv_small)\n"
	"  --labels FILE    names of the classes, one a line\n"
	"  --top K          print the K largest elements of each output (default 5)\n"
	"  --repeat N       run N times\n"
	"  --stats          print what a run took\n"
	"  --json           print as JSON\n"
	"  --values         all elements of each output too, in JSON\n"
	"  --pixels ORDER   the first input takes images in bytes: r8, rgb, bgr, rgba, bgra, "
	"argb,\n"
	"                   abgr, nv24, nv42; the NPU reads and converts them, with --mean, "
	"--scale\n"
	"  --input-shape [NAME:]DxD..  shape of an input that the model leaves open; several\n"
	"                   separated by commas\n"
	"  --record DIR     store each run as a script with memory images that npusim replays\n"
	"  --help           print this\n"
	"  --version        print the version\n"
	"\n"
	"How input files are read:\n";

static const char help_end[] =
	"\n"
	"Exit status: 0, 1 when the model cannot be loaded or run, 2 for wrong usage.\n";

enum format { FORMAT_RAW, FORMAT_NPY, FORMAT_NPZ, FORMAT_COUNT };

static const char *const format_names[FORMAT_COUNT] = { "raw", "npy", "npz" };

struct options {
	const char *model;
	const char *input[MAX_TENSORS];
	unsigned input_count;
	const char *output;
	const char *device;
	const char *labels;
	const char *record;
	const char *input_shapes;
	const char *pixels;
	uint32_t top;
	uint32_t repeat;
	struct tool_input_options read;
	enum format format;
	bool top_given;
	bool stats;
	bool json;
	bool real;
	bool values;
};

/* Names of classes; all in one block of text. */
struct labels {
	char *text;
	char **name;
	size_t count;
};

struct run {
	const struct options *options;
	struct npu_device *device;
	struct npu_model *model;
	struct npu_tensor_info in_info[MAX_TENSORS];
	struct npu_tensor_info out_info[MAX_TENSORS];
	struct npu_input input[MAX_TENSORS];
	struct npu_output output[MAX_TENSORS];
	unsigned input_count, output_count;
	struct labels labels;
	struct npu_run_stats stats; /* of the last run */
	uint64_t total_ns; /* of all runs */
	uint32_t replans; /* of all runs */
};

static int failed(void)
{
	return tool_error(NAME, "%s", npu_error());
}

/* ---- labels ---- */

static int load_labels(const char *path, bool json, struct labels *labels)
{
	size_t bytes, i, lines = 0;
	char *line, *rest;
	int err = tool_read_file(path, MAX_LABELS_BYTES, (uint8_t **)&labels->text, &bytes);

	if (err)
		return tool_error(NAME, "%s: %s", path, strerror(-err));
	for (i = 0; i < bytes; i++)
		lines += labels->text[i] == '\n';
	labels->name = calloc(lines + 1, sizeof(*labels->name));
	if (!labels->name)
		return tool_error(NAME, "%s: out of memory", path);
	for (rest = labels->text; (line = strsep(&rest, "\n"));) {
		line[strcspn(line, "\r")] = '\0';
		if (json)
			tool_make_utf8(line);
		if (rest || *line)
			labels->name[labels->count++] = line;
	}
	return TOOL_OK;
}

static const char *label(const struct labels *labels, uint64_t index)
{
	return index < labels->count ? labels->name[index] : NULL;
}

/* ---- elements of outputs ---- */

/* The largest element below (value, index) in the order of rank; false behind the last. */
static bool next_best(const struct npu_tensor_info *info, const void *data, double *value,
		      uint64_t *index)
{
	uint64_t count = tool_elements(info), i, best = 0;
	double best_value = 0;
	bool found = false;

	for (i = 0; i < count; i++) {
		double v = tool_stored(info, data, i);

		if (v > *value || (v == *value && i <= *index) || (found && v <= best_value))
			continue;
		found = true;
		best = i;
		best_value = v;
	}
	*value = best_value;
	*index = best;
	return found;
}

/* Is it a vector of class scores, of which the largest say something? */
static bool is_ranked(const struct run *run, const struct npu_tensor_info *info)
{
	uint64_t count = tool_elements(info);

	if (run->options->top_given || run->labels.count)
		return true;
	return info->rank && count > 1 && info->shape[info->rank - 1] == count;
}

/* ---- text ---- */

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

	for (i = 0; i < run->options->top && next_best(info, data, &value, &index); i++) {
		const char *name = label(&run->labels, index);

		printf("  %4llu  %12.6f  %s\n", (unsigned long long)index,
		       tool_real(info, data, index), name ? name : "");
	}
}

static void print_outputs(const struct run *run)
{
	unsigned i;

	for (i = 0; i < run->output_count; i++) {
		const struct npu_tensor_info *info = &run->out_info[i];

		printf("output %u: %s %s ", i, info->name, npu_type_name(info->type));
		print_shape(info);
		printf("\n");
		if (is_ranked(run, info))
			print_top(run, i);
	}
}

/* Every figure that is printed, once: for people and for JSON. */
struct figure {
	const char *name; /* JSON */
	const char *text;
	uint64_t value;
	bool measured; /* not by every kind of NPU: left out where it is zero */
};

#define MAX_FIGURES 32

static unsigned list_figures(const struct run *run, const struct npu_model_info *model,
			     struct figure figure[MAX_FIGURES])
{
	const struct npu_run_stats *s = &run->stats;
	const struct figure all[] = {
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

static void print_stats(const struct run *run, const struct npu_model_info *model)
{
	struct figure figure[MAX_FIGURES];
	unsigned i, count = list_figures(run, model, figure);

	for (i = 0; i < count; i++)
		printf("%-32s %14llu\n", figure[i].text, (unsigned long long)figure[i].value);
}

/* ---- JSON ---- */

/* JSON has no infinities: null. */
static struct json_object *json_number(double number)
{
	return isfinite(number) ? json_object_new_double(number) : NULL;
}

static struct json_object *json_top(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;
	struct json_object *array = json_object_new_array();
	double value = INFINITY;
	uint64_t index = 0;
	uint32_t i;

	for (i = 0; i < run->options->top && next_best(info, data, &value, &index); i++) {
		struct json_object *entry = json_object_new_object();
		const char *name = label(&run->labels, index);

		json_object_object_add(entry, "class", json_object_new_int64((int64_t)index));
		if (name)
			json_object_object_add(entry, "label", json_object_new_string(name));
		json_object_object_add(entry, "value", json_number(tool_real(info, data, index)));
		json_object_array_add(array, entry);
	}
	return array;
}

static struct json_object *json_element(const struct run *run, unsigned output, uint64_t i)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;

	if (info->type == NPU_TYPE_FLOAT16 || info->type == NPU_TYPE_FLOAT32 ||
	    (run->options->real && info->scale > 0))
		return json_number(tool_real(info, data, i));
	if (info->type == NPU_TYPE_INT64)
		return json_object_new_int64(((const int64_t *)data)[i]);
	return json_object_new_int64((int64_t)tool_stored(info, data, i));
}

static struct json_object *json_values(const struct run *run, unsigned output)
{
	struct json_object *array = json_object_new_array();
	uint64_t count = tool_elements(&run->out_info[output]), i;

	for (i = 0; i < count; i++)
		json_object_array_add(array, json_element(run, output, i));
	return array;
}

static struct json_object *json_output(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	struct json_object *object = json_object_new_object();
	struct json_object *shape = json_object_new_array();
	uint32_t i;

	for (i = 0; i < info->rank; i++)
		json_object_array_add(shape, json_object_new_int64(info->shape[i]));
	json_object_object_add(object, "name", json_object_new_string(info->name));
	json_object_object_add(object, "type", json_object_new_string(npu_type_name(info->type)));
	json_object_object_add(object, "shape", shape);
	if (info->scale > 0) {
		json_object_object_add(object, "scale",
				       json_object_new_double((double)info->scale));
		json_object_object_add(object, "zero_point",
				       json_object_new_int64(info->zero_point));
	}
	if (is_ranked(run, info))
		json_object_object_add(object, "top", json_top(run, output));
	if (run->options->values)
		json_object_object_add(object, "values", json_values(run, output));
	return object;
}

static struct json_object *json_stats(const struct run *run, const struct npu_model_info *model)
{
	struct json_object *object = json_object_new_object();
	struct figure figure[MAX_FIGURES];
	unsigned i, count = list_figures(run, model, figure);

	for (i = 0; i < count; i++)
		json_object_object_add(object, figure[i].name,
				       json_object_new_int64((int64_t)figure[i].value));
	return object;
}

static void print_json(const struct run *run, const struct npu_model_info *model)
{
	struct npu_device_info device = { .size = sizeof(device) };
	struct json_object *object = json_object_new_object();
	struct json_object *outputs = json_object_new_array();
	unsigned i;

	npu_device_info(run->device, &device);
	json_object_object_add(object, "model", json_object_new_string(run->options->model));
	json_object_object_add(object, "device", json_object_new_string(device.name));
	for (i = 0; i < run->output_count; i++)
		json_object_array_add(outputs, json_output(run, i));
	json_object_object_add(object, "outputs", outputs);
	if (run->options->stats)
		json_object_object_add(object, "stats", json_stats(run, model));
	printf("%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
	json_object_put(object);
}

/* ---- the run ---- */

/* One .npz may have the arrays of all inputs. */
static const char *input_path(const struct run *run, unsigned input)
{
	const struct options *o = run->options;

	if (o->input_count == run->input_count)
		return o->input[input];
	return o->input_count == 1 && tool_file_is_npz(o->input[0]) ? o->input[0] : NULL;
}

static int load_inputs(struct run *run)
{
	char text[200];
	unsigned i;

	for (i = 0; i < run->input_count; i++) {
		const struct npu_tensor_info *info = &run->in_info[i];
		const char *path = input_path(run, i);
		void *data;

		if (!path)
			break;
		if (tool_load_tensor(path, info, i, &run->options->read, &data, text))
			return tool_error(NAME, "%s: %s (input %u, %s: %llu bytes of %s)", path,
					  text, i, info->name, (unsigned long long)info->bytes,
					  npu_type_name(info->type));
		run->input[i] = (struct npu_input){ data, info->bytes };
	}
	if (i < run->input_count)
		return tool_usage(NAME, "%s has %u inputs, %u --input were given",
				  run->options->model, run->input_count, run->options->input_count);
	return TOOL_OK;
}

static int make_outputs(struct run *run)
{
	unsigned i;

	for (i = 0; i < run->output_count; i++) {
		size_t bytes = run->out_info[i].bytes;

		run->output[i] = (struct npu_output){ calloc(bytes ? bytes : 1, 1), bytes };
		if (!run->output[i].data)
			return tool_error(NAME, "no memory for output %u of %zu bytes", i, bytes);
	}
	return TOOL_OK;
}

static int describe_tensors(struct run *run)
{
	unsigned i;

	run->input_count = npu_model_input_count(run->model);
	run->output_count = npu_model_output_count(run->model);
	if (run->input_count > MAX_TENSORS || run->output_count > MAX_TENSORS) {
		run->input_count = run->output_count = 0;
		return tool_error(NAME, "%s: more than %d inputs or outputs", run->options->model,
				  MAX_TENSORS);
	}
	for (i = 0; i < run->input_count; i++) {
		run->in_info[i].size = sizeof(run->in_info[i]);
		npu_model_input(run->model, i, &run->in_info[i]);
	}
	for (i = 0; i < run->output_count; i++) {
		run->out_info[i].size = sizeof(run->out_info[i]);
		npu_model_output(run->model, i, &run->out_info[i]);
	}
	return TOOL_OK;
}

static void show_progress(uint32_t done, uint32_t all)
{
	fprintf(stderr, "\r%u of %u%s", done, all, done == all ? "\n" : "");
}

static int run_all(struct run *run)
{
	uint32_t i, repeat = run->options->repeat;
	bool progress = repeat > 1 && isatty(STDERR_FILENO);

	for (i = 0; i < repeat; i++) {
		run->stats = (struct npu_run_stats){ .size = sizeof(run->stats) };
		if (npu_run(run->model, run->input, run->input_count, run->output,
			    run->output_count, &run->stats))
			return failed();
		run->total_ns += run->stats.wall_ns;
		run->replans += run->stats.replans;
		if (progress)
			show_progress(i + 1, repeat);
	}
	return TOOL_OK;
}

static int save(const char *dir, const char *name, const void *data, size_t bytes)
{
	char *path;
	int err;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return tool_error(NAME, "out of memory");
	err = npu_output_file_save(path, data, bytes);
	if (err)
		tool_error(NAME, "%s: %s", path, strerror(-err));
	free(path);
	return err ? TOOL_FAILED : TOOL_OK;
}

/* Real numbers of an output; NULL: out of memory. */
static float *real_numbers(const struct npu_tensor_info *info, const void *data)
{
	uint64_t count = tool_elements(info), i;
	float *real = calloc(count ? count : 1, sizeof(*real));

	for (i = 0; real && i < count; i++)
		real[i] = (float)tool_real(info, data, i);
	return real;
}

static int write_raw_output(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;
	char name[32];
	float *real;
	int status;

	snprintf(name, sizeof(name), "output_%u.bin", output);
	if (!run->options->real)
		return save(run->options->output, name, data, info->bytes);
	real = real_numbers(info, data);
	if (!real)
		return tool_error(NAME, "no memory for output %u", output);
	status = save(run->options->output, name, real, tool_elements(info) * sizeof(*real));
	free(real);
	return status;
}

static int write_raw(const struct run *run)
{
	int status = TOOL_OK;
	unsigned i;

	for (i = 0; i < run->output_count && !status; i++)
		status = write_raw_output(run, i);
	return status;
}

/* Tensors of one name are told apart by their number. */
static const char *member_name(const struct run *run, unsigned output, char text[32])
{
	const char *name = run->out_info[output].name;
	unsigned i;

	for (i = 0; i < run->output_count; i++)
		if (!*name || (i != output && strcmp(run->out_info[i].name, name) == 0)) {
			snprintf(text, 32, "arr_%u", output);
			return text;
		}
	return name;
}

static int write_npz(const struct run *run, const struct tool_npz_member *npy)
{
	struct tool_npz_member member[MAX_TENSORS];
	char text[MAX_TENSORS][32];
	uint8_t *npz;
	size_t bytes;
	unsigned i;
	int status;

	for (i = 0; i < run->output_count; i++) {
		member[i] = npy[i];
		member[i].name = member_name(run, i, text[i]);
	}
	if (tool_npz_encode(member, run->output_count, &npz, &bytes))
		return tool_error(NAME, "cannot make an .npz of the outputs: out of memory");
	status = save(run->options->output, "outputs.npz", npz, bytes);
	free(npz);
	return status;
}

static int write_npy(const struct run *run, const struct tool_npz_member *npy)
{
	char name[32];
	unsigned i;

	for (i = 0; i < run->output_count; i++) {
		snprintf(name, sizeof(name), "output_%u.npy", i);
		if (save(run->options->output, name, npy[i].npy, npy[i].bytes))
			return TOOL_FAILED;
	}
	return TOOL_OK;
}

static int write_numpy(const struct run *run)
{
	struct tool_npz_member npy[MAX_TENSORS] = { 0 };
	int status = TOOL_OK;
	unsigned i;

	for (i = 0; i < run->output_count && !status; i++) {
		uint8_t *data;

		if (tool_npy_encode(&run->out_info[i], run->output[i].data, run->options->real,
				    &data, &npy[i].bytes))
			status = tool_error(NAME, "no memory for output %u", i);
		else
			npy[i].npy = data;
	}
	if (!status)
		status = run->options->format == FORMAT_NPZ ? write_npz(run, npy)
							    : write_npy(run, npy);
	while (i--)
		free((void *)(uintptr_t)npy[i].npy);
	return status;
}

static int write_outputs(const struct run *run)
{
	const char *dir = run->options->output;

	if (mkdir(dir, 0777) < 0 && errno != EEXIST)
		return tool_error(NAME, "%s: %s", dir, strerror(errno));
	return run->options->format == FORMAT_RAW ? write_raw(run) : write_numpy(run);
}

static int report(const struct run *run)
{
	struct npu_model_info model = { .size = sizeof(model) };

	if (npu_model_info(run->model, &model))
		return failed();
	if (run->options->json) {
		print_json(run, &model);
		return TOOL_OK;
	}
	print_outputs(run);
	if (run->options->stats)
		print_stats(run, &model);
	return TOOL_OK;
}

static int open_model(struct run *run)
{
	struct npu_model_options model_options = {
		.size = sizeof(model_options),
		.record_dir = run->options->record,
		.input_shapes = run->options->input_shapes,
		.pixels = run->options->pixels,
	};
	const struct tool_normal *normal = &run->options->read.normal;
	unsigned i;

	for (i = 0; i < 4 && normal->count; i++) {
		model_options.pixel_mean[i] = (float)normal->mean[i];
		model_options.pixel_scale[i] = (float)normal->scale[i];
	}

	if (npu_open(run->options->device, &run->device))
		return failed();
	if (npu_model_load(run->device, run->options->model, &model_options, &run->model))
		return failed();
	return describe_tensors(run);
}

static void clean_up(struct run *run)
{
	unsigned i;

	for (i = 0; i < run->input_count; i++)
		free((void *)(uintptr_t)run->input[i].data);
	for (i = 0; i < run->output_count; i++)
		free(run->output[i].data);
	npu_model_free(run->model);
	npu_close(run->device);
	free(run->labels.name);
	free(run->labels.text);
}

static int run_model(const struct options *options)
{
	struct run run = { .options = options };
	int status = TOOL_OK;

	if (options->labels)
		status = load_labels(options->labels, options->json, &run.labels);
	if (!status)
		status = open_model(&run);
	if (!status)
		status = load_inputs(&run);
	if (!status)
		status = make_outputs(&run);
	if (!status)
		status = run_all(&run);
	if (!status && options->output)
		status = write_outputs(&run);
	if (!status)
		status = report(&run);
	clean_up(&run);
	if (fflush(stdout) && !status)
		status = tool_error(NAME, "cannot write: %s", strerror(errno));
	return status;
}

/* ---- options ---- */

enum {
	OPT_INPUT,
	OPT_READ, /* one of tool_input_option() */
	OPT_OUTPUT,
	OPT_FORMAT,
	OPT_REAL,
	OPT_VALUES,
	OPT_DEVICE,
	OPT_LABELS,
	OPT_TOP,
	OPT_REPEAT,
	OPT_STATS,
	OPT_JSON,
	OPT_RECORD,
	OPT_INPUT_SHAPE,
	OPT_PIXELS,
	OPT_HELP,
	OPT_VERSION
};

static const struct option known[] = {
	{ "input", required_argument, NULL, OPT_INPUT },
	{ "fit", required_argument, NULL, OPT_READ },
	{ "order", required_argument, NULL, OPT_READ },
	{ "mean", required_argument, NULL, OPT_READ },
	{ "scale", required_argument, NULL, OPT_READ },
	{ "rate", required_argument, NULL, OPT_READ },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "real", no_argument, NULL, OPT_REAL },
	{ "values", no_argument, NULL, OPT_VALUES },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "labels", required_argument, NULL, OPT_LABELS },
	{ "top", required_argument, NULL, OPT_TOP },
	{ "repeat", required_argument, NULL, OPT_REPEAT },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "record", required_argument, NULL, OPT_RECORD },
	{ "input-shape", required_argument, NULL, OPT_INPUT_SHAPE },
	{ "pixels", required_argument, NULL, OPT_PIXELS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

static int add_input(struct options *options, const char *path)
{
	if (options->input_count == MAX_TENSORS)
		return tool_usage(NAME, "more than %d inputs", MAX_TENSORS);
	options->input[options->input_count++] = path;
	return TOOL_OK;
}

static int set_format(struct options *options, const char *value)
{
	unsigned i;

	for (i = 0; i < FORMAT_COUNT; i++)
		if (strcmp(value, format_names[i]) == 0)
			break;
	options->format = (enum format)i;
	return i < FORMAT_COUNT
		       ? TOOL_OK
		       : tool_usage(NAME, "--format: \"%s\" is not raw, npy or npz", value);
}

static int set_read(struct options *options, const char *name, const char *value)
{
	char text[200];

	return tool_input_option(&options->read, name, value, text) ? tool_usage(NAME, "%s", text)
								    : TOOL_OK;
}

static int set_option(struct options *options, int c, const char *value)
{
	switch (c) {
	case OPT_INPUT:
		return add_input(options, value);
	case OPT_FORMAT:
		return set_format(options, value);
	case OPT_REAL:
		options->real = true;
		return TOOL_OK;
	case OPT_VALUES:
		options->values = options->json = true;
		return TOOL_OK;
	case OPT_OUTPUT:
		options->output = value;
		return TOOL_OK;
	case OPT_DEVICE:
		options->device = value;
		return TOOL_OK;
	case OPT_LABELS:
		options->labels = value;
		return TOOL_OK;
	case OPT_TOP:
		options->top_given = true;
		if (!tool_number(value, 1, 1000000, &options->top))
			return tool_usage(NAME, "--top: \"%s\" is not 1 to 1000000", value);
		return TOOL_OK;
	case OPT_REPEAT:
		if (!tool_number(value, 1, 1000000000, &options->repeat))
			return tool_usage(NAME, "--repeat: \"%s\" is not 1 to 1000000000", value);
		return TOOL_OK;
	case OPT_STATS:
		options->stats = true;
		return TOOL_OK;
	case OPT_JSON:
		options->json = true;
		return TOOL_OK;
	case OPT_RECORD:
		options->record = value;
		return TOOL_OK;
	case OPT_PIXELS:
		options->pixels = value;
		return TOOL_OK;
	case OPT_INPUT_SHAPE:
		options->input_shapes = value;
		return TOOL_OK;
	default:
		return tool_usage(NAME, "wrong options");
	}
}

int main(int argc, char **argv)
{
	struct options options = { .top = DEFAULT_TOP, .repeat = 1 };
	int c, place, status;

	tool_standard_files();
	while ((c = getopt_long(argc, argv, "", known, &place)) != -1) {
		if (c == OPT_HELP) {
			printf("%s%s%s", help, tool_input_help, help_end);
			return TOOL_OK;
		}
		if (c == OPT_VERSION) {
			printf(NAME " %s\n", npu_version());
			return TOOL_OK;
		}
		status = c == OPT_READ ? set_read(&options, known[place].name, optarg)
				       : set_option(&options, c, optarg);
		if (status)
			return status;
	}
	if (optind == argc)
		return tool_usage(NAME, "no model");
	if (optind + 1 < argc)
		return tool_usage(NAME, "\"%s\" is not expected", argv[optind + 1]);
	options.model = argv[optind];
	return run_model(&options);
}
