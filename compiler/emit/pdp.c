// SPDX-License-Identifier: MIT
/* Registers of PDP and PDP_RDMA. */
#include "emit.h"

/* What PDP reads: the task's input from memory, or what SDP hands over. */
struct source {
	u32 rows, cols;
	u32 pad_top, pad_left, pad_bottom, pad_right;
};

static struct source make_source(const struct npu_task *t)
{
	if (t->pooled)
		return (struct source){ .rows = t->conv_rows,
					.cols = t->conv_cols,
					.pad_top = t->pool_pad_top,
					.pad_left = t->pool_pad_left,
					.pad_bottom = t->pool_pad_bottom,
					.pad_right = t->pool_pad_right };
	return (struct source){ .rows = t->in_rows,
				.cols = t->in_cols,
				.pad_top = t->pad_top,
				.pad_left = t->pad_left,
				.pad_bottom = t->pad_bottom,
				.pad_right = t->pad_right };
}

static void emit_rdma(struct npu_emit *e, const struct source *source, u32 channels)
{
	const struct npu_layer *l = e->layer;
	const struct npu_window *w = &l->pool.window;
	u32 value = l->has_pool ? l->unpooled : l->input;
	struct npu_stream *s = e->stream;

	npu_stream_reg(s, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH, source->cols - 1);
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT, source->rows - 1);
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL, channels - 1);
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_FLYING_MODE, 1);
	npu_emit_feature(e, NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW, value, e->task->in_y, e->task->in_x,
			 e->pooled.c);
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE, e->net->value[value].line_stride);
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE,
		       npu_emit_surface_stride(e, value, e->task->in_y));
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_SRC_RAM_CFG, 1);
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG,
		       NVDLA_SET(PDP_RDMA, D_POOLING_KERNEL_CFG, KERNEL_WIDTH, w->s - 1) |
			       NVDLA_SET(PDP_RDMA, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH,
					 w->stride_x - 1));
	npu_stream_reg(s, NVDLA_PDP_RDMA_D_POOLING_PADDING_CFG,
		       NVDLA_SET(PDP_RDMA, D_POOLING_PADDING_CFG, PAD_WIDTH, source->pad_left));
}

void npu_emit_pdp(struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	const struct npu_window *w = &l->pool.window;
	const struct npu_value *out = &e->net->value[l->output];
	const struct source source = make_source(e->task);
	bool from_memory = !e->task->pooled;
	struct npu_stream *s = e->stream;
	u32 i;

	if (from_memory)
		emit_rdma(e, &source, e->pooled.channels);
	npu_stream_reg(s, NVDLA_PDP_D_DATA_CUBE_IN_WIDTH, source.cols - 1);
	npu_stream_reg(s, NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT, source.rows - 1);
	npu_stream_reg(s, NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL, e->pooled.channels - 1);
	npu_stream_reg(s, NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH, e->pooled.cols - 1);
	npu_stream_reg(s, NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT, e->pooled.rows - 1);
	npu_stream_reg(s, NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL, e->pooled.channels - 1);
	npu_stream_reg(s, NVDLA_PDP_D_OPERATION_MODE_CFG,
		       NVDLA_SET(PDP, D_OPERATION_MODE_CFG, POOLING_METHOD, l->pool.kind) |
			       NVDLA_SET(PDP, D_OPERATION_MODE_CFG, FLYING_MODE, from_memory));
	npu_stream_reg(s, NVDLA_PDP_D_POOLING_KERNEL_CFG,
		       NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_WIDTH, w->s - 1) |
			       NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_HEIGHT, w->r - 1) |
			       NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_WIDTH,
					 w->stride_x - 1) |
			       NVDLA_SET(PDP, D_POOLING_KERNEL_CFG, KERNEL_STRIDE_HEIGHT,
					 w->stride_y - 1));
	/* 1 / kernel in 16 fraction bits; the unit multiplies twice and rounds after each. */
	npu_stream_reg(s, NVDLA_PDP_D_RECIP_KERNEL_WIDTH, (65536 + w->s / 2) / w->s);
	npu_stream_reg(s, NVDLA_PDP_D_RECIP_KERNEL_HEIGHT, (65536 + w->r / 2) / w->r);
	npu_stream_reg(s, NVDLA_PDP_D_POOLING_PADDING_CFG,
		       NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_LEFT, source.pad_left) |
			       NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_TOP, source.pad_top) |
			       NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_RIGHT, source.pad_right) |
			       NVDLA_SET(PDP, D_POOLING_PADDING_CFG, PAD_BOTTOM,
					 source.pad_bottom));
	/* One register after the other holds the padding value times 1 .. 7. */
	for (i = 1; i <= 7 && l->pool.kind == NPU_POOL_AVERAGE; i++)
		npu_stream_reg(s, NVDLA_PDP_D_POOLING_PADDING_VALUE_1_CFG + 4 * (i - 1),
			       NVDLA_SET(PDP, D_POOLING_PADDING_VALUE_1_CFG, PAD_VALUE_1X,
					 l->pool.pad_value * (s32)i));
	npu_emit_feature(e, NVDLA_PDP_D_DST_BASE_ADDR_LOW, l->output, e->pooled.y, e->pooled.x,
			 e->pooled.c);
	npu_stream_reg(s, NVDLA_PDP_D_DST_LINE_STRIDE, out->line_stride);
	npu_stream_reg(s, NVDLA_PDP_D_DST_SURFACE_STRIDE,
		       npu_emit_surface_stride(e, l->output, e->pooled.y));
	npu_stream_reg(s, NVDLA_PDP_D_DST_RAM_CFG, 1);
}
