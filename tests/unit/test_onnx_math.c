// SPDX-License-Identifier: MIT
/* ONNX's arithmetic in forms that the graph has no operator for, against the same made of plain ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../common/onnx_check.h"

/* Behind QuantizeLinear and DequantizeLinear, as UINT8. */
static void quantise(struct onnx_writer *w, const char *from, const char *to, float scale)
{
	char scales[40], zero[40], stored[40], inputs[140];

	snprintf(scales, sizeof(scales), "%s/s", from);
	snprintf(zero, sizeof(zero), "%s/z", from);
	snprintf(stored, sizeof(stored), "%s/i", from);
	onnx_scalar(w, scales, scale);
	onnx_raw(w, zero, UINT8, 1, "", "\x80");
	snprintf(inputs, sizeof(inputs), "%s,%s,%s", from, scales, zero);
	onnx_node(w, "QuantizeLinear", inputs, stored);
	snprintf(inputs, sizeof(inputs), "%s,%s,%s", stored, scales, zero);
	onnx_node(w, "DequantizeLinear", inputs, to);
}

/* ---- Gemm whose C is a column, a matrix, or computed ---- */

static void begin_product(struct onnx_writer *w)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "4,6");
	onnx_input(w, "z", FLOAT, "4,1");
	onnx_floats(w, "w", "6,4", NULL);
	onnx_floats(w, "column", "4,1", NULL);
	onnx_floats(w, "whole", "4,4", NULL);
	onnx_floats(w, "row", "4", NULL);
	onnx_scalar(w, "half", 0.5f);
	onnx_scalar(w, "three", 3);
}

static void one_gemm(const char *c)
{
	struct onnx_writer a, b;
	char inputs[40];

	begin_product(&a);
	snprintf(inputs, sizeof(inputs), "x,w,%s", c);
	onnx_node(&a, "Gemm", inputs, "y");
	onnx_attribute_float(&a, "alpha", 3);
	onnx_attribute_float(&a, "beta", 0.5f);
	onnx_output(&a, "y");

	begin_product(&b);
	snprintf(inputs, sizeof(inputs), "%s,half", c);
	onnx_node(&b, "MatMul", "x,w", "product");
	onnx_node(&b, "Mul", "product,three", "more");
	onnx_node(&b, "Mul", inputs, "less");
	onnx_node(&b, "Add", "more,less", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-4f);
}

static void test_gemm(void **state)
{
	one_gemm("row");
	one_gemm("column");
	one_gemm("whole");
	one_gemm("z");
	one_gemm("half");
}

/* Where everything is quantised there is no scale for what lies between. */
static void test_quantised_gemm(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "4,6");
	onnx_floats(&w, "w", "6,4", NULL);
	onnx_floats(&w, "column", "4,1", NULL);
	quantise(&w, "x", "xq", 0.02f);
	quantise(&w, "w", "wq", 0.02f);
	onnx_node(&w, "Gemm", "xq,wq,column", "p");
	quantise(&w, "p", "y", 0.1f);
	onnx_output(&w, "y");
	onnx_check_refused(&w, "no constant row");
}

/* ---- several quantised operands ---- */

static void begin_several(struct onnx_writer *w)
{
	onnx_begin(w, 13);
	onnx_input(w, "a", FLOAT, "1,3,4,5");
	onnx_input(w, "b", FLOAT, "1,3,4,5");
	onnx_input(w, "c", FLOAT, "3,1,1");
	quantise(w, "a", "aq", 0.013f);
	quantise(w, "b", "bq", 0.02f);
	quantise(w, "c", "cq", 0.007f);
}

/* As one node, and as one of two operands behind the other, in real numbers but for the last rounding. */
static void one_of_several(const char *type, const char *pair, float share)
{
	struct onnx_writer a, b;

	begin_several(&a);
	onnx_node(&a, type, "aq,cq,bq", "r");
	quantise(&a, "r", "y", 0.03f);
	onnx_output(&a, "y");

	begin_several(&b);
	onnx_scalar(&b, "share", share);
	onnx_node(&b, pair, "aq,cq", "first");
	onnx_node(&b, pair, "first,bq", "both");
	onnx_node(&b, "Mul", "both,share", "r");
	quantise(&b, "r", "y", 0.03f);
	onnx_output(&b, "y");
	/* One unit, where operands are brought to the result's scale first. */
	onnx_check_same(&a, &b, 0.0301f);
}

static void test_several(void **state)
{
	one_of_several("Max", "Max", 1);
	one_of_several("Min", "Min", 1);
	one_of_several("Sum", "Add", 1);
	one_of_several("Mean", "Add", 1.0f / 3);
}

/* ---- zeros divided by their own norm ---- */

