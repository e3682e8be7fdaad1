// SPDX-License-Identifier: MIT
/*
 * Input files of npu-run: every kind, right, damaged and cut off anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <jpeglib.h>
#include <png.h>

#include <math.h>

#include "../../tools/common/element.h"
#include "../../tools/common/sound.h"
#include "../../tools/common/tensor_file.h"
#include "../../tools/common/tool.h"
#include "output_file.h"

static char path[] = "/tmp/npu-test-XXXXXX";
static char text[200];
static struct tool_input_options options; /* zero but for tests of them */

/* A file's contents while it is put together. */
struct contents {
	uint8_t data[8192];
	size_t bytes;
};

static void put(struct contents *c, const void *data, size_t bytes)
{
	assert_true(c->bytes + bytes <= sizeof(c->data));
	memcpy(c->data + c->bytes, data, bytes);
	c->bytes += bytes;
}

static void put_le(struct contents *c, uint32_t value, size_t bytes)
{
	const uint8_t all[4] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
				 (uint8_t)(value >> 24) };

	put(c, all, bytes);
}

static struct npu_tensor_info tensor(enum npu_type type, uint32_t element, uint32_t rank,
				     const uint32_t *shape)
{
	struct npu_tensor_info info = { .size = sizeof(info), .type = type, .rank = rank };
	uint32_t i;

	info.bytes = element;
	for (i = 0; i < rank; i++) {
		info.shape[i] = shape[i];
		info.bytes *= shape[i];
	}
	info.scale = 0.5f;
	info.zero_point = 1;
	return info;
}

static int load(const struct contents *c, const struct npu_tensor_info *info, void **out)
{
	*out = NULL;
	text[0] = '\0';
	assert_int_equal(npu_output_file_save(path, c->data, c->bytes), 0);
	return tool_load_tensor(path, info, 0, &options, out, text);
}

/* Refused with a text. */
static void refused(const struct contents *c, const struct npu_tensor_info *info)
{
	void *out;

	assert_true(load(c, info, &out) < 0);
	assert_true(strlen(text) > 0);
	assert_null(out);
}

/* Whatever is done to the file, loading it ends; nothing is checked but memory. */
static void damage(const struct contents *c, const struct npu_tensor_info *info)
{
	struct contents bad;
	size_t i;
	void *out;

	for (i = 0; i < c->bytes; i++) {
		bad = *c;
		bad.bytes = i;
		if (load(&bad, info, &out) == 0)
			free(out);
		bad = *c;
		bad.data[i] ^= (uint8_t)(1 + i * 37 % 255);
		if (load(&bad, info, &out) == 0)
			free(out);
	}
}

static const uint32_t four[] = { 1, 4 };

static void test_raw(void **state)
{
	const struct npu_tensor_info info = tensor(NPU_TYPE_INT8, 1, 2, four);
	struct contents c = { { 1, 2, 3, 4 }, 4 };
	void *out;

	assert_int_equal(load(&c, &info, &out), 0);
	assert_memory_equal(out, c.data, 4);
	free(out);
	c.bytes = 3;
	refused(&c, &info);
	c.bytes = 5;
	refused(&c, &info);
	assert_int_equal(tool_load_tensor("/nowhere/file", &info, 0, NULL, &out, text), -ENOENT);
}

static struct contents numpy(const char *type, const char *shape, const char *order,
			     const void *data, size_t bytes)
{
	struct contents c = { .bytes = 0 };
	char header[200];

	snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
		 type, order, shape);
	put(&c, "\223NUMPY\1\0", 8);
	put_le(&c, (uint32_t)strlen(header), 2);
	put(&c, header, strlen(header));
	put(&c, data, bytes);
	return c;
}

static void test_numpy(void **state)
{
	const struct npu_tensor_info i8 = tensor(NPU_TYPE_INT8, 1, 2, four);
	const struct npu_tensor_info f32 = tensor(NPU_TYPE_FLOAT32, 4, 2, four);
	const float real[4] = { 0, 1.2f, -1000, 1000 };
	const double wide[4] = { 0, 1.3, -0.26, 63 };
	const int8_t quantised[4] = { 1, 3, -128, 127 }, from_wide[4] = { 1, 4, 0, 127 };
	struct contents c = numpy("|i1", "(1, 4)", "False", "\1\2\3\4", 4);
	void *out;

	assert_int_equal(load(&c, &i8, &out), 0);
	assert_memory_equal(out, "\1\2\3\4", 4);
	free(out);
	damage(&c, &i8);
	c = numpy("<f4", "(4,)", "False", real, sizeof(real));
	assert_int_equal(load(&c, &i8, &out), 0);
	assert_memory_equal(out, quantised, 4);
	free(out);
	assert_int_equal(load(&c, &f32, &out), 0);
	assert_memory_equal(out, real, sizeof(real));
	free(out);
	c = numpy("<f8", "(2, 2)", "False", wide, sizeof(wide));
	assert_int_equal(load(&c, &i8, &out), 0);
	assert_memory_equal(out, from_wide, 4);
	free(out);
}

