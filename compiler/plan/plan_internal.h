/* SPDX-License-Identifier: MIT */
/* What the steps of planning share. */
#ifndef NPU_PLAN_INTERNAL_H
#define NPU_PLAN_INTERNAL_H

#include "passes.h"

/* What a pass computes. */
enum npu_pass {
	NPU_PASS_CONV, /* convolution and SDP */
	NPU_PASS_POOLED, /* both, and PDP on the fly */
	NPU_PASS_POOL, /* PDP from memory, of a PDP layer or of a convolution's unpooled value */
	NPU_PASS_SDP, /* SDP or CDP from memory: row by row */
};

/**
 * struct npu_planner - planning of one net under way
 * @previous: plan of the same net for another budget, or NULL
 * @banks: that may be used
 * @task, @task_count, @task_room: tasks so far, handed to the plan at the end
 * @passes: scratch
 * @effort: of the searches for the present layer
 * @shortage: what a layer needs that fits in no way
 */
struct npu_planner {
	const struct npu_net *net;
	struct npu_plan *plan;
	const struct npu_plan *previous;
	struct npu_diag *diag;
	u32 banks;
	struct npu_split_space *space;
	struct npu_task *task;
	u32 task_count;
	size_t task_room;
	struct npu_passes passes;
	u64 effort;
	struct npu_diag shortage;
};

/* Room for @count more tasks, zeroed; NULL when out of memory or above the limit of a chain. */
struct npu_task *npu_planner_tasks(struct npu_planner *p, u32 count);

/* tasks.c: the passes of a split, all channel blocks; 0 or a negative errno. */
int npu_plan_conv_tasks(struct npu_planner *p, u32 layer, const struct npu_conv_shape *shape,
			const struct npu_split *split);

/* pool.c: PDP from memory: of @layer, or of what a convolution leaves in @layer's unpooled value. */
int npu_plan_pool_tasks(struct npu_planner *p, u32 layer);

/* sdp.c: SDP or CDP */
int npu_plan_sdp_tasks(struct npu_planner *p, u32 layer);

/**
 * npu_plan_leave_to_cpu() - a layer that does not fit, and all that goes with it, becomes a unit (units.c)
 * @index: the layer; those before it are planned, and p->shortage says what it needs
 * @next: receives the first layer behind the unit
 *
 * Return: 0; -ENOSPC: the CPU cannot do it; -ENOMEM.
 */
int npu_plan_leave_to_cpu(struct npu_planner *p, u32 index, u32 *next);

/* bands.c: which values are cut into bands, and where; 0 or -ENOMEM. */
int npu_plan_bands(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag);

/**
 * npu_plan_cuts() - rows of its output in front of which a pass has to be cut (bands.c)
 * @cut: receives them, ascending, in the plan's memory
 *
 * Return: 0; -EFBIG where a value is too large for the pass and has no band, or bands that this kind
 * of pass cannot keep apart; -ENOMEM.
 */
int npu_plan_cuts(const struct npu_net *net, struct npu_plan *plan, u32 layer, enum npu_pass pass,
		  const u32 **cut, u32 *count);

/* Do the passes of two layers of equal shapes have the same cuts? */
bool npu_plan_same_cuts(const struct npu_net *net, const struct npu_plan *plan, u32 a, u32 b);

/* accesses.c: a value that a task reads or writes across two bands; NPU_NONE: none. */
u32 npu_task_torn_value(const struct npu_net *net, const struct npu_plan *plan,
			const struct npu_task *task);

/* The axis of a pooling from memory: its rows. */
struct npu_axis npu_pool_rows(const struct npu_net *net, const struct npu_layer *layer);

/* memory.c: a place for every value; 0 or -ENOMEM, -EFBIG: larger than a piece of memory. */
int npu_plan_memory(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag);

/* spans.c: cuts weights and arena into pieces of memory; 0 or -ENOMEM, -EFBIG. */
int npu_plan_spans(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag);

/* Kernel groups whose weights are never in two pieces of memory: from multiples of this on. */
u32 npu_span_groups(const struct nvdla_config *config, u64 kernel_bytes, u64 region_bytes);

/* cost.c: what a pass moves and how long it takes, from the fields of the task. */
struct npu_cost npu_cost_conv(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			      const struct npu_task *task);
struct npu_cost npu_cost_pool(const struct nvdla_config *config, const struct npu_task *task);
struct npu_cost npu_cost_sdp(const struct npu_net *net, const struct npu_layer *layer,
			     const struct npu_task *task);
struct npu_cost npu_cost_cdp(const struct nvdla_config *config, const struct npu_layer *layer,
			     const struct npu_task *task);
void npu_cost_add(struct npu_cost *sum, const struct npu_cost *cost);

/* Every byte of input, weights, operands and output of a convolution once, one block. */
u64 npu_cost_conv_compulsory(const struct nvdla_config *config, const struct npu_conv_shape *shape);
/* Cycles of the MAC array alone, one block. */
u64 npu_cost_conv_macs(const struct nvdla_config *config, const struct npu_conv_shape *shape);

/* Do the weights of all blocks start where CDMA's requests do? */
bool npu_weights_aligned(const struct nvdla_config *config, const struct npu_layer *layer);

/* Bytes of the operand tables of a stage for one kernel; operands read for each element. */
u32 npu_stage_table_bytes(const struct npu_sdp_stage *stage);
u32 npu_stage_elements(const struct npu_sdp_stage *stage);

#define NPU_SDP_STAGES 3

/* The values that SDP reads for each element; how many. */
u32 npu_sdp_elements(const struct npu_sdp *sdp, u32 value[NPU_SDP_STAGES]);

#endif /* NPU_PLAN_INTERNAL_H */
