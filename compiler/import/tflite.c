// SPDX-License-Identifier: MIT
/*
 * Reads a TensorFlow Lite model: tensors, then the operators whose results
 * matter, in the file's order (which the format promises to be an execution
 * order; the verifier checks it).
 */
#include "batch.h"
#include "shapes.h"
#include "tflite.h"
#include "../text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * What a file may cost: real models need less than their own size (scales and
 * reordered depthwise weights); a hostile one can refer to the same bytes often.
 */
#define ARENA_FACTOR 8
#define ARENA_BASE (1u << 20)

static const char *const fault_names[] = {
	[TENSOR_BAD_TYPE] = "its type is not supported",
	[TENSOR_BAD_RANK] = "it has more than 6 dimensions",
	[TENSOR_BAD_SHAPE] = "its shape is empty, unknown or too large",
	[TENSOR_VARIABLE] = "it is a variable",
	[TENSOR_SPARSE] = "it is sparse",
	[TENSOR_EXTERNAL] = "its data is in another file",
	[TENSOR_BAD_BUFFER] = "its buffer does not have the size that its shape says",
	[TENSOR_BAD_QUANT] = "its quantisation parameters do not fit its shape",
};

static int model_fail(struct tflite *t, int error, const char *what)
{
	return npu_diag_set(t->diag, error, "%s: %s", t->graph->file, what);
}

static int damage(struct tflite *t)
{
	return npu_diag_set(t->diag, -EINVAL, "%s: damaged file: bad offset or size at byte %zu",
			    t->graph->file, t->file.where);
}

static struct fb_table nth_operator(struct tflite *t, u32 i)
{
	return fb_element_table(&t->file, &t->operators, i);
}

/* Old files have the code in a byte; the larger of the two fields is the right one. */
u32 tflite_builtin_code(struct tflite *t, const struct fb_table *entry, const char **custom)
{
	u32 index = fb_u32(entry, OPERATOR_CODE, 0);
	struct fb_table code = fb_element_table(&t->file, &t->codes, index);
	s32 builtin = fb_s32(&code, CODE_BUILTIN, 0);

	if (!code.file)
		return UINT32_MAX;
	*custom = npu_text_clean(&t->graph->arena, fb_string(&code, CODE_CUSTOM));
	if (!*custom)
		*custom = "";
	return max(builtin, (s32)fb_s8(&code, CODE_DEPRECATED, 0));
}

int tflite_fail(struct tflite *t, int error, const char *format, ...)
{
	struct fb_table entry = nth_operator(t, t->index);
	struct fb_vector outputs = fb_elements(&entry, OPERATOR_OUTPUTS, 4);
	u32 output = outputs.count ? (u32)fb_element_s32(&outputs, 0) : NPU_NONE;
	const char *custom = "";
	u32 code = tflite_builtin_code(t, &entry, &custom);
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	return npu_diag_set(t->diag, error, "%s: operator %u (%s%s%.60s, output %.100s): %s",
			    t->graph->file, t->index, tflite_builtin_name(code), *custom ? " " : "",
			    custom,
			    output < t->tensors.count ? t->graph->tensor[output].name : "none",
			    what);
}

static int dtype_of(s8 type)
{
	static const s8 types[] = { NPU_F32, NPU_F16,  NPU_I32, NPU_U8, NPU_I64,
				    -1,	     NPU_BOOL, NPU_I16, -1,	NPU_I8 };

	return type >= 0 && type < (s8)ARRAY_SIZE(types) ? types[type] : -1;
}

/* A leading dimension that is not known is the batch: one. */
static enum tflite_fault read_shape(const struct fb_vector *shape, u32 element_bytes, u32 *dim)
{
	u64 bytes = element_bytes;
	u32 i;

	if (shape->count > NPU_MAX_RANK)
		return TENSOR_BAD_RANK;
	for (i = 0; i < shape->count; i++) {
		s32 size = fb_element_s32(shape, i);

		if (size == -1 && !i)
			size = 1;
		if (size < 1)
			return TENSOR_BAD_SHAPE;
		bytes *= size;
		if (bytes > INT32_MAX)
			return TENSOR_BAD_SHAPE;
		dim[i] = size;
	}
	return TENSOR_GOOD;
}

