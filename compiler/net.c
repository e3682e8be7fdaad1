// SPDX-License-Identifier: MIT
/* IR2: what passes, planner and libnpu ask a network. */
#include "net.h"

#include <stdlib.h>

const char *const npu_layer_kind_names[NPU_LAYER_KINDS] = {
	[NPU_LAYER_CONV] = "conv", [NPU_LAYER_SDP] = "sdp", [NPU_LAYER_PDP] = "pdp",
	[NPU_LAYER_CDP] = "cdp",   [NPU_LAYER_CPU] = "cpu",
};

void npu_value_set_feature(struct npu_value *value, const struct nvdla_config *config, u32 h, u32 w,
			   u32 c)
{
	value->layout = NPU_FEATURE;
	value->dtype = NPU_I8;
	value->h = h;
	value->w = w;
	value->c = c;
	value->line_stride = w * config->atom;
	value->surface_stride = value->line_stride * h;
	value->bytes = (u64)value->surface_stride * DIV_ROUND_UP(c, (u32)config->atom);
}

void npu_value_set_pixels(struct npu_value *value, const struct nvdla_config *config, u32 h, u32 w,
			  u32 c, u32 pixel_bytes)
{
	u32 line = w * max(pixel_bytes, c - pixel_bytes);

	value->layout = NPU_PIXELS;
	value->dtype = NPU_U8;
	value->h = h;
	value->w = w;
	value->c = c;
	value->pixel_bytes = pixel_bytes;
	value->line_stride = DIV_ROUND_UP(line, (u32)config->atom) * config->atom;
	value->surface_stride = value->line_stride * h;
	value->bytes = (u64)value->surface_stride * npu_value_surfaces(config, value);
}

bool npu_value_lines_apart(const struct nvdla_config *config, const struct npu_value *value)
{
	u64 line = (u64)value->w * config->atom;
	u64 plane = (u64)(value->h - 1) * value->line_stride + line;
	u64 column = (u64)(npu_value_surfaces(config, value) - 1) * value->surface_stride + line;

	return value->surface_stride >= plane ||
	       (value->surface_stride >= line && value->line_stride >= column);
}

u32 npu_value_surfaces(const struct nvdla_config *config, const struct npu_value *value)
{
	if (value->layout == NPU_PIXELS)
		return value->c > value->pixel_bytes ? 2 : 1;
	return DIV_ROUND_UP(value->c, (u32)config->atom);
}

static u32 add_once(u32 *values, u32 count, u32 value)
{
	u32 i;

	if (value == NPU_NONE || count == NPU_LAYER_MAX_VALUES)
		return count;
	for (i = 0; i < count; i++)
		if (values[i] == value)
			return count;
	values[count] = value;
	return count + 1;
}

static bool is_value(enum npu_operand from)
{
	return from == NPU_OPERAND_ELEMENT || from == NPU_OPERAND_CHANNEL;
}

static u32 add_stage(u32 *values, u32 count, const struct npu_sdp_stage *stage)
{
	if (stage->bypass || (!is_value(stage->alu_from) && !is_value(stage->mul_from)))
		return count;
	return add_once(values, count, stage->value);
}

u32 npu_layer_reads(const struct npu_net *net, const struct npu_layer *layer,
		    u32 values[NPU_LAYER_MAX_VALUES])
{
	u32 count = add_once(values, 0, layer->input);
	const struct npu_op *op;
	u32 i;

	if (layer->kind == NPU_LAYER_CONV || layer->kind == NPU_LAYER_SDP) {
		count = add_stage(values, count, &layer->sdp.bs);
		count = add_stage(values, count, &layer->sdp.bn);
		if (is_value(layer->sdp.ew.mul_from))
			count = add_once(values, count, layer->sdp.ew.value);
		return count;
	}
	if (layer->kind != NPU_LAYER_CPU)
		return count;
	if (layer->patch_count)
		return add_once(values, count, layer->output);
	if (!net->graph)
		return count;
	op = &net->graph->op[layer->op];
	for (i = 0; i < op->input_count; i++)
		if (op->input[i] != NPU_NONE)
			count = add_once(values, count, net->tensor_value[op->input[i]]);
	return count;
}

u32 npu_layer_writes(const struct npu_net *net, const struct npu_layer *layer,
		     u32 values[NPU_LAYER_MAX_VALUES])
{
	u32 count = add_once(values, 0, layer->output);
	const struct npu_op *op;
	u32 i;

	if (layer->has_pool)
		count = add_once(values, count, layer->unpooled);
	if (layer->kind != NPU_LAYER_CPU || layer->patch_count || !net->graph)
		return count;
	op = &net->graph->op[layer->op];
	for (i = 0; i < op->output_count; i++)
		if (op->output[i] != NPU_NONE)
			count = add_once(values, count, net->tensor_value[op->output[i]]);
	return count;
}

void npu_net_free(struct npu_net *net)
{
	if (!net)
		return;
	npu_graph_free(net->graph);
	free(net->weights_memory);
	npu_arena_free(&net->arena);
	free(net);
}
