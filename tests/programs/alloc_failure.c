// SPDX-License-Identifier: MIT
/*
 * Every allocation of the compiler and of libnpu fails once, over random networks: the error is
 * -ENOMEM with its text, nothing leaks, no file is left half written, and what stays documented as
 * usable is used: a program whose planning failed has its old plan, a model whose run failed runs.
 *
 *	alloc_failure [COUNT [FIRST SEED]]
 *
 * Linked so that every call of an allocating function in our own objects comes here first
 * (the linker's --wrap): that works with the sanitizers, and libraries are left alone.
 */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <unistd.h>

#include "../common/shared_models.h"
#include "internal.h"
#include "npu_compiler.h"
#include "onnx_writer.h"
#include "quantise/quantise.h"
#include "random_model.h"
#include "report/report.h"

#define DEFAULT_COUNT 12

/* Calls until one fails; 0: none does. */
static atomic_long countdown;

static bool fails(void)
{
	return atomic_load(&countdown) > 0 && atomic_fetch_sub(&countdown, 1) == 1;
}

/* The linker gives the names: __wrap_f for calls of f, __real_f for f itself. */
#define WRAP(type, name, parameters, arguments)         \
	type __real_##name parameters;                  \
	type __wrap_##name parameters;                  \
	type __wrap_##name parameters                   \
	{                                               \
		if (!fails())                           \
			return __real_##name arguments; \
		errno = ENOMEM;                         \
		return NULL;                            \
	}

WRAP(void *, malloc, (size_t bytes), (bytes))
WRAP(void *, calloc, (size_t count, size_t bytes), (count, bytes))
WRAP(void *, realloc, (void *old, size_t bytes), (old, bytes))
WRAP(void *, reallocarray, (void *old, size_t count, size_t bytes), (old, count, bytes))
WRAP(void *, aligned_alloc, (size_t align, size_t bytes), (align, bytes))
WRAP(char *, strdup, (const char *text), (text))
WRAP(char *, strndup, (const char *text, size_t length), (text, length))
WRAP(FILE *, open_memstream, (char **text, size_t *bytes), (text, bytes))

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int length;

	if (fails()) {
		errno = ENOMEM;
		return -1;
	}
	va_start(args, format);
	length = vasprintf(text, format, args);
	va_end(args);
	return length;
}

static char directory[] = "/tmp/alloc-failure-XXXXXX";
static char model_path[64], compiled_path[64], report_path[64], ranges_path[64];

/* ---- what is left behind ---- */

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/lsan_interface.h>

static void count_exactly(char **argv)
{
	(void)argv;
}

static size_t memory_in_use(void)
{
	return 0;
}

static bool leaks(void)
{
	return __lsan_do_recoverable_leak_check() != 0;
}
#else
/* Memory in the allocator's caches counts as in use: without them, from the start. */
static void count_exactly(char **argv)
{
	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
	execv("/proc/self/exe", argv);
}

static size_t memory_in_use(void)
{
	return mallinfo2().uordblks;
}

static bool leaks(void)
{
	return false;
}
#endif

/* Files in the directory whose name is not one of ours: what an interrupted write left. */
static u32 count_strangers(void)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	u32 strangers = 0;

	while (dir && (entry = readdir(dir)))
		strangers += entry->d_name[0] != '.' && strcmp(entry->d_name, "model.tflite") &&
			     strcmp(entry->d_name, "model.npu") &&
			     strcmp(entry->d_name, "report") &&
			     strcmp(entry->d_name, "ranges.json");
	if (dir)
		closedir(dir);
	return strangers;
}

/* ---- two lives ---- */

/**
 * struct subject - what lives
 * @what: went wrong, beyond an honest error
 * @expected: outputs of a run without failures
 * @diag: the error's text
 */
struct subject {
	struct random_model file;
	const struct nvdla_config *config;
	const char *device;
	struct shared_io expected;
	const char *what;
	struct npu_diag diag;
};

static bool wrong(struct subject *subject, const char *what)
{
	if (!subject->what)
		subject->what = what;
	return false;
}

/* Planning again failed: the program is what it was. */
static void check_kept(struct subject *subject, const struct npu_program *program,
		       const struct npu_plan *plan, u32 steps)
{
	struct npu_diag diag = { "" };

	if (program->plan != plan || program->step_count != steps ||
	    npu_plan_verify(program->net, program->plan, &diag))
		wrong(subject, "a failed replan changed the program");
}

