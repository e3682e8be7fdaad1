// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digit_images.h"

enum { LEVELS = 16 }; /* brightest grey level in the file */

static bool parse(const char *line, struct digit *digit)
{
	static const char grey[] = "0123456789abcdefg";
	size_t i;

	if (line[0] < '0' || line[0] > '9' || line[1] != ' ')
		return false;
	digit->label = line[0] - '0';
	for (i = 0; i < DIGIT_SIDE * DIGIT_SIDE; i++) {
		const char *level = line[2 + i] ? strchr(grey, line[2 + i]) : NULL;

		if (!level)
			return false;
		digit->pixel[i] = level - grey;
	}
	return true;
}

static int read_lines(FILE *file, struct digit **digits, size_t *count)
{
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		struct digit *more;

		if (line[0] == '#')
			continue;
		more = realloc(*digits, (*count + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		*digits = more;
		if (!parse(line, &more[*count]))
			return -EINVAL;
		(*count)++;
	}
	return *count ? 0 : -EINVAL;
}

int digits_read(const char *path, struct digit **digits, size_t *count)
{
	FILE *file = fopen(path, "r");
	int error;

	*digits = NULL;
	*count = 0;
	if (!file)
		return -errno;
	error = read_lines(file, digits, count);
	fclose(file);
	if (error) {
		free(*digits);
		*digits = NULL;
	}
	return error;
}

/* Where an enlarged coordinate falls between two pixels; the weight is of the second, of 2 SCALE. */
static int between(int at, int *first, int *second)
{
	const int unit = 2 * DIGIT_SCALE;
	int centre = 2 * at + 1 - DIGIT_SCALE + unit; /* one pixel further: not negative */
	int low = centre / unit - 1;

	*first = low < 0 ? 0 : low;
	*second = low + 1 < DIGIT_SIDE ? low + 1 : DIGIT_SIDE - 1;
	return centre % unit;
}

void digit_enlarge(const struct digit *digit, int8_t image[DIGIT_IMAGE_BYTES])
{
	const int unit = 2 * DIGIT_SCALE, full = LEVELS * unit * unit;
	int y, x;

	for (y = 0; y < DIGIT_WIDE; y++) {
		int top, bottom, down = between(y, &top, &bottom);
		const uint8_t *above = &digit->pixel[top * DIGIT_SIDE];
		const uint8_t *below = &digit->pixel[bottom * DIGIT_SIDE];

		for (x = 0; x < DIGIT_WIDE; x++) {
			int left, right, across = between(x, &left, &right);
			int up = above[left] * (unit - across) + above[right] * across;
			int low = below[left] * (unit - across) + below[right] * across;
			int grey = up * (unit - down) + low * down;

			image[y * DIGIT_WIDE + x] = (grey * 255 + full / 2) / full - 128;
		}
	}
}

int digit_best(const int8_t score[DIGIT_CLASSES])
{
	int i, best = 0;

	for (i = 1; i < DIGIT_CLASSES; i++)
		if (score[i] > score[best])
			best = i;
	return best;
}
