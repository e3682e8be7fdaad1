// SPDX-License-Identifier: MIT
/*
 * Any function of one INT8 element by the table of SDP's EW: an entry for each of the 256 inputs, made
 * by the CPU's own operator, so that both give the same bytes.
 */
#include "binary.h"

#include "cpu/cpu.h"

/* The operator on all 256 bytes: a graph of its own with tensors of that shape. */
static int evaluate(struct npu_opt *opt, const struct npu_op *op, const u8 in[NPU_LUT_ENTRIES],
		    u8 out[NPU_LUT_ENTRIES])
{
	static const u32 shape[4] = { 1, 1, 1, NPU_LUT_ENTRIES };
	struct npu_tensor tensor[2] = { *npu_op_input(opt->graph, op, 0),
					*npu_op_output(opt->graph, op) };
	struct npu_graph graph = { .tensor = tensor, .tensor_count = ARRAY_SIZE(tensor) };
	u32 input = 0, output = 1, i;
	struct npu_op one = *op;
	const void *from = in;
	void *to = out;
	const struct npu_cpu_call call = { &graph, &one, &from, &to };

	one.input = &input;
	one.input_count = 1;
	one.output = &output;
	for (i = 0; i < ARRAY_SIZE(tensor); i++) {
		tensor[i].rank = ARRAY_SIZE(shape);
		memcpy(tensor[i].dim, shape, sizeof(shape));
		tensor[i].bytes = NPU_LUT_ENTRIES;
		tensor[i].data = NULL;
	}
	return npu_cpu_execute(&call);
}

/* What features store as @i - 128 is in UINT8 tensors @i. */
static u8 as_tensor(enum npu_dtype dtype, u32 i)
{
	return (u8)(dtype == NPU_U8 ? i : i - NPU_LUT_ENTRIES / 2);
}

int npu_lower_table(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	enum npu_dtype in_type = npu_op_input(opt->graph, o, 0)->dtype;
	bool flip = npu_op_output(opt->graph, o)->dtype == NPU_U8;
	u8 in[NPU_LUT_ENTRIES], out[NPU_LUT_ENTRIES];
	s16 entry[NPU_LUT_ENTRIES];
	struct npu_layer *layer;
	u64 lut;
	u32 i;
	int error;

	for (i = 0; i < NPU_LUT_ENTRIES; i++)
		in[i] = as_tensor(in_type, i);
	error = evaluate(opt, o, in, out);
	for (i = 0; i < NPU_LUT_ENTRIES && !error; i++)
		entry[i] = (s8)(out[i] ^ (flip ? 0x80 : 0));
	if (!error)
		error = npu_opt_add_operands(opt, entry, NPU_LUT_ENTRIES, &lut);
	if (error)
		return error;
	layer = npu_opt_add_sdp(opt, op, 0);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->sdp.ew.has_lut = true;
	layer->sdp.ew.lut = lut;
	return 0;
}
