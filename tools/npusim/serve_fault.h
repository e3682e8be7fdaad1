/* SPDX-License-Identifier: MIT */
/*
 * The fault that a test has armed (nvdla_pci_device.h): one at a time, written by whoever serves
 * the carrier's registers or the control socket, looked at where it bites, from any thread.
 */
#ifndef SERVE_FAULT_H
#define SERVE_FAULT_H

#include <stdatomic.h>

#include "nvdla_pci_device.h"

/* Kind in the upper half, argument in the lower one, so that both change at once. */
struct serve_fault {
	_Atomic u64 armed;
};

static inline void serve_fault_arm(struct serve_fault *fault, u32 kind, u32 arg)
{
	atomic_store(&fault->armed, (u64)kind << 32 | arg);
}

static inline u32 serve_fault_kind(struct serve_fault *fault)
{
	return (u32)(atomic_load(&fault->armed) >> 32);
}

/* Is a lasting fault of this kind armed?  @arg (may be NULL) becomes its argument. */
bool serve_fault_is(struct serve_fault *fault, enum nvdla_pci_fault kind, u32 *arg);

/* The same for one that happens once: it happens now, and is armed no longer. */
bool serve_fault_take(struct serve_fault *fault, enum nvdla_pci_fault kind, u32 *arg);

/* NVDLA_PCI_FAULT_DMA, if it is meant for accesses of this direction. */
bool serve_fault_take_dma(struct serve_fault *fault, bool write);

/* NVDLA_PCI_FAULT_HANG: happens now, and what its argument says is armed. */
bool serve_fault_take_hang(struct serve_fault *fault);

/* "none", "hang", ...; NULL for a number that is no kind. */
const char *serve_fault_name(u32 kind);

/* The kind of that name; NVDLA_PCI_FAULT_COUNT where there is none. */
u32 serve_fault_find(const char *name);

#endif /* SERVE_FAULT_H */
