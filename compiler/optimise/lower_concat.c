// SPDX-License-Identifier: MIT
/*
 * Concatenation: an operand is computed in its place within the output where its scale is the output's and
 * nothing else claims it; else SDP moves it there.  Channels that are no whole memory atoms are laid out
 * with gaps first, which a convolution then closes.
 */
#include "price.h"
#include "requant.h"
#include "select.h"
#include "view.h"

/* Which dimension of features: 0 rows, 1 columns, 2 channels; negative: none. */
static int feature_axis(const struct npu_op *op, u32 rank)
{
	return rank > 4 || op->axis + 3 < (s32)rank ? -1 : op->axis + 3 - (s32)rank;
}

static u32 feature_dim(const struct npu_tensor *tensor, int axis)
{
	u32 nhwc[4];

	npu_tensor_nhwc(tensor, nhwc);
	return nhwc[axis + 1];
}

/* Channels with each operand in whole atoms, but for the last one. */
static u32 channels_with_gaps(const struct npu_opt *opt, const struct npu_op *op)
{
	u32 atom = opt->config->atom, channels = 0, i;

	for (i = 0; i < op->input_count; i++) {
		channels = DIV_ROUND_UP(channels, atom) * atom;
		channels += feature_dim(npu_op_input(opt->graph, op, i), 2);
	}
	return channels;
}

static const char *check_gaps(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *out = npu_op_output(opt->graph, op);
	u32 with_gaps = channels_with_gaps(opt, op), channels = feature_dim(out, 2);
	u64 pixels = npu_tensor_elements(out) / channels;

	if (with_gaps == channels)
		return NULL;
	if (with_gaps > NPU_MAX_EXTENT)
		return "larger than 8192 in one dimension";
	if (npu_cpu_is_cheaper(opt, op,
			       npu_select_cycles(opt->config, pixels, with_gaps, channels)))
		return "closing the gaps between channels costs more cycles than the CPU";
	return NULL;
}

/* One pixel's surfaces lie side by side; within a larger plane they do not. */
static const char *check_pixels(const struct npu_opt *opt, const struct npu_op *op)
{
	u32 i;

	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *in = npu_op_input(opt->graph, op, i);

		if (feature_dim(in, 0) == 1 && feature_dim(in, 1) == 1 &&
		    feature_dim(in, 2) > opt->config->atom)
			return "an operand of one pixel, whose surfaces lie side by side";
	}
	return NULL;
}

const char *npu_check_concat(const struct npu_opt *opt, const struct npu_op *op)
{
	int axis = feature_axis(op, npu_op_output(opt->graph, op)->rank);
	u32 i;

	if (axis < 0)
		return "concatenation in another dimension than height, width and channels";
	for (i = 0; i < op->input_count; i++)
		if (npu_op_input(opt->graph, op, i)->data)
			return "constant operand";
	return axis == 2 ? check_gaps(opt, op) : check_pixels(opt, op);
}

/* Whether the value can be a part of another one from now on. */
static bool can_alias(const struct npu_opt *opt, u32 value, u32 tensor)
{
	const struct npu_graph *graph = opt->graph;
	u32 i;

	if (opt->net->value[value].alias != NPU_NONE || opt->net->value[value].viewed)
		return false;
	/* Something has to write it within the program, not the application. */
	for (i = 0; i < graph->input_count; i++)
		if (opt->tensor[graph->input[i]].root == opt->tensor[tensor].root)
			return false;
	return true;
}

/* Operands of SDP that bring one operand to the scale of the whole. */
static bool find_arithmetic(const struct npu_tensor *in, const struct npu_tensor *out,
			    struct npu_sdp *sdp)
{
	double worst = npu_requant_scale(sdp, (double)in->quant.scale[0] / out->quant.scale[0],
					 npu_stored_zero(in), npu_stored_zero(out), false);

	return worst >= 0 && worst <= 0.45;
}

