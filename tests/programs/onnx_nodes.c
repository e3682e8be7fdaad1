// SPDX-License-Identifier: MIT
/*
 * The ONNX project's own tests of operators: each model that the importer takes has to give the
 * right result in the reference interpreter.  What the importer refuses is counted by reason.
 *
 *	onnx_nodes [DIRECTORY...]	default: Debian's libonnx-testdata
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#include "../common/tap.h"
#include "graph.h"
#include "onnx.pb-c.h"
#include "reference.h"

#define TESTDATA "/usr/share/libonnx-testdata/data/"

/* Results of other implementations differ in the order of their sums. */
#define TOLERANCE 1e-3f

#define MAX_ENDS 16

struct blob {
	u8 *data;
	size_t bytes;
};

static struct blob read_blob(const char *path)
{
	struct blob blob = { NULL, 0 };
	FILE *file = fopen(path, "rb");
	long size;

	if (!file)
		return blob;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	blob.data = size > 0 ? malloc((size_t)size) : NULL;
	if (blob.data && fread(blob.data, 1, (size_t)size, file) == (size_t)size)
		blob.bytes = (size_t)size;
	fclose(file);
	return blob;
}

struct test {
	const char *name;
	Onnx__ModelProto *model;
	Onnx__TensorProto *in[MAX_ENDS], *out[MAX_ENDS];
	Onnx__TensorProto *spare[MAX_ENDS]; /* inputs that the model does not have */
	u32 in_count, out_count, spare_count;
	struct npu_graph *graph;
	struct npu_diag diag;
};

static struct {
	u32 passed, failed, refused, odd;
} counts;

static u32 read_ends(const char *directory, const char *kind, Onnx__TensorProto **ends)
{
	u32 i;

	for (i = 0; i < MAX_ENDS; i++) {
		char path[1024];
		struct blob blob;

		snprintf(path, sizeof(path), "%s/test_data_set_0/%s_%u.pb", directory, kind, i);
		blob = read_blob(path);
		ends[i] = blob.bytes ? onnx__tensor_proto__unpack(NULL, blob.bytes, blob.data)
				     : NULL;
		free(blob.data);
		if (!ends[i])
			break;
	}
	return i;
}

/* Every input but the first becomes a constant of the model. */
static void make_constant(struct test *test)
{
	Onnx__GraphProto *graph = test->model->graph;
	size_t i, first = graph->n_initializer;

	if (!test->in_count)
		return;

	graph->initializer =
		realloc(graph->initializer, (first + MAX_ENDS) * sizeof(*graph->initializer));
	for (i = 1; i < test->in_count && i < graph->n_input; i++) {
		free(test->in[i]->name);
		test->in[i]->name = strdup(graph->input[i]->name);
		graph->initializer[graph->n_initializer++] = test->in[i];
	}
	for (; i < test->in_count; i++)
		test->spare[test->spare_count++] = test->in[i];
	test->in_count = 1;
}

static int import(struct test *test, const char *path)
{
	size_t bytes = onnx__model_proto__get_packed_size(test->model);
	u8 *data = malloc(bytes + 1);
	int error;

	test->diag.text[0] = '\0';
	onnx__model_proto__pack(test->model, data);
	error = npu_import_onnx(data, bytes, path, NULL, &test->graph, &test->diag);
	free(data);
	return error;
}

/* Element @i of a tensor of the file as a number. */
static bool element(const Onnx__TensorProto *t, size_t i, double *value)
{
	const u8 *raw = t->has_raw_data ? t->raw_data.data : NULL;

	switch (t->data_type) {
	case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT: {
		float f;

		if (raw)
			memcpy(&f, raw + 4 * i, 4);
		*value = raw ? f : t->float_data[i];
		return true;
	}
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT64: {
		int64_t v;

		if (raw)
			memcpy(&v, raw + 8 * i, 8);
		*value = (double)(raw ? v : t->int64_data[i]);
		return true;
	}
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT32: {
		int32_t v;

		if (raw)
			memcpy(&v, raw + 4 * i, 4);
		*value = raw ? v : t->int32_data[i];
		return true;
	}
	case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
		if (raw)
			memcpy(value, raw + 8 * i, 8);
		else
			*value = t->double_data[i];
		return true;
	case ONNX__TENSOR_PROTO__DATA_TYPE__UINT8:
		*value = raw ? raw[i] : t->int32_data[i];
		return true;
	case ONNX__TENSOR_PROTO__DATA_TYPE__INT8:
		*value = raw ? (s8)raw[i] : t->int32_data[i];
		return true;
	default:
		return false;
	}
}

static u64 elements(const Onnx__TensorProto *t)
{
	u64 n = 1;
	size_t i;

	for (i = 0; i < t->n_dims; i++)
		n *= (u64)t->dims[i];
	return n;
}

static double stored(const struct npu_tensor *t, const void *data, u64 i)
{
	switch (t->dtype) {
	case NPU_F32:
		return ((const float *)data)[i];
	case NPU_I64:
		return (double)((const s64 *)data)[i];
	case NPU_I32:
		return ((const s32 *)data)[i];
	case NPU_I8:
		return ((const s8 *)data)[i];
	default:
		return ((const u8 *)data)[i];
	}
}

