// SPDX-License-Identifier: MIT
/* DMA: memory callbacks, the guard, and the bytes that each engine moves. */
#include <stdlib.h>

#include "sim_state.h"

static const char *const engine_names[NPUSIM_ENGINE_COUNT] = {
	[NPUSIM_CDMA_DATA] = "CDMA_DATA", [NPUSIM_CDMA_WEIGHT] = "CDMA_WEIGHT",
	[NPUSIM_SDP_READ] = "SDP_READ",	  [NPUSIM_SDP_BS] = "SDP_BS",
	[NPUSIM_SDP_BN] = "SDP_BN",	  [NPUSIM_SDP_EW] = "SDP_EW",
	[NPUSIM_SDP_WRITE] = "SDP_WRITE", [NPUSIM_PDP_READ] = "PDP_READ",
	[NPUSIM_PDP_WRITE] = "PDP_WRITE", [NPUSIM_CDP_READ] = "CDP_READ",
	[NPUSIM_CDP_WRITE] = "CDP_WRITE",
};

const char *npusim_engine_name(enum npusim_engine engine)
{
	return (unsigned int)engine < NPUSIM_ENGINE_COUNT ? engine_names[engine] : "?";
}

static bool guard_allows(const struct npusim *sim, u64 addr, u64 len, u32 access)
{
	u32 i;

	if (!sim->guard)
		return true;
	for (i = 0; i < sim->guard_count; i++) {
		const struct npusim_range *r = &sim->guard[i];

		if ((r->access & access) && addr >= r->address && len <= r->length &&
		    addr - r->address <= r->length - len)
			return true;
	}
	return false;
}

static int fault(struct npusim *sim, int error, enum npusim_engine engine, u64 addr, u64 len,
		 bool write)
{
	if (!sim->fault.error)
		sim->fault =
			(struct npusim_fault){ error, engine, sim->dma_group, addr, len, write };
	return error;
}

/* An address as the bus has it: bits above the configuration's width are cut. */
static u64 bus_address(const struct npusim *sim, u64 addr)
{
	u32 bits = sim->config->address_bits;

	return bits < 64 ? addr & ((1ull << bits) - 1) : addr;
}

int sim_dma_read(struct npusim *sim, enum npusim_engine engine, u64 addr, void *buf, size_t len)
{
	u64 beat = sim->config->dbb_bytes;
	u64 from = addr & ~(beat - 1), to = (addr + len + beat - 1) & ~(beat - 1);

	if (len)
		sim_dma_count(sim, engine, to - from);
	return sim_dma_fetch(sim, engine, addr, buf, len);
}

int sim_dma_fetch(struct npusim *sim, enum npusim_engine engine, u64 addr, void *buf, size_t len)
{
	int error;

	if (!len)
		return 0;
	addr = bus_address(sim, addr);
	if (!guard_allows(sim, addr, len, NPUSIM_GUARD_READ)) {
		memset(buf, 0, len);
		return fault(sim, -EACCES, engine, addr, len, false);
	}
	if (sim->memory.map) {
		const void *p = sim->memory.map(sim->memory.context, addr, len);

		if (p) {
			memcpy(buf, p, len);
			return 0;
		}
	}
	error = sim->memory.read(sim->memory.context, addr, buf, len);
	if (error) {
		memset(buf, 0, len);
		return fault(sim, error, engine, addr, len, false);
	}
	return 0;
}

static int write_memory(struct npusim *sim, u64 addr, const void *buf, size_t len)
{
	if (sim->memory.map) {
		void *p = sim->memory.map(sim->memory.context, addr, len);

		if (p) {
			memcpy(p, buf, len);
			return 0;
		}
	}
	return sim->memory.write(sim->memory.context, addr, buf, len);
}

/* What comes before the bytes of a held write. */
struct write_record {
	u64 addr;
	size_t len;
	enum npusim_engine engine;
	u32 group;
};

