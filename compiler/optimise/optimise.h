/* SPDX-License-Identifier: MIT */
/*
 * What the passes of the optimiser share: the state between IR1 and IR2.
 * IR1 itself is never changed, so that the reference can always be asked about it.
 *
 * The order of passes is in optimise.c.
 */
#ifndef NPU_OPTIMISE_H
#define NPU_OPTIMISE_H

#include "../net.h"

#include "support.h"

/* Largest windows and strides that registers of the units can express. */
#define NPU_CONV_MAX_KERNEL 32u
#define NPU_CONV_MAX_STRIDE 8u
#define NPU_CONV_MAX_DILATION 32u
#define NPU_CONV_MAX_PAD 31u
#define NPU_CONV_MAX_KERNEL_BYTES (1u << 18)
#define NPU_PDP_MAX_KERNEL 8u
#define NPU_PDP_MAX_STRIDE 16u
#define NPU_MAX_EXTENT 8192u /* width, height and channels of a cube: 13 bits, minus one */

/**
 * struct npu_opt_tensor - what is known about a tensor of IR1
 * @producer: operator that computes it; NPU_NONE: input or constant
 * @consumers: operators that read it, each counted once
 * @consumer: the last of these
 * @is_output: of the graph
 * @root: the first of the tensors that hold the same elements in the same order
 * @value: of a root: its value in IR2
 */
struct npu_opt_tensor {
	u32 producer;
	u32 consumers;
	u32 consumer;
	bool is_output;
	u32 root;
	u32 value;
};

/**
 * struct npu_opt_op - what is decided about an operator of IR1
 * @cpu_reason: NULL: the NPU does it
 * @done: needs no layer of its own any more
 * @identity: its output is its input (reshape and the like)
 * @pad: operator NPU_OP_PAD in front that is folded in; NPU_NONE: none
 * @add: operator NPU_OP_ADD behind that may be fused; NPU_NONE: none
 * @pool: operator NPU_OP_MAX_POOL behind that may be fused; NPU_NONE: none
 * @pixels: convolution: operator NPU_OP_PIXELS in front, whose image it reads; NPU_NONE: none
 */
struct npu_opt_op {
	const char *cpu_reason;
	bool done;
	bool identity;
	u32 pad;
	u32 add;
	u32 pool;
	u32 pixels;
};

struct npu_choice;

/**
 * struct npu_opt - a graph on its way into a net
 * @choice: [operators]: what goes to the CPU because it is cheaper there; NULL: not known yet
 * @weights: grow; become the net's
 */
struct npu_opt {
	struct npu_graph *graph;
	const struct npu_choice *choice;
	const struct nvdla_config *config;
	struct npu_net *net;
	struct npu_diag *diag;
	struct npu_opt_tensor *tensor;
	struct npu_opt_op *op;
	u32 layer_capacity;
	u32 value_capacity;
	u8 *weights;
	u64 weights_bytes;
	u64 weights_capacity;
};

int npu_pass_analyse(struct npu_opt *opt);
int npu_pass_support(struct npu_opt *opt);
int npu_pass_fold_reshape(struct npu_opt *opt);
int npu_pass_fold_pad(struct npu_opt *opt);
int npu_pass_fuse_pixels(struct npu_opt *opt);
int npu_pass_fuse_residual(struct npu_opt *opt);
int npu_pass_fuse_pool(struct npu_opt *opt);
int npu_pass_place(struct npu_opt *opt);
int npu_pass_lower(struct npu_opt *opt);
int npu_pass_finish(struct npu_opt *opt);

/*
 * Lowering of one operator into layers appended to the net; 0 or a negative errno.  With nothing
 * appended and no message: the CPU has to do it; -ERANGE: no operands of SDP come close enough,
 * -EDOM: no tables of CDP do,
 * -E2BIG: it fits the configuration's whole buffer in no way.
 */