static bool fill(const struct npu_tensor *t, void *data, const Onnx__TensorProto *from)
{
	u64 i, n = elements(from);
	double value;

	if (n != npu_tensor_elements(t))
		return false;
	for (i = 0; i < n; i++) {
		/* Some files have doubles that float32 does not reach. */
		if (!element(from, i, &value) || !isfinite((float)value))
			return false;
		if (t->dtype == NPU_F32)
			((float *)data)[i] = (float)value;
		else if (t->dtype == NPU_I32)
			((s32 *)data)[i] = (s32)value;
		else if (t->dtype == NPU_I8 || t->dtype == NPU_U8)
			((u8 *)data)[i] = (u8)(s32)value;
		else
			return false;
	}
	return true;
}

static bool equals(const struct npu_tensor *t, const void *data, const Onnx__TensorProto *want,
		   double *worst)
{
	bool real = t->dtype == NPU_F32;
	u64 i, n = elements(want);
	double value;

	*worst = 0;
	if (n != npu_tensor_elements(t) || t->rank != want->n_dims)
		return false;
	for (i = 0; i < t->rank; i++)
		if (t->dim[i] != want->dims[i])
			return false;
	for (i = 0; i < n; i++) {
		double d;

		if (!element(want, i, &value))
			return false;
		d = fabs(stored(t, data, i) - value);
		if (stored(t, data, i) == value)
			d = 0;
		*worst = fmax(*worst, real ? d / (1 + fabs(value)) : d);
	}
	return *worst <= (real ? TOLERANCE : 1);
}

static void cannot_run(const struct test *test, const char *why)
{
	counts.odd++;
	printf("# %s: cannot be run: %s\n", test->name, why);
}

static void compare(struct test *test)
{
	struct npu_graph *graph = test->graph;
	struct npu_reference *reference = NULL;
	bool good = true;
	double worst = 0;
	u32 i;

	if (graph->input_count != test->in_count || graph->output_count > test->out_count) {
		cannot_run(test, "the files are not for these inputs and outputs");
		return;
	}
	if (npu_reference_new(graph, &reference, &test->diag)) {
		cannot_run(test, test->diag.text);
		return;
	}
	for (i = 0; good && i < graph->output_count; i++)
		good = element(test->out[i], 0, &worst);
	for (i = 0; good && i < test->in_count; i++)
		good = fill(&graph->tensor[graph->input[i]],
			    npu_reference_tensor(reference, graph->input[i]), test->in[i]);
	if (!good || npu_reference_run(reference, NULL, NULL, &test->diag)) {
		cannot_run(test, good ? test->diag.text : "no such type here");
		npu_reference_free(reference);
		return;
	}
	for (i = 0; good && i < graph->output_count; i++)
		good = equals(&graph->tensor[graph->output[i]],
			      npu_reference_tensor(reference, graph->output[i]), test->out[i],
			      &worst);
	tap(good, "%s: distance %g", test->name, worst);
	counts.passed += good;
	counts.failed += !good;
	npu_reference_free(reference);
}

/* Inputs that became constants belong to the model. */
static void free_test(struct test *test)
{
	u32 i;

	for (i = 0; i < test->in_count; i++)
		onnx__tensor_proto__free_unpacked(test->in[i], NULL);
	for (i = 0; i < test->out_count; i++)
		onnx__tensor_proto__free_unpacked(test->out[i], NULL);
	for (i = 0; i < test->spare_count; i++)
		onnx__tensor_proto__free_unpacked(test->spare[i], NULL);
	onnx__model_proto__free_unpacked(test->model, NULL);
}

static void run(const char *directory, const char *name)
{
	struct test test = { .name = name };
	char path[1024];
	struct blob blob;

	snprintf(path, sizeof(path), "%s/model.onnx", directory);
	blob = read_blob(path);
	test.model = blob.bytes ? onnx__model_proto__unpack(NULL, blob.bytes, blob.data) : NULL;
	free(blob.data);
	if (!test.model)
		return;
	test.in_count = read_ends(directory, "input", test.in);
	test.out_count = read_ends(directory, "output", test.out);
	if (import(&test, path)) {
		make_constant(&test);
		if (import(&test, path))
			test.graph = NULL;
	}
	if (test.graph) {
		compare(&test);
	} else {
		counts.refused++;
		printf("# refused: %s: %s\n", name, test.diag.text);
		if (!test.diag.text[0])
			tap(false, "%s: refused with a reason", name);
	}
	npu_graph_free(test.graph);
	free_test(&test);
}

static void run_all(const char *directory)
{
	struct dirent **list;
	int count = scandir(directory, &list, NULL, alphasort), i;

	for (i = 0; i < count; i++) {
		char path[768];

		snprintf(path, sizeof(path), "%s/%s", directory, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			run(path, list[i]->d_name);
		free(list[i]);
	}
	if (count >= 0)
		free(list);
	else
		printf("SKIP no %s\n", directory);
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 2) {
		run_all(TESTDATA "node");
		run_all(TESTDATA "pytorch-operator");
		run_all(TESTDATA "pytorch-converted");
		run_all(TESTDATA "simple");
	}
	for (i = 1; i < argc; i++)
		run_all(argv[i]);
	printf("# %u passed, %u failed, %u refused, %u cannot be run\n", counts.passed,
	       counts.failed, counts.refused, counts.odd);
	return tap_end();
}
