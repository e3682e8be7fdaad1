// SPDX-License-Identifier: MIT
/*
 * Averages as depthwise convolutions with kernels of ones: one rounding, where PDP's average rounds
 * width and height apart.  Windows that padding cuts have kernels of their own, for the outputs that they
 * make; planes that are too large for one kernel are averaged in two steps.
 */
#include "conv.h"
#include "price.h"
#include "view.h"

#include "nvdla_cbuf.h"

/*
 * Ties round away from zero in the reference and in SDP; a multiplier that is too large by less than
 * its last bit keeps them ties or beyond.
 */
#define ROUND_UP 3e-5

/* Banks that a kernel group of ones may take: smaller budgets than four banks are not expected. */
#define ONES_MAX_BANKS 3u

/* Kernels of the first of two steps; the second's are at most 32 high and wide. */
#define FIRST_STEP 8u
#define LARGEST_PLANE (FIRST_STEP * NPU_CONV_MAX_KERNEL)

/* More parts of an axis than a kernel of five with padding has. */
#define MAX_PARTS 5u

static const s32 no_zero;

/* A kernel of ones is dear where windows and atoms are large. */
static bool fits_ones(const struct nvdla_config *config, u32 r, u32 s)
{
	u64 bytes = (u64)r * s * config->atom * config->atomic_k;

	return r <= NPU_CONV_MAX_KERNEL && s <= NPU_CONV_MAX_KERNEL &&
	       nvdla_cbuf_weight_banks(config, bytes) <= ONES_MAX_BANKS;
}

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

/* Windows inside of the input are one part, each that padding cuts is one of its own. */
static u32 find_parts(u32 in, u32 out, u32 kernel, u32 stride, u32 pad, struct part *part, u32 most)
{
	u32 count = 0, i;

	for (i = 0; i < out; i++) {
		s64 from = (s64)i * stride - pad, to = from + kernel;
		u32 start = (u32)max(from, (s64)0), taps = (u32)(min(to, (s64)in) - start);

		if (count && taps == kernel && part[count - 1].taps == kernel) {
			part[count - 1].count++;
			continue;
		}
		if (count == most)
			return most + 1;
		part[count++] = (struct part){ i, 1, start, taps };
	}
	return count;
}

/* Two steps for a plane: the first one's kernel, and how many results it leaves for the second. */
struct steps {
	u32 r, s;
	u32 h, w;
};

static struct steps steps_of(u32 h, u32 w)
{
	struct steps steps = { .r = min(h, FIRST_STEP), .s = min(w, FIRST_STEP) };

	steps.h = DIV_ROUND_UP(h, steps.r);
	steps.w = DIV_ROUND_UP(w, steps.s);
	return steps;
}

static const char *check_plane(const struct npu_opt *opt, u32 h, u32 w, double scale)
{
	struct steps steps = steps_of(h, w);
	double weight;

	if (fits_ones(opt->config, h, w))
		return NULL;
	if (h > LARGEST_PLANE || w > LARGEST_PLANE)
		return "plane larger than 256 x 256";
	if (!fits_ones(opt->config, steps.r, steps.s) || !fits_ones(opt->config, steps.h, steps.w))
		return "the kernel of ones for this window takes too much of the buffer";
	/* The first step is off by half a unit; one more would show, where the second rounds. */
	weight = scale * steps.r * steps.s * steps.h * steps.w / ((double)h * w);
	if (0.5 * weight > 0.9)
		return "an average in two steps at a finer scale than the input's is not exact";
	return NULL;
}

static bool is_whole_plane(const struct npu_op *op, const u32 in[4], const u32 out[4])
{
	const struct npu_window *w = &op->window;

	return out[1] == 1 && out[2] == 1 && w->r >= in[1] && w->s >= in[2] && !w->pad_top &&
	       !w->pad_left;
}

