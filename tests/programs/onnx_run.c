// SPDX-License-Identifier: MIT
/*
 * Real ONNX models against what ONNX Runtime made of the same input: quantised ones on every simulated
 * NPU and in the reference interpreter, float ones in the interpreter (the NPU does not take them
 * without calibration, which is checked too).
 */
#include <errno.h>
#include <math.h>

#include "../common/shared_models.h"
#include "../common/whole_file.h"
#include "graph.h"
#include "reference.h"

/**
 * struct onnx_model - a model with golden outputs
 * @units: distance in steps of the output that is allowed; 0: a float model
 * @equal: elements of 100 that have to be equal
 *
 * ONNX Runtime rounds each layer in float32, the NPU in fixed point: a unit in one layer is several
 * in the next ones, so chains of layers are allowed more than single ones.  check_layers holds each
 * layer of these models to one unit on the NPU's own input.
 */
struct onnx_model {
	const char *name;
	unsigned units, equal;
};

static const struct onnx_model models[] = {
	{ "ort_conv_qdq_s8s8_perchannel", 1, 99 }, { "ort_conv_qdq_u8u8", 1, 99 },
	{ "ort_qdq_multi_consumer_net", 4, 60 },   { "mnist-8", 0, 0 },
	{ "super-resolution-10", 0, 0 },	   { "yunet_s_320", 0, 0 },
};

#define MODEL_COUNT (sizeof(models) / sizeof(models[0]))

static void model_path(const char *name, char path[512])
{
	snprintf(path, 512, "%s/models/onnx/%s.onnx", shared_root(), name);
}

static float *golden(const char *name, const char *kind, unsigned i, size_t bytes)
{
	float *data = shared_alloc(bytes);
	char path[512];

	snprintf(path, sizeof(path), "%s/models/golden/onnx/%s/%s_%u.bin", shared_root(), name,
		 kind, i);
	if (shared_read(path, data, bytes))
		return data;
	tap(false, "%s is there, of %zu bytes", path, bytes);
	free(data);
	return NULL;
}

/* Steps of sums of two quantised tensors are those of the larger scale here. */
static void compare_units(const struct onnx_model *model, const char *where, unsigned output,
			  const float *ours, const float *want, size_t count, float step)
{
	size_t i, equal = 0;
	float most = 0;

	for (i = 0; i < count; i++) {
		float d = fabsf(ours[i] - want[i]) / step;

		equal += d < 0.5f;
		most = fmaxf(most, d);
	}
	tap(most <= (float)model->units + 0.01f && 100 * equal >= model->equal * count,
	    "%s %s output %u: %zu of %zu elements equal, largest distance %.2f units of %g", where,
	    model->name, output, equal, count, (double)most, (double)step);
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

static void compare_float(const struct onnx_model *model, unsigned output, const float *ours,
			  const float *want, size_t count)
{
	float most = 0, largest = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		most = fmaxf(most, fabsf(ours[i] - want[i]));
		largest = fmaxf(largest, fabsf(want[i]));
	}
	/* Sigmoids of what is far below zero have no digits that could be compared by direction. */
	tap(most <= 1e-4f * largest + 1e-6f && cosine(ours, want, count) > 0.999,
	    "reference %s output %u: cosine %.7f, largest distance %g of %g", model->name, output,
	    cosine(ours, want, count), (double)most, (double)largest);
}

/* The scale behind the last dequantisation before an output. */
static float output_scale(const struct npu_graph *graph, u32 tensor)
{
	float scale = 0;
	u32 i, j;

	for (i = graph->op_count; i--;) {
		const struct npu_op *op = &graph->op[i];

		if (op->output[0] != tensor)
			continue;
		for (j = 0; j < op->input_count; j++) {
			const struct npu_tensor *in = npu_op_input(graph, op, j);

			if (!in || in->data)
				continue;
			scale = fmaxf(scale, in->quant.count ? in->quant.scale[0]
							     : output_scale(graph, op->input[j]));
		}
		break;
	}
	return scale;
}

