// SPDX-License-Identifier: MIT
/* The carrier's registers, BAR 2. */
#include "serve_device.h"

/* A counter of 64 bits: the low half now, the high half kept for the next read. */
static u32 split(u64 value, u32 *high)
{
	*high = (u32)(value >> 32);
	return (u32)value;
}

static u32 read_counter(struct serve_device *dev, u32 offset)
{
	struct serve_counters c;

	serve_npu_counters(dev->npu, &c);
	switch (offset) {
	case NVDLA_PCI_CTRL_STRAY_DMA:
		return c.stray_dma;
	case NVDLA_PCI_CTRL_DMA_ERRORS:
		return c.dma_errors;
	case NVDLA_PCI_CTRL_TASKS:
		return c.tasks;
	case NVDLA_PCI_CTRL_REG_WRITES:
		return c.reg_writes;
	case NVDLA_PCI_CTRL_RESETS:
		return c.resets;
	case NVDLA_PCI_CTRL_CYCLES_LO:
		return split(c.cycles, &dev->cycles_hi);
	case NVDLA_PCI_CTRL_IDLE_LO:
		return split(c.idle_cycles, &dev->idle_hi);
	}
	return 0;
}

u32 serve_ctrl_read(struct serve_device *dev, u32 offset)
{
	switch (offset) {
	case NVDLA_PCI_CTRL_ID:
		return NVDLA_PCI_ID;
	case NVDLA_PCI_CTRL_VERSION:
		return NVDLA_PCI_VERSION;
	case NVDLA_PCI_CTRL_RESET:
		return serve_npu_resetting(dev->npu) ||
		       serve_fault_is(&dev->fault, NVDLA_PCI_FAULT_STUCK_RESET, NULL);
	case NVDLA_PCI_CTRL_STATUS:
		return dev->status | serve_npu_status(dev->npu);
	case NVDLA_PCI_CTRL_FAULT_KIND:
		return serve_fault_kind(&dev->fault);
	case NVDLA_PCI_CTRL_FAULT_ARG:
		return dev->fault_arg;
	case NVDLA_PCI_CTRL_INTERRUPTS:
		return serve_irq_sent(&dev->irq);
	case NVDLA_PCI_CTRL_CYCLES_HI:
		return dev->cycles_hi;
	case NVDLA_PCI_CTRL_IDLE_HI:
		return dev->idle_hi;
	}
	return read_counter(dev, offset);
}

/* The window is the guest's to change at any time: each pair is read once, into our own memory. */
static void ring(struct serve_device *dev, u32 count)
{
	struct nvdla_pci_pair pair[64];
	u32 at, i, n;

	if (count > NVDLA_PCI_BATCH_PAIRS) {
		dev->status |= NVDLA_PCI_STATUS_BAD_DOORBELL;
		return;
	}
	for (at = 0; at < count; at += n) {
		n = min(count - at, (u32)ARRAY_SIZE(pair));
		for (i = 0; i < n; i++) {
			const volatile struct nvdla_pci_pair *from = &dev->batch[at + i];

			pair[i].reg = from->reg;
			pair[i].value = from->value;
		}
		serve_npu_write(dev->npu, pair, n);
	}
}

void serve_ctrl_write(struct serve_device *dev, u32 offset, u32 value)
{
	switch (offset) {
	case NVDLA_PCI_CTRL_RESET:
		if (value & 1)
			serve_npu_reset(dev->npu);
		break;
	case NVDLA_PCI_CTRL_DOORBELL:
		ring(dev, value);
		break;
	case NVDLA_PCI_CTRL_STATUS:
		dev->status &= ~value;
		serve_npu_clear_status(dev->npu, value);
		break;
	case NVDLA_PCI_CTRL_FAULT_KIND:
		serve_device_fault(dev, value, dev->fault_arg);
		break;
	case NVDLA_PCI_CTRL_FAULT_ARG:
		dev->fault_arg = value;
		break;
	}
}
