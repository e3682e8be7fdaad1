/* SPDX-License-Identifier: MIT */
/*
 * cl_npu.h - what NPUs tell beyond OpenCL.
 *
 * Queries of our own, for the standard clGet...Info functions.  Programs that do not know them lose nothing.
 * The numbers lie in the range that OpenCL leaves to vendors without a registration (0xff00 and up).
 */
#ifndef CL_NPU_H
#define CL_NPU_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why the last call in this thread failed: char[].  Platform query. */
#define CL_PLATFORM_LAST_ERROR_NPU 0xff00

/* The on-chip buffer now: cl_npu_on_chip.  Device query. */
#define CL_DEVICE_ON_CHIP_NPU 0xff10

/* Hardware configuration, e.g. "nv_small": char[].  Device query. */
#define CL_DEVICE_CONFIG_NPU 0xff11

/* Why CL_DEVICE_AVAILABLE is false: char[], "" where it is true.  Device query. */
#define CL_DEVICE_PROBLEM_NPU 0xff12

/* The tensor behind an argument: cl_npu_tensor.  clGetKernelArgInfo() query. */
#define CL_KERNEL_ARG_TENSOR_NPU 0xff20

/*
 * How often the command handed work to the NPU: cl_uint.  clGetEventProfilingInfo() query.  What goes together in a
 * command buffer is one.
 */
#define CL_PROFILING_SUBMISSIONS_NPU 0xff30

/**
 * struct cl_npu_on_chip - geometry and live budget of the on-chip buffer
 * @banks_total, @banks_available: of the hardware; what this process may use now
 * @entries_per_bank, @entry_bytes: geometry
 * @generation: counts the changes of the budget
 */
typedef struct cl_npu_on_chip {
	cl_uint banks_total;
	cl_uint banks_available;
	cl_uint entries_per_bank;
	cl_uint entry_bytes;
	cl_ulong generation;
} cl_npu_on_chip;

#define CL_NPU_RANK_MAX 6

/**
 * struct cl_npu_tensor - an input or output of a model
 * @type: element: 0 int8, 1 uint8, 2 int16, 3 int32, 4 int64, 5 float16, 6 float32, 7 bool
 * @rank, @shape: dimensions, the last one is contiguous; images are NHWC
 * @output: the kernel writes it
 * @bytes: of all elements
 * @scale, @zero_point: real = scale * (stored - zero_point); @scale is 0 where it is not quantised
 */
typedef struct cl_npu_tensor {
	cl_uint type;
	cl_uint rank;
	cl_uint shape[CL_NPU_RANK_MAX];
	cl_bool output;
	cl_int zero_point;
	cl_float scale;
	cl_ulong bytes;
} cl_npu_tensor;

#ifdef __cplusplus
}
#endif

#endif /* CL_NPU_H */
