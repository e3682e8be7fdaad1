// SPDX-License-Identifier: MIT
/*
 * A network of each of Caffe's layers, as text and weights, against a plain computation in Caffe's own
 * order of dimensions; with a directory as argument it writes the networks there instead (the
 * fuzzer's corpus: tests/fuzz/corpus/caffe).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../compiler/import/caffe.h"
#include "../common/tap.h"
#include "graph.h"
#include "reference.h"

/* The input that all networks have. */
#define C 4
#define H 6
#define W 7
#define X "input: \"x\" input_shape { dim: 1 dim: 4 dim: 6 dim: 7 } "
#define LAYER(type, more) \
	"layer { name: \"l\" type: \"" type "\" bottom: \"x\" top: \"y\" " more " }"

static float input_value(u32 input, u64 i)
{
	return (float)((s32)((i * 37 + input * 11) % 127) - 63) / 64;
}

/* Weight @i of blob @blob. */
static float weight(u32 blob, u64 i)
{
	return (float)((s32)((i * 23 + blob * 7) % 31) - 15) / 16;
}

/* Of statistics, which are positive. */
static float positive(u32 blob, u64 i)
{
	return 0.5f + fabsf(weight(blob, i));
}

static float x_at(u32 c, s64 h, s64 w)
{
	return h < 0 || h >= H || w < 0 || w >= W ? 0 : input_value(0, (c * H + h) * W + w);
}

/* ---- what comes out, layer by layer; results in NCHW, as many as are returned ---- */

struct window {
	u32 k[2], s[2], p[2], d[2];
};

/* Sums over a window at @h, @w of the input's channels of one group. */
static float convolve(const struct window *n, u32 channels, u32 first, u32 k, s64 h, s64 w)
{
	float sum = 0;
	u32 c, r, s;

	for (c = 0; c < channels; c++)
		for (r = 0; r < n->k[0]; r++)
			for (s = 0; s < n->k[1]; s++)
				sum += x_at(first + c, h + r * n->d[0], w + s * n->d[1]) *
				       weight(0, ((k * channels + c) * n->k[0] + r) * n->k[1] + s);
	return sum;
}

static u32 steps(const struct window *n, u32 i, u32 size)
{
	return (size + 2 * n->p[i] - ((n->k[i] - 1) * n->d[i] + 1)) / n->s[i] + 1;
}

static u32 convolution(const struct window *n, u32 kernels, u32 groups, bool bias, float *y)
{
	u32 oh = steps(n, 0, H), ow = steps(n, 1, W), per = C / groups, k, h, w, i = 0;

	for (k = 0; k < kernels; k++)
		for (h = 0; h < oh; h++)
			for (w = 0; w < ow; w++)
				y[i++] = convolve(n, per, k / (kernels / groups) * per, k,
						  (s64)h * n->s[0] - n->p[0],
						  (s64)w * n->s[1] - n->p[1]) +
					 (bias ? weight(1, k) : 0);
	return i;
}

static u32 y_conv(float *y)
{
	return convolution(&(struct window){ { 3, 2 }, { 2, 1 }, { 1, 2 }, { 1, 2 } }, 6, 1, true,
			   y);
}

static u32 y_conv_grouped(float *y)
{
	return convolution(&(struct window){ { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 } }, 6, 2, false,
			   y);
}

static u32 y_depthwise(float *y)
{
	return convolution(&(struct window){ { 3, 3 }, { 2, 2 }, { 0, 0 }, { 1, 1 } }, 4, 4, true,
			   y);
}

/* By scattering each input element. */
static u32 deconvolution(const struct window *n, u32 kernels, u32 groups, bool bias, float *y)
{
	u32 oh = (H - 1) * n->s[0] + (n->k[0] - 1) * n->d[0] + 1 - 2 * n->p[0];
	u32 ow = (W - 1) * n->s[1] + (n->k[1] - 1) * n->d[1] + 1 - 2 * n->p[1];
	u32 per = kernels / groups, c, k, h, w, r, s;

	for (k = 0; k < kernels * oh * ow; k++)
		y[k] = bias ? weight(1, k / (oh * ow)) : 0;
	for (c = 0; c < C; c++)
		for (k = 0; k < per; k++)
			for (h = 0; h < H; h++)
				for (w = 0; w < W; w++)
					for (r = 0; r < n->k[0]; r++)
						for (s = 0; s < n->k[1]; s++) {
							s64 at = h * n->s[0] + r * n->d[0] -
								 (s64)n->p[0];
							s64 to = w * n->s[1] + s * n->d[1] -
								 (s64)n->p[1];
							u32 out = c / (C / groups) * per + k;

							if (at < 0 || at >= oh || to < 0 ||
							    to >= ow)
								continue;
							y[(out * oh + at) * ow + to] +=
								x_at(c, h, w) *
								weight(0, ((c * per + k) * n->k[0] +
									   r) * n->k[1] +
										  s);
						}
	return kernels * oh * ow;
}

static u32 y_deconv(float *y)
{
	return deconvolution(&(struct window){ { 3, 2 }, { 2, 2 }, { 1, 0 }, { 1, 3 } }, 3, 1, true,
			     y);
}

static u32 y_upsampling(float *y)
{
	return deconvolution(&(struct window){ { 4, 4 }, { 2, 2 }, { 1, 1 }, { 1, 1 } }, 4, 4,
			     false, y);
}

static u32 y_deconv_grouped(float *y)
{
	return deconvolution(&(struct window){ { 2, 2 }, { 2, 2 }, { 0, 0 }, { 2, 1 } }, 6, 2, true,
			     y);
}

