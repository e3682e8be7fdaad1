// SPDX-License-Identifier: MIT
/* IR2 to IR3: every layer as passes that fit the budget, then memory. */
#include "memory.h"
#include "plan_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "nvdla_chain.h"

/* Of a whole net: several chains' worth. */
#define MAX_TASKS (4ull * NVDLA_CHAIN_MAX_TASKS)

struct npu_task *npu_planner_tasks(struct npu_planner *p, u32 count)
{
	size_t need = (size_t)p->task_count + count;
	struct npu_task *first;

	if (need > MAX_TASKS)
		return NULL;
	if (need > p->task_room) {
		size_t grown = max(need, 2 * p->task_room + 64);
		struct npu_task *task = reallocarray(p->task, grown, sizeof(*task));

		if (!task)
			return NULL;
		p->task = task;
		p->task_room = grown;
	}
	first = p->task + p->task_count;
	memset(first, 0, count * sizeof(*first));
	p->task_count += count;
	return first;
}

static struct npu_cost sum_tasks(const struct npu_planner *p, u32 first)
{
	struct npu_cost sum = { 0 };
	u32 i;

	for (i = first; i < p->task_count; i++)
		npu_cost_add(&sum, &p->task[i].cost);
	return sum;
}

/* ---- convolutions ---------------------------------------------------------------- */

/**
 * struct candidate - a convolution with its pooling on the fly or without
 * @error: 0: @split is legal
 */
struct candidate {
	struct npu_conv_shape shape;
	struct npu_split split;
	int error;
};

/* Are all values cut as they were in the previous plan? */
static bool previous_cuts(const struct npu_planner *p)
{
	return p->previous->budget.region_bytes == p->plan->budget.region_bytes ||
	       (!p->previous->cut_values && !p->plan->cut_values);
}

/* What pieces of memory ask of the passes of a layer. */
static int set_pieces(struct npu_planner *p, u32 index, bool pooled, struct npu_conv_shape *shape)
{
	const struct npu_place *input = &p->plan->place[p->net->layer[index].input];

	shape->band = input->band;
	shape->band_count = input->count;
	shape->span_groups = npu_span_groups(p->net->config,
					     (u64)shape->c * shape->taps_y * shape->taps_x,
					     p->plan->budget.region_bytes);
	return npu_plan_cuts(p->net, p->plan, index, pooled ? NPU_PASS_POOLED : NPU_PASS_CONV,
			     &shape->cut, &shape->cut_count);
}

static void search(struct npu_planner *p, u32 index, bool pooled, struct candidate *c)
{
	u64 *bound = &p->plan->layer[index].split_bound[pooled];

	if (p->previous && previous_cuts(p))
		*bound = p->previous->layer[index].split_bound[pooled];
	c->split.effort = 0;
	c->error = npu_conv_shape(p->net, &p->net->layer[index], pooled, &c->shape);
	if (!c->error)
		c->error = set_pieces(p, index, pooled, &c->shape);
	if (!c->error)
		c->error = npu_split_search(p->space, p->net->config, &c->shape, p->banks, *bound,
					    &c->split);
	p->effort += c->split.effort;
	if (!c->error)
		*bound = c->split.bound_bytes;
}

/* Adds the passes of one way to run the layer; its cost, or an error with no pass added. */
static int try_conv(struct npu_planner *p, u32 index, bool pooled, struct candidate *c,
		    struct npu_cost *cost)
{
	const struct npu_layer *layer = &p->net->layer[index];
	u32 first = p->task_count;

	search(p, index, pooled, c);
	if (!c->error)
		c->error = npu_plan_conv_tasks(p, index, &c->shape, &c->split);
	if (!c->error && layer->has_pool && !pooled)
		c->error = npu_plan_pool_tasks(p, index);
	if (c->error)
		p->task_count = first;
	else
		*cost = sum_tasks(p, first);
	return c->error;
}

