// SPDX-License-Identifier: MIT
/* Layers that compute element by element, or over one dimension. */
#include "caffe.h"

#include <math.h>

/* A node of one output over all inputs, of the first one's shape. */
static Onnx__NodeProto *add_simple(struct caffe *c, const char *op, int *error)
{
	struct caffe_value out = caffe_top(c, 0, c->in[0].rank, c->in[0].dim);
	Onnx__NodeProto *node = caffe_apply(c, op, c->in, c->in_count, &out);

	*error = caffe_define(c, 0, &out);
	return node;
}

struct caffe_value caffe_combine(struct caffe *c, const char *op, const struct caffe_value *a,
				 const struct caffe_value *b)
{
	struct caffe_value in[2] = { *a, *b }, out = caffe_between(c, a->rank, a->dim);

	caffe_apply(c, op, in, 2, &out);
	return out;
}

struct caffe_value caffe_by_number(struct caffe *c, const char *op, const struct caffe_value *a,
				   float number)
{
	struct caffe_value scalar = { .name = caffe_number(c, number) };

	return caffe_combine(c, op, a, &scalar);
}

/* y * mul + add with the same numbers everywhere. */
static struct caffe_value linear(struct caffe *c, const struct caffe_value *value, float mul,
				 float add)
{
	struct caffe_value result = *value;
	u32 channels = value->rank < 2 ? 1 : value->dim[1], k;
	float *data;

	if (value->rank < 2) {
		if (mul != 1)
			result = caffe_by_number(c, "Mul", &result, mul);
		return add != 0 ? caffe_by_number(c, "Add", &result, add) : result;
	}
	data = caffe_alloc(c, 2 * (u64)channels, sizeof(*data));
	if (!data)
		return result;
	for (k = 0; k < channels; k++) {
		data[k] = mul;
		data[channels + k] = add;
	}
	return caffe_affine(c, value, data, data + channels);
}

int caffe_define_last(struct caffe *c, const struct caffe_value *value)
{
	Onnx__GraphProto *graph = &c->source;
	struct caffe_value out = *value;
	Onnx__NodeProto *last;

	if (c->out_of_memory || value->affine || graph->n_node == c->first_node)
		return caffe_define(c, 0, &out);
	last = graph->node[graph->n_node - 1];
	if (last->n_output == 1 && !strcmp(last->output[0], value->name)) {
		out.name = caffe_top(c, 0, value->rank, value->dim).name;
		last->output[0] = (char *)(uintptr_t)out.name;
	}
	return caffe_define(c, 0, &out);
}

/* ---- normalisation and scales ---- */

int caffe_read_batch_norm(struct caffe *c)
{
	static const Caffe__BatchNorm none = CAFFE__BATCH_NORM__INIT;
	const Caffe__BatchNorm *p = c->layer->batch_norm_param ? c->layer->batch_norm_param : &none;
	const struct caffe_value *in = &c->in[0];
	const float *mean, *variance, *factor, *scale = NULL, *bias = NULL;
	struct caffe_value out;
	u32 channels, k;
	float *mul, *add;
	int error;

	if (in->rank < 2)
		return caffe_fail(c, -ENOTSUP, "an input of %u dimensions", in->rank);
	if (p->has_use_global_stats && !p->use_global_stats)
		return caffe_fail(
			c, -ENOTSUP,
			"use_global_stats: false, which normalises by the images at hand; "
			"networks in use say true, or nothing");
	channels = in->dim[1];
	error = caffe_weights(c, 0, channels, 0, 0, &mean);
	if (!error)
		error = caffe_weights(c, 1, channels, 0, 1, &variance);
	if (!error)
		error = caffe_weights(c, 2, 1, 0, 1, &factor);
	if (!error && p->scale_bias)
		error = caffe_weights(c, 3, channels, 0, 1, &scale);
	if (!error && p->scale_bias)
		error = caffe_weights(c, 4, channels, 0, 0, &bias);
	if (error)
		return error;
	mul = caffe_alloc(c, 2 * (u64)channels, sizeof(*mul));
	if (!mul)
		return -ENOMEM;
	add = mul + channels;
	for (k = 0; k < channels; k++) {
		/* Sums over so many images as @factor says. */
		double f = *factor ? 1.0 / *factor : 0;
		double m = 1 / sqrt((double)variance[k] * f + p->eps);

		m *= scale ? scale[k] : 1;
		mul[k] = (float)m;
		add[k] = (float)(-(double)mean[k] * f * m + (bias ? bias[k] : 0));
	}
	out = caffe_affine(c, in, mul, add);
	return caffe_define(c, 0, &out);
}

