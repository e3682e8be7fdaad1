// SPDX-License-Identifier: MIT
/*
 * The invariants of IR1.  A row of the table says what an operator takes; a
 * function behind it checks shapes against parameters.
 */
#include "pixels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct checker {
	const struct npu_graph *graph;
	const struct npu_op *op;
	u32 index; /* of @op */
	struct npu_diag *diag;
	bool *known; /* for each tensor: constant, graph input or output of an earlier operator */
};

#define TYPE(t) (1u << NPU_##t)

enum {
	BYTE_TYPES = TYPE(I8) | TYPE(U8),
	REAL_TYPES = BYTE_TYPES | TYPE(F32),
	ARITHMETIC_TYPES = REAL_TYPES | TYPE(I32),
	ALL_TYPES = (1u << NPU_DTYPE_COUNT) - 1,
};

enum {
	SAME_TYPE = 1 << 0, /* the output has the type of input 0 */
	SAME_QUANT = 1 << 1, /* and, where it is INT8 or UINT8, its scale and zero point */
	QUANTISED = 1 << 2, /* INT8 and UINT8 operands and results have one scale and zero point */
	SAME_SHAPE = 1 << 3, /* the output has the shape of input 0 */
	IMAGE = 1 << 4, /* input 0 and the output are of rank 4 with one image */
};

struct op_rule {
	u8 min_inputs, max_inputs;
	u16 types; /* that input 0 may have */
	u8 flags;
	int (*check)(const struct checker *checker);
};

static int fail(const struct checker *checker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(const struct checker *checker, const char *format, ...)
{
	const struct npu_op *op = checker->op;
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!op)
		return npu_diag_set(checker->diag, -EINVAL, "%s: %s", checker->graph->file, what);
	return npu_diag_set(checker->diag, -EINVAL, "%s: operator %u (%s, %.100s): %s",
			    checker->graph->file, checker->index,
			    op->kind < NPU_OP_COUNT ? npu_op_names[op->kind] : "?",
			    op->name ? op->name : "unnamed", what);
}

static const struct npu_tensor *input(const struct checker *checker, u32 i)
{
	return npu_op_input(checker->graph, checker->op, i);
}

static const struct npu_tensor *output(const struct checker *checker)
{
	return npu_op_output(checker->graph, checker->op);
}

static bool same_shape(const struct npu_tensor *a, const struct npu_tensor *b)
{
	return a->rank == b->rank && !memcmp(a->dim, b->dim, a->rank * sizeof(a->dim[0]));
}

static bool is_byte(const struct npu_tensor *tensor)
{
	return BYTE_TYPES >> tensor->dtype & 1;
}

static int check_convolution_operands(const struct checker *checker, u32 kernels)
{
	const struct npu_tensor *in = input(checker, 0);
	const struct npu_tensor *weights = input(checker, 1);
	const struct npu_tensor *bias = input(checker, 2);
	const struct npu_quant *quant = &weights->quant;
	u32 i;

	if (!weights->data || (bias && !bias->data))
		return fail(checker, "weights and bias must be constant");
	if (weights->dtype != in->dtype)
		return fail(checker, "%s weights for %s input", npu_dtype_names[weights->dtype],
			    npu_dtype_names[in->dtype]);
	if (bias && npu_tensor_elements(bias) != kernels)
		return fail(checker, "%llu bias values for %u kernels",
			    (unsigned long long)npu_tensor_elements(bias), kernels);
	if (bias && bias->dtype != (in->dtype == NPU_F32 ? NPU_F32 : NPU_I32))
		return fail(checker, "%s bias for %s input", npu_dtype_names[bias->dtype],
			    npu_dtype_names[in->dtype]);
	if (in->dtype == NPU_F32)
		return 0;
	if (quant->count != 1 && (quant->count != kernels || quant->axis != 0))
		return fail(checker, "weights have %u scales for %u kernels", quant->count,
			    kernels);
	if (in->dtype == NPU_U8 && quant->count != 1)
		return fail(checker, "uint8 weights with one scale a channel");
	for (i = 0; quant->count > 1 && i < quant->count; i++)
		if (quant->zero[i])
			return fail(checker, "weights of kernel %u have zero point %d, not 0", i,
				    quant->zero[i]);
	return 0;
}

static int check_window(const struct checker *checker, const struct npu_window *w)
{
	if (!w->r || !w->s || !w->stride_y || !w->stride_x || !w->dilation_y || !w->dilation_x)
		return fail(checker, "kernel size, stride and dilation must not be zero");
	if (npu_dilated(w->r, w->dilation_y) > INT32_MAX ||
	    npu_dilated(w->s, w->dilation_x) > INT32_MAX || w->stride_y > INT32_MAX ||
	    w->stride_x > INT32_MAX)
		return fail(checker, "kernel or stride too large");
	if (w->pad_top >= npu_dilated(w->r, w->dilation_y) ||
	    w->pad_bottom >= npu_dilated(w->r, w->dilation_y) ||
	    w->pad_left >= npu_dilated(w->s, w->dilation_x) ||
	    w->pad_right >= npu_dilated(w->s, w->dilation_x))
		return fail(checker, "padding is not smaller than the kernel");
	return 0;
}

