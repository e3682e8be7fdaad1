// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

#include "image.h"

#define MAX_PIXELS (1u << 26)

bool tool_is_png(const uint8_t *data, size_t bytes)
{
	return bytes >= 8 && memcmp(data, "\211PNG\r\n\032\n", 8) == 0;
}

bool tool_is_jpeg(const uint8_t *data, size_t bytes)
{
	return bytes >= 3 && memcmp(data, "\377\330\377", 3) == 0;
}

void tool_image_free(struct tool_image *image)
{
	free(image->pixel);
	image->pixel = NULL;
}

static int allocate(struct tool_image *image, uint32_t width, uint32_t height, char text[200])
{
	if (!width || !height || (uint64_t)width * height > MAX_PIXELS) {
		snprintf(text, 200, "%u x %u pixels are too many", width, height);
		return -E2BIG;
	}
	image->width = width;
	image->height = height;
	image->pixel = malloc((size_t)width * height * image->channels);
	if (!image->pixel)
		snprintf(text, 200, "no memory for %u x %u pixels", width, height);
	return image->pixel ? 0 : -ENOMEM;
}

static int decode_png(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200])
{
	png_image png = { .version = PNG_IMAGE_VERSION };
	const png_color black = { 0, 0, 0 };
	int err;

	if (!png_image_begin_read_from_memory(&png, data, bytes)) {
		snprintf(text, 200, "broken PNG: %.150s", png.message);
		return -EINVAL;
	}
	png.format = image->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
	err = allocate(image, png.width, png.height, text);
	if (!err && !png_image_finish_read(&png, &black, image->pixel, 0, NULL)) {
		snprintf(text, 200, "broken PNG: %.150s", png.message);
		err = -EINVAL;
	}
	png_image_free(&png);
	return err;
}

/* libjpeg ends a failed call by longjmp(); its messages are kept for us. */
struct jpeg_failure {
	struct jpeg_error_mgr manager;
	jmp_buf back;
	char text[JMSG_LENGTH_MAX];
};

static void jpeg_failed(j_common_ptr jpeg)
{
	struct jpeg_failure *failure = (struct jpeg_failure *)jpeg->err;

	jpeg->err->format_message(jpeg, failure->text);
	longjmp(failure->back, 1);
}

static void jpeg_quiet(j_common_ptr jpeg, int level)
{
	/* A damaged picture is worse than none. */
	if (level < 0)
		jpeg_failed(jpeg);
}

static int read_jpeg(struct jpeg_decompress_struct *jpeg, const uint8_t *data, size_t bytes,
		     struct tool_image *image, char text[200])
{
	int err;

	jpeg_mem_src(jpeg, data, bytes);
	jpeg_read_header(jpeg, TRUE);
	jpeg->out_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
	jpeg_start_decompress(jpeg);
	err = allocate(image, jpeg->output_width, jpeg->output_height, text);
	while (!err && jpeg->output_scanline < jpeg->output_height) {
		JSAMPROW row = image->pixel +
			       (size_t)jpeg->output_scanline * image->width * image->channels;

		jpeg_read_scanlines(jpeg, &row, 1);
	}
	if (!err)
		jpeg_finish_decompress(jpeg);
	return err;
}

static int decode_jpeg(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200])
{
	struct jpeg_decompress_struct jpeg;
	struct jpeg_failure failure;
	int err;

	jpeg.err = jpeg_std_error(&failure.manager);
	failure.manager.error_exit = jpeg_failed;
	failure.manager.emit_message = jpeg_quiet;
	jpeg_create_decompress(&jpeg);
	if (setjmp(failure.back)) {
		snprintf(text, 200, "broken JPEG: %.150s", failure.text);
		err = -EINVAL;
	} else {
		err = read_jpeg(&jpeg, data, bytes, image, text);
	}
	jpeg_destroy_decompress(&jpeg);
	return err;
}

int tool_image_decode(const uint8_t *data, size_t bytes, uint32_t channels,
		      struct tool_image *image, char text[200])
{
	int err;

	*image = (struct tool_image){ .channels = channels };
	if (tool_is_png(data, bytes))
		err = decode_png(data, bytes, image, text);
	else
		err = decode_jpeg(data, bytes, image, text);
	if (err)
		tool_image_free(image);
	return err;
}

/* The two pixels around the centre of output pixel @i, and how far it is to the second. */
static float neighbours(uint32_t i, uint32_t in, uint32_t out, uint32_t *low, uint32_t *high)
{
	float at = ((float)i + 0.5f) * (float)in / (float)out - 0.5f;

	at = fminf(fmaxf(at, 0), (float)(in - 1));
	*low = (uint32_t)at;
	*high = *low + 1 < in ? *low + 1 : *low;
	return at - (float)*low;
}

static uint8_t blend(const struct tool_image *from, const uint32_t y[2], const uint32_t x[2],
		     float v, float h, uint32_t c)
{
	const uint8_t *pixel = from->pixel + c;
	size_t row = (size_t)from->width * from->channels;
	float top = pixel[y[0] * row + x[0] * from->channels] * (1 - h) +
		    pixel[y[0] * row + x[1] * from->channels] * h;
	float bottom = pixel[y[1] * row + x[0] * from->channels] * (1 - h) +
		       pixel[y[1] * row + x[1] * from->channels] * h;

	return (uint8_t)lroundf(top * (1 - v) + bottom * v);
}

int tool_image_resize(struct tool_image *image, uint32_t width, uint32_t height)
{
	struct tool_image to = { width, height, image->channels, NULL };
	uint32_t y, x, c, rows[2], columns[2];
	uint8_t *out;

	if (image->width == width && image->height == height)
		return 0;
	out = to.pixel = malloc((size_t)width * height * to.channels);
	if (!out)
		return -ENOMEM;
	for (y = 0; y < height; y++) {
		float v = neighbours(y, image->height, height, &rows[0], &rows[1]);

		for (x = 0; x < width; x++) {
			float h = neighbours(x, image->width, width, &columns[0], &columns[1]);

			for (c = 0; c < to.channels; c++)
				*out++ = blend(image, rows, columns, v, h, c);
		}
	}
	tool_image_free(image);
	*image = to;
	return 0;
}
