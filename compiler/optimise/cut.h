/* SPDX-License-Identifier: MIT */
/*
 * The cheapest way to give each of many nodes one of two sides, where a node costs something on each side
 * and two nodes cost something when they are on different ones: a minimum cut.
 */
#ifndef NPU_CUT_H
#define NPU_CUT_H

#include "nvdla_types.h"

/* Is never paid: more than all other costs together may be. */
#define NPU_CUT_NEVER (1ull << 60)

struct npu_cut;

/* @nodes of which each costs nothing so far; NULL: out of memory. */
struct npu_cut *npu_cut_new(u32 nodes);
void npu_cut_free(struct npu_cut *cut);

/* Adds to what @node costs on the first side, and on the second one. */
void npu_cut_cost(struct npu_cut *cut, u32 node, u64 first, u64 second);

/* @a on the first side and @b on the second one cost @ab, the other way round @ba; 0 or -ENOMEM. */
int npu_cut_pair(struct npu_cut *cut, u32 a, u32 b, u64 ab, u64 ba);

/*
 * Finds the sides whose costs have the least sum, of equal ones those with the fewest nodes on the second
 * side.  Nothing can be added afterwards.
 */
void npu_cut_find(struct npu_cut *cut);

/* Is a node on the second side?  Behind npu_cut_find(). */
bool npu_cut_is_second(const struct npu_cut *cut, u32 node);

#endif /* NPU_CUT_H */
