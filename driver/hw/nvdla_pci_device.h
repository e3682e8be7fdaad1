/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The PCI function that carries an NPU: what its driver and its model both have
 * to know.  BAR 0 is the register file of nvdla_regs.h, unchanged; the carrier
 * around it has a page of its own registers (BAR 2) and a window of memory from
 * which it writes many registers at one command (BAR 4).
 *
 * All registers are 32 bits wide, little endian, and accessed as such only.
 */
#ifndef NVDLA_PCI_DEVICE_H
#define NVDLA_PCI_DEVICE_H

#include "nvdla_regs.h"

/*
 * Identity.  QEMU's owner of vendor 1af4 leaves devices 10f0 to 10ff to experiments, without
 * registration; nothing that is sold may use them.
 */
#define NVDLA_PCI_VENDOR 0x1af4
#define NVDLA_PCI_DEVICE 0x10f0
#define NVDLA_PCI_SUBSYSTEM_VENDOR 0x1af4
#define NVDLA_PCI_SUBSYSTEM_DEVICE 0x0001
#define NVDLA_PCI_REVISION 0x01
#define NVDLA_PCI_CLASS 0x120000 /* processing accelerator */

/* Memory BARs, all 32 bits.  The MSI-X table is in a BAR of its own, where there is one. */
enum nvdla_pci_bar {
	NVDLA_PCI_BAR_REGS = 0,
	NVDLA_PCI_BAR_MSIX = 1,
	NVDLA_PCI_BAR_CTRL = 2,
	NVDLA_PCI_BAR_BATCH = 4,
};

#define NVDLA_PCI_CTRL_BYTES 0x1000u
#define NVDLA_PCI_BATCH_BYTES 0x10000u
#define NVDLA_PCI_MSIX_BYTES 0x1000u

/* In the MSI-X BAR. */
#define NVDLA_PCI_MSIX_TABLE 0x000u
#define NVDLA_PCI_MSIX_PBA 0x800u

/* Interrupt vectors.  One: the pin of the NPU, see NVDLA_PCI_CTRL_ID below. */
#define NVDLA_PCI_VECTORS 1

/**
 * struct nvdla_pci_pair - one register write of the batch window
 * @reg: offset in the register file, little endian
 * @value: what is written there, little endian
 */
struct nvdla_pci_pair {
	u32 reg;
	u32 value;
};

#define NVDLA_PCI_BATCH_PAIRS (NVDLA_PCI_BATCH_BYTES / 8)

/*
 * Registers of the carrier, byte offsets in BAR 2.  RO: writes are ignored.
 *
 * The NPU's interrupt is a level: (GLB.S_INTR_STATUS & ~GLB.S_INTR_MASK) != 0.  A message is
 * sent when it rises, and again after each write to S_INTR_STATUS or S_INTR_MASK that leaves
 * it high, so that a receiver of edges loses nothing.
 *
 * Writes to BAR 0, 2 and 4 take effect in order.  A read from BAR 0 or 2 comes after all
 * writes before it, so it also says that the batch window may be written again.
 */
enum nvdla_pci_ctrl {
	NVDLA_PCI_CTRL_ID = 0x000, /* RO: NVDLA_PCI_ID */
	NVDLA_PCI_CTRL_VERSION = 0x004, /* RO: NVDLA_PCI_VERSION */
	/*
	 * Write 1: hardware reset of the NPU (registers, CBUF, interrupts; not of this page).
	 * Reads 1 until it is done and CBUF has been flushed, then 0.
	 */
	NVDLA_PCI_CTRL_RESET = 0x008,
	/*
	 * Write n: write the first n pairs of the batch window to the register file, in order.
	 * n beyond NVDLA_PCI_BATCH_PAIRS: nothing is written, STATUS says so.  Reads 0.
	 */
	NVDLA_PCI_CTRL_DOORBELL = 0x00c,
	NVDLA_PCI_CTRL_STATUS = 0x010, /* NVDLA_PCI_STATUS_*; write 1 to clear */

