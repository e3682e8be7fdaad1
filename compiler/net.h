/* SPDX-License-Identifier: MIT */
/*
 * IR2: the optimised graph.  Layers that an NPU pass can do (conv with its fused
 * arithmetic, element-wise SDP, pooling PDP, tables CDP) and steps for the CPU, over values
 * that have a place in memory.  Nothing here depends on a budget: two plans of
 * one network compute the same bytes.
 */
#ifndef NPU_NET_H
#define NPU_NET_H

#include "arena.h"
#include "diag.h"
#include "graph.h"
#include "nvdla_config.h"

/* Memory regions of a chain (uapi/nvdla_chain.h): what submit binds buffers to. */
enum npu_region {
	NPU_REGION_WEIGHTS, /* packed weights and operand tables; only read */
	NPU_REGION_ARENA, /* activations */
	NPU_REGION_COUNT
};

enum npu_layout {
	NPU_FEATURE, /* surfaces of atom channels: hardware.md, Layouts; INT8 */
	NPU_LINEAR, /* NHWC as the model has it; CPU steps only */
	/*
	 * Lines of pixels, one plane after the other: CDMA's pixel input; UINT8.  Where a pixel has four
	 * bytes the tensor's may have three.
	 */
	NPU_PIXELS,
};

/**
 * struct npu_value - an activation between layers
 * @tensor: its tensor in IR1 (of several that share it by reshape: the first); NPU_NONE where
 *          fusion or lowering made it
 * @h, @w, @c: shape; rank 2 tensors are 1 x 1 x c.  Reshapes are dropped, so the shape may differ
 *             from a tensor's, but the elements in (h, w, c) order are the tensor's in order
 * @dtype: as stored.  NPU_FEATURE is always INT8: of a UINT8 tensor it stores element - 128;
 *         NPU_LINEAR stores what the tensor has
 * @scale, @zero: real = scale * (stored - zero)
 * @line_stride, @surface_stride: bytes, not of NPU_LINEAR.  NPU_PIXELS: lines of both planes are
 *         equally far apart, @surface_stride is from one plane to the next
 * @pixel_bytes: NPU_PIXELS: of a pixel in the first plane, the rest of @c in the second one
 * @bytes: its extent
 * @alias: another value whose memory this one is a part of (concat without copy); NPU_NONE
 * @alias_offset: bytes into @alias
 * @viewed: others alias it with its strides; while a network is being made
 */
struct npu_value {
	const char *name;
	u32 tensor;
	u32 h, w, c;
	enum npu_dtype dtype;
	enum npu_layout layout;
	float scale;
	s32 zero;
	u32 line_stride;
	u32 surface_stride;
	u32 pixel_bytes;
	u64 bytes;
	u32 alias;
	u64 alias_offset;
	bool viewed;
};

/* Where an SDP stage takes its operand from. */
enum npu_operand {
	NPU_OPERAND_NONE,
	NPU_OPERAND_REGISTER, /* one value for all */
	NPU_OPERAND_KERNEL, /* a table in NPU_REGION_WEIGHTS, one entry for each output channel */
	NPU_OPERAND_ELEMENT, /* a value of the network, one entry for each element (INT8) */
	NPU_OPERAND_CHANNEL, /* a value of the network of 1 x 1 pixels: one entry for each channel */
};

enum npu_alu { NPU_ALU_MAX, NPU_ALU_MIN, NPU_ALU_SUM }; /* as SDP encodes it */

/**
 * struct npu_sdp_stage - BS or BN of SDP: ALU, multiplier, ReLU, in this order
 * @bypass: the stage is off; nothing else counts then
 * @alu_from, @alu_op, @alu_value, @alu_shift: operand << shift, combined by op
 * @mul_from, @mul_value, @mul_shift: product >> shift, half away from zero
 * @prelu: multiplier and shift leave out what is not negative
 * @relu: negative results become zero
 * @table: byte offset in NPU_REGION_WEIGHTS of the per-kernel operands, 16 bit; ALU and
 *         MUL both from there: interleaved
 * @value: the value that NPU_OPERAND_ELEMENT or NPU_OPERAND_CHANNEL reads
 */
struct npu_sdp_stage {
	bool bypass;
	enum npu_operand alu_from;
	enum npu_alu alu_op;
	s32 alu_value;
	u32 alu_shift;
	enum npu_operand mul_from;
	s32 mul_value;
	u32 mul_shift;
	bool prelu;
	bool relu;
	u64 table;
	u32 value;
};

/**
 * struct npu_sdp_ew - EW of SDP, where the configuration has one: its multiplier
 * @mul_from: nothing, or a value of the network by element or by channel
 * @mul_zero: is taken from each of its entries first
 * @value: that value
 */
struct npu_sdp_ew {
	enum npu_operand mul_from;
	s32 mul_zero;
	u32 value;
};

