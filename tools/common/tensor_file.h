/* SPDX-License-Identifier: MIT */
/*
 * A file of any kind that makes sense as a model's input: raw elements, NumPy
 * arrays, pictures, sound.
 */
#ifndef TOOL_TENSOR_FILE_H
#define TOOL_TENSOR_FILE_H

#include "npu.h"

/**
 * tool_load_tensor() - the contents of a file as elements of an input tensor
 * @path: what it is, its contents say:
 *	.npy: the same type and number of elements, or real numbers, which are quantised;
 *	PNG, JPEG: for [1, height, width, 1 or 3]; stretched to that size, bilinear; UINT8 takes the
 *	bytes 0..255 as they are, INT8 byte - 128, float32 byte / 255;
 *	WAV (16 bit): for INT16 and float32 tensors with one dimension; mixed to one channel, cut or
 *	filled with silence at the end;
 *	anything else: the elements themselves, exactly as many as there are
 * @data: @info->bytes bytes, malloc()ed
 * @text: receives what is wrong
 *
 * Return: 0 or a negative errno.
 */
int tool_load_tensor(const char *path, const struct npu_tensor_info *info, void **data,
		     char text[200]);

#endif /* TOOL_TENSOR_FILE_H */