static bool cheaper(const struct npu_cost *a, const struct npu_cost *b)
{
	u64 a_bytes = npu_cost_bytes(a), b_bytes = npu_cost_bytes(b);

	return a_bytes != b_bytes ? a_bytes < b_bytes : a->cycles < b->cycles;
}

/* Fills p->shortage. */
static int no_space(struct npu_planner *p, const struct npu_layer *layer,
		    const struct npu_conv_shape *shape)
{
	u32 data, weight, least = npu_split_least_banks(p->net->config, shape, &data, &weight);

	p->shortage.text[0] = 0;
	if (least > p->net->config->banks)
		return npu_diag_set(
			&p->shortage, -ENOSPC,
			"layer %s: needs %u banks of the convolution buffer at the least "
			"(%u for the input of one output, %u for %u kernels), %s has %u",
			layer->name, least, data, weight, p->net->config->atomic_k,
			p->net->config->name, p->net->config->banks);
	return npu_diag_set(&p->shortage, -ENOSPC,
			    "layer %s: needs %u banks of the convolution buffer at the least "
			    "(%u for the input of one output, %u for %u kernels), %u are available",
			    layer->name, least, data, weight, p->net->config->atomic_k, p->banks);
}

/* The largest value that a layer reads or writes. */
static const struct npu_value *largest_value(const struct npu_net *net,
					     const struct npu_layer *layer)
{
	u32 values[2 * NPU_LAYER_MAX_VALUES], i, n = npu_layer_reads(net, layer, values);
	const struct npu_value *value, *largest = &net->value[layer->output];

	n += npu_layer_writes(net, layer, values + n);
	for (i = 0; i < n; i++) {
		value = &net->value[values[i]];
		if (value->bytes > largest->bytes)
			largest = value;
	}
	return largest;
}

static int too_large(struct npu_planner *p, const struct npu_layer *layer)
{
	const struct npu_value *value = largest_value(p->net, layer);

	return npu_diag_set(p->diag, -EFBIG,
			    "layer %s: cannot cut %s of %" PRIu64 " bytes into pieces of %" PRIu64,
			    layer->name, value->name, value->bytes,
			    npu_span_bytes(&p->plan->budget));
}

/* Keeps the passes of the cheaper of the two ways, of which the second ones follow the first ones. */
static bool keep_cheaper(struct npu_planner *p, u32 first, u32 second,
			 const struct npu_cost *first_cost, const struct npu_cost *second_cost)
{
	u32 count = p->task_count - second;

	if (!cheaper(second_cost, first_cost)) {
		p->task_count = second;
		return false;
	}
	memmove(p->task + first, p->task + second, count * sizeof(*p->task));
	p->task_count = first + count;
	return true;
}

static const char *mode_name(const struct candidate *c)
{
	static const char *const names[3][3] = {
		[NPU_SPLIT_RESIDENT] = { "full input, all weights", "rows split, all weights stay",
					 "columns and rows split, all weights stay" },
		[NPU_SPLIT_STREAM] = { "full input, kernel groups streamed",
				       "rows split, weights streamed for each piece",
				       "columns and rows split, weights streamed for each piece" },
		[NPU_SPLIT_RANGES] = { "kernels split, input kept",
				       "kernels and rows split, input fetched for each range",
				       "kernels, columns and rows split, input fetched for each "
				       "range" },
	};
	u32 cut = c->split.tile_count > 1 ? 2 : c->split.pieces > 1;

	return names[c->split.mode][cut];
}

static u64 bus_cycles(const struct npu_planner *p, u64 bytes)
{
	return DIV_ROUND_UP(bytes, (u64)p->net->config->dbb_bytes);
}

