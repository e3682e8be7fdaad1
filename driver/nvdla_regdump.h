/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers as text, both groups: for debugfs and for dumps of a hang.
 */
#ifndef NVDLA_REGDUMP_H
#define NVDLA_REGDUMP_H

#include <linux/types.h>

struct drm_printer;
struct nvdla_device;

/**
 * nvdla_regdump_units() - print the registers of units that a task can run in
 * @nvdla: powered device; @sched.hw_lock is held
 * @units: bit (1 << enum nvdla_unit) for each unit that is wanted
 * @p: where to
 *
 * Lines of "unit.register[group] value".  Does not allocate by itself.  Leaves the device as it
 * was, for the sequencer too: the pointer to the group that software sees is put back.
 */
void nvdla_regdump_units(struct nvdla_device *nvdla, u32 units, struct drm_printer *p);

/* GLB and MCIF, in the same way. */
void nvdla_regdump_shared(struct nvdla_device *nvdla, struct drm_printer *p);

#endif /* NVDLA_REGDUMP_H */
