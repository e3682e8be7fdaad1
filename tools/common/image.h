/* SPDX-License-Identifier: MIT */
/*
 * Pictures: PNG, JPEG, BMP, PGM and PPM, by content.
 */
#ifndef TOOL_IMAGE_H
#define TOOL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows from the top, pixels of @channels bytes (1: grey, 3: RGB), no gaps. */
struct tool_image {
	uint32_t width, height, channels;
	uint8_t *pixel; /* malloc()ed */
};

bool tool_is_image(const uint8_t *data, size_t bytes);

/**
 * tool_image_decode() - a picture as @channels bytes for each pixel
 * @channels: 1 or 3; colours and grey are converted to each other, transparency is dropped
 * @text: receives what is wrong with it
 *
 * Return: 0, -EINVAL, -ENOTSUP, -E2BIG (more than 2^26 pixels), -ENOMEM.
 */
int tool_image_decode(const uint8_t *data, size_t bytes, uint32_t channels,
		      struct tool_image *image, char text[200]);

/* How a picture comes to another size: bilinear between pixel centres. */
enum tool_fit {
	TOOL_FIT_STRETCH, /* each direction by itself */
	TOOL_FIT_PAD, /* as large as there is room, in the middle, black around it */
	TOOL_FIT_CROP, /* as small as it fills all, the middle of it */
};

/* 0 or -ENOMEM; the picture is as it was then, or in between. */
int tool_image_fit(struct tool_image *image, enum tool_fit fit, uint32_t width, uint32_t height);

void tool_image_free(struct tool_image *image);

#endif /* TOOL_IMAGE_H */
