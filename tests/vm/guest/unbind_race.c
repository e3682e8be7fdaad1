// SPDX-License-Identifier: MIT
/*
 * The device goes while processes map its memory and import others' all the time: a mapping that was under
 * way then shows zeros like all others, and not memory that is somebody else's by now; an import that was
 * under way is the exporter's still.
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

#define BYTES 16384
#define MARK 0xa5
#define MAPPERS 12 /* processes: those of one could not map at the same time */
#define IMPORTERS 4
#define KEPT 64 /* latest mappings of each */
#define ROUNDS 8

/* What the processes share. */
struct common {
	_Atomic u32 mapped; /* mappings that were made */
	_Atomic u32 imported; /* buffers likewise */
	_Atomic bool unbound;
};

static char slot[64];

static int to_driver(const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/nvdla/%s", file);
	return guest_file_write(path, slot);
}

/* Maps until the device is gone; ends with 1 where a mapping does not show zeros then. */
static void mapper(int fd, off_t offset, struct common *common)
{
	u8 *kept[KEPT] = { NULL }, *at;
	u32 i, stale = 0;

	for (i = 0;; i = (i + 1) % KEPT) {
		at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
		if (at == MAP_FAILED)
			break;
		common->mapped++;
		if (kept[i])
			munmap(kept[i], BYTES);
		kept[i] = at;
	}
	while (!common->unbound)
		guest_sleep_ms(1);
	for (i = 0; i < KEPT; i++)
		stale += kept[i] && kept[i][0];
	_exit(!!stale);
}

/* A buffer of one page, which is in one piece for every device. */
static int udmabuf_new(void)
{
	int mem = memfd_create("race", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct udmabuf_create create = { .memfd = (u32)mem, .size = 4096 };

	if (dev < 0 || mem < 0 || ftruncate(mem, 4096) || fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK))
		return -1;
	return ioctl(dev, UDMABUF_CREATE, &create);
}

/* Imports until the device is gone; ends with 1 where that is not why it ends. */
static void importer(int fd, struct common *common)
{
	struct drm_prime_handle prime = { .fd = udmabuf_new() };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	while (!err) {
		common->imported++;
		guest_gem_close(fd, prime.handle);
		err = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
	}
	_exit(err != -ENODEV);
}

/* Return: how many processes had a mapping that did not go, or ended otherwise than they should. */
static u32 one_round(struct common *common)
{
	struct guest_bo bo;
	struct drm_nvdla_bo_mmap_offset map = { 0 };
	pid_t child[MAPPERS + IMPORTERS];
	u32 i, stale = 0;
	int fd = guest_open(), status;

	*common = (struct common){ 0 };
	NEED(!guest_bo_new(fd, BYTES, 0, &bo), "a buffer is made");
	memset(bo.data, MARK, BYTES);
	map.handle = bo.handle;
	NEED(!guest_ioctl(fd, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &map), "it has an offset");
	for (i = 0; i < MAPPERS + IMPORTERS; i++) {
		child[i] = fork();
		if (!child[i] && i < MAPPERS)
			mapper(fd, (off_t)map.offset, common);
		if (!child[i])
			importer(fd, common);
		NEED(child[i] > 0, "a process is made");
	}
	for (i = 0; i < GUEST_WAIT_MS && (common->mapped < 8 * MAPPERS || common->imported < 8);
	     i++)
		guest_sleep_ms(1);
	NEED(common->mapped && common->imported, "buffers are mapped and imported");
	NEED(!to_driver("unbind"), "the driver is unbound");
	common->unbound = true;
	for (i = 0; i < MAPPERS + IMPORTERS; i++) {
		NEED(waitpid(child[i], &status, 0) == child[i], "a process ends");
		stale += status != 0;
	}
	stale += bo.data && *(u8 *)bo.data;
	guest_bo_free(fd, &bo);
	close(fd);
	NEED(!to_driver("bind"), "the driver is bound");
	return stale;
}

int main(void)
{
	struct common *common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	u32 round, stale = 0;

	NEED(common != MAP_FAILED, "memory");
	NEED(guest_pci_path(), "the device is on the bus");
	snprintf(slot, sizeof(slot), "%s", strrchr(guest_pci_path(), '/') + 1);
	for (round = 0; round < ROUNDS; round++) {
		stale += one_round(common);
		guest_sleep_ms(200);
	}
	tap(!stale, "no mapping is left when the device is gone: %u processes have one, or failed",
	    stale);
	return tap_end();
}
