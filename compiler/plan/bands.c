// SPDX-License-Identifier: MIT
/*
 * A value that is larger than a piece of memory is stored in bands of rows, each in
 * one piece.  A pass reads and writes through one address each, so all that it
 * touches of a value has to lie in one band: passes are cut where bands begin, and
 * bands begin only where every layer of the value can be cut.
 */
#include "memory.h"
#include "plan_internal.h"

#include <stdlib.h>

#include "nvdla_chain.h"

/* More than any chain could name. */
#define MAX_BANDS (4 * NVDLA_CHAIN_MAX_REGIONS)

/* ---- how the rows of a pass depend on those of its values --------------------------- */

/**
 * struct link - a value that a pass reads or writes
 * @rows: the pass computes as many rows
 * @is_window: read through a window; else row by row
 * @halo: see npu_axis_cut()
 * @row_step: every how many-th row is a line of @axis
 */
struct link {
	u32 layer;
	enum npu_pass pass;
	u32 value;
	u32 rows;
	bool is_window, halo;
	u32 row_step;
	struct npu_axis axis;
};

/* Input, operands of SDP, output. */
#define PASS_LINKS (NPU_SDP_STAGES + 2)

/* The row of the output that begins with @row of the value: link->rows or more: none; 0: impossible. */
static u32 link_cut(const struct link *link, u32 row)
{
	if (!link->is_window)
		return row;
	return npu_axis_cut(&link->axis, DIV_ROUND_UP(row, link->row_step), link->halo);
}

static void add_rows(struct link *link, u32 *count, u32 value)
{
	link[(*count)++] = (struct link){ .value = value };
}

static void add_window(struct link *link, u32 *count, u32 value, const struct npu_axis *axis,
		       u32 row_step, bool halo)
{
	link[(*count)++] = (struct link){
		.value = value, .is_window = true, .halo = halo, .row_step = row_step, .axis = *axis
	};
}

/* Operands by element follow the rows of the convolution, which a pooling on the fly looks at again. */
static void add_operands(struct link *link, u32 *count, const struct npu_sdp *sdp,
			 const struct npu_axis *pooled)
{
	u32 value[NPU_SDP_STAGES], i, n = npu_sdp_elements(sdp, value);

	for (i = 0; i < n; i++)
		if (pooled)
			add_window(link, count, value[i], pooled, 1, false);
		else
			add_rows(link, count, value[i]);
}

static u32 conv_links(const struct npu_net *net, const struct npu_layer *layer, bool pooled,
		      struct link *link)
{
	struct npu_axis pool = { 0 };
	struct npu_conv_shape shape;
	u32 count = 0;

	/* What contradicts itself is the planner's to tell. */
	if (npu_conv_shape(net, layer, pooled, &shape))
		return 0;
	if (pooled)
		pool = npu_pool_rows(net, layer);
	add_window(link, &count, layer->input, &shape.rows, shape.row_step, true);
	add_operands(link, &count, &layer->sdp, pooled ? &pool : NULL);
	add_rows(link, &count, pooled || !layer->has_pool ? layer->output : layer->unpooled);
	return count;
}

static u32 pool_links(const struct npu_net *net, const struct npu_layer *layer, struct link *link)
{
	struct npu_axis rows = npu_pool_rows(net, layer);
	u32 count = 0;

	if (!npu_axis_sound(&rows))
		return 0;
	add_window(link, &count, layer->has_pool ? layer->unpooled : layer->input, &rows, 1, false);
	add_rows(link, &count, layer->output);
	return count;
}

static u32 sdp_links(const struct npu_layer *layer, struct link *link)
{
	u32 count = 0;

	add_rows(link, &count, layer->input);
	add_operands(link, &count, &layer->sdp, NULL);
	add_rows(link, &count, layer->output);
	return count;
}

/* What a pass of a layer reads and writes; none where the layer has no such pass. */
static u32 pass_links(const struct npu_net *net, u32 index, enum npu_pass pass,
		      struct link link[PASS_LINKS])
{
	const struct npu_layer *layer = &net->layer[index];
	bool conv = layer->kind == NPU_LAYER_CONV;
	u32 count = 0, i;

	if (pass == NPU_PASS_CONV && conv)
		count = conv_links(net, layer, false, link);
	else if (pass == NPU_PASS_POOLED && layer->has_pool)
		count = conv_links(net, layer, true, link);
	else if (pass == NPU_PASS_POOL && (layer->has_pool || layer->kind == NPU_LAYER_PDP))
		count = pool_links(net, layer, link);
	else if (pass == NPU_PASS_SDP &&
		 (layer->kind == NPU_LAYER_SDP || layer->kind == NPU_LAYER_CDP))
		count = sdp_links(layer, link);
	for (i = 0; i < count; i++) {
		link[i].layer = index;
		link[i].pass = pass;
		/* The output comes last, row by row. */
		link[i].rows = net->value[link[count - 1].value].h;
	}
	return count;
}

