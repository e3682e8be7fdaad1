// SPDX-License-Identifier: MIT
/*
 * A place in the arena for every value, or every band of it.  Two values may share bytes where they
 * are not alive at the same layer.  Placing them one by one, each as low as it
 * goes, gives different results in different orders: some good orders are tried,
 * then small changes of the best one, until the lower bound is reached or the
 * effort is spent.
 */
#include "memory.h"

#include "plan_internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* Cache lines of the CPU that converts layouts; a multiple of every configuration's atom. */
#define ALIGNMENT 64u
/* Pairs of values that the search may look at, over all orders. */
#define EFFORT 400000u
/* The same where items must not lie across spans: the bound is mostly out of reach then. */
#define EFFORT_IN_SPANS 40000u

u32 npu_value_root(const struct npu_net *net, u32 value, u64 *offset)
{
	*offset = 0;
	while (net->value[value].alias != NPU_NONE) {
		*offset += net->value[value].alias_offset;
		value = net->value[value].alias;
	}
	return value;
}

static void touch(const struct npu_net *net, struct npu_live *live, u32 value, u32 step)
{
	u64 offset;
	struct npu_live *l = &live[npu_value_root(net, value, &offset)];

	if (!l->used) {
		l->used = true;
		l->first = step;
	}
	l->first = min(l->first, step);
	l->last = max(l->last, step);
}

bool npu_layer_is_pooled(const struct npu_plan *plan, u32 layer)
{
	const struct npu_layer_plan *l = &plan->layer[layer];

	return l->task_count && plan->task[l->first_task].pooled;
}

/* What is between the layers of a unit has no place. */
static void touch_units(const struct npu_net *net, const struct npu_plan *plan,
			struct npu_live *live)
{
	u32 i, j;

	for (i = 0; i < plan->unit_count; i++) {
		const struct npu_cpu_unit *unit = &plan->unit[i];

		for (j = 0; j < unit->read_count; j++)
			touch(net, live, unit->read[j], unit->first);
		touch(net, live, unit->write, unit->first);
	}
}

void npu_plan_live(const struct npu_net *net, const struct npu_plan *plan, struct npu_live *live)
{
	u32 values[NPU_LAYER_MAX_VALUES], i, j, n;

	for (i = 0; i < net->value_count; i++)
		live[i] = (struct npu_live){ .used = false };
	for (i = 0; i < net->input_count; i++)
		touch(net, live, net->input[i], 0);
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer *layer = &net->layer[i];

		if (plan->layer[i].on_cpu)
			continue;
		n = npu_layer_reads(net, layer, values);
		for (j = 0; j < n; j++)
			touch(net, live, values[j], i);
		n = npu_layer_writes(net, layer, values);
		for (j = 0; j < n; j++)
			if (!layer->has_pool || values[j] != layer->unpooled ||
			    !npu_layer_is_pooled(plan, i))
				touch(net, live, values[j], i);
	}
	touch_units(net, plan, live);
	for (i = 0; i < net->output_count; i++)
		touch(net, live, net->output[i], net->layer_count ? net->layer_count - 1 : 0);
}

/**
 * struct item - a band of a value to be placed
 * @bytes: rounded up to the alignment
 */
struct item {
	u32 value, band;
	u32 first, last;
	u64 bytes;
	u64 offset;
};

struct packer {
	struct item *item;
	u32 count;
	u32 *order; /* of placing */
	u32 *best_order;
	u32 *placed; /* items so far, by offset */
	u64 *best; /* offsets */
	u64 best_bytes;
	u64 bound;
	u64 span; /* no item lies across a multiple of it */
};

/* The first place from @at on where @bytes lie in one piece of memory. */
static u64 in_one_span(const struct packer *p, u64 at, u64 bytes)
{
	u64 left = p->span - at % p->span;

	return bytes <= left ? at : at + left;
}

