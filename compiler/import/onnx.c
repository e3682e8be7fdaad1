// SPDX-License-Identifier: MIT
/*
 * Reads an ONNX model: constants, inputs, then the nodes in the file's order, which the
 * format promises to be an execution order.
 */
#include "batch.h"
#include "decode.h"
#include "onnx.h"
#include "shapes.h"
#include "../text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/*
 * What a file may cost: the decoder's structures (an empty node takes two bytes in the file and
 * two hundred in memory), weights in another order, and copies of shared constants.
 */
#define ARENA_FACTOR 32
#define ARENA_BASE (1u << 20)

#define OPSET_OLDEST 6
#define OPSET_NEWEST 22

static int model_fail(struct onnx *o, int error, const char *what)
{
	return npu_diag_set(o->diag, error, "%s: %s", o->graph->file, what);
}

static const char *clean(struct onnx *o, const char *text)
{
	const char *copy = npu_text_clean(&o->graph->arena, text ? text : "");

	return copy ? copy : "?";
}

int onnx_fail(struct onnx *o, int error, const char *format, ...)
{
	const char *output = "";
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!o->node)
		return npu_diag_set(o->diag, error, "%s: %s", o->graph->file, clean(o, what));
	if (o->is_made)
		return npu_diag_set(o->diag, error, "%s: %s: %s", o->graph->file,
				    clean(o, o->node->doc_string), clean(o, what));
	if (o->node->n_output)
		output = o->node->output[0];
	return npu_diag_set(o->diag, error, "%s: node %u (%.60s, %.100s): %s", o->graph->file,
			    o->index, clean(o, o->node->op_type),
			    clean(o, o->node->name && *o->node->name ? o->node->name : output),
			    clean(o, what));
}

static int check_opsets(struct onnx *o)
{
	size_t i;

	o->opset = 0;
	for (i = 0; i < o->model->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *id = o->model->opset_import[i];

		if (!id->domain || !*id->domain || !strcmp(id->domain, "ai.onnx"))
			o->opset = id->version;
	}
	if (o->opset < OPSET_OLDEST || o->opset > OPSET_NEWEST)
		return npu_diag_set(o->diag, -ENOTSUP, "%s: opset %lld; %d to %d are supported",
				    o->graph->file, (long long)o->opset, OPSET_OLDEST,
				    OPSET_NEWEST);
	return 0;
}

static int make_table(struct onnx *o)
{
	u64 names = o->source->n_initializer + o->source->n_input + o->source->n_output;
	size_t i;

	for (i = 0; i < o->source->n_node; i++)
		names += o->source->node[i]->n_output;
	o->bucket_count = (u32)min(names + 1, (u64)INT32_MAX);
	o->bucket = npu_arena_array(&o->graph->arena, o->bucket_count, sizeof(*o->bucket));
	o->done = npu_arena_array(&o->graph->arena, o->source->n_node + 1, sizeof(*o->done));
	return o->bucket && o->done ? 0 : -ENOMEM;
}

static const char *named(const Onnx__ValueInfoProto *info)
{
	return info->name ? info->name : "";
}

static int find_readers(struct onnx *o)
{
	struct onnx_value *value;
	struct onnx_reader *reader;
	size_t i, j;
	int error = 0;

	for (i = 0; !error && i < o->source->n_node; i++) {
		const Onnx__NodeProto *node = o->source->node[i];

		for (j = 0; !error && j < node->n_input; j++) {
			if (!*node->input[j])
				continue;
			error = onnx_value_find(o, node->input[j], &value);
			reader = npu_arena_alloc(&o->graph->arena, sizeof(*reader));
			if (error || !reader)
				return -ENOMEM;
			*reader = (struct onnx_reader){ value->readers, (u32)i };
			value->readers = reader;
			value->reader_count++;
		}
	}
	return error;
}

static int read_initializers(struct onnx *o)
{
	struct onnx_value *value;
	size_t i;
	int error = 0;

	if (o->source->n_sparse_initializer)
		return model_fail(o, -ENOTSUP, "sparse constants are not supported");
	for (i = 0; !error && i < o->source->n_initializer; i++) {
		const Onnx__TensorProto *proto = o->source->initializer[i];

		error = onnx_value_find(o, proto->name ? proto->name : "", &value);
		if (!error)
			error = onnx_read_tensor(o, proto, value);
	}
	return error;
}