static void test_bad_numpy(void **state)
{
	const struct npu_tensor_info i8 = tensor(NPU_TYPE_INT8, 1, 2, four);
	const struct {
		const char *type, *shape, *order;
	} bad[] = {
		{ "|u1", "(1, 4)", "False" },
		{ "|i1", "(1, 5)", "False" },
		{ ">f4", "(1, 4)", "False" },
		{ "|i3", "(1, 4)", "False" },
		{ "|V1", "(1, 4)", "False" },
		{ "<c8", "(1, 4)", "False" },
		{ "|i1", "(1, 1, 1, 1, 1, 1, 1, 1, 4)", "False" },
		{ "|i1", "(4", "False" },
		{ "|i1", "()", "False" },
		{ "|i1", "(-4, -1)", "False" },
		{ "|i1", "(99999999999999999999,)", "False" },
		{ "|i1", "(a)", "False" },
		{ "< i", "(1, 4)", "False" },
		{ "|1 ", "(1, 4)", "False" },
		{ "|i1", "(1, 4)", "Truely" },
		{ "|i1", "(1, 4)", "0" },
		{ "|i1", "(4294967295, 4294967295, 4294967295)", "False" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct contents c = numpy(bad[i].type, bad[i].shape, bad[i].order, "\1\2\3\4", 4);

		refused(&c, &i8);
	}
	for (i = 0; i < 256; i++) {
		struct contents c = numpy("|i1", "(1, 4)", "False", "\1\2\3\4", 4);

		/* Formats 2 and 3 have longer lengths, others are not known. */
		((uint8_t *)c.data)[6] = (uint8_t)i;
		if (i != 1)
			refused(&c, &i8);
	}
}

/* One element of each type and byte order, read as what it is. */
static void test_numpy_types(void **state)
{
	static const uint32_t one[] = { 1 };
	const struct npu_tensor_info f32 = tensor(NPU_TYPE_FLOAT32, 4, 1, one);
	const struct {
		const char *type;
		uint8_t bytes[8];
		size_t width;
		float value;
	} known[] = {
		{ "|b1", { 1 }, 1, 1 },
		{ "|i1", { 0xfe }, 1, -2 },
		{ "|u1", { 0xfe }, 1, 254 },
		{ "<i2", { 0xfe, 0xff }, 2, -2 },
		{ ">i2", { 0xff, 0xfe }, 2, -2 },
		{ "<u2", { 0xfe, 0xff }, 2, 65534 },
		{ ">i4", { 0xff, 0xff, 0xff, 0xfd }, 4, -3 },
		{ "<u4", { 0, 0, 0, 0x80 }, 4, 2147483648.0f },
		{ "<i8", { 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, 8, -3 },
		{ ">u8", { 0, 0, 0, 0, 0, 0, 1, 0 }, 8, 256 },
		{ "<f2", { 0x00, 0xc0 }, 2, -2 },
		{ ">f2", { 0x3c, 0x00 }, 2, 1 },
		{ "<f4", { 0, 0, 0xc0, 0x3f }, 4, 1.5f },
		{ ">f4", { 0x3f, 0xc0, 0, 0 }, 4, 1.5f },
		{ "<f8", { 0, 0, 0, 0, 0, 0, 0xf8, 0xbf }, 8, -1.5f },
		{ ">f8", { 0xbf, 0xf8 }, 8, -1.5f },
	};
	size_t i;
	void *out;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct contents c =
			numpy(known[i].type, "(1,)", "False", known[i].bytes, known[i].width);

		assert_int_equal(load(&c, &f32, &out), 0);
		if (*(float *)out != known[i].value)
			fail_msg("%s: %g", known[i].type, (double)*(float *)out);
		free(out);
		c.bytes--;
		refused(&c, &f32);
	}
}

/* Integers go into other integers, where there is no scale and they fit. */
static void test_numpy_integers(void **state)
{
	const int64_t good[4] = { 1, -2, INT32_MAX, INT32_MIN };
	const int64_t bad[4] = { 1, 2, 3, (int64_t)INT32_MAX + 1 };
	struct npu_tensor_info i32 = tensor(NPU_TYPE_INT32, 4, 2, four);
	struct contents c = numpy("<i8", "(4,)", "False", good, sizeof(good));
	void *out;

	refused(&c, &i32); /* quantised: what should a number without scale be? */
	i32.scale = 0;
	assert_int_equal(load(&c, &i32, &out), 0);
	assert_int_equal(((int32_t *)out)[1], -2);
	assert_int_equal(((int32_t *)out)[2], INT32_MAX);
	assert_int_equal(((int32_t *)out)[3], INT32_MIN);
	free(out);
	c = numpy("<i8", "(4,)", "False", bad, sizeof(bad));
	refused(&c, &i32);
	c = numpy("<f8", "(4,)", "False", bad, sizeof(bad));
	refused(&c, &i32);
}

static void test_numpy_shapes(void **state)
{
	static const uint32_t last[] = { 1, 2, 3, 4 }, first[] = { 1, 4, 2, 3 };
	const struct npu_tensor_info nhwc = tensor(NPU_TYPE_UINT8, 1, 4, last);
	const struct npu_tensor_info nchw = tensor(NPU_TYPE_UINT8, 1, 4, first);
	uint8_t data[24];
	struct contents c;
	uint8_t *out;
	int i;

	for (i = 0; i < 24; i++)
		data[i] = (uint8_t)i;
	c = numpy("|u1", "(2, 3, 4)", "False", data, 24);
	assert_int_equal(load(&c, &nhwc, (void **)&out), 0);
	assert_memory_equal(out, data, 24);
	free(out);
	/* Element [c][y][x] of the tensor is [y][x][c] of the array. */
	assert_int_equal(load(&c, &nchw, (void **)&out), 0);
	for (i = 0; i < 24; i++)
		assert_int_equal(out[i], i % 6 * 4 + i / 6);
	free(out);
	c = numpy("|u1", "(1, 4, 2, 3)", "False", data, 24);
	assert_int_equal(load(&c, &nhwc, (void **)&out), 0);
	for (i = 0; i < 24; i++)
		assert_int_equal(out[i], i % 4 * 6 + i / 4);
	free(out);
	/* The first dimension is contiguous. */
	c = numpy("|u1", "(2, 3, 4)", "True", data, 24);
	assert_int_equal(load(&c, &nhwc, (void **)&out), 0);
	for (i = 0; i < 24; i++)
		assert_int_equal(out[i], i / 12 + i / 4 % 3 * 2 + i % 4 * 6);
	free(out);
	damage(&c, &nhwc);
	c = numpy("|u1", "(24,)", "False", data, 24);
	assert_int_equal(load(&c, &nchw, (void **)&out), 0);
	assert_memory_equal(out, data, 24);
	free(out);
	c = numpy("|u1", "(3, 2, 4)", "False", data, 24);
	refused(&c, &nhwc);
	assert_non_null(strstr(text, "[3, 2, 4]"));
	assert_non_null(strstr(text, "[1, 2, 3, 4]"));
	c = numpy("|u1", "(4, 6)", "False", data, 24);
	refused(&c, &nhwc);
}

/* What is written is read again: every type, stored and real. */
static void test_numpy_write(void **state)
{
	static const struct {
		enum npu_type type;
		uint32_t width;
	} types[] = {
		{ NPU_TYPE_INT8, 1 },  { NPU_TYPE_UINT8, 1 },	{ NPU_TYPE_INT16, 2 },
		{ NPU_TYPE_INT32, 4 }, { NPU_TYPE_INT64, 8 },	{ NPU_TYPE_FLOAT16, 2 },
		{ NPU_TYPE_BOOL, 1 },  { NPU_TYPE_FLOAT32, 4 },
	};
	const uint8_t data[32] = { 1, 0, 1, 1, 0, 0, 0x20, 0x41 };
	struct npu_tensor_info f32 = tensor(NPU_TYPE_FLOAT32, 4, 2, four);
	struct contents c;
	size_t i, k, bytes;
	uint8_t *npy;
	void *out;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct npu_tensor_info info = tensor(types[i].type, types[i].width, 2, four);

		assert_int_equal(tool_npy_encode(&info, data, false, &npy, &bytes), 0);
		c.bytes = 0;
		put(&c, npy, bytes);
		free(npy);
		assert_int_equal((bytes - info.bytes) % 64, 0);
		assert_int_equal(load(&c, &info, &out), 0);
		assert_memory_equal(out, data, info.bytes);
		free(out);
		assert_int_equal(tool_npy_encode(&info, data, true, &npy, &bytes), 0);
		c.bytes = 0;
		put(&c, npy, bytes);
		free(npy);
		assert_int_equal(load(&c, &f32, &out), 0);
		for (k = 0; k < 4; k++)
			assert_true((float)tool_real(&info, data, k) == ((float *)out)[k]);
		free(out);
	}
}

