// SPDX-License-Identifier: MIT
#include "html.h"

#include <inttypes.h>

#include "../plan/memory.h"
#include "columns.h"
#include "file.h"

/* Size of the pictures, in their own units. */
#define WIDTH 1000.0
#define BUFFER_HEIGHT 200.0
#define ARENA_HEIGHT 240.0

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
	":root{color-scheme:light dark;--ink:#1d2733;--soft:#66727f;--line:#d5dbe1;--data:#2f7ed8;"
	"--weight:#d9822b;--sdp:#7d55c7;--pdp:#2a9d6f;--cdp:#c2436b;--cpu:#8a8f98;--paper:#fff}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e9ee;--soft:#98a4b0;--line:#3a4550;"
	"--paper:#161b21}}\n"
	"body{font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
	"max-width:1100px;margin:2rem auto;padding:0 1rem}\n"
	"h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}\n"
	"p{color:var(--soft);margin:.3rem 0}\n"
	"dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:.7rem}\n"
	"dt{color:var(--soft);font-size:12px}dd{margin:0;font-size:1.15rem;"
	"font-variant-numeric:tabular-nums}\n"
	"svg{width:100%;height:auto;border:1px solid var(--line);border-radius:4px}\n"
	"rect{stroke:var(--paper);stroke-width:.4}rect:hover{opacity:.7}\n"
	".conv,.data{fill:var(--data)}.weight{fill:var(--weight)}.sdp{fill:var(--sdp)}"
	".pdp{fill:var(--pdp)}.cdp{fill:var(--cdp)}.cpu{fill:var(--cpu)}\n"
	".key span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em;"
	"vertical-align:baseline}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse;font-size:12.5px;width:100%}\n"
	"th{text-align:left;cursor:pointer;white-space:nowrap}th,td{padding:.25rem .5rem;"
	"border-bottom:1px solid var(--line);vertical-align:top}\n"
	"td.n{text-align:right;font-variant-numeric:tabular-nums}td.why{min-width:26rem;"
	"color:var(--soft)}\n"
	"</style>\n";

static const char script[] =
	"<script>\n"
	"document.querySelectorAll('th').forEach((th,i)=>th.onclick=()=>{\n"
	" const body=document.querySelector('tbody'),rows=[...body.rows];\n"
	" const key=r=>r.cells[i].classList.contains('n')?+r.cells[i].textContent:"
	"r.cells[i].textContent;\n"
	" const up=th.dataset.up=th.dataset.up==='1'?'0':'1';\n"
	" rows.sort((a,b)=>{const x=key(a),y=key(b);return (x>y)-(x<y)});\n"
	" if(up==='0')rows.reverse();\n"
	" rows.forEach(r=>body.append(r));\n"
	"});\n"
	"</script>\n";

static void put_title(const struct npu_program *program, FILE *out)
{
	const char *name = npu_program_name(program);
	u32 i;

	fputs("<title>", out);
	npu_put_xml(name, out);
	fputs("</title>\n<h1>", out);
	npu_put_xml(name, out);
	fprintf(out, "</h1>\n<p>%s, %u of %u banks of the convolution buffer</p>\n<dl>\n",
		program->net->config->name, program->plan->budget.banks,
		program->net->config->banks);
	for (i = 0; i < npu_total_count; i++)
		fprintf(out, "<div><dt>%s</dt><dd>%" PRIu64 "</dd></div>\n", npu_totals[i].name,
			npu_totals[i].number(program));
	fputs("</dl>\n", out);
}

/* A rectangle without its closing: the tool tip follows. */
static void begin_box(const char *class, double x, double y, double w, double h, FILE *out)
{
	fprintf(out,
		"<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>",
		class, x, y, w, h);
}

static void end_box(FILE *out)
{
	fputs("</title></rect>\n", out);
}

static double scale(const struct npu_program *program)
{
	u64 cycles = program->plan->cost.cycles;

	return cycles ? WIDTH / (double)cycles : 0;
}

static void put_time_line(const struct npu_program *program, FILE *out)
{
	const struct npu_net *net = program->net;
	double per_cycle = scale(program), x = 0;
	u32 i;

	fputs("<h2>Time</h2>\n<p class=\"key\">One box for each layer, as wide as its cycles."
	      "<span class=\"conv\" style=\"background:var(--data)\"></span>convolution"
	      "<span style=\"background:var(--sdp)\"></span>element-wise"
	      "<span style=\"background:var(--pdp)\"></span>pooling"
	      "<span style=\"background:var(--cdp)\"></span>tables, across channels</p>\n",
	      out);
	fprintf(out, "<svg viewBox=\"0 0 %.0f 44\" role=\"img\" aria-label=\"time line\">\n",
		WIDTH);
	for (i = 0; i < net->layer_count; i++) {
		const struct npu_layer_plan *lp = &program->plan->layer[i];
		double width = (double)lp->cost.cycles * per_cycle;

		begin_box(npu_layer_kind_names[net->layer[i].kind], x, 2, width, 40, out);
		npu_put_xml(net->layer[i].name, out);
		fprintf(out, ": %" PRIu64 " cycles, %" PRIu64 " bytes, %u tasks", lp->cost.cycles,
			npu_cost_bytes(&lp->cost), lp->task_count);
		end_box(out);
		x += width;
	}
	fputs("</svg>\n", out);
}

static bool same_claim(const struct npu_task *a, const struct npu_task *b)
{
	return a->layer == b->layer && a->data_banks == b->data_banks &&
	       a->weight_banks == b->weight_banks;
}

