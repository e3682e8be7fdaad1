// SPDX-License-Identifier: MIT
/* The ONNX importer: what becomes of operators, quantised forms, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph.h"
#include "onnx_writer.h"
#include "reference.h"

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define UINT8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define INT8 ONNX__TENSOR_PROTO__DATA_TYPE__INT8

static struct npu_graph *graph;
static struct npu_diag diag;

/* What is given for inputs; each test starts with nothing. */
static struct npu_import_options options;

static int import_as(struct onnx_writer *w, const char *file)
{
	size_t bytes;
	u8 *data = onnx_end(w, &bytes);
	int error;

	diag.text[0] = '\0';
	graph = NULL;
	error = npu_import_onnx(data, bytes, file, &options, &graph, &diag);
	free(data);
	if (error && !diag.text[0])
		fail_msg("an error without a message");
	return error;
}

static void good(struct onnx_writer *w)
{
	if (import_as(w, "sample"))
		fail_msg("%s", diag.text);
}

static void refused(struct onnx_writer *w, int error, const char *text)
{
	assert_int_equal(import_as(w, "sample"), error);
	if (!strstr(diag.text, text))
		fail_msg("'%s' does not say '%s'", diag.text, text);
}

static u32 count_kind(enum npu_op_kind kind)
{
	u32 i, n = 0;

	for (i = 0; i < graph->op_count; i++)
		n += graph->op[i].kind == kind;
	return n;
}

static const struct npu_op *op_of(enum npu_op_kind kind)
{
	u32 i;

	for (i = 0; i < graph->op_count; i++)
		if (graph->op[i].kind == kind)
			return &graph->op[i];
	fail_msg("no %s", npu_op_names[kind]);
	return NULL;
}

static int teardown(void **state)
{
	npu_graph_free(graph);
	graph = NULL;
	options = (struct npu_import_options){ 0 };
	return 0;
}

static void begin_conv(struct onnx_writer *w)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "0,2,4,5");
	onnx_floats(w, "w", "3,2,3,3", NULL);
	onnx_node(w, "Conv", "x,w", "y");
	onnx_attribute_ints(w, "pads", "1,0,1,2");
	onnx_attribute_ints(w, "strides", "1,2");
}

static void fill_input(struct npu_reference *reference)
{
	float *x = npu_reference_tensor(reference, graph->input[0]);
	u64 i;

	for (i = 0; i < npu_tensor_elements(&graph->tensor[graph->input[0]]); i++)
		x[i] = (float)(i * 37 % 101) / 50 - 1;
}

/* Outputs y in ONNX's order, [1][c][h][w], and what is reduced of it. */
static void check_reduced(enum npu_op_kind kind, u32 rank)
{
	const struct npu_tensor *y = &graph->tensor[graph->output[0]];
	const u32 plane = y->dim[2] * y->dim[3];
	struct npu_reference *reference;
	const float *from, *mean;
	const s64 *best;
	u32 i, c;

	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	fill_input(reference);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	from = npu_reference_tensor(reference, graph->output[0]);
	best = npu_reference_tensor(reference, graph->output[1]);
	mean = npu_reference_tensor(reference, graph->output[1]);
	for (c = 0; kind == NPU_OP_MEAN && rank == 2 && c < y->dim[1]; c++) {
		float sum = 0;

		for (i = 0; i < plane; i++)
			sum += from[c * plane + i];
		assert_float_equal(mean[c], sum / (float)plane, 1e-5);
	}
	for (i = 0; kind == NPU_OP_ARG_MAX && i < plane; i++)
		for (c = 0; c < y->dim[1]; c++)
			assert_true(from[c * plane + i] <= from[(u32)best[i] * plane + i]);
	npu_reference_free(reference);
}

