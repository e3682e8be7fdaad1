// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of the platform glue without a device tree: takes the PCI function instead of nvdla's PCI
 * glue and makes a platform device of its register file and its interrupt.  Bound by hand only:
 *
 *	echo nvdla_platform_test > /sys/bus/pci/devices/.../driver_override
 *
 * Where the kernel lets a software node stand for a reset controller, the carrier's reset register
 * becomes the device's reset line; else the device is reset once, before it is handed over.
 */
#include <linux/ioport.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/property.h>
#include <linux/reset-controller.h>

#include "nvdla_pci_device.h"

static unsigned int unusable_bank;
module_param(unusable_bank, uint, 0444);
MODULE_PARM_DESC(unusable_bank, "a bank of CBUF that must not be used (default: none)");

static bool no_power;
module_param(no_power, bool, 0644);
MODULE_PARM_DESC(no_power, "the reset line cannot be released, if there is one (default: no)");

struct platform_test {
	void __iomem *ctrl;
	struct platform_device *npu;
#ifdef NVDLA_HAVE_RESET_FWNODE
	struct reset_controller_dev rcdev;
#endif
};

static int carrier_reset(struct platform_test *test)
{
	u32 value;

	writel(1, test->ctrl + NVDLA_PCI_CTRL_RESET);
	return readl_poll_timeout(test->ctrl + NVDLA_PCI_CTRL_RESET, value, !value, 50,
				  USEC_PER_SEC);
}

#ifdef NVDLA_HAVE_RESET_FWNODE

static const struct property_entry controller_properties[] = {
	PROPERTY_ENTRY_U32("#reset-cells", 1), {}
};

static const struct software_node controller_node = {
	.name = "nvdla-platform-test-reset",
	.properties = controller_properties,
};

static const struct property_entry npu_properties[] = {
	PROPERTY_ENTRY_REF("resets", &controller_node, 0),
	PROPERTY_ENTRY_STRING("reset-names", "core"),
	PROPERTY_ENTRY_U32("nvidia,unusable-banks", 0),
	{}
};

/* The carrier has no line to hold: a whole reset when it would be let go. */
static int line_assert(struct reset_controller_dev *rcdev, unsigned long id)
{
	return 0;
}

static int line_deassert(struct reset_controller_dev *rcdev, unsigned long id)
{
	return no_power ? -EIO : carrier_reset(container_of(rcdev, struct platform_test, rcdev));
}

static const struct reset_control_ops line_ops = {
	.assert = line_assert,
	.deassert = line_deassert,
};

static void unregister_node(void *node)
{
	software_node_unregister(node);
}

static int add_reset(struct device *dev, struct platform_test *test)
{
	int ret;

	ret = software_node_register(&controller_node);
	if (ret)
		return ret;
	ret = devm_add_action_or_reset(dev, unregister_node, (void *)&controller_node);
	if (ret)
		return ret;
	/* There is no device behind the node for whose driver the NPU would have to wait. */
	fwnode_dev_initialized(software_node_fwnode(&controller_node), true);
	test->rcdev.ops = &line_ops;
	test->rcdev.owner = THIS_MODULE;
	test->rcdev.dev = dev;
	test->rcdev.fwnode = software_node_fwnode(&controller_node);
	test->rcdev.nr_resets = 1;
	return devm_reset_controller_register(dev, &test->rcdev);
}

#else

static const struct property_entry npu_properties[] = {
	PROPERTY_ENTRY_U32("nvidia,unusable-banks", 0), {}
};

static int add_reset(struct device *dev, struct platform_test *test)
{
	return carrier_reset(test);
}

#endif

static void unregister_npu(void *npu)
{
	platform_device_unregister(npu);
}

/* The properties, the last of which is told by the module's parameter or left out. */
static int add_npu(struct pci_dev *pdev, struct platform_test *test)
{
	struct property_entry properties[ARRAY_SIZE(npu_properties)];
	const struct resource resources[] = {
		DEFINE_RES_MEM(pci_resource_start(pdev, NVDLA_PCI_BAR_REGS), NVDLA_REGS_BYTES),
		DEFINE_RES_IRQ(pci_irq_vector(pdev, 0)),
	};
	const struct platform_device_info info = {
		.parent = &pdev->dev,
		.name = "nvdla",
		.id = PLATFORM_DEVID_AUTO,
		.res = resources,
		.num_res = ARRAY_SIZE(resources),
		.dma_mask = DMA_BIT_MASK(32),
		.properties = properties,
	};
	const size_t last = ARRAY_SIZE(npu_properties) - 2;

	memcpy(properties, npu_properties, sizeof(properties));
	if (unusable_bank)
		properties[last].value.u32_data[0] = unusable_bank;
	else
		memset(&properties[last], 0, sizeof(properties[last]));
	test->npu = platform_device_register_full(&info);
	if (IS_ERR(test->npu))
		return PTR_ERR(test->npu);
	return devm_add_action_or_reset(&pdev->dev, unregister_npu, test->npu);
}

static int platform_test_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct platform_test *test;
	int ret;

	test = devm_kzalloc(&pdev->dev, sizeof(*test), GFP_KERNEL);
	if (!test)
		return -ENOMEM;
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 1, NVDLA_PCI_VECTORS, PCI_IRQ_MSI | PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	test->ctrl = pcim_iomap(pdev, NVDLA_PCI_BAR_CTRL, NVDLA_PCI_CTRL_BYTES);
	if (!test->ctrl)
		return -ENOMEM;
	ret = add_reset(&pdev->dev, test);
	return ret ? ret : add_npu(pdev, test);
}

/* No device by itself: driver_override names the driver. */
static const struct pci_device_id platform_test_ids[] = {
	{ PCI_DEVICE_DRIVER_OVERRIDE(NVDLA_PCI_VENDOR, NVDLA_PCI_DEVICE, 1) }, {}
};

static struct pci_driver platform_test_driver = {
	.name = "nvdla_platform_test",
	.id_table = platform_test_ids,
	.probe = platform_test_probe,
};
module_pci_driver(platform_test_driver);

MODULE_DESCRIPTION("Makes a platform device of an NVDLA PCI function, for tests");
MODULE_LICENSE("GPL");
