// SPDX-License-Identifier: MIT
#include <linux/pci_regs.h>

#include "serve_pci.h"

/* Where the capabilities are; each points to the next. */
#define CAP_PM 0x40
#define CAP_MSI 0x50
#define CAP_EXPRESS 0x70
#define CAP_MSIX 0xb0

/* PCI_PM_CTRL_STATE_MASK */
#define POWER_D0 0
#define POWER_D3HOT 3

/* Of the control bits of PCI Express all may be written; a reset is an action, not a state. */
#define DEVCTL_WRITABLE 0x7fff
#define DEVCTL_RESET_VALUE (PCI_EXP_DEVCTL_READRQ_512B | PCI_EXP_DEVCTL_RELAX_EN)

/* One 16 or 32 bit register: its value after reset and the bits that software may change. */
struct field {
	u16 offset;
	u8 bytes;
	u32 value;
	u32 mask;
};

/* clang-format off */
static const struct field fields[] = {
	{ PCI_VENDOR_ID,           2, NVDLA_PCI_VENDOR, 0 },
	{ PCI_DEVICE_ID,           2, NVDLA_PCI_DEVICE, 0 },
	{ PCI_COMMAND,             2, 0, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
				      PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE },
	{ PCI_STATUS,              2, PCI_STATUS_CAP_LIST, 0 },
	{ PCI_CLASS_REVISION,      4, NVDLA_PCI_CLASS << 8 | NVDLA_PCI_REVISION, 0 },
	{ PCI_CACHE_LINE_SIZE,     1, 0, 0xff },
	{ PCI_SUBSYSTEM_VENDOR_ID, 2, NVDLA_PCI_SUBSYSTEM_VENDOR, 0 },
	{ PCI_SUBSYSTEM_ID,        2, NVDLA_PCI_SUBSYSTEM_DEVICE, 0 },
	{ PCI_CAPABILITY_LIST,     1, CAP_PM, 0 },
	{ PCI_INTERRUPT_LINE,      1, 0, 0xff },

	/* No_Soft_Reset is 0: the function loses its state on the way from D3hot to D0. */
	{ CAP_PM + PCI_CAP_LIST_ID,   1, PCI_CAP_ID_PM, 0 },
	{ CAP_PM + PCI_CAP_LIST_NEXT, 1, CAP_MSI, 0 },
	{ CAP_PM + PCI_PM_PMC,        2, 3, 0 },
	{ CAP_PM + PCI_PM_CTRL,       2, 0, PCI_PM_CTRL_STATE_MASK },

	{ CAP_MSI + PCI_CAP_LIST_ID,    1, PCI_CAP_ID_MSI, 0 },
	{ CAP_MSI + PCI_CAP_LIST_NEXT,  1, CAP_EXPRESS, 0 },
	{ CAP_MSI + PCI_MSI_FLAGS,      2, PCI_MSI_FLAGS_64BIT, PCI_MSI_FLAGS_ENABLE | PCI_MSI_FLAGS_QSIZE },
	{ CAP_MSI + PCI_MSI_ADDRESS_LO, 4, 0, 0xfffffffc },
	{ CAP_MSI + PCI_MSI_ADDRESS_HI, 4, 0, 0xffffffff },
	{ CAP_MSI + PCI_MSI_DATA_64,    2, 0, 0xffff },

	{ CAP_EXPRESS + PCI_CAP_LIST_ID, 1, PCI_CAP_ID_EXP, 0 },
	{ CAP_EXPRESS + PCI_EXP_FLAGS,   2, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0 },
	{ CAP_EXPRESS + PCI_EXP_DEVCAP,  4, PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_RBER, 0 },
	{ CAP_EXPRESS + PCI_EXP_DEVCTL,  2, DEVCTL_RESET_VALUE, DEVCTL_WRITABLE },
	{ CAP_EXPRESS + PCI_EXP_LNKCAP,  4, PCI_EXP_LNKCAP_SLS_2_5GB | 1 << 4, 0 },
	{ CAP_EXPRESS + PCI_EXP_LNKCTL,  2, 0, PCI_EXP_LNKCTL_ASPMC | PCI_EXP_LNKCTL_CCC },
	{ CAP_EXPRESS + PCI_EXP_LNKSTA,  2, PCI_EXP_LNKSTA_CLS_2_5GB | PCI_EXP_LNKSTA_NLW_X1, 0 },
};

