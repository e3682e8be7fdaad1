/* SPDX-License-Identifier: MIT */
/*
 * Recording of an inference: what the sequencer does to the registers, as a
 * script that the device model or the real RTL replays, with memory images and
 * expected outputs.  Every function but begin and end does nothing for NULL.
 */
#ifndef LIBNPU_RECORD_H
#define LIBNPU_RECORD_H

#include "internal.h"
#include "nvdla_chain_check.h"

struct npu_recording;

/**
 * npu_record_begin() - a new script
 * @dir: directory for recordings; made where it is missing
 * @config: configuration; names the directory below
 * @title: name of the test below that; a number is appended
 */
int npu_record_begin(const char *dir, const char *config, const char *title,
		     struct npu_recording **recording);

/* Finishes the script and frees.  Return: the first error since begin. */
int npu_record_end(struct npu_recording *recording);

/* True once: the hardware has to be reset before the first chain. */
bool npu_record_needs_reset(struct npu_recording *recording);

void npu_record_read(struct npu_recording *recording, u32 reg, u32 value);
void npu_record_write(struct npu_recording *recording, u32 reg, u32 value);

/* The memory that a chain will read or write part of, before it starts. */
void npu_record_chain(struct npu_recording *recording, const struct nvdla_chain *chain,
		      const struct npu_buffer *region, const u64 *base);

/* The memory that it wrote. */
void npu_record_results(struct npu_recording *recording, const struct nvdla_chain *chain,
			const struct npu_buffer *region, const u64 *base);

#endif /* LIBNPU_RECORD_H */
