// SPDX-License-Identifier: MIT
/* The passes in order, and what they share. */
#include "optimise.h"

#include <math.h>
#include <stdlib.h>

static int (*const passes[])(struct npu_opt *) = {
	npu_pass_analyse,	npu_pass_support,   npu_pass_fold_reshape, npu_pass_fold_pad,
	npu_pass_fuse_residual, npu_pass_fuse_pool, npu_pass_place,	   npu_pass_lower,
};

int npu_opt_nomem(struct npu_opt *opt)
{
	return npu_diag_set(opt->diag, -ENOMEM, "%s: out of memory", opt->graph->file);
}

bool npu_is_quantised(const struct npu_tensor *tensor)
{
	return (tensor->dtype == NPU_I8 || tensor->dtype == NPU_U8) && tensor->quant.count == 1;
}

s32 npu_stored_zero(const struct npu_tensor *tensor)
{
	return tensor->quant.zero[0] - (tensor->dtype == NPU_U8 ? 128 : 0);
}

static u32 padding_behind(u32 in, u32 out, u32 stride, u32 kernel, u32 dilation, u32 before)
{
	s64 end = (s64)(out - 1) * stride + (s64)npu_dilated(kernel, dilation) - before;

	return end > in ? (u32)(end - in) : 0;
}

void npu_trim_padding(struct npu_window *w, u32 in_h, u32 in_w, u32 out_h, u32 out_w)
{
	w->pad_bottom = padding_behind(in_h, out_h, w->stride_y, w->r, w->dilation_y, w->pad_top);
	w->pad_right = padding_behind(in_w, out_w, w->stride_x, w->s, w->dilation_x, w->pad_left);
}

void npu_activation_range(enum npu_activation activation, const struct npu_tensor *out, s32 *low,
			  s32 *high)
{
	s32 zero = npu_stored_zero(out);
	float scale = out->quant.scale[0];

	*low = -128;
	*high = 127;
	if (activation == NPU_ACT_RELU || activation == NPU_ACT_RELU6)
		*low = max(*low, zero);
	if (activation == NPU_ACT_RELU6)
		*high = (s32)min((float)*high, (float)zero + roundf(6.0f / scale));
	if (activation == NPU_ACT_RELU_N1_TO_1) {
		*low = (s32)max((float)*low, (float)zero + roundf(-1.0f / scale));
		*high = (s32)min((float)*high, (float)zero + roundf(1.0f / scale));
	}
}

static bool grow(struct npu_arena *arena, void **array, u32 count, u32 *capacity, size_t bytes)
{
	void *larger;

	if (count < *capacity)
		return true;
	*capacity = max(16u, *capacity * 2);
	larger = npu_arena_array(arena, *capacity, bytes);
	if (!larger)
		return false;
	if (count)
		memcpy(larger, *array, count * bytes);
	*array = larger;
	return true;
}

/* Converters join the names of what they fused with semicolons; the first is enough for people. */
static const char *short_name(struct npu_opt *opt, const char *name)
{
	size_t length = strcspn(name, ";");

	return name[length] && length ? npu_arena_string(&opt->net->arena, name, length) : name;
}

struct npu_layer *npu_opt_add_layer(struct npu_opt *opt, enum npu_layer_kind kind, u32 op)
{
	static const struct npu_window point = {
		.r = 1, .s = 1, .stride_y = 1, .stride_x = 1, .dilation_y = 1, .dilation_x = 1
	};
	struct npu_net *net = opt->net;
	struct npu_layer *layer;

	const char *name = short_name(opt, opt->graph->op[op].name);

	if (!name || !grow(&net->arena, (void **)&net->layer, net->layer_count,
			   &opt->layer_capacity, sizeof(*layer)))
		return NULL;
	layer = &net->layer[net->layer_count++];
	*layer = (struct npu_layer){
		.kind = kind,
		.op = op,
		.last_op = op,
		.name = name,
		.input = NPU_NONE,
		.output = NPU_NONE,
		.window = point,
		.blocks = 1,
		.sdp = { .bs = { .bypass = true, .value = NPU_NONE },
			 .bn = { .bypass = true, .value = NPU_NONE },
			 .cvt_scale = 1 },
		.unpooled = NPU_NONE,
		.pool = { .window = point },
	};
	return layer;
}

int npu_opt_set_group(struct npu_opt *opt, struct npu_layer *layer, const u32 *ops, u32 count)
{
	u32 i;

	layer->group = npu_arena_array(&opt->net->arena, count, sizeof(*layer->group));
	if (!layer->group)
		return npu_opt_nomem(opt);
	for (i = 0; i < count; i++)
		if (ops[i] != NPU_NONE)
			layer->group[layer->group_count++] = ops[i];
	return 0;
}

void npu_opt_move_group(struct npu_opt *opt, u32 from, u32 to)
{
	struct npu_layer *layer = opt->net->layer;

	layer[to].group = layer[from].group;
	layer[to].group_count = layer[from].group_count;
	layer[to].last_op = layer[from].last_op;
	layer[from].group = NULL;
	layer[from].group_count = 0;
}

