/* SPDX-License-Identifier: MIT */
/*
 * The passes of a split in their order, what stays in the buffer from each to the next, and where
 * that has to end: no other client's work can run between passes that share content of the buffer.
 */
#ifndef NPU_PLAN_PASSES_H
#define NPU_PLAN_PASSES_H

#include "split.h"

/* Rows of the output, of a tile. */
struct npu_row_piece {
	u32 tile;
	u32 from, to;
};

/**
 * struct npu_split_pass - kernel groups of a piece
 * @rows: the piece
 * @first, @groups: its kernel groups
 * @lines: input lines that the pass before leaves for it; all of them where @whole
 * @whole: its whole input is there
 * @weights: its weights are there
 * @saved: bytes that are not fetched for this; NPU_PASS_BOUND: they could not be fetched again
 * @begins: the run of passes that share content of the buffer begins here
 * @run, @cost: of npu_passes_cut(): where its run begins, and bytes fetched again up to here
 */
struct npu_split_pass {
	struct npu_row_piece rows;
	u32 first, groups;
	u32 lines;
	bool whole;
	bool weights;
	u64 saved;
	bool begins;
	u32 run;
	u64 cost;
};

#define NPU_PASS_BOUND UINT64_MAX

/*
 * So many passes share content of the buffer: whoever has a higher priority waits for as many as where
 * none do.  Up to NVDLA_CHAIN_MAX_RUN where pieces of memory leave no other way.
 */
#define NPU_PASSES_RUN 2u

/* A list that grows as needed and is filled again and again. */
struct npu_passes {
	struct npu_row_piece *piece;
	struct npu_split_pass *pass;
	u32 piece_count, count;
	size_t piece_room, room;
};

/* Makes an array of @have elements at least @count elements long; false: out of memory. */
bool npu_plan_room(void **memory, size_t *have, size_t count, size_t bytes);

void npu_passes_free(struct npu_passes *passes);

/**
 * npu_passes_list() - list the passes of one channel block and link each to the one before
 *
 * Return: 0 or -ENOMEM.
 */
int npu_passes_list(struct npu_passes *passes, const struct nvdla_config *config,
		    const struct npu_conv_shape *shape, const struct npu_split *split);

/**
 * npu_passes_cut() - choose where runs begin: of all ways the one that fetches the fewest bytes again
 *
 * Return: these bytes; NPU_PASS_BOUND: there is no way.
 */
u64 npu_passes_cut(struct npu_passes *passes);

#endif /* NPU_PLAN_PASSES_H */
