// SPDX-License-Identifier: MIT
/*
 * CSC: reads input and weights from CBUF in the order in which the MAC array wants them.
 * Source: nvdla/hw, vmod, CSC_sg (order of blocks), CSC_dl (input addresses), CSC_wl (weights).
 */
#include "conv.h"

/* The copies below are short loops that widen bytes: let GCC make vectors of them. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define F(reg, field) SIM_FIELD(regs, CSC, reg, field)

void sim_csc_shape(const struct npusim *sim, const struct npusim_regs *regs,
		   struct sim_csc_shape *s)
{
	const struct nvdla_config *c = sim->config;
	u32 kernel_channels = F(D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT) + 1;
	u32 kernel_height = F(D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT) + 1;
	u32 pixel_field = F(D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT) & 3;

	memset(s, 0, sizeof(*s));
	s->pixel = F(D_DATAIN_FORMAT, DATAIN_FORMAT);
	s->width = F(D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT) + 1;
	s->height = F(D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT) + 1;
	s->channels = F(D_DATAIN_SIZE_EXT_1, DATAIN_CHANNEL_EXT) + 1;
	s->eps = F(D_ENTRY_PER_SLICE, ENTRIES) + 1;
	s->out_width = F(D_DATAOUT_SIZE_0, DATAOUT_WIDTH) + 1;
	s->out_height = F(D_DATAOUT_SIZE_0, DATAOUT_HEIGHT) + 1;
	s->positions = s->pixel ? s->out_width * s->out_height : F(D_ATOMICS, ATOMICS) + 1;
	s->kernels = F(D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL) + 1;
	s->groups = DIV_ROUND_UP(s->kernels, (u32)c->atomic_k);
	s->block_lanes = c->atomic_c;
	s->blocks = DIV_ROUND_UP(kernel_channels, s->block_lanes);
	s->last_lanes = kernel_channels - (s->blocks - 1) * s->block_lanes;
	s->rows = s->pixel ? (9u << F(D_POST_Y_EXTENSION, Y_EXTENSION)) >> 3 & 7 : 1;
	s->rows = s->rows ? s->rows : 1;
	s->steps = DIV_ROUND_UP(kernel_height, s->rows);
	s->last_rows = kernel_height - (s->steps - 1) * s->rows;
	s->taps = s->pixel ? 1 : F(D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT) + 1;
	s->stride_x = (s32)F(D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT) + 1;
	s->stride_y = (s32)F(D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT) + 1;
	s->dilation_x = s->pixel ? 1 : (s32)F(D_DILATION_EXT, X_DILATION_EXT) + 1;
	s->dilation_y = s->pixel ? 1 : (s32)F(D_DILATION_EXT, Y_DILATION_EXT) + 1;
	s->pad_left = (s32)F(D_ZERO_PADDING, PAD_LEFT);
	s->pad_top = (s32)F(D_ZERO_PADDING, PAD_TOP);
	s->pad_value = (s8)F(D_ZERO_PADDING_VALUE, PAD_VALUE);
	s->pixel_channels = pixel_field == 3 ? 4 : pixel_field == 2 ? 3 : 1;
	s->data_bank = F(D_BANK, DATA_BANK);
	s->weight_bank = F(D_BANK, WEIGHT_BANK);
	s->release_slices = F(D_RELEASE, RLS_SLICES) + 1;
	s->data_reuse = F(D_MISC_CFG, DATA_REUSE);
	s->weight_reuse = F(D_MISC_CFG, WEIGHT_REUSE);
	s->skip_data = F(D_MISC_CFG, SKIP_DATA_RLS);
	s->skip_weight = F(D_MISC_CFG, SKIP_WEIGHT_RLS);
	s->length = kernel_channels * kernel_height * s->taps;
}

u32 sim_csc_group_kernels(const struct npusim *sim, const struct sim_csc_shape *s, u32 group)
{
	u32 k = sim->config->atomic_k;

	return group + 1 == s->groups ? s->kernels - group * k : k;
}

static u32 block_lanes(const struct sim_csc_shape *s, u32 block)
{
	return block + 1 == s->blocks ? s->last_lanes : s->block_lanes;
}

static u32 step_rows(const struct sim_csc_shape *s, u32 step)
{
	return step + 1 == s->steps ? s->last_rows : s->rows;
}

/* A reader of consecutive bytes in the weight banks. */
struct weight_reader {
	struct npusim *sim;
	u32 base; /* first entry of the weight banks */
	u32 size; /* their entries */
	u32 index; /* entry at hand */
	u32 byte; /* in that entry */
};