static struct contents npz(const struct tool_npz_member *member, unsigned count)
{
	struct contents c = { .bytes = 0 };
	uint8_t *data;
	size_t bytes;

	assert_int_equal(tool_npz_encode(member, count, &data, &bytes), 0);
	put(&c, data, bytes);
	free(data);
	return c;
}

/* By name, the only one, by number; compressed, damaged, too large. */
static void test_npz(void **state)
{
	struct npu_tensor_info i8 = tensor(NPU_TYPE_INT8, 1, 2, four);
	struct contents one = numpy("|i1", "(1, 4)", "False", "\1\2\3\4", 4);
	struct contents two = numpy("|i1", "(1, 4)", "False", "\5\6\7\10", 4);
	struct tool_npz_member member[] = { { "arr_0", one.data, one.bytes },
					    { "x", two.data, two.bytes },
					    { "y", two.data, 5 } };
	struct contents c = npz(member, 3), bad;
	uint8_t *data;
	size_t bytes;
	void *out;

	i8.name = "x";
	assert_int_equal(load(&c, &i8, &out), 0);
	assert_memory_equal(out, "\5\6\7\10", 4);
	free(out);
	damage(&c, &i8);
	i8.name = "no such";
	assert_int_equal(load(&c, &i8, &out), 0);
	assert_memory_equal(out, "\1\2\3\4", 4);
	free(out);
	i8.name = "y";
	refused(&c, &i8);
	i8.name = "z";
	bad = npz(member + 1, 2);
	refused(&bad, &i8);
	assert_non_null(strstr(text, "x.npy"));
	bad = npz(member + 1, 1);
	assert_int_equal(load(&bad, &i8, &out), 0);
	free(out);
	/* An element of the array: the checksum tells. */
	data = memmem(c.data, c.bytes, "\1\2\3\4", 4);
	assert_non_null(data);
	data[2] ^= 1;
	i8.name = "arr_0";
	refused(&c, &i8);
	member[1].name = "arr_0";
	assert_int_equal(tool_npz_encode(member, 2, &data, &bytes), -EINVAL);
	assert_int_equal(tool_npz_read(bad.data, bad.bytes, "x", 0, 10, &data, &bytes, text),
			 -EFBIG);
}

