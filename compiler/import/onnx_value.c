// SPDX-License-Identifier: MIT
/* Values of the model and the tensors of the graph that stand for them. */
#include "onnx.h"

const u32 onnx_to_image[4] = { 0, 2, 3, 1 };
const u32 onnx_to_plain[4] = { 0, 3, 1, 2 };

/* FNV-1a; where it starts differs from run to run, so that nobody can choose colliding names. */
static u32 hash(const struct onnx *o, const char *name)
{
	u64 sum = 0xcbf29ce484222325u ^ (u64)(uintptr_t)o->bucket;

	for (; *name; name++)
		sum = (sum ^ (u8)*name) * 0x100000001b3u;
	return (u32)(sum ^ sum >> 32) % o->bucket_count;
}

int onnx_value_find(struct onnx *o, const char *name, struct onnx_value **value)
{
	struct onnx_value **head = &o->bucket[hash(o, name)], *v;

	for (v = *head; v; v = v->next)
		if (!strcmp(v->name, name))
			break;
	if (!v) {
		v = npu_arena_alloc(&o->graph->arena, sizeof(*v));
		if (!v)
			return -ENOMEM;
		v->name = name;
		v->next = *head;
		v->tensor[ONNX_PLAIN] = v->tensor[ONNX_IMAGE] = NPU_NONE;
		*head = v;
	}
	*value = v;
	return 0;
}

void onnx_value_shape(struct onnx_value *value, enum npu_dtype dtype, u32 rank, const u32 *dim)
{
	value->known = true;
	value->dtype = dtype;
	value->rank = rank;
	/* A scalar has no dimensions to point at. */
	if (rank)
		memmove(value->dim, dim, rank * sizeof(*dim));
}

const struct npu_tensor *onnx_tensor(const struct onnx *o, u32 index)
{
	return &o->graph->tensor[index];
}

const struct npu_tensor *onnx_constant(const struct onnx *o, const struct onnx_value *value)
{
	u32 tensor = value->tensor[ONNX_PLAIN];

	return tensor != NPU_NONE && onnx_tensor(o, tensor)->data ? onnx_tensor(o, tensor) : NULL;
}

int onnx_integers(struct onnx *o, u32 input, s64 *values, u32 limit, u32 *count)
{
	const struct onnx_value *value = o->in[input];
	const struct npu_tensor *tensor;
	u32 i;

	*count = 0;
	if (!value)
		return onnx_fail(o, -EINVAL, "input %u is missing", input);
	if (value->empty)
		return 0;
	tensor = onnx_constant(o, value);
	if (!tensor)
		return onnx_fail(o, -ENOTSUP, "input %u (%.100s) must be constant", input,
				 value->name);
	if (tensor->dtype != NPU_I32 && tensor->dtype != NPU_I64)
		return onnx_fail(o, -EINVAL, "input %u (%.100s) is %s, not int64", input,
				 value->name, npu_dtype_names[tensor->dtype]);
	if (npu_tensor_elements(tensor) > limit)
		return onnx_fail(o, -EINVAL, "input %u has %llu values, at most %u are possible",
				 input, (unsigned long long)npu_tensor_elements(tensor), limit);
	*count = npu_tensor_elements(tensor);
	for (i = 0; i < *count; i++)
		values[i] = tensor->dtype == NPU_I32 ? ((const s32 *)tensor->data)[i]
						     : ((const s64 *)tensor->data)[i];
	return 0;
}

int onnx_add_tensor(struct onnx *o, const char *name, enum npu_dtype dtype, u32 rank,
		    const u32 *dim, u32 *tensor)
{
	u64 bytes = npu_dtype_bytes[dtype];
	u32 i;

	if (rank > NPU_MAX_RANK)
		return onnx_fail(o, -ENOTSUP, "%.100s has more than 6 dimensions", name);
	for (i = 0; i < rank; i++)
		if (!dim[i] || check_mul_overflow(bytes, (u64)dim[i], &bytes) || bytes > INT32_MAX)
			return onnx_fail(o, -ENOTSUP, "%.100s is empty or larger than 2 GiB", name);
	*tensor = npu_graph_add_tensor(o->graph, name, dtype, rank, dim);
	return *tensor == NPU_NONE ? -ENOMEM : 0;
}