/* The mean of a plane, and the best channel of each point, behind a convolution: nothing is transposed. */
static void test_reduce_layout(void **state)
{
	static const struct {
		const char *type, *axis;
		enum npu_op_kind kind;
		u32 rank, transposes;
	} cases[] = {
		{ "ReduceMean", "2,3", NPU_OP_MEAN, 2, 2 },
		{ "ReduceMean", "2", NPU_OP_MEAN, 3, 2 },
		{ "ArgMax", "", NPU_OP_ARG_MAX, 3, 2 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct onnx_writer w;

		begin_conv(&w);
		onnx_node(&w, cases[i].type, "y", "r");
		if (*cases[i].axis)
			onnx_attribute_ints(&w, "axes", cases[i].axis);
		else
			onnx_attribute_int(&w, "axis", 1);
		onnx_attribute_int(&w, "keepdims", 0);
		onnx_output(&w, "y");
		onnx_output(&w, "r");
		good(&w);
		check_reduced(cases[i].kind, cases[i].rank);
		assert_int_equal(npu_op_output(graph, op_of(cases[i].kind))->rank, cases[i].rank);
		/* The input is, and y as an output. */
		assert_int_equal(count_kind(NPU_OP_TRANSPOSE), cases[i].transposes);
		npu_graph_free(graph);
		graph = NULL;
	}
}

/* Layout, weights, window, batch. */
static void test_conv(void **state)
{
	const struct npu_tensor *weights, *out;
	const struct npu_op *op;
	struct onnx_writer w;
	u32 k, c, r, s;

	begin_conv(&w);
	onnx_output(&w, "y");
	good(&w);
	op = op_of(NPU_OP_CONV);
	assert_int_equal(op->window.pad_top, 1);
	assert_int_equal(op->window.pad_right, 2);
	assert_int_equal(op->window.stride_x, 2);
	weights = npu_op_input(graph, op, 1);
	for (k = 0; k < 3; k++)
		for (c = 0; c < 2; c++)
			for (r = 0; r < 3; r++)
				for (s = 0; s < 3; s++) {
					u32 i = ((k * 2 + c) * 3 + r) * 3 + s;
					float want = (float)((i * 7 + 3) % 13) / 13 - 0.4f;
					u32 at = ((k * 3 + r) * 3 + s) * 2 + c;

					assert_true(((const float *)weights->data)[at] == want);
				}
	assert_int_equal(graph->tensor[graph->input[0]].dim[0], 1);
	assert_int_equal(graph->tensor[graph->input[0]].dim[1], 2);
	out = &graph->tensor[graph->output[0]];
	assert_int_equal(out->dim[1], 3);
	assert_int_equal(out->dim[2], 4);
	assert_int_equal(out->dim[3], 3);
	assert_int_equal(count_kind(NPU_OP_TRANSPOSE), 2);
}

static void test_same_padding(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 7);
	onnx_input(&w, "x", FLOAT, "1,2,4,4");
	onnx_floats(&w, "w", "3,2,2,2", NULL);
	onnx_node(&w, "Conv", "x,w", "y");
	onnx_attribute_text(&w, "auto_pad", "SAME_LOWER");
	onnx_output(&w, "y");
	good(&w);
	assert_int_equal(op_of(NPU_OP_CONV)->window.pad_top, 1);
	assert_int_equal(op_of(NPU_OP_CONV)->window.pad_bottom, 0);
}

/* Batch norm and sums by channel disappear in the convolution, unless somebody else reads it. */
static void test_folding(void **state)
{
	const float scale[] = { 2, 1, 1 }, shift[] = { 1, 0, 0 }, mean[] = { 3, 0, 0 };
	const float variance[] = { 1, 1, 1 };
	bool shared;

	for (shared = false;; shared = true) {
		struct onnx_writer w;

		begin_conv(&w);
		onnx_floats(&w, "a", "3", scale);
		onnx_floats(&w, "b", "3", shift);
		onnx_floats(&w, "m", "3", mean);
		onnx_floats(&w, "v", "3", variance);
		onnx_node(&w, "BatchNormalization", "y,a,b,m,v", "z");
		onnx_output(&w, "z");
		if (shared)
			onnx_output(&w, "y");
		good(&w);
		assert_int_equal(count_kind(NPU_OP_MUL), shared);
		assert_int_equal(count_kind(NPU_OP_ADD), shared);
		if (!shared) {
			const struct npu_tensor *bias = npu_op_input(graph, op_of(NPU_OP_CONV), 2);

			assert_true(fabsf(((const float *)bias->data)[0] - (1 - 3 * 2)) < 1e-3f);
			npu_graph_free(graph);
			continue;
		}
		break;
	}
}

