/* SPDX-License-Identifier: MIT */
/*
 * IR3: the plan.  Every layer as tasks that each fit the buffer that is
 * available, and a place in the arena for every value.
 */
#ifndef NPU_PLAN_H
#define NPU_PLAN_H

#include "net.h"

/**
 * struct npu_budget - how much of the on-chip memory a plan may use
 * @banks: CBUF banks from bank 0 up
 * @entry_bytes, @entries: geometry of a bank (as the configuration's)
 * @sram_bytes: on-chip SRAM behind the second memory interface; 0: none
 * @region_bytes: largest piece of memory that is contiguous for the device; 0: no limit
 * @generation: counts the changes of the budget; carried through, not interpreted
 */
struct npu_budget {
	u32 banks;
	u32 entry_bytes;
	u32 entries;
	u64 sram_bytes;
	u64 region_bytes;
	u64 generation;
};

/* DRAM bytes by what they are, and cycles of the cost model. */
struct npu_cost {
	u64 feature_bytes; /* input cubes read */
	u64 weight_bytes;
	u64 operand_bytes; /* SDP tables and residuals read */
	u64 output_bytes; /* written */
	u64 cycles;
};

static inline u64 npu_cost_bytes(const struct npu_cost *cost)
{
	return cost->feature_bytes + cost->weight_bytes + cost->operand_bytes + cost->output_bytes;
}

/**
 * struct npu_task - one pass: a piece of a layer
 * @kind: CONV, SDP, PDP or CDP: of a conv layer with a pooling that the plan keeps apart, both kinds
 * @layer: which
 * @block: conv: which channel block
 * @y, @rows, @x, @cols: box of the output that this task writes; with @pooled, of the pooling's
 * @conv_y, @conv_rows, @conv_x, @conv_cols: conv: box of the convolution's own output; differs
 *                       from the above only with @pooled
 * @k, @kernels: conv: kernels of the block that it computes, @k a multiple of atomic_k; SDP, PDP,
 *               CDP: channels, all of the value
 * @in_y, @in_rows: input rows it fetches; @kept_rows rows above them are still in CBUF.  @in_y
 *                  counts rows of the value, @in_rows and @kept_rows lines of CBUF
 * @in_x, @in_cols: input columns it reads
 * @pad_*: padding that this piece of the convolution (PDP) sees
 * @pool_pad_*: with @pooled: padding that PDP sees
 * @row_step: 1; else every @row_step-th row is fetched, by a multiplied line stride, and the
 *            task's own vertical stride is 1 (kernels of height 1)
 * @eps: CBUF entries per input row
 * @data_banks, @weight_banks: claim; data banks start at bank 0
 * @data_reuse: the kept rows (or all, in_rows == 0 then) are used again
 * @skip_data_rls: leaves the whole input in CBUF for the next task
 * @rls_slices: rows released at the end (all, unless a halo is kept)
 * @weight_reuse, @skip_weight_rls: the same for weights
 * @pooled: PDP runs on the fly
 * @cost: of this task alone
 */
struct npu_task {
	enum npu_layer_kind kind;
	u32 layer;
	u32 block;
	u32 y, rows, x, cols;
	u32 conv_y, conv_rows, conv_x, conv_cols;
	u32 k, kernels;
	u32 in_y, in_rows, kept_rows;
	u32 in_x, in_cols;
	u32 pad_top, pad_left, pad_bottom, pad_right;
	u32 pool_pad_top, pool_pad_left, pool_pad_bottom, pool_pad_right;
	u32 row_step;
	u32 eps;
	u32 data_banks, weight_banks;
	bool data_reuse, skip_data_rls;
	u32 rls_slices;
	bool weight_reuse, skip_weight_rls;
	bool pooled;
	struct npu_cost cost;
};

/**
 * struct npu_layer_plan - what was chosen for a layer
 * @first_task, @task_count: its tasks
 * @pieces: boxes of the output that are computed one after another, over all channel blocks
 * @tiles: columns of such boxes in a channel block
 * @mode: the kind of split in the field's words, e.g. "full input, kernel groups streamed"
 * @cost: sum of its tasks
 * @bound_bytes: cheapest legal split of this layer with the whole buffer of the configuration
 * @split_bound: the same of the splits of one channel block alone, its pooling apart and on the
 *               fly: of use when the net is planned again; 0: not looked for
 * @compulsory_bytes: every byte of input, weights, operands and output once
 * @bound_cycles: max of MAC cycles and compulsory bytes over the bus
 * @considered: legal splits that were compared
 * @effort: splits, tiles and passes that the search for this layer looked at; 0: it is another one's plan
 * @on_cpu: no pass of it or of a layer that goes with it fits: it has none, and belongs to a unit
 */
struct npu_layer_plan {
	u32 first_task;
	u32 task_count;
	u32 pieces, tiles;
	const char *mode;
	struct npu_cost cost;
	u64 bound_bytes;
	u64 split_bound[2];
	u64 compulsory_bytes;
	u64 bound_cycles;
	u32 considered;
	u64 effort;
	bool on_cpu;
};

/**
 * struct npu_cpu_unit - layers whose operators the CPU does in this plan, because no pass fits
 * @first, @count: the layers; the step stands where the first one would
 * @op, @op_count: operators of IR1 in their order; results between them nobody else reads
 * @read, @read_count: values that they read, some perhaps more than once
 * @write: value that the last one writes
 * @reason: which layer does not fit, what it needs and what there was
 */