int onnx_add_constant(struct onnx *o, const char *name, enum npu_dtype dtype, u32 rank,
		      const u32 *dim, u32 *tensor, void **data)
{
	int error = onnx_add_tensor(o, name, dtype, rank, dim, tensor);

	if (error)
		return error;
	*data = npu_arena_alloc(&o->graph->arena, onnx_tensor(o, *tensor)->bytes);
	if (!*data)
		return -ENOMEM;
	o->graph->tensor[*tensor].data = *data;
	return 0;
}

int onnx_define_constant(struct onnx *o, enum npu_dtype dtype, u32 rank, const u32 *dim,
			 void **data)
{
	struct onnx_value *value = o->out[0];
	int error = onnx_add_constant(o, value->name, dtype, rank, dim, &value->tensor[ONNX_PLAIN],
				      data);

	if (!error)
		onnx_value_shape(value, dtype, rank, dim);
	return error;
}

struct npu_op *onnx_add_op(struct onnx *o, enum npu_op_kind kind, const u32 *inputs, u32 count,
			   u32 output)
{
	const char *name = o->node && o->node->name ? o->node->name : "";
	struct npu_op *op;

	op = npu_graph_add_op(o->graph, kind, *name ? name : onnx_tensor(o, output)->name, count,
			      1);
	if (!op)
		return NULL;
	memcpy(op->input, inputs, count * sizeof(*inputs));
	op->output[0] = output;
	return op;
}

static void copy_permuted(const struct npu_tensor *from, const u32 *order, u8 *to)
{
	const size_t bytes = npu_dtype_bytes[from->dtype];
	u64 stride[NPU_MAX_RANK], step = 1, elements = npu_tensor_elements(from), i, at = 0;
	u32 index[NPU_MAX_RANK] = { 0 }, d;

	for (d = from->rank; d--; step *= from->dim[d])
		stride[d] = step;
	for (i = 0; i < elements; i++) {
		memcpy(to + i * bytes, (const u8 *)from->data + at * bytes, bytes);
		for (d = from->rank; d--;) {
			at += stride[order[d]];
			if (++index[d] < from->dim[order[d]])
				break;
			at -= stride[order[d]] * index[d];
			index[d] = 0;
		}
	}
}

/* Whether dimensions of more than one element stay in order: then it is the same memory. */
static bool moves_nothing(const struct npu_tensor *from, const u32 *order)
{
	u32 i, last = 0;

	for (i = 0; i < from->rank; i++) {
		if (from->dim[order[i]] == 1)
			continue;
		if (order[i] < last)
			return false;
		last = order[i];
	}
	return true;
}

int onnx_permute(struct onnx *o, u32 from, const u32 *order, u32 *to)
{
	struct npu_tensor source = *onnx_tensor(o, from);
	u32 dim[NPU_MAX_RANK], i;
	struct npu_op *op;
	void *data = NULL;
	int error;

	for (i = 0; i < source.rank; i++)
		dim[i] = source.dim[order[i]];
	if (source.data)
		error = onnx_add_constant(o, source.name, source.dtype, source.rank, dim, to,
					  &data);
	else
		error = onnx_add_tensor(o, source.name, source.dtype, source.rank, dim, to);
	if (error)
		return error;
	o->graph->tensor[*to].quant = source.quant;
	for (i = 0; source.quant.count > 1 && i < source.rank; i++)
		if (order[i] == source.quant.axis)
			o->graph->tensor[*to].quant.axis = i;
	if (source.data) {
		copy_permuted(&source, order, data);
		return 0;
	}
	op = onnx_add_op(o, moves_nothing(&source, order) ? NPU_OP_RESHAPE : NPU_OP_TRANSPOSE,
			 &from, 1, *to);
	for (i = 0; op && op->kind == NPU_OP_TRANSPOSE && i < source.rank; i++)
		op->begin[i] = (s32)order[i];
	return op ? 0 : -ENOMEM;
}

