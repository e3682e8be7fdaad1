/* SPDX-License-Identifier: MIT */
/*
 * Puts chain streams together for tests, in the kernel too: registers in any order, then one task
 * after the other.
 */
#ifndef CHAIN_BUILD_H
#define CHAIN_BUILD_H

#ifdef __KERNEL__
#include <linux/slab.h>
#define chain_realloc(data, size) krealloc(data, size, GFP_KERNEL | __GFP_NOFAIL)
#define chain_release(data) kfree(data)
#define abort() BUG()
#else
#include <stdlib.h>
#define chain_realloc(data, size) realloc(data, size)
#define chain_release(data) free(data)
#endif

#include "nvdla_chain.h"
#include "nvdla_regs.h"

#define CHAIN_BUILD_REGS 512

/* The stream so far, and the task that is being made: registers in ascending order. */
struct chain_build {
	u8 *data;
	size_t size;
	size_t room;
	u32 tasks;
	u32 kind;
	u32 label;
	struct nvdla_chain_reg reg[CHAIN_BUILD_REGS];
	u32 reg_count;
	struct nvdla_chain_addr addr[16];
	u32 addr_count;
	struct nvdla_chain_lut lut[4];
	u32 lut_count;
};

static inline void chain_append(struct chain_build *b, const void *data, size_t size)
{
	if (b->size + size > b->room) {
		b->room = (b->size + size) * 2;
		b->data = chain_realloc(b->data, b->room);
		if (!b->data)
			abort();
	}
	memcpy(b->data + b->size, data, size);
	b->size += size;
}

static inline void chain_begin(struct chain_build *b)
{
	struct nvdla_chain_header header = { 0 };

	b->data = NULL;
	b->size = b->room = 0;
	b->tasks = 0;
	chain_append(b, &header, sizeof(header));
}

static inline void chain_task(struct chain_build *b, u32 kind, u32 label)
{
	b->kind = kind;
	b->label = label;
	b->reg_count = 0;
	b->addr_count = 0;
	b->lut_count = 0;
}

/* The place of a register, or where it would be. */
static inline u32 chain_place(const struct chain_build *b, u32 reg)
{
	u32 i = b->reg_count;

	while (i && b->reg[i - 1].reg >= reg)
		i--;
	return i;
}

static inline bool chain_has(const struct chain_build *b, u32 reg)
{
	u32 i = chain_place(b, reg);

	return i < b->reg_count && b->reg[i].reg == reg;
}

/* What a register was set to; 0 where it was not. */
static inline u32 chain_get(const struct chain_build *b, u32 reg)
{
	return chain_has(b, reg) ? b->reg[chain_place(b, reg)].value : 0;
}

static inline void chain_set(struct chain_build *b, u32 reg, u32 value)
{
	u32 i = chain_place(b, reg);

	if (!chain_has(b, reg)) {
		if (b->reg_count == CHAIN_BUILD_REGS)
			abort();
		memmove(&b->reg[i + 1], &b->reg[i], (b->reg_count++ - i) * sizeof(b->reg[0]));
	}
	b->reg[i] = (struct nvdla_chain_reg){ reg, value };
}

/* Take a register out again. */
static inline void chain_unset(struct chain_build *b, u32 reg)
{
	u32 i = chain_place(b, reg);

	if (chain_has(b, reg))
		memmove(&b->reg[i], &b->reg[i + 1], (--b->reg_count - i) * sizeof(b->reg[0]));
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
		.reg_count = b->reg_count,
		.addr_count = b->addr_count,
		.lut_count = b->lut_count,
		.label = b->label,
	};
	size_t start = b->size;

	chain_append(b, &task, sizeof(task));
	chain_append(b, b->reg, b->reg_count * sizeof(b->reg[0]));
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
	chain_release(b->data);
	b->data = NULL;
}

#endif /* CHAIN_BUILD_H */
