// SPDX-License-Identifier: MIT
/*
 * Maximum and minimum pooling from memory by PDP.  Windows beyond its registers are made of several, one
 * after the other, height and width each for itself: an extreme over 9 is that over 2 of those over 8.
 * The first ones take strides where the window's own stride allows, or where there is one output only.
 */
#include "optimise.h"
#include "view.h"

/**
 * struct pool_axis - windows along height or width, as far as they are still to be done
 * @before: padding, which never is the extreme
 */
struct pool_axis {
	u32 in, out;
	u32 kernel, stride;
	u32 before;
};

/* One pass along one axis: @out windows over the first @in elements. */
struct pool_pass {
	u32 in, out;
	u32 kernel, stride;
	u32 before, after;
};

struct pooling {
	enum npu_pool_kind kind;
	struct pool_axis y, x;
};

/*
 * What of a window lies outside of the plane at every position does not count: windows are at most
 * 2 * @in - 1 then, so that each pass has a window that its plane holds.
 */
static struct pool_axis make_axis(u32 in, u32 out, u32 kernel, u32 stride, u32 before)
{
	struct pool_axis axis = { in, out, kernel, out == 1 ? 1 : stride, before };

	if (before > in - 1 && (u64)(out - 1) * stride <= in - 1) {
		axis.kernel -= before - (in - 1);
		axis.before = in - 1;
	}
	axis.kernel = min(axis.kernel, axis.before + in);
	return axis;
}

static bool fits(const struct pool_axis *axis)
{
	return axis->kernel <= NPU_PDP_MAX_KERNEL && axis->stride <= NPU_PDP_MAX_STRIDE;
}

/* Elements that windows reach behind the last one; what they do not reach is left out of @in. */
static u32 reach_of(const struct pool_pass *pass, u32 *in)
{
	u64 end = (u64)(pass->out - 1) * pass->stride + pass->kernel - pass->before;

	*in = (u32)min((u64)*in, end);
	return (u32)(end - *in);
}

static struct pool_pass last_pass(const struct pool_axis *axis)
{
	struct pool_pass pass = {
		axis->in, axis->out, axis->kernel, axis->stride, axis->before, 0
	};

	pass.after = reach_of(&pass, &pass.in);
	/* With one output the stride says how many elements may be left behind it. */
	if (axis->out == 1)
		pass.stride = min(axis->in - pass.in + 1, NPU_PDP_MAX_STRIDE);
	return pass;
}

/* The largest number up to @most that is as far from @number as a multiple of @step. */
static u32 same_rest(u32 most, u32 number, u32 step)
{
	u32 off = number > most ? (number - most) % step : 0;

	number = min(most, number);
	return off ? number - (step - off) : number;
}

/*
 * Windows of @kernel, @step apart, of which each of the axis is made: false where they do not meet, or
 * nothing is won.
 */
static bool split(const struct pool_axis *axis, u32 step, u32 *kernel)
{
	*kernel = same_rest(NPU_PDP_MAX_KERNEL, axis->kernel, step);
	return axis->stride % step == 0 && step <= *kernel &&
	       (step > 1 || axis->kernel > NPU_PDP_MAX_KERNEL);
}

/* Takes a first pass out of the axis; false: there is none that brings it nearer to the registers. */
static bool take_pass(struct pool_axis *axis, struct pool_pass *pass)
{
	struct pool_axis whole = *axis;
	u32 step = NPU_PDP_MAX_KERNEL, kernel = 0, needed;

	if (whole.out == 1)
		whole.stride = 0; /* a multiple of everything */
	while (step && !split(&whole, step, &kernel))
		step--;
	if (!step)
		return false;
	*pass = (struct pool_pass){ .in = axis->in, .kernel = kernel, .stride = step };
	/* All windows that begin in front of the first element and reach it. */
	pass->before = same_rest(kernel - 1, axis->before, step);
	needed = (u32)(((u64)(axis->out - 1) * axis->stride + axis->kernel - kernel + pass->before -
			axis->before) /
		       step) +
		 1;
	pass->out = min((axis->in - 1 + pass->before) / step + 1, needed);
	pass->after = reach_of(pass, &pass->in);
	axis->in = pass->out;
	axis->kernel = (axis->kernel - kernel) / step + 1;
	axis->stride = axis->out == 1 ? 1 : axis->stride / step;
	axis->before = (axis->before - pass->before) / step;
	return true;
}

static bool next_pass(struct pool_axis *axis, struct pool_pass *pass)
{
	*pass = (struct pool_pass){ axis->in, axis->in, 1, 1, 0, 0 };
	return fits(axis) || take_pass(axis, pass);
}

/* Whether passes within the registers come to an end. */
static bool can_split(struct pooling pooling)
{
	struct pool_pass pass;

	while (!fits(&pooling.y) || !fits(&pooling.x))
		if (!next_pass(&pooling.y, &pass) || !next_pass(&pooling.x, &pass))
			return false;
	return true;
}

/* ---- operators -------------------------------------------------------------------------- */

