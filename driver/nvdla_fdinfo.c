// SPDX-License-Identifier: GPL-2.0-only
/* /proc/<pid>/fdinfo/<fd>: what one client uses. */
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_print.h>

#include "nvdla_client.h"
#include "nvdla_device.h"
#include "nvdla_drv.h"

static const char *const priority_name[NVDLA_PRIORITIES] = {
	[DRM_NVDLA_PRIORITY_LOW] = "low",
	[DRM_NVDLA_PRIORITY_NORMAL] = "normal",
	[DRM_NVDLA_PRIORITY_HIGH] = "high",
};

void nvdla_show_fdinfo(struct drm_printer *p, struct drm_file *file)
{
	const struct nvdla_config *cfg = to_nvdla(file->minor->dev)->config;
	struct nvdla_client *client = file->driver_priv;
	u64 banks = nvdla_budget_reserved(&client->budget);
	struct drm_memory_stats cbuf = {
		.private = banks * cfg->entries * cfg->entry_bytes,
	};

	drm_printf(p, "drm-engine-npu:\t%llu ns\n", (u64)atomic64_read(&client->busy_ns));
	drm_show_memory_stats(p, file);
	drm_print_memory_stats(p, &cbuf, 0, "cbuf");
	drm_printf(p, "nvdla-reserved-banks:\t%llu\n", banks);
	drm_printf(p, "nvdla-tasks:\t%llu\n", (u64)atomic64_read(&client->tasks));
	drm_printf(p, "nvdla-priority:\t%s\n", priority_name[READ_ONCE(client->priority)]);
	drm_printf(p, "nvdla-queued-jobs:\t%d\n", atomic_read(&client->jobs));
	drm_printf(p, "nvdla-pinned-memory:\t%llu KiB\n",
		   (u64)atomic64_read(&client->pinned) / SZ_1K);
}
