// SPDX-License-Identifier: MIT
/* Caffe networks that nobody wrote: a text and, behind a zero byte, weights; without one random ones. */
#include "fuzz_graph.h"
#include "../../compiler/import/caffe.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static int import(const void *data, size_t bytes, const char *file,
		  const struct npu_import_options *options, struct npu_graph **graph,
		  struct npu_diag *diag)
{
	const u8 *end = bytes ? memchr(data, 0, bytes) : NULL;
	const struct npu_import_options random = { .random_weights = !end };
	struct caffe_file net = { file, data, end ? (size_t)(end - (const u8 *)data) : bytes };
	struct caffe_file weights = { "weights" };

	if (end) {
		weights.data = end + 1;
		weights.bytes = bytes - net.bytes - 1;
	}
	return caffe_import_pair(&net, &weights, &random, graph, diag);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	/* Weights of a gigabyte are legal, but teach nothing. */
	onnx_max_expanded = 1 << 24;
	return fuzz_import(import, data, bytes);
}
