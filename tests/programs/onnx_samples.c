// SPDX-License-Identifier: MIT
/*
 * Imports and runs a model of each operator of ONNX in the reference; with a directory as argument it
 * writes the models there instead (the fuzzer's corpus: tests/fuzz/corpus/onnx).
 */
#include <stdio.h>
#include <stdlib.h>

#include "../common/tap.h"
#include "graph.h"
#include "onnx_writer.h"
#include "reference.h"

/* Attributes: name=1,2,3 (a list), name:1 (a number), name~text. */
struct sample {
	const char *name, *type, *inputs, *outputs, *attributes;
	s64 opset;
};

/* Constants and inputs with these names are there: see add_operand(). */
static const struct sample samples[] = {
	{ "conv", "Conv", "x,w,b", "y", "pads=1,1,1,1 strides=2,1", 13 },
	{ "conv_grouped", "Conv", "x,dw", "y", "group:4 auto_pad~SAME_UPPER", 7 },
	{ "conv_transpose", "ConvTranspose", "x,w,b", "y",
	  "strides=2,2 pads=1,1,0,0 output_padding=1,1", 11 },
	{ "gemm", "Gemm", "row,m,bm", "y", "transB:0", 11 },
	{ "matmul", "MatMul", "row,m", "y", "", 13 },
	{ "batch_norm", "BatchNormalization", "x,b,b,b,v", "y", "", 9 },
	{ "max_pool", "MaxPool", "x", "y", "kernel_shape=3,3 strides=2,2 ceil_mode:1", 10 },
	{ "average_pool", "AveragePool", "x", "y", "kernel_shape=2,2 strides=2,2", 10 },
	{ "average_padded", "AveragePool", "x", "y",
	  "kernel_shape=3,3 pads=1,1,1,1 count_include_pad:1", 10 },
	{ "pad", "Pad", "x", "y", "pads=0,0,1,2,0,0,2,1", 10 },
	{ "prelu", "PRelu", "x,b3", "y", "", 13 },
	{ "global_average", "GlobalAveragePool", "x", "y", "", 13 },
	{ "global_max", "GlobalMaxPool", "x", "y", "", 13 },
	{ "add", "Add", "x,x2", "y", "", 13 },
	{ "add_channel", "Add", "x,b3", "y", "", 13 },
	{ "sub", "Sub", "x,x2", "y", "", 13 },
	{ "mul", "Mul", "x,b3", "y", "", 13 },
	{ "div", "Div", "x,v1", "y", "", 13 },
	{ "max", "Max", "x,x2", "y", "", 13 },
	{ "min", "Min", "x,x2", "y", "", 13 },
	{ "relu", "Relu", "x", "y", "", 13 },
	{ "clip", "Clip", "x,lo,hi", "y", "", 13 },
	{ "leaky_relu", "LeakyRelu", "x", "y", "", 13 },
	{ "sigmoid", "Sigmoid", "x", "y", "", 13 },
	{ "hard_sigmoid", "HardSigmoid", "x", "y", "", 13 },
	{ "tanh", "Tanh", "x", "y", "", 13 },
	{ "softmax", "Softmax", "row", "y", "axis:-1", 13 },
	{ "reshape", "Reshape", "x,shape", "y", "", 13 },
	{ "flatten", "Flatten", "x", "y", "", 13 },
	{ "squeeze", "Squeeze", "x", "y", "axes=0", 11 },
	{ "unsqueeze", "Unsqueeze", "row", "y", "axes=0,3", 11 },
	{ "transpose", "Transpose", "x", "y", "perm=0,2,3,1", 13 },
	{ "transpose_all", "Transpose", "x", "y", "", 13 },
	{ "concat", "Concat", "x,x2", "y", "axis:1", 13 },
	{ "slice", "Slice", "x,starts,ends,axes", "y", "", 13 },
	{ "slice_old", "Slice", "x", "y", "starts=1,-2 ends=3,6 axes=1,3", 9 },
	{ "split", "Split", "x", "y,z", "axis:1", 11 },
	{ "resize", "Resize", "x,,scales", "y",
	  "mode~nearest coordinate_transformation_mode~asymmetric nearest_mode~floor", 13 },
	{ "upsample", "Upsample", "x,scales", "y", "mode~linear", 9 },
	{ "reduce_mean", "ReduceMean", "x", "y", "axes=2,3 keepdims:0", 13 },
	{ "reduce_max", "ReduceMax", "x", "y", "axes=1", 13 },
	{ "dropout", "Dropout", "x", "y", "", 10 },
	{ "identity", "Identity", "x", "y", "", 13 },
	{ "quantize", "QuantizeLinear", "x,hi,z8", "y", "", 13 },
	{ "dequantize", "DequantizeLinear", "q,hi,z8", "y", "", 13 },
	{ "qlinear_conv", "QLinearConv", "q,hi,z8,w8,hi,z8,hi,z8", "y", "", 10 },
};

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define UINT8 ONNX__TENSOR_PROTO__DATA_TYPE__UINT8

