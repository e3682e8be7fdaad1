// SPDX-License-Identifier: MIT
/*
 * Fuzzer of OpenCL's calls: the input is a program of calls with handles that are valid, NULL, of another kind
 * or no handles at all, with sizes, offsets and values of any kind, in any state of the objects.  Whatever comes,
 * each call returns, nothing but the caller's memory is touched, and at the end all objects are gone.
 *
 * What a program may not do is left out: handles that it has released, pitches that leave its own memory, and
 * waiting for what only itself could complete.
 */
#include "../../libnpu/opencl/command_buffer.h"
#include "../../libnpu/opencl/external_memory.h"

#include "../common/dense_layer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { CONTEXT, QUEUE, MEM, PROGRAM, KERNEL, EVENT, BUFFER, KINDS };

#define SLOTS 8
#define MEM_BYTES 4096
#define HOST_BYTES 65536

/**
 * struct fuzz - a program at work
 * @data, @bytes: what is left of the input
 * @slot: objects of each kind with one handle each
 * @is_user: of events: it is one that the program completes
 * @mapped: addresses that mapping returned
 * @handle: of a kernel in a command buffer
 */
struct fuzz {
	const uint8_t *data;
	size_t bytes;
	void *slot[KINDS][SLOTS];
	bool is_user[SLOTS];
	void *mapped[SLOTS];
	cl_mutable_command_khr handle[SLOTS];
};

static struct _cl_device_id *device;
static uint8_t host[HOST_BYTES];
static uint64_t junk[64]; /* no object */
static void *model_file;
static size_t model_bytes;

static uint8_t take(struct fuzz *f)
{
	if (!f->bytes)
		return 0;
	f->bytes--;
	return *f->data++;
}

static uint32_t take32(struct fuzz *f)
{
	uint32_t number = take(f);

	/* Most numbers that mean something are small. */
	if (number < 0xe0)
		return number;
	return (uint32_t)take(f) << 24 | (uint32_t)take(f) << 16 | (uint32_t)take(f) << 8 | take(f);
}

static size_t take_size(struct fuzz *f)
{
	size_t size = take32(f);

	return take(f) == 0xff ? SIZE_MAX - size : size;
}

/* ---- handles ---- */

static void *pick(struct fuzz *f, int kind)
{
	uint8_t how = take(f);

	if (how >= 0xfe)
		return NULL;
	if (how >= 0xfc)
		return junk;
	if (how >= 0xf8)
		return f->slot[how % KINDS][take(f) % SLOTS];
	return f->slot[kind][how % SLOTS];
}

static void complete_user_events(struct fuzz *f)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (f->slot[EVENT][i] && f->is_user[i])
			clSetUserEventStatus(f->slot[EVENT][i], CL_COMPLETE);
}

static void release(struct fuzz *f, int kind, int i)
{
	void *object = f->slot[kind][i];

	if (!object)
		return;
	/* Nobody could complete it afterwards. */
	if (kind == EVENT && f->is_user[i])
		clSetUserEventStatus(object, CL_COMPLETE);
	f->slot[kind][i] = NULL;
	switch (kind) {
	case CONTEXT:
		clReleaseContext(object);
		break;
	case QUEUE:
		clReleaseCommandQueue(object);
		break;
	case MEM:
		clReleaseMemObject(object);
		break;
	case PROGRAM:
		clReleaseProgram(object);
		break;
	case KERNEL:
		clReleaseKernel(object);
		break;
	case EVENT:
		clReleaseEvent(object);
		break;
	case BUFFER:
		ocl_command_buffer_release(object);
		/* Its handles went with it, unless it still is in use. */
		memset(f->handle, 0, sizeof(f->handle));
		break;
	}
}

/* Puts a new object into a slot, where it may drive out an older one. */
static void keep(struct fuzz *f, int kind, void *object)
{
	int i = take(f) % SLOTS;

	if (!object)
		return;
	release(f, kind, i);
	f->slot[kind][i] = object;
	if (kind == EVENT)
		f->is_user[i] = false;
}