int onnx_reshape(struct onnx *o, u32 from, u32 rank, const u32 *dim, u32 *to)
{
	struct npu_tensor source = *onnx_tensor(o, from);
	int error = onnx_add_tensor(o, source.name, source.dtype, rank, dim, to);

	if (error)
		return error;
	if (source.quant.count == 1 ||
	    (source.quant.count > 1 && !source.quant.axis && dim[0] == source.dim[0]))
		o->graph->tensor[*to].quant = source.quant;
	o->graph->tensor[*to].data = source.data;
	if (!source.data && !onnx_add_op(o, NPU_OP_RESHAPE, &from, 1, *to))
		return -ENOMEM;
	return 0;
}

static int dequantise_constant(struct onnx *o, struct onnx_value *value)
{
	struct npu_tensor q = *onnx_constant(o, value->quantised);
	u64 elements = npu_tensor_elements(&q), inner = 1, i;
	void *data = NULL;
	u32 d;
	int error = onnx_add_constant(o, value->name, NPU_F32, q.rank, q.dim,
				      &value->tensor[ONNX_PLAIN], &data);

	if (error)
		return error;
	for (d = q.rank; q.quant.count > 1 && d-- > q.quant.axis + 1;)
		inner *= q.dim[d];
	for (i = 0; i < elements; i++) {
		u64 c = q.quant.count > 1 ? i / inner % q.quant.count : 0;
		s64 stored = q.dtype == NPU_I32 ? ((const s32 *)q.data)[i]
						: ((const s8 *)q.data)[i];

		((float *)data)[i] = (float)(stored - q.quant.zero[c]) * q.quant.scale[c];
	}
	return 0;
}

static int dequantise(struct onnx *o, struct onnx_value *value, enum onnx_layout layout)
{
	struct onnx_value *q = value->quantised;
	struct npu_tensor source;
	u32 from;
	int error;

	if (onnx_constant(o, q))
		return dequantise_constant(o, value);
	error = onnx_want(o, q, layout, &from);
	if (error)
		return error;
	source = *onnx_tensor(o, from);
	error = onnx_add_tensor(o, value->name, NPU_F32, source.rank, source.dim,
				&value->tensor[layout]);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_DEQUANTIZE, &from, 1, value->tensor[layout]) ? 0 : -ENOMEM;
}

/*
 * A line of rank 3, [N][C][L] in ONNX, is an image of height 1 where it is one: [N][1][L][C].
 * There and back again.
 */
static int line_to_image(struct onnx *o, u32 from, u32 *to)
{
	static const u32 order[] = { 0, 2, 1 };
	u32 dim[4] = { 0, 1 };
	int error = onnx_permute(o, from, order, to);

	if (error)
		return error;
	dim[0] = onnx_tensor(o, *to)->dim[0];
	dim[2] = onnx_tensor(o, *to)->dim[1];
	dim[3] = onnx_tensor(o, *to)->dim[2];
	return onnx_reshape(o, *to, 4, dim, to);
}

static int image_to_line(struct onnx *o, u32 from, u32 *to)
{
	static const u32 order[] = { 0, 2, 1 };
	const struct npu_tensor *image = onnx_tensor(o, from);
	u32 dim[3] = { image->dim[0], image->dim[2], image->dim[3] };
	int error = onnx_reshape(o, from, 3, dim, to);

	return error ? error : onnx_permute(o, *to, order, to);
}

