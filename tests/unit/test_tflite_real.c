// SPDX-License-Identifier: MIT
/*
 * TensorFlow Lite's forms between float32 and INT8: float16 weights, dynamic-range quantisation
 * and INT16 activations.  Each network is computed in the reference and by hand, and compiled for
 * an NPU with ranges that are found in the same input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "graph.h"
#include "program.h"
#include "quantise/quantise.h"
#include "reference.h"
#include "tflite_writer.h"

#define SIDE 6
#define CHANNELS 2
#define KERNELS 3
#define TAPS 9
#define PIXELS (SIDE * SIDE)

/*
 * in [1, 6, 6, 2] -> CONV_2D 3 x 3, SAME -> [1, 6, 6, 3] -> DEPTHWISE_CONV_2D 1 x 1 -> same shape
 * Values of HALF are exact in float16, and as INT8 times their scales.
 */
enum {
	IN,
	HALF,
	WEIGHTS,
	BIAS,
	CONV,
	DW_HALF,
	DW,
	OUT,
	BYTES,
	REAL,
	UNIT,
	SCALED,
	OFFSET,
	TENSORS
};

static const float scales[KERNELS] = { 0.25f, 0.5f, 0.125f };
static const float unit[] = { 0.0078125f };
static const s64 none[] = { 0 };
static const float offset[] = { -100.0f / 128 };
static s8 stored[KERNELS * TAPS * CHANNELS];
static u16 halves[KERNELS * TAPS * CHANNELS];
static const float bias[KERNELS] = { 1.5f, -2.25f, 0 };
/* The same in units of 2^-7 times the scale of each kernel's weights. */
static const s64 bias64[KERNELS] = { 768, -576, 0 };
static const s8 dw_stored[KERNELS] = { 4, -2, 16 };
static const u16 dw_halves[KERNELS] = { 0x3c00, 0xbc00, 0x4000 }; /* 1, -1, 2 */
static const float dw_real[KERNELS] = { 1, -1, 2 };

/* float16 of a small multiple of 1/8. */
static u16 half_of(float value)
{
	u32 bits;

	memcpy(&bits, &value, sizeof(bits));
	if (value == 0)
		return 0;
	return (u16)((bits >> 16 & 0x8000) | (((bits >> 23 & 0xff) - 112) << 10) |
		     (bits >> 13 & 0x3ff));
}

static float weight(u32 k, u32 i)
{
	return scales[k] * stored[k * TAPS * CHANNELS + i];
}

static void fill_weights(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stored); i++) {
		stored[i] = (s8)((i * 7) % 31) - 15;
		halves[i] = half_of(weight(i / (TAPS * CHANNELS), i % (TAPS * CHANNELS)));
	}
}

static float input_value(u32 i)
{
	return (float)((s32)((i * 37) % 201) - 100) / 128;
}

/* What the network computes, in double precision. */
static double expected(u32 y, u32 x, u32 k)
{
	double sum = bias[k];
	u32 r, s, c;

	for (r = 0; r < 3; r++)
		for (s = 0; s < 3; s++)
			for (c = 0; c < CHANNELS; c++) {
				u32 at_y = y + r - 1, at_x = x + s - 1;

				if (at_y < SIDE && at_x < SIDE)
					sum += (double)input_value((at_y * SIDE + at_x) * CHANNELS +
								   c) *
					       (double)weight(k, (r * 3 + s) * CHANNELS + c);
			}
	return sum * (double)dw_real[k];
}

struct network {
	struct tw_tensor tensor[TENSORS];
	struct tw_op op[5];
	struct tw_model model;
};

