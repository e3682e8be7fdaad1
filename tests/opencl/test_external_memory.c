// SPDX-License-Identifier: MIT
/*
 * External memory: a buffer made of a file descriptor is the same memory, belongs to the buffer, is handed over
 * by acquire and release, and wrong ones are refused.
 */
#include <drm/nvdla_accel.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xf86drm.h>

#include "builtin.h"
#include "external_memory.h"

#define BYTES 8192

#ifndef DMA_BUF_MAGIC
#define DMA_BUF_MAGIC 0x444d4142
#endif

typedef cl_int hand_over(cl_command_queue queue, cl_uint count, const cl_mem *mems,
			 cl_uint wait_count, const cl_event *wait_list, cl_event *event);

static hand_over *acquire, *release;

/* ---- a memfd that passes for a dma-buf ---- */

/**
 * struct fake - what of a file descriptor is not what it is
 * @fd: which one; -1: none
 * @interrupt: the next call is interrupted by a signal
 * @fails: synchronisation fails
 * @syncs, @flags: calls of DMA_BUF_IOCTL_SYNC
 */
static struct fake {
	int fd;
	bool interrupt, fails;
	unsigned syncs;
	uint64_t flags[8];
} fake = { .fd = -1 };

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int fstatfs(int fd, struct statfs *status)
{
	long err = syscall(SYS_fstatfs, fd, status);

	if (fd == fake.fd)
		status->f_type = DMA_BUF_MAGIC;
	return (int)err;
}

static int fake_sync(const struct dma_buf_sync *sync)
{
	if (fake.interrupt || fake.fails) {
		errno = fake.interrupt ? EINTR : EIO;
		fake.interrupt = false;
		return -1;
	}
	fake.flags[fake.syncs++ % 8] = sync->flags;
	return 0;
}

EXPORTED int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list args;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (fd == fake.fd && request == DMA_BUF_IOCTL_SYNC)
		return fake_sync(argument);
	return (int)syscall(SYS_ioctl, fd, request, argument);
}

static void begin(struct cl *cl)
{
	cl_begin(cl);
	acquire = CL_FUNCTION(cl, hand_over, "clEnqueueAcquireExternalMemObjectsKHR");
	release = CL_FUNCTION(cl, hand_over, "clEnqueueReleaseExternalMemObjectsKHR");
	assert_non_null(acquire);
	assert_non_null(release);
}

static int new_memory(void)
{
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	return fd;
}

