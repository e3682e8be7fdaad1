// SPDX-License-Identifier: MIT
/* Construction, printers and, above all, the verifier: each invariant is broken once. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "graph.h"

static const float scale[] = { 0.5f };
static const s32 zero[] = { 0 };
static const s8 weights[4 * 3 * 3 * 2];
static const s32 bias[4];

enum { IN, WEIGHTS, BIAS, CONV, POOL, SUM };

static u32 add_tensor(struct npu_graph *graph, const char *name, enum npu_dtype dtype, u32 rank,
		      const u32 *dim)
{
	u32 index = npu_graph_add_tensor(graph, name, dtype, rank, dim);

	assert_int_not_equal(index, NPU_NONE);
	if (dtype == NPU_I8)
		graph->tensor[index].quant =
			(struct npu_quant){ .count = 1, .scale = scale, .zero = zero };
	return index;
}

static struct npu_op *add_op(struct npu_graph *graph, enum npu_op_kind kind, u32 out, u32 count,
			     const u32 *in)
{
	struct npu_op *op = npu_graph_add_op(graph, kind, graph->tensor[out].name, count, 1);

	assert_non_null(op);
	memcpy(op->input, in, count * sizeof(*in));
	op->output[0] = out;
	return op;
}

/* conv 3x3 SAME, max pool 2x2, and the pool's result added to itself. */
static struct npu_graph *new_graph(void)
{
	static u32 ends[] = { IN, SUM };
	const u32 image[] = { 1, 8, 8, 2 }, kernels[] = { 4, 3, 3, 2 }, four[] = { 4 };
	const u32 result[] = { 1, 8, 8, 4 }, half[] = { 1, 4, 4, 4 };
	const u32 conv_in[] = { IN, WEIGHTS, BIAS }, pool_in[] = { CONV },
		  sum_in[] = { POOL, POOL };
	struct npu_graph *graph = npu_graph_new("test");
	struct npu_op *op;

	assert_non_null(graph);
	add_tensor(graph, "in", NPU_I8, 4, image);
	add_tensor(graph, "weights", NPU_I8, 4, kernels);
	add_tensor(graph, "bias", NPU_I32, 1, four);
	add_tensor(graph, "conv", NPU_I8, 4, result);
	add_tensor(graph, "pool", NPU_I8, 4, half);
	add_tensor(graph, "sum \"quoted\"", NPU_I8, 4, half);
	graph->tensor[WEIGHTS].data = weights;
	graph->tensor[BIAS].data = bias;
	op = add_op(graph, NPU_OP_CONV, CONV, 3, conv_in);
	op->window.r = op->window.s = 3;
	op->window.pad_top = op->window.pad_bottom = 1;
	op->window.pad_left = op->window.pad_right = 1;
	op = add_op(graph, NPU_OP_MAX_POOL, POOL, 1, pool_in);
	op->window.r = op->window.s = 2;
	op->window.stride_y = op->window.stride_x = 2;
	add_op(graph, NPU_OP_ADD, SUM, 2, sum_in);
	graph->input = &ends[0];
	graph->output = &ends[1];
	graph->input_count = graph->output_count = 1;
	return graph;
}

static void expect_good(struct npu_graph *graph)
{
	struct npu_diag diag = { 0 };

	if (npu_graph_verify(graph, &diag))
		fail_msg("%s", diag.text);
	npu_graph_free(graph);
}

static void expect_bad(struct npu_graph *graph, const char *words)
{
	struct npu_diag diag = { 0 };

	assert_int_equal(npu_graph_verify(graph, &diag), -EINVAL);
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in: %s", words, diag.text);
	npu_graph_free(graph);
}

static void test_good(void **state)
{
	expect_good(new_graph());
}

static void test_growth(void **state)
{
	const u32 dim[] = { 2, 3 };
	struct npu_graph *graph = npu_graph_new("growing");
	u32 i;

	assert_non_null(graph);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(npu_graph_add_tensor(graph, "t", NPU_I16, 2, dim), i);
		assert_non_null(npu_graph_add_op(graph, NPU_OP_RESHAPE, "r", 1, 1));
	}
	for (i = 0; i < 1000; i++) {
		assert_int_equal(graph->tensor[i].bytes, 12);
		assert_int_equal(graph->op[i].input[0], NPU_NONE);
	}
	npu_graph_free(graph);
}

