// SPDX-License-Identifier: MIT
#include "recurrent.h"

#include <math.h>

const u32 npu_recurrent_gates[NPU_RECURRENT_COUNT] = {
	[NPU_RECURRENT_PLAIN] = 1,
	[NPU_RECURRENT_LSTM] = 4,
	[NPU_RECURRENT_GRU] = 3,
};

/*
 * An expression in the making.  NPU_NONE stands for zeros, as states are before the first step:
 * sums and products with it are not computed.  After a failure nothing is added any more.
 */
struct unroll {
	struct npu_graph *graph;
	const struct npu_recurrent *layer;
	u32 gates; /* columns of all gates */
	u32 weights, state_weights[3], bias, state_bias[3], peephole;
	u32 clip[2]; /* the cell's least and greatest value; NPU_NONE: it stays within them */
	bool failed;
};

static u32 add_tensor(struct unroll *u, u32 rows, u32 columns)
{
	const u32 dim[] = { rows, columns };
	u32 tensor = u->failed ? NPU_NONE
			       : npu_graph_add_tensor(u->graph, u->layer->name, NPU_F32, 2, dim);

	u->failed |= tensor == NPU_NONE;
	return tensor;
}

static struct npu_op *add_op(struct unroll *u, enum npu_op_kind kind, u32 inputs, u32 out)
{
	struct npu_op *op = u->failed ? NULL
				      : npu_graph_add_op(u->graph, kind, u->layer->name, inputs, 1);

	u->failed |= !op;
	if (op)
		op->output[0] = out;
	return op;
}

/* A constant of weights that live elsewhere. */
static u32 add_constant(struct unroll *u, u32 rank, u32 rows, u32 columns, const float *data)
{
	const u32 dim[] = { rows, columns };
	u32 tensor = u->failed ? NPU_NONE
			       : npu_graph_add_tensor(u->graph, u->layer->name, NPU_F32, rank, dim);

	u->failed |= tensor == NPU_NONE;
	if (tensor != NPU_NONE)
		u->graph->tensor[tensor].data = data;
	return tensor;
}

static u32 columns_of(const struct unroll *u, u32 tensor)
{
	const struct npu_tensor *t = &u->graph->tensor[tensor];

	return t->dim[t->rank - 1];
}

static u32 connect(struct unroll *u, u32 in, u32 weights, u32 bias, u32 rows)
{
	u32 columns = u->failed ? 1 : u->graph->tensor[weights].dim[0];
	u32 out = add_tensor(u, rows, columns);
	struct npu_op *op = add_op(u, NPU_OP_FULLY_CONNECTED, bias == NPU_NONE ? 2 : 3, out);

	if (!op)
		return NPU_NONE;
	op->input[0] = in;
	op->input[1] = weights;
	if (bias != NPU_NONE)
		op->input[2] = bias;
	return out;
}

static u32 binary(struct unroll *u, enum npu_op_kind kind, u32 a, u32 b)
{
	u32 out = u->failed ? NPU_NONE : add_tensor(u, u->layer->batch, columns_of(u, a));
	struct npu_op *op = add_op(u, kind, 2, out);

	if (!op)
		return NPU_NONE;
	op->input[0] = a;
	op->input[1] = b;
	return out;
}

static u32 sum(struct unroll *u, u32 a, u32 b)
{
	if (a == NPU_NONE || b == NPU_NONE)
		return a == NPU_NONE ? b : a;
	return binary(u, NPU_OP_ADD, a, b);
}

static u32 product(struct unroll *u, u32 a, u32 b)
{
	return a == NPU_NONE || b == NPU_NONE ? NPU_NONE : binary(u, NPU_OP_MUL, a, b);
}

/* Of values that are there. */
static u32 difference(struct unroll *u, u32 a, u32 b)
{
	return b == NPU_NONE ? a : binary(u, NPU_OP_SUB, a, b);
}

static u32 apply(struct unroll *u, const struct npu_gate_function *f, u32 in)
{
	u32 out = u->failed ? NPU_NONE : add_tensor(u, u->layer->batch, columns_of(u, in));
	struct npu_op *op = add_op(u, f->kind, 1, out);

	if (!op)
		return NPU_NONE;
	op->input[0] = in;
	op->activation = f->activation;
	op->function = f->function;
	op->alpha = f->alpha;
	op->beta = f->beta;
	op->gamma = f->gamma;
	return out;
}

/* Columns of a tensor with the gates beside each other, or rows of one with all steps. */
static u32 part(struct unroll *u, u32 in, u32 row, u32 rows, u32 column, u32 columns)
{
	u32 out;
	struct npu_op *op;

	if (in == NPU_NONE || (!row && !column && !u->failed && columns_of(u, in) == columns &&
			       u->graph->tensor[in].dim[0] == rows))
		return in;
	out = add_tensor(u, rows, columns);
	op = add_op(u, NPU_OP_SLICE, 1, out);
	if (!op)
		return NPU_NONE;
	op->input[0] = in;
	op->begin[0] = (s32)row;
	op->end[0] = (s32)rows;
	op->begin[1] = (s32)column;
	op->end[1] = (s32)columns;
	op->step[0] = op->step[1] = 1;
	return out;
}

