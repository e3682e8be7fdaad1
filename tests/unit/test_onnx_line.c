// SPDX-License-Identifier: MIT
/*
 * ONNX models of sequences: values of rank 3 are images of height 1.  Each is held against the same
 * model with values of rank 4.  And windows and padding that can be written in two ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../common/onnx_check.h"

static u32 count_kind(const struct npu_graph *graph, enum npu_op_kind kind)
{
	u32 i, n = 0;

	for (i = 0; i < graph->op_count; i++)
		n += graph->op[i].kind == kind;
	return n;
}

/* Convolutions, a batch norm that folds and one that does not, sums, pooling. */
static void write_net(struct onnx_writer *w, bool line)
{
	static const float positive[] = { 1, 2, 0.5f, 3, 1.5f };

	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, line ? "1,3,20" : "1,3,1,20");
	onnx_floats(w, "w1", line ? "5,3,3" : "5,3,1,3", NULL);
	onnx_floats(w, "b", "5", NULL);
	onnx_floats(w, "v", "5", positive);
	onnx_floats(w, "each", line ? "5,1" : "5,1,1", NULL);
	onnx_floats(w, "w2", line ? "5,1,4" : "5,1,1,4", NULL);
	onnx_node(w, "Conv", "x,w1,b", "c1");
	onnx_attribute_ints(w, "pads", line ? "1,1" : "0,1,0,1");
	onnx_node(w, "BatchNormalization", "c1,b,b,b,v", "n1");
	onnx_node(w, "Relu", "n1", "r");
	onnx_node(w, "BatchNormalization", "r,v,b,b,v", "n2");
	onnx_node(w, "Conv", "n2,w2", "c2");
	onnx_attribute_int(w, "group", 5);
	onnx_attribute_ints(w, "dilations", line ? "2" : "1,2");
	onnx_attribute_ints(w, "strides", line ? "1" : "1,1");
	onnx_attribute_text(w, "auto_pad", "SAME_UPPER");
	onnx_node(w, "Add", "c2,n2", "s");
	onnx_node(w, "Mul", "s,each", "m");
	onnx_node(w, "MaxPool", "m", "p");
	onnx_attribute_ints(w, "kernel_shape", line ? "3" : "1,3");
	onnx_attribute_ints(w, "strides", line ? "2" : "1,2");
	onnx_node(w, "AveragePool", "p", "a");
	onnx_attribute_ints(w, "kernel_shape", line ? "2" : "1,2");
}

static void test_net(void **state)
{
	struct onnx_writer a, b;

	write_net(&a, true);
	onnx_output(&a, "a");
	write_net(&b, false);
	onnx_output(&b, "a");
	onnx_check_same(&a, &b, 1e-5f);
}

static void test_global_pools(void **state)
{
	static const char *const pools[] = { "GlobalAveragePool", "GlobalMaxPool" };
	struct onnx_writer a, b;
	u32 i;

	for (i = 0; i < 2; i++) {
		write_net(&a, true);
		onnx_node(&a, pools[i], "a", "g");
		onnx_node(&a, "Flatten", "g", "y");
		onnx_output(&a, "y");
		write_net(&b, false);
		onnx_node(&b, pools[i], "a", "g");
		onnx_node(&b, "Flatten", "g", "y");
		onnx_output(&b, "y");
		onnx_check_same(&a, &b, 1e-5f);
	}
}

static void write_transposed(struct onnx_writer *w, bool line)
{
	write_net(w, line);
	onnx_floats(w, "wt", line ? "5,3,4" : "5,3,1,4", NULL);
	onnx_floats(w, "bt", "3", NULL);
	onnx_node(w, "ConvTranspose", "a,wt,bt", "y");
	onnx_attribute_ints(w, "strides", line ? "2" : "1,2");
	onnx_attribute_ints(w, "pads", line ? "1,0" : "0,1,0,0");
	onnx_attribute_ints(w, "output_padding", line ? "1" : "0,1");
	onnx_output(w, "y");
}

static void test_transposed_convolution(void **state)
{
	struct onnx_writer a, b;

	write_transposed(&a, true);
	write_transposed(&b, false);
	onnx_check_same(&a, &b, 1e-5f);
}

/* What needs the order of the file gets it: a product over the last dimension, a concatenation. */
static void test_mixed_orders(void **state)
{
	struct onnx_writer a, b;

	write_net(&a, true);
	onnx_node(&a, "Concat", "m,m", "t");
	onnx_attribute_int(&a, "axis", 1);
	onnx_floats(&a, "p8", "20,4", NULL);
	onnx_node(&a, "MatMul", "t,p8", "y");
	onnx_output(&a, "y");
	write_net(&b, false);
	onnx_node(&b, "Concat", "m,m", "t");
	onnx_attribute_int(&b, "axis", 1);
	onnx_floats(&b, "p8", "20,4", NULL);
	onnx_node(&b, "MatMul", "t,p8", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-4f);
}

