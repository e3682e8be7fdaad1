// SPDX-License-Identifier: MIT
/* Operators that repeat elements or regroup them. */
#include "onnx.h"
#include "rearrange.h"

/* Areas of blocks stay in 32 bits. */
#define MAX_BLOCK 4096

int onnx_add_selections(struct onnx *o, enum onnx_layout layout,
			const struct npu_selection *selection)
{
	const struct onnx_value *in = o->in[0];
	struct npu_selection ordered[NPU_MAX_RANK] = { 0 };
	u32 dim[NPU_MAX_RANK], from, out, d;
	int error = onnx_operand(o, 0, layout, &from);

	for (d = 0; d < in->rank; d++) {
		ordered[onnx_graph_axis(layout, d)] = selection[d];
		dim[d] = selection[d].index ? selection[d].count : in->dim[d];
	}
	if (!error)
		error = onnx_result(o, 0, layout, in->rank, dim, &out);
	if (error)
		return error;
	return npu_add_selections(o->graph, onnx_tensor(o, out)->name, from, ordered, out);
}

/* As npu_select_tiles(), with room for indices. */
static int select_tiles(struct onnx *o, u32 size, s64 times, struct npu_selection *selection)
{
	int error = onnx_expand(o, sizeof(s32) * (u64)size * (u64)times);

	return error ? error : npu_select_tiles(o->graph, size, (u32)times, selection);
}

int onnx_read_pads(struct onnx *o, s64 pads[2 * NPU_MAX_RANK])
{
	const u32 rank = o->in[0]->rank;
	s64 given[2 * NPU_MAX_RANK], axes[NPU_MAX_RANK];
	u32 count, axis_count = rank, axis, i;
	int error = onnx_parameter(o, "pads", 1, given, ARRAY_SIZE(given), &count);

	for (i = 0; i < rank; i++)
		axes[i] = i;
	if (!error && o->in_count > 3 && o->in[3])
		error = onnx_integers(o, 3, axes, NPU_MAX_RANK, &axis_count);
	if (!error && count != 2 * axis_count)
		error = onnx_fail(o, -EINVAL, "%u paddings for %u dimensions", count, axis_count);
	memset(pads, 0, 2 * NPU_MAX_RANK * sizeof(*pads));
	for (i = 0; !error && i < axis_count; i++) {
		error = onnx_axis(o, axes[i], rank, &axis);
		if (error)
			return error;
		pads[axis] = given[i];
		pads[axis + rank] = given[i + axis_count];
	}
	return error;
}

int onnx_pad_edges(struct onnx *o, const s64 *pads)
{
	static const struct {
		const char *mode;
		enum npu_edge edge;
	} modes[] = { { "reflect", NPU_EDGE_REFLECT },
		      { "edge", NPU_EDGE_REPEAT },
		      { "wrap", NPU_EDGE_WRAP } };
	const struct onnx_value *in = o->in[0];
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	u32 mode, d;
	int error = 0;

	for (mode = 0; mode < ARRAY_SIZE(modes); mode++)
		if (onnx_text_is(o, "mode", modes[mode].mode, false))
			break;
	if (mode == ARRAY_SIZE(modes))
		return onnx_fail(o, -ENOTSUP, "this mode of padding");
	for (d = 0; !error && d < in->rank; d++) {
		s64 before = pads[d], after = pads[d + in->rank];

		if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX)
			return onnx_fail(o, -ENOTSUP, "padding of %lld and %lld", (long long)before,
					 (long long)after);
		if (before || after)
			error = npu_select_edges(o->graph, in->dim[d], (u32)before, (u32)after,
						 modes[mode].edge, &selection[d]);
		if (error == -ERANGE)
			return onnx_fail(o, -EINVAL, "padding of %lld and %lld around %u elements",
					 (long long)before, (long long)after, in->dim[d]);
	}
	return error ? error : onnx_add_selections(o, onnx_layout_of(o), selection);
}

