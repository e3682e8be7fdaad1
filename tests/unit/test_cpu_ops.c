// SPDX-License-Identifier: MIT
/*
 * The CPU's operators against the reference interpreter, bit for bit, on random
 * shapes, scales and contents.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cpu/cpu.h"
#include "reference.h"

#define ROUNDS 60

static u32 state = 12345;

static u32 random_below(u32 limit)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state % limit;
}

static float random_scale(void)
{
	return expf((float)random_below(10000) / 2000.0f - 4.0f);
}

/* One operator and its tensors: operand 0 is computed, others are constants unless said. */
struct bench {
	struct npu_graph *graph;
	enum npu_dtype dtype;
};

static struct bench begin(void)
{
	struct bench b = { npu_graph_new("test"), random_below(2) ? NPU_I8 : NPU_U8 };

	assert_non_null(b.graph);
	return b;
}

static s32 random_zero(enum npu_dtype dtype)
{
	return (s32)random_below(256) - (dtype == NPU_I8 ? 128 : 0);
}

static u32 add_tensor(struct bench *b, enum npu_dtype dtype, u32 rank, const u32 *dim, float scale,
		      s32 zero)
{
	u32 index = npu_graph_add_tensor(b->graph, "t", dtype, rank, dim);
	float *scales = npu_arena_array(&b->graph->arena, 1, sizeof(*scales));
	s32 *zeros = npu_arena_array(&b->graph->arena, 1, sizeof(*zeros));
	struct npu_tensor *tensor;

	assert_int_not_equal(index, NPU_NONE);
	*scales = scale;
	*zeros = zero;
	tensor = &b->graph->tensor[index];
	if (scale > 0)
		tensor->quant = (struct npu_quant){ 1, 0, scales, zeros };
	return index;
}

static u32 add_image(struct bench *b, u32 h, u32 w, u32 c)
{
	const u32 dim[4] = { 1, h, w, c };

	return add_tensor(b, b->dtype, 4, dim, random_scale(), random_zero(b->dtype));
}

static void *random_bytes(struct bench *b, size_t bytes)
{
	u8 *data = npu_arena_alloc(&b->graph->arena, bytes ? bytes : 1);
	size_t i;

	assert_non_null(data);
	for (i = 0; i < bytes; i++)
		data[i] = (u8)random_below(256);
	return data;
}

static void make_constant(struct bench *b, u32 index)
{
	b->graph->tensor[index].data = random_bytes(b, b->graph->tensor[index].bytes);
}

static struct npu_op *add_op(struct bench *b, enum npu_op_kind kind, u32 inputs)
{
	struct npu_op *op = npu_graph_add_op(b->graph, kind, "op", inputs, 1);

	assert_non_null(op);
	op->groups = 1;
	return op;
}

static s32 stored_value(const struct npu_tensor *tensor, const void *data, size_t i)
{
	switch (tensor->dtype) {
	case NPU_I8:
		return ((const s8 *)data)[i];
	case NPU_U8:
		return ((const u8 *)data)[i];
	default:
		return ((const s32 *)data)[i];
	}
}

/* Scale of kernel @k's weights, or of the whole tensor. */
static float scale_of(const struct npu_tensor *tensor, u32 k)
{
	return tensor->quant.scale[tensor->quant.count > 1 ? k : 0];
}

/* The real numbers that an input's stored values stand for; indices stay what they are. */
static void *real_input(struct bench *b, const struct npu_op *op, u32 i, const void *data)
{
	const struct npu_tensor *tensor = npu_op_input(b->graph, op, i);
	bool is_bias = i == 2 && tensor->dtype == NPU_I32 && op->kind != NPU_OP_CONCAT;
	size_t e, count = npu_tensor_elements(tensor);
	float *real = npu_arena_array(&b->graph->arena, count, 2 * sizeof(*real));

	assert_non_null(real);
	if (tensor->dtype == NPU_I64 || (tensor->dtype == NPU_I32 && !is_bias)) {
		memcpy(real, data, tensor->bytes);
		return real;
	}
	for (e = 0; e < count; e++) {
		u32 k = (u32)(e / (count / max(tensor->quant.count, 1u)));
		float scale = is_bias ? scale_of(npu_op_input(b->graph, op, 0), 0) *
						scale_of(npu_op_input(b->graph, op, 1), (u32)e)
				      : scale_of(tensor, k);
		s32 zero = tensor->quant.count == 1 ? tensor->quant.zero[0] : 0;

		real[e] = scale * (float)(stored_value(tensor, data, e) - zero);
	}
	return real;
}

