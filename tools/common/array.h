/* SPDX-License-Identifier: MIT */
/*
 * Arrays of numbers as files have them (NumPy's .npy and .npz), and as elements of a tensor.
 */
#ifndef TOOL_ARRAY_H
#define TOOL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "npu.h"

#define TOOL_ARRAY_MAX_RANK 8

/**
 * struct tool_array - an array in memory
 * @kind: 'i': signed, 'u': unsigned, 'f': floating point, 'b': boolean
 * @width: bytes of an element
 * @swapped: their order is not the host's
 * @rank, @dim: shape
 * @stride: elements from one index of a dimension to the next
 * @data: not aligned
 */
struct tool_array {
	char kind;
	uint32_t width;
	bool swapped;
	uint32_t rank;
	uint64_t dim[TOOL_ARRAY_MAX_RANK];
	uint64_t stride[TOOL_ARRAY_MAX_RANK];
	const uint8_t *data;
};

bool tool_is_npy(const uint8_t *data, size_t bytes);
bool tool_is_npz(const uint8_t *data, size_t bytes);

/**
 * tool_npy_parse() - the contents of a .npy file as an array
 * @data, @bytes: version 1 to 3; the array refers to it
 * @text: receives what is wrong with it
 *
 * Return: 0; -EINVAL: broken; -ENOTSUP: neither integers nor floating point up to 8 bytes, or more
 * than 8 dimensions.
 */
int tool_npy_parse(const uint8_t *data, size_t bytes, struct tool_array *array, char text[200]);

/**
 * tool_npz_read() - one .npy file out of an .npz file
 * @name: the array of that name; where there is none, the only array; where there are several,
 *	that of place @index as numpy.savez() names it: arr_0, arr_1, ...
 * @limit: larger arrays are refused
 * @npy, @npy_bytes: receive the .npy file; free() @npy
 *
 * Return: 0; -EINVAL: broken; -ENOENT: there is no such array; -EFBIG; -ENOMEM.
 */
int tool_npz_read(const uint8_t *data, size_t bytes, const char *name, unsigned index, size_t limit,
		  uint8_t **npy, size_t *npy_bytes, char text[200]);

/**
 * struct tool_normal - what bytes of pixels stand for: real = (byte - mean) * scale
 * @count: of channels that follow; 1: the same for all
 */
struct tool_normal {
	uint32_t count;
	double mean[4];
	double scale[4];
};

/**
 * tool_array_store() - the elements of a tensor from an array
 * @out: info->bytes bytes
 *
 * Shapes have to be the same but for dimensions of 1; one of the two may be flat.  Where they are the
 * same once channels are moved from [channels, height, width] behind the other two, or to their
 * front, that is done.  Elements of the same type are copied, floating point is quantised with the
 * tensor's scale, integers go into floating point, or into other integers that are not quantised,
 * where they have the same value.
 *
 * Return: 0; -EINVAL with @text.
 */
int tool_array_store(const struct tool_array *array, const struct npu_tensor_info *info, void *out,
		     char text[200]);

/**
 * tool_array_store_pixels() - likewise from pixels: bytes [height, width, channels]
 * @normal: what they stand for; NULL: UINT8 takes them as they are, INT8 less 128, floating point
 *	divided by 255
 */
int tool_array_store_pixels(const struct tool_array *array, const struct tool_normal *normal,
			    const struct npu_tensor_info *info, void *out, char text[200]);

/* Sets strides to those of elements that lie in order of the last dimension first. */
void tool_array_dense(struct tool_array *array);

/**
 * tool_npy_encode() - a tensor as the contents of a .npy file
 * @real: real numbers as float32 instead of the stored elements
 * @npy, @bytes: receive it; free() @npy
 *
 * Return: 0; -ENOMEM.
 */
int tool_npy_encode(const struct npu_tensor_info *info, const void *data, bool real, uint8_t **npy,
		    size_t *bytes);

/* A .npy file in an .npz file, under the name of an array. */
struct tool_npz_member {
	const char *name;
	const uint8_t *npy;
	size_t bytes;
};

/**
 * tool_npz_encode() - the contents of an .npz file, not compressed
 * @npz, @bytes: receive it; free() @npz
 *
 * Return: 0; -EINVAL: two arrays of one name; -ENOMEM.
 */
int tool_npz_encode(const struct tool_npz_member *member, unsigned count, uint8_t **npz,
		    size_t *bytes);

#endif /* TOOL_ARRAY_H */
