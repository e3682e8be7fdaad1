// SPDX-License-Identifier: MIT
/*
 * One inference: inputs in, steps in order, outputs out; and again with a new plan
 * when the NPU refuses a chain because the budget shrank.
 */
#include "internal.h"

/* How often a run begins again before it gives up: the budget would have to shrink each time. */
#define MAX_RESTARTS 64

int npu_model_check_io(const struct npu_model *model, const struct npu_input *inputs,
		       unsigned input_count, const struct npu_output *outputs,
		       unsigned output_count)
{
	const struct npu_graph *graph = model->program->net->graph;
	u32 i;

	if (input_count != graph->input_count || output_count != graph->output_count)
		return npu_fail(-EINVAL, "%s has %u inputs and %u outputs, %u and %u were given",
				model->name, graph->input_count, graph->output_count, input_count,
				output_count);
	for (i = 0; i < input_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[graph->input[i]];

		if (!inputs || !inputs[i].data || inputs[i].bytes != tensor->bytes)
			return npu_fail(-EINVAL, "%s: input %u (%s) has %zu bytes, %zu were given",
					model->name, i, tensor->name, tensor->bytes,
					inputs && inputs[i].data ? inputs[i].bytes : 0);
	}
	for (i = 0; i < output_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[graph->output[i]];

		if (!outputs || (outputs[i].data && outputs[i].bytes != tensor->bytes))
			return npu_fail(-EINVAL, "%s: output %u (%s) has %zu bytes, %zu were given",
					model->name, i, tensor->name, tensor->bytes,
					outputs ? outputs[i].bytes : 0);
	}
	return 0;
}

static void read_inputs(struct npu_lane *lane, const struct npu_input *inputs)
{
	const struct npu_net *net = lane->model->program->net;
	u32 i;

	for (i = 0; i < net->input_count; i++)
		npu_value_write(lane, net->input[i], net->graph->tensor[net->graph->input[i]].dtype,
				inputs[i].data);
}

static void write_outputs(struct npu_lane *lane, const struct npu_output *outputs)
{
	const struct npu_net *net = lane->model->program->net;
	u32 i;

	for (i = 0; i < net->output_count; i++)
		if (outputs[i].data)
			npu_value_read(lane, net->output[i],
				       net->graph->tensor[net->graph->output[i]].dtype,
				       outputs[i].data);
}

static void add_chain(struct npu_run_stats *stats, const struct npu_chain *chain,
		      const struct npu_chain_stats *took)
{
	stats->chains++;
	stats->tasks += chain->tasks;
	stats->cycles += took->cycles;
	stats->busy_ns += took->busy_ns;
	if (!stats->start_ns)
		stats->start_ns = took->start_ns;
	stats->end_ns = took->end_ns;
	stats->feature_bytes += took->feature_bytes;
	stats->weight_bytes += took->weight_bytes;
	stats->operand_bytes += took->operand_bytes;
	stats->output_bytes += took->output_bytes;
	stats->register_writes += took->register_writes;
}

static const struct npu_memory *region_memory(const struct npu_lane *lane, enum npu_region region)
{
	return region == NPU_REGION_ARENA ? &lane->arena : &lane->model->weights;
}

static int npu_step(struct npu_lane *lane, u32 index, struct npu_recording *recording,
		    struct npu_run_stats *stats)
{
	const struct npu_model *model = lane->model;
	const struct npu_step *step = &model->program->step[index];
	struct npu_buffer region[NVDLA_CHAIN_MAX_REGIONS];
	struct npu_chain_stats took = { 0 };
	u64 start = npu_now_ns();
	u32 i;
	int err;

	for (i = 0; i < step->binding_count; i++)
		region[i] =
			region_memory(lane, step->binding[i].region)->buffer[step->binding[i].span];
	err = model->device->ops->submit(model->device, model->chain[index], region,
					 step->binding_count, recording, &took);

	stats->npu_ns += npu_now_ns() - start;
	if (!err)
		add_chain(stats, model->chain[index], &took);
	return err;
}

static int cpu_step(struct npu_lane *lane, const struct npu_step *step, struct npu_run_stats *stats)
{
	u64 start = npu_now_ns();
	int err = npu_cpu_step(lane, &lane->model->program->net->layer[step->layer]);

	stats->cpu_ns += npu_now_ns() - start;
	stats->cpu_steps++;
	return err;
}

static int run_steps(struct npu_lane *lane, struct npu_recording *recording,
		     struct npu_run_stats *stats)
{
	struct npu_model *model = lane->model;
	u32 i;
	int err = 0;

	for (i = 0; i < model->program->step_count && !err; i++) {
		const struct npu_step *step = &model->program->step[i];

		if (step->cpu)
			err = cpu_step(lane, step, stats);
		else
			err = npu_step(lane, i, recording, stats);
		if (!err && model->hook)
			model->hook(model->hook_context, model, i);
	}
	return err;
}

/* What a run that is begun again has to count from zero. */
static void clear_attempt(struct npu_run_stats *stats)
{
	const struct npu_run_stats kept = *stats;

	memset(stats, 0, sizeof(*stats));
	stats->replans = kept.replans;
	stats->restarts = kept.restarts;
}

