// SPDX-License-Identifier: MIT
/*
 * Buffers: zeroed, mapped, cached and not, shared between files and with other exporters.
 *
 * vm-test: kernel=all iommu=both timeout=200
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"

#define MIB (1u << 20)

static int fd;

/* Memory that others have written before is not seen. */
static void check_zeroed(void)
{
	struct guest_bo bo[8];
	u32 round, i, k, dirty = 0, made = 0;

	for (round = 0; round < 4; round++) {
		for (i = 0; i < 8; i++) {
			if (guest_bo_new(fd, MIB / 4, i & 1 ? DRM_NVDLA_BO_CACHED : 0, &bo[i]))
				continue;
			made++;
			for (k = 0; k < MIB / 4; k += 8)
				dirty += *(u64 *)((u8 *)bo[i].data + k) != 0;
			memset(bo[i].data, 0xdd, MIB / 4);
		}
		for (i = 0; i < 8; i++)
			guest_bo_free(fd, &bo[i]);
	}
	tap(made == 32 && !dirty, "%u buffers are zeroed", made);
}

static void check_sizes(void)
{
	struct drm_nvdla_limits limits = { 0 };
	struct guest_bo bo;
	u64 at;
	int err;

	NEED(!guest_query(fd, DRM_NVDLA_QUERY_LIMITS, &limits, sizeof(limits)),
	     "the limits are told");
	err = guest_bo_new(fd, 5000, 0, &bo);
	tap(!err && bo.size == 8192, "5000 bytes become %llu", (unsigned long long)bo.size);
	guest_bo_free(fd, &bo);
	tap(limits.bo_bytes >= MIB, "a buffer of %llu bytes is promised",
	    (unsigned long long)limits.bo_bytes);
	for (at = limits.bo_bytes; at > MIB; at /= 2) {
		err = guest_bo_new(fd, at, 0, &bo);
		if (!err)
			break;
	}
	tap(!err && at >= limits.bo_bytes / 2, "%llu bytes in one piece are there: %s",
	    (unsigned long long)at, strerror(-err));
	((u8 *)bo.data)[bo.size - 1] = 1;
	guest_bo_free(fd, &bo);
	err = guest_bo_new(fd, limits.pinned_bytes + 4096, 0, &bo);
	tap(err == -EDQUOT || err == -ENOMEM, "more than a client may have: %s", strerror(-err));
}

static void check_mapping(void)
{
	struct drm_nvdla_bo_mmap_offset map = { 0 };
	struct guest_bo bo;
	int fd2 = guest_open();
	void *at;

	NEED(!guest_bo_new(fd, 8192, 0, &bo), "a buffer is made");
	map.handle = bo.handle;
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &map), "its offset is told");
	at = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd2, (off_t)map.offset);
	tap(at == MAP_FAILED, "another file cannot map it");
	at = mmap(NULL, 16384, PROT_READ, MAP_SHARED, fd, (off_t)map.offset);
	tap(at == MAP_FAILED, "no more than there is");
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)map.offset + 4096);
	tap(at == MAP_FAILED, "nor from the middle");
	at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	tap(at == MAP_FAILED, "nor anything at offset 0");
	at = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_SHARED, fd, (off_t)map.offset);
	if (at != MAP_FAILED)
		munmap(at, 8192);
	memset(bo.data, 0x77, 8192);
	guest_gem_close(fd, bo.handle);
	tap(((u8 *)bo.data)[8191] == 0x77, "a mapping outlives its handle");
	close(fd2);
	fd2 = guest_open();
	munmap(bo.data, 8192);
	NEED(!guest_bo_new(fd2, 8192, 0, &bo), "a buffer is made");
	close(fd2);
	memset(bo.data, 0x66, 8192);
	tap(((u8 *)bo.data)[4096] == 0x66, "and its file");
	munmap(bo.data, 8192);
}

static void check_cached(void)
{
	static const struct guest_work_shape shape = { .tasks = 3,
						       .bo_flags = DRM_NVDLA_BO_CACHED };
	struct guest_work work;
	struct drm_nvdla_job job;
	u32 i, right = 0;
	int err;

	guest_work_new(fd, &shape, &work);
	for (i = 0; i < 10; i++)
		right += guest_work_run(&work, i);
	tap(right == 10, "cached buffers with BO_SYNC: %u of 10 runs right", right);
	job = guest_work_job(&work);
	job.result = work.bo[TASK_INPUT].handle;
	err = guest_submit(fd, &job, 1, NULL);
	tap(err == -EINVAL, "a result in a cached buffer is refused: %s", strerror(-err));
	guest_work_free(&work);
}

