/* SPDX-License-Identifier: MIT */
/*
 * A reader of FlatBuffers (https://flatbuffers.dev/internals): tables with
 * optional fields, vectors and strings, found by 32-bit offsets in one file.
 *
 * Nothing in the file is trusted.  An offset that leaves the file marks the file
 * as damaged and reads as an absent field, so that callers may go on and look at
 * @damaged at the places where it matters.  Nothing is allocated; there is no
 * recursion.
 */
#ifndef NPU_FLATBUFFER_H
#define NPU_FLATBUFFER_H

#include "nvdla_types.h"

struct flatbuffer {
	const u8 *data;
	size_t bytes;
	bool damaged;
	size_t where; /* offset of what was wrong first */
};

/* A table; @file is NULL where there is none, and every field is absent then. */
struct fb_table {
	struct flatbuffer *file;
	size_t at; /* of the table */
	size_t vtable;
	u32 slots; /* fields that the vtable knows */
	u32 bytes; /* of the table's inline data */
};

/* A vector: @count elements at @data, which has no particular alignment. */
struct fb_vector {
	const u8 *data;
	u32 count;
};

/* The root table of a file that has the given four-letter identifier, or an absent table. */
struct fb_table fb_root(struct flatbuffer *file, const char *identifier);

s32 fb_s32(const struct fb_table *table, u32 field, s32 absent);
u32 fb_u32(const struct fb_table *table, u32 field, u32 absent);
u64 fb_u64(const struct fb_table *table, u32 field, u64 absent);
s8 fb_s8(const struct fb_table *table, u32 field, s8 absent);
u8 fb_u8(const struct fb_table *table, u32 field, u8 absent);
float fb_f32(const struct fb_table *table, u32 field, float absent);

/* A table that a field refers to. */
struct fb_table fb_child(const struct fb_table *table, u32 field);

/* A vector of @element_bytes each; wholly inside the file. */
struct fb_vector fb_elements(const struct fb_table *table, u32 field, u32 element_bytes);

/* Element of a vector of s32, s64 or float; @i < count. */
s32 fb_element_s32(const struct fb_vector *vector, u32 i);
s64 fb_element_s64(const struct fb_vector *vector, u32 i);
float fb_element_f32(const struct fb_vector *vector, u32 i);

/* Table @i of a vector of tables (element size 4); absent beyond the end. */
struct fb_table fb_element_table(struct flatbuffer *file, const struct fb_vector *vector, u32 i);

/*
 * A string inside the file, ended by a zero; "" where it is absent.  Longer ones count as damage:
 * each use looks for the zero, and many tables may refer to the same string.
 */
#define FB_MAX_STRING 65535
const char *fb_string(const struct fb_table *table, u32 field);

#endif /* NPU_FLATBUFFER_H */
