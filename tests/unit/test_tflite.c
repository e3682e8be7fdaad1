// SPDX-License-Identifier: MIT
/* The TensorFlow Lite importer: what it makes of good files, and that each damage is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "graph.h"
#include "tflite_writer.h"

static const float scale_in[] = { 0.5f }, scale_out[] = { 0.25f }, scale_bias[] = { 0.125f, 1 };
static const float scales_kernel[] = { 0.25f, 0.125f, 0.5f };
static const s64 zero_in[] = { -3 }, zero_out[] = { 7 };
static const s8 weights[3 * 3 * 3 * 2] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
static const s8 depthwise_weights[2 * 2 * 3] = { 0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 13, 23 };
static const s32 bias[3] = { 100, -100, 0 };
static const s32 new_shape[2] = { 1, 48 };

enum { IN, WEIGHTS, BIAS, CONV, DW_WEIGHTS, DW, SHAPE, OUT, TENSORS };

#define QUANT_IN .scales = 1, .scale = scale_in, .zero = zero_in
#define QUANT_OUT .scales = 1, .scale = scale_out, .zero = zero_out

static const struct tw_tensor tensors[TENSORS] = {
	[IN] = { .name = "in", .type = TW_I8, .rank = 4, .dim = { 1, 8, 8, 2 }, QUANT_IN },
	[WEIGHTS] = { .name = "weights",
		      .type = TW_I8,
		      .rank = 4,
		      .dim = { 3, 3, 3, 2 },
		      .scales = 3,
		      .scale = scales_kernel,
		      .data = weights,
		      .bytes = sizeof(weights) },
	/* A scale that does not fit the shape: a bias is usable all the same. */
	[BIAS] = { .name = "bias",
		   .type = TW_I32,
		   .rank = 1,
		   .dim = { 3 },
		   .scales = 2,
		   .scale = scale_bias,
		   .axis = 3,
		   .data = bias,
		   .bytes = sizeof(bias) },
	[CONV] = { .name = "conv", .type = TW_I8, .rank = 4, .dim = { 1, 4, 4, 3 }, QUANT_OUT },
	[DW_WEIGHTS] = { .name = "dw weights",
			 .type = TW_I8,
			 .rank = 4,
			 .dim = { 1, 2, 2, 3 },
			 .scales = 3,
			 .scale = scales_kernel,
			 .axis = 3,
			 .data = depthwise_weights,
			 .bytes = sizeof(depthwise_weights) },
	[DW] = { .name = "dw", .type = TW_I8, .rank = 4, .dim = { 1, 4, 4, 3 }, QUANT_IN },
	[SHAPE] = { .name = "shape",
		    .type = TW_I32,
		    .rank = 1,
		    .dim = { 2 },
		    .data = new_shape,
		    .bytes = sizeof(new_shape) },
	[OUT] = { .name = "out", .type = TW_I8, .rank = 2, .dim = { 1, 48 }, QUANT_IN },
};

static const struct tw_op ops[] = {
	/* SAME, stride 2, RELU6 */
	{ .code = 3,
	  .inputs = 3,
	  .input = { IN, WEIGHTS, BIAS },
	  .outputs = 1,
	  .output = { CONV },
	  .options_type = 1,
	  .options = 4,
	  .option = { { 0, 0 }, { 1, 2 }, { 2, 2 }, { 3, 3 } } },
	{ .code = 4,
	  .inputs = 3,
	  .input = { CONV, DW_WEIGHTS, -1 },
	  .outputs = 1,
	  .output = { DW },
	  .options_type = 2,
	  .options = 4,
	  .option = { { 0, 0 }, { 1, 1 }, { 2, 1 }, { 3, 1 } } },
	{ .code = 22,
	  .inputs = 2,
	  .input = { DW, SHAPE },
	  .outputs = 1,
	  .output = { OUT },
	  .options_type = 17 },
};

/* A test's own copy, to spoil. */
struct model {
	struct tw_model model;
	struct tw_tensor tensor[TENSORS];
	struct tw_op op[ARRAY_SIZE(ops)];
};

