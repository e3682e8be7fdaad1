// SPDX-License-Identifier: GPL-2.0-only
/* Reservations charged to cgroups: see the header. */
#include "nvdla_dmem.h"

#if defined(NVDLA_HAVE_CGROUP_DMEM) && IS_ENABLED(CONFIG_CGROUP_DMEM)

#include <linux/cgroup_dmem.h>

#include <drm/drm_drv.h>

#include "nvdla_device.h"

struct dmem_cgroup_region *nvdla_dmem_register(struct nvdla_device *nvdla)
{
	u64 size = nvdla_cbuf_bytes(nvdla->config);
#ifdef NVDLA_HAVE_CGROUP_DMEM_INIT
	const struct dmem_cgroup_init init = { .size = size };

	return drmm_cgroup_register_region(&nvdla->drm, "cbuf", &init);
#else
	return drmm_cgroup_register_region(&nvdla->drm, "cbuf", size);
#endif
}

void nvdla_dmem_uncharge(u32 bank_bytes, struct dmem_cgroup_pool_state **pool, u32 from, u32 to)
{
	while (to > from) {
		dmem_cgroup_uncharge(pool[--to], bank_bytes);
		pool[to] = NULL;
	}
}

int nvdla_dmem_charge(struct dmem_cgroup_region *region, u32 bank_bytes,
		      struct dmem_cgroup_pool_state **pool, u32 from, u32 to)
{
	u32 bank;
	int ret;

	for (bank = from; bank < to; bank++) {
		ret = dmem_cgroup_try_charge(region, bank_bytes, &pool[bank], NULL);
		if (!ret)
			continue;
		nvdla_dmem_uncharge(bank_bytes, pool, from, bank);
		return ret == -EAGAIN ? -EDQUOT : ret;
	}
	return 0;
}

#endif
