// SPDX-License-Identifier: MIT
/* What the optimiser makes of small graphs: which layers, fused with what, and what goes to the CPU. */
#include "net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct npu_graph *graph;
static struct npu_net *net;

static u32 tensor(const char *name, u32 h, u32 w, u32 c, float scale, s32 zero)
{
	u32 dim[4] = { 1, h, w, c }, t = npu_graph_add_tensor(graph, name, NPU_I8, 4, dim);
	float *scales = npu_arena_array(&graph->arena, 1, sizeof(*scales));
	s32 *zeros = npu_arena_array(&graph->arena, 1, sizeof(*zeros));

	assert_int_not_equal(t, NPU_NONE);
	assert_true(scales && zeros);
	*scales = scale;
	*zeros = zero;
	graph->tensor[t].quant = (struct npu_quant){ .count = 1, .scale = scales, .zero = zeros };
	return t;
}

static void fill(u32 t, u8 value)
{
	void *data = npu_arena_alloc(&graph->arena, graph->tensor[t].bytes);

	assert_non_null(data);
	memset(data, value, graph->tensor[t].bytes);
	graph->tensor[t].data = data;
}

static struct npu_op *add_op(enum npu_op_kind kind, const char *name, u32 a, u32 b, u32 out)
{
	struct npu_op *op = npu_graph_add_op(graph, kind, name, b == NPU_NONE ? 1 : 2, 1);

	assert_non_null(op);
	op->input[0] = a;
	if (b != NPU_NONE)
		op->input[1] = b;
	op->output[0] = out;
	return op;
}

/* 3 x 3 with padding 1, or 1 x 1. */
static struct npu_op *conv(const char *name, u32 in, u32 out, u32 kernel, u32 groups)
{
	const struct npu_tensor *ti = &graph->tensor[in], *to = &graph->tensor[out];
	u32 channels = ti->dim[3] / groups, kernels = to->dim[3];
	u32 weights = tensor("weights", kernel, kernel, channels, 0.01f, 0);
	struct npu_op *op;

	graph->tensor[weights].dim[0] = kernels;
	graph->tensor[weights].bytes *= kernels;
	fill(weights, 3);
	op = add_op(NPU_OP_CONV, name, in, weights, out);
	op->groups = groups;
	op->window.r = op->window.s = kernel;
	op->window.pad_top = op->window.pad_left = kernel / 2;
	op->window.pad_bottom = op->window.pad_right = kernel / 2;
	return op;
}

static void begin(void)
{
	graph = npu_graph_new("test");
	assert_non_null(graph);
	graph->input = npu_arena_array(&graph->arena, 4, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 4, sizeof(u32));
}

static void input(u32 t)
{
	graph->input[graph->input_count++] = t;
}

static void optimise(const char *config, u32 output)
{
	struct npu_diag diag = { 0 };
	int error;

	graph->output[graph->output_count++] = output;
	error = npu_graph_verify(graph, &diag);
	if (!error)
		error = npu_optimise(graph, nvdla_config_find(config), &net, &diag);
	if (error)
		print_error("%s\n", diag.text);
	assert_int_equal(error, 0);
}

static void end(void)
{
	npu_net_free(net);
}

static void test_pad(void **state)
{
	u32 in, padded, out;

	begin();
	input(in = tensor("in", 8, 8, 4, 0.1f, 5));
	padded = tensor("padded", 10, 11, 4, 0.1f, 5);
	out = tensor("out", 8, 9, 8, 0.1f, 0);
	{
		struct npu_op *pad = add_op(NPU_OP_PAD, "pad", in, NPU_NONE, padded), *op;

		pad->begin[1] = pad->end[1] = pad->begin[2] = 1;
		pad->end[2] = 2;
		op = conv("conv", padded, out, 3, 1);
		op->window.pad_top = op->window.pad_left = 0;
		op->window.pad_bottom = op->window.pad_right = 0;
	}
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CONV);
	assert_int_equal(net->layer[0].window.pad_top, 1);
	assert_int_equal(net->layer[0].window.pad_left, 1);
	assert_int_equal(net->layer[0].window.pad_bottom, 1);
	assert_int_equal(net->layer[0].window.pad_right, 2);
	assert_int_equal(net->layer[0].pad_value, 5);
	assert_int_equal(net->layer[0].group_count, 2);
	assert_int_equal(net->tensor_value[padded], NPU_NONE);
	end();
}

