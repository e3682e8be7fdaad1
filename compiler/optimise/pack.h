/* SPDX-License-Identifier: MIT */
/*
 * Weights as CDMA and CSC want them: kernel groups of atomic_k kernels, in each channel blocks of
 * atomic_c channels, in each rows, columns, kernels, channels (hardware.md, Layouts); last groups
 * and blocks are packed tight.  For pixels columns are a part of channels: channel c of column s is
 * number s * channels + c.
 */
#ifndef NPU_PACK_H
#define NPU_PACK_H

#include "../net.h"

/**
 * struct npu_kernels - weights of a convolution in the order of IR1
 * @data, @is_unsigned: [K][R][S][C/groups], INT8 or UINT8
 * @zero: zero point: one for all (@zero_count 1) or one for each kernel
 * @constant: for each kernel, or NULL: counts as all zero
 * @k, @r, @s, @channels: of the whole convolution; @channels of one group
 * @groups: of the convolution
 */
struct npu_kernels {
	const void *data;
	bool is_unsigned;
	const s32 *zero;
	u32 zero_count;
	const bool *constant;
	u32 k, r, s, channels;
	u32 groups;
};

/* Weights of a tensor [K][R][S][C/groups]. */
struct npu_kernels npu_kernels_of(const struct npu_tensor *weights, u32 groups);

/* A weight without its zero point: -255 .. 255. */
s32 npu_kernels_at(const struct npu_kernels *kernels, u32 k, u32 r, u32 s, u32 c);

/**
 * struct npu_packing - how one block of a layer is packed
 * @block: which: kernels [block * k, + k), input channels [block * block_channels, + c)
 * @k, @c: kernels and channels of a block, padding included
 * @block_channels: channels from one block's input to the next
 * @repeat: channels 0 .. repeat - 1 come a second time from @repeat on, for what is left of a
 *          weight beyond INT8; 0: not
 * @pixels: columns are a part of channels
 */
struct npu_packing {
	u32 block;
	u32 k, c;
	u32 block_channels;
	u32 repeat;
	bool pixels;
};

/* Writes k * c * r * s bytes. */
void npu_pack_weights(const struct nvdla_config *config, const struct npu_kernels *kernels,
		      const struct npu_packing *packing, s8 *out);

#endif /* NPU_PACK_H */