/* As float32 it computes the same as with bytes, to within a unit, where bytes do not saturate. */
static void compare_float(struct bench *b, const void *const *input, const void *stored)
{
	const struct npu_op *op = &b->graph->op[0];
	const struct npu_tensor out = *npu_op_output(b->graph, op);
	/* INT8 takes positions in 1/1024 of a pixel; hard swish has 16 bits in between. */
	bool rough = op->kind == NPU_OP_HARD_SWISH || op->kind == NPU_OP_RESIZE_BILINEAR;
	const float tolerance = rough ? 2.6f : 1.1f;
	struct npu_tensor *tensors = b->graph->tensor;
	const void *real[NPU_MAX_INPUTS] = { NULL };
	size_t i, count = npu_tensor_elements(&out);
	float *result = npu_arena_array(&b->graph->arena, count, 2 * sizeof(*result));
	void *output = result;
	const struct npu_cpu_call call = { b->graph, op, real, &output };

	assert_non_null(result);
	for (i = 0; i < op->input_count; i++)
		if (npu_op_input(b->graph, op, (u32)i))
			real[i] = real_input(b, op, (u32)i, input[i]);
	/* The graph is not needed as it was any more. */
	for (i = 0; i < b->graph->tensor_count; i++)
		if (tensors[i].dtype == NPU_I8 || tensors[i].dtype == NPU_U8) {
			tensors[i].dtype = NPU_F32;
			tensors[i].bytes *= sizeof(float);
		}
	assert_null(npu_cpu_check(b->graph, op));
	assert_int_equal(npu_cpu_execute(&call), 0);
	if (out.dtype != NPU_I8 && out.dtype != NPU_U8) {
		assert_memory_equal(output, stored, out.bytes);
		return;
	}
	for (i = 0; i < count; i++) {
		float units = result[i] / out.quant.scale[0] + (float)out.quant.zero[0];
		s32 low = out.dtype == NPU_I8 ? -128 : 0;

		if (units > (float)low && units < (float)(low + 255))
			assert_float_equal(units, (float)stored_value(&out, stored, i), tolerance);
	}
}

/*
 * Padding and concatenation move bytes as they are, whatever the operands' scales; steep functions
 * tell float32 from the number that a byte stands for (see test_function_float()).
 */
static bool has_float_form(const struct bench *b)
{
	const struct npu_op *op = &b->graph->op[0];
	enum npu_dtype in = npu_op_input(b->graph, op, 0)->dtype;

	return (in == NPU_I8 || in == NPU_U8) && op->kind != NPU_OP_QUANTIZE &&
	       op->kind != NPU_OP_DEQUANTIZE && op->kind != NPU_OP_PAD &&
	       op->kind != NPU_OP_CONCAT && op->kind != NPU_OP_FUNCTION &&
	       npu_op_input(b->graph, op, 0)->quant.count;
}

/* Runs op 0 both ways on the same random inputs. */
static void compare(struct bench *b)
{
	const struct npu_op *op = &b->graph->op[0];
	const struct npu_tensor *out = npu_op_output(b->graph, op);
	const void *input[NPU_MAX_INPUTS] = { NULL };
	void *output = malloc(out->bytes ? out->bytes : 1);
	const struct npu_cpu_call call = { b->graph, op, input, &output };
	struct npu_reference *reference;
	struct npu_diag diag = { "" };
	u32 i;

	assert_non_null(output);
	assert_int_equal(npu_reference_new(b->graph, &reference, &diag), 0);
	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *tensor = npu_op_input(b->graph, op, i);

		if (!tensor)
			continue;
		input[i] = tensor->data;
		if (!input[i]) {
			input[i] = random_bytes(b, tensor->bytes);
			memcpy(npu_reference_tensor(reference, op->input[i]), input[i],
			       tensor->bytes);
		}
	}
	assert_null(npu_cpu_check(b->graph, op));
	assert_int_equal(npu_cpu_execute(&call), 0);
	assert_int_equal(npu_reference_run_op(reference, 0, NULL, &diag), 0);
	assert_memory_equal(output, npu_reference_tensor(reference, op->output[0]), out->bytes);
	npu_reference_free(reference);
	if (has_float_form(b))
		compare_float(b, input, output);
	free(output);
}

static void end(struct bench *b)
{
	npu_graph_free(b->graph);
}

static enum npu_activation random_activation(void)
{
	return (enum npu_activation)random_below(4);
}

/* Weights with one scale for each kernel (INT8) or one for all, and an INT32 bias. */
static void add_weights(struct bench *b, struct npu_op *op, const u32 *dim, u32 rank)
{
	const u32 bias_dim[1] = { dim[0] };
	u32 weights = add_tensor(b, b->dtype, rank, dim, random_scale() / 50,
				 b->dtype == NPU_I8 ? 0 : random_zero(NPU_U8));
	u32 bias, i;
	s32 *values;

	make_constant(b, weights);
	if (b->dtype == NPU_I8 && op->kind != NPU_OP_FULLY_CONNECTED) {
		float *scales = npu_arena_array(&b->graph->arena, dim[0], sizeof(*scales));
		s32 *zeros = npu_arena_array(&b->graph->arena, dim[0], sizeof(*zeros));

		for (i = 0; i < dim[0]; i++)
			scales[i] = random_scale() / 50;
		b->graph->tensor[weights].quant = (struct npu_quant){ dim[0], 0, scales, zeros };
	}
	op->input[1] = weights;
	if (random_below(4) == 0)
		return;
	bias = add_tensor(b, NPU_I32, 1, bias_dim, 0, 0);
	values = random_bytes(b, dim[0] * sizeof(*values));
	for (i = 0; i < dim[0]; i++)
		values[i] /= 1 << random_below(20);
	b->graph->tensor[bias].data = values;
	op->input[2] = bias;
}

static u32 out_size(u32 in, u32 kernel, u32 dilation, u32 stride, u32 before, u32 after)
{
	return (u32)((in + before + after - npu_dilated(kernel, dilation)) / stride + 1);
}

static struct npu_window random_window(u32 h, u32 w)
{
	struct npu_window window = { .r = 1 + random_below(min(h, 3u)),
				     .s = 1 + random_below(min(w, 3u)),
				     .stride_y = 1 + random_below(3),
				     .stride_x = 1 + random_below(3),
				     .dilation_y = 1,
				     .dilation_x = 1 };

