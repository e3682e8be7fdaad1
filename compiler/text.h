/* SPDX-License-Identifier: MIT */
/*
 * Names come from files of others and go into JSON, HTML, Graphviz and onto terminals: what is no UTF-8
 * or a control character in them is replaced once, where they come in.
 */
#ifndef NPU_TEXT_H
#define NPU_TEXT_H

#include "arena.h"

#include <stdbool.h>

/* UTF-8 (RFC 3629) without control characters. */
bool npu_text_is_clean(const char *text);

/* @text itself where it is clean, else a copy with '?' for each byte that is not; NULL: out of memory. */
const char *npu_text_clean(struct npu_arena *arena, const char *text);

#endif /* NPU_TEXT_H */
