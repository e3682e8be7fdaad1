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

#define PAGES 1024u
#define BYTES (PAGES * 4096)
#define MARK 0xa5
#define CGROUP "/sys/fs/cgroup"
#define SLACK \
	(BYTES / 4) /* what each processor holds of the group in advance, and this process's own */
#define FRAME_MASK ((1ull << 55) - 1) /* of /proc/self/pagemap */
#define BACK_FLAGS (1ull << 10 | 1ull << 12) /* of /proc/kpageflags: BUDDY, ANON */

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

/* One number of 8 bytes out of an array of the kernel's. */
static u64 number_at(const char *path, u64 index)
{
	u64 number = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	NEED(fd >= 0 && pread(fd, &number, sizeof(number), (off_t)(index * sizeof(number))) ==
				sizeof(number),
	     "%s is read", path);
	close(fd);
	return number;
}

/* A buffer and its page frames, which can be told where they are pages of their own: behind an IOMMU. */
struct shared {
	struct guest_bo bo;
	u64 frame[PAGES];
};

/* How many of its pages are in the page allocator's hands, or already somebody's memory. */
static u32 pages_back(const struct shared *s)
{
	u32 i, count = 0;

	for (i = 0; i < PAGES; i++)
		count += !!(number_at("/proc/kpageflags", s->frame[i]) & BACK_FLAGS);
	return count;
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

/* Makes a buffer that is left with a mapping only. */
static void make(int fd, int vgem, u32 flags, struct shared *s)
{
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	u32 i;

	NEED(!guest_bo_new(fd, BYTES, flags, &s->bo), "a buffer is made");
	memset(s->bo.data, MARK, BYTES);
	for (i = 0; i < PAGES; i++)
		s->frame[i] = number_at("/proc/self/pagemap", (uintptr_t)s->bo.data / 4096 + i) &
			      FRAME_MASK;
	NEED(s->frame[0], "its page frames are told");
	if (vgem >= 0) {
		prime.handle = s->bo.handle;
		NEED(!guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime) &&
			     !guest_ioctl(vgem, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime),
		     "another device attaches to it");
		close(prime.fd);
	}
	NEED(!guest_gem_close(fd, s->bo.handle), "its handle goes");
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
	static struct shared shared, own;
	const char *name = ways[way].name;
	u64 before, after;

	NEED(vgem >= 0, "another device is there");
	make(fd, vgem, flags, &shared);
	make(fd, -1, flags, &own);
	tap(!pages_back(&shared) && !pages_back(&own), "memory of both is in use");
	before = charged();
	NEED(!ways[way].go(), "the device is %s", name);
	after = charged();
	tap(before > after && is_about(before - after, BYTES),
	    "%s: what nobody else uses is given back: %llu bytes", name,
	    (unsigned long long)(before - after));
	tap(!pages_back(&shared), "%s: what another device uses is not given back", name);
	tap(((u8 *)shared.bo.data)[0] == 0 && ((u8 *)own.bo.data)[0] == 0,
	    "%s: this process sees neither", name);
	munmap(shared.bo.data, BYTES);
	munmap(own.bo.data, BYTES);
	close(vgem);
	close(fd);
	guest_sleep_ms(100);
	tap(!pages_back(&shared) && charged() + SLACK >= after,
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
