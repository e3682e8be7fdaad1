// SPDX-License-Identifier: MIT
/*
 * Recurrent layers of TensorFlow Lite, unrolled over the steps of their input.  Their states are
 * variables of the file, which an interpreter keeps from one run to the next; here each run begins
 * with zeros, as after the interpreter's reset.
 */
#include "recurrent.h"
#include "tflite.h"

/* Steps of all layers of a model: memory that the file's size does not bound. */
#define MAX_STEPS (16 * NPU_RECURRENT_MAX_STEPS)

/* Inputs of UNIDIRECTIONAL_SEQUENCE_LSTM; weights, peepholes and biases have one for each gate. */
enum {
	LSTM_WEIGHTS = 1,
	LSTM_STATE_WEIGHTS = 5,
	LSTM_PEEPHOLE = 9,
	LSTM_BIAS = 12,
	LSTM_PROJECTION = 16,
	LSTM_NORM = 20,
	LSTM_END = 24,
};

/* Inputs of UNIDIRECTIONAL_SEQUENCE_RNN. */
enum { RNN_WEIGHTS = 1, RNN_STATE_WEIGHTS, RNN_BIAS };

/* Which of the file's (input, forget, cell, output) is the graph's n-th: input, output, forget, cell. */
static const u32 gate_order[] = { 0, 3, 1, 2 };
/* Likewise of (input, forget, output). */
static const u32 peephole_order[] = { 0, 2, 1 };

/* @count constants of @each elements, as float32 numbers one behind the other. */
static int stack(struct tflite *t, u32 first, const u32 *order, u32 count, u64 each,
		 const float **stacked)
{
	float *to = npu_arena_array(&t->graph->arena, each, count * sizeof(*to));
	u32 i;
	int error = to ? 0 : -ENOMEM;

	*stacked = to;
	for (i = 0; !error && i < count; i++) {
		u32 input = first + (order ? order[i] : 0);

		if (t->input[input] == NPU_NONE || !tflite_tensor(t, t->input[input])->data)
			return tflite_fail(t, -ENOTSUP, "input %u must be constant", input);
		if (npu_tensor_elements(tflite_tensor(t, t->input[input])) != each)
			return tflite_fail(t, -EINVAL, "input %u has %llu elements, not %llu",
					   input,
					   (unsigned long long)npu_tensor_elements(
						   tflite_tensor(t, t->input[input])),
					   (unsigned long long)each);
		error = tflite_real_copy(t, t->input[input], to + i * each);
	}
	return error;
}

static int read_activation(struct tflite *t, u32 field, struct npu_gate_function *f)
{
	static const struct npu_gate_function functions[] = {
		{ NPU_OP_FUNCTION, 0, NPU_FN_POWER, 1, 0, 1 }, /* none: x */
		{ .kind = NPU_OP_RELU, .activation = NPU_ACT_RELU },
		{ .kind = NPU_OP_RELU, .activation = NPU_ACT_RELU_N1_TO_1 },
		{ .kind = NPU_OP_RELU, .activation = NPU_ACT_RELU6 },
		{ .kind = NPU_OP_TANH },
	};
	s8 activation = fb_s8(&t->options, field, 0);

	if (activation < 0 || activation >= (s8)ARRAY_SIZE(functions))
		return tflite_fail(t, -ENOTSUP, "activation %d is not supported", activation);
	*f = functions[activation];
	return 0;
}

static int read_sizes(struct tflite *t, u32 state_weights, bool time_major,
		      struct npu_recurrent *layer)
{
	const struct npu_tensor in = *tflite_tensor(t, t->input[0]);
	const struct npu_tensor out = *tflite_tensor(t, t->output[0]);
	const struct npu_tensor *weights = t->input[state_weights] == NPU_NONE
						   ? NULL
						   : tflite_tensor(t, t->input[state_weights]);

	if (in.dtype != NPU_F32 || out.dtype != NPU_F32)
		return tflite_fail(t, -ENOTSUP,
				   "of %s values; convert the model in float32, and calibrate it",
				   npu_dtype_names[in.dtype]);
	if (in.rank != 3 || out.rank != 3 || !weights || weights->rank != 2 ||
	    in.dim[0] != out.dim[0] || in.dim[1] != out.dim[1] || out.dim[2] != weights->dim[1])
		return tflite_fail(t, -EINVAL, "the shapes of input, state and output do not fit");
	layer->steps = in.dim[!time_major];
	layer->batch = in.dim[time_major];
	layer->inputs = in.dim[2];
	layer->hidden = out.dim[2];
	t->steps += layer->steps;
	if (layer->steps > NPU_RECURRENT_MAX_STEPS || t->steps > MAX_STEPS)
		return tflite_fail(t, -ENOTSUP, "%u steps; at most %u are unrolled, %u in a model",
				   layer->steps, NPU_RECURRENT_MAX_STEPS, MAX_STEPS);
	t->graph->arena.limit += (size_t)layer->steps * NPU_RECURRENT_STEP_BYTES;
	return 0;
}

