// SPDX-License-Identifier: MIT
#include "reference.h"

#include "kernels.h"

#include <math.h>
#include <stdlib.h>

struct npu_reference {
	struct npu_arena arena;
	const struct npu_graph *graph;
	void **data;
};

static int (*const kernels[NPU_OP_COUNT])(const struct ref_run *run) = {
	[NPU_OP_CONV] = ref_conv,
	[NPU_OP_TRANSPOSE_CONV] = ref_transpose_conv,
	[NPU_OP_FULLY_CONNECTED] = ref_fully_connected,
	[NPU_OP_MATMUL] = ref_matmul,
	[NPU_OP_MAX_POOL] = ref_max_pool,
	[NPU_OP_AVERAGE_POOL] = ref_average_pool,
	[NPU_OP_ADD] = ref_add_sub,
	[NPU_OP_SUB] = ref_add_sub,
	[NPU_OP_MUL] = ref_mul,
	[NPU_OP_DIV] = ref_div,
	[NPU_OP_MINIMUM] = ref_min_max,
	[NPU_OP_MAXIMUM] = ref_min_max,
	[NPU_OP_RELU] = ref_relu,
	[NPU_OP_LEAKY_RELU] = ref_leaky_relu,
	[NPU_OP_PRELU] = ref_prelu,
	[NPU_OP_LOGISTIC] = ref_logistic,
	[NPU_OP_TANH] = ref_tanh,
	[NPU_OP_HARD_SWISH] = ref_hard_swish,
	[NPU_OP_SOFTMAX] = ref_softmax,
	[NPU_OP_FUNCTION] = ref_function,
	[NPU_OP_LRN] = ref_lrn,
	[NPU_OP_RESHAPE] = ref_reshape,
	[NPU_OP_TRANSPOSE] = ref_transpose,
	[NPU_OP_PAD] = ref_pad,
	[NPU_OP_CONCAT] = ref_concat,
	[NPU_OP_SLICE] = ref_slice,
	[NPU_OP_RESIZE_NEAREST] = ref_resize_nearest,
	[NPU_OP_RESIZE_BILINEAR] = ref_resize_bilinear,
	[NPU_OP_MEAN] = ref_mean,
	[NPU_OP_REDUCE_SUM] = ref_mean,
	[NPU_OP_REDUCE_MAX] = ref_reduce,
	[NPU_OP_REDUCE_MIN] = ref_reduce,
	[NPU_OP_REDUCE_PROD] = ref_reduce,
	[NPU_OP_ARG_MAX] = ref_arg_extreme,
	[NPU_OP_ARG_MIN] = ref_arg_extreme,
	[NPU_OP_TOP_MOST] = ref_top,
	[NPU_OP_TOP_LEAST] = ref_top,
	[NPU_OP_GATHER] = ref_gather,
	[NPU_OP_GATHER_ELEMENTS] = ref_gather_elements,
	[NPU_OP_GATHER_ND] = ref_gather_nd,
	[NPU_OP_SCATTER_ELEMENTS] = ref_scatter_elements,
	[NPU_OP_SCATTER_ND] = ref_scatter_nd,
	[NPU_OP_QUANTIZE] = ref_quantize,
	[NPU_OP_DEQUANTIZE] = ref_dequantize,
	[NPU_OP_PIXELS] = ref_pixels,
};

static struct ref_view view_of(const struct ref_run *run, u32 index)
{
	const struct npu_tensor *tensor = &run->graph->tensor[index];
	struct ref_view view = { .tensor = tensor, .data = run->data[index], .scale = 1 };

	if (tensor->quant.count) {
		view.zero = tensor->quant.zero[0];
		view.scale = tensor->quant.scale[0];
	}
	npu_tensor_nhwc(tensor, view.nhwc);
	return view;
}

struct ref_view ref_input(const struct ref_run *run, u32 i)
{
	static const struct ref_view none;

	return npu_op_input(run->graph, run->op, i) ? view_of(run, run->op->input[i]) : none;
}

struct ref_view ref_output(const struct ref_run *run)
{
	return view_of(run, run->op->output[0]);
}

static s32 quantised(const struct ref_view *view, float real)
{
	return view->zero + ref_round(real / view->scale);
}

struct ref_range ref_range(const struct ref_run *run)
{
	static const struct ref_range types[NPU_DTYPE_COUNT] = {
		[NPU_I8] = { INT8_MIN, INT8_MAX },
		[NPU_U8] = { 0, UINT8_MAX },
		[NPU_I16] = { INT16_MIN, INT16_MAX },
		[NPU_I32] = { INT32_MIN, INT32_MAX },
	};
	struct ref_view out = ref_output(run);
	struct ref_range range = types[out.tensor->dtype];

	if (out.tensor->dtype == NPU_I32)
		out.scale = 1;
	switch (run->op->activation) {
	case NPU_ACT_NONE:
		break;
	case NPU_ACT_RELU:
		range.least = max(range.least, quantised(&out, 0));
		break;
	case NPU_ACT_RELU6:
		range.least = max(range.least, quantised(&out, 0));
		range.most = min(range.most, quantised(&out, 6));
		break;
	case NPU_ACT_RELU_N1_TO_1:
		range.least = max(range.least, quantised(&out, -1));
		range.most = min(range.most, quantised(&out, 1));
		break;
	}
	return range;
}

float ref_clamp_float(const struct ref_run *run, float value)
{
	switch (run->op->activation) {
	case NPU_ACT_NONE:
		break;
	case NPU_ACT_RELU:
		return fmaxf(value, 0);
	case NPU_ACT_RELU6:
		return fminf(fmaxf(value, 0), 6);
	case NPU_ACT_RELU_N1_TO_1:
		return fminf(fmaxf(value, -1), 1);
	}
	return value;
}

