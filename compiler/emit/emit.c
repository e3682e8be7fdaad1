// SPDX-License-Identifier: MIT
/*
 * From a plan to the steps of a program: one chain for each run of layers without a CPU step, cut
 * between layers where it would be longer than the format allows.
 */
#include "emit.h"

#include <stdlib.h>

/* Which region of the chain is this piece of memory?  A new one where it has not been named yet. */
static u32 bind_span(struct npu_emit *e, enum npu_region region, u32 span)
{
	struct npu_step *step = e->step;
	u32 i;

	for (i = 0; i < step->binding_count; i++)
		if (step->binding[i].region == region && step->binding[i].span == span)
			return i;
	if (i == ARRAY_SIZE(step->binding)) {
		e->full = true;
		return 0;
	}
	step->binding[step->binding_count++] = (struct npu_binding){ region, span };
	return i;
}

static void emit_address(struct npu_emit *e, u32 reg, enum npu_region region, u64 offset)
{
	const struct npu_spans *spans = &e->plan->spans[region];
	u32 span = npu_span_find(spans, offset);

	npu_stream_address(e->stream, reg, bind_span(e, region, span),
			   offset - spans->span[span].start);
}

void npu_emit_feature(struct npu_emit *e, u32 reg, u32 value, u32 y, u32 x, u32 c)
{
	emit_address(e, reg, NPU_REGION_ARENA, npu_plan_offset(e->net, e->plan, value, y, x, c));
}

u32 npu_emit_surface_stride(const struct npu_emit *e, u32 value, u32 y)
{
	return npu_plan_band(e->plan, value, y)->surface_stride;
}

void npu_emit_weights(struct npu_emit *e, u32 reg, u64 offset)
{
	emit_address(e, reg, NPU_REGION_WEIGHTS, offset);
}

static void emit_task(struct npu_emit *e)
{
	static const enum nvdla_chain_kind kinds[] = {
		[NPU_LAYER_CONV] = NVDLA_CHAIN_CONV,
		[NPU_LAYER_SDP] = NVDLA_CHAIN_SDP,
		[NPU_LAYER_PDP] = NVDLA_CHAIN_PDP,
		[NPU_LAYER_CDP] = NVDLA_CHAIN_CDP,
	};
	const struct npu_task *t = e->task;
	struct npu_box box = { t->y, t->rows, t->x, t->cols, t->k, t->kernels };

	if (t->kind == NPU_LAYER_CONV)
		box.c += t->block * e->layer->k;
	e->pooled = e->out = box;
	if (t->kind == NPU_LAYER_CONV) {
		e->out.y = t->conv_y;
		e->out.rows = t->conv_rows;
		e->out.x = t->conv_x;
		e->out.cols = t->conv_cols;
	}
	npu_stream_task(e->stream, kinds[t->kind], t->layer);
	if (t->kind == NPU_LAYER_CONV)
		npu_emit_conv(e);
	if (t->kind == NPU_LAYER_CONV || t->kind == NPU_LAYER_SDP)
		npu_emit_sdp(e);
	if (t->kind == NPU_LAYER_PDP || t->pooled)
		npu_emit_pdp(e);
	if (t->kind == NPU_LAYER_CDP)
		npu_emit_cdp(e);
	npu_stream_task_end(e->stream);
}

/* Adds a layer, or leaves all as it was where its memory does not fit into the chain's regions. */
static bool emit_layer(struct npu_emit *e, u32 layer)
{
	const struct npu_layer_plan *split = &e->plan->layer[layer];
	u32 bindings = e->step->binding_count, i;
	struct npu_stream before = *e->stream;

	e->layer = &e->net->layer[layer];
	for (i = 0; i < split->task_count; i++) {
		e->task = &e->plan->task[split->first_task + i];
		e->first = i == 0;
		emit_task(e);
	}
	if (!e->full) {
		e->step->task_count += split->task_count;
		return true;
	}
	e->stream->bytes = before.bytes;
	e->stream->task_count = before.task_count;
	e->step->binding_count = bindings;
	return false;
}

/* Layers from @first up to @end as one chain, or as many of them as one can hold; moves @end. */
static int emit_chain(const struct npu_program *program, u32 first, u32 *end, struct npu_step *step)
{
	struct npu_stream stream;
	struct npu_emit e = {
		.stream = &stream,
		.net = program->net,
		.plan = program->plan,
		.step = step,
	};
	u32 layer = first, i;

	*step = (struct npu_step){ .first_task = program->plan->layer[first].first_task };
	for (i = 0; i < NPU_REGION_COUNT; i++)
		bind_span(&e, i, 0);
	npu_stream_begin(&stream);
	while (layer < *end && emit_layer(&e, layer))
		layer++;
	if (layer == first && !stream.error)
		stream.error = -EFBIG;
	*end = layer;
	return npu_stream_end(&stream, step->binding_count, &step->stream, &step->stream_bytes);
}

/* Behind the last layer of the chain that begins with @first: always one layer at least. */
static u32 chain_end(const struct npu_program *program, u32 first)
{
	const struct npu_net *net = program->net;
	u64 tasks = 0;
	u32 end;

	for (end = first; end < net->layer_count && !npu_plan_on_cpu(net, program->plan, end);
	     end++) {
		tasks += program->plan->layer[end].task_count;
		if (tasks > NVDLA_CHAIN_MAX_TASKS && end > first)
			break;
	}
	return end;
}

/* Behind the layers that the CPU does in one step. */
static u32 cpu_end(const struct npu_plan *plan, u32 layer)
{
	const struct npu_cpu_unit *unit = npu_plan_unit(plan, layer);

	return unit ? unit->first + unit->count : layer + 1;
}

static void free_steps(struct npu_step *step, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		free(step[i].stream);
	free(step);
}

int npu_emit(struct npu_program *program, struct npu_diag *diag)
{
	const struct npu_net *net = program->net;
	struct npu_step *steps = calloc(max(net->layer_count, 1u), sizeof(*steps));
	u32 layer = 0, end, count = 0;
	int error = steps ? 0 : -ENOMEM;

	for (; layer < net->layer_count && !error; layer = end) {
		if (npu_plan_on_cpu(net, program->plan, layer)) {
			steps[count++] = (struct npu_step){ .cpu = true, .layer = layer };
			end = cpu_end(program->plan, layer);
			continue;
		}
		end = chain_end(program, layer);
		error = emit_chain(program, layer, &end, &steps[count]);
		if (error == -E2BIG)
			npu_diag_set(diag, error, "layer %s: more tasks than a chain may hold",
				     net->layer[layer].name);
		if (error == -EFBIG)
			npu_diag_set(diag, error,
				     "layer %s: its weights and values lie in more pieces of "
				     "memory than the %u that a chain may name",
				     net->layer[layer].name, NVDLA_CHAIN_MAX_REGIONS);
		count += !error;
	}
	if (error) {
		free_steps(steps, count);
		return npu_diag_set(diag, error, "out of memory");
	}
	free_steps(program->step, program->step_count);
	program->step = steps;
	program->step_count = count;
	return 0;
}
