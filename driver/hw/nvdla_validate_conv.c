// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Convolution: geometry, convolution buffer, reuse between tasks, and the DMA of CDMA.
 */
#include "nvdla_cbuf.h"
#include "nvdla_validate.h"

/* What the registers of the conv pipeline say, in sizes (not minus one). */
struct conv {
	bool image;
	u32 w, h, c; /* what CDMA fetches */
	u32 rows; /* what CSC sees: kept rows and fetched ones */
	u32 pixel_bytes; /* of the first plane; 0: features */
	u32 uv_bytes; /* of the second plane; 0: none */
	u32 r, s, k; /* kernel height, width (unfolded) and number */
	u32 out_w, out_h;
	u32 pad_left, pad_right, pad_top, pad_bottom;
	u32 stride_x, stride_y;
	u32 dilation_x, dilation_y;
	u32 eps;
	u32 kernel_bytes;
	u32 data_banks, weight_banks;
	bool data_reuse, skip_data, weight_reuse, skip_weight;
};

static void read_conv(const struct nvdla_task_view *v, struct conv *n)
{
	n->image = VIEW(v, CDMA, D_DATAIN_FORMAT, DATAIN_FORMAT);
	n->w = VIEW_SIZE(v, CDMA, D_DATAIN_SIZE_0, DATAIN_WIDTH);
	n->h = VIEW_SIZE(v, CDMA, D_DATAIN_SIZE_0, DATAIN_HEIGHT);
	n->c = VIEW_SIZE(v, CDMA, D_DATAIN_SIZE_1, DATAIN_CHANNEL);
	n->rows = VIEW_SIZE(v, CSC, D_DATAIN_SIZE_EXT_0, DATAIN_HEIGHT_EXT);
	n->pixel_bytes = 0;
	n->uv_bytes = 0;
	n->r = VIEW_SIZE(v, CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_HEIGHT_EXT);
	n->s = VIEW_SIZE(v, CSC, D_WEIGHT_SIZE_EXT_0, WEIGHT_WIDTH_EXT);
	n->k = VIEW_SIZE(v, CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_KERNEL);
	n->out_w = VIEW_SIZE(v, CSC, D_DATAOUT_SIZE_0, DATAOUT_WIDTH);
	n->out_h = VIEW_SIZE(v, CSC, D_DATAOUT_SIZE_0, DATAOUT_HEIGHT);
	n->pad_left = VIEW(v, CDMA, D_ZERO_PADDING, PAD_LEFT);
	n->pad_right = VIEW(v, CDMA, D_ZERO_PADDING, PAD_RIGHT);
	n->pad_top = VIEW(v, CDMA, D_ZERO_PADDING, PAD_TOP);
	n->pad_bottom = VIEW(v, CDMA, D_ZERO_PADDING, PAD_BOTTOM);
	n->stride_x = VIEW_SIZE(v, CSC, D_CONV_STRIDE_EXT, CONV_X_STRIDE_EXT);
	n->stride_y = VIEW_SIZE(v, CSC, D_CONV_STRIDE_EXT, CONV_Y_STRIDE_EXT);
	n->dilation_x = VIEW_SIZE(v, CSC, D_DILATION_EXT, X_DILATION_EXT);
	n->dilation_y = VIEW_SIZE(v, CSC, D_DILATION_EXT, Y_DILATION_EXT);
	n->eps = VIEW_SIZE(v, CDMA, D_ENTRY_PER_SLICE, ENTRIES);
	n->kernel_bytes = VIEW_SIZE(v, CDMA, D_WEIGHT_SIZE_0, BYTE_PER_KERNEL);
	n->data_banks = VIEW_SIZE(v, CDMA, D_BANK, DATA_BANK);
	n->weight_banks = VIEW_SIZE(v, CDMA, D_BANK, WEIGHT_BANK);
	n->data_reuse = VIEW(v, CDMA, D_MISC_CFG, DATA_REUSE);
	n->skip_data = VIEW(v, CDMA, D_MISC_CFG, SKIP_DATA_RLS);
	n->weight_reuse = VIEW(v, CDMA, D_MISC_CFG, WEIGHT_REUSE);
	n->skip_weight = VIEW(v, CDMA, D_MISC_CFG, SKIP_WEIGHT_RLS);
}

