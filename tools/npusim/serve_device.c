// SPDX-License-Identifier: MIT
#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "serve_device.h"

/* DMA and messages follow the command register and the power state. */
static void apply_command(struct serve_device *dev)
{
	bool masters = serve_pci_masters(&dev->pci);

	serve_irq_enable(&dev->irq, masters);
	vfio_user_dma_block(dev->dma, masters ? 0 : -EPERM);
}

/* A reset of the function, whoever wants it; armed faults are the test's, not the function's. */
static void reset_function(struct serve_device *dev)
{
	serve_pci_reset(&dev->pci);
	apply_command(dev);
	dev->status = 0;
	serve_npu_reset(dev->npu);
	serve_npu_wait_reset(dev->npu);
	serve_npu_clear_status(dev->npu, UINT32_MAX);
}

void serve_device_reset(struct serve_device *dev)
{
	if (serve_fault_is(&dev->fault, NVDLA_PCI_FAULT_DEAD, NULL))
		serve_device_fault(dev, NVDLA_PCI_FAULT_NONE, 0);
	reset_function(dev);
}

void serve_device_fault(struct serve_device *dev, u32 kind, u32 arg)
{
	if (!serve_fault_name(kind))
		return;
	if (kind == NVDLA_PCI_FAULT_SPURIOUS) {
		serve_irq_inject(&dev->irq);
		return;
	}
	serve_fault_arm(&dev->fault, kind, arg);
	serve_npu_fault_changed(dev->npu);
}

/* ---- registers ------------------------------------------------------------------------- */

static bool dead(struct serve_device *dev)
{
	return serve_fault_is(&dev->fault, NVDLA_PCI_FAULT_DEAD, NULL);
}

/* The configuration ROM, as it is or as the fault has it: all of it, or the register @arg alone. */
static u32 read_npu(struct serve_device *dev, u32 reg)
{
	u32 value = serve_npu_read(dev->npu, reg), which;

	if (reg < NVDLA_GLB_BASE && serve_fault_is(&dev->fault, NVDLA_PCI_FAULT_ROM, &which) &&
	    (!which || which == reg))
		value = ~value;
	return value;
}

static u32 read_register(struct serve_device *dev, u32 region, u32 offset)
{
	if (!serve_pci_powered(&dev->pci))
		return UINT32_MAX;
	return region == VFIO_PCI_BAR0_REGION_INDEX ? read_npu(dev, offset)
						    : serve_ctrl_read(dev, offset);
}

static void write_register(struct serve_device *dev, u32 region, u32 offset, u32 value)
{
	struct nvdla_pci_pair pair = { htole32(offset), htole32(value) };

	if (!serve_pci_powered(&dev->pci))
		return;
	if (region == VFIO_PCI_BAR0_REGION_INDEX)
		serve_npu_write(dev->npu, &pair, 1);
	else
		serve_ctrl_write(dev, offset, value);
}

/* Registers are 32 bits wide: other accesses read ones and write nothing. */
static bool is_register_access(u64 offset, u32 count)
{
	return count == sizeof(u32) && offset % sizeof(u32) == 0;
}

static bool is_registers(u32 region)
{
	return region == VFIO_PCI_BAR0_REGION_INDEX || region == VFIO_PCI_BAR2_REGION_INDEX;
}

/* Memory that is behind a region; NULL where there is none. */
static u8 *region_memory(struct serve_device *dev, u32 region)
{
	switch (region) {
	case VFIO_PCI_BAR1_REGION_INDEX:
		return dev->msix_memory;
	case VFIO_PCI_BAR4_REGION_INDEX:
		return (u8 *)dev->batch;
	}
	return NULL;
}

static int device_read(void *context, u32 region, u64 offset, void *buf, u32 count)
{
	struct serve_device *dev = context;
	u32 value;

	memset(buf, 0xff, count);
	if (dead(dev))
		return 0;
	if (is_registers(region)) {
		if (is_register_access(offset, count)) {
			value = htole32(read_register(dev, region, (u32)offset));
			memcpy(buf, &value, sizeof(value));
		}
	} else if (region == VFIO_PCI_CONFIG_REGION_INDEX) {
		serve_pci_read(&dev->pci, (u32)offset, buf, count);
	} else if (region_memory(dev, region)) {
		memcpy(buf, region_memory(dev, region) + offset, count);
	}
	return 0;
}

static void write_config(struct serve_device *dev, u32 offset, const void *buf, u32 count)
{
	u32 done = serve_pci_write(&dev->pci, offset, buf, count);

	apply_command(dev);
	if (done & SERVE_PCI_FLR)
		reset_function(dev);
	else if (done & SERVE_PCI_WOKE)
		serve_npu_reset(dev->npu);
}

/* Death ends by a command, and by nothing else that a guest can write. */
static bool raises_the_dead(u32 region, u64 offset, u32 count)
{
	return region == VFIO_PCI_BAR2_REGION_INDEX && offset == NVDLA_PCI_CTRL_FAULT_KIND &&
	       is_register_access(offset, count);
}

