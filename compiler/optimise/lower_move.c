// SPDX-License-Identifier: MIT
/* Operators that move elements: slices are views, enlargements are copied pixel by pixel. */
#include "view.h"

static struct npu_view slice_view(const struct npu_opt *opt, const struct npu_op *op)
{
	u32 input = npu_opt_value(opt, op->input[0]), out[4], begin[4] = { 0 }, i;
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	struct npu_view view;

	for (i = 0; i < in->rank; i++)
		begin[4 - in->rank + i] = (u32)op->begin[i];
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	view = npu_view_box(opt, input, begin[1], begin[2], begin[3], 1);
	view.h = out[1];
	view.w = out[2];
	view.c = out[3];
	return view;
}

const char *npu_check_slice(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	const struct npu_tensor *out = npu_op_output(opt->graph, op);
	u32 i, nhwc[4], atom = opt->config->atom;

	if (in->rank > 4 || out->rank != in->rank)
		return "drops a dimension";
	for (i = 0; i < in->rank; i++)
		if (op->step[i] != 1)
			return "takes every n-th element";
	if ((u32)op->begin[in->rank - 1] % atom)
		return "begins inside of a memory atom of channels";
	npu_tensor_nhwc(out, nhwc);
	if (nhwc[1] == 1 && nhwc[2] == 1 && nhwc[3] > atom) {
		npu_tensor_nhwc(in, nhwc);
		if (nhwc[1] > 1 || nhwc[2] > 1)
			return "takes one pixel, whose surfaces do not lie side by side";
	}
	return NULL;
}

int npu_lower_slice(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 output = npu_opt_value(opt, o->output[0]);
	struct npu_view view = slice_view(opt, o);

	npu_opt_become_view(opt, output, npu_opt_value(opt, o->input[0]), &view);
	return 0;
}

/* How many times larger the output is; 0: not a whole number of times. */
static u32 times(u32 in, u32 out)
{
	return out % in ? 0 : out / in;
}

const char *npu_check_resize_nearest(const struct npu_opt *opt, const struct npu_op *op)
{
	u32 in[4], out[4];

	npu_tensor_nhwc(npu_op_input(opt->graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	if (!times(in[1], out[1]) || !times(in[2], out[2]))
		return "not a whole number of times larger";
	if (op->align_corners)
		return "corners are aligned";
	if (in[1] * opt->config->atom > NPU_MAX_EXTENT)
		return "more rows than SDP can take as surfaces";
	return NULL;
}

/* The first of each group of rows is spread from the input, the others are copies of it. */
int npu_lower_resize_nearest(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 input = npu_opt_value(opt, o->input[0]), output = npu_opt_value(opt, o->output[0]);
	u32 step_y = times(opt->net->value[input].h, opt->net->value[output].h);
	u32 step_x = times(opt->net->value[input].w, opt->net->value[output].w), i;
	struct npu_view first = npu_view_box(opt, output, 0, 0, 0, step_y);
	bool legal = npu_view_is_legal(opt, &first);
	int error = 0;

	for (i = 0; i < step_x && !error; i++)
		error = npu_opt_spread(opt, op, input, output, 0, i, step_y, step_x);
	for (i = 1; i < step_y && !error; i++) {
		struct npu_view next = npu_view_box(opt, output, i, 0, 0, step_y);
		u32 x;

		if (legal) {
			u32 from = npu_opt_add_view(opt, output, &first, "rows");

			error = npu_opt_add_copy(opt, op, from,
						 npu_opt_add_view(opt, output, &next, "rows"));
		}
		for (x = 0; !legal && x < step_x && !error; x++)
			error = npu_opt_spread(opt, op, input, output, i, x, step_y, step_x);
	}
	if (error)
		return error;
	return npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &op, 1);
}