/* The same tensor under another name must not be folded into. */
static void test_folding_alias(void **state)
{
	struct onnx_writer w;

	begin_conv(&w);
	onnx_floats(&w, "b", "3,1,1", NULL);
	onnx_node(&w, "Identity", "y", "same");
	onnx_node(&w, "Add", "same,b", "z");
	onnx_output(&w, "z");
	onnx_output(&w, "y");
	good(&w);
	assert_int_equal(count_kind(NPU_OP_ADD), 1);
}

/* Q, DQ, Conv, Relu, Q, DQ: one integer convolution. */
static void test_qdq(void **state)
{
	static const struct {
		s32 type;
		bool per_channel;
	} forms[] = { { UINT8, false }, { INT8, false }, { INT8, true }, { UINT8, true } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct npu_tensor *t;
		const struct npu_op *op;
		struct onnx_writer w;

		onnx_qdq_conv(&w, forms[i].type, forms[i].per_channel);
		onnx_node(&w, "Relu", "y", "r");
		onnx_node(&w, "QuantizeLinear", "r,s,z", "yq");
		onnx_node(&w, "DequantizeLinear", "yq,s,z", "out");
		onnx_output(&w, "out");
		good(&w);
		op = op_of(NPU_OP_CONV);
		assert_int_equal(op->activation, NPU_ACT_RELU);
		t = npu_op_input(graph, op, 0);
		assert_int_equal(t->dtype, NPU_I8);
		assert_int_equal(t->quant.zero[0], 2);
		t = npu_op_input(graph, op, 1);
		assert_int_equal(t->quant.count, forms[i].per_channel ? 3 : 1);
		t = npu_op_input(graph, op, 2);
		assert_int_equal(t->dtype, NPU_I32);
		/* In units of 0.5 times the kernel's scale. */
		assert_int_equal(((const s32 *)t->data)[2], forms[i].per_channel ? 120 : 30);
		assert_int_equal(count_kind(NPU_OP_RELU), 0);
		assert_int_equal(count_kind(NPU_OP_QUANTIZE), 1);
		assert_int_equal(count_kind(NPU_OP_DEQUANTIZE), 1);
		npu_graph_free(graph);
	}
	graph = NULL;
}

/* Without QuantizeLinear behind it the convolution is one of float32, of constants that are known. */
static void test_half_quantised(void **state)
{
	struct onnx_writer w;

	onnx_qdq_conv(&w, UINT8, false);
	onnx_output(&w, "y");
	good(&w);
	assert_int_equal(npu_op_output(graph, op_of(NPU_OP_CONV))->dtype, NPU_F32);
	assert_true(((const float *)npu_op_input(graph, op_of(NPU_OP_CONV), 1)->data)[3] == 1.5f);
}

static void test_qlinear_conv(void **state)
{
	static const u8 zero[] = { 128 };
	struct onnx_writer w;

	onnx_begin(&w, 10);
	onnx_input(&w, "x", UINT8, "1,2,4,4");
	onnx_scalar(&w, "s", 0.5f);
	onnx_raw(&w, "z", UINT8, 1, "", zero);
	onnx_raw(&w, "w", UINT8, 1, "3,2,1,1", NULL);
	onnx_node(&w, "QLinearConv", "x,s,z,w,s,z,s,z", "y");
	onnx_output(&w, "y");
	good(&w);
	assert_int_equal(graph->tensor[graph->input[0]].dtype, NPU_U8);
	assert_int_equal(graph->tensor[graph->output[0]].dtype, NPU_U8);
	assert_int_equal(graph->tensor[graph->output[0]].quant.zero[0], 128);
	assert_int_equal(npu_op_output(graph, op_of(NPU_OP_CONV))->dtype, NPU_I8);
}

