// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_program.h"
#include "nvdla_rules.h"
#include "nvdla_validate.h"

#define UNIT_REG(reg) ((reg) % NVDLA_UNIT_BYTES / 4)

/* Consumers before producers: whoever is enabled last finds everybody else waiting. */
static const struct unit_regs {
	u32 unit;
	u32 pointer;
	u32 enable;
} enable_order[] = {
#define UNIT(name)                                                                      \
	{                                                                               \
		NVDLA_UNIT_##name, NVDLA_##name##_S_POINTER, NVDLA_##name##_D_OP_ENABLE \
	}
	UNIT(PDP),  UNIT(PDP_RDMA), UNIT(SDP),	  UNIT(SDP_RDMA), UNIT(CDP),  UNIT(CDP_RDMA),
	UNIT(CACC), UNIT(CMAC_A),   UNIT(CMAC_B), UNIT(CSC),	  UNIT(CDMA),
#undef UNIT
};

void nvdla_shadow_clear(struct nvdla_shadow *shadow)
{
	memset(shadow->known, 0, sizeof(shadow->known));
}

u32 nvdla_program_next_groups(const struct nvdla_io *io)
{
	u32 i, groups = 0;

	for (i = 0; i < ARRAY_SIZE(enable_order); i++)
		groups |= NVDLA_GET(CDMA, S_POINTER, CONSUMER,
				    io->read(io->context, enable_order[i].pointer))
			  << enable_order[i].unit;
	return groups;
}

/* Write what is not known to be there already. */
static u32 write_changed(const struct nvdla_io *io, struct nvdla_shadow *shadow, u32 group, u32 reg,
			 u32 value)
{
	u32 unit = nvdla_unit_of(reg), index = UNIT_REG(reg);
	u64 bit = (u64)1 << index;

	if ((shadow->known[unit][group] & bit) && shadow->value[unit][group][index] == value)
		return 0;
	io->write(io->context, reg, value);
	shadow->known[unit][group] |= bit;
	shadow->value[unit][group][index] = value;
	return 1;
}

static bool reg_changed(const struct nvdla_shadow *shadow, u32 group, u32 reg, u32 value)
{
	u32 unit = nvdla_unit_of(reg), index = UNIT_REG(reg);

	return !(shadow->known[unit][group] >> index & 1) ||
	       shadow->value[unit][group][index] != value;
}

/* Select the group that the next writes of this unit go to. */
static u32 select_group(const struct nvdla_io *io, struct nvdla_shadow *shadow, u32 unit, u32 group)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(enable_order); i++)
		if (enable_order[i].unit == unit)
			return write_changed(io, shadow, 0, enable_order[i].pointer, group);
	return 0;
}

static u32 write_grouped(const struct nvdla_io *io, struct nvdla_shadow *shadow, u32 groups,
			 u32 reg, u32 value)
{
	u32 unit = nvdla_unit_of(reg), group = groups >> unit & 1;

	if (!reg_changed(shadow, group, reg, value))
		return 0;
	return select_group(io, shadow, unit, group) + write_changed(io, shadow, group, reg, value);
}

/* Registers of look-up tables come before D_OP_ENABLE and exist once. */
static bool reg_shared(u32 reg)
{
	return (reg >= NVDLA_SDP_BASE && reg < NVDLA_SDP_D_OP_ENABLE) ||
	       (reg >= NVDLA_CDP_BASE && reg < NVDLA_CDP_D_OP_ENABLE);
}

static u32 write_addresses(const struct nvdla_io *io, const struct nvdla_task_view *v, u32 groups,
			   const u64 *region_base, struct nvdla_shadow *shadow)
{
	u32 i, writes = 0;

	for (i = 0; i < v->addr_count; i++) {
		const u8 *p = v->addrs + i * sizeof(struct nvdla_chain_addr);
		u32 low = nvdla_le32(p + offsetof(struct nvdla_chain_addr, reg));
		u32 region = nvdla_le32(p + offsetof(struct nvdla_chain_addr, region));
		u64 address = region_base[region] +
			      nvdla_le64(p + offsetof(struct nvdla_chain_addr, offset));
		const struct nvdla_address_regs *regs = nvdla_address_find(low);

		writes += write_grouped(io, shadow, groups, regs->low, (u32)address);
		writes += write_grouped(io, shadow, groups, regs->high, (u32)(address >> 32));
	}
	return writes;
}

