// SPDX-License-Identifier: MIT
/*
 * Memory that a 32-bit NPU does not reach: the kernel would copy it through a bounce buffer, and the
 * NPU would work on a copy.  Such imports are refused; a 64-bit NPU takes them.
 *
 * vm-test: kernel=packaged config=nv_small,nv_large memory=5120 timeout=120
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib.h"

#define PAGE 4096
#define LIMIT (1ull << 32) /* what 32 bits reach */
#define TRIES 4096

/* Where the kernel has put a page; 0: it does not tell. */
static u64 physical(const void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	u64 entry = 0;

	if (fd < 0 ||
	    pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)at / PAGE * 8)) != sizeof(entry))
		entry = 0;
	close(fd);
	return (entry & ((1ull << 55) - 1)) * PAGE;
}

/* A page beyond what 32 bits reach, as a dma-buf. */
static int high_page(void)
{
	struct udmabuf_create create = { .size = PAGE };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), dmabuf = -ENOENT;
	int mem = memfd_create("page", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	volatile u8 *data;
	u32 i;

	NEED(dev >= 0 && mem >= 0 && !ftruncate(mem, (off_t)TRIES * PAGE), "udmabuf is there");
	data = mmap(NULL, (size_t)TRIES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	NEED(data != MAP_FAILED, "memory");
	fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK);
	for (i = 0; i < TRIES && dmabuf < 0; i++) {
		data[i * PAGE] = 1;
		if (physical((const void *)&data[i * PAGE]) < LIMIT)
			continue;
		create.memfd = (u32)mem;
		create.offset = (u64)i * PAGE;
		dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	}
	munmap((void *)data, (size_t)TRIES * PAGE);
	close(mem);
	close(dev);
	return dmabuf;
}

static int import(int fd, int dmabuf)
{
	struct drm_prime_handle prime = { .fd = dmabuf };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	if (!err)
		guest_gem_close(fd, prime.handle);
	return err;
}

int main(void)
{
	int fd = guest_open(), dmabuf, err;
	bool reaches = guest_config(fd)->address_bits > 32;

	dmabuf = high_page();
	NEED(dmabuf >= 0, "a page above 4 GiB");
	err = import(fd, dmabuf);
	if (reaches)
		tap(!err, "64 address bits: it is imported: %s", strerror(-err));
	else
		tap(err == -EINVAL, "32 address bits: it is refused: %s", strerror(-err));
	close(dmabuf);
	return tap_end();
}