/* The dimensions from @axis on that parameters stand for; -1: all that follow. */
static int covered(struct caffe *c, s32 axis, s32 num_axes, u32 *from, u32 *to)
{
	u32 rank = c->in[0].rank;
	int error = num_axes ? caffe_axis(c, axis, rank, from) : 0;

	if (error)
		return error;
	if (!num_axes)
		*from = 0;
	if (num_axes < -1 || num_axes > (s32)(rank - *from))
		return caffe_fail(c, -EINVAL, "num_axes %d from dimension %u of %u", num_axes,
				  *from, rank);
	*to = num_axes < 0 ? rank : *from + (u32)num_axes;
	return 0;
}

/* Parameters for dimensions @from up to @to, multiplied or added. */
static struct caffe_value apply_parameters(struct caffe *c, const struct caffe_value *value,
					   const char *op, u32 from, u32 to, const float *data)
{
	const bool mul = !strcmp(op, "Mul");
	struct caffe_value in[2];
	u32 dim[NPU_MAX_RANK], i;

	if (from == to)
		return linear(c, value, mul ? data[0] : 1, mul ? 0 : data[0]);
	if (from == 1 && to == 2)
		return caffe_affine(c, value, mul ? data : NULL, mul ? NULL : data);
	for (i = 0; i < value->rank; i++)
		dim[i] = i >= from && i < to ? value->dim[i] : 1;
	in[0] = caffe_settled(c, value);
	in[1].name = caffe_constant(c, value->rank, dim, data);
	return caffe_combine(c, op, &in[0], &in[1]);
}

/* The second input's dimensions as those of the first from @axis on, 1 elsewhere. */
static int as_broadcast(struct caffe *c, s32 axis, struct caffe_value *other)
{
	const struct caffe_value *in = &c->in[0];
	u32 dim[NPU_MAX_RANK], from = 0, i;
	int error = other->rank ? caffe_axis(c, axis, in->rank, &from) : 0;

	if (!error && other->rank > in->rank - from)
		error = caffe_fail(c, -EINVAL, "%u dimensions from dimension %u of %u", other->rank,
				   from, in->rank);
	for (i = 0; !error && i < other->rank; i++)
		if (other->dim[i] != in->dim[from + i])
			error = caffe_fail(c, -EINVAL, "dimension %u is %u and %u", from + i,
					   in->dim[from + i], other->dim[i]);
	if (error || other->rank == in->rank)
		return error;
	for (i = 0; i < in->rank; i++)
		dim[i] = i >= from && i < from + other->rank ? other->dim[i - from] : 1;
	*other = caffe_reshaped(c, other, in->rank, dim);
	return 0;
}

/* Scale and Bias of two inputs. */
static int by_second_input(struct caffe *c, const char *op, s32 axis, struct caffe_value *out)
{
	struct caffe_value first = caffe_settled(c, &c->in[0]);
	struct caffe_value other = caffe_settled(c, &c->in[1]);
	int error = as_broadcast(c, axis, &other);

	if (!error)
		*out = caffe_combine(c, op, &first, &other);
	return error;
}

int caffe_read_scale(struct caffe *c)
{
	static const Caffe__Scale none = CAFFE__SCALE__INIT;
	const Caffe__Scale *p = c->layer->scale_param ? c->layer->scale_param : &none;
	const struct caffe_value *in = &c->in[0];
	struct caffe_value out = *in;
	bool two = c->in_count == 2;
	u32 from = 0, to = 0;
	const float *data;
	int error = covered(c, p->axis, two ? (s32)c->in[1].rank : p->num_axes, &from, &to);

	if (!error && two)
		error = by_second_input(c, "Mul", p->axis, &out);
	if (!error && !two)
		error = caffe_weights(c, 0, caffe_product(in, from, to), 0, 1, &data);
	if (error)
		return error;
	if (!two)
		out = apply_parameters(c, &out, "Mul", from, to, data);
	if (p->bias_term) {
		error = caffe_weights(c, !two, caffe_product(in, from, to), 0, 0, &data);
		if (error)
			return error;
		out = apply_parameters(c, &out, "Add", from, to, data);
	}
	return caffe_define_last(c, &out);
}

