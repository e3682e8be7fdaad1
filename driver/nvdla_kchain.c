// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <drm/drm_file.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "nvdla_client.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_kchain.h"
#include "nvdla_segment.h"

#define MESSAGE_BYTES 256

static void kchain_release(struct kref *ref)
{
	struct nvdla_kchain *kchain = container_of(ref, struct nvdla_kchain, ref);

	atomic64_sub(kchain->bytes, &kchain->client->chain_bytes);
	nvdla_client_put(kchain->client);
	kvfree(kchain->storage);
	kvfree(kchain->stream);
	kfree(kchain);
}

void nvdla_kchain_put(struct nvdla_kchain *kchain)
{
	kref_put(&kchain->ref, kchain_release);
}

struct nvdla_kchain *nvdla_kchain_find(struct nvdla_client *client, u32 handle)
{
	struct nvdla_kchain *kchain;

	xa_lock(&client->chains);
	kchain = xa_load(&client->chains, handle);
	if (kchain)
		kref_get(&kchain->ref);
	xa_unlock(&client->chains);
	return kchain;
}

void nvdla_kchain_drop_all(struct nvdla_client *client)
{
	struct nvdla_kchain *kchain;
	unsigned long handle;

	xa_for_each(&client->chains, handle, kchain)
		nvdla_kchain_put(kchain);
	xa_destroy(&client->chains);
}

/* Takes @bytes of the client's quota for the chain. */
static int charge(struct nvdla_kchain *kchain, u64 bytes)
{
	atomic64_t *sum = &kchain->client->chain_bytes;

	if (atomic64_add_return(bytes, sum) > NVDLA_MAX_CHAIN_BYTES) {
		atomic64_sub(bytes, sum);
		return -EDQUOT;
	}
	kchain->bytes += bytes;
	return 0;
}

static int copy_stream(struct nvdla_kchain *kchain, u64 pointer, u32 size)
{
	int ret = charge(kchain, size);

	if (ret)
		return ret;
	kchain->stream = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!kchain->stream)
		return -ENOMEM;
	return copy_from_user(kchain->stream, u64_to_user_ptr(pointer), size) ? -EFAULT : 0;
}

/*
 * There are no buffers in on-chip memory yet, and the second port reaches nothing else.
 */
static int check_ports(const struct nvdla_chain *chain, struct nvdla_chain_error *error)
{
	u32 i;

	for (i = 0; i < chain->region_count; i++) {
		if (!(chain->region[i].ports & NVDLA_REGION_SECOND_PORT))
			continue;
		*error = (struct nvdla_chain_error){
			.task = NVDLA_CHAIN_NO_TASK,
			.reg = NVDLA_CHAIN_NO_REG,
			.rule = "no region of on-chip memory",
			.value = i,
		};
		return -EOPNOTSUPP;
	}
	return 0;
}

static u32 count_segments(const struct nvdla_chain *chain)
{
	u32 task = 0, segments = 0;

	while (task < chain->task_count) {
		task += nvdla_chain_segment(chain, task);
		segments++;
	}
	return segments;
}

static int validate(struct nvdla_kchain *kchain, u32 size, struct nvdla_chain_error *error)
{
	size_t storage = nvdla_chain_storage_bytes(kchain->stream, size);
	int ret;

	if (storage) {
		ret = charge(kchain, storage);
		if (ret)
			return ret;
		kchain->storage = kvmalloc(storage, GFP_KERNEL_ACCOUNT);
		if (!kchain->storage)
			return -ENOMEM;
	}
	ret = nvdla_chain_validate(kchain->client->nvdla->config, kchain->stream, size,
				   kchain->storage, storage, &kchain->chain, error);
	if (!ret)
		ret = check_ports(&kchain->chain, error);
	if (!ret)
		kchain->segments = count_segments(&kchain->chain);
	return ret;
}

