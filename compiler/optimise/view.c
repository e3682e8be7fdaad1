// SPDX-License-Identifier: MIT
#include "view.h"

static u32 surfaces_of(const struct npu_opt *opt, u32 channels)
{
	return DIV_ROUND_UP(channels, (u32)opt->config->atom);
}

struct npu_view npu_view_box(const struct npu_opt *opt, u32 value, u32 y, u32 x, u32 c, u32 step_y)
{
	const struct npu_value *v = &opt->net->value[value];
	u32 atom = opt->config->atom;

	return (struct npu_view){
		.h = DIV_ROUND_UP(v->h - y, step_y),
		.w = v->w - x,
		.c = v->c - c,
		.offset = (u64)y * v->line_stride + (u64)x * atom +
			  (u64)(c / atom) * v->surface_stride,
		.line_stride = v->line_stride * step_y,
		.surface_stride = v->surface_stride,
	};
}

static u64 extent(const struct npu_opt *opt, const struct npu_view *view)
{
	return (u64)(surfaces_of(opt, view->c) - 1) * view->surface_stride +
	       (u64)(view->h - 1) * view->line_stride + (u64)view->w * opt->config->atom;
}

bool npu_view_is_legal(const struct npu_opt *opt, const struct npu_view *view)
{
	if (view->h > NPU_MAX_EXTENT || view->w > NPU_MAX_EXTENT || view->c > NPU_MAX_EXTENT)
		return false;
	return view->h > 1 || view->w > 1 || view->surface_stride == opt->config->atom ||
	       surfaces_of(opt, view->c) == 1;
}

static void set_view(struct npu_opt *opt, struct npu_value *value, u32 whole,
		     const struct npu_view *view)
{
	value->layout = NPU_FEATURE;
	value->dtype = NPU_I8;
	value->h = view->h;
	value->w = view->w;
	value->c = view->c;
	value->line_stride = view->line_stride;
	value->surface_stride = view->surface_stride;
	value->bytes = extent(opt, view);
	value->alias = whole;
	value->alias_offset = view->offset;
	opt->net->value[whole].viewed = true;
	/* A view of what is nothing but a view is one of the same bytes: the other need not be kept. */
	if (opt->net->value[whole].tensor == NPU_NONE && opt->net->value[whole].alias != NPU_NONE) {
		value->alias = opt->net->value[whole].alias;
		value->alias_offset += opt->net->value[whole].alias_offset;
	}
}

u32 npu_opt_add_view(struct npu_opt *opt, u32 whole, const struct npu_view *view, const char *name)
{
	u32 index = npu_opt_add_value_like(opt, whole, name);

	if (index != NPU_NONE)
		set_view(opt, &opt->net->value[index], whole, view);
	return index;
}

void npu_opt_become_view(struct npu_opt *opt, u32 value, u32 whole, const struct npu_view *view)
{
	set_view(opt, &opt->net->value[value], whole, view);
}

int npu_opt_add_copy(struct npu_opt *opt, u32 op, u32 from, u32 to)
{
	struct npu_layer *layer = npu_opt_add_layer(opt, NPU_LAYER_SDP, op);

	if (!layer || from == NPU_NONE || to == NPU_NONE)
		return npu_opt_nomem(opt);
	layer->input = from;
	layer->output = to;
	return 0;
}

static int copy_view(struct npu_opt *opt, u32 op, u32 from, u32 to, const struct npu_view *source,
		     const struct npu_view *target)
{
	if (!npu_view_is_legal(opt, source) || !npu_view_is_legal(opt, target))
		return -E2BIG;
	return npu_opt_add_copy(opt, op, npu_opt_add_view(opt, from, source, "from"),
				npu_opt_add_view(opt, to, target, "to"));
}

static int copy_rows(struct npu_opt *opt, u32 op, u32 from, u32 to, const struct npu_view *source,
		     const struct npu_view *target)
{
	u32 atom = opt->config->atom, c;
	int error = 0;

	if (npu_view_is_legal(opt, source) && npu_view_is_legal(opt, target))
		return copy_view(opt, op, from, to, source, target);
	for (c = 0; c < source->c && !error; c += atom) {
		struct npu_view in = *source, out = *target;

		in.c = out.c = min(atom, source->c - c);
		in.offset += (u64)(c / atom) * source->surface_stride;
		out.offset += (u64)(c / atom) * target->surface_stride;
		error = copy_view(opt, op, from, to, &in, &out);
	}
	return error;
}

int npu_opt_copy_box(struct npu_opt *opt, u32 op, u32 from, u32 to, const struct npu_view *source,
		     const struct npu_view *target)
{
	u32 row;
	int error = 0;

	for (row = 0; row < source->h && !error; row += NPU_MAX_EXTENT) {
		struct npu_view in = *source, out = *target;

		in.h = out.h = min(NPU_MAX_EXTENT, source->h - row);
		in.offset += (u64)row * in.line_stride;
		out.offset += (u64)row * out.line_stride;
		error = copy_rows(opt, op, from, to, &in, &out);
	}
	return error;
}

int npu_opt_fill_box(struct npu_opt *opt, u32 op, u32 value, const struct npu_view *box, s32 fill)
{
	u32 i = opt->net->layer_count;
	int error = npu_opt_copy_box(opt, op, value, value, box, box);

	for (; i < opt->net->layer_count && !error; i++) {
		struct npu_sdp *sdp = &opt->net->layer[i].sdp;

		sdp->bs = (struct npu_sdp_stage){ .mul_from = NPU_OPERAND_REGISTER,
						  .value = NPU_NONE };
		sdp->cvt_offset = -fill;
	}
	return error;
}

/* Where one pixel is a line, or rows follow each other without gaps, cubes need not be turned. */
static int spread_plain(struct npu_opt *opt, u32 op, u32 from, u32 to, u32 y, u32 x, u32 step_y)
{
	const struct npu_value *in = &opt->net->value[from];
	struct npu_view view = npu_view_box(opt, to, y, x, 0, step_y);

	view.h = in->h;
	view.w = in->w;
	if (!npu_view_is_legal(opt, &view))
		return -E2BIG;
	return npu_opt_add_copy(opt, op, from, npu_opt_add_view(opt, to, &view, "rows"));
}

int npu_opt_spread(struct npu_opt *opt, u32 op, u32 from, u32 to, u32 y, u32 x, u32 step_y,
		   u32 step_x)
{
	u32 atom = opt->config->atom, c, rows = opt->net->value[from].h;
	int error = 0;

	if ((step_x == 1 || opt->net->value[from].w == 1) &&
	    (opt->net->value[from].h > 1 || opt->net->value[from].w > 1))
		return spread_plain(opt, op, from, to, y, x, step_y);
	if (rows * atom > NPU_MAX_EXTENT)
		return -E2BIG;
	for (c = 0; c < opt->net->value[to].c && !error; c += atom) {
		struct npu_view in = npu_view_box(opt, from, 0, 0, c, 1);
		struct npu_view out = npu_view_box(opt, to, y, x, c, step_y);
		u32 source, target;

		in.h = out.h = in.w;
		in.w = out.w = 1;
		in.c = out.c = rows * atom;
		in.surface_stride = in.line_stride;
		out.surface_stride = out.line_stride;
		in.line_stride = atom;
		out.line_stride = step_x * atom;
		if (!npu_view_is_legal(opt, &in) || !npu_view_is_legal(opt, &out))
			return -E2BIG;
		source = npu_opt_add_view(opt, from, &in, "pixels");
		target = npu_opt_add_view(opt, to, &out, "pixels");
		error = npu_opt_add_copy(opt, op, source, target);
	}
	return error;
}
