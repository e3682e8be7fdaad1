// SPDX-License-Identifier: GPL-2.0-only
/* The NPU on a system's own bus, described by a device tree. */
#include <linux/clk.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/mod_devicetable.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_reserved_mem.h>
#include <linux/platform_device.h>
#include <linux/pm_runtime.h>
#include <linux/reset.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"

/* Many clock cycles of the slowest clock that is used. */
#define NVDLA_RESET_US 10

enum nvdla_platform_reset { NVDLA_RESET_CORE, NVDLA_RESET_CSB, NVDLA_RESETS };

/**
 * struct nvdla_platform - resources of the device
 * @regs: register file
 * @clocks: all that firmware names
 * @clock_count: how many
 * @resets: lines of the core, which is there where any is, and of its register interface
 */
struct nvdla_platform {
	void __iomem *regs;
	struct clk_bulk_data *clocks;
	int clock_count;
	struct reset_control_bulk_data resets[NVDLA_RESETS];
};

static u32 nvdla_platform_read(struct nvdla_device *nvdla, u32 reg)
{
	struct nvdla_platform *platform = nvdla->glue_data;

	return readl(platform->regs + reg);
}

static void nvdla_platform_write_batch(struct nvdla_device *nvdla,
				       const struct nvdla_reg_write *writes, u32 count)
{
	struct nvdla_platform *platform = nvdla->glue_data;
	u32 i;

	for (i = 0; i < count; i++)
		writel(writes[i].value, platform->regs + writes[i].reg);
}

static int nvdla_platform_reset(struct nvdla_device *nvdla)
{
	struct nvdla_platform *platform = nvdla->glue_data;
	int ret;

	ret = reset_control_bulk_assert(NVDLA_RESETS, platform->resets);
	if (ret)
		return ret;
	fsleep(NVDLA_RESET_US);
	ret = reset_control_bulk_deassert(NVDLA_RESETS, platform->resets);
	fsleep(NVDLA_RESET_US);
	return ret;
}

static int nvdla_platform_power_on(struct nvdla_device *nvdla)
{
	struct nvdla_platform *platform = nvdla->glue_data;
	int ret;

	ret = clk_bulk_prepare_enable(platform->clock_count, platform->clocks);
	if (ret)
		return ret;
	ret = reset_control_bulk_deassert(NVDLA_RESETS, platform->resets);
	if (ret)
		clk_bulk_disable_unprepare(platform->clock_count, platform->clocks);
	return ret;
}

static void nvdla_platform_power_off(struct nvdla_device *nvdla)
{
	struct nvdla_platform *platform = nvdla->glue_data;

	reset_control_bulk_assert(NVDLA_RESETS, platform->resets);
	clk_bulk_disable_unprepare(platform->clock_count, platform->clocks);
}

static const struct nvdla_glue_ops nvdla_platform_ops = {
	.read = nvdla_platform_read,
	.write_batch = nvdla_platform_write_batch,
	.reset = nvdla_platform_reset,
	.power_on = nvdla_platform_power_on,
	.power_off = nvdla_platform_power_off,
};

/* Without reset lines: who made the device has reset it, and one that hangs is lost. */
static const struct nvdla_glue_ops nvdla_platform_ops_without_reset = {
	.read = nvdla_platform_read,
	.write_batch = nvdla_platform_write_batch,
	.power_on = nvdla_platform_power_on,
	.power_off = nvdla_platform_power_off,
};

static int get_resources(struct platform_device *pdev, struct nvdla_platform *platform)
{
	struct device *dev = &pdev->dev;
	int ret;

	platform->regs = devm_platform_ioremap_resource(pdev, 0);
	if (IS_ERR(platform->regs))
		return PTR_ERR(platform->regs);
	platform->clock_count = devm_clk_bulk_get_all(dev, &platform->clocks);
	if (platform->clock_count < 0)
		return dev_err_probe(dev, platform->clock_count, "clocks\n");
	platform->resets[NVDLA_RESET_CORE].id = "core";
	platform->resets[NVDLA_RESET_CSB].id = "csb";
	ret = devm_reset_control_bulk_get_optional_exclusive(dev, NVDLA_RESETS, platform->resets);
	if (ret)
		return dev_err_probe(dev, ret, "resets\n");
	return 0;
}