/* Padding with another value stays by itself: four sides and the middle; of channels it is the CPU's. */
static void pad_between(u32 rows, u32 channels, u32 layers)
{
	u32 in, middle, padded, value, one = 1, out, i;
	struct npu_op *pad;

	begin();
	input(in = tensor("in", 40, 40, 16, 0.1f, 5));
	middle = tensor("middle", 40, 40, 16, 0.1f, 5);
	padded = tensor("padded", 40 + rows, 40, 16 + channels, 0.1f, 5);
	out = tensor("out", 40 + rows, 40, 16, 0.1f, 5);
	value = npu_graph_add_tensor(graph, "value", NPU_I8, 1, &one);
	graph->tensor[value].quant = graph->tensor[in].quant;
	fill(value, 77);
	conv("before", in, middle, 3, 1);
	pad = add_op(NPU_OP_PAD, "pad", middle, value, padded);
	pad->begin[1] = rows ? 1 : 0;
	pad->end[1] = rows ? (s32)rows - 1 : 0;
	pad->end[3] = (s32)channels;
	conv("behind", padded, out, 3, 1);
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, layers);
	assert_int_equal(net->layer[1].kind, rows ? NPU_LAYER_SDP : NPU_LAYER_CPU);
	for (i = 1; i < layers - 2; i++) {
		assert_int_equal(net->layer[i].sdp.bs.mul_value, 0);
		assert_int_equal(net->layer[i].sdp.cvt_offset, -77);
	}
	assert_int_equal(net->layer[layers - 2].group_count, 1);
	end();
}

static void test_pad_alone(void **state)
{
	pad_between(1, 0, 4);
	pad_between(5, 0, 5);
	pad_between(0, 1, 3);
}

/* A sum is fused where the convolution's own rounding is worth less than a unit of the result. */
static void residual(float own_scale, enum npu_activation between, u32 layers)
{
	u32 in, middle, side, sum;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	side = tensor("side", 8, 8, 16, 0.1f, -7);
	middle = tensor("middle", 8, 8, 16, own_scale, 3);
	sum = tensor("sum", 8, 8, 16, 0.12f, 2);
	conv("side", in, side, 1, 1);
	conv("main", in, middle, 3, 1)->activation = between;
	add_op(NPU_OP_ADD, "add", middle, side, sum);
	optimise("nv_small", sum);
	assert_int_equal(net->layer_count, layers);
	assert_int_equal(net->layer[layers - 1].kind, layers == 2 ? NPU_LAYER_CONV : NPU_LAYER_SDP);
	assert_int_equal(net->layer[layers - 1].output, net->tensor_value[sum]);
	if (layers == 2) {
		assert_int_equal(net->layer[1].sdp.bn.alu_from, NPU_OPERAND_ELEMENT);
		assert_int_equal(net->layer[1].sdp.bn.value, net->tensor_value[side]);
		assert_int_equal(net->tensor_value[middle], NPU_NONE);
	}
	end();
}

static void test_residual(void **state)
{
	residual(0.1f, NPU_ACT_NONE, 2);
	residual(0.1f, NPU_ACT_RELU, 3); /* a clamp in between is not lost */
	residual(0.4f, NPU_ACT_NONE, 3); /* half a unit of the convolution is 1.7 of the sum */
}

static void test_pool(void **state)
{
	u32 in, middle, out;
	struct npu_op *pool;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	middle = tensor("middle", 8, 8, 16, 0.1f, 3);
	out = tensor("out", 4, 4, 16, 0.1f, 3);
	conv("conv", in, middle, 3, 1);
	pool = add_op(NPU_OP_MAX_POOL, "pool", middle, NPU_NONE, out);
	pool->window.r = pool->window.s = pool->window.stride_y = pool->window.stride_x = 2;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	assert_true(net->layer[0].has_pool);
	assert_int_equal(net->layer[0].output, net->tensor_value[out]);
	assert_int_equal(net->layer[0].unpooled, net->tensor_value[middle]);
	end();
}

/* A window of 9 is one of 5 after one of 5; averages and larger windows find their way too. */
/* Pooling behind a sum goes with the convolution only where the sum does. */
static void test_pool_after_residual(void **state)
{
	static const float own_scale[] = { 0.1f, 0.4f };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(own_scale); i++) {
		u32 in, middle, sum, out;
		struct npu_op *pool;
		bool fused = i == 0;

		begin();
		input(in = tensor("in", 8, 8, 16, 0.1f, 5));
		middle = tensor("middle", 8, 8, 16, own_scale[i], 3);
		sum = tensor("sum", 8, 8, 16, 0.12f, 2);
		out = tensor("out", 4, 4, 16, 0.12f, 2);
		conv("conv", in, middle, 3, 1);
		add_op(NPU_OP_ADD, "add", middle, in, sum);
		pool = add_op(NPU_OP_MAX_POOL, "pool", sum, NPU_NONE, out);
		pool->window.r = pool->window.s = pool->window.stride_y = pool->window.stride_x = 2;
		optimise("nv_small", out);
		assert_int_equal(net->layer_count, fused ? 1 : 3);
		assert_int_equal(net->layer[0].has_pool, fused);
		assert_int_equal(net->layer[net->layer_count - 1].output, net->tensor_value[out]);
		if (fused) {
			assert_int_equal(net->layer[0].unpooled, net->tensor_value[sum]);
			assert_int_equal(net->layer[0].group_count, 3);
		}
		end();
	}
}

