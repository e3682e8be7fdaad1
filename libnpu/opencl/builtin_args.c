// SPDX-License-Identifier: MIT
/*
 * From the arguments of a built-in kernel to an operator of libnpu.
 */
#include <math.h>
#include <string.h>

#include "builtin.h"

#define MAX_TENSOR_BYTES INT32_MAX /* of the compiler */

const struct ocl_value *ocl_argument(const struct ocl_launch *launch, const char *name)
{
	cl_uint i;

	for (i = 0; i < launch->entry->arg_count; i++)
		if (!strcmp(launch->entry->arg[i].name, name))
			return &launch->value[i];
	return NULL;
}

uint32_t ocl_argument_uint(const struct ocl_launch *launch, const char *name, unsigned index,
			   uint32_t missing)
{
	const struct ocl_value *value = ocl_argument(launch, name);

	if (value)
		memcpy(&missing, value->scalar + index * sizeof(missing), sizeof(missing));
	return missing;
}

float ocl_argument_float(const struct ocl_launch *launch, const char *name, unsigned index,
			 float missing)
{
	const struct ocl_value *value = ocl_argument(launch, name);

	if (value)
		memcpy(&missing, value->scalar + index * sizeof(missing), sizeof(missing));
	return missing;
}

static cl_mem argument_mem(const struct ocl_launch *launch, const char *name)
{
	const struct ocl_value *value = ocl_argument(launch, name);

	return value ? value->mem : NULL;
}

/* ---- tensors ---- */

static const uint32_t type_bytes[] = {
	[NPU_TYPE_INT8] = 1,  [NPU_TYPE_UINT8] = 1,   [NPU_TYPE_INT16] = 2,   [NPU_TYPE_INT32] = 4,
	[NPU_TYPE_INT64] = 8, [NPU_TYPE_FLOAT16] = 2, [NPU_TYPE_FLOAT32] = 4, [NPU_TYPE_BOOL] = 1,
};

bool ocl_tensor_shape(struct npu_tensor_info *info, uint32_t rank, const uint32_t *shape)
{
	uint64_t bytes = type_bytes[info->type];
	uint32_t i;

	info->rank = rank;
	for (i = 0; i < rank; i++) {
		info->shape[i] = shape[i];
		if (!shape[i] || __builtin_mul_overflow(bytes, (uint64_t)shape[i], &bytes) ||
		    bytes > MAX_TENSOR_BYTES)
			return false;
	}
	info->bytes = bytes;
	return true;
}

/* The number that stands for the @index'th tensor in "scales" and "zero_points", or the only one. */
static void set_quantisation(const struct ocl_launch *launch, struct npu_tensor_info *info,
			     unsigned index)
{
	bool one = !ocl_argument(launch, "scales");

	info->scale = ocl_argument_float(launch, one ? "scale" : "scales", one ? 0 : index, 1);
	info->zero_point = (int32_t)ocl_argument_uint(launch, one ? "zero_point" : "zero_points",
						      one ? 0 : index, 0);
}

enum { FIRST, SECOND, RESULT }; /* in "scales" and "zero_points" */

static void set_tensors(const struct ocl_launch *launch, struct ocl_operator *what)
{
	struct npu_tensor_info *const tensor[] = { &what->in[0], &what->in[1], &what->weights,
						   &what->out };
	static const unsigned index[] = { FIRST, SECOND, SECOND, RESULT };
	uint32_t type = ocl_argument_uint(launch, "type", 0, NPU_TYPE_INT8);
	unsigned i;

	for (i = 0; i < OCL_COUNT(tensor); i++) {
		tensor[i]->size = sizeof(*tensor[i]);
		tensor[i]->type = (enum npu_type)type;
		set_quantisation(launch, tensor[i], index[i]);
	}
}

/* ---- operators ---- */

static void set_window(const struct ocl_launch *launch, struct npu_operator *op)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		op->window[i] = ocl_argument_uint(launch, "window", i, 1);
		op->stride[i] = ocl_argument_uint(launch, "stride", i, 1);
		op->dilation[i] = ocl_argument_uint(launch, "dilation", i, 1);
	}
	for (i = 0; i < 4; i++)
		op->pad[i] = ocl_argument_uint(launch, "pad", i, 0);
	op->groups = ocl_argument_uint(launch, "groups", 0, 1);
	op->clamp = (enum npu_operator_clamp)ocl_argument_uint(launch, "clamp", 0,
							       NPU_OPERATOR_CLAMP_NONE);
}

/* Padding beyond the window would be an output of nothing but padding. */
static bool pad_is_good(const struct npu_operator *op, unsigned direction)
{
	uint64_t extent = (uint64_t)(op->window[direction] - 1) * op->dilation[direction] + 1;

	return op->pad[direction] < extent && op->pad[direction + 2] < extent;
}

