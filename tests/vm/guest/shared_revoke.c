// SPDX-License-Identifier: MIT
/*
 * Driver or device go while another device uses its buffers: that one's memory stays where it is, also
 * where nobody has a handle any more, and harms nobody when it is let go; what nobody else uses is given
 * back at once, as the memory cgroup to which all buffers are charged counts.
 *
 * vm-test: kernel=6.12 iommu=yes timeout=200 kmod=vgem
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include "lib.h"
#include "plug.h"

#define BYTES (4u << 20)
#define MARK 0xa5
#define CGROUP "/sys/fs/cgroup"
#define SLACK \
	(BYTES / 4) /* what each processor holds of the group in advance, and this process's own */

/* The node of the other driver. */
static int open_vgem(void)
{
	char path[32];
	u32 i;

	for (i = 0; i < 8; i++) {
		drmVersion *version;
		bool found;
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%u", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		version = fd < 0 ? NULL : drmGetVersion(fd);
		found = version && !strcmp(version->name, "vgem");
		drmFreeVersion(version);
		if (found)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* Bytes that are charged to this process's group. */
static u64 charged(void)
{
	char text[32];

	NEED(guest_file_read(CGROUP "/shared/memory.current", text, sizeof(text)) > 0,
	     "the group's memory is told");
	return strtoull(text, NULL, 10);
}

static bool is_about(u64 bytes, u64 want)
{
	return bytes + SLACK >= want && bytes <= want + SLACK;
}

/* Makes a buffer that is left with a mapping only, which is returned; @vgem: who attaches to it, or -1. */
static u8 *make(int fd, int vgem, u32 flags)
{
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	struct guest_bo bo;

	NEED(!guest_bo_new(fd, BYTES, flags, &bo), "a buffer is made");
	memset(bo.data, MARK, BYTES);
	if (vgem >= 0) {
		prime.handle = bo.handle;
		NEED(!guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) &&
			     !guest_ioctl(vgem, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime),
		     "another device attaches to it");
		close(prime.fd);
	}
	NEED(!guest_gem_close(fd, bo.handle), "its handle goes");
	return bo.data;
}

/* Ways to go and to come back. */
static const struct {
	const char *name;
	int (*go)(void);
	int (*come)(void);
} ways[] = {
	{ "unbound", guest_unbind, guest_bind },
	{ "removed", guest_remove, guest_rescan },
};

static void check(u32 way, u32 flags)
{
	int fd = guest_open(), vgem = open_vgem();
	const char *name = ways[way].name;
	u64 none = charged(), before, after;
	u8 *shared, *own;

	NEED(vgem >= 0, "another device is there");
	shared = make(fd, vgem, flags);
	own = make(fd, -1, flags);
	before = charged();
	tap(is_about(before - none, 2 * BYTES), "memory of both is in use: %llu bytes",
	    (unsigned long long)(before - none));
	NEED(!ways[way].go(), "the device is %s", name);
	after = charged();
	tap(before > after && is_about(before - after, BYTES),
	    "%s: what nobody else uses is given back, what another device uses is not: %llu bytes",
	    name, (unsigned long long)(before - after));
	tap(!shared[0] && !own[0], "%s: this process sees neither", name);
	munmap(shared, BYTES);
	munmap(own, BYTES);
	close(vgem);
	close(fd);
	guest_sleep_ms(100);
	tap(charged() + SLACK >= after,
	    "%s: the other device is done: nobody frees what is unknown now", name);
	NEED(!ways[way].come(), "the device is there again");
	tap(guest_works_again(), "%s: jobs are right afterwards", name);
}

int main(void)
{
	u32 way;

	NEED(!guest_file_write(CGROUP "/cgroup.subtree_control", "+memory") &&
		     !mkdir(CGROUP "/shared", 0755) &&
		     !guest_file_write(CGROUP "/shared/cgroup.procs", "0"),
	     "this process has a group of its own");
	for (way = 0; way < ARRAY_SIZE(ways); way++) {
		check(way, 0);
		check(way, DRM_NVDLA_BO_CACHED);
	}
	return tap_end();
}
