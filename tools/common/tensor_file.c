// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "tensor_file.h"
#include "tool.h"

#define MAX_FILE ((size_t)1 << 30)

/* A file's contents and the tensor that they are meant for. */
struct source {
	const uint8_t *data;
	size_t bytes;
	const struct npu_tensor_info *info;
	uint64_t elements; /* of the tensor */
	uint8_t *out; /* of info->bytes */
	char *text;
};

static uint64_t count_elements(const struct npu_tensor_info *info)
{
	uint64_t elements = 1;
	uint32_t i;

	for (i = 0; i < info->rank; i++)
		elements *= info->shape[i];
	return elements;
}

static uint32_t read_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint16_t read_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

/* ---- real numbers ---- */

static const struct {
	enum npu_type type;
	double low, high;
} ranges[] = {
	{ NPU_TYPE_INT8, INT8_MIN, INT8_MAX },
	{ NPU_TYPE_UINT8, 0, UINT8_MAX },
	{ NPU_TYPE_INT16, INT16_MIN, INT16_MAX },
	{ NPU_TYPE_INT32, INT32_MIN, INT32_MAX },
};

static int store_real(const struct source *source, uint64_t i, double real)
{
	const struct npu_tensor_info *info = source->info;
	double stored;
	size_t k;

	if (info->type == NPU_TYPE_FLOAT32) {
		float single = (float)real;

		memcpy(source->out + i * sizeof(single), &single, sizeof(single));
		return 0;
	}
	for (k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++)
		if (ranges[k].type == info->type)
			break;
	if (k == sizeof(ranges) / sizeof(ranges[0]) || !(info->scale > 0)) {
		snprintf(source->text, 200, "real numbers do not fit a tensor of %s",
			 npu_type_name(info->type));
		return -EINVAL;
	}
	stored = round(real / (double)info->scale) + info->zero_point;
	stored = isnan(stored) ? info->zero_point
			       : fmax(fmin(stored, ranges[k].high), ranges[k].low);
	if (info->type == NPU_TYPE_INT8 || info->type == NPU_TYPE_UINT8)
		source->out[i] = (uint8_t)(int32_t)stored;
	else if (info->type == NPU_TYPE_INT16)
		((int16_t *)source->out)[i] = (int16_t)stored;
	else
		((int32_t *)source->out)[i] = (int32_t)stored;
	return 0;
}

/* ---- NumPy ---- */

static const struct {
	const char *name; /* as in the header */
	enum npu_type type;
	size_t bytes;
} numpy_types[] = {
	{ "|i1", NPU_TYPE_INT8, 1 },  { "|u1", NPU_TYPE_UINT8, 1 }, { "<i2", NPU_TYPE_INT16, 2 },
	{ "<i4", NPU_TYPE_INT32, 4 }, { "<i8", NPU_TYPE_INT64, 8 }, { "<f4", NPU_TYPE_FLOAT32, 4 },
	{ "|b1", NPU_TYPE_BOOL, 1 },
};

static bool is_numpy(const struct source *source)
{
	return source->bytes >= 12 && memcmp(source->data, "\223NUMPY", 6) == 0;
}

/* The value behind 'KEY': in the header's dictionary; NULL where there is none. */
static const char *numpy_value(const char *header, const char *key)
{
	char quoted[32];
	const char *p;

	snprintf(quoted, sizeof(quoted), "'%s':", key);
	p = strstr(header, quoted);
	if (!p)
		return NULL;
	p += strlen(quoted);
	return p + strspn(p, " ");
}

/* Product of the numbers in "(1, 2, 3)". */
static bool numpy_elements(const char *shape, uint64_t *elements)
{
	const char *p = shape + 1;
	char *end;

	*elements = 1;
	if (*shape != '(')
		return false;
	for (p += strspn(p, " "); *p && *p != ')'; p += strspn(p, ", ")) {
		unsigned long dim = strtoul(p, &end, 10);

		if (end == p || dim > UINT32_MAX ||
		    __builtin_mul_overflow(*elements, (uint64_t)dim, elements))
			return false;
		p = end;
	}
	return *p == ')';
}

