// SPDX-License-Identifier: MIT
/* Padding by itself, of height and width: the border is written by SDP, the rest is copied into its middle. */
#include "optimise.h"
#include "view.h"

/* What is added in front of features and behind them: rows, columns. */
struct border {
	u32 front[2], behind[2];
};

/* False: channels or images are padded, or something is taken away. */
static bool find_border(const struct npu_graph *graph, const struct npu_op *op,
			struct border *border)
{
	u32 rank = npu_op_input(graph, op, 0)->rank, i;

	*border = (struct border){ 0 };
	if (rank > 4)
		return false;
	for (i = 0; i < rank; i++) {
		/* Dimensions of features: 1 rows, 2 columns. */
		u32 dimension = i + 4 - rank;

		if (op->begin[i] < 0 || op->end[i] < 0)
			return false;
		if (!op->begin[i] && !op->end[i])
			continue;
		if (dimension != 1 && dimension != 2)
			return false;
		border->front[dimension - 1] = (u32)op->begin[i];
		border->behind[dimension - 1] = (u32)op->end[i];
	}
	return true;
}

const char *npu_check_pad(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	const struct npu_tensor *value = npu_op_input(opt->graph, op, 1);
	struct border border;

	if (!find_border(opt->graph, op, &border))
		return "not of height and width alone, or negative";
	if (value && (!value->data || value->bytes != 1 || value->dtype != in->dtype))
		return "the padding is no constant of the input's type";
	return NULL;
}

/* As features store it. */
static s32 pad_value(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0);
	const struct npu_tensor *value = npu_op_input(graph, op, 1);

	if (!value)
		return npu_stored_zero(in);
	return in->dtype == NPU_U8 ? *(const u8 *)value->data - 128 : *(const s8 *)value->data;
}

/* Rows from @y, columns from @x on; none: nothing to do. */
static int fill_part(struct npu_opt *opt, u32 op, u32 y, u32 x, u32 h, u32 w)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 output = npu_opt_value(opt, o->output[0]);
	struct npu_view view;

	if (!h || !w)
		return 0;
	view = npu_view_box(opt, output, y, x, 0, 1);
	view.h = h;
	view.w = w;
	return npu_opt_fill_box(opt, op, output, &view, pad_value(opt->graph, o));
}

int npu_lower_pad(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 input = npu_opt_value(opt, o->input[0]), output = npu_opt_value(opt, o->output[0]);
	u32 h = opt->net->value[input].h, w = opt->net->value[input].w;
	u32 high = opt->net->value[output].h, wide = opt->net->value[output].w;
	struct npu_view source = npu_view_box(opt, input, 0, 0, 0, 1), target;
	struct border border;
	u32 top, left;
	int error;

	if (!find_border(opt->graph, o, &border))
		return -E2BIG; /* never of what was checked */
	top = border.front[0];
	left = border.front[1];
	error = fill_part(opt, op, 0, 0, top, wide);
	if (!error)
		error = fill_part(opt, op, top + h, 0, high - top - h, wide);
	if (!error)
		error = fill_part(opt, op, top, 0, h, left);
	if (!error)
		error = fill_part(opt, op, top, left + w, h, wide - left - w);
	if (error)
		return error;
	target = npu_view_box(opt, output, top, left, 0, 1);
	target.h = h;
	target.w = w;
	error = npu_opt_copy_box(opt, op, input, output, &source, &target);
	return error ? error
		     : npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &op, 1);
}
