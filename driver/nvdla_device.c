// SPDX-License-Identifier: GPL-2.0-only
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/iommu.h>
#include <linux/mutex.h>
#include <linux/pm_runtime.h>
#include <linux/property.h>

#include <drm/drm_drv.h>
#include <drm/drm_managed.h>
#include <drm/drm_print.h>
#include <drm/nvdla_accel.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_rom.h"

/* An idle NPU is switched off after so long. */
#define NVDLA_AUTOSUSPEND_MS 100

/* So often a lost device is looked for. */
#define NVDLA_LOOK_MS 100

/* What a bus reads where no device answers. */
#define NVDLA_NOBODY 0xffffffffu

/* ---- registers ---- */

static void device_lost(struct nvdla_device *nvdla, u32 reg)
{
	if (nvdla->lost)
		return;
	WRITE_ONCE(nvdla->lost, true);
	dev_err(nvdla->dev, "does not answer any more: register 0x%04x reads all ones\n", reg);
	nvdla_health_report(nvdla, NVDLA_HEALTH_KIND_DEVICE_LOST, 0, reg);
}

static void flush_writes(struct nvdla_device *nvdla)
{
	if (nvdla->write_count && !nvdla->lost)
		nvdla->glue->write_batch(nvdla, nvdla->writes, nvdla->write_count);
	nvdla->write_count = 0;
}

void nvdla_device_flush(struct nvdla_device *nvdla)
{
	int cookie;

	if (!drm_dev_enter(&nvdla->drm, &cookie)) {
		nvdla->write_count = 0;
		return;
	}
	flush_writes(nvdla);
	drm_dev_exit(cookie);
}

u32 nvdla_device_read(struct nvdla_device *nvdla, u32 reg)
{
	u32 value = 0;
	int cookie;

	if (!drm_dev_enter(&nvdla->drm, &cookie)) {
		nvdla->write_count = 0;
		return 0;
	}
	flush_writes(nvdla);
	if (!nvdla->lost)
		value = nvdla->glue->read(nvdla, reg);
	/* Some registers may hold all ones; this one never does. */
	if (value == NVDLA_NOBODY &&
	    nvdla->glue->read(nvdla, NVDLA_GLB_S_NVDLA_HW_VERSION) == NVDLA_NOBODY) {
		device_lost(nvdla, reg);
		value = 0;
	}
	drm_dev_exit(cookie);
	return value;
}

static u32 io_read(void *context, u32 reg)
{
	return nvdla_device_read(context, reg);
}

static void io_write(void *context, u32 reg, u32 value)
{
	struct nvdla_device *nvdla = context;

	if (nvdla->write_count == NVDLA_WRITE_BURST)
		nvdla_device_flush(nvdla);
	nvdla->writes[nvdla->write_count++] = (struct nvdla_reg_write){ reg, value };
}

static void io_flush(void *context)
{
	nvdla_device_flush(context);
}

/*
 * A device that was lost may be back after this.  One that is taken away was reset by
 * nvdla_sched_stop(), and nothing was started on it since.
 */
static int io_reset(void *context)
{
	struct nvdla_device *nvdla = context;
	int cookie, ret;

	nvdla->write_count = 0;
	if (!drm_dev_enter(&nvdla->drm, &cookie))
		return 0;
	ret = nvdla->glue->reset(nvdla);
	if (!ret && nvdla->glue->read(nvdla, NVDLA_GLB_S_NVDLA_HW_VERSION) != nvdla->hw_version)
		ret = -EIO;
	if (!ret)
		WRITE_ONCE(nvdla->lost, false);
	drm_dev_exit(cookie);
	return ret;
}

static int device_hw_init(struct nvdla_device *nvdla)
{
	struct nvdla_io io = {
		.context = nvdla,
		.read = io_read,
		.write = io_write,
		.flush = io_flush,
		.reset = nvdla->glue->reset ? io_reset : NULL,
	};
	int ret;

	ret = nvdla_hw_init(&nvdla->hw, &io, nvdla->config);
	nvdla->hw.event = nvdla_sched_event;
	return ret;
}

static void take_over(struct nvdla_device *nvdla)
{
	int ret = device_hw_init(nvdla);

	if (!ret || nvdla->lost)
		return;
	dev_err(nvdla->dev, "reset failed: %d\n", ret);
	WRITE_ONCE(nvdla->lost, true);
}

static int power_on(struct nvdla_device *nvdla)
{
	int ret = 0;

	guard(mutex)(&nvdla->power_lock);
	if (!nvdla->powered)
		ret = nvdla->glue->power_on(nvdla);
	nvdla->powered = !ret;
	return ret;
}

