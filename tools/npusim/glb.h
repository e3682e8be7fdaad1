/* SPDX-License-Identifier: MIT */
/*
 * GLB's interrupt registers and pin.  Apart from the model's state, since who serves a model to
 * another process answers for them without waiting for the model.
 */
#ifndef NPUSIM_GLB_H
#define NPUSIM_GLB_H

#include "nvdla_regs.h"

/**
 * struct sim_glb - the interrupt registers
 * @status: S_INTR_STATUS: latched whether masked or not
 * @mask: S_INTR_MASK: bits that do not raise the pin
 */
struct sim_glb {
	u32 status;
	u32 mask;
};

void sim_glb_reset(struct sim_glb *glb);

/* Latch the bit of an interrupt source. */
void sim_glb_raise(struct sim_glb *glb, u32 bit);

/* Is @reg one of the interrupt registers?  The functions below take no other. */
bool sim_glb_owns(u32 reg);
void sim_glb_write(struct sim_glb *glb, u32 reg, u32 value);
u32 sim_glb_read(const struct sim_glb *glb, u32 reg);

/* The interrupt pin: a level. */
bool sim_glb_pin(const struct sim_glb *glb);

#endif /* NPUSIM_GLB_H */
