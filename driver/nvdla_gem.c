// SPDX-License-Identifier: GPL-2.0-only
#include <linux/dma-buf.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/sched/signal.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_managed.h>
#include <drm/drm_prime.h>
#include <drm/drm_print.h>
#include <drm/drm_utils.h>
#include <drm/nvdla_accel.h>

#include "nvdla_client.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"

/* Memory that is not cached: on a coherent device an ordinary mapping all the same. */
#define NVDLA_BO_ATTRS (DMA_ATTR_WRITE_COMBINE | DMA_ATTR_NO_WARN)

/*
 * Charged to the memory cgroup.  Failure is ordinary, and nobody is killed for it: the caller asks
 * for smaller pieces.
 */
#define NVDLA_BO_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * Of a buffer that is synced, so many pieces between drm_dev_enter() and _exit().  One takes up to
 * 50 ms in an emulated machine with CONFIG_DMA_API_DEBUG, which looks for where the buffer begins
 * page by page.
 */
#define NVDLA_SYNC_PIECES 64

/* Without IOMMU and without an area set aside, the page allocator has no larger piece. */
#define NVDLA_LARGEST_BLOCK ((u64)PAGE_SIZE << MAX_PAGE_ORDER)

static struct nvdla_device *bo_device(const struct nvdla_bo *bo)
{
	return to_nvdla(bo->base.dev);
}

int nvdla_gem_init(struct nvdla_device *nvdla)
{
	struct nvdla_gem *gem = &nvdla->gem;

	INIT_LIST_HEAD(&gem->bos);
	return drmm_mutex_init(&nvdla->drm, &gem->lock);
}

u64 nvdla_gem_advice(const struct nvdla_device *nvdla)
{
	return nvdla->has_iommu ? NVDLA_MAX_PINNED_BYTES : NVDLA_LARGEST_BLOCK;
}

/* ---- memory ---- */

static int bo_alloc_cached(struct nvdla_bo *bo)
{
	struct device *dev = bo_device(bo)->dev;

	bo->sgt = dma_alloc_noncontiguous(dev, bo->base.size, DMA_BIDIRECTIONAL,
					  NVDLA_BO_GFP | __GFP_ZERO, 0);
	if (!bo->sgt)
		return -ENOMEM;
	/* The zeros may still be in the cache. */
	dma_sync_sgtable_for_device(dev, bo->sgt, DMA_BIDIRECTIONAL);
	bo->dma_addr = sg_dma_address(bo->sgt->sgl);
	return 0;
}

/* The pages that bo->vaddr is made of. */
static struct sg_table *uncached_pages(struct nvdla_bo *bo)
{
	struct sg_table *sgt __free(kfree) = kzalloc(sizeof(*sgt), GFP_KERNEL);
	int err;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	err = dma_get_sgtable_attrs(bo_device(bo)->dev, sgt, bo->vaddr, bo->dma_addr, bo->base.size,
				    NVDLA_BO_ATTRS);
	return err ? ERR_PTR(err) : no_free_ptr(sgt);
}

/* An error leaves what there is to bo_free_memory(). */
static int bo_alloc_uncached(struct nvdla_bo *bo)
{
	struct sg_table *sgt;

	bo->vaddr = dma_alloc_attrs(bo_device(bo)->dev, bo->base.size, &bo->dma_addr, NVDLA_BO_GFP,
				    NVDLA_BO_ATTRS);
	if (!bo->vaddr)
		return -ENOMEM;
	sgt = uncached_pages(bo);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	bo->sgt = sgt;
	return 0;
}

/* Only the list of the pages: uncached_pages() made it. */
static void bo_free_list(struct nvdla_bo *bo)
{
	if (!bo->sgt)
		return;
	sg_free_table(bo->sgt);
	kfree(bo->sgt);
}

/*
 * What was had once may be had again; what was not had: less is likely.  For this client: another
 * one's memory cgroup may have more.
 */
static void bo_learn(struct nvdla_bo *bo, int err)
{
	u64 *advice = &bo->client->bo_bytes;

	if (!err)
		*advice = max_t(u64, *advice, bo->base.size);
	else if (bo->base.size <= *advice)
		*advice = max_t(u64, rounddown_pow_of_two(bo->base.size) / 2, PAGE_SIZE);
}

