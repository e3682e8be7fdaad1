/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One NPU: what all files of the driver share, whatever bus it sits on.
 */
#ifndef NVDLA_DEVICE_H
#define NVDLA_DEVICE_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/pm.h>

#include <drm/drm_device.h>

#include "nvdla_budget.h"
#include "nvdla_config.h"
#include "nvdla_gem.h"
#include "nvdla_netlink.h"
#include "nvdla_sched.h"
#include "nvdla_sequence.h"

struct nvdla_device;

/**
 * struct nvdla_reg_write - one register write of a burst
 * @reg: offset in the register file
 * @value: what is written there
 */
struct nvdla_reg_write {
	u32 reg;
	u32 value;
};

/* Writes that are collected before they go to the device in one go. */
#define NVDLA_WRITE_BURST 512

/**
 * struct nvdla_glue_ops - what a bus has to do for the driver
 * @read: value of a register
 * @write_batch: write registers in order; a later @read comes after them
 * @reset: hardware reset: all register groups, pointers and CBUF; returns 0 when it is over, or a
 *	negative error.  NULL: the bus cannot; then the device comes to probe from a reset or
 *	from nvdla_device_remove(), and @power_off loses nothing
 * @power_on: clocks, resets and power so that registers can be accessed; 0 or a negative error
 * @power_off: undoes @power_on
 * @dma_failed: did a memory access of the NPU fail since the last call?  NULL where the bus does
 *	not tell
 *
 * All are called where sleeping is allowed.  None is called on a device that is unplugged.
 */
struct nvdla_glue_ops {
	u32 (*read)(struct nvdla_device *nvdla, u32 reg);
	void (*write_batch)(struct nvdla_device *nvdla, const struct nvdla_reg_write *writes,
			    u32 count);
	int (*reset)(struct nvdla_device *nvdla);
	int (*power_on)(struct nvdla_device *nvdla);
	void (*power_off)(struct nvdla_device *nvdla);
	bool (*dma_failed)(struct nvdla_device *nvdla);
};

/**
 * struct nvdla_stats - what happened on a device since it was probed
 * @jobs: finished, whether well or not
 * @tasks: done
 * @timeouts: jobs that made no progress for too long
 * @resets: of the hardware, other than at probe and resume
 * @refused_chains: by the validator
 * @busy_ns: sum of the times in which at least one task was enabled
 */
struct nvdla_stats {
	atomic64_t jobs;
	atomic64_t tasks;
	atomic64_t timeouts;
	atomic64_t resets;
	atomic64_t refused_chains;
	atomic64_t busy_ns;
};

/**
 * struct nvdla_device - one NPU
 * @drm: its DRM device
 * @dev: the device on its bus
 * @glue: what that bus does
 * @glue_data: of the glue
 * @irq: Linux interrupt number
 * @config: row of the configuration table that the ROM was found to match
 * @hw_version: GLB.HW_VERSION
 * @sram_bytes: on-chip memory behind the second memory interface that chains may use; 0: none
 * @has_iommu: the device's accesses are translated
 * @lost: it has no power, its registers read as all ones, or no reset ends: nothing can run until
 * a reset does
 * @powered: its glue has switched it on; protected by @power_lock
 * @power_lock: held while it is switched
 * @look_again: jiffies before which nobody looks whether it is back; protected by @sched.hw_lock
 * @writes: register writes that are not yet with the device; protected by @sched.hw_lock
 * @write_count: how many
 * @hw: state of the register file; protected by @sched.hw_lock
 * @gem: buffers
 * @sched: queue of jobs
 * @budget: who may use how much of CBUF
 * @netlink: state of the netlink family for this device
 * @stats: counters
 */
struct nvdla_device {
	struct drm_device drm;
	struct device *dev;
	const struct nvdla_glue_ops *glue;
	void *glue_data;
	int irq;

	const struct nvdla_config *config;
	u32 hw_version;
	u64 sram_bytes;
	bool has_iommu;
	bool lost;
	bool powered;
	struct mutex power_lock; /* powered */
	unsigned long look_again;

	struct nvdla_reg_write writes[NVDLA_WRITE_BURST];
	u32 write_count;
	struct nvdla_hw hw;
	struct nvdla_gem gem;
	struct nvdla_sched sched;
	struct nvdla_budget budget;
	struct nvdla_netlink netlink;
	struct nvdla_stats stats;
};

static inline struct nvdla_device *to_nvdla(struct drm_device *drm)
{
	return container_of(drm, struct nvdla_device, drm);
}

/**
 * struct nvdla_glue - what a bus tells at probe
 * @ops: what it does
 * @data: for it
 * @irq: Linux interrupt number
 * @irq_flags: IRQF_* for request_threaded_irq()
 * @config_name: configuration that the bus says it is; NULL: the ROM tells alone
 */
struct nvdla_glue {
	const struct nvdla_glue_ops *ops;
	void *data;
	int irq;
	unsigned long irq_flags;
	const char *config_name;
};

/**
 * nvdla_device_probe() - the part of probe that all buses share
 * @dev: device on its bus
 * @glue: what the bus knows; copied
 *
 * On success the driver data of @dev is the new struct nvdla_device and /dev/accel/accelN is there.
 *
 * Return: 0; -ENODEV: not an NVDLA that this driver knows; or another negative error.
 */
int nvdla_device_probe(struct device *dev, const struct nvdla_glue *glue);

/**
 * nvdla_device_remove() - take the device away, also from those who use it
 * @dev: as given to nvdla_device_probe()
 *
 * Jobs that wait fail with -ENODEV; the one that runs is reset away.
 */
void nvdla_device_remove(struct device *dev);

/**
 * nvdla_device_read() - read a register
 * @nvdla: powered device; @sched.hw_lock is held
 * @reg: offset in the register file
 *
 * Writes that were collected go first.  A device that does not answer is marked as lost; what it
 * "reads" is 0, so that no caller takes all ones for interrupts.
 */
u32 nvdla_device_read(struct nvdla_device *nvdla, u32 reg);

/* Hand the collected register writes to a powered device; @sched.hw_lock is held. */
void nvdla_device_flush(struct nvdla_device *nvdla);

/*
 * Looks whether a lost device is back, by a reset, but not more often than every tenth of a second:
 * whoever submits all the time would otherwise keep it awake, and so lost until it resumes.  It is
 * resumed, and drm_dev_enter() was called.
 */
void nvdla_device_revive(struct nvdla_device *nvdla);

/* For the glue's struct device_driver; runtime and system sleep. */
extern const struct dev_pm_ops nvdla_device_pm_ops;

#endif /* NVDLA_DEVICE_H */
