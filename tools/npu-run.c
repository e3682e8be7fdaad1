// SPDX-License-Identifier: MIT
/*
 * npu-run: run a model on an NPU with inputs from files.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/model_option.h"
#include "common/tensor_file.h"
#include "common/tool.h"
#include "npu.h"
#include "run/run.h"

#define DEFAULT_TOP 5

static const char help[] =
	"usage: npu-run MODEL --input FILE... [OPTION]...\n"
	"Run MODEL (.tflite, .onnx, .prototxt, or .npu as npuc writes it) on an NPU.\n"
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

static const char *const format_names[RUN_FORMAT_COUNT] = { "raw", "npy", "npz" };

static int failed(void)
{
	return tool_error(RUN_NAME, "%s", npu_error());
}

/* One .npz may have the arrays of all inputs. */
static const char *input_path(const struct run *run, unsigned input)
{
	const struct run_options *o = run->options;

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
			return tool_error(RUN_NAME, "%s: %s (input %u, %s: %llu bytes of %s)", path,
					  text, i, info->name, (unsigned long long)info->bytes,
					  npu_type_name(info->type));
		run->input[i] = (struct npu_input){ data, info->bytes };
	}
	if (i < run->input_count)
		return tool_usage(RUN_NAME, "%s has %u inputs, %u --input were given",
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
			return tool_error(RUN_NAME, "no memory for output %u of %zu bytes", i,
					  bytes);
	}
	return TOOL_OK;
}

static int describe_tensors(struct run *run)
{
	unsigned i;

	run->input_count = npu_model_input_count(run->model);
	run->output_count = npu_model_output_count(run->model);
	if (run->input_count > RUN_MAX_TENSORS || run->output_count > RUN_MAX_TENSORS) {
		run->input_count = run->output_count = 0;
		return tool_error(RUN_NAME, "%s: more than %d inputs or outputs",
				  run->options->model, RUN_MAX_TENSORS);
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

static int report(const struct run *run)
{
	struct npu_model_info model = { .size = sizeof(model) };

	if (npu_model_info(run->model, &model))
		return failed();
	if (run->options->json) {
		run_print_json(run, &model);
		return TOOL_OK;
	}
	run_print_outputs(run);
	if (run->options->stats)
		run_print_stats(run, &model);
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

static int run_model(const struct run_options *options)
{
	struct run run = { .options = options };
	int status = TOOL_OK;

	if (options->labels)
		status = run_load_labels(options->labels, &run.labels);
	if (!status)
		status = open_model(&run);
	if (!status)
		status = load_inputs(&run);
	if (!status)
		status = make_outputs(&run);
	if (!status)
		status = run_all(&run);
	if (!status && options->output)
		status = run_write_outputs(&run);
	if (!status)
		status = report(&run);
	clean_up(&run);
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

static int add_input(struct run_options *options, const char *path)
{
	if (options->input_count == RUN_MAX_TENSORS)
		return tool_usage(RUN_NAME, "more than %d inputs", RUN_MAX_TENSORS);
	options->input[options->input_count++] = path;
	return TOOL_OK;
}

static int set_format(struct run_options *options, const char *value)
{
	unsigned i;

	options->format_given = true;
	for (i = 0; i < RUN_FORMAT_COUNT; i++)
		if (strcmp(value, format_names[i]) == 0)
			break;
	options->format = (enum run_format)i;
	return i < RUN_FORMAT_COUNT
		       ? TOOL_OK
		       : tool_usage(RUN_NAME, "--format: \"%s\" is not raw, npy or npz", value);
}

static int set_read(struct run_options *options, const char *name, const char *value)
{
	char text[200];

	return tool_input_option(&options->read, name, value, text)
		       ? tool_usage(RUN_NAME, "%s", text)
		       : TOOL_OK;
}

static int set_option(struct run_options *options, int c, const char *value)
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
			return tool_usage(RUN_NAME, "--top: \"%s\" is not 1 to 1000000", value);
		return TOOL_OK;
	case OPT_REPEAT:
		if (!tool_number(value, 1, 1000000000, &options->repeat))
			return tool_usage(RUN_NAME, "--repeat: \"%s\" is not 1 to 1000000000",
					  value);
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
		return tool_usage(RUN_NAME, "wrong options");
	}
}

static int run_tool(int argc, char **argv)
{
	struct run_options options = { .top = DEFAULT_TOP, .repeat = 1 };
	int c, place, status;

	while ((c = getopt_long(argc, argv, "", known, &place)) != -1) {
		if (c == OPT_HELP) {
			printf("%s%s%s", help, tool_input_help, help_end);
			return TOOL_OK;
		}
		if (c == OPT_VERSION) {
			printf(RUN_NAME " %s\n", npu_version());
			return TOOL_OK;
		}
		status = c == OPT_READ ? set_read(&options, known[place].name, optarg)
				       : set_option(&options, c, optarg);
		if (status)
			return status;
	}
	if (optind == argc)
		return tool_usage(RUN_NAME, "no model");
	if (optind + 1 < argc)
		return tool_usage(RUN_NAME, "\"%s\" is not expected", argv[optind + 1]);
	if (options.format_given && !options.output)
		return tool_usage(RUN_NAME, "--format is of files: it needs --output");
	if (options.real && !options.output && !options.values)
		return tool_usage(RUN_NAME, "--real needs --output or --values");
	options.model = argv[optind];
	status = tool_check_model_options(RUN_NAME, options.input_shapes, options.pixels);
	return status ? status : run_model(&options);
}

int main(int argc, char **argv)
{
	return tool_main(RUN_NAME, run_tool, argc, argv);
}
