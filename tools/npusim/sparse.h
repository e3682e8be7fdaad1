/* SPDX-License-Identifier: MIT */
/* Memory of scripts: the whole address space, pages made when first touched. */
#ifndef NPUSIM_SPARSE_H
#define NPUSIM_SPARSE_H

#include "npusim.h"

struct sparse;

/* @limit: bytes that may be touched, at most; beyond, accesses fail with -ENOMEM. */
struct sparse *sparse_create(u64 limit);
void sparse_destroy(struct sparse *mem);

/* 0 or a negative errno. */
int sparse_read(struct sparse *mem, u64 addr, void *buf, size_t len);
int sparse_write(struct sparse *mem, u64 addr, const void *buf, size_t len);
int sparse_fill(struct sparse *mem, u64 addr, u64 len, u8 byte);

/* The callbacks of a model that works on @mem. */
struct npusim_memory sparse_memory(struct sparse *mem);

#endif /* NPUSIM_SPARSE_H */
