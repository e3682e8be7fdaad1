// SPDX-License-Identifier: MIT
#include "pack.h"

struct npu_kernels npu_kernels_of(const struct npu_tensor *weights, u32 groups)
{
	return (struct npu_kernels){
		.data = weights->data,
		.is_unsigned = weights->dtype == NPU_U8,
		.zero = weights->quant.zero,
		.zero_count = weights->quant.count,
		.k = weights->dim[0],
		.r = weights->dim[1],
		.s = weights->dim[2],
		.channels = weights->dim[3],
		.groups = groups,
	};
}

s32 npu_kernels_at(const struct npu_kernels *kernels, u32 k, u32 r, u32 s, u32 c)
{
	size_t at = (((size_t)k * kernels->r + r) * kernels->s + s) * kernels->channels + c;
	s32 zero = kernels->zero[kernels->zero_count == 1 ? 0 : k];

	return (kernels->is_unsigned ? ((const u8 *)kernels->data)[at]
				     : ((const s8 *)kernels->data)[at]) -
	       zero;
}

static s32 clamp_s8(s32 value)
{
	return value < -128 ? -128 : value > 127 ? 127 : value;
}

/* The weight that kernel @k of a block has for channel @c of it; zero between different groups. */
static s8 block_weight(const struct npu_kernels *kernels, const struct npu_packing *packing, u32 k,
		       u32 r, u32 s, u32 c)
{
	u32 kernels_per_group = kernels->k / kernels->groups;
	bool second = packing->repeat && c >= packing->repeat;
	u32 kernel = packing->block * packing->k + k, first, channel;
	s32 weight;

	if (kernel >= kernels->k || (kernels->constant && kernels->constant[kernel]))
		return 0;
	channel = packing->block * packing->block_channels + (second ? c - packing->repeat : c);
	first = kernel / kernels_per_group * kernels->channels;
	if (channel < first || channel >= first + kernels->channels)
		return 0;
	weight = npu_kernels_at(kernels, kernel, r, s, channel - first);
	return (s8)(second ? weight - clamp_s8(weight) : clamp_s8(weight));
}

/* Kernels [@first, @first + @count) as one kernel group; returns the end of what it wrote. */
static s8 *pack_group(const struct npu_kernels *kernels, const struct npu_packing *packing,
		      u32 atomic_c, u32 first, u32 count, s8 *out)
{
	/* Columns that are columns, and channels of all columns together. */
	u32 columns = packing->pixels ? 1 : kernels->s;
	u32 channels = packing->pixels ? packing->c * kernels->s : packing->c;
	u32 c0, r, s, k, c;

	for (c0 = 0; c0 < channels; c0 += atomic_c) {
		u32 end = min(c0 + atomic_c, channels);

		for (r = 0; r < kernels->r; r++)
			for (s = 0; s < columns; s++)
				for (k = first; k < first + count; k++)
					for (c = c0; c < end; c++)
						*out++ = block_weight(kernels, packing, k, r,
								      s + c / packing->c,
								      c % packing->c);
	}
	return out;
}

void npu_pack_weights(const struct nvdla_config *config, const struct npu_kernels *kernels,
		      const struct npu_packing *packing, s8 *out)
{
	u32 k;

	for (k = 0; k < packing->k; k += config->atomic_k)
		out = pack_group(kernels, packing, config->atomic_c, k,
				 min((u32)config->atomic_k, packing->k - k), out);
}
