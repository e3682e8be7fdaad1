// SPDX-License-Identifier: MIT
/*
 * Devices: NPUs that libnpu can open, each opened once for the whole process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command_buffer.h"
#include "extension.h"
#include "external_memory.h"

/* The specification's least value of CL_DEVICE_LOCAL_MEM_SIZE in the embedded profile. */
#define LEAST_LOCAL_BYTES 1024

static struct _cl_device_id devices[OCL_MAX_DEVICES];
static unsigned device_count;

static void destroy_nothing(void *object)
{
	(void)object;
}

/* Devices of the platform are not counted: retain and release do nothing to them. */
static const struct ocl_class device_class = {
	OCL_DEVICE, sizeof(struct _cl_device_id), CL_INVALID_DEVICE, NULL, destroy_nothing,
};

/* ---- which there are ---- */

static cl_device_type type_from_environment(void)
{
	const char *type = getenv("NPU_OPENCL_DEVICE_TYPE");

	return type && !strcmp(type, "custom") ? CL_DEVICE_TYPE_CUSTOM : CL_DEVICE_TYPE_ACCELERATOR;
}

/* A device that cannot be opened is listed as not available: a program that lists devices sees why. */
static void add_device(const char *name)
{
	struct _cl_device_id *device = &devices[device_count];

	if (device_count == OCL_MAX_DEVICES)
		return;
	device->base = (struct ocl_object){ &ocl_dispatch, OCL_DEVICE, &device_class, 1, 1 };
	device->info.size = sizeof(device->info);
	device->type = type_from_environment();
	snprintf(device->name, sizeof(device->name), "%s", name);
	if (npu_open(name, &device->npu) || npu_device_info(device->npu, &device->info)) {
		snprintf(device->problem, sizeof(device->problem), "%s", npu_error());
		npu_close(device->npu);
		device->npu = NULL;
	}
	device_count++;
}

static void add_named(const char *names)
{
	char *copy = strdup(names), *rest = copy, *name;

	while (copy && (name = strsep(&rest, ",")))
		if (*name)
			add_device(name);
	free(copy);
}

/* The name of the simulated device stands behind those of all real ones. */
static void add_real(void)
{
	const char *name;
	unsigned i;

	for (i = 0; (name = npu_device_name(i)) && strncmp(name, "sim", 3); i++)
		add_device(name);
}

/* As npu_open(NULL) has it, but with all real NPUs. */
static void find_devices(void)
{
	const char *names = getenv("NPU_DEVICE");

	if (names && *names)
		add_named(names);
	else
		add_real();
	if (!device_count)
		add_device("sim:nv_small");
}

unsigned ocl_devices(struct _cl_device_id **first)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_devices);
	*first = devices;
	return device_count;
}

static bool of_type(const struct _cl_device_id *device, cl_device_type type)
{
	if (type == CL_DEVICE_TYPE_ALL || type == CL_DEVICE_TYPE_DEFAULT)
		return device->type != CL_DEVICE_TYPE_CUSTOM;
	return (device->type & type) != 0;
}

bool ocl_is_device_type(cl_device_type type)
{
	const cl_device_type known = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
				     CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
				     CL_DEVICE_TYPE_CUSTOM;

	return type == CL_DEVICE_TYPE_ALL || (type && !(type & ~known));
}

