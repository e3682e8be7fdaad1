// SPDX-License-Identifier: MIT
/* Layers with weights that are sums of products. */
#include "caffe.h"

struct convolution {
	const Caffe__Convolution *p;
	struct caffe_window w;
	u32 groups, kernels;
};

static int read_parameters(struct caffe *c, struct convolution *conv)
{
	static const Caffe__Convolution none = CAFFE__CONVOLUTION__INIT;
	const struct caffe_value *in = &c->in[0];
	u32 axis;
	int error;

	conv->p = c->layer->convolution_param ? c->layer->convolution_param : &none;
	error = caffe_axis(c, conv->p->axis, in->rank, &axis);
	if (error)
		return error;
	if (in->rank != 4 || axis != 1)
		return caffe_fail(c, -ENOTSUP,
				  "an input of %u dimensions, channels in number %u; "
				  "images have four, channels in number 1",
				  in->rank, axis);
	conv->kernels = conv->p->num_output;
	if (!conv->groups)
		conv->groups = conv->p->group;
	if (!conv->groups || !conv->kernels || in->dim[1] % conv->groups ||
	    conv->kernels % conv->groups)
		return caffe_fail(c, -EINVAL, "%u kernels in %u groups over %u channels",
				  conv->kernels, conv->groups, in->dim[1]);
	return caffe_convolution_window(c, conv->p, &conv->w);
}

/* Inputs of the node: the image, weights of shape @dim, one bias for each kernel. */
static int add_weights(struct caffe *c, const struct convolution *conv, const u32 *dim, u64 fan,
		       Onnx__NodeProto *node)
{
	u64 count = (u64)dim[0] * dim[1], area = (u64)dim[2] * dim[3];
	const float *data;
	int error;

	if (check_mul_overflow(count, area, &count))
		return caffe_fail(c, -ENOTSUP, "too many weights");
	error = caffe_weights(c, 0, count, fan, 0, &data);
	if (error)
		return error;
	caffe_node_input(c, node, caffe_constant(c, 4, dim, data));
	if (!conv->p->bias_term)
		return 0;
	error = caffe_weights(c, 1, conv->kernels, 0, 0, &data);
	if (!error)
		caffe_node_input(c, node, caffe_constant(c, 1, &conv->kernels, data));
	return error;
}

static void add_window(struct caffe *c, const struct convolution *conv, Onnx__NodeProto *node)
{
	const struct caffe_window *w = &conv->w;

	caffe_node_ints(c, node, "kernel_shape", (const s64[]){ w->kernel[0], w->kernel[1] }, 2);
	caffe_node_ints(c, node, "strides", (const s64[]){ w->stride[0], w->stride[1] }, 2);
	caffe_node_ints(c, node, "pads",
			(const s64[]){ w->pad[0], w->pad[1], w->pad[0], w->pad[1] }, 4);
	caffe_node_ints(c, node, "dilations", (const s64[]){ w->dilation[0], w->dilation[1] }, 2);
	caffe_node_int(c, node, "group", conv->groups);
}

static int read_convolution(struct caffe *c, struct convolution *conv)
{
	const struct caffe_value *in = &c->in[0];
	u32 dim[4], weights[4], i;
	struct caffe_value out;
	Onnx__NodeProto *node;
	int error = read_parameters(c, conv);

	if (error)
		return error;
	dim[0] = in->dim[0];
	dim[1] = conv->kernels;
	for (i = 0; i < 2; i++) {
		s64 room = (s64)in->dim[2 + i] + 2 * (s64)conv->w.pad[i] -
			   (s64)npu_dilated(conv->w.kernel[i], conv->w.dilation[i]);

		if (room < 0)
			return caffe_fail(c, -EINVAL,
					  "a kernel of %u over %u elements with a padding "
					  "of %u",
					  conv->w.kernel[i], in->dim[2 + i], conv->w.pad[i]);
		dim[2 + i] = (u32)(room / conv->w.stride[i]) + 1;
	}
	weights[0] = conv->kernels;
	weights[1] = in->dim[1] / conv->groups;
	weights[2] = conv->w.kernel[0];
	weights[3] = conv->w.kernel[1];
	out = caffe_top(c, 0, 4, dim);
	node = caffe_apply(c, "Conv", in, 1, &out);
	add_window(c, conv, node);
	error = add_weights(c, conv, weights, (u64)weights[1] * weights[2] * weights[3], node);
	return error ? error : caffe_define(c, 0, &out);
}

int caffe_read_convolution(struct caffe *c)
{
	struct convolution conv = { 0 };

	return read_convolution(c, &conv);
}

/* Of forks: a group for each channel, whatever is said about groups. */
int caffe_read_depthwise(struct caffe *c)
{
	struct convolution conv = { .groups = c->in[0].rank == 4 ? c->in[0].dim[1] : 0 };

	return read_convolution(c, &conv);
}

int caffe_read_deconvolution(struct caffe *c)
{
	const struct caffe_value *in = &c->in[0];
	struct convolution conv = { 0 };
	u32 dim[4], weights[4], i;
	struct caffe_value out;
	Onnx__NodeProto *node;
	int error = read_parameters(c, &conv);

	if (error)
		return error;
	dim[0] = in->dim[0];
	dim[1] = conv.kernels;
	for (i = 0; i < 2; i++) {
		s64 size = (s64)(in->dim[2 + i] - 1) * conv.w.stride[i] +
			   (s64)npu_dilated(conv.w.kernel[i], conv.w.dilation[i]) -
			   2 * (s64)conv.w.pad[i];

		if (size < 1 || size > INT32_MAX)
			return caffe_fail(c, -EINVAL, "%u elements become %lld", in->dim[2 + i],
					  (long long)size);
		dim[2 + i] = (u32)size;
	}
	weights[0] = in->dim[1];
	weights[1] = conv.kernels / conv.groups;
	weights[2] = conv.w.kernel[0];
	weights[3] = conv.w.kernel[1];
	out = caffe_top(c, 0, 4, dim);
	node = caffe_apply(c, "ConvTranspose", in, 1, &out);
	add_window(c, &conv, node);
	error = add_weights(c, &conv, weights,
			    (u64)weights[0] / conv.groups * weights[2] * weights[3], node);
	return error ? error : caffe_define(c, 0, &out);
}

