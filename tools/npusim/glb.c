// SPDX-License-Identifier: MIT
/* GLB: the interrupt status, mask and pin. */
#include "glb.h"
#include "sim_state.h"

/* The bits that exist: SDP, CDP, PDP, CDMA data and weight, CACC, two groups each. */
#define INTR_BITS 0x003f003fu

void sim_glb_reset(struct sim_glb *glb)
{
	glb->status = 0;
	glb->mask = 0;
}

void sim_glb_raise(struct sim_glb *glb, u32 bit)
{
	glb->status |= 1u << bit;
}

bool sim_glb_owns(u32 reg)
{
	return reg == NVDLA_GLB_S_INTR_MASK || reg == NVDLA_GLB_S_INTR_SET ||
	       reg == NVDLA_GLB_S_INTR_STATUS;
}

void sim_glb_write(struct sim_glb *glb, u32 reg, u32 value)
{
	switch (reg) {
	case NVDLA_GLB_S_INTR_MASK:
		glb->mask = value & nvdla_reg_mask(reg);
		break;
	case NVDLA_GLB_S_INTR_SET:
		glb->status |= value & INTR_BITS;
		break;
	case NVDLA_GLB_S_INTR_STATUS:
		glb->status &= ~value;
		break;
	}
}

u32 sim_glb_read(const struct sim_glb *glb, u32 reg)
{
	switch (reg) {
	case NVDLA_GLB_S_INTR_MASK:
		return glb->mask;
	case NVDLA_GLB_S_INTR_STATUS:
		return glb->status;
	}
	return 0;
}

bool sim_glb_pin(const struct sim_glb *glb)
{
	return glb->status & ~glb->mask;
}

bool npusim_irq(const struct npusim *sim)
{
	return sim_glb_pin(&sim->glb);
}