static void read_weights(struct weight_reader *r, s16 *out, u32 count)
{
	u32 bytes = r->sim->config->entry_bytes;

	while (count) {
		u32 run = min(count, bytes - r->byte), i;
		u32 entry = r->base + r->index;
		const s8 *from = (const s8 *)sim_cbuf_entry(r->sim, entry) + r->byte;

		for (i = 0; i < run; i++)
			out[i] = from[i];
		out += run;
		count -= run;
		r->byte += run;
		if (r->byte == bytes) {
			r->byte = 0;
			r->index = sim_ring_wrap(r->index + 1, r->size);
		}
	}
}

void sim_csc_weights(struct npusim *sim, const struct sim_csc_shape *s, u32 group, u32 index,
		     s16 *out, u32 stride, u32 *skip_bytes)
{
	u32 kernels = sim_csc_group_kernels(sim, s, group), lane = 0;
	u32 block, step, tap, k;
	struct weight_reader r = {
		.sim = sim,
		.base = sim_bank_entries(sim, s->data_bank),
		.size = sim_bank_entries(sim, s->weight_bank),
		.index = index,
		.byte = *skip_bytes,
	};

	for (block = 0; block < s->blocks; block++)
		for (step = 0; step < s->steps; step++)
			for (tap = 0; tap < s->taps; tap++) {
				u32 lanes = block_lanes(s, block) * step_rows(s, step);

				for (k = 0; k < kernels; k++)
					read_weights(&r, out + (size_t)k * stride + lane, lanes);
				lane += lanes;
			}
	*skip_bytes = r.byte;
}

static s16 *put_lanes(s16 *to, const s8 *from, u32 lanes)
{
	u32 i;

	for (i = 0; i < lanes; i++)
		to[i] = from[i];
	return to + lanes;
}

static s16 *put_pad(s16 *to, s8 value, u32 lanes)
{
	u32 i;

	for (i = 0; i < lanes; i++)
		to[i] = value;
	return to + lanes;
}

/**
 * struct block_row - one block of channels of one line in CBUF
 * @first: entry of column 0, from the start of the data banks, not wrapped
 * @size: entries of the data banks
 * @lanes: channels in the block
 * @columns: columns that share an entry
 */
struct block_row {
	struct npusim *sim;
	u32 first, size, lanes, columns;
};

static struct block_row block_row(struct npusim *sim, const struct sim_csc_shape *s, u32 block,
				  u32 row)
{
	u32 atoms = sim->config->entry_bytes / sim->config->atom;
	struct block_row r = {
		.sim = sim,
		.first = sim->conv.data.read + block * s->width + row * s->eps,
		.size = sim_bank_entries(sim, s->data_bank),
		.lanes = block_lanes(s, block),
		.columns = 1,
	};

	if (block + 1 == s->blocks)
		while (r.columns < atoms && r.lanes * r.columns * 2 <= sim->config->entry_bytes)
			r.columns *= 2;
	return r;
}

static const s8 *column(const struct block_row *r, u32 x)
{
	u32 entry = sim_ring_wrap(r->first + x / r->columns, r->size);
	u32 byte = x % r->columns * (r->sim->config->entry_bytes / r->columns);

	return (const s8 *)sim_cbuf_entry(r->sim, entry) + byte;
}