static const struct tw_tensor float_tensors[TENSORS] = {
	[IN] = { .name = "in", .type = TW_F32, .rank = 4, .dim = { 1, SIDE, SIDE, CHANNELS } },
	[HALF] = { .name = "half",
		   .type = TW_F16,
		   .rank = 4,
		   .dim = { KERNELS, 3, 3, CHANNELS },
		   .data = halves,
		   .bytes = sizeof(halves) },
	[WEIGHTS] = { .name = "weights", .rank = 4, .dim = { KERNELS, 3, 3, CHANNELS } },
	[BIAS] = { .name = "bias",
		   .type = TW_F32,
		   .rank = 1,
		   .dim = { KERNELS },
		   .data = bias,
		   .bytes = sizeof(bias) },
	[CONV] = { .name = "conv", .type = TW_F32, .rank = 4, .dim = { 1, SIDE, SIDE, KERNELS } },
	[DW_HALF] = { .name = "dw half",
		      .type = TW_F16,
		      .rank = 4,
		      .dim = { 1, 1, 1, KERNELS },
		      .data = dw_halves,
		      .bytes = sizeof(dw_halves) },
	[DW] = { .name = "dw weights", .type = TW_F32, .rank = 4, .dim = { 1, 1, 1, KERNELS } },
	[OUT] = { .name = "out", .type = TW_F32, .rank = 4, .dim = { 1, SIDE, SIDE, KERNELS } },
	[BYTES] = { .name = "bytes", .type = TW_U8, .rank = 4, .dim = { 1, SIDE, SIDE, CHANNELS } },
	[REAL] = { .name = "real", .type = TW_F32, .rank = 4, .dim = { 1, SIDE, SIDE, CHANNELS } },
	[UNIT] = { .name = "unit", .type = TW_F32, .data = unit, .bytes = sizeof(unit) },
	[SCALED] = { .name = "scaled",
		     .type = TW_F32,
		     .rank = 4,
		     .dim = { 1, SIDE, SIDE, CHANNELS } },
	[OFFSET] = { .name = "offset", .type = TW_F32, .data = offset, .bytes = sizeof(offset) },
};

/* float16 weights behind DEQUANTIZE, as converters write them. */
static struct network *new_network(void)
{
	static const struct tw_op ops[] = {
		{ .code = 6, .inputs = 1, .input = { HALF }, .outputs = 1, .output = { WEIGHTS } },
		{ .code = 6, .inputs = 1, .input = { DW_HALF }, .outputs = 1, .output = { DW } },
		{ .code = 3,
		  .inputs = 3,
		  .input = { IN, WEIGHTS, BIAS },
		  .outputs = 1,
		  .output = { CONV },
		  .options_type = 1,
		  .options = 2,
		  .option = { { 1, 1 }, { 2, 1 } } },
		{ .code = 4,
		  .inputs = 3,
		  .input = { CONV, DW, -1 },
		  .outputs = 1,
		  .output = { OUT },
		  .options_type = 2,
		  .options = 2,
		  .option = { { 1, 1 }, { 2, 1 } } },
	};
	struct network *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	memcpy(n->tensor, float_tensors, sizeof(float_tensors));
	memcpy(n->op, ops, sizeof(ops));
	n->model = (struct tw_model){ .version = 3,
				      .tensors = TENSORS,
				      .tensor = n->tensor,
				      .ops = ARRAY_SIZE(ops),
				      .op = n->op,
				      .inputs = 1,
				      .input = { IN },
				      .outputs = 1,
				      .output = { OUT } };
	return n;
}

/* The same with INT8 weights in the convolutions themselves. */
static struct network *new_hybrid(void)
{
	struct network *n = new_network();
	struct tw_tensor *w = &n->tensor[WEIGHTS], *dw = &n->tensor[DW];

	w->type = dw->type = TW_I8;
	w->data = stored;
	w->bytes = sizeof(stored);
	w->scale = dw->scale = scales;
	w->scales = dw->scales = KERNELS;
	dw->axis = 3;
	dw->data = dw_stored;
	dw->bytes = sizeof(dw_stored);
	n->model.op = n->op + 2;
	n->model.ops = 2;
	return n;
}

/* The same on an image of bytes, made real numbers by CAST. */
static struct network *new_cast(void)
{
	static const struct tw_op ops[] = {
		{ .code = 53, .inputs = 1, .input = { BYTES }, .outputs = 1, .output = { REAL } },
		{ .code = 18,
		  .inputs = 2,
		  .input = { REAL, UNIT },
		  .outputs = 1,
		  .output = { SCALED } },
		{ .code = 0,
		  .inputs = 2,
		  .input = { SCALED, OFFSET },
		  .outputs = 1,
		  .output = { IN } },
	};
	struct network *n = new_hybrid();

	memmove(n->op + 3, n->op + 2, 2 * sizeof(*n->op));
	memcpy(n->op, ops, sizeof(ops));
	n->model.op = n->op;
	n->model.ops = 5;
	n->model.input[0] = BYTES;
	return n;
}