static void test_large_pool(void **state)
{
	u32 in, out;
	struct npu_op *pool;

	begin();
	input(in = tensor("in", 20, 20, 16, 0.1f, 5));
	out = tensor("out", 20, 20, 16, 0.1f, 5);
	pool = add_op(NPU_OP_MAX_POOL, "pool", in, NPU_NONE, out);
	pool->window.r = pool->window.s = 9;
	pool->window.pad_top = pool->window.pad_left = 4;
	pool->window.pad_bottom = pool->window.pad_right = 4;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 2);
	assert_int_equal(net->layer[0].pool.window.r, 8);
	assert_int_equal(net->layer[0].pool.window.pad_top, 4);
	assert_int_equal(net->layer[0].group_count, 0);
	assert_int_equal(net->layer[1].pool.window.r, 2);
	assert_int_equal(net->layer[1].pool.window.pad_top, 0);
	assert_int_equal(net->layer[1].group_count, 1);
	end();
}

/* Windows of any size: with strides of the window's own, or any where there is one output. */
static void test_many_passes(void **state)
{
	static const struct {
		u32 in, out, kernel, stride, passes, first_stride;
		enum npu_layer_kind kind;
	} list[] = {
		{ 112, 1, 112, 1, 3, 8, NPU_LAYER_PDP }, /* 112 = 8 * 14, 14 = 7 * 2 */
		{ 96, 3, 32, 32, 2, 8, NPU_LAYER_PDP }, /* 32 = 8 * 4 */
		{ 64, 40, 25, 1, 4, 1, NPU_LAYER_PDP }, /* 25 = 8 + 7 + 7 + 3 */
		{ 65, 5, 17, 12, 2, 4, NPU_LAYER_PDP }, /* 17 = 5 + 3 * 4 */
		{ 39, 3, 5, 17, 1, 0, NPU_LAYER_CPU }, /* no stride in between */
	};
	u32 i, in, out;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct npu_op *pool;

		begin();
		input(in = tensor("in", list[i].in, 60, 16, 0.1f, 5));
		out = tensor("out", list[i].out, 60, 16, 0.1f, 5);
		pool = add_op(NPU_OP_MAX_POOL, "pool", in, NPU_NONE, out);
		pool->window.r = list[i].kernel;
		pool->window.stride_y = list[i].stride;
		optimise("nv_small", out);
		assert_int_equal(net->layer_count, list[i].passes);
		assert_int_equal(net->layer[0].kind, list[i].kind);
		if (list[i].kind == NPU_LAYER_PDP)
			assert_int_equal(net->layer[0].pool.window.stride_y, list[i].first_stride);
		end();
	}
}

/* A kernel as large as the plane; beyond 32 of cells, and many inputs in a row as several rows. */
static void test_fully_connected_plane(void **state)
{
	static const struct {
		u32 h, w, c, r, s, channels;
		bool cpu;
	} list[] = {
		{ 16, 16, 8, 16, 16, 8, false },
		{ 64, 16, 8, 32, 16, 16, false }, /* two rows are surfaces of a cell */
		{ 1, 1, 10000, 2, 1, 5000, false }, /* 5000 are whole atoms */
		{ 1, 1, 8209, 0, 0, 0, true }, /* a prime */
		{ 1, 1, 16384, 0, 0, 0, true }, /* eight kernels of that are the whole buffer */
	};
	u32 i, in, out, weights;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		u32 inputs = list[i].h * list[i].w * list[i].c;
		const struct npu_layer *layer;

		begin();
		input(in = tensor("in", list[i].h, list[i].w, list[i].c, 0.1f, 5));
		out = tensor("out", 1, 1, 10, 20.0f, 5);
		weights = tensor("weights", 1, 1, inputs, 0.01f, 0);
		graph->tensor[weights].rank = 2;
		graph->tensor[weights].dim[0] = 10;
		graph->tensor[weights].dim[1] = inputs;
		graph->tensor[weights].bytes = (u64)inputs * 10;
		fill(weights, 3);
		add_op(NPU_OP_FULLY_CONNECTED, "fc", in, weights, out);
		optimise("nv_small", out);
		layer = &net->layer[net->layer_count - 1];
		assert_int_equal(layer->kind == NPU_LAYER_CPU, list[i].cpu);
		if (!list[i].cpu) {
			assert_int_equal(layer->window.r, list[i].r);
			assert_int_equal(layer->window.s, list[i].s);
			assert_int_equal(layer->c, list[i].channels);
		}
		end();
	}
}