/* Lowest place where @it touches no item that is alive together with it. */
static u64 lowest_gap(const struct packer *p, u32 placed, const struct item *it)
{
	u64 at = 0;
	u32 i;

	for (i = 0; i < placed; i++) {
		const struct item *other = &p->item[p->placed[i]];

		if (other->last < it->first || it->last < other->first)
			continue;
		if (other->offset >= at + it->bytes)
			return at;
		at = in_one_span(p, max(at, other->offset + other->bytes), it->bytes);
	}
	return at;
}

/* Places all items in the order that p->order says; returns the bytes that they span. */
static u64 place(struct packer *p)
{
	u64 bytes = 0;
	u32 i, j;

	for (i = 0; i < p->count; i++) {
		struct item *it = &p->item[p->order[i]];

		it->offset = lowest_gap(p, i, it);
		bytes = max(bytes, it->offset + it->bytes);
		for (j = i; j && p->item[p->placed[j - 1]].offset > it->offset; j--)
			p->placed[j] = p->placed[j - 1];
		p->placed[j] = p->order[i];
	}
	return bytes;
}

static void keep_if_better(struct packer *p)
{
	u64 bytes = place(p);
	u32 i;

	if (bytes >= p->best_bytes)
		return;
	p->best_bytes = bytes;
	memcpy(p->best_order, p->order, p->count * sizeof(*p->order));
	for (i = 0; i < p->count; i++)
		p->best[i] = p->item[i].offset;
}

/* What to place first: larger keys. */
static u64 by_size(const struct item *it)
{
	return it->bytes;
}

static u64 by_length(const struct item *it)
{
	return it->last - it->first;
}

static u64 by_area(const struct item *it)
{
	return it->bytes * (it->last - it->first + 1);
}

static u64 by_start(const struct item *it)
{
	return UINT32_MAX - it->first;
}

static u64 (*const keys[])(const struct item *it) = { by_size, by_length, by_area, by_start };

/* Insertion sort: few items, and most orders are nearly sorted already. */
static void sort(struct packer *p, u64 (*key)(const struct item *it))
{
	u32 i, j;

	for (i = 0; i < p->count; i++)
		p->order[i] = i;
	for (i = 1; i < p->count; i++) {
		u32 index = p->order[i];
		u64 k = key(&p->item[index]);

		for (j = i; j && key(&p->item[p->order[j - 1]]) < k; j--)
			p->order[j] = p->order[j - 1];
		p->order[j] = index;
	}
}