/* ---- where a value is cut ------------------------------------------------------------- */

/**
 * struct links - of one value and its parts
 * @link: in the order of layers; NULL: counted only
 */
struct links {
	struct link *link;
	u32 count;
};

static void collect(const struct npu_net *net, u32 value, struct links *links)
{
	struct link link[PASS_LINKS];
	u32 layer, pass, i, n;
	u64 offset;

	links->count = 0;
	for (layer = 0; layer < net->layer_count; layer++)
		for (pass = NPU_PASS_CONV; pass <= NPU_PASS_SDP; pass++) {
			n = pass_links(net, layer, pass, link);
			for (i = 0; i < n; i++) {
				if (npu_value_root(net, link[i].value, &offset) != value)
					continue;
				if (links->link)
					links->link[links->count] = link[i];
				links->count++;
			}
		}
}

/*
 * The links of one layer, of which a convolution may have its pooling on the fly or apart: @both: it
 * shall have the choice.
 */
static bool layer_accepts(const struct link *link, u32 count, u32 row, bool both)
{
	bool apart = true, pooled = true, choice = false;
	u32 i;

	for (i = 0; i < count; i++) {
		bool good = link_cut(&link[i], row) != 0;

		choice = choice || link[i].pass == NPU_PASS_POOLED;
		if (link[i].pass == NPU_PASS_POOLED)
			pooled = pooled && good;
		else
			apart = apart && good;
	}
	if (!choice || both)
		return apart && pooled;
	return apart || pooled;
}

static bool all_accept(const struct links *links, u32 row, bool both)
{
	u32 i, n;

	for (i = 0; i < links->count; i += n) {
		n = 1;
		while (i + n < links->count && links->link[i + n].layer == links->link[i].layer)
			n++;
		if (!layer_accepts(&links->link[i], n, row, both))
			return false;
	}
	return true;
}

/* The longest band that begins at @from: where it ends; @from: there is none. */
static u32 band_end(const struct links *links, u32 from, u32 most)
{
	u32 row;

	for (row = from + most; row > from; row--)
		if (all_accept(links, row, true))
			return row;
	for (row = from + most; row > from; row--)
		if (all_accept(links, row, false))
			return row;
	return from;
}

/* Are all parts of the value whole surfaces of it, so that they have its bands? */
static bool parts_fit(const struct npu_net *net, u32 value)
{
	const struct npu_value *whole = &net->value[value];
	u64 offset;
	u32 i;

	/* Surfaces inside of lines, as cells have them, are no surfaces of bands. */
	if (whole->layout == NPU_FEATURE && whole->h > 1 &&
	    whole->surface_stride / whole->h < whole->line_stride)
		return false;
	for (i = 0; i < net->value_count; i++) {
		const struct npu_value *part = &net->value[i];

		if (part->alias == NPU_NONE || npu_value_root(net, i, &offset) != value)
			continue;
		if (whole->layout != NPU_FEATURE || part->layout != NPU_FEATURE ||
		    part->h != whole->h || part->line_stride != whole->line_stride ||
		    part->surface_stride != whole->surface_stride || offset % whole->surface_stride)
			return false;
	}
	return true;
}

/* Fills @first with the first rows of the bands; their number, 1 where the value cannot be cut. */
static u32 choose_bands(const struct npu_net *net, u32 value, const struct links *links, u64 span,
			u32 first[MAX_BANDS])
{
	u32 rows = net->value[value].h, count = 1, from = 0, end;
	u64 row_bytes = npu_row_bytes(net, value);
	u32 most = row_bytes ? (u32)min(span / row_bytes, (u64)rows) : 0;

	first[0] = 0;
	if (!parts_fit(net, value))
		return 1;
	while (rows - from > most) {
		end = band_end(links, from, most);
		if (end == from || count == MAX_BANDS)
			return 1;
		first[count++] = end;
		from = end;
	}
	return count;
}

static int set_bands(const struct npu_net *net, struct npu_plan *plan, u32 value, const u32 *first,
		     u32 count)
{
	struct npu_place *place = &plan->place[value];
	u32 i;

	place->band = npu_arena_array(&plan->arena, count, sizeof(*place->band));
	if (!place->band)
		return -ENOMEM;
	place->count = count;
	for (i = 0; i < count; i++)
		place->band[i].first = first[i];
	for (i = 0; i < count; i++)
		place->band[i].surface_stride =
			npu_band_rows(net, plan, value, i) * net->value[value].line_stride;
	plan->cut_values++;
	return 0;
}

static int cut_value(const struct npu_net *net, struct npu_plan *plan, u32 value, u64 span)
{
	u32 first[MAX_BANDS], count;
	struct links links = { 0 };
	int err = 0;

	collect(net, value, &links);
	links.link = calloc(max(links.count, 1u), sizeof(*links.link));
	if (!links.link)
		return -ENOMEM;
	collect(net, value, &links);
	count = choose_bands(net, value, &links, span, first);
	if (count > 1)
		err = set_bands(net, plan, value, first, count);
	free(links.link);
	return err;
}

