/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a chain may put into the registers, as tables: values of single fields, and fields that
 * have to agree.  What depends on more than that (geometry, extents, buffer, reuse) is in
 * nvdla_validate_*.c.
 */
#ifndef NVDLA_RULES_H
#define NVDLA_RULES_H

#include "nvdla_regs.h"

/**
 * struct nvdla_field_rule - values of one field
 * @reg, @lsb, @width: which
 * @low, @high: what every configuration allows
 * @feature: NVDLA_HAS_* of configurations that allow every value; 0: none
 * @rule: text for who breaks it
 */
struct nvdla_field_rule {
	u32 reg;
	u8 lsb;
	u8 width;
	u32 low;
	u32 high;
	u32 feature;
	const char *rule;
};

/*
 * Sorted by register.  Bits of a register without a row must be zero; without any row it is
 * refused.
 */
extern const struct nvdla_field_rule nvdla_field_rules[];
extern const u32 nvdla_field_rule_count;

/**
 * struct nvdla_equal_rule - two fields of a task that have to agree where both units run
 * @a_reg, @a_lsb, @a_width, @b_reg, @b_lsb, @b_width: which
 * @rule: text for who breaks it
 */
struct nvdla_equal_rule {
	u32 a_reg;
	u32 b_reg;
	u8 a_lsb;
	u8 a_width;
	u8 b_lsb;
	u8 b_width;
	const char *rule;
};

extern const struct nvdla_equal_rule nvdla_equal_rules[];
extern const u32 nvdla_equal_rule_count;

/* Low and high half of an address. */
struct nvdla_address_regs {
	u32 low;
	u32 high;
};

/* Every address that a chain can name, sorted by @low. */
extern const struct nvdla_address_regs nvdla_address_regs[];
extern const u32 nvdla_address_count;

/* The row of that low register; NULL where there is none. */
const struct nvdla_address_regs *nvdla_address_find(u32 low);

/* The unit of a register offset. */
static inline u32 nvdla_unit_of(u32 reg)
{
	u32 block = reg / NVDLA_UNIT_BYTES;

	/* The second memory interface is the only unit that does not follow its neighbour. */
	return block == NVDLA_CVIF_BASE / NVDLA_UNIT_BYTES ? (u32)NVDLA_UNIT_CVIF : block;
}

#endif /* NVDLA_RULES_H */
