/* SPDX-License-Identifier: MIT */
/*
 * Writes a chain stream (uapi/nvdla_chain.h) task by task.  Registers of a task
 * are put in ascending order; zeros need not be put.  Errors stick: check
 * npu_stream_end().
 */
#ifndef NPU_STREAM_H
#define NPU_STREAM_H

#include "nvdla_chain.h"
#include "nvdla_regs.h"

#define NPU_STREAM_MAX_ADDRESSES 8
#define NPU_STREAM_MAX_LUTS 2

struct npu_stream {
	u8 *data;
	size_t bytes, capacity;
	size_t task; /* offset of the present task's head */
	struct nvdla_chain_task head;
	struct nvdla_chain_addr address[NPU_STREAM_MAX_ADDRESSES];
	struct nvdla_chain_lut lut[NPU_STREAM_MAX_LUTS];
	u32 task_count;
	int error; /* first one; 0: none */
};

void npu_stream_begin(struct npu_stream *stream);

void npu_stream_task(struct npu_stream *stream, enum nvdla_chain_kind kind, u32 label);

/* As npu_stream_reg(), where the stream has to grow. */
void npu_stream_reg_slow(struct npu_stream *stream, u32 reg, u32 value);

/* A register's value; left out where it is 0.  Inline: this is most of what emission does. */
static inline void npu_stream_reg(struct npu_stream *stream, u32 reg, u32 value)
{
	struct nvdla_chain_reg entry = { .reg = reg, .value = value };

	if (!value)
		return;
	if (stream->capacity - stream->bytes < sizeof(entry)) {
		npu_stream_reg_slow(stream, reg, value);
		return;
	}
	memcpy(stream->data + stream->bytes, &entry, sizeof(entry));
	stream->bytes += sizeof(entry);
	stream->head.reg_count++;
}

/* An address: @reg is the register of the low half. */
void npu_stream_address(struct npu_stream *stream, u32 reg, u32 region, u64 offset);

/* Contents of a look-up table: @table and @count as struct nvdla_chain_lut has them. */
void npu_stream_lut(struct npu_stream *stream, u32 table, const s16 *entry, u32 count);

void npu_stream_task_end(struct npu_stream *stream);

/**
 * npu_stream_end() - completes the header
 * @data, @bytes: receive the stream, to be freed by the caller
 *
 * Return: 0; -ENOMEM; -E2BIG beyond the limits of the format.
 */
int npu_stream_end(struct npu_stream *stream, u32 regions, void **data, u32 *bytes);

#endif /* NPU_STREAM_H */
