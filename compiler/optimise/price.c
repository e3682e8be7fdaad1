// SPDX-License-Identifier: MIT
#include "price.h"

bool npu_cpu_is_cheaper(const struct npu_opt *opt, const struct npu_op *op, u64 cycles)
{
	u64 elements = npu_tensor_elements(npu_op_output(opt->graph, op));
	u32 i;

	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *in = npu_op_input(opt->graph, op, i);

		if (in && !in->data)
			elements += npu_tensor_elements(in);
	}
	return cycles > NPU_PRICE_STEP + elements * NPU_PRICE_ELEMENT;
}