	window.pad_top = random_below(window.r);
	window.pad_bottom = random_below(window.r);
	window.pad_left = random_below(window.s);
	window.pad_right = random_below(window.s);
	return window;
}

static void one_conv(bool depthwise, bool dilated)
{
	struct bench b = begin();
	struct npu_op *op = add_op(&b, NPU_OP_CONV, 3);
	u32 h = 1 + random_below(9), w = 1 + random_below(9), c = 1 + random_below(10);
	u32 k = depthwise ? c * (1 + random_below(2)) : 1 + random_below(9);
	u32 dim[4];

	op->window = random_window(h, w);
	if (dilated && h > 6 && w > 6)
		op->window.dilation_y = op->window.dilation_x = 2;
	op->groups = depthwise ? c : 1;
	op->activation = random_activation();
	op->input[0] = add_image(&b, h, w, c);
	dim[0] = k;
	dim[1] = op->window.r;
	dim[2] = op->window.s;
	dim[3] = depthwise ? 1 : c;
	add_weights(&b, op, dim, 4);
	op->output[0] =
		add_image(&b,
			  out_size(h, op->window.r, op->window.dilation_y, op->window.stride_y,
				   op->window.pad_top, op->window.pad_bottom),
			  out_size(w, op->window.s, op->window.dilation_x, op->window.stride_x,
				   op->window.pad_left, op->window.pad_right),
			  k);
	compare(&b);
	end(&b);
}

static void test_conv(void **unused)
{
	u32 i;

	for (i = 0; i < 2 * ROUNDS; i++)
		one_conv(i % 2, i % 3 == 0);
}

static void test_fully_connected(void **unused)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_FULLY_CONNECTED, 3);
		const u32 in[2] = { 1 + random_below(3), 1 + random_below(50) };
		const u32 dim[2] = { 1 + random_below(20), in[1] };
		const u32 out[2] = { in[0], dim[0] };

		op->activation = random_activation();
		op->input[0] = add_tensor(&b, b.dtype, 2, in, random_scale(), random_zero(b.dtype));
		add_weights(&b, op, dim, 2);
		op->output[0] =
			add_tensor(&b, b.dtype, 2, out, random_scale(), random_zero(b.dtype));
		compare(&b);
		end(&b);
	}
}

static void test_transpose_conv(void **unused)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_TRANSPOSE_CONV, 3);
		u32 h = 1 + random_below(5), w = 1 + random_below(5), c = 1 + random_below(6);
		u32 stride = 1 + random_below(3), kernel = 1 + random_below(4);
		u32 pad = random_below(kernel);
		u32 out_h = (h - 1) * stride + kernel - pad,
		    out_w = (w - 1) * stride + kernel - pad;
		const u32 dim[4] = { 1 + random_below(5), kernel, kernel, c };

		op->window =
			(struct npu_window){ kernel, kernel, stride, stride, 1, 1, pad, pad, 0, 0 };
		op->input[0] = add_image(&b, h, w, c);
		add_weights(&b, op, dim, 4);
		op->output[0] = add_image(&b, out_h, out_w, dim[0]);
		compare(&b);
		end(&b);
	}
}

/* Sometimes, as far as the window stays inside of @size. */
static void dilate(u32 *dilation, u32 kernel, u32 size)
{
	if (kernel > 1 && random_below(3) == 0)
		*dilation = 1 + random_below((size - 1) / (kernel - 1));
}

static void test_pool(void **unused)
{
	u32 i;

	for (i = 0; i < 2 * ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, i % 2 ? NPU_OP_MAX_POOL : NPU_OP_AVERAGE_POOL, 1);
		u32 h = 1 + random_below(9), w = 1 + random_below(9), c = 1 + random_below(5);
		struct npu_tensor *in, *out;

		op->window = random_window(h, w);
		dilate(&op->window.dilation_y, op->window.r, h + op->window.pad_top);
		dilate(&op->window.dilation_x, op->window.s, w + op->window.pad_left);
		op->activation = random_activation();
		op->input[0] = add_image(&b, h, w, c);
		op->output[0] = add_image(
			&b,
			out_size(h, op->window.r, op->window.dilation_y, op->window.stride_y,
				 op->window.pad_top, op->window.pad_bottom),
			out_size(w, op->window.s, op->window.dilation_x, op->window.stride_x,
				 op->window.pad_left, op->window.pad_right),
			c);
		/* Pooling keeps the quantisation. */
		in = &b.graph->tensor[op->input[0]];
		out = &b.graph->tensor[op->output[0]];
		out->quant = in->quant;
		compare(&b);
		end(&b);
	}
}

static void one_binary(enum npu_op_kind kind)
{
	struct bench b = begin();
	struct npu_op *op = add_op(&b, kind, 2);
	u32 dim[2][4], out[4], d, which;
	bool same = kind == NPU_OP_MINIMUM || kind == NPU_OP_MAXIMUM;

	for (d = 0; d < 4; d++) {
		out[d] = d ? 1 + random_below(5) : 1;
		for (which = 0; which < 2; which++)
			dim[which][d] = random_below(4) ? out[d] : 1;
		if (dim[0][d] == 1)
			dim[1][d] = out[d];
	}
	/* The second operand may have fewer dimensions. */
	d = random_below(3) && dim[1][0] == 1 ? 0 : 1;
	op->activation = same ? NPU_ACT_NONE : random_activation();
	op->input[0] = add_tensor(&b, b.dtype, 4, dim[0], random_scale(), random_zero(b.dtype));
	op->input[1] =
		add_tensor(&b, b.dtype, 4 - d, dim[1] + d, random_scale(), random_zero(b.dtype));
	op->output[0] = add_tensor(&b, b.dtype, 4, out, random_scale(), random_zero(b.dtype));
	if (same) {
		b.graph->tensor[op->input[1]].quant = b.graph->tensor[op->input[0]].quant;
		b.graph->tensor[op->output[0]].quant = b.graph->tensor[op->input[0]].quant;
	}
	compare(&b);
	end(&b);
}