/* The same with INT16 activations, in units of 2^-7, and 64-bit biases. */
static struct network *new_int16(void)
{
	static const u32 activations[] = { IN, CONV, OUT };
	struct network *n = new_hybrid();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(activations); i++) {
		struct tw_tensor *t = &n->tensor[activations[i]];

		t->type = TW_I16;
		t->scales = 1;
		t->scale = unit;
		t->zero = none;
	}
	n->tensor[BIAS].type = TW_I64;
	n->tensor[BIAS].data = bias64;
	n->tensor[BIAS].bytes = sizeof(bias64);
	return n;
}

static int import(struct network *n, u8 **data, struct npu_graph **graph, struct npu_diag *diag)
{
	size_t bytes;

	diag->text[0] = '\0';
	*graph = NULL;
	*data = tw_write(&n->model, &bytes);
	assert_non_null(*data);
	free(n);
	return npu_import_tflite(*data, bytes, "test.tflite", NULL, graph, diag);
}

static void set_input(const struct npu_tensor *t, void *data)
{
	u32 i;

	for (i = 0; i < PIXELS * CHANNELS; i++)
		if (t->dtype == NPU_I16)
			((s16 *)data)[i] = (s16)roundf(input_value(i) * 128);
		else if (t->dtype == NPU_U8)
			((u8 *)data)[i] = (u8)roundf(input_value(i) * 128 + 100);
		else
			((float *)data)[i] = input_value(i);
}

static double output_value(const struct npu_tensor *t, const void *data, u32 i)
{
	if (t->dtype == NPU_I16)
		return ((const s16 *)data)[i] / 128.0;
	return (double)((const float *)data)[i];
}

static void check_output(const struct npu_tensor *t, const void *data, double tolerance)
{
	u32 y, x, k, i = 0;

	for (y = 0; y < SIDE; y++)
		for (x = 0; x < SIDE; x++)
			for (k = 0; k < KERNELS; k++, i++)
				assert_true(fabs(output_value(t, data, i) - expected(y, x, k)) <=
					    tolerance);
}

static int load_sample(const struct npu_samples *samples, u32 i, void *const *input,
		       struct npu_diag *diag)
{
	set_input(samples->context, input[0]);
	return 0;
}

/* A convolution of the NPU, or one that it could do, but of which there is too little. */
static bool npu_can(const struct npu_net *net, const struct npu_layer *layer)
{
	return net->graph->op[layer->op].kind == NPU_OP_CONV &&
	       (layer->kind == NPU_LAYER_CONV || strstr(layer->cpu_reason, "costs less there"));
}

/* Compiles it: a network of INT8 for the NPU, which the reference runs too. */
static void check_quantised(struct npu_graph *graph)
{
	struct npu_calibrate_options options = { NPU_RANGE_MINMAX, 0, NPU_EQUALISE_DEPTHWISE };
	struct npu_samples samples = { 1, load_sample, &graph->tensor[graph->input[0]] };
	struct npu_calibration *calibration;
	struct npu_graph *prepared, *quantised;
	struct npu_reference *reference;
	struct npu_program *program;
	struct npu_diag diag = { "" };
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	struct npu_budget budget = npu_budget_full(config);
	const struct npu_tensor *out;
	u32 i, convs = 0;

	assert_int_equal(npu_quantise_prepare(graph, &prepared, &diag), 0);
	assert_int_equal(npu_calibrate(prepared, &samples, &options, &calibration, &diag), 0);
	assert_int_equal(npu_quantise(prepared, calibration, &quantised, &diag), 0);
	assert_int_equal(npu_reference_new(quantised, &reference, &diag), 0);
	set_input(&quantised->tensor[quantised->input[0]],
		  npu_reference_tensor(reference, quantised->input[0]));
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	out = &quantised->tensor[quantised->output[0]];
	/* The largest result is about 47. */
	check_output(out, npu_reference_tensor(reference, quantised->output[0]), 0.6);
	npu_reference_free(reference);
	assert_int_equal(npu_program_compile(quantised, config, &budget, &program, &diag), 0);
	for (i = 0; i < program->net->layer_count; i++)
		convs += npu_can(program->net, &program->net->layer[i]);
	assert_true(convs > 0);
	npu_program_free(program);
	npu_calibration_free(calibration);
	npu_graph_free(prepared);
}