/* Pooling keeps its scale; another one behind it is a step of its own. */
static void test_requantised_pool(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,2,4,4");
	onnx_scalar(&w, "s", 0.5f);
	onnx_scalar(&w, "t", 0.25f);
	onnx_raw(&w, "z", INT8, 1, "", "");
	onnx_node(&w, "QuantizeLinear", "x,s,z", "xq");
	onnx_node(&w, "DequantizeLinear", "xq,s,z", "xd");
	onnx_node(&w, "MaxPool", "xd", "p");
	onnx_attribute_ints(&w, "kernel_shape", "2,2");
	onnx_node(&w, "QuantizeLinear", "p,t,z", "pq");
	onnx_node(&w, "DequantizeLinear", "pq,t,z", "out");
	onnx_output(&w, "out");
	good(&w);
	assert_int_equal(count_kind(NPU_OP_QUANTIZE), 2);
	assert_true(npu_op_output(graph, op_of(NPU_OP_MAX_POOL))->quant.scale[0] == 0.5f);
}

/* Chains that only work out a shape leave nothing behind. */
static void test_shape_arithmetic(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,2,4,4");
	onnx_int64s(&w, "first", "0");
	onnx_int64s(&w, "rest", "-1");
	onnx_node(&w, "Shape", "x", "shape");
	onnx_node(&w, "Gather", "shape,first", "batch");
	onnx_node(&w, "Concat", "batch,rest", "wanted");
	onnx_attribute_int(&w, "axis", 0);
	onnx_node(&w, "Reshape", "x,wanted", "y");
	onnx_output(&w, "y");
	good(&w);
	assert_int_equal(graph->op_count, 1);
	assert_int_equal(graph->tensor[graph->output[0]].dim[1], 32);
}

/* A model with two inputs of open sizes. */
static void begin_open(struct onnx_writer *w, const char *shapes)
{
	options.input_shapes = shapes;
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "0,2,0,0");
	onnx_input(w, "a:b", FLOAT, "0,2,4,0");
	onnx_node(w, "Relu", "x", "y");
	onnx_node(w, "Relu", "a:b", "z");
	onnx_output(w, "y");
	onnx_output(w, "z");
}

static void test_given_shapes(void **state)
{
	static const u32 x[] = { 1, 2, 4, 7 }, ab[] = { 1, 2, 4, 3 };
	struct onnx_writer w;

	begin_open(&w, "x:1x2x4x7,a:b:1x2x4x3");
	good(&w);
	assert_memory_equal(graph->tensor[graph->output[0]].dim, x, sizeof(x));
	assert_memory_equal(graph->tensor[graph->output[1]].dim, ab, sizeof(ab));
}

