/* SPDX-License-Identifier: MIT */
/*
 * A cube in memory as a stream of positions, surface by surface, line by line, read or
 * written a line at a time: how the DMA clients of SDP, PDP and CDP see memory.
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "npusim_internal.h"

/**
 * struct sim_stream - a cube read from memory
 * @position: bytes of one position (an atom, or several of operands)
 * @width, @height, @surfaces: positions in a line, lines in a surface, surfaces
 * @line: the current line
 * @left: positions of it not yet taken
 * @lines: lines not yet read
 */
struct sim_stream {
	struct npusim *sim;
	enum npusim_engine engine;
	u64 base, line_stride, surface_stride;
	u32 position;
	u32 width, height, surfaces;

	u8 *line;
	u32 left;
	u32 y, surface;
	u64 lines;
};

/* Make @stream's buffer; 0 or -ENOMEM.  The fields above the gap are set by the caller. */
int sim_stream_open(struct sim_stream *stream);
void sim_stream_close(struct sim_stream *stream);

/*
 * The next positions, *count of them at most; sets *count to how many there are before the
 * line ends.  NULL at the end of the cube.
 */
const u8 *sim_stream_take(struct sim_stream *stream, u32 *count);

/* An address cut to the configuration's bits and to the beat it lies in. */
u64 sim_beat_address(const struct npusim *sim, u64 address);

/* The same of a pair of registers. */
u64 sim_address(const struct npusim *sim, u32 low, u32 high);

/* A stride without the bits below the bus beat. */
u64 sim_stride(const struct npusim *sim, u32 stride);

#endif /* SIM_STREAM_H */
