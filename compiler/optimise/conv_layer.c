// SPDX-License-Identifier: MIT
/* From a convolution's description to its layer: blocks, arithmetic, packed weights. */
#include "conv.h"

#include "../plan/split.h"

#include "nvdla_cbuf.h"

#include <math.h>

/* Cycles between two tasks that do not overlap, as the planner reckons too: what merging saves. */
#define TASK_OVERHEAD 300u

#define TABLE_ALIGN 64u /* the largest beat of all configurations, twice */

/* Has kernel @k a weight, without its zero point, that is not within these? */
static bool has_weight_beyond(const struct npu_kernels *kernels, u32 k, s32 low, s32 high)
{
	size_t i, per = (size_t)kernels->r * kernels->s * kernels->channels;
	s32 zero = kernels->zero[kernels->zero_count == 1 ? 0 : k];

	for (i = k * per; i < (k + 1) * per; i++) {
		s32 weight = (kernels->is_unsigned ? ((const u8 *)kernels->data)[i]
						   : ((const s8 *)kernels->data)[i]) -
			     zero;

		if (weight < low || weight > high)
			return true;
	}
	return false;
}

int npu_find_bad_kernels(struct npu_opt *opt, const struct npu_kernels *kernels, u32 **bad,
			 u32 *count)
{
	u32 k;

	*count = 0;
	*bad = npu_arena_array(&opt->net->arena, kernels->k, sizeof(**bad));
	if (!*bad)
		return npu_opt_nomem(opt);
	for (k = 0; k < kernels->k; k++)
		if (has_weight_beyond(kernels, k, -128, 127))
			(*bad)[(*count)++] = k;
	return 0;
}

static int find_bad(struct npu_opt *opt, struct npu_conv *conv)
{
	struct npu_kernels *kernels = &conv->kernels;

	conv->constant = npu_arena_array(&opt->net->arena, kernels->k, sizeof(*conv->constant));
	conv->channel = npu_arena_array(&opt->net->arena, kernels->k, sizeof(*conv->channel));
	if (!conv->constant || !conv->channel)
		return npu_opt_nomem(opt);
	kernels->constant = conv->constant;
	return npu_find_bad_kernels(opt, kernels, &conv->bad, &conv->bad_count);
}

static u32 round_up(u32 value, u32 step)
{
	return DIV_ROUND_UP(value, step) * step;
}

/* MAC cycles, overhead of tasks and fetched weights of depthwise blocks of @c channels, @k kernels. */
static u64 block_cost(const struct nvdla_config *config, const struct npu_conv *conv, u32 blocks,
		      u32 c, u32 k)
{
	u64 taps = (u64)conv->kernels.r * conv->kernels.s;
	u64 mac = conv->h * conv->w * taps * DIV_ROUND_UP(c, (u32)config->atomic_c) *
		  DIV_ROUND_UP(k, (u32)config->atomic_k);

	return blocks * (mac + TASK_OVERHEAD + taps * c * k / config->dbb_bytes);
}

/* Whether the last of blocks of @merged groups reaches no further than the last surface. */
static bool ends_with_surfaces(const struct nvdla_config *config, u32 groups, u32 merged, u32 per)
{
	return round_up(groups, merged) * per <= round_up(groups * per, config->atom);
}

/* Two INT8 weights make all that differences of bytes can be, but for 255. */
static void keep_beyond_two(struct npu_conv *conv)
{
	u32 i, count = conv->bad_count;

	conv->bad_count = 0;
	for (i = 0; i < count; i++)
		if (has_weight_beyond(&conv->kernels, conv->bad[i], -256, 254))
			conv->bad[conv->bad_count++] = conv->bad[i];
}

/*
 * Grouped convolutions in blocks of whole surfaces: as many groups as fill them, so that each block
 * is a small dense convolution with zeros between the groups.
 */
static void set_blocks(const struct nvdla_config *config, struct npu_conv *conv)
{
	const struct npu_kernels *kernels = &conv->kernels;
	u32 groups = kernels->groups, per_k = kernels->k / groups, n = 1, merged;
	bool split = conv->bad_count > 0;
	u64 best = UINT64_MAX;

	conv->c = kernels->channels * groups;
	conv->k = kernels->k;
	conv->blocks = 1;
	/* All bytes of a pixel are channels, those without weights too. */
	if (conv->pixels.used) {
		conv->c = conv->pixel_channels;
		return;
	}
	while (n < groups && (n * kernels->channels % config->atom || n * per_k % config->atom))
		n++;
	/* Whole surfaces of the input and the output, or else everything in one block. */
	for (merged = n; merged < groups && merged <= 8 * n; merged *= 2) {
		u64 cost = block_cost(config, conv, DIV_ROUND_UP(groups, merged),
				      merged * kernels->channels, merged * per_k);

		if (cost >= best ||
		    !ends_with_surfaces(config, groups, merged, kernels->channels) ||
		    !ends_with_surfaces(config, groups, merged, per_k))
			continue;
		best = cost;
		conv->blocks = DIV_ROUND_UP(groups, merged);
		conv->c = merged * kernels->channels;
		conv->k = merged * per_k;
		conv->block_channels = conv->c;
		/* Larger blocks would not fit into a surface that is read twice. */
		if (split)
			break;
	}
	/* One surface read twice has room for the rest of weights beyond INT8. */
	if (split && conv->c <= config->atom) {
		conv->repeat = config->atom;
		conv->c += config->atom;
		keep_beyond_two(conv);
	}
}