/* A part has the bands of the whole. */
static int share_bands(const struct npu_net *net, struct npu_plan *plan, u32 part)
{
	struct npu_place *place = &plan->place[part];
	u64 offset;
	const struct npu_place *whole = &plan->place[npu_value_root(net, part, &offset)];

	if (whole->count == 1)
		return 0;
	place->band = npu_arena_array(&plan->arena, whole->count, sizeof(*place->band));
	if (!place->band)
		return -ENOMEM;
	memcpy(place->band, whole->band, whole->count * sizeof(*place->band));
	place->count = whole->count;
	return 0;
}

static int cut_values(const struct npu_net *net, struct npu_plan *plan)
{
	u64 span = npu_span_bytes(&plan->budget);
	int err = 0;
	u32 i;

	for (i = 0; i < net->value_count && !err; i++)
		if (net->value[i].alias == NPU_NONE && net->value[i].bytes > span)
			err = cut_value(net, plan, i, span);
	for (i = 0; i < net->value_count && !err; i++)
		if (net->value[i].alias != NPU_NONE)
			err = share_bands(net, plan, i);
	return err;
}

int npu_plan_bands(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag)
{
	size_t n = max(net->value_count, 1u);
	struct npu_band *band = npu_arena_array(&plan->arena, n, sizeof(*band));
	int err = -ENOMEM;
	u32 i;

	plan->place = npu_arena_array(&plan->arena, n, sizeof(*plan->place));
	if (band && plan->place) {
		for (i = 0; i < net->value_count; i++) {
			band[i].surface_stride = net->value[i].surface_stride;
			plan->place[i] = (struct npu_place){ &band[i], 1 };
		}
		err = plan->budget.region_bytes ? cut_values(net, plan) : 0;
	}
	return err ? npu_diag_set(diag, err, "out of memory") : 0;
}

/* ---- where passes are cut --------------------------------------------------------------- */

static int add_cuts(const struct npu_net *net, const struct npu_plan *plan, const struct link *link,
		    u32 *cut, u32 *count)
{
	const struct npu_place *place = &plan->place[link->value];
	u32 i, row;

	if (place->count == 1 && net->value[link->value].bytes > npu_span_bytes(&plan->budget))
		return -EFBIG;
	for (i = 1; i < place->count; i++) {
		row = link_cut(link, place->band[i].first);
		if (!row)
			return -EFBIG;
		if (row < link->rows)
			cut[(*count)++] = row;
	}
	return 0;
}

static int by_row(const void *a, const void *b)
{
	const u32 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts, and leaves each row once. */
static u32 tidy(u32 *cut, u32 count)
{
	u32 i, n = 0;

	qsort(cut, count, sizeof(*cut), by_row);
	for (i = 0; i < count; i++)
		if (!n || cut[n - 1] != cut[i])
			cut[n++] = cut[i];
	return n;
}

int npu_plan_cuts(const struct npu_net *net, struct npu_plan *plan, u32 layer, enum npu_pass pass,
		  const u32 **cut, u32 *count)
{
	struct link link[PASS_LINKS];
	u32 n, i, room = 0, *row;
	int err = 0;

	*cut = NULL;
	*count = 0;
	if (!plan->budget.region_bytes)
		return 0;
	n = pass_links(net, layer, pass, link);
	for (i = 0; i < n; i++)
		room += plan->place[link[i].value].count;
	row = npu_arena_array(&plan->arena, max(room - n, 1u), sizeof(*row));
	if (!row)
		return -ENOMEM;
	for (i = 0; i < n && !err; i++)
		err = add_cuts(net, plan, &link[i], row, count);
	*count = tidy(row, *count);
	*cut = row;
	return err;
}

/* Do two values begin their bands at the same rows? */
static bool same_bands(const struct npu_plan *plan, u32 a, u32 b)
{
	const struct npu_place *x = &plan->place[a], *y = &plan->place[b];
	u32 i;

	for (i = 0; i < min(x->count, y->count); i++)
		if (x->band[i].first != y->band[i].first)
			return false;
	return x->count == y->count;
}

bool npu_plan_same_cuts(const struct npu_net *net, const struct npu_plan *plan, u32 a, u32 b)
{
	struct link x[PASS_LINKS], y[PASS_LINKS];
	u32 pass, i, n;

	if (!plan->cut_values)
		return true;
	for (pass = NPU_PASS_CONV; pass <= NPU_PASS_SDP; pass++) {
		n = pass_links(net, a, pass, x);
		if (n != pass_links(net, b, pass, y))
			return false;
		for (i = 0; i < n; i++)
			if (!same_bands(plan, x[i].value, y[i].value))
				return false;
	}
	return true;
}
