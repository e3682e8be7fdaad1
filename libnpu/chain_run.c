// SPDX-License-Identifier: MIT
#include <stdatomic.h>

#include "chain_run.h"

/* Every run of a chain has a number of its own. */
static u64 new_run(void)
{
	static atomic_ullong last;

	return atomic_fetch_add(&last, 1) + 1;
}

static struct nvdla_segment *free_segment(struct chain_run *run)
{
	u32 i = 0;

	while (run->segment[i].owner)
		i++;
	return &run->segment[i];
}

static bool takes_more(const struct nvdla_hw *hw)
{
	return !hw->segment[NVDLA_SEGMENTS - 1];
}

static int push(struct chain_run *run)
{
	u32 count = nvdla_chain_segment(run->chain, run->next);
	struct nvdla_segment *segment = free_segment(run);

	*segment = (struct nvdla_segment){
		.chain = run->chain,
		.region_base = run->region_base,
		.run = run->number,
		.first = run->next,
		.count = count,
		.serial = run->serial,
		.owner = run,
	};
	run->next += count;
	return nvdla_sequence_push(run->hw, segment);
}

static int advance(struct chain_run *run)
{
	int err = 0;

	while (!err && run->next < run->chain->task_count && takes_more(run->hw))
		err = push(run);
	if (err)
		return err;
	return run->completed == run->chain->task_count ? CHAIN_RUN_DONE : CHAIN_RUN_GOES_ON;
}

int chain_run_start(struct chain_run *run, struct nvdla_hw *hw, const struct nvdla_chain *chain,
		    const u64 *region_base, bool serial)
{
	bool overlap = false;
	int err;

	*run = (struct chain_run){ .hw = hw, .chain = chain, .region_base = region_base };
	if (chain->config != hw->config)
		return -EINVAL;
	err = nvdla_chain_bind(chain, region_base, &overlap);
	if (err)
		return err;
	run->serial = serial || overlap;
	run->number = new_run();
	return advance(run);
}

int chain_run_interrupt(struct chain_run *run)
{
	struct nvdla_segment *done[NVDLA_SEGMENTS];
	int err = nvdla_sequence_interrupt(run->hw, done);
	u32 i;

	for (i = 0; i < NVDLA_SEGMENTS && done[i]; i++) {
		run->completed += done[i]->count;
		run->writes += done[i]->writes;
		done[i]->owner = NULL;
	}
	return err ? err : advance(run);
}

int chain_run_abort(struct chain_run *run)
{
	struct nvdla_segment *lost[NVDLA_SEGMENTS];

	return nvdla_sequence_abort(run->hw, lost);
}

u32 chain_run_completed(const struct chain_run *run)
{
	u32 i, completed = run->completed;

	for (i = 0; i < NVDLA_SEGMENTS; i++)
		if (run->segment[i].owner)
			completed += run->segment[i].completed;
	return completed;
}