s32 ref_load(const struct ref_view *view, size_t i)
{
	switch (view->tensor->dtype) {
	case NPU_I8:
		return ((const s8 *)view->data)[i];
	case NPU_I16:
		return ((const s16 *)view->data)[i];
	case NPU_I32:
		return ((const s32 *)view->data)[i];
	default:
		return ((const u8 *)view->data)[i];
	}
}

void ref_store(const struct ref_run *run, const struct ref_view *out, struct ref_range range,
	       size_t i, s64 value)
{
	s32 stored = max(min(value, (s64)range.most), (s64)range.least);

	switch (out->tensor->dtype) {
	case NPU_I16:
		((s16 *)out->data)[i] = stored;
		break;
	case NPU_I32:
		((s32 *)out->data)[i] = stored;
		break;
	default:
		((u8 *)out->data)[i] = stored;
	}
	if (run->clamped)
		run->clamped[i] = stored != value;
}

size_t ref_broadcast(const struct npu_tensor *out, const struct npu_tensor *in, size_t i)
{
	size_t offset = 0, step = 1;
	u32 d;

	for (d = 0; d < in->rank; d++) {
		u32 dim = in->dim[in->rank - 1 - d];
		u32 stretched = out->dim[out->rank - 1 - d];

		offset += dim == 1 ? 0 : i % stretched * step;
		step *= dim;
		i /= stretched;
	}
	return offset;
}

static int allocate(struct npu_reference *reference, struct npu_diag *diag)
{
	const struct npu_graph *graph = reference->graph;
	u32 i;

	reference->data =
		npu_arena_array(&reference->arena, graph->tensor_count, sizeof(*reference->data));
	for (i = 0; reference->data && i < graph->tensor_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[i];

		/* Constants are only read, through the same kind of pointer as the rest. */
		reference->data[i] = tensor->data
					     ? (void *)(uintptr_t)tensor->data
					     : npu_arena_alloc(&reference->arena, tensor->bytes);
		if (!reference->data[i])
			break;
	}
	if (i < graph->tensor_count)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory for its tensors",
				    graph->file);
	return 0;
}

int npu_reference_new(const struct npu_graph *graph, struct npu_reference **reference,
		      struct npu_diag *diag)
{
	struct npu_reference *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", graph->file);
	made->graph = graph;
	error = allocate(made, diag);
	if (error) {
		npu_reference_free(made);
		return error;
	}
	*reference = made;
	return 0;
}

void npu_reference_free(struct npu_reference *reference)
{
	if (!reference)
		return;
	npu_arena_free(&reference->arena);
	free(reference);
}

void *npu_reference_tensor(struct npu_reference *reference, u32 tensor)
{
	return reference->data[tensor];
}

int npu_reference_run_op(struct npu_reference *reference, u32 op, u8 *clamped,
			 struct npu_diag *diag)
{
	struct ref_run run = {
		.graph = reference->graph,
		.op = &reference->graph->op[op],
		.data = reference->data,
		.clamped = clamped,
		.diag = diag,
	};

	if (clamped)
		memset(clamped, 0, npu_tensor_elements(npu_op_output(run.graph, run.op)));
	return kernels[run.op->kind](&run);
}

int npu_reference_run(struct npu_reference *reference, npu_reference_watch watch, void *context,
		      struct npu_diag *diag)
{
	u32 i;
	int error = 0;

	for (i = 0; !error && i < reference->graph->op_count; i++) {
		error = npu_reference_run_op(reference, i, NULL, diag);
		if (!error && watch)
			error = watch(context, reference, i);
	}
	return error;
}

/* The real value that a convolution stands for at an output element. */
static double conv_real(const struct ref_run *conv, size_t i)
{
	struct ref_view out = ref_output(conv);
	u32 k = i % out.nhwc[3], x = i / out.nhwc[3] % out.nhwc[2];
	u32 y = i / out.nhwc[3] / out.nhwc[2];

	return ref_conv_sum(conv, y, x, k) * ref_conv_factor(conv, k) * (double)out.scale;
}

int npu_reference_run_fused_add(struct npu_reference *reference, u32 conv, u32 add,
				struct npu_diag *diag)
{
	struct ref_run first = {
		.graph = reference->graph,
		.op = &reference->graph->op[conv],
		.data = reference->data,
		.diag = diag,
	};
	struct ref_run second = first;
	struct ref_view out, other;
	struct ref_range range;
	size_t i, elements;
	u32 side;

	second.op = &reference->graph->op[add];
	out = ref_output(&second);
	range = ref_range(&second);
	elements = npu_tensor_elements(out.tensor);
	side = second.op->input[0] == first.op->output[0] ? 1 : 0;
	if (second.op->kind != NPU_OP_ADD || first.op->activation != NPU_ACT_NONE ||
	    second.op->input[!side] != first.op->output[0] ||
	    (first.op->kind != NPU_OP_CONV && first.op->kind != NPU_OP_FULLY_CONNECTED) ||
	    out.tensor->dtype == NPU_F32 ||
	    npu_tensor_elements(npu_op_output(first.graph, first.op)) != elements)
		return npu_diag_set(diag, -EINVAL, "%s: operators %u and %u do not fuse",
				    reference->graph->file, conv, add);
	other = ref_input(&second, side);
	for (i = 0; i < elements; i++) {
		size_t j = ref_broadcast(out.tensor, other.tensor, i);
		double sum = conv_real(&first, i) +
			     (ref_load(&other, j) - other.zero) * (double)other.scale;

		ref_store(&second, &out, range, i, llround(sum / (double)out.scale) + out.zero);
	}
	return 0;
}