/* What the layer would cost at the least: compulsory traffic, and the whole buffer of the device. */
static void set_bounds(const struct npu_planner *p, const struct npu_layer *layer,
		       const struct candidate *chosen, struct npu_layer_plan *lp)
{
	u32 blocks = max(layer->blocks, 1u);
	u64 macs = npu_cost_conv_macs(p->net->config, &chosen->shape) * blocks;

	lp->compulsory_bytes = npu_cost_conv_compulsory(p->net->config, &chosen->shape) * blocks;
	lp->bound_bytes = chosen->split.bound_bytes * blocks;
	if (layer->has_pool && !chosen->shape.pooled) {
		/* The pooling apart always moves the same. */
		u64 apart = npu_cost_bytes(&lp->cost) - chosen->split.bytes * blocks;

		lp->compulsory_bytes += apart;
		lp->bound_bytes += apart;
	}
	lp->bound_cycles = max(macs, bus_cycles(p, lp->compulsory_bytes));
}

static int plan_conv(struct npu_planner *p, u32 index, struct npu_layer_plan *lp)
{
	const struct npu_layer *layer = &p->net->layer[index];
	struct candidate plain, pooled, *chosen = &plain;
	struct npu_cost plain_cost, pooled_cost;
	u32 first = p->task_count, second;

	p->effort = 0;
	if (try_conv(p, index, false, &plain, &plain_cost) == -ENOMEM)
		return -ENOMEM;
	second = p->task_count;
	if (layer->has_pool) {
		if (try_conv(p, index, true, &pooled, &pooled_cost) == -ENOMEM)
			return -ENOMEM;
		if (!pooled.error &&
		    (plain.error || keep_cheaper(p, first, second, &plain_cost, &pooled_cost)))
			chosen = &pooled;
	}
	if (chosen->error && (plain.error == -EFBIG || (layer->has_pool && pooled.error == -EFBIG)))
		return too_large(p, layer);
	if (chosen->error == -ENOSPC)
		return no_space(p, layer, &chosen->shape);
	if (chosen->error)
		return npu_diag_set(
			p->diag, chosen->error,
			"layer %s: its window does not agree with its sizes or registers",
			layer->name);
	lp->task_count = p->task_count - first;
	lp->cost = chosen == &pooled ? pooled_cost : plain_cost;
	lp->mode = mode_name(chosen);
	lp->tiles = chosen->split.tile_count;
	lp->pieces = chosen->split.pieces * max(layer->blocks, 1u);
	lp->considered = chosen->split.considered;
	lp->effort = p->effort;
	set_bounds(p, layer, chosen, lp);
	return 0;
}

/* ---- equal layers are planned once ------------------------------------------------- */

static bool same_stage(const struct npu_sdp_stage *a, const struct npu_sdp_stage *b)
{
	return npu_stage_table_bytes(a) == npu_stage_table_bytes(b) &&
	       npu_stage_elements(a) == npu_stage_elements(b);
}

static bool same_shape(const struct npu_net *net, u32 a, u32 b)
{
	const struct npu_value *x = &net->value[a], *y = &net->value[b];

	return x->h == y->h && x->w == y->w && x->c == y->c;
}

static bool same_layer(const struct npu_net *net, const struct npu_layer *a,
		       const struct npu_layer *b)
{
	return a->kind == b->kind && a->c == b->c && a->k == b->k && a->blocks == b->blocks &&
	       a->has_pool == b->has_pool &&
	       npu_weights_aligned(net->config, a) == npu_weights_aligned(net->config, b) &&
	       same_shape(net, a->input, b->input) && same_shape(net, a->output, b->output) &&
	       !memcmp(&a->window, &b->window, sizeof(a->window)) &&
	       (!a->has_pool ||
		!memcmp(&a->pool.window, &b->pool.window, sizeof(a->pool.window))) &&
	       same_stage(&a->sdp.bs, &b->sdp.bs) && same_stage(&a->sdp.bn, &b->sdp.bn) &&
	       npu_sdp_uses_ew(&a->sdp) == npu_sdp_uses_ew(&b->sdp) &&
	       a->sdp.ew.mul_from == b->sdp.ew.mul_from;
}

