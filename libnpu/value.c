// SPDX-License-Identifier: MIT
/*
 * Values of the network where they lie in the arena, in and out.
 */
#include "internal.h"
#include "layout.h"

static const struct npu_value *get_value(const struct npu_model *model, u32 value)
{
	return &model->program->net->value[value];
}

u8 *npu_value_at(const struct npu_lane *lane, u32 value, u32 y, u32 x, u32 c)
{
	const struct npu_program *program = lane->model->program;
	const struct npu_spans *spans = &program->plan->spans[NPU_REGION_ARENA];
	u64 offset = npu_plan_offset(program->net, program->plan, value, y, x, c);
	u32 span = npu_span_find(spans, offset);
	const struct npu_buffer *buffer = &lane->arena.buffer[span];

	return (u8 *)buffer->data + (offset - spans->span[span].start);
}

size_t npu_value_linear_bytes(const struct npu_value *value)
{
	return (size_t)value->h * value->w * value->c * npu_dtype_bytes[value->dtype];
}

/**
 * struct part - rows of a value that lie together, and their elements of a tensor without gaps
 * @memory: where they lie
 * @at, @bytes: the elements
 */
struct part {
	u8 *memory;
	size_t at, bytes;
	struct npu_cube cube;
};

static struct part band_part(const struct npu_lane *lane, u32 index, u32 band)
{
	const struct npu_program *program = lane->model->program;
	const struct npu_value *value = get_value(lane->model, index);
	const struct npu_band *b = &program->plan->place[index].band[band];
	size_t row = (size_t)value->w * value->c * npu_dtype_bytes[value->dtype];
	u32 rows = npu_band_rows(program->net, program->plan, index, band);

	return (struct part){
		.memory = npu_value_at(lane, index, b->first, 0, 0),
		.at = b->first * row,
		.bytes = rows * row,
		.cube = { .h = rows,
			  .w = value->w,
			  .c = value->c,
			  .atom = program->net->config->atom,
			  .line_stride = value->line_stride,
			  .surface_stride = b->surface_stride },
	};
}

static const struct npu_tensor *tensor_of(const struct npu_model *model,
					  const struct npu_value *value)
{
	return &model->program->net->graph->tensor[value->tensor];
}

/* Lines of one plane of an image between memory and a tensor without gaps. */
static void copy_plane(u8 *memory, u8 *linear, const struct part *part, u32 line, bool write)
{
	u32 y;

	for (y = 0; y < part->cube.h; y++) {
		if (write)
			memcpy(memory, linear, line);
		else
			memcpy(linear, memory, line);
		memory += part->cube.line_stride;
		linear += line;
	}
}

/* Pixels of three bytes, which have a fourth one in memory that no weight looks at. */
static void copy_narrow(const struct npu_value *value, const struct part *part, u8 *linear,
			bool write)
{
	u32 y, x;

	for (y = 0; y < part->cube.h; y++) {
		u8 *memory = part->memory + (size_t)y * part->cube.line_stride;

		for (x = 0; x < value->w; x++, memory += 4, linear += 3)
			if (write)
				memcpy(memory, linear, 3);
			else
				memcpy(linear, memory, 3);
	}
}

/* Planes of pixels: in the tensor all lines of the first one come before those of the second. */
static void copy_pixels(const struct npu_value *value, const struct npu_tensor *tensor,
			const struct part *part, u8 *linear, bool write)
{
	u32 line = value->w * value->pixel_bytes;
	u32 second = value->w * (value->c - value->pixel_bytes);
	size_t first_row = part->at / (line + second);

	if (tensor->dim[3] == 3 && value->pixel_bytes == 4) {
		copy_narrow(value, part, linear + first_row * value->w * 3, write);
		return;
	}
	copy_plane(part->memory, linear + first_row * line, part, line, write);
	if (second)
		copy_plane(part->memory + part->cube.surface_stride,
			   linear + (size_t)value->h * line + first_row * second, part, second,
			   write);
}

static bool is_byte(enum npu_dtype dtype)
{
	return dtype == NPU_I8 || dtype == NPU_U8;
}

/* Do stored value and tensor differ in being UINT8? */
static bool flips(const struct npu_value *value, enum npu_dtype dtype)
{
	return is_byte(value->dtype) && is_byte(dtype) && value->dtype != dtype;
}

void npu_value_read(const struct npu_lane *lane, u32 index, enum npu_dtype dtype, void *linear)
{
	const struct npu_value *value = get_value(lane->model, index);
	bool flip = flips(value, dtype);
	u32 i;

	for (i = 0; i < lane->model->program->plan->place[index].count; i++) {
		struct part part = band_part(lane, index, i);
		u8 *to = (u8 *)linear + part.at;

		if (value->layout == NPU_PIXELS)
			copy_pixels(value, tensor_of(lane->model, value), &part, linear, false);
		else if (value->layout == NPU_FEATURE)
			npu_layout_from_feature(to, part.memory, &part.cube, flip);
		else
			npu_layout_copy(to, part.memory, part.bytes, flip);
	}
}

void npu_value_write(const struct npu_lane *lane, u32 index, enum npu_dtype dtype,
		     const void *linear)
{
	const struct npu_value *value = get_value(lane->model, index);
	bool flip = flips(value, dtype);
	u32 i;

	for (i = 0; i < lane->model->program->plan->place[index].count; i++) {
		struct part part = band_part(lane, index, i);
		const u8 *from = (const u8 *)linear + part.at;

		if (value->layout == NPU_PIXELS)
			copy_pixels(value, tensor_of(lane->model, value), &part,
				    (u8 *)(uintptr_t)linear, true);
		else if (value->layout == NPU_FEATURE)
			npu_layout_to_feature(part.memory, from, &part.cube, flip);
		else
			npu_layout_copy(part.memory, from, part.bytes, flip);
	}
}
