// SPDX-License-Identifier: MIT
/*
 * Averages and sums as depthwise convolutions with kernels of ones: one rounding, where PDP's average
 * rounds width and height apart.  Windows that padding cuts have kernels of their own, for the outputs that
 * they make; so have windows that no steps can make together.
 */
#include "average.h"
#include "price.h"
#include "view.h"

/* More parts of an axis than a kernel of nine with padding has. */
#define MAX_PARTS 9u

/**
 * struct part - outputs along one axis whose windows hold equally many elements
 * @first, @count: outputs
 * @in: first element that they read
 * @taps: elements of each window
 */
struct part {
	u32 first, count;
	u32 in, taps;
};

/**
 * struct parts - of an axis
 * @count: MAX_PARTS + 1: too many, or windows with nothing in them
 */
struct parts {
	struct part part[MAX_PARTS];
	u32 count, stride;
};

/**
 * struct windows - of an average along one axis
 * @before: padding, which does not count
 */
struct windows {
	u32 in, out, kernel, stride, before;
};

/* Windows inside of the input are one part, each that padding cuts is one of its own. */
static struct parts find_parts(const struct windows *w, bool single)
{
	struct parts parts = { .stride = w->stride };
	u32 i;

	for (i = 0; i < w->out; i++) {
		s64 from = (s64)i * w->stride - w->before, start = max(from, (s64)0);
		s64 taps = min(from + w->kernel, (s64)w->in) - start;
		struct part *last = &parts.part[parts.count ? parts.count - 1 : 0];

		if (parts.count && !single && taps == w->kernel && last->taps == w->kernel) {
			last->count++;
			continue;
		}
		if (parts.count == MAX_PARTS || taps < 1) {
			parts.count = MAX_PARTS + 1;
			break;
		}
		parts.part[parts.count++] = (struct part){ i, 1, (u32)start, (u32)taps };
	}
	return parts;
}

static struct npu_average_axis axis_of(const struct parts *parts, const struct part *part)
{
	return (struct npu_average_axis){ part->count, part->taps, parts->stride, 1 };
}

/**
 * struct plan - how an average is computed
 * @y, @x: what is computed apart
 * @cycles: of all of it, at the least
 * @is_single: one convolution does it
 */
struct plan {
	struct parts y, x;
	u64 cycles;
	bool is_single;
};

static bool plan_part(const struct npu_opt *opt, const struct plan *plan, u32 row, u32 column,
		      u32 channels, struct npu_average_steps *steps)
{
	const struct npu_average_axis y = axis_of(&plan->y, &plan->y.part[row]);
	const struct npu_average_axis x = axis_of(&plan->x, &plan->x.part[column]);

	return npu_plan_average(opt->config, &y, &x, channels, steps);
}

/* Whether all parts can be computed. */
static bool plan_parts(const struct npu_opt *opt, struct plan *plan, u32 channels)
{
	struct npu_average_steps steps;
	u32 i, k;

	if (plan->y.count > MAX_PARTS || plan->x.count > MAX_PARTS)
		return false;
	plan->is_single = plan->y.count * plan->x.count == 1;
	for (i = 0; i < plan->y.count; i++)
		for (k = 0; k < plan->x.count; k++) {
			if (!plan_part(opt, plan, i, k, channels, &steps))
				return false;
			plan->cycles += steps.cycles;
			plan->is_single &= steps.count == 1;
		}
	return true;
}

/* With as many outputs together as can be. */
static bool make_plan(const struct npu_opt *opt, const struct windows *y, const struct windows *x,
		      u32 channels, struct plan *plan)
{
	u32 single;

	for (single = 0; single < 4; single++) {
		*plan = (struct plan){ .y = find_parts(y, single & 1),
				       .x = find_parts(x, single & 2) };
		if (plan_parts(opt, plan, channels))
			return true;
	}
	return false;
}

static void pool_windows(const struct npu_graph *graph, const struct npu_op *op, struct windows *y,
			 struct windows *x)
{
	const struct npu_window *w = &op->window;
	u32 in[4], out[4];

	npu_tensor_nhwc(npu_op_input(graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(graph, op), out);
	*y = (struct windows){ in[1], out[1], w->r, w->stride_y, w->pad_top };
	*x = (struct windows){ in[2], out[2], w->s, w->stride_x, w->pad_left };
}

/* Reductions keep rows or columns, or have windows as large as the plane. */
static void reduce_windows(const struct npu_graph *graph, const struct npu_op *op,
			   struct windows *y, struct windows *x)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0);
	u32 nhwc[4], first = in->rank - 3;
	bool rows = op->axes >> first & 1, columns = op->axes >> (first + 1) & 1;

	npu_tensor_nhwc(in, nhwc);
	*y = (struct windows){ nhwc[1], rows ? 1 : nhwc[1], rows ? nhwc[1] : 1, 1, 0 };
	*x = (struct windows){ nhwc[2], columns ? 1 : nhwc[2], columns ? nhwc[2] : 1, 1, 0 };
}