/* ---- wait lists ---- */

struct waits {
	cl_uint count;
	cl_event list[3];
	cl_event event;
	bool wants_event;
};

static struct waits take_waits(struct fuzz *f)
{
	struct waits waits = { .count = take(f) & 3 };
	cl_uint i;

	for (i = 0; i < waits.count; i++)
		waits.list[i] = pick(f, EVENT);
	waits.wants_event = take(f) & 1;
	return waits;
}

#define WAITS(w) (w).count, (w).count ? (w).list : NULL, (w).wants_event ? &(w).event : NULL

/* A call that may wait: what it waits for has to be able to end. */
static cl_bool take_blocking(struct fuzz *f)
{
	cl_bool blocking = take(f) & 1;

	if (blocking)
		complete_user_events(f);
	return blocking;
}

/* ---- calls: contexts and queues ---- */

static void call_context(struct fuzz *f)
{
	cl_context_properties properties[] = { take32(f), take32(f), 0 };
	cl_device_id list[2] = { device, take(f) & 1 ? device : NULL };
	cl_int error;

	keep(f, CONTEXT,
	     clCreateContext(take(f) & 1 ? properties : NULL, take(f) % 3, list, NULL, NULL,
			     &error));
}

static void call_queue(struct fuzz *f)
{
	cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, take(f) & 3, take32(f), take32(f),
					     0 };
	cl_int error;

	if (take(f) & 7)
		properties[2] = 0;
	keep(f, QUEUE,
	     clCreateCommandQueueWithProperties(pick(f, CONTEXT), device,
						take(f) & 7 ? properties : NULL, &error));
}

static void call_flush(struct fuzz *f)
{
	clFlush(pick(f, QUEUE));
}

static void call_finish(struct fuzz *f)
{
	complete_user_events(f);
	clFinish(pick(f, QUEUE));
}

static void call_release(struct fuzz *f)
{
	release(f, take(f) % KINDS, take(f) % SLOTS);
}

/* ---- calls: buffers ---- */

static void call_buffer(struct fuzz *f)
{
	cl_mem_flags flags = take(f);
	cl_int error;

	keep(f, MEM,
	     clCreateBuffer(
		     pick(f, CONTEXT), flags, take(f) & 15 ? MEM_BYTES : take_size(f) % 65536,
		     flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) ? host : NULL, &error));
}

static void call_external(struct fuzz *f)
{
	int fd = take(f) & 3 ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
	cl_mem_properties properties[] = {
		CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, (cl_mem_properties)fd, 0, 0, 0, 0
	};
	cl_int error;
	cl_mem mem;

	if (take(f) & 1) {
		properties[2] = CL_MEM_DEVICE_HANDLE_LIST_KHR;
		properties[3] = take(f) & 3 ? (cl_mem_properties)(uintptr_t)device : 0;
	}
	if (fd >= 0 && ftruncate(fd, MEM_BYTES))
		abort();
	mem = clCreateBufferWithProperties(pick(f, CONTEXT), properties, take(f),
					   take(f) & 7 ? MEM_BYTES : take_size(f), NULL, &error);
	if (!mem && fd >= 0)
		close(fd);
	keep(f, MEM, mem);
}

static void call_sub_buffer(struct fuzz *f)
{
	cl_buffer_region region = { take_size(f) * 64, take_size(f) };
	cl_int error;

	keep(f, MEM,
	     clCreateSubBuffer(pick(f, MEM), take(f), CL_BUFFER_CREATE_TYPE_REGION,
			       take(f) & 15 ? &region : NULL, &error));
}

