// SPDX-License-Identifier: MIT
/*
 * Convolutions of cells: each tap of each output reads the element that the operator says, within the
 * registers; and what layers some well-known windows become.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "optimise/cells.h"
#include "random_model.h"

static const char *const configs[] = { "nv_small",	"nv_small_256",	       "nv_small_256_full",
				       "nv_medium_512", "nv_medium_1024_full", "nv_large" };

/**
 * struct large - a convolution
 * @h, @w, @c, @k: rows, columns and channels of its input, kernels
 * @window: bottom and right padding alone decide how many outputs there are
 */
struct large {
	u32 h, w, c, k, groups;
	struct npu_window window;
};

static u32 outputs(u32 in, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride)
{
	return (u32)((before + in + after - npu_dilated(kernel, dilation)) / stride + 1);
}

static u32 tensor(struct npu_graph *graph, const char *name, u32 n, u32 h, u32 w, u32 c)
{
	static const float scale = 0.1f;
	static const s32 zero = 3;
	u32 t = npu_graph_add_tensor(graph, name, NPU_I8, 4, (const u32[]){ n, h, w, c });

	assert_int_not_equal(t, NPU_NONE);
	graph->tensor[t].quant = (struct npu_quant){ 1, 0, &scale, &zero };
	return t;
}

static struct npu_graph *make_graph(const struct large *large)
{
	const struct npu_window *w = &large->window;
	struct npu_graph *graph = npu_graph_new("large");
	u32 in = tensor(graph, "in", 1, large->h, large->w, large->c);
	u32 weights = tensor(graph, "weights", large->k, w->r, w->s, large->c / large->groups);
	u32 out = tensor(
		graph, "out", 1,
		outputs(large->h, w->pad_top, w->pad_bottom, w->r, w->dilation_y, w->stride_y),
		outputs(large->w, w->pad_left, w->pad_right, w->s, w->dilation_x, w->stride_x),
		large->k);
	static const s32 no_zero;
	static const float scale = 0.01f;
	struct npu_op *op = npu_graph_add_op(graph, NPU_OP_CONV, "conv", 2, 1);
	u8 *data = npu_arena_alloc(&graph->arena, graph->tensor[weights].bytes);

