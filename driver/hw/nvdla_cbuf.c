// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_cbuf.h"

/*
 * Blocks of @size that hold @bytes.  Sizes of the buffer are powers of two: a shift does where a
 * 32-bit kernel lacks the division.
 */
static u64 blocks(u64 bytes, u32 size)
{
	return (bytes + size - 1) >> __builtin_ctz(size);
}

u32 nvdla_cbuf_feature_eps(const struct nvdla_config *cfg, u32 w, u32 c)
{
	u32 surfaces = DIV_ROUND_UP(c, (u32)cfg->atom);
	u32 per_entry = cfg->entry_bytes / cfg->atom;
	u32 last = surfaces % per_entry;

	/* Three atoms left of four take an entry each: the layout has no three-atom packing. */
	return surfaces / per_entry * w + (last == 3 ? w : DIV_ROUND_UP(last * w, per_entry));
}

u32 nvdla_cbuf_image_eps(const struct nvdla_config *cfg, u32 w, u32 bytes_per_pixel)
{
	return DIV_ROUND_UP(w * bytes_per_pixel, (u32)cfg->entry_bytes);
}

u32 nvdla_cbuf_data_banks(const struct nvdla_config *cfg, u32 eps, u32 h)
{
	return (u32)blocks((u64)eps * h, cfg->entries);
}

u32 nvdla_cbuf_data_lines(const struct nvdla_config *cfg, u32 eps, u32 banks)
{
	return banks * cfg->entries / eps;
}

u64 nvdla_cbuf_weight_bytes(const struct nvdla_config *cfg, u32 k, u64 kernel_bytes)
{
	return blocks(k * kernel_bytes, cfg->entry_bytes) * cfg->entry_bytes;
}

u32 nvdla_cbuf_group_entries(const struct nvdla_config *cfg, u32 k, u32 kernel_bytes)
{
	u32 start = 0, most = 0;

	/* Where a group starts in an entry repeats as soon as one starts at its begin again. */
	do {
		u32 group = min(k, (u32)cfg->atomic_k);
		u32 end = start + group * kernel_bytes;

		most = max(most, (u32)blocks(end, cfg->entry_bytes));
		start = end & (cfg->entry_bytes - 1u);
		k -= group;
	} while (k && start);
	return most;
}

u64 nvdla_cbuf_weight_banks(const struct nvdla_config *cfg, u64 bytes)
{
	return blocks(bytes, (u32)cfg->entries * cfg->entry_bytes);
}
