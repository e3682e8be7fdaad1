// SPDX-License-Identifier: MIT
/* How a model follows the live budget, and finds pieces of memory that its device has. */
#include <stdio.h>

#include "internal.h"

/* The sizes of pieces that are tried are multiples of this. */
#define REGION_STEP 4096u

int npu_model_read_budget(const struct npu_model *model, struct npu_budget *budget)
{
	int err = npu_device_plan_budget(model->device, model->max_banks, budget);

	budget->region_bytes = model->region_bytes;
	return err;
}

static u64 largest_buffer(const struct npu_model *model)
{
	u64 most = 0;
	u32 region, i;

	for (region = 0; region < NPU_REGION_COUNT; region++)
		for (i = 0; i < model->program->plan->spans[region].count; i++)
			most = max(most, model->program->plan->spans[region].span[i].bytes);
	return most;
}

static int plan_once(struct npu_model *model, const struct npu_budget *budget)
{
	struct npu_diag diag = { "" };
	int err = npu_program_replan(model->program, budget, &diag);

	if (err)
		return npu_fail(err, "%s: %s", model->name, diag.text);
	model->planned_for = *budget;
	return npu_model_adopt_plan(model);
}

/*
 * How large the pieces of memory may be is known only when they are asked for: smaller ones where the
 * device has none so large, larger ones than it promised where a value is larger.
 */
static int plan_pieces(struct npu_model *model, const struct npu_budget *wanted)
{
	struct npu_budget budget = *wanted;
	u64 small = 0, large = 0; /* too small for the network, too large for the device */
	char refused[512] = "";
	int err;

	for (;;) {
		u64 next;

		err = plan_once(model, &budget);
		if (!err)
			model->region_bytes = budget.region_bytes;
		if (!budget.region_bytes || (err != -EFBIG && err != -ENOMEM))
			return err;
		if (err == -EFBIG) {
			small = budget.region_bytes;
			snprintf(refused, sizeof(refused), "%s", npu_error());
		} else {
			large = min(budget.region_bytes, largest_buffer(model));
		}
		if (!large)
			next = 2 * small;
		else
			next = max((small + large) / 2 / REGION_STEP, (u64)1) * REGION_STEP;
		if (next <= small || (large && next >= large))
			break;
		budget.region_bytes = next;
	}
	return small ? npu_fail(-ENOMEM, "%s", refused) : err;
}

int npu_model_first_plan(struct npu_model *model)
{
	if (!model->device->region_bytes)
		return npu_model_adopt_plan(model);
	model->region_bytes = model->device->region_bytes;
	model->planned_for.region_bytes = model->region_bytes;
	return plan_pieces(model, &model->planned_for);
}

int npu_model_replan(struct npu_model *model, u32 *replans)
{
	struct npu_budget now;
	int err = npu_model_read_budget(model, &now);

	if (!err)
		err = plan_pieces(model, &now);
	model->replans += !err;
	*replans += !err;
	return err;
}

/* Is a layer left to the CPU for want of banks, or moves more than it would with the whole buffer? */
static bool more_would_help(const struct npu_program *program)
{
	u32 i;

	if (program->plan->unit_count)
		return true;
	for (i = 0; i < program->net->layer_count; i++)
		if (npu_cost_bytes(&program->plan->layer[i].cost) >
		    program->plan->layer[i].bound_bytes)
			return true;
	return false;
}

int npu_model_needs_plan(struct npu_model *model, bool *needed)
{
	struct npu_budget now;
	int err = npu_model_read_budget(model, &now);

	*needed = false;
	if (err)
		return err;
	*needed = !model->chain;
	if (*needed || now.generation == model->planned_for.generation)
		return 0;
	*needed = now.banks < model->program->plan->banks ||
		  (now.banks > model->planned_for.banks && more_would_help(model->program));
	if (!*needed)
		model->planned_for.generation = now.generation;
	return 0;
}