/* The image with its edges, then a convolution for each phase; thirds are not the reference's. */
static void test_bilinear(void **state)
{
	static const struct {
		u32 h, w, convs;
		bool corners;
	} list[] = {
		{ 48, 80, 4, false }, /* 2 x 2 phases */
		{ 24, 160, 4, false }, /* 1 x 4 */
		{ 72, 120, 0, false }, /* thirds */
		{ 96, 160, 0, true },	{ 96, 160, 16, false },
		{ 192, 320, 0, false }, /* weights of 15 * 15 */
	};
	u32 i, j, in, out, convs;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		struct npu_op *op;

		begin();
		input(in = tensor("in", 24, 40, 8, 0.1f, 5));
		out = tensor("out", list[i].h, list[i].w, 8, 0.1f, 5);
		op = add_op(NPU_OP_RESIZE_BILINEAR, "larger", in, NPU_NONE, out);
		op->half_pixel_centers = !list[i].corners;
		op->align_corners = list[i].corners;
		optimise("nv_small", out);
		for (j = convs = 0; j < net->layer_count; j++)
			convs += net->layer[j].kind == NPU_LAYER_CONV;
		print_message("to %u x %u: %u convolutions, %s\n", list[i].h, list[i].w, convs,
			      net->layer[0].cpu_reason ? net->layer[0].cpu_reason : "");
		assert_int_equal(convs, list[i].convs);
		assert_int_equal(net->layer[0].kind == NPU_LAYER_CPU, !list[i].convs);
		assert_int_equal(net->layer[net->layer_count - 1].group_count, 1);
		end();
	}
}

/* Extremes of whole planes are pooling, the least with PDP's own kind. */
static void test_extremes(void **state)
{
	u32 in, out;

	begin();
	input(in = tensor("in", 40, 56, 32, 0.1f, 5));
	out = tensor("out", 1, 1, 32, 0.1f, 5);
	add_op(NPU_OP_REDUCE_MIN, "least", in, NPU_NONE, out)->axes = 6;
	optimise("nv_small", out);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_PDP);
	assert_int_equal(net->layer[0].pool.kind, NPU_POOL_MIN);
	assert_int_equal(net->layer[net->layer_count - 1].group_count, 1);
	end();

	begin();
	input(in = tensor("in", 40, 56, 32, 0.1f, 5));
	out = tensor("out", 40, 56, 1, 0.1f, 5);
	add_op(NPU_OP_REDUCE_MAX, "most", in, NPU_NONE, out)->axes = 8;
	optimise("nv_small", out);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CPU);
	end();
}

/* On planes smaller than half of the window both passes still have something to look at. */
static void test_large_window_on_small_plane(void **state)
{
	u32 size, in, out;

	for (size = 1; size < 8; size++) {
		struct npu_op *pool;

		begin();
		input(in = tensor("in", size, 1, 8, 0.1f, 5));
		out = tensor("out", size, 1, 8, 0.1f, 5);
		pool = add_op(NPU_OP_MAX_POOL, "pool", in, NPU_NONE, out);
		pool->window.r = pool->window.s = 11;
		pool->window.pad_top = pool->window.pad_left = 5;
		pool->window.pad_bottom = pool->window.pad_right = 5;
		optimise("nv_small", out);
		assert_int_equal(net->layer_count, size > 4 ? 2 : 1);
		assert_true(net->layer[0].pool.window.r <= 8 && net->layer[0].pool.window.s == 1);
		end();
	}
}

/* A reshape in front of padding that becomes the convolution's is not dropped with it. */
static void test_reshape_before_pad(void **state)
{
	u32 in, middle, reshaped, padded, out;
	struct npu_op *pad, *op;

	begin();
	input(in = tensor("in", 4, 4, 32, 0.1f, 5));
	middle = tensor("middle", 4, 4, 32, 0.1f, 5);
	reshaped = tensor("reshaped", 8, 8, 8, 0.1f, 5);
	padded = tensor("padded", 10, 10, 8, 0.1f, 5);
	out = tensor("out", 8, 8, 8, 0.1f, 0);
	conv("first", in, middle, 1, 1);
	add_op(NPU_OP_RESHAPE, "reshape", middle, NPU_NONE, reshaped);
	pad = add_op(NPU_OP_PAD, "pad", reshaped, NPU_NONE, padded);
	pad->begin[1] = pad->end[1] = pad->begin[2] = pad->end[2] = 1;
	op = conv("conv", padded, out, 3, 1);
	memset(&op->window.pad_top, 0, 4 * sizeof(u32));
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 3);
	assert_int_equal(net->layer[1].kind, NPU_LAYER_CPU);
	assert_int_equal(net->value[net->layer[2].input].h, 8);
	assert_int_equal(net->layer[2].window.pad_top, 1);
	end();
}

