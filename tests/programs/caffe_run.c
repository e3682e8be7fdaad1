// SPDX-License-Identifier: MIT
/*
 * Real Caffe networks against what OpenCV made of the same input: in float32 in the reference
 * interpreter, and, after a calibration, in integers on every simulated NPU.
 */
#include <errno.h>
#include <math.h>

#include "../common/shared_models.h"
#include "../common/whole_file.h"
#include "graph.h"
#include "npu_compiler.h"
#include "quantise/quantise.h"
#include "reference.h"

/* Samples that a network is calibrated with: the golden input and noise like it. */
#define SAMPLES 8

struct caffe_model {
	const char *name;
	bool classes; /* the last output says which */
};

static const struct caffe_model models[] = {
	{ "lenet", true },
	{ "cifar10_quick", true },
	{ "mtcnn_det1", true },
	{ "mtcnn_det2", true },
};

#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

static void model_path(const char *name, char path[512])
{
	snprintf(path, 512, "%s/models/caffe/%s.prototxt", shared_root(), name);
}

static bool golden(const char *name, const char *kind, unsigned i, void *data, size_t bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/models/golden/caffe/%s/%s_%u.bin", shared_root(), name,
		 kind, i);
	return shared_read(path, data, bytes) ||
	       tap(false, "%s is there, of %zu bytes", path, bytes);
}

static struct npu_graph *import(const char *name)
{
	char path[512];
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { "" };
	size_t bytes;
	void *text;

	model_path(name, path);
	text = whole_file(path, &bytes);
	if (npu_import(text, bytes, path, NULL, &graph, &diag)) {
		tap(false, "%s is imported: %s", name, diag.text);
		graph = NULL;
	}
	free(text);
	return graph;
}

static double cosine(const float *a, const float *b, size_t count)
{
	double ab = 0, aa = 0, bb = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		ab += (double)a[i] * b[i];
		aa += (double)a[i] * a[i];
		bb += (double)b[i] * b[i];
	}
	return ab / sqrt(aa * bb);
}

static size_t largest(const float *values, size_t count)
{
	size_t i, best = 0;

	for (i = 1; i < count; i++)
		if (values[i] > values[best])
			best = i;
	return best;
}

/* ---- float32 ---- */

static void compare_float(const char *name, unsigned i, const float *ours, const float *want,
			  size_t count)
{
	float most = 0, peak = 0;
	size_t k;

	for (k = 0; k < count; k++) {
		most = fmaxf(most, fabsf(ours[k] - want[k]));
		peak = fmaxf(peak, fabsf(want[k]));
	}
	tap(most <= 1e-4f * peak, "reference %s output %u: largest distance %g of %g", name, i,
	    (double)most, (double)peak);
}

static void run_reference(const struct caffe_model *model, const struct npu_graph *graph)
{
	const struct npu_tensor *in = &graph->tensor[graph->input[0]];
	struct npu_reference *reference = NULL;
	struct npu_diag diag = { "" };
	unsigned i;

	if (npu_reference_new(graph, &reference, &diag) ||
	    !golden(model->name, "in", 0, npu_reference_tensor(reference, graph->input[0]),
		    in->bytes) ||
	    npu_reference_run(reference, NULL, NULL, &diag)) {
		tap(false, "%s runs in the reference: %s", model->name, diag.text);
		npu_reference_free(reference);
		return;
	}
	for (i = 0; i < graph->output_count; i++) {
		size_t bytes = graph->tensor[graph->output[i]].bytes;
		float *want = shared_alloc(bytes);

		if (golden(model->name, "out", i, want, bytes))
			compare_float(model->name, i,
				      npu_reference_tensor(reference, graph->output[i]), want,
				      bytes / 4);
		free(want);
	}
	npu_reference_free(reference);
}

/* ---- integers ---- */

struct sample_source {
	const char *name;
	size_t bytes;
};

static int load_sample(const struct npu_samples *samples, u32 i, void *const *input,
		       struct npu_diag *diag)
{
	const struct sample_source *source = samples->context;
	uint32_t state = i + 1;
	float *values = input[0];
	size_t k;

	if (!golden(source->name, "in", 0, values, source->bytes))
		return -EIO;
	for (k = 0; i && k < source->bytes / 4; k++)
		values[k] += (float)(shared_random(&state) % 1000) / 5000 - 0.1f;
	return 0;
}

