// SPDX-License-Identifier: MIT
/* A convolution as the split sees it, and what follows from its numbers alone. */
#include "plan_internal.h"

#include "nvdla_cbuf.h"
#include "nvdla_regs.h"

/* Atoms that CDMA asks for at a time (driver/hw/nvdla_cbuf.h). */
#define REQUEST_ATOMS 8u

static bool fits_registers(const struct npu_conv_shape *s)
{
	u64 kernel = (u64)s->c * s->taps_y * s->taps_x;

	return kernel - 1 <= NVDLA_FIELD_MAX(CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL) &&
	       s->k - 1 <= NVDLA_FIELD_MAX(CDMA, D_WEIGHT_SIZE_1, WEIGHT_KERNEL) &&
	       s->rows.in - 1 <= NVDLA_FIELD_MAX(CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT) &&
	       s->cols.in - 1 <= NVDLA_FIELD_MAX(CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH) &&
	       s->c - 1 <= NVDLA_FIELD_MAX(CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL);
}

/* Do all windows lie in the padded input? */
static bool windows_fit(u32 in, u32 before, u32 after, u32 kernel, u32 dilation, u32 stride,
			u32 out)
{
	return out && out <= npu_window_outputs(in, before, after, kernel, dilation, stride);
}

static bool window_fits(const struct npu_window *w, const struct npu_value *in,
			const struct npu_value *out)
{
	return windows_fit(in->h, w->pad_top, w->pad_bottom, w->r, w->dilation_y, w->stride_y,
			   out->h) &&
	       windows_fit(in->w, w->pad_left, w->pad_right, w->s, w->dilation_x, w->stride_x,
			   out->w);
}

/* Rows that a kernel of height 1 steps over need not be fetched. */
static void skip_rows(struct npu_conv_shape *s)
{
	if (s->taps_y > 1 || s->rows.stride == 1 || s->rows.pad)
		return;
	s->row_step = s->rows.stride;
	s->rows.in = s->rows.conv;
	s->rows.stride = 1;
}

bool npu_weights_aligned(const struct nvdla_config *config, const struct npu_layer *layer)
{
	u32 request = REQUEST_ATOMS * config->atom;

	return layer->weights % request == 0 &&
	       (layer->blocks <= 1 || layer->weight_stride % request == 0);
}

/* Kernel columns become channels; left and right padding are written into the buffer with each line. */
static void fold_pixels(const struct npu_value *in, struct npu_conv_shape *s)
{
	struct npu_piece whole = npu_axis_piece(&s->cols, 0, s->cols.out);

	s->pixel_bytes = in->pixel_bytes;
	s->uv_bytes = in->c - in->pixel_bytes;
	s->pixel_pads = whole.before + whole.after;
	s->c *= s->taps_x;
	s->taps_x = 1;
}

u32 npu_split_line_entries(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			   u32 width)
{
	if (shape->pixel_bytes)
		return nvdla_cbuf_image_eps(config, width + shape->pixel_pads,
					    shape->pixel_bytes + shape->uv_bytes);
	return nvdla_cbuf_feature_eps(config, width, shape->c);
}

u64 npu_split_line_bytes(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			 u32 width)
{
	u32 atom = config->atom;

	if (!shape->pixel_bytes)
		return (u64)width * DIV_ROUND_UP(shape->c, atom) * atom;
	return ((u64)DIV_ROUND_UP(width * shape->pixel_bytes, atom) +
		DIV_ROUND_UP(width * shape->uv_bytes, atom)) *
	       atom;
}

int npu_conv_shape(const struct npu_net *net, const struct npu_layer *layer, bool pooled,
		   struct npu_conv_shape *s)
{
	const struct npu_value *in = &net->value[layer->input];
	const struct npu_value *conv =
		&net->value[layer->has_pool ? layer->unpooled : layer->output];
	const struct npu_value *out = pooled ? &net->value[layer->output] : conv;
	const struct npu_window *w = &layer->window, *p = &layer->pool.window;
	u32 values[NPU_SDP_STAGES];