static void test_binary(void **unused)
{
	static const enum npu_op_kind kinds[] = { NPU_OP_ADD, NPU_OP_SUB, NPU_OP_MUL,
						  NPU_OP_MINIMUM, NPU_OP_MAXIMUM };
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		for (i = 0; i < ROUNDS; i++)
			one_binary(kinds[k]);
}

static void test_prelu(void **unused)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_PRELU, 2);
		u32 h = 1 + random_below(5), w = 1 + random_below(5), c = 1 + random_below(6);
		const u32 slope[3] = { 1, 1, c };

		op->input[0] = add_image(&b, h, w, c);
		op->input[1] = add_tensor(&b, b.dtype, 3, slope, random_scale() / 20,
					  random_zero(b.dtype));
		make_constant(&b, op->input[1]);
		op->output[0] = add_image(&b, h, w, c);
		compare(&b);
		end(&b);
	}
}

/* Every stored value once. */
static void one_unary(enum npu_op_kind kind)
{
	struct bench b = begin();
	struct npu_op *op = add_op(&b, kind, 1);
	float scale = random_scale() / 20;

	op->input[0] = add_image(&b, 16, 16, 4);
	b.graph->tensor[op->input[0]].quant.count = 0;
	op->input[0] = add_image(&b, 16, 16, 4);
	op->output[0] = add_image(&b, 16, 16, 4);
	if (kind == NPU_OP_RELU)
		op->activation = (enum npu_activation)(1 + random_below(3));
	if (kind == NPU_OP_LEAKY_RELU)
		op->alpha = (float)random_below(1000) / 1000.0f;
	if (kind == NPU_OP_HARD_SWISH) {
		/* Its output may not be finer than 1/128 of the input's units. */
		*(float *)(uintptr_t)b.graph->tensor[op->input[0]].quant.scale = scale;
		*(float *)(uintptr_t)b.graph->tensor[op->output[0]].quant.scale =
			scale * (0.2f + (float)random_below(100) / 50.0f);
	}
	compare(&b);
	end(&b);
}

static void test_unary(void **unused)
{
	static const enum npu_op_kind kinds[] = { NPU_OP_RELU, NPU_OP_LEAKY_RELU, NPU_OP_LOGISTIC,
						  NPU_OP_TANH, NPU_OP_HARD_SWISH };
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++)
		for (i = 0; i < ROUNDS; i++)
			one_unary(kinds[k]);
}

static void test_softmax(void **unused)
{
	u32 i;

	for (i = 0; i < 2 * ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_SOFTMAX, 1);
		const u32 dim[2] = { 1 + random_below(4), 1 + random_below(i % 10 ? 40 : 1500) };

		op->alpha = random_below(3) ? 1.0f : random_scale();
		op->input[0] =
			add_tensor(&b, b.dtype, 2, dim, random_scale() / 10, random_zero(b.dtype));
		op->output[0] =
			add_tensor(&b, b.dtype, 2, dim, 1.0f / 256, b.dtype == NPU_I8 ? -128 : 0);
		compare(&b);
		end(&b);
	}
}

static void same_quant(struct bench *b, const struct npu_op *op)
{
	b->graph->tensor[op->output[0]].quant = b->graph->tensor[op->input[0]].quant;
}

static void test_pad(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_PAD, 2);
		u32 dim[4], out[4];

		for (d = 0; d < 4; d++) {
			dim[d] = d ? 1 + random_below(5) : 1;
			op->begin[d] = (s32)random_below(3);
			op->end[d] = (s32)random_below(3);
			out[d] = dim[d] + (u32)(op->begin[d] + op->end[d]);
		}
		op->input[0] =
			add_tensor(&b, b.dtype, 4, dim, random_scale(), random_zero(b.dtype));
		if (i % 2) {
			const u32 one[1] = { 1 };

			op->input[1] = add_tensor(&b, b.dtype, 1, one, random_scale(), 0);
			make_constant(&b, op->input[1]);
		}
		op->output[0] = add_tensor(&b, b.dtype, 4, out, 1, 0);
		same_quant(&b, op);
		compare(&b);
		end(&b);
	}
}

static void test_transpose(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_TRANSPOSE, 1);
		u32 dim[4], out[4];

		for (d = 0; d < 4; d++) {
			dim[d] = 1 + random_below(5);
			op->begin[d] = (s32)d;
		}
		for (d = 3; d > 0; d--) {
			u32 other = random_below(d + 1);
			s32 kept = op->begin[d];

			op->begin[d] = op->begin[other];
			op->begin[other] = kept;
		}
		for (d = 0; d < 4; d++)
			out[d] = dim[op->begin[d]];
		op->input[0] = add_tensor(&b, i % 3 ? b.dtype : NPU_I32, 4, dim, 1, 0);
		op->output[0] = add_tensor(&b, i % 3 ? b.dtype : NPU_I32, 4, out, 1, 0);
		compare(&b);
		end(&b);
	}
}

