// SPDX-License-Identifier: MIT
/*
 * Built-in kernels: what programs get by clCreateProgramWithBuiltInKernels().
 */
#include "ocl.h"

const struct ocl_entry *const ocl_builtin[] = { NULL };
