// SPDX-License-Identifier: MIT
/*
 * Platform, devices and contexts as programs see them: every query that OpenCL 3.0 has is answered, sizes are
 * right, wrong handles and values have the specification's errors.
 */
#include <pthread.h>
#include <time.h>

#include "opencl.h"

static void platform(void **state)
{
	static const cl_platform_info names[] = {
		CL_PLATFORM_PROFILE,
		CL_PLATFORM_VERSION,
		CL_PLATFORM_NAME,
		CL_PLATFORM_VENDOR,
		CL_PLATFORM_EXTENSIONS,
		CL_PLATFORM_NUMERIC_VERSION,
		CL_PLATFORM_ICD_SUFFIX_KHR,
		CL_PLATFORM_EXTENSIONS_WITH_VERSION,
		CL_PLATFORM_HOST_TIMER_RESOLUTION,
		CL_PLATFORM_LAST_ERROR_NPU,
	};
	cl_platform_id platform = cl_npu_platform();
	char text[2048];
	size_t i, size;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(clGetPlatformInfo(platform, names[i], sizeof(text), text, &size),
				 CL_SUCCESS);
	assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text), text, NULL),
			 CL_SUCCESS);
	assert_int_equal(strncmp(text, "OpenCL 3.0 ", 11), 0);
	assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_NAME, 3, text, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clGetPlatformInfo(platform, 0x4711, 0, NULL, &size), CL_INVALID_VALUE);
	/* The error of the last call stays to be read. */
	assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_LAST_ERROR_NPU, sizeof(text), text,
					   NULL),
			 CL_SUCCESS);
	assert_non_null(strstr(text, "0x4711"));
}

