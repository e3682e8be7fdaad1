// SPDX-License-Identifier: MIT
/*
 * Functions of one element and local response normalisation by CDP, on every configuration: from the
 * graph to the device model, against the reference interpreter.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <unistd.h>

#include "../common/shared_models.h"
#include "internal.h"
#include "npu_compiler.h"
#include "reference.h"

#define HEIGHT 5u
#define WIDTH 13u

/**
 * struct net - one operator, and what became of it
 * @in_zero, @out_zero: as the type stores them
 * @kind: of the layer that completes it
 * @reason: of a step of the CPU
 * @in, @out, @want: elements
 */
struct net {
	enum npu_dtype dtype;
	u32 channels;
	float in_scale, out_scale;
	s32 in_zero, out_zero;
	struct npu_op op;
	enum npu_layer_kind kind;
	char reason[80];
	u8 in[HEIGHT * WIDTH * 80], out[HEIGHT * WIDTH * 80], want[HEIGHT * WIDTH * 80];
};

static size_t elements(const struct net *n)
{
	return (size_t)HEIGHT * WIDTH * n->channels;
}

static u32 add_tensor(const struct net *n, struct npu_graph *graph, float scale, s32 zero)
{
	u32 dim[4] = { 1, HEIGHT, WIDTH, n->channels };
	u32 t = npu_graph_add_tensor(graph, "tensor", n->dtype, 4, dim);
	float *scales = npu_arena_array(&graph->arena, 1, sizeof(*scales));
	s32 *zeros = npu_arena_array(&graph->arena, 1, sizeof(*zeros));

	assert_true(t != NPU_NONE && scales && zeros);
	*scales = scale;
	*zeros = zero;
	graph->tensor[t].quant = (struct npu_quant){ .count = 1, .scale = scales, .zero = zeros };
	return t;
}

static struct npu_graph *make_graph(const struct net *n)
{
	struct npu_graph *graph = npu_graph_new("cdp");
	u32 in = add_tensor(n, graph, n->in_scale, n->in_zero);
	u32 out = add_tensor(n, graph, n->out_scale, n->out_zero);
	struct npu_op *op = npu_graph_add_op(graph, n->op.kind, "operator", 1, 1);

	graph->input = npu_arena_array(&graph->arena, 1, sizeof(u32));
	graph->output = npu_arena_array(&graph->arena, 1, sizeof(u32));
	assert_true(op && graph->input && graph->output);
	op->input[0] = graph->input[graph->input_count++] = in;
	op->output[0] = graph->output[graph->output_count++] = out;
	op->function = n->op.function;
	op->activation = n->op.activation;
	op->alpha = n->op.alpha;
	op->beta = n->op.beta;
	op->gamma = n->op.gamma;
	op->size = n->op.size;
	return graph;
}

static void run_reference(struct net *n, const struct npu_graph *graph)
{
	struct npu_reference *reference;
	struct npu_diag diag = { "" };

	assert_int_equal(npu_reference_new(graph, &reference, &diag), 0);
	memcpy(npu_reference_tensor(reference, graph->input[0]), n->in, elements(n));
	assert_int_equal(npu_reference_run(reference, NULL, NULL, &diag), 0);
	memcpy(n->want, npu_reference_tensor(reference, graph->output[0]), elements(n));
	npu_reference_free(reference);
}

static void compile(struct net *n, const struct nvdla_config *config, const char *path)
{
	struct npu_graph *graph = make_graph(n);
	struct npu_budget budget = npu_budget_full(config);
	struct npu_program *program;
	struct npu_diag diag = { "" };
	const struct npu_layer *last;

	run_reference(n, graph);
	if (npu_program_compile(graph, config, &budget, &program, &diag) ||
	    npu_program_save(program, path, &diag))
		fail_msg("%s: %s", config->name, diag.text);
	last = &program->net->layer[program->net->layer_count - 1];
	n->kind = last->kind;
	snprintf(n->reason, sizeof(n->reason), "%s", last->cpu_reason ? last->cpu_reason : "");
	npu_program_free(program);
}

