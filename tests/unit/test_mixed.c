// SPDX-License-Identifier: MIT
/*
 * Models of which a part is quantised and a part is not, as tools leave them that were told to spare
 * some layers: calibration makes integers of the rest, and leaves what is there as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../common/onnx_check.h"
#include "npu_compiler.h"
#include "quantise/quantise.h"

static struct npu_diag diag;

/* Two convolutions and a product; @first and @last: whether the first and the last one are quantised. */
static void write_net(struct onnx_writer *w, bool first, bool last)
{
	onnx_begin(w, 13);
	onnx_input(w, "x", FLOAT, "1,3,8,8");
	onnx_scalar(w, "s", 0.0625f);
	onnx_scalar(w, "t", 0.03125f);
	onnx_raw(w, "z", INT8, 1, "", "");
	onnx_floats(w, "w1", "4,3,3,3", NULL);
	onnx_floats(w, "w2", "6,4,3,3", NULL);
	onnx_floats(w, "w3", "6,5", NULL);
	onnx_scalar(w, "ws", 0.005f);
	onnx_node(w, "QuantizeLinear", "w1,ws,z", "w1q");
	onnx_node(w, "DequantizeLinear", "w1q,ws,z", "w1d");
	onnx_node(w, "QuantizeLinear", "w3,ws,z", "w3q");
	onnx_node(w, "DequantizeLinear", "w3q,ws,z", "w3d");
	if (first) {
		onnx_node(w, "QuantizeLinear", "x,t,z", "xq");
		onnx_node(w, "DequantizeLinear", "xq,t,z", "xd");
		onnx_node(w, "Conv", "xd,w1d", "c1f");
		onnx_node(w, "QuantizeLinear", "c1f,s,z", "c1q");
		onnx_node(w, "DequantizeLinear", "c1q,s,z", "c1");
	} else {
		onnx_node(w, "Conv", "x,w1d", "c1");
	}
	onnx_node(w, "Conv", "c1,w2", "c2");
	onnx_node(w, "Relu", "c2", "r");
	onnx_node(w, "GlobalAveragePool", "r", "g");
	onnx_node(w, "Flatten", "g", "f");
	if (last) {
		onnx_node(w, "QuantizeLinear", "f,t,z", "fq");
		onnx_node(w, "DequantizeLinear", "fq,t,z", "fd");
		onnx_node(w, "MatMul", "fd,w3d", "m");
		onnx_node(w, "QuantizeLinear", "m,t,z", "mq");
		onnx_node(w, "DequantizeLinear", "mq,t,z", "y");
	} else {
		onnx_node(w, "MatMul", "f,w3d", "y");
	}
	onnx_output(w, "y");
}

static int load_sample(const struct npu_samples *samples, u32 i, void *const *input,
		       struct npu_diag *unused)
{
	const struct npu_tensor *t = samples->context;
	u32 j;

	for (j = 0; j < npu_tensor_elements(t); j++)
		((float *)input[0])[j] = (float)((j * 37 + i * 5) % 101) / 32 - 1.5f;
	return 0;
}

static struct npu_graph *quantise(const struct npu_graph *graph)
{
	struct npu_calibrate_options options = { NPU_RANGE_MINMAX, 0, NPU_EQUALISE_DEPTHWISE };
	struct npu_samples samples = { 1, load_sample, &graph->tensor[graph->input[0]] };
	struct npu_calibration *calibration = NULL;
	struct npu_graph *prepared = NULL, *quantised = NULL;

	assert_true(npu_graph_is_float(graph));
	if (npu_quantise_prepare(graph, &prepared, &diag) ||
	    npu_calibrate(prepared, &samples, &options, &calibration, &diag) ||
	    npu_quantise(prepared, calibration, &quantised, &diag))
		fail_msg("%s", diag.text);
	npu_calibration_free(calibration);
	npu_graph_free(prepared);
	return quantised;
}

static float *compute(const struct npu_graph *graph)
{
	struct npu_reference *reference;
	const struct npu_tensor *out = &graph->tensor[graph->output[0]];
	float *result = malloc(out->bytes);

	assert_non_null(result);
	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	onnx_check_inputs(graph, reference);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	memcpy(result, npu_reference_tensor(reference, graph->output[0]), out->bytes);
	npu_reference_free(reference);
	return result;
}

/* All products are the NPU's, and nothing else but the ends is float32. */
static void check_program(struct npu_graph *quantised)
{
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	struct npu_budget budget = npu_budget_full(config);
	struct npu_program *program;
	u32 i, layers = 0;

	if (npu_program_compile(quantised, config, &budget, &program, &diag))
		fail_msg("%s", diag.text);
	for (i = 0; i < program->net->layer_count; i++)
		layers += program->net->layer[i].kind == NPU_LAYER_CONV;
	assert_true(layers >= 3);
	npu_program_free(program);
}

static void check_mixed(bool first, bool last)
{
	struct npu_graph *graph, *quantised;
	struct onnx_writer w;
	float *want, *have;
	u32 i;

	write_net(&w, first, last);
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	quantised = quantise(graph);
	for (i = 0; i < quantised->op_count; i++)
		if (quantised->op[i].kind == NPU_OP_CONV)
			assert_int_equal(npu_op_output(quantised, &quantised->op[i])->dtype,
					 NPU_I8);
	want = compute(graph);
	have = compute(quantised);
	for (i = 0; i < 5; i++)
		if (fabsf(want[i] - have[i]) > 0.05f)
			fail_msg("element %u: %g, not %g", i, (double)have[i], (double)want[i]);
	free(want);
	free(have);
	check_program(quantised);
	npu_graph_free(graph);
}

static void test_float_behind(void **state)
{
	check_mixed(true, false);
}

static void test_float_in_front(void **state)
{
	check_mixed(false, true);
}

static void test_float_between(void **state)
{
	check_mixed(true, true);
}

/* Given scales are not found anew. */
static void test_given_scales(void **state)
{
	struct npu_graph *graph, *quantised;
	struct onnx_writer w;
	u32 i, found = 0;

	write_net(&w, true, false);
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	quantised = quantise(graph);
	for (i = 0; i < quantised->op_count; i++) {
		const struct npu_tensor *out = npu_op_output(quantised, &quantised->op[i]);

		found += quantised->op[i].kind == NPU_OP_CONV && out->quant.scale[0] == 0.0625f &&
			 out->quant.zero[0] == 0;
	}
	assert_int_equal(found, 1);
	npu_graph_free(quantised);
	npu_graph_free(graph);
}

/* Without ranges the float part is refused by name. */
static void test_refused(void **state)
{
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	struct npu_budget budget = npu_budget_full(config);
	struct npu_program *program;
	struct npu_graph *graph;
	struct onnx_writer w;

	write_net(&w, true, false);
	if (onnx_check_import(&w, &graph))
		fail_msg("%s", onnx_check_diag.text);
	diag.text[0] = '\0';
	assert_int_equal(npu_program_compile(graph, config, &budget, &program, &diag), -ENOTSUP);
	assert_non_null(strstr(diag.text, "--calibrate"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_float_behind),  cmocka_unit_test(test_float_in_front),
		cmocka_unit_test(test_float_between), cmocka_unit_test(test_given_scales),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("mixed", tests, NULL, NULL);
}
