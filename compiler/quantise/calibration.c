// SPDX-License-Identifier: MIT
/* Tables of ranges by name. */
#include "quantise/quantise.h"

#include <stdlib.h>

struct npu_calibration *npu_calibration_new(void)
{
	return calloc(1, sizeof(struct npu_calibration));
}

void npu_calibration_free(struct npu_calibration *calibration)
{
	if (!calibration)
		return;
	npu_arena_free(&calibration->arena);
	free(calibration);
}

struct npu_range *npu_calibration_add(struct npu_calibration *calibration, const char *name)
{
	struct npu_range *range;

	if (calibration->count == calibration->capacity) {
		u32 capacity = max(2 * calibration->capacity, 32u);
		struct npu_range *larger =
			npu_arena_array(&calibration->arena, capacity, sizeof(*larger));

		if (!larger)
			return NULL;
		if (calibration->count)
			memcpy(larger, calibration->range, calibration->count * sizeof(*larger));
		calibration->range = larger;
		calibration->capacity = capacity;
	}
	range = &calibration->range[calibration->count++];
	range->name = name;
	return range;
}

const struct npu_range *npu_calibration_find(const struct npu_calibration *calibration,
					     const char *name)
{
	u32 i;

	for (i = 0; i < calibration->count; i++)
		if (!strcmp(calibration->range[i].name, name))
			return &calibration->range[i];
	return NULL;
}

const char *npu_calibration_name(struct npu_arena *arena, const struct npu_graph *graph, u32 tensor)
{
	const char *name = graph->tensor[tensor].name;
	u32 i;

	for (i = 0; i < graph->tensor_count; i++)
		if (i != tensor && !graph->tensor[i].data && !strcmp(graph->tensor[i].name, name))
			return npu_arena_printf(arena, "%s#%u", name, tensor);
	return npu_arena_string(arena, name, strlen(name));
}
