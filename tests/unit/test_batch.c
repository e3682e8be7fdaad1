// SPDX-License-Identifier: MIT
/* A network that takes several images gives for each what the same network gives for it alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "graph.h"
#include "import/batch.h"
#include "program.h"
#include "reference.h"
#include "tflite_writer.h"

#define SIDE 8
#define CHANNELS 3
#define KERNELS 4
#define CLASSES 5

static const float scale_in[] = { 0.02f }, scale_mid[] = { 0.05f }, scale_out[] = { 0.03f };
static const float scale_softmax[] = { 1.0f / 256 };
static const float scales_weights[] = { 0.01f, 0.02f, 0.015f, 0.012f };
static const s64 zero_in[] = { -3 }, zero_mid[] = { -20 }, zero_out[] = { 5 };
static const s64 zero_softmax[] = { -128 };
static const s32 bias[] = { 100, -200, 50, 0, 7 };
static s8 weights[KERNELS * 3 * 3 * CHANNELS], rows[CLASSES * KERNELS];
static s8 per_image[(NPU_MAX_BATCH + 1) * KERNELS];

enum {
	IN,
	WEIGHTS,
	BIAS,
	CONV,
	POOL,
	EACH,
	SUM,
	AXES,
	MEAN,
	ROWS,
	BIAS2,
	FC,
	SOFTMAX,
	FIRST,
	MOST,
	TENSORS
};

#define QUANT(q) .scales = 1, .scale = scale_##q, .zero = zero_##q

static s32 seed = 1;

static s8 next_byte(void)
{
	seed = (s32)((u32)seed * 1103515245u + 12345u);
	return (s8)(seed >> 16);
}

/*
 * A convolution, pooling, a constant for each channel, the mean of the plane, a layer and softmax; and
 * the greatest of all images, which looks at them together.
 */
static u8 *write_model(s32 n, bool with_most, size_t *bytes)
{
	static const s32 plane[] = { 1, 2 }, images[] = { 0 };
	const struct tw_tensor tensor[TENSORS] = {
		[IN] = { .name = "in",
			 .type = TW_I8,
			 .rank = 4,
			 .dim = { n, SIDE, SIDE, CHANNELS },
			 QUANT(in) },
		[WEIGHTS] = { .name = "weights",
			      .type = TW_I8,
			      .rank = 4,
			      .dim = { KERNELS, 3, 3, CHANNELS },
			      .scales = KERNELS,
			      .scale = scales_weights,
			      .data = weights,
			      .bytes = sizeof(weights) },
		[BIAS] = { .name = "bias",
			   .type = TW_I32,
			   .rank = 1,
			   .dim = { KERNELS },
			   .data = bias,
			   .bytes = 4 * KERNELS },
		[CONV] = { .name = "conv",
			   .type = TW_I8,
			   .rank = 4,
			   .dim = { n, SIDE, SIDE, KERNELS },
			   QUANT(mid) },
		[POOL] = { .name = "pool",
			   .type = TW_I8,
			   .rank = 4,
			   .dim = { n, SIDE / 2, SIDE / 2, KERNELS },
			   QUANT(mid) },
		[EACH] = { .name = "each",
			   .type = TW_I8,
			   .rank = 4,
			   .dim = { n, 1, 1, KERNELS },
			   QUANT(out),
			   .data = per_image,
			   .bytes = (u32)n * KERNELS },
		[SUM] = { .name = "sum",
			  .type = TW_I8,
			  .rank = 4,
			  .dim = { n, SIDE / 2, SIDE / 2, KERNELS },
			  QUANT(mid) },
		[AXES] = { .name = "axes",
			   .type = TW_I32,
			   .rank = 1,
			   .dim = { 2 },
			   .data = plane,
			   .bytes = sizeof(plane) },
		[MEAN] = { .name = "mean",
			   .type = TW_I8,
			   .rank = 2,
			   .dim = { n, KERNELS },
			   QUANT(out) },
		[ROWS] = { .name = "rows",
			   .type = TW_I8,
			   .rank = 2,
			   .dim = { CLASSES, KERNELS },
			   .scales = 1,
			   .scale = scales_weights,
			   .data = rows,
			   .bytes = sizeof(rows) },
		[BIAS2] = { .name = "bias 2",
			    .type = TW_I32,
			    .rank = 1,
			    .dim = { CLASSES },
			    .data = bias,
			    .bytes = sizeof(bias) },
		[FC] = { .name = "fc",
			 .type = TW_I8,
			 .rank = 2,
			 .dim = { n, CLASSES },
			 QUANT(out) },
		[SOFTMAX] = { .name = "softmax",
			      .type = TW_I8,
			      .rank = 2,
			      .dim = { n, CLASSES },
			      QUANT(softmax) },
		[FIRST] = { .name = "first",
			    .type = TW_I32,
			    .rank = 1,
			    .dim = { 1 },
			    .data = images,
			    .bytes = sizeof(images) },
		[MOST] = { .name = "most",
			   .type = TW_I8,
			   .rank = 1,
			   .dim = { CLASSES },
			   QUANT(softmax) },
	};
	const struct tw_op op[] = {
		{ .code = 3,
		  .inputs = 3,
		  .input = { IN, WEIGHTS, BIAS },
		  .outputs = 1,
		  .output = { CONV },
		  .options_type = 1,
		  .options = 3,
		  .option = { { 1, 1 }, { 2, 1 }, { 3, 1 } } },
		{ .code = 17,
		  .inputs = 1,
		  .input = { CONV },
		  .outputs = 1,
		  .output = { POOL },
		  .options_type = 5,
		  .options = 5,
		  .option = { { 0, 1 }, { 1, 2 }, { 2, 2 }, { 3, 2 }, { 4, 2 } } },
		{ .code = 0,
		  .inputs = 2,
		  .input = { POOL, EACH },
		  .outputs = 1,
		  .output = { SUM },
		  .options_type = 11 },
		{ .code = 40,
		  .inputs = 2,
		  .input = { SUM, AXES },
		  .outputs = 1,
		  .output = { MEAN } },
		{ .code = 9,
		  .inputs = 3,
		  .input = { MEAN, ROWS, BIAS2 },
		  .outputs = 1,
		  .output = { FC },
		  .options_type = 8 },
		{ .code = 25,
		  .inputs = 1,
		  .input = { FC },
		  .outputs = 1,
		  .output = { SOFTMAX },
		  .options_type = 9,
		  .options = 1,
		  .option = { { 0, tw_float(1) } } },
		{ .code = 82,
		  .inputs = 2,
		  .input = { SOFTMAX, FIRST },
		  .outputs = 1,
		  .output = { MOST } },
	};
	const struct tw_model model = { .version = 3,
					.tensors = TENSORS,
					.tensor = tensor,
					.ops = 6 + with_most,
					.op = op,
					.inputs = 1,
					.input = { IN },
					.outputs = 1 + with_most,
					.output = { SOFTMAX, MOST } };

	return tw_write(&model, bytes);
}