static struct npu_graph *calibrated(const char *name, const struct npu_graph *graph)
{
	const struct npu_calibrate_options options = { .method = NPU_RANGE_MINMAX };
	struct sample_source source = { name, graph->tensor[graph->input[0]].bytes };
	struct npu_samples samples = { SAMPLES, load_sample, &source };
	struct npu_graph *prepared = NULL, *quantised = NULL;
	struct npu_calibration *calibration = NULL;
	struct npu_diag diag = { "" };

	if (npu_quantise_prepare(graph, &prepared, &diag) ||
	    npu_calibrate(prepared, &samples, &options, &calibration, &diag) ||
	    npu_quantise(prepared, calibration, &quantised, &diag)) {
		tap(false, "%s is quantised: %s", name, diag.text);
		quantised = NULL;
	}
	npu_calibration_free(calibration);
	npu_graph_free(prepared);
	return quantised;
}

static void compare_outputs(const struct caffe_model *model, const char *config,
			    const struct shared_io *io)
{
	unsigned i;

	for (i = 0; i < io->output_count; i++) {
		const size_t bytes = io->output[i].bytes, count = bytes / 4;
		const bool classes = model->classes && i + 1 == io->output_count;
		const float *ours = io->output[i].data;
		float *want = shared_alloc(bytes);

		if (golden(model->name, "out", i, want, bytes))
			tap(cosine(ours, want, count) >= 0.99 &&
				    (!classes || largest(ours, count) == largest(want, count)),
			    "%s %s output %u: cosine %.5f%s", config, model->name, i,
			    cosine(ours, want, count), classes ? ", same class" : "");
		free(want);
	}
}

/* @compiled: a file with the integer network */
static void run_npu(const struct caffe_model *model, const char *config, const void *compiled,
		    size_t bytes)
{
	struct npu_device *device;
	struct npu_model *loaded;
	struct shared_io io;
	char name[64];

	snprintf(name, sizeof(name), "sim:%s", config);
	if (npu_open(name, &device)) {
		tap(false, "%s opens: %s", name, npu_error());
		return;
	}
	if (npu_model_load_memory(device, compiled, bytes, model->name, NULL, &loaded)) {
		tap(false, "%s %s loads: %s", config, model->name, npu_error());
		npu_close(device);
		return;
	}
	shared_io_make(loaded, &io);
	if (golden(model->name, "in", 0, (void *)(uintptr_t)io.input[0].data, io.input[0].bytes)) {
		if (npu_run(loaded, io.input, io.input_count, io.output, io.output_count, NULL))
			tap(false, "%s %s runs: %s", config, model->name, npu_error());
		else
			compare_outputs(model, config, &io);
	}
	shared_io_free(&io);
	npu_model_free(loaded);
	npu_close(device);
}

static void run_config(const struct caffe_model *model, const struct npu_graph *graph, unsigned i)
{
	const struct nvdla_config *config = nvdla_config_find(shared_configs[i]);
	struct npu_budget budget = npu_budget_full(config);
	struct npu_graph *quantised = calibrated(model->name, graph);
	struct npu_program *program;
	struct npu_diag diag = { "" };
	void *compiled;
	size_t bytes;

	if (!quantised)
		return;
	if (npu_program_compile(quantised, config, &budget, &program, &diag)) {
		tap(false, "%s %s is compiled: %s", shared_configs[i], model->name, diag.text);
		return;
	}
	if (npu_program_encode(program, &compiled, &bytes, &diag)) {
		tap(false, "%s %s is encoded: %s", shared_configs[i], model->name, diag.text);
	} else {
		run_npu(model, shared_configs[i], compiled, bytes);
		free(compiled);
	}
	npu_program_free(program);
}

int main(void)
{
	unsigned i, j;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	for (i = 0; i < MODEL_COUNT; i++) {
		struct npu_graph *graph = import(models[i].name);

		if (!graph)
			continue;
		run_reference(&models[i], graph);
		for (j = 0; j < SHARED_CONFIG_COUNT; j++)
			run_config(&models[i], graph, j);
		npu_graph_free(graph);
	}
	return tap_end();
}