/* @region_bytes: memory in pieces, which not every network fits; 0: no limit. */
static int replan(struct subject *subject, struct npu_program *program, u32 banks, u64 region_bytes)
{
	struct npu_budget budget = npu_budget_full(subject->config);
	const struct npu_plan *plan = program->plan;
	u32 steps = program->step_count;
	long left;
	int err;

	budget.banks = banks;
	budget.region_bytes = region_bytes;
	err = npu_program_replan(program, &budget, &subject->diag);
	/* Looking at it must not fail by itself. */
	left = atomic_exchange(&countdown, 0);
	if (err)
		check_kept(subject, program, plan, steps);
	if (err == -EFBIG && region_bytes)
		err = 0;
	if (!err)
		atomic_store(&countdown, left);
	return err;
}

/* From the file's contents to reports and a compiled file, and that one again. */
static int life_of_program(struct subject *subject)
{
	struct npu_program *program = NULL, *again = NULL;
	int err;

	err = npu_program_load_memory(subject->file.data, subject->file.bytes, "model.tflite", NULL,
				      subject->config, NULL, &program, &subject->diag);
	if (!err)
		err = replan(subject, program, subject->config->banks / 2, 4096);
	if (!err)
		err = replan(subject, program, subject->config->banks / 2, 0);
	if (!err)
		err = npu_report_write(program, report_path, &subject->diag);
	if (!err)
		err = npu_program_save(program, compiled_path, &subject->diag);
	if (!err)
		err = npu_program_load(compiled_path, NULL, NULL, NULL, &again, &subject->diag);
	if (!err)
		err = replan(subject, again, subject->config->banks, 0);
	npu_program_free(program);
	npu_program_free(again);
	return err;
}

/* Runs; a run that failed for want of memory is done again with enough of it. */
static int run(struct subject *subject, struct npu_model *model)
{
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct shared_io io;
	u32 i, count = npu_model_output_count(model);
	long left = atomic_exchange(&countdown, 0);
	int err;

	shared_io_make(model, &io);
	for (i = 0; i < io.input_count; i++)
		shared_random_bytes((void *)(uintptr_t)io.input[i].data, io.input[i].bytes, i + 1);
	atomic_store(&countdown, left);
	err = npu_run(model, io.input, io.input_count, io.output, io.output_count, &stats);
	left = atomic_exchange(&countdown, 0);
	if (err) {
		snprintf(subject->diag.text, sizeof(subject->diag.text), "%s", npu_error());
		if (npu_run(model, io.input, io.input_count, io.output, io.output_count, &stats))
			wrong(subject, "a model whose run failed for want of memory does not run");
	}
	if (!subject->expected.output_count) {
		subject->expected = io;
		atomic_store(&countdown, left);
		return err;
	}
	for (i = 0; i < count; i++)
		if (memcmp(io.output[i].data, subject->expected.output[i].data,
			   io.output[i].bytes) != 0)
			wrong(subject, "other outputs");
	shared_io_free(&io);
	atomic_store(&countdown, left);
	return err;
}

static int in_background(struct subject *subject, struct npu_model *model)
{
	const struct shared_io *io = &subject->expected;
	struct npu_job *job = NULL;
	u8 *data[SHARED_MAX_TENSORS] = { NULL };
	struct npu_output output[SHARED_MAX_TENSORS];
	long left = atomic_exchange(&countdown, 0);
	u32 i;
	int err;

	for (i = 0; i < io->output_count; i++) {
		data[i] = shared_alloc(io->output[i].bytes);
		output[i] = (struct npu_output){ data[i], io->output[i].bytes };
	}
	atomic_store(&countdown, left);
	err = npu_submit(model, io->input, io->input_count, output, io->output_count, &job);
	if (!err)
		err = npu_job_wait(job, -1);
	if (err)
		snprintf(subject->diag.text, sizeof(subject->diag.text), "%s", npu_error());
	npu_job_free(job);
	left = atomic_exchange(&countdown, 0);
	for (i = 0; i < io->output_count; i++) {
		if (!err && memcmp(data[i], io->output[i].data, io->output[i].bytes) != 0)
			wrong(subject, "other outputs in the background");
		free(data[i]);
	}
	atomic_store(&countdown, left);
	return err;
}

