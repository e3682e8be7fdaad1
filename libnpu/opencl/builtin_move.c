// SPDX-License-Identifier: MIT
/*
 * Built-in kernels that move bytes: the CPU does them, in no other way than clEnqueueCopyBuffer and
 * clEnqueueFillBuffer, but with arguments that can be changed.
 */
#include <string.h>

#include "builtin.h"

static uint64_t argument_ulong(const struct ocl_launch *launch, const char *name)
{
	uint64_t number;

	memcpy(&number, ocl_argument(launch, name)->scalar, sizeof(number));
	return number;
}

static cl_int check_room(const struct ocl_launch *launch, const char *name, uint64_t bytes)
{
	const struct ocl_value *value = ocl_argument(launch, name);

	if (value->mem && value->mem->size >= bytes)
		return CL_SUCCESS;
	return ocl_fail(launch->kernel->program->context, CL_INVALID_KERNEL_ARGS,
			"%s: %llu bytes do not fit into the %s", launch->entry->name,
			(unsigned long long)bytes, name);
}

/* ---- npu_copy ---- */

static cl_int prepare_copy(struct ocl_launch *launch)
{
	uint64_t bytes = argument_ulong(launch, "bytes");
	cl_int error = check_room(launch, "input", bytes);

	return error ? error : check_room(launch, "output", bytes);
}

static cl_int run_copy(struct ocl_launch *launch, struct ocl_times *times)
{
	(void)times;
	memmove(ocl_argument(launch, "output")->mem->data, ocl_argument(launch, "input")->mem->data,
		argument_ulong(launch, "bytes"));
	return CL_SUCCESS;
}

static const struct ocl_arg copy_args[] = {
	{ .name = "input", .type_name = "char*" },
	{ .name = "output", .type_name = "char*", .output = true },
	{ .name = "bytes", .type_name = "ulong", .scalar_bytes = sizeof(cl_ulong) },
};

static const struct ocl_entry_ops copy_ops = { .prepare = prepare_copy, .run = run_copy };

const struct ocl_entry ocl_entry_copy = {
	.name = "npu_copy",
	.arg_count = OCL_COUNT(copy_args),
	.arg = copy_args,
	.ops = &copy_ops,
};

/* ---- npu_fill ---- */

static cl_int prepare_fill(struct ocl_launch *launch)
{
	uint32_t element = ocl_argument_uint(launch, "element_bytes", 0, 0);
	uint64_t bytes = argument_ulong(launch, "bytes");

	if ((element != 1 && element != 2 && element != 4) || bytes % element)
		return ocl_fail(launch->kernel->program->context, CL_INVALID_KERNEL_ARGS,
				"%s: %llu bytes in elements of %u: 1, 2 and 4 are possible",
				launch->entry->name, (unsigned long long)bytes, element);
	return check_room(launch, "output", bytes);
}

static cl_int run_fill(struct ocl_launch *launch, struct ocl_times *times)
{
	const uint8_t *element = ocl_argument(launch, "value")->scalar;
	uint32_t element_bytes = ocl_argument_uint(launch, "element_bytes", 0, 1);
	uint8_t *to = ocl_argument(launch, "output")->mem->data;
	uint64_t bytes = argument_ulong(launch, "bytes"), at;

	(void)times;
	/* The low bytes of a little-endian number are the shorter number. */
	for (at = 0; at < bytes; at += element_bytes)
		memcpy(to + at, element, element_bytes);
	return CL_SUCCESS;
}

static const struct ocl_arg fill_args[] = {
	{ .name = "output", .type_name = "char*", .output = true },
	{ .name = "value", .type_name = "uint", .scalar_bytes = sizeof(cl_uint) },
	{ .name = "element_bytes", .type_name = "uint", .scalar_bytes = sizeof(cl_uint) },
	{ .name = "bytes", .type_name = "ulong", .scalar_bytes = sizeof(cl_ulong) },
};

static const struct ocl_entry_ops fill_ops = { .prepare = prepare_fill, .run = run_fill };

const struct ocl_entry ocl_entry_fill = {
	.name = "npu_fill",
	.arg_count = OCL_COUNT(fill_args),
	.arg = fill_args,
	.ops = &fill_ops,
};