/*
 * Kernel rows side by side: what else is programmed comes out wrong, or the weights of later
 * tasks are read from the wrong place (seen on the RTL).
 */
static int check_rows(const struct nvdla_task_view *v, const struct conv *n, u32 channels)
{
	u32 rows = 1u << VIEW(v, CSC, D_POST_Y_EXTENSION, Y_EXTENSION);
	u32 group = n->s * channels * rows, step = n->stride_x * channels * rows;

	if (rows == 1)
		return 0;
	if (group > v->cfg->atomic_c)
		return nvdla_refuse(v, NVDLA_CSC_D_POST_Y_EXTENSION,
				    "kernel rows side by side within the atomic channel count",
				    group, v->cfg->atomic_c);
	if (step > v->cfg->atomic_c)
		return nvdla_refuse(v, NVDLA_CSC_D_POST_Y_EXTENSION,
				    "steps of rows side by side within the atomic channel count",
				    step, v->cfg->atomic_c);
	if (n->r % rows)
		return nvdla_refuse(v, NVDLA_CSC_D_POST_Y_EXTENSION,
				    "kernel rows side by side that are a whole number", n->r, rows);
	return 0;
}

/* Pixel input: kernel columns are folded into channels, lines are stored with their padding. */
static int check_image(const struct nvdla_task_view *v, struct conv *n)
{
	u32 format = VIEW(v, CDMA, D_DATAIN_FORMAT, PIXEL_FORMAT);
	u32 folded = VIEW_SIZE(v, CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT);
	u32 offset = VIEW(v, CDMA, D_PIXEL_OFFSET, PIXEL_X_OFFSET);
	const struct nvdla_pixel_format *p = nvdla_pixel_format_find(format);
	u32 channels;
	int err;

	if (!p)
		return nvdla_refuse(v, NVDLA_CDMA_D_DATAIN_FORMAT,
				    "a pixel format of one byte a channel", format, 0);
	channels = p->bytes + p->uv_bytes;
	if (n->c != channels)
		return nvdla_refuse(v, NVDLA_CDMA_D_DATAIN_SIZE_1, "channels of the pixel format",
				    n->c, channels);
	if (n->s != 1 || folded % channels)
		return nvdla_refuse(v, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1,
				    "kernel columns folded into whole pixels", folded, channels);
	n->s = folded / channels;
	if (n->s > 32)
		return nvdla_refuse(v, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1, "kernels up to 32 wide", n->s,
				    32);
	if (n->dilation_x != 1)
		return nvdla_refuse(v, NVDLA_CSC_D_DILATION_EXT, "no dilation of pixels",
				    n->dilation_x, 1);
	if (offset * max(p->bytes, p->uv_bytes) >= v->cfg->atom)
		return nvdla_refuse(v, NVDLA_CDMA_D_PIXEL_OFFSET, "offset inside of an atom",
				    offset * max(p->bytes, p->uv_bytes), v->cfg->atom);
	err = check_rows(v, n, channels);
	if (err)
		return err;
	n->pixel_bytes = p->bytes;
	n->uv_bytes = p->uv_bytes;
	return 0;
}

static int check_features(const struct nvdla_task_view *v, const struct conv *n)
{
	u32 channels = VIEW_SIZE(v, CSC, D_WEIGHT_SIZE_EXT_1, WEIGHT_CHANNEL_EXT);
	u32 format = nvdla_view_reg(v, NVDLA_CDMA_D_DATAIN_FORMAT);
	u32 offset = nvdla_view_reg(v, NVDLA_CDMA_D_PIXEL_OFFSET);
	u32 y_extension = VIEW(v, CSC, D_POST_Y_EXTENSION, Y_EXTENSION);
	u32 mean = VIEW(v, CDMA, D_MEAN_FORMAT, MEAN_FORMAT);

	if (channels != n->c)
		return nvdla_refuse(v, NVDLA_CSC_D_WEIGHT_SIZE_EXT_1, "channels of the input",
				    channels, n->c);
	if (format)
		return nvdla_refuse(v, NVDLA_CDMA_D_DATAIN_FORMAT, "no pixel format for features",
				    format, 0);
	if (offset)
		return nvdla_refuse(v, NVDLA_CDMA_D_PIXEL_OFFSET, "no pixel offset for features",
				    offset, 0);
	if (y_extension)
		return nvdla_refuse(v, NVDLA_CSC_D_POST_Y_EXTENSION,
				    "no extension of kernel rows for features", y_extension, 0);
	if (mean)
		return nvdla_refuse(v, NVDLA_CDMA_D_MEAN_FORMAT, "no mean for features", mean, 0);
	return 0;
}