int npu_lower_conv(struct npu_opt *opt, u32 op);
int npu_lower_average(struct npu_opt *opt, u32 op);
int npu_lower_max_pool(struct npu_opt *opt, u32 op);
int npu_lower_reduce(struct npu_opt *opt, u32 op);
int npu_lower_add(struct npu_opt *opt, u32 op);
int npu_lower_min_max(struct npu_opt *opt, u32 op);
int npu_lower_requantise(struct npu_opt *opt, u32 op);
int npu_lower_affine(struct npu_opt *opt, u32 op);
int npu_lower_slope(struct npu_opt *opt, u32 op);
int npu_lower_mul(struct npu_opt *opt, u32 op);
int npu_lower_table(struct npu_opt *opt, u32 op);
int npu_lower_lrn(struct npu_opt *opt, u32 op);
int npu_lower_transpose_conv(struct npu_opt *opt, u32 op);
int npu_lower_slice(struct npu_opt *opt, u32 op);
int npu_lower_resize_nearest(struct npu_opt *opt, u32 op);
int npu_lower_pad(struct npu_opt *opt, u32 op);
int npu_lower_resize_bilinear(struct npu_opt *opt, u32 op);
int npu_lower_concat(struct npu_opt *opt, u32 op);
int npu_lower_cpu(struct npu_opt *opt, u32 op);

/* Why the NPU cannot do it, beyond what all operators need; NULL: it can. */
const char *npu_check_phases(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_average_pool(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_max_pool(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_reduce(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_mean(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_concat(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_slice(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_resize_nearest(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_pad(const struct npu_opt *opt, const struct npu_op *op);
const char *npu_check_resize_bilinear(const struct npu_opt *opt, const struct npu_op *op);

/* A layer for @op with nothing fused, appended; NULL when out of memory. */
struct npu_layer *npu_opt_add_layer(struct npu_opt *opt, enum npu_layer_kind kind, u32 op);

/* An empty value; NPU_NONE when out of memory. */
u32 npu_opt_add_value(struct npu_opt *opt);

/* A feature value without a tensor, of the shape and quantisation of value @like; NPU_NONE when out of memory. */
u32 npu_opt_add_value_like(struct npu_opt *opt, u32 like, const char *name);

/* Room for @bytes at a multiple of @align in the weight region, zeroed; NULL when out of memory. */
u8 *npu_opt_add_weights(struct npu_opt *opt, u64 bytes, u32 align, u64 *offset);

/* Clamps the INT8 value @value to [low, high] by another pass of SDP, in place of @layer's output. */
int npu_opt_clamp_after(struct npu_opt *opt, u32 layer, s32 low, s32 high);

/* The operators of IR1 that a layer stands for; NPU_NONE entries are left out. */
int npu_opt_set_group(struct npu_opt *opt, struct npu_layer *layer, const u32 *ops, u32 count);

/* The group belongs to the layer that completes the output. */
void npu_opt_move_group(struct npu_opt *opt, u32 from, u32 to);

/**
 * npu_pixel_load() - how CDMA comes closest to an operator NPU_OP_PIXELS
 * @image: its output as features have it
 *
 * Return: whether every byte comes within one unit.
 */
bool npu_pixel_load(const struct npu_op *op, const struct npu_tensor *image,
		    struct npu_pixel_load *load);

/*
 * The shape of a line of pixels as features: where it is longer than a cube, in rows of equal length, which
 * lie as the line does.  False: it cannot be cut so.
 */
bool npu_line_shape(u32 pixels, u32 *h, u32 *w);

/* The value of a tensor. */
static inline u32 npu_opt_value(const struct npu_opt *opt, u32 tensor)
{
	return opt->tensor[opt->tensor[tensor].root].value;
}

/* Zero point of a tensor as features store it: UINT8 is moved by -128. */
s32 npu_stored_zero(const struct npu_tensor *tensor);

/* Sets the padding behind to what the last windows need: none where they end inside of the input. */
void npu_trim_padding(struct npu_window *window, u32 in_h, u32 in_w, u32 out_h, u32 out_w);

/* The activation's clamp on @out as features store it. */
void npu_activation_range(enum npu_activation activation, const struct npu_tensor *out, s32 *low,
			  s32 *high);

/* INT8 or UINT8 with one scale. */
bool npu_is_quantised(const struct npu_tensor *tensor);

int npu_opt_nomem(struct npu_opt *opt);

/* Layer @index is a part of its operator: "name/what"; without memory it keeps its name. */
void npu_opt_name_layer(struct npu_opt *opt, u32 index, const char *what);

#endif /* NPU_OPTIMISE_H */
