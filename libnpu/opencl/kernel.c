// SPDX-License-Identifier: MIT
/*
 * Kernels: an entry point and the values of its arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

static void destroy_kernel(void *object)
{
	cl_kernel kernel = object;
	cl_uint i;

	if (kernel->entry->ops->forget)
		kernel->entry->ops->forget(kernel);
	for (i = 0; kernel->value && i < kernel->entry->arg_count; i++)
		ocl_unwatch(kernel->value[i].mem);
	free(kernel->value);
	atomic_fetch_sub(&kernel->program->kernels, 1);
	ocl_put(kernel->program);
}

const struct ocl_class ocl_kernel_class = {
	OCL_KERNEL, sizeof(struct _cl_kernel), CL_INVALID_KERNEL, NULL, destroy_kernel,
};

static cl_kernel new_kernel(cl_program program, const struct ocl_entry *entry)
{
	cl_kernel kernel = ocl_new(&ocl_kernel_class);

	if (!kernel)
		return NULL;
	kernel->program = ocl_get(program);
	atomic_fetch_add(&program->kernels, 1);
	kernel->entry = entry;
	kernel->value = calloc(entry->arg_count ? entry->arg_count : 1, sizeof(*kernel->value));
	if (kernel->value)
		return kernel;
	ocl_put(kernel);
	return NULL;
}

static cl_int check_executable(cl_program program)
{
	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	if (!program->entry_count)
		return ocl_fail(program->context, CL_INVALID_PROGRAM_EXECUTABLE,
				"the program is not built for any device");
	return CL_SUCCESS;
}

static const struct ocl_entry *find_entry(cl_program program, const char *name)
{
	cl_uint i;

	for (i = 0; i < program->entry_count; i++)
		if (!strcmp(program->entry[i]->name, name))
			return program->entry[i];
	return NULL;
}

/* Under the program's lock, so that it is not built again meanwhile. */
static cl_kernel create_kernel(cl_program program, const char *name, cl_int *error)
{
	const struct ocl_entry *entry;
	cl_kernel kernel = NULL;

	*error = check_executable(program);
	if (*error)
		return NULL;
	entry = find_entry(program, name);
	if (!entry)
		*error = ocl_fail(program->context, CL_INVALID_KERNEL_NAME,
				  "the program has no kernel %s", name);
	else
		kernel = new_kernel(program, entry);
	if (entry && !kernel)
		*error = ocl_fail(program->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	return kernel;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char *name,
						  cl_int *errcode_ret)
{
	cl_kernel kernel = NULL;
	cl_int error = CL_SUCCESS;

	if (!ocl_is(program, OCL_PROGRAM))
		error = ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	else if (!name)
		error = ocl_fail(program->context, CL_INVALID_VALUE, "no name");
	if (!error) {
		pthread_mutex_lock(&program->lock);
		kernel = create_kernel(program, name, &error);
		pthread_mutex_unlock(&program->lock);
	}
	ocl_result(errcode_ret, error);
	return kernel;
}

static cl_int create_all(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
	cl_int error = check_executable(program);
	cl_uint i;

	if (error)
		return error;
	if (kernels && room < program->entry_count)
		return ocl_fail(program->context, CL_INVALID_VALUE,
				"the program has %u kernels, there is room for %u",
				program->entry_count, room);
	for (i = 0; kernels && i < program->entry_count; i++) {
		kernels[i] = new_kernel(program, program->entry[i]);
		if (kernels[i])
			continue;
		while (i--)
			ocl_put(kernels[i]);
		return ocl_fail(program->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	}
	if (count)
		*count = program->entry_count;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint room,
							 cl_kernel *kernels, cl_uint *count)
{
	cl_int error;

	if (!ocl_is(program, OCL_PROGRAM))
		return ocl_fail(NULL, CL_INVALID_PROGRAM, "the program is not valid");
	pthread_mutex_lock(&program->lock);
	error = create_all(program, room, kernels, count);
	pthread_mutex_unlock(&program->lock);
	return error;
}

CL_API_ENTRY cl_kernel CL_API_CALL clCloneKernel(cl_kernel source, cl_int *errcode_ret)
{
	cl_kernel kernel;
	cl_uint i;

	if (!ocl_is(source, OCL_KERNEL)) {
		ocl_result(errcode_ret,
			   ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid"));
		return NULL;
	}
	kernel = new_kernel(source->program, source->entry);
	for (i = 0; kernel && i < source->entry->arg_count; i++) {
		kernel->value[i] = source->value[i];
		ocl_watch(kernel->value[i].mem);
	}
	ocl_result(errcode_ret, kernel ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY);
	return kernel;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainKernel(cl_kernel kernel)
{
	return ocl_retain(kernel, &ocl_kernel_class);
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel)
{
	return ocl_release(kernel, &ocl_kernel_class);
}

/* ---- arguments ---- */

static cl_int set_buffer(struct ocl_value *value, const struct ocl_hold *hold, cl_context context,
			 const char *name, const void *handle)
{
	cl_mem mem = NULL;

	if (handle)
		memcpy(&mem, handle, sizeof(mem));
	if (mem && (!ocl_is(mem, OCL_MEM) || mem->context != context))
		return ocl_fail(context, CL_INVALID_MEM_OBJECT,
				"argument %s: not a buffer of the kernel's context", name);
	hold->take(mem);
	hold->leave(value->mem);
	value->mem = mem;
	value->set = true;
	return CL_SUCCESS;
}

static const struct ocl_hold watches = { ocl_watch, ocl_unwatch };
const struct ocl_hold ocl_keeps = { ocl_get, ocl_put };

cl_int ocl_set_value(const struct ocl_entry *entry, struct ocl_value *values,
		     const struct ocl_hold *hold, cl_context context, cl_uint index, size_t size,
		     const void *value)
{
	const struct ocl_arg *arg;
	size_t bytes;

	if (index >= entry->arg_count)
		return ocl_fail(context, CL_INVALID_ARG_INDEX, "%s has %u arguments, no %u",
				entry->name, entry->arg_count, index);
	arg = &entry->arg[index];
	bytes = arg->scalar_bytes ? arg->scalar_bytes : sizeof(cl_mem);
	if (size != bytes)
		return ocl_fail(context, CL_INVALID_ARG_SIZE, "argument %s has %zu bytes, not %zu",
				arg->name, bytes, size);
	if (!arg->scalar_bytes)
		return set_buffer(&values[index], hold, context, arg->name, value);
	if (!value)
		return ocl_fail(context, CL_INVALID_ARG_VALUE, "argument %s needs a value",
				arg->name);
	memcpy(values[index].scalar, value, bytes);
	values[index].set = true;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, size_t size,
					       const void *value)
{
	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid");
	return ocl_set_value(kernel->entry, kernel->value, &watches, kernel->program->context,
			     index, size, value);
}

static cl_int no_svm(cl_kernel kernel)
{
	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid");
	return ocl_fail(kernel->program->context, CL_INVALID_OPERATION, "no shared virtual memory");
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint index,
							 const void *value)
{
	return no_svm(kernel);
}

CL_API_ENTRY cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info name,
						    size_t size, const void *value)
{
	return no_svm(kernel);
}

/* ---- queries ---- */

static void query_name(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct _cl_kernel *)object)->entry->name);
}

