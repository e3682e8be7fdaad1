// SPDX-License-Identifier: MIT
/*
 * Checks a plan against the rules of the hardware, not against how it was made:
 * every pass fits, what it uses again was left for it, outputs are written
 * exactly once, values that are alive together do not overlap.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "plan_internal.h"

#include "nvdla_cbuf.h"
#include "nvdla_pdp.h"

struct check {
	const struct npu_net *net;
	const struct npu_plan *plan;
	const struct npu_layer *layer;
	const struct npu_task *task;
	struct npu_diag *diag;
};

static int fail(const struct check *c, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(const struct check *c, const char *format, ...)
{
	char what[200];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!c->layer)
		return npu_diag_set(c->diag, -EINVAL, "plan: %s", what);
	if (!c->task)
		return npu_diag_set(c->diag, -EINVAL, "plan: layer %s: %s", c->layer->name, what);
	return npu_diag_set(c->diag, -EINVAL, "plan: task %zu (layer %s): %s",
			    (size_t)(c->task - c->plan->task), c->layer->name, what);
}

/* ---- convolutions ------------------------------------------------------------------ */

/**
 * struct left - what the pass before left in the buffer
 * @whole: all lines stay; else lines [@first, @end)
 */
struct left {
	bool data, whole, weights;
	u32 block, in_x, in_cols, first, end;
	u32 k, kernels;
	u32 data_banks, weight_banks, eps;
};

static const struct npu_value *conv_value(const struct check *c)
{
	return &c->net->value[c->layer->has_pool ? c->layer->unpooled : c->layer->output];
}

/* Padding, kernel and stride of one direction give exactly the input. */
static int check_direction(const struct check *c, const char *name, u32 from, u32 outs, u32 stride,
			   u32 kernel, u32 pad, u32 in, u32 ins, u32 step, u32 before, u32 after,
			   u32 size)
{
	s64 start = (s64)from * stride - pad;

	if (before && in)
		return fail(c, "%s: padding inside of the input", name);
	if (after && in + (ins - 1) * step + 1 < size)
		return fail(c, "%s: padding in front of the input's end", name);
	if (start != (s64)in - before)
		return fail(c, "%s: input starts at %u with padding %u, not at %lld", name, in,
			    before, (long long)start);
	if ((outs - 1) * (u64)(stride / step) + kernel != (u64)before + ins + after)
		return fail(c, "%s: %u outputs from %u + %u + %u", name, outs, before, ins, after);
	if (in + (u64)(ins - 1) * step >= size)
		return fail(c, "%s: input beyond its end", name);
	return 0;
}

static int check_conv_geometry(const struct check *c)
{
	const struct npu_task *t = c->task;
	const struct npu_window *w = &c->layer->window, *p = &c->layer->pool.window;
	const struct npu_value *in = &c->net->value[c->layer->input];
	const struct npu_value *conv = conv_value(c);
	u32 lines = t->kept_rows + t->in_rows;
	u32 first = t->in_rows ? t->in_y - t->kept_rows * t->row_step : t->in_y;
	int err;

	if (t->row_step != 1 && (w->r != 1 || t->row_step != w->stride_y))
		return fail(c, "steps over rows of a kernel of %u rows", w->r);
	err = check_direction(c, "rows", t->conv_y, t->conv_rows, w->stride_y,
			      (u32)npu_dilated(w->r, w->dilation_y), w->pad_top, first, lines,
			      t->row_step, t->pad_top, t->pad_bottom, in->h);
	if (!err)
		err = check_direction(c, "columns", t->conv_x, t->conv_cols, w->stride_x,
				      (u32)npu_dilated(w->s, w->dilation_x), w->pad_left, t->in_x,
				      t->in_cols, 1, t->pad_left, t->pad_right, in->w);
	if (!err && t->pooled)
		err = check_direction(c, "pooled rows", t->y, t->rows, p->stride_y, p->r,
				      p->pad_top, t->conv_y, t->conv_rows, 1, t->pool_pad_top,
				      t->pool_pad_bottom, conv->h);
	if (!err && t->pooled)
		err = check_direction(c, "pooled columns", t->x, t->cols, p->stride_x, p->s,
				      p->pad_left, t->conv_x, t->conv_cols, 1, t->pool_pad_left,
				      t->pool_pad_right, conv->w);
	if (!err && t->pooled && t->cols > nvdla_pdp_width_limit(p->r, p->stride_y))
		return fail(c, "%u columns do not fit PDP's line buffer", t->cols);
	if (!err && !t->pooled &&
	    (t->conv_y != t->y || t->conv_rows != t->rows || t->conv_x != t->x ||
	     t->conv_cols != t->cols))
		return fail(c, "writes another box than it computes");
	return err;
}