int caffe_read_bias(struct caffe *c)
{
	static const Caffe__Bias none = CAFFE__BIAS__INIT;
	const Caffe__Bias *p = c->layer->bias_param ? c->layer->bias_param : &none;
	const struct caffe_value *in = &c->in[0];
	struct caffe_value out = *in;
	u32 from = 0, to = 0;
	const float *data;
	int error;

	if (c->in_count == 2) {
		error = by_second_input(c, "Add", p->axis, &out);
		return error ? error : caffe_define_last(c, &out);
	}
	error = covered(c, p->axis, p->num_axes, &from, &to);
	if (!error)
		error = caffe_weights(c, 0, caffe_product(in, from, to), 0, 0, &data);
	if (error)
		return error;
	out = apply_parameters(c, &out, "Add", from, to, data);
	return caffe_define_last(c, &out);
}

/* Of squeeze-and-excitation networks: a factor for each channel, what it scales, what is added. */
int caffe_read_axpy(struct caffe *c)
{
	struct caffe_value factor = c->in[0], out;
	const struct caffe_value *x = &c->in[1];
	u32 dim[4] = { x->dim[0], x->dim[1], 1, 1 };

	if (x->rank != 4 || caffe_elements(&factor) != (u64)x->dim[0] * x->dim[1] ||
	    caffe_elements(&c->in[2]) != caffe_elements(x))
		return caffe_fail(c, -EINVAL,
				  "needs a factor for each channel of an image, and a "
				  "second image");
	if (factor.rank != 4)
		factor = caffe_reshaped(c, &factor, 4, dim);
	out = caffe_combine(c, "Mul", x, &factor);
	out = caffe_combine(c, "Add", &out, &c->in[2]);
	return caffe_define_last(c, &out);
}

/* ---- several inputs ---- */

static bool same_shape(const struct caffe_value *a, const struct caffe_value *b)
{
	return a->rank == b->rank && !memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0]));
}

int caffe_read_eltwise(struct caffe *c)
{
	static const char *const ops[] = { "Mul", "Add", "Max" };
	static const Caffe__Eltwise none = CAFFE__ELTWISE__INIT;
	const Caffe__Eltwise *p = c->layer->eltwise_param ? c->layer->eltwise_param : &none;
	struct caffe_value out = c->in[0];
	u32 i;

	if (p->n_coeff &&
	    (p->operation != CAFFE__ELTWISE__OPERATION__SUM || p->n_coeff != c->in_count))
		return caffe_fail(c, -EINVAL,
				  "%zu coefficients for %u inputs; sums alone have them",
				  p->n_coeff, c->in_count);
	for (i = 0; i < c->in_count; i++) {
		struct caffe_value term = c->in[i];
		float coefficient = p->n_coeff ? p->coeff[i] : 1;
		const char *op = ops[p->operation];

		if (!same_shape(&term, &c->in[0]))
			return caffe_fail(c, -EINVAL, "input %u has another shape than input 0", i);
		if (i && coefficient == -1) {
			coefficient = 1;
			op = "Sub";
		}
		if (coefficient != 1)
			term = caffe_by_number(c, "Mul", &term, coefficient);
		out = i ? caffe_combine(c, op, &out, &term) : term;
	}
	return caffe_define_last(c, &out);
}

/* ---- activations ---- */

int caffe_read_relu(struct caffe *c)
{
	float slope = c->layer->relu_param ? c->layer->relu_param->negative_slope : 0;
	int error;
	Onnx__NodeProto *node = add_simple(c, slope != 0 ? "LeakyRelu" : "Relu", &error);

	if (slope != 0)
		caffe_node_float(c, node, "alpha", slope);
	return error;
}

int caffe_read_relu6(struct caffe *c)
{
	int error;
	Onnx__NodeProto *node = add_simple(c, "Clip", &error);

	caffe_node_float(c, node, "min", 0);
	caffe_node_float(c, node, "max", 6);
	return error;
}