static u32 gate(struct unroll *u, u32 in, u32 first, u32 count)
{
	const struct npu_recurrent *l = u->layer;

	return part(u, in, 0, l->batch, first * l->hidden, count * l->hidden);
}

/*
 * What the state contributes to @count gates from @first on.  Without a state it is the bias; that
 * broadcasts to all rows.
 */
static u32 from_state(struct unroll *u, u32 state, u32 which)
{
	if (state == NPU_NONE)
		return u->state_bias[which];
	return connect(u, state, u->state_weights[which], u->state_bias[which], u->layer->batch);
}

static u32 plain_step(struct unroll *u, u32 in, u32 state)
{
	return apply(u, &u->layer->f, sum(u, in, from_state(u, state, 0)));
}

/* The cell looks into three gates: into input and forget before this step, into output behind it. */
static u32 peep(struct unroll *u, u32 sums, u32 which, u32 cell)
{
	const u32 hidden = u->layer->hidden;

	if (!u->layer->peephole || cell == NPU_NONE)
		return sums;
	return sum(u, sums,
		   product(u, cell,
			   add_constant(u, 1, hidden, 1,
					u->layer->peephole + (size_t)which * hidden)));
}

static u32 clip(struct unroll *u, u32 cell)
{
	if (u->clip[0] == NPU_NONE)
		return cell;
	return binary(u, NPU_OP_MINIMUM, binary(u, NPU_OP_MAXIMUM, cell, u->clip[0]), u->clip[1]);
}

static u32 lstm_step(struct unroll *u, u32 in, u32 state, u32 *cell)
{
	const struct npu_recurrent *l = u->layer;
	u32 sums = sum(u, in, from_state(u, state, 0));
	u32 input, output, forget, candidate;

	candidate = apply(u, &l->g, gate(u, sums, 3, 1));
	if (l->peephole) {
		input = apply(u, &l->f, peep(u, gate(u, sums, 0, 1), 0, *cell));
		forget = apply(u, &l->f, peep(u, gate(u, sums, 2, 1), 2, *cell));
		*cell = clip(u, sum(u, product(u, forget, *cell), product(u, input, candidate)));
		output = apply(u, &l->f, peep(u, gate(u, sums, 1, 1), 1, *cell));
	} else {
		u32 all = apply(u, &l->f, gate(u, sums, 0, 3));

		input = gate(u, all, 0, 1);
		output = gate(u, all, 1, 1);
		forget = *cell == NPU_NONE ? NPU_NONE : gate(u, all, 2, 1);
		*cell = clip(u, sum(u, product(u, forget, *cell), product(u, input, candidate)));
	}
	return product(u, output, apply(u, &l->h, *cell));
}

/* (1 - z) h' + z h, as h' + z (h - h') or, while there is no state, h' - z h'. */
static u32 gru_blend(struct unroll *u, u32 update, u32 state, u32 hidden)
{
	if (state == NPU_NONE)
		return difference(u, hidden, product(u, update, hidden));
	return sum(u, hidden, product(u, update, difference(u, state, hidden)));
}

static u32 gru_step(struct unroll *u, u32 in, u32 state)
{
	const struct npu_recurrent *l = u->layer;
	u32 both = apply(u, &l->f, sum(u, gate(u, in, 0, 2), from_state(u, state, 1)));
	u32 update = gate(u, both, 0, 1), reset = gate(u, both, 1, 1), hidden;

	if (l->reset_late)
		hidden = product(u, reset, from_state(u, state, 2));
	else
		hidden = from_state(u, product(u, reset, state), 2);
	hidden = apply(u, &l->g, sum(u, gate(u, in, 2, 1), hidden));
	return gru_blend(u, update, state, hidden);
}

/* The state's part of gates @first .. @first + @count - 1. */
static void add_state_weights(struct unroll *u, u32 which, u32 first, u32 count)
{
	const struct npu_recurrent *l = u->layer;
	u32 rows = count * l->hidden;

	u->state_weights[which] = add_constant(
		u, 2, rows, l->hidden, l->state_weights + (size_t)first * l->hidden * l->hidden);
	u->state_bias[which] = NPU_NONE;
	if (l->state_bias)
		u->state_bias[which] =
			add_constant(u, 1, rows, 1, l->state_bias + (size_t)first * l->hidden);
}