static u64 task_weight_bytes(const struct check *c)
{
	const struct npu_layer *l = c->layer;

	return nvdla_cbuf_weight_bytes(c->net->config, c->task->kernels,
				       (u64)l->c * l->window.r * l->window.s);
}

/* Lines of pixels lie in the buffer with the padding of both sides. */
static u32 line_entries(const struct check *c)
{
	const struct nvdla_config *cfg = c->net->config;
	const struct npu_task *t = c->task;

	if (c->layer->pixels.used)
		return nvdla_cbuf_image_eps(cfg, t->pad_left + t->in_cols + t->pad_right,
					    c->layer->c);
	return nvdla_cbuf_feature_eps(cfg, t->in_cols, c->layer->c);
}

static int check_conv_buffer(const struct check *c)
{
	const struct nvdla_config *cfg = c->net->config;
	const struct npu_task *t = c->task;
	const struct npu_layer *l = c->layer;
	u32 lines = t->kept_rows + t->in_rows;
	u64 weights = task_weight_bytes(c);
	u32 kernel = l->c * l->window.r * l->window.s;
	u64 start = l->weights + t->block * l->weight_stride + (u64)t->k * kernel;

	if (!t->data_banks || !t->weight_banks ||
	    t->data_banks + t->weight_banks > min(c->plan->budget.banks, (u32)cfg->banks))
		return fail(c, "%u + %u banks of %u", t->data_banks, t->weight_banks,
			    c->plan->budget.banks);
	if (t->eps != line_entries(c))
		return fail(c, "%u entries a line", t->eps);
	if ((u64)lines * t->eps > (u64)t->data_banks * cfg->entries)
		return fail(c, "%u lines of %u entries in %u banks", lines, t->eps, t->data_banks);
	if (!lines || !t->rls_slices || t->rls_slices > lines || t->rls_slices > 4096)
		return fail(c, "releases %u of %u lines", t->rls_slices, lines);
	if (nvdla_cbuf_group_entries(cfg, t->kernels, kernel, start) >
	    t->weight_banks * cfg->entries)
		return fail(c, "a kernel group does not fit %u banks", t->weight_banks);
	if ((t->skip_weight_rls || t->weight_reuse) &&
	    weights > (u64)t->weight_banks * cfg->entries * cfg->entry_bytes)
		return fail(c, "%llu bytes of weights cannot stay in %u banks",
			    (unsigned long long)weights, t->weight_banks);
	return 0;
}

static int check_conv_reuse(const struct check *c, const struct left *left)
{
	const struct npu_task *t = c->task;
	u32 first = t->in_rows ? t->in_y / t->row_step - t->kept_rows : t->in_y / t->row_step;
	bool banks = t->data_banks == left->data_banks;

	if (t->data_reuse != (t->kept_rows != 0))
		return fail(c, "uses %u lines again, flag %d", t->kept_rows, t->data_reuse);
	if (left->data && left->whole && (!t->data_reuse || t->in_rows))
		return fail(c, "data that were kept as a whole are not used");
	if (t->data_reuse &&
	    (!left->data || !banks || left->block != t->block || left->in_x != t->in_x ||
	     left->in_cols != t->in_cols || left->eps != t->eps || left->first != first ||
	     left->end != first + t->kept_rows))
		return fail(c, "uses lines again that are not in the buffer");
	if (t->data_reuse && !t->in_rows && !left->whole)
		return fail(c, "needs new lines after a partial release");
	if (left->weights != t->weight_reuse)
		return fail(c, "weights that were kept have to be used, and no others");
	if (t->weight_reuse &&
	    (!banks || left->weight_banks != t->weight_banks || left->block != t->block ||
	     left->k != t->k || left->kernels != t->kernels))
		return fail(c, "uses weights again that are not in the buffer");
	return 0;
}