/* Names in OpenCL 3.0's table of device queries, with the bytes of their values; 0: an array or text. */
static const struct {
	cl_device_info name;
	size_t bytes;
} device_names[] = {
	{ CL_DEVICE_TYPE, 8 },
	{ CL_DEVICE_VENDOR_ID, 4 },
	{ CL_DEVICE_MAX_COMPUTE_UNITS, 4 },
	{ CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4 },
	{ CL_DEVICE_MAX_WORK_ITEM_SIZES, 3 * sizeof(size_t) },
	{ CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t) },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4 },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 4 },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 4 },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 4 },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4 },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4 },
	{ CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 4 },
	{ CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 4 },
	{ CL_DEVICE_MAX_CLOCK_FREQUENCY, 4 },
	{ CL_DEVICE_ADDRESS_BITS, 4 },
	{ CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8 },
	{ CL_DEVICE_IMAGE_SUPPORT, 4 },
	{ CL_DEVICE_MAX_READ_IMAGE_ARGS, 4 },
	{ CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4 },
	{ CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4 },
	{ CL_DEVICE_IL_VERSION, 0 },
	{ CL_DEVICE_ILS_WITH_VERSION, 0 },
	{ CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof(size_t) },
	{ CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof(size_t) },
	{ CL_DEVICE_IMAGE3D_MAX_WIDTH, sizeof(size_t) },
	{ CL_DEVICE_IMAGE3D_MAX_HEIGHT, sizeof(size_t) },
	{ CL_DEVICE_IMAGE3D_MAX_DEPTH, sizeof(size_t) },
	{ CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, sizeof(size_t) },
	{ CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, sizeof(size_t) },
	{ CL_DEVICE_MAX_SAMPLERS, 4 },
	{ CL_DEVICE_IMAGE_PITCH_ALIGNMENT, 4 },
	{ CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, 4 },
	{ CL_DEVICE_MAX_PIPE_ARGS, 4 },
	{ CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, 4 },
	{ CL_DEVICE_PIPE_MAX_PACKET_SIZE, 4 },
	{ CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t) },
	{ CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4 },
	{ CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4 },
	{ CL_DEVICE_SINGLE_FP_CONFIG, 8 },
	{ CL_DEVICE_DOUBLE_FP_CONFIG, 8 },
	{ CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4 },
	{ CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4 },
	{ CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8 },
	{ CL_DEVICE_GLOBAL_MEM_SIZE, 8 },
	{ CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8 },
	{ CL_DEVICE_MAX_CONSTANT_ARGS, 4 },
	{ CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof(size_t) },
	{ CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, sizeof(size_t) },
	{ CL_DEVICE_LOCAL_MEM_TYPE, 4 },
	{ CL_DEVICE_LOCAL_MEM_SIZE, 8 },
	{ CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4 },
	{ CL_DEVICE_HOST_UNIFIED_MEMORY, 4 },
	{ CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof(size_t) },
	{ CL_DEVICE_ENDIAN_LITTLE, 4 },
	{ CL_DEVICE_AVAILABLE, 4 },
	{ CL_DEVICE_COMPILER_AVAILABLE, 4 },
	{ CL_DEVICE_LINKER_AVAILABLE, 4 },
	{ CL_DEVICE_EXECUTION_CAPABILITIES, 8 },
	{ CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, 8 },
	{ CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, 8 },
	{ CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, 4 },
	{ CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, 4 },
	{ CL_DEVICE_MAX_ON_DEVICE_QUEUES, 4 },
	{ CL_DEVICE_MAX_ON_DEVICE_EVENTS, 4 },
	{ CL_DEVICE_BUILT_IN_KERNELS, 0 },
	{ CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, 0 },
	{ CL_DEVICE_PLATFORM, sizeof(void *) },
	{ CL_DEVICE_NAME, 0 },
	{ CL_DEVICE_VENDOR, 0 },
	{ CL_DRIVER_VERSION, 0 },
	{ CL_DEVICE_PROFILE, 0 },
	{ CL_DEVICE_VERSION, 0 },
	{ CL_DEVICE_NUMERIC_VERSION, 4 },
	{ CL_DEVICE_OPENCL_C_VERSION, 0 },
	{ CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0 },
	{ CL_DEVICE_OPENCL_C_FEATURES, 0 },
	{ CL_DEVICE_EXTENSIONS, 0 },
	{ CL_DEVICE_EXTENSIONS_WITH_VERSION, 0 },
	{ CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof(size_t) },
	{ CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4 },
	{ CL_DEVICE_PARENT_DEVICE, sizeof(void *) },
	{ CL_DEVICE_PARTITION_MAX_SUB_DEVICES, 4 },
	{ CL_DEVICE_PARTITION_PROPERTIES, sizeof(cl_device_partition_property) },
	{ CL_DEVICE_PARTITION_AFFINITY_DOMAIN, 8 },
	{ CL_DEVICE_PARTITION_TYPE, 0 },
	{ CL_DEVICE_REFERENCE_COUNT, 4 },
	{ CL_DEVICE_SVM_CAPABILITIES, 8 },
	{ CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, 4 },
	{ CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, 4 },
	{ CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, 4 },
	{ CL_DEVICE_MAX_NUM_SUB_GROUPS, 4 },
	{ CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, 4 },
	{ CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, 8 },
	{ CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, 8 },
	{ CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 4 },
	{ CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, 4 },
	{ CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, 4 },
	{ CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, 8 },
	{ CL_DEVICE_PIPE_SUPPORT, 4 },
	{ CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(size_t) },
	{ CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, 0 },
	{ CL_DEVICE_ON_CHIP_NPU, sizeof(cl_npu_on_chip) },
	{ CL_DEVICE_CONFIG_NPU, 0 },
	{ CL_DEVICE_PROBLEM_NPU, 0 },
};

/* On PCI the device has an address; elsewhere it knows nothing of one. */
static void pci_bus_info(void **state)
{
	struct npu_device_info info = { .size = sizeof(info) };
	cl_device_pci_bus_info_khr pci;
	struct npu_device *npu;
	char names[1024];
	struct cl cl;
	cl_int error;

	cl_begin(&cl);
	assert_int_equal(npu_open(cl_npu_name(), &npu), 0);
	assert_int_equal(npu_device_info(npu, &info), 0);
	npu_close(npu);
	assert_int_equal(clGetDeviceInfo(cl.device, CL_DEVICE_EXTENSIONS, sizeof(names), names,
					 NULL),
			 CL_SUCCESS);
	assert_int_equal(strstr(names, "cl_khr_pci_bus_info") != NULL, info.is_pci);
	error = clGetDeviceInfo(cl.device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(pci), &pci, NULL);
	assert_int_equal(error, info.is_pci ? CL_SUCCESS : CL_INVALID_VALUE);
	if (info.is_pci) {
		assert_int_equal(pci.pci_domain, info.pci_domain);
		assert_int_equal(pci.pci_bus, info.pci_bus);
		assert_int_equal(pci.pci_device, info.pci_device);
		assert_int_equal(pci.pci_function, info.pci_function);
	}
	cl_end(&cl);
}