/* Tells user space, the administrator and the counters why a stream was refused. */
static void tell_refusal(struct nvdla_client *client, const struct drm_nvdla_chain_create *args,
			 const struct nvdla_chain_error *error)
{
	char text[MESSAGE_BYTES] = "";
	size_t size = min_t(size_t, args->message_size, sizeof(text));

	atomic64_inc(&client->nvdla->stats.refused_chains);
	nvdla_health_report(client->nvdla, NVDLA_HEALTH_KIND_REFUSED_CHAIN, client->pid,
			    error->task);
	if (!args->message || !size)
		return;
	nvdla_chain_error_text(error, text, size);
	/* The error number says most of it: an address that cannot be written changes nothing. */
	if (copy_to_user(u64_to_user_ptr(args->message), text, strlen(text) + 1))
		drm_dbg(&client->nvdla->drm, "no place for the message: %s\n", text);
}

static int make_kchain(struct nvdla_client *client, const struct drm_nvdla_chain_create *args,
		       struct nvdla_kchain **out)
{
	struct nvdla_chain_error error = {
		.task = NVDLA_CHAIN_NO_TASK,
		.reg = NVDLA_CHAIN_NO_REG,
		.rule = "bytes of a stream",
		.value = args->size,
		.limit = NVDLA_CHAIN_MAX_BYTES,
	};
	struct nvdla_kchain *kchain;
	int ret = -E2BIG;

	kchain = kzalloc(sizeof(*kchain), GFP_KERNEL_ACCOUNT);
	if (!kchain)
		return -ENOMEM;
	kref_init(&kchain->ref);
	kchain->client = nvdla_client_get(client);
	if (args->size <= NVDLA_CHAIN_MAX_BYTES) {
		ret = copy_stream(kchain, args->stream, args->size);
		if (!ret)
			ret = validate(kchain, args->size, &error);
	}
	if (ret == -EINVAL || ret == -EOPNOTSUPP || ret == -E2BIG)
		tell_refusal(client, args, &error);
	if (ret)
		nvdla_kchain_put(kchain);
	else
		*out = kchain;
	return ret;
}

static int tell_regions(const struct drm_nvdla_chain_create *args, const struct nvdla_chain *chain)
{
	u32 i, count = min(args->region_count, chain->region_count);
	int ret = 0;

	for (i = 0; args->regions && i < count && !ret; i++) {
		u64 to = args->regions + (u64)i * args->region_stride;
		const struct nvdla_chain_region *r = &chain->region[i];
		struct drm_nvdla_chain_region region = {
			.size = max(r->read_end, r->write_end),
			.read_start = r->read_start,
			.read_end = r->read_end,
			.write_start = r->write_start,
			.write_end = r->write_end,
		};

		ret = copy_struct_to_user(u64_to_user_ptr(to), args->region_stride, &region,
					  sizeof(region), NULL);
	}
	return ret;
}

int nvdla_ioctl_chain_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_client *client = file->driver_priv;
	struct drm_nvdla_chain_create *args = data;
	struct nvdla_kchain *kchain;
	u32 handle;
	int ret;

	if (args->flags || args->pad ||
	    (args->regions && (!args->region_stride || args->region_stride > PAGE_SIZE)))
		return -EINVAL;
	ret = make_kchain(client, args, &kchain);
	if (ret)
		return ret;
	ret = tell_regions(args, &kchain->chain);
	if (ret)
		goto put;
	/* From xa_alloc() on another thread may destroy the chain. */
	kref_get(&kchain->ref);
	ret = xa_alloc(&client->chains, &handle, kchain, XA_LIMIT(1, NVDLA_MAX_CHAINS),
		       GFP_KERNEL_ACCOUNT);
	if (ret) {
		ret = ret == -EBUSY ? -EDQUOT : ret;
		nvdla_kchain_put(kchain);
		goto put;
	}
	args->region_count = kchain->chain.region_count;
	args->handle = handle;
	args->banks = kchain->chain.banks;
	args->tasks = kchain->chain.task_count;
	args->segments = kchain->segments;
	args->sram_bytes = 0;

put:
	nvdla_kchain_put(kchain);
	return ret;
}

int nvdla_ioctl_chain_destroy(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct nvdla_client *client = file->driver_priv;
	struct drm_nvdla_chain_destroy *args = data;
	struct nvdla_kchain *kchain;

	if (args->pad)
		return -EINVAL;
	kchain = xa_erase(&client->chains, args->handle);
	if (!kchain)
		return -ENOENT;
	nvdla_kchain_put(kchain);
	return 0;
}
