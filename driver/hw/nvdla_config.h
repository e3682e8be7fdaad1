/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What distinguishes one member of the NVDLA 2 family from another.  One table
 * row describes a configuration; no other code may test for one by name.
 */
#ifndef NVDLA_CONFIG_H
#define NVDLA_CONFIG_H

#include "nvdla_types.h"

/* Optional parts (struct nvdla_config.features). */
#define NVDLA_HAS_EW BIT(0) /* SDP: the element-wise unit EW */
#define NVDLA_HAS_SDP_LUT BIT(1) /* SDP: look-up tables behind EW */
#define NVDLA_HAS_CVIF BIT(2) /* second memory interface */

/* Faults of the silicon that software has to work around (quirks). */
#define NVDLA_QUIRK_LEAKED_WEIGHTS BIT(0) /* clock-gated builds lose released weight entries */

/**
 * struct nvdla_config - one hardware configuration, all INT8
 * @name: as in nvdla/hw spec/defs, e.g. "nv_small"
 * @atomic_c: input channels that the MAC array reduces in one cycle
 * @atomic_k: kernels that it computes in one cycle = kernels in a kernel group
 * @atom: memory atom in bytes = channels in one surface
 * @banks: banks of the convolution buffer (CBUF)
 * @entry_bytes: bytes of one CBUF entry
 * @entries: entries in one bank
 * @bs_throughput, @bn_throughput, @ew_throughput: elements a cycle in SDP (0: no such unit)
 * @pdp_throughput, @cdp_throughput: elements a cycle
 * @dbb_bytes: bytes of one beat on the memory interface; alignment of every address
 * @burst: longest burst on the memory interface, in beats
 * @address_bits: bits of a memory address
 * @features: NVDLA_HAS_*
 * @quirks: NVDLA_QUIRK_*
 * @memory_latency: cycles of read latency that the DMA clients' FIFOs are sized to hide
 *
 * Source: nvdla/hw, branch master, spec/defs/<name>.spec.
 */
struct nvdla_config {
	const char *name;
	u16 atomic_c;
	u16 atomic_k;
	u16 atom;
	u16 banks;
	u16 entry_bytes;
	u16 entries;
	u8 bs_throughput;
	u8 bn_throughput;
	u8 ew_throughput;
	u8 pdp_throughput;
	u8 cdp_throughput;
	u8 dbb_bytes;
	u8 burst;
	u8 address_bits;
	u32 features;
	u32 quirks;
	u16 memory_latency;
};

extern const struct nvdla_config nvdla_configs[];
extern const u32 nvdla_config_count;

/* The row of that name; NULL where there is none. */
const struct nvdla_config *nvdla_config_find(const char *name);

/* Highest address, plus one where that fits 64 bits. */
static inline u64 nvdla_address_limit(const struct nvdla_config *cfg)
{
	return cfg->address_bits >= 64 ? ~(u64)0 : (u64)1 << cfg->address_bits;
}

/* Bytes of the whole convolution buffer. */
static inline u32 nvdla_cbuf_bytes(const struct nvdla_config *cfg)
{
	return (u32)cfg->banks * cfg->entries * cfg->entry_bytes;
}

#endif /* NVDLA_CONFIG_H */