u32 nvdla_program_task(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
		       u32 groups, const u64 *region_base, struct nvdla_shadow *shadow)
{
	struct nvdla_task_view v;
	u32 i, last = 0, writes = 0;

	nvdla_view_open(&v, chain, task);
	/* The rules list every register that a chain may set; what it does not name is zero. */
	for (i = 0; i < nvdla_field_rule_count; i++) {
		u32 reg = nvdla_field_rules[i].reg;

		if (reg == last || reg_shared(reg) || !nvdla_view_runs(&v, nvdla_unit_of(reg)))
			continue;
		last = reg;
		writes += write_grouped(io, shadow, groups, reg, nvdla_view_reg(&v, reg));
	}
	return writes + write_addresses(io, &v, groups, region_base, shadow);
}

/* One table: the address counts up by itself. */
static u32 write_table(const struct nvdla_io *io, u32 access_cfg, u32 access_data, const u8 *lut)
{
	u32 table = nvdla_le32(lut + offsetof(struct nvdla_chain_lut, table));
	u32 count = nvdla_le32(lut + offsetof(struct nvdla_chain_lut, count));
	const u8 *entry = lut + offsetof(struct nvdla_chain_lut, entry);
	u32 i;

	io->write(io->context, access_cfg,
		  NVDLA_SET(SDP, S_LUT_ACCESS_CFG, LUT_ACCESS_TYPE, 1) |
			  NVDLA_SET(SDP, S_LUT_ACCESS_CFG, LUT_TABLE_ID, table));
	for (i = 0; i < count; i++)
		io->write(io->context, access_data, entry[2 * i] | (u32)entry[2 * i + 1] << 8);
	return 1 + count;
}

u32 nvdla_program_table(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
			u32 table)
{
	bool cdp = chain->task[task].kind == NVDLA_CHAIN_CDP;
	u32 cfg = cdp ? NVDLA_CDP_S_LUT_ACCESS_CFG : NVDLA_SDP_S_LUT_ACCESS_CFG;
	u32 data = cdp ? NVDLA_CDP_S_LUT_ACCESS_DATA : NVDLA_SDP_S_LUT_ACCESS_DATA;
	struct nvdla_task_view v;
	u32 i;

	nvdla_view_open(&v, chain, task);
	for (i = 0; i < v.lut_count; i++) {
		const u8 *lut = v.luts + i * sizeof(struct nvdla_chain_lut);

		if (nvdla_le32(lut + offsetof(struct nvdla_chain_lut, table)) == table)
			return write_table(io, cfg, data, lut);
	}
	return 0;
}

u32 nvdla_program_lut_regs(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
			   struct nvdla_shadow *shadow)
{
	bool cdp = chain->task[task].kind == NVDLA_CHAIN_CDP;
	u32 unit = cdp ? NVDLA_UNIT_CDP : NVDLA_UNIT_SDP;
	struct nvdla_task_view v;
	u32 i, last = 0, writes = 0;

	nvdla_view_open(&v, chain, task);
	for (i = 0; i < nvdla_field_rule_count; i++) {
		u32 reg = nvdla_field_rules[i].reg;

		if (reg == last || !reg_shared(reg) || nvdla_unit_of(reg) != unit)
			continue;
		last = reg;
		writes += write_changed(io, shadow, 0, reg, nvdla_view_reg(&v, reg));
	}
	return writes;
}

u32 nvdla_program_enable(const struct nvdla_io *io, const struct nvdla_chain *chain, u32 task,
			 u32 groups, struct nvdla_shadow *shadow)
{
	u32 i, writes = 0;

	for (i = 0; i < ARRAY_SIZE(enable_order); i++) {
		const struct unit_regs *u = &enable_order[i];

		if (!(chain->task[task].units >> u->unit & 1))
			continue;
		writes += write_changed(io, shadow, 0, u->pointer, groups >> u->unit & 1);
		io->write(io->context, u->enable, 1);
		writes++;
	}
	return writes;
}
