// SPDX-License-Identifier: MIT
/*
 * Reads a Caffe network: both files into protobuf-c's structures, layers in the file's order into an
 * ONNX model, the model into the graph.
 */
#include "caffe.h"
#include "decode.h"
#include "prototxt.h"
#include "../text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What a network may cost: structures (an empty layer takes seven bytes of text and six hundred in
 * memory), the ONNX model, weights and their copies in the graph's order.
 */
#define ARENA_PER_TEXT 64
#define ARENA_PER_WEIGHTS 32
#define ARENA_BASE (4u << 20)

#define OPSET 13

static const char *clean(struct caffe *c, const char *text)
{
	const char *copy = npu_text_clean(&c->graph->arena, text ? text : "");

	return copy ? copy : "?";
}

int caffe_fail(struct caffe *c, int error, const char *format, ...)
{
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!c->description)
		return npu_diag_set(c->diag, error, "%s: %s", c->graph->file, clean(c, what));
	return npu_diag_set(c->diag, error, "%s: %s: %s", c->graph->file, c->description,
			    clean(c, what));
}

/* ---- blobs ---- */

struct caffe_blob *caffe_find_blob(struct caffe *c, const char *name)
{
	u32 i;

	for (i = c->table_count; i--;)
		if (!strcmp(c->table[i].name, name))
			return &c->table[i];
	return NULL;
}

void caffe_set_blob(struct caffe *c, const char *name, const struct caffe_value *value,
		    bool is_input)
{
	struct caffe_blob *blob = caffe_find_blob(c, name), *larger;

	if (!blob && c->table_count == c->table_capacity) {
		larger = caffe_alloc(c, max(2 * (u64)c->table_capacity, (u64)64), sizeof(*larger));
		if (!larger)
			return;
		if (c->table_count)
			memcpy(larger, c->table, c->table_count * sizeof(*larger));
		c->table = larger;
		c->table_capacity = max(2 * c->table_capacity, 64u);
	}
	if (!blob)
		blob = &c->table[c->table_count++];
	*blob = (struct caffe_blob){ .name = name, .value = *value, .is_input = is_input };
}

/* ---- layers ---- */

static int take_inputs(struct caffe *c)
{
	u32 i;

	c->in_count = (u32)c->layer->n_bottom;
	for (i = 0; i < c->in_count; i++) {
		struct caffe_blob *blob = caffe_find_blob(c, c->layer->bottom[i]);

		if (!blob)
			return caffe_fail(c, -EINVAL, "input %u (%.100s) is not computed before", i,
					  c->layer->bottom[i]);
		if (!blob->value.name && !(c->row->flags & CAFFE_TAKES_BOXES))
			return caffe_fail(c, -ENOTSUP,
					  "input %u (%.100s) is of prior boxes, which only "
					  "DetectionOutput reads",
					  i, c->layer->bottom[i]);
		blob->was_read = true;
		c->in[i] = c->row->flags & CAFFE_JOINS ? blob->value
						       : caffe_settled(c, &blob->value);
	}
	return 0;
}

/* A blob that exists may only be written by a layer that reads it. */
static int check_outputs(struct caffe *c)
{
	size_t i, j;

	for (i = 0; i < c->layer->n_top; i++) {
		const char *name = c->layer->top[i];
		bool in_place = false;

		for (j = 0; j < c->layer->n_bottom; j++)
			in_place |= !strcmp(c->layer->bottom[j], name);
		if (!in_place && caffe_find_blob(c, name))
			return caffe_fail(c, -EINVAL, "output %zu (%.100s) is computed twice", i,
					  name);
		for (j = 0; j < i; j++)
			if (!strcmp(c->layer->top[j], name))
				return caffe_fail(c, -EINVAL, "outputs %zu and %zu are both %.100s",
						  j, i, name);
	}
	return 0;
}

static bool is_within(size_t count, const u8 limits[2])
{
	return count >= limits[0] && count <= limits[1];
}

static int check_row(struct caffe *c)
{
	if (!c->row)
		return caffe_fail(c, -ENOTSUP, "layers of this type are not supported");
	if (!is_within(c->layer->n_bottom, c->row->inputs) ||
	    !is_within(c->layer->n_top, c->row->outputs))
		return caffe_fail(c, -ENOTSUP, "%zu inputs and %zu outputs", c->layer->n_bottom,
				  c->layer->n_top);
	return 0;
}

