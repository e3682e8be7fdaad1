/* SPDX-License-Identifier: MIT */
/*
 * cl_khr_external_memory: buffers made of memory that somebody else gave.
 */
#ifndef LIBNPU_OPENCL_EXTERNAL_MEMORY_H
#define LIBNPU_OPENCL_EXTERNAL_MEMORY_H

#include "ocl.h"

/* Names that older headers lack. */
#ifndef CL_MEM_DEVICE_HANDLE_LIST_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_KHR 0x2051
#endif
#ifndef CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR
#define CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR 0x2052
#endif
#ifndef CL_MEM_DEVICE_HANDLE_LIST_END_KHR
#define CL_MEM_DEVICE_HANDLE_LIST_END_KHR 0
#endif

/* A copy with the closing 0; *@count elements with it.  NULL: no list or no memory. */
cl_mem_properties *ocl_copy_mem_properties(const cl_mem_properties *properties, size_t *count);

/**
 * ocl_external_import() - look for a memory handle among a buffer's properties
 * @mem: flags and size are set; receives data and external where there is a handle
 * @properties: NULL: none
 *
 * A file descriptor that is imported belongs to the buffer, which closes it in the end; where the import
 * fails it stays the caller's.
 *
 * Return: CL_SUCCESS, also without a handle; CL_INVALID_PROPERTY: a property that we do not know, or no
 * dma-buf; CL_INVALID_DEVICE; CL_INVALID_VALUE: flags that do not go with it; CL_INVALID_BUFFER_SIZE: there is
 * less memory; CL_OUT_OF_HOST_MEMORY.
 */
cl_int ocl_external_import(cl_mem mem, const cl_mem_properties *properties);

/* The buffer is destroyed; mem->external is not NULL. */
void ocl_external_release(cl_mem mem);

CL_API_ENTRY cl_int CL_API_CALL ocl_enqueue_acquire_external(cl_command_queue queue, cl_uint count,
							     const cl_mem *mems, cl_uint wait_count,
							     const cl_event *wait_list,
							     cl_event *event);
CL_API_ENTRY cl_int CL_API_CALL ocl_enqueue_release_external(cl_command_queue queue, cl_uint count,
							     const cl_mem *mems, cl_uint wait_count,
							     const cl_event *wait_list,
							     cl_event *event);

#endif /* LIBNPU_OPENCL_EXTERNAL_MEMORY_H */
