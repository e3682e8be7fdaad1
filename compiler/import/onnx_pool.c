// SPDX-License-Identifier: MIT
/* Windows that move over images. */
#include "onnx.h"

/* Larger kernels, strides and dilations are refused; products of two stay in 32 bits. */
#define MAX_WINDOW 65535

struct span {
	u32 size, kernel, stride, dilation;
	s64 before, after; /* padding */
};

int onnx_pair(struct onnx *o, const char *name, s64 least, s64 *values, u32 want, s64 other)
{
	/* Of a line only what concerns its length is there; across it nothing happens. */
	bool line = o->in[0]->rank == 3;
	u32 count, i;
	int error = onnx_ints(o, name, values, want, &count);

	if (error)
		return error;
	if (line && count == want / 2) {
		for (i = count; i--;) {
			values[2 * i + 1] = values[i];
			values[2 * i] = least;
		}
		count = want;
	} else if (line && count) {
		return onnx_fail(o, -ENOTSUP, "%s has %u values, not %u", name, count, want / 2);
	}
	if (count && count != want)
		return onnx_fail(o, -ENOTSUP, "%s has %u values, not %u", name, count, want);
	for (i = 0; i < want; i++) {
		if (!count)
			values[i] = other;
		if (values[i] < least || values[i] > MAX_WINDOW)
			return onnx_fail(o, -EINVAL, "%s is %lld", name, (long long)values[i]);
	}
	return 0;
}

/*
 * As many steps as ceil(size / stride); what is odd goes in front for SAME_LOWER.  A kernel below its stride
 * may need less than there is: the windows then keep away from both edges (onnx Operators, MaxPool, auto_pad,
 * pad_shape).  How far is ONNX Runtime's: halves are rounded towards zero, and convolutions keep one more.
 */
static void pad_same(struct span *span, bool lower, bool convolution)
{
	s64 steps = (s64)DIV_ROUND_UP((u64)span->size, span->stride);
	s64 needed = (steps - 1) * span->stride + (s64)npu_dilated(span->kernel, span->dilation);
	s64 total = needed - span->size;

	total += total < 0 && convolution;
	span->before = (total + lower) / 2;
	span->after = total - span->before;
}

/* Steps of the window; with ceil_mode the last one may begin inside and end behind the padding. */
static int count_steps(struct onnx *o, struct span *span, bool ceil_mode, u32 *steps)
{
	s64 extent = (s64)npu_dilated(span->kernel, span->dilation);
	s64 padded = (s64)span->size + span->before + span->after, left;

	if (extent > padded)
		return onnx_fail(o, -EINVAL, "a window of %lld over %lld elements",
				 (long long)extent, (long long)padded);
	*steps = (u32)((padded - extent) / span->stride) + 1;
	left = (padded - extent) % span->stride;
	if (!ceil_mode || !left || (s64)*steps * span->stride >= span->size + span->before)
		return 0;
	*steps += 1;
	span->after += span->stride - left;
	return 0;
}

/* What no window reaches in front of the first goes; what is behind the last stays unread. */
static int crop_image(struct onnx *o, u32 *image, struct span span[2])
{
	u32 begin[NPU_MAX_RANK] = { 0 }, dim[NPU_MAX_RANK], i;

	memcpy(dim, onnx_tensor(o, *image)->dim, sizeof(dim));
	for (i = 0; i < 2; i++) {
		if (span[i].before < 0) {
			begin[1 + i] = (u32)-span[i].before;
			dim[1 + i] -= begin[1 + i];
		}
		span[i].before = max(span[i].before, (s64)0);
		span[i].after = max(span[i].after, (s64)0);
	}
	return onnx_crop(o, image, begin, dim);
}

int onnx_read_window(struct onnx *o, u32 *image, struct npu_window *window, u32 *out_h, u32 *out_w)
{
	const u32 *size = &onnx_tensor(o, *image)->dim[1];
	s64 stride[2], dilation[2], pad[4], kernel[2];
	bool upper = onnx_text_is(o, "auto_pad", "SAME_UPPER", false);
	bool lower = onnx_text_is(o, "auto_pad", "SAME_LOWER", false);
	bool ceil_mode = onnx_int(o, "ceil_mode", 0);
	struct span span[2];
	u32 i;
	int error = onnx_pair(o, "strides", 1, stride, 2, 1);

	if (!error)
		error = onnx_pair(o, "dilations", 1, dilation, 2, 1);
	if (!error)
		error = onnx_pair(o, "pads", 0, pad, 4, 0);
	if (!error)
		error = onnx_pair(o, "kernel_shape", 1, kernel, 2, window->r);
	if (error)
		return error;
	if (onnx_attribute(o, "kernel_shape") && (kernel[0] != window->r || kernel[1] != window->s))
		return onnx_fail(o, -EINVAL, "kernel_shape is not that of the weights");
	if (window->r > MAX_WINDOW || window->s > MAX_WINDOW)
		return onnx_fail(o, -ENOTSUP, "a kernel of %u x %u", window->r, window->s);
	for (i = 0; !error && i < 2; i++) {
		span[i] = (struct span){ size[i],	 i ? window->s : window->r,
					 (u32)stride[i], (u32)dilation[i],
					 pad[i],	 pad[i + 2] };
		if (upper || lower)
			pad_same(&span[i], lower, o->row->kind == NPU_OP_CONV);
		else if (onnx_text_is(o, "auto_pad", "VALID", false))
			span[i].before = span[i].after = 0;
		error = count_steps(o, &span[i], ceil_mode, i ? out_w : out_h);
	}
	if (!error)
		error = crop_image(o, image, span);
	if (error)
		return error;
	*window = (struct npu_window){ .r = window->r,
				       .s = window->s,
				       .stride_y = span[0].stride,
				       .stride_x = span[1].stride,
				       .dilation_y = span[0].dilation,
				       .dilation_x = span[1].dilation,
				       .pad_top = (u32)span[0].before,
				       .pad_left = (u32)span[1].before,
				       .pad_bottom = (u32)span[0].after,
				       .pad_right = (u32)span[1].after };
	return 0;
}

