// SPDX-License-Identifier: MIT
/*
 * ONNX models whose operators carry integers themselves: those with scales as inputs, and those that
 * are quantised while they run.  Each is held against the float model that it stands for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../common/onnx_check.h"

#define MS "com.microsoft"

static void ms_node(struct onnx_writer *w, const char *type, const char *inputs,
		    const char *outputs)
{
	static char domain[] = MS;

	onnx_node(w, type, inputs, outputs)->domain = domain;
}

/* ---- weights: bytes in one model, real numbers in the other ---- */

#define ZERO 120
#define SCALE 0.0625f

/* Bytes around the zero point, for weights of @count elements. */
static void fill_bytes(u8 *bytes, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		bytes[i] = (u8)(ZERO - 14 + i * 11 % 29);
}

static void add_bytes(struct onnx_writer *w, const char *name, const char *dims, u32 count)
{
	static u8 bytes[256];

	assert_true(count <= sizeof(bytes));
	fill_bytes(bytes, count);
	onnx_raw(w, name, UINT8, 1, dims, bytes);
}

static void add_reals(struct onnx_writer *w, const char *name, const char *dims, u32 count,
		      float scale)
{
	static float reals[256];
	static u8 bytes[256];
	u32 i;

	assert_true(count <= ARRAY_SIZE(reals));
	fill_bytes(bytes, count);
	for (i = 0; i < count; i++)
		reals[i] = scale * (float)(bytes[i] - ZERO);
	onnx_floats(w, name, dims, reals);
}

static void add_zero(struct onnx_writer *w, const char *name, u8 zero)
{
	onnx_raw(w, name, UINT8, 1, "", &zero);
}

/* ---- quantised while they run ---- */

static void begin_dynamic(struct onnx_writer *w, const char *dims)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, dims);
	onnx_node(w, "DynamicQuantizeLinear", "x", "q,qs,qz");
	add_zero(w, "wz", ZERO);
	onnx_scalar(w, "ws", SCALE);
}

/* What exporters put behind a product of integers. */
static void end_dynamic(struct onnx_writer *w)
{
	onnx_node(w, "Cast", "i", "f");
	onnx_attribute_int(w, "to", FLOAT);
	onnx_node(w, "Mul", "qs,ws", "scale");
	onnx_node(w, "Mul", "f,scale", "y");
	onnx_output(w, "y");
}

static void test_conv_integer(void **state)
{
	struct onnx_writer a, b;

	begin_dynamic(&a, "1,2,5,5");
	add_bytes(&a, "w", "3,2,3,3", 54);
	onnx_node(&a, "ConvInteger", "q,w,qz,wz", "i");
	onnx_attribute_ints(&a, "pads", "1,1,1,1");
	end_dynamic(&a);

	onnx_begin(&b, 13);
	onnx_input(&b, "x", FLOAT, "1,2,5,5");
	add_reals(&b, "w", "3,2,3,3", 54, SCALE);
	onnx_node(&b, "Conv", "x,w", "y");
	onnx_attribute_ints(&b, "pads", "1,1,1,1");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-4f);
}

static void product_of_reals(struct onnx_writer *w, bool biased)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "2,8");
	add_reals(w, "w", "8,5", 40, SCALE);
	onnx_node(w, "MatMul", "x,w", biased ? "p" : "y");
	if (biased) {
		onnx_floats(w, "bias", "5", NULL);
		onnx_node(w, "Add", "p,bias", "y");
	}
	onnx_output(w, "y");
}

static void test_matmul_integer(void **state)
{
	struct onnx_writer a, b;

	begin_dynamic(&a, "2,8");
	add_bytes(&a, "w", "8,5", 40);
	onnx_node(&a, "MatMulInteger", "q,w,qz,wz", "i");
	end_dynamic(&a);
	product_of_reals(&b, false);
	onnx_check_same(&a, &b, 1e-4f);
}

