// SPDX-License-Identifier: MIT
/* Element-wise operators by SDP from memory. */
#include "binary.h"
#include "requant.h"

struct npu_layer *npu_opt_add_sdp(struct npu_opt *opt, u32 op, u32 input)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_SDP, op);

	if (!layer || npu_opt_set_group(opt, layer, &op, 1))
		return NULL;
	layer->input = npu_opt_value(opt, o->input[input]);
	layer->output = npu_opt_value(opt, o->output[0]);
	return layer;
}

int npu_opt_clamp(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	s32 low, high;

	npu_activation_range(o->activation, npu_op_output(opt->graph, o), &low, &high);
	if (low == -128 && high == 127)
		return 0;
	return npu_opt_clamp_after(opt, opt->net->layer_count - 1, low, high);
}

static bool same_nhwc(const struct npu_tensor *a, const struct npu_tensor *b)
{
	u32 x[4], y[4];

	npu_tensor_nhwc(a, x);
	npu_tensor_nhwc(b, y);
	return !memcmp(x, y, sizeof(x));
}

/* One entry, or one for each channel and nothing else. */
static bool is_by_channel(const struct npu_tensor *tensor, u32 channels, bool scalar)
{
	u64 elements = npu_tensor_elements(tensor);

	if (scalar && elements == 1)
		return true;
	return elements == channels && tensor->rank && tensor->dim[tensor->rank - 1] == channels;
}

const char *npu_binary_of(const struct npu_graph *graph, const struct npu_op *op,
			  struct npu_binary *binary)
{
	const struct npu_tensor *in[2] = { npu_op_input(graph, op, 0), npu_op_input(graph, op, 1) };
	const struct npu_tensor *out = npu_op_output(graph, op), *other;
	u32 nhwc[4];

	*binary = (struct npu_binary){ .other = 1 };
	if (in[0]->data || !same_nhwc(in[0], out))
		*binary = (struct npu_binary){ .main = 1 };
	if (in[binary->main]->data)
		return "both operands are constant";
	if (!same_nhwc(in[binary->main], out))
		return "both operands are broadcast";
	other = in[binary->other];
	npu_tensor_nhwc(out, nhwc);
	binary->constant = other->data != NULL;
	if (binary->constant)
		return is_by_channel(other, nhwc[3], true)
			       ? NULL
			       : "a constant with more than an entry for each channel";
	binary->from = same_nhwc(other, out) ? NPU_OPERAND_ELEMENT : NPU_OPERAND_CHANNEL;
	if (binary->from == NPU_OPERAND_ELEMENT || is_by_channel(other, nhwc[3], false))
		return NULL;
	return "an operand is broadcast along channels, or along one of height and width";
}

s32 npu_constant_at(const struct npu_tensor *constant, u32 c)
{
	size_t at = npu_tensor_elements(constant) == 1 ? 0 : c;
	s32 stored = constant->dtype == NPU_U8 ? ((const u8 *)constant->data)[at]
					       : ((const s8 *)constant->data)[at];

	return stored - constant->quant.zero[0];
}

int npu_lower_add(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *out = npu_op_output(graph, o), *a, *b;
	s32 sign[2] = { 1, o->kind == NPU_OP_SUB ? -1 : 1 };
	struct npu_binary binary;
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst;

	npu_binary_of(graph, o, &binary);
	if (binary.constant)
		return npu_lower_affine(opt, op);
	a = npu_op_input(graph, o, binary.main);
	b = npu_op_input(graph, o, binary.other);
	worst = npu_requant_add(&sdp, (double)a->quant.scale[0] / out->quant.scale[0],
				npu_stored_zero(a), (double)b->quant.scale[0] / out->quant.scale[0],
				npu_stored_zero(b), npu_stored_zero(out), sign[binary.main],
				sign[binary.other]);
	if (worst < 0 || worst > 0.45)
		return -ERANGE;
	layer = npu_opt_add_sdp(opt, op, binary.main);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	layer->sdp.bn.alu_from = binary.from;
	layer->sdp.bn.value = npu_opt_value(opt, o->input[binary.other]);
	return npu_opt_clamp(opt, op);
}

/* Entries as stored: no scale plays a part. */
static int set_constants(struct npu_opt *opt, const struct npu_tensor *constant, u32 channels,
			 struct npu_sdp_stage *stage)
{
	s32 zero = npu_stored_zero(constant);
	s16 *table = npu_arena_array(&opt->net->arena, channels, sizeof(*table));
	u32 c;

	if (!table)
		return npu_opt_nomem(opt);
	stage->alu_from = NPU_OPERAND_REGISTER;
	stage->alu_value = npu_constant_at(constant, 0) + zero;
	if (npu_tensor_elements(constant) == 1)
		return 0;
	for (c = 0; c < channels; c++)
		table[c] = (s16)(npu_constant_at(constant, c) + zero);
	stage->alu_from = NPU_OPERAND_KERNEL;
	return npu_opt_add_operands(opt, table, channels, &stage->table);
}

int npu_lower_min_max(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	struct npu_sdp_stage stage = { .alu_op = o->kind == NPU_OP_MAXIMUM ? NPU_ALU_MAX
									   : NPU_ALU_MIN };
	struct npu_binary binary;
	struct npu_layer *layer;
	u32 nhwc[4], other;
	int error = 0;

	npu_binary_of(graph, o, &binary);
	other = o->input[binary.other];
	npu_tensor_nhwc(npu_op_output(graph, o), nhwc);
	stage.alu_from = binary.from;
	stage.value = binary.constant ? NPU_NONE : npu_opt_value(opt, other);
	if (binary.constant)
		error = set_constants(opt, &graph->tensor[other], nhwc[3], &stage);
	if (error)
		return error;
	layer = npu_opt_add_sdp(opt, op, binary.main);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp.bn = stage;
	return npu_opt_clamp(opt, op);
}

int npu_lower_requantise(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *in = npu_op_input(graph, o, 0), *out = npu_op_output(graph, o);
	struct npu_layer *layer;
	struct npu_sdp sdp;
	double worst = npu_requant_scale(&sdp, (double)in->quant.scale[0] / out->quant.scale[0],
					 npu_stored_zero(in), npu_stored_zero(out), true);

	if (worst < 0 || worst > 0.45)
		return npu_lower_table(opt, op);
	layer = npu_opt_add_sdp(opt, op, 0);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp = sdp;
	return npu_opt_clamp(opt, op);
}
