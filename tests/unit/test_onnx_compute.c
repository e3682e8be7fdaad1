// SPDX-License-Identifier: MIT
/* Nodes of ONNX that only read constants are computed when a model is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>

#include <cmocka.h>

#include "graph.h"
#include "onnx_writer.h"
#include "reference.h"

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define UINT8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8
#define INT64 ONNX__TENSOR_PROTO__DATA_TYPE__INT64

static struct npu_graph *graph;
static struct npu_diag diag;

static int finish(struct onnx_writer *w)
{
	size_t bytes;
	u8 *data = onnx_end(w, &bytes);
	int error;

	assert_non_null(data);
	diag.text[0] = '\0';
	graph = NULL;
	error = npu_import_onnx(data, bytes, "test.onnx", NULL, &graph, &diag);
	free(data);
	return error;
}

static void good(struct onnx_writer *w)
{
	if (finish(w))
		fail_msg("%s", diag.text);
}

static int teardown(void **state)
{
	npu_graph_free(graph);
	graph = NULL;
	return 0;
}

static void begin(struct onnx_writer *w)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "1,2,3,5");
}

static void cast(struct onnx_writer *w, const char *in, const char *out, s32 to)
{
	onnx_node(w, "Cast", in, out);
	onnx_attribute_int(w, "to", to);
}

/* PyTorch's interpolate(scale_factor=2.5): the size is worked out from the input's. */
static void test_interpolation(void **state)
{
	static const u32 dim[] = { 1, 2, 7, 12 };
	struct onnx_writer w;

	begin(&w);
	onnx_int64s(&w, "zero", "0");
	onnx_int64s(&w, "two", "2");
	onnx_int64s(&w, "end", "4");
	onnx_scalar(&w, "factor", 2.5f);
	onnx_node(&w, "Shape", "x", "shape");
	onnx_node(&w, "Slice", "shape,two,end", "size");
	cast(&w, "size", "real", FLOAT);
	onnx_node(&w, "Mul", "real,factor", "scaled");
	onnx_node(&w, "Floor", "scaled", "floored");
	cast(&w, "floored", "larger", INT64);
	onnx_node(&w, "Slice", "shape,zero,two", "batch");
	onnx_node(&w, "Concat", "batch,larger", "sizes");
	onnx_attribute_int(&w, "axis", 0);
	onnx_node(&w, "Resize", "x,,,sizes", "y");
	onnx_attribute_text(&w, "mode", "linear");
	onnx_output(&w, "y");
	good(&w);
	assert_memory_equal(graph->tensor[graph->output[0]].dim, dim, sizeof(dim));
}

/* PyTorch's expand(-1, 2, 3, 5): where the wanted size is -1 it is one of a list of ones. */
static void test_expansion(void **state)
{
	static const u32 dim[] = { 1, 2, 3, 5 };
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,2,1,5");
	onnx_int64s(&w, "wanted", "-1,2,3,5");
	onnx_int64s(&w, "minus", "-1");
	onnx_node(&w, "Shape", "wanted", "length");
	onnx_node(&w, "ConstantOfShape", "length", "zeros");
	cast(&w, "zeros", "whole", INT64);
	onnx_int64s(&w, "one", "1");
	onnx_node(&w, "Add", "whole,one", "ones");
	onnx_node(&w, "Mul", "ones,minus", "negative");
	onnx_node(&w, "Equal", "wanted,negative", "open");
	onnx_node(&w, "Where", "open,ones,wanted", "size");
	onnx_node(&w, "Expand", "x,size", "y");
	onnx_output(&w, "y");
	good(&w);
	assert_memory_equal(graph->tensor[graph->output[0]].dim, dim, sizeof(dim));
}

/* The value that a computation of two integers has, as the size of a dimension. */
static void check_whole(const char *op, const char *a, const char *b, s64 value)
{
	struct onnx_writer w;
	const s64 *data;

	begin(&w);
	onnx_int64s(&w, "a", a);
	onnx_int64s(&w, "b", b);
	onnx_node(&w, op, *b ? "a,b" : "a", "c");
	cast(&w, "c", "y", INT64);
	onnx_output(&w, "y");
	good(&w);
	data = graph->tensor[graph->output[0]].data;
	assert_non_null(data);
	if (data[0] != value)
		fail_msg("%s of %s and %s is %lld, not %lld", op, a, b, (long long)data[0],
			 (long long)value);
	teardown(NULL);
}

