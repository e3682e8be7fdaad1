/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * The chain stream: how user space describes work for the NPU.
 *
 * A stream is a header followed by tasks that run in order.  A task names the
 * registers that it sets (registers not named are zero) and the addresses that it
 * uses, as offsets into regions; submit binds a buffer to each region.  There
 * are no memory addresses in a stream.  The driver copies a stream once, checks
 * every word of it and works out which bytes of each region it reads and writes
 * and how many CBUF banks it needs.
 *
 * All words are little endian; every struct is a multiple of 8 bytes; padding
 * and unknown flags must be zero.
 */
#ifndef _UAPI_NVDLA_CHAIN_H
#define _UAPI_NVDLA_CHAIN_H

#include <linux/types.h>

#define NVDLA_CHAIN_MAGIC 0x4e484344 /* "DCHN" */
#define NVDLA_CHAIN_VERSION 1
#define NVDLA_CHAIN_MAX_TASKS 65536
#define NVDLA_CHAIN_MAX_RUN 4 /* tasks that share content of CBUF: one after another, alone */
#define NVDLA_CHAIN_MAX_REGIONS 16
#define NVDLA_CHAIN_MAX_BYTES (64u << 20)

/**
 * struct nvdla_chain_header - start of a stream
 * @magic: NVDLA_CHAIN_MAGIC
 * @version: NVDLA_CHAIN_VERSION
 * @size: bytes of the whole stream
 * @task_count: tasks that follow, at least 1
 * @region_count: regions that the stream may name: 0 .. region_count - 1
 * @pad: zero
 */
struct nvdla_chain_header {
	__u32 magic;
	__u32 version;
	__u32 size;
	__u32 task_count;
	__u32 region_count;
	__u32 pad;
};

/* What a task runs: one pass of these units. */
enum nvdla_chain_kind {
	NVDLA_CHAIN_CONV =
		1, /* CDMA, CSC, CMAC_A, CMAC_B, CACC, SDP; SDP_RDMA and PDP as the registers say */
	NVDLA_CHAIN_SDP = 2, /* SDP_RDMA, SDP; PDP as the registers say */
	NVDLA_CHAIN_PDP = 3, /* PDP_RDMA, PDP */
	NVDLA_CHAIN_CDP = 4, /* CDP_RDMA, CDP */
};

/**
 * struct nvdla_chain_task - start of a task
 * @kind: enum nvdla_chain_kind
 * @size: bytes of the task, this struct included
 * @reg_count: struct nvdla_chain_reg that follow
 * @addr_count: struct nvdla_chain_addr that follow these
 * @lut_count: struct nvdla_chain_lut that follow these
 * @label: free for user space (which layer); errors and traces repeat it
 */
struct nvdla_chain_task {
	__u32 kind;
	__u32 size;
	__u32 reg_count;
	__u32 addr_count;
	__u32 lut_count;
	__u32 label;
};

/**
 * struct nvdla_chain_reg - one register's value
 * @reg: byte offset in the register file, in ascending order: a D_ register of the task's units,
 *       not an address or an enable; with a look-up table also its unit's S_LUT_CFG and what
 *       follows it
 * @value: bits outside of the register's fields must be zero
 *
 * Zero is a value like any other: units that a task does not use have to be bypassed, and read DMA
 * that it does not use has to be disabled, by name.
 */
struct nvdla_chain_reg {
	__u32 reg;
	__u32 value;
};

/**
 * struct nvdla_chain_addr - one address
 * @reg: byte offset of the register that holds the low half; one address for each read and write
 *       that the task's registers ask for, and no other
 * @region: which region
 * @offset: bytes into it, a multiple of the configuration's memory atom (weights, pixels: of the
 *       bus beat)
 */
struct nvdla_chain_addr {
	__u32 reg;
	__u32 region;
	__u64 offset;
};

/**
 * struct nvdla_chain_lut - contents of one look-up table, loaded before the task
 *
 * A CDP task loads CDP's tables, others those of SDP; each once.  A task that uses tables needs
 * both of them, loaded by itself or by an earlier task of the same stream.
 *
 * @table: 0 the exponential/linear table LE (65 entries), 1 the linear table LO (257 entries)
 * @count: 65 or 257
 * @entry: signed 16 bit
 */
struct nvdla_chain_lut {
	__u32 table;
	__u32 count;
	__s16 entry[260];
};

#endif /* _UAPI_NVDLA_CHAIN_H */
