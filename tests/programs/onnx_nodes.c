// SPDX-License-Identifier: MIT
/*
 * The ONNX project's own tests of operators: each model that the importer takes has to give the
 * right result in the reference interpreter.  What the importer refuses is counted by reason.
 *
 *	onnx_nodes [DIRECTORY...]	default: Debian's libonnx-testdata
 *	onnx_nodes --table		the counts for each operator as Documentation/onnx-conformance.md
 *					has them, which the test is held to
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>

#include "../common/tap.h"
#include "../common/whole_file.h"
#include "graph.h"
#include "onnx.pb-c.h"
#include "reference.h"

#define TESTDATA "/usr/share/libonnx-testdata/data/"

/* Results of other implementations differ in the order of their sums. */
#define TOLERANCE 1e-3f

#define MAX_ENDS 16

struct test {
	const char *name;
	Onnx__ModelProto *model;
	Onnx__TensorProto *in[MAX_ENDS], *out[MAX_ENDS];
	Onnx__TensorProto *spare[MAX_ENDS]; /* inputs that the model does not have */
	u32 in_count, out_count, spare_count;
	struct npu_graph *graph;
	struct npu_diag diag;
	struct row *row;
};

enum outcome { PASSED, FAILED, REFUSED, ODD, OUTCOMES };

static u32 counts[OUTCOMES];

/**
 * struct row - what became of an operator's tests
 * @name: of the operator, or of a set of tests with many
 * @why: the first reason for which one was refused
 */
struct row {
	char name[48];
	u32 count[OUTCOMES];
	char why[160];
};

static struct row rows[256];
static u32 row_count;

/* Instead of TAP lines. */
static bool table_wanted;

static struct row *row_of(const char *name)
{
	u32 i;

