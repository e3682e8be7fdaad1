/* SPDX-License-Identifier: MIT */
/*
 * cl_npu_command_buffer.h - declarations of cl_khr_command_buffer 0.9.8 and of the mutable dispatch on top of it
 * (cl_khr_command_buffer_mutable_dispatch 0.9.5).
 *
 * Installed headers of OpenCL have older versions of these, whose functions take other arguments, or hide them.
 * So the functions have types here and no prototypes: get them by clGetExtensionFunctionAddressForPlatform().
 * The types bear the names of the specification where all its versions agree, and names of our own where not.
 */
#ifndef CL_NPU_COMMAND_BUFFER_H
#define CL_NPU_COMMAND_BUFFER_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef cl_bitfield cl_device_command_buffer_capabilities_khr;
typedef struct _cl_command_buffer_khr *cl_command_buffer_khr;
typedef cl_uint cl_sync_point_khr;
typedef cl_uint cl_command_buffer_info_khr;
typedef cl_uint cl_command_buffer_state_khr;
typedef cl_properties cl_command_buffer_properties_khr;
typedef cl_bitfield cl_command_buffer_flags_khr;
typedef cl_properties cl_command_properties_khr;
typedef struct _cl_mutable_command_khr *cl_mutable_command_khr;
typedef cl_uint cl_command_buffer_update_type_khr;
typedef cl_bitfield cl_mutable_dispatch_fields_khr;
typedef cl_uint cl_mutable_command_info_khr;

/* cl_device_info */
#undef CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR
#define CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR 0x12A9
#undef CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
#define CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR 0x129A
#undef CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR
#define CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR 0x12AA
#undef CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR
#define CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR 0x12B0

/* cl_device_command_buffer_capabilities_khr */
#undef CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
#define CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR (1 << 2)

/* cl_command_buffer_properties_khr and its flags */
#undef CL_COMMAND_BUFFER_FLAGS_KHR
#define CL_COMMAND_BUFFER_FLAGS_KHR 0x1293
#undef CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR
#define CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR (1 << 0)
#undef CL_COMMAND_BUFFER_MUTABLE_KHR
#define CL_COMMAND_BUFFER_MUTABLE_KHR (1 << 1)
#undef CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR
#define CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR (1 << 2)
#undef CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
#define CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR 0x12B7

/* cl_command_properties_khr, their fields and asserts */
#undef CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR
#define CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR 0x12B1
#undef CL_MUTABLE_DISPATCH_ASSERTS_KHR
#define CL_MUTABLE_DISPATCH_ASSERTS_KHR 0x12B8
#undef CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
#define CL_MUTABLE_DISPATCH_ARGUMENTS_KHR (1 << 3)
#undef CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR
#define CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR (1 << 0)

/* cl_command_buffer_info_khr */
#undef CL_COMMAND_BUFFER_QUEUES_KHR
#define CL_COMMAND_BUFFER_QUEUES_KHR 0x1294
#undef CL_COMMAND_BUFFER_NUM_QUEUES_KHR
#define CL_COMMAND_BUFFER_NUM_QUEUES_KHR 0x1295
#undef CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR
#define CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR 0x1296
#undef CL_COMMAND_BUFFER_STATE_KHR
#define CL_COMMAND_BUFFER_STATE_KHR 0x1297
#undef CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR
#define CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR 0x1298
#undef CL_COMMAND_BUFFER_CONTEXT_KHR
#define CL_COMMAND_BUFFER_CONTEXT_KHR 0x1299

/* cl_command_buffer_state_khr */
#undef CL_COMMAND_BUFFER_STATE_RECORDING_KHR
#define CL_COMMAND_BUFFER_STATE_RECORDING_KHR 0
#undef CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
#define CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR 1
#undef CL_COMMAND_BUFFER_STATE_FINALIZED_KHR
#define CL_COMMAND_BUFFER_STATE_FINALIZED_KHR 2

/* cl_command_type */
#undef CL_COMMAND_COMMAND_BUFFER_KHR
#define CL_COMMAND_COMMAND_BUFFER_KHR 0x12A8

/* cl_mutable_command_info_khr */
#undef CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR
#define CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR 0x12A0
#undef CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR
#define CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR 0x12A1
#undef CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR
#define CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR 0x12A2
#undef CL_MUTABLE_DISPATCH_KERNEL_KHR
#define CL_MUTABLE_DISPATCH_KERNEL_KHR 0x12A3
#undef CL_MUTABLE_DISPATCH_DIMENSIONS_KHR
#define CL_MUTABLE_DISPATCH_DIMENSIONS_KHR 0x12A4
#undef CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR
#define CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR 0x12A5
#undef CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR
#define CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR 0x12A6
#undef CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR
#define CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR 0x12A7
#undef CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR
#define CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR 0x12AD

/* Errors */
#undef CL_INVALID_COMMAND_BUFFER_KHR
#define CL_INVALID_COMMAND_BUFFER_KHR -1138
#undef CL_INVALID_SYNC_POINT_WAIT_LIST_KHR
#define CL_INVALID_SYNC_POINT_WAIT_LIST_KHR -1139
#undef CL_INCOMPATIBLE_COMMAND_QUEUE_KHR
#define CL_INCOMPATIBLE_COMMAND_QUEUE_KHR -1140
#undef CL_INVALID_MUTABLE_COMMAND_KHR
#define CL_INVALID_MUTABLE_COMMAND_KHR -1141

