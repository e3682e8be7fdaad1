// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_segment.h"

u32 nvdla_chain_segment(const struct nvdla_chain *chain, u32 first)
{
	bool kept = false;
	u32 task = first;

	/* What a convolution keeps stays until one keeps nothing, whatever runs in between. */
	do {
		const struct nvdla_chain_task_info *info = &chain->task[task];

		if (info->kind == NVDLA_CHAIN_CONV)
			kept = info->flags & NVDLA_TASK_KEEPS;
	} while (++task < chain->task_count && kept);
	return task - first;
}

static u64 region_end(const struct nvdla_chain_region *r)
{
	return max(r->read_end, r->write_end);
}

/* Does what the chain writes to region @a lie in memory that it also knows as region @b? */
static bool aliases(const struct nvdla_chain *chain, const u64 *region_base, u32 a, u32 b)
{
	const struct nvdla_chain_region *ra = &chain->region[a];
	const struct nvdla_chain_region *rb = &chain->region[b];

	if (ra->write_start == ra->write_end || !rb->ports)
		return false;
	return region_base[a] + ra->write_start < region_base[b] + region_end(rb) &&
	       region_base[b] < region_base[a] + ra->write_end;
}

int nvdla_chain_bind(const struct nvdla_chain *chain, const u64 *region_base, bool *serial)
{
	u32 i, k;
	u64 end;

	for (i = 0; i < chain->region_count; i++) {
		if (!chain->region[i].ports)
			continue;
		if ((region_base[i] & (chain->alignment - 1)) ||
		    check_add_overflow(region_base[i], region_end(&chain->region[i]), &end) ||
		    end > nvdla_address_limit(chain->config))
			return -EINVAL;
	}
	*serial = false;
	for (i = 0; i < chain->region_count; i++)
		for (k = 0; k < chain->region_count; k++)
			if (i != k && aliases(chain, region_base, i, k))
				*serial = true;
	return 0;
}
