// SPDX-License-Identifier: MIT
/*
 * Real models of float32 arithmetic, calibrated and run on every simulated NPU, against what the
 * frameworks' own runtimes made of the same input in float32: the same class, and outputs of the same
 * direction.  Digits on pictures show the class on real data.
 *
 *	models_float [CONFIG [MODEL]]
 */
#include <errno.h>
#include <math.h>

#include "../../tools/common/image.h"
#include "../common/shared_models.h"
#include "../common/whole_file.h"
#include "graph.h"
#include "npu_compiler.h"
#include "onnx.pb-c.h"
#include "quantise/evaluate.h"
#include "quantise/quantise.h"

/* Outputs have to point into the same direction as those of float32. */
#define LEAST_COSINE 0.99

/**
 * struct float_model - a model and how it is calibrated
 * @kind, @file: folder and file below models/
 * @shapes: of inputs that the file leaves open
 * @classes: the largest element of output 0 is the answer
 */
struct float_model {
	const char *kind, *name, *ending;
	const char *shapes;
	bool classes;
	struct npu_calibrate_options options;
};

#define MINMAX .options = { .method = NPU_RANGE_MINMAX, .equalise = NPU_EQUALISE_DEPTHWISE }

static const struct float_model models[] = {
	{ "tflite", "mlperf_ic_resnet8_f32", ".tflite", NULL, true, MINMAX },
	{ "onnx", "mnist-8", ".onnx", NULL, true, MINMAX },
	{ "onnx", "super-resolution-10", ".onnx", NULL, false, MINMAX },
	{ "onnx", "yunet_s_320", ".onnx", NULL, false, MINMAX },
	{ "onnx", "ppocr_mobile_v2_cls", ".onnx", "x:1x3x48x192", true, MINMAX },
};

#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

struct blob {
	void *data;
	size_t bytes;
};

static struct blob read_blob(const char *path)
{
	struct blob blob;

	blob.data = whole_file(path, &blob.bytes);
	return blob;
}

/* Float32 elements of a golden file; exits where it is not there: nothing could be said then. */
static float *golden(const struct float_model *model, const char *what, unsigned i, size_t bytes)
{
	float *data = shared_alloc(bytes);
	char path[512];

	snprintf(path, sizeof(path), "%s/models/golden/%s/%s/%s_%u.bin", shared_root(), model->kind,
		 model->name, what, i);
	if (!shared_read(path, data, bytes)) {
		tap(false, "%s is there, of %zu bytes", path, bytes);
		exit(1);
	}
	return data;
}

/* ---- calibration ---- */

/**
 * struct subject - a model at work
 * @input, @input_bytes: samples one after the other, of the one input
 * @samples: how many
 */
struct subject {
	const struct float_model *model;
	struct blob file;
	struct npu_graph *graph, *prepared;
	struct npu_calibration *calibration;
	float *input;
	size_t input_bytes;
	unsigned samples;
};

static int load_sample(const struct npu_samples *samples, u32 i, void *const *input,
		       struct npu_diag *diag)
{
	const struct subject *subject = samples->context;

	memcpy(input[0], (const char *)subject->input + i * subject->input_bytes,
	       subject->input_bytes);
	return 0;
}

static bool calibrate(struct subject *subject)
{
	struct npu_samples samples = { subject->samples, load_sample, subject };
	struct npu_diag diag = { "" };
	int error = npu_quantise_prepare(subject->graph, &subject->prepared, &diag);

	if (!error)
		error = npu_calibrate(subject->prepared, &samples, &subject->model->options,
				      &subject->calibration, &diag);
	if (error)
		tap(false, "%s is calibrated: %s", subject->model->name, diag.text);
	return !error;
}

/* What @config's NPU loads. */
static struct blob compile(struct subject *subject, const char *config_name)
{
	const struct nvdla_config *config = nvdla_config_find(config_name);
	struct npu_budget budget = npu_budget_full(config);
	struct npu_program *program = NULL;
	struct npu_graph *quantised;
	struct npu_diag diag = { "" };
	struct blob blob = { NULL, 0 };
	int error = npu_quantise(subject->prepared, subject->calibration, &quantised, &diag);

	if (!error)
		error = npu_program_compile(quantised, config, &budget, &program, &diag);
	if (!error)
		error = npu_program_encode(program, &blob.data, &blob.bytes, &diag);
	if (error)
		tap(false, "%s %s is compiled: %s", config_name, subject->model->name, diag.text);
	npu_program_free(program);
	return blob;
}

/* ---- runs ---- */