/* cl_command_buffer_update_type_khr: the only one, which in earlier versions was 1 */
#define CL_NPU_UPDATE_DISPATCH 0 /* CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR */

/* cl_mutable_dispatch_arg_khr: an argument as clSetKernelArg() takes it. */
typedef struct cl_npu_mutable_arg {
	cl_uint arg_index;
	size_t arg_size;
	const void *arg_value;
} cl_npu_mutable_arg;

/* cl_mutable_dispatch_config_khr as it is since 0.9.2: what to change of one command. */
typedef struct cl_npu_mutable_config {
	cl_mutable_command_khr command;
	cl_uint num_args;
	cl_uint num_svm_args;
	cl_uint num_exec_infos;
	cl_uint work_dim;
	const cl_npu_mutable_arg *arg_list;
	const cl_npu_mutable_arg *arg_svm_list;
	const void *exec_info_list;
	const size_t *global_work_offset;
	const size_t *global_work_size;
	const size_t *local_work_size;
} cl_npu_mutable_config;

/* ---- types of the functions, by the name of the function ------------------------------------------- */

typedef cl_command_buffer_khr CL_API_CALL cl_npu_create_command_buffer(
	cl_uint num_queues, const cl_command_queue *queues,
	const cl_command_buffer_properties_khr *properties, cl_int *errcode_ret);
typedef cl_int CL_API_CALL cl_npu_of_command_buffer(cl_command_buffer_khr command_buffer);
typedef cl_int CL_API_CALL cl_npu_enqueue_command_buffer(
	cl_uint num_queues, cl_command_queue *queues, cl_command_buffer_khr command_buffer,
	cl_uint num_events_in_wait_list, const cl_event *event_wait_list, cl_event *event);
typedef cl_int CL_API_CALL cl_npu_get_command_buffer_info(cl_command_buffer_khr command_buffer,
							  cl_command_buffer_info_khr param_name,
							  size_t param_value_size,
							  void *param_value,
							  size_t *param_value_size_ret);

/* With what every clCommand... function begins and ends. */
#define CL_NPU_RECORD_HEAD                                                    \
	cl_command_buffer_khr command_buffer, cl_command_queue command_queue, \
		const cl_command_properties_khr *properties
#define CL_NPU_RECORD_TAIL                                                                   \
	cl_uint num_sync_points_in_wait_list, const cl_sync_point_khr *sync_point_wait_list, \
		cl_sync_point_khr *sync_point, cl_mutable_command_khr *mutable_handle

typedef cl_int CL_API_CALL cl_npu_command_barrier(CL_NPU_RECORD_HEAD, CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_copy_buffer(CL_NPU_RECORD_HEAD, cl_mem src_buffer,
						      cl_mem dst_buffer, size_t src_offset,
						      size_t dst_offset, size_t size,
						      CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_copy_buffer_rect(
	CL_NPU_RECORD_HEAD, cl_mem src_buffer, cl_mem dst_buffer, const size_t *src_origin,
	const size_t *dst_origin, const size_t *region, size_t src_row_pitch,
	size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_fill_buffer(CL_NPU_RECORD_HEAD, cl_mem buffer,
						      const void *pattern, size_t pattern_size,
						      size_t offset, size_t size,
						      CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_copy_image(CL_NPU_RECORD_HEAD, cl_mem src_image,
						     cl_mem dst_image, const size_t *src_origin,
						     const size_t *dst_origin, const size_t *region,
						     CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_buffer_to_image(CL_NPU_RECORD_HEAD, cl_mem src_buffer,
							  cl_mem dst_image, size_t src_offset,
							  const size_t *dst_origin,
							  const size_t *region, CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_image_to_buffer(CL_NPU_RECORD_HEAD, cl_mem src_image,
							  cl_mem dst_buffer,
							  const size_t *src_origin,
							  const size_t *region, size_t dst_offset,
							  CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_fill_image(CL_NPU_RECORD_HEAD, cl_mem image,
						     const void *fill_color, const size_t *origin,
						     const size_t *region, CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_svm_memcpy(CL_NPU_RECORD_HEAD, void *dst_ptr,
						     const void *src_ptr, size_t size,
						     CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_svm_mem_fill(CL_NPU_RECORD_HEAD, void *svm_ptr,
						       const void *pattern, size_t pattern_size,
						       size_t size, CL_NPU_RECORD_TAIL);
typedef cl_int CL_API_CALL cl_npu_command_nd_range_kernel(
	CL_NPU_RECORD_HEAD, cl_kernel kernel, cl_uint work_dim, const size_t *global_work_offset,
	const size_t *global_work_size, const size_t *local_work_size, CL_NPU_RECORD_TAIL);

typedef cl_int CL_API_CALL cl_npu_update_mutable_commands(
	cl_command_buffer_khr command_buffer, cl_uint num_configs,
	const cl_command_buffer_update_type_khr *config_types, const void **configs);
typedef cl_int CL_API_CALL cl_npu_get_mutable_command_info(cl_mutable_command_khr command,
							   cl_mutable_command_info_khr param_name,
							   size_t param_value_size,
							   void *param_value,
							   size_t *param_value_size_ret);

#ifdef __cplusplus
}
#endif

#endif /* CL_NPU_COMMAND_BUFFER_H */
