/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Segments: the pieces in which chains come to the hardware.  A segment is the longest run of
 * tasks that share content of CBUF; between two segments another chain's work can run.
 */
#ifndef NVDLA_SEGMENT_H
#define NVDLA_SEGMENT_H

#include "nvdla_chain_check.h"

/**
 * struct nvdla_segment - tasks of one run of a chain that stay together
 * @chain: validated
 * @region_base: device address of each region, as nvdla_chain_bind() accepted it
 * @run: tells this run of the chain from all others, ever; not 0
 * @first, @count: tasks
 * @serial: never two tasks at once (regions share memory, or the owner wants it)
 * @owner: the owner's
 * @programmed, @enabled, @completed: the sequencer's: tasks so far;
 *	programmed >= enabled >= completed
 * @writes: the sequencer's: register writes for it
 *
 * The owner fills in the upper part, and the zeros; it keeps all of it until the sequencer hands
 * the segment back.
 */
struct nvdla_segment {
	const struct nvdla_chain *chain;
	const u64 *region_base;
	u64 run;
	u32 first;
	u32 count;
	bool serial;
	void *owner;
	u32 programmed;
	u32 enabled;
	u32 completed;
	u64 writes;
};

/**
 * nvdla_chain_segment() - how many tasks from @first on form a segment
 * @first: the chain's first task, or the one behind a segment
 *
 * Return: at least 1.
 */
u32 nvdla_chain_segment(const struct nvdla_chain *chain, u32 first);

/**
 * nvdla_chain_bind() - can a chain run with its regions at these addresses?
 * @region_base: device address of each region
 * @serial: set where one region's memory is written as another region, too: the validator's proofs
 *	of independence do not hold then, and tasks have to run one by one
 *
 * Return: 0; -EINVAL: misaligned, or beyond what the device reaches.
 */
int nvdla_chain_bind(const struct nvdla_chain *chain, const u64 *region_base, bool *serial);

#endif /* NVDLA_SEGMENT_H */
