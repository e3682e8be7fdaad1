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
#include "plain_image.h"

#define MAX_PIXELS (1u << 26)

static bool is_png(const uint8_t *data, size_t bytes)
{
	return bytes >= 8 && memcmp(data, "\211PNG\r\n\032\n", 8) == 0;
}

static bool is_jpeg(const uint8_t *data, size_t bytes)
{
	return bytes >= 3 && memcmp(data, "\377\330\377", 3) == 0;
}

void tool_image_free(struct tool_image *image)
{
	free(image->pixel);
	image->pixel = NULL;
}

int tool_image_allocate(struct tool_image *image, uint32_t width, uint32_t height, char text[200])
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
	err = tool_image_allocate(image, png.width, png.height, text);
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
	err = tool_image_allocate(image, jpeg->output_width, jpeg->output_height, text);
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

/* Kinds of pictures, told by their first bytes. */
static const struct {
	bool (*is)(const uint8_t *data, size_t bytes);
	int (*decode)(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200]);
} kinds[] = {
	{ is_png, decode_png },
	{ is_jpeg, decode_jpeg },
	{ tool_is_bmp, tool_decode_bmp },
	{ tool_is_pnm, tool_decode_pnm },
};

static size_t kind_of(const uint8_t *data, size_t bytes)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].is(data, bytes))
			break;
	return i;
}

bool tool_is_image(const uint8_t *data, size_t bytes)
{
	return kind_of(data, bytes) < sizeof(kinds) / sizeof(kinds[0]);
}

int tool_image_decode(const uint8_t *data, size_t bytes, uint32_t channels,
		      struct tool_image *image, char text[200])
{
	size_t kind = kind_of(data, bytes);
	int err;

	*image = (struct tool_image){ .channels = channels };
	if (kind == sizeof(kinds) / sizeof(kinds[0])) {
		snprintf(text, 200, "no picture");
		return -EINVAL;
	}
	err = kinds[kind].decode(data, bytes, image, text);
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

static int stretch(struct tool_image *image, uint32_t width, uint32_t height)
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

/* Cuts the middle out, or puts black around, each direction by itself. */
static int centre(struct tool_image *image, uint32_t width, uint32_t height)
{
	struct tool_image to = { width, height, image->channels, NULL };
	uint32_t rows = image->height < height ? image->height : height;
	uint32_t columns = image->width < width ? image->width : width, y;

	if (image->width == width && image->height == height)
		return 0;
	to.pixel = calloc((size_t)width * height, to.channels);
	if (!to.pixel)
		return -ENOMEM;
	for (y = 0; y < rows; y++) {
		size_t from = (size_t)((image->height - rows) / 2 + y) * image->width +
			      (image->width - columns) / 2;
		size_t at = (size_t)((height - rows) / 2 + y) * width + (width - columns) / 2;

		memcpy(to.pixel + at * to.channels, image->pixel + from * to.channels,
		       (size_t)columns * to.channels);
	}
	tool_image_free(image);
	*image = to;
	return 0;
}

static uint32_t scaled(uint32_t size, uint64_t to, uint64_t from)
{
	uint64_t result = (size * to + from / 2) / from;

	return (uint32_t)(result ? result : 1);
}

int tool_image_fit(struct tool_image *image, enum tool_fit fit, uint32_t width, uint32_t height)
{
	/* Is the picture wider than what it goes to?  Then its width decides when padding. */
	bool wider = (uint64_t)image->width * height > (uint64_t)image->height * width;
	int err;

	if (fit == TOOL_FIT_PAD) {
		err = wider ? stretch(image, width, scaled(image->height, width, image->width))
			    : stretch(image, scaled(image->width, height, image->height), height);
		return err ? err : centre(image, width, height);
	}
	err = 0;
	if (fit == TOOL_FIT_CROP)
		err = wider ? centre(image, scaled(image->height, width, height), image->height)
			    : centre(image, image->width, scaled(image->width, height, width));
	return err ? err : stretch(image, width, height);
}
