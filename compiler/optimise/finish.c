// SPDX-License-Identifier: MIT
/* Which value holds which tensor; values that nobody needs go. */
#include "optimise.h"

static void rename_value(u32 *index, const u32 *name)
{
	if (*index != NPU_NONE)
		*index = name[*index];
}

static void rename_layer(struct npu_layer *layer, const u32 *name)
{
	rename_value(&layer->input, name);
	rename_value(&layer->output, name);
	rename_value(&layer->unpooled, name);
	rename_value(&layer->sdp.bs.value, name);
	rename_value(&layer->sdp.bn.value, name);
	rename_value(&layer->sdp.ew.value, name);
}

/* Marks what layers and the application touch, and what that lies in. */
static void mark_used(const struct npu_net *net, bool *used)
{
	u32 values[NPU_LAYER_MAX_VALUES], i, count;

	for (i = 0; i < net->layer_count; i++) {
		count = npu_layer_reads(net, &net->layer[i], values);
		while (count)
			used[values[--count]] = true;
		count = npu_layer_writes(net, &net->layer[i], values);
		while (count)
			used[values[--count]] = true;
	}
	for (i = 0; i < net->input_count; i++)
		if (net->input[i] != NPU_NONE)
			used[net->input[i]] = true;
	for (i = 0; i < net->output_count; i++)
		if (net->output[i] != NPU_NONE)
			used[net->output[i]] = true;
	for (i = 0; i < net->value_count; i++) {
		u32 whole = i;

		while (used[i] && net->value[whole].alias != NPU_NONE) {
			whole = net->value[whole].alias;
			used[whole] = true;
		}
	}
}

/* Values of tensors that fusion made disappear go; the others move up. */
static int drop_unused(struct npu_opt *opt)
{
	struct npu_net *net = opt->net;
	bool *used = npu_arena_array(&net->arena, net->value_count, sizeof(*used));
	u32 *name = npu_arena_array(&net->arena, net->value_count, sizeof(*name));
	u32 i, count = 0;

	if (!used || !name)
		return npu_opt_nomem(opt);
	mark_used(net, used);
	for (i = 0; i < net->value_count; i++) {
		name[i] = used[i] ? count : NPU_NONE;
		if (used[i])
			net->value[count++] = net->value[i];
	}
	net->value_count = count;
	for (i = 0; i < count; i++)
		rename_value(&net->value[i].alias, name);
	for (i = 0; i < net->layer_count; i++)
		rename_layer(&net->layer[i], name);
	for (i = 0; i < opt->graph->tensor_count; i++)
		rename_value(&net->tensor_value[i], name);
	for (i = 0; i < net->input_count; i++)
		rename_value(&net->input[i], name);
	for (i = 0; i < net->output_count; i++)
		rename_value(&net->output[i], name);
	return 0;
}

int npu_pass_finish(struct npu_opt *opt)
{
	struct npu_net *net = opt->net;
	const struct npu_graph *graph = opt->graph;
	u32 i;

	net->tensor_value =
		npu_arena_array(&net->arena, graph->tensor_count, sizeof(*net->tensor_value));
	net->input = npu_arena_array(&net->arena, graph->input_count, sizeof(*net->input));
	net->output = npu_arena_array(&net->arena, graph->output_count, sizeof(*net->output));
	if (!net->tensor_value || !net->input || !net->output)
		return npu_opt_nomem(opt);
	for (i = 0; i < graph->tensor_count; i++)
		net->tensor_value[i] = npu_opt_value(opt, i);
	net->input_count = graph->input_count;
	for (i = 0; i < graph->input_count; i++)
		net->input[i] = net->tensor_value[graph->input[i]];
	net->output_count = graph->output_count;
	for (i = 0; i < graph->output_count; i++)
		net->output[i] = net->tensor_value[graph->output[i]];
	net->weights = net->weights_memory = opt->weights;
	net->weights_bytes = opt->weights_bytes;
	return drop_unused(opt);
}