/* A buffer's contents; files beyond 2 GiB keep them behind the FlatBuffer. */
static bool find_buffer(struct tflite *t, const struct fb_table *tensor, struct fb_vector *data)
{
	struct fb_table buffer =
		fb_element_table(&t->file, &t->buffers, fb_u32(tensor, TENSOR_BUFFER, 0));
	u64 offset = fb_u64(&buffer, BUFFER_OFFSET, 0), size = fb_u64(&buffer, BUFFER_SIZE, 0);

	*data = fb_elements(&buffer, BUFFER_DATA, 1);
	if (data->count || offset <= 1)
		return true;
	if (offset > t->file.bytes || size > t->file.bytes - offset)
		return false;
	data->data = t->file.data + offset;
	data->count = size;
	return true;
}

/* Constants stay in the file; only what is not aligned for its type there is copied. */
static int set_data(struct tflite *t, struct npu_tensor *tensor, const struct fb_vector *data)
{
	u8 *copy;

	tensor->data = data->data;
	if (!((uintptr_t)data->data % npu_dtype_bytes[tensor->dtype]))
		return 0;
	copy = npu_arena_alloc(&t->graph->arena, data->count);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data->data, data->count);
	tensor->data = copy;
	return 0;
}

static int copy_quant(struct tflite *t, struct npu_quant *quant, const struct fb_vector *scales,
		      const struct fb_vector *zeros)
{
	float *scale = npu_arena_array(&t->graph->arena, scales->count, sizeof(*scale));
	s32 *zero = npu_arena_array(&t->graph->arena, scales->count, sizeof(*zero));
	u32 i;

	if (!scale || !zero)
		return -ENOMEM;
	for (i = 0; i < scales->count; i++) {
		s64 z = i < zeros->count ? fb_element_s64(zeros, i) : 0;

		scale[i] = fb_element_f32(scales, i);
		zero[i] = max(min(z, (s64)INT32_MAX), (s64)INT32_MIN);
	}
	quant->count = scales->count;
	quant->scale = scale;
	quant->zero = zero;
	return 0;
}

static bool scales_are_usable(const struct npu_quant *quant)
{
	u32 i;

	for (i = 0; i < quant->count; i++)
		if (!(quant->scale[i] > 0 && quant->scale[i] < 1e30f))
			return false;
	return true;
}

static int read_quant(struct tflite *t, const struct fb_table *table, struct npu_tensor *tensor,
		      u8 *fault)
{
	struct fb_table quant = fb_child(table, TENSOR_QUANTIZATION);
	struct fb_vector scales = fb_elements(&quant, QUANT_SCALE, 4);
	struct fb_vector zeros = fb_elements(&quant, QUANT_ZERO_POINT, 8);
	u32 axis = fb_s32(&quant, QUANT_DIMENSION, 0);
	int error;

	if (!scales.count && !fb_u8(&quant, QUANT_DETAILS_TYPE, 0))
		return 0;
	if (!scales.count || (zeros.count && zeros.count != scales.count) ||
	    (scales.count > 1 && (axis >= tensor->rank || tensor->dim[axis] != scales.count))) {
		*fault = TENSOR_BAD_QUANT;
		return 0;
	}
	error = copy_quant(t, &tensor->quant, &scales, &zeros);
	tensor->quant.axis = scales.count > 1 ? axis : 0;
	if (!error && !scales_are_usable(&tensor->quant)) {
		tensor->quant.count = 0;
		*fault = TENSOR_BAD_QUANT;
	}
	return error;
}

static enum tflite_fault find_fault(const struct fb_table *table, s32 dtype)
{
	if (dtype < 0)
		return TENSOR_BAD_TYPE;
	if (fb_u8(table, TENSOR_IS_VARIABLE, 0))
		return TENSOR_VARIABLE;
	if (fb_child(table, TENSOR_SPARSITY).file)
		return TENSOR_SPARSE;
	if (fb_u32(table, TENSOR_EXTERNAL_BUFFER, 0))
		return TENSOR_EXTERNAL;
	return TENSOR_GOOD;
}

static int read_tensor(struct tflite *t, u32 i)
{
	struct fb_table table = fb_element_table(&t->file, &t->tensors, i);
	struct fb_vector shape = fb_elements(&table, TENSOR_SHAPE, 4), data = { 0 };
	s32 dtype = dtype_of(fb_s8(&table, TENSOR_TYPE, 0));
	const char *name = npu_text_clean(&t->graph->arena, fb_string(&table, TENSOR_NAME));
	u8 *fault = &t->fault[i];
	struct npu_tensor *tensor;
	u32 dim[NPU_MAX_RANK] = { 0 };
	int error = 0;

	*fault = find_fault(&table, dtype);
	if (*fault == TENSOR_GOOD)
		*fault = read_shape(&shape, npu_dtype_bytes[dtype], dim);
	if (*fault == TENSOR_GOOD && !find_buffer(t, &table, &data))
		*fault = TENSOR_BAD_BUFFER;
	/* What cannot be used still takes its place, so that indices are those of the file. */
	if (!name || npu_graph_add_tensor(t->graph, name, *fault ? NPU_I8 : (enum npu_dtype)dtype,
					  *fault ? 0 : shape.count, dim) == NPU_NONE)
		return -ENOMEM;
	if (*fault)
		return 0;
	tensor = &t->graph->tensor[i];
	if (data.count && data.count != tensor->bytes)
		*fault = TENSOR_BAD_BUFFER;
	else if (data.count)
		error = set_data(t, tensor, &data);
	if (!error && !*fault)
		error = read_quant(t, &table, tensor, fault);
	if (!error && !*fault && tensor->dtype == NPU_I16 && tensor->quant.count)
		error = tflite_widen_int16(t, i, fault);
	return error;
}

