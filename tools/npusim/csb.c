// SPDX-License-Identifier: MIT
/* The register file: configuration ROM, register groups, producer and consumer pointers. */
#include "nvdla_rom.h"
#include "sim_state.h"

#define UNIT(name) [SIM_##name] = { #name, NVDLA_##name##_BASE, NVDLA_##name##_D_OP_ENABLE }
const struct sim_unit_info sim_unit_info[SIM_UNITS] = {
	UNIT(CDMA), UNIT(CSC),	    UNIT(CMAC_A), UNIT(CMAC_B),	  UNIT(CACC), UNIT(SDP_RDMA),
	UNIT(SDP),  UNIT(PDP_RDMA), UNIT(PDP),	  UNIT(CDP_RDMA), UNIT(CDP),
};
#undef UNIT

/* Words of a unit that hold registers; all that follows is empty. */
#define SIM_UNIT_REGS 64

int sim_unit_of(u32 reg)
{
	u32 i;

	for (i = 0; i < SIM_UNITS; i++)
		if (sim_unit_info[i].base == (reg & ~(NVDLA_UNIT_BYTES - 1)))
			return (int)i;
	return -1;
}

void sim_csb_init(struct npusim *sim)
{
	u32 i;

	for (i = 0; i < nvdla_reg_count; i++) {
		const struct nvdla_reg_info *r = &nvdla_reg_table[i];
		u8 attr = SIM_ATTR_EXISTS;

		if (sim_unit_of(r->offset) >= 0 && r->name[0] == 'D')
			attr |= SIM_ATTR_DUAL;
		if (r->writable)
			attr |= SIM_ATTR_WRITABLE;
		sim->attr[r->offset / 4] = attr;
		sim->mask[r->offset / 4] = nvdla_reg_mask(r->offset);
	}
}

void sim_csb_reset(struct npusim *sim)
{
	u32 i;

	for (i = 0; i < nvdla_reg_count; i++) {
		const struct nvdla_reg_info *r = &nvdla_reg_table[i];
		u32 value = r->offset < NVDLA_GLB_BASE ? nvdla_rom_value(sim->config, r->offset)
						       : r->reset;

		sim->reg[0][r->offset / 4] = value;
		sim->reg[1][r->offset / 4] = value;
	}
	memset(sim->unit, 0, sizeof(sim->unit));
}

bool sim_unit_ready(const struct npusim *sim, enum sim_unit_id id)
{
	const struct sim_unit *u = &sim->unit[id];

	return !u->busy && u->enabled[u->consumer];
}

const struct npusim_regs *sim_unit_start(struct npusim *sim, enum sim_unit_id id)
{
	struct sim_unit *u = &sim->unit[id];
	u32 base = sim_unit_info[id].base / 4, i;

	for (i = 0; i < SIM_UNIT_REGS; i++) {
		u32 row = sim->attr[base + i] & SIM_ATTR_DUAL ? u->consumer : 0;

		u->regs.value[i] = sim->reg[row][base + i];
	}
	u->regs.group = u->consumer;
	u->busy = true;
	return &u->regs;
}

/* Running, waiting for its turn, or idle. */
static u32 group_status(const struct sim_unit *u, u32 group)
{
	if (!u->enabled[group])
		return 0;
	return u->consumer == group ? 1 : 2;
}

static u32 unit_status(const struct sim_unit *u)
{
	return group_status(u, 0) | group_status(u, 1) << 16;
}

/* Cycles from reset until CBUF has been cleared: half of it a cycle an entry's part. */
static bool cbuf_flushed(const struct npusim *sim)
{
	const struct nvdla_config *c = sim->config;
	u64 cycles = (u64)c->banks * c->entries / 2 * (c->entry_bytes / c->dbb_bytes);

	return sim->now - sim->epoch >= cycles;
}

