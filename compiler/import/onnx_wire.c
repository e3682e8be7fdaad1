// SPDX-License-Identifier: MIT
/*
 * How deep messages are nested, told before they are decoded: protobuf-c's decoder calls
 * itself for each level and a file of a megabyte has room for enough levels to exhaust
 * any stack.
 */
#include "onnx.h"

/* A model is a message of graph, node, attribute, tensor, segment; subgraphs are refused anyway. */
#define MAX_DEPTH 24

struct wire {
	const u8 *at, *end;
};

static bool read_varint(struct wire *wire, u64 *value)
{
	u32 shift;

	*value = 0;
	for (shift = 0; shift < 64; shift += 7) {
		u8 byte;

		if (wire->at == wire->end)
			return false;
		byte = *wire->at++;
		*value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

static const ProtobufCMessageDescriptor *
message_of_field(const ProtobufCMessageDescriptor *descriptor, u64 number)
{
	const ProtobufCFieldDescriptor *field;

	if (number > INT32_MAX)
		return NULL;
	field = protobuf_c_message_descriptor_get_field(descriptor, (unsigned int)number);
	return field && field->type == PROTOBUF_C_TYPE_MESSAGE ? field->descriptor : NULL;
}

enum { VARINT, FIXED64, DELIMITED, FIXED32 = 5 };

/* The bytes of a field behind its key; what is not well formed is left to the decoder. */
static bool skip(struct wire *wire, u32 type, struct wire *contents)
{
	u64 bytes = 0;

	*contents = (struct wire){ NULL, NULL };
	if (type == VARINT)
		return read_varint(wire, &bytes);
	if (type == DELIMITED && !read_varint(wire, &bytes))
		return false;
	if (type == FIXED64)
		bytes = 8;
	else if (type == FIXED32)
		bytes = 4;
	else if (type != DELIMITED)
		return false;
	if (bytes > (u64)(wire->end - wire->at))
		return false;
	if (type == DELIMITED)
		*contents = (struct wire){ wire->at, wire->at + bytes };
	wire->at += bytes;
	return true;
}

static bool is_sane(const ProtobufCMessageDescriptor *descriptor, struct wire wire, u32 depth)
{
	while (wire.at != wire.end) {
		const ProtobufCMessageDescriptor *inner;
		struct wire contents;
		u64 key;

		if (!read_varint(&wire, &key) || !skip(&wire, key & 7, &contents))
			return true;
		inner = contents.at ? message_of_field(descriptor, key >> 3) : NULL;
		if (!inner)
			continue;
		if (depth == MAX_DEPTH || !is_sane(inner, contents, depth + 1))
			return false;
	}
	return true;
}

bool onnx_nesting_is_sane(const ProtobufCMessageDescriptor *descriptor, const u8 *data,
			  size_t bytes)
{
	return is_sane(descriptor, (struct wire){ data, data + bytes }, 0);
}