static struct pooling pooling_of(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_window *w = &op->window;
	struct pooling pooling = { .kind = NPU_POOL_MAX };
	u32 in[4], out[4];

	npu_tensor_nhwc(npu_op_input(graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(graph, op), out);
	pooling.y = make_axis(in[1], out[1], w->r, w->stride_y, w->pad_top);
	pooling.x = make_axis(in[2], out[2], w->s, w->stride_x, w->pad_left);
	return pooling;
}

/* Reductions keep rows or columns, or are windows as large as the plane. */
static struct pooling reduction_of(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0);
	struct pooling pooling = { .kind = NPU_POOL_MAX };
	u32 nhwc[4], first = in->rank - 3;
	bool rows = op->axes >> first & 1, columns = op->axes >> (first + 1) & 1;

	npu_tensor_nhwc(in, nhwc);
	if (op->kind == NPU_OP_REDUCE_MIN)
		pooling.kind = NPU_POOL_MIN;
	pooling.y = make_axis(nhwc[1], rows ? 1 : nhwc[1], rows ? nhwc[1] : 1, 1, 0);
	pooling.x = make_axis(nhwc[2], columns ? 1 : nhwc[2], columns ? nhwc[2] : 1, 1, 0);
	return pooling;
}

const char *npu_check_max_pool(const struct npu_opt *opt, const struct npu_op *op)
{
	return can_split(pooling_of(opt->graph, op))
		       ? NULL
		       : "a stride above 16 that windows do not share";
}

const char *npu_check_reduce(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	struct pooling pooling;
	u32 nhwc[4];

	if (in->rank < 3 || in->rank > 4 || op->axes & ~(3u << (in->rank - 3)))
		return "not over height and width alone";
	pooling = reduction_of(opt->graph, op);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), nhwc);
	if (nhwc[1] != pooling.y.out || nhwc[2] != pooling.x.out)
		return "drops a dimension in front of one that stays";
	return NULL;
}

/* ---- layers ------------------------------------------------------------------------------ */

/* The part that windows reach, where what lies behind it would be one more window; -E2BIG: none. */
static int cut_input(struct npu_opt *opt, const struct pool_pass *y, const struct pool_pass *x,
		     u32 *input)
{
	struct npu_view view = npu_view_box(opt, *input, 0, 0, 0, 1);

	if (view.h - y->in < y->stride && view.w - x->in < x->stride)
		return 0;
	view.h = y->in;
	view.w = x->in;
	if (!npu_view_is_legal(opt, &view))
		return -E2BIG;
	*input = npu_opt_add_view(opt, *input, &view, "read part");
	return *input == NPU_NONE ? npu_opt_nomem(opt) : 0;
}

static int add_pass(struct npu_opt *opt, u32 op, enum npu_pool_kind kind, u32 input, u32 output,
		    const struct pool_pass *y, const struct pool_pass *x)
{
	int error = cut_input(opt, y, x, &input);
	struct npu_layer *layer;

	if (error)
		return error;
	layer = npu_opt_add_layer(opt, NPU_LAYER_PDP, op);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->input = input;
	layer->output = output;
	layer->pool.kind = kind;
	layer->pool.window = (struct npu_window){ y->kernel, x->kernel, y->stride, x->stride, 1, 1,
						  y->before, x->before, y->after,  x->after };
	return 0;
}

/* A pass in front of the last one; @input becomes what it writes. */
static int add_first(struct npu_opt *opt, u32 op, struct pooling *pooling, u32 *input)
{
	u32 middle = npu_opt_add_value_like(opt, *input, "smaller window"), from = *input;
	struct pool_pass y, x;

	if (middle == NPU_NONE)
		return npu_opt_nomem(opt);
	if (!next_pass(&pooling->y, &y) || !next_pass(&pooling->x, &x))
		return -E2BIG; /* never of what was checked */
	npu_value_set_feature(&opt->net->value[middle], opt->config, y.out, x.out,
			      opt->net->value[from].c);
	*input = middle;
	return add_pass(opt, op, pooling->kind, from, middle, &y, &x);
}

static int add_passes(struct npu_opt *opt, u32 op, struct pooling pooling)
{
	u32 input = npu_opt_value(opt, opt->graph->op[op].input[0]);
	u32 output = npu_opt_value(opt, opt->graph->op[op].output[0]);
	struct pool_pass y, x;
	int error = 0;

	while (!error && (!fits(&pooling.y) || !fits(&pooling.x)))
		error = add_first(opt, op, &pooling, &input);
	y = last_pass(&pooling.y);
	x = last_pass(&pooling.x);
	return error ? error : add_pass(opt, op, pooling.kind, input, output, &y, &x);
}

int npu_lower_max_pool(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	s32 low, high;
	int error = add_passes(opt, op, pooling_of(opt->graph, o));

	if (!error)
		error = npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &op, 1);
	npu_activation_range(o->activation, npu_op_output(opt->graph, o), &low, &high);
	if (!error && o->activation != NPU_ACT_NONE)
		error = npu_opt_clamp_after(opt, opt->net->layer_count - 1, low, high);
	return error;
}

int npu_lower_reduce(struct npu_opt *opt, u32 op)
{
	int error = add_passes(opt, op, reduction_of(opt->graph, &opt->graph->op[op]));

	return error ? error
		     : npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &op, 1);
}
