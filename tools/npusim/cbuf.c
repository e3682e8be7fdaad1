// SPDX-License-Identifier: MIT
/* CBUF: the storage, ring arithmetic, and entries that will be given back. */
#include <stdlib.h>

#include "conv.h"

int sim_releases_push(struct sim_releases *q, u64 when, u32 entries)
{
	if (q->head == q->count)
		q->head = q->count = 0;
	if (q->count == q->capacity) {
		u32 capacity = q->capacity ? q->capacity * 2 : 64;
		struct sim_release *item = realloc(q->item, capacity * sizeof(*item));

		if (!item)
			return -ENOMEM;
		q->item = item;
		q->capacity = capacity;
	}
	q->item[q->count++] = (struct sim_release){ when, entries };
	return 0;
}

bool sim_releases_empty(const struct sim_releases *q)
{
	return q->head == q->count;
}

bool sim_releases_pop(struct sim_releases *q, struct sim_release *out)
{
	if (sim_releases_empty(q))
		return false;
	*out = q->item[q->head++];
	return true;
}

void sim_releases_clear(struct sim_releases *q)
{
	q->head = q->count = 0;
}

u8 *sim_cbuf_entry(struct npusim *sim, u32 entry)
{
	/* The number of entries is a power of two in every configuration. */
	return sim->conv.cbuf +
	       (size_t)(entry & (sim->conv.cbuf_entries - 1)) * sim->config->entry_bytes;
}

u32 sim_ring_wrap(u32 index, u32 size)
{
	return index >= size ? index - size : index;
}

static void ring_reset(struct sim_ring *ring)
{
	ring->write = ring->read = ring->held = 0;
	sim_releases_clear(&ring->releases);
}

void sim_conv_reset(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;

	memset(c->cbuf, 0, nvdla_cbuf_bytes(sim->config));
	c->cbuf_entries = (u32)sim->config->banks * sim->config->entries;
	ring_reset(&c->data);
	ring_reset(&c->weight);
	sim_releases_clear(&c->arrivals);
	sim_releases_clear(&c->lines);
	c->wake = 0;
	c->dat = c->wt = SIM_FETCH_IDLE;
	/* No operation has these banks: the first one always sets up the rings. */
	c->dat_last_bank = c->wt_last_data_bank = c->wt_last_weight_bank = 31;
	c->csc_last_data_bank = c->csc_last_weight_bank = 31;
	c->last_skip_data = c->last_skip_weight = c->csc_last_skip_weight = false;
	c->last_mode = c->csc_last_mode = SIM_MODE_NONE;
	c->csc_pending = false;
	c->csc_last_slices = c->csc_last_slice_entries = 0;
	c->csc_last_kernels = c->csc_last_weight_entries = 0;
	c->slices = 0;
	c->kernels = 0;
	c->slices_ready = c->kernels_ready = sim->now;
	c->dat_front = c->wt_front = sim->now;
	c->csc_free = sim->now;
	c->computing = false;
	c->left_atoms = 0;
	c->left_intr = false;
}

void sim_conv_destroy(struct npusim *sim)
{
	struct sim_conv *c = &sim->conv;

	free(c->data.releases.item);
	free(c->weight.releases.item);
	free(c->arrivals.item);
	free(c->lines.item);
	free(c->left);
	free(c->cbuf);
}
