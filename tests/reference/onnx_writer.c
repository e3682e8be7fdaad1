// SPDX-License-Identifier: MIT
#include "onnx_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take(struct onnx_writer *w, size_t bytes)
{
	void *memory = calloc(1, bytes ? bytes : 1);

	if (!memory || w->memory_count == ARRAY_SIZE(w->memory))
		abort();
	w->memory[w->memory_count++] = memory;
	return memory;
}

static char *copy(struct onnx_writer *w, const char *text)
{
	return strcpy(take(w, strlen(text) + 1), text);
}

static size_t parts(const char *list)
{
	size_t n = *list ? 1 : 0;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

static s64 *numbers(struct onnx_writer *w, const char *list, size_t *count)
{
	s64 *values = take(w, (parts(list) + 1) * sizeof(*values));
	size_t i;

	*count = parts(list);
	for (i = 0; i < *count; i++) {
		values[i] = strtoll(list, NULL, 10);
		list = strchr(list, ',') ? strchr(list, ',') + 1 : "";
	}
	return values;
}

static char **names(struct onnx_writer *w, const char *list, size_t *count)
{
	char **texts = take(w, (parts(list) + 1) * sizeof(*texts));
	char *rest = copy(w, list);
	size_t i;

	*count = parts(list);
	for (i = 0; i < *count; i++)
		texts[i] = strsep(&rest, ",");
	return texts;
}

void onnx_begin(struct onnx_writer *w, s64 opset)
{
	memset(w, 0, sizeof(*w));
	onnx__model_proto__init(&w->model);
	onnx__graph_proto__init(&w->graph);
	onnx__operator_set_id_proto__init(&w->opset);
	w->opset.has_version = true;
	w->opset.version = opset;
	w->opsets[0] = &w->opset;
	w->model.has_ir_version = true;
	w->model.ir_version = 7;
	w->model.n_opset_import = 1;
	w->model.opset_import = w->opsets;
	w->model.graph = &w->graph;
	w->graph.node = w->node;
	w->graph.initializer = w->tensor;
	w->graph.input = w->input;
	w->graph.output = w->output;
}

static Onnx__ValueInfoProto *value_info(struct onnx_writer *w, const char *name)
{
	Onnx__ValueInfoProto *info = take(w, sizeof(*info));

	onnx__value_info_proto__init(info);
	info->name = copy(w, name);
	return info;
}

void onnx_input(struct onnx_writer *w, const char *name, s32 type, const char *dims)
{
	Onnx__ValueInfoProto *info = value_info(w, name);
	Onnx__TypeProto__Tensor *tensor = take(w, sizeof(*tensor));
	Onnx__TensorShapeProto *shape = take(w, sizeof(*shape));
	s64 *values = numbers(w, dims, &shape->n_dim);
	size_t i, count = shape->n_dim;

	info->type = take(w, sizeof(*info->type));
	onnx__type_proto__init(info->type);
	onnx__type_proto__tensor__init(tensor);
	onnx__tensor_shape_proto__init(shape);
	info->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	info->type->tensor_type = tensor;
	tensor->has_elem_type = true;
	tensor->elem_type = type;
	tensor->shape = shape;
	shape->n_dim = count;
	shape->dim = take(w, count * sizeof(*shape->dim));
	for (i = 0; i < count; i++) {
		shape->dim[i] = take(w, sizeof(**shape->dim));
		onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
		/* 0 is a dimension with a name instead of a size. */
		shape->dim[i]->value_case =
			values[i] ? ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE
				  : ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
		if (values[i])
			shape->dim[i]->dim_value = values[i];
		else
			shape->dim[i]->dim_param = copy(w, "N");
	}
	w->input[w->graph.n_input++] = info;
}

void onnx_output(struct onnx_writer *w, const char *name)
{
	w->output[w->graph.n_output++] = value_info(w, name);
}

Onnx__TensorProto *onnx_raw(struct onnx_writer *w, const char *name, s32 type, u32 element_bytes,
			    const char *dims, const void *raw)
{
	Onnx__TensorProto *t = take(w, sizeof(*t));
	size_t i, bytes = element_bytes;
	u8 *data;

	onnx__tensor_proto__init(t);
	t->name = copy(w, name);
	t->has_data_type = true;
	t->data_type = type;
	t->dims = numbers(w, dims, &t->n_dims);
	for (i = 0; i < t->n_dims; i++)
		bytes *= (size_t)t->dims[i];
	data = take(w, bytes);
	for (i = 0; i < bytes; i++)
		data[i] = raw ? ((const u8 *)raw)[i] : (u8)i;
	t->has_raw_data = true;
	t->raw_data = (ProtobufCBinaryData){ bytes, data };
	w->tensor[w->graph.n_initializer++] = t;
	return t;
}

void onnx_floats(struct onnx_writer *w, const char *name, const char *dims, const float *values)
{
	Onnx__TensorProto *t =
		onnx_raw(w, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, 4, dims, values);
	size_t i;

	for (i = 0; !values && i < t->raw_data.len / 4; i++) {
		float value = (float)((i * 7 + 3) % 13) / 13 - 0.4f;

		memcpy(t->raw_data.data + 4 * i, &value, 4);
	}
}

void onnx_int64s(struct onnx_writer *w, const char *name, const char *values)
{
	size_t count;
	s64 *list = numbers(w, values, &count);
	char dims[32];

	snprintf(dims, sizeof(dims), "%zu", count);
	onnx_raw(w, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 8, dims, list);
}

void onnx_scalar(struct onnx_writer *w, const char *name, float value)
{
	onnx_floats(w, name, "", &value);
}

Onnx__NodeProto *onnx_node(struct onnx_writer *w, const char *type, const char *inputs,
			   const char *outputs)
{
	Onnx__NodeProto *node = take(w, sizeof(*node));

	onnx__node_proto__init(node);
	node->op_type = copy(w, type);
	node->input = names(w, inputs, &node->n_input);
	node->output = names(w, outputs, &node->n_output);
	node->attribute = take(w, 16 * sizeof(*node->attribute));
	w->node[w->graph.n_node++] = node;
	return node;
}

static Onnx__AttributeProto *add_attribute(struct onnx_writer *w, const char *name)
{
	Onnx__NodeProto *node = w->node[w->graph.n_node - 1];
	Onnx__AttributeProto *attribute = take(w, sizeof(*attribute));

	onnx__attribute_proto__init(attribute);
	attribute->name = copy(w, name);
	node->attribute[node->n_attribute++] = attribute;
	return attribute;
}

Onnx__AttributeProto *onnx_attribute_ints(struct onnx_writer *w, const char *name,
					  const char *values)
{
	Onnx__AttributeProto *attribute = add_attribute(w, name);

	attribute->ints = numbers(w, values, &attribute->n_ints);
	return attribute;
}

void onnx_attribute_int(struct onnx_writer *w, const char *name, s64 value)
{
	Onnx__AttributeProto *attribute = add_attribute(w, name);

	attribute->has_i = true;
	attribute->i = value;
}

void onnx_attribute_float(struct onnx_writer *w, const char *name, float value)
{
	Onnx__AttributeProto *attribute = add_attribute(w, name);

	attribute->has_f = true;
	attribute->f = value;
}

void onnx_attribute_text(struct onnx_writer *w, const char *name, const char *text)
{
	Onnx__AttributeProto *attribute = add_attribute(w, name);

	attribute->has_s = true;
	attribute->s = (ProtobufCBinaryData){ strlen(text), (u8 *)copy(w, text) };
}

void onnx_qdq_conv(struct onnx_writer *w, s32 type, bool per_channel)
{
	static const u8 zero_u8[] = { 130 };
	static const s8 zero_s8[] = { 2 };
	static const s32 bias[] = { 10, 20, 30 };
	const void *zero = type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT8 ? (const void *)zero_u8
									: zero_s8;
	const float scales[] = { 0.5f, 0.25f, 0.125f };

	onnx_begin(w, 13);
	onnx_input(w, "x", ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, "1,2,4,4");
	onnx_scalar(w, "s", 0.5f);
	onnx_raw(w, "z", type, 1, "", zero);
	onnx_raw(w, "wq", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 1, "3,2,1,1", NULL);
	onnx_floats(w, "ws", per_channel ? "3" : "", scales);
	onnx_raw(w, "bq", ONNX__TENSOR_PROTO__DATA_TYPE__INT32, 4, "3", bias);
	onnx_floats(w, "bs", "", (const float[]){ 0.25f });
	onnx_node(w, "QuantizeLinear", "x,s,z", "xq");
	onnx_node(w, "DequantizeLinear", "xq,s,z", "xd");
	onnx_node(w, "DequantizeLinear", "wq,ws", "wd");
	onnx_attribute_int(w, "axis", 0);
	onnx_node(w, "DequantizeLinear", "bq,bs", "bd");
	onnx_node(w, "Conv", "xd,wd,bd", "y");
}

u8 *onnx_end(struct onnx_writer *w, size_t *bytes)
{
	u8 *data;
	u32 i;

	*bytes = onnx__model_proto__get_packed_size(&w->model);
	data = malloc(*bytes + 1);
	if (!data)
		abort();
	onnx__model_proto__pack(&w->model, data);
	for (i = 0; i < w->memory_count; i++)
		free(w->memory[i]);
	return data;
}
