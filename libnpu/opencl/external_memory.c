// SPDX-License-Identifier: MIT
/*
 * Buffers from dma-bufs.  The memory is mapped once, where it lies.  Between acquire and release it is the
 * CPU's, as dma-buf has it: libnpu converts a tensor from there into the NPU's own format and back, so the NPU
 * itself never reaches it and nothing else has to be synchronised.
 *
 * A memfd is taken too: it needs no synchronisation, and programs can be tried where nobody exports a dma-buf.  It
 * is sealed against shrinking.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "external_memory.h"

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142
#endif

/**
 * struct ocl_external - imported memory
 * @fd: its file descriptor
 * @data, @bytes: where it is mapped, and how much
 * @is_dma_buf: the CPU's accesses have to be bracketed
 * @device, @device_count: may use it; 0: all of the context
 */
struct ocl_external {
	int fd;
	void *data;
	size_t bytes;
	bool is_dma_buf;
	cl_device_id device[OCL_MAX_DEVICES];
	cl_uint device_count;
};

/* ---- properties ---- */

/* Elements of one property: a list of devices ends with a 0 of its own. */
static size_t property_length(const cl_mem_properties *property)
{
	size_t i = 1;

	if (property[0] != CL_MEM_DEVICE_HANDLE_LIST_KHR)
		return 2;
	while (property[i] != CL_MEM_DEVICE_HANDLE_LIST_END_KHR)
		i++;
	return i + 1;
}

cl_mem_properties *ocl_copy_mem_properties(const cl_mem_properties *properties, size_t *count)
{
	cl_mem_properties *copy;
	size_t n = 0;

	*count = 0;
	if (!properties)
		return NULL;
	while (properties[n])
		n += property_length(properties + n);
	copy = malloc((n + 1) * sizeof(*copy));
	if (copy) {
		memcpy(copy, properties, (n + 1) * sizeof(*copy));
		*count = n + 1;
	}
	return copy;
}

static cl_int read_devices(cl_mem mem, const cl_mem_properties *list, struct ocl_external *external)
{
	for (; *list != CL_MEM_DEVICE_HANDLE_LIST_END_KHR; list++) {
		cl_device_id device = (cl_device_id)(uintptr_t)*list;

		if (!ocl_context_has(mem->context, device) ||
		    external->device_count == OCL_MAX_DEVICES)
			return ocl_fail(mem->context, CL_INVALID_DEVICE,
					"a device of the list is not one of the context");
		external->device[external->device_count++] = device;
	}
	return CL_SUCCESS;
}

static cl_int read_property(cl_mem mem, const cl_mem_properties *property,
			    struct ocl_external *external)
{
	switch (property[0]) {
	case CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR:
		if (external->fd >= 0)
			break;
		external->fd = (int)property[1];
		if (external->fd >= 0)
			return CL_SUCCESS;
		break;
	case CL_MEM_DEVICE_HANDLE_LIST_KHR:
		if (external->device_count)
			break;
		return read_devices(mem, property + 1, external);
	}
	return ocl_fail(mem->context, CL_INVALID_PROPERTY,
			"buffer property 0x%llx is unknown, given twice or has a wrong value",
			(unsigned long long)property[0]);
}

static cl_int read_properties(cl_mem mem, const cl_mem_properties *properties,
			      struct ocl_external *external)
{
	cl_int error = CL_SUCCESS;

	external->fd = -1;
	for (; *properties && !error; properties += property_length(properties))
		error = read_property(mem, properties, external);
	if (!error && external->fd < 0)
		error = ocl_fail(mem->context, CL_INVALID_PROPERTY,
				 "a list of devices, and no memory handle");
	return error;
}

/* ---- memory ---- */

static bool is_dma_buf(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 && status.f_type == DMA_BUF_MAGIC;
}

/* A memfd that cannot shrink under the mapping any more: that would be the end of the process. */
static bool seal_memfd(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & F_SEAL_SHRINK || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
}

static cl_int check_memory(cl_mem mem, struct ocl_external *external)
{
	const cl_mem_flags host = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR |
				  CL_MEM_COPY_HOST_PTR;
	off_t bytes;

	if (mem->flags & host)
		return ocl_fail(mem->context, CL_INVALID_VALUE,
				"flags of a host pointer do not go with external memory");
	external->is_dma_buf = is_dma_buf(external->fd);
	if (!external->is_dma_buf && !seal_memfd(external->fd))
		return ocl_fail(
			mem->context, CL_INVALID_PROPERTY,
			"file descriptor %d is no dma-buf and no memfd that can be kept from "
			"shrinking (MFD_ALLOW_SEALING)",
			external->fd);
	bytes = lseek(external->fd, 0, SEEK_END);
	if (bytes < 0 || (uint64_t)bytes < mem->size)
		return ocl_fail(mem->context, CL_INVALID_BUFFER_SIZE,
				"the dma-buf has %lld bytes, fewer than the buffer's %zu",
				(long long)bytes, mem->size);
	return CL_SUCCESS;
}

