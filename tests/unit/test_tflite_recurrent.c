// SPDX-License-Identifier: MIT
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM and UNIDIRECTIONAL_SEQUENCE_RNN as they are unrolled, against their
 * equations in double precision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include <math.h>

#include "graph.h"
#include "reference.h"
#include "tflite_writer.h"

#define MAX_STEPS 20
#define MAX_BATCH 2
#define INPUTS 3
#define HIDDEN 4

/* In the file's order. */
enum gate { INPUT, FORGET, CELL, OUTPUT, GATES };

struct trial {
	bool lstm, time_major, peephole, stored; /* stored: weights are INT8 with a scale */
	u32 steps, batch;
	float clip;
	float x[MAX_STEPS * MAX_BATCH * INPUTS];
	float w[GATES][HIDDEN * INPUTS], r[GATES][HIDDEN * HIDDEN], b[GATES][HIDDEN];
	float p[3][HIDDEN]; /* of input, forget and output gate */
	s8 stored_w[GATES][HIDDEN * INPUTS], stored_r[GATES][HIDDEN * HIDDEN];
	double y[MAX_STEPS][MAX_BATCH][HIDDEN];
};

static const float scale[] = { 1.0f / 64 };
static u32 seed = 3;

static u32 draw(u32 below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void fill(float *values, u32 count, float size)
{
	u32 i;

	for (i = 0; i < count; i++)
		values[i] = (float)((s32)draw(2001) - 1000) / 1000 * size;
}

/* Weights are stored in eight bits, and are what that stands for. */
static void fill_weights(float *values, s8 *bytes, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		bytes[i] = (s8)((s32)draw(255) - 127);
		values[i] = (float)bytes[i] * scale[0];
	}
}

