/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Validator of chain streams (uapi/nvdla_chain.h): one pass over an untrusted
 * stream that either refuses it, with task, register and rule, or works out all
 * that running it needs: bytes of each region, CBUF banks, units, independence.
 *
 * Pure C: no allocation, no floating point, no call but to driver/hw/.  The caller owns the
 * stream and must not let anyone change it from validation to the last use.
 */
#ifndef NVDLA_CHAIN_CHECK_H
#define NVDLA_CHAIN_CHECK_H

#include "nvdla_chain.h"
#include "nvdla_config.h"
#include "nvdla_regs.h"
#include "nvdla_surface.h"

#define NVDLA_CHAIN_NO_TASK 0xffffffffu
#define NVDLA_CHAIN_NO_REG 0xffffffffu

#define NVDLA_LUT_TABLES 2 /* of SDP and of CDP: LE and LO */
#define NVDLA_LUT_LE_ENTRIES 65
#define NVDLA_LUT_LO_ENTRIES 257

/* struct nvdla_chain_task_info.flags */
#define NVDLA_TASK_OVERLAPS BIT(0) /* may run together with the task before it */
#define NVDLA_TASK_REUSES BIT(1) /* needs what the task before it left in CBUF */
#define NVDLA_TASK_KEEPS BIT(2) /* leaves something in CBUF for the task after it */
#define NVDLA_TASK_LUT BIT(3) /* sets look-up table registers or contents of its unit */
#define NVDLA_TASK_KEEPS_WEIGHTS BIT(4) /* its weights stay resident (SKIP_WEIGHT_RLS) */

/**
 * struct nvdla_chain_task_info - what the validator found out about one task
 * @offset: of its struct nvdla_chain_task in the stream, bytes
 * @units: bit (1 << enum nvdla_unit) for each unit that runs
 * @done: bits of GLB.S_INTR_STATUS, as for register group 0, of the units that end the task
 * @kind: enum nvdla_chain_kind
 * @flags: NVDLA_TASK_*
 * @label: as in the stream
 * @table_task: with NVDLA_TASK_LUT: the task whose copy of table LE and of LO its unit must hold
 *	(itself or an earlier one); NVDLA_CHAIN_NO_TASK: none
 * @weight_entries: CBUF entries of its weights
 * @weight_need: weight entries that must be free or its own for it to run
 * @data_banks, @weight_banks: claim on CBUF; 0: none
 */
struct nvdla_chain_task_info {
	u32 offset;
	u32 units;
	u32 done;
	u32 kind;
	u32 flags;
	u32 label;
	u32 table_task[NVDLA_LUT_TABLES];
	u32 weight_entries;
	u32 weight_need;
	u16 data_banks;
	u16 weight_banks;
};

/* struct nvdla_chain_region.ports */
#define NVDLA_REGION_MEMORY BIT(0) /* reached through the memory interface */
#define NVDLA_REGION_SECOND_PORT BIT(1) /* reached through the second one (CVIF: on-chip SRAM) */

/**
 * struct nvdla_chain_region - the bytes of one region that a chain touches
 * @read_start, @read_end: reads lie in [start, end); both 0: none
 * @write_start, @write_end: writes, likewise
 * @ports: NVDLA_REGION_*: by which memory interface; 0: not used at all
 *
 * The buffer that submit binds has to be at least max(read_end, write_end) bytes.
 */
struct nvdla_chain_region {
	u64 read_start;
	u64 read_end;
	u64 write_start;
	u64 write_end;
	u32 ports;
};

/**
 * struct nvdla_chain - a validated stream
 * @config: it is valid for this configuration only
 * @stream: the caller's stream, not copied
 * @bytes: of it
 * @task_count, @region_count: as in the header
 * @banks: most CBUF banks that any task claims (data plus weights)
 * @alignment: bytes; the base address of every bound region must be a multiple of it
 * @region: [region_count] what is touched
 * @task: [task_count], in the caller's storage
 */
struct nvdla_chain {
	const struct nvdla_config *config;
	const void *stream;
	size_t bytes;
	u32 task_count;
	u32 region_count;
	u32 banks;
	u32 alignment;
	struct nvdla_chain_region region[NVDLA_CHAIN_MAX_REGIONS];
	struct nvdla_chain_task_info *task;
};

/**
 * struct nvdla_chain_error - why a stream is refused
 * @task: index of the task; NVDLA_CHAIN_NO_TASK: the header
 * @label: of that task
 * @reg: byte offset of the register; NVDLA_CHAIN_NO_REG: none in particular
 * @rule: a static text: what must hold
 * @value, @limit: what was found and what the rule allows (0, 0 where numbers say nothing)
 */
struct nvdla_chain_error {
	u32 task;
	u32 label;
	u32 reg;
	const char *rule;
	u64 value;
	u64 limit;
};

/**
 * nvdla_chain_storage_bytes() - storage that nvdla_chain_validate() needs for a stream
 *
 * Looks at nothing but the header.  Return: bytes; 0 where it is no stream.
 */
size_t nvdla_chain_storage_bytes(const void *stream, size_t bytes);

/**
 * nvdla_chain_validate() - check a stream and work out what it needs
 * @config: the device
 * @stream: untrusted words; must stay as they are while @chain is used
 * @bytes: of @stream
 * @storage: 8-byte aligned; @chain->task lies in it, and scratch space of this call
 * @storage_bytes: at least nvdla_chain_storage_bytes()
 * @chain: result
 * @error: where not NULL, filled when the stream is refused
 *
 * Whether the banks that the chain claims (@chain->banks) are available now is the caller's
 * question; the validator compares with the banks of the configuration.
 *
 * Return: 0; -EINVAL: refused; -EOPNOTSUPP: asks for what @config lacks; -E2BIG: over a limit of
 * the format; -ENOSPC: @storage too small.
 */
int nvdla_chain_validate(const struct nvdla_config *config, const void *stream, size_t bytes,
			 void *storage, size_t storage_bytes, struct nvdla_chain *chain,
			 struct nvdla_chain_error *error);

/**
 * nvdla_chain_error_text() - "task 3 (layer 7): CDMA.D_BANK: data and weight banks that there
 * are: 40 > 32"
 *
 * Always terminates @text (where @size > 0); cuts what does not fit.
 */
void nvdla_chain_error_text(const struct nvdla_chain_error *error, char *text, size_t size);

/**
 * struct nvdla_chain_access - one stream of DMA of a task
 * @reg: register that holds the low half of the address
 * @region, @offset: where it starts
 * @bytes: from the first to behind the last one
 * @second_port: through the second memory interface
 * @write: or else it reads
 * @surface: which bytes from there
 */
struct nvdla_chain_access {
	u32 reg;
	u32 region;
	u64 offset;
	u64 bytes;
	bool second_port;
	bool write;
	struct nvdla_surface surface;
};

#define NVDLA_CHAIN_MAX_ACCESSES 8

/**
 * nvdla_chain_accesses() - what one task of a validated chain reads and writes
 *
 * Return: number of entries of @access that were filled.
 */
u32 nvdla_chain_accesses(const struct nvdla_chain *chain, u32 task,
			 struct nvdla_chain_access access[NVDLA_CHAIN_MAX_ACCESSES]);

#endif /* NVDLA_CHAIN_CHECK_H */
