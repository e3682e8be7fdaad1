/* SPDX-License-Identifier: MIT */
/*
 * Recurrent layers, unrolled: a step of time becomes a fully connected layer on the
 * state, sums, products and functions, all of which are operators that the graph has.
 * What the inputs contribute to the gates is one fully connected layer for all steps.
 */
#ifndef NPU_RECURRENT_H
#define NPU_RECURRENT_H

#include "graph.h"

/* More steps than these are refused: each is a dozen operators. */
#define NPU_RECURRENT_MAX_STEPS 1024

/* What a step's operators and tensors take in the graph's arena at most, with the arrays that grow. */
#define NPU_RECURRENT_STEP_BYTES 16384

enum npu_recurrent_kind {
	NPU_RECURRENT_PLAIN, /* H = f(gate) */
	NPU_RECURRENT_LSTM, /* gates: input, output, forget, cell */
	NPU_RECURRENT_GRU, /* gates: update, reset, hidden */
	NPU_RECURRENT_COUNT
};

extern const u32 npu_recurrent_gates[NPU_RECURRENT_COUNT];

/* What a gate's sum goes through: a kind without further operands and its parameters. */
struct npu_gate_function {
	enum npu_op_kind kind;
	enum npu_activation activation;
	enum npu_function function;
	float alpha, beta, gamma;
};

/**
 * struct npu_recurrent - one direction of a layer
 * @name: of its operators
 * @input: tensor of [steps][batch][inputs], float32
 * @weights: [gates * hidden][inputs]; @state_weights: [gates * hidden][hidden]
 * @bias: of the inputs' part, [gates * hidden], or NULL; @state_bias: of the state's part
 * @peephole: LSTM: what the cell adds to the input, output and forget gates, [3 * hidden]; or NULL
 * @first, @first_cell: state before the first step, [batch][hidden]; NPU_NONE: zeros
 * @reverse: from the last step to the first
 * @reset_late: GRU: the reset gate multiplies the product with the state, not the state
 * @f, @g, @h: of the gates; of the cell or hidden gate; LSTM: of the cell on its way out
 * @cell_clip: LSTM: how far from zero the cell's value may be; 0: anywhere
 * @state: receives a tensor of [batch][hidden] for each step, in the input's order
 * @last, @last_cell: receive those behind the last step
 */
struct npu_recurrent {
	enum npu_recurrent_kind kind;
	const char *name;
	u32 input;
	u32 steps, batch, inputs, hidden;
	const float *weights, *state_weights, *bias, *state_bias, *peephole;
	u32 first, first_cell;
	bool reverse, reset_late;
	struct npu_gate_function f, g, h;
	float cell_clip;
	u32 *state;
	u32 last, last_cell;
};

/**
 * npu_unroll() - adds a layer's operators to a graph
 * @layer: its weights must live as long as the graph
 *
 * Return: 0 or -ENOMEM.
 */
int npu_unroll(struct npu_graph *graph, struct npu_recurrent *layer);

/* Tensors of one shape behind each other along dimension 0 of @out, as many as it takes. */
int npu_add_stack(struct npu_graph *graph, const char *name, const u32 *parts, u32 count, u32 out);

#endif /* NPU_RECURRENT_H */