static void test_whole_numbers(void **state)
{
	check_whole("Add", "7", "-9", -2);
	check_whole("Sub", "7", "-9", 16);
	check_whole("Mul", "7", "-9", -63);
	check_whole("Div", "-7", "2", -3);
	check_whole("Mod", "-7", "3", 2);
	check_whole("Mod", "7", "-3", -2);
	check_whole("Mod", "-6", "3", 0);
	check_whole("Min", "7", "-9", -9);
	check_whole("Max", "7", "-9", 7);
	check_whole("Neg", "7", "", -7);
	check_whole("Abs", "-7", "", 7);
	check_whole("Equal", "7", "7", 1);
	check_whole("Less", "7", "7", 0);
	check_whole("LessOrEqual", "7", "7", 1);
	check_whole("Greater", "8", "7", 1);
	check_whole("GreaterOrEqual", "6", "7", 0);
}

static void test_logic(void **state)
{
	static const struct {
		const char *op;
		u8 truth[4]; /* of no no, no yes, yes no, yes yes */
	} cases[] = {
		{ "And", { 0, 0, 0, 1 } },
		{ "Or", { 0, 1, 1, 1 } },
		{ "Xor", { 0, 1, 1, 0 } },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct onnx_writer w;

		begin(&w);
		onnx_int64s(&w, "a", "0,0,1,1");
		onnx_int64s(&w, "b", "0,1,0,1");
		onnx_int64s(&w, "none", "0");
		onnx_node(&w, "Greater", "a,none", "p");
		onnx_node(&w, "Greater", "b,none", "q");
		onnx_node(&w, cases[i].op, "p,q", "y");
		onnx_node(&w, "Not", "y", "z");
		onnx_output(&w, "y");
		onnx_output(&w, "z");
		good(&w);
		assert_memory_equal(graph->tensor[graph->output[0]].data, cases[i].truth, 4);
		assert_int_equal(*(const u8 *)graph->tensor[graph->output[1]].data,
				 !cases[i].truth[0]);
		teardown(NULL);
	}
}

