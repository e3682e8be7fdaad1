// SPDX-License-Identifier: MIT
/*
 * Launches: kernels on their way to the NPU, with the arguments that they had when they were enqueued.
 */
#include <stdlib.h>
#include <string.h>

#include "ocl.h"

/* ---- kernels of a model ---- */

/* The arguments as libnpu takes them; @tensor holds both lists. */
struct model_args {
	unsigned inputs, outputs;
	struct npu_output *output;
	struct npu_input input[];
};

static cl_int prepare_model(struct ocl_launch *launch)
{
	const struct ocl_entry *entry = launch->entry;
	struct model_args *args;
	cl_uint i;

	args = malloc(sizeof(*args) +
		      entry->arg_count * (sizeof(*args->input) + sizeof(*args->output)));
	if (!args)
		return ocl_fail(launch->kernel->program->context, CL_OUT_OF_HOST_MEMORY,
				"out of memory");
	args->inputs = 0;
	args->outputs = 0;
	args->output = (struct npu_output *)(args->input + entry->arg_count);
	for (i = 0; i < entry->arg_count; i++) {
		size_t bytes = (size_t)entry->arg[i].bytes;
		void *data = launch->value[i].mem ? launch->value[i].mem->data : NULL;

		if (entry->arg[i].output)
			args->output[args->outputs++] = (struct npu_output){ data, bytes };
		else
			args->input[args->inputs++] = (struct npu_input){ data, bytes };
	}
	launch->prepared = args;
	return CL_SUCCESS;
}

static cl_int begin_model(struct ocl_launch *launch, struct npu_call *call)
{
	const struct model_args *args = launch->prepared;

	call->model = launch->build->model;
	call->inputs = args->input;
	call->input_count = args->inputs;
	call->outputs = args->output;
	call->output_count = args->outputs;
	return CL_SUCCESS;
}

static void release_model(struct ocl_launch *launch)
{
	free(launch->prepared);
	launch->prepared = NULL;
}

const struct ocl_entry_ops ocl_model_ops = {
	.prepare = prepare_model,
	.release = release_model,
	.begin = begin_model,
};

/* ---- inferences ---- */

/**
 * struct inferences - launches that run together
 * @call, @stats, @count: those that have begun
 */
struct inferences {
	struct npu_call call[OCL_MAX_TOGETHER];
	struct npu_run_stats stats[OCL_MAX_TOGETHER];
	cl_uint count;
};

/* Up to one that cannot begin. */
static cl_int begin_all(struct inferences *all, struct ocl_launch *const *launch, cl_uint count)
{
	cl_int error = CL_SUCCESS;

	for (all->count = 0; all->count < count; all->count++) {
		struct npu_call *call = &all->call[all->count];
		struct npu_run_stats *stats = &all->stats[all->count];

		error = launch[all->count]->entry->ops->begin(launch[all->count], call);
		if (error)
			break;
		stats->size = sizeof(*stats);
		call->stats = stats;
	}
	return error;
}

static void end_all(struct inferences *all, struct ocl_launch *const *launch)
{
	cl_uint i;

	for (i = 0; i < all->count; i++)
		if (launch[i]->entry->ops->end)
			launch[i]->entry->ops->end(launch[i], &all->call[i]);
}

static void tell_times(const struct inferences *all, cl_uint done, struct ocl_times *times)
{
	cl_uint i;

	for (i = 0; i < done; i++)
		times->submissions += all->stats[i].submissions;
	if (!done)
		return;
	times->start = all->stats[0].start_ns;
	times->end = all->stats[done - 1].end_ns;
}

cl_int ocl_run_inferences(struct ocl_launch *const *launch, cl_uint count, struct ocl_times *times)
{
	struct inferences all;
	cl_int error = begin_all(&all, launch, count);
	unsigned done = 0;
	int err = npu_run_calls(all.call, all.count, &done);

	/* What failed in an earlier one counts. */
	if (err)
		error = ocl_fail(launch[done]->kernel->program->context, ocl_errno(err), "%s",
				 npu_error());
	tell_times(&all, done, times);
	end_all(&all, launch);
	return error;
}

/* ---- commands ---- */

static cl_int run_launch(struct ocl_command *command, struct ocl_times *times)
{
	struct ocl_launch *launch = command->launch;

	if (launch->entry->ops->run)
		return launch->entry->ops->run(launch, times);
	return ocl_run_inferences(&launch, 1, times);
}