/* (out - 1) * stride + kernel <= before + size + after, and no further step would fit. */
static bool steps_fit(u32 size, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride,
		      u32 out)
{
	u64 padded = (u64)size + before + after;
	u64 extent = npu_dilated(kernel, dilation);

	return extent <= padded && (padded - extent) / stride + 1 == out;
}

static int check_sliding(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	const struct npu_window *w = &checker->op->window;
	int error = check_window(checker, w);

	if (error)
		return error;
	if (!steps_fit(in->dim[1], w->pad_top, w->pad_bottom, w->r, w->dilation_y, w->stride_y,
		       out->dim[1]) ||
	    !steps_fit(in->dim[2], w->pad_left, w->pad_right, w->s, w->dilation_x, w->stride_x,
		       out->dim[2]))
		return fail(checker,
			    "%u x %u output does not follow from %u x %u input, kernel %u x %u",
			    out->dim[1], out->dim[2], in->dim[1], in->dim[2], w->r, w->s);
	return 0;
}

static int check_conv_weights(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	const struct npu_tensor *weights = input(checker, 1);
	const struct npu_window *w = &checker->op->window;
	u32 groups = checker->op->groups;

	if (weights->rank != 4)
		return fail(checker, "weights of rank %u", weights->rank);
	if (!groups || in->dim[3] % groups || weights->dim[0] % groups ||
	    weights->dim[3] != in->dim[3] / groups)
		return fail(checker, "%u kernels of %u channels in %u groups for %u input channels",
			    weights->dim[0], weights->dim[3], groups, in->dim[3]);
	if (weights->dim[1] != w->r || weights->dim[2] != w->s)
		return fail(checker, "weights are %u x %u, the window is %u x %u", weights->dim[1],
			    weights->dim[2], w->r, w->s);
	if (weights->dim[0] != out->dim[3])
		return fail(checker, "%u kernels for %u output channels", weights->dim[0],
			    out->dim[3]);
	return check_convolution_operands(checker, weights->dim[0]);
}

static int check_conv(const struct checker *checker)
{
	int error = check_conv_weights(checker);

	return error ? error : check_sliding(checker);
}

static int check_transpose_conv(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	const struct npu_window *w = &checker->op->window;
	int error = check_conv_weights(checker);

	if (!error && checker->op->groups != 1)
		error = fail(checker, "%u groups", checker->op->groups);
	if (!error)
		error = check_window(checker, w);
	if (error)
		return error;
	/* The convolution from output to input that it is the transpose of. */
	if (!steps_fit(out->dim[1], w->pad_top, w->pad_bottom, w->r, w->dilation_y, w->stride_y,
		       in->dim[1]) ||
	    !steps_fit(out->dim[2], w->pad_left, w->pad_right, w->s, w->dilation_x, w->stride_x,
		       in->dim[2]))
		return fail(checker, "%u x %u output does not follow from %u x %u input",
			    out->dim[1], out->dim[2], in->dim[1], in->dim[2]);
	return 0;
}

static int check_fully_connected(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	const struct npu_tensor *weights = input(checker, 1);

	if (weights->rank != 2)
		return fail(checker, "weights of rank %u", weights->rank);
	if (npu_tensor_elements(in) % weights->dim[1] ||
	    npu_tensor_elements(in) / weights->dim[1] * weights->dim[0] != npu_tensor_elements(out))
		return fail(checker, "%u x %u weights between %llu inputs and %llu outputs",
			    weights->dim[0], weights->dim[1],
			    (unsigned long long)npu_tensor_elements(in),
			    (unsigned long long)npu_tensor_elements(out));
	return check_convolution_operands(checker, weights->dim[0]);
}

/* Dimension @d of those in front of the last two, counted from these; 1 where there is none. */
static u32 batch_dim(const struct npu_tensor *tensor, u32 d)
{
	return d + 2 < tensor->rank ? tensor->dim[tensor->rank - 3 - d] : 1;
}

static int check_matmul(const struct checker *checker)
{
	const struct npu_tensor *a = input(checker, 0), *b = input(checker, 1);
	const struct npu_tensor *out = output(checker);
	const u32 *m, *n;
	u32 d;

	if (b->dtype != a->dtype)
		return fail(checker, "%s by %s", npu_dtype_names[a->dtype],
			    npu_dtype_names[b->dtype]);
	if (a->rank < 2 || b->rank < 2 || out->rank < 2)
		return fail(checker, "operands of rank %u and %u, result %u", a->rank, b->rank,
			    out->rank);
	m = &a->dim[a->rank - 2];
	n = &b->dim[b->rank - 2];
	if (m[1] != n[0] || out->dim[out->rank - 2] != m[0] || out->dim[out->rank - 1] != n[1])
		return fail(checker, "%u x %u by %u x %u is not %u x %u", m[0], m[1], n[0], n[1],
			    out->dim[out->rank - 2], out->dim[out->rank - 1]);
	for (d = 0; d + 2 < NPU_MAX_RANK; d++) {
		u32 da = batch_dim(a, d), db = batch_dim(b, d);

		if ((da != db && da != 1 && db != 1) || batch_dim(out, d) != max(da, db))
			return fail(checker, "leading dimensions do not broadcast to the result's");
	}
	return 0;
}

