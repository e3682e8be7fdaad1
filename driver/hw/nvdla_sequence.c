// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_sequence.h"

/* All that latches in GLB.S_INTR_STATUS but SDP, CDP and PDP: the pin stays low for these. */
#define QUIET_INTERRUPTS                                                                \
	(3u << NVDLA_INTR_CDMA_DAT | 3u << NVDLA_INTR_CDMA_WT | 3u << NVDLA_INTR_CACC | \
	 NVDLA_MASK(GLB, S_INTR_MASK, BDMA_DONE_MASK0) |                                \
	 NVDLA_MASK(GLB, S_INTR_MASK, BDMA_DONE_MASK1) |                                \
	 NVDLA_MASK(GLB, S_INTR_MASK, RUBIK_DONE_MASK0) |                               \
	 NVDLA_MASK(GLB, S_INTR_MASK, RUBIK_DONE_MASK1))

/* After a reset CBUF is cleared an entry a cycle: 32 banks of 512 at most.  A read takes longer. */
#define FLUSH_READS 16384

static u32 hw_read(const struct nvdla_hw *hw, u32 reg)
{
	return hw->io.read(hw->io.context, reg);
}

static void hw_write(struct nvdla_hw *hw, u32 reg, u32 value)
{
	hw->io.write(hw->io.context, reg, value);
	hw->writes++;
}

static void hw_flush(const struct nvdla_hw *hw)
{
	if (hw->io.flush)
		hw->io.flush(hw->io.context);
}

/* Bring the state to what a reset leaves. */
static void forget(struct nvdla_hw *hw)
{
	nvdla_shadow_clear(&hw->shadow);
	memset(hw->table, 0, sizeof(hw->table));
	hw->groups = 0;
	hw->leaked_entries = 0;
	hw->flushed = false;
	hw_write(hw, NVDLA_GLB_S_INTR_MASK, QUIET_INTERRUPTS);
	hw_write(hw, NVDLA_GLB_S_INTR_STATUS, 0xffffffff);
	hw_flush(hw);
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
	hw->groups = nvdla_program_next_groups(&hw->io);
	return 0;
}

static struct nvdla_hw_task *in_flight(struct nvdla_hw *hw, u32 number)
{
	return &hw->task[number % NVDLA_GROUPS];
}

static const struct nvdla_chain_task_info *task_info(const struct nvdla_hw_task *t)
{
	return &t->segment->chain->task[t->task];
}

static void report(struct nvdla_hw *hw, const struct nvdla_hw_task *t,
		   enum nvdla_sequence_event event)
{
	if (hw->event)
		hw->event(hw, t->segment, t->task, event);
}

