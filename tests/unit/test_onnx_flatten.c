// SPDX-License-Identifier: MIT
/*
 * Fully connected layers behind flattened images: weights are put into the graph's order, so that
 * features need not be.  Held against the same model with something in between.
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

struct form {
	const char *image, *kernels; /* of the convolution in front */
	const char *product, *weights;
	bool transposed; /* weights are [K][C] */
	const char *flat; /* shape; NULL: Flatten */
};

static const struct form forms[] = {
	{ "1,3,4,5", "4,3,3,3", "Gemm", "7,24", true, NULL },
	{ "1,3,4,5", "4,3,3,3", "Gemm", "24,7", false, NULL },
	{ "1,3,4,5", "4,3,3,3", "MatMul", "24,7", false, "1,24" },
	{ "1,3,4,5", "4,3,3,3", "MatMul", "24,7", false, "1,1,-1" },
	{ "1,3,9", "4,3,3", "MatMul", "28,7", false, "1,28" },
};

/* @apart: the product does not see that its features are an image. */
static void write_form(struct onnx_writer *w, const struct form *form, bool apart)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, form->image);
	onnx_floats(w, "k", form->kernels, NULL);
	onnx_floats(w, "m", form->weights, NULL);
	onnx_node(w, "Conv", "x,k", "c");
	if (form->flat) {
		onnx_int64s(w, "shape", form->flat);
		onnx_node(w, "Reshape", "c,shape", "f");
	} else {
		onnx_node(w, "Flatten", "c", "f");
	}
	if (apart) {
		onnx_scalar(w, "one", 1);
		onnx_node(w, "Mul", "f,one", "g");
	}
	onnx_node(w, form->product, apart ? "g,m" : "f,m", "y");
	if (form->transposed)
		onnx_attribute_int(w, "transB", 1);
	onnx_output(w, "y");
}

static void test_forms(void **state)
{
	struct npu_graph *graph;
	struct onnx_writer a, b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		write_form(&a, &forms[i], false);
		write_form(&b, &forms[i], true);
		onnx_check_same(&a, &b, 1e-5f);
		write_form(&a, &forms[i], false);
		if (onnx_check_import(&a, &graph))
			fail_msg("%s", onnx_check_diag.text);
		/* The one of the model's input is left. */
		assert_int_equal(count_kind(graph, NPU_OP_TRANSPOSE), 1);
		npu_graph_free(graph);
	}
}

/* Whoever else reads the flattened features has them in ONNX's order. */
static void test_other_reader(void **state)
{
	struct npu_graph *graph;
	struct onnx_writer w;

	write_form(&w, &forms[0], false);
	onnx_output(&w, "f");
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	assert_int_equal(count_kind(graph, NPU_OP_TRANSPOSE), 2);
	npu_graph_free(graph);
}

/* Rows of a product are no whole image. */
static void test_rows(void **state)
{
	struct npu_graph *graph;
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,3,4,5");
	onnx_floats(&w, "k", "4,3,3,3", NULL);
	onnx_floats(&w, "m", "3,7", NULL);
	onnx_node(&w, "Conv", "x,k", "c");
	onnx_node(&w, "MatMul", "c,m", "y");
	onnx_output(&w, "y");
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	assert_int_equal(count_kind(graph, NPU_OP_TRANSPOSE), 2);
	npu_graph_free(graph);
}

/* Integers, with a scale for each kernel in the second dimension. */
static void write_quantised(struct onnx_writer *w)
{
	static const float scales[] = { 0.01f, 0.02f, 0.03f };
	static s8 weights[24 * 3];
	u32 i;

	for (i = 0; i < sizeof(weights); i++)
		weights[i] = (s8)(i * 23 % 101) - 50;
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "1,4,2,3");
	onnx_scalar(w, "s", 0.0625f);
	onnx_scalar(w, "t", 0.125f);
	onnx_raw(w, "z", INT8, 1, "", "");
	onnx_floats(w, "ws", "3", scales);
	onnx_raw(w, "wz", INT8, 1, "3", "\0\0\0");
	onnx_raw(w, "w", INT8, 1, "24,3", weights);
	onnx_node(w, "QuantizeLinear", "x,s,z", "q");
	onnx_node(w, "DequantizeLinear", "q,s,z", "d");
	onnx_node(w, "MaxPool", "d", "p");
	onnx_attribute_ints(w, "kernel_shape", "1,1");
	onnx_node(w, "QuantizeLinear", "p,s,z", "pq");
	onnx_node(w, "DequantizeLinear", "pq,s,z", "pd");
	onnx_node(w, "Flatten", "pd", "f");
	onnx_node(w, "QuantizeLinear", "f,s,z", "fq");
	onnx_node(w, "DequantizeLinear", "fq,s,z", "fd");
	onnx_node(w, "DequantizeLinear", "w,ws,wz", "wd");
	onnx_attribute_int(w, "axis", 1);
	onnx_node(w, "MatMul", "fd,wd", "m");
	onnx_node(w, "QuantizeLinear", "m,t,z", "mq");
	onnx_node(w, "DequantizeLinear", "mq,t,z", "y");
	onnx_output(w, "y");
}

static void test_quantised(void **state)
{
	struct npu_graph *graph;
	struct onnx_writer w;
	const struct npu_tensor *weights;
	u32 i, k;

	write_quantised(&w);
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	for (i = 0; i < graph->op_count && graph->op[i].kind != NPU_OP_FULLY_CONNECTED; i++)
		;
	assert_true(i < graph->op_count);
	weights = npu_op_input(graph, &graph->op[i], 1);
	assert_int_equal(weights->dtype, NPU_I8);
	assert_int_equal(weights->quant.count, 3);
	assert_int_equal(weights->quant.axis, 0);
	/* Column h, w, c of kernel k was row c, h, w. */
	for (k = 0; k < 3; k++)
		for (i = 0; i < 24; i++) {
			u32 c = i % 4, hw = i / 4, row = c * 6 + hw;

			assert_int_equal(((const s8 *)weights->data)[k * 24 + i],
					 (s8)((row * 3 + k) * 23 % 101) - 50);
		}
	assert_int_equal(count_kind(graph, NPU_OP_TRANSPOSE), 1);
	npu_graph_free(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_other_reader),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_quantised),
	};

	return cmocka_run_group_tests_name("onnx_flatten", tests, NULL, NULL);
}