static int check_pool(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);

	if (in->dim[3] != out->dim[3])
		return fail(checker, "pooling changes the channels");
	return check_sliding(checker);
}

static int check_average(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);

	if (is_byte(in) && !npu_same_quant(in, out) &&
	    (in->quant.count != 1 || out->quant.count != 1))
		return fail(checker, "scale or zero point changes to or from none");
	return check_pool(checker);
}

/* Shapes are aligned at their last dimension; 1 stretches. */
static int check_broadcast(const struct checker *checker)
{
	const struct npu_tensor *out = output(checker);
	u32 i, d;

	for (i = 0; i < 2; i++)
		if (input(checker, i)->dtype != out->dtype)
			return fail(checker, "operands of types %s and %s, result %s",
				    npu_dtype_names[input(checker, 0)->dtype],
				    npu_dtype_names[input(checker, 1)->dtype],
				    npu_dtype_names[out->dtype]);
	for (d = 0; d < NPU_MAX_RANK; d++) {
		u32 dim[2], result = d < out->rank ? out->dim[out->rank - 1 - d] : 1;

		for (i = 0; i < 2; i++) {
			const struct npu_tensor *in = input(checker, i);

			dim[i] = d < in->rank ? in->dim[in->rank - 1 - d] : 1;
		}
		if ((dim[0] != dim[1] && dim[0] != 1 && dim[1] != 1) ||
		    result != max(dim[0], dim[1]))
			return fail(checker, "shapes do not broadcast to the result's");
	}
	return 0;
}

/* Stored values are compared: all have to stand for the same real ones. */
static int check_min_max(const struct checker *checker)
{
	if (is_byte(output(checker)) && !npu_same_quant(input(checker, 1), output(checker)))
		return fail(checker, "input 1 has another scale or zero point");
	return check_broadcast(checker);
}

static int check_prelu(const struct checker *checker)
{
	if (!input(checker, 1)->data)
		return fail(checker, "slopes must be constant");
	return check_broadcast(checker);
}

static int check_reshape(const struct checker *checker)
{
	if (npu_tensor_elements(input(checker, 0)) != npu_tensor_elements(output(checker)))
		return fail(checker, "reshape changes the number of elements");
	return 0;
}

static int check_transpose(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	u32 i, seen = 0;

	if (in->rank != out->rank)
		return fail(checker, "transpose changes the rank");
	for (i = 0; i < in->rank; i++) {
		s32 from = checker->op->begin[i];

		if (from < 0 || from >= (s32)in->rank || seen >> from & 1)
			return fail(checker, "not a permutation of the dimensions");
		seen |= 1u << from;
		if (out->dim[i] != in->dim[from])
			return fail(checker, "dimension %u is not the input's dimension %d", i,
				    from);
	}
	return 0;
}

static int check_pad(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	const struct npu_tensor *value = input(checker, 1);
	u32 i;

	if (in->rank != out->rank)
		return fail(checker, "pad changes the rank");
	if (value && (!value->data || npu_tensor_elements(value) != 1 || value->dtype != in->dtype))
		return fail(checker, "the padding value is not a constant of the input's type");
	for (i = 0; i < in->rank; i++) {
		s32 before = checker->op->begin[i], after = checker->op->end[i];

		if (before < 0 || after < 0 || (u64)in->dim[i] + before + after != out->dim[i])
			return fail(checker, "dimension %u: %d + %u + %d is not %u", i, before,
				    in->dim[i], after, out->dim[i]);
	}
	return 0;
}

static int check_axis(const struct checker *checker)
{
	if (checker->op->axis < 0 || checker->op->axis >= (s32)input(checker, 0)->rank)
		return fail(checker, "axis %d of a tensor of rank %u", checker->op->axis,
			    input(checker, 0)->rank);
	return 0;
}

static int check_concat(const struct checker *checker)
{
	const struct npu_tensor *out = output(checker);
	u64 total = 0;
	u32 i, d;
	int error = check_axis(checker);

	if (error)
		return error;
	for (i = 0; i < checker->op->input_count; i++) {
		const struct npu_tensor *in = input(checker, i);

		if (!in || in->dtype != out->dtype || in->rank != out->rank)
			return fail(checker, "input %u differs in type or rank", i);
		for (d = 0; d < in->rank; d++)
			if (d != checker->op->axis && in->dim[d] != out->dim[d])
				return fail(checker, "input %u: dimension %u is %u, not %u", i, d,
					    in->dim[d], out->dim[d]);
		/* INT8 concatenation moves bytes; the older UINT8 form may rescale. */
		if (in->dtype == NPU_I8 && !npu_same_quant(in, out))
			return fail(checker, "input %u has another scale or zero point", i);
		total += in->dim[checker->op->axis];
	}
	if (total != out->dim[checker->op->axis])
		return fail(checker, "inputs add up to %llu, the output has %u",
			    (unsigned long long)total, out->dim[checker->op->axis]);
	return 0;
}

