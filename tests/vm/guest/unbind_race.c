// SPDX-License-Identifier: MIT
/*
 * The device goes while processes map its memory, use it, and import others' all the time: each mapping
 * shows zeros then, not memory that is somebody else's by now, and an import that was under way is the
 * exporter's still.
 *
 * vm-test: kernel=all iommu=both timeout=200
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib.h"
#include "plug.h"

#define PAGE 4096u
#define PAGES 4u /* of the buffer that is mapped */
#define MARK 0xa5
#define MAPPERS 6 /* processes: those of one could not map at the same time */
#define IMPORTERS 3
#define KEPT 64 /* latest mappings of each */
#define ROUNDS 8

/* How a process ends. */
enum { WELL, STALE_MAPPING, WRONG_ERROR };

/* What the processes share. */
struct common {
	_Atomic u32 mapped; /* mappings that were made and used */
	_Atomic u32 imported; /* buffers likewise */
	_Atomic bool unbound;
};

static u32 import_pages = 1; /* with an IOMMU many, whose mapping takes longer */

/* A mapping, of which one page is used now and the others are not. */
static u8 *map_one(int fd, off_t offset, u32 page)
{
	u8 *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (at != MAP_FAILED)
		at[page * PAGE] |= 0;
	return at;
}

static bool shows_zeros(const u8 *at)
{
	u32 i;

	for (i = 0; i < PAGES * PAGE; i += 512)
		if (at[i])
			return false;
	return true;
}

/* Maps until the device is gone. */
static int mapper(int fd, off_t offset, struct common *common)
{
	u8 *kept[KEPT] = { NULL }, *at;
	u32 i;

	for (i = 0;; i = (i + 1) % KEPT) {
		at = map_one(fd, offset, i % PAGES);
		if (at == MAP_FAILED)
			break;
		common->mapped++;
		if (kept[i])
			munmap(kept[i], PAGES * PAGE);
		kept[i] = at;
	}
	if (errno != ENODEV)
		return WRONG_ERROR;
	while (!common->unbound)
		guest_sleep_ms(1);
	for (i = 0; i < KEPT; i++)
		if (kept[i] && !shows_zeros(kept[i]))
			return STALE_MAPPING;
	return WELL;
}

static int udmabuf_new(void)
{
	int mem = memfd_create("race", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct udmabuf_create create = { .memfd = (u32)mem, .size = import_pages * PAGE };

	if (dev < 0 || mem < 0 || ftruncate(mem, (off_t)create.size) ||
	    fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	return ioctl(dev, UDMABUF_CREATE, &create);
}

/* Imports until the device is gone. */
static int importer(int fd, struct common *common)
{
	struct drm_prime_handle prime = { .fd = udmabuf_new() };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	while (!err) {
		common->imported++;
		guest_gem_close(fd, prime.handle);
		err = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	}
	return err == -ENODEV ? WELL : WRONG_ERROR;
}

static void start(int fd, off_t offset, struct common *common, pid_t *child)
{
	u32 i;

	for (i = 0; i < MAPPERS + IMPORTERS; i++) {
		child[i] = fork();
		NEED(child[i] >= 0, "a process is made");
		if (!child[i])
			_exit(i < MAPPERS ? mapper(fd, offset, common) : importer(fd, common));
	}
	for (i = 0; i < GUEST_WAIT_MS && (common->mapped < 8 * MAPPERS || common->imported < 8);
	     i++)
		guest_sleep_ms(1);
	NEED(common->mapped && common->imported, "buffers are mapped and imported");
}

/* How many ended in each way. */
static void finish(const pid_t *child, u32 *ends)
{
	int i, status;

	for (i = 0; i < MAPPERS + IMPORTERS; i++) {
		NEED(waitpid(child[i], &status, 0) == child[i] && WIFEXITED(status),
		     "a process ends by itself");
		ends[WEXITSTATUS(status)]++;
	}
}

static void one_round(struct common *common, u32 *ends)
{
	struct drm_nvdla_bo_mmap_offset map = { 0 };
	pid_t child[MAPPERS + IMPORTERS];
	int fd = guest_open();
	struct guest_bo bo;

	*common = (struct common){ 0 };
	NEED(!guest_bo_new(fd, PAGES * PAGE, 0, &bo), "a buffer is made");
	memset(bo.data, MARK, PAGES * PAGE);
	map.handle = bo.handle;
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &map), "it has an offset");
	start(fd, (off_t)map.offset, common, child);
	NEED(!guest_unbind(), "the driver is unbound");
	common->unbound = true;
	finish(child, ends);
	ends[STALE_MAPPING] += !shows_zeros(bo.data);
	guest_bo_free(fd, &bo);
	close(fd);
	NEED(!guest_bind() && guest_node_wait(true), "the driver is bound");
}

int main(void)
{
	struct common *common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	u32 ends[256] = { 0 }, round;

	NEED(common != MAP_FAILED, "memory");
	NEED(guest_device_name(), "a driver is bound");
	if (strcmp(getenv("NPU_VM_IOMMU"), "no"))
		import_pages = 512;
	for (round = 0; round < ROUNDS; round++)
		one_round(common, ends);
	tap(ends[WELL] == ROUNDS * (MAPPERS + IMPORTERS), "%u processes see the device go well",
	    ends[WELL]);
	tap(!ends[STALE_MAPPING], "%u have a mapping of what was given back", ends[STALE_MAPPING]);
	tap(!ends[WRONG_ERROR], "%u were refused for another reason", ends[WRONG_ERROR]);
	tap(guest_works_again(), "bound again: jobs are right");
	return tap_end();
}