static void test_too_large(void **state)
{
	const u32 dim[] = { 1 << 16, 1 << 15 };
	struct npu_graph *graph = npu_graph_new("large");

	assert_non_null(graph);
	assert_int_equal(npu_graph_add_tensor(graph, "t", NPU_I8, 2, dim), NPU_NONE);
	assert_int_equal(npu_graph_add_tensor(graph, "t", NPU_I8, NPU_MAX_RANK + 1, dim), NPU_NONE);
	npu_graph_free(graph);
}

static void test_memory_limit(void **state)
{
	const u32 dim[] = { 1 };
	struct npu_graph *graph = npu_graph_new("limited");
	u32 i;

	assert_non_null(graph);
	graph->arena.limit = graph->arena.bytes + 4096;
	for (i = 0; i < 1000; i++)
		if (npu_graph_add_tensor(graph, "t", NPU_I8, 1, dim) == NPU_NONE)
			break;
	assert_in_range(i, 1, 100);
	npu_graph_free(graph);
}

static void test_nhwc(void **state)
{
	struct npu_tensor t = { .rank = 2, .dim = { 5, 7 } };
	u32 nhwc[4];

	npu_tensor_nhwc(&t, nhwc);
	assert_memory_equal(nhwc, ((u32[]){ 1, 1, 5, 7 }), sizeof(nhwc));
	t = (struct npu_tensor){ .rank = 6, .dim = { 2, 3, 4, 5, 6, 7 } };
	npu_tensor_nhwc(&t, nhwc);
	assert_memory_equal(nhwc, ((u32[]){ 24, 5, 6, 7 }), sizeof(nhwc));
	assert_int_equal(npu_tensor_elements(&t), 5040);
	t.rank = 0;
	assert_int_equal(npu_tensor_elements(&t), 1);
}

static void test_order(void **state)
{
	struct npu_graph *graph = new_graph();
	struct npu_op first = graph->op[0];

	graph->op[0] = graph->op[1];
	graph->op[1] = first;
	expect_bad(graph, "input 0 (conv) is used before it is computed");
}

static void test_cycle(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[2].input[1] = SUM;
	expect_bad(graph, "input 1 (sum");
}

static void test_two_producers(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[2].output[0] = POOL;
	expect_bad(graph, "computed twice");
}

static void test_writes_constant(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[2].output[0] = BIAS;
	expect_bad(graph, "the output is constant");
}

static void test_missing_input(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[0].input[1] = NPU_NONE;
	expect_bad(graph, "input 1 is missing");
}

static void test_input_out_of_range(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[0].input[0] = 6;
	expect_bad(graph, "input 0 is missing");
}

static void test_input_count(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[2].input_count = 1;
	expect_bad(graph, "1 inputs");
}

static void test_kind(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[1].kind = NPU_OP_COUNT;
	expect_bad(graph, "kind");
}

static void test_no_output(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op_count = 2;
	expect_bad(graph, "is never computed");
}

static void test_ends(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->output_count = 0;
	expect_bad(graph, "no output");
	graph = new_graph();
	graph->input_count = 0;
	expect_bad(graph, "no input");
}

static void test_window(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[0].window.stride_x = 0;
	expect_bad(graph, "must not be zero");
	graph = new_graph();
	graph->op[0].window.pad_left = 3;
	expect_bad(graph, "padding is not smaller than the kernel");
	graph = new_graph();
	graph->op[0].window.pad_bottom = 0;
	expect_bad(graph, "output does not follow");
	graph = new_graph();
	graph->op[1].window.r = 100;
	expect_bad(graph, "output does not follow");
	graph = new_graph();
	graph->op[1].window.dilation_y = 0x80000000;
	expect_bad(graph, "too large");
}

