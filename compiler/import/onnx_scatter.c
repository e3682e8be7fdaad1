// SPDX-License-Identifier: MIT
/* Elements that are put to places of a value. */
#include "onnx.h"

static int add_scatter(struct onnx *o, u32 axis)
{
	const struct onnx_value *in = o->in[0];
	u32 inputs[3], out;
	struct npu_op *op;
	int error = onnx_operand(o, 0, ONNX_PLAIN, &inputs[0]);

	if (!error)
		error = onnx_want(o, o->in[1], ONNX_PLAIN, &inputs[1]);
	if (!error)
		error = onnx_operand(o, 2, ONNX_PLAIN, &inputs[2]);
	if (!error)
		error = onnx_result(o, 0, ONNX_PLAIN, in->rank, in->dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, o->row->kind, inputs, 3, out);
	if (!op)
		return -ENOMEM;
	op->axis = (s32)axis;
	return 0;
}

static int check_operands(struct onnx *o)
{
	const struct onnx_value *indices = o->in[1], *updates = o->in[2];

	if (!indices || indices->empty || !indices->rank ||
	    (indices->dtype != NPU_I64 && indices->dtype != NPU_I32))
		return onnx_fail(o, -EINVAL, "the indices are no integers");
	if (!updates || updates->empty || updates->dtype != o->in[0]->dtype)
		return onnx_fail(o, -EINVAL, "the elements differ in type from those they replace");
	if (!onnx_text_is(o, "reduction", "none", true))
		return onnx_fail(o, -ENOTSUP, "elements that are combined with those they replace");
	return 0;
}

int onnx_read_scatter_elements(struct onnx *o)
{
	u32 axis;
	int error = check_operands(o);

	if (!error)
		error = onnx_axis(o, onnx_int(o, "axis", 0), o->in[0]->rank, &axis);
	return error ? error : add_scatter(o, axis);
}

int onnx_read_scatter_nd(struct onnx *o)
{
	int error = check_operands(o);

	return error ? error : add_scatter(o, 0);
}