/* Every half there is. */
static void test_half(void **state)
{
	uint32_t i;

	for (i = 0; i < 65536; i++) {
		double number = tool_from_half((uint16_t)i);

		if (!isnan(number) && tool_to_half(number) != i)
			fail_msg("%u: %g becomes %u", i, number, tool_to_half(number));
	}
	assert_true(isnan(tool_from_half(tool_to_half((double)NAN))));
	assert_int_equal(tool_to_half(65519.9), 0x7bff);
	assert_int_equal(tool_to_half(65520), 0x7c00);
	assert_int_equal(tool_to_half(-1e300), 0xfc00);
	assert_int_equal(tool_to_half(1 + 0x1p-11), 0x3c00); /* halves to even */
	assert_int_equal(tool_to_half(1 + 0x3p-11), 0x3c02);
	assert_int_equal(tool_to_half(0x1p-25), 0);
	assert_int_equal(tool_to_half(0x1.8p-25), 1);
}

/* ---- pictures ---- */

static const uint32_t grey[] = { 1, 2, 2, 1 }, colour[] = { 1, 2, 2, 3 }, large[] = { 1, 8, 8, 1 };

static struct contents make_png(uint32_t format, const uint8_t *pixels)
{
	png_image png = { .version = PNG_IMAGE_VERSION, .width = 2, .height = 2, .format = format };
	struct contents c = { .bytes = sizeof(c.data) };
	png_alloc_size_t bytes = sizeof(c.data);

	assert_true(png_image_write_to_memory(&png, c.data, &bytes, 0, pixels, 0, NULL));
	c.bytes = bytes;
	return c;
}

static void test_png(void **state)
{
	const uint8_t pixels[4] = { 0, 100, 200, 255 };
	const int8_t shifted[4] = { -128, -28, 72, 127 };
	const struct npu_tensor_info u8 = tensor(NPU_TYPE_UINT8, 1, 4, grey);
	const struct npu_tensor_info i8 = tensor(NPU_TYPE_INT8, 1, 4, grey);
	const struct npu_tensor_info rgb = tensor(NPU_TYPE_UINT8, 1, 4, colour);
	const struct npu_tensor_info f32 = tensor(NPU_TYPE_FLOAT32, 4, 4, grey);
	const struct npu_tensor_info wide = tensor(NPU_TYPE_UINT8, 1, 4, large);
	const struct npu_tensor_info flat = tensor(NPU_TYPE_UINT8, 1, 2, four);
	struct contents c = make_png(PNG_FORMAT_GRAY, pixels);
	uint8_t *bytes;
	void *out;
	int i;

	assert_int_equal(load(&c, &u8, &out), 0);
	assert_memory_equal(out, pixels, 4);
	free(out);
	assert_int_equal(load(&c, &i8, &out), 0);
	assert_memory_equal(out, shifted, 4);
	free(out);
	assert_int_equal(load(&c, &f32, &out), 0);
	assert_true(((float *)out)[0] == 0 && ((float *)out)[3] == 1);
	free(out);
	assert_int_equal(load(&c, &rgb, &out), 0);
	bytes = out;
	for (i = 0; i < 12; i++)
		assert_int_equal(bytes[i], pixels[i / 3]);
	free(out);
	/* Stretched: corners keep their values, the first row grows from left to right. */
	assert_int_equal(load(&c, &wide, &out), 0);
	bytes = out;
	assert_int_equal(bytes[0], 0);
	assert_int_equal(bytes[7], 100);
	assert_int_equal(bytes[56], 200);
	assert_int_equal(bytes[63], 255);
	for (i = 1; i < 8; i++)
		assert_true(bytes[i] >= bytes[i - 1]);
	free(out);
	refused(&c, &flat);
	damage(&c, &u8);
}

