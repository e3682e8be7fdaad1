/* SPDX-License-Identifier: MIT */
/*
 * Extensions: one table of names and versions, one of functions.
 */
#ifndef LIBNPU_OPENCL_EXTENSION_H
#define LIBNPU_OPENCL_EXTENSION_H

#include "ocl.h"

/* Who has an extension; a bit mask in the table. */
enum ocl_extension_of { OCL_OF_PLATFORM = 1, OCL_OF_DEVICE = 2, OCL_OF_PCI_DEVICE = 4 };

/* The names, separated by spaces, and the names with versions, as values of a query.  @of: one or several. */
void ocl_extension_names(unsigned of, struct ocl_answer *answer);
void ocl_extension_versions(unsigned of, struct ocl_answer *answer);

/* NULL: there is no such function. */
void *ocl_extension_function(const char *name);

#endif /* LIBNPU_OPENCL_EXTENSION_H */