static bool copy_equal(struct npu_planner *p, u32 index, struct npu_layer_plan *lp, int *err)
{
	const struct npu_net *net = p->net;
	u32 i = index, j, first = p->task_count;
	struct npu_task *t;

	while (i--)
		if (net->layer[i].kind == NPU_LAYER_CONV && !p->plan->layer[i].on_cpu &&
		    same_layer(net, &net->layer[i], &net->layer[index]) &&
		    npu_plan_same_cuts(net, p->plan, i, index)) {
			const struct npu_layer_plan *from = &p->plan->layer[i];

			t = npu_planner_tasks(p, from->task_count);
			*err = t ? 0 : -ENOMEM;
			if (!t)
				return true;
			memcpy(t, p->task + from->first_task, from->task_count * sizeof(*t));
			for (j = 0; j < from->task_count; j++)
				t[j].layer = index;
			*lp = *from;
			lp->first_task = first;
			lp->effort = 0;
			return true;
		}
	return false;
}

/* ---- the other kinds ---------------------------------------------------------------- */

static int finish_post(struct npu_planner *p, u32 index, struct npu_layer_plan *lp, int err)
{
	u64 bytes;

	if (err)
		return err;
	lp->task_count = p->task_count - lp->first_task;
	lp->cost = sum_tasks(p, lp->first_task);
	bytes = npu_cost_bytes(&lp->cost);
	lp->bound_bytes = bytes;
	lp->compulsory_bytes = bytes;
	lp->bound_cycles = bus_cycles(p, bytes);
	lp->pieces = lp->task_count;
	lp->considered = 1;
	return 0;
}

static int plan_cpu(struct npu_planner *p, u32 index, struct npu_layer_plan *lp)
{
	const struct npu_layer *layer = &p->net->layer[index];

	lp->mode = layer->patch_count ? "some output channels on the CPU" : "on the CPU";
	return 0;
}

static int plan_layer(struct npu_planner *p, u32 index)
{
	struct npu_layer_plan *lp = &p->plan->layer[index];
	int err = 0;

	lp->first_task = p->task_count;
	switch (p->net->layer[index].kind) {
	case NPU_LAYER_CONV:
		if (!copy_equal(p, index, lp, &err))
			err = plan_conv(p, index, lp);
		break;
	case NPU_LAYER_SDP:
		lp->mode = "element by element";
		err = finish_post(p, index, lp, npu_plan_sdp_tasks(p, index));
		break;
	case NPU_LAYER_CDP:
		lp->mode = p->net->layer[index].cdp.sum ? "across channels" : "by table";
		err = finish_post(p, index, lp, npu_plan_sdp_tasks(p, index));
		break;
	case NPU_LAYER_PDP:
		lp->mode = "pooling";
		err = finish_post(p, index, lp, npu_plan_pool_tasks(p, index));
		break;
	case NPU_LAYER_CPU:
		err = plan_cpu(p, index, lp);
		break;
	}
	if (err == -ENOMEM)
		return npu_diag_set(p->diag, err, "layer %s: out of memory for its passes",
				    p->net->layer[index].name);
	if (err == -EFBIG)
		return too_large(p, &p->net->layer[index]);
	if (err && err != -ENOSPC)
		return npu_diag_set(p->diag, err, "layer %s: a size is beyond the registers",
				    p->net->layer[index].name);
	return err;
}

/* The last word on what npu_plan_cuts() is to achieve. */
static int check_bands(struct npu_planner *p, u32 layer)
{
	u32 i;

	for (i = p->plan->layer[layer].first_task; i < p->task_count; i++)
		if (npu_task_torn_value(p->net, p->plan, &p->task[i]) != NPU_NONE)
			return too_large(p, &p->net->layer[layer]);
	return 0;
}

/* The next layer, or all of the unit that the CPU does because it does not fit; moves @next behind it. */
static int plan_next(struct npu_planner *p, u32 *next)
{
	u32 index = (*next)++;
	int err = plan_layer(p, index);

	if (!err && p->plan->cut_values)
		return check_bands(p, index);
	if (err != -ENOSPC)
		return err;
	err = npu_plan_leave_to_cpu(p, index, next);
	if (err == -ENOSPC)
		return npu_diag_set(p->diag, err, "%s", p->shortage.text);
	return err ? npu_diag_set(p->diag, err, "out of memory") : 0;
}

