// SPDX-License-Identifier: MIT
/*
 * What a pass costs: DRAM bytes exactly as the DMA engines move them, cycles by
 * the model that was fitted to the RTL of nv_small ("Conv cycles" of the notes on
 * the vectors), with the numbers of nv_small replaced by what they stand for.
 */
#include "plan_internal.h"

#include "nvdla_cbuf.h"

/* Cycles from the enable to the first request, of a memory with READ_LATENCY cycles. */
#define START_CYCLES 61
#define READ_LATENCY 32
#define FETCH_CYCLES (READ_LATENCY - 10)
/* From the last atom of a stripe in the accumulator to its delivery; from the last one to done. */
#define DELIVER_CYCLES 55
#define END_CYCLES 36
/* SDP, PDP and CDP from memory: around the atoms themselves. */
#define POST_CYCLES 100

u32 npu_stage_table_bytes(const struct npu_sdp_stage *stage)
{
	if (stage->bypass)
		return 0;
	return 2 *
	       ((stage->alu_from == NPU_OPERAND_KERNEL) + (stage->mul_from == NPU_OPERAND_KERNEL));
}

u32 npu_stage_elements(const struct npu_sdp_stage *stage)
{
	if (stage->bypass)
		return 0;
	return (stage->alu_from == NPU_OPERAND_ELEMENT) + (stage->mul_from == NPU_OPERAND_ELEMENT);
}

static u32 round_up(u32 n, u32 to)
{
	return DIV_ROUND_UP(n, to) * to;
}

u32 npu_sdp_elements(const struct npu_sdp *sdp, u32 value[NPU_SDP_STAGES])
{
	u32 count = 0;

	if (npu_stage_elements(&sdp->bs))
		value[count++] = sdp->bs.value;
	if (npu_stage_elements(&sdp->bn))
		value[count++] = sdp->bn.value;
	if (sdp->ew.mul_from == NPU_OPERAND_ELEMENT)
		value[count++] = sdp->ew.value;
	return count;
}

/* The slowest of SDP's units: cycles for an atom. */
static u32 sdp_atom_cycles(const struct nvdla_config *config, bool ew)
{
	u32 throughput = min(config->bs_throughput, config->bn_throughput);

	if (ew)
		throughput = min(throughput, (u32)config->ew_throughput);
	return DIV_ROUND_UP((u32)config->atom, max(throughput, 1u));
}

/* One kernel group through MAC array and SDP: @outputs positions, cut into stripes. */
static u64 group_cycles(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			u64 outputs)
{
	u32 stripe = 2 * config->atomic_k;
	u64 steps =
		(u64)shape->taps_y * shape->taps_x * DIV_ROUND_UP(shape->c, (u32)config->atomic_c);
	u64 stripes = max(outputs / stripe, (u64)1);
	u64 length = DIV_ROUND_UP(outputs, stripes);
	u64 compute = max(length, (u64)config->atomic_k) * steps;
	u64 deliver = length * sdp_atom_cycles(config, shape->ew) + DELIVER_CYCLES;

	return stripes * max(compute, deliver);
}

static u64 conv_cycles(const struct nvdla_config *config, const struct npu_conv_shape *shape,
		       const struct npu_task *t, const struct npu_cost *cost)
{
	u64 outputs = (u64)t->conv_rows * t->conv_cols;
	u64 groups = DIV_ROUND_UP(t->kernels, (u32)config->atomic_k);
	u64 compute = group_cycles(config, shape, outputs);
	u64 fetch = cost->weight_bytes / groups / config->dbb_bytes; /* of one group */
	u64 room = (u64)t->weight_banks * config->entries * config->entry_bytes;
	u64 first = cost->feature_bytes / config->dbb_bytes + fetch, later;

	/* With room for two groups one is fetched while the other is used. */
	later = 2 * cost->weight_bytes / groups <= room ? max(compute, fetch) : compute + fetch;
	return START_CYCLES + FETCH_CYCLES + first + compute + (groups - 1) * later + END_CYCLES;
}

struct npu_cost npu_cost_conv(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			      const struct npu_task *t)
{
	u64 lanes = round_up(t->kernels, config->atom);
	u64 kernel = (u64)shape->c * shape->taps_y * shape->taps_x;
	struct npu_cost cost = {
		.feature_bytes = t->in_rows * npu_split_line_bytes(config, shape, t->in_cols),
		.weight_bytes =
			t->weight_reuse ? 0 : nvdla_cbuf_weight_bytes(config, t->kernels, kernel),
		.operand_bytes = lanes * (shape->table_bytes +
					  (u64)t->conv_rows * t->conv_cols * shape->elements),
		.output_bytes = (u64)t->rows * t->cols * lanes,
	};

