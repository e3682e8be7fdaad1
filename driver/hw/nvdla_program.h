/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Register programmer: writes one task of a validated chain into the register
 * group that is free, and only what differs from that group's last use.
 */
#ifndef NVDLA_PROGRAM_H
#define NVDLA_PROGRAM_H

#include "nvdla_chain_check.h"

/**
 * struct nvdla_io - access to the register file of one device
 * @context: passed through
 * @read: value of the register at this byte offset
 * @write: write it
 * @reset: hardware reset: all register groups, pointers and the CBUF; NULL where there is none.
 *         Return 0 or a negative error.
 * @flush: called when a burst of writes is complete, where @write only collects them (@read must
 *         then send them first); NULL where each write goes out by itself
 */
struct nvdla_io {
	void *context;
	u32 (*read)(void *context, u32 reg);
	void (*write)(void *context, u32 reg, u32 value);
	int (*reset)(void *context);
	void (*flush)(void *context);
};

#define NVDLA_SHADOW_REGS 64 /* more words than any unit has registers */

/**
 * struct nvdla_shadow - what the registers are known to hold
 * @value: of each unit, register group and register (word offset in the unit)
 * @known: bit of each register whose value is known
 *
 * All zero: nothing is known.  S_ registers live in group 0.
 */
struct nvdla_shadow {
	u32 value[NVDLA_UNIT_COUNT][2][NVDLA_SHADOW_REGS];
	u64 known[NVDLA_UNIT_COUNT][2];
};

/* Forget everything: after a reset. */
void nvdla_shadow_clear(struct nvdla_shadow *shadow);

/**
 * nvdla_program_task() - write the D_ registers of one task
 * @io: device
 * @chain: validated
 * @task: index
 * @groups: register group to use, bit (1 << enum nvdla_unit) set: group 1 of that unit
 * @region_base: device address of each region of the chain
 * @shadow: what that device's registers hold; kept up to date
 *
 * The groups must be idle; nothing is enabled here.  S_POINTER is left at the group written.
 *
 * Return: number of register writes.
 */
u32 nvdla_program_task(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
		       u32 groups, const u64 *region_base, struct nvdla_shadow *shadow);

/**
 * nvdla_program_next_groups() - the groups in which an idle device runs the next operations
 *
 * Return: as @groups of nvdla_program_task().
 */
u32 nvdla_program_next_groups(const struct nvdla_io *io);

/**
 * nvdla_program_table() - write the contents of one look-up table
 * @task: that brings it in the stream
 * @table: 0 LE, 1 LO, of the unit that the task's tables are for
 *
 * They are not doubled: the unit must be idle.  Return: number of register writes.
 */
u32 nvdla_program_table(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
			u32 table);

/**
 * nvdla_program_lut_regs() - write the registers that say how a task uses the look-up tables
 *
 * Likewise.
 */
u32 nvdla_program_lut_regs(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
			   struct nvdla_shadow *shadow);

/**
 * nvdla_program_enable() - start a programmed task: consumers before producers
 * @groups, @shadow: as given to nvdla_program_task()
 *
 * Return: number of register writes.
 */
u32 nvdla_program_enable(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
			 u32 groups, struct nvdla_shadow *shadow);

#endif /* NVDLA_PROGRAM_H */
