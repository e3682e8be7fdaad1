// SPDX-License-Identifier: MIT
/*
 * Fences outlive their driver: a sync_file and another's buffer keep a job's fence when its file is
 * closed.  The module stays as long as somebody may ask a fence of its own, or nobody does: letting go
 * of the fences harms nobody, and afterwards it can be unloaded.
 *
 * vm-test: kernel=all iommu=both
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib.h"

#define BYTES 4096

static int udmabuf_new(void)
{
	int mem = memfd_create("outlive", MFD_ALLOW_SEALING);
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), dmabuf;
	struct udmabuf_create create = { .memfd = (u32)mem, .size = BYTES };

	NEED(dev >= 0 && mem >= 0 && !ftruncate(mem, BYTES), "udmabuf is there");
	fcntl(mem, F_ADD_SEALS, F_SEAL_SHRINK);
	dmabuf = ioctl(dev, UDMABUF_CREATE, &create);
	NEED(dmabuf >= 0, "a buffer is made: %s", strerror(errno));
	close(dev);
	close(mem);
	return dmabuf;
}

/* What keeps a fence of a job when all that is the NPU's is closed. */
struct keepers {
	int sync_file, dmabuf;
};

static void keep_fence(struct keepers *k)
{
	static const struct guest_work_shape one = { .tasks = 1 };
	struct drm_prime_handle prime = { .fd = udmabuf_new() };
	struct guest_work work;
	int fd = guest_open();

	guest_work_new(fd, &one, &work);
	guest_work_fill(&work, 1);
	NEED(!guest_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime),
	     "another's buffer is imported");
	work.binding[TASK_OUTPUT] =
		(struct drm_nvdla_binding){ .handle = prime.handle, .size = BYTES };
	k->sync_file = guest_work_sync_file(&work);
	k->dmabuf = prime.fd;
	NEED(guest_sync_file_status(k->sync_file) == 1, "a job writes it");
	guest_gem_close(fd, prime.handle);
	guest_work_free(&work);
	close(fd);
}

static int unload(void)
{
	return syscall(SYS_delete_module, "nvdla", O_NONBLOCK) ? -errno : 0;
}

/* Fences are freed after a while. */
static int unload_at_last(void)
{
	int err = unload();
	u32 i;

	for (i = 0; i < GUEST_WAIT_MS / 10 && (err == -EAGAIN || err == -EBUSY); i++) {
		guest_sleep_ms(10);
		err = unload();
	}
	return err;
}

int main(void)
{
	struct sync_file_info info = { 0 };
	struct keepers k;
	int early, err;

	keep_fence(&k);
	guest_sleep_ms(500); /* the file is closed, and what it had is freed */
	early = unload();
	tap(!early || early == -EAGAIN, "the module goes, or stays for the fences: %s",
	    strerror(-early));
	err = ioctl(k.sync_file, SYNC_IOC_FILE_INFO, &info);
	tap(!err && info.status == 1, "the fence is still told of");
	close(k.sync_file);
	tap(!close(k.dmabuf), "the fences are let go");
	guest_sleep_ms(100);
	err = early ? unload_at_last() : 0;
	tap(!err, "the module is unloaded: %s", strerror(-err));
	return tap_end();
}