static u32 add_value(struct npu_opt *opt)
{
	struct npu_net *net = opt->net;

	if (!grow(&net->arena, (void **)&net->value, net->value_count, &opt->value_capacity,
		  sizeof(*net->value)))
		return NPU_NONE;
	net->value[net->value_count] = (struct npu_value){
		.tensor = NPU_NONE,
		.alias = NPU_NONE,
	};
	return net->value_count++;
}

u32 npu_opt_add_value_like(struct npu_opt *opt, u32 like, const char *name)
{
	u32 i = add_value(opt);
	struct npu_value *value;

	if (i == NPU_NONE)
		return NPU_NONE;
	value = &opt->net->value[i];
	*value = opt->net->value[like];
	value->name = npu_arena_printf(&opt->net->arena, "%s/%s", value->name, name);
	value->tensor = NPU_NONE;
	value->alias = NPU_NONE;
	value->alias_offset = 0;
	return value->name ? i : NPU_NONE;
}

u8 *npu_opt_add_weights(struct npu_opt *opt, u64 bytes, u32 align, u64 *offset)
{
	u64 start = DIV_ROUND_UP(opt->weights_bytes, (u64)align) * align;
	u64 end = start + DIV_ROUND_UP(bytes, (u64)align) * align;

	if (end < start || end > SIZE_MAX / 2)
		return NULL;
	if (end > opt->weights_capacity) {
		u64 capacity = max(end, opt->weights_capacity + opt->weights_capacity / 4);
		u8 *larger = realloc(opt->weights, capacity);

		if (!larger)
			return NULL;
		opt->weights = larger;
		opt->weights_capacity = capacity;
	}
	memset(opt->weights + opt->weights_bytes, 0, end - opt->weights_bytes);
	opt->weights_bytes = end;
	*offset = start;
	return opt->weights + start;
}

int npu_opt_clamp_after(struct npu_opt *opt, u32 layer, s32 low, s32 high)
{
	struct npu_net *net = opt->net;
	u32 wanted = net->layer[layer].output;
	u32 raw = npu_opt_add_value_like(opt, wanted, "before the clamp");
	struct npu_layer *clamp = npu_opt_add_layer(opt, NPU_LAYER_SDP, net->layer[layer].op);

	if (raw == NPU_NONE || !clamp)
		return npu_opt_nomem(opt);
	net->layer[layer].output = raw;
	clamp->input = raw;
	clamp->output = wanted;
	clamp->sdp.bs = (struct npu_sdp_stage){ .alu_from = NPU_OPERAND_REGISTER,
						.alu_op = NPU_ALU_MAX,
						.alu_value = low };
	clamp->sdp.bn = (struct npu_sdp_stage){ .alu_from = NPU_OPERAND_REGISTER,
						.alu_op = NPU_ALU_MIN,
						.alu_value = high };
	clamp->sdp.bs.value = NPU_NONE;
	clamp->sdp.bn.value = NPU_NONE;
	npu_opt_move_group(opt, layer, net->layer_count - 1);
	return 0;
}

/* Which consumers and producers a tensor has, and what each operator starts as. */
int npu_pass_analyse(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	opt->tensor = npu_arena_array(&opt->net->arena, graph->tensor_count, sizeof(*opt->tensor));
	opt->op = npu_arena_array(&opt->net->arena, graph->op_count, sizeof(*opt->op));
	if (!opt->tensor || !opt->op)
		return npu_opt_nomem(opt);
	for (i = 0; i < graph->tensor_count; i++)
		opt->tensor[i] = (struct npu_opt_tensor){
			.producer = NPU_NONE, .consumer = NPU_NONE, .root = i, .value = NPU_NONE
		};
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		opt->op[i] =
			(struct npu_opt_op){ .pad = NPU_NONE, .add = NPU_NONE, .pool = NPU_NONE };
		for (j = 0; j < op->output_count; j++)
			opt->tensor[op->output[j]].producer = i;
		for (j = 0; j < op->input_count; j++) {
			struct npu_opt_tensor *in;

			if (op->input[j] == NPU_NONE)
				continue;
			in = &opt->tensor[op->input[j]];
			if (in->consumer != i)
				in->consumers++;
			in->consumer = i;
		}
	}
	for (i = 0; i < graph->output_count; i++)
		opt->tensor[graph->output[i]].is_output = true;
	return 0;
}

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

/* A value for each tensor that is still there, in the shape that the NPU needs or else its own. */
static int finish(struct npu_opt *opt)
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

/* Gives every root a value; its shape follows from the operators that the NPU does. */
static void shape_of(const struct npu_opt *opt, u32 tensor, u32 *h, u32 *w, u32 *c)
{
	u32 nhwc[4];

	npu_tensor_nhwc(&opt->graph->tensor[tensor], nhwc);
	*h = nhwc[0] * nhwc[1];
	*w = nhwc[2];
	*c = nhwc[3];
}