static int bo_alloc(struct nvdla_bo *bo)
{
	struct nvdla_gem *gem = &bo_device(bo)->gem;
	int err;

	if (bo->flags & DRM_NVDLA_BO_CACHED)
		err = bo_alloc_cached(bo);
	else
		err = bo_alloc_uncached(bo);
	guard(mutex)(&gem->lock);
	bo_learn(bo, err);
	if (!err)
		list_add_tail(&bo->node, &gem->bos);
	return err;
}

/* Give back what bo_alloc() took or what an import mapped. */
static void bo_free_memory(struct nvdla_bo *bo)
{
	struct device *dev = bo_device(bo)->dev;

	if (bo->vaddr) {
		bo_free_list(bo);
		dma_free_attrs(dev, bo->base.size, bo->vaddr, bo->dma_addr, NVDLA_BO_ATTRS);
	} else if (bo->sgt && bo->base.import_attach) {
		dma_buf_unmap_attachment_unlocked(bo->base.import_attach, bo->sgt,
						  DMA_BIDIRECTIONAL);
	} else if (bo->sgt) {
		dma_free_noncontiguous(dev, bo->base.size, bo->sgt, DMA_BIDIRECTIONAL);
	}
	bo->vaddr = NULL;
	bo->sgt = NULL;
}

static void nvdla_bo_free(struct drm_gem_object *obj)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	bo_free_memory(bo);
	scoped_guard(mutex, &bo_device(bo)->gem.lock)
		list_del(&bo->node);
	if (obj->import_attach)
		drm_prime_gem_destroy(obj, NULL);
	if (bo->client)
		nvdla_client_uncharge(bo->client, obj->size);
	if (bo->stand_in)
		__free_page(bo->stand_in);
	drm_gem_object_release(obj);
	kfree(bo);
}

/*
 * DRM has unmapped it everywhere, and nvdla_bo_fault() does not map it any more.  What another
 * device uses stays there for ever: when that one is done, nobody can free it any more, for the DMA
 * API translates a device that was removed as if it had never had an IOMMU.
 */
static void bo_revoke(struct nvdla_bo *bo)
{
	struct drm_gem_object *obj = &bo->base;
	u32 attached;

	dma_resv_lock(obj->resv, NULL);
	attached = bo->attached;
	dma_resv_unlock(obj->resv);
	if (!attached) {
		bo_free_memory(bo);
		return;
	}
	drm_notice(obj->dev, "%zu bytes stay with another device\n", obj->size);
	if (bo->vaddr)
		bo_free_list(bo);
	bo->vaddr = NULL;
	bo->sgt = NULL;
}

/* The next buffer that lives, moved to @done, with a reference; NULL: no more. */
static struct nvdla_bo *take_bo(struct nvdla_gem *gem, struct list_head *done)
{
	struct nvdla_bo *bo, *next;

	guard(mutex)(&gem->lock);
	list_for_each_entry_safe(bo, next, &gem->bos, node) {
		list_move_tail(&bo->node, done);
		if (kref_get_unless_zero(&bo->base.refcount))
			return bo;
	}
	list_splice_init(done, &gem->bos);
	return NULL;
}

/* Is nvdla_bo_free() at work somewhere? */
static bool bo_dies(struct nvdla_gem *gem)
{
	struct nvdla_bo *bo;

	guard(mutex)(&gem->lock);
	list_for_each_entry(bo, &gem->bos, node)
		if (!kref_read(&bo->base.refcount))
			return true;
	return false;
}

void nvdla_gem_revoke(struct nvdla_device *nvdla)
{
	struct nvdla_bo *bo;
	LIST_HEAD(done);

	while ((bo = take_bo(&nvdla->gem, &done))) {
		bo_revoke(bo);
		drm_gem_object_put(&bo->base);
	}
	/* Rare and short: they give their memory back, too. */
	while (bo_dies(&nvdla->gem))
		schedule_timeout_uninterruptible(1);
}

/* ---- what GEM and PRIME call ---- */

/* An import is charged to who gets its first handle. */
static int nvdla_bo_open(struct drm_gem_object *obj, struct drm_file *file)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	int err;

	if (bo->client)
		return 0;
	err = nvdla_client_charge(file->driver_priv, obj->size);
	if (!err)
		bo->client = file->driver_priv;
	return err;
}

