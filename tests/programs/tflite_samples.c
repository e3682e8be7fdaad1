// SPDX-License-Identifier: MIT
/*
 * Imports, verifies and runs a model of each operator in the reference; with a
 * directory as argument it writes the models there instead (the fuzzer's corpus:
 * tests/fuzz/corpus/tflite).
 */
#include "graph.h"
#include "reference.h"
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>

static int try_sample(const u8 *data, size_t bytes, struct npu_diag *diag)
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph = NULL;
	int error = npu_import_tflite(data, bytes, "sample", NULL, &graph, diag);

	if (!error)
		error = npu_reference_new(graph, &reference, diag);
	if (!error)
		error = npu_reference_run(reference, NULL, NULL, diag);
	npu_reference_free(reference);
	npu_graph_free(graph);
	return error;
}

static int write_file(const char *directory, const char *name, const u8 *data, size_t bytes)
{
	char path[512];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	good = file && fwrite(data, 1, bytes, file) == bytes;
	if (file && fclose(file))
		good = false;
	if (!good)
		perror(path);
	return good ? 0 : -EIO;
}

int main(int argc, char **argv)
{
	u32 i, failed = 0;

	for (i = 0; i < sample_count; i++) {
		struct npu_diag diag = { 0 };
		size_t bytes;
		u8 *data = sample_write(&samples[i], &bytes);
		int error;

		if (!data)
			return 1;
		error = argc > 1 ? write_file(argv[1], samples[i].name, data, bytes)
				 : try_sample(data, bytes, &diag);
		printf("%sok %u - %s%s%s\n", error ? "not " : "", i + 1, samples[i].name,
		       diag.text[0] ? ": " : "", diag.text);
		failed += error != 0;
		free(data);
	}
	printf("%u passed, %u failed\n", sample_count - failed, failed);
	return failed != 0;
}
