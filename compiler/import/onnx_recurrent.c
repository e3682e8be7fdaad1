// SPDX-License-Identifier: MIT
/* RNN, GRU and LSTM, unrolled over the steps of their input. */
#include "onnx.h"
#include "recurrent.h"

/* Inputs of the three operators; the last two are LSTM's. */
enum { X, W, R, B, SEQUENCE_LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLE };

/**
 * struct sequence - one operator at work
 * @layer: what all directions share
 * @directions: one, or two with a second set of weights
 * @reverse: the first direction goes backwards
 * @batch_first: layout 1
 * @input: [steps][batch][inputs]
 * @state: of each direction: a tensor for each step
 */
struct sequence {
	struct npu_recurrent layer;
	u32 directions;
	bool reverse, batch_first;
	u32 *state[2];
	u32 last[2], last_cell[2];
};

static const struct {
	const char *name;
	struct npu_gate_function function;
	float alpha, beta; /* defaults of activation_alpha and activation_beta */
} functions[] = {
	{ "Affine", { NPU_OP_FUNCTION, 0, NPU_FN_POWER, 0, 0, 1 }, 1, 0 },
	{ "Elu", { NPU_OP_FUNCTION, 0, NPU_FN_ELU, 0, 1, 1 }, 1, 1 },
	{ "HardSigmoid", { NPU_OP_FUNCTION, 0, NPU_FN_HARD_SIGMOID, 0, 0, 0 }, 0.2f, 0.5f },
	{ "LeakyRelu", { NPU_OP_LEAKY_RELU, 0, 0, 0, 0, 0 }, 0.01f, 0 },
	{ "Relu", { NPU_OP_RELU, NPU_ACT_RELU, 0, 0, 0, 0 }, 0, 0 },
	{ "Sigmoid", { NPU_OP_LOGISTIC, 0, 0, 0, 0, 0 }, 0, 0 },
	{ "Softplus", { NPU_OP_FUNCTION, 0, NPU_FN_SOFTPLUS, 0, 0, 0 }, 0, 0 },
	{ "Softsign", { NPU_OP_FUNCTION, 0, NPU_FN_SOFTSIGN, 0, 0, 0 }, 0, 0 },
	{ "Tanh", { NPU_OP_TANH, 0, 0, 0, 0, 0 }, 0, 0 },
	{ "ThresholdedRelu", { NPU_OP_FUNCTION, 0, NPU_FN_THRESHOLD, 0, 0, 0 }, 1, 0 },
};

static bool is_name(const ProtobufCBinaryData *text, const char *name)
{
	return text->len == strlen(name) && !memcmp(text->data, name, text->len);
}

/* Function @which of the node; @other is the default. */
static int read_function(struct onnx *o, u32 which, const char *other, struct npu_gate_function *f)
{
	const Onnx__AttributeProto *names = onnx_attribute(o, "activations");
	const Onnx__AttributeProto *alphas = onnx_attribute(o, "activation_alpha");
	const Onnx__AttributeProto *betas = onnx_attribute(o, "activation_beta");
	bool given = names && which < names->n_strings;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (given ? is_name(&names->strings[which], functions[i].name)
			  : !strcmp(other, functions[i].name))
			break;
	if (i == ARRAY_SIZE(functions))
		return onnx_fail(o, -ENOTSUP, "activation %u is not supported", which);
	*f = functions[i].function;
	f->alpha = alphas && which < alphas->n_floats ? alphas->floats[which] : functions[i].alpha;
	/* ELU has no beta of the node's. */
	f->beta = betas && which < betas->n_floats && f->function != NPU_FN_ELU
			  ? betas->floats[which]
			  : functions[i].beta;
	return 0;
}

static int read_functions(struct onnx *o, u32 direction, struct npu_recurrent *layer)
{
	const u32 count = layer->kind == NPU_RECURRENT_LSTM  ? 3
			  : layer->kind == NPU_RECURRENT_GRU ? 2
							     : 1;
	const u32 first = direction * count;
	const char *gates = layer->kind == NPU_RECURRENT_PLAIN ? "Tanh" : "Sigmoid";
	int error = read_function(o, first, gates, &layer->f);

	if (!error && count > 1)
		error = read_function(o, first + 1, "Tanh", &layer->g);
	if (!error && count > 2)
		error = read_function(o, first + 2, "Tanh", &layer->h);
	return error;
}