/* Bias, multiplier and the range of sums of every kernel. */
static void set_channels(struct npu_opt *opt, struct npu_conv *conv, const struct npu_tensor *out)
{
	const struct npu_kernels *kernels = &conv->kernels;
	const struct npu_quant *scale = conv->weights ? &conv->weights->quant : NULL;
	s32 zero = conv->raw ? 0 : npu_stored_zero(conv->in);
	u32 k, i, per = kernels->r * kernels->s * kernels->channels;

	for (k = 0; k < kernels->k; k++) {
		struct npu_channel *ch = &conv->channel[k];
		s64 sum = 0, positive = 0, negative = 0;
		s32 weight_zero = kernels->zero[kernels->zero_count == 1 ? 0 : k];

		for (i = 0; i < per; i++) {
			size_t at = (size_t)k * per + i;
			s32 weight = (kernels->is_unsigned ? ((const u8 *)kernels->data)[at]
							   : ((const s8 *)kernels->data)[at]) -
				     weight_zero;

			sum += weight;
			if (weight > 0)
				positive += weight;
			else
				negative += weight;
		}
		ch->low = -128 * positive + 127 * negative;
		ch->high = 127 * positive - 128 * negative;
		ch->bias = -(s64)zero * sum;
		if (conv->bias) {
			s32 bias;

			memcpy(&bias, (const u8 *)conv->bias->data + (size_t)k * sizeof(bias),
			       sizeof(bias));
			ch->bias += bias;
		}
		ch->multiplier = !scale ? conv->multiplier
					: (double)conv->in->quant.scale[0] *
						  scale->scale[scale->count == 1 ? 0 : k] /
						  out->quant.scale[0];
		ch->constant = false;
	}
	for (i = 0; i < conv->bad_count; i++) {
		/* The CPU does these: whatever the NPU writes is overwritten. */
		conv->channel[conv->bad[i]].constant = true;
		conv->channel[conv->bad[i]].bias = 0;
		conv->channel[conv->bad[i]].low = conv->channel[conv->bad[i]].high = 0;
	}
}

/* One or two 16-bit operands for each kernel, interleaved, padding kernels zero. */
static int add_table(struct npu_opt *opt, struct npu_sdp_stage *stage, const s16 *alu,
		     const s16 *mul, u32 count, u32 padded)
{
	u8 *table;
	u32 k;

	if (stage->bypass || stage->alu_from != NPU_OPERAND_KERNEL)
		return 0;
	table = npu_opt_add_weights(opt, (u64)padded * 4, TABLE_ALIGN, &stage->table);
	if (!table)
		return npu_opt_nomem(opt);
	for (k = 0; k < count; k++) {
		s16 both[2] = { alu[k], mul[k] };

		memcpy(table + (size_t)k * sizeof(both), both, sizeof(both));
	}
	return 0;
}

static int alloc_tables(struct npu_opt *opt, u32 count, struct npu_requant_tables *tables)
{
	s16 *memory = npu_arena_array(&opt->net->arena, (size_t)count * 4, sizeof(*memory));

	if (!memory)
		return npu_opt_nomem(opt);
	tables->bs_alu = memory;
	tables->bs_mul = memory + count;
	tables->bn_alu = memory + 2 * (size_t)count;
	tables->bn_mul = memory + 3 * (size_t)count;
	return 0;
}

/* The multiplication's operand order on the bus is that of memory: little endian hosts only. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "operand tables are little endian");

static int pack(struct npu_opt *opt, const struct npu_conv *conv, struct npu_layer *layer)
{
	u64 bytes = (u64)conv->k * conv->c * conv->kernels.r * conv->kernels.s;
	struct npu_packing packing = {
		.k = conv->k,
		.c = conv->c,
		.block_channels = conv->block_channels,
		.repeat = conv->repeat,
		.pixels = conv->pixels.used,
	};
	/* CDMA asks for so much at a time: a block that starts there needs no spare entry. */
	u32 align = max(64u, NVDLA_CBUF_REQUEST_ATOMS * (u32)opt->config->atom);
	u8 *out;

	layer->weight_bytes = bytes;
	layer->weight_stride = DIV_ROUND_UP(bytes, (u64)align) * align;
	if (layer->weight_stride > UINT32_MAX)
		return npu_diag_set(opt->diag, -ENOTSUP, "%s: %s: more than 4 GiB of weights",
				    opt->graph->file, opt->graph->op[conv->op].name);
	out = npu_opt_add_weights(opt, layer->weight_stride * conv->blocks, align, &layer->weights);
	if (!out)
		return npu_opt_nomem(opt);
	for (; packing.block < conv->blocks; packing.block++)
		npu_pack_weights(opt->config, &conv->kernels, &packing,
				 (s8 *)out + packing.block * layer->weight_stride);
	return 0;
}

