// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "stream.h"

static u64 address_mask(const struct npusim *sim)
{
	u32 bits = sim_config(sim)->address_bits;

	return bits >= 64 ? UINT64_MAX : ((u64)1 << bits) - 1;
}

u64 sim_beat_address(const struct npusim *sim, u64 address)
{
	return address & address_mask(sim) & ~(u64)(sim_config(sim)->atom - 1);
}

u64 sim_address(const struct npusim *sim, u32 low, u32 high)
{
	return sim_beat_address(sim, (u64)high << 32 | low);
}

u64 sim_stride(const struct npusim *sim, u32 stride)
{
	return stride & ~(u64)(sim_config(sim)->atom - 1);
}

int sim_stream_open(struct sim_stream *stream)
{
	stream->left = 0;
	stream->y = 0;
	stream->surface = 0;
	stream->lines = (u64)stream->height * stream->surfaces;
	stream->line = malloc((size_t)stream->width * stream->position);
	return stream->line ? 0 : -ENOMEM;
}

void sim_stream_close(struct sim_stream *stream)
{
	free(stream->line);
	stream->line = NULL;
}

static void read_line(struct sim_stream *stream)
{
	u64 address = stream->base + stream->surface * stream->surface_stride +
		      stream->y * stream->line_stride;

	sim_dma_read(stream->sim, stream->engine, sim_beat_address(stream->sim, address),
		     stream->line, (size_t)stream->width * stream->position);
	stream->left = stream->width;
	stream->lines--;
	if (++stream->y == stream->height) {
		stream->y = 0;
		stream->surface++;
	}
}

const u8 *sim_stream_take(struct sim_stream *stream, u32 *count)
{
	const u8 *p;

	if (!stream->left) {
		if (!stream->lines)
			return NULL;
		read_line(stream);
	}
	p = stream->line + (size_t)(stream->width - stream->left) * stream->position;
	*count = min(*count, stream->left);
	stream->left -= *count;
	return p;
}