/* Open, load, run at two budgets and in the background, close. */
static int life_of_model(struct subject *subject)
{
	struct npu_device *device = NULL;
	struct npu_model *model = NULL;
	int err = npu_open(subject->device, &device);

	if (!err)
		err = npu_model_load(device, model_path, NULL, &model);
	if (err)
		snprintf(subject->diag.text, sizeof(subject->diag.text), "%s", npu_error());
	if (!err)
		err = run(subject, model);
	if (!err)
		err = npu_device_set_cap(device, subject->config->banks / 2);
	if (!err)
		err = run(subject, model);
	if (!err)
		err = in_background(subject, model);
	npu_model_free(model);
	npu_close(device);
	return err;
}

/* ---- failures, one after the other ---- */

typedef int (*life)(struct subject *subject);

/* The life with its @n-th allocation failing; false when all were done before. */
static bool fail_at(struct subject *subject, life live, long n, const char *what)
{
	size_t before = memory_in_use();
	bool came;
	int err;

	subject->diag.text[0] = '\0';
	atomic_store(&countdown, n);
	err = live(subject);
	came = atomic_exchange(&countdown, 0) <= 0;
	if (!came && !err)
		return false;
	if (err && err != -ENOMEM) {
		tap(false, "%s, allocation %ld: error %d: %s", what, n, err, subject->diag.text);
		wrong(subject, "not -ENOMEM");
	} else if (err && !subject->diag.text[0]) {
		wrong(subject, "an error without a text");
	}
	if (memory_in_use() > before)
		wrong(subject, "memory is not given back");
	if (count_strangers())
		wrong(subject, "a file is left half written");
	return true;
}

static void try_life(struct subject *subject, life live, const char *what)
{
	long n = 0, step = 1;
	bool more = true;

	/* Without failures, twice: what is made once for ever is made now. */
	subject->what = NULL;
	if (live(subject) || live(subject)) {
		tap(false, "%s: %s", what, subject->diag.text);
		return;
	}
	while (more && !subject->what) {
		n += step;
		step = n < 150 ? 1 : 1 + n / 40;
		more = fail_at(subject, live, n, what);
	}
	if (!subject->what && leaks())
		wrong(subject, "memory leaks");
	if (!subject->what && n < 20)
		wrong(subject, "there are no allocations to fail");
	tap(!subject->what, "%s: %ld allocations%s%s%s%s", what, n, subject->what ? ": " : "",
	    subject->what ? subject->what : "", subject->diag.text[0] ? ": " : "",
	    subject->what ? subject->diag.text : "");
}

static bool write_model(const struct random_model *model)
{
	FILE *file = fopen(model_path, "wb");
	bool good = file && fwrite(model->data, 1, model->bytes, file) == model->bytes;

	return file && fclose(file) == 0 && good;
}

/* Does it fit half of the buffer? */
static bool suits(const struct subject *subject)
{
	struct npu_budget budget = npu_budget_full(subject->config);
	struct npu_diag diag = { "" };
	struct npu_program *program;

	budget.banks /= 2;
	if (npu_program_load_memory(subject->file.data, subject->file.bytes, "model.tflite", NULL,
				    subject->config, &budget, &program, &diag))
		return false;
	npu_program_free(program);
	return true;
}

static void try_seed(u64 seed)
{
	const char *config = shared_configs[seed % SHARED_CONFIG_COUNT];
	struct subject subject = { .config = nvdla_config_find(config) };
	char device[64], what[1200];

	snprintf(device, sizeof(device), "sim:%s", config);
	subject.device = device;
	if (!random_model_make(seed, &subject.file) || !write_model(&subject.file))
		tap(false, "seed %llu is written", (unsigned long long)seed);
	else if (!suits(&subject))
		printf("# seed %llu does not fit half of the buffer\n", (unsigned long long)seed);
	else {
		snprintf(what, sizeof(what), "compiler, seed %llu, %s, %s",
			 (unsigned long long)seed, config, subject.file.what);
		try_life(&subject, life_of_program, what);
		snprintf(what, sizeof(what), "libnpu, seed %llu, %s, %s", (unsigned long long)seed,
			 config, subject.file.what);
		try_life(&subject, life_of_model, what);
	}
	shared_io_free(&subject.expected);
	free(subject.file.data);
}

