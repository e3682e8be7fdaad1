// SPDX-License-Identifier: MIT
/* Networks of all ages as one list of layers. */
#include "caffe.h"
#include "../text.h"

/* A network is read as Caffe does for a test, at the stage that deploys it. */
static bool is_met(const Caffe__Rule *rule)
{
	size_t i;

	if ((rule->has_phase && rule->phase != CAFFE__PHASE__TEST) ||
	    (rule->has_min_level && rule->min_level > 0) ||
	    (rule->has_max_level && rule->max_level < 0))
		return false;
	for (i = 0; i < rule->n_stage; i++)
		if (strcmp(rule->stage[i], "deploy"))
			return false;
	for (i = 0; i < rule->n_not_stage; i++)
		if (!strcmp(rule->not_stage[i], "deploy"))
			return false;
	return true;
}

static bool any_is_met(Caffe__Rule *const *rules, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (is_met(rules[i]))
			return true;
	return false;
}

static bool is_there(const Caffe__Layer *layer)
{
	if (layer->n_include)
		return any_is_met(layer->include, layer->n_include);
	return !any_is_met(layer->exclude, layer->n_exclude);
}

/* What both forms have under the same name is the same, wherever it stands in the structures. */
static void move_fields(const Caffe__V1Layer *from, Caffe__Layer *to)
{
	const ProtobufCMessageDescriptor *old = from->base.descriptor, *now = to->base.descriptor;
	unsigned int i;

	for (i = 0; i < old->n_fields; i++) {
		const ProtobufCFieldDescriptor *a = &old->fields[i];
		const ProtobufCFieldDescriptor *b =
			protobuf_c_message_descriptor_get_field_by_name(now, a->name);

		if (!b || a->type != b->type || a->label != b->label ||
		    a->descriptor != b->descriptor)
			continue;
		/* Pointers to messages, texts and lists, and the lengths of lists. */
		memcpy((u8 *)to + b->offset, (const u8 *)from + a->offset, sizeof(void *));
		if (a->label == PROTOBUF_C_LABEL_REPEATED)
			memcpy((u8 *)to + b->quantifier_offset,
			       (const u8 *)from + a->quantifier_offset, sizeof(size_t));
	}
}

/* NULL for what is no layer any more. */
static int upgrade(struct caffe *c, Caffe__V1Layer *old, Caffe__Layer **layer)
{
	const char *type = caffe_v1_type(old->type);
	Caffe__Layer *now = caffe_alloc(c, 1, sizeof(*now));

	if (!now)
		return -ENOMEM;
	caffe__layer__init(now);
	if (old->layer) {
		int error = caffe_upgrade_v0(c, old, now);

		*layer = now->type ? now : NULL;
		return error;
	}
	move_fields(old, now);
	if (!type) {
		const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(
			&caffe__v1_layer__layer_type__descriptor, old->type);

		type = value ? value->name : "?";
	}
	now->type = npu_arena_string(&c->graph->arena, type, strlen(type));
	*layer = now;
	return now->type ? 0 : -ENOMEM;
}

/* Fields that every layer has to have. */
static int complete(struct caffe *c, Caffe__Layer *layer)
{
	static char none[] = "";

	layer->name = layer->name ? layer->name : none;
	layer->type = layer->type ? layer->type : none;
	if (layer->n_top > CAFFE_MAX_TOPS || layer->n_bottom > NPU_MAX_INPUTS)
		return npu_diag_set(c->diag, -ENOTSUP,
				    "%s: layer %s: %zu inputs and %zu outputs, at most %u and %u "
				    "are supported",
				    c->graph->file, npu_text_clean(&c->graph->arena, layer->name),
				    layer->n_bottom, layer->n_top, NPU_MAX_INPUTS, CAFFE_MAX_TOPS);
	return 0;
}

int caffe_list_layers(struct caffe *c, const Caffe__Net *net)
{
	size_t count = net->n_layers + net->n_layer, i;
	int error = 0;

	if (net->n_layers && net->n_layer)
		return npu_diag_set(c->diag, -EINVAL, "%s: both \"layer\" and \"layers\"",
				    c->graph->file);
	if (count > CAFFE_MAX_LAYERS)
		return npu_diag_set(c->diag, -ENOTSUP, "%s: %zu layers, at most %u are supported",
				    c->graph->file, count, CAFFE_MAX_LAYERS);
	c->layers = caffe_alloc(c, count, sizeof(*c->layers));
	if (!c->layers)
		return -ENOMEM;
	for (i = 0; !error && i < count; i++) {
		Caffe__Layer *layer = i < net->n_layer ? net->layer[i] : NULL;

		if (!layer)
			error = upgrade(c, net->layers[i], &layer);
		if (!error && layer)
			error = complete(c, layer);
		if (!error && layer && is_there(layer))
			c->layers[c->layer_count++] = layer;
	}
	return error;
}