static void leave(const struct npu_task *t, struct left *left)
{
	u32 first = t->in_rows ? t->in_y / t->row_step - t->kept_rows : t->in_y / t->row_step;
	u32 end = first + t->kept_rows + t->in_rows;
	u32 kept = t->skip_data_rls ? first : first + t->rls_slices;

	*left = (struct left){
		.data = kept < end,
		.whole = t->skip_data_rls,
		.weights = t->skip_weight_rls,
		.block = t->block,
		.in_x = t->in_x,
		.in_cols = t->in_cols,
		.first = kept,
		.end = end,
		.k = t->k,
		.kernels = t->kernels,
		.data_banks = t->data_banks,
		.weight_banks = t->weight_banks,
		.eps = t->eps,
	};
}

static int check_conv_task(const struct check *c, struct left *left)
{
	const struct npu_task *t = c->task;
	const struct npu_layer *l = c->layer;
	const struct npu_value *conv = conv_value(c);
	int err;

	if (t->block >= max(l->blocks, 1u) || !t->kernels || t->k % c->net->config->atomic_k ||
	    t->k + t->kernels > l->k ||
	    (t->kernels % c->net->config->atomic_k && t->k + t->kernels != l->k))
		return fail(c, "kernels %u to %u of %u", t->k, t->k + t->kernels, l->k);
	if (!t->pooled && t->rows * t->cols == 1 && conv->h * conv->w > 1 &&
	    t->kernels > c->net->config->atom)
		return fail(c, "SDP would write %u kernels of one output side by side", t->kernels);
	err = check_conv_geometry(c);
	if (!err)
		err = check_conv_buffer(c);
	if (!err)
		err = check_conv_reuse(c, left);
	leave(t, left);
	return err;
}

/* ---- the other kinds ---------------------------------------------------------------- */

static int check_pool_task(const struct check *c)
{
	const struct npu_task *t = c->task;
	const struct npu_layer *l = c->layer;
	const struct npu_window *w = &l->pool.window;
	u32 index = l->kind == NPU_LAYER_PDP ? l->input : l->unpooled;
	const struct npu_value *in = &c->net->value[index];
	int err = check_direction(c, "rows", t->y, t->rows, w->stride_y, w->r, w->pad_top, t->in_y,
				  t->in_rows, 1, t->pad_top, t->pad_bottom, in->h);

	if (!err)
		err = check_direction(c, "columns", t->x, t->cols, w->stride_x, w->s, w->pad_left,
				      t->in_x, t->in_cols, 1, t->pad_left, t->pad_right, in->w);
	if (!err && t->cols > nvdla_pdp_width_limit(w->r, w->stride_y))
		return fail(c, "%u columns do not fit PDP's line buffer", t->cols);
	return err;
}

/* ---- coverage ------------------------------------------------------------------------ */

/* One byte for each output atom of a value: how often it is written. */
struct cover {
	u8 *count;
	u32 h, w, surfaces;
};

static int cover_new(struct cover *cover, const struct npu_value *value, u32 atom)
{
	*cover = (struct cover){ .h = value->h,
				 .w = value->w,
				 .surfaces = DIV_ROUND_UP(value->c, atom) };
	cover->count = calloc((size_t)cover->h * cover->w * cover->surfaces, 1);
	return cover->count ? 0 : -ENOMEM;
}

static int cover_add(const struct check *c, struct cover *cover)
{
	const struct npu_task *t = c->task;
	u32 atom = c->net->config->atom, s, y, x;
	u64 channel = (u64)t->block * c->layer->k * (t->kind == NPU_LAYER_CONV) + t->k;
	u64 end = DIV_ROUND_UP(channel + t->kernels, (u64)atom);

	if (channel % atom || end > cover->surfaces || t->y + t->rows > cover->h ||
	    t->x + t->cols > cover->w)
		return fail(c, "writes outside of its output");
	for (s = (u32)(channel / atom); s < end; s++)
		for (y = t->y; y < t->y + t->rows; y++)
			for (x = t->x; x < t->x + t->cols; x++)
				if (cover->count[((size_t)s * cover->h + y) * cover->w + x]++)
					return fail(c, "row %u, column %u is written twice", y, x);
	return 0;
}

static int cover_check(const struct check *c, const struct cover *cover)
{
	size_t i, n = (size_t)cover->h * cover->w * cover->surfaces;

	for (i = 0; i < n; i++)
		if (!cover->count[i])
			return fail(c, "row %zu, column %zu is not written",
				    i / cover->w % cover->h, i % cover->w);
	return 0;
}