static int read_layer(struct caffe *c, u32 index)
{
	int error;

	c->index = index;
	c->layer = c->layers[index];
	c->row = caffe_find_row(c->layer->type);
	c->description = npu_arena_printf(&c->graph->arena, "layer %u (%.60s, %.100s)", index,
					  clean(c, c->layer->type), clean(c, c->layer->name));
	c->first_node = c->source.n_node;
	if (!c->description)
		return -ENOMEM;
	error = check_row(c);
	if (!error)
		error = take_inputs(c);
	if (!error)
		error = check_outputs(c);
	if (!error)
		error = caffe_find_weights(c);
	/* A function that was left to be computed is no node of this layer. */
	c->first_node = c->source.n_node;
	if (!error && !c->out_of_memory)
		error = c->row->read(c);
	return error ? error : c->out_of_memory ? -ENOMEM : 0;
}

/* ---- ends ---- */

/* The inputs that a network lists beside its layers. */
static int read_inputs(struct caffe *c, const Caffe__Net *net)
{
	size_t i;
	int error = 0;

	if (!net->n_input)
		return 0;
	if (net->n_input_shape != net->n_input && net->n_input_dim != 4 * net->n_input)
		return caffe_fail(
			c, -EINVAL,
			"%zu inputs with %zu times input_shape and %zu times input_dim, of "
			"which each needs one or four",
			net->n_input, net->n_input_shape, net->n_input_dim);
	for (i = 0; !error && i < net->n_input; i++) {
		const Caffe__Shape *shape = net->n_input_shape ? net->input_shape[i] : NULL;

		if (net->n_input_shape && net->n_input_shape != net->n_input)
			return caffe_fail(c, -EINVAL, "%zu inputs, %zu times input_shape",
					  net->n_input, net->n_input_shape);
		error = caffe_add_input(c, net->input[i],
					shape ? shape->dim : net->input_dim + 4 * i,
					shape ? shape->n_dim : 4);
	}
	return error;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct caffe_blob *const *)a)->name,
		      (*(const struct caffe_blob *const *)b)->name);
}

/* What no layer reads, in the order of names: as Caffe has it. */
static int list_outputs(struct caffe *c)
{
	struct caffe_blob **blobs = caffe_alloc(c, c->table_count, sizeof(*blobs));
	Onnx__ValueInfoProto *info;
	size_t count = 0, i;

	for (i = 0; blobs && i < c->table_count; i++)
		if (!c->table[i].was_read && !c->table[i].is_input && c->table[i].value.name)
			blobs[count++] = &c->table[i];
	info = caffe_alloc(c, count, sizeof(*info));
	c->source.output = caffe_alloc(c, count, sizeof(*c->source.output));
	if (c->out_of_memory)
		return -ENOMEM;
	qsort(blobs, count, sizeof(*blobs), by_name);
	for (i = 0; i < count; i++) {
		onnx__value_info_proto__init(&info[i]);
		info[i].name = (char *)(uintptr_t)caffe_settled(c, &blobs[i]->value).name;
		c->source.output[i] = &info[i];
	}
	c->source.n_output = count;
	if (!count)
		return caffe_fail(c, -EINVAL, "the network has no output");
	return c->out_of_memory ? -ENOMEM : 0;
}

static int read_net(struct caffe *c, const Caffe__Net *net)
{
	Onnx__OperatorSetIdProto opset = ONNX__OPERATOR_SET_ID_PROTO__INIT, *opsets = &opset;
	u32 i;
	int error = caffe_list_layers(c, net);

	if (!error)
		error = read_inputs(c, net);
	for (i = 0; !error && i < c->layer_count; i++)
		error = read_layer(c, i);
	c->description = NULL;
	if (!error)
		error = list_outputs(c);
	if (error)
		return error;
	opset.has_version = true;
	opset.version = OPSET;
	c->model.opset_import = &opsets;
	c->model.n_opset_import = 1;
	c->model.graph = &c->source;
	return onnx_read_made(c->graph, &c->model, c->diag);
}

/* ---- files ---- */

/* Forks add parameters to layers; where a layer of theirs is meant its type tells. */
static bool may_have_others(const ProtobufCMessageDescriptor *message)
{
	return message == &caffe__net__descriptor || message == &caffe__layer__descriptor ||
	       message == &caffe__v1_layer__descriptor || message == &caffe__v0_layer__descriptor;
}

static int decode(struct caffe *c, const ProtobufCMessageDescriptor *descriptor, const void *data,
		  size_t bytes, const char *file, void *message)
{
	int error = npu_decode(descriptor, data, bytes, &c->graph->arena, message);

	if (error != -EINVAL)
		return error;
	return npu_diag_set(c->diag, error, "%s: damaged file: no weights of Caffe", file);
}

