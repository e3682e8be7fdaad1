// SPDX-License-Identifier: MIT
#include "arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES (64u << 10)

struct npu_arena_block {
	struct npu_arena_block *next;
	size_t used;
	size_t size;
	alignas(max_align_t) unsigned char data[];
};

static struct npu_arena_block *add_block(struct npu_arena *arena, size_t bytes)
{
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
	struct npu_arena_block *block = calloc(1, sizeof(*block) + size);

	if (!block)
		return NULL;
	block->size = size;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *npu_arena_alloc(struct npu_arena *arena, size_t bytes)
{
	const size_t align = alignof(max_align_t);
	struct npu_arena_block *block = arena->blocks;
	size_t rounded;
	void *data;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	rounded = (bytes + align - 1) / align * align;
	if (arena->limit && rounded > arena->limit - arena->bytes)
		return NULL;
	if (!block || block->size - block->used < rounded) {
		block = add_block(arena, rounded);
		if (!block)
			return NULL;
	}
	data = block->data + block->used;
	block->used += rounded;
	arena->bytes += rounded;
	return data;
}

void *npu_arena_array(struct npu_arena *arena, size_t count, size_t element_bytes)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, element_bytes, &bytes))
		return NULL;
	return npu_arena_alloc(arena, bytes);
}

char *npu_arena_string(struct npu_arena *arena, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? npu_arena_alloc(arena, length + 1) : NULL;

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *npu_arena_printf(struct npu_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	text = length < 0 ? NULL : npu_arena_alloc(arena, (size_t)length + 1);
	if (text) {
		va_start(args, format);
		vsnprintf(text, (size_t)length + 1, format, args);
		va_end(args);
	}
	return text;
}

void npu_arena_free(struct npu_arena *arena)
{
	while (arena->blocks) {
		struct npu_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->bytes = 0;
}