static void device_queries(void **state)
{
	char value[4096];
	struct cl cl;
	size_t i, size, again;

	cl_begin(&cl);
	for (i = 0; i < sizeof(device_names) / sizeof(device_names[0]); i++) {
		cl_device_info name = device_names[i].name;

		size = 4711;
		if (clGetDeviceInfo(cl.device, name, 0, NULL, &size))
			fail_msg("query 0x%x fails", name);
		if (device_names[i].bytes && size != device_names[i].bytes)
			fail_msg("query 0x%x has %zu bytes", name, size);
		assert_true(size <= sizeof(value));
		assert_int_equal(clGetDeviceInfo(cl.device, name, size, value, &again), CL_SUCCESS);
		assert_int_equal(size, again);
		if (size)
			assert_int_equal(clGetDeviceInfo(cl.device, name, size - 1, value, NULL),
					 CL_INVALID_VALUE);
	}
	assert_int_equal(clGetDeviceInfo(cl.device, 0x4711, 0, NULL, &size), CL_INVALID_VALUE);
	assert_int_equal(clGetDeviceInfo((cl_device_id)cl.context, CL_DEVICE_NAME, 0, NULL, &size),
			 CL_INVALID_DEVICE);
	cl_end(&cl);
}

static cl_uint count_devices(cl_device_type type)
{
	cl_uint count = 4711;
	cl_int error = clGetDeviceIDs(cl_npu_platform(), type, 0, NULL, &count);

	assert_true(error == CL_SUCCESS || error == CL_DEVICE_NOT_FOUND);
	return error ? 0 : count;
}

/* Custom devices are seen by those alone who ask for them. */
static void device_types(void **state)
{
	cl_uint usual = cl_npu_is_custom() ? 0 : 1;
	cl_device_id device;

	assert_int_equal(count_devices(CL_DEVICE_TYPE_ALL), usual);
	assert_int_equal(count_devices(CL_DEVICE_TYPE_DEFAULT), usual);
	assert_int_equal(count_devices(CL_DEVICE_TYPE_ACCELERATOR), usual);
	assert_int_equal(count_devices(CL_DEVICE_TYPE_CUSTOM), 1 - usual);
	assert_int_equal(count_devices(CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU), 0);
	assert_int_equal(clGetDeviceIDs(cl_npu_platform(), 0, 1, &device, NULL),
			 CL_INVALID_DEVICE_TYPE);
	assert_int_equal(clGetDeviceIDs(cl_npu_platform(), cl_npu_type(), 0, &device, NULL),
			 CL_INVALID_VALUE);
	assert_int_equal(clGetDeviceIDs(cl_npu_platform(), cl_npu_type(), 0, NULL, NULL),
			 CL_INVALID_VALUE);
}

