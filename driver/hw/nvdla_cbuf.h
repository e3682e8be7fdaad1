/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How much of the convolution buffer a convolution needs: the one owner of
 * these formulas.  Source: the entry layout that CDMA writes (nvdla/doc,
 * doc/hw/v1/ias/unit_description, CBUF) as confirmed on the RTL vectors.
 */
#ifndef NVDLA_CBUF_H
#define NVDLA_CBUF_H

#include "nvdla_config.h"

/* CDMA asks for weights by so many atoms, at addresses that are multiples of that. */
#define NVDLA_CBUF_REQUEST_ATOMS 8u

/* Bytes that region bases are multiples of: so offsets tell where weights lie among requests. */
static inline u32 nvdla_region_alignment(const struct nvdla_config *cfg)
{
	return (u32)cfg->atom * NVDLA_CBUF_REQUEST_ATOMS;
}

/* Entries that one line (slice) of a feature cube of @w x @c takes. */
u32 nvdla_cbuf_feature_eps(const struct nvdla_config *cfg, u32 w, u32 c);

/**
 * struct nvdla_pixel_format - a pixel format of one byte a channel
 * @format: its number
 * @bytes: of a pixel in the first plane
 * @uv_bytes: in the second one; 0: there is none
 */
struct nvdla_pixel_format {
	u8 format;
	u8 bytes;
	u8 uv_bytes;
};

/* The format of that number; NULL where there is none that INT8 builds read. */
const struct nvdla_pixel_format *nvdla_pixel_format_find(u32 format);

/* Entries that one line of pixels takes: @w pixels with the left and right padding counted in. */
u32 nvdla_cbuf_image_eps(const struct nvdla_config *cfg, u32 w, u32 bytes_per_pixel);

/* Banks that @h lines of @eps entries take. */
u32 nvdla_cbuf_data_banks(const struct nvdla_config *cfg, u32 eps, u32 h);

/* Lines of @eps entries that fit into @banks banks. */
u32 nvdla_cbuf_data_lines(const struct nvdla_config *cfg, u32 eps, u32 banks);

/*
 * Bytes of @k kernels of @kernel_bytes = C*R*S each, as D_WEIGHT_BYTES wants them: up to a whole
 * entry.
 */
u64 nvdla_cbuf_weight_bytes(const struct nvdla_config *cfg, u32 k, u64 kernel_bytes);

/*
 * Entries that weights need at least: those of the largest kernel group (@cfg->atomic_k kernels,
 * or all @k where they are fewer).  Groups are packed tight, so one that starts inside of an entry
 * can touch one entry more than its bytes fill; and CDMA asks for eight atoms at a time, at
 * multiples of that from @address on, so it may have to ask for more than the group (seen in the
 * RTL, NV_NVDLA_CDMA_wt).  Only the place of @address among eight atoms counts.
 */
u32 nvdla_cbuf_group_entries(const struct nvdla_config *cfg, u32 k, u32 kernel_bytes, u64 address);

/* Banks that @bytes of weights take. */
u64 nvdla_cbuf_weight_banks(const struct nvdla_config *cfg, u64 bytes);

#endif /* NVDLA_CBUF_H */
