// SPDX-License-Identifier: GPL-2.0-only
/* The NPU as a PCI function: nvdla_pci_device.h says what that has. */
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pm_runtime.h>

#include "nvdla_device.h"
#include "nvdla_drv.h"
#include "nvdla_pci_device.h"

static bool batch = true;
module_param(batch, bool, 0444);
MODULE_PARM_DESC(batch, "PCI: write many registers at once through the batch window (default: on)");

/* A reset takes a clearing of CBUF: microseconds in silicon, longer in a model. */
#define NVDLA_PCI_RESET_US (1 * USEC_PER_SEC)
#define NVDLA_PCI_RESET_POLL_US 50

/**
 * struct nvdla_pci - the function's BARs
 * @regs: register file of the NPU
 * @ctrl: registers of the carrier
 * @batch: window of pairs
 * @batch_in_use: the carrier may not yet have copied the window
 */
struct nvdla_pci {
	void __iomem *regs;
	void __iomem *ctrl;
	void __iomem *batch;
	bool batch_in_use;
};

static_assert(NVDLA_WRITE_BURST <= NVDLA_PCI_BATCH_PAIRS);

static u32 nvdla_pci_read(struct nvdla_device *nvdla, u32 reg)
{
	struct nvdla_pci *pci = nvdla->glue_data;

	pci->batch_in_use = false;
	return readl(pci->regs + reg);
}

static void write_window(struct nvdla_pci *pci, const struct nvdla_reg_write *writes, u32 count)
{
	struct nvdla_pci_pair __iomem *pair = pci->batch;
	u32 i;

	if (pci->batch_in_use)
		readl(pci->ctrl + NVDLA_PCI_CTRL_STATUS);
	for (i = 0; i < count; i++) {
		writel_relaxed(writes[i].reg, &pair[i].reg);
		writel_relaxed(writes[i].value, &pair[i].value);
	}
	wmb(); /* the window is combining: it has to be there before the doorbell */
	writel(count, pci->ctrl + NVDLA_PCI_CTRL_DOORBELL);
	pci->batch_in_use = true;
}

static void nvdla_pci_write_batch(struct nvdla_device *nvdla, const struct nvdla_reg_write *writes,
				  u32 count)
{
	struct nvdla_pci *pci = nvdla->glue_data;
	u32 i;

	if (batch && count > 1) {
		write_window(pci, writes, count);
		return;
	}
	for (i = 0; i < count; i++)
		writel(writes[i].value, pci->regs + writes[i].reg);
}

/* Only a reset that succeeds tells that the NPU is at rest: until then it is kept from memory. */
static void allow_dma(struct pci_dev *pdev, bool allow)
{
	if (pdev->is_busmaster == allow)
		return;
	if (allow)
		pci_set_master(pdev);
	else
		pci_clear_master(pdev);
}

static int nvdla_pci_reset(struct nvdla_device *nvdla)
{
	struct pci_dev *pdev = to_pci_dev(nvdla->dev);
	struct nvdla_pci *pci = nvdla->glue_data;
	u32 value;
	int ret;

	writel(1, pci->ctrl + NVDLA_PCI_CTRL_RESET);
	ret = readl_poll_timeout(pci->ctrl + NVDLA_PCI_CTRL_RESET, value,
				 !value || PCI_POSSIBLE_ERROR(value), NVDLA_PCI_RESET_POLL_US,
				 NVDLA_PCI_RESET_US);
	if (ret) {
		allow_dma(pdev, false);
		return ret;
	}
	if (PCI_POSSIBLE_ERROR(value))
		return -EIO;
	allow_dma(pdev, true);
	pci->batch_in_use = false;
	writel(NVDLA_PCI_STATUS_DMA_ERROR | NVDLA_PCI_STATUS_STRAY_DMA,
	       pci->ctrl + NVDLA_PCI_CTRL_STATUS);
	return 0;
}

static bool nvdla_pci_dma_failed(struct nvdla_device *nvdla)
{
	struct nvdla_pci *pci = nvdla->glue_data;
	u32 status = readl(pci->ctrl + NVDLA_PCI_CTRL_STATUS) &
		     (NVDLA_PCI_STATUS_DMA_ERROR | NVDLA_PCI_STATUS_STRAY_DMA);

	pci->batch_in_use = false;
	if (status)
		writel(status, pci->ctrl + NVDLA_PCI_CTRL_STATUS);
	return status;
}