/*
 * One axis: as many windows of the (dilated) kernel as the padded input holds; what the last one
 * leaves at the end is less than a stride.  Padding as wide as the kernel is the most that the RTL
 * was tried with.
 */
static int check_axis(const struct nvdla_task_view *v, u32 in, u32 out, u32 kernel, u32 stride,
		      u32 before, u32 after)
{
	u32 covered = (out - 1) * stride + kernel, padded = before + in + after;

	if (before > kernel || after > kernel)
		return nvdla_refuse(v, NVDLA_CDMA_D_ZERO_PADDING, "padding up to the kernel's size",
				    max(before, after), kernel);
	if (covered > padded || padded - covered >= stride)
		return nvdla_refuse(v, NVDLA_CSC_D_DATAOUT_SIZE_0,
				    "as many windows as input and padding hold", covered, padded);
	return 0;
}

static int check_geometry(const struct nvdla_task_view *v, const struct conv *n)
{
	u32 atomics = VIEW_SIZE(v, CSC, D_ATOMICS, ATOMICS);
	int err;

	err = check_axis(v, n->w, n->out_w, (n->s - 1) * n->dilation_x + 1, n->stride_x,
			 n->pad_left, n->pad_right);
	if (err)
		return err;
	err = check_axis(v, n->rows, n->out_h, (n->r - 1) * n->dilation_y + 1, n->stride_y,
			 n->pad_top, n->pad_bottom);
	if (err)
		return err;
	if (atomics != n->out_w * n->out_h)
		return nvdla_refuse(v, NVDLA_CSC_D_ATOMICS, "output width times height, minus one",
				    atomics - 1, n->out_w * n->out_h - 1);
	return 0;
}

static int check_weights(const struct nvdla_task_view *v, const struct conv *n)
{
	const struct nvdla_config *cfg = v->cfg;
	u32 kernel_bytes = n->c * n->r * n->s;
	u32 room = n->weight_banks * cfg->entries;
	u32 bytes = VIEW(v, CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES);
	u32 entries;
	u64 want;

	if (n->kernel_bytes != kernel_bytes)
		return nvdla_refuse(v, NVDLA_CDMA_D_WEIGHT_SIZE_0,
				    "channels times kernel height times width, minus one",
				    n->kernel_bytes - 1, kernel_bytes - 1);
	want = nvdla_cbuf_weight_bytes(cfg, n->k, kernel_bytes);
	if (bytes != want)
		return nvdla_refuse(v, NVDLA_CDMA_D_WEIGHT_BYTES,
				    "weights rounded up to a CBUF entry and no more", bytes, want);
	entries = bytes / cfg->entry_bytes;
	if (n->skip_weight && entries > room)
		return nvdla_refuse(v, NVDLA_CDMA_D_BANK,
				    "entries of weights that stay fit the weight banks", entries,
				    room);
	return 0;
}