static int numpy_copy(const struct source *source, const uint8_t *data, size_t bytes,
		      const char *type)
{
	uint64_t i;
	size_t k;
	int err = 0;

	if (strncmp(type, "'<f8'", 5) == 0 && bytes == source->elements * 8) {
		for (i = 0; i < source->elements && !err; i++) {
			double real;

			memcpy(&real, data + i * 8, 8);
			err = store_real(source, i, real);
		}
		return err;
	}
	for (k = 0; k < sizeof(numpy_types) / sizeof(numpy_types[0]); k++)
		if (strncmp(type + 1, numpy_types[k].name, 3) == 0)
			break;
	if (k == sizeof(numpy_types) / sizeof(numpy_types[0]) ||
	    bytes != source->elements * numpy_types[k].bytes) {
		snprintf(source->text, 200, "array of %.10s and %zu bytes for %llu elements", type,
			 bytes, (unsigned long long)source->elements);
		return -EINVAL;
	}
	if (numpy_types[k].type == source->info->type) {
		memcpy(source->out, data, bytes);
		return 0;
	}
	if (numpy_types[k].type != NPU_TYPE_FLOAT32) {
		snprintf(source->text, 200, "array of %s for a tensor of %s",
			 npu_type_name(numpy_types[k].type), npu_type_name(source->info->type));
		return -EINVAL;
	}
	for (i = 0; i < source->elements && !err; i++) {
		float real;

		memcpy(&real, data + i * 4, 4);
		err = store_real(source, i, (double)real);
	}
	return err;
}

static int load_numpy(const struct source *source)
{
	size_t start = source->data[6] == 1 ? 10 : 12, length;
	const char *type, *shape, *order;
	uint64_t elements;
	char *header;
	int err = -EINVAL;

	length = source->data[6] == 1 ? read_le16(source->data + 8) : read_le32(source->data + 8);
	if (length > source->bytes - start) {
		snprintf(source->text, 200, "broken .npy: header is cut off");
		return -EINVAL;
	}
	header = strndup((const char *)source->data + start, length);
	if (!header)
		return -ENOMEM;
	type = numpy_value(header, "descr");
	shape = numpy_value(header, "shape");
	order = numpy_value(header, "fortran_order");
	if (!type || *type != '\'' || !shape || !order || !numpy_elements(shape, &elements))
		snprintf(source->text, 200, "broken .npy: cannot read its header");
	else if (strncmp(order, "False", 5) != 0)
		snprintf(source->text, 200, ".npy in column order is not supported");
	else if (elements != source->elements)
		snprintf(source->text, 200, "array of %llu elements, the tensor has %llu",
			 (unsigned long long)elements, (unsigned long long)source->elements);
	else
		err = numpy_copy(source, source->data + start + length,
				 source->bytes - start - length, type);
	free(header);
	return err;
}

/* ---- pictures ---- */

static void store_pixels(const struct source *source, const uint8_t *pixel)
{
	uint64_t i;

	for (i = 0; i < source->elements; i++)
		if (source->info->type == NPU_TYPE_FLOAT32)
			((float *)source->out)[i] = (float)pixel[i] / 255.0f;
		else
			source->out[i] = source->info->type == NPU_TYPE_INT8 ? pixel[i] ^ 0x80
									     : pixel[i];
}

static int load_picture(const struct source *source)
{
	const struct npu_tensor_info *info = source->info;
	const uint32_t *shape = info->shape;
	struct tool_image image;
	int err;

	if (info->rank != 4 || shape[0] != 1 || (shape[3] != 1 && shape[3] != 3) ||
	    (info->type != NPU_TYPE_INT8 && info->type != NPU_TYPE_UINT8 &&
	     info->type != NPU_TYPE_FLOAT32)) {
		snprintf(source->text, 200,
			 "a picture for an input that is not [1, height, width, 1 or 3] of int8, "
			 "uint8 or float32");
		return -EINVAL;
	}
	err = tool_image_decode(source->data, source->bytes, shape[3], &image, source->text);
	if (err)
		return err;
	err = tool_image_resize(&image, shape[2], shape[1]);
	if (err)
		snprintf(source->text, 200, "out of memory");
	else
		store_pixels(source, image.pixel);
	tool_image_free(&image);
	return err;
}

