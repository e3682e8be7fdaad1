// SPDX-License-Identifier: MIT
/*
 * Convolutions between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, against what TensorFlow's definitions
 * of the three operators say, carried out on a real batch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "graph.h"
#include "program.h"
#include "reference.h"
#include "tflite_writer.h"

#define MAX_CHANNELS 3
#define MAX_KERNEL 3
#define MAX_SIDE 24
#define MAX_ELEMENTS (MAX_SIDE * MAX_SIDE * MAX_CHANNELS)

enum { TRIALS = 300 };

/* Images of one batch, as the definitions make them. */
struct batch {
	u32 dim[4];
	double value[MAX_ELEMENTS];
};

struct trial {
	u32 height, width, channels, kernels, kernel[2], block[2], pad[2][2], crop[2][2];
	bool same, depthwise, line; /* line: of rank 3, a convolution along its length */
	float x[MAX_ELEMENTS];
	float weights[MAX_CHANNELS * MAX_CHANNELS * MAX_KERNEL * MAX_KERNEL];
	float bias[MAX_CHANNELS];
	struct batch spread, convolved, joined;
};

static u32 seed = 5;

static u32 draw(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void fill(float *values, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		values[i] = (float)((s32)draw(2001) - 1000) / 500;
}

static double *at(struct batch *b, u32 n, u32 y, u32 x, u32 c)
{
	return &b->value[((n * b->dim[1] + y) * b->dim[2] + x) * b->dim[3] + c];
}

static void draw_trial(struct trial *t)
{
	u32 d;

	memset(t, 0, sizeof(*t));
	t->line = !draw(4);
	t->depthwise = draw(2);
	t->same = draw(2);
	t->channels = 1 + draw(MAX_CHANNELS);
	t->kernels = t->depthwise ? t->channels : 1 + draw(MAX_CHANNELS);
	for (d = 0; d < 2; d++) {
		u32 size = 1 + draw(8), rest;
		bool flat = t->line && !d;

		t->kernel[d] = flat ? 1 : 1 + draw(MAX_KERNEL);
		t->block[d] = flat ? 1 : 1 + draw(3);
		t->pad[d][0] = flat ? 0 : draw(4);
		t->pad[d][1] = flat ? 0 : draw(4);
		if (flat)
			size = 1;
		/* A whole number of blocks, at least as many as the kernel has elements. */
		rest = (size + t->pad[d][0] + t->pad[d][1]) % t->block[d];
		t->pad[d][1] += rest ? t->block[d] - rest : 0;
		while ((size + t->pad[d][0] + t->pad[d][1]) / t->block[d] < t->kernel[d])
			t->pad[d][1] += t->block[d];
		if (d)
			t->width = size;
		else
			t->height = size;
	}
	fill(t->x, t->height * t->width * t->channels);
	fill(t->weights, ARRAY_SIZE(t->weights));
	fill(t->bias, ARRAY_SIZE(t->bias));
}

static void spread(struct trial *t)
{
	struct batch *s = &t->spread;
	u32 by = t->block[0], bx = t->block[1], n, y, x, c;

	s->dim[0] = by * bx;
	s->dim[1] = (t->height + t->pad[0][0] + t->pad[0][1]) / by;
	s->dim[2] = (t->width + t->pad[1][0] + t->pad[1][1]) / bx;
	s->dim[3] = t->channels;
	for (n = 0; n < by * bx; n++)
		for (y = 0; y < s->dim[1]; y++)
			for (x = 0; x < s->dim[2]; x++)
				for (c = 0; c < t->channels; c++) {
					u32 row = y * by + n / bx - t->pad[0][0];
					u32 column = x * bx + n % bx - t->pad[1][0];

					*at(s, n, y, x, c) =
						row < t->height && column < t->width
							? (double)t->x[(row * t->width + column) *
									       t->channels +
								       c]
							: 0;
				}
}

/* Kernels in the file: [K][R][S][C], or [1][R][S][C] of depthwise ones. */
static double weight(const struct trial *t, u32 k, u32 r, u32 s, u32 c)
{
	u32 tap = r * t->kernel[1] + s;

	if (t->depthwise)
		return k == c ? (double)t->weights[tap * t->kernels + k] : 0;
	return (double)t->weights[(k * t->kernel[0] * t->kernel[1] + tap) * t->channels + c];
}

static double convolve_at(struct trial *t, u32 n, u32 y, u32 x, u32 k)
{
	double sum = (double)t->bias[k];
	u32 r, s, c;

	for (r = 0; r < t->kernel[0]; r++)
		for (s = 0; s < t->kernel[1]; s++)
			for (c = 0; c < t->channels; c++) {
				u32 row = y + r - (t->same ? (t->kernel[0] - 1) / 2 : 0);
				u32 column = x + s - (t->same ? (t->kernel[1] - 1) / 2 : 0);

				if (row < t->spread.dim[1] && column < t->spread.dim[2])
					sum += weight(t, k, r, s, c) *
					       *at(&t->spread, n, row, column, c);
			}
	return fmin(fmax(sum, 0), 6);
}

static void convolve(struct trial *t)
{
	struct batch *o = &t->convolved;
	u32 n, y, x, k;

	*o = (struct batch){
		.dim = { t->spread.dim[0], t->spread.dim[1] - (t->same ? 0 : t->kernel[0] - 1),
			 t->spread.dim[2] - (t->same ? 0 : t->kernel[1] - 1), t->kernels }
	};
	for (n = 0; n < o->dim[0]; n++)
		for (y = 0; y < o->dim[1]; y++)
			for (x = 0; x < o->dim[2]; x++)
				for (k = 0; k < t->kernels; k++)
					*at(o, n, y, x, k) = convolve_at(t, n, y, x, k);
}

static void join(struct trial *t)
{
	struct batch *j = &t->joined;
	u32 d, y, x, k, size[2];

	for (d = 0; d < 2; d++) {
		size[d] = t->convolved.dim[1 + d] * t->block[d];
		t->crop[d][0] = draw(min(size[d], 3u));
		t->crop[d][1] = draw(min(size[d] - t->crop[d][0], 3u));
		if (t->line && !d)
			t->crop[d][0] = t->crop[d][1] = 0;
	}
	*j = (struct batch){ .dim = { 1, size[0] - t->crop[0][0] - t->crop[0][1],
				      size[1] - t->crop[1][0] - t->crop[1][1], t->kernels } };
	for (y = 0; y < j->dim[1]; y++)
		for (x = 0; x < j->dim[2]; x++)
			for (k = 0; k < t->kernels; k++) {
				u32 row = y + t->crop[0][0], column = x + t->crop[1][0];
				u32 n = row % t->block[0] * t->block[1] + column % t->block[1];

				*at(j, 0, y, x, k) = *at(&t->convolved, n, row / t->block[0],
							 column / t->block[1], k);
			}
}

static struct tw_tensor value(const char *name, bool line, const u32 dim[4])
{
	struct tw_tensor t = { .name = name, .type = TW_F32, .rank = line ? 3 : 4 };
	u32 d, to = 0;

	for (d = 0; d < 4; d++)
		if (!line || d != 1)
			t.dim[to++] = (s32)dim[d];
	return t;
}

static struct tw_tensor list(const char *name, const s32 *values, u32 rows, u32 columns)
{
	return (struct tw_tensor){ .name = name,
				   .type = TW_I32,
				   .rank = columns ? 2 : 1,
				   .dim = { (s32)rows, (s32)columns },
				   .data = values,
				   .bytes = 4 * rows * max(columns, 1u) };
}

enum {
	X,
	BLOCK,
	PADS,
	SPREAD,
	EXPANDED, /* of lines: with a height of 1 */
	WEIGHTS,
	BIAS,
	CONV,
	RELU6,
	SQUEEZED,
	CROPS,
	OUT,
	TENSORS
};

/* The model of a trial; constants are the trial's or static. */
static u8 *write_trial(const struct trial *t, size_t *bytes)
{
	static s32 block[2], pads[4], crops[4];
	const u32 in[] = { 1, t->height, t->width, t->channels };
	const u32 first = t->line, count = 2 - first;
	const u32 taps = t->kernel[0] * t->kernel[1];
	struct tw_tensor tensor[TENSORS] = {
		[X] = value("x", t->line, in),
		[BLOCK] = list("block", block, count, 0),
		[PADS] = list("pads", pads, count, 2),
		[SPREAD] = value("spread", t->line, t->spread.dim),
		[EXPANDED] = value("expanded", false, t->spread.dim),
		[WEIGHTS] = { .name = "weights",
			      .type = TW_F32,
			      .rank = 4,
			      .dim = { t->depthwise ? 1 : (s32)t->kernels, (s32)t->kernel[0],
				       (s32)t->kernel[1],
				       t->depthwise ? (s32)t->kernels : (s32)t->channels },
			      .data = t->weights,
			      .bytes = 4 * t->kernels * taps * (t->depthwise ? 1 : t->channels) },
		[BIAS] = { .name = "bias",
			   .type = TW_F32,
			   .rank = 1,
			   .dim = { (s32)t->kernels },
			   .data = t->bias,
			   .bytes = 4 * t->kernels },
		[CONV] = value("conv", false, t->convolved.dim),
		[RELU6] = value("relu6", false, t->convolved.dim),
		[SQUEEZED] = value("squeezed", t->line, t->convolved.dim),
		[CROPS] = list("crops", crops, count, 2),
		[OUT] = value("out", t->line, t->joined.dim),
	};
	struct tw_op op[6] = {
		{ .code = 38,
		  .inputs = 3,
		  .input = { X, BLOCK, PADS },
		  .outputs = 1,
		  .output = { SPREAD } },
	};
	const struct tw_op conv = { .code = t->depthwise ? 4 : 3,
				    .inputs = 3,
				    .input = { t->line ? EXPANDED : SPREAD, WEIGHTS, BIAS },
				    .outputs = 1,
				    .output = { CONV },
				    .options_type = t->depthwise ? 2 : 1,
				    .options = 3,
				    .option = { { 0, !t->same }, { 1, 1 }, { 2, 1 } } };
	const struct tw_op relu = {
		.code = 21, .inputs = 1, .input = { CONV }, .outputs = 1, .output = { RELU6 }
	};
	struct tw_model model = { .version = 3,
				  .tensors = TENSORS,
				  .tensor = tensor,
				  .op = op,
				  .ops = 1,
				  .inputs = 1,
				  .input = { X },
				  .outputs = 1,
				  .output = { OUT } };
	u32 d;

	for (d = 0; d < count; d++) {
		block[d] = (s32)t->block[first + d];
		pads[2 * d] = (s32)t->pad[first + d][0];
		pads[2 * d + 1] = (s32)t->pad[first + d][1];
		crops[2 * d] = (s32)t->crop[first + d][0];
		crops[2 * d + 1] = (s32)t->crop[first + d][1];
	}
	if (t->line)
		op[model.ops++] = (struct tw_op){ .code = 22,
						  .inputs = 1,
						  .input = { SPREAD },
						  .outputs = 1,
						  .output = { EXPANDED } };
	op[model.ops++] = conv;
	op[model.ops++] = relu;
	if (t->line)
		op[model.ops++] = (struct tw_op){ .code = 43,
						  .inputs = 1,
						  .input = { RELU6 },
						  .outputs = 1,
						  .output = { SQUEEZED } };
	op[model.ops++] = (struct tw_op){ .code = 37,
					  .inputs = 3,
					  .input = { t->line ? SQUEEZED : RELU6, BLOCK, CROPS },
					  .outputs = 1,
					  .output = { OUT } };
	return tw_write(&model, bytes);
}

static void check_trial(struct trial *t, u32 number)
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph;
	struct npu_diag diag = { 0 };
	const float *out;
	size_t bytes, i;
	u8 *file;

	spread(t);
	convolve(t);
	join(t);
	file = write_trial(t, &bytes);
	assert_non_null(file);
	if (npu_import_tflite(file, bytes, "trial", NULL, &graph, &diag) ||
	    npu_reference_new(graph, &reference, &diag))
		fail_msg("trial %u: %s", number, diag.text);
	memcpy(npu_reference_tensor(reference, graph->input[0]), t->x,
	       4 * (size_t)t->height * t->width * t->channels);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	out = npu_reference_tensor(reference, graph->output[0]);
	assert_int_equal(npu_tensor_elements(&graph->tensor[graph->output[0]]),
			 (u64)t->joined.dim[1] * t->joined.dim[2] * t->joined.dim[3]);
	for (i = 0; i < npu_tensor_elements(&graph->tensor[graph->output[0]]); i++)
		if (fabs((double)out[i] - t->joined.value[i]) > 1e-4)
			fail_msg("trial %u, element %zu: %g, not %g", number, i, (double)out[i],
				 t->joined.value[i]);
	npu_reference_free(reference);
	npu_graph_free(graph);
	free(file);
}