/* Both scales and the bias in one operator. */
static void test_fused_products(void **state)
{
	struct onnx_writer a, b;

	begin_dynamic(&a, "2,8");
	add_bytes(&a, "w", "8,5", 40);
	onnx_floats(&a, "bias", "5", NULL);
	ms_node(&a, "MatMulIntegerToFloat", "q,w,qs,ws,qz,wz,bias", "y");
	onnx_output(&a, "y");
	product_of_reals(&b, true);
	onnx_check_same(&a, &b, 1e-4f);

	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "2,8");
	add_bytes(&a, "w", "8,5", 40);
	add_zero(&a, "wz", ZERO);
	onnx_scalar(&a, "ws", SCALE);
	onnx_floats(&a, "bias", "5", NULL);
	ms_node(&a, "DynamicQuantizeMatMul", "x,w,ws,wz,bias", "y");
	onnx_output(&a, "y");
	product_of_reals(&b, true);
	onnx_check_same(&a, &b, 1e-4f);
}

/* Signed weights with a scale and a zero point for each channel. */
static void test_channels(void **state)
{
	static const s8 weights[2 * 3] = { 10, -20, 30, -40, 50, -60 }, zeros[3] = { 1, -2, 3 };
	static const float scales[3] = { 0.5f, 0.25f, 0.125f };
	float real[2 * 3];
	struct onnx_writer a, b;
	u32 i;

	for (i = 0; i < 6; i++)
		real[i] = (float)(weights[i] - zeros[i % 3]) * scales[i % 3];
	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "4,2");
	onnx_raw(&a, "w", INT8, 1, "2,3", weights);
	onnx_raw(&a, "wz", INT8, 1, "3", zeros);
	onnx_floats(&a, "ws", "3", scales);
	ms_node(&a, "DynamicQuantizeMatMul", "x,w,ws,wz", "y");
	onnx_output(&a, "y");

	onnx_begin(&b, 13);
	onnx_input(&b, "x", FLOAT, "4,2");
	onnx_floats(&b, "w", "2,3", real);
	onnx_node(&b, "MatMul", "x,w", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-4f);
}

static void test_dynamic_refused(void **state)
{
	struct onnx_writer w;

	begin_dynamic(&w, "2,8");
	onnx_output(&w, "q");
	onnx_check_refused(
		&w,
		"(DynamicQuantizeLinear, q): q is quantised while the model runs and leaves it");

	begin_dynamic(&w, "2,8");
	onnx_node(&w, "Relu", "q", "y");
	onnx_output(&w, "y");
	onnx_check_refused(&w, "q is quantised while the model runs, and read by Relu");

	onnx_begin(&w, 13);
	onnx_input(&w, "q", UINT8, "1,2,5,5");
	add_bytes(&w, "w", "3,2,3,3", 54);
	onnx_node(&w, "ConvInteger", "q,w", "y");
	onnx_output(&w, "y");
	onnx_check_refused(
		&w, "(ConvInteger, y): its input (q) is not computed by DynamicQuantizeLinear");

	begin_dynamic(&w, "2,8");
	onnx_input(&w, "w", UINT8, "8,5");
	onnx_node(&w, "MatMulInteger", "q,w,qz,wz", "i");
	end_dynamic(&w);
	onnx_check_refused(&w, "the weights (w) must be constant 8-bit integers");
}

/* ---- with scales as inputs ---- */

#define STEP 0.0625f

/* "s" and "z": of all values; the input "x" is UINT8. */
static void begin_stored(struct onnx_writer *w, const char *dims)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", UINT8, dims);
	onnx_scalar(w, "s", STEP);
	add_zero(w, "z", ZERO);
	onnx_scalar(w, "s2", 2 * STEP);
	add_zero(w, "z2", 100);
	add_zero(w, "wz", ZERO);
	onnx_scalar(w, "ws", SCALE);
}

/* The same in real numbers: @name is what UINT8 @stored means. */
static void begin_real(struct onnx_writer *w, const char *dims)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", UINT8, dims);
	onnx_scalar(w, "s", STEP);
	add_zero(w, "z", ZERO);
	onnx_node(w, "DequantizeLinear", "x,s,z", "r");
}

static void average(struct onnx_writer *w, const char *pads, bool counted)
{
	onnx_attribute_ints(w, "kernel_shape", "3,2");
	onnx_attribute_ints(w, "strides", "2,2");
	onnx_attribute_ints(w, "pads", pads);
	onnx_attribute_int(w, "count_include_pad", counted);
	onnx_output(w, "y");
}

