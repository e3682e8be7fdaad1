// SPDX-License-Identifier: MIT
/*
 * Chains against the validator, and what it accepts against the device model: an access outside of
 * the bytes that the validator granted, a hang, or other results when tasks overlap than when they
 * run one by one is a fault, as is every crash and every finding of the sanitizers.
 *
 * Input: one byte that selects the configuration, one that places the regions (bit 0: all at the
 * same place) and asks for the second run (bit 1), then the stream.
 */
#include <stdio.h>

#include "../common/chain_device.h"
#include "../common/chain_mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define MAX_WORK 20000 /* multiplications, or elements, of all tasks that are run */
#define MEMORY_BYTES (64u << 10)

/* ---- the test ---- */

/* One device for each configuration, made when it is first needed. */
static struct chain_device *device_of(u32 index)
{
	static struct chain_device device[8];

	if (!device[index].sim)
		chain_device_open(&device[index], &nvdla_configs[index], 0, MEMORY_BYTES);
	return &device[index];
}

static void fault(const struct chain_device *dev, const char *what)
{
	fprintf(stderr, "fuzz_chain: %s: %s: %s\n", dev->hw.config->name, what,
		npusim_diagnosis(dev->sim));
	abort();
}

static u64 field(const struct nvdla_chain *chain, u32 task, u32 reg, u32 lsb, u32 width)
{
	const u8 *p = (const u8 *)chain->stream + chain->task[task].offset;
	struct nvdla_chain_task head;
	struct nvdla_chain_reg entry;
	u32 i;

	memcpy(&head, p, sizeof(head));
	for (i = 0; i < head.reg_count; i++) {
		memcpy(&entry, p + sizeof(head) + i * sizeof(entry), sizeof(entry));
		if (entry.reg == reg)
			return entry.value >> lsb & ((1ull << width) - 1);
	}
	return 0;
}

#define FIELD(chain, task, unit, reg, f) \
	field(chain, task, NVDLA_##unit##_##reg, NVDLA_LSB(unit, reg, f), NVDLA_WIDTH(unit, reg, f))

/* How much the model would have to do. */
static u64 work_of(const struct nvdla_chain *chain)
{
	u64 work = 0;
	u32 i, k;

	for (i = 0; i < chain->task_count; i++) {
		struct nvdla_chain_access access[NVDLA_CHAIN_MAX_ACCESSES];
		u32 n = nvdla_chain_accesses(chain, i, access);

		for (k = 0; k < n; k++)
			work += (u64)access[k].surface.line_bytes * access[k].surface.lines *
				access[k].surface.surfaces;
		if (chain->task[i].kind == NVDLA_CHAIN_CONV)
			work += (FIELD(chain, i, CSC, D_ATOMICS, ATOMICS) + 1) *
				(FIELD(chain, i, CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL) + 1) *
				(FIELD(chain, i, CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL) + 1) / 8;
		if (chain->task[i].units & 1u << NVDLA_UNIT_PDP)
			work += (FIELD(chain, i, PDP, D_DATA_CUBE_IN_WIDTH, CUBE_IN_WIDTH) + 1) *
				(FIELD(chain, i, PDP, D_DATA_CUBE_IN_HEIGHT, CUBE_IN_HEIGHT) + 1) *
				(FIELD(chain, i, PDP, D_DATA_CUBE_IN_CHANNEL, CUBE_IN_CHANNEL) + 1);
	}
	return work;
}

static void prepare(struct chain_device *dev, size_t bytes)
{
	static u8 pattern[MEMORY_BYTES];

	if (!pattern[1])
		chain_device_pattern(pattern, sizeof(pattern));
	memcpy(dev->memory, pattern, bytes);
	npusim_clear_fault(dev->sim);
	if (nvdla_hw_reset(&dev->hw))
		abort();
	/* CBUF's flush takes thousands of cycles: faster here than read by read. */
	npusim_run(dev->sim, 40000);
}

static void run_chain(struct chain_device *dev, const struct nvdla_chain *chain, const u64 *base,
		      bool serial)
{
	int err = chain_device_run(dev, chain, base, serial);

	if (err)
		fault(dev, err == -EDEADLK  ? "hang"
			   : err == -EACCES ? "access outside of the granted bytes"
					    : "the sequencer fails");
}

static void run_accepted(struct chain_device *dev, const struct nvdla_chain *chain, u8 how)
{
	static u8 first[MEMORY_BYTES];
	u64 base[NVDLA_CHAIN_MAX_REGIONS];
	size_t bytes;

	if (!chain_device_place(dev, chain, how & 1, base, &bytes) || work_of(chain) > MAX_WORK)
		return;
	prepare(dev, bytes);
	run_chain(dev, chain, base, false);
	if (!(how & 2) || chain->task_count == 1 || chain_writes_own_input(chain, base))
		return;
	memcpy(first, dev->memory, bytes);
	prepare(dev, bytes);
	run_chain(dev, chain, base, true);
	if (memcmp(first, dev->memory, bytes))
		fault(dev, "other bytes when tasks overlap");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static u64 storage[4096];
	struct nvdla_chain_error error;
	struct nvdla_chain chain;
	struct chain_device *dev;
	char text[200];
	u8 *stream;

	if (size < CHAIN_MUTATE_HEAD)
		return 0;
	dev = device_of(data[0] % nvdla_config_count);
	/* A copy of exactly its size, so that a read behind it is seen. */
	stream = malloc(size - CHAIN_MUTATE_HEAD + 1);
	if (!stream)
		abort();
	memcpy(stream, data + CHAIN_MUTATE_HEAD, size - CHAIN_MUTATE_HEAD);
	if (nvdla_chain_storage_bytes(stream, size - CHAIN_MUTATE_HEAD) <= sizeof(storage)) {
		if (nvdla_chain_validate(dev->hw.config, stream, size - CHAIN_MUTATE_HEAD, storage,
					 sizeof(storage), &chain, &error))
			nvdla_chain_error_text(&error, text, sizeof(text));
		else
			run_accepted(dev, &chain, data[1]);
	}
	free(stream);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	chain_mutate_seed(seed);
	/* Now and then, bytes without a thought for the format. */
	if (one_in(50))
		return LLVMFuzzerMutate(data, size, max_size);
	return chain_mutate(data, size, max_size);
}