static void test_real_numbers(void **state)
{
	static const struct {
		const char *op;
		float a, b, value;
		bool one;
	} cases[] = {
		{ "Add", 1.5f, 2, 3.5f, false },    { "Sub", 1.5f, 2, -0.5f, false },
		{ "Mul", 1.5f, 2, 3, false },	    { "Div", 1.5f, 2, 0.75f, false },
		{ "Pow", 1.5f, 2, 2.25f, false },   { "Min", 1.5f, 2, 1.5f, false },
		{ "Max", 1.5f, 2, 2, false },	    { "Floor", -1.5f, 0, -2, true },
		{ "Ceil", -1.5f, 0, -1, true },	    { "Round", 2.5f, 0, 2, true },
		{ "Sqrt", 2.25f, 0, 1.5f, true },   { "Reciprocal", 4, 0, 0.25f, true },
		{ "Exp", 1, 0, 2.71828183f, true }, { "Log", 2.71828183f, 0, 1, true },
		{ "Neg", 4, 0, -4, true },	    { "Abs", -4, 0, 4, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct onnx_writer w;

		begin(&w);
		onnx_scalar(&w, "a", cases[i].a);
		onnx_scalar(&w, "b", cases[i].b);
		onnx_node(&w, cases[i].op, cases[i].one ? "a" : "a,b", "y");
		onnx_output(&w, "y");
		good(&w);
		if (fabsf(*(const float *)graph->tensor[graph->output[0]].data - cases[i].value) >
		    1e-6f)
			fail_msg("%s", cases[i].op);
		teardown(NULL);
	}
}

static void test_broadcast(void **state)
{
	static const float expected[] = { 0, 1, 2, 10, 11, 12 };
	struct onnx_writer w;

	begin(&w);
	onnx_floats(&w, "a", "2,1", (const float[]){ 0, 10 });
	onnx_floats(&w, "b", "3", (const float[]){ 0, 1, 2 });
	onnx_node(&w, "Add", "a,b", "y");
	onnx_output(&w, "y");
	good(&w);
	assert_memory_equal(graph->tensor[graph->output[0]].data, expected, sizeof(expected));
}

static void test_range_and_size(void **state)
{
	static const float expected[] = { 3, 2.5f, 2 };
	struct onnx_writer w;

	begin(&w);
	onnx_scalar(&w, "from", 3);
	onnx_scalar(&w, "to", 1.75f);
	onnx_scalar(&w, "step", -0.5f);
	onnx_node(&w, "Range", "from,to,step", "y");
	onnx_node(&w, "Size", "x", "n");
	onnx_node(&w, "Shape", "x", "part");
	onnx_attribute_int(&w, "start", -3);
	onnx_attribute_int(&w, "end", -1);
	onnx_output(&w, "y");
	onnx_output(&w, "n");
	onnx_output(&w, "part");
	good(&w);
	assert_int_equal(graph->tensor[graph->output[0]].dim[0], 3);
	assert_memory_equal(graph->tensor[graph->output[0]].data, expected, sizeof(expected));
	assert_int_equal(*(const s64 *)graph->tensor[graph->output[1]].data, 30);
	assert_int_equal(graph->tensor[graph->output[2]].dim[0], 2);
	assert_int_equal(((const s64 *)graph->tensor[graph->output[2]].data)[1], 3);
}

static void refused(struct onnx_writer *w, int error, const char *words)
{
	assert_int_equal(finish(w), error);
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in: %s", words, diag.text);
}

static void test_refusals(void **state)
{
	struct onnx_writer w;

	begin(&w);
	onnx_int64s(&w, "a", "9223372036854775807");
	onnx_int64s(&w, "b", "1");
	onnx_node(&w, "Add", "a,b", "y");
	onnx_output(&w, "y");
	refused(&w, -ENOTSUP, "cannot be computed of constants");

	begin(&w);
	onnx_int64s(&w, "a", "1");
	onnx_int64s(&w, "b", "0");
	onnx_node(&w, "Div", "a,b", "y");
	onnx_output(&w, "y");
	refused(&w, -ENOTSUP, "cannot be computed of constants");

	begin(&w);
	onnx_scalar(&w, "a", 1e30f);
	cast(&w, "a", "y", INT64);
	onnx_output(&w, "y");
	refused(&w, -ENOTSUP, "element 0 has no value of type int64");

	begin(&w);
	onnx_scalar(&w, "a", 1);
	onnx_node(&w, "Less", "x,a", "y");
	onnx_output(&w, "y");
	refused(&w, -ENOTSUP, "supported of constants alone, and input 0 (x) is computed");

	begin(&w);
	onnx_scalar(&w, "from", 0);
	onnx_scalar(&w, "to", 1);
	onnx_scalar(&w, "step", 0);
	onnx_node(&w, "Range", "from,to,step", "y");
	onnx_output(&w, "y");
	refused(&w, -ENOTSUP, "in steps of 0");
}

/* An image of bytes, made real numbers in the model. */
static void test_cast_of_bytes(void **state)
{
	struct npu_reference *reference;
	struct onnx_writer w;
	const float *y;
	u8 *x;
	u32 i;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", UINT8, "1,2,3,5");
	onnx_scalar(&w, "half", 0.5f);
	cast(&w, "x", "real", FLOAT);
	onnx_node(&w, "Mul", "real,half", "y");
	onnx_output(&w, "y");
	good(&w);
	assert_int_equal(graph->tensor[graph->input[0]].dtype, NPU_U8);
	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	x = npu_reference_tensor(reference, graph->input[0]);
	for (i = 0; i < 30; i++)
		x[i] = (u8)(i * 9);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	y = npu_reference_tensor(reference, graph->output[0]);
	for (i = 0; i < 30; i++)
		assert_true(y[i] == (float)(u8)(i * 9) * 0.5f);
	npu_reference_free(reference);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_interpolation, teardown),
		cmocka_unit_test_teardown(test_expansion, teardown),
		cmocka_unit_test(test_whole_numbers),
		cmocka_unit_test(test_logic),
		cmocka_unit_test(test_real_numbers),
		cmocka_unit_test_teardown(test_broadcast, teardown),
		cmocka_unit_test_teardown(test_range_and_size, teardown),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test_teardown(test_cast_of_bytes, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
