// SPDX-License-Identifier: MIT
#include "quantise/equalise.h"

#include <math.h>
#include <stdlib.h>

#include "quantise/rewrite.h"

/* Factors further from 1 would make others than the channels at work imprecise. */
#define MOST_BITS 8

struct search {
	const struct npu_graph *graph;
	const u32 *readers;
	u32 *reader; /* of each tensor: the last operator that has it as input 0 */
};

static bool is_depthwise(const struct npu_graph *graph, const struct npu_op *op)
{
	return op->kind == NPU_OP_CONV && op->groups > 1 && npu_op_input(graph, op, 1)->dim[3] == 1;
}

/* f(c * x) = c * f(x) for positive c */
static bool is_homogeneous(enum npu_activation activation)
{
	return activation == NPU_ACT_NONE || activation == NPU_ACT_RELU;
}

/*
 * Whether the clamp behind the front operator lets channels be divided.  A ReLU6 does not scale along,
 * but where only the features count no channel grows beyond the largest one: what was seen stays
 * below the clamp, and what was not is clipped where the tensor's range ends anyway.
 */
static bool lets_divide(const struct npu_graph *graph, const struct npu_op *front,
			const struct npu_op *behind)
{
	return is_homogeneous(front->activation) ||
	       (front->activation == NPU_ACT_RELU6 && is_depthwise(graph, behind));
}

/* Whether an operator keeps channels apart, and their factors with them. */
static bool scales_along(const struct npu_graph *graph, const struct npu_op *op)
{
	u32 rank = npu_op_output(graph, op)->rank;

	switch (op->kind) {
	case NPU_OP_RELU:
	case NPU_OP_LEAKY_RELU:
	case NPU_OP_MAX_POOL:
	case NPU_OP_AVERAGE_POOL:
		return is_homogeneous(op->activation);
	case NPU_OP_PAD:
		return op->input_count == 1 && rank && !op->begin[rank - 1] && !op->end[rank - 1];
	default:
		return false;
	}
}

/* Whether weights and bias are there for this operator alone. */
static bool owns_weights(const struct search *s, const struct npu_op *op)
{
	return npu_has_weights(op) && npu_op_output(s->graph, op)->dtype == NPU_F32 &&
	       s->readers[op->input[1]] == 1 &&
	       (op->input_count < 3 || op->input[2] == NPU_NONE || s->readers[op->input[2]] == 1);
}

/* Whether the last dimension of what @op computes is that of its kernels. */
static bool ends_in_channels(const struct npu_graph *graph, const struct npu_op *op, u32 channels)
{
	const struct npu_tensor *out = npu_op_output(graph, op);

	return out->rank && out->dim[out->rank - 1] == channels;
}

/* The operator behind @op that takes its channels; NPU_NONE: none, or several. */
static u32 find_behind(const struct search *s, const struct npu_op *op, u32 channels)
{
	const struct npu_graph *graph = s->graph;
	bool flat = false;

	for (;;) {
		u32 tensor = op->output[0], next = s->reader[tensor];

		if (s->readers[tensor] != 1 || next == NPU_NONE)
			return NPU_NONE;
		op = &graph->op[next];
		if (npu_has_weights(op)) {
			const struct npu_tensor *weights = npu_op_input(graph, op, 1);

			if (!owns_weights(s, op))
				return NPU_NONE;
			if (op->kind == NPU_OP_FULLY_CONNECTED)
				return weights->dim[1] % channels ? NPU_NONE : next;
			return flat || op->kind != NPU_OP_CONV ? NPU_NONE : next;
		}
		/* Rows of channels, one after the other: for a fully connected layer only. */
		if (op->kind == NPU_OP_RESHAPE)
			flat = true;
		else if (flat || !scales_along(graph, op))
			return NPU_NONE;
	}
}

static int start_search(struct search *s)
{
	u32 i;

	s->readers = npu_count_readers(s->graph);
	s->reader = calloc(s->graph->tensor_count + 1, sizeof(*s->reader));
	if (!s->readers || !s->reader)
		return -ENOMEM;
	for (i = 0; i < s->graph->tensor_count; i++)
		s->reader[i] = NPU_NONE;
	for (i = 0; i < s->graph->op_count; i++)
		if (s->graph->op[i].input[0] != NPU_NONE)
			s->reader[s->graph->op[i].input[0]] = i;
	return 0;
}