/* What SDP does behind a convolution. */
struct arithmetic {
	struct npu_sdp sdp;
	struct npu_requant_tables tables;
	s32 low, high; /* clamp of the output */
	bool clamp_after; /* by a pass of its own */
	u32 add; /* the sum that is fused; NPU_NONE: none */
};

/* Whether the sum behind the convolution may be fused: decided by rounding alone, never by a budget. */
static bool try_residual(struct npu_opt *opt, struct npu_conv *conv, struct arithmetic *result)
{
	const struct npu_graph *graph = opt->graph;
	u32 index = opt->op[conv->op].add, residual;
	const struct npu_op *add = index == NPU_NONE ? NULL : &graph->op[index];
	const struct npu_tensor *sum, *other;
	struct npu_requant requant = { .channel = conv->channel, .count = conv->kernels.k };
	double worst;

	if (!add || conv->bad_count)
		return false;
	sum = npu_op_output(graph, add);
	residual = add->input[0] == graph->op[conv->op].output[0] ? add->input[1] : add->input[0];
	other = &graph->tensor[residual];
	set_channels(opt, conv, sum);
	requant.residual = true;
	requant.residual_scale = (double)other->quant.scale[0] / sum->quant.scale[0];
	requant.residual_zero = npu_stored_zero(other);
	requant.conv_scale = (double)conv->out->quant.scale[0] / sum->quant.scale[0];
	requant.zero = npu_stored_zero(sum);
	npu_activation_range(add->activation, sum, &requant.low, &requant.high);
	worst = npu_requant_conv(&requant, &result->sdp, &result->tables, &result->clamp_after);
	/* The reference rounds in between, which is worth half a unit of the convolution's output. */
	if (worst < 0 || worst + 0.5 * requant.conv_scale > 0.95)
		return false;
	result->low = requant.low;
	result->high = requant.high;
	result->add = index;
	result->sdp.bn.value = npu_opt_value(opt, residual);
	return true;
}

/* Requantisation, bias and activation alone. */
static int plain(struct npu_opt *opt, struct npu_conv *conv, struct arithmetic *result)
{
	const struct npu_op *op = &opt->graph->op[conv->op];
	struct npu_requant requant = {
		.channel = conv->channel,
		.count = conv->kernels.k,
		.zero = conv->raw ? 0 : npu_stored_zero(conv->out),
		.once = conv->raw,
	};
	double worst;

	set_channels(opt, conv, conv->out);
	npu_activation_range(op->activation, conv->out, &requant.low, &requant.high);
	worst = npu_requant_conv(&requant, &result->sdp, &result->tables, &result->clamp_after);
	if (worst < 0 || worst > 0.45)
		return -ERANGE;
	result->low = requant.low;
	result->high = requant.high;
	result->add = NPU_NONE;
	return 0;
}

/* What SDP does: what was asked for, or what comes closest to the operator. */
static int set_arithmetic(struct npu_opt *opt, struct npu_conv *conv, struct arithmetic *result)
{
	if (!conv->sdp)
		return try_residual(opt, conv, result) ? 0 : plain(opt, conv, result);
	result->sdp = *conv->sdp;
	return 0;
}

int npu_conv_add_patch(struct npu_opt *opt, const struct npu_conv *conv)
{
	const struct npu_op *op = &opt->graph->op[conv->op];
	struct npu_layer *patch;

	if (!conv->bad_count)
		return 0;
	patch = npu_opt_add_layer(opt, NPU_LAYER_CPU, conv->op);
	if (!patch)
		return npu_opt_nomem(opt);
	patch->name = npu_arena_printf(&opt->net->arena, "%s/patch", patch->name);
	if (!patch->name)
		return npu_opt_nomem(opt);
	patch->input = conv->input;
	patch->output = npu_opt_value(opt, op->output[0]);
	patch->window = conv->window;
	patch->patch = conv->bad;
	patch->patch_count = conv->bad_count;
	npu_opt_move_group(opt, opt->net->layer_count - 2, opt->net->layer_count - 1);
	patch->cpu_reason = "weights minus zero point do not fit 8 bits in these output channels";
	return 0;
}

