// SPDX-License-Identifier: MIT
#include "pixels.h"

#include <math.h>

#include "nvdla_cbuf.h"

const struct npu_pixel_format npu_pixel_formats[NPU_PIXELS_ORDER_COUNT] = {
	/* NVDLA names the bytes of a word from its upper end, so A8B8G8R8 has red first. */
	[NPU_PIXELS_R8] = { "r8", 0, 0, { 0 } },
	[NPU_PIXELS_RGB] = { "rgb", 16, 3, { 0, 1, 2 } }, /* X8B8G8R8 */
	[NPU_PIXELS_BGR] = { "bgr", 17, 3, { 2, 1, 0 } }, /* X8R8G8B8 */
	[NPU_PIXELS_RGBA] = { "rgba", 12, 0, { 0, 1, 2, 3 } }, /* A8B8G8R8 */
	[NPU_PIXELS_BGRA] = { "bgra", 13, 0, { 2, 1, 0, 3 } }, /* A8R8G8B8 */
	[NPU_PIXELS_ARGB] = { "argb", 14, 0, { 1, 2, 3, 0 } }, /* B8G8R8A8 */
	[NPU_PIXELS_ABGR] = { "abgr", 15, 0, { 3, 2, 1, 0 } }, /* R8G8B8A8 */
	[NPU_PIXELS_NV24] = { "nv24", 29, 0, { 0, 1, 2 } }, /* Y8, V8U8 */
	[NPU_PIXELS_NV42] = { "nv42", 28, 0, { 0, 2, 1 } }, /* Y8, U8V8 */
};

static const struct nvdla_pixel_format *hardware(enum npu_pixel_order order)
{
	return nvdla_pixel_format_find(npu_pixel_formats[order].hardware);
}

u32 npu_pixel_memory_bytes(enum npu_pixel_order order)
{
	return hardware(order)->bytes;
}

u32 npu_pixel_bytes(enum npu_pixel_order order)
{
	return npu_pixel_formats[order].bytes ? npu_pixel_formats[order].bytes
					      : npu_pixel_memory_bytes(order);
}

u32 npu_pixel_uv_bytes(enum npu_pixel_order order)
{
	return hardware(order)->uv_bytes;
}

enum npu_pixel_order npu_pixel_order_find(const char *name)
{
	u32 i;

	for (i = 0; i < NPU_PIXELS_ORDER_COUNT; i++)
		if (!strcmp(npu_pixel_formats[i].name, name))
			break;
	return (enum npu_pixel_order)i;
}

/**
 * struct image - the tensor that the operator is to compute
 * @tensor: NHWC, quantised as what reads it has it
 * @skipped: operators in front of it that have nothing left to do
 */
struct image {
	u32 tensor;
	u32 skipped[2];
	u32 skipped_count;
};

/* The operator that alone reads a tensor; NPU_NONE: none, several, or the graph's output. */
static u32 only_reader(const struct npu_graph *graph, u32 tensor)
{
	u32 i, j, reader = NPU_NONE;

	for (i = 0; i < graph->output_count; i++)
		if (graph->output[i] == tensor)
			return NPU_NONE;
	for (i = 0; i < graph->op_count; i++)
		for (j = 0; j < graph->op[i].input_count; j++) {
			if (graph->op[i].input[j] != tensor)
				continue;
			if (reader != NPU_NONE && reader != i)
				return NPU_NONE;
			reader = i;
		}
	return reader;
}

/* From channels first to channels last: a transpose, or a reshape of a single channel. */
static bool to_channels_last(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *in = npu_op_input(graph, op, 0), *out = npu_op_output(graph, op);
	static const s32 order[] = { 0, 2, 3, 1 };

	if (in->rank != 4 || out->rank != 4)
		return false;
	if (op->kind == NPU_OP_TRANSPOSE)
		return !memcmp(op->begin, order, sizeof(order));
	return op->kind == NPU_OP_RESHAPE && in->dim[1] == 1 && out->dim[3] == 1 &&
	       in->dim[2] == out->dim[1] && in->dim[3] == out->dim[2];
}

/* Follows what only converts: one change of order and one quantisation, whichever comes first. */
static struct image find_image(const struct npu_graph *graph, u32 tensor)
{
	struct image image = { .tensor = tensor };
	bool ordered = false, quantised = false;

	while (image.skipped_count < ARRAY_SIZE(image.skipped)) {
		u32 reader = only_reader(graph, image.tensor);
		const struct npu_op *op = reader == NPU_NONE ? NULL : &graph->op[reader];
		bool order = op && !ordered && to_channels_last(graph, op);
		bool quantise = op && !quantised && op->kind == NPU_OP_QUANTIZE &&
				graph->tensor[image.tensor].dtype == NPU_F32 &&
				npu_op_output(graph, op)->dtype != NPU_I16;

		if (!order && !quantise)
			break;
		ordered = ordered || order;
		quantised = quantised || quantise;
		image.skipped[image.skipped_count++] = reader;
		image.tensor = op->output[0];
	}
	return image;
}

