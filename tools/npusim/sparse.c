// SPDX-License-Identifier: MIT
/* A hash table of pages. */
#include <stdlib.h>

#include "sparse.h"

#define PAGE_BITS 16
#define PAGE_BYTES (1u << PAGE_BITS)

struct page {
	u64 number;
	u8 *data; /* NULL: the slot is free */
};

struct sparse {
	struct page *slot;
	u32 slots; /* a power of two */
	u32 used;
	u64 limit;
	struct page *last; /* found by the access before */
};

struct sparse *sparse_create(u64 limit)
{
	struct sparse *mem = calloc(1, sizeof(*mem));

	if (!mem)
		return NULL;
	mem->slots = 1024;
	mem->limit = limit;
	mem->slot = calloc(mem->slots, sizeof(*mem->slot));
	if (!mem->slot) {
		free(mem);
		return NULL;
	}
	return mem;
}

void sparse_destroy(struct sparse *mem)
{
	u32 i;

	if (!mem)
		return;
	for (i = 0; i < mem->slots; i++)
		free(mem->slot[i].data);
	free(mem->slot);
	free(mem);
}

/* The slot of a page, or the free slot where it would go. */
static struct page *probe(struct page *slot, u32 slots, u64 number)
{
	u32 i = (u32)(number * 0x9e3779b97f4a7c15ull >> 32) & (slots - 1);

	while (slot[i].data && slot[i].number != number)
		i = (i + 1) & (slots - 1);
	return &slot[i];
}

static int grow(struct sparse *mem)
{
	u32 slots = mem->slots * 2, i;
	struct page *slot = calloc(slots, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (i = 0; i < mem->slots; i++)
		if (mem->slot[i].data)
			*probe(slot, slots, mem->slot[i].number) = mem->slot[i];
	free(mem->slot);
	mem->slot = slot;
	mem->slots = slots;
	mem->last = NULL;
	return 0;
}

static u8 *page_data(struct sparse *mem, u64 number)
{
	struct page *p = mem->last;

	if (p && p->number == number)
		return p->data;
	p = probe(mem->slot, mem->slots, number);
	if (!p->data) {
		if ((u64)mem->used * PAGE_BYTES >= mem->limit)
			return NULL;
		if (mem->used * 2 >= mem->slots) {
			if (grow(mem))
				return NULL;
			p = probe(mem->slot, mem->slots, number);
		}
		p->data = calloc(1, PAGE_BYTES);
		if (!p->data)
			return NULL;
		p->number = number;
		mem->used++;
	}
	mem->last = p;
	return p->data;
}

/* A pointer to @addr and the bytes up to the end of its page; NULL when out of memory. */
static u8 *at(struct sparse *mem, u64 addr, u64 len, size_t *run)
{
	u8 *data = page_data(mem, addr >> PAGE_BITS);
	u32 offset = addr & (PAGE_BYTES - 1);

	*run = (size_t)min(len, (u64)(PAGE_BYTES - offset));
	return data ? data + offset : NULL;
}

int sparse_read(struct sparse *mem, u64 addr, void *buf, size_t len)
{
	u8 *to = buf;

	while (len) {
		size_t run;
		const u8 *from = at(mem, addr, len, &run);

		if (!from)
			return -ENOMEM;
		memcpy(to, from, run);
		to += run;
		addr += run;
		len -= run;
	}
	return 0;
}

int sparse_write(struct sparse *mem, u64 addr, const void *buf, size_t len)
{
	const u8 *from = buf;

	while (len) {
		size_t run;
		u8 *to = at(mem, addr, len, &run);

		if (!to)
			return -ENOMEM;
		memcpy(to, from, run);
		from += run;
		addr += run;
		len -= run;
	}
	return 0;
}

int sparse_fill(struct sparse *mem, u64 addr, u64 len, u8 byte)
{
	while (len) {
		size_t run;
		u8 *to = at(mem, addr, len, &run);

		if (!to)
			return -ENOMEM;
		memset(to, byte, run);
		addr += run;
		len -= run;
	}
	return 0;
}

static int read_cb(void *context, u64 addr, void *buf, size_t len)
{
	return sparse_read(context, addr, buf, len);
}

static int write_cb(void *context, u64 addr, const void *buf, size_t len)
{
	return sparse_write(context, addr, buf, len);
}

struct npusim_memory sparse_memory(struct sparse *mem)
{
	return (struct npusim_memory){ mem, read_cb, write_cb, NULL };
}
