// SPDX-License-Identifier: MIT
/*
 * What we have beyond the core: names, versions and functions, a row each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"
#include "extension.h"
#include "external_memory.h"

static const struct {
	const char *name;
	cl_version version;
	unsigned of;
} extensions[] = {
	{ "cl_khr_icd", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM },
	{ "cl_khr_extended_versioning", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_device_uuid", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_command_buffer", CL_MAKE_VERSION(0, 9, 8), OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_command_buffer_mutable_dispatch", CL_MAKE_VERSION(0, 9, 5),
	  OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_external_memory", CL_MAKE_VERSION(1, 0, 1), OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_external_memory_dma_buf", CL_MAKE_VERSION(1, 0, 0),
	  OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_pci_bus_info", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PCI_DEVICE },
	{ "cl_khr_priority_hints", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM | OCL_OF_DEVICE },
};

#define FUNCTION(name)                \
	{                             \
#name, (void *)(name) \
	}

static const struct {
	const char *name;
	void *function;
} functions[] = {
	FUNCTION(clIcdGetPlatformIDsKHR),
	{ "clCreateCommandBufferKHR", (void *)ocl_command_buffer_create },
	{ "clRetainCommandBufferKHR", (void *)ocl_command_buffer_retain },
	{ "clReleaseCommandBufferKHR", (void *)ocl_command_buffer_release },
	{ "clFinalizeCommandBufferKHR", (void *)ocl_command_buffer_finalize },
	{ "clEnqueueCommandBufferKHR", (void *)ocl_command_buffer_enqueue },
	{ "clGetCommandBufferInfoKHR", (void *)ocl_command_buffer_info },
	{ "clCommandBarrierWithWaitListKHR", (void *)ocl_record_barrier },
	{ "clCommandCopyBufferKHR", (void *)ocl_record_copy_buffer },
	{ "clCommandCopyBufferRectKHR", (void *)ocl_record_copy_buffer_rect },
	{ "clCommandCopyBufferToImageKHR", (void *)ocl_record_buffer_to_image },
	{ "clCommandCopyImageKHR", (void *)ocl_record_copy_image },
	{ "clCommandCopyImageToBufferKHR", (void *)ocl_record_image_to_buffer },
	{ "clCommandFillBufferKHR", (void *)ocl_record_fill_buffer },
	{ "clCommandFillImageKHR", (void *)ocl_record_fill_image },
	{ "clCommandSVMMemcpyKHR", (void *)ocl_record_svm_memcpy },
	{ "clCommandSVMMemFillKHR", (void *)ocl_record_svm_mem_fill },
	{ "clCommandNDRangeKernelKHR", (void *)ocl_record_nd_range_kernel },
	{ "clUpdateMutableCommandsKHR", (void *)ocl_mutable_update },
	{ "clGetMutableCommandInfoKHR", (void *)ocl_mutable_info },
	{ "clEnqueueAcquireExternalMemObjectsKHR", (void *)ocl_enqueue_acquire_external },
	{ "clEnqueueReleaseExternalMemObjectsKHR", (void *)ocl_enqueue_release_external },
};

void ocl_extension_names(unsigned of, struct ocl_answer *answer)
{
	size_t i, bytes = 1;
	char *text;

	for (i = 0; i < OCL_COUNT(extensions); i++)
		bytes += strlen(extensions[i].name) + 1;
	text = calloc(1, bytes);
	if (!text) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	for (i = 0; i < OCL_COUNT(extensions); i++)
		if (extensions[i].of & of)
			sprintf(text + strlen(text), "%s%s", *text ? " " : "", extensions[i].name);
	answer->owned = text;
	ocl_answer_text(answer, text);
}

void ocl_extension_versions(unsigned of, struct ocl_answer *answer)
{
	cl_name_version *list = calloc(OCL_COUNT(extensions), sizeof(*list));
	size_t i, count = 0;

	if (!list) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	for (i = 0; i < OCL_COUNT(extensions); i++) {
		if (!(extensions[i].of & of))
			continue;
		list[count].version = extensions[i].version;
		snprintf(list[count++].name, CL_NAME_VERSION_MAX_NAME_SIZE, "%s",
			 extensions[i].name);
	}
	answer->owned = list;
	ocl_answer_data(answer, list, count * sizeof(*list));
}

void *ocl_extension_function(const char *name)
{
	size_t i;

	for (i = 0; i < OCL_COUNT(functions); i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].function;
	return NULL;
}
