/* SPDX-License-Identifier: MIT */
/*
 * Decoders of pictures without compression, for image.c.
 */
#ifndef TOOL_PLAIN_IMAGE_H
#define TOOL_PLAIN_IMAGE_H

#include "image.h"

bool tool_is_pnm(const uint8_t *data, size_t bytes);
bool tool_is_bmp(const uint8_t *data, size_t bytes);

/* As tool_image_decode(), of which they are a part; what was allocated is the caller's, also then. */
int tool_decode_pnm(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200]);
int tool_decode_bmp(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200]);

/* Pixels of image->channels bytes; 0, -E2BIG or -ENOMEM. */
int tool_image_allocate(struct tool_image *image, uint32_t width, uint32_t height, char text[200]);

#endif /* TOOL_PLAIN_IMAGE_H */