static int check_buffer(const struct nvdla_task_view *v, const struct conv *n)
{
	const struct nvdla_config *cfg = v->cfg;
	u32 banks = n->data_banks + n->weight_banks;
	u32 room = n->data_banks * cfg->entries;
	u32 kept = n->rows > n->h ? n->rows - n->h : 0;
	u32 grain = VIEW_SIZE(v, CDMA, D_FETCH_GRAIN, GRAINS);
	u32 eps = n->image ? nvdla_cbuf_image_eps(cfg, n->pad_left + n->w + n->pad_right, n->c)
			   : nvdla_cbuf_feature_eps(cfg, n->w, n->c);

	if (n->eps != eps)
		return nvdla_refuse(v, NVDLA_CDMA_D_ENTRY_PER_SLICE,
				    "entries of one input line, minus one", n->eps - 1, eps - 1);
	if (banks > cfg->banks)
		return nvdla_refuse(v, NVDLA_CDMA_D_BANK, "data and weight banks that there are",
				    banks, cfg->banks);
	if (n->rows * eps > room)
		return nvdla_refuse(v, NVDLA_CDMA_D_BANK,
				    "entries of all input lines fit the data banks", n->rows * eps,
				    room);
	if ((kept + grain) * eps > room)
		return nvdla_refuse(v, NVDLA_CDMA_D_FETCH_GRAIN,
				    "entries of kept lines and one fetch fit the data banks",
				    (kept + grain) * eps, room);
	return 0;
}

/* The lines and weights that the task before left, or none at all. */
static int check_data_reuse(const struct nvdla_task_view *v, const struct conv *n,
			    const struct nvdla_conv_state *last)
{
	const u32 misc = NVDLA_CDMA_D_MISC_CFG;
	u32 kept = last->valid ? last->kept : 0;

	if (!n->data_reuse) {
		if (last->valid && last->whole)
			return nvdla_refuse(v, misc,
					    "data kept by SKIP_DATA_RLS are used by the next task",
					    0, 1);
		if (n->rows != n->h)
			return nvdla_refuse(v, NVDLA_CSC_D_DATAIN_SIZE_EXT_0,
					    "lines that CDMA fetches", n->rows, n->h);
		return 0;
	}
	if (!kept)
		return nvdla_refuse(v, misc, "DATA_REUSE after a task that kept data", 1, 0);
	if (n->data_banks != last->data_banks)
		return nvdla_refuse(v, NVDLA_CDMA_D_BANK, "DATA_REUSE with the same data banks",
				    n->data_banks, last->data_banks);
	if (n->image != last->image || n->w != last->width || n->c != last->channels ||
	    n->eps != last->eps)
		return nvdla_refuse(v, NVDLA_CDMA_D_DATAIN_SIZE_0,
				    "DATA_REUSE with lines of the same format and size", n->w,
				    last->width);
	if (n->image && (n->pad_left != last->pad_left || n->pad_right != last->pad_right))
		return nvdla_refuse(v, NVDLA_CDMA_D_ZERO_PADDING,
				    "DATA_REUSE of pixels with the same padding", n->pad_left,
				    last->pad_left);
	if (last->whole) {
		if (n->rows != kept)
			return nvdla_refuse(v, NVDLA_CSC_D_DATAIN_SIZE_EXT_0,
					    "lines that SKIP_DATA_RLS kept", n->rows, kept);
		if (n->h > n->rows)
			return nvdla_refuse(v, NVDLA_CDMA_D_DATAIN_SIZE_0,
					    "no more lines than CSC uses", n->h, n->rows);
		return 0;
	}
	if (n->rows != kept + n->h)
		return nvdla_refuse(v, NVDLA_CSC_D_DATAIN_SIZE_EXT_0,
				    "lines that were kept and lines that CDMA fetches", n->rows,
				    kept + n->h);
	return 0;
}

static int check_weight_reuse(const struct nvdla_task_view *v, const struct conv *n,
			      const struct nvdla_conv_state *last)
{
	bool kept = last->valid && last->weights_kept;

	if (n->weight_reuse && !kept)
		return nvdla_refuse(v, NVDLA_CDMA_D_MISC_CFG,
				    "WEIGHT_REUSE after a task that kept weights", 1, 0);
	if (!n->weight_reuse && kept)
		return nvdla_refuse(v, NVDLA_CDMA_D_MISC_CFG,
				    "weights that SKIP_WEIGHT_RLS kept are used by the next task",
				    0, 1);
	if (!kept)
		return 0;
	if (n->data_banks != last->data_banks || n->weight_banks != last->weight_banks)
		return nvdla_refuse(v, NVDLA_CDMA_D_BANK, "WEIGHT_REUSE with the same bank split",
				    n->weight_banks, last->weight_banks);
	if (n->k != last->kernels || n->kernel_bytes != last->kernel_bytes)
		return nvdla_refuse(v, NVDLA_CDMA_D_WEIGHT_BYTES,
				    "WEIGHT_REUSE with weights of the same size",
				    (u64)n->k * n->kernel_bytes,
				    (u64)last->kernels * last->kernel_bytes);
	return 0;
}