/* @rows of the input by 5 kernels. */
static u32 product(u32 rows, bool transposed, float *y)
{
	u32 columns = C * H * W / rows, r, k, i;

	for (r = 0; r < rows; r++)
		for (k = 0; k < 5; k++) {
			y[r * 5 + k] = weight(1, k);
			for (i = 0; i < columns; i++)
				y[r * 5 + k] += input_value(0, r * columns + i) *
						weight(0, transposed ? i * 5 + k : k * columns + i);
		}
	return rows * 5;
}

static u32 y_ip(float *y)
{
	return product(1, false, y);
}

static u32 y_ip_transposed(float *y)
{
	return product(1, true, y);
}

static u32 y_ip_last(float *y)
{
	return product(C * H, false, y);
}

struct pooling {
	bool max;
	u32 k, s, p, oh, ow;
};

static float pool_window(const struct pooling *n, u32 c, u32 oh, u32 ow)
{
	s64 h0 = (s64)oh * n->s - n->p, w0 = (s64)ow * n->s - n->p, h, w;
	s64 h1 = min(h0 + n->k, (s64)H + n->p), w1 = min(w0 + n->k, (s64)W + n->p);
	float sum = 0, most = -INFINITY;

	for (h = max(h0, (s64)0); h < min(h1, (s64)H); h++)
		for (w = max(w0, (s64)0); w < min(w1, (s64)W); w++) {
			sum += x_at(c, h, w);
			most = fmaxf(most, x_at(c, h, w));
		}
	return n->max ? most : sum / (float)((h1 - h0) * (w1 - w0));
}

static u32 pool(const struct pooling *n, float *y)
{
	u32 c, h, w, i = 0;

	for (c = 0; c < C; c++)
		for (h = 0; h < n->oh; h++)
			for (w = 0; w < n->ow; w++)
				y[i++] = pool_window(n, c, h, w);
	return i;
}

static u32 y_max(float *y)
{
	return pool(&(struct pooling){ true, 2, 2, 0, 3, 4 }, y);
}

static u32 y_max_padded(float *y)
{
	return pool(&(struct pooling){ true, 3, 2, 1, 4, 4 }, y);
}

static u32 y_max_floor(float *y)
{
	return pool(&(struct pooling){ true, 2, 2, 0, 3, 3 }, y);
}

static u32 y_average(float *y)
{
	return pool(&(struct pooling){ false, 3, 2, 0, 3, 3 }, y);
}

static u32 y_average_padded(float *y)
{
	return pool(&(struct pooling){ false, 3, 2, 1, 4, 4 }, y);
}

/* Each element by its share of the window's sum, where that is positive. */
static u32 y_stochastic(float *y)
{
	u32 c, h, w, r, s, i = 0;

	for (c = 0; c < C; c++)
		for (h = 0; h < 3; h++)
			for (w = 0; w < 3; w++) {
				double sum = 0, squares = 0;

				for (r = 2 * h; r < 2 * h + 3 && r < H; r++)
					for (s = 2 * w; s < 2 * w + 3 && s < W; s++) {
						sum += (double)x_at(c, r, s);
						squares += pow((double)x_at(c, r, s), 2);
					}
				y[i++] = sum > 0 ? (float)(squares / sum) : 0;
			}
	return i;
}

/* The window that would begin in the padding behind the image is left out. */
static u32 y_clipped(float *y)
{
	return pool(&(struct pooling){ true, 2, 3, 1, 3, 3 }, y);
}

static u32 global_pool(bool max_pool, float *y)
{
	u32 c, i;

	for (c = 0; c < C; c++) {
		y[c] = max_pool ? -INFINITY : 0;
		for (i = 0; i < H * W; i++) {
			float v = input_value(0, c * H * W + i);

			y[c] = max_pool ? fmaxf(y[c], v) : y[c] + v / (H * W);
		}
	}
	return C;
}

static u32 y_global_average(float *y)
{
	return global_pool(false, y);
}

static u32 y_global_max(float *y)
{
	return global_pool(true, y);
}

static u32 y_lrn(float *y)
{
	u32 c, i;
	s64 o;

	for (c = 0; c < C; c++)
		for (i = 0; i < H * W; i++) {
			float sum = 0;

			for (o = (s64)c - 1; o <= (s64)c + 1; o++)
				if (o >= 0 && o < C)
					sum += powf(input_value(0, o * H * W + i), 2);
			y[c * H * W + i] =
				input_value(0, c * H * W + i) * powf(2 + 0.5f / 3 * sum, -0.75f);
		}
	return C * H * W;
}

/* Mean square of 3 x 3 with zeros around. */
static u32 y_lrn_within(float *y)
{
	u32 c, h, w, i = 0;
	s64 r, s;

	for (c = 0; c < C; c++)
		for (h = 0; h < H; h++)
			for (w = 0; w < W; w++) {
				float sum = 0;

				for (r = -1; r <= 1; r++)
					for (s = -1; s <= 1; s++)
						sum += powf(x_at(c, h + r, w + s), 2);
				y[i++] = x_at(c, h, w) * powf(1 + 0.5f * sum / 9, -0.75f);
			}
	return i;
}

/* Sum of squares of the channels at @at, or of the whole image. */
static float length(bool all, u32 at)
{
	float sum = 0;
	u32 i;

	for (i = 0; i < C * H * W; i++)
		if (all || i % (H * W) == at)
			sum += powf(input_value(0, i), 2);
	return sqrtf(sum + 1e-10f);
}