struct network {
	u8 *file;
	struct npu_graph *graph;
	struct npu_reference *reference;
};

static void open_network(struct network *net, s32 n, bool with_most)
{
	struct npu_diag diag = { "" };
	size_t bytes;

	net->file = write_model(n, with_most, &bytes);
	assert_non_null(net->file);
	if (npu_import_tflite(net->file, bytes, "batch", NULL, &net->graph, &diag) ||
	    npu_reference_new(net->graph, &net->reference, &diag))
		fail_msg("%s", diag.text);
}

static void close_network(struct network *net)
{
	npu_reference_free(net->reference);
	npu_graph_free(net->graph);
	free(net->file);
}

static s8 *run(struct network *net, const s8 *in)
{
	const struct npu_tensor *t = &net->graph->tensor[net->graph->input[0]];
	struct npu_diag diag = { "" };

	memcpy(npu_reference_tensor(net->reference, net->graph->input[0]), in, t->bytes);
	assert_int_equal(npu_reference_run(net->reference, NULL, NULL, &diag), 0);
	return npu_reference_tensor(net->reference, net->graph->output[0]);
}

static void fill(void)
{
	size_t i;

	for (i = 0; i < sizeof(weights); i++)
		weights[i] = next_byte();
	for (i = 0; i < sizeof(rows); i++)
		rows[i] = next_byte();
	for (i = 0; i < sizeof(per_image); i++)
		per_image[i] = next_byte();
}

static void check_batch(s32 n)
{
	const size_t image = SIDE * SIDE * CHANNELS;
	s8 *in = malloc((size_t)n * image), most[CLASSES], saved[sizeof(per_image)];
	struct network batch, single;
	const s8 *all, *greatest;
	size_t i, c;

	assert_non_null(in);
	for (i = 0; i < (size_t)n * image; i++)
		in[i] = next_byte();
	open_network(&batch, n, true);
	assert_int_equal(batch.graph->tensor[batch.graph->output[0]].dim[0], n);
	all = run(&batch, in);
	greatest = npu_reference_tensor(batch.reference, batch.graph->output[1]);
	memset(most, -128, sizeof(most));
	memcpy(saved, per_image, sizeof(saved));
	for (i = 0; i < (size_t)n; i++) {
		memcpy(per_image, saved + i * KERNELS, KERNELS);
		open_network(&single, 1, false);
		assert_memory_equal(run(&single, in + i * image), all + i * CLASSES, CLASSES);
		for (c = 0; c < CLASSES; c++)
			most[c] = max(most[c], all[i * CLASSES + c]);
		close_network(&single);
	}
	memcpy(per_image, saved, sizeof(saved));
	assert_memory_equal(greatest, most, CLASSES);
	close_network(&batch);
	free(in);
}

static void test_each_image(void **unused)
{
	static const s32 batches[] = { 2, 3, 16, 17, NPU_MAX_BATCH };
	u32 i;

	fill();
	for (i = 0; i < ARRAY_SIZE(batches); i++)
		check_batch(batches[i]);
}

/* Convolutions of all images run on the NPU. */
static void test_compiles(void **unused)
{
	const struct nvdla_config *config = nvdla_config_find("nv_small");
	struct npu_budget budget = npu_budget_full(config);
	struct npu_program *program;
	struct npu_diag diag = { "" };
	struct network net;
	u32 i, convolutions = 0;

	fill();
	open_network(&net, 3, true);
	if (npu_program_compile(net.graph, config, &budget, &program, &diag))
		fail_msg("%s", diag.text);
	for (i = 0; i < program->net->layer_count; i++)
		convolutions += program->net->layer[i].kind == NPU_LAYER_CONV;
	assert_true(convolutions >= 6);
	npu_reference_free(net.reference);
	npu_program_free(program); /* and its graph */
	free(net.file);
}

static void test_too_many(void **unused)
{
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { "" };
	size_t bytes;
	u8 *file = write_model(NPU_MAX_BATCH + 1, false, &bytes);

	assert_non_null(file);
	assert_int_equal(npu_import_tflite(file, bytes, "batch", NULL, &graph, &diag), -ENOTSUP);
	assert_non_null(strstr(diag.text, "a batch of 65 images"));
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_image),
		cmocka_unit_test(test_compiles),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
