// SPDX-License-Identifier: MIT
/*
 * The invariants of IR2.  A network may come from a file that someone tampered
 * with, so planner and emitter trust nothing that is not checked here.
 */
#include "net.h"

#include "nvdla_cbuf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

struct checker {
	const struct npu_net *net;
	const struct npu_layer *layer; /* NULL: the network */
	struct npu_diag *diag;
};

static int fail(const struct checker *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(const struct checker *c, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!c->layer)
		return npu_diag_set(c->diag, -EINVAL, "network: %s", what);
	return npu_diag_set(c->diag, -EINVAL, "layer %zu (%.100s): %s",
			    (size_t)(c->layer - c->net->layer),
			    c->layer->name ? c->layer->name : "unnamed", what);
}

/* Largest cube in one dimension: 13 bits, minus one. */
#define MAX_EXTENT 8192u
#define MAX_VALUE_BYTES (1ull << 31)

static int check_feature(const struct checker *c, const struct npu_value *v)
{
	u32 atom = c->net->config->atom;
	u64 surfaces = DIV_ROUND_UP((u64)v->c, (u64)atom);

	if (v->dtype != NPU_I8)
		return fail(c, "features of %.80s are not int8", v->name);
	if (!v->h || !v->w || !v->c || v->h > MAX_EXTENT || v->w > MAX_EXTENT || v->c > (1u << 20))
		return fail(c, "features of %.80s are %u x %u x %u", v->name, v->h, v->w, v->c);
	if (v->line_stride % atom || v->surface_stride % atom || v->line_stride < v->w * atom ||
	    !npu_value_lines_apart(c->net->config, v))
		return fail(c, "strides of %.80s do not hold its lines", v->name);
	if (v->bytes < (surfaces - 1) * v->surface_stride + (u64)(v->h - 1) * v->line_stride +
			       (u64)v->w * atom)
		return fail(c, "%.80s is smaller than its features", v->name);
	return 0;
}

static int check_pixels(const struct checker *c, const struct npu_value *v)
{
	u32 atom = c->net->config->atom, line;

	if (v->dtype != NPU_U8)
		return fail(c, "pixels of %.80s are not uint8", v->name);
	if (!v->h || !v->w || v->h > MAX_EXTENT || v->w > MAX_EXTENT || !v->pixel_bytes ||
	    v->c < v->pixel_bytes || v->c > NPU_MAX_PIXEL_CHANNELS)
		return fail(c, "pixels of %.80s are %u x %u of %u bytes", v->name, v->h, v->w,
			    v->c);
	line = v->w * max(v->pixel_bytes, v->c - v->pixel_bytes);
	if (v->line_stride % atom || v->surface_stride % atom ||
	    v->line_stride < DIV_ROUND_UP(line, atom) * atom ||
	    v->surface_stride / v->h < v->line_stride)
		return fail(c, "strides of %.80s do not hold its lines", v->name);
	if (v->bytes < (u64)v->surface_stride * npu_value_surfaces(c->net->config, v))
		return fail(c, "%.80s is smaller than its pixels", v->name);
	return 0;
}

static int check_value(const struct checker *c, u32 index)
{
	const struct npu_net *net = c->net;
	const struct npu_value *v = &net->value[index], *whole;
	u64 elements = (u64)v->h * v->w;
	u32 steps = 0;

	if (!v->name)
		return fail(c, "value %u has no name", index);
	if ((u32)v->dtype >= NPU_DTYPE_COUNT || v->bytes > MAX_VALUE_BYTES)
		return fail(c, "%.80s has type %u and %llu bytes", v->name, v->dtype,
			    (unsigned long long)v->bytes);
	if (v->tensor != NPU_NONE && net->graph && v->tensor >= net->graph->tensor_count)
		return fail(c, "%.80s stands for a tensor that does not exist", v->name);
	if (v->layout == NPU_FEATURE && check_feature(c, v))
		return -EINVAL;
	if (v->layout == NPU_PIXELS && check_pixels(c, v))
		return -EINVAL;
	if (v->layout != NPU_FEATURE && v->layout != NPU_PIXELS &&
	    (v->layout != NPU_LINEAR || check_mul_overflow(elements, (u64)v->c, &elements) ||
	     check_mul_overflow(elements, (u64)npu_dtype_bytes[v->dtype], &elements) ||
	     elements > v->bytes))
		return fail(c, "%.80s is smaller than its elements", v->name);
	while (v->alias != NPU_NONE) {
		if (v->alias >= net->value_count || ++steps > net->value_count)
			return fail(c, "%.80s is part of nothing", net->value[index].name);
		whole = &net->value[v->alias];
		if (v->alias_offset % net->config->atom || v->alias_offset > whole->bytes ||
		    v->bytes > whole->bytes - v->alias_offset)
			return fail(c, "%.80s lies outside of %.80s", v->name, whole->name);
		v = whole;
	}
	return 0;
}