/* CL_DEVICE_TYPE_DEFAULT is one device, the first. */
cl_uint ocl_devices_of_type(cl_device_type type, cl_device_id *list, cl_uint room)
{
	struct _cl_device_id *first;
	unsigned i, count = ocl_devices(&first);
	cl_uint found = 0;

	for (i = 0; i < count; i++) {
		if (!of_type(&first[i], type) || (found && type == CL_DEVICE_TYPE_DEFAULT))
			continue;
		if (found < room)
			list[found] = &first[i];
		found++;
	}
	return found;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type type,
					       cl_uint room, cl_device_id *list, cl_uint *count)
{
	cl_uint found;

	if (!ocl_is_platform(platform))
		return ocl_fail(NULL, CL_INVALID_PLATFORM, "this platform is not ours");
	if (!ocl_is_device_type(type))
		return ocl_fail(NULL, CL_INVALID_DEVICE_TYPE, "0x%llx is no type of device",
				(unsigned long long)type);
	if ((!list && !count) || (list && !room))
		return ocl_fail(NULL, CL_INVALID_VALUE, "neither devices nor their number wanted");
	found = ocl_devices_of_type(type, list, list ? room : 0);
	if (count)
		*count = found;
	return found ? CL_SUCCESS
		     : ocl_fail(NULL, CL_DEVICE_NOT_FOUND, "no NPU is of the wanted type");
}

CL_API_ENTRY cl_int CL_API_CALL clRetainDevice(cl_device_id device)
{
	return ocl_is(device, OCL_DEVICE) ? CL_SUCCESS : device_class.invalid;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseDevice(cl_device_id device)
{
	return ocl_is(device, OCL_DEVICE) ? CL_SUCCESS : device_class.invalid;
}

CL_API_ENTRY cl_int CL_API_CALL clCreateSubDevices(cl_device_id device,
						   const cl_device_partition_property *properties,
						   cl_uint room, cl_device_id *list, cl_uint *count)
{
	if (!ocl_is(device, OCL_DEVICE))
		return ocl_fail(NULL, CL_INVALID_DEVICE, "the device is not valid");
	return ocl_fail(NULL, CL_INVALID_VALUE, "%s: an NPU cannot be partitioned", device->name);
}

/* ---- clocks: job times, event times and the host's are CLOCK_MONOTONIC ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong *host)
{
	if (!ocl_is(device, OCL_DEVICE))
		return ocl_fail(NULL, CL_INVALID_DEVICE, "the device is not valid");
	if (!host)
		return ocl_fail(NULL, CL_INVALID_VALUE, "no place for the time");
	*host = ocl_now();
	return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong *device_time,
							cl_ulong *host)
{
	cl_int error = clGetHostTimer(device, host);

	if (!error && !device_time)
		error = ocl_fail(NULL, CL_INVALID_VALUE, "no place for the time");
	if (!error)
		*device_time = *host;
	return error;
}

/* ---- what they are ---- */

static bool read_budget(const struct _cl_device_id *device, struct npu_device_budget *budget)
{
	*budget = (struct npu_device_budget){ .size = sizeof(*budget) };
	return device->npu && !npu_device_budget(device->npu, budget);
}

uint64_t ocl_device_on_chip_bytes(cl_device_id device)
{
	struct npu_device_budget budget;

	if (!read_budget(device, &budget))
		return 0;
	return (uint64_t)budget.banks_available * device->info.entries_per_bank *
	       device->info.entry_bytes;
}

static void query_local_bytes(const void *object, struct ocl_answer *answer)
{
	uint64_t bytes = ocl_device_on_chip_bytes((cl_device_id)object);

	ocl_answer_word(answer, bytes < LEAST_LOCAL_BYTES ? LEAST_LOCAL_BYTES : bytes,
			sizeof(cl_ulong));
}

static void query_on_chip(const void *object, struct ocl_answer *answer)
{
	const struct _cl_device_id *device = object;
	struct npu_device_budget budget;
	cl_npu_on_chip now = { .banks_total = device->info.banks,
			       .entries_per_bank = device->info.entries_per_bank,
			       .entry_bytes = device->info.entry_bytes };

	_Static_assert(sizeof(now) <= sizeof(answer->word), "no room for cl_npu_on_chip");
	if (read_budget(device, &budget)) {
		now.banks_available = budget.banks_available;
		now.generation = budget.generation;
	}
	memcpy(answer->word, &now, sizeof(now));
	ocl_answer_data(answer, answer->word, sizeof(now));
}

/* Buffers are the host's memory. */
static uint64_t memory_bytes(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void query_memory(const void *object, struct ocl_answer *answer)
{
	ocl_answer_word(answer, memory_bytes(), sizeof(cl_ulong));
}

uint64_t ocl_largest_buffer(void)
{
	uint64_t bytes = memory_bytes() / 2;

	return bytes < SIZE_MAX / 4 ? bytes : SIZE_MAX / 4;
}

static void query_largest_buffer(const void *object, struct ocl_answer *answer)
{
	ocl_answer_word(answer, ocl_largest_buffer(), sizeof(cl_ulong));
}

/* One work-item. */
static void query_item_sizes(const void *object, struct ocl_answer *answer)
{
	const size_t sizes[3] = { 1, 1, 1 };

	memcpy(answer->word, sizes, sizeof(sizes));
	ocl_answer_data(answer, answer->word, sizeof(sizes));
}

static void query_name(const void *object, struct ocl_answer *answer)
{
	const struct _cl_device_id *device = object;
	char *name;

	if (asprintf(&name, "NVDLA %s (%s)", device->npu ? device->info.config : "not available",
		     device->name) < 0) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	answer->owned = name;
	ocl_answer_text(answer, name);
}

static void query_config(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct _cl_device_id *)object)->info.config);
}

