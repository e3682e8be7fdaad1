// SPDX-License-Identifier: MIT
#include "samples.h"

#include <stdlib.h>

/* Quantisations to choose from; 0 is softmax's and the logistic function's. */
static const float scale[][1] = { { 1.0f / 256 }, { 0.05f }, { 0.031f }, { 0.12f } };
static const s64 zero8[][1] = { { -128 }, { -5 }, { 11 }, { 0 } };
static const s64 zero_u8[][1] = { { 0 }, { 123 }, { 140 }, { 128 } };
static const float kernel_scales[] = { 0.01f, 0.02f, 0.005f, 0.013f };

static const s8 weights[72] = { 3, -7, 12, 0, 127, -127, 5, -1, 9, 44, -60, 2, 100, -3, 17, 8 };
static const s32 bias[4] = { 500, -300, 0, 77 };

static const s64 wide_bias[4] = { 5000, -3000, 0, 770 };
static const u16 halves[16] = { 0x3c00, 0xbc00, 0x4000, 0x3800, 0, 0x8001, 0x2e66, 0x4200,
				0x3c01, 0x3555, 0xb555, 0x0400, 1, 0x7bff, 0xc500, 0x4900 };

#define DIMS(...) .rank = sizeof((s32[]){ __VA_ARGS__ }) / sizeof(s32), .dim = { __VA_ARGS__ }
#define QUANT(type, q) .scales = 1, .scale = scale[q], .zero = zero##type[q]
#define I8(n, q, ...)                                                    \
	{                                                                \
		.name = n, .type = TW_I8, QUANT(8, q), DIMS(__VA_ARGS__) \
	}
#define U8(n, q, ...)                                                      \
	{                                                                  \
		.name = n, .type = TW_U8, QUANT(_u8, q), DIMS(__VA_ARGS__) \
	}
#define I16(n, ...)                                                                          \
	{                                                                                    \
		.name = n, .type = TW_I16, .scales = 1, .scale = scale[1], DIMS(__VA_ARGS__) \
	}
#define F32(n, ...)                                          \
	{                                                    \
		.name = n, .type = TW_F32, DIMS(__VA_ARGS__) \
	}
#define I32(n, ...)                                          \
	{                                                    \
		.name = n, .type = TW_I32, DIMS(__VA_ARGS__) \
	}
#define VALUES(...) .data = (const s32[]){ __VA_ARGS__ }, .bytes = sizeof((s32[]){ __VA_ARGS__ })
/* Constant parameters: a vector and a scalar. */
#define LIST(...)                                                                  \
	{                                                                          \
		.name = "parameter", .type = TW_I32, .rank = 1,                    \
		.dim = { sizeof((s32[]){ __VA_ARGS__ }) / 4 }, VALUES(__VA_ARGS__) \
	}
#define SCALAR(value)                                              \
	{                                                          \
		.name = "parameter", .type = TW_I32, VALUES(value) \
	}
#define PADDING(...)                                                               \
	{                                                                          \
		.name = "padding", .type = TW_I32, DIMS(4, 2), VALUES(__VA_ARGS__) \
	}
#define KERNELS(k, r, s, c)                                                             \
	{                                                                               \
		.name = "weights", .type = TW_I8, DIMS(k, r, s, c), .scales = k,        \
		.scale = kernel_scales, .data = weights, .bytes = (k) * (r) * (s) * (c) \
	}
#define BIAS(k)                                                                         \
	{                                                                               \
		.name = "bias", .type = TW_I32, DIMS(k), .data = bias, .bytes = 4 * (k) \
	}

/* Operators with N inputs, the tensors 0..N-1, and the next tensors as outputs. */
#define IN1 .inputs = 1, .input = { 0 }, .outputs = 1, .output = { 1 }
#define IN2 .inputs = 2, .input = { 0, 1 }, .outputs = 1, .output = { 2 }
#define IN3 .inputs = 3, .input = { 0, 1, 2 }, .outputs = 1, .output = { 3 }
#define IN4 .inputs = 4, .input = { 0, 1, 2, 3 }, .outputs = 1, .output = { 4 }
#define OPTIONS(type, n, ...) .options_type = type, .options = n, .option = { __VA_ARGS__ }