/* ---- inner product ---- */

struct product {
	const Caffe__InnerProduct *p;
	u32 axis, rows, columns, kernels;
	const float *weights; /* [kernels][columns] */
};

/* Rows as Caffe has them: one for each output, or one for each input. */
static int take_weights(struct caffe *c, struct product *product)
{
	u64 count = (u64)product->kernels * product->columns;
	const float *data;
	float *turned;
	u32 k, i;
	int error = caffe_weights(c, 0, count, product->columns, 0, &data);

	if (error)
		return error;
	product->weights = data;
	if (!product->p->transpose)
		return 0;
	turned = caffe_alloc(c, count, sizeof(*turned));
	if (!turned)
		return -ENOMEM;
	for (k = 0; k < product->kernels; k++)
		for (i = 0; i < product->columns; i++)
			turned[(u64)k * product->columns + i] = data[(u64)i * product->kernels + k];
	product->weights = turned;
	return 0;
}

/* Columns in the order height, width, channel: that of images in the graph. */
static int reorder_columns(struct caffe *c, struct product *product)
{
	const u32 *dim = c->in[0].dim;
	u32 channels = dim[1], area = dim[2] * dim[3], k, ch, at;
	float *moved = caffe_alloc(c, (u64)product->kernels * product->columns, sizeof(*moved));

	if (!moved)
		return -ENOMEM;
	for (k = 0; k < product->kernels; k++) {
		const float *from = product->weights + (u64)k * product->columns;
		float *to = moved + (u64)k * product->columns;

		for (ch = 0; ch < channels; ch++)
			for (at = 0; at < area; at++)
				to[(u64)at * channels + ch] = from[(u64)ch * area + at];
	}
	product->weights = moved;
	return 0;
}

/* The input as rows; an image is read as it lies in memory, its weights follow. */
static int make_rows(struct caffe *c, struct product *product, struct caffe_value *rows)
{
	const s64 order[] = { 0, 2, 3, 1 };
	const struct caffe_value *in = &c->in[0];
	const u32 shape[2] = { product->rows, product->columns };
	bool image = in->rank == 4 && product->axis == 1 && (in->dim[2] != 1 || in->dim[3] != 1);
	struct caffe_value turned;
	u32 dim[4], i;

	*rows = *in;
	if (in->rank == 2 && product->axis == 1)
		return 0;
	if (!image) {
		*rows = caffe_reshaped(c, in, 2, shape);
		return 0;
	}
	for (i = 0; i < 4; i++)
		dim[i] = in->dim[order[i]];
	turned = caffe_between(c, 4, dim);
	caffe_node_ints(c, caffe_apply(c, "Transpose", in, 1, &turned), "perm", order, 4);
	*rows = caffe_reshaped(c, &turned, 2, shape);
	return reorder_columns(c, product);
}

static int add_product(struct caffe *c, struct product *product, const struct caffe_value *rows,
		       const struct caffe_value *out)
{
	Onnx__NodeProto *node = caffe_apply(c, "Gemm", rows, 1, out);
	const u32 dim[2] = { product->kernels, product->columns };
	const float *bias;
	int error;

	caffe_node_int(c, node, "transB", 1);
	caffe_node_input(c, node, caffe_constant(c, 2, dim, product->weights));
	if (!product->p->bias_term)
		return 0;
	error = caffe_weights(c, 1, product->kernels, 0, 0, &bias);
	if (!error)
		caffe_node_input(c, node, caffe_constant(c, 1, &product->kernels, bias));
	return error;
}

int caffe_read_inner_product(struct caffe *c)
{
	static const Caffe__InnerProduct none = CAFFE__INNER_PRODUCT__INIT;
	const struct caffe_value *in = &c->in[0];
	struct product product = { .p = c->layer->inner_product_param };
	struct caffe_value rows, out, product_out;
	u32 dim[NPU_MAX_RANK];
	int error;

	if (!product.p)
		product.p = &none;
	error = caffe_axis(c, product.p->axis, in->rank, &product.axis);
	if (!error && (!product.p->num_output || product.p->num_output > INT32_MAX))
		error = caffe_fail(c, -EINVAL, "num_output is %u", product.p->num_output);
	if (error)
		return error;
	product.rows = (u32)caffe_product(in, 0, product.axis);
	product.columns = (u32)caffe_product(in, product.axis, in->rank);
	product.kernels = product.p->num_output;
	memcpy(dim, in->dim, product.axis * sizeof(*dim));
	dim[product.axis] = product.kernels;
	out = product_out = caffe_top(c, 0, product.axis + 1, dim);
	if (product.axis != 1)
		product_out = caffe_between(c, 2, (const u32[]){ product.rows, product.kernels });
	error = take_weights(c, &product);
	if (!error)
		error = make_rows(c, &product, &rows);
	if (!error)
		error = add_product(c, &product, &rows, &product_out);
	if (error)
		return error;
	if (product.axis != 1)
		caffe_reshape(c, &product_out, &out);
	return caffe_define(c, 0, &out);
}
