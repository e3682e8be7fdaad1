// SPDX-License-Identifier: MIT
/* The Caffe importer: texts, what is refused and with which words, damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../compiler/import/caffe.h"
#include "../../compiler/import/prototxt.h"
#include "graph.h"

#define X "input: \"x\" input_shape { dim: 1 dim: 4 dim: 6 dim: 7 }\n"
#define RELU "layer { name: \"r\" type: \"ReLU\" bottom: \"x\" top: \"y\" }\n"

static struct npu_graph *graph;
static struct npu_diag diag;

static int import_with(const char *text, const void *weights, size_t bytes, bool random,
		       const char *shapes)
{
	const struct npu_import_options options = { .input_shapes = shapes,
						    .random_weights = random };
	const struct caffe_file net = { "net.prototxt", text, strlen(text) };
	const struct caffe_file file = { "net.caffemodel", weights, bytes };
	int error;

	npu_graph_free(graph);
	graph = NULL;
	diag.text[0] = '\0';
	error = caffe_import_pair(&net, &file, &options, &graph, &diag);
	if (error && !diag.text[0])
		fail_msg("an error without a message");
	return error;
}

static void good(const char *text)
{
	if (import_with(text, NULL, 0, true, NULL))
		fail_msg("%s", diag.text);
}

static void says(const char *words)
{
	if (!strstr(diag.text, words))
		fail_msg("'%s' does not say '%s'", diag.text, words);
}

static void refused(const char *text, int error, const char *words)
{
	assert_int_equal(import_with(text, NULL, 0, true, NULL), error);
	says(words);
}

static int teardown(void **state)
{
	npu_graph_free(graph);
	graph = NULL;
	return 0;
}

static const struct npu_tensor *output(u32 i)
{
	return &graph->tensor[graph->output[i]];
}

static u32 count_kind(enum npu_op_kind kind)
{
	u32 i, n = 0;

	for (i = 0; i < graph->op_count; i++)
		n += graph->op[i].kind == kind;
	return n;
}

/* ---- texts ---- */

static bool never(const ProtobufCMessageDescriptor *message)
{
	return false;
}

static Caffe__Net *read_net(const char *text)
{
	const struct prototxt_source source = { text, strlen(text), "t", never };
	Caffe__Net *net;
	size_t bytes;
	u8 *data;

	diag.text[0] = '\0';
	if (prototxt_encode(&source, &caffe__net__descriptor, &data, &bytes, &diag))
		return NULL;
	net = caffe__net__unpack(NULL, bytes, data);
	free(data);
	assert_non_null(net);
	return net;
}

static void test_text_values(void **state)
{
	Caffe__Net *net =
		read_net("name: 'a\\n\\x41\\101' \"b\" # comment\n"
			 "input_dim: 1, input_dim: 0x10; input_dim: 010 input_dim: -5\n"
			 "input: ['p', \"q\"]\n"
			 "layer < lrn_param: { alpha: 1e-4f beta: .5 k: inf local_size: 5 "
			 "norm_region: WITHIN_CHANNEL } bottom: \"\" >\n"
			 "layer { batch_norm_param { use_global_stats: t eps: -1. } }\n"
			 "layer { pooling_param { pool: 1 global_pooling: False } }");

	assert_non_null(net);
	assert_string_equal(net->name, "a\nAAb");
	assert_int_equal(net->n_input_dim, 4);
	assert_int_equal(net->input_dim[1], 16);
	assert_int_equal(net->input_dim[2], 8);
	assert_int_equal(net->input_dim[3], -5);
	assert_int_equal(net->n_input, 2);
	assert_string_equal(net->input[1], "q");
	assert_int_equal(net->n_layer, 3);
	assert_float_equal(net->layer[0]->lrn_param->alpha, 1e-4, 1e-10);
	assert_float_equal(net->layer[0]->lrn_param->beta, 0.5, 0);
	assert_true(net->layer[0]->lrn_param->k > 1e38f);
	assert_int_equal(net->layer[0]->lrn_param->norm_region,
			 CAFFE__LRN__NORM_REGION__WITHIN_CHANNEL);
	assert_string_equal(net->layer[0]->bottom[0], "");
	assert_true(net->layer[1]->batch_norm_param->use_global_stats);
	assert_int_equal(net->layer[2]->pooling_param->pool, CAFFE__POOLING__POOL_METHOD__AVE);
	assert_false(net->layer[2]->pooling_param->global_pooling);
	caffe__net__free_unpacked(net, NULL);
}

