// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_sequence.h"

/* All that latches in GLB.S_INTR_STATUS but SDP, CDP and PDP: the pin stays low for these. */
#define QUIET_INTERRUPTS                                                                \
	(3u << NVDLA_INTR_CDMA_DAT | 3u << NVDLA_INTR_CDMA_WT | 3u << NVDLA_INTR_CACC | \
	 NVDLA_MASK(GLB, S_INTR_MASK, BDMA_DONE_MASK0) |                                \
	 NVDLA_MASK(GLB, S_INTR_MASK, BDMA_DONE_MASK1) |                                \
	 NVDLA_MASK(GLB, S_INTR_MASK, RUBIK_DONE_MASK0) |                               \
	 NVDLA_MASK(GLB, S_INTR_MASK, RUBIK_DONE_MASK1))

/* CBUF is cleared entry by entry after a reset: at most 32 banks of 512, a few reads each. */
#define FLUSH_READS 65536

static u32 hw_read(const struct nvdla_hw *hw, u32 reg)
{
	return hw->io.read(hw->io.context, reg);
}

static void hw_write(struct nvdla_hw *hw, u32 reg, u32 value)
{
	hw->io.write(hw->io.context, reg, value);
	hw->writes++;
}

/* Bring the state to what a reset leaves. */
static void forget(struct nvdla_hw *hw)
{
	nvdla_shadow_clear(&hw->shadow);
	hw->groups = 0;
	hw->leaked_entries = 0;
	hw->flushed = false;
	hw_write(hw, NVDLA_GLB_S_INTR_MASK, QUIET_INTERRUPTS);
	hw_write(hw, NVDLA_GLB_S_INTR_STATUS, 0xffffffff);
}

int nvdla_hw_reset(struct nvdla_hw *hw)
{
	int err;

	if (!hw->io.reset)
		return -EOPNOTSUPP;
	err = hw->io.reset(hw->io.context);
	if (err)
		return err;
	hw->resets++;
	forget(hw);
	return 0;
}

int nvdla_hw_init(struct nvdla_hw *hw, const struct nvdla_io *io, const struct nvdla_config *config)
{
	memset(hw, 0, sizeof(*hw));
	hw->io = *io;
	hw->config = config;
	if (hw->io.reset)
		return nvdla_hw_reset(hw);
	forget(hw);
	return 0;
}

static const struct nvdla_chain_task_info *task_info(const struct nvdla_sequence *seq, u32 task)
{
	return &seq->chain->task[task];
}

static void report(struct nvdla_sequence *seq, u32 task, enum nvdla_sequence_event event)
{
	if (seq->ops && seq->ops->event)
		seq->ops->event(seq->context, task, event);
}

static void count_writes(struct nvdla_sequence *seq, u32 writes)
{
	seq->writes += writes;
	seq->hw->writes += writes;
}

/* The status bits that a task waits for, in the register groups that it uses. */
static u32 pending_bits(const struct nvdla_chain_task_info *info, u32 groups)
{
	static const struct {
		u32 unit;
		u32 bit;
	} sources[] = {
		{ NVDLA_UNIT_SDP, NVDLA_INTR_SDP },
		{ NVDLA_UNIT_CDP, NVDLA_INTR_CDP },
		{ NVDLA_UNIT_PDP, NVDLA_INTR_PDP },
	};
	u32 i, bits = 0;

	for (i = 0; i < ARRAY_SIZE(sources); i++)
		if (info->done >> sources[i].bit & 1)
			bits |= 1u << (sources[i].bit + (groups >> sources[i].unit & 1));
	return bits;
}

/* Write the next task's registers into the groups that its units use next. */
static void program_next(struct nvdla_sequence *seq)
{
	struct nvdla_hw *hw = seq->hw;
	u32 task = seq->programmed++;
	u32 groups = hw->groups;

	count_writes(seq, nvdla_program_task(&hw->io, seq->chain, task, groups, seq->region_base,
					     &hw->shadow));
	seq->groups[task & 1] = groups;
	hw->groups ^= task_info(seq, task)->units;
}

