// SPDX-License-Identifier: MIT
/*
 * Lanes of a model: which run has which arena, and when the plan may change.  A plan is changed while no run
 * uses it; whoever has a run under way never waits for a lane or a plan, so nobody waits in a circle.
 */
#include "internal.h"

bool npu_model_is_watched(const struct npu_model *model)
{
	return model->hook || model->record_dir;
}

/* Lanes that the present plan leaves room for. */
static u32 lane_count(const struct npu_model *model)
{
	u64 arena = model->program->plan->arena_bytes;
	u64 further = arena ? NPU_FURTHER_BYTES / arena : NPU_FURTHER_LANES;

	return NPU_MODEL_LANES + (u32)min(further, (u64)NPU_FURTHER_LANES);
}

/*
 * A free one of the first @count lanes, with an arena but for the first, which has to be fitted; with the lock
 * held.  NULL: there is none, or no memory for another one.
 */
static struct npu_lane *find_lane(struct npu_model *model, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		struct npu_lane *lane = &model->lane[i];

		if (lane->busy)
			continue;
		return i && npu_model_fit_lane(lane) ? NULL : lane;
	}
	return NULL;
}

/* Waits for a lane; with the lock held.  Who looks at the steps of a run, or records them, sees one at a time. */
static struct npu_lane *take_lane(struct npu_model *model)
{
	struct npu_lane *lane;

	while (!(lane = find_lane(model, npu_model_is_watched(model) ? 1 : NPU_MODEL_LANES)))
		pthread_cond_wait(&model->changed, &model->lock);
	lane->busy = true;
	return lane;
}

static void give_lane(struct npu_lane *lane)
{
	lane->busy = false;
	pthread_cond_broadcast(&lane->model->changed);
}

/* Plans again when nobody uses the plan; with the lock held.  @refused as for settle(). */
static int plan_again(struct npu_model *model, const u64 *refused, u32 *replans)
{
	bool needed = true;
	int err = 0;

	model->planners++;
	while (model->running)
		pthread_cond_wait(&model->changed, &model->lock);
	/* Somebody else may have done it in the meantime. */
	if (!refused || *refused != model->replans)
		err = npu_model_needs_plan(model, &needed);
	if (!err && needed)
		err = npu_model_replan(model, replans);
	model->planners--;
	pthread_cond_broadcast(&model->changed);
	return err;
}

/*
 * A plan for the live budget, and an arena for it; with the lock held.  @refused: NULL, or which plan was
 * refused, by the count of replans.
 */
static int settle(struct npu_lane *lane, const u64 *refused, u32 *replans)
{
	struct npu_model *model = lane->model;
	bool needed = true;
	int err = 0;

	while (model->planners)
		pthread_cond_wait(&model->changed, &model->lock);
	if (!refused)
		err = npu_model_needs_plan(model, &needed);
	if (!err && needed)
		err = plan_again(model, refused, replans);
	return err ? err : npu_model_fit_lane(lane);
}

/* The run begins to use the plan; with the lock held. */
static void begin_run(struct npu_lane *lane, struct npu_run_stats *stats)
{
	struct npu_model *model = lane->model;

	model->running++;
	lane->plan = model->replans;
	stats->plan_banks = model->planned_for.banks;
	stats->plan_generation = model->planned_for.generation;
}

int npu_lane_enter(struct npu_model *model, const u64 *refused, struct npu_run_stats *stats,
		   struct npu_lane **out)
{
	struct npu_lane *lane;
	int err;

	pthread_mutex_lock(&model->lock);
	lane = take_lane(model);
	err = settle(lane, refused, &stats->replans);
	if (err)
		give_lane(lane);
	else
		begin_run(lane, stats);
	pthread_mutex_unlock(&model->lock);
	*out = err ? NULL : lane;
	return err;
}

static struct npu_lane *join_locked(struct npu_model *model, struct npu_run_stats *stats)
{
	struct npu_lane *lane;
	bool needed = true;

	if (npu_model_is_watched(model) || model->planners ||
	    npu_model_needs_plan(model, &needed) || needed)
		return NULL;
	lane = find_lane(model, lane_count(model));
	if (!lane || npu_model_fit_lane(lane))
		return NULL;
	lane->busy = true;
	begin_run(lane, stats);
	return lane;
}

struct npu_lane *npu_lane_join(struct npu_model *model, struct npu_run_stats *stats)
{
	struct npu_lane *lane;

	pthread_mutex_lock(&model->lock);
	lane = join_locked(model, stats);
	pthread_mutex_unlock(&model->lock);
	return lane;
}

void npu_lane_leave(struct npu_lane *lane)
{
	struct npu_model *model = lane->model;

	pthread_mutex_lock(&model->lock);
	model->running--;
	give_lane(lane);
	pthread_mutex_unlock(&model->lock);
}
