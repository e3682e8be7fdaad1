// SPDX-License-Identifier: MIT
/* Registers of SDP and SDP_RDMA. */
#include "emit.h"

/* BRDMA_DATA_USE */
enum { USE_MUL, USE_ALU, USE_BOTH };

/* What SDP_RDMA reads for a stage: the same fields at the same places. */
struct rdma_regs {
	u32 cfg, address, line_stride, surface_stride;
};

#define RDMA_REGS(stage, rdma)                                               \
	{                                                                    \
		.cfg = NVDLA_SDP_RDMA_D_##rdma##_CFG,                        \
		.address = NVDLA_SDP_RDMA_D_##stage##_BASE_ADDR_LOW,         \
		.line_stride = NVDLA_SDP_RDMA_D_##stage##_LINE_STRIDE,       \
		.surface_stride = NVDLA_SDP_RDMA_D_##stage##_SURFACE_STRIDE, \
	}

static const struct rdma_regs bs_rdma = RDMA_REGS(BS, BRDMA);
static const struct rdma_regs bn_rdma = RDMA_REGS(BN, NRDMA);
static const struct rdma_regs ew_rdma = RDMA_REGS(EW, ERDMA);

/* BS and BN have the same fields at the same places; only the registers differ. */
struct stage_regs {
	u32 cfg, alu_cfg, alu_value, mul_cfg, mul_value;
};

#define STAGE_REGS(stage)                                                                         \
	{                                                                                         \
		.cfg = NVDLA_SDP_D_DP_##stage##_CFG, .alu_cfg = NVDLA_SDP_D_DP_##stage##_ALU_CFG, \
		.alu_value = NVDLA_SDP_D_DP_##stage##_ALU_SRC_VALUE,                              \
		.mul_cfg = NVDLA_SDP_D_DP_##stage##_MUL_CFG,                                      \
		.mul_value = NVDLA_SDP_D_DP_##stage##_MUL_SRC_VALUE,                              \
	}

static const struct stage_regs bs_regs = STAGE_REGS(BS);
static const struct stage_regs bn_regs = STAGE_REGS(BN);

static bool from_memory(enum npu_operand from)
{
	return from != NPU_OPERAND_NONE && from != NPU_OPERAND_REGISTER;
}

/* What a stage has from memory: one operand or both, from one place. */
struct fetch {
	bool alu, mul;
	enum npu_operand from;
	u32 value;
	u64 table;
};

static struct fetch stage_fetch(const struct npu_sdp_stage *stage)
{
	struct fetch fetch = { .value = stage->value, .table = stage->table };

	fetch.alu = !stage->bypass && from_memory(stage->alu_from);
	fetch.mul = !stage->bypass && from_memory(stage->mul_from);
	fetch.from = fetch.alu ? stage->alu_from : stage->mul_from;
	return fetch;
}

static struct fetch ew_fetch(const struct npu_sdp_ew *ew)
{
	return (struct fetch){ .mul = from_memory(ew->mul_from),
			       .from = ew->mul_from,
			       .value = ew->value };
}

static bool fetches(const struct fetch *fetch)
{
	return fetch->alu || fetch->mul;
}

static void emit_operand(struct npu_emit *e, const struct fetch *fetch,
			 const struct rdma_regs *regs)
{
	bool element = fetch->from == NPU_OPERAND_ELEMENT;
	u32 kernel_bytes = 2 * (fetch->alu + fetch->mul);

	if (!fetches(fetch)) {
		npu_stream_reg(e->stream, regs->cfg,
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE, 1));
		return;
	}
	npu_stream_reg(e->stream, regs->cfg,
		       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE,
				 fetch->alu && fetch->mul ? USE_BOTH
				 : fetch->alu		  ? USE_ALU
							  : USE_MUL) |
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_SIZE,
					 fetch->from == NPU_OPERAND_KERNEL) |
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_MODE, element) |
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_RAM_TYPE, 1));
	if (fetch->from == NPU_OPERAND_KERNEL) {
		npu_emit_weights(e, regs->address, fetch->table + (u64)e->out.c * kernel_bytes);
		return;
	}
	npu_emit_feature(e, regs->address, fetch->value, element ? e->out.y : 0,
			 element ? e->out.x : 0, e->out.c);
	if (!element)
		return;
	npu_stream_reg(e->stream, regs->line_stride, e->net->value[fetch->value].line_stride);
	npu_stream_reg(e->stream, regs->surface_stride,
		       npu_emit_surface_stride(e, fetch->value, e->out.y));
}

