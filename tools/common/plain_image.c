// SPDX-License-Identifier: MIT
/*
 * Pictures without compression: PGM and PPM (P2, P3, P5, P6) and BMP with 8, 24 or 32 bits.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "image.h"
#include "plain_image.h"

/* What is read, and what one pixel of it becomes. */
struct reader {
	const uint8_t *data;
	size_t bytes, at;
};

static int broken(const char *what, char text[200])
{
	snprintf(text, 200, "broken %s", what);
	return -EINVAL;
}

/* One pixel of the picture; grey as the eye weighs colours (BT.601), as libjpeg has it. */
static void put_pixel(struct tool_image *image, size_t index, uint8_t r, uint8_t g, uint8_t b)
{
	uint8_t *to = image->pixel + index * image->channels;

	if (image->channels == 1) {
		*to = (uint8_t)((19595u * r + 38470u * g + 7471u * b + 32768u) >> 16);
		return;
	}
	to[0] = r;
	to[1] = g;
	to[2] = b;
}

/* ---- PGM and PPM ---- */

bool tool_is_pnm(const uint8_t *data, size_t bytes)
{
	return bytes >= 8 && data[0] == 'P' && data[1] && strchr("2356", data[1]) && data[2] &&
	       strchr(" \t\r\n", data[2]) && data[3] && strchr("#0123456789", data[3]);
}

/* The next number of the text, behind spaces and comments; false: there is none, or beyond @limit. */
static bool pnm_number(struct reader *r, uint32_t limit, uint32_t *number)
{
	bool comment = false;
	uint64_t value = 0;
	size_t start;

	for (; r->at < r->bytes; r->at++) {
		uint8_t c = r->data[r->at];

		comment = c == '#' || (comment && c != '\n');
		if (!comment && (c < '\t' || c > '\r') && c != ' ')
			break;
	}
	for (start = r->at; r->at < r->bytes && r->data[r->at] >= '0' && r->data[r->at] <= '9';
	     r->at++) {
		value = value * 10 + r->data[r->at] - '0';
		if (value > limit)
			return false;
	}
	*number = (uint32_t)value;
	return r->at > start;
}

static bool pnm_sample(struct reader *r, bool as_text, uint32_t most, uint8_t *sample)
{
	uint32_t value, wide = most > 255 ? 2 : 1;

	if (as_text) {
		if (!pnm_number(r, most, &value))
			return false;
	} else {
		if (r->bytes - r->at < wide)
			return false;
		value = wide == 2 ? (uint32_t)r->data[r->at] << 8 | r->data[r->at + 1]
				  : r->data[r->at];
		r->at += wide;
	}
	if (value > most)
		return false;
	*sample = (uint8_t)((value * 255 + most / 2) / most);
	return true;
}

int tool_decode_pnm(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200])
{
	struct reader r = { data, bytes, 2 };
	bool as_text = data[1] <= '3', colours = data[1] == '3' || data[1] == '6';
	uint32_t width, height, most;
	size_t i, pixels;
	int err;

	if (!pnm_number(&r, UINT32_MAX, &width) || !pnm_number(&r, UINT32_MAX, &height) ||
	    !pnm_number(&r, 65535, &most) || !most)
		return broken("PGM or PPM", text);
	err = tool_image_allocate(image, width, height, text);
	if (err)
		return err;
	r.at += !as_text && r.at < r.bytes; /* one space */
	pixels = (size_t)width * height;
	for (i = 0; i < pixels; i++) {
		uint8_t s[3];

		if (!pnm_sample(&r, as_text, most, &s[0]))
			return broken("PGM or PPM: pixels are missing", text);
		s[1] = s[2] = s[0];
		if (colours && (!pnm_sample(&r, as_text, most, &s[1]) ||
				!pnm_sample(&r, as_text, most, &s[2])))
			return broken("PPM: pixels are missing", text);
		put_pixel(image, i, s[0], s[1], s[2]);
	}
	return 0;
}

/* ---- BMP ---- */

bool tool_is_bmp(const uint8_t *data, size_t bytes)
{
	/* One plane, nothing in the reserved field: raw elements hardly begin so. */
	return bytes >= 54 && memcmp(data, "BM", 2) == 0 && memcmp(data + 6, "\0\0\0\0", 4) == 0 &&
	       memcmp(data + 26, "\1\0", 2) == 0;
}

/**
 * struct bmp - where things are in the file
 * @palette, @colours: 8 bits: four bytes each, blue first
 * @line: bytes from row to row
 * @from_top: the first row is the upper one
 */
struct bmp {
	const uint8_t *pixels, *palette;
	uint32_t colours, bytes_per_pixel;
	uint64_t line;
	bool from_top;
};

/* Plain pixels; masks of 32 bits are taken for the usual order. */
enum { BMP_RGB = 0, BMP_BITFIELDS = 3 };

static int bmp_layout(const uint8_t *data, size_t bytes, struct bmp *bmp, struct tool_image *image,
		      char text[200])
{
	uint32_t start = tool_le32(data + 10), head = tool_le32(data + 14),
		 kind = tool_le32(data + 30);
	int64_t height = (int32_t)tool_le32(data + 22);
	uint32_t width = tool_le32(data + 18), bits = tool_le16(data + 28);
	int err;

	if (head < 40 || head > bytes - 14)
		return broken("BMP", text);
	if ((bits != 8 && bits != 24 && bits != 32) ||
	    (kind != BMP_RGB && !(kind == BMP_BITFIELDS && bits == 32))) {
		snprintf(text, 200, "BMP with %u bits or compression: only 8, 24 and 32, plain",
			 bits);
		return -ENOTSUP;
	}
	bmp->from_top = height < 0;
	height = height < 0 ? -height : height;
	err = tool_image_allocate(image, width, (uint32_t)height, text);
	if (err)
		return err;
	bmp->bytes_per_pixel = bits / 8;
	bmp->line = ((uint64_t)width * bmp->bytes_per_pixel + 3) & ~3ull;
	if (start > bytes || bmp->line * (uint64_t)height > bytes - start)
		return broken("BMP: pixels are missing", text);
	bmp->pixels = data + start;
	if (bits != 8)
		return 0;
	bmp->palette = data + 14 + head;
	bmp->colours = tool_le32(data + 46) ? tool_le32(data + 46) : 256;
	if (bmp->colours > 256 || bmp->colours * 4 > bytes - 14 - head)
		return broken("BMP: its palette", text);
	return 0;
}

int tool_decode_bmp(const uint8_t *data, size_t bytes, struct tool_image *image, char text[200])
{
	struct bmp bmp = { 0 };
	uint32_t y, x;
	int err = bmp_layout(data, bytes, &bmp, image, text);

	for (y = 0; y < image->height && !err; y++) {
		uint32_t row = bmp.from_top ? y : image->height - 1 - y;
		const uint8_t *p = bmp.pixels + bmp.line * row;

		for (x = 0; x < image->width; x++, p += bmp.bytes_per_pixel) {
			const uint8_t *bgr = bmp.palette ? bmp.palette + 4 * *p : p;

			if (bmp.palette && *p >= bmp.colours)
				return broken("BMP: a colour that its palette does not have", text);
			put_pixel(image, (size_t)y * image->width + x, bgr[2], bgr[1], bgr[0]);
		}
	}
	return err;
}