static void count_writes(struct nvdla_hw *hw, const struct nvdla_hw_task *t, u32 writes)
{
	t->segment->writes += writes;
	hw->writes += writes;
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

/* Write a task's registers into the groups that its units use next. */
static void program(struct nvdla_hw *hw, struct nvdla_hw_task *t)
{
	t->groups = hw->groups;
	count_writes(hw, t,
		     nvdla_program_task(&hw->io, t->segment->chain, t->task, t->groups,
					t->segment->region_base, &hw->shadow));
	hw->groups ^= task_info(t)->units;
}

/* The first segment in flight that has tasks to program. */
static struct nvdla_segment *unprogrammed(const struct nvdla_hw *hw)
{
	u32 i;

	for (i = 0; i < NVDLA_SEGMENTS; i++)
		if (hw->segment[i] && hw->segment[i]->programmed < hw->segment[i]->count)
			return hw->segment[i];
	return NULL;
}

static bool program_next(struct nvdla_hw *hw)
{
	struct nvdla_hw_task *t = in_flight(hw, hw->programmed);
	struct nvdla_segment *segment = unprogrammed(hw);

	if (!segment || hw->programmed - hw->completed == NVDLA_GROUPS)
		return false;
	*t = (struct nvdla_hw_task){
		.segment = segment,
		.task = segment->first + segment->programmed,
	};
	program(hw, t);
	segment->programmed++;
	hw->programmed++;
	return true;
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
 * Would the weight banks last for the rest of the segment, in which no reset may come?  What one
 * task releases counts as lost for those behind it.
 */
static bool weights_last(const struct nvdla_hw *hw, const struct nvdla_hw_task *t)
{
	const struct nvdla_segment *segment = t->segment;
	u32 task, leaked = hw->leaked_entries;

	for (task = t->task; task < segment->first + segment->count; task++) {
		const struct nvdla_chain_task_info *info = &segment->chain->task[task];

		if (info->kind != NVDLA_CHAIN_CONV)
			continue;
		if (leaked + info->weight_need > (u32)info->weight_banks * hw->config->entries)
			return false;
		if (!(info->flags & NVDLA_TASK_KEEPS_WEIGHTS))
			leaked += info->weight_entries;
	}
	return true;
}

/*
 * Clock-gated silicon loses weight entries that are released while no further convolution is
 * queued.  Before they are all gone, reset, where nothing runs and nothing in CBUF is needed.
 */
static int mend_leak(struct nvdla_hw *hw, const struct nvdla_hw_task *t)
{
	u32 number;
	int err;

	if (!(hw->config->quirks & NVDLA_QUIRK_LEAKED_WEIGHTS) || !hw->leaked_entries ||
	    nvdla_hw_running(hw) || t->task != t->segment->first || weights_last(hw, t))
		return 0;
	err = nvdla_hw_reset(hw);
	if (err == -EOPNOTSUPP)
		return 0; /* it may last; if not, the caller's time-out tells */
	if (err)
		return err;
	for (number = hw->enabled; number != hw->programmed; number++)
		program(hw, in_flight(hw, number));
	return 0;
}

static void count_leak(struct nvdla_hw *hw, const struct nvdla_hw_task *t)
{
	const struct nvdla_chain_task_info *info = task_info(t);
	u32 next;

	if (info->kind != NVDLA_CHAIN_CONV || (info->flags & NVDLA_TASK_KEEPS_WEIGHTS))
		return;
	for (next = hw->completed; next != hw->enabled; next++)
		if (task_info(in_flight(hw, next))->kind == NVDLA_CHAIN_CONV)
			return;
	hw->leaked_entries += info->weight_entries;
}

/*
 * Look-up tables exist once and outlive a segment.  Those of this run of this chain are loaded
 * where the unit holds others: those of another chain, or none after a reset.
 */
static void load_tables(struct nvdla_hw *hw, const struct nvdla_hw_task *t)
{
	const struct nvdla_chain_task_info *info = task_info(t);
	struct nvdla_hw_table *held = hw->table[info->kind == NVDLA_CHAIN_CDP];
	u32 i;

	for (i = 0; i < NVDLA_LUT_TABLES; i++) {
		u32 task = info->table_task[i];

		if (task == NVDLA_CHAIN_NO_TASK ||
		    (held[i].run == t->segment->run && held[i].task == task))
			continue;
		count_writes(hw, t, nvdla_program_table(&hw->io, t->segment->chain, task, i));
		held[i] = (struct nvdla_hw_table){ .run = t->segment->run, .task = task };
	}
	count_writes(hw, t,
		     nvdla_program_lut_regs(&hw->io, t->segment->chain, t->task, &hw->shadow));
}

static int enable_next(struct nvdla_hw *hw)
{
	struct nvdla_hw_task *t = in_flight(hw, hw->enabled);
	const struct nvdla_chain_task_info *info = task_info(t);
	int err;

	if (info->kind == NVDLA_CHAIN_CONV) {
		err = mend_leak(hw, t);
		if (!err)
			err = wait_flush(hw);
		if (err)
			return err;
	}
	if (info->flags & NVDLA_TASK_LUT)
		load_tables(hw, t);
	t->pending = pending_bits(info, t->groups);
	t->segment->enabled++;
	hw->enabled++;
	report(hw, t, NVDLA_SEQ_TASK_ENABLED);
	count_writes(hw, t,
		     nvdla_program_enable(&hw->io, t->segment->chain, t->task, t->groups,
					  &hw->shadow));
	return 0;
}

/* May the next programmed task be enabled, alone or beside what runs? */
static bool may_enable(struct nvdla_hw *hw)
{
	const struct nvdla_hw_task *next = in_flight(hw, hw->enabled), *last;

	if (hw->enabled == hw->programmed)
		return false;
	if (!nvdla_hw_running(hw))
		return true;
	last = in_flight(hw, hw->enabled - 1);
	return next->segment->run == last->segment->run && next->task == last->task + 1 &&
	       !next->segment->serial && (task_info(next)->flags & NVDLA_TASK_OVERLAPS);
}

/* Keep the two register groups busy. */
static int advance(struct nvdla_hw *hw)
{
	int err = 0;

	while (!err) {
		if (may_enable(hw))
			err = enable_next(hw);
		else if (!program_next(hw))
			break;
	}
	hw_flush(hw);
	return err;
}

int nvdla_sequence_push(struct nvdla_hw *hw, struct nvdla_segment *segment)
{
	u32 i = 0;

	if (segment->chain->config != hw->config)
		return -EINVAL;
	while (i < NVDLA_SEGMENTS && hw->segment[i])
		i++;
	if (i == NVDLA_SEGMENTS)
		return -EBUSY;
	hw->segment[i] = segment;
	return advance(hw);
}

/* The oldest task is done. */
static void complete(struct nvdla_hw *hw)
{
	struct nvdla_hw_task *t = in_flight(hw, hw->completed);

	t->segment->completed++;
	hw->completed++;
	count_leak(hw, t);
	report(hw, t, NVDLA_SEQ_TASK_DONE);
}

/* Moves the segments that are done to @done. */
static void collect(struct nvdla_hw *hw, struct nvdla_segment *done[NVDLA_SEGMENTS])
{
	u32 i, left = 0, count = 0;

	for (i = 0; i < NVDLA_SEGMENTS; i++) {
		struct nvdla_segment *segment = hw->segment[i];

		hw->segment[i] = NULL;
		done[i] = NULL;
		if (segment && segment->completed == segment->count)
			done[count++] = segment;
		else if (segment)
			hw->segment[left++] = segment;
	}
}

int nvdla_sequence_interrupt(struct nvdla_hw *hw, struct nvdla_segment *done[NVDLA_SEGMENTS])
{
	u32 status = hw_read(hw, NVDLA_GLB_S_INTR_STATUS);
	u32 i;

	if (status)
		hw_write(hw, NVDLA_GLB_S_INTR_STATUS, status);
	for (i = 0; i < NVDLA_GROUPS; i++)
		hw->task[i].pending &= ~status;
	while (nvdla_hw_running(hw) && !in_flight(hw, hw->completed)->pending)
		complete(hw);
	collect(hw, done);
	return advance(hw);
}

int nvdla_sequence_abort(struct nvdla_hw *hw, struct nvdla_segment *lost[NVDLA_SEGMENTS])
{
	u32 i;

	for (i = 0; i < NVDLA_SEGMENTS; i++) {
		lost[i] = hw->segment[i];
		hw->segment[i] = NULL;
		if (lost[i] && !lost[i]->enabled)
			lost[i]->programmed = 0;
	}
	hw->enabled = hw->programmed;
	hw->completed = hw->programmed;
	return nvdla_hw_reset(hw);
}
