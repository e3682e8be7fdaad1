/* SPDX-License-Identifier: MIT */
/* A whole graph, float or integer, computed by the CPU's operators. */
#ifndef NPU_EVALUATE_H
#define NPU_EVALUATE_H

#include "quantise/quantise.h"

/**
 * struct npu_evaluation - values of all tensors
 * @value: for each tensor of @graph: its elements; of constants the graph's own data
 */
struct npu_evaluation {
	const struct npu_graph *graph;
	void **value;
};

/* NULL when out of memory. */
struct npu_evaluation *npu_evaluation_new(const struct npu_graph *graph);
void npu_evaluation_free(struct npu_evaluation *evaluation);

/* Fills the inputs with sample @i; 0 or a negative errno. */
int npu_evaluation_load(struct npu_evaluation *evaluation, const struct npu_samples *samples, u32 i,
			struct npu_diag *diag);

/* Computes all tensors from the inputs' values; 0, or a negative errno with the layer in @diag. */
int npu_evaluate(struct npu_evaluation *evaluation, struct npu_diag *diag);

/* Element @i of a float32, INT8 or UINT8 tensor as the number that it stands for. */
double npu_real_value(const struct npu_tensor *tensor, const void *data, size_t i);

#endif /* NPU_EVALUATE_H */