static int check_release(const struct nvdla_task_view *v, const struct conv *n, u32 *kept)
{
	u32 released = VIEW_SIZE(v, CSC, D_RELEASE, RLS_SLICES);

	if (released > n->rows)
		return nvdla_refuse(v, NVDLA_CSC_D_RELEASE, "no more lines than there are",
				    released, n->rows);
	if (n->skip_data && released != n->rows)
		return nvdla_refuse(v, NVDLA_CSC_D_RELEASE, "all lines where SKIP_DATA_RLS is set",
				    released, n->rows);
	*kept = n->skip_data ? n->rows : n->rows - released;
	return 0;
}

static int check_reuse(const struct nvdla_task_view *v, const struct conv *n,
		       struct nvdla_conv_state *state, struct nvdla_chain_task_info *info)
{
	u32 kept = 0;
	int err;

	err = check_data_reuse(v, n, state);
	if (!err)
		err = check_weight_reuse(v, n, state);
	if (!err)
		err = check_release(v, n, &kept);
	if (err)
		return err;

	*state = (struct nvdla_conv_state){
		.valid = true,
		.image = n->image,
		.whole = n->skip_data,
		.weights_kept = n->skip_weight,
		.width = n->w,
		.channels = n->c,
		.eps = n->eps,
		.pad_left = n->pad_left,
		.pad_right = n->pad_right,
		.kept = kept,
		.data_banks = n->data_banks,
		.weight_banks = n->weight_banks,
		.kernels = n->k,
		.kernel_bytes = n->kernel_bytes,
	};
	if (n->data_reuse || n->weight_reuse)
		info->flags |= NVDLA_TASK_REUSES;
	if (kept || n->skip_weight)
		info->flags |= NVDLA_TASK_KEEPS;
	if (n->skip_weight)
		info->flags |= NVDLA_TASK_KEEPS_WEIGHTS;
	info->data_banks = n->data_banks;
	info->weight_banks = n->weight_banks;
	info->weight_entries = VIEW(v, CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES) / v->cfg->entry_bytes;
	return 0;
}

static int add_features(const struct nvdla_task_view *v, const struct conv *n,
			struct nvdla_access_list *list)
{
	u32 line = VIEW(v, CDMA, D_LINE_STRIDE, LINE_STRIDE);
	u32 surface = VIEW(v, CDMA, D_SURF_STRIDE, SURF_STRIDE);
	u32 packed = n->w * v->cfg->atom;
	struct nvdla_access_want want = {
		.low = NVDLA_CDMA_D_DAIN_ADDR_LOW_0,
		.line_reg = NVDLA_CDMA_D_LINE_STRIDE,
		.surface_reg = NVDLA_CDMA_D_SURF_STRIDE,
		.port_reg = NVDLA_CDMA_D_DAIN_RAM_TYPE,
		.port = VIEW(v, CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE),
		.surface = nvdla_surface_feature(v->cfg, n->w, n->h, n->c, line, surface),
	};

	/* Packed lines and surfaces are fetched without a look at the strides. */
	if (VIEW(v, CDMA, D_DAIN_MAP, LINE_PACKED) && line != packed)
		return nvdla_refuse(v, NVDLA_CDMA_D_LINE_STRIDE,
				    "bytes of a line where LINE_PACKED is set", line, packed);
	if (VIEW(v, CDMA, D_DAIN_MAP, SURF_PACKED) && surface != packed * n->h)
		return nvdla_refuse(v, NVDLA_CDMA_D_SURF_STRIDE,
				    "bytes of a surface where SURF_PACKED is set", surface,
				    packed * n->h);
	return nvdla_access_add(v, list, &want);
}

