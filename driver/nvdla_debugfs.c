// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/debug/accel/<device>/: registers, queue, banks that must not be used. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_print.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_regdump.h"
#include "nvdla_regs.h"

static struct nvdla_device *entry_device(struct seq_file *m)
{
	struct drm_debugfs_entry *entry = m->private;

	return to_nvdla(entry->dev);
}

static int show_registers(struct seq_file *m, void *unused)
{
	struct nvdla_device *nvdla = entry_device(m);
	struct drm_printer p = drm_seq_file_printer(m);
	u32 unit;
	int ret;

	ret = pm_runtime_resume_and_get(nvdla->dev);
	if (ret)
		return ret;
	scoped_guard(mutex, &nvdla->sched.hw_lock)
		nvdla_regdump_shared(nvdla, &p);
	/* One by one: jobs go on in between. */
	for (unit = 0; unit < NVDLA_UNIT_COUNT; unit++)
		scoped_guard(mutex, &nvdla->sched.hw_lock)
			nvdla_regdump_units(nvdla, 1u << unit, &p);
	pm_runtime_mark_last_busy(nvdla->dev);
	pm_runtime_put_autosuspend(nvdla->dev);
	return 0;
}

static int show_queue(struct seq_file *m, void *unused)
{
	struct drm_printer p = drm_seq_file_printer(m);

	nvdla_sched_print(entry_device(m), &p);
	return 0;
}

static const struct drm_debugfs_info nvdla_debugfs_files[] = {
	{ "registers", show_registers, 0 },
	{ "queue", show_queue, 0 },
};

static int unusable_banks_get(void *data, u64 *mask)
{
	struct nvdla_device *nvdla = data;

	*mask = nvdla_budget_now(nvdla).state.unusable;
	return 0;
}

static int unusable_banks_set(void *data, u64 mask)
{
	return nvdla_budget_set_unusable(data, mask);
}

DEFINE_DEBUGFS_ATTRIBUTE(unusable_banks_fops, unusable_banks_get, unusable_banks_set, "0x%llx\n");

void nvdla_debugfs_init(struct nvdla_device *nvdla)
{
	drm_debugfs_add_files(&nvdla->drm, nvdla_debugfs_files, ARRAY_SIZE(nvdla_debugfs_files));
	debugfs_create_file("unusable_banks", 0600, nvdla->drm.debugfs_root, nvdla,
			    &unusable_banks_fops);
}