static int attempt(struct npu_lane *lane, const struct npu_input *inputs,
		   const struct npu_output *outputs, struct npu_run_stats *stats)
{
	struct npu_model *model = lane->model;
	const struct npu_device_ops *ops = model->device->ops;
	struct npu_recording *recording = NULL;
	u64 start = npu_now_ns(), steps_start;
	int err = 0, end_err = 0;

	if (model->record_dir)
		err = ops->record_begin(model->device, model->record_dir, model->name, &recording);
	if (err)
		return err == -ENOSPC ? -EIO : err; /* a full disk is no small budget */
	clear_attempt(stats);
	read_inputs(lane, inputs);
	steps_start = npu_now_ns();
	stats->convert_ns = steps_start - start;
	err = run_steps(lane, recording, stats);
	start = npu_now_ns();
	if (!stats->chains) {
		stats->start_ns = steps_start;
		stats->end_ns = start;
	}
	if (!err)
		write_outputs(lane, outputs);
	stats->convert_ns += npu_now_ns() - start;
	if (recording)
		end_err = ops->record_end(model->device, recording);
	return err ? err : end_err;
}

/* Who looks at the steps of a run, or records them, sees one run at a time. */
static u32 usable_lanes(const struct npu_model *model)
{
	return model->hook || model->record_dir ? 1 : NPU_MODEL_LANES;
}

/* A free lane with an arena; with the lock held.  Where there is no memory for another one, the first. */
static struct npu_lane *take_lane(struct npu_model *model)
{
	u32 i;

	for (;;) {
		for (i = 0; i < usable_lanes(model); i++) {
			struct npu_lane *lane = &model->lane[i];

			if (lane->busy || (i && npu_model_fit_lane(lane)))
				continue;
			lane->busy = true;
			return lane;
		}
		pthread_cond_wait(&model->changed, &model->lock);
	}
}

static void leave_lane(struct npu_lane *lane)
{
	lane->busy = false;
	pthread_cond_broadcast(&lane->model->changed);
}

/* Plans again when nobody uses the plan; with the lock held.  @seen as for settle(). */
static int plan_again(struct npu_model *model, const u64 *seen, u32 *replans)
{
	bool needed = true;
	int err = 0;

	model->planners++;
	while (model->running)
		pthread_cond_wait(&model->changed, &model->lock);
	/* Somebody else may have done it in the meantime. */
	if (!seen || *seen != model->replans)
		err = npu_model_needs_plan(model, &needed);
	if (!err && needed)
		err = npu_model_replan(model, replans);
	model->planners--;
	pthread_cond_broadcast(&model->changed);
	return err;
}

/*
 * A plan for the live budget, and an arena for it; with the lock held.  @seen: NULL, or which plan was
 * refused, by the count of replans.
 */
static int settle(struct npu_lane *lane, const u64 *seen, u32 *replans)
{
	struct npu_model *model = lane->model;
	bool needed = true;
	int err = 0;

	while (model->planners)
		pthread_cond_wait(&model->changed, &model->lock);
	if (!seen)
		err = npu_model_needs_plan(model, &needed);
	if (!err && needed)
		err = plan_again(model, seen, replans);
	return err ? err : npu_model_fit_lane(lane);
}

/* Once through all steps with the present plan; the lock is given back meanwhile. */
static int run_once(struct npu_lane *lane, const struct npu_input *inputs,
		    const struct npu_output *outputs, struct npu_run_stats *stats)
{
	struct npu_model *model = lane->model;
	struct npu_budget planned_for = model->planned_for;
	int err;

	model->running++;
	pthread_mutex_unlock(&model->lock);
	err = attempt(lane, inputs, outputs, stats);
	pthread_mutex_lock(&model->lock);
	stats->plan_banks = planned_for.banks;
	stats->plan_generation = planned_for.generation;
	model->running--;
	pthread_cond_broadcast(&model->changed);
	return err;
}

int npu_model_run(struct npu_model *model, const struct npu_input *inputs,
		  const struct npu_output *outputs, struct npu_run_stats *stats)
{
	u64 start = npu_now_ns();
	struct npu_lane *lane;
	u64 seen;
	int err;

	pthread_mutex_lock(&model->lock);
	lane = take_lane(model);
	err = settle(lane, NULL, &stats->replans);
	seen = model->replans;
	if (!err)
		err = run_once(lane, inputs, outputs, stats);
	while (err == -ENOSPC && model->chain && stats->restarts < MAX_RESTARTS) {
		stats->restarts++;
		err = settle(lane, &seen, &stats->replans);
		if (err)
			break;
		seen = model->replans;
		err = run_once(lane, inputs, outputs, stats);
	}
	leave_lane(lane);
	pthread_mutex_unlock(&model->lock);
	stats->wall_ns = npu_now_ns() - start;
	return err;
}

int npu_run(struct npu_model *model, const struct npu_input *inputs, unsigned input_count,
	    const struct npu_output *outputs, unsigned output_count, struct npu_run_stats *stats)
{
	struct npu_run_stats own = { 0 };
	int err = npu_model_check_io(model, inputs, input_count, outputs, output_count);

	if (!err && stats)
		err = npu_check_size(stats);
	if (err)
		return err;
	err = npu_model_run(model, inputs, outputs, &own);
	if (stats)
		npu_copy_out(stats, &own, sizeof(own));
	return err;
}