/* What SDP cannot compute closely enough becomes a step of the CPU, padding in front of it too. */
static void test_scales_too_far_apart(void **state)
{
	u32 a, b, sum, padded, out;
	struct npu_op *pad, *op;

	begin();
	input(a = tensor("a", 8, 8, 8, 1e-6f, 5));
	input(b = tensor("b", 8, 8, 8, 1e3f, 5));
	sum = tensor("sum", 8, 8, 8, 1e3f, 5);
	add_op(NPU_OP_ADD, "add", b, a, sum);
	optimise("nv_small", sum);
	assert_int_equal(net->layer_count, 1);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CPU);
	assert_non_null(strstr(net->layer[0].cpu_reason, "too far apart"));
	end();

	begin();
	input(a = tensor("a", 8, 8, 8, 1e8f, 5));
	padded = tensor("padded", 10, 10, 8, 1e8f, 5);
	out = tensor("out", 8, 8, 8, 1e-6f, 5);
	pad = add_op(NPU_OP_PAD, "pad", a, NPU_NONE, padded);
	pad->begin[1] = pad->end[1] = pad->begin[2] = pad->end[2] = 1;
	op = conv("conv", padded, out, 3, 1);
	memset(&op->window.pad_top, 0, 4 * sizeof(u32));
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 2);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CPU);
	assert_int_equal(net->layer[1].kind, NPU_LAYER_CPU);
	assert_int_equal(net->layer[1].input, net->layer[0].output);
	end();
}

/* A kernel group that the whole buffer cannot hold is no error either; a budget too small is one. */
static void test_too_large(void **state)
{
	u32 in, out;

	begin();
	input(in = tensor("in", 12, 12, 200, 0.1f, 5));
	out = tensor("out", 12, 12, 8, 0.1f, 0);
	conv("conv", in, out, 11, 1);
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CPU);
	assert_non_null(strstr(net->layer[0].cpu_reason, "whole buffer"));
	end();

	begin();
	input(in = tensor("in", 12, 12, 100, 0.1f, 5));
	out = tensor("out", 12, 12, 8, 0.1f, 0);
	conv("conv", in, out, 11, 1);
	optimise("nv_small", out);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CONV);
	end();
}

/* Depthwise: whole surfaces in each block, merged where planes are small and channels come free. */
static void test_depthwise(void **state)
{
	u32 in, out;

	begin();
	input(in = tensor("in", 40, 40, 20, 0.1f, 5));
	out = tensor("out", 40, 40, 20, 0.1f, 5);
	conv("depthwise", in, out, 3, 20);
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	assert_int_equal(net->layer[0].blocks, 3);
	assert_int_equal(net->layer[0].c, 8);
	assert_int_equal(net->layer[0].k, 8);
	end();

	begin();
	input(in = tensor("in", 3, 3, 64, 0.1f, 5));
	out = tensor("out", 3, 3, 64, 0.1f, 5);
	conv("depthwise", in, out, 3, 64);
	optimise("nv_small_256", out);
	assert_true(net->layer[0].blocks < 8);
	assert_true(net->layer[0].c > 8);
	end();
}

/* Weights minus zero point beyond INT8: one surface read twice, or some channels on the CPU. */
static void unsigned_weights(u32 channels, s32 zero, u8 largest, bool twice, u32 layers)
{
	u32 in, out, t;
	struct npu_op *op;
	u8 *data;

	begin();
	input(in = tensor("in", 8, 8, channels, 0.1f, 133));
	out = tensor("out", 8, 8, 24, 0.1f, 120);
	op = conv("conv", in, out, 1, 1);
	for (t = 0; t < graph->tensor_count; t++)
		graph->tensor[t].dtype = NPU_U8;
	((s32 *)graph->tensor[op->input[1]].quant.zero)[0] = zero;
	data = (u8 *)graph->tensor[op->input[1]].data;
	memset(data, zero, graph->tensor[op->input[1]].bytes);
	data[5 * channels + 1] = largest;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, layers);
	assert_int_equal(net->layer[0].repeat_surface, twice);
	assert_int_equal(net->layer[0].pad_value, 5);
	if (layers == 2) {
		assert_int_equal(net->layer[1].kind, NPU_LAYER_CPU);
		assert_int_equal(net->layer[1].patch_count, 1);
		assert_int_equal(net->layer[1].patch[0], 5);
		assert_int_equal(net->layer[1].output, net->layer[0].output);
		assert_int_equal(net->layer[0].group_count, 0);
		assert_int_equal(net->layer[1].group_count, 1);
	}
	end();
}

