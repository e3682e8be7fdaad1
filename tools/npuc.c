// SPDX-License-Identifier: MIT
/*
 * npuc: compile a network against a budget of on-chip memory, and show what came of it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/calibrate.h"
#include "common/model_option.h"
#include "common/tool.h"
#include "npu_compiler.h"
#include "pixels.h"
#include "output_file.h"
#include "report/columns.h"
#include "report/report.h"

#define NAME "npuc"

static const char help[] =
	"usage: npuc MODEL [-o OUT.npu] [OPTION]...\n"
	"Compile a TensorFlow Lite, ONNX or Caffe model (.prototxt) for an NPU and plan it for a\n"
	"budget of on-chip memory.\n"
	"MODEL may also be a compiled file, or a list of layers (.tsv) for planning alone.\n"
	"\n"
	"  -o, --output FILE         write the compiled program\n"
	"      --config NAME         hardware configuration (default nv_small; see "
	"--list-configs)\n"
	"      --cbuf-banks N        plan for N banks of the convolution buffer (default: all)\n"
	"      --sram BYTES          on-chip memory behind the second memory interface: kept in\n"
	"                            the budget, tensors stay in DRAM\n"
	"      --pixels ORDER        the first input takes images in bytes: r8, rgb, bgr, rgba, "
	"bgra,\n"
	"                            argb, abgr, nv24, nv42; the NPU reads and converts them "
	"(--mean,\n"
	"                            --scale)\n"
	"      --input-shape [NAME:]DxD..  shape of an input that the file leaves open; several\n"
	"                            separated by commas\n"
	"      --weights FILE        trained weights of a Caffe network (default: its "
	".caffemodel)\n"
	"      --random-weights      make them up: for planning, outputs are worthless\n"
	"      --plan-only           write no program\n"
	"\n"
	"      --calibrate SOURCE    quantise a float model: SOURCE is a folder of typical inputs "
	"(as\n"
	"                            npu-run takes them), one input, or a calibration file\n"
	"      --random-calibration  quantise with noise instead: for planning, outputs are "
	"worthless\n"
	"      --method METHOD       how ranges are chosen: minmax (default), percentile[:P], kl, "
	"mse\n"
	"      --equalise WHICH      share channels' ranges out: depthwise (default), all, none\n"
	"      --save-calibration FILE  write the calibration file, to be kept and edited\n"
	"      --noise               print signal to quantisation noise of each layer\n"
	"\n"
	"      --report DIR          write summary.json, layers.csv, layers.json, report.html and, "
	"after\n"
	"                            a calibration, quantisation.txt\n"
	"      --sweep PREFIX        plan for every number of banks: PREFIX.csv and PREFIX.svg\n"
	"      --why LAYER           tell why a layer is split as it is\n"
	"      --dump-graph[=FORMAT]      print the graph as it was read; FORMAT is text or dot\n"
	"      --dump-optimized[=FORMAT]  print the layers after fusion\n"
	"      --dump-plan[=FORMAT]       print the tasks\n"
	"      --timing              measure planning again for every number of banks\n"
	"      --json                print the summary as JSON\n"
	"  -q, --quiet               print no summary\n"
	"\n"
	"      --list-configs        list hardware configurations\n"
	"      --supported-ops       list which operators of which frameworks the NPU does, on "
	"all\n"
	"                            configurations or on --config; as JSON with --json\n"
	"      --help                print this\n"
	"      --version             print the version\n"
	"\n"
	"How files of --calibrate are read:\n";

static const char help_end[] =
	"\n"
	"Exit status: 0, 1 when something cannot be read, compiled or written, 2 for wrong "
	"usage.\n";

enum dump { DUMP_GRAPH, DUMP_OPTIMIZED, DUMP_PLAN, DUMP_COUNT };

struct options {
	const char *model;
	const char *output;
	const char *config_name;
	const struct nvdla_config *config;
	const char *banks_text;
	const char *sram_text;
	const char *report;
	const char *sweep;
	const char *why;
	struct npu_import_options import;
	const char *pixels_name;
	struct npu_pixel_input pixels; /* what @import may refer to */
	struct tool_calibration calibration;
	char *noise_table; /* what --noise and --report show of a calibration */
	bool dump[DUMP_COUNT];
	enum npu_dump_format format[DUMP_COUNT];
	bool plan_only, timing, json, quiet, supported, list, noise;
	bool reads; /* options of reading inputs are given */
};