/* Another device comes to use it; the reservation is locked. */
static int nvdla_bo_pin(struct drm_gem_object *obj)
{
	to_nvdla_bo(obj)->attached++;
	return 0;
}

static void nvdla_bo_unpin(struct drm_gem_object *obj)
{
	to_nvdla_bo(obj)->attached--;
}

static enum drm_gem_object_status nvdla_bo_status(struct drm_gem_object *obj)
{
	return DRM_GEM_OBJECT_RESIDENT;
}

static struct sg_table *copy_pages(const struct sg_table *from)
{
	struct sg_table *sgt __free(kfree) = kzalloc(sizeof(*sgt), GFP_KERNEL);
	struct scatterlist *src, *dst;
	int i, err;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	err = sg_alloc_table(sgt, from->orig_nents, GFP_KERNEL);
	if (err)
		return ERR_PTR(err);
	dst = sgt->sgl;
	for_each_sgtable_sg(from, src, i) {
		sg_set_page(dst, sg_page(src), src->length, src->offset);
		dst = sg_next(dst);
	}
	return no_free_ptr(sgt);
}

static struct sg_table *nvdla_bo_get_sg_table(struct drm_gem_object *obj)
{
	struct sg_table *sgt;
	int cookie;

	if (!drm_dev_enter(obj->dev, &cookie))
		return ERR_PTR(-ENODEV);
	sgt = copy_pages(to_nvdla_bo(obj)->sgt);
	drm_dev_exit(cookie);
	return sgt;
}

/* Maps nothing yet: see nvdla_bo_fault(). */
static int nvdla_bo_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct nvdla_bo *bo = to_nvdla_bo(obj);

	/* A private copy would go on with what it found at first; one that is only read is none. */
	if (obj->import_attach || (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == VM_MAYWRITE)
		return -EINVAL;
	if (drm_dev_is_unplugged(obj->dev))
		return -ENODEV;
	vm_flags_set(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_page_prot = vm_get_page_prot(vma->vm_flags);
	/* As the DMA API has it for NVDLA_BO_ATTRS. */
	if (bo->vaddr && !dev_is_dma_coherent(bo_device(bo)->dev))
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return 0;
}

/* A page of zeros for this buffer alone, until it is freed. */
static struct page *bo_stand_in(struct nvdla_bo *bo)
{
	struct page *page = READ_ONCE(bo->stand_in), *before;

	if (page)
		return page;
	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return NULL;
	before = cmpxchg(&bo->stand_in, NULL, page);
	if (!before)
		return page;
	__free_page(page);
	return before;
}

static vm_fault_t bo_map_stand_in(struct nvdla_bo *bo, struct vm_fault *vmf)
{
	struct page *page = bo_stand_in(bo);

	return page ? vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(page)) : VM_FAULT_OOM;
}

/* From the fault on, what one page table holds: who uses a buffer uses it whole. */
static vm_fault_t bo_map_pages(struct nvdla_bo *bo, struct vm_fault *vmf)
{
	pgoff_t page = vmf->pgoff - drm_vma_node_start(&bo->base.vma_node);
	unsigned long at = vmf->address, end = pmd_addr_end(at, vmf->vma->vm_end);
	vm_fault_t ret = VM_FAULT_SIGBUS;
	struct sg_page_iter iter;

	for_each_sgtable_page(bo->sgt, &iter, page) {
		ret = vmf_insert_pfn(vmf->vma, at, page_to_pfn(sg_page_iter_page(&iter)));
		at += PAGE_SIZE;
		if (ret != VM_FAULT_NOPAGE || at == end)
			break;
	}
	return ret;
}

/*
 * Pages are mapped here, and not by mmap(), for here drm_dev_unplug() is safe to come before or
 * after: a mapping that is still being made is not yet where that looks for what it unmaps.
 *
 * Programs learn that the device went from their next call, not by a signal: until then they see a
 * page that leads nowhere.
 */
