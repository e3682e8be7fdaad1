// SPDX-License-Identifier: MIT
/*
 * A real NPU: opening, budget and memory through the kernel driver's DRM
 * interface (uapi/drm/nvdla_accel.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "device_drm.h"
#include "netlink.h"
#include "nvdla_chain.h"

int npu_drm_call(const struct npu_drm *drm, unsigned long request, void *argument)
{
	return drmIoctl(drm->fd, request, argument) ? -errno : 0;
}

static int query(const struct npu_drm *drm, u32 type, void *answer, u32 size)
{
	struct drm_nvdla_dev_query query = {
		.type = type,
		.size = size,
		.pointer = (uintptr_t)answer,
	};
	int err = npu_drm_call(drm, DRM_IOCTL_NVDLA_DEV_QUERY, &query);

	return err ? npu_fail(err, "%s: the driver does not answer: %s", drm->base.name,
			      strerror(-err))
		   : 0;
}

/* ---- opening ---- */

static void drm_destroy(struct npu_device *device)
{
	struct npu_drm *drm = to_npu_drm(device);

	npu_drm_free_slots(drm);
	if (drm->fd >= 0)
		close(drm->fd);
	pthread_cond_destroy(&drm->slot_free);
	pthread_mutex_destroy(&drm->lock);
	pthread_mutex_destroy(&drm->turn);
	free(drm);
}

/* Is what the driver says of the device what the configuration of that name has? */
static bool same_geometry(const struct drm_nvdla_device_info *info,
			  const struct nvdla_config *config)
{
	return info->banks == config->banks && info->entries_per_bank == config->entries &&
	       info->entry_bytes == config->entry_bytes && info->atomic_c == config->atomic_c &&
	       info->atomic_k == config->atomic_k && info->atom_bytes == config->atom;
}

static int identify(struct npu_drm *drm)
{
	struct drm_nvdla_device_info info = { 0 };
	int err = query(drm, DRM_NVDLA_QUERY_DEVICE, &info, sizeof(info));

	if (err)
		return err;
	info.config[sizeof(info.config) - 1] = '\0';
	drm->base.config = nvdla_config_find((const char *)info.config);
	if (!drm->base.config)
		return npu_fail(-ENOTSUP, "%s: this library does not know the configuration \"%s\"",
				drm->base.name, (const char *)info.config);
	if (!same_geometry(&info, drm->base.config))
		return npu_fail(-ENOTSUP, "%s: driver and library differ in what %s is",
				drm->base.name, drm->base.config->name);
	if (info.chain_version < NVDLA_CHAIN_VERSION)
		return npu_fail(-ENOTSUP,
				"%s: the driver takes chains of version %u, this library makes %d",
				drm->base.name, info.chain_version, NVDLA_CHAIN_VERSION);
	drm->base.sram_bytes = info.sram_bytes;
	return 0;
}

static int read_limits(struct npu_drm *drm)
{
	struct drm_nvdla_limits limits = { 0 };
	int err = query(drm, DRM_NVDLA_QUERY_LIMITS, &limits, sizeof(limits));

	drm->base.region_bytes = limits.bo_bytes;
	drm->base.max_jobs = max(min(limits.jobs_per_submit, (u32)NPU_DRM_SLOTS), 1u);
	return err;
}

static const struct npu_device_ops drm_ops;

static int drm_open(const char *name, struct npu_device **device)
{
	struct npu_drm *drm = calloc(1, sizeof(*drm));
	int err;

	if (!drm)
		return npu_fail(-ENOMEM, "%s: out of memory", name);
	drm->base.ops = &drm_ops;
	drm->priority = drm->kernel_priority = NPU_PRIORITY_NORMAL;
	atomic_init(&drm->base.references, 1);
	pthread_mutex_init(&drm->turn, NULL);
	pthread_mutex_init(&drm->lock, NULL);
	pthread_cond_init(&drm->slot_free, NULL);
	drm->fd = npu_drm_open_node(name, &drm->number);
	err = min(drm->fd, 0);
	snprintf(drm->base.name, sizeof(drm->base.name), "accel%u", drm->number);
	if (!err)
		err = identify(drm);
	if (!err)
		err = read_limits(drm);
	npu_drm_pci_address(drm->number, &drm->base.pci);
	if (err) {
		drm_destroy(&drm->base);
		return err;
	}
	*device = &drm->base;
	return 0;
}

/* ---- budget ---- */

