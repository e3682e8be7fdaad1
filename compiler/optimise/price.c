// SPDX-License-Identifier: MIT
#include "price.h"

/* What the time of an operator goes with. */
enum work {
	WORK_ELEMENTS, /* elements that are read and written */
	WORK_OUTPUT, /* elements of the output */
	WORK_WINDOW, /* elements of all windows */
	WORK_MACS, /* products, and kernel taps */
};

/* Rates are in 16ths of a cycle. */
#define RATE_UNIT 16u

/* A kernel tap: where its pixel lies, whether it is padding. */
#define TAP_RATE 128u

/* Of an element; where there are few channels, what is converted are mostly the lanes behind them. */
#define CONVERT_RATE 8u

static const struct {
	enum work work;
	u32 rate;
} price[NPU_OP_COUNT] = {
	[NPU_OP_CONV] = { WORK_MACS, 26 },
	[NPU_OP_TRANSPOSE_CONV] = { WORK_MACS, 26 },
	[NPU_OP_FULLY_CONNECTED] = { WORK_MACS, 45 },
	[NPU_OP_MATMUL] = { WORK_MACS, 26 },
	[NPU_OP_MAX_POOL] = { WORK_WINDOW, 72 },
	[NPU_OP_AVERAGE_POOL] = { WORK_WINDOW, 72 },
	[NPU_OP_ADD] = { WORK_OUTPUT, 460 },
	[NPU_OP_SUB] = { WORK_OUTPUT, 460 },
	[NPU_OP_MUL] = { WORK_OUTPUT, 290 },
	[NPU_OP_DIV] = { WORK_OUTPUT, 290 },
	[NPU_OP_MINIMUM] = { WORK_OUTPUT, 174 },
	[NPU_OP_MAXIMUM] = { WORK_OUTPUT, 174 },
	[NPU_OP_RELU] = { WORK_OUTPUT, 18 },
	[NPU_OP_LEAKY_RELU] = { WORK_OUTPUT, 18 },
	[NPU_OP_PRELU] = { WORK_OUTPUT, 280 },
	[NPU_OP_LOGISTIC] = { WORK_OUTPUT, 18 },
	[NPU_OP_TANH] = { WORK_OUTPUT, 18 },
	[NPU_OP_HARD_SWISH] = { WORK_OUTPUT, 18 },
	[NPU_OP_FUNCTION] = { WORK_OUTPUT, 18 },
	[NPU_OP_SOFTMAX] = { WORK_OUTPUT, 1700 },
	[NPU_OP_LRN] = { WORK_OUTPUT, 1130 },
	[NPU_OP_RESHAPE] = { WORK_ELEMENTS, 1 },
	[NPU_OP_TRANSPOSE] = { WORK_ELEMENTS, 93 },
	[NPU_OP_PAD] = { WORK_ELEMENTS, 2 },
	[NPU_OP_CONCAT] = { WORK_ELEMENTS, 5 },
	[NPU_OP_SLICE] = { WORK_OUTPUT, 8 },
	[NPU_OP_RESIZE_NEAREST] = { WORK_OUTPUT, 13 },
	[NPU_OP_RESIZE_BILINEAR] = { WORK_OUTPUT, 138 },
	[NPU_OP_MEAN] = { WORK_ELEMENTS, 128 },
	[NPU_OP_REDUCE_SUM] = { WORK_ELEMENTS, 128 },
	[NPU_OP_REDUCE_MAX] = { WORK_ELEMENTS, 192 },
	[NPU_OP_REDUCE_MIN] = { WORK_ELEMENTS, 192 },
	[NPU_OP_REDUCE_PROD] = { WORK_ELEMENTS, 128 },
	[NPU_OP_ARG_MAX] = { WORK_ELEMENTS, 128 },
	[NPU_OP_ARG_MIN] = { WORK_ELEMENTS, 128 },
	[NPU_OP_TOP_MOST] = { WORK_ELEMENTS, 800 },
	[NPU_OP_TOP_LEAST] = { WORK_ELEMENTS, 800 },
	[NPU_OP_GATHER] = { WORK_OUTPUT, 16 },
	[NPU_OP_GATHER_ELEMENTS] = { WORK_OUTPUT, 64 },
	[NPU_OP_GATHER_ND] = { WORK_OUTPUT, 64 },
	[NPU_OP_SCATTER_ELEMENTS] = { WORK_ELEMENTS, 64 },
	[NPU_OP_SCATTER_ND] = { WORK_ELEMENTS, 64 },
	[NPU_OP_QUANTIZE] = { WORK_OUTPUT, 120 },
	[NPU_OP_DEQUANTIZE] = { WORK_OUTPUT, 32 },
	[NPU_OP_PIXELS] = { WORK_OUTPUT, 64 },
};

static u64 capped_sum(u64 a, u64 b)
{
	return min(min(a, NPU_PRICE_MOST) + min(b, NPU_PRICE_MOST), NPU_PRICE_MOST);
}

