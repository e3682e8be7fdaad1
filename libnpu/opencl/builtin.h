/* SPDX-License-Identifier: MIT */
/*
 * What the files of the built-in kernels share.
 */
#ifndef LIBNPU_OPENCL_BUILTIN_H
#define LIBNPU_OPENCL_BUILTIN_H

#include "ocl.h"

/**
 * struct ocl_operator - a launch's arguments as an operator of libnpu
 * @op: points to the tensors below and, while it is compiled, into the buffers of weights and bias
 * @in, @in_mem, @inputs: tensors that it reads, where they are, and how many
 * @out, @out_mem: tensor that it writes
 * @weights, @weights_mem, @bias_mem: NULL: it has none
 * @input, @output: the same as libnpu takes them
 */
struct ocl_operator {
	struct npu_operator op;
	struct npu_tensor_info in[2];
	struct npu_tensor_info out;
	struct npu_tensor_info weights;
	unsigned inputs;
	cl_mem in_mem[2];
	cl_mem out_mem;
	cl_mem weights_mem;
	cl_mem bias_mem;
	struct npu_input input[2];
	struct npu_output output;
};

/**
 * struct ocl_operator_entry - a built-in kernel that is an operator of libnpu
 * @entry: arguments are found by their names
 * @kind: of operator
 * @shape: works out the tensors' shapes; false: they do not exist
 */
struct ocl_operator_entry {
	struct ocl_entry entry;
	enum npu_operator_kind kind;
	bool (*shape)(const struct ocl_launch *launch, struct ocl_operator *what);
};

/* ---- builtin_args.c ---- */

/* The value of an argument by name; NULL: this kernel has none of that name. */
const struct ocl_value *ocl_argument(const struct ocl_launch *launch, const char *name);

/* The @index'th number of a scalar or vector argument; @missing where the kernel has no such argument. */
uint32_t ocl_argument_uint(const struct ocl_launch *launch, const char *name, unsigned index,
			   uint32_t missing);
float ocl_argument_float(const struct ocl_launch *launch, const char *name, unsigned index,
			 float missing);

/* Shape and bytes; the rest stays.  false: it has no elements, or more than 2 GiB. */
bool ocl_tensor_shape(struct npu_tensor_info *info, uint32_t rank, const uint32_t *shape);

/* Reads a launch's arguments and checks them and the sizes of the buffers. */
cl_int ocl_operator_read(const struct ocl_launch *launch, struct ocl_operator *what);

/* ---- builtin_model.c ---- */

/* The operator as an inference; what it is compiled to stays with the kernel. */
cl_int ocl_operator_begin(struct ocl_launch *launch, struct npu_call *call);
void ocl_operator_end(struct ocl_launch *launch, const struct npu_call *call);

/* Frees what stayed. */
void ocl_operator_forget(cl_kernel kernel);

/* ---- the kernels ---- */

extern const struct ocl_entry ocl_entry_copy, ocl_entry_fill;
extern const struct ocl_operator_entry ocl_entry_nhwc_to_nchw, ocl_entry_nchw_to_nhwc,
	ocl_entry_quantize, ocl_entry_dequantize, ocl_entry_conv2d, ocl_entry_fully_connected,
	ocl_entry_max_pool2d, ocl_entry_average_pool2d, ocl_entry_add;

#endif /* LIBNPU_OPENCL_BUILTIN_H */
