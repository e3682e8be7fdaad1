// SPDX-License-Identifier: MIT
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element.h"
#include "image.h"
#include "sound.h"
#include "tensor_file.h"
#include "tool.h"

#define MAX_FILE ((size_t)1 << 30)

/* Room for the header of an array, besides its elements. */
#define MAX_NPY_HEADER ((size_t)1 << 20)

/* A file's contents and the tensor that they are meant for. */
struct source {
	const uint8_t *data;
	size_t bytes;
	const struct npu_tensor_info *info;
	const struct tool_input_options *options;
	unsigned index;
	uint8_t *out; /* of info->bytes */
	char *text;
};

/* ---- options ---- */

const char tool_input_help[] =
	"  --fit HOW        pictures of another size: stretch (default), pad (black around it), "
	"crop\n"
	"  --order O        channels of pictures: rgb (default), bgr\n"
	"  --mean M[,M...]  pictures: real = (byte - M) * S, one number for all channels or one "
	"for\n"
	"  --scale S[,S..]  each, S also as 1/D; where one is given the other is 0 or 1 by "
	"default.\n"
	"                   Without both: UINT8 takes the bytes, INT8 byte - 128, float byte / "
	"255\n"
	"  --rate HZ        sound: samples a second that the model takes (default: as recorded)\n";

/* "0.5" or "1/255"; moves @text behind it. */
static bool parse_number(const char **text, double *number)
{
	char *end;
	double below;

	*number = strtod(*text, &end);
	if (end == *text)
		return false;
	if (*end == '/') {
		const char *start = end + 1;

		below = strtod(start, &end);
		if (end == start || below == 0)
			return false;
		*number /= below;
	}
	*text = end;
	return fabs(*number) <= (double)FLT_MAX;
}

/* One number for each channel; a single one is for all of them. */
static bool parse_channels(const char *text, double number[4], uint32_t *count)
{
	uint32_t n = 0, i;

	do {
		if (n == 4 || !parse_number(&text, &number[n]))
			return false;
		n++;
	} while (*text++ == ',');
	if (text[-1])
		return false;
	for (i = n; n == 1 && i < 4; i++)
		number[i] = number[0];
	*count = n;
	return true;
}

static bool set_normal(struct tool_normal *normal, double number[4], const char *value)
{
	uint32_t count, i;

	if (!normal->count)
		for (i = 0; i < 4; i++)
			normal->scale[i] = 1;
	if (!parse_channels(value, number, &count))
		return false;
	/* Means for three channels and one scale are three pairs. */
	if (normal->count > 1 && count > 1 && normal->count != count)
		return false;
	normal->count = normal->count > count ? normal->count : count;
	return true;
}

static bool set_fit(struct tool_input_options *options, const char *value)
{
	static const char *const names[] = { "stretch", "pad", "crop" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(value, names[i]) == 0)
			options->fit = (enum tool_fit)i;
	return strcmp(value, names[options->fit]) == 0;
}

static bool set_order(struct tool_input_options *options, const char *value)
{
	options->bgr = strcmp(value, "bgr") == 0;
	return options->bgr || strcmp(value, "rgb") == 0;
}

static bool set_mean(struct tool_input_options *options, const char *value)
{
	return set_normal(&options->normal, options->normal.mean, value);
}

static bool set_scale(struct tool_input_options *options, const char *value)
{
	const double *scale = options->normal.scale;
	uint32_t i;

	if (!set_normal(&options->normal, options->normal.scale, value))
		return false;
	/* Bytes that all stand for one number are no picture. */
	for (i = 0; i < 4; i++)
		if (fabs(scale[i]) < (double)FLT_MIN)
			return false;
	return true;
}

static bool set_rate(struct tool_input_options *options, const char *value)
{
	return tool_number(value, 1, 1000000, &options->rate);
}

int tool_input_option(struct tool_input_options *options, const char *name, const char *value,
		      char text[200])
{
	static const struct {
		const char *name, *values;
		bool (*set)(struct tool_input_options *options, const char *value);
	} known[] = {
		{ "fit", "stretch, pad or crop", set_fit },
		{ "order", "rgb or bgr", set_order },
		{ "mean", "one number or one for each channel", set_mean },
		{ "scale", "one number or one for each channel, none of them 0", set_scale },
		{ "rate", "1 to 1000000", set_rate },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		if (known[i].set(options, value))
			return 0;
		snprintf(text, 200, "--%s: \"%.60s\" is not %s", name, value, known[i].values);
		return -EINVAL;
	}
	return -ENOENT;
}

/* ---- NumPy ---- */

