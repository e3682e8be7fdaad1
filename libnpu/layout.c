// SPDX-License-Identifier: MIT
/*
 * A line is moved column by column of a surface: whole columns of 8, 16 or 32
 * lanes as vectors, the channels behind the last whole column in pieces of up to
 * eight lanes.  Such a piece is moved as eight bytes, of which some belong to the
 * next pixel; that is right but at the very end of the tensor, where bytes are
 * moved one by one.
 */
#include "layout.h"

#define PIECE 8u /* lanes that a partial column is cut into */

typedef u8 v8 __attribute__((vector_size(8)));
typedef u8 v16 __attribute__((vector_size(16)));
typedef u8 v32 __attribute__((vector_size(32)));

/*
 * @count vectors, @to_step and @from_step bytes apart.  An xor with zero is free
 * next to the memory traffic, so there is one loop for both cases.
 */
#define DEFINE_MOVE(type)                                                                 \
	static void move_##type(u8 *to, size_t to_step, const u8 *from, size_t from_step, \
				u32 count, u8 flip)                                       \
	{                                                                                 \
		const type mask = flip - (type){ 0 };                                     \
		type v;                                                                   \
		u32 x;                                                                    \
                                                                                          \
		for (x = 0; x < count; x++) {                                             \
			memcpy(&v, from, sizeof(v));                                      \
			v ^= mask;                                                        \
			memcpy(to, &v, sizeof(v));                                        \
			to += to_step;                                                    \
			from += from_step;                                                \
		}                                                                         \
	}

DEFINE_MOVE(v8)
DEFINE_MOVE(v16)
DEFINE_MOVE(v32)

/* Whole columns: @lanes is the cube's atom or PIECE. */
static void move_column(u32 lanes, u8 *to, size_t to_step, const u8 *from, size_t from_step,
			u32 count, u8 flip)
{
	if (lanes == 32)
		move_v32(to, to_step, from, from_step, count, flip);
	else if (lanes == 16)
		move_v16(to, to_step, from, from_step, count, flip);
	else
		move_v8(to, to_step, from, from_step, count, flip);
}

/* Eight bytes of which the first @lanes are 0xff, in memory order. */
static v8 lane_mask(u32 lanes)
{
	v8 mask = { 0 };
	u32 i;

	for (i = 0; i < lanes; i++)
		mask[i] = 0xff;
	return mask;
}

/* How many pixels of line @y may be moved as eight bytes from channel @first on. */
static u32 safe_pixels(const struct npu_cube *cube, u32 y, u32 first)
{
	u32 beyond = first + PIECE > cube->c ? first + PIECE - cube->c : 0;
	u64 total = (u64)cube->h * cube->w, unsafe = DIV_ROUND_UP(beyond, cube->c);
	u64 safe = total > unsafe ? total - unsafe : 0, before = (u64)y * cube->w;

	if (safe <= before)
		return 0;
	return (u32)min(safe - before, (u64)cube->w);
}

/*
 * Pieces of @keep lanes, and zeros behind them up to @width bytes, which is a constant
 * where this is called: what is left of a column is written at once.
 */
static inline __attribute__((always_inline)) void widen(u8 *to, size_t to_step, const u8 *from,
							size_t from_step, u32 count, v8 keep,
							v8 flip, size_t width)
{
	u32 x;
	v8 v;

	for (x = 0; x < count; x++) {
		memcpy(&v, from, sizeof(v));
		v = (v & keep) ^ flip;
		memcpy(to, &v, sizeof(v));
		memset(to + sizeof(v), 0, width - sizeof(v));
		to += to_step;
		from += from_step;
	}
}

/* @width: bytes to write, 8, 16 or 32, of which @lanes (at most eight) come from the tensor. */
static void piece_to_feature(u8 *to, const u8 *from, const struct npu_cube *cube, u32 lanes,
			     u32 width, u32 safe, u8 flip)
{
	const v8 keep = lane_mask(lanes), mask = (flip - (v8){ 0 }) & keep;
	u32 x, i;

	if (width == 32)
		widen(to, cube->atom, from, cube->c, safe, keep, mask, 32);
	else if (width == 16)
		widen(to, cube->atom, from, cube->c, safe, keep, mask, 16);
	else
		widen(to, cube->atom, from, cube->c, safe, keep, mask, 8);
	for (x = safe; x < cube->w; x++)
		for (i = 0; i < width; i++)
			to[(size_t)x * cube->atom + i] =
				i < lanes ? from[(size_t)x * cube->c + i] ^ flip : 0;
}

static void zero_piece(u8 *to, const struct npu_cube *cube)
{
	u32 x;

	for (x = 0; x < cube->w; x++)
		memset(to + (size_t)x * cube->atom, 0, PIECE);
}

