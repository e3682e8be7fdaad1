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

u8 *npu_value_data(const struct npu_model *model, u32 value)
{
	const struct npu_plan *plan = model->program->plan;
	const struct npu_spans *spans = &plan->spans[NPU_REGION_ARENA];
	u32 span = npu_span_find(spans, plan->offset[value]);
	const struct npu_buffer *buffer = &model->buffer[NPU_REGION_ARENA][span];

	return (u8 *)buffer->data + (plan->offset[value] - spans->span[span].start);
}

size_t npu_value_linear_bytes(const struct npu_value *value)
{
	return (size_t)value->h * value->w * value->c * npu_dtype_bytes[value->dtype];
}

static struct npu_cube value_cube(const struct npu_model *model, const struct npu_value *value)
{
	return (struct npu_cube){
		.h = value->h,
		.w = value->w,
		.c = value->c,
		.atom = model->program->net->config->atom,
		.line_stride = value->line_stride,
		.surface_stride = value->surface_stride,
	};
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

void npu_value_read(const struct npu_model *model, u32 index, enum npu_dtype dtype, void *linear)
{
	const struct npu_value *value = get_value(model, index);
	struct npu_cube cube = value_cube(model, value);

	if (value->layout == NPU_FEATURE)
		npu_layout_from_feature(linear, npu_value_data(model, index), &cube,
					flips(value, dtype));
	else
		npu_layout_copy(linear, npu_value_data(model, index), npu_value_linear_bytes(value),
				flips(value, dtype));
}

void npu_value_write(const struct npu_model *model, u32 index, enum npu_dtype dtype,
		     const void *linear)
{
	const struct npu_value *value = get_value(model, index);
	struct npu_cube cube = value_cube(model, value);

	if (value->layout == NPU_FEATURE)
		npu_layout_to_feature(npu_value_data(model, index), linear, &cube,
				      flips(value, dtype));
	else
		npu_layout_copy(npu_value_data(model, index), linear, npu_value_linear_bytes(value),
				flips(value, dtype));
}
