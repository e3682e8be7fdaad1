// SPDX-License-Identifier: MIT
/*
 * Maximum flow along shortest paths (Edmonds and Karp) from the first side to the second one; what can
 * still reach the second side belongs to it.  A node's own two costs are a flow through it alone: what
 * they have in common is taken off at once, so that each node has capacity from one side only.
 */
#include "cut.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* Half of a pair: what still fits from its owner to @to.  The other half is the one beside it (index ^ 1). */
struct arc {
	u32 to;
	u32 next; /* of the same owner */
	u64 room;
};

/**
 * struct node - a node
 * @arc: its first one
 * @from, @into: what still fits from the first side to it, and from it to the second side
 * @via: the arc by which the search came here; NONE: from the first side itself
 * @seen: by the present search
 */
struct node {
	u32 arc;
	u64 from, into;
	u32 via;
	bool seen;
};

struct npu_cut {
	struct node *node;
	u32 *queue;
	u32 node_count;
	struct arc *arc;
	u32 arc_count, arc_room;
};

struct npu_cut *npu_cut_new(u32 nodes)
{
	struct npu_cut *cut = calloc(1, sizeof(*cut));
	u32 i;

	if (!cut)
		return NULL;
	cut->node = calloc(nodes ? nodes : 1, sizeof(*cut->node));
	cut->queue = calloc(nodes ? nodes : 1, sizeof(*cut->queue));
	if (!cut->node || !cut->queue) {
		npu_cut_free(cut);
		return NULL;
	}
	cut->node_count = nodes;
	for (i = 0; i < nodes; i++)
		cut->node[i].arc = NONE;
	return cut;
}

void npu_cut_free(struct npu_cut *cut)
{
	if (!cut)
		return;
	free(cut->node);
	free(cut->queue);
	free(cut->arc);
	free(cut);
}

static u64 capped_sum(u64 a, u64 b)
{
	return min(a + min(b, NPU_CUT_NEVER), NPU_CUT_NEVER);
}

void npu_cut_cost(struct npu_cut *cut, u32 node, u64 first, u64 second)
{
	struct node *n = &cut->node[node];

	/* On the first side it is cut from the second one, and the other way round. */
	n->into = capped_sum(n->into, first);
	n->from = capped_sum(n->from, second);
}

static void add_arc(struct npu_cut *cut, u32 owner, u32 to, u64 room)
{
	cut->arc[cut->arc_count] = (struct arc){ to, cut->node[owner].arc, room };
	cut->node[owner].arc = cut->arc_count++;
}

int npu_cut_pair(struct npu_cut *cut, u32 a, u32 b, u64 ab, u64 ba)
{
	if (cut->arc_count + 2 > cut->arc_room) {
		u32 room = 2 * cut->arc_room + 64;
		struct arc *arc = reallocarray(cut->arc, room, sizeof(*arc));

		if (!arc)
			return -ENOMEM;
		cut->arc = arc;
		cut->arc_room = room;
	}
	add_arc(cut, a, b, min(ab, NPU_CUT_NEVER));
	add_arc(cut, b, a, min(ba, NPU_CUT_NEVER));
	return 0;
}

/* Puts the nodes that the first side still reaches directly into the queue. */
static u32 start(struct npu_cut *cut)
{
	u32 i, count = 0;

	for (i = 0; i < cut->node_count; i++) {
		cut->node[i].seen = cut->node[i].from != 0;
		cut->node[i].via = NONE;
		if (cut->node[i].seen)
			cut->queue[count++] = i;
	}
	return count;
}

/* The last node of a shortest path from the first side to the second one; NONE: there is none. */
static u32 find_path(struct npu_cut *cut)
{
	u32 count = start(cut), i, a;

	for (i = 0; i < count; i++) {
		u32 at = cut->queue[i];

		if (cut->node[at].into)
			return at;
		for (a = cut->node[at].arc; a != NONE; a = cut->arc[a].next) {
			struct node *next = &cut->node[cut->arc[a].to];

			if (!cut->arc[a].room || next->seen)
				continue;
			next->seen = true;
			next->via = a;
			cut->queue[count++] = cut->arc[a].to;
		}
	}
	return NONE;
}

/* As much as fits along the path that ends at node @last. */
static void push(struct npu_cut *cut, u32 last)
{
	u64 flow = cut->node[last].into;
	u32 at = last, a;

	for (; (a = cut->node[at].via) != NONE; at = cut->arc[a ^ 1].to)
		flow = min(flow, cut->arc[a].room);
	flow = min(flow, cut->node[at].from);
	cut->node[at].from -= flow;
	cut->node[last].into -= flow;
	for (at = last; (a = cut->node[at].via) != NONE; at = cut->arc[a ^ 1].to) {
		cut->arc[a].room -= flow;
		cut->arc[a ^ 1].room += flow;
	}
}

/* What still reaches the second side, searched from there. */
static void mark_second(struct npu_cut *cut)
{
	u32 count = 0, i, a;

	for (i = 0; i < cut->node_count; i++) {
		cut->node[i].seen = cut->node[i].into != 0;
		if (cut->node[i].seen)
			cut->queue[count++] = i;
	}
	for (i = 0; i < count; i++)
		for (a = cut->node[cut->queue[i]].arc; a != NONE; a = cut->arc[a].next) {
			struct node *before = &cut->node[cut->arc[a].to];

			if (before->seen || !cut->arc[a ^ 1].room)
				continue;
			before->seen = true;
			cut->queue[count++] = cut->arc[a].to;
		}
}

void npu_cut_find(struct npu_cut *cut)
{
	u32 i, last;

	for (i = 0; i < cut->node_count; i++) {
		struct node *n = &cut->node[i];
		u64 both = min(n->from, n->into);

		n->from -= both;
		n->into -= both;
	}
	while ((last = find_path(cut)) != NONE)
		push(cut, last);
	mark_second(cut);
}

bool npu_cut_is_second(const struct npu_cut *cut, u32 node)
{
	return cut->node[node].seen;
}
