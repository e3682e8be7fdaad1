// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_surface.h"

bool nvdla_surface_span(const struct nvdla_surface *s, u64 *bytes)
{
	/* At most 2^32 * 2^32 each: only the sums can overflow. */
	u64 lines = (u64)(s->lines - 1) * s->line_stride;
	u64 surfaces = (u64)(s->surfaces - 1) * s->surface_stride;
	u64 sum;

	if (check_add_overflow(lines, surfaces, &sum))
		return false;
	return !check_add_overflow(sum, (u64)s->line_bytes, bytes);
}

struct nvdla_surface nvdla_surface_feature(const struct nvdla_config *cfg, u32 w, u32 h, u32 c,
					   u32 line_stride, u32 surface_stride)
{
	struct nvdla_surface s = {
		.line_bytes = w * cfg->atom,
		.lines = h,
		.surfaces = DIV_ROUND_UP(c, (u32)cfg->atom),
		.line_stride = line_stride,
		.surface_stride = surface_stride,
	};

	return s;
}

struct nvdla_surface nvdla_surface_flat(u32 bytes)
{
	struct nvdla_surface s = { .line_bytes = bytes, .lines = 1, .surfaces = 1 };

	return s;
}

/* Do @count blocks of @bytes, @stride apart, stay clear of each other? */
static bool blocks_disjoint(u32 count, u64 bytes, u64 stride)
{
	return count == 1 || stride >= bytes;
}

bool nvdla_surface_disjoint(const struct nvdla_surface *s)
{
	u64 plane = (u64)(s->lines - 1) * s->line_stride + s->line_bytes;
	u64 column = (u64)(s->surfaces - 1) * s->surface_stride + s->line_bytes;

	/* Lines inside surfaces, or surfaces interleaved inside lines. */
	return (blocks_disjoint(s->lines, s->line_bytes, s->line_stride) &&
		blocks_disjoint(s->surfaces, plane, s->surface_stride)) ||
	       (blocks_disjoint(s->surfaces, s->line_bytes, s->surface_stride) &&
		blocks_disjoint(s->lines, column, s->line_stride));
}

/* Do [a, a + a_bytes) and [b, b + b_bytes) share a byte?  No sum here overflows. */
static bool ranges_overlap(u64 a, u64 a_bytes, u64 b, u64 b_bytes)
{
	return a < b + b_bytes && b < a + a_bytes;
}

/*
 * Two boxes of one cube, as (surface, line, byte of the line) of the one that starts first:
 * they are apart when they are apart in any of the three.  The division is 32 bit: only
 * boxes less than 4 GiB apart are looked at, everything further apart is told by its range.
 */
static bool boxes_overlap(const struct nvdla_surface *a, const struct nvdla_surface *b,
			  u32 distance)
{
	u32 line = a->line_stride, surface = a->surface_stride;
	u32 z = distance / surface, rest = distance % surface;
	u32 y = rest / line, x = rest % line;

	/* A line or a plane that runs into the next one is not a box of this cube. */
	if ((u64)x + b->line_bytes > line || a->line_bytes > line ||
	    ((u64)y + b->lines) * line > surface || (u64)a->lines * line > surface)
		return true;
	return z < a->surfaces && y < a->lines && x < a->line_bytes;
}

bool nvdla_surface_overlap(const struct nvdla_surface *a, u64 a_offset,
			   const struct nvdla_surface *b, u64 b_offset)
{
	u64 a_bytes, b_bytes, end;

	if (!nvdla_surface_span(a, &a_bytes) || !nvdla_surface_span(b, &b_bytes) ||
	    check_add_overflow(a_offset, a_bytes, &end) ||
	    check_add_overflow(b_offset, b_bytes, &end))
		return true;
	if (!ranges_overlap(a_offset, a_bytes, b_offset, b_bytes))
		return false;
	if (a->line_stride != b->line_stride || a->surface_stride != b->surface_stride ||
	    a->line_stride == 0 || a->surface_stride == 0)
		return true;
	if (a_offset > b_offset)
		return nvdla_surface_overlap(b, b_offset, a, a_offset);
	if (b_offset - a_offset > 0xffffffffu)
		return true;
	return boxes_overlap(a, b, (u32)(b_offset - a_offset));
}
