// SPDX-License-Identifier: MIT
/* Windows that move over images: where they end is Caffe's own. */
#include "caffe.h"

#include <float.h>

/* Larger ones are no network's; products of two stay in 32 bits. */
#define MAX_WINDOW 65535u

static int check_window(struct caffe *c, const struct caffe_window *w)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		if (!w->kernel[i] || !w->stride[i] || !w->dilation[i])
			return caffe_fail(c, -EINVAL, "a kernel of %u x %u, strides %u and %u",
					  w->kernel[0], w->kernel[1], w->stride[0], w->stride[1]);
		if (max(max(w->kernel[i], w->stride[i]), max(w->dilation[i], w->pad[i])) >
		    MAX_WINDOW)
			return caffe_fail(c, -ENOTSUP, "a window with numbers above %u",
					  MAX_WINDOW);
	}
	return 0;
}

/* Both from one number or a pair, or each by its own field. */
static int read_pair(struct caffe *c, const char *what, size_t count, const u32 *values,
		     const protobuf_c_boolean *has, const u32 *own, u32 other, u32 result[2])
{
	if (has && (has[0] || has[1])) {
		if (count || !has[0] || !has[1])
			return caffe_fail(c, -EINVAL, "%s by one number and by height and width",
					  what);
		result[0] = own[0];
		result[1] = own[1];
		return 0;
	}
	if (count > 2)
		return caffe_fail(c, -ENOTSUP, "%s has %zu numbers; images have two dimensions",
				  what, count);
	result[0] = count ? values[0] : other;
	result[1] = count ? values[count - 1] : other;
	return 0;
}

/* "hole" is what a fork called it. */
static int read_dilation(struct caffe *c, const Caffe__Convolution *p, u32 dilation[2])
{
	if (p->n_dilation)
		return read_pair(c, "dilation", p->n_dilation, p->dilation, NULL, NULL, 1,
				 dilation);
	return read_pair(c, "hole", p->has_hole, &p->hole,
			 (const protobuf_c_boolean[]){ p->has_hole_h, p->has_hole_w },
			 (const u32[]){ p->hole_h, p->hole_w }, 1, dilation);
}

int caffe_convolution_window(struct caffe *c, const Caffe__Convolution *p, struct caffe_window *w)
{
	int error = read_pair(c, "kernel_size", p->n_kernel_size, p->kernel_size,
			      (const protobuf_c_boolean[]){ p->has_kernel_h, p->has_kernel_w },
			      (const u32[]){ p->kernel_h, p->kernel_w }, 0, w->kernel);

	if (!error)
		error = read_pair(c, "stride", p->n_stride, p->stride,
				  (const protobuf_c_boolean[]){ p->has_stride_h, p->has_stride_w },
				  (const u32[]){ p->stride_h, p->stride_w }, 1, w->stride);
	if (!error)
		error = read_pair(c, "pad", p->n_pad, p->pad,
				  (const protobuf_c_boolean[]){ p->has_pad_h, p->has_pad_w },
				  (const u32[]){ p->pad_h, p->pad_w }, 0, w->pad);
	if (!error)
		error = read_dilation(c, p, w->dilation);
	return error ? error : check_window(c, w);
}

/* ---- pooling ---- */

static int pooling_window(struct caffe *c, const Caffe__Pooling *p, struct caffe_window *w)
{
	int error = read_pair(c, "kernel_size", p->has_kernel_size, &p->kernel_size,
			      (const protobuf_c_boolean[]){ p->has_kernel_h, p->has_kernel_w },
			      (const u32[]){ p->kernel_h, p->kernel_w }, 0, w->kernel);

	w->dilation[0] = w->dilation[1] = 1;
	if (!error)
		error = read_pair(c, "stride", p->has_stride, &p->stride,
				  (const protobuf_c_boolean[]){ p->has_stride_h, p->has_stride_w },
				  (const u32[]){ p->stride_h, p->stride_w }, 1, w->stride);
	if (!error)
		error = read_pair(c, "pad", p->has_pad, &p->pad,
				  (const protobuf_c_boolean[]){ p->has_pad_h, p->has_pad_w },
				  (const u32[]){ p->pad_h, p->pad_w }, 0, w->pad);
	return error ? error : check_window(c, w);
}

/*
 * Windows as long as one begins inside the image: the last one may end behind it, with padding as
 * without.
 */