	for (i = 0; i < row_count; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	if (row_count == ARRAY_SIZE(rows))
		abort();
	snprintf(rows[row_count].name, sizeof(rows[0].name), "%.47s", name);
	return &rows[row_count++];
}

static void count(struct test *test, enum outcome outcome)
{
	counts[outcome]++;
	test->row->count[outcome]++;
}

static u32 read_ends(const char *directory, const char *kind, Onnx__TensorProto **ends)
{
	u32 i;

	for (i = 0; i < MAX_ENDS; i++) {
		char path[1024];
		size_t bytes;
		void *data;

		snprintf(path, sizeof(path), "%s/test_data_set_0/%s_%u.pb", directory, kind, i);
		data = whole_file(path, &bytes);
		ends[i] = data ? onnx__tensor_proto__unpack(NULL, bytes, data) : NULL;
		free(data);
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
		else if (t->dtype == NPU_I64)
			((s64 *)data)[i] = (s64)value;
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

static void cannot_run(struct test *test, const char *why)
{
	count(test, ODD);
	if (!table_wanted)
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
	if (!table_wanted)
		tap(good, "%s: distance %g", test->name, worst);
	count(test, good ? PASSED : FAILED);
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

/* The reason alone, without the place. */
static void keep_reason(struct test *test)
{
	const char *text = strstr(test->diag.text, "model.onnx: ");
	const char *behind = text ? strstr(text, "): ") : NULL;

	if (test->row->why[0] || !text)
		return;
	snprintf(test->row->why, sizeof(test->row->why), "%.150s",
		 behind ? behind + 3 : text + strlen("model.onnx: "));
}

/* Tests of one operator are its own; others belong to their folder. */
static struct row *row_for(const struct test *test, const char *directory)
{
	const Onnx__GraphProto *graph = test->model->graph;
	const char *folder = directory, *at;

	if (strstr(directory, "/node/") && graph && graph->n_node == 1)
		return row_of(graph->node[0]->op_type);
	if (strstr(directory, "/node/"))
		return row_of("(operators written as several)");
	for (at = directory; (at = strchr(at, '/')) && strchr(at + 1, '/'); at++)
		folder = at + 1;
	return row_of(strncmp(folder, "pytorch", 7) ? "(simple)" : "(pytorch)");
}

static void run(const char *directory, const char *name)
{
	struct test test = { .name = name };
	char path[1024];
	size_t bytes;
	void *data;

	snprintf(path, sizeof(path), "%s/model.onnx", directory);
	data = whole_file(path, &bytes);
	test.model = data ? onnx__model_proto__unpack(NULL, bytes, data) : NULL;
	free(data);
	if (!test.model)
		return;
	test.row = row_for(&test, directory);
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
		count(&test, REFUSED);
		keep_reason(&test);
		if (!table_wanted)
			printf("# refused: %s: %s\n", name, test.diag.text);
		if (!test.diag.text[0])
			tap(false, "%s: refused with a reason", name);
	}
	npu_graph_free(test.graph);
	free_test(&test);
}

/* Tests below a folder; false: there is no such folder. */
static bool run_all(const char *directory)
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
	return count >= 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

#define TABLE "Documentation/onnx-conformance.md"
#define TOTAL "All"

static void print_row(const char *name, const u32 *count, const char *why)
{
	printf("| %s | %u | %u | %u | %s |\n", name, count[PASSED], count[REFUSED], count[ODD],
	       why);
}

static void print_table(void)
{
	u32 i;

	qsort(rows, row_count, sizeof(rows[0]), by_name);
	printf("# The ONNX project's own tests\n\n"
	       "What `build/tests/programs/onnx_nodes --table` prints for Debian's "
	       "libonnx-testdata "
	       "1.12: each test that the\nimporter takes runs in the reference interpreter, and "
	       "its "
	       "result has to be within 1e-3 of the right one (relative,\nof 1 and the value). The "
	       "test `programs/onnx_nodes` fails where a result is wrong, or where fewer pass than "
	       "here.\n\n"
	       "*Refused*: with an error that names the node and the reason; the column at the "
	       "right "
	       "has the first one. *Not compared*:\ntypes that the graph's ends do not have here, "
	       "or values beyond float32. Rows in brackets are tests of several\noperators.\n\n"
	       "| operator | passed | refused | not compared | first reason |\n"
	       "|---|---|---|---|---|\n");
	print_row(TOTAL, counts, "");
	for (i = 0; i < row_count; i++)
		print_row(rows[i].name, rows[i].count, rows[i].why);
}

static bool holds(const u32 *count, u32 passed, u32 tests)
{
	/* Other versions of the package have other tests. */
	return count[PASSED] + count[FAILED] + count[REFUSED] + count[ODD] != tests ||
	       count[PASSED] >= passed;
}

/* No operator may be worse than the kept table says. */
static void compare_table(void)
{
	char line[512], name[48];
	u32 passed, refused, odd, seen = 0;
	FILE *file = fopen(TABLE, "r");

	while (file && fgets(line, sizeof(line), file)) {
		const u32 *count;

		if (sscanf(line, "| %47[^|] | %u | %u | %u |", name, &passed, &refused, &odd) != 4)
			continue;
		name[strcspn(name, "|")] = '\0';
		while (*name && name[strlen(name) - 1] == ' ')
			name[strlen(name) - 1] = '\0';
		count = strcmp(name, TOTAL) ? row_of(name)->count : counts;
		seen++;
		if (!holds(count, passed, passed + refused + odd))
			tap(false, "%s: %u tests pass, " TABLE " has %u", name, count[PASSED],
			    passed);
	}
	if (file)
		fclose(file);
	tap(seen > 1, TABLE ": %u rows", seen);
}

int main(int argc, char **argv)
{
	static const char *const folders[] = { "node", "pytorch-operator", "pytorch-converted",
					       "simple" };
	u32 there = 0, f;
	int i;

	table_wanted = argc == 2 && !strcmp(argv[1], "--table");
	for (f = 0; f < ARRAY_SIZE(folders) && (argc < 2 || table_wanted); f++) {
		char path[512];

		snprintf(path, sizeof(path), TESTDATA "%s", folders[f]);
		there += run_all(path);
	}
	if (argc < 2 && !there)
		return EXIT_SUCCESS; /* a SKIP for each is said above */
	if (table_wanted) {
		print_table();
		return counts[FAILED] != 0;
	}
	for (i = 1; i < argc; i++)
		run_all(argv[i]);
	if (argc < 2 && counts[PASSED])
		compare_table();
	printf("# %u passed, %u failed, %u refused, %u cannot be run\n", counts[PASSED],
	       counts[FAILED], counts[REFUSED], counts[ODD]);
	return tap_end();
}