int onnx_read_tile(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	s64 times[NPU_MAX_RANK];
	u32 count, d;
	int error = onnx_integers(o, 1, times, NPU_MAX_RANK, &count);

	if (!error && count != in->rank)
		error = onnx_fail(o, -EINVAL, "%u repeats for %u dimensions", count, in->rank);
	for (d = 0; !error && d < in->rank; d++) {
		if (times[d] < 1 || times[d] > INT32_MAX)
			return onnx_fail(o, -ENOTSUP, "dimension %u %lld times", d,
					 (long long)times[d]);
		if (times[d] > 1)
			error = select_tiles(o, in->dim[d], times[d], &selection[d]);
	}
	return error ? error : onnx_add_selections(o, onnx_layout_of(o), selection);
}

/* Broadcasting both ways: the shape that is asked for may have dimensions of 1 too. */
static int expanded_shape(struct onnx *o, u32 *rank, u32 *dim)
{
	const struct onnx_value *in = o->in[0];
	s64 wanted[NPU_MAX_RANK];
	u32 count, i;
	int error = onnx_integers(o, 1, wanted, NPU_MAX_RANK, &count);

	if (error)
		return error;
	*rank = max(in->rank, count);
	for (i = 0; i < *rank; i++) {
		u32 have = i < in->rank ? in->dim[in->rank - 1 - i] : 1;
		s64 want = i < count ? wanted[count - 1 - i] : 1;

		if (want < 1 || want > INT32_MAX || (want != have && want != 1 && have != 1))
			return onnx_fail(o, -EINVAL, "%u elements do not become %lld", have,
					 (long long)want);
		dim[*rank - 1 - i] = max(have, (u32)want);
	}
	return 0;
}

int onnx_read_expand(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	u32 dim[NPU_MAX_RANK], padded[NPU_MAX_RANK], rank, missing, from, out, d;
	int error = expanded_shape(o, &rank, dim);

	if (error)
		return error;
	missing = rank - in->rank;
	for (d = 0; !error && d < rank; d++) {
		padded[d] = d < missing ? 1 : in->dim[d - missing];
		if (padded[d] == 1 && dim[d] > 1)
			error = select_tiles(o, 1, dim[d], &selection[d]);
	}
	if (error)
		return error;
	if (!missing)
		return onnx_add_selections(o, onnx_layout_of(o), selection);
	error = onnx_operand(o, 0, ONNX_PLAIN, &from);
	if (!error)
		error = onnx_reshape(o, from, rank, padded, &from);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, rank, dim, &out);
	return error ? error
		     : npu_add_selections(o->graph, onnx_tensor(o, out)->name, from, selection,
					  out);
}

/* Constant indices, which may count from the end, as INT32. */
static int constant_indices(struct onnx *o, const struct npu_tensor *given, u32 size, u32 *tensor)
{
	const struct npu_tensor source = *given;
	u64 count = npu_tensor_elements(&source), i;
	void *data = NULL;
	int error =
		onnx_add_constant(o, source.name, NPU_I32, source.rank, source.dim, tensor, &data);

	for (i = 0; !error && i < count; i++) {
		s64 index = source.dtype == NPU_I64 ? ((const s64 *)source.data)[i]
						    : ((const s32 *)source.data)[i];

		if (index < -(s64)size || index >= (s64)size)
			return onnx_fail(o, -EINVAL, "index %lld of %u", (long long)index, size);
		((s32 *)data)[i] = (s32)(index < 0 ? index + size : index);
	}
	return error;
}

static int read_indices(struct onnx *o, u32 size, u32 *tensor)
{
	struct onnx_value *value = o->in[1];
	const struct npu_tensor *given;

	if (!value || value->empty || (value->dtype != NPU_I64 && value->dtype != NPU_I32))
		return onnx_fail(o, -EINVAL, "the indices are no integers");
	given = onnx_constant(o, value);
	if (given)
		return constant_indices(o, given, size, tensor);
	return onnx_want(o, value, ONNX_PLAIN, tensor);
}