static const struct npu_value *feature(const struct checker *c, u32 index)
{
	if (index >= c->net->value_count || c->net->value[index].layout != NPU_FEATURE)
		return NULL;
	return &c->net->value[index];
}

static bool same_shape(const struct npu_value *a, const struct npu_value *b)
{
	return a->h == b->h && a->w == b->w && a->c == b->c;
}

static bool fits_s16(s32 value)
{
	return value >= INT16_MIN && value <= INT16_MAX;
}

static bool is_value(enum npu_operand from)
{
	return from == NPU_OPERAND_ELEMENT || from == NPU_OPERAND_CHANNEL;
}

static bool from_memory(enum npu_operand from)
{
	return is_value(from) || from == NPU_OPERAND_KERNEL;
}

/* A value that a stage reads beside the layer's input. */
static int check_operand(const struct checker *c, enum npu_operand from, u32 value,
			 const struct npu_value *out)
{
	const struct npu_value *operand = feature(c, value);

	if (from == NPU_OPERAND_ELEMENT && (!operand || !same_shape(operand, out)))
		return fail(c, "the operand by element has another shape than the output");
	if (from == NPU_OPERAND_CHANNEL &&
	    (!operand || operand->h != 1 || operand->w != 1 || operand->c != out->c ||
	     operand->surface_stride != c->net->config->atom))
		return fail(c, "the operand by channel is no row of the output's channels");
	return 0;
}

static int check_ew(const struct checker *c, const struct npu_sdp_ew *ew,
		    const struct npu_value *out)
{
	if (ew->mul_from == NPU_OPERAND_NONE)
		return 0;
	if (!(c->net->config->features & NVDLA_HAS_EW))
		return fail(c, "uses EW, which the configuration has not");
	if (!is_value(ew->mul_from) || ew->mul_zero < -128 || ew->mul_zero > 127)
		return fail(c, "unknown operand of EW");
	return check_operand(c, ew->mul_from, ew->value, out);
}

static int check_stage(const struct checker *c, const struct npu_sdp_stage *stage, bool is_bs,
		       const struct npu_value *out, u64 kernels)
{
	u64 bytes = 0, end;

	if (stage->bypass)
		return 0;
	if ((u32)stage->alu_from > NPU_OPERAND_CHANNEL ||
	    (u32)stage->mul_from > NPU_OPERAND_CHANNEL || (u32)stage->alu_op > NPU_ALU_SUM)
		return fail(c, "unknown operand or operation of SDP");
	if (!fits_s16(stage->alu_value) || !fits_s16(stage->mul_value) || stage->alu_shift > 31 ||
	    stage->mul_shift > 63)
		return fail(c, "operand or shift of SDP does not fit its register");
	if (is_value(stage->alu_from) || is_value(stage->mul_from)) {
		if (check_operand(c, is_value(stage->alu_from) ? stage->alu_from : stage->mul_from,
				  stage->value, out))
			return -EINVAL;
		if (from_memory(stage->alu_from) && from_memory(stage->mul_from))
			return fail(c, "one stage of SDP reads two operands");
	}
	bytes += stage->alu_from == NPU_OPERAND_KERNEL ? 2 : 0;
	bytes += stage->mul_from == NPU_OPERAND_KERNEL ? 2 : 0;
	bytes *= DIV_ROUND_UP(kernels, (u64)c->net->config->atom) * c->net->config->atom;
	if (!bytes)
		return 0;
	if (stage->table % c->net->config->atom || check_add_overflow(stage->table, bytes, &end) ||
	    (c->net->weights && end > c->net->weights_bytes))
		return fail(c, "a table of SDP lies outside of the weights");
	return 0;
}

static int check_sdp(const struct checker *c, const struct npu_value *out, u64 kernels)
{
	const struct npu_sdp *sdp = &c->layer->sdp;

	if (!fits_s16(sdp->cvt_scale) || sdp->cvt_shift > 63)
		return fail(c, "output conversion does not fit its registers");
	if (check_stage(c, &sdp->bs, true, out, kernels) ||
	    check_stage(c, &sdp->bn, false, out, kernels))
		return -EINVAL;
	return check_ew(c, &sdp->ew, out);
}

static u64 dilated(u32 kernel, u32 dilation)
{
	return (u64)(kernel - 1) * dilation + 1;
}

