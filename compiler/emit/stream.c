// SPDX-License-Identifier: MIT
#include "stream.h"

#include <stdlib.h>

/* Room for @bytes more beyond the present capacity; false: an error. */
static bool enlarge(struct npu_stream *stream, size_t bytes)
{
	size_t capacity = max(stream->bytes + bytes, stream->capacity * 2);
	u8 *larger;

	if (stream->error)
		return false;
	if (bytes > NVDLA_CHAIN_MAX_BYTES - stream->bytes) {
		stream->error = -E2BIG;
		return false;
	}
	capacity = min(max(capacity, (size_t)4096), (size_t)NVDLA_CHAIN_MAX_BYTES);
	larger = realloc(stream->data, capacity);
	if (!larger) {
		stream->error = -ENOMEM;
		return false;
	}
	stream->data = larger;
	stream->capacity = capacity;
	return true;
}

static void put(struct npu_stream *stream, const void *data, size_t bytes)
{
	if (!bytes || (bytes > stream->capacity - stream->bytes && !enlarge(stream, bytes)))
		return;
	memcpy(stream->data + stream->bytes, data, bytes);
	stream->bytes += bytes;
}

void npu_stream_begin(struct npu_stream *stream)
{
	struct nvdla_chain_header header = { 0 };

	*stream = (struct npu_stream){ 0 };
	put(stream, &header, sizeof(header));
}

void npu_stream_task(struct npu_stream *stream, enum nvdla_chain_kind kind, u32 label)
{
	stream->task = stream->bytes;
	stream->head = (struct nvdla_chain_task){ .kind = kind, .label = label };
	put(stream, &stream->head, sizeof(stream->head));
}

void npu_stream_reg_slow(struct npu_stream *stream, u32 reg, u32 value)
{
	struct nvdla_chain_reg entry = { .reg = reg, .value = value };

	put(stream, &entry, sizeof(entry));
	stream->head.reg_count++;
}

void npu_stream_address(struct npu_stream *stream, u32 reg, u32 region, u64 offset)
{
	if (stream->head.addr_count == NPU_STREAM_MAX_ADDRESSES) {
		stream->error = stream->error ? stream->error : -E2BIG;
		return;
	}
	stream->address[stream->head.addr_count++] =
		(struct nvdla_chain_addr){ .reg = reg, .region = region, .offset = offset };
}

void npu_stream_lut(struct npu_stream *stream, u32 table, const s16 *entry, u32 count)
{
	struct nvdla_chain_lut *lut = &stream->lut[stream->head.lut_count];

	if (stream->head.lut_count == NPU_STREAM_MAX_LUTS || count > ARRAY_SIZE(lut->entry)) {
		stream->error = stream->error ? stream->error : -E2BIG;
		return;
	}
	*lut = (struct nvdla_chain_lut){ .table = table, .count = count };
	memcpy(lut->entry, entry, count * sizeof(*entry));
	stream->head.lut_count++;
}

void npu_stream_task_end(struct npu_stream *stream)
{
	put(stream, stream->address, stream->head.addr_count * sizeof(stream->address[0]));
	put(stream, stream->lut, stream->head.lut_count * sizeof(stream->lut[0]));
	if (stream->error)
		return;
	stream->head.size = (u32)(stream->bytes - stream->task);
	memcpy(stream->data + stream->task, &stream->head, sizeof(stream->head));
	stream->task_count++;
}

int npu_stream_end(struct npu_stream *stream, u32 regions, void **data, u32 *bytes)
{
	struct nvdla_chain_header header = {
		.magic = NVDLA_CHAIN_MAGIC,
		.version = NVDLA_CHAIN_VERSION,
		.size = (u32)stream->bytes,
		.task_count = stream->task_count,
		.region_count = regions,
	};

	if (!stream->error && stream->task_count > NVDLA_CHAIN_MAX_TASKS)
		stream->error = -E2BIG;
	if (stream->error) {
		free(stream->data);
		return stream->error;
	}
	memcpy(stream->data, &header, sizeof(header));
	*data = stream->data;
	*bytes = header.size;
	return 0;
}
