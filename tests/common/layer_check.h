/* SPDX-License-Identifier: MIT */
/*
 * Layer by layer: the oracle (tests/reference) gets a layer's input as the NPU had it, and what the
 * NPU made of it is compared with what the oracle does.  A layer that stands for several operators
 * (padding, convolution, addition, pooling) is compared as a whole; where it fuses an addition, the
 * elements whose intermediate result does not fit INT8 (which the fusion does not round through)
 * are counted apart.
 *
 * Values get places of their own in the arena, so that all of them are still there when a run is
 * over.
 */
#ifndef LAYER_CHECK_H
#define LAYER_CHECK_H

#include <stdbool.h>
#include <stdlib.h>

#include "internal.h"
#include "reference.h"

struct layer_check {
	struct npu_model *model;
	const struct npu_net *net;
	struct npu_reference *reference;
	struct npu_diag diag;
};

/* Does the CPU do the layer's operators in this plan, each for itself? */
static inline bool layer_check_on_cpu(const struct layer_check *check,
				      const struct npu_layer *layer)
{
	return npu_plan_on_cpu(check->net, check->model->program->plan,
			       (u32)(layer - check->net->layer));
}

/*
 * Elements of a layer's output: equal to the oracle's, one unit off, more; @saturated: see above.
 * @worst: the one that is most off, with what it is and what it should be.
 */
struct layer_counts {
	u64 elements, equal, by_one, worse, saturated;
	u64 worst;
	int is, should_be;
};

static inline void *layer_check_alloc(size_t bytes)
{
	void *data = calloc(bytes ? bytes : 1, 1);

	if (!data)
		abort();
	return data;
}

/* ---- a plan in which no value overwrites another ---- */

static inline u64 layer_check_place(const struct npu_net *net, u64 *offset, u32 value, u64 *end)
{
	const struct npu_value *v = &net->value[value];

	if (v->alias != NPU_NONE)
		return layer_check_place(net, offset, v->alias, end) + v->alias_offset;
	if (offset[value] == UINT64_MAX) {
		offset[value] = *end;
		*end += (v->bytes + 4095) & ~(u64)4095;
	}
	return offset[value];
}

static inline bool layer_check_spread(struct npu_model *model, struct npu_diag *diag)
{
	struct npu_plan *plan = model->program->plan;
	const struct npu_net *net = model->program->net;
	u64 *offset = layer_check_alloc(net->value_count * sizeof(*offset)), end = 0;
	u32 i;

	memset(offset, 0xff, net->value_count * sizeof(*offset));
	for (i = 0; i < net->value_count; i++)
		if (plan->place[i].count)
			plan->place[i].band[0].offset = layer_check_place(net, offset, i, &end);
	plan->arena_bytes = end;
	/* Without a limit of the device the arena is one piece. */
	plan->spans[NPU_REGION_ARENA].span[0].bytes = end;
	free(offset);
	return npu_emit(model->program, diag) == 0 && npu_model_adopt_plan(model) == 0;
}

/**
 * layer_check_open() - an oracle for a loaded model; spreads its values
 *
 * Return: false with the reason in @check->diag or npu_error().
 */
static inline bool layer_check_open(struct layer_check *check, struct npu_model *model)
{
	*check = (struct layer_check){ .model = model, .net = model->program->net };
	return layer_check_spread(model, &check->diag) &&
	       npu_reference_new(check->net->graph, &check->reference, &check->diag) == 0;
}

static inline void layer_check_close(struct layer_check *check)
{
	if (check->reference)
		npu_reference_free(check->reference);
	check->reference = NULL;
}

/* ---- one layer ---- */

static inline bool layer_check_makes(const struct npu_graph *graph, const struct npu_layer *layer,
				     u32 tensor)
{
	u32 i, k;

	for (i = 0; i < layer->group_count; i++)
		for (k = 0; k < graph->op[layer->group[i]].output_count; k++)
			if (graph->op[layer->group[i]].output[k] == tensor)
				return true;
	return false;
}

/* Gives the oracle what the layer read. */
static inline bool layer_check_inputs(struct layer_check *check, const struct npu_layer *layer)
{
	const struct npu_graph *graph = check->net->graph;
	u32 i, k;

	for (i = 0; i < layer->group_count; i++) {
		const struct npu_op *op = &graph->op[layer->group[i]];

		for (k = 0; k < op->input_count; k++) {
			u32 tensor = op->input[k];

			if (tensor == NPU_NONE || graph->tensor[tensor].data ||
			    layer_check_makes(graph, layer, tensor))
				continue;
			if (check->net->tensor_value[tensor] == NPU_NONE) {
				npu_diag_set(&check->diag, -EINVAL, "its input %s is nowhere",
					     graph->tensor[tensor].name);
				return false;
			}
			npu_value_read(&check->model->lane[0], check->net->tensor_value[tensor],
				       graph->tensor[tensor].dtype,
				       npu_reference_tensor(check->reference, tensor));
		}
	}
	return true;
}