void sim_writes_begin(struct npusim *sim)
{
	sim->hold_writes = true;
	sim->writes.used = 0;
}

void sim_writes_drop(struct sim_writes *writes)
{
	free(writes->data);
	memset(writes, 0, sizeof(*writes));
}

void sim_writes_commit(struct npusim *sim, struct sim_writes *writes)
{
	struct write_record r;
	size_t at;

	for (at = 0; at < writes->used; at += sizeof(r) + r.len) {
		int error;

		memcpy(&r, writes->data + at, sizeof(r));
		error = write_memory(sim, r.addr, writes->data + at + sizeof(r), r.len);
		if (error) {
			sim->dma_group = r.group;
			fault(sim, error, r.engine, r.addr, r.len, true);
		}
	}
	sim_writes_drop(writes);
}

/* Keep a write for the end of its operation; false when there is no memory for that. */
static bool hold_write(struct npusim *sim, const struct write_record *r, const void *buf)
{
	struct sim_writes *w = &sim->writes;
	size_t need = w->used + sizeof(*r) + r->len;

	if (need > w->capacity) {
		size_t capacity = max(need, w->capacity * 2);
		u8 *data = realloc(w->data, capacity);

		if (!data) {
			sim_no_memory(sim);
			return false;
		}
		w->data = data;
		w->capacity = capacity;
	}
	memcpy(w->data + w->used, r, sizeof(*r));
	memcpy(w->data + w->used + sizeof(*r), buf, r->len);
	w->used = need;
	return true;
}

int sim_dma_write(struct npusim *sim, enum npusim_engine engine, u64 addr, const void *buf,
		  size_t len)
{
	struct write_record r = { bus_address(sim, addr), len, engine, sim->dma_group };
	int error;

	if (!len)
		return 0;
	sim->counters.bytes[engine] += len;
	if (!guard_allows(sim, r.addr, len, NPUSIM_GUARD_WRITE))
		return fault(sim, -EACCES, engine, r.addr, len, true);
	if (sim->hold_writes && hold_write(sim, &r, buf))
		return 0;
	error = write_memory(sim, r.addr, buf, len);
	return error ? fault(sim, error, engine, r.addr, len, true) : 0;
}

void sim_dma_count(struct npusim *sim, enum npusim_engine engine, u64 bytes)
{
	sim->counters.bytes[engine] += bytes;
}

int npusim_guard(struct npusim *sim, const struct npusim_range *ranges, u32 count)
{
	struct npusim_range *copy = NULL;

	if (ranges) {
		copy = calloc(count ? count : 1, sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		if (count)
			memcpy(copy, ranges, count * sizeof(*copy));
	}
	free(sim->guard);
	sim->guard = copy;
	sim->guard_count = copy ? count : 0;
	return 0;
}

const struct npusim_fault *npusim_fault(const struct npusim *sim)
{
	return &sim->fault;
}

void npusim_clear_fault(struct npusim *sim)
{
	memset(&sim->fault, 0, sizeof(sim->fault));
}

void npusim_counters(const struct npusim *sim, struct npusim_counters *counters)
{
	*counters = sim->counters;
	counters->cycles = sim->now - sim->counters_since;
}

void npusim_clear_counters(struct npusim *sim)
{
	memset(&sim->counters, 0, sizeof(sim->counters));
	sim->counters_since = sim->now;
}

static bool engine_writes(u32 engine)
{
	return engine == NPUSIM_SDP_WRITE || engine == NPUSIM_PDP_WRITE ||
	       engine == NPUSIM_CDP_WRITE;
}

u64 npusim_bytes_read(const struct npusim_counters *counters)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < NPUSIM_ENGINE_COUNT; i++)
		if (!engine_writes(i))
			sum += counters->bytes[i];
	return sum;
}

u64 npusim_bytes_written(const struct npusim_counters *counters)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < NPUSIM_ENGINE_COUNT; i++)
		if (engine_writes(i))
			sum += counters->bytes[i];
	return sum;
}
