// SPDX-License-Identifier: MIT
/* A model on a device: how it is loaded and freed, and what it looks like from outside. */
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

/* The public types are the compiler's, in its order. */
_Static_assert((int)NPU_TYPE_INT8 == (int)NPU_I8 && (int)NPU_TYPE_UINT8 == (int)NPU_U8 &&
		       (int)NPU_TYPE_INT16 == (int)NPU_I16 && (int)NPU_TYPE_INT32 == (int)NPU_I32 &&
		       (int)NPU_TYPE_INT64 == (int)NPU_I64 &&
		       (int)NPU_TYPE_FLOAT16 == (int)NPU_F16 &&
		       (int)NPU_TYPE_FLOAT32 == (int)NPU_F32 && (int)NPU_TYPE_BOOL == (int)NPU_BOOL,
	       "enum npu_type and enum npu_dtype differ");

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
	int err = npu_model_read_budget(model, &model->planned_for);

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
	int err = options ? npu_check_size(options) : 0;

	if (err)
		return err;
	if (options)
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
	return err ? err : npu_model_first_plan(model);
}

static int new_model(struct npu_device *device, struct source *source,
		     const struct npu_model_options *options, struct npu_model **out)
{
	struct npu_model *model = calloc(1, sizeof(*model));
	u32 i;
	int err;

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

	if (model)
		*model = NULL;
	if (!device || !path || !model)
		return npu_fail(-EINVAL, "npu_model_load: device, path and model are needed");
	return new_model(device, &source, options, model);
}

int npu_model_load_memory(struct npu_device *device, const void *data, size_t bytes,
			  const char *name, const struct npu_model_options *options,
			  struct npu_model **model)
{
	struct source source = { .name = name, .data = data, .bytes = bytes };

	if (model)
		*model = NULL;
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

	if (model)
		*model = NULL;
	if (!device || !op || !name || !model)
		return npu_fail(-EINVAL,
				"npu_model_of_operator: device, operator, name and model are "
				"needed");
	return new_model(device, &source, options, model);
}

int npu_model_save_memory(struct npu_model *model, void **data, size_t *bytes)
{
	struct npu_diag diag = { "" };
	int err = npu_check_handle(model, "model");

	if (err)
		return err;
	if (!data || !bytes)
		return npu_fail(-EINVAL, "%s: no place for the compiled file", model->name);
	pthread_mutex_lock(&model->lock);
	err = npu_program_encode(model->program, data, bytes, &diag);
	pthread_mutex_unlock(&model->lock);
	return err ? npu_fail(err, "%s: %s", model->name, diag.text) : 0;
}

void npu_model_free(struct npu_model *model)
{
	if (!model)
		return;
	npu_model_stop_jobs(model);
	npu_model_drop_plan(model);
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
	return npu_check_handle(model, "model") ? 0 : model->program->net->input_count;
}

unsigned npu_model_output_count(const struct npu_model *model)
{
	return npu_check_handle(model, "model") ? 0 : model->program->net->output_count;
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
	const struct npu_graph *graph;
	int err = npu_check_handle(model, "model");

	if (err)
		return err;
	graph = model->program->net->graph;
	return tensor_info(model, graph->input, graph->input_count, index, "input", info);
}

int npu_model_output(const struct npu_model *model, unsigned index, struct npu_tensor_info *info)
{
	const struct npu_graph *graph;
	int err = npu_check_handle(model, "model");

	if (err)
		return err;
	graph = model->program->net->graph;
	return tensor_info(model, graph->output, graph->output_count, index, "output", info);
}

int npu_model_info(struct npu_model *model, struct npu_model_info *info)
{
	struct npu_model_info own = { 0 };
	const struct npu_program *program;
	int err = npu_check_handle(model, "model");

	if (err)
		return err;
	program = model->program;
	pthread_mutex_lock(&model->lock);
	own.layers = program->net->layer_count;
	own.npu_tasks = program->plan->task_count;
	own.cpu_steps = npu_program_cpu_steps(program);
	own.chains = program->step_count - own.cpu_steps;
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
