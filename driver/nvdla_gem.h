/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffer objects: memory that is contiguous for the NPU, with or without an
 * IOMMU, made here or imported.
 */
#ifndef NVDLA_GEM_H
#define NVDLA_GEM_H

#include <drm/drm_gem.h>

#include <linux/list.h>
#include <linux/mutex.h>

struct nvdla_client;
struct nvdla_device;

/**
 * struct nvdla_gem - buffers of a device
 * @lock: protects the list and &nvdla_client.bo_bytes
 * @bos: struct nvdla_bo.node
 */
struct nvdla_gem {
	struct mutex lock; /* list and advice */
	struct list_head bos;
};

/**
 * struct nvdla_bo - a buffer object
 * @base: GEM object; its size is a multiple of pages
 * @node: in struct nvdla_gem.bos
 * @vaddr: kernel address; NULL where it is cached or imported
 * @dma_addr: what the NPU calls it, page aligned
 * @flags: DRM_NVDLA_BO_*
 * @sgt: its pages; where it is cached or imported they are mapped for the device, in one piece
 * @client: who is charged for it; NULL: an import whose handle is not yet made
 * @attached: devices that share it by its dma-buf; protected by its reservation
 * @stand_in: what mappings show when the memory is gone; NULL: nobody has looked
 *
 * When the device is taken away its memory goes too: @vaddr and @sgt are NULL from then on.
 */
struct nvdla_bo {
	struct drm_gem_object base;
	struct list_head node;
	void *vaddr;
	dma_addr_t dma_addr;
	u32 flags;
	struct sg_table *sgt;
	struct nvdla_client *client;
	u32 attached;
	struct page *stand_in;
};

static inline struct nvdla_bo *to_nvdla_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct nvdla_bo, base);
}

/**
 * nvdla_gem_init() - no buffers yet
 * @nvdla: its @has_iommu and @dev are set
 *
 * Return: 0 or a negative error.
 */
int nvdla_gem_init(struct nvdla_device *nvdla);

/* The largest buffer that is likely to be had in one piece, as long as nobody has tried. */
u64 nvdla_gem_advice(const struct nvdla_device *nvdla);

/**
 * nvdla_gem_revoke() - give back the memory of all buffers
 *
 * The device is unplugged and nothing runs on it.  Buffers live on without memory, until the last
 * who holds one lets it go.  What other devices use stays with them, and is lost.
 */
void nvdla_gem_revoke(struct nvdla_device *nvdla);

/* For struct drm_driver. */
struct drm_gem_object *nvdla_gem_prime_import(struct drm_device *drm, struct dma_buf *dmabuf);
struct drm_gem_object *nvdla_gem_prime_import_sg_table(struct drm_device *drm,
						       struct dma_buf_attachment *attach,
						       struct sg_table *sgt);

#endif /* NVDLA_GEM_H */
