// SPDX-License-Identifier: MIT
/*
 * Imports and runs a model of each operator of ONNX in the reference; with a directory as argument it
 * writes the models there instead (the fuzzer's corpus: tests/fuzz/corpus/onnx).
 */
#include <math.h>
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
	{ "conv_transpose_grouped", "ConvTranspose", "x,dw", "y", "group:4 strides=2,2", 11 },
	{ "conv_transpose_same", "ConvTranspose", "x,w,b", "y", "strides=2,2 auto_pad~SAME_UPPER",
	  11 },
	{ "conv_transpose_shape", "ConvTranspose", "x,w,b", "y",
	  "strides=2,2 output_shape=12,14 output_padding=0,0", 11 },
	{ "conv_transpose_dilated", "ConvTranspose", "x,w,b", "y", "dilations=2,3", 11 },
	{ "gemm", "Gemm", "row,m,bm", "y", "transB:0", 11 },
	{ "matmul", "MatMul", "row,m", "y", "", 13 },
	{ "batch_norm", "BatchNormalization", "x,b,b,b,v", "y", "", 9 },
	{ "max_pool", "MaxPool", "x", "y", "kernel_shape=3,3 strides=2,2 ceil_mode:1", 10 },
	{ "average_pool", "AveragePool", "x", "y", "kernel_shape=2,2 strides=2,2", 10 },
	{ "average_padded", "AveragePool", "x", "y",
	  "kernel_shape=3,3 pads=1,1,1,1 count_include_pad:1", 10 },
	{ "max_dilated", "MaxPool", "x", "y", "kernel_shape=2,3 dilations=2,2 pads=1,1,1,2", 10 },
	{ "average_dilated", "AveragePool", "x", "y",
	  "kernel_shape=3,2 dilations=2,3 strides=1,2 pads=2,1,1,2", 19 },
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
	{ "softmax_channels", "Softmax", "x", "y", "axis:1", 13 },
	{ "softmax_rows", "Softmax", "x", "y", "axis:2", 13 },
	{ "softmax_old", "Softmax", "x", "y", "axis:2", 11 },
	{ "exp", "Exp", "x", "y", "", 13 },
	{ "elu", "Elu", "x", "y", "", 13 },
	{ "gelu", "Gelu", "x", "y", "approximate~tanh", 20 },
	{ "softplus", "Softplus", "x", "y", "", 13 },
	{ "mish", "Mish", "x", "y", "", 18 },
	{ "celu", "Celu", "x", "y", "", 13 },
	{ "pow", "Pow", "x,two", "y", "", 13 },
	{ "lrn", "LRN", "x", "y", "size:3", 13 },
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
	{ "resize_picked", "Resize", "x,,,smaller", "y",
	  "mode~nearest coordinate_transformation_mode~half_pixel nearest_mode~ceil", 13 },
	{ "average_ceil", "AveragePool", "x", "y", "kernel_shape=3,3 strides=2,2 ceil_mode:1", 13 },
	{ "upsample", "Upsample", "x,scales", "y", "mode~linear", 9 },
	{ "reduce_mean", "ReduceMean", "x", "y", "axes=2,3 keepdims:0", 13 },
	{ "reduce_max", "ReduceMax", "x", "y", "axes=1", 13 },
	{ "reduce_sum", "ReduceSum", "x", "y", "axes=1", 11 },
	{ "reduce_min", "ReduceMin", "x", "y", "axes=2,3 keepdims:0", 13 },
	{ "reduce_prod", "ReduceProd", "x", "y", "axes=3", 13 },
	{ "reduce_l2", "ReduceL2", "x", "y", "axes=1 keepdims:0", 13 },
	{ "reduce_log_sum_exp", "ReduceLogSumExp", "x", "y", "axes=1 keepdims:0", 13 },
	{ "log_softmax", "LogSoftmax", "x", "y", "axis:1", 13 },
	{ "arg_max", "ArgMax", "x", "y", "axis:1", 8 },
	{ "arg_min", "ArgMin", "x", "y", "axis:2 keepdims:0", 8 },
	{ "matmul_computed", "MatMul", "x,x2", "y", "", 13 },
	{ "gemm_computed", "Gemm", "row,row2", "y", "transB:1", 11 },
	{ "gather", "Gather", "x,picks", "y", "axis:1", 13 },
	{ "gather_computed", "Gather", "m,ids", "y", "", 13 },
	{ "gather_elements", "GatherElements", "m,ids", "y", "", 13 },
	{ "gather_nd", "GatherND", "x,ids", "y", "", 13 },
	{ "scatter_elements", "ScatterElements", "m,ids,some", "y", "axis:1", 16 },
	{ "scatter_nd", "ScatterND", "x,ids,patch", "y", "", 16 },
	{ "top_k", "TopK", "x,three", "y,z", "axis:-2", 13 },
	{ "tile", "Tile", "x,times", "y", "", 13 },
	{ "expand", "Expand", "row,wide", "y", "", 13 },
	{ "depth_to_space", "DepthToSpace", "x", "y", "blocksize:2 mode~CRD", 13 },
	{ "space_to_depth", "SpaceToDepth", "x", "y", "blocksize:3", 13 },
	{ "pad_reflect", "Pad", "x", "y", "pads=0,0,1,2,0,0,2,1 mode~reflect", 10 },
	{ "pad_edge", "Pad", "x", "y", "pads=0,1,0,2,0,1,2,1 mode~edge", 10 },
	{ "lstm", "LSTM", "seq,lw,lr,lb", "y", "hidden_size:4 direction~reverse", 14 },
	{ "gru", "GRU", "seq,gw,gr,gb", "y", "hidden_size:4 linear_before_reset:1", 14 },
	{ "instance_norm", "InstanceNormalization", "x,v,b", "y", "", 13 },
	{ "layer_norm", "LayerNormalization", "x,scale6,bias6", "y", "axis:3", 17 },
	{ "group_norm", "GroupNormalization", "x,v,b", "y", "num_groups:2", 21 },
	{ "lp_norm", "LpNormalization", "x", "y", "axis:1", 13 },
	{ "sum_of_three", "Sum", "x,x2,b3", "y", "", 13 },
	{ "max_of_three", "Max", "x,x2,b3", "y", "", 13 },
	{ "min_of_four", "Min", "b3,x,x2,x", "y", "", 13 },
	{ "mean_of_two", "Mean", "x,x2", "y", "", 13 },
	{ "dropout", "Dropout", "x", "y", "", 10 },
	{ "identity", "Identity", "x", "y", "", 13 },
	{ "quantize", "QuantizeLinear", "x,hi,z8", "y", "", 13 },
	{ "dequantize", "DequantizeLinear", "q,hi,z8", "y", "", 13 },
	{ "qlinear_conv", "QLinearConv", "q,hi,z8,w8,hi,z8,hi,z8", "y", "", 10 },
};