static void test_unsigned(void **state)
{
	unsigned_weights(8, 150, 0, true, 1);
	unsigned_weights(32, 150, 0, false, 2);
	/* The one difference that two weights do not make. */
	unsigned_weights(8, 0, 254, true, 1);
	unsigned_weights(8, 0, 255, true, 2);
	unsigned_weights(8, 255, 0, true, 1);
}

/* Operands of a concatenation are computed in place, but for one that the application gives. */
static void test_concat(void **state)
{
	u32 in, a, out;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	a = tensor("a", 8, 8, 16, 0.1f, 5);
	out = tensor("out", 8, 8, 32, 0.1f, 5);
	conv("conv", in, a, 3, 1);
	add_op(NPU_OP_CONCAT, "concat", a, in, out)->axis = 3;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 2);
	assert_int_equal(net->value[net->tensor_value[a]].alias, net->tensor_value[out]);
	assert_int_equal(net->value[net->tensor_value[in]].alias, NPU_NONE);
	assert_int_equal(net->layer[1].kind, NPU_LAYER_SDP);
	end();
}

/* Channels that are no whole atoms: with gaps first, which a convolution closes. */
static void test_concat_odd(void **state)
{
	u32 in, out;

	begin();
	input(in = tensor("in", 8, 8, 12, 0.1f, 5));
	out = tensor("out", 8, 8, 24, 0.1f, 5);
	add_op(NPU_OP_CONCAT, "concat", in, in, out)->axis = 3;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 3);
	assert_int_equal(net->layer[2].kind, NPU_LAYER_CONV);
	assert_int_equal(net->layer[2].c, 16 + 12);
	assert_int_equal(net->layer[2].k, 24);
	end();
}

/* A slice is a view where its channels begin with an atom, else a convolution picks them. */
static void test_slice(void **state)
{
	u32 in, part, out, begin_c;
	struct npu_op *op;
	u32 i;

	for (begin_c = 8; begin_c <= 9; begin_c++) {
		begin();
		input(in = tensor("in", 8, 8, 32, 0.1f, 5));
		part = tensor("part", 5, 4, 16, 0.1f, 5);
		out = tensor("out", 5, 4, 16, 0.1f, 5);
		op = add_op(NPU_OP_SLICE, "slice", in, NPU_NONE, part);
		for (i = 0; i < 4; i++) {
			op->begin[i] = i == 3 ? (s32)begin_c : i == 1 ? 2 : 0;
			op->end[i] = (s32)graph->tensor[part].dim[i];
			op->step[i] = 1;
		}
		conv("conv", part, out, 3, 1);
		optimise("nv_small", out);
		assert_int_equal(net->layer_count, begin_c == 8 ? 1 : 2);
		assert_int_equal(net->layer[0].kind, NPU_LAYER_CONV);
		if (begin_c == 8) {
			const struct npu_value *value = &net->value[net->tensor_value[part]];

			assert_int_equal(value->alias, net->tensor_value[in]);
			assert_int_equal(value->alias_offset, 2 * 8 * 8 + 8 * 8 * 8);
			assert_int_equal(value->line_stride, 8 * 8);
		}
		end();
	}
}

/* The tables of CDP, in the network's weights. */
static s16 table_entry(const struct npu_layer *layer, u32 i)
{
	s16 entry;

	memcpy(&entry, net->weights + layer->cdp.lut + i * sizeof(entry), sizeof(entry));
	return entry;
}

/* Functions of one element are tables of CDP, one entry for each of 256 values. */
static void test_table(void **state)
{
	const struct npu_layer *layer;
	u32 in, out, i;

	for (i = 0; i < nvdla_config_count; i++) {
		begin();
		input(in = tensor("in", 8, 8, 16, 0.1f, 5));
		out = tensor("out", 8, 8, 16, 0.1f, -3);
		add_op(NPU_OP_FUNCTION, "neg", in, NPU_NONE, out)->function = NPU_FN_NEG;
		optimise(nvdla_configs[i].name, out);
		assert_int_equal(net->layer_count, 1);
		layer = &net->layer[0];
		assert_int_equal(layer->kind, NPU_LAYER_CDP);
		assert_int_equal(layer->cdp.sum, 0);
		/* -3 - (x - 5), of x = -128, and of 0 in both tables */
		assert_int_equal(table_entry(layer, 0), 127);
		assert_int_equal(table_entry(layer, NPU_CDP_LE_ENTRIES + 128), 2);
		assert_int_equal(table_entry(layer, NPU_CDP_LE_ENTRIES + 255), -125);
		end();
	}
}

