// SPDX-License-Identifier: MIT
/* GLB: the interrupt status, mask and pin. */
#include "sim_state.h"

/* The bits that exist: SDP, CDP, PDP, CDMA data and weight, CACC, two groups each. */
#define INTR_BITS 0x003f003fu

void sim_glb_reset(struct npusim *sim)
{
	sim->intr_status = 0;
	sim->intr_mask = 0;
}

void sim_glb_raise(struct npusim *sim, u32 bit)
{
	sim->intr_status |= 1u << bit;
}

void sim_glb_write(struct npusim *sim, u32 reg, u32 value)
{
	switch (reg) {
	case NVDLA_GLB_S_INTR_MASK:
		sim->intr_mask = value & sim->mask[reg / 4];
		break;
	case NVDLA_GLB_S_INTR_SET:
		sim->intr_status |= value & INTR_BITS;
		break;
	case NVDLA_GLB_S_INTR_STATUS:
		sim->intr_status &= ~value;
		break;
	}
}

u32 sim_glb_read(struct npusim *sim, u32 reg)
{
	switch (reg) {
	case NVDLA_GLB_S_INTR_MASK:
		return sim->intr_mask;
	case NVDLA_GLB_S_INTR_STATUS:
		return sim->intr_status;
	case NVDLA_GLB_S_NVDLA_HW_VERSION:
		return sim->reg[0][reg / 4];
	}
	return 0;
}

bool npusim_irq(const struct npusim *sim)
{
	return sim->intr_status & ~sim->intr_mask;
}