static void test_bad_shapes(void **state)
{
	static const struct {
		const char *shapes;
		int error;
		const char *text;
	} cases[] = {
		{ NULL, -ENOTSUP, "input x: dimension 2 is not known" },
		{ "x:1x2x4x4", -ENOTSUP, "input a:b: dimension 3 is not known" },
		{ "x:1x2x4x4,a:b:1x2x5x3", -ENOTSUP, "input a:b: dimension 2 is 4 in the file" },
		{ "x:1x2x4,a:b:1x2x4x3", -EINVAL, "input x has 4 dimensions, not 3" },
		{ "x:1x2x4x4,a:b:1x2x4x3,c:1x2", -EINVAL, "'c:1x2' is for no input" },
		{ "1x2x4x3", -EINVAL, "'1x2x4x3' is for no input: it has 2" },
		{ "x:1x2x4x4,a:b:1x2x4x3,x:", -EINVAL, "'x:' is no shape" },
		{ "x:1x2x4x4,a:b:1x2x4x3,", -EINVAL, "'' is no shape" },
		{ "x:1x2x4x4,a:b:1x2x4x3,x:1x2x4x4x", -EINVAL, "is no shape" },
		{ "x:1x2x4x4,a:b:1x2x4x3,x:1x0", -EINVAL, "is no shape" },
		{ "x:1x2x4x4,a:b:1x2x4x3,x:1x-2", -EINVAL, "is no shape" },
		{ "x:1x2x4x4,a:b:1x2x4x3,x:1x99999999999", -EINVAL, "is no shape" },
		{ "x:1x2x4x4,a:b:1x2x4x3,x:1x1x1x1x1x1x1", -EINVAL, "is no shape" },
	};
	struct onnx_writer w;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_open(&w, cases[i].shapes);
		refused(&w, cases[i].error, cases[i].text);
	}
}

static void test_refusals(void **state)
{
	struct onnx_writer w;
	Onnx__NodeProto *node;

	begin_conv(&w);
	node = onnx_node(&w, "Loop", "y", "z");
	node->name = (char *)"my_loop";
	onnx_output(&w, "z");
	refused(&w, -ENOTSUP, "sample: node 1 (Loop, my_loop): control flow is not supported");

	begin_conv(&w);
	node = onnx_node(&w, "Relu", "y", "z");
	node->domain = (char *)"some.where";
	onnx_output(&w, "z");
	refused(&w, -ENOTSUP, "of some.where is not supported");

	onnx_begin(&w, 99);
	onnx_output(&w, "z");
	refused(&w, -ENOTSUP, "opset 99");

	begin_conv(&w);
	onnx_node(&w, "Relu", "nothing", "z");
	onnx_output(&w, "z");
	refused(&w, -EINVAL, "not computed before");

	begin_conv(&w);
	onnx_node(&w, "Relu", "x", "y");
	onnx_output(&w, "y");
	refused(&w, -EINVAL, "computed twice");

	begin_conv(&w);
	onnx_output(&w, "z");
	refused(&w, -EINVAL, "output z is never computed");

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,3,0,0");
	onnx_output(&w, "x");
	refused(&w, -ENOTSUP, "only the first may be left open");

	begin_conv(&w);
	w.tensor[0]->raw_data.len -= 4;
	onnx_output(&w, "y");
	refused(&w, -EINVAL, "bytes, its shape says");
}

/* A message in a message in a message would take the decoder's stack. */
static void test_deep_nesting(void **state)
{
	enum { DEPTH = 100000, ROOM = 16 * DEPTH };
	static const u8 keys[] = { 1 << 3 | 2, 5 << 3 | 2, 6 << 3 | 2 }; /* node, attribute, g */
	u8 *data = malloc(ROOM), *at = data + ROOM;
	size_t length = 0;
	u32 i;

	for (i = 0; i < DEPTH; i++) {
		u8 header[8] = { i + 1 == DEPTH ? 7 << 3 | 2 : keys[2 - i % 3] };
		u32 n = 1;
		size_t rest = length;

		do {
			header[n++] = (u8)(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0);
			rest >>= 7;
		} while (rest);
		at -= n;
		memcpy(at, header, n);
		length += n;
	}
	diag.text[0] = '\0';
	assert_int_equal(npu_import_onnx(at, length, "deep", NULL, &graph, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "nested too deeply"));
	free(data);
}

static void test_truncated(void **state)
{
	struct onnx_writer w;
	size_t bytes, i;
	u8 *data;

	onnx_qdq_conv(&w, UINT8, true);
	onnx_node(&w, "QuantizeLinear", "y,s,z", "yq");
	onnx_output(&w, "yq");
	data = onnx_end(&w, &bytes);
	for (i = 0; i < bytes; i++) {
		u8 *part = malloc(i + 1);

		memcpy(part, data, i);
		diag.text[0] = '\0';
		if (npu_import_onnx(part, i, "part", NULL, &graph, &diag) == 0)
			npu_graph_free(graph);
		else
			assert_true(diag.text[0]);
		free(part);
	}
	graph = NULL;
	free(data);
}

