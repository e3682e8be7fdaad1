// SPDX-License-Identifier: MIT
/*
 * The integer graph: the same operators on INT8 tensors, and conversions between
 * what computes in integers and what does not.
 */
#include <math.h>
#include <stdlib.h>

#include "quantise/quantise.h"
#include "quantise/range.h"
#include "quantise/rewrite.h"

struct quantiser {
	const struct npu_graph *from;
	const struct npu_calibration *calibration;
	struct npu_graph *graph;
	bool *stays; /* of each operator of @from: it is computed in float32 */
	struct npu_scale *scale; /* of each tensor of @from */
	u32 *twin; /* of each tensor of @from: the other type's form, or NPU_NONE */
	struct npu_diag *diag;
};

static bool is_real(const struct quantiser *q, u32 tensor)
{
	return q->from->tensor[tensor].dtype == NPU_F32;
}

static int set_quant(struct npu_graph *graph, u32 index, float scale, s32 zero)
{
	float *scales = npu_arena_array(&graph->arena, 1, sizeof(*scales));
	s32 *zeros = npu_arena_array(&graph->arena, 1, sizeof(*zeros));

	if (!scales || !zeros)
		return -ENOMEM;
	*scales = scale;
	*zeros = zero;
	graph->tensor[index].quant = (struct npu_quant){ 1, 0, scales, zeros };
	return 0;
}

/* An INT8 tensor of the shape of tensor @like of the float graph. */
static int add_stored(struct quantiser *q, u32 like, const char *ending, float scale, s32 zero,
		      u32 *index)
{
	const struct npu_tensor *tensor = &q->from->tensor[like];
	char *name = npu_arena_printf(&q->graph->arena, "%s%s", tensor->name, ending);

	if (!name)
		return -ENOMEM;
	*index = npu_graph_add_tensor(q->graph, name, NPU_I8, tensor->rank, tensor->dim);
	return *index == NPU_NONE ? -ENOMEM : set_quant(q->graph, *index, scale, zero);
}

/* Float constants are converted where they are used: what keeps their index has one element. */
static int copy_tensor(struct quantiser *q, u32 i)
{
	const struct npu_tensor *tensor = &q->from->tensor[i];
	const struct npu_scale *scale = &q->scale[i];
	const u32 one = 1;
	char *name;
	u32 index;

	if (!is_real(q, i) || (!tensor->data && (scale->stays || !(scale->scale > 0))))
		return npu_copy_tensor(q->graph, tensor, tensor->name) == NPU_NONE ? -ENOMEM : 0;
	if (!tensor->data)
		return add_stored(q, i, "", scale->scale, scale->zero, &index);
	name = npu_arena_string(&q->graph->arena, tensor->name, strlen(tensor->name));
	if (!name || npu_graph_add_tensor(q->graph, name, NPU_F32, 1, &one) == NPU_NONE)
		return -ENOMEM;
	return 0;
}

static int convert(struct quantiser *q, enum npu_op_kind kind, u32 from, u32 to)
{
	struct npu_op *op = npu_graph_add_op(q->graph, kind, q->graph->tensor[to].name, 1, 1);

	if (!op)
		return -ENOMEM;
	op->input[0] = from;
	op->output[0] = to;
	return 0;
}

/* The INT8 form of a tensor that is computed. */
static int stored_form(struct quantiser *q, u32 tensor, u32 *index)
{
	const struct npu_scale *scale = &q->scale[tensor];
	int error;

	*index = tensor;
	if (!scale->stays)
		return 0;
	*index = q->twin[tensor];
	if (*index != NPU_NONE)
		return 0;
	error = add_stored(q, tensor, "/int8", scale->scale, scale->zero, index);
	if (!error)
		error = convert(q, NPU_OP_QUANTIZE, tensor, *index);
	q->twin[tensor] = *index;
	return error;
}

/* The float32 form; of a constant a copy. */
static int real_form(struct quantiser *q, u32 tensor, u32 *index)
{
	const struct npu_tensor *from = &q->from->tensor[tensor];
	char *name;

	*index = tensor;
	if (!is_real(q, tensor) || (!from->data && q->scale[tensor].stays))
		return 0;
	*index = q->twin[tensor];
	if (*index != NPU_NONE)
		return 0;
	*index = npu_copy_tensor(q->graph, from, from->name);
	if (*index == NPU_NONE)
		return -ENOMEM;
	q->twin[tensor] = *index;
	if (from->data)
		return 0;
	/* Outside it is known by its name: the form within gets another one. */
	name = npu_arena_printf(&q->graph->arena, "%s/int8", from->name);
	if (!name)
		return -ENOMEM;
	q->graph->tensor[tensor].name = name;
	return convert(q, NPU_OP_DEQUANTIZE, tensor, *index);
}

/* A constant as INT8; with the scale of @as, or its own where that is NULL. */
static int stored_constant(struct quantiser *q, u32 tensor, const struct npu_scale *as, u32 *index)
{
	const struct npu_tensor *from = &q->from->tensor[tensor];
	size_t i, count = npu_tensor_elements(from);
	const float *real = from->data;
	float low = 0, high = 0;
	struct npu_scale own;
	s8 *stored;
	int error;

	for (i = 0; i < count; i++) {
		low = min(low, real[i]);
		high = max(high, real[i]);
	}
	npu_range_to_quant(low, high, &own.scale, &own.zero);
	if (!as)
		as = &own;
	stored = npu_arena_array(&q->graph->arena, count, sizeof(*stored));
	if (!stored)
		return -ENOMEM;
	error = add_stored(q, tensor, "", as->scale, as->zero, index);
	if (error)
		return error;
	for (i = 0; i < count; i++) {
		double units = round((double)real[i] / (double)as->scale) + as->zero;

		stored[i] = (s8)max(min(units, (double)INT8_MAX), (double)INT8_MIN);
	}
	q->graph->tensor[*index].data = stored;
	return 0;
}