static int read_budget(struct npu_device *device, struct drm_nvdla_budget *budget)
{
	memset(budget, 0, sizeof(*budget));
	return query(to_npu_drm(device), DRM_NVDLA_QUERY_BUDGET, budget, sizeof(*budget));
}

static int drm_budget(struct npu_device *device, struct npu_device_budget *out)
{
	struct drm_nvdla_budget budget;
	int err = read_budget(device, &budget);

	if (err)
		return err;
	out->banks_total = budget.banks_total;
	out->banks_cap = budget.banks_limit;
	out->banks_reserved = budget.banks_reserved;
	out->banks_available = budget.banks_available;
	out->banks_usable = budget.banks_usable;
	out->sram_bytes = budget.sram_available;
	out->generation = budget.generation;
	return 0;
}

#define FIRST_LOOK_MS 10 /* without netlink: how soon to look again at first, */
#define LAST_LOOK_MS 500 /* and in the end */
#define LISTENING_MS \
	10000 /* with netlink: a look from time to time tells that the device is gone */

/* Milliseconds to @deadline_ns, at most @most. */
static int left_ms(u64 deadline_ns, int most)
{
	u64 now = npu_now_ns(), left;

	if (now >= deadline_ns)
		return 0;
	left = (deadline_ns - now + 999999) / 1000000;
	return left < (u64)most ? (int)left : most;
}

static int drm_budget_wait(struct npu_device *device, u64 generation, int timeout_ms)
{
	u64 deadline = timeout_ms < 0 ? UINT64_MAX : npu_now_ns() + (u64)timeout_ms * 1000000;
	struct nl_sock *sock = npu_netlink_listen();
	int look_ms = sock ? LISTENING_MS : FIRST_LOOK_MS, err, ms;
	struct drm_nvdla_budget now;

	for (;;) {
		err = read_budget(device, &now);
		if (err || now.generation != generation)
			break;
		ms = left_ms(deadline, look_ms);
		if (!ms) {
			err = -ETIMEDOUT;
			break;
		}
		npu_netlink_sleep(sock, ms);
		if (!sock)
			look_ms = min(2 * look_ms, LAST_LOOK_MS);
	}
	npu_netlink_close(sock);
	return err;
}

static int drm_reserve(struct npu_device *device, u32 banks)
{
	struct drm_nvdla_reserve reserve = { .banks = banks };
	int err = npu_drm_call(to_npu_drm(device), DRM_IOCTL_NVDLA_RESERVE, &reserve);

	if (err == -ENOSPC)
		return npu_fail(err, "%s: fewer than %u banks are available", device->name, banks);
	if (err == -EDQUOT)
		return npu_fail(-ENOSPC, "%s: %u banks are more than the cgroup's dmem.max allows",
				device->name, banks);
	return err ? npu_fail(err, "%s: cannot reserve %u banks: %s", device->name, banks,
			      strerror(-err))
		   : 0;
}

_Static_assert((int)NPU_PRIORITY_LOW == (int)DRM_NVDLA_PRIORITY_LOW &&
		       (int)NPU_PRIORITY_NORMAL == (int)DRM_NVDLA_PRIORITY_NORMAL &&
		       (int)NPU_PRIORITY_HIGH == (int)DRM_NVDLA_PRIORITY_HIGH,
	       "enum npu_priority and enum drm_nvdla_priority differ");

int npu_drm_tell_priority(struct npu_drm *drm, enum npu_priority priority)
{
	struct drm_nvdla_context context = {
		.op = DRM_NVDLA_CONTEXT_SET,
		.param = DRM_NVDLA_CONTEXT_PRIORITY,
		.value = priority,
	};
	int err;

	if (drm->kernel_priority == priority)
		return 0;
	err = npu_drm_call(drm, DRM_IOCTL_NVDLA_CONTEXT, &context);
	if (!err)
		drm->kernel_priority = priority;
	return err;
}

static int drm_set_priority(struct npu_device *device, enum npu_priority priority)
{
	struct npu_drm *drm = to_npu_drm(device);
	int err;

	pthread_mutex_lock(&drm->lock);
	err = npu_drm_tell_priority(drm, priority);
	if (!err)
		drm->priority = priority;
	pthread_mutex_unlock(&drm->lock);
	if (err == -EACCES)
		return npu_fail(err, "%s: high priority asks for CAP_SYS_NICE", device->name);
	return err ? npu_fail(err, "%s: cannot set the priority: %s", device->name, strerror(-err))
		   : 0;
}

