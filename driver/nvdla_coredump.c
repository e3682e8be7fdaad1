// SPDX-License-Identifier: GPL-2.0-only
#include <linux/devcoredump.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>

#include "nvdla_client.h"
#include "nvdla_coredump.h"
#include "nvdla_device.h"
#include "nvdla_job.h"
#include "nvdla_regdump.h"

/* Two groups of the registers of seven units, a line each, and some. */
#define TEXT_BYTES SZ_64K

static void give_away(struct work_struct *work)
{
	struct nvdla_coredump *dump = container_of(work, struct nvdla_coredump, work);
	struct nvdla_device *nvdla = container_of(dump, struct nvdla_device, sched.coredump);
	size_t length = dump->length;
	void *copy = vmalloc(length);

	if (copy) {
		memcpy(copy, dump->text, length);
		dev_coredumpv(nvdla->dev, copy, length, GFP_KERNEL);
	}
	/* The text has been read: the next hang may write it. */
	smp_store_release(&dump->full, false);
}

int nvdla_coredump_init(struct nvdla_device *nvdla)
{
	struct nvdla_coredump *dump = &nvdla->sched.coredump;

	INIT_WORK(&dump->work, give_away);
	dump->text = vmalloc(TEXT_BYTES);
	return dump->text ? 0 : -ENOMEM;
}

void nvdla_coredump_fini(struct nvdla_device *nvdla)
{
	struct nvdla_coredump *dump = &nvdla->sched.coredump;

	cancel_work_sync(&dump->work);
	vfree(dump->text);
	dump->text = NULL;
}

static void print_task(struct nvdla_device *nvdla, const struct nvdla_hw_task *t,
		       struct drm_printer *p)
{
	const struct nvdla_chain_task_info *info = &t->segment->chain->task[t->task];
	const struct nvdla_job_segment *segment = t->segment->owner;

	drm_printf(p, "driver: nvdla\nconfig: %s\nhw_version: 0x%06x\n", nvdla->config->name,
		   nvdla->hw_version);
	drm_printf(p, "time: %llu\npid: %d\n", ktime_get_ns(), segment->job->client->pid);
	drm_printf(p, "task: %u of %u\nlabel: %u\nkind: %u\n", t->task,
		   t->segment->chain->task_count, info->label, info->kind);
	drm_printf(p, "segment: tasks %u to %u\n", t->segment->first,
		   t->segment->first + t->segment->count - 1);
	drm_printf(p, "units: 0x%04x\ngroups: 0x%04x\nwaits_for: 0x%08x\n", info->units,
		   t->groups & info->units, t->pending);
	drm_printf(p, "banks: %u data, %u weight\nleaked_entries: %u\n\n", info->data_banks,
		   info->weight_banks, nvdla->hw.leaked_entries);
	nvdla_regdump_shared(nvdla, p);
	nvdla_regdump_units(nvdla, info->units, p);
}

void nvdla_coredump_take(struct nvdla_device *nvdla, const struct nvdla_hw_task *task)
{
	struct nvdla_coredump *dump = &nvdla->sched.coredump;
	struct drm_print_iterator iter = { .data = dump->text, .remain = TEXT_BYTES };
	struct drm_printer p = drm_coredump_printer(&iter);

	lockdep_assert_held(&nvdla->sched.hw_lock);
	/* The last text has been read before this one is written. */
	if (smp_load_acquire(&dump->full))
		return;
	print_task(nvdla, task, &p);
	dump->length = TEXT_BYTES - iter.remain;
	dump->full = true;
	schedule_work(&dump->work);
}
