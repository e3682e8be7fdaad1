// SPDX-License-Identifier: GPL-2.0-only
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_regdump.h"
#include "nvdla_regs.h"

/* Where the units with two register groups keep the pointer to the one that software sees. */
#define POINTER(unit)                                                            \
	{                                                                        \
		NVDLA_UNIT_##unit, NVDLA_##unit##_BASE, NVDLA_##unit##_S_POINTER \
	}

static const struct {
	u32 unit;
	u32 base;
	u32 pointer;
} units_with_groups[] = {
	POINTER(CDMA), POINTER(CSC),	  POINTER(CMAC_A), POINTER(CMAC_B),
	POINTER(CACC), POINTER(SDP_RDMA), POINTER(SDP),	   POINTER(PDP_RDMA),
	POINTER(PDP),  POINTER(CDP_RDMA), POINTER(CDP),
};

/* What reading would change, or what holds no state: look-up table ports and the ROM. */
static bool is_port(const struct nvdla_reg_info *reg)
{
	return reg->offset == NVDLA_SDP_S_LUT_ACCESS_DATA ||
	       reg->offset == NVDLA_CDP_S_LUT_ACCESS_DATA;
}

/* The registers of one unit that are doubled, or those that are not. */
static void print_unit(struct nvdla_device *nvdla, u32 base, bool doubled, u32 group,
		       struct drm_printer *p)
{
	u32 i;

	for (i = 0; i < nvdla_reg_count; i++) {
		const struct nvdla_reg_info *reg = &nvdla_reg_table[i];

		if ((reg->offset & ~(NVDLA_UNIT_BYTES - 1)) != base || is_port(reg) ||
		    (reg->name[0] == 'D') != doubled)
			continue;
		if (doubled)
			drm_printf(p, "%s.%s[%u] 0x%08x\n", reg->unit, reg->name, group,
				   nvdla_device_read(nvdla, reg->offset));
		else
			drm_printf(p, "%s.%s 0x%08x\n", reg->unit, reg->name,
				   nvdla_device_read(nvdla, reg->offset));
	}
}

static void write_pointer(struct nvdla_device *nvdla, u32 reg, u32 value)
{
	nvdla->hw.io.write(nvdla->hw.io.context, reg, value);
}

static void print_groups(struct nvdla_device *nvdla, u32 base, u32 pointer, struct drm_printer *p)
{
	u32 was = nvdla_device_read(nvdla, pointer);
	u32 group;

	print_unit(nvdla, base, false, 0, p);
	for (group = 0; group < 2; group++) {
		write_pointer(nvdla, pointer, NVDLA_SET(CDMA, S_POINTER, PRODUCER, group));
		print_unit(nvdla, base, true, group, p);
	}
	write_pointer(nvdla, pointer,
		      NVDLA_SET(CDMA, S_POINTER, PRODUCER,
				NVDLA_GET(CDMA, S_POINTER, PRODUCER, was)));
	nvdla_device_flush(nvdla);
}

void nvdla_regdump_shared(struct nvdla_device *nvdla, struct drm_printer *p)
{
	print_unit(nvdla, NVDLA_GLB_BASE, false, 0, p);
	print_unit(nvdla, NVDLA_MCIF_BASE, false, 0, p);
}

void nvdla_regdump_units(struct nvdla_device *nvdla, u32 units, struct drm_printer *p)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(units_with_groups); i++)
		if (units & 1u << units_with_groups[i].unit)
			print_groups(nvdla, units_with_groups[i].base, units_with_groups[i].pointer,
				     p);
}
