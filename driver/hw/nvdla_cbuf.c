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

static const struct nvdla_pixel_format pixel_formats[] = {
	{ 0, 1, 0 }, /* R8 */
	{ 12, 4, 0 }, /* A8B8G8R8 */
	{ 13, 4, 0 }, /* A8R8G8B8 */
	{ 14, 4, 0 }, /* B8G8R8A8 */
	{ 15, 4, 0 }, /* R8G8B8A8 */
	{ 16, 4, 0 }, /* X8B8G8R8 */
	{ 17, 4, 0 }, /* X8R8G8B8 */
	{ 18, 4, 0 }, /* B8G8R8X8 */
	{ 19, 4, 0 }, /* R8G8B8X8 */
	{ 26, 4, 0 }, /* A8Y8U8V8 */
	{ 27, 4, 0 }, /* V8U8Y8A8 */
	{ 28, 1, 2 }, /* Y8, U8V8 */
	{ 29, 1, 2 }, /* Y8, V8U8 */
};

const struct nvdla_pixel_format *nvdla_pixel_format_find(u32 format)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pixel_formats); i++)
		if (pixel_formats[i].format == format)
			return &pixel_formats[i];
	return NULL;
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

/*
 * Entries that must be free of other weights for a group at byte @start up to @end: the entries
 * that it touches; or what CDMA has to ask for until the group is there, less what was given back
 * before (with the group in front also an entry that both share).  CDMA's count of free atoms is
 * generous by NVDLA_CBUF_REQUEST_ATOMS * atom / atomic_c.
 */
static u32 entries_for(const struct nvdla_config *cfg, u64 start, u64 end, u64 total, u32 phase)
{
	u32 per_entry = cfg->entry_bytes / cfg->atom;
	u32 generous = NVDLA_CBUF_REQUEST_ATOMS * cfg->atom / cfg->atomic_c;
	u64 first = blocks(start, cfg->entry_bytes);
	u64 atoms = blocks(end, cfg->entry_bytes) * per_entry;
	u64 all = blocks(total, cfg->entry_bytes) * per_entry;
	u64 asked = ((phase + atoms + NVDLA_CBUF_REQUEST_ATOMS - 1) &
		     ~(u64)(NVDLA_CBUF_REQUEST_ATOMS - 1)) -
		    phase;
	u32 touched =
		(u32)(blocks(end, cfg->entry_bytes) - (start >> __builtin_ctz(cfg->entry_bytes)));

	asked = min(asked, all);
	if (asked <= first * per_entry + generous)
		return touched;
	asked = blocks(asked - generous, per_entry) - first;
	return asked > touched ? (u32)asked : touched;
}

u32 nvdla_cbuf_group_entries(const struct nvdla_config *cfg, u32 k, u32 kernel_bytes, u64 address)
{
	u64 total = (u64)k * kernel_bytes, start = 0;
	u32 phase = (u32)(address >> __builtin_ctz(cfg->atom)) & (NVDLA_CBUF_REQUEST_ATOMS - 1),
	    most = 0;
	u32 groups = DIV_ROUND_UP(k, (u32)cfg->atomic_k), i;
	u64 whole = max((u32)cfg->entry_bytes, NVDLA_CBUF_REQUEST_ATOMS * cfg->atom);

	for (i = 0; i < groups; i++) {
		u64 end = min(start + (u64)kernel_bytes * cfg->atomic_k, total);

		most = max(most, entries_for(cfg, start, end, total, phase));
		start = end;
		/* It repeats, but for the last groups: these ask for no more than there is. */
		if (!(start & (whole - 1)) && i + NVDLA_CBUF_REQUEST_ATOMS < groups) {
			u32 skipped = groups - NVDLA_CBUF_REQUEST_ATOMS - i;

			i += skipped;
			start += (u64)skipped * kernel_bytes * cfg->atomic_k;
		}
	}
	return most;
}

u64 nvdla_cbuf_weight_banks(const struct nvdla_config *cfg, u64 bytes)
{
	return blocks(bytes, (u32)cfg->entries * cfg->entry_bytes);
}