static void draw_trial(struct trial *t)
{
	u32 g;

	memset(t, 0, sizeof(*t));
	t->lstm = draw(3);
	t->time_major = draw(2);
	t->peephole = draw(2);
	t->stored = draw(2);
	t->steps = 1 + draw(MAX_STEPS);
	t->batch = 1 + draw(MAX_BATCH);
	t->clip = draw(2) ? 0.5f + (float)draw(20) : 0;
	fill(t->x, ARRAY_SIZE(t->x), 3);
	for (g = 0; g < GATES; g++) {
		fill_weights(t->w[g], t->stored_w[g], HIDDEN * INPUTS);
		fill_weights(t->r[g], t->stored_r[g], HIDDEN * HIDDEN);
		fill(t->b[g], HIDDEN, 1);
	}
	fill(t->p[0], 3 * HIDDEN, 1);
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double gate_sum(const struct trial *t, enum gate g, const float *x, const double *h, u32 u)
{
	double sum = (double)t->b[g][u];
	u32 i;

	for (i = 0; i < INPUTS; i++)
		sum += (double)t->w[g][u * INPUTS + i] * (double)x[i];
	for (i = 0; i < HIDDEN; i++)
		sum += (double)t->r[g][u * HIDDEN + i] * h[i];
	return sum;
}

static double peep(const struct trial *t, u32 which, u32 u, double cell)
{
	return t->peephole ? (double)t->p[which][u] * cell : 0;
}

static void lstm_step(const struct trial *t, const float *x, const double *before, double *h,
		      double *cell)
{
	u32 u;

	for (u = 0; u < HIDDEN; u++) {
		double i = sigmoid(gate_sum(t, INPUT, x, before, u) + peep(t, 0, u, cell[u]));
		double f = sigmoid(gate_sum(t, FORGET, x, before, u) + peep(t, 1, u, cell[u]));

		cell[u] = f * cell[u] + i * tanh(gate_sum(t, CELL, x, before, u));
		if (t->clip > 0)
			cell[u] = fmin(fmax(cell[u], -(double)t->clip), (double)t->clip);
		h[u] = sigmoid(gate_sum(t, OUTPUT, x, before, u) + peep(t, 2, u, cell[u])) *
		       tanh(cell[u]);
	}
}

static const float *input_at(const struct trial *t, u32 step, u32 n)
{
	return t->x + (t->time_major ? step * t->batch + n : n * t->steps + step) * INPUTS;
}

static void compute(struct trial *t)
{
	double h[HIDDEN], before[HIDDEN], cell[HIDDEN];
	u32 n, step, u;

	for (n = 0; n < t->batch; n++) {
		memset(h, 0, sizeof(h));
		memset(cell, 0, sizeof(cell));
		for (step = 0; step < t->steps; step++) {
			memcpy(before, h, sizeof(h));
			if (t->lstm)
				lstm_step(t, input_at(t, step, n), before, h, cell);
			else
				for (u = 0; u < HIDDEN; u++)
					h[u] = tanh(gate_sum(t, INPUT, input_at(t, step, n), before,
							     u));
			memcpy(t->y[step][n], h, sizeof(h));
		}
	}
}

static struct tw_tensor weights(const struct trial *t, const float *real, const s8 *stored,
				s32 columns)
{
	struct tw_tensor tensor = { .name = "weights",
				    .type = t->stored ? TW_I8 : TW_F32,
				    .rank = 2,
				    .dim = { HIDDEN, columns },
				    .data = t->stored ? (const void *)stored : real,
				    .bytes = (t->stored ? 1 : 4) * HIDDEN * (u32)columns };

	tensor.scales = t->stored;
	tensor.scale = scale;
	return tensor;
}

static struct tw_tensor vector(const float *values)
{
	return (struct tw_tensor){ .name = "vector",
				   .type = TW_F32,
				   .rank = 1,
				   .dim = { HIDDEN },
				   .data = values,
				   .bytes = 4 * HIDDEN };
}

/* Tensors have the numbers of the operator's inputs; the output is the last. */
enum { LSTM_INPUTS = 20, RNN_INPUTS = 5 };

static u8 *write_trial(const struct trial *t, bool variable, size_t *bytes)
{
	const u32 inputs = t->lstm ? LSTM_INPUTS : RNN_INPUTS;
	const s32 steps = (s32)t->steps, batch = (s32)t->batch;
	struct tw_tensor state = { .name = "state",
				   .type = TW_F32,
				   .rank = 2,
				   .dim = { batch, HIDDEN },
				   .variable = variable };
	struct tw_tensor tensor[LSTM_INPUTS + 1] = { { .name = "x", .type = TW_F32, .rank = 3 } };
	struct tw_op op = { .code = t->lstm ? 44 : 35,
			    .inputs = inputs,
			    .outputs = 1,
			    .output = { (s32)inputs },
			    .options_type = t->lstm ? 71 : 31,
			    .options = 3 };
	struct tw_model model = { .version = 3,
				  .tensors = inputs + 1,
				  .tensor = tensor,
				  .ops = 1,
				  .op = &op,
				  .inputs = 1,
				  .input = { 0 },
				  .outputs = 1,
				  .output = { (s32)inputs } };
	u32 i, g;

	for (i = 0; i < inputs; i++) {
		op.input[i] = (s32)i;
		if (i)
			tensor[i] = vector(t->p[0]);
	}
	if (t->lstm) {
		for (g = 0; g < GATES; g++) {
			tensor[1 + g] = weights(t, t->w[g], t->stored_w[g], INPUTS);
			tensor[5 + g] = weights(t, t->r[g], t->stored_r[g], HIDDEN);
			tensor[12 + g] = vector(t->b[g]);
		}
		for (g = 0; g < 3; g++) {
			tensor[9 + g] = vector(t->p[g]);
			op.input[9 + g] = t->peephole ? (s32)(9 + g) : -1;
		}
		op.input[16] = op.input[17] = -1;
		tensor[18] = tensor[19] = state;
		memcpy(op.option,
		       ((struct tw_option[]){
			       { 0, 4 }, { 1, tw_float(t->clip) }, { 3, t->time_major } }),
		       3 * sizeof(*op.option));
	} else {
		tensor[1] = weights(t, t->w[INPUT], t->stored_w[INPUT], INPUTS);
		tensor[2] = weights(t, t->r[INPUT], t->stored_r[INPUT], HIDDEN);
		tensor[3] = vector(t->b[INPUT]);
		tensor[4] = state;
		memcpy(op.option,
		       ((struct tw_option[]){ { 0, t->time_major }, { 1, 4 }, { 2, 0 } }),
		       3 * sizeof(*op.option));
	}
	tensor[inputs] = (struct tw_tensor){ .name = "y", .type = TW_F32, .rank = 3 };
	memcpy(tensor[0].dim,
	       ((s32[]){ t->time_major ? steps : batch, t->time_major ? batch : steps, INPUTS }),
	       3 * sizeof(s32));
	memcpy(tensor[inputs].dim,
	       ((s32[]){ t->time_major ? steps : batch, t->time_major ? batch : steps, HIDDEN }),
	       3 * sizeof(s32));
	return tw_write(&model, bytes);
}

static void check_trial(struct trial *t, u32 number)
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph;
	struct npu_diag diag = { 0 };
	const float *y;
	size_t bytes;
	u32 step, n, u;
	u8 *file = write_trial(t, true, &bytes);

	assert_non_null(file);
	if (npu_import_tflite(file, bytes, "trial", NULL, &graph, &diag) ||
	    npu_reference_new(graph, &reference, &diag))
		fail_msg("trial %u: %s", number, diag.text);
	memcpy(npu_reference_tensor(reference, graph->input[0]), t->x,
	       4 * (size_t)t->steps * t->batch * INPUTS);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	y = npu_reference_tensor(reference, graph->output[0]);
	compute(t);
	for (step = 0; step < t->steps; step++)
		for (n = 0; n < t->batch; n++)
			for (u = 0; u < HIDDEN; u++) {
				u32 row = t->time_major ? step * t->batch + n : n * t->steps + step;
				double got = (double)y[row * HIDDEN + u];

				if (fabs(got - t->y[step][n][u]) > 2e-5)
					fail_msg("trial %u, step %u, unit %u: %g, not %g", number,
						 step, u, got, t->y[step][n][u]);
			}
	npu_reference_free(reference);
	npu_graph_free(graph);
	free(file);
}