static vm_fault_t nvdla_bo_fault(struct vm_fault *vmf)
{
	struct drm_gem_object *obj = vmf->vma->vm_private_data;
	struct nvdla_bo *bo = to_nvdla_bo(obj);
	vm_fault_t ret;
	int cookie;

	if (!drm_dev_enter(obj->dev, &cookie))
		return bo_map_stand_in(bo, vmf);
	ret = bo_map_pages(bo, vmf);
	drm_dev_exit(cookie);
	return ret;
}

static const struct vm_operations_struct nvdla_bo_vm_ops = {
	.fault = nvdla_bo_fault,
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static const struct drm_gem_object_funcs nvdla_bo_funcs = {
	.free = nvdla_bo_free,
	.open = nvdla_bo_open,
	.pin = nvdla_bo_pin,
	.unpin = nvdla_bo_unpin,
	.get_sg_table = nvdla_bo_get_sg_table,
	.mmap = nvdla_bo_mmap,
	.status = nvdla_bo_status,
	.vm_ops = &nvdla_bo_vm_ops,
};

static struct nvdla_bo *bo_new(struct drm_device *drm, size_t size)
{
	struct nvdla_bo *bo = kzalloc(sizeof(*bo), GFP_KERNEL);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&bo->node);
	bo->base.funcs = &nvdla_bo_funcs;
	drm_gem_private_object_init(drm, &bo->base, size);
	return bo;
}

/* ---- import ---- */

/*
 * Would the CPU have to copy between the exporter's memory and what the device was given?  On a
 * coherent device only that asks for syncs; on others all do, so there nothing may be out of reach.
 */
static bool bounces(struct nvdla_device *nvdla, struct sg_table *sgt)
{
	struct scatterlist *sg;
	int i;

	if (nvdla->has_iommu)
		return false;
	if (!dev_is_dma_coherent(nvdla->dev))
		return dma_addressing_limited(nvdla->dev);
	for_each_sgtable_dma_sg(sgt, sg, i)
		if (dma_need_sync(nvdla->dev, sg_dma_address(sg)))
			return true;
	return false;
}

struct drm_gem_object *nvdla_gem_prime_import_sg_table(struct drm_device *drm,
						       struct dma_buf_attachment *attach,
						       struct sg_table *sgt)
{
	struct nvdla_device *nvdla = to_nvdla(drm);
	size_t size = attach->dmabuf->size;
	struct nvdla_bo *bo;

	if (!size || !PAGE_ALIGNED(size) || !PAGE_ALIGNED(sg_dma_address(sgt->sgl)) ||
	    drm_prime_get_contiguous_size(sgt) < size) {
		drm_dbg(drm, "import of %zu bytes: not contiguous for the device\n", size);
		return ERR_PTR(-EINVAL);
	}
	if (bounces(nvdla, sgt)) {
		drm_dbg(drm, "import of %zu bytes: out of the device's reach\n", size);
		return ERR_PTR(-EINVAL);
	}
	bo = bo_new(drm, size);
	if (IS_ERR(bo))
		return ERR_CAST(bo);
	bo->sgt = sgt;
	bo->dma_addr = sg_dma_address(sgt->sgl);
	scoped_guard(mutex, &nvdla->gem.lock)
		list_add_tail(&bo->node, &nvdla->gem.bos);
	return &bo->base;
}

/*
 * nvdla_gem_revoke() comes before all of this or after: what is in the list without its attachment
 * would be taken for memory of our own, and a device that is gone can map and unmap nothing.
 */
struct drm_gem_object *nvdla_gem_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	struct drm_gem_object *obj;
	int cookie;

	if (!drm_dev_enter(drm, &cookie))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dmabuf);
	drm_dev_exit(cookie);
	return obj;
}

/* ---- calls ---- */

static int bo_create(struct nvdla_client *client, struct drm_file *file,
		     struct drm_nvdla_bo_create *args, struct drm_device *drm)
{
	struct nvdla_bo *bo;
	int err;

	if (args->size > NVDLA_MAX_PINNED_BYTES)
		return -EDQUOT;
	bo = bo_new(drm, PAGE_ALIGN(args->size));
	if (IS_ERR(bo))
		return PTR_ERR(bo);
	bo->flags = args->flags;
	err = nvdla_client_charge(client, bo->base.size);
	if (!err) {
		bo->client = client;
		err = bo_alloc(bo);
	}
	if (!err)
		err = drm_gem_create_mmap_offset(&bo->base);
	if (!err)
		err = drm_gem_handle_create(file, &bo->base, &args->handle);
	if (!err)
		args->size = bo->base.size;
	drm_gem_object_put(&bo->base);
	return err;
}