static void query_attributes(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct _cl_kernel *)object)->entry->attributes);
}

static void query_arg_count(const void *object, struct ocl_answer *answer)
{
	ocl_answer_word(answer, ((const struct _cl_kernel *)object)->entry->arg_count,
			sizeof(cl_uint));
}

static void query_context(const void *object, struct ocl_answer *answer)
{
	ocl_answer_handle(answer, ((const struct _cl_kernel *)object)->program->context);
}

static const struct ocl_query queries[] = {
	OCL_CALL(CL_KERNEL_FUNCTION_NAME, query_name),
	OCL_CALL(CL_KERNEL_NUM_ARGS, query_arg_count),
	OCL_CALL(CL_KERNEL_REFERENCE_COUNT, ocl_query_handles),
	OCL_CALL(CL_KERNEL_CONTEXT, query_context),
	OCL_FIELD(CL_KERNEL_PROGRAM, struct _cl_kernel, program),
	OCL_CALL(CL_KERNEL_ATTRIBUTES, query_attributes),
};

CL_API_ENTRY cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, size_t size,
						void *value, size_t *size_ret)
{
	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid");
	return ocl_query(queries, OCL_COUNT(queries), kernel, name, size, value, size_ret);
}

/* What is asked for a kernel on a device. */
struct kernel_on {
	cl_kernel kernel;
	const struct ocl_build *build;
};

static void query_triple(const size_t *sizes, struct ocl_answer *answer)
{
	memcpy(answer->word, sizes, 3 * sizeof(*sizes));
	ocl_answer_data(answer, answer->word, 3 * sizeof(*sizes));
}

/* No kernel is written for one size of work-group. */
static void query_compile_size(const void *object, struct ocl_answer *answer)
{
	query_triple((const size_t[3]){ 0, 0, 0 }, answer);
}

/* Of built-in kernels and of kernels on custom devices alone. */
static void query_global_size(const void *object, struct ocl_answer *answer)
{
	const struct kernel_on *on = object;

	if (on->kernel->program->builtin || on->build->device->type == CL_DEVICE_TYPE_CUSTOM)
		query_triple((const size_t[3]){ 1, 1, 1 }, answer);
	else
		answer->error = ocl_fail(NULL, CL_INVALID_VALUE,
					 "neither a built-in kernel nor a custom device");
}

/* On-chip memory that the present plan claims. */
static void query_local_bytes(const void *object, struct ocl_answer *answer)
{
	const struct ocl_build *build = ((const struct kernel_on *)object)->build;
	struct npu_model_info info = { .size = sizeof(info) };
	uint64_t bytes = 0;

	if (build->model && !npu_model_info(build->model, &info))
		bytes = (uint64_t)info.used_banks * build->device->info.entries_per_bank *
			build->device->info.entry_bytes;
	ocl_answer_word(answer, bytes, sizeof(cl_ulong));
}

