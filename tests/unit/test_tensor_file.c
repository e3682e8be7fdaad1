// SPDX-License-Identifier: MIT
/*
 * Input files of npu-run: every kind, right, damaged and cut off anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <jpeglib.h>
#include <png.h>

#include "../../tools/common/tensor_file.h"
#include "../../tools/common/tool.h"
#include "output_file.h"

static char path[] = "/tmp/npu-test-XXXXXX";
static char text[200];

/* A file's contents while it is put together. */
struct contents {
	uint8_t data[4096];
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
	return tool_load_tensor(path, info, out, text);
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
	assert_int_equal(tool_load_tensor("/nowhere/file", &info, &out, text), -ENOENT);
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
		{ "|i1", "(1, 4)", "True" },
		{ ">f4", "(1, 4)", "False" },
		{ "|i1", "(4", "False" },
		{ "|i1", "()", "False" },
		{ "|i1", "(-4, -1)", "False" },
		{ "|i1", "(99999999999999999999,)", "False" },
		{ "|i1", "(a)", "False" },
		{ "|i1", "(4294967295, 4294967295, 4294967295)", "False" },
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct contents c = numpy(bad[i].type, bad[i].shape, bad[i].order, "\1\2\3\4", 4);

		refused(&c, &i8);
	}
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
	c = make_wav(1, 8, samples, 6);
	refused(&c, &i16);
	c = make_wav(0, 16, samples, 6);
	refused(&c, &i16);
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
		cmocka_unit_test(test_png),
		cmocka_unit_test(test_jpeg),
		cmocka_unit_test(test_wav),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_write_keeps_what_is_there),
	};

	return cmocka_run_group_tests_name("input files", tests, set_up, tear_down);
}