static int drm_set_cap(struct npu_device *device, u32 banks)
{
	if (!banks || banks > device->config->banks)
		return npu_fail(-EINVAL, "%s: a cap of %u banks is not 1 to %u", device->name,
				banks, device->config->banks);
	return npu_netlink_set_limit(to_npu_drm(device)->number, banks);
}

/* The kernel tells a client its own reservation and the sum of all. */
static int drm_reservation(struct npu_device *device, unsigned index, struct npu_reservation *out)
{
	struct drm_nvdla_budget budget;
	struct npu_reservation known[2];
	unsigned count = 0;
	int err = read_budget(device, &budget);

	if (err)
		return err;
	if (budget.banks_own)
		known[count++] =
			(struct npu_reservation){ .pid = getpid(), .banks = budget.banks_own };
	if (budget.banks_reserved > budget.banks_own)
		known[count++] = (struct npu_reservation){ .banks = budget.banks_reserved -
								    budget.banks_own };
	if (index >= count)
		return -ENOENT;
	*out = known[index];
	return 0;
}

/* ---- memory ---- */

static void close_handle(const struct npu_drm *drm, u32 handle)
{
	drmCloseBufferHandle(drm->fd, handle);
}

static int map(const struct npu_drm *drm, struct npu_buffer *buffer, size_t bytes)
{
	struct drm_nvdla_bo_mmap_offset offset = { .handle = buffer->handle };
	int err = npu_drm_call(drm, DRM_IOCTL_NVDLA_BO_MMAP_OFFSET, &offset);

	if (err)
		return err;
	buffer->data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, drm->fd,
			    (off_t)offset.offset);
	if (buffer->data != MAP_FAILED)
		return 0;
	buffer->data = NULL;
	return -errno;
}

static int buffer_failed(struct npu_device *device, size_t bytes, int err)
{
	if (err == -EDQUOT)
		return npu_fail(err,
				"%s: a buffer of %zu bytes: this process has all the memory that "
				"the kernel allows it",
				device->name, bytes);
	if (err == -ENOMEM)
		return npu_fail(err,
				"%s: the kernel has no %zu bytes of memory in one piece (boot with "
				"cma=64M or an IOMMU for larger ones)",
				device->name, bytes);
	return npu_fail(err, "%s: no buffer of %zu bytes: %s", device->name, bytes, strerror(-err));
}

static int drm_buffer_create(struct npu_device *device, size_t bytes, enum npu_buffer_use use,
			     struct npu_buffer *buffer)
{
	struct npu_drm *drm = to_npu_drm(device);
	struct drm_nvdla_bo_create create = {
		.size = bytes ? bytes : 1,
		.flags = use == NPU_BUFFER_SHARED ? DRM_NVDLA_BO_CACHED : 0,
	};
	struct npu_buffer made = { .cached = use == NPU_BUFFER_SHARED };
	int err = npu_drm_call(drm, DRM_IOCTL_NVDLA_BO_CREATE, &create);

	if (err)
		return buffer_failed(device, bytes, err);
	made.handle = create.handle;
	made.bytes = (size_t)create.size;
	err = map(drm, &made, made.bytes);
	if (err) {
		close_handle(drm, made.handle);
		return npu_fail(err, "%s: cannot map a buffer of %zu bytes: %s", device->name,
				bytes, strerror(-err));
	}
	*buffer = made;
	return 0;
}

static void drm_buffer_destroy(struct npu_device *device, struct npu_buffer *buffer)
{
	munmap(buffer->data, buffer->bytes);
	close_handle(to_npu_drm(device), buffer->handle);
	*buffer = (struct npu_buffer){ 0 };
}

static const struct npu_device_ops drm_ops = {
	.destroy = drm_destroy,
	.budget = drm_budget,
	.budget_wait = drm_budget_wait,
	.reserve = drm_reserve,
	.set_priority = drm_set_priority,
	.set_cap = drm_set_cap,
	.reservation = drm_reservation,
	.buffer_create = drm_buffer_create,
	.buffer_destroy = drm_buffer_destroy,
	.chain_create = npu_drm_chain_create,
	.chain_destroy = npu_drm_chain_destroy,
	.submit = npu_drm_submit,
};

const struct npu_device_kind npu_device_drm = { { "accel", "/dev/accel/" },
						npu_drm_name,
						drm_open };