/* Channels of the format that the image has. */
static bool channels_fit(enum npu_pixel_order order, u32 channels)
{
	u32 bytes = npu_pixel_bytes(order) + npu_pixel_uv_bytes(order);

	return channels == bytes || (bytes == 4 && channels == 3);
}

static int check_image(const struct npu_graph *graph, const struct npu_pixel_input *pixels,
		       const struct npu_tensor *image, struct npu_diag *diag)
{
	const char *name = graph->tensor[graph->input[pixels->input]].name;
	bool bytes = image->dtype == NPU_I8 || image->dtype == NPU_U8;

	if (image->rank != 4 || image->dim[0] != 1 || !(bytes || image->dtype == NPU_F32) ||
	    (bytes && image->quant.count != 1))
		return npu_diag_set(diag, -ENOTSUP,
				    "%s: input %.100s is no single image of INT8, UINT8 or float32",
				    graph->file, name);
	if (!channels_fit(pixels->order, image->dim[3]))
		return npu_diag_set(
			diag, -ENOTSUP,
			"%s: input %.100s has %u channels (last), pixels of %s have %u",
			graph->file, name, image->dim[3], npu_pixel_formats[pixels->order].name,
			npu_pixel_bytes(pixels->order) + npu_pixel_uv_bytes(pixels->order));
	return 0;
}

/* The tensor that the application fills. */
static u32 add_bytes(struct npu_graph *graph, const struct npu_pixel_input *pixels, u32 height,
		     u32 width)
{
	u32 bytes = npu_pixel_bytes(pixels->order), uv = npu_pixel_uv_bytes(pixels->order);
	const u32 packed[] = { 1, height, width, bytes };
	const u32 planes[] = { 1, height * (bytes + uv), width, 1 };

	return npu_graph_add_tensor(graph, graph->tensor[graph->input[pixels->input]].name, NPU_U8,
				    4, uv ? planes : packed);
}

/* What a byte stands for where nothing was said, of an input as the model has it. */
static void set_default(struct npu_op *op, const struct npu_tensor *input)
{
	float mean = 0, scale = 1 / 255.0f;
	u32 i;

	if (input->dtype != NPU_F32) {
		scale = input->quant.scale[0];
		mean = (float)(input->quant.zero[0] + (input->dtype == NPU_I8 ? 128 : 0));
	}
	for (i = 0; i < NPU_MAX_PIXEL_CHANNELS; i++) {
		op->pixel_mean[i] = mean;
		op->pixel_scale[i] = scale;
	}
}

static bool is_skipped(const struct image *image, u32 op)
{
	u32 i;

	for (i = 0; i < image->skipped_count; i++)
		if (image->skipped[i] == op)
			return true;
	return false;
}

/* The last operator of the graph comes first, skipped ones go. */
static void move_to_front(struct npu_graph *graph, const struct image *image)
{
	struct npu_op first = graph->op[graph->op_count - 1];
	u32 i, count = graph->op_count;

	/* From the end: one place up for each, so that nothing is overwritten. */
	for (i = graph->op_count - 1; i--;)
		if (!is_skipped(image, i))
			graph->op[--count] = graph->op[i];
	graph->op[--count] = first;
	memmove(graph->op, graph->op + count, (graph->op_count - count) * sizeof(*graph->op));
	graph->op_count -= count;
}

int npu_graph_take_pixels(struct npu_graph *graph, const struct npu_pixel_input *pixels,
			  struct npu_diag *diag)
{
	const struct npu_tensor *tensor;
	struct image image;
	struct npu_op *op;
	u32 bytes;
	int error;

	if (pixels->input >= graph->input_count)
		return npu_diag_set(diag, -EINVAL, "%s: there is no input %u", graph->file,
				    pixels->input);
	image = find_image(graph, graph->input[pixels->input]);
	error = check_image(graph, pixels, &graph->tensor[image.tensor], diag);
	if (error)
		return error;
	tensor = &graph->tensor[image.tensor];
	bytes = add_bytes(graph, pixels, tensor->dim[1], tensor->dim[2]);
	op = bytes == NPU_NONE ? NULL : npu_graph_add_op(graph, NPU_OP_PIXELS, "pixels", 1, 1);
	if (!op)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", graph->file);
	op->input[0] = bytes;
	op->output[0] = image.tensor;
	op->pixels = pixels->order;
	set_default(op, &graph->tensor[graph->input[pixels->input]]);
	if (pixels->given) {
		memcpy(op->pixel_mean, pixels->mean, sizeof(op->pixel_mean));
		memcpy(op->pixel_scale, pixels->scale, sizeof(op->pixel_scale));
	}
	move_to_front(graph, &image);
	graph->input[pixels->input] = bytes;
	return npu_graph_verify(graph, diag);
}