static int add_plane(const struct nvdla_task_view *v, const struct conv *n,
		     struct nvdla_access_list *list, u32 low, u32 line_reg, u32 bytes)
{
	u32 beat = v->cfg->dbb_bytes;
	u32 offset = VIEW(v, CDMA, D_PIXEL_OFFSET, PIXEL_X_OFFSET);
	struct nvdla_access_want want = {
		.low = low,
		.line_reg = line_reg,
		.surface_reg = line_reg,
		.port_reg = NVDLA_CDMA_D_DAIN_RAM_TYPE,
		.port = VIEW(v, CDMA, D_DAIN_RAM_TYPE, DATAIN_RAM_TYPE),
		.surface = {
			/* Whole beats are read. */
			.line_bytes = DIV_ROUND_UP((offset + n->w) * bytes, beat) * beat,
			.lines = n->h,
			.surfaces = 1,
			.line_stride = nvdla_view_reg(v, line_reg),
		},
	};

	return nvdla_access_add(v, list, &want);
}

static int add_image(const struct nvdla_task_view *v, const struct conv *n,
		     struct nvdla_access_list *list)
{
	u32 map = nvdla_view_reg(v, NVDLA_CDMA_D_DAIN_MAP);
	int err;

	if (map)
		return nvdla_refuse(v, NVDLA_CDMA_D_DAIN_MAP, "no packed map for pixels", map, 0);
	err = add_plane(v, n, list, NVDLA_CDMA_D_DAIN_ADDR_LOW_0, NVDLA_CDMA_D_LINE_STRIDE,
			n->pixel_bytes);
	if (err || !n->uv_bytes)
		return err;
	return add_plane(v, n, list, NVDLA_CDMA_D_DAIN_ADDR_LOW_1, NVDLA_CDMA_D_LINE_UV_STRIDE,
			 n->uv_bytes);
}

static int add_weights(const struct nvdla_task_view *v, struct nvdla_access_list *list)
{
	struct nvdla_access_want want = {
		.low = NVDLA_CDMA_D_WEIGHT_ADDR_LOW,
		.port_reg = NVDLA_CDMA_D_WEIGHT_RAM_TYPE,
		.port = VIEW(v, CDMA, D_WEIGHT_RAM_TYPE, WEIGHT_RAM_TYPE),
		.surface = nvdla_surface_flat(VIEW(v, CDMA, D_WEIGHT_BYTES, WEIGHT_BYTES)),
	};

	return nvdla_access_add(v, list, &want);
}

/* A kernel group has to arrive as a whole, which depends on where the weights start. */
static int check_group(const struct nvdla_task_view *v, const struct conv *n,
		       const struct nvdla_access_list *list, struct nvdla_chain_task_info *info)
{
	u64 address = list->access[list->count - 1].offset;
	u32 need = nvdla_cbuf_group_entries(v->cfg, n->k, n->kernel_bytes, address);
	u32 room = n->weight_banks * v->cfg->entries;

	if (need > room)
		return nvdla_refuse(v, NVDLA_CDMA_D_BANK,
				    "entries of one kernel group fit the weight banks", need, room);
	if (info)
		info->weight_need = need;
	return 0;
}

int nvdla_check_conv(const struct nvdla_task_view *v, struct nvdla_access_list *list,
		     struct nvdla_conv_state *state, struct nvdla_chain_task_info *info)
{
	struct conv n;
	int err;

	read_conv(v, &n);
	err = n.image ? check_image(v, &n) : check_features(v, &n);
	if (!err)
		err = check_geometry(v, &n);
	if (!err)
		err = check_weights(v, &n);
	if (!err)
		err = check_buffer(v, &n);
	if (!err && state)
		err = check_reuse(v, &n, state, info);
	if (!err)
		err = n.image ? add_image(v, &n, list) : add_features(v, &n, list);
	if (!err)
		err = add_weights(v, list);
	if (!err)
		err = check_group(v, &n, list, info);
	return err;
}