int nvdla_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_create *args = data;
	int cookie, ret;

	if (!args->size || args->flags & ~DRM_NVDLA_BO_CACHED)
		return -EINVAL;
	if (!drm_dev_enter(drm, &cookie))
		return -ENODEV;
	ret = bo_create(file->driver_priv, file, args, drm);
	drm_dev_exit(cookie);
	return ret;
}

int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_mmap_offset *args = data;
	struct drm_gem_object *obj;
	int ret = 0;

	if (args->pad)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	if (obj->import_attach)
		ret = -EINVAL;
	else
		args->offset = drm_vma_node_offset_addr(&obj->vma_node);
	drm_gem_object_put(obj);
	return ret;
}

static void sync_piece(struct nvdla_bo *bo, u64 offset, u64 size, u32 flags)
{
	struct device *dev = bo_device(bo)->dev;

	if (flags & DRM_NVDLA_BO_SYNC_FOR_DEVICE)
		dma_sync_single_for_device(dev, bo->dma_addr + offset, size, DMA_BIDIRECTIONAL);
	else
		dma_sync_single_for_cpu(dev, bo->dma_addr + offset, size, DMA_BIDIRECTIONAL);
}

/* How far the sync of a buffer has come: to a piece, which begins at an offset. */
struct sync_place {
	struct scatterlist *sg;
	u64 at;
};

/*
 * Only the range that is asked for: elsewhere the other side may have written meanwhile.  Piece by
 * piece: behind an IOMMU the pages are not contiguous for the CPU.  Says whether more is left.
 */
static bool sync_some(struct nvdla_bo *bo, const struct drm_nvdla_bo_sync *args,
		      struct sync_place *place)
{
	u64 end = args->offset + args->size;
	u32 n;

	if (!place->sg)
		place->sg = bo->sgt->sgl;
	for (n = 0; n < NVDLA_SYNC_PIECES && place->sg && place->at < end; n++) {
		u64 from = max(place->at, args->offset);
		u64 to = min(place->at + place->sg->length, end);

		if (from < to)
			sync_piece(bo, from, to - from, args->flags);
		place->at += place->sg->length;
		place->sg = sg_next(place->sg);
	}
	return place->sg && place->at < end;
}

/* Who takes the device away need not wait until all is done, nor who kills the process. */
static int bo_sync(struct nvdla_bo *bo, const struct drm_nvdla_bo_sync *args)
{
	struct sync_place place = { 0 };
	bool more = true;
	int cookie;

	while (more) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!drm_dev_enter(bo->base.dev, &cookie))
			return -ENODEV;
		more = bo->flags & DRM_NVDLA_BO_CACHED && sync_some(bo, args, &place);
		drm_dev_exit(cookie);
		cond_resched();
	}
	return 0;
}

int nvdla_ioctl_bo_sync(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_sync *args = data;
	struct drm_gem_object *obj;
	int ret;
	u64 end;

	if (args->flags != DRM_NVDLA_BO_SYNC_FOR_DEVICE && args->flags != DRM_NVDLA_BO_SYNC_FOR_CPU)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	if (check_add_overflow(args->offset, args->size, &end) || end > obj->size)
		ret = -EINVAL;
	else
		ret = bo_sync(to_nvdla_bo(obj), args);
	drm_gem_object_put(obj);
	return ret;
}

int nvdla_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_bo_wait *args = data;
	struct drm_gem_object *obj;
	long left;

	if (args->flags & ~DRM_NVDLA_BO_WAIT_READERS)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;
	left = dma_resv_wait_timeout(obj->resv,
				     dma_resv_usage_rw(args->flags & DRM_NVDLA_BO_WAIT_READERS),
				     true, drm_timeout_abs_to_jiffies(args->timeout_ns));
	drm_gem_object_put(obj);
	if (left < 0)
		return left;
	return left ? 0 : -ETIMEDOUT;
}

NVDLA_IMPORT_NS(DMA_BUF);
