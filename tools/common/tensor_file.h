/* SPDX-License-Identifier: MIT */
/*
 * A file of any kind that makes sense as a model's input: raw elements, NumPy
 * arrays, pictures, sound.
 */
#ifndef TOOL_TENSOR_FILE_H
#define TOOL_TENSOR_FILE_H

#include "array.h"
#include "image.h"
#include "npu.h"

/**
 * struct tool_input_options - what files do not say; all zero: the defaults
 * @fit: of pictures
 * @bgr: pixels become blue, green, red
 * @normal: what bytes of pixels stand for; @normal.count 0: as tool_array_store_pixels() has it
 * @rate: samples a second that the model takes; 0: those of the file
 */
struct tool_input_options {
	enum tool_fit fit;
	bool bgr;
	struct tool_normal normal;
	uint32_t rate;
};

/**
 * tool_input_option() - an option of a command line: "--fit", "--order", "--mean", "--scale", "--rate"
 * @name: without the hyphens
 * @text: receives what is wrong with @value
 *
 * Return: 0; -EINVAL; -ENOENT: it is none of these.
 */
int tool_input_option(struct tool_input_options *options, const char *name, const char *value,
		      char text[200]);

/* These options with their defaults, for --help. */
extern const char tool_input_help[];

/**
 * tool_load_tensor() - the contents of a file as elements of an input tensor
 * @path: what it is, its contents say:
 *	.npy: as tool_array_store() has it;
 *	.npz: the array that tool_npz_read() finds, by the tensor's name or @index;
 *	PNG, JPEG, BMP, PGM, PPM: for images of 1 or 3 channels, first or last, and for images in
 *	bytes (@info->pixels), whose means and scales the model knows;
 *	WAV: for INT16 and float32 tensors with one dimension; mixed to one channel, from -1 to 1
 *	(INT16: 32768 times that), cut or filled with silence at the end;
 *	anything else: the elements themselves, exactly as many as there are
 * @index: number of the input
 * @options: NULL: defaults
 * @data: @info->bytes bytes, malloc()ed
 * @text: receives what is wrong
 *
 * Return: 0 or a negative errno.
 */
int tool_load_tensor(const char *path, const struct npu_tensor_info *info, unsigned index,
		     const struct tool_input_options *options, void **data, char text[200]);

/* The same from memory. */
int tool_load_tensor_memory(const uint8_t *data, size_t bytes, const struct npu_tensor_info *info,
			    unsigned index, const struct tool_input_options *options, void **out,
			    char text[200]);

/* Is a file an .npz, which may have the arrays of several inputs? */
bool tool_file_is_npz(const char *path);

#endif /* TOOL_TENSOR_FILE_H */
