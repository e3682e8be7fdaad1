// SPDX-License-Identifier: MIT
/* What a model has on its device: a chain for each stream of the present plan, buffers for weights and arenas. */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"

static void destroy_chains(struct npu_model *model)
{
	u32 i;

	for (i = 0; i < model->chain_count; i++)
		if (model->chain[i])
			model->device->ops->chain_destroy(model->device, model->chain[i]);
	free(model->chain);
	model->chain = NULL;
	model->chain_count = 0;
}

/* The device's text names a layer by its number; the user knows its name. */
static int chain_refused(const struct npu_model *model, int err)
{
	const struct npu_net *net = model->program->net;
	const char *at = strstr(npu_error(), "(layer ");
	u32 layer;

	if (!at || sscanf(at, "(layer %u)", &layer) != 1 || layer >= net->layer_count)
		return err;
	return npu_fail(err, "%s: layer %s: %s", model->name, net->layer[layer].name, npu_error());
}

/* Hands every stream of the present plan to the device. */
static int create_chains(struct npu_model *model)
{
	const struct npu_program *program = model->program;
	u32 i;
	int err = 0;

	model->chain = calloc(program->step_count ? program->step_count : 1, sizeof(*model->chain));
	if (!model->chain)
		return npu_fail(-ENOMEM, "%s: out of memory", model->name);
	model->chain_count = program->step_count;
	for (i = 0; i < program->step_count && !err; i++) {
		const struct npu_step *step = &program->step[i];

		if (!step->cpu)
			err = model->device->ops->chain_create(
				model->device, step->stream, step->stream_bytes, &model->chain[i]);
	}
	if (!err)
		return 0;
	destroy_chains(model);
	return chain_refused(model, err);
}

static void destroy_buffers(struct npu_model *model, struct npu_memory *memory, u32 from)
{
	u32 i;

	for (i = from; i < memory->count; i++)
		if (memory->buffer[i].data)
			model->device->ops->buffer_destroy(model->device, &memory->buffer[i]);
	memory->count = min(memory->count, from);
}

static int fit_buffer(struct npu_model *model, enum npu_buffer_use use, struct npu_buffer *buffer,
		      u64 bytes)
{
	const struct npu_device_ops *ops = model->device->ops;

	if (bytes > SIZE_MAX)
		return npu_fail(-ENOMEM, "%s: %llu bytes in one piece are too many", model->name,
				(unsigned long long)bytes);
	if (buffer->data && buffer->bytes >= bytes)
		return 0;
	if (buffer->data)
		ops->buffer_destroy(model->device, buffer);
	*buffer = (struct npu_buffer){ 0 };
	return ops->buffer_create(model->device, (size_t)bytes, use, buffer);
}

/* A buffer for each span that the plan cuts the region into; those that are large enough stay. */
static int fit_memory(struct npu_model *model, enum npu_region region, enum npu_buffer_use use,
		      struct npu_memory *memory)
{
	const struct npu_spans *spans = &model->program->plan->spans[region];
	struct npu_buffer *buffer;
	u32 i;
	int err = 0;

	destroy_buffers(model, memory, spans->count);
	if (memory->count < spans->count) {
		buffer = reallocarray(memory->buffer, spans->count, sizeof(*buffer));
		if (!buffer)
			return npu_fail(-ENOMEM, "%s: out of memory", model->name);
		memory->buffer = buffer;
		for (i = memory->count; i < spans->count; i++)
			buffer[i] = (struct npu_buffer){ 0 };
		memory->count = spans->count;
	}
	for (i = 0; i < spans->count && !err; i++)
		err = fit_buffer(model, use, &memory->buffer[i], spans->span[i].bytes);
	return err;
}

int npu_model_fit_lane(struct npu_lane *lane)
{
	return fit_memory(lane->model, NPU_REGION_ARENA, NPU_BUFFER_SHARED, &lane->arena);
}

/* Weights are copied once, and again only where they are cut in another way. */
static int fit_weights(struct npu_model *model)
{
	const struct npu_net *net = model->program->net;
	const struct npu_spans *spans = &model->program->plan->spans[NPU_REGION_WEIGHTS];
	u64 region_bytes = model->program->plan->budget.region_bytes;
	u32 i;
	int err;

	if (model->weights.count && model->weights_for == region_bytes)
		return 0;
	destroy_buffers(model, &model->weights, 0);
	err = fit_memory(model, NPU_REGION_WEIGHTS, NPU_BUFFER_STREAMED, &model->weights);
	if (err) {
		destroy_buffers(model, &model->weights, 0);
		return err;
	}
	for (i = 0; i < spans->count; i++)
		if (spans->span[i].bytes)
			memcpy(model->weights.buffer[i].data,
			       (const u8 *)net->weights + spans->span[i].start,
			       (size_t)spans->span[i].bytes);
	model->weights_for = region_bytes;
	return 0;
}

int npu_model_adopt_plan(struct npu_model *model)
{
	int err;

	destroy_chains(model);
	err = create_chains(model);
	if (!err)
		err = fit_weights(model);
	if (!err)
		err = npu_model_fit_lane(&model->lane[0]);
	if (err)
		destroy_chains(model);
	return err;
}

void npu_model_drop_plan(struct npu_model *model)
{
	u32 i;

	destroy_chains(model);
	destroy_buffers(model, &model->weights, 0);
	free(model->weights.buffer);
	for (i = 0; i < ARRAY_SIZE(model->lane); i++) {
		destroy_buffers(model, &model->lane[i].arena, 0);
		free(model->lane[i].arena.buffer);
	}
}