int onnx_read_gather(struct onnx *o)
{
	const struct onnx_value *in = o->in[0], *indices = o->in[1];
	enum onnx_layout layout = onnx_layout_of(o);
	u32 inputs[2], axis, out, dim[2 * NPU_MAX_RANK], rank = 0, d, j;
	struct npu_op *op;
	int error = onnx_axis(o, onnx_int(o, "axis", 0), in->rank, &axis);

	if (error)
		return error;
	if (in->rank == 1 && onnx_constant(o, in) && indices && onnx_constant(o, indices) &&
	    (in->dtype == NPU_I64 || in->dtype == NPU_I32))
		return onnx_gather_integers(o);
	error = read_indices(o, in->dim[axis], &inputs[1]);
	if (error)
		return error;
	if (indices->rank != 1)
		layout = ONNX_PLAIN;
	for (d = 0; d < in->rank; d++)
		for (j = 0; j < (d == axis ? indices->rank : 1); j++)
			dim[rank++] = d == axis ? indices->dim[j] : in->dim[d];
	if (rank > NPU_MAX_RANK)
		return onnx_fail(o, -ENOTSUP, "a result of %u dimensions", rank);
	error = onnx_operand(o, 0, layout, &inputs[0]);
	if (!error)
		error = onnx_result(o, 0, layout, rank, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, NPU_OP_GATHER, inputs, 2, out);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)onnx_graph_axis(layout, axis);
	return 0;
}

/* In the model's order of dimensions, for which the indices are. */
static int add_gather(struct onnx *o, u32 indices, u32 axis, u32 rank, const u32 *dim)
{
	u32 inputs[2] = { NPU_NONE, indices }, out;
	int error = onnx_operand(o, 0, ONNX_PLAIN, &inputs[0]);
	struct npu_op *op;

	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, rank, dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, o->row->kind, inputs, 2, out);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)axis;
	return 0;
}

int onnx_read_gather_elements(struct onnx *o)
{
	const struct onnx_value *in = o->in[0], *indices = o->in[1];
	u32 axis, tensor;
	int error = onnx_axis(o, onnx_int(o, "axis", 0), in->rank, &axis);

	if (!error)
		error = read_indices(o, in->dim[axis], &tensor);
	return error ? error : add_gather(o, tensor, axis, indices->rank, indices->dim);
}

int onnx_read_gather_nd(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct onnx_value *indices = o->in[1];
	s64 first = onnx_int(o, "batch_dims", 0);
	u32 depth, dim[2 * NPU_MAX_RANK], rank, d, tensor;
	int error;

	if (!indices || indices->empty || !indices->rank ||
	    (indices->dtype != NPU_I64 && indices->dtype != NPU_I32))
		return onnx_fail(o, -EINVAL, "the indices are no integers");
	depth = indices->dim[indices->rank - 1];
	if (first < 0 || first >= min(in->rank, indices->rank) || depth > in->rank - (u32)first)
		return onnx_fail(o, -EINVAL, "indices of %u numbers behind %lld dimensions of %u",
				 depth, (long long)first, in->rank);
	rank = indices->rank - 1;
	memcpy(dim, indices->dim, rank * sizeof(*dim));
	for (d = (u32)first + depth; d < in->rank; d++)
		dim[rank++] = in->dim[d];
	if (rank > NPU_MAX_RANK)
		return onnx_fail(o, -ENOTSUP, "a result of %u dimensions", rank);
	error = onnx_want(o, indices, ONNX_PLAIN, &tensor);
	return error ? error : add_gather(o, tensor, (u32)first, rank, dim);
}

