// SPDX-License-Identifier: MIT
/*
 * Built-in kernels: what programs get by clCreateProgramWithBuiltInKernels().
 */
#include "builtin.h"

const struct ocl_entry *const ocl_builtin[] = {
	&ocl_entry_copy,
	&ocl_entry_fill,
	&ocl_entry_nhwc_to_nchw.entry,
	&ocl_entry_nchw_to_nhwc.entry,
	&ocl_entry_quantize.entry,
	&ocl_entry_dequantize.entry,
	&ocl_entry_conv2d.entry,
	&ocl_entry_fully_connected.entry,
	&ocl_entry_max_pool2d.entry,
	&ocl_entry_average_pool2d.entry,
	&ocl_entry_add.entry,
	NULL,
};