static int check_slice(const struct checker *checker)
{
	const struct npu_op *op = checker->op;
	const struct npu_tensor *in = input(checker, 0);
	u64 taken = 1;
	u32 i;

	for (i = 0; i < in->rank; i++) {
		s64 last = op->begin[i] + ((s64)op->end[i] - 1) * op->step[i];

		if (!op->step[i] || op->end[i] < 1 || op->begin[i] < 0 ||
		    op->begin[i] >= (s64)in->dim[i] || last < 0 || last >= (s64)in->dim[i])
			return fail(checker, "dimension %u: slice leaves the input", i);
		taken *= op->end[i];
	}
	if (taken != npu_tensor_elements(output(checker)))
		return fail(checker, "slice takes %llu elements, the output has %llu",
			    (unsigned long long)taken,
			    (unsigned long long)npu_tensor_elements(output(checker)));
	return 0;
}

static int check_resize(const struct checker *checker)
{
	if (input(checker, 0)->dim[3] != output(checker)->dim[3])
		return fail(checker, "resize changes the channels");
	if (checker->op->align_corners && checker->op->half_pixel_centers)
		return fail(checker, "both aligned corners and half pixel centres");
	return 0;
}

static int check_reduce(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0);
	u64 left = 1;
	u32 i;

	if (!checker->op->axes || checker->op->axes >> in->rank)
		return fail(checker, "axes 0x%x of a tensor of rank %u", checker->op->axes,
			    in->rank);
	for (i = 0; i < in->rank; i++)
		if (!(checker->op->axes >> i & 1))
			left *= in->dim[i];
	if (left != npu_tensor_elements(output(checker)))
		return fail(checker, "reduction leaves %llu elements, the output has %llu",
			    (unsigned long long)left,
			    (unsigned long long)npu_tensor_elements(output(checker)));
	return 0;
}

static int check_arg_max(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	int error = check_axis(checker);

	if (error)
		return error;
	if (out->dtype != NPU_I32 && out->dtype != NPU_I64)
		return fail(checker, "%s indices", npu_dtype_names[out->dtype]);
	if (npu_tensor_elements(in) / in->dim[checker->op->axis] != npu_tensor_elements(out))
		return fail(checker, "output shape does not follow from the input's");
	return 0;
}

static int check_top(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	int error = check_axis(checker);
	u32 d;

	if (error)
		return error;
	if (out->dtype != NPU_I32 && out->dtype != NPU_I64)
		return fail(checker, "%s indices", npu_dtype_names[out->dtype]);
	if (in->rank != out->rank)
		return fail(checker, "output shape does not follow from the input's");
	for (d = 0; d < in->rank; d++)
		if ((s32)d == checker->op->axis ? out->dim[d] > in->dim[d]
						: out->dim[d] != in->dim[d])
			return fail(checker, "output shape does not follow from the input's");
	return 0;
}

static int check_indices(const struct checker *checker)
{
	const struct npu_tensor *indices = input(checker, 1);

	if (indices->dtype != NPU_I32 && indices->dtype != NPU_I64)
		return fail(checker, "%s indices", npu_dtype_names[indices->dtype]);
	return 0;
}

static int check_gather(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *indices = input(checker, 1);
	int error = check_axis(checker);

	if (!error)
		error = check_indices(checker);
	if (error)
		return error;
	if (npu_tensor_elements(in) / in->dim[checker->op->axis] * npu_tensor_elements(indices) !=
	    npu_tensor_elements(output(checker)))
		return fail(checker, "output shape does not follow from the inputs'");
	return 0;
}

/* Each index has a place in the input, but for the axis. */
static int check_places(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *indices = input(checker, 1);
	u32 d;

	for (d = 0; d < in->rank; d++)
		if ((s32)d != checker->op->axis && indices->dim[d] > in->dim[d])
			return fail(checker, "%u indices in dimension %u of %u", indices->dim[d], d,
				    in->dim[d]);
	return 0;
}

static int check_gather_elements(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *indices = input(checker, 1);
	int error = check_axis(checker);

	if (!error)
		error = check_indices(checker);
	if (error)
		return error;
	if (in->rank != indices->rank || !same_shape(indices, output(checker)))
		return fail(checker, "output shape does not follow from the inputs'");
	return check_places(checker);
}

