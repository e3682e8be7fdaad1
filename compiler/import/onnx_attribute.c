// SPDX-License-Identifier: MIT
/* Attributes of nodes, and parameters that moved from attributes to inputs. */
#include "onnx.h"

const Onnx__AttributeProto *onnx_attribute(const struct onnx *o, const char *name)
{
	size_t i;

	for (i = 0; i < o->node->n_attribute; i++)
		if (o->node->attribute[i]->name && !strcmp(o->node->attribute[i]->name, name))
			return o->node->attribute[i];
	return NULL;
}

s64 onnx_int(const struct onnx *o, const char *name, s64 other)
{
	const Onnx__AttributeProto *attribute = onnx_attribute(o, name);

	return attribute && attribute->has_i ? attribute->i : other;
}

float onnx_float(const struct onnx *o, const char *name, float other)
{
	const Onnx__AttributeProto *attribute = onnx_attribute(o, name);

	return attribute && attribute->has_f ? attribute->f : other;
}

bool onnx_text_is(const struct onnx *o, const char *name, const char *text, bool other)
{
	const Onnx__AttributeProto *attribute = onnx_attribute(o, name);

	if (!attribute || !attribute->has_s)
		return other;
	return attribute->s.len == strlen(text) && !memcmp(attribute->s.data, text, strlen(text));
}

int onnx_ints(struct onnx *o, const char *name, s64 *values, u32 limit, u32 *count)
{
	const Onnx__AttributeProto *attribute = onnx_attribute(o, name);
	u32 i;

	*count = 0;
	if (!attribute)
		return 0;
	if (attribute->n_ints > limit)
		return onnx_fail(o, -EINVAL, "%s has %zu values, at most %u are possible", name,
				 attribute->n_ints, limit);
	for (i = 0; i < attribute->n_ints; i++)
		values[i] = attribute->ints[i];
	*count = i;
	return 0;
}

int onnx_parameter(struct onnx *o, const char *name, u32 input, s64 *values, u32 limit, u32 *count)
{
	*count = 0;
	if (input < o->in_count && o->in[input])
		return onnx_integers(o, input, values, limit, count);
	return onnx_ints(o, name, values, limit, count);
}

int onnx_axis(struct onnx *o, s64 axis, u32 rank, u32 *result)
{
	if (axis < -(s64)rank || axis >= (s64)rank)
		return onnx_fail(o, -EINVAL, "axis %lld of %u dimensions", (long long)axis, rank);
	*result = axis < 0 ? axis + rank : axis;
	return 0;
}
