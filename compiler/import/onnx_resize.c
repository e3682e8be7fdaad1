// SPDX-License-Identifier: MIT
/*
 * Resize and Upsample.  Where the graph's own operators have other coordinates, rows and columns are
 * picked by constant indices, between two of them in shares.
 */
#include "onnx.h"
#include "rearrange.h"

#include <math.h>

enum coordinates { ASYMMETRIC, HALF_PIXEL, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, COORDINATES_COUNT };
enum rounding { PREFER_FLOOR, PREFER_CEIL, FLOOR, CEIL, ROUNDING_COUNT };

/**
 * struct resizing - what the node at work asks for
 * @dim: of the result, in ONNX's order
 * @scale: by which coordinates are divided
 * @exact: they are the ratios of the sizes
 */
struct resizing {
	u32 dim[4];
	double scale[4];
	bool exact, linear;
	enum coordinates coordinates;
	enum rounding rounding;
};

/* The texts of an attribute in the order of an enumeration; -1: another one. */
static int find_text(const struct onnx *o, const char *name, const char *const *texts, u32 count,
		     u32 other)
{
	u32 i;

	for (i = 0; i < count; i++)
		if (onnx_text_is(o, name, texts[i], i == other))
			return (int)i;
	return -1;
}

static int read_modes(struct onnx *o, struct resizing *r)
{
	static const char *const ways[COORDINATES_COUNT] = { "asymmetric", "half_pixel",
							     "pytorch_half_pixel",
							     "align_corners" };
	static const char *const roundings[ROUNDING_COUNT] = { "round_prefer_floor",
							       "round_prefer_ceil", "floor",
							       "ceil" };
	bool old = o->opset < 11;
	int way = find_text(o, "coordinate_transformation_mode", ways, COORDINATES_COUNT,
			    old ? ASYMMETRIC : HALF_PIXEL);
	int rounding =
		find_text(o, "nearest_mode", roundings, ROUNDING_COUNT, old ? FLOOR : PREFER_FLOOR);

	r->linear = onnx_text_is(o, "mode", "linear", false);
	if (!r->linear && !onnx_text_is(o, "mode", "nearest", true))
		return onnx_fail(o, -ENOTSUP, "neither nearest nor linear");
	if (way < 0)
		return onnx_fail(o, -ENOTSUP, "this coordinate transformation");
	if (rounding < 0)
		return onnx_fail(o, -ENOTSUP, "this rounding of coordinates");
	if (onnx_int(o, "antialias", 0))
		return onnx_fail(o, -ENOTSUP, "antialias");
	if (!onnx_text_is(o, "keep_aspect_ratio_policy", "stretch", true))
		return onnx_fail(o, -ENOTSUP, "sizes that keep the aspect ratio");
	r->coordinates = (enum coordinates)way;
	r->rounding = (enum rounding)rounding;
	return 0;
}

/* Height and width of the result, by sizes or by scales; other dimensions stay. */
static int read_sizes(struct onnx *o, struct resizing *r)
{
	u32 scales_at = o->opset < 11 ? 1 : 2, i, count = 0;
	const struct onnx_value *in = o->in[0], *scales = NULL;
	const struct npu_tensor *t;
	s64 sizes[4];
	int error = 0;

	if (o->opset >= 11 && o->in_count > 3 && o->in[3] && !o->in[3]->empty)
		error = onnx_integers(o, 3, sizes, 4, &count);
	if (error)
		return error;
	if (!count && scales_at < o->in_count)
		scales = o->in[scales_at];
	t = scales && !scales->empty ? onnx_constant(o, scales) : NULL;
	if (count != 4 && (!t || t->dtype != NPU_F32 || npu_tensor_elements(t) != 4))
		return onnx_fail(o, -ENOTSUP, "needs four constant scales or sizes");
	r->exact = true;
	for (i = 0; i < 4; i++) {
		double wanted = count ? (double)sizes[i]
				      : (double)((float)in->dim[i] * ((const float *)t->data)[i]);
		double size = floor(wanted);

		if (!(size >= 1 && size <= 65535) || (i < 2 && size != in->dim[i]))
			return onnx_fail(o, -ENOTSUP, "dimension %u becomes %g", i, size);
		r->exact &= size == wanted;
		r->dim[i] = (u32)size;
		r->scale[i] = count ? size / in->dim[i] : (double)((const float *)t->data)[i];
	}
	return 0;
}

/* ---- the graph's own operators ---- */

/* Rounding to nearest and down are the same where each element becomes a whole number of them. */
static bool grows_by_integers(const struct onnx_value *in, const struct resizing *r)
{
	return !(r->dim[2] % in->dim[2]) && !(r->dim[3] % in->dim[3]);
}

