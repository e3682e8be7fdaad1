/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Names for the register file, made from the one list in nvdla_regs.def:
 *
 *   NVDLA_<unit>_<register>                    byte offset in the register file
 *   NVDLA_GET(unit, register, field, value)    a field of a register's value
 *   NVDLA_SET(unit, register, field, x)        x placed into that field
 *   NVDLA_MASK(unit, register, field)          the bits of that field
 */
#ifndef NVDLA_REGS_H
#define NVDLA_REGS_H

#include "nvdla_types.h"

/* Unit bases; each unit has 4 KiB.  unit(name, base). */
#define NVDLA_UNITS(unit)                                                                      \
	unit(CFGROM, 0x0000) unit(GLB, 0x1000) unit(MCIF, 0x2000) unit(CDMA, 0x3000)           \
		unit(CSC, 0x4000) unit(CMAC_A, 0x5000) unit(CMAC_B, 0x6000) unit(CACC, 0x7000) \
			unit(SDP_RDMA, 0x8000) unit(SDP, 0x9000) unit(PDP_RDMA, 0xa000)        \
				unit(PDP, 0xb000) unit(CDP_RDMA, 0xc000) unit(CDP, 0xd000)     \
					unit(CVIF, 0xf000)

#define NVDLA_UNIT_BASE(name, base) NVDLA_##name##_BASE = (base),
enum nvdla_unit_base { NVDLA_UNITS(NVDLA_UNIT_BASE) };
#undef NVDLA_UNIT_BASE

#define NVDLA_UNIT_ID(name, base) NVDLA_UNIT_##name,
enum nvdla_unit { NVDLA_UNITS(NVDLA_UNIT_ID) NVDLA_UNIT_COUNT };
#undef NVDLA_UNIT_ID

#define NVDLA_UNIT_BYTES 0x1000u
#define NVDLA_REGS_BYTES 0x10000u

#define REG(unit, reg, offset, access, reset) NVDLA_##unit##_##reg = NVDLA_##unit##_BASE + (offset),
#define FIELD(unit, reg, field, lsb, width)
enum nvdla_reg {
#include "nvdla_regs.def"
};

#undef REG
#undef FIELD

#define REG(unit, reg, offset, access, reset)
#define FIELD(unit, reg, field, lsb, width)           \
	NVDLA_##unit##_##reg##_##field##_LSB = (lsb), \
	NVDLA_##unit##_##reg##_##field##_WIDTH = (width),
enum nvdla_field {
#include "nvdla_regs.def"
};

#undef REG
#undef FIELD

#define NVDLA_LSB(unit, reg, field) (NVDLA_##unit##_##reg##_##field##_LSB)
#define NVDLA_WIDTH(unit, reg, field) (NVDLA_##unit##_##reg##_##field##_WIDTH)
#define NVDLA_FIELD_MAX(unit, reg, field) ((u32)((1ull << NVDLA_WIDTH(unit, reg, field)) - 1))
#define NVDLA_MASK(unit, reg, field) \
	(NVDLA_FIELD_MAX(unit, reg, field) << NVDLA_LSB(unit, reg, field))
#define NVDLA_GET(unit, reg, field, value) \
	(((u32)(value) >> NVDLA_LSB(unit, reg, field)) & NVDLA_FIELD_MAX(unit, reg, field))
#define NVDLA_SET(unit, reg, field, x) \
	((NVDLA_FIELD_MAX(unit, reg, field) & (u32)(x)) << NVDLA_LSB(unit, reg, field))

/* GLB.S_INTR_STATUS, S_INTR_SET and S_INTR_MASK: the bit of group 0; group 1 is the next. */
enum nvdla_intr {
	NVDLA_INTR_SDP = 0,
	NVDLA_INTR_CDP = 2,
	NVDLA_INTR_PDP = 4,
	NVDLA_INTR_CDMA_DAT = 16,
	NVDLA_INTR_CDMA_WT = 18,
	NVDLA_INTR_CACC = 20,
};

/* One row for each register, sorted by offset: for names, traces and checks. */
struct nvdla_reg_info {
	const char *unit; /* "SDP" */
	const char *name; /* "D_CVT_OFFSET" */
	u32 offset; /* in the register file */
	u32 reset; /* value after reset */
	bool writable; /* false: software writes are ignored */
};

/* One row for each field, sorted by register offset. */
struct nvdla_field_info {
	u32 offset; /* of the register, in the register file */
	const char *name;
	u8 lsb;
	u8 width;
};

extern const struct nvdla_reg_info nvdla_reg_table[];
extern const u32 nvdla_reg_count;
extern const struct nvdla_field_info nvdla_field_table[];
extern const u32 nvdla_field_count;

/* The row of a register offset; NULL where there is no register. */
const struct nvdla_reg_info *nvdla_reg_find(u32 offset);

/* The bits of a register that hold a field; 0 where there is no register. */
u32 nvdla_reg_mask(u32 offset);

#endif /* NVDLA_REGS_H */