static u32 next_random(u32 *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Moves single items to the front of the best order, as long as that may help. */
static void improve(struct packer *p)
{
	u32 effort = p->span == UINT64_MAX ? EFFORT : EFFORT_IN_SPANS;
	u32 tries = effort / (p->count * p->count + 1), state = 1, i;

	while (tries-- && p->best_bytes > p->bound) {
		u32 from = next_random(&state) % p->count, to = next_random(&state) % p->count;
		u32 moved;

		if (from < to) {
			u32 swap = from;

			from = to;
			to = swap;
		}
		memcpy(p->order, p->best_order, p->count * sizeof(*p->order));
		moved = p->order[from];
		for (i = from; i > to; i--)
			p->order[i] = p->order[i - 1];
		p->order[to] = moved;
		keep_if_better(p);
	}
}

static u64 lower_bound(const struct packer *p, u32 steps)
{
	u64 most = 0, sum;
	u32 step, i;

	for (step = 0; step < max(steps, 1u); step++) {
		for (sum = 0, i = 0; i < p->count; i++)
			if (p->item[i].first <= step && step <= p->item[i].last)
				sum += p->item[i].bytes;
		most = max(most, sum);
	}
	return most;
}

static void collect(struct packer *p, const struct npu_net *net, const struct npu_plan *plan,
		    const struct npu_live *live)
{
	u32 i, k;

	for (i = 0; i < net->value_count; i++)
		for (k = 0; live[i].used && k < plan->place[i].count; k++)
			p->item[p->count++] = (struct item){
				.value = i,
				.band = k,
				.first = live[i].first,
				.last = live[i].last,
				.bytes = DIV_ROUND_UP(npu_band_bytes(net, plan, i, k),
						      (u64)ALIGNMENT) *
					 ALIGNMENT,
			};
}

static int check_sizes(const struct packer *p, const struct npu_net *net, struct npu_diag *diag)
{
	u32 i;

	for (i = 0; i < p->count; i++)
		if (p->item[i].bytes > p->span)
			return npu_diag_set(diag, -EFBIG,
					    "%s needs %" PRIu64 " bytes in one piece, the device "
					    "can have %" PRIu64
					    ", and no row suits all of its layers to cut it",
					    net->value[p->item[i].value].name, p->item[i].bytes,
					    p->span);
	return 0;
}

static void pack(struct packer *p, const struct npu_net *net)
{
	u32 i;

	p->bound = lower_bound(p, net->layer_count);
	p->best_bytes = UINT64_MAX;
	for (i = 0; i < ARRAY_SIZE(keys) && p->best_bytes > p->bound; i++) {
		sort(p, keys[i]);
		keep_if_better(p);
	}
	if (p->count > 1)
		improve(p);
}

/* A part lies in the whole: at its bytes, or at its surfaces in each band. */
static void assign_part(const struct npu_net *net, struct npu_plan *plan, u32 part)
{
	u64 offset;
	u32 root = npu_value_root(net, part, &offset), i;
	struct npu_place *place = &plan->place[part], *whole = &plan->place[root];

	if (!whole->count)
		place->count = 0;
	for (i = 0; i < place->count; i++) {
		u64 in_band = offset;

		if (place->count > 1)
			in_band = offset / net->value[root].surface_stride *
				  whole->band[i].surface_stride;
		place->band[i].offset = whole->band[i].offset + in_band;
	}
}

static void assign(const struct packer *p, const struct npu_net *net, const struct npu_live *live,
		   struct npu_plan *plan)
{
	u32 i;

	for (i = 0; i < p->count; i++)
		plan->place[p->item[i].value].band[p->item[i].band].offset = p->best[i];
	for (i = 0; i < net->value_count; i++)
		if (!live[i].used && net->value[i].alias == NPU_NONE)
			plan->place[i].count = 0;
	for (i = 0; i < net->value_count; i++)
		if (net->value[i].alias != NPU_NONE)
			assign_part(net, plan, i);
	plan->arena_bytes = p->count ? p->best_bytes : 0;
	plan->arena_lower_bound = p->bound;
}

static u32 count_bands(const struct npu_net *net, const struct npu_plan *plan)
{
	u32 i, count = 0;

	for (i = 0; i < net->value_count; i++)
		if (net->value[i].alias == NPU_NONE)
			count += plan->place[i].count;
	return count;
}

int npu_plan_memory(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag)
{
	size_t n = max(count_bands(net, plan), 1u);
	struct npu_live *live = calloc(max(net->value_count, 1u), sizeof(*live));
	struct packer p = {
		.item = calloc(n, sizeof(*p.item)),
		.order = calloc(3 * n, sizeof(*p.order)),
		.best = calloc(n, sizeof(*p.best)),
		.span = npu_span_bytes(&plan->budget),
	};
	int err = -ENOMEM;

	if (live && p.item && p.order && p.best) {
		p.best_order = p.order + n;
		p.placed = p.order + 2 * n;
		npu_plan_live(net, plan, live);
		collect(&p, net, plan, live);
		err = check_sizes(&p, net, diag);
		if (!err) {
			pack(&p, net);
			assign(&p, net, live, plan);
		}
	} else {
		npu_diag_set(diag, err, "out of memory");
	}
	free(live);
	free(p.item);
	free(p.order);
	free(p.best);
	return err;
}