/* The other importer: its decoder is a library, which gets its memory from us. */
static void try_onnx(void)
{
	struct subject subject = { .config = nvdla_config_find(shared_configs[0]) };
	struct onnx_writer w;

	onnx_qdq_conv(&w, ONNX__TENSOR_PROTO__DATA_TYPE__UINT8, true);
	onnx_node(&w, "QuantizeLinear", "y,s,z", "yq");
	onnx_node(&w, "DequantizeLinear", "yq,s,z", "out");
	onnx_output(&w, "out");
	subject.file.data = onnx_end(&w, &subject.file.bytes);
	if (write_model(&subject.file))
		try_life(&subject, life_of_program, "compiler, ONNX");
	else
		tap(false, "the ONNX model is written");
	free(subject.file.data);
}

/* ---- calibration ---- */

#define SAMPLES 2

static int load_sample(const struct npu_samples *samples, u32 i, void *const *input,
		       struct npu_diag *diag)
{
	shared_random_reals(input[0], *(const size_t *)samples->context, i + 1);
	return 0;
}

/* Ranges of @prepared, which are written to a file and read again. */
static int find_ranges(struct subject *subject, struct npu_graph *prepared,
		       const struct npu_samples *samples, struct npu_calibration **again)
{
	const struct npu_calibrate_options options = { NPU_RANGE_KL, 0, NPU_EQUALISE_ALL };
	struct npu_calibration *calibration = NULL;
	char text[8192];
	size_t bytes = 0;
	FILE *file;
	long left;
	int err = npu_calibrate(prepared, samples, &options, &calibration, &subject->diag);

	*again = NULL;
	if (!err)
		err = npu_calibration_write(calibration, ranges_path, &subject->diag);
	npu_calibration_free(calibration);
	if (err)
		return err;
	left = atomic_exchange(&countdown, 0);
	file = fopen(ranges_path, "r");
	if (file) {
		bytes = fread(text, 1, sizeof(text), file);
		fclose(file);
	}
	atomic_store(&countdown, left);
	return npu_calibration_read(text, bytes, "ranges", again, &subject->diag);
}

/* The table of noise, which nobody looks at. */
static int report_noise(struct subject *subject, const struct npu_graph *prepared,
			const struct npu_graph *quantised, const struct npu_samples *samples)
{
	long left = atomic_exchange(&countdown, 0);
	FILE *nowhere = fopen("/dev/null", "w");
	int err;

	if (!nowhere)
		return -EIO;
	atomic_store(&countdown, left);
	err = npu_quantise_report(prepared, quantised, samples, nowhere, &subject->diag);
	left = atomic_exchange(&countdown, 0);
	fclose(nowhere);
	atomic_store(&countdown, left);
	return err;
}

/* From a float model's contents to an integer program. */
static int life_of_calibration(struct subject *subject)
{
	const struct npu_import_options options = {
		.random_weights = npu_is_caffe(subject->file.data, subject->file.bytes),
	};
	struct npu_graph *graph = NULL, *prepared = NULL, *quantised = NULL;
	struct npu_calibration *calibration = NULL;
	struct npu_program *program = NULL;
	struct npu_budget budget = npu_budget_full(subject->config);
	size_t bytes = 0;
	struct npu_samples samples = { SAMPLES, load_sample, &bytes };
	int err = npu_import(subject->file.data, subject->file.bytes, "model", &options, &graph,
			     &subject->diag);

	if (!err) {
		bytes = graph->tensor[graph->input[0]].bytes;
		err = npu_quantise_prepare(graph, &prepared, &subject->diag);
	}
	if (!err)
		err = find_ranges(subject, prepared, &samples, &calibration);
	if (!err)
		err = npu_quantise(prepared, calibration, &quantised, &subject->diag);
	if (!err)
		err = report_noise(subject, prepared, quantised, &samples);
	if (err) {
		npu_graph_free(quantised);
	} else {
		err = npu_program_compile(quantised, subject->config, &budget, &program,
					  &subject->diag);
	}
	npu_program_free(program);
	npu_calibration_free(calibration);
	npu_graph_free(prepared);
	npu_graph_free(graph);
	return err;
}