static int read_tensors(struct tflite *t)
{
	u32 i, count = max(t->tensors.count, 1u);
	int error = 0;

	t->fault = npu_arena_array(&t->graph->arena, count, sizeof(*t->fault));
	t->live = npu_arena_array(&t->graph->arena, count, sizeof(*t->live));
	t->reordered = npu_arena_array(&t->graph->arena, count, sizeof(*t->reordered));
	t->real = npu_arena_array(&t->graph->arena, count, sizeof(*t->real));
	t->scale16 = npu_arena_array(&t->graph->arena, count, sizeof(*t->scale16));
	t->blocks = npu_arena_array(&t->graph->arena, count, sizeof(struct tflite_blocks *));
	if (!t->fault || !t->live || !t->reordered || !t->real || !t->scale16 || !t->blocks)
		return -ENOMEM;
	for (i = 0; !error && i < t->tensors.count; i++) {
		t->reordered[i] = t->real[i] = NPU_NONE;
		error = read_tensor(t, i);
	}
	return error;
}

/* Inputs or outputs of the whole graph. */
static int read_ends(struct tflite *t, const struct fb_vector *list, const char *what, u32 **array,
		     u32 *count)
{
	u32 i;

	*array = npu_arena_array(&t->graph->arena, max(list->count, 1u), sizeof(**array));
	if (!*array)
		return -ENOMEM;
	for (i = 0; i < list->count; i++) {
		u32 tensor = fb_element_s32(list, i);

		if (tensor >= t->tensors.count)
			return npu_diag_set(t->diag, -EINVAL, "%s: %s %u is tensor %d of %u",
					    t->graph->file, what, i, (s32)tensor, t->tensors.count);
		(*array)[i] = tensor;
	}
	*count = list->count;
	return 0;
}

static int check_ends(struct tflite *t, const u32 *array, u32 count, const char *what)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (t->fault[array[i]])
			return npu_diag_set(t->diag, -ENOTSUP, "%s: %s %u (%.100s): %s",
					    t->graph->file, what, i,
					    t->graph->tensor[array[i]].name,
					    fault_names[t->fault[array[i]]]);
	return 0;
}

static bool is_live(const struct tflite *t, const struct fb_vector *outputs)
{
	u32 i;

	for (i = 0; i < outputs->count; i++) {
		u32 tensor = fb_element_s32(outputs, i);

		if (tensor < t->tensors.count && t->live[tensor])
			return true;
	}
	return false;
}

static void mark_inputs(struct tflite *t, const struct fb_vector *inputs,
			const struct tflite_row *row)
{
	u32 i;

	for (i = 0; i < inputs->count; i++) {
		u32 tensor = fb_element_s32(inputs, i);

		if (tensor < t->tensors.count && (!row || i >= 32 || row->values >> i & 1))
			t->live[tensor] = true;
	}
}

static int check_counts(struct tflite *t, const struct tflite_row *row,
			const struct fb_vector *inputs, const struct fb_vector *outputs)
{
	const u32 most = row && row->states ? TFLITE_MAX_INPUTS : NPU_MAX_INPUTS;

	if (inputs->count > most || outputs->count > TFLITE_MAX_OUTPUTS)
		return tflite_fail(t, -ENOTSUP, "%u inputs and %u outputs; at most %u and %u",
				   inputs->count, outputs->count, most, TFLITE_MAX_OUTPUTS);
	return 0;
}

/*
 * Backwards: an operator matters if something reads what it computes.  Chains
 * that only work out the shape of a reshape, which the file states anyway, drop
 * out here.
 */