static int check_gather_nd(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *indices = input(checker, 1);
	u32 first = (u32)checker->op->axis, depth, d;
	u64 elements = 1;
	int error = check_axis(checker);

	if (!error)
		error = check_indices(checker);
	if (error)
		return error;
	if (!indices->rank || first >= indices->rank)
		return fail(checker, "indices of %u dimensions, %u of which are shared",
			    indices->rank, first);
	depth = indices->dim[indices->rank - 1];
	if (depth > in->rank - first || memcmp(in->dim, indices->dim, first * sizeof(*in->dim)))
		return fail(checker, "indices of %u numbers for %u dimensions", depth,
			    in->rank - first);
	for (d = first + depth; d < in->rank; d++)
		elements *= in->dim[d];
	if (elements * (npu_tensor_elements(indices) / depth) !=
	    npu_tensor_elements(output(checker)))
		return fail(checker, "output shape does not follow from the inputs'");
	return 0;
}

/* What is put somewhere is of the type of what was there. */
static int check_updates(const struct checker *checker)
{
	const struct npu_tensor *updates = input(checker, 2), *out = output(checker);
	int error = check_indices(checker);

	if (error)
		return error;
	if (updates->dtype != out->dtype || (is_byte(out) && !npu_same_quant(updates, out)))
		return fail(checker, "elements of another type or scale");
	return 0;
}

static int check_scatter_elements(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *indices = input(checker, 1);
	int error = check_axis(checker);

	if (!error)
		error = check_updates(checker);
	if (error)
		return error;
	if (in->rank != indices->rank || !same_shape(indices, input(checker, 2)))
		return fail(checker, "indices, elements and input differ in shape");
	return check_places(checker);
}

static int check_scatter_nd(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *indices = input(checker, 1);
	const struct npu_tensor *updates = input(checker, 2);
	u32 depth, rows, d;
	int error = check_updates(checker);

	if (error)
		return error;
	if (!indices->rank || indices->dim[indices->rank - 1] > in->rank)
		return fail(checker, "indices of %u dimensions for %u", indices->rank, in->rank);
	rows = indices->rank - 1;
	depth = indices->dim[rows];
	if (updates->rank != rows + in->rank - depth)
		return fail(checker, "elements of %u dimensions", updates->rank);
	for (d = 0; d < updates->rank; d++)
		if (updates->dim[d] != (d < rows ? indices->dim[d] : in->dim[depth + d - rows]))
			return fail(checker, "%u elements in dimension %u", updates->dim[d], d);
	return 0;
}

static int check_quantize(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);

	/* INT16 stands at the ends of graphs only: nothing else takes it. */
	if (!is_byte(out) && out->dtype != NPU_I16)
		return fail(checker, "quantises to %s", npu_dtype_names[out->dtype]);
	if (out->quant.count != 1 || (in->dtype != NPU_F32 && in->quant.count != 1))
		return fail(checker, "input or output is not quantised per tensor");
	return 0;
}

static int check_dequantize(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);

	if (out->dtype != NPU_F32)
		return fail(checker, "dequantises to %s", npu_dtype_names[out->dtype]);
	if (in->quant.count != 1)
		return fail(checker, "input 0 is not quantised per tensor");
	return 0;
}

static int check_leaky_relu(const struct checker *checker)
{
	if (!isfinite(checker->op->alpha))
		return fail(checker, "the slope is not a number");
	return 0;
}

static int check_softmax(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);

	if (!isfinite(checker->op->alpha) || checker->op->alpha <= 0)
		return fail(checker, "beta is not a positive number");
	if (!in->rank || checker->op->axis != (s32)in->rank - 1)
		return fail(checker, "softmax over another dimension than the last");
	if (is_byte(out) && (out->quant.zero[0] != (out->dtype == NPU_I8 ? -128 : 0) ||
			     fabsf(out->quant.scale[0] - 1.0f / 256) > 1e-7f))
		return fail(checker,
			    "output scale %g, zero point %d; 1/256 and the least is needed",
			    (double)out->quant.scale[0], out->quant.zero[0]);
	return 0;
}

static int check_lrn(const struct checker *checker)
{
	const struct npu_op *op = checker->op;

	if (!input(checker, 0)->rank)
		return fail(checker, "a single number has no channels");
	if (!op->size)
		return fail(checker, "sums over no channel");
	/* The sum of squares is not negative: with these bounds the base is positive. */
	if (!isfinite(op->alpha) || op->alpha < 0 || !isfinite(op->beta) || !isfinite(op->gamma) ||
	    op->gamma <= 0)
		return fail(checker, "alpha %g, beta %g, constant %g", (double)op->alpha,
			    (double)op->beta, (double)op->gamma);
	return 0;
}

static int check_function(const struct checker *checker)
{
	const struct npu_op *op = checker->op;

	if (op->function >= NPU_FN_COUNT)
		return fail(checker, "function %d", op->function);
	if (!isfinite(op->alpha) || !isfinite(op->beta) || !isfinite(op->gamma))
		return fail(checker, "parameters %g, %g, %g", (double)op->alpha, (double)op->beta,
			    (double)op->gamma);
	return 0;
}