/* Without a sum the curve starts at 1 / sqrt(4), and falls. */
static void test_lrn(void **state)
{
	const struct npu_layer *layer;
	struct npu_op *op;
	u32 in, out, i;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	out = tensor("out", 8, 8, 16, 0.05f, -3);
	op = add_op(NPU_OP_LRN, "lrn", in, NPU_NONE, out);
	op->size = 5;
	op->alpha = 0.1f;
	op->beta = 0.5f;
	op->gamma = 4;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	layer = &net->layer[0];
	assert_int_equal(layer->kind, NPU_LAYER_CDP);
	assert_int_equal(layer->cdp.sum, 5);
	assert_int_equal(layer->cdp.zero, 5);
	assert_int_equal(table_entry(layer, 0), 1 << 14);
	assert_int_equal(table_entry(layer, NPU_CDP_LE_ENTRIES), 1 << 14);
	/* 256 steps reach 5 * 133^2, with as few as possible. */
	assert_int_equal(layer->cdp.lo_shift, 9);
	for (i = 1; i < NPU_CDP_LO_ENTRIES; i++)
		assert_true(table_entry(layer, NPU_CDP_LE_ENTRIES + i) <
			    table_entry(layer, NPU_CDP_LE_ENTRIES + i - 1));
	end();
}

/* A CDP layer that a file might hold: every number is looked at. */
static void test_verify_cdp(void **state)
{
	struct npu_diag diag = { 0 };
	struct npu_layer *layer, good;
	u32 in, out, i;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	out = tensor("out", 8, 8, 16, 1.0f / 256, -128);
	add_op(NPU_OP_LOGISTIC, "logistic", in, NPU_NONE, out);
	optimise("nv_small", out);
	layer = &net->layer[0];
	good = *layer;
	assert_int_equal(npu_net_verify(net, &diag), 0);
	for (i = 0; i < 12; i++) {
		struct npu_cdp *cdp = &layer->cdp;

		*layer = good;
		cdp->sum = i == 0 ? 4 : i == 1 ? 11 : 0;
		cdp->zero = i == 2 ? 128 : 0;
		cdp->le_shift += i == 3 ? NPU_CDP_MAX_SHIFT + 1 : 0;
		cdp->lo_shift += i == 4 ? NPU_CDP_MAX_SHIFT + 1 : 0;
		cdp->start = i == 5 ? -257 : -128;
		cdp->cvt_scale = i == 6 ? 1 << 15 : 1;
		cdp->cvt_offset = i == 7 ? NPU_CDP_MAX_OFFSET : 0;
		cdp->cvt_shift = i == 8 ? NPU_CDP_MAX_CVT_SHIFT + 1 : 0;
		cdp->lut += i == 9 ? 1 : i == 10 ? net->weights_bytes : 0;
		if (i == 11)
			cdp->lut = UINT64_MAX - 1;
		assert_int_equal(npu_net_verify(net, &diag), -EINVAL);
	}
	*layer = good;
	assert_int_equal(npu_net_verify(net, &diag), 0);
	end();
}

/* A constant of the channels is a table of BN; a value by channel is read from where it lies. */
static void test_by_channel(void **state)
{
	u32 in, other, out, i;

	for (i = 0; i < 2; i++) {
		begin();
		input(in = tensor("in", 8, 8, 16, 0.1f, 5));
		other = tensor("other", 1, 1, 16, 0.2f, 3);
		if (i)
			fill(other, 7);
		else
			input(other);
		out = tensor("out", 8, 8, 16, 0.2f, -4);
		add_op(NPU_OP_ADD, "add", in, other, out);
		optimise("nv_small", out);
		assert_int_equal(net->layer_count, 1);
		assert_int_equal(net->layer[0].kind, NPU_LAYER_SDP);
		assert_int_equal(net->layer[0].sdp.bn.alu_from,
				 i ? NPU_OPERAND_REGISTER : NPU_OPERAND_CHANNEL);
		end();
	}
}

/* Twice as large: two passes for each surface spread a row, one copies it to the next. */
static void test_resize(void **state)
{
	u32 in, out;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	out = tensor("out", 16, 16, 16, 0.1f, 5);
	add_op(NPU_OP_RESIZE_NEAREST, "resize", in, NPU_NONE, out);
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 2 * 2 + 1);
	assert_int_equal(net->layer[4].group_count, 1);
	end();
}

