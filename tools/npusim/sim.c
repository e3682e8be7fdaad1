// SPDX-License-Identifier: MIT
/* Life of a model: creation, reset, end. */
#include <stdlib.h>

#include "sim_state.h"

struct npusim *npusim_create(const struct npusim_options *options,
			     const struct npusim_memory *memory)
{
	struct npusim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->options = *options;
	sim->config = options->config;
	sim->memory = *memory;
	if (!sim->options.read_latency)
		sim->options.read_latency = 32;
	if (!sim->options.write_latency)
		sim->options.write_latency = 8;
	if (!sim->options.max_cycles)
		sim->options.max_cycles = 1ull << 36;
	sim->conv.cbuf = calloc(1, nvdla_cbuf_bytes(sim->config));
	if (!sim->conv.cbuf) {
		free(sim);
		return NULL;
	}
	sim_csb_init(sim);
	npusim_reset(sim);
	return sim;
}

void npusim_reset(struct npusim *sim)
{
	sim_events_clear(sim);
	sim->epoch = sim->now;
	sim_csb_reset(sim);
	sim_glb_reset(&sim->glb);
	sim_conv_reset(sim);
	memset(&sim->sdp_lut, 0, sizeof(sim->sdp_lut));
	memset(&sim->pdp_left, 0, sizeof(sim->pdp_left));
	memset(&sim->cdp_lut, 0, sizeof(sim->cdp_lut));
	memset(sim->hang, 0, sizeof(sim->hang));
	sim->diagnosis[0] = '\0';
	sim->no_memory = false;
}

int sim_no_memory(struct npusim *sim)
{
	sim->no_memory = true;
	return -ENOMEM;
}

bool npusim_out_of_memory(const struct npusim *sim)
{
	return sim->no_memory;
}

void npusim_set_read_latency(struct npusim *sim, u32 cycles)
{
	sim->options.read_latency = cycles;
}

u32 npusim_read_latency(const struct npusim *sim)
{
	return sim->options.read_latency;
}

void npusim_destroy(struct npusim *sim)
{
	u32 i;

	if (!sim)
		return;
	sim_events_clear(sim);
	sim_conv_destroy(sim);
	for (i = 0; i < ARRAY_SIZE(sim->scratch); i++)
		free(sim->scratch[i]);
	free(sim->guard);
	free(sim);
}

void *sim_scratch(struct npusim *sim, u32 slot, size_t size)
{
	if (size > sim->scratch_size[slot]) {
		free(sim->scratch[slot]);
		sim->scratch_size[slot] = 0;
		sim->scratch[slot] = aligned_alloc(64, (size + 63) & ~(size_t)63);
		if (!sim->scratch[slot]) {
			sim_no_memory(sim);
			return NULL;
		}
		sim->scratch_size[slot] = size;
	}
	return sim->scratch[slot];
}

const struct nvdla_config *sim_config(const struct npusim *sim)
{
	return sim->config;
}

const struct npusim_options *sim_options(const struct npusim *sim)
{
	return &sim->options;
}

struct sim_pdp_left *sim_pdp_left(struct npusim *sim)
{
	return &sim->pdp_left;
}

struct sim_lut *sim_sdp_lut(struct npusim *sim)
{
	return &sim->sdp_lut;
}

struct sim_lut *sim_cdp_lut(struct npusim *sim)
{
	return &sim->cdp_lut;
}