static void set_pool(struct npu_opt *opt, struct npu_layer *layer, u32 pool)
{
	const struct npu_op *op = &opt->graph->op[pool];
	u32 pooled = npu_opt_value(opt, op->output[0]);

	layer->has_pool = true;
	layer->pool.kind = NPU_POOL_MAX;
	layer->pool.window = op->window;
	layer->unpooled = layer->output;
	layer->output = pooled;
	npu_trim_padding(&layer->pool.window, opt->net->value[layer->unpooled].h,
			 opt->net->value[layer->unpooled].w, opt->net->value[pooled].h,
			 opt->net->value[pooled].w);
	layer->last_op = pool;
	opt->op[pool].done = true;
}

static int fill_layer(struct npu_opt *opt, const struct npu_conv *conv,
		      const struct arithmetic *arithmetic, struct npu_layer *layer)
{
	u32 add = arithmetic->add;
	u32 pool = add == NPU_NONE ? conv->pool : opt->op[add].pool;
	int error;

	/* What comes between convolution and pooling, or stands in blocks, is kept apart. */
	if (arithmetic->clamp_after || conv->bad_count || conv->blocks > 1)
		pool = NPU_NONE;
	layer->last_op = add == NPU_NONE ? conv->op : add;
	layer->input = conv->input;
	layer->output = add == NPU_NONE ? conv->output
					: npu_opt_value(opt, opt->graph->op[add].output[0]);
	layer->window = conv->window;
	layer->c = conv->c;
	layer->k = conv->k;
	layer->blocks = conv->blocks;
	layer->block_stride_c = conv->block_channels;
	layer->repeat_surface = conv->repeat != 0;
	layer->pad_value = conv->pad_value;
	layer->pixels = conv->pixels;
	layer->sdp = arithmetic->sdp;
	if (conv->is_part)
		return 0;
	error = npu_opt_set_group(opt, layer,
				  (const u32[]){ conv->pixels.used ? conv->pixels_op : NPU_NONE,
						 conv->pad, conv->op, add, pool },
				  5);
	if (pool != NPU_NONE)
		set_pool(opt, layer, pool);
	return error;
}

/* Has the whole buffer room for one kernel group and the input lines of one output? */
static bool fits_buffer(const struct npu_opt *opt, const struct npu_conv *conv,
			const struct npu_sdp *sdp)
{
	const struct npu_layer layer = {
		.input = conv->input,
		.output = conv->output,
		.window = conv->window,
		.c = conv->c,
		.k = conv->k,
		.blocks = conv->blocks,
		.pixels = conv->pixels,
		.sdp = *sdp,
	};

	return npu_split_fits(opt->net, &layer);
}

int npu_conv_layer(struct npu_opt *opt, struct npu_conv *conv)
{
	struct arithmetic arithmetic = { .add = NPU_NONE };
	const struct npu_requant_tables *tables = &arithmetic.tables;
	struct npu_layer *layer;
	u32 padded, index, k;
	int error;

	npu_trim_padding(&conv->window, opt->net->value[conv->input].h,
			 opt->net->value[conv->input].w, conv->h, conv->w);
	error = find_bad(opt, conv);
	/* The CPU's patches know whole convolutions of features alone. */
	if (!error && conv->bad_count && (conv->is_part || conv->pixels.used))
		error = -ERANGE;
	if (error)
		return error;
	set_blocks(opt->config, conv);
	padded = round_up(conv->blocks * conv->k, opt->config->atom);
	error = alloc_tables(opt, padded, &arithmetic.tables);
	if (!error)
		error = set_arithmetic(opt, conv, &arithmetic);
	if (!error && !fits_buffer(opt, conv, &arithmetic.sdp))
		error = -E2BIG;
	if (error)
		return error;
	for (k = 0; k < conv->kernels.k; k++)
		conv->constant[k] = conv->channel[k].constant;
	if (arithmetic.add != NPU_NONE)
		opt->op[arithmetic.add].done = true;
	layer = npu_opt_add_layer(opt, NPU_LAYER_CONV, conv->op);
	if (!layer)
		return npu_opt_nomem(opt);
	index = opt->net->layer_count - 1;
	error = fill_layer(opt, conv, &arithmetic, layer);
	if (!error)
		error = pack(opt, conv, layer);
	if (!error)
		error = add_table(opt, &layer->sdp.bs, tables->bs_alu, tables->bs_mul,
				  conv->kernels.k, padded);
	if (!error)
		error = add_table(opt, &layer->sdp.bn, tables->bn_alu, tables->bn_mul,
				  conv->kernels.k, padded);
	if (!error && arithmetic.clamp_after)
		error = npu_opt_clamp_after(opt, index, arithmetic.low, arithmetic.high);
	return error ? error : npu_conv_add_patch(opt, conv);
}