static void put_claim(const struct npu_program *program, const struct npu_task *t, u32 tasks,
		      double x, double width, FILE *out)
{
	double bank = BUFFER_HEIGHT / program->net->config->banks;
	const char *name = program->net->layer[t->layer].name;

	begin_box("data", x, BUFFER_HEIGHT - t->data_banks * bank, width, t->data_banks * bank,
		  out);
	npu_put_xml(name, out);
	fprintf(out, ": banks 0 to %u hold input, in %u tasks", t->data_banks - 1, tasks);
	end_box(out);
	begin_box("weight", x, BUFFER_HEIGHT - (t->data_banks + t->weight_banks) * bank, width,
		  t->weight_banks * bank, out);
	npu_put_xml(name, out);
	fprintf(out, ": banks %u to %u hold weights", t->data_banks,
		t->data_banks + t->weight_banks - 1);
	end_box(out);
}

static void put_buffer(const struct npu_program *program, FILE *out)
{
	const struct npu_plan *plan = program->plan;
	double per_cycle = scale(program), x = 0;
	u32 i = 0;

	fputs("<h2>Convolution buffer</h2>\n<p class=\"key\">Banks over time, bank 0 at the bottom."
	      "<span style=\"background:var(--data)\"></span>input"
	      "<span style=\"background:var(--weight)\"></span>weights</p>\n",
	      out);
	fprintf(out,
		"<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"buffer occupancy\">\n",
		WIDTH, BUFFER_HEIGHT);
	while (i < plan->task_count) {
		const struct npu_task *t = &plan->task[i];
		u64 cycles = 0;
		u32 first = i;

		/* Passes of a layer that claim the same banks are one box. */
		while (i < plan->task_count && same_claim(t, &plan->task[i]))
			cycles += plan->task[i++].cost.cycles;
		if (t->data_banks)
			put_claim(program, t, i - first, x, (double)cycles * per_cycle, out);
		x += (double)cycles * per_cycle;
	}
	fputs("</svg>\n", out);
}

static void put_band(const struct npu_program *program, u32 value, u32 index,
		     const struct npu_live *live, FILE *out)
{
	const struct npu_net *net = program->net;
	const struct npu_plan *plan = program->plan;
	double step = WIDTH / max(net->layer_count, 1u);
	double byte = plan->arena_bytes ? ARENA_HEIGHT / (double)plan->arena_bytes : 0;
	u64 offset = plan->place[value].band[index].offset;
	u64 bytes = npu_band_bytes(net, plan, value, index);
	double h = (double)bytes * byte;

	begin_box("data", live->first * step, ARENA_HEIGHT - (double)offset * byte - h,
		  (live->last - live->first + 1) * step, h, out);
	npu_put_xml(net->value[value].name, out);
	fprintf(out, ": %" PRIu64 " bytes at %" PRIu64 ", layers %u to %u", bytes, offset,
		live->first, live->last);
	end_box(out);
}

static int put_arena(const struct npu_program *program, FILE *out)
{
	const struct npu_net *net = program->net;
	struct npu_arena arena = { 0 };
	struct npu_live *live = npu_arena_array(&arena, max(net->value_count, 1u), sizeof(*live));
	u32 i, k;

	if (!live)
		return -ENOMEM;
	npu_plan_live(net, program->plan, live);
	fprintf(out,
		"<h2>Activations in memory</h2>\n<p>Values over the layers at which they are "
		"alive, "
		"%" PRIu64 " bytes in all, %" PRIu64 " alive at once.</p>\n",
		program->plan->arena_bytes, program->plan->arena_lower_bound);
	fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"arena\">\n", WIDTH,
		ARENA_HEIGHT);
	for (i = 0; i < net->value_count; i++)
		for (k = 0; live[i].used && k < program->plan->place[i].count; k++)
			put_band(program, i, k, &live[i], out);
	fputs("</svg>\n", out);
	npu_arena_free(&arena);
	return 0;
}

static void put_layers(const struct npu_program *program, FILE *out)
{
	char room[NPU_WHY_BYTES];
	u32 layer, i;

	fputs("<h2>Layers</h2>\n<div class=\"wide\"><table>\n<thead><tr>", out);
	for (i = 0; i < npu_column_count; i++)
		fprintf(out, "<th>%s</th>", npu_columns[i].name);
	fputs("</tr></thead>\n<tbody>\n", out);
	for (layer = 0; layer < program->net->layer_count; layer++) {
		fputs("<tr>", out);
		for (i = 0; i < npu_column_count; i++) {
			const struct npu_column *c = &npu_columns[i];

			if (c->number) {
				fprintf(out, "<td class=\"n\">%" PRIu64 "</td>",
					c->number(program, layer));
				continue;
			}
			fputs(i + 1 == npu_column_count ? "<td class=\"why\">" : "<td>", out);
			npu_put_xml(c->text(program, layer, room), out);
			fputs("</td>", out);
		}
		fputs("</tr>\n", out);
	}
	fputs("</tbody></table></div>\n", out);
}

int npu_report_html(const struct npu_program *program, FILE *out)
{
	int err;

	fputs(head, out);
	put_title(program, out);
	put_time_line(program, out);
	put_buffer(program, out);
	err = put_arena(program, out);
	put_layers(program, out);
	fputs(script, out);
	fputs("</html>\n", out);
	return err;
}
