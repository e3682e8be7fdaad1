/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed as a whole: a graph, a network or a plan owns one arena
 * and everything reachable from it lives there.
 */
#ifndef NPU_ARENA_H
#define NPU_ARENA_H

#include <stddef.h>

struct npu_arena_block;

struct npu_arena {
	struct npu_arena_block *blocks; /* newest first */
	size_t bytes; /* handed out so far */
	size_t limit; /* allocations beyond it fail; 0: no limit */
};

/* Zeroed memory, aligned for any type; NULL when out of memory or beyond the limit. */
void *npu_arena_alloc(struct npu_arena *arena, size_t bytes);

/* As npu_arena_alloc() for @count elements, overflow-checked. */
void *npu_arena_array(struct npu_arena *arena, size_t count, size_t element_bytes);

/* A copy of the first @length bytes of @text, with a terminating zero. */
char *npu_arena_string(struct npu_arena *arena, const char *text, size_t length);

/* Formatted text. */
char *npu_arena_printf(struct npu_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void npu_arena_free(struct npu_arena *arena);

#endif /* NPU_ARENA_H */