/* Nothing is turned round between one operator and the next. */
static void test_transposes(void **state)
{
	struct npu_graph *graph;
	struct onnx_writer w;

	write_net(&w, true);
	onnx_output(&w, "a");
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	assert_int_equal(count_kind(graph, NPU_OP_TRANSPOSE), 2);
	assert_int_equal(graph->tensor[graph->output[0]].rank, 3);
	npu_graph_free(graph);
}

/* The same between integers: weights keep a scale for each kernel. */
static void write_quantised(struct onnx_writer *w, bool line)
{
	static const float scales[] = { 0.01f, 0.02f, 0.015f };
	static s8 weights[3 * 2 * 3];
	u32 i;

	for (i = 0; i < sizeof(weights); i++)
		weights[i] = (s8)(i * 23 % 101) - 50;
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, line ? "1,2,12" : "1,2,1,12");
	onnx_scalar(w, "s", 0.0625f);
	onnx_raw(w, "z", INT8, 1, "", "");
	onnx_floats(w, "ws", "3", scales);
	onnx_raw(w, "wz", INT8, 1, "3", "\0\0\0");
	onnx_raw(w, "w", INT8, 1, line ? "3,2,3" : "3,2,1,3", weights);
	onnx_node(w, "QuantizeLinear", "x,s,z", "q");
	onnx_node(w, "DequantizeLinear", "q,s,z", "d");
	onnx_node(w, "DequantizeLinear", "w,ws,wz", "wd");
	onnx_attribute_int(w, "axis", 0);
	onnx_node(w, "Conv", "d,wd", "c");
	onnx_node(w, "QuantizeLinear", "c,s,z", "cq");
	onnx_node(w, "DequantizeLinear", "cq,s,z", "y");
	onnx_output(w, "y");
}

static void test_quantised(void **state)
{
	struct npu_graph *graph;
	struct onnx_writer a, b;
	u32 i;

	write_quantised(&a, true);
	write_quantised(&b, false);
	onnx_check_same(&a, &b, 0);
	write_quantised(&a, true);
	if (onnx_check_import(&a, &graph))
		fail_msg("%s", onnx_check_diag.text);
	for (i = 0; i < graph->op_count && graph->op[i].kind != NPU_OP_CONV; i++)
		;
	assert_true(i < graph->op_count);
	assert_int_equal(npu_op_output(graph, &graph->op[i])->dtype, NPU_I8);
	assert_int_equal(npu_op_input(graph, &graph->op[i], 1)->quant.count, 3);
	npu_graph_free(graph);
}

/* With ceil_mode the last window reaches behind the padding, which counts; what is there does not. */
static void test_counted_padding(void **state)
{
	struct onnx_writer a, b;

	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "1,2,6,8");
	onnx_node(&a, "AveragePool", "x", "y");
	onnx_attribute_ints(&a, "kernel_shape", "4,3");
	onnx_attribute_ints(&a, "strides", "3,3");
	onnx_attribute_ints(&a, "pads", "1,1,1,0");
	onnx_attribute_int(&a, "ceil_mode", 1);
	onnx_attribute_int(&a, "count_include_pad", 1);
	onnx_output(&a, "y");

	onnx_begin(&b, 13);
	onnx_input(&b, "x", FLOAT, "1,2,6,8");
	onnx_int64s(&b, "pads", "0,0,1,1,0,0,1,0");
	onnx_node(&b, "Pad", "x,pads", "p");
	onnx_node(&b, "AveragePool", "p", "y");
	onnx_attribute_ints(&b, "kernel_shape", "4,3");
	onnx_attribute_ints(&b, "strides", "3,3");
	onnx_attribute_int(&b, "ceil_mode", 1);
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-6f);
}

/* Padding below zero takes away. */
static void test_cropping(void **state)
{
	struct onnx_writer a, b;

	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "1,2,6,8");
	onnx_int64s(&a, "pads", "0,0,-2,1,0,-1,-1,-3");
	onnx_scalar(&a, "value", 5);
	onnx_node(&a, "Pad", "x,pads,value", "y");
	onnx_output(&a, "y");

	onnx_begin(&b, 13);
	onnx_input(&b, "x", FLOAT, "1,2,6,8");
	onnx_int64s(&b, "from", "0,2,0");
	onnx_int64s(&b, "to", "1,5,5");
	onnx_int64s(&b, "axes", "1,2,3");
	onnx_node(&b, "Slice", "x,from,to,axes", "s");
	onnx_int64s(&b, "pads", "0,0,0,1,0,0,0,0");
	onnx_scalar(&b, "value", 5);
	onnx_node(&b, "Pad", "s,pads,value", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-6f);

	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "1,2,6,8");
	onnx_int64s(&a, "pads", "0,0,-4,0,0,0,-2,0");
	onnx_node(&a, "Pad", "x,pads", "y");
	onnx_output(&a, "y");
	onnx_check_refused(&a, "padding of -4 and -2");
}

