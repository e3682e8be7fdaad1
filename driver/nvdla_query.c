// SPDX-License-Identifier: GPL-2.0-only
/* DEV_QUERY: what the device is and what of it may be used now. */
#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/nvdla_accel.h>

#include "nvdla_cbuf.h"
#include "nvdla_chain.h"
#include "nvdla_client.h"
#include "nvdla_compat.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"

static u32 device_features(const struct nvdla_device *nvdla)
{
	const struct {
		bool has;
		u32 feature;
	} features[] = {
		{ nvdla->config->features & NVDLA_HAS_EW, DRM_NVDLA_FEATURE_EW },
		{ nvdla->config->features & NVDLA_HAS_SDP_LUT, DRM_NVDLA_FEATURE_SDP_LUT },
		{ nvdla->config->features & NVDLA_HAS_CVIF, DRM_NVDLA_FEATURE_SECOND_PORT },
		{ nvdla->has_iommu, DRM_NVDLA_FEATURE_IOMMU },
		{ nvdla_budget_has_dmem(nvdla), DRM_NVDLA_FEATURE_DMEM },
	};
	u32 i, all = 0;

	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (features[i].has)
			all |= features[i].feature;
	return all;
}

static void query_device(struct nvdla_device *nvdla, struct nvdla_client *client, void *answer)
{
	const struct nvdla_config *cfg = nvdla->config;
	struct drm_nvdla_device_info *info = answer;

	strscpy(info->config, cfg->name, sizeof(info->config));
	info->hw_version = nvdla->hw_version;
	info->chain_version = NVDLA_CHAIN_VERSION;
	info->features = device_features(nvdla);
	info->atomic_c = cfg->atomic_c;
	info->atomic_k = cfg->atomic_k;
	info->atom_bytes = cfg->atom;
	info->banks = cfg->banks;
	info->entries_per_bank = cfg->entries;
	info->entry_bytes = cfg->entry_bytes;
	info->address_bits = cfg->address_bits;
	info->sram_bytes = nvdla->sram_bytes;
	info->region_alignment = nvdla_region_alignment(cfg);
}

static void query_limits(struct nvdla_device *nvdla, struct nvdla_client *client, void *answer)
{
	struct drm_nvdla_limits *limits = answer;

	limits->bo_bytes = READ_ONCE(client->bo_bytes);
	limits->pinned_bytes = NVDLA_MAX_PINNED_BYTES;
	limits->chain_bytes = NVDLA_MAX_CHAIN_BYTES;
	limits->chains = NVDLA_MAX_CHAINS;
	limits->jobs = NVDLA_MAX_JOBS;
	limits->jobs_per_submit = NVDLA_MAX_JOBS_PER_SUBMIT;
	limits->syncs_per_job = NVDLA_MAX_SYNCS_PER_JOB;
	limits->timeout_ms = NVDLA_TIMEOUT_MS;
	limits->run_tasks = NVDLA_CHAIN_MAX_RUN;
}

static void query_budget(struct nvdla_device *nvdla, struct nvdla_client *client, void *answer)
{
	nvdla_budget_query(nvdla, &client->budget, answer);
}

union answer {
	struct drm_nvdla_device_info device;
	struct drm_nvdla_limits limits;
	struct drm_nvdla_budget budget;
};

static const struct {
	u32 size;
	void (*fill)(struct nvdla_device *nvdla, struct nvdla_client *client, void *answer);
} queries[] = {
	[DRM_NVDLA_QUERY_DEVICE] = { sizeof(struct drm_nvdla_device_info), query_device },
	[DRM_NVDLA_QUERY_LIMITS] = { sizeof(struct drm_nvdla_limits), query_limits },
	[DRM_NVDLA_QUERY_BUDGET] = { sizeof(struct drm_nvdla_budget), query_budget },
};

int nvdla_ioctl_dev_query(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_nvdla_dev_query *args = data;
	union answer answer = {};
	u32 type, size;
	int ret = 0;

	if (args->type >= ARRAY_SIZE(queries))
		return -EINVAL;
	type = array_index_nospec(args->type, ARRAY_SIZE(queries));
	size = queries[type].size;
	if (args->pointer) {
		queries[type].fill(to_nvdla(drm), file->driver_priv, &answer);
		ret = copy_struct_to_user(u64_to_user_ptr(args->pointer), args->size, &answer, size,
					  NULL);
	}
	args->size = size;
	return ret;
}