static int change_layout(struct onnx *o, struct onnx_value *value, enum onnx_layout layout)
{
	u32 from = value->tensor[!layout], *to = &value->tensor[layout];

	if (value->rank == 3)
		return layout == ONNX_IMAGE ? line_to_image(o, from, to)
					    : image_to_line(o, from, to);
	return onnx_permute(o, from, layout == ONNX_IMAGE ? onnx_to_image : onnx_to_plain, to);
}

int onnx_want(struct onnx *o, struct onnx_value *value, enum onnx_layout layout, u32 *tensor)
{
	int error = 0;

	if (layout == ONNX_IMAGE && value->rank != 4 && value->rank != 3)
		return onnx_fail(o, -ENOTSUP, "%.100s has rank %u, not 4", value->name,
				 value->rank);
	if (value->tensor[0] == NPU_NONE && value->tensor[1] == NPU_NONE) {
		if (!value->quantised)
			return onnx_fail(o, -EINVAL, "%.100s is used before it is computed",
					 value->name);
		error = dequantise(o, value, layout);
	}
	if (!error && value->tensor[layout] == NPU_NONE)
		error = change_layout(o, value, layout);
	*tensor = value->tensor[layout];
	return error;
}

/* The value that the operator reads: behind a view where it is quantised. */
static struct onnx_value *operand_value(const struct onnx *o, u32 i)
{
	return o->quantised && o->in[i]->quantised ? o->in[i]->quantised : o->in[i];
}

/* Where stored values are moved or compared they have the result's scale: rounding keeps their order. */
static int share_quant(struct onnx *o, u32 *tensor)
{
	if (!o->quantised || o->row->rule != ONNX_SHARED_QUANT)
		return 0;
	return onnx_requantise(o, *tensor, &o->out_quant, tensor);
}

int onnx_line_operand(struct onnx *o, u32 i, enum onnx_layout layout, u32 *tensor)
{
	int error = onnx_want(o, operand_value(o, i), layout, tensor);

	return error ? error : share_quant(o, tensor);
}

int onnx_operand(struct onnx *o, u32 i, enum onnx_layout layout, u32 *tensor)
{
	if (layout == ONNX_IMAGE && o->in[i]->rank == 3)
		return onnx_fail(o, -ENOTSUP, "%.100s has rank 3, not 4", o->in[i]->name);
	return onnx_line_operand(o, i, layout, tensor);
}

/* The layout in which values of rank @least to 4 are there already. */
static enum onnx_layout layout_from(const struct onnx *o, u32 least)
{
	enum onnx_layout layout = ONNX_PLAIN;
	u32 i;

	for (i = 0; i < o->in_count; i++) {
		const struct onnx_value *value = o->in[i];

		if (!value || !(o->row->values >> min(i, 31u) & 1) || onnx_constant(o, value))
			continue;
		if (value->quantised && value->tensor[0] == NPU_NONE &&
		    value->tensor[1] == NPU_NONE)
			value = value->quantised;
		if (value->rank >= least && value->tensor[ONNX_PLAIN] == NPU_NONE)
			layout = ONNX_IMAGE;
	}
	return layout;
}

enum onnx_layout onnx_layout_of(const struct onnx *o)
{
	return layout_from(o, 4);
}

enum onnx_layout onnx_line_layout(const struct onnx *o)
{
	return layout_from(o, 3);
}

/* An operand with as many dimensions as the result. */
static int stretch(struct onnx *o, u32 i, enum onnx_layout layout, u32 rank, u32 *tensor)
{
	struct onnx_value *value = operand_value(o, i);
	u32 dim[NPU_MAX_RANK], d, missing;
	int error;

	if (layout == ONNX_PLAIN || value->rank == rank || !value->rank)
		return onnx_want(o, value, value->rank == rank ? layout : ONNX_PLAIN, tensor);
	missing = rank - value->rank;
	for (d = 0; d < rank; d++)
		dim[d] = d < missing ? 1 : value->dim[d - missing];
	error = onnx_want(o, value, ONNX_PLAIN, tensor);
	if (!error)
		error = onnx_reshape(o, *tensor, rank, dim, tensor);
	if (error)
		return error;
	return rank == 3 ? line_to_image(o, *tensor, tensor)
			 : onnx_permute(o, *tensor, onnx_to_image, tensor);
}