static u32 y_normalize(float *y)
{
	u32 i;

	for (i = 0; i < C * H * W; i++)
		y[i] = input_value(0, i) / length(false, i % (H * W)) * weight(0, i / (H * W));
	return C * H * W;
}

static u32 y_normalize_all(float *y)
{
	u32 i;

	for (i = 0; i < C * H * W; i++)
		y[i] = input_value(0, i) / length(true, 0) * weight(0, 0);
	return C * H * W;
}

static u32 y_mvn(float *y)
{
	u32 c, i;

	for (c = 0; c < C; c++) {
		float mean = 0, variance = 0;

		for (i = 0; i < H * W; i++)
			mean += input_value(0, c * H * W + i) / (H * W);
		for (i = 0; i < H * W; i++)
			variance += powf(input_value(0, c * H * W + i) - mean, 2) / (H * W);
		for (i = 0; i < H * W; i++)
			y[c * H * W + i] =
				(input_value(0, c * H * W + i) - mean) / (sqrtf(variance) + 1e-9f);
	}
	return C * H * W;
}

/* Each element by a function of its index. */
static u32 each(float (*function)(float x, u32 c, u64 i), float *y)
{
	u64 i;

	for (i = 0; i < C * H * W; i++)
		y[i] = function(input_value(0, i), (u32)(i / (H * W)), i);
	return C * H * W;
}

