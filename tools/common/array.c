// SPDX-License-Identifier: MIT
/* An array's elements as those of a tensor. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "array.h"
#include "element.h"

/* How a file names the type of a tensor's elements. */
static const struct {
	enum npu_type type;
	char kind;
	uint32_t width;
	double low, high; /* of integers */
} types[] = {
	{ NPU_TYPE_INT8, 'i', 1, INT8_MIN, INT8_MAX },
	{ NPU_TYPE_UINT8, 'u', 1, 0, UINT8_MAX },
	{ NPU_TYPE_INT16, 'i', 2, INT16_MIN, INT16_MAX },
	{ NPU_TYPE_INT32, 'i', 4, INT32_MIN, INT32_MAX },
	{ NPU_TYPE_INT64, 'i', 8, -0x1p63, 0x1.fffffffffffffp62 },
	{ NPU_TYPE_FLOAT16, 'f', 2, 0, 0 },
	{ NPU_TYPE_FLOAT32, 'f', 4, 0, 0 },
	{ NPU_TYPE_BOOL, 'b', 1, 0, 1 },
};

void tool_array_dense(struct tool_array *array)
{
	uint64_t stride = 1;
	uint32_t i;

	for (i = array->rank; i--;) {
		array->stride[i] = stride;
		stride *= array->dim[i];
	}
}

/* ---- shapes ---- */

/* Dimensions other than 1; returns how many. */
static uint32_t real_dims(uint32_t rank, const uint64_t *dim, uint64_t *out)
{
	uint32_t i, n = 0;

	for (i = 0; i < rank; i++)
		if (dim[i] != 1)
			out[n++] = dim[i];
	return n;
}

static size_t shape_text(char *text, size_t room, uint32_t rank, const uint64_t *dim)
{
	size_t used = (size_t)snprintf(text, room, "[");
	uint32_t i;

	for (i = 0; i < rank && used < room; i++)
		used += (size_t)snprintf(text + used, room - used, "%s%llu", i ? ", " : "",
					 (unsigned long long)dim[i]);
	if (used < room)
		used += (size_t)snprintf(text + used, room - used, "]");
	return used;
}

static bool same_shape(const struct tool_array *array, uint32_t rank, const uint64_t *dim)
{
	uint64_t a[TOOL_ARRAY_MAX_RANK], b[TOOL_ARRAY_MAX_RANK], elements = 1, wanted = 1;
	uint32_t an = real_dims(array->rank, array->dim, a), bn = real_dims(rank, dim, b), i;

	if (an == bn)
		return memcmp(a, b, an * sizeof(*a)) == 0;
	for (i = 0; i < an; i++)
		elements *= a[i];
	for (i = 0; i < bn; i++)
		wanted *= b[i];
	return (an <= 1 || bn <= 1) && elements == wanted;
}

/* The last three dimensions go round by @by places: 1: channels to the front, 2: behind the others. */
static bool rotate(const struct tool_array *array, uint32_t by, struct tool_array *rotated)
{
	uint32_t first = array->rank - 3, i;

	if (array->rank < 3)
		return false;
	*rotated = *array;
	for (i = 0; i < 3; i++) {
		rotated->dim[first + (i + by) % 3] = array->dim[first + i];
		rotated->stride[first + (i + by) % 3] = array->stride[first + i];
	}
	return true;
}

/* The array in the tensor's order of dimensions. */
static int orient(const struct tool_array *array, const struct npu_tensor_info *info,
		  struct tool_array *oriented, uint32_t *by, char text[200])
{
	uint64_t dim[NPU_RANK_MAX];
	uint32_t i;
	size_t used;

	for (i = 0; i < info->rank; i++)
		dim[i] = info->shape[i];
	*oriented = *array;
	*by = 0;
	if (same_shape(array, info->rank, dim))
		return 0;
	for (*by = 1; *by <= 2; (*by)++)
		if (rotate(array, *by, oriented) && same_shape(oriented, info->rank, dim))
			return 0;
	used = (size_t)snprintf(text, 200, "array of shape ");
	used += shape_text(text + used, 200 - used, array->rank, array->dim);
	if (used < 200)
		used += (size_t)snprintf(text + used, 200 - used, ", the tensor has ");
	if (used < 200)
		shape_text(text + used, 200 - used, info->rank, dim);
	return -EINVAL;
}

/* ---- elements ---- */

static uint64_t element_bits(const struct tool_array *array, const uint8_t *at)
{
	uint64_t bits = 0;
	uint32_t i;

	/* Least significant byte last. */
	for (i = 0; i < array->width; i++)
		bits = bits << 8 | at[array->swapped ? i : array->width - 1 - i];
	return bits;
}

static double bits_number(const struct tool_array *array, uint64_t bits)
{
	uint32_t spare = 64 - 8 * array->width;
	uint32_t low = (uint32_t)bits;
	float single;
	double wide;

	if (array->kind == 'i')
		return (double)((int64_t)(bits << spare) >> spare);
	if (array->kind != 'f')
		return (double)bits;
	switch (array->width) {
	case 2:
		return tool_from_half((uint16_t)bits);
	case 4:
		memcpy(&single, &low, sizeof(single));
		return (double)single;
	default:
		memcpy(&wide, &bits, sizeof(wide));
		return wide;
	}
}