static int check_task(struct check *c, struct left *left, struct cover *conv, struct cover *out)
{
	const struct npu_task *t = c->task;
	bool to_conv = t->kind == NPU_LAYER_CONV && c->layer->has_pool && !t->pooled;
	int err = 0;

	if (t->layer != c->layer - c->net->layer)
		return fail(c, "belongs to another layer");
	if (!t->rows || !t->cols || !t->kernels)
		return fail(c, "computes nothing");
	if (t->kind == NPU_LAYER_CONV)
		err = check_conv_task(c, left);
	else if (t->kind == NPU_LAYER_PDP)
		err = check_pool_task(c);
	else if (t->kind == NPU_LAYER_CDP && t->kernels != c->net->value[c->layer->output].c)
		return fail(c, "sees %u channels of %u", t->kernels,
			    c->net->value[c->layer->output].c);
	else if (t->kind != NPU_LAYER_SDP && t->kind != NPU_LAYER_CDP)
		return fail(c, "is of no kind that the NPU has");
	if (err)
		return err;
	return cover_add(c, to_conv ? conv : out);
}

static int check_torn(const struct check *c)
{
	u32 value = npu_task_torn_value(c->net, c->plan, c->task);

	if (value == NPU_NONE)
		return 0;
	return fail(c, "touches rows of %s in two pieces of memory", c->net->value[value].name);
}

static int check_layer(struct check *c, const struct npu_layer_plan *lp)
{
	struct left left = { 0 };
	struct cover conv = { 0 }, out = { 0 };
	struct npu_cost sum = { 0 };
	const struct npu_value *value = &c->net->value[c->layer->output];
	bool apart = lp->task_count && c->layer->has_pool &&
		     !npu_layer_is_pooled(c->plan, (u32)(c->layer - c->net->layer));
	u32 atom = c->net->config->atom, i;
	int err;

	if (lp->on_cpu && !npu_plan_unit(c->plan, (u32)(c->layer - c->net->layer)))
		return fail(c, "left to the CPU, but in no unit");
	if (npu_plan_on_cpu(c->net, c->plan, (u32)(c->layer - c->net->layer)))
		return lp->task_count ? fail(c, "passes of a CPU step") : 0;
	if (!lp->task_count)
		return fail(c, "no passes");
	err = cover_new(&out, value, atom);
	if (!err && apart)
		err = cover_new(&conv, conv_value(c), atom);
	for (i = 0; !err && i < lp->task_count; i++) {
		c->task = &c->plan->task[lp->first_task + i];
		err = check_task(c, &left, &conv, &out);
		if (!err)
			err = check_torn(c);
		npu_cost_add(&sum, &c->task->cost);
	}
	c->task = NULL;
	if (!err && (left.whole || left.weights))
		err = fail(c, "leaves data or weights in the buffer");
	if (!err)
		err = cover_check(c, &out);
	if (!err && apart)
		err = cover_check(c, &conv);
	if (!err && memcmp(&sum, &lp->cost, sizeof(sum)))
		err = fail(c, "its cost is not the sum of its passes");
	free(out.count);
	free(conv.count);
	return err;
}

/* ---- memory --------------------------------------------------------------------------- */

/* Bytes [@from, @to) of the arena. */
struct range {
	u64 from, to;
};

static struct range band_range(const struct check *c, u32 value, u32 index)
{
	u64 from = c->plan->place[value].band[index].offset;

	return (struct range){ from, from + npu_band_bytes(c->net, c->plan, value, index) };
}

/* Bands of two values, or of one. */
static int check_pair(const struct check *c, const struct npu_live *live, u32 a, u32 b)
{
	u32 i, k;

	if (live[a].last < live[b].first || live[b].last < live[a].first)
		return 0;
	for (i = 0; i < c->plan->place[a].count; i++)
		for (k = 0; k < (a == b ? i : c->plan->place[b].count); k++) {
			struct range x = band_range(c, a, i), y = band_range(c, b, k);

			if (x.from < y.to && y.from < x.to)
				return fail(c, "%s and %s are alive together and overlap",
					    c->net->value[a].name, c->net->value[b].name);
		}
	return 0;
}