	cost.cycles = conv_cycles(config, shape, t, &cost);
	return cost;
}

struct npu_cost npu_cost_pool(const struct nvdla_config *config, const struct npu_task *t)
{
	u64 lanes = round_up(t->kernels, config->atom);
	struct npu_cost cost = {
		.feature_bytes = (u64)t->in_rows * t->in_cols * lanes,
		.output_bytes = (u64)t->rows * t->cols * lanes,
	};

	cost.cycles = cost.feature_bytes / max((u32)config->pdp_throughput, 1u) + POST_CYCLES;
	return cost;
}

struct npu_cost npu_cost_sdp(const struct npu_net *net, const struct npu_layer *layer,
			     const struct npu_task *t)
{
	const struct nvdla_config *config = net->config;
	u64 lanes = round_up(t->kernels, config->atom);
	u64 atoms = (u64)t->rows * t->cols * lanes / config->atom;
	u32 tables = npu_stage_table_bytes(&layer->sdp.bs) + npu_stage_table_bytes(&layer->sdp.bn);
	u32 values[NPU_SDP_STAGES], elements = npu_sdp_elements(&layer->sdp, values);
	struct npu_cost cost = {
		.feature_bytes = atoms * config->atom,
		.operand_bytes = lanes * tables + atoms * config->atom * elements,
		.output_bytes = atoms * config->atom,
	};

	cost.cycles = atoms * sdp_atom_cycles(config, npu_sdp_uses_ew(&layer->sdp)) * 17 / 16 +
		      POST_CYCLES;
	return cost;
}

/* CDP takes eight columns at a time; a shorter rest waits for as long where neighbours count. */
#define CDP_BLOCK 8u

static u64 cdp_idle_cycles(const struct nvdla_config *config, const struct npu_task *t)
{
	u32 rest = DIV_ROUND_UP(t->cols, CDP_BLOCK) * CDP_BLOCK - t->cols;

	return t->cols < CDP_BLOCK ? 0 : (u64)t->rows * rest * (config->cdp_throughput < 4 ? 4 : 1);
}

/* One write for each entry, and where a table begins; the tables of a layer are loaded once. */
#define WRITE_CYCLES 4u
#define TABLE_CYCLES ((NPU_CDP_ENTRIES + 2) * WRITE_CYCLES)

struct npu_cost npu_cost_cdp(const struct nvdla_config *config, const struct npu_layer *layer,
			     const struct npu_task *t)
{
	u64 bytes = (u64)t->rows * t->cols * round_up(t->kernels, config->atom);
	struct npu_cost cost = { .feature_bytes = bytes, .output_bytes = bytes };

	cost.cycles = bytes / max((u32)config->cdp_throughput, 1u) + POST_CYCLES;
	if (!t->y)
		cost.cycles += TABLE_CYCLES;
	if (layer->cdp.sum)
		cost.cycles += cdp_idle_cycles(config, t);
	return cost;
}

void npu_cost_add(struct npu_cost *sum, const struct npu_cost *cost)
{
	sum->feature_bytes += cost->feature_bytes;
	sum->weight_bytes += cost->weight_bytes;
	sum->operand_bytes += cost->operand_bytes;
	sum->output_bytes += cost->output_bytes;
	sum->cycles += cost->cycles;
}

u64 npu_cost_conv_compulsory(const struct nvdla_config *config, const struct npu_conv_shape *shape)
{
	u64 lanes = round_up(shape->k, config->atom);
	u64 outputs = (u64)shape->rows.out * shape->cols.out;
	u64 sums = (u64)shape->rows.conv * shape->cols.conv;
	u32 lines = npu_axis_needed(&shape->rows);

	return lines * npu_split_line_bytes(config, shape, npu_axis_needed(&shape->cols)) +
	       npu_split_weight_bytes(config, shape, 0, npu_split_groups(config, shape)) +
	       lanes * (shape->table_bytes + sums * shape->elements + outputs);
}

u64 npu_cost_conv_macs(const struct nvdla_config *config, const struct npu_conv_shape *shape)
{
	return (u64)shape->rows.conv * shape->cols.conv * npu_split_groups(config, shape) *
	       shape->taps_y * shape->taps_x * DIV_ROUND_UP(shape->c, (u32)config->atomic_c);
}
