// SPDX-License-Identifier: MIT
#include "serve_fault.h"

static const char *const names[NVDLA_PCI_FAULT_COUNT] = {
	[NVDLA_PCI_FAULT_NONE] = "none",
	[NVDLA_PCI_FAULT_HANG] = "hang",
	[NVDLA_PCI_FAULT_SPURIOUS] = "spurious",
	[NVDLA_PCI_FAULT_LOST] = "lost",
	[NVDLA_PCI_FAULT_LATE] = "late",
	[NVDLA_PCI_FAULT_ROM] = "rom",
	[NVDLA_PCI_FAULT_DMA] = "dma",
	[NVDLA_PCI_FAULT_SLOW_MEMORY] = "slow-memory",
	[NVDLA_PCI_FAULT_DEAD] = "dead",
	[NVDLA_PCI_FAULT_SLOW_TASKS] = "slow-tasks",
	[NVDLA_PCI_FAULT_STUCK_RESET] = "stuck-reset",
};

bool serve_fault_is(struct serve_fault *fault, enum nvdla_pci_fault kind, u32 *arg)
{
	u64 armed = atomic_load(&fault->armed);

	if (arg)
		*arg = (u32)armed;
	return armed >> 32 == kind;
}

/* Disarm what was seen, unless another has been armed since. */
static bool disarm(struct serve_fault *fault, u64 seen)
{
	return atomic_compare_exchange_strong(&fault->armed, &seen, 0);
}

bool serve_fault_take(struct serve_fault *fault, enum nvdla_pci_fault kind, u32 *arg)
{
	u64 armed = atomic_load(&fault->armed);

	if (armed >> 32 != kind || !disarm(fault, armed))
		return false;
	if (arg)
		*arg = (u32)armed;
	return true;
}

bool serve_fault_take_dma(struct serve_fault *fault, bool write)
{
	u64 armed = atomic_load(&fault->armed);
	u32 which = (u32)armed;

	if (armed >> 32 != NVDLA_PCI_FAULT_DMA)
		return false;
	if (which != NVDLA_PCI_FAULT_DMA_ANY &&
	    which != (write ? NVDLA_PCI_FAULT_DMA_WRITE : NVDLA_PCI_FAULT_DMA_READ))
		return false;
	return disarm(fault, armed);
}

bool serve_fault_take_hang(struct serve_fault *fault)
{
	u64 armed = atomic_load(&fault->armed);
	u32 next = (u32)armed;

	if (armed >> 32 != NVDLA_PCI_FAULT_HANG)
		return false;
	if (!serve_fault_name(next))
		next = NVDLA_PCI_FAULT_NONE;
	return atomic_compare_exchange_strong(&fault->armed, &armed, (u64)next << 32);
}

const char *serve_fault_name(u32 kind)
{
	return kind < NVDLA_PCI_FAULT_COUNT ? names[kind] : NULL;
}

u32 serve_fault_find(const char *name)
{
	u32 i;

	for (i = 0; i < NVDLA_PCI_FAULT_COUNT; i++)
		if (!strcmp(names[i], name))
			break;
	return i;
}
