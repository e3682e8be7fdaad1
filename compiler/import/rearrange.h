/* SPDX-License-Identifier: MIT */
/*
 * Operators that repeat, turn round or regroup elements, made of those that the graph
 * has: slices picked along dimensions (GATHER with constant indices), and blocks of
 * elements moved between dimensions (RESHAPE, TRANSPOSE, RESHAPE).  For all importers.
 */
#ifndef NPU_REARRANGE_H
#define NPU_REARRANGE_H

#include "graph.h"

/* What lies outside of a dimension's ends. */
enum npu_edge {
	NPU_EDGE_REFLECT, /* the elements inside, but for the outermost, backwards */
	NPU_EDGE_SYMMETRIC, /* all of the elements inside, backwards */
	NPU_EDGE_REPEAT, /* the outermost element, again and again */
	NPU_EDGE_WRAP, /* the elements from the other end on */
};

/**
 * struct npu_selection - slices of a dimension, in the result's order
 * @index: memory of the graph; NULL: the dimension stays as it is
 */
struct npu_selection {
	s32 *index;
	u32 count;
};

/*
 * Selections of a dimension of @size: padded at its ends, repeated as a whole, turned round.  0,
 * -ENOMEM, -ERANGE where the padding reaches further than there are elements.
 */
int npu_select_edges(struct npu_graph *graph, u32 size, u32 before, u32 after, enum npu_edge edge,
		     struct npu_selection *selection);
int npu_select_tiles(struct npu_graph *graph, u32 size, u32 times, struct npu_selection *selection);
int npu_select_reversed(struct npu_graph *graph, u32 size, struct npu_selection *selection);

/**
 * npu_add_selections() - picks slices along several dimensions
 * @selection: for each dimension of @in
 * @out: a tensor that is there already
 *
 * Return: 0 or -ENOMEM.
 */
int npu_add_selections(struct npu_graph *graph, const char *name, u32 in,
		       const struct npu_selection selection[NPU_MAX_RANK], u32 out);

/**
 * struct npu_regroup - another order of blocks of elements
 * @rank, @dim: the input's elements, seen as blocks
 * @order: for each dimension of the result, before its blocks are put together again
 */
struct npu_regroup {
	u32 rank;
	u32 dim[NPU_MAX_RANK];
	u32 order[NPU_MAX_RANK];
};

/* Blocks of @block x @block elements of depth become areas; @depth_first: their index counts fastest. */
struct npu_regroup npu_depth_to_space(const u32 nhwc[4], u32 block, bool depth_first);
struct npu_regroup npu_space_to_depth(const u32 nhwc[4], u32 block);

int npu_add_regrouped(struct npu_graph *graph, const char *name, u32 in,
		      const struct npu_regroup *regroup, u32 out);

#endif /* NPU_REARRANGE_H */