/* Bits of an element of the tensor's own type: exact for 64-bit integers too. */
static void store_bits(void *out, uint64_t i, uint32_t width, uint64_t bits)
{
	uint8_t *to = (uint8_t *)out + i * width;
	const uint8_t byte = (uint8_t)bits;
	const uint16_t two = (uint16_t)bits;
	const uint32_t four = (uint32_t)bits;
	const void *from = width == 1	? (const void *)&byte
			   : width == 2 ? (const void *)&two
			   : width == 4 ? (const void *)&four
					: (const void *)&bits;

	memcpy(to, from, width);
}

/* What is done with each element. */
enum how { COPY, REAL, INTEGER, NORMAL, SHIFT };

/**
 * struct store - from an array into a tensor
 * @array: in the tensor's order of dimensions
 * @low, @high: INTEGER: what fits
 * @beyond: elements that do not
 * @normal, @channel: NORMAL: what bytes stand for, and the dimension of channels
 */
struct store {
	const struct tool_array *array;
	const struct npu_tensor_info *info;
	void *out;
	enum how how;
	double low, high;
	uint64_t beyond;
	const struct tool_normal *normal;
	uint32_t channel;
};

static void store_one(struct store *s, uint64_t i, uint64_t at, const uint64_t *index)
{
	uint64_t bits = element_bits(s->array, s->array->data + at * s->array->width);
	double number;

	if (s->how == COPY) {
		store_bits(s->out, i, s->array->width, bits);
		return;
	}
	number = bits_number(s->array, bits);
	if (s->how == NORMAL) {
		uint64_t c = s->normal->count == 1 ? 0 : index[s->channel];

		number = (number - s->normal->mean[c]) * s->normal->scale[c];
	}
	if (s->how == REAL || s->how == NORMAL) {
		tool_store_real(s->info, s->out, i, number);
		return;
	}
	if (s->how == SHIFT)
		number -= 128;
	s->beyond += number < s->low || number > s->high;
	tool_store(s->info, s->out, i, number);
}

/* All elements in order of the last dimension first. */
static void store_all(struct store *s)
{
	const struct tool_array *a = s->array;
	uint64_t index[TOOL_ARRAY_MAX_RANK] = { 0 }, elements = tool_elements(s->info), i, at = 0;
	uint32_t d;

	for (i = 0; i < elements; i++) {
		store_one(s, i, at, index);
		for (d = a->rank; d--;) {
			at += a->stride[d];
			if (++index[d] < a->dim[d])
				break;
			at -= a->stride[d] * a->dim[d];
			index[d] = 0;
		}
	}
}

static int wrong_type(const struct tool_array *array, const struct npu_tensor_info *info,
		      char text[200])
{
	snprintf(text, 200, "array of %c%u for a tensor of %s", array->kind, array->width,
		 npu_type_name(info->type));
	return -EINVAL;
}

int tool_array_store(const struct tool_array *array, const struct npu_tensor_info *info, void *out,
		     char text[200])
{
	struct tool_array oriented;
	struct store s = { .array = &oriented, .info = info, .out = out };
	bool floating = info->type == NPU_TYPE_FLOAT16 || info->type == NPU_TYPE_FLOAT32;
	uint32_t by;
	size_t k;
	int err = orient(array, info, &oriented, &by, text);

	if (err)
		return err;
	for (k = 0; k < sizeof(types) / sizeof(types[0]) && types[k].type != info->type; k++)
		;
	if (k == sizeof(types) / sizeof(types[0]))
		return wrong_type(array, info, text);
	if (types[k].kind == array->kind && types[k].width == array->width)
		s.how = COPY;
	else if (floating || (array->kind == 'f' && tool_takes_real(info)))
		s.how = REAL;
	else if (array->kind != 'f' && !(info->scale > 0))
		s.how = INTEGER;
	else
		return wrong_type(array, info, text);
	s.low = types[k].low;
	s.high = types[k].high;
	store_all(&s);
	if (!s.beyond)
		return 0;
	snprintf(text, 200, "%llu numbers of the array are beyond %s", (unsigned long long)s.beyond,
		 npu_type_name(info->type));
	return -EINVAL;
}

int tool_array_store_pixels(const struct tool_array *array, const struct tool_normal *normal,
			    const struct npu_tensor_info *info, void *out, char text[200])
{
	static const struct tool_normal unit = { 1, { 0 }, { 1 / 255.0 } };
	struct tool_array oriented;
	struct store s = { .array = &oriented, .info = info, .out = out, .how = NORMAL };
	bool is_byte = info->type == NPU_TYPE_INT8 || info->type == NPU_TYPE_UINT8;
	uint32_t by;
	int err = orient(array, info, &oriented, &by, text);

	if (err)
		return err;
	s.normal = normal ? normal : &unit;
	s.channel = (array->rank - 1 + by) % 3;
	s.low = INT8_MIN;
	s.high = INT8_MAX;
	if (is_byte && !normal)
		s.how = info->type == NPU_TYPE_UINT8 ? COPY : SHIFT;
	else if (!tool_takes_real(info))
		return wrong_type(array, info, text);
	store_all(&s);
	return 0;
}