/* Means and scales, channels first, order, and what has no defaults. */
static void test_picture_options(void **state)
{
	static const uint32_t first[] = { 1, 3, 2, 2 };
	const uint8_t pixels[12] = { 0, 100, 200, 255, 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct npu_tensor_info nchw = tensor(NPU_TYPE_FLOAT32, 4, 4, first);
	const struct npu_tensor_info i8 = tensor(NPU_TYPE_INT8, 1, 4, colour);
	struct npu_tensor_info i32 = tensor(NPU_TYPE_INT32, 4, 4, colour);
	struct contents c = make_png(PNG_FORMAT_RGB, pixels);
	float *real;
	int8_t *stored;
	void *out;
	int i;

	assert_int_equal(load(&c, &nchw, (void **)&real), 0);
	for (i = 0; i < 12; i++)
		assert_true(real[i] == (float)(pixels[i % 4 * 3 + i / 4] / 255.0));
	free(real);
	assert_int_equal(tool_input_option(&options, "mean", "100,2,3", text), 0);
	assert_int_equal(tool_input_option(&options, "scale", "1/4", text), 0);
	assert_int_equal(tool_input_option(&options, "order", "bgr", text), 0);
	assert_int_equal(load(&c, &nchw, (void **)&real), 0);
	assert_true(real[0] == 25 && real[4] == 24.5f && real[8] == -0.75f);
	free(real);
	/* real / 0.5 + 1 */
	assert_int_equal(load(&c, &i8, (void **)&stored), 0);
	assert_int_equal(stored[0], 51);
	assert_int_equal(stored[2], -1); /* -1.5 / 2: half away from zero */
	free(stored);
	i32.scale = 0;
	refused(&c, &i32);
	assert_int_equal(tool_input_option(&options, "scale", "1,2", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "scale", "1/0", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "mean", "1,", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "mean", "nan", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "mean", "1,2,3,4,5", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "fit", "wrong", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "order", "grb", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "rate", "0", text), -EINVAL);
	assert_int_equal(tool_input_option(&options, "colour", "red", text), -ENOENT);
	options = (struct tool_input_options){ 0 };
	assert_int_equal(load(&c, &i8, &out), 0);
	free(out);
}

/* A picture of 4 x 2, grey 10 .. 80. */
static void test_fit(void **state)
{
	static const uint32_t square[] = { 1, 4, 4, 1 }, small[] = { 1, 2, 2, 1 };
	static const uint8_t padded[16] = { 0, 0, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80 };
	static const uint8_t cut[4] = { 20, 30, 60, 70 };
	const struct npu_tensor_info u8 = tensor(NPU_TYPE_UINT8, 1, 4, square);
	const struct npu_tensor_info less = tensor(NPU_TYPE_UINT8, 1, 4, small);
	struct contents c = { .bytes = 0 };
	uint8_t *out;

	put(&c, "P5 4 2 255\n\12\24\36\50\62\74\106\120", 19);
	assert_int_equal(tool_input_option(&options, "fit", "pad", text), 0);
	assert_int_equal(load(&c, &u8, (void **)&out), 0);
	assert_memory_equal(out, padded, 16);
	free(out);
	assert_int_equal(tool_input_option(&options, "fit", "crop", text), 0);
	assert_int_equal(load(&c, &less, (void **)&out), 0);
	assert_memory_equal(out, cut, 4);
	free(out);
	assert_int_equal(load(&c, &u8, (void **)&out), 0);
	assert_int_equal(out[0], 20);
	assert_int_equal(out[15], 70);
	free(out);
	options.fit = TOOL_FIT_STRETCH;
	assert_int_equal(load(&c, &less, (void **)&out), 0);
	assert_int_equal(out[0], 15);
	assert_int_equal(out[3], 75);
	free(out);
}

static void test_pnm(void **state)
{
	const struct npu_tensor_info u8 = tensor(NPU_TYPE_UINT8, 1, 4, grey);
	const struct npu_tensor_info rgb = tensor(NPU_TYPE_UINT8, 1, 4, colour);
	static const struct {
		const char *text;
		size_t bytes;
		uint8_t pixel[4];
	} known[] = {
		{ "P5\n# made by hand\n2 2\n255\n\0\1\2\377", 30, { 0, 1, 2, 255 } },
		{ "P2 2 2 15 0 1\n14 15", 19, { 0, 17, 238, 255 } },
		{ "P5 2 2 65535\n\0\0\1\1\200\200\377\377", 21, { 0, 1, 128, 255 } },
	};
	static const uint8_t blue[12] = { 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255 };
	static const char *const bad[] = {
		"P5 2 2 0 1234",	 "P5 0 2 255 1234",	  "P2 2 2 15 0 1 2 16",
		"P5 99999999999 2 255 ", "P5 2 2 70000 12345678", "P5 99999 99999 255 1",
	};
	struct contents c;
	size_t i;
	void *out;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		c.bytes = 0;
		put(&c, known[i].text, known[i].bytes);
		assert_int_equal(load(&c, &u8, &out), 0);
		assert_memory_equal(out, known[i].pixel, 4);
		free(out);
		damage(&c, &u8);
	}
	c.bytes = 0;
	put(&c, "P6 2 2 255\n", 11);
	put(&c, blue, 12);
	assert_int_equal(load(&c, &rgb, &out), 0);
	assert_memory_equal(out, blue, 12);
	free(out);
	assert_int_equal(load(&c, &u8, &out), 0);
	assert_int_equal(*(uint8_t *)out, 29);
	free(out);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		c.bytes = 0;
		put(&c, bad[i], strlen(bad[i]));
		refused(&c, &u8);
	}
}

