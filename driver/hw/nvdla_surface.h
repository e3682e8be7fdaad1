/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which bytes of memory the units touch: the one owner of the extents of feature
 * cubes, pixel planes and operand tables.  Every function checks for overflow.
 * Source: nvdla/doc, doc/hw/format.rst (layouts).
 */
#ifndef NVDLA_SURFACE_H
#define NVDLA_SURFACE_H

#include "nvdla_config.h"

/**
 * struct nvdla_surface - a box of lines: what a cube, a plane or a table is for the DMA
 * @line_bytes: bytes of one line that are touched
 * @lines: lines of a surface
 * @surfaces: surfaces of the cube
 * @line_stride, @surface_stride: bytes from one to the next
 */
struct nvdla_surface {
	u32 line_bytes;
	u32 lines;
	u32 surfaces;
	u32 line_stride;
	u32 surface_stride;
};

/* Bytes from the first to behind the last one; false where that overflows 64 bits. */
bool nvdla_surface_span(const struct nvdla_surface *s, u64 *bytes);

/* A feature cube of @w x @h x @c elements of one byte. */
struct nvdla_surface nvdla_surface_feature(const struct nvdla_config *cfg, u32 w, u32 h, u32 c,
					   u32 line_stride, u32 surface_stride);

/* @bytes without gaps. */
struct nvdla_surface nvdla_surface_flat(u32 bytes);

/* Do no two lines of the surface share a byte? */
bool nvdla_surface_disjoint(const struct nvdla_surface *s);

/*
 * Can two boxes at these offsets of the same memory touch a common byte?  True when in doubt:
 * exact for boxes that share their strides (row bands, column tiles, surface ranges of one cube).
 */
bool nvdla_surface_overlap(const struct nvdla_surface *a, u64 a_offset,
			   const struct nvdla_surface *b, u64 b_offset);

#endif /* NVDLA_SURFACE_H */