static void power_off(struct nvdla_device *nvdla)
{
	guard(mutex)(&nvdla->power_lock);
	if (nvdla->powered)
		nvdla->glue->power_off(nvdla);
	nvdla->powered = false;
}

void nvdla_device_revive(struct nvdla_device *nvdla)
{
	if (power_on(nvdla))
		return;
	guard(mutex)(&nvdla->sched.hw_lock);
	/* What is in flight fails at the next tick. */
	if (!nvdla->lost || !nvdla->glue->reset || nvdla->hw.segment[0] ||
	    time_before(jiffies, nvdla->look_again))
		return;
	take_over(nvdla);
	nvdla->look_again = jiffies + msecs_to_jiffies(NVDLA_LOOK_MS);
}

/* ---- identity ---- */

static const struct nvdla_config *config_by_rom(struct nvdla_device *nvdla)
{
	const struct nvdla_config *config;
	struct nvdla_rom_mismatch wrong;

	config = nvdla_rom_identify(io_read, nvdla, &wrong);
	if (!config && !nvdla->lost)
		dev_err(nvdla->dev,
			"not a known NVDLA: ROM word %s (0x%03x) reads 0x%08x, %s has 0x%08x\n",
			wrong.name, wrong.reg, wrong.value, wrong.config->name, wrong.expected);
	return config;
}

/* The ROM decides; where the build has none, the bus; where both speak they have to agree. */
static int identify(struct nvdla_device *nvdla, const char *name)
{
	const struct nvdla_config *config;
	u32 rom;

	nvdla->hw_version = nvdla_device_read(nvdla, NVDLA_GLB_S_NVDLA_HW_VERSION);
	rom = nvdla_device_read(nvdla, NVDLA_CFGROM_HW_VERSION);
	if (rom || !name) {
		config = config_by_rom(nvdla);
		if (!config)
			return -ENODEV;
	} else {
		config = nvdla_config_find(name);
		if (!config) {
			dev_err(nvdla->dev, "no configuration ROM, and no configuration %s\n",
				name);
			return -ENODEV;
		}
	}
	if (name && strcmp(name, config->name)) {
		dev_err(nvdla->dev, "configuration ROM says %s, firmware says %s\n", config->name,
			name);
		return -ENODEV;
	}
	nvdla->config = config;
	return 0;
}

static bool translated(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type != IOMMU_DOMAIN_IDENTITY;
}

static int setup_dma(struct nvdla_device *nvdla)
{
	struct device *dev = nvdla->dev;
	int ret;

	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(nvdla->config->address_bits));
	if (ret)
		return dev_err_probe(dev, ret, "%u address bits are not enough here\n",
				     nvdla->config->address_bits);
	dma_set_max_seg_size(dev, UINT_MAX);
	nvdla->has_iommu = translated(dev);
	return 0;
}

/* Firmware may know of banks of CBUF that are broken or that something else uses. */
static int forbid_banks(struct nvdla_device *nvdla)
{
	static const char property[] = "nvidia,unusable-banks";
	int count = device_property_count_u32(nvdla->dev, property);
	u64 mask = 0;
	int i, ret;

	if (count <= 0)
		return 0;

	u32 *banks __free(kfree) = kcalloc(count, sizeof(*banks), GFP_KERNEL);

	if (!banks)
		return -ENOMEM;
	ret = device_property_read_u32_array(nvdla->dev, property, banks, count);
	for (i = 0; !ret && i < count; i++) {
		if (banks[i] < nvdla->config->banks)
			mask |= BIT_ULL(banks[i]);
		else
			ret = -EINVAL;
	}
	if (!ret)
		ret = nvdla_budget_set_unusable(nvdla, mask);
	return ret ? dev_err_probe(nvdla->dev, ret, "%s\n", property) : 0;
}

/* ---- probe and remove ---- */

static int start(struct nvdla_device *nvdla, unsigned long irq_flags)
{
	int ret;

	ret = nvdla_budget_init(nvdla);
	if (ret)
		return ret;
	ret = forbid_banks(nvdla);
	if (ret)
		goto fini_budget;
	ret = nvdla_sched_init(nvdla);
	if (ret)
		goto fini_budget;
	ret = devm_request_threaded_irq(nvdla->dev, nvdla->irq, nvdla_sched_irq,
					nvdla_sched_irq_thread, irq_flags, dev_name(nvdla->dev),
					nvdla);
	if (ret) {
		dev_err_probe(nvdla->dev, ret, "interrupt %d\n", nvdla->irq);
		goto fini_sched;
	}
	nvdla_debugfs_init(nvdla);
	ret = drm_dev_register(&nvdla->drm, 0);
	if (ret)
		goto free_irq;
	nvdla_netlink_init(nvdla);
	return 0;

free_irq:
	devm_free_irq(nvdla->dev, nvdla->irq, nvdla);
fini_sched:
	nvdla_sched_fini(nvdla);
fini_budget:
	nvdla_budget_fini(nvdla);
	return ret;
}

