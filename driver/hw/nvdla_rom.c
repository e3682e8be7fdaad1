// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "nvdla_rom.h"

/**
 * struct rom_word - a word that follows from the configuration table
 * @reg: offset in the register file
 * @offset: of the member of struct nvdla_config that it holds
 * @size: of that member, 1 or 2
 * @lsb: where it holds it
 */
struct rom_word {
	u16 reg;
	u16 offset;
	u8 size;
	u8 lsb;
};

#define MEMBER_AT(word, member, shift)                                       \
	{                                                                    \
		NVDLA_CFGROM_##word, offsetof(struct nvdla_config, member),  \
			sizeof(((struct nvdla_config *)NULL)->member), shift \
	}
#define MEMBER(word, member) MEMBER_AT(word, member, 0)

static const struct rom_word words[] = {
	MEMBER(CIF_BASE_WIDTH, dbb_bytes),
	MEMBER_AT(CIF_BASE_MEM_ADDR_WIDTH, address_bits,
		  NVDLA_LSB(CFGROM, CIF_BASE_MEM_ADDR_WIDTH, CIF_BASE_MEM_ADDR_WIDTH)),
	MEMBER(CDMA_BASE_ATOMIC_C, atomic_c),
	MEMBER(CDMA_BASE_ATOMIC_K, atomic_k),
	MEMBER(CDMA_BASE_ATOMIC_M, atom),
	MEMBER(CDMA_BASE_CBUF_BANK_NUM, banks),
	MEMBER(CDMA_BASE_CBUF_BANK_WIDTH, entry_bytes),
	MEMBER(CDMA_BASE_CBUF_BANK_DEPTH, entries),
	MEMBER(CBUF_BASE_CBUF_BANK_NUM, banks),
	MEMBER(CBUF_BASE_CBUF_BANK_WIDTH, entry_bytes),
	MEMBER(CBUF_BASE_CBUF_BANK_DEPTH, entries),
	MEMBER(CSC_BASE_ATOMIC_C, atomic_c),
	MEMBER(CSC_BASE_ATOMIC_K, atomic_k),
	MEMBER(CSC_BASE_ATOMIC_M, atom),
	MEMBER(CSC_BASE_CBUF_BANK_NUM, banks),
	MEMBER(CSC_BASE_CBUF_BANK_WIDTH, entry_bytes),
	MEMBER(CSC_BASE_CBUF_BANK_DEPTH, entries),
	MEMBER(CMAC_A_BASE_ATOMIC_C, atomic_c),
	MEMBER(CMAC_A_BASE_ATOMIC_K, atomic_k),
	MEMBER(CMAC_B_BASE_ATOMIC_C, atomic_c),
	MEMBER(CMAC_B_BASE_ATOMIC_K, atomic_k),
	MEMBER(CACC_BASE_ATOMIC_C, atomic_c),
	MEMBER(CACC_BASE_ATOMIC_K, atomic_k),
	MEMBER(SDP_RDMA_BASE_ATOMIC_M, atom),
	MEMBER(SDP_BS_THROUGHPUT, bs_throughput),
	MEMBER(SDP_BN_THROUGHPUT, bn_throughput),
	MEMBER(SDP_EW_THROUGHPUT, ew_throughput),
	MEMBER(PDP_RDMA_BASE_ATOMIC_M, atom),
	MEMBER(PDP_BASE_THROUGHPUT, pdp_throughput),
	MEMBER(CDP_RDMA_BASE_ATOMIC_M, atom),
	MEMBER(CDP_BASE_THROUGHPUT, cdp_throughput),
};

static u32 word_value(const struct nvdla_config *cfg, const struct rom_word *word)
{
	const u8 *member = (const u8 *)cfg + word->offset;

	return (word->size == sizeof(u8) ? *member : *(const u16 *)member) << word->lsb;
}

static u32 reset_value(u32 reg)
{
	const struct nvdla_reg_info *info = nvdla_reg_find(reg);

	return info ? info->reset : 0;
}

u32 nvdla_rom_value(const struct nvdla_config *cfg, u32 reg)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].reg == reg)
			return word_value(cfg, &words[i]);
	return reset_value(reg);
}

/* How many words differ from those of @cfg?  The first that does is told. */
static u32 compare(const struct nvdla_config *cfg, const u32 *value,
		   struct nvdla_rom_mismatch *mismatch)
{
	u32 i, differ = 0;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		u32 expected = word_value(cfg, &words[i]);

		if (value[i] == expected || differ++)
			continue;
		mismatch->config = cfg;
		mismatch->reg = words[i].reg;
		mismatch->value = value[i];
		mismatch->expected = expected;
	}
	return differ;
}

const struct nvdla_config *nvdla_rom_identify(u32 (*read)(void *context, u32 reg), void *context,
					      struct nvdla_rom_mismatch *mismatch)
{
	u32 value[ARRAY_SIZE(words)], i, differ, least = ~0u;
	struct nvdla_rom_mismatch one;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		value[i] = read(context, words[i].reg);
	for (i = 0; i < nvdla_config_count; i++) {
		differ = compare(&nvdla_configs[i], value, &one);
		if (!differ)
			return &nvdla_configs[i];
		if (differ >= least)
			continue;
		least = differ;
		*mismatch = one;
		mismatch->name = nvdla_reg_find(one.reg)->name;
	}
	return NULL;
}