static bool is_lut(u32 reg)
{
	return reg == NVDLA_SDP_S_LUT_ACCESS_CFG || reg == NVDLA_SDP_S_LUT_ACCESS_DATA ||
	       reg == NVDLA_CDP_S_LUT_ACCESS_CFG || reg == NVDLA_CDP_S_LUT_ACCESS_DATA;
}

static struct sim_lut *lut_of(struct npusim *sim, u32 reg)
{
	return reg >= NVDLA_CDP_BASE ? &sim->cdp_lut : &sim->sdp_lut;
}

static void unit_write(struct npusim *sim, enum sim_unit_id id, u32 reg, u32 value)
{
	struct sim_unit *u = &sim->unit[id];
	u32 low = reg & (NVDLA_UNIT_BYTES - 1);
	u8 attr = sim->attr[reg / 4];

	if (low == 4) { /* S_POINTER, at the same place in every unit */
		u->producer = value & 1;
		return;
	}
	if (!(attr & SIM_ATTR_DUAL)) {
		sim->reg[0][reg / 4] = value & sim->mask[reg / 4];
		return;
	}
	/* A group that runs or waits keeps its registers. */
	if (u->enabled[u->producer])
		return;
	if (reg == sim_unit_info[id].op_enable) {
		if (value & 1) {
			u->enabled[u->producer] = true;
			u->enabled_at[u->producer] = sim->now;
		}
		return;
	}
	sim->reg[u->producer][reg / 4] = value & sim->mask[reg / 4];
}

static u32 unit_read(struct npusim *sim, enum sim_unit_id id, u32 reg)
{
	const struct sim_unit *u = &sim->unit[id];
	u32 low = reg & (NVDLA_UNIT_BYTES - 1);

	if (low == 0)
		return unit_status(u);
	if (low == 4)
		return u->producer | (u32)u->consumer << 16;
	if (reg == NVDLA_CDMA_S_CBUF_FLUSH_STATUS)
		return cbuf_flushed(sim);
	if (!(sim->attr[reg / 4] & SIM_ATTR_DUAL))
		return sim->reg[0][reg / 4];
	if (reg == sim_unit_info[id].op_enable)
		return u->enabled[u->producer];
	return sim->reg[u->producer][reg / 4];
}

static bool absent(const struct npusim *sim, u32 reg)
{
	return reg >= NVDLA_REGS_BYTES || reg % 4 || !(sim->attr[reg / 4] & SIM_ATTR_EXISTS) ||
	       (reg >= NVDLA_CVIF_BASE && !(sim->config->features & NVDLA_HAS_CVIF));
}

void npusim_write(struct npusim *sim, u32 reg, u32 value)
{
	int id;

	sim_advance(sim, sim->now + SIM_CSB_CYCLES);
	if (absent(sim, reg) || !(sim->attr[reg / 4] & SIM_ATTR_WRITABLE))
		return;
	id = sim_unit_of(reg);
	if (is_lut(reg))
		sim_lut_write(lut_of(sim, reg), reg, value);
	else if (id >= 0)
		unit_write(sim, (enum sim_unit_id)id, reg, value);
	else if (sim_glb_owns(reg))
		sim_glb_write(&sim->glb, reg, value);
	else
		sim->reg[0][reg / 4] = value & sim->mask[reg / 4];
	/* Nothing but an enable can start an operation. */
	if (id >= 0 && reg == sim_unit_info[id].op_enable)
		sim_step(sim);
}

u32 npusim_read(struct npusim *sim, u32 reg)
{
	int id;

	sim_advance(sim, sim->now + SIM_CSB_CYCLES);
	if (absent(sim, reg))
		return 0;
	id = sim_unit_of(reg);
	if (is_lut(reg))
		return sim_lut_read(lut_of(sim, reg), reg);
	if (id >= 0)
		return unit_read(sim, (enum sim_unit_id)id, reg);
	if (sim_glb_owns(reg))
		return sim_glb_read(&sim->glb, reg);
	return sim->reg[0][reg / 4];
}