static struct model *new_model(void)
{
	struct model *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	memcpy(m->tensor, tensors, sizeof(tensors));
	memcpy(m->op, ops, sizeof(ops));
	m->model = (struct tw_model){
		.version = 3,
		.tensors = TENSORS,
		.tensor = m->tensor,
		.ops = ARRAY_SIZE(ops),
		.op = m->op,
		.inputs = 1,
		.input = { IN },
		.outputs = 1,
		.output = { OUT },
	};
	return m;
}

/* Imports from memory of exactly the file's size, so that the sanitizer sees a read too far. */
static int import(const u8 *data, size_t bytes, struct npu_graph **graph, struct npu_diag *diag)
{
	diag->text[0] = '\0';
	*graph = NULL;
	return npu_import_tflite(data, bytes, "test.tflite", NULL, graph, diag);
}

static u8 *write_exact(const struct model *m, size_t *bytes)
{
	u8 *data = tw_write(&m->model, bytes);

	assert_non_null(data);
	data = realloc(data, *bytes);
	assert_non_null(data);
	return data;
}

/* Writes, frees and imports; fails unless the message has @words in it. */
static void expect_error(struct model *m, int error, const char *words)
{
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes;
	u8 *data = write_exact(m, &bytes);

	assert_int_equal(import(data, bytes, &graph, &diag), error);
	assert_null(graph);
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in: %s", words, diag.text);
	assert_non_null(strstr(diag.text, "test.tflite"));
	free(data);
	free(m);
}

static void check_conv(const struct npu_graph *graph)
{
	const struct npu_op *op = &graph->op[0];
	const struct npu_tensor *w = npu_op_input(graph, op, 1);

	assert_int_equal(op->kind, NPU_OP_CONV);
	assert_string_equal(op->name, "conv");
	assert_int_equal(op->activation, NPU_ACT_RELU6);
	assert_int_equal(op->groups, 1);
	assert_int_equal(op->window.r, 3);
	assert_int_equal(op->window.stride_y, 2);
	/* SAME with an even size and stride 2: nothing above, one row below. */
	assert_int_equal(op->window.pad_top, 0);
	assert_int_equal(op->window.pad_bottom, 1);
	assert_int_equal(w->quant.count, 3);
	assert_memory_equal(w->data, weights, sizeof(weights));
	assert_memory_equal(npu_op_input(graph, op, 2)->data, bias, sizeof(bias));
}

static void check_depthwise(const struct npu_graph *graph)
{
	const struct npu_op *op = &graph->op[1];
	const struct npu_tensor *w = npu_op_input(graph, op, 1);
	u32 k, tap;

	assert_int_equal(op->kind, NPU_OP_CONV);
	assert_int_equal(op->groups, 3);
	assert_null(npu_op_input(graph, op, 2));
	assert_int_equal(w->dim[0], 3);
	assert_int_equal(w->dim[3], 1);
	assert_int_equal(w->quant.axis, 0);
	for (k = 0; k < 3; k++)
		for (tap = 0; tap < 4; tap++)
			assert_int_equal(((const s8 *)w->data)[k * 4 + tap], k * 10 + tap);
}

static void test_import(void **state)
{
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes;
	u8 *data = write_exact(m, &bytes);

	assert_int_equal(import(data, bytes, &graph, &diag), 0);
	assert_int_equal(graph->op_count, 3);
	assert_int_equal(graph->input[0], IN);
	assert_int_equal(graph->output[0], OUT);
	assert_int_equal(graph->tensor[IN].quant.zero[0], -3);
	check_conv(graph);
	check_depthwise(graph);
	assert_int_equal(graph->op[2].kind, NPU_OP_RESHAPE);
	/* Weights are not copied. */
	assert_in_range((uintptr_t)graph->tensor[WEIGHTS].data, (uintptr_t)data,
			(uintptr_t)data + bytes);
	npu_graph_free(graph);
	free(data);
	free(m);
}

static void test_old_operator_codes(void **state)
{
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes;
	u8 *data;

	m->model.old_codes = true;
	data = write_exact(m, &bytes);
	assert_int_equal(import(data, bytes, &graph, &diag), 0);
	assert_int_equal(graph->op_count, 3);
	npu_graph_free(graph);
	free(data);
	free(m);
}

