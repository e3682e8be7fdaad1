/* SPDX-License-Identifier: MIT */
/* Protobuf-c's decoder with memory from an arena, for all importers that use it. */
#ifndef NPU_IMPORT_DECODE_H
#define NPU_IMPORT_DECODE_H

#include "arena.h"
#include "nvdla_types.h"

#include <protobuf-c/protobuf-c.h>

/**
 * npu_decode() - a message in binary form as protobuf-c's structures
 * @message: receives them; they live as long as the arena, @data need not
 *
 * Return: 0, -EINVAL where the bytes are no such message, -ENOMEM where the arena's limit or the
 * machine's memory does not suffice for it.
 */
int npu_decode(const ProtobufCMessageDescriptor *descriptor, const void *data, size_t bytes,
	       struct npu_arena *arena, void *message);

#endif /* NPU_IMPORT_DECODE_H */
