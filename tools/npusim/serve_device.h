/* SPDX-License-Identifier: MIT */
/* The PCI function as a whole: what a vfio-user peer and the control socket reach. */
#ifndef SERVE_DEVICE_H
#define SERVE_DEVICE_H

#include "serve_npu.h"
#include "serve_pci.h"

/**
 * struct serve_device - the function
 * @batch_fd, @batch: the batch window, memory that the peer maps
 * @msix_memory: what the peer keeps in the MSI-X BAR
 * @fault_arg: NVDLA_PCI_CTRL_FAULT_ARG, until FAULT_KIND is written
 * @status: NVDLA_PCI_STATUS_BAD_DOORBELL
 * @cycles_hi, @idle_hi: upper halves, held when the lower one was read
 */
struct serve_device {
	struct serve_fault fault;
	struct serve_irq irq;
	struct serve_pci pci;
	struct serve_npu *npu;
	struct vfio_user_dma *dma;
	int batch_fd;
	const struct nvdla_pci_pair *batch;
	u8 msix_memory[NVDLA_PCI_MSIX_BYTES];
	u32 fault_arg;
	u32 status;
	u32 cycles_hi;
	u32 idle_hi;
};

/* The device as vfio_user.h wants it; the context is a struct serve_device. */
extern const struct vfio_user_ops serve_device_ops;

/* Returns 0 or a negative errno. */
int serve_device_init(struct serve_device *dev, const struct npusim_options *options, bool msix);
void serve_device_fini(struct serve_device *dev);

/* The peer has gone: its memory and its interrupts go with it, the device's state stays. */
void serve_device_disconnect(struct serve_device *dev);

/* Reset of the function by the host; ends a death. */
void serve_device_reset(struct serve_device *dev);

/* Arm a fault and do what it does at once; NVDLA_PCI_FAULT_NONE ends the one before. */
void serve_device_fault(struct serve_device *dev, u32 kind, u32 arg);

/* serve_ctrl.c: the carrier's registers; @offset is that of one of them or of nothing. */
u32 serve_ctrl_read(struct serve_device *dev, u32 offset);
void serve_ctrl_write(struct serve_device *dev, u32 offset, u32 value);

#endif /* SERVE_DEVICE_H */