/* Columns @x .. @x + count - 1, @step apart. */
static s16 *put_columns(const struct block_row *r, s16 *to, u32 x, u32 count, u32 step)
{
	u32 bytes = r->sim->config->entry_bytes;
	u32 run = count;

	/* Whole entries one after the other can be copied in one go, up to the wrap. */
	if (r->columns == 1 && r->lanes == bytes && step == 1 && r->first + x + count <= r->size &&
	    r->size <= r->sim->conv.cbuf_entries)
		return put_lanes(to, column(r, x), run * bytes);
	for (; count; count--, x += step)
		to = put_lanes(to, column(r, x), r->lanes);
	return to;
}

/* All kernel columns of one line, padding where the line ends. */
static s16 *put_taps(const struct block_row *r, const struct sim_csc_shape *s, s16 *to, s32 x)
{
	u32 step = (u32)s->dilation_x, taps = s->taps, left = 0, inside = 0;

	while (left < taps && x < 0) {
		x += s->dilation_x;
		left++;
	}
	if (left < taps && x < (s32)s->width)
		inside = min(taps - left, (s->width - 1 - (u32)x) / step + 1);
	to = put_pad(to, s->pad_value, left * r->lanes);
	to = inside ? put_columns(r, to, (u32)x, inside, step) : to;
	return put_pad(to, s->pad_value, (taps - left - inside) * r->lanes);
}

static void feature_patch(struct npusim *sim, const struct sim_csc_shape *s, u32 position, s16 *out)
{
	s32 x = (s32)(position % s->out_width) * s->stride_x - s->pad_left;
	s32 y0 = (s32)(position / s->out_width) * s->stride_y - s->pad_top;
	u32 block, step;

	for (block = 0; block < s->blocks; block++)
		for (step = 0; step < s->steps; step++) {
			s32 y = y0 + (s32)step * s->dilation_y;

			if (y < 0 || y >= (s32)s->height) {
				out = put_pad(out, s->pad_value, s->taps * block_lanes(s, block));
			} else {
				struct block_row r = block_row(sim, s, block, (u32)y);

				out = put_taps(&r, s, out, x);
			}
		}
}

/* Consecutive bytes of one line of pixels. */
static s16 *put_pixels(struct npusim *sim, const struct sim_csc_shape *s, s16 *to, u32 row,
		       u32 byte, u32 lanes)
{
	u32 bytes = sim->config->entry_bytes;
	u32 size = sim_bank_entries(sim, s->data_bank);

	while (lanes) {
		u32 run = min(lanes, bytes - byte % bytes);
		u32 entry = sim->conv.data.read + row * s->eps + byte / bytes;

		entry = sim_ring_wrap(entry, size);
		to = put_lanes(to, (const s8 *)sim_cbuf_entry(sim, entry) + byte % bytes, run);
		byte += run;
		lanes -= run;
	}
	return to;
}

static void pixel_patch(struct npusim *sim, const struct sim_csc_shape *s, u32 position, s16 *out)
{
	u32 x = position % s->out_width * (u32)s->stride_x * s->pixel_channels;
	s32 y0 = (s32)(position / s->out_width) * s->stride_y - s->pad_top;
	u32 block, step, row;

	for (block = 0; block < s->blocks; block++)
		for (step = 0; step < s->steps; step++)
			for (row = 0; row < step_rows(s, step); row++) {
				s32 y = y0 + (s32)(step * s->rows + row);
				u32 lanes = block_lanes(s, block);

				if (y < 0 || y >= (s32)s->height)
					out = put_pad(out, s->pad_value, lanes);
				else
					out = put_pixels(sim, s, out, (u32)y,
							 x + block * s->block_lanes, lanes);
			}
}

void sim_csc_patches(struct npusim *sim, const struct sim_csc_shape *s, u32 first, u32 count,
		     s16 *out, u32 stride)
{
	u32 i;

	for (i = 0; i < count; i++) {
		s16 *patch = out + (size_t)i * stride;

		if (s->pixel)
			pixel_patch(sim, s, first + i, patch);
		else
			feature_patch(sim, s, first + i, patch);
		memset(patch + s->length, 0, (stride - s->length) * sizeof(*patch));
	}
}