static int count_windows(struct caffe *c, const struct caffe_window *w, u32 i, u32 size,
			 bool round_up, u32 *result)
{
	s64 room = (s64)size + 2 * (s64)w->pad[i] - w->kernel[i], count;

	if (room < 0 || w->pad[i] >= w->kernel[i])
		return caffe_fail(c, -EINVAL,
				  "a window of %u over %u elements with a padding of %u",
				  w->kernel[i], size, w->pad[i]);
	count = (round_up ? DIV_ROUND_UP(room, (s64)w->stride[i]) : room / w->stride[i]) + 1;
	if (w->pad[i] && (count - 1) * w->stride[i] >= (s64)size + w->pad[i])
		count--;
	if ((count - 1) * w->stride[i] >= (s64)size + w->pad[i])
		return caffe_fail(c, -EINVAL, "the last window lies behind the image");
	*result = (u32)count;
	return 0;
}

/* What the last window needs behind @size elements, @before of padding in front. */
static s64 room_behind(const struct caffe_window *w, u32 i, u32 count, s64 size, s64 before)
{
	return max((s64)(count - 1) * w->stride[i] + w->kernel[i] - size - before, (s64)0);
}

/* Caffe's mean counts the padding, but nothing behind it: padding becomes a part of the image. */
static struct caffe_value padded(struct caffe *c, const struct caffe_window *w)
{
	const s64 pads[8] = { 0, 0, w->pad[0], w->pad[1], 0, 0, w->pad[0], w->pad[1] };
	const struct caffe_value *in = &c->in[0];
	u32 dim[4] = { in->dim[0], in->dim[1], in->dim[2] + 2 * w->pad[0],
		       in->dim[3] + 2 * w->pad[1] };
	struct caffe_value out = caffe_between(c, 4, dim);

	caffe_node_ints(c, caffe_apply(c, "Pad", in, 1, &out), "pads", pads, 8);
	return out;
}

static int global_pooling(struct caffe *c, const Caffe__Pooling *p, const char *op)
{
	const u32 dim[4] = { c->in[0].dim[0], c->in[0].dim[1], 1, 1 };
	struct caffe_value out = caffe_top(c, 0, 4, dim);

	if (p->has_kernel_size || p->has_kernel_h || p->has_kernel_w || p->pad || p->pad_h ||
	    p->pad_w)
		return caffe_fail(c, -EINVAL, "global_pooling with a kernel or padding");
	caffe_apply(c, op, c->in, 1, &out);
	return caffe_define(c, 0, &out);
}

/* One node that moves a window over @in, with @pads as ONNX has them. */
static void add_pool(struct caffe *c, const char *op, const struct caffe_value *in,
		     const struct caffe_window *w, const s64 pads[4], const struct caffe_value *out)
{
	Onnx__NodeProto *node = caffe_apply(c, op, in, 1, out);

	caffe_node_ints(c, node, "kernel_shape", (const s64[]){ w->kernel[0], w->kernel[1] }, 2);
	caffe_node_ints(c, node, "strides", (const s64[]){ w->stride[0], w->stride[1] }, 2);
	caffe_node_ints(c, node, "pads", pads, 4);
}

/*
 * In a test each element of a window counts with its own share of the window's sum: the sum of squares
 * by the sum, and nothing where that is not positive.
 */
static void add_stochastic(struct caffe *c, const struct caffe_window *w, const s64 pads[4],
			   const struct caffe_value *out)
{
	struct caffe_value square = caffe_combine(c, "Mul", &c->in[0], &c->in[0]);
	struct caffe_value mean = caffe_between(c, 4, out->dim);
	struct caffe_value mean_square = caffe_between(c, 4, out->dim);
	struct caffe_value positive = caffe_between(c, 4, out->dim);
	struct caffe_value is_positive = caffe_between(c, 4, out->dim);
	struct caffe_value quotient[2];

	add_pool(c, "AveragePool", &c->in[0], w, pads, &mean);
	add_pool(c, "AveragePool", &square, w, pads, &mean_square);
	caffe_apply(c, "Relu", &mean, 1, &positive);
	caffe_apply(c, "Sign", &positive, 1, &is_positive);
	quotient[0] = caffe_combine(c, "Mul", &mean_square, &is_positive);
	quotient[1] = caffe_by_number(c, "Max", &positive, FLT_MIN);
	caffe_apply(c, "Div", quotient, 2, out);
}