static void test_weights(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->op[0].groups = 2;
	expect_bad(graph, "groups");
	graph = new_graph();
	graph->op[0].groups = 0;
	expect_bad(graph, "groups");
	graph = new_graph();
	graph->op[0].window.r = 2;
	expect_bad(graph, "the window is 2 x 3");
	graph = new_graph();
	graph->tensor[BIAS].dim[0] = 3;
	graph->tensor[BIAS].bytes = 12;
	expect_bad(graph, "3 bias values");
	graph = new_graph();
	graph->tensor[WEIGHTS].data = NULL;
	expect_bad(graph, "input 1");
}

static void test_channel_zero_points(void **state)
{
	static const float scales[] = { 1, 1, 1, 1 };
	static const s32 zeros[] = { 0, 0, 5, 0 };
	struct npu_graph *graph = new_graph();

	graph->tensor[WEIGHTS].quant =
		(struct npu_quant){ .count = 4, .axis = 0, .scale = scales, .zero = zeros };
	expect_bad(graph, "kernel 2 have zero point 5");
}

static void test_types(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->tensor[SUM].dtype = NPU_U8;
	expect_bad(graph, "int8 input, uint8 output");
	graph = new_graph();
	graph->tensor[BIAS].dtype = NPU_I16;
	graph->tensor[BIAS].bytes = 8;
	expect_bad(graph, "int16 bias");
}

static void test_quantisation(void **state)
{
	static const float infinite[] = { __builtin_inff() }, other[] = { 0.25f };
	static const s32 far[] = { 128 };
	struct npu_graph *graph = new_graph();

	graph->tensor[CONV].quant.count = 0;
	expect_bad(graph, "not quantised");
	graph = new_graph();
	graph->tensor[CONV].quant.scale = infinite;
	expect_bad(graph, "scale inf");
	graph = new_graph();
	graph->tensor[CONV].quant.zero = far;
	expect_bad(graph, "zero point 128 of int8");
	graph = new_graph();
	graph->tensor[POOL].quant.scale = other;
	expect_bad(graph, "scale or zero point changes");
	graph = new_graph();
	graph->tensor[CONV].quant.count = 4;
	graph->tensor[CONV].quant.axis = 7;
	expect_bad(graph, "4 scales on dimension 7");
}

static void test_tensors(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->tensor[POOL].bytes++;
	expect_bad(graph, "has 65 bytes, its shape says 64");
	graph = new_graph();
	graph->tensor[POOL].dim[1] = 0;
	expect_bad(graph, "dimension 1 is 0");
	graph = new_graph();
	graph->tensor[POOL].rank = NPU_MAX_RANK + 1;
	expect_bad(graph, "rank 7");
	graph = new_graph();
	graph->tensor[POOL].name = NULL;
	expect_bad(graph, "no name");
}

static void test_batch(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->tensor[IN].dim[0] = 2;
	graph->tensor[IN].bytes *= 2;
	expect_bad(graph, "one image");
}

static void test_broadcast(void **state)
{
	struct npu_graph *graph = new_graph();

	graph->tensor[SUM].dim[1] = 1;
	graph->tensor[SUM].bytes = 16;
	expect_bad(graph, "broadcast");
}

static void test_maximum(void **state)
{
	static const float other[] = { 0.25f };
	struct npu_graph *graph = new_graph();

	graph->op[2].kind = NPU_OP_MAXIMUM;
	expect_good(graph);
	graph = new_graph();
	graph->op[2].kind = NPU_OP_MAXIMUM;
	graph->op[2].input[1] = IN;
	graph->tensor[IN].quant.scale = other;
	expect_bad(graph, "input 1 has another scale");
}

/* One operator from a tensor of [1,4,6,2] to one of the given shape. */
static struct npu_graph *new_single(enum npu_op_kind kind, u32 rank, const u32 *dim)
{
	static u32 ends[] = { 0, 1 };
	const u32 shape[] = { 1, 4, 6, 2 }, in[] = { 0 };
	struct npu_graph *graph = npu_graph_new("single");