static void run_reference(const struct onnx_model *model, float scale[SHARED_MAX_TENSORS])
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { "" };
	char path[512];
	size_t bytes;
	void *data;
	float *in = NULL;
	unsigned i;

	model_path(model->name, path);
	data = whole_file(path, &bytes);
	if (npu_import_onnx(data, bytes, path, NULL, &graph, &diag) ||
	    npu_reference_new(graph, &reference, &diag)) {
		tap(false, "%s is imported: %s", model->name, diag.text);
		goto out;
	}
	in = golden(model->name, "in", 0, graph->tensor[graph->input[0]].bytes);
	if (!in)
		goto out;
	memcpy(npu_reference_tensor(reference, graph->input[0]), in,
	       graph->tensor[graph->input[0]].bytes);
	if (npu_reference_run(reference, NULL, NULL, &diag)) {
		tap(false, "%s runs in the reference: %s", model->name, diag.text);
		goto out;
	}
	for (i = 0; i < graph->output_count && i < SHARED_MAX_TENSORS; i++) {
		const struct npu_tensor *t = &graph->tensor[graph->output[i]];
		float *want = golden(model->name, "out", i, t->bytes);

		scale[i] = output_scale(graph, graph->output[i]);
		if (want && model->units)
			compare_units(model, "reference", i,
				      npu_reference_tensor(reference, graph->output[i]), want,
				      t->bytes / 4, scale[i]);
		else if (want)
			compare_float(model, i, npu_reference_tensor(reference, graph->output[i]),
				      want, t->bytes / 4);
		free(want);
	}
out:
	free(in);
	free(data);
	npu_reference_free(reference);
	npu_graph_free(graph);
}

static void run_npu(const struct onnx_model *model, const char *config, const float *scale)
{
	struct shared_io io = { 0 };
	struct npu_device *device;
	struct npu_model *loaded = NULL;
	char path[512], name[64];
	float *in;
	unsigned i;
	int err;

	model_path(model->name, path);
	snprintf(name, sizeof(name), "sim:%s", config);
	if (npu_open(name, &device)) {
		tap(false, "%s opens: %s", name, npu_error());
		return;
	}
	err = npu_model_load(device, path, NULL, &loaded);
	if (!model->units) {
		tap(err == -ENOTSUP && strstr(npu_error(), "calibration"), "%s %s is refused: %s",
		    config, model->name, npu_error());
	} else if (err) {
		tap(false, "%s %s loads: %s", config, model->name, npu_error());
	} else {
		shared_io_make(loaded, &io);
		in = golden(model->name, "in", 0, io.input[0].bytes);
		if (in)
			memcpy((void *)(uintptr_t)io.input[0].data, in, io.input[0].bytes);
		free(in);
		err = npu_run(loaded, io.input, io.input_count, io.output, io.output_count, NULL);
		if (err)
			tap(false, "%s %s runs: %s", config, model->name, npu_error());
		for (i = 0; !err && i < io.output_count; i++) {
			float *want = golden(model->name, "out", i, io.output[i].bytes);

			if (want)
				compare_units(model, config, i, io.output[i].data, want,
					      io.output[i].bytes / 4, scale[i]);
			free(want);
		}
		shared_io_free(&io);
	}
	if (loaded)
		npu_model_free(loaded);
	npu_close(device);
}

int main(void)
{
	size_t i, j;

	setenv("NPU_SIM_DIR", "-", 1);
	if (!shared_there())
		return 0;
	for (i = 0; i < MODEL_COUNT; i++) {
		float scale[SHARED_MAX_TENSORS] = { 0 };

		run_reference(&models[i], scale);
		for (j = 0; j < SHARED_CONFIG_COUNT; j++)
			run_npu(&models[i], shared_configs[j], scale);
	}
	return tap_end();
}
