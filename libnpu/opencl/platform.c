// SPDX-License-Identifier: MIT
/*
 * The platform, and the functions that the ICD loader looks for by name.
 */
#include <string.h>

#include "extension.h"
#include "ocl.h"

#define OCL_EXPORT __attribute__((visibility("default")))

static void destroy_nothing(void *object)
{
	(void)object;
}

static const struct ocl_class platform_class = {
	OCL_PLATFORM, sizeof(struct _cl_platform_id), CL_INVALID_PLATFORM, NULL, destroy_nothing,
};

struct _cl_platform_id ocl_platform = {
	.base = { &ocl_dispatch, OCL_PLATFORM, &platform_class, 1, 1 },
};

static void query_extensions(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_extension_names(OCL_OF_PLATFORM, answer);
}

static void query_extension_versions(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_extension_versions(OCL_OF_PLATFORM, answer);
}

static void query_last_error(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_answer_text(answer, ocl_last_error());
}

static const struct ocl_query queries[] = {
	OCL_TEXT(CL_PLATFORM_PROFILE, "EMBEDDED_PROFILE"),
	OCL_TEXT(CL_PLATFORM_VERSION, "OpenCL 3.0 libnpu " NPU_VERSION),
	OCL_VALUE(CL_PLATFORM_NUMERIC_VERSION, cl_version, CL_MAKE_VERSION(3, 0, 0)),
	OCL_TEXT(CL_PLATFORM_NAME, "NPU"),
	OCL_TEXT(CL_PLATFORM_VENDOR, "libnpu"),
	OCL_CALL(CL_PLATFORM_EXTENSIONS, query_extensions),
	OCL_CALL(CL_PLATFORM_EXTENSIONS_WITH_VERSION, query_extension_versions),
	OCL_VALUE(CL_PLATFORM_HOST_TIMER_RESOLUTION, cl_ulong, 1),
	OCL_TEXT(CL_PLATFORM_ICD_SUFFIX_KHR, "NPU"),
	OCL_VALUE(CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
		  cl_external_memory_handle_type_khr, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR),
	OCL_CALL(CL_PLATFORM_LAST_ERROR_NPU, query_last_error),
};

OCL_EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
							     cl_platform_info name, size_t size,
							     void *value, size_t *size_ret)
{
	if (!ocl_is_platform(platform))
		return ocl_fail(NULL, CL_INVALID_PLATFORM, "this platform is not ours");
	return ocl_query(queries, OCL_COUNT(queries), &ocl_platform, name, size, value, size_ret);
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint room, cl_platform_id *platforms,
						 cl_uint *count)
{
	if ((!platforms && !count) || (platforms && !room))
		return ocl_fail(NULL, CL_INVALID_VALUE,
				"neither platforms nor their number wanted");
	if (platforms)
		platforms[0] = &ocl_platform;
	if (count)
		*count = 1;
	return CL_SUCCESS;
}

OCL_EXPORT CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint room,
								  cl_platform_id *platforms,
								  cl_uint *count)
{
	return clGetPlatformIDs(room, platforms, count);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
									const char *name)
{
	if (platform != &ocl_platform || !name)
		return NULL;
	return ocl_extension_function(name);
}

OCL_EXPORT CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	return clGetExtensionFunctionAddressForPlatform(&ocl_platform, name);
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform)
{
	if (!platform || !ocl_is_platform(platform))
		return ocl_fail(NULL, CL_INVALID_PLATFORM, "this platform is not ours");
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clUnloadCompiler(void)
{
	return CL_SUCCESS;
}
