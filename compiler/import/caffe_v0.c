// SPDX-License-Identifier: MIT
/*
 * Layers as files had them in 2013: "layers { layer { type: ... } bottom: ... }", the parameters of all
 * types in one message, and padding as a layer of its own in front of a convolution or pooling.
 */
#include "caffe.h"

/* What types and the few fields that were renamed are called today. */
static const struct {
	const char *old, *type, *parameters;
} types[] = {
	{ "accuracy", "Accuracy", NULL },
	{ "bnll", "BNLL", NULL },
	{ "concat", "Concat", "concat_param" },
	{ "conv", "Convolution", "convolution_param" },
	{ "data", "Data", NULL },
	{ "dropout", "Dropout", "dropout_param" },
	{ "euclidean_loss", "EuclideanLoss", NULL },
	{ "flatten", "Flatten", NULL },
	{ "hdf5_data", "HDF5Data", NULL },
	{ "hdf5_output", "HDF5Output", NULL },
	{ "images", "ImageData", NULL },
	{ "infogain_loss", "InfogainLoss", NULL },
	{ "innerproduct", "InnerProduct", "inner_product_param" },
	{ "lrn", "LRN", "lrn_param" },
	{ "pool", "Pooling", "pooling_param" },
	{ "relu", "ReLU", NULL },
	{ "sigmoid", "Sigmoid", NULL },
	{ "softmax", "Softmax", NULL },
	{ "softmax_loss", "SoftmaxWithLoss", NULL },
	{ "split", "Split", NULL },
	{ "tanh", "TanH", NULL },
	{ "window_data", "WindowData", NULL },
};

static const struct {
	const char *old, *now;
} renamed[] = {
	{ "biasterm", "bias_term" },
	{ "kernelsize", "kernel_size" },
};

typedef ProtobufCFieldDescriptor field;

static const field *field_of(const ProtobufCMessageDescriptor *message, const char *name)
{
	return protobuf_c_message_descriptor_get_field_by_name(message, name);
}

static const char *name_today(const char *old)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(renamed); i++)
		if (!strcmp(renamed[i].old, old))
			return renamed[i].now;
	return old;
}

static size_t value_bytes(const field *f)
{
	switch (f->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
	case PROTOBUF_C_TYPE_STRING:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	default:
		return sizeof(
			u32); /* numbers and names of numbers of 32 bits: the old message has no others */
	}
}

/* Whether an optional field is there: messages and texts are pointers, the others have a flag. */
static bool is_given(const void *message, const field *f)
{
	const u8 *at = (const u8 *)message + f->offset;

	if (f->type == PROTOBUF_C_TYPE_MESSAGE || f->type == PROTOBUF_C_TYPE_STRING)
		return *(void *const *)at;
	return *(const protobuf_c_boolean *)((const u8 *)message + f->quantifier_offset);
}

/* A single value, where today's message may have a list of them. */
static int copy_field(struct caffe *c, const void *from, const field *a, void *to, const field *b)
{
	u8 *at = (u8 *)to + b->offset;
	const u8 *value = (const u8 *)from + a->offset;

	if (b->label == PROTOBUF_C_LABEL_REPEATED) {
		void *list = caffe_alloc(c, 1, sizeof(u64));

		if (!list)
			return -ENOMEM;
		memcpy(list, value, value_bytes(a));
		*(void **)at = list;
		*(size_t *)((u8 *)to + b->quantifier_offset) = 1;
		return 0;
	}
	memcpy(at, value, value_bytes(a));
	if (b->type != PROTOBUF_C_TYPE_MESSAGE && b->type != PROTOBUF_C_TYPE_STRING)
		*(protobuf_c_boolean *)((u8 *)to + b->quantifier_offset) = 1;
	return 0;
}

/* All that is given and that a layer of today's type has a parameter for. */
static int copy_parameters(struct caffe *c, const Caffe__V0Layer *old, Caffe__Layer *now,
			   const char *parameters)
{
	const field *message = field_of(&caffe__layer__descriptor, parameters);
	const ProtobufCMessageDescriptor *type = message->descriptor, *from = old->base.descriptor;
	ProtobufCMessage *made = caffe_alloc(c, 1, type->sizeof_message);
	unsigned int i;
	int error = 0;

	if (!made)
		return -ENOMEM;
	type->message_init(made);
	*(void **)((u8 *)now + message->offset) = made;
	for (i = 0; !error && i < from->n_fields; i++) {
		const field *a = &from->fields[i], *b = field_of(type, name_today(a->name));

		if (b && a->label == PROTOBUF_C_LABEL_OPTIONAL && a->type == b->type &&
		    is_given(old, a))
			error = copy_field(c, old, a, made, b);
	}
	return error;
}

/* The padding that @name was given by a layer of its own. */
static const struct caffe_padding *find_padding(const struct caffe *c, const char *name)
{
	const struct caffe_padding *padding;

	for (padding = c->paddings; padding; padding = padding->next)
		if (!strcmp(padding->top, name))
			return padding;
	return NULL;
}

static int add_padding(struct caffe *c, const Caffe__V1Layer *old)
{
	struct caffe_padding *padding = caffe_alloc(c, 1, sizeof(*padding));

	if (!padding)
		return -ENOMEM;
	if (old->n_bottom != 1 || old->n_top != 1 || !strcmp(old->bottom[0], old->top[0]))
		return caffe_fail(c, -EINVAL,
				  "a layer of padding has %zu inputs and %zu outputs, or writes "
				  "what it reads",
				  old->n_bottom, old->n_top);
	*padding =
		(struct caffe_padding){ c->paddings, old->top[0], old->bottom[0], old->layer->pad };
	c->paddings = padding;
	return 0;
}

/* A layer that reads what was padded pads itself. */
static int take_padding(struct caffe *c, Caffe__V0Layer *layer, Caffe__V1Layer *old)
{
	const struct caffe_padding *padding = NULL;
	size_t i;

	for (i = 0; i < old->n_bottom && !padding; i++)
		padding = find_padding(c, old->bottom[i]);
	if (!padding)
		return 0;
	if (old->n_bottom != 1 || layer->has_pad ||
	    (strcmp(layer->type, "conv") && strcmp(layer->type, "pool")))
		return caffe_fail(c, -ENOTSUP,
				  "%.100s is padded; only convolutions and pooling without padding "
				  "of their own may read it",
				  padding->top);
	layer->has_pad = true;
	layer->pad = padding->pad;
	old->bottom[0] = padding->bottom;
	return 0;
}

int caffe_upgrade_v0(struct caffe *c, Caffe__V1Layer *old, Caffe__Layer *now)
{
	static char none[] = "";
	Caffe__V0Layer *layer = old->layer;
	u32 i;
	int error;

	layer->type = layer->type ? layer->type : none;
	now->name = layer->name;
	now->n_blobs = layer->n_blobs;
	now->blobs = layer->blobs;
	if (!strcmp(layer->type, "padding"))
		return add_padding(c, old);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].old, layer->type))
			break;
	/* One that is not known keeps its name, and is refused by it. */
	now->type = i < ARRAY_SIZE(types) ? (char *)(uintptr_t)types[i].type : layer->type;
	error = take_padding(c, layer, old);
	now->bottom = old->bottom;
	now->n_bottom = old->n_bottom;
	now->top = old->top;
	now->n_top = old->n_top;
	if (!error && i < ARRAY_SIZE(types) && types[i].parameters)
		error = copy_parameters(c, layer, now, types[i].parameters);
	return error;
}