static int bring_up(struct nvdla_device *nvdla, const struct nvdla_glue *glue)
{
	int ret;

	ret = identify(nvdla, glue->config_name);
	if (ret)
		return ret;
	ret = setup_dma(nvdla);
	if (ret)
		return ret;
	ret = nvdla_gem_init(nvdla);
	if (ret)
		return ret;
	ret = device_hw_init(nvdla);
	if (ret)
		return dev_err_probe(nvdla->dev, ret, "reset at start\n");
	return start(nvdla, glue->irq_flags);
}

int nvdla_device_probe(struct device *dev, const struct nvdla_glue *glue)
{
	struct nvdla_device *nvdla;
	int ret;

	nvdla = devm_drm_dev_alloc(dev, &nvdla_drm_driver, struct nvdla_device, drm);
	if (IS_ERR(nvdla))
		return PTR_ERR(nvdla);
	nvdla->dev = dev;
	nvdla->glue = glue->ops;
	nvdla->glue_data = glue->data;
	nvdla->irq = glue->irq;
	nvdla->look_again = jiffies;
	dev_set_drvdata(dev, nvdla);

	ret = drmm_mutex_init(&nvdla->drm, &nvdla->power_lock);
	if (ret)
		return ret;
	ret = power_on(nvdla);
	if (ret)
		return dev_err_probe(dev, ret, "power on\n");
	ret = bring_up(nvdla, glue);
	if (ret) {
		power_off(nvdla);
		return ret;
	}
	pm_runtime_set_autosuspend_delay(dev, NVDLA_AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
	drm_info(&nvdla->drm, "%s, version 0x%06x, %u banks of %u KiB%s\n", nvdla->config->name,
		 nvdla->hw_version, nvdla->config->banks,
		 nvdla->config->entries * nvdla->config->entry_bytes / 1024,
		 nvdla->has_iommu ? ", behind an IOMMU" : "");
	return 0;
}

/*
 * The queue stops before the device is unplugged: jobs that would find their registers gone only
 * when they run, and callers that wait for such jobs, would hold up drm_dev_unplug().
 */
void nvdla_device_remove(struct device *dev)
{
	struct nvdla_device *nvdla = dev_get_drvdata(dev);

	pm_runtime_get_sync(dev);
	nvdla_netlink_fini(nvdla);
	nvdla_sched_stop(nvdla);
	drm_dev_unplug(&nvdla->drm);
	devm_free_irq(dev, nvdla->irq, nvdla);
	nvdla_sched_fini(nvdla);
	pm_runtime_dont_use_autosuspend(dev);
	power_off(nvdla);
	/* A task that could not be reset away does not reach memory any more either. */
	nvdla_gem_revoke(nvdla);
	nvdla_budget_fini(nvdla);
}

/* ---- power ---- */

static int nvdla_device_runtime_suspend(struct device *dev)
{
	power_off(dev_get_drvdata(dev));
	return 0;
}

/*
 * A device that gets no power or cannot be reset is lost, for nvdla_device_revive() to look for: to
 * the kernel's power management that would be an error for ever.
 */
static int nvdla_device_runtime_resume(struct device *dev)
{
	struct nvdla_device *nvdla = dev_get_drvdata(dev);
	int ret = power_on(nvdla);

	guard(mutex)(&nvdla->sched.hw_lock);
	if (ret) {
		dev_err(dev, "power on: %d\n", ret);
		WRITE_ONCE(nvdla->lost, true);
	} else if (nvdla->glue->reset) {
		take_over(nvdla);
	}
	return 0;
}

/* The NPU sleeps only when its queue rests, and stays counted as in use until it is back. */
static int nvdla_device_suspend(struct device *dev)
{
	struct nvdla_device *nvdla = dev_get_drvdata(dev);
	int ret;

	ret = pm_runtime_resume_and_get(dev);
	if (ret)
		return ret;
	nvdla_sched_suspend(nvdla);
	return nvdla_device_runtime_suspend(dev);
}

static int nvdla_device_resume(struct device *dev)
{
	struct nvdla_device *nvdla = dev_get_drvdata(dev);

	nvdla_device_runtime_resume(dev);
	nvdla_sched_resume(nvdla);
	pm_runtime_mark_last_busy(dev);
	pm_runtime_put_autosuspend(dev);
	return 0;
}

const struct dev_pm_ops nvdla_device_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(nvdla_device_suspend, nvdla_device_resume)
		RUNTIME_PM_OPS(nvdla_device_runtime_suspend, nvdla_device_runtime_resume, NULL)
};