static int find_live(struct tflite *t)
{
	u32 i;
	int error;

	for (i = 0; i < t->graph->output_count; i++)
		t->live[t->graph->output[i]] = true;
	for (i = t->operators.count; i--;) {
		struct fb_table entry = nth_operator(t, i);
		struct fb_vector inputs = fb_elements(&entry, OPERATOR_INPUTS, 4);
		struct fb_vector outputs = fb_elements(&entry, OPERATOR_OUTPUTS, 4);
		const struct tflite_row *row;
		const char *custom;

		t->index = i;
		row = tflite_find_row(tflite_builtin_code(t, &entry, &custom));
		error = check_counts(t, row, &inputs, &outputs);
		if (error)
			return error;
		if (is_live(t, &outputs))
			mark_inputs(t, &inputs, row);
	}
	return 0;
}

static bool is_bias(const struct tflite_row *row, u32 i)
{
	switch (row->kind) {
	case NPU_OP_CONV:
	case NPU_OP_FULLY_CONNECTED:
		return i == 2;
	case NPU_OP_TRANSPOSE_CONV:
		return i == 3;
	default:
		return false;
	}
}

static int take_tensor(struct tflite *t, s32 tensor, const char *what, u32 i, bool bias, u32 *taken)
{
	if (tensor < 0 || tensor >= t->tensors.count)
		return tflite_fail(t, -EINVAL, "%s %u is tensor %d of %u", what, i, tensor,
				   t->tensors.count);
	if (t->fault[tensor] && !(bias && t->fault[tensor] == TENSOR_BAD_QUANT))
		return tflite_fail(t, -ENOTSUP, "%s %u (%.100s): %s", what, i,
				   t->graph->tensor[tensor].name, fault_names[t->fault[tensor]]);
	*taken = tensor;
	return 0;
}

/* A state that is no variable would be another one than zeros. */
static int check_state(struct tflite *t, s32 tensor, u32 i)
{
	if (tensor < 0 || tensor >= t->tensors.count)
		return tflite_fail(t, -EINVAL, "input %u is tensor %d of %u", i, tensor,
				   t->tensors.count);
	if (t->fault[tensor] != TENSOR_VARIABLE)
		return tflite_fail(t, -ENOTSUP, "input %u (%.100s) is no variable", i,
				   t->graph->tensor[tensor].name);
	return 0;
}

static int take_tensors(struct tflite *t, const struct fb_vector *inputs,
			const struct fb_vector *outputs)
{
	u32 i;
	int error = check_counts(t, t->row, inputs, outputs);

	if (!error && (inputs->count < t->row->min_inputs || !outputs->count))
		error = tflite_fail(t, -EINVAL, "%u inputs and %u outputs", inputs->count,
				    outputs->count);
	for (i = 0; i < TFLITE_MAX_INPUTS; i++)
		t->input[i] = NPU_NONE;
	for (i = 0; !error && i < inputs->count; i++) {
		s32 tensor = fb_element_s32(inputs, i);

		if (t->row->states >> i & 1)
			error = check_state(t, tensor, i);
		else if (tensor != -1 || i < t->row->min_inputs)
			error = take_tensor(t, tensor, "input", i, is_bias(t->row, i),
					    &t->input[i]);
	}
	for (i = 0; !error && i < outputs->count; i++)
		error = take_tensor(t, fb_element_s32(outputs, i), "output", i, false,
				    &t->output[i]);
	t->input_count = inputs->count;
	t->output_count = outputs->count;
	return error;
}

static int read_options(struct tflite *t, const struct fb_table *entry)
{
	u8 type = fb_u8(entry, OPERATOR_OPTIONS_TYPE, 0);

	t->options = (struct fb_table){ 0 };
	if (!t->row->options_type || !type)
		return 0;
	if (type != t->row->options_type)
		return tflite_fail(t, -EINVAL, "has options of another operator (%u, not %u)", type,
				   t->row->options_type);
	t->options = fb_child(entry, OPERATOR_OPTIONS);
	return 0;
}

static int read_operator(struct tflite *t, u32 i)
{
	struct fb_table entry = nth_operator(t, i);
	struct fb_vector inputs = fb_elements(&entry, OPERATOR_INPUTS, 4);
	struct fb_vector outputs = fb_elements(&entry, OPERATOR_OUTPUTS, 4);
	const char *custom;
	u32 code;
	int error;

	if (!is_live(t, &outputs))
		return 0;
	t->index = i;
	code = tflite_builtin_code(t, &entry, &custom);
	t->row = tflite_find_row(code);
	if (!t->row)
		return tflite_fail(t, -ENOTSUP, "%s", tflite_why_refused(code));
	error = take_tensors(t, &inputs, &outputs);
	if (!error)
		error = read_options(t, &entry);
	if (!error)
		error = tflite_join_blocks(t);
	if (!error)
		error = t->row->read(t);
	return error;
}