static void test_dilated_convolutions(void **unused)
{
	struct trial *t = malloc(sizeof(*t));
	u32 i;

	assert_non_null(t);
	for (i = 0; i < TRIALS; i++) {
		draw_trial(t);
		check_trial(t, i);
	}
	free(t);
}

/* An image taken apart that nothing puts together, or that something else than a convolution reads. */
static void expect_refusal(const struct tw_op *op, u32 ops, s32 output, const char *words)
{
	static const s32 two[] = { 2, 2 }, three[] = { 3, 3 }, zeros[4], axes[] = { 1, 2 };
	const struct tw_tensor tensor[] = {
		{ .name = "x", .type = TW_F32, .rank = 4, .dim = { 1, 6, 6, 2 } },
		list("two", two, 2, 0),
		list("zeros", zeros, 2, 2),
		{ .name = "apart", .type = TW_F32, .rank = 4, .dim = { 4, 3, 3, 2 } },
		list("three", three, 2, 0),
		{ .name = "out", .type = TW_F32, .rank = 4, .dim = { 1, 6, 6, 2 } },
		list("axes", axes, 2, 0),
		{ .name = "mean", .type = TW_F32, .rank = 2, .dim = { 4, 2 } },
	};
	const struct tw_model model = { .version = 3,
					.tensors = ARRAY_SIZE(tensor),
					.tensor = tensor,
					.ops = ops,
					.op = op,
					.inputs = 1,
					.input = { 0 },
					.outputs = 1,
					.output = { output } };
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { 0 };
	size_t bytes;
	u8 *file = tw_write(&model, &bytes);

	assert_non_null(file);
	assert_int_equal(npu_import_tflite(file, bytes, "model", NULL, &graph, &diag), -ENOTSUP);
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in: %s", words, diag.text);
	free(file);
}

static void test_refusals(void **unused)
{
	const struct tw_op apart = {
		.code = 38, .inputs = 3, .input = { 0, 1, 2 }, .outputs = 1, .output = { 3 }
	};
	const struct tw_op together = {
		.code = 37, .inputs = 3, .input = { 3, 1, 2 }, .outputs = 1, .output = { 5 }
	};
	struct tw_op other = together;
	const struct tw_op mean = {
		.code = 40, .inputs = 2, .input = { 3, 6 }, .outputs = 1, .output = { 7 }
	};

	other.input[1] = 4;
	expect_refusal(&apart, 1, 3, "no BATCH_TO_SPACE_ND");
	expect_refusal((struct tw_op[]){ apart, other }, 2, 5,
		       "no SPACE_TO_BATCH_ND with the same");
	expect_refusal((struct tw_op[]){ apart, mean }, 2, 7, "element by element");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dilated_convolutions),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