static void one_zero_norm(int p)
{
	struct onnx_writer a, b;

	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "2,6");
	onnx_floats(&a, "mask", "2,1", (const float[]){ 0, 1 });
	onnx_node(&a, "Mul", "x,mask", "masked");
	onnx_node(&a, "LpNormalization", "masked", "y");
	onnx_attribute_int(&a, "p", p);
	onnx_output(&a, "y");

	/* The same with the first row's norm taken from elsewhere. */
	onnx_begin(&b, 13);
	onnx_input(&b, "x", FLOAT, "2,6");
	onnx_floats(&b, "mask", "2,1", (const float[]){ 0, 1 });
	onnx_node(&b, "LpNormalization", "x", "whole");
	onnx_attribute_int(&b, "p", p);
	onnx_node(&b, "Mul", "whole,mask", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-5f);
}

static void test_zero_norm(void **state)
{
	one_zero_norm(1);
	one_zero_norm(2);
}

/* ---- linear resizing between the ratios of sizes ---- */

/* Each element by a product with a matrix of shares, for rows and for columns. */
static void matrix(struct onnx_writer *w, const char *name, u32 in, u32 out, float scale,
		   bool half_pixel, bool turned)
{
	float shares[16 * 16] = { 0 };
	char dims[20];
	u32 i;

	for (i = 0; i < out; i++) {
		float at = half_pixel ? ((float)i + 0.5f) / scale - 0.5f : (float)i / scale;
		u32 first;

		at = fminf(fmaxf(at, 0), (float)(in - 1));
		first = (u32)at;
		shares[turned ? first * out + i : i * in + first] += 1 - (at - (float)first);
		first += first + 1 < in;
		shares[turned ? first * out + i : i * in + first] += at - floorf(at);
	}
	snprintf(dims, sizeof(dims), turned ? "%u,%u" : "1,1,%u,%u", turned ? in : out,
		 turned ? out : in);
	onnx_floats(w, name, dims, shares);
}

static void one_resize(const char *scales, float y, float x, const char *way, u32 h, u32 w_out)
{
	bool half_pixel = strcmp(way, "asymmetric") != 0;
	struct onnx_writer a, b;

	onnx_begin(&a, 13);
	onnx_input(&a, "x", FLOAT, "1,2,4,6");
	onnx_floats(&a, "scales", "4", (const float[]){ 1, 1, y, x });
	onnx_node(&a, "Resize", scales, "y");
	onnx_attribute_text(&a, "mode", "linear");
	onnx_attribute_text(&a, "coordinate_transformation_mode", way);
	onnx_output(&a, "y");

	onnx_begin(&b, 13);
	onnx_input(&b, "x", FLOAT, "1,2,4,6");
	matrix(&b, "rows", 4, h, y, half_pixel, false);
	matrix(&b, "columns", 6, w_out, x, half_pixel, true);
	onnx_node(&b, "MatMul", "x,columns", "wide");
	onnx_node(&b, "MatMul", "rows,wide", "y");
	onnx_output(&b, "y");
	onnx_check_same(&a, &b, 1e-4f);
}

static void test_resize(void **state)
{
	one_resize("x,,scales", 1.7f, 2.3f, "half_pixel", 6, 13);
	one_resize("x,,scales", 0.6f, 0.4f, "half_pixel", 2, 2);
	one_resize("x,,scales", 1, 1.9f, "asymmetric", 4, 11);
	one_resize("x,,scales", 2.6f, 1, "half_pixel", 10, 6);
	one_resize("x,,scales", 1.3f, 1.6f, "pytorch_half_pixel", 5, 9);
}

/* There is no scale for shares of elements: between QuantizeLinear and DequantizeLinear these are real. */
static void test_quantised_resize(void **state)
{
	struct onnx_writer a, b, *w = &a;

	for (;; w = &b) {
		onnx_begin(w, 13);
		onnx_input(w, "x", FLOAT, "1,2,4,6");
		onnx_floats(w, "scales", "4", (const float[]){ 1, 1, 1.7f, 2.3f });
		quantise(w, "x", "xq", 0.02f);
		/* What is not rounded at once is no part of a quantised operator. */
		onnx_node(w, "Resize", "xq,,scales", "r");
		onnx_attribute_text(w, "mode", "linear");
		if (w == &b)
			onnx_node(w, "Identity", "r", "real");
		quantise(w, w == &a ? "r" : "real", "y", 0.03f);
		onnx_output(w, "y");
		if (w == &b)
			break;
	}
	onnx_check_same(&a, &b, 0.001f);
}

static void test_aligned_corners(void **state)
{
	struct onnx_writer w;

	onnx_begin(&w, 13);
	onnx_input(&w, "x", FLOAT, "1,2,4,6");
	onnx_floats(&w, "scales", "4", (const float[]){ 1, 1, 0.6f, 0.6f });
	onnx_node(&w, "Resize", "x,,scales", "y");
	onnx_attribute_text(&w, "mode", "linear");
	onnx_attribute_text(&w, "coordinate_transformation_mode", "align_corners");
	onnx_output(&w, "y");
	onnx_check_refused(&w, "corners are aligned");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_quantised_gemm),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_zero_norm),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_quantised_resize),
		cmocka_unit_test(test_aligned_corners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