static int device_write(void *context, u32 region, u64 offset, const void *buf, u32 count)
{
	struct serve_device *dev = context;
	u32 value;

	if (dead(dev) && !raises_the_dead(region, offset, count))
		return 0;
	if (is_registers(region)) {
		if (is_register_access(offset, count)) {
			memcpy(&value, buf, sizeof(value));
			write_register(dev, region, (u32)offset, le32toh(value));
		}
	} else if (region == VFIO_PCI_CONFIG_REGION_INDEX) {
		write_config(dev, (u32)offset, buf, count);
	} else if (region_memory(dev, region)) {
		memcpy(region_memory(dev, region) + offset, buf, count);
	}
	return 0;
}

/* ---- what there is ---------------------------------------------------------------------- */

static void device_region(void *context, u32 index, struct vfio_user_region *region)
{
	struct serve_device *dev = context;

	if (index == VFIO_PCI_CONFIG_REGION_INDEX)
		region->size = SERVE_PCI_CONFIG_BYTES;
	else if (index < VFIO_PCI_ROM_REGION_INDEX)
		region->size = serve_pci_bar_bytes(&dev->pci, index);
	if (region->size)
		region->flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	if (index == VFIO_PCI_BAR4_REGION_INDEX) {
		region->flags |= VFIO_REGION_INFO_FLAG_MMAP;
		region->fd = dev->batch_fd;
	}
}

static u32 device_irqs(void *context, u32 index)
{
	struct serve_device *dev = context;

	if (index == VFIO_PCI_MSI_IRQ_INDEX || (index == VFIO_PCI_MSIX_IRQ_INDEX && dev->pci.msix))
		return NVDLA_PCI_VECTORS;
	return 0;
}

static int device_set_eventfd(void *context, u32 index, u32 vector, int fd)
{
	struct serve_device *dev = context;

	serve_irq_connect(&dev->irq, index, fd);
	return 0;
}

static int device_trigger(void *context, u32 index, u32 vector)
{
	struct serve_device *dev = context;

	serve_irq_inject(&dev->irq);
	return 0;
}

static int device_dma_map(void *context, const struct vfio_user_dma_map *map, int fd)
{
	struct serve_device *dev = context;

	return vfio_user_dma_map(dev->dma, map, fd);
}

static int device_dma_unmap(void *context, const struct vfio_user_dma_unmap *unmap)
{
	struct serve_device *dev = context;

	if (!(unmap->flags & VFIO_DMA_UNMAP_FLAG_ALL))
		return vfio_user_dma_unmap(dev->dma, unmap->address, unmap->size);
	vfio_user_dma_unmap_all(dev->dma);
	return 0;
}

static void device_twin(void *context, int fd, u32 max_transfer)
{
	struct serve_device *dev = context;

	vfio_user_dma_twin(dev->dma, fd, max_transfer);
}

static void device_reset(void *context)
{
	serve_device_reset(context);
}

const struct vfio_user_ops serve_device_ops = {
	.region = device_region,
	.read = device_read,
	.write = device_write,
	.irqs = device_irqs,
	.set_eventfd = device_set_eventfd,
	.trigger = device_trigger,
	.dma_map = device_dma_map,
	.dma_unmap = device_dma_unmap,
	.twin = device_twin,
	.reset = device_reset,
};

void serve_device_disconnect(struct serve_device *dev)
{
	serve_irq_disconnect(&dev->irq);
	vfio_user_dma_disconnect(dev->dma);
}

/* ---- life --------------------------------------------------------------------------------- */

/* Sealed: the peer, who gets the file, cannot take the memory away under us. */
static int make_batch(struct serve_device *dev)
{
	void *p;

	dev->batch_fd = memfd_create("npusim-batch", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (dev->batch_fd < 0)
		return -errno;
	if (ftruncate(dev->batch_fd, NVDLA_PCI_BATCH_BYTES) ||
	    fcntl(dev->batch_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	p = mmap(NULL, NVDLA_PCI_BATCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, dev->batch_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	dev->batch = p;
	return 0;
}

int serve_device_init(struct serve_device *dev, const struct npusim_options *options, bool msix)
{
	int error;

	memset(dev, 0, sizeof(*dev));
	dev->batch_fd = -1;
	error = serve_irq_init(&dev->irq, &dev->fault);
	if (error)
		return error;
	serve_pci_init(&dev->pci, msix);
	error = make_batch(dev);
	if (!error) {
		dev->dma = vfio_user_dma_create();
		error = dev->dma ? 0 : -ENOMEM;
	}
	if (!error) {
		apply_command(dev);
		dev->npu = serve_npu_create(options, dev->dma, &dev->irq, &dev->fault);
		error = dev->npu ? 0 : -ENOMEM;
	}
	if (error)
		serve_device_fini(dev);
	else
		serve_npu_wait_reset(dev->npu); /* the one of power-on */
	return error;
}

void serve_device_fini(struct serve_device *dev)
{
	serve_npu_destroy(dev->npu);
	vfio_user_dma_destroy(dev->dma);
	if (dev->batch)
		munmap((void *)dev->batch, NVDLA_PCI_BATCH_BYTES);
	if (dev->batch_fd >= 0)
		close(dev->batch_fd);
	serve_irq_fini(&dev->irq);
}