	*s = (struct npu_conv_shape){
		.rows = { in->h, conv->h, out->h, (u32)npu_dilated(w->r, w->dilation_y),
			  w->stride_y, w->pad_top, 1, 1, 0 },
		.cols = { in->w, conv->w, out->w, (u32)npu_dilated(w->s, w->dilation_x),
			  w->stride_x, w->pad_left, 1, 1, 0 },
		.taps_y = w->r,
		.taps_x = w->s,
		.c = layer->c,
		.k = layer->k,
		.row_step = 1,
		.span_groups = UINT32_MAX,
		.aligned = npu_weights_aligned(net->config, layer),
		.pooled = pooled,
		.table_bytes = npu_stage_table_bytes(&layer->sdp.bs) +
			       npu_stage_table_bytes(&layer->sdp.bn),
		.elements = npu_sdp_elements(&layer->sdp, values),
		.ew = npu_sdp_uses_ew(&layer->sdp),
	};
	if (!s->c || !s->k || !window_fits(w, in, conv) || (pooled && !window_fits(p, conv, out)))
		return -EINVAL;
	if (pooled) {
		s->rows.pool_kernel = p->r;
		s->rows.pool_stride = p->stride_y;
		s->rows.pool_pad = p->pad_top;
		s->cols.pool_kernel = p->s;
		s->cols.pool_stride = p->stride_x;
		s->cols.pool_pad = p->pad_left;
	}
	skip_rows(s);
	if (!npu_axis_sound(&s->rows) || !npu_axis_sound(&s->cols))
		return -EINVAL;
	if (layer->pixels.used)
		fold_pixels(in, s);
	return fits_registers(s) ? 0 : -EINVAL;
}

u32 npu_split_groups(const struct nvdla_config *config, const struct npu_conv_shape *shape)
{
	return DIV_ROUND_UP(shape->k, (u32)config->atomic_k);
}

u32 npu_split_group_entries(const struct nvdla_config *config, const struct npu_conv_shape *shape)
{
	u32 kernel = shape->c * shape->taps_y * shape->taps_x;
	u64 step = shape->aligned ? (u64)kernel * config->atomic_k : config->atom;
	u32 starts = shape->aligned ? min(npu_split_groups(config, shape), REQUEST_ATOMS)
				    : REQUEST_ATOMS;
	u32 most = 0, i;

	for (i = 0; i < starts; i++)
		most = max(most, nvdla_cbuf_group_entries(config, shape->k, kernel, i * step));
	return most;
}

u32 npu_split_kernels(const struct nvdla_config *config, const struct npu_conv_shape *shape,
		      u32 first, u32 groups)
{
	return min(shape->k, (first + groups) * config->atomic_k) - first * config->atomic_k;
}

u64 npu_split_weight_bytes(const struct nvdla_config *config, const struct npu_conv_shape *shape,
			   u32 first, u32 groups)
{
	u64 kernel = (u64)shape->c * shape->taps_y * shape->taps_x;

	if (!groups)
		return 0;
	return nvdla_cbuf_weight_bytes(config, npu_split_kernels(config, shape, first, groups),
				       kernel);
}

bool npu_split_is_single(const struct npu_conv_shape *shape, u32 rows, u32 cols)
{
	return !shape->pooled && rows == 1 && cols == 1 &&
	       (shape->rows.out > 1 || shape->cols.out > 1);
}

/* The last cut in front of output row @to; 0 where there is none. */
static u32 cut_before(const struct npu_conv_shape *shape, u32 to)
{
	u32 i = shape->cut_count;

	while (i--)
		if (shape->cut[i] < to)
			return shape->cut[i];
	return 0;
}

/*
 * From the bottom up, because ranges of kernels profit from large pieces at the end.  A first piece
 * of a single atom is given another one where that costs nothing.
 */
u32 npu_split_piece(const struct npu_conv_shape *shape, const struct npu_tile *tile, u32 to)
{
	u32 from = npu_axis_reach_back(&shape->rows, to, tile->lines);
	u32 cut = cut_before(shape, to);

	if (cut && cut >= from)
		return cut;
	if (from == 1 && to - from >= 3 && npu_split_is_single(shape, 1, tile->cols) &&
	    !npu_axis_reach_back(&shape->rows, 2, tile->lines))
		return 2;
	return from;
}