static void emit_rdma(struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	const struct npu_value *in = &e->net->value[l->input];
	bool flying = e->task->kind == NPU_LAYER_CONV;
	const struct fetch bs = stage_fetch(&l->sdp.bs), bn = stage_fetch(&l->sdp.bn);
	const struct fetch ew = ew_fetch(&l->sdp.ew);
	struct npu_stream *s = e->stream;

	if (flying && !fetches(&bs) && !fetches(&bn) && !fetches(&ew))
		return;
	npu_stream_reg(s, NVDLA_SDP_RDMA_D_DATA_CUBE_WIDTH, e->out.cols - 1);
	npu_stream_reg(s, NVDLA_SDP_RDMA_D_DATA_CUBE_HEIGHT, e->out.rows - 1);
	npu_stream_reg(s, NVDLA_SDP_RDMA_D_DATA_CUBE_CHANNEL, e->out.channels - 1);
	if (!flying) {
		npu_emit_feature(e, NVDLA_SDP_RDMA_D_SRC_BASE_ADDR_LOW, l->input, e->out.y,
				 e->out.x, e->out.c);
		npu_stream_reg(s, NVDLA_SDP_RDMA_D_SRC_LINE_STRIDE, in->line_stride);
		npu_stream_reg(s, NVDLA_SDP_RDMA_D_SRC_SURFACE_STRIDE,
			       npu_emit_surface_stride(e, l->input, e->out.y));
	}
	emit_operand(e, &bs, &bs_rdma);
	emit_operand(e, &bn, &bn_rdma);
	emit_operand(e, &ew, &ew_rdma);
	npu_stream_reg(s, NVDLA_SDP_RDMA_D_FEATURE_MODE_CFG,
		       NVDLA_SET(SDP_RDMA, D_FEATURE_MODE_CFG, FLYING_MODE, flying));
	if (!flying)
		npu_stream_reg(s, NVDLA_SDP_RDMA_D_SRC_DMA_CFG, 1);
}

static void emit_stage(struct npu_emit *e, const struct npu_sdp_stage *stage,
		       const struct stage_regs *regs)
{
	struct npu_stream *s = e->stream;
	bool alu = !stage->bypass && stage->alu_from != NPU_OPERAND_NONE;
	bool mul = !stage->bypass && stage->mul_from != NPU_OPERAND_NONE;

	npu_stream_reg(s, regs->cfg,
		       NVDLA_SET(SDP, D_DP_BS_CFG, BS_BYPASS, stage->bypass) |
			       NVDLA_SET(SDP, D_DP_BS_CFG, BS_ALU_BYPASS, !alu) |
			       NVDLA_SET(SDP, D_DP_BS_CFG, BS_ALU_ALGO, alu ? stage->alu_op : 0) |
			       NVDLA_SET(SDP, D_DP_BS_CFG, BS_MUL_BYPASS, !mul) |
			       NVDLA_SET(SDP, D_DP_BS_CFG, BS_MUL_PRELU, mul && stage->prelu) |
			       NVDLA_SET(SDP, D_DP_BS_CFG, BS_RELU_BYPASS,
					 stage->bypass || !stage->relu));
	if (alu) {
		npu_stream_reg(s, regs->alu_cfg,
			       NVDLA_SET(SDP, D_DP_BS_ALU_CFG, BS_ALU_SRC,
					 from_memory(stage->alu_from)) |
				       NVDLA_SET(SDP, D_DP_BS_ALU_CFG, BS_ALU_SHIFT_VALUE,
						 stage->alu_shift));
		if (stage->alu_from == NPU_OPERAND_REGISTER)
			npu_stream_reg(s, regs->alu_value,
				       NVDLA_SET(SDP, D_DP_BS_ALU_SRC_VALUE, BS_ALU_OPERAND,
						 stage->alu_value));
	}
	if (!stage->bypass)
		npu_stream_reg(s, regs->mul_cfg,
			       NVDLA_SET(SDP, D_DP_BS_MUL_CFG, BS_MUL_SRC,
					 mul && from_memory(stage->mul_from)) |
				       NVDLA_SET(SDP, D_DP_BS_MUL_CFG, BS_MUL_SHIFT_VALUE,
						 stage->mul_shift));
	if (mul && stage->mul_from == NPU_OPERAND_REGISTER)
		npu_stream_reg(s, regs->mul_value,
			       NVDLA_SET(SDP, D_DP_BS_MUL_SRC_VALUE, BS_MUL_OPERAND,
					 stage->mul_value));
}