enum {
	OPT_CONFIG = 256,
	OPT_BANKS,
	OPT_SRAM,
	OPT_INPUT_SHAPE,
	OPT_PIXELS,
	OPT_WEIGHTS,
	OPT_RANDOM_WEIGHTS,
	OPT_PLAN_ONLY,
	OPT_REPORT,
	OPT_SWEEP,
	OPT_WHY,
	OPT_CALIBRATE,
	OPT_RANDOM_CALIBRATION,
	OPT_METHOD,
	OPT_EQUALISE,
	OPT_SAVE_CALIBRATION,
	OPT_NOISE,
	OPT_INPUT, /* one of tool_input_option() */
	OPT_DUMP_GRAPH,
	OPT_DUMP_OPTIMIZED,
	OPT_DUMP_PLAN,
	OPT_TIMING,
	OPT_JSON,
	OPT_LIST,
	OPT_SUPPORTED,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "cbuf-banks", required_argument, NULL, OPT_BANKS },
	{ "sram", required_argument, NULL, OPT_SRAM },
	{ "input-shape", required_argument, NULL, OPT_INPUT_SHAPE },
	{ "pixels", required_argument, NULL, OPT_PIXELS },
	{ "weights", required_argument, NULL, OPT_WEIGHTS },
	{ "random-weights", no_argument, NULL, OPT_RANDOM_WEIGHTS },
	{ "plan-only", no_argument, NULL, OPT_PLAN_ONLY },
	{ "report", required_argument, NULL, OPT_REPORT },
	{ "sweep", required_argument, NULL, OPT_SWEEP },
	{ "why", required_argument, NULL, OPT_WHY },
	{ "calibrate", required_argument, NULL, OPT_CALIBRATE },
	{ "random-calibration", no_argument, NULL, OPT_RANDOM_CALIBRATION },
	{ "method", required_argument, NULL, OPT_METHOD },
	{ "equalise", required_argument, NULL, OPT_EQUALISE },
	{ "save-calibration", required_argument, NULL, OPT_SAVE_CALIBRATION },
	{ "noise", no_argument, NULL, OPT_NOISE },
	{ "fit", required_argument, NULL, OPT_INPUT },
	{ "order", required_argument, NULL, OPT_INPUT },
	{ "mean", required_argument, NULL, OPT_INPUT },
	{ "scale", required_argument, NULL, OPT_INPUT },
	{ "rate", required_argument, NULL, OPT_INPUT },
	{ "dump-graph", optional_argument, NULL, OPT_DUMP_GRAPH },
	{ "dump-optimized", optional_argument, NULL, OPT_DUMP_OPTIMIZED },
	{ "dump-plan", optional_argument, NULL, OPT_DUMP_PLAN },
	{ "timing", no_argument, NULL, OPT_TIMING },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, 'q' },
	{ "list-configs", no_argument, NULL, OPT_LIST },
	{ "supported-ops", no_argument, NULL, OPT_SUPPORTED },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ 0 },
};

static bool parse_dump(struct options *o, enum dump which, const char *format)
{
	o->dump[which] = true;
	o->format[which] = format && !strcmp(format, "dot") ? NPU_DUMP_DOT : NPU_DUMP_TEXT;
	return !format || !strcmp(format, "dot") || !strcmp(format, "text");
}

static bool dumps(const struct options *o)
{
	return o->dump[DUMP_GRAPH] || o->dump[DUMP_OPTIMIZED] || o->dump[DUMP_PLAN];
}

