// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_cbuf.h"

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
	return (u32)DIV_ROUND_UP((u64)eps * h, (u64)cfg->entries);
}

u32 nvdla_cbuf_data_lines(const struct nvdla_config *cfg, u32 eps, u32 banks)
{
	return banks * cfg->entries / eps;
}

u64 nvdla_cbuf_weight_bytes(const struct nvdla_config *cfg, u32 k, u64 kernel_bytes)
{
	return DIV_ROUND_UP(k * kernel_bytes, (u64)cfg->entry_bytes) * cfg->entry_bytes;
}

u64 nvdla_cbuf_weight_banks(const struct nvdla_config *cfg, u64 bytes)
{
	return DIV_ROUND_UP(bytes, (u64)cfg->entries * cfg->entry_bytes);
}