static const struct {
	const char *window, *global;
} pool_nodes[] = {
	[CAFFE__POOLING__POOL_METHOD__MAX] = { "MaxPool", "GlobalMaxPool" },
	[CAFFE__POOLING__POOL_METHOD__AVE] = { "AveragePool", "GlobalAveragePool" },
	[CAFFE__POOLING__POOL_METHOD__STOCHASTIC] = { NULL, NULL },
};

/* Windows as Caffe counts them and the padding that ONNX needs for them. */
static int place_windows(struct caffe *c, const Caffe__Pooling *p, struct caffe_value *in,
			 struct caffe_window *w, s64 pads[4], u32 dim[4])
{
	bool round_up = p->round_mode == CAFFE__POOLING__ROUND_MODE__CEIL && p->ceil_mode;
	int error = pooling_window(c, p, w);
	u32 i;

	memcpy(dim, in->dim, 4 * sizeof(*dim));
	for (i = 0; !error && i < 2; i++)
		error = count_windows(c, w, i, in->dim[2 + i], round_up, &dim[2 + i]);
	if (error)
		return error;
	if (p->pool == CAFFE__POOLING__POOL_METHOD__STOCHASTIC && (w->pad[0] || w->pad[1]))
		return caffe_fail(c, -EINVAL, "stochastic pooling with padding");
	if (p->pool == CAFFE__POOLING__POOL_METHOD__AVE && (w->pad[0] || w->pad[1])) {
		*in = padded(c, w);
		w->pad[0] = w->pad[1] = 0;
	}
	for (i = 0; i < 2; i++) {
		pads[i] = w->pad[i];
		pads[i + 2] = room_behind(w, i, dim[2 + i], in->dim[2 + i], w->pad[i]);
	}
	return 0;
}

int caffe_read_pooling(struct caffe *c)
{
	static const Caffe__Pooling none = CAFFE__POOLING__INIT;
	const Caffe__Pooling *p = c->layer->pooling_param ? c->layer->pooling_param : &none;
	struct caffe_value in = c->in[0], out;
	struct caffe_window w;
	s64 pads[4];
	u32 dim[4];
	int error;

	if (in.rank != 4)
		return caffe_fail(c, -ENOTSUP, "an input of %u dimensions, not 4", in.rank);
	if ((u32)p->pool >= ARRAY_SIZE(pool_nodes))
		return caffe_fail(c, -EINVAL, "pooling of kind %d", p->pool);
	if (p->global_pooling && pool_nodes[p->pool].global)
		return global_pooling(c, p, pool_nodes[p->pool].global);
	if (p->global_pooling)
		return caffe_fail(c, -ENOTSUP, "stochastic pooling of the whole image");
	error = place_windows(c, p, &in, &w, pads, dim);
	if (error)
		return error;
	out = caffe_top(c, 0, 4, dim);
	if (pool_nodes[p->pool].window)
		add_pool(c, pool_nodes[p->pool].window, &in, &w, pads, &out);
	else
		add_stochastic(c, &w, pads, &out);
	return caffe_define(c, 0, &out);
}

/* ---- local response normalisation ---- */

int caffe_read_lrn(struct caffe *c)
{
	static const Caffe__Lrn none = CAFFE__LRN__INIT;
	const Caffe__Lrn *p = c->layer->lrn_param ? c->layer->lrn_param : &none;
	const struct caffe_value *in = &c->in[0];
	struct caffe_value out = caffe_top(c, 0, in->rank, in->dim);
	Onnx__NodeProto *node;

	if (in->rank != 4 || !(p->local_size & 1) || p->local_size > MAX_WINDOW)
		return caffe_fail(c, -EINVAL,
				  "local_size %u of an input of %u dimensions; odd sizes "
				  "and images are possible",
				  p->local_size, in->rank);
	if (p->norm_region == CAFFE__LRN__NORM_REGION__WITHIN_CHANNEL)
		return caffe_read_lrn_within(c, p);
	node = caffe_apply(c, "LRN", in, 1, &out);
	caffe_node_int(c, node, "size", p->local_size);
	caffe_node_float(c, node, "alpha", p->alpha);
	caffe_node_float(c, node, "beta", p->beta);
	caffe_node_float(c, node, "bias", p->k);
	return caffe_define(c, 0, &out);
}