static void call_read(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	size_t bytes = take_size(f);

	/* As many bytes as the buffer can have at most. */
	clEnqueueReadBuffer(pick(f, QUEUE), pick(f, MEM), take_blocking(f), take_size(f), bytes,
			    take(f) & 31 ? host : NULL, WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_write(struct fuzz *f)
{
	struct waits waits = take_waits(f);

	clEnqueueWriteBuffer(pick(f, QUEUE), pick(f, MEM), take_blocking(f), take_size(f),
			     take_size(f), take(f) & 31 ? host : NULL, WAITS(waits));
	keep(f, EVENT, waits.event);
}

/* Origin, region and pitches of the host stay within its memory. */
struct box {
	size_t origin[3], other[3], region[3];
	size_t row, slice, host_row, host_slice;
};

static struct box take_box(struct fuzz *f)
{
	struct box box;
	int i;

	for (i = 0; i < 3; i++) {
		box.origin[i] = take_size(f);
		box.other[i] = take(f) & 15;
		box.region[i] = take(f) & 15;
	}
	box.row = take_size(f);
	box.slice = take_size(f);
	box.host_row = take(f) & 63;
	box.host_slice = (size_t)(take(f) & 15) * 64;
	return box;
}

static void call_read_rect(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	struct box box = take_box(f);

	clEnqueueReadBufferRect(pick(f, QUEUE), pick(f, MEM), take_blocking(f), box.origin,
				box.other, box.region, box.row, box.slice, box.host_row,
				box.host_slice, host, WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_write_rect(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	struct box box = take_box(f);

	clEnqueueWriteBufferRect(pick(f, QUEUE), pick(f, MEM), take_blocking(f), box.origin,
				 box.other, box.region, box.row, box.slice, box.host_row,
				 box.host_slice, host, WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_copy(struct fuzz *f)
{
	struct waits waits = take_waits(f);

	clEnqueueCopyBuffer(pick(f, QUEUE), pick(f, MEM), pick(f, MEM), take_size(f), take_size(f),
			    take_size(f), WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_copy_rect(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	struct box box = take_box(f);

	clEnqueueCopyBufferRect(pick(f, QUEUE), pick(f, MEM), pick(f, MEM), box.origin, box.other,
				box.region, box.row, box.slice, take_size(f), take_size(f),
				WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_fill(struct fuzz *f)
{
	struct waits waits = take_waits(f);

	clEnqueueFillBuffer(pick(f, QUEUE), pick(f, MEM), host, take_size(f), take_size(f),
			    take_size(f), WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_map(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	cl_int error;
	void *at = clEnqueueMapBuffer(pick(f, QUEUE), pick(f, MEM), take_blocking(f), take(f) & 7,
				      take_size(f), take_size(f), WAITS(waits), &error);

	f->mapped[take(f) % SLOTS] = at;
	keep(f, EVENT, waits.event);
}

static void call_unmap(struct fuzz *f)
{
	struct waits waits = take_waits(f);

	clEnqueueUnmapMemObject(pick(f, QUEUE), pick(f, MEM),
				take(f) & 7 ? f->mapped[take(f) % SLOTS] : junk, WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_migrate(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	cl_mem list[2] = { pick(f, MEM), pick(f, MEM) };

	clEnqueueMigrateMemObjects(pick(f, QUEUE), take(f) % 3, list, take(f) & 3, WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_hand_over(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	cl_mem list[2] = { pick(f, MEM), pick(f, MEM) };

	if (take(f) & 1)
		ocl_enqueue_acquire_external(pick(f, QUEUE), take(f) % 3, list, WAITS(waits));
	else
		ocl_enqueue_release_external(pick(f, QUEUE), take(f) % 3, list, WAITS(waits));
	keep(f, EVENT, waits.event);
}

/* ---- calls: programs and kernels ---- */

static void call_builtin_program(struct fuzz *f)
{
	static const char *const names[] = {
		"npu_copy;npu_fill;npu_add",
		"npu_conv2d;npu_fully_connected",
		"npu_max_pool2d;npu_average_pool2d;npu_quantize",
		"npu_dequantize;npu_nhwc_to_nchw",
		"npu_nchw_to_nhwc",
		"nothing",
		"",
		";;",
	};
	cl_device_id list = device;
	cl_int error;

	keep(f, PROGRAM,
	     clCreateProgramWithBuiltInKernels(pick(f, CONTEXT), take(f) & 15 ? 1 : take32(f) % 2,
					       &list, names[take(f) % OCL_COUNT(names)], &error));
}

static void call_binary_program(struct fuzz *f)
{
	uint8_t *file = malloc(model_bytes);
	const unsigned char *binary = file;
	size_t bytes = take(f) & 7 ? model_bytes : take_size(f) % (model_bytes + 1);
	cl_device_id list = device;
	cl_int error, status;

	if (!file)
		return;
	memcpy(file, model_file, model_bytes);
	if (!(take(f) & 3))
		file[take32(f) % model_bytes] ^= take(f);
	keep(f, PROGRAM,
	     clCreateProgramWithBinary(pick(f, CONTEXT), 1, &list, &bytes, &binary, &status,
				       &error));
	free(file);
}

static void call_source_program(struct fuzz *f)
{
	const char *source = "kernel void k(void) {}";
	cl_int error;

	keep(f, PROGRAM, clCreateProgramWithSource(pick(f, CONTEXT), 1, &source, NULL, &error));
}

static void call_build(struct fuzz *f)
{
	cl_device_id list = device;

	clBuildProgram(pick(f, PROGRAM), take(f) & 1, take(f) & 1 ? &list : NULL,
		       take(f) & 1 ? "-option" : NULL, NULL, NULL);
}

static void call_kernels(struct fuzz *f)
{
	cl_kernel kernel[4] = { NULL };
	cl_uint count = 0, i;

	if (clCreateKernelsInProgram(pick(f, PROGRAM), 4, kernel, &count))
		return;
	for (i = 0; i < count && i < 4; i++)
		keep(f, KERNEL, kernel[i]);
}

static void call_kernel(struct fuzz *f)
{
	static const char *const names[] = { "npu_copy", "npu_conv2d", "npu_add", "infer",
					     "layer",	 "nothing",    "" };
	cl_int error;

	keep(f, KERNEL,
	     clCreateKernel(pick(f, PROGRAM), names[take(f) % OCL_COUNT(names)], &error));
}

static void call_clone(struct fuzz *f)
{
	cl_int error;

	keep(f, KERNEL, clCloneKernel(pick(f, KERNEL), &error));
}

static void call_argument(struct fuzz *f)
{
	static const size_t sizes[] = {
		sizeof(cl_mem), sizeof(cl_mem), sizeof(cl_mem), 4, 4, 16, 0, 1
	};
	size_t size = sizes[take(f) % OCL_COUNT(sizes)];
	uint32_t value[4];
	void *mem;
	int i;

	/* Whatever may be taken for a handle is a pointer to something. */
	if (size == sizeof(cl_mem)) {
		mem = pick(f, MEM);
		clSetKernelArg(pick(f, KERNEL), take(f) & 15, size, take(f) & 15 ? &mem : NULL);
		return;
	}
	for (i = 0; i < 4; i++)
		value[i] = take32(f);
	if (take(f) & 1)
		for (i = 0; i < 4; i++)
			((float *)value)[i] = (float)(take(f) - 100) / 64;
	clSetKernelArg(pick(f, KERNEL), take(f) & 15, size, take(f) & 15 ? value : NULL);
}

static void call_launch(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	size_t range[3] = { take(f) & 15 ? 1 : take_size(f), 1, take(f) & 7 ? 1 : take_size(f) };
	size_t local[3] = { 1, 1, take(f) & 7 ? 1 : take_size(f) };

	clEnqueueNDRangeKernel(pick(f, QUEUE), pick(f, KERNEL), take(f) & 15 ? 1 : take(f) & 7,
			       NULL, take(f) & 15 ? range : NULL, take(f) & 1 ? local : NULL,
			       WAITS(waits));
	keep(f, EVENT, waits.event);
}

/* ---- calls: events ---- */

static void call_user_event(struct fuzz *f)
{
	cl_int error;
	cl_event event = clCreateUserEvent(pick(f, CONTEXT), &error);
	int i = take(f) % SLOTS;

	if (!event)
		return;
	release(f, EVENT, i);
	f->slot[EVENT][i] = event;
	f->is_user[i] = true;
}

static void call_status(struct fuzz *f)
{
	clSetUserEventStatus(pick(f, EVENT), (int8_t)take(f));
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *user_data)
{
	cl_int now;

	(void)status;
	(void)user_data;
	clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(now), &now, NULL);
}

static void call_callback(struct fuzz *f)
{
	clSetEventCallback(pick(f, EVENT), take(f) & 3, take(f) & 31 ? on_event : NULL, NULL);
}

static void call_wait(struct fuzz *f)
{
	struct waits waits = take_waits(f);

	complete_user_events(f);
	clWaitForEvents(waits.count, waits.list);
}

static void call_marker(struct fuzz *f)
{
	struct waits waits = take_waits(f);

	if (take(f) & 1)
		clEnqueueMarkerWithWaitList(pick(f, QUEUE), WAITS(waits));
	else
		clEnqueueBarrierWithWaitList(pick(f, QUEUE), WAITS(waits));
	keep(f, EVENT, waits.event);
}

/* ---- calls: command buffers ---- */

static void call_command_buffer(struct fuzz *f)
{
	cl_properties properties[] = { CL_COMMAND_BUFFER_FLAGS_KHR, take(f) & 7, 0 };
	cl_command_queue queue = pick(f, QUEUE);
	cl_int error;

	keep(f, BUFFER,
	     ocl_command_buffer_create(take(f) & 15 ? 1 : take(f) & 3, take(f) & 15 ? &queue : NULL,
				       take(f) & 3 ? properties : NULL, &error));
}

/**
 * struct points - sync points to wait for
 */
struct points {
	cl_uint count;
	cl_sync_point_khr list[3];
	cl_sync_point_khr point;
};

static struct points take_points(struct fuzz *f)
{
	struct points points = { .count = take(f) & 15 ? 0 : take(f) & 3 };
	cl_uint i;

	for (i = 0; i < points.count; i++)
		points.list[i] = take32(f);
	return points;
}

#define POINTS(p) (p).count, (p).count ? (p).list : NULL, &(p).point

static void call_record(struct fuzz *f)
{
	struct points p = take_points(f);
	const size_t range[3] = { take(f) & 31 ? 1 : 0, 1, 1 };
	cl_mutable_command_khr *handle = &f->handle[take(f) % SLOTS];
	struct box box = take_box(f);

	switch (take(f) % 5) {
	case 0:
		ocl_record_barrier(pick(f, BUFFER), NULL, NULL, POINTS(p), NULL);
		break;
	case 1:
		ocl_record_copy_buffer(pick(f, BUFFER), NULL, NULL, pick(f, MEM), pick(f, MEM),
				       take_size(f), take_size(f), take_size(f), POINTS(p), NULL);
		break;
	case 2:
		ocl_record_copy_buffer_rect(pick(f, BUFFER), NULL, NULL, pick(f, MEM), pick(f, MEM),
					    box.origin, box.other, box.region, box.row, box.slice,
					    take_size(f), take_size(f), POINTS(p), NULL);
		break;
	case 3:
		ocl_record_fill_buffer(pick(f, BUFFER), NULL, NULL, pick(f, MEM), host,
				       take_size(f), take_size(f), take_size(f), POINTS(p), NULL);
		break;
	case 4:
		ocl_record_nd_range_kernel(pick(f, BUFFER), NULL, NULL, pick(f, KERNEL),
					   take(f) & 7 ? 1 : take(f) & 3, NULL, range, NULL,
					   POINTS(p), take(f) & 7 ? handle : NULL);
		break;
	}
}

static void call_finalize(struct fuzz *f)
{
	ocl_command_buffer_finalize(pick(f, BUFFER));
}

static void call_execute(struct fuzz *f)
{
	struct waits waits = take_waits(f);
	cl_command_queue queue = pick(f, QUEUE);

	ocl_command_buffer_enqueue(take(f) & 1, take(f) & 1 ? &queue : NULL, pick(f, BUFFER),
				   WAITS(waits));
	keep(f, EVENT, waits.event);
}

static void call_update(struct fuzz *f)
{
	cl_mem mem = pick(f, MEM);
	const cl_npu_mutable_arg arg = { take(f) & 15, take(f) & 15 ? sizeof(mem) : take(f) & 7,
					 take(f) & 15 ? &mem : NULL };
	const cl_npu_mutable_config config = {
		.command = take(f) & 15 ? f->handle[take(f) % SLOTS] : (void *)junk,
		.num_args = take(f) & 15 ? 1 : 0,
		.work_dim = take(f) & 15 ? 0 : take(f) & 3,
		.arg_list = take(f) & 15 ? &arg : NULL,
	};
	const cl_command_buffer_update_type_khr type = take(f) & 15 ? 0 : take32(f);
	const void *configs[] = { take(f) & 31 ? &config : NULL };

	ocl_mutable_update(pick(f, BUFFER), take(f) & 31 ? 1 : 0, &type, configs);
}

/* ---- calls: queries ---- */

static void call_query(struct fuzz *f)
{
	static const uint32_t first[] = { 0x1080, 0x1090, 0x1100, 0x1107, 0x1160, 0x1180, 0x1190,
					  0x11b0, 0x11d0, 0x1280, 0x1290, 0x129a, 0x12a0, 0xff00,
					  0xff10, 0xff20, 0x1000, 0x1030, 0x1050, 0x0900 };
	uint32_t name = first[take(f) % OCL_COUNT(first)] + (take(f) & 31);
	size_t size = take_size(f), told;
	static uint8_t value[HOST_BYTES];
	void *to = take(f) & 7 ? value : NULL;

	size = size > sizeof(value) ? sizeof(value) : size;
	switch (take(f) % 12) {
	case 0:
		clGetContextInfo(pick(f, CONTEXT), name, size, to, &told);
		break;
	case 1:
		clGetCommandQueueInfo(pick(f, QUEUE), name, size, to, &told);
		break;
	case 2:
		clGetMemObjectInfo(pick(f, MEM), name, size, to, &told);
		break;
	case 3:
		/* The binaries of a program go to memory that the caller names. */
		if (name != CL_PROGRAM_BINARIES)
			clGetProgramInfo(pick(f, PROGRAM), name, size, to, &told);
		break;
	case 4:
		clGetKernelInfo(pick(f, KERNEL), name, size, to, &told);
		break;
	case 5:
		clGetEventInfo(pick(f, EVENT), name, size, to, &told);
		break;
	case 6:
		clGetEventProfilingInfo(pick(f, EVENT), name, size, to, &told);
		break;
	case 7:
		ocl_command_buffer_info(pick(f, BUFFER), name, size, to, &told);
		break;
	case 8:
		clGetDeviceInfo(device, name, size, to, &told);
		break;
	case 9:
		clGetKernelArgInfo(pick(f, KERNEL), take(f) & 15, name, size, to, &told);
		break;
	case 10:
		clGetKernelWorkGroupInfo(pick(f, KERNEL), device, name, size, to, &told);
		break;
	case 11:
		clGetProgramBuildInfo(pick(f, PROGRAM), device, name, size, to, &told);
		break;
	}
}

static void (*const calls[])(struct fuzz *f) = {
	call_context,	     call_queue,	  call_flush,	  call_finish,
	call_release,	     call_buffer,	  call_external,  call_sub_buffer,
	call_read,	     call_write,	  call_read_rect, call_write_rect,
	call_copy,	     call_copy_rect,	  call_fill,	  call_map,
	call_unmap,	     call_migrate,	  call_hand_over, call_builtin_program,
	call_binary_program, call_source_program, call_build,	  call_kernels,
	call_kernel,	     call_clone,	  call_argument,  call_launch,
	call_user_event,     call_status,	  call_callback,  call_wait,
	call_marker,	     call_command_buffer, call_record,	  call_finalize,
	call_execute,	     call_update,	  call_query,
};

/* ---- the program around it ---- */

/* A network of one small layer. */
static void make_model(void)
{
	static const int8_t weights[16 * 16];
	struct npu_device *npu;
	struct npu_model *model;

	if (npu_open("sim:nv_small", &npu) || dense_layer(npu, 16, weights, NULL, &model) ||
	    npu_model_save_memory(model, &model_file, &model_bytes))
		abort();
	npu_model_free(model);
	npu_close(npu);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	setenv("NPU_DEVICE", "sim:nv_small", 1);
	setenv("NPU_SIM_DIR", "-", 1);
	make_model();
	if (clGetDeviceIDs(&ocl_platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		abort();
	return 0;
}

/* The model's kernel and one built-in kernel with arguments that are right. */
static void begin_kernels(struct fuzz *f, cl_context context)
{
	const unsigned char *binary = model_file;
	const cl_ulong bytes = 64;
	int i, arg;

	f->slot[PROGRAM][0] = clCreateProgramWithBuiltInKernels(
		context, 1, &device, "npu_copy;npu_fully_connected", NULL);
	f->slot[PROGRAM][1] =
		clCreateProgramWithBinary(context, 1, &device, &model_bytes, &binary, NULL, NULL);
	clBuildProgram(f->slot[PROGRAM][1], 0, NULL, NULL, NULL, NULL);
	f->slot[KERNEL][0] = clCreateKernel(f->slot[PROGRAM][0], "npu_copy", NULL);
	f->slot[KERNEL][1] = clCreateKernel(f->slot[PROGRAM][0], "npu_fully_connected", NULL);
	if (clCreateKernelsInProgram(f->slot[PROGRAM][1], 1, (cl_kernel *)&f->slot[KERNEL][2],
				     NULL))
		abort();
	for (i = 0; i <= 2; i += 2)
		for (arg = 0; arg < 2; arg++)
			if (clSetKernelArg(f->slot[KERNEL][i], arg, sizeof(cl_mem),
					   &f->slot[MEM][arg]))
				abort();
	if (clSetKernelArg(f->slot[KERNEL][0], 2, sizeof(bytes), &bytes))
		abort();
}

/* Something of every kind, so that short inputs get somewhere. */
static void begin(struct fuzz *f)
{
	cl_queue_properties out_of_order[] = { CL_QUEUE_PROPERTIES,
					       CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE |
						       CL_QUEUE_PROFILING_ENABLE,
					       0 };
	cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	int i;

	f->slot[CONTEXT][0] = context;
	f->slot[QUEUE][0] = clCreateCommandQueueWithProperties(context, device, NULL, NULL);
	f->slot[QUEUE][1] = clCreateCommandQueueWithProperties(context, device, out_of_order, NULL);
	for (i = 0; i < 3; i++)
		f->slot[MEM][i] = clCreateBuffer(context, 0, MEM_BYTES, NULL, NULL);
	if (!f->slot[QUEUE][0] || !f->slot[QUEUE][1] || !f->slot[MEM][2])
		abort();
	begin_kernels(f, context);
}

static void end(struct fuzz *f)
{
	int kind, i;

	complete_user_events(f);
	for (i = 0; i < SLOTS; i++)
		if (f->slot[QUEUE][i] && clFinish(f->slot[QUEUE][i]))
			abort();
	for (kind = KINDS; kind--;)
		for (i = 0; i < SLOTS; i++)
			release(f, kind, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz f = { .data = data, .bytes = bytes };

	begin(&f);
	while (f.bytes)
		calls[take(&f) % OCL_COUNT(calls)](&f);
	end(&f);
	return 0;
}
