// SPDX-License-Identifier: MIT
/*
 * Maximum pooling from memory by PDP.  Windows beyond its 8 x 8 that move by single steps are made
 * of two: the maximum over 9 is that over 5 of those over 5.
 */
#include "optimise.h"

/* The first of two windows, whose sizes add up to the whole plus one. */
static void split_axis(u32 kernel, u32 before, u32 after, u32 *first, u32 *first_before,
		       u32 *first_after)
{
	*first = kernel > NPU_PDP_MAX_KERNEL ? (kernel + 1) / 2 : kernel;
	*first_before = kernel > NPU_PDP_MAX_KERNEL ? before / 2 : before;
	*first_after = kernel > NPU_PDP_MAX_KERNEL ? after / 2 : after;
}

static int add_first_pass(struct npu_opt *opt, u32 op, struct npu_window *rest, u32 *input)
{
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_PDP, op);
	struct npu_window first = *rest;
	const struct npu_value *in;
	u32 middle;

	split_axis(rest->r, rest->pad_top, rest->pad_bottom, &first.r, &first.pad_top,
		   &first.pad_bottom);
	split_axis(rest->s, rest->pad_left, rest->pad_right, &first.s, &first.pad_left,
		   &first.pad_right);
	middle = npu_opt_add_value_like(opt, *input, "smaller window");
	if (!layer || middle == NPU_NONE)
		return npu_opt_nomem(opt);
	in = &opt->net->value[*input];
	npu_value_set_feature(&opt->net->value[middle], opt->config,
			      first.pad_top + in->h + first.pad_bottom - first.r + 1,
			      first.pad_left + in->w + first.pad_right - first.s + 1, in->c);
	layer->input = *input;
	layer->output = middle;
	layer->pool = (struct npu_pool){ .kind = NPU_POOL_MAX, .window = first };
	rest->r -= first.r - 1;
	rest->s -= first.s - 1;
	rest->pad_top -= first.pad_top;
	rest->pad_bottom -= first.pad_bottom;
	rest->pad_left -= first.pad_left;
	rest->pad_right -= first.pad_right;
	*input = middle;
	return 0;
}

/*
 * What of a window lies outside of the plane at every position does not count: windows are at most
 * 2 * @in - 1 then, and each of two passes has a window that its plane holds.
 */
static void cut_axis(u32 in, u32 out, u32 stride, u32 *kernel, u32 *before)
{
	if (*before > in - 1 && (u64)(out - 1) * stride <= in - 1) {
		*kernel -= *before - (in - 1);
		*before = in - 1;
	}
	*kernel = min(*kernel, *before + in);
}

int npu_lower_max_pool(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	u32 input = npu_opt_value(opt, o->input[0]), output = npu_opt_value(opt, o->output[0]);
	struct npu_window window = o->window;
	const struct npu_value *in = &opt->net->value[input], *out = &opt->net->value[output];
	struct npu_layer *layer;
	s32 low, high;
	int error = 0;

	cut_axis(in->h, out->h, window.stride_y, &window.r, &window.pad_top);
	cut_axis(in->w, out->w, window.stride_x, &window.s, &window.pad_left);
	npu_trim_padding(&window, in->h, in->w, out->h, out->w);
	if (window.r > NPU_PDP_MAX_KERNEL || window.s > NPU_PDP_MAX_KERNEL)
		error = add_first_pass(opt, op, &window, &input);
	if (error)
		return error;
	layer = npu_opt_add_layer(opt, NPU_LAYER_PDP, op);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->input = input;
	layer->output = output;
	layer->pool = (struct npu_pool){ .kind = NPU_POOL_MAX, .window = window };
	error = npu_opt_set_group(opt, layer, &op, 1);
	npu_activation_range(o->activation, npu_op_output(graph, o), &low, &high);
	if (!error && o->activation != NPU_ACT_NONE)
		error = npu_opt_clamp_after(opt, opt->net->layer_count - 1, low, high);
	return error;
}