/* Of the last line of a surface what follows may have what lies behind its columns. */
static u64 last_line_bytes(const struct check *c, const struct npu_value *v)
{
	return v->layout == NPU_PIXELS ? v->line_stride : (u64)v->w * c->net->config->atom;
}

/* Only a value that is not cut may have its surfaces inside of lines. */
static bool surfaces_apart(const struct check *c, u32 value, u32 i)
{
	const struct npu_place *place = &c->plan->place[value];
	const struct npu_value *v = &c->net->value[value];

	if (v->layout == NPU_LINEAR || (v->layout == NPU_FEATURE && place->count == 1 &&
					place->band[i].surface_stride == v->surface_stride &&
					npu_value_lines_apart(c->net->config, v)))
		return true;
	return place->band[i].surface_stride >=
	       (u64)(npu_band_rows(c->net, c->plan, value, i) - 1) * v->line_stride +
		       last_line_bytes(c, v);
}

static int check_place(const struct check *c, u32 value)
{
	const struct npu_spans *spans = &c->plan->spans[NPU_REGION_ARENA];
	const struct npu_place *place = &c->plan->place[value];
	const struct npu_value *v = &c->net->value[value];
	u32 i;

	for (i = 0; i < place->count; i++) {
		const struct npu_band *band = &place->band[i];
		struct range range = band_range(c, value, i);

		if (i ? band->first <= band[-1].first || band->first >= v->h : band->first)
			return fail(c, "a band of %s begins at row %u", v->name, band->first);
		if (!surfaces_apart(c, value, i))
			return fail(c, "surfaces of a band of %s overlap", v->name);
		if (band->offset % c->net->config->atom || range.to > c->plan->arena_bytes)
			return fail(c, "%s lies outside of the arena", v->name);
		if (range.to > range.from &&
		    npu_span_find(spans, range.from) != npu_span_find(spans, range.to - 1))
			return fail(c, "%s lies in two pieces of memory", v->name);
	}
	return 0;
}

/* The bands of a part lie in those of the whole. */
static int check_part(const struct check *c, u32 value)
{
	u64 offset;
	u32 root = npu_value_root(c->net, value, &offset), i;
	const struct npu_place *part = &c->plan->place[value], *whole = &c->plan->place[root];

	if (part->count != whole->count)
		return fail(c, "%s is cut in another way than its whole",
			    c->net->value[value].name);
	for (i = 0; i < part->count; i++) {
		struct range in = band_range(c, value, i), around = band_range(c, root, i);

		if (part->band[i].first != whole->band[i].first || in.from < around.from ||
		    in.to > around.to)
			return fail(c, "%s lies outside of its whole", c->net->value[value].name);
	}
	return 0;
}

static int check_memory(const struct check *c)
{
	const struct npu_net *net = c->net;
	struct npu_live *live = calloc(max(net->value_count, 1u), sizeof(*live));
	u32 i, j;
	int err = live ? 0 : -ENOMEM;

	if (live)
		npu_plan_live(net, c->plan, live);
	for (i = 0; !err && i < net->value_count; i++) {
		err = check_place(c, i);
		if (!err && net->value[i].alias != NPU_NONE)
			err = check_part(c, i);
		if (!live[i].used)
			continue;
		for (j = 0; !err && j <= i; j++)
			if (live[j].used)
				err = check_pair(c, live, i, j);
	}
	free(live);
	return err;
}

int npu_plan_verify(const struct npu_net *net, const struct npu_plan *plan, struct npu_diag *diag)
{
	struct check c = { .net = net, .plan = plan, .diag = diag };
	u32 i, next = 0;
	int err = 0;

	for (i = 0; i < net->layer_count && !err; i++) {
		const struct npu_layer_plan *lp = &plan->layer[i];

		c.layer = &net->layer[i];
		if (lp->first_task != next)
			return fail(&c, "its passes do not follow those before");
		next += lp->task_count;
		err = check_layer(&c, lp);
	}
	c.layer = NULL;
	if (!err && next != plan->task_count)
		return fail(&c, "passes without a layer");
	if (!err && plan->arena_bytes < plan->arena_lower_bound)
		return fail(&c, "the arena is smaller than possible");
	if (!err)
		err = check_memory(&c);
	return err == -ENOMEM ? npu_diag_set(diag, err, "plan: out of memory") : err;
}