static int decode_net(struct caffe *c, const void *text, size_t bytes, const Caffe__Net **net)
{
	struct prototxt_source source = { text, bytes, c->graph->file, may_have_others };
	size_t size;
	u8 *data;
	int error = prototxt_encode(&source, &caffe__net__descriptor, &data, &size, c->diag);

	if (error)
		return error;
	error = decode(c, &caffe__net__descriptor, data, size, c->graph->file, net);
	free(data);
	return error;
}

static int import(struct caffe *c, const struct caffe_file *net, const struct caffe_file *weights)
{
	const Caffe__Net *message;
	int error;

	if (net->bytes > INT32_MAX || weights->bytes > INT32_MAX)
		return caffe_fail(c, -ENOTSUP, "files of 2 GiB and more are not supported");
	c->graph->arena.limit =
		ARENA_PER_TEXT * net->bytes + ARENA_PER_WEIGHTS * weights->bytes + ARENA_BASE;
	error = decode_net(c, net->data, net->bytes, &message);
	if (!error && weights->data)
		error = decode(c, &caffe__weight_file__descriptor, weights->data, weights->bytes,
			       weights->name, &c->weights);
	if (!error)
		error = read_net(c, message);
	return error ? error : npu_shapes_check(c->shapes, c->graph, c->diag);
}

int caffe_import_pair(const struct caffe_file *net, const struct caffe_file *weights,
		      const struct npu_import_options *options, struct npu_graph **graph,
		      struct npu_diag *diag)
{
	struct caffe c = {
		.diag = diag,
		.shapes = options ? options->input_shapes : NULL,
		.random = options && options->random_weights,
		.model = ONNX__MODEL_PROTO__INIT,
		.source = ONNX__GRAPH_PROTO__INIT,
		.weights_file = weights->name,
		.random_state = 1,
	};
	int error;

	c.graph = npu_graph_new(net->name);
	if (!c.graph)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", net->name);
	error = import(&c, net, weights);
	if (error == -ENOMEM)
		npu_diag_set(diag, error, "%s: needs more memory than files of their size may take",
			     c.graph->file);
	if (error) {
		npu_graph_free(c.graph);
		return error;
	}
	c.graph->arena.limit = 0;
	*graph = c.graph;
	return 0;
}

bool npu_is_caffe(const void *data, size_t bytes)
{
	return prototxt_begins_with(data, bytes, &caffe__net__descriptor);
}

/* net.prototxt has its weights in net.caffemodel. */
static char *weights_beside(const char *file)
{
	static const char suffix[] = ".prototxt";
	size_t length = strlen(file), end = sizeof(suffix) - 1;
	char *path;

	if (length > end && !strcmp(file + length - end, suffix))
		length -= end;
	if (asprintf(&path, "%.*s.caffemodel", (int)min(length, (size_t)INT32_MAX), file) < 0)
		return NULL;
	return path;
}

/* Without a name of their own a network need not have weights: that is found where they are needed. */
static int map_weights(struct caffe_file *weights, bool must_be_there, struct npu_diag *diag)
{
	int file = open(weights->name, O_RDONLY | O_CLOEXEC), error = 0;
	struct stat status;
	void *data;

	if (file < 0 && errno == ENOENT && !must_be_there)
		return 0;
	if (file < 0)
		return npu_diag_set(diag, -errno, "%s: %s", weights->name, strerror(errno));
	if (fstat(file, &status) < 0)
		error = -errno;
	else if (!S_ISREG(status.st_mode) || status.st_size <= 0)
		error = -EINVAL;
	if (!error) {
		data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (data == MAP_FAILED)
			error = -errno;
		else
			*weights =
				(struct caffe_file){ weights->name, data, (size_t)status.st_size };
	}
	close(file);
	if (error == -EINVAL)
		return npu_diag_set(diag, error, "%s: not a file, or empty", weights->name);
	return error ? npu_diag_set(diag, error, "%s: %s", weights->name, strerror(-error)) : 0;
}

int npu_import_caffe(const void *data, size_t bytes, const char *file,
		     const struct npu_import_options *options, struct npu_graph **graph,
		     struct npu_diag *diag)
{
	const struct caffe_file net = { file, data, bytes };
	struct caffe_file weights = { .name = options ? options->weights : NULL };
	char *beside = weights.name ? NULL : weights_beside(file);
	const bool given = weights.name;
	int error;

	if (!given && !beside)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", file);
	if (!given)
		weights.name = beside;
	error = map_weights(&weights, given, diag);
	if (!error)
		error = caffe_import_pair(&net, &weights, options, graph, diag);
	if (weights.data)
		munmap((void *)(uintptr_t)weights.data, weights.bytes);
	free(beside);
	return error;
}
