// SPDX-License-Identifier: MIT
/* Building blocks of the ONNX model that a network becomes. */
#include "caffe.h"

void *caffe_alloc(struct caffe *c, u64 count, size_t bytes)
{
	void *memory = count <= SIZE_MAX
			       ? npu_arena_array(&c->graph->arena, max(count, (u64)1), bytes)
			       : NULL;

	c->out_of_memory |= !memory;
	return memory;
}

/* Room for one more pointer; doubling keeps what is left behind below the final size. */
static bool grow(struct caffe *c, void ***array, size_t count, u32 *capacity)
{
	void **larger;

	if (count < *capacity)
		return true;
	larger = caffe_alloc(c, max(2 * (u64)*capacity, (u64)16), sizeof(*larger));
	if (!larger)
		return false;
	if (count)
		memcpy(larger, *array, count * sizeof(*larger));
	*array = larger;
	*capacity = max(2 * *capacity, 16u);
	return true;
}

static const char *new_name(struct caffe *c, const char *base)
{
	char *name = npu_arena_printf(&c->graph->arena, "%s#%u", base, ++c->temporaries);

	c->out_of_memory |= !name;
	return name ? name : "";
}

static char *text_copy(struct caffe *c, const char *text)
{
	char *copy = npu_arena_string(&c->graph->arena, text, strlen(text));

	c->out_of_memory |= !copy;
	return copy;
}

/* ---- nodes ---- */

Onnx__NodeProto *caffe_node(struct caffe *c, const char *op, u32 outputs)
{
	Onnx__NodeProto *node = caffe_alloc(c, 1, sizeof(*node));
	Onnx__GraphProto *graph = &c->source;

	if (!node || !grow(c, (void ***)&graph->node, graph->n_node, &c->node_capacity))
		return NULL;
	onnx__node_proto__init(node);
	node->name = text_copy(c, c->layer->name);
	node->op_type = text_copy(c, op);
	node->doc_string = text_copy(c, c->description);
	node->input = caffe_alloc(c, NPU_MAX_INPUTS, sizeof(*node->input));
	node->output = caffe_alloc(c, outputs, sizeof(*node->output));
	if (c->out_of_memory)
		return NULL;
	graph->node[graph->n_node++] = node;
	return node;
}

void caffe_node_input(struct caffe *c, Onnx__NodeProto *node, const char *name)
{
	if (node && node->n_input < NPU_MAX_INPUTS)
		node->input[node->n_input++] = text_copy(c, name);
}

/* No operator that is made here has more. */
#define MAX_ATTRIBUTES 8

static Onnx__AttributeProto *add_attribute(struct caffe *c, Onnx__NodeProto *node, const char *name)
{
	Onnx__AttributeProto *attribute = node ? caffe_alloc(c, 1, sizeof(*attribute)) : NULL;

	if (!attribute)
		return NULL;
	if (!node->attribute)
		node->attribute = caffe_alloc(c, MAX_ATTRIBUTES, sizeof(*node->attribute));
	if (!node->attribute || node->n_attribute == MAX_ATTRIBUTES)
		return NULL;
	onnx__attribute_proto__init(attribute);
	attribute->name = text_copy(c, name);
	node->attribute[node->n_attribute++] = attribute;
	return attribute;
}

void caffe_node_int(struct caffe *c, Onnx__NodeProto *node, const char *name, s64 value)
{
	Onnx__AttributeProto *attribute = add_attribute(c, node, name);

	if (!attribute)
		return;
	attribute->has_i = true;
	attribute->i = value;
}

void caffe_node_float(struct caffe *c, Onnx__NodeProto *node, const char *name, float value)
{
	Onnx__AttributeProto *attribute = add_attribute(c, node, name);

	if (!attribute)
		return;
	attribute->has_f = true;
	attribute->f = value;
}

void caffe_node_text(struct caffe *c, Onnx__NodeProto *node, const char *name, const char *value)
{
	Onnx__AttributeProto *attribute = add_attribute(c, node, name);

	if (!attribute)
		return;
	attribute->has_s = true;
	attribute->s.data = (u8 *)text_copy(c, value);
	attribute->s.len = attribute->s.data ? strlen(value) : 0;
}

void caffe_node_ints(struct caffe *c, Onnx__NodeProto *node, const char *name, const s64 *values,
		     u32 count)
{
	Onnx__AttributeProto *attribute = add_attribute(c, node, name);

	if (!attribute)
		return;
	attribute->ints = caffe_alloc(c, count, sizeof(*attribute->ints));
	if (!attribute->ints)
		return;
	memcpy(attribute->ints, values, count * sizeof(*values));
	attribute->n_ints = count;
}

