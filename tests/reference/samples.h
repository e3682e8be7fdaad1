/* SPDX-License-Identifier: MIT */
/* One small TensorFlow Lite model for each operator that the importer reads. */
#ifndef NPU_SAMPLES_H
#define NPU_SAMPLES_H

#include "tflite_writer.h"

#define SAMPLE_TENSORS 8

/**
 * struct sample - a model of one operator
 * @name: of the model; unique, usable as a file name
 * @tensor: up to the first without a name; what is neither constant nor an output is an input
 * @op: the operator
 */
struct sample {
	const char *name;
	struct tw_tensor tensor[SAMPLE_TENSORS];
	struct tw_op op;
};

extern const struct sample samples[];
extern const u32 sample_count;

/* The sample of that name; it exists. */
const struct sample *sample_find(const char *name);

/* Its file, to be freed by the caller; NULL when out of memory. */
u8 *sample_write(const struct sample *sample, size_t *bytes);

#endif /* NPU_SAMPLES_H */