/* The surface that is not full: @lanes of its channels are there. */
static void partial_to_feature(u8 *to, const u8 *from, const struct npu_cube *cube, u32 y,
			       u32 first, u8 flip)
{
	u32 lane, channel, width, rest;

	for (lane = 0; lane < cube->atom; lane += width) {
		channel = first + lane;
		rest = cube->atom - lane;
		width = PIECE;
		if (channel >= cube->c) {
			zero_piece(to + lane, cube);
			continue;
		}
		/* The last piece takes the zeros behind it along where they make a vector. */
		if (cube->c - channel <= PIECE && (rest == 16 || rest == 32))
			width = rest;
		piece_to_feature(to + lane, from + lane, cube, min(cube->c - channel, PIECE), width,
				 safe_pixels(cube, y, channel), flip);
	}
}

void npu_layout_to_feature(u8 *feature, const u8 *linear, const struct npu_cube *cube, bool flip)
{
	u8 top = flip ? 0x80 : 0;
	u32 y, c;

	for (y = 0; y < cube->h; y++) {
		const u8 *from = linear + (size_t)y * cube->w * cube->c;

		for (c = 0; c < cube->c; c += cube->atom) {
			u8 *to = feature + (size_t)(c / cube->atom) * cube->surface_stride +
				 (size_t)y * cube->line_stride;

			if (cube->c - c >= cube->atom)
				move_column(cube->atom, to, cube->atom, from + c, cube->c, cube->w,
					    top);
			else
				partial_to_feature(to, from + c, cube, y, c, top);
		}
	}
}

/*
 * Pixels of up to eight channels: each is written as eight bytes, and what is too
 * much is overwritten by the next one.
 */
static void narrow_from_feature(u8 *to, const u8 *from, const struct npu_cube *cube, u32 safe,
				u8 flip)
{
	u32 x, i;

	move_v8(to, cube->c, from, cube->atom, safe, flip);
	for (x = safe; x < cube->w; x++)
		for (i = 0; i < cube->c; i++)
			to[(size_t)x * cube->c + i] = from[(size_t)x * cube->atom + i] ^ flip;
}

/* @lanes channels between others that were or will be written: those stay. */
static void piece_from_feature(u8 *to, const u8 *from, const struct npu_cube *cube, u32 lanes,
			       u32 safe, u8 flip)
{
	const v8 keep = lane_mask(lanes), mask = flip - (v8){ 0 };
	v8 v, old;
	u32 x, i;

	/* Nothing stays, and what is there may never have been written. */
	if (lanes == PIECE)
		move_v8(to, cube->c, from, cube->atom, safe, flip);
	for (x = 0; x < safe && lanes < PIECE; x++) {
		memcpy(&v, from + (size_t)x * cube->atom, sizeof(v));
		memcpy(&old, to + (size_t)x * cube->c, sizeof(old));
		v = ((v ^ mask) & keep) | (old & ~keep);
		memcpy(to + (size_t)x * cube->c, &v, sizeof(v));
	}
	for (x = safe; x < cube->w; x++)
		for (i = 0; i < lanes; i++)
			to[(size_t)x * cube->c + i] = from[(size_t)x * cube->atom + i] ^ flip;
}

static void partial_from_feature(u8 *to, const u8 *from, const struct npu_cube *cube, u32 y,
				 u32 first, u8 flip)
{
	u32 lane, lanes, safe;

	for (lane = 0; first + lane < cube->c; lane += PIECE) {
		lanes = min(cube->c - first - lane, PIECE);
		safe = safe_pixels(cube, y, first + lane);
		if (cube->c <= PIECE)
			narrow_from_feature(to, from, cube, safe, flip);
		else
			piece_from_feature(to + lane, from + lane, cube, lanes, safe, flip);
	}
}

void npu_layout_from_feature(u8 *linear, const u8 *feature, const struct npu_cube *cube, bool flip)
{
	u8 top = flip ? 0x80 : 0;
	u32 y, c;

	for (y = 0; y < cube->h; y++) {
		u8 *to = linear + (size_t)y * cube->w * cube->c;

		for (c = 0; c < cube->c; c += cube->atom) {
			const u8 *from = feature + (size_t)(c / cube->atom) * cube->surface_stride +
					 (size_t)y * cube->line_stride;

			if (cube->c - c >= cube->atom)
				move_column(cube->atom, to + c, cube->c, from, cube->atom, cube->w,
					    top);
			else
				partial_from_feature(to + c, from, cube, y, c, top);
		}
	}
}

void npu_layout_copy(u8 *to, const u8 *from, size_t bytes, bool flip)
{
	size_t i;

	if (!flip) {
		memcpy(to, from, bytes);
		return;
	}
	for (i = 0; i + sizeof(v32) <= bytes; i += sizeof(v32)) {
		v32 v;

		memcpy(&v, from + i, sizeof(v));
		v ^= 0x80 - (v32){ 0 };
		memcpy(to + i, &v, sizeof(v));
	}
	for (; i < bytes; i++)
		to[i] = from[i] ^ 0x80;
}
