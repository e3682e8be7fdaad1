// SPDX-License-Identifier: MIT
/* ONNX files that nobody wrote. */
#include "fuzz_graph.h"
#include "../../compiler/import/onnx.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	/* Fills of a gigabyte are legal, but teach nothing. */
	onnx_max_expanded = 1 << 24;
	return fuzz_import(npu_import_onnx, data, bytes);
}