/* Indices of the first @k of @from as the second output, which nobody may read. */
static int add_top(struct onnx *o, u32 from, u32 axis, const u32 *dim, u32 *indices)
{
	u32 rank = o->in[0]->rank;
	bool named = o->out_count > 1 && o->out[1];
	struct npu_op *op;
	int error = onnx_add_tensor(o, named ? o->out[1]->name : o->out[0]->name, NPU_I64, rank,
				    dim, indices);

	if (error)
		return error;
	op = onnx_add_op(o, onnx_int(o, "largest", 1) ? NPU_OP_TOP_MOST : NPU_OP_TOP_LEAST, &from,
			 1, *indices);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)axis;
	if (named) {
		o->out[1]->tensor[ONNX_PLAIN] = *indices;
		onnx_value_shape(o->out[1], NPU_I64, rank, dim);
	}
	return 0;
}

int onnx_read_top_k(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	u32 axis, count, dim[NPU_MAX_RANK], inputs[2], out;
	struct npu_op *op;
	s64 k = 0;
	int error = onnx_axis(o, onnx_int(o, "axis", -1), in->rank, &axis);

	if (!error)
		error = onnx_parameter(o, "k", 1, &k, 1, &count);
	if (error)
		return error;
	if (count != 1 || k < 1 || k > in->dim[axis])
		return onnx_fail(o, -EINVAL, "%lld of %u elements", (long long)k, in->dim[axis]);
	memcpy(dim, in->dim, sizeof(dim));
	dim[axis] = (u32)k;
	error = onnx_operand(o, 0, ONNX_PLAIN, &inputs[0]);
	if (!error)
		error = add_top(o, inputs[0], axis, dim, &inputs[1]);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, in->rank, dim, &out);
	if (error)
		return error;
	/* The values are what the indices say. */
	op = onnx_add_op(o, NPU_OP_GATHER_ELEMENTS, inputs, 2, out);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)axis;
	return 0;
}

static int add_regrouped(struct onnx *o, const struct npu_regroup *regroup, u32 in, const u32 *dim)
{
	u32 out;
	int error = onnx_result(o, 0, ONNX_IMAGE, 4, dim, &out);

	if (error)
		return error;
	return npu_add_regrouped(o->graph, onnx_tensor(o, out)->name, in, regroup, out);
}

/* The image and the size of blocks. */
static int read_blocks(struct onnx *o, u32 *in, u32 *block)
{
	s64 size = onnx_int(o, "blocksize", 0);

	if (size < 1 || size > MAX_BLOCK)
		return onnx_fail(o, -EINVAL, "blocks of %lld", (long long)size);
	*block = (u32)size;
	return onnx_operand(o, 0, ONNX_IMAGE, in);
}

int onnx_read_depth_to_space(struct onnx *o)
{
	bool crd = onnx_text_is(o, "mode", "CRD", false);
	u32 in, block = 1, dim[4];
	struct npu_regroup regroup;
	int error = read_blocks(o, &in, &block);

	if (error)
		return error;
	memcpy(dim, o->in[0]->dim, sizeof(dim));
	if (dim[1] % (block * block))
		return onnx_fail(o, -EINVAL, "%u channels in blocks of %u", dim[1], block);
	regroup = npu_depth_to_space(onnx_tensor(o, in)->dim, block, crd);
	dim[1] /= block * block;
	dim[2] *= block;
	dim[3] *= block;
	return add_regrouped(o, &regroup, in, dim);
}

int onnx_read_space_to_depth(struct onnx *o)
{
	u32 in, block = 1, dim[4];
	struct npu_regroup regroup;
	int error = read_blocks(o, &in, &block);

	if (error)
		return error;
	memcpy(dim, o->in[0]->dim, sizeof(dim));
	if (dim[2] % block || dim[3] % block)
		return onnx_fail(o, -EINVAL, "%u x %u in blocks of %u", dim[2], dim[3], block);
	regroup = npu_space_to_depth(onnx_tensor(o, in)->dim, block);
	dim[1] *= block * block;
	dim[2] /= block;
	dim[3] /= block;
	return add_regrouped(o, &regroup, in, dim);
}
