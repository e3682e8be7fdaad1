/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffer objects: memory that is contiguous for the NPU, with or without an
 * IOMMU, made here or imported.
 */
#ifndef NVDLA_GEM_H
#define NVDLA_GEM_H

#include <drm/drm_gem.h>

struct nvdla_client;

/**
 * struct nvdla_bo - a buffer object
 * @base: GEM object; its size is a multiple of pages
 * @vaddr: kernel address of memory made here; NULL for imports
 * @dma_addr: what the NPU calls it, page aligned
 * @flags: DRM_NVDLA_BO_*
 * @sgt: scatter list of an import, one piece for the device; else NULL
 * @client: who is charged for it; a reference
 */
struct nvdla_bo {
	struct drm_gem_object base;
	void *vaddr;
	dma_addr_t dma_addr;
	u32 flags;
	struct sg_table *sgt;
	struct nvdla_client *client;
};

static inline struct nvdla_bo *to_nvdla_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct nvdla_bo, base);
}

/* For struct drm_driver. */
struct drm_gem_object *nvdla_gem_prime_import_sg_table(struct drm_device *drm,
						       struct dma_buf_attachment *attach,
						       struct sg_table *sgt);

/**
 * nvdla_gem_bo_bytes() - the largest buffer that is likely to be had in one piece
 *
 * Advice: memory may be fragmented.
 */
u64 nvdla_gem_bo_bytes(struct drm_device *drm);

#endif /* NVDLA_GEM_H */
