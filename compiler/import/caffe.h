/* SPDX-License-Identifier: MIT */
/*
 * Inside of the Caffe importer.
 *
 * Caffe's layers are few and their meaning is in ONNX's operators, so a network is rewritten as an ONNX
 * model in memory, a layer as one node or several, and read by the ONNX importer: order of
 * dimensions, folding and fusing have one owner.  What is Caffe's own is decided here: how blobs
 * that are computed in place are told apart, shapes, where windows end, where weights are.
 *
 * Shapes are those of one image: what the file says about the batch is not looked at.
 */
#ifndef NPU_CAFFE_H
#define NPU_CAFFE_H

#include "onnx.h"
#include "shapes.h"

#include "caffe.pb-c.h"

#define CAFFE_MAX_LAYERS 4096u
#define CAFFE_MAX_TOPS ONNX_MAX_OUTPUTS

/**
 * struct caffe_affine - y = x * mul + add in each channel (dimension 1), computed when it is needed:
 *	layers that follow may join in
 * @layer, @description: for the nodes that it becomes
 * @name: of the result, in the ONNX model
 * @is_computed: there are nodes that compute it
 */
struct caffe_affine {
	u32 channels;
	float *mul, *add;
	const char *layer, *description, *name;
	bool is_computed;
};

/**
 * struct caffe_value - what a blob holds between two layers that write it
 * @name: in the ONNX model; NULL: of prior boxes, which are no part of it
 * @affine: of what @name holds; NULL: nothing
 */
struct caffe_value {
	const char *name;
	u32 rank;
	u32 dim[NPU_MAX_RANK];
	struct caffe_affine *affine;
};

/* A blob by Caffe's name, and whether anybody has read what it holds now. */
struct caffe_blob {
	const char *name;
	struct caffe_value value;
	bool was_read, is_input;
};

struct caffe;

enum {
	CAFFE_JOINS = 1 << 0, /* inputs with an affine function that is not computed yet */
	CAFFE_TAKES_BOXES = 1 << 1, /* prior boxes */
};

/**
 * struct caffe_row - how a type of layer is read
 * @name, @v1: type in files since 2014 and before; V1Layer's NONE: there was none
 * @inputs, @outputs: least and most
 * @flags: what else it takes
 * @kind: what it becomes in the first place; NPU_OP_COUNT: nothing
 * @read: adds it to the model
 */
struct caffe_row {
	const char *name;
	Caffe__V1Layer__LayerType v1;
	u8 inputs[2], outputs[2];
	u8 flags;
	enum npu_op_kind kind;
	int (*read)(struct caffe *c);
};

/* Padding that is a layer of its own, in files of 2013. */
struct caffe_padding {
	const struct caffe_padding *next;
	const char *top;
	char *bottom;
	u32 pad;
};

/**
 * struct caffe - the state of one import
 * @weights: the trained weights; NULL: there are none
 * @random: layers without weights get random ones
 * @shapes: what was given for inputs, or NULL
 * @model, @source: what is made
 * @paddings: found so far, newest first
 * @batch: images at once, as the file has it
 * @out_of_memory: some allocation failed; whoever allocates goes on and a layer's end finds it
 * @index, @layer, @row: the layer at work
 * @description: of it, for messages: place in the file, type, name
 * @first_node: first of its nodes
 * @in, @in_count: its inputs
 * @blob, @blob_count: its weights
 */
struct caffe {
	struct npu_graph *graph;
	struct npu_diag *diag;
	const Caffe__WeightFile *weights;
	const char *weights_file;
	const char *shapes;
	bool random;
	Onnx__ModelProto model;
	Onnx__GraphProto source;
	u32 node_capacity, constant_capacity;
	Caffe__Layer **layers;
	u32 layer_count;
	struct caffe_blob *table;
	u32 table_count, table_capacity;
	const struct caffe_padding *paddings;
	s64 batch;
	u32 temporaries;
	u64 random_state;
	bool out_of_memory;

	u32 index;
	const Caffe__Layer *layer;
	const struct caffe_row *row;
	const char *description;
	size_t first_node;
	struct caffe_value in[NPU_MAX_INPUTS];
	u32 in_count;
	Caffe__Blob **blob;
	size_t blob_count;
};