/* Rounded once, in the result's scale, whether that is coarser than the input's or finer. */
static void test_qlinear_pool(void **state)
{
	static const struct {
		const char *pads;
		bool counted, fine;
	} cases[] = {
		{ "0,0,0,0", false, false },
		{ "0,0,0,0", false, true },
		{ "1,0,1,1", false, true },
		{ "1,0,1,1", true, true },
	};
	struct onnx_writer a, b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_stored(&a, "1,2,7,6");
		onnx_scalar(&a, "s3", STEP / 3);
		add_zero(&a, "z3", 140);
		ms_node(&a, "QLinearAveragePool", cases[i].fine ? "x,s,z,s3,z3" : "x,s,z,s2,z2",
			"y");
		average(&a, cases[i].pads, cases[i].counted);
		begin_real(&b, "1,2,7,6");
		/* What the finer scale does not reach is not compared. */
		onnx_scalar(&b, "low", STEP / 3 * (0 - 140));
		onnx_scalar(&b, "high", STEP / 3 * (255 - 140));
		onnx_node(&b, "AveragePool", "r", cases[i].fine ? "m" : "y");
		average(&b, cases[i].pads, cases[i].counted);
		if (cases[i].fine)
			onnx_node(&b, "Clip", "m,low,high", "y");
		onnx_check_same(&a, &b, cases[i].fine ? STEP / 3 * 0.51f : STEP * 1.01f);
	}

	begin_stored(&a, "1,2,6,6");
	ms_node(&a, "QLinearAveragePool", "x,s,z,s2,z2", "y");
	onnx_attribute_ints(&a, "kernel_shape", "2,2");
	onnx_attribute_int(&a, "channels_last", 1);
	onnx_output(&a, "y");
	onnx_check_refused(&a, "channels_last");
}

static void test_qlinear_concat(void **state)
{
	struct onnx_writer a, b;

	begin_stored(&a, "1,2,4,4");
	ms_node(&a, "QLinearLeakyRelu", "x,s,z,s,z", "l");
	onnx_node(&a, "MaxPool", "l", "p");
	onnx_attribute_ints(&a, "kernel_shape", "3,3");
	onnx_attribute_ints(&a, "pads", "1,1,1,1");
	ms_node(&a, "QLinearConcat", "s2,z2,l,s,z,p,s,z", "y");
	onnx_attribute_int(&a, "axis", 1);
	onnx_output(&a, "y");
	begin_real(&b, "1,2,4,4");
	onnx_node(&b, "LeakyRelu", "r", "l");
	onnx_node(&b, "MaxPool", "l", "p");
	onnx_attribute_ints(&b, "kernel_shape", "3,3");
	onnx_attribute_ints(&b, "pads", "1,1,1,1");
	onnx_node(&b, "Concat", "l,p", "y");
	onnx_attribute_int(&b, "axis", 1);
	onnx_output(&b, "y");
	/* Rounded twice, once in each scale. */
	onnx_check_same(&a, &b, STEP * 1.51f);
}

static void test_qgemm(void **state)
{
	struct onnx_writer a, b;

	begin_stored(&a, "2,8");
	add_bytes(&a, "w", "5,8", 40);
	onnx_scalar(&a, "ys", 0.5f);
	add_zero(&a, "yz", 128);
	ms_node(&a, "QGemm", "x,s,z,w,ws,wz,,ys,yz", "y");
	onnx_attribute_int(&a, "transB", 1);
	onnx_output(&a, "y");
	begin_real(&b, "2,8");
	add_reals(&b, "w", "5,8", 40, SCALE);
	onnx_node(&b, "Gemm", "r,w", "y");
	onnx_attribute_int(&b, "transB", 1);
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 0.26f);

	begin_stored(&a, "2,8");
	add_bytes(&a, "w", "5,8", 40);
	ms_node(&a, "QGemm", "x,s,z,w,ws,wz", "y");
	onnx_output(&a, "y");
	onnx_check_refused(&a, "a result without a scale");
}

static void test_qlinear_softmax(void **state)
{
	struct onnx_writer a, b;

	begin_stored(&a, "2,8");
	onnx_scalar(&a, "ys", 1.0f / 256);
	add_zero(&a, "yz", 0);
	ms_node(&a, "QLinearSoftmax", "x,s,z,ys,yz", "y");
	onnx_attribute_int(&a, "axis", -1);
	onnx_output(&a, "y");
	begin_real(&b, "2,8");
	onnx_node(&b, "Softmax", "r", "y");
	onnx_attribute_int(&b, "axis", -1);
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1.01f / 256);
}

