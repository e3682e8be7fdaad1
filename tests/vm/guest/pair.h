/* SPDX-License-Identifier: MIT */
/*
 * A real model twice: on the kernel's NPU and on the simulated one of the same configuration, which
 * says what has to come out.
 */
#ifndef GUEST_PAIR_H
#define GUEST_PAIR_H

#include "../../common/shared_models.h"
#include "nvdla_types.h"

/* So many different inputs: the simulated device computes each of them once. */
#define PAIR_INPUTS 10

struct pair {
	const struct shared_model *model;
	struct npu_device *npu, *sim;
	struct npu_model *on_npu, *on_sim;
	struct shared_io out, expect[PAIR_INPUTS];
	bool known[PAIR_INPUTS]; /* @expect has been computed */
	struct npu_run_stats stats; /* of the last run on the NPU */
};

/* Opens and loads both; false, with a line that says why, where that fails. */
bool pair_open(struct pair *pair, const struct shared_model *model);
void pair_close(struct pair *pair);

/*
 * One inference of the @n'th input modulo PAIR_INPUTS (0: the golden ones, where there are).  True
 * where the outputs are the same to the last bit.
 */
bool pair_run(struct pair *pair, u32 n);

/* The model of that name. */
const struct shared_model *pair_model(const char *name);

#endif /* GUEST_PAIR_H */