/* Operand @i as INT8, with the output's scale where the operator wants that. */
static int stored_operand(struct quantiser *q, const struct npu_op *op, u32 i, u32 *index)
{
	u32 tensor = op->input[i], base;
	bool shares = npu_shares_scale(op, i) && is_real(q, op->output[0]);
	const struct npu_scale *out = shares ? &q->scale[op->output[0]] : NULL;
	const struct npu_scale *scale = &q->scale[tensor];
	int error;

	*index = tensor;
	if (!is_real(q, tensor))
		return 0;
	if (q->from->tensor[tensor].data)
		return stored_constant(q, tensor, out, index);
	error = stored_form(q, tensor, &base);
	*index = base;
	if (error || !out || (scale->scale == out->scale && scale->zero == out->zero))
		return error;
	error = add_stored(q, tensor, "/requantised", out->scale, out->zero, index);
	return error ? error : convert(q, NPU_OP_QUANTIZE, base, *index);
}

static int add_op(struct quantiser *q, const struct npu_op *op, const u32 *input, u32 input_count)
{
	struct npu_op *copy = npu_copy_op(q->graph, op);
	u32 *own = npu_arena_array(&q->graph->arena, max(input_count, 1u), sizeof(*own));

	if (!copy || !own)
		return -ENOMEM;
	memcpy(own, input, input_count * sizeof(*own));
	copy->input = own;
	copy->input_count = input_count;
	/* What came out of integers stays in integers. */
	if (op->kind == NPU_OP_DEQUANTIZE && is_real(q, op->output[0]))
		copy->kind = NPU_OP_QUANTIZE;
	return 0;
}

static int quantise_weighted(struct quantiser *q, const struct npu_op *op)
{
	struct npu_arena scratch = { 0 };
	const char *name = npu_calibration_name(&scratch, q->from, op->input[0]);
	const struct npu_range *range = name ? npu_calibration_find(q->calibration, name) : NULL;
	u32 input[3] = { NPU_NONE, NPU_NONE, NPU_NONE };
	int error = name ? stored_operand(q, op, 0, &input[0]) : -ENOMEM;

	npu_arena_free(&scratch);
	if (!error)
		error = npu_quantise_weights(q->graph, q->from, op, q->scale[op->input[0]].scale,
					     range, &input[1]);
	return error ? error : add_op(q, op, input, 3);
}

static int quantise_op(struct quantiser *q, const struct npu_op *op, bool real)
{
	u32 input[NPU_MAX_INPUTS], i;
	int error = 0;

	if (npu_has_weights(op) && is_real(q, op->output[0]))
		return quantise_weighted(q, op);
	for (i = 0; i < op->input_count && !error; i++) {
		input[i] = op->input[i];
		if (input[i] == NPU_NONE)
			continue;
		/* Its own conversion, where the application's data comes in. */
		if (op->kind == NPU_OP_QUANTIZE && q->scale[input[i]].stays)
			continue;
		error = real ? real_form(q, input[i], &input[i])
			     : stored_operand(q, op, i, &input[i]);
	}
	return error ? error : add_op(q, op, input, op->input_count);
}

static int quantise_all(struct quantiser *q)
{
	const struct npu_graph *from = q->from;
	u32 i;
	int error = npu_quantise_scales(from, q->calibration, q->stays, q->scale, q->diag);

	for (i = 0; i < from->tensor_count && !error; i++) {
		q->twin[i] = NPU_NONE;
		error = copy_tensor(q, i);
	}
	for (i = 0; i < from->op_count && !error; i++)
		error = quantise_op(q, &from->op[i], q->stays[i]);
	if (!error && !npu_copy_ends(q->graph, from))
		error = -ENOMEM;
	for (i = 0; i < from->output_count && !error; i++)
		error = real_form(q, from->output[i], &q->graph->output[i]);
	return error;
}

int npu_quantise(const struct npu_graph *prepared, const struct npu_calibration *calibration,
		 struct npu_graph **quantised, struct npu_diag *diag)
{
	struct quantiser q = { .from = prepared, .calibration = calibration, .diag = diag };
	int error = -ENOMEM;

	q.graph = npu_graph_new(prepared->file);
	q.stays = npu_find_float(prepared);
	q.scale = calloc(prepared->tensor_count + 1, sizeof(*q.scale));
	q.twin = calloc(prepared->tensor_count + 1, sizeof(*q.twin));
	if (q.graph && q.stays && q.scale && q.twin)
		error = quantise_all(&q);
	free(q.stays);
	free(q.scale);
	free(q.twin);
	if (!error)
		error = npu_graph_verify(q.graph, diag);
	if (error) {
		npu_graph_free(q.graph);
		return npu_diag_set(diag, error, "%s: %s", prepared->file, strerror(-error));
	}
	*quantised = q.graph;
	return 0;
}
