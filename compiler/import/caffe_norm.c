// SPDX-License-Identifier: MIT
/* Layers that divide by a length or a deviation, made of sums, powers and products. */
#include "caffe.h"

/* Mean over dimensions 2 and up, or 1 and up; these stay as ones. */
static struct caffe_value mean_over(struct caffe *c, const struct caffe_value *in, u32 first,
				    u32 last)
{
	u32 dim[NPU_MAX_RANK], count = 0, i;
	s64 axes[NPU_MAX_RANK];
	struct caffe_value out;
	Onnx__NodeProto *node;

	for (i = 0; i < in->rank; i++) {
		dim[i] = i < first || i >= last ? in->dim[i] : 1;
		if (i >= first && i < last)
			axes[count++] = i;
	}
	out = caffe_between(c, in->rank, dim);
	node = caffe_apply(c, "ReduceMean", in, 1, &out);
	caffe_node_ints(c, node, "axes", axes, count);
	caffe_node_int(c, node, "keepdims", 1);
	return out;
}

/* x * (factor * mean + add) ^ power, as far as mean is broadcast */
static struct caffe_value divided(struct caffe *c, const struct caffe_value *x,
				  const struct caffe_value *mean, float factor, float add,
				  float power)
{
	struct caffe_value y = caffe_by_number(c, "Mul", mean, factor);

	y = caffe_by_number(c, "Add", &y, add);
	y = caffe_by_number(c, "Pow", &y, power);
	return caffe_combine(c, "Mul", x, &y);
}

/* By the length of each pixel's channels, or of the whole image; then scaled. */
int caffe_read_normalize(struct caffe *c)
{
	static const Caffe__Normalize none = CAFFE__NORMALIZE__INIT;
	const Caffe__Normalize *p = c->layer->norm_param ? c->layer->norm_param : &none;
	const struct caffe_value *in = &c->in[0];
	struct caffe_value y;
	const float *scale;
	u32 last;
	int error;

	if (in->rank != 4)
		return caffe_fail(c, -ENOTSUP, "an input of %u dimensions", in->rank);
	last = p->across_spatial ? 4 : 2;
	error = caffe_weights(c, 0, p->channel_shared ? 1 : in->dim[1], 0, 1, &scale);
	if (error)
		return error;
	y = caffe_combine(c, "Mul", in, in);
	y = mean_over(c, &y, 1, last);
	y = divided(c, in, &y, (float)caffe_product(in, 1, last), p->eps, -0.5f);
	if (p->channel_shared)
		y = caffe_by_number(c, "Mul", &y, *scale);
	else
		y = caffe_affine(c, &y, scale, NULL);
	return caffe_define_last(c, &y);
}

/* Each channel, or the whole image, less its mean and by its deviation. */
int caffe_read_mvn(struct caffe *c)
{
	static const Caffe__Mvn none = CAFFE__MVN__INIT;
	const Caffe__Mvn *p = c->layer->mvn_param ? c->layer->mvn_param : &none;
	const struct caffe_value *in = &c->in[0];
	u32 first = p->across_channels ? 1 : 2;
	struct caffe_value mean, y, deviation;

	if (in->rank != 4)
		return caffe_fail(c, -ENOTSUP, "an input of %u dimensions", in->rank);
	mean = mean_over(c, in, first, 4);
	y = caffe_combine(c, "Sub", in, &mean);
	if (!p->normalize_variance)
		return caffe_define_last(c, &y);
	deviation = caffe_combine(c, "Mul", &y, &y);
	deviation = mean_over(c, &deviation, first, 4);
	deviation = caffe_by_number(c, "Pow", &deviation, 0.5f);
	y = divided(c, &y, &deviation, 1, p->eps, -1);
	return caffe_define_last(c, &y);
}

/* By the mean square of a window, which counts the padding: k is not looked at, as in Caffe. */
int caffe_read_lrn_within(struct caffe *c, const Caffe__Lrn *p)
{
	const s64 side = (p->local_size - 1) / 2, size[2] = { p->local_size, p->local_size };
	const s64 pads[4] = { side, side, side, side };
	const struct caffe_value *in = &c->in[0];
	struct caffe_value square = caffe_combine(c, "Mul", in, in);
	struct caffe_value mean = caffe_between(c, 4, in->dim), y;
	Onnx__NodeProto *node = caffe_apply(c, "AveragePool", &square, 1, &mean);

	caffe_node_ints(c, node, "kernel_shape", size, 2);
	caffe_node_ints(c, node, "pads", pads, 4);
	caffe_node_int(c, node, "count_include_pad", 1);
	y = divided(c, in, &mean, p->alpha, 1, -p->beta);
	return caffe_define_last(c, &y);
}