int npu_equalise_find(const struct npu_graph *graph, enum npu_equalise which,
		      struct npu_pair **pairs, u32 *count)
{
	struct search s = { .graph = graph };
	int error = start_search(&s);
	u32 i;

	*count = 0;
	*pairs = calloc(graph->op_count + 1, sizeof(**pairs));
	if (!*pairs)
		error = -ENOMEM;
	for (i = 0; !error && i < graph->op_count && which != NPU_EQUALISE_NONE; i++) {
		const struct npu_op *op = &graph->op[i];
		struct npu_pair pair = { .front = i };

		if (!owns_weights(&s, op))
			continue;
		pair.tensor = op->output[0];
		pair.channels = npu_op_input(graph, op, 1)->dim[0];
		pair.behind = ends_in_channels(graph, op, pair.channels)
				      ? find_behind(&s, op, pair.channels)
				      : NPU_NONE;
		if (pair.behind == NPU_NONE || !lets_divide(graph, op, &graph->op[pair.behind]))
			continue;
		if (which == NPU_EQUALISE_ALL || is_depthwise(graph, op) ||
		    is_depthwise(graph, &graph->op[pair.behind]))
			(*pairs)[(*count)++] = pair;
	}
	free((void *)(uintptr_t)s.readers);
	free(s.reader);
	return error;
}

/* The channel of @pair->tensor that weight @i of the operator behind is multiplied with. */
static u32 channel_of(const struct npu_graph *graph, const struct npu_pair *pair, size_t i)
{
	const struct npu_op *op = &graph->op[pair->behind];
	const u32 *dim = npu_op_input(graph, op, 1)->dim;
	u32 kernel, per_group;

	if (op->kind == NPU_OP_FULLY_CONNECTED)
		return (u32)(i % dim[1] % pair->channels);
	kernel = (u32)(i / ((size_t)dim[1] * dim[2] * dim[3]));
	per_group = dim[0] / op->groups;
	return kernel / per_group * dim[3] + (u32)(i % dim[3]);
}

static float power_of_two(float x, bool upwards)
{
	float bits = upwards ? ceilf(log2f(x)) : roundf(log2f(x));

	return ldexpf(1, (int)max(min(bits, (float)MOST_BITS), -(float)MOST_BITS));
}

void npu_equalise_factors(const struct npu_graph *graph, const struct npu_pair *pair,
			  const float *most, float *factor)
{
	const struct npu_op *behind = &graph->op[pair->behind];
	const struct npu_tensor *weights = npu_op_input(graph, behind, 1);
	bool clamped = !is_homogeneous(graph->op[pair->front].activation);
	const float *data = weights->data;
	size_t i, count = npu_tensor_elements(weights);
	float largest = 0;
	u32 c;

	for (c = 0; c < pair->channels; c++) {
		factor[c] = 0;
		largest = max(largest, most[c]);
	}
	for (i = 0; i < count; i++) {
		c = channel_of(graph, pair, i);
		factor[c] = max(factor[c], fabsf(data[i]));
	}
	for (c = 0; c < pair->channels; c++) {
		if (!(most[c] > 0) || !(factor[c] > 0))
			factor[c] = 1;
		/* Each kernel has a scale of its own: only the features count. */
		else if (is_depthwise(graph, behind))
			factor[c] = power_of_two(most[c] / largest, clamped);
		else
			factor[c] = power_of_two(sqrtf(most[c] / factor[c]), false);
	}
}

void npu_equalise_apply(struct npu_graph *graph, const struct npu_pair *pair, const float *factor)
{
	const struct npu_op *front = &graph->op[pair->front], *behind = &graph->op[pair->behind];
	const struct npu_tensor *weights = npu_op_input(graph, front, 1);
	const struct npu_tensor *bias = npu_op_input(graph, front, 2);
	size_t each = npu_tensor_elements(weights) / pair->channels, i, count;
	/* A prepared graph's constants lie in memory of its own. */
	float *data = (float *)(uintptr_t)weights->data;

	for (i = 0; i < each * pair->channels; i++)
		data[i] /= factor[i / each];
	data = bias ? (float *)(uintptr_t)bias->data : NULL;
	for (i = 0; data && i < pair->channels; i++)
		data[i] /= factor[i];
	weights = npu_op_input(graph, behind, 1);
	data = (float *)(uintptr_t)weights->data;
	count = npu_tensor_elements(weights);
	for (i = 0; i < count; i++)
		data[i] *= factor[channel_of(graph, pair, i)];
}