static const struct ocl_query group_queries[] = {
	OCL_CALL(CL_KERNEL_GLOBAL_WORK_SIZE, query_global_size),
	OCL_VALUE(CL_KERNEL_WORK_GROUP_SIZE, size_t, 1),
	OCL_CALL(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, query_compile_size),
	OCL_CALL(CL_KERNEL_LOCAL_MEM_SIZE, query_local_bytes),
	OCL_VALUE(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t, 1),
	OCL_VALUE(CL_KERNEL_PRIVATE_MEM_SIZE, cl_ulong, 0),
};

CL_API_ENTRY cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
							 cl_kernel_work_group_info name,
							 size_t size, void *value, size_t *size_ret)
{
	struct kernel_on on = { kernel };

	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid");
	if (!device && kernel->program->build_count == 1)
		on.build = &kernel->program->build[0];
	else if (ocl_is(device, OCL_DEVICE))
		on.build = ocl_program_build(kernel->program, device);
	if (!on.build)
		return ocl_fail(kernel->program->context, CL_INVALID_DEVICE,
				"the device is not the kernel's");
	return ocl_query(group_queries, OCL_COUNT(group_queries), &on, name, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
							cl_kernel_sub_group_info name,
							size_t input_size, const void *input,
							size_t size, void *value, size_t *size_ret)
{
	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid");
	return ocl_fail(kernel->program->context, CL_INVALID_OPERATION, "no sub-groups");
}

static void query_address(const void *object, struct ocl_answer *answer)
{
	const struct ocl_arg *arg = object;

	ocl_answer_word(answer,
			arg->scalar_bytes ? CL_KERNEL_ARG_ADDRESS_PRIVATE
					  : CL_KERNEL_ARG_ADDRESS_GLOBAL,
			sizeof(cl_kernel_arg_address_qualifier));
}

static void query_qualifier(const void *object, struct ocl_answer *answer)
{
	const struct ocl_arg *arg = object;

	ocl_answer_word(answer,
			arg->scalar_bytes || arg->output ? CL_KERNEL_ARG_TYPE_NONE
							 : CL_KERNEL_ARG_TYPE_CONST,
			sizeof(cl_kernel_arg_type_qualifier));
}

static void query_arg_type(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct ocl_arg *)object)->type_name);
}

static void query_arg_name(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct ocl_arg *)object)->name);
}

static void query_tensor(const void *object, struct ocl_answer *answer)
{
	const struct ocl_arg *arg = object;
	cl_npu_tensor tensor = {
		.type = arg->tensor.type,
		.rank = arg->tensor.rank,
		.output = arg->output ? CL_TRUE : CL_FALSE,
		.zero_point = arg->tensor.zero_point,
		.scale = arg->tensor.scale,
		.bytes = arg->tensor.bytes,
	};

	_Static_assert(sizeof(tensor) <= sizeof(answer->word), "no room for cl_npu_tensor");
	_Static_assert(CL_NPU_RANK_MAX == NPU_RANK_MAX, "ranks differ");
	if (!arg->tensor.size) {
		answer->error = ocl_fail(NULL, CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
					 "argument %s is no tensor of a model", arg->name);
		return;
	}
	memcpy(tensor.shape, arg->tensor.shape, sizeof(tensor.shape));
	memcpy(answer->word, &tensor, sizeof(tensor));
	ocl_answer_data(answer, answer->word, sizeof(tensor));
}

static const struct ocl_query arg_queries[] = {
	OCL_CALL(CL_KERNEL_ARG_ADDRESS_QUALIFIER, query_address),
	OCL_VALUE(CL_KERNEL_ARG_ACCESS_QUALIFIER, cl_kernel_arg_access_qualifier,
		  CL_KERNEL_ARG_ACCESS_NONE),
	OCL_CALL(CL_KERNEL_ARG_TYPE_NAME, query_arg_type),
	OCL_CALL(CL_KERNEL_ARG_TYPE_QUALIFIER, query_qualifier),
	OCL_CALL(CL_KERNEL_ARG_NAME, query_arg_name),
	OCL_CALL(CL_KERNEL_ARG_TENSOR_NPU, query_tensor),
};

CL_API_ENTRY cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index,
						   cl_kernel_arg_info name, size_t size,
						   void *value, size_t *size_ret)
{
	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(NULL, CL_INVALID_KERNEL, "the kernel is not valid");
	if (index >= kernel->entry->arg_count)
		return ocl_fail(kernel->program->context, CL_INVALID_ARG_INDEX,
				"%s has %u arguments, no %u", kernel->entry->name,
				kernel->entry->arg_count, index);
	return ocl_query(arg_queries, OCL_COUNT(arg_queries), &kernel->entry->arg[index], name,
			 size, value, size_ret);
}