struct operand {
	const char *name, *dims;
	s32 type; /* of an input; 0: a constant */
	const char *integers; /* of a constant of INT64 */
	float number; /* of a constant of rank 0 */
};

static const struct operand operands[] = {
	{ "x", "0,4,6,6", FLOAT },
	{ "x2", "1,4,6,6", FLOAT },
	{ "row", "1,8", FLOAT },
	{ "q", "1,4,6,6", UINT8 },
	{ "w", "4,4,3,3" },
	{ "dw", "4,1,3,3" },
	{ "m", "8,5" },
	{ "b", "4" },
	{ "bm", "5" },
	{ "b3", "4,1,1" },
	{ "v", "4" },
	{ "v1", "1" },
	{ "lo", "", 0, NULL, -0.5f },
	{ "hi", "", 0, NULL, 0.5f },
	{ "shape", "", 0, "1,-1,9" },
	{ "starts", "", 0, "1,2" },
	{ "ends", "", 0, "4,-1" },
	{ "axes", "", 0, "1,2" },
};

static void add_operand(struct onnx_writer *w, const char *name)
{
	static const float positive[] = { 1, 2, 3, 4 }, scales[] = { 1, 1, 2, 2 };
	u32 i;

	if (!strcmp(name, "z8"))
		onnx_raw(w, name, UINT8, 1, "", "\x80");
	else if (!strcmp(name, "w8"))
		onnx_raw(w, name, UINT8, 1, "4,4,2,2", NULL);
	else if (!strcmp(name, "scales"))
		onnx_floats(w, name, "4", scales);
	for (i = 0; i < ARRAY_SIZE(operands); i++) {
		const struct operand *o = &operands[i];

		if (strcmp(o->name, name))
			continue;
		if (o->type)
			onnx_input(w, name, o->type, o->dims);
		else if (o->integers)
			onnx_int64s(w, name, o->integers);
		else if (!*o->dims)
			onnx_scalar(w, name, o->number);
		else
			onnx_floats(w, name, o->dims, *name == 'v' ? positive : NULL);
	}
}

static bool seen_before(char **names, u32 i)
{
	u32 j;

	for (j = 0; j < i; j++)
		if (!strcmp(names[i], names[j]))
			return true;
	return false;
}

static void add_attributes(struct onnx_writer *w, const char *list)
{
	char *all = strdup(list), *rest = all, *one;

	while ((one = strsep(&rest, " "))) {
		size_t length = strcspn(one, "=:~");
		char kind = one[length];

		if (!kind)
			continue;
		one[length] = '\0';
		if (kind == '=')
			onnx_attribute_ints(w, one, one + length + 1);
		else if (kind == ':')
			onnx_attribute_int(w, one, strtol(one + length + 1, NULL, 10));
		else
			onnx_attribute_text(w, one, one + length + 1);
	}
	free(all);
}

static u8 *write_sample(const struct sample *sample, size_t *bytes)
{
	struct onnx_writer w;
	Onnx__NodeProto *node;
	u32 i;

	onnx_begin(&w, sample->opset);
	node = onnx_node(&w, sample->type, sample->inputs, sample->outputs);
	add_attributes(&w, sample->attributes);
	for (i = 0; i < node->n_input; i++)
		if (!seen_before(node->input, i))
			add_operand(&w, node->input[i]);
	for (i = 0; i < node->n_output; i++)
		onnx_output(&w, node->output[i]);
	return onnx_end(&w, bytes);
}

static void try_sample(const struct sample *sample, const u8 *data, size_t bytes)
{
	struct npu_reference *reference = NULL;
	struct npu_graph *graph = NULL;
	struct npu_diag diag = { "" };
	int error = npu_import_onnx(data, bytes, sample->name, &graph, &diag);

	if (!error)
		error = npu_reference_new(graph, &reference, &diag);
	if (!error)
		error = npu_reference_run(reference, NULL, NULL, &diag);
	tap(!error, "%s%s%s", sample->name, error ? ": " : "", diag.text);
	npu_reference_free(reference);
	npu_graph_free(graph);
}

static void write_file(const char *directory, const char *name, const u8 *data, size_t bytes)
{
	char path[512];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	good = file && fwrite(data, 1, bytes, file) == bytes;
	if (file && fclose(file))
		good = false;
	tap(good, "%s is written", path);
}

int main(int argc, char **argv)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(samples); i++) {
		size_t bytes;
		u8 *data = write_sample(&samples[i], &bytes);

		if (argc > 1)
			write_file(argv[1], samples[i].name, data, bytes);
		else
			try_sample(&samples[i], data, bytes);
		free(data);
	}
	return tap_end();
}