/* Is the compiled network to be where texts go?  A terminal or nothing does not mind. */
static bool writes_to_stdout(const struct options *o)
{
	struct stat file, out;

	return o->output && !stat(o->output, &file) && !fstat(STDOUT_FILENO, &out) &&
	       !S_ISCHR(file.st_mode) && file.st_dev == out.st_dev && file.st_ino == out.st_ino;
}

/* Options with an argument that is only kept; NULL for others. */
static const char **plain_option(struct options *o, int option)
{
	switch (option) {
	case 'o':
		return &o->output;
	case OPT_CONFIG:
		return &o->config_name;
	case OPT_BANKS:
		return &o->banks_text;
	case OPT_SRAM:
		return &o->sram_text;
	case OPT_INPUT_SHAPE:
		return &o->import.input_shapes;
	case OPT_PIXELS:
		return &o->pixels_name;
	case OPT_WEIGHTS:
		return &o->import.weights;
	case OPT_REPORT:
		return &o->report;
	case OPT_SWEEP:
		return &o->sweep;
	case OPT_WHY:
		return &o->why;
	case OPT_CALIBRATE:
		return &o->calibration.source;
	case OPT_METHOD:
		return &o->calibration.method;
	case OPT_EQUALISE:
		return &o->calibration.equalise;
	case OPT_SAVE_CALIBRATION:
		return &o->calibration.save;
	default:
		return NULL;
	}
}

static bool *flag_option(struct options *o, int option)
{
	switch (option) {
	case OPT_PLAN_ONLY:
		return &o->plan_only;
	case OPT_TIMING:
		return &o->timing;
	case OPT_JSON:
		return &o->json;
	case 'q':
		return &o->quiet;
	case OPT_LIST:
		return &o->list;
	case OPT_SUPPORTED:
		return &o->supported;
	case OPT_RANDOM_CALIBRATION:
		return &o->calibration.random;
	case OPT_RANDOM_WEIGHTS:
		return &o->import.random_weights;
	case OPT_NOISE:
		return &o->noise;
	default:
		return NULL;
	}
}

/* An input that takes images. */
static void set_pixels(struct options *o)
{
	const struct tool_normal *normal = &o->calibration.input.normal;
	u32 i;

	o->pixels.order = npu_pixel_order_find(o->pixels_name);
	o->pixels.given = normal->count != 0;
	for (i = 0; i < NPU_MAX_PIXEL_CHANNELS; i++) {
		o->pixels.mean[i] = (float)normal->mean[i];
		o->pixels.scale[i] = (float)normal->scale[i];
	}
	o->import.pixels = &o->pixels;
}

/* Values that can be judged without a file; TOOL_OK: they are taken. */
static int check_values(const struct options *o)
{
	struct npu_diag diag = { 0 };

	if (tool_calibration_check(&o->calibration, &diag))
		return tool_usage(NAME, "%s", diag.text);
	return tool_check_model_options(NAME, o->import.input_shapes, o->pixels_name);
}

/* Options that exclude each other, or do nothing without another one; TOOL_OK: there are none. */
static int check_together(const struct options *o)
{
	const struct tool_calibration *c = &o->calibration;
	const bool calibrates = c->source || c->random;
	const struct {
		bool wrong;
		const char *text;
	} rules[] = {
		{ c->source && c->random,
		  "--calibrate and --random-calibration exclude each other" },
		{ !calibrates && (c->method || c->equalise || c->save || o->noise),
		  "--method, --equalise, --save-calibration and --noise need --calibrate or "
		  "--random-calibration" },
		{ o->reads && !c->source && !o->pixels_name,
		  "--fit, --order, --mean, --scale and --rate need --calibrate or --pixels" },
		{ o->json && (o->noise || o->why || o->timing || dumps(o)),
		  "--json excludes --noise, --why, --timing and dumps, which are text on the same "
		  "output" },
		{ o->plan_only && o->output, "--plan-only writes no file, --output does" },
		{ writes_to_stdout(o) && (o->json || o->noise || o->why || o->timing || dumps(o)),
		  "the file is on the same output as what --json, --noise, --why, --timing and "
		  "dumps print" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].wrong)
			return tool_usage(NAME, "%s", rules[i].text);
	return TOOL_OK;
}