#define FLOAT ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
#define INT64 ONNX__TENSOR_PROTO__DATA_TYPE__INT64
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
	{ "row2", "1,8", FLOAT },
	{ "seq", "3,1,4", FLOAT },
	{ "ids", "2,3", INT64 },
	{ "q", "1,4,6,6", UINT8 },
	{ "w", "4,4,3,3" },
	{ "dw", "4,1,3,3" },
	{ "m", "8,5" },
	{ "lw", "1,16,4" },
	{ "lr", "1,16,4" },
	{ "lb", "1,32" },
	{ "gw", "1,12,4" },
	{ "gr", "1,12,4" },
	{ "gb", "1,24" },
	{ "b", "4" },
	{ "bm", "5" },
	{ "some", "2,3" },
	{ "patch", "2,6" },
	{ "b3", "4,1,1" },
	{ "scale6", "6" },
	{ "bias6", "6" },
	{ "v", "4" },
	{ "v1", "1" },
	{ "lo", "", 0, NULL, -0.5f },
	{ "hi", "", 0, NULL, 0.5f },
	{ "two", "", 0, NULL, 2 },
	{ "shape", "", 0, "1,-1,9" },
	{ "picks", "", 0, "3,0,-1" },
	{ "times", "", 0, "1,2,1,3" },
	{ "three", "", 0, "3" },
	{ "smaller", "", 0, "1,4,4,5" },
	{ "wide", "", 0, "2,3,1" },
	{ "starts", "", 0, "1,2" },
	{ "ends", "", 0, "4,-1" },
	{ "axes", "", 0, "1,2" },
};

static bool is_there(const struct onnx_writer *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->graph.n_initializer; i++)
		if (!strcmp(w->tensor[i]->name, name))
			return true;
	for (i = 0; i < w->graph.n_input; i++)
		if (!strcmp(w->input[i]->name, name))
			return true;
	return false;
}

