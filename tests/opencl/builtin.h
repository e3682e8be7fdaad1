/* SPDX-License-Identifier: MIT */
/*
 * Built-in kernels and extension functions, for tests.
 */
#ifndef TESTS_OPENCL_BUILTIN_H
#define TESTS_OPENCL_BUILTIN_H

#include "opencl.h"

/* A program of one built-in kernel, and the kernel. */
static inline cl_kernel cl_builtin(struct cl *cl, const char *name)
{
	cl_int error;
	cl_program program =
		clCreateProgramWithBuiltInKernels(cl->context, 1, &cl->device, name, &error);
	cl_kernel kernel;

	assert_int_equal(error, CL_SUCCESS);
	kernel = clCreateKernel(program, name, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
	return kernel;
}

static inline cl_int cl_run(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
	const size_t one = 1;

	return clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, event);
}

static inline void cl_read(struct cl *cl, cl_mem mem, size_t bytes, void *data)
{
	assert_int_equal(clEnqueueReadBuffer(cl->queue, mem, CL_TRUE, 0, bytes, data, 0, NULL,
					     NULL),
			 CL_SUCCESS);
}

/* npu_copy: the smallest kernel that there is. */
static inline cl_kernel cl_copy_kernel(struct cl *cl, cl_mem from, cl_mem to, cl_ulong bytes)
{
	cl_kernel kernel = cl_builtin(cl, "npu_copy");

	cl_set_buffer(kernel, 0, from);
	cl_set_buffer(kernel, 1, to);
	assert_int_equal(clSetKernelArg(kernel, 2, sizeof(bytes), &bytes), CL_SUCCESS);
	return kernel;
}

/* An extension's function by its name. */
#define CL_FUNCTION(cl, type, name) \
	((type *)clGetExtensionFunctionAddressForPlatform((cl)->platform, name))

#endif /* TESTS_OPENCL_BUILTIN_H */
