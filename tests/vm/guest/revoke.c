// SPDX-License-Identifier: MIT
/*
 * The device goes while its buffers are mapped, exported, imported: their memory goes too, and who
 * touches it finds zeros that lead nowhere; all of it can be let go in any order afterwards.
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
#include <unistd.h>

#include "lib.h"
#include "plug.h"

#define BYTES (256u << 10)
#define MARK 0xa5

/* Is what hold() wrote still there, at the end and the beginning? */
static bool is_there(const u8 *data, u64 bytes)
{
	return data[0] == MARK && data[bytes - 1] == MARK;
}

/* It is not, and can be written all the same, which nobody else sees. */
static bool is_gone(u8 *data, const u8 *other)
{
	u64 i;

	for (i = 0; i < BYTES; i += 511)
		if (data[i])
			return false;
	memset(data, 0xee, BYTES);
	for (i = 0; i < BYTES; i += 511)
		if (other[i])
			return false;
	memset(data, 0, BYTES);
	return true;
}

/* Everything that can refer to a buffer's memory. */
struct holder {
	int fd;
	struct guest_bo plain, cached, exported;
	int dmabuf;
	void *dmabuf_data;
	int udmabuf;
	u8 *udmabuf_data;
	u32 import;
};

static int export_bo(int fd, u32 handle)
{
	struct drm_prime_handle prime = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int err = guest_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	return err ? err : prime.fd;
}

static int udmabuf_new(u8 **data)
{
	int mem = memfd_create("revoke", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), dmabuf;
	struct udmabuf_create create = { .memfd = (u32)mem, .size = 4096 };

	NEED(dev >= 0 && mem >= 0 && !ftruncate(mem, 4096), "udmabuf is there");
	*data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	NEED(*data != MAP_FAILED, "a page is mapped");
	**data = 1;
	fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK);
	dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	close(mem);
	return dmabuf;
}

static void hold(struct holder *h)
{
	struct drm_prime_handle prime = { 0 };

	h->fd = guest_open();
	NEED(!guest_bo_new(h->fd, BYTES, 0, &h->plain), "a buffer is made");
	NEED(!guest_bo_new(h->fd, BYTES, DRM_NVDLA_BO_CACHED, &h->cached), "a cached one");
	NEED(!guest_bo_new(h->fd, BYTES, 0, &h->exported), "one to be exported");
	h->dmabuf = export_bo(h->fd, h->exported.handle);
	NEED(h->dmabuf >= 0, "it is exported");
	h->dmabuf_data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, h->dmabuf, 0);
	NEED(h->dmabuf_data != MAP_FAILED, "and mapped through its file");
	h->udmabuf = udmabuf_new(&h->udmabuf_data);
	prime.fd = h->udmabuf;
	NEED(h->udmabuf >= 0 && !guest_ioctl(h->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime),
	     "another's is imported");
	h->import = prime.handle;
	memset(h->plain.data, MARK, BYTES);
	memset(h->cached.data, MARK, BYTES);
	memset(h->exported.data, MARK, BYTES);
	memset(h->udmabuf_data, MARK, 4096);
	NEED(is_there(h->dmabuf_data, BYTES), "both mappings show one memory");
}

static void check_gone(struct holder *h, const char *how)
{
	struct drm_nvdla_bo_create create = { .size = 4096 };
	struct guest_bo again = h->plain;
	int err;

	tap(is_gone(h->plain.data, h->cached.data), "%s: a mapped buffer is gone", how);
	tap(is_gone(h->cached.data, h->plain.data), "%s: a cached one too", how);
	tap(is_gone(h->exported.data, h->plain.data) && is_gone(h->dmabuf_data, h->plain.data),
	    "%s: an exported one by both of its mappings", how);
	tap(is_there(h->udmabuf_data, 4096), "%s: another's memory is not", how);
	err = guest_ioctl(h->fd, DRM_IOCTL_NVDLA_BO_CREATE, &create);
	tap(err == -ENODEV, "%s: no new buffer: %s", how, strerror(-err));
	err = guest_bo_map(h->fd, &again);
	tap(err < 0, "%s: no new mapping: %s", how, strerror(-err));
}

/* @order decides what goes first. */
static void let_go(struct holder *h, u32 order)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		switch ((i + order) % 4) {
		case 0:
			munmap(h->plain.data, BYTES);
			munmap(h->cached.data, BYTES);
			munmap(h->exported.data, BYTES);
			break;
		case 1:
			close(h->fd);
			break;
		case 2:
			munmap(h->dmabuf_data, BYTES);
			close(h->dmabuf);
			break;
		default:
			close(h->udmabuf);
			munmap(h->udmabuf_data, 4096);
		}
	}
}

int main(void)
{
	struct holder h;
	u32 order;

	for (order = 0; order < 4; order++) {
		hold(&h);
		NEED(!guest_unbind(), "the driver is unbound");
		check_gone(&h, "unbound");
		/* Both before and after the driver is back. */
		if (order & 1)
			let_go(&h, order);
		NEED(!guest_bind(), "the driver is bound");
		if (!(order & 1))
			let_go(&h, order);
		tap(guest_works_again(), "bound again: jobs are right");
	}
	for (order = 0; order < 4; order++) {
		hold(&h);
		NEED(!guest_remove(), "the device is removed");
		check_gone(&h, "removed");
		let_go(&h, order);
		NEED(!guest_rescan(), "the bus is looked at again");
		tap(guest_works_again(), "found again: jobs are right");
	}
	return tap_end();
}