/* Batches and steps change places; a batch of one is where it is either way. */
static int swap_batch(struct tflite *t, const struct npu_recurrent *layer, u32 from, u32 to)
{
	const bool turns = layer->batch > 1 && layer->steps > 1;
	int error;
	struct npu_op *op =
		tflite_add(t, turns ? NPU_OP_TRANSPOSE : NPU_OP_RESHAPE, 1, &from, to, &error);

	if (op && turns) {
		op->begin[0] = 1;
		op->begin[2] = 2;
	}
	return error;
}

/* The input with the steps in front. */
static int add_input(struct tflite *t, bool time_major, struct npu_recurrent *layer)
{
	const u32 dim[] = { layer->steps, layer->batch, layer->inputs };
	int error;

	layer->input = t->input[0];
	if (time_major)
		return 0;
	error = tflite_tensor_like(t, t->input[0], layer->name, 3, dim, &layer->input);
	return error ? error : swap_batch(t, layer, t->input[0], layer->input);
}

static int add_output(struct tflite *t, bool time_major, const struct npu_recurrent *layer)
{
	const u32 flat[] = { layer->steps * layer->batch, layer->hidden };
	const u32 dim[] = { layer->steps, layer->batch, layer->hidden };
	u32 rows, states;
	int error = tflite_tensor_like(t, t->output[0], layer->name, 2, flat, &rows);

	if (!error)
		error = npu_add_stack(t->graph, layer->name, layer->state, layer->steps, rows);
	states = t->output[0];
	if (!error && !time_major)
		error = tflite_tensor_like(t, t->output[0], layer->name, 3, dim, &states);
	if (!error)
		tflite_add(t, NPU_OP_RESHAPE, 1, &rows, states, &error);
	return error || time_major ? error : swap_batch(t, layer, states, t->output[0]);
}

/* Fills in what all layers have and adds the operators. */
static int add_layer(struct tflite *t, bool time_major, struct npu_recurrent *layer)
{
	int error = add_input(t, time_major, layer);

	layer->first = layer->first_cell = NPU_NONE;
	layer->state = npu_arena_array(&t->graph->arena, layer->steps, sizeof(*layer->state));
	if (!error && !layer->state)
		error = -ENOMEM;
	if (!error)
		error = npu_unroll(t->graph, layer);
	return error ? error : add_output(t, time_major, layer);
}

/* Gates are coupled where the input gate has no weights: it is what the forget gate leaves. */
static int check_lstm(struct tflite *t)
{
	u32 i;

	if (t->input[LSTM_WEIGHTS] == NPU_NONE)
		return tflite_fail(t, -ENOTSUP, "coupled gates");
	for (i = LSTM_PROJECTION; i < LSTM_END; i++)
		if (t->input[i] != NPU_NONE)
			return tflite_fail(t, -ENOTSUP, "%s",
					   i < LSTM_NORM ? "a projection of the state"
							 : "normalised gates");
	if (fb_u8(&t->options, 5, 0))
		return tflite_fail(t, -ENOTSUP, "diagonal weights of the state");
	return 0;
}

int tflite_read_lstm(struct tflite *t)
{
	struct npu_recurrent layer = { .kind = NPU_RECURRENT_LSTM,
				       .name = tflite_tensor(t, t->output[0])->name,
				       .f = { .kind = NPU_OP_LOGISTIC },
				       .cell_clip = fb_f32(&t->options, 1, 0) };
	const bool time_major = fb_u8(&t->options, 3, 0);
	int error = check_lstm(t);

	if (!error)
		error = read_sizes(t, LSTM_STATE_WEIGHTS, time_major, &layer);
	if (!error)
		error = read_activation(t, 0, &layer.g);
	layer.h = layer.g;
	if (!error)
		error = stack(t, LSTM_WEIGHTS, gate_order, 4, (u64)layer.hidden * layer.inputs,
			      &layer.weights);
	if (!error)
		error = stack(t, LSTM_STATE_WEIGHTS, gate_order, 4,
			      (u64)layer.hidden * layer.hidden, &layer.state_weights);
	if (!error)
		error = stack(t, LSTM_BIAS, gate_order, 4, layer.hidden, &layer.bias);
	if (!error && t->input[LSTM_PEEPHOLE] != NPU_NONE)
		error = stack(t, LSTM_PEEPHOLE, peephole_order, 3, layer.hidden, &layer.peephole);
	return error ? error : add_layer(t, time_major, &layer);
}

int tflite_read_rnn(struct tflite *t)
{
	struct npu_recurrent layer = { .kind = NPU_RECURRENT_PLAIN,
				       .name = tflite_tensor(t, t->output[0])->name };
	const bool time_major = fb_u8(&t->options, 0, 0);
	int error = read_sizes(t, RNN_STATE_WEIGHTS, time_major, &layer);

	if (!error)
		error = read_activation(t, 1, &layer.f);
	if (!error)
		error = stack(t, RNN_WEIGHTS, NULL, 1, (u64)layer.hidden * layer.inputs,
			      &layer.weights);
	if (!error)
		error = stack(t, RNN_STATE_WEIGHTS, NULL, 1, (u64)layer.hidden * layer.hidden,
			      &layer.state_weights);
	if (!error)
		error = stack(t, RNN_BIAS, NULL, 1, layer.hidden, &layer.bias);
	return error ? error : add_layer(t, time_major, &layer);
}