static void test_slice(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_SLICE, 1);
		u32 dim[4], out[4], rank = 0;

		for (d = 0; d < 4; d++) {
			s32 step = 1 + (s32)random_below(3);

			dim[d] = 1 + random_below(8);
			op->end[d] = 1 + (s32)random_below((dim[d] - 1) / (u32)step + 1);
			op->step[d] = step;
			op->begin[d] = (s32)random_below(dim[d] - (u32)((op->end[d] - 1) * step));
			if (random_below(4) == 0) {
				/* Backwards. */
				op->begin[d] += (op->end[d] - 1) * step;
				op->step[d] = -step;
			}
			if (op->end[d] > 1 || random_below(2))
				out[rank++] = (u32)op->end[d];
		}
		op->input[0] = add_tensor(&b, b.dtype, 4, dim, 1, 0);
		op->output[0] = add_tensor(&b, b.dtype, rank, out, 1, 0);
		compare(&b);
		end(&b);
	}
}

static void test_concat(void **unused)
{
	u32 i, k, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		u32 inputs = 2 + random_below(3), axis = 1 + random_below(3);
		struct npu_op *op = add_op(&b, NPU_OP_CONCAT, inputs);
		u32 dim[4], out[4];

		for (d = 0; d < 4; d++)
			dim[d] = out[d] = d ? 1 + random_below(5) : 1;
		out[axis] = 0;
		op->axis = (s32)axis;
		for (k = 0; k < inputs; k++) {
			dim[axis] = 1 + random_below(4);
			out[axis] += dim[axis];
			op->input[k] = add_tensor(&b, b.dtype, 4, dim, random_scale(),
						  random_zero(b.dtype));
		}
		op->output[0] =
			add_tensor(&b, b.dtype, 4, out, random_scale(), random_zero(b.dtype));
		compare(&b);
		end(&b);
	}
}

static void test_gather(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		u32 axis = random_below(3);
		struct npu_op *op = add_op(&b, NPU_OP_GATHER, 2);
		const u32 count[1] = { 1 + random_below(5) };
		u32 dim[3], out[3];
		s32 *index;
		s64 *wide;

		for (d = 0; d < 3; d++)
			dim[d] = out[d] = 1 + random_below(5);
		out[axis] = count[0];
		op->axis = (s32)axis;
		op->input[0] = add_tensor(&b, b.dtype, 3, dim, 1, 0);
		op->input[1] = add_tensor(&b, i % 2 ? NPU_I32 : NPU_I64, 1, count, 0, 0);
		index = random_bytes(&b, count[0] * sizeof(*index));
		wide = random_bytes(&b, count[0] * sizeof(*wide));
		for (d = 0; d < count[0]; d++)
			wide[d] = index[d] = (s32)random_below(2 * dim[axis]) - (s32)dim[axis];
		b.graph->tensor[op->input[1]].data = i % 2 ? (void *)index : (void *)wide;
		op->output[0] = add_tensor(&b, b.dtype, 3, out, 1, 0);
		compare(&b);
		end(&b);
	}
}

/* Indices of so many values, from either end of dimensions of @size in turn. */
static void fill_indices(struct bench *b, u32 tensor, const u32 *size, u32 turn)
{
	u64 count = npu_tensor_elements(&b->graph->tensor[tensor]), i;
	s64 *index = random_bytes(b, count * sizeof(*index));

	for (i = 0; i < count; i++)
		index[i] = (s32)random_below(2 * size[i % turn]) - (s32)size[i % turn];
	b->graph->tensor[tensor].data = index;
}

/* Few values, so that many are equal. */
static void test_top(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		u32 axis = random_below(3), dim[3], some[3];
		struct npu_op *op = add_op(&b, i % 2 ? NPU_OP_TOP_MOST : NPU_OP_TOP_LEAST, 1);

		for (d = 0; d < 3; d++)
			dim[d] = some[d] = 1 + random_below(d == axis ? 300 : 4);
		some[axis] = 1 + random_below(dim[axis]);
		op->axis = (s32)axis;
		op->input[0] = add_tensor(&b, b.dtype, 3, dim, 1, 0);
		op->output[0] = add_tensor(&b, i % 4 < 2 ? NPU_I32 : NPU_I64, 3, some, 0, 0);
		compare(&b);
		end(&b);
	}
}

/* Each index has an element of the result, or of what is put, at its own place. */
static void compare_elements(enum npu_op_kind kind)
{
	bool scatter = kind == NPU_OP_SCATTER_ELEMENTS;
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		u32 axis = random_below(3), dim[3], some[3];
		struct npu_op *op = add_op(&b, kind, scatter ? 3 : 2);

		for (d = 0; d < 3; d++) {
			dim[d] = 1 + random_below(5);
			some[d] = 1 + random_below(d == axis ? 7 : dim[d]);
		}
		op->axis = (s32)axis;
		op->input[0] = add_tensor(&b, b.dtype, 3, dim, 1, 0);
		op->input[1] = add_tensor(&b, NPU_I64, 3, some, 0, 0);
		fill_indices(&b, op->input[1], &dim[axis], 1);
		if (scatter)
			op->input[2] = add_tensor(&b, b.dtype, 3, some, 1, 0);
		op->output[0] = add_tensor(&b, b.dtype, 3, scatter ? dim : some, 1, 0);
		compare(&b);
		end(&b);
	}
}