static int check_pixels(const struct checker *checker)
{
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	const struct npu_op *op = checker->op;
	u32 bytes, uv, i;

	if (op->pixels >= NPU_PIXELS_ORDER_COUNT)
		return fail(checker, "pixels of order %d", op->pixels);
	bytes = npu_pixel_bytes(op->pixels);
	uv = npu_pixel_uv_bytes(op->pixels);
	if (!is_byte(out) && out->dtype != NPU_F32)
		return fail(checker, "pixels become %s", npu_dtype_names[out->dtype]);
	if (in->dim[2] != out->dim[2] || in->dim[3] != (uv ? 1 : bytes) ||
	    in->dim[1] != (u64)out->dim[1] * (uv ? bytes + uv : 1) || out->dim[3] > bytes + uv)
		return fail(checker, "an image of other bytes than its pixels have");
	for (i = 0; i < out->dim[3]; i++)
		if (!isfinite(op->pixel_mean[i]) || !isfinite(op->pixel_scale[i]) ||
		    !op->pixel_scale[i])
			return fail(checker, "mean %g, scale %g", (double)op->pixel_mean[i],
				    (double)op->pixel_scale[i]);
	return 0;
}

static int check_logistic(const struct checker *checker)
{
	const struct npu_tensor *out = output(checker);

	if (is_byte(out) && fabsf(out->quant.scale[0] - 1.0f / 256) > 1e-7f)
		return fail(checker, "output scale %g; 1/256 is needed",
			    (double)out->quant.scale[0]);
	return 0;
}

#define MOVES (SAME_TYPE | SAME_QUANT)
#define COMPUTES (SAME_TYPE | QUANTISED)

static const struct op_rule op_rules[NPU_OP_COUNT] = {
	[NPU_OP_CONV] = { 2, 3, REAL_TYPES, COMPUTES | IMAGE, check_conv },
	[NPU_OP_TRANSPOSE_CONV] = { 2, 3, REAL_TYPES, COMPUTES | IMAGE, check_transpose_conv },
	[NPU_OP_FULLY_CONNECTED] = { 2, 3, REAL_TYPES, COMPUTES, check_fully_connected },
	[NPU_OP_MATMUL] = { 2, 2, REAL_TYPES, COMPUTES, check_matmul },
	[NPU_OP_MAX_POOL] = { 1, 1, REAL_TYPES, COMPUTES | SAME_QUANT | IMAGE, check_pool },
	[NPU_OP_AVERAGE_POOL] = { 1, 1, REAL_TYPES, COMPUTES | IMAGE, check_average },
	[NPU_OP_ADD] = { 2, 2, ARITHMETIC_TYPES, COMPUTES, check_broadcast },
	[NPU_OP_SUB] = { 2, 2, ARITHMETIC_TYPES, COMPUTES, check_broadcast },
	[NPU_OP_MUL] = { 2, 2, ARITHMETIC_TYPES, COMPUTES, check_broadcast },
	[NPU_OP_DIV] = { 2, 2, TYPE(F32), COMPUTES, check_broadcast },
	[NPU_OP_MINIMUM] = { 2, 2, ARITHMETIC_TYPES, COMPUTES | SAME_QUANT, check_min_max },
	[NPU_OP_MAXIMUM] = { 2, 2, ARITHMETIC_TYPES, COMPUTES | SAME_QUANT, check_min_max },
	[NPU_OP_RELU] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, NULL },
	[NPU_OP_LEAKY_RELU] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, check_leaky_relu },
	[NPU_OP_PRELU] = { 2, 2, REAL_TYPES, COMPUTES | SAME_SHAPE, check_prelu },
	[NPU_OP_LOGISTIC] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, check_logistic },
	[NPU_OP_TANH] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, NULL },
	[NPU_OP_HARD_SWISH] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, NULL },
	[NPU_OP_FUNCTION] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, check_function },
	[NPU_OP_SOFTMAX] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, check_softmax },
	[NPU_OP_LRN] = { 1, 1, REAL_TYPES, COMPUTES | SAME_SHAPE, check_lrn },
	[NPU_OP_RESHAPE] = { 1, 1, ALL_TYPES, MOVES, check_reshape },
	[NPU_OP_TRANSPOSE] = { 1, 1, ALL_TYPES, MOVES, check_transpose },
	[NPU_OP_PAD] = { 1, 2, ALL_TYPES, MOVES, check_pad },
	[NPU_OP_CONCAT] = { 1, NPU_MAX_INPUTS, ALL_TYPES, SAME_TYPE | QUANTISED, check_concat },
	[NPU_OP_SLICE] = { 1, 1, ALL_TYPES, MOVES, check_slice },
	[NPU_OP_RESIZE_NEAREST] = { 1, 1, REAL_TYPES, MOVES | IMAGE, check_resize },
	[NPU_OP_RESIZE_BILINEAR] = { 1, 1, REAL_TYPES, MOVES | IMAGE, check_resize },
	[NPU_OP_MEAN] = { 1, 1, REAL_TYPES, COMPUTES, check_reduce },
	[NPU_OP_REDUCE_SUM] = { 1, 1, REAL_TYPES, COMPUTES, check_reduce },
	[NPU_OP_REDUCE_MAX] = { 1, 1, ARITHMETIC_TYPES, MOVES, check_reduce },
	[NPU_OP_REDUCE_MIN] = { 1, 1, ARITHMETIC_TYPES, MOVES, check_reduce },
	[NPU_OP_REDUCE_PROD] = { 1, 1, TYPE(F32), COMPUTES, check_reduce },
	[NPU_OP_ARG_MAX] = { 1, 1, ARITHMETIC_TYPES, 0, check_arg_max },
	[NPU_OP_ARG_MIN] = { 1, 1, ARITHMETIC_TYPES, 0, check_arg_max },
	[NPU_OP_TOP_MOST] = { 1, 1, REAL_TYPES, 0, check_top },
	[NPU_OP_TOP_LEAST] = { 1, 1, REAL_TYPES, 0, check_top },
	[NPU_OP_GATHER] = { 2, 2, ALL_TYPES, MOVES, check_gather },
	[NPU_OP_GATHER_ELEMENTS] = { 2, 2, ALL_TYPES, MOVES, check_gather_elements },
	[NPU_OP_GATHER_ND] = { 2, 2, ALL_TYPES, MOVES, check_gather_nd },
	[NPU_OP_SCATTER_ELEMENTS] = { 3, 3, ALL_TYPES, MOVES | SAME_SHAPE, check_scatter_elements },
	[NPU_OP_SCATTER_ND] = { 3, 3, ALL_TYPES, MOVES | SAME_SHAPE, check_scatter_nd },
	[NPU_OP_QUANTIZE] = { 1, 1, REAL_TYPES | TYPE(I16), QUANTISED | SAME_SHAPE,
			      check_quantize },
	[NPU_OP_DEQUANTIZE] = { 1, 1, BYTE_TYPES | TYPE(I16), QUANTISED | SAME_SHAPE,
				check_dequantize },
	[NPU_OP_PIXELS] = { 1, 1, TYPE(U8), IMAGE, check_pixels },
};

