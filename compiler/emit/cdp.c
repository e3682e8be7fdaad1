// SPDX-License-Identifier: MIT
/* Registers of CDP and CDP_RDMA, and its tables. */
#include "emit.h"

static void emit_rdma(struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	struct npu_stream *s = e->stream;

	npu_stream_reg(s, NVDLA_CDP_RDMA_D_DATA_CUBE_WIDTH, e->out.cols - 1);
	npu_stream_reg(s, NVDLA_CDP_RDMA_D_DATA_CUBE_HEIGHT, e->out.rows - 1);
	npu_stream_reg(s, NVDLA_CDP_RDMA_D_DATA_CUBE_CHANNEL, e->out.channels - 1);
	npu_emit_feature(e, NVDLA_CDP_RDMA_D_SRC_BASE_ADDR_LOW, l->input, e->out.y, e->out.x,
			 e->out.c);
	npu_stream_reg(s, NVDLA_CDP_RDMA_D_SRC_LINE_STRIDE, e->net->value[l->input].line_stride);
	npu_stream_reg(s, NVDLA_CDP_RDMA_D_SRC_SURFACE_STRIDE,
		       npu_emit_surface_stride(e, l->input, e->out.y));
	npu_stream_reg(s, NVDLA_CDP_RDMA_D_SRC_DMA_CFG, 1);
}

/* Bounds of a table have 38 bits, in two registers one behind the other. */
static void emit_bound(struct npu_stream *s, u32 low, s64 bound)
{
	npu_stream_reg(s, low, (u32)bound);
	npu_stream_reg(s, low + 4,
		       NVDLA_SET(CDP, S_LUT_LE_START_HIGH, LUT_LE_START_HIGH, bound >> 32));
}

/* The tables' ends stay flat: no slope there.  All priorities are zero: LE's. */
static void emit_lut_setup(struct npu_stream *s, const struct npu_cdp *cdp)
{
	npu_stream_reg(s, NVDLA_CDP_S_LUT_CFG, NVDLA_SET(CDP, S_LUT_CFG, LUT_LE_FUNCTION, 1));
	npu_stream_reg(s, NVDLA_CDP_S_LUT_INFO,
		       NVDLA_SET(CDP, S_LUT_INFO, LUT_LE_INDEX_SELECT, cdp->le_shift) |
			       NVDLA_SET(CDP, S_LUT_INFO, LUT_LO_INDEX_SELECT, cdp->lo_shift));
	emit_bound(s, NVDLA_CDP_S_LUT_LE_START_LOW, cdp->start);
	emit_bound(s, NVDLA_CDP_S_LUT_LE_END_LOW,
		   cdp->start + ((s64)(NPU_CDP_LE_ENTRIES - 1) << cdp->le_shift));
	emit_bound(s, NVDLA_CDP_S_LUT_LO_START_LOW, cdp->start);
	emit_bound(s, NVDLA_CDP_S_LUT_LO_END_LOW,
		   cdp->start + ((s64)(NPU_CDP_LO_ENTRIES - 1) << cdp->lo_shift));
}

static void emit_lut_contents(struct npu_emit *e)
{
	s16 entry[NPU_CDP_ENTRIES];

	memcpy(entry, e->net->weights + e->layer->cdp.lut, sizeof(entry));
	npu_stream_lut(e->stream, 0, entry, NPU_CDP_LE_ENTRIES);
	npu_stream_lut(e->stream, 1, entry + NPU_CDP_LE_ENTRIES, NPU_CDP_LO_ENTRIES);
}

void npu_emit_cdp(struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	const struct npu_cdp *cdp = &l->cdp;
	struct npu_stream *s = e->stream;

	emit_rdma(e);
	emit_lut_setup(s, cdp);
	npu_stream_reg(s, NVDLA_CDP_D_FUNC_BYPASS,
		       NVDLA_SET(CDP, D_FUNC_BYPASS, SQSUM_BYPASS, !cdp->sum) |
			       NVDLA_SET(CDP, D_FUNC_BYPASS, MUL_BYPASS, !cdp->sum));
	npu_emit_feature(e, NVDLA_CDP_D_DST_BASE_ADDR_LOW, l->output, e->out.y, e->out.x, e->out.c);
	npu_stream_reg(s, NVDLA_CDP_D_DST_LINE_STRIDE, e->net->value[l->output].line_stride);
	npu_stream_reg(s, NVDLA_CDP_D_DST_SURFACE_STRIDE,
		       npu_emit_surface_stride(e, l->output, e->out.y));
	npu_stream_reg(s, NVDLA_CDP_D_DST_DMA_CFG, 1);
	if (cdp->sum)
		npu_stream_reg(s, NVDLA_CDP_D_LRN_CFG,
			       NVDLA_SET(CDP, D_LRN_CFG, NORMALZ_LEN, (cdp->sum - 3) / 2));
	npu_stream_reg(s, NVDLA_CDP_D_DATIN_OFFSET,
		       NVDLA_SET(CDP, D_DATIN_OFFSET, DATIN_OFFSET, cdp->zero));
	npu_stream_reg(s, NVDLA_CDP_D_DATIN_SCALE, 1);
	npu_stream_reg(s, NVDLA_CDP_D_DATOUT_OFFSET, (u32)cdp->cvt_offset);
	npu_stream_reg(s, NVDLA_CDP_D_DATOUT_SCALE,
		       NVDLA_SET(CDP, D_DATOUT_SCALE, DATOUT_SCALE, cdp->cvt_scale));
	npu_stream_reg(s, NVDLA_CDP_D_DATOUT_SHIFTER, cdp->cvt_shift);
	if (e->first)
		emit_lut_contents(e);
}