static struct contents make_bmp(uint32_t bits, int32_t height, uint32_t kind, const void *pixels,
				size_t bytes)
{
	struct contents c = { .bytes = 0 };
	uint32_t palette = bits == 8 ? 4 : 0, i;

	put(&c, "BM\0\0\0\0\0\0\0\0", 10);
	put_le(&c, 54 + 4 * palette, 4);
	put_le(&c, 40, 4);
	put_le(&c, 2, 4);
	put_le(&c, (uint32_t)height, 4);
	put_le(&c, 1, 2);
	put_le(&c, bits, 2);
	put_le(&c, kind, 4);
	put(&c, (const uint8_t[12]){ 0 }, 12);
	put_le(&c, palette, 4);
	put_le(&c, 0, 4);
	for (i = 0; i < palette; i++)
		put_le(&c, i * 0x101010, 4);
	put(&c, pixels, bytes);
	return c;
}

static void test_bmp(void **state)
{
	static const uint8_t rows24[16] = { 1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12 };
	static const uint8_t rows32[16] = { 1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0 };
	static const uint8_t up[12] = { 9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4 };
	static const uint8_t down[12] = { 3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10 };
	static const uint8_t rows8[8] = { 0, 1, 0, 0, 2, 3 };
	static const uint8_t greys[4] = { 32, 48, 0, 16 };
	const struct npu_tensor_info rgb = tensor(NPU_TYPE_UINT8, 1, 4, colour);
	const struct npu_tensor_info u8 = tensor(NPU_TYPE_UINT8, 1, 4, grey);
	struct contents c = make_bmp(24, 2, 0, rows24, 16);
	void *out;

	assert_int_equal(load(&c, &rgb, &out), 0);
	assert_memory_equal(out, up, 12);
	free(out);
	damage(&c, &rgb);
	c = make_bmp(32, -2, 3, rows32, 16);
	assert_int_equal(load(&c, &rgb, &out), 0);
	assert_memory_equal(out, down, 12);
	free(out);
	c = make_bmp(8, 2, 0, rows8, 8);
	assert_int_equal(load(&c, &u8, &out), 0);
	assert_memory_equal(out, greys, 4);
	free(out);
	damage(&c, &u8);
	c = make_bmp(8, 2, 1, rows8, 8);
	refused(&c, &u8);
	c = make_bmp(4, 2, 0, rows8, 8);
	refused(&c, &u8);
	c = make_bmp(8, INT32_MIN, 0, rows8, 8);
	refused(&c, &u8);
	c = make_bmp(24, 3, 0, rows24, 16);
	refused(&c, &rgb);
}

static struct contents make_jpeg(void)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	struct contents c = { .bytes = 0 };
	uint8_t row[3 * 16];
	unsigned char *data = NULL;
	unsigned long bytes = 0;
	JSAMPROW rows[1] = { row };

	memset(row, 200, sizeof(row));
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, &data, &bytes);
	jpeg.image_width = jpeg.image_height = 16;
	jpeg.input_components = 3;
	jpeg.in_color_space = JCS_RGB;
	jpeg_set_defaults(&jpeg);
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < 16)
		jpeg_write_scanlines(&jpeg, rows, 1);
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	put(&c, data, bytes);
	free(data);
	return c;
}

static void test_jpeg(void **state)
{
	const struct npu_tensor_info rgb = tensor(NPU_TYPE_UINT8, 1, 4, colour);
	const struct npu_tensor_info one = tensor(NPU_TYPE_UINT8, 1, 4, grey);
	struct contents c = make_jpeg(), cut;
	uint8_t *bytes;
	void *out;
	int i;

	assert_int_equal(load(&c, &rgb, &out), 0);
	bytes = out;
	for (i = 0; i < 12; i++)
		assert_true(bytes[i] >= 198 && bytes[i] <= 202);
	free(out);
	assert_int_equal(load(&c, &one, &out), 0);
	free(out);
	cut = c;
	cut.bytes = c.bytes - 4;
	refused(&cut, &rgb);
	damage(&c, &rgb);
}

/* ---- sound ---- */

static struct contents make_wav(uint32_t channels, uint32_t bits, const int16_t *samples, size_t n)
{
	struct contents c = { .bytes = 0 };
	size_t i;

	put(&c, "RIFF\0\0\0\0WAVE", 12);
	put(&c, "odd \3\0\0\0abc\0", 12); /* chunks are padded to even sizes */
	put(&c, "fmt ", 4);
	put_le(&c, 16, 4);
	put_le(&c, 1, 2);
	put_le(&c, channels, 2);
	put_le(&c, 16000, 4);
	put_le(&c, 32000, 4);
	put_le(&c, 2, 2);
	put_le(&c, bits, 2);
	put(&c, "data", 4);
	put_le(&c, (uint32_t)(n * 2), 4);
	for (i = 0; i < n; i++)
		put_le(&c, (uint16_t)samples[i], 2);
	return c;
}