static int pad_image(struct onnx *o, struct npu_window *w, u32 *image)
{
	struct npu_tensor source = *onnx_tensor(o, *image);
	const u32 before[] = { 0, w->pad_top, w->pad_left, 0 };
	const u32 after[] = { 0, w->pad_bottom, w->pad_right, 0 };
	u32 dim[4], out, i;
	struct npu_op *op;
	int error;

	if (!w->pad_top && !w->pad_left && !w->pad_bottom && !w->pad_right)
		return 0;
	for (i = 0; i < 4; i++)
		dim[i] = source.dim[i] + before[i] + after[i];
	error = onnx_add_tensor(o, source.name, source.dtype, 4, dim, &out);
	if (error)
		return error;
	o->graph->tensor[out].quant = source.quant;
	op = onnx_add_op(o, NPU_OP_PAD, image, 1, out);
	if (!op)
		return -ENOMEM;
	for (i = 0; i < 4; i++) {
		op->begin[i] = (s32)before[i];
		op->end[i] = (s32)after[i];
	}
	w->pad_top = w->pad_left = w->pad_bottom = w->pad_right = 0;
	*image = out;
	return 0;
}

/* What the last windows have behind the padding because of ceil_mode never counts: it stays cut off. */
static int counted_padding(struct onnx *o, struct npu_window *w, u32 *image)
{
	u32 below = 0, right = 0;
	s64 pad[4];
	int error = onnx_pair(o, "pads", 0, pad, 4, 0);

	if (!error && onnx_text_is(o, "auto_pad", "NOTSET", true)) {
		below = w->pad_bottom - (u32)pad[2];
		right = w->pad_right - (u32)pad[3];
	} else if (onnx_text_is(o, "auto_pad", "VALID", false)) {
		below = w->pad_bottom;
		right = w->pad_right;
	}
	w->pad_bottom -= below;
	w->pad_right -= right;
	if (!error)
		error = pad_image(o, w, image);
	w->pad_bottom = below;
	w->pad_right = right;
	return error;
}

void onnx_image_dims(const struct onnx_value *value, u32 dim[4])
{
	bool line = value->rank == 3;

	dim[0] = value->dim[0];
	dim[1] = value->dim[1];
	dim[2] = line ? 1 : value->dim[2];
	dim[3] = value->dim[line ? 2 : 3];
}

int onnx_image_result(struct onnx *o, const u32 dim[4], u32 *out)
{
	const u32 line[] = { dim[0], dim[1], dim[3] };

	return o->in[0]->rank == 3 ? onnx_result(o, 0, ONNX_IMAGE, 3, line, out)
				   : onnx_result(o, 0, ONNX_IMAGE, 4, dim, out);
}

int onnx_read_pool(struct onnx *o)
{
	struct npu_window window = { 0 };
	u32 in, out, dim[4];
	struct npu_op *op;
	s64 kernel[2] = { 0 };
	int error = onnx_line_operand(o, 0, ONNX_IMAGE, &in);

	if (!error)
		error = onnx_pair(o, "kernel_shape", 1, kernel, 2, 0);
	if (error)
		return error;
	window.r = (u32)kernel[0];
	window.s = (u32)kernel[1];
	onnx_image_dims(o->in[0], dim);
	error = onnx_read_window(o, &in, &window, &dim[2], &dim[3]);
	if (error)
		return error;
	/* The graph's average leaves padding out: where it counts it becomes a part of the image. */
	if (onnx_int(o, "count_include_pad", 0))
		error = counted_padding(o, &window, &in);
	if (!error)
		error = onnx_image_result(o, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, o->row->kind, &in, 1, out);
	if (!op)
		return -ENOMEM;
	op->window = window;
	return 0;
}

/* MEAN or REDUCE_MAX over height and width. */
int onnx_read_global_pool(struct onnx *o)
{
	u32 in, out, dim[4];
	struct npu_op *op;
	int error = onnx_line_operand(o, 0, ONNX_IMAGE, &in);

	if (error)
		return error;
	onnx_image_dims(o->in[0], dim);
	dim[2] = dim[3] = 1;
	error = onnx_image_result(o, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, o->row->kind, &in, 1, out);
	if (!op)
		return -ENOMEM;
	op->axes = 1u << 1 | 1u << 2;
	return 0;
}
