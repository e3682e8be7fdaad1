/* SPDX-License-Identifier: MIT */
/*
 * Puts chain streams together for tests: registers in any order, then one task after the other.
 */
#ifndef CHAIN_BUILD_H
#define CHAIN_BUILD_H

#include <stdlib.h>

#include "nvdla_chain.h"
#include "nvdla_regs.h"

#define CHAIN_BUILD_REGS (NVDLA_REGS_BYTES / 4)

/* The stream so far, and the task that is being made. */
struct chain_build {
	u8 *data;
	size_t size;
	size_t room;
	u32 tasks;
	u32 kind;
	u32 label;
	u32 value[CHAIN_BUILD_REGS];
	bool named[CHAIN_BUILD_REGS];
	struct nvdla_chain_addr addr[16];
	u32 addr_count;
	struct nvdla_chain_lut lut[4];
	u32 lut_count;
};

static inline void chain_append(struct chain_build *b, const void *data, size_t size)
{
	if (b->size + size > b->room) {
		b->room = (b->size + size) * 2;
		b->data = realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static inline void chain_begin(struct chain_build *b)
{
	struct nvdla_chain_header header = { 0 };

	memset(b, 0, sizeof(*b));
	chain_append(b, &header, sizeof(header));
}

static inline void chain_task(struct chain_build *b, u32 kind, u32 label)
{
	b->kind = kind;
	b->label = label;
	memset(b->named, 0, sizeof(b->named));
	b->addr_count = 0;
	b->lut_count = 0;
}

static inline void chain_set(struct chain_build *b, u32 reg, u32 value)
{
	b->value[reg / 4] = value;
	b->named[reg / 4] = true;
}

#define CHAIN_SET(b, unit, reg, value) chain_set(b, NVDLA_##unit##_##reg, value)

static inline void chain_addr(struct chain_build *b, u32 low, u32 region, u64 offset)
{
	if (b->addr_count == ARRAY_SIZE(b->addr))
		abort();
	b->addr[b->addr_count++] = (struct nvdla_chain_addr){ low, region, offset };
}

static inline void chain_lut(struct chain_build *b, u32 table, const s16 *entry, u32 count)
{
	struct nvdla_chain_lut *lut = &b->lut[b->lut_count];

	if (b->lut_count++ == ARRAY_SIZE(b->lut) || count > ARRAY_SIZE(lut->entry))
		abort();
	memset(lut, 0, sizeof(*lut));
	lut->table = table;
	lut->count = count;
	memcpy(lut->entry, entry, count * sizeof(*entry));
}

/* The task is complete. */
static inline void chain_task_end(struct chain_build *b)
{
	struct nvdla_chain_task task = {
		.kind = b->kind,
		.addr_count = b->addr_count,
		.lut_count = b->lut_count,
		.label = b->label,
	};
	size_t start = b->size;
	u32 i;

	chain_append(b, &task, sizeof(task));
	for (i = 0; i < CHAIN_BUILD_REGS; i++) {
		struct nvdla_chain_reg reg = { i * 4, b->value[i] };

		if (!b->named[i])
			continue;
		chain_append(b, &reg, sizeof(reg));
		task.reg_count++;
	}
	chain_append(b, b->addr, b->addr_count * sizeof(b->addr[0]));
	chain_append(b, b->lut, b->lut_count * sizeof(b->lut[0]));
	task.size = (u32)(b->size - start);
	memcpy(b->data + start, &task, sizeof(task));
	b->tasks++;
}

/* The stream is complete: @b->data, @b->size. */
static inline void chain_end(struct chain_build *b, u32 regions)
{
	struct nvdla_chain_header header = {
		.magic = NVDLA_CHAIN_MAGIC,
		.version = NVDLA_CHAIN_VERSION,
		.size = (u32)b->size,
		.task_count = b->tasks,
		.region_count = regions,
	};

	memcpy(b->data, &header, sizeof(header));
}

static inline void chain_free(struct chain_build *b)
{
	free(b->data);
	b->data = NULL;
}

#endif /* CHAIN_BUILD_H */
