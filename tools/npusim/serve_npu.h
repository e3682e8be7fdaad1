/* SPDX-License-Identifier: MIT */
/*
 * A model that runs in a thread of its own, as fast as it can.  Register writes are queued and
 * take effect in order; interrupt registers answer at once, all others when the writes before have
 * been done.  One thread at a time calls the functions below.
 */
#ifndef SERVE_NPU_H
#define SERVE_NPU_H

#include "npusim.h"
#include "serve_irq.h"
#include "vfio_user_dma.h"

struct serve_npu;

/**
 * struct serve_counters - since creation; see enum nvdla_pci_ctrl
 */
struct serve_counters {
	u64 cycles;
	u64 idle_cycles;
	u32 stray_dma;
	u32 dma_errors;
	u32 tasks;
	u32 reg_writes;
	u32 resets;
};

/* All three pointers must outlive it.  NULL: no memory, or no thread. */
struct serve_npu *serve_npu_create(const struct npusim_options *options, struct vfio_user_dma *dma,
				   struct serve_irq *irq, struct serve_fault *fault);
void serve_npu_destroy(struct serve_npu *npu);

/* Register writes in order; @pairs are little endian. */
void serve_npu_write(struct serve_npu *npu, const struct nvdla_pci_pair *pairs, u32 count);
u32 serve_npu_read(struct serve_npu *npu, u32 reg);

/*
 * Begin a reset; serve_npu_resetting() says when it is done, and every other function waits for
 * that.
 */
void serve_npu_reset(struct serve_npu *npu);
bool serve_npu_resetting(struct serve_npu *npu);
void serve_npu_wait_reset(struct serve_npu *npu);

/* Another fault has been armed. */
void serve_npu_fault_changed(struct serve_npu *npu);

/* NVDLA_PCI_STATUS_DMA_ERROR, _STRAY_DMA (kept until cleared) and _BUSY. */
u32 serve_npu_status(struct serve_npu *npu);
void serve_npu_clear_status(struct serve_npu *npu, u32 bits);

void serve_npu_counters(struct serve_npu *npu, struct serve_counters *counters);

/* What hangs, as text; cut at @size. */
void serve_npu_diagnosis(struct serve_npu *npu, char *text, size_t size);

#endif /* SERVE_NPU_H */