static void query_problem(const void *object, struct ocl_answer *answer)
{
	ocl_answer_text(answer, ((const struct _cl_device_id *)object)->problem);
}

static void query_available(const void *object, struct ocl_answer *answer)
{
	ocl_answer_word(answer, ((const struct _cl_device_id *)object)->npu ? CL_TRUE : CL_FALSE,
			sizeof(cl_bool));
}

static void query_platform(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_answer_handle(answer, &ocl_platform);
}

static bool is_pci(const void *object)
{
	return ((const struct _cl_device_id *)object)->info.is_pci;
}

static unsigned extensions_of(const void *object)
{
	return OCL_OF_DEVICE | (is_pci(object) ? OCL_OF_PCI_DEVICE : 0);
}

static void query_extensions(const void *object, struct ocl_answer *answer)
{
	ocl_extension_names(extensions_of(object), answer);
}

static void query_extension_versions(const void *object, struct ocl_answer *answer)
{
	ocl_extension_versions(extensions_of(object), answer);
}

static void query_pci(const void *object, struct ocl_answer *answer)
{
	const struct npu_device_info *info = &((const struct _cl_device_id *)object)->info;
	const cl_device_pci_bus_info_khr pci = { info->pci_domain, info->pci_bus, info->pci_device,
						 info->pci_function };

	_Static_assert(sizeof(pci) <= sizeof(answer->word), "it fits");
	if (!is_pci(object)) {
		answer->error = CL_INVALID_VALUE;
		return;
	}
	memcpy(answer->word, &pci, sizeof(pci));
	ocl_answer_data(answer, answer->word, sizeof(pci));
}

static void query_nothing(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_answer_data(answer, NULL, 0);
}

static void query_builtin_names(const void *object, struct ocl_answer *answer)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);
	size_t i;

	for (i = 0; stream && ocl_builtin[i]; i++)
		fprintf(stream, "%s%s", i ? ";" : "", ocl_builtin[i]->name);
	if (!stream || fclose(stream)) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	answer->owned = text;
	ocl_answer_text(answer, text);
}

static void query_builtin_versions(const void *object, struct ocl_answer *answer)
{
	cl_name_version *list;
	size_t i, count = 0;

	while (ocl_builtin[count])
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list) {
		answer->error = CL_OUT_OF_HOST_MEMORY;
		return;
	}
	for (i = 0; i < count; i++) {
		list[i].version = CL_MAKE_VERSION(1, 0, 0);
		snprintf(list[i].name, sizeof(list[i].name), "%s", ocl_builtin[i]->name);
	}
	answer->owned = list;
	ocl_answer_data(answer, list, count * sizeof(*list));
}

