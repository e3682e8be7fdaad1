/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hangs the driver's files into DRM: one function for each ioctl, each in
 * the file of its subject.
 */
#ifndef NVDLA_DRV_H
#define NVDLA_DRV_H

struct device;
struct drm_device;
struct drm_file;
struct drm_printer;
struct nvdla_device;

int nvdla_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_create(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_mmap_offset(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_sync(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_bo_wait(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_chain_create(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_chain_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_submit(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_reserve(struct drm_device *drm, void *data, struct drm_file *file);
int nvdla_ioctl_context(struct drm_device *drm, void *data, struct drm_file *file);

extern const struct drm_driver nvdla_drm_driver;

/* The buses. */
int nvdla_pci_register(void);
void nvdla_pci_unregister(void);
int nvdla_platform_register(void);
void nvdla_platform_unregister(void);

/* Before drm_dev_register(). */
void nvdla_debugfs_init(struct nvdla_device *nvdla);

/* For struct drm_driver. */
void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file);

#endif /* NVDLA_DRV_H */
