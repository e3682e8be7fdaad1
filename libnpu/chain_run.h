/* SPDX-License-Identifier: MIT */
/*
 * Runs one chain on a device that nobody else uses: gives the sequencer the chain's segments as it
 * takes them.  The caller waits for interrupts.
 */
#ifndef LIBNPU_CHAIN_RUN_H
#define LIBNPU_CHAIN_RUN_H

#include "nvdla_sequence.h"

/* Outcome of chain_run_start() and _interrupt(); errors are negative. */
enum chain_run_state {
	CHAIN_RUN_DONE = 0, /* all tasks done; the device is idle */
	CHAIN_RUN_GOES_ON = 1, /* call chain_run_interrupt() at the next interrupt */
};

/**
 * struct chain_run - one chain on its way
 * @hw: the device
 * @chain: validated for @hw->config
 * @region_base: device address of each region
 * @serial: never two tasks at once
 * @number: of this run, as its segments carry it
 * @segment: in the sequencer's hands
 * @next: first task that has not been given to the sequencer
 * @completed: tasks in segments that are done
 * @writes: register writes of these
 */
struct chain_run {
	struct nvdla_hw *hw;
	const struct nvdla_chain *chain;
	const u64 *region_base;
	bool serial;
	u64 number;
	struct nvdla_segment segment[NVDLA_SEGMENTS];
	u32 next;
	u32 completed;
	u64 writes;
};

/**
 * chain_run_start() - begin to run a chain
 * @run: caller's storage, lives until the chain is done or aborted; so do @chain and @region_base
 * @hw: idle device
 * @serial: true: one task at a time, always
 *
 * Return: CHAIN_RUN_GOES_ON, or the errors of nvdla_chain_bind() and nvdla_sequence_push().
 */
int chain_run_start(struct chain_run *run, struct nvdla_hw *hw, const struct nvdla_chain *chain,
		    const u64 *region_base, bool serial);

/**
 * chain_run_interrupt() - look at the interrupt status and go on
 *
 * Return: enum chain_run_state, or the errors of chain_run_start().
 */
int chain_run_interrupt(struct chain_run *run);

/* Give up a chain that hangs or failed: resets the device.  Return: as nvdla_hw_reset(). */
int chain_run_abort(struct chain_run *run);

/* Tasks that are done. */
u32 chain_run_completed(const struct chain_run *run);

#endif /* LIBNPU_CHAIN_RUN_H */