static void test_layers(void **unused)
{
	struct trial t;
	u32 i;

	for (i = 0; i < 200; i++) {
		draw_trial(&t);
		check_trial(&t, i);
	}
}

/* A cell that begins with zero is five away from it after five steps at most: a limit of ten is none. */
static void test_limit_that_is_not_reached(void **unused)
{
	struct trial t;
	u32 i, operators[2];

	draw_trial(&t);
	t.lstm = true;
	t.steps = 5;
	for (i = 0; i < 2; i++) {
		struct npu_graph *graph;
		struct npu_diag diag;
		size_t bytes;
		u8 *file;

		t.clip = i ? 10 : 0;
		file = write_trial(&t, true, &bytes);
		assert_int_equal(npu_import_tflite(file, bytes, "t", NULL, &graph, &diag), 0);
		operators[i] = graph->op_count;
		npu_graph_free(graph);
		free(file);
	}
	assert_int_equal(operators[0], operators[1]);
}

static void expect_refusal(const struct trial *t, bool variable, const char *words)
{
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { 0 };
	size_t bytes;
	u8 *file = write_trial(t, variable, &bytes);

	assert_int_equal(npu_import_tflite(file, bytes, "t", NULL, &graph, &diag), -ENOTSUP);
	if (!strstr(diag.text, words))
		fail_msg("\"%s\" is not in: %s", words, diag.text);
	free(file);
}

static void test_refusals(void **unused)
{
	struct trial t;

	draw_trial(&t);
	t.lstm = true;
	expect_refusal(&t, false, "no variable");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layers),
		cmocka_unit_test(test_limit_that_is_not_reached),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
