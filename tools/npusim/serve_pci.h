/* SPDX-License-Identifier: MIT */
/* Configuration space of the PCI function: identity, BARs, capabilities. */
#ifndef SERVE_PCI_H
#define SERVE_PCI_H

#include "nvdla_pci_device.h"

#define SERVE_PCI_CONFIG_BYTES 4096u

/**
 * struct serve_pci - the configuration space
 * @value: what it holds
 * @mask: bits that software may change
 * @msix: it has an MSI-X capability besides the MSI one
 */
struct serve_pci {
	u8 value[SERVE_PCI_CONFIG_BYTES];
	u8 mask[SERVE_PCI_CONFIG_BYTES];
	bool msix;
};

/* What a write has brought about. */
#define SERVE_PCI_FLR 1u /* a function level reset is wanted */
#define SERVE_PCI_WOKE 2u /* from D3hot to D0: what was in the function is lost */

void serve_pci_init(struct serve_pci *pci, bool msix);

/* The state after a reset of the function. */
void serve_pci_reset(struct serve_pci *pci);

/* Any part of the configuration space; the range is checked by the caller. */
void serve_pci_read(const struct serve_pci *pci, u32 offset, void *buf, u32 count);

/* Returns SERVE_PCI_*. */
u32 serve_pci_write(struct serve_pci *pci, u32 offset, const void *buf, u32 count);

/* In D0? */
bool serve_pci_powered(const struct serve_pci *pci);

/* In D0 and allowed to master the bus: DMA and messages. */
bool serve_pci_masters(const struct serve_pci *pci);

/* Bytes of a BAR, 0 where there is none. */
u32 serve_pci_bar_bytes(const struct serve_pci *pci, u32 bar);

#endif /* SERVE_PCI_H */