/* An error about the layer at work; returns @error. */
int caffe_fail(struct caffe *c, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Zeroed memory that lives as long as the graph; NULL sets @c->out_of_memory. */
void *caffe_alloc(struct caffe *c, u64 count, size_t bytes);

/* ---- caffe_table.c ---- */

const struct caffe_row *caffe_find_row(const char *type);
/* Type of a layer of an old file; NULL: unknown. */
const char *caffe_v1_type(Caffe__V1Layer__LayerType type);

/* ---- caffe_upgrade.c ---- */

/* All layers of a network in one form, without those that an inference leaves out. */
int caffe_list_layers(struct caffe *c, const Caffe__Net *net);

/* ---- caffe_weights.c ---- */

/* Looks up the weights of the layer at work. */
int caffe_find_weights(struct caffe *c);
/*
 * Weight blob @i of the layer at work, which has to have @count elements.  Where random weights are
 * wanted: around 0 for sums of @fan products, or @other for @fan 0.
 */
int caffe_weights(struct caffe *c, u32 i, u64 count, u64 fan, float other, const float **data);
/* How many elements weight blob @i has; @other where weights are random. */
u64 caffe_weight_count(const struct caffe *c, u32 i, u64 other);

/* ---- caffe_node.c ---- */

/* One more node; NULL out of memory, which those below take. */
Onnx__NodeProto *caffe_node(struct caffe *c, const char *op, u32 outputs);
void caffe_node_input(struct caffe *c, Onnx__NodeProto *node, const char *name);
void caffe_node_int(struct caffe *c, Onnx__NodeProto *node, const char *name, s64 value);
void caffe_node_ints(struct caffe *c, Onnx__NodeProto *node, const char *name, const s64 *values,
		     u32 count);
void caffe_node_float(struct caffe *c, Onnx__NodeProto *node, const char *name, float value);
void caffe_node_text(struct caffe *c, Onnx__NodeProto *node, const char *name, const char *value);

/* A constant that refers to @data. */
const char *caffe_constant(struct caffe *c, u32 rank, const u32 *dim, const float *data);
const char *caffe_number(struct caffe *c, float number);
const char *caffe_integers(struct caffe *c, const s64 *values, u32 count);

/* A value between nodes of one layer. */
struct caffe_value caffe_between(struct caffe *c, u32 rank, const u32 *dim);
/* Output @i of the layer at work, with a new name. */
struct caffe_value caffe_top(struct caffe *c, u32 i, u32 rank, const u32 *dim);
/* Makes @value output @i of the layer at work. */
int caffe_define(struct caffe *c, u32 i, const struct caffe_value *value);

/* A node of one output over @count values. */
Onnx__NodeProto *caffe_apply(struct caffe *c, const char *op, const struct caffe_value *in,
			     u32 count, const struct caffe_value *out);
/* The same elements in the shape of @out, or in a shape of a value between nodes. */
void caffe_reshape(struct caffe *c, const struct caffe_value *in, const struct caffe_value *out);
struct caffe_value caffe_reshaped(struct caffe *c, const struct caffe_value *in, u32 rank,
				  const u32 *dim);
/* @value with what is left of its affine function computed. */
struct caffe_value caffe_settled(struct caffe *c, const struct caffe_value *value);
/* Puts y * mul[channel] + add[channel] behind @value; either may be NULL. */
struct caffe_value caffe_affine(struct caffe *c, const struct caffe_value *value, const float *mul,
				const float *add);

u64 caffe_elements(const struct caffe_value *value);
/* Product of the dimensions from @from up to @to. */
u64 caffe_product(const struct caffe_value *value, u32 from, u32 to);
/* An axis that may count from the end, of @rank. */
int caffe_axis(struct caffe *c, s64 axis, u32 rank, u32 *result);

/* ---- caffe_conv.c ---- */

int caffe_read_convolution(struct caffe *c);
int caffe_read_depthwise(struct caffe *c);
int caffe_read_deconvolution(struct caffe *c);
int caffe_read_inner_product(struct caffe *c);

/* ---- caffe_window.c ---- */

/* Height and width of a window's four numbers. */
struct caffe_window {
	u32 kernel[2], stride[2], pad[2], dilation[2];
};

int caffe_convolution_window(struct caffe *c, const Caffe__Convolution *p,
			     struct caffe_window *window);
int caffe_read_pooling(struct caffe *c);
int caffe_read_lrn(struct caffe *c);

/* ---- caffe_v0.c ---- */

/* A layer in the form of 2013 in today's; it stays without a type where nothing is left of it. */
int caffe_upgrade_v0(struct caffe *c, Caffe__V1Layer *old, Caffe__Layer *now);

/* ---- caffe_detect.c ---- */

int caffe_read_prior_box(struct caffe *c);
int caffe_read_detection_output(struct caffe *c);

/* ---- caffe_norm.c ---- */

int caffe_read_normalize(struct caffe *c);
int caffe_read_mvn(struct caffe *c);
/* LRN within channels. */
int caffe_read_lrn_within(struct caffe *c, const Caffe__Lrn *p);

/* ---- caffe_math.c ---- */

/* One more operator of two values, or of a value and a number. */
struct caffe_value caffe_combine(struct caffe *c, const char *op, const struct caffe_value *a,
				 const struct caffe_value *b);
struct caffe_value caffe_by_number(struct caffe *c, const char *op, const struct caffe_value *a,
				   float number);
/* Defines result 0 under the blob's own name with the last of the layer's nodes, where there are any. */
int caffe_define_last(struct caffe *c, const struct caffe_value *value);

int caffe_read_batch_norm(struct caffe *c);
int caffe_read_scale(struct caffe *c);
int caffe_read_bias(struct caffe *c);
int caffe_read_axpy(struct caffe *c);
int caffe_read_eltwise(struct caffe *c);
int caffe_read_relu(struct caffe *c);
int caffe_read_relu6(struct caffe *c);
int caffe_read_prelu(struct caffe *c);
int caffe_read_elu(struct caffe *c);
int caffe_read_unary(struct caffe *c);
int caffe_read_power(struct caffe *c);
int caffe_read_exp(struct caffe *c);
int caffe_read_log(struct caffe *c);
int caffe_read_softmax(struct caffe *c);
int caffe_read_argmax(struct caffe *c);
int caffe_read_reduction(struct caffe *c);

/* ---- caffe_shape.c ---- */

int caffe_read_input(struct caffe *c);
int caffe_read_memory_data(struct caffe *c);
int caffe_read_same(struct caffe *c);
int caffe_read_silence(struct caffe *c);
int caffe_read_concat(struct caffe *c);
int caffe_read_slice(struct caffe *c);
int caffe_read_flatten(struct caffe *c);
int caffe_read_reshape(struct caffe *c);
int caffe_read_permute(struct caffe *c);
int caffe_read_crop(struct caffe *c);
int caffe_read_tile(struct caffe *c);
int caffe_read_interp(struct caffe *c);
int caffe_read_upsample(struct caffe *c);
int caffe_read_shuffle(struct caffe *c);
int caffe_read_data(struct caffe *c);
int caffe_read_training(struct caffe *c);
/* One more input of the model by a network's own list or by a layer. */
int caffe_add_input(struct caffe *c, const char *name, const s64 *dim, size_t rank);

/* ---- caffe.c ---- */

/* A blob by name, or NULL. */
struct caffe_blob *caffe_find_blob(struct caffe *c, const char *name);
/* What blob @name holds from now on. */
void caffe_set_blob(struct caffe *c, const char *name, const struct caffe_value *value,
		    bool is_input);

struct caffe_file {
	const char *name; /* for messages */
	const void *data;
	size_t bytes;
};

/**
 * caffe_import_pair() - a network and its weights
 * @net: the prototxt
 * @weights: the caffemodel; without data: there is none
 *
 * Return: as npu_import_caffe().
 */
int caffe_import_pair(const struct caffe_file *net, const struct caffe_file *weights,
		      const struct npu_import_options *options, struct npu_graph **graph,
		      struct npu_diag *diag);

#endif /* NPU_CAFFE_H */