int caffe_read_prelu(struct caffe *c)
{
	const Caffe__PRelu *p = c->layer->prelu_param;
	struct caffe_value in = c->in[0];
	u32 channels = in.rank < 2 || (p && p->channel_shared) ? 1 : in.dim[1],
	    dim[4] = { 1, 1, 1, 1 };
	const float *slope;
	Onnx__NodeProto *node;
	int error;

	/* One slope may be stored for a layer with channels, too. */
	if (caffe_weight_count(c, 0, channels) == 1)
		channels = 1;
	error = caffe_weights(c, 0, channels, 0, 0.25f, &slope);
	if (error)
		return error;
	if (in.rank > 4)
		return caffe_fail(c, -ENOTSUP, "an input of %u dimensions", in.rank);
	dim[in.rank < 2 ? 0 : 1] = channels;
	node = add_simple(c, "PRelu", &error);
	caffe_node_input(c, node, caffe_constant(c, max(in.rank, 1u), dim, slope));
	return error;
}

int caffe_read_elu(struct caffe *c)
{
	int error;
	Onnx__NodeProto *node = add_simple(c, "Elu", &error);

	caffe_node_float(c, node, "alpha", c->layer->elu_param ? c->layer->elu_param->alpha : 1);
	return error;
}

int caffe_read_unary(struct caffe *c)
{
	static const struct {
		const char *type, *op;
	} ops[] = {
		{ "Sigmoid", "Sigmoid" },
		{ "TanH", "Tanh" },
		{ "AbsVal", "Abs" },
		{ "BNLL", "Softplus" },
	};
	u32 i = 0;
	int error;

	while (strcmp(ops[i].type, c->row->name))
		i++;
	add_simple(c, ops[i].op, &error);
	return error;
}

/* (shift + scale * x) ^ power */
int caffe_read_power(struct caffe *c)
{
	static const Caffe__Power none = CAFFE__POWER__INIT;
	const Caffe__Power *p = c->layer->power_param ? c->layer->power_param : &none;
	struct caffe_value y = linear(c, &c->in[0], p->scale, p->shift), out;

	if (p->power == 1)
		return caffe_define_last(c, &y);
	out = y = caffe_settled(c, &y);
	if (p->power == 2 || p->power == 3)
		out = caffe_combine(c, "Mul", &y, &y);
	if (p->power == 3)
		out = caffe_combine(c, "Mul", &out, &y);
	if (p->power == 0.5f) {
		out = caffe_between(c, y.rank, y.dim);
		caffe_apply(c, "Sqrt", &y, 1, &out);
	} else if (p->power != 2 && p->power != 3) {
		out = caffe_by_number(c, "Pow", &y, p->power);
	}
	return caffe_define_last(c, &out);
}

static int check_base(struct caffe *c, const Caffe__Exponential *p, float *log_base)
{
	*log_base = p->base_ == -1 ? 1 : logf(p->base_);
	if (!isfinite(*log_base) || *log_base == 0)
		return caffe_fail(c, -EINVAL, "base %g", (double)p->base_);
	return 0;
}

/* base ^ (shift + scale * x) */
int caffe_read_exp(struct caffe *c)
{
	static const Caffe__Exponential none = CAFFE__EXPONENTIAL__INIT;
	const Caffe__Exponential *p = c->layer->exp_param ? c->layer->exp_param : &none;
	struct caffe_value y, out;
	float log_base;
	int error = check_base(c, p, &log_base);

	if (error)
		return error;
	y = linear(c, &c->in[0], p->scale * log_base, p->shift * log_base);
	y = caffe_settled(c, &y);
	out = caffe_top(c, 0, y.rank, y.dim);
	caffe_apply(c, "Exp", &y, 1, &out);
	return caffe_define(c, 0, &out);
}