/* The PCI core has brought the function to D0, and saves and restores its configuration space. */
static int nvdla_pci_power_on(struct nvdla_device *nvdla)
{
	pci_set_master(to_pci_dev(nvdla->dev));
	return 0;
}

static void nvdla_pci_power_off(struct nvdla_device *nvdla)
{
	pci_clear_master(to_pci_dev(nvdla->dev));
}

static const struct nvdla_glue_ops nvdla_pci_ops = {
	.read = nvdla_pci_read,
	.write_batch = nvdla_pci_write_batch,
	.reset = nvdla_pci_reset,
	.power_on = nvdla_pci_power_on,
	.power_off = nvdla_pci_power_off,
	.dma_failed = nvdla_pci_dma_failed,
};

static void __iomem *map_bar(struct pci_dev *pdev, int bar, size_t bytes, bool combine)
{
	void __iomem *mapped = NULL;

	if (pci_resource_flags(pdev, bar) & IORESOURCE_MEM && pci_resource_len(pdev, bar) >= bytes)
		mapped = combine ? devm_ioremap_wc(&pdev->dev, pci_resource_start(pdev, bar), bytes)
				 : pcim_iomap(pdev, bar, bytes);
	if (!mapped)
		dev_err(&pdev->dev, "BAR %d: no %zu bytes of memory\n", bar, bytes);
	return mapped;
}

static int map_bars(struct pci_dev *pdev, struct nvdla_pci *pci)
{
	int ret;

	ret = pcim_request_all_regions(pdev, "nvdla");
	if (ret)
		return ret;
	pci->regs = map_bar(pdev, NVDLA_PCI_BAR_REGS, NVDLA_REGS_BYTES, false);
	pci->ctrl = map_bar(pdev, NVDLA_PCI_BAR_CTRL, NVDLA_PCI_CTRL_BYTES, false);
	pci->batch = map_bar(pdev, NVDLA_PCI_BAR_BATCH, NVDLA_PCI_BATCH_BYTES, true);
	return pci->regs && pci->ctrl && pci->batch ? 0 : -ENODEV;
}

static int check_carrier(struct pci_dev *pdev, struct nvdla_pci *pci)
{
	u32 id = readl(pci->ctrl + NVDLA_PCI_CTRL_ID);
	u32 version = readl(pci->ctrl + NVDLA_PCI_CTRL_VERSION);

	if (id == NVDLA_PCI_ID && version == NVDLA_PCI_VERSION)
		return 0;
	dev_err(&pdev->dev, "carrier is 0x%08x version %u, expected 0x%08x version %u\n", id,
		version, NVDLA_PCI_ID, NVDLA_PCI_VERSION);
	return -ENODEV;
}

static int nvdla_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nvdla_glue glue = { .ops = &nvdla_pci_ops };
	struct nvdla_pci *pci;
	int ret;

	pci = devm_kzalloc(&pdev->dev, sizeof(*pci), GFP_KERNEL);
	if (!pci)
		return -ENOMEM;
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = map_bars(pdev, pci);
	if (ret)
		return ret;
	ret = check_carrier(pdev, pci);
	if (ret)
		return ret;
	ret = pci_alloc_irq_vectors(pdev, 1, NVDLA_PCI_VECTORS, PCI_IRQ_MSI | PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(&pdev->dev, ret, "no message interrupt\n");
	glue.data = pci;
	glue.irq = pci_irq_vector(pdev, 0);
	ret = nvdla_device_probe(&pdev->dev, &glue);
	if (ret)
		return ret;
	pm_runtime_allow(&pdev->dev);
	return 0;
}

static void nvdla_pci_remove(struct pci_dev *pdev)
{
	pm_runtime_forbid(&pdev->dev);
	nvdla_device_remove(&pdev->dev);
}

static const struct pci_device_id nvdla_pci_ids[] = {
	{ PCI_DEVICE(NVDLA_PCI_VENDOR, NVDLA_PCI_DEVICE) }, {}
};
MODULE_DEVICE_TABLE(pci, nvdla_pci_ids);

static struct pci_driver nvdla_pci_driver = {
	.name = "nvdla",
	.id_table = nvdla_pci_ids,
	.probe = nvdla_pci_probe,
	.remove = nvdla_pci_remove,
	.driver.pm = pm_ptr(&nvdla_device_pm_ops),
};

int nvdla_pci_register(void)
{
	return pci_register_driver(&nvdla_pci_driver);
}

void nvdla_pci_unregister(void)
{
	pci_unregister_driver(&nvdla_pci_driver);
}