	/* Faults on command, for tests.  FAULT_ARG is written first. */
	NVDLA_PCI_CTRL_FAULT_KIND = 0x020, /* enum nvdla_pci_fault; reads what is still to come */
	NVDLA_PCI_CTRL_FAULT_ARG = 0x024,

	/*
	 * Counters since the device was made, RO.  64 bits are two registers: reading the low
	 * one holds the high one.
	 */
	NVDLA_PCI_CTRL_STRAY_DMA = 0x040, /* DMA accesses outside of what is mapped: refused */
	NVDLA_PCI_CTRL_DMA_ERRORS = 0x044, /* DMA accesses that failed for another reason */
	NVDLA_PCI_CTRL_TASKS = 0x048, /* operations that ended in SDP, PDP or CDP */
	NVDLA_PCI_CTRL_INTERRUPTS = 0x04c, /* messages sent */
	NVDLA_PCI_CTRL_REG_WRITES = 0x050, /* of BAR 0 and of batches */
	NVDLA_PCI_CTRL_RESETS = 0x054, /* of the NPU, for whatever reason */
	NVDLA_PCI_CTRL_CYCLES_LO = 0x060, /* core clock cycles */
	NVDLA_PCI_CTRL_CYCLES_HI = 0x064,
	NVDLA_PCI_CTRL_IDLE_LO = 0x068, /* of these, cycles in which no unit worked */
	NVDLA_PCI_CTRL_IDLE_HI = 0x06c,
};

#define NVDLA_PCI_ID 0x4c44564eu /* "NVDL" in memory */
#define NVDLA_PCI_VERSION 1

/* NVDLA_PCI_CTRL_STATUS */
#define NVDLA_PCI_STATUS_BAD_DOORBELL 0x00000001u /* a doorbell beyond the batch window */
#define NVDLA_PCI_STATUS_DMA_ERROR 0x00000002u /* a DMA access failed: read zeros, wrote nothing */
#define NVDLA_PCI_STATUS_STRAY_DMA 0x00000004u /* it failed since nothing is mapped there */
#define NVDLA_PCI_STATUS_BUSY 0x80000000u /* RO: register writes wait, or an operation runs */

/*
 * Faults, NVDLA_PCI_CTRL_FAULT_KIND.  "Once" ones are over when they have happened, and the
 * register reads NONE again; the others last until NONE is written.  A reset of the NPU or of
 * the function does not disarm them, but a reset of the function by the host ends DEAD.
 */
enum nvdla_pci_fault {
	NVDLA_PCI_FAULT_NONE = 0,
	/*
	 * Once: the next task enabled never ends, until a reset.  ARG: the fault that is armed in
	 * that moment, one of those that last: what comes next does so in whatever time.
	 */
	NVDLA_PCI_FAULT_HANG = 1,
	NVDLA_PCI_FAULT_SPURIOUS = 2, /* once, now: a message although the interrupt is low */
	NVDLA_PCI_FAULT_LOST = 3, /* once: the next message is not sent */
	NVDLA_PCI_FAULT_LATE = 4, /* once: the next message is sent ARG milliseconds late */
	NVDLA_PCI_FAULT_ROM = 5, /* the configuration ROM holds nonsense */
	NVDLA_PCI_FAULT_DMA = 6, /* once: the next DMA access fails; ARG: NVDLA_PCI_FAULT_DMA_* */
	NVDLA_PCI_FAULT_SLOW_MEMORY = 7, /* ARG cycles more read latency */
	/* All reads give ones, writes but this register's are ignored, no DMA, no messages. */
	NVDLA_PCI_FAULT_DEAD = 8,
	NVDLA_PCI_FAULT_SLOW_TASKS = 9, /* each task lasts ARG milliseconds longer */
	NVDLA_PCI_FAULT_STUCK_RESET = 10, /* CTRL_RESET reads 1: no reset is ever done */
	NVDLA_PCI_FAULT_COUNT
};

/* NVDLA_PCI_FAULT_DMA's argument: which access fails. */
#define NVDLA_PCI_FAULT_DMA_ANY 0
#define NVDLA_PCI_FAULT_DMA_READ 1
#define NVDLA_PCI_FAULT_DMA_WRITE 2

#endif /* NVDLA_PCI_DEVICE_H */
