/* SPDX-License-Identifier: MIT */
/*
 * Between the order that applications use (NHWC, no gaps) and the NPU's feature
 * format: surfaces of `atom` channels, each made of lines of `atom`-byte pixels
 * (hardware.md, Layouts; nvdla/doc format.rst).
 */
#ifndef LIBNPU_LAYOUT_H
#define LIBNPU_LAYOUT_H

#include "nvdla_types.h"

/**
 * struct npu_cube - a feature cube of one-byte elements
 * @h, @w, @c: shape
 * @atom: channels in a surface: 8, 16 or 32
 * @line_stride: bytes from line to line, at least w * atom
 * @surface_stride: bytes from surface to surface, at least h * line_stride
 */
struct npu_cube {
	u32 h, w, c;
	u32 atom;
	u32 line_stride;
	u32 surface_stride;
};

/**
 * npu_layout_to_feature() - NHWC to feature format
 * @feature: of the cube's extent; lanes behind the last channel become zero
 * @linear: h * w * c bytes
 * @flip: every element changes between UINT8 and INT8 - 128, that is: its top bit flips
 */
void npu_layout_to_feature(u8 *feature, const u8 *linear, const struct npu_cube *cube, bool flip);

/* Feature format to NHWC; the same arguments the other way round. */
void npu_layout_from_feature(u8 *linear, const u8 *feature, const struct npu_cube *cube, bool flip);

/* @bytes copied, the top bits flipped on demand. */
void npu_layout_copy(u8 *to, const u8 *from, size_t bytes, bool flip);

#endif /* LIBNPU_LAYOUT_H */