static bool window_is_good(const struct npu_operator *op)
{
	return op->window[0] && op->window[1] && op->stride[0] && op->stride[1] &&
	       op->dilation[0] && op->dilation[1] && op->groups &&
	       (uint32_t)op->clamp <= NPU_OPERATOR_CLAMP_RELU_N1_TO_1;
}

static bool quantisation_is_good(const struct npu_tensor_info *info)
{
	int32_t least = info->type == NPU_TYPE_UINT8 ? 0 : -128;

	if (info->type != NPU_TYPE_INT8 && info->type != NPU_TYPE_UINT8)
		return true;
	return isfinite(info->scale) && info->scale > 0 && info->zero_point >= least &&
	       info->zero_point <= least + 255;
}

static cl_int refuse(const struct ocl_launch *launch, const char *reason)
{
	return ocl_fail(launch->kernel->program->context, CL_INVALID_KERNEL_ARGS, "%s: %s",
			launch->entry->name, reason);
}

static cl_int check_room(const struct ocl_launch *launch, const char *name, cl_mem mem,
			 uint64_t bytes)
{
	if (mem && mem->size >= bytes)
		return CL_SUCCESS;
	return ocl_fail(launch->kernel->program->context, CL_INVALID_KERNEL_ARGS,
			"%s: the %s is %llu bytes, its buffer has %zu", launch->entry->name, name,
			(unsigned long long)bytes, mem ? mem->size : 0);
}

static cl_int check_buffers(const struct ocl_launch *launch, const struct ocl_operator *what)
{
	cl_int error = check_room(launch, "output", what->out_mem, what->out.bytes);
	unsigned i;

	for (i = 0; i < what->inputs && !error; i++)
		error = check_room(launch, i ? "second input" : "input", what->in_mem[i],
				   what->in[i].bytes);
	if (!error && what->op.weights)
		error = check_room(launch, "weights", what->weights_mem, what->weights.bytes);
	if (!error && what->bias_mem)
		error = check_room(launch, "bias", what->bias_mem,
				   (uint64_t)what->weights.shape[0] * sizeof(int32_t));
	return error;
}

static void set_buffers(const struct ocl_launch *launch, struct ocl_operator *what)
{
	what->in_mem[0] = argument_mem(launch, "input");
	what->in_mem[1] = argument_mem(launch, "second_input");
	what->out_mem = argument_mem(launch, "output");
	what->weights_mem = argument_mem(launch, "weights");
	what->bias_mem = argument_mem(launch, "bias");
	what->inputs = ocl_argument(launch, "second_input") ? 2 : 1;
}

static void set_operator(struct ocl_operator *what, enum npu_operator_kind kind, bool weights)
{
	what->op.size = sizeof(what->op);
	what->op.kind = kind;
	what->op.input[0] = &what->in[0];
	what->op.input[1] = what->inputs == 2 ? &what->in[1] : NULL;
	what->op.output = &what->out;
	what->op.weights = weights ? &what->weights : NULL;
}

cl_int ocl_operator_read(const struct ocl_launch *launch, struct ocl_operator *what)
{
	const struct ocl_operator_entry *entry = (const void *)launch->entry;
	/* What moves elements takes all of them, what computes INT8 and UINT8. */
	const uint32_t last_type = entry->kind == NPU_OPERATOR_TRANSPOSE ? NPU_TYPE_BOOL
									 : NPU_TYPE_UINT8;
	bool weights = ocl_argument(launch, "weights");

	memset(what, 0, sizeof(*what));
	if (ocl_argument_uint(launch, "type", 0, NPU_TYPE_INT8) > last_type)
		return refuse(launch, "there is no such type of elements, or not for this kernel");
	set_buffers(launch, what);
	set_operator(what, entry->kind, weights);
	set_tensors(launch, what);
	set_window(launch, &what->op);
	if (!window_is_good(&what->op))
		return refuse(launch,
			      "window, stride, dilation or groups are 0, or an unknown clamp");
	if (!pad_is_good(&what->op, 0) || !pad_is_good(&what->op, 1))
		return refuse(launch, "padding is not smaller than the window");
	if (!entry->shape(launch, what))
		return refuse(launch, "a tensor has no elements or too many");
	if (!quantisation_is_good(&what->in[0]) || !quantisation_is_good(&what->out) ||
	    (what->inputs == 2 && !quantisation_is_good(&what->in[1])) ||
	    (weights && !quantisation_is_good(&what->weights)))
		return refuse(launch,
			      "a scale is no positive number, or a zero point out of range");
	return check_buffers(launch, what);
}