static void try_calibration(void)
{
	static const float positive[] = { 1, 2, 0.5f, 3 };
	struct subject subject = { .config = nvdla_config_find(shared_configs[0]) };
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, "1,2,6,6");
	onnx_floats(&w, "w1", "4,2,3,3", NULL);
	onnx_floats(&w, "b", "4", NULL);
	onnx_floats(&w, "v", "4", positive);
	onnx_floats(&w, "w2", "4,1,3,3", NULL);
	onnx_floats(&w, "w3", "16,5", NULL);
	onnx_node(&w, "Conv", "x,w1,b", "c1");
	onnx_attribute_ints(&w, "pads", "1,1,1,1");
	onnx_node(&w, "BatchNormalization", "c1,v,b,b,v", "n1");
	onnx_node(&w, "Relu", "n1", "r1");
	onnx_node(&w, "Conv", "r1,w2", "c2");
	onnx_attribute_int(&w, "group", 4);
	onnx_node(&w, "Add", "c2,c2", "a");
	onnx_node(&w, "MaxPool", "a", "p");
	onnx_attribute_ints(&w, "kernel_shape", "2,2");
	onnx_attribute_ints(&w, "strides", "2,2");
	onnx_node(&w, "Flatten", "p", "f");
	onnx_node(&w, "MatMul", "f,w3", "m");
	onnx_node(&w, "Softmax", "m", "y");
	onnx_output(&w, "y");
	subject.file.data = onnx_end(&w, &subject.file.bytes);
	try_life(&subject, life_of_calibration, "calibration, ONNX");
	free(subject.file.data);
}

/* Its text, weights that are made up, a model in memory between. */
static void try_caffe(void)
{
	static char text[] =
		"input: \"x\" input_shape { dim: 1 dim: 3 dim: 8 dim: 8 } "
		"layer { name: \"c\" type: \"Convolution\" bottom: \"x\" top: \"c\" "
		"convolution_param { num_output: 4 kernel_size: 3 } } "
		"layer { name: \"n\" type: \"BatchNorm\" bottom: \"c\" top: \"c\" } "
		"layer { name: \"r\" type: \"ReLU\" bottom: \"c\" top: \"c\" } "
		"layer { name: \"p\" type: \"Pooling\" bottom: \"c\" top: \"p\" "
		"pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } } "
		"layer { name: \"i\" type: \"InnerProduct\" bottom: \"p\" top: \"i\" "
		"inner_product_param { num_output: 5 } } "
		"layer { name: \"s\" type: \"Slice\" bottom: \"i\" top: \"a\" top: \"b\" "
		"slice_param { slice_point: 2 } } ";
	struct subject subject = {
		.config = nvdla_config_find(shared_configs[0]),
		.file = { .data = (u8 *)text, .bytes = sizeof(text) - 1 },
	};

	try_life(&subject, life_of_calibration, "calibration, Caffe");
}

static void remove_files(void)
{
	static const char *const reports[] = { "summary.json", "layers.csv", "layers.json",
					       "report.html" };
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reports); i++) {
		snprintf(path, sizeof(path), "%s/%s", report_path, reports[i]);
		unlink(path);
	}
	rmdir(report_path);
	unlink(model_path);
	unlink(compiled_path);
	unlink(ranges_path);
	rmdir(directory);
}

int main(int argc, char **argv)
{
	u64 count = argc > 1 ? strtoull(argv[1], NULL, 0) : DEFAULT_COUNT;
	u64 first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, seed;

	count_exactly(argv);
	setenv("NPU_SIM_DIR", "-", 1);
	if (!mkdtemp(directory)) {
		perror(directory);
		return 1;
	}
	snprintf(model_path, sizeof(model_path), "%s/model.tflite", directory);
	snprintf(compiled_path, sizeof(compiled_path), "%s/model.npu", directory);
	snprintf(ranges_path, sizeof(ranges_path), "%s/ranges.json", directory);
	snprintf(report_path, sizeof(report_path), "%s/report", directory);
	for (seed = first; seed < first + count; seed++)
		try_seed(seed);
	try_onnx();
	try_calibration();
	try_caffe();
	remove_files();
	return tap_end();
}