/* Weights are the one operand with a scale for each channel; their own check looks at it. */
static bool has_channel_scales(const struct npu_op *op, u32 i)
{
	return i == 1 && (op->kind == NPU_OP_CONV || op->kind == NPU_OP_TRANSPOSE_CONV ||
			  op->kind == NPU_OP_FULLY_CONNECTED);
}

static int check_flags(const struct checker *checker, const struct op_rule *rule)
{
	const struct npu_op *op = checker->op;
	const struct npu_tensor *in = input(checker, 0), *out = output(checker);
	u32 i;

	if (!(rule->types >> in->dtype & 1))
		return fail(checker, "%s input", npu_dtype_names[in->dtype]);
	if (rule->flags & SAME_TYPE && out->dtype != in->dtype)
		return fail(checker, "%s input, %s output", npu_dtype_names[in->dtype],
			    npu_dtype_names[out->dtype]);
	for (i = 0; rule->flags & QUANTISED && i < op->input_count; i++) {
		const struct npu_tensor *t = input(checker, i);

		if (t && is_byte(t) && t->quant.count != 1 && !has_channel_scales(op, i))
			return fail(checker, "input %u is not quantised per tensor", i);
	}
	if (rule->flags & QUANTISED && is_byte(out) && out->quant.count != 1)
		return fail(checker, "the output is not quantised per tensor");
	if (rule->flags & SAME_QUANT && is_byte(in) && !npu_same_quant(in, out))
		return fail(checker, "scale or zero point changes");
	if (rule->flags & SAME_SHAPE && !same_shape(in, out))
		return fail(checker, "the output's shape is not the input's");
	if (rule->flags & IMAGE &&
	    (in->rank != 4 || out->rank != 4 || in->dim[0] != 1 || out->dim[0] != 1))
		return fail(checker, "works on one image (rank 4, batch 1) only");
	if (op->activation > NPU_ACT_RELU_N1_TO_1)
		return fail(checker, "activation %d", op->activation);
	return 0;
}

static int check_op(const struct checker *checker)
{
	const struct npu_op *op = checker->op;
	const struct op_rule *rule;
	u32 i;
	int error;

	if (op->kind >= NPU_OP_COUNT)
		return fail(checker, "kind %d", op->kind);
	rule = &op_rules[op->kind];
	if (op->input_count < rule->min_inputs || op->input_count > rule->max_inputs)
		return fail(checker, "%u inputs", op->input_count);
	if (op->output_count != 1)
		return fail(checker, "%u outputs", op->output_count);
	for (i = 0; i < op->input_count; i++) {
		if (op->input[i] == NPU_NONE && i >= rule->min_inputs)
			continue;
		if (op->input[i] >= checker->graph->tensor_count)
			return fail(checker, "input %u is missing", i);
		if (!checker->known[op->input[i]])
			return fail(checker, "input %u (%.100s) is used before it is computed", i,
				    checker->graph->tensor[op->input[i]].name);
	}
	if (op->output[0] >= checker->graph->tensor_count)
		return fail(checker, "the output is missing");
	if (checker->known[op->output[0]])
		return fail(checker, "the output is constant, an input or computed twice");
	error = check_flags(checker, rule);
	if (!error && rule->check)
		error = rule->check(checker);
	if (!error)
		checker->known[op->output[0]] = true;
	return error;
}

