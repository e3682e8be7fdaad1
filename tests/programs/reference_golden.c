// SPDX-License-Identifier: MIT
/*
 * Runs the reference interpreter on real models and compares with what TensorFlow
 * Lite's own reference kernels made of the same inputs, bit for bit.  Prints a
 * line for each model; the models are in $NPU_SHARED/models (default ../shared).
 */
#include "graph.h"
#include "reference.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct contents {
	void *data;
	size_t bytes;
};

static const char *const models[] = {
	"coral_mobilenet_v1_025_128_u8", "emza_yolo_fastest_face_320_int8",
	"mlperf_ad_autoencoder_int8",	 "mlperf_ic_resnet8_f32",
	"mlperf_ic_resnet8_int8",	 "mlperf_kws_dscnn_int8",
	"mlperf_vww_mbv1_025_96_int8",	 "tflm_hello_world_int8",
	"tflm_micro_speech_int8",	 "tvm_mnist_int8",
};

/* A photograph without a golden output, but with the class scores that its authors publish. */
static const struct person {
	const char *file;
	s8 scores[2];
} persons[] = {
	{ "person.bmp", { -113, 113 } },
	{ "no_person.bmp", { 57, -57 } },
};

static const char *shared;
static u32 passed, failed;

__attribute__((format(printf, 3, 4))) static void result(bool good, const char *what,
							 const char *format, ...)
{
	va_list args;

	*(good ? &passed : &failed) += 1;
	printf("%sok %u - %s: ", good ? "" : "not ", passed + failed, what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static bool map_file(const char *path, struct contents *contents)
{
	struct stat stat;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	contents->data = MAP_FAILED;
	if (!fstat(fd, &stat) && stat.st_size > 0)
		contents->data = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	contents->bytes = stat.st_size;
	close(fd);
	return contents->data != MAP_FAILED;
}

static void unmap(struct contents *contents)
{
	munmap(contents->data, contents->bytes);
}

static bool read_tensor(struct npu_reference *reference, const struct npu_graph *graph, u32 tensor,
			const char *path)
{
	struct contents contents;
	bool good = map_file(path, &contents);

	if (!good)
		return false;
	good = contents.bytes == graph->tensor[tensor].bytes;
	if (good)
		memcpy(npu_reference_tensor(reference, tensor), contents.data, contents.bytes);
	unmap(&contents);
	return good;
}

/* Integers must be equal; float32 within 4 parts in 10^6 (exp() differs between C libraries). */
static u32 count_differences(const struct npu_tensor *tensor, const void *got, const void *golden)
{
	const float *a = got, *b = golden;
	const u8 *p = got, *q = golden;
	u32 differences = 0;
	size_t i;

	if (tensor->dtype == NPU_F32) {
		for (i = 0; i < tensor->bytes / 4; i++)
			differences +=
				!(__builtin_fabsf(a[i] - b[i]) <= 4e-6f * __builtin_fabsf(b[i]));
		return differences;
	}
	for (i = 0; i < tensor->bytes; i++)
		differences += p[i] != q[i];
	return differences;
}

static void compare_outputs(const char *model, const struct npu_graph *graph,
			    struct npu_reference *reference)
{
	u32 i, differences = 0, values = 0;

	for (i = 0; i < graph->output_count; i++) {
		const struct npu_tensor *tensor = &graph->tensor[graph->output[i]];
		struct contents golden;
		char path[512];

		snprintf(path, sizeof(path), "%s/models/golden/tflite/%s/out_%u.bin", shared, model,
			 i);
		if (!map_file(path, &golden)) {
			result(false, model, "cannot read %s", path);
			return;
		}
		if (golden.bytes == tensor->bytes)
			differences += count_differences(
				tensor, npu_reference_tensor(reference, graph->output[i]),
				golden.data);
		else
			differences += tensor->bytes;
		values += npu_tensor_elements(tensor);
		unmap(&golden);
	}
	result(!differences, model, "%u operators, %u of %u output values differ", graph->op_count,
	       differences, values);
}

static void run_golden(const char *model, const struct npu_graph *graph,
		       struct npu_reference *reference)
{
	struct npu_diag diag = { 0 };
	char path[512];
	u32 i;

	for (i = 0; i < graph->input_count; i++) {
		snprintf(path, sizeof(path), "%s/models/golden/tflite/%s/in_%u.bin", shared, model,
			 i);
		if (!read_tensor(reference, graph, graph->input[i], path)) {
			result(false, model, "no usable input %s", path);
			return;
		}
	}
	if (npu_reference_run(reference, NULL, NULL, &diag))
		result(false, model, "%s", diag.text);
	else
		compare_outputs(model, graph, reference);
}

/* 8-bit BMP files end with their pixels, the bottom row first; the network sees the top row first. */
static bool read_bitmap(const char *file, const struct npu_tensor *image, u8 *pixels)
{
	const u32 height = image->dim[1], width = image->dim[2];
	struct contents contents;
	char path[512];
	bool good;
	u32 y;

	snprintf(path, sizeof(path), "%s/models/data/tflm_person/%s", shared, file);
	if (!map_file(path, &contents))
		return false;
	good = contents.bytes >= image->bytes;
	for (y = 0; good && y < height; y++)
		memcpy(pixels + (size_t)y * width,
		       (u8 *)contents.data + contents.bytes - (size_t)(y + 1) * width, width);
	unmap(&contents);
	return good;
}

static void run_persons(const char *model, const struct npu_graph *graph,
			struct npu_reference *reference)
{
	u32 i;

	(void)model;
	for (i = 0; i < ARRAY_SIZE(persons); i++) {
		const s8 *scores = npu_reference_tensor(reference, graph->output[0]);
		struct npu_diag diag = { 0 };

		if (!read_bitmap(persons[i].file, &graph->tensor[graph->input[0]],
				 npu_reference_tensor(reference, graph->input[0])))
			result(false, persons[i].file, "cannot be read");
		else if (npu_reference_run(reference, NULL, NULL, &diag))
			result(false, persons[i].file, "%s", diag.text);
		else
			result(!memcmp(scores, persons[i].scores, 2), persons[i].file,
			       "scores %d, %d", scores[0], scores[1]);
	}
}

static void with_model(const char *model,
		       void (*run)(const char *model, const struct npu_graph *graph,
				   struct npu_reference *reference))
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { 0 };
	struct contents file;
	char path[512];

	snprintf(path, sizeof(path), "%s/models/tflite/%s.tflite", shared, model);
	if (!map_file(path, &file)) {
		result(false, model, "cannot read %s", path);
		return;
	}
	if (npu_import_tflite(file.data, file.bytes, path, NULL, &graph, &diag) ||
	    npu_reference_new(graph, &reference, &diag))
		result(false, model, "%s", diag.text);
	else
		run(model, graph, reference);
	npu_reference_free(reference);
	npu_graph_free(graph);
	unmap(&file);
}

int main(void)
{
	char path[512];
	u32 i;

	shared = getenv("NPU_SHARED");
	if (!shared)
		shared = "../shared";
	snprintf(path, sizeof(path), "%s/models/golden/tflite", shared);
	if (access(path, R_OK)) {
		printf("%s no directory %s\n", getenv("CI") ? "not ok 1 -" : "ok 1 # SKIP", path);
		return getenv("CI") ? 1 : 0;
	}
	for (i = 0; i < ARRAY_SIZE(models); i++)
		with_model(models[i], run_golden);
	with_model("tflm_person_detect_int8_repaired", run_persons);
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