/* One dimension of a window: in range of the registers, and the output's size follows from it. */
static int check_window(const struct checker *c, u32 kernel, u32 stride, u32 dilation, u32 before,
			u32 after, u32 in, u32 out, u32 max_kernel, u32 max_stride, u32 max_pad)
{
	u64 extent = 0;

	if (!kernel || !stride || !dilation || kernel > max_kernel || stride > max_stride ||
	    dilation > 32)
		return fail(c, "kernel %u, stride %u, dilation %u", kernel, stride, dilation);
	extent = dilated(kernel, dilation);
	if (before > max_pad || after > max_pad || before >= extent || after >= extent)
		return fail(c, "padding %u, %u with a kernel of %llu", before, after,
			    (unsigned long long)extent);
	if ((u64)(out - 1) * stride + extent > (u64)before + in + after)
		return fail(c, "%u outputs from %u inputs", out, in);
	/* The last window has to reach the padding behind, else the padding equation has no solution. */
	if (after && (u64)(out - 1) * stride + extent != (u64)before + in + after)
		return fail(c, "padding that no window needs");
	return 0;
}

static int check_pool(const struct checker *c, const struct npu_value *in,
		      const struct npu_value *out)
{
	const struct npu_pool *pool = &c->layer->pool;
	const struct npu_window *w = &pool->window;

	if ((u32)pool->kind > NPU_POOL_MIN || pool->pad_value < -128 || pool->pad_value > 127)
		return fail(c, "unknown kind of pooling");
	if (w->dilation_y != 1 || w->dilation_x != 1)
		return fail(c, "pooling with dilation");
	if (in->c != out->c)
		return fail(c, "pooling changes the channels");
	if (check_window(c, w->r, w->stride_y, 1, w->pad_top, w->pad_bottom, in->h, out->h, 8, 16,
			 7))
		return -EINVAL;
	return check_window(c, w->s, w->stride_x, 1, w->pad_left, w->pad_right, in->w, out->w, 8,
			    16, 7);
}

static int check_weights(const struct checker *c)
{
	const struct npu_layer *l = c->layer;
	const struct npu_net *net = c->net;
	u64 kernel = (u64)l->c * l->window.r * l->window.s, end;

	if (l->weight_bytes != kernel * l->k)
		return fail(c, "weights have %llu bytes", (unsigned long long)l->weight_bytes);
	if (kernel > 1u << 18)
		return fail(c, "a kernel of %llu bytes", (unsigned long long)kernel);
	if (l->weights % 64 || l->weight_stride % 64 ||
	    l->weight_stride < nvdla_cbuf_weight_bytes(net->config, 1, l->weight_bytes))
		return fail(c, "weights are not aligned");
	if (!net->weights)
		return 0;
	if (check_mul_overflow(l->weight_stride, (u64)l->blocks, &end) ||
	    check_add_overflow(end, l->weights, &end) || end > net->weights_bytes)
		return fail(c, "weights lie outside of the weight region");
	return 0;
}

/* What a convolution from pixels reads; NULL: it is no such image. */
static const struct npu_value *pixel_input(const struct checker *c)
{
	const struct npu_layer *l = c->layer;
	const struct npu_pixel_load *load = &l->pixels;
	const struct nvdla_pixel_format *format = nvdla_pixel_format_find(load->format);
	const struct npu_value *in;
	u32 i;

	if (l->input >= c->net->value_count || c->net->value[l->input].layout != NPU_PIXELS ||
	    !format)
		return NULL;
	in = &c->net->value[l->input];
	for (i = 0; i < NPU_MAX_PIXEL_CHANNELS; i++)
		if (!fits_s16(load->mean[i]))
			return NULL;
	if (!fits_s16(load->scale) || load->shift > 63 || in->pixel_bytes != format->bytes ||
	    in->c != (u32)format->bytes + format->uv_bytes || l->c != in->c || l->blocks != 1 ||
	    l->repeat_surface || l->window.dilation_x != 1)
		return NULL;
	return in;
}

