// SPDX-License-Identifier: MIT
/*
 * What libnpu's operators take on this CPU, in nanoseconds, beside what compiler/optimise/price.c says in
 * cycles of the NPU: two cycles for a nanosecond of the machine that its rates were measured on.
 */
#include "bench.h"
#include "cpu/cpu.h"
#include "layout.h"
#include "optimise/price.h"

#include <string.h>

#define MAX_BYTES (1u << 21)

/**
 * struct shape - an operator as it is measured
 * @in: height, width, channels of its input
 * @out: of its output; with @kernels the weights are out's channels of @r x @s x in's
 * @inputs: 1 or 2 computed ones, or 1 and weights
 */
struct shape {
	enum npu_op_kind kind;
	u32 in[3], out[3];
	u32 r, s, stride;
	u32 inputs;
	bool weights, depthwise;
};

static const struct shape shapes[] = {
	{ NPU_OP_CONV, { 28, 28, 64 }, { 28, 28, 64 }, 3, 3, 1, 1, true, false },
	{ NPU_OP_CONV, { 28, 28, 8 }, { 28, 28, 16 }, 3, 3, 1, 1, true, false },
	{ NPU_OP_CONV, { 56, 56, 32 }, { 56, 56, 32 }, 3, 3, 1, 1, true, true },
	{ NPU_OP_CONV, { 14, 14, 256 }, { 14, 14, 128 }, 1, 1, 1, 1, true, false },
	{ NPU_OP_FULLY_CONNECTED, { 1, 1, 1024 }, { 1, 1, 1000 }, 1, 1, 1, 1, true, false },
	{ NPU_OP_FULLY_CONNECTED, { 1, 1, 64 }, { 1, 1, 10 }, 1, 1, 1, 1, true, false },
	{ NPU_OP_TRANSPOSE_CONV, { 14, 14, 32 }, { 28, 28, 16 }, 2, 2, 2, 1, true, false },
	{ NPU_OP_MATMUL, { 1, 64, 64 }, { 1, 64, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_MAX_POOL, { 56, 56, 64 }, { 28, 28, 64 }, 2, 2, 2, 1, false, false },
	{ NPU_OP_MAX_POOL, { 28, 28, 64 }, { 26, 26, 64 }, 3, 3, 1, 1, false, false },
	{ NPU_OP_AVERAGE_POOL, { 28, 28, 64 }, { 14, 14, 64 }, 2, 2, 2, 1, false, false },
	{ NPU_OP_ADD, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_SUB, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_MUL, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_MINIMUM, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_MAXIMUM, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_PRELU, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_RELU, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_LEAKY_RELU, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_LOGISTIC, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_TANH, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_HARD_SWISH, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_FUNCTION, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_SOFTMAX, { 1, 1, 1000 }, { 1, 1, 1000 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_LRN, { 14, 14, 64 }, { 14, 14, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_RESHAPE, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_TRANSPOSE, { 28, 28, 64 }, { 28, 64, 28 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_PAD, { 28, 28, 64 }, { 30, 30, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_CONCAT, { 28, 28, 64 }, { 28, 28, 128 }, 1, 1, 1, 2, false, false },
	{ NPU_OP_SLICE, { 28, 28, 64 }, { 28, 28, 32 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_RESIZE_NEAREST, { 28, 28, 32 }, { 56, 56, 32 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_RESIZE_BILINEAR, { 28, 28, 32 }, { 56, 56, 32 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_MEAN, { 28, 28, 64 }, { 1, 1, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_REDUCE_MAX, { 28, 28, 64 }, { 1, 1, 64 }, 1, 1, 1, 1, false, false },
	{ NPU_OP_QUANTIZE, { 28, 28, 64 }, { 28, 28, 64 }, 1, 1, 1, 1, false, false },
};

/**
 * struct work - one of them, ready to run
 * @tensor: two inputs or input and weights, and the output
 */
struct work {
	struct npu_graph graph;
	struct npu_op op;
	struct npu_tensor tensor[3];
	float scale;
	s32 zero;
	u32 input[2], output;
	const void *from[2];
	void *to;
	int error;
};

static u8 contents[3][MAX_BYTES];

static void set_tensor(struct work *work, u32 i, u32 n, const u32 hwc[3])
{
	work->tensor[i] = (struct npu_tensor){
		.name = "t",
		.dtype = NPU_I8,
		.rank = 4,
		.dim = { n, hwc[0], hwc[1], hwc[2] },
		.quant = { 1, 0, &work->scale, &work->zero },
		.bytes = (size_t)n * hwc[0] * hwc[1] * hwc[2],
	};
	if (work->tensor[i].bytes > MAX_BYTES)
		abort();
}

static void set_weights(struct work *work, const struct shape *s)
{
	const u32 kernel[3] = { s->r, s->s, s->depthwise ? 1 : s->in[2] };
	struct npu_tensor *weights = &work->tensor[1];

	set_tensor(work, 1, s->out[2], kernel);
	weights->data = contents[1];
	if (s->kind != NPU_OP_FULLY_CONNECTED)
		return;
	weights->rank = 2;
	weights->dim[1] = s->in[2];
}

/* What the kinds need beside their tensors. */
static void set_attributes(struct npu_op *op, const struct shape *s)
{
	static const s32 swap[] = { 0, 1, 3, 2 };
	u32 i;

	op->alpha = op->beta = op->gamma = 1;
	op->size = 5;
	op->axis = s->kind == NPU_OP_PAD ? 0 : 3;
	op->axes = 1u << 1 | 1u << 2;
	op->function = NPU_FN_EXP;
	op->groups = s->depthwise ? s->in[2] : 1;
	op->window = (struct npu_window){ s->r, s->s, s->stride, s->stride, 1, 1, 0, 0, 0, 0 };
	if (s->kind == NPU_OP_CONV && s->r == 3)
		op->window.pad_top = op->window.pad_left = op->window.pad_bottom =
			op->window.pad_right = 1;
	for (i = 0; i < 4; i++) {
		op->step[i] = 1;
		if (s->kind == NPU_OP_TRANSPOSE)
			op->begin[i] = swap[i];
		if (s->kind == NPU_OP_SLICE)
			op->end[i] = i ? (s32)s->out[i - 1] : 1;
		if (s->kind == NPU_OP_PAD)
			op->begin[i] = op->end[i] = i == 1 || i == 2;
	}
}

static void prepare(struct work *work, const struct shape *s)
{
	memset(work, 0, sizeof(*work));
	work->scale = 0.05f;
	set_tensor(work, 0, 1, s->in);
	set_tensor(work, 1, 1, s->in);
	set_tensor(work, 2, 1, s->out);
	if (s->weights)
		set_weights(work, s);
	work->input[1] = 1;
	work->output = 2;
	work->from[0] = contents[0];
	work->from[1] = contents[1];
	work->to = contents[2];
	work->graph = (struct npu_graph){ .tensor = work->tensor, .tensor_count = 3 };
	work->op = (struct npu_op){
		.kind = s->kind,
		.name = "op",
		.input_count = s->inputs + s->weights,
		.input = work->input,
		.output_count = 1,
		.output = &work->output,
	};
	set_attributes(&work->op, s);
}

static void run(void *context)
{
	struct work *work = context;
	const struct npu_cpu_call call = { &work->graph, &work->op, work->from, &work->to };

	work->error = npu_cpu_execute(&call);
	bench_keep(work->to);
}

static void measure(const struct shape *s)
{
	struct work work;
	char name[80];
	double ns;

	prepare(&work, s);
	ns = bench_least(run, &work) * 1e9;
	if (work.error)
		abort();
	snprintf(name, sizeof(name), "cpu %s %ux%ux%u %ux%u%s", npu_op_names[s->kind], s->in[0],
		 s->in[1], s->in[2], s->r, s->s, s->depthwise ? " depthwise" : "");
	bench_report(name, (double)npu_price_cpu(&work.graph, &work.op) / 2, "cycles/2", "ns", ns);
}

static void to_feature(void *context)
{
	const struct npu_cube cube = { 28, 28, 64, 8, 28 * 8, 28 * 28 * 8 };

	npu_layout_to_feature(contents[1], contents[0], &cube, true);
	bench_keep(contents[1]);
}

int main(void)
{
	struct work work;
	u32 i;

	for (i = 0; i < MAX_BYTES; i++)
		contents[0][i] = contents[1][i] = (u8)(i * 2654435761u >> 24);
	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		measure(&shapes[i]);
	prepare(&work, &(const struct shape){ .in = { 28, 28, 64 }, .out = { 28, 28, 64 } });
	bench_report("conversion of features 28x28x64",
		     (double)npu_price_convert(&work.tensor[0]) / 2, "cycles/2", "ns",
		     bench_least(to_feature, NULL) * 1e9);
	return 0;
}