	assert_non_null(graph);
	add_tensor(graph, "in", NPU_I8, 4, shape);
	add_tensor(graph, "out", NPU_I8, rank, dim);
	add_op(graph, kind, 1, 1, in);
	graph->input = &ends[0];
	graph->output = &ends[1];
	graph->input_count = graph->output_count = 1;
	return graph;
}

static struct npu_graph *new_slice(void)
{
	const u32 dim[] = { 2, 6, 1 };
	struct npu_graph *graph = new_single(NPU_OP_SLICE, 3, dim);
	const s32 begin[] = { 0, 3, 0, 1 }, end[] = { 1, 2, 6, 1 }, step[] = { 1, -2, 1, 1 };

	memcpy(graph->op[0].begin, begin, sizeof(begin));
	memcpy(graph->op[0].end, end, sizeof(end));
	memcpy(graph->op[0].step, step, sizeof(step));
	return graph;
}

static void test_slice(void **state)
{
	struct npu_graph *graph = new_slice();

	expect_good(graph);
	graph = new_slice();
	graph->op[0].begin[1] = 1;
	expect_bad(graph, "dimension 1: slice leaves the input");
	graph = new_slice();
	graph->op[0].step[0] = 0;
	expect_bad(graph, "dimension 0");
	graph = new_slice();
	graph->op[0].end[2] = INT32_MIN;
	expect_bad(graph, "dimension 2");
	graph = new_slice();
	graph->op[0].end[2] = 5;
	expect_bad(graph, "takes 10 elements");
}

static void test_transpose(void **state)
{
	const u32 dim[] = { 1, 2, 4, 6 };
	const s32 permutation[] = { 0, 3, 1, 2 };
	struct npu_graph *graph = new_single(NPU_OP_TRANSPOSE, 4, dim);

	memcpy(graph->op[0].begin, permutation, sizeof(permutation));
	expect_good(graph);
	graph = new_single(NPU_OP_TRANSPOSE, 4, dim);
	expect_bad(graph, "not a permutation");
}

static void test_pad(void **state)
{
	const u32 dim[] = { 1, 6, 7, 2 };
	struct npu_graph *graph = new_single(NPU_OP_PAD, 4, dim);

	graph->op[0].begin[1] = graph->op[0].end[1] = graph->op[0].end[2] = 1;
	expect_good(graph);
	graph = new_single(NPU_OP_PAD, 4, dim);
	graph->op[0].begin[1] = 3;
	graph->op[0].end[1] = -1;
	expect_bad(graph, "dimension 1");
}

static void test_reduce(void **state)
{
	const u32 dim[] = { 1, 2 };
	struct npu_graph *graph = new_single(NPU_OP_MEAN, 2, dim);

	graph->op[0].axes = 1 << 1 | 1 << 2;
	expect_good(graph);
	graph = new_single(NPU_OP_MEAN, 2, dim);
	graph->op[0].axes = 1 << 4;
	expect_bad(graph, "axes 0x10");
	graph = new_single(NPU_OP_MEAN, 2, dim);
	graph->op[0].axes = 1 << 1;
	expect_bad(graph, "leaves 12 elements");
}

static void test_softmax_scale(void **state)
{
	const u32 dim[] = { 1, 4, 6, 2 };
	struct npu_graph *graph = new_single(NPU_OP_SOFTMAX, 4, dim);

	graph->op[0].alpha = 1;
	graph->op[0].axis = 3;
	expect_bad(graph, "1/256");
}

static void test_lrn(void **state)
{
	const u32 dim[] = { 1, 4, 6, 2 };
	struct npu_graph *graph = new_single(NPU_OP_LRN, 4, dim);

	graph->op[0].size = 5;
	graph->op[0].alpha = graph->op[0].beta = graph->op[0].gamma = 1;
	expect_good(graph);
	graph = new_single(NPU_OP_LRN, 4, dim);
	graph->op[0].gamma = 1;
	expect_bad(graph, "no channel");
	graph = new_single(NPU_OP_LRN, 4, dim);
	graph->op[0].size = 5;
	graph->op[0].alpha = -1;
	graph->op[0].gamma = 1;
	expect_bad(graph, "alpha -1");
}