static bool is_given(const struct onnx *o, u32 i)
{
	return i < o->in_count && o->in[i] && !o->in[i]->empty;
}

/* A float32 constant of @per elements for each direction; NULL where it is missing. */
static int read_weights(struct onnx *o, u32 i, u32 directions, u64 per, const float **weights)
{
	const struct npu_tensor *t;
	u32 tensor;
	int error;

	*weights = NULL;
	if (!is_given(o, i))
		return 0;
	error = onnx_operand(o, i, ONNX_PLAIN, &tensor);
	if (error)
		return error;
	t = onnx_tensor(o, tensor);
	if (!t->data || t->dtype != NPU_F32)
		return onnx_fail(o, -ENOTSUP, "input %u must be constant", i);
	if (npu_tensor_elements(t) != directions * per)
		return onnx_fail(o, -EINVAL, "input %u has %llu elements, not %llu", i,
				 (unsigned long long)npu_tensor_elements(t),
				 (unsigned long long)(directions * per));
	*weights = t->data;
	return 0;
}

/* All sequences have to be as long as the input. */
static int check_lengths(struct onnx *o, u32 steps)
{
	s64 lengths[64];
	u32 count = 0, i;
	int error = is_given(o, SEQUENCE_LENGTHS) ? onnx_integers(o, SEQUENCE_LENGTHS, lengths,
								  ARRAY_SIZE(lengths), &count)
						  : 0;

	for (i = 0; !error && i < count; i++)
		if (lengths[i] != steps)
			return onnx_fail(o, -ENOTSUP, "a sequence of %lld of %u steps",
					 (long long)lengths[i], steps);
	return error;
}

static int read_direction(struct onnx *o, struct sequence *s)
{
	bool forward = onnx_text_is(o, "direction", "forward", true);
	bool both = onnx_text_is(o, "direction", "bidirectional", false);

	s->reverse = onnx_text_is(o, "direction", "reverse", false);
	s->directions = both ? 2 : 1;
	if (!forward && !both && !s->reverse)
		return onnx_fail(o, -EINVAL, "this direction");
	if (onnx_attribute(o, "clip") || onnx_int(o, "input_forget", 0))
		return onnx_fail(o, -ENOTSUP, "clipped or coupled gates");
	return 0;
}

static int read_shape(struct onnx *o, struct sequence *s)
{
	static const u32 swap[] = { 1, 0, 2 };
	const struct onnx_value *x = o->in[X], *w = o->in[W], *r = o->in[R];
	struct npu_recurrent *l = &s->layer;
	const u32 gates = npu_recurrent_gates[l->kind];
	int error;

	s->batch_first = onnx_int(o, "layout", 0);
	if (x->rank != 3 || w->rank != 3 || r->rank != 3)
		return onnx_fail(o, -EINVAL, "operands of rank %u, %u and %u", x->rank, w->rank,
				 r->rank);
	l->steps = x->dim[s->batch_first];
	l->batch = x->dim[!s->batch_first];
	l->inputs = x->dim[2];
	l->hidden = r->dim[2];
	if (l->steps > NPU_RECURRENT_MAX_STEPS)
		return onnx_fail(o, -ENOTSUP, "%u steps; at most %u are unrolled", l->steps,
				 NPU_RECURRENT_MAX_STEPS);
	if (w->dim[0] != s->directions || r->dim[0] != s->directions ||
	    w->dim[1] != (u64)gates * l->hidden || w->dim[1] != r->dim[1] || w->dim[2] != l->inputs)
		return onnx_fail(o, -EINVAL, "weights of %u x %u for %u inputs and %u in the state",
				 w->dim[1], w->dim[2], l->inputs, l->hidden);
	error = check_lengths(o, l->steps);
	if (!error)
		error = onnx_operand(o, X, ONNX_PLAIN, &l->input);
	if (!error && s->batch_first)
		error = onnx_permute(o, l->input, swap, &l->input);
	return error;
}