static int export_bo(int from, u32 handle)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int err = guest_ioctl(from, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	return err ? err : prime.fd;
}

static int import_bo(int into, int dmabuf, u32 *handle)
{
	struct drm_prime_handle prime = { .fd = dmabuf };
	int err = guest_ioctl(into, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	*handle = prime.handle;
	return err;
}

/* The word that belongs at @page of a large buffer. */
static u32 page_word(u32 page)
{
	return page * 2654435761u + 1;
}

/* Where a word of page_word() is not: the first page, or @pages. */
static u32 first_wrong(const u8 *data, u32 first, u32 pages)
{
	u32 i;

	for (i = 0; i < pages; i++)
		if (*(const u32 *)(data + (u64)i * 4096) != page_word(first + i))
			break;
	return i;
}

/*
 * A buffer of several page tables: pages come as they are used, in whatever order and through whichever
 * mapping, which may show a part, lose a part or be moved.
 */
static void check_pages(u32 flags, const char *what)
{
	const u32 pages = 2 * MIB / 4096 + 37, part = 301;
	struct guest_bo bo;
	int dmabuf, status;
	u8 *at, *moved;
	pid_t child;
	u32 i;

	NEED(!guest_bo_new(fd, pages * 4096ull, flags, &bo), "a buffer is made");
	for (i = 0; i < pages; i++)
		*(u32 *)((u8 *)bo.data + (u64)(i * 211 % pages) * 4096) =
			page_word(i * 211 % pages);
	dmabuf = export_bo(fd, bo.handle);
	NEED(dmabuf >= 0, "it is exported");
	at = mmap(NULL, (pages - part) * 4096ul, PROT_READ, MAP_SHARED, dmabuf, part * 4096l);
	NEED(at != MAP_FAILED, "a part is mapped: %s", strerror(errno));
	i = first_wrong(at, part, pages - part);
	tap(i == pages - part, "%s: a part from page %u on: %u pages right", what, part, i);
	munmap(at + 5 * 4096, 7 * 4096);
	i = first_wrong(at + 12 * 4096, part + 12, pages - part - 12);
	tap(i == pages - part - 12, "%s: with a hole in it, %u pages right", what, i);
	child = fork();
	if (!child)
		_exit(first_wrong(bo.data, 0, pages) != pages);
	tap(child > 0 && waitpid(child, &status, 0) == child && !status, "%s: a child's", what);
	moved = mmap(NULL, pages * 4096ul, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(moved != MAP_FAILED, "addresses");
	moved = mremap(bo.data, pages * 4096ul, pages * 4096ul, MREMAP_MAYMOVE | MREMAP_FIXED,
		       moved);
	tap(moved != MAP_FAILED && first_wrong(moved, 0, pages) == pages, "%s: moved: %s", what,
	    strerror(errno));
	bo.data = moved;
	tap(mremap(moved, pages * 4096ul, (pages + 1) * 4096ul, MREMAP_MAYMOVE) == MAP_FAILED,
	    "%s: which does not grow", what);
	munmap(at, (pages - part) * 4096ul);
	close(dmabuf);
	guest_bo_free(fd, &bo);
}

/* One file's job reads what the other's has written, in a buffer that both have. */
static void check_sharing(void)
{
	static const struct guest_work_shape shape = { .tasks = 2 };
	struct guest_work work, other;
	int fd2 = guest_open(), dmabuf, err;
	u32 handle, again;

	guest_work_new(fd, &shape, &work);
	guest_work_new(fd2, &shape, &other);
	guest_work_fill(&work, 20);
	guest_work_fill(&other, 20);
	dmabuf = export_bo(fd, work.bo[TASK_OUTPUT].handle);
	NEED(dmabuf >= 0, "a buffer is exported: %s", strerror(-dmabuf));
	err = import_bo(fd2, dmabuf, &handle);
	tap(!err, "a buffer of another file is imported: %s", strerror(-err));
	tap(!import_bo(fd2, dmabuf, &again) && again == handle, "twice: the same handle");
	other.binding[TASK_OUTPUT] = work.binding[TASK_OUTPUT];
	other.binding[TASK_OUTPUT].handle = handle;
	err = guest_work_submit(&other);
	if (!err)
		err = guest_bo_wait(fd2, handle, 0, GUEST_WAIT_MS);
	tap(!err && guest_work_right(&work), "the other file's job writes it: %s", strerror(-err));
	guest_work_fill(&work, 20);
	guest_fault(NVDLA_PCI_FAULT_SLOW_TASKS, 150);
	err = guest_work_submit(&other);
	tap(!err && guest_bo_wait(fd, work.bo[TASK_OUTPUT].handle, 0, 0) == -ETIMEDOUT,
	    "this file sees the other's fence");
	err = guest_work_submit(&work);
	tap(!err && !guest_work_wait(&work, GUEST_WAIT_MS) && guest_work_right(&work),
	    "and its own job comes after");
	guest_fault(NVDLA_PCI_FAULT_NONE, 0);
	tap(((struct drm_nvdla_job_result *)other.result.data)->end_ns <=
		    ((struct drm_nvdla_job_result *)work.result.data)->start_ns,
	    "by the clock");
	close(dmabuf);
	guest_work_free(&other);
	close(fd2);
	tap(guest_work_run(&work, 21), "the exporter goes on when the importer is gone");
	guest_work_free(&work);
}

/* Who may only read can map, too: shared, and for reading. */
static void check_read_only(void)
{
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC };
	struct guest_bo bo;
	u8 *at;

	NEED(!guest_bo_new(fd, 8192, 0, &bo), "a buffer is made");
	memset(bo.data, 0x55, 8192);
	prime.handle = bo.handle;
	NEED(!guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime), "it is exported for reading");
	at = mmap(NULL, 8192, PROT_READ, MAP_SHARED, prime.fd, 0);
	tap(at != MAP_FAILED && at[8191] == 0x55, "a file for reading is mapped: %s",
	    strerror(errno));
	if (at != MAP_FAILED) {
		tap(mprotect(at, 8192, PROT_READ | PROT_WRITE), "which does not become writable");
		munmap(at, 8192);
	}
	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
	tap(at == MAP_FAILED, "nor is it mapped for writing");
	at = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, prime.fd, 0);
	tap(at == MAP_FAILED, "nor privately");
	close(prime.fd);
	guest_bo_free(fd, &bo);
}