/* Flattened planes: the fully connected layer is a kernel over the plane, the reshape is gone. */
static void test_flatten(void **state)
{
	u32 in, flat, weights, out, dim[2] = { 1, 8 * 8 * 16 };
	struct npu_op *op;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	flat = tensor("flat", 1, 1, 8 * 8 * 16, 0.1f, 5);
	graph->tensor[flat].rank = 2;
	memcpy(graph->tensor[flat].dim, dim, sizeof(dim));
	weights = tensor("weights", 1, 10, 8 * 8 * 16, 0.01f, 0);
	graph->tensor[weights].rank = 2;
	graph->tensor[weights].dim[0] = 10;
	graph->tensor[weights].dim[1] = dim[1];
	fill(weights, 1);
	out = tensor("out", 1, 1, 10, 0.1f, 0);
	add_op(NPU_OP_RESHAPE, "reshape", in, NPU_NONE, flat);
	op = add_op(NPU_OP_FULLY_CONNECTED, "fc", flat, weights, out);
	assert_non_null(op);
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	assert_int_equal(net->layer[0].window.r, 8);
	assert_int_equal(net->layer[0].window.s, 8);
	assert_int_equal(net->layer[0].c, 16);
	assert_int_equal(net->tensor_value[flat], net->tensor_value[in]);
	end();
}

/* What no unit does is a step of the CPU, with a reason. */
static void test_cpu(void **state)
{
	u32 in, out;

	begin();
	input(in = tensor("in", 1, 1, 10, 0.1f, 5));
	out = tensor("out", 1, 1, 10, 1.0f / 256, -128);
	add_op(NPU_OP_SOFTMAX, "softmax", in, NPU_NONE, out);
	graph->op[0].axis = 3;
	graph->op[0].alpha = 1;
	optimise("nv_small", out);
	assert_int_equal(net->layer_count, 1);
	assert_int_equal(net->layer[0].kind, NPU_LAYER_CPU);
	assert_non_null(net->layer[0].cpu_reason);
	assert_int_equal(net->value[net->tensor_value[in]].layout, NPU_LINEAR);
	end();
}

/* The verifier finds what a tampered file may contain. */
static void test_verify(void **state)
{
	struct npu_diag diag = { 0 };
	struct npu_layer *layer, good;
	u32 in, out;

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	out = tensor("out", 8, 8, 24, 0.1f, 3);
	conv("conv", in, out, 3, 1);
	optimise("nv_small", out);
	layer = &net->layer[0];
	good = *layer;
	assert_int_equal(npu_net_verify(net, &diag), 0);
#define REFUSED(change)                                                \
	do {                                                           \
		change;                                                \
		diag.text[0] = 0;                                      \
		assert_int_equal(npu_net_verify(net, &diag), -EINVAL); \
		assert_true(diag.text[0]);                             \
		*layer = good;                                         \
	} while (0)
	REFUSED(layer->kind = 9);
	REFUSED(layer->input = net->value_count);
	REFUSED(layer->output = layer->input);
	REFUSED(layer->c = 17);
	REFUSED(layer->k = 40);
	REFUSED(layer->blocks = 2);
	REFUSED(layer->weights = net->weights_bytes);
	REFUSED(layer->weight_bytes++);
	REFUSED(layer->window.r = 33);
	REFUSED(layer->window.pad_bottom = 2);
	REFUSED(layer->sdp.bs.table = net->weights_bytes - 8);
	REFUSED(layer->sdp.bs.alu_shift = 32);
	REFUSED(layer->sdp.cvt_scale = 40000);
	REFUSED(layer->op = 1);
	REFUSED(layer->pad_value = 200);
	REFUSED(layer->has_pool = true);
	REFUSED(layer->patch_count = 1);
	net->value[layer->output].bytes--;
	REFUSED(layer->c = good.c);
	end();

	begin();
	input(in = tensor("in", 8, 8, 16, 0.1f, 5));
	out = tensor("out", 8, 8, 16, 0.2f, 3);
	add_op(NPU_OP_QUANTIZE, "quantize", in, NPU_NONE, out);
	optimise("nv_small", out);
	layer = &net->layer[0];
	good = *layer;
	assert_int_equal(good.kind, NPU_LAYER_SDP);
	assert_int_equal(npu_net_verify(net, &diag), 0);
	REFUSED(layer->has_pool = true);
	REFUSED(layer->repeat_surface = true);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_pad_alone),
		cmocka_unit_test(test_residual),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_pool_after_residual),
		cmocka_unit_test(test_large_pool),
		cmocka_unit_test(test_many_passes),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_fully_connected_plane),
		cmocka_unit_test(test_bilinear),
		cmocka_unit_test(test_large_window_on_small_plane),
		cmocka_unit_test(test_reshape_before_pad),
		cmocka_unit_test(test_scales_too_far_apart),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_depthwise),
		cmocka_unit_test(test_unsigned),
		cmocka_unit_test(test_concat),
		cmocka_unit_test(test_concat_odd),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_lrn),
		cmocka_unit_test(test_verify_cdp),
		cmocka_unit_test(test_by_channel),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_flatten),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_verify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