/* What the file leaves open is as it was given; else the first dimension is the batch: one. */
static int input_dimension(struct onnx *o, const char *name,
			   const Onnx__TensorShapeProto__Dimension *d, u32 i, u32 given, u32 *dim)
{
	bool stated = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;

	if (stated && d->dim_value > 0) {
		if (d->dim_value > INT32_MAX)
			return onnx_fail(o, -EINVAL, "input %.100s: dimension %u is %lld", name, i,
					 (long long)d->dim_value);
		if (given && given != d->dim_value)
			return onnx_fail(o, -ENOTSUP,
					 "input %.100s: dimension %u is %lld in the file, not %u",
					 name, i, (long long)d->dim_value, given);
		*dim = (u32)d->dim_value;
		return 0;
	}
	if (!given && i)
		return onnx_fail(o, -ENOTSUP,
				 "input %.100s: dimension %u is not known; only the first may be "
				 "left open (it becomes 1): give the shape (--input-shape)",
				 name, i);
	*dim = given ? given : 1;
	return 0;
}

static int input_shape(struct onnx *o, const Onnx__ValueInfoProto *info, struct onnx_value *value)
{
	const Onnx__TypeProto__Tensor *type =
		info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
			? info->type->tensor_type
			: NULL;
	u32 dim[NPU_MAX_RANK], given[NPU_MAX_RANK] = { 0 }, rank, i;
	int dtype, error;

	if (!type || !type->shape)
		return onnx_fail(o, -ENOTSUP, "input %.100s is no tensor with a shape",
				 value->name);
	dtype = onnx_dtype(type->elem_type);
	if (dtype < 0 || type->shape->n_dim > NPU_MAX_RANK)
		return onnx_fail(o, -ENOTSUP, "input %.100s has type %d and %zu dimensions",
				 value->name, type->elem_type, type->shape->n_dim);
	rank = npu_shapes_find(o->shapes, value->name, given);
	if (rank && rank != type->shape->n_dim)
		return onnx_fail(o, -EINVAL, "input %.100s has %zu dimensions, not %u", value->name,
				 type->shape->n_dim, rank);
	for (i = 0; i < type->shape->n_dim; i++) {
		error = input_dimension(o, value->name, type->shape->dim[i], i, given[i], &dim[i]);
		if (error)
			return error;
	}
	onnx_value_shape(value, dtype, i, dim);
	return 0;
}

static int read_inputs(struct onnx *o)
{
	struct npu_graph *graph = o->graph;
	struct onnx_value *value;
	size_t i;
	int error = 0;

	graph->input =
		npu_arena_array(&graph->arena, o->source->n_input + 1, sizeof(*graph->input));
	if (!graph->input)
		return -ENOMEM;
	for (i = 0; !error && i < o->source->n_input; i++) {
		error = onnx_value_find(o, named(o->source->input[i]), &value);
		/* Up to version 3 of the format constants are listed here too. */
		if (error || (value->known && (value->empty || onnx_constant(o, value))))
			continue;
		if (value->known)
			return onnx_fail(o, -EINVAL, "input %.100s is there twice", value->name);
		error = input_shape(o, o->source->input[i], value);
		if (!error)
			error = onnx_add_tensor(o, value->name, value->dtype, value->rank,
						value->dim, &value->tensor[ONNX_PLAIN]);
		graph->input[graph->input_count++] = value->tensor[ONNX_PLAIN];
	}
	return error ? error : npu_shapes_check(o->shapes, graph, o->diag);
}

static int mark_outputs(struct onnx *o)
{
	struct onnx_value *value;
	size_t i;
	int error = 0;

	for (i = 0; !error && i < o->source->n_output; i++) {
		error = onnx_value_find(o, named(o->source->output[i]), &value);
		if (!error)
			value->is_output = true;
	}
	return error;
}

