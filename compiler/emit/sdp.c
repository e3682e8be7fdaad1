// SPDX-License-Identifier: MIT
/* Registers of SDP and SDP_RDMA. */
#include "emit.h"

/* BRDMA_DATA_USE */
enum { USE_MUL, USE_ALU, USE_BOTH };

/* BS and BN have the same fields at the same places; only the registers differ. */
struct stage_regs {
	u32 cfg, alu_cfg, alu_value, mul_cfg, mul_value;
	u32 rdma_cfg, address, line_stride, surface_stride;
};

#define STAGE_REGS(stage, rdma)                                                                   \
	{                                                                                         \
		.cfg = NVDLA_SDP_D_DP_##stage##_CFG, .alu_cfg = NVDLA_SDP_D_DP_##stage##_ALU_CFG, \
		.alu_value = NVDLA_SDP_D_DP_##stage##_ALU_SRC_VALUE,                              \
		.mul_cfg = NVDLA_SDP_D_DP_##stage##_MUL_CFG,                                      \
		.mul_value = NVDLA_SDP_D_DP_##stage##_MUL_SRC_VALUE,                              \
		.rdma_cfg = NVDLA_SDP_RDMA_D_##rdma##_CFG,                                        \
		.address = NVDLA_SDP_RDMA_D_##stage##_BASE_ADDR_LOW,                              \
		.line_stride = NVDLA_SDP_RDMA_D_##stage##_LINE_STRIDE,                            \
		.surface_stride = NVDLA_SDP_RDMA_D_##stage##_SURFACE_STRIDE,                      \
	}

static const struct stage_regs bs_regs = STAGE_REGS(BS, BRDMA);
static const struct stage_regs bn_regs = STAGE_REGS(BN, NRDMA);

static bool from_memory(enum npu_operand from)
{
	return from == NPU_OPERAND_KERNEL || from == NPU_OPERAND_ELEMENT;
}

static bool reads_memory(const struct npu_sdp_stage *stage)
{
	return !stage->bypass && (from_memory(stage->alu_from) || from_memory(stage->mul_from));
}

static void emit_operand(struct npu_emit *e, const struct npu_sdp_stage *stage,
			 const struct stage_regs *regs)
{
	bool alu = !stage->bypass && from_memory(stage->alu_from);
	bool mul = !stage->bypass && from_memory(stage->mul_from);
	bool element = stage->alu_from == NPU_OPERAND_ELEMENT ||
		       stage->mul_from == NPU_OPERAND_ELEMENT;
	u32 kernel_bytes = 2 * (alu + mul);

	if (!alu && !mul) {
		npu_stream_reg(e->stream, regs->rdma_cfg,
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DISABLE, 1));
		return;
	}
	npu_stream_reg(e->stream, regs->rdma_cfg,
		       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_USE,
				 alu && mul ? USE_BOTH
				 : alu	    ? USE_ALU
					    : USE_MUL) |
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_SIZE, !element) |
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_DATA_MODE, element) |
			       NVDLA_SET(SDP_RDMA, D_BRDMA_CFG, BRDMA_RAM_TYPE, 1));
	if (element) {
		npu_emit_feature(e, regs->address, stage->value, e->out.y, e->out.x, e->out.c);
		npu_stream_reg(e->stream, regs->line_stride,
			       e->net->value[stage->value].line_stride);
		npu_stream_reg(e->stream, regs->surface_stride,
			       npu_emit_surface_stride(e, stage->value, e->out.y));
	} else {
		npu_emit_weights(e, regs->address, stage->table + (u64)e->out.c * kernel_bytes);
	}
}

static void emit_rdma(struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	const struct npu_value *in = &e->net->value[l->input];
	bool flying = e->task->kind == NPU_LAYER_CONV;
	struct npu_stream *s = e->stream;

	if (flying && !reads_memory(&l->sdp.bs) && !reads_memory(&l->sdp.bn))
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
	emit_operand(e, &l->sdp.bs, &bs_regs);
	emit_operand(e, &l->sdp.bn, &bn_regs);
	npu_stream_reg(s, NVDLA_SDP_RDMA_D_ERDMA_CFG,
		       NVDLA_SET(SDP_RDMA, D_ERDMA_CFG, ERDMA_DISABLE, 1));
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
	npu_stream_reg(s, NVDLA_SDP_D_DP_EW_CFG, NVDLA_SET(SDP, D_DP_EW_CFG, EW_BYPASS, 1));
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