static void test_wav(void **state)
{
	const struct npu_tensor_info i16 = tensor(NPU_TYPE_INT16, 2, 2, four);
	const struct npu_tensor_info f32 = tensor(NPU_TYPE_FLOAT32, 4, 2, four);
	const struct npu_tensor_info i8 = tensor(NPU_TYPE_INT8, 1, 2, four);
	const int16_t samples[6] = { 100, 200, -300, -32768, 32767, 1 };
	const int16_t stereo[4] = { 150, -16534, 16384, 0 };
	struct contents c = make_wav(1, 16, samples, 6);
	void *out;

	assert_int_equal(load(&c, &i16, &out), 0);
	assert_memory_equal(out, samples, 8);
	free(out);
	damage(&c, &i16);
	assert_int_equal(load(&c, &f32, &out), 0);
	assert_true(((float *)out)[3] == -1);
	free(out);
	refused(&c, &i8);
	c = make_wav(2, 16, samples, 6);
	assert_int_equal(load(&c, &i16, &out), 0);
	assert_memory_equal(out, stereo, 8);
	free(out);
	c = make_wav(1, 12, samples, 6);
	refused(&c, &i16);
	c = make_wav(0, 16, samples, 6);
	refused(&c, &i16);
}

/* One frame of each kind of samples. */
static void test_wav_kinds(void **state)
{
	static const struct {
		uint32_t tag, bits;
		uint8_t sample[8];
		double value;
	} known[] = {
		{ 1, 8, { 0 }, -1 },
		{ 1, 8, { 192 }, 0.5 },
		{ 1, 16, { 0, 0x40 }, 0.5 },
		{ 1, 24, { 0, 0, 0x80 }, -1 },
		{ 1, 24, { 0, 0, 0x20 }, 0.25 },
		{ 1, 32, { 0, 0, 0, 0xc0 }, -0.5 },
		{ 3, 32, { 0, 0, 0, 0x3f }, 0.5 },
		{ 3, 32, { 0, 0, 0xc0, 0x7f }, 0 }, /* no number */
		{ 3, 32, { 0, 0, 0, 0xc0 }, -1 }, /* beyond */
		{ 3, 64, { 0, 0, 0, 0, 0, 0, 0xd0, 0xbf }, -0.25 },
		{ 0xfffe, 16, { 0, 0x40 }, 0.5 },
	};
	struct tool_sound sound;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct contents c = { .bytes = 0 };

		put(&c, "RIFF\0\0\0\0WAVEfmt ", 16);
		put_le(&c, 40, 4);
		put_le(&c, known[i].tag, 2);
		put_le(&c, 1, 2);
		put_le(&c, 8000, 4);
		put_le(&c, 0, 4);
		put_le(&c, 0, 2);
		put_le(&c, known[i].bits, 2);
		put(&c, (const uint8_t[8]){ 22 }, 8);
		put(&c, "\1\0\0\0\0\0\20\0\200\0\0\252\0\70\233\161", 16);
		put(&c, "data", 4);
		put_le(&c, known[i].bits / 8, 4);
		put(&c, known[i].sample, known[i].bits / 8);
		assert_int_equal(tool_wav_parse(c.data, c.bytes, &sound, text), 0);
		assert_int_equal(sound.frames, 1);
		if (tool_sound_at(&sound, 0) != known[i].value)
			fail_msg("kind %zu: %g", i, tool_sound_at(&sound, 0));
		assert_true(tool_sound_at(&sound, 1) == 0);
	}
}

/* Half the rate: every second sample; twice the rate: values in between. */
static void test_wav_rate(void **state)
{
	const struct npu_tensor_info i16 = tensor(NPU_TYPE_INT16, 2, 2, four);
	const int16_t samples[6] = { 0, 100, 200, 300, 400, 500 };
	const int16_t half[4] = { 0, 200, 400, 0 }, twice[4] = { 0, 50, 100, 150 };
	struct contents c = make_wav(1, 16, samples, 6);
	void *out;

	assert_int_equal(tool_input_option(&options, "rate", "8000", text), 0);
	assert_int_equal(load(&c, &i16, &out), 0);
	assert_memory_equal(out, half, 8);
	free(out);
	assert_int_equal(tool_input_option(&options, "rate", "32000", text), 0);
	assert_int_equal(load(&c, &i16, &out), 0);
	assert_memory_equal(out, twice, 8);
	free(out);
	options.rate = 0;
}

static void test_numbers(void **state)
{
	uint32_t n = 7;

	assert_true(tool_number("12", 1, 12, &n));
	assert_int_equal(n, 12);
	assert_false(tool_number("13", 1, 12, &n));
	assert_false(tool_number("0", 1, 12, &n));
	assert_false(tool_number("", 0, 12, &n));
	assert_false(tool_number("1x", 0, 12, &n));
	assert_false(tool_number(" 1", 0, 12, &n));
	assert_false(tool_number("-1", 0, 12, &n));
	assert_false(tool_number("99999999999999999999999999", 0, UINT32_MAX, &n));
	assert_int_equal(n, 12);
}

static void test_utf8(void **state)
{
	static const struct {
		const char *given, *wanted;
	} all[] = {
		{ "", "" },
		{ "cat", "cat" },
		{ "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88",
		  "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88" },
		{ "caf\xe9", "caf?" },
		{ "\xe9t\xe9", "?t?" },
		{ "\xe2\x82", "??" },
		{ "\xc0\x80", "??" },
		{ "\xe0\x9f\xbf", "???" },
		{ "\xed\xa0\x80", "???" },
		{ "\xf0\x8f\xbf\xbf", "????" },
		{ "\xf4\x90\x80\x80", "????" },
		{ "\xf5\x80\x80\x80", "????" },
		{ "cat\x1b[31m\t\x7f", "cat?[31m??" },
		{ "\xc2\x9b\xc2\xa0", "??\xc2\xa0" },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s", all[i].given);
		tool_clean_text(name);
		assert_string_equal(name, all[i].wanted);
	}
}

