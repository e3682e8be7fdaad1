// SPDX-License-Identifier: MIT
/* The passes in order, and what they share. */
#include "choose.h"

#include <math.h>
#include <stdlib.h>

static int (*const passes[])(struct npu_opt *) = {
	npu_pass_analyse,     npu_pass_support,	      npu_pass_fold_pad,  npu_pass_fold_reshape,
	npu_pass_fuse_pixels, npu_pass_fuse_residual, npu_pass_fuse_pool, npu_pass_place,
	npu_pass_lower,	      npu_pass_finish,
};

int npu_opt_nomem(struct npu_opt *opt)
{
	return npu_diag_set(opt->diag, -ENOMEM, "%s: out of memory", opt->graph->file);
}

void npu_opt_name_layer(struct npu_opt *opt, u32 index, const char *what)
{
	struct npu_layer *layer = &opt->net->layer[index];
	const char *name = npu_arena_printf(&opt->net->arena, "%s/%s", layer->name, what);

	layer->name = name ? name : layer->name;
}

bool npu_is_quantised(const struct npu_tensor *tensor)
{
	return (tensor->dtype == NPU_I8 || tensor->dtype == NPU_U8) && tensor->quant.count == 1;
}

s32 npu_stored_zero(const struct npu_tensor *tensor)
{
	return tensor->quant.zero[0] - (tensor->dtype == NPU_U8 ? 128 : 0);
}

bool npu_line_shape(u32 pixels, u32 *h, u32 *w)
{
	u32 rows;

	if (pixels <= NPU_MAX_EXTENT)
		return true;
	for (rows = DIV_ROUND_UP(pixels, NPU_MAX_EXTENT); rows <= NPU_MAX_EXTENT; rows++)
		if (pixels % rows == 0) {
			*h = rows;
			*w = pixels / rows;
			return true;
		}
	return false;
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
			 .ew = { .value = NPU_NONE },
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

u32 npu_opt_add_value(struct npu_opt *opt)
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
	u32 i = npu_opt_add_value(opt);
	struct npu_value *value;

	if (i == NPU_NONE)
		return NPU_NONE;
	value = &opt->net->value[i];
	*value = opt->net->value[like];
	value->name = npu_arena_printf(&opt->net->arena, "%s/%s", value->name, name);
	value->tensor = NPU_NONE;
	value->alias = NPU_NONE;
	value->alias_offset = 0;
	value->viewed = false;
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

/* What was made of a graph goes; the graph stays. */
static void drop_net(struct npu_opt *opt)
{
	if (!opt->net)
		return;
	/* Weights become the net's with the last pass. */
	opt->net->weights_memory = NULL;
	free(opt->weights);
	opt->weights = NULL;
	opt->net->graph = NULL;
	npu_net_free(opt->net);
	opt->net = NULL;
}

static int run_passes(struct npu_opt *opt)
{
	int error = 0;
	u32 i;

	opt->net = calloc(1, sizeof(*opt->net));
	if (!opt->net)
		return npu_opt_nomem(opt);
	opt->net->config = opt->config;
	opt->net->graph = opt->graph;
	for (i = 0; i < ARRAY_SIZE(passes) && !error; i++)
		error = passes[i](opt);
	if (!error)
		error = npu_net_verify(opt->net, opt->diag);
	return error;
}

/* First with all that the NPU can do; where that is not the cheapest way, again with the rest refused. */
int npu_optimise(struct npu_graph *graph, const struct nvdla_config *config, struct npu_net **net,
		 struct npu_diag *diag)
{
	struct npu_choice *choice = calloc(max(graph->op_count, 1u), sizeof(*choice));
	struct npu_opt opt = { .graph = graph, .config = config, .diag = diag };
	bool changed = false;
	int error = choice ? run_passes(&opt) : npu_opt_nomem(&opt);

	if (!error)
		error = npu_opt_choose(&opt, choice, &changed);
	if (!error && changed) {
		drop_net(&opt);
		opt = (struct npu_opt){
			.graph = graph, .config = config, .diag = diag, .choice = choice
		};
		error = run_passes(&opt);
	}
	free(choice);
	if (error) {
		drop_net(&opt);
		return error;
	}
	*net = opt.net;
	return 0;
}