static void add_operand(struct onnx_writer *w, const char *name)
{
	static const float positive[] = { 1, 2, 3, 4 }, scales[] = { 1, 1, 2, 2 };
	u32 i;

	if (is_there(w, name))
		return;
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

/* Behind QuantizeLinear and DequantizeLinear in units of 1 / @units: @name/q. */
static void quantise(struct onnx_writer *w, const char *from, const char *to, float units)
{
	char scale[40], stored[40], inputs[120];

	snprintf(scale, sizeof(scale), "%s/s", from);
	snprintf(stored, sizeof(stored), "%s/i", from);
	onnx_scalar(w, scale, 1 / units);
	snprintf(inputs, sizeof(inputs), "%s,%s,zero", from, scale);
	onnx_node(w, "QuantizeLinear", inputs, stored);
	snprintf(inputs, sizeof(inputs), "%s,%s,zero", stored, scale);
	onnx_node(w, "DequantizeLinear", inputs, to);
}

static bool is_float_input(const char *name)
{
	return !strcmp(name, "x") || !strcmp(name, "x2") || !strcmp(name, "row") ||
	       !strcmp(name, "row2");
}

#define IN_UNITS 64
#define OUT_UNITS 32

static u8 *write_sample(const struct sample *sample, bool quantised, size_t *bytes)
{
	char inputs[200] = "", *names = strdup(sample->inputs), *rest = names, *name;
	struct onnx_writer w;
	u32 i;

	onnx_begin(&w, sample->opset);
	if (quantised)
		onnx_raw(&w, "zero", ONNX__TENSOR_PROTO__DATA_TYPE__INT8, 1, "", "");
	while ((name = strsep(&rest, ","))) {
		bool view = quantised && is_float_input(name);
		char to[40];

		snprintf(to, sizeof(to), view ? "%s/q" : "%s", name);
		add_operand(&w, name);
		if (view)
			quantise(&w, name, to, IN_UNITS);
		snprintf(inputs + strlen(inputs), sizeof(inputs) - strlen(inputs), "%s%s",
			 name == names ? "" : ",", to);
	}
	free(names);
	onnx_node(&w, sample->type, inputs, quantised ? "r" : sample->outputs);
	add_attributes(&w, sample->attributes);
	if (quantised)
		quantise(&w, "r", "y", OUT_UNITS);
	for (i = 0; i < (strchr(sample->outputs, ',') ? 2 : 1); i++)
		onnx_output(&w, i ? "z" : "y");
	return onnx_end(&w, bytes);
}

struct result {
	struct npu_graph *graph;
	struct npu_reference *reference;
};

static bool run(const struct sample *sample, bool quantised, struct result *result)
{
	struct npu_diag diag = { "" };
	size_t bytes;
	u8 *data = write_sample(sample, quantised, &bytes);
	int error = npu_import_onnx(data, bytes, sample->name, NULL, &result->graph, &diag);
	u32 i, j;

	if (!error)
		error = npu_reference_new(result->graph, &result->reference, &diag);
	for (i = 0; !error && i < result->graph->input_count; i++) {
		const struct npu_tensor *t = &result->graph->tensor[result->graph->input[i]];
		float *to = npu_reference_tensor(result->reference, result->graph->input[i]);

		for (j = 0; t->dtype == NPU_F32 && j < t->bytes / 4; j++)
			to[j] = (float)((s32)((j * 37 + i * 11) % 127) - 63) / IN_UNITS;
	}
	if (!error)
		error = npu_reference_run(result->reference, NULL, NULL, &diag);
	if (error)
		tap(false, "%s%s: %s", sample->name, quantised ? " (quantised)" : "", diag.text);
	free(data);
	return !error;
}

static void release(struct result *result)
{
	npu_reference_free(result->reference);
	npu_graph_free(result->graph);
}

/* Whether there is nothing but inputs, and parameters that have no scale. */
static bool can_be_quantised(const struct sample *sample)
{
	static const char parameters[] = ",,scales,shape,starts,ends,axes,two,picks,times,wide,";
	char *names = strdup(sample->inputs), *rest = names, *name, key[40];
	bool good = !strchr(sample->outputs, ',') && sample->opset >= 10;

	while ((name = strsep(&rest, ","))) {
		snprintf(key, sizeof(key), ",%s,", name);
		good = good && (is_float_input(name) || strstr(parameters, key));
	}
	free(names);
	return good;
}

/* The same values come out with integers inside, to one unit of the result. */
static void try_quantised(const struct sample *sample, const struct result *real)
{
	struct result quantised = { NULL, NULL };
	float most = 0;

	if (run(sample, true, &quantised)) {
		const struct npu_tensor *t = &real->graph->tensor[real->graph->output[0]];
		const float *want = npu_reference_tensor(real->reference, real->graph->output[0]);
		const float *have =
			npu_reference_tensor(quantised.reference, quantised.graph->output[0]);
		u32 i;

		for (i = 0; i < t->bytes / 4; i++) {
			float clamped =
				fmaxf(fminf(want[i], 127.0f / OUT_UNITS), -128.0f / OUT_UNITS);

			most = fmaxf(most, fabsf(clamped - have[i]) * OUT_UNITS);
		}
		tap(t->bytes == quantised.graph->tensor[quantised.graph->output[0]].bytes &&
			    most <= 1.01f,
		    "%s (quantised): %.2f units from float32", sample->name, (double)most);
	}
	release(&quantised);
}

static void try_sample(const struct sample *sample)
{
	struct result real = { NULL, NULL };

	if (run(sample, false, &real)) {
		tap(true, "%s", sample->name);
		if (can_be_quantised(sample))
			try_quantised(sample, &real);
	}
	release(&real);
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
		u8 *data;

		if (argc < 2) {
			try_sample(&samples[i]);
			continue;
		}
		data = write_sample(&samples[i], false, &bytes);
		write_file(argv[1], samples[i].name, data, bytes);
		free(data);
	}
	return tap_end();
}