/* ---- sound ---- */

static bool is_wav(const struct source *source)
{
	return source->bytes >= 12 && memcmp(source->data, "RIFF", 4) == 0 &&
	       memcmp(source->data + 8, "WAVE", 4) == 0;
}

/* A chunk of the file; false where there is none. */
static bool find_chunk(const struct source *source, const char *name, const uint8_t **chunk,
		       size_t *bytes)
{
	size_t at = 12;

	while (source->bytes - at >= 8) {
		size_t length = read_le32(source->data + at + 4);

		at += 8;
		if (memcmp(source->data + at - 8, name, 4) == 0) {
			*chunk = source->data + at;
			*bytes = length < source->bytes - at ? length : source->bytes - at;
			return true;
		}
		length += length & 1;
		if (length > source->bytes - at)
			return false;
		at += length;
	}
	return false;
}

static bool takes_samples(const struct source *source)
{
	uint32_t i, wide = 0;

	for (i = 0; i < source->info->rank; i++)
		wide += source->info->shape[i] > 1;
	return wide == 1 &&
	       (source->info->type == NPU_TYPE_INT16 || source->info->type == NPU_TYPE_FLOAT32);
}

static int load_wav(const struct source *source)
{
	const uint8_t *format, *samples;
	size_t format_bytes, bytes, channels, frames, i, c;

	if (!takes_samples(source)) {
		snprintf(source->text, 200,
			 "sound for an input that does not take samples (one dimension of int16 or "
			 "float32); give it the features that the model was trained with");
		return -EINVAL;
	}
	if (!find_chunk(source, "fmt ", &format, &format_bytes) || format_bytes < 16 ||
	    !find_chunk(source, "data", &samples, &bytes)) {
		snprintf(source->text, 200, "broken WAV");
		return -EINVAL;
	}
	channels = read_le16(format + 2);
	if (read_le16(format) != 1 || !channels || read_le16(format + 14) != 16) {
		snprintf(source->text, 200, "WAV that is not 16-bit PCM");
		return -EINVAL;
	}
	frames = bytes / (2 * channels);
	for (i = 0; i < source->elements; i++) {
		int64_t sum = 0;

		for (c = 0; c < channels && i < frames; c++)
			sum += (int16_t)read_le16(samples + (i * channels + c) * 2);
		sum /= (int64_t)channels;
		if (source->info->type == NPU_TYPE_INT16)
			((int16_t *)source->out)[i] = (int16_t)sum;
		else
			((float *)source->out)[i] = (float)sum / 32768.0f;
	}
	return 0;
}

/* ---- all of them ---- */

static int load_raw(const struct source *source)
{
	if (source->bytes != source->info->bytes) {
		snprintf(source->text, 200, "%zu bytes, the tensor has %llu", source->bytes,
			 (unsigned long long)source->info->bytes);
		return -EINVAL;
	}
	memcpy(source->out, source->data, source->bytes);
	return 0;
}

static int load(const struct source *source)
{
	if (is_numpy(source))
		return load_numpy(source);
	if (tool_is_png(source->data, source->bytes) || tool_is_jpeg(source->data, source->bytes))
		return load_picture(source);
	if (is_wav(source))
		return load_wav(source);
	return load_raw(source);
}

int tool_load_tensor(const char *path, const struct npu_tensor_info *info, void **out,
		     char text[200])
{
	struct source source = { .info = info, .elements = count_elements(info), .text = text };
	uint8_t *data = NULL;
	int err = tool_read_file(path, MAX_FILE, &data, &source.bytes);

	if (err) {
		snprintf(text, 200, "%s", strerror(-err));
		return err;
	}
	source.data = data;
	source.out = malloc(info->bytes ? info->bytes : 1);
	if (!source.out) {
		snprintf(text, 200, "out of memory");
		err = -ENOMEM;
	} else {
		err = load(&source);
	}
	free(data);
	if (err)
		free(source.out);
	else
		*out = source.out;
	return err;
}