static int check_conv(const struct checker *c)
{
	const struct npu_layer *l = c->layer;
	const struct npu_window *w = &l->window;
	const struct npu_value *in = l->pixels.used ? pixel_input(c) : feature(c, l->input);
	const struct npu_value *out = feature(c, l->output), *conv;
	u32 atom = c->net->config->atom;
	u64 channels, kernels;

	conv = l->has_pool ? feature(c, l->unpooled) : out;
	if (!in || !out || !conv)
		return fail(c, "a convolution needs features, or an image and its format");
	if (!l->c || !l->k || !l->blocks || l->c > MAX_EXTENT || l->k > MAX_EXTENT ||
	    l->blocks > MAX_EXTENT)
		return fail(c, "%u blocks of %u channels and %u kernels", l->blocks, l->c, l->k);
	if (l->blocks > 1 && (l->k % atom || l->block_stride_c % atom))
		return fail(c, "blocks do not start at surfaces");
	kernels = (u64)l->blocks * l->k;
	channels = (u64)(l->blocks - 1) * l->block_stride_c;
	channels += l->repeat_surface ? 1 : l->c;
	if (l->repeat_surface && (l->c <= atom || l->c > 2 * atom))
		return fail(c, "one surface read twice as %u channels", l->c);
	if (DIV_ROUND_UP(channels, (u64)atom) > DIV_ROUND_UP(in->c, atom))
		return fail(c, "%llu channels from %u", (unsigned long long)channels, in->c);
	if (conv->c > kernels || DIV_ROUND_UP(kernels, (u64)atom) > DIV_ROUND_UP(conv->c, atom))
		return fail(c, "%u channels from %llu kernels", conv->c,
			    (unsigned long long)kernels);
	if (l->pad_value < -128 || l->pad_value > 127)
		return fail(c, "padding counts as %d", l->pad_value);
	if (check_window(c, w->r, w->stride_y, w->dilation_y, w->pad_top, w->pad_bottom, in->h,
			 conv->h, 32, 8, 31) ||
	    check_window(c, w->s, w->stride_x, w->dilation_x, w->pad_left, w->pad_right, in->w,
			 conv->w, 32, 8, 31) ||
	    check_weights(c) || check_sdp(c, conv, kernels))
		return -EINVAL;
	return l->has_pool ? check_pool(c, conv, out) : 0;
}

static int check_sdp_layer(const struct checker *c)
{
	const struct npu_value *in = feature(c, c->layer->input);
	const struct npu_value *out = feature(c, c->layer->output);

	if (!in || !out || !same_shape(in, out) || out->c > MAX_EXTENT)
		return fail(c, "input and output of SDP differ in shape");
	return check_sdp(c, out, out->c);
}

static int check_pdp_layer(const struct checker *c)
{
	const struct npu_value *in = feature(c, c->layer->input);
	const struct npu_value *out = feature(c, c->layer->output);

	if (!in || !out || in->c > MAX_EXTENT)
		return fail(c, "pooling needs features");
	return check_pool(c, in, out);
}

/* Registers of CDP, and tables that are there. */
static int check_cdp(const struct checker *c, const struct npu_cdp *cdp)
{
	u64 end;

	if (cdp->sum && (cdp->sum < 3 || cdp->sum > 9 || cdp->sum % 2 == 0))
		return fail(c, "squares of %u channels", cdp->sum);
	if (cdp->zero < -128 || cdp->zero > 127 || cdp->le_shift > NPU_CDP_MAX_SHIFT ||
	    cdp->lo_shift > NPU_CDP_MAX_SHIFT || cdp->start < -256 || cdp->start > 255 ||
	    !fits_s16(cdp->cvt_scale) || cdp->cvt_offset < -NPU_CDP_MAX_OFFSET ||
	    cdp->cvt_offset >= NPU_CDP_MAX_OFFSET || cdp->cvt_shift > NPU_CDP_MAX_CVT_SHIFT)
		return fail(c, "a number of CDP does not fit its register");
	if (cdp->lut % sizeof(s16) ||
	    check_add_overflow(cdp->lut, (u64)NPU_CDP_ENTRIES * sizeof(s16), &end) ||
	    !c->net->weights || end > c->net->weights_bytes)
		return fail(c, "tables of CDP lie outside of the weights");
	return 0;
}

static int check_cdp_layer(const struct checker *c)
{
	const struct npu_value *in = feature(c, c->layer->input);
	const struct npu_value *out = feature(c, c->layer->output);

	if (!in || !out || !same_shape(in, out) || out->c > MAX_EXTENT)
		return fail(c, "input and output of CDP differ in shape");
	return check_cdp(c, &c->layer->cdp);
}

