// SPDX-License-Identifier: MIT
/* Outputs and figures as JSON. */
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/element.h"
#include "../common/tool.h"
#include "run.h"

/* JSON has no infinities: null. */
static struct json_object *json_number(double number)
{
	return isfinite(number) ? json_object_new_double(number) : NULL;
}

static struct json_object *json_top(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;
	struct json_object *array = json_object_new_array();
	double value = INFINITY;
	uint64_t index = 0;
	uint32_t i;

	for (i = 0; i < run->options->top && run_next_best(info, data, &value, &index); i++) {
		struct json_object *entry = json_object_new_object();
		const char *name = run_label(&run->labels, index);

		json_object_object_add(entry, "class", json_object_new_int64((int64_t)index));
		if (name)
			json_object_object_add(entry, "label", json_object_new_string(name));
		json_object_object_add(entry, "value", json_number(tool_real(info, data, index)));
		json_object_array_add(array, entry);
	}
	return array;
}

static struct json_object *json_element(const struct run *run, unsigned output, uint64_t i)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	const void *data = run->output[output].data;

	if (info->type == NPU_TYPE_FLOAT16 || info->type == NPU_TYPE_FLOAT32 ||
	    (run->options->real && info->scale > 0))
		return json_number(tool_real(info, data, i));
	if (info->type == NPU_TYPE_INT64)
		return json_object_new_int64(((const int64_t *)data)[i]);
	return json_object_new_int64((int64_t)tool_stored(info, data, i));
}

static struct json_object *json_values(const struct run *run, unsigned output)
{
	struct json_object *array = json_object_new_array();
	uint64_t count = tool_elements(&run->out_info[output]), i;

	for (i = 0; i < count; i++)
		json_object_array_add(array, json_element(run, output, i));
	return array;
}

static struct json_object *json_output(const struct run *run, unsigned output)
{
	const struct npu_tensor_info *info = &run->out_info[output];
	struct json_object *object = json_object_new_object();
	struct json_object *shape = json_object_new_array();
	uint32_t i;

	for (i = 0; i < info->rank; i++)
		json_object_array_add(shape, json_object_new_int64(info->shape[i]));
	json_object_object_add(object, "name", json_object_new_string(info->name));
	json_object_object_add(object, "type", json_object_new_string(npu_type_name(info->type)));
	json_object_object_add(object, "shape", shape);
	if (info->scale > 0) {
		json_object_object_add(object, "scale",
				       json_object_new_double((double)info->scale));
		json_object_object_add(object, "zero_point",
				       json_object_new_int64(info->zero_point));
	}
	if (run_is_ranked(run, info))
		json_object_object_add(object, "top", json_top(run, output));
	if (run->options->values)
		json_object_object_add(object, "values", json_values(run, output));
	return object;
}

static struct json_object *json_stats(const struct run *run, const struct npu_model_info *model)
{
	struct json_object *object = json_object_new_object();
	struct run_figure figure[RUN_MAX_FIGURES];
	unsigned i, count = run_list_figures(run, model, figure);

	for (i = 0; i < count; i++)
		json_object_object_add(object, figure[i].name,
				       json_object_new_int64((int64_t)figure[i].value));
	return object;
}

/* The name of a file may be any bytes. */
static struct json_object *json_file_name(const char *name)
{
	char *copy = strdup(name);
	struct json_object *text;

	if (!copy)
		return NULL;
	tool_clean_text(copy);
	text = json_object_new_string(copy);
	free(copy);
	return text;
}

void run_print_json(const struct run *run, const struct npu_model_info *model)
{
	struct npu_device_info device = { .size = sizeof(device) };
	struct json_object *object = json_object_new_object();
	struct json_object *outputs = json_object_new_array();
	unsigned i;

	npu_device_info(run->device, &device);
	json_object_object_add(object, "model", json_file_name(run->options->model));
	json_object_object_add(object, "device", json_object_new_string(device.name));
	for (i = 0; i < run->output_count; i++)
		json_object_array_add(outputs, json_output(run, i));
	json_object_object_add(object, "outputs", outputs);
	if (run->options->stats)
		json_object_object_add(object, "stats", json_stats(run, model));
	printf("%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY));
	json_object_put(object);
}
