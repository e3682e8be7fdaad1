// SPDX-License-Identifier: MIT
/*
 * RNN, GRU and LSTM as they are unrolled, against the equations of ONNX's documentation
 * in double precision.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "graph.h"
#include "onnx_writer.h"
#include "reference.h"

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT

#define MAX_STEPS 40
#define BATCH 2
#define INPUTS 3
#define HIDDEN 4
#define MAX_GATES 4

enum kind { RNN, GRU, LSTM };

static const u32 gates_of[] = { [RNN] = 1, [GRU] = 3, [LSTM] = 4 };

struct trial {
	enum kind kind;
	u32 steps, directions;
	bool reverse, late, batch_first, state, peephole;
	float x[MAX_STEPS * BATCH * INPUTS];
	float w[2 * MAX_GATES * HIDDEN * INPUTS], r[2 * MAX_GATES * HIDDEN * HIDDEN];
	float b[2 * 2 * MAX_GATES * HIDDEN], p[2 * 3 * HIDDEN];
	float first[2][2 * BATCH * HIDDEN];
	double y[MAX_STEPS][2][BATCH][HIDDEN], last[2][2][BATCH][HIDDEN];
};

static u32 seed = 99;

static void fill(float *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		values[i] = (float)((s32)(seed >> 16) % 2001 - 1000) / 1000;
	}
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* The weighted inputs, or state, of one gate's unit. */
static double weigh(const float *weights, const double *values, u32 unit, u32 count)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < count; i++)
		sum += (double)weights[unit * count + i] * values[i];
	return sum;
}

struct direction {
	const struct trial *t;
	const float *w, *r, *b, *p;
	double x[INPUTS], h[HIDDEN], c[HIDDEN];
};

static double from_input(const struct direction *d, u32 unit)
{
	return weigh(d->w, d->x, unit, INPUTS) + (double)d->b[unit];
}

static double from_state(const struct direction *d, u32 unit, const double *h)
{
	return weigh(d->r, h, unit, HIDDEN) + (double)d->b[gates_of[d->t->kind] * HIDDEN + unit];
}

static double whole_gate(const struct direction *d, u32 unit)
{
	return from_input(d, unit) + from_state(d, unit, d->h);
}

static void lstm_step(struct direction *d)
{
	double h[HIDDEN];
	u32 u;

	for (u = 0; u < HIDDEN; u++) {
		const double look[] = { (double)d->p[u], (double)d->p[HIDDEN + u],
					(double)d->p[2 * HIDDEN + u] };
		double i = sigmoid(whole_gate(d, u) + look[0] * d->c[u]);
		double f = sigmoid(whole_gate(d, 2 * HIDDEN + u) + look[2] * d->c[u]);
		double o;

		d->c[u] = f * d->c[u] + i * tanh(whole_gate(d, 3 * HIDDEN + u));
		o = sigmoid(whole_gate(d, HIDDEN + u) + look[1] * d->c[u]);
		h[u] = o * tanh(d->c[u]);
	}
	memcpy(d->h, h, sizeof(h));
}

static void gru_step(struct direction *d)
{
	double z[HIDDEN], r[HIDDEN], reset[HIDDEN], h[HIDDEN];
	u32 u;

	for (u = 0; u < HIDDEN; u++) {
		z[u] = sigmoid(whole_gate(d, u));
		r[u] = sigmoid(whole_gate(d, HIDDEN + u));
		reset[u] = r[u] * d->h[u];
	}
	for (u = 0; u < HIDDEN; u++) {
		u32 unit = 2 * HIDDEN + u;
		double part = d->t->late ? r[u] * from_state(d, unit, d->h)
					 : from_state(d, unit, reset);

		h[u] = (1 - z[u]) * tanh(from_input(d, unit) + part) + z[u] * d->h[u];
	}
	memcpy(d->h, h, sizeof(h));
}

static void rnn_step(struct direction *d)
{
	double h[HIDDEN];
	u32 u;

	for (u = 0; u < HIDDEN; u++)
		h[u] = tanh(whole_gate(d, u));
	memcpy(d->h, h, sizeof(h));
}

static void step(struct direction *d)
{
	if (d->t->kind == LSTM)
		lstm_step(d);
	else if (d->t->kind == GRU)
		gru_step(d);
	else
		rnn_step(d);
}