/* A CPU step's tensors are constants or have values. */
static int check_cpu(const struct checker *c)
{
	const struct npu_layer *l = c->layer;
	const struct npu_graph *graph = c->net->graph;
	const struct npu_op *op;
	u32 i;

	if (l->output >= c->net->value_count ||
	    (l->input != NPU_NONE && l->input >= c->net->value_count))
		return fail(c, "a CPU step without values");
	if (!l->cpu_reason)
		return fail(c, "a CPU step without a reason");
	if (!graph)
		return 0;
	op = &graph->op[l->op];
	for (i = 0; i < op->input_count && !l->patch_count; i++)
		if (op->input[i] != NPU_NONE && !graph->tensor[op->input[i]].data &&
		    c->net->tensor_value[op->input[i]] == NPU_NONE)
			return fail(c, "input %u of a CPU step has no value", i);
	for (i = 0; i < op->output_count && !l->patch_count; i++)
		if (op->output[i] == NPU_NONE || c->net->tensor_value[op->output[i]] == NPU_NONE)
			return fail(c, "output %u of a CPU step has no value", i);
	if (!l->patch_count)
		return 0;
	if (op->kind != NPU_OP_CONV && op->kind != NPU_OP_FULLY_CONNECTED)
		return fail(c, "a patch of no convolution");
	if (!feature(c, l->input) || !feature(c, l->output))
		return fail(c, "a patch needs features");
	for (i = 0; i < l->patch_count; i++)
		if (l->patch[i] >= c->net->value[l->output].c ||
		    l->patch[i] >= npu_op_input(graph, op, 1)->dim[0])
			return fail(c, "channel %u to be patched does not exist", l->patch[i]);
	return 0;
}

static int check_layer(struct checker *c)
{
	const struct npu_layer *l = c->layer;
	const struct npu_graph *graph = c->net->graph;
	u32 i;

	if (!l->name)
		return fail(c, "no name");
	if (graph && (l->op >= graph->op_count || l->last_op >= graph->op_count))
		return fail(c, "stands for an operator that does not exist");
	for (i = 0; graph && i < l->group_count; i++)
		if (l->group[i] >= graph->op_count)
			return fail(c, "stands for an operator that does not exist");
	if (l->kind != NPU_LAYER_CONV && (l->has_pool || l->repeat_surface || l->pixels.used))
		return fail(c, "has what only a convolution has");
	if (l->kind != NPU_LAYER_CPU && l->patch_count)
		return fail(c, "patches channels, but is no step of the CPU");
	switch (l->kind) {
	case NPU_LAYER_CONV:
		return check_conv(c);
	case NPU_LAYER_SDP:
		return check_sdp_layer(c);
	case NPU_LAYER_PDP:
		return check_pdp_layer(c);
	case NPU_LAYER_CDP:
		return check_cdp_layer(c);
	case NPU_LAYER_CPU:
		return check_cpu(c);
	default:
		return fail(c, "is of unknown kind %u", l->kind);
	}
}

/* Tensors and values agree in their number of elements; what libnpu copies relies on it. */
static int check_tensor_value(const struct checker *c, u32 tensor)
{
	const struct npu_tensor *t = &c->net->graph->tensor[tensor];
	u32 value = c->net->tensor_value[tensor];
	const struct npu_value *v;
	u32 bytes;

	if (value == NPU_NONE)
		return 0;
	if (value >= c->net->value_count)
		return fail(c, "tensor %u has a value that does not exist", tensor);
	v = &c->net->value[value];
	if (v->layout == NPU_PIXELS && v->tensor != tensor)
		return fail(c, "%.80s is another tensor's image", v->name);
	/* A pixel of three bytes has a fourth one in memory. */
	bytes = v->layout == NPU_PIXELS && t->rank == 4 && t->dim[3] == 3 && v->pixel_bytes == 4
			? 3
			: v->c;
	if ((u64)v->h * v->w * bytes != npu_tensor_elements(t))
		return fail(c, "%.80s and its value differ in size", v->name);
	if (v->layout == NPU_FEATURE ? t->dtype != NPU_I8 && t->dtype != NPU_U8
				     : t->dtype != v->dtype)
		return fail(c, "%.80s and its value differ in type", v->name);
	return 0;
}

int npu_net_verify(const struct npu_net *net, struct npu_diag *diag)
{
	struct checker c = { .net = net, .diag = diag };
	u32 i;

	for (i = 0; i < net->value_count; i++)
		if (check_value(&c, i))
			return -EINVAL;
	for (i = 0; i < net->input_count; i++)
		if (net->input[i] >= net->value_count ||
		    (net->graph && net->input[i] != net->tensor_value[net->graph->input[i]]))
			return fail(&c, "input %u has no value", i);
	for (i = 0; i < net->output_count; i++)
		if (net->output[i] >= net->value_count ||
		    (net->graph && net->output[i] != net->tensor_value[net->graph->output[i]]))
			return fail(&c, "output %u has no value", i);
	for (i = 0; net->graph && i < net->graph->tensor_count; i++)
		if (check_tensor_value(&c, i))
			return -EINVAL;
	for (i = 0; i < net->layer_count; i++) {
		c.layer = &net->layer[i];
		if (check_layer(&c))
			return -EINVAL;
	}
	return 0;
}