static bool is_own_nearest(const struct onnx_value *in, const struct resizing *r)
{
	if (!r->exact)
		return false;
	if (r->coordinates == ASYMMETRIC)
		return r->rounding == FLOOR;
	return (r->coordinates == HALF_PIXEL || r->coordinates == PYTORCH_HALF_PIXEL) &&
	       r->rounding == PREFER_FLOOR && grows_by_integers(in, r) && r->dim[2] > 1 &&
	       r->dim[3] > 1;
}

static int add_resize(struct onnx *o, const struct resizing *r)
{
	u32 in, out;
	struct npu_op *op;
	int error = onnx_operand(o, 0, ONNX_IMAGE, &in);

	if (!error)
		error = onnx_result(o, 0, ONNX_IMAGE, 4, r->dim, &out);
	if (error)
		return error;
	op = onnx_add_op(o, r->linear ? NPU_OP_RESIZE_BILINEAR : NPU_OP_RESIZE_NEAREST, &in, 1,
			 out);
	if (!op)
		return -ENOMEM;
	op->align_corners = r->coordinates == ALIGN_CORNERS;
	op->half_pixel_centers = r->coordinates == HALF_PIXEL ||
				 r->coordinates == PYTORCH_HALF_PIXEL;
	return 0;
}

/* ---- by constant indices ---- */

/* Where element @i of dimension @d of the result lies in the input. */
static double coordinate(const struct resizing *r, const struct onnx_value *in, u32 d, u32 i)
{
	switch (r->coordinates) {
	case ASYMMETRIC:
		return i / r->scale[d];
	case ALIGN_CORNERS:
		return r->dim[d] > 1 ? (double)i * (in->dim[d] - 1) / (r->dim[d] - 1) : 0;
	case PYTORCH_HALF_PIXEL:
		if (r->dim[d] == 1)
			return 0;
		return (i + 0.5) / r->scale[d] - 0.5;
	default:
		return (i + 0.5) / r->scale[d] - 0.5;
	}
}

static double rounded(enum rounding rounding, double x)
{
	switch (rounding) {
	case PREFER_FLOOR:
		return ceil(x - 0.5);
	case PREFER_CEIL:
		return floor(x + 0.5);
	case FLOOR:
		return floor(x);
	default:
		return ceil(x);
	}
}

static int select_nearest(struct onnx *o, const struct resizing *r, u32 d,
			  struct npu_selection *selection)
{
	const struct onnx_value *in = o->in[0];
	u32 i;
	s32 *index;
	int error = onnx_expand(o, r->dim[d] * sizeof(*index));

	if (error)
		return error;
	index = npu_arena_array(&o->graph->arena, r->dim[d], sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (i = 0; i < r->dim[d]; i++)
		index[i] = (s32)fmin(fmax(rounded(r->rounding, coordinate(r, in, d, i)), 0),
				     in->dim[d] - 1);
	*selection = (struct npu_selection){ index, r->dim[d] };
	return 0;
}

static int add_picked(struct onnx *o, const struct resizing *r)
{
	struct npu_selection selection[NPU_MAX_RANK] = { 0 };
	u32 d;
	int error = 0;

	for (d = 2; !error && d < 4; d++)
		error = select_nearest(o, r, d, &selection[d]);
	return error ? error : onnx_add_selections(o, ONNX_IMAGE, selection);
}

/* ---- by shares of two neighbours ---- */

/* The two elements around each one of the result, and the share of the second. */
static int select_linear(struct onnx *o, const struct resizing *r, u32 d,
			 struct npu_selection neighbour[2], float **share)
{
	u32 last = o->in[0]->dim[d] - 1, i, k;
	int error = onnx_expand(o, r->dim[d] * (u64)(2 * sizeof(s32) + sizeof(float)));

	if (error)
		return error;
	*share = npu_arena_array(&o->graph->arena, r->dim[d], sizeof(**share));
	for (k = 0; k < 2; k++) {
		neighbour[k].count = r->dim[d];
		neighbour[k].index = npu_arena_array(&o->graph->arena, r->dim[d], sizeof(s32));
	}
	if (!*share || !neighbour[0].index || !neighbour[1].index)
		return -ENOMEM;
	for (i = 0; i < r->dim[d]; i++) {
		double at = fmin(fmax(coordinate(r, o->in[0], d, i), 0), last);
		u32 first = (u32)floor(at);

		neighbour[0].index[i] = (s32)first;
		neighbour[1].index[i] = (s32)min(first + 1, last);
		(*share)[i] = (float)(at - first);
	}
	return 0;
}

/* @in times a number for each element of dimension @axis: @share, or 1 - @share. */
static int add_weighted(struct onnx *o, const float *share, bool rest, u32 axis, u32 *in)
{
	struct npu_tensor source = *onnx_tensor(o, *in);
	u32 dim[] = { 1, 1, 1, 1 }, inputs[] = { *in, NPU_NONE }, i;
	void *data = NULL;
	int error;

	dim[axis] = source.dim[axis];
	error = onnx_add_constant(o, source.name, NPU_F32, 4, dim, &inputs[1], &data);
	if (error)
		return error;
	for (i = 0; i < dim[axis]; i++)
		((float *)data)[i] = rest ? 1 - share[i] : share[i];
	error = onnx_add_tensor(o, source.name, NPU_F32, 4, source.dim, in);
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_MUL, inputs, 2, *in) ? 0 : -ENOMEM;
}