/* Where element [i][batch][k] of @outer rows lies in the model's order. */
static size_t place(const struct trial *t, u32 outer, u32 i, u32 batch, u32 k, u32 width)
{
	return ((size_t)(t->batch_first ? batch * outer + i : i * BATCH + batch)) * width + k;
}

static void compute(struct trial *t, u32 which, u32 batch)
{
	const u32 gates = gates_of[t->kind];
	struct direction d = {
		.t = t,
		.w = t->w + which * gates * HIDDEN * INPUTS,
		.r = t->r + which * gates * HIDDEN * HIDDEN,
		.b = t->b + which * 2 * gates * HIDDEN,
		.p = t->p + which * 3 * HIDDEN,
	};
	u32 i, k;

	for (k = 0; t->state && k < HIDDEN; k++) {
		d.h[k] = (double)t->first[0][place(t, t->directions, which, batch, k, HIDDEN)];
		d.c[k] = (double)t->first[1][place(t, t->directions, which, batch, k, HIDDEN)];
	}
	for (i = 0; i < t->steps; i++) {
		u32 at = t->reverse || which ? t->steps - 1 - i : i;

		for (k = 0; k < INPUTS; k++)
			d.x[k] = (double)t->x[place(t, t->steps, at, batch, k, INPUTS)];
		step(&d);
		memcpy(t->y[at][which][batch], d.h, sizeof(d.h));
	}
	memcpy(t->last[0][which][batch], d.h, sizeof(d.h));
	memcpy(t->last[1][which][batch], d.c, sizeof(d.c));
}

/* ---- the model ---- */

static void write_weights(struct onnx_writer *w, const struct trial *t)
{
	const u32 gates = gates_of[t->kind] * HIDDEN;
	char dims[40];

	snprintf(dims, sizeof(dims), "%u,%u,%u", t->directions, gates, INPUTS);
	onnx_floats(w, "w", dims, t->w);
	snprintf(dims, sizeof(dims), "%u,%u,%u", t->directions, gates, HIDDEN);
	onnx_floats(w, "r", dims, t->r);
	snprintf(dims, sizeof(dims), "%u,%u", t->directions, 2 * gates);
	onnx_floats(w, "b", dims, t->b);
	snprintf(dims, sizeof(dims), "%u,%u", t->directions, 3 * HIDDEN);
	onnx_floats(w, "p", dims, t->p);
}

static u8 *write_model(const struct trial *t, size_t *bytes)
{
	static const char *const types[] = { [RNN] = "RNN", [GRU] = "GRU", [LSTM] = "LSTM" };
	struct onnx_writer w;
	char dims[40], inputs[60];

	onnx_begin(&w, 14);
	snprintf(dims, sizeof(dims), "%u,%u,%u", t->batch_first ? BATCH : t->steps,
		 t->batch_first ? t->steps : BATCH, INPUTS);
	onnx_input(&w, "x", FLOAT, dims);
	write_weights(&w, t);
	snprintf(dims, sizeof(dims), "%u,%u,%u", t->batch_first ? BATCH : t->directions,
		 t->batch_first ? t->directions : BATCH, HIDDEN);
	if (t->state)
		onnx_input(&w, "h0", FLOAT, dims);
	if (t->state && t->kind == LSTM)
		onnx_input(&w, "c0", FLOAT, dims);
	snprintf(inputs, sizeof(inputs), "x,w,r,b,%s%s%s", t->state ? ",h0" : ",",
		 t->kind != LSTM ? ""
		 : t->state	 ? ",c0"
				 : ",",
		 t->peephole ? ",p" : "");
	onnx_node(&w, types[t->kind], inputs, t->kind == LSTM ? "y,yh,yc" : "y,yh");
	onnx_attribute_int(&w, "hidden_size", HIDDEN);
	onnx_attribute_int(&w, "layout", t->batch_first);
	if (t->late)
		onnx_attribute_int(&w, "linear_before_reset", 1);
	if (t->directions == 2)
		onnx_attribute_text(&w, "direction", "bidirectional");
	else if (t->reverse)
		onnx_attribute_text(&w, "direction", "reverse");
	onnx_output(&w, "y");
	onnx_output(&w, "yh");
	if (t->kind == LSTM)
		onnx_output(&w, "yc");
	return onnx_end(&w, bytes);
}