static void run(struct net *n, const struct nvdla_config *config)
{
	struct npu_device *device;
	struct npu_model *model = NULL;
	char path[64], name[64];
	struct shared_io io;

	snprintf(path, sizeof(path), "/tmp/test_cdp.%d.npu", (int)getpid());
	snprintf(name, sizeof(name), "sim:%s", config->name);
	compile(n, config, path);
	if (npu_open(name, &device) || npu_model_load(device, path, NULL, &model))
		fail_msg("%s: %s", config->name, npu_error());
	shared_io_make(model, &io);
	memcpy((void *)(uintptr_t)io.input[0].data, n->in, elements(n));
	if (npu_run(model, io.input, 1, io.output, 1, NULL))
		fail_msg("%s: %s", config->name, npu_error());
	memcpy(n->out, io.output[0].data, elements(n));
	shared_io_free(&io);
	npu_model_free(model);
	npu_close(device);
	unlink(path);
}

/* ---- functions ---- */

static const struct npu_op functions[] = {
	{ .kind = NPU_OP_LOGISTIC },
	{ .kind = NPU_OP_TANH },
	{ .kind = NPU_OP_HARD_SWISH },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_SILU, .alpha = 1 },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_GELU },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_EXP },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_ABS },
	{ .kind = NPU_OP_FUNCTION, .function = NPU_FN_NEG },
	{ .kind = NPU_OP_LRN, .alpha = 0.25f, .beta = 0.75f, .gamma = 1, .size = 1 },
};

/* All 256 values, several times over, give the bytes that the oracle gives. */
static void check_function(const struct nvdla_config *config, const struct npu_op *op,
			   enum npu_dtype dtype)
{
	bool fixed = op->kind == NPU_OP_LOGISTIC || op->kind == NPU_OP_TANH;
	s32 moved = dtype == NPU_U8 ? 128 : 0;
	struct net n = {
		.dtype = dtype,
		.channels = 21,
		.in_scale = 0.05f,
		.in_zero = -11 + moved,
		.op = *op,
		.out_scale = op->kind == NPU_OP_TANH ? 1.0f / 128
			     : fixed		     ? 1.0f / 256
						     : 0.06f,
		.out_zero = (op->kind == NPU_OP_TANH ? 0
			     : fixed		     ? -128
						     : 9) +
			    moved,
	};
	size_t i;

	for (i = 0; i < elements(&n); i++)
		n.in[i] = (u8)i;
	run(&n, config);
	assert_int_equal(n.kind, NPU_LAYER_CDP);
	for (i = 0; i < elements(&n); i++)
		if (n.out[i] != n.want[i])
			fail_msg("%s, %s: %u gives %u, not %u", config->name,
				 npu_op_names[op->kind], n.in[i], n.out[i], n.want[i]);
}

static void test_functions(void **state)
{
	u32 i, f;

	for (i = 0; i < nvdla_config_count; i++)
		for (f = 0; f < ARRAY_SIZE(functions); f++)
			check_function(&nvdla_configs[i], &functions[f], f % 2 ? NPU_U8 : NPU_I8);
}

/* Where SDP has no operands for it, a conversion, a clamp or a slope is a table, too. */
static void test_far_scales(void **state)
{
	static const enum npu_op_kind kinds[] = { NPU_OP_QUANTIZE, NPU_OP_RELU, NPU_OP_LEAKY_RELU };
	u32 i, k;
	size_t e;

	for (i = 0; i < nvdla_config_count; i++)
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			struct net n = {
				.dtype = NPU_I8,
				.channels = 20,
				.in_scale = 1,
				.in_zero = 3,
				.out_scale = 1e-6f,
				.out_zero = -4,
				.op = { .kind = kinds[k],
					.activation = k == 1 ? NPU_ACT_RELU : NPU_ACT_NONE,
					.alpha = 0.25f },
			};

			for (e = 0; e < elements(&n); e++)
				n.in[e] = (u8)e;
			run(&n, &nvdla_configs[i]);
			assert_int_equal(n.kind, NPU_LAYER_CDP);
			assert_memory_equal(n.out, n.want, elements(&n));
		}
}

/* ---- local response normalisation ---- */