static cl_int map_memory(cl_mem mem, struct ocl_external *external)
{
	cl_int error = check_memory(mem, external);

	if (error)
		return error;
	external->bytes = mem->size;
	external->data =
		mmap(NULL, external->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, external->fd, 0);
	if (external->data == MAP_FAILED)
		return ocl_fail(mem->context, CL_INVALID_PROPERTY,
				"the dma-buf cannot be mapped: %s", strerror(errno));
	mem->data = external->data;
	mem->external = external;
	return CL_SUCCESS;
}

cl_int ocl_external_import(cl_mem mem, const cl_mem_properties *properties)
{
	struct ocl_external *external;
	cl_int error;

	if (!properties || !*properties)
		return CL_SUCCESS;
	external = calloc(1, sizeof(*external));
	if (!external)
		return ocl_fail(mem->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	error = read_properties(mem, properties, external);
	if (!error)
		error = map_memory(mem, external);
	if (error)
		free(external);
	return error;
}

void ocl_external_release(cl_mem mem)
{
	munmap(mem->external->data, mem->external->bytes);
	close(mem->external->fd);
	free(mem->external);
	mem->external = NULL;
	mem->data = NULL;
}

/* ---- acquire and release ---- */

/* Buffers whose owner changes. */
struct hand_over {
	cl_uint count;
	cl_mem mem[];
};

static cl_int sync_all(const struct hand_over *what, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = flags | DMA_BUF_SYNC_RW };
	cl_uint i;

	for (i = 0; i < what->count; i++) {
		const struct ocl_external *external = what->mem[i]->external;
		int err;

		if (!external->is_dma_buf)
			continue;
		do
			err = ioctl(external->fd, DMA_BUF_IOCTL_SYNC, &sync) ? errno : 0;
		while (err == EINTR || err == EAGAIN);
		if (err)
			return ocl_fail(what->mem[i]->context, CL_OUT_OF_RESOURCES,
					"cannot synchronise a dma-buf: %s", strerror(err));
	}
	return CL_SUCCESS;
}

static cl_int run_acquire(struct ocl_command *command, struct ocl_times *times)
{
	(void)times;
	return sync_all(command->other, DMA_BUF_SYNC_START);
}

static cl_int run_release(struct ocl_command *command, struct ocl_times *times)
{
	(void)times;
	return sync_all(command->other, DMA_BUF_SYNC_END);
}

static void let_go(struct ocl_command *command)
{
	struct hand_over *what = command->other;
	cl_uint i;

	for (i = 0; i < what->count; i++)
		ocl_put(what->mem[i]);
	free(what);
}

static const struct ocl_command_ops acquire_ops = {
	CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR,
	run_acquire,
	let_go,
};

static const struct ocl_command_ops release_ops = {
	CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR,
	run_release,
	let_go,
};

static bool is_for(const struct ocl_external *external, cl_device_id device)
{
	cl_uint i;

	for (i = 0; i < external->device_count; i++)
		if (external->device[i] == device)
			return true;
	return !external->device_count;
}

static cl_int check_mems(cl_command_queue queue, cl_uint count, const cl_mem *mems)
{
	cl_uint i;

	if (!count != !mems)
		return ocl_fail(queue->context, CL_INVALID_VALUE, "%u buffers without a list",
				count);
	for (i = 0; i < count; i++) {
		if (!ocl_is(mems[i], OCL_MEM) || !mems[i]->external)
			return ocl_fail(queue->context, CL_INVALID_MEM_OBJECT,
					"buffer %u is not valid, or not of external memory", i);
		if (mems[i]->context != queue->context || !is_for(mems[i]->external, queue->device))
			return ocl_fail(queue->context, CL_INVALID_COMMAND_QUEUE,
					"buffer %u is not for the queue's device", i);
	}
	return CL_SUCCESS;
}

static cl_int hand_over(cl_command_queue queue, cl_uint count, const cl_mem *mems,
			const struct ocl_command_ops *ops, struct ocl_wait wait)
{
	struct ocl_command command = { .ops = ops };
	struct hand_over *what;
	cl_int error;
	cl_uint i;

	if (!ocl_is(queue, OCL_QUEUE))
		return ocl_fail(NULL, CL_INVALID_COMMAND_QUEUE, "the queue is not valid");
	error = check_mems(queue, count, mems);
	if (error)
		return error;
	what = malloc(sizeof(*what) + count * sizeof(what->mem[0]));
	if (!what)
		return ocl_fail(queue->context, CL_OUT_OF_HOST_MEMORY, "out of memory");
	what->count = count;
	for (i = 0; i < count; i++)
		what->mem[i] = ocl_get(mems[i]);
	command.other = what;
	return ocl_enqueue(queue, &command, wait);
}

CL_API_ENTRY cl_int CL_API_CALL ocl_enqueue_acquire_external(cl_command_queue queue, cl_uint count,
							     const cl_mem *mems, cl_uint wait_count,
							     const cl_event *wait_list,
							     cl_event *event)
{
	return hand_over(queue, count, mems, &acquire_ops, OCL_WAIT(wait_count, wait_list, event));
}

CL_API_ENTRY cl_int CL_API_CALL ocl_enqueue_release_external(cl_command_queue queue, cl_uint count,
							     const cl_mem *mems, cl_uint wait_count,
							     const cl_event *wait_list,
							     cl_event *event)
{
	return hand_over(queue, count, mems, &release_ops, OCL_WAIT(wait_count, wait_list, event));
}