/* Y is [steps][directions][batch][hidden], or the batch is in front. */
static void check_states(const struct trial *t, const float *y)
{
	u32 i, d, n, k;

	for (i = 0; i < t->steps; i++)
		for (d = 0; d < t->directions; d++)
			for (n = 0; n < BATCH; n++)
				for (k = 0; k < HIDDEN; k++) {
					size_t row =
						t->batch_first
							? (n * t->steps + i) * t->directions + d
							: (i * t->directions + d) * BATCH + n;

					assert_float_equal(y[row * HIDDEN + k], t->y[i][d][n][k],
							   2e-5);
				}
}

static void check_last(const struct trial *t, const float *y, u32 which)
{
	u32 d, n, k;

	for (d = 0; d < t->directions; d++)
		for (n = 0; n < BATCH; n++)
			for (k = 0; k < HIDDEN; k++)
				assert_float_equal(y[place(t, t->directions, d, n, k, HIDDEN)],
						   t->last[which][d][n][k], 2e-5);
}

static void check(const struct trial *t, const struct npu_graph *graph)
{
	const void *from[] = { t->x, t->first[0], t->first[1] };
	struct npu_reference *reference;
	struct npu_diag diag = { "" };
	u32 i;

	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	for (i = 0; i < graph->input_count; i++)
		memcpy(npu_reference_tensor(reference, graph->input[i]), from[i],
		       graph->tensor[graph->input[i]].bytes);
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	check_states(t, npu_reference_tensor(reference, graph->output[0]));
	for (i = 1; i < graph->output_count; i++)
		check_last(t, npu_reference_tensor(reference, graph->output[i]), i - 1);
	npu_reference_free(reference);
}

static void try(struct trial *t)
{
	struct npu_diag diag = { "" };
	struct npu_graph *graph;
	size_t bytes;
	u32 d, n;
	u8 *data;

	fill(t->x, ARRAY_SIZE(t->x));
	fill(t->w, ARRAY_SIZE(t->w));
	fill(t->r, ARRAY_SIZE(t->r));
	fill(t->b, ARRAY_SIZE(t->b));
	if (t->peephole)
		fill(t->p, ARRAY_SIZE(t->p));
	fill(t->first[0], ARRAY_SIZE(t->first[0]));
	fill(t->first[1], ARRAY_SIZE(t->first[1]));
	data = write_model(t, &bytes);
	if (npu_import_onnx(data, bytes, "recurrent", NULL, &graph, &diag))
		fail_msg("%s", diag.text);
	for (d = 0; d < t->directions; d++)
		for (n = 0; n < BATCH; n++)
			compute(t, d, n);
	check(t, graph);
	npu_graph_free(graph);
	free(data);
}

/* Both kinds of order, all directions, with and without a state to begin with. */
static void try_all(enum kind kind, u32 steps)
{
	u32 i;

	for (i = 0; i < 24; i++) {
		struct trial t = {
			.kind = kind,
			.steps = steps,
			.directions = i % 3 == 2 ? 2 : 1,
			.reverse = i % 3 == 1,
			.batch_first = i / 3 % 2,
			.state = i / 6 % 2,
			.late = kind == GRU && i / 12 % 2,
			.peephole = kind == LSTM && i / 12 % 2,
		};

		try(&t);
	}
}

static void test_rnn(void **unused)
{
	try_all(RNN, 1);
	try_all(RNN, 5);
}

static void test_gru(void **unused)
{
	try_all(GRU, 1);
	try_all(GRU, 5);
}

static void test_lstm(void **unused)
{
	try_all(LSTM, 1);
	try_all(LSTM, 5);
}

/* More states than one concatenation takes, and more room than the file's size gives. */
static void test_many_steps(void **unused)
{
	try_all(LSTM, MAX_STEPS);
}

static void test_refused(void **unused)
{
	struct trial *t = calloc(1, sizeof(*t));
	struct npu_diag diag = { "" };
	struct npu_graph *graph;
	size_t bytes;
	u8 *data;

	assert_non_null(t);
	t->kind = LSTM;
	t->directions = 1;
	t->steps = 1025;
	data = write_model(t, &bytes);
	assert_int_equal(npu_import_onnx(data, bytes, "long", NULL, &graph, &diag), -ENOTSUP);
	assert_non_null(strstr(diag.text, "1025 steps; at most 1024"));
	free(data);
	free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rnn),	cmocka_unit_test(test_gru),
		cmocka_unit_test(test_lstm),	cmocka_unit_test(test_many_steps),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("recurrent layers", tests, NULL, NULL);
}