static void release_memory_region(void *dev)
{
	of_reserved_mem_device_release(dev);
}

/* Buffers come from there, where firmware has set some memory aside. */
static int use_memory_region(struct device *dev)
{
	int ret;

	if (!of_property_present(dev->of_node, "memory-region"))
		return 0;
	ret = of_reserved_mem_device_init(dev);
	if (ret)
		return dev_err_probe(dev, ret, "memory-region\n");
	return devm_add_action_or_reset(dev, release_memory_region, dev);
}

static int nvdla_platform_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct nvdla_platform *platform;
	struct nvdla_glue glue = { .irq_flags = IRQF_ONESHOT };
	int ret;

	platform = devm_kzalloc(dev, sizeof(*platform), GFP_KERNEL);
	if (!platform)
		return -ENOMEM;
	ret = get_resources(pdev, platform);
	if (ret)
		return ret;
	ret = use_memory_region(dev);
	if (ret)
		return ret;
	glue.irq = platform_get_irq(pdev, 0);
	if (glue.irq < 0)
		return glue.irq;
	glue.ops = platform->resets[NVDLA_RESET_CORE].rstc ? &nvdla_platform_ops
							   : &nvdla_platform_ops_without_reset;
	glue.data = platform;
	glue.config_name = device_get_match_data(dev);

	/* As a bus with power management of its own hands it over: on, and counted as in use. */
	pm_runtime_get_noresume(dev);
	pm_runtime_set_active(dev);
	pm_runtime_enable(dev);
	ret = nvdla_device_probe(dev, &glue);
	if (ret) {
		pm_runtime_disable(dev);
		pm_runtime_set_suspended(dev);
		pm_runtime_put_noidle(dev);
	}
	return ret;
}

static void nvdla_platform_remove(struct platform_device *pdev)
{
	nvdla_device_remove(&pdev->dev);
	pm_runtime_disable(&pdev->dev);
	pm_runtime_set_suspended(&pdev->dev);
	pm_runtime_put_noidle(&pdev->dev);
}

static const struct of_device_id nvdla_of_match[] = {
	{ .compatible = "nvidia,nvdla-small", .data = "nv_small" },
	{ .compatible = "nvidia,nvdla-small-256", .data = "nv_small_256" },
	{ .compatible = "nvidia,nvdla-small-256-full", .data = "nv_small_256_full" },
	{ .compatible = "nvidia,nvdla-medium-512", .data = "nv_medium_512" },
	{ .compatible = "nvidia,nvdla-medium-1024-full", .data = "nv_medium_1024_full" },
	{ .compatible = "nvidia,nvdla-large", .data = "nv_large" },
	{}
};
MODULE_DEVICE_TABLE(of, nvdla_of_match);

/* Where something other than a device tree makes the device; its ROM tells the configuration. */
static const struct platform_device_id nvdla_platform_ids[] = { { "nvdla" }, {} };
MODULE_DEVICE_TABLE(platform, nvdla_platform_ids);

static struct platform_driver nvdla_platform_driver = {
	.probe = nvdla_platform_probe,
	.remove = nvdla_platform_remove,
	.id_table = nvdla_platform_ids,
	.driver = {
		.name = "nvdla",
		.of_match_table = nvdla_of_match,
		.pm = pm_ptr(&nvdla_device_pm_ops),
	},
};

int nvdla_platform_register(void)
{
	return platform_driver_register(&nvdla_platform_driver);
}

void nvdla_platform_unregister(void)
{
	platform_driver_unregister(&nvdla_platform_driver);
}
