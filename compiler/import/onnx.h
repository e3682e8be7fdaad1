/* SPDX-License-Identifier: MIT */
/*
 * Inside of the ONNX importer.
 *
 * ONNX orders images as N, C, H, W; the graph as N, H, W, C.  A value of the model is
 * therefore known by up to two tensors of the graph, one for each order; whoever needs
 * the one that is not there yet gets a transpose (constants are transposed at once).
 *
 * What DequantizeLinear computes is no tensor at first but a view of a quantised value:
 * an operator between such views and QuantizeLinear becomes one quantised operator.
 * 8-bit values are INT8 inside: UINT8 is the same moved by 128.
 */
#ifndef NPU_ONNX_H
#define NPU_ONNX_H

#include "graph.h"

#include "onnx.pb-c.h"

enum onnx_layout { ONNX_PLAIN, ONNX_IMAGE, ONNX_LAYOUT_COUNT };

/* Split has the most. */
#define ONNX_MAX_OUTPUTS 64

struct onnx_reader {
	struct onnx_reader *next;
	u32 node;
};

/**
 * struct onnx_value - a named value of the model
 * @known: computed, an input or constant; else nothing below holds but @name and the readers
 * @empty: a constant without elements; an operator takes it as a missing input
 * @dtype: the model's type; float16 and float64 are float32 from the start
 * @rank, @dim: in ONNX's order
 * @tensor: of the graph, by layout; NPU_NONE where there is none yet
 * @quantised: what this is the dequantised view of, or NULL
 * @readers, @reader_count: nodes that read it, once for each input
 * @is_output: of the model
 * @aliased: another value has the same tensors
 * @dynamic: the model quantises it while it runs; here it is of float32 (onnx_dynamic.c)
 */
struct onnx_value {
	struct onnx_value *next; /* with the same hash */
	const char *name;
	bool known, empty, is_output, aliased, dynamic;
	enum npu_dtype dtype;
	u32 rank;
	u32 dim[NPU_MAX_RANK];
	u32 tensor[ONNX_LAYOUT_COUNT];
	struct onnx_value *quantised;
	struct onnx_reader *readers;
	u32 reader_count;
};

/* How the scales of a quantised operator's result come about. */
enum onnx_quant_rule {
	ONNX_FLOAT_ONLY, /* there is no quantised form */
	ONNX_ANY_QUANT, /* what QuantizeLinear says */
	ONNX_KEEPS_QUANT, /* the input's; then requantised where QuantizeLinear says something else */
	ONNX_SHARED_QUANT, /* what QuantizeLinear says; operands are requantised to that first */
	ONNX_UNIT_QUANT, /* results from 0 to 1 in steps of 1/256; then requantised */
};

struct onnx;

/**
 * struct onnx_row - how an operator is read
 * @name, @domain: "" is ONNX's own domain
 * @min_inputs: less is an error
 * @values: mask of inputs that carry values; the others are parameters, which have to be constant
 * @kind, @activation: what it becomes
 * @read: adds it to the graph
 */
struct onnx_row {
	const char *name, *domain;
	u8 min_inputs;
	u32 values;
	enum onnx_quant_rule rule;
	enum npu_op_kind kind;
	enum npu_activation activation;
	int (*read)(struct onnx *o);
};

/**
 * struct onnx - the state of one import
 * @folder: where external data lies; "" where the model is not a file
 * @shapes: what was given for inputs, or NULL
 * @is_made: the model was made of another framework's; its nodes' doc_string says of what
 * @bucket, @bucket_count: the table of values by name
 * @done: for each node: it is part of another one
 * @expanded: bytes of constants that the file describes but does not contain
 * @index, @node, @row: the node at work
 * @in, @in_count: its inputs; NULL where an optional one is missing
 * @out, @out_count: the values that its results define: of a quantised operator those of QuantizeLinear
 * @quantised: inputs are read and results are written as INT8
 * @out_quant, @out_dtype: then: of the result; its type in the model, INT8 or UINT8
 * @raw: the tensor that has to be requantised for result 0, or NPU_NONE
 * @activation: fused behind the operator
 */
struct onnx {
	struct npu_graph *graph;
	struct npu_diag *diag;
	const Onnx__ModelProto *model;
	const Onnx__GraphProto *source;
	const char *folder;
	const char *shapes;
	bool is_made;
	s64 opset;
	struct onnx_value **bucket;
	u32 bucket_count;
	bool *done;
	u64 expanded;

