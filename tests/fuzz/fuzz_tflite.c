// SPDX-License-Identifier: MIT
/* TensorFlow Lite files that nobody wrote. */
#include "fuzz_graph.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	return fuzz_import(npu_import_tflite, data, bytes);
}
