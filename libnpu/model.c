// SPDX-License-Identifier: MIT
/*
 * A model on a device: its program, device chains and buffers, and how it follows
 * the live budget.
 */
#include <stdio.h>
#include <stdlib.h>

#include "internal.h"
#include "pixels.h"

static const char *const type_names[] = { "int8",  "uint8",   "int16",	 "int32",
					  "int64", "float16", "float32", "bool" };

const char *npu_type_name(enum npu_type type)
{
	return (unsigned)type < ARRAY_SIZE(type_names) ? type_names[type] : "?";
}

/* The sizes of pieces that are tried are multiples of this. */
#define REGION_STEP 4096u

/* The public types are the compiler's, in its order. */
_Static_assert((int)NPU_TYPE_INT8 == (int)NPU_I8 && (int)NPU_TYPE_UINT8 == (int)NPU_U8 &&
		       (int)NPU_TYPE_INT16 == (int)NPU_I16 && (int)NPU_TYPE_INT32 == (int)NPU_I32 &&
		       (int)NPU_TYPE_INT64 == (int)NPU_I64 &&
		       (int)NPU_TYPE_FLOAT16 == (int)NPU_F16 &&
		       (int)NPU_TYPE_FLOAT32 == (int)NPU_F32 && (int)NPU_TYPE_BOOL == (int)NPU_BOOL,
	       "enum npu_type and enum npu_dtype differ");

/* ---- chains and buffers ---- */

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

/* ---- the budget ---- */

/* The live budget in the compiler's terms, for this model. */
static int read_budget(const struct npu_model *model, struct npu_budget *budget)
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

static int plan_for(struct npu_model *model, const struct npu_budget *budget, u32 *replans)
{
	int err = plan_pieces(model, budget);

	model->replans += !err;
	*replans += !err;
	return err;
}

int npu_model_replan(struct npu_model *model, u32 *replans)
{
	struct npu_budget now;
	int err = read_budget(model, &now);

	return err ? err : plan_for(model, &now, replans);
}

/* Does any layer move more than it would with the whole buffer? */
static bool more_would_help(const struct npu_program *program)
{
	u32 i;

	for (i = 0; i < program->net->layer_count; i++)
		if (npu_cost_bytes(&program->plan->layer[i].cost) >
		    program->plan->layer[i].bound_bytes)
			return true;
	return false;
}

