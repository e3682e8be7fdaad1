// SPDX-License-Identifier: MIT
/* Registers of the convolution pipeline up to the accumulator. */
#include "emit.h"

#include "nvdla_cbuf.h"

/* What CDMA and CSC are told alike. */
struct geometry {
	u32 w; /* input columns */
	u32 y; /* row of the input that the address names */
	u32 fetched; /* rows that CDMA fetches, or would without reuse */
	u32 rows; /* rows that CSC sees */
	u32 kernel_bytes;
	u32 weight_bytes;
	u32 stride_y;
	u32 misc;
};

/*
 * Where all lines are still in the buffer CDMA fetches none, but has an address: of lines that it could
 * fetch, which lie in one band.
 */
static void set_fetched(const struct npu_emit *e, struct geometry *g)
{
	const struct npu_task *t = e->task;
	u32 lines = t->in_rows ? t->in_rows : t->kept_rows, last, first;

	g->y = t->in_y;
	g->fetched = lines;
	if (t->in_rows)
		return;
	last = t->in_y + (lines - 1) * t->row_step;
	first = npu_plan_band(e->plan, e->layer->input, last)->first;
	if (first <= t->in_y)
		return;
	g->fetched = (last - first) / t->row_step + 1;
	g->y = last - (g->fetched - 1) * t->row_step;
}

static struct geometry make_geometry(const struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	const struct npu_task *t = e->task;
	struct geometry g = {
		.w = t->in_cols,
		.rows = t->kept_rows + t->in_rows,
		.kernel_bytes = l->c * l->window.r * l->window.s,
		/* Skipped rows are not even fetched: what is left has no stride. */
		.stride_y = t->row_step > 1 ? 1 : l->window.stride_y,
	};

	set_fetched(e, &g);
	g.weight_bytes = (u32)nvdla_cbuf_weight_bytes(e->net->config, t->kernels, g.kernel_bytes);
	g.misc = NVDLA_SET(CDMA, D_MISC_CFG, DATA_REUSE, t->data_reuse) |
		 NVDLA_SET(CDMA, D_MISC_CFG, WEIGHT_REUSE, t->weight_reuse) |
		 NVDLA_SET(CDMA, D_MISC_CFG, SKIP_DATA_RLS, t->skip_data_rls) |
		 NVDLA_SET(CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS, t->skip_weight_rls);
	return g;
}

/* Where the kernels of the task start in the weight region. */
static u64 weight_offset(const struct npu_emit *e)
{
	const struct npu_layer *l = e->layer;
	const struct npu_task *t = e->task;

	return l->weights + t->block * l->weight_stride +
	       (u64)t->k * l->c * l->window.r * l->window.s;
}

/* Pixels: their format, and what CDMA makes of their bytes. */
static void emit_pixel_format(struct npu_emit *e)
{
	const struct npu_pixel_load *load = &e->layer->pixels;

	npu_stream_reg(e->stream, NVDLA_CDMA_D_DATAIN_FORMAT,
		       NVDLA_SET(CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT, load->used) |
			       NVDLA_SET(CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT, load->format));
}

static void emit_conversion(struct npu_emit *e)
{
	const struct npu_pixel_load *load = &e->layer->pixels;
	struct npu_stream *s = e->stream;

	if (!load->used) {
		npu_stream_reg(s, NVDLA_CDMA_D_CVT_SCALE, 1);
		return;
	}
	npu_stream_reg(s, NVDLA_CDMA_D_MEAN_FORMAT, 1);
	npu_stream_reg(s, NVDLA_CDMA_D_MEAN_GLOBAL_0,
		       NVDLA_SET(CDMA, D_MEAN_GLOBAL_0, MEAN_RY, load->mean[0]) |
			       NVDLA_SET(CDMA, D_MEAN_GLOBAL_0, MEAN_GU, load->mean[1]));
	npu_stream_reg(s, NVDLA_CDMA_D_MEAN_GLOBAL_1,
		       NVDLA_SET(CDMA, D_MEAN_GLOBAL_1, MEAN_BV, load->mean[2]) |
			       NVDLA_SET(CDMA, D_MEAN_GLOBAL_1, MEAN_AX, load->mean[3]));
	npu_stream_reg(s, NVDLA_CDMA_D_CVT_CFG,
		       NVDLA_SET(CDMA, D_CVT_CFG, CVT_EN, 1) |
			       NVDLA_SET(CDMA, D_CVT_CFG, CVT_TRUNCATE, load->shift));
	npu_stream_reg(s, NVDLA_CDMA_D_CVT_SCALE,
		       NVDLA_SET(CDMA, D_CVT_SCALE, CVT_SCALE, load->scale));
}

