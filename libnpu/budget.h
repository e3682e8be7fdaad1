/* SPDX-License-Identifier: MIT */
/*
 * The live budget of a simulated NPU: one small file that all processes of a
 * user share.  Nothing in the file is believed before it is checked.
 */
#ifndef LIBNPU_BUDGET_H
#define LIBNPU_BUDGET_H

#include "internal.h"

struct npu_sim_budget;

/**
 * npu_sim_budget_open() - the budget of the simulated NPU @name
 * @name: file name without directory
 * @total: banks of the hardware
 *
 * Where: $NPU_SIM_DIR, else $XDG_RUNTIME_DIR/npu where that can be used, else /tmp/npu-UID; NPU_SIM_DIR=- keeps the budget
 * private to this handle.
 *
 * Return: 0; -EUCLEAN: damaged, or not the user's own; other errno of the system.
 */
int npu_sim_budget_open(const char *name, u32 total, struct npu_sim_budget **budget);

/* Gives back the reservation. */
void npu_sim_budget_close(struct npu_sim_budget *budget);

int npu_sim_budget_read(struct npu_sim_budget *budget, struct npu_device_budget *out);
int npu_sim_budget_wait(struct npu_sim_budget *budget, u64 generation, int timeout_ms);
int npu_sim_budget_reserve(struct npu_sim_budget *budget, u32 banks);
int npu_sim_budget_set_cap(struct npu_sim_budget *budget, u32 banks);
int npu_sim_budget_reservation(struct npu_sim_budget *budget, unsigned index,
			       struct npu_reservation *out);

#endif /* LIBNPU_BUDGET_H */