/* With an MSI-X capability, these as well. */
static const struct field msix_fields[] = {
	{ CAP_EXPRESS + PCI_CAP_LIST_NEXT, 1, CAP_MSIX, 0 },
	{ CAP_MSIX + PCI_CAP_LIST_ID,      1, PCI_CAP_ID_MSIX, 0 },
	{ CAP_MSIX + PCI_MSIX_FLAGS,       2, NVDLA_PCI_VECTORS - 1, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL },
	{ CAP_MSIX + PCI_MSIX_TABLE,       4, NVDLA_PCI_MSIX_TABLE | NVDLA_PCI_BAR_MSIX, 0 },
	{ CAP_MSIX + PCI_MSIX_PBA,         4, NVDLA_PCI_MSIX_PBA | NVDLA_PCI_BAR_MSIX, 0 },
};
/* clang-format on */

static void put(u8 *at, u32 value, u32 bytes)
{
	for (; bytes--; value >>= 8)
		*at++ = (u8)value;
}

static u32 get16(const struct serve_pci *pci, u32 offset)
{
	return pci->value[offset] | (u32)pci->value[offset + 1] << 8;
}

u32 serve_pci_bar_bytes(const struct serve_pci *pci, u32 bar)
{
	switch (bar) {
	case NVDLA_PCI_BAR_REGS:
		return NVDLA_REGS_BYTES;
	case NVDLA_PCI_BAR_MSIX:
		return pci->msix ? NVDLA_PCI_MSIX_BYTES : 0;
	case NVDLA_PCI_BAR_CTRL:
		return NVDLA_PCI_CTRL_BYTES;
	case NVDLA_PCI_BAR_BATCH:
		return NVDLA_PCI_BATCH_BYTES;
	}
	return 0;
}

static void set_fields(struct serve_pci *pci, const struct field *list, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		put(pci->value + list[i].offset, list[i].value, list[i].bytes);
		put(pci->mask + list[i].offset, list[i].mask, list[i].bytes);
	}
}

/* The address bits that a BAR of a power of two of bytes decodes. */
static void set_bars(struct serve_pci *pci)
{
	u32 bar, bytes;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		bytes = serve_pci_bar_bytes(pci, bar);
		put(pci->mask + PCI_BASE_ADDRESS_0 + 4 * bar, bytes ? ~(bytes - 1) : 0, 4);
	}
}

void serve_pci_reset(struct serve_pci *pci)
{
	memset(pci->value, 0, sizeof(pci->value));
	memset(pci->mask, 0, sizeof(pci->mask));
	set_fields(pci, fields, ARRAY_SIZE(fields));
	if (pci->msix)
		set_fields(pci, msix_fields, ARRAY_SIZE(msix_fields));
	set_bars(pci);
}

void serve_pci_init(struct serve_pci *pci, bool msix)
{
	pci->msix = msix;
	serve_pci_reset(pci);
}

void serve_pci_read(const struct serve_pci *pci, u32 offset, void *buf, u32 count)
{
	memcpy(buf, pci->value + offset, count);
}

bool serve_pci_powered(const struct serve_pci *pci)
{
	return (get16(pci, CAP_PM + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK) != POWER_D3HOT;
}

bool serve_pci_masters(const struct serve_pci *pci)
{
	return serve_pci_powered(pci) && (get16(pci, PCI_COMMAND) & PCI_COMMAND_MASTER);
}

/* D1 and D2 are not offered: a write of these changes nothing. */
static void keep_power(struct serve_pci *pci, u8 before)
{
	u8 *state = pci->value + CAP_PM + PCI_PM_CTRL, now = *state & PCI_PM_CTRL_STATE_MASK;

	if (now != POWER_D0 && now != POWER_D3HOT)
		*state = before;
}

/* A reset bit that was written is seen once. */
static bool take_flr(struct serve_pci *pci)
{
	u8 *high = pci->value + CAP_EXPRESS + PCI_EXP_DEVCTL + 1;
	bool wanted = *high & (PCI_EXP_DEVCTL_BCR_FLR >> 8);

	*high &= (u8) ~(PCI_EXP_DEVCTL_BCR_FLR >> 8);
	return wanted;
}

u32 serve_pci_write(struct serve_pci *pci, u32 offset, const void *buf, u32 count)
{
	const u32 devctl_high = CAP_EXPRESS + PCI_EXP_DEVCTL + 1;
	u8 power = pci->value[CAP_PM + PCI_PM_CTRL];
	bool powered = serve_pci_powered(pci);
	const u8 *from = buf;
	u32 i, done = 0;

	for (i = 0; i < count; i++) {
		u32 at = offset + i;
		u8 mask = pci->mask[at];

		if (at == devctl_high)
			mask |= PCI_EXP_DEVCTL_BCR_FLR >> 8;
		pci->value[at] = (u8)((pci->value[at] & ~mask) | (from[i] & mask));
	}
	keep_power(pci, power);
	if (take_flr(pci))
		done |= SERVE_PCI_FLR;
	if (!powered && serve_pci_powered(pci))
		done |= SERVE_PCI_WOKE;
	return done;
}