static int load_npy(const struct source *source, const uint8_t *data, size_t bytes)
{
	struct tool_array array;
	int err = tool_npy_parse(data, bytes, &array, source->text);

	return err ? err : tool_array_store(&array, source->info, source->out, source->text);
}

static int load_npz(const struct source *source)
{
	/* The widest elements that can become the tensor's have eight bytes. */
	size_t limit = tool_elements(source->info) * 8 + MAX_NPY_HEADER, bytes;
	uint8_t *npy;
	int err = tool_npz_read(source->data, source->bytes, source->info->name, source->index,
				limit, &npy, &bytes, source->text);

	if (err)
		return err;
	if (tool_is_npy(npy, bytes)) {
		err = load_npy(source, npy, bytes);
	} else {
		snprintf(source->text, 200, "what the archive has for it is no array");
		err = -EINVAL;
	}
	free(npy);
	return err;
}

/* ---- pictures ---- */

/* Where an image tensor has its height, width and channels. */
struct image_shape {
	uint32_t height, width, channels;
};

static bool find_image_shape(const struct npu_tensor_info *info, struct image_shape *shape)
{
	const uint32_t *s = info->shape;

	if (info->rank != 4 || s[0] != 1)
		return false;
	if (s[3] == 1 || s[3] == 3)
		*shape = (struct image_shape){ s[1], s[2], s[3] };
	else if (s[1] == 1 || s[1] == 3)
		*shape = (struct image_shape){ s[2], s[3], s[1] };
	else
		return false;
	return true;
}

static void swap_colours(const struct tool_image *image)
{
	size_t pixels = (size_t)image->width * image->height, i;

	for (i = 0; i < pixels && image->channels == 3; i++) {
		uint8_t red = image->pixel[3 * i];

		image->pixel[3 * i] = image->pixel[3 * i + 2];
		image->pixel[3 * i + 2] = red;
	}
}

static int store_picture(const struct source *source, const struct tool_image *image)
{
	const struct tool_normal *normal = &source->options->normal;
	struct tool_array array = { .kind = 'u',
				    .width = 1,
				    .rank = 3,
				    .dim = { image->height, image->width, image->channels },
				    .data = image->pixel };

	if (normal->count > 1 && normal->count != image->channels) {
		snprintf(source->text, 200, "means or scales for %u channels, the image has %u",
			 normal->count, image->channels);
		return -EINVAL;
	}
	tool_array_dense(&array);
	return tool_array_store_pixels(&array, normal->count ? normal : NULL, source->info,
				       source->out, source->text);
}

/* ---- pictures as bytes of pixels ---- */

static uint8_t to_byte(double value)
{
	return (uint8_t)fmax(fmin(round(value), 255), 0);
}

/* Luminance and colour differences of JPEG: BT.601, full range. */
static void to_yuv(const uint8_t *rgb, uint8_t yuv[3])
{
	double r = rgb[0], g = rgb[1], b = rgb[2], y = 0.299 * r + 0.587 * g + 0.114 * b;

	yuv[0] = to_byte(y);
	yuv[1] = to_byte(128 + (b - y) * 0.5 / (1 - 0.114));
	yuv[2] = to_byte(128 + (r - y) * 0.5 / (1 - 0.299));
}

/* @order: the letters of a pixel in memory. */
static void put_packed(const struct tool_image *image, const char *order, uint8_t *out)
{
	size_t pixels = (size_t)image->width * image->height, bytes = strlen(order), i, b;
	static const char rgb[] = "rgb";

	for (i = 0; i < pixels; i++)
		for (b = 0; b < bytes; b++) {
			const char *channel = strchr(rgb, order[b]);

			*out++ = channel ? image->pixel[3 * i + (size_t)(channel - rgb)] : 255;
		}
}

static void put_planes(const struct tool_image *image, bool v_first, uint8_t *out)
{
	size_t pixels = (size_t)image->width * image->height, i;
	uint8_t yuv[3];

	for (i = 0; i < pixels; i++) {
		to_yuv(image->pixel + 3 * i, yuv);
		out[i] = yuv[0];
		out[pixels + 2 * i] = yuv[v_first ? 2 : 1];
		out[pixels + 2 * i + 1] = yuv[v_first ? 1 : 2];
	}
}

static void put_pixels(const struct source *source, const struct tool_image *image)
{
	const char *order = source->info->pixels;

	if (image->channels == 1)
		memcpy(source->out, image->pixel, (size_t)image->width * image->height);
	else if (order[0] == 'n')
		put_planes(image, strcmp(order, "nv42") == 0, source->out);
	else
		put_packed(image, order, source->out);
}

/* Shape of an input that takes images in bytes: of several planes these lie one below the other. */
static struct image_shape pixel_shape(const struct npu_tensor_info *info)
{
	bool planes = info->pixels[0] == 'n';