static void test_gather_elements(void **unused)
{
	compare_elements(NPU_OP_GATHER_ELEMENTS);
}

static void test_scatter_elements(void **unused)
{
	compare_elements(NPU_OP_SCATTER_ELEMENTS);
}

static void test_gather_nd(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		u32 first = random_below(3), depth = 1 + random_below(4 - first), rank = first;
		u32 dim[4], index[4], out[8];
		struct npu_op *op = add_op(&b, NPU_OP_GATHER_ND, 2);

		for (d = 0; d < 4; d++)
			dim[d] = 1 + random_below(4);
		memcpy(index, dim, sizeof(index));
		memcpy(out, dim, sizeof(out[0]) * first);
		index[first] = out[rank++] = 1 + random_below(6);
		index[first + 1] = depth;
		for (d = first + depth; d < 4; d++)
			out[rank++] = dim[d];
		op->axis = (s32)first;
		op->input[0] = add_tensor(&b, b.dtype, 4, dim, 1, 0);
		op->input[1] = add_tensor(&b, NPU_I64, first + 2, index, 0, 0);
		fill_indices(&b, op->input[1], &dim[first], depth);
		op->output[0] = add_tensor(&b, b.dtype, rank, out, 1, 0);
		compare(&b);
		end(&b);
	}
}

static void test_scatter_nd(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		u32 depth = 1 + random_below(4), rank = 1, dim[4], index[2], some[5];
		struct npu_op *op = add_op(&b, NPU_OP_SCATTER_ND, 3);

		for (d = 0; d < 4; d++)
			dim[d] = 1 + random_below(4);
		index[0] = some[0] = 1 + random_below(6);
		index[1] = depth;
		for (d = depth; d < 4; d++)
			some[rank++] = dim[d];
		op->input[0] = add_tensor(&b, b.dtype, 4, dim, 1, 0);
		op->input[1] = add_tensor(&b, NPU_I64, 2, index, 0, 0);
		fill_indices(&b, op->input[1], dim, depth);
		op->input[2] = add_tensor(&b, b.dtype, rank, some, 1, 0);
		op->output[0] = add_tensor(&b, b.dtype, 4, dim, 1, 0);
		compare(&b);
		end(&b);
	}
}

static void test_gather_out_of_range(void **unused)
{
	static const enum npu_op_kind kinds[] = { NPU_OP_GATHER, NPU_OP_GATHER_ELEMENTS,
						  NPU_OP_GATHER_ND, NPU_OP_SCATTER_ELEMENTS,
						  NPU_OP_SCATTER_ND };
	static const s32 bad[] = { -5, 4, INT32_MIN, INT32_MAX };
	const u32 dim[1] = { 4 }, count[1] = { 1 };
	const s8 in[4] = { 1, 2, 3, 4 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad) * ARRAY_SIZE(kinds); i++) {
		struct bench b = begin();
		bool scatter = i % ARRAY_SIZE(kinds) > 2;
		struct npu_op *op = add_op(&b, kinds[i % ARRAY_SIZE(kinds)], scatter ? 3 : 2);
		const void *input[3] = { in, &bad[i / ARRAY_SIZE(kinds)], in };
		s8 result[4];
		void *output = result;
		const struct npu_cpu_call call = { b.graph, op, input, &output };

		op->input[0] = add_tensor(&b, b.dtype, 1, dim, 1, 0);
		op->input[1] = add_tensor(&b, NPU_I32, 1, count, 0, 0);
		if (scatter)
			op->input[2] = add_tensor(&b, b.dtype, 1, count, 1, 0);
		op->output[0] = add_tensor(&b, b.dtype, 1, scatter ? dim : count, 1, 0);
		assert_int_equal(npu_cpu_execute(&call), -EINVAL);
		end(&b);
	}
}

static void test_resize(void **unused)
{
	u32 i;

	for (i = 0; i < 4 * ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op =
			add_op(&b, i % 2 ? NPU_OP_RESIZE_NEAREST : NPU_OP_RESIZE_BILINEAR, 1);
		u32 c = 1 + random_below(4), mode = random_below(3);

		op->align_corners = mode == 1;
		op->half_pixel_centers = mode == 2;
		op->input[0] = add_image(&b, 1 + random_below(9), 1 + random_below(9), c);
		op->output[0] = add_image(&b, 1 + random_below(20), 1 + random_below(20), c);
		same_quant(&b, op);
		compare(&b);
		end(&b);
	}
}

static void test_reduce(void **unused)
{
	u32 i, d;

	for (i = 0; i < 2 * ROUNDS; i++) {
		struct bench b = begin();
		static const enum npu_op_kind kinds[] = { NPU_OP_MEAN, NPU_OP_REDUCE_SUM,
							  NPU_OP_REDUCE_MAX, NPU_OP_REDUCE_MIN };
		struct npu_op *op = add_op(&b, kinds[i % ARRAY_SIZE(kinds)], 1);
		u32 dim[4], out[4], rank = 0;

		op->axes = 1 + random_below(15);
		for (d = 0; d < 4; d++) {
			dim[d] = 1 + random_below(7);
			if (!(op->axes >> d & 1))
				out[rank++] = dim[d];
		}
		op->input[0] =
			add_tensor(&b, b.dtype, 4, dim, random_scale(), random_zero(b.dtype));
		op->output[0] =
			add_tensor(&b, b.dtype, rank, out, random_scale(), random_zero(b.dtype));
		if (op->kind == NPU_OP_REDUCE_MAX || op->kind == NPU_OP_REDUCE_MIN)
			same_quant(&b, op);
		compare(&b);
		end(&b);
	}
}

