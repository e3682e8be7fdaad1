/* SPDX-License-Identifier: MIT */
/*
 * Host kernels: what a shared object that stands for a program in OpenCL C shows of itself.
 *
 * It has the symbol host_kernels, an array that ends with a NULL name.
 */
#ifndef HOST_KERNEL_H
#define HOST_KERNEL_H

#include <stddef.h>

/* An argument.  @bytes: of a value; 0: a buffer. */
struct host_arg {
	const char *name;
	const char *type;
	size_t bytes;
};

/**
 * struct host_kernel - an entry point
 * @run: does all work-items; @value has a pointer for each argument: to the value, or to the buffer's address
 */
struct host_kernel {
	const char *name;
	unsigned arg_count;
	const struct host_arg *arg;
	void (*run)(const size_t *offset, const size_t *global, void **value);
};

#endif /* HOST_KERNEL_H */
