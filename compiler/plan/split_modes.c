// SPDX-License-Identifier: MIT
/* What a tiling costs in each of the three modes, and the comparison with the best split so far. */
#include "split_search.h"

u64 npu_split_weights(const struct split_search *s, u32 first, u32 groups)
{
	return npu_split_weight_bytes(s->cfg, s->shape, first, groups);
}

u32 npu_split_fit(const struct split_search *s, u32 banks)
{
	u64 bytes = (u64)banks * s->cfg->entries * s->cfg->entry_bytes;
	u32 n;

	if (s->weight_bytes <= bytes)
		return s->groups;
	n = (u32)min(
		bytes / ((u64)s->shape->c * s->shape->taps_y * s->shape->taps_x * s->cfg->atomic_k),
		(u64)s->groups);
	/* A last group of few kernels may fit where a full one does not. */
	while (n && npu_split_weights(s, 0, n) > bytes)
		n--;
	return n;
}

static bool better(const struct npu_split *a, const struct npu_split *b)
{
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes;
	if (a->tasks != b->tasks)
		return a->tasks < b->tasks;
	/* Room for a further kernel group hides its fetch; more data banks do nothing here. */
	if (a->weight_banks != b->weight_banks)
		return a->weight_banks > b->weight_banks;
	return a->data_banks < b->data_banks;
}

/* Adds what is fetched again because runs end; false where they cannot. */
static bool add_cuts(struct split_search *s, const struct tiling *t, struct npu_split *split)
{
	struct npu_split at_work = *split;
	u64 again;

	if (split->tasks <= NPU_PASSES_RUN && s->shape->span_groups >= s->groups)
		return true;
	at_work.tile = t->tile;
	if (npu_passes_list(&s->space->passes, s->cfg, s->shape, &at_work)) {
		s->error = -ENOMEM;
		return false;
	}
	s->effort += s->space->passes.count;
	again = npu_passes_cut(&s->space->passes);
	s->bound |= again == NPU_PASS_BOUND;
	return !check_add_overflow(split->bytes, again, &split->bytes);
}

/* @weights: that stay from each piece to the next as long as the run lasts: they come back with each run. */
static void offer(struct split_search *s, const struct tiling *t, enum npu_split_mode mode,
		  u32 banks, u32 range, u32 tasks, u64 bytes, u64 weights)
{
	struct npu_split split = {
		.mode = mode,
		.data_banks = s->data_banks,
		.weight_banks = banks,
		.range = range,
		.tile = s->best_tile,
		.tile_count = t->count,
		.pieces = t->pieces,
		.tasks = tasks,
		.bytes = bytes + s->constant_bytes + t->pieces * s->table_bytes,
		.considered = s->best->considered + 1,
	};

	u64 again = (DIV_ROUND_UP(t->pieces, NPU_PASSES_RUN) - 1) * weights + t->again;

	s->effort++;
	split.bound_bytes = s->best->bound_bytes;
	s->best->considered = split.considered;
	split.bytes += again;
	if (!better(&split, s->best))
		return;
	split.bytes -= again;
	if (!add_cuts(s, t, &split) || !better(&split, s->best))
		return;
	memcpy(s->best_tile, t->tile, t->count * sizeof(*t->tile));
	*s->best = split;
}

void npu_split_offer_resident(struct split_search *s, const struct tiling *t, u32 banks)
{
	if (!t->singles || s->groups == 1)
		offer(s, t, NPU_SPLIT_RESIDENT, banks, s->groups, t->pieces,
		      t->bytes + s->weight_bytes, s->weight_bytes);
}

void npu_split_offer_stream(struct split_search *s, const struct tiling *t, u32 banks)
{
	/* Single atoms are written group by group, so their weights are fetched that way too. */
	u32 singles = s->groups > 1 ? t->singles : 0;
	u64 bytes = t->bytes + (t->pieces - singles) * s->weight_bytes + singles * s->group_sum;

	offer(s, t, NPU_SPLIT_STREAM, banks, 0, t->pieces + singles * (s->groups - 1), bytes, 0);
}

/* Weights of all ranges of @range groups, each rounded up to a whole entry. */
static u64 ranged_weights(const struct split_search *s, u32 range)
{
	u32 full = s->groups / range, rest = s->groups % range;
	u64 bytes;

	if (!rest)
		return (full - 1) * npu_split_weights(s, 0, range) +
		       npu_split_weights(s, s->groups - range, range);
	bytes = full * npu_split_weights(s, 0, range);
	return bytes + npu_split_weights(s, s->groups - rest, rest);
}

/* Of all ranges that make @passes of them the one with the least rounding. */
static u32 best_range(const struct split_search *s, u32 passes, u32 fit)
{
	u32 best = DIV_ROUND_UP(s->groups, passes), n;

	for (n = best + 1; n <= fit && DIV_ROUND_UP(s->groups, n) == passes; n++)
		if (ranged_weights(s, n) < ranged_weights(s, best))
			best = n;
	return best;
}

/*
 * Each range of kernels begins with the piece that the one before ended with, which is still in
 * the buffer, and goes round from there.
 */
void npu_split_offer_ranges(struct split_search *s, struct tiling *t, u32 banks, u32 fit)
{
	u32 passes, rest, range;
	u64 bytes, weights;

	if (t->pieces < 2 || s->groups < 2)
		return;
	/* Single atoms are written for one kernel group at a time. */
	fit = t->singles ? 1 : fit;
	passes = DIV_ROUND_UP(s->groups, fit);
	rest = passes - 1;
	if (!ROOM(s->space, tail, t->pieces + 1)) {
		s->error = -ENOMEM;
		return;
	}
	range = best_range(s, passes, fit);
	weights = ranged_weights(s, range);
	bytes = passes * t->bytes - rest / t->pieces * t->bytes -
		npu_split_tail_bytes(s, t, rest % t->pieces) + weights;
	offer(s, t, NPU_SPLIT_RANGES, banks, range, passes * t->pieces, bytes, weights);
}