static void test_arg_max(void **unused)
{
	u32 i, d;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, i % 3 ? NPU_OP_ARG_MAX : NPU_OP_ARG_MIN, 1);
		u32 dim[3], out[3], rank = 0, axis = random_below(3);

		op->axis = (s32)axis;
		for (d = 0; d < 3; d++) {
			dim[d] = 1 + random_below(9);
			if (d != axis)
				out[rank++] = dim[d];
		}
		op->input[0] = add_tensor(&b, b.dtype, 3, dim, 1, 0);
		op->output[0] = add_tensor(&b, i % 2 ? NPU_I32 : NPU_I64, rank, out, 0, 0);
		compare(&b);
		end(&b);
	}
}

/* Leading dimensions are there or not, stretched or not. */
static void test_matmul(void **unused)
{
	u32 i, d;

	for (i = 0; i < 2 * ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_MATMUL, 2);
		u32 m = 1 + random_below(9), k = 1 + random_below(60), n = 1 + random_below(9);
		u32 a[4] = { 1, 1, m, k }, c[4] = { 1, 1, k, n }, out[4] = { 1, 1, m, n };
		u32 skip_a = random_below(3), skip_c = random_below(3);
		float scale = random_scale() * 20;

		for (d = 0; d < 2; d++) {
			u32 size = 1 + random_below(3);

			if (d >= skip_a && random_below(3))
				a[d] = out[d] = size;
			if (d >= skip_c && (random_below(3) || a[d] == 1))
				c[d] = out[d] = size;
			out[d] = max(a[d], c[d]);
			c[d] = c[d] == 1 ? 1 : out[d];
			a[d] = a[d] == 1 ? 1 : out[d];
		}
		op->activation = random_activation();
		op->input[0] = add_tensor(&b, b.dtype, 4 - skip_a, a + skip_a, random_scale() / 4,
					  random_zero(b.dtype));
		op->input[1] = add_tensor(&b, b.dtype, 4 - skip_c, c + skip_c, random_scale() / 4,
					  random_zero(b.dtype));
		op->output[0] = add_tensor(&b, b.dtype, 4 - min(skip_a, skip_c),
					   out + min(skip_a, skip_c), scale, random_zero(b.dtype));
		compare(&b);
		end(&b);
	}
}

static void one_function(enum npu_function function)
{
	struct bench b = begin();
	struct npu_op *op = add_op(&b, NPU_OP_FUNCTION, 1);
	const u32 dim[2] = { 1 + random_below(9), 1 + random_below(40) };
	float scale = random_scale();

	op->function = function;
	op->alpha = (float)(1 + random_below(8)) / 4;
	op->beta = (float)random_below(8) / 4;
	op->gamma = (float)random_below(9) / 4 - 1;
	op->activation = random_activation();
	op->input[0] = add_tensor(&b, b.dtype, 2, dim, random_scale() / 50, random_zero(b.dtype));
	op->output[0] = add_tensor(&b, b.dtype, 2, dim, scale, random_zero(b.dtype));
	compare(&b);
	end(&b);
}

/* Where there is no value, both say so. */
static void test_function_float(void **unused)
{
	u32 i, j;

	for (i = 0; i < NPU_FN_COUNT; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_FUNCTION, 1);
		const u32 dim[1] = { 201 };
		struct npu_reference *reference;
		struct npu_diag diag = { "" };
		float in[201], result[201], *want;
		const void *input[1] = { in };
		void *output = result;
		const struct npu_cpu_call call = { b.graph, op, input, &output };

		op->function = (enum npu_function)i;
		op->alpha = 0.75f;
		op->beta = 0.25f;
		op->gamma = i % 2 ? 1.5f : 0.5f;
		op->input[0] = add_tensor(&b, NPU_F32, 1, dim, 0, 0);
		op->output[0] = add_tensor(&b, NPU_F32, 1, dim, 0, 0);
		assert_int_equal(npu_reference_new(b.graph, &reference, &diag), 0);
		for (j = 0; j < 201; j++)
			in[j] = ((float)j - 100) * (j % 10 ? 0.07f : 0.5f);
		memcpy(npu_reference_tensor(reference, op->input[0]), in, sizeof(in));
		assert_int_equal(npu_cpu_execute(&call), 0);
		assert_int_equal(npu_reference_run_op(reference, 0, NULL, &diag), 0);
		want = npu_reference_tensor(reference, op->output[0]);
		for (j = 0; j < 201; j++)
			if (isfinite(want[j]) || isfinite(result[j]))
				assert_float_equal(result[j], want[j],
						   1e-6f * fmaxf(1, fabsf(want[j])));
		npu_reference_free(reference);
		end(&b);
	}
}

static void test_function(void **unused)
{
	u32 i;

	for (i = 0; i < 20 * NPU_FN_COUNT; i++)
		one_function((enum npu_function)(i % NPU_FN_COUNT));
}

static void test_lrn(void **unused)
{
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_LRN, 1);
		u32 h = 1 + random_below(4), w = 1 + random_below(4), c = 1 + random_below(20);
		float scale = random_scale();

		op->size = 1 + random_below(9);
		op->alpha = random_scale() / (float)op->size;
		op->beta = (float)random_below(5) / 4;
		op->gamma = 0.5f + (float)random_below(3);
		op->activation = random_activation();
		op->input[0] = add_image(&b, h, w, c);
		op->output[0] = add_tensor(&b, b.dtype, 4, (const u32[]){ 1, h, w, c }, scale,
					   random_zero(b.dtype));
		compare(&b);
		end(&b);
	}
}