/*
 * The versions of OpenCL C that a 3.0 device names.  There is no compiler for any, as
 * CL_DEVICE_COMPILER_AVAILABLE tells.
 */
static void query_c_versions(const void *object, struct ocl_answer *answer)
{
	static const cl_name_version versions[] = {
		{ CL_MAKE_VERSION(1, 0, 0), "OpenCL C" },
		{ CL_MAKE_VERSION(1, 1, 0), "OpenCL C" },
		{ CL_MAKE_VERSION(1, 2, 0), "OpenCL C" },
		{ CL_MAKE_VERSION(3, 0, 0), "OpenCL C" },
	};

	(void)object;
	ocl_answer_data(answer, versions, sizeof(versions));
}

/* FNV-1a over a text, for identifiers that have to be the same tomorrow. */
static uint64_t hash(const char *text, uint64_t seed)
{
	uint64_t value = 0xcbf29ce484222325u ^ seed;

	while (*text)
		value = (value ^ (uint8_t)*text++) * 0x100000001b3u;
	return value;
}

static void answer_uuid(struct ocl_answer *answer, const char *text)
{
	const uint64_t uuid[2] = { hash(text, 0), hash(text, 1) };

	_Static_assert(sizeof(uuid) == CL_UUID_SIZE_KHR, "size of a UUID");
	memcpy(answer->word, uuid, sizeof(uuid));
	ocl_answer_data(answer, answer->word, sizeof(uuid));
}

static void query_uuid(const void *object, struct ocl_answer *answer)
{
	answer_uuid(answer, ((const struct _cl_device_id *)object)->name);
}

static void query_driver_uuid(const void *object, struct ocl_answer *answer)
{
	(void)object;
	answer_uuid(answer, "libnpu " NPU_VERSION);
}

static void query_luid(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_answer_data(answer, answer->word, CL_LUID_SIZE_KHR);
}

static bool little_endian(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 1;
}

static void query_little_endian(const void *object, struct ocl_answer *answer)
{
	(void)object;
	ocl_answer_word(answer, little_endian() ? CL_TRUE : CL_FALSE, sizeof(cl_bool));
}

