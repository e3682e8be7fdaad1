// SPDX-License-Identifier: MIT
#include "flatbuffer.h"

static void damaged(struct flatbuffer *file, size_t where)
{
	if (!file->damaged) {
		file->damaged = true;
		file->where = where;
	}
}

static bool inside(struct flatbuffer *file, size_t at, size_t bytes)
{
	if (at <= file->bytes && bytes <= file->bytes - at)
		return true;
	damaged(file, at);
	return false;
}

/* Files are little-endian, whatever the host is. */
static u64 little_endian(const u8 *data, u32 bytes)
{
	u64 value = 0;

	while (bytes--)
		value = value << 8 | data[bytes];
	return value;
}

static u32 read_u16(struct flatbuffer *file, size_t at)
{
	return inside(file, at, 2) ? little_endian(file->data + at, 2) : 0;
}

static u32 read_u32(struct flatbuffer *file, size_t at)
{
	return inside(file, at, 4) ? little_endian(file->data + at, 4) : 0;
}

/* A table starts with the signed distance back to its vtable: sizes, then a 16-bit offset a field. */
static struct fb_table table_at(struct flatbuffer *file, size_t at)
{
	struct fb_table table = { .at = at };
	s64 vtable;
	u32 vtable_bytes;

	if (!inside(file, at, 4))
		return table;
	vtable = (s64)at - (s32)read_u32(file, at);
	if (vtable < 0 || !inside(file, vtable, 4)) {
		damaged(file, at);
		return table;
	}
	vtable_bytes = read_u16(file, vtable);
	table.bytes = read_u16(file, vtable + 2);
	if (vtable_bytes < 4 || !inside(file, vtable, vtable_bytes) || table.bytes < 4 ||
	    !inside(file, at, table.bytes)) {
		damaged(file, vtable);
		return table;
	}
	table.vtable = vtable;
	table.slots = (vtable_bytes - 4) / 2;
	table.file = file;
	return table;
}

/* Offset of an inline field in the file, or 0 where the field is absent. */
static size_t field_at(const struct fb_table *table, u32 field, u32 bytes)
{
	u32 offset;

	if (!table->file || field >= table->slots)
		return 0;
	offset = read_u16(table->file, table->vtable + 4 + 2 * (size_t)field);
	if (!offset)
		return 0;
	if (offset < 4 || offset > table->bytes || bytes > table->bytes - offset) {
		damaged(table->file, table->at);
		return 0;
	}
	return table->at + offset;
}

static u64 scalar(const struct fb_table *table, u32 field, u32 bytes, u64 absent)
{
	size_t at = field_at(table, field, bytes);

	return at ? little_endian(table->file->data + at, bytes) : absent;
}

s32 fb_s32(const struct fb_table *table, u32 field, s32 absent)
{
	return (s32)scalar(table, field, 4, (u32)absent);
}

u32 fb_u32(const struct fb_table *table, u32 field, u32 absent)
{
	return scalar(table, field, 4, absent);
}

u64 fb_u64(const struct fb_table *table, u32 field, u64 absent)
{
	return scalar(table, field, 8, absent);
}

s8 fb_s8(const struct fb_table *table, u32 field, s8 absent)
{
	return (s8)scalar(table, field, 1, (u8)absent);
}

u8 fb_u8(const struct fb_table *table, u32 field, u8 absent)
{
	return scalar(table, field, 1, absent);
}

static float float_of(u32 bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

float fb_f32(const struct fb_table *table, u32 field, float absent)
{
	size_t at = field_at(table, field, 4);

	return at ? float_of(read_u32(table->file, at)) : absent;
}

/* What an offset field refers to, or 0. */
static size_t target_of(struct flatbuffer *file, size_t at)
{
	u32 offset = at ? read_u32(file, at) : 0;

	if (!at)
		return 0;
	/* Offsets go forward only: this is what keeps a file from referring to itself. */
	if (offset < 4 || offset > INT32_MAX || !inside(file, at + offset, 4)) {
		damaged(file, at);
		return 0;
	}
	return at + offset;
}

struct fb_table fb_child(const struct fb_table *table, u32 field)
{
	static const struct fb_table none;
	size_t at = target_of(table->file, field_at(table, field, 4));

	return at ? table_at(table->file, at) : none;
}

struct fb_vector fb_elements(const struct fb_table *table, u32 field, u32 element_bytes)
{
	struct fb_vector vector = { 0 };
	size_t at = target_of(table->file, field_at(table, field, 4));
	u32 count;

	if (!at)
		return vector;
	count = read_u32(table->file, at);
	if (count > (table->file->bytes - at - 4) / element_bytes) {
		damaged(table->file, at);
		return vector;
	}
	vector.data = table->file->data + at + 4;
	vector.count = count;
	return vector;
}

s32 fb_element_s32(const struct fb_vector *vector, u32 i)
{
	return (s32)little_endian(vector->data + 4 * (size_t)i, 4);
}

s64 fb_element_s64(const struct fb_vector *vector, u32 i)
{
	return (s64)little_endian(vector->data + 8 * (size_t)i, 8);
}

float fb_element_f32(const struct fb_vector *vector, u32 i)
{
	return float_of(fb_element_s32(vector, i));
}

struct fb_table fb_element_table(struct flatbuffer *file, const struct fb_vector *vector, u32 i)
{
	static const struct fb_table none;
	size_t at;

	if (i >= vector->count)
		return none;
	at = target_of(file, vector->data + 4 * (size_t)i - file->data);
	return at ? table_at(file, at) : none;
}

const char *fb_string(const struct fb_table *table, u32 field)
{
	struct fb_vector text = fb_elements(table, field, 1);

	if (!text.data)
		return "";
	if (text.count > FB_MAX_STRING ||
	    text.data + text.count >= table->file->data + table->file->bytes ||
	    text.data[text.count] || memchr(text.data, 0, text.count)) {
		damaged(table->file, text.data - table->file->data);
		return "";
	}
	return (const char *)text.data;
}

struct fb_table fb_root(struct flatbuffer *file, const char *identifier)
{
	static const struct fb_table none;
	u32 at;

	if (file->bytes > INT32_MAX || !inside(file, 0, 8) ||
	    memcmp(file->data + 4, identifier, 4)) {
		damaged(file, 0);
		return none;
	}
	at = read_u32(file, 0);
	return table_at(file, at);
}
