/* SPDX-License-Identifier: MIT */
/*
 * The real models that tests run: where they are, their golden inputs and
 * outputs.
 */
#ifndef SHARED_MODELS_H
#define SHARED_MODELS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "npu.h"
#include "tap.h"

#define SHARED_MAX_TENSORS 16

/**
 * struct shared_model - one model file
 * @name: without directory and ending
 * @golden: has outputs of TensorFlow Lite's reference kernels
 * @classes: its output says which class: the largest element has to be the same
 * @kind: folder and ending of its file; NULL: tflite
 */
struct shared_model {
	const char *name;
	bool golden;
	bool classes;
	const char *kind;
};

static const struct shared_model shared_models[] = {
	{ "coral_mobilenet_v1_025_128_u8", true, true },
	{ "emza_yolo_fastest_face_320_int8", true, false },
	{ "mlperf_ad_autoencoder_int8", true, false },
	{ "mlperf_ic_resnet8_int8", true, true },
	{ "mlperf_kws_dscnn_int8", true, true },
	{ "mlperf_vww_mbv1_025_96_int8", true, true },
	{ "tflm_hello_world_int8", true, false },
	{ "tflm_micro_speech_int8", true, true },
	{ "tflm_person_detect_int8_repaired", false, true },
	{ "tvm_mnist_int8", true, true },
};

#define SHARED_MODEL_COUNT (sizeof(shared_models) / sizeof(shared_models[0]))

/* Quantised ones; their inputs and outputs are float32. */
static const struct shared_model shared_onnx_models[] = {
	{ "ort_conv_qdq_s8s8_perchannel", true, false, "onnx" },
	{ "ort_conv_qdq_u8u8", true, false, "onnx" },
	{ "ort_qdq_multi_consumer_net", true, false, "onnx" },
};

#define SHARED_ONNX_MODEL_COUNT (sizeof(shared_onnx_models) / sizeof(shared_onnx_models[0]))

static const char *const shared_configs[] = {
	"nv_small",	 "nv_small_256",	"nv_small_256_full",
	"nv_medium_512", "nv_medium_1024_full", "nv_large"
};

#define SHARED_CONFIG_COUNT (sizeof(shared_configs) / sizeof(shared_configs[0]))

static inline const char *shared_root(void)
{
	const char *root = getenv("NPU_SHARED");

	return root && *root ? root : "../shared";
}

/* Prints why there is nothing to test; false then. */
static inline bool shared_there(void)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/models/tflite", shared_root());
	if (stat(path, &st) == 0)
		return true;
	printf("SKIP no %s\n", path);
	return false;
}

static inline const char *shared_kind(const struct shared_model *model)
{
	return model->kind ? model->kind : "tflite";
}

static inline void shared_path_of(const struct shared_model *model, char path[512])
{
	snprintf(path, 512, "%s/models/%s/%s.%s", shared_root(), shared_kind(model), model->name,
		 shared_kind(model));
}

static inline void shared_model_path(const char *model, char path[512])
{
	snprintf(path, 512, "%s/models/tflite/%s.tflite", shared_root(), model);
}

/* A whole file of exactly @bytes bytes into @data. */
static inline bool shared_read(const char *path, void *data, size_t bytes)
{
	FILE *file = fopen(path, "rb");
	bool good;

	if (!file)
		return false;
	good = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
	fclose(file);
	return good;
}

static inline bool shared_golden(const struct shared_model *model, const char *what, unsigned index,
				 void *data, size_t bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/models/golden/%s/%s/%s_%u.bin", shared_root(),
		 shared_kind(model), model->name, what, index);
	return shared_read(path, data, bytes);
}

/* A generator of our own: the same numbers everywhere. */
static inline uint32_t shared_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static inline void shared_random_bytes(void *data, size_t bytes, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	size_t i;

	for (i = 0; i < bytes; i++)
		((uint8_t *)data)[i] = (uint8_t)(shared_random(&state) >> 24);
}

/* Multiples of 1/8 from -16 up. */
static inline void shared_random_reals(void *data, size_t bytes, uint32_t seed)
{
	uint32_t state = seed * 2654435761u + 1;
	size_t i;

	for (i = 0; i < bytes / sizeof(float); i++)
		((float *)data)[i] = (float)(shared_random(&state) >> 24) / 8 - 16;
}

/* Memory for all inputs and outputs of a model; the last entry of each has no data. */
struct shared_io {
	struct npu_input input[SHARED_MAX_TENSORS];
	struct npu_output output[SHARED_MAX_TENSORS];
	struct npu_tensor_info out_info[SHARED_MAX_TENSORS];
	bool real[SHARED_MAX_TENSORS]; /* inputs of float32 */
	unsigned input_count, output_count;
};

static inline void shared_io_free(struct shared_io *io)
{
	unsigned i;

	for (i = 0; i < io->input_count; i++)
		free((void *)(uintptr_t)io->input[i].data);
	for (i = 0; i < io->output_count; i++)
		free(io->output[i].data);
	memset(io, 0, sizeof(*io));
}

static inline void *shared_alloc(size_t bytes)
{
	void *data = calloc(bytes ? bytes : 1, 1);

	if (!data)
		abort();
	return data;
}

static inline void shared_io_make(struct npu_model *model, struct shared_io *io)
{
	struct npu_tensor_info info = { .size = sizeof(info) };
	unsigned i;

	memset(io, 0, sizeof(*io));
	io->input_count = npu_model_input_count(model);
	io->output_count = npu_model_output_count(model);
	if (io->input_count > SHARED_MAX_TENSORS || io->output_count > SHARED_MAX_TENSORS)
		abort();
	for (i = 0; i < io->input_count; i++) {
		npu_model_input(model, i, &info);
		io->input[i] = (struct npu_input){ shared_alloc(info.bytes), info.bytes };
		io->real[i] = info.type == NPU_TYPE_FLOAT32;
	}
	for (i = 0; i < io->output_count; i++) {
		io->out_info[i].size = sizeof(io->out_info[i]);
		npu_model_output(model, i, &io->out_info[i]);
		io->output[i] = (struct npu_output){ shared_alloc(io->out_info[i].bytes),
						     io->out_info[i].bytes };
	}
}

/* The golden input (@seed 0, where there is one) or random elements. */
static inline bool shared_io_fill(const struct shared_model *model, struct shared_io *io,
				  uint32_t seed)
{
	unsigned i;

	for (i = 0; i < io->input_count; i++) {
		void *data = (void *)(uintptr_t)io->input[i].data;

		if ((seed || !model->golden) && io->real[i])
			shared_random_reals(data, io->input[i].bytes, seed + i);
		else if (seed || !model->golden)
			shared_random_bytes(data, io->input[i].bytes, seed + i);
		else if (!shared_golden(model, "in", i, data, io->input[i].bytes))
			return false;
	}
	return true;
}

#endif /* SHARED_MODELS_H */
