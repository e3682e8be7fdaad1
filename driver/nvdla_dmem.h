/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The convolution buffer as a region of the cgroup controller "dmem", which not all
 * kernels have.  Banks are charged one by one: what is charged in one piece can only be
 * given back in one piece.
 */
#ifndef NVDLA_DMEM_H
#define NVDLA_DMEM_H

#include <linux/types.h>

struct dmem_cgroup_pool_state;
struct dmem_cgroup_region;
struct nvdla_device;

#if defined(NVDLA_HAVE_CGROUP_DMEM) && IS_ENABLED(CONFIG_CGROUP_DMEM)

/* The region of @nvdla, until its DRM device is released; an ERR_PTR() on failure. */
struct dmem_cgroup_region *nvdla_dmem_register(struct nvdla_device *nvdla);

/**
 * nvdla_dmem_charge() - charge banks to the cgroup of the current task
 * @region: where they are
 * @bank_bytes: size of a bank
 * @pool: one for each bank: receives whom it was charged to
 * @from, @to: banks [from, to) are charged
 *
 * Return: 0; -EDQUOT: over the cgroup's limit; -ENOMEM.  On failure none is charged.
 */
int nvdla_dmem_charge(struct dmem_cgroup_region *region, u32 bank_bytes,
		      struct dmem_cgroup_pool_state **pool, u32 from, u32 to);

/* Gives banks [from, to) back to whom they were charged to. */
void nvdla_dmem_uncharge(u32 bank_bytes, struct dmem_cgroup_pool_state **pool, u32 from, u32 to);

#else

static inline struct dmem_cgroup_region *nvdla_dmem_register(struct nvdla_device *nvdla)
{
	return NULL;
}

static inline int nvdla_dmem_charge(struct dmem_cgroup_region *region, u32 bank_bytes,
				    struct dmem_cgroup_pool_state **pool, u32 from, u32 to)
{
	return 0;
}

static inline void nvdla_dmem_uncharge(u32 bank_bytes, struct dmem_cgroup_pool_state **pool,
				       u32 from, u32 to)
{
}

#endif

#endif /* NVDLA_DMEM_H */