static int move(struct npu_opt *opt, u32 op, u32 operand, u32 part)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_SDP, op);

	if (!layer || part == NPU_NONE)
		return npu_opt_nomem(opt);
	layer->input = npu_opt_value(opt, o->input[operand]);
	layer->output = part;
	layer->name = npu_arena_printf(&opt->net->arena, "%s/operand %u", layer->name, operand);
	if (!layer->name)
		return npu_opt_nomem(opt);
	return find_arithmetic(npu_op_input(opt->graph, o, operand), npu_op_output(opt->graph, o),
			       &layer->sdp)
		       ? 0
		       : -ERANGE;
}

/* Puts an operand to index @at of dimension @axis of @whole. */
static int place_operand(struct npu_opt *opt, u32 op, u32 operand, u32 whole, int axis, u32 at)
{
	const struct npu_op *o = &opt->graph->op[op];
	const struct npu_tensor *in = npu_op_input(opt->graph, o, operand);
	const struct npu_tensor *out = npu_op_output(opt->graph, o);
	u32 input = npu_opt_value(opt, o->input[operand]);
	const struct npu_value *value = &opt->net->value[input];
	struct npu_view view = npu_view_box(opt, whole, axis == 0 ? at : 0, axis == 1 ? at : 0,
					    axis == 2 ? at : 0, 1);

	view.h = value->h;
	view.w = value->w;
	view.c = value->c;
	if (in->quant.scale[0] == out->quant.scale[0] &&
	    npu_stored_zero(in) == npu_stored_zero(out) &&
	    can_alias(opt, input, o->input[operand])) {
		npu_opt_become_view(opt, input, whole, &view);
		return 0;
	}
	return move(opt, op, operand, npu_opt_add_view(opt, whole, &view, "in place"));
}

/* The channels of @whole without its gaps. */
static int close_gaps(struct npu_opt *opt, u32 op, u32 whole)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 output = npu_opt_value(opt, o->output[0]), k = 0, at = 0, i, c;
	struct npu_select select = {
		.op = op, .input = whole, .output = output, .stride_y = 1, .stride_x = 1
	};
	u32 *channel =
		npu_arena_array(&opt->net->arena, opt->net->value[output].c, sizeof(*channel));

	if (!channel)
		return npu_opt_nomem(opt);
	for (i = 0; i < o->input_count; i++) {
		u32 count = feature_dim(npu_op_input(opt->graph, o, i), 2);

		at = DIV_ROUND_UP(at, (u32)opt->config->atom) * opt->config->atom;
		for (c = 0; c < count; c++)
			channel[k++] = at++;
	}
	select.channel = channel;
	return npu_opt_select(opt, &select);
}

/* The output itself, or a value with gaps between its operands. */
static u32 make_whole(struct npu_opt *opt, u32 op, u32 output, u32 with_gaps)
{
	const struct npu_value *out = &opt->net->value[output];
	u32 whole;

	if (with_gaps == out->c)
		return output;
	whole = npu_opt_add_value_like(opt, output, "with gaps");
	out = &opt->net->value[output];
	if (whole != NPU_NONE)
		npu_value_set_feature(&opt->net->value[whole], opt->config, out->h, out->w,
				      with_gaps);
	return whole;
}

int npu_lower_concat(struct npu_opt *opt, u32 op)
{
	const struct npu_graph *graph = opt->graph;
	const struct npu_op *o = &graph->op[op];
	const struct npu_tensor *out = npu_op_output(graph, o);
	u32 output = npu_opt_value(opt, o->output[0]), whole, at = 0, i;
	int axis = feature_axis(o, out->rank), error = 0;
	struct npu_sdp sdp;

	for (i = 0; i < o->input_count; i++)
		if (!find_arithmetic(npu_op_input(graph, o, i), out, &sdp))
			return -ERANGE;
	whole = make_whole(opt, op, output,
			   axis == 2 ? channels_with_gaps(opt, o) : opt->net->value[output].c);
	if (whole == NPU_NONE)
		return npu_opt_nomem(opt);
	for (i = 0; i < o->input_count && !error; i++) {
		if (axis == 2)
			at = DIV_ROUND_UP(at, (u32)opt->config->atom) * opt->config->atom;
		error = place_operand(opt, op, i, whole, axis, at);
		at += feature_dim(npu_op_input(graph, o, i), axis);
	}
	return error || whole == output ? error : close_gaps(opt, op, whole);
}
