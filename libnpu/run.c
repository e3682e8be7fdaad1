// SPDX-License-Identifier: MIT
/*
 * Inferences: inputs in, steps in order, outputs out; and again with a new plan when the NPU refuses chains
 * because the budget shrank.
 *
 * Several calls are one party.  Each begins behind the other: its inputs are converted, its chains are put
 * behind those that wait.  They go to the NPU in one submission when something needs the results: a step of the
 * CPU, an input that an earlier call writes, the end.  What a submission completes is written out in order.
 */
#include "internal.h"

/* How often a run begins again before it gives up: the budget would have to shrink each time. */
#define MAX_RESTARTS 64

/* Not an error: runs have to begin again. */
#define START_OVER 1

_Static_assert(NPU_MAX_BINDINGS >= NVDLA_CHAIN_MAX_REGIONS, "every chain finds room");

/**
 * struct run - an inference on its way
 * @lane: NULL: it has not begun
 * @recording: NULL: it is not recorded
 * @refused: the NPU refused its plan, @plan: plan for what is there now
 * @start, @steps_start: ns
 */
struct run {
	const struct npu_call *call;
	struct npu_lane *lane;
	struct npu_recording *recording;
	bool refused;
	u64 plan;
	u64 start, steps_start;
	struct npu_run_stats stats;
};

/**
 * struct party - calls that go to the NPU together
 * @call, @count: all of them
 * @done, @begun, @taken: so many of them are done, have begun, have a place in @run
 * @run: of calls that are not done, at their number modulo its size
 * @device: of those that have begun
 * @written, @written_end: addresses between which these write their outputs
 * @job, @owner: chains that wait for the submission, and the numbers of their calls; @jobs of them
 * @region, @regions: what is bound to them
 */
struct party {
	const struct npu_call *call;
	unsigned count;
	unsigned done, begun, taken;
	struct run run[NPU_MAX_JOBS];
	struct npu_device *device;
	uintptr_t written, written_end;
	struct npu_device_job job[NPU_MAX_JOBS];
	unsigned owner[NPU_MAX_JOBS];
	u32 jobs;
	struct npu_buffer region[NPU_MAX_BINDINGS];
	u32 regions;
};

static struct run *run_of(struct party *party, unsigned number)
{
	return &party->run[number % NPU_MAX_JOBS];
}

/* ---- the caller's tensors ---- */