const char *npu_check_average_pool(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_window *w = &op->window;
	struct part y[MAX_PARTS], x[MAX_PARTS];
	u32 in[4], out[4], rows, cols;
	u64 pixels, passes;

	npu_tensor_nhwc(npu_op_input(opt->graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(opt->graph, op), out);
	if (is_whole_plane(op, in, out))
		return check_plane(opt, in[1], in[2], 1);
	if (!fits_ones(opt->config, w->r, w->s))
		return "the kernel of ones for this window takes too much of the buffer";
	if ((w->stride_y > NPU_CONV_MAX_STRIDE && out[1] > 1) ||
	    (w->stride_x > NPU_CONV_MAX_STRIDE && out[2] > 1))
		return "stride larger than 8";
	rows = find_parts(in[1], out[1], w->r, w->stride_y, w->pad_top, y, MAX_PARTS);
	cols = find_parts(in[2], out[2], w->s, w->stride_x, w->pad_left, x, MAX_PARTS);
	if (rows > MAX_PARTS || cols > MAX_PARTS)
		return "windows that padding cuts in too many ways";
	pixels = (u64)out[1] * out[2] * w->r * w->s;
	passes = (u64)rows * cols * DIV_ROUND_UP(in[3], (u32)opt->config->atom);
	if (rows * cols > 1 &&
	    npu_cpu_is_cheaper(opt, op,
			       pixels * DIV_ROUND_UP(in[3], (u32)opt->config->atomic_k) +
				       passes * NPU_PRICE_PASS))
		return "windows that padding cuts cost more cycles than the CPU";
	return NULL;
}

const char *npu_check_mean(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	double scale = (double)in->quant.scale[0] / npu_op_output(opt->graph, op)->quant.scale[0];
	u32 nhwc[4];

	npu_tensor_nhwc(in, nhwc);
	if (in->rank != 4 || op->axes != (1u << 1 | 1u << 2))
		return "mean over other dimensions than height and width";
	return check_plane(opt, nhwc[1], nhwc[2], scale);
}

/**
 * struct average - one convolution with kernels of ones
 * @input, @output: values; @window: bottom and right padding follow from them
 * @multiplier: of sums, in units of the output
 * @raw: of stored values, whose zero points play no part
 * @is_part: other layers complete the operator; @is_bare: by what they make of this one's output
 */
struct average {
	u32 op;
	u32 input, output;
	struct npu_window window;
	double multiplier;
	bool raw, is_part, is_bare;
};

static int add_average(struct npu_opt *opt, const struct average *average)
{
	const struct npu_op *o = &opt->graph->op[average->op];
	const struct npu_value *out = &opt->net->value[average->output];
	const struct npu_window *w = &average->window;
	u32 channels = opt->net->value[average->input].c, count = w->r * w->s;
	struct npu_conv conv = {
		.op = average->op,
		.in = npu_op_input(opt->graph, o, 0),
		.out = npu_op_output(opt->graph, o),
		.pad = NPU_NONE,
		.pool = NPU_NONE,
		.input = average->input,
		.output = average->output,
		.is_part = average->is_part,
		.window = *w,
		.h = out->h,
		.w = out->w,
		.raw = average->raw,
		.is_bare = average->is_bare,
		/* Adds nothing to what is summed in the end. */
		.pad_value = o->kind == NPU_OP_MEAN
				     ? npu_stored_zero(npu_op_input(opt->graph, o, 0))
				     : 0,
		.multiplier = average->multiplier * (1 + ROUND_UP),
	};
	s8 *ones = npu_arena_array(&opt->net->arena, channels, count);

	if (!ones)
		return npu_opt_nomem(opt);
	memset(ones, 1, (size_t)channels * count);
	conv.kernels = (struct npu_kernels){
		.data = ones,
		.zero = &no_zero,
		.zero_count = 1,
		.k = channels,
		.r = w->r,
		.s = w->s,
		.channels = 1,
		.groups = channels,
	};
	/* A stride that is never taken may be larger than the register holds. */
	if (conv.h == 1)
		conv.window.stride_y = 1;
	if (conv.w == 1)
		conv.window.stride_x = 1;
	return npu_conv_layer(opt, &conv);
}

/* One pixel of a larger plane: a surface at a time, since SDP writes those of one pixel side by side. */
static int add_pixel(struct npu_opt *opt, struct average *average, const struct npu_view *in,
		     const struct npu_view *out, u32 input, u32 output)
{
	u32 atom = opt->config->atom, c;
	int error = 0;

	for (c = 0; c < out->c && !error; c += atom) {
		struct npu_view from = *in, to = *out;

		from.c = to.c = min(atom, out->c - c);
		from.offset += (u64)(c / atom) * in->surface_stride;
		to.offset += (u64)(c / atom) * out->surface_stride;
		average->input = npu_opt_add_view(opt, input, &from, "corner");
		average->output = npu_opt_add_view(opt, output, &to, "corner");
		if (average->input == NPU_NONE || average->output == NPU_NONE)
			return npu_opt_nomem(opt);
		error = add_average(opt, average);
	}
	return error;
}

/* The outputs of one part of the rows and one of the columns. */
static int add_parts(struct npu_opt *opt, u32 op, const struct part *y, const struct part *x)
{
	const struct npu_op *o = &opt->graph->op[op];
	u32 input = npu_opt_value(opt, o->input[0]), output = npu_opt_value(opt, o->output[0]);
	struct npu_view in = npu_view_box(opt, input, y->in, x->in, 0, 1);
	struct npu_view out = npu_view_box(opt, output, y->first, x->first, 0, 1);
	struct average average = {
		.op = op,
		.window = { y->taps, x->taps, o->window.stride_y, o->window.stride_x, 1, 1, 0, 0, 0,
			    0 },
		.multiplier = 1.0 / (y->taps * x->taps),
		.raw = true,
		.is_part = true,
	};

	in.h = (y->count - 1) * o->window.stride_y + y->taps;
	in.w = (x->count - 1) * o->window.stride_x + x->taps;
	out.h = y->count;
	out.w = x->count;
	if (!npu_view_is_legal(opt, &in) || !npu_view_is_legal(opt, &out))
		return add_pixel(opt, &average, &in, &out, input, output);
	average.input = npu_opt_add_view(opt, input, &in, "part");
	average.output = npu_opt_add_view(opt, output, &out, "part");
	if (average.input == NPU_NONE || average.output == NPU_NONE)
		return npu_opt_nomem(opt);
	return add_average(opt, &average);
}

static int lower_windows(struct npu_opt *opt, u32 op, const u32 in[4], const u32 out[4])
{
	const struct npu_op *o = &opt->graph->op[op];
	const struct npu_window *w = &o->window;
	struct part y[MAX_PARTS], x[MAX_PARTS];
	u32 rows = find_parts(in[1], out[1], w->r, w->stride_y, w->pad_top, y, MAX_PARTS);
	u32 cols = find_parts(in[2], out[2], w->s, w->stride_x, w->pad_left, x, MAX_PARTS), i, k;
	struct average average = {
		.op = op,
		.input = npu_opt_value(opt, o->input[0]),
		.output = npu_opt_value(opt, o->output[0]),
		.window = *w,
		.raw = true,
	};
	int error = 0;

	if (rows * cols == 1) {
		average.window.r = y->taps;
		average.window.s = x->taps;
		average.window.pad_top = average.window.pad_left = 0;
		average.multiplier = 1.0 / (y->taps * x->taps);
		return add_average(opt, &average);
	}
	for (i = 0; i < rows && !error; i++)
		for (k = 0; k < cols && !error; k++)
			error = add_parts(opt, op, &y[i], &x[k]);
	if (error)
		return error;
	/* What was written last completes the output. */
	return npu_opt_set_group(opt, &opt->net->layer[opt->net->layer_count - 1], &op, 1);
}

/* Padding of the last windows counts as nothing; the second step's multiplier makes up for it. */
static int lower_plane(struct npu_opt *opt, u32 op, const u32 in[4], double scale)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct steps steps = steps_of(in[1], in[2]);
	struct average first = {
		.op = op,
		.input = npu_opt_value(opt, o->input[0]),
		.window = { steps.r, steps.s, steps.r, steps.s, 1, 1, 0, 0, 0, 0 },
		.raw = true,
		.is_part = true,
		.is_bare = true,
	};
	/* A pool rounds stored values, a mean real ones. */
	struct average second = { .op = op,
				  .output = npu_opt_value(opt, o->output[0]),
				  .raw = o->kind == NPU_OP_AVERAGE_POOL };
	u32 taps = steps.r * steps.s, between;
	int error;

	if (fits_ones(opt->config, in[1], in[2])) {
		second.input = first.input;
		second.window = (struct npu_window){ in[1], in[2], 1, 1, 1, 1, 0, 0, 0, 0 };
		second.multiplier = scale / ((double)in[1] * in[2]);
		return add_average(opt, &second);
	}
	between = npu_opt_add_value_like(opt, first.input, "in steps");
	if (between == NPU_NONE)
		return npu_opt_nomem(opt);
	npu_value_set_feature(&opt->net->value[between], opt->config, steps.h, steps.w, in[3]);
	first.output = second.input = between;
	first.multiplier = 1.0 / taps;
	error = add_average(opt, &first);
	if (error)
		return error;
	second.window = (struct npu_window){ steps.h, steps.w, 1, 1, 1, 1, 0, 0, 0, 0 };
	second.multiplier = scale * taps / ((double)in[1] * in[2]);
	return add_average(opt, &second);
}

int npu_lower_average(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	const struct npu_tensor *in = npu_op_input(opt->graph, o, 0);
	const struct npu_tensor *out = npu_op_output(opt->graph, o);
	u32 from[4], to[4];

	npu_tensor_nhwc(in, from);
	npu_tensor_nhwc(out, to);
	if (o->kind == NPU_OP_MEAN)
		return lower_plane(opt, op, from, (double)in->quant.scale[0] / out->quant.scale[0]);
	if (is_whole_plane(o, from, to))
		return lower_plane(opt, op, from, 1);
	return lower_windows(opt, op, from, to);
}