struct npu_cpu_unit {
	u32 first, count;
	u32 *op;
	u32 op_count;
	u32 *read;
	u32 read_count;
	u32 write;
	const char *reason;
};

/**
 * struct npu_band - rows of a value that lie in one piece of memory, as a cube of their own
 * @first: first row; the band goes up to the next one's
 * @surface_stride: bytes from one of its surfaces to the next; its lines are the value's
 * @offset: in NPU_REGION_ARENA
 */
struct npu_band {
	u32 first;
	u32 surface_stride;
	u64 offset;
};

/**
 * struct npu_place - where a value lies
 * @band: in the order of rows; one but where the value is larger than a piece of memory
 * @count: 0: the plan needs no such value (what is between a convolution and a pooling on the fly)
 */
struct npu_place {
	struct npu_band *band;
	u32 count;
};

/**
 * struct npu_span - a part of the weights or of the arena that is one piece of device memory
 * @first: what lies here and up to the next span's @first is reached through this span
 * @start, @bytes: the bytes that it holds; @start is aligned for the device, so spans of weights
 *		   may overlap
 */
struct npu_span {
	u64 first;
	u64 start;
	u64 bytes;
};

/* The spans of one region, in order; at least one. */
struct npu_spans {
	struct npu_span *span;
	u32 count;
};

/* Index of the span through which @offset is reached. */
u32 npu_span_find(const struct npu_spans *spans, u64 offset);

/**
 * struct npu_plan - a network against a budget
 * @task: in execution order, outside the arena
 * @layer: one for each layer of the net
 * @unit, @unit_count: what this budget leaves to the CPU, in the order of layers
 * @place: of each value, parts of another one included
 * @cut_values: how many values lie in more than one band, parts not counted
 * @arena_bytes: what the arena needs; @arena_lower_bound: largest sum of live values at any time
 * @spans: of each region: no band of a value and no weights of a task lie in two of them
 */
struct npu_plan {
	struct npu_arena arena;
	struct npu_budget budget;
	struct npu_task *task;
	u32 task_count;
	struct npu_layer_plan *layer;
	struct npu_cpu_unit *unit;
	u32 unit_count;
	struct npu_place *place;
	u32 cut_values;
	u64 arena_bytes;
	u64 arena_lower_bound;
	struct npu_spans spans[NPU_REGION_COUNT];
	struct npu_cost cost;
	u32 banks; /* most that any task claims */
};

/* The unit that a layer belongs to; NULL: none. */
const struct npu_cpu_unit *npu_plan_unit(const struct npu_plan *plan, u32 layer);

/* Does the CPU do the layer, in every plan or in this one? */
bool npu_plan_on_cpu(const struct npu_net *net, const struct npu_plan *plan, u32 layer);

/* The band of a value that the plan needs in which a row lies. */
const struct npu_band *npu_plan_band(const struct npu_plan *plan, u32 value, u32 row);

/* Rows and bytes of the @index'th band of a value. */
u32 npu_band_rows(const struct npu_net *net, const struct npu_plan *plan, u32 value, u32 index);
u64 npu_band_bytes(const struct npu_net *net, const struct npu_plan *plan, u32 value, u32 index);

/* Bytes of a row of a value, all of its surfaces together. */
u64 npu_row_bytes(const struct npu_net *net, u32 value);

/* Where an element of a value lies: byte of NPU_REGION_ARENA. */
u64 npu_plan_offset(const struct npu_net *net, const struct npu_plan *plan, u32 value, u32 y, u32 x,
		    u32 c);

/**
 * npu_plan_net() - splits every layer so that each task fits @budget, at the least cost
 *
 * A layer that fits in no legal way is left to the CPU (struct npu_cpu_unit).
 *
 * Return: 0; -ENOSPC where the CPU cannot do it, or a list of layers has no operators (the message
 * names the layer, what it needs at the least and what was offered); -EFBIG where something needs a
 * larger piece of memory than @budget says there are (the message names it and both sizes); -ENOMEM.
 */
int npu_plan_net(const struct npu_net *net, const struct npu_budget *budget, struct npu_plan **plan,
		 struct npu_diag *diag);

/* As npu_plan_net(), where @previous is a plan of the same net: saves time. */
int npu_plan_again(const struct npu_net *net, const struct npu_plan *previous,
		   const struct npu_budget *budget, struct npu_plan **plan, struct npu_diag *diag);

/**
 * npu_plan_layers() - how npu_plan_net() would run each layer, without a place for its values
 * @layer: [layers of the net]; receives it.  There are no tasks to go with @first_task
 *
 * Return: as npu_plan_net().
 */
int npu_plan_layers(const struct npu_net *net, const struct npu_budget *budget,
		    struct npu_layer_plan *layer, struct npu_diag *diag);

int npu_plan_verify(const struct npu_net *net, const struct npu_plan *plan, struct npu_diag *diag);

#define NPU_WHY_BYTES 1024u /* enough for npu_plan_why() */

/**
 * npu_plan_why() - why a layer is split as it is, as a sentence
 * @text, @size: receives it, always terminated
 */
void npu_plan_why(const struct npu_net *net, const struct npu_plan *plan, u32 layer, char *text,
		  size_t size);

void npu_plan_dump(const struct npu_net *net, const struct npu_plan *plan,
		   enum npu_dump_format format, FILE *out);
void npu_plan_free(struct npu_plan *plan);

#endif /* NPU_PLAN_H */