static int read_subgraph(struct tflite *t, const struct fb_table *subgraph)
{
	struct fb_vector inputs = fb_elements(subgraph, SUBGRAPH_INPUTS, 4);
	struct fb_vector outputs = fb_elements(subgraph, SUBGRAPH_OUTPUTS, 4);
	u32 i;
	int error;

	t->tensors = fb_elements(subgraph, SUBGRAPH_TENSORS, 4);
	t->operators = fb_elements(subgraph, SUBGRAPH_OPERATORS, 4);
	error = read_tensors(t);
	if (!error)
		error = read_ends(t, &inputs, "input", &t->graph->input, &t->graph->input_count);
	if (!error)
		error = read_ends(t, &outputs, "output", &t->graph->output,
				  &t->graph->output_count);
	if (!error)
		error = tflite_end_at_boxes(t);
	if (!error)
		error = check_ends(t, t->graph->input, t->graph->input_count, "input");
	if (!error)
		error = check_ends(t, t->graph->output, t->graph->output_count, "output");
	if (!error)
		error = find_live(t);
	if (!error)
		error = tflite_convert_inputs(t);
	for (i = 0; !error && !t->file.damaged && i < t->operators.count; i++)
		error = read_operator(t, i);
	return error ? error : tflite_convert_outputs(t);
}

static int read_model(struct tflite *t)
{
	struct fb_table model, subgraph;
	struct fb_vector subgraphs;
	u32 version;

	if (t->file.bytes < 8 || memcmp(t->file.data + 4, "TFL3", 4))
		return model_fail(t, -EINVAL, "not a TensorFlow Lite file (no TFL3 identifier)");
	if (t->file.bytes > INT32_MAX)
		return model_fail(t, -ENOTSUP, "files of 2 GiB and more are not supported");
	model = fb_root(&t->file, "TFL3");
	version = fb_u32(&model, MODEL_VERSION, 0);
	t->codes = fb_elements(&model, MODEL_OPERATOR_CODES, 4);
	t->buffers = fb_elements(&model, MODEL_BUFFERS, 4);
	subgraphs = fb_elements(&model, MODEL_SUBGRAPHS, 4);
	if (t->file.damaged)
		return damage(t);
	if (version != 3)
		return npu_diag_set(t->diag, -ENOTSUP, "%s: schema version %u, not 3",
				    t->graph->file, version);
	if (!subgraphs.count)
		return model_fail(t, -EINVAL, "the model has no subgraph");
	subgraph = fb_element_table(&t->file, &subgraphs, 0);
	return read_subgraph(t, &subgraph);
}

/* The format states all shapes; what is given besides must say the same. */
static int check_shapes(struct tflite *t, const char *shapes)
{
	const struct npu_graph *graph = t->graph;
	u32 i, dim[NPU_MAX_RANK], rank;
	int error = npu_shapes_check(shapes, graph, t->diag);

	for (i = 0; !error && i < graph->input_count; i++) {
		const struct npu_tensor *in = &graph->tensor[graph->input[i]];

		rank = npu_shapes_find(shapes, in->name, dim);
		if (rank && (rank != in->rank || memcmp(dim, in->dim, rank * sizeof(*dim))))
			error = npu_diag_set(t->diag, -ENOTSUP,
					     "%s: input %.100s: the file states its shape, another "
					     "one cannot be given",
					     graph->file, in->name);
	}
	return error;
}

int npu_import_tflite(const void *data, size_t bytes, const char *file,
		      const struct npu_import_options *options, struct npu_graph **graph,
		      struct npu_diag *diag)
{
	struct tflite t = { .file = { .data = data, .bytes = bytes }, .diag = diag };
	int error;

	t.graph = npu_graph_new(file);
	if (!t.graph)
		return npu_diag_set(diag, -ENOMEM, "%s: out of memory", file);
	t.graph->arena.limit = ARENA_FACTOR * bytes + ARENA_BASE;
	error = read_model(&t);
	if (!error && options && options->input_shapes)
		error = check_shapes(&t, options->input_shapes);
	/* A bad offset reads as an absent field: it explains whatever else went wrong. */
	if (t.file.damaged) {
		if (diag)
			diag->text[0] = '\0';
		error = damage(&t);
	}
	if (error == -ENOMEM)
		error = model_fail(&t, error, "needs more memory than a file of its size may take");
	if (!error)
		error = npu_split_batch(t.graph, diag);
	if (!error)
		error = npu_graph_verify(t.graph, diag);
	if (error) {
		npu_graph_free(t.graph);
		return error;
	}
	*graph = t.graph;
	return 0;
}