/* Shares of many elements are far below 1/256: the scale that the model gives them holds. */
static void test_fine_softmax(void **state)
{
	struct onnx_writer a, b;

	begin_real(&a, "1,200");
	onnx_node(&a, "Mul", "r,s", "m");
	onnx_node(&a, "Softmax", "m", "f");
	onnx_scalar(&a, "fs", 1.0f / 20000);
	add_zero(&a, "fz", 0);
	onnx_node(&a, "QuantizeLinear", "f,fs,fz", "q");
	onnx_node(&a, "DequantizeLinear", "q,fs,fz", "y");
	onnx_output(&a, "y");
	begin_real(&b, "1,200");
	onnx_node(&b, "Mul", "r,s", "m");
	onnx_node(&b, "Softmax", "m", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 0.51f / 20000);
}

/* A chain as quantisers write it: what only moves elements has bytes without a scale. */
static void test_qlinear_chain(void **state)
{
	struct onnx_writer a, b;

	begin_stored(&a, "1,2,6,6");
	add_bytes(&a, "w", "4,2,3,3", 72);
	onnx_node(&a, "QLinearConv", "x,s,z,w,ws,wz,s2,z2", "c");
	onnx_node(&a, "MaxPool", "c", "p");
	onnx_attribute_ints(&a, "kernel_shape", "2,2");
	onnx_node(&a, "Transpose", "p", "t");
	onnx_node(&a, "Flatten", "t", "f");
	onnx_scalar(&a, "ys", 4);
	ms_node(&a, "QLinearMul", "f,s2,z2,f,s2,z2,ys,z2", "y");
	onnx_output(&a, "y");
	begin_real(&b, "1,2,6,6");
	add_reals(&b, "w", "4,2,3,3", 72, SCALE);
	onnx_node(&b, "Conv", "r,w", "c0");
	onnx_scalar(&b, "s2", 2 * STEP);
	add_zero(&b, "z2", 100);
	onnx_node(&b, "QuantizeLinear", "c0,s2,z2", "c1");
	onnx_node(&b, "DequantizeLinear", "c1,s2,z2", "c");
	onnx_node(&b, "MaxPool", "c", "p");
	onnx_attribute_ints(&b, "kernel_shape", "2,2");
	onnx_node(&b, "Transpose", "p", "t");
	onnx_node(&b, "Flatten", "t", "f");
	onnx_node(&b, "Mul", "f,f", "y0");
	onnx_scalar(&b, "ys", 4);
	onnx_node(&b, "QuantizeLinear", "y0,ys,z2", "y1");
	onnx_node(&b, "DequantizeLinear", "y1,ys,z2", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 4 * 1.01f);
}

/* ---- one scale for operands and result ---- */

/* Two values of different ranges into "m" by @type; @stored: the result in coarser units that cover both. */
static void join_ranges(struct onnx_writer *w, const char *type, bool stored)
{
	begin_real(w, "1,2,4,4");
	add_bytes(w, "wide", "1,2,4,4", 32);
	onnx_scalar(w, "ws", 1);
	add_zero(w, "wz", ZERO);
	onnx_node(w, "DequantizeLinear", "wide,ws,wz", "o");
	onnx_node(w, type, "r,o", stored ? "m" : "y");
	if (stored) {
		onnx_scalar(w, "ms", 0.25f);
		add_zero(w, "mz", 128);
		onnx_node(w, "QuantizeLinear", "m,ms,mz", "q");
		onnx_node(w, "DequantizeLinear", "q,ms,mz", "y");
	}
	onnx_output(w, "y");
}

/* The first operand's range is not all that the result may need. */
static void test_max_of_ranges(void **state)
{
	static const char *const types[] = { "Max", "Min" };
	struct onnx_writer a, b;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		join_ranges(&a, types[i], true);
		join_ranges(&b, types[i], false);
		/* The reference rounds twice. */
		onnx_check_same(&a, &b, 0.19f);
	}
}

static void pad_value(struct onnx_writer *w, const char *from, float value, const char *to)
{
	onnx_int64s(w, "pads", "0,0,1,0,0,0,2,1");
	onnx_scalar(w, "value", value);
	onnx_node(w, "Pad", from, to);
	onnx_attribute_text(w, "mode", "constant");
}