/* Two operands; the result has the shape of the first. */
static struct npu_graph *new_binary(enum npu_op_kind kind, u32 rank, const u32 *a, const u32 *b)
{
	static u32 ends[] = { 0, 1, 2 };
	struct npu_graph *graph = npu_graph_new("binary");

	assert_non_null(graph);
	add_tensor(graph, "a", NPU_I8, rank, a);
	add_tensor(graph, "b", NPU_I8, rank, b);
	add_tensor(graph, "out", NPU_I8, rank, a);
	add_op(graph, kind, 2, 2, ends);
	graph->input = &ends[0];
	graph->input_count = 2;
	graph->output = &ends[2];
	graph->output_count = 1;
	return graph;
}

static void test_matmul(void **state)
{
	const u32 dim[] = { 2, 3, 3 }, bad[] = { 2, 4, 3 }, batch[] = { 3, 3, 3 };
	struct npu_graph *graph = new_binary(NPU_OP_MATMUL, 3, dim, dim);

	expect_good(graph);
	expect_bad(new_binary(NPU_OP_MATMUL, 3, dim, bad), "3 x 3 by 4 x 3 is not 3 x 3");
	expect_bad(new_binary(NPU_OP_MATMUL, 3, dim, batch), "leading dimensions");
	expect_bad(new_binary(NPU_OP_MATMUL, 1, dim, dim), "operands of rank 1 and 1");
}

static void test_function(void **state)
{
	const u32 dim[] = { 1, 4, 6, 2 };
	struct npu_graph *graph;
	u32 i;

	for (i = 0; i < NPU_FN_COUNT; i++) {
		assert_non_null(npu_function_names[i]);
		graph = new_single(NPU_OP_FUNCTION, 4, dim);
		graph->op[0].function = (enum npu_function)i;
		expect_good(graph);
	}
	graph = new_single(NPU_OP_FUNCTION, 4, dim);
	graph->op[0].function = NPU_FN_COUNT;
	expect_bad(graph, "function 31");
	graph = new_single(NPU_OP_FUNCTION, 4, dim);
	graph->op[0].gamma = NAN;
	expect_bad(graph, "parameters 0, 0, nan");
}

static char *dump(const struct npu_graph *graph, enum npu_dump_format format)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	npu_graph_dump(graph, format, out);
	fclose(out);
	return text;
}

static void test_dump(void **state)
{
	struct npu_graph *graph = new_graph();
	char *text = dump(graph, NPU_DUMP_TEXT), *dot = dump(graph, NPU_DUMP_DOT);

	assert_non_null(strstr(text, "0: %3 = conv %0 %1 %2 3x3 stride 1,1 pad 1,1,1,1\n"));
	assert_non_null(strstr(text, "%0 \"in\" int8[1,8,8,2] scale 0.5 zero 0\n"));
	assert_non_null(strstr(text, "input %0\n"));
	assert_non_null(strstr(text, "output %5\n"));
	assert_non_null(strstr(dot, "digraph \"test\" {"));
	assert_non_null(strstr(dot, "o0 -> o1"));
	assert_non_null(strstr(dot, "sum \\\"quoted\\\""));
	free(text);
	free(dot);
	npu_graph_free(graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_nhwc),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_cycle),
		cmocka_unit_test(test_two_producers),
		cmocka_unit_test(test_writes_constant),
		cmocka_unit_test(test_missing_input),
		cmocka_unit_test(test_input_out_of_range),
		cmocka_unit_test(test_input_count),
		cmocka_unit_test(test_kind),
		cmocka_unit_test(test_no_output),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_channel_zero_points),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_quantisation),
		cmocka_unit_test(test_tensors),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_maximum),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_softmax_scale),
		cmocka_unit_test(test_matmul),
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_lrn),
		cmocka_unit_test(test_dump),
	};

	return cmocka_run_group_tests_name("graph", tests, NULL, NULL);
}