struct ocl_launch *ocl_command_launch(const struct ocl_command *command)
{
	return command->ops->run == run_launch ? command->launch : NULL;
}

struct ocl_launch *ocl_command_inference(const struct ocl_command *command)
{
	struct ocl_launch *launch = ocl_command_launch(command);

	return launch && !launch->entry->ops->run ? launch : NULL;
}

void ocl_launch_free(struct ocl_launch *launch)
{
	cl_uint i;

	if (launch->entry->ops->release)
		launch->entry->ops->release(launch);
	for (i = 0; i < launch->entry->arg_count; i++)
		ocl_put(launch->value[i].mem);
	ocl_put(launch->kernel);
	free(launch);
}

static void release_launch(struct ocl_command *command)
{
	ocl_launch_free(command->launch);
}

static const struct ocl_command_ops launch_ops = { CL_COMMAND_NDRANGE_KERNEL, run_launch,
						   release_launch };
static const struct ocl_command_ops task_ops = { CL_COMMAND_TASK, run_launch, release_launch };
static const struct ocl_command_ops empty_ops = { CL_COMMAND_NDRANGE_KERNEL };

static cl_int check_value(cl_context context, const struct ocl_arg *arg,
			  const struct ocl_value *value)
{
	if (!value->set)
		return ocl_fail(context, CL_INVALID_KERNEL_ARGS, "argument %s was not set",
				arg->name);
	if (arg->scalar_bytes)
		return CL_SUCCESS;
	if (!value->mem && !arg->output && !arg->optional)
		return ocl_fail(context, CL_INVALID_KERNEL_ARGS, "argument %s is NULL", arg->name);
	if (value->mem && value->mem->size < arg->bytes)
		return ocl_fail(context, CL_INVALID_KERNEL_ARGS,
				"argument %s needs %llu bytes, its buffer has %zu", arg->name,
				(unsigned long long)arg->bytes, value->mem->size);
	return CL_SUCCESS;
}

cl_int ocl_launch_prepare(struct ocl_launch *launch)
{
	const struct ocl_entry *entry = launch->entry;
	cl_context context = launch->kernel->program->context;
	cl_int error = CL_SUCCESS;
	cl_uint i;

	launch->complete = false;
	for (i = 0; i < entry->arg_count && !error; i++) {
		if (launch->may_wait && !launch->value[i].set)
			return CL_SUCCESS;
		error = check_value(context, &entry->arg[i], &launch->value[i]);
	}
	if (error)
		return error;
	if (entry->ops->release)
		entry->ops->release(launch);
	error = entry->ops->prepare ? entry->ops->prepare(launch) : CL_SUCCESS;
	launch->complete = !error;
	return error;
}

static struct ocl_launch *new_launch(cl_kernel kernel, struct ocl_build *build,
				     const struct ocl_value *value)
{
	const struct ocl_entry *entry = kernel->entry;
	struct ocl_launch *launch =
		calloc(1, sizeof(*launch) + entry->arg_count * sizeof(*launch->value));
	cl_uint i;

	if (!launch)
		return NULL;
	launch->kernel = ocl_get(kernel);
	launch->device = build->device;
	launch->build = build;
	launch->entry = entry;
	for (i = 0; i < entry->arg_count; i++) {
		launch->value[i] = value[i];
		launch->value[i].mem = ocl_get_watched(value[i].mem);
		/* A buffer that is gone is none that was set. */
		launch->value[i].set &= !value[i].mem == !launch->value[i].mem;
	}
	return launch;
}

struct ocl_launch *ocl_launch_copy(const struct ocl_launch *launch)
{
	struct ocl_launch *copy = new_launch(launch->kernel, launch->build, launch->value);

	if (!copy)
		return NULL;
	copy->range = launch->range;
	copy->may_wait = launch->may_wait;
	return copy;
}

void ocl_launch_command(struct ocl_launch *launch, struct ocl_command *command)
{
	*command = (struct ocl_command){ .ops = &launch_ops, .launch = launch };
}