#define VECTOR_WIDTHS(type)                                             \
	OCL_VALUE(CL_DEVICE_PREFERRED_VECTOR_WIDTH_##type, cl_uint, 1), \
		OCL_VALUE(CL_DEVICE_NATIVE_VECTOR_WIDTH_##type, cl_uint, 1)
#define NO_VECTORS(type)                                                \
	OCL_VALUE(CL_DEVICE_PREFERRED_VECTOR_WIDTH_##type, cl_uint, 0), \
		OCL_VALUE(CL_DEVICE_NATIVE_VECTOR_WIDTH_##type, cl_uint, 0)

static const struct ocl_query queries[] = {
	OCL_FIELD(CL_DEVICE_TYPE, struct _cl_device_id, type),
	OCL_VALUE(CL_DEVICE_VENDOR_ID, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint, 1),
	OCL_VALUE(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint, 3),
	OCL_CALL(CL_DEVICE_MAX_WORK_ITEM_SIZES, query_item_sizes),
	OCL_VALUE(CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t, 1),
	VECTOR_WIDTHS(CHAR),
	VECTOR_WIDTHS(SHORT),
	VECTOR_WIDTHS(INT),
	VECTOR_WIDTHS(LONG),
	VECTOR_WIDTHS(FLOAT),
	NO_VECTORS(DOUBLE),
	NO_VECTORS(HALF),
	OCL_VALUE(CL_DEVICE_MAX_CLOCK_FREQUENCY, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_ADDRESS_BITS, cl_uint, 8 * sizeof(void *)),
	OCL_CALL(CL_DEVICE_MAX_MEM_ALLOC_SIZE, query_largest_buffer),
	OCL_VALUE(CL_DEVICE_IMAGE_SUPPORT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_MAX_READ_IMAGE_ARGS, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, cl_uint, 0),
	OCL_TEXT(CL_DEVICE_IL_VERSION, ""),
	OCL_CALL(CL_DEVICE_ILS_WITH_VERSION, query_nothing),
	OCL_VALUE(CL_DEVICE_IMAGE2D_MAX_WIDTH, size_t, 0),
	OCL_VALUE(CL_DEVICE_IMAGE2D_MAX_HEIGHT, size_t, 0),
	OCL_VALUE(CL_DEVICE_IMAGE3D_MAX_WIDTH, size_t, 0),
	OCL_VALUE(CL_DEVICE_IMAGE3D_MAX_HEIGHT, size_t, 0),
	OCL_VALUE(CL_DEVICE_IMAGE3D_MAX_DEPTH, size_t, 0),
	OCL_VALUE(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, size_t, 0),
	OCL_VALUE(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, size_t, 0),
	OCL_VALUE(CL_DEVICE_MAX_SAMPLERS, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_IMAGE_PITCH_ALIGNMENT, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_PIPE_ARGS, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_PIPE_MAX_PACKET_SIZE, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_PARAMETER_SIZE, size_t, 1024),
	OCL_VALUE(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint, 8 * OCL_BUFFER_ALIGN),
	OCL_VALUE(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, cl_uint, OCL_BUFFER_ALIGN),
	OCL_VALUE(CL_DEVICE_SINGLE_FP_CONFIG, cl_device_fp_config,
		  CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN),
	OCL_VALUE(CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config, 0),
	OCL_VALUE(CL_DEVICE_HALF_FP_CONFIG, cl_device_fp_config, 0),
	OCL_VALUE(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, cl_device_mem_cache_type, CL_NONE),
	OCL_VALUE(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong, 0),
	OCL_CALL(CL_DEVICE_GLOBAL_MEM_SIZE, query_memory),
	OCL_CALL(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, query_largest_buffer),
	OCL_VALUE(CL_DEVICE_MAX_CONSTANT_ARGS, cl_uint, 8),
	OCL_VALUE(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, size_t, 0),
	OCL_VALUE(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, size_t, 0),
	OCL_VALUE(CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type, CL_LOCAL),
	OCL_CALL(CL_DEVICE_LOCAL_MEM_SIZE, query_local_bytes),
	OCL_VALUE(CL_DEVICE_ERROR_CORRECTION_SUPPORT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool, CL_TRUE),
	OCL_VALUE(CL_DEVICE_PROFILING_TIMER_RESOLUTION, size_t, 1),
	OCL_CALL(CL_DEVICE_ENDIAN_LITTLE, query_little_endian),
	OCL_CALL(CL_DEVICE_AVAILABLE, query_available),
	OCL_VALUE(CL_DEVICE_COMPILER_AVAILABLE, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_LINKER_AVAILABLE, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_EXECUTION_CAPABILITIES, cl_device_exec_capabilities,
		  CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL),
	OCL_VALUE(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, cl_command_queue_properties,
		  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE),
	OCL_VALUE(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties, 0),
	OCL_VALUE(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_ON_DEVICE_QUEUES, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_ON_DEVICE_EVENTS, cl_uint, 0),
	OCL_CALL(CL_DEVICE_BUILT_IN_KERNELS, query_builtin_names),
	OCL_CALL(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, query_builtin_versions),
	OCL_CALL(CL_DEVICE_PLATFORM, query_platform),
	OCL_CALL(CL_DEVICE_NAME, query_name),
	OCL_TEXT(CL_DEVICE_VENDOR, "libnpu"),
	OCL_TEXT(CL_DRIVER_VERSION, NPU_VERSION),
	OCL_TEXT(CL_DEVICE_PROFILE, "EMBEDDED_PROFILE"),
	OCL_TEXT(CL_DEVICE_VERSION, "OpenCL 3.0 libnpu " NPU_VERSION),
	OCL_VALUE(CL_DEVICE_NUMERIC_VERSION, cl_version, CL_MAKE_VERSION(3, 0, 0)),
	OCL_TEXT(CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 libnpu"),
	OCL_VALUE(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, cl_version, CL_MAKE_VERSION(1, 2, 0)),
	OCL_CALL(CL_DEVICE_OPENCL_C_ALL_VERSIONS, query_c_versions),
	OCL_CALL(CL_DEVICE_OPENCL_C_FEATURES, query_nothing),
	OCL_CALL(CL_DEVICE_EXTENSIONS, query_extensions),
	OCL_CALL(CL_DEVICE_EXTENSIONS_WITH_VERSION, query_extension_versions),
	OCL_VALUE(CL_DEVICE_PRINTF_BUFFER_SIZE, size_t, 1024),
	OCL_VALUE(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, cl_bool, CL_TRUE),
	OCL_VALUE(CL_DEVICE_PARENT_DEVICE, size_t, 0),
	OCL_VALUE(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_PARTITION_PROPERTIES, cl_device_partition_property, 0),
	OCL_VALUE(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain, 0),
	OCL_CALL(CL_DEVICE_PARTITION_TYPE, query_nothing),
	OCL_VALUE(CL_DEVICE_REFERENCE_COUNT, cl_uint, 1),
	OCL_VALUE(CL_DEVICE_SVM_CAPABILITIES, cl_device_svm_capabilities, 0),
	OCL_VALUE(CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_MAX_NUM_SUB_GROUPS, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, cl_device_atomic_capabilities,
		  CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP),
	OCL_VALUE(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, cl_device_atomic_capabilities,
		  CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL |
			  CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP),
	OCL_VALUE(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities, 0),
	OCL_VALUE(CL_DEVICE_PIPE_SUPPORT, cl_bool, CL_FALSE),
	OCL_VALUE(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, size_t, 1),
	OCL_TEXT(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "v0000-01-01-00"),
	OCL_CALL(CL_DEVICE_PCI_BUS_INFO_KHR, query_pci),
	OCL_CALL(CL_DEVICE_UUID_KHR, query_uuid),
	OCL_CALL(CL_DRIVER_UUID_KHR, query_driver_uuid),
	OCL_VALUE(CL_DEVICE_LUID_VALID_KHR, cl_bool, CL_FALSE),
	OCL_CALL(CL_DEVICE_LUID_KHR, query_luid),
	OCL_VALUE(CL_DEVICE_NODE_MASK_KHR, cl_uint, 0),
	OCL_VALUE(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
		  cl_device_command_buffer_capabilities_khr,
		  CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR),
	OCL_VALUE(CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR,
		  cl_command_queue_properties, OCL_COMMAND_BUFFER_QUEUE_PROPERTIES),
	OCL_VALUE(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
		  cl_command_queue_properties, 0),
	OCL_VALUE(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR, cl_mutable_dispatch_fields_khr,
		  OCL_MUTABLE_FIELDS),
	OCL_VALUE(CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
		  cl_external_memory_handle_type_khr, CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR),
	OCL_CALL(CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR,
		 query_nothing),
	OCL_CALL(CL_DEVICE_ON_CHIP_NPU, query_on_chip),
	OCL_CALL(CL_DEVICE_CONFIG_NPU, query_config),
	OCL_CALL(CL_DEVICE_PROBLEM_NPU, query_problem),
};

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info name,
						size_t size, void *value, size_t *size_ret)
{
	if (!ocl_is(device, OCL_DEVICE))
		return ocl_fail(NULL, CL_INVALID_DEVICE, "the device is not valid");
	return ocl_query(queries, OCL_COUNT(queries), device, name, size, value, size_ret);
}
