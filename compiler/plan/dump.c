// SPDX-License-Identifier: MIT
/* A plan as text and for Graphviz. */
#include "../plan.h"

#include <inttypes.h>
#include <stdio.h>

static void dump_task(const struct npu_task *t, u32 index, FILE *out)
{
	fprintf(out, "  task %u %s: rows %u+%u columns %u+%u kernels %u+%u", index,
		npu_layer_kind_names[t->kind], t->y, t->rows, t->x, t->cols, t->k, t->kernels);
	if (t->kind == NPU_LAYER_CONV) {
		fprintf(out, " block %u%s; input rows %u+%u", t->block, t->pooled ? " pooled" : "",
			t->in_y, t->in_rows);
		if (t->kept_rows)
			fprintf(out, " (%u kept)", t->kept_rows);
		if (t->row_step > 1)
			fprintf(out, " every %u", t->row_step);
		fprintf(out, " columns %u+%u pads %u %u %u %u; banks %u+%u eps %u%s%s%s%s rls %u",
			t->in_x, t->in_cols, t->pad_top, t->pad_left, t->pad_bottom, t->pad_right,
			t->data_banks, t->weight_banks, t->eps, t->data_reuse ? " data-reuse" : "",
			t->skip_data_rls ? " keep-data" : "",
			t->weight_reuse ? " weight-reuse" : "",
			t->skip_weight_rls ? " keep-weights" : "", t->rls_slices);
	}
	fprintf(out, "; %" PRIu64 " bytes, %" PRIu64 " cycles\n", npu_cost_bytes(&t->cost),
		t->cost.cycles);
}

static void dump_place(const struct npu_net *net, const struct npu_plan *plan, u32 value, FILE *out)
{
	const struct npu_place *place = &plan->place[value];
	u32 i;

	for (i = 0; i < place->count; i++) {
		fprintf(out, "value %u %s: ", value, net->value[value].name);
		if (place->count > 1)
			fprintf(out, "rows %u to %u, ", place->band[i].first,
				place->band[i].first + npu_band_rows(net, plan, value, i) - 1);
		fprintf(out, "%" PRIu64 " bytes at %" PRIu64 "\n",
			npu_band_bytes(net, plan, value, i), place->band[i].offset);
	}
}

static void dump_text(const struct npu_net *net, const struct npu_plan *plan, FILE *out)
{
	u32 i, j;

	fprintf(out,
		"plan for %s, %u banks: %u tasks, %" PRIu64 " bytes of DRAM, %" PRIu64
		" cycles, arena %" PRIu64 " bytes (at the least %" PRIu64 ")\n",
		net->config->name, plan->budget.banks, plan->task_count,
		npu_cost_bytes(&plan->cost), plan->cost.cycles, plan->arena_bytes,
		plan->arena_lower_bound);
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer_plan *lp = &plan->layer[i];
		char why[NPU_WHY_BYTES];

		npu_plan_why(net, plan, i, why, sizeof(why));
		fprintf(out, "layer %u %s (%s): %s\n", i, net->layer[i].name,
			npu_layer_kind_names[net->layer[i].kind], why);
		for (j = 0; j < lp->task_count; j++)
			dump_task(&plan->task[lp->first_task + j], lp->first_task + j, out);
	}
	for (i = 0; i < net->value_count; i++)
		dump_place(net, plan, i, out);
}

/* Names may hold any character. */
static void put_label(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
}

static void dump_dot(const struct npu_net *net, const struct npu_plan *plan, FILE *out)
{
	u32 i, j, n, values[NPU_LAYER_MAX_VALUES];

	fputs("digraph plan {\n\tnode [shape=box, fontname=\"sans-serif\"];\n", out);
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer_plan *lp = &plan->layer[i];

		fprintf(out, "\tl%u [label=\"", i);
		put_label(net->layer[i].name, out);
		fprintf(out, "\\n%s: %s\\n%u tasks, %" PRIu64 " bytes\"];\n",
			npu_layer_kind_names[net->layer[i].kind], lp->mode, lp->task_count,
			npu_cost_bytes(&lp->cost));
	}
	for (i = 0; i < net->value_count; i++)
		if (plan->place[i].count) {
			fprintf(out, "\tv%u [shape=ellipse, label=\"", i);
			put_label(net->value[i].name, out);
			fprintf(out, "\\n%" PRIu64 " at %" PRIu64 "\"];\n", net->value[i].bytes,
				plan->place[i].band[0].offset);
		}
	for (i = 0; i < net->layer_count; i++) {
		n = npu_layer_reads(net, &net->layer[i], values);
		for (j = 0; j < n; j++)
			fprintf(out, "\tv%u -> l%u;\n", values[j], i);
		n = npu_layer_writes(net, &net->layer[i], values);
		for (j = 0; j < n; j++)
			if (plan->place[values[j]].count)
				fprintf(out, "\tl%u -> v%u;\n", i, values[j]);
	}
	fputs("}\n", out);
}

void npu_plan_dump(const struct npu_net *net, const struct npu_plan *plan,
		   enum npu_dump_format format, FILE *out)
{
	if (format == NPU_DUMP_DOT)
		dump_dot(net, plan, out);
	else
		dump_text(net, plan, out);
}