	memset(data, 1, graph->tensor[weights].bytes);
	graph->tensor[weights].data = data;
	graph->tensor[weights].quant = (struct npu_quant){ 1, 0, &scale, &no_zero };
	op->input[0] = in;
	op->input[1] = weights;
	op->output[0] = out;
	op->window = *w;
	op->groups = large->groups;
	graph->input = npu_arena_array(&graph->arena, 1, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	graph->input[graph->input_count++] = in;
	graph->output[graph->output_count++] = out;
	return graph;
}

/* ---- every tap ----------------------------------------------------------------------------- */

/* The element of the input that tap @k of output @o reads, by way of cells. */
static s64 element(const struct npu_cell_axis *axis, u32 o, u32 k)
{
	u32 tap, rest;
	s64 cell;

	npu_cell_tap(axis, o % axis->phases, k, &tap, &rest);
	assert_true(tap < axis->taps && rest < axis->cell);
	cell = (s64)(o / axis->phases) * axis->stride + (s64)tap * axis->dilation - axis->pad;
	return cell * axis->cell + rest - axis->before;
}

static void check_axis(const struct npu_cell_axis *axis, u32 in, u32 out, u32 kernel, u32 stride,
		       u32 dilation, u32 pad)
{
	s64 reach = (s64)(axis->outs - 1) * axis->stride + npu_dilated(axis->taps, axis->dilation) -
		    axis->pad;
	u32 o, k;

	assert_true(axis->taps <= 32 && axis->stride <= 8 && axis->dilation <= 32);
	assert_true(axis->pad <= 31 && axis->pad < npu_dilated(axis->taps, axis->dilation));
	assert_true(reach - axis->cells <= 31);
	assert_true(axis->outs * axis->phases >= out);
	for (o = 0; o < out; o++)
		for (k = 0; k < kernel; k++) {
			s64 want = (s64)o * stride + (s64)k * dilation - pad;

			assert_int_equal(element(axis, o, k), want);
			/* What is there is in a cell; what is not is padding, or a cell has it. */
			if (want >= 0 && want < in)
				assert_true(want + axis->before < (s64)axis->cells * axis->cell);
			else if (want + axis->before >= 0 &&
				 want + axis->before < (s64)axis->cells * axis->cell)
				assert_true(axis->filled);
		}
	if (!axis->moved)
		assert_true(!axis->filled && axis->cells * axis->cell <= in);
}

static void check_large(const struct large *large, const char *config, u32 *found)
{
	struct npu_graph *graph = make_graph(large);
	const struct npu_opt opt = { .graph = graph, .config = nvdla_config_find(config) };
	const struct npu_window *w = &large->window;
	const u32 in[4] = { 1, large->h, large->w, large->c };
	struct npu_cells cells;
	u32 out[4];

	npu_tensor_nhwc(npu_op_output(graph, &graph->op[0]), out);
	if (!npu_plan_cells(&opt, &graph->op[0], in, w, &cells)) {
		const struct npu_cell_axis *y = cells.turned ? &cells.x : &cells.y;
		const struct npu_cell_axis *x = cells.turned ? &cells.y : &cells.x;

		check_axis(y, in[1], out[1], w->r, w->stride_y, w->dilation_y, w->pad_top);
		check_axis(x, in[2], out[2], w->s, w->stride_x, w->dilation_x, w->pad_left);
		assert_true(npu_cell_channels(&opt, &cells) <= NPU_MAX_EXTENT);
		(*found)++;
	}
	npu_graph_free(graph);
}

static void pick_axis(struct random *r, u32 *in, u32 *kernel, u32 *stride, u32 *dilation, u32 *pad)
{
	u32 extent;

	*kernel = random_pick(r, 1, random_chance(r, 50) ? 5 : 90);
	*stride = random_chance(r, 50) ? 1 : random_pick(r, 1, 40);
	*dilation = random_chance(r, 70) ? 1 : random_pick(r, 1, 45);
	extent = (u32)npu_dilated(*kernel, *dilation);
	*pad = random_pick(r, 0, min(extent - 1, 60u));
	*in = extent + random_pick(r, 0, 60);
}

static void test_taps(void **state)
{
	struct random r = { 5 };
	u32 i, found = 0;

	for (i = 0; i < 300; i++) {
		struct large large = { .c = random_pick(&r, 1, 20), .groups = 1 };
		struct npu_window *w = &large.window;

		pick_axis(&r, &large.h, &w->r, &w->stride_y, &w->dilation_y, &w->pad_top);
		pick_axis(&r, &large.w, &w->s, &w->stride_x, &w->dilation_x, &w->pad_left);
		w->pad_bottom = w->pad_top;
		if (random_chance(&r, 30)) {
			large.h = w->r = 1;
			w->pad_top = w->pad_bottom = 0;
		}
		if (random_chance(&r, 30))
			large.groups = large.c;
		large.k = large.groups * random_pick(&r, 1, 3);
		check_large(&large, configs[i % ARRAY_SIZE(configs)], &found);
	}
	assert_true(found > 100);
}

/* ---- what becomes of them ------------------------------------------------------------------- */

/* @convs and @moves: layers of the NPU; 0 convolutions: a step of the CPU, for @reason. */
struct expectation {
	const char *config;
	u32 convs, moves;
	const char *reason;
	struct large large;
};

static void check_expectation(const struct expectation *e)
{
	struct npu_graph *graph = make_graph(&e->large);
	struct npu_diag diag = { "" };
	struct npu_net *net;
	u32 kinds[NPU_LAYER_CPU + 1] = { 0 }, i;

	assert_int_equal(npu_graph_verify(graph, &diag), 0);
	if (npu_optimise(graph, nvdla_config_find(e->config), &net, &diag))
		fail_msg("%s", diag.text);
	for (i = 0; i < net->layer_count; i++)
		kinds[net->layer[i].kind]++;
	assert_int_equal(kinds[NPU_LAYER_CONV], e->convs);
	assert_int_equal(kinds[NPU_LAYER_SDP], e->moves);
	assert_int_equal(kinds[NPU_LAYER_CPU], e->reason != NULL);
	if (e->reason)
		assert_non_null(strstr(net->layer[0].cpu_reason, e->reason));
	else
		assert_int_equal(net->layer[net->layer_count - 1].group_count, 1);
	npu_net_free(net);
}

static void test_layers(void **state)
{
	static const struct expectation list[] = {
		/* Sound: every 4th sample, cells of whole strides; then cells of 20, every 8th. */
		{ "nv_small", 1, 0, NULL, { 1, 8000, 1, 32, 1, { 1, 80, 1, 4, 1, 1 } } },
		{ "nv_large", 1, 0, NULL, { 1, 16000, 1, 64, 1, { 1, 400, 1, 160, 1, 1 } } },
		{ "nv_large", 1, 0, NULL, { 16000, 1, 1, 32, 1, { 80, 1, 4, 1, 1, 1 } } },
		/* No rows of equal length. */
		{ "nv_large", 0, 0, "8192", { 1, 16001, 1, 64, 1, { 1, 400, 1, 160, 1, 1 } } },
		/* Patches of an image: pairs of columns, every 8th; rows are a view. */
		{ "nv_small", 1, 2, NULL, { 224, 224, 3, 192, 1, { 16, 16, 16, 16, 1, 1 } } },
		/* A tall kernel: two phases of rows, written in place. */
		{ "nv_small", 1, 0, NULL, { 64, 8, 4, 8, 1, { 33, 1, 1, 1, 1, 1, 16, 0, 15, 0 } } },
		/* Gaps: rows between windows are channels without weights. */
		{ "nv_small", 1, 0, NULL, { 90, 5, 8, 8, 1, { 3, 1, 9, 1, 1, 1 } } },
		/* Two surfaces are laid side by side first. */
		{ "nv_small", 1, 1, NULL, { 90, 5, 16, 8, 1, { 3, 1, 9, 1, 1, 1 } } },
		/* No kernel group of it fits the buffer. */
		{ "nv_small", 0, 0, "cells", { 80, 80, 8, 8, 1, { 80, 80, 1, 1, 1, 1 } } },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		print_message("window %u\n", i);
		check_expectation(&list[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taps),
		cmocka_unit_test(test_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
