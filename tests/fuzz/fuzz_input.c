// SPDX-License-Identifier: MIT
/*
 * Files that people give a model as input: anything is elements of the tensor or an error with its
 * text.  The first byte chooses the tensor, the second one how the file is read.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/common/tensor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const struct {
	enum npu_type type;
	uint32_t width;
	float scale;
	uint32_t rank, shape[4];
	const char *pixels;
} tensors[] = {
	{ NPU_TYPE_INT8, 1, 0.5f, 4, { 1, 5, 7, 3 } },
	{ NPU_TYPE_UINT8, 1, 0.01f, 4, { 1, 8, 8, 1 } },
	{ NPU_TYPE_FLOAT32, 4, 0, 4, { 1, 3, 6, 4 } },
	{ NPU_TYPE_FLOAT16, 2, 0, 2, { 1, 9 } },
	{ NPU_TYPE_INT16, 2, 0.25f, 2, { 1, 40 } },
	{ NPU_TYPE_INT32, 4, 0, 1, { 4 } },
	{ NPU_TYPE_INT64, 8, 0, 3, { 2, 3, 4 } },
	{ NPU_TYPE_BOOL, 1, 0, 0, { 0 } },
	{ NPU_TYPE_UINT8, 1, 0, 4, { 1, 6, 5, 4 }, "bgra" },
	{ NPU_TYPE_UINT8, 1, 0, 4, { 1, 12, 5, 1 }, "nv24" },
	{ NPU_TYPE_UINT8, 1, 0, 4, { 1, 6, 5, 1 }, "r8" },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct npu_tensor_info info = { .size = sizeof(info), .name = "x", .zero_point = 3 };
	struct tool_input_options options = { 0 };
	unsigned which, i;
	char text[200] = "";
	void *out;

	if (bytes < 2)
		return 0;
	which = data[0] % (sizeof(tensors) / sizeof(tensors[0]));
	info.type = tensors[which].type;
	info.scale = tensors[which].scale;
	info.rank = tensors[which].rank;
	info.pixels = tensors[which].pixels;
	info.bytes = tensors[which].width;
	for (i = 0; i < info.rank; i++) {
		info.shape[i] = tensors[which].shape[i];
		info.bytes *= info.shape[i];
	}
	options.fit = (enum tool_fit)(data[1] % 3);
	options.bgr = data[1] & 4;
	options.rate = data[1] & 8 ? 7777 : 0;
	options.normal =
		(struct tool_normal){ data[1] & 16 ? 3 : 0, { 1, 2, 3 }, { 0.5, 0.25, 2 } };
	if (tool_load_tensor_memory(data + 2, bytes - 2, &info, 0, &options, &out, text) == 0)
		free(out);
	else if (!text[0])
		abort();
	return 0;
}
