// SPDX-License-Identifier: MIT
/* TensorProto: constants in the model or in files beside it. */
#include "half.h"
#include "onnx.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What files may describe without containing it: fills, and data in other files. */
u64 onnx_max_expanded = (u64)1 << 30;

int onnx_dtype(s32 type)
{
	static const s8 types[] = { -1,	     NPU_F32, NPU_U8, NPU_I8,	-1,	 NPU_I16,
				    NPU_I32, NPU_I64, -1,     NPU_BOOL, NPU_F32, NPU_F32 };

	return type >= 0 && type < (s32)ARRAY_SIZE(types) ? types[type] : -1;
}

int onnx_expand(struct onnx *o, u64 bytes)
{
	o->expanded += bytes;
	if (bytes > onnx_max_expanded || o->expanded > onnx_max_expanded)
		return onnx_fail(
			o, -ENOTSUP,
			"more than 1 GiB of constants or operators that are not in the file");
	/* Weights are there a second time in the graph's order. */
	o->graph->arena.limit += 2 * bytes + 64;
	return 0;
}

enum { FLOAT16 = 10, FLOAT64 = 11 };

/* Bytes of an element in raw data. */
static u32 raw_bytes(s32 type)
{
	if (type == FLOAT16)
		return 2;
	return type == FLOAT64 ? 8 : npu_dtype_bytes[onnx_dtype(type)];
}

static void widen(const u8 *raw, s32 type, u64 elements, float *to)
{
	u64 i;

	for (i = 0; i < elements; i++)
		if (type == FLOAT16) {
			u16 half;

			memcpy(&half, raw + 2 * i, sizeof(half));
			to[i] = npu_from_half(half);
		} else {
			double wide;

			memcpy(&wide, raw + 8 * i, sizeof(wide));
			to[i] = (float)wide;
		}
}

/* Elements in the fields for their types; what is narrower than the field keeps its low bits. */
static int read_typed(struct onnx *o, const Onnx__TensorProto *proto, enum npu_dtype dtype,
		      u64 elements, void *data)
{
	bool wide = dtype == NPU_I64, half = proto->data_type == FLOAT16;
	size_t found = proto->n_int32_data;
	u64 i;

	if (wide)
		found = proto->n_int64_data;
	else if (proto->data_type == FLOAT64)
		found = proto->n_double_data;
	else if (dtype == NPU_F32 && !half)
		found = proto->n_float_data;
	if (found != elements)
		return onnx_fail(o, -EINVAL,
				 "constant %.100s has %zu elements, its shape says %llu",
				 proto->name ? proto->name : "", found,
				 (unsigned long long)elements);
	for (i = 0; i < elements; i++)
		if (wide)
			((s64 *)data)[i] = proto->int64_data[i];
		else if (proto->data_type == FLOAT64)
			((float *)data)[i] = (float)proto->double_data[i];
		else if (half)
			((float *)data)[i] = npu_from_half((u16)proto->int32_data[i]);
		else if (dtype == NPU_F32)
			((float *)data)[i] = proto->float_data[i];
		else if (npu_dtype_bytes[dtype] == 4)
			((s32 *)data)[i] = proto->int32_data[i];
		else if (npu_dtype_bytes[dtype] == 2)
			((s16 *)data)[i] = (s16)proto->int32_data[i];
		else
			((u8 *)data)[i] = (u8)proto->int32_data[i];
	return 0;
}

static const char *external(const Onnx__TensorProto *proto, const char *key)
{
	size_t i;

	for (i = 0; i < proto->n_external_data; i++)
		if (proto->external_data[i]->key && proto->external_data[i]->value &&
		    !strcmp(proto->external_data[i]->key, key))
			return proto->external_data[i]->value;
	return NULL;
}

static int external_number(struct onnx *o, const Onnx__TensorProto *proto, const char *key,
			   u64 *value)
{
	const char *text = external(proto, key);
	char *end;

	*value = 0;
	if (!text)
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || *value > INT64_MAX)
		return onnx_fail(o, -EINVAL, "external data: %s %.40s", key, text);
	return 0;
}

/* Below the model's folder: no part of the path may lead out of it, not even a link. */
static int open_below(const char *folder, const char *path)
{
	int at = open(*folder ? folder : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), next = -1;
	char part[256];

	while (at >= 0) {
		size_t length = strcspn(path, "/");
		bool last = !path[length];

		next = -1;
		errno = EACCES;
		if (length && length < sizeof(part)) {
			memcpy(part, path, length);
			part[length] = '\0';
			if (strcmp(part, ".."))
				next = openat(at, part,
					      (last ? O_RDONLY | O_NONBLOCK
						    : O_PATH | O_DIRECTORY) |
						      O_NOFOLLOW | O_CLOEXEC);
		}
		close(at);
		if (last)
			return next;
		at = next;
		path += length + 1;
	}
	return -1;
}