/* -1: go on; else the exit status. */
static int parse(int argc, char **argv, struct options *o)
{
	int option, place;
	char wrong[200];

	while ((option = getopt_long(argc, argv, "o:q", long_options, &place)) != -1) {
		const char **text = plain_option(o, option);
		bool *flag = flag_option(o, option);

		if (text) {
			*text = optarg;
		} else if (flag) {
			*flag = true;
		} else if (option >= OPT_DUMP_GRAPH && option <= OPT_DUMP_PLAN) {
			if (!parse_dump(o, (enum dump)(option - OPT_DUMP_GRAPH), optarg))
				return tool_usage(NAME, "a dump is text or dot, not '%s'", optarg);
		} else if (option == OPT_INPUT) {
			o->reads = true;
			if (tool_input_option(&o->calibration.input, long_options[place].name,
					      optarg, wrong))
				return tool_usage(NAME, "%s", wrong);
		} else if (option == OPT_HELP) {
			printf("%s%s%s", help, tool_input_help, help_end);
			return TOOL_OK;
		} else if (option == OPT_VERSION) {
			printf(NAME " %s\n", NPU_VERSION);
			return TOOL_OK;
		} else {
			fprintf(stderr, "try: %s --help\n", NAME);
			return TOOL_USAGE;
		}
	}
	o->config = nvdla_config_find(o->config_name ? o->config_name : "nv_small");
	if (!o->config)
		return tool_usage(NAME, "no configuration '%s'; see --list-configs",
				  o->config_name);
	if (o->list || o->supported)
		return optind == argc ? -1
				      : tool_usage(NAME, "a list is of no model, not of '%s'",
						   argv[optind]);
	if (optind == argc)
		return tool_usage(NAME, "which model?");
	if (optind + 1 < argc)
		return tool_usage(NAME, "one model at a time, not '%s' too", argv[optind + 1]);
	if (check_together(o))
		return TOOL_USAGE;
	if (check_values(o))
		return TOOL_USAGE;
	if (o->pixels_name)
		set_pixels(o);
	o->model = argv[optind];
	return -1;
}

static void list_configs(void)
{
	u32 i;

	printf("%-20s %9s %5s %8s %12s\n", "CONFIGURATION", "MACs", "atom", "buffer", "banks");
	for (i = 0; i < nvdla_config_count; i++) {
		const struct nvdla_config *c = &nvdla_configs[i];

		printf("%-20s %4u x %-3u %4u B %4u KiB %4u x %u KiB\n", c->name, c->atomic_c,
		       c->atomic_k, c->atom, nvdla_cbuf_bytes(c) / 1024, c->banks,
		       (u32)c->entry_bytes * c->entries / 1024);
	}
}

/* ---- files ---- */

static bool same_file(const char *a, const char *b)
{
	struct stat first, second;

	return !stat(a, &first) && !stat(b, &second) && S_ISREG(first.st_mode) &&
	       first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static bool is_compiled(const char *path)
{
	char begin[256]; /* more than what tells them apart */
	FILE *file = fopen(path, "rb");
	size_t bytes = file ? fread(begin, 1, sizeof(begin), file) : 0;

	if (file)
		fclose(file);
	return npu_program_contents(begin, bytes) == NPU_CONTENTS_COMPILED;
}

/* A network cannot be made again from what is compiled of it: it is not written over. */
static int spare_network(const struct options *o)
{
	const char *const written[] = { o->output, o->calibration.save };
	const char *const read[] = { o->model, o->import.weights };
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(written); i++)
		for (j = 0; j < ARRAY_SIZE(read); j++)
			if (written[i] && read[j] && same_file(written[i], read[j]) &&
			    !is_compiled(read[j]))
				return tool_error(NAME, "%s: would be written over %s", written[i],
						  read[j]);
	return TOOL_OK;
}

/* ---- budget ---- */