int npu_model_check_io(const struct npu_model *model, const struct npu_input *inputs,
		       unsigned input_count, const struct npu_output *outputs,
		       unsigned output_count)
{
	const struct npu_graph *graph;
	int err = npu_check_handle(model, "model");
	u32 i;

	if (err)
		return err;
	graph = model->program->net->graph;
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

static bool shares_bytes(const struct npu_input *input, const struct npu_output *output)
{
	uintptr_t in = (uintptr_t)input->data, out = (uintptr_t)output->data;

	return output->data && in < out + output->bytes && out < in + input->bytes;
}

/* Does a call that is not done write this input? */
static bool is_awaited(struct party *party, const struct npu_input *input)
{
	uintptr_t data = (uintptr_t)input->data;
	unsigned number, i;

	if (data >= party->written_end || party->written >= data + input->bytes)
		return false;
	for (number = party->done; number < party->begun; number++) {
		const struct npu_call *call = &party->call[number];

		for (i = 0; i < call->output_count; i++)
			if (shares_bytes(input, &call->outputs[i]))
				return true;
	}
	return false;
}

static void note_outputs(struct party *party, const struct npu_call *call)
{
	unsigned i;

	if (party->done == party->begun) {
		party->written = UINTPTR_MAX;
		party->written_end = 0;
	}
	for (i = 0; i < call->output_count; i++) {
		uintptr_t data = (uintptr_t)call->outputs[i].data;

		if (!data)
			continue;
		party->written = min(party->written, data);
		party->written_end = max(party->written_end, data + call->outputs[i].bytes);
	}
}

/* ---- the end of runs ---- */

/* What a run that is begun again has to count from zero. */
static void clear_attempt(struct npu_run_stats *stats)
{
	const struct npu_run_stats kept = *stats;

	memset(stats, 0, sizeof(*stats));
	stats->replans = kept.replans;
	stats->restarts = kept.restarts;
}

static int leave(struct run *run)
{
	struct npu_device *device = run->call->model->device;
	int err = 0;

	if (run->recording)
		err = device->ops->record_end(device, run->recording);
	run->recording = NULL;
	if (run->lane)
		npu_lane_leave(run->lane);
	run->lane = NULL;
	return err;
}

static void tell_stats(struct run *run)
{
	run->stats.wall_ns = npu_now_ns() - run->start;
	if (run->call->stats)
		npu_copy_out(run->call->stats, &run->stats, sizeof(run->stats));
}

static int finish(struct run *run)
{
	struct npu_run_stats *stats = &run->stats;
	u64 start = npu_now_ns();
	int err;

	if (!stats->chains) {
		stats->start_ns = run->steps_start;
		stats->end_ns = start;
	}
	write_outputs(run->lane, run->call->outputs);
	stats->convert_ns += npu_now_ns() - start;
	err = leave(run);
	if (!err)
		tell_stats(run);
	return err;
}

/* The calls before @number, all of whose chains are done. */
static int finish_until(struct party *party, unsigned number)
{
	int err = 0;

	while (!err && party->done < number) {
		err = finish(run_of(party, party->done));
		party->done += !err;
	}
	return err;
}

/* ---- submission ---- */

static void add_chain(struct npu_run_stats *stats, const struct npu_device_job *job)
{
	const struct npu_chain_stats *took = &job->stats;

	stats->chains++;
	stats->tasks += job->chain->tasks;
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

/* @took: ns of the whole submission, for which each of the runs in it has waited. */
static void add_submission(struct party *party, const struct npu_submission *submission, u64 took)
{
	u32 i;

	run_of(party, party->owner[0])->stats.submissions++;
	for (i = 0; i < submission->count; i++) {
		struct npu_run_stats *stats = &run_of(party, party->owner[i])->stats;

		if (!i || party->owner[i] != party->owner[i - 1])
			stats->npu_ns += took;
		if (i < submission->done)
			add_chain(stats, &submission->job[i]);
	}
}

/*
 * Everything that is not done begins again, each run by itself: their errors are their own then.  @refused: the one
 * that needs more banks than there are, or NULL.
 */
static int start_over(struct party *party, struct run *refused)
{
	unsigned number;

	if (refused) {
		refused->refused = true;
		refused->plan = refused->lane->plan;
	}
	for (number = party->done; number < party->begun; number++) {
		run_of(party, number)->stats.restarts++;
		leave(run_of(party, number));
	}
	party->begun = party->done;
	return START_OVER;
}

/* Hands over what waits.  The calls before @complete are done then. */
static int hand_over(struct party *party, unsigned complete)
{
	struct npu_submission submission = {
		.job = party->job,
		.count = party->jobs,
		.recording = run_of(party, party->done)->recording,
	};
	u64 start = npu_now_ns();
	struct run *blamed;
	int err, finish_err;

	if (!party->jobs)
		return finish_until(party, complete);
	err = party->device->ops->submit(party->device, &submission);
	add_submission(party, &submission, npu_now_ns() - start);
	party->jobs = party->regions = 0;
	if (!err)
		return finish_until(party, complete);
	finish_err = finish_until(party, party->owner[submission.done]);
	if (finish_err)
		return finish_err;
	blamed = run_of(party, party->owner[min(submission.failed, submission.count - 1)]);
	if (err == -ENOSPC && blamed->stats.restarts < MAX_RESTARTS)
		return start_over(party, blamed);
	/* Where it is not clear whose error it is. */
	if (submission.failed != submission.done && party->begun - party->done > 1)
		return start_over(party, NULL);
	return err;
}

static const struct npu_memory *region_memory(const struct npu_lane *lane, enum npu_region region)
{
	return region == NPU_REGION_ARENA ? &lane->arena : &lane->model->weights;
}

/* A chain of run @number joins those that wait. */
static int npu_step(struct party *party, unsigned number, u32 index)
{
	struct npu_lane *lane = run_of(party, number)->lane;
	const struct npu_step *step = &lane->model->program->step[index];
	struct npu_buffer *region;
	u32 i;
	int err = 0;

	if (party->jobs == party->device->max_jobs ||
	    party->regions + step->binding_count > NPU_MAX_BINDINGS)
		err = hand_over(party, number);
	if (err)
		return err;
	region = &party->region[party->regions];
	for (i = 0; i < step->binding_count; i++)
		region[i] =
			region_memory(lane, step->binding[i].region)->buffer[step->binding[i].span];
	party->owner[party->jobs] = number;
	party->job[party->jobs] = (struct npu_device_job){
		.chain = lane->model->chain[index],
		.region = region,
		.region_count = step->binding_count,
	};
	party->jobs++;
	party->regions += step->binding_count;
	return 0;
}

static int cpu_step(struct party *party, unsigned number, const struct npu_step *step)
{
	struct run *run = run_of(party, number);
	int err = hand_over(party, number);
	u64 start = npu_now_ns();

	if (err)
		return err;
	err = npu_cpu_step(run->lane, step->layer);
	run->stats.cpu_ns += npu_now_ns() - start;
	run->stats.cpu_steps++;
	return err;
}

static int run_steps(struct party *party, unsigned number)
{
	struct npu_model *model = party->call[number].model;
	u32 i;
	int err = 0;

	for (i = 0; i < model->program->step_count && !err; i++) {
		const struct npu_step *step = &model->program->step[i];

		if (step->cpu)
			err = cpu_step(party, number, step);
		else
			err = npu_step(party, number, i);
		if (!err && model->hook) {
			err = hand_over(party, number);
			if (!err)
				model->hook(model->hook_context, model, i);
		}
	}
	return err;
}

/* ---- the begin of runs ---- */

/* The first of a party has waited for its lane; whoever comes behind it has none, if that takes waiting. */
static int enter(struct party *party, struct run *run)
{
	struct npu_model *model = run->call->model;

	if (party->begun != party->done) {
		run->lane = npu_lane_join(model, &run->stats);
		return 0;
	}
	party->device = model->device;
	return npu_lane_enter(model, run->refused ? &run->plan : NULL, &run->stats, &run->lane);
}

static int begin_recording(struct run *run)
{
	struct npu_model *model = run->call->model;
	int err = 0;

	if (model->record_dir)
		err = model->device->ops->record_begin(model->device, model->record_dir,
						       model->name, &run->recording);
	return err == -ENOSPC ? -EIO : err; /* a full disk is no small budget */
}

/* May the next call go along with those that have begun? */
static bool goes_along(struct party *party, const struct run *run)
{
	const struct npu_call *call = run->call;
	unsigned i;

	if (run->stats.restarts || call->model->device != party->device)
		return false;
	for (i = 0; i < call->input_count; i++)
		if (is_awaited(party, &call->inputs[i]))
			return false;
	return true;
}

/* Runs that begin again, are recorded or watched have nobody beside them. */
static bool is_alone(const struct run *run)
{
	return run->stats.restarts || npu_model_is_watched(run->call->model);
}

static int begin_next(struct party *party)
{
	unsigned number = party->begun;
	struct run *run = run_of(party, number);
	u64 start;
	int err;

	if (number != party->done && !goes_along(party, run))
		return hand_over(party, number);
	clear_attempt(&run->stats);
	err = enter(party, run);
	if (err)
		return err;
	if (!run->lane)
		return hand_over(party, number);
	note_outputs(party, run->call);
	party->begun++;
	err = begin_recording(run);
	if (err)
		return err;
	start = npu_now_ns();
	read_inputs(run->lane, run->call->inputs);
	run->steps_start = npu_now_ns();
	run->stats.convert_ns = run->steps_start - start;
	err = run_steps(party, number);
	if (!err && is_alone(run))
		err = hand_over(party, party->begun);
	return err;
}

static void take_next(struct party *party)
{
	struct run *run = run_of(party, party->taken);

	memset(run, 0, sizeof(*run));
	run->call = &party->call[party->taken++];
	run->start = npu_now_ns();
}

static int run_party(struct party *party)
{
	int err = 0;

	while (party->done < party->count && err >= 0) {
		if (party->begun == party->taken && party->taken < party->count &&
		    party->taken - party->done < NPU_MAX_JOBS)
			take_next(party);
		if (party->begun < party->taken)
			err = begin_next(party);
		else
			err = hand_over(party, party->begun);
	}
	while (party->begun > party->done)
		leave(run_of(party, --party->begun));
	if (party->done < party->taken)
		tell_stats(run_of(party, party->done));
	return min(err, 0);
}

static int check_call(const struct npu_call *call)
{
	int err = npu_model_check_io(call->model, call->inputs, call->input_count, call->outputs,
				     call->output_count);

	return err || !call->stats ? err : npu_check_size(call->stats);
}

int npu_run_calls(const struct npu_call *calls, unsigned count, unsigned *done)
{
	struct party party;
	unsigned i;
	int err = 0;

	if (done)
		*done = 0;
	if (count && !calls)
		return npu_fail(-EINVAL, "npu_run_calls: no calls");
	for (i = 0; i < count && !err; i++)
		err = check_call(&calls[i]);
	if (err)
		return err;
	party.call = calls;
	party.count = count;
	party.done = party.begun = party.taken = 0;
	party.jobs = party.regions = 0;
	err = run_party(&party);
	if (done)
		*done = party.done;
	return err;
}

int npu_run(struct npu_model *model, const struct npu_input *inputs, unsigned input_count,
	    const struct npu_output *outputs, unsigned output_count, struct npu_run_stats *stats)
{
	const struct npu_call call = { model, inputs, input_count, outputs, output_count, stats };

	return npu_run_calls(&call, 1, NULL);
}