int onnx_broadcast(struct onnx *o, u32 i, enum onnx_layout layout, u32 rank, u32 *tensor)
{
	int error = stretch(o, i, layout, rank, tensor);

	return error ? error : share_quant(o, tensor);
}

static const struct npu_quant unit_quant = {
	.count = 1,
	.scale = (const float[]){ 1.0f / 256 },
	.zero = (const s32[]){ -128 },
};

static bool same_quant(const struct npu_quant *a, const struct npu_quant *b)
{
	return a->count == 1 && b->count == 1 && a->scale[0] == b->scale[0] &&
	       a->zero[0] == b->zero[0];
}

/* The scale that the operator itself can write, before anything is requantised. */
static struct npu_quant raw_quant(const struct onnx *o)
{
	if (o->row->rule == ONNX_UNIT_QUANT)
		return unit_quant;
	if (o->row->rule == ONNX_KEEPS_QUANT && o->in[0]) {
		const struct onnx_value *value = operand_value(o, 0);
		u32 tensor = value->tensor[value->tensor[0] == NPU_NONE];

		if (tensor != NPU_NONE)
			return onnx_tensor(o, tensor)->quant;
	}
	return o->out_quant;
}

/* Moves and integer arithmetic outside of quantised operators keep what the input is stored as. */
static void moved_type(const struct onnx_value *in, const struct onnx *o, enum npu_dtype *dtype,
		       enum npu_dtype *model_dtype, struct npu_quant *quant)
{
	u32 tensor = in->tensor[in->tensor[0] == NPU_NONE];

	*dtype = *model_dtype = in->dtype;
	if (tensor == NPU_NONE)
		return;
	*dtype = onnx_tensor(o, tensor)->dtype;
	if (onnx_tensor(o, tensor)->quant.count == 1)
		*quant = onnx_tensor(o, tensor)->quant;
}

/* Dimensions in ONNX's order as a layout has them. */
static void in_order(enum onnx_layout layout, u32 rank, const u32 *dim, u32 *order)
{
	u32 d;

	if (layout == ONNX_IMAGE && rank == 3) {
		order[0] = dim[0];
		order[1] = 1;
		order[2] = dim[2];
		order[3] = dim[1];
		return;
	}
	for (d = 0; d < rank; d++)
		order[d] = dim[layout == ONNX_IMAGE ? onnx_to_image[d] : d];
}

int onnx_result(struct onnx *o, u32 i, enum onnx_layout layout, u32 rank, const u32 *dim,
		u32 *tensor)
{
	struct onnx_value *value = o->out[i];
	enum npu_dtype dtype = o->quantised ? NPU_I8 : NPU_F32, model_dtype = dtype;
	struct npu_quant quant = { 0 };
	u32 order[NPU_MAX_RANK], made;
	int error;

	if (value->known)
		return onnx_fail(o, -EINVAL, "%.100s is computed twice", value->name);
	if (o->quantised)
		model_dtype = o->out_dtype;
	else if (o->in[0])
		moved_type(o->in[0], o, &dtype, &model_dtype, &quant);
	in_order(layout, rank, dim, order);
	error = onnx_add_tensor(o, value->name, dtype, layout == ONNX_IMAGE ? 4 : rank, order,
				&made);
	if (error)
		return error;
	if (o->quantised) {
		quant = raw_quant(o);
		if (!same_quant(&quant, &o->out_quant))
			o->raw = made;
	}
	o->graph->tensor[made].quant = quant;
	value->tensor[layout] = made;
	onnx_value_shape(value, model_dtype, rank, dim);
	*tensor = made;
	return 0;
}