static u64 capped_product(u64 a, u64 b)
{
	u64 product;

	return check_mul_overflow(a, b, &product) ? NPU_PRICE_MOST : min(product, NPU_PRICE_MOST);
}

static u64 cycles_for(u64 work, u32 rate)
{
	/* What was capped stays there; no rate reaches 2^24. */
	return work >= NPU_PRICE_MOST ? work : min(work * rate / RATE_UNIT, NPU_PRICE_MOST);
}

static u64 elements_moved(const struct npu_graph *graph, const struct npu_op *op)
{
	u64 elements = npu_tensor_elements(npu_op_output(graph, op));
	u32 i;

	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *in = npu_op_input(graph, op, i);

		if (in && !in->data)
			elements = capped_sum(elements, npu_tensor_elements(in));
	}
	return elements;
}

/* Taps that are looked at, each of @depth products; convolutions: of one output channel. */
static u64 taps_of(const struct npu_graph *graph, const struct npu_op *op, u64 *depth)
{
	const struct npu_tensor *out = npu_op_output(graph, op);
	const struct npu_tensor *in = npu_op_input(graph, op, 0), *weights;
	u64 pixels = npu_tensor_elements(out);

	if (op->kind == NPU_OP_MATMUL) {
		*depth = in->dim[in->rank - 1];
		return pixels;
	}
	weights = npu_op_input(graph, op, 1);
	*depth = weights->dim[weights->rank - 1];
	if (op->kind == NPU_OP_FULLY_CONNECTED)
		return npu_fully_connected_rows(graph, op);
	return capped_product(pixels / out->dim[3], (u64)weights->dim[1] * weights->dim[2]);
}

static u64 price_macs(const struct npu_graph *graph, const struct npu_op *op, u32 channels)
{
	u64 depth, taps = capped_product(taps_of(graph, op, &depth), channels), macs;

	macs = capped_product(taps, depth);
	/* The other taps meet no pixel. */
	if (op->kind == NPU_OP_TRANSPOSE_CONV)
		macs /= (u64)op->window.stride_y * op->window.stride_x;
	return capped_sum(cycles_for(taps, TAP_RATE), cycles_for(macs, price[op->kind].rate));
}

static u32 channels_of(const struct npu_graph *graph, const struct npu_op *op)
{
	return op->kind == NPU_OP_MATMUL ? 1 : npu_op_input(graph, op, 1)->dim[0];
}

static u64 price_work(const struct npu_graph *graph, const struct npu_op *op)
{
	u64 output = npu_tensor_elements(npu_op_output(graph, op));
	u32 rate = price[op->kind].rate;

	switch (price[op->kind].work) {
	case WORK_ELEMENTS:
		return cycles_for(elements_moved(graph, op), rate);
	case WORK_OUTPUT:
		return cycles_for(output, rate);
	case WORK_WINDOW:
		return cycles_for(capped_product(output, (u64)op->window.r * op->window.s), rate);
	case WORK_MACS:
		return price_macs(graph, op, channels_of(graph, op));
	}
	return NPU_PRICE_MOST;
}

u64 npu_price_cpu(const struct npu_graph *graph, const struct npu_op *op)
{
	return capped_sum(NPU_PRICE_STEP, price_work(graph, op));
}

u64 npu_price_cpu_patch(const struct npu_graph *graph, const struct npu_op *op, u32 channels)
{
	return capped_sum(NPU_PRICE_STEP, price_macs(graph, op, channels));
}

static u64 price_operators(const struct npu_graph *graph, const u32 *op, u32 count)
{
	u64 cycles = 0;
	u32 i;

	for (i = 0; i < count; i++)
		cycles = capped_sum(cycles, npu_price_cpu(graph, &graph->op[op[i]]));
	return cycles;
}

u64 npu_price_cpu_layer(const struct npu_net *net, const struct npu_layer *layer)
{
	if (layer->patch_count)
		return npu_price_cpu_patch(net->graph, &net->graph->op[layer->op],
					   layer->patch_count);
	return price_operators(net->graph, layer->group, layer->group_count);
}

u64 npu_price_cpu_unit(const struct npu_net *net, const struct npu_cpu_unit *unit)
{
	return price_operators(net->graph, unit->op, unit->op_count);
}

u64 npu_price_convert(const struct npu_tensor *tensor)
{
	return cycles_for(npu_tensor_elements(tensor), CONVERT_RATE);
}

bool npu_cpu_is_cheaper(const struct npu_opt *opt, const struct npu_op *op, u64 cycles)
{
	u64 dearest = capped_sum(npu_price_cpu(opt->graph, op), 2 * NPU_PRICE_SWITCH);
	u32 i;

	for (i = 0; i < op->input_count; i++) {
		const struct npu_tensor *in = npu_op_input(opt->graph, op, i);

		if (in && !in->data)
			dearest = capped_sum(dearest, npu_price_convert(in));
	}
	dearest = capped_sum(dearest, npu_price_convert(npu_op_output(opt->graph, op)));
	return cycles > dearest;
}