/* All of SDP: stages, then (x - cvt_offset) * cvt_scale >> cvt_shift to INT8. */
struct npu_sdp {
	struct npu_sdp_stage bs, bn;
	struct npu_sdp_ew ew;
	s32 cvt_offset;
	s32 cvt_scale;
	u32 cvt_shift;
};

enum npu_pool_kind { NPU_POOL_AVERAGE, NPU_POOL_MAX, NPU_POOL_MIN }; /* as PDP encodes it */

struct npu_pool {
	enum npu_pool_kind kind;
	struct npu_window window;
	s32 pad_value; /* average: what padding counts as */
};

/* What the tables of CDP hold: LE, then LO. */
#define NPU_CDP_LE_ENTRIES 65u
#define NPU_CDP_LO_ENTRIES 257u
#define NPU_CDP_ENTRIES (NPU_CDP_LE_ENTRIES + NPU_CDP_LO_ENTRIES)

/* What its registers hold: steps of the tables, and the output conversion. */
#define NPU_CDP_MAX_SHIFT 20u
#define NPU_CDP_MAX_OFFSET (1 << 24) /* in both directions */
#define NPU_CDP_MAX_CVT_SHIFT 41u

/**
 * struct npu_cdp - a function of each element, or of the squares around it, by CDP's tables
 * @sum: 0: the table is asked for x, and its answer is the result; else how many channels' squares
 *       are added up, x in the middle: the table is asked for that sum, and its answer times x is
 *       the result
 * @zero: is taken from each element first, which gives x
 * @lut: byte offset in NPU_REGION_WEIGHTS of NPU_CDP_ENTRIES entries, 16 bit
 * @start: what the first entries of both tables are for, and what lies below
 * @le_shift, @lo_shift: entries are 1 << shift apart, with straight lines between them.  LE answers
 *       as far as it reaches, then LO
 * @cvt_offset, @cvt_scale, @cvt_shift: (result - offset) * scale >> shift to INT8
 */
struct npu_cdp {
	u32 sum;
	s32 zero;
	u64 lut;
	s32 start;
	u32 le_shift, lo_shift;
	s32 cvt_offset;
	s32 cvt_scale;
	u32 cvt_shift;
};

/**
 * struct npu_pixel_load - how CDMA reads an image: (byte - mean) * scale >> shift, to INT8
 * @used: the layer reads pixels
 * @format: number of the pixel format
 * @mean: by channel
 */
struct npu_pixel_load {
	bool used;
	u32 format;
	s32 mean[NPU_MAX_PIXEL_CHANNELS];
	s32 scale;
	u32 shift;
};

enum npu_layer_kind {
	NPU_LAYER_CONV, /* CDMA..CACC, SDP, and PDP on the fly where the plan says so */
	NPU_LAYER_SDP, /* SDP from memory */
	NPU_LAYER_PDP, /* PDP from memory */
	NPU_LAYER_CDP, /* CDP from memory */
	NPU_LAYER_CPU, /* a step of libnpu */
};

#define NPU_LAYER_KINDS (NPU_LAYER_CPU + 1)

extern const char *const npu_layer_kind_names[NPU_LAYER_KINDS];

/**
 * struct npu_layer - one layer of the network
 * @kind: which pass
 * @op: the operator in IR1 that the user knows it by (of a fused group: the convolution)
 * @last_op: the last operator of a fused group
 * @group, @group_count: the operators of IR1 of which this layer completes the output, in order,
 *                       folded padding included; a layer whose output another one clamps, patches
 *                       or moves on has none.  The group's inputs are the tensors that its
 *                       operators read and do not compute
 * @name: for reports and errors
 * @input: value read; CPU steps: see @op's tensors
 * @output: value written.  Conv with @has_pool: of the pooling
 * @window: conv geometry
 * @c, @k: conv: channels and kernels of one block
 * @blocks: conv: 1, or the number of independent channel blocks (depthwise, grouped): block i
 *          reads channels [i*block_stride_c, +c) and writes [i*k, +k)
 * @block_stride_c: channels between the inputs of two blocks
 * @repeat_surface: conv: the input's only surface is read twice (SURF_STRIDE 0), c counts both
 * @weights: byte offset in NPU_REGION_WEIGHTS of block 0's packed weights
 * @weight_bytes: of one block, unrounded: c*k*r*s
 * @weight_stride: bytes from one block's weights to the next
 * @pad_value: conv: what padding counts as (the input's zero point)
 * @pixels: conv: what is read are pixels, with kernel columns folded into channels when packed
 * @sdp: the arithmetic behind conv, or of the SDP layer
 * @has_pool: conv: a pooling follows that may run on the fly; @pool says which, @unpooled is the
 *            value between the two where the plan keeps them apart
 * @pool: of has_pool and NPU_LAYER_PDP
 * @cdp: of NPU_LAYER_CDP
 * @patch, @patch_count: CPU: only these output channels of @op (a convolution with its
 *                       activation) are computed and written into the lanes of @output, whose other
 *                       lanes stay as the NPU left them; 0: the whole operator
 */