/* ---- the plan ------------------------------------------------------------------------ */

static int check_budget(const struct npu_net *net, const struct npu_budget *budget,
			struct npu_diag *diag)
{
	const struct nvdla_config *c = net->config;

	if (budget->region_bytes && !npu_span_bytes(budget))
		return npu_diag_set(diag, -EINVAL, "pieces of %" PRIu64 " bytes are not even pages",
				    budget->region_bytes);
	if (budget->entry_bytes == c->entry_bytes && budget->entries == c->entries)
		return 0;
	return npu_diag_set(diag, -EINVAL,
			    "the budget's banks of %u entries of %u bytes are not those of %s",
			    budget->entries, budget->entry_bytes, c->name);
}

static int plan_layers(struct npu_planner *p)
{
	struct npu_plan *plan = p->plan;
	u32 i;
	int err;

	plan->layer =
		npu_arena_array(&plan->arena, max(p->net->layer_count, 1u), sizeof(*plan->layer));
	if (!plan->layer)
		return npu_diag_set(p->diag, -ENOMEM, "out of memory");
	for (i = 0; i < p->net->layer_count;) {
		err = plan_next(p, &i);
		if (err)
			return err;
	}
	for (i = 0; i < p->net->layer_count; i++)
		npu_cost_add(&plan->cost, &plan->layer[i].cost);
	plan->task = p->task;
	plan->task_count = p->task_count;
	p->task = NULL;
	for (i = 0; i < plan->task_count; i++)
		plan->banks =
			max(plan->banks, plan->task[i].data_banks + plan->task[i].weight_banks);
	return 0;
}

static int begin(struct npu_planner *p, const struct npu_budget *budget)
{
	int err = check_budget(p->net, budget, p->diag);

	if (err)
		return err;
	p->banks = min(budget->banks, (u32)p->net->config->banks);
	p->space = npu_split_space_new();
	p->plan = calloc(1, sizeof(*p->plan));
	if (!p->plan || !p->space)
		return npu_diag_set(p->diag, -ENOMEM, "out of memory");
	p->plan->budget = *budget;
	err = npu_plan_bands(p->net, p->plan, p->diag);
	return err ? err : plan_layers(p);
}

/* Frees all but the plan. */
static void end(struct npu_planner *p)
{
	free(p->task);
	npu_passes_free(&p->passes);
	npu_split_space_free(p->space);
}

int npu_plan_again(const struct npu_net *net, const struct npu_plan *previous,
		   const struct npu_budget *budget, struct npu_plan **out, struct npu_diag *diag)
{
	struct npu_planner p = { .net = net, .previous = previous, .diag = diag };
	int err = begin(&p, budget);

	if (!err)
		err = npu_plan_memory(net, p.plan, diag);
	if (!err)
		err = npu_plan_spans(net, p.plan, diag);
	end(&p);
	if (err) {
		npu_plan_free(p.plan);
		return err;
	}
	*out = p.plan;
	return 0;
}

int npu_plan_layers(const struct npu_net *net, const struct npu_budget *budget,
		    struct npu_layer_plan *layer, struct npu_diag *diag)
{
	struct npu_planner p = { .net = net, .diag = diag };
	int err = begin(&p, budget);

	if (!err)
		memcpy(layer, p.plan->layer, net->layer_count * sizeof(*layer));
	end(&p);
	npu_plan_free(p.plan);
	return err;
}

int npu_plan_net(const struct npu_net *net, const struct npu_budget *budget, struct npu_plan **plan,
		 struct npu_diag *diag)
{
	return npu_plan_again(net, NULL, budget, plan, diag);
}

void npu_plan_free(struct npu_plan *plan)
{
	if (!plan)
		return;
	npu_arena_free(&plan->arena);
	free(plan->task);
	free(plan);
}
