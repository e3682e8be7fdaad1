// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_regs.h"

#define RW true
#define RO false
#define REG(unit, reg, offset, access, reset) { #unit, #reg, NVDLA_##unit##_##reg, reset, access },
#define FIELD(unit, reg, field, lsb, width)
const struct nvdla_reg_info nvdla_reg_table[] = {
#include "nvdla_regs.def"
};

#undef REG
#undef FIELD
#undef RW
#undef RO

#define REG(unit, reg, offset, access, reset)
#define FIELD(unit, reg, field, lsb, width) { NVDLA_##unit##_##reg, #field, lsb, width },
const struct nvdla_field_info nvdla_field_table[] = {
#include "nvdla_regs.def"
};

#undef REG
#undef FIELD

const u32 nvdla_reg_count = ARRAY_SIZE(nvdla_reg_table);
const u32 nvdla_field_count = ARRAY_SIZE(nvdla_field_table);

const struct nvdla_reg_info *nvdla_reg_find(u32 offset)
{
	u32 low = 0, high = nvdla_reg_count;

	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (nvdla_reg_table[mid].offset == offset)
			return &nvdla_reg_table[mid];
		if (nvdla_reg_table[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

u32 nvdla_reg_mask(u32 offset)
{
	u32 low = 0, high = nvdla_field_count, mask = 0;

	/* The first field at or after the offset. */
	while (low < high) {
		u32 mid = low + (high - low) / 2;

		if (nvdla_field_table[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < nvdla_field_count && nvdla_field_table[low].offset == offset; low++) {
		const struct nvdla_field_info *f = &nvdla_field_table[low];

		mask |= (u32)(((1ull << f->width) - 1) << f->lsb);
	}
	return mask;
}