static int read_file(struct onnx *o, int file, const char *path, u64 offset, u64 bytes, u8 *to)
{
	struct stat status;
	u64 done = 0;

	if (fstat(file, &status) || !S_ISREG(status.st_mode) || offset > (u64)status.st_size ||
	    bytes > (u64)status.st_size - offset)
		return onnx_fail(o, -EINVAL,
				 "external data: %.100s is no file with %llu bytes "
				 "from %llu",
				 path, (unsigned long long)bytes, (unsigned long long)offset);
	while (done < bytes) {
		ssize_t got = pread(file, to + done, bytes - done, (off_t)(offset + done));

		if (got <= 0)
			return onnx_fail(o, -EIO, "external data: %.100s cannot be read", path);
		done += got;
	}
	return 0;
}

static int read_external(struct onnx *o, const Onnx__TensorProto *proto, u64 bytes, const u8 **raw)
{
	const char *path = external(proto, "location");
	u64 offset, length;
	u8 *data;
	int file, error = external_number(o, proto, "offset", &offset);

	if (!error)
		error = external_number(o, proto, "length", &length);
	if (error)
		return error;
	if (!path || !o->folder)
		return onnx_fail(o, -EINVAL, "external data without a file");
	if (length && length != bytes)
		return onnx_fail(o, -EINVAL, "external data: %llu bytes, the shape says %llu",
				 (unsigned long long)length, (unsigned long long)bytes);
	file = open_below(o->folder, path);
	if (file < 0)
		return onnx_fail(o, -EINVAL,
				 "external data: %.100s cannot be opened below the model's folder",
				 path);
	error = onnx_expand(o, bytes);
	data = error ? NULL : npu_arena_alloc(&o->graph->arena, bytes);
	if (!error)
		error = data ? read_file(o, file, path, offset, bytes, data) : -ENOMEM;
	close(file);
	*raw = data;
	return error;
}

static int read_shape(struct onnx *o, const Onnx__TensorProto *proto, struct onnx_value *value)
{
	u32 dim[NPU_MAX_RANK], i;
	int dtype = onnx_dtype(proto->data_type);

	if (dtype < 0)
		return onnx_fail(o, -ENOTSUP, "constant %.100s has type %d", value->name,
				 proto->data_type);
	if (proto->n_dims > NPU_MAX_RANK)
		return onnx_fail(o, -ENOTSUP, "constant %.100s has more than 6 dimensions",
				 value->name);
	for (i = 0; i < proto->n_dims; i++) {
		if (proto->dims[i] < 0 || proto->dims[i] > INT32_MAX)
			return onnx_fail(o, -EINVAL, "constant %.100s: dimension %u is %lld",
					 value->name, i, (long long)proto->dims[i]);
		dim[i] = (u32)proto->dims[i];
		value->empty |= !dim[i];
	}
	onnx_value_shape(value, dtype, i, dim);
	return 0;
}

/* The bytes of the elements where they are given as such. */
static int find_raw(struct onnx *o, const Onnx__TensorProto *proto, u64 bytes, const u8 **raw)
{
	if (proto->has_data_location && proto->data_location)
		return read_external(o, proto, bytes, raw);
	*raw = NULL;
	if (!proto->has_raw_data)
		return 0;
	if (proto->raw_data.len != bytes)
		return onnx_fail(o, -EINVAL, "constant %.100s has %zu bytes, its shape says %llu",
				 proto->name ? proto->name : "", proto->raw_data.len,
				 (unsigned long long)bytes);
	*raw = proto->raw_data.data;
	return 0;
}

int onnx_read_tensor(struct onnx *o, const Onnx__TensorProto *proto, struct onnx_value *value)
{
	u32 *tensor = &value->tensor[ONNX_PLAIN];
	u64 elements;
	const u8 *raw = NULL;
	void *data = NULL;
	int error;

	if (value->known)
		return onnx_fail(o, -EINVAL, "%.100s is computed twice", value->name);
	error = read_shape(o, proto, value);
	if (error || value->empty)
		return error;
	error = onnx_add_tensor(o, value->name, value->dtype, value->rank, value->dim, tensor);
	if (error)
		return error;
	elements = npu_tensor_elements(onnx_tensor(o, *tensor));
	error = find_raw(o, proto, elements * raw_bytes(proto->data_type), &raw);
	if (error)
		return error;
	if (raw && proto->data_type != FLOAT16 && proto->data_type != FLOAT64) {
		o->graph->tensor[*tensor].data = raw;
		return 0;
	}
	data = npu_arena_alloc(&o->graph->arena, onnx_tensor(o, *tensor)->bytes);
	if (!data)
		return -ENOMEM;
	o->graph->tensor[*tensor].data = data;
	if (!raw)
		return read_typed(o, proto, value->dtype, elements, data);
	widen(raw, proto->data_type, elements, data);
	return 0;
}