/* The addition of the group that takes what @op makes; NPU_NONE where there is none. */
static inline u32 layer_check_fused_add(const struct npu_graph *graph,
					const struct npu_layer *layer, u32 op)
{
	const struct npu_op *maker = &graph->op[op];
	u32 i, k;

	if (maker->kind != NPU_OP_CONV && maker->kind != NPU_OP_FULLY_CONNECTED)
		return NPU_NONE;
	for (i = 0; i < layer->group_count; i++) {
		const struct npu_op *add = &graph->op[layer->group[i]];

		for (k = 0; add->kind == NPU_OP_ADD && k < add->input_count; k++)
			if (add->input[k] == maker->output[0])
				return layer->group[i];
	}
	return NPU_NONE;
}

/*
 * Runs the group.  @saturated: of a fused addition, a byte for each element whose
 * intermediate result did not fit; the caller frees it.
 */
static inline bool layer_check_oracle(struct layer_check *check, const struct npu_layer *layer,
				      u8 **saturated)
{
	const struct npu_graph *graph = check->net->graph;
	u32 i, add, done = NPU_NONE;
	int err = 0;

	*saturated = NULL;
	for (i = 0; i < layer->group_count && !err; i++) {
		u32 op = layer->group[i];

		if (op == done)
			continue;
		add = layer_check_on_cpu(check, layer) ? NPU_NONE
						       : layer_check_fused_add(graph, layer, op);
		if (add == NPU_NONE) {
			err = npu_reference_run_op(check->reference, op, NULL, &check->diag);
			continue;
		}
		*saturated = layer_check_alloc(
			npu_tensor_elements(npu_op_output(graph, &graph->op[op])));
		err = npu_reference_run_op(check->reference, op, *saturated, &check->diag);
		if (!err)
			err = npu_reference_run_fused_add(check->reference, op, add, &check->diag);
		done = add;
	}
	return !err;
}

static inline int layer_check_byte(enum npu_dtype dtype, const u8 *data, size_t i)
{
	return dtype == NPU_I8 ? (s8)data[i] : data[i];
}

static inline struct layer_counts layer_check_count(const struct npu_tensor *tensor, const u8 *npu,
						    const u8 *oracle, const u8 *saturated)
{
	struct layer_counts counts = { .elements = npu_tensor_elements(tensor) };
	size_t i, bytes = npu_dtype_bytes[tensor->dtype];

	for (i = 0; i < counts.elements; i++) {
		int d = bytes == 1 ? abs(layer_check_byte(tensor->dtype, npu, i) -
					 layer_check_byte(tensor->dtype, oracle, i))
				   : 2 * !!memcmp(npu + i * bytes, oracle + i * bytes, bytes);

		counts.equal += d == 0;
		counts.by_one += d == 1;
		counts.worse += d > 1;
		counts.saturated += saturated && saturated[i];
		if (bytes == 1 && d > abs(counts.is - counts.should_be)) {
			counts.worst = i;
			counts.is = layer_check_byte(tensor->dtype, npu, i);
			counts.should_be = layer_check_byte(tensor->dtype, oracle, i);
		}
	}
	return counts;
}

/**
 * layer_check_layer() - compares one layer with the oracle; a run is over
 * @layer: with operators in its group
 *
 * Return: false: there is no oracle, the reason is in @check->diag.
 */
static inline bool layer_check_layer(struct layer_check *check, const struct npu_layer *layer,
				     struct layer_counts *counts)
{
	const struct npu_graph *graph = check->net->graph;
	const struct npu_op *last = &graph->op[layer->group[layer->group_count - 1]];
	const struct npu_tensor *tensor = npu_op_output(graph, last);
	u8 *npu, *saturated = NULL;

	check->diag.text[0] = '\0';
	if (!layer_check_inputs(check, layer) || !layer_check_oracle(check, layer, &saturated)) {
		free(saturated);
		return false;
	}
	npu = layer_check_alloc(tensor->bytes);
	npu_value_read(&check->model->lane[0], check->net->tensor_value[last->output[0]],
		       tensor->dtype, npu);
	*counts = layer_check_count(
		tensor, npu, npu_reference_tensor(check->reference, last->output[0]), saturated);
	free(saturated);
	free(npu);
	return true;
}

#endif /* LAYER_CHECK_H */