/* Whether the NPU reads or writes the tensor in its own shape: then features have that shape. */
static bool has_demand(const struct npu_opt *opt, u32 tensor)
{
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		if (opt->op[i].cpu_reason || opt->op[i].identity)
			continue;
		for (j = 0; j < op->output_count; j++)
			if (op->output[j] == tensor)
				return true;
		if (op->kind == NPU_OP_FULLY_CONNECTED && npu_fully_connected_rows(graph, op) == 1)
			continue;
		for (j = 0; j < op->input_count; j++)
			if (op->input[j] == tensor)
				return true;
	}
	return false;
}

/* A fully connected layer takes any shape, but needs features. */
static bool wants_features(const struct npu_opt *opt, u32 tensor)
{
	const struct npu_opt_tensor *t = &opt->tensor[tensor];
	const struct npu_graph *graph = opt->graph;
	u32 i, j;

	if (t->consumers == 0)
		return false;
	for (i = 0; i < graph->op_count; i++)
		for (j = 0; j < graph->op[i].input_count; j++)
			if (graph->op[i].input[j] == tensor && !opt->op[i].cpu_reason &&
			    !opt->op[i].identity)
				return true;
	return false;
}

int npu_pass_place(struct npu_opt *opt)
{
	const struct npu_graph *graph = opt->graph;
	u8 *shaped = npu_arena_array(&opt->net->arena, graph->tensor_count, 1);
	u32 i;

	if (!shaped)
		return npu_opt_nomem(opt);
	for (i = 0; i < graph->tensor_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[i];
		u32 root = opt->tensor[i].root;
		bool demand = has_demand(opt, i), features = demand || wants_features(opt, i);
		struct npu_value *value;
		u32 h, w, c;

		if (tensor->data)
			continue;
		if (opt->tensor[root].value == NPU_NONE) {
			opt->tensor[root].value = add_value(opt);
			if (opt->tensor[root].value == NPU_NONE)
				return npu_opt_nomem(opt);
			value = &opt->net->value[opt->tensor[root].value];
			value->name = graph->tensor[root].name;
			value->tensor = root;
			value->layout = NPU_LINEAR;
			value->dtype = graph->tensor[root].dtype;
			value->bytes = graph->tensor[root].bytes;
			if (graph->tensor[root].quant.count == 1) {
				value->scale = graph->tensor[root].quant.scale[0];
				value->zero = graph->tensor[root].quant.zero[0];
			}
			shape_of(opt, root, &value->h, &value->w, &value->c);
		}
		value = &opt->net->value[opt->tensor[root].value];
		if (!features && !(root != i && tensor->dtype != graph->tensor[root].dtype))
			continue;
		if (value->layout == NPU_LINEAR) {
			value->layout = NPU_FEATURE;
			value->dtype = NPU_I8;
			if (npu_is_quantised(&graph->tensor[root]))
				value->zero = npu_stored_zero(&graph->tensor[root]);
		}
		shape_of(opt, i, &h, &w, &c);
		if (demand && !shaped[root]) {
			shaped[root] = true;
			npu_value_set_feature(value, opt->config, h, w, c);
		} else {
			npu_value_set_feature(value, opt->config, value->h, value->w, value->c);
		}
	}
	return 0;
}

int npu_lower_cpu(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_CPU, op);
	u32 i;

	if (!layer)
		return npu_opt_nomem(opt);
	for (i = 0; i < o->input_count && layer->input == NPU_NONE; i++)
		if (o->input[i] != NPU_NONE)
			layer->input = npu_opt_value(opt, o->input[i]);
	layer->output = npu_opt_value(opt, o->output[0]);
	layer->window = o->window;
	layer->cpu_reason = opt->op[op].cpu_reason;
	return npu_opt_set_group(opt, layer, &op, 1);
}

int npu_pass_lower(struct npu_opt *opt)
{
	u32 i;

	for (i = 0; i < opt->graph->op_count; i++) {
		int error;

		if (opt->op[i].done || opt->op[i].identity)
			continue;
		error = opt->op[i].cpu_reason
				? npu_lower_cpu(opt, i)
				: npu_op_support[opt->graph->op[i].kind].lower(opt, i);
		if (error)
			return npu_diag_set(opt->diag, error, "%s: %s cannot be lowered",
					    opt->graph->file, opt->graph->op[i].name);
	}
	return 0;
}

int npu_optimise(struct npu_graph *graph, const struct nvdla_config *config, struct npu_net **net,
		 struct npu_diag *diag)
{
	struct npu_opt opt = { .graph = graph, .config = config, .diag = diag };
	int error = 0;
	u32 i;

	opt.net = calloc(1, sizeof(*opt.net));
	if (!opt.net)
		return npu_opt_nomem(&opt);
	opt.net->config = config;
	for (i = 0; i < ARRAY_SIZE(passes) && !error; i++)
		error = passes[i](&opt);
	opt.net->graph = graph;
	if (!error)
		error = finish(&opt);
	if (!error)
		error = npu_net_verify(opt.net, diag);
	if (error) {
		free(opt.weights);
		opt.net->weights_memory = NULL;
		opt.net->graph = NULL; /* stays the caller's */
		npu_net_free(opt.net);
		return error;
	}
	*net = opt.net;
	return 0;
}