/* State of a direction before the first step: rows of [directions][batch][hidden]. */
static int read_first(struct onnx *o, const struct sequence *s, u32 i, u32 direction, u32 *first)
{
	static const u32 swap[] = { 1, 0, 2 };
	const struct npu_recurrent *l = &s->layer;
	const u32 begin[] = { direction, 0, 0 }, dim[] = { 1, l->batch, l->hidden };
	u32 whole;
	int error;

	*first = NPU_NONE;
	if (!is_given(o, i))
		return 0;
	error = onnx_operand(o, i, ONNX_PLAIN, &whole);
	if (!error && (o->in[i]->rank != 3 || npu_tensor_elements(onnx_tensor(o, whole)) !=
						      (u64)s->directions * l->batch * l->hidden))
		error = onnx_fail(o, -EINVAL, "input %u is no state of %u x %u", i, l->batch,
				  l->hidden);
	if (!error && s->batch_first)
		error = onnx_permute(o, whole, swap, &whole);
	if (!error)
		error = onnx_crop(o, &whole, begin, dim);
	return error ? error : onnx_reshape(o, whole, 2, dim + 1, first);
}

/*
 * The biases of inputs and state are added where the state's is not multiplied by a gate: by the
 * reset gate of a GRU that comes late.
 */
static int split_bias(struct onnx *o, struct npu_recurrent *l, const float *both)
{
	const u32 count = npu_recurrent_gates[l->kind] * l->hidden;
	const u32 joined = l->reset_late ? 2 * l->hidden : count;
	float *bias, *state;
	u32 i;

	l->bias = l->state_bias = NULL;
	if (!both)
		return 0;
	bias = npu_arena_array(&o->graph->arena, count, sizeof(*bias));
	state = npu_arena_array(&o->graph->arena, count, sizeof(*state));
	if (!bias || !state)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		bias[i] = both[i] + (i < joined ? both[count + i] : 0);
		state[i] = i < joined ? 0 : both[count + i];
	}
	l->bias = bias;
	l->state_bias = l->reset_late ? state : NULL;
	return 0;
}

static int unroll(struct onnx *o, struct sequence *s, u32 direction)
{
	struct npu_recurrent l = s->layer;
	const u64 columns = (u64)npu_recurrent_gates[l.kind] * l.hidden;
	const float *bias;
	int error = read_weights(o, W, s->directions, columns * l.inputs, &l.weights);

	if (!error)
		error = read_weights(o, R, s->directions, columns * l.hidden, &l.state_weights);
	if (!error)
		error = read_weights(o, B, s->directions, 2 * columns, &bias);
	if (!error && l.kind == NPU_RECURRENT_LSTM)
		error = read_weights(o, PEEPHOLE, s->directions, 3 * l.hidden, &l.peephole);
	if (error)
		return error;
	l.weights += direction * columns * l.inputs;
	l.state_weights += direction * columns * l.hidden;
	if (l.peephole)
		l.peephole += (size_t)direction * 3 * l.hidden;
	l.reverse = s->reverse || direction;
	error = split_bias(o, &l, bias ? bias + direction * 2 * columns : NULL);
	if (!error)
		error = read_functions(o, direction, &l);
	if (!error)
		error = read_first(o, s, INITIAL_H, direction, &l.first);
	if (!error && l.kind == NPU_RECURRENT_LSTM)
		error = read_first(o, s, INITIAL_C, direction, &l.first_cell);
	l.state = s->state[direction];
	if (!error)
		error = npu_unroll(o->graph, &l);
	s->last[direction] = l.last;
	s->last_cell[direction] = l.last_cell;
	return error;
}

static bool is_wanted(const struct onnx *o, u32 i)
{
	return i < o->out_count && *o->out[i]->name &&
	       (o->out[i]->is_output || o->out[i]->reader_count);
}

