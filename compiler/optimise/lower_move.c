// SPDX-License-Identifier: MIT
/* Operators that move elements: slices are views, enlargements are copied pixel by pixel. */
#include "price.h"
#include "select.h"
#include "view.h"

/**
 * struct slice - what a slice takes of features
 * @begin, @step, @size: rows, columns, channels
 */
struct slice {
	u32 begin[3], step[3], size[3];
};

/* Which dimension of features is dimension @i of a tensor: 0 .. 2; negative: the batch. */
static int feature_axis(const struct npu_tensor *tensor, u32 i)
{
	return (int)i + 3 - (int)tensor->rank;
}

static struct slice slice_of(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0);
	struct slice slice = { .step = { 1, 1, 1 } };
	u32 i, out[4];

	npu_tensor_nhwc(npu_op_output(graph, op), out);
	memcpy(slice.size, out + 1, sizeof(slice.size));
	for (i = 0; i < in->rank; i++) {
		int axis = feature_axis(in, i);

		if (axis < 0)
			continue;
		slice.begin[axis] = (u32)op->begin[i];
		slice.step[axis] = (u32)op->step[i];
	}
	return slice;
}

/* The box of the input from the slice's first element on, channels from the atom that holds it. */
static struct npu_view slice_box(const struct npu_opt *opt, u32 input, const struct slice *slice)
{
	u32 atom = opt->config->atom;
	struct npu_view view = npu_view_box(opt, input, slice->begin[0], slice->begin[1],
					    slice->begin[2] / atom * atom, 1);

	view.h = (slice->size[0] - 1) * slice->step[0] + 1;
	view.w = (slice->size[1] - 1) * slice->step[1] + 1;
	view.c = slice->begin[2] % atom + (slice->size[2] - 1) * slice->step[2] + 1;
	return view;
}

/* Nothing has to be moved: what the slice takes lies as features do. */
static bool is_view(const struct npu_opt *opt, const struct slice *slice, u32 in_h, u32 in_w)
{
	u32 atom = opt->config->atom, i;

	for (i = 0; i < 3; i++)
		if (slice->step[i] != 1)
			return false;
	if (slice->begin[2] % atom)
		return false;
	/* The surfaces of one pixel lie side by side, in a larger plane they do not. */
	return slice->size[0] > 1 || slice->size[1] > 1 || slice->size[2] <= atom ||
	       (in_h == 1 && in_w == 1);
}

const char *npu_check_slice(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	struct slice slice;
	u32 i, nhwc[4], channels;

	if (in->rank > 4 || npu_op_output(opt->graph, op)->rank != in->rank)
		return "drops a dimension";
	for (i = 0; i < in->rank; i++)
		if (op->step[i] < 1)
			return "goes backwards";
	slice = slice_of(opt->graph, op);
	npu_tensor_nhwc(in, nhwc);
	if (is_view(opt, &slice, nhwc[1], nhwc[2]))
		return NULL;
	if (slice.step[0] > NPU_CONV_MAX_STRIDE || slice.step[1] > NPU_CONV_MAX_STRIDE)
		return "takes fewer than every eighth row or column";
	channels = slice.begin[2] % opt->config->atom + (slice.size[2] - 1) * slice.step[2] + 1;
	if (npu_cpu_is_cheaper(opt, op,
			       npu_select_cycles(opt->config, (u64)slice.size[0] * slice.size[1],
						 channels, slice.size[2])))
		return "picking channels by a convolution costs more cycles than the CPU";
	return NULL;
}

static int pick_channels(struct npu_opt *opt, u32 op, const struct slice *slice, u32 input)
{
	struct npu_select select = { .op = op,
				     .input = input,
				     .output = npu_opt_value(opt, opt->graph->op[op].output[0]),
				     .stride_y = slice->step[0],
				     .stride_x = slice->step[1] };
	u32 *channel = npu_arena_array(&opt->net->arena, slice->size[2], sizeof(*channel)), k;

	if (!channel || input == NPU_NONE)
		return npu_opt_nomem(opt);
	for (k = 0; k < slice->size[2]; k++)
		channel[k] = slice->begin[2] % opt->config->atom + k * slice->step[2];
	select.channel = channel;
	return npu_opt_select(opt, &select);
}

int npu_lower_slice(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 input = npu_opt_value(opt, o->input[0]), output = npu_opt_value(opt, o->output[0]);
	const struct npu_value *in = &opt->net->value[input];
	struct slice slice = slice_of(opt->graph, o);
	struct npu_view view = slice_box(opt, input, &slice);

	if (!is_view(opt, &slice, in->h, in->w))
		return pick_channels(opt, op, &slice, npu_opt_add_view(opt, input, &view, "slice"));
	npu_opt_become_view(opt, output, input, &view);
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