static int read_output(struct onnx *o, const char *name, u32 *tensor)
{
	struct onnx_value *value;
	int error = onnx_value_find(o, name, &value);

	if (!error && !value->known)
		error = onnx_fail(o, -EINVAL, "output %.100s is never computed", value->name);
	if (!error)
		error = onnx_want(o, value, ONNX_PLAIN, tensor);
	if (!error && value->dtype == NPU_U8 && onnx_tensor(o, *tensor)->dtype == NPU_I8 &&
	    onnx_tensor(o, *tensor)->quant.count == 1)
		error = onnx_flip_sign(o, *tensor, tensor);
	return error;
}

static int read_outputs(struct onnx *o)
{
	struct npu_graph *graph = o->graph;
	size_t i;
	int error = 0;

	graph->output =
		npu_arena_array(&graph->arena, o->source->n_output + 1, sizeof(*graph->output));
	if (!graph->output)
		return -ENOMEM;
	for (i = 0; !error && i < o->source->n_output; i++)
		error = read_output(o, named(o->source->output[i]), &graph->output[i]);
	graph->output_count = (u32)o->source->n_output;
	return error;
}

static int take_inputs(struct onnx *o)
{
	u32 i;
	int error = 0;

	memset(o->in, 0, sizeof(o->in));
	o->in_count = (u32)o->node->n_input;
	for (i = 0; !error && i < o->in_count; i++) {
		if (!*o->node->input[i])
			continue;
		error = onnx_value_find(o, o->node->input[i], &o->in[i]);
		if (!error && !o->in[i]->known)
			error = onnx_fail(o, -EINVAL, "input %u (%.100s) is not computed before", i,
					  o->in[i]->name);
	}
	for (i = 0; !error && i < o->row->min_inputs; i++)
		if (!o->in[i] || (o->in[i]->empty && o->row->values >> i & 1))
			error = onnx_fail(o, -EINVAL, "input %u is missing or empty", i);
	return error;
}

static int take_outputs(struct onnx *o)
{
	u32 i;
	int error = 0;

	/* Optional outputs behind the first are for training; nobody reads them. */
	o->out_count = (u32)o->node->n_output;
	while (o->out_count > 1 && !*o->node->output[o->out_count - 1])
		o->out_count--;
	for (i = 0; !error && i < o->out_count; i++) {
		error = onnx_value_find(o, o->node->output[i], &o->out[i]);
		if (!error && o->out[i]->known)
			error = onnx_fail(o, -EINVAL, "%.100s is computed twice", o->out[i]->name);
	}
	return error;
}