/* log(shift + scale * x) to a base */
int caffe_read_log(struct caffe *c)
{
	static const Caffe__Exponential none = CAFFE__EXPONENTIAL__INIT;
	const Caffe__Exponential *p = c->layer->log_param ? c->layer->log_param : &none;
	struct caffe_value y, out;
	float log_base;
	int error = check_base(c, p, &log_base);

	if (error)
		return error;
	y = linear(c, &c->in[0], p->scale, p->shift);
	y = caffe_settled(c, &y);
	out = caffe_between(c, y.rank, y.dim);
	caffe_apply(c, "Log", &y, 1, &out);
	if (log_base != 1)
		out = caffe_by_number(c, "Mul", &out, 1 / log_base);
	return caffe_define_last(c, &out);
}

/* ---- over one dimension ---- */

int caffe_read_softmax(struct caffe *c)
{
	const Caffe__Softmax *p = c->layer->softmax_param;
	Onnx__NodeProto *node;
	u32 axis;
	int error = caffe_axis(c, p ? p->axis : 1, c->in[0].rank, &axis);

	if (error)
		return error;
	node = add_simple(c, "Softmax", &error);
	caffe_node_int(c, node, "axis", axis);
	return error;
}

/* Of one dimension, or of all but the first; the indices are integers here, not float32. */
int caffe_read_argmax(struct caffe *c)
{
	static const Caffe__ArgMax none = CAFFE__ARG_MAX__INIT;
	const Caffe__ArgMax *p = c->layer->argmax_param ? c->layer->argmax_param : &none;
	const struct caffe_value *in = &c->in[0];
	u32 dim[NPU_MAX_RANK], axis = 1, rank = in->rank;
	struct caffe_value from = *in, out;
	Onnx__NodeProto *node;
	int error = p->has_axis ? caffe_axis(c, p->axis, rank, &axis) : 0;

	if (error)
		return error;
	if (p->top_k != 1 || p->out_max_val)
		return caffe_fail(c, -ENOTSUP, "top_k %u%s", p->top_k,
				  p->out_max_val ? " with values" : "");
	memcpy(dim, in->dim, sizeof(dim));
	if (!p->has_axis) {
		rank = 3;
		dim[1] = 1;
		dim[2] = (u32)caffe_product(in, 1, in->rank);
		from = caffe_reshaped(c, in, rank, dim);
		axis = 2;
	}
	dim[axis] = 1;
	out = caffe_top(c, 0, rank, dim);
	node = caffe_apply(c, "ArgMax", &from, 1, &out);
	caffe_node_int(c, node, "axis", axis);
	caffe_node_int(c, node, "keepdims", 1);
	return caffe_define(c, 0, &out);
}

/* Over all dimensions from one on: as a mean, times their elements for sums. */
int caffe_read_reduction(struct caffe *c)
{
	static const Caffe__Reduction none = CAFFE__REDUCTION__INIT;
	const Caffe__Reduction *p = c->layer->reduction_param ? c->layer->reduction_param : &none;
	struct caffe_value from = c->in[0], flat, mean, out;
	float coefficient = p->coeff;
	Onnx__NodeProto *node;
	u32 axis, dim[2];
	int error = caffe_axis(c, p->axis, from.rank, &axis);

	if (error)
		return error;
	if (p->operation == CAFFE__REDUCTION__OPERATION__SUMSQ)
		from = caffe_combine(c, "Mul", &from, &from);
	if (p->operation == CAFFE__REDUCTION__OPERATION__ASUM) {
		flat = caffe_between(c, from.rank, from.dim);
		caffe_apply(c, "Abs", &from, 1, &flat);
		from = flat;
	}
	dim[0] = (u32)caffe_product(&from, 0, axis);
	dim[1] = (u32)caffe_product(&from, axis, from.rank);
	if (p->operation != CAFFE__REDUCTION__OPERATION__MEAN)
		coefficient *= (float)dim[1];
	flat = caffe_reshaped(c, &from, 2, dim);
	mean = caffe_between(c, 1, dim);
	node = caffe_apply(c, "ReduceMean", &flat, 1, &mean);
	caffe_node_ints(c, node, "axes", (const s64[]){ 1 }, 1);
	caffe_node_int(c, node, "keepdims", 0);
	if (coefficient != 1)
		mean = caffe_by_number(c, "Mul", &mean, coefficient);
	out = caffe_top(c, 0, axis, c->in[0].dim);
	caffe_reshape(c, &mean, &out);
	return caffe_define(c, 0, &out);
}