/* Retain and release of a root device do nothing; it has no parts. */
static void devices_are_whole(void **state)
{
	const cl_device_partition_property by[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
	cl_uint count;
	struct cl cl;
	int i;

	cl_begin(&cl);
	for (i = 0; i < 3; i++)
		assert_int_equal(clReleaseDevice(cl.device), CL_SUCCESS);
	assert_int_equal(clRetainDevice(cl.device), CL_SUCCESS);
	assert_int_equal(clCreateSubDevices(cl.device, by, 0, NULL, &count), CL_INVALID_VALUE);
	cl_end(&cl);
}

static uint64_t local_bytes(struct cl *cl)
{
	cl_ulong bytes = 0;

	assert_int_equal(clGetDeviceInfo(cl->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(bytes),
					 &bytes, NULL),
			 CL_SUCCESS);
	return bytes;
}

/* CL_DEVICE_LOCAL_MEM_SIZE is what may be used now. */
static void local_memory_follows_the_budget(void **state)
{
	struct npu_device_info info = { .size = sizeof(info) };
	struct npu_device *admin;
	cl_npu_on_chip before, after;
	uint64_t whole;
	struct cl cl;

	cl_begin(&cl);
	assert_int_equal(npu_open(cl_npu_name(), &admin), 0);
	assert_int_equal(npu_device_info(admin, &info), 0);
	whole = (uint64_t)info.banks * info.entries_per_bank * info.entry_bytes;
	assert_int_equal(local_bytes(&cl), whole);
	assert_int_equal(clGetDeviceInfo(cl.device, CL_DEVICE_ON_CHIP_NPU, sizeof(before), &before,
					 NULL),
			 CL_SUCCESS);
	assert_int_equal(before.banks_total, info.banks);
	assert_int_equal(npu_device_set_cap(admin, info.banks / 2), 0);
	assert_int_equal(local_bytes(&cl), whole / 2);
	assert_int_equal(clGetDeviceInfo(cl.device, CL_DEVICE_ON_CHIP_NPU, sizeof(after), &after,
					 NULL),
			 CL_SUCCESS);
	assert_int_equal(after.banks_available, info.banks / 2);
	assert_true(after.generation > before.generation);
	assert_int_equal(npu_device_set_cap(admin, info.banks), 0);
	npu_close(admin);
	cl_end(&cl);
}

static void clocks(void **state)
{
	cl_ulong device, host, before;
	struct timespec now;
	struct cl cl;

	cl_begin(&cl);
	clock_gettime(CLOCK_MONOTONIC, &now);
	before = (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
	assert_int_equal(clGetDeviceAndHostTimer(cl.device, &device, &host), CL_SUCCESS);
	assert_true(device >= before && host >= before);
	assert_int_equal(clGetHostTimer(cl.device, &before), CL_SUCCESS);
	assert_true(before >= host);
	assert_int_equal(clGetHostTimer(cl.device, NULL), CL_INVALID_VALUE);
	assert_int_equal(clGetDeviceAndHostTimer(cl.device, NULL, &host), CL_INVALID_VALUE);
	cl_end(&cl);
}

/* ---- contexts ---- */

static cl_int create_context(const cl_context_properties *properties, cl_uint count,
			     const cl_device_id *devices)
{
	cl_int error = 4711;
	cl_context context = clCreateContext(properties, count, devices, NULL, NULL, &error);

	assert_int_equal(!context, error != CL_SUCCESS);
	if (context)
		clReleaseContext(context);
	return error;
}

static void context_errors(void **state)
{
	cl_context_properties good[] = { CL_CONTEXT_PLATFORM, 0, 0 };
	cl_context_properties unknown[] = { CL_CONTEXT_PLATFORM, 0, 0x4711, 1, 0 };
	cl_context_properties twice[] = { CL_CONTEXT_PLATFORM, 0, CL_CONTEXT_PLATFORM, 0, 0 };
	struct cl cl;

	cl_begin(&cl);
	good[1] = unknown[1] = twice[1] = twice[3] = (cl_context_properties)cl.platform;
	assert_int_equal(create_context(good, 1, &cl.device), CL_SUCCESS);
	assert_int_equal(create_context(unknown, 1, &cl.device), CL_INVALID_PROPERTY);
	assert_int_equal(create_context(twice, 1, &cl.device), CL_INVALID_PROPERTY);
	assert_int_equal(create_context(good, 0, &cl.device), CL_INVALID_VALUE);
	assert_int_equal(create_context(good, 1, (cl_device_id *)&cl.context), CL_INVALID_DEVICE);
	cl_end(&cl);
}

static void context_queries(void **state)
{
	cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, 0, 0 }, read[3];
	cl_context context;
	cl_device_id device;
	cl_uint number;
	size_t size;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	properties[1] = (cl_context_properties)cl.platform;
	context = clCreateContextFromType(properties, cl_npu_type(), NULL, NULL, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof(read), read,
					  &size),
			 CL_SUCCESS);
	assert_int_equal(size, sizeof(properties));
	assert_memory_equal(read, properties, sizeof(properties));
	assert_int_equal(clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof(number), &number,
					  NULL),
			 CL_SUCCESS);
	assert_int_equal(number, 1);
	assert_int_equal(clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(device), &device,
					  NULL),
			 CL_SUCCESS);
	assert_ptr_equal(device, cl.device);
	assert_int_equal(clGetContextInfo(cl.context, CL_CONTEXT_PROPERTIES, 0, NULL, &size),
			 CL_SUCCESS);
	assert_int_equal(size, 0);
	assert_int_equal(clReleaseContext(context), CL_SUCCESS);
	cl_end(&cl);
}

static void CL_CALLBACK count_call(cl_context context, void *data)
{
	char *order = data;

	strcat(order, "x");
}

static void CL_CALLBACK first_call(cl_context context, void *data)
{
	char *order = data;

	strcat(order, "1");
}