int npu_model_needs_plan(struct npu_model *model, bool *needed)
{
	struct npu_budget now;
	int err = read_budget(model, &now);

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

/* ---- loading ---- */

static int check_cpu_layers(const struct npu_model *model)
{
	const struct npu_net *net = model->program->net;
	int err = 0;
	u32 i;

	for (i = 0; i < net->layer_count && !err; i++)
		if (net->layer[i].kind == NPU_LAYER_CPU)
			err = npu_cpu_check_layer(model, &net->layer[i]);
	return err;
}

enum npu_file_kind npu_file_kind(const void *data, size_t bytes)
{
	static const enum npu_file_kind kind[] = {
		[NPU_CONTENTS_UNKNOWN] = NPU_FILE_UNKNOWN,
		[NPU_CONTENTS_MODEL] = NPU_FILE_MODEL,
		[NPU_CONTENTS_COMPILED] = NPU_FILE_COMPILED,
	};

	return data ? kind[npu_program_contents(data, bytes)] : NPU_FILE_UNKNOWN;
}

/* Where a model comes from: a file, its contents in memory, or one operator. */
struct source {
	const char *name; /* of the file: its path */
	const void *data; /* contents, or NULL */
	size_t bytes;
	const struct npu_operator *op; /* or NULL */
	struct npu_import_options import;
	struct npu_pixel_input pixels; /* what @import may refer to */
};

static int compile_operator(struct npu_model *model, const struct source *source,
			    struct npu_diag *diag)
{
	struct npu_graph *graph;
	int err = npu_operator_graph(source->op, source->name, &graph);

	if (err) {
		npu_diag_set(diag, err, "%s", npu_error());
		return err;
	}
	return npu_program_compile(graph, model->device->config, &model->planned_for,
				   &model->program, diag);
}

static int make_program(struct npu_model *model, const struct source *source, struct npu_diag *diag)
{
	const struct nvdla_config *config = model->device->config;

	if (source->op)
		return compile_operator(model, source, diag);
	if (source->data)
		return npu_program_load_copy(source->data, source->bytes, source->name,
					     &source->import, config, &model->planned_for,
					     &model->program, diag);
	return npu_program_load(source->name, &source->import, config, &model->planned_for,
				&model->program, diag);
}

static int load_program(struct npu_model *model, const struct source *source)
{
	struct npu_diag diag = { "" };
	int err = read_budget(model, &model->planned_for);

	if (err)
		return err;
	err = make_program(model, source, &diag);
	if (err)
		return npu_fail(err, "%s", diag.text[0] ? diag.text : strerror(-err));
	if (model->program->net->config != model->device->config)
		return npu_fail(-ENOTSUP, "%s: compiled for %s, the device is %s", source->name,
				model->program->net->config->name, model->device->name);
	if (!model->program->net->graph)
		return npu_fail(-ENOTSUP, "%s: a topology without weights cannot run",
				source->name);
	return check_cpu_layers(model);
}

/* The file's name without directory and ending, for messages and recordings. */
static char *base_name(const char *path)
{
	const char *base = strrchr(path, '/'), *dot;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	return strndup(base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

static int set_pixels(struct source *source, const struct npu_model_options *options)
{
	struct npu_pixel_input *pixels = &source->pixels;
	u32 i;

	if (!options->pixels)
		return 0;
	if (source->op)
		return npu_fail(-EINVAL, "a model of one operator takes no image");
	pixels->order = npu_pixel_order_find(options->pixels);
	if (pixels->order == NPU_PIXELS_ORDER_COUNT)
		return npu_fail(-EINVAL, "\"%.40s\" is no order of pixels", options->pixels);
	for (i = 0; i < NPU_MAX_PIXEL_CHANNELS; i++)
		pixels->given = pixels->given || options->pixel_scale[i];
	memcpy(pixels->mean, options->pixel_mean, sizeof(pixels->mean));
	memcpy(pixels->scale, options->pixel_scale, sizeof(pixels->scale));
	source->import.pixels = pixels;
	return 0;
}

static int set_options(struct npu_model *model, struct source *source,
		       const struct npu_model_options *options)
{
	struct npu_model_options own = { 0 };
	const char *dir;
	int err;

	if (options && options->size)
		memcpy(&own, options, min(options->size, sizeof(own)));
	model->max_banks = own.max_banks;
	source->import.input_shapes = own.input_shapes;
	err = set_pixels(source, &own);
	if (err)
		return err;
	dir = own.record_dir ? own.record_dir : getenv("NPU_RECORD");
	if (!dir || !*dir)
		return 0;
	if (!model->device->ops->record_begin)
		return npu_fail(-ENOTSUP, "%s: this device cannot record", model->device->name);
	model->record_dir = strdup(dir);
	return model->record_dir ? 0 : npu_fail(-ENOMEM, "out of memory");
}

static int init_model(struct npu_model *model, struct source *source,
		      const struct npu_model_options *options)
{
	int err;

	model->name = base_name(source->name);
	if (!model->name)
		return npu_fail(-ENOMEM, "out of memory");
	err = set_options(model, source, options);
	if (!err)
		err = load_program(model, source);
	if (err || !model->device->region_bytes)
		return err ? err : npu_model_adopt_plan(model);
	model->region_bytes = model->device->region_bytes;
	model->planned_for.region_bytes = model->region_bytes;
	return plan_pieces(model, &model->planned_for);
}

static int new_model(struct npu_device *device, struct source *source,
		     const struct npu_model_options *options, struct npu_model **out)
{
	struct npu_model *model = calloc(1, sizeof(*model));
	u32 i;
	int err;

	*out = NULL;
	if (!model)
		return npu_fail(-ENOMEM, "%s: out of memory", source->name);
	model->device = device;
	npu_device_get(device);
	pthread_mutex_init(&model->lock, NULL);
	pthread_mutex_init(&model->queue_lock, NULL);
	pthread_cond_init(&model->wake, NULL);
	pthread_cond_init(&model->changed, NULL);
	for (i = 0; i < ARRAY_SIZE(model->lane); i++)
		model->lane[i].model = model;
	err = init_model(model, source, options);
	if (err) {
		npu_model_free(model);
		return err;
	}
	*out = model;
	return 0;
}

int npu_model_load(struct npu_device *device, const char *path,
		   const struct npu_model_options *options, struct npu_model **model)
{
	struct source source = { .name = path };

	if (!device || !path || !model)
		return npu_fail(-EINVAL, "npu_model_load: device, path and model are needed");
	return new_model(device, &source, options, model);
}

int npu_model_load_memory(struct npu_device *device, const void *data, size_t bytes,
			  const char *name, const struct npu_model_options *options,
			  struct npu_model **model)
{
	struct source source = { .name = name, .data = data, .bytes = bytes };

	if (!device || !data || !name || !model)
		return npu_fail(-EINVAL,
				"npu_model_load_memory: device, data, name and model are needed");
	return new_model(device, &source, options, model);
}

int npu_model_of_operator(struct npu_device *device, const struct npu_operator *op,
			  const char *name, const struct npu_model_options *options,
			  struct npu_model **model)
{
	struct source source = { .name = name, .op = op };

	if (!device || !op || !name || !model)
		return npu_fail(-EINVAL,
				"npu_model_of_operator: device, operator, name and model are "
				"needed");
	return new_model(device, &source, options, model);
}

int npu_model_save_memory(struct npu_model *model, void **data, size_t *bytes)
{
	struct npu_diag diag = { "" };
	int err;

	pthread_mutex_lock(&model->lock);
	err = npu_program_encode(model->program, data, bytes, &diag);
	pthread_mutex_unlock(&model->lock);
	return err ? npu_fail(err, "%s: %s", model->name, diag.text) : 0;
}

void npu_model_free(struct npu_model *model)
{
	u32 i;

	if (!model)
		return;
	npu_model_stop_jobs(model);
	destroy_chains(model);
	destroy_buffers(model, &model->weights, 0);
	free(model->weights.buffer);
	for (i = 0; i < ARRAY_SIZE(model->lane); i++) {
		destroy_buffers(model, &model->lane[i].arena, 0);
		free(model->lane[i].arena.buffer);
	}
	if (model->program)
		npu_program_free(model->program);
	npu_device_put(model->device);
	pthread_cond_destroy(&model->changed);
	pthread_cond_destroy(&model->wake);
	pthread_mutex_destroy(&model->queue_lock);
	pthread_mutex_destroy(&model->lock);
	free(model->record_dir);
	free(model->name);
	free(model);
}

void npu_model_set_hook(struct npu_model *model, npu_step_hook hook, void *context)
{
	pthread_mutex_lock(&model->lock);
	while (model->running)
		pthread_cond_wait(&model->changed, &model->lock);
	model->hook = hook;
	model->hook_context = context;
	pthread_mutex_unlock(&model->lock);
}

/* ---- what it looks like ---- */

unsigned npu_model_input_count(const struct npu_model *model)
{
	return model->program->net->input_count;
}

unsigned npu_model_output_count(const struct npu_model *model)
{
	return model->program->net->output_count;
}

/* The order of the bytes that an input takes; NULL: it is no image. */
static const char *pixels_of(const struct npu_graph *graph, u32 tensor)
{
	u32 i;

	for (i = 0; i < graph->op_count; i++)
		if (graph->op[i].kind == NPU_OP_PIXELS && graph->op[i].input[0] == tensor)
			return npu_pixel_formats[graph->op[i].pixels].name;
	return NULL;
}

static int tensor_info(const struct npu_model *model, const u32 *list, u32 count, unsigned index,
		       const char *what, struct npu_tensor_info *info)
{
	struct npu_tensor_info own = { 0 };
	const struct npu_tensor *tensor;

	if (index >= count)
		return npu_fail(-EINVAL, "%s: there is no %s %u; it has %u", model->name, what,
				index, count);
	tensor = &model->program->net->graph->tensor[list[index]];
	own.name = tensor->name ? tensor->name : "";
	own.type = (enum npu_type)tensor->dtype;
	own.rank = tensor->rank;
	memcpy(own.shape, tensor->dim, sizeof(own.shape));
	own.bytes = tensor->bytes;
	if (tensor->quant.count) {
		own.scale = tensor->quant.scale[0];
		own.zero_point = tensor->quant.zero ? tensor->quant.zero[0] : 0;
	}
	own.pixels = pixels_of(model->program->net->graph, list[index]);
	return npu_copy_out(info, &own, sizeof(own));
}

int npu_model_input(const struct npu_model *model, unsigned index, struct npu_tensor_info *info)
{
	const struct npu_graph *graph = model->program->net->graph;

	return tensor_info(model, graph->input, graph->input_count, index, "input", info);
}

int npu_model_output(const struct npu_model *model, unsigned index, struct npu_tensor_info *info)
{
	const struct npu_graph *graph = model->program->net->graph;

	return tensor_info(model, graph->output, graph->output_count, index, "output", info);
}

int npu_model_info(struct npu_model *model, struct npu_model_info *info)
{
	struct npu_model_info own = { 0 };
	const struct npu_program *program = model->program;
	u32 i;

	pthread_mutex_lock(&model->lock);
	own.layers = program->net->layer_count;
	own.npu_tasks = program->plan->task_count;
	for (i = 0; i < program->step_count; i++) {
		own.cpu_steps += program->step[i].cpu;
		own.chains += !program->step[i].cpu;
	}
	own.plan_banks = program->plan->budget.banks;
	own.used_banks = program->plan->banks;
	own.plan_generation = program->plan->budget.generation;
	own.dram_bytes = npu_cost_bytes(&program->plan->cost);
	own.cycles = program->plan->cost.cycles;
	own.weight_bytes = program->net->weights_bytes;
	own.arena_bytes = program->plan->arena_bytes;
	own.compile_ns = program->compile_ns;
	own.plan_ns = program->plan_ns;
	own.replans = model->replans;
	pthread_mutex_unlock(&model->lock);
	return npu_copy_out(info, &own, sizeof(own));
}
