/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Sequencer: runs the tasks of a validated chain on one device, two at a time
 * where the validator proved them independent.  No waiting here: the caller
 * calls at each interrupt (or polls) and owns time-outs and locks.
 *
 * Life of a device:
 *	nvdla_hw_init(hw, io, config)		once
 *	nvdla_sequence_start(seq, hw, ...)	per chain
 *	nvdla_sequence_interrupt(seq)		at each interrupt until it returns no NVDLA_SEQ_RUNNING
 *	nvdla_sequence_abort(seq)		instead, when a chain hangs; resets the device
 */
#ifndef NVDLA_SEQUENCE_H
#define NVDLA_SEQUENCE_H

#include "nvdla_program.h"

/**
 * struct nvdla_hw - state of one device that outlives a chain
 * @io: its registers
 * @config: its configuration, with its quirks
 * @shadow: what its registers hold
 * @groups: bit (1 << enum nvdla_unit) set: the unit's next operation runs in register group 1
 * @leaked_entries: CBUF weight entries lost since the last reset (NVDLA_QUIRK_LEAKED_WEIGHTS)
 * @flushed: CBUF has come out of the flush that follows a reset
 * @writes: register writes of all chains so far
 * @resets: resets so far
 */
struct nvdla_hw {
	struct nvdla_io io;
	const struct nvdla_config *config;
	struct nvdla_shadow shadow;
	u32 groups;
	u32 leaked_entries;
	bool flushed;
	u64 writes;
	u64 resets;
};

/**
 * nvdla_hw_init() - take over a device
 *
 * Resets it (io->reset, where there is one; else it must come straight from a reset), clears
 * and masks interrupts: only SDP, PDP and CDP raise the pin.
 *
 * Return: 0 or the error of io->reset.
 */
int nvdla_hw_init(struct nvdla_hw *hw, const struct nvdla_io *io,
		  const struct nvdla_config *config);

/* Reset the device and forget what was in it.  Return: 0, -EOPNOTSUPP without io->reset, or its error. */
int nvdla_hw_reset(struct nvdla_hw *hw);

/* What the sequencer tells about progress. */
enum nvdla_sequence_event {
	NVDLA_SEQ_TASK_ENABLED, /* handed to the hardware; it starts when its units are free */
	NVDLA_SEQ_TASK_DONE,
};

/**
 * struct nvdla_sequence_ops - optional calls back
 * @event: each task, in order; called from nvdla_sequence_start/_interrupt
 */
struct nvdla_sequence_ops {
	void (*event)(void *context, u32 task, enum nvdla_sequence_event event);
};

/* Outcome of nvdla_sequence_start() and _interrupt(); errors are negative. */
enum nvdla_sequence_state {
	NVDLA_SEQ_DONE = 0, /* all tasks done; the device is idle */
	NVDLA_SEQ_RUNNING = 1, /* call nvdla_sequence_interrupt() at the next interrupt */
};

/**
 * struct nvdla_sequence - one chain on its way
 * @hw: the device
 * @chain: validated for @hw->config
 * @region_base: device address of each region
 * @ops, @context: calls back; @ops may be NULL
 * @serial: never two tasks at once (regions share memory, or the caller wants it)
 * @programmed, @enabled, @completed: tasks so far; programmed >= enabled >= completed
 * @groups: register groups of the two tasks in flight, by task number modulo 2
 * @pending: done bits that these two still wait for
 * @writes: register writes of this chain
 */
struct nvdla_sequence {
	struct nvdla_hw *hw;
	const struct nvdla_chain *chain;
	u64 region_base[NVDLA_CHAIN_MAX_REGIONS];
	const struct nvdla_sequence_ops *ops;
	void *context;
	bool serial;
	u32 programmed;
	u32 enabled;
	u32 completed;
	u32 groups[2];
	u32 pending[2];
	u64 writes;
};

/**
 * nvdla_sequence_start() - begin to run a chain
 * @seq: caller's storage, lives until the chain is done or aborted
 * @hw: idle device
 * @chain: validated for @hw->config, lives as long
 * @region_base: device address of each region, multiples of @chain->alignment; copied
 * @ops: calls back, or NULL
 * @context: for these
 * @serial: true: one task at a time, always
 *
 * Regions may be bound to memory that overlaps; where one of them is written the chain then runs
 * one task at a time.
 *
 * Return: NVDLA_SEQ_RUNNING; -EINVAL: misaligned or beyond the device's address range;
 * -ETIMEDOUT: CBUF does not come out of its flush; or an error of io->reset.
 */
int nvdla_sequence_start(struct nvdla_sequence *seq, struct nvdla_hw *hw,
			 const struct nvdla_chain *chain, const u64 *region_base,
			 const struct nvdla_sequence_ops *ops, void *context, bool serial);

/**
 * nvdla_sequence_interrupt() - look at the interrupt status and go on
 *
 * May be called at any time, also without an interrupt.
 *
 * Return: NVDLA_SEQ_RUNNING, NVDLA_SEQ_DONE, or the errors of nvdla_sequence_start().
 */
int nvdla_sequence_interrupt(struct nvdla_sequence *seq);

/* Give up a chain that hangs or failed: resets the device.  Return: as nvdla_hw_reset(). */
int nvdla_sequence_abort(struct nvdla_sequence *seq);

#endif /* NVDLA_SEQUENCE_H */