/* AlexNet, GoogLeNet, and steeper ones; scales as real networks have them. */
static const struct {
	float alpha, beta, gamma, in_scale, out_scale;
} responses[] = {
	{ 1e-4f / 5, 0.75f, 1, 1.2f, 0.9f }, { 1e-4f, 0.75f, 2, 0.8f, 0.25f },
	{ 1e-4f, 0.75f, 1, 2.5f, 0.5f },     { 0.02f, 0.5f, 1, 0.1f, 0.04f },
	{ 1, 0.75f, 1, 0.02f, 0.008f },	     { 0.5f, 1, 1, 0.03f, 0.01f },
};

static struct net make_response(u32 which, u32 size, s32 zero, u32 channels)
{
	return (struct net){
		.dtype = NPU_I8,
		.channels = channels,
		.in_scale = responses[which].in_scale,
		.in_zero = zero,
		.out_scale = responses[which].out_scale,
		.out_zero = zero / 2,
		.op = { .kind = NPU_OP_LRN,
			.alpha = responses[which].alpha,
			.beta = responses[which].beta,
			.gamma = responses[which].gamma,
			.size = size },
	};
}

struct sum {
	u64 elements, equal;
};

static void check_response(const struct nvdla_config *config, struct net *n, struct sum *sum)
{
	uint32_t random = 77 + n->op.size;
	size_t i;

	shared_random_bytes(n->in, elements(n), random);
	/* Some pixels at the ends of the range, where sums are largest. */
	memset(n->in, 127, n->channels);
	memset(n->in + n->channels, 128, n->channels);
	run(n, config);
	assert_int_equal(n->kind, NPU_LAYER_CDP);
	for (i = 0; i < elements(n); i++) {
		int diff = abs((s8)n->out[i] - (s8)n->want[i]);

		if (diff > 1)
			fail_msg("%s, %u channels, element %zu: %d, not %d", config->name,
				 n->op.size, i, (s8)n->out[i], (s8)n->want[i]);
		sum->equal += !diff;
	}
	sum->elements += elements(n);
}

static void test_responses(void **state)
{
	static const s32 zeros[] = { -128, 0, 37 };
	static const u32 channels[] = { 2, 13, 32, 71 };
	u32 i, which, size, turn = 0;
	struct sum sum = { 0 };

	for (i = 0; i < nvdla_config_count; i++)
		for (which = 0; which < ARRAY_SIZE(responses); which++)
			for (size = 3; size <= 9; size += 2, turn++) {
				struct net n = make_response(which, size,
							     zeros[turn % ARRAY_SIZE(zeros)],
							     channels[turn / 2 % 4]);

				check_response(&nvdla_configs[i], &n, &sum);
			}
	print_message("of %llu elements %.2f %% are equal, the others are one unit off\n",
		      (unsigned long long)sum.elements,
		      100.0 * (double)sum.equal / (double)sum.elements);
	assert_true(sum.equal * 100 > sum.elements * 95);
}

static void check_cpu(struct net *n, const char *reason)
{
	size_t i;

	for (i = 0; i < elements(n); i++)
		n->in[i] = (u8)(i * 7);
	run(n, nvdla_config_find("nv_small"));
	assert_int_equal(n->kind, NPU_LAYER_CPU);
	assert_non_null(strstr(n->reason, reason));
	assert_memory_equal(n->out, n->want, elements(n));
}

/* What the unit cannot do is a step of the CPU, with the reason. */
static void test_no_response(void **state)
{
	struct net even = make_response(0, 4, 0, 9), wide = make_response(0, 11, 0, 20);
	struct net steep = make_response(4, 5, 0, 9);

	check_cpu(&even, "even number of channels");
	check_cpu(&wide, "more than 9");
	steep.op.alpha = 500;
	steep.op.beta = 2;
	check_cpu(&steep, "too steep");
	steep = make_response(4, 5, 0, 9);
	steep.op.alpha = 1e30f;
	check_cpu(&steep, "too steep");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_far_scales),
		cmocka_unit_test(test_responses),
		cmocka_unit_test(test_no_response),
	};

	return cmocka_run_group_tests_name("cdp", tests, NULL, NULL);
}