/* The importer's buffer outlives the exporter's file. */
static void check_exporter_gone(void)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct guest_work work;
	struct guest_bo bo;
	int fd2 = guest_open(), dmabuf;
	u32 handle;

	guest_work_new(fd, &shape, &work);
	NEED(!guest_bo_new(fd2, work.region[TASK_OUTPUT].size, 0, &bo), "a buffer is made");
	dmabuf = export_bo(fd2, bo.handle);
	NEED(dmabuf >= 0 && !import_bo(fd, dmabuf, &handle), "and shared");
	close(dmabuf);
	close(fd2);
	guest_work_fill(&work, 22);
	memset(bo.data, 0, bo.size);
	work.binding[TASK_OUTPUT] = (struct drm_nvdla_binding){ .handle = handle, .size = bo.size };
	tap(!guest_work_submit(&work) && !guest_bo_wait(fd, handle, 0, GUEST_WAIT_MS),
	    "a job writes a buffer whose maker is gone");
	guest_bo_free(fd, &work.bo[TASK_OUTPUT]);
	work.bo[TASK_OUTPUT] = bo;
	tap(guest_work_right(&work), "and it is there");
	work.bo[TASK_OUTPUT] = (struct guest_bo){ 0 };
	munmap(bo.data, bo.size);
	guest_gem_close(fd, handle);
	guest_work_free(&work);
}

/* ---- other exporters ---- */

static int udmabuf_new(u32 pages, bool scattered, void **data)
{
	int mem = memfd_create("udmabuf", MFD_ALLOW_SEALING), dev, dmabuf;
	struct udmabuf_create_list *list;
	u32 i;

	dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (dev < 0)
		return -errno;
	NEED(mem >= 0 && !ftruncate(mem, pages * 4096l), "a memfd is made");
	*data = mmap(NULL, pages * 4096ul, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	NEED(*data != MAP_FAILED, "and mapped");
	/* Pages come in the order of their first use. */
	for (i = 0; i < pages; i++)
		((volatile u8 *)*data)[(scattered ? (i * 7 + 3) % pages : i) * 4096] = 0;
	fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK);
	list = calloc(1, sizeof(*list) + sizeof(list->list[0]));
	NEED(list, "memory");
	list->flags = UDMABUF_FLAGS_CLOEXEC;
	list->count = 1;
	list->list[0].memfd = (u32)mem;
	list->list[0].size = pages * 4096ull;
	dmabuf = ioctl(dev, UDMABUF_CREATE_LIST, list);
	if (dmabuf < 0)
		dmabuf = -errno;
	free(list);
	close(dev);
	close(mem);
	return dmabuf;
}