const struct sample samples[] = {
	{ "conv",
	  { I8("in", 1, 1, 5, 4, 2), KERNELS(4, 3, 3, 2), BIAS(4), I8("out", 2, 1, 3, 2, 4) },
	  { .code = 3, IN3, OPTIONS(1, 4, { 0, 0 }, { 1, 2 }, { 2, 2 }, { 3, 1 }) } },
	{ "conv_valid_dilated",
	  { I8("in", 1, 1, 7, 7, 2), KERNELS(4, 3, 3, 2), BIAS(4), I8("out", 2, 1, 3, 3, 4) },
	  { .code = 3, IN3, OPTIONS(1, 5, { 0, 1 }, { 1, 1 }, { 2, 1 }, { 4, 2 }, { 5, 2 }) } },
	{ "conv_grouped",
	  { I8("in", 1, 1, 3, 3, 4), KERNELS(4, 2, 2, 2), BIAS(4), I8("out", 2, 1, 2, 2, 4) },
	  { .code = 3, IN3, OPTIONS(1, 3, { 0, 1 }, { 1, 1 }, { 2, 1 }) } },
	{ "conv_u8",
	  { U8("in", 1, 1, 4, 4, 2),
	    { .name = "weights",
	      .type = TW_U8,
	      DIMS(4, 2, 2, 2),
	      QUANT(_u8, 2),
	      .data = weights,
	      .bytes = 32 },
	    BIAS(4),
	    U8("out", 3, 1, 3, 3, 4) },
	  { .code = 3, IN3, OPTIONS(1, 4, { 0, 1 }, { 1, 1 }, { 2, 1 }, { 3, 3 }) } },
	{ "conv_hybrid",
	  { F32("in", 1, 4, 4, 2), KERNELS(4, 2, 2, 2), F32("out", 1, 3, 3, 4) },
	  { .code = 3, IN2, OPTIONS(1, 3, { 0, 1 }, { 1, 1 }, { 2, 1 }) } },
	{ "conv_float16",
	  { F32("in", 1, 4, 4, 1),
	    { .name = "weights",
	      .type = TW_F16,
	      DIMS(4, 2, 2, 1),
	      .data = halves,
	      .bytes = sizeof(halves) },
	    F32("out", 1, 3, 3, 4) },
	  { .code = 3, IN2, OPTIONS(1, 3, { 0, 1 }, { 1, 1 }, { 2, 1 }) } },
	{ "conv_int16",
	  { I16("in", 1, 4, 4, 2),
	    KERNELS(4, 2, 2, 2),
	    { .name = "bias",
	      .type = TW_I64,
	      DIMS(4),
	      .data = wide_bias,
	      .bytes = sizeof(wide_bias) },
	    I16("out", 1, 3, 3, 4) },
	  { .code = 3, IN3, OPTIONS(1, 3, { 0, 1 }, { 1, 1 }, { 2, 1 }) } },
	{ "dequantize_constant",
	  { { .name = "weights",
	      .type = TW_F16,
	      DIMS(4, 2, 2, 1),
	      .data = halves,
	      .bytes = sizeof(halves) },
	    F32("out", 4, 2, 2, 1),
	    F32("in", 4, 2, 2, 1) },
	  { .code = 6, IN1 } },
	{ "depthwise",
	  { I8("in", 1, 1, 4, 4, 2),
	    { .name = "weights",
	      .type = TW_I8,
	      DIMS(1, 3, 3, 4),
	      .scales = 4,
	      .scale = kernel_scales,
	      .axis = 3,
	      .data = weights,
	      .bytes = 36 },
	    BIAS(4),
	    I8("out", 2, 1, 4, 4, 4) },
	  { .code = 4, IN3, OPTIONS(2, 5, { 0, 0 }, { 1, 1 }, { 2, 1 }, { 3, 2 }, { 4, 3 }) } },
	{ "transpose_conv",
	  { LIST(1, 5, 5, 4), KERNELS(4, 3, 3, 2), I8("in", 1, 1, 3, 3, 2), BIAS(4),
	    I8("out", 2, 1, 5, 5, 4) },
	  { .code = 67, IN4, OPTIONS(49, 3, { 0, 0 }, { 1, 2 }, { 2, 2 }) } },
	{ "fully_connected",
	  { I8("in", 1, 1, 18),
	    { .name = "weights",
	      .type = TW_I8,
	      DIMS(4, 18),
	      QUANT(8, 3),
	      .data = weights,
	      .bytes = 72 },
	    BIAS(4),
	    I8("out", 2, 1, 4) },
	  { .code = 9, IN3, OPTIONS(8, 1, { 0, 0 }) } },
	{ "add",
	  { I8("in", 1, 1, 3, 3, 4), I8("other", 2, 1, 3, 3, 4), I8("out", 3, 1, 3, 3, 4) },
	  { .code = 0, IN2, OPTIONS(11, 1, { 0, 1 }) } },
	{ "add_broadcast",
	  { I8("in", 1, 1, 3, 3, 4), I8("other", 2, 4), I8("out", 3, 1, 3, 3, 4) },
	  { .code = 0, IN2, OPTIONS(11, 0) } },
	{ "sub",
	  { U8("in", 1, 1, 3, 3, 4), U8("other", 2, 1, 3, 3, 4), U8("out", 3, 1, 3, 3, 4) },
	  { .code = 41, IN2, OPTIONS(28, 0) } },
	{ "mul",
	  { I8("in", 1, 1, 3, 3, 4), I8("other", 2, 1, 3, 1, 4), I8("out", 3, 1, 3, 3, 4) },
	  { .code = 18, IN2, OPTIONS(21, 0) } },
	{ "div", { F32("in", 2, 3), F32("other", 2, 3), F32("out", 2, 3) }, { .code = 42, IN2 } },
	{ "maximum",
	  { I8("in", 1, 1, 3, 3, 4), I8("other", 1, 1, 3, 3, 4), I8("out", 1, 1, 3, 3, 4) },
	  { .code = 55, IN2 } },
	{ "minimum",
	  { U8("in", 1, 1, 3, 3, 4), U8("other", 1, 1, 3, 3, 4), U8("out", 1, 1, 3, 3, 4) },
	  { .code = 57, IN2 } },
	{ "max_pool",
	  { I8("in", 1, 1, 5, 5, 3), I8("out", 1, 1, 3, 3, 3) },
	  { .code = 17, IN1, OPTIONS(5, 5, { 0, 0 }, { 1, 2 }, { 2, 2 }, { 3, 3 }, { 4, 3 }) } },
	{ "average_pool",
	  { I8("in", 1, 1, 5, 5, 3), I8("out", 1, 1, 3, 3, 3) },
	  { .code = 1, IN1, OPTIONS(5, 5, { 0, 0 }, { 1, 2 }, { 2, 2 }, { 3, 3 }, { 4, 3 }) } },
	{ "relu", { I8("in", 1, 2, 32), I8("out", 2, 2, 32) }, { .code = 19, IN1 } },
	{ "relu6", { U8("in", 1, 2, 32), U8("out", 2, 2, 32) }, { .code = 21, IN1 } },
	{ "relu_n1_to_1", { I8("in", 1, 2, 32), I8("out", 2, 2, 32) }, { .code = 20, IN1 } },
	{ "leaky_relu",
	  { I8("in", 1, 2, 32), I8("out", 2, 2, 32) },
	  { .code = 98, IN1, OPTIONS(75, 1, { 0, 0x3e4ccccd }) } }, /* 0.2 */
	{ "prelu",
	  { I8("in", 1, 2, 4, 4, 4),
	    { .name = "slopes",
	      .type = TW_I8,
	      DIMS(1, 1, 4),
	      QUANT(8, 2),
	      .data = weights,
	      .bytes = 4 },
	    I8("out", 2, 2, 4, 4, 4) },
	  { .code = 54, IN2 } },
	{ "logistic", { I8("in", 1, 2, 128), I8("out", 0, 2, 128) }, { .code = 14, IN1 } },
	{ "tanh", { U8("in", 1, 2, 128), U8("out", 2, 2, 128) }, { .code = 28, IN1 } },
	{ "hard_swish", { I8("in", 1, 2, 128), I8("out", 2, 2, 128) }, { .code = 117, IN1 } },
	{ "softmax",
	  { I8("in", 3, 2, 10), I8("out", 0, 2, 10) },
	  { .code = 25, IN1, OPTIONS(9, 1, { 0, 0x3f800000 }) } },
	{ "softmax_u8",
	  { U8("in", 1, 2, 10), U8("out", 0, 2, 10) },
	  { .code = 25, IN1, OPTIONS(9, 1, { 0, 0x3f800000 }) } },
	{ "abs", { I8("in", 1, 2, 128), I8("out", 2, 2, 128) }, { .code = 101, IN1 } },
	{ "elu", { I8("in", 1, 2, 128), I8("out", 2, 2, 128) }, { .code = 111, IN1 } },
	{ "exp", { U8("in", 1, 2, 128), U8("out", 3, 2, 128) }, { .code = 47, IN1 } },
	{ "gelu",
	  { I8("in", 1, 2, 128), I8("out", 2, 2, 128) },
	  { .code = 150, IN1, OPTIONS(116, 1, { 0, 1 }) } },
	{ "rsqrt", { I8("in", 0, 2, 128), I8("out", 2, 2, 128) }, { .code = 76, IN1 } },
	{ "relu_0_to_1", { I8("in", 1, 2, 128), I8("out", 0, 2, 128) }, { .code = 152, IN1 } },
	{ "pow",
	  { F32("in", 2, 8),
	    { .name = "exponent", .type = TW_F32, .data = kernel_scales, .bytes = 4 },
	    F32("out", 2, 8) },
	  { .code = 78, IN2 } },
	{ "lrn",
	  { I8("in", 1, 1, 3, 2, 7), I8("out", 2, 1, 3, 2, 7) },
	  { .code = 13,
	    IN1,
	    OPTIONS(13, 4, { 0, 2 }, { 1, 0x3f800000 }, { 2, 0x3dcccccd }, { 3, 0x3f400000 }) } },
	{ "reshape",
	  { I8("in", 1, 1, 2, 3, 4), LIST(1, 24), I8("out", 1, 1, 24) },
	  { .code = 22, IN2 } },
	{ "squeeze", { I8("in", 1, 1, 1, 3, 4), I8("out", 1, 3, 4) }, { .code = 43, IN1 } },
	{ "expand_dims",
	  { I8("in", 1, 3, 4), SCALAR(0), I8("out", 1, 1, 3, 4) },
	  { .code = 70, IN2 } },
	{ "depth_to_space",
	  { I8("in", 1, 1, 2, 3, 8), I8("out", 1, 1, 4, 6, 2) },
	  { .code = 5, IN1, OPTIONS(94, 1, { 0, 2 }) } },
	{ "space_to_depth",
	  { U8("in", 1, 1, 4, 6, 3), U8("out", 1, 1, 2, 3, 12) },
	  { .code = 26, IN1, OPTIONS(19, 1, { 0, 2 }) } },
	{ "tile",
	  { I8("in", 1, 1, 2, 3, 2), LIST(1, 2, 1, 3), I8("out", 1, 1, 4, 3, 6) },
	  { .code = 69, IN2 } },
	{ "broadcast_to",
	  { F32("in", 3, 1, 2), LIST(1, 3, 4, 2), F32("out", 1, 3, 4, 2) },
	  { .code = 130, IN2 } },
	{ "reverse",
	  { I8("in", 1, 1, 2, 3, 2), LIST(1, -2), I8("out", 1, 1, 2, 3, 2) },
	  { .code = 105, IN2 } },
	{ "mirror_pad",
	  { I8("in", 1, 1, 3, 3, 2), PADDING(0, 0, 1, 2, 0, 1, 0, 0), I8("out", 1, 1, 6, 4, 2) },
	  { .code = 100, IN2, OPTIONS(77, 1, { 0, 0 }) } },
	{ "mirror_pad_symmetric",
	  { I8("in", 1, 1, 3, 3, 2), PADDING(0, 0, 1, 3, 0, 1, 0, 0), I8("out", 1, 1, 7, 4, 2) },
	  { .code = 100, IN2, OPTIONS(77, 1, { 0, 1 }) } },
	{ "batch_matmul",
	  { I8("in", 1, 2, 4, 3), I8("other", 2, 1, 5, 4), I8("out", 3, 2, 3, 5) },
	  { .code = 126, IN2, OPTIONS(101, 2, { 0, 1 }, { 1, 1 }) } },
	{ "squared_difference",
	  { F32("in", 2, 3), F32("other", 1, 3), F32("out", 2, 3) },
	  { .code = 99, IN2 } },
	{ "sum",
	  { I8("in", 1, 1, 5, 5, 3), LIST(1, 2), I8("out", 3, 1, 3) },
	  { .code = 74, IN2, OPTIONS(27, 0) } },
	{ "reduce_min",
	  { I8("in", 1, 1, 5, 5, 3), LIST(-1), I8("out", 1, 1, 5, 5) },
	  { .code = 89, IN2, OPTIONS(27, 0) } },
	{ "reduce_prod",
	  { F32("in", 2, 5), LIST(1), F32("out", 2) },
	  { .code = 81, IN2, OPTIONS(27, 0) } },
	{ "arg_min",
	  { I8("in", 1, 1, 4, 10), SCALAR(-1), I32("out", 1, 4) },
	  { .code = 79, IN2, OPTIONS(57, 1, { 0, TW_I32 }) } },
	{ "transpose",
	  { I8("in", 1, 1, 2, 3, 4), LIST(0, 3, 1, 2), I8("out", 1, 1, 4, 2, 3) },
	  { .code = 39, IN2 } },
	{ "pad",
	  { I8("in", 1, 1, 2, 3, 4), PADDING(0, 0, 1, 2, 0, 1, 0, 0), I8("out", 1, 1, 5, 4, 4) },
	  { .code = 34, IN2 } },
	{ "padv2",
	  { I8("in", 1, 1, 2, 3, 4),
	    PADDING(0, 0, 1, 1, 1, 1, 0, 0),
	    { .name = "value", .type = TW_I8, QUANT(8, 1), .data = weights, .bytes = 1 },
	    I8("out", 1, 1, 4, 5, 4) },
	  { .code = 60, IN3 } },
	{ "concat",
	  { I8("in", 1, 1, 2, 2, 3), I8("other", 1, 1, 2, 2, 5), I8("out", 1, 1, 2, 2, 8) },
	  { .code = 2, IN2, OPTIONS(10, 1, { 0, -1u }) } },
	{ "concat_rescaled",
	  { U8("in", 1, 1, 2, 2, 3), U8("other", 2, 1, 1, 2, 3), U8("out", 3, 1, 3, 2, 3) },
	  { .code = 2, IN2, OPTIONS(10, 1, { 0, 1 }) } },
	{ "slice",
	  { I8("in", 1, 1, 4, 4, 3), LIST(0, 1, 2, 0), LIST(1, 2, -1, 3),
	    I8("out", 1, 1, 2, 2, 3) },
	  { .code = 65, IN3 } },
	{ "strided_slice",
	  { I8("in", 1, 1, 5, 4, 3), LIST(0, 4, 0, 1), LIST(1, 0, 4, 2), LIST(1, -2, 1, 1),
	    I8("out", 1, 2, 4) },
	  { .code = 45, IN4, OPTIONS(32, 3, { 0, 1 }, { 1, 4 }, { 4, 9 }) } },
	{ "strided_slice_ellipsis",
	  { I8("in", 1, 1, 2, 3, 4), LIST(0, 1), LIST(0, 3), LIST(1, 1), I8("out", 1, 1, 2, 3, 2) },
	  { .code = 45, IN4, OPTIONS(32, 1, { 2, 1 }) } },
	{ "strided_slice_new_axis",
	  { I8("in", 1, 3, 4), LIST(0, 1), LIST(0, 0), LIST(1, 1), I8("out", 1, 1, 4) },
	  { .code = 45, IN4, OPTIONS(32, 2, { 3, 1 }, { 4, 2 }) } },
	{ "l2_normalization", { F32("in", 2, 16), F32("out", 2, 16) }, { .code = 11, IN1 } },
	{ "l2_normalization_i8",
	  { I8("in", 1, 2, 16), I8("out", 2, 2, 16) },
	  { .code = 11, IN1, OPTIONS(12, 1, { 0, 0 }) } },
	{ "log_softmax", { F32("in", 2, 10), F32("out", 2, 10) }, { .code = 50, IN1 } },
	{ "log_softmax_u8", { U8("in", 1, 2, 10), U8("out", 1, 2, 10) }, { .code = 50, IN1 } },
	{ "add_n",
	  { F32("in", 2, 3), F32("other", 2, 3), F32("third", 2, 3), F32("out", 2, 3) },
	  { .code = 106, IN3 } },
	{ "cast",
	  { { .name = "in", .type = TW_U8, DIMS(1, 64) }, F32("out", 1, 64) },
	  { .code = 53, IN1 } },
	{ "cast_constant", { LIST(7, -3), F32("out", 2), F32("in", 2) }, { .code = 53, IN1 } },
	{ "fill",
	  { LIST(2, 3),
	    { .name = "value", .type = TW_F32, .data = kernel_scales, .bytes = 4 },
	    F32("out", 2, 3),
	    F32("in", 2, 3) },
	  { .code = 94, IN2 } },
	{ "zeros_like", { F32("in", 2, 3), F32("out", 2, 3) }, { .code = 93, IN1 } },
	{ "embedding_lookup",
	  { I32("in", 3),
	    { .name = "table", .type = TW_F32, DIMS(2, 2), .data = kernel_scales, .bytes = 16 },
	    F32("out", 3, 2) },
	  { .code = 7, IN2 } },
	{ "split",
	  { SCALAR(3), I8("in", 1, 1, 2, 2, 6), I8("a", 1, 1, 2, 2, 2), I8("b", 1, 1, 2, 2, 2),
	    I8("c", 1, 1, 2, 2, 2) },
	  { .code = 49, .inputs = 2, .input = { 0, 1 }, .outputs = 3, .output = { 2, 3, 4 } } },
	{ "split_v",
	  { I8("in", 1, 6, 2), LIST(1, 5), SCALAR(0), I8("a", 1, 1, 2), I8("b", 1, 5, 2) },
	  { .code = 102, .inputs = 3, .input = { 0, 1, 2 }, .outputs = 2, .output = { 3, 4 } } },
	{ "pack",
	  { I8("in", 1, 2, 3), I8("other", 1, 2, 3), I8("out", 1, 2, 2, 3) },
	  { .code = 83, IN2, OPTIONS(59, 2, { 0, 2 }, { 1, 1 }) } },
	{ "unpack",
	  { I8("in", 1, 2, 3), I8("a", 1, 3), I8("b", 1, 3) },
	  { .code = 88,
	    .inputs = 1,
	    .input = { 0 },
	    .outputs = 2,
	    .output = { 1, 2 },
	    OPTIONS(64, 1, { 0, 2 }) } },
	{ "gather",
	  { I8("in", 1, 1, 5, 3), LIST(4, 0, 4), I8("out", 1, 1, 3, 3) },
	  { .code = 36, IN2, OPTIONS(23, 1, { 0, 1 }) } },
	{ "resize_nearest",
	  { I8("in", 1, 1, 3, 3, 2), LIST(6, 5), I8("out", 1, 1, 6, 5, 2) },
	  { .code = 97, IN2, OPTIONS(74, 1, { 1, 1 }) } },
	{ "resize_bilinear",
	  { I8("in", 1, 1, 3, 3, 2), LIST(6, 5), I8("out", 1, 1, 6, 5, 2) },
	  { .code = 23, IN2, OPTIONS(15, 1, { 3, 1 }) } },
	{ "resize_bilinear_u8",
	  { U8("in", 1, 1, 3, 3, 2), LIST(5, 5), U8("out", 1, 1, 5, 5, 2) },
	  { .code = 23, IN2, OPTIONS(15, 1, { 2, 1 }) } },
	{ "mean",
	  { I8("in", 1, 1, 5, 5, 3), LIST(1, 2), I8("out", 2, 1, 3) },
	  { .code = 40, IN2, OPTIONS(27, 0) } },
	{ "reduce_max",
	  { I8("in", 1, 1, 5, 5, 3), LIST(-1), I8("out", 1, 1, 5, 5) },
	  { .code = 82, IN2, OPTIONS(27, 0) } },
	{ "arg_max",
	  { I8("in", 1, 1, 4, 10), SCALAR(-1), I32("out", 1, 4) },
	  { .code = 56, IN2, OPTIONS(40, 1, { 0, TW_I32 }) } },
	{ "top_k",
	  { I8("in", 1, 1, 3, 7), SCALAR(4), I8("values", 1, 1, 3, 4), I32("indices", 1, 3, 4) },
	  { .code = 48, .inputs = 2, .input = { 0, 1 }, .outputs = 2, .output = { 2, 3 } } },
	{ "gather_nd",
	  { I8("in", 1, 6, 2, 3), LIST(5, 1), I8("out", 1, 3) },
	  { .code = 107, IN2 } },
	{ "quantize", { F32("in", 1, 64), I8("out", 1, 1, 64) }, { .code = 114, IN1 } },
	{ "requantize", { U8("in", 1, 1, 64), I8("out", 3, 1, 64) }, { .code = 114, IN1 } },
	{ "dequantize", { I8("in", 1, 1, 64), F32("out", 1, 64) }, { .code = 6, IN1 } },
	{ "shape", { I8("in", 1, 1, 2, 3, 4), I32("out", 4) }, { .code = 77, IN1 } },
};

const u32 sample_count = ARRAY_SIZE(samples);

const struct sample *sample_find(const char *name)
{
	u32 i;

	for (i = 0; i < sample_count; i++)
		if (!strcmp(samples[i].name, name))
			return &samples[i];
	abort();
}

static bool is_output(const struct tw_op *op, u32 tensor)
{
	u32 i;

	for (i = 0; i < op->outputs; i++)
		if (op->output[i] == (s32)tensor)
			return true;
	return false;
}

u8 *sample_write(const struct sample *sample, size_t *bytes)
{
	struct tw_model model = {
		.version = 3,
		.tensor = sample->tensor,
		.ops = 1,
		.op = &sample->op,
		.outputs = sample->op.outputs,
	};
	u32 i;

	for (i = 0; i < model.outputs; i++)
		model.output[i] = sample->op.output[i];
	for (i = 0; i < SAMPLE_TENSORS && sample->tensor[i].name; i++)
		if (!sample->tensor[i].data && !is_output(&sample->op, i))
			model.input[model.inputs++] = i;
	model.tensors = i;
	return tw_write(&model, bytes);
}