/* What is put around may lie beyond the input's range. */
static void test_pad_beyond(void **state)
{
	struct onnx_writer a, b;

	begin_real(&a, "1,2,4,4");
	pad_value(&a, "r,pads,value", -12.3f, "m");
	onnx_scalar(&a, "ms", 0.25f);
	add_zero(&a, "mz", 128);
	onnx_node(&a, "QuantizeLinear", "m,ms,mz", "q");
	onnx_node(&a, "DequantizeLinear", "q,ms,mz", "y");
	onnx_output(&a, "y");
	begin_real(&b, "1,2,4,4");
	pad_value(&b, "r,pads,value", -12.3f, "y");
	onnx_output(&b, "y");
	/* The reference rounds twice. */
	onnx_check_same(&a, &b, 0.19f);
}

static void begin_float(struct onnx_writer *w, const char *dims)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, dims);
	onnx_scalar(w, "s", STEP);
	add_zero(w, "z", ZERO);
	onnx_node(w, "QuantizeLinear", "x,s,z", "q");
}

/* Bytes are put around bytes; what is not given is the byte 0, whatever it stands for. */
static void test_pad_stored(void **state)
{
	struct onnx_writer a, b;
	u32 i;

	for (i = 0; i < 2; i++) {
		begin_float(&a, "1,2,4,4");
		onnx_int64s(&a, "pads", "0,0,1,0,0,0,2,1");
		add_zero(&a, "value", 7);
		onnx_node(&a, "Pad", i ? "q,pads,value" : "q,pads", "p");
		onnx_node(&a, "DequantizeLinear", "p,s,z", "y");
		onnx_output(&a, "y");
		begin_float(&b, "1,2,4,4");
		onnx_node(&b, "DequantizeLinear", "q,s,z", "r");
		pad_value(&b, "r,pads,value", STEP * ((i ? 7 : 0) - ZERO), "y");
		onnx_output(&b, "y");
		onnx_check_same(&a, &b, 1e-6f);
	}
}

/* ---- control flow ---- */

static void test_control_flow(void **state)
{
	static const char *const names[] = { "If", "Loop", "Scan" };
	char words[80];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct onnx_writer w;

		onnx_begin(&w, 13);
		onnx_input(&w, "x", FLOAT, "2,8");
		onnx_node(&w, names[i], "x", "y");
		onnx_output(&w, "y");
		snprintf(words, sizeof(words), "node 0 (%s, y): control flow is not supported",
			 names[i]);
		onnx_check_refused(&w, words);
	}
}

/* Constants are computed when the model is read. */
static void test_float_constants(void **state)
{
	static const float column[] = { 1, 2 }, row[] = { 10, 20, 30 },
			   sums[] = { 11, 21, 31, 12, 22, 32 };
	struct npu_graph *graph;
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "4,2");
	onnx_floats(&w, "c", "2,1", column);
	onnx_floats(&w, "r", "3", row);
	onnx_node(&w, "Add", "c,r", "m");
	onnx_node(&w, "MatMul", "x,m", "y");
	onnx_output(&w, "y");
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	assert_int_equal(graph->op_count, 1);
	/* Weights are [K][C] in the graph. */
	assert_true(((const float *)npu_op_input(graph, &graph->op[0], 1)->data)[1] == sums[3]);
	assert_true(((const float *)npu_op_input(graph, &graph->op[0], 1)->data)[4] == sums[2]);
	npu_graph_free(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conv_integer),	cmocka_unit_test(test_matmul_integer),
		cmocka_unit_test(test_fused_products),	cmocka_unit_test(test_channels),
		cmocka_unit_test(test_dynamic_refused), cmocka_unit_test(test_qlinear_pool),
		cmocka_unit_test(test_qlinear_concat),	cmocka_unit_test(test_qgemm),
		cmocka_unit_test(test_qlinear_softmax), cmocka_unit_test(test_qlinear_chain),
		cmocka_unit_test(test_fine_softmax),	cmocka_unit_test(test_max_of_ranges),
		cmocka_unit_test(test_pad_beyond),	cmocka_unit_test(test_pad_stored),
		cmocka_unit_test(test_control_flow),	cmocka_unit_test(test_float_constants),
	};

	return cmocka_run_group_tests_name("onnx_integer", tests, NULL, NULL);
}