/* ---- constants ---- */

static Onnx__TensorProto *add_constant(struct caffe *c, s32 type, u32 rank, const u32 *dim)
{
	Onnx__TensorProto *tensor = caffe_alloc(c, 1, sizeof(*tensor));
	Onnx__GraphProto *graph = &c->source;
	u32 i;

	if (!tensor ||
	    !grow(c, (void ***)&graph->initializer, graph->n_initializer, &c->constant_capacity))
		return NULL;
	onnx__tensor_proto__init(tensor);
	tensor->name = (char *)(uintptr_t)new_name(c, c->layer->name);
	tensor->has_data_type = true;
	tensor->data_type = type;
	tensor->dims = caffe_alloc(c, rank, sizeof(*tensor->dims));
	if (c->out_of_memory)
		return NULL;
	tensor->n_dims = rank;
	for (i = 0; i < rank; i++)
		tensor->dims[i] = dim[i];
	tensor->has_raw_data = true;
	graph->initializer[graph->n_initializer++] = tensor;
	return tensor;
}

const char *caffe_constant(struct caffe *c, u32 rank, const u32 *dim, const float *data)
{
	Onnx__TensorProto *tensor =
		add_constant(c, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, dim);
	u64 bytes = sizeof(*data);
	u32 i;

	if (!tensor)
		return "";
	for (i = 0; i < rank; i++)
		bytes *= dim[i];
	tensor->raw_data.data = (u8 *)(uintptr_t)data;
	tensor->raw_data.len = bytes;
	return tensor->name;
}

const char *caffe_number(struct caffe *c, float number)
{
	float *data = caffe_alloc(c, 1, sizeof(*data));

	if (!data)
		return "";
	*data = number;
	return caffe_constant(c, 0, NULL, data);
}

const char *caffe_integers(struct caffe *c, const s64 *values, u32 count)
{
	Onnx__TensorProto *tensor =
		add_constant(c, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, &count);
	s64 *data = caffe_alloc(c, count, sizeof(*data));

	if (!tensor || !data)
		return "";
	memcpy(data, values, count * sizeof(*values));
	tensor->raw_data.data = (u8 *)data;
	tensor->raw_data.len = count * sizeof(*data);
	return tensor->name;
}

/* ---- values ---- */

u64 caffe_product(const struct caffe_value *value, u32 from, u32 to)
{
	u64 product = 1;

	for (; from < to; from++)
		product *= value->dim[from];
	return product;
}

u64 caffe_elements(const struct caffe_value *value)
{
	return caffe_product(value, 0, value->rank);
}

int caffe_axis(struct caffe *c, s64 axis, u32 rank, u32 *result)
{
	if (axis < -(s64)rank || axis >= (s64)rank)
		return caffe_fail(c, -EINVAL, "axis %lld of %u dimensions", (long long)axis, rank);
	*result = (u32)(axis < 0 ? axis + rank : axis);
	return 0;
}

static struct caffe_value make_value(const char *name, u32 rank, const u32 *dim)
{
	struct caffe_value value = { .name = name, .rank = rank };

	if (rank)
		memcpy(value.dim, dim, rank * sizeof(*dim));
	return value;
}

struct caffe_value caffe_between(struct caffe *c, u32 rank, const u32 *dim)
{
	return make_value(new_name(c, c->layer->name), rank, dim);
}

/* Whether a layer further down writes the same blob. */
static bool is_written_again(const struct caffe *c, const char *name)
{
	size_t i, j;

	for (i = c->index + 1; i < c->layer_count; i++)
		for (j = 0; j < c->layers[i]->n_top; j++)
			if (!strcmp(c->layers[i]->top[j], name))
				return true;
	return false;
}

static bool is_graph_input(const struct caffe *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->source.n_input; i++)
		if (!strcmp(c->source.input[i]->name, name))
			return true;
	return false;
}

/* The last that is written has the blob's own name, unless an input that is written over has it. */
struct caffe_value caffe_top(struct caffe *c, u32 i, u32 rank, const u32 *dim)
{
	const char *name = c->layer->top[i];

	if (is_written_again(c, name) || is_graph_input(c, name))
		name = new_name(c, name);
	return make_value(name, rank, dim);
}

