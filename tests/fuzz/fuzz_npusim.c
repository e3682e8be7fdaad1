// SPDX-License-Identifier: MIT
/*
 * Any register writes at all: the model must neither crash nor work for ever.  The input is a
 * configuration byte and then records: a register's number in the list (16 bits) and its value
 * (32 bits).  What is enabled at the end runs until nothing more happens.
 */
#include "npusim.h"

/* Memory is small and mirrored: every address is somewhere. */
#define MEMORY_BYTES 65536u

static u8 memory[MEMORY_BYTES];

static int mem_read(void *context, u64 addr, void *buf, size_t len)
{
	u8 *to = buf;

	while (len--)
		*to++ = memory[addr++ % MEMORY_BYTES];
	return 0;
}

static int mem_write(void *context, u64 addr, const void *buf, size_t len)
{
	const u8 *from = buf;

	while (len--)
		memory[addr++ % MEMORY_BYTES] = *from++;
	return 0;
}

static const u32 enables[] = {
	NVDLA_SDP_RDMA_D_OP_ENABLE, NVDLA_PDP_RDMA_D_OP_ENABLE, NVDLA_CDP_RDMA_D_OP_ENABLE,
	NVDLA_PDP_D_OP_ENABLE,	    NVDLA_CDP_D_OP_ENABLE,	NVDLA_SDP_D_OP_ENABLE,
	NVDLA_CACC_D_OP_ENABLE,	    NVDLA_CMAC_A_D_OP_ENABLE,	NVDLA_CMAC_B_D_OP_ENABLE,
	NVDLA_CSC_D_OP_ENABLE,	    NVDLA_CDMA_D_OP_ENABLE,
};

static void play(struct npusim *sim, const u8 *data, size_t size)
{
	u32 i;

	for (; size >= 6; data += 6, size -= 6) {
		u32 reg = (u32)(data[0] | data[1] << 8) % nvdla_reg_count;
		u32 value = data[2] | data[3] << 8 | data[4] << 16 | (u32)data[5] << 24;

		npusim_write(sim, nvdla_reg_table[reg].offset, value);
	}
	for (i = 0; i < ARRAY_SIZE(enables); i++)
		npusim_write(sim, enables[i], 1);
	while (npusim_wait(sim))
		npusim_write(sim, NVDLA_GLB_S_INTR_STATUS, UINT32_MAX);
	npusim_diagnosis(sim);
	for (i = 0; i < nvdla_reg_count; i++)
		npusim_read(sim, nvdla_reg_table[i].offset);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* One model for each configuration, with and without clock gating, made when first needed. */
static struct npusim *model(u32 config, bool gated)
{
	static struct npusim *sims[16][2];
	struct npusim_memory mem = { NULL, mem_read, mem_write, NULL };
	struct npusim_options options = { .config = &nvdla_configs[config],
					  .clock_gated = gated,
					  .max_cycles = 1 << 10 };
	struct npusim **sim = &sims[config % 16][gated];

	if (*sim)
		npusim_reset(*sim);
	else
		*sim = npusim_create(&options, &mem);
	return *sim;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct npusim *sim;

	if (size < 1)
		return 0;
	sim = model(data[0] % nvdla_config_count, data[0] & 128);
	if (sim)
		play(sim, data + 1, size - 1);
	return 0;
}