static void test_unknown_batch_is_one(void **state)
{
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes;
	u8 *data;

	m->tensor[IN].dim[0] = -1;
	data = write_exact(m, &bytes);
	assert_int_equal(import(data, bytes, &graph, &diag), 0);
	assert_int_equal(graph->tensor[IN].dim[0], 1);
	npu_graph_free(graph);
	free(data);
	free(m);
}

/* Every prefix that cuts the last constant or more is damaged. */
static void test_truncated(void **state)
{
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes, n;
	u8 *data = write_exact(m, &bytes), *last;

	last = memmem(data, bytes, new_shape, sizeof(new_shape));
	assert_non_null(last);
	for (n = 0; n < last + sizeof(new_shape) - data; n++) {
		u8 *part = malloc(n + !n);

		assert_non_null(part);
		memcpy(part, data, n);
		assert_int_not_equal(import(part, n, &graph, &diag), 0);
		assert_null(graph);
		assert_int_not_equal(diag.text[0], '\0');
		free(part);
	}
	free(data);
	free(m);
}

/* Each 32-bit word becomes offsets that leave the file, refer backwards or are huge counts. */
static void test_bad_offsets(void **state)
{
	static const u32 values[] = { 0, 1, 3, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff };
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes, at, refused = 0;
	u32 i;
	u8 *data = write_exact(m, &bytes);

	for (at = 0; at + 4 <= bytes; at += 2)
		for (i = 0; i < ARRAY_SIZE(values); i++) {
			u8 saved[4];
			int error;

			memcpy(saved, data + at, 4);
			memcpy(data + at, &values[i], 4);
			error = import(data, bytes, &graph, &diag);
			assert_true(!error == (diag.text[0] == '\0'));
			assert_true(!error == (graph != NULL));
			refused += error != 0;
			npu_graph_free(graph);
			memcpy(data + at, saved, 4);
		}
	assert_true(refused > 100);
	free(data);
	free(m);
}

static void test_not_tflite(void **state)
{
	static const u8 text[16] = "no model at all";
	struct npu_graph *graph;
	struct npu_diag diag;

	assert_int_equal(import(text, sizeof(text), &graph, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "TFL3"));
}

static void test_version(void **state)
{
	struct model *m = new_model();

	m->model.version = 2;
	expect_error(m, -ENOTSUP, "version 2");
}