/* After a reset CBUF flushes itself; a convolution must wait for it. */
static int wait_flush(struct nvdla_hw *hw)
{
	u32 i;

	for (i = 0; !hw->flushed && i < FLUSH_READS; i++)
		hw->flushed = NVDLA_GET(CDMA, S_CBUF_FLUSH_STATUS, FLUSH_DONE,
					hw_read(hw, NVDLA_CDMA_S_CBUF_FLUSH_STATUS));
	return hw->flushed ? 0 : -ETIMEDOUT;
}

/*
 * Would the weight banks last from this task on until the next one that may follow a reset?
 * What one task releases counts as lost for those behind it.
 */
static bool weights_last(const struct nvdla_sequence *seq, u32 task)
{
	u32 leaked = seq->hw->leaked_entries;

	do {
		const struct nvdla_chain_task_info *info = task_info(seq, task);

		if (info->kind != NVDLA_CHAIN_CONV)
			continue;
		if (leaked + info->weight_need > (u32)info->weight_banks * seq->hw->config->entries)
			return false;
		if (!(info->flags & NVDLA_TASK_KEEPS_WEIGHTS))
			leaked += info->weight_entries;
	} while (++task < seq->chain->task_count &&
		 (task_info(seq, task)->flags & NVDLA_TASK_REUSES));
	return true;
}

/* After a reset in the midst of a chain: the look-up tables as the tasks before left them. */
static void reload_tables(struct nvdla_sequence *seq, u32 task)
{
	struct nvdla_hw *hw = seq->hw;
	u32 i;

	for (i = 0; i < task; i++)
		if (task_info(seq, i)->flags & NVDLA_TASK_LUT)
			count_writes(seq, nvdla_program_lut(&hw->io, seq->chain, i, &hw->shadow));
}

/*
 * Clock-gated silicon loses weight entries that are released while no further convolution is
 * queued.  Before they are all gone, reset, where nothing runs and nothing in CBUF is needed.
 */
static int mend_leak(struct nvdla_sequence *seq, u32 task)
{
	struct nvdla_hw *hw = seq->hw;
	int err;

	if (!(hw->config->quirks & NVDLA_QUIRK_LEAKED_WEIGHTS) || !hw->leaked_entries ||
	    task != seq->completed || (task_info(seq, task)->flags & NVDLA_TASK_REUSES) ||
	    weights_last(seq, task))
		return 0;
	err = nvdla_hw_reset(hw);
	if (err == -EOPNOTSUPP)
		return 0; /* it may last; if not, the caller's time-out tells */
	if (err)
		return err;
	reload_tables(seq, task);
	seq->programmed = task;
	program_next(seq);
	return 0;
}

static void count_leak(struct nvdla_sequence *seq, u32 task)
{
	const struct nvdla_chain_task_info *info = task_info(seq, task);
	u32 next;

	if (info->kind != NVDLA_CHAIN_CONV || (info->flags & NVDLA_TASK_KEEPS_WEIGHTS))
		return;
	for (next = task + 1; next < seq->enabled; next++)
		if (task_info(seq, next)->kind == NVDLA_CHAIN_CONV)
			return;
	seq->hw->leaked_entries += info->weight_entries;
}

static int enable_next(struct nvdla_sequence *seq)
{
	struct nvdla_hw *hw = seq->hw;
	u32 task = seq->enabled;
	const struct nvdla_chain_task_info *info = task_info(seq, task);
	u32 groups;
	int err;

	if (info->kind == NVDLA_CHAIN_CONV) {
		err = mend_leak(seq, task);
		if (!err)
			err = wait_flush(hw);
		if (err)
			return err;
	}
	groups = seq->groups[task & 1];
	if (info->flags & NVDLA_TASK_LUT)
		count_writes(seq, nvdla_program_lut(&hw->io, seq->chain, task, &hw->shadow));
	seq->pending[task & 1] = pending_bits(info, groups);
	seq->enabled++;
	report(seq, task, NVDLA_SEQ_TASK_ENABLED);
	count_writes(seq, nvdla_program_enable(&hw->io, seq->chain, task, groups, &hw->shadow));
	return 0;
}

