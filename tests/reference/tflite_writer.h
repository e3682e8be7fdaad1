/* SPDX-License-Identifier: MIT */
/*
 * Writes small TensorFlow Lite files for tests: every model that a test needs is
 * described in the test, none is taken from elsewhere.
 */
#ifndef NPU_TFLITE_WRITER_H
#define NPU_TFLITE_WRITER_H

#include "nvdla_types.h"

/* enum TensorType of the schema. */
enum {
	TW_F32 = 0,
	TW_F16 = 1,
	TW_I32 = 2,
	TW_U8 = 3,
	TW_I64 = 4,
	TW_STRING = 5,
	TW_I16 = 7,
	TW_I8 = 9
};

struct tw_tensor {
	const char *name;
	s8 type;
	u32 rank;
	s32 dim[8];
	u32 scales; /* how many; 0: not quantised */
	const float *scale;
	const s64 *zero; /* NULL: zeros */
	u32 axis;
	const void *data; /* of a constant */
	u32 bytes;
	bool variable;
};

/* A field of an operator's options: an integer, a bool or the bits of a float. */
struct tw_option {
	u32 field;
	u32 value;
};

struct tw_op {
	u8 code; /* enum BuiltinOperator */
	const char *custom; /* the name of one with code 32 */
	u32 inputs;
	s32 input[24];
	u32 outputs;
	s32 output[8];
	u8 options_type; /* enum BuiltinOptions */
	u32 options;
	struct tw_option option[8];
};

struct tw_model {
	u32 version;
	bool old_codes; /* operator codes in the byte that files before 2020 have */
	u32 tensors;
	const struct tw_tensor *tensor;
	const struct tw_tensor
		*shared; /* one table of its quantisation for all without their own */
	u32 ops;
	const struct tw_op *op;
	u32 inputs;
	s32 input[4];
	u32 outputs;
	s32 output[4];
};

/* The file's contents, to be freed by the caller; NULL when out of memory. */
u8 *tw_write(const struct tw_model *model, size_t *bytes);

static inline u32 tw_float(float value)
{
	u32 bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

#endif /* NPU_TFLITE_WRITER_H */
