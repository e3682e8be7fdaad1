// SPDX-License-Identifier: MIT
#include "decode.h"

/* The decoder says of neither failure which it was: the allocator remembers its own. */
struct decoder {
	struct npu_arena *arena;
	bool out_of_memory;
};

static void *allocate(void *decoder, size_t bytes)
{
	struct decoder *d = decoder;
	void *memory = npu_arena_alloc(d->arena, bytes);

	d->out_of_memory |= !memory;
	return memory;
}

static void keep(void *decoder, void *memory)
{
}

int npu_decode(const ProtobufCMessageDescriptor *descriptor, const void *data, size_t bytes,
	       struct npu_arena *arena, void *message)
{
	struct decoder decoder = { .arena = arena };
	ProtobufCAllocator allocator = { allocate, keep, &decoder };
	ProtobufCMessage *made = protobuf_c_message_unpack(descriptor, &allocator, bytes, data);

	*(ProtobufCMessage **)message = made;
	if (made)
		return 0;
	return decoder.out_of_memory ? -ENOMEM : -EINVAL;
}