	return (struct image_shape){ planes ? info->shape[1] / 3 : info->shape[1], info->shape[2],
				     strcmp(info->pixels, "r8") == 0 ? 1 : 3 };
}

static int load_picture(const struct source *source)
{
	struct image_shape shape;
	struct tool_image image;
	int err;

	if (source->info->pixels) {
		shape = pixel_shape(source->info);
	} else if (!find_image_shape(source->info, &shape)) {
		snprintf(source->text, 200,
			 "a picture for an input that is not [1, height, width, 1 or 3] or "
			 "[1, 1 or 3, height, width]");
		return -EINVAL;
	}
	err = tool_image_decode(source->data, source->bytes, shape.channels, &image, source->text);
	if (err)
		return err;
	err = tool_image_fit(&image, source->options->fit, shape.width, shape.height);
	if (err)
		snprintf(source->text, 200, "out of memory");
	if (!err && source->options->bgr)
		swap_colours(&image);
	if (!err && source->info->pixels)
		put_pixels(source, &image);
	else if (!err)
		err = store_picture(source, &image);
	tool_image_free(&image);
	return err;
}

/* ---- sound ---- */

static bool takes_samples(const struct source *source)
{
	uint32_t i, wide = 0;

	for (i = 0; i < source->info->rank; i++)
		wide += source->info->shape[i] > 1;
	return wide == 1 &&
	       (source->info->type == NPU_TYPE_INT16 || source->info->type == NPU_TYPE_FLOAT32);
}

static int load_wav(const struct source *source)
{
	double unit = source->info->type == NPU_TYPE_INT16 ? 32768 : 1, step;
	uint64_t elements = tool_elements(source->info), i;
	struct tool_sound sound;
	int err;

	if (!takes_samples(source)) {
		snprintf(source->text, 200,
			 "sound for an input that does not take samples (one dimension of int16 or "
			 "float32); give it the features that the model was trained with");
		return -EINVAL;
	}
	err = tool_wav_parse(source->data, source->bytes, &sound, source->text);
	if (err)
		return err;
	step = source->options->rate ? (double)sound.rate / source->options->rate : 1;
	for (i = 0; i < elements; i++)
		tool_store(source->info, source->out, i,
			   tool_sound_at(&sound, (double)i * step) * unit);
	return 0;
}

/* ---- all of them ---- */

static int load_raw(const struct source *source)
{
	if (source->bytes != source->info->bytes) {
		snprintf(source->text, 200, "%zu bytes, the tensor has %llu", source->bytes,
			 (unsigned long long)source->info->bytes);
		return -EINVAL;
	}
	memcpy(source->out, source->data, source->bytes);
	return 0;
}

static int load(const struct source *source)
{
	if (tool_is_npy(source->data, source->bytes))
		return load_npy(source, source->data, source->bytes);
	if (tool_is_npz(source->data, source->bytes))
		return load_npz(source);
	if (tool_is_image(source->data, source->bytes))
		return load_picture(source);
	if (tool_is_wav(source->data, source->bytes))
		return load_wav(source);
	return load_raw(source);
}

int tool_load_tensor_memory(const uint8_t *data, size_t bytes, const struct npu_tensor_info *info,
			    unsigned index, const struct tool_input_options *options, void **out,
			    char text[200])
{
	static const struct tool_input_options defaults;
	struct source source = { .data = data,
				 .bytes = bytes,
				 .info = info,
				 .options = options ? options : &defaults,
				 .index = index,
				 .out = malloc(info->bytes ? info->bytes : 1),
				 .text = text };
	int err;

	if (!source.out) {
		snprintf(text, 200, "out of memory");
		return -ENOMEM;
	}
	err = load(&source);
	if (err)
		free(source.out);
	else
		*out = source.out;
	return err;
}

int tool_load_tensor(const char *path, const struct npu_tensor_info *info, unsigned index,
		     const struct tool_input_options *options, void **out, char text[200])
{
	uint8_t *data;
	size_t bytes;
	int err = tool_read_file(path, MAX_FILE, &data, &bytes);

	if (err) {
		snprintf(text, 200, "%s", strerror(-err));
		return err;
	}
	err = tool_load_tensor_memory(data, bytes, info, index, options, out, text);
	free(data);
	return err;
}

bool tool_file_is_npz(const char *path)
{
	uint8_t head[4];
	FILE *file = fopen(path, "rbe");
	bool is = file && fread(head, 1, sizeof(head), file) == sizeof(head) &&
		  tool_is_npz(head, sizeof(head));

	if (file)
		fclose(file);
	return is;
}
