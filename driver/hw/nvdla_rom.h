/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The configuration ROM: by which words a device says which configuration it is.
 */
#ifndef NVDLA_ROM_H
#define NVDLA_ROM_H

#include "nvdla_config.h"
#include "nvdla_regs.h"

/**
 * struct nvdla_rom_mismatch - why a ROM is not that of a configuration
 * @config: the one that comes nearest
 * @name: of the word, e.g. "CDMA_BASE_ATOMIC_C"
 * @reg: its offset in the register file
 * @value: what it reads
 * @expected: what @config has there
 */
struct nvdla_rom_mismatch {
	const struct nvdla_config *config;
	const char *name;
	u32 reg;
	u32 value;
	u32 expected;
};

/* Value of the ROM word at @reg in that configuration; 0 where there is no such word. */
u32 nvdla_rom_value(const struct nvdla_config *cfg, u32 reg);

/**
 * nvdla_rom_identify() - which configuration is it?
 * @read: value of the register at this byte offset
 * @context: for @read
 * @mismatch: filled where it is none
 *
 * Return: the row that agrees in every word that tells configurations apart, or NULL.
 */
const struct nvdla_config *nvdla_rom_identify(u32 (*read)(void *context, u32 reg), void *context,
					      struct nvdla_rom_mismatch *mismatch);

#endif /* NVDLA_ROM_H */