struct npu_layer {
	enum npu_layer_kind kind;
	u32 op;
	u32 last_op;
	u32 *group;
	u32 group_count;
	const char *name;
	u32 input;
	u32 output;
	struct npu_window window;
	u32 c, k;
	u32 blocks;
	u32 block_stride_c;
	bool repeat_surface;
	u64 weights;
	u64 weight_bytes;
	u64 weight_stride;
	s32 pad_value;
	struct npu_pixel_load pixels;
	struct npu_sdp sdp;
	bool has_pool;
	u32 unpooled;
	struct npu_pool pool;
	struct npu_cdp cdp;
	u32 *patch;
	u32 patch_count;
	const char *cpu_reason; /* CPU: why the NPU cannot do it */
};

/**
 * struct npu_net - a network for one hardware configuration, ready to be planned
 * @graph: IR1; CPU steps take their operators and constants from there
 * @tensor_value: for each tensor of @graph the value that holds its elements; NPU_NONE for
 *                constants and for tensors that fusion made disappear.  Inputs and outputs of CPU
 *                steps are found by it
 * @input, @output: values of the graph's inputs and outputs, in the graph's order
 * @weights: contents of NPU_REGION_WEIGHTS
 * @weights_memory: what npu_net_free() frees of it; NULL where a mapped file holds the weights
 */
struct npu_net {
	struct npu_arena arena;
	const struct nvdla_config *config;
	struct npu_graph *graph;
	struct npu_value *value;
	u32 value_count;
	struct npu_layer *layer; /* in execution order */
	u32 layer_count;
	u32 *tensor_value;
	u32 *input;
	u32 input_count;
	u32 *output;
	u32 output_count;
	const u8 *weights;
	u64 weights_bytes;
	void *weights_memory;
};

/* Checks every invariant that planner and emitter rely on; 0 or -EINVAL with the message in @diag. */
int npu_net_verify(const struct npu_net *net, struct npu_diag *diag);

void npu_net_dump(const struct npu_net *net, enum npu_dump_format format, FILE *out);
void npu_net_free(struct npu_net *net);

#define NPU_LAYER_MAX_VALUES (NPU_MAX_INPUTS + 3)

/**
 * npu_layer_reads() - the values that a layer reads
 * @values: receives up to NPU_LAYER_MAX_VALUES indices, each once.  A patch reads its output too.
 *
 * Return: how many.
 */
u32 npu_layer_reads(const struct npu_net *net, const struct npu_layer *layer,
		    u32 values[NPU_LAYER_MAX_VALUES]);

/* The values that a layer writes, likewise; with @unpooled where there is one. */
u32 npu_layer_writes(const struct npu_net *net, const struct npu_layer *layer,
		     u32 values[NPU_LAYER_MAX_VALUES]);

/* Does the layer use EW at all? */
static inline bool npu_sdp_uses_ew(const struct npu_sdp *sdp)
{
	return sdp->ew.mul_from != NPU_OPERAND_NONE;
}

/* Strides and extent of a feature cube of that shape. */
void npu_value_set_feature(struct npu_value *value, const struct nvdla_config *config, u32 h, u32 w,
			   u32 c);

/* Strides and extent of an image with @c bytes a pixel, @pixel_bytes of them in the first plane. */
void npu_value_set_pixels(struct npu_value *value, const struct nvdla_config *config, u32 h, u32 w,
			  u32 c, u32 pixel_bytes);

/* Do lines of a feature stay clear of each other: inside of surfaces, or surfaces inside of lines? */
bool npu_value_lines_apart(const struct nvdla_config *config, const struct npu_value *value);

/* Planes of pixels, surfaces of features: what lies one @surface_stride apart. */
u32 npu_value_surfaces(const struct nvdla_config *config, const struct npu_value *value);

/**
 * npu_optimise() - IR1 to IR2: fusion, lowering, quantised arithmetic, weight packing
 * @graph: owned by the net afterwards
 *
 * Return: 0, -ENOTSUP naming the operator, -ENOMEM.
 */
int npu_optimise(struct npu_graph *graph, const struct nvdla_config *config, struct npu_net **net,
		 struct npu_diag *diag);

/**
 * npu_net_from_tsv() - a topology without weights: a list of layers as text, for planning alone
 * @data, @bytes: header line and one line for each layer, columns separated by tabs
 *
 * Return: 0, -EINVAL naming file, line and column, -ENOMEM.
 */
int npu_net_from_tsv(const void *data, size_t bytes, const char *file,
		     const struct nvdla_config *config, struct npu_net **net,
		     struct npu_diag *diag);

#endif /* NPU_NET_H */