/*
 * A kernel below its stride: size, kernel, stride, and the elements in front of the first window, of a
 * convolution and of pooling, as ONNX Runtime has them.
 */
struct sparse {
	u32 size, kernel, stride, conv, pool;
	const char *auto_pad;
};

static void write_sparse(struct onnx_writer *w, const struct sparse *c, const char *kind, bool cut)
{
	bool conv = !strcmp(kind, "Conv");
	u32 front = conv ? c->conv : c->pool;
	char text[64];

	onnx_begin(w, 13);
	snprintf(text, sizeof(text), "1,2,%u,%u", c->size, c->size);
	onnx_input(w, "x", FLOAT, text);
	snprintf(text, sizeof(text), "3,2,%u,%u", c->kernel, c->kernel);
	onnx_floats(w, "w", text, NULL);
	snprintf(text, sizeof(text), "%u,%u", front, front);
	onnx_int64s(w, "from", text);
	onnx_int64s(w, "to", "99,99");
	onnx_int64s(w, "axes", "2,3");
	onnx_node(w, "Slice", "x,from,to,axes", "cut");
	snprintf(text, sizeof(text), "%s%s", cut ? "cut" : "x", conv ? ",w" : "");
	onnx_node(w, kind, text, "y");
	snprintf(text, sizeof(text), "%u,%u", c->kernel, c->kernel);
	onnx_attribute_ints(w, "kernel_shape", text);
	snprintf(text, sizeof(text), "%u,%u", c->stride, c->stride);
	onnx_attribute_ints(w, "strides", text);
	if (!cut)
		onnx_attribute_text(w, "auto_pad", c->auto_pad);
	onnx_output(w, "y");
}

/* Where less is needed than there is, the windows of SAME keep away from both edges. */
static void test_same_below_stride(void **state)
{
	static const struct sparse cases[] = {
		{ 8, 1, 2, 0, 0, "SAME_UPPER" },  { 8, 1, 2, 0, 0, "SAME_LOWER" },
		{ 11, 1, 4, 0, 1, "SAME_UPPER" }, { 11, 1, 4, 0, 0, "SAME_LOWER" },
		{ 12, 1, 4, 1, 1, "SAME_UPPER" }, { 12, 1, 4, 0, 1, "SAME_LOWER" },
		{ 10, 1, 5, 1, 2, "SAME_UPPER" }, { 10, 1, 5, 1, 1, "SAME_LOWER" },
		{ 15, 2, 5, 1, 1, "SAME_UPPER" }, { 15, 2, 5, 0, 1, "SAME_LOWER" },
	};
	static const char *const kinds[] = { "Conv", "MaxPool", "AveragePool" };
	struct onnx_writer same, cut;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (j = 0; j < ARRAY_SIZE(kinds); j++) {
			write_sparse(&same, &cases[i], kinds[j], false);
			write_sparse(&cut, &cases[i], kinds[j], true);
			onnx_check_same(&same, &cut, 1e-6f);
		}
}

static void test_refused(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,2,12");
	onnx_floats(&w, "w", "3,2,3", NULL);
	onnx_node(&w, "Conv", "x,w", "y");
	onnx_attribute_ints(&w, "strides", "1,2");
	onnx_output(&w, "y");
	onnx_check_refused(&w, "strides has 2 values, not 1");

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,2,12");
	onnx_floats(&w, "w", "3,2,1,3", NULL);
	onnx_node(&w, "Conv", "x,w", "y");
	onnx_output(&w, "y");
	onnx_check_refused(&w, "the weights (w) must be constant, of rank 3");

	onnx_begin(&w, 9);
	onnx_input(&w, "x", FLOAT, "1,2,12");
	onnx_floats(&w, "scales", "3", (const float[]){ 1, 1, 2 });
	onnx_node(&w, "Upsample", "x,scales", "y");
	onnx_output(&w, "y");
	onnx_check_refused(&w, "x has rank 3, not 4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_global_pools),
		cmocka_unit_test(test_transposed_convolution),
		cmocka_unit_test(test_mixed_orders),
		cmocka_unit_test(test_transposes),
		cmocka_unit_test(test_quantised),
		cmocka_unit_test(test_counted_padding),
		cmocka_unit_test(test_cropping),
		cmocka_unit_test(test_same_below_stride),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("onnx_line", tests, NULL, NULL);
}