int caffe_define(struct caffe *c, u32 i, const struct caffe_value *value)
{
	u64 elements = 1;
	u32 d;

	if (value->rank > NPU_MAX_RANK)
		return caffe_fail(c, -ENOTSUP, "more than %u dimensions", NPU_MAX_RANK);
	for (d = 0; d < value->rank; d++)
		if (!value->dim[d] || check_mul_overflow(elements, (u64)value->dim[d], &elements) ||
		    elements > INT32_MAX / sizeof(float))
			return caffe_fail(c, -ENOTSUP, "the result is empty or larger than 2 GiB");
	if (value->affine && !value->affine->is_computed)
		value->affine->name = caffe_top(c, i, 0, NULL).name;
	caffe_set_blob(c, c->layer->top[i], value, false);
	return 0;
}

Onnx__NodeProto *caffe_apply(struct caffe *c, const char *op, const struct caffe_value *in,
			     u32 count, const struct caffe_value *out)
{
	Onnx__NodeProto *node = caffe_node(c, op, 1);
	u32 i;

	for (i = 0; i < count; i++)
		caffe_node_input(c, node, in[i].name);
	if (!node)
		return NULL;
	node->output[0] = text_copy(c, out->name);
	node->n_output = 1;
	return node;
}

void caffe_reshape(struct caffe *c, const struct caffe_value *in, const struct caffe_value *out)
{
	s64 shape[NPU_MAX_RANK];
	u32 i;

	for (i = 0; i < out->rank; i++)
		shape[i] = out->dim[i];
	caffe_node_ints(c, caffe_apply(c, "Reshape", in, 1, out), "shape", shape, out->rank);
}

struct caffe_value caffe_reshaped(struct caffe *c, const struct caffe_value *in, u32 rank,
				  const u32 *dim)
{
	struct caffe_value out = caffe_between(c, rank, dim);

	caffe_reshape(c, in, &out);
	return out;
}

/* ---- affine functions ---- */

/* By channel, broadcast over what follows dimension 1. */
static const char *channel_constant(struct caffe *c, const struct caffe_value *value,
				    const float *data)
{
	u32 dim[NPU_MAX_RANK] = { 1, value->dim[1], 1, 1, 1, 1 };

	return caffe_constant(c, value->rank, dim, data);
}

static bool all_are(const float *data, u32 count, float number)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (data[i] != number)
			return false;
	return true;
}

/* The nodes belong to the layer that the function was written as. */
static void compute(struct caffe *c, const struct caffe_value *value, struct caffe_affine *affine)
{
	const bool steps[2] = { !all_are(affine->mul, affine->channels, 1),
				!all_are(affine->add, affine->channels, 0) };
	static const char *const ops[2] = { "Mul", "Add" };
	const char *description = c->description;
	const Caffe__Layer *layer = c->layer;
	Caffe__Layer owner = CAFFE__LAYER__INIT;
	struct caffe_value in[2] = { *value, *value }, out;
	u32 i;

	owner.name = (char *)(uintptr_t)affine->layer;
	c->layer = &owner;
	c->description = affine->description;
	for (i = 0; i < 2; i++) {
		if (!steps[i])
			continue;
		in[1].name = channel_constant(c, value, i ? affine->add : affine->mul);
		out = caffe_between(c, value->rank, value->dim);
		if (i || !steps[1])
			out.name = affine->name;
		caffe_apply(c, ops[i], in, 2, &out);
		in[0].name = out.name;
	}
	affine->name = in[0].name;
	affine->is_computed = true;
	c->layer = layer;
	c->description = description;
}

struct caffe_value caffe_settled(struct caffe *c, const struct caffe_value *value)
{
	struct caffe_value settled = *value;

	if (!value->affine)
		return settled;
	if (!value->affine->is_computed && !c->out_of_memory)
		compute(c, value, value->affine);
	settled.name = value->affine->name;
	settled.affine = NULL;
	return settled;
}

struct caffe_value caffe_affine(struct caffe *c, const struct caffe_value *value, const float *mul,
				const float *add)
{
	const struct caffe_affine *before = value->affine;
	struct caffe_affine *affine = caffe_alloc(c, 1, sizeof(*affine));
	u32 channels = value->dim[1], k;
	struct caffe_value result = *value;

	if (!affine)
		return result;
	affine->channels = channels;
	affine->mul = caffe_alloc(c, channels, sizeof(*affine->mul));
	affine->add = caffe_alloc(c, channels, sizeof(*affine->add));
	affine->layer = c->layer->name;
	affine->description = c->description;
	affine->name = new_name(c, c->layer->name);
	for (k = 0; !c->out_of_memory && k < channels; k++) {
		float m = mul ? mul[k] : 1;

		affine->mul[k] = (before ? before->mul[k] : 1) * m;
		affine->add[k] = (before ? before->add[k] : 0) * m + (add ? add[k] : 0);
	}
	result.affine = affine;
	return result;
}