/* By hand: 2 / (1 + 2 * (1 + 4))^1 and so on; the window of two reaches to the right. */
static void test_lrn_values(void **unused)
{
	static const float in[3] = { 1, 2, 3 }, want[3] = { 1 / 11.0f, 2 / 27.0f, 3 / 19.0f };
	struct bench b = begin();
	struct npu_op *op = add_op(&b, NPU_OP_LRN, 1);
	const u32 dim[1] = { 3 };
	const void *input[1] = { in };
	float result[3];
	void *output = result;
	const struct npu_cpu_call call = { b.graph, op, input, &output };
	u32 i;

	op->size = 2;
	op->alpha = 2;
	op->beta = op->gamma = 1;
	op->input[0] = add_tensor(&b, NPU_F32, 1, dim, 0, 0);
	op->output[0] = add_tensor(&b, NPU_F32, 1, dim, 0, 0);
	assert_int_equal(npu_cpu_execute(&call), 0);
	for (i = 0; i < 3; i++)
		assert_float_equal(result[i], want[i], 1e-6);
	end(&b);
}

static void test_quantize(void **unused)
{
	static const enum npu_dtype types[] = { NPU_I8, NPU_U8, NPU_I16 };
	u32 i;

	for (i = 0; i < ROUNDS; i++) {
		struct bench b = begin();
		struct npu_op *op = add_op(&b, NPU_OP_QUANTIZE, 1);
		const u32 dim[2] = { 4, 100 };
		enum npu_dtype from = types[random_below(3)], to = types[random_below(2)];

		op->input[0] = add_tensor(&b, from, 2, dim, random_scale(),
					  from == NPU_I16 ? 0 : random_zero(from));
		op->output[0] = add_tensor(&b, to, 2, dim, random_scale(), random_zero(to));
		compare(&b);
		end(&b);
	}
}

/* From and to real values, at the edges too. */
static void test_float(void **unused)
{
	static float real[] = { 0,	0.24f, 0.25f,  0.26f, -0.25f,	 63.4f,
				63.75f, -64,   -64.3f, 1e30f, -INFINITY, INFINITY };
	static const s8 want[] = { 1, 1, 2, 2, 0, 127, 127, -127, -128, 127, -128, 127 };
	struct bench b = begin();
	struct npu_op *op = add_op(&b, NPU_OP_QUANTIZE, 1), *back;
	const u32 dim[1] = { ARRAY_SIZE(real) };
	const void *input[1] = { real };
	s8 stored[ARRAY_SIZE(real)];
	float again[ARRAY_SIZE(real)];
	void *output = stored;
	struct npu_cpu_call call = { b.graph, op, input, &output };
	u32 i;

	op->input[0] = add_tensor(&b, NPU_F32, 1, dim, 0, 0);
	op->output[0] = add_tensor(&b, NPU_I8, 1, dim, 0.5f, 1);
	assert_int_equal(npu_cpu_execute(&call), 0);
	assert_memory_equal(stored, want, sizeof(want));
	back = add_op(&b, NPU_OP_DEQUANTIZE, 1);
	back->input[0] = b.graph->op[0].output[0];
	back->output[0] = b.graph->op[0].input[0];
	call.op = back;
	input[0] = stored;
	output = again;
	assert_int_equal(npu_cpu_execute(&call), 0);
	for (i = 0; i < ARRAY_SIZE(real); i++)
		assert_true(again[i] == 0.5f * (float)(want[i] - 1));
	end(&b);
}

static void test_unsupported(void **unused)
{
	struct bench b = begin();
	struct npu_op *op = add_op(&b, NPU_OP_CONV, 3);
	const u32 dim[4] = { 1, 1, 1, 1 };
	const struct npu_cpu_call call = { b.graph, op, NULL, NULL };

	op->input[0] = add_tensor(&b, NPU_F16, 4, dim, 0, 0);
	op->output[0] = add_tensor(&b, NPU_F16, 4, dim, 0, 0);
	assert_non_null(npu_cpu_check(b.graph, op));
	assert_int_equal(npu_cpu_execute(&call), -ENOTSUP);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conv),
		cmocka_unit_test(test_fully_connected),
		cmocka_unit_test(test_transpose_conv),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_binary),
		cmocka_unit_test(test_prelu),
		cmocka_unit_test(test_unary),
		cmocka_unit_test(test_softmax),
		cmocka_unit_test(test_pad),
		cmocka_unit_test(test_transpose),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_concat),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_top),
		cmocka_unit_test(test_gather_elements),
		cmocka_unit_test(test_gather_nd),
		cmocka_unit_test(test_scatter_elements),
		cmocka_unit_test(test_scatter_nd),
		cmocka_unit_test(test_gather_out_of_range),
		cmocka_unit_test(test_resize),
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_arg_max),
		cmocka_unit_test(test_matmul),
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_function_float),
		cmocka_unit_test(test_lrn),
		cmocka_unit_test(test_lrn_values),
		cmocka_unit_test(test_quantize),
		cmocka_unit_test(test_float),
		cmocka_unit_test(test_unsupported),
	};

	return cmocka_run_group_tests_name("CPU operators", tests, NULL, NULL);
}