static cl_int check_kernel(cl_context context, cl_device_id device, cl_kernel kernel,
			   struct ocl_build **build)
{
	if (!ocl_is(kernel, OCL_KERNEL))
		return ocl_fail(context, CL_INVALID_KERNEL, "the kernel is not valid");
	if (kernel->program->context != context)
		return ocl_fail(context, CL_INVALID_CONTEXT, "the kernel is of another context");
	*build = ocl_program_build(kernel->program, device);
	if (!*build || (*build)->status != CL_BUILD_SUCCESS)
		return ocl_fail(context, CL_INVALID_PROGRAM_EXECUTABLE,
				"the program is not built for %s", device->name);
	return CL_SUCCESS;
}

/* Do work-groups of that size make up the whole? */
static bool divides(cl_uint work_dim, const size_t *global, const size_t *local)
{
	cl_uint i;

	for (i = 0; i < work_dim; i++)
		if (!local[i] || (global && global[i] % local[i]))
			return false;
	return true;
}

/* @empty: no work-item is wanted, which OpenCL allows. */
static cl_int check_range(cl_context context, const struct ocl_entry *entry, cl_uint work_dim,
			  const size_t *global, const size_t *local, bool *empty)
{
	cl_uint i;

	if (work_dim < 1 || work_dim > 3)
		return ocl_fail(context, CL_INVALID_WORK_DIMENSION, "%u dimensions", work_dim);
	*empty = !global;
	for (i = 0; i < work_dim && global; i++) {
		if (global[i] > 1 && !entry->any_range)
			return ocl_fail(context, CL_INVALID_GLOBAL_WORK_SIZE,
					"a kernel of an NPU is one work-item, not %zu", global[i]);
		*empty |= !global[i];
	}
	for (i = 0; i < work_dim && local; i++)
		if (local[i] != 1)
			return ocl_fail(context,
					divides(work_dim, global, local)
						? CL_INVALID_WORK_ITEM_SIZE
						: CL_INVALID_WORK_GROUP_SIZE,
					"work-groups of %zu; they have one work-item", local[i]);
	return CL_SUCCESS;
}

static void set_range(struct ocl_range *range, cl_uint work_dim, const size_t *offset,
		      const size_t *global)
{
	cl_uint i;

	for (i = 0; i < 3; i++) {
		range->offset[i] = offset && i < work_dim ? offset[i] : 0;
		range->global[i] = global && i < work_dim ? global[i] : 1;
	}
}

static cl_int build_launch(cl_context context, cl_device_id device, cl_kernel kernel, bool may_wait,
			   const struct ocl_command_ops *ops, struct ocl_command *command)
{
	struct ocl_launch *launch;
	struct ocl_build *build = NULL;
	cl_int error = check_kernel(context, device, kernel, &build);

	if (error)
		return error;
	launch = new_launch(kernel, build, kernel->value);
	if (!launch)
		return ocl_fail(context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	set_range(&launch->range, 0, NULL, NULL);
	launch->may_wait = may_wait;
	error = ocl_launch_prepare(launch);
	if (error) {
		ocl_launch_free(launch);
		return error;
	}
	*command = (struct ocl_command){ .ops = ops, .launch = launch };
	return CL_SUCCESS;
}

cl_int ocl_build_launch(cl_context context, cl_device_id device, cl_kernel kernel, cl_uint work_dim,
			const size_t *offset, const size_t *global, const size_t *local,
			bool may_wait, struct ocl_command *command)
{
	bool empty = false;
	cl_int error = build_launch(context, device, kernel, may_wait, &launch_ops, command);

	if (error)
		return error;
	error = check_range(context, kernel->entry, work_dim, global, local, &empty);
	set_range(&command->launch->range, work_dim, offset, global);
	if (error || empty)
		ocl_command_release(command);
	if (!error && empty)
		command->ops = &empty_ops;
	return error;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
						       cl_uint work_dim, const size_t *offset,
						       const size_t *global, const size_t *local,
						       cl_uint wait_count,
						       const cl_event *wait_list, cl_event *event)
{
	struct ocl_command command;
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = ocl_build_launch(queue->context, queue->device, kernel, work_dim, offset, global,
				 local, false, &command);
	return error ? error : ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel,
					      cl_uint wait_count, const cl_event *wait_list,
					      cl_event *event)
{
	struct ocl_command command;
	cl_int error;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = build_launch(queue->context, queue->device, kernel, false, &task_ops, &command);
	return error ? error : ocl_enqueue(queue, &command, OCL_WAIT(wait_count, wait_list, event));
}
