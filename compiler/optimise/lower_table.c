// SPDX-License-Identifier: MIT
/*
 * Any function of one INT8 element by CDP's tables: an entry for each of the 256 inputs, made by the
 * CPU's own operator, so that both give the same bytes.
 */
#include "binary.h"

#include "cpu/cpu.h"

#define VALUES 256u /* that an element may have */

struct npu_layer *npu_opt_add_cdp(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_CDP, op);

	if (!layer || npu_opt_set_group(opt, layer, &op, 1))
		return NULL;
	layer->input = npu_opt_value(opt, o->input[0]);
	layer->output = npu_opt_value(opt, o->output[0]);
	return layer;
}

/* The operator on all 256 bytes: a graph of its own with tensors of that shape. */
static int evaluate(struct npu_opt *opt, const struct npu_op *op, const u8 in[VALUES],
		    u8 out[VALUES])
{
	static const u32 shape[4] = { 1, 1, 1, VALUES };
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
		tensor[i].bytes = VALUES;
		tensor[i].data = NULL;
	}
	return npu_cpu_execute(&call);
}

/* What features store as @i - 128 is in UINT8 tensors @i. */
static u8 as_tensor(enum npu_dtype dtype, u32 i)
{
	return (u8)(dtype == NPU_U8 ? i : i - VALUES / 2);
}

/* The operator's bytes for all 256 inputs, as features store both. */
static int make_entries(struct npu_opt *opt, const struct npu_op *op, s16 entry[VALUES])
{
	enum npu_dtype in_type = npu_op_input(opt->graph, op, 0)->dtype;
	bool flip = npu_op_output(opt->graph, op)->dtype == NPU_U8;
	u8 in[VALUES], out[VALUES];
	u32 i;
	int error;

	for (i = 0; i < VALUES; i++)
		in[i] = as_tensor(in_type, i);
	error = evaluate(opt, op, in, out);
	for (i = 0; i < VALUES && !error; i++)
		entry[i] = (s8)(out[i] ^ (flip ? 0x80 : 0));
	return error;
}

/* Entries are a step of one apart, so that nothing is interpolated; LE has the first of them. */
static int add_tables(struct npu_opt *opt, const s16 entry[VALUES], u64 *lut)
{
	s16 tables[NPU_CDP_ENTRIES], *lo = tables + NPU_CDP_LE_ENTRIES;

	memcpy(tables, entry, NPU_CDP_LE_ENTRIES * sizeof(*entry));
	memcpy(lo, entry, VALUES * sizeof(*entry));
	lo[VALUES] = entry[VALUES - 1];
	return npu_opt_add_operands(opt, tables, NPU_CDP_ENTRIES, lut);
}

int npu_lower_table(struct npu_opt *opt, u32 op)
{
	const struct npu_op *o = &opt->graph->op[op];
	s16 entry[VALUES];
	struct npu_layer *layer;
	u64 lut;
	int error = make_entries(opt, o, entry);

	if (!error)
		error = add_tables(opt, entry, &lut);
	if (error)
		return error;
	layer = npu_opt_add_cdp(opt, op);
	if (!layer)
		return npu_opt_nomem(opt);
	layer->cdp = (struct npu_cdp){ .lut = lut, .start = -128, .cvt_scale = 1 };
	return 0;
}
