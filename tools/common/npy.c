// SPDX-License-Identifier: MIT
/*
 * NumPy's .npy: magic, version, length of the header, the header as a Python dictionary, elements.
 * Source: numpy.lib.format's documentation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "bytes.h"
#include "element.h"

#define MAGIC "\223NUMPY"
#define MAGIC_BYTES 6
#define ALIGN 64 /* elements begin at a multiple of it */

bool tool_is_npy(const uint8_t *data, size_t bytes)
{
	return bytes >= 12 && memcmp(data, MAGIC, MAGIC_BYTES) == 0;
}

/* The value behind 'KEY': in the header's dictionary; NULL where there is none. */
static const char *value_of(const char *header, const char *key)
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

/* "(1, 2, 3)"; false: it is no such thing, or too large. */
static bool parse_shape(const char *shape, struct tool_array *array, uint64_t *elements)
{
	const char *p = shape + 1;
	char *end;

	*elements = 1;
	if (*shape != '(')
		return false;
	for (p += strspn(p, " "); *p && *p != ')'; p += strspn(p, ", ")) {
		unsigned long dim = strtoul(p, &end, 10);

		if (end == p || *p == '-' || dim > UINT32_MAX ||
		    array->rank == TOOL_ARRAY_MAX_RANK ||
		    __builtin_mul_overflow(*elements, (uint64_t)dim, elements))
			return false;
		array->dim[array->rank++] = dim;
		p = end;
	}
	return *p == ')';
}

/* "'<f4'" */
static bool parse_type(const char *type, struct tool_array *array)
{
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	static const char known[] = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8";
	char name[3] = { 0 };

	if (type[0] != '\'' || !type[1] || !strchr("<>|=", type[1]))
		return false;
	memcpy(name, type + 2, strnlen(type + 2, 2));
	if (strlen(name) != 2 || strchr(name, ' ') || type[4] != '\'' || !strstr(known, name))
		return false;
	array->kind = name[0];
	array->width = (uint32_t)(name[1] - '0');
	array->swapped = type[1] == (little ? '>' : '<');
	return true;
}

/* "True" or "False" */
static bool parse_order(const char *order, bool *by_columns)
{
	size_t length = strcspn(order, ", }\n");

	*by_columns = length == 4 && strncmp(order, "True", length) == 0;
	return *by_columns || (length == 5 && strncmp(order, "False", length) == 0);
}

static void set_columns(struct tool_array *array)
{
	uint64_t stride = 1;
	uint32_t i;

	for (i = 0; i < array->rank; i++) {
		array->stride[i] = stride;
		stride *= array->dim[i];
	}
}

static int parse_header(const char *header, size_t bytes, struct tool_array *array, char text[200])
{
	const char *type = value_of(header, "descr"), *shape = value_of(header, "shape");
	const char *order = value_of(header, "fortran_order");
	bool by_columns = false;
	uint64_t elements;

	if (!type || !shape || !order || !parse_order(order, &by_columns) ||
	    !parse_shape(shape, array, &elements)) {
		snprintf(text, 200,
			 "broken .npy: cannot read its header, or more than %d dimensions",
			 TOOL_ARRAY_MAX_RANK);
		return -EINVAL;
	}
	if (!parse_type(type, array)) {
		snprintf(text, 200, ".npy with elements of %.*s, not integers or floating point",
			 (int)strcspn(type, ",}\n"), type);
		return -ENOTSUP;
	}
	if (bytes / array->width < elements) {
		snprintf(text, 200, "broken .npy: %zu bytes of %llu elements", bytes,
			 (unsigned long long)elements);
		return -EINVAL;
	}
	tool_array_dense(array);
	if (by_columns)
		set_columns(array);
	return 0;
}

int tool_npy_parse(const uint8_t *data, size_t bytes, struct tool_array *array, char text[200])
{
	bool short_head = data[MAGIC_BYTES] == 1;
	size_t start = short_head ? 10 : 12;
	size_t length = short_head ? tool_le16(data + 8) : tool_le32(data + 8);
	char *header;
	int err;

	if (data[MAGIC_BYTES] < 1 || data[MAGIC_BYTES] > 3) {
		snprintf(text, 200, ".npy of format %u, not 1 to 3", data[MAGIC_BYTES]);
		return -ENOTSUP;
	}
	if (length > bytes - start) {
		snprintf(text, 200, "broken .npy: header is cut off");
		return -EINVAL;
	}
	header = strndup((const char *)data + start, length);
	if (!header) {
		snprintf(text, 200, "out of memory");
		return -ENOMEM;
	}
	*array = (struct tool_array){ .data = data + start + length };
	err = parse_header(header, bytes - start - length, array, text);
	free(header);
	return err;
}

/* ---- writing ---- */

static const char *type_name(enum npu_type type)
{
	static const char *const names[] = {
		[NPU_TYPE_INT8] = "i1",	   [NPU_TYPE_UINT8] = "u1", [NPU_TYPE_INT16] = "i2",
		[NPU_TYPE_INT32] = "i4",   [NPU_TYPE_INT64] = "i8", [NPU_TYPE_FLOAT16] = "f2",
		[NPU_TYPE_FLOAT32] = "f4", [NPU_TYPE_BOOL] = "b1",
	};

	return names[type];
}

/* The header of a file, padded so that elements are aligned; returns its bytes. */
static size_t encode_header(const struct npu_tensor_info *info, char header[256])
{
	const char *type = type_name(info->type);
	const char order = type[1] == '1'			       ? '|'
			   : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<'
								       : '>';
	size_t used, whole;
	uint32_t i;

	memcpy(header, MAGIC "\1\0", 8);
	used = 10;
	used += (size_t)sprintf(
		header + used, "{'descr': '%c%s', 'fortran_order': False, 'shape': (", order, type);
	for (i = 0; i < info->rank; i++)
		used += (size_t)sprintf(header + used, "%u%s", info->shape[i],
					info->rank == 1	     ? ","
					: i + 1 < info->rank ? ", "
							     : "");
	used += (size_t)sprintf(header + used, "), }");
	whole = (used + ALIGN) / ALIGN * ALIGN;
	memset(header + used, ' ', whole - used - 1);
	header[whole - 1] = '\n';
	header[8] = (char)((whole - 10) & 0xff);
	header[9] = (char)((whole - 10) >> 8);
	return whole;
}

int tool_npy_encode(const struct npu_tensor_info *info, const void *data, bool real, uint8_t **npy,
		    size_t *bytes)
{
	struct npu_tensor_info as = *info;
	uint64_t elements = tool_elements(info), i;
	char header[256];
	size_t start;

	if (real) {
		as.type = NPU_TYPE_FLOAT32;
		as.bytes = elements * sizeof(float);
	}
	start = encode_header(&as, header);
	*bytes = start + as.bytes;
	*npy = malloc(*bytes);
	if (!*npy)
		return -ENOMEM;
	memcpy(*npy, header, start);
	if (!real)
		memcpy(*npy + start, data, as.bytes);
	for (i = 0; real && i < elements; i++)
		tool_store(&as, *npy + start, i, tool_real(info, data, i));
	return 0;
}