static bool is_control_flow(const char *name)
{
	static const char *const names[] = { "If", "Loop", "Scan", "SequenceMap" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (name && !strcmp(name, names[i]))
			return true;
	return false;
}

static int read_node(struct onnx *o, u32 index)
{
	bool computed = false;
	int error;

	o->index = index;
	o->node = o->source->node[index];
	o->row = onnx_find_row(o->node);
	if (!o->row && is_control_flow(o->node->op_type))
		return onnx_fail(
			o, -ENOTSUP,
			"control flow is not supported: what the NPU does is fixed when the "
			"model is compiled; export the model without it");
	if (!o->row && o->is_made)
		return onnx_fail(o, -ENOTSUP, "%s is not supported", o->node->op_type);
	if (!o->row)
		return onnx_fail(o, -ENOTSUP, "this operator%s%s is not supported",
				 o->node->domain && *o->node->domain ? " of " : "",
				 o->node->domain ? o->node->domain : "");
	if (o->node->n_input > NPU_MAX_INPUTS || o->node->n_output > ONNX_MAX_OUTPUTS ||
	    o->node->n_input < o->row->min_inputs || !o->node->n_output)
		return onnx_fail(o, -ENOTSUP, "%zu inputs and %zu outputs", o->node->n_input,
				 o->node->n_output);
	o->quantised = false;
	o->raw = NPU_NONE;
	o->activation = NPU_ACT_NONE;
	error = take_inputs(o);
	if (!error)
		error = take_outputs(o);
	if (!error)
		error = onnx_find_quantised(o);
	if (!error)
		error = onnx_compute(o, &computed);
	if (!error && !computed)
		error = o->row->read(o);
	return error ? error : onnx_requantise_result(o);
}

static bool is_constant_node(const Onnx__NodeProto *node)
{
	const struct onnx_row *row = onnx_find_row(node);

	return row && row->read == onnx_read_constant;
}

/* Constants first: what looks ahead from a node then finds them. */
static int read_nodes(struct onnx *o, bool constants)
{
	u32 i;
	int error = 0;

	for (i = 0; !error && i < o->source->n_node; i++)
		if (!o->done[i] && is_constant_node(o->source->node[i]) == constants)
			error = read_node(o, i);
	o->node = NULL;
	return error;
}

static int read_graph(struct onnx *o)
{
	int error = make_table(o);

	if (!error)
		error = read_initializers(o);
	if (!error)
		error = read_inputs(o);
	if (!error)
		error = mark_outputs(o);
	if (!error)
		error = find_readers(o);
	if (!error)
		error = read_nodes(o, true);
	if (!error)
		error = read_nodes(o, false);
	if (!error)
		error = read_outputs(o);
	return error ? error : onnx_drop_unread(o);
}

static int read_model(struct onnx *o, const void *data, size_t bytes)
{
	int error;

	if (bytes > INT32_MAX)
		return model_fail(o, -ENOTSUP, "files of 2 GiB and more are not supported");
	if (!onnx_nesting_is_sane(&onnx__model_proto__descriptor, data, bytes))
		return model_fail(o, -EINVAL, "messages are nested too deeply");
	error = npu_decode(&onnx__model_proto__descriptor, data, bytes, &o->graph->arena,
			   &o->model);
	if (error == -EINVAL)
		return model_fail(o, error, "damaged file: not an ONNX model");
	if (error)
		return error;
	o->source = o->model->graph;
	if (!o->source)
		return model_fail(o, -EINVAL, "not an ONNX model (it has no graph)");
	if (o->model->n_functions)
		return model_fail(o, -ENOTSUP, "functions of the model's own are not supported");
	error = check_opsets(o);
	return error ? error : read_graph(o);
}

/* Messages and reports show names. */
static void clean_names(struct onnx *o)
{
	u32 i;

	for (i = 0; i < o->graph->tensor_count; i++)
		o->graph->tensor[i].name = clean(o, o->graph->tensor[i].name);
	for (i = 0; i < o->graph->op_count; i++)
		o->graph->op[i].name = clean(o, o->graph->op[i].name);
}

static const char *folder_of(struct npu_graph *graph, const char *file)
{
	const char *end = strrchr(file, '/');

	return npu_arena_string(&graph->arena, end ? file : "", end ? (size_t)(end - file) + 1 : 0);
}

int onnx_read_made(struct npu_graph *graph, const Onnx__ModelProto *model, struct npu_diag *diag)
{
	struct onnx o = {
		.graph = graph,
		.diag = diag,
		.model = model,
		.source = model->graph,
		.is_made = true,
	};
	int error = check_opsets(&o);

	if (!error)
		error = read_graph(&o);
	if (error)
		return error;
	clean_names(&o);
	return npu_graph_verify(graph, diag);
}

int npu_import_onnx(const void *data, size_t bytes, const char *file,
		    const struct npu_import_options *options, struct npu_graph **graph,
		    struct npu_diag *diag)
{
	struct onnx o = { .diag = diag, .shapes = options ? options->input_shapes : NULL };
	int error;

	o.graph = npu_graph_new(file);
	if (!o.graph)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", file);
	o.folder = folder_of(o.graph, file);
	o.graph->arena.limit = ARENA_FACTOR * bytes + ARENA_BASE;
	error = o.folder ? read_model(&o, data, bytes) : -ENOMEM;
	if (error == -ENOMEM)
		error = model_fail(&o, error, "needs more memory than a file of its size may take");
	if (!error) {
		clean_names(&o);
		error = npu_split_batch(o.graph, diag);
	}
	if (!error)
		error = npu_graph_verify(o.graph, diag);
	if (error) {
		npu_graph_free(o.graph);
		return error;
	}
	*graph = o.graph;
	return 0;
}
