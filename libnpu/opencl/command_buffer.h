/* SPDX-License-Identifier: MIT */
/*
 * Command buffers: what their files share.
 *
 * A command buffer has a list of commands.  They run one after the other in the order in which they were
 * recorded, which fulfils every sync point, as one command of the queue.  Once it is finalized the list never
 * changes: an update makes a new list that shares what stays.  So an enqueue needs a reference to the list and no
 * copy, and what was enqueued before the update is not concerned by it, also while it runs: simultaneous use
 * costs nothing.
 */
#ifndef LIBNPU_OPENCL_COMMAND_BUFFER_H
#define LIBNPU_OPENCL_COMMAND_BUFFER_H

#include "ocl.h"

#include "cl_npu_command_buffer.h"

/* What clUpdateMutableCommandsKHR() can change. */
#define OCL_MUTABLE_FIELDS CL_MUTABLE_DISPATCH_ARGUMENTS_KHR

#define OCL_COMMAND_BUFFER_QUEUE_PROPERTIES \
	(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE)

/* A recorded command; shared by lists. */
struct ocl_recorded {
	atomic_uint references;
	struct ocl_command command;
};

/**
 * struct ocl_recording - a list of commands; shared by the command buffer and its executions
 * @together: of the first command of each piece: how many commands are in it.  The inferences of a piece go to the
 *	NPU together.  NULL: it is being recorded
 * @complete: no command waits for arguments
 */
struct ocl_recording {
	atomic_uint references;
	cl_uint count, capacity;
	struct ocl_recorded **command;
	cl_uint *together;
	bool complete;
};

#define OCL_MAX_WORK_DIM 3

/**
 * struct _cl_mutable_command_khr - the application's handle of a kernel in a command buffer
 * @next: of the same command buffer
 * @kernel: referenced
 * @index: in the list
 * @fields: that may be updated, CL_MUTABLE_DISPATCH_..._KHR
 * @properties, @property_count: as given, with the closing 0; 0: none
 * @work_dim, @offset, @global, @local: as given; 0 where nothing was
 */
struct _cl_mutable_command_khr {
	enum ocl_kind kind; /* OCL_MUTABLE_COMMAND */
	struct _cl_mutable_command_khr *next;
	cl_command_buffer_khr buffer;
	cl_kernel kernel;
	cl_uint index;
	cl_mutable_dispatch_fields_khr fields;
	cl_command_properties_khr *properties;
	size_t property_count;
	cl_uint work_dim;
	size_t offset[OCL_MAX_WORK_DIM], global[OCL_MAX_WORK_DIM], local[OCL_MAX_WORK_DIM];
};

/**
 * struct _cl_command_buffer_khr - a command buffer
 * @queue: whose commands it takes, and on which it runs by default
 * @flags: CL_COMMAND_BUFFER_..._KHR
 * @asserts: CL_MUTABLE_DISPATCH_ASSERT_..._KHR
 * @properties, @property_count: as given, with the closing 0; 0: none
 * @lock: of everything below
 * @state: CL_COMMAND_BUFFER_STATE_..._KHR
 * @recording: its commands
 * @mutable_commands: handles that the application has
 */
struct _cl_command_buffer_khr {
	struct ocl_object base;
	cl_context context;
	cl_command_queue queue;
	cl_command_buffer_flags_khr flags;
	cl_bitfield asserts;
	cl_command_buffer_properties_khr *properties;
	size_t property_count;
	pthread_mutex_t lock;
	cl_command_buffer_state_khr state;
	struct ocl_recording *recording;
	struct _cl_mutable_command_khr *mutable_commands;
};

/* ---- command_buffer.c ---- */

cl_npu_create_command_buffer ocl_command_buffer_create;
cl_npu_of_command_buffer ocl_command_buffer_retain, ocl_command_buffer_release,
	ocl_command_buffer_finalize;
cl_npu_enqueue_command_buffer ocl_command_buffer_enqueue;
cl_npu_get_command_buffer_info ocl_command_buffer_info;

/* ---- recording.c ---- */

/* NULL: out of memory. */
struct ocl_recording *ocl_recording_new(void);
struct ocl_recording *ocl_recording_get(struct ocl_recording *recording);
void ocl_recording_put(struct ocl_recording *recording);

/* The same commands in a list of its own.  NULL: out of memory. */
struct ocl_recording *ocl_recording_copy(const struct ocl_recording *recording);

/* Takes the command, also where it fails. */
cl_int ocl_recording_add(struct ocl_recording *recording, struct ocl_command *command);
cl_int ocl_recording_replace(struct ocl_recording *recording, cl_uint index,
			     struct ocl_command *command);

/* The list is complete: finds what can go to the NPU together.  false: out of memory. */
bool ocl_recording_finalize(struct ocl_recording *recording);

/* The state of a command buffer with a list that is finalized. */
static inline cl_command_buffer_state_khr ocl_recording_state(const struct ocl_recording *recording)
{
	return recording->complete ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
				   : CL_COMMAND_BUFFER_STATE_FINALIZED_KHR;
}

/* All commands of a complete list in order, up to one that fails.  Adds to @submissions. */
cl_int ocl_recording_run(const struct ocl_recording *recording, cl_uint *submissions);

/* ---- command_record.c ---- */

cl_npu_command_barrier ocl_record_barrier;
cl_npu_command_copy_buffer ocl_record_copy_buffer;
cl_npu_command_copy_buffer_rect ocl_record_copy_buffer_rect;
cl_npu_command_fill_buffer ocl_record_fill_buffer;
cl_npu_command_copy_image ocl_record_copy_image;
cl_npu_command_buffer_to_image ocl_record_buffer_to_image;
cl_npu_command_image_to_buffer ocl_record_image_to_buffer;
cl_npu_command_fill_image ocl_record_fill_image;
cl_npu_command_svm_memcpy ocl_record_svm_memcpy;
cl_npu_command_svm_mem_fill ocl_record_svm_mem_fill;
cl_npu_command_nd_range_kernel ocl_record_nd_range_kernel;

/* ---- command_mutable.c ---- */

cl_npu_update_mutable_commands ocl_mutable_update;
cl_npu_get_mutable_command_info ocl_mutable_info;

/* A handle for a kernel, which is not in the list yet.  NULL: out of memory. */
struct _cl_mutable_command_khr *ocl_mutable_new(cl_command_buffer_khr buffer, cl_kernel kernel,
						const cl_command_properties_khr *properties,
						cl_mutable_dispatch_fields_khr fields);
void ocl_mutable_set_range(struct _cl_mutable_command_khr *command, cl_uint work_dim,
			   const size_t *offset, const size_t *global, const size_t *local);
/* NULL is allowed. */
void ocl_mutable_free(struct _cl_mutable_command_khr *command);

/* Reads the properties of a kernel command; @fields: what may be updated. */
cl_int ocl_mutable_properties(cl_command_buffer_khr buffer,
			      const cl_command_properties_khr *properties, const size_t *local,
			      cl_mutable_dispatch_fields_khr *fields);

/* Do they say that arguments may be updated?  Then they need not be set yet. */
bool ocl_mutable_may_wait(const cl_command_properties_khr *properties);

#endif /* LIBNPU_OPENCL_COMMAND_BUFFER_H */
