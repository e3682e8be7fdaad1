// SPDX-License-Identifier: MIT
/*
 * Device memory comes in pieces that are contiguous for the device, where that is
 * limited: weights and arena are cut into spans that a chain names as regions of
 * their own.  Nothing that one pass reads or writes through one address is cut.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "memory.h"
#include "nvdla_cbuf.h"
#include "plan_internal.h"

/* Pages are what devices hand out. */
#define SPAN_UNIT 4096u

u64 npu_span_bytes(const struct npu_budget *budget)
{
	return budget->region_bytes ? budget->region_bytes / SPAN_UNIT * SPAN_UNIT : UINT64_MAX;
}

u32 npu_span_find(const struct npu_spans *spans, u64 offset)
{
	u32 low = 0, high = spans->count - 1;

	while (low < high) {
		u32 middle = low + (high - low + 1) / 2;

		if (spans->span[middle].first <= offset)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* What the first bytes of a span and the rounding of the last fetch may take. */
static u64 slack(const struct nvdla_config *config)
{
	return (u64)NVDLA_CBUF_REQUEST_ATOMS * config->atom + config->entry_bytes;
}

u32 npu_span_groups(const struct nvdla_config *config, u64 kernel_bytes, u64 region_bytes)
{
	u64 group = kernel_bytes * config->atomic_k;

	if (!region_bytes)
		return UINT32_MAX;
	if (region_bytes < slack(config) + group)
		return 1; /* npu_plan_spans() refuses it, by name */
	return (u32)min((region_bytes - slack(config)) / group, (u64)UINT32_MAX);
}

/* Bytes of the weights that are not to be cut. */
struct unit {
	u64 offset, bytes;
	const char *layer;
};

struct units {
	struct unit *unit; /* NULL: count only */
	u32 count;
};

static void add_unit(struct units *units, const struct npu_layer *layer, u64 offset, u64 bytes)
{
	if (units->unit)
		units->unit[units->count] = (struct unit){ offset, bytes, layer->name };
	units->count++;
}

static void add_weights(struct units *units, const struct nvdla_config *config,
			const struct npu_layer *layer, u64 region_bytes)
{
	u64 kernel = (u64)layer->c * layer->window.r * layer->window.s;
	u64 groups = DIV_ROUND_UP(layer->k, (u32)config->atomic_k), first;
	u64 most = min(npu_span_groups(config, kernel, region_bytes), (u32)groups);
	u32 block;

	for (block = 0; block < max(layer->blocks, 1u); block++)
		for (first = 0; first < groups; first += most)
			add_unit(units, layer,
				 layer->weights + block * layer->weight_stride +
					 first * config->atomic_k * kernel,
				 min(most * config->atomic_k, layer->k - first * config->atomic_k) *
						 kernel +
					 config->entry_bytes);
}

static void add_table(struct units *units, const struct nvdla_config *config,
		      const struct npu_layer *layer, const struct npu_sdp_stage *stage,
		      u32 channels)
{
	u64 kernels = DIV_ROUND_UP(channels, (u32)config->atom) * (u64)config->atom;

	if (npu_stage_table_bytes(stage))
		add_unit(units, layer, stage->table, kernels * npu_stage_table_bytes(stage));
}

static void collect(struct units *units, const struct npu_net *net, u64 region_bytes)
{
	u32 i;

	units->count = 0;
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer *layer = &net->layer[i];
		u32 output = layer->has_pool ? layer->unpooled : layer->output;

		if (layer->kind == NPU_LAYER_CONV)
			add_weights(units, net->config, layer, region_bytes);
		if (layer->kind != NPU_LAYER_CONV && layer->kind != NPU_LAYER_SDP)
			continue;
		add_table(units, net->config, layer, &layer->sdp.bs, net->value[output].c);
		add_table(units, net->config, layer, &layer->sdp.bn, net->value[output].c);
	}
}

static int by_offset(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* As few spans as possible, each as long as it may be. */
static int cut_units(const struct npu_net *net, const struct units *units, u64 most,
		     struct npu_spans *spans, struct npu_diag *diag)
{
	u64 align = (u64)NVDLA_CBUF_REQUEST_ATOMS * net->config->atom;
	struct npu_span *span = NULL;
	u32 i;

	for (i = 0; i < units->count; i++) {
		const struct unit *unit = &units->unit[i];
		u64 end = min(unit->offset + unit->bytes, net->weights_bytes);

		if (!span || end - span->start > most) {
			span = &spans->span[spans->count++];
			*span = (struct npu_span){ .first = unit->offset,
						   .start = unit->offset / align * align };
		}
		if (end - span->start > most)
			return npu_diag_set(diag, -EFBIG,
					    "layer %s: the weights of one pass need %" PRIu64
					    " bytes in one piece, the device can have %" PRIu64,
					    unit->layer, end - span->start, most);
		span->bytes = max(span->bytes, end - span->start);
	}
	return 0;
}

static int cut_weights(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag)
{
	struct npu_spans *spans = &plan->spans[NPU_REGION_WEIGHTS];
	u64 region_bytes = plan->budget.region_bytes;
	struct units units = { 0 };
	int err = -ENOMEM;

	collect(&units, net, region_bytes);
	spans->span = npu_arena_array(&plan->arena, units.count + 1, sizeof(*spans->span));
	units.unit = calloc(units.count + 1, sizeof(*units.unit));
	if (spans->span && units.unit) {
		collect(&units, net, region_bytes);
		qsort(units.unit, units.count, sizeof(*units.unit), by_offset);
		err = cut_units(net, &units, npu_span_bytes(&plan->budget), spans, diag);
	} else {
		npu_diag_set(diag, err, "out of memory");
	}
	free(units.unit);
	return err;
}

static int whole_region(struct npu_plan *plan, u32 region, u64 bytes, struct npu_diag *diag)
{
	struct npu_spans *spans = &plan->spans[region];

	spans->span = npu_arena_array(&plan->arena, 1, sizeof(*spans->span));
	if (!spans->span)
		return npu_diag_set(diag, -ENOMEM, "out of memory");
	spans->span[0] = (struct npu_span){ .bytes = bytes };
	spans->count = 1;
	return 0;
}

static int cut_arena(struct npu_plan *plan, struct npu_diag *diag)
{
	struct npu_spans *spans = &plan->spans[NPU_REGION_ARENA];
	u64 most = npu_span_bytes(&plan->budget), at;

	spans->span =
		npu_arena_array(&plan->arena, plan->arena_bytes / most + 1, sizeof(*spans->span));
	if (!spans->span)
		return npu_diag_set(diag, -ENOMEM, "out of memory");
	for (at = 0; at < plan->arena_bytes; at += most)
		spans->span[spans->count++] = (struct npu_span){
			.first = at, .start = at, .bytes = min(most, plan->arena_bytes - at)
		};
	return 0;
}

int npu_plan_spans(const struct npu_net *net, struct npu_plan *plan, struct npu_diag *diag)
{
	u64 most = npu_span_bytes(&plan->budget);
	int err;

	if (net->weights_bytes <= most)
		err = whole_region(plan, NPU_REGION_WEIGHTS, net->weights_bytes, diag);
	else
		err = cut_weights(net, plan, diag);
	if (err)
		return err;
	if (plan->arena_bytes <= most)
		return whole_region(plan, NPU_REGION_ARENA, plan->arena_bytes, diag);
	return cut_arena(plan, diag);
}