/* Queues and buffers keep their context; the last of them ends it, and the last registered hears first. */
static void context_lives_as_long_as_its_objects(void **state)
{
	char order[8] = "";
	cl_uint count;
	cl_mem mem;
	struct cl cl;

	cl_begin(&cl);
	mem = cl_buffer(&cl, 16, NULL);
	assert_int_equal(clSetContextDestructorCallback(cl.context, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(clSetContextDestructorCallback(cl.context, first_call, order), CL_SUCCESS);
	assert_int_equal(clSetContextDestructorCallback(cl.context, count_call, order), CL_SUCCESS);
	assert_int_equal(clReleaseCommandQueue(cl.queue), CL_SUCCESS);
	assert_int_equal(clRetainContext(cl.context), CL_SUCCESS);
	assert_int_equal(clGetContextInfo(cl.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count),
					  &count, NULL),
			 CL_SUCCESS);
	assert_int_equal(count, 2);
	assert_int_equal(clReleaseContext(cl.context), CL_SUCCESS);
	assert_int_equal(clReleaseContext(cl.context), CL_SUCCESS);
	assert_string_equal(order, "");
	/* The handle is gone, the context is not. */
	assert_int_equal(clGetContextInfo(cl.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count),
					  &count, NULL),
			 CL_INVALID_CONTEXT);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_string_equal(order, "x1");
}

static void CL_CALLBACK note_error(const char *text, const void *info, size_t bytes, void *data)
{
	snprintf(data, 256, "%s", text);
}

static void errors_are_told(void **state)
{
	char heard[256] = "";
	cl_context context;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	context = clCreateContext(NULL, 1, &cl.device, note_error, heard, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_null(clCreateBuffer(context, 0, 0, NULL, &error));
	assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
	assert_non_null(strstr(heard, "0 bytes"));
	assert_null(clCreateContext(NULL, 1, &cl.device, NULL, heard, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_int_equal(clReleaseContext(context), CL_SUCCESS);
	cl_end(&cl);
}

/* What an NPU has not has the error for a device without it. */
static void what_is_missing(void **state)
{
	const cl_image_format format = { CL_RGBA, CL_UNORM_INT8 };
	const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D,
				     .image_width = 4,
				     .image_height = 4 };
	const char *source = "kernel void f(void) {}";
	cl_program program;
	cl_uint count = 4711;
	cl_int error;
	struct cl cl;

	cl_begin(&cl);
	assert_null(clCreateImage(cl.context, 0, &format, &desc, NULL, &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	assert_null(clCreatePipe(cl.context, 0, 4, 4, NULL, &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	assert_null(clCreateSamplerWithProperties(cl.context, NULL, &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	assert_null(clSVMAlloc(cl.context, CL_MEM_READ_WRITE, 64, 0));
	assert_int_equal(clEnqueueSVMMemcpy(cl.queue, CL_TRUE, &count, &error, 4, 0, NULL, NULL),
			 CL_INVALID_OPERATION);
	assert_int_equal(clGetSupportedImageFormats(cl.context, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL,
						    &count),
			 CL_SUCCESS);
	assert_int_equal(count, 0);
	assert_null(clCreateProgramWithIL(cl.context, source, 4, &error));
	assert_int_equal(error, CL_INVALID_OPERATION);
	program = clCreateProgramWithSource(cl.context, 1, &source, NULL, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clBuildProgram(program, 0, NULL, NULL, NULL, NULL),
			 CL_COMPILER_NOT_AVAILABLE);
	assert_int_equal(clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL),
			 CL_COMPILER_NOT_AVAILABLE);
	assert_null(clLinkProgram(cl.context, 0, NULL, NULL, 1, &program, NULL, NULL, &error));
	assert_int_equal(error, CL_LINKER_NOT_AVAILABLE);
	assert_null(clCreateKernel(program, "f", &error));
	assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
	assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
	cl_end(&cl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(platform),
		cmocka_unit_test(device_queries),
		cmocka_unit_test(pci_bus_info),
		cmocka_unit_test(device_types),
		cmocka_unit_test(devices_are_whole),
		cmocka_unit_test(local_memory_follows_the_budget),
		cmocka_unit_test(clocks),
		cmocka_unit_test(context_errors),
		cmocka_unit_test(context_queries),
		cmocka_unit_test(context_lives_as_long_as_its_objects),
		cmocka_unit_test(errors_are_told),
		cmocka_unit_test(what_is_missing),
	};

	return cmocka_run_group_tests_name("opencl_platform", tests, NULL, NULL);
}