/* States of [batch][hidden] as a result of @rank 3 or 4; with the batch in front where that is asked for. */
static int add_result(struct onnx *o, const struct sequence *s, u32 i, const u32 *parts, u32 count,
		      u32 rank)
{
	static const u32 order_3[] = { 1, 0, 2 }, order_4[] = { 2, 0, 1, 3 };
	const struct npu_recurrent *l = &s->layer;
	const u32 flat[] = { count * l->batch, l->hidden };
	const u32 *order = rank == 3 ? order_3 : order_4;
	u32 dim[] = { l->steps, s->directions, l->batch, l->hidden }, turned[4], d;
	u32 stack, out;
	const u32 *shape = dim + 4 - rank;
	struct npu_op *op;
	int error = onnx_add_tensor(o, o->out[i]->name, NPU_F32, 2, flat, &stack);

	for (d = 0; d < rank; d++)
		turned[d] = shape[s->batch_first ? order[d] : d];
	if (!error)
		error = npu_add_stack(o->graph, l->name, parts, count, stack);
	if (!error)
		error = onnx_result(o, i, ONNX_PLAIN, rank, turned, &out);
	if (error || !s->batch_first)
		return error ? error : onnx_add_op(o, NPU_OP_RESHAPE, &stack, 1, out) ? 0 : -ENOMEM;
	error = onnx_reshape(o, stack, rank, shape, &stack);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_TRANSPOSE, &stack, 1, out);
	for (d = 0; op && d < rank; d++)
		op->begin[d] = (s32)order[d];
	return op ? 0 : -ENOMEM;
}

/* Y has the steps, in each the directions. */
static int add_states(struct onnx *o, const struct sequence *s)
{
	const u32 count = s->layer.steps * s->directions;
	u32 *parts = npu_arena_array(&o->graph->arena, count, sizeof(*parts)), t, d;

	if (!parts)
		return -ENOMEM;
	for (t = 0; t < s->layer.steps; t++)
		for (d = 0; d < s->directions; d++)
			parts[t * s->directions + d] = s->state[d][t];
	return add_result(o, s, 0, parts, count, 4);
}

static int read_layer(struct onnx *o, struct sequence *s)
{
	u32 d;
	int error = read_direction(o, s);

	if (!error)
		error = read_shape(o, s);
	if (!error)
		error = onnx_expand(o,
				    (u64)s->layer.steps * s->directions * NPU_RECURRENT_STEP_BYTES);
	for (d = 0; !error && d < s->directions; d++) {
		s->state[d] =
			npu_arena_array(&o->graph->arena, s->layer.steps, sizeof(*s->state[d]));
		error = s->state[d] ? unroll(o, s, d) : -ENOMEM;
	}
	if (!error && is_wanted(o, 0))
		error = add_states(o, s);
	if (!error && is_wanted(o, 1))
		error = add_result(o, s, 1, s->last, s->directions, 3);
	if (!error && is_wanted(o, 2) && s->layer.kind == NPU_RECURRENT_LSTM)
		error = add_result(o, s, 2, s->last_cell, s->directions, 3);
	return error;
}

int onnx_read_recurrent(struct onnx *o)
{
	static const char *const names[NPU_RECURRENT_COUNT] = {
		[NPU_RECURRENT_PLAIN] = "RNN",
		[NPU_RECURRENT_LSTM] = "LSTM",
		[NPU_RECURRENT_GRU] = "GRU",
	};
	struct sequence s = { .layer = { .first = NPU_NONE, .first_cell = NPU_NONE } };
	u32 i;

	for (i = 0; i < NPU_RECURRENT_COUNT; i++)
		if (!strcmp(names[i], o->row->name))
			s.layer.kind = (enum npu_recurrent_kind)i;
	s.layer.name = o->node->name && *o->node->name ? o->node->name : o->row->name;
	s.layer.reset_late = onnx_int(o, "linear_before_reset", 0) &&
			     s.layer.kind == NPU_RECURRENT_GRU;
	return read_layer(o, &s);
}
