/* SPDX-License-Identifier: MIT */
/*
 * NPU or CPU for every operator that both can do: the sides for which the whole network takes the fewest
 * cycles, with what it takes to go from one to the other.
 */
#ifndef NPU_CHOOSE_H
#define NPU_CHOOSE_H

#include "optimise.h"

/**
 * struct npu_choice - the outcome for an operator
 * @cpu: goes to the CPU, although the NPU could do it
 * @npu_cycles, @cpu_cycles: what it takes here and there, with all that is fused with it
 */
struct npu_choice {
	bool cpu;
	u64 npu_cycles, cpu_cycles;
};

/**
 * npu_opt_choose() - decides for a network in which the NPU does whatever it can
 * @opt: all passes have run
 * @choice: [operators of the graph]; receives the outcome
 * @any: receives whether one of them goes to the CPU
 *
 * Return: 0 or a negative errno with its message: the whole buffer does not hold a layer, -ENOMEM.
 */
int npu_opt_choose(struct npu_opt *opt, struct npu_choice *choice, bool *any);

#endif /* NPU_CHOOSE_H */
