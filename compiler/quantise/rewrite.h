/* SPDX-License-Identifier: MIT */
/* What the passes of the quantiser share. */
#ifndef NPU_QUANTISE_REWRITE_H
#define NPU_QUANTISE_REWRITE_H

#include "quantise/quantise.h"

/* Convolutions and fully connected layers: input 1 has weights, input 2 may have a bias. */
bool npu_has_weights(const struct npu_op *op);

/* For each tensor: operands that it is, outputs of the graph included; NULL when out of memory. */
u32 *npu_count_readers(const struct npu_graph *graph);

/* A copy with name, quantisation and data of its own; NPU_NONE when out of memory. */
u32 npu_copy_tensor(struct npu_graph *graph, const struct npu_tensor *tensor, const char *name);

/* A copy with the same tensors; NULL when out of memory. */
struct npu_op *npu_copy_op(struct npu_graph *graph, const struct npu_op *op);

/* The same inputs and outputs; false when out of memory. */
bool npu_copy_ends(struct npu_graph *graph, const struct npu_graph *from);

/**
 * struct npu_scale - the mapping of a tensor that becomes INT8
 * @stays: it stays float32 for those who compute in float32
 */
struct npu_scale {
	float scale;
	s32 zero;
	bool stays;
};

/*
 * Which operators are computed in float32 on the CPU even so, an element for each; to be freed,
 * NULL when out of memory.
 */
bool *npu_find_float(const struct npu_graph *graph);

/* Expressions of single elements that are functions which the graph has become these; 0 or -ENOMEM. */
int npu_recognise_functions(struct npu_graph *graph);

/* Operators whose operand @i has to have the scale of the output. */
bool npu_shares_scale(const struct npu_op *op, u32 i);

/**
 * npu_quantise_scales() - one mapping for each float32 tensor
 * @stays: of npu_find_float()
 * @scale: an element for each tensor
 */
int npu_quantise_scales(const struct npu_graph *graph, const struct npu_calibration *calibration,
			const bool *stays, struct npu_scale *scale, struct npu_diag *diag);

/**
 * npu_quantise_weights() - INT8 weights and INT32 biases of one operator, appended to @graph
 * @op: of @from
 * @in_scale: scale of its input
 * @input: what is known of its input, for bias correction; NULL: nothing
 * @index: receives weights and bias
 */
int npu_quantise_weights(struct npu_graph *graph, const struct npu_graph *from,
			 const struct npu_op *op, float in_scale, const struct npu_range *input,
			 u32 index[2]);

#endif /* NPU_QUANTISE_REWRITE_H */