static int set_budget(const struct options *o, const struct nvdla_config *config,
		      struct npu_budget *budget)
{
	u32 number;

	if (o->banks_text) {
		if (!tool_number(o->banks_text, 1, config->banks, &number))
			return tool_usage(NAME,
					  "%s has 1 to %u banks of convolution buffer, not '%s'",
					  config->name, config->banks, o->banks_text);
		budget->banks = number;
	}
	if (o->sram_text) {
		if (!tool_number(o->sram_text, 0, UINT32_MAX - 1, &number))
			return tool_usage(NAME, "--sram: 0 to 4294967294 bytes, not '%s'",
					  o->sram_text);
		budget->sram_bytes = number;
	}
	return TOOL_OK;
}

/* A compiled file brings its configuration and budget along; what was asked for comes on top. */
static int load_compiled(const struct options *o, struct npu_program **program)
{
	struct npu_diag diag = { 0 };
	struct npu_budget budget;
	int status;

	if (npu_program_load(o->model, &o->import, NULL, NULL, program, &diag))
		return -1;
	budget = (*program)->plan->budget;
	status = set_budget(o, (*program)->net->config, &budget);
	if (!status && (o->banks_text || o->sram_text) &&
	    npu_program_replan(*program, &budget, &diag))
		status = tool_error(NAME, "%s", diag.text);
	return status;
}

/* The table is kept: the folder that it goes to is not there yet. */
static int calibrate(struct options *o, struct npu_graph **graph)
{
	struct tool_calibration asked = o->calibration;
	struct npu_diag diag = { 0 };
	size_t bytes;
	int error;

	asked.report = open_memstream(&o->noise_table, &bytes);
	if (!asked.report)
		return tool_error(NAME, "out of memory");
	error = tool_calibrate(o->model, &o->import, &asked, graph, &diag);
	if (fclose(asked.report) && !error) {
		npu_graph_free(*graph);
		return tool_error(NAME, "out of memory");
	}
	if (error)
		return tool_error(NAME, "%s", diag.text);
	if (o->noise && !*o->noise_table) {
		npu_graph_free(*graph);
		return tool_error(NAME, "--noise needs samples, not a calibration file");
	}
	if (o->noise)
		fputs(o->noise_table, stdout);
	return TOOL_OK;
}

static int load_float(struct options *o, struct npu_program **program)
{
	struct npu_budget budget = npu_budget_full(o->config);
	struct npu_diag diag = { 0 };
	struct npu_graph *graph;
	int status = set_budget(o, o->config, &budget);

	if (status)
		return status;
	if (o->import.random_weights)
		fprintf(stderr,
			NAME ": warning: weights that %s lacks are made up: good for planning, but "
			     "what the program computes is WORTHLESS\n",
			o->model);
	if (o->calibration.random)
		fprintf(stderr,
			NAME ": warning: %s is calibrated with NOISE: good for planning, but what "
			     "the program computes is WORTHLESS\n",
			o->model);
	status = calibrate(o, &graph);
	if (status)
		return status;
	if (npu_program_compile(graph, o->config, &budget, program, &diag))
		return tool_error(NAME, "%s", diag.text);
	return TOOL_OK;
}

static int load(struct options *o, struct npu_program **program)
{
	struct npu_budget budget = npu_budget_full(o->config);
	struct npu_diag diag = { 0 };
	int status = spare_network(o);

	if (status)
		return status;
	if (o->calibration.source || o->calibration.random)
		return load_float(o, program);
	status = o->config_name ? -1 : load_compiled(o, program);

	if (status >= 0)
		return status;
	status = set_budget(o, o->config, &budget);
	if (status)
		return status;
	if (npu_program_load(o->model, &o->import, o->config, &budget, program, &diag))
		return tool_error(NAME, "%s", diag.text);
	return TOOL_OK;
}

/* ---- summary ---- */

static u32 cpu_layers(const struct npu_program *program)
{
	u32 i, count = 0;

	for (i = 0; i < program->net->layer_count; i++)
		count += npu_plan_on_cpu(program->net, program->plan, i);
	return count;
}

