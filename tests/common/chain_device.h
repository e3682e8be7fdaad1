/* SPDX-License-Identifier: MIT */
/*
 * The device model behind the sequencer, for tests: one flat memory, the DMA guard on exactly the
 * bytes that the validator granted.
 */
#ifndef CHAIN_DEVICE_H
#define CHAIN_DEVICE_H

#include <stdlib.h>

#include "chain_run.h"
#include "npusim.h"

/**
 * struct chain_device - a simulated NPU and its memory
 * @base, @bytes: device addresses of the memory
 */
struct chain_device {
	struct npusim *sim;
	struct nvdla_hw hw;
	u64 base;
	size_t bytes;
	u8 *memory;
};

static inline int chain_device_copy(struct chain_device *dev, u64 addr, size_t len, u8 **at)
{
	if (addr < dev->base || addr - dev->base > dev->bytes ||
	    len > dev->bytes - (addr - dev->base))
		return -EFAULT;
	*at = dev->memory + (addr - dev->base);
	return 0;
}

static inline int chain_device_read(void *context, u64 addr, void *buf, size_t len)
{
	u8 *at;
	int err = chain_device_copy(context, addr, len, &at);

	if (!err)
		memcpy(buf, at, len);
	return err;
}

static inline int chain_device_write(void *context, u64 addr, const void *buf, size_t len)
{
	u8 *at;
	int err = chain_device_copy(context, addr, len, &at);

	if (!err)
		memcpy(at, buf, len);
	return err;
}

static inline u32 chain_device_get(void *context, u32 reg)
{
	return npusim_read(((struct chain_device *)context)->sim, reg);
}

static inline void chain_device_set(void *context, u32 reg, u32 value)
{
	npusim_write(((struct chain_device *)context)->sim, reg, value);
}

static inline int chain_device_reset(void *context)
{
	npusim_reset(((struct chain_device *)context)->sim);
	return 0;
}

static inline void chain_device_open(struct chain_device *dev, const struct nvdla_config *config,
				     u64 base, size_t bytes)
{
	struct npusim_options options = {
		.config = config,
		.clock_gated = config->quirks & NVDLA_QUIRK_LEAKED_WEIGHTS,
	};
	struct npusim_memory memory = {
		.context = dev,
		.read = chain_device_read,
		.write = chain_device_write,
	};
	struct nvdla_io io = {
		.context = dev,
		.read = chain_device_get,
		.write = chain_device_set,
		.reset = chain_device_reset,
	};

	memset(dev, 0, sizeof(*dev));
	dev->base = base;
	dev->bytes = bytes;
	dev->memory = calloc(1, bytes);
	dev->sim = npusim_create(&options, &memory);
	if (!dev->memory || !dev->sim || nvdla_hw_init(&dev->hw, &io, config))
		abort();
}

static inline void chain_device_close(struct chain_device *dev)
{
	npusim_destroy(dev->sim);
	free(dev->memory);
}

/*
 * Binds the regions, one after the other or all at the same place; @bytes: of memory that they take.
 * False where they do not fit.
 */
static inline bool chain_device_place(const struct chain_device *dev,
				      const struct nvdla_chain *chain, bool same, u64 *base,
				      size_t *bytes)
{
	u64 at = 0, most = 0;
	u32 i;

	for (i = 0; i < chain->region_count; i++) {
		const struct nvdla_chain_region *r = &chain->region[i];
		u64 end = max(r->read_end, r->write_end);

		base[i] = dev->base + at;
		most = max(most, at + end);
		if (most > dev->bytes)
			return false;
		if (same)
			continue;
		at = (most + chain->alignment - 1) / chain->alignment * chain->alignment;
	}
	*bytes = most;
	return true;
}

/* Does a task write what it reads?  When it reads it then depends on the time. */
static inline bool chain_writes_own_input(const struct nvdla_chain *chain, const u64 *base)
{
	u32 i, k, m;

	for (i = 0; i < chain->task_count; i++) {
		struct nvdla_chain_access a[NVDLA_CHAIN_MAX_ACCESSES];
		u32 n = nvdla_chain_accesses(chain, i, a);

		for (k = 0; k < n; k++)
			for (m = 0; m < n; m++)
				if (a[k].write && !a[m].write &&
				    nvdla_surface_overlap(
					    &a[k].surface, base[a[k].region] + a[k].offset,
					    &a[m].surface, base[a[m].region] + a[m].offset))
					return true;
	}
	return false;
}

/* Bytes to compute with, all of them different from their neighbours. */
static inline void chain_device_pattern(u8 *at, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		at[i] = (u8)(i * 37 + (i >> 8));
}

/* The bytes that the chain was granted, and no others. */
static inline int chain_device_guard(struct chain_device *dev, const struct nvdla_chain *chain,
				     const u64 *base)
{
	struct npusim_range range[2 * NVDLA_CHAIN_MAX_REGIONS];
	u32 i, n = 0;

	for (i = 0; i < chain->region_count; i++) {
		const struct nvdla_chain_region *r = &chain->region[i];

		if (r->read_start != r->read_end)
			range[n++] = (struct npusim_range){ base[i] + r->read_start,
							    r->read_end - r->read_start,
							    NPUSIM_GUARD_READ };
		if (r->write_start != r->write_end)
			range[n++] = (struct npusim_range){ base[i] + r->write_start,
							    r->write_end - r->write_start,
							    NPUSIM_GUARD_WRITE };
	}
	return npusim_guard(dev->sim, range, n);
}

/* Runs a validated chain to its end.  0; -EDEADLK where it hangs, -EACCES where DMA went astray. */
static inline int chain_device_run(struct chain_device *dev, const struct nvdla_chain *chain,
				   const u64 *base, bool serial)
{
	struct chain_run run;
	int state, err = chain_device_guard(dev, chain, base);

	if (err)
		return err;
	state = chain_run_start(&run, &dev->hw, chain, base, serial);
	while (state == CHAIN_RUN_GOES_ON) {
		if (!npusim_wait(dev->sim))
			return -EDEADLK;
		state = chain_run_interrupt(&run);
	}
	if (state < 0)
		return state;
	return npusim_fault(dev->sim)->error ? -EACCES : 0;
}

#endif /* CHAIN_DEVICE_H */