static void windows_of(const struct npu_graph *graph, const struct npu_op *op, struct windows *y,
		       struct windows *x)
{
	(op->kind == NPU_OP_AVERAGE_POOL ? pool_windows : reduce_windows)(graph, op, y, x);
}

static u32 channels_of(const struct npu_opt *opt, const struct npu_op *op)
{
	u32 nhwc[4];

	npu_tensor_nhwc(npu_op_input(opt->graph, op, 0), nhwc);
	return nhwc[3];
}

/* ---- whether it can be done ------------------------------------------------------------------ */

static const char *check_windows(const struct npu_opt *opt, const struct npu_op *op)
{
	struct windows y, x;
	struct plan plan;

	windows_of(opt->graph, op, &y, &x);
	if (!make_plan(opt, &y, &x, channels_of(opt, op), &plan))
		return "windows that padding cuts in too many ways, or that kernels of ones which "
		       "fit the buffer do not make";
	if (!plan.is_single && npu_cpu_is_cheaper(opt, op, plan.cycles))
		return "windows cut by padding or computed in steps cost more cycles than the CPU";
	return NULL;
}

const char *npu_check_average_pool(const struct npu_opt *opt, const struct npu_op *op)
{
	return check_windows(opt, op);
}

const char *npu_check_mean(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	struct windows y, x;
	u32 out[4];

	if (in->rank < 3 || in->rank > 4 || !op->axes || op->axes & ~(3u << (in->rank - 3)))
		return "not over height and width alone";
	windows_of(opt->graph, op, &y, &x);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	if (out[1] != y.out || out[2] != x.out)
		return "drops a dimension in front of one that stays";
	return check_windows(opt, op);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* A pool that keeps its scale rounds stored values, another one and reductions real ones. */
static struct npu_average start(const struct npu_opt *opt, u32 index, u32 taps)
{
	const struct npu_op *op = &opt->graph->op[index];
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	const struct npu_tensor *out = npu_op_output(opt->graph, op);
	struct npu_average average = {
		.op = index,
		.input = npu_opt_value(opt, op->input[0]),
		.output = npu_opt_value(opt, op->output[0]),
		.factor = 1,
		.raw = op->kind == NPU_OP_AVERAGE_POOL && npu_same_quant(in, out),
	};

	if (!average.raw) {
		average.factor = (double)in->quant.scale[0] / out->quant.scale[0];
		average.bias = -(s64)npu_stored_zero(in) * taps;
	}
	if (op->kind != NPU_OP_REDUCE_SUM)
		average.factor /= taps;
	return average;
}

/* The outputs of one part of the rows and one of the columns. */
static int add_part(struct npu_opt *opt, u32 op, const struct plan *plan, u32 row, u32 column)
{
	const struct part *y = &plan->y.part[row], *x = &plan->x.part[column];
	struct npu_average average = start(opt, op, y->taps * x->taps);
	bool is_all = plan->y.count * plan->x.count == 1;
	struct npu_average_steps steps;
	struct npu_view in = npu_view_box(opt, average.input, y->in, x->in, 0, 1);
	struct npu_view out = npu_view_box(opt, average.output, y->first, x->first, 0, 1);

	if (!plan_part(opt, plan, row, column, in.c, &steps))
		return -E2BIG; /* never of what was checked */
	in.h = (y->count - 1) * plan->y.stride + y->taps;
	in.w = (x->count - 1) * plan->x.stride + x->taps;
	out.h = y->count;
	out.w = x->count;
	/* What follows the last window is none of the padding that steps may want. */
	if (!is_all || steps.count > 1)
		average.input = npu_opt_add_view(opt, average.input, &in, "part");
	if (!is_all)
		average.output = npu_opt_add_view(opt, average.output, &out, "part");
	if (average.input == NPU_NONE || average.output == NPU_NONE)
		return npu_opt_nomem(opt);
	return npu_lower_steps(opt, &average, &steps, !is_all);
}

int npu_lower_average(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct windows y, x;
	struct plan plan;
	int error = 0;
	u32 i, k;

	windows_of(opt->graph, o, &y, &x);
	if (!make_plan(opt, &y, &x, channels_of(opt, o), &plan))
		return -E2BIG; /* never of what was checked */
	for (i = 0; i < plan.y.count && !error; i++)
		for (k = 0; k < plan.x.count && !error; k++)
			error = add_part(opt, op, &plan, i, k);
	/* What was written last completes the output. */
	if (!error && plan.y.count * plan.x.count > 1)
		error = npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &op, 1);
	return error;
}