#define EACH(name, value)                            \
	static float f_##name(float x, u32 c, u64 i) \
	{                                            \
		return value;                        \
	}                                            \
	static u32 y_##name(float *y)                \
	{                                            \
		return each(f_##name, y);            \
	}

/* Statistics are sums over two images. */
EACH(batch_norm, (x - weight(0, c) / 2) / sqrtf(positive(1, c) / 2 + 0.001f))
EACH(scale, x *weight(0, c) + weight(1, c))
EACH(scale_number, x *weight(0, 0))
EACH(scale_last, x *weight(0, i % W))
EACH(scale_all, x *weight(0, i % (C * H * W)))
EACH(bias, x + weight(0, c))
EACH(norm_scale,
     (x - weight(0, c) / 2) / sqrtf(positive(1, c) / 2 + 1e-5f) * weight(0, c) + weight(1, c))
EACH(sum, 2 * x - input_value(1, i) + 0.5f * x)
EACH(product, x *input_value(1, i))
EACH(maximum, fmaxf(x, input_value(1, i)))
EACH(relu, fmaxf(x, 0))
EACH(leaky, x < 0 ? 0.1f * x : x)
EACH(relu6, fminf(fmaxf(16 * x, 0), 6))
EACH(prelu, x < 0 ? weight(0, c) * x : x)
EACH(prelu_shared, x < 0 ? weight(0, 0) * x : x)
EACH(elu, x < 0 ? 0.5f * (expf(x) - 1) : x)
EACH(sigmoid, 1 / (1 + expf(-x)))
EACH(tanh, tanhf(x))
EACH(abs, fabsf(x))
EACH(bnll, logf(1 + expf(x)))
EACH(exp, powf(2, 1 + 0.5f * x))
EACH(log, logf(2 + x) / logf(10))
EACH(power, 3 * x + 1)
EACH(square, powf(2 * x + 1, 2))
EACH(cube, powf(x, 3))
EACH(root, sqrtf(x + 2))
EACH(inverse, 1 / (x + 2))
EACH(same, x)
EACH(twice, fmaxf(x, 0) + fmaxf(x, 0) + x)

static u32 softmax(u32 dim, float *y)
{
	static const u32 size[] = { 1, C, H, W };
	u32 inner = 1, i, k;

	for (i = dim + 1; i < 4; i++)
		inner *= size[i];
	for (i = 0; i < C * H * W; i++) {
		u64 first = i - i / inner % size[dim] * inner;
		float sum = 0;

		for (k = 0; k < size[dim]; k++)
			sum += expf(input_value(0, first + (u64)k * inner));
		y[i] = expf(input_value(0, i)) / sum;
	}
	return C * H * W;
}

static u32 y_softmax(float *y)
{
	return softmax(1, y);
}

static u32 y_softmax_rows(float *y)
{
	return softmax(2, y);
}

static u32 reduce(float (*term)(float x), float factor, float *y)
{
	u32 c, i;

	for (c = 0; c < C; c++) {
		y[c] = 0;
		for (i = 0; i < H * W; i++)
			y[c] += factor * term(input_value(0, c * H * W + i));
	}
	return C;
}

static float itself(float x)
{
	return x;
}

static float squared(float x)
{
	return x * x;
}

static u32 y_sum_of(float *y)
{
	return reduce(itself, 0.5f, y);
}

static u32 y_sum_abs(float *y)
{
	return reduce(fabsf, 1, y);
}

static u32 y_sum_squares(float *y)
{
	return reduce(squared, 1, y);
}

static u32 y_mean(float *y)
{
	return reduce(itself, 1.0f / (H * W), y);
}

static u32 y_argmax(float *y)
{
	u32 i, c;

	for (i = 0; i < H * W; i++)
		for (c = 1, y[i] = 0; c < C; c++)
			if (input_value(0, c * H * W + i) > input_value(0, (u32)y[i] * H * W + i))
				y[i] = (float)c;
	return H * W;
}

/* Result element by element from [c][h][w] of the input. */
static u32 gather(u32 channels, u32 height, u32 width, float (*from)(u32 c, u32 h, u32 w), float *y)
{
	u32 c, h, w, i = 0;

	for (c = 0; c < channels; c++)
		for (h = 0; h < height; h++)
			for (w = 0; w < width; w++)
				y[i++] = from(c, h, w);
	return i;
}

#define GATHER(name, channels, height, width, value)                 \
	static float g_##name(u32 c, u32 h, u32 w)                   \
	{                                                            \
		return value;                                        \
	}                                                            \
	static u32 y_##name(float *y)                                \
	{                                                            \
		return gather(channels, height, width, g_##name, y); \
	}

static float second(u32 c, u32 h, u32 w)
{
	return input_value(1, (c * H + h) * W + w);
}

GATHER(concat, 2 * C, H, W, c < C ? x_at(c, h, w) : second(c - C, h, w))
GATHER(concat_rows, C, 2 * H, W, h < H ? x_at(c, h, w) : second(c, h - H, w))
GATHER(slice, 2, H, W, x_at(c + 1, h, w))
GATHER(halves, 2, H, W, x_at(c, h, w))
GATHER(crop, C, 3, 4, x_at(c, h + 1, w + 2))
GATHER(tile, C, 2 * H, W, x_at(c, h % H, w))
GATHER(permute, H, W, C, x_at(w, c, h))
GATHER(shuffle, C, H, W, x_at(c % 2 * 2 + c / 2, h, w))
GATHER(upsample, C, 2 * H, 3 * W, x_at(c, h / 2, w / 3))
GATHER(excite, C, H, W, x_at(c, h, w) * input_value(1, c))
GATHER(axpy, C, H, W, x_at(c, h, w) * input_value(1, c) + input_value(2, (c * H + h) * W + w))

static float bilinear(u32 c, u32 h, u32 w)
{
	float y = (float)h * (H - 1) / (2 * H - 2), x = (float)w * (W - 1) / (2 * W - 2);
	u32 y0 = (u32)y, x0 = (u32)x;
	float fy = y - (float)y0, fx = x - (float)x0;

	return (1 - fy) * ((1 - fx) * x_at(c, y0, x0) + fx * x_at(c, y0, x0 + 1)) +
	       fy * ((1 - fx) * x_at(c, y0 + 1, x0) + fx * x_at(c, y0 + 1, x0 + 1));
}

GATHER(interp, C, 2 * H - 1, 2 * W - 1, bilinear(c, h, w))

/* A convolution of 1 x 1, then normalised, scaled and clamped. */
static u32 y_folded(float *y)
{
	u32 count = convolution(&(struct window){ { 1, 1 }, { 1, 1 }, { 0, 0 }, { 1, 1 } }, C, 1,
				false, y);
	u32 i;

	for (i = 0; i < count; i++)
		y[i] = fmaxf(f_norm_scale(y[i], i / (H * W), i), 0);
	return count;
}

/* ---- networks ---- */

/* Which of Caffe's formats weights have. */
enum age { TODAY, OF_2014, OF_2013 };

/**
 * struct sample - a network and what it computes
 * @weights: "layer:6,4,3,3:6" for each layer with weights, dimensions of each blob; a blob in
 *	parentheses is positive; values say "=2"
 * @age: of the weights' form
 */
struct sample {
	const char *name, *text, *weights;
	u32 (*expected)(float *y);
	enum age age;
};

#define X2 X "input: \"x2\" input_shape { dim: 1 dim: 4 dim: 6 dim: 7 } "
#define TWO(type, more)                                                                            \
	"layer { name: \"l\" type: \"" type "\" bottom: \"x\" bottom: \"x2\" top: \"y\" " more " " \
	"}"

static const struct sample samples[] = {
	{ "conv",
	  X LAYER("Convolution",
		  "convolution_param { num_output: 6 kernel_h: 3 kernel_w: 2 "
		  "stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 2 dilation: 1 dilation: 2 }"),
	  "l:6,4,3,2:6", y_conv },
	{ "conv_grouped",
	  X LAYER("Convolution",
		  "convolution_param { num_output: 6 kernel_size: 3 pad: 1 group: 2 "
		  "bias_term: false engine: CUDNN weight_filler { type: \"xavier\" } }"),
	  "l:6,2,3,3", y_conv_grouped },
	{ "depthwise",
	  X LAYER("DepthwiseConvolution",
		  "convolution_param { num_output: 4 kernel_size: [3, 3] stride: 2 }"),
	  "l:4,1,3,3:1,1,1,4", y_depthwise },
	{ "deconv",
	  X LAYER("Deconvolution",
		  "convolution_param { num_output: 3 kernel_h: 3 "
		  "kernel_w: 2 stride: 2 pad_h: 1 pad_w: 0 dilation: 1 dilation: 3 }"),
	  "l:4,3,3,2:3", y_deconv },
	{ "deconv_bilinear",
	  X LAYER("Deconvolution",
		  "convolution_param { num_output: 4 group: 4 kernel_size: 4 "
		  "stride: 2 pad: 1 bias_term: false weight_filler: { type: \"bilinear\" } }"),
	  "l:4,1,4,4", y_upsampling },
	{ "deconv_grouped",
	  X LAYER("Deconvolution", "convolution_param { num_output: 6 group: 2 "
				   "kernel_size: 2 stride: 2 dilation: 2 dilation: 1 }"),
	  "l:4,3,2,2:6", y_deconv_grouped },
	{ "ip", X LAYER("InnerProduct", "inner_product_param { num_output: 5 }"), "l:5,168:5",
	  y_ip },
	{ "ip_transposed",
	  X LAYER("InnerProduct", "inner_product_param { num_output: 5 transpose: true }"),
	  "l:168,5:5", y_ip_transposed },
	{ "ip_last", X LAYER("InnerProduct", "inner_product_param { num_output: 5 axis: -1 }"),
	  "l:5,7:5", y_ip_last },
	{ "ip_flat",
	  X "layer { name: \"f\" type: \"Flatten\" bottom: \"x\" top: \"f\" } "
	    "layer { name: \"l\" type: \"InnerProduct\" bottom: \"f\" top: \"y\" "
	    "inner_product_param { num_output: 5 } }",
	  "l:5,168:5", y_ip },
	{ "max", X LAYER("Pooling", "pooling_param { pool: MAX kernel_size: 2 stride: 2 }"), "",
	  y_max },
	{ "max_padded", X LAYER("Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }"), "",
	  y_max_padded },
	{ "max_floor",
	  X LAYER("Pooling", "pooling_param { kernel_size: 2 stride: 2 round_mode: FLOOR }"), "",
	  y_max_floor },
	{ "max_clipped", X LAYER("Pooling", "pooling_param { kernel_size: 2 stride: 3 pad: 1 }"),
	  "", y_clipped },
	{ "average", X LAYER("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 }"), "",
	  y_average },
	{ "average_padded",
	  X LAYER("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }"), "",
	  y_average_padded },
	{ "global_average", X LAYER("Pooling", "pooling_param { pool: AVE global_pooling: true }"),
	  "", y_global_average },
	{ "global_max", X LAYER("Pooling", "pooling_param { global_pooling: true }"), "",
	  y_global_max },
	{ "lrn", X LAYER("LRN", "lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 k: 2 }"), "",
	  y_lrn },
	{ "lrn_within",
	  X LAYER("LRN", "lrn_param { local_size: 3 alpha: 0.5 norm_region: "
			 "WITHIN_CHANNEL }"),
	  "", y_lrn_within },
	{ "normalize",
	  X LAYER("Normalize", "norm_param { across_spatial: false channel_shared: "
			       "false scale_filler { type: \"constant\" value: 20 } }"),
	  "l:4", y_normalize },
	{ "normalize_all", X LAYER("Normalize", ""), "l:", y_normalize_all },
	{ "mvn", X LAYER("MVN", ""), "", y_mvn },
	{ "detector",
	  X "layer { name: \"p\" type: \"PriorBox\" bottom: \"x\" bottom: \"x\" top: \"p\" "
	    "prior_box_param { min_size: 60 aspect_ratio: 2 flip: true variance: 0.1 } } "
	    "layer { name: \"q\" type: \"Concat\" bottom: \"p\" bottom: \"p\" top: \"q\" "
	    "concat_param { axis: 2 } } "
	    "layer { name: \"r\" type: \"ReLU\" bottom: \"x\" top: \"location\" } "
	    "layer { name: \"s\" type: \"Sigmoid\" bottom: \"x\" top: \"score\" } "
	    "layer { name: \"d\" type: \"DetectionOutput\" bottom: \"location\" bottom: \"score\" "
	    "bottom: \"q\" top: \"boxes\" detection_output_param { num_classes: 2 } }",
	  "", y_relu },
	{ "batch_norm",
	  X LAYER("BatchNorm", "batch_norm_param { eps: 1e-3 use_global_stats: true }"),
	  "l:4:(4):=2", y_batch_norm },
	{ "scale", X LAYER("Scale", "scale_param { bias_term: true }"), "l:4:4", y_scale },
	{ "scale_number", X LAYER("Scale", "scale_param { num_axes: 0 }"), "l:", y_scale_number },
	{ "scale_last", X LAYER("Scale", "scale_param { axis: 3 }"), "l:7", y_scale_last },
	{ "scale_all", X LAYER("Scale", "scale_param { axis: 0 num_axes: -1 }"), "l:1,4,6,7",
	  y_scale_all },
	{ "scale_input",
	  X "input: \"x2\" input_shape { dim: 1 dim: 4 } " TWO("Scale", "scale_param { axis: 0 }"),
	  "", y_excite },
	{ "axpy",
	  "input: \"x\" input_shape { dim: 1 dim: 4 dim: 6 dim: 7 } input: \"s\" input_shape { "
	  "dim: 1 "
	  "dim: 4 dim: 1 dim: 1 } input: \"z\" input_shape { dim: 1 dim: 4 dim: 6 dim: 7 } layer { "
	  "name: \"l\" type: \"Axpy\" bottom: \"s\" bottom: \"x\" bottom: \"z\" top: \"y\" }",
	  "", y_axpy },
	{ "bias", X LAYER("Bias", ""), "l:4", y_bias },
	{ "norm_scale",
	  X "layer { name: \"n\" type: \"BatchNorm\" bottom: \"x\" top: \"n\" } "
	    "layer { name: \"s\" type: \"Scale\" bottom: \"n\" top: \"n\" "
	    "scale_param { bias_term: true } }",
	  "n:4:(4):=2 s:4:4", y_norm_scale },
	{ "folded",
	  X
	  "layer { name: \"l\" type: \"Convolution\" bottom: \"x\" top: \"y\" convolution_param { "
	  "num_output: 4 kernel_size: 1 bias_term: false } } "
	  "layer { name: \"n\" type: \"BatchNorm\" bottom: \"y\" top: \"y\" } "
	  "layer { name: \"s\" type: \"Scale\" bottom: \"y\" top: \"y\" "
	  "scale_param { bias_term: true } } "
	  "layer { name: \"r\" type: \"ReLU\" bottom: \"y\" top: \"y\" }",
	  "l:4,4,1,1 n:4:(4):=2 s:4:4", y_folded },
	{ "sum",
	  X2 "layer { name: \"l\" type: \"Eltwise\" bottom: \"x\" bottom: \"x2\" bottom: "
	     "\"x\" top: \"y\" eltwise_param { coeff: 2 coeff: -1 coeff: 0.5 } }",
	  "", y_sum },
	{ "product", X2 TWO("Eltwise", "eltwise_param { operation: PROD }"), "", y_product },
	{ "maximum", X2 TWO("Eltwise", "eltwise_param { operation: MAX }"), "", y_maximum },
	{ "relu", X LAYER("ReLU", ""), "", y_relu },
	{ "leaky", X LAYER("ReLU", "relu_param { negative_slope: 0.1 }"), "", y_leaky },
	{ "relu6",
	  X "layer { name: \"p\" type: \"Power\" bottom: \"x\" top: \"p\" power_param { scale: "
	    "16 } } layer { name: \"l\" type: \"ReLU6\" bottom: \"p\" top: \"y\" }",
	  "", y_relu6 },
	{ "prelu", X LAYER("PReLU", ""), "l:4", y_prelu },
	{ "prelu_shared", X LAYER("PReLU", "prelu_param { channel_shared: true }"),
	  "l:", y_prelu_shared },
	{ "elu", X LAYER("ELU", "elu_param { alpha: 0.5 }"), "", y_elu },
	{ "sigmoid", X LAYER("Sigmoid", ""), "", y_sigmoid },
	{ "tanh", X LAYER("TanH", "tanh_param { engine: CAFFE }"), "", y_tanh },
	{ "abs", X LAYER("AbsVal", ""), "", y_abs },
	{ "bnll", X LAYER("BNLL", ""), "", y_bnll },
	{ "exp", X LAYER("Exp", "exp_param { base: 2 scale: 0.5 shift: 1 }"), "", y_exp },
	{ "log", X LAYER("Log", "log_param { base: 10 shift: 2 }"), "", y_log },
	{ "power", X LAYER("Power", "power_param { scale: 3 shift: 1 }"), "", y_power },
	{ "square", X LAYER("Power", "power_param { power: 2 scale: 2 shift: 1 }"), "", y_square },
	{ "cube", X LAYER("Power", "power_param { power: 3 }"), "", y_cube },
	{ "root", X LAYER("Power", "power_param { power: 0.5 shift: 2 }"), "", y_root },
	{ "inverse", X LAYER("Power", "power_param { power: -1 shift: 2 }"), "", y_inverse },
	{ "softmax", X LAYER("Softmax", ""), "", y_softmax },
	{ "softmax_rows", X LAYER("Softmax", "softmax_param { axis: -2 }"), "", y_softmax_rows },
	{ "argmax", X LAYER("ArgMax", "argmax_param { axis: 1 }"), "", y_argmax },
	{ "reduction", X LAYER("Reduction", "reduction_param { axis: 2 coeff: 0.5 }"), "",
	  y_sum_of },
	{ "reduction_abs", X LAYER("Reduction", "reduction_param { operation: ASUM axis: 2 }"), "",
	  y_sum_abs },
	{ "reduction_squares", X LAYER("Reduction", "reduction_param { operation: SUMSQ axis: 2 }"),
	  "", y_sum_squares },
	{ "reduction_mean", X LAYER("Reduction", "reduction_param { operation: MEAN axis: -2 }"),
	  "", y_mean },
	{ "concat", X2 TWO("Concat", ""), "", y_concat },
	{ "concat_rows", X2 TWO("Concat", "concat_param { axis: 2 }"), "", y_concat_rows },
	{ "slice",
	  X "layer { name: \"l\" type: \"Slice\" bottom: \"x\" top: \"a\" top: \"y\" top: "
	    "\"b\" slice_param { slice_point: 1 slice_point: 3 } } layer { name: \"s\" type: "
	    "\"Silence\" bottom: \"a\" bottom: \"b\" }",
	  "", y_slice },
	{ "slice_halves",
	  X "layer { name: \"l\" type: \"Slice\" bottom: \"x\" top: \"a\" top: \"b\" } ", "",
	  y_halves },
	{ "crop",
	  X "input: \"z\" input_shape { dim: 1 dim: 9 dim: 3 dim: 4 } layer { name: \"l\" type: "
	    "\"Crop\" bottom: \"x\" bottom: \"z\" top: \"y\" crop_param { axis: 2 offset: 1 "
	    "offset: 2 } }",
	  "", y_crop },
	{ "tile", X LAYER("Tile", "tile_param { axis: 2 tiles: 2 }"), "", y_tile },
	{ "flatten", X LAYER("Flatten", ""), "", y_same },
	{ "flatten_part", X LAYER("Flatten", "flatten_param { axis: 1 end_axis: 2 }"), "", y_same },
	{ "reshape", X LAYER("Reshape", "reshape_param { shape { dim: 0 dim: -1 dim: 14 } }"), "",
	  y_same },
	{ "reshape_part",
	  X LAYER("Reshape", "reshape_param { shape { dim: 2 dim: 3 } axis: 2 "
			     "num_axes: 1 }"),
	  "", y_same },
	{ "permute", X LAYER("Permute", "permute_param { order: 0 order: 2 order: 3 order: 1 }"),
	  "", y_permute },
	{ "shuffle", X LAYER("ShuffleChannel", "shuffle_channel_param { group: 2 }"), "",
	  y_shuffle },
	{ "interp", X LAYER("Interp", "interp_param { zoom_factor: 2 }"), "", y_interp },
	{ "upsample", X LAYER("Upsample", "upsample_param { scale_h: 2 scale_w: 3 }"), "",
	  y_upsample },
	{ "in_place",
	  X "layer { name: \"s\" type: \"Split\" bottom: \"x\" top: \"y\" top: \"z\" } "
	    "layer { name: \"r\" type: \"ReLU\" bottom: \"y\" top: \"y\" } "
	    "layer { name: \"d\" type: \"Dropout\" bottom: \"y\" top: \"y\" dropout_param { "
	    "dropout_ratio: 0.5 } } "
	    "layer { name: \"e\" type: \"Eltwise\" bottom: \"y\" bottom: \"y\" top: \"e\" } "
	    "layer { name: \"f\" type: \"Eltwise\" bottom: \"e\" bottom: \"z\" top: \"e2\" }",
	  "", y_twice },
	{ "old",
	  "name: 'Old' input: 'x' input_dim: 64 input_dim: 4 input_dim: 6 input_dim: 7 # of 2014\n"
	  "layers { name: 'l' type: CONVOLUTION bottom: 'x' top: 'y' blobs_lr: 1 blobs_lr: 2 "
	  "convolution_param { num_output: 6 kernel_size: 3 pad: 1 group: 2 bias_term: false } }",
	  "l:6,2,3,3", y_conv_grouped, OF_2014 },
	{ "oldest",
	  "input: 'x' input_dim: 1 input_dim: 4 input_dim: 6 input_dim: 7 # of 2013\n"
	  "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'padded' } "
	  "layers { layer { name: 'l' type: 'conv' num_output: 6 kernelsize: 3 group: 2 "
	  "biasterm: false blobs_lr: 1. weight_decay: 1. weight_filler { type: 'gaussian' std: "
	  "0.01 } } bottom: 'padded' top: 'y' }",
	  "l:6,2,3,3", y_conv_grouped, OF_2013 },
	{ "oldest_pool",
	  X
	  "layers { layer { name: 'd' type: 'dropout' dropout_ratio: 0.3 } bottom: 'x' top: 'x2' } "
	  "layers { layer { name: 'l' type: 'pool' pool: AVE kernelsize: 3 stride: 2 } bottom: "
	  "'x2' top: 'y' }",
	  "", y_average },
	{ "oldest_pool_padded",
	  X "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'x2' } layers { "
	    "layer { name: 'l' type: 'pool' kernelsize: 3 stride: 2 } bottom: 'x2' top: 'y' }",
	  "", y_max_padded },
	{ "holes",
	  X LAYER("Convolution",
		  "convolution_param { num_output: 6 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: "
		  "1 "
		  "pad_h: 1 pad_w: 2 hole_h: 1 hole_w: 2 engine: MKL2017 conv_algos_override: "
		  "\"-1,-1,-1\" }"),
	  "l:6,4,3,2:6", y_conv },
	{ "stochastic",
	  X LAYER("Pooling", "pooling_param { pool: STOCHASTIC kernel_size: 3 stride: 2 }"), "",
	  y_stochastic },
	{ "rules",
	  "layer { name: \"data\" type: \"Data\" top: \"x\" include { phase: TRAIN } "
	  "data_param { source: \"db\" batch_size: 64 backend: LMDB } } "
	  "layer { name: \"in\" type: \"Input\" top: \"x\" input_param { shape { dim: [64, 4, 6, "
	  "7] } "
	  "} exclude { phase: TRAIN } } "
	  "layer { name: \"loss\" type: \"SoftmaxWithLoss\" bottom: \"y\" bottom: \"label\" "
	  "include: { not_stage: \"deploy\" } } "
	  "layer { name: \"l\" type: \"ReLU\" bottom: \"x\" top: \"y\" include { stage: \"deploy\" "
	  "} "
	  "include < phase: TRAIN > }",
	  "", y_relu },
	{ "memory_data",
	  "layer { name: \"data\" type: \"MemoryData\" top: \"x\" top: \"label\" memory_data_param "
	  "{ "
	  "batch_size: 1; channels: 4, height: 6 width: 0x7 } } " LAYER("ReLU", ""),
	  "", y_relu },
};

/* ---- weights ---- */

#define MAX_BLOBS 5
#define MAX_LAYERS 4

struct blobs {
	Caffe__Blob blob[MAX_BLOBS], *list[MAX_BLOBS];
	Caffe__Shape shape[MAX_BLOBS];
	s64 dim[MAX_BLOBS][4];
	u32 count;
};

/* Rank 1 is written as old files do: 1 x 1 x 1 x n in fields of their own. */
static void make_blob(struct blobs *b, const char *dims, enum age age)
{
	u32 i = b->count++;
	Caffe__Blob *blob = &b->blob[i];
	bool is_positive = *dims == '(', is_value = *dims == '=';
	u64 elements = 1, k;
	char *end;

	caffe__blob__init(blob);
	caffe__shape__init(&b->shape[i]);
	b->list[i] = blob;
	for (dims += is_positive; !is_value && *dims && *dims != ')'; dims = end + (*end == ',')) {
		b->dim[i][b->shape[i].n_dim] = strtol(dims, &end, 10);
		elements *= (u64)b->dim[i][b->shape[i].n_dim++];
	}
	b->shape[i].dim = b->dim[i];
	if (age == TODAY)
		blob->shape = &b->shape[i];
	if (age != TODAY) {
		blob->has_num = blob->has_channels = true;
		blob->has_height = blob->has_width = true;
		blob->num = b->dim[i][0];
		blob->channels = b->dim[i][1];
		blob->height = b->dim[i][2];
		blob->width = b->dim[i][3];
	}
	blob->n_data = elements;
	blob->data = malloc(elements * sizeof(*blob->data));
	for (k = 0; k < elements; k++)
		blob->data[k] = is_positive ? positive(i, k) : weight(i, k);
	if (is_value)
		blob->data[0] = strtof(dims + 1, NULL);
}

static u8 *pack(const ProtobufCMessage *message, size_t *bytes)
{
	u8 *data = malloc(protobuf_c_message_get_packed_size(message) + 1);

	*bytes = protobuf_c_message_pack(message, data);
	return data;
}

static u8 *write_weights(const struct sample *sample, size_t *bytes)
{
	Caffe__WeightFile file = CAFFE__WEIGHT_FILE__INIT;
	Caffe__WeightLayer layer[MAX_LAYERS], *layers[MAX_LAYERS];
	Caffe__V1WeightLayer old[MAX_LAYERS], *olds[MAX_LAYERS];
	Caffe__V0WeightLayer oldest[MAX_LAYERS];
	struct blobs blobs[MAX_LAYERS];
	char *all = strdup(sample->weights), *rest = all, *one, *dims;
	u32 count = 0, i;
	u8 *data;

	while ((one = strsep(&rest, " "))) {
		struct blobs *b = &blobs[count];

		if (!*one)
			continue;
		memset(b, 0, sizeof(*b));
		caffe__weight_layer__init(&layer[count]);
		caffe__v1_weight_layer__init(&old[count]);
		caffe__v0_weight_layer__init(&oldest[count]);
		layer[count].name = old[count].name = oldest[count].name = strsep(&one, ":");
		while ((dims = strsep(&one, ":")))
			make_blob(b, dims, sample->age);
		layer[count].n_blobs = old[count].n_blobs = oldest[count].n_blobs = b->count;
		layer[count].blobs = old[count].blobs = oldest[count].blobs = b->list;
		if (sample->age == OF_2013) {
			old[count].name = NULL;
			old[count].n_blobs = 0;
			old[count].layer = &oldest[count];
		}
		layers[count] = &layer[count];
		olds[count] = &old[count];
		count++;
	}
	file.n_layer = sample->age == TODAY ? count : 0;
	file.layer = layers;
	file.n_layers = sample->age == TODAY ? 0 : count;
	file.layers = olds;
	data = pack(&file.base, bytes);
	while (count--)
		for (i = 0; i < blobs[count].count; i++)
			free(blobs[count].blob[i].data);
	free(all);
	return data;
}

/* ---- runs ---- */

static float result_at(const struct npu_tensor *tensor, const void *data, u64 i)
{
	if (tensor->dtype == NPU_I64)
		return (float)((const s64 *)data)[i];
	return tensor->dtype == NPU_I32 ? (float)((const s32 *)data)[i] : ((const float *)data)[i];
}

#define MOST 4096

static void compare(const struct sample *sample, const struct npu_graph *graph,
		    struct npu_reference *reference)
{
	const struct npu_tensor *out = &graph->tensor[graph->output[0]];
	const void *have = npu_reference_tensor(reference, graph->output[0]);
	static float want[MOST];
	u32 count = sample->expected(want), i;
	float worst = 0;

	for (i = 0; i < count && count == npu_tensor_elements(out); i++) {
		float difference = fabsf(result_at(out, have, i) - want[i]);

		/* Not a number is the worst of all. */
		worst = difference <= worst ? worst : difference / (1 + fabsf(want[i]));
	}
	tap(count == npu_tensor_elements(out) && worst < 1e-5f,
	    "%s: %llu elements of %u, largest distance %g", sample->name,
	    (unsigned long long)npu_tensor_elements(out), count, (double)worst);
}

static int run(const struct sample *sample, const struct npu_graph *graph, struct npu_diag *diag)
{
	struct npu_reference *reference;
	u32 i, j;
	int error = npu_reference_new(graph, &reference, diag);

	if (error)
		return error;
	for (i = 0; i < graph->input_count; i++) {
		const struct npu_tensor *t = &graph->tensor[graph->input[i]];
		float *to = npu_reference_tensor(reference, graph->input[i]);

		for (j = 0; j < t->bytes / 4; j++)
			to[j] = input_value(i, j);
	}
	error = npu_reference_run(reference, NULL, NULL, diag);
	if (!error)
		compare(sample, graph, reference);
	npu_reference_free(reference);
	return error;
}

static void try_sample(const struct sample *sample)
{
	struct caffe_file net = { sample->name, sample->text, strlen(sample->text) };
	struct caffe_file weights = { "weights" };
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { "" };
	u8 *data = write_weights(sample, &weights.bytes);
	int error;

	weights.data = data;
	error = caffe_import_pair(&net, &weights, NULL, &graph, &diag);
	if (!error)
		error = run(sample, graph, &diag);
	if (error)
		tap(false, "%s: %s", sample->name, diag.text);
	npu_graph_free(graph);
	free(data);
}

/* A text, a zero, the weights: what the fuzzer takes. */
static void write_file(const char *directory, const struct sample *sample)
{
	size_t bytes, length = strlen(sample->text) + 1;
	u8 *data = write_weights(sample, &bytes);
	char path[512];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", directory, sample->name);
	file = fopen(path, "wb");
	good = file && fwrite(sample->text, 1, length, file) == length &&
	       fwrite(data, 1, bytes, file) == bytes;
	if (file && fclose(file))
		good = false;
	tap(good, "%s is written", path);
	free(data);
}

int main(int argc, char **argv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		if (argc < 2)
			try_sample(&samples[i]);
		else
			write_file(argv[1], &samples[i]);
	return tap_end();
}