/* May the next programmed task be enabled beside what runs? */
static bool may_enable(const struct nvdla_sequence *seq)
{
	if (seq->enabled == seq->programmed)
		return false;
	if (seq->enabled == seq->completed)
		return true;
	return !seq->serial && (task_info(seq, seq->enabled)->flags & NVDLA_TASK_OVERLAPS);
}

/* Keep the two register groups busy. */
static int advance(struct nvdla_sequence *seq)
{
	const u32 count = seq->chain->task_count;
	int err;

	for (;;) {
		if (may_enable(seq)) {
			err = enable_next(seq);
			if (err)
				return err;
		} else if (seq->programmed < count && seq->programmed - seq->completed < 2) {
			program_next(seq);
		} else {
			return seq->completed == count ? NVDLA_SEQ_DONE : NVDLA_SEQ_RUNNING;
		}
	}
}

static bool touches(const struct nvdla_chain_region *r)
{
	return r->ports != 0;
}

static u64 region_end(const struct nvdla_chain_region *r)
{
	return max(r->read_end, r->write_end);
}

/* Does what the chain writes to region @a lie in memory that it also knows as region @b? */
static bool aliases(const struct nvdla_sequence *seq, u32 a, u32 b)
{
	const struct nvdla_chain_region *ra = &seq->chain->region[a];
	const struct nvdla_chain_region *rb = &seq->chain->region[b];

	if (ra->write_start == ra->write_end || !touches(rb))
		return false;
	return seq->region_base[a] + ra->write_start < seq->region_base[b] + region_end(rb) &&
	       seq->region_base[b] < seq->region_base[a] + ra->write_end;
}

static int bind_regions(struct nvdla_sequence *seq, const u64 *region_base)
{
	const struct nvdla_chain *chain = seq->chain;
	u32 i, k;
	u64 end;

	for (i = 0; i < chain->region_count; i++) {
		seq->region_base[i] = region_base[i];
		if (!touches(&chain->region[i]))
			continue;
		if ((region_base[i] & (chain->alignment - 1)) ||
		    check_add_overflow(region_base[i], region_end(&chain->region[i]), &end) ||
		    end > nvdla_address_limit(chain->config))
			return -EINVAL;
	}
	for (i = 0; i < chain->region_count; i++)
		for (k = 0; k < chain->region_count; k++)
			if (i != k && aliases(seq, i, k))
				seq->serial = true;
	return 0;
}

int nvdla_sequence_start(struct nvdla_sequence *seq, struct nvdla_hw *hw,
			 const struct nvdla_chain *chain, const u64 *region_base,
			 const struct nvdla_sequence_ops *ops, void *context, bool serial)
{
	int err;

	memset(seq, 0, sizeof(*seq));
	seq->hw = hw;
	seq->chain = chain;
	seq->ops = ops;
	seq->context = context;
	seq->serial = serial;
	if (chain->config != hw->config)
		return -EINVAL;
	err = bind_regions(seq, region_base);
	return err ? err : advance(seq);
}

int nvdla_sequence_interrupt(struct nvdla_sequence *seq)
{
	u32 status = hw_read(seq->hw, NVDLA_GLB_S_INTR_STATUS);

	if (status)
		hw_write(seq->hw, NVDLA_GLB_S_INTR_STATUS, status);
	seq->pending[0] &= ~status;
	seq->pending[1] &= ~status;
	while (seq->completed < seq->enabled && !seq->pending[seq->completed & 1]) {
		u32 task = seq->completed++;

		count_leak(seq, task);
		report(seq, task, NVDLA_SEQ_TASK_DONE);
	}
	return advance(seq);
}

int nvdla_sequence_abort(struct nvdla_sequence *seq)
{
	return nvdla_hw_reset(seq->hw);
}