static void add_external(Onnx__TensorProto *t, Onnx__StringStringEntryProto *entry,
			 Onnx__StringStringEntryProto **list, const char *path)
{
	onnx__string_string_entry_proto__init(entry);
	entry->key = (char *)"location";
	entry->value = (char *)(uintptr_t)path;
	list[0] = entry;
	t->has_raw_data = false;
	t->has_data_location = true;
	t->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
	t->n_external_data = 1;
	t->external_data = list;
}

/* Data beside the model is read; data elsewhere is not, by whatever way the path leads there. */
static void test_external(void **state)
{
	static const char *const paths[] = { "sub/data",	"../data", "/etc/passwd", "link",
					     "sub/../sub/data", "short",   "missing",	  "sub" };
	char folder[] = "/tmp/test_onnx.XXXXXX", path[256], file[256];
	float values[54];
	u32 i;
	FILE *out;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/sub", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	for (i = 0; i < 54; i++)
		values[i] = (float)i;
	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), i ? "%s/short" : "%s/sub/data", folder);
		out = fopen(path, "wb");
		assert_int_equal(fwrite(values, 4, i ? 10 : 54, out), i ? 10 : 54);
		fclose(out);
	}
	snprintf(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink("sub/data", path), 0);
	snprintf(file, sizeof(file), "%s/model.onnx", folder);
	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		Onnx__StringStringEntryProto entry, *list[1];
		struct onnx_writer w;

		begin_conv(&w);
		add_external(w.tensor[0], &entry, list, paths[i]);
		onnx_output(&w, "y");
		if (i) {
			assert_int_equal(import_as(&w, file), -EINVAL);
			assert_non_null(strstr(diag.text, "external data"));
			continue;
		}
		assert_int_equal(import_as(&w, file), 0);
		assert_true(((const float *)npu_op_input(graph, op_of(NPU_OP_CONV), 1)->data)[1] ==
			    9);
		npu_graph_free(graph);
		graph = NULL;
	}
	snprintf(path, sizeof(path), "%s/sub/data", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sub", folder);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/short", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/link", folder);
	unlink(path);
	rmdir(folder);
}

/* Fills are paid from a budget of their own. */
static void test_expansion_limit(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_int64s(&w, "shape", "1024,1024,1024");
	onnx_node(&w, "ConstantOfShape", "shape", "y");
	onnx_output(&w, "y");
	refused(&w, -ENOTSUP, "1 GiB of constants");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_given_shapes, teardown),
		cmocka_unit_test_teardown(test_bad_shapes, teardown),
		cmocka_unit_test_teardown(test_conv, teardown),
		cmocka_unit_test_teardown(test_reduce_layout, teardown),
		cmocka_unit_test_teardown(test_same_padding, teardown),
		cmocka_unit_test_teardown(test_folding, teardown),
		cmocka_unit_test_teardown(test_folding_alias, teardown),
		cmocka_unit_test_teardown(test_qdq, teardown),
		cmocka_unit_test_teardown(test_half_quantised, teardown),
		cmocka_unit_test_teardown(test_qlinear_conv, teardown),
		cmocka_unit_test_teardown(test_requantised_pool, teardown),
		cmocka_unit_test_teardown(test_shape_arithmetic, teardown),
		cmocka_unit_test_teardown(test_refusals, teardown),
		cmocka_unit_test_teardown(test_deep_nesting, teardown),
		cmocka_unit_test_teardown(test_truncated, teardown),
		cmocka_unit_test_teardown(test_external, teardown),
		cmocka_unit_test_teardown(test_expansion_limit, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