static void add_weights(struct unroll *u)
{
	const struct npu_recurrent *l = u->layer;

	u->weights = add_constant(u, 2, u->gates, l->inputs, l->weights);
	u->bias = l->bias ? add_constant(u, 1, u->gates, 1, l->bias) : NPU_NONE;
	if (l->kind == NPU_RECURRENT_GRU) {
		add_state_weights(u, 1, 0, 2);
		add_state_weights(u, 2, 2, 1);
	} else {
		add_state_weights(u, 0, 0, npu_recurrent_gates[l->kind]);
	}
}

/*
 * With gates between 0 and 1 and candidates between -1 and 1 a cell that began with zero is one further
 * away from it after a step at most: limits that no step reaches are left out.
 */
static bool reaches(const struct npu_recurrent *l)
{
	return l->f.kind != NPU_OP_LOGISTIC || l->g.kind != NPU_OP_TANH ||
	       l->first_cell != NPU_NONE || (float)l->steps > l->cell_clip;
}

static void add_clip(struct unroll *u)
{
	const float limit = u->layer->cell_clip;
	float *limits;

	u->clip[0] = u->clip[1] = NPU_NONE;
	if (!(limit > 0) || !isfinite(limit) || !reaches(u->layer))
		return;
	limits = npu_arena_array(&u->graph->arena, 2, sizeof(*limits));
	u->failed |= !limits;
	if (u->failed)
		return;
	limits[0] = -limit;
	limits[1] = limit;
	u->clip[0] = add_constant(u, 1, 1, 1, &limits[0]);
	u->clip[1] = add_constant(u, 1, 1, 1, &limits[1]);
}

/* All steps as rows of one matrix. */
static u32 add_rows(struct unroll *u)
{
	const struct npu_recurrent *l = u->layer;
	u32 rows = add_tensor(u, l->steps * l->batch, l->inputs);
	struct npu_op *op = add_op(u, NPU_OP_RESHAPE, 1, rows);

	if (op)
		op->input[0] = l->input;
	return rows;
}

int npu_unroll(struct npu_graph *graph, struct npu_recurrent *layer)
{
	struct unroll u = { .graph = graph, .layer = layer };
	u32 rows, t, i, state = layer->first, cell = layer->first_cell;

	u.gates = npu_recurrent_gates[layer->kind] * layer->hidden;
	add_weights(&u);
	add_clip(&u);
	rows = add_rows(&u);
	rows = connect(&u, rows, u.weights, u.bias, layer->steps * layer->batch);
	for (i = 0; i < layer->steps && !u.failed; i++) {
		u32 in;

		t = layer->reverse ? layer->steps - 1 - i : i;
		in = part(&u, rows, t * layer->batch, layer->batch, 0, u.gates);
		if (layer->kind == NPU_RECURRENT_LSTM)
			state = lstm_step(&u, in, state, &cell);
		else if (layer->kind == NPU_RECURRENT_GRU)
			state = gru_step(&u, in, state);
		else
			state = plain_step(&u, in, state);
		layer->state[t] = state;
	}
	layer->last = state;
	layer->last_cell = cell;
	return u.failed ? -ENOMEM : 0;
}

static int add_concat(struct npu_graph *graph, const char *name, const u32 *parts, u32 count,
		      u32 out)
{
	struct npu_op *op = npu_graph_add_op(graph, NPU_OP_CONCAT, name, count, 1);

	if (!op)
		return -ENOMEM;
	memcpy(op->input, parts, count * sizeof(*parts));
	op->output[0] = out;
	return 0;
}

/* @count parts as fewer, in place: each of as many as an operator takes. */
static int join_parts(struct npu_graph *graph, const char *name, u32 *parts, u32 *count)
{
	u32 from, joined = 0;

	for (from = 0; from < *count; from += NPU_MAX_INPUTS) {
		u32 taken = min(*count - from, (u32)NPU_MAX_INPUTS), dim[NPU_MAX_RANK], i, out;
		const struct npu_tensor first = graph->tensor[parts[from]];
		int error;

		memcpy(dim, first.dim, sizeof(dim));
		for (i = 1; i < taken; i++)
			dim[0] += graph->tensor[parts[from + i]].dim[0];
		out = npu_graph_add_tensor(graph, name, first.dtype, first.rank, dim);
		if (out == NPU_NONE)
			return -ENOMEM;
		graph->tensor[out].quant = first.quant;
		error = add_concat(graph, name, parts + from, taken, out);
		if (error)
			return error;
		parts[joined++] = out;
	}
	*count = joined;
	return 0;
}

int npu_add_stack(struct npu_graph *graph, const char *name, const u32 *parts, u32 count, u32 out)
{
	u32 *left = npu_arena_array(&graph->arena, count, sizeof(*left));
	int error = left ? 0 : -ENOMEM;

	if (!error)
		memcpy(left, parts, count * sizeof(*left));
	while (!error && count > NPU_MAX_INPUTS)
		error = join_parts(graph, name, left, &count);
	return error ? error : add_concat(graph, name, left, count, out);
}