static void test_unsupported_operator(void **state)
{
	static const struct {
		u8 code;
		const char *words;
	} cases[] = {
		{ 16, "operator 1 (LSTM, output dw): it keeps values" },
		{ 119, "operator 1 (WHILE, output dw): control flow" },
		{ 120, "operator 1 (NON_MAX_SUPPRESSION_V4, output dw): what it picks depends" },
		{ 64, "operator 1 (SELECT, output dw): this operator is not supported" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct model *m = new_model();

		m->op[1].code = cases[i].code;
		m->op[1].options_type = 0;
		expect_error(m, -ENOTSUP, cases[i].words);
	}
}

/* An operator that nothing depends on may be anything. */
static void test_dead_operator(void **state)
{
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes;
	u8 *data;

	m->op[2].code = 16;
	m->model.output[0] = DW;
	data = write_exact(m, &bytes);
	assert_int_equal(import(data, bytes, &graph, &diag), 0);
	assert_int_equal(graph->op_count, 2);
	npu_graph_free(graph);
	free(data);
	free(m);
}

/* The last operator decodes boxes: the outputs are what it reads, locations and scores. */
static void test_detector(void **state)
{
	struct model *m = new_model();
	struct npu_graph *graph;
	struct npu_diag diag;
	size_t bytes;
	u8 *data;

	m->op[2] = (struct tw_op){ .code = 32,
				   .custom = "TFLite_Detection_PostProcess",
				   .inputs = 3,
				   .input = { DW, CONV, WEIGHTS },
				   .outputs = 1,
				   .output = { OUT } };
	m->tensor[OUT].dim[1] = -1; /* as many as are found */
	data = write_exact(m, &bytes);
	assert_int_equal(import(data, bytes, &graph, &diag), 0);
	assert_int_equal(graph->op_count, 2);
	assert_int_equal(graph->output_count, 2);
	assert_int_equal(graph->output[0], DW);
	assert_int_equal(graph->output[1], CONV);
	npu_graph_free(graph);
	free(data);
	m->op[2].custom = "Another";
	expect_error(m, -ENOTSUP, "");
}

static void test_cycle(void **state)
{
	struct model *m = new_model();

	m->op[1].input[0] = DW;
	expect_error(m, -EINVAL, "used before it is computed");
}

static void test_computed_twice(void **state)
{
	struct model *m = new_model();

	m->op[1].output[0] = CONV;
	expect_error(m, -EINVAL, "");
}

static void test_huge_shape(void **state)
{
	struct model *m = new_model();

	m->tensor[IN].dim[1] = 0x7fffffff;
	m->tensor[IN].dim[2] = 0x7fffffff;
	expect_error(m, -ENOTSUP, "its shape is empty, unknown or too large");
}

static void test_empty_shape(void **state)
{
	struct model *m = new_model();

	m->tensor[CONV].dim[2] = 0;
	expect_error(m, -ENOTSUP, "output 0 (conv): its shape is empty");
}

static void test_rank(void **state)
{
	struct model *m = new_model();
	u32 i;

	m->tensor[IN].rank = 8;
	for (i = 0; i < 8; i++)
		m->tensor[IN].dim[i] = 1;
	expect_error(m, -ENOTSUP, "more than 6 dimensions");
}

static void test_wrong_type(void **state)
{
	struct model *m = new_model();

	m->tensor[CONV].type = TW_STRING;
	expect_error(m, -ENOTSUP, "type is not supported");
}

static void test_mixed_types(void **state)
{
	struct model *m = new_model();

	m->tensor[CONV].type = TW_I16;
	m->tensor[CONV].zero = NULL;
	expect_error(m, -EINVAL, "int8 input, float32 output");
}

static void test_float_activations_with_integer_bias(void **state)
{
	struct model *m = new_model();

	m->tensor[IN].type = TW_F32;
	m->tensor[CONV].type = TW_F32;
	expect_error(m, -EINVAL, "int32 bias for float32 input");
}

static void test_shape_mismatch(void **state)
{
	struct model *m = new_model();

	m->tensor[CONV].dim[1] = 5;
	expect_error(m, -EINVAL, "operator 0 (conv, conv)");
}

static void test_short_buffer(void **state)
{
	struct model *m = new_model();

	m->tensor[WEIGHTS].bytes--;
	expect_error(m, -ENOTSUP, "buffer does not have the size");
}

static void test_missing_weights(void **state)
{
	struct model *m = new_model();

	m->tensor[WEIGHTS].data = NULL;
	expect_error(m, -EINVAL, "before it is computed");
}

static void test_missing_required_input(void **state)
{
	struct model *m = new_model();

	m->op[0].input[1] = -1;
	expect_error(m, -EINVAL, "input 1 is tensor -1");
}

static void test_index_out_of_range(void **state)
{
	struct model *m = new_model();

	m->op[0].input[0] = TENSORS;
	expect_error(m, -EINVAL, "input 0 is tensor 8 of 8");
}

static void test_graph_input_out_of_range(void **state)
{
	struct model *m = new_model();

	m->model.input[0] = 99;
	expect_error(m, -EINVAL, "input 0 is tensor 99");
}

static void test_no_quantisation(void **state)
{
	struct model *m = new_model();

	m->tensor[CONV].scales = 0;
	expect_error(m, -EINVAL, "not quantised");
}

static void test_bad_scale(void **state)
{
	static const float negative[] = { -1 };
	struct model *m = new_model();

	m->tensor[CONV].scale = negative;
	expect_error(m, -ENOTSUP, "quantisation parameters");
}

static void test_bad_zero_point(void **state)
{
	static const s64 far[] = { 1000 };
	struct model *m = new_model();

	m->tensor[CONV].zero = far;
	expect_error(m, -EINVAL, "zero point 1000");
}

static void test_scales_on_wrong_dimension(void **state)
{
	struct model *m = new_model();

	m->tensor[WEIGHTS].axis = 1; /* of size 3 as well */
	expect_error(m, -EINVAL, "scales");
}

static void test_wrong_options(void **state)
{
	struct model *m = new_model();

	m->op[0].options_type = 5;
	expect_error(m, -EINVAL, "options of another operator");
}

static void test_no_stride(void **state)
{
	struct model *m = new_model();

	m->op[0].options = 0;
	expect_error(m, -EINVAL, "stride 0, 0");
}

static void test_negative_stride(void **state)
{
	struct model *m = new_model();

	m->op[0].option[1].value = 0x80000000;
	expect_error(m, -EINVAL, "stride");
}

static void test_unknown_activation(void **state)
{
	struct model *m = new_model();

	m->op[0].option[3].value = 4;
	expect_error(m, -ENOTSUP, "activation 4");
}

static void test_too_many_inputs(void **state)
{
	struct model *m = new_model();

	m->op[1].inputs = 17;
	expect_error(m, -ENOTSUP, "17 inputs");
}

/* Tensors that all refer to one table of many scales must not cost the product of the two. */
static void test_memory_is_bounded(void **state)
{
	enum { TENSOR_COUNT = 1000, SCALES = 20000 };
	struct tw_tensor *many = calloc(TENSOR_COUNT, sizeof(*many)), quant = { .scales = SCALES };
	float *scales = calloc(SCALES, sizeof(*scales));
	struct model *m = new_model();
	u32 i;

	assert_non_null(many);
	assert_non_null(scales);
	for (i = 0; i < SCALES; i++)
		scales[i] = 1;
	for (i = 0; i < TENSOR_COUNT; i++)
		many[i] = (struct tw_tensor){
			.name = "t", .type = TW_I8, .rank = 1, .dim = { SCALES }
		};
	quant.scale = scales;
	m->model.tensor = many;
	m->model.tensors = TENSOR_COUNT;
	m->model.shared = &quant;
	m->model.ops = 0;
	m->model.input[0] = m->model.output[0] = 0;
	expect_error(m, -ENOMEM, "more memory than a file of its size may take");
	free(scales);
	free(many);
}

static void test_supported_list(void **state)
{
	struct npu_framework_operator op;
	u32 i;

	for (i = 0; npu_tflite_operator(i, &op); i++) {
		assert_string_not_equal(op.name, "unknown");
		assert_true(op.kind < NPU_OP_COUNT);
	}
	assert_true(i > 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_import),
		cmocka_unit_test(test_old_operator_codes),
		cmocka_unit_test(test_unknown_batch_is_one),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_bad_offsets),
		cmocka_unit_test(test_not_tflite),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_unsupported_operator),
		cmocka_unit_test(test_dead_operator),
		cmocka_unit_test(test_detector),
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_computed_twice),
		cmocka_unit_test(test_huge_shape),
		cmocka_unit_test(test_empty_shape),
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_wrong_type),
		cmocka_unit_test(test_mixed_types),
		cmocka_unit_test(test_float_activations_with_integer_bias),
		cmocka_unit_test(test_shape_mismatch),
		cmocka_unit_test(test_short_buffer),
		cmocka_unit_test(test_missing_weights),
		cmocka_unit_test(test_missing_required_input),
		cmocka_unit_test(test_index_out_of_range),
		cmocka_unit_test(test_graph_input_out_of_range),
		cmocka_unit_test(test_no_quantisation),
		cmocka_unit_test(test_bad_scale),
		cmocka_unit_test(test_bad_zero_point),
		cmocka_unit_test(test_scales_on_wrong_dimension),
		cmocka_unit_test(test_wrong_options),
		cmocka_unit_test(test_no_stride),
		cmocka_unit_test(test_negative_stride),
		cmocka_unit_test(test_unknown_activation),
		cmocka_unit_test(test_too_many_inputs),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_supported_list),
	};

	return cmocka_run_group_tests_name("tflite", tests, NULL, NULL);
}