	u32 index;
	const Onnx__NodeProto *node;
	const struct onnx_row *row;
	struct onnx_value *in[NPU_MAX_INPUTS];
	u32 in_count;
	struct onnx_value *out[ONNX_MAX_OUTPUTS];
	u32 out_count;
	bool quantised;
	struct npu_quant out_quant;
	enum npu_dtype out_dtype;
	u32 raw;
	enum npu_activation activation;
};

/**
 * onnx_read_made() - reads a model that was made in memory
 * @graph: receives it, and is verified; the model has to live in its arena
 *
 * Return: as npu_import_onnx(); out of memory without a message.
 */
int onnx_read_made(struct npu_graph *graph, const Onnx__ModelProto *model, struct npu_diag *diag);

/* An error about the node at work; returns @error. */
int onnx_fail(struct onnx *o, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- onnx_wire.c ---- */

/* Whether messages in @data are nested no deeper than real models need; the decoder is recursive. */
bool onnx_nesting_is_sane(const ProtobufCMessageDescriptor *descriptor, const u8 *data,
			  size_t bytes);

/* ---- onnx_table.c ---- */

const struct onnx_row *onnx_find_row(const Onnx__NodeProto *node);

/* ---- onnx_attribute.c ---- */

const Onnx__AttributeProto *onnx_attribute(const struct onnx *o, const char *name);
s64 onnx_int(const struct onnx *o, const char *name, s64 other);
float onnx_float(const struct onnx *o, const char *name, float other);
bool onnx_text_is(const struct onnx *o, const char *name, const char *text, bool other);
/* A list of at most @limit; *@count is 0 where it is missing. */
int onnx_ints(struct onnx *o, const char *name, s64 *values, u32 limit, u32 *count);
/* As onnx_ints(); an attribute in old opsets, input @input in new ones. */
int onnx_parameter(struct onnx *o, const char *name, u32 input, s64 *values, u32 limit, u32 *count);
/* An axis that may count from the end. */
int onnx_axis(struct onnx *o, s64 axis, u32 rank, u32 *result);

/* ---- onnx_value.c ---- */

int onnx_value_find(struct onnx *o, const char *name, struct onnx_value **value);
void onnx_value_shape(struct onnx_value *value, enum npu_dtype dtype, u32 rank, const u32 *dim);
const struct npu_tensor *onnx_tensor(const struct onnx *o, u32 index);
/* The contents of a constant in ONNX's order, or NULL. */
const struct npu_tensor *onnx_constant(const struct onnx *o, const struct onnx_value *value);
/* The integers of a constant. */
int onnx_integers(struct onnx *o, u32 input, s64 *values, u32 limit, u32 *count);
/* The value in a layout: as it is, permuted or dequantised. */
int onnx_want(struct onnx *o, struct onnx_value *value, enum onnx_layout layout, u32 *tensor);
/* Input @i as the operator at work reads it (see @quantised). */
int onnx_operand(struct onnx *o, u32 i, enum onnx_layout layout, u32 *tensor);
/*
 * The same for operators that take a line of rank 3 as well: as ONNX_IMAGE it has height 1.
 */
int onnx_line_operand(struct onnx *o, u32 i, enum onnx_layout layout, u32 *tensor);
/* The layout in which the operands are there already; ONNX_PLAIN for all but rank 4. */
enum onnx_layout onnx_layout_of(const struct onnx *o);
/* The same for operators that take lines as images. */
enum onnx_layout onnx_line_layout(const struct onnx *o);
/* Operand @i, which is broadcast to @rank dimensions. */
int onnx_broadcast(struct onnx *o, u32 i, enum onnx_layout layout, u32 rank, u32 *tensor);
/* A tensor with permuted dimensions; constants are copied. */
int onnx_permute(struct onnx *o, u32 from, const u32 *order, u32 *to);
int onnx_reshape(struct onnx *o, u32 from, u32 rank, const u32 *dim, u32 *to);
/* @tensor from @begin on, of @dim elements; in the graph's order of dimensions. */
int onnx_crop(struct onnx *o, u32 *tensor, const u32 *begin, const u32 *dim);
/* A tensor for result @i with a shape in ONNX's order. */
int onnx_result(struct onnx *o, u32 i, enum onnx_layout layout, u32 rank, const u32 *dim,
		u32 *tensor);
int onnx_add_tensor(struct onnx *o, const char *name, enum npu_dtype dtype, u32 rank,
		    const u32 *dim, u32 *tensor);
/* A constant of which the caller fills the data. */
int onnx_add_constant(struct onnx *o, const char *name, enum npu_dtype dtype, u32 rank,
		      const u32 *dim, u32 *tensor, void **data);
/* Makes result 0 a constant. */
int onnx_define_constant(struct onnx *o, enum npu_dtype dtype, u32 rank, const u32 *dim,
			 void **data);
struct npu_op *onnx_add_op(struct onnx *o, enum npu_op_kind kind, const u32 *inputs, u32 count,
			   u32 output);
extern const u32 onnx_to_image[4], onnx_to_plain[4];

/* Where dimension @axis of ONNX's order lies in a layout. */
static inline u32 onnx_graph_axis(enum onnx_layout layout, u32 axis)
{
	return layout == ONNX_IMAGE ? onnx_to_plain[axis] : axis;
}

/* ---- onnx_resize.c ---- */

int onnx_read_resize(struct onnx *o);
/* Has the node at work no integer operator, but one of real numbers? */
bool onnx_resize_needs_reals(struct onnx *o);

/* ---- onnx_compute.c ---- */

/* Computes the node at work where it only reads constants, and tells whether it did. */
int onnx_compute(struct onnx *o, bool *computed);
/* Of operators that are supported in no other form. */
int onnx_read_computed(struct onnx *o);
int onnx_read_size(struct onnx *o);

/* ---- onnx_tensor.c ---- */

int onnx_read_tensor(struct onnx *o, const Onnx__TensorProto *proto, struct onnx_value *value);
/* The graph's type of TensorProto.DataType; -1: not supported. */
int onnx_dtype(s32 type);
extern u64 onnx_max_expanded;
/* Room for @bytes that the file does not contain: constants, unrolled operators. */
int onnx_expand(struct onnx *o, u64 bytes);

/* ---- onnx_quant.c ---- */

/* Decides whether the node at work is quantised, and takes what surrounds it into it. */
int onnx_find_quantised(struct onnx *o);
/* Behind the operator: what ONNX_KEEPS_QUANT and ONNX_UNIT_QUANT need. */
int onnx_requantise_result(struct onnx *o);
/* @from with another scale and zero point; @from itself where they are the same. */
int onnx_requantise(struct onnx *o, u32 from, const struct npu_quant *quant, u32 *to);
/* A computed tensor as INT8 instead of UINT8, or the other way round: the zero point moves by 128. */
int onnx_flip_sign(struct onnx *o, u32 from, u32 *to);
int onnx_read_quantize(struct onnx *o);
int onnx_read_dequantize(struct onnx *o);
int onnx_read_qlinear_conv(struct onnx *o);
int onnx_read_qlinear_matmul(struct onnx *o);
int onnx_read_qlinear_binary(struct onnx *o);
int onnx_read_qlinear_unary(struct onnx *o);
int onnx_read_qlinear_concat(struct onnx *o);
int onnx_read_qgemm(struct onnx *o);

/* ---- onnx_dynamic.c ---- */

int onnx_read_dynamic_quantize(struct onnx *o);
int onnx_read_conv_integer(struct onnx *o);
int onnx_read_matmul_integer(struct onnx *o);
int onnx_read_matmul_integer_to_float(struct onnx *o);
int onnx_read_dynamic_matmul(struct onnx *o);

/* ---- onnx_conv.c ---- */

int onnx_read_conv(struct onnx *o);
int onnx_read_conv_transpose(struct onnx *o);
int onnx_read_gemm(struct onnx *o);
int onnx_read_matmul(struct onnx *o);
/* The same with a bias as third input, as no operator of ONNX has it. */
int onnx_read_biased_matmul(struct onnx *o);
int onnx_read_batch_norm(struct onnx *o);
/* Multiplies and adds for each channel by the operator that computes @value, if that can do it. */
bool onnx_fold_scale(struct onnx *o, const struct onnx_value *value, const float *mul,
		     const float *add, u32 count, bool *folded);

/* ---- onnx_flatten.c ---- */

/*
 * Where all of inputs[0] are the flattened elements of a transposed tensor: that tensor before it was
 * transposed, and input 1 of the node as constant weights [K][C] in its order.
 */
int onnx_flattened_product(struct onnx *o, bool weights_are_kc, u32 inputs[2], bool *found);
/* Takes operators out of the graph whose results nobody reads. */
int onnx_drop_unread(struct onnx *o);

/* ---- onnx_pool.c ---- */

/*
 * Attribute @name of exactly @want values, each @other where it is missing; of a line half of them,
 * and @least for its height.
 */
int onnx_pair(struct onnx *o, const char *name, s64 least, s64 *values, u32 want, s64 other);
/* Dimensions of an image in ONNX's order; a line has height 1. */
void onnx_image_dims(const struct onnx_value *value, u32 dim[4]);
/* As onnx_result() for result 0 of these dimensions: a line where input 0 is one. */
int onnx_image_result(struct onnx *o, const u32 dim[4], u32 *out);
int onnx_read_pool(struct onnx *o);
int onnx_read_global_pool(struct onnx *o);
/*
 * Strides, dilations and padding of convolutions and pooling over @image, which loses what padding of less
 * than nothing leaves out; needs w->r and w->s.
 */
int onnx_read_window(struct onnx *o, u32 *image, struct npu_window *window, u32 *out_h, u32 *out_w);

/* ---- onnx_math.c ---- */

int onnx_read_binary(struct onnx *o);
int onnx_read_unary(struct onnx *o);
int onnx_read_relu(struct onnx *o);
int onnx_read_clip(struct onnx *o);
int onnx_read_leaky_relu(struct onnx *o);
/* An operator of one input in the layout that is there; NULL and *@error. */
struct npu_op *onnx_add_unary(struct onnx *o, enum npu_op_kind kind, int *error);
int onnx_read_softmax(struct onnx *o);
int onnx_read_lrn(struct onnx *o);

/* ---- onnx_function.c ---- */

int onnx_add_function(struct onnx *o, enum npu_function function, float alpha, float beta,
		      float gamma, u32 in, u32 out);
int onnx_read_function(struct onnx *o);
int onnx_read_celu(struct onnx *o);
int onnx_read_gelu(struct onnx *o);
int onnx_read_pow(struct onnx *o);

/* ---- onnx_matmul.c ---- */

int onnx_general_matmul(struct onnx *o);
int onnx_general_gemm(struct onnx *o, float alpha, float beta);
/* @product + input 2 * @beta, which is the result @out. */
int onnx_add_gemm_sum(struct onnx *o, float beta, u32 product, u32 out);

/* ---- onnx_norm.c ---- */

int onnx_read_instance_norm(struct onnx *o);
int onnx_read_layer_norm(struct onnx *o);
int onnx_read_group_norm(struct onnx *o);
int onnx_read_lp_norm(struct onnx *o);
int onnx_read_variadic(struct onnx *o);

/* ---- onnx_scatter.c ---- */

int onnx_read_scatter_elements(struct onnx *o);
int onnx_read_scatter_nd(struct onnx *o);

/* ---- onnx_recurrent.c ---- */

int onnx_read_recurrent(struct onnx *o);

/* ---- onnx_reduce.c ---- */

int onnx_read_reduce(struct onnx *o);
int onnx_read_arg(struct onnx *o);
int onnx_read_log_softmax(struct onnx *o);

/* ---- onnx_rearrange.c ---- */

/* Padding in front of each dimension, then behind each. */
int onnx_read_pads(struct onnx *o, s64 pads[2 * NPU_MAX_RANK]);
/* Padding with what is inside. */
int onnx_pad_edges(struct onnx *o, const s64 *pads);
int onnx_read_top_k(struct onnx *o);
int onnx_read_gather(struct onnx *o);
int onnx_read_gather_elements(struct onnx *o);
int onnx_read_gather_nd(struct onnx *o);
int onnx_read_tile(struct onnx *o);
struct npu_selection;
/* Selections of operand 0 in ONNX's order of dimensions become operators in a layout. */
int onnx_add_selections(struct onnx *o, enum onnx_layout layout,
			const struct npu_selection *selection);
int onnx_read_expand(struct onnx *o);
int onnx_read_depth_to_space(struct onnx *o);
int onnx_read_space_to_depth(struct onnx *o);

/* ---- onnx_shape.c ---- */

int onnx_read_reshape(struct onnx *o);
int onnx_read_flatten(struct onnx *o);
int onnx_read_squeeze(struct onnx *o);
int onnx_read_unsqueeze(struct onnx *o);
int onnx_read_identity(struct onnx *o);
int onnx_read_dropout(struct onnx *o);
int onnx_read_transpose(struct onnx *o);
int onnx_read_concat(struct onnx *o);
int onnx_read_slice(struct onnx *o);
int onnx_read_split(struct onnx *o);
int onnx_read_shape(struct onnx *o);
int onnx_read_constant(struct onnx *o);
int onnx_read_constant_of_shape(struct onnx *o);
int onnx_read_pad(struct onnx *o);
int onnx_read_cast(struct onnx *o);
int onnx_gather_integers(struct onnx *o);

#endif /* NPU_ONNX_H */