/* What the CPU does and why: in every plan, and for want of banks in this one. */
static void print_cpu_steps(const struct npu_program *program)
{
	const struct npu_plan *plan = program->plan;
	const struct npu_net *net = program->net;
	u32 i;

	for (i = 0; i < net->layer_count; i++)
		if (net->layer[i].kind == NPU_LAYER_CPU && !plan->layer[i].on_cpu)
			printf("  on the CPU: %s: %s\n", net->layer[i].name,
			       net->layer[i].cpu_reason);
	for (i = 0; i < plan->unit_count; i++)
		printf("  on the CPU for want of banks: %s\n", plan->unit[i].reason);
}

static void print_size(const char *name, u64 bytes)
{
	if (bytes < 100000)
		printf("%s %llu B", name, (unsigned long long)bytes);
	else
		printf("%s %.2f MB", name, (double)bytes / 1e6);
}

static void print_summary(const struct options *o, const struct npu_program *program)
{
	const struct npu_plan *plan = program->plan;
	const struct npu_net *net = program->net;
	u32 cpu = cpu_layers(program);

	printf("%s for %s, %u of %u banks\n", o->model, net->config->name, plan->budget.banks,
	       net->config->banks);
	printf("  layers   %u on the NPU in %u tasks and %u chains, %u on the CPU\n",
	       net->layer_count - cpu, plan->task_count,
	       program->step_count - npu_program_cpu_steps(program), cpu);
	print_size("  DRAM    ", npu_cost_bytes(&plan->cost));
	print_size(": features", plan->cost.feature_bytes);
	print_size(", weights", plan->cost.weight_bytes);
	print_size(", operands", plan->cost.operand_bytes);
	print_size(", written", plan->cost.output_bytes);
	print_size("; at least", npu_plan_compulsory_bytes(plan, net->layer_count));
	printf("\n  cycles   %llu\n", (unsigned long long)plan->cost.cycles);
	print_size("  memory   arena", plan->arena_bytes);
	print_size(" (live at once", plan->arena_lower_bound);
	print_size("), weights", net->weights_bytes);
	printf("\n  time     compiled in %.1f ms, planned in %.0f us\n",
	       (double)program->compile_ns / 1e6, (double)program->plan_ns / 1e3);
	print_cpu_steps(program);
	if (o->output && !o->plan_only)
		printf("  wrote    %s\n", o->output);
}

/* ---- what else was asked for ---- */

#define TIMING_RUNS 5

static u64 processor_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/*
 * Plans for @budget some times: program->plan_ns becomes the shortest of them in time of the processor,
 * which is what it takes where nothing else runs, and depends little on what does.
 */
static int plan_timed(struct npu_program *program, const struct npu_budget *budget,
		      struct npu_diag *diag)
{
	const struct npu_budget wanted = *budget;
	u64 best = UINT64_MAX;
	u32 run;

	for (run = 0; run < TIMING_RUNS; run++) {
		u64 start = processor_ns();
		int error = npu_program_replan(program, &wanted, diag);

		if (error)
			return error;
		best = min(best, processor_ns() - start);
	}
	program->plan_ns = best;
	return 0;
}

/* Every number of banks; the plan of the budget asked for is restored. */
static int print_timing(struct npu_program *program)
{
	const struct npu_budget wanted = program->plan->budget;
	struct npu_budget budget = wanted;
	struct npu_diag diag = { 0 };
	u64 worst = 0;

	printf("%5s %10s %8s\n", "banks", "replan us", "tasks");
	for (budget.banks = program->net->config->banks; budget.banks; budget.banks--) {
		diag.text[0] = 0;
		if (plan_timed(program, &budget, &diag)) {
			printf("%5u %s\n", budget.banks, diag.text);
			continue;
		}
		printf("%5u %10.1f %8u\n", budget.banks, (double)program->plan_ns / 1e3,
		       program->plan->task_count);
		worst = max(worst, program->plan_ns);
	}
	printf("slowest: %.1f us\n", (double)worst / 1e3);
	diag.text[0] = 0;
	return plan_timed(program, &wanted, &diag) ? tool_error(NAME, "%s", diag.text) : TOOL_OK;
}

