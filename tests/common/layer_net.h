/* SPDX-License-Identifier: MIT */
/*
 * Networks of one random layer, for tests of the planner.  Pseudo-random numbers
 * are our own, so that a failure can be repeated anywhere.
 */
#ifndef LAYER_NET_H
#define LAYER_NET_H

#include <stdio.h>
#include <string.h>

#include "npu_compiler.h"

static inline u32 next_random(u32 *state, u32 below)
{
	*state = *state * 1664525u + 1013904223u;
	return (u32)(((u64)(*state >> 4) * below) >> 28);
}

static inline u32 random_between(u32 *state, u32 low, u32 high)
{
	return low + next_random(state, high - low + 1);
}

/* One convolution and perhaps a pooling behind it. */
struct layer_numbers {
	u32 c, h, w, k, r, s, sy, sx, pt, pl, pb, pr, dy, dx, groups;
	u32 pool, pool_stride, pool_pad; /* 0: none */
};

/* The largest padding, at the end of a direction, that is still smaller than the kernel. */
static inline u32 padding_below(u32 *state, u32 kernel, u32 dilation)
{
	u32 span = (kernel - 1) * dilation + 1;

	return next_random(state, span < 32 ? span : 32);
}

static inline void random_padding(u32 *state, struct layer_numbers *n)
{
	n->pt = padding_below(state, n->r, n->dy);
	n->pl = padding_below(state, n->s, n->dx);
	n->pb = padding_below(state, n->r, n->dy);
	n->pr = padding_below(state, n->s, n->dx);
}

/* A 3 x 3 convolution whose output is as large as its input. */
static inline struct layer_numbers layer_3x3(u32 c, u32 h, u32 w, u32 k)
{
	return (struct layer_numbers){
		.c = c,
		.h = h,
		.w = w,
		.k = k,
		.r = 3,
		.s = 3,
		.sy = 1,
		.sx = 1,
		.pt = 1,
		.pl = 1,
		.pb = 1,
		.pr = 1,
		.dy = 1,
		.dx = 1,
		.groups = 1,
	};
}

/* Any layer of at most so many channels, and as many kernels, rows and columns. */
static inline void random_large(u32 *state, u32 channels, u32 rows, u32 cols,
				struct layer_numbers *n)
{
	*n = (struct layer_numbers){
		.c = random_between(state, 1, channels),
		.h = random_between(state, 1, rows),
		.w = random_between(state, 1, cols),
		.k = random_between(state, 1, channels),
		.r = random_between(state, 1, 7),
		.s = random_between(state, 1, 7),
		.sy = random_between(state, 1, 4),
		.sx = random_between(state, 1, 4),
		.dy = random_between(state, 1, 3),
		.dx = random_between(state, 1, 3),
		.groups = 1,
	};
	random_padding(state, n);
	if (next_random(state, 4) == 0) {
		n->groups = n->k = n->c;
	} else if (next_random(state, 3) == 0) {
		n->pool = random_between(state, 1, 4);
		n->pool_stride = random_between(state, 1, 4);
		n->pool_pad = next_random(state, n->pool);
	}
}

static inline u32 window_count(u32 in, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride)
{
	u32 span = (kernel - 1) * dilation + 1;

	return in + before + after < span ? 0 : (in + before + after - span) / stride + 1;
}

/* A list of layers that says the same; the pooling is the second one. */
static inline void layer_text(const struct layer_numbers *n, char *text, size_t size)
{
	u32 high = window_count(n->h, n->pt, n->pb, n->r, n->dy, n->sy);
	u32 wide = window_count(n->w, n->pl, n->pr, n->s, n->dx, n->sx);
	int used;

	used = snprintf(text, size,
			"name\top\tc\th\tw\tk\tr\ts\tsy\tsx\tpt\tpl\tpb\tpr\tdy\tdx\tgroups\n"
			"layer\tconv\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\n",
			n->c, n->h, n->w, n->k, n->r, n->s, n->sy, n->sx, n->pt, n->pl, n->pb,
			n->pr, n->dy, n->dx, n->groups);
	if (n->pool && (size_t)used < size)
		snprintf(
			text + used, size - (size_t)used,
			"pool\tpool_max\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t1\t1\t1\n",
			n->k, high, wide, n->k, n->pool, n->pool, n->pool_stride, n->pool_stride,
			n->pool_pad, n->pool_pad, n->pool_pad, n->pool_pad);
}

/* The pooling becomes a part of the convolution that may run on the fly. */
static inline void fuse_pool(struct npu_net *net)
{
	struct npu_layer *conv = &net->layer[0], *pool = &net->layer[1];

	conv->has_pool = true;
	conv->pool = pool->pool;
	conv->unpooled = conv->output;
	conv->output = pool->output;
	net->layer_count = 1;
}

/* NULL where the numbers make no layer. */
static inline struct npu_net *layer_net(const struct layer_numbers *n,
					const struct nvdla_config *config)
{
	struct npu_diag diag = { "" };
	struct npu_net *net;
	char text[512];

	layer_text(n, text, sizeof(text));
	if (npu_net_from_tsv(text, strlen(text), "layer", config, &net, &diag))
		return NULL;
	if (n->pool)
		fuse_pool(net);
	return net;
}

#endif /* LAYER_NET_H */