static void check_network(struct network *n, enum npu_dtype in, enum npu_dtype result,
			  double tolerance)
{
	struct npu_reference *reference;
	struct npu_graph *graph;
	struct npu_diag diag;
	u8 *data;

	if (import(n, &data, &graph, &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(graph->tensor[graph->input[0]].dtype, in);
	assert_int_equal(graph->tensor[graph->output[0]].dtype, result);
	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	set_input(&graph->tensor[graph->input[0]],
		  npu_reference_tensor(reference, graph->input[0]));
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	check_output(&graph->tensor[graph->output[0]],
		     npu_reference_tensor(reference, graph->output[0]), tolerance);
	npu_reference_free(reference);
	check_quantised(graph);
	npu_graph_free(graph);
	free(data);
}

static void test_float16(void **state)
{
	check_network(new_network(), NPU_F32, NPU_F32, 1e-4);
}

static void test_float16_operand(void **state)
{
	struct network *n = new_network();

	n->op[2].input[1] = HALF;
	check_network(n, NPU_F32, NPU_F32, 1e-4);
}

static void test_cast(void **state)
{
	check_network(new_cast(), NPU_U8, NPU_F32, 1e-4);
}

static void test_hybrid(void **state)
{
	check_network(new_hybrid(), NPU_F32, NPU_F32, 1e-4);
}

static void test_integer_constant(void **state)
{
	struct network *n = new_network();

	n->tensor[HALF].type = TW_I8;
	n->tensor[HALF].data = stored;
	n->tensor[HALF].bytes = sizeof(stored);
	n->tensor[HALF].scales = KERNELS;
	n->tensor[HALF].scale = scales;
	check_network(n, NPU_F32, NPU_F32, 1e-4);
}

static void test_int16(void **state)
{
	check_network(new_int16(), NPU_I16, NPU_I16, 0.5 / 128 + 1e-4);
}

static void expect_error(struct network *n, int error, const char *words)
{
	struct npu_graph *graph;
	struct npu_diag diag;
	u8 *data;

	assert_int_equal(import(n, &data, &graph, &diag), error);
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, diag.text);
	free(data);
}

static void test_uint8_weights(void **state)
{
	struct network *n = new_hybrid();

	n->tensor[WEIGHTS].type = TW_U8;
	expect_error(n, -ENOTSUP, "(CONV_2D, output conv): UINT8 weights of a float32 operator");
}

static void test_weights_without_scale(void **state)
{
	struct network *n = new_hybrid();

	n->tensor[DW].scales = 0;
	expect_error(n, -ENOTSUP,
		     "(DEPTHWISE_CONV_2D, output out): dw weights: int8 without a "
		     "scale");
}

static void test_computed_float16(void **state)
{
	struct network *n = new_network();

	n->tensor[HALF].data = NULL;
	n->tensor[HALF].bytes = 0;
	expect_error(n, -ENOTSUP, "(DEQUANTIZE, output weights): float16 values that are computed");
}

static void test_int16_zero_point(void **state)
{
	static const s64 five[] = { 5 };
	struct network *n = new_int16();

	n->tensor[CONV].zero = five;
	expect_error(n, -ENOTSUP, "(conv): its quantisation parameters");
}

static void test_int16_bias(void **state)
{
	struct network *n = new_int16();

	n->tensor[BIAS].dim[0] = 2;
	n->tensor[BIAS].bytes = 2 * sizeof(s64);
	expect_error(n, -EINVAL, "bias and weights do not fit each other");
}

static void test_sizes(void **state)
{
	struct network *n = new_network();

	n->tensor[WEIGHTS].dim[0] = 2;
	expect_error(n, -EINVAL, "the output cannot hold the input");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_float16),
		cmocka_unit_test(test_float16_operand),
		cmocka_unit_test(test_cast),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_integer_constant),
		cmocka_unit_test(test_int16),
		cmocka_unit_test(test_uint8_weights),
		cmocka_unit_test(test_weights_without_scale),
		cmocka_unit_test(test_computed_float16),
		cmocka_unit_test(test_int16_zero_point),
		cmocka_unit_test(test_int16_bias),
		cmocka_unit_test(test_sizes),
	};

	fill_weights();
	return cmocka_run_group_tests_name("tflite_real", tests, NULL, NULL);
}
