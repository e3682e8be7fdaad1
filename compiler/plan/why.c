// SPDX-License-Identifier: MIT
/* The reasons of a plan in words. */
#include "../plan.h"

#include "../optimise/price.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Text that grows in a caller's buffer and is cut where that ends. */
struct text {
	char *at;
	size_t left;
};

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (n < 0 || !t->left)
		return;
	n = (int)min((size_t)n, t->left - 1);
	t->at += n;
	t->left -= (size_t)n;
}

static void say_count(struct text *t, u32 count, const char *one, const char *many)
{
	say(t, "%u %s", count, count == 1 ? one : many);
}

static void say_bytes(struct text *t, const struct npu_cost *cost)
{
	say(t,
	    "; %" PRIu64 " bytes: features %" PRIu64 ", weights %" PRIu64 ", operands %" PRIu64
	    ", output %" PRIu64,
	    npu_cost_bytes(cost), cost->feature_bytes, cost->weight_bytes, cost->operand_bytes,
	    cost->output_bytes);
}

/* How far the layer is from what it would move at the least. */
static void say_gap(struct text *t, const struct npu_layer_plan *lp)
{
	u64 bytes = npu_cost_bytes(&lp->cost), least = max(lp->compulsory_bytes, (u64)1);

	say(t,
	    "; cheapest of %u legal splits; %" PRIu64 " with the whole buffer, %" PRIu64
	    " at the least (%.1f %% more are moved)",
	    lp->considered, lp->bound_bytes, lp->compulsory_bytes,
	    100.0 * ((double)bytes - (double)lp->compulsory_bytes) / (double)least);
}

static void say_cycles(struct text *t, const struct npu_net *net, const struct npu_layer *layer,
		       u64 cycles)
{
	u64 cpu = npu_price_cpu_layer(net, layer);

	say(t, "; %" PRIu64 " cycles", cycles);
	if (cpu)
		say(t, ", about %" PRIu64 " on the CPU", cpu);
}

static void say_conv(struct text *t, const struct npu_plan *plan, const struct npu_layer *layer,
		     const struct npu_layer_plan *lp)
{
	const struct npu_task *task = &plan->task[lp->first_task];
	u32 kept = 0, i;

	for (i = 0; i < lp->task_count; i++)
		if (task[i].kept_rows && task[i].in_rows)
			kept = max(kept, task[i].kept_rows);
	if (task->pooled)
		say(t, ", pooling on the fly");
	say(t, "; ");
	say_count(t, lp->task_count, "pass", "passes");
	say(t, " (");
	say_count(t, layer->blocks, "channel block, ", "channel blocks, ");
	say_count(t, lp->pieces, "piece, ", "pieces, ");
	say_count(t, lp->tiles, "column", "columns");
	say(t, "); ");
	say_count(t, task->data_banks, "data bank", "data banks");
	say(t, " at %u entries a line, ", task->eps);
	say_count(t, task->weight_banks, "weight bank", "weight banks");
	if (kept)
		say(t, "; up to %u lines stay from piece to piece", kept);
	if (task->row_step > 1)
		say(t, "; only every %u. line is fetched", task->row_step);
}

void npu_plan_why(const struct npu_net *net, const struct npu_plan *plan, u32 index, char *text,
		  size_t size)
{
	const struct npu_layer *layer = &net->layer[index];
	const struct npu_layer_plan *lp = &plan->layer[index];
	const struct npu_cpu_unit *unit = npu_plan_unit(plan, index);
	struct text t = { text, size };

	if (unit) {
		say(&t, "%s: %s; about %" PRIu64 " cycles there", lp->mode, unit->reason,
		    npu_price_cpu_unit(net, unit));
		return;
	}
	if (layer->kind == NPU_LAYER_CPU) {
		say(&t, "%s: %s; about %" PRIu64 " cycles there", lp->mode,
		    layer->cpu_reason ? layer->cpu_reason : "the NPU has no unit for it",
		    npu_price_cpu_layer(net, layer));
		return;
	}
	say(&t, "%s", lp->mode);
	if (layer->kind == NPU_LAYER_CONV) {
		say_conv(&t, plan, layer, lp);
	} else {
		say(&t, "; ");
		say_count(&t, lp->task_count, "pass", "passes");
		say(&t, "; no convolution buffer");
	}
	say_cycles(&t, net, layer, lp->cost.cycles);
	say_bytes(&t, &lp->cost);
	if (layer->kind == NPU_LAYER_CONV)
		say_gap(&t, lp);
}
