// SPDX-License-Identifier: GPL-2.0-only
/* The DRM driver: its calls, its files, its module. */
#include <linux/module.h>

#include <drm/drm_accel.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/nvdla_accel.h>

#include "nvdla_client.h"
#include "nvdla_drv.h"
#include "nvdla_gem.h"
#include "nvdla_netlink.h"

static const struct drm_ioctl_desc nvdla_ioctls[] = {
	DRM_IOCTL_DEF_DRV(NVDLA_DEV_QUERY, nvdla_ioctl_dev_query, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_BO_CREATE, nvdla_ioctl_bo_create, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_BO_MMAP_OFFSET, nvdla_ioctl_bo_mmap_offset, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_BO_SYNC, nvdla_ioctl_bo_sync, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_BO_WAIT, nvdla_ioctl_bo_wait, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_CHAIN_CREATE, nvdla_ioctl_chain_create, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_CHAIN_DESTROY, nvdla_ioctl_chain_destroy, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_SUBMIT, nvdla_ioctl_submit, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_RESERVE, nvdla_ioctl_reserve, 0),
	DRM_IOCTL_DEF_DRV(NVDLA_CONTEXT, nvdla_ioctl_context, 0),
};

static const struct file_operations nvdla_fops = {
	.owner = THIS_MODULE,
	DRM_ACCEL_FOPS,
	.show_fdinfo = drm_show_fdinfo,
};

const struct drm_driver nvdla_drm_driver = {
	.driver_features = DRIVER_COMPUTE_ACCEL | DRIVER_GEM | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.open = nvdla_client_open,
	.postclose = nvdla_client_close,
	.gem_prime_import = nvdla_gem_prime_import,
	.gem_prime_import_sg_table = nvdla_gem_prime_import_sg_table,
	.show_fdinfo = nvdla_show_fdinfo,
	.ioctls = nvdla_ioctls,
	.num_ioctls = ARRAY_SIZE(nvdla_ioctls),
	.fops = &nvdla_fops,
	.name = DRM_NVDLA_DRIVER_NAME,
	.desc = "NVDLA-family neural network accelerator",
	.major = DRM_NVDLA_DRIVER_MAJOR,
	.minor = DRM_NVDLA_DRIVER_MINOR,
};

static int __init nvdla_init(void)
{
	int ret;

	ret = nvdla_netlink_register();
	if (ret)
		return ret;
	ret = nvdla_pci_register();
	if (ret)
		goto unregister_netlink;
	ret = nvdla_platform_register();
	if (ret)
		goto unregister_pci;
	return 0;

unregister_pci:
	nvdla_pci_unregister();
unregister_netlink:
	nvdla_netlink_unregister();
	return ret;
}
module_init(nvdla_init);

static void __exit nvdla_exit(void)
{
	nvdla_platform_unregister();
	nvdla_pci_unregister();
	nvdla_netlink_unregister();
}
module_exit(nvdla_exit);

MODULE_DESCRIPTION("NVDLA-family neural network accelerator");
MODULE_LICENSE("GPL");
