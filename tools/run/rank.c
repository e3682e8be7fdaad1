// SPDX-License-Identifier: MIT
/* The largest elements of an output. */
#include "../common/element.h"
#include "run.h"

/* The largest element below (value, index) in the order of rank; false behind the last. */
bool run_next_best(const struct npu_tensor_info *info, const void *data, double *value,
		   uint64_t *index)
{
	uint64_t count = tool_elements(info), i, best = 0;
	double best_value = 0;
	bool found = false;

	for (i = 0; i < count; i++) {
		double v = tool_stored(info, data, i);

		if (v > *value || (v == *value && i <= *index) || (found && v <= best_value))
			continue;
		found = true;
		best = i;
		best_value = v;
	}
	*value = best_value;
	*index = best;
	return found;
}

/* Is it a vector of class scores, of which the largest say something? */
bool run_is_ranked(const struct run *run, const struct npu_tensor_info *info)
{
	uint64_t count = tool_elements(info);

	if (run->options->top_given || run->labels.count)
		return true;
	return info->rank && count > 1 && info->shape[info->rank - 1] == count;
}