static int sweep(const struct options *o, struct npu_program *program)
{
	struct npu_diag diag = { 0 };
	char *csv = NULL, *svg = NULL;
	int error = -ENOMEM;

	if (asprintf(&csv, "%s.csv", o->sweep) < 0)
		csv = NULL;
	if (asprintf(&svg, "%s.svg", o->sweep) < 0)
		svg = NULL;
	if (csv && svg)
		error = npu_sweep(program, csv, svg, &diag);
	free(csv);
	free(svg);
	return error ? tool_error(NAME, "%s", diag.text[0] ? diag.text : strerror(-error))
		     : TOOL_OK;
}

static void dump(const struct options *o, const struct npu_program *program)
{
	if (o->dump[DUMP_GRAPH] && program->net->graph)
		npu_graph_dump(program->net->graph, o->format[DUMP_GRAPH], stdout);
	if (o->dump[DUMP_OPTIMIZED])
		npu_net_dump(program->net, o->format[DUMP_OPTIMIZED], stdout);
	if (o->dump[DUMP_PLAN])
		npu_plan_dump(program->net, program->plan, o->format[DUMP_PLAN], stdout);
}

/* What is printed is what was asked for; the summary is for who asked for nothing. */
static bool wants_summary(const struct options *o)
{
	return !o->quiet && !writes_to_stdout(o) && !o->json && !o->why && !o->timing && !dumps(o);
}

static int save_noise(const struct options *o, struct npu_diag *diag)
{
	char *path;
	int error = asprintf(&path, "%s/quantisation.txt", o->report) < 0 ? -ENOMEM : 0;

	if (error)
		return npu_diag_set(diag, error, "out of memory");
	error = npu_output_file_save(path, o->noise_table, strlen(o->noise_table));
	if (error)
		npu_diag_set(diag, error, "%s: %s", path, strerror(-error));
	free(path);
	return error;
}

static int run(const struct options *o, struct npu_program *program)
{
	struct npu_diag diag = { 0 };
	int status = TOOL_OK;

	if (o->why && npu_report_why(program, o->why, stdout))
		return tool_error(NAME, "%s: no layer '%s'", o->model, o->why);
	dump(o, program);
	if ((o->report || o->json) && plan_timed(program, &program->plan->budget, &diag))
		return tool_error(NAME, "%s", diag.text);
	if (o->report && npu_report_write(program, o->report, &diag))
		return tool_error(NAME, "%s", diag.text);
	if (o->report && o->noise_table && *o->noise_table && save_noise(o, &diag))
		return tool_error(NAME, "%s", diag.text);
	if (o->sweep)
		status = sweep(o, program);
	if (!status && o->timing)
		status = print_timing(program);
	if (!status && o->output && !o->plan_only && npu_program_save(program, o->output, &diag))
		return tool_error(NAME, "%s", diag.text);
	if (!status && o->json && npu_report_summary(program, stdout))
		return tool_error(NAME, "out of memory");
	if (!status && wants_summary(o))
		print_summary(o, program);
	return status;
}

static int run_tool(int argc, char **argv)
{
	struct npu_program *program = NULL;
	struct options o = { 0 };
	int status = parse(argc, argv, &o);

	if (status >= 0)
		return status;
	status = TOOL_OK;
	if (o.list)
		list_configs();
	else if (o.supported && npu_supported_ops(o.config_name ? o.config : NULL, o.json, stdout))
		status = tool_error(NAME, "out of memory");
	if (!o.list && !o.supported)
		status = load(&o, &program);
	if (program && !status)
		status = run(&o, program);
	npu_program_free(program);
	free(o.noise_table);
	return status;
}

int main(int argc, char **argv)
{
	return tool_main(NAME, run_tool, argc, argv);
}