/* Where the input's lines start: of pixels both planes. */
static void emit_input(struct npu_emit *e, const struct geometry *g)
{
	const struct npu_layer *l = e->layer;
	const struct npu_value *in = &e->net->value[l->input];
	const struct npu_task *t = e->task;

	if (!l->pixels.used) {
		npu_emit_feature(e, NVDLA_CDMA_D_DAIN_ADDR_LOW_0, l->input, g->y, t->in_x,
				 t->block * l->block_stride_c);
		return;
	}
	npu_emit_feature(e, NVDLA_CDMA_D_DAIN_ADDR_LOW_0, l->input, g->y, 0, 0);
	if (in->c > in->pixel_bytes)
		npu_emit_feature(e, NVDLA_CDMA_D_DAIN_ADDR_LOW_1, l->input, g->y, 0, 1);
}

static void emit_cdma(struct npu_emit *e, const struct geometry *g)
{
	const struct npu_layer *l = e->layer;
	const struct npu_task *t = e->task;
	const struct npu_value *in = &e->net->value[l->input];
	struct npu_stream *s = e->stream;
	u32 size = NVDLA_SET(CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH, g->w - 1) |
		   NVDLA_SET(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT, g->fetched - 1);

	npu_stream_reg(s, NVDLA_CDMA_D_MISC_CFG, g->misc);
	emit_pixel_format(e);
	npu_stream_reg(s, NVDLA_CDMA_D_DATAIN_SIZE_0, size);
	npu_stream_reg(s, NVDLA_CDMA_D_DATAIN_SIZE_1, l->c - 1);
	npu_stream_reg(s, NVDLA_CDMA_D_DATAIN_SIZE_EXT_0, size);
	npu_stream_reg(s, NVDLA_CDMA_D_DAIN_RAM_TYPE, 1);
	npu_stream_reg(s, NVDLA_CDMA_D_LINE_STRIDE, in->line_stride * t->row_step);
	if (in->layout == NPU_PIXELS && in->c > in->pixel_bytes)
		npu_stream_reg(s, NVDLA_CDMA_D_LINE_UV_STRIDE, in->line_stride * t->row_step);
	npu_stream_reg(s, NVDLA_CDMA_D_SURF_STRIDE,
		       l->repeat_surface ? 0 : npu_emit_surface_stride(e, l->input, g->y));
	npu_stream_reg(s, NVDLA_CDMA_D_ENTRY_PER_SLICE, t->eps - 1);
	npu_stream_reg(s, NVDLA_CDMA_D_WEIGHT_SIZE_0, g->kernel_bytes - 1);
	npu_stream_reg(s, NVDLA_CDMA_D_WEIGHT_SIZE_1, t->kernels - 1);
	npu_stream_reg(s, NVDLA_CDMA_D_WEIGHT_RAM_TYPE, 1);
	npu_stream_reg(s, NVDLA_CDMA_D_WEIGHT_BYTES, g->weight_bytes);
	emit_conversion(e);
	npu_stream_reg(s, NVDLA_CDMA_D_CONV_STRIDE,
		       NVDLA_SET(CDMA, D_CONV_STRIDE, CONV_X_STRIDE, l->window.stride_x - 1) |
			       NVDLA_SET(CDMA, D_CONV_STRIDE, CONV_Y_STRIDE, g->stride_y - 1));
	npu_stream_reg(s, NVDLA_CDMA_D_ZERO_PADDING,
		       NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_LEFT, t->pad_left) |
			       NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_RIGHT, t->pad_right) |
			       NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_TOP, t->pad_top) |
			       NVDLA_SET(CDMA, D_ZERO_PADDING, PAD_BOTTOM, t->pad_bottom));
	npu_stream_reg(s, NVDLA_CDMA_D_ZERO_PADDING_VALUE,
		       NVDLA_SET(CDMA, D_ZERO_PADDING_VALUE, PAD_VALUE, l->pad_value));
	npu_stream_reg(s, NVDLA_CDMA_D_BANK,
		       NVDLA_SET(CDMA, D_BANK, DATA_BANK, t->data_banks - 1) |
			       NVDLA_SET(CDMA, D_BANK, WEIGHT_BANK, t->weight_banks - 1));
	emit_input(e, g);
	npu_emit_weights(e, NVDLA_CDMA_D_WEIGHT_ADDR_LOW, weight_offset(e));
}

