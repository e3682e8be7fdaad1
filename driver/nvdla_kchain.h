/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Chains in the kernel's hands: copied once, validated once, never seen again by
 * user space.
 */
#ifndef NVDLA_KCHAIN_H
#define NVDLA_KCHAIN_H

#include <linux/kref.h>

#include "nvdla_chain_check.h"

struct nvdla_client;

/**
 * struct nvdla_kchain - a validated chain
 * @ref: of its handle and of each job that runs it
 * @client: who pays for the memory; a reference
 * @bytes: charged to it
 * @chain: what the validator found out
 * @stream, @storage: memory of @chain
 * @segments: pieces in which it runs
 */
struct nvdla_kchain {
	struct kref ref;
	struct nvdla_client *client;
	u64 bytes;
	struct nvdla_chain chain;
	void *stream;
	void *storage;
	u32 segments;
};

/* The client's chain of that handle, with a reference; NULL: there is none. */
struct nvdla_kchain *nvdla_kchain_find(struct nvdla_client *client, u32 handle);

void nvdla_kchain_put(struct nvdla_kchain *kchain);

/* The file goes: so do its handles. */
void nvdla_kchain_drop_all(struct nvdla_client *client);

#endif /* NVDLA_KCHAIN_H */
