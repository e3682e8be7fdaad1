/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Sequencer: runs segments of validated chains on one device.  Two segments are in its hands at
 * most, and two tasks in the device's two register groups: while one task runs, the next one's
 * registers are written.  It is enabled early only where it follows in the same run of a chain and
 * the validator proved the two independent; it waits otherwise, so that work of another chain has
 * never begun when its neighbour hangs.
 *
 * No waiting here, no allocation: the caller calls at each interrupt (or polls) and owns time-outs
 * and the lock around every call.
 *
 * Life of a device:
 *	nvdla_hw_init(hw, io, config)		once, and when it has lost its state
 *	nvdla_sequence_push(hw, segment)	while fewer than NVDLA_SEGMENTS are in flight
 *	nvdla_sequence_interrupt(hw, done)	at each interrupt
 *	nvdla_sequence_abort(hw, lost)		when it hangs or a call failed: resets the device
 */
#ifndef NVDLA_SEQUENCE_H
#define NVDLA_SEQUENCE_H

#include "nvdla_program.h"
#include "nvdla_segment.h"

#define NVDLA_SEGMENTS 2 /* in flight at once */
#define NVDLA_GROUPS 2 /* register groups of each unit: tasks in flight at once */

struct nvdla_hw;

/* What the sequencer tells about progress. */
enum nvdla_sequence_event {
	NVDLA_SEQ_TASK_ENABLED, /* handed to the hardware; it starts when its units are free */
	NVDLA_SEQ_TASK_DONE, /* nothing but tasks of the same run has been enabled behind it */
};

/**
 * typedef nvdla_sequence_event_fn - called for each task, in order
 * @task: of @segment->chain
 *
 * Called from nvdla_sequence_push() and _interrupt(); must not call the sequencer.
 */
typedef void (*nvdla_sequence_event_fn)(struct nvdla_hw *hw, struct nvdla_segment *segment,
					u32 task, enum nvdla_sequence_event event);

/**
 * struct nvdla_hw_task - a task in the device's registers
 * @segment: it belongs to
 * @task: of the segment's chain
 * @groups: register groups that it is in: bit (1 << enum nvdla_unit) set: group 1
 * @pending: once enabled: done bits that it still waits for
 */
struct nvdla_hw_task {
	struct nvdla_segment *segment;
	u32 task;
	u32 groups;
	u32 pending;
};

/**
 * struct nvdla_hw_table - whose look-up table a unit holds
 * @run: run of a chain; 0: none
 * @task: of that chain, which brought it
 */
struct nvdla_hw_table {
	u64 run;
	u32 task;
};

/**
 * struct nvdla_hw - one device
 * @io: its registers
 * @config: its configuration, with its quirks
 * @event: told of progress; may be NULL; the caller sets it after nvdla_hw_init()
 * @shadow: what its registers hold
 * @groups: bit (1 << enum nvdla_unit) set: the unit's next operation runs in register group 1
 * @leaked_entries: CBUF weight entries lost since the last reset (NVDLA_QUIRK_LEAKED_WEIGHTS)
 * @flushed: CBUF has come out of the flush that follows a reset
 * @table: look-up tables of SDP and CDP
 * @segment: in flight, oldest first; NULL: free
 * @task: in flight, by number modulo NVDLA_GROUPS
 * @programmed, @enabled, @completed: numbers of tasks so far;
 *	completed + 2 >= programmed >= enabled >= completed
 * @writes: register writes so far
 * @resets: resets so far
 */
struct nvdla_hw {
	struct nvdla_io io;
	const struct nvdla_config *config;
	nvdla_sequence_event_fn event;
	struct nvdla_shadow shadow;
	u32 groups;
	u32 leaked_entries;
	bool flushed;
	struct nvdla_hw_table table[2][NVDLA_LUT_TABLES];
	struct nvdla_segment *segment[NVDLA_SEGMENTS];
	struct nvdla_hw_task task[NVDLA_GROUPS];
	u32 programmed;
	u32 enabled;
	u32 completed;
	u64 writes;
	u64 resets;
};

/**
 * nvdla_hw_init() - take over a device
 *
 * Resets it (io->reset, where there is one; else it must be idle, from a reset on or after whole
 * segments), clears and masks interrupts: only SDP, PDP and CDP raise the pin.
 *
 * Return: 0 or the error of io->reset.
 */
int nvdla_hw_init(struct nvdla_hw *hw, const struct nvdla_io *io,
		  const struct nvdla_config *config);

/**
 * nvdla_hw_reset() - reset an idle device and forget what was in it
 *
 * Return: 0, -EOPNOTSUPP without io->reset, or its error.
 */
int nvdla_hw_reset(struct nvdla_hw *hw);

/* Tasks that the device has been told to run and that are not done. */
static inline u32 nvdla_hw_running(const struct nvdla_hw *hw)
{
	return hw->enabled - hw->completed;
}

/**
 * nvdla_sequence_push() - put a segment behind what is in flight
 * @segment: of a chain that is validated for @hw->config and bound
 *
 * Return: 0; -EBUSY: NVDLA_SEGMENTS are in flight; -EINVAL: of another configuration.  With
 * -ETIMEDOUT (CBUF does not come out of its flush) or an error of io->reset the segment is in
 * flight but the device does not work: abort.
 */
int nvdla_sequence_push(struct nvdla_hw *hw, struct nvdla_segment *segment);

/**
 * nvdla_sequence_interrupt() - look at the interrupt status and go on
 * @done: receives the segments that are done, in order; NULL behind them
 *
 * May be called at any time, also without an interrupt.
 *
 * Return: 0 or the errors of nvdla_sequence_push() that ask for an abort; @done counts then too.
 */
int nvdla_sequence_interrupt(struct nvdla_hw *hw, struct nvdla_segment *done[NVDLA_SEGMENTS]);

/**
 * nvdla_sequence_abort() - reset the device and hand back what is in flight
 * @lost: receives the segments that are not done, in order; NULL behind them.  Those with
 *	@enabled == 0 have not begun and can be pushed again; for this all counts are zero then
 *
 * Return: as nvdla_hw_reset(); @lost counts also when the reset fails.
 */
int nvdla_sequence_abort(struct nvdla_hw *hw, struct nvdla_segment *lost[NVDLA_SEGMENTS]);

#endif /* NVDLA_SEQUENCE_H */