static void emit_ew(struct npu_emit *e)
{
	const struct npu_sdp_ew *ew = &e->layer->sdp.ew;
	bool mul = ew->mul_from != NPU_OPERAND_NONE;
	struct npu_stream *s = e->stream;

	npu_stream_reg(s, NVDLA_SDP_D_DP_EW_CFG,
		       NVDLA_SET(SDP, D_DP_EW_CFG, EW_BYPASS, !npu_sdp_uses_ew(&e->layer->sdp)) |
			       NVDLA_SET(SDP, D_DP_EW_CFG, EW_ALU_BYPASS, 1) |
			       NVDLA_SET(SDP, D_DP_EW_CFG, EW_MUL_BYPASS, !mul) |
			       NVDLA_SET(SDP, D_DP_EW_CFG, EW_LUT_BYPASS, 1));
	if (!mul)
		return;
	npu_stream_reg(s, NVDLA_SDP_D_DP_EW_MUL_CFG,
		       NVDLA_SET(SDP, D_DP_EW_MUL_CFG, EW_MUL_SRC, 1));
	npu_stream_reg(s, NVDLA_SDP_D_DP_EW_MUL_CVT_OFFSET_VALUE, (u32)ew->mul_zero);
	npu_stream_reg(s, NVDLA_SDP_D_DP_EW_MUL_CVT_SCALE_VALUE, 1);
}

void npu_emit_sdp(struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	bool to_pdp = e->task->pooled;
	u32 output = l->has_pool ? l->unpooled : l->output;
	struct npu_stream *s = e->stream;

	emit_rdma(e);
	npu_stream_reg(s, NVDLA_SDP_D_DATA_CUBE_WIDTH, e->out.cols - 1);
	npu_stream_reg(s, NVDLA_SDP_D_DATA_CUBE_HEIGHT, e->out.rows - 1);
	npu_stream_reg(s, NVDLA_SDP_D_DATA_CUBE_CHANNEL, e->out.channels - 1);
	if (!to_pdp) {
		npu_emit_feature(e, NVDLA_SDP_D_DST_BASE_ADDR_LOW, output, e->out.y, e->out.x,
				 e->out.c);
		npu_stream_reg(s, NVDLA_SDP_D_DST_LINE_STRIDE, e->net->value[output].line_stride);
		npu_stream_reg(s, NVDLA_SDP_D_DST_SURFACE_STRIDE,
			       npu_emit_surface_stride(e, output, e->out.y));
	}
	emit_stage(e, &l->sdp.bs, &bs_regs);
	emit_stage(e, &l->sdp.bn, &bn_regs);
	emit_ew(e);
	npu_stream_reg(s, NVDLA_SDP_D_FEATURE_MODE_CFG,
		       NVDLA_SET(SDP, D_FEATURE_MODE_CFG, FLYING_MODE,
				 e->task->kind == NPU_LAYER_CONV) |
			       NVDLA_SET(SDP, D_FEATURE_MODE_CFG, OUTPUT_DST, to_pdp));
	if (!to_pdp)
		npu_stream_reg(s, NVDLA_SDP_D_DST_DMA_CFG, 1);
	npu_stream_reg(s, NVDLA_SDP_D_CVT_OFFSET, (u32)l->sdp.cvt_offset);
	npu_stream_reg(s, NVDLA_SDP_D_CVT_SCALE,
		       NVDLA_SET(SDP, D_CVT_SCALE, CVT_SCALE, l->sdp.cvt_scale));
	npu_stream_reg(s, NVDLA_SDP_D_CVT_SHIFT,
		       NVDLA_SET(SDP, D_CVT_SHIFT, CVT_SHIFT, l->sdp.cvt_shift));
}