/* ---- one scale for all channels ---- */

/* A convolution that reads @image, directly or behind padding with zeros, and no other reader. */
static bool reads_as_convolution(const struct npu_graph *graph, const struct npu_op *op, u32 image)
{
	const struct npu_tensor *weights = npu_op_input(graph, op, 1);

	return op->kind == NPU_OP_CONV && op->groups == 1 && op->input[0] == image && weights &&
	       weights->data && weights->dtype == NPU_F32 && op->input[2] != image;
}

static bool pads_zeros(const struct npu_graph *graph, const struct npu_op *op)
{
	const struct npu_tensor *value = npu_op_input(graph, op, 1);

	return op->kind == NPU_OP_PAD && (!value || (value->data && value->dtype == NPU_F32 &&
						     *(const float *)value->data == 0));
}

/* Do only convolutions read it?  @depth: paddings that may lie in between. */
static bool only_convolutions(const struct npu_graph *graph, u32 image, u32 depth)
{
	u32 i, j;

	for (i = 0; i < graph->output_count; i++)
		if (graph->output[i] == image)
			return false;
	for (i = 0; i < graph->op_count; i++) {
		const struct npu_op *op = &graph->op[i];

		for (j = 0; j < op->input_count; j++)
			if (op->input[j] == image && !reads_as_convolution(graph, op, image) &&
			    !(depth && !j && pads_zeros(graph, op) &&
			      only_convolutions(graph, op->output[0], depth - 1)))
				return false;
	}
	return true;
}

/* Weights of their own, times 1 / @factor of each channel. */
static int scale_weights(struct npu_graph *graph, struct npu_op *op, const float *factor)
{
	const struct npu_tensor old = graph->tensor[op->input[1]];
	u32 index = npu_graph_add_tensor(graph, old.name, NPU_F32, 4, old.dim);
	size_t i, count = old.bytes / sizeof(float);
	float *data = npu_arena_array(&graph->arena, count, sizeof(*data));

	if (index == NPU_NONE || !data)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		data[i] = ((const float *)old.data)[i] / factor[i % old.dim[3]];
	graph->tensor[index].data = data;
	op->input[1] = index;
	return 0;
}

static int scale_readers(struct npu_graph *graph, u32 image, const float *factor)
{
	int error = 0;
	u32 i;

	for (i = 0; i < graph->op_count && !error; i++) {
		struct npu_op *op = &graph->op[i];

		if (op->input[0] != image)
			continue;
		error = op->kind == NPU_OP_PAD ? scale_readers(graph, op->output[0], factor)
					       : scale_weights(graph, op, factor);
	}
	return error;
}

int npu_graph_even_pixels(struct npu_graph *graph, struct npu_pixel_input *pixels,
			  float factor[NPU_MAX_PIXEL_CHANNELS])
{
	u32 image, c, channels;
	bool same = true;

	for (c = 0; c < NPU_MAX_PIXEL_CHANNELS; c++)
		factor[c] = 1;
	if (pixels->input >= graph->input_count || !pixels->given)
		return 0;
	image = find_image(graph, graph->input[pixels->input]).tensor;
	channels = graph->tensor[image].dim[3];
	if (graph->tensor[image].rank != 4 || graph->tensor[image].dtype != NPU_F32 || !channels ||
	    channels > NPU_MAX_PIXEL_CHANNELS || !only_convolutions(graph, image, 1))
		return 0;
	for (c = 0; c < channels; c++) {
		if (!(fabsf(pixels->scale[c]) > 0) || !isfinite(pixels->scale[c]))
			return 0;
		same = same && pixels->scale[c] == pixels->scale[0];
	}
	if (same)
		return 0;
	for (c = 0; c < channels; c++) {
		factor[c] = pixels->scale[0] / pixels->scale[c];
		pixels->scale[c] = pixels->scale[0];
	}
	return scale_readers(graph, image, factor);
}

void npu_pixels_scale(const struct npu_graph *graph, u32 input,
		      const float factor[NPU_MAX_PIXEL_CHANNELS], float *data)
{
	const struct npu_tensor *tensor = &graph->tensor[graph->input[input]];
	u32 image = find_image(graph, graph->input[input]).tensor;
	/* Where a change of order follows, a channel's elements lie side by side. */
	bool first = image != graph->input[input];
	u32 channels = graph->tensor[image].dim[3];
	size_t plane = first ? (size_t)tensor->dim[2] * tensor->dim[3] : 1, i;

	for (i = 0; i < tensor->bytes / sizeof(*data); i++)
		data[i] *= factor[i / plane % channels];
}