static cl_mem import(struct cl *cl, int fd, size_t bytes, cl_mem_flags flags, cl_int *error)
{
	const cl_mem_properties properties[] = { CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
						 (cl_mem_properties)fd, 0 };

	return clCreateBufferWithProperties(cl->context, properties, flags, bytes, NULL, error);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* What is written outside is seen by a kernel, and the reverse. */
static void check_shared(struct cl *cl, int fd, uint8_t *outside)
{
	cl_event event;
	cl_kernel kernel;
	cl_mem mem, out;
	cl_command_type type;
	cl_uchar byte[4];
	cl_int error;

	mem = import(cl, fd, BYTES, CL_MEM_READ_WRITE, &error);
	assert_int_equal(error, CL_SUCCESS);
	out = cl_buffer(cl, BYTES, NULL);
	memcpy(outside, "ABCD", 4);
	assert_int_equal(acquire(cl->queue, 1, &mem, 0, NULL, &event), CL_SUCCESS);
	assert_int_equal(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL),
			 CL_SUCCESS);
	assert_int_equal(type, CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR);
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	kernel = cl_copy_kernel(cl, mem, out, BYTES);
	assert_int_equal(cl_run(cl->queue, kernel, NULL), CL_SUCCESS);
	cl_read(cl, out, 4, byte);
	assert_memory_equal(byte, "ABCD", 4);
	assert_int_equal(clEnqueueFillBuffer(cl->queue, mem, "z", 1, BYTES - 8, 8, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(release(cl->queue, 1, &mem, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(clFinish(cl->queue), CL_SUCCESS);
	assert_memory_equal(outside + BYTES - 8, "zzzzzzzz", 8);
	assert_int_equal(outside[BYTES - 9], 0);
	assert_true(is_open(fd));
	assert_int_equal(clReleaseKernel(kernel), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(out), CL_SUCCESS);
	assert_false(is_open(fd));
}

static void memfd(void **state)
{
	int fd = new_memory();
	uint8_t *outside = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct cl cl;

	assert_true(outside != MAP_FAILED);
	begin(&cl);
	check_shared(&cl, fd, outside);
	munmap(outside, BYTES);
	cl_end(&cl);
}

/* Its owner cannot take the memory away any more; one who could is refused. */
static void cannot_shrink(void **state)
{
	int fd = new_memory(), owner = dup(fd);
	uint8_t *outside = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, owner, 0);
	struct cl cl;
	cl_int error;
	cl_mem mem;

	begin(&cl);
	assert_true(outside != MAP_FAILED);
	mem = import(&cl, fd, BYTES, CL_MEM_READ_WRITE, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(ftruncate(owner, 0), -1);
	assert_int_equal(ftruncate(owner, 2 * BYTES), 0);
	assert_int_equal(clEnqueueFillBuffer(cl.queue, mem, "z", 1, 0, BYTES, 0, NULL, NULL),
			 CL_SUCCESS);
	assert_int_equal(clFinish(cl.queue), CL_SUCCESS);
	assert_int_equal(outside[BYTES - 1], 'z');
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	munmap(outside, BYTES);
	close(owner);
	fd = memfd_create("cannot be sealed", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	assert_null(import(&cl, fd, BYTES, CL_MEM_READ_WRITE, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_true(is_open(fd));
	close(fd);
	cl_end(&cl);
}

/* The same where the memory says that it is a dma-buf: the CPU's accesses are bracketed. */
static void dma_buf(void **state)
{
	int fd = new_memory();
	uint8_t *outside = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct cl cl;

	assert_true(outside != MAP_FAILED);
	begin(&cl);
	fake = (struct fake){ .fd = fd, .interrupt = true };
	check_shared(&cl, fd, outside);
	assert_int_equal(fake.syncs, 2);
	assert_int_equal(fake.flags[0], DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW);
	assert_int_equal(fake.flags[1], DMA_BUF_SYNC_END | DMA_BUF_SYNC_RW);
	fake.fd = -1;
	munmap(outside, BYTES);
	cl_end(&cl);
}

/* A real NPU's own memory, as its driver exports it. */
static void dma_buf_of_driver(void **state)
{
	struct drm_nvdla_bo_create create = { .size = BYTES };
	char path[64];
	uint8_t *outside;
	int node, fd = -1;
	struct cl cl;

	snprintf(path, sizeof(path), "/dev/accel/%s", cl_npu_name());
	node = open(path, O_RDWR | O_CLOEXEC);
	assert_true(node >= 0);
	assert_int_equal(drmIoctl(node, DRM_IOCTL_NVDLA_BO_CREATE, &create), 0);
	assert_int_equal(drmPrimeHandleToFD(node, create.handle, DRM_CLOEXEC | DRM_RDWR, &fd), 0);
	close(node);
	outside = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(outside != MAP_FAILED);
	begin(&cl);
	check_shared(&cl, fd, outside);
	munmap(outside, BYTES);
	cl_end(&cl);
}

/* A dma-buf whose exporter fails: the event says so. */
static void dma_buf_fails(void **state)
{
	cl_event event;
	struct cl cl;
	cl_int error;
	cl_mem mem;
	int fd = new_memory();

	begin(&cl);
	fake = (struct fake){ .fd = fd, .fails = true };
	mem = import(&cl, fd, BYTES, 0, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(acquire(cl.queue, 1, &mem, 0, NULL, &event), CL_SUCCESS);
	assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
	assert_int_equal(cl_event_status(event), CL_OUT_OF_RESOURCES);
	assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	fake.fd = -1;
	cl_end(&cl);
}

/* A list of devices among the properties comes back as it was given. */
static void devices(void **state)
{
	cl_mem_properties properties[8] = { CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, 0,
					    CL_MEM_DEVICE_HANDLE_LIST_KHR };
	cl_mem_properties told[8];
	struct cl cl;
	size_t size;
	cl_int error;
	cl_mem mem;
	int fd = new_memory();

	begin(&cl);
	properties[1] = (cl_mem_properties)fd;
	properties[3] = (cl_mem_properties)(uintptr_t)cl.context;
	assert_null(clCreateBufferWithProperties(cl.context, properties, 0, BYTES, NULL, &error));
	assert_int_equal(error, CL_INVALID_DEVICE);
	assert_true(is_open(fd));
	properties[3] = (cl_mem_properties)(uintptr_t)cl.device;
	mem = clCreateBufferWithProperties(cl.context, properties, 0, BYTES, NULL, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(clGetMemObjectInfo(mem, CL_MEM_PROPERTIES, sizeof(told), told, &size),
			 CL_SUCCESS);
	assert_int_equal(size, 6 * sizeof(told[0]));
	assert_memory_equal(told, properties, size);
	assert_int_equal(acquire(cl.queue, 1, &mem, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(release(cl.queue, 1, &mem, 0, NULL, NULL), CL_SUCCESS);
	/* Released before the commands have run: they hold it. */
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	cl_end(&cl);
	assert_false(is_open(fd));
}

static void import_errors(void **state)
{
	cl_mem_properties twice[] = { CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, 0,
				      CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, 0, 0 };
	cl_mem_properties alone[] = { CL_MEM_DEVICE_HANDLE_LIST_KHR, 0, 0, 0 };
	int fd = new_memory(), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct cl cl;
	cl_int error;

	begin(&cl);
	twice[1] = twice[3] = (cl_mem_properties)fd;
	alone[1] = (cl_mem_properties)(uintptr_t)cl.device;
	assert_null(clCreateBufferWithProperties(cl.context, twice, 0, BYTES, NULL, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(clCreateBufferWithProperties(cl.context, alone, 0, BYTES, NULL, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(import(&cl, -1, BYTES, 0, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(import(&cl, 4711, BYTES, 0, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(import(&cl, file, 64, 0, &error));
	assert_int_equal(error, CL_INVALID_PROPERTY);
	assert_null(import(&cl, fd, BYTES + 1, 0, &error));
	assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
	assert_null(import(&cl, fd, BYTES, CL_MEM_ALLOC_HOST_PTR, &error));
	assert_int_equal(error, CL_INVALID_VALUE);
	assert_true(is_open(fd) && is_open(file));
	close(fd);
	close(file);
	cl_end(&cl);
}

static void hand_over_errors(void **state)
{
	struct cl cl;
	cl_int error;
	cl_mem mem, plain, part;
	cl_buffer_region region = { 0, 4096 };

	begin(&cl);
	plain = cl_buffer(&cl, 64, NULL);
	mem = import(&cl, new_memory(), BYTES, 0, &error);
	assert_int_equal(error, CL_SUCCESS);
	part = clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
	assert_int_equal(error, CL_SUCCESS);
	assert_int_equal(acquire(NULL, 1, &mem, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
	assert_int_equal(acquire(cl.queue, 1, &plain, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	assert_int_equal(acquire(cl.queue, 1, &part, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
	assert_int_equal(acquire(cl.queue, 0, &mem, 0, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(acquire(cl.queue, 1, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
	assert_int_equal(release(cl.queue, 1, &mem, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
	assert_int_equal(acquire(cl.queue, 0, NULL, 0, NULL, NULL), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(part), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(mem), CL_SUCCESS);
	assert_int_equal(clReleaseMemObject(plain), CL_SUCCESS);
	cl_end(&cl);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memfd),
		cmocka_unit_test(dma_buf),
		cmocka_unit_test(cannot_shrink),
		cmocka_unit_test(dma_buf_fails),
		cmocka_unit_test(devices),
		cmocka_unit_test(import_errors),
		cmocka_unit_test(hand_over_errors),
	};
	const struct CMUnitTest on_driver[] = { cmocka_unit_test(dma_buf_of_driver) };
	int failed = cmocka_run_group_tests_name("opencl_external_memory", tests, NULL, NULL);

	if (test_device_is_given())
		failed += cmocka_run_group_tests_name("opencl_external_memory_driver", on_driver,
						      NULL, NULL);
	return failed;
}
