/* SPDX-License-Identifier: MIT */
/*
 * The demo's digits: 8x8 images from digits.txt, enlarged for the network as its training did.
 */
#ifndef DIGIT_IMAGES_H
#define DIGIT_IMAGES_H

#include <stddef.h>
#include <stdint.h>

enum {
	DIGIT_SIDE = 8, /* pixels of an image in the file, each way */
	DIGIT_SCALE = 8, /* enlarged so much */
	DIGIT_WIDE = DIGIT_SIDE * DIGIT_SCALE,
	DIGIT_IMAGE_BYTES = DIGIT_WIDE * DIGIT_WIDE,
	DIGIT_CLASSES = 10,
};

/**
 * struct digit - one held-out image
 * @label: 0 .. 9, what it shows
 * @pixel: rows of grey levels 0 .. 16
 */
struct digit {
	int label;
	uint8_t pixel[DIGIT_SIDE * DIGIT_SIDE];
};

/**
 * digits_read() - reads a file of lines "LABEL PIXELS"; a pixel is one of 0-9a-g, # begins a comment
 * @digits: receives the images; free() them
 * @count: receives their number, not 0
 *
 * Return: 0; negative errno, -EINVAL where it is no such file.
 */
int digits_read(const char *path, struct digit **digits, size_t *count);

/* The network's input: 64x64, grey levels as INT8 from -128 (black) to 127. */
void digit_enlarge(const struct digit *digit, int8_t image[DIGIT_IMAGE_BYTES]);

/* The class with the highest score, the first of equals. */
int digit_best(const int8_t score[DIGIT_CLASSES]);

#endif /* DIGIT_IMAGES_H */
