/* SPDX-License-Identifier: MIT */
/* Protobuf's text format, for any message that protobuf-c has a description of. */
#ifndef NPU_PROTOTXT_H
#define NPU_PROTOTXT_H

#include <protobuf-c/protobuf-c.h>

#include "diag.h"
#include "nvdla_types.h"

/**
 * struct prototxt_source - a text that describes a message
 * @file: its name, for messages
 * @may_have_others: whether unknown fields of a message are passed over; else they are errors
 */
struct prototxt_source {
	const char *text;
	size_t bytes;
	const char *file;
	bool (*may_have_others)(const ProtobufCMessageDescriptor *message);
};

/**
 * prototxt_encode() - turns text into the same message in binary form
 * @message: what the text describes
 * @data, @bytes: receive the binary form, to be freed by the caller
 *
 * Return: 0, -EINVAL with file and line in @diag, -ENOMEM.
 */
int prototxt_encode(const struct prototxt_source *source, const ProtobufCMessageDescriptor *message,
		    u8 **data, size_t *bytes, struct npu_diag *diag);

/* Whether a text begins with a field of @message, behind spaces and comments. */
bool prototxt_begins_with(const char *text, size_t bytes,
			  const ProtobufCMessageDescriptor *message);

#endif /* NPU_PROTOTXT_H */