static void test_text_errors(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "\n\nname 3", "t: line 3: : is expected at \"3\"" },
		{ "name: 3", "a string is expected at \"3\"" },
		{ "name: \"open", "a string is expected" },
		{ "name: \"two\nlines\"", "a string is expected" },
		{ "name: \"a\\0b\"", "name has a zero byte" },
		{ "name: \"a\" name: \"b\"", "name is there twice" },
		{ "name: [ \"a\" ]", "name is no list" },
		{ "input_dim: 1.5", "a whole number is expected at \"1.5\"" },
		{ "input_dim: 99999999999999999999", "a whole number is expected" },
		{ "input: [ \"a\" \"b\" ", "] is expected" },
		{ "layer {", "the text ends where a field is expected" },
		{ "layer { } }", "a field is expected at \"}\"" },
		{ "layer { name: \"a\" >", "a field is expected at \">\"" },
		{ "layer 5", ": is expected" },
		{ "layer: 5", "{ is expected" },
		{ "nothing: 5", "Net has no field nothing" },
		{ "layer { pooling_param { pool: MOST } }", "pool is MOST" },
		{ "layer { pooling_param { kernel_size: -1 } }", "kernel_size is -1" },
		{ "layer { pooling_param { kernel_size: 4294967296 } }",
		  "kernel_size is 4294967296" },
		{ "layer { pooling_param { global_pooling: maybe } }",
		  "true or false is expected" },
		{ "layer { relu_param { negative_slope: x } }", "a number is expected at \"x\"" },
		{ "@", "a field is expected at \"@\"" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_null(read_net(cases[i].text));
		says(cases[i].words);
	}
}

/* What forks add beside the parameters is passed over, inside of them it is not. */
static void test_unknown_fields(void **state)
{
	good("fork_field: [ 1, { a: <b: 'x' 'y'> } ] " X
	     "layer { name: \"r\" type: \"ReLU\" bottom: \"x\" top: \"y\" new_param { a { b: 1; } "
	     "c: [] } param { lr_mult: 0 } }");
	refused(X "layer { name: \"r\" type: \"ReLU\" bottom: \"x\" top: \"y\"\n"
		  "relu_param { slope: 1 } }",
		-ENOTSUP, "net.prototxt: line 3: Relu has no field slope");
	refused("fork_field { a: 1 ", -EINVAL, "the text ends where a value is expected");
	refused("fork_field { a: 1 ]", -EINVAL, "a value is expected at \"]\"");
}

static void test_nesting(void **state)
{
	char text[8192] = "fork_field ";
	u32 i;

	for (i = 0; i < 2000; i++)
		strcat(text, "{a");
	refused(text, -EINVAL, "nested deeper than 64 levels");
}

