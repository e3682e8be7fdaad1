// SPDX-License-Identifier: MIT
/*
 * Bilinear enlargement 2, 4 or 8 times: a transposed convolution of each channel with one kernel of small
 * whole numbers, so that there is one rounding.  Beyond its edge an image goes on as at the edge: one
 * more row and column are copied there first.
 *
 * With half-pixel centers output o lies at (o + 1/2) / f - 1/2, so an input reaches the 2 f outputs around
 * it, with weights 1, 3, .. 2 f - 1, 2 f - 1, .. 3, 1 out of 2 f; without, at o / f: 1, 2, .. f, .. 2, 1
 * out of f.  Other factors have no such whole numbers at the reference's 1/1024 of a pixel.
 */
#include "deconv.h"
#include "price.h"
#include "view.h"

#define MAX_TIMES 8u

/**
 * struct enlargement - along one axis
 * @times: how many times larger
 * @taps, @unit: of the kernel, and what its weights are fractions of
 * @most: the largest weight
 * @front, @behind: rows or columns that are copied at the edges
 * @pad: of the transposed convolution over what is there then
 */
struct enlargement {
	u32 times;
	u32 taps, unit, most;
	u32 front, behind;
	u32 pad;
};

static bool make_enlargement(u32 in, u32 out, bool half_pixel, struct enlargement *e)
{
	u32 times = out / in;

	*e = (struct enlargement){ .times = times, .taps = 1, .unit = 1, .most = 1 };
	if (out % in || times > MAX_TIMES || (times & (times - 1)))
		return false;
	if (times == 1)
		return true;
	e->behind = 1;
	if (half_pixel) {
		e->taps = e->unit = 2 * times;
		e->most = 2 * times - 1;
		e->front = 1;
		e->pad = times / 2 + times;
	} else {
		e->taps = 2 * times - 1;
		e->unit = e->most = times;
		e->pad = times - 1;
	}
	return true;
}

static u32 weight_at(const struct enlargement *e, u32 tap)
{
	u32 near = min(tap, e->taps - 1 - tap);

	/* Half-pixel kernels have an even number of taps. */
	return e->taps % 2 ? near + 1 : 2 * near + 1;
}

/* False: not 2, 4 or 8 times larger. */
static bool make_axes(const struct npu_graph *graph, const struct npu_op *op, struct enlargement *y,
		      struct enlargement *x)
{
	u32 in[4], out[4];

	npu_tensor_nhwc(npu_op_input(graph, op, 0), in);
	npu_tensor_nhwc(npu_op_output(graph, op), out);
	return make_enlargement(in[1], out[1], op->half_pixel_centers, y) &&
	       make_enlargement(in[2], out[2], op->half_pixel_centers, x);
}

const char *npu_check_resize_bilinear(const struct npu_opt *opt, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(opt->graph, op, 0);
	const struct npu_tensor *out = npu_op_output(opt->graph, op);
	struct enlargement y, x;
	u32 nhwc[4];

	if (op->align_corners)
		return "corners are aligned";
	if (!make_axes(opt->graph, op, &y, &x))
		return "not 2, 4 or 8 times larger";
	if (y.most * x.most > 127)
		return "weights of more than 8 bits";
	npu_tensor_nhwc(in, nhwc);
	if (nhwc[1] + 2 > NPU_MAX_EXTENT / opt->config->atom || nhwc[2] + 2 > NPU_MAX_EXTENT)
		return "more rows than SDP can take as surfaces";
	/* A phase has two taps each way, and each surface of channels is a block. */
	if (npu_cpu_is_cheaper(opt, op,
			       npu_tensor_elements(out) / nhwc[3] * 4 *
				       DIV_ROUND_UP(nhwc[3], (u32)opt->config->atomic_k)))
		return "costs more cycles than the CPU";
	return NULL;
}

/* One row or column of @value to another place in it. */
static int copy_edge(struct npu_opt *opt, u32 op, u32 value, const struct npu_view *from, u64 to)
{
	struct npu_view target = *from;

	target.offset = to;
	return npu_opt_copy_box(opt, op, value, value, from, &target);
}

/* The input with its edges once more. */
static u32 add_edges(struct npu_opt *opt, u32 op, u32 input, const struct enlargement *y,
		     const struct enlargement *x, int *error)
{
	struct npu_value in = opt->net->value[input];
	struct npu_view source = npu_view_box(opt, input, 0, 0, 0, 1), target, side, row;
	u32 whole = npu_opt_add_value_like(opt, input, "with edges"),
	    w = in.w + x->front + x->behind;
	u32 h = in.h + y->front + y->behind;

	if (whole == NPU_NONE)
		return NPU_NONE;
	npu_value_set_feature(&opt->net->value[whole], opt->config, h, w, in.c);
	target = npu_view_box(opt, whole, y->front, x->front, 0, 1);
	target.h = in.h;
	target.w = in.w;
	*error = npu_opt_copy_box(opt, op, input, whole, &source, &target);
	/* Columns beside what is there; then rows with the corners. */
	side = target;
	side.w = 1;
	if (x->front && !*error)
		*error = copy_edge(opt, op, whole, &side, side.offset - opt->config->atom);
	side.offset += (u64)(in.w - 1) * opt->config->atom;
	if (x->behind && !*error)
		*error = copy_edge(opt, op, whole, &side, side.offset + opt->config->atom);
	row = npu_view_box(opt, whole, y->front, 0, 0, 1);
	row.h = 1;
	if (y->front && !*error)
		*error = copy_edge(opt, op, whole, &row, row.offset - row.line_stride);
	row.offset += (u64)(in.h - 1) * row.line_stride;
	if (y->behind && !*error)
		*error = copy_edge(opt, op, whole, &row, row.offset + row.line_stride);
	return whole;
}

int npu_lower_resize_bilinear(struct npu_opt *opt, u32 op)
{
	static const s32 no_zero;
	const struct npu_op *o = &opt->graph->op[op];
	u32 input = npu_opt_value(opt, o->input[0]), channels = opt->net->value[input].c, k, r, s;
	struct enlargement y, x;
	struct npu_deconv deconv = { .op = op,
				     .raw = true,
				     .output = npu_opt_value(opt, o->output[0]) };
	int error = 0;
	s8 *to;

	if (!make_axes(opt->graph, o, &y, &x))
		return -E2BIG; /* never of what was checked */
	to = npu_arena_array(&opt->net->arena, channels, (size_t)y.taps * x.taps);
	deconv.input = add_edges(opt, op, input, &y, &x, &error);
	if (!to || deconv.input == NPU_NONE)
		return npu_opt_nomem(opt);
	if (error)
		return error;
	deconv.kernels = (struct npu_kernels){ .data = to,
					       .zero = &no_zero,
					       .zero_count = 1,
					       .k = channels,
					       .r = y.taps,
					       .s = x.taps,
					       .channels = 1,
					       .groups = channels };
	for (k = 0; k < channels; k++)
		for (r = 0; r < y.taps; r++)
			for (s = 0; s < x.taps; s++)
				*to++ = (s8)(weight_at(&y, r) * weight_at(&x, s));
	deconv.window =
		(struct npu_window){ y.taps, x.taps, y.times, x.times, 1, 1, y.pad, x.pad, 0, 0 };
	deconv.multiplier = 1.0 / (y.unit * x.unit);
	return npu_opt_deconv(opt, &deconv);
}