static int check_quant(const struct checker *checker, const struct npu_tensor *tensor)
{
	const struct npu_quant *quant = &tensor->quant;
	u32 i;

	if (!quant->count)
		return 0;
	if (quant->count > 1 &&
	    (quant->axis >= tensor->rank || tensor->dim[quant->axis] != quant->count))
		return fail(checker, "tensor %.100s: %u scales on dimension %u", tensor->name,
			    quant->count, quant->axis);
	for (i = 0; i < quant->count; i++) {
		s32 zero = quant->zero[i];

		if (!(quant->scale[i] > 0) || !isfinite(quant->scale[i]))
			return fail(checker, "tensor %.100s: scale %g", tensor->name,
				    (double)quant->scale[i]);
		if ((tensor->dtype == NPU_I8 && (zero < -128 || zero > 127)) ||
		    (tensor->dtype == NPU_U8 && (zero < 0 || zero > 255)) ||
		    (tensor->dtype == NPU_I16 && zero))
			return fail(checker, "tensor %.100s: zero point %d of %s", tensor->name,
				    zero, npu_dtype_names[tensor->dtype]);
	}
	return 0;
}

static int check_tensor(const struct checker *checker, const struct npu_tensor *tensor)
{
	u64 bytes;
	u32 i;

	if (!tensor->name)
		return fail(checker, "a tensor has no name");
	if (tensor->dtype >= NPU_DTYPE_COUNT || tensor->rank > NPU_MAX_RANK)
		return fail(checker, "tensor %.100s: type %d, rank %u", tensor->name, tensor->dtype,
			    tensor->rank);
	bytes = npu_dtype_bytes[tensor->dtype];
	for (i = 0; i < tensor->rank; i++) {
		if (!tensor->dim[i])
			return fail(checker, "tensor %.100s: dimension %u is 0", tensor->name, i);
		if (check_mul_overflow(bytes, (u64)tensor->dim[i], &bytes) || bytes > INT32_MAX)
			return fail(checker, "tensor %.100s is too large", tensor->name);
	}
	if (tensor->bytes != bytes)
		return fail(checker, "tensor %.100s has %zu bytes, its shape says %llu",
			    tensor->name, tensor->bytes, (unsigned long long)bytes);
	return check_quant(checker, tensor);
}

static int check_ends(const struct checker *checker, const u32 *indices, u32 count,
		      const char *what)
{
	u32 i;

	if (!count)
		return fail(checker, "the graph has no %s", what);
	for (i = 0; i < count; i++)
		if (indices[i] >= checker->graph->tensor_count)
			return fail(checker, "%s %u is tensor %u of %u", what, i, indices[i],
				    checker->graph->tensor_count);
	return 0;
}

static int check_inputs(const struct checker *checker)
{
	const struct npu_graph *graph = checker->graph;
	u32 i;
	int error = check_ends(checker, graph->input, graph->input_count, "input");

	for (i = 0; !error && i < graph->input_count; i++) {
		if (checker->known[graph->input[i]])
			return fail(checker, "input %u is constant or named twice", i);
		checker->known[graph->input[i]] = true;
	}
	return error;
}

static int check_outputs(const struct checker *checker)
{
	const struct npu_graph *graph = checker->graph;
	u32 i;
	int error = check_ends(checker, graph->output, graph->output_count, "output");

	for (i = 0; !error && i < graph->output_count; i++)
		if (!checker->known[graph->output[i]])
			return fail(checker, "output %u (%.100s) is never computed", i,
				    graph->tensor[graph->output[i]].name);
	return error;
}

static int check_all(struct checker *checker)
{
	const struct npu_graph *graph = checker->graph;
	u32 i;
	int error = 0;

	for (i = 0; !error && i < graph->tensor_count; i++) {
		error = check_tensor(checker, &graph->tensor[i]);
		checker->known[i] = graph->tensor[i].data;
	}
	if (!error)
		error = check_inputs(checker);
	for (i = 0; !error && i < graph->op_count; i++) {
		checker->op = &graph->op[i];
		checker->index = i;
		error = check_op(checker);
	}
	checker->op = NULL;
	return error ? error : check_outputs(checker);
}

int npu_graph_verify(const struct npu_graph *graph, struct npu_diag *diag)
{
	struct checker checker = { .graph = graph, .diag = diag };
	int error;

	checker.known = calloc(graph->tensor_count + 1, sizeof(*checker.known));
	if (!checker.known)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", graph->file);
	error = check_all(&checker);
	free(checker.known);
	return error;
}