static void test_recognised(void **state)
{
	static const struct {
		const char *text;
		bool is;
	} cases[] = {
		{ "name: \"a\"", true },
		{ "# c\n\n  layer{", true },
		{ "input : \"x\"", true },
		{ "layers {", true },
		{ "name\top\tc", false },
		{ "{ \"name\": 1 }", false },
		{ "", false },
		{ "#", false },
		{ "hello: 1", false },
		{ "name", false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (npu_is_caffe(cases[i].text, strlen(cases[i].text)) != cases[i].is)
			fail_msg("%s", cases[i].text);
}

/* ---- networks ---- */

static void test_ends(void **state)
{
	good("input: \"x\" input_dim: 64 input_dim: 4 input_dim: 6 input_dim: 7\n"
	     "layer { name: \"c\" type: \"ReLU\" bottom: \"x\" top: \"z\" }\n"
	     "layer { name: \"b\" type: \"Sigmoid\" bottom: \"x\" top: \"a\" }\n");
	assert_int_equal(graph->input_count, 1);
	assert_int_equal(graph->tensor[graph->input[0]].dim[0], 1);
	assert_int_equal(graph->tensor[graph->input[0]].dim[1], 4);
	assert_int_equal(graph->output_count, 2);
	assert_string_equal(output(0)->name, "a");
	assert_string_equal(output(1)->name, "z");
}

static void test_shapes(void **state)
{
	assert_int_equal(import_with(X RELU, NULL, 0, false, "x:1x4x10x12"), 0);
	assert_int_equal(output(0)->dim[2], 10);
	assert_int_equal(output(0)->dim[3], 12);
	assert_int_equal(import_with(X RELU, NULL, 0, false, "z:1x4x10x12"), -EINVAL);
	refused("layer { name: \"i\" type: \"Input\" top: \"x\" }" RELU, -ENOTSUP, "--input-shape");
	assert_int_equal(import_with("layer { name: \"i\" type: \"Input\" top: \"x\" }" RELU, NULL,
				     0, false, "1x3x8x8"),
			 0);
}

/* Reshapes that were written for a batch follow it to one image. */
static void test_batch(void **state)
{
	good("input: \"x\" input_dim: 64 input_dim: 4 input_dim: 6 input_dim: 7\n"
	     "layer { name: \"r\" type: \"Reshape\" bottom: \"x\" top: \"y\" reshape_param { shape "
	     "{ "
	     "dim: 64 dim: 168 } } }");
	assert_int_equal(output(0)->rank, 2);
	assert_int_equal(output(0)->dim[0], 1);
	assert_int_equal(output(0)->dim[1], 168);
}

/* Convolution, BatchNorm, Scale and ReLU in place are one convolution and a clamp. */
static void test_folding(void **state)
{
	static const char rest[] =
		"layer { name: \"n\" type: \"BatchNorm\" bottom: \"c\" top: \"c\" }"
		"layer { name: \"s\" type: \"Scale\" bottom: \"c\" top: \"c\" scale_param { "
		"bias_term: true } }"
		"layer { name: \"r\" type: \"ReLU\" bottom: \"c\" top: \"c\" }";
	char text[2048];

	snprintf(text, sizeof(text), "%s%s%s", X,
		 "layer { name: \"c\" type: \"Convolution\" bottom: \"x\" top: \"c\" "
		 "convolution_param { num_output: 8 kernel_size: 3 bias_term: false } }",
		 rest);
	good(text);
	assert_int_equal(count_kind(NPU_OP_CONV), 1);
	assert_int_equal(count_kind(NPU_OP_RELU), 1);
	assert_int_equal(count_kind(NPU_OP_MUL) + count_kind(NPU_OP_ADD), 0);
	assert_string_equal(output(0)->name, "c");
	/* Somebody else reads the convolution's result. */
	strcat(text, "layer { name: \"d\" type: \"Convolution\" bottom: \"x\" top: \"d\" "
		     "convolution_param { num_output: 8 kernel_size: 3 } }"
		     "layer { name: \"t\" type: \"BatchNorm\" bottom: \"d\" top: \"e\" }"
		     "layer { name: \"u\" type: \"TanH\" bottom: \"d\" top: \"f\" }");
	good(text);
	assert_int_equal(count_kind(NPU_OP_MUL), 1);
}

/* What a layer makes of the input in the input's own place is another value. */
static void test_input_in_place(void **state)
{
	static const char *const texts[] = {
		X "layer { name: \"p\" type: \"TanH\" bottom: \"x\" top: \"x\" }" RELU,
		X "layer { name: \"p\" type: \"Power\" bottom: \"x\" top: \"x\" power_param { "
		  "scale: 2 } }" RELU,
		X "layer { name: \"b\" type: \"BatchNorm\" bottom: \"x\" top: \"x\" }"
		  "layer { name: \"s\" type: \"Scale\" bottom: \"x\" top: \"x\" }" RELU,
		X "layer { name: \"p\" type: \"TanH\" bottom: \"x\" top: \"x\" }",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		good(texts[i]);
		assert_int_equal(graph->input_count, 1);
		assert_string_equal(graph->tensor[graph->input[0]].name, "x");
		assert_int_equal(graph->output_count, 1);
		assert_string_not_equal(output(0)->name, "x");
	}
	assert_int_equal(count_kind(NPU_OP_TANH), 1);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text;
		int error;
		const char *words;
	} cases[] = {
		{ "name: \"empty\"", -EINVAL, "the network has no output" },
		{ X, -EINVAL, "the network has no output" },
		{ X RELU RELU, -EINVAL, "layer 1 (ReLU, r): output 0 (y) is computed twice" },
		{ X X RELU, -EINVAL, "x is there twice" },
		{ RELU, -EINVAL, "layer 0 (ReLU, r): input 0 (x) is not computed before" },
		{ X "layer { name: \"p\" type: \"Python\" bottom: \"x\" top: \"y\" }", -ENOTSUP,
		  "layer 0 (Python, p): layers of this type are not supported" },
		{ "layer { name: \"d\" type: \"Data\" top: \"data\" top: \"label\" }", -ENOTSUP,
		  "an Input layer" },
		{ X "layer { name: \"l\" type: \"SoftmaxWithLoss\" bottom: \"x\" }", -ENOTSUP,
		  "a layer for training" },
		{ X "layer { name: \"l\" type: \"ReLU\" bottom: \"x\" bottom: \"x\" top: \"y\" }",
		  -ENOTSUP, "2 inputs and 1 outputs" },
		{ X "layer { name: \"l\" type: \"Split\" bottom: \"x\" top: \"y\" top: \"y\" }",
		  -EINVAL, "outputs 0 and 1 are both y" },
		{ X "layer { name: \"l\" type: \"Convolution\" bottom: \"x\" top: \"y\" "
		    "convolution_param { num_output: 4 kernel_size: 9 } }",
		  -EINVAL, "a kernel of 9 over 6 elements" },
		{ X "layer { name: \"l\" type: \"Convolution\" bottom: \"x\" top: \"y\" "
		    "convolution_param { num_output: 4 kernel_size: 3 group: 3 } }",
		  -EINVAL, "4 kernels in 3 groups over 4 channels" },
		{ X "layer { name: \"l\" type: \"Convolution\" bottom: \"x\" top: \"y\" }", -EINVAL,
		  "0 kernels" },
		{ X
		  "layer { name: \"l\" type: \"Pooling\" bottom: \"x\" top: \"y\" pooling_param { "
		  "kernel_size: 3 kernel_h: 3 } }",
		  -EINVAL, "kernel_size by one number and by height and width" },
		{ X
		  "layer { name: \"l\" type: \"Pooling\" bottom: \"x\" top: \"y\" pooling_param { "
		  "pool: STOCHASTIC kernel_size: 2 pad: 1 } }",
		  -EINVAL, "stochastic pooling with padding" },
		{ X
		  "layer { name: \"l\" type: \"Pooling\" bottom: \"x\" top: \"y\" pooling_param { "
		  "kernel_size: 1 stride: 9 } }",
		  -EINVAL, "the last window lies behind the image" },
		{ X "layer { name: \"l\" type: \"BatchNorm\" bottom: \"x\" top: \"y\" "
		    "batch_norm_param { use_global_stats: false } }",
		  -ENOTSUP, "use_global_stats" },
		{ X "layer { name: \"l\" type: \"Eltwise\" bottom: \"x\" bottom: \"x\" top: \"y\" "
		    "eltwise_param { coeff: 1 } }",
		  -EINVAL, "1 coefficients for 2 inputs" },
		{ X "layer { name: \"l\" type: \"Slice\" bottom: \"x\" top: \"y\" top: \"z\" "
		    "slice_param { slice_point: 4 } }",
		  -EINVAL, "from 4 to 4 of 4" },
		{ X
		  "layer { name: \"l\" type: \"Softmax\" bottom: \"x\" top: \"y\" softmax_param { "
		  "axis: 4 } }",
		  -EINVAL, "axis 4 of 4 dimensions" },
		{ X
		  "layer { name: \"l\" type: \"Reshape\" bottom: \"x\" top: \"y\" reshape_param { "
		  "shape { dim: 5 dim: -1 } } }",
		  -EINVAL, "168 elements do not fill the shape" },
		{ X
		  "layer { name: \"l\" type: \"Concat\" bottom: \"x\" bottom: \"z\" top: \"y\" } ",
		  -EINVAL, "input 1 (z) is not computed before" },
		{ X
		  "layer { name: \"l\" type: \"Permute\" bottom: \"x\" top: \"y\" permute_param { "
		  "order: 1 order: 1 } }",
		  -EINVAL, "order 1" },
		{ X "layers { layer { name: \"old\" type: \"im2col\" } bottom: \"x\" top: \"y\" }",
		  -ENOTSUP, "layer 0 (im2col, old): layers of this type are not supported" },
		{ X
		  "layers { layer { type: \"padding\" pad: 1 } bottom: \"x\" top: \"p\" } layers { "
		  "layer { type: \"relu\" } bottom: \"p\" top: \"y\" }",
		  -ENOTSUP, "p is padded; only convolutions and pooling" },
		{ X "layers { type: RELU bottom: \"x\" top: \"y\" }" RELU, -EINVAL,
		  "both \"layer\" and \"layers\"" },
		{ X "layers { name: \"i\" type: IM2COL bottom: \"x\" top: \"y\" }", -ENOTSUP,
		  "layer 0 (IM2COL, i): layers of this type are not supported" },
		{ "input: \"x\" input_dim: 1\n" RELU, -EINVAL,
		  "1 inputs with 0 times input_shape" },
		{ X
		  "layer { name: \"p\" type: \"PriorBox\" bottom: \"x\" bottom: \"x\" top: \"p\" }"
		  "layer { name: \"r\" type: \"ReLU\" bottom: \"p\" top: \"y\" }",
		  -ENOTSUP, "layer 1 (ReLU, r): input 0 (p) is of prior boxes" },
		{ "input: \"x\" input_shape { dim: 0 dim: 3 }" RELU, -EINVAL,
		  "input x: dimension 0 is 0" },
		{ "input: \"x\" input_shape { dim: 1 dim: 70000 dim: 70000 }" RELU, -ENOTSUP,
		  "larger than 2 GiB" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		refused(cases[i].text, cases[i].error, cases[i].words);
}

static void test_many_layers(void **state)
{
	const char layer[] = "layer { type: \"ReLU\" bottom: \"x\" top: \"x\" }\n";
	char *text = calloc(5000, sizeof(layer));
	u32 i;

	assert_non_null(text);
	strcpy(text, X);
	for (i = 0; i < 4097; i++)
		memcpy(text + sizeof(X) - 1 + i * (sizeof(layer) - 1), layer, sizeof(layer));
	refused(text, -ENOTSUP, "4097 layers, at most 4096 are supported");
	free(text);
}

/* ---- weights ---- */

#define CONV                                                                    \
	X "layer { name: \"c\" type: \"Convolution\" bottom: \"x\" top: \"y\" " \
	  "convolution_param { num_output: 2 kernel_size: 1 } }"

static u8 *write_weights(const char *layer, u32 kernels, u32 channels, u32 stored, size_t *bytes)
{
	float values[64] = { 1, 2, 3 };
	s64 dims[4] = { kernels, channels, 1, 1 };
	Caffe__WeightFile file = CAFFE__WEIGHT_FILE__INIT;
	Caffe__WeightLayer one = CAFFE__WEIGHT_LAYER__INIT, *layers[] = { &one };
	Caffe__Blob weights = CAFFE__BLOB__INIT, bias = CAFFE__BLOB__INIT;
	Caffe__Blob *blobs[] = { &weights, &bias };
	Caffe__Shape shape = CAFFE__SHAPE__INIT, bias_shape = CAFFE__SHAPE__INIT;
	u8 *data;

	shape.dim = dims;
	shape.n_dim = 4;
	bias_shape.dim = dims;
	bias_shape.n_dim = 1;
	weights.shape = &shape;
	weights.data = bias.data = values;
	weights.n_data = stored;
	bias.shape = &bias_shape;
	bias.n_data = kernels;
	one.name = (char *)(uintptr_t)layer;
	one.blobs = blobs;
	one.n_blobs = 2;
	file.layer = layers;
	file.n_layer = 1;
	data = malloc(caffe__weight_file__get_packed_size(&file));
	assert_non_null(data);
	*bytes = caffe__weight_file__pack(&file, data);
	return data;
}

static void check_weights(const char *layer, u32 kernels, u32 channels, u32 stored,
			  const char *words)
{
	size_t bytes;
	u8 *data = write_weights(layer, kernels, channels, stored, &bytes);

	assert_int_equal(import_with(CONV, data, bytes, false, NULL), words ? -EINVAL : 0);
	if (words)
		says(words);
	free(data);
}

static void test_weights(void **state)
{
	const float *data;

	check_weights("c", 2, 4, 8, NULL);
	data = npu_op_input(graph, &graph->op[graph->op_count - 2], 1)->data;
	assert_non_null(data);
	assert_float_equal(data[2], 3, 0);
	check_weights("c", 2, 4, 7, "weights 0: 7 values, their shape says 8");
	check_weights("c", 2, 5, 10, "weights 0: 10 values, the layer needs 8");
	check_weights("other", 2, 4, 8, "0 weight blobs of that name in net.caffemodel");
	assert_int_equal(import_with(CONV, NULL, 0, false, NULL), -EINVAL);
	says("its weights are missing: there is no file net.caffemodel");
	assert_int_equal(import_with(CONV, NULL, 0, true, NULL), 0);
}

static void test_damaged_weights(void **state)
{
	size_t bytes, i;
	u8 *data = write_weights("c", 2, 4, 8, &bytes), *part;

	for (i = 0; i < bytes; i++) {
		/* Of exactly this size, so that a sanitizer sees what is read behind it. */
		part = malloc(i + 1);
		memcpy(part, data, i);
		assert_int_not_equal(import_with(CONV, part, i, false, NULL), 0);
		free(part);
	}
	assert_int_equal(import_with(CONV, "\xff\xff\xff\xff", 4, false, NULL), -EINVAL);
	says("net.caffemodel: damaged file");
	free(data);
}

/* A varint of protobuf's, always of four bytes. */
static void put_length(u8 *to, size_t value)
{
	u32 i;

	for (i = 0; i < 4; i++)
		to[i] = (u8)(value >> 7 * i) | (i < 3 ? 0x80 : 0);
}

/* One layer with @count blobs without contents: two bytes each, in memory a structure of a hundred. */
static u8 *write_empty_blobs(size_t count, size_t *bytes)
{
	u8 *data = malloc(6 + 2 * count);
	size_t i;

	assert_non_null(data);
	data[0] = 0xa2; /* layer */
	data[1] = 0x06;
	put_length(data + 2, 2 * count);
	for (i = 0; i < count; i++) {
		data[6 + 2 * i] = 0x3a; /* blobs */
		data[7 + 2 * i] = 0;
	}
	*bytes = 6 + 2 * count;
	return data;
}

/* What a file of weights may take in memory is a multiple of its size: beyond, it is not damaged. */
static void test_memory_limit(void **state)
{
	size_t bytes;
	u8 *data = write_empty_blobs(100, &bytes);

	assert_int_equal(import_with(CONV, data, bytes, false, NULL), -EINVAL);
	says("0 weight blobs of that name");
	free(data);
	data = write_empty_blobs(1 << 20, &bytes);
	assert_int_equal(import_with(CONV, data, bytes, false, NULL), -ENOMEM);
	says("needs more memory than files of their size may take");
	free(data);
	refused(X "layer { name: \"i\" type: \"InnerProduct\" bottom: \"x\" top: \"y\" "
		  "inner_product_param { num_output: 2000000000 } }",
		-ENOTSUP, "more than 1 GiB of random weights");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_values),
		cmocka_unit_test(test_text_errors),
		cmocka_unit_test_teardown(test_unknown_fields, teardown),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_recognised),
		cmocka_unit_test_teardown(test_ends, teardown),
		cmocka_unit_test_teardown(test_shapes, teardown),
		cmocka_unit_test_teardown(test_batch, teardown),
		cmocka_unit_test_teardown(test_folding, teardown),
		cmocka_unit_test_teardown(test_input_in_place, teardown),
		cmocka_unit_test_teardown(test_refusals, teardown),
		cmocka_unit_test_teardown(test_many_layers, teardown),
		cmocka_unit_test_teardown(test_weights, teardown),
		cmocka_unit_test_teardown(test_damaged_weights, teardown),
		cmocka_unit_test_teardown(test_memory_limit, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