static void emit_csc(struct npu_emit *e, const struct geometry *g)
{
	const struct npu_layer *l = e->layer;
	const struct npu_task *t = e->task;
	struct npu_stream *s = e->stream;
	/* Of pixels, the kernel's columns are channels here. */
	u32 columns = l->pixels.used ? 1 : l->window.s;
	u32 channels = l->pixels.used ? l->c * l->window.s : l->c;

	npu_stream_reg(s, NVDLA_CSC_D_MISC_CFG, g->misc);
	npu_stream_reg(s, NVDLA_CSC_D_DATAIN_FORMAT,
		       NVDLA_SET(CSC, D_DATAIN_FORMAT, DATAIN_FORMAT, l->pixels.used));
	npu_stream_reg(s, NVDLA_CSC_D_DATAIN_SIZE_EXT_0,
		       NVDLA_SET(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_WIDTH_EXT, g->w - 1) |
			       NVDLA_SET(CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT, g->rows - 1));
	npu_stream_reg(s, NVDLA_CSC_D_DATAIN_SIZE_EXT_1, l->c - 1);
	npu_stream_reg(s, NVDLA_CSC_D_ENTRY_PER_SLICE, t->eps - 1);
	npu_stream_reg(s, NVDLA_CSC_D_WEIGHT_SIZE_EXT_0,
		       NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT, columns - 1) |
			       NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT,
					 l->window.r - 1));
	npu_stream_reg(s, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1,
		       NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT, channels - 1) |
			       NVDLA_SET(CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL, t->kernels - 1));
	npu_stream_reg(s, NVDLA_CSC_D_WEIGHT_BYTES, g->weight_bytes);
	npu_stream_reg(s, NVDLA_CSC_D_DATAOUT_SIZE_0,
		       NVDLA_SET(CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, e->out.cols - 1) |
			       NVDLA_SET(CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, e->out.rows - 1));
	npu_stream_reg(s, NVDLA_CSC_D_DATAOUT_SIZE_1, t->kernels - 1);
	npu_stream_reg(s, NVDLA_CSC_D_ATOMICS, e->out.cols * e->out.rows - 1);
	npu_stream_reg(s, NVDLA_CSC_D_RELEASE, t->rls_slices - 1);
	npu_stream_reg(
		s, NVDLA_CSC_D_CONV_STRIDE_EXT,
		NVDLA_SET(CSC, D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT, l->window.stride_x - 1) |
			NVDLA_SET(CSC, D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT, g->stride_y - 1));
	npu_stream_reg(s, NVDLA_CSC_D_DILATION_EXT,
		       NVDLA_SET(CSC, D_DILATION_EXT, X_DILATION_EXT, l->window.dilation_x - 1) |
			       NVDLA_SET(CSC, D_DILATION_EXT, Y_DILATION_EXT,
					 l->window.dilation_y - 1));
	npu_stream_reg(s, NVDLA_CSC_D_ZERO_PADDING,
		       NVDLA_SET(CSC, D_ZERO_PADDING, PAD_LEFT, t->pad_left) |
			       NVDLA_SET(CSC, D_ZERO_PADDING, PAD_TOP, t->pad_top));
	npu_stream_reg(s, NVDLA_CSC_D_ZERO_PADDING_VALUE,
		       NVDLA_SET(CSC, D_ZERO_PADDING_VALUE, PAD_VALUE, l->pad_value));
	npu_stream_reg(s, NVDLA_CSC_D_BANK,
		       NVDLA_SET(CSC, D_BANK, DATA_BANK, t->data_banks - 1) |
			       NVDLA_SET(CSC, D_BANK, WEIGHT_BANK, t->weight_banks - 1));
}

void npu_emit_conv(struct npu_emit *e)
{
	struct geometry g = make_geometry(e);

	emit_cdma(e, &g);
	emit_csc(e, &g);
	npu_stream_reg(e->stream, NVDLA_CACC_D_DATAOUT_SIZE_0,
		       NVDLA_SET(CACC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH, e->out.cols - 1) |
			       NVDLA_SET(CACC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT, e->out.rows - 1));
	npu_stream_reg(e->stream, NVDLA_CACC_D_DATAOUT_SIZE_1, e->task->kernels - 1);
}