/* Dimension @d of the image @in becomes that of the result; @out: NPU_NONE: a tensor of its own. */
static int interpolate(struct onnx *o, const struct resizing *r, u32 d, u32 *in, u32 out)
{
	const u32 axis = onnx_graph_axis(ONNX_IMAGE, d);
	struct npu_selection neighbour[2] = { 0 };
	struct npu_tensor source = *onnx_tensor(o, *in);
	u32 part[2], k;
	float *share;
	int error = select_linear(o, r, d, neighbour, &share);

	source.dim[axis] = r->dim[d];
	for (k = 0; !error && k < 2; k++) {
		struct npu_selection selection[NPU_MAX_RANK] = { 0 };

		selection[axis] = neighbour[k];
		error = onnx_add_tensor(o, source.name, NPU_F32, 4, source.dim, &part[k]);
		if (!error)
			error = npu_add_selections(o->graph, source.name, *in, selection, part[k]);
		if (!error)
			error = add_weighted(o, share, !k, axis, &part[k]);
	}
	if (!error && out == NPU_NONE)
		error = onnx_add_tensor(o, source.name, NPU_F32, 4, source.dim, &out);
	*in = out;
	if (error)
		return error;
	return onnx_add_op(o, NPU_OP_ADD, part, 2, out) ? 0 : -ENOMEM;
}

/* Nothing happens along dimension @d. */
static bool stays(const struct onnx *o, const struct resizing *r, u32 d)
{
	return r->dim[d] == o->in[0]->dim[d] && r->scale[d] == 1;
}

static int add_interpolated(struct onnx *o, const struct resizing *r)
{
	const bool columns = !stays(o, r, 3);
	u32 in, out;
	int error = onnx_operand(o, 0, ONNX_IMAGE, &in);

	if (!error)
		error = onnx_result(o, 0, ONNX_IMAGE, 4, r->dim, &out);
	if (!error && !stays(o, r, 2))
		error = interpolate(o, r, 2, &in, columns ? NPU_NONE : out);
	return error || !columns ? error : interpolate(o, r, 3, &in, out);
}

/*
 * The graph's coordinates follow from the ratio of the sizes, and PyTorch's way differs where one element
 * is left.
 */
static bool is_own_linear(const struct resizing *r)
{
	return r->exact &&
	       (r->coordinates != PYTORCH_HALF_PIXEL || (r->dim[2] != 1 && r->dim[3] != 1));
}

bool onnx_resize_needs_reals(struct onnx *o)
{
	struct npu_diag *diag = o->diag;
	struct resizing r = { 0 };
	bool needs;

	/* What is wrong with it is said when it is read. */
	o->diag = NULL;
	needs = o->in_count && o->in[0] && o->in[0]->rank == 4 && !read_sizes(o, &r) &&
		!read_modes(o, &r) && r.linear && !is_own_linear(&r);
	o->diag = diag;
	return needs;
}

int onnx_read_resize(struct onnx *o)
{
	const struct onnx_value *in = o->in[0];
	struct resizing r = { 0 };
	int error;

	if (in->rank != 4)
		return onnx_fail(o, -ENOTSUP, "%.100s has rank %u, not 4", in->name, in->rank);
	error = read_sizes(o, &r);
	if (!error)
		error = read_modes(o, &r);
	if (error)
		return error;
	if (!r.linear)
		return is_own_nearest(in, &r) ? add_resize(o, &r) : add_picked(o, &r);
	if (is_own_linear(&r))
		return add_resize(o, &r);
	/* ONNX's own test takes the size before it is rounded for its last element, ONNX Runtime does not. */
	if (r.coordinates == ALIGN_CORNERS)
		return onnx_fail(
			o, -ENOTSUP,
			"corners are aligned, and the size of %u x %u elements by scales of "
			"%g and %g is no whole number",
			in->dim[2], in->dim[3], r.scale[2], r.scale[3]);
	return add_interpolated(o, &r);
}