static size_t largest(const float *x, size_t count)
{
	size_t i, best = 0;

	for (i = 1; i < count; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

static double cosine(const float *a, const float *b, size_t count)
{
	double ab = 0, aa = 0, bb = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		ab += (double)a[i] * (double)b[i];
		aa += (double)a[i] * (double)a[i];
		bb += (double)b[i] * (double)b[i];
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : aa == bb;
}

/* An NPU with the model; false (and said) where that fails. */
static bool open_npu(const struct float_model *model, const char *config, const struct blob *blob,
		     struct npu_device **device, struct npu_model **loaded)
{
	char name[64];

	snprintf(name, sizeof(name), "sim:%s", config);
	if (npu_open(name, device)) {
		tap(false, "%s opens: %s", name, npu_error());
		return false;
	}
	if (npu_model_load_memory(*device, blob->data, blob->bytes, model->name, NULL, loaded)) {
		tap(false, "%s %s loads: %s", config, model->name, npu_error());
		npu_close(*device);
		return false;
	}
	return true;
}

static void compare_golden(const struct float_model *model, const char *config,
			   const struct shared_io *io, unsigned tasks)
{
	unsigned i;

	tap(tasks > 0, "%s %s: %u tasks of the NPU", config, model->name, tasks);
	for (i = 0; i < io->output_count; i++) {
		size_t count = io->output[i].bytes / sizeof(float);
		float *want = golden(model, "out", i, io->output[i].bytes);
		const float *ours = io->output[i].data;
		double c = cosine(ours, want, count);
		bool classes = model->classes && i == 0;

		tap(c >= LEAST_COSINE && (!classes || largest(ours, count) == largest(want, count)),
		    "%s %s output %u (%s): cosine %.5f%s", config, model->name, i,
		    io->out_info[i].name, c, classes ? ", the same class" : "");
		free(want);
	}
}

static void run_golden(struct subject *subject, const char *config)
{
	const struct float_model *model = subject->model;
	struct blob compiled = compile(subject, config);
	struct npu_run_stats stats = { .size = sizeof(stats) };
	struct npu_device *device;
	struct npu_model *loaded;
	struct shared_io io;

	if (!compiled.data || !open_npu(model, config, &compiled, &device, &loaded)) {
		free(compiled.data);
		return;
	}
	shared_io_make(loaded, &io);
	memcpy((void *)(uintptr_t)io.input[0].data, subject->input, subject->input_bytes);
	if (npu_run(loaded, io.input, io.input_count, io.output, io.output_count, &stats))
		tap(false, "%s %s runs: %s", config, model->name, npu_error());
	else
		compare_golden(model, config, &io, stats.tasks);
	shared_io_free(&io);
	npu_model_free(loaded);
	npu_close(device);
	free(compiled.data);
}

/* The golden input, and the same elements in other places: what the ranges shall be of is no secret. */
static void golden_samples(struct subject *subject)
{
	size_t count = subject->input_bytes / sizeof(float), i;
	float *first = golden(subject->model, "in", 0, subject->input_bytes);

	subject->samples = 2;
	subject->input = shared_alloc(subject->samples * subject->input_bytes);
	memcpy(subject->input, first, subject->input_bytes);
	for (i = 0; i < count; i++)
		subject->input[count + i] = first[count - 1 - i];
	free(first);
}

static bool open_subject(const struct float_model *model, struct subject *subject)
{
	struct npu_import_options options = { .input_shapes = model->shapes };
	struct npu_diag diag = { "" };
	char path[512];
	int error;

	*subject = (struct subject){ .model = model };
	snprintf(path, sizeof(path), "%s/models/%s/%s%s", shared_root(), model->kind, model->name,
		 model->ending);
	subject->file = read_blob(path);
	error = npu_import(subject->file.data, subject->file.bytes, path, &options, &subject->graph,
			   &diag);
	if (error || subject->graph->input_count != 1) {
		tap(false, "%s is read: %s", model->name, diag.text);
		return false;
	}
	subject->input_bytes = subject->graph->tensor[subject->graph->input[0]].bytes;
	return true;
}

static void close_subject(struct subject *subject)
{
	npu_graph_free(subject->graph);
	npu_graph_free(subject->prepared);
	npu_calibration_free(subject->calibration);
	free(subject->file.data);
	free(subject->input);
}

/* ---- digits ---- */

#define DIGITS 10
#define SIDE 28
#define TEST_SETS 3

/* Pictures of digits, white on black, as the model has them: 0 to 255. */
static bool load_pictures(float *pixels)
{
	unsigned digit, i;

	for (digit = 0; digit < DIGITS; digit++) {
		struct tool_image image;
		struct blob blob;
		char path[512], text[200];
		int error;

		snprintf(path, sizeof(path), "%s/models/data/tflm_mnist_png/sample%u.png",
			 shared_root(), digit);
		blob = read_blob(path);
		error = blob.bytes ? tool_image_decode(blob.data, blob.bytes, 1, &image, text)
				   : -ENOENT;
		free(blob.data);
		if (error || image.width != SIDE || image.height != SIDE) {
			tap(false, "%s is a picture of a digit", path);
			return false;
		}
		for (i = 0; i < SIDE * SIDE; i++)
			pixels[digit * SIDE * SIDE + i] = image.pixel[i];
		tool_image_free(&image);
	}
	return true;
}

/* Float32 elements of a file with one tensor. */
static bool load_tensor(const char *path, float *to, size_t count)
{
	struct blob blob = read_blob(path);
	Onnx__TensorProto *tensor =
		blob.bytes ? onnx__tensor_proto__unpack(NULL, blob.bytes, blob.data) : NULL;
	bool good =
		tensor && tensor->data_type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT &&
		(tensor->raw_data.len == count * sizeof(float) || tensor->n_float_data == count);

	if (good && tensor->raw_data.len)
		memcpy(to, tensor->raw_data.data, count * sizeof(float));
	else if (good)
		memcpy(to, tensor->float_data, count * sizeof(float));
	else
		tap(false, "%s has %zu elements", path, count);
	if (tensor)
		onnx__tensor_proto__free_unpacked(tensor, NULL);
	free(blob.data);
	return good;
}

/* One run; the class, or -1 (and said). */
static int classify(struct npu_model *model, const float *pixels, float scores[DIGITS])
{
	struct npu_input in = { pixels, SIDE * SIDE * sizeof(float) };
	struct npu_output out = { scores, DIGITS * sizeof(float) };

	if (npu_run(model, &in, 1, &out, 1, NULL)) {
		tap(false, "a digit is classified: %s", npu_error());
		return -1;
	}
	return (int)largest(scores, DIGITS);
}

static void run_test_sets(struct npu_model *model)
{
	float pixels[SIDE * SIDE], ours[DIGITS], want[DIGITS];
	char path[512];
	unsigned i;

	for (i = 0; i < TEST_SETS; i++) {
		snprintf(path, sizeof(path),
			 "%s/models/data/onnx_mnist_8/test_data_set_%u/input_0.pb", shared_root(),
			 i);
		if (!load_tensor(path, pixels, SIDE * SIDE))
			continue;
		memcpy(strstr(path, "input_0"), "output_0.pb", sizeof("output_0.pb"));
		if (!load_tensor(path, want, DIGITS) || classify(model, pixels, ours) < 0)
			continue;
		tap(largest(ours, DIGITS) == largest(want, DIGITS) &&
			    cosine(ours, want, DIGITS) >= LEAST_COSINE,
		    "digits: test set %u: class %zu, cosine %.5f", i, largest(ours, DIGITS),
		    cosine(ours, want, DIGITS));
	}
}

/* Calibrated on pictures; what it says of pictures and of test sets that it has not seen. */
static void run_digits(void)
{
	const struct float_model *model = &models[1];
	struct subject subject;
	struct blob compiled = { NULL, 0 };
	struct npu_device *device;
	struct npu_model *loaded;
	float scores[DIGITS];
	unsigned i, right = 0;

	if (!open_subject(model, &subject))
		return;
	subject.samples = DIGITS;
	subject.input = shared_alloc(DIGITS * subject.input_bytes);
	if (load_pictures(subject.input) && calibrate(&subject))
		compiled = compile(&subject, "nv_small");
	if (compiled.data && open_npu(model, "nv_small", &compiled, &device, &loaded)) {
		for (i = 0; i < DIGITS; i++)
			right += classify(loaded, subject.input + i * SIDE * SIDE, scores) ==
				 (int)i;
		tap(right == DIGITS, "digits: %u of %u pictures are recognised", right, DIGITS);
		run_test_sets(loaded);
		npu_model_free(loaded);
		npu_close(device);
	}
	free(compiled.data);
	close_subject(&subject);
}

int main(int argc, char **argv)
{
	const char *config = argc > 1 ? argv[1] : NULL, *only = argc > 2 ? argv[2] : NULL;
	size_t i, j;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	for (i = 0; i < MODEL_COUNT; i++) {
		struct subject subject;

		if ((only && strcmp(only, models[i].name)) || !open_subject(&models[i], &subject))
			continue;
		golden_samples(&subject);
		for (j = 0; j < SHARED_CONFIG_COUNT && (j || calibrate(&subject)); j++)
			if (!config || !strcmp(config, shared_configs[j]))
				run_golden(&subject, shared_configs[j]);
		close_subject(&subject);
	}
	if (!only)
		run_digits();
	return tap_end();
}