/* A file that cannot be written leaves nothing behind. */
static void test_write(void **state)
{
	struct stat st;

	assert_int_equal(npu_output_file_save("/nowhere/file", "x", 1), -ENOENT);
	assert_int_equal(npu_output_file_save("/", "x", 1), -EISDIR);
	assert_int_equal(npu_output_file_save(path, "abc", 3), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3);
}

/* The umask holds, a link stays a link, and a pipe stays a pipe (as a device stays a device). */
static void test_write_keeps_what_is_there(void **state)
{
	char link_name[sizeof(path) + 8], got[4] = "";
	mode_t mask = umask(077);
	struct stat st;
	int pipe_fd;

	snprintf(link_name, sizeof(link_name), "%s.link", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(path, link_name), 0);
	assert_int_equal(npu_output_file_save(link_name, "abc", 3), -ENOENT);
	assert_int_equal(lstat(link_name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(npu_output_file_save(path, "abc", 3), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(npu_output_file_save(link_name, "abcde", 5), 0);
	assert_int_equal(lstat(link_name, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 5);
	assert_int_equal(unlink(link_name), 0);

	assert_int_equal(mkfifo(link_name, 0600), 0);
	pipe_fd = open(link_name, O_RDWR | O_CLOEXEC);
	assert_true(pipe_fd >= 0);
	assert_int_equal(npu_output_file_save(link_name, "xyz", 3), 0);
	assert_int_equal(lstat(link_name, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(read(pipe_fd, got, 3), 3);
	assert_string_equal(got, "xyz");
	close(pipe_fd);
	assert_int_equal(unlink(link_name), 0);
	umask(mask);
}

/* A file that is replaced keeps its permissions; without one to write there is no replacing. */
static void test_write_permissions(void **state)
{
	char folder[] = "/tmp/npu-folder-XXXXXX", name[sizeof(folder) + 8];
	static const mode_t modes[] = { 0600, 0640, 0666, 0755 };
	struct stat st;
	int status;
	pid_t pid;
	size_t i;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0777), 0);
	snprintf(name, sizeof(name), "%s/file", folder);
	assert_int_equal(npu_output_file_save(name, "old", 3), 0);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(chmod(name, modes[i]), 0);
		assert_int_equal(npu_output_file_save(name, "new", 3), 0);
		assert_int_equal(stat(name, &st), 0);
		assert_int_equal(st.st_mode & 07777, modes[i]);
	}
	assert_int_equal(chmod(name, 0444), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && setuid(65534))
			_exit(1);
		_exit(npu_output_file_save(name, "newer", 5) != -EACCES);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(folder), 0);
}

static unsigned entries(const char *folder)
{
	DIR *all = opendir(folder);
	unsigned count = 0;

	assert_non_null(all);
	while (readdir(all))
		count++;
	closedir(all);
	return count - 2; /* without . and .. */
}

/* Who is killed while files are written leaves nothing of them; who gives up neither. */
static void test_write_interrupted(void **state)
{
	char folder[] = "/tmp/npu-folder-XXXXXX", name[sizeof(folder) + 8];
	struct npu_output_file file;
	struct stat st;
	int status, fd;
	pid_t pid;

	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0) { /* this file system has no files without a name */
		rmdir(folder);
		skip();
	}
	close(fd);
	snprintf(name, sizeof(name), "%s/file", folder);
	assert_int_equal(npu_output_file_save(name, "old", 3), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		npu_output_file_write(&file, name, "not whole", 9);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(entries(folder), 1);
	assert_int_equal(npu_output_file_write(&file, name, "dropped", 7), 0);
	npu_output_file_drop(&file);
	assert_int_equal(entries(folder), 1);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_size, 3);
	/* The folder goes before the file is finished. */
	assert_int_equal(npu_output_file_write(&file, name, "too late", 8), 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(npu_output_file_finish(&file), -ENOENT);
}

static int set_up(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_numpy),
		cmocka_unit_test(test_bad_numpy),
		cmocka_unit_test(test_numpy_types),
		cmocka_unit_test(test_numpy_integers),
		cmocka_unit_test(test_numpy_shapes),
		cmocka_unit_test(test_numpy_write),
		cmocka_unit_test(test_npz),
		cmocka_unit_test(test_half),
		cmocka_unit_test(test_png),
		cmocka_unit_test(test_picture_options),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_pnm),
		cmocka_unit_test(test_bmp),
		cmocka_unit_test(test_jpeg),
		cmocka_unit_test(test_wav),
		cmocka_unit_test(test_wav_kinds),
		cmocka_unit_test(test_wav_rate),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_write_keeps_what_is_there),
		cmocka_unit_test(test_write_interrupted),
		cmocka_unit_test(test_write_permissions),
	};

	return cmocka_run_group_tests_name("input files", tests, set_up, tear_down);
}
