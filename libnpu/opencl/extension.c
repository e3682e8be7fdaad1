// SPDX-License-Identifier: MIT
/*
 * What we have beyond the core: names, versions and functions, a row each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

static const struct {
	const char *name;
	cl_version version;
	unsigned of;
} extensions[] = {
	{ "cl_khr_icd", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM },
	{ "cl_khr_extended_versioning", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM | OCL_OF_DEVICE },
	{ "cl_khr_device_uuid", CL_MAKE_VERSION(1, 0, 0), OCL_OF_PLATFORM | OCL_OF_DEVICE },
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
};

void ocl_extension_names(enum ocl_extension_of of, struct ocl_answer *answer)
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

void ocl_extension_versions(enum ocl_extension_of of, struct ocl_answer *answer)
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
