/* SPDX-License-Identifier: MIT */
/*
 * Writes ONNX models for tests, with the same protobuf-c as the importer reads them.
 *
 *	struct onnx_writer w;
 *	onnx_begin(&w, 13);
 *	onnx_input(&w, "x", 1, "1,3,8,8");
 *	onnx_floats(&w, "w", "4,3,3,3", NULL);
 *	onnx_node(&w, "Conv", "x,w", "y");
 *	onnx_attribute_ints(&w, "pads", "1,1,1,1");
 *	onnx_output(&w, "y");
 *	data = onnx_end(&w, &bytes);
 */
#ifndef ONNX_WRITER_H
#define ONNX_WRITER_H

#include "nvdla_types.h"
#include "onnx.pb-c.h"

#include <stddef.h>

#define ONNX_WRITER_LIMIT 64

struct onnx_writer {
	Onnx__ModelProto model;
	Onnx__GraphProto graph;
	Onnx__OperatorSetIdProto opset, *opsets[1];
	Onnx__NodeProto *node[ONNX_WRITER_LIMIT];
	Onnx__TensorProto *tensor[ONNX_WRITER_LIMIT];
	Onnx__ValueInfoProto *input[ONNX_WRITER_LIMIT], *output[ONNX_WRITER_LIMIT];
	void *memory[4096]; /* freed by onnx_end() */
	u32 memory_count;
};

/* Lists are texts of numbers or names between commas; "" is empty. */
void onnx_begin(struct onnx_writer *w, s64 opset);
void onnx_input(struct onnx_writer *w, const char *name, s32 type, const char *dims);
void onnx_output(struct onnx_writer *w, const char *name);
/* A constant; without @raw its bytes are 0, 1, 2 and so on. */
Onnx__TensorProto *onnx_raw(struct onnx_writer *w, const char *name, s32 type, u32 element_bytes,
			    const char *dims, const void *raw);
/* A constant of float32; without @values they are small and differ. */
void onnx_floats(struct onnx_writer *w, const char *name, const char *dims, const float *values);
void onnx_int64s(struct onnx_writer *w, const char *name, const char *values);
void onnx_scalar(struct onnx_writer *w, const char *name, float value);
Onnx__NodeProto *onnx_node(struct onnx_writer *w, const char *type, const char *inputs,
			   const char *outputs);
/* Of the last node. */
Onnx__AttributeProto *onnx_attribute_ints(struct onnx_writer *w, const char *name,
					  const char *values);
void onnx_attribute_int(struct onnx_writer *w, const char *name, s64 value);
void onnx_attribute_float(struct onnx_writer *w, const char *name, float value);
void onnx_attribute_text(struct onnx_writer *w, const char *name, const char *text);
/*
 * A whole model but for what is behind a convolution of integers in QuantizeLinear and
 * DequantizeLinear: it computes "y"; "s" and "z" are a scale and a zero point of INT8 or UINT8.
 */
void onnx_qdq_conv(struct onnx_writer *w, s32 type, bool per_channel);
/* The file, which the caller frees. */
u8 *onnx_end(struct onnx_writer *w, size_t *bytes);

#endif /* ONNX_WRITER_H */
