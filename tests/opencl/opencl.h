/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the OpenCL ICD share: the NPU found through the loader, as any program finds it.
 */
#ifndef TESTS_OPENCL_H
#define TESTS_OPENCL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "../common/test_device.h"
#include "../common/whole_file.h"
#include "cl_npu.h"
#include "npu.h"

#define DIGITS "tools/demo/digits.tflite"
#define DIGITS_PIXELS 4096
#define DIGITS_CLASSES 10

/* The name that libnpu and the ICD open. */
static inline const char *cl_npu_name(void)
{
	return test_device("sim:nv_small");
}

static inline cl_platform_id cl_npu_platform(void)
{
	cl_platform_id list[16];
	cl_uint count = 0, i;
	char name[64];

	setenv("NPU_DEVICE", cl_npu_name(), 1);
	assert_int_equal(clGetPlatformIDs(16, list, &count), CL_SUCCESS);
	for (i = 0; i < count && i < 16; i++) {
		assert_int_equal(clGetPlatformInfo(list[i], CL_PLATFORM_NAME, sizeof(name), name,
						   NULL),
				 CL_SUCCESS);
		if (!strcmp(name, "NPU"))
			return list[i];
	}
	fail_msg("the loader has %u platforms, none is ours", count);
	return NULL;
}

/* Is the NPU a custom device in this run of the test? */
static inline bool cl_npu_is_custom(void)
{
	const char *type = getenv("NPU_OPENCL_DEVICE_TYPE");

	return type && !strcmp(type, "custom");
}

static inline cl_device_type cl_npu_type(void)
{
	return cl_npu_is_custom() ? CL_DEVICE_TYPE_CUSTOM : CL_DEVICE_TYPE_ACCELERATOR;
}

/**
 * struct cl - what a program has after its first lines
 * @queue: in order, with profiling
 */
struct cl {
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
};

static inline void cl_begin(struct cl *cl)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE,
						   0 };
	cl_int error;

	cl->platform = cl_npu_platform();
	assert_int_equal(clGetDeviceIDs(cl->platform, cl_npu_type(), 1, &cl->device, NULL),
			 CL_SUCCESS);
	cl->context = clCreateContext(NULL, 1, &cl->device, NULL, NULL, &error);
	assert_int_equal(error, CL_SUCCESS);
	cl->queue = clCreateCommandQueueWithProperties(cl->context, cl->device, properties, &error);
	assert_int_equal(error, CL_SUCCESS);
}

static inline void cl_end(struct cl *cl)
{
	assert_int_equal(clFinish(cl->queue), CL_SUCCESS);
	assert_int_equal(clReleaseCommandQueue(cl->queue), CL_SUCCESS);
	assert_int_equal(clReleaseContext(cl->context), CL_SUCCESS);
}

static inline cl_command_queue cl_out_of_order(struct cl *cl)
{
	const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES,
						   CL_QUEUE_PROFILING_ENABLE |
							   CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
						   0 };
	cl_int error;
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(cl->context, cl->device, properties, &error);

	assert_int_equal(error, CL_SUCCESS);
	return queue;
}

static inline cl_mem cl_buffer(struct cl *cl, size_t bytes, const void *data)
{
	cl_int error;
	cl_mem mem = clCreateBuffer(cl->context,
				    CL_MEM_READ_WRITE | (data ? CL_MEM_COPY_HOST_PTR : 0), bytes,
				    (void *)data, &error);

	assert_int_equal(error, CL_SUCCESS);
	return mem;
}

static inline cl_int cl_event_status(cl_event event)
{
	cl_int status = 1000;

	assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
					&status, NULL),
			 CL_SUCCESS);
	return status;
}

static inline void *cl_read_file(const char *path, size_t *bytes)
{
	void *data = whole_file(path, bytes);

	assert_non_null(data);
	return data;
}

static inline cl_program cl_load(struct cl *cl, const void *data, size_t bytes)
{
	const unsigned char *binary = data;
	cl_int error, status;
	cl_program program = clCreateProgramWithBinary(cl->context, 1, &cl->device, &bytes, &binary,
						       &status, &error);

	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(status, CL_SUCCESS);
	assert_int_equal(clBuildProgram(program, 1, &cl->device, NULL, NULL, NULL), CL_SUCCESS);
	return program;
}

static inline cl_program cl_load_file(struct cl *cl, const char *path)
{
	size_t bytes;
	void *data = cl_read_file(path, &bytes);
	cl_program program = cl_load(cl, data, bytes);

	free(data);
	return program;
}

static inline void cl_set_buffer(cl_kernel kernel, cl_uint index, cl_mem mem)
{
	assert_int_equal(clSetKernelArg(kernel, index, sizeof(mem), &mem), CL_SUCCESS);
}

#endif /* TESTS_OPENCL_H */