static int heap_new(u64 bytes, void **data)
{
	struct dma_heap_allocation_data heap = { .len = bytes, .fd_flags = O_RDWR | O_CLOEXEC };
	int dev = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC), err;

	if (dev < 0)
		return -errno;
	err = ioctl(dev, DMA_HEAP_IOCTL_ALLOC, &heap) ? -errno : 0;
	close(dev);
	if (err)
		return err;
	*data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (int)heap.fd, 0);
	NEED(*data != MAP_FAILED, "a heap's buffer is mapped");
	return (int)heap.fd;
}

/* @must: an import has to succeed; @may: it may. */
static void check_import(int dmabuf, void *data, u64 bytes, bool must, const char *what)
{
	static const struct guest_work_shape shape = { .tasks = 1 };
	struct drm_nvdla_bo_mmap_offset map = { 0 };
	struct guest_work work;
	u32 handle;
	int err;

	if (dmabuf < 0) {
		tap_skip(what, dmabuf == -ENOENT ? "this kernel has no such exporter"
						 : strerror(-dmabuf));
		return;
	}
	err = import_bo(fd, dmabuf, &handle);
	if (err) {
		tap(!must && err == -EINVAL, "%s is refused: %s", what, strerror(-err));
		goto out;
	}
	tap(true, "%s is imported", what);
	guest_work_new(fd, &shape, &work);
	guest_work_fill(&work, 23);
	work.binding[TASK_OUTPUT] = (struct drm_nvdla_binding){ .handle = handle, .size = bytes };
	err = guest_work_submit(&work);
	if (!err)
		err = guest_bo_wait(fd, handle, 0, GUEST_WAIT_MS);
	guest_bo_free(fd, &work.bo[TASK_OUTPUT]);
	work.bo[TASK_OUTPUT].data = data;
	/* The exporter's memory is the CPU's again by BO_SYNC on the import. */
	work.bo[TASK_OUTPUT].size = bytes;
	work.bo[TASK_OUTPUT].handle = handle;
	tap(!err && guest_work_right(&work), "%s: a job writes it: %s", what, strerror(-err));
	map.handle = handle;
	tap(guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &map) == -EINVAL,
	    "%s: is mapped through its exporter only", what);
	work.bo[TASK_OUTPUT] = (struct guest_bo){ 0 };
	guest_gem_close(fd, handle);
	guest_work_free(&work);
out:
	munmap(data, bytes);
	close(dmabuf);
}

static void check_exporters(void)
{
	struct drm_nvdla_device_info info = { 0 };
	void *data = NULL;
	bool iommu;
	u32 handle;
	int dmabuf, err;

	NEED(!guest_query(fd, DRM_NVDLA_QUERY_DEVICE, &info, sizeof(info)), "the device is told");
	iommu = info.features & DRM_NVDLA_FEATURE_IOMMU;
	printf("# %s IOMMU\n", iommu ? "with an" : "without");
	dmabuf = udmabuf_new(1, false, &data);
	check_import(dmabuf, data, 4096, true, "a page of udmabuf");
	dmabuf = udmabuf_new(64, true, &data);
	check_import(dmabuf, data, 64 * 4096, iommu, "64 scattered pages of udmabuf");
	dmabuf = heap_new(4096, &data);
	check_import(dmabuf, data, 4096, true, "a page of the system heap");
	dmabuf = heap_new(3 * MIB + 4096, &data);
	check_import(dmabuf, data, 3 * MIB + 4096, iommu, "three megabytes of the system heap");
	err = import_bo(fd, fd, &handle);
	tap(err < 0, "a file that is no dma-buf: %s", strerror(-err));
	err = import_bo(fd, -1, &handle);
	tap(err < 0, "no file at all: %s", strerror(-err));
}

int main(void)
{
	fd = guest_open();
	check_zeroed();
	check_sizes();
	check_mapping();
	check_cached();
	check_pages(0, "not cached");
	check_pages(DRM_NVDLA_BO_CACHED, "cached");
	check_sharing();
	check_read_only();
	check_exporter_gone();
	check_exporters();
	close(fd);
	return tap_end();
}
