/* SPDX-License-Identifier: MIT */
/*
 * The convolution pipeline: what CDMA, CBUF, CSC, CMAC and CACC know of each other.
 *
 * Order of work: CDMA's side of an operation starts as soon as it is enabled and moves
 * data into CBUF as far as entries are free.  The compute side (CSC, CMAC, CACC with SDP
 * behind them) is carried out as a whole once its input is there and SDP can take the
 * result; what it does happens at cycles in the future, kept as lists of releases.
 */
#ifndef NPUSIM_CONV_H
#define NPUSIM_CONV_H

#include "sim_state.h"

enum sim_conv_mode { SIM_MODE_NONE, SIM_MODE_FEATURE, SIM_MODE_PIXEL };

/* cbuf.c: a FIFO of future releases */
int sim_releases_push(struct sim_releases *q, u64 when, u32 entries);
/* The oldest, removed; false when empty. */
bool sim_releases_pop(struct sim_releases *q, struct sim_release *out);
bool sim_releases_empty(const struct sim_releases *q);
void sim_releases_clear(struct sim_releases *q);

/* An entry; addresses have as many bits as there are entries, higher ones are cut. */
u8 *sim_cbuf_entry(struct npusim *sim, u32 entry);

/* An index in a region of @size entries wraps once, as the hardware's adders do. */
u32 sim_ring_wrap(u32 index, u32 size);

/* cdma.c */
bool sim_cdma_step(struct npusim *sim);
/* Fetch weights as far as entries are free; true when a kernel group arrived. */
bool sim_cdma_weights(struct npusim *sim);

/* Entries in the data banks and the weight banks of a CDMA or CSC operation. */
static inline u32 sim_bank_entries(const struct npusim *sim, u32 bank_field)
{
	return (bank_field + 1) * sim->config->entries;
}

/* cdma_convert.c: CDMA's conversion of one element. */
struct sim_convert {
	bool enabled;
	s32 scale;
	u32 truncate;
	s32 offset;
};

s8 sim_convert(const struct sim_convert *cvt, s32 value, s32 offset);

/* cdma_pixel.c */
/* Write line @row of the image into CBUF from entry @index of the data ring on. */
int sim_pixel_fetch(struct npusim *sim, u32 row, u32 index, u32 size);
/* Bytes that the bus carries for one line. */
u32 sim_pixel_line_beats(const struct npusim *sim);
/* One, or two where the format has chroma apart. */
u32 sim_pixel_planes(const struct npusim *sim);

/**
 * struct sim_csc_shape - one operation as CSC's registers describe it
 * @blocks: blocks of channels; @block_lanes: channels in each but the last; @last_lanes
 * @steps: kernel rows taken together count as one step; @rows: rows of each step, @last_rows
 * @taps: kernel columns (1 for pixel input, where columns are folded into channels)
 */
struct sim_csc_shape {
	bool pixel;
	u32 width, height, channels; /* CSC's view of the input */
	u32 eps;
	u32 out_width, out_height;
	u32 positions; /* outputs of one kernel group */
	u32 kernels, groups;
	u32 blocks, block_lanes, last_lanes;
	u32 steps, rows, last_rows;
	u32 taps;
	s32 stride_x, stride_y, dilation_x, dilation_y;
	s32 pad_left, pad_top;
	s8 pad_value;
	u32 pixel_channels; /* bytes of one pixel */
	u32 data_bank, weight_bank; /* register fields, minus one */
	u32 release_slices;
	bool data_reuse, weight_reuse, skip_data, skip_weight;
	u32 length; /* lanes of one kernel: what the MAC array multiplies for one output */
};

void sim_csc_shape(const struct npusim *sim, const struct npusim_regs *regs,
		   struct sim_csc_shape *shape);
u32 sim_csc_group_kernels(const struct npusim *sim, const struct sim_csc_shape *s, u32 group);

/*
 * Unpack the weights of one kernel group from the ring, from entry @index on, into
 * out[kernel][lane], each kernel @stride lanes long.
 */
void sim_csc_weights(struct npusim *sim, const struct sim_csc_shape *s, u32 group, u32 index,
		     s16 *out, u32 stride, u32 *skip_bytes);

/* The input lanes of outputs first .. first + count - 1, in the weights' order. */
void sim_csc_patches(struct npusim *sim, const struct sim_csc_shape *s, u32 first, u32 count,
		     s16 *out, u32 stride);

/* cmac.c: out[position][kernel] = patch . weights; @stride lanes, a multiple of SIM_LANES. */
#define SIM_LANES 32
void sim_cmac(const s16 *patches, u32 positions, const s16 *weights, u32 kernels, u32 stride,
	      s32 *out, u32 out_stride);

/* cacc.c: rounding shift and saturation of one sum; counts saturated results. */
s32 sim_cacc_clip(s64 sum, u32 truncate, u32 *saturated);

/* The same for sums that cannot saturate, in place. */
void sim_cacc_round(s32 *sums, size_t count, u32 truncate);

/* timing.c */

/* Cycles from CDMA's enable (or the agreement on banks) until its first beat is in CBUF. */
u32 sim_cdma_head(const struct npusim *sim, bool weights);

/* Cycles, times 256, that a beat takes on the read port. */
u64 sim_beat_cycles_256(const struct npusim *sim);

/*
 * Beats of data, times 256, for each beat of weights while both are read: the bus takes a burst
 * from each in turn, and a line's last burst may be short.
 */
u32 sim_data_share_256(const struct npusim *sim, u32 width);

/* CDMA's weight side has its first beat so many cycles before its data side. */
#define SIM_WEIGHTS_AHEAD 24

/*
 * Cycles from the first to the last atom of @rows lines of input, while @weight_beats are read
 * through the same port in turns.
 */
u64 sim_data_cycles(const struct npusim *sim, u32 width, u32 surfaces, u64 rows, u64 weight_beats);

/* The same for @rows lines of pixels; @width: beats of a line of all @planes planes. */
u64 sim_pixel_cycles(const struct npusim *sim, u32 width, u32 planes, u64 rows, u64 weight_beats);

/* Stripes on their way from CACC to SDP whose times are remembered. */
#define SIM_STRIPES 16

/**
 * struct sim_conv_clock - how far compute and delivery of one operation have come
 * @compute: cycle at which CSC may issue its next package
 * @deliver: cycle at which the last atom so far is taken by SDP
 * @atoms: issued so far
 * @stripe: the newest stripes: first atom's number and the cycle at which SDP takes it
 */
struct sim_conv_clock {
	u64 compute;
	u64 deliver;
	u64 atoms;
	u32 stripes;
	struct {
		u64 first_atom, cycle;
	} stripe[SIM_STRIPES];
};

/* One kernel group through CSC, CACC and SDP; @ready: its weights are in CBUF. */
void sim_conv_clock_group(const struct npusim *sim, const struct sim_csc_shape *s, u64 ready,
			  u32 sdp_atom_256, struct sim_conv_clock *clock);

/* Atoms that CACC can keep when SDP takes none: its delivery buffer. */
u32 sim_cacc_capacity(const struct npusim *sim);

#endif /* NPUSIM_CONV_H */
